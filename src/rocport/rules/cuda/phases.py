"""Two sides of a branch that meet at the same barriers, as phases with the barrier outside of the branch.

`if (c) { A; barrier; B; } else { C; barrier; D; }` becomes a loop over phases: in phase 0 the sides run A and C, in
phase 1 B and D, and every thread passes the barrier between them. Only text is inserted; the parts stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.convergence import LOOPS, Statement, Unit
from rocport.model import Edit
from rocport.rules.cuda.common import insert, replace_range
from rocport.syntax.cuda import CudaSource


def phases(unit: Unit, statement: Statement, kind: str, call: bytes) -> list[Edit] | None:
    """The edits for an `if` whose two sides hold the same number of barriers at their top level; None where the sides
    cannot be cut: a name declared before a barrier is used after it, or control leaves the part before one.

    `kind` is the operations' (`block`, `warp`), `call` the barrier to write.
    """
    source = unit.source
    sides = [_parts(unit, side, kind) for side in (statement.body, statement.other)]
    if statement.kind != "if" or statement.condition is None:
        return None
    if source.directive_between(statement.first, statement.last):
        return None
    first, second = sides
    if first is None or second is None or len(first) != len(second):
        return None
    count = len(first)
    edits = [
        insert(
            source.starts[statement.first],
            b"{ const bool rocport_side = static_cast<bool>("
            + _one_line(source.text(*statement.condition))
            + b"); for (int rocport_phase = 0; rocport_phase <= %d; ++rocport_phase) { " % count,
        ),
        replace_range(source, statement.condition[0], statement.condition[1], b"rocport_side"),
    ]
    for side, barriers in zip((statement.body, statement.other), sides, strict=True):
        (block,) = side
        braced = block.kind == "block"
        begin = source.end(block.first) if braced else source.starts[block.first]
        end = source.starts[block.last - 1] if braced else source.end(block.last - 1)
        edits.append(insert(begin, (b" " if braced else b"{ ") + b"if (rocport_phase == 0) {"))
        for number, barrier in enumerate(barriers or (), 1):
            edits.append(replace_range(source, barrier.first, barrier.last, b"} if (rocport_phase == %d) {" % number))
        edits.append(insert(end, b"} " if braced else b"} }"))
    edits.append(insert(source.end(statement.last - 1), b" if (rocport_phase < %d) %s; } }" % (count, call)))
    return edits


def _one_line(text: bytes) -> bytes:
    return b" ".join(line.split(b"//")[0].strip() for line in text.splitlines())


def _parts(unit: Unit, side: tuple[Statement, ...], kind: str) -> list[Statement] | None:
    """The barriers of a side, where it can be cut at them."""
    if len(side) != 1 or side[0].kind not in ("block", "expression"):
        return None
    items = side[0].body if side[0].kind == "block" else side
    barriers = [item for item in items if _is_barrier(unit, item, kind)]
    inside = [operation for item in items for operation in unit.operations((item,)) if operation.kind == kind]
    if not barriers or len(inside) != len(barriers):
        return None
    seen: set[bytes] = set()
    last = barriers[-1]
    for item in items:
        if item.first > last.first:
            used = unit.source.texts[item.first : item.last]
        elif item in barriers:
            continue
        else:
            used = unit.source.texts[item.first : item.last]
            if any(inner.kind in ("return", "goto") for inner in item.walk()):
                return None
        if any(_leaves_loop(item)):
            return None
        earlier = any(barrier.first < item.first for barrier in barriers)
        if earlier and seen.intersection(used):
            return None
        if item.first < last.first:
            seen |= _declared(unit.source, item)
    return barriers


def _is_barrier(unit: Unit, item: Statement, kind: str) -> bool:
    """True for a statement that is nothing but `__syncthreads();` or `__syncwarp();`."""
    source = unit.source
    name = {"block": b"__syncthreads", "warp": b"__syncwarp"}[kind]
    return item.kind == "expression" and source.at(item.first) == name and item.last - item.first in (4, 5)


def _leaves_loop(item: Statement) -> Iterator[bool]:
    """True once for every `break` or `continue` of a loop around the statement."""
    if item.kind in ("break", "continue"):
        yield True
    if item.kind not in LOOPS and item.kind != "switch":
        for inner in (*item.body, *item.other):
            yield from _leaves_loop(inner)


def _declared(source: CudaSource, item: Statement) -> set[bytes]:
    """Names that a statement declares for those after it."""
    if item.kind != "expression":
        return set()
    found = set()
    for at in range(item.first + 1, item.last - 1):
        following = source.at(at + 1)
        before = source.at(at - 1)
        if (
            source.is_ident(at)
            and following in (b";", b",", b"=", b"[", b"{", b"(")
            and (source.is_ident(at - 1) or before in (b"*", b"&", b">", b","))
        ):
            found.add(source.at(at))
    return found
