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
    compiles(tmp_path / "out/hip/csrc" / unit, "gfx942", optimize="-O0")


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
