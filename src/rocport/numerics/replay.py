"""Run captured operators again, one by one, from the inputs the file holds: on this device, against float64.

Each operator is run several times on the same inputs, and what it allocates lies in memory that held other bytes
before: a result that changes is a finding of its own. The reference is the same operator on the CPU in float64; what
the golden file says the other machine made is measured with the same rule. Results are appended to a journal, so that
a replay that was cut off goes on where it stopped.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from rocport.numerics import records, trusted
from rocport.numerics.golden import Golden, open_golden
from rocport.numerics.records import Call, TensorRecord
from rocport.numerics.tolerance import UNIT, Operand, is_exact, own_error
from rocport.numerics.values import load

OK = "ok"
WRONG = "wrong"
NONDETERMINISTIC = "not deterministic"
LAYOUT = "depends on layout"
ERROR = "error"
SKIPPED = "skipped"
_NAMES = frozenset({"float32", "bfloat16", "float16", "float64"})


@dataclass(frozen=True)
class Replayed:
    """One operator call. Errors are relative Frobenius norms against float64; None where there is no reference."""

    seq: int
    name: str
    scope: str
    phase: str
    site: str
    status: str
    reason: str = ""
    error: float | None = None
    recorded_error: float | None = None
    """Of what the golden file holds: the machine it was recorded on, by the same rule."""
    bound: float | None = None


def _tensor(golden: Golden, record: TensorRecord, device: torch.device) -> torch.Tensor | None:
    """The captured values in their captured strides, on `device`; None when the file does not hold all of them."""
    if record.stored != "full":
        return None
    values = load(golden, record)
    if values is None:
        return None
    values = values.to(device)
    if tuple(values.stride()) == record.stride or values.numel() < 2:
        return values
    if any(stride == 0 and size > 1 for stride, size in zip(record.stride, record.shape, strict=True)):
        flat = [0 if stride == 0 else slice(None) for stride in record.stride]
        return values[tuple(slice(0, 1) if f == 0 else f for f in flat)].expand(record.shape)
    made = torch.empty_strided(record.shape, record.stride, dtype=values.dtype, device=device)
    made.copy_(values)
    return made


def _decode(value: Any, tensors: list[torch.Tensor], device: torch.device, dtype: torch.dtype | None) -> Any:
    """Arguments of a record, with tensors put back. `dtype` replaces a floating-point type that is asked for."""
    if isinstance(value, list):
        return [_decode(item, tensors, device, dtype) for item in value]
    if not isinstance(value, dict):
        return value
    if "t" in value:
        return tensors[value["t"]]
    if "dtype" in value:
        asked = trusted.dtype(value["dtype"])
        return dtype if dtype is not None and asked.is_floating_point else asked
    if "device" in value:
        return device
    if "memory_format" in value:
        return trusted.memory_format(value["memory_format"])
    if "layout" in value:
        return trusted.layout(value["layout"])
    raise ValueError(f"an argument of type {value.get('repr', 'unknown')} cannot be made again")


def _invoke(
    call: Call, tensors: list[torch.Tensor], device: torch.device, dtype: torch.dtype | None = None
) -> list[torch.Tensor]:
    function = trusted.operator(call.name)
    arguments = call.arguments
    args = [_decode(item, tensors, device, dtype) for item in arguments[0]]
    keywords = arguments[1]["kw"] if len(arguments) > 1 else {}
    kwargs = {key: _decode(item, tensors, device, dtype) for key, item in keywords.items()}
    out = function(*args, **kwargs)
    written = [
        (args[i] if i < len(args) else kwargs.get(argument.name))
        for i, argument in enumerate(function._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    found = [t for item in written for t in _flat(item)]
    ids = {id(t) for t in found}
    return found + [t for t in _flat(out) if id(t) not in ids]


def _flat(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat(item)


def _dirty(sizes: list[int], device: torch.device, number: int) -> None:
    """Fill memory of these sizes and give it back, so that the next allocation finds other bytes each time."""
    for _ in range(2):
        held = [torch.full((max(size, 1),), 0x7F - 13 * number, dtype=torch.uint8, device=device) for size in sizes]
        del held


def _error(got: torch.Tensor, want: torch.Tensor) -> float:
    a, b = got.detach().to("cpu"), want.detach().to("cpu")
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    a, b = a.to(torch.float64), b.to(torch.float64)
    same = (a == b) | (torch.isnan(a) & torch.isnan(b))
    if bool(((torch.isfinite(a) != torch.isfinite(b)) & ~same).any()):
        return math.inf
    a, b = torch.where(same, 0.0, a), torch.where(same, 0.0, b)
    scale = float(torch.linalg.vector_norm(torch.nan_to_num(want.detach().to("cpu", torch.float64))))
    gap = float(torch.linalg.vector_norm(a - b))
    return gap / scale if scale else (0.0 if gap == 0 else math.inf)


def _operand(tensor: torch.Tensor) -> Operand:
    name, shape = str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape)
    if not tensor.is_floating_point() or not tensor.numel():
        return Operand(name, shape)
    values = torch.nan_to_num(tensor.detach().to(torch.float64), 0.0, 0.0, 0.0)
    return Operand(name, shape, float(torch.linalg.vector_norm(values)), float(values.abs().max()))


def _bits(tensors: list[torch.Tensor]) -> list[bytes]:
    return [bytes(t.detach().to("cpu").contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()) for t in tensors]


def replay_call(
    golden: Golden, call: Call, device: torch.device, *, repeats: int = 3, layouts: bool = False
) -> Replayed:
    """Run one call again; see the module."""

    def result(status: str, reason: str = "", **numbers: float | None) -> Replayed:
        return Replayed(call.seq, call.name, call.scope, call.phase, call.site, status, reason, **numbers)

    if call.error:
        return result(SKIPPED, f"it raised {call.error}")
    if call.random:
        return result(SKIPPED, "random")
    missing = [i for i in call.inputs if golden.tensors[i].stored != "full"]
    if missing:
        return result(SKIPPED, "the file does not hold its inputs; record with --full")

    def inputs(where: torch.device, wide: bool = False) -> list[torch.Tensor]:
        made = []
        for number in call.inputs:
            value = _tensor(golden, golden.tensors[number], where)
            assert value is not None
            made.append(value.to(torch.float64) if wide and value.is_floating_point() else value)
        return made

    try:
        runs = []
        sizes: list[int] = []
        for number in range(repeats):
            arguments = inputs(device)
            _dirty(sizes, device, number)
            outputs = _invoke(call, arguments, device)
            runs.append([t.clone() for t in outputs])
            sizes = [t.numel() * t.element_size() for t in outputs]
    except (AttributeError, ValueError) as error:
        return result(SKIPPED, str(error).splitlines()[0][:200])
    except Exception as error:
        return result(ERROR, f"{type(error).__name__}: {error}".splitlines()[0][:200])
    first = runs[0]
    if any(t.layout is not torch.strided for t in first):
        return result(SKIPPED, f"an output has layout {next(t.layout for t in first if t.layout is not torch.strided)}")
    if any(_bits(run) != _bits(first) for run in runs[1:]):
        return result(NONDETERMINISTIC, f"{repeats} runs on the same inputs differ: {_spread(runs)}")
    try:
        want = _invoke(call, inputs(torch.device("cpu"), wide=True), torch.device("cpu"), torch.float64)
    except Exception as error:
        return result(SKIPPED, f"no float64 reference: {type(error).__name__}: {error}".splitlines()[0][:200])
    operands = [_operand(t) for t in inputs(torch.device("cpu"))]
    worst: dict[str, float | None] = {"error": 0.0, "recorded_error": None, "bound": 0.0}
    for position, (got, reference) in enumerate(zip(first, want, strict=False)):
        if got.shape != reference.shape or str(got.dtype).removeprefix("torch.") not in _NAMES:
            continue
        limit = own_error(call.name, operands, _operand(got))
        if is_exact(call.name):
            reference = reference.to(got.dtype)
        apart = _error(got, reference)
        recorded = _recorded(golden, call, position, reference)
        if worst["error"] is None or apart >= worst["error"]:
            worst = {"error": apart, "recorded_error": recorded, "bound": limit}
        if apart > max(limit, 2.0 * (recorded or 0.0)):
            return result(WRONG, "further from float64 than rounding explains", **worst)
    if layouts and (bad := _layouts(call, inputs(device), first, device)):
        return result(LAYOUT, bad, **worst)
    return result(OK, "", **worst)


def _spread(runs: list[list[torch.Tensor]]) -> str:
    worst = max(_error(b, a) for run in runs[1:] for a, b in zip(runs[0], run, strict=True))
    return f"relative difference up to {worst:.2g}"


def _recorded(golden: Golden, call: Call, position: int, reference: torch.Tensor) -> float | None:
    if position >= len(call.outputs):
        return None
    record = golden.tensors[call.outputs[position]]
    value = load(golden, record) if record.stored == "full" else None
    if value is None or value.shape != reference.shape:
        return None
    return _error(value, reference)


def _layouts(call: Call, tensors: list[torch.Tensor], want: list[torch.Tensor], device: torch.device) -> str:
    """Whether the call gives the same for the same values in other strides. Empty when it does."""
    from rocport.numerics.layouts import relaid

    if any(_written(call)):
        return ""
    for name in ("contiguous", "transposed", "padded", "offset"):
        others = [relaid(t, name) for t in tensors]
        try:
            got = _invoke(call, others, device)
        except RuntimeError:
            continue  # a view that these strides do not allow
        for a, b in zip(want, got, strict=False):
            if a.is_floating_point() and a.shape == b.shape:
                operands = [_operand(t) for t in tensors]
                units = [UNIT[operand.dtype] for operand in operands if operand.dtype in UNIT]
                # Another layout may choose another kernel, which rounds to the inputs' type elsewhere.
                limit = max(own_error(call.name, operands, _operand(a)), 2 * max(units, default=0.0))
                if _error(b, a) > 2 * limit:
                    return f"{name} inputs change the result by {_error(b, a):.2g}"
    return ""


def _written(call: Call) -> Iterator[bool]:
    """Whether each argument of the operator is written in place."""
    for argument in trusted.operator(call.name)._schema.arguments:
        yield argument.alias_info is not None and argument.alias_info.is_write


def _key(golden: Golden, call: Call) -> str:
    """Calls with the same operator, arguments and input bits need one replay."""
    prints = []
    for number in call.inputs:
        record = golden.tensors[number]
        statistics = record.statistics
        prints.append([record.dtype, record.shape, record.stride, statistics.fingerprint if statistics else number])
    return json.dumps([call.name, call.arguments, prints], default=str)


def replay_golden(
    golden: Golden, device: torch.device, journal: Path, *, repeats: int = 3, layouts: bool = False
) -> Iterator[Replayed]:
    """Replay every distinct operator call; results already in the journal are not run again."""
    done = _read_journal(journal)
    seen = set()
    with journal.open("a", encoding="utf-8") as file:
        for call in golden.calls:
            if call.kind != records.OPERATOR or call.view or not call.inputs:
                continue
            key = _key(golden, call)
            if key in seen:
                continue
            seen.add(key)
            if call.seq in done:
                yield done[call.seq]
                continue
            # A crash or a hang is in the journal before it happens.
            file.write(json.dumps({"running": call.seq, "name": call.name, "scope": call.scope}) + "\n")
            file.flush()
            replayed = replay_call(golden, call, device, repeats=repeats, layouts=layouts)
            file.write(json.dumps(asdict(replayed)) + "\n")
            file.flush()
            yield replayed


def _read_journal(journal: Path) -> dict[int, Replayed]:
    """Finished calls; one that was running when the process died counts as an error, so that it is not tried again."""
    done: dict[int, Replayed] = {}
    running: dict[str, Any] | None = None
    if not journal.is_file():
        return done
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if "running" in row:
            running = row
        else:
            done[row["seq"]] = Replayed(**row)
            running = None
    if running is not None:
        done[running["running"]] = Replayed(
            running["running"], running["name"], running["scope"], "", "", ERROR, "the process died in it"
        )
    return done


def replay_task(spec: dict[str, Any]) -> dict[str, Any]:
    """Task of the child process. Raises GoldenError."""
    golden = open_golden(Path(spec["reference"]))
    device = torch.device(spec.get("device") or ("cuda" if torch.cuda.is_available() else "cpu"))
    rows = list(
        replay_golden(
            golden,
            device,
            Path(spec["journal"]),
            repeats=int(spec.get("repeats", 3)),
            layouts=bool(spec.get("layouts")),
        )
    )
    counts = {
        status: sum(row.status == status for row in rows)
        for status in (OK, WRONG, NONDETERMINISTIC, LAYOUT, ERROR, SKIPPED)
    }
    return {
        "device": str(device), "process": os.getpid(), "counts": counts,
        "findings": [asdict(row) for row in rows if row.status not in (OK, SKIPPED)],
        "skipped": _reasons(rows), "worst": [asdict(row) for row in _worst(rows)],
    }  # fmt: skip


def _reasons(rows: list[Replayed]) -> dict[str, int]:
    reasons: dict[str, int] = {}
    for row in rows:
        if row.status == SKIPPED:
            reasons[row.reason] = reasons.get(row.reason, 0) + 1
    return reasons


def _worst(rows: list[Replayed], count: int = 5) -> list[Replayed]:
    """Calls that came nearest to their bound."""
    near = [row for row in rows if row.error and row.bound and row.error <= row.bound]
    return sorted(near, key=lambda row: (row.error or 0.0) / (row.bound or 1.0), reverse=True)[:count]
