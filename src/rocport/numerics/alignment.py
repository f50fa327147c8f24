"""Which call of one run corresponds to which of the other: within a module's call, operators by name and order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from rocport.numerics.golden import Golden
from rocport.numerics.records import OPERATOR, Call

_SAME = (
    (re.compile(r"aten\._scaled_dot_product_.*_backward(\..*)?$"), "sdpa_backward"),
    (re.compile(r"aten\._(scaled_dot_product|flash_attention|efficient_attention).*"), "sdpa"),
    (re.compile(r"aten\.(cudnn|miopen|native|_native)_batch_norm(_legit)?(_functional)?(\..*)?$"), "batch_norm"),
    (re.compile(r"aten\.(cudnn|miopen|mkldnn|_slow|thnn)_?conv.*"), "convolution"),
    (re.compile(r"aten\.(mkldnn_)?convolution(\..*)?$"), "convolution"),
    (re.compile(r"aten\._?(cudnn|miopen)_rnn(\..*)?$"), "rnn"),
    (re.compile(r"aten\._?unsafe_view(\..*)?$"), "aten.view.default"),
)
"""Operators that PyTorch picks by device for one call of the user."""


def canonical(name: str) -> str:
    """One name for what different devices call differently."""
    for pattern, same in _SAME:
        if pattern.match(name):
            return same
    return name


_Group = tuple[int, str, str, int]


def _groups(calls: Sequence[Call]) -> dict[_Group, list[int]]:
    found: dict[_Group, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        found[(call.step, call.phase, call.scope, call.occurrence)].append(index)
    return found


def _name(call: Call, golden: Golden) -> str:
    return canonical(call.name) if call.kind == OPERATOR else f"{call.kind} {call.name}"


def _shaped(call: Call, golden: Golden) -> str:
    return f"{_name(call, golden)} {[golden.tensors[number].shape for number in call.outputs]}"


def _exact(call: Call, golden: Golden) -> str:
    statistics = [golden.tensors[number].statistics for number in call.outputs]
    return f"{_shaped(call, golden)} {[s.fingerprint if s else None for s in statistics]}"


_TOKENS: tuple[Callable[[Call, Golden], str], ...] = (_exact, _shaped, _name)
"""What has to agree, from the surest to the least: a stretch without a match is looked at again with the next."""


def _match(a: Golden, ours: list[int], b: Golden, theirs: list[int], level: int, pairs: dict[int, int]) -> None:
    if not ours or not theirs or level == len(_TOKENS):
        return
    token = _TOKENS[level]
    left = [token(a.calls[i], a) for i in ours]
    right = [token(b.calls[i], b) for i in theirs]
    if left == right:
        pairs.update(zip(ours, theirs, strict=True))
        return
    before = (0, 0)
    for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
        _match(a, ours[before[0] : block.a], b, theirs[before[1] : block.b], level + 1, pairs)
        pairs.update(zip(ours[block.a : block.a + block.size], theirs[block.b : block.b + block.size], strict=True))
        before = block.a + block.size, block.b + block.size


def align(reference: Golden, candidate: Golden) -> dict[int, int]:
    """Index of a call of `reference` -> index of a call of `candidate`. Calls without a partner are left out."""
    pairs: dict[int, int] = {}
    theirs = _groups(candidate.calls)
    for key, ours in _groups(reference.calls).items():
        other = theirs.get(key, [])
        if [_name(reference.calls[i], reference) for i in ours] == [
            _name(candidate.calls[i], candidate) for i in other
        ]:
            pairs.update(zip(ours, other, strict=True))
        else:
            _match(reference, ours, candidate, other, 0, pairs)
    return pairs
