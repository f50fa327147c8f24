"""Which units the build files name: by path, by pattern, of a library that the tree carries along, or none at all."""

from __future__ import annotations

from rocport.project.named import named_of, patterns


def test_what_a_build_file_names() -> None:
    text = 'CUDAExtension("x", ["csrc/a.cu", *glob("csrc/*.cpp")])\nfile(GLOB S ${X}/src/*.cu)\n%.o: ../k/%.cu\n'
    assert patterns(text) == ("csrc/a.cu", "csrc/*.cpp", "src/*.cu", "../k/*.cu")
    assert patterns("foreach(n a b)\nadd_executable(${n} ${n}.cu)") == ("*.cu",)
    assert patterns('if f.endswith(".cu"): a.cuh') == ("*.cu",)


def test_a_library_s_tests_are_not_the_project_s() -> None:
    """3D Gaussian splatting: 4 of 213 units are its own, the rest are tests of glm."""
    units = ["ext.cpp", "cuda/a.cu", "cuda/old.cu", "third_party/glm/test/core.cpp", "third_party/x/x.cu"]
    builds = [("", ("cuda/a.cu", "ext.cpp", "third_party/x/x.cu")), ("third_party/glm/test", ("core.cpp",))]
    assert named_of(units, builds) == {"ext.cpp", "cuda/a.cu", "third_party/x/x.cu"}
    assert "third_party/x/x.cu" not in named_of(units, [("", ("*.cu", "ext.cpp"))])


def test_libraries_of_a_tree_that_has_nothing_else_are_asked_one_by_one() -> None:
    """Gaussian grouping: 6 of 212 units are its extensions', which lie in submodules/; the rest are tests of glm."""
    units = [
        "submodules/r/a.cu",
        "submodules/r/third_party/glm/test/core.cpp",
        "submodules/k/k.cu",
        "submodules/k/old.cu",
    ]
    builds = [
        ("submodules/r", ("a.cu",)),
        ("submodules/r/third_party/glm/test", ("core.cpp",)),
        ("submodules/k", ("k.cu",)),
    ]
    assert named_of(units, builds) == {"submodules/r/a.cu", "submodules/k/k.cu"}
    assert named_of(["deps/" * 700 + "a.cu"], []) == {"deps/" * 700 + "a.cu"}


def test_units_without_a_build_file_are_built_by_hand() -> None:
    units = ["lesson1/a.cu", "lesson2/b.cu", "lesson2/c.cu"]
    assert named_of(units, [("lesson2", ("b.cu",))]) == {"lesson1/a.cu", "lesson2/b.cu"}
    assert named_of(units, [("", ("other.cu",))]) == set(units)
