"""Compare two captures: the first call that diverges, whether its input already differed, and what the difference is.

A call diverges *here* when its inputs agree (to what rounding explains) and its output does not. Operators that only
one side ran are blamed when the difference appears between the calls around them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rocport.numerics import records
from rocport.numerics.alignment import align
from rocport.numerics.diagnosis import diagnose
from rocport.numerics.difference import EQUAL, UNKNOWN, Difference, from_records
from rocport.numerics.golden import Golden, append_frame, open_golden
from rocport.numerics.records import Call, TensorRecord
from rocport.numerics.symptoms import Symptom
from rocport.numerics.tolerance import UNIT, Operand, bound, is_discrete
from rocport.numerics.training import Training, training_of

COMPARISON_SCHEMA = 1
_NOISE_MARGIN = 4.0
_ELEMENT = 16.0
"""One element may be this much further off than the whole tensor, measured against its size and the rms."""
_OTHER_PATH = 2e-6
_ESTIMATE = 1.7
"""Two standard deviations of a distance estimated from sketches."""
_LISTED = 8
_UNWRITTEN = (
    "reads memory that came from torch.empty and that no operator wrote; a kernel that was not launched leaves it so"
)

HERE = "diverges here"
BITS = "differs here"
BETWEEN = "diverges between"
ARGUMENT = "other arguments"
EXTERNAL = "input differs at its source"
RANDOM = "random numbers differ"
ERROR = "raises an error"


@dataclass(frozen=True)
class Blame:
    """One place where the runs part. `call` names what the reference ran there, `here` what this run did."""

    verdict: str
    kind: str
    call: str
    scope: str
    phase: str
    step: int
    site: str
    here: str = ""
    here_site: str = ""
    output: int = 0
    relative: float = 0.0
    bound: float = 0.0
    exact: bool = False
    inputs: str = ""
    symptoms: tuple[Symptom, ...] = ()
    seq: int = 0
    occurrence: int = 0


@dataclass(frozen=True)
class ModuleRow:
    """The outputs of one call of a module on both sides. `relative` is the largest over the outputs."""

    scope: str
    kind: str
    phase: str
    step: int
    relative: float
    bound: float
    inputs: float


@dataclass
class Comparison:
    """What two runs have and have not in common."""

    verdict: str = "equal"
    """`equal` (every bit), `rounding` (within bounds), `diverges`, or `nothing compared`."""
    exact_expected: bool = False
    """Same machine, same versions, and no noise between two runs of the reference: every bit should agree."""
    first: Blame | None = None
    first_bits: Blame | None = None
    """The first call whose output differs in any bit, where nothing is out of bounds."""
    others: list[Blame] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    modules: list[ModuleRow] = field(default_factory=list)
    training: Training | None = None
    notes: list[str] = field(default_factory=list)
    reference: dict[str, Any] = field(default_factory=dict)
    candidate: dict[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.verdict in ("diverges", "nothing compared")

    def to_json(self) -> dict[str, Any]:
        """The documented schema; see docs/numerics.md. Infinite numbers become null."""
        data = {"schema": COMPARISON_SCHEMA, **asdict(self)}
        return _finite(data)  # type: ignore[no-any-return]


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def _same_platform(a: dict[str, Any], b: dict[str, Any]) -> bool:
    keys = ("torch", "cuda", "hip", "machine", "cpu", "threads", "device", "gfx", "tf32", "float32_matmul")
    return all(a.get(key) == b.get(key) for key in keys)


class _Walk:
    """One pass over the aligned calls in the order of the reference."""

    def __init__(self, reference: Golden, candidate: Golden, exact: bool) -> None:
        self.a, self.b = reference, candidate
        self.exact = exact
        self.pairs = align(reference, candidate)
        self.back = {value: key for key, value in self.pairs.items()}
        self.makers_a = _makers(reference.calls)
        self.makers_b = _makers(candidate.calls)
        self.known: dict[tuple[int, int], Difference] = {}
        self.allowed: dict[tuple[int, int], float] = {}
        self.tf32 = any(g.head.get("environment", {}).get("tf32") for g in (reference, candidate))
        self.prints_a, self.prints_b = _prints(reference), _prints(candidate)
        self.seen: dict[int, str] = {}
        """Fingerprint -> the candidate's call that made it: stale memory holds what an earlier call made."""

    # -- differences ---------------------------------------------------------------------------------------------

    def difference(self, first: int, second: int) -> Difference:
        """Of two tensors; through views to what was measured."""
        key = (first, second)
        if key not in self.known:
            self.known[key] = UNKNOWN
            self.known[key] = self._difference(first, second)
        return self.known[key]

    def _difference(self, first: int, second: int) -> Difference:
        a, b = self.a.tensors.get(first), self.b.tensors.get(second)
        if a is None or b is None:
            return UNKNOWN
        found = from_records(a, b)
        if found.known:
            return self._refine(a, b, found)
        if a.view_of is None or b.view_of is None:
            return UNKNOWN
        made, other = self.makers_a.get(first), self.makers_b.get(second)
        if made is None and other is None:
            return self.difference(a.view_of, b.view_of)
        if made is None or other is None or self.pairs.get(made) != other or not self._same_arguments(made, other):
            return UNKNOWN
        return self.difference(a.view_of, b.view_of)

    def _refine(self, a: TensorRecord, b: TensorRecord, found: Difference) -> Difference:
        """Exact numbers where both files hold values."""
        if found.equal or found.shape or not (a.stored and a.stored == b.stored):
            return found
        from rocport.numerics.values import exact_difference

        return exact_difference(self.a, a, self.b, b, found) or found

    def _same_arguments(self, made: int, other: int) -> bool:
        return bool(_comparable(self.a.calls[made].arguments) == _comparable(self.b.calls[other].arguments))

    # -- pairs ---------------------------------------------------------------------------------------------------

    def operand(self, first: int, second: int | None) -> Operand:
        record = self.a.tensors[first]
        root = record
        while root.statistics is None and root.view_of is not None:
            root = self.a.tensors[root.view_of]
        relative = 0.0
        if second is not None:
            found = self.difference(first, second)
            # A difference that nothing explains must not excuse the next one.
            relative = found.relative if found.known and self.explained(first, second) else 0.0
        statistics = root.statistics
        if statistics is None:
            return Operand(record.dtype, record.shape, None, None, relative)
        share = math.sqrt(record.numel / root.numel) if root.numel and root is not record else 1.0
        largest = max(abs(statistics.minimum), abs(statistics.maximum))
        return Operand(record.dtype, record.shape, statistics.norm * share, largest, relative)

    def limit(self, call: Call, other: Call, output: int, second: int) -> float:
        """The bound for one output of a pair."""
        if self.exact:
            return 0.0
        known = self.allowed.get((output, second))
        if known is not None:
            return known
        inputs = [self.operand(a, b) for a, b in zip(call.inputs, _padded(other.inputs, len(call.inputs)), strict=True)]
        limit = bound(
            call.name if call.kind == records.OPERATOR else "module", inputs, self.operand(output, None), tf32=self.tf32
        )
        limit = max(limit, _NOISE_MARGIN * self.a.noise.get(output, 0.0))
        self.allowed[(output, second)] = limit
        return limit

    def out_of_bounds(self, call: Call, other: Call, output: int, second: int) -> Difference | None:
        """The difference of one output, when it is more than its bound."""
        found = self.difference(output, second)
        if not found.known or found.equal:
            return None
        if found.shape or found.finite or (found.dtype and self.exact):
            return found
        if self.exact:
            return found
        if call.kind != records.OPERATOR and self._made(output, second):
            # What an operator made is judged there; this is the same tensor seen again.
            return found if self._root(output, second) in self.bad or not self.explained(output, second) else None
        limit = self.limit(call, other, output, second)
        if not found.exact:
            limit *= _ESTIMATE
        if found.relative > limit or (found.dtype and found.relative > 0):
            return found
        if found.largest is not None and found.largest > _ELEMENT * limit > 0:
            return found
        return None

    def inputs_state(self, call: Call, other: Call) -> str:
        """`equal`, `rounding`, or `differ`: the first input that is out of what its own maker explains."""
        if len(call.inputs) != len(other.inputs):
            return "differ"
        state = "equal"
        for a, b in zip(call.inputs, other.inputs, strict=True):
            if not self.explained(a, b):
                return "differ"
            if not self.difference(a, b).equal:
                state = "rounding"
        return state

    def explained(self, first: int, second: int) -> bool:
        """Whether a difference of an input is the rounding of calls before, none of them out of bounds."""
        if self.difference(first, second).known:
            first, second = self._root(first, second)
        found = self.difference(first, second)
        if found.equal:
            return True
        if self.exact or not found.known or (first, second) in self.bad or found.shape or found.finite:
            return self._is_paired(first, second) and found.known and (first, second) not in self.bad
        if self._is_paired(first, second):
            return True
        # Another path to the same values: allow it what its own inputs are apart, and some roundings.
        unit = UNIT.get(self.a.tensors[first].dtype, 0.0)
        return found.relative <= 16 * unit + 8 * self._upstream(self.makers_b.get(second))

    def _root(self, first: int, second: int) -> tuple[int, int]:
        """The tensors that two views show."""
        while True:
            a, b = self.a.tensors[first], self.b.tensors[second]
            if a.view_of is None or b.view_of is None or a.statistics is not None or b.statistics is not None:
                return first, second
            first, second = a.view_of, b.view_of

    def _made(self, first: int, second: int) -> bool:
        """Operators of both runs made them, so that they have been judged."""
        first, second = self._root(first, second)
        return first in self.makers_a and second in self.makers_b

    def _is_paired(self, first: int, second: int) -> bool:
        made, mine = self.makers_a.get(first), self.makers_b.get(second)
        return made is not None and mine is not None and self.pairs.get(made) == mine

    def _upstream(self, made: int | None) -> float:
        """The largest difference that enters a stretch of calls which only the candidate ran."""
        worst, front, seen = 0.0, [made] if made is not None else [], set()
        while front:
            index = front.pop()
            if index in seen:
                continue
            seen.add(index)
            partner = self.back.get(index)
            if partner is None:
                front += [m for t in self.b.calls[index].inputs if (m := self.makers_b.get(t)) is not None]
                continue
            for a, b in zip(self.a.calls[partner].outputs, self.b.calls[index].outputs, strict=False):
                found = self.difference(a, b)
                worst = max(worst, found.relative if found.known else 0.0)
        return worst

    bad: set[tuple[int, int]]

    def run(self) -> Comparison:
        result = Comparison(exact_expected=self.exact)
        self.bad = set()
        counts = dict.fromkeys(("pairs", "equal", "rounding", "diverging", "inherited", "unmeasured"), 0)
        blames: list[Blame] = []
        for index, call in enumerate(self.a.calls):
            partner = self.pairs.get(index)
            if partner is None:
                continue
            other = self.b.calls[partner]
            if other.error and not call.error:
                blames.append(self._blame(ERROR, call, other, 0, None, extra=other.error))
                continue
            counts["pairs"] += 1
            state = self._pair(call, other, index, partner, blames, result)
            counts[state] += 1
            self._remember(other)
            if call.kind in (records.MODULE, records.FUNCTION, records.GRAD_INPUT, records.GRAD_OUTPUT):
                result.modules.append(self._row(call, other))
        blames = [blame for blame in blames if not self._dismissed(blame)]
        counts["only reference"] = len(self.a.calls) - len(self.pairs)
        counts["only here"] = len(self.b.calls) - len(self.pairs)
        result.counts = counts
        if blames:
            result.first, result.others = blames[0], blames[1 : 1 + _LISTED]
        if not counts["pairs"] or counts["unmeasured"] == counts["pairs"]:
            result.verdict = "nothing compared"
        elif blames:
            result.verdict = "diverges"
        elif result.first_bits is not None or counts["rounding"]:
            result.verdict = "rounding"
        return result

    def _dismissed(self, blame: Blame) -> bool:
        """Whether the module that holds another path to its values gives the same values in the end.

        Not for a call that diverges from inputs that agree, and not where every bit is expected.
        """
        if self.exact or blame.verdict in (HERE, ERROR, RANDOM) or blame.phase != "forward" or not blame.scope:
            return False
        place = blame.scope, blame.occurrence, blame.step, blame.phase
        for index, call in enumerate(self.a.calls):
            same = (call.scope, call.occurrence, call.step, call.phase) == place
            partner = self.pairs.get(index)
            if same and partner is not None and call.kind in (records.MODULE, records.FUNCTION):
                other = self.b.calls[partner]
                pairs = list(zip(call.outputs, other.outputs, strict=False))
                entering = [self.difference(a, b) for a, b in zip(call.inputs, other.inputs, strict=False)]
                spread = max((found.relative for found in entering if found.known), default=0.0)
                # Two roundings and some float32 sums: less than what a module is allowed, as this excuses a finding.
                return bool(pairs) and all(
                    self.difference(a, b).relative
                    <= 2 * UNIT.get(self.a.tensors[a].dtype, 0.0) + _OTHER_PATH + 4 * spread
                    for a, b in pairs
                )
        return False

    def _pair(self, call: Call, other: Call, index: int, partner: int, blames: list[Blame], result: Comparison) -> str:
        if call.view and call.kind == records.OPERATOR:
            return self._view(call, other)
        worst, found = None, None
        equal, measured = True, False
        for position, (output, second) in enumerate(zip(call.outputs, other.outputs, strict=False)):
            difference = self.difference(output, second)
            measured = measured or difference.known
            equal = equal and difference.equal
            if (off := self.out_of_bounds(call, other, output, second)) is not None:
                self.bad.add((output, second))
                if found is None:
                    worst, found = position, off
        if not measured:
            return "unmeasured"
        if found is None or worst is None:
            if not equal and result.first_bits is None and call.kind == records.OPERATOR:
                first = next(
                    i
                    for i, (a, b) in enumerate(zip(call.outputs, other.outputs, strict=False))
                    if not self.difference(a, b).equal
                )
                pair = call.outputs[first], other.outputs[first]
                result.first_bits = self._blame(BITS, call, other, first, self.difference(*pair))
            return "equal" if equal else "rounding"
        if any((a, b) in self.blamed for a, b in zip(call.outputs, other.outputs, strict=False)):
            return "inherited"
        if call.kind != records.OPERATOR:
            return self._observed(call, other, worst, found, blames)
        state = self.inputs_state(call, other)
        if state == "differ" and is_discrete(call.name) and not blames:
            return "rounding"
        blame = None
        if state != "differ" or not call.inputs:
            if state == "rounding" and is_discrete(call.name):
                return "rounding"
            blame = self._blame(RANDOM if call.random else HERE, call, other, worst, found)
        else:
            blame = self._trace(call, other, worst, found, set(), blamed_before=bool(blames))
        self.blamed.update(zip(call.outputs, other.outputs, strict=False))
        if blame is None:
            return "inherited"
        if not any(b.seq == blame.seq and b.verdict == blame.verdict for b in blames):
            blames.append(blame)
        return "diverging"

    blamed: set[tuple[int, int]]

    def _observed(self, call: Call, other: Call, worst: int, found: Difference, blames: list[Blame]) -> str:
        """A module's output, a gradient or a parameter is off: the operators that made it are to blame, if seen."""
        pair = call.outputs[worst], other.outputs[worst]
        blame = self._source(*pair, call, other, set(), bool(blames), outputs=True)
        self.blamed.update(zip(call.outputs, other.outputs, strict=False))
        if blame is None and not blames and self.inputs_state(call, other) != "differ":
            blame = self._blame(HERE, call, other, worst, found)
        if blame is None:
            return "inherited"
        if not any(b.seq == blame.seq and b.verdict == blame.verdict for b in blames):
            blames.append(blame)
        return "diverging"

    def _view(self, call: Call, other: Call) -> str:
        if not call.inputs or not other.inputs:
            return "unmeasured"
        found = self.difference(call.inputs[0], other.inputs[0])
        for output, second in zip(call.outputs, other.outputs, strict=False):
            if (call.inputs[0], other.inputs[0]) in self.bad:
                self.bad.add((output, second))
        if not found.known:
            return "unmeasured"
        if (call.inputs[0], other.inputs[0]) in self.bad:
            return "inherited"
        return "equal" if found.equal else "rounding"

    # -- blame ---------------------------------------------------------------------------------------------------

    def _trace(
        self, call: Call, other: Call, position: int, found: Difference, visited: set[int], *, blamed_before: bool
    ) -> Blame | None:
        """Follow a differing input to where it came from. None when that has been blamed already."""
        for first, second in zip(call.inputs, _padded(other.inputs, len(call.inputs)), strict=False):
            if second is None:
                continue
            if self.explained(first, second):
                continue
            if (first, second) in self.bad and (first, second) in self.blamed:
                return None
            blame = self._source(first, second, call, other, visited, blamed_before)
            if blame is not None:
                return blame
        if blamed_before:
            return None
        return self._blame(HERE, call, other, position, found, inputs="differ")

    def _source(
        self, first: int, second: int, call: Call, other: Call, visited: set[int], blamed_before: bool,
        *, outputs: bool = False,
    ) -> Blame | None:  # fmt: skip
        made, mine = self.makers_a.get(first), self.makers_b.get(second)
        difference = self.difference(first, second)
        if made is None and mine is None:
            a, b = self.a.tensors[first], self.b.tensors[second]
            if a.view_of is not None and b.view_of is not None:
                return self._source(a.view_of, b.view_of, call, other, visited, blamed_before)
            if blamed_before or outputs:
                return None
            return self._blame(EXTERNAL, call, other, 0, difference, tensors=(first, second))
        if made is not None and mine is not None and self.pairs.get(made) == mine:
            maker, partner = self.a.calls[made], self.b.calls[mine]
            if made in visited:
                return None
            visited.add(made)
            if not self._same_arguments(made, mine):
                return self._blame(ARGUMENT, maker, partner, 0, difference)
            if maker.random:
                return self._blame(RANDOM, maker, partner, 0, difference)
            return self._trace(maker, partner, 0, difference, visited, blamed_before=True)
        ours = self._unaligned(made, self.a, self.pairs, self.makers_a)
        theirs = self._unaligned(mine, self.b, self.back, self.makers_b)
        if ours is None and theirs is None:
            return self._crossed(made, mine, call, other, difference)
        return self._between(ours, theirs, call, other, difference)

    def _crossed(self, made: int | None, mine: int | None, call: Call, other: Call, found: Difference) -> Blame:
        """Both makers have partners, but not each other: the call takes another tensor than the reference's."""
        return self._blame(ARGUMENT, call, other, 0, found, extra="takes another operator's result as its input")

    def _unaligned(self, made: int | None, golden: Golden, pairs: dict[int, int], makers: dict[int, int]) -> int | None:
        """The earliest call without a partner that leads to `made` through calls without partners."""
        if made is None or made in pairs:
            return None
        earliest, front, seen = made, [made], {made}
        while front:
            for tensor in golden.calls[front.pop()].inputs:
                source = makers.get(tensor)
                if (
                    source is not None
                    and source not in pairs
                    and source not in seen
                    and not self._found(golden, source)
                ):
                    seen.add(source)
                    front.append(source)
                    earliest = min(earliest, source)
        return earliest

    def _found(self, golden: Golden, index: int) -> bool:
        """Whether the other run has what a call made, bit by bit: a copy to the device, say."""
        other = self.prints_b if golden is self.a else self.prints_a
        made = [golden.tensors[number].statistics for number in golden.calls[index].outputs]
        return bool(made) and all(s is not None and s.fingerprint in other for s in made)

    def _between(self, ours: int | None, theirs: int | None, call: Call, other: Call, found: Difference) -> Blame:
        a = self.a.calls[ours] if ours is not None else None
        b = self.b.calls[theirs] if theirs is not None else None
        place = a or b
        assert place is not None
        symptoms = self._symptoms(call, other, 0, found, inputs=True)
        return Blame(
            BETWEEN, place.kind, a.name if a else "(nothing)", place.scope, place.phase, place.step,
            a.site if a else "", b.name if b else "(nothing)", b.site if b else "", 0, found.relative, 0.0, found.exact,
            f"seen at the input of {call.name}", symptoms, place.seq, place.occurrence,
        )  # fmt: skip

    def _blame(
        self, verdict: str, call: Call, other: Call, position: int, found: Difference | None, *, extra: str = "",
        inputs: str = "", tensors: tuple[int, int] | None = None,
    ) -> Blame:  # fmt: skip
        if tensors is None and position < min(len(call.outputs), len(other.outputs)):
            tensors = call.outputs[position], other.outputs[position]
        symptoms = self._symptoms(call, other, position, found, tensors=tensors) if found and tensors else ()
        if extra:
            symptoms = (Symptom("note", extra), *symptoms)
        limit = 0.0
        if tensors is not None and tensors in self.allowed:
            limit = self.allowed[tensors]
        return Blame(
            verdict, call.kind, call.name, call.scope, call.phase, call.step, call.site,
            other.name, other.site, position, found.relative if found else 0.0, limit, bool(found and found.exact),
            inputs or (self.inputs_state(call, other) if verdict in (HERE, BITS, RANDOM) else ""), symptoms, call.seq,
            call.occurrence,
        )  # fmt: skip

    def _symptoms(
        self, call: Call, other: Call, position: int, found: Difference, *,
        tensors: tuple[int, int] | None = None, inputs: bool = False,
    ) -> tuple[Symptom, ...]:  # fmt: skip
        if inputs:
            pairs = list(zip(call.inputs, other.inputs, strict=False))
            tensors = next(((a, b) for a, b in pairs if not self.difference(a, b).equal), None)
        if tensors is None:
            return ()
        while True:
            a, b = self.a.tensors[tensors[0]], self.b.tensors[tensors[1]]
            if (a.statistics and b.statistics) or a.view_of is None or b.view_of is None:
                break
            tensors = a.view_of, b.view_of
        symptoms = list(diagnose(self.a, a, self.b, b, self.seen))
        changed = _changed_arguments(call.arguments, other.arguments)
        if changed and not inputs:
            symptoms.insert(0, Symptom("arguments", changed))
        unwritten = [i for i in other.inputs if self.b.tensors[i].uninitialised]
        if unwritten:
            symptoms.append(
                Symptom("uninitialised", _UNWRITTEN)
            )  # fmt: skip
        return tuple(symptoms)

    def _remember(self, call: Call) -> None:
        for number in call.outputs:
            record = self.b.tensors.get(number)
            if record is not None and record.statistics is not None and record.numel > 1 and record.statistics.norm:
                self.seen.setdefault(record.statistics.fingerprint, f"{call.name} in {call.scope or 'the script'}")

    def _row(self, call: Call, other: Call) -> ModuleRow:
        pairs = list(zip(call.outputs, other.outputs, strict=False))
        known = [self.difference(a, b) for a, b in pairs]
        before = [self.difference(a, b) for a, b in zip(call.inputs, other.inputs, strict=False)]
        worst = max((d.relative for d in known if d.known), default=0.0)
        limits = [self.allowed.get(pair, 0.0) for pair in pairs]
        return ModuleRow(
            call.name, call.kind, call.phase, call.step, worst, max(limits, default=0.0),
            max((d.relative for d in before if d.known), default=0.0),
        )  # fmt: skip


