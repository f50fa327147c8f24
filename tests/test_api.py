"""The library: what the command line calls, called without it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rocport import api
from rocport.model import Problem, SourceFile

KERNEL = """#include <cuda_runtime.h>
__global__ void k(int* x) {
    x[0] = __ballot_sync(0xffffffffu, x[0]);
    x[1] = __ballot_sync(0xffffffffu, x[1]);  // rocport: ignore[warp-vote] checked by hand
}
"""
DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    (root / "third_party").mkdir(parents=True)
    (root / "k.cu").write_text(KERNEL)
    (root / "third_party" / "t.cu").write_text("int n = warpSize;\nvoid f() { cudaFree(0); }\n")
    (root / "notes.txt").write_text("words\n")
    return root


def text(patch: api.Patch, path: str) -> str:
    return patch.files[path].data.decode()


def test_a_scan_and_a_port_say_the_same_of_the_same_tree(tree: Path) -> None:
    found, patch = api.scan(tree), api.port(tree)
    assert [(item.rule, item.line) for item in found.findings] == [(item.rule, item.line) for item in patch.findings]
    assert found.left_out == patch.left_out


def test_a_suppression_keeps_port_from_its_line(tree: Path) -> None:
    patch = api.port(tree)
    before, after = (
        next(line for line in code.splitlines() if "x[1]" in line) for code in (KERNEL, text(patch, "k.cu"))
    )
    assert after == before
    assert "__ballot_sync(0xffffffffu, x[0])" not in text(patch, "k.cu")
    assert [(item.rule, item.line, item.by, item.reason) for item in patch.left_out] == [
        ("warp-vote", 4, "comment", "checked by hand")
    ]


def test_a_rule_that_is_ignored_edits_nothing_and_is_named(tree: Path) -> None:
    patch = api.port(tree, api.Settings(ignore=("warp-*",)))
    assert text(patch, "k.cu").count("__ballot_sync(0xffffffffu") == 2
    assert ("warp-vote", "k.cu", "settings") in {(item.rule, item.path, item.by) for item in patch.left_out}


def test_only_the_selected_rule_edits(tree: Path) -> None:
    patch = api.port(tree, api.Settings(select=("warp-vote",)))
    assert "#include <cuda_runtime.h>" in text(patch, "k.cu")
    assert {item.rule for item in patch.findings} == {"warp-vote"}


def test_what_a_baseline_accepts_is_left_alone(tree: Path, tmp_path: Path) -> None:
    from rocport.scan import baseline

    found = api.scan(tree)
    accepted = tmp_path / "baseline.json"
    accepted.write_text(baseline.dump(found.tree, [item for item in found.findings if item.rule == "warp-vote"]))
    patch = api.port(tree, api.Settings(baseline=str(accepted)))
    assert text(patch, "k.cu").count("__ballot_sync(0xffffffffu") == 2
    assert "baseline" in {item.by for item in patch.left_out}


def test_excluded_files_are_taken_over_as_they_are(tree: Path, tmp_path: Path) -> None:
    settings = api.Settings(exclude=("third_party",))
    patch = api.port(tree, settings)
    assert patch.tree.left_out == ("third_party/",)
    assert "third_party/t.cu" not in patch.files
    landed = api.apply(patch, tmp_path / "out")
    assert {record.output: record.status for record in landed.records}["third_party/t.cu"] == "copied"
    assert (tmp_path / "out/third_party/t.cu").read_bytes() == (tree / "third_party/t.cu").read_bytes()
    assert "third_party/t.cu" not in api.scan(tree, settings).tree.paths


def test_the_settings_of_the_project_are_found(tree: Path) -> None:
    (tree / "rocport.toml").write_text('target = ["gfx942"]\nlayout = "both"\n')
    settings = api.settings(tree, rocm="7.2")
    patch = api.port(tree, settings)
    assert patch.options.targets == ("gfx942",) and str(patch.options.rocm) == "7.2"
    assert "hip/k.hip" in patch.files and "k.cu" not in patch.files


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (api.Settings(target=("gfx000",)), "gfx000"),
        (api.Settings(rocm="rocm102"), "rocm"),
        (api.Settings(torch="new"), "torch"),
        (api.Settings(ignore=("warp-vot",)), "did you mean warp-vote"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(tree: Path, settings: api.Settings, said: str) -> None:
    for call in (api.scan, api.port):
        with pytest.raises(api.ConfigError, match=said):
            call(tree, settings)


def test_one_patch_is_a_tree_a_diff_and_edits_in_place(tree: Path, tmp_path: Path) -> None:
    patch = api.port(tree)
    out = tmp_path / "out"
    api.apply(patch, out)
    lines = b"".join(api.diff(patch)).decode()
    assert "+++ b/k.cu" in lines and "notes.txt" not in lines
    assert [item.path for item in api.preview(patch, tree) if item.changes] == list(patch.files)
    api.apply(patch, tree)
    for path in patch.files:
        assert (tree / path).read_bytes() == (out / path).read_bytes() == patch.files[path].data
    undone = api.undo(tree)
    assert "k.cu" in undone.restored
    assert (tree / "k.cu").read_text() == KERNEL


def test_a_folder_of_somebody_else_is_refused(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/file").write_text("")
    with pytest.raises(api.OutputError, match="not empty"):
        api.apply(api.port(tree), tmp_path / "out")


def test_no_file_is_read_twice(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "m.py").write_text("import torch\nkind = torch.float8_e4m3fn\n")
    (tree / "requirements.txt").write_text("torch\n")
    read: list[str] = []
    original = Path.read_bytes

    def counted(path: Path) -> bytes:
        if path.is_relative_to(tree) and path.exists():
            read.append(path.relative_to(tree).as_posix())
        return original(path)

    monkeypatch.setattr(Path, "read_bytes", counted)
    listed = api.read(tree, whole=True)
    # Their includes say which other files are sources; a text may hold device code.
    assert sorted(read) == ["k.cu", "notes.txt", "third_party/t.cu"]
    api.scan(listed)
    api.apply(api.port(listed), tmp_path / "out")
    assert sorted(read) == ["k.cu", "m.py", "notes.txt", "requirements.txt", "third_party/t.cu"]


def test_a_file_that_is_no_text_says_so_once(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(b"a\0b")
    file = SourceFile(tmp_path, "a.cu", "cuda", 3)
    assert isinstance(file.content, Problem) and file.content is file.content
    assert file.read() == b"a\0b" and file.sha256 == ""


def test_a_level_that_does_not_exist_is_named(tree: Path) -> None:
    with pytest.raises(ValueError, match="expected one of build"):
        api.verify(tree, "unheard-of")


def test_the_nvidia_path_of_a_patch_is_proved(tree: Path, tmp_path: Path) -> None:
    patch = api.port(tree, api.Settings(layout="both"))
    api.apply(patch, tmp_path / "out")
    proof = api.verify(tmp_path / "out", "nvidia-unchanged", original=tree)
    assert proof.verdict == "unchanged"


def test_a_result_is_a_report(tree: Path) -> None:
    patch = api.port(tree)
    report = api.report(patch)
    assert report.command == "port" and report.suppressed == 1
    assert api.report(api.scan(tree)).plan
    assert replace(patch, findings=()).complete


def test_the_example_of_the_docs_runs(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repository").symlink_to(tree)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "api.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/api.md", "exec"), {})
    assert (tmp_path / "repository-hip" / "k.cu").exists()


def test_sites_of_cudas_side_beside_amds_are_one_cause_of_the_report(tmp_path: Path) -> None:
    for folder in ("cuda", "hip"):
        (tmp_path / "src" / folder).mkdir(parents=True)
    (tmp_path / "src/cuda/c.cu").write_text("__global__ void k() { k<<<1, 1>>>(); }\n")
    (tmp_path / "src/cuda/b.cu").write_text('__device__ void g() { asm("bra L;"); }\n')
    (tmp_path / "src/hip/a.cpp").write_text('__device__ void h() { asm("bra L;"); }\n')
    (cause,) = api.report(api.scan(tmp_path)).causes
    assert {site.path for site in cause.sites} == {"src/cuda/b.cu", "src/cuda/c.cu", "src/hip/a.cpp"}
    assert cause.first.message.startswith("src/cuda/ has a twin for AMD, src/hip/, that needs no port")


def test_what_asks_for_a_package_and_what_imports_it_are_one_cause(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("flash-attn>=2\n")
    (tmp_path / "m.py").write_text("from flash_attn import flash_attn_func\n")
    (tmp_path / "a.cpp").write_text('void f(CUmodule *m) { cuModuleLoad(m, "a.cubin"); }\n')
    loud = [item for item in api.scan(tmp_path).findings if item.applicability.value != "safe"]
    assert {(item.path, item.cause) for item in loud} == {
        ("requirements.txt", "package flash-attn"),
        ("m.py", "package flash-attn"),
        ("a.cpp", "build it with hipcc --genco"),
    }
    assert len([item for item in loud if item.path == "a.cpp"]) == 2
