"""Programs from files, folders and Makefiles."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rocport.executor.program import ProgramError, find_header, for_hosts, load_program

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


@needs_make
def test_a_makefile_gives_units_flags_libraries_and_the_run(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    for name in ("main.cu", "kernel.cu", "host.c"):
        (tmp_path / name).write_text("int x;\n")
    (tmp_path / "Makefile").write_text(
        "CC = hipcc\nCFLAGS = -std=c++14 -Iinclude -DN=4 -O3 -fgpu-rdc -fplugin=x --offload-arch=gfx90a\n"
        "program: main.o kernel.o host.o\n\t$(CC) $^ -o $@ -lhipblas -lz\n"
        "%.o: %.cu\n\t$(CC) $(CFLAGS) -c $< -o $@\nhost.o: host.c\n\tgcc -c $< -o $@\n"
        "run: program\n\t./program 10 fast\n"
    )
    program = load_program(tmp_path)
    assert {unit.source.name: unit.language for unit in program.units} == {
        "main.cu": "hip",
        "kernel.cu": "hip",
        "host.c": "c",
    }
    main = next(unit for unit in program.units if unit.source.name == "main.cu")
    assert main.flags == ("-std=c++14", f"-I{tmp_path / 'include'}", "-DN=4", "-fgpu-rdc")
    assert for_hosts(main.flags) == [f"-I{tmp_path / 'include'}", "-DN=4"]
    assert program.link == ("-lz",)
    assert program.runs == (("10", "fast"),)


@needs_make
def test_a_source_the_makefile_names_and_nobody_has_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\thipcc gone.cu -o program\n")
    with pytest.raises(ProgramError, match=r"gone\.cu"):
        load_program(tmp_path)


def test_a_folder_without_makefile_leaves_out_what_others_include(tmp_path: Path) -> None:
    (tmp_path / "main.hip").write_text('#include "kernel.hip"\nint main() {}\n')
    (tmp_path / "kernel.hip").write_text("int x;\n")
    assert [unit.source.name for unit in load_program(tmp_path).units] == ["main.hip"]


def test_a_cmake_list_gives_the_files_of_the_executable_that_a_source_belongs_to(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    for name in ("main.cu", "gold.cpp", "other.cu"):
        (tmp_path / name).write_text("int x;\n")
    (tmp_path / "CMakeLists.txt").write_text(
        "project(sample LANGUAGES HIP)  # a comment (with brackets)\nset(SOURCES main.cu gold.cpp)\n"
        "include_directories(include missing)\nadd_executable(${PROJECT_NAME} ${SOURCES})\n"
        "target_compile_definitions(sample PRIVATE N=4)\nadd_executable(other other.cu)\nadd_executable(gone gone.cu)\n"
    )
    program = load_program(tmp_path / "gold.cpp")
    assert [unit.source.name for unit in program.units] == ["main.cu", "gold.cpp"]
    assert [unit.language for unit in program.units] == ["hip", "c++"]
    assert program.units[0].flags == (f"-I{tmp_path}", f"-I{tmp_path / 'include'}", "-DN=4")
    assert [unit.source.name for unit in load_program(tmp_path / "other.cu").units] == ["other.cu"]
    assert load_program(tmp_path).name == "sample"


@pytest.mark.parametrize(
    "said",
    [
        "project(sample LANGUAGES CXX)\n",
        "project(sample LANGUAGES CXX HIP)\nset_source_files_properties(gold.cpp PROPERTIES LANGUAGE HIP)\n",
        "project(sample LANGUAGES CXX HIP)\ntarget_link_libraries(sample hip::device)\n",
        "project(sample LANGUAGES CXX HIP)\nset_property(SOURCE gold.cpp PROPERTY LANGUAGE HIP)\n",
        "project(sample LANGUAGES CXX CUDA)\nset_source_files_properties(gold.cpp PROPERTIES LANGUAGE CUDA)\n",
        'project(s LANGUAGES CXX HIP)\nset_source_files_properties(gold.cpp PROPERTIES COMPILE_OPTIONS "-x;hip")\n',
        'project(s LANGUAGES CXX HIP)\nset_property(SOURCE gold.cpp APPEND PROPERTY COMPILE_OPTIONS "-x;hip")\n',
        "project(sample LANGUAGES CXX HIP)\ntarget_compile_options(sample PRIVATE -x hip)\n",
        "project(sample LANGUAGES CXX HIP)\nadd_compile_options(-x hip)\n",
        'project(sample LANGUAGES CXX HIP)\nset(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -x hip")\n',
        'project(s LANGUAGES CXX HIP)\nset_property(TARGET sample PROPERTY COMPILE_OPTIONS "-x;hip")\n',
        "project(sample LANGUAGES CXX)\nif(USE_HIP)\n  enable_language(HIP)\nendif()\n",
    ],
)
def test_a_cmake_list_may_have_its_cpp_files_compiled_as_hip(said: str, tmp_path: Path) -> None:
    (tmp_path / "gold.cpp").write_text("int x;\n")
    (tmp_path / "CMakeLists.txt").write_text(f"{said}add_executable(sample gold.cpp)\n")
    assert [unit.language for unit in load_program(tmp_path).units] == ["hip"]


@pytest.mark.parametrize(
    "said",
    [
        "# linked with hip::device where HIP is no language\n",
        "set_property(SOURCE other.cpp PROPERTY LANGUAGE HIP)\n",
        "target_compile_options(other PRIVATE -x hip)\n",
        "message(STATUS -x hip)\n",
        "if(FAST)\nendif()\nenable_language(HIP)\n",
    ],
)
def test_what_is_said_of_others_leaves_a_cpp_file_plain(said: str, tmp_path: Path) -> None:
    (tmp_path / "gold.cpp").write_text("int x;\n")
    (tmp_path / "CMakeLists.txt").write_text(f"project(s LANGUAGES CXX HIP)\n{said}add_executable(sample gold.cpp)\n")
    assert [unit.language for unit in load_program(tmp_path).units] == ["c++"]


def test_what_a_makefile_compiles_with_gcc_is_plain_cpp(tmp_path: Path) -> None:
    for name in ("main.hip", "gold.cpp", "other.cpp"):
        (tmp_path / name).write_text("int x;\n")
    (tmp_path / "Makefile").write_text(
        "all:\n\thipcc -c main.hip other.cpp\n\tg++ -c gold.cpp\n\thipcc main.o gold.o other.o -o all\n"
    )
    units = load_program(tmp_path, confined=False).units
    assert {unit.source.name: unit.language for unit in units} == {
        "main.hip": "hip",
        "other.cpp": "hip",
        "gold.cpp": "c++",
    }


def test_a_header_is_looked_for_around_the_source_nearest_first(tmp_path: Path) -> None:
    for folder in ("a/b", "common/deep", "a/inc"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "common/deep/help.h").write_text("")
    assert find_header("help.h", tmp_path / "a/b") == tmp_path / "common/deep"
    assert find_header("deep/help.h", tmp_path / "a/b") == tmp_path / "common"
    (tmp_path / "a/inc/help.h").write_text("")
    assert find_header("help.h", tmp_path / "a/b") == tmp_path / "a/inc"
    assert find_header("other.h", tmp_path / "a/b") is None


@pytest.mark.parametrize("name", ["gone.hip", "notes.txt", "empty"])
def test_nothing_to_build_is_said(name: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ProgramError, match=name):
        load_program(tmp_path / name)


def test_a_list_that_adds_to_its_own_variables_is_read_in_linear_time(tmp_path: Path) -> None:
    """warp-transducer adds to CUDA_NVCC_FLAGS thirteen times, and nobody has set it before."""
    (tmp_path / "main.cu").write_text("int x;\n")
    adds = 'set(FLAGS "${FLAGS} -O2")\n' * 40 + "set(TWICE ${TWICE}x ${TWICE}x)\n" * 40
    said = f"{adds}add_definitions(${{FLAGS}} -DA)\nadd_executable(sample main.cu)\n"
    (tmp_path / "CMakeLists.txt").write_text(said)
    (unit,) = load_program(tmp_path).units
    assert unit.flags == (f"-I{tmp_path}", "-DA")


def test_a_library_that_the_project_makes_is_built_with_the_executable_that_links_it(tmp_path: Path) -> None:
    for name in ("lib/image.cu", "lib/deeper.cu", "app/sample.cu", "app/helper.cpp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "CMakeLists.txt").write_text("add_subdirectory(lib)\nadd_subdirectory(app)\n")
    (tmp_path / "lib/CMakeLists.txt").write_text(
        "include_directories(.)\nadd_library(image STATIC image.cu)\nadd_library(deeper deeper.cu)\n"
        "target_link_libraries(image PUBLIC deeper image)\nadd_library(header INTERFACE)\n"
    )
    (tmp_path / "app/CMakeLists.txt").write_text(
        "add_library(helper helper.cpp)\nadd_executable(sample sample.cu)\n"
        "target_link_libraries(sample PRIVATE image helper header cublas CUDA::cudart -lm)\n"
        "target_link_libraries(sample image)\n"
    )
    program = load_program(tmp_path / "app/sample.cu")
    assert [unit.source.name for unit in program.units] == ["sample.cu", "image.cu", "helper.cpp", "deeper.cu"]
    assert f"-I{tmp_path / 'lib'}" in program.units[1].flags
    assert load_program(tmp_path / "app").units[0].source.name == "sample.cu"