def _makers(calls: Sequence[Call]) -> dict[int, int]:
    """Tensor -> index of the operator that made it: the first one, which is no view of itself."""
    found: dict[int, int] = {}
    for index, call in enumerate(calls):
        if call.kind == records.OPERATOR:
            for number in call.outputs:
                if number not in call.inputs:
                    found.setdefault(number, index)
    return found


def _prints(golden: Golden) -> set[int]:
    return {record.statistics.fingerprint for record in golden.tensors.values() if record.statistics is not None}


def _padded(numbers: tuple[int, ...], length: int) -> list[int | None]:
    return [*numbers[:length], *[None] * max(0, length - len(numbers))]


_PLACES = ("device", "layout", "pin_memory", "generator")


def _comparable(value: Any) -> Any:
    """Arguments without what names a device."""
    if isinstance(value, dict):
        if "device" in value or "layout" in value:
            return None
        if "kw" in value:
            return {key: _comparable(item) for key, item in value["kw"].items() if key not in _PLACES}
        return {key: _comparable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_comparable(item) for item in value]
    return value


def _changed_arguments(a: Any, b: Any) -> str:
    first, second = _comparable(a), _comparable(b)
    if first == second or not first or not second:
        return ""
    changes = []
    for index, (x, y) in enumerate(zip(first[0], second[0], strict=False)):
        if x != y:
            changes.append(f"argument {index} is {_short(y)}, was {_short(x)}")
    keywords = [entry[1] if len(entry) > 1 else {} for entry in (first, second)]
    for key in sorted(set(keywords[0]) | set(keywords[1])):
        x, y = keywords[0].get(key), keywords[1].get(key)
        if x != y:
            changes.append(f"{key} is {_short(y)}, was {_short(x)}")
    if not changes and len(first[0]) != len(second[0]):
        changes.append(f"{len(second[0])} arguments, were {len(first[0])}")
    return "; ".join(changes)


