"""The translation units of a source tree, and the include folders each needs, without running its build."""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from rocport.facts.lookup import is_gpu_header
from rocport.project.cmake import commands, export_headers, without_comments
from rocport.project.defines import beside_amd, macros_of
from rocport.project.jit import python_loads
from rocport.project.languages import HEADERS, KERNEL_SOURCES, SOURCES, is_build_file, language_of, suffix_of
from rocport.project.named import named_of, patterns
from rocport.project.unit import Unit
from rocport.syntax.amd import is_amd_path
from rocport.syntax.includes import spelled_includes

_SKIPPED = frozenset({"node_modules", "__pycache__", "CMakeFiles", "venv", "site-packages"})
_MAX_BYTES = 64 << 20
# Headers that a project carries for Windows (`compat/sys/time.h`) are the C library's here.
_LIBC_FOLDERS = ("sys/", "net/", "netinet/", "arpa/", "linux/", "asm/", "bits/")
_OF_THE_COMPILER = frozenset(
    f"{name}.h"
    for name in (
        "float",
        "immintrin",
        "inttypes",
        "iso646",
        "limits",
        "stdalign",
        "stdarg",
        "stdatomic",
        "stdbool",
        "stddef",
        "stdint",
    )
)
_SYSTEM_FOLDERS = ("/usr/include", *(str(path.parent) for path in Path("/usr/include").glob("*-linux-gnu/sys")))

_KERNEL = re.compile(rb"\b__global__\b|[\w>]\s*<<\s*<[^<]")
_TORCH_GPU_HEADER = re.compile(r"(?:ATen|c10|torch/csrc)/(?:cuda|hip|native/(?:cuda|hip))/")
_STANDARD = re.compile(r"-std=(?:c|gnu)\+\+(\d\w)|CMAKE_(?:CXX|HIP|CUDA)_STANDARD\s+(\d\d)|cxx_std_(\d\d)")
_RELOCATABLE = re.compile(r"-rdc=true|-fgpu-rdc|--relocatable-device-code|SEPARABLE_COMPILATION|\s-dc\s")
_INCLUDE_FLAG = re.compile(r"(?:-I|-isystem)\s*([^\s'\",;()]+)")
_INCLUDE_COMMAND = re.compile(r"(?:target_)?include_directories\s*\(([^)]*)\)", re.I)
_FORCED = re.compile(r"(?<![\w-])--?(?:pre-)?include[= ][\"']?([\w./+-]+\.(?:hpp|hh|h|cuh|inc))(?![\w.])")
_PYTHON_INCLUDE = re.compile(r"include_(?:dirs|path)s?[\"']?\s*[=:+]+\s*(\[[^\]]*\])", re.S)
_QUOTED = re.compile(r"[\"']([^\"']+)[\"']")


@dataclass(frozen=True)
class BuildFile:
    """What one build file says of the sources below its folder."""

    folder: str
    """Relative to the tree; empty for its root."""
    includes: tuple[str, ...]
    defines: tuple[str, ...]
    standard: int
    relocatable: bool
    beside: bool = False
    """Its macros are for the sources of its own folder only: a Makefile's."""
    sources: tuple[str, ...] = ()
    """The sources it names, and patterns of sources."""
    undefines: tuple[str, ...] = ()
    """Macros it takes back."""
    computed: tuple[str, ...] = ()
    """Macros whose value is known only when the build runs, each with the file that computes it."""
    of_a_call: bool = False
    """It stands for one call, whose macros are for its sources only."""
    extension: bool = False
    """It builds extensions of PyTorch."""
    exports: tuple[tuple[str, str], ...] = ()
    """Headers that `generate_export_header` writes: name below a folder for includes, and text."""
    forced: tuple[str, ...] = ()
    """Headers that its flags read before each source, as spelled: `-include pch.h`."""

    def governs(self, path: str) -> bool:
        if self.of_a_call:
            spelled = (posixpath.normpath(posixpath.join(self.folder, source)) for source in self.sources)
            return any(fnmatchcase(path, source) for source in spelled)
        if not self.folder or path.startswith(f"{self.folder}/"):
            return True
        # A build for AMD beside CUDA's takes its sources: `file(GLOB S "../ggml-cuda/*.cu")` of ggml-hip.
        beside = (name[3:] for name in self.sources if name.startswith("../")) if is_amd_path(self.folder) else ()
        return any(fnmatchcase(path, posixpath.join(posixpath.dirname(self.folder), name)) for name in beside)


