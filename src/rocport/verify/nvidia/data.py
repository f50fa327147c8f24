"""Data files and requirements: what is read from them is the same, or only what nobody gets unasked was added."""

from __future__ import annotations

import ast
import configparser
import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rocport.verify.nvidia.model import Difference, Kind
from rocport.verify.nvidia.tokens import aligned

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CODE = "nvidia-content"
_MOST = 20
_UNASKED = frozenset(("dependency-groups.dev", "tool.uv.dev-dependencies", "tool.uv.default-groups"))
"""What uv installs although nobody names it (https://docs.astral.sh/uv/concepts/projects/dependencies/)."""


def _difference(path: str, line: int, original: int, message: str, kind: Kind = Kind.DIFFERENCE) -> Difference:
    step = "keep the file as it was; put what ROCm needs into a file of its own"
    return Difference(kind, CODE, path, line, original, message, step)


def by_lines(path: str, new: bytes, old: bytes) -> list[Difference]:
    """A text that is compared by its bytes."""
    if b"\0" in new or b"\0" in old:
        return [_difference(path, 0, 0, "the bytes are not the same")]
    lines, were = new.split(b"\n"), old.split(b"\n")
    found: list[Difference] = []
    for tag, first, last, start, end in aligned(lines, were):
        if tag == "equal":
            continue
        gone, added = _shown(were[start:end]), _shown(lines[first:last])
        if added and gone:
            message = f"{added} stands where {gone} was"
        else:
            message = f"added on every platform: {added}" if added else f"missing on NVIDIA: {gone}"
        found.append(_difference(path, first + 1, min(start + 1, len(were)), message))
    return found[:_MOST] or [_difference(path, 0, 0, "the bytes are not the same")]


def _shown(lines: list[bytes]) -> str:
    text = " ".join(b" ".join(lines).decode("utf-8", errors="replace").split())
    if not lines:
        return ""
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"


def requirements(path: str, new: bytes, old: bytes) -> list[Difference]:
    """A requirements file: its lines without comments, continued lines joined, in their order."""
    if _comments_that_go_on(new) != _comments_that_go_on(old):
        message = "a comment ends in a backslash: whether the next line belongs to it depends on who reads the file"
        return [*by_lines(path, new, old), _difference(path, 0, 0, message, Kind.UNDECIDED)]
    if _requirement_lines(new) == _requirement_lines(old):
        return []
    return by_lines(path, new, old)


def _comments_that_go_on(data: bytes) -> list[bytes]:
    """Lines whose comment ends in a backslash, but those that are comments as a whole."""
    found = (line.strip() for line in data.split(b"\n") if b"#" in line)
    return [line for line in found if line.endswith(b"\\") and not line.startswith(b"#")]


def _requirement_lines(data: bytes) -> list[str]:
    text = data.decode("utf-8-sig", errors="surrogateescape").replace("\r\n", "\n")
    # As pip joins them: a line that is a comment does not go on after a backslash.
    joined = (line.rstrip("\\") if line.lstrip().startswith("#") else line for line in text.split("\n"))
    text = "\n".join(joined).replace("\\\n", "")
    lines = (re.sub(r"(?:^|\s)#.*", "", line).strip() for line in text.split("\n"))
    return [" ".join(line.split()) for line in lines if line]


