"""What is written to a tree stays in it, whatever its records and links say, and a port that is cut off can go on."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rocport.cli import cli
from rocport.model.manifest import NAME, Manifest, is_inside
from rocport.port import manifest, state
from rocport.port.files import BusyError, OutsideError, alone, inside, sha256, write_atomic

KERNEL = "#include <cuda_runtime.h>\nvoid f(void **p) { cudaMalloc(p, 4); }\n"
VICTIM = b"somebody else's\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    (folder / "csrc").mkdir(parents=True)
    (folder / "csrc" / "a.cu").write_text(KERNEL)
    (folder / "b.cu").write_text(KERNEL)
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    folder = tmp_path / "victim"
    folder.mkdir()
    (folder / "file").write_bytes(VICTIM)
    return folder


def untouched(victim: Path) -> bool:
    return [path.name for path in victim.iterdir()] == ["file"] and (victim / "file").read_bytes() == VICTIM


@pytest.mark.parametrize("path", ["a", "a/b.cu", "a..b", ".github/x.yml", "third/.git"])
def test_paths_of_a_tree(path: str) -> None:
    assert is_inside(path)


@pytest.mark.parametrize("path", ["", "/a", "../a", "a/../../b", "a//b", "./a", "a/.", ".git/config", "s/.git/x", "\0"])
def test_paths_out_of_a_tree(path: str) -> None:
    assert not is_inside(path)


def undo_record(root: Path, **fields: Any) -> None:
    change = {"path": "b.cu", "before": sha256(VICTIM), "after": sha256(KERNEL.encode()), "mode": 0o644} | fields
    (root / ".rocport" / "before" / "x").mkdir(parents=True)
    (root / ".rocport" / "undo.json").write_text(json.dumps({"schema": 1, "files": [change]}))


@pytest.mark.parametrize(
    "fields",
    [
        {"path": "../victim/file", "before": "", "after": sha256(VICTIM)},
        {"path": ".git/hooks/post-checkout"},
        {"path": ".git"},
        {"path": ".rocport/undo.json"},
        {"path": "/etc/passwd"},
        {"path": 7},
        {"path": ["b.cu"]},
        {"before": "short"},
        {"after": None},
        {"mode": 0o4755},
        {"mode": "0644"},
        {"between": [7]},
        {"between": 7},
        {"more": 1},
    ],
    ids=str,
)
def test_an_undo_record_that_no_port_writes_is_refused(fields: dict[str, Any], root: Path, victim: Path) -> None:
    undo_record(root, **fields)
    before = sorted(root.rglob("*"))
    done = run("port", root, "--undo")
    assert done.exception is not None and "restore the files by git" in str(done.exception)
    assert untouched(victim) and sorted(root.rglob("*")) == before


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{}", "[]", "7", '{"schema": 1, "files": [7]}', '{"schema": 2}', "\xff"]
)
def test_an_undo_record_that_is_none_is_refused(text: str, root: Path) -> None:
    (root / ".rocport").mkdir()
    (root / ".rocport" / "undo.json").write_text(text, encoding="latin-1")
    with pytest.raises(state.StateError):
        state.undo(root)


@pytest.mark.parametrize("name", ["undo.json", ".gitignore"])
def test_an_undo_that_is_cut_while_it_clears_up_can_be_run_again(
    name: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("port", root, "--in-place", "--allow-dirty").exception is None
    unlink = Path.unlink

    def cut(path: Path, missing_ok: bool = False) -> None:
        if path.name == name and path.parent.name == state.FOLDER:
            raise KeyboardInterrupt
        unlink(path, missing_ok)

    with monkeypatch.context() as killed:
        killed.setattr(Path, "unlink", cut)
        with pytest.raises(KeyboardInterrupt):
            state.undo(root)
    assert (root / "b.cu").read_text() == KERNEL and (root / state.FOLDER).exists()
    state.undo(root)
    assert not (root / state.FOLDER).exists() and (root / "b.cu").read_text() == KERNEL


def test_undo_follows_no_link(root: Path, victim: Path) -> None:
    undo_record(root, path="link/file", before="", after=sha256(VICTIM))
    (root / "link").symlink_to(victim)
    assert "is a link to" in str(run("port", root, "--undo").exception)
    assert untouched(victim)


@pytest.mark.parametrize("folder", [".rocport", ".rocport/before", ".rocport/part"])
def test_what_a_port_keeps_is_not_behind_a_link(folder: str, root: Path, victim: Path) -> None:
    (root / folder).parent.mkdir(exist_ok=True)
    (root / folder).symlink_to(victim)
    assert "is a link to" in str(run("port", root, "--in-place", "--allow-dirty").exception)
    assert (root / "b.cu").read_text() == KERNEL and untouched(victim)


def test_a_port_in_place_writes_through_no_link(root: Path, victim: Path) -> None:
    (victim / "a.cu").write_text(KERNEL)
    (root / "linked").symlink_to(victim)
    (root / "c.cu").symlink_to(victim / "a.cu")
    done = run("port", root, "--in-place", "--allow-dirty")
    assert done.exception is None and "hipMalloc" in (root / "b.cu").read_text()
    assert (victim / "a.cu").read_text() == KERNEL and (root / "c.cu").is_symlink()


@pytest.mark.parametrize("name", ["csrc", "b.cu"])
def test_an_output_behind_a_link_is_named_and_not_written(name: str, root: Path, victim: Path, tmp_path: Path) -> None:
    run("port", root, "--out", tmp_path / "out")
    place = tmp_path / "out" / name
    os.rename(place, tmp_path / "old")
    place.symlink_to(victim if name == "csrc" else victim / "file")
    with (root / ("csrc/a.cu" if name == "csrc" else name)).open("a") as file:
        file.write("void g(void *p) { cudaFree(p); }\n")
    done = run("port", root, "--out", tmp_path / "out")
    assert done.return_value == 1 and "is a link to" in done.output
    assert untouched(victim)


@pytest.mark.parametrize("name", ["rocport-manifest.json", "b.cu"])
def test_a_pipe_in_the_output_is_not_waited_for(name: str, root: Path, tmp_path: Path) -> None:
    run("port", root, "--out", tmp_path / "out")
    (tmp_path / "out" / name).unlink()
    os.mkfifo(tmp_path / "out" / name)
    done = run("port", root, "--out", tmp_path / "out")
    if name == "b.cu":
        assert done.return_value == 0 and (tmp_path / "out" / name).is_file()
    else:
        assert f"holds no {name}" in str(done.exception)


def record(**fields: Any) -> dict[str, Any]:
    return {"source": "b.cu", "output": "b.cu", "status": "copied", "source_sha256": "", "output_sha256": ""} | fields


@pytest.mark.parametrize(
    "body",
    [
        {"files": [record(output="../victim/file", output_sha256=sha256(VICTIM))]},
        {"files": [record(output="{victim}/file", output_sha256=sha256(VICTIM))]},
        {"files": [record(output=".git/hooks/x")]},
        {"files": [record(source="../../etc/passwd")]},
        {"files": [record(output="")]},
        {"files": [record(output=7)]},
        {"files": [record(output_sha256="short")]},
        {"files": [record(source_sha256="0" * 63 + "G")]},
        {"files": [7]},
        {"files": {}},
        {"files": [], "options": []},
        {"files": [], "options": {"warp": 7}},
        {"files": [], "version": None},
        {"files": [], "schema": 2},
        {"files": [], "source_root": 7},
        {"files": [], "source_root": "a\0"},
    ],
    ids=str,
)
def test_a_manifest_that_no_port_writes_moves_nothing(
    body: dict[str, Any], root: Path, victim: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    whole = {"schema": 1, "version": "1", "options": {}, "source_root": "../src"} | body
    (out / NAME).write_text(json.dumps(whole).replace("{victim}", str(victim)))
    assert "cannot be used" in str(manifest.load(out))
    run("port", root, "--out", out, "--force")
    assert untouched(victim)


def test_what_a_port_writes_is_read_again(root: Path, tmp_path: Path) -> None:
    run("port", root, "--out", tmp_path / "out")
    known = manifest.load(tmp_path / "out")
    assert isinstance(known, Manifest) and known.files["b.cu"].status == "translated"
    assert known.source_root == "../src" and known.options["layout"] == "hip"
    assert manifest.open_port(tmp_path / "out") == (known, root)


@pytest.mark.parametrize("body", ['{"schema": 1, "generated": {"../../x": "1", "a": "2"}}', "[", "7", '{"schema": 1}'])
def test_hashes_of_generated_files_are_of_the_tree(body: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(body)
    assert set(manifest.load_hashes(tmp_path / "x.json")) <= {"a"}


def test_an_archive_that_no_port_writes_counts_as_empty(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".rocport").mkdir()
    place = root / ".rocport" / "made.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b.cu", b"\0" * 4096)
    assert state.Kept(root).get("b.cu") == b"\0" * 4096
    monkeypatch.setattr(state, "_MOST_KEPT", 4095)
    assert state.Kept(root).get("b.cu") is None
    place.write_bytes(b"PK\3\4 nothing")
    assert state.Kept(root).get("b.cu") is None


def test_a_second_process_is_refused(root: Path, tmp_path: Path) -> None:
    run("port", root, "--in-place", "--allow-dirty")
    (tmp_path / "out").mkdir()
    for folder, words in (
        (tmp_path / "out", ("port", root, "--out", tmp_path / "out")),
        (root, ("port", root, "--undo")),
        (root, ("port", root, "--in-place", "--allow-dirty")),
    ):
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        before = sorted(folder.rglob("*"))
        assert "another rocport writes there" in str(run(*words).exception)
        assert sorted(folder.rglob("*")) == before
        os.close(handle)
        assert run(*words).exception is None
    with alone(root), pytest.raises(BusyError), alone(root):
        pass


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    place = tmp_path / "new" / "file"
    write_atomic(place, b"1")
    assert place.stat().st_mode & 0o777 == 0o644
    place.chmod(0o755)
    write_atomic(place, b"2", scratch=tmp_path)
    assert (place.read_bytes(), place.stat().st_mode & 0o777) == (b"2", 0o755)
    write_atomic(place, b"3", 0o600)
    assert (place.read_bytes(), place.stat().st_mode & 0o777) == (b"3", 0o600)
    with pytest.raises(IsADirectoryError):
        write_atomic(tmp_path / "new", b"4")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "new"]
    (tmp_path / "link").symlink_to(place.parent)
    with pytest.raises(OutsideError):
        inside(tmp_path, "link/file")
    assert inside(tmp_path, "new/file") == place


_KILLED = """
import os, signal, sys
left, below = int(sys.argv[1]), sys.argv[2]
def count(event, arguments):
    global left
    if not arguments or not str(arguments[0]).startswith(below):
        return
    if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir") or (event == "open" and arguments[2] & os.O_CREAT):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
