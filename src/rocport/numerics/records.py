"""What a golden file holds: one record a tensor, one a call. Plain values, no PyTorch."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

SKETCH = 16
"""Signed sums a tensor: the squared distance of two sketches estimates that of the tensors, with a relative standard
deviation of sqrt(2 / SKETCH), 35 % (Johnson and Lindenstrauss; signs as of Achlioptas, 2003)."""
SAMPLES = 16
"""Elements kept of every tensor, at positions that depend on its number of elements only."""

_M64 = (1 << 64) - 1


def splitmix(value: int) -> int:
    """64 well-mixed bits of `value` (Steele, Lea and Flood, SplitMix64): the same on every machine, forever."""
    z = (value + 0x9E3779B97F4A7C15) & _M64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _M64
    return z ^ (z >> 31)


def positions(numel: int, count: int) -> list[int]:
    """Which elements of a tensor of `numel` are sampled, in logical order: all, or the ends and others in between."""
    if numel <= count:
        return list(range(numel))
    inner = {splitmix(numel * 1_000_003 + i) % numel for i in range(count - 2)}
    return sorted(inner | {0, numel - 1})


@dataclass(frozen=True)
class Statistics:
    """Of the values of one tensor in logical order. Complex tensors count as pairs of reals.

    minimum to norm are of the finite elements. `fingerprint` is equal for equal bits, whatever device they lie on.
    """

    fingerprint: int
    nan: int
    inf: int
    zeros: int
    minimum: float
    maximum: float
    mean: float
    norm: float
    sketch: tuple[float, ...]
    sample: tuple[float, ...]

    def pack(self, wide: bool) -> bytes:
        """Bytes for the index; `wide` keeps sketch and sample in float64."""
        kind = "d" if wide else "f"
        limit = math.inf if wide else 3.4028234e38
        narrow = [v if math.isnan(v) or math.isinf(v) else min(max(v, -limit), limit) for v in self.sketch]
        head = struct.pack(
            "<q7d", self.fingerprint, self.nan, self.inf, self.zeros, self.minimum, self.maximum, self.mean, self.norm
        )
        return head + struct.pack(f"<{len(narrow)}{kind}{len(self.sample)}{kind}", *narrow, *self.sample)

    @classmethod
    def unpack(cls, blob: bytes, wide: bool) -> Statistics:
        """Inverse of `pack`. Raises struct.error on other bytes."""
        fingerprint, nan, inf, zeros, least, most, mean, norm = struct.unpack_from("<q7d", blob)
        size = 8 if wide else 4
        values = struct.unpack_from(f"<{(len(blob) - 64) // size}{'d' if wide else 'f'}", blob, 64)
        sketch, sample = values[:SKETCH], values[SKETCH:]
        return cls(fingerprint, int(nan), int(inf), int(zeros), least, most, mean, norm, sketch, sample)


WIDE = frozenset({"float64", "complex128", "int64", "int32", "uint32", "uint64"})
"""Types whose samples do not fit float32."""


@dataclass(frozen=True)
class TensorRecord:
    """One tensor as it was at one moment. `stride` and `offset` in elements."""

    id: int
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    device: str
    uninitialised: bool = False
    """Memory that came from `empty` and that no operator has written: a kernel outside the dispatcher may have."""
    view_of: int | None = None
    """The tensor whose values these are, in an order that the view's call tells; then there are no statistics."""
    statistics: Statistics | None = None
    stored: str = ""
    """`full`, `sample`, or empty: what of it lies in the file besides the statistics."""

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    def to_frame(self) -> dict[str, Any]:
        wide = self.dtype in WIDE
        frame: dict[str, Any] = {"t": self.id, "d": self.dtype, "s": self.shape, "r": self.stride, "v": self.device}
        if self.offset:
            frame["o"] = self.offset
        if self.uninitialised:
            frame["u"] = True
        if self.view_of is not None:
            frame["w"] = self.view_of
        if self.statistics is not None:
            frame["x"] = self.statistics.pack(wide)
        if self.stored:
            frame["f"] = self.stored
        return frame

    @classmethod
    def from_frame(cls, frame: dict[str, Any]) -> TensorRecord:
        """Inverse of `to_frame`. Raises KeyError, TypeError or ValueError for what that does not write."""
        if not isinstance(frame["t"], int) or not str(frame["d"]).isidentifier() or not isinstance(frame["v"], str):
            raise ValueError(f"tensor {str(frame['t'])[:20]}: not a number, type and device")
        if any(not isinstance(n, int) for n in (*frame["s"], *frame["r"])) or any(n < 0 for n in frame["s"]):
            raise ValueError(f"tensor {frame['t']}: shape {str(frame['s'])[:40]}, strides {str(frame['r'])[:40]}")
        blob = frame.get("x")
        statistics = None if blob is None else Statistics.unpack(blob, frame["d"] in WIDE)
        return cls(
            frame["t"],
            frame["d"],
            tuple(frame["s"]),
            tuple(frame["r"]),
            frame.get("o", 0),
            frame["v"],
            frame.get("u", False),
            frame.get("w"),
            statistics,
            frame.get("f", ""),
        )


OPERATOR = "operator"
MODULE = "module"
FUNCTION = "function"
GRAD_OUTPUT = "gradient of output"
GRAD_INPUT = "gradient of input"
LOSS = "loss"
GRADIENT = "gradient"
PARAMETER = "parameter"
STATE = "optimizer state"


@dataclass(frozen=True)
class Call:
    """One call: of an operator, of a module, or a value observed (a loss, a gradient, a parameter).

    `scope` is the module it ran in (`Transformer.layers.0.attn`), `occurrence` which call of that module in this step
    and phase. `arguments` are the arguments with tensors replaced by {"t": index into inputs}. `site` is the line of
    the user's code, of the forward for a backward operator.
    """

    seq: int
    kind: str
    name: str
    scope: str
    occurrence: int
    phase: str
    step: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    arguments: Any = None
    site: str = ""
    random: bool = False
    view: bool = False
    error: str = ""

    def to_frame(self) -> dict[str, Any]:
        frame: dict[str, Any] = {
            "c": self.seq, "k": self.kind, "n": self.name, "m": self.scope, "p": self.phase, "i": self.inputs,
            "o": self.outputs,
        }  # fmt: skip
        optional = {
            "q": self.occurrence, "e": self.step, "a": self.arguments, "l": self.site, "r": self.random,
            "w": self.view, "b": self.error,
        }  # fmt: skip
        return frame | {key: value for key, value in optional.items() if value}

    @classmethod
    def from_frame(cls, frame: dict[str, Any]) -> Call:
        """Inverse of `to_frame`. Raises KeyError, TypeError or ValueError for what that does not write."""
        texts = [frame["k"], frame["n"], frame["m"], frame["p"], frame.get("l", ""), frame.get("b", "")]
        numbers = [frame["c"], frame.get("q", 0), frame.get("e", 0), *frame["i"], *frame["o"]]
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(number, int) for number in numbers):
            raise ValueError(f"call {str(frame['c'])[:20]}: a name that is no text, or a tensor that is no number")
        return cls(
            seq=frame["c"], kind=frame["k"], name=frame["n"], scope=frame["m"], occurrence=frame.get("q", 0),
            phase=frame["p"], step=frame.get("e", 0), inputs=tuple(frame["i"]), outputs=tuple(frame["o"]),
            arguments=frame.get("a"), site=frame.get("l", ""), random=frame.get("r", False), view=frame.get("w", False),
            error=frame.get("b", ""),
        )  # fmt: skip