@dataclass
class Project:
    """A source tree as its files and includes; build it with `read_project`."""

    root: Path
    files: frozenset[str]
    includes: dict[str, tuple[tuple[str, bool], ...]]
    """File -> (spelled name, quoted?) of every #include in it."""
    device: frozenset[str] = frozenset()
    """Files that define or launch kernels."""
    builds: tuple[BuildFile, ...] = ()
    """The build files, those of deeper folders first."""
    foreign: Path | None = None
    """Headers found below this folder are never taken from the tree (the SDK's own include folder)."""
    _by_name: dict[str, list[str]] = field(default_factory=dict)
    _shadowing: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.files):
            by_name[path.rpartition("/")[2]].append(path)
        self._by_name = dict(by_name)

    def resolve(self, includer: str, name: str, quoted: bool) -> tuple[str, str] | None:
        """(file of the tree, include folder that makes it found) for one #include; None: not of this tree.

        The folder is "." + nothing where the includer's own folder is enough: then it is empty.
        """
        name = name.replace("\\", "/")
        if quoted:
            beside = os.path.normpath(f"{includer.rpartition('/')[0]}/{name}".lstrip("/"))
            if beside in self.files:
                return beside, ""
        elif self._is_system(name):
            return None
        tail = os.path.normpath(name)
        while tail.startswith("../"):
            tail = tail[3:]
        candidates = [
            path for path in self._by_name.get(tail.rpartition("/")[2], ()) if path == tail or path.endswith(f"/{tail}")
        ]
        if not candidates:
            return None
        here = PurePosixPath(includer).parts

        def distance(path: str) -> tuple[int, int, str]:
            there = PurePosixPath(path).parts
            common = 0
            while common < min(len(here), len(there)) and here[common] == there[common]:
                common += 1
            return (-common, len(there), path)

        best = min(candidates, key=distance)
        folder = best[: len(best) - len(tail)].rstrip("/") or "."
        if tail != os.path.normpath(name):
            # `../x.h` is found from a folder beside it.
            folder = includer.rpartition("/")[0] or "."
        return best, folder

    def _is_system(self, name: str) -> bool:
        """True for names that mean the compiler's, the SDK's or the system's header even where the tree has one."""
        if self.foreign is not None and (self.foreign / name).exists():
            return True
        if "/" in name:
            return name.startswith(_LIBC_FOLDERS) and any(Path(folder, name).exists() for folder in _SYSTEM_FOLDERS)
        return "." not in name or name in _OF_THE_COMPILER or Path("/usr/include", name).exists()

    def _shadows(self, folder: str) -> bool:
        """True for a folder with headers that an include in angle brackets means the system's by."""
        if folder not in self._shadowing:
            start = "" if folder == "." else f"{folder}/"
            inside = (path[len(start) :] for path in self.files if path.startswith(start))
            self._shadowing[folder] = any(suffix_of(name) in HEADERS and self._is_system(name) for name in inside)
        return self._shadowing[folder]

    def closure(self, path: str, forced: Iterable[str] = ()) -> tuple[set[str], dict[str, bool], set[str]]:
        """(files of the tree it includes, include folders -> only for quoted names, names not of the tree).

        `forced` are files of the tree that are read before it."""
        seen = {path, *forced}
        folders: dict[str, bool] = {}
        outside: set[str] = set()
        queue = [path, *forced]
        while queue:
            includer = queue.pop()
            for name, quoted in self.includes.get(includer, ()):
                found = self.resolve(includer, name, quoted)
                if found is None:
                    outside.add(name)
                    continue
                target, folder = found
                if folder:
                    folders[folder] = folders.get(folder, True) and quoted
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
        return seen, folders, outside

    def units(self, changed: frozenset[str] = frozenset()) -> list[Unit]:
        """Every translation unit that a HIP build compiles, by path.

        A `.cu` or `.hip` file is a unit unless another file includes it. A host source is one when it reaches a GPU
        header, or is in `changed` (the port edited it).
        """
        included = set()
        for includer, names in self.includes.items():
            for name, quoted in names:
                found = self.resolve(includer, name, quoted)
                if found is not None and found[0] != includer:
                    included.add(found[0])
        sources = [path for path in sorted(self.files) if path not in included and suffix_of(path) in SOURCES]
        torch = [build for build in self.builds if build.extension]
        governed = [path for path in sources if any(build.governs(path) for build in torch)]
        extension = named_of(governed, [(build.folder, build.sources) for build in torch])
        units = []
        for path in sources:
            suffix, is_c = suffix_of(path), path.endswith(".c")
            # Of a source that setup.py and a Makefile name (a test's, a benchmark's) it is the extension that counts.
            builds = [one for one in self.builds if one.governs(path) and not (one.beside and path in extension)]
            spelled = dict.fromkeys(name for build in builds for name in build.forced)
            forced = tuple(found[0] for name in spelled if (found := self.resolve(path, name, True)) is not None)
            reached, folders, outside = self.closure(path, forced)
            if suffix in KERNEL_SOURCES or (not is_c and path not in extension and reached & self.device):
                # hipcc takes any C++ source for HIP, and programs rely on it; PyTorch's build gives it the .cu alone.
                language = "hip"
            elif (
                path in changed
                or reached & self.device
                or any(is_gpu_header(name) or _TORCH_GPU_HEADER.match(name) for name in outside)
            ):
                language = "c" if is_c else "c++"
            else:
                continue
            named = [folder for build in builds for folder in build.includes]
            inferred = sorted(folder for folder, only_quoted in folders.items() if not only_quoted)
            inferred = list(dict.fromkeys([*inferred, ".", *self._usual_folders]))
            quoted_only = [folder for folder, only_quoted in folders.items() if only_quoted]
            shadowing = [folder for folder in inferred if folder not in named and self._shadows(folder)]
            nearest = next((build.folder for build in builds if not build.of_a_call), "")
            defines = _one_each(
                define for build in builds if build.folder == nearest or not build.beside for define in build.defines
            )
            known = {define.partition("=")[0] for define in defines}
            computed = [name for build in builds for name in build.computed]
            units.append(
                Unit(
                    path,
                    language,
                    includes=tuple(dict.fromkeys([*named, *(name for name in inferred if name not in shadowing)])),
                    quote_includes=tuple(sorted({*quoted_only, *shadowing})),
                    last_includes=tuple(shadowing),
                    headers=tuple(sorted(outside)),
                    defines=defines,
                    undefines=tuple(dict.fromkeys(name for build in builds for name in build.undefines)),
                    computed=tuple(dict.fromkeys(name for name in computed if name.split()[0] not in known)),
                    standard=max((build.standard for build in builds), default=0),
                    relocatable=any(build.relocatable for build in builds),
                    forced=forced,
                )
            )
        by_build = named_of([unit.path for unit in units], [(build.folder, build.sources) for build in self.builds])
        return [replace(unit, named=unit.path in by_build, extension=unit.path in extension) for unit in units]

    @property
    def _usual_folders(self) -> tuple[str, ...]:
        return ("include",) if any(path.startswith("include/") for path in self.files) else ()


