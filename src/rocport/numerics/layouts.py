"""The same values in other memory, and the shapes that kernels forget: for operators of one's own.

`check_operator` runs a function over types, shapes and layouts it claims, against a reference, on poisoned memory: what
is claimed must write every element. Wrong answers, missing writes, results that depend on strides or change from run to
run are findings.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from rocport.numerics.recorder import poison
from rocport.numerics.tolerance import Operand, own_error

LAYOUTS = ("contiguous", "transposed", "padded", "offset", "expanded", "far")
_FAR = (1 << 31) + 8
"""Elements in front of a tensor of layout far: an index of 32 bits, signed, cannot reach it."""


class LayoutImpossible(ValueError):
    """The tensor cannot lie that way; the message says why."""


def relaid(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """The same values, lying as `layout` says.

    contiguous; transposed (the last two dimensions exchanged in memory); padded (rows and batches further apart);
    offset (odd storage offset); expanded (stride 0 along the first dimension: values of its first entry); far (more
    than 2^31 elements in front). Raises LayoutImpossible.
    """
    plain = tensor.detach()
    if layout == "contiguous":
        return plain.contiguous()
    if layout == "transposed":
        if plain.dim() < 2:
            return plain.contiguous()
        return plain.transpose(-2, -1).contiguous().transpose(-2, -1)
    if layout == "padded":
        if plain.dim() == 0:
            return plain.contiguous()
        grown = plain.new_empty([size + (1 if size else 0) for size in plain.shape])
        poison(grown)
        inner = grown[tuple(slice(0, size) for size in plain.shape)]
        inner.copy_(plain)
        return inner
    if layout == "offset":
        base = plain.new_empty(plain.numel() + 3)
        poison(base)
        inner = base[3:].view(plain.shape)
        inner.copy_(plain)
        return inner
    if layout == "expanded":
        if plain.dim() == 0 or plain.shape[0] < 2:
            raise LayoutImpossible("the first dimension has fewer than two entries")
        return plain[:1].contiguous().expand(plain.shape)
    if layout == "far":
        return _far(plain)
    raise ValueError(f"no layout {layout!r}: there are {', '.join(LAYOUTS)}")


def _far(plain: torch.Tensor) -> torch.Tensor:
    need = (_FAR + plain.numel()) * plain.element_size()
    if plain.device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(plain.device)
        if free < need + (1 << 30):
            raise LayoutImpossible(f"needs {need >> 30} GiB on the device, {free >> 30} GiB are free")
    # On the CPU pages that are never touched cost address space only.
    inner = torch.empty(_FAR + plain.numel(), dtype=plain.dtype, device=plain.device)[_FAR:].view(plain.shape)
    inner.copy_(plain)
    return inner


@dataclass(frozen=True)
class Flaw:
    """What one case showed. `kind`: error, wrong, unwritten, layout, not deterministic, stream, graph."""

    case: str
    kind: str
    text: str


@dataclass(frozen=True)
class Checked:
    """`tried` cases ran; `skipped` says why others did not; `refused` were not claimed."""

    tried: int
    flaws: tuple[Flaw, ...]
    skipped: tuple[str, ...]
    refused: int


Function = Callable[..., torch.Tensor]


def sizes(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Shapes in the class of `shape` that kernels forget: as given, empty, 1, odd, and beyond one tile or wavefront."""
    yield tuple(shape)
    if not shape:
        return
    for first in (0, 1, 3, 65, 257):
        yield (first, *shape[1:])


def check_operator(
    function: Function,
    reference: Function,
    arguments: Callable[[tuple[int, ...], torch.dtype], tuple[torch.Tensor, ...]],
    shapes: Iterable[tuple[int, ...]],
    dtypes: Iterable[torch.dtype],
    *,
    layouts: Sequence[str] = LAYOUTS[:5],
    supports: Callable[..., bool] | None = None,
    repeats: int = 3,
    name: str = "operator",
) -> Checked:
    """Try `function` in every type, shape and layout that it claims, against `reference` in float64 on the CPU.

    `arguments(shape, dtype)` makes tensors on the device to be tried. `supports(*tensors)` is the operator's own claim:
    what it denies is counted as refused, what it grants must write every element. On a GPU the call is also made on a
    side stream, and captured in a graph and replayed on poisoned outputs.
    """
    flaws: list[Flaw] = []
    skipped: list[str] = []
    tried = refused = 0
    for dtype, shape in itertools.product(dtypes, dict.fromkeys(shapes)):
        plain = arguments(shape, dtype)
        if supports is not None and not supports(*plain):
            refused += 1
            continue
        base: torch.Tensor | None = None
        for layout in layouts:
            case = f"{str(dtype).removeprefix('torch.')} {list(shape)} {layout}"
            try:
                tensors = tuple(relaid(t, layout) for t in plain)
            except LayoutImpossible as error:
                skipped.append(f"{case}: {error}")
                continue
            if supports is not None and not supports(*tensors):
                refused += 1
                continue
            tried += 1
            found, got = _try(function, reference, tensors, case, repeats, name)
            flaws += found
            if layout == "contiguous":
                base = got
            elif base is not None and got is not None and layout != "expanded" and not found:
                limit = own_error(name, [_operand(t) for t in tensors], _operand(got))
                if (apart := distance(got, base)) > 2 * limit:
                    flaws.append(Flaw(case, "layout", f"differs from contiguous inputs by {apart:.2g}"))
        if plain and plain[0].device.type == "cuda" and base is not None:
            flaws += _on_device(function, plain, base, f"{dtype} {list(shape)}")
        elif not skipped or "side stream" not in skipped[-1]:
            skipped.append("side stream and graph capture: no GPU here")
    return Checked(tried, tuple(flaws), tuple(dict.fromkeys(skipped)), refused)


