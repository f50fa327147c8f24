import re

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from rocport.compat.plan import held
from rocport.facts.errors import FactError
from rocport.facts.packages import STATES, find_package, normalize, package, packages
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
