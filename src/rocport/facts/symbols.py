"""The CUDA-to-HIP map: every name the CUDA headers declare, and what serves it on ROCm, as far as it was checked.

The rows are derived by `tools/refresh_libraries.py` from the headers of several CUDA and ROCm releases: a HIP name is
written only where a ROCm release declares it. A row with an empty `hip` is a name that was looked for and not found.
A name that has no row is spelled the same in HIP, or belongs to a family that one entry of `library.toml` answers
(`CUBLASLT_MATMUL_TILE_*`), or is not CUDA's.

`note` opens with a word that says how much care the row needs:

- `arity:` the number of parameters differs; the call needs an edit, not a rename
- `type:` a parameter type differs
- `semantics:` the call compiles and does something else in the case named
- `settled:` it differs, and no call has to be looked at for it: the port says so and goes on
- `drop:` nothing takes its place and none is needed: leave it out
- `use:` there is no counterpart under this or another name; what to write instead
- `header:` the name needs the header named
"""

from __future__ import annotations

import gc
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from rocport.facts._toml import read_toml
from rocport.facts.errors import FactError
from rocport.model.versions import RocmVersion

FOLDER = Path(__file__).with_name("libraries")

COLUMNS = ("cuda", "hip", "kind", "since", "until", "note", "source")


