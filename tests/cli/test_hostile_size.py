"""Readers take time in proportion to what they read, and no nesting is too deep for them.

`python benchmarks/hostile.py --only linear` does the same up to 8 MB, with every text for every reader.
"""

from __future__ import annotations

import ast
import re
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

from rocport import explain
from rocport.binding import candidates
from rocport.cli import cli
from rocport.convergence import Unit, elsewhere
from rocport.doctor.capture import machine_from_text
from rocport.facts import symbols
from rocport.model import Context, Options, Problem, ProjectIndex
from rocport.project import defines
from rocport.project.build import BuildSource
from rocport.project.cmake import commands
from rocport.project.languages import language_of
from rocport.rules import discover
from rocport.rules.build import cmake_gate
from rocport.rules.cuda import (
    auto_parameter,
    own_guard,
    runtime_overload,
    shift_width,
    vector_value,
    warp_lockstep,
)
from rocport.rules.deps import install_order
from rocport.scan.engine import scan_file
from rocport.syntax.cuda import CudaSource
from rocport.syntax.project import build_index, names_of
from rocport.verify import nvidia
from rocport.verify.nvidia import cfamily, cmake, comments, gates, languages, python_names, text, tokens
from rocport.verify.nvidia.reach import Reach
from rocport.verify.nvidia.tree import Tree

# What is repeated; every byte of it can be read as the start of something.
PIECES = [
    b"(",
    b"[",
    b"{",
    b"<",
    b"((",
    b"<<<",
    b"a",
    b"a ",
    b" ",
    b"\t",
    b"\n",
    b"\\\n",
    b'"',
    b"'",
    b'"a"',
    b"/*",
    b"//",
    b"/* */",
    b"#",
    b"#if X\n",
    b"#ifdef __HIP__\n",
    b"#ifdef __CUDA_ARCH__\n__device__ int f(int x) { return x; }\n#endif\n",
    b"#if __CUDA_ARCH__ >= 700\n__device__ int f(int x) { return x; }\n#endif\n",
    b"#elif __CUDA_ARCH__ >= 700\n__device__ int f(int x) { return x; }\n",
    b"#define A \\\n",
    b"#include <",
    b"a(",
    b"a<",
    b"a::",
    b"a.",
    b"a,",
    b"0",
    b"0x",
    b"1 ",
    b"%1 ",
    b"-",
    b"- ",
    b"!",
    b"=",
    b"a=",
    b"a=(",
    b";",
    b"a;",
    b"$(",
    b"${",
    b"$(a ",
    b"if(",
    b"if (a) ",
    b"if(A)\n",
    b"else ",
    b"do ",
    b"for (;;) ",
    b"template <",
    b"template <class T> ",
    b"__global__ ",
    b"__shared__ int a[",
    b"asm(",
    b'asm("',
    b'asm volatile("mov.u32 %0, %1;" : ',
    b"{ .reg .u32 t; ",
    b"__shfl_sync(",
    b"k<<<a, b>>>(",
    b"k<<<",
    b"using A = ",
    b"typedef int ",
    b"namespace a {",
    b"operator",
    b"\xff",
    b"\xe2\x80\xa8",
    b'R"(',
    b'R"a(',
    b"L'",
    b"?",
    b"??/\n",
    b"import torch\n",
    b"if torch.cuda.is_available():\n ",
    b"lambda: ",
    b"not ",
    b"f'{",
    b'"""',
    b"a if b else ",
    b"@a\n",
    b"define a\n",
    b"ifeq (a,b)\n",
    b"a: b\n\tnvcc x\n",
    b"nvcc ",
    b"-gencode arch=compute_80,code=sm_80 ",
    b"FROM nvidia/cuda\n",
    b"- uses: a\n",
    b"- - ",
    b"a:\n ",
    b"[[",
    b"[a]\n",
    b"a=[",
    b"torch==2.0+cu118\n",
    b"[",
    b"#[[",
    b"[=[",
    b"Error: ",
    b'  File "a", line 1, in a\n',
    b"error: a\n",
    b"hipError",
    b"undefined symbol: ",
    b"ld ",
    b"a.cu ",
    b"USE_ROCM ",
    b"0x0 ",
    b"Traceback ",
    b"CUDA_",
]
FILES = ("a.cu", "CMakeLists.txt", "Makefile", "setup.py", "meson.build", "Dockerfile", "requirements.txt",
         "pyproject.toml", ".github/workflows/a.yml", "a.sh", "environment.yml", "a.ipynb", "a.hip", "BUILD",
         "MANIFEST.in", ".gitmodules")  # fmt: skip
