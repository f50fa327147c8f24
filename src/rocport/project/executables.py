"""The executables of a CMakeLists.txt, read without running CMake: their sources, and how each is compiled.

Understood: `set`, lists of files, `project`, include folders, definitions, `target_sources`, libraries that the project
makes of sources, and OpenMP. What needs more of CMake's language is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocport.project.cmake import VARIABLE, CMakeCommand, commands
from rocport.project.languages import KERNEL_SOURCES, SOURCES, suffix_of
from rocport.project.unit import Unit, c_or

_KEYWORDS = frozenset({"PRIVATE", "PUBLIC", "INTERFACE", "SYSTEM", "BEFORE", "AFTER", "WIN32", "MACOSX_BUNDLE"})
_OPENS, _CLOSES = frozenset({"if", "foreach", "while"}), frozenset({"endif", "endforeach", "endwhile"})
_OF_SOURCES = frozenset({"set_source_files_properties", "message"})
_OF_TARGETS = frozenset({"target_compile_options", "set_target_properties"})
_AS_KERNELS = re.compile(r"(?<![\w-])-x[\s;]*(?:hip|cuda)\b")
_OF_KERNELS = re.compile(r"\bLANGUAGE (?:HIP|CUDA)\b|\bHIP_SOURCE_PROPERTY_FORMAT\b")
_DEFINE = re.compile(r"(?:-D)?\w+(?:=[^$<>]*)?")
_NAME = re.compile(r"(?!(?:PRIVATE|PUBLIC|INTERFACE|debug|optimized|general)$)[A-Za-z_][\w.-]*")
_HIGHEST, _MOST_FOLDERS = 3, 64
"""Folders above one, and folders added there, in which the maker of a library is looked for."""
_LONGEST = 1 << 16
"""Characters of a variable's value that is kept: `set(X "${X} ${X}")` doubles it every time."""


def executables(data: bytes, folder: Path) -> dict[str, tuple[Unit, ...]]:
    """The units of every executable whose sources are all there, by its name. `folder` is where the file lies."""
    read = _read(data, folder)
    return {
        name: (*read.units(name), *_linked(read, name))
        for name in read.targets
        if name not in read.libraries and read.whole(name)
    }


def _read(data: bytes, folder: Path) -> _Read:
    read = _Read(folder)
    for command in commands(data):
        read.take(command)
    return read


def _linked(read: _Read, target: str) -> Iterator[Unit]:
    """The units of the libraries that a target links and the project makes, in its own file or in one beside it."""
    wanted = [(name, read) for name in read.links.get(target, ())]
    known: set[str] = set()
    while wanted:
        name, asking = wanted.pop(0)
        if name in known:
            continue
        known.add(name)
        owner = asking if name in asking.libraries else _maker(name, read.folder)
        if owner is not None and owner.whole(name):
            yield from owner.units(name)
            wanted += [(one, owner) for one in owner.links.get(name, ())]


def _maker(library: str, folder: Path) -> _Read | None:
    """What the file says that makes a library: one above the folder, or of a folder that such a file adds."""
    for parent in folder.parents[:_HIGHEST]:
        top = _asked(library, parent, always=True)
        places = [parent / added for added in top.added[:_MOST_FOLDERS]] if top is not None else []
        for found in (top, *(_asked(library, place) for place in places)):
            if found is not None and library in found.libraries:
                return found
    return None


def _asked(library: str, folder: Path, always: bool = False) -> _Read | None:
    """The folder's file; one that does not hold the name only where it is read `always`."""
    try:
        data = (folder / "CMakeLists.txt").read_bytes()
    except OSError:
        return None
    return _read(data, folder.resolve()) if always or library.encode() in data else None