def _short(value: Any) -> str:
    if isinstance(value, dict) and "t" in value:
        return "a tensor"
    if isinstance(value, dict) and "dtype" in value:
        return str(value["dtype"])
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."


def compare(reference: Golden, candidate: Golden, *, exact: bool | None = None) -> Comparison:
    """Compare two captures. `exact` None: every bit is expected where machine and versions agree and noise is nil."""
    same = _same_platform(reference.head.get("environment", {}), candidate.head.get("environment", {}))
    if exact is None:
        exact = same and reference.noise_measured and not any(reference.noise.values())
    walk = _Walk(reference, candidate, exact)
    walk.bad, walk.blamed = set(), set()
    result = walk.run()
    result.training = training_of(walk.a, walk.b, walk.pairs, walk.difference)
    result.reference, result.candidate = _side(reference), _side(candidate)
    result.notes = list(_notes(reference, candidate, same, result))
    return result


def _side(golden: Golden) -> dict[str, Any]:
    return {
        "path": str(golden.path), "content": golden.content, "outcome": golden.outcome, "calls": len(golden.calls),
        "environment": golden.head.get("environment", {}), "config": golden.head.get("config", {}),
    }  # fmt: skip


def _notes(a: Golden, b: Golden, same: bool, result: Comparison) -> Iterator[str]:
    if not same:
        yield "machine or versions differ: bits are not expected to agree, bounds decide"
        if any(g.head.get("environment", {}).get("tf32") for g in (a, b)):
            yield "TF32 is on in one of the runs: float32 products are held to its 11 bits"
    elif not a.noise_measured:
        yield "the reference was run once: record it with --runs 2 to have the noise between two of its own runs"
    if not b.complete:
        place = b.outcome.get("place")
        yield f"this run did not end by itself: {b.outcome.get('reason')}" + (f"; in {place}" if place else "")
    only = result.counts.get("only reference", 0), result.counts.get("only here", 0)
    if any(only):
        yield f"{only[0]} calls only in the reference, {only[1]} only here"
    if result.first is not None and result.first.verdict == RANDOM:
        yield "the random generators started in other states; give both runs --seed"


