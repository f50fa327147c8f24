import re
from dataclasses import replace

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from rocport.compat.plan import held
from rocport.facts.errors import FactError
from rocport.facts.packages import (
    STATES,
    NativeWheel,
    PolicyRule,
    find_package,
    normalize,
    package,
    packages,
)
from rocport.facts.rocm import wheel_channels
from rocport.facts.targets import SURE, all_targets, load_target

ALL = packages()


@pytest.mark.parametrize("item", ALL, ids=lambda item: item.name)
def test_a_record_is_complete_and_points_at_things_that_exist(item):
    assert item.state in STATES and item.sure in SURE
    assert item.source and item.summary
    assert item.versions or item.sure == "reported"
    for specifier in (item.torch, item.python, item.rocm):
        SpecifierSet(specifier)
    for name in (*item.targets, *item.native_targets):
        load_target(name)
    assert set(item.channels) <= {channel.name for channel in wheel_channels()}
    if item.target_library:
        assert any(target.library(item.target_library) for target in all_targets())
    if item.since:
        Version(item.since)


@pytest.mark.parametrize("item", ALL, ids=lambda item: item.name)
def test_a_package_without_an_amd_build_names_what_replaces_it_or_says_why_not(item):
    if item.state == "cuda-only":
        assert item.replacement or item.note
    elif item.state in ("wheel", "separate", "build", "fork", "partial"):
        assert item.install or item.note


def test_installs_do_not_drag_in_a_cuda_torch():
    """A plan holds torch by constraints, or installs without dependencies."""
    for item in ALL:
        for part in item.install.split(" && "):
            if re.search(r"\bpip install\b", part):
                assert "-c torch-constraints.txt" in held(part) or "--no-deps" in part, item.name


def test_names_are_found_as_indexes_write_them():
    assert package("Flash_Attn").name == "flash-attn"
    assert package("nvidia-cublas-cu12").state == "cuda-only"
    assert normalize("ruamel.yaml__clib") == "ruamel-yaml-clib"
    assert find_package("left-pad") is None
    with pytest.raises(FactError, match="bitsandbytes"):
        package("bitsandbyte")


def test_block_sizes_of_bitsandbytes_per_wavefront():
    def takes(size, wavefront, version):
        return any(
            size in rule.sizes
            and rule.wavefront in (0, wavefront)
            and (not rule.since or Version(version) >= Version(rule.since))
            for rule in package("bitsandbytes").blocksizes
        )

    assert not takes(64, 64, "0.48.2") and takes(128, 64, "0.48.2")
    assert takes(64, 32, "0.49.0") and not takes(64, 64, "0.49.1") and takes(64, 64, "0.49.2")
    assert not takes(32, 64, "0.49.2") and takes(32, 64, "0.50.0")


def wheel(choice, *builds, **more):
    return NativeWheel("1.0", "2.0", builds, choice, "https://a", "measured", **more)


@pytest.mark.parametrize(
    ("choice", "builds", "hip", "expected"),
    [
        ("exact", ("6.4", "7.2"), (7, 2), "7.2"),
        ("exact", ("6.4", "7.2"), (7, 1), ""),
        ("exact", (), (7, 2), ""),
        ("exact", ("7.10", "8.0"), (7, 10), "8.0"),  # the loader compares the digits: 7 * 10 + 10 is 80
        ("nearest", ("7.0", "7.2", "7.10"), (7, 2), "7.2"),
        ("nearest", ("7.0", "7.2", "7.10"), (7, 9), "7.2"),
        ("nearest", ("7.0", "7.2", "7.10"), (7, 11), "7.10"),
        ("nearest", ("7.1", "7.2"), (7, 0), "7.1"),
        ("nearest", ("6.4", "7.2"), (8, 0), ""),
        ("nearest", (), (7, 2), ""),
    ],
)
def test_which_library_of_a_wheel_is_loaded(choice, builds, hip, expected):
    assert wheel(choice, *builds).library_for(hip) == expected


def test_the_libraries_may_be_those_of_another_system():
    assert wheel("nearest", "6.4").library_for((7, 2), ("7.1", "7.2")) == "7.2"
    assert wheel("exact", "7.2").library_for((7, 2), ()) == "7.2"


def test_a_wheel_is_from_its_first_version_to_before_its_last():
    rows = (wheel("exact", "6.4"), replace(wheel("exact", "7.2"), since="2.0", until=""))
    made = replace(ALL[0], wheels=rows)
    assert [made.wheel_of(version) for version in ("0.9", "2.0rc1")] == [None, rows[0]]
    assert [made.wheel_of(version) for version in ("1.0", "1.0+local", "1.9.9")] == [rows[0]] * 3
    assert [made.wheel_of(version) for version in ("2.0", "9.0")] == [rows[1]] * 2
    assert replace(made, wheels=()).wheel_of("1.0") is None


CDNA, RDNA = load_target("gfx942"), load_target("gfx1030")


@pytest.mark.parametrize(
    ("limits", "target", "version", "expected"),
    [
        ({}, CDNA, None, True),
        ({"wavefront": 64}, CDNA, None, True),
        ({"wavefront": 64}, RDNA, None, False),
        ({"wavefront": 32}, RDNA, None, True),
        ({"bf16_matrix": True}, CDNA, None, True),
        ({"bf16_matrix": False}, CDNA, None, False),
        ({"bf16_matrix": False}, RDNA, None, True),
        ({"targets": ("gfx942",)}, CDNA, None, True),
        ({"targets": ("gfx942",)}, RDNA, None, False),
        ({"bitsandbytes": ">=0.49"}, CDNA, None, False),
        ({"bitsandbytes": ">=0.49"}, CDNA, "0.49.0", True),
        ({"bitsandbytes": ">=0.49"}, CDNA, "0.48.2", False),
        ({"bitsandbytes": ">=0.49"}, CDNA, "0.50.0.dev1", True),
        ({"bitsandbytes": ">=0.49", "wavefront": 32}, CDNA, "0.49.0", False),
    ],
    ids=str,
)
def test_a_policy_covers_what_all_of_its_limits_do(limits, target, version, expected):
    assert PolicyRule("t", "x", "https://a", "measured", **limits).covers(target, version) is expected


def test_a_name_is_looked_up_before_any_alias():
    for item in ALL:
        assert find_package(item.name.upper().replace("-", "_.")) is item
        assert item.imported == (item.module or item.name.replace("-", "_")) and "-" not in item.imported
