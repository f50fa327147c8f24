"""The words and the exit code of `make demo` agree, also where PyTorch is not installed."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

PLACE = Path(__file__).parents[1] / "examples" / "demo.py"
SPEC = importlib.util.spec_from_file_location("demo", PLACE)
assert SPEC is not None and SPEC.loader is not None
demo = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(demo)


@pytest.mark.parametrize(
    ("statuses", "failed", "said"),
    [
        (["ok", "ok"], False, ""),
        (["ok", "skip"], False, "Not compiled here: b.cpp: torch is not installed."),
        (["fail", "skip"], True, "Not compiled here: b.cpp: torch is not installed."),
        (["fail", "ok"], True, ""),
    ],
)
def test_a_unit_that_was_not_tried_is_named_and_no_failure(
    tmp_path: Path, statuses: list[str], failed: bool, said: str
) -> None:
    units = [
        {"path": path, "status": status, "reason": "torch is not installed" if status == "skip" else ""}
        for path, status in zip(("a.cu", "b.cpp"), statuses, strict=True)
    ]
    (tmp_path / "build.json").write_text(json.dumps({"units": units}))
    assert demo.not_compiled(tmp_path / "build.json") == (failed, said)
