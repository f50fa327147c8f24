"""Real captures, when they are beside the repository: the gfx, count and conclusion recorded for each."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from rocport.doctor.capture import read_captures
from rocport.doctor.diagnosis import diagnose
from rocport.explain.reading import read_bytes

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "captures"
ROWS = list(csv.DictReader((FOLDER / "index.csv").open(encoding="utf-8"))) if (FOLDER / "index.csv").is_file() else []
pytestmark = pytest.mark.skipif(not ROWS, reason="no folder of captures beside the repository")

# conclusions in index.csv -> check and status
CONCLUSIONS = {
    "04": [("npu-agent", "ok")],
    "07": [("gfx-override", "warn"), ("triton-target", "warn")],
    "12": [("torch-arch", "warn"), ("triton-target", "warn")],
    "13": [("gfx-override", "warn")],
    "17": [("gpu-found", "fail")],
    "20": [("integrated-gpu", "warn")],
    "21": [("kfd-access", "fail")],
    "23": [("kfd-access", "fail")],
    "24": [("kfd-access", "fail")],
    "25": [("wsl", "ok"), ("kfd-access", "skipped")],
    "27": [("amdgpu-module", "fail")],
    "29": [("torch-arch", "warn"), ("triton-target", "warn")],
    "60": [("triton-packages", "fail"), ("torch-family", "fail"), ("rocm-trees", "warn")],
    "63": [("wsl", "fail")],
    "65": [("hipblaslt", "fail")],
    "67": [("rocm-trees", "warn")],
    "68": [("gfx-known", "fail")],
    "70": [("wsl", "ok"), ("torch-versions", "ok")],
    "72": [("torch-versions", "ok"), ("windows", "ok")],
    "90": [("bnb-library", "ok")],
    "92": [("bnb-library", "fail")],
    "94": [("bnb-library", "fail")],
    "96": [("torch-build", "fail")],
    "97": [("bnb-library", "fail")],
}
# The failures whose signatures may claim something of a capture, the first one of each: of every other one, nothing.
CLAIMS = {
    "21": "kfd-permission-denied",
    "23": "kfd-invalid-argument",
    "24": "kfd-out-of-memory",
    "27": "rock-module-not-loaded",
    "92": "bnb-undefined-device-stub",
    "94": "bnb-rocm-version-misparsed",
    "97": "bnb-library-not-found",
}
HEALTHY = ("03", "04", "05", "09", "10", "15", "16", "19", "28", "51", "52", "54", "58", "61", "70", "72", "81", "82")


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["file"])
def test_capture(row):
    machine = read_captures([FOLDER / row["file"]])
    expected: Counter[str] = Counter()
    for item in row["gpu_archs_expected"].split(";"):
        match = re.fullmatch(r"(gfx[0-9a-f]+?)(?:x(\d+))?", item)
        if match:
            expected[match.group(1)] += int(match.group(2) or 1)
    assert Counter(g.gfx for g in machine.gpus if g.gfx) == expected
    if row["wave_sizes_in_text"].isdigit():
        assert {g.wavefront for g in machine.gpus} == {int(row["wave_sizes_in_text"])}
    for column, name in (("kernel_driver", "driver"), ("torch", "torch"), ("hip", "hip")):
        if row[column]:
            facts = [v.value for v in machine.facts.versions if v.name in (name, f"torch_{name}")]
            assert row[column] in facts
    diagnosis = diagnose(machine)
    number = row["file"][:2]
    for check, status in CONCLUSIONS.get(number, ()):
        result = diagnosis.result(check)
        assert result is not None and result.status == status, (check, result)
    if number in HEALTHY:
        assert [(r.check.id, r.message) for r in diagnosis.results if r.status in ("warn", "fail")] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["file"])
def test_signatures_claim_what_was_recorded_of_a_capture_and_nothing_else(row):
    reading = read_bytes((FOLDER / row["file"]).read_bytes(), row["file"])
    assert [match.failure.id for match in reading.matches[:1]] == [CLAIMS[n] for n in (row["file"][:2],) if n in CLAIMS]
    assert not reading.foreign


def test_all_of_them_as_one_folder():
    assert diagnose(read_captures([FOLDER])).machine.gpus
