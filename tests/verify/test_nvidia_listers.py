"""New files that build tools, scripts and programs which are not read could pick up: not decided, with the place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocport.verify import nvidia
from rocport.verify.nvidia import Kind, listers
from rocport.verify.nvidia.tree import Tree

CU = "__global__ void k() {}\n"


def proof(tmp_path: Path, original: dict[str, str], new: str) -> nvidia.Proof:
    for name, files in (("old", original), ("new", {**original, new: ""})):
        for path, text in files.items():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    return nvidia.verify(tmp_path / "new", tmp_path / "old")


CASES = [
    ("csrc/BUILD", 'cc_library(name = "x", srcs = glob(["*.cu"]))\n', "csrc/b.cu"),
    ("BUILD.bazel", 'filegroup(name = "x", srcs = glob(["csrc/**/*.cu"]))\n', "csrc/d/b.cu"),
    ("BUCK", 'cxx_library(name = "x", srcs = subdir_glob([("csrc", "*.cu")]))\n', "csrc/b.cu"),
    ("BUILD.gn", 'sources = exec_script("list.py", [ "csrc" ], "list lines")\n', "csrc/b.cu"),
    ("build.rs", 'fn main() { for e in std::fs::read_dir("csrc").unwrap() {} }\n', "csrc/b.cu"),
    ("build.rs", 'for e in glob("csrc/*.cu").unwrap() {}\n', "csrc/b.cu"),
    ("app.pro", "SOURCES += $$files(csrc/*.cu)\n", "csrc/b.cu"),
    ("premake5.lua", 'files { "csrc/**.cu" }\n', "csrc/b.cu"),
    ("package.json", '{"scripts": {"build": "nvcc csrc/*.cu"}}\n', "csrc/b.cu"),
    ("justfile", "build:\n    nvcc csrc/*.cu -o x\n", "csrc/b.cu"),
    ("build.sh", "find csrc -name '*.cu' | xargs nvcc\n", "csrc/b.cu"),
    ("build.sh", "for f in csrc/*.cu; do nvcc $f; done\n", "csrc/b.cu"),
    ("build.sh", "SRC=$(git ls-files csrc)\n", "csrc/b.cu"),
    ("build.sh", "if [ -f csrc/b.cu ]; then nvcc csrc/b.cu; fi\n", "csrc/b.cu"),
    ("build.sh", "nvcc ${ROOT}/csrc/*.{cu,cpp}\n", "csrc/b.cu"),
    (".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: nvcc csrc/*.cu\n", "csrc/b.cu"),
    ("src/load.cpp", 'for (auto& e : std::filesystem::directory_iterator("csrc")) load(e);\n', "csrc/b.cu"),
    ("src/load.cpp", 'DIR* d = opendir("csrc");\nwhile (readdir(d)) {}\n', "csrc/b.cu"),
    ("src/load.cpp", 'for (auto& e : fs::directory_iterator(dir))\n if (e.extension() == ".cu") f(e);\n', "csrc/b.cu"),
    ("tools/run.go", 'filepath.Walk("csrc", visit)\n', "csrc/b.cu"),
    ("pkg/load.py", "import os\nfor r, d, f in os.walk('csrc'):\n    pass\n", "csrc/b.cu"),
    (
        "pkg/load.py",
        "from pathlib import Path\nfor p in Path(ROOT).iterdir():\n    x(p.endswith('.cu'))\n",
        "csrc/b.cu",
    ),
    ("pkg/load.py", "import subprocess\nsubprocess.run('find csrc -name x', shell=True)\n", "csrc/b.cu"),
    ("pkg/load.py", "import os\nFAST = os.path.exists('csrc/b.cu')\n", "csrc/b.cu"),
    ("CMakeLists.txt", "if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/hip)\n  add_subdirectory(hip)\nendif()\n", "hip/b.txt"),
    ("Makefile", "all: a.o\n%.o: %.cu\n\tnvcc -c $<\n", "csrc/a.cu"),
    ("l.mk", "SRC := $(shell ls csrc/*.cu)\n", "csrc/b.cu"),
    ("l.mk", "SRC := $(shell find csrc -name '*.cu')\n", "csrc/b.cu"),
    ("a.cpp", "#define H <x.h>\n#include H\n", "csrc/b.h"),
    ("Makefile", "VPATH = csrc\nall: a.o\n", "csrc/a.cpp"),
    # Calls that no table holds: the folder is named.
    ("src/load.cpp", 'QDir d("csrc");\n', "csrc/b.cu"),
    ("build.sh", "rsync -a csrc/ build/\n", "csrc/b.cu"),
    ("build.sh", "cd csrc\nfor f in *; do nvcc $f; done\n", "csrc/b.cu"),
    ("build.sh", "fd -e cu . ./csrc | xargs nvcc\n", "csrc/d/b.cu"),
    ("load.R", 'f <- list.files("csrc")\n', "csrc/b.cu"),
    ("Load.cs", 'Directory.EnumerateFiles("csrc");\n', "csrc/b.cu"),
    ("app.vcxproj", '<CudaCompile Include="csrc\\*.cu" />\n', "csrc/b.cu"),
    ("package.json", '{"files": ["csrc"]}\n', "csrc/b.cu"),
    ("conanfile.py", 'exports_sources = "csrc/*"\n', "csrc/b.cu"),
    ("run.py", "import os\nfor r, d, f in os.walk(os.curdir):\n    pass\n", "csrc/d/b.cu"),
    # A file that was named, and was not there.
    ("src/load.cpp", 'std::ifstream f("csrc/b.cu");\n', "csrc/b.cu"),
    ("config.json", '{"extra": "b.cu"}\n', "csrc/b.cu"),
    # A pattern that takes a folder takes what lies in it.
    ("build.sh", "cp -r csrc/* build/\n", "csrc/new/b.cc"),
    ("build.xml", '<fileset dir="csrc" includes="*.cu"/>\n', "csrc/b.cu"),
    ("sources.txt", "csrc/old.cu\ncsrc/b.cu\n", "csrc/b.cu"),
    # Far into a line, or a text.
    ("a.json", f'{{"a": "{"x" * 5000}", "b": "nvcc csrc/*.cu"}}\n', "csrc/b.cu"),
    ("a.js", f'var a = "{"x" * 5000}"; f("csrc");\n', "csrc/b.cu"),
    ("build.sh", "# x\n" * 300_000 + "make -C csrc/\n", "csrc/b.cu"),
    # A line of YAML that is more than a path.
    ("templates/x.yaml", '{{ (.Files.Glob "csrc/*.cu").AsConfig }}\n', "csrc/b.cu"),
]


@pytest.mark.parametrize(("path", "text", "new"), CASES)
def test_a_new_file_that_may_be_listed_is_not_decided(tmp_path: Path, path: str, text: str, new: str) -> None:
    found = proof(tmp_path, {path: text, "csrc/old.cu": CU, "a.txt": ""}, new)
    assert found.verdict in ("not decided", "changed"), found.differences
    assert any(item.path == new and path in item.message for item in found.differences), found.differences
    assert nvidia.verify(tmp_path / "new", tmp_path / "old", strict=True).verdict == "changed"


@pytest.mark.parametrize(
    ("path", "text", "new"),
    [
        ("csrc/BUILD", 'cc_library(name = "x", srcs = glob(["*.cu"]))\n', "hip/csrc/b.cu"),
        ("build.sh", "find csrc -name '*.cu' | xargs nvcc\n", "hip/csrc/b.hip"),
        ("build.sh", "echo $((2 * 3)) # csrc/*.cu\n", "hip/b.cu"),
        ("build.sh", "# nvcc csrc/*.cu\n", "csrc/b.cu"),
        (".github/workflows/ci.yml", "on:\n  push:\n    paths:\n      - 'csrc/**'\n", "csrc/b.hip"),
        ("src/a.cpp", "int f(int* a, int b) { return *a * b; /* x*.y */ }\n", "csrc/b.cu"),
        (".gitignore", "*.o\ncsrc/*.hip\n", "csrc/b.hip"),
        ("pkg/load.py", "import os\ndef f(d):\n    return os.listdir(d)\n", "csrc/b.cu"),
        ("Makefile", "all: old.o\n%.o: %.cu\n\tnvcc -c $<\n", "hip/csrc/old.cu"),
    ],
)
def test_a_new_file_that_is_not_listed_is_decided(tmp_path: Path, path: str, text: str, new: str) -> None:
    found = proof(tmp_path, {path: text, "csrc/old.cu": CU}, new)
    assert not [item for item in found.differences if item.kind is not Kind.REVIEW], found.differences


@pytest.mark.parametrize("name", ["math.h", "vector", "version", "cuda_runtime.h"])
def test_a_header_named_as_one_of_the_system_is_not_decided(tmp_path: Path, name: str) -> None:
    assert proof(tmp_path, {"csrc/old.cu": CU}, f"csrc/{name}").verdict == "not decided"


def test_a_new_link_is_not_decided(tmp_path: Path) -> None:
    proof(tmp_path, {"csrc/old.cu": CU}, "notes_rocm.md")
    (tmp_path / "new" / "csrc" / "more").symlink_to("../hip")
    assert nvidia.verify(tmp_path / "new", tmp_path / "old").verdict == "not decided"


def reached(path: str, text: str, *new: str) -> list[tuple[str, int]]:
    """What is found of new files beside `csrc/old.cu`: (path, line)."""
    texts = {path: text, "csrc/old.cu": CU}
    original = Tree(dict.fromkeys(texts, "file"), lambda path: texts[path].encode(), "the original")
    return [(item.path, item.line) for item in listers.finds(original, new, ())]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [(11, 0, True), (12, 0, False), (0, 11, True), (0, 12, True), (0, 13, False), (20, 0, False)],
)
def test_a_folder_is_named_near_the_call_that_lists(before: int, after: int, found: bool) -> None:
    lines = ["a();"] * (before + 1 + after)
    lines[0 if before else -1] = 'char *a = ".";'
    lines[before] = "DIR *d = opendir(dir);"
    assert reached("load.cpp", "\n".join(lines), "b.cu") == [("b.cu", before + 1)] * found


@pytest.mark.parametrize(
    ("path", "text", "new", "line"),
    [
        ("load.cpp", 'opendir(".");\n', "b.cu", 1),
        ("load.cpp", '\nopendir("./");\n', "b.cu", 2),
        ("load.cpp", 'opendir(dir + "/");\n', "b.cu", 0),
        ("load.cpp", 'opendir(".");\n', "csrc/b.cu", 0),
        ("csrc/load.cpp", 'opendir(".");\n', "csrc/b.cu", 1),
        ("load.cpp", 'recursive_directory_iterator("csrc");\n', "csrc/d/b.cu", 1),
        ("load.cpp", 'recursive_directory_iterator(".");\n', "csrc/d/b.cu", 1),
        ("load.cpp", 'recursive_directory_iterator("csrc");\n', "csrcs/b.cu", 0),
        ("load.cpp", 'opendir("csrc"); ends(".cu");\n', "csrc/b.cu", 1),
        ("load.cpp", 'opendir("."); ends(".cu");\n', "b.txt", 0),
        ("load.cpp", 'opendir(d); ends(".cu");\n', "csrc/b.cu", 1),
        ("load.cpp", 'opendir(d); ends(".cu");\n', "new/b.cu", 0),
        ("load.cpp", "opendir(d);\n", "csrc/b.cu", 0),
        ("load.cpp", '// opendir("csrc");\n', "csrc/b.cu", 0),
        ("load.cpp", 'a();\n  * opendir("csrc");\n', "csrc/b.cu", 0),
        ("load.cpp", '/* opendir("csrc");\n', "csrc/b.cu", 0),
        ("load.cpp", " " * 1985 + 'opendir(".");\n', "b.cu", 1),
        ("load.cpp", " " * 5000 + 'opendir(".");\n', "b.cu", 1),
        ("clean.sh", "find . -type f -delete\n", "b.cu", 0),
        ("a.sh", "find csrc -type f\n", "csrc/b.cu", 1),
        ("a.sh", "test -f csrc/b.cu\n", "csrc/b.cu", 1),
        ("a.sh", "test -f csrc/c.cu\n", "csrc/b.cu", 0),
        ("a.sh", "test -f xcsrc/b.cu\n", "csrc/b.cu", 0),
        ("a.sh", "test -f $ROCM_PATH/csrc/b.cu\n", "csrc/b.cu", 0),
        ("a.sh", "test -f /usr/csrc/b.cu\n", "csrc/b.cu", 0),
        ("csrc/a.sh", "test -f b.cu\n", "csrc/b.cu", 1),
        ("b/a.sh", "test -f b.cu\n", "csrc/b.cu", 0),
        ("Makefile", "include $(X:.o=.dep)\n", "b.dep", 1),
        ("Makefile", "-include $(X)\n", "b.mk", 1),
        ("Makefile", "-include $(X)\n", "b.x", 0),
        ("Makefile", "-include $(X)\n", "new/b.mk", 0),
        ("Makefile", "include x.mk # $(X)\n", "b.mk", 0),
        ("Makefile", "\n%.o: %.cu\n", "csrc/old.cu", 2),
        ("Makefile", "a.o b.o: %.o: %.cu\n", "csrc/old.cu", 1),
        ("Makefile", "a.o b.o: %.cu: %.o\n", "csrc/old.cu", 0),
        ("Makefile", "\t%.o: %.cu\n", "csrc/old.cu", 0),
        ("Makefile", "X = a: %.cu\n", "csrc/old.cu", 0),
        ("Makefile", "\n.cu.o:\n", "csrc/old.cu", 2),
        ("Makefile", "\n.cu.o:\n", "csrc/b.cu", 0),
        ("Makefile", "all: b\n.cu.o:\n", "csrc/b.cu", 2),
        ("Makefile", "all: b\n.cu.o:\n", "new/b.cu", 0),
        ("Makefile", "all: b\nVPATH = new\n.cu.o:\n", "new/b.cu", 2),
        ("Makefile", "all: b\nvpath %.c new\n", "new/b.c", 2),
        ("Makefile", "all: bb\n.cu.o:\n", "csrc/b.cu", 0),
        ("Makefile", "all: b.o\n", "csrc/b.c", 1),
        ("Makefile", "all: b.o\n", "csrc/b.cu", 0),
        ("csrc/lit.cfg", "\nconfig.suffixes = ['.cu']\n", "csrc/b.cu", 2),
        ("csrc/lit.cfg", "config.suffixes = ['.cu']\n", "b.cu", 0),
        ("csrc/lit.cfg", "config.suffixes = x\n", "csrc/b.cu", 0),
        ("a.txt", "see csrc/*.cu\n", "csrc/b.cu", 1),
        ("a.txt", "see name_*\n", "name_x", 0),
        ("a.sh", "cd b\nx *.{cu,h}\n", "b.h", 2),
        ("a.sh", "cd b\nx *.{cu,h}\n", "b.c", 0),
        ("a.sh", "cd csrc\nfor f in *; do x; done\n", "csrc/b.cu", 2),
        ("a.sh", "for f in *; do x; done\n", "csrc/b.cu", 0),
        ("a.sh", "cd csrc\nx *.cu\n", "csrc/b.cu", 2),
        ("a.sh", "x *.cu\n", "csrc/b.cu", 0),
        ("a.sh", "x --include=*.cu\n", "csrc/b.cu", 1),
        ("a.sh", "x */\n", "new/b.cu", 1),
        ("a.sh", "x a # */\n", "new/b.cu", 0),
        ("a.sh", "x '#' */\n", "new/b.cu", 1),
        ("a.css", "x */\n", "new/b.cu", 0),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": ["!x csrc/*.cu"]}]}), "csrc/b.cu", 1),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": "%%bash\nx csrc/*.cu"}]}), "csrc/b.cu", 2),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": "!x csrc/*.cu"}]}), "csrc/b.cu", 0),
        ("CMakeLists.txt", '\nexecute_process(COMMAND sh -c\n  "x csrc/*.cu")\n', "csrc/b.cu", 3),
        ("CMakeLists.txt", 'message("x *.cu")\n', "b.cu", 0),
        (".gitlab-ci.yml", "a:\n  only:\n    changes:\n      - 'csrc/*.cu'\n", "csrc/b.cu", 0),
        (".gitlab-ci.yml", "a:\n  only:\n    changes:\n      - x\n  cache:\n    - 'csrc/*.cu'\n", "csrc/b.cu", 6),
        (".gitlab-ci.yml", "a:\n  only:\n  - 'csrc/*.cu'\n\nb:\n  - 'csrc/*.cu'\n", "csrc/b.cu", 6),
        ("a.sh", "\ngit ls-files | grep '\\.cu$' | xargs x\n", "csrc/b.cu", 2),
        ("a.sh", "\ngit ls-files | xargs x\n", "csrc/b.cu", 2),
        ("a.sh", "git ls-files | xargs x\n", "new/b.cu", 0),
        ("a.sh", 'find "$PWD" -type f | grep cu$ | xargs x\n', "csrc/b.cu", 1),
        ("a.cmake", "foreach(e ${E})\n  file(GLOB S csrc/*.${e})\nendforeach()\n", "csrc/b.cu", 2),
        ("a.json", '{"*/": 1, "x*/": 2}\n', "new/b.cu", 0),
        ("x.c", 'char *a = "csrc";\n', "csrc/b.cu", 1),
        ("x.c", "int csrc;\n", "csrc/b.cu", 0),
        ("a.sh", "nvcc -I csrc a.cu\n", "csrc/b.cu", 0),
        ("a.sh", "nvcc -I csrc a.cu\n", "csrc/b.cuh", 1),
        ("a.sh", "x other/csrc\n", "csrc/b.cu", 1),
        ("a.sh", "x csrc/old.cu\n", "csrc/b.cu", 0),
    ],
)
def test_which_line_finds_a_new_file(path: str, text: str, new: str, line: int) -> None:
    assert reached(path, text, new)[:1] == [(new, line)] * bool(line)


@pytest.mark.parametrize("path", ["csrc/rocm.sh", "hip/x.sh", "README.md", "a.sh"])
def test_who_reads_nothing_hides_nothing(path: str) -> None:
    texts = {path: "x csrc/*.cu\0", "csrc/old.cu": CU, "z.sh": "x csrc/*.cu"}
    original = Tree(dict.fromkeys(texts, "file"), lambda path: texts[path].encode(), "the original")
    assert [item.where for item in listers.finds(original, ["csrc/b.cu"], ())] == ["z.sh"]
