"""Where the declaration of a name begins."""

from __future__ import annotations

from functools import lru_cache

from rocport.syntax.cuda import CudaSource

_ACCESS = (b"public", b"private", b"protected")


def definition_start(source: CudaSource, name: int) -> int:
    """First token of the declaration that the token `name` belongs to: its specifiers and template head.

    What stands in brackets before it, a lambda or `{}` as a default argument, ends no declaration. A byte order mark,
    whose bytes are tokens, belongs to none.
    """
    known, passed, position = _known(source), [], name
    while position > 0 and position not in known:
        before = source.texts[position - 1]
        if before in (b";", b"}", b"{", b"\xbf") or (before == b":" and source.at(position - 2) in _ACCESS):
            break
        if source.directive_of(position - 1) is not None:
            break
        passed.append(position)
        position = source.pairs.get(position - 1, position - 1) if before in (b")", b"]") else position - 1
    start = known.get(position, position)
    known.update(dict.fromkeys(passed, start))
    return start


@lru_cache(maxsize=2)
def _known(source: CudaSource) -> dict[int, int]:
    """Where declarations begin that were asked about, by the tokens on the way: each is passed once."""
    return {}


def behind_template_head(source: CudaSource, start: int) -> int:
    """The first token of a declaration behind its `template <...>`, if it has one."""
    while source.at(start) == b"template" and (close := source.angle_end(start + 1)) is not None:
        start = close + 1
    return start
