"""Systems, drivers, kernels and AMD's torch builds: names resolve, versions parse, sources are there."""

from __future__ import annotations

import pytest
from packaging.version import Version

from rocport.facts.errors import FactError
from rocport.facts.platforms import amd_torch, driver_of, find_system, kernels_of, systems, windows_targets
from rocport.facts.pytorch import features, state_in
from rocport.facts.rocm import rocm_release, torch_release
from rocport.facts.rocm_systems import rocm_systems, systems_of
from rocport.facts.targets import SURE, target_names
from rocport.model.versions import RocmVersion, TorchVersion


def test_systems():
    seen: set[str] = set()
    for system in systems():
        assert system.kind in ("linux", "wsl", "windows") and system.sure in SURE and system.source
        assert bool(system.glibc) == (system.kind == "linux")
        names = {system.id, *system.aliases}
        assert not names & seen
        seen |= names
    assert find_system("Ubuntu 24.04").id == find_system("noble").id == find_system("ubuntu-24.04").id == "ubuntu24.04"
    with pytest.raises(FactError, match=r"ubuntu24\.04"):
        find_system("ubuntu24.10")


def test_drivers_are_found_by_major_and_minor():
    driver = driver_of("10.1.0")
    assert driver is not None and driver.minimum == "30.10.2" and driver.sure in SURE
    assert driver_of("7.14") is None, "7.14 is not 7.1"
    assert Version(driver_of("6.2.4").minimum) == Version("6.0")


def test_kernels_are_for_targets_and_systems():
    assert [k.minimum for k in kernels_of("gfx1151", find_system("ubuntu24.04"))] == ["6.14", "6.18.4"]
    assert [k.minimum for k in kernels_of("gfx1151", find_system("debian13"))] == ["6.18.4"]
    assert kernels_of("gfx942", None) == ()


def test_targets_of_windows_are_known_ones():
    known = windows_targets()
    assert known.targets and {*target_names()} >= set(known.targets)
    assert known.sure in SURE and known.source


def test_amds_builds_are_of_known_releases():
    for build in amd_torch():
        assert rocm_release(RocmVersion.parse(build.rocm)) and build.sure in SURE
        for version in build.torch:
            assert torch_release(TorchVersion.parse(version)).version == version


def test_states_follow_the_version_of_torch():
    by_name = {feature.name: feature for feature in features()}
    served = by_name["torchserve"]
    assert state_in(served, TorchVersion.parse("2.4.1")) == "yes"
    assert state_in(served, TorchVersion.parse("2.5")) == "unmaintained"
    assert state_in(by_name["torch.uint16"], TorchVersion.parse("2.2")) == "no"
    assert state_in(by_name["torch.uint16"], TorchVersion.parse("2.10")) == "limited"


def test_systems_of_a_release_are_those_of_its_newest_documented_patch():
    assert [row.version for row in systems_of("7.0", "radeon", "ubuntu24.04")] == ["24.04.3"]
    assert {row.rocm for row in systems_of("6.4", "instinct")} == {"6.4.3"}
    assert {row.title for row in systems_of("6.3.2", "instinct", "rhel9")} >= {"rhel 9.4", "rhel 9.5"}
    assert systems_of("10.1.0", "ryzen", "debian13") == () and systems_of("10.1.0", "instinct", "debian13")
    assert systems_of("5.7", "instinct") == ()
    for row in rocm_systems():
        assert RocmVersion.parse(row.rocm) and row.family in ("", "instinct", "radeon", "ryzen")
        assert all(part.startswith("https://") for part in row.source.split())
