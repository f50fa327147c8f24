"""C++, CMake, Make and Meson: tokens with the ROCm conditionals false; and data files by content."""

from __future__ import annotations

import pytest

from rocport.verify.nvidia import cfamily, cmake, data, make, meson, tokens
from rocport.verify.nvidia.model import Kind
from rocport.verify.nvidia.tokens import LexError

SOURCE = """\
#include <cuda_runtime.h>
#define TEXT(x) #x
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
static const char* raw = R"x(
#ifdef USE_ROCM " \\
)x";
#endif
int a\\
b = 1'000; // it's \\
   a comment
/* " */ auto s = u8"a\\"b";
"""


WHOLE = rb"""#define X/**/(a) a // c\
 d
#include <a.h>
#if __has_include(<b.h>) && A
int a\
b = R"(x
y)";  /* q
*/ 'c'
#else
#  import "z.h"
#endif
#ifndef USE_ROCM
  f(1'0);
#elif B
#endif
#if C
#elif defined USE_HIP
 g = a<b;
#endif
#include_next "k.h"
u8"p" L'q' \
r uR"s(t)s"\
v
#define Y"""
STREAM = [
    ("#define", 1, 1), ("X", 1, 1), ("(", 1, 1), ("a", 1, 0), (")", 1, 0), ("a", 1, 1), ("\n", 1, 1),
    ("#include", 3, 1), ("<a.h>", 3, 1), ("\n", 3, 1), ("#if (__has_include ( <b.h> )&&A)", 4, 1), ("int", 5, 1),
    ("ab", 5, 1), ("=", 6, 1), ('R"(x\ny)"', 6, 1), (";", 7, 0), ("'c'", 8, 1), ("#else", 9, 1), ("#import", 10, 1),
    ('"z.h"', 10, 1), ("\n", 10, 1), ("#endif", 11, 1), ("f", 13, 1), ("(", 13, 0), ("1'0", 13, 0), (")", 13, 0),
    (";", 13, 0), ("#if C", 16, 1), ("#elif defined(USE_HIP)", 17, 1), ("g", 18, 1), ("=", 18, 1), ("a", 18, 1),
    ("<", 18, 0), ("b", 18, 0), (";", 18, 0), ("#endif", 19, 1), ("#include_next", 20, 1), ('"k.h"', 20, 1),
    ("\n", 20, 1), ('u8"p"', 21, 1), ("L'q'", 21, 1), ("r", 22, 1), ('uR"s(t)s"', 22, 1), ("v", 23, 0),
    ("#define", 24, 1), ("Y", 24, 1), ("\n", 24, 1),
]  # fmt: skip


def test_a_condition_that_counts_is_no_gate() -> None:
    gate = b"#if defined(USE_ROCM) && __COUNTER__\nint y;\n#endif\n"
    plain = b"int x = __COUNTER__;\n"
    assert cfamily.tokens(gate + plain) != cfamily.tokens(plain)


def test_tokens_have_their_lines_and_the_blanks_before_them() -> None:
    found = cfamily.tokens(WHOLE)
    assert [(token.text, token.line, int(token.spaced)) for token in found] == STREAM
    assert [token.spaced for token in cfamily.tokens(b"#include <a.h>x")] == [True, True, False, True]
    assert [token.spaced for token in cfamily.tokens(b'R"(a)"b')] == [True, False]
    assert cfamily.comments(WHOLE) == ["/**/", "// c\\\n d", "/* q\n*/"]
    included = [("a.h", False, 3), ("b.h", False, 4), ("z.h", True, 10), ("k.h", True, 20)]
    assert list(cfamily.includes(found)) == included
    assert cfamily.defined(cfamily.tokens(b"#define USE_ROCM 1\n#undef HIP_VERSION\n#define A\nUSE_HIP")) == {
        "USE_ROCM",
        "HIP_VERSION",
    }


def test_a_directive_may_begin_with_a_digraph() -> None:
    streams = [cfamily.tokens(mark + b"include <a//b.h>\n" + mark + b"define A\nint a;") for mark in (b"#", b"%:")]
    assert [token.text for token in streams[1]] == [token.text for token in streams[0]]
    assert [token.text for token in streams[0]][:3] == ["#include", "<a//b.h>", "\n"]


