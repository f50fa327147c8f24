"""What a file is by its name: the one table of suffixes. Suffixes are lower case with their dot."""

from __future__ import annotations

import os
import re

from rocport.model.paths import vendored

CUDA_SOURCES = (".cu", ".cup")
KERNEL_SOURCES = (*CUDA_SOURCES, ".hip")
"""Files a HIP compiler takes for device code by their name."""
HOST_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++")
HEADERS = (
    ".h",
    ".hpp",
    ".hh",
    ".hxx",
    ".h++",
    ".cuh",
    ".inl",
    ".inc",
    ".ipp",
    ".tpp",
    ".tcc",
    ".impl",
    ".def",
    ".cuinl",
    ".cui",
    ".txx",
    ".icc",
)
"""Files that are included and may hold code."""
SOURCES = (*KERNEL_SOURCES, *HOST_SOURCES)
"""Files that are translation units."""
BUILD_FILES = frozenset({"cmake", "make", "meson"})
"""Languages of the files that say how units are compiled; `setup.py` is Python that does."""

_LANGUAGES = {
    ".py": "python",
    ".pyi": "other",
    ".cmake": "cmake",
    ".ipynb": "notebook",
    ".sh": "shell",
    ".bash": "shell",
    ".toml": "toml",
    ".cfg": "toml",
    ".mk": "make",
    ".mak": "make",
    ".slurm": "shell",
    ".sbatch": "shell",
    ".pbs": "shell",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".dockerfile": "docker",
    ".bzl": "bazel",
    ".hip": "hip",
}
_MADE_OF = re.compile(r"(?:gnu)?make(?:file)?\.(?:inc|include|config|conf|common|defs?|rules|vars)")
"""What Makefiles include, whatever else its suffix may be of."""
_BACKUPS = (".bak", ".bkp", ".orig", ".old", ".save", ".rej")
"""What nobody builds."""
_NAMES = {
    "meson.build": "meson",
    "BUILD": "bazel",
    "BUILD.bazel": "bazel",
    "WORKSPACE": "bazel",
    "WORKSPACE.bazel": "bazel",
    "MODULE.bazel": "bazel",
    ".bazelrc": "bazel",
    "tox.ini": "toml",
    "Pipfile": "toml",
    "MANIFEST.in": "manifest",
    ".gitmodules": "gitmodules",
    ".env": "shell",
}


_NOT_BUILT = re.compile(r"(?i)(?:tests?|testing|examples?|samples?|docs?|benchmarks?|tutorials?|ci)/")
"""Folders of a library that who carries it along does not build."""


def language_of(path: str) -> str:
    """`cuda` for C, C++ and CUDA sources and headers; `python`, `notebook`, `cmake`, `make`, `requirements`, `toml`
    (with setup.cfg), `docker`, `shell`, `yaml`, `meson`, `bazel`, `manifest` (MANIFEST.in), `gitmodules`, `hip`;
    else `other`, as the workflows of a library that the tree carries along, which no service reads, and all but the
    sources of its tests and examples, which the project does not build."""
    language = _by_name(path)
    library = vendored(path) if language != "other" else ""
    beside = library and ("/.github/" in path or (language != "cuda" and _NOT_BUILT.match(path, len(library))))
    return "other" if beside else language


def _by_name(path: str) -> str:
    name = os.path.basename(path).lower()
    stem, suffix = os.path.splitext(name)
    if suffix == ".in":
        # What a build fills in: `kernels.cu.in`.
        suffix = os.path.splitext(stem)[1] or suffix
    if _MADE_OF.fullmatch(name):
        return "make"
    if suffix in (*CUDA_SOURCES, *HOST_SOURCES, *HEADERS):
        return "cuda"
    suffix = os.path.splitext(name)[1]
    if name == "cmakelists.txt" or name.endswith(".cmake.in"):
        return "cmake"
    if name.startswith(("dockerfile", "containerfile")) and suffix not in (".py", ".md", ".sh"):
        return "docker"
    if name.startswith(("makefile", "gnumakefile")) and suffix not in (".py", ".am", *_BACKUPS):
        return "make"
    if suffix in (".txt", ".in") and ("requirements" in path.lower() or "constraints" in stem):
        return "requirements"
    if os.path.basename(path) in _NAMES:
        return _NAMES[os.path.basename(path)]
    if name.startswith(".env.") or suffix == ".env":
        return "shell"
    return _LANGUAGES.get(suffix, "other")


def suffix_of(path: str) -> str:
    """`a/b.CU` -> `.cu`."""
    return os.path.splitext(path)[1].lower()


def is_build_file(path: str) -> bool:
    """True for a file that tells how the units below its folder are compiled."""
    return language_of(path) in BUILD_FILES or os.path.basename(path) == "setup.py"
