"""One tree for both platforms: CUDA sources untouched, translations that compile where they lie."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocport.cli import cli
from rocport.port.mirror import folder_for, mirror

EXAMPLE = Path(__file__).parents[2] / "examples" / "rowstats"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)


def mirrored_paths(tree: dict[str, bytes], translated: dict[str, bytes]) -> dict[str, bytes]:
    found = mirror("hip", translated, [path for path in tree if path != "t.def"], frozenset(tree), tree.__getitem__)
    return {new.path: new.data for new in found if new.path != "hip/README.md"}


def test_cuda_sources_stay_and_translations_mirror_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run("port", EXAMPLE, "--layout", "both", "--out", out)
    assert result.exception is None
    for source in EXAMPLE.rglob("*.c*"):
        if source.is_file() and source.name != "CMakeLists.txt":
            assert (out / source.relative_to(EXAMPLE)).read_bytes() == source.read_bytes()
    assert "hipblas" in (out / "hip/csrc/gram.hip").read_text()
    assert (out / "hip/csrc/warp.cuh").is_file() and not (out / "hip/csrc/gram.cu").exists()


@pytest.mark.parametrize("unit", ["row_sum.hip", "compact.hip"])
def test_a_mirrored_source_compiles_where_it_lies(tmp_path: Path, unit: str, compiles: Callable[..., Path]) -> None:
    run("port", EXAMPLE, "--layout", "both", "--out", tmp_path / "out")
    compiles(tmp_path / "out/hip/csrc" / unit, "gfx942")


def test_what_stands_between_translations_is_mirrored() -> None:
    tree = {
        "a.cu": b'#include "mid.h"\n',
        "mid.h": b'#include "sub/deep.h"\n',
        "sub/deep.h": b"cuda\n",
        "bind.cpp": b"#include <sub/deep.h>\n",
        "plain.cpp": b'#include "other.h"\n',
        "other.h": b"",
    }
    found = mirrored_paths(tree, {"sub/deep.h": b"hip\n"})
    assert set(found) == {"hip/a.hip", "hip/mid.h", "hip/sub/deep.h", "hip/bind.cpp"}
    assert found["hip/sub/deep.h"].endswith(b"\nhip\n") and found["hip/mid.h"].endswith(tree["mid.h"])


def test_unchanged_files_included_from_beside_are_mirrored() -> None:
    tree = {"k/a.cu": b'#include "../t.def"\n#include <x/far.h>\n', "t.def": b"", "x/far.h": b""}
    assert set(mirrored_paths(tree, {"k/a.cu": tree["k/a.cu"]})) == {"hip/k/a.hip", "hip/t.def"}


def test_an_include_of_a_source_follows_its_new_name() -> None:
    tree = {"a.cu": b'#include "k/b.cu"\n#include <b.cu>\n', "k/b.cu": b"\n"}
    assert mirrored_paths(tree, {})["hip/a.hip"].endswith(b'#include "k/b.hip"\n#include <b.cu>\n')


def test_a_tree_without_gpu_code_gets_no_mirror() -> None:
    assert mirrored_paths({"a.cpp": b"int x;\n"}, {}) == {}


def test_a_folder_of_the_repository_is_never_taken(tmp_path: Path) -> None:
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip/README.md").write_text("ours\n")
    assert folder_for(tmp_path) == ("rocm", False)
    for name in ("rocm", "hip_port"):
        (tmp_path / name).mkdir()
    with pytest.raises(FileExistsError, match="all taken"):
        folder_for(tmp_path)


def test_a_second_port_of_the_tree_changes_nothing(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    run("port", EXAMPLE, "--layout", "both", "--out", one)
    (one / "rocport-manifest.json").unlink()
    assert folder_for(one) == ("hip", True)
    check = run("port", one, "--layout", "both", "--check")
    assert check.return_value == 0, check.output
    run("port", one, "--layout", "both", "--out", two)
    assert (two / "hip/csrc/gram.hip").read_bytes() == (one / "hip/csrc/gram.hip").read_bytes()


def test_a_single_file_has_no_tree_for_both(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    result = run("port", tmp_path / "a.cu", "--layout", "both")
    assert result.exception is not None and "--layout hip" in str(result.exception)


@pytest.mark.parametrize(
    ("include", "mirrored"),
    [
        ('#include "sub/deep.h"', True), ("#include <sub/deep.h>", True), ('#include "deep.h"', True),
        ('#include "../sub/deep.h"', True), ('  #  import "sub/deep.h"', True), ('#include_next "sub/deep.h"', True),
        ("#include <deep.h>", False), ('#include "deep.hpp"', False), ('#include "other/deep.h"', False),
        ('#include "ub/deep.h"', False), ('x = "#include";', False),
    ],
)  # fmt: skip
def test_who_includes_a_translated_header_is_mirrored(include: str, mirrored: bool) -> None:
    tree = {"k/a.cpp": f"{include}\n".encode(), "sub/deep.h": b"cuda\n"}
    assert ("hip/k/a.cpp" in mirrored_paths(tree, {"sub/deep.h": b"hip\n"})) is mirrored


def test_what_is_mirrored_says_why_and_from_what() -> None:
    tree = {"a.cu": b'#include "u.h"\n', "u.h": b'#include "v.h"\n', "v.h": b"\n", "w.h": b"\n"}
    found = mirror("x/hip", {"a.cu": b'#include "u.h"\nhip\n'}, ["a.cu", "w.h"], frozenset(tree), tree.__getitem__)
    assert [(new.path, new.why, new.source) for new in found] == [
        ("x/hip/a.hip", "HIP translation of a.cu", "a.cu"),
        ("x/hip/u.h", "u.h, which a translation includes", "u.h"),
        ("x/hip/v.h", "v.h, which a translation includes", "v.h"),
        ("x/hip/README.md", "says what the folder is", ""),
    ]
    assert b"`x/hip/csrc/a.hip` is the translation" in found[-1].data


def test_a_source_that_no_rule_changes_is_mirrored_by_its_name_alone() -> None:
    assert set(mirrored_paths({"a.cu": b"x\n", "b.cup": b"\n", "c.cpp": b"\n"}, {})) == {"hip/a.hip", "hip/b.hip"}
    assert mirrored_paths({"c.cpp": b"\n", "a.cuh": b"\n"}, {}) == {}


@pytest.mark.parametrize(
    ("spelled", "becomes"),
    [
        ('"b.cu"', '"b.hip"'), ('"./b.cu"', '"./b.hip"'), ('"../k/b.cu"', '"../k/b.hip"'),
        ("<b.cu>", "<b.cu>"), ('"c.cu"', '"c.cu"'), ('"b.cuh"', '"b.cuh"'),
    ],
)  # fmt: skip
def test_includes_of_translations_follow_their_names(spelled: str, becomes: str) -> None:
    tree = {"k/a.cu": f"# include {spelled} // x\n".encode(), "k/b.cu": b"\n"}
    assert mirrored_paths(tree, {})["hip/k/a.hip"].endswith(f"\n# include {becomes} // x\n".encode())


def test_the_first_free_name_is_taken_and_our_own_again(tmp_path: Path) -> None:
    assert folder_for(tmp_path) == ("hip", False)
    (tmp_path / "hip").mkdir()
    assert folder_for(tmp_path) == ("rocm", False)
    (tmp_path / "rocm").mkdir()
    (tmp_path / "rocm" / "README.md").write_bytes(b"# x\nWritten by `rocport port --layout both` from")
    assert folder_for(tmp_path) == ("rocm", True)
    (tmp_path / "rocm" / "README.md").unlink()
    assert folder_for(tmp_path) == ("hip_port", False)
    (tmp_path / "hip").rmdir()
    (tmp_path / "hip").write_text("a file")
    assert folder_for(tmp_path) == ("hip_port", False)
