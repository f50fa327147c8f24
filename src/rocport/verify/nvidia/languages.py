"""What a file is, by its name: how it is compared."""

from __future__ import annotations

_C = frozenset(
    [
        ".c",
        ".cc",
        ".cpp",
        ".cxx",
        ".c++",
        ".cu",
        ".cuh",
        ".cup",
        ".h",
        ".hh",
        ".hpp",
        ".hxx",
        ".h++",
        ".hip",
        ".inl",
        ".inc",
        ".ipp",
        ".tpp",
        ".tcc",
        ".m",
        ".mm",
        ".cl",
        ".s",
    ]
)
_BY_SUFFIX = {
    ".py": "python",
    ".ipynb": "notebook",
    ".cmake": "cmake",
    ".mk": "make",
    ".mak": "make",
    ".toml": "toml",
    ".cfg": "ini",
    ".ini": "ini",
    ".json": "json",
    ".sh": "shell",
    ".bash": "shell",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".dockerfile": "docker",
    ".bzl": "bazel",
    ".pyx": "cython",
    ".pxd": "cython",
    ".md": "text",
    ".rst": "text",
}
_OF_MAKE = frozenset([".inc", ".include", ".config", ".conf", ".common", ".def", ".defs", ".rule", ".rules", ".vars"])
"""What Makefiles include, by the name that such files have: `make.inc`."""


def language(path: str) -> str:
    """`python`, `notebook`, `c` (with C++ and CUDA), `cmake`, `make`, `meson`, `meson-options`, `requirements`,
    `manifest`, `toml`, `ini`, `json`, `shell`, `docker`, `yaml`, `bazel`, `cython`, `text` or `other`."""
    name = path.rpartition("/")[2].lower()
    stem, dot, suffix = name.rpartition(".")
    suffix = dot + suffix if dot else ""
    if stem in ("make", "makefile", "gnumakefile") and suffix in _OF_MAKE:
        return "make"
    if suffix in _C:
        return "c"
    if name == "cmakelists.txt" or name.endswith(".cmake.in"):
        return "cmake"
    if name.startswith(("makefile", "gnumakefile")) and suffix not in (".py", ".md", ".am", ".txt"):
        return "make"
    if name.startswith(("dockerfile", "containerfile")) and suffix not in (".py", ".md", ".sh"):
        return "docker"
    if name == "meson.build":
        return "meson"
    if name in ("meson_options.txt", "meson.options"):
        return "meson-options"
    if name == "manifest.in":
        return "manifest"
    if suffix in (".txt", ".in") and ("require" in path.lower() or "constraint" in stem):
        return "requirements"
    if name in ("build", "build.bazel", "workspace", "workspace.bazel", "module.bazel"):
        return "bazel"
    if suffix == ".txt":
        return "text"
    return _BY_SUFFIX.get(suffix, "other")
