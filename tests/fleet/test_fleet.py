"""A fleet: lists, fetching, the store, retries, limits; who is killed loses nothing and does nothing twice."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.fleet import child, driver, sources, tasks
from rocport.fleet.board import board, summary
from rocport.fleet.child import Ended, Limits
from rocport.fleet.sources import Source, SourceError, fetch, read_sources
from rocport.fleet.store import Store, open_store, read_result, write_result
from rocport.fleet.tasks import Places, Task
from rocport.model.verification import Status, UnitResult
from rocport.sandbox.usage import members

KERNEL = '#include <cuda_runtime.h>\n__global__ void k(int *x) {{ *x = __ballot_sync(~0u, {0}); asm("trap;"); }}\n'


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A list of six folders."""
    for number in range(6):
        folder = tmp_path / f"r{number}"
        folder.mkdir()
        (folder / "k.cu").write_text(KERNEL.format(number))
    names = tmp_path / "list.txt"
    names.write_text("# six\n" + "".join(f"r{number}\n" for number in range(6)))
    return names


def ended(store: str) -> Counter[str]:
    """Task -> how often it was brought to its end."""
    return Counter(name.split("/")[1].split(".")[0] for name in open_store(store).names("ended"))


def test_lists_and_indexes(tmp_path: Path, listed: Path) -> None:
    found = read_sources(listed)
    assert [source.name for source in found] == [f"r{n}" for n in range(6)] and len({s.id for s in found}) == 6
    before = found[0].id
    (tmp_path / "r0" / "k.cu").write_text("changed")
    assert read_sources(listed)[0].id != before
    names = tmp_path / "more.txt"
    names.write_text(f"pypi:torch-scatter==2.1.2\nhttps://example.org/a/b.git@{'0' * 40}\n")
    assert [(s.kind, s.name, s.where, s.revision) for s in read_sources(names)] == [
        ("pypi", "torch-scatter", "torch-scatter", "2.1.2"),
        ("git", "a/b", "https://example.org/a/b.git", "0" * 40),
    ]
    index = tmp_path / "index.toml"
    index.write_text('[[repository]]\nname = "a/b"\ncommit = "123"\nwith = { "x" = "c/d@456" }\n')
    (source,) = read_sources(index)
    assert source.parts == {"x": "https://github.com/c/d@456"} and source.where == "https://github.com/a/b"
    for text in ("nowhere", "pypi:x", ""):
        names.write_text(text)
        with pytest.raises(SourceError):
            read_sources(names)
    names.write_text("r1\nr1\n")
    with pytest.raises(SourceError, match="named twice: r1"):
        read_sources(names)


def test_git_and_archives_are_fetched_once(tmp_path: Path) -> None:
    repository = tmp_path / "owner" / "name"
    repository.mkdir(parents=True)
    (repository / "k.cu").write_text(KERNEL.format(1))
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", "-C", str(repository)]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    (names := tmp_path / "list").write_text(f"git+file://{repository}@main\n")
    (source,) = read_sources(names)
    tree = fetch(source, tmp_path / "work")
    assert (tree / "k.cu").is_file() and not (tree / ".git").exists() and fetch(source, tmp_path / "work") == tree
    mirror = tmp_path / "mirror"
    shutil.copytree(repository, mirror / "owner+name" / "repo")
    shutil.rmtree(repository)
    assert (fetch(source, tmp_path / "elsewhere", mirror) / "k.cu").is_file()
    with pytest.raises(SourceError, match="cannot be had"):
        fetch(source, tmp_path / "nothing")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tree, "a-1.0")
    names.write_text("a.tar.gz\n")
    assert (fetch(read_sources(names)[0], tmp_path / "work") / "a-1.0" / "k.cu").is_file()


