# SPDX-License-Identifier: Apache-2.0
"""Compile forms, link kernels, and keep both in the cache.

Every form is compiled once for this machine, in batches; a kernel's shared object links the batches that hold its forms
with the table of its steps. Files are named by their content and moved into place whole, so that processes may work
side by side.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rocport.executor.isa.forms import UNSUPPORTED, Step, Target
from rocport.executor.isa.program import Program
from rocport.executor.isa.refusals import refusal
from rocport.model import cache_folder
from rocport.syntax.code_object import CodeObject
from rocport.toolchain import ToolchainError, find

NATIVE = Path(__file__).resolve().parent / "native"
_TIMEOUT_S = 3600
_BATCH = 24
"""Forms a compilation holds: enough to share the cost of the headers, few enough to spread over cores."""
_FLAGS = (
    "-std=c++17", "-O2", "-march=native", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti", "-fwrapv", "-ffunction-sections", "-fno-stack-protector",
    "-Xclang", "-ffloat16-excess-precision=none", "-Wno-everything",
)  # fmt: skip


class EngineError(RuntimeError):
    """The engine or a form does not compile; the message holds the compiler's words and the next step."""


def folder() -> Path:
    """Where forms and kernels are kept."""
    path = cache_folder() / "isa"
    path.mkdir(parents=True, exist_ok=True)
    return path


ABI = 3
"""RP_ISA_ABI of engine.h."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file of the cache so that nobody sees half of it."""
    with _whole(path) as partial:
        if isinstance(content, str):
            partial.write_text(content, encoding="utf-8")
        else:
            partial.write_bytes(content)


@functools.cache
def compiler() -> tuple[str, str]:
    """clang++ of the HIP toolchain and a digest of it, this machine and the headers. Raises EngineError."""
    try:
        path = str(find().compiler)
    except ToolchainError as error:
        raise EngineError(f"the ISA executor compiles with the HIP compiler's clang. {error}") from error
    digest = hashlib.sha256()
    for part in (path, str(os.stat(path).st_mtime_ns), platform.node(), _cpu(), repr(_FLAGS)):
        digest.update(part.encode())
    for name in ("engine.h", "wave.h", "lanes.h"):
        digest.update((NATIVE / name).read_bytes())
    return path, digest.hexdigest()[:12]


def _cpu() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("flags"):
                return line
    return platform.processor()


def _run(command: Sequence[str], source: str = "") -> None:
    done = subprocess.run(command, input=source, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    if done.returncode:
        raise EngineError(f"{' '.join(command[:2])} ... failed:\n{done.stderr.strip()[-3000:]}")


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A temporary name next to `path` that is moved there when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=path.suffix, delete=False) as handle:
        partial = Path(handle.name)
    try:
        yield partial
        partial.chmod(0o755)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _header() -> Path:
    """The precompiled header of the forms."""
    path, digest = compiler()
    place = folder() / f"native-{digest}" / "lanes.pch"
    if not place.exists():
        # From copies next to it: a precompiled header refers to its sources, which must stay as they are.
        sources = place.parent
        for name in ("engine.h", "wave.h", "lanes.h"):
            write_whole(sources / name, (NATIVE / name).read_bytes())
        header = str(sources / "lanes.h")
        with _whole(place) as partial:
            _run([path, *_FLAGS, "-Xclang", "-fno-pch-timestamp", "-x", "c++-header", header, "-o", str(partial)])
    return place


def _form_folder() -> Path:
    return folder() / f"forms-{compiler()[1]}"


def _batch_of(form: str) -> str | None:
    """The batch that holds a form, if it is compiled."""
    place = _form_folder() / form[2:4] / form
    try:
        return place.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def compile_forms(texts: dict[str, str]) -> tuple[dict[str, Path], dict[str, str]]:
    """Object file of each form, compiling those that the cache lacks; and why forms do not compile.

    texts: form -> C++ body. Raises EngineError.
    """
    root = _form_folder()
    found: dict[str, Path] = {}
    broken: dict[str, str] = {}
    missing = []
    for form in sorted(texts):
        batch = _batch_of(form)
        if batch is not None and (root / batch).exists():
            found[form] = root / batch
        else:
            missing.append(form)
    if not missing:
        return found, broken
    header = _header()
    batches = [missing[k : k + _BATCH] for k in range(0, len(missing), _BATCH)]
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        for objects, errors in pool.map(lambda batch: _compile_all(batch, texts, header), batches):
            found.update(objects)
            broken.update(errors)
    return found, broken


