"""A JSON text of somebody else is looked at before anything of it is used, by every reader."""

from __future__ import annotations

import json
import re
import sqlite3
import struct
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocport.checkpoint.errors import CheckpointError
from rocport.checkpoint.tensorfile import read_header
from rocport.fleet.store import FolderStore, read_result
from rocport.model import Applicability, Definition, Finding, Severity, Span, shape
from rocport.scan import baseline, cache
from rocport.toolchain import sdk

DEEP = "[" * 100_000
GOOD: list[tuple[Any, Any]] = [
    (1, int),
    (1, float),
    (True, bool),
    (None, (int, None)),
    ([1, "a"], shape.Row(int, str)),
    ({"a": {"b": 1}}, {"a": shape.Each(int)}),
    ({"a": 1, "more": 2}, {"a": int, "b?": str}),
    ("pages/a.html", re.compile(r"pages/\w+\.html")),
]
BAD: list[tuple[Any, Any, str]] = [
    (True, int, "holds True, expected int"),
    ("1", int, "holds '1', expected int"),
    ([1], shape.Row(int, str), "expected a list of 2"),
    ({"a": [{"b": "x"}]}, {"a": [{"b": int}]}, "holds 'x' at a[0].b, expected int"),
    ({}, {"a": int}, "lacks a"),
    ([], {"a": int}, "expected an object"),
    ({"a": []}, shape.Each(str), "holds [] at a, expected str"),
    (1.5, (int, None), "expected int or null"),
]


@pytest.mark.parametrize(("value", "of"), GOOD)
def test_a_value_of_its_shape_is_taken(value: Any, of: Any) -> None:
    assert shape.read(json.dumps(value), of) == value


@pytest.mark.parametrize(("value", "of", "said"), BAD)
def test_another_is_refused_by_its_place(value: Any, of: Any, said: str) -> None:
    with pytest.raises(shape.ShapeError, match=re.escape(said)):
        shape.check(value, of)
    assert not shape.fits(value, of)


@pytest.mark.parametrize("text", [DEEP, "{", "\ud800", ""])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(shape.ShapeError):
        shape.read(text, object)


