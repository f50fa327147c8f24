"""ROCm and PyTorch releases, wheels, and the HIP numbers that are no ROCm numbers."""

from __future__ import annotations

import pytest

from rocport.facts.errors import FactError
from rocport.facts.rocm import (
    channel_of_torch,
    parse_hip,
    releases_of_hip,
    rocm_release,
    rocm_releases,
    torch_release,
    torch_releases,
    wheel_channel,
    wheel_channels,
)
from rocport.facts.rocm_libraries import library_versions
from rocport.facts.targets import SURE, load_target
from rocport.model.versions import HipVersion, RocmVersion, TorchVersion


def test_every_record_has_a_source():
    records = [*rocm_releases(), *torch_releases(), *wheel_channels()]
    assert all(r.source and r.sure in SURE for r in records)


def test_releases_are_ordered_and_parse():
    versions = [RocmVersion.parse(r.version) for r in rocm_releases()]
    assert versions == sorted(versions, reverse=True)
    assert len(set(versions)) == len(versions)
    for record in rocm_releases():
        assert not record.hip or HipVersion.parse(record.hip)


@pytest.mark.parametrize(
    ("hip", "rocm"),
    [
        ("7.17.26392", ("10.2.0",)),
        ("7.16.12345", ("10.1.0",)),
        ("7.15.26333", ("10.0.0",)),
        ("6.2.41134-65d174c3e", ("6.2.4", "6.2.2", "6.2.1")),
        ("6.1.40091-a8dbc0c19", ("6.1.0",)),
        ("6.3.42134", ("6.3.3", "6.3.2")),
        ("6.0.32831-204d35d16", ("6.0.2",)),
    ],
)
def test_hip_is_not_rocm(hip, rocm):
    assert releases_of_hip(HipVersion.parse(hip)) == rocm


def test_hip_without_a_build_number_leaves_all_patches():
    assert releases_of_hip(HipVersion.parse("7.2.0"))[0] == "7.2.4"
    assert releases_of_hip(HipVersion.parse("99.1")) == ()


def test_release_lookup():
    assert rocm_release(RocmVersion.parse("6.4")).version == "6.4.4"
    assert rocm_release(RocmVersion.parse("6.4.1")).prefix == "/opt/rocm-6.4.1"
    with pytest.raises(FactError):
        rocm_release(RocmVersion.parse("4.4"))


def test_torch_lookup():
    assert torch_release(TorchVersion.parse("2.9.1+rocm6.4")).torchvision == "0.24"
    with pytest.raises(FactError):
        torch_release(TorchVersion.parse("1.4.0"))


def test_channels_hold_known_targets():
    for channel in wheel_channels():
        assert len(set(channel.targets)) == len(channel.targets)
        for name in (*channel.targets, *channel.unsure):
            load_target(name)
        assert not set(channel.targets) & set(channel.unsure)


def test_wheels():
    assert "gfx900" in wheel_channel("7.2").targets and "gfx900" not in wheel_channel("rocm7.14").targets
    assert "gfx1151" not in wheel_channel("7.1").targets
    assert "gfx1036" in wheel_channel("multi-arch").targets
    with pytest.raises(FactError):
        wheel_channel("rocm99")


@pytest.mark.parametrize(
    ("version", "channel"),
    [
        ("2.9.0.dev20250811+rocm6.4", "6.4"),
        ("2.6.0+rocm6.2.4", "6.2.4"),
        ("2.13.0+rocm10.0.0", None),
        ("2.9.1+rocm7.2.0.git7e1940d4", None),
        ("2.13.0+cpu", None),
        ("2.14.0+rocm714", None),
    ],
)
def test_only_wheels_of_pytorch_have_a_channel(version, channel):
    found = channel_of_torch(TorchVersion.parse(version))
    assert (found.name if found else None) == channel


@pytest.mark.parametrize(
    ("version", "gfx", "carried"),
    [
        ("2.5.1+rocm6.1", "gfx1101", False),
        ("2.6.0+rocm6.1", "gfx1101", True),
        ("2.6.0+rocm6.2.4", "gfx1101", True),
        ("2.6.0+rocm6.2.4", "gfx1201", False),
        ("2.7.1+rocm6.2.4", "gfx1201", True),
        ("2.7.0.dev20250401+rocm6.2.4", "gfx1102", True),
    ],
)
def test_a_channel_holds_what_it_had_for_that_torch(version, gfx, carried):
    found = channel_of_torch(TorchVersion.parse(version))
    assert (gfx in found.targets) is carried
    assert "gfx1100" in found.targets and found.source.startswith("https://")


def test_since_names_targets_of_the_channel_and_has_a_source():
    for channel in wheel_channels():
        assert {name for name, _ in channel.since} <= set(channel.targets)
        assert bool(channel.since) == bool(channel.since_source)


def test_text_that_is_no_hip_version():
    assert parse_hip("N/A") is None and parse_hip("Could not collect") is None
    assert str(parse_hip("7.2.26015-fc0010cf6a")) == "7.2.26015-fc0010cf6a"


def test_a_release_and_the_table_of_libraries_say_the_same_hip():
    """6.0.2 was 6.0.32831 in one and 6.1.32831 in the other. A third number of 0 is no build."""
    table = {record.rocm: HipVersion.parse(record.version) for record in library_versions() if record.library == "HIP"}
    releases = {record.version: HipVersion.parse(record.hip) for record in rocm_releases() if record.hip}
    both = {version: (table[version], releases[version]) for version in table.keys() & releases.keys()}
    assert len(both) == len(table) > 20
    wrong = [
        version
        for version, (one, other) in both.items()
        if one.release[:2] != other.release[:2] or (one.patch or None) != (other.patch or None)
    ]
    assert wrong == []


def test_the_build_of_hip_names_a_source_that_holds_it():
    """AMD's list of versions names no builds."""
    releases = {record.version: record for record in rocm_releases()}
    for record in library_versions():
        release = releases[record.rocm]
        if record.library == "HIP" and HipVersion.parse(release.hip).patch:
            assert "versions.rst" not in (release.hip_source or release.source), record.rocm
