"""What changed by torch and ROCm, library versions by ROCm, and limits that were documented for older versions."""

from __future__ import annotations

import pytest

from rocport.compat.text import tables_data
from rocport.facts.pytorch import beyond, changes, features, state_in
from rocport.facts.rocm import rocm_releases, torch_release
from rocport.facts.rocm_libraries import library_versions, version_in
from rocport.facts.targets import SURE, load_target, target_names
from rocport.model.versions import RocmVersion, TorchVersion


def test_every_change_has_its_versions_and_source():
    assert len(changes()) == 26
    for change in changes():
        assert TorchVersion.parse(change.torch) and RocmVersion.parse(change.rocm) and change.sure in SURE
        assert change.source.startswith("https://") and set(change.target) <= set(target_names())


@pytest.mark.parametrize(
    ("torch", "rocm", "count"),
    [
        ("2.6", "7.2", 0),
        ("2.7", "7.0", 13),
        ("2.8", "7.1", 16),
        ("2.9", "7.1.1", 26),
        ("2.9", "6.4", 1),
        ("2.9", "", 26),
    ],
)
def test_a_build_has_the_changes_of_its_torch_and_its_rocm(torch, rocm, count):
    version = RocmVersion.parse(rocm) if rocm else None
    assert sum(change.in_build(TorchVersion.parse(torch), version) for change in changes()) == count


def test_changes_about_some_targets_are_shown_for_them_only():
    shown = {
        gfx: {
            row["text"]
            for row in tables_data(torch_release(TorchVersion.parse("2.9")), load_target(gfx), "7.1.1")["tables"][
                "change"
            ]
        }
        for gfx in ("gfx908", "gfx1100")
    }
    assert "default for gfx908" in shown["gfx908"] - shown["gfx1100"]


def test_a_feature_that_came_with_a_rocm_is_not_in_older_ones():
    later = next(feature for feature in features() if feature.rocm == "6.0")
    torch = TorchVersion.parse("2.9")
    assert state_in(later, torch, RocmVersion.parse("5.7")) == "no" != state_in(later, torch, RocmVersion.parse("6.0"))


def test_a_limit_past_its_documents_says_so():
    limit = next(feature for feature in features() if feature.until_torch)
    assert beyond(limit, TorchVersion.parse("2.9"), RocmVersion.parse("7.1.1")) == ""
    assert "newer ones were not looked up" in beyond(limit, TorchVersion.parse("2.14"))
    assert "ROCm 7.1.1" in beyond(limit, TorchVersion.parse("2.9"), RocmVersion.parse("7.2"))


def test_library_versions_are_of_known_releases():
    known = {release.version for release in rocm_releases()}
    for record in library_versions():
        assert record.rocm in known and record.version[0].isdigit() and record.source.startswith("https://"), record
    assert version_in("RCCL", "6.1").version == "2.18.6" and version_in("RCCL", "7.2.3").version == "2.27.7"
    assert version_in("rocBLAS", "10.0").version == "5.6.0" and version_in("rocBLAS", "6.4").version == "4.4.1"
    assert version_in("MIOpen", "7.1").version == "3.5.1" and version_in("rocBLAS", "4.0") is None