@pytest.mark.parametrize(
    ("text", "line"),
    [(b"\n/* a", 2), (b'\nR"(a', 2), (b'a\n\nR"a b(c)a b"', 3), (b'R"' + b"d" * 17 + b"(a)" + b"d" * 17 + b'"', 1)],
)
def test_what_has_no_end_is_named_with_its_line(text: bytes, line: int) -> None:
    with pytest.raises(LexError) as found:
        cfamily.tokens(text)
    assert found.value.line == line
    assert cfamily.tokens(b'R"' + b"d" * 16 + b"(a)" + b"d" * 16 + b'"')


@pytest.mark.parametrize(
    ("text", "macros", "found"),
    [
        ("a", "", None),
        ("a; __LINE__", "", (2, 1, True)),
        ("__FILE__, __LINE__", "", (2, 1, False)),
        ("__FILE__ 2 3 4 5 6 7 8 __LINE__", "", (2, 1, False)),
        ("__FILE__ 2 3 4 5 6 7 8 9 __LINE__", "", (2, 1, True)),
        ("__LINE__ 2 3 4 5 6 7 __FILE__", "", (2, 1, False)),
        ("__LINE__ 2 3 4 5 6 7 8 __FILE__", "", (2, 1, True)),
        ("__FILE__ __LINE__ 2 3 4 5 6 7 8 __LINE__", "", (2, 1, True)),
        ("A", "A", (2, 1, True)),
        ("A", "B", None),
        ("\n#define A __LINE__\nb", "A", (3, 2, False)),
        ("\n#define A __LINE__\nb A", "A", (4, 3, True)),
        ("\n#define A b\n__LINE__", "", (4, 3, True)),
    ],
)
def test_a_line_number_that_moves(text: str, macros: str, found: tuple[int, int, bool] | None) -> None:
    new, old = (cfamily.tokens(f"{before}{text}".encode()) for before in ("\n", ""))
    assert cfamily.moved(new, old, frozenset(macros.split())) == found
    assert cfamily.moved(old, old, frozenset(macros.split())) is None


def c_differs(new: str, old: str = SOURCE) -> bool:
    return bool(tokens.compare("f.cu", cfamily.tokens(new.encode()), cfamily.tokens(old.encode()), cfamily.GATE))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("auto s", "#ifdef USE_ROCM\nit's broken\n#endif\nauto s"),
        ("auto s", "#ifndef __HIP_PLATFORM_AMD__\nauto s"),
        (
            "#include <cuda_runtime.h>",
            "#if USE_ROCM\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif",
        ),
        ("__CUDA_ARCH__ >= 700", "(__CUDA_ARCH__ >= 700 || (defined(USE_ROCM) && X))"),
        ("__CUDA_ARCH__ >= 700", "__CUDA_ARCH__ >= 700 && !defined(__HIPCC__)"),
        ("__CUDA_ARCH__ >= 700", "__CUDA_ARCH__ >= 700 && HIP_VERSION < 60000000"),
        ("__CUDA_ARCH__ >= 700", "(defined(USE_ROCM) ? X : __CUDA_ARCH__ >= 700)"),
        ("#if defined(__CUDA_ARCH__)", "#ifdef USE_ROCM\nint x;\n#elif defined(__CUDA_ARCH__)"),
        ("#endif", "#elif defined(USE_ROCM)\nint x;\n#endif"),
        ("int a", "#ifdef USE_ROCM\n#if FOO\n#else\n#endif\n#endif\n  int   a"),
        ('/* " */', "/* other */ // comment\n"),
    ],
)
def test_rocm_conditionals_fold_to_the_original(old: str, new: str) -> None:
    made = SOURCE.replace(old, new, 1)
    if "#ifndef __HIP" in new:
        made += "#endif\n"
    assert made != SOURCE
    assert not c_differs(made)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("auto s", "#ifdef USE_CUDA\nauto s\n#endif"),
        ("auto s", "#ifndef USE_ROCM\n#else\nauto s\n#endif\n//"),
        ("__CUDA_ARCH__ >= 700", "__CUDA_ARCH__ >= 700 || !defined(USE_ROCM)"),
        ("__CUDA_ARCH__ >= 700", "__CUDA_ARCH__ >= 700 && defined(USE_ROCM)"),
        ("__CUDA_ARCH__ >= 700", "__CUDA_ARCH__ >= 701"),
        ("TEXT(x)", "TEXT (x)"),
        ('#ifdef USE_ROCM " \\', '#ifdef USE_ROCM  " \\'),
        ("1'000", "1000"),
        ('u8"a', 'u8"a '),
        ('u8"', '"'),
        ("// it's \\", "// it's"),
        ("#endif", "#else\n#endif"),
        ("#include <cuda_runtime.h>", '#include "cuda_runtime.h"'),
    ],
)
def test_tokens_that_reach_nvidia_differ(old: str, new: str) -> None:
    made = SOURCE.replace(old, new, 1)
    assert made != SOURCE
    assert c_differs(made)


