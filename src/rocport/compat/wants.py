"""What is wanted: `torch>=2.9,bitsandbytes` from the command line, or the lines of a requirements file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import InvalidMarker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement

from rocport.compat.errors import CompatError
from rocport.facts.packages import normalize

MAX_FILE_BYTES = 1_000_000
MAX_DEPTH = 8
_CUDA_TAG = re.compile(r"\+(cu\d+)")
_COMMENT = re.compile(r"(?:^|\s)#.*$")


@dataclass(frozen=True)
class Want:
    """One wanted package. `text` as it was written, `where` is the file and line, empty on the command line.

    `specifier` has no local versions: `==2.5.1+cu124` wants 2.5.1, and `cuda` says `cu124`.
    """

    name: str
    specifier: str
    text: str
    where: str = ""
    url: str = ""
    cuda: str = ""

    @property
    def key(self) -> str:
        return normalize(self.name)


def parse_want(text: str, where: str = "", environment: dict[str, str] | None = None) -> Want | None:
    """One requirement; None when its marker does not hold. Raises CompatError for text that is none."""
    tag = _CUDA_TAG.search(text)
    plain = re.sub(r"\+[A-Za-z0-9.]+(?=\s*(?:$|[,;)\s]))", "", text) if tag or "+" in text else text
    at = f"{where}: " if where else ""
    try:
        found = Requirement(text if "@" in text else plain)
        if found.marker is not None and not found.marker.evaluate(environment):
            return None
    except (InvalidRequirement, InvalidMarker, UndefinedEnvironmentName) as error:
        first = str(error).splitlines()[0] if str(error) else "?"
        raise CompatError(f"{at}{text.strip()!r} is no requirement ({first}); expected such as 'torch>=2.9'") from error
    return Want(found.name, str(found.specifier), text.strip(), where, found.url or "", tag.group(1) if tag else "")


def parse_wants(text: str) -> tuple[Want, ...]:
    """`torch>=2.9,<3,bitsandbytes`: a comma separates packages where a name follows it."""
    parts: list[str] = []
    for part in text.split(","):
        if parts and re.match(r"\s*(?:[<>=!~]|$)", part):
            parts[-1] += f",{part.strip()}" if part.strip() else ""
        elif part.strip():
            parts.append(part.strip())
    return tuple(want for part in parts if (want := parse_want(part)) is not None)


def read_requirements(path: Path, python: str | None) -> tuple[tuple[Want, ...], tuple[str, ...]]:
    """Wants and notes from a requirements file and the files it includes (`-r`); other options become notes.

    Markers are judged for Linux and `python` (the running Python when None). Raises CompatError, naming file and line.
    """
    environment = {
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "platform_machine": "x86_64",
    }
    if python:
        environment |= {"python_version": python, "python_full_version": f"{python}.0"}
    wants: list[Want] = []
    notes: list[str] = []
    _read(path, environment, wants, notes, ())
    return tuple(wants), tuple(notes)


def _read(
    path: Path, environment: dict[str, str], wants: list[Want], notes: list[str], parents: tuple[Path, ...]
) -> None:
    try:
        resolved = path.resolve(strict=True)
        if resolved in parents or len(parents) >= MAX_DEPTH:
            raise CompatError(f"{path}: includes itself, or more than {MAX_DEPTH} files deep")
        if resolved.stat().st_size > MAX_FILE_BYTES:
            raise CompatError(f"{path}: {resolved.stat().st_size} bytes are no requirements file")
        raw = resolved.read_bytes()
    except (OSError, RuntimeError) as error:
        raise CompatError(f"{path}: cannot be read ({error}); give a requirements.txt") from error
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise CompatError(f"{path}: is not text; expected a requirements file") from error
    if "\0" in text:
        raise CompatError(f"{path}: is binary; expected a requirements file")
    for number, line in _lines(text):
        where = f"{path}:{number}"
        include = re.match(r"(?:-r|--requirement)[\s=]+(\S+)", line)
        if include:
            _read(resolved.parent / include[1], environment, wants, notes, (*parents, resolved))
        elif line.startswith("-"):
            notes.extend(_option(line, where))
        elif re.match(r"\w+(?:\+\w+)?://|\.{0,2}/|\S+\.whl\b", line):
            notes.append(f"{where}: {line} names no package; whether it runs on ROCm is not known")
        else:
            want = parse_want(re.split(r"\s+--\w", line)[0], where, environment)
            if want is not None:
                wants.append(want)


def _lines(text: str) -> list[tuple[int, str]]:
    """Logical lines with the number of their first: continued by a backslash, without comments and blanks."""
    found: list[tuple[int, str]] = []
    pending, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        line = _COMMENT.sub("", line)
        start = start or number
        if line.endswith("\\"):
            pending += line[:-1]
            continue
        whole = (pending + line).strip()
        if whole:
            found.append((start, whole))
        pending, start = "", 0
    if pending.strip():
        found.append((start, pending.strip()))
    return found


def _option(line: str, where: str) -> list[str]:
    cuda = re.search(r"/(cu\d+)\b", line)
    if cuda:
        return [f"{where}: drop {line.split()[0]}: its index {cuda[1]} holds CUDA builds"]
    if re.match(r"(?:-i|--index-url|--extra-index-url|-f|--find-links)\b", line):
        return [f"{where}: {line.split()[0]} was not looked at; keep it off the command that installs torch"]
    return []
