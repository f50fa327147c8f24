"""What a rule may ask besides the file it looks at: the options of the run and the names of the whole tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import normpath

from rocport.model.paths import vendored
from rocport.model.versions import RocmVersion


@dataclass(frozen=True)
class Options:
    """Options that change what rules find or write.

    `warp` is `logical32` (keep CUDA's 32-lane warps on any wavefront) or `native` (use the wavefront's own width).
    `targets` are gfx names; empty means every target. Versions are None where the user named none. `layout` is `hip`
    (the port is a tree of its own, CUDA sources translated under their names) or `both` (one tree for both platforms:
    the translations lie below the folder `mirror`).
    """

    warp: str = "logical32"
    targets: tuple[str, ...] = ()
    rocm: RocmVersion | None = None
    torch: str | None = None
    layout: str = "hip"
    mirror: str = "hip"


@dataclass(frozen=True, slots=True)
class Definition:
    """One place where the project gives a meaning of its own to a name that CUDA has too.

    `kind` is `macro`, `function`, `variable`, `type`, `member` or `enumerator`; `owner` the class or namespace it
    belongs to. `parameters` counts those of a macro (None where it is object-like); `takes` is the type of a
    function's first, and all that a macro stands for where that is one word. `live` says whether the port's device pass
    and its host pass reach it (None where a condition over names nobody knows decides), `defined` that it is no mere
    declaration.
    """

    name: bytes
    kind: str
    line: int
    path: str = ""
    owner: bytes = b""
    parameters: int | None = None
    live: tuple[bool | None, bool | None] = (True, True)
    defined: bool = True
    takes: bytes = b""


@dataclass(frozen=True)
class ProjectIndex:
    """Names collected over the whole tree before any rule runs.

    `macros` maps an object-like macro to its body as written (the last definition seen); `files` are the paths of the
    tree, relative, with `/`. `definitions` are the project's own meanings of CUDA's names, `includes` the headers each
    source names, as spelled. `meets` says of each device function, by file, what threads share in it
    (`rocport.convergence.elsewhere`).
    """

    device_functions: frozenset[bytes] = frozenset()
    macros: Mapping[bytes, bytes] = field(default_factory=dict)
    """Macros of the tree with a body; what one has in a file says `macros_at`."""
    files: frozenset[str] = frozenset()
    included: frozenset[str] = frozenset()
    """Base names of all files some file of the tree includes."""
    torch_extension: bool = False
    ptx_sources: frozenset[str] = frozenset()
    """Paths of the CUDA sources that hold inline PTX without a translation, or CUTLASS, or include what does."""
    definitions: Mapping[bytes, tuple[Definition, ...]] = field(default_factory=dict)
    includes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meets: Mapping[bytes, tuple[tuple[str, frozenset[str]], ...]] = field(default_factory=dict)
    carrying: Mapping[bytes, bool] = field(default_factory=dict)
    """Macros of PTX statements that write or read the carry (`add.cc`, `addc`); True: it reads one it did not write."""
    arrays: bool = False
    """True where some file names CUDA's arrays, or a copy's."""
    void_functions: frozenset[bytes] = frozenset()
    """Functions that some file declares as `void *name(...)`; a class without a pointer to void may have one, too."""
    sized: frozenset[bytes] = frozenset()
    """Types whose size is asked for in a file that hands bytes to a file, a message or another process."""
    constructed: frozenset[bytes] = frozenset()
    """Classes of CUDA files with a constructor that takes nothing and does something."""
    templates: Mapping[bytes, tuple[str, ...]] = field(default_factory=dict)
    """Functions that a file declares as templates, not static and without a body (`name/parameters`): the files."""
    vectors: Mapping[bytes, tuple[str, ...]] = field(default_factory=dict)
    """Other names of CUDA's vector types, `Acc/float4`, structures that hold one, `Row/:c=float4[2]`, and functions
    that take one, `take/(0float4`: the files."""
    macro_bodies: Mapping[bytes, tuple[tuple[str, bytes, bool], ...]] = field(default_factory=dict)
    """Macros to which files of the tree give different bodies: the files, the body there, and True for one that is a
    default, under `#ifndef` of its name."""
    marks: Mapping[bytes, tuple[tuple[str, frozenset[bytes]], ...]] = field(default_factory=dict)
    """Macros that stand for execution spaces (`#define HD __host__ __device__`): the files, and what they say there."""
    pins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Version specifiers that the tree's requirements give a package rules ask about."""
    defined: frozenset[str] = frozenset()
    """Macros that the tree's build files define in a build for AMD GPUs, too."""
    named: frozenset[str] | None = None
    """Macros for CUDA that a source defines or another file names; None for sources without a build."""
    extensions: frozenset[str] = frozenset()
    """Modules that the tree's setup.py builds: `CUDAExtension("sptr_cuda", ...)`."""
    hip_builds: frozenset[str] = frozenset()
    """Files of CMake in which the project itself asks for HIP's language or package."""

    def built_for_amd(self, path: str) -> str:
        """The file of CMake by which what a path belongs to, the project or a library in it, builds for AMD GPUs."""
        library = vendored(path)
        return min((item for item in self.hip_builds if vendored(item) == library), key=len, default="")

    @cached_property
    def by_basename(self) -> Mapping[str, tuple[str, ...]]:
        """Last part of a path -> the paths that end in it."""
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    @cached_property
    def basenames(self) -> frozenset[str]:
        """Last parts of all paths of the tree."""
        return frozenset(self.by_basename)

    @cached_property
    def cmake_folders(self) -> frozenset[str]:
        """Names of the folders of the tree that hold a CMakeLists.txt."""
        paths = self.by_basename.get("CMakeLists.txt", ())
        return frozenset(path.split("/")[-2] for path in paths if "/" in path)

    def together(self, one: str, other: str) -> bool:
        """True when some unit of the tree holds both files: one includes the other, or a third includes both."""
        return not self._includers(one).isdisjoint(self._includers(other))

    def macros_at(self, path: str) -> Mapping[bytes, bytes]:
        """The bodies of macros in a file: its own, else those of its units' files, as where its own is a
        default; empty where they have several."""
        return _Macros(self, path)

    def marks_of(self, path: str) -> dict[bytes, frozenset[bytes]]:
        """What the macros for execution spaces of the files of a file's units say."""
        found: dict[bytes, frozenset[bytes]] = {}
        for name, said in self.marks.items():
            for other, spaces in said:
                if other != path and self.together(path, other):
                    found[name] = found.get(name, frozenset()) | spaces
        return found

    def meets_elsewhere(self, name: bytes, path: str, declared: bool) -> frozenset[str]:
        """What threads share in a function that a file calls and does not define: that of the files of its units, or,
        where the file only declares the function, of any file of the tree."""
        every = [(other, kinds) for other, kinds in self.meets.get(name, ()) if other != path]
        near = [kinds for other, kinds in every if self.together(path, other)]
        return frozenset().union(*(near or [kinds for _, kinds in every if declared]))

    @cached_property
    def _known_includers(self) -> dict[str, frozenset[str]]:
        return {}

    def reached_by(self, path: str, suffixes: str | tuple[str, ...]) -> bool:
        """True for a file that a file of such a suffix includes, directly or through others, and for such a file."""
        return any(other.endswith(suffixes) for other in self._includers(path))

    def _includers(self, path: str) -> frozenset[str]:
        """A file and all that include it, directly or through others."""
        known = self._known_includers.get(path)
        if known is None:
            found: set[str] = {path}
            todo = [path]
            while todo:
                fresh = self._included_by.get(todo.pop(), set()) - found
                found |= fresh
                todo += fresh
            known = self._known_includers[path] = frozenset(found)
        return known

    @cached_property
    def _included_by(self) -> dict[str, set[str]]:
        """Path -> the files that name it in an include: beside them, or by the end of its path."""
        ends: dict[str, list[str]] = {}
        for path in self.files:
            ends.setdefault(path.rpartition("/")[2], []).append(path)
        found: dict[str, set[str]] = {}
        for path, names in self.includes.items():
            folder = path.rpartition("/")[0]
            for name in names:
                beside = normpath(f"{folder}/{name}" if folder else name)
                if beside in self.files:
                    found.setdefault(beside, set()).add(path)
                    continue
                tail = "/" + name.lstrip("./")
                for other in ends.get(name.rpartition("/")[2], ()):
                    if f"/{other}".endswith(tail):
                        found.setdefault(other, set()).add(path)
        return found


class _Macros(Mapping[bytes, bytes]):
    """`ProjectIndex.macros_at`, looked up where it is asked for."""

    def __init__(self, project: ProjectIndex, path: str) -> None:
        self.project = project
        self.path = path

    def __getitem__(self, name: bytes) -> bytes:
        said = self.project.macro_bodies.get(name)
        if said is None:
            return self.project.macros[name]
        own = {body for path, body, default in said if path == self.path and not default}
        bodies = own or {body for path, body, _ in said if self.project.together(self.path, path)}
        return bodies.pop() if len(bodies) == 1 else b""

    def __contains__(self, name: object) -> bool:
        return name in self.project.macros

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.project.macros)

    def __len__(self) -> int:
        return len(self.project.macros)


@dataclass(frozen=True)
class Context:
    options: Options = field(default_factory=Options)
    project: ProjectIndex = field(default_factory=ProjectIndex)