@pytest.mark.parametrize("text", ["#if USE_ROCM\n", "#endif\n", "#else\n", "/* open\n", 'R"(open\n'])
def test_conditionals_that_do_not_fit_are_an_error(text: str) -> None:
    with pytest.raises(LexError):
        cfamily.tokens(text.encode())


def test_macros_that_the_sources_define_are_known() -> None:
    stream = cfamily.tokens(b"#define USE_ROCM 1\n#ifdef USE_ROCM\n#define __HIPCC__\n#endif\n")
    assert cfamily.defined(stream) == {"USE_ROCM"}
    kept = cfamily.tokens(b"#ifdef USE_ROCM\nint a;\n#endif\n", frozenset(["USE_ROCM"]))
    assert "a" in [token.text for token in kept]


CMAKE = """\
project(x LANGUAGES CXX CUDA) # comment
set(FLAGS "-O3 -DX" [[raw ]]] -DA="b c")
if(USE_CUDA AND NOT X VERSION_LESS 3)
  find_package(CUDAToolkit)
elseif(OTHER)
  other()
endif()
"""


def cmake_differs(new: str, old: str = CMAKE) -> bool:
    return bool(tokens.compare("c", cmake.stream(new.encode()).tokens, cmake.stream(old.encode()).tokens, cmake.GATE))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("project(", 'option(USE_ROCM "AMD" OFF)\nproject('),
        ("other()", "if(USE_ROCM)\n hip()\nelse()\n OTHER( )\nendif()"),
        ("other()", "other()\nif(USE_ROCM AND FOO)\n hip()\nendif()"),
        ("if(USE_CUDA AND", "if(NOT USE_ROCM AND USE_CUDA AND"),
        ("elseif(OTHER)", "elseif(USE_ROCM)\n hip()\nelseif(OTHER)"),
        ("if(USE_CUDA", "if(USE_ROCM)\n hip()\nelseif(USE_CUDA"),
    ],
)
def test_cmake_gates_fold_to_the_original(old: str, new: str) -> None:
    assert not cmake_differs(CMAKE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("project(", 'option(USE_ROCM "AMD" ON)\nproject('),
        ("project(", "set(USE_ROCM OFF)\nproject("),
        ("other()", "if(NOT USE_ROCM)\nelse()\nother()\nendif()"),
        ("if(USE_CUDA AND", "if(USE_ROCM OR X AND USE_CUDA AND"),
        ("if(USE_CUDA", 'if("USE_ROCM" AND USE_CUDA'),
        ('"-O3 -DX"', '"-O3  -DX"'),
        ('"-O3 -DX"', "-O3 -DX"),
        ("[[raw ]]", "[[raw]]"),
        ("LANGUAGES CXX CUDA", "LANGUAGES CXX CUDA HIP"),
    ],
)
def test_cmake_that_reaches_nvidia_differs(old: str, new: str) -> None:
    made = CMAKE.replace(old, new, 1)
    assert made != CMAKE
    assert cmake_differs(made)


def test_a_gate_that_something_switches_on_is_no_gate() -> None:
    assert cmake.untrusted(b"if(FOO)\nset(USE_ROCM ON)\nendif()") == {"USE_ROCM": 2}
    assert cmake.untrusted(b"add_definitions(-DUSE_ROCM)") == {"USE_ROCM": 1}
    assert cmake.untrusted(b"if(USE_ROCM)\nadd_definitions(-DUSE_ROCM)\nendif()\noption(USE_ROCM x OFF)") == {}