def _operand(tensor: torch.Tensor) -> Operand:
    return Operand(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))


def distance(got: torch.Tensor, want: torch.Tensor) -> float:
    """|got - want| / |want|; infinite where only one side is finite."""
    a, b = got.detach().cpu().to(torch.float64), want.detach().cpu().to(torch.float64)
    if a.shape != b.shape or not torch.equal(torch.isfinite(a), torch.isfinite(b)):
        return math.inf
    a, b = torch.nan_to_num(a, 0.0, 0.0, 0.0), torch.nan_to_num(b, 0.0, 0.0, 0.0)
    scale = float(torch.linalg.vector_norm(b))
    gap = float(torch.linalg.vector_norm(a - b))
    return gap / scale if scale else (0.0 if gap == 0 else math.inf)


def _try(
    function: Function, reference: Function, tensors: tuple[torch.Tensor, ...], case: str, repeats: int, name: str
) -> tuple[list[Flaw], torch.Tensor | None]:
    wide = [t.detach().cpu().to(torch.float64) if t.is_floating_point() else t.detach().cpu() for t in tensors]
    want = reference(*wide)
    outputs = []
    try:
        for number in range(repeats):
            with poisoned(number):
                outputs.append(function(*tensors).detach().clone())
    except Exception as error:
        return [Flaw(case, "error", f"{type(error).__name__}: {error}".splitlines()[0][:200])], None
    got = outputs[0]
    unwritten = torch.zeros(got.shape, dtype=torch.bool, device=got.device)
    for other in outputs[1:]:
        if other.shape == got.shape:
            unwritten |= (other != got) & ~(torch.isnan(other) & torch.isnan(got))
    if got.is_floating_point() and bool(torch.isfinite(want).all()):
        unwritten |= torch.isnan(got)
    if count := int(unwritten.sum()):
        share = f"{count} of {got.numel()} elements"
        kind = "unwritten" if bool(torch.isnan(outputs[0][unwritten]).any()) else "not deterministic"
        text = (
            f"{share} hold NaN: not written, or read from beside the input"
            if kind == "unwritten"
            else f"{share} change from run to run"
        )
        return [Flaw(case, kind, text)], got
    limit = own_error(name, [_operand(t) for t in tensors], _operand(got))
    if (apart := distance(got, want)) > limit:
        return [Flaw(case, "wrong", f"{apart:.2g} from float64, bound {limit:.2g}")], got
    return [], got


class poisoned(torch.utils._python_dispatch.TorchDispatchMode):
    """Inside, memory from torch.empty and its kin holds NaN (the largest integer), or another pattern each time."""

    def __init__(self, number: int = 0) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.number = number

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        out = func(*args, **(kwargs or {}))
        if func._schema.name.startswith(("aten::empty", "aten::new_empty")) and isinstance(out, torch.Tensor):
            poison(out)
            if self.number and not out.is_floating_point() and out.dtype is not torch.bool:
                out.fill_(torch.iinfo(out.dtype).max - self.number)
        return out


def _on_device(function: Function, tensors: tuple[torch.Tensor, ...], want: torch.Tensor, case: str) -> list[Flaw]:
    """On a side stream, and captured and replayed; the inputs are written just before, on that stream."""
    flaws = []
    stream: torch.cuda.Stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        copies = tuple(
            torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=t.device).copy_(t) for t in tensors
        )
        got = function(*copies)
        result = got.clone()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    if not _same(result, want):
        flaws.append(Flaw(case, "stream", f"on a side stream the result is off by {distance(result, want):.2g}"))
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            captured = function(*copies)
    except RuntimeError as error:
        flaws.append(Flaw(case, "graph", f"cannot be captured: {error}".splitlines()[0][:200]))
        return flaws
    poison(captured)
    graph.replay()
    torch.cuda.synchronize()
    if not _same(captured, want):
        flaws.append(Flaw(case, "graph", f"the replay is off by {distance(captured, want):.2g}"))
    return flaws


def _same(got: torch.Tensor, want: torch.Tensor) -> bool:
    unit = {torch.float32: 1e-5, torch.float64: 1e-12}.get(want.dtype, 2e-2)
    return distance(got, want) <= unit