from rocport.cli import main
sys.argv = ["rocport", *sys.argv[3:]]
main()
"""


def killed(at: int, *words: str | Path) -> bool:
    below = str(Path(words[1]).parent)
    command = [sys.executable, "-c", _KILLED, str(at), below, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == -signal.SIGKILL


def contents(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(".rocport/")}


@pytest.mark.parametrize("at", [1, 4, 9, 14])
def test_a_port_that_is_killed_goes_on(at: int, root: Path, tmp_path: Path) -> None:
    assert killed(at, "port", root, "--out", tmp_path / "cut")
    assert run("port", root, "--out", tmp_path / "cut").exception is None
    run("port", root, "--out", tmp_path / "whole")
    cut, whole = (contents(tmp_path / name) for name in ("cut", "whole"))
    assert cut == whole and "b.cu" in cut


def test_a_port_that_was_cut_off_knows_its_own_files_when_their_sources_have_changed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = state.write

    def cut(where: Path, path: str, *given: Any) -> None:
        write(where, path, *given)
        if path == "b.cu":
            raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(state, "write", cut)
        run("port", root, "--out", tmp_path / "cut")
    (tmp_path / "cut" / "csrc").mkdir(exist_ok=True)
    (tmp_path / "cut" / "csrc" / "a.cu").write_text("by hand\n")
    for name in ("b.cu", "csrc/a.cu"):
        (root / name).write_text(KERNEL.replace("4", "5"))
    done = run("port", root, "--out", tmp_path / "cut")
    assert "csrc/a.cu" in done.output and "edited by hand" in done.output
    assert not list((tmp_path / "cut").glob("b.*-new")) and ", 5)" in (tmp_path / "cut" / "b.cu").read_text()
    assert not (tmp_path / "cut" / ".rocport" / "writing").exists()


def test_a_note_that_no_port_writes_says_nothing(root: Path) -> None:
    state.start(root)
    lines = [
        '["b.cu", "1"]',
        "[" * 100_000,
        "9" * 9_000,
        '["../x", "1"]',
        '["a"]',
        "null",
        '[".git/config", "1"]',
        '["b.cu"',
    ]
    (root / ".rocport" / "writing").write_text("\n".join(lines))
    assert state.noted(root) == {"b.cu": {"1"}}


@pytest.mark.parametrize("at", [3, 8, 12, 16])
def test_a_port_in_place_that_is_killed_is_taken_back(at: int, root: Path) -> None:
    before = contents(root)
    assert killed(at, "port", root, "--in-place", "--allow-dirty")
    killed(at, "port", root, "--undo")
    done = run("port", root, "--undo")
    assert done.exception is None or "there is no port in place" in str(done.exception)
    assert contents(root) == before


def test_a_second_port_that_is_cut_off_is_taken_back_to_the_first(root: Path) -> None:
    place = root / "b.cu"
    state.start(root)
    state.record(root, [("b.cu", b"one")])
    state.write(root, "b.cu", b"one", None)
    state.record(root, [("b.cu", b"two")])
    assert place.read_bytes() == b"one"
    assert state.undo(root).restored == ("b.cu",) and place.read_text() == KERNEL


def test_a_landing_into_another_s_folder_is_refused(root: Path, victim: Path) -> None:
    done = run("port", root, "--out", victim)
    assert "not empty and holds no" in str(done.exception) and untouched(victim)


def test_a_file_whose_name_is_no_text_is_ported_and_reported(root: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xe9.cu")
    (root / name).write_text(KERNEL)
    for _ in range(2):
        assert run("port", root, "--out", tmp_path / "out").exception is None
    assert "hipMalloc" in (tmp_path / "out" / name).read_text()
    assert run("scan", root, "--format", "sarif").exception is None


def test_a_tree_that_is_deep_or_holds_a_huge_file_is_ported_as_far_as_it_goes(root: Path, tmp_path: Path) -> None:
    here = os.getcwd()
    os.chdir(root)
    try:
        for _ in range(900):
            os.mkdir("deeper")
            os.chdir("deeper")
    finally:
        os.chdir(here)
    with (root / "weights.bin").open("wb") as stream:
        stream.truncate(3 << 30)
    done = run("port", root, "--out", tmp_path / "out")
    assert done.exception is None and "File name too long" in done.output and "weights.bin" in done.output
    assert (tmp_path / "out" / "b.cu").exists() and not (tmp_path / "out" / "weights.bin").exists()
    unchanged = run("verify", root, "--level", "nvidia-unchanged", "--original", tmp_path / "out")
    assert unchanged.exit_code and "Traceback" not in unchanged.output
