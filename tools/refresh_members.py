"""Rewrite src/rocport/facts/members.csv: members of CUDA's structures that HIP's counterparts lack, or spell otherwise.

    python tools/refresh_members.py --cuda DIR [--cuda DIR]     # include folders of CUDA releases; HIP's are the SDK's

A structure is looked at where HIP declares its counterpart with members of its own. Where HIP has a member of nearly
the same name that CUDA has not, that one is the counterpart; `OTHER_NAMES` says the others, which are few.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from rocport.facts.lookup import counterpart
from rocport.facts.members import MEMBERS
from rocport.toolchain.sdk import sdk_path

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.DOTALL | re.MULTILINE)
_HEAD = re.compile(r"\b(?:struct|union)\s+(?:[A-Za-z_]\w*(?:\([^()]*\))?\s+)*?(?P<tag>[A-Za-z_]\w*)?\s*\{")
_ALIAS = re.compile(r"\btypedef\s+(?:struct|union)?\s*(\w+)\s+(\w+)\s*;")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(hip\w+)[ \t]+(hip\w+)[ \t]*$", re.MULTILINE)
_DECLARATOR = re.compile(r"(?:\(\s*\*\s*)?\b([A-Za-z_]\w*)\s*(?:\)\s*\([^()]*\))?\s*(?:\[[^\]]*\]\s*)*(?:,|$)")
_CUDA = ("driver_types.h", "cuda_runtime_api.h", "surface_types.h", "texture_types.h", "cuda.h")
OTHER_NAMES = {
    ("CUDA_KERNEL_NODE_PARAMS", f"{whole}{axis}"): f"{whole}.{axis.lower()}"
    for whole in ("gridDim", "blockDim")
    for axis in "XYZ"
}
_RESERVED = re.compile(r"reserved\d*|__pad\w*|pad\d*")
# Tags and versions, which no source names; unions of attributes, whose member an enumerator chooses that is named.
_LEFT_OUT = re.compile(r"\w*(?:_st|_v\d|_union|Attr(?:ibute)?Value)")


def _closing(text: str, at: int) -> int:
    """Behind the partner of the brace at a place."""
    depth = 0
    for mark in re.finditer(r"[{}]", text[at:]):
        depth += 1 if mark[0] == "{" else -1
        if not depth:
            return at + mark.end()
    return len(text)


def members(body: str) -> Iterator[str]:
    """The names that a structure's body declares, those of structures without a name inside of it among them."""
    flat = ""
    at = 0
    while (open_ := body.find("{", at)) >= 0:
        end = _closing(body, open_)
        if re.match(r"\s*;", body[end:]):
            yield from members(body[open_ + 1 : end - 1])
        flat += body[at:open_]
        at = end
    for declaration in (flat + body[at:]).split(";"):
        words = re.findall(r"\w+", declaration)
        if len(words) > 1:
            yield from _DECLARATOR.findall(declaration.strip())


def structures(text: str) -> dict[str, frozenset[str]]:
    """Name of a structure, and of each of its other names -> its members."""
    macros = dict(_MACRO.findall(text))
    text = _COMMENT.sub("", text)
    found: dict[str, frozenset[str]] = {}
    for head in _HEAD.finditer(text):
        end = _closing(text, head.end() - 1)
        own = frozenset(members(text[head.end() : end - 1]))
        behind = re.match(r"\s*([A-Za-z_]\w*)\s*;", text[end:])
        for name in {head["tag"], behind[1] if behind and text[: head.start()].rstrip().endswith("typedef") else None}:
            if name and own:
                found[name] = found.get(name, frozenset()) | own
    for name, alias in [*_ALIAS.findall(text), *((body, alias) for alias, body in macros.items())]:
        if name in found:
            found[alias] = found[name]
    return found


def _plain(name: str) -> str:
    return name.lower().replace("cuda", "").replace("hip", "").replace("_", "")


def table(folders: list[Path]) -> Iterator[tuple[str, str, str]]:
    """(structure of CUDA's, member, HIP's member or nothing)."""
    there = structures(
        "\n".join(path.read_text(encoding="utf-8") for path in sorted((sdk_path() / "include" / "hip").glob("*.h")))
    )
    here: dict[str, frozenset[str]] = {}
    for folder in folders:
        for name in _CUDA:
            if (folder / name).exists():
                for struct, own in structures((folder / name).read_text(encoding="utf-8")).items():
                    here[struct] = here.get(struct, frozenset()) | own
    for struct, own in sorted(here.items()):
        symbol = counterpart("symbol", struct)
        hip = there.get(symbol.hip, frozenset()) if symbol is not None else frozenset()
        free = {_plain(name): name for name in hip - own}
        for member in sorted(own - hip) if hip and not _LEFT_OUT.fullmatch(struct) else ():
            if not _RESERVED.fullmatch(member):
                yield struct, member, OTHER_NAMES.get((struct, member)) or free.get(_plain(member), "")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cuda", type=Path, action="append", required=True)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("struct", "member", "hip"))
    writer.writerows(table(options.parse_args().cuda))
    MEMBERS.write_text(out.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    main()