def toml(path: str, new: bytes, old: bytes) -> list[Difference]:
    """TOML by its content. Added extras, dependency groups and `[tool.rocport]` are asked for by name only."""
    try:
        before = tomllib.loads(old.decode("utf-8"))
        after = tomllib.loads(new.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return [*by_lines(path, new, old), _difference(path, 0, 0, f"is not TOML: {error}", Kind.REVIEW)]
    asked = ("project.optional-dependencies", "dependency-groups", "tool.rocport")
    if before.get("tool", {}) == {} and "tool" in after and "tool" not in before:
        before["tool"] = {}
    return _values(path, new, after, before, "", asked)


def _as_asked(name: str) -> str:
    """A name as PEP 503 writes it."""
    return re.sub(r"[-_]+", "-", name).lower()


def _values(path: str, text: bytes, new: Any, old: Any, where: str, asked: tuple[str, ...]) -> list[Difference]:
    if isinstance(new, Mapping) and isinstance(old, Mapping):
        found: list[Difference] = []
        for key in [*old, *(key for key in new if key not in old)]:
            inner = f"{where}.{key}" if where else str(key)
            if key not in old:
                unasked = _as_asked(inner) in _UNASKED or (
                    inner == "dependency-groups" and any(_as_asked(name) == "dev" for name in new[key])
                )
                if not unasked and (inner in asked or where in asked or inner.rpartition(".")[0] in asked):
                    continue
                found.append(_difference(path, _line_of(text, str(key)), 0, f"`{inner}` is new"))
            elif key not in new:
                found.append(_difference(path, 0, 0, f"`{inner}` is missing"))
            else:
                found += _values(path, text, new[key], old[key], inner, asked)
        if not found and list(new) != [key for key in new if key not in old] and not _same_order(new, old):
            found.append(_difference(path, 0, 0, f"the entries of `{where or 'the file'}` are in another order"))
        return found
    if type(new) is type(old) and new == old and repr(new) == repr(old):
        return []
    line = _line_of(text, where.rpartition(".")[2])
    return [_difference(path, line, 0, f"`{where}` is {_short(new)}, was {_short(old)}")]


def _same_order(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    return [key for key in new if key in old] == list(old)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _line_of(text: bytes, key: str) -> int:
    for number, line in enumerate(text.decode("utf-8", errors="replace").split("\n"), 1):
        if key and key in line:
            return number
    return 0


def ini(path: str, new: bytes, old: bytes) -> list[Difference]:
    """setup.cfg and its kind by content. Extras that were added are asked for by name only."""
    try:
        after, before = _ini(new), _ini(old)
    except (configparser.Error, UnicodeDecodeError):
        return by_lines(path, new, old)
    return _values(path, new, after, before, "", ("options.extras_require",))


def requires_python(declarations: Iterable[bytes]) -> tuple[int, int] | None:
    """The lowest Python 3 that one of these texts declares: `requires-python = ">=3.8"` and its kind."""
    for text in declarations:
        found = re.search(
            rb"(?m)(?:requires-python|python_requires)\s*=\s*[\"']?[^\n\"']*?(?:>=|~=|==)\s*3\.(\d+)"
            # Poetry's own table.
            rb"|^python\s*=\s*[\"'](?:\^|~|>=)\s*3\.(\d+)",
            text,
        )
        if found:
            return (3, int(found.group(1) or found.group(2)))
    return None


def read_ini(data: bytes) -> dict[str, dict[str, str]] | None:
    """Sections of an INI file; None when it is not one."""
    try:
        return _ini(data)
    except (configparser.Error, UnicodeDecodeError):
        return None


def _ini(data: bytes) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(data.decode("utf-8"))
    return {section: dict(parser.items(section)) for section in parser.sections()}


def json_content(path: str, new: bytes, old: bytes) -> list[Difference]:
    """JSON by its content, the order of keys included."""
    try:
        after = json.loads(new, object_pairs_hook=_pairs)
        before = json.loads(old, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return by_lines(path, new, old)
    return _values(path, new, after, before, "", ())


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def manifest_in(path: str, new: bytes, old: bytes) -> list[Difference]:
    """MANIFEST.in: a line that was added ships more in the source distribution; what it shipped stays."""
    lines, were = _requirement_lines(new), _requirement_lines(old)
    rest = list(lines)
    for line in were:
        if line not in rest:
            return by_lines(path, new, old)
        rest.remove(line)
    if [line for line in lines if line in were] != were or any(
        not re.match(r"(?:recursive-)?include\s|graft\s|global-include\s", line) for line in rest
    ):
        return by_lines(path, new, old)
    message = f"ships more in the source distribution: {'; '.join(rest)}"
    return [_difference(path, _line_of(new, rest[0]) if rest else 0, 0, message, Kind.REVIEW)] if rest else []


def notebook(data: bytes) -> bytes | None:
    """The code cells of a notebook as one module; lines for the shell and magics as calls. None: no notebook."""
    try:
        body = json.loads(data)
        cells = body["cells"]
        parts: list[str] = []
        for cell in cells:
            if cell["cell_type"] != "code":
                continue
            source = cell["source"]
            text = source if isinstance(source, str) else "".join(source)
            parts.append("__cell__()")
            if text.lstrip().startswith("%%"):
                parts.append(f"__cell_magic__({text!r})")
                continue
            parts += [_magic(line) for line in text.split("\n")]
            if text.rstrip().endswith(";"):
                # The value of its last line is not shown.
                parts.append("__quiet__()")
        text = "\n".join(parts) + "\n"
        ast.parse(text)
    except (ValueError, KeyError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return text.encode("utf-8", errors="surrogatepass")


def _magic(line: str) -> str:
    stripped = line.lstrip()
    if stripped.startswith(("%", "!")):
        return f"{line[: len(line) - len(stripped)]}__magic__({stripped!r})"
    return line


def notebook_frame(data: bytes) -> Any:
    """A notebook without the text of its code cells."""
    body = json.loads(data)
    for cell in body["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = ""
    return body


LOCKS = frozenset(("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock", "pixi.lock"))


def new_extras(path: str, new: bytes, old: bytes) -> frozenset[str]:
    """Extras and dependency groups that a port adds to a pyproject.toml or a setup.cfg."""
    if path.rpartition("/")[2] == "pyproject.toml":
        return frozenset(_extras(new) - _extras(old))
    if path.rpartition("/")[2] == "setup.cfg":
        sections = [read_ini(item) or {} for item in (new, old)]
        after, before = (set(section.get("options.extras_require", {})) for section in sections)
        return frozenset(after - before)
    return frozenset()


def _extras(text: bytes) -> set[str]:
    try:
        body = tomllib.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        return set()
    return {*body.get("project", {}).get("optional-dependencies", {}), *body.get("dependency-groups", {})}


def asks_for(names: Iterable[str]) -> re.Pattern[bytes]:
    """What asks for one of these extras or groups, or for all there are."""
    any_name = "|".join(re.escape(name) for name in sorted(names))
    return re.compile(
        rf"--all-(?:extras|groups)\b|--(?:extra|group|only-group|with)[ =]+(?:{any_name})\b"
        rf"|\[[\w, -]*\b(?:{any_name})\b[\w, -]*\]"
        rf"|\b(?:extras|groups|features)\s*[=:][^\n]*\b(?:{any_name})\b".encode()
    )
