"""A macro or variable that a gate of the port asks, and that the original already sets: on NVIDIA it may be on."""

from __future__ import annotations

import ast
import codecs
import itertools
import re
from pathlib import Path

import pytest

from rocport.verify import nvidia
from rocport.verify.nvidia import gates
from rocport.verify.nvidia.tree import Tree

C = "int a;\n"
GATED = "#ifdef {name}\nint b;\n#endif\nint a;\n"
CMAKE = "project(x)\n"


def verdict(tmp_path: Path, shared: dict[str, str], old: dict[str, str], new: dict[str, str]) -> nvidia.Proof:
    for name, files in (("old", {**shared, **old}), ("new", {**shared, **new})):
        for path, text in files.items():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    return nvidia.verify(tmp_path / "new", tmp_path / "old")


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("setup.py", "flags = ['-O2', '-DUSE_ROCM=0']\n", "USE_ROCM"),
        ("setup.py", "macros = [('USE_ROCM', '0')]\n", "USE_ROCM"),
        ("setup.py", "flags = ['--define-macro=USE_ROCM=0']\n", "USE_ROCM"),
        ("run.cpp", 'o.push_back("--define-macro=HIP_VERSION=0");\n', "HIP_VERSION"),
        ("run.cpp", 'std::map<std::string, int> macros = {{"HIP_VERSION", 0}};\n', "HIP_VERSION"),
        ("setup.py", "import os\nos.environ['USE_ROCM'] = '0'\n", "USE_ROCM"),
        ("setup.py", "import os\nos.environ.update(USE_ROCM='0')\n", "USE_ROCM"),
        ("setup.py", "macros = dict(HIP_VERSION=0)\n", "HIP_VERSION"),
        ("config.h.in", "#cmakedefine01 USE_ROCM\n", "USE_ROCM"),
        ("config.h", "#define HIP_VERSION 0\n", "HIP_VERSION"),
        ("config.h", "#cmakedefine01 USE_ROCM\n", "USE_ROCM"),
        ("config.hpp.in", "#define HIP_VERSION @V@\n", "HIP_VERSION"),
        ("CMakeLists.txt", "add_compile_definitions(HIP_VERSION=0)\n", "HIP_VERSION"),
        ("CMakeLists.txt", "target_compile_definitions(x PUBLIC USE_ROCM=0)\n", "USE_ROCM"),
        ("Makefile", "CXXFLAGS += -DHIP_VERSION=0\n", "HIP_VERSION"),
        ("CMakePresets.json", '{"cacheVariables": {"USE_ROCM": "OFF"}}\n', "USE_ROCM"),
        ("Dockerfile", "FROM x\nENV USE_ROCM 0\n", "USE_ROCM"),
        (".github/workflows/ci.yml", "env:\n  USE_ROCM: 0\n", "USE_ROCM"),
        ("build.sh", "export USE_ROCM=0\nmake\n", "USE_ROCM"),
        ("compile_flags.txt", "-DHIP_VERSION=0\n", "HIP_VERSION"),
        ("flags.txt", "-O3 -DUSE_ROCM=0\n", "USE_ROCM"),
        ("job.sh", "#!/bin/sh\n#OAR --export USE_ROCM=0\nmake\n", "USE_ROCM"),
        ("setup.py", "import os\nos.environ['CFLAGS'] += ' -D USE_ROCM=1'\n", "USE_ROCM"),
        ("setup.py", "flags = ['--define-macro USE_ROCM']\n", "USE_ROCM"),
        ("setup.py", "flag = b'-DUSE_ROCM'.decode()\n", "USE_ROCM"),
        ("setup.py", "import os\nos.system('export USE_ROCM=1; make')\n", "USE_ROCM"),
        ("setup.py", "run(['env', 'X=1 USE_ROCM=1', 'make'])\n", "USE_ROCM"),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": ["!nvcc -DUSE_ROCM a.cpp"]}]}', "USE_ROCM"),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": ["%env USE_ROCM=1\\n", "!make"]}]}', "USE_ROCM"),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": "%%bash\\nmake USE_ROCM=1"}]}', "USE_ROCM"),
        ("Makefile", "$(A)ROCM = 1\n", "USE_ROCM"),
        ("Makefile", "${A}_ROCM := 1\n", "USE_ROCM"),
        ("Makefile", "$(addprefix USE_,ROCM) = 1\n", "USE_ROCM"),
        ("Makefile", "V = $(subst X,ROCM,USE_X)\n$(V) = 1\n", "USE_ROCM"),
        ("Makefile", "define f\n$(1)_ROCM = 1\nendef\n$(eval $(call f,USE))\n", "USE_ROCM"),
        ("CMakeLists.txt", "string(REPLACE X ROCM L USE_X)\nset(${L} ON)\n", "USE_ROCM"),
        ("setup.py", "import os\nos.environ[f'{a}_ROCM'] = '1'\n", "USE_ROCM"),
        ("setup.py", "import os\nos.environ[a + '_ROCM'] = '1'\n", "USE_ROCM"),
        ("setup.py", "import os\nos.environ['%s_ROCM' % a] = '1'\n", "USE_ROCM"),
        ("setup.py", "import os\nos.environ['{}_{}'.format('USE', 'ROCM')] = '1'\n", "USE_ROCM"),
        ("build.sh", 'export "${a}_ROCM=1"\n', "USE_ROCM"),
        ("CMakePresets.json", '{"cacheVariables": {"${a}_VERSION": "1"}}\n', "HIP_VERSION"),
        ("build.bat", "set USE_ROCM=0\n", "USE_ROCM"),
        ("build.bat", "cl /DUSE_ROCM=0 a.cpp\n", "USE_ROCM"),
        ("jit.cpp", 'const char *options[] = {"-DUSE_ROCM=0"};\n', "USE_ROCM"),
        ("jit.cpp", 'auto head = R"(\n#define USE_ROCM 0\n)";\n', "USE_ROCM"),
        ("run.c", 'void f(void) { setenv("USE_ROCM", "0", 1); }\n', "USE_ROCM"),
        ("run.c", 'void f(void) { putenv("USE_ROCM=0"); }\n', "USE_ROCM"),
        (".bazelrc", "build --copt=-DUSE_ROCM=0\n", "USE_ROCM"),
        ("x.pro", "DEFINES += USE_ROCM=0\n", "USE_ROCM"),
        ("build.rs", 'cc.define("USE_ROCM", "0");\n', "USE_ROCM"),
        ("meson.build", "add_project_arguments('-DUSE_ROCM=0', language: 'c')\n", "USE_ROCM"),
        ("CMakeLists.txt", 'project(x)\nstring(APPEND F " -DUSE_ROCM=0")\n', "USE_ROCM"),
        ("a.txt", "#define USE_ROCM 0\n", "USE_ROCM"),
        ("a.yml", "flags: -DUSE_${backend}\n", "USE_ROCM"),
        ("build.sh", "# -DUSE_${A}\ncmake -DUSE_${A} ..\n", "USE_ROCM"),
        ("build.sh", "if [ a ]; then cmake -DUSE_ROCM=1; fi\n", "USE_ROCM"),
        ("run.py", "f(['a', '#define USE_ROCM 1'])\n", "USE_ROCM"),
        ("run.py", "environ['USE_ROCM'] = x\n", "USE_ROCM"),
        ("CMakeLists.txt", 'message("a") set(A -DUSE_ROCM=1)\n', "USE_ROCM"),
        ("a.cmake", "string(TOUPPER use_rocm g)\nadd_compile_definitions(${g})\n", "USE_ROCM"),
        ("build.sh", "n=use_rocm\nexport ${n^^}=1\n", "USE_ROCM"),
    ],
)
def test_a_gate_that_the_original_switches_is_not_taken_to_be_false(
    tmp_path: Path, path: str, text: str, name: str
) -> None:
    found = verdict(tmp_path, {path: text}, {"a.cpp": C}, {"a.cpp": GATED.format(name=name)})
    assert found.verdict in ("not decided", "changed"), found
    if found.verdict == "not decided":
        assert any(path in item.message and name in item.message for item in found.differences)


