"""Target names as tools print them: features, cut-off names, and names that one tool spells wrongly."""

from __future__ import annotations

import re

from rocport.facts.targets import canonical, is_gfx_name, target_names

_FULL = re.compile(r"gfx[0-9a-f]{3,5}(?:-strict)?(?::[\w+:-]+)?", re.IGNORECASE)


def gfx_of(text: str) -> tuple[str, str]:
    """The target name and its features in a word: `gfx942:sramecc+:xnack-` -> (`gfx942`, `sramecc+:xnack-`).

    Gives ("", "") for anything else: `gfx000` (a CPU), generic targets (`gfx11-generic`), and names that look cut off,
    which is a name that is not known and begins a known one (`gfx110` of a cut `gfx1100`).
    """
    word = text.strip().strip("'\",;()[]").lower()
    if not _FULL.fullmatch(word) or set(word.removeprefix("gfx")[:3]) == {"0"}:
        return "", ""
    name, _, features = word.partition(":")
    name, known = canonical(name), target_names()
    if not is_gfx_name(name):
        return "", ""
    if name not in known:
        name = _decimal(name) if _decimal(name) in known else name
    if name not in known and any(k.startswith(name) for k in known):
        return "", ""
    return name, features


def _decimal(name: str) -> str:
    """Older smi tools print the stepping as two decimal digits: gfx9010 is gfx90a, gfx10306 is gfx1036."""
    digits = name.removeprefix("gfx")
    if not digits.isdigit() or len(digits) not in (4, 5) or int(digits[-2:]) > 15:
        return ""
    return f"gfx{digits[:-3]}{digits[-3]}{int(digits[-2:]):x}"


def chip_of(text: str) -> int | None:
    """`0x744c` or `29772(0x744c)` -> 0x744c; None for 0 and for text without a hex number."""
    match = re.search(r"0x([0-9a-fA-F]{1,4})\b", text)
    value = int(match.group(1), 16) if match else 0
    return value or None


def pci_of_bdf(bdfid: int, domain: int = 0) -> str:
    """HSA's BDFID and KFD's location_id: bus << 8 | device << 3 | function."""
    return f"{domain:04x}:{bdfid >> 8 & 0xFF:02x}:{bdfid >> 3 & 0x1F:02x}.{bdfid & 7}"