@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
def test_an_archive_that_is_a_bomb_is_not_unpacked(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_MOST_UNPACKED", 1 << 16)
    (tmp_path / "a").mkdir()
    with (tmp_path / "a" / "k.cu").open("wb") as stream:
        stream.truncate(1 << 20)
    shutil.make_archive(str(tmp_path / "bomb"), {"tar.gz": "gztar"}.get(ending, ending), tmp_path / "a")
    (tmp_path / "list").write_text(f"bomb.{ending}\n")
    with pytest.raises(SourceError, match="unpacks to 1048576 bytes"):
        fetch(read_sources(tmp_path / "list")[0], tmp_path / "work")
    assert not list((tmp_path / "work").rglob("k.cu"))


def test_a_python_without_filters_unpacks_what_stays_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11.2, which Debian 12 has, does not know extractall's filter."""
    monkeypatch.delattr(tarfile, "data_filter")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in ("in/k.cu", "../out.cu"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
        (link := tarfile.TarInfo("in/link")).type, link.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(link)
    (tmp_path / "list").write_text("a.tar\n")
    tree = fetch(read_sources(tmp_path / "list")[0], tmp_path / "work")
    assert (tree / "in" / "k.cu").is_file()
    assert not (tree / "in" / "link").is_symlink() and not list(tmp_path.rglob("out.cu"))


def test_a_bomb_is_refused_at_the_file_that_passes_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_MOST_UNPACKED", 1 << 16)
    with tarfile.open(tmp_path / "bomb.tar", "w") as archive:
        for name, size in (("k.h", 5), ("k.cu", 1 << 20)):
            (member := tarfile.TarInfo(name)).size = size
            archive.addfile(member, io.BytesIO(bytes(size)))
    os.truncate(tmp_path / "bomb.tar", 1 << 13)
    (tmp_path / "list").write_text("bomb.tar\n")
    with pytest.raises(SourceError, match="unpacks to 1048581 bytes or more"):
        fetch(read_sources(tmp_path / "list")[0], tmp_path / "work")
    assert not [path for path in (tmp_path / "work").rglob("*") if path.suffix in (".h", ".cu", ".part")]


@pytest.mark.parametrize("url", ["folder", "memory://fleet"])
def test_of_two_results_the_first_stays(url: str, tmp_path: Path) -> None:
    if "://" in url:
        pytest.importorskip("fsspec", reason="fsspec is in the extra [fleet]")
    store = open_store(url if "://" in url else str(tmp_path / url))
    assert read_result(store, "k") is None and store.names("results") == []
    assert write_result(store, "k", {"n": 1}) and not write_result(store, "k", {"n": 2})
    assert read_result(store, "k") == {"n": 1} and store.names("results") == ["results/k.json"]
    assert store.write("results/cut.json", b'{"n": ') and read_result(store, "cut") is None
    assert write_result(store, "cut", {"n": 3}) and read_result(store, "cut") == {"n": 3}, "half a result is none"


def test_a_result_has_its_name_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec", reason="fsspec is in the extra [fleet]")
    from fsspec.implementations.local import LocalFileOpener

    store = open_store(f"local://{tmp_path}")

    def killed(opened: LocalFileOpener, data: bytes) -> None:
        opened.f.write(data[:3])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(LocalFileOpener, "write", killed)
        write_result(store, "k", {"n": 1})
    assert store.read("results/k.json") is None and store.names("results") == []
    assert write_result(store, "k", {"n": 2}) and read_result(store, "k") == {"n": 2}


def lead(
    tmp_path: Path, runner: driver.Runner, count: int = 3, **options: Any
) -> tuple[driver.Fleet, Store, driver.Options]:
    sources = [Source(f"s{n}", "folder", f"/nowhere/{n}", "1") for n in range(count)]
    chosen = driver.Options(("gfx942",), workers=2, chunk=2, **options)
    store = open_store(str(tmp_path / "store"))
    return (
        driver.lead(sources, chosen, Places("", str(tmp_path / "store")), store, runner, lambda *_: None),
        store,
        chosen,
    )


def test_the_versions_asked_for_are_those_of_the_port_and_of_its_result(tmp_path: Path) -> None:
    seen: list[Task] = []

    def runner(task: Task, places: Places) -> Ended:
        seen.append(task)
        write_result(open_store(places.store), task.key, result_of(task))
        return Ended("ok")

    lead(tmp_path, runner, 1, rocm="6.1", torch="2.5")
    assert {(task.rocm, task.torch) for task in seen} == {("6.1", "2.5")}
    settings = tasks._settings(seen[0])
    assert (settings.rocm, settings.torch, settings.target) == ("6.1", "2.5", ("gfx942",))
    again, _, _ = lead(tmp_path, runner, 1, rocm="6.2", torch="2.5")
    assert again.known == 0


def result_of(task: Task) -> dict[str, Any]:
    counts = {"files": 1, "cuda": 1, "bytes": 9, "safe": 1, "review": 0, "manual": 1, "minutes": 5}
    more: dict[str, Any] = {
        tasks.PREPARE: {**counts, "rules": {"r": 1}, "problems": [], "findings": [], "units": ["a.cu", "b.cu", "c.cu"]},
        tasks.BUILD: {"how": "said", "units": [
            UnitResult(unit, "gfx942", Status.OK).to_json() for unit in task.units]},
    }.get(task.step, {})  # fmt: skip
    return {"step": task.step, "name": task.source.name, "state": "done", "seconds": 1.0, **more}


def test_steps_follow_one_another_and_are_known_the_next_time(tmp_path: Path) -> None:
    done: list[tuple[str, str]] = []

    def runner(task: Task, places: Places) -> Ended:
        done.append((task.source.name, task.step))
        write_result(open_store(places.store), task.key, result_of(task))
        return Ended("ok")

    fleet, _, options = lead(tmp_path, runner)
    assert Counter(step for _, step in done) == {"prepare": 3, "build": 6, "page": 3} and fleet.made == 12
    assert all(
        done.index((n, "prepare")) < done.index((n, "build")) < done.index((n, "page")) for n in ("s0", "s1", "s2")
    )
    again, _, _ = lead(tmp_path, runner)
    assert (again.made, again.known, len(done)) == (0, 12, 12)
    data = summary(fleet, options)
    assert [(row["units"], row["ok"], row["manual"]) for row in data["repositories"]] == [(3, 3, 1)] * 3
    older = json.loads(json.dumps(data))
    older["repositories"][0]["ok"] = 1
    older["repositories"][1]["name"] = "gone"
    since = board(data, older).sections[-1]
    assert [[getattr(cell, "text", cell) for cell in row] for row in since.rows] == [
        ["s0", "ok", 1, "3"], ["s1", "new", None, None], ["gone", "gone", None, None]
    ]  # fmt: skip


def test_a_lost_worker_is_tried_again_and_a_limit_is_not(tmp_path: Path) -> None:
    tries: Counter[str] = Counter()

    def runner(task: Task, places: Places) -> Ended:
        tries[task.source.name] += 1
        if task.source.name == "s0" and tries["s0"] < 3:
            return Ended("lost", "ended by SIGKILL")
        if task.source.name == "s1":
            return Ended("limit", "still running after 1 s")
        if task.source.name == "s2":
            return Ended("lost", "ended by SIGSEGV")
        write_result(open_store(places.store), task.key, result_of(task))
        return Ended("ok")

    fleet, _, options = lead(tmp_path, runner, build=False, pages=False, retries=2)
    assert tries == {"s0": 3, "s1": 1, "s2": 3} and fleet.again == 4
    states = {row["name"]: (row["state"], row["reason"]) for row in summary(fleet, options)["repositories"]}
    assert states["s0"] == ("done", "") and states["s1"] == ("lost", "prepare: still running after 1 s")
    assert states["s2"] == ("lost", "prepare: ended by SIGSEGV")


def test_limits_of_a_child(tmp_path: Path, listed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = read_sources(listed)[0]
    places = Places(str(tmp_path / "work"), str(tmp_path / "store"), environment=tasks.environment())
    assert child.run(Task("prepare", source), places, Limits(3600, 1 << 20)).reason.startswith("used ")
    assert child.run(Task("prepare", source), places, Limits(0.01)).how == "limit"
    assert child.run(Task("nothing", source), places, Limits()).how == "lost"
    assert open_store(places.store).names("results") == []


def _start(listed: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    words = ["fleet", str(listed), "--out", str(out), "--no-build", "-j", "2", "--format", "json", *more]
    # A shell's background job ignores Ctrl-C, and so would a child of tests that run in one.
    heeds = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "rocport", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heeds)


def _until(what: Any) -> None:
    for _ in range(36_000):
        if what():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come to pass within an hour")


def test_killed_interrupted_and_a_killed_worker(tmp_path: Path, listed: Path) -> None:
    """Over a store that fsspec serves to every process: SIGKILL, Ctrl-C, a worker lost; each task ends once."""
    pytest.importorskip("fsspec", reason="fsspec is in the extra [fleet]")
    out, url = tmp_path / "out", f"local://{tmp_path / 'shared'}"
    first = _start(listed, out, "--store", url)
    _until(lambda: len(ended(url)) >= 2 or first.poll() is not None)
    first.kill()
    first.communicate()
    left = len(ended(url))
    second = _start(listed, out, "--store", url)
    # A task of the first may still have ended: the second is at work where it has workers.
    _until(lambda: (len(ended(url)) > left and members(second.pid)[1:]) or second.poll() is not None)
    second.send_signal(signal.SIGINT)
    said, notes = second.communicate()
    assert second.returncode == 130 and b"interrupted: the same command goes on" in notes, notes
    told = json.loads(said)
    assert told["interrupted"] and {row["state"] for row in told["repositories"]} == {"done", "waiting"}
    assert "waiting" in (out / "index.html").read_text() and not members(second.pid)[1:]
    known = len(ended(url))
    third = _start(listed, out, "--store", url)
    _until(lambda: members(third.pid)[1:] or third.poll() is not None)
    for pid in members(third.pid)[1:2]:
        with suppress(ProcessLookupError):  # it may have ended just now
            os.kill(pid, signal.SIGKILL)
    said, notes = third.communicate()
    assert third.returncode == 0, notes
    data = json.loads(said)
    schema = resources.files("rocport.report") / "schemas" / "fleet.json"
    jsonschema.validate(data, json.loads(schema.read_text(encoding="utf-8")))
    assert left < known < 12 and [row["state"] for row in data["repositories"]] == ["done"] * 6
    assert data["tasks"]["made"] + data["tasks"]["known"] == 12 and data["tasks"]["known"] >= known
    # Prepare and page of six: each was brought to its end once, over the three runs.
    assert sorted(ended(url).values()) == [1] * 12
    assert len(list((out / "pages").iterdir())) == 6
    # The third run found more than the second: the page of all says what.
    since = (out / "index.html").read_text()
    assert "Since the run before" in since and "r5" in since


def test_units_are_compiled_and_a_port_is_taken_as_it_lies(tmp_path: Path, listed: Path) -> None:
    port, out = tmp_path / "port", tmp_path / "out"
    assert CliRunner().invoke(cli, ["port", str(tmp_path / "r1"), "--out", str(port)]).exit_code in (0, 1)
    words = ["fleet", str(port), "--out", str(out), "--target", "gfx942", "-j", "1", "--format", "json"]
    done = CliRunner().invoke(cli, words)
    (row,) = json.loads(done.stdout)["repositories"]
    if not row["units"] or "ToolchainError" in row["reason"]:
        pytest.skip(row["reason"] or "no HIP compiler")
    assert done.exit_code == 0 and (row["units"], row["ok"], row["fail"]) == (1, 1, 0)
    assert not (out / "work" / "port").exists()


def test_a_cluster_of_ray(tmp_path: Path, listed: Path) -> None:
    pytest.importorskip("ray", reason="Ray is in the extra [fleet]")
    wrong = CliRunner().invoke(cli, ["fleet", str(listed), "--out", str(tmp_path / "o"), "--address", "127.0.0.1:1"])
    assert wrong.exit_code and "no Ray cluster at 127.0.0.1:1" in wrong.output