@pytest.mark.parametrize(
    ("text", "asked", "decided"),
    [
        ("USE_ROCM := 1", "ifeq ($(USE_ROCM),1)", False),
        ("USE_ROCM ?= 1", "ifeq ($(USE_ROCM),1)", False),
        ("USE_ROCM ?= 0", "ifeq ($(USE_ROCM),1)", True),
        ("USE_ROCM ?= 0", "ifdef USE_ROCM", False),
        ("all: export USE_ROCM := 1", "ifdef USE_ROCM", False),
        ("NAME = USE_ROCM", "ifdef USE_ROCM", False),
        ("$(foreach v,USE_ROCM X,$(eval $(v) = 1))", "ifdef USE_ROCM", False),
        ("all:\n\t$(MAKE) USE_ROCM=1", "ifdef USE_ROCM", False),
        ("X = $(USE_ROCM)", "ifdef USE_ROCM", True),
        ("export USE_ROCM", "ifdef USE_ROCM", True),
        ("help:\n\techo set USE_ROCM", "ifdef USE_ROCM", True),
        ("unexport USE_ROCM", "ifdef USE_ROCM", True),
    ],
)
def test_a_variable_of_make_that_another_makefile_sets_is_not_off(
    tmp_path: Path, text: str, asked: str, decided: bool
) -> None:
    old = {"Makefile": "include config.mk\nall: a\n"}
    new = {"Makefile": f"include config.mk\n{asked}\nX = 1\nendif\nall: a\n"}
    found = verdict(tmp_path, {"config.mk": f"{text}\n"}, old, new)
    assert found.verdict == ("unchanged" if decided else "not decided"), found.differences


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.cmake", 'cmake_parse_arguments(USE "ROCM" "" "" ROCM)\n'),
        ("a.cmake", 'cmake_parse_arguments(PARSE_ARGV 1 USE "A;ROCM" "" "")\n'),
        ("a.cmake", "string(JOIN _ NAME USE ROCM)\nset(${NAME} ON)\n"),
        ("build.py", "macros = [('_'.join(('USE', 'ROCM')), 0)]\n"),
    ],
)
def test_a_name_that_is_put_together_may_be_the_gate_s(tmp_path: Path, path: str, text: str) -> None:
    gated = {"CMakeLists.txt": "include(a.cmake)\nif(USE_ROCM)\n  f()\nendif()\n"}
    found = verdict(tmp_path, {path: text}, {"CMakeLists.txt": "include(a.cmake)\n"}, gated)
    assert found.verdict in ("not decided", "changed"), found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.py", "import os\nif os.environ.get('USE_ROCM') == '1':\n    print('rocm')\n"),
        ("a.h", "#ifdef USE_ROCM\nint x;\n#endif\n"),
        ("b.cpp", 'auto s = R"(a)";\n#ifdef __HIPCC__\n#define USE_ROCM 1\n#endif\n'),
        ("b.c", 'int f(void) { return getenv("USE_ROCM") != 0; }\n'),
        ("README.md", "Build with -DUSE_ROCM=ON\n"),
        ("build.sh", '# USE_ROCM=1 for AMD\nif [ "$USE_ROCM" = 1 ]; then exit 1; fi\n'),
        ("build_rocm.sh", "cmake -DUSE_ROCM=ON ..\n"),
        ("CMakeLists.txt", 'option(USE_ROCM "AMD" OFF)\nif(USE_ROCM)\n  message("rocm")\nendif()\n'),
        ("CMakeLists.txt", 'message(STATUS "for AMD: -DUSE_ROCM=ON")\nmessage("or\n -DUSE_ROCM=1")\n'),
        ("build.sh", "# cmake -DUSE_${A} ..\n"),
        ("build.sh", "# ${A}_ROCM=1\nx_ROCM=1\n"),
        ("a.ipynb", '{"cells": [{"cell_type": "markdown", "source": ["make USE_ROCM=1 for AMD"]}]}'),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": ["!echo $USE_ROCM==1"]}]}'),
        ("a.ipynb", '{"cells": ["USE_ROCM=1"]}'),
        ("run.py", "f('make USE_ROCM=1 is for AMD')\nrun('x $USE_ROCM=1 X_USE_ROCM=1')\n"),
        ("Makefile", "X = $(A)_ROCMS $(B)_CM\n"),
        ("run.py", "x = 'format MY_USE_ROCM_X'\n# '_'.join(('USE', 'ROCM'))\n"),
        ("a.c", 'char *a = "-DUSE_%s";\n'),
        ("notes.txt", "Build with USE_ROCM, or -DUSE_ROCM=1\n"),
        ("x.rs", "// USE_ROCM=1\n"),
        ("a.sh", "elif USE_ROCM\n"),
        ("b.c", 'char *a = "see USE_ROCM";\n'),
        ("run.py", "x = a['USE_ROCM']\ny = b == 'USE_ROCM'\nz = f(USE_ROCM=1)\nw = 'about USE_ROCM'\n"),
    ],
)
def test_a_gate_that_is_only_asked_is_one(tmp_path: Path, path: str, text: str) -> None:
    found = verdict(tmp_path, {path: text}, {"a.cpp": C}, {"a.cpp": GATED.format(name="USE_ROCM")})
    assert found.verdict == "unchanged", found.differences


