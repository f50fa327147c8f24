"""The reader of CMake, by its own examples and beside tree-sitter-cmake on CMake's modules."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from rocport.model import Context
from rocport.model.context import Options
from rocport.project.build import BuildSource
from rocport.project.cmake import commands, export_headers, without_comments
from rocport.rules.build import cmake_cuda

TEXT = b"""\
#[[ find_package(CUDA)
enable_language(CUDA) ]]
#[==[ project(a LANGUAGES CUDA) ]] still ]==] project(b)
if(USE_CUDA) # a ) comment
  set(X "a ) b" [[ raw ( ]] ${Y})
elseif(WITH_ROCM)
  cuda_add_library(x a.cu #[[ in ( ]] b.cu # cuda.cu
     c.cu)
endif()
message("find_package(CUDA)" "\\")")
f(a;b "c;d" (x OR y) e\\ f)
"""


def test_commands_are_read_and_comments_hold_none():
    found = commands(TEXT)
    assert [(c.name, c.line, c.end_line, c.gated) for c in found] == [
        ("project", 3, 3, False),
        ("if", 4, 4, True),
        ("set", 5, 5, True),
        ("elseif", 6, 6, True),
        ("cuda_add_library", 7, 8, True),
        ("endif", 9, 9, False),
        ("message", 10, 10, False),
        ("f", 11, 11, False),
    ]
    assert found[4].words == ("x", "a.cu", "b.cu", "c.cu")
    assert found[2].words == ("X", "a ) b", " raw ( ", "${Y}")
    assert found[7].words == ("a", "b", "c;d", "x", "OR", "y", "e\\ f")
    for command in found:
        text = TEXT[command.at : command.close]
        assert text.lower().startswith(command.name.encode()) and text.endswith(b")")
    assert without_comments(TEXT).count(b"\n") == TEXT.count(b"\n") and len(without_comments(TEXT)) == len(TEXT)
    assert b"cuda.cu" not in without_comments(TEXT)


@pytest.mark.parametrize("text", [b"", b"if(", b'f("', b"#[[", b"f([[", b"\xff(\xe9)", b"a(b)) c(d)"])
def test_damaged_files_are_read_to_their_end(text):
    assert all(command.close <= len(text) for command in commands(text))


@pytest.mark.parametrize(
    ("word", "amd"),
    [
        *((word, True) for word in ("ENABLE_HIP", "WITH_ROCM", "USE_HIP", "__HIP__", "CUTLASS_ENABLE_AMD", "GGML_HIP")),
        *((word, False) for word in ("USE_CUDA", "BUILD_CHIP", "RELATIONSHIP", "SHIP_IT")),
    ],
)
def test_one_answer_to_whose_branch_it_is(word, amd):
    text = f"if({word})\n  enable_language(CUDA)\nendif()\n".encode()
    assert commands(text)[1].gated is amd
    make = f"ifdef {word}\nX = nvcc\nendif\n".encode()
    assert BuildSource("Makefile", make, "make").lines[1].gated is amd


def test_a_project_without_cuda_gets_no_edit():
    text = (
        b"cmake_minimum_required(VERSION 3.20)\nproject(x CXX)\n"
        b"#[[\nfind_package(CUDA)\nenable_language(CUDA)\n]]\nset(DOC [[ find_package(CUDA) ]])\nadd_library(x a.cpp)\n"
    )
    found = list(cmake_cuda.check(BuildSource("CMakeLists.txt", text, "cmake"), Context(Options())))
    assert not found


def test_a_comment_in_a_file_with_latin_1_moves_no_edit():
    text = b'# \xe9\xe9\xe9\nproject(x CXX) # \xe9\nset(A "\xe9") # \xfc\nenable_language(CUDA)\n'
    (found,) = cmake_cuda.check(BuildSource("CMakeLists.txt", text, "cmake"), Context(Options()))
    assert text[found.edits[0].span.start :].startswith(b"enable_language")


def modules() -> list[Path]:
    cmake = shutil.which("cmake")
    folders = sorted(Path(cmake).resolve().parent.parent.glob("share/cmake*/Modules")) if cmake else []
    return [path for folder in folders for path in sorted(folder.glob("*.cmake"))][::4]


def test_the_reader_agrees_with_tree_sitter_on_cmakes_own_modules():
    tree_sitter = pytest.importorskip("tree_sitter")
    grammar = pytest.importorskip("tree_sitter_cmake", reason="pip install tree-sitter tree-sitter-cmake")
    if not modules():
        pytest.skip("no CMake with its modules beside it: install cmake")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    compared = 0
    for path in modules():
        data = path.read_bytes()
        theirs = []
        stack = [parser.parse(data).root_node]
        if stack[0].has_error:
            continue
        while stack:
            node = stack.pop()
            stack += reversed(node.children)
            if node.type.endswith("_command"):
                name = data[node.children[0].start_byte : node.children[0].end_byte]
                theirs.append((node.start_byte, node.end_byte, name.decode().lower()))
        ours = [(command.at, command.close, command.name) for command in commands(data)]
        assert ours == sorted(theirs), path
        compared += len(ours)
    assert compared > 1000


def test_arguments_hold_no_comment():
    for command in commands(TEXT):
        assert not re.search(r"(?:^|\s)#", command.arguments)


def test_a_condition_for_cuda_is_thought_of_where_another_asks_for_its_twin():
    text = b"if(a_CUDA)\nfind_package(CUDAToolkit)\nendif()\nset(x y)\nif(a_%b)\nfind_package(hip)\nendif()\n"
    assert [command.gated for command in commands(text % b"HIP") if command.name == "find_package"] == [True, True]
    assert not commands(text % b"SYCL")[1].gated


def test_the_headers_that_generate_export_header_writes() -> None:
    """cuNSearch includes `cuNSearch_export.h`; ceres-solver names a folder, in variables."""
    text = (
        b"project(Net)\ngenerate_export_header(${PROJECT_NAME})\ngenerate_export_header(a EXPORT_MACRO_NAME a_EXPORT\n"
        b"  EXPORT_FILE_NAME ${CMAKE_CURRENT_BINARY_DIR}/a/a_export.h)\n"
        b"generate_export_header(${OTHER})\ngenerate_export_header(b EXPORT_FILE_NAME ../../b.h)\n"
    )
    found = dict(export_headers(commands(text)))
    assert list(found) == ["net_export.h", "a/a_export.h"]
    assert "#define NET_EXPORT\n" in found["net_export.h"] and "#define NET_DEPRECATED\n" in found["net_export.h"]
    assert "#define a_EXPORT\n#define A_NO_EXPORT\n" in found["a/a_export.h"]