MAKE = (
    "CC = nvcc\n# comment\nall: a.o\n\tnvcc -o a \\\n  b.cu # kept\n"
    "ifdef DEBUG\nX = 1\nelse ifeq ($(Y),2)\nX = 2\nendif\n"
)


def make_differs(new: str, old: str = MAKE) -> bool:
    return bool(tokens.compare("m", make.stream(new.encode()).tokens, make.stream(old.encode()).tokens, make.GATE))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CC = nvcc", "USE_ROCM ?= 0\nifeq ($(USE_ROCM),1)\nCC = hipcc\nelse\n  CC = nvcc\nendif"),
        ("CC = nvcc", "ifdef USE_ROCM\nCC = hipcc\nelse\nCC = nvcc\nendif"),
        ("CC = nvcc", "ifneq ($(strip $(USE_ROCM)),1)\nCC = nvcc\nelse\nCC = hipcc\nendif"),
        ("CC = nvcc", 'ifeq "$(USE_ROCM)" "1"\nCC = hipcc\nelse\nCC = nvcc\nendif'),
        ("else ifeq ($(Y),2)", "else ifeq ($(USE_ROCM),1)\nX = 3\nelse ifeq ($(Y),2)"),
        ("# comment", "\n\n# another"),
    ],
)
def test_make_gates_fold_to_the_original(old: str, new: str) -> None:
    assert not make_differs(MAKE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CC = nvcc", "USE_ROCM ?= 0\nifdef USE_ROCM\nCC = hipcc\nelse\nCC = nvcc\nendif"),
        ("CC = nvcc", "USE_ROCM ?= 0\nifneq ($(USE_ROCM),)\nCC = hipcc\nelse\nCC = nvcc\nendif"),
        ("CC = nvcc", "USE_ROCM ?= 1\nCC = nvcc"),
        # Empty here, 0 in somebody's environment: both are off.
        ("CC = nvcc", "ifneq ($(strip $(USE_ROCM)),)\nCC = hipcc\nelse\nCC = nvcc\nendif"),
        ("CC = nvcc", "ifeq ($(USE_ROCM),0)\nCC = hipcc\nelse\nCC = nvcc\nendif"),
        ("CC = nvcc", "USE_ROCM := 1\nifeq ($(USE_ROCM),1)\nCC = hipcc\nelse\nCC = nvcc\nendif"),
        ("CC = nvcc", "ifeq ($(USE_ROCM),1)\nelse\nCC = hipcc\nendif"),
        ("\tnvcc", "        nvcc"),
        ("# kept", ""),
        ("ifdef DEBUG", "ifndef DEBUG"),
    ],
)
def test_make_that_reaches_nvidia_differs(old: str, new: str) -> None:
    made = MAKE.replace(old, new, 1)
    assert made != MAKE
    assert make_differs(made)


MESON = "project('x', 'cpp')\nif debug\n  a()\nelse\n  b([1,\n  2])\nendif\n"


def meson_differs(new: str) -> bool:
    return bool(tokens.compare("m", meson.tokens(new.encode()), meson.tokens(MESON.encode()), meson.GATE))


def test_meson_gates() -> None:
    gated = "if get_option('use_rocm')\n hip()\nelse\n  a()\nendif"
    assert not meson_differs(MESON.replace("a()", gated))
    assert not meson_differs(MESON.replace("if debug", "if get_option('use_rocm')\n hip()\nelif debug"))
    assert not meson_differs(MESON.replace("a()", "if not get_option('use_rocm')\na()\nendif"))
    assert meson_differs(MESON.replace("a()", gated.replace("if get", "if not get")))
    assert meson_differs(MESON.replace("a()", "a()\n  hip()"))
    other = meson.tokens(b"if a\nelif not get_option('use_rocm')\n b()\nelse\n c()\nendif\n")
    assert [(item.text, item.line) for item in other if item.text in ("else", "b", "c")] == [("else", 2), ("b", 3)]
    inner = (
        b"if a\n if get_option('use_rocm')\n  if b\n   c()\n  else\n   d()\n  endif\n endif\n e()\nelse\n f()\nendif\n"
    )
    assert [item.text for item in meson.tokens(inner) if item.text in "acdef"] == ["a", "e", "f"]
    with pytest.raises(LexError):
        meson.tokens(b"if x\n")
    ours = b"option('use_rocm', type: 'boolean', value: false, description: 'AMD')\n"
    assert meson.options(ours) == ([], frozenset(["use_rocm"]))
    assert meson.options(ours.replace(b"false", b"true"))[0]