def test_make_asks_whether_it_is_defined_and_a_container_sets_it(tmp_path: Path) -> None:
    shared = {"Dockerfile": "FROM x\nENV USE_ROCM=0\nRUN make\n"}
    gated = "ifdef USE_ROCM\nall: b\nendif\nall: a\n"
    assert verdict(tmp_path, shared, {"Makefile": "all: a\n"}, {"Makefile": gated}).verdict == "not decided"


@pytest.mark.parametrize(
    ("path", "text", "taker", "how"),
    [
        ("env-rocm.sh", "export USE_ROCM=1\n", "build.sh", "#!/bin/sh\n. ./env-rocm.sh\nmake\n"),
        ("hip.env", "USE_ROCM=1\n", "compose.yml", "services:\n  a:\n    env_file: hip.env\n"),
        ("flags.txt", "nvcc flags: -DUSE_ROCM=0\n", "Makefile", "all:\n\t$(NVCC) @flags.txt a.cu\n"),
        ("flags.txt", "$(X) -DUSE_ROCM=0\n", "build.sh", "nvcc --options-file flags.txt a.cu\n"),
        ("flags.txt", "$(X) -DUSE_ROCM=0\n", "build.sh", "nvcc $(<flags.txt) a.cu\n"),
    ],
)
def test_a_file_whose_text_another_one_takes_up_may_switch_a_gate(
    tmp_path: Path, path: str, text: str, taker: str, how: str
) -> None:
    gated = GATED.format(name="USE_ROCM")
    found = verdict(tmp_path / "taken", {path: text, taker: how}, {"a.cpp": C}, {"a.cpp": gated})
    assert found.verdict == "not decided", found
    assert any(path in item.message for item in found.differences)
    alone = verdict(tmp_path / "alone", {path: text, taker: f"see {path}\n"}, {"a.cpp": C}, {"a.cpp": gated})
    assert alone.verdict == "unchanged", alone


