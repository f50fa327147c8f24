"""The translation units of a source tree, and the include folders each needs, without running its build."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

HIP_SUFFIXES = frozenset({".cu", ".hip"})
HOST_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".c", ".C", ".c++"})
_HEADER_SUFFIXES = frozenset(
    {".h", ".hpp", ".hh", ".hxx", ".h++", ".cuh", ".inl", ".inc", ".ipp", ".tpp", ".tcc", ".impl", ".def"}
)
_BUILD_FILES = frozenset({"CMakeLists.txt", "Makefile", "makefile", "GNUmakefile", "setup.py", "meson.build"})
_BUILD_SUFFIXES = frozenset({".cmake", ".mk"})
_SKIPPED = frozenset({"node_modules", "__pycache__", "CMakeFiles", "venv", "site-packages"})
_MAX_BYTES = 64 << 20

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?[ \t]*(<[^>\n]+>|\"[^\"\n]+\")", re.M)
# Headers of HIP, of the ROCm libraries, and of CUDA where the port left them.
_GPU_HEADER = re.compile(
    r"(?:hip|roc|rccl|miopen|roctracer|thrust/|cub/|hsa/|amd_|cu(?:da|blas|fft|rand|sparse|solver|dnn)|nccl|nvrtc"
    r"|nvToolsExt|nvml|(?:ATen|c10|torch/csrc)/(?:cuda|hip|native/(?:cuda|hip))/|cooperative_groups|mma\.h)"
)
_TORCH_HEADER = re.compile(r"(?:torch|ATen|c10|caffe2|THC|THH)/")
_STANDARD = re.compile(r"-std=(?:c|gnu)\+\+(\d\w)|CMAKE_(?:CXX|HIP|CUDA)_STANDARD\s+(\d\d)|cxx_std_(\d\d)")
_RELOCATABLE = re.compile(r"-rdc=true|-fgpu-rdc|--relocatable-device-code|SEPARABLE_COMPILATION|\s-dc\s")
_INCLUDE_FLAG = re.compile(r"(?:-I|-isystem)\s*([^\s'\",;()]+)")
_INCLUDE_COMMAND = re.compile(r"(?:target_)?include_directories\s*\(([^)]*)\)", re.I)
_PYTHON_INCLUDE = re.compile(r"include_(?:dirs|path)s?[\"']?\s*[=:+]+\s*(\[[^\]]*\])", re.S)
_QUOTED = re.compile(r"[\"']([^\"']+)[\"']")


@dataclass(frozen=True)
class Unit:
    """One translation unit. Paths are relative to the tree, with `/`."""

    path: str
    language: str
    """`hip`, `c++` or `c`."""
    includes: tuple[str, ...] = ()
    """Folders for `-I`, relative to the tree."""
    quote_includes: tuple[str, ...] = ()
    """Folders searched for quoted includes only."""
    headers: tuple[str, ...] = ()
    """What it includes, directly or through files of the tree, and is not in the tree; as spelled."""

    @property
    def torch(self) -> bool:
        return any(_TORCH_HEADER.match(header) for header in self.headers)

    @property
    def python(self) -> bool:
        return self.torch or any(h == "Python.h" or h.startswith("pybind11/") for h in self.headers)


@dataclass
class Project:
    """A source tree as its files and includes; build it with `read_project`."""

    root: Path
    files: frozenset[str]
    includes: dict[str, tuple[tuple[str, bool], ...]]
    """File -> (spelled name, quoted?) of every #include in it."""
    folders: tuple[str, ...] = ()
    """Include folders that the build files name and the tree has."""
    standard: int = 0
    """The newest C++ standard the build asks for where that is 20 or later; 0: none."""
    relocatable: bool = False
    """The build links device code across units (-rdc=true)."""
    foreign: Path | None = None
    """Headers found below this folder are never taken from the tree (the SDK's own include folder)."""
    _by_name: dict[str, list[str]] = field(default_factory=dict)

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
        return "." not in name or ("/" not in name and Path("/usr/include", name).exists())

    def closure(self, path: str) -> tuple[set[str], dict[str, bool], set[str]]:
        """(files of the tree it includes, include folders -> only for quoted names, names not of the tree)."""
        seen = {path}
        folders: dict[str, bool] = {}
        outside: set[str] = set()
        queue = [path]
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
        units = []
        for path in sorted(self.files):
            suffix = PurePosixPath(path).suffix
            if path in included or suffix not in HIP_SUFFIXES | HOST_SUFFIXES:
                continue
            _, folders, outside = self.closure(path)
            if suffix in HIP_SUFFIXES:
                language = "hip"
            elif path in changed or any(_GPU_HEADER.match(name) for name in outside):
                language = "c" if suffix == ".c" else "c++"
            else:
                continue
            inferred = [folder for folder, only_quoted in folders.items() if not only_quoted]
            quoted_only = [folder for folder, only_quoted in folders.items() if only_quoted]
            general = dict.fromkeys(
                [*self.folders, *sorted(inferred), ".", *(["include"] if self._has_include else [])]
            )
            units.append(Unit(path, language, tuple(general), tuple(sorted(quoted_only)), tuple(sorted(outside))))
        return units

    @property
    def _has_include(self) -> bool:
        return any(path.startswith("include/") for path in self.files)


def read_project(root: Path, foreign: Path | None = None) -> Project:
    """Read the sources, headers and build files below a folder. Links are followed for files, not for folders."""
    files: set[str] = set()
    includes: dict[str, tuple[tuple[str, bool], ...]] = {}
    build_texts: list[tuple[str, str]] = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            place = Path(folder, name)
            path = place.relative_to(root).as_posix()
            suffix = place.suffix
            build = name in _BUILD_FILES or suffix in _BUILD_SUFFIXES
            if not build and suffix not in HIP_SUFFIXES | HOST_SUFFIXES | _HEADER_SUFFIXES:
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
            if build:
                build_texts.append((path, data.decode("utf-8", "replace")))
                continue
            files.add(path)
            found = [match[1].decode("utf-8", "surrogateescape") for match in _INCLUDE.finditer(data)]
            includes[path] = tuple((text[1:-1].strip(), text[0] == '"') for text in found)
    standards = (
        _STANDARDS.get(next(filter(None, match.groups())), 0)
        for _, text in build_texts
        for match in _STANDARD.finditer(text)
    )
    return Project(
        root=root,
        files=frozenset(files),
        includes=includes,
        folders=tuple(dict.fromkeys(f for path, text in build_texts for f in _folders(root, path, text))),
        standard=max(standards, default=0),
        relocatable=any(_RELOCATABLE.search(text) for _, text in build_texts),
        foreign=foreign,
    )


# As written in -std= and CMAKE_CXX_STANDARD -> the standard, where it is newer than the compiler's default.
_STANDARDS = {"20": 20, "2a": 20, "23": 23, "2b": 23}


def _folders(root: Path, path: str, text: str) -> list[str]:
    """Include folders a build file names, if the tree has them."""
    here = path.rpartition("/")[0]
    spelled = [match[1] for match in _INCLUDE_FLAG.finditer(text)]
    for match in _INCLUDE_COMMAND.finditer(text):
        spelled += match[1].split()
    for match in _PYTHON_INCLUDE.finditer(text):
        spelled += _QUOTED.findall(match[1])
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
            if not folder.startswith("..") and (root / folder).is_dir():
                folders.append(folder)
                break
    return folders
