"""What the Triton kernels compile to for a target, with no GPU: spills, LDS, matrix instructions, load widths.

The launches of the operators are recorded as they are made (same arguments, same configuration) and compiled for the
target instead of being run. Two failures the compiler does not report are checked here: LDS over the target's limit,
and more than 1024 threads a workgroup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from rocport.facts.targets import compiled_targets, load_target
from rocport.model import GfxTarget
from rocport.ops.formats import Format, QuantTensor
from rocport.runtime.machine import Platform, assume

TARGETS = compiled_targets()

_TYPES = {
    torch.float32: "*fp32", torch.float16: "*fp16", torch.bfloat16: "*bf16", torch.int32: "*i32", torch.int16: "*i16",
    torch.int64: "*i64", torch.uint8: "*u8",
}  # fmt: skip
_OPTIONS = ("num_warps", "num_stages", "waves_per_eu", "enable_fp_fusion", "matrix_instr_nonkdim", "kpack")


@dataclass(frozen=True)
class Launch:
    """One launch as it was made: the kernel, its specialized signature, constants and options."""

    kernel: Any
    label: str
    signature: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, Any], ...]
    divisible: frozenset[str]
    options: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        return str(self.kernel.__name__)


@dataclass(frozen=True)
class Report:
    """Read from the code object of one launch. Sizes in bytes; `occupancy` in waves a SIMD."""

    label: str
    kernel: str
    target: str
    vgprs: int
    spills: int
    scratch: int
    lds: int
    threads: int
    matrix: int
    loads: int
    wide_loads: int
    wide_stores: int
    occupancy: int
    instructions: int
    uses_dot: bool

    def problems(self, gfx: GfxTarget) -> list[str]:
        """What misses the bar; empty when it is met."""
        wanted = (2, 4) if self.uses_dot else (4, 8)
        least = wanted[0] if gfx.wavefront == 64 else wanted[1]
        checks = {
            f"{self.spills} spilled registers": self.spills == 0,
            f"{self.scratch} bytes of scratch": self.scratch == 0,
            f"{self.lds} bytes of LDS, {gfx.name} has {gfx.lds_bytes}": self.lds <= gfx.lds_bytes,
            f"{self.threads} threads a workgroup": self.threads <= gfx.max_workgroup,
            "no matrix instruction for its dot": self.matrix > 0 or not self.uses_dot,
            f"occupancy {self.occupancy}, wanted {least}": self.occupancy >= least,
        }
        if self.kernel in STORES_DOMINATE:
            checks["no 128-bit store"] = self.wide_stores > 0
        elif self.kernel not in NO_WIDE_LOADS:
            checks["no 128-bit load"] = self.wide_loads > 0
        return [problem for problem, met in checks.items() if not met]


STORES_DOMINATE = frozenset({"dequantize_kernel"})
"""Kernels that write four times what they read: the width of their stores is asked for. Loading four words a
lane, which makes the loads 128 bits wide, splits the stores and was 2.2 times slower on an NVIDIA H200."""
NO_WIDE_LOADS = frozenset({"sum_parts", "mean_loss"})
"""Kernels that load next to nothing: one value a program, or partial sums."""


def _specialized(kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Launch, dict[str, Any]]:
    """A call as Triton specializes it, and the values by parameter."""
    given = dict(kwargs)
    options = {key: given.pop(key) for key in list(given) if key in _OPTIONS}
    bound = dict(zip(kernel.arg_names, args, strict=False)) | given
    signature, constants, divisible = [], [], set()
    for parameter in kernel.params:
        value = bound[parameter.name]
        if parameter.is_constexpr:
            signature.append((parameter.name, "constexpr"))
            constants.append((parameter.name, value))
        elif isinstance(value, torch.Tensor):
            signature.append((parameter.name, _TYPES[value.dtype]))
            if value.data_ptr() % 16 == 0:
                divisible.add(parameter.name)
        elif value is None or value == 1:
            signature.append((parameter.name, "constexpr"))
            constants.append((parameter.name, value))
        elif isinstance(value, float):
            signature.append((parameter.name, "fp32"))
        else:
            signature.append((parameter.name, "i32" if abs(value) < 2**31 else "i64"))
            if value % 16 == 0:
                divisible.add(parameter.name)
    made = Launch(kernel, "", tuple(signature), tuple(constants), frozenset(divisible), tuple(sorted(options.items())))
    return made, bound


Runner = Callable[[Any, str, tuple[int, ...], list[Any]], None]
"""What runs a compiled kernel: (compiled, its name, grid, values of its parameters that are not constants)."""


@contextmanager
def executing(target: str, run: Runner) -> Iterator[list[Launch]]:
    """Compile launches for `target` and hand them to `run`, which reads and writes the tensors; collects them too."""
    gfx = load_target(target)
    launches: list[Launch] = []

    def execute(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        launch, bound = _specialized(kernel, args, kwargs)
        sizes = grid(bound) if callable(grid) else grid
        values = [bound[name] for name, kind in launch.signature if kind != "constexpr"]
        run(compile_for(launch, target, gfx.wavefront), launch.name, tuple(sizes), values)
        launches.append(launch)

    original = JITFunction.run
    JITFunction.run = execute
    try:
        with assume(Platform("rocm", target=gfx)):
            yield launches
    finally:
        JITFunction.run = original


@contextmanager
def recording() -> Iterator[list[Launch]]:
    """Collect kernel launches instead of making them."""
    launches: list[Launch] = []

    def record(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        launches.append(_specialized(kernel, args, kwargs)[0])

    original = JITFunction.run
    JITFunction.run = record
    try:
        yield launches
    finally:
        JITFunction.run = original


def compile_for(launch: Launch, arch: str | int, wave: int) -> Any:
    """The launch compiled for an AMD target (`gfx942`) or a CUDA one (90); needs no GPU."""
    names = [name for name, _ in launch.signature]
    source = ASTSource(
        launch.kernel,
        signature=dict(launch.signature),
        constexprs={(names.index(name),): value for name, value in launch.constants},
        attrs={(names.index(name),): [["tt.divisibility", 16]] for name in launch.divisible},
    )
    backend = "hip" if isinstance(arch, str) else "cuda"
    return triton.compile(source, target=GPUTarget(backend, arch, wave), options=dict(launch.options))


def _number(text: str, field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+)", text)
    return int(found.group(1)) if found else 0


@cache
def report(launch: Launch, target: str) -> Report:
    """Compile `launch` for `target` and read its assembly."""
    gfx = load_target(target)
    compiled = compile_for(launch, target, gfx.wavefront)
    text = compiled.asm["amdgcn"]
    loads = re.findall(r"^\s+(?:global|buffer|flat)_load_\w+", text, re.M)
    return Report(
        label=launch.label,
        kernel=launch.name,
        target=target,
        vgprs=_number(text, r"\.vgpr_count"),
        spills=_number(text, r"\.vgpr_spill_count") + _number(text, r"\.sgpr_spill_count"),
        scratch=_number(text, r"\.private_segment_fixed_size"),
        lds=compiled.metadata.shared,
        threads=compiled.metadata.num_warps * gfx.wavefront,
        matrix=len(re.findall(r"^\s+v_(?:s?mfma|wmma|smfmac)\w*", text, re.M)),
        loads=len(loads),
        wide_loads=sum(load.endswith(("x4", "b128")) for load in loads),
        wide_stores=len(re.findall(r"^\s+(?:global|buffer|flat)_store_(?:dwordx4|b128)\b", text, re.M)),
        occupancy=_number(text, r"; Occupancy"),
        instructions=len(re.findall(r"^\s+[vs]_\w+", text, re.M)) + len(loads),
        uses_dot="tt.dot" in compiled.asm["ttir"],
    )


def example(
    name: str, shape: tuple[int, ...], dtype: torch.dtype = torch.bfloat16, nested: bool = False
) -> QuantTensor:
    """A QuantTensor of format `name` with the right types and sizes; its contents are never read."""
    fmt = Format.parse(name)
    if fmt.flat:
        numel = torch.Size(shape).numel()
        codes = torch.empty(numel * fmt.bits // 8, dtype=torch.uint8)
        count = -(-numel // fmt.group)
        if nested:
            inner = torch.empty(-(-count // 256), dtype=torch.float32)
            scales = torch.empty(count, dtype=torch.uint8)
            return QuantTensor(fmt, shape, dtype, codes, scales, None, inner, torch.empty((), dtype=torch.float32))
        return QuantTensor(fmt, shape, dtype, codes, torch.empty(count, dtype=torch.float32))
    codes = torch.empty((*shape[:-1], shape[-1] * fmt.bits // 32), dtype=torch.int32)
    groups = (*shape[:-1], shape[-1] // fmt.group)
    if fmt.kind == "affine":
        scales = torch.empty(groups, dtype=dtype)
        return QuantTensor(fmt, shape, dtype, codes, scales, torch.empty(groups, dtype=dtype))
    return QuantTensor(fmt, shape, dtype, codes, torch.empty(groups, dtype=torch.uint8))


SHAPE = (4096, 4096)
FORMATS = (
    "affine2g64", "affine3g64", "affine4g32", "affine4g64", "affine4g128", "affine5g64", "affine6g64", "affine8g64",
    "nf4b64", "nf4b128", "fp4b64", "dynamic8b256", "mxfp4", "nvfp4", "mxfp8",
)  # fmt: skip
ROWS = (1, 8, 32, 64, 128)


def both_ways(function: Callable[..., torch.Tensor], *inputs: Any) -> None:
    """The forward and the backward of `function`."""
    out = function(*inputs)
    out.backward(torch.empty_like(out))  # type: ignore[no-untyped-call]


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Every Triton kernel of the operators, in every configuration its launch code picks, with a label."""
    from rocport.ops.cross_entropy import triton as cross_entropy
    from rocport.ops.dequantize import triton as dequantize
    from rocport.ops.gather_qmm import triton as gather
    from rocport.ops.grouped_mm import triton as grouped
    from rocport.ops.norms import norm
    from rocport.ops.quantize import triton as quantize
    from rocport.ops.quantized_matmul import triton as matmul
    from rocport.ops.rope import triton as rope
    from rocport.ops.softmax import triton as softmax
    from rocport.ops.swiglu import triton as swiglu

    dense = torch.empty(SHAPE, dtype=torch.bfloat16)
    for name in FORMATS:
        fmt = Format.parse(name)
        q = example(name, SHAPE)
        yield f"quantize {name}", partial(quantize.run, dense, fmt)
        yield f"dequantize {name}", partial(dequantize.run, q, torch.bfloat16)
        for rows in ROWS:
            if rows == 1 or (32 % fmt.bits == 0 and (rows == 64 or name in ("affine4g64", "nf4b64"))):
                x = torch.empty((rows, SHAPE[1]), dtype=torch.bfloat16)
                yield f"matmul {name} M={rows}", partial(matmul.run, x, q)
    for name in ("affine4g64", "nf4b64"):
        for shape in ((16384, 4096), (4096, 16384)):
            x = torch.empty((1, shape[1]), dtype=torch.bfloat16)
            yield f"matmul {name} M=1 N={shape[0]} K={shape[1]}", partial(matmul.run, x, example(name, shape))
    nested = example("nf4b64", SHAPE, nested=True)
    yield "dequantize nf4b64 nested", lambda: dequantize.run(nested, torch.bfloat16)
    yield "matmul nf4b64 nested M=1", lambda: matmul.run(torch.empty((1, SHAPE[1]), dtype=torch.bfloat16), nested)
    experts = example("affine4g64", (8, *SHAPE))
    x = torch.empty((8, SHAPE[1]), dtype=torch.bfloat16)
    index = torch.empty(8, dtype=torch.int64)
    yield "gather affine4g64", lambda: gather.run(x, experts, index)
    heads = torch.empty((1, 64, 32, 128), dtype=torch.bfloat16)
    angle = torch.empty((1, 64, 64), dtype=torch.float32)
    yield "rope", partial(rope.run, heads, heads, angle, angle, False)
    target = torch.empty(SHAPE[0], dtype=torch.int64)
    for width in (128, 4096, 16384):
        leaf = torch.empty((SHAPE[0], width), dtype=torch.bfloat16, requires_grad=True)
        scale = torch.empty(width, dtype=torch.bfloat16, requires_grad=True)
        yield f"rms_norm D={width}", partial(both_ways, norm, leaf, scale, None, 1e-6)
        yield f"layer_norm D={width}", partial(both_ways, norm, leaf, scale, scale, 1e-6)
        yield f"softmax D={width}", partial(both_ways, softmax.run, leaf)
    yield "swiglu", partial(both_ways, swiglu.run, leaf, leaf)
    yield "cross_entropy", partial(both_ways, cross_entropy.run, leaf, target, -100)
    weight = torch.empty((8, *SHAPE), dtype=torch.bfloat16).transpose(1, 2)
    ends = torch.empty(8, dtype=torch.int32)
    for rows in (64, 1024, 8192):
        many = torch.empty((rows, SHAPE[1]), dtype=torch.bfloat16)
        yield f"grouped_mm T={rows}", partial(grouped.run, many, weight, ends)


def launches(where: Platform) -> list[Launch]:
    """Every distinct launch the operators make on `where`."""
    seen: dict[tuple[Any, ...], Launch] = {}
    with assume(where):
        for label, call in calls():
            with recording() as made:
                call()
            for launch in made:
                key = (launch.name, launch.signature, launch.constants, launch.divisible, launch.options)
                if key not in seen:
                    seen[key] = Launch(
                        launch.kernel, label, launch.signature, launch.constants, launch.divisible, launch.options
                    )  # fmt: skip
    return list(seen.values())
