"""What the Triton kernels compile to for a target, with no GPU: spills, LDS, matrix instructions, load widths.

The launches of the operators are recorded as they are made (same arguments, same configuration) and compiled for the
target instead of being run. Two failures the compiler does not report are checked here: LDS over the target's limit,
and more than 1024 threads a workgroup.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from rocport.ops.quantize import eager as quantize_eager
from rocport.ops.quantize.eager import nest
from rocport.runtime.machine import Platform, assume

TARGETS = compiled_targets()

_TYPES = {
    torch.float32: "*fp32", torch.float16: "*fp16", torch.bfloat16: "*bf16", torch.int32: "*i32", torch.int16: "*i16",
    torch.int64: "*i64", torch.uint8: "*u8",
}  # fmt: skip
_OPTIONS = (
    "num_warps", "num_stages", "waves_per_eu", "enable_fp_fusion", "matrix_instr_nonkdim", "kpack", "maxnreg",
    "launch_pdl",
)  # fmt: skip


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


@dataclass(frozen=True)
class Call:
    """One call of an operator: what runs its kernels, what says what they compute, and how far apart they may be."""

    label: str
    run: Callable[[], Any]
    eager: Callable[[], Any]
    limit: float
    """Relative error; 0: the same bits."""


class Empty:
    """Operands whose contents are never read."""

    def dense(self, *shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype)

    def below(self, top: int, count: int) -> torch.Tensor:
        """Whole numbers from 0 to `top` - 1."""
        return torch.empty(count, dtype=torch.int64)

    def packed(self, name: str, shape: tuple[int, ...], nested: bool = False) -> QuantTensor:
        return example(name, shape, nested=nested)


class Drawn(Empty):
    """Random operands. A packed matrix repeats 61 rows, so that large ones are cheap: no tile's rows repeat with it."""

    def __init__(self, seed: int = 0) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def dense(self, *shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.randn(shape, generator=self.generator).to(dtype)

    def below(self, top: int, count: int) -> torch.Tensor:
        return torch.randint(top, (count,), generator=self.generator)

    def packed(self, name: str, shape: tuple[int, ...], nested: bool = False) -> QuantTensor:
        rows, k = math.prod(shape[:-1]), shape[-1]
        few = quantize_eager.run(self.dense(61, k), Format.parse(name))
        times = -(-rows // 61)

        def repeated(part: torch.Tensor | None) -> torch.Tensor | None:
            if part is None:
                return None
            whole = part.reshape(61, -1).repeat(times, 1)[:rows]
            return whole.flatten() if few.format.flat else whole.reshape(*shape[:-1], -1)

        codes, scales = repeated(few.codes), repeated(few.scales)
        assert codes is not None and scales is not None
        whole = QuantTensor(few.format, shape, few.dtype, codes, scales, repeated(few.biases))
        return nest(whole) if nested else whole


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


def both_ways(operands: Empty, function: Callable[..., torch.Tensor], *inputs: Any) -> list[torch.Tensor]:
    """The result of `function`, and the gradients of the inputs that want one."""
    out = function(*inputs)
    leaves = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    weights = operands.dense(*out.shape, dtype=out.dtype)
    return [out.detach(), *torch.autograd.grad(out, leaves, weights)]


BF16 = 8e-3
"""Relative error of results rounded to bfloat16."""


def calls(operands: Empty | None = None, size: int = SHAPE[0]) -> Iterator[Call]:
    """Every Triton kernel of the operators, in every configuration its launch code picks, with a label.

    `size` stands for the rows of a weight and of what is normalized. A smaller one may pick other configurations:
    whether it does is for the caller to compare.
    """
    from rocport import ops
    from rocport.ops.combine import eager as combine_eager
    from rocport.ops.combine import triton as combine
    from rocport.ops.cross_entropy import triton as cross_entropy
    from rocport.ops.dequantize import eager as dequantize_eager
    from rocport.ops.dequantize import triton as dequantize
    from rocport.ops.gather_qmm import eager as gather_eager
    from rocport.ops.gather_qmm import triton as gather
    from rocport.ops.grouped_mm import eager as grouped_eager
    from rocport.ops.grouped_mm import triton as grouped
    from rocport.ops.norms import norm
    from rocport.ops.quantize import triton as quantize
    from rocport.ops.quantized_matmul import triton as matmul
    from rocport.ops.rope import eager as rope_eager
    from rocport.ops.rope import triton as rope
    from rocport.ops.route import eager as route_eager
    from rocport.ops.route import triton as route
    from rocport.ops.softmax import triton as softmax
    from rocport.ops.swiglu import triton as swiglu

    given = operands or Empty()
    k = SHAPE[1]

    def product(label: str, x: torch.Tensor, q: QuantTensor) -> Call:
        return Call(
            label, partial(matmul.run, x, q), lambda: x.float() @ dequantize_eager.run(q, torch.float32).T, BF16
        )

    def unpacked(label: str, q: QuantTensor) -> Call:
        types = (q, torch.bfloat16)
        return Call(label, partial(dequantize.run, *types), partial(dequantize_eager.run, *types), 0.0)

    dense = given.dense(size, k)
    for name in FORMATS:
        fmt = Format.parse(name)
        q = given.packed(name, (size, k))
        yield Call(f"quantize {name}", partial(quantize.run, dense, fmt), partial(quantize_eager.run, dense, fmt), 0.0)
        yield unpacked(f"dequantize {name}", q)
        for rows in ROWS:
            if rows == 1 or (32 % fmt.bits == 0 and (rows == 64 or name in ("affine4g64", "nf4b64"))):
                yield product(f"matmul {name} M={rows}", given.dense(rows, k), q)
    for name in ("affine4g64", "nf4b64"):
        for shape in ((4 * size, k), (size, 4 * k)):
            label = f"matmul {name} M=1 N={4 * SHAPE[0] if shape[1] == k else SHAPE[0]} K={shape[1]}"
            yield product(label, given.dense(1, shape[1]), given.packed(name, shape))
    nested = given.packed("nf4b64", (size, k), nested=True)
    yield unpacked("dequantize nf4b64 nested", nested)
    yield product("matmul nf4b64 nested M=1", given.dense(1, k), nested)
    picked = given.dense(8, k), given.packed("affine4g64", (8, size, k)), given.below(8, 8)
    yield Call("gather affine4g64", partial(gather.run, *picked), partial(gather_eager.run, *picked), BF16)
    heads, angle = given.dense(1, 64, 32, 128), given.dense(1, 64, 64, dtype=torch.float32)
    turned = heads, heads, angle.cos(), angle.sin(), False
    yield Call("rope", partial(rope.run, *turned), partial(rope_eager.run, *turned), BF16)

    def both(
        label: str, function: Callable[..., torch.Tensor], eager: Callable[..., torch.Tensor], *inputs: Any
    ) -> Call:
        seed = type(given)
        return Call(
            label, lambda: both_ways(seed(), function, *inputs), lambda: both_ways(seed(), eager, *inputs), BF16
        )

    def leaf(*shape: int) -> torch.Tensor:
        return given.dense(*shape).requires_grad_()

    for width in (128, 4096, 16384):
        x, w, bias = leaf(size, width), leaf(width), leaf(width)
        yield both(
            f"rms_norm D={width}",
            lambda x, w: norm(x, w, None, 1e-6),
            lambda x, w: ops.rms_norm(x, w, 1e-6, tier="eager"),
            x,
            w,
        )
        yield both(
            f"layer_norm D={width}",
            lambda x, w, b: norm(x, w, b, 1e-6),
            lambda x, w, b: ops.layer_norm(x, w, b, 1e-6, tier="eager"),
            x,
            w,
            bias,
        )
        yield both(f"softmax D={width}", softmax.run, partial(ops.softmax, tier="eager"), x)
    halves = given.dense(size, 2 * 768).chunk(2, 1)
    yield Call("swiglu of halves", partial(swiglu.run, *halves), lambda: ops.swiglu(*halves, tier="eager"), BF16)
    weighed = given.dense(8 * 64, k), given.below(8 * 64, 8 * 64).view(64, 8).to(torch.int32), given.dense(64, 8)
    yield Call("combine", partial(combine.run, *weighed), partial(combine_eager.run, *weighed), BF16)
    routed = given.below(128, 8 * 64).view(64, 8), 128
    yield Call("route", partial(route.run, *routed), partial(route_eager.run, *routed), 0.0)
    gate, up = leaf(size, 16384), leaf(size, 16384)
    yield both("swiglu", swiglu.run, partial(ops.swiglu, tier="eager"), gate, up)
    target = given.below(16384, size)
    yield both(
        "cross_entropy",
        lambda x: cross_entropy.run(x, target, -100),
        lambda x: ops.cross_entropy(x, target, ignore_index=-100, tier="eager"),
        gate,
    )
    weight = given.dense(8, size, k).transpose(1, 2)
    for rows in (64, 1024, 8192):
        ends = torch.arange(1, 9, dtype=torch.int32) * (rows // 8) - 3
        many = given.dense(rows, k), weight, ends
        yield Call(f"grouped_mm T={rows}", partial(grouped.run, *many), partial(grouped_eager.run, *many), BF16)


def key(launch: Launch) -> tuple[Any, ...]:
    """What makes a launch another kernel for the compiler."""
    return (launch.name, launch.signature, launch.constants, tuple(sorted(launch.divisible)), launch.options)


def launches(where: Platform) -> list[Launch]:
    """Every distinct launch the operators make on `where`."""
    seen: dict[tuple[Any, ...], Launch] = {}
    with assume(where):
        for call in calls():
            with recording() as made:
                call.run()
            for launch in made:
                seen.setdefault(key(launch), replace(launch, label=call.label))
    return list(seen.values())
