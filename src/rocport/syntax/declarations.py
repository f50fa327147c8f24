"""Where the declaration of a name begins."""

from __future__ import annotations

from rocport.syntax.cuda import CudaSource

_ACCESS = (b"public", b"private", b"protected")


def definition_start(source: CudaSource, name: int) -> int:
    """First token of the declaration that the token `name` belongs to: its specifiers and template head.

    What stands in brackets before it, a lambda or `{}` as a default argument, ends no declaration. A byte order mark,
    whose bytes are tokens, belongs to none.
    """
    position = name
    while position > 0:
        before = source.texts[position - 1]
        if before in (b";", b"}", b"{", b"\xbf") or (before == b":" and source.at(position - 2) in _ACCESS):
            break
        if source.directive_of(position - 1) is not None:
            break
        position = source.pairs.get(position - 1, position - 1) if before in (b")", b"]") else position - 1
    return position


def behind_template_head(source: CudaSource, start: int) -> int:
    """The first token of a declaration behind its `template <...>`, if it has one."""
    while source.at(start) == b"template" and (close := source.angle_end(start + 1)) is not None:
        start = close + 1
    return start