def measure_noise(first: Golden, second: Golden) -> dict[int, float]:
    """Tensor of `first` -> relative difference of a second run; tensors that agree in every bit are left out."""
    walk = _Walk(first, second, False)
    walk.bad, walk.blamed = set(), set()
    noise = {}
    for index, call in enumerate(first.calls):
        partner = walk.pairs.get(index)
        if partner is None:
            continue
        for a, b in zip(call.outputs, second.calls[partner].outputs, strict=False):
            found = walk.difference(a, b)
            if found.known and not found.equal and found is not EQUAL and math.isfinite(found.relative):
                noise[a] = found.relative
    return noise


def compare_task(spec: dict[str, Any]) -> dict[str, Any]:
    """Task of the child process: compare two files. Raises GoldenError."""
    return compare(
        open_golden(Path(spec["reference"])), open_golden(Path(spec["candidate"])), exact=spec.get("exact")
    ).to_json()


def head_task(spec: dict[str, Any]) -> dict[str, Any]:
    """Task of the child process: how a golden file was recorded. Raises GoldenError."""
    return {"head": open_golden(Path(spec["reference"])).head}


def noise_task(spec: dict[str, Any]) -> dict[str, Any]:
    """Task of the child process: append the noise between two unsealed captures to the first. Raises GoldenError."""
    part = Path(spec["reference"])
    noise = measure_noise(open_golden(part), open_golden(Path(spec["candidate"])))
    append_frame(part, {"noise": noise})
    return {"noisy": len(noise)}
