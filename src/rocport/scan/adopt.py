"""Files whose name does not say that they are C++: those the sources include, and CUDA in languages nobody here reads.

`#include "kernel.impl"` makes its file a source, whatever its suffix; it is scanned and ported as one. A file of
another language that names CUDA's functions (Cython, Rust, Fortran, PTX), device code that a program reads as text
(`kernels/reduce.txt` for nvrtc) and the file of a build system that is not read (autoconf, SCons, qmake) are taken over
as they are, and said so. A file without a suffix whose first line names a shell is read as a script.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from rocport.model import Problem, SourceFile, SourceTree
from rocport.rules.cuda.kernel_in_string import CONSTRUCTS
from rocport.syntax.includes import include_names

_MACRO_HEADER = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+\w+[ \t]+[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_UNREAD = frozenset(
    """
    .pyx .pxd .pxi .rs .go .f90 .f95 .f03 .f08 .for .cuf .f .jl .i .swg .d .zig .java .cs .kt .m .mm .cl .j2 .jinja
    .jinja2 .mako .tmpl .tpl .template .m4 .lua .r .pl .rb .nim .hs .scala .swift .ml
    """.split()  # noqa: SIM905 - a table to read
)
_CODE = frozenset({".ptx", ".cubin", ".fatbin", ".sass"})
_CUDA = re.compile(
    rb"\b(?:cuda[A-Z]\w+|cu(?:blas|fft|rand|sparse|solver|dnn)[A-Z]\w+|cu(?:Mem|Module|Launch|Ctx|Device|Init|Stream)\w*"
    rb"|(?:using|import)[ \t]+CUDA|CuArray"
    rb"|__(?:global|device)__|__(?:shfl|ballot)\w*|nvrtc\w+|cuda_runtime(?:_api)?\.h|attributes\((?:global|device)|cudafor)\b"
)
_DATA = frozenset(
    """
    .md .rst .html .htm .tex .bib .adoc .org .css .js .ts .json .jsonl .csv .tsv .xml .svg .log .diff .patch .po
    .lock .png .jpg .jpeg .gif .bmp .tif .tiff .ico .webp .pdf .ps .eps .zip .gz .xz .bz2 .zst .tar .tgz .whl .jar
    .npy .npz .pt .pth .bin .dat .raw .h5 .hdf5 .onnx .pb .safetensors .ckpt .parquet .pkl .so .a .o .lib .dll
    .exe .mp4 .mp3 .wav .ttf .woff .obj .ply .stl .vtk .exr .hdr .ppm .pgm .mtx .nii .pyc .pyi .sh .bat .ps1 .gold
    .ref .out .sum
    """.split()  # noqa: SIM905 - a table to read
)
"""Suffixes under which nobody keeps the source of a kernel."""
_KERNEL = re.compile(
    rb"^[ \t]*(?:extern[ \t]+\"C\"[ \t]+)?(?:template[^\n;]*>[ \t]*)?__(?:global|device)__[^;\n]*\(", re.M
)
_PROSE = re.compile(rb"\A(?:\s+|//[^\n]*|/\*.*?\*/|\xef\xbb\xbf)*([^\n]*)", re.S)
_CODE_LINE = re.compile(
    rb"[ \t]*(?:#|extern\b|__|template\b|typedef\b|struct\b|using\b|namespace\b|const|static\b|inline\b|[%{$@])"
)
_BUILD_SYSTEM = re.compile(
    r"configure\.(?:ac|in)|.*\.(?:am|m4|pro|pri|gn|gni|gyp|gypi|vcxproj|props|nix|jam|bp)|build\.(?:rs|zig|sbt)|sconstruct"
    r"|sconscript|wscript|jamroot|jamfile|buck|targets|xmake\.lua|premake\d?\.lua|meta\.yaml|.*\.spec|tup(?:file|rules\.tup)"
    r"|.*\.(?:bat|cmd|ps1|vcxproj\.filters)|jenkinsfile|package\.json|tasks\.json|cmake(?:user)?presets\.json"
    r"|justfile|taskfile\.ya?ml|rakefile|build\.ninja|ninja\.build"
)
_ASKS_CUDA = re.compile(
    rb"\bnvcc\b|\bNVCC\b|\bcudart\b|-lcu(?:da|blas|fft|rand|sparse|solver|dnn)\w*|\blib(?:cuda|cublas|cufft)\w*\b"
    rb"|\bcuda(?:_path|_home|toolkit|-toolkit)\b|\bCUDA(?:_\w+)?\b|/usr/local/cuda|\.cuda\(true\)|\bcompute_\d\d"
    rb"|\bCMAKE_CUDA_\w+|\bCudaCompile\b|\badd_cugencodes\b|[\"']cu(?:blas|fft|rand|sparse|solver|dnn)[\"']"
)
_SHELL = re.compile(rb"#![ \t]*/\S*?(?:env[ \t]+)?(?:ba|da|z|k)?sh\b")
_LARGEST = 4 * 1024 * 1024


def adopt(tree: SourceTree) -> SourceTree:
    """The tree with the files its sources include among them, and a problem for each file of CUDA that nobody reads."""
    others = [file for file in tree.files if file.language == "other" and not _is_left_out(tree, file)]
    if not others:
        return tree
    included = dict(_included(tree))
    adopted: dict[str, SourceFile] = {}
    problems: list[Problem] = []
    for file in others:
        name = posixpath.basename(file.path)
        suffix = posixpath.splitext(name)[1].lower()
        if suffix in _CODE:
            message = "NVIDIA machine code or PTX, which no AMD GPU runs; copied: build it from its source"
            problems.append(Problem(file.path, message))
        elif name in included and _names_it(file.path, included[name]) and _is_text(file):
            adopted[file.path] = SourceFile(file.root, file.path, "cuda", file.size)
        elif suffix in _UNREAD and file.size <= _LARGEST and (found := _CUDA.search(_text(file))):
            shown = found.group().decode("latin-1")
            message = f"holds CUDA ({shown}) in a language that is not read here; copied: port it by hand"
            problems.append(Problem(file.path, message))
        elif _BUILD_SYSTEM.fullmatch(name.lower()):
            if file.size <= _LARGEST and (found := _ASKS_CUDA.search(_text(file))):
                shown = found.group().decode("latin-1")
                message = f"asks for CUDA ({shown}) in a build system that is not read here; copied: port it by hand"
                problems.append(Problem(file.path, message))
        elif not suffix and file.size <= _LARGEST and _SHELL.match(_text(file)):
            adopted[file.path] = SourceFile(file.root, file.path, "shell", file.size)
        elif suffix not in _DATA and file.size <= _LARGEST and (needs := _device_text(_text(file))):
            message = f"device code that is compiled at run time and uses {needs}; copied: translate it by hand"
            problems.append(Problem(file.path, message))
    if not adopted and not problems:
        return tree
    files = tuple(adopted.get(file.path, file) for file in tree.files)
    return replace(tree, files=files, problems=(*tree.problems, *problems))


def _text(file: SourceFile) -> bytes:
    """What a file holds, kept for who copies it; nothing for what is no text."""
    return file.content if isinstance(file.content, bytes) else b""


def _device_text(data: bytes) -> str:
    """What the text of a kernel uses that hiprtc does not take as it is; empty for prose and plain kernels."""
    if b"__global__" not in data or not _KERNEL.search(data):
        return ""
    begins = _PROSE.match(data)
    if begins is None or not _CODE_LINE.match(begins[1]):
        return ""
    found = sorted({b" ".join(item.split()) for item in CONSTRUCTS.findall(data)})
    return ", ".join(item.decode("utf-8", "replace") for item in found[:4])


def _is_left_out(tree: SourceTree, file: SourceFile) -> bool:
    return any(file.path == out or (out.endswith("/") and file.path.startswith(out)) for out in tree.left_out)


def _included(tree: SourceTree) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Last part of an included name -> (the file that includes it, the name as spelled)."""
    found: dict[str, list[tuple[str, str]]] = {}
    for file in tree.files:
        if file.language != "cuda" or not isinstance(file.content, bytes):
            continue
        names = include_names(file.content)
        if b"define" in file.content:
            names += [name.decode("utf-8", "replace") for name in _MACRO_HEADER.findall(file.content)]
        for name in names:
            found.setdefault(posixpath.basename(name), []).append((file.path, name))
    yield from found.items()


def _names_it(path: str, uses: list[tuple[str, str]]) -> bool:
    """True where an include names the file from beside its own, or by the end of its path."""
    return any(
        posixpath.normpath(posixpath.join(posixpath.dirname(where), name)) == path
        or f"/{path}".endswith("/" + name.lstrip("./"))
        for where, name in uses
    )


def _is_text(file: SourceFile) -> bool:
    return file.size <= _LARGEST and b"\0" not in file.read()