def test_who_takes_texts_of_flags_up_is_asked_of_the_tree_once() -> None:
    texts = {f"{number}.txt": b"x -DUSE_ROCM=1" for number in range(50)} | {"b.sh": b"nvcc @7.txt\n. ./8.txt"}
    asked: list[str] = []

    class Asked(Tree):
        def data(self, path: str) -> bytes:
            asked.append(path)
            return super().data(path)

    original = Asked(dict.fromkeys(texts, "file"), texts.__getitem__, "the original")
    found = gates.switched(original, {"USE_ROCM": "a.cu"}, lambda path, content: pytest.fail(path))
    assert {path for _, path, _ in found} == {"7.txt", "8.txt"}
    assert len(asked) <= 3 * len(texts)


NAMED = [
    "flags.txt",
    "my flags.txt",
    "flags@gpu.txt",
    "é.txt",
    "_flags.txt",
    "+flags.txt",
    "x-flags.txt",
    "a=b",
    "flags",
]
OPENINGS = ["@", "$(<", "< ", "<", "cat ", ". ", "source ./", "\tsource\t", "--options-file=$(ROOT)", "env_file: 'a/",
            "-optf ", "#include ", "include <", "see ", "xcat ", "source-optf ", "call=@call ", "source\n",
            "cat a cat ", "# cat ", " // @", "cat " + "a" * 90, "xcat " + "a" * 91, "cat " + "a" * 96,
            "@" + "a" * 100]  # fmt: skip


def taken_up_by(content: bytes, name: bytes) -> bool:
    """Every place of a name in a file, asked for what stands in front of it on its line."""
    for found in re.finditer(re.escape(name) + rb"(?!\.*[\w-])", content):
        start = content.rfind(b"\n", 0, found.start()) + 1
        before = content[max(start, found.start() - gates._NEAR) : found.start()]
        if not content[start : found.start()].lstrip().startswith((b"#", b"//")) and gates._TAKES.search(before):
            return True
    return False


