"""One failure seen in a log, with where and how it was seen."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rocport.facts.failures import Failure

_SAFE_VALUE = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.:+/\-]{0,159}$")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Match:
    """One failure seen in the log. `lines` are the first line numbers (at most 20), `count` how often in all."""

    failure: Failure
    lines: tuple[int, ...]
    count: int
    text: str
    values: dict[str, str] = field(default_factory=dict)
    informs: bool = False
    """Seen only on lines that the program marks as information."""
    warns: bool = False
    """Seen only on lines that the program marks as information or as a warning."""
    named: bool = False
    """Seen only where a line names the thing and nothing beside it says what is wrong."""
    wide: bool = False
    """Seen only in words that programs without ROCm print, too, and with nothing of AMD's beside them."""
    amd: bool = True
    """False when no text it was seen by names AMD's stack."""
    doubts: tuple[str, ...] = ()
    """What speaks against it, in words; empty: it is claimed."""

    def filled(self, text: str) -> str:
        """`text` with `{gfx}` and the like replaced by what the log said.

        A value that is not a plain word or path is shown as `<gfx>`: a fix is meant to be pasted into a shell, and the
        log is not ours.
        """

        def value(match: re.Match[str]) -> str:
            found = self.values.get(match.group(1), "")
            return found if _SAFE_VALUE.match(found) else f"<{match.group(1)}>"

        return _PLACEHOLDER.sub(value, text)
