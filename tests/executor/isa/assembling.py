"""Assembled instructions as a kernel of one wave: registers in, registers out.

The HIP compiler's assembler where it knows the target, else Triton's, which is newer.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from rocport.executor.isa import Module, TablesError, library, load
from rocport.executor.isa.tables import family

FIRST = 10
"""Operands start at this vector register."""


class RefusedError(Exception):
    """The assembler's message."""


def assemble(target: str, text: str) -> bytes:
    """The object file. Raises RefusedError; skips the test where no assembler knows the target."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "a.s", Path(folder) / "a.o"
        source.write_text(text)
        command = [
            library.compiler()[0], "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-c", str(source),
            "-o", str(output), *(["-mwavefrontsize64"] if "wavefront_size32 0" in text else []),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.returncode:
            return output.read_bytes()
        if "invalid target ID" not in done.stderr:
            raise RefusedError(done.stderr)
    compiler = pytest.importorskip("triton.backends.amd.compiler", reason=f"the SDK's clang does not know {target}")
    try:
        made: bytes = compiler.assemble_amdgcn(text, target, "")
        return made
    except RuntimeError as error:
        raise RefusedError(str(error)) from error


def module(target: str, body: str, given: int, wanted: int, wave: int = 0, lds: int = 0) -> Module:
    """A kernel `one(in, out)`: `given` words a lane are loaded to v10, v11, ..., `wanted` words are stored from v0 on.

    s[4:5] and s[6:7] hold the two addresses, v250 the lane. `body` may use all other registers.
    """
    try:
        cdna = family(target) == "cdna"
    except TablesError as error:
        pytest.skip(str(error))
    wave = wave or (64 if cdna else 32)
    old, new = ("s_load_dwordx4", "global_load_dword"), ("s_load_b128", "global_load_b32")
    scalar, vector = old if cdna else new
    store = "global_store_dword" if cdna else "global_store_b32"
    add = "v_add_u32" if cdna else "v_add_nc_u32"
    wait = "s_waitcnt vmcnt(0) lgkmcnt(0)"
    if family(target) == "rdna4":
        wait = "s_wait_loadcnt_dscnt 0x0\n s_wait_kmcnt 0x0\n s_wait_storecnt 0x0"
    lines = [
        "v_and_b32 v0, 0x3ff, v0", f"{scalar} s[4:7], s[0:1], 0x0", "v_mov_b32 v250, v0", "v_lshlrev_b32 v251, 2, v0",
        wait, "v_mov_b32 v252, v251",
    ]  # fmt: skip
    for k in range(given):
        lines += [f"{vector} v{FIRST + k}, v252, s[4:5]", f"{add} v252, {4 * wave}, v252"]
    lines += [wait, body, wait, "v_mov_b32 v252, v251"]
    for k in range(wanted):
        lines += [f"{store} v252, v{k}, s[6:7]", wait, f"{add} v252, {4 * wave}, v252"]
    text = (
        f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n.text\n.globl one\n.p2align 8\n.type one,@function\none:\n'
        + "\n".join(f" {line}" for line in lines)
        + "\n s_endpgm\n.section .rodata,\"a\",@progbits\n.p2align 6\n.amdhsa_kernel one\n"
        f".amdhsa_group_segment_fixed_size {lds}\n.amdhsa_next_free_vgpr 256\n.amdhsa_next_free_sgpr 64\n"
        ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 16\n"
        + (".amdhsa_accum_offset 256\n" if cdna else f".amdhsa_wavefront_size32 {int(wave == 32)}\n")
        + ".end_amdhsa_kernel\n.amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
        f"amdhsa.target: amdgcn-amd-amdhsa--{target}\namdhsa.kernels:\n  - .name: one\n    .symbol: one.kd\n"
        f"    .kernarg_segment_size: 16\n    .kernarg_segment_align: 8\n    .wavefront_size: {wave}\n"
        f"    .group_segment_fixed_size: {lds}\n    .private_segment_fixed_size: 0\n"
        "    .max_flat_workgroup_size: 1024\n    .sgpr_count: 64\n    .vgpr_count: 256\n    .args:\n"
        "      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}\n"
        "      - {.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}\n"
        "...\n.end_amdgpu_metadata\n"
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        made, linked = Path(folder) / "a.o", Path(folder) / "a.co"
        made.write_bytes(assemble(target, text))
        linker = Path(library.compiler()[0]).with_name("ld.lld")
        subprocess.run([linker, "-shared", str(made), "-o", str(linked)], check=True)
        return load(linked.read_bytes(), target)


def registers(
    target: str, body: str, given: np.ndarray, wanted: int, wave: int = 0, lds: int = 0, waves: int = 1
) -> np.ndarray:
    """`given`: uint32 [words, lanes]; the result: uint32 [wanted, lanes]."""
    built = module(target, body, len(given), wanted, wave, lds)
    words = np.ascontiguousarray(given, np.uint32)
    out = np.zeros((wanted, words.shape[1]), np.uint32)
    built.launch("one", (1,), (words.shape[1] * waves,), [words, out], threads=1)
    return out
