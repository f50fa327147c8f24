"""A rule that crashes on a file is named with the file; the other rules and files go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rocport.model import Context, Finding
from rocport.rules import discover
from rocport.scan import engine
from rocport.syntax.cuda import CudaSource

CUDA = b"__device__ int f(int v) { return __shfl(v, 0); }\n"
PYTHON = b"import torch\nif torch.version.cuda is None:\n    raise SystemExit\n"


def _crash(source: object, context: Context) -> Iterator[Finding]:
    raise IndexError("no such token")
    yield


@pytest.mark.parametrize(
    ("language", "path", "data"), [("cuda", "a.cu", CUDA), ("python", "setup.py", PYTHON)], ids=["cuda", "python"]
)
def test_the_other_rules_go_on(monkeypatch: pytest.MonkeyPatch, language: str, path: str, data: bytes) -> None:
    whole = engine.scan_file(path, data, language, Context())
    assert isinstance(whole, list) and whole
    broken = whole[0].rule
    rules = tuple(
        replace(loaded, check=_crash) if loaded.rule.name == broken else loaded
        for loaded in discover()
        if language in loaded.rule.languages
    )
    monkeypatch.setattr(engine, "_rules_for", lambda asked: rules)

    failed = []
    found = engine.scan_file(path, data, language, Context(), failed)

    assert isinstance(found, list)
    assert [item for item in found if item.rule != broken] == [item for item in whole if item.rule != broken]
    assert broken not in {item.rule for item in found}
    ((problem),) = failed
    assert problem.path == path
    assert f"the rule {broken} failed (IndexError: no such token)" in problem.message
    with pytest.raises(IndexError):
        engine.scan_file(path, data, language, Context())


def test_a_port_reports_it_as_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = next(item for item in discover() if "cuda" in item.rule.languages and not item.rule.triggers)
    monkeypatch.setattr(engine, "_rules_for", lambda asked: (replace(loaded, check=_crash),))
    scanned = engine.Scan(Context()).lexed(CudaSource("a.cu", CUDA))
    assert [item.path for item in scanned.problems] == ["a.cu"]
    assert loaded.rule.name in scanned.problems[0].message
