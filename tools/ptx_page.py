"""docs/ptx.md from the examples of the opcodes: what rocport makes of inline PTX.

python tools/ptx_page.py [--check]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rocport.ptx.examples import families
from rocport.ptx.refusals import REASONS

PAGE = Path(__file__).parent.parent / "docs" / "ptx.md"

_HEAD = """\
# Inline PTX

What `rocport port` makes of inline PTX, opcode by opcode. Written by `tools/ptx_page.py` from the examples that stand
beside each translation in `src/rocport/ptx/families`; `tests/ptx` translates every one and compiles it for gfx942 and
gfx1100. What a statement may hold besides (several instructions, `.reg`, predicates, scopes, carries) is in
`tests/ptx/statements.txt`. The helpers of `rocport::` are in the headers that a port carries.
"""


def page() -> str:
    """The text of the page."""
    parts = [_HEAD]
    for name, title, rows in families():
        parts.append(f"\n## {name.capitalize()}\n\n{title}\n\n| PTX | C++ |\n|---|---|\n")
        parts += [f"| {_code(ptx)} | {_code(cpp)} |\n" for ptx, cpp in rows]
    parts.append(
        "\n## What has no translation\n\nA finding names the statement, with the reason; it stays as it is.\n\n"
    )
    parts.append("| opcode | instead |\n|---|---|\n")
    parts += [f"| `{opcode}` | {reason} |\n" for opcode, reason in sorted(REASONS.items())]
    return "".join(parts)


def _code(text: str) -> str:
    return "`` " + text.replace("|", "\\|") + " ``"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="say whether the page is current; write nothing")
    text = page()
    if parser.parse_args().check:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