def tensors(folder: Path, metadata: object) -> Path:
    header = json.dumps({"__metadata__": metadata, "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})
    path = folder / "m.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + bytes(4))
    return path


@pytest.mark.parametrize("metadata", [{"format": ["pt"]}, [], {"format": {"a": 1}}, 7])
def test_metadata_of_a_checkpoint_maps_names_to_texts(metadata: object, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="__metadata__"):
        read_header(tensors(tmp_path, metadata))


def test_metadata_as_it_should_be_is_read(tmp_path: Path) -> None:
    assert read_header(tensors(tmp_path, {"format": "pt"})).metadata == {"format": "pt"}


@pytest.mark.parametrize(
    "result",
    [
        *("[]", "7", DEEP, '{"page": "../../home/user/.netrc"}', '{"page": "/etc/passwd"}', '{"state": "rm -rf"}'),
        *('{"problems": [["a"]]}', '{"findings": "x"}', '{"programs": [1]}', '{"files": "7"}'),
    ],
)
def test_a_result_of_the_fleet_that_no_worker_writes_counts_as_none(result: str, tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.write("results/k.json", result.encode())
    assert read_result(store, "k") is None
    store.write("results/k.json", b'{"state": "done", "page": "pages/k.html"}', replace=True)
    assert read_result(store, "k") == {"state": "done", "page": "pages/k.html"}


@pytest.mark.parametrize("text", ["[]", '{"packages": 7}', '{"packages": [{"version": 7}]}', '{"packages": [7]}', DEEP])
def test_a_manifest_of_an_sdk_that_no_installation_writes_counts_as_none(text: str, tmp_path: Path) -> None:
    (tmp_path / sdk.MANIFEST).write_text(text)
    assert sdk.read_manifest(tmp_path) is None
    (tmp_path / sdk.MANIFEST).write_text('{"packages": [], "version": "1"}')
    assert sdk.read_manifest(tmp_path) == {"packages": [], "version": "1"}


@pytest.mark.parametrize("text", [DEEP, "7", '{"schema": 1, "accepted": [{"fingerprint": 7}]}', '{"schema": 1}'])
def test_a_baseline_that_no_scan_writes_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(baseline.BaselineError):
        baseline.load(tmp_path / "b.json")


@pytest.mark.parametrize(
    "value", [7, [], [[], [], []], [[1]] * 11, {"a": 1}, [["x"], {"a": 1}, [], 0, 0, [], [], {}, {}, {}, []]]
)
def test_an_entry_of_the_cache_of_scans_that_no_scan_writes_is_no_entry(value: object, tmp_path: Path) -> None:
    kept = cache.Cache(tmp_path / "scan.sqlite")
    kept.put({"k": value})
    assert cache.unpacked(kept.get(["k"]), cache.unpack_names) == {}
    kept.put({"k": cache.pack_names(cache.FileNames())})
    assert cache.unpacked(kept.get(["k"]), cache.unpack_names) == {"k": cache.FileNames()}


@pytest.mark.parametrize("wrong", [7, [], [1], [[]], {"a": [7]}, "x", None, {"a": 1}])
def test_every_slot_of_an_entry_of_the_cache_of_scans_is_looked_at(wrong: object) -> None:
    """`includes` of [1] and `arrays` of [[]] unpacked as good ones."""
    definition = Definition(b"f", "function", 1, parameters=2, live=(True, None))
    names = cache.pack_names(
        cache.FileNames(definitions=(definition,), includes=("a.h",), meets={b"f": frozenset("b")})
    )
    finding = Finding("r", "a.cu", Span(1, 2), 1, 1, "m", Severity.BREAKS_BUILD, Applicability.SAFE, 2)
    names, found = json.loads(json.dumps([names, cache.pack_finding(finding)]))
    assert cache.unpack_names(names).definitions == (definition,)
    assert cache.unpack_finding("a.cu", found) == finding
    for entry, unpack in ((names, cache.unpack_names), (found, lambda packed: cache.unpack_finding("a.cu", packed))):
        for slot in range(len(entry)):
            if not (isinstance(wrong, type(entry[slot])) and wrong in ([], "x", 7)):
                with pytest.raises(shape.ShapeError):
                    unpack([*entry[:slot], wrong, *entry[slot + 1 :]])


def test_a_scan_goes_on_over_a_cache_of_another(tmp_path: Path) -> None:
    from rocport import api

    place = tmp_path / "t" / "a.cu"
    place.parent.mkdir()
    place.write_text("#include <cuda_runtime.h>\nvoid f(void **p) { cudaMalloc(p, 1); }\n")
    kept = cache.Cache(tmp_path / "scan.sqlite")
    first = api.scan(api.read(place.parent), cache=kept).findings
    with sqlite3.connect(tmp_path / "scan.sqlite") as database:
        database.execute("UPDATE entry SET text = '[[[\"x\", 1]], 7, {}]'")
    assert first and api.scan(api.read(place.parent), cache=cache.Cache(kept.path)).findings == first


@pytest.mark.parametrize("manifest", [7, [], {"schema": 1, "members": {"a": 7}}, {"schema": 1, "members": []}])
def test_a_recording_whose_manifest_no_capture_writes_is_refused(manifest: object, tmp_path: Path) -> None:
    golden = pytest.importorskip("rocport.numerics.golden")
    path = tmp_path / "g.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(golden.MANIFEST, json.dumps(manifest))
    with pytest.raises(golden.GoldenError, match=r"not a golden file|schema"):
        golden.open_golden(path)


@pytest.mark.parametrize(
    "change",
    [
        {"shards": []},
        {"shards": {"a": 7}},
        {"shards": {"a": {"bytes": "7", "sha256": "0" * 64}}},
        {"to": 7},
        {"source": 7},
    ],
)
def test_a_record_of_a_conversion_that_none_writes_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    convert = pytest.importorskip("rocport.checkpoint.convert")
    options = SimpleNamespace(to="nf4", blocksize=64, nested=False)
    work = SimpleNamespace(checkpoint=SimpleNamespace(files=[], root=tmp_path / "src"), options=options)
    made = convert._open_destination(work, tmp_path / "src", tmp_path / "dst")
    assert convert._open_destination(work, tmp_path / "src", tmp_path / "dst") == made
    (tmp_path / "dst" / convert.STATE_FILE).write_text(json.dumps(made | change))
    with pytest.raises(CheckpointError, match="convert again"):
        convert._open_destination(work, tmp_path / "src", tmp_path / "dst")


def test_a_note_of_a_translated_kernel_loads_nothing_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocport.executor.isa import library, translate

    monkeypatch.setattr(library, "folder", lambda: tmp_path / "cache")
    inside, outside, note = tmp_path / "cache" / "a.so", tmp_path / "a.so", tmp_path / "note.json"
    inside.parent.mkdir()
    for path in (inside, outside):
        path.write_bytes(b"")
    body = {"steps": 1, "untranslated": {}, "origins": {}}
    note.write_text(json.dumps(body | {"path": str(inside)}))
    assert translate._noted(note) == body | {"path": str(inside)}
    for other in (body | {"path": str(outside)}, body | {"path": str(inside / ".." / ".." / "a.so")}, body, [], 7):
        note.write_text(json.dumps(other))
        assert translate._noted(note) is None


def test_a_value_nested_deeper_than_python_goes_is_refused_in_few_words() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(shape.ShapeError, match=r"^holds \[.{1,39} at a, expected str$"):
        shape.check({"a": value}, {"a": str})