def read_project(root: Path, foreign: Path | None = None) -> Project:
    """Read the sources, headers and build files below a folder. Links are followed for files, not for folders."""
    files: set[str] = set()
    includes: dict[str, tuple[tuple[str, bool], ...]] = {}
    device: set[str] = set()
    build_texts: list[tuple[str, str]] = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            place = Path(folder, name)
            path = place.relative_to(root).as_posix()
            suffix = suffix_of(name)
            build = is_build_file(name)
            if not build and suffix not in (*SOURCES, *HEADERS, ".py"):
                # Headers without a suffix exist; they matter only as something to be found.
                if not suffix:
                    files.add(path)
                continue
            try:
                if not place.is_file() or place.stat().st_size > _MAX_BYTES:
                    continue
                data = place.read_bytes()
            except OSError:
                continue
            if build or (suffix == ".py" and b"cpp_extension" in data):
                read = without_comments(data) if language_of(name) == "cmake" else data
                build_texts.append((path, read.decode("utf-8", "replace")))
            if build or suffix == ".py":
                continue
            files.add(path)
            if _KERNEL.search(data):
                device.add(path)
            includes[path] = tuple(spelled_includes(data))
    builds = [_build_file(root, path, text) for path, text in build_texts]
    builds += [call for path, text in build_texts if path.endswith(".py") for call in _calls(path, text, files)]
    return Project(
        root=root,
        files=frozenset(files),
        includes=includes,
        device=frozenset(device),
        builds=tuple(sorted(builds, key=_nearest_first)),
        foreign=foreign,
    )


def _nearest_first(build: BuildFile) -> tuple[bool, int, str]:
    return not build.of_a_call, -len(PurePosixPath(build.folder).parts), build.folder


_EXTENSION = re.compile(r"\bCUDAExtension\b")

# As written in -std= and CMAKE_CXX_STANDARD -> the standard, where it is newer than the compiler's default.
_STANDARDS = {"20": 20, "2a": 20, "23": 23, "2b": 23}