class SymbolTableError(ValueError):
    """A table that does not have the documented shape; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """One CUDA name.

    `since` is the first inspected ROCm release that declares the HIP name, `until` the first inspected one that no
    longer does; empty is "from the oldest inspected" and "still there in the newest", where a release counts as
    inspected if the header in question was at hand. A leading `~` says that releases in between were not inspected,
    so that the change may be earlier.
    """

    cuda: str
    hip: str
    kind: str
    library: str
    since: str
    until: str
    note: str
    source: str

    @property
    def dropped(self) -> bool:
        """True for a name that is left out on ROCm."""
        return self.note.startswith("drop:")

    @property
    def by_hand(self) -> bool:
        """True for a name that nothing takes the place of as it is used."""
        return not self.hip and not self.dropped

    def declared_in(self, version: RocmVersion) -> bool | None:
        """Whether the HIP name is declared in a ROCm release; None where the inspected releases do not say."""
        if not self.hip:
            return False
        present = self._reached(self.since, version) if self.since else True
        gone = self._reached(self.until, version) if self.until else False
        if present is None or (present and gone is None):
            return None
        return present and not gone

    def _reached(self, change: str, version: RocmVersion) -> bool | None:
        """Whether a change (`6.2`, or `~6.4` for "some time up to 6.4") has happened in a release."""
        after = RocmVersion.parse(change.lstrip("~"))
        if not version < after:
            return True
        if not change.startswith("~"):
            return False
        inspected = [RocmVersion.parse(g) for g in library(self.library).generations]
        before = max((g for g in inspected if g < after), default=None)
        return False if before is not None and not before < version else None


@dataclass(frozen=True, slots=True)
class Family:
    """Names of one library that a row each would say nothing about.

    `names` matches the whole name. With `strip`, the row of the name without that ending answers where it has a HIP
    type; else HIP has none of them, and `note` says what to do then.
    """

    names: str
    kind: str
    note: str
    strip: str = ""


@dataclass(frozen=True, slots=True)
class Library:
    """What `library.toml` says of one CUDA library.

    `applicability` is the library's as a whole: SAFE when the counterpart has the same interface, REVIEW when it
    differs in places, MANUAL when there is no drop-in. `names` is the pattern its names follow, `generations` are the
    ROCm releases whose headers or stubs were read for it, oldest first; `cmake` maps CMake targets, `link` maps names
    for `-l` and `packages` those of `find_package`; `find` tells the ROCm package of each of ROCm's CMake targets, and
    `begins` how includes of the counterparts' headers begin. `untagged` are types of HIP's that `struct` or `enum`
    may not stand before: the tag is another name. `lacking` are names of its namespace that the counterpart's headers
    do not declare. `families` answer names that have no row.
    """

    name: str
    title: str
    counterpart: str
    applicability: str
    note: str
    names: str
    headers: Mapping[str, str] = field(default_factory=dict)
    link: Mapping[str, str] = field(default_factory=dict)
    cmake: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    find: Mapping[str, str] = field(default_factory=dict)
    begins: tuple[str, ...] = ()
    untagged: tuple[str, ...] = ()
    lacking: frozenset[str] = frozenset()
    families: tuple[Family, ...] = ()
    cuda_releases: tuple[str, ...] = ()
    generations: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """Everything known, ready for a lexer: identifiers are looked up as bytes, one dictionary access each.

    `headers` has folder rows too (`cutlass/*`); `header()` finds them. `namespaces` are spelled with `::`.
    """

    identifiers: dict[bytes, Symbol]
    headers: dict[str, Symbol]
    link_names: dict[str, Symbol]
    namespaces: dict[str, Symbol]

    def header(self, spelled: str) -> Symbol | None:
        """The row of an include as spelled (`cuda/std/array`): its own, or that of its folder (`cuda/std/*`)."""
        found = self.headers.get(spelled)
        folder = spelled
        while found is None and "/" in folder:
            folder = folder.rpartition("/")[0]
            found = self.headers.get(f"{folder}/*")
        return found

    @property
    def libraries(self) -> Mapping[str, Library]:
        """The libraries by name; read when first asked for."""
        return libraries()


def without_counterpart(symbol: Symbol) -> str:
    """The library of a name where none of it has a drop-in, so that one decision settles all of it; else empty."""
    match symbol:
        case Symbol(library=name) if name != "others" and libraries()[name].applicability == "MANUAL":
            return libraries()[name].title
    return ""


@cache
def load() -> SymbolTable:
    """Read every `symbols.csv`. Raises SymbolTableError for a row that does not have the documented columns."""
    table = SymbolTable({}, {}, {}, {})
    identifiers = table.identifiers
    elsewhere = {"header": table.headers, "library": table.link_names, "namespace": table.namespaces}
    # Some 10,000 immutable objects are made at once; the collector would walk them again and again.
    enabled = gc.isenabled()
    gc.disable()
    try:
        for path in sorted(FOLDER.glob("*/symbols.csv")):
            name = path.parent.name
            lines = path.read_text(encoding="utf-8").split("\n")
            if lines[0] != ",".join(COLUMNS):
                raise SymbolTableError(f"{path}:1: expected the columns {','.join(COLUMNS)}, got {lines[0]!r}")
            # No field holds a comma or a quote (the refresh tool refuses them), so that a row is one split.
            for number, line in enumerate(lines[1:], 2):
                if not line:
                    continue
                try:
                    cuda, hip, kind, since, until, note, source = line.split(",")
                except ValueError:
                    raise SymbolTableError(
                        f"{path}:{number}: expected {len(COLUMNS)} fields without commas; "
                        "regenerate the file with tools/refresh_libraries.py"
                    ) from None
                symbol = Symbol(cuda, hip, kind, name, since, until, note, source)
                other = elsewhere.get(kind)
                if other is None:
                    identifiers[cuda.encode()] = symbol
                else:
                    other[cuda] = symbol
    finally:
        if enabled:
            gc.enable()
    return table


@lru_cache(maxsize=2)
def in_families(text: bytes) -> frozenset[bytes]:
    """The words of a text that a family of names answers, and no row. Several readers ask of one text."""
    known, answered = load().identifiers, _family_names().fullmatch
    return frozenset(word for word in set(_WORDS.findall(text)) if word not in known and answered(word))


def of_family(name: bytes) -> Symbol | None:
    """What the family of a name without a row says of it, as a row; None where no family holds the name."""
    spelled = name.decode(errors="replace")
    for owner in libraries().values():
        for family in owner.families:
            if not re.fullmatch(family.names, spelled):
                continue
            row = load().identifiers.get(re.sub(family.strip, "", spelled).encode()) if family.strip else None
            if row is not None and row.hip and row.kind == family.kind:
                return replace(row, cuda=spelled)
            return Symbol(spelled, "", family.kind, owner.name, "", "", family.note, "library.toml")
    return None


# Every family begins so. Each word is read once: what is looked for within a word, too, takes quadratic time.
_WORDS = re.compile(rb"CU(?<=\bCU)\w+")


@cache
def _family_names() -> re.Pattern[bytes]:
    names = "|".join(family.names for owner in libraries().values() for family in owner.families)
    return re.compile(names.encode())


@cache
def libraries() -> Mapping[str, Library]:
    """Every library folder, by name."""
    releases = read_toml(FOLDER / "read.toml")
    folders = sorted(path.parent for path in FOLDER.glob("*/library.toml"))
    return {folder.name: _library(folder, releases.get(folder.name, {})) for folder in folders}


def library(name: str) -> Library:
    """One library. Raises FactError naming those that exist."""
    try:
        return libraries()[name]
    except KeyError:
        raise FactError("CUDA library", name, libraries()) from None


def _library(folder: Path, releases: Mapping[str, Any]) -> Library:
    path = folder / "library.toml"
    data = read_toml(path)
    try:
        return Library(
            name=folder.name,
            title=data["title"],
            counterpart=data["counterpart"],
            applicability=data["applicability"],
            note=data.get("note", ""),
            names=data.get("cuda", {}).get("names", ""),
            headers=data.get("headers", {}),
            link=data.get("link", {}),
            cmake=data.get("cmake", {}),
            packages=data.get("packages", {}),
            find=data.get("find", {}),
            begins=tuple(data.get("hip", {}).get("begins", ())),
            untagged=tuple(data.get("hip", {}).get("untagged", ())),
            lacking=frozenset(data.get("hip", {}).get("lacking", "").split()),
            families=tuple(Family(**entry) for entry in data.get("families", ())),
            cuda_releases=tuple(releases.get("cuda", ())),
            generations=tuple(releases.get("rocm", ())),
            sources=tuple(data["sources"]),
        )
    except KeyError as error:
        raise SymbolTableError(f"{path}: expected the key {error}, as in cublas/library.toml") from None