"""A file of each language that a rule looks at: all rules are among the readers, without being named."""
PROVED = ("a.cu", "CMakeLists.txt", "Makefile", "setup.py", "meson.build", "meson_options.txt", "requirements.txt",
          "pyproject.toml", "setup.cfg", "a.json", "MANIFEST.in", "a.ipynb", "a.sh", "Dockerfile", ".gitlab-ci.yml",
          "BUILD", "a.pyx", "a.txt", "a.other")  # fmt: skip
"""A file of each language that the proof of the NVIDIA path reads."""
WIDE = 8.0
"""Four times the text in more than this many times the time is not linear: linear is 4, quadratic 16."""
SMALL = 4 << 10


class _TooLong(BaseException):
    """No reader catches it."""


def seconds(read: Callable[[bytes], object], text: bytes, most: float = 0.0) -> float:
    """Processor time of one reading, which is ended after `most`, if given."""

    def end(number: int, frame: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGPROF, end)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, most)
    try:
        read(text)
    except _TooLong:
        return max(time.process_time() - started, most)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.process_time() - started


def growth(read: Callable[[bytes], object], piece: bytes, size: int, times: int = 4) -> float:
    """How many times the time `times` the text takes: of each the least of some tries, since a machine has other
    work. A reading is ended at three times what would be linear."""
    read(piece)  # what it imports is there before it is timed
    small = large = 1e9
    for _ in range(5):
        small = min(small, seconds(read, piece * (size // len(piece))))
        large = min(large, seconds(read, piece * (times * size // len(piece)), 3 * times * max(small, 0.004)))
        if large <= 2 * times * max(small, 0.004):
            break
    return large / max(small, 0.004)


def armed(path: str) -> bytes:
    """What makes every rule of a file's language look at it, harmless by itself: a few of the words each asks for."""
    language = language_of(path)
    rules = [loaded.rule for loaded in discover() if language in loaded.rule.languages]
    words = sorted({word for rule in rules for word in sorted(rule.triggers, key=str)[:4]}, key=str)
    said = [word if isinstance(word, bytes) else word.encode() for word in words]
    return b"; ".join(said) + b";\n" if language == "cuda" else b"# " + b" ".join(said) + b"\n"


def scanned(path: str, data: bytes, all_look: bool = True) -> object:
    data = armed(path) * all_look + data
    context = Context(Options(), build_index([path], [names_of(data)], frozenset()))
    found = scan_file(path, data, language_of(path), context)
    assert isinstance(found, list | Problem), found
    return found


def all_rules(path: str) -> Callable[[bytes], object]:
    return lambda data: scanned(path, data)


def proved(path: str) -> Callable[[bytes], object]:
    """The proof of the NVIDIA path, where a file has a line more and there is a new file beside."""

    def read(data: bytes) -> object:
        with tempfile.TemporaryDirectory() as folder:
            old, new = Path(folder, "old"), Path(folder, "new")
            for root, more in ((old, b""), (new, b"\n")):
                root.mkdir()
                (root / "other").write_bytes(data)
                (root / path).write_bytes(data + more)
            (new / "hip").mkdir()
            (new / "hip" / "k.cu").write_bytes(b"int x;\n")
            return nvidia.verify(new, old)

    return read


def in_a_kernel(data: bytes) -> object:
    return scanned("a.cu", b"__global__ void k(int *a, int n) {\n" + data + b"\n}\n", all_look=False)


READERS: dict[str, Callable[[bytes], object]] = {
    **{path: all_rules(path) for path in FILES},
    "in a kernel": in_a_kernel,
    "cmake commands": commands,
    "cmake defines": lambda data: defines.macros_of("a.cmake", data.decode("utf-8", "replace")),
    "build lines": lambda data: [BuildSource("a", data, kind).lines for kind in ("cmake", "make", "shell", "docker")],
    "log": lambda data: explain.read_bytes(data, "log"),
    "capture": lambda data: machine_from_text(data.decode("utf-8", "replace")),
    "device functions": elsewhere.meets_of,
    **{f"nvidia-unchanged {path}": proved(path) for path in PROVED},
}


def texts(name: str) -> list[bytes]:
    """What a reader is given, repeated: every piece, and for the rules of a language an example of each of them, or
    what stands in its functions."""
    language = "cuda" if name == "in a kernel" else language_of(name) if name in FILES else ""
    found = dict.fromkeys(PIECES)
    for loaded in discover():
        examples = [one for one in loaded.rule.examples if language_of(one.path) == language and len(one.before) < 1024]
        for example in examples[:1]:
            whole = example.before.encode()
            inner = re.findall(rb"\{ ?([^\n]+?) ?\}$", whole, re.MULTILINE)
            found.update(dict.fromkeys(inner if name == "in a kernel" else [whole]))
    return list(found)


NESTED = [
    b"(",
    b"[",
    b"{",
    b"<",
    b"if(",
    b"#if X\n",
    b"do ",
    b"a.",
    b"- ",
    b"not ",
    b"namespace a {",
    b"define a\n",
    b"ifeq (a,b)\n",
    b"$(",
]


def nested(path: str, piece: bytes, depth: int = 100_000) -> None:
    """Raises RecursionError, or what a reader makes of it."""
    scanned(path, piece * depth)


def test_no_language_is_forgotten() -> None:
    asked = {language for loaded in discover() for language in loaded.rule.languages}
    assert asked <= {language_of(path) for path in FILES}
    told = re.findall(r"`([\w-]+)`", str(languages.language.__doc__))
    assert len(told) > 15 and set(told) <= {languages.language(path) for path in PROVED}


@pytest.mark.parametrize("path", PROVED)
def test_the_proof_meets_no_nesting_that_is_too_deep(path: str) -> None:
    assert proved(path)(b"(" * 100_000)


@pytest.mark.parametrize("path", ["setup.py", "a.ipynb"])
def test_the_proof_meets_no_words_that_are_too_many_for_python_s_parser(path: str) -> None:
    words = b"a " * 2000
    with pytest.raises(MemoryError):
        ast.parse(words)
    cell = b'{"cells": [{"cell_type": "code", "source": "%s"}]}' % words
    assert proved(path)(cell if path == "a.ipynb" else words)
    scanned(path, words)


@pytest.mark.parametrize(
    ("path", "piece"),
    [
        ("meson.build", b"if(A)\n"),
        ("Makefile", b" "),
        ("Makefile", b"a::"),
        ("Makefile", b"lambda: "),
        ("a.json", b"#if X\n"),
        ("setup.cfg", b"a=b\n"),
        ("requirements.txt", b"a("),
        ("a.cu", b"<"),
        ("a.cu", b"#include <"),
    ],
)
def test_the_proof_is_linear(path: str, piece: bytes) -> None:
    assert growth(proved(path), piece, 4 * SMALL) <= WIDE


@pytest.mark.parametrize("piece", [b"ld ", b"a.cu ", b"< ", b"< a ", b"< a > ", b"(" * 99 + b"\n"])
def test_who_reads_a_text_is_looked_for_in_linear_time(piece: bytes) -> None:
    def read(data: bytes) -> object:
        return text.patterns("a.sh", b"* " + data), list(text.named("a.sh", data, re.compile(rb"a\.cu")))

    assert growth(read, piece, 4 * SMALL) <= WIDE


@pytest.mark.parametrize(
    "piece", [b"for f in g('*.cu'):\n pass\n\n\n\n", b"a = g('*.cu')\nb = a\n\n\n\n", b"def f():\n a = '*.cu'\n\n\n\n"]
)
def test_who_reads_what_a_pattern_lists_is_looked_for_in_linear_time(piece: bytes) -> None:
    assert growth(lambda data: text.patterns("a.py", data + b"open(a)\n"), piece, 2 * SMALL) <= WIDE


@pytest.mark.parametrize("path", ["b.sh", "b.h", "Makefile"])
def test_who_sets_a_gate_is_looked_for_in_linear_time(path: str) -> None:
    def read(data: bytes) -> object:
        original = Tree({path: "file"}, lambda _: b"#" + data, "the original")
        return list(gates.switched(original, {"USE_ROCM": "a.cu"}, lambda *_: ast.Module([], [])))

    assert growth(read, b"USE_ROCM ", 8 * SMALL) <= WIDE


@pytest.mark.parametrize("piece", [b"USE_$", b"@", b". ", b"x @b.sh.", b"xcat b.sh "])
def test_pieces_of_a_gate_and_who_takes_a_file_up_are_looked_for_in_linear_time(piece: bytes) -> None:
    def read(data: bytes) -> object:
        texts = {"a.sh": b"#" + data, "b.sh": b"", "c.txt": b"x -DUSE_ROCM"}
        original = Tree(dict.fromkeys(texts, "file"), texts.__getitem__, "the original")
        names = {"USE_ROCM": "a.cu"}
        return list(gates.switched(original, names, lambda *_: ast.Module([], []))), "b.sh" in gates._TakenUp(original)

    assert growth(read, piece, 8 * SMALL) <= WIDE


@pytest.mark.parametrize("piece", [b"kernels \n", b"kernels/l_$x \n", b"kernels ", b"'kernels' ls "])
def test_who_names_a_folder_is_looked_for_in_linear_time(piece: bytes) -> None:
    def read(data: bytes) -> object:
        texts = {"a.sh": data, "kernels/a.py": b"", "kernels/l_b.cu": b""}
        new, old = (Tree(dict.fromkeys(paths, "file"), texts.__getitem__, "") for paths in (texts, list(texts)[:2]))
        return Reach(new, old, ("kernels/l_b.cu",), frozenset(), {}, texts.__getitem__).run()

    assert growth(read, piece, 8 * SMALL) <= WIDE


def test_macros_that_are_made_of_each_other_are_found_in_linear_time() -> None:
    def read(data: bytes) -> object:
        chain = [f"#define A{number} A{number + 1}\n" for number in range(len(data) // 20)]
        found = cfamily.line_macros(["".join([*chain, f"#define A{len(chain)} __LINE__"]).encode()])
        assert len(found) == len(chain) + 1
        return found

    assert growth(read, b"a", 2 * SMALL) <= WIDE


@pytest.mark.parametrize("piece", [b"dir(a)\n", b"f(globals())\n", b"class A: x = vars(m)\n", b"a.__dict__, "])
def test_who_looks_through_names_is_looked_for_in_linear_time(piece: bytes) -> None:
    def read(data: bytes) -> object:
        tree = ast.parse(b"import m as a\n" + data)
        return python_names.listed(tree, ()), list(python_names.listed_of(tree, {"a": ["m.py"]}, {"m.py": ["_R"]}))

    assert growth(read, piece, 2 * SMALL) <= WIDE


@pytest.mark.parametrize("piece", [b"A-", b"CHECK-", b"fall", b"CHECK", b"a "])
def test_comments_that_a_tool_reads_are_found_in_linear_time(piece: bytes) -> None:
    def read(data: bytes) -> object:
        return comments.of_c(b"// CHECK: x\n// " + data)

    assert growth(read, piece, 2 * SMALL) <= WIDE


def test_a_name_in_many_pieces_is_compared_at_once() -> None:
    assert cmake.gate_in_pieces("USE" + "${a}" * 100_000 + "ROCM", "USE_ROCM")
    assert not cmake.gate_in_pieces("USE" + "${a}" * 100_000 + "Z", "USE_ROCM")
    assert not cmake.gate_in_pieces("USE_R${a}ROCM", "USE_ROCM")
    assert cmake.gate_in_pieces("USE${a}O${b}M", "USE_ROCM") and not cmake.gate_in_pieces("USE${a}O${b}OM", "USE_ROCM")


def test_repetitive_tokens_are_aligned_in_linear_time() -> None:
    def read(data: bytes) -> object:
        return tokens.aligned(["x", *data.split()], ["y", *data.replace(b"a b", b"b").split()])

    assert growth(read, b"a b a b b ", SMALL // 8) <= WIDE


def test_a_cuda_source_is_read_in_linear_time() -> None:
    assert growth(lambda data: scanned("a.cu", data, all_look=False), b"<", SMALL) <= WIDE


@pytest.mark.parametrize(
    ("path", "piece"),
    [
        *(
            ("a.cu", piece)
            for piece in (b"__global__ ", b"__shared__ int a[", b"template <class T> ", b"#define A \\\n")
        ),
        *(("a.cu", piece) for piece in (b'R"(', b'R"a(')),
        *(("MANIFEST.in", piece) for piece in (b"a", b"//")),
        ("pyproject.toml", b"["),
        ("Makefile", b"CUDA_"),
    ],
)
def test_rules_do_not_read_on_from_every_place(path: str, piece: bytes) -> None:
    """What could begin something, again and again, and never ends."""
    assert growth(READERS[path], piece, 3 * SMALL) <= WIDE


@pytest.mark.parametrize(
    ("opening", "piece", "size"),
    [
        (b"", b"float lerp(float a, float b, float t) { return a; }\n", 8 * SMALL),
        (b"__global__ void k() {\n", b"void *p; q = p + 1;\n", 4 * SMALL),
        (b"__global__ void k(int *m) { while (true) { atomicCAS(m, 0, 1);\n", b"if (a < n) { b = c; }\n", SMALL),
    ],
)
def test_what_is_declared_or_asked_often_is_looked_up_in_linear_time(opening: bytes, piece: bytes, size: int) -> None:
    assert growth(lambda data: scanned("a.cu", opening + data + b"}}", all_look=False), piece, size) <= WIDE


@pytest.mark.parametrize(
    ("path", "piece"),
    [
        ("a.cu", b"#include <"),
        ("a.cu", b"namespace g { int cudaFree(void *p, int n); }\nusing g::cudaFree;\nvoid f() { g::cudaFree(p); }\n"),
        ("a.cu", b"#define cudaFree(p) (n++, cudaFree(p))\nvoid f() { cudaFree(p); }\n"),
        ("m.py", b"os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'backend:cudaMallocAsync'\n"),
        ("m.py", b"if torch.cuda.get_device_capability()[0] >= 8:\n    f()\n"),
        ("setup.py", b"if CUDA_HOME is None:\n    raise RuntimeError\n"),
        ("a.cu", b"bool f(cublasHandle_t h) { int rc = cublasDestroy(h); return rc == 7; }\n"),
        ("a.cu", b"void f(char *b, const cudaDeviceProp &p) { memcpy(b, &p, sizeof(p)); }\n"),
        ("a.cu", b"void f(CUdeviceptr d, const void *h, int n) { cuMemcpyHtoD(d, h, n); }\n"),
        ("a.cu", b"__device__ void f(__half2 *a, __half2 v) { atomicAdd(a, v); }\n"),
        ("CMakeLists.txt", b"add_library(x STATIC a.cu)\n"),
    ],
)
def test_what_concerns_all_findings_of_a_file_is_read_once(path: str, piece: bytes) -> None:
    assert growth(lambda data: scanned(path, data, all_look=False), piece, 3 * SMALL) <= WIDE


@pytest.mark.parametrize(
    ("rule", "opening", "piece"),
    [
        (shift_width, b"__device__ void f(int n, unsigned v) { g(", b"v << (32 - n), "),
        (shift_width, b"__device__ void f(int n, unsigned v) { g(", b"(1u << n) - 1u, "),
        (shift_width, b"__device__ void f(int n, unsigned v) { ", b"n = v; v = (1u << n) - 1u; "),
        (shift_width, b"__device__ void f(int n, int v) { ", b"n = v; v = v & ((1 << n) - 1); "),
        (vector_value, b"void f() { g(", b"v, constexpr float4 v, v, v, v, v, v, v, v, v, v, v, v, v, v, "),
        (warp_lockstep, b"__global__ void k(int n) { for (;;n <<= 1, 32", b", n <<= 1"),
        (auto_parameter, b"__device__ void f(", b"auto a, "),
        (auto_parameter, b"__device__ ", b"x f(auto a) const "),
        (runtime_overload, b"#define CALL(f) check(cuda##f)\n", b"#define X\nCALL(MallocHost(&h, 4));\n"),
    ],
)
def test_uses_of_a_name_are_looked_at_once(rule: ModuleType, opening: bytes, piece: bytes) -> None:
    def read(data: bytes) -> object:
        return list(rule.check(CudaSource("a.cu", opening + data + b"); }"), Context()))

    assert growth(read, piece, SMALL // 2) <= WIDE


def test_what_is_looked_for_before_a_place_is_found_without_reading_up_to_there() -> None:
    def read(data: bytes) -> object:
        source = CudaSource("a.cu", b"f(" + data + b"); g()")
        return {source.since(at, b";", b"{") for at in range(len(source.texts))}

    assert growth(read, b"a, ", SMALL // 2) <= WIDE


def test_what_follows_a_branch_is_no_copy() -> None:
    text = b"__global__ void k() { if (threadIdx.x) __syncthreads(); " + b"if (a) b(); " * 9 + b"}"
    (body,) = Unit(CudaSource("a.cu", text), ProjectIndex()).bodies
    assert [rest.first for _, _, rest in body.branches] == list(range(1, 11))
    assert all(rest.items is body.statements for _, _, rest in body.branches)


def test_variables_that_are_made_of_each_other_are_followed_in_linear_time() -> None:
    def read(data: bytes) -> object:
        length = len(data) // 16
        text = "".join(f"set(A{number} ${{A{number + 1}}})\n" for number in range(length))
        source = BuildSource("CMakeLists.txt", f"{text}set(A{length} a.cu)\nadd_library(x ${{A0}})\n".encode(), "cmake")
        assert cmake_gate.builds(source, source.commands[-1])
        return source

    assert growth(read, b"a", 2 * SMALL) <= WIDE


def test_whose_library_cuda_is_is_asked_once_a_file() -> None:
    context = Context(project=build_index([f"{name}/CMakeLists.txt" for name in "abc"], [], frozenset()))

    def read(data: bytes) -> object:
        source = BuildSource("CMakeLists.txt", data, "cmake")
        assert all(cmake_gate.links_driver(source, command, context) for command in source.commands)
        return source

    assert growth(read, b"link_libraries(a cuda)\n", 2 * SMALL) <= WIDE


def test_the_declaration_of_what_is_shuffled_is_found_in_linear_time() -> None:
    assert growth(READERS["in a kernel"], b"__shfl_sync(m, a, 1); ", 4 * SMALL) <= WIDE


def test_what_an_own_guard_holds_is_looked_at_no_further_than_its_end() -> None:
    def read(data: bytes) -> object:
        context = Context(Options(), build_index(["a.cu"], [names_of(data)], frozenset()))
        return list(own_guard.check(CudaSource("a.cu", data), context))

    assert growth(read, b"#ifdef WITH_CUDA\nf();\n#endif\n", 24 * SMALL) <= WIDE


@pytest.mark.parametrize("piece", [b"CUDA_", b"CUa_", b"CUDA_A_v1", b"CUa_st"])
def test_names_of_families_are_found_in_linear_time(piece: bytes) -> None:
    assert growth(symbols.in_families, piece, 4 * SMALL) <= WIDE


def test_names_that_a_file_may_declare_are_found_in_linear_time() -> None:
    def read(data: bytes) -> object:
        names = [b"n%d" % number for number in range(len(data) // 16)]
        return candidates(b";".join(b"f(" + name + b" + 1)" for name in names), frozenset(names))

    assert growth(read, b"a", 16 * SMALL) <= WIDE


@pytest.mark.parametrize("asked", [b"if __CUDA_ARCH__ >= 700", b"elif __CUDA_ARCH__ >= 700"])
def test_conditionals_over_the_architecture_are_read_in_linear_time(asked: bytes) -> None:
    piece = next(piece for piece in PIECES if piece.startswith(b"#" + asked + b"\n"))
    opening = b"#if __CUDA_ARCH__ >= 900\n"
    assert growth(lambda data: scanned("a.cu", opening + data, all_look=False), piece, 16 * SMALL) <= WIDE


def test_nested_conditionals_over_the_architecture_are_read_in_linear_time() -> None:
    piece = b"#if __CUDA_ARCH__ >= 700\n__device__ int f(int x) { return x; }\n"
    assert growth(lambda data: scanned("a.cu", data, all_look=False), piece, 24 * SMALL) <= WIDE


@pytest.mark.parametrize("name", ["CMakeLists.txt", "Makefile", "setup.py", "cmake commands", "log"])
def test_readers_are_linear(name: str) -> None:
    pieces = {"setup.py": (b"a ",), "log": (b"a ",)}.get(name, (b"a", b" "))
    for piece in pieces:
        assert growth(READERS[name], piece, SMALL) <= WIDE, (name, piece)


@pytest.mark.parametrize(
    "piece", [b"__device__ f(\n", b"__device__ f()\n", b"__device__ if()\n", b"__device__ ", b"__device__ x;\n"]
)
def test_device_functions_are_found_in_linear_time(piece: bytes) -> None:
    assert growth(lambda data: elsewhere.meets_of(data + b"f("), piece, 8 * SMALL) <= WIDE


@pytest.mark.parametrize("piece", [b"pip install ", b"pip install .[", b"a "])
def test_a_line_of_installations_is_read_in_linear_time(piece: bytes) -> None:
    def read(data: bytes) -> None:
        list(
            install_order.check(
                BuildSource("a.sh", data, "shell"), Context(Options(), build_index([], [], frozenset()))
            )
        )

    assert growth(read, piece, 4 * SMALL) <= WIDE


def test_a_line_of_nothing_but_the_start_of_a_message_is_read_as_fast_as_any_other() -> None:
    """Every place of such a line could begin the message."""

    def least(piece: bytes) -> float:
        return min(seconds(READERS["log"], piece * ((32 << 10) // len(piece))) for _ in range(3))

    assert least(b"undefined symbol: ") <= 3 * least(b"a")


@pytest.mark.parametrize("path", ["a.cu", "CMakeLists.txt", "Makefile", "setup.py"])
def test_no_nesting_is_too_deep(path: str) -> None:
    scanned(path, b"(" * 100_000, all_look=False)


def test_what_python_cannot_parse_is_named() -> None:
    found = scanned("setup.py", b"-" * 100_000)
    assert isinstance(found, Problem) and "too deep" in found.message


def test_lines_of_commands_are_counted() -> None:
    found = commands(b"a()\n# b()\nc(d\n e)\n\nif(f)\nendif()\n")
    assert [(item.name, item.line, item.end_line) for item in found] == [
        ("a", 1, 1), ("c", 3, 4), ("if", 6, 6), ("endif", 7, 7),
    ]  # fmt: skip


def test_a_chain_of_calls_is_followed_in_linear_time() -> None:
    def chain(length: int) -> bytes:
        links = (b"__device__ void f%d() { f%d(); }\n" % (number, number + 1) for number in range(length))
        return b"".join(links) + b"__device__ void f%d() { __syncthreads(); }\n" % length

    assert elsewhere.meets_of(chain(9))[0][b"f0"] == {elsewhere.BLOCK}
    few, many = (min(seconds(elsewhere.meets_of, chain(length)) for _ in range(3)) for length in (500, 2000))
    assert many / max(few, 0.004) <= WIDE


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = " + "9" * 9_000, "baseline = '/dev/zero'"])
@pytest.mark.parametrize("name", ["rocport.toml", "pyproject.toml"])
def test_what_toml_s_reader_does_not_take_is_named(tmp_path: Path, name: str, text: str) -> None:
    table = "[tool.rocport]\n" if name == "pyproject.toml" else ""
    (tmp_path / name).write_text(f"{table}{text}\n")
    done = CliRunner().invoke(cli, ["scan", str(tmp_path)], standalone_mode=False)
    assert done.exception is None or isinstance(done.exception, click.ClickException)
    assert proved(name)(text.encode())


def test_a_number_too_long_to_be_a_version_is_none() -> None:
    text = "ROCm version: {0}.{0}\ntorch {0}.1+rocm{0}.2\nHIP out of memory\n".format("9" * 9_000)
    assert explain.read_bytes(text.encode(), "log")