def _build_file(root: Path, path: str, text: str) -> BuildFile:
    standards = (_STANDARDS.get(next(filter(None, match.groups())), 0) for match in _STANDARD.finditer(text))
    macros = macros_of(path, text)
    return BuildFile(
        folder=path.rpartition("/")[0],
        includes=tuple(dict.fromkeys(_folders(root, path, text))),
        defines=macros.defines,
        standard=max(standards, default=0),
        relocatable=_RELOCATABLE.search(text) is not None,
        beside=language_of(path) == "make",
        sources=patterns(_of_compilers(text) if language_of(path) == "cmake" else text),
        undefines=macros.undefines,
        computed=tuple(f"{name} ({path})" for name in macros.computed),
        extension=path.endswith(".py") and _EXTENSION.search(text) is not None,
        exports=tuple(export_headers(commands(text.encode()))) if language_of(path) == "cmake" else (),
        forced=tuple(dict.fromkeys(_FORCED.findall(text))),
    )


_COMPILER = re.compile(r"nvcc|hipcc|clang|_COMPILER\b", re.I)


def _of_compilers(text: str) -> str:
    """A CMake file without the custom commands that make something else of a source, as a string for NVRTC, and
    without what stands for CUDA beside sources for AMD."""
    data = text.encode()
    kept, at = [], 0
    found = commands(data)
    shut = {command.at for command in beside_amd(found)}
    for command in found:
        custom = command.name.startswith("add_custom_") and not _COMPILER.search(command.arguments)
        if custom or command.at in shut:
            kept.append(data[at : command.at])
            at = command.close
    return b"".join([*kept, data[at:]]).decode()


def _calls(path: str, text: str, files: set[str]) -> Iterator[BuildFile]:
    """The extensions that a Python file builds when it runs, from the folder above it that has their sources."""
    for call in python_loads(text):
        folders = [parent.as_posix() for parent in PurePosixPath(path).parents]
        for folder in ["" if folder == "." else folder for folder in folders]:
            if any(posixpath.normpath(posixpath.join(folder, source)) in files for source in call.sources):
                computed = tuple(f"{name} ({path})" for name in call.computed)
                yield BuildFile(folder, (), call.defines, 0, False, False, call.sources, (), computed, True)
                break


def _one_each(defines: Iterable[str]) -> tuple[str, ...]:
    """The first definition of each macro: another target's may differ."""
    found: dict[str, str] = {}
    for define in defines:
        found.setdefault(define.partition("=")[0], define)
    return tuple(found.values())


def _near(root: Path, folder: str) -> bool:
    """Whether headers may be taken from there: the tree, or one beside it, as programs of one collection share them
    (`-I../common`). Another place of the machine is named by who runs rocport, not by a build file."""
    parts = PurePosixPath(folder).parts
    if ".." not in parts:
        allowed = root
    elif parts.count("..") == 1 and len(parts) > 1 and not parts[1].startswith("."):
        allowed = root.parent / parts[1]
    else:
        return False
    return Path(os.path.realpath(root / folder)).is_relative_to(allowed.resolve())


def _folders(root: Path, path: str, text: str) -> list[str]:
    """Include folders a build file names, if they exist.

    CMake and Meson ask whether the compiler has a header before they name the folder that stands in for it.
    """
    here = path.rpartition("/")[0]
    commanded = [word for match in _INCLUDE_COMMAND.finditer(text) for word in match[1].split()]
    spelled = [match[1] for match in _INCLUDE_FLAG.finditer(text)]
    for match in _PYTHON_INCLUDE.finditer(text):
        spelled += _QUOTED.findall(match[1])
    own = [folder for folder in _existing(root, here, commanded) if not _stands_in(root / folder)]
    return own + _existing(root, here, spelled)


def _stands_in(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _OF_THE_COMPILER)


def _existing(root: Path, here: str, spelled: Iterable[str]) -> list[str]:
    folders = []
    for item in spelled:
        item = item.strip("\"'")
        for variable in ("${CMAKE_CURRENT_SOURCE_DIR}", "${CMAKE_CURRENT_LIST_DIR}", "$(CURDIR)", "$(PWD)"):
            item = item.replace(variable, ".")
        bases = [here, ""]
        for variable in ("${CMAKE_SOURCE_DIR}", "${PROJECT_SOURCE_DIR}", "${CMAKE_HOME_DIRECTORY}"):
            if item.startswith(variable):
                item, bases = "." + item[len(variable) :], [""]
        if "$" in item or not item or os.path.isabs(item):
            continue
        for base in bases:
            folder = os.path.normpath(os.path.join(base, item))
            if _near(root, folder) and (root / folder).is_dir():
                folders.append(folder)
                break
    return folders
