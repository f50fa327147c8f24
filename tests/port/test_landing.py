"""A patch meets a folder: what becomes of each file, told before anything is written and again when it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from rocport.model import FileRecord, Options, Patch, PatchFile, Problem, SourceTree
from rocport.model.manifest import NAME, Manifest
from rocport.model.versions import RocmVersion
from rocport.port import manifest, state
from rocport.port.files import sha256
from rocport.port.landing import Landed, Landing, Outcome, OutputError, check_folder
from rocport.scan.tree import read_tree

FILES = {"a.cu": b"cuda\n", "data.bin": b"\0\1", "b.cu": b"plain\n"}


def tree(folder: Path, files: Mapping[str, bytes] = FILES) -> SourceTree:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return read_tree(folder)


def patch(source: SourceTree, options: Options | None = None, **new: bytes) -> Patch:
    """`a_cu` is the translation of a.cu, `new_h` a header that is made."""
    files = {}
    for word, data in new.items():
        path = word.replace("_", ".", 1)
        known = path in source.paths
        files[path] = PatchFile(path, data, "why", path if known else "", source.read(path) if known else None)
    return Patch(source, options or Options(), files, ())


def statuses(landed: Landed) -> dict[str, str]:
    return {record.output: record.status for record in landed.records}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "src"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_a_first_port_writes_everything_with_its_record(root: Path, out: Path) -> None:
    source = tree(root)
    (root / "data.bin").chmod(0o555)
    landed = Landing(patch(source, a_cu=b"hip\n", new_h=b"made\n"), out).write()
    assert landed == Landed(
        (
            FileRecord("a.cu", "a.cu", "translated", sha256(b"cuda\n"), sha256(b"hip\n")),
            FileRecord("b.cu", "b.cu", "copied", sha256(b"plain\n"), sha256(b"plain\n")),
            FileRecord("data.bin", "data.bin", "copied", sha256(b"\0\1"), sha256(b"\0\1")),
            FileRecord("", "new.h", "generated", "", sha256(b"made\n")),
        )
    )
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file() and path.name != NAME} == {
        "a.cu": b"hip\n", "b.cu": b"plain\n", "data.bin": b"\0\1", "new.h": b"made\n"
    }  # fmt: skip
    modes = {name: (out / name).stat().st_mode & 0o777 for name in ("a.cu", "data.bin", "new.h")}
    assert modes == {"a.cu": (root / "a.cu").stat().st_mode & 0o777, "data.bin": 0o755, "new.h": 0o644}
    known = manifest.load(out)
    assert isinstance(known, Manifest) and known.source_root == "../src"
    assert known.options == {"warp": "logical32", "targets": "", "layout": "hip", "rocm": "", "torch": ""}
    assert tuple(known.files.values()) == landed.records
    assert not (out / ".rocport" / "part").exists()


def test_what_the_next_merge_starts_from_is_kept_of_sources_alone(root: Path, out: Path) -> None:
    Landing(patch(tree(root), a_cu=b"hip\n", new_h=b"made\n"), out).write()
    kept = state.Kept(out)
    assert [kept.get(name) for name in ("a.cu", "b.cu", "new.h", "data.bin")] == [b"hip\n", b"plain\n", b"made\n", None]


def test_the_options_are_recorded(root: Path, out: Path) -> None:
    options = Options("native", ("gfx942", "gfx1100"), RocmVersion.parse("6.2"), "2.9")
    Landing(patch(tree(root), options), out).write()
    known = manifest.load(out)
    assert isinstance(known, Manifest) and known.options["targets"] == "gfx942,gfx1100"
    again = {"warp": "native", "layout": "hip", "rocm": "6.2", "torch": "2.9", "target": ("gfx942", "gfx1100")}
    assert manifest.given(known) == again
    assert manifest.given(Manifest("1", {"warp": "native"})) == {"warp": "native"}


def test_looking_writes_nothing(root: Path, out: Path) -> None:
    landing = Landing(patch(tree(root), a_cu=b"hip\n"), out)
    found = {item.path: item for item in landing.outcomes()}
    assert {path: item.changes for path, item in found.items()} == {"a.cu": True, "b.cu": True, "data.bin": True}
    assert found["a.cu"].write == b"hip\n" and found["a.cu"].made == b"hip\n" and not out.exists()


def test_a_second_port_changes_nothing_and_says_so(root: Path, out: Path) -> None:
    for _ in range(2):
        made = patch(tree(root), a_cu=b"hip\n", new_h=b"made\n")
        landing = Landing(made, out)
        landed = landing.write()
    assert statuses(landed) == {"a.cu": "translated", "b.cu": "copied", "data.bin": "copied", "new.h": "generated"}
    assert not any(item.changes for item in Landing(made, out).outcomes())


def again(root: Path, out: Path, before: bytes, **new: bytes) -> Landed:
    """A port, an edit of its a.cu by hand, another port."""
    Landing(patch(tree(root), a_cu=b"1\n2\n3\n4\n5\n", new_h=b"made\n"), out).write()
    (out / "a.cu").write_bytes(before)
    return Landing(patch(tree(root), **({"new_h": b"made\n"} | new)), out).write()


@pytest.mark.parametrize(
    ("by_hand", "now", "status", "after"),
    [
        (b"1\n2\n3\n4\n5\n", b"1\n2\n3\n4\nnew\n", "translated", b"1\n2\n3\n4\nnew\n"),
        (b"mine\n2\n3\n4\n5\n", b"1\n2\n3\n4\n5\n", "edited", b"mine\n2\n3\n4\n5\n"),
        (b"mine\n2\n3\n4\n5\n", b"1\n2\n3\n4\nnew\n", "merged", b"mine\n2\n3\n4\nnew\n"),
        (b"mine\n2\n3\n4\n5\n", b"mine\n2\n3\n4\n5\n", "translated", b"mine\n2\n3\n4\n5\n"),
        (b"mine\n2\n3\n4\n5\n", b"new\n2\n3\n4\n5\n", "conflict", b"mine\n2\n3\n4\n5\n"),
    ],
)
def test_a_file_edited_by_hand(by_hand: bytes, now: bytes, status: str, after: bytes, root: Path, out: Path) -> None:
    landed = again(root, out, by_hand, a_cu=now)
    assert statuses(landed)["a.cu"] == status and (out / "a.cu").read_bytes() == after
    aside = out / "a.cu.rocport-new"
    assert aside.exists() == (status == "conflict") == bool(landed.problems)
    if status == "conflict":
        assert aside.read_bytes() == now and landed.problems == (state.conflict("a.cu", 1),)
        record = next(record for record in landed.records if record.output == "a.cu")
        assert record.output_sha256 == sha256(b"1\n2\n3\n4\n5\n"), "what the port wrote last"
        assert state.Kept(out).get("a.cu") == b"1\n2\n3\n4\n5\n"
    third = Landing(patch(tree(root), a_cu=now, new_h=b"made\n"), out).write()
    expected = {"merged": "edited", "translated": "translated"}.get(status, status)
    assert statuses(third)["a.cu"] == expected and (out / "a.cu").read_bytes() == after


def test_force_takes_the_port_and_no_edit(root: Path, out: Path) -> None:
    again(root, out, b"mine\n", a_cu=b"theirs\n")
    landed = Landing(patch(tree(root), a_cu=b"theirs\n"), out, force=True).write()
    assert statuses(landed)["a.cu"] == "translated" and (out / "a.cu").read_bytes() == b"theirs\n"
    assert not landed.problems


def test_what_has_no_source_any_more_goes_unless_it_was_edited(root: Path, out: Path) -> None:
    Landing(patch(tree(root), a_cu=b"hip\n", new_h=b"made\n"), out).write()
    (root / "b.cu").unlink()
    (root / "data.bin").unlink()
    (out / "b.cu").write_bytes(b"mine\n")
    landed = Landing(patch(read_tree(root), a_cu=b"hip\n"), out).write()
    assert statuses(landed) == {"a.cu": "translated", "data.bin": "removed", "new.h": "removed"}
    assert [record.output for record in landed.records] == ["a.cu", "data.bin", "new.h"], "removed ones last"
    assert landed.problems == (Problem("b.cu", "its source is gone, but it was edited by hand; left in place"),)
    assert {path.name for path in out.iterdir()} == {"a.cu", "b.cu", NAME, ".rocport"}
    known = manifest.load(out)
    assert isinstance(known, Manifest) and set(known.files) == {"a.cu"}
    (out / "a.cu").unlink()
    assert [item.path for item in Landing(patch(read_tree(root)), out).outcomes() if item.remove] == []


def test_a_folder_of_somebody_elses_is_refused_and_force_takes_it(root: Path, out: Path) -> None:
    assert check_folder(out) is None
    out.mkdir()
    assert check_folder(out) is None
    (out / ".rocport").mkdir()
    assert check_folder(out) is None, "a port that was cut off at its beginning"
    (out / "mine").write_text("x")
    with pytest.raises(OutputError, match=f"{out}: not empty and holds no {NAME} .*; choose another --out, or --force"):
        Landing(patch(tree(root)), out)
    assert check_folder(out, force=True) is None
    assert not Landing(patch(tree(root)), out, force=True).write().problems
    assert isinstance(check_folder(out), Manifest) and (out / "mine").read_text() == "x"


def test_a_manifest_that_cannot_be_read_is_named(root: Path, out: Path) -> None:
    Landing(patch(tree(root)), out).write()
    (out / NAME).write_text("{")
    with pytest.raises(OutputError):
        Landing(patch(tree(root)), out)
    landed = Landing(patch(tree(root)), out, force=True).write()
    assert [problem.path for problem in landed.problems] == [NAME] and "cannot be used" in landed.problems[0].message


def test_links_stay_inside(root: Path, out: Path) -> None:
    tree(root, {"sub/a.cu": b"cuda\n"})
    for name, target in (("in", "sub/a.cu"), ("sub/up", "../in"), ("away", "../other"), ("root", "/etc"),
                         ("sub/out", "../../x"), ("far", "sub/../../y"), ("mine", "sub")):  # fmt: skip
        (root / name).symlink_to(target)
    (out / "mine").mkdir(parents=True)
    landed = Landing(patch(read_tree(root)), out, force=True).write()
    assert {path.name: str(path.readlink()) for path in (out / "in", out / "sub/up")} == {
        "in": "sub/a.cu",
        "up": "../in",
    }
    said = {problem.path: problem.message for problem in landed.problems}
    assert set(said) == {"away", "root", "sub/out", "far", "mine"}
    assert said["away"] == "links to ../other, outside the tree; not ported: copy it by hand"
    assert said["mine"] == "is a link in the source but a file in the output; left alone"
    assert not any((out / name).is_symlink() for name in said)
    assert {problem.path for problem in Landing(patch(read_tree(root)), out).write().problems} == set(said)


def test_a_link_alone_in_its_folder_and_one_that_changed(root: Path, out: Path) -> None:
    tree(root, {"a.cu": b"cuda\n"})
    (root / "only").mkdir()
    (root / "only" / "link").symlink_to("../a.cu")
    Landing(patch(read_tree(root)), out).write()
    assert str((out / "only" / "link").readlink()) == "../a.cu"
    (root / "only" / "link").unlink()
    (root / "only" / "link").symlink_to("nowhere")
    assert not Landing(patch(read_tree(root)), out).write().problems
    assert str((out / "only" / "link").readlink()) == "nowhere"


def test_what_cannot_be_read_or_written_is_named_and_the_rest_is_ported(root: Path, out: Path) -> None:
    source = tree(root)
    (root / "data.bin").unlink()
    (out / "a.cu").mkdir(parents=True)
    landed = Landing(patch(source, a_cu=b"hip\n"), out, force=True).write()
    said = {problem.path: problem.message for problem in landed.problems}
    assert said.pop("a.cu").startswith(f"cannot be written to {out}: ")
    assert said == {"data.bin": "cannot be copied: No such file or directory"}
    assert statuses(landed) == {"b.cu": "copied"}


def test_in_place_only_the_patch_is_written_and_can_be_undone(root: Path) -> None:
    source = tree(root)
    (root / "a.cu").chmod(0o700)
    landing = Landing(patch(source, a_cu=b"hip\n", new_h=b"made\n"), root)
    assert landing.in_place and [item.path for item in landing.outcomes()] == ["a.cu", "new.h"]
    landed = landing.write()
    assert statuses(landed) == {"a.cu": "translated", "new.h": "generated"} and not (root / NAME).exists()
    assert (root / "a.cu").read_bytes() == b"hip\n" and (root / "a.cu").stat().st_mode & 0o777 == 0o700
    assert (root / "new.h").stat().st_mode & 0o777 == 0o644
    assert state.Kept(root).get("a.cu") is None and state.Kept(root).get("new.h") == b"made\n"
    assert {row["path"] for row in json.loads((root / ".rocport/undo.json").read_text())["files"]} == {"a.cu", "new.h"}
    assert state.undo(root) == state.Undone(("a.cu",), ("new.h",), ())
    assert (root / "a.cu").read_bytes() == b"cuda\n" and not (root / ".rocport").exists()


def test_in_place_a_file_that_changed_meanwhile_is_a_conflict(root: Path) -> None:
    made = patch(tree(root), a_cu=b"hip\n")
    (root / "a.cu").write_bytes(b"changed\n")
    landed = Landing(made, root).write()
    assert statuses(landed) == {"a.cu": "conflict"} and (root / "a.cu").read_bytes() == b"changed\n"


def test_a_failure_in_place_ends_the_port(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = patch(tree(root), a_cu=b"hip\n")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    landing = Landing(made, root)
    monkeypatch.setattr(landing, "_write", full)
    with pytest.raises(OSError, match="No space"):
        landing.write()


def test_one_tree_for_both_keeps_the_record_of_what_it_made(root: Path) -> None:
    options = Options(layout="both", mirror="hip")
    body = b"made\n"

    def made(source: SourceTree, **files: bytes) -> Patch:
        new = {path: PatchFile(path, data, "why") for path, data in files.items()}
        record = manifest.dump_hashes({path: sha256(data) for path, data in files.items()})
        return Patch(source, options, new | {f"hip/{NAME}": PatchFile(f"hip/{NAME}", record, "why")}, ())

    first = Landing(made(tree(root), **{"hip/a.hip": body, "hip/b.hip": body}), root).write()
    assert statuses(first) == {"hip/a.hip": "generated", "hip/b.hip": "generated"}, "the record is none of them"
    second = Landing(made(tree(root), **{"hip/a.hip": b"more\n"}), root).write()
    assert statuses(second) == {"hip/a.hip": "generated", "hip/b.hip": "removed"} and not second.problems
    assert set(manifest.load_hashes(root / "hip" / NAME)) == {"hip/a.hip"}


def test_an_outcome_changes_a_file_by_writing_or_removing_it() -> None:
    assert Outcome("a", write=b"").changes and Outcome("a", remove=True).changes
    assert not Outcome("a", aside=b"x", made=b"x").changes