def kinds(found: list[tokens.Difference]) -> list[Kind]:
    return [item.kind for item in found]


def test_requirements_are_compared_by_their_lines() -> None:
    old = b"torch>=2\n# why\nnumpy  # note\n"
    assert data.requirements("r", b"# other\ntorch>=2\nnumpy\n", old) == []
    assert kinds(data.requirements("r", b"torch>=2.1\nnumpy\n", old)) != []
    assert kinds(data.requirements("r", b"numpy\ntorch>=2\n", old)) != []


def test_toml_may_gain_what_is_asked_for_by_name() -> None:
    old = b"[project]\nname = 'x'\ndependencies = ['torch']\n"
    assert data.toml("p", old + b"[project.optional-dependencies]\nrocm = ['amdsmi']\n", old) == []
    assert data.toml("p", old + b"# comment\n[tool.rocport]\nwarp = 'native'\n", old) == []
    assert kinds(data.toml("p", old.replace(b"'torch'", b"'torch', 'amdsmi'"), old)) == [Kind.DIFFERENCE]
    assert kinds(data.toml("p", old + b"[tool.pytest]\nx = 1\n", old)) == [Kind.DIFFERENCE]
    assert kinds(data.toml("p", b"[project]\nname = 'x'\n", old)) == [Kind.DIFFERENCE]
    extras = old + b"[project.optional-dependencies]\nall = ['a']\n"
    assert kinds(data.toml("p", extras.replace(b"'a'", b"'a', 'b'"), extras)) == [Kind.DIFFERENCE]


def test_other_data() -> None:
    assert data.json_content("j", b'{"a": 1,\n "b": [2]}', b'{"a":1,"b":[2]}') == []
    assert kinds(data.json_content("j", b'{"b": [2], "a": 1}', b'{"a":1,"b":[2]}')) == [Kind.DIFFERENCE]
    assert kinds(data.json_content("j", b'{"a": true}', b'{"a": 1}')) == [Kind.DIFFERENCE]
    cfg = b"[options]\npackages = find:\n"
    assert data.ini("s", cfg + b"[options.extras_require]\nrocm = amdsmi\n", cfg) == []
    assert kinds(data.ini("s", cfg + b"zip_safe = no\n", cfg)) == [Kind.DIFFERENCE]
    more = data.manifest_in("m", b"include a\nrecursive-include hip *\n", b"include a\n")
    assert kinds(more) == [Kind.REVIEW]
    assert kinds(data.manifest_in("m", b"include a\nexclude b\n", b"include a\n")) == [Kind.DIFFERENCE]
    assert kinds(data.by_lines("t", b"\0a", b"\0b")) == [Kind.DIFFERENCE]


def test_macros_made_of_a_line_number_are_found_from_text_to_text_and_each_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [
        b"#define LAST \xff + 1\n#define OTHER 1\n",
        b"#define FIRST __LINE__\n#define SECOND(x) FIRST + \\\n x\n#define TOLD f(__FILE__, __LINE__)\n",
        b"#define \xff SECOND(2)\n#define ROUND ROUND + FIRST\n",
        b"#if LAST\n#define BROKEN LAST\n",
    ]
    read: list[bytes] = []
    tokens_of = cfamily.tokens
    monkeypatch.setattr(cfamily, "tokens", lambda text: read.append(text) or tokens_of(text))
    for given in (texts, texts[::-1]):
        read.clear()
        assert cfamily.line_macros(given) == {"FIRST", "SECOND", "\udcff", "ROUND", "LAST"}
        assert sorted(read) == sorted(texts)
    assert cfamily.line_macros(texts[:1]) == frozenset()