def _compile_all(batch: list[str], texts: dict[str, str], header: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """A batch at once; where it does not compile, each form by itself, so that one costs no other."""
    try:
        return dict.fromkeys(batch, _compile(batch, texts, header)), {}
    except EngineError as error:
        if "precompiled header" in str(error):
            raise
        if len(batch) == 1:
            words = re.findall(r"error: (.*)", str(error))
            return {}, {batch[0]: words[0] if words else str(error)[-300:]}
    found: dict[str, Path] = {}
    broken: dict[str, str] = {}
    for form in batch:
        objects, errors = _compile_all([form], texts, header)
        found.update(objects)
        broken.update(errors)
    return found, broken


def _compile(batch: list[str], texts: dict[str, str], header: Path) -> Path:
    source = "".join(f'extern "C" const rp_op*{form}(rp_wave*w,const rp_op*op){{{texts[form]}}}\n' for form in batch)
    name = hashlib.sha256(source.encode()).hexdigest()[:20] + ".o"
    root = _form_folder()
    place = root / name
    if not place.exists():
        with _whole(place) as partial:
            path, _ = compiler()
            _run([path, *_FLAGS, "-include-pch", str(header), "-x", "c++", "-c", "-", "-o", str(partial)], source)
    for form in batch:
        with _whole(root / form[2:4] / form) as partial:
            partial.write_text(name, encoding="utf-8")
    return place


@dataclass(frozen=True)
class Built:
    """A kernel's shared object."""

    path: Path
    steps: int
    compiled: int
    """Forms that had to be compiled."""


_HIDDEN = (
    "none", "block_count_x", "block_count_y", "block_count_z", "group_size_x", "group_size_y", "group_size_z",
    "remainder_x", "remainder_y", "remainder_z", "global_offset_x", "global_offset_y", "global_offset_z", "grid_dims",
    "printf_buffer", "hostcall_buffer", "multigrid_sync_arg", "heap_v1", "default_queue", "completion_action",
    "dynamic_lds_size", "private_base", "shared_base", "queue_ptr",
)  # fmt: skip
"""In the order of enum rp_hidden_kind."""


def link(code: CodeObject, program: Program, target: str, lines: dict[int, str]) -> Built:
    """The shared object of a program. lines: code address -> "file:line". Raises EngineError."""
    texts = {step.form: step.text for step in program.steps}
    before = sum(_batch_of(form) is None for form in texts)
    objects, broken = compile_forms(texts)
    if broken:
        for step in program.steps:
            if why := broken.get(step.form):
                step.refusal = refusal(step.encoding, step.name, f"its C++ does not compile: {why}")
                program.untranslated[step.name] = step.refusal
                step.text, step.how = UNSUPPORTED, "untranslated"
        objects = compile_forms({step.form: step.text for step in program.steps})[0]
    source = _table(code, program, target, lines)
    digest = hashlib.sha256(source.encode())
    digest.update(repr(sorted(str(path) for path in set(objects.values()))).encode())
    place = folder() / f"kernels-{compiler()[1]}" / (digest.hexdigest()[:24] + ".so")
    if not place.exists():
        path, _ = compiler()
        with _whole(place) as partial, tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as response:
            response.write("\n".join(sorted({str(o) for o in objects.values()})))
            response.flush()
            _run(
                [
                    path, "-std=c++17", "-O0", "-fPIC", "-shared", "-w", "-I", str(NATIVE), "-x", "c++", "-",
                    "-x", "none", f"@{response.name}", "-fuse-ld=lld", "-Wl,--gc-sections", "-Wl,-z,defs",
                    "-Wl,-z,muldefs", "-Wl,-O0", "-lm",
                    "-o", str(partial),
                ],
                source,
            )  # fmt: skip
    return Built(place, len(program.steps), before)


def _string(text: str) -> str:
    return json.dumps(text)


def _table(code: CodeObject, program: Program, target: str, lines: dict[int, str]) -> str:
    kernel, descriptor, use = program.kernel, program.kernel.descriptor, program.kernel.use
    index = {step.address: k for k, step in enumerate(program.steps)}
    forms = sorted({step.form for step in program.steps})
    out = ['#include "wave.h"\nextern "C" {\n']
    out += [f"const rp_op*{form}(rp_wave*,const rp_op*);\n" for form in forms]
    out.append('__attribute__((visibility("hidden"))) const rp_op program_ops[]={\n')
    for k, step in enumerate(program.steps):
        operands = ",".join(str(_operand(step, o, index, k)) for o in step.operands)
        out.append(f"{{{step.form},{step.address}u,{step.kind},{step.aux},{{{operands}}}}},\n")
    out.append("{0}};\nstatic const rp_hidden hidden[]={")
    hidden = [a for a in kernel.arguments if a.kind.startswith("hidden_")]
    for argument in hidden:
        name = argument.kind.removeprefix("hidden_")
        kind = _HIDDEN.index(name) if name in _HIDDEN else 0
        out.append(f"{{{kind},{argument.offset},{argument.size}}},")
    out.append("{0,0,0}};\n")
    out.append("static const char*const mnemonics[]={" + ",".join(_string(s.name) for s in program.steps) + ",0};\n")
    if lines:
        texts = (lines.get(step.address, "") for step in program.steps)
        out.append("static const char*const lines[]={" + ",".join(map(_string, texts)) + ",0};\n")
    refused = [step.refusal for step in program.steps]
    if any(refused):
        out.append("static const char*const refusals[]={" + ",".join(map(_string, refused)) + ",0};\n")
    explicit = [a.offset + a.size for a in kernel.arguments if not a.kind.startswith("hidden_")]
    fields = (
        "RP_ISA_ABI", use.wavefront, _string(kernel.name), _string(target), use.sgprs, sum(program.granted), use.agprs,
        descriptor.lds_bytes, descriptor.scratch_bytes, descriptor.kernarg_bytes, max(explicit, default=0),
        use.max_workgroup, f"{descriptor.rsrc1}u", f"{descriptor.rsrc2}u", f"{descriptor.rsrc3}u",
        descriptor.properties, descriptor.preload, len(code.memory), descriptor.entry, "hidden", len(hidden),
        len(program.steps), "program_ops", "lines" if lines else 0, "mnemonics", int(program.watched),
        "refusals" if any(refused) else 0,
    )  # fmt: skip
    out.append(
        "extern const rp_kernel_info rocport_isa_kernel;const rp_kernel_info rocport_isa_kernel={"
        + ",".join(map(str, fields))
        + "};\n"
    )
    out.append(_RUN)
    return "".join(out) + "}\n"


# The loop is in the kernel's object too, so that a wave runs without the dispatcher library.
_RUN = (
    "int rocport_isa_run(rp_wave*w){const rp_op*op=w->ip;u64 n=w->slice;w->stop=RP_YIELD;"
    "while(n--){w->ip=op;op=op->fn(w,op);if(!op){w->executed+=w->slice-n;return(int)w->stop;}}"
    "w->executed+=w->slice;w->ip=op;return RP_YIELD;}\n"
)


def _operand(step: Step, operand: int | Target, index: dict[int, int], here: int) -> int:
    if isinstance(operand, Target):
        if operand.address not in index:
            raise EngineError(f"{step.name} at {step.address:#x} branches out of the code, to {operand.address:#x}")
        return (index[operand.address] - here) & 0xFFFFFFFF
    return operand


def engine() -> Path:
    """The dispatcher library, built when the cache lacks it. Raises EngineError."""
    path, digest = compiler()
    source = NATIVE / "dispatch.cpp"
    name = hashlib.sha256(digest.encode() + source.read_bytes()).hexdigest()[:16]
    place = folder() / f"librocport-isa-{name}.so"
    if not place.exists():
        flags = [flag for flag in _FLAGS if flag != "-fno-exceptions"]
        with _whole(place) as partial:
            _run([path, *flags, "-shared", "-pthread", str(source), "-ldl", "-o", str(partial)])
    return place