@dataclass
class _Read:
    """What the commands up to here say."""

    folder: Path
    targets: dict[str, list[Path]] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    openmp: bool = False
    languages: set[str] = field(default_factory=set)
    as_kernels: set[Path] = field(default_factory=set)
    """Sources whose properties make them HIP's or CUDA's."""
    forced: set[str] = field(default_factory=set)
    """Targets whose C++ is compiled as HIP; `*` for all."""
    depth: int = 0
    libraries: set[str] = field(default_factory=set)
    """Targets that are no executables."""
    links: dict[str, list[str]] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    """Folders of `add_subdirectory`."""

    def __post_init__(self) -> None:
        places = ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR")
        self.values = dict.fromkeys(places, str(self.folder))
        self.flags.append(f"-I{self.folder}")

    def take(self, command: CMakeCommand) -> None:
        name, words = command.name, self._expanded(command).words
        self.depth += (name in _OPENS) - (name in _CLOSES)
        if not words:
            return
        if name in _READERS:
            _READERS[name](self, words)
        said = " ".join(words)
        of_sources = name == "set_source_files_properties" or (name == "set_property" and words[0] == "SOURCE")
        if of_sources and (_AS_KERNELS.search(said) or _OF_KERNELS.search(said)):
            self.as_kernels.update((self.folder / word).resolve() for word in words)
        if _AS_KERNELS.search(said) and name not in _OF_SOURCES:
            self.forced.update(words if name in _OF_TARGETS or words[0] == "TARGET" else ["*"])

    def whole(self, target: str) -> bool:
        """Whether it has sources, and all are there."""
        files = self.targets.get(target, [])
        return bool(files) and all(map(Path.is_file, files))

    def units(self, target: str) -> tuple[Unit, ...]:
        # Where kernels have a language of their own, C++ is C++.
        apart = bool(self.languages & {"HIP", "CUDA"}) and not self.forced & {"*", target}
        flags = (*self.flags, *(["-fopenmp"] if self.openmp else []))
        return tuple(
            Unit(str(file), c_or(file, "c++" if apart and not self._is_kernel(file) else "hip"), flags)
            for file in self.targets[target]
        )

    def _is_kernel(self, file: Path) -> bool:
        return suffix_of(file.name) in KERNEL_SOURCES or file in self.as_kernels

    def _expanded(self, command: CMakeCommand) -> CMakeCommand:
        """The command with the values of variables in it; one without a value stays as written."""
        return replace(
            command, arguments=VARIABLE.sub(lambda match: self.values.get(match[1], match[0]), command.arguments)
        )

    def _set(self, words: Sequence[str]) -> None:
        value = " ".join(word for word in words[1:] if word not in ("CACHE", "PARENT_SCOPE"))
        self.values[words[0]] = value if len(value) <= _LONGEST else ""

    def _project(self, words: Sequence[str]) -> None:
        self.values["PROJECT_NAME"] = self.values["CMAKE_PROJECT_NAME"] = words[0]
        self.languages.update(words[1:])

    def _language(self, words: Sequence[str]) -> None:
        if not self.depth:
            self.languages.update(words)

    def _sources(self, words: Sequence[str]) -> None:
        files = [(self.folder / word).resolve() for word in words[1:] if suffix_of(word) in SOURCES]
        self.targets.setdefault(words[0], []).extend(files)

    def _folders(self, words: Sequence[str]) -> None:
        named = (self.folder / word for word in words if word not in _KEYWORDS and "$" not in word)
        self.flags += [f"-I{found}" for found in (path.resolve() for path in named) if found.is_dir()]

    def _defines(self, words: Sequence[str]) -> None:
        named = (word for word in words if word not in _KEYWORDS and _DEFINE.fullmatch(word))
        self.flags += [f"-D{word.removeprefix('-D')}" for word in named]

    def _library(self, words: Sequence[str]) -> None:
        self.libraries.add(words[0])
        self._sources(words)

    def _adds(self, words: Sequence[str]) -> None:
        self.added.append(words[0])

    def _links(self, words: Sequence[str]) -> None:
        self.links.setdefault(words[0], []).extend(word for word in words[1:] if _NAME.fullmatch(word))
        self.openmp |= any("OpenMP::" in word for word in words)
        self.forced.update(["*"] if "hip::device" in words else [])


_READERS: dict[str, Callable[[_Read, Sequence[str]], None]] = {
    "set": _Read._set,
    "project": _Read._project,
    "enable_language": _Read._language,
    **dict.fromkeys(("add_executable", "hip_add_executable", "cuda_add_executable", "target_sources"), _Read._sources),
    **dict.fromkeys(("add_library", "hip_add_library", "cuda_add_library"), _Read._library),
    "add_subdirectory": _Read._adds,
    "include_directories": _Read._folders,
    "target_include_directories": lambda read, words: read._folders(words[1:]),
    "add_definitions": _Read._defines,
    "add_compile_definitions": _Read._defines,
    "target_compile_definitions": lambda read, words: read._defines(words[1:]),
    "target_link_libraries": _Read._links,
}