def test_who_takes_a_file_up_is_what_each_place_of_its_name_says() -> None:
    texts = {
        f"{number}.sh": (f"make\n{first}{opening}{name}{last}\nmake\n").encode()
        for number, (first, opening, name, last) in enumerate(
            itertools.product(["", "x;", "@a <"], OPENINGS, NAMED, ["", ".bak", ".", "-b c"])
        )
    }
    answers: set[bool] = set()
    for path, content in texts.items():
        original = Tree({path: "file"}, lambda _, content=content: content, "the original")  # type: ignore[misc]
        taken_up = gates._TakenUp(original)
        for name in NAMED:
            answer = name in taken_up
            assert answer is taken_up_by(content, name.encode()), (content, name)
            answers.add(answer)
    assert answers == {True, False}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nvcc @my flags.txt", "my flags.txt"),
        ("nvcc @flags@gpu.txt", "flags@gpu.txt"),
        ("nvcc @é.txt", "é.txt"),
        ("nvcc --options-file=$(ROOT)_flags.txt", "_flags.txt"),
        ("cat +flags.txt", "flags.txt"),
        ("source x-flags.txt", "flags.txt"),
        ("then source flags.txt.", "flags.txt"),
        ("#!/bin/sh\n" + "x" * 3000 + " @flags.txt", "flags.txt"),
    ],
)
def test_a_file_is_taken_up_by_whatever_its_name_is_made_of(text: str, name: str) -> None:
    original = Tree({"a.sh": "file", name: "file"}, {"a.sh": text.encode(), name: b""}.__getitem__, "the original")
    assert name in gates._TakenUp(original)
    assert "a.sh" not in gates._TakenUp(original)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", b"USE_ROCM=1"),
        ("a_rocm.h", b"#define USE_ROCM 1"),
        ("a_rocm.txt", b"x -DUSE_ROCM"),
        ("a.bin", b"USE_ROCM=1 \0"),
        ("a.pgm", b"P5\n" + bytes(range(1, 32)) * 9 + b"\nUSE_ROCM=1"),
        ("a.jpg", bytes(range(128, 256)) + b"\nUSE_ROCM=1"),
        ("a.sh", b"true"),
        ("a.py", b"x.USE_ROCM"),
    ],
)
def test_what_stands_before_who_sets_a_gate_hides_nothing(path: str, text: bytes) -> None:
    texts = {path: text, "z.sh": b"\nexport USE_ROCM=0"}
    original = Tree(dict.fromkeys(texts, "file"), texts.__getitem__, "the original")
    found = list(gates.switched(original, {"USE_ROCM": "a.cu"}, lambda _, content: ast.parse(content)))
    assert found == [("USE_ROCM", "z.sh", 2)]
    linked = Tree({path: "link", "z.sh": "file"}, {**texts, path: b"USE_ROCM=1"}.__getitem__, "the original")
    assert list(gates.switched(linked, {"USE_ROCM": "a.cu"}, lambda _, content: ast.parse(content))) == found


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.sh", b"true\n" * 1_000_000 + b"USE_ROCM=0", 1_000_001),
        ("a.ps1", "true\n$env:USE_ROCM = 0\n".encode("utf-16"), 2),
        ("a.ps1", codecs.BOM_UTF16_BE + "$env:USE_ROCM = 0\n".encode("utf-16-be"), 1),
        ("a.run", b"#!/bin/sh\nUSE_ROCM=0 make\nexit\n\0\1", 2),
        ("a.py", b"print 'x'\nos.environ['USE_ROCM'] = '0'\n", 2),
        ("a.sh", "# \u8bbe\u7f6e\nexport USE_ROCM=0\n".encode(), 2),
        ("a.sh", "# \u8bbe\u7f6e\nexport USE_ROCM=0\n".encode("gbk"), 2),
    ],
)
def test_a_text_is_read_whatever_its_size_and_encoding(path: str, text: bytes, line: int) -> None:
    original = Tree({path: "file"}, lambda _: text, "the original")
    found = list(gates.switched(original, {"USE_ROCM": "a.cu"}, lambda _, content: ast.parse(content)))
    assert found == [("USE_ROCM", path, line)]


@pytest.mark.parametrize(
    ("before", "commented"),
    [
        (b"", False),
        (b"# ", True),
        (b"\n# ", True),
        (b"a\n# ", True),
        (b"\n \t// a ", True),
        (b"\na # ", False),
        (b"# a\n", False),
        (b"\n#" + b" " * 1998, True),
        (b"\n#" + b" " * 1999, False),
        (b"#" + b" " * 1999, True),
        (b"#" + b" " * 2000, False),
        (b"\n" + b"#" * 3000, False),
    ],
)
def test_a_line_that_begins_as_a_comment(before: bytes, commented: bool) -> None:
    assert gates._commented(before + b"NAME", len(before)) is commented
