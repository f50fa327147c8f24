"""The gfx targets: every file loads, says what was measured, and carries its sources."""

from __future__ import annotations

import pytest
from packaging.version import Version

from rocport.facts import targets
from rocport.facts.errors import FactError
from rocport.facts.products import unserved_product
from rocport.facts.targets import (
    SURE,
    all_targets,
    decode_gfx_target_version,
    is_gfx_name,
    load_target,
    targets_of_chip,
    targets_of_product,
)


@pytest.mark.parametrize("target", all_targets(), ids=lambda t: t.name)
def test_every_target_is_whole(target):
    assert load_target(target.name) is target
    assert target.wavefront in target.wavefronts
    assert set(target.wavefronts) <= {32, 64}
    assert target.matrix in {"mfma", "wmma", "none"}
    assert target.fp8 in {"fnuz", "ocp", "none", "unknown"}
    assert target.kind in {"dgpu", "apu"}
    assert target.lds_bytes in {64 << 10, 160 << 10, 320 << 10}
    assert target.official is not None and target.official.sure in SURE
    assert target.sources and all(s.sure in SURE and s.url and s.versions for s in target.sources)
    for record in target.support:
        assert record.state in {"yes", "no", "partial", "experimental", "aborts"}
        assert record.source and record.versions and record.sure in SURE
        if record.since and record.until:
            assert Version(record.since) < Version(record.until)


@pytest.mark.parametrize("target", all_targets(), ids=lambda t: t.name)
def test_kfd_number_decodes_back(target):
    assert decode_gfx_target_version(target.gfx_target_version) == target.name.removesuffix("-strict")


def test_the_traps_are_right():
    assert load_target("gfx1250").wavefronts == (32,)
    assert load_target("gfx1250").matrix == "wmma"
    assert load_target("gfx942").fp8 == "fnuz"
    assert load_target("gfx950").fp8 == "ocp" and load_target("gfx950").lds_bytes == 160 << 10
    assert load_target("gfx90a").fp8 == "none"
    assert load_target("gfx942").is_apu(0x74A0) and not load_target("gfx942").is_apu(0x74A1)
    assert not load_target("gfx1030").bf16_matrix and load_target("gfx1100").bf16_matrix


def test_features_are_not_part_of_the_name():
    assert load_target("gfx942:sramecc+:xnack-").name == "gfx942"
    assert load_target(" GFX1100 ").name == "gfx1100"


def test_the_folder_is_read_once():
    """A long rocminfo asks for the names at each of its agents."""
    assert targets.target_names() is targets.target_names()


def test_an_unknown_target_names_what_comes_close():
    with pytest.raises(FactError, match="gfx1105") as caught:
        load_target("gfx1105")
    assert isinstance(caught.value, KeyError)
    assert caught.value.suggestions
    with pytest.raises(FactError):
        load_target("../targets/gfx942")


def test_shape_of_names():
    assert is_gfx_name("gfx928") and is_gfx_name("gfx11-generic") and is_gfx_name("gfx1250-strict")
    assert not is_gfx_name("aie2p") and not is_gfx_name("gfx") and not is_gfx_name("sm_90")


@pytest.mark.parametrize(
    ("value", "name"),
    [(90402, "gfx942"), (90010, "gfx90a"), (90012, "gfx90c"), (110501, "gfx1151"), (100306, "gfx1036")],
)
def test_kfd_steps_are_hex(value, name):
    assert decode_gfx_target_version(value) == name


@pytest.mark.parametrize("value", [0, -1, 9040, 11050, 90499, 91710])
def test_numbers_no_gpu_has_are_refused(value):
    with pytest.raises(ValueError):
        decode_gfx_target_version(value)


def test_chips():
    assert targets_of_chip(0x744C) == ("gfx1100",)
    assert targets_of_chip(0x15BF) == ("gfx1103",)
    assert targets_of_chip(0x73DF) == ("gfx1031",)
    assert targets_of_chip(0x1234) == ()


@pytest.mark.parametrize(
    ("product", "names"),
    [
        ("AMD Radeon RX 7900 XTX", ("gfx1100",)),
        ("AMD Radeon RX 6700 XT", ("gfx1031",)),
        ("AMD Radeon RX 6800 XT", ("gfx1030",)),
        ("AMD Radeon(TM) 8050S Graphics", ("gfx1151",)),
        ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", ("gfx1151",)),
        ("Radeon 840M", ("gfx1152", "gfx1153")),
        ("AMD Instinct MI300X", ("gfx942",)),
        ("AMD Radeon Graphics", ()),
        ("AMD Radeon HD 6800 Series", ()),
        ("AMD Ryzen 5 5600 6-Core Processor", ()),
        ("AMD Ryzen 5 5600G with Radeon Graphics", ()),
        ("", ()),
    ],
)
def test_products(product, names):
    assert targets_of_product(product) == names


def test_triton_support_has_ranges():
    records = load_target("gfx1010").library("Triton")
    assert [(r.since, r.until, r.state) for r in records] == [
        ("3.0.0", "3.8.0", "yes"),
        ("3.8.0", "3.9.0", "aborts"),
        ("3.9.0", "", "no"),
    ]
    assert load_target("gfx1036").library("triton")[-1].state == "no"


@pytest.mark.parametrize("card", ["Radeon R9 290X", "Radeon R9 380", "Radeon RX 560"])
def test_what_old_cards_had_rests_on_amds_own_list(card):
    found = unserved_product(card)
    assert found is not None and found.source == "https://rocm.github.io/hardware.html"
    assert "1.9" in found.text and "no current release or wheel" in found.text
