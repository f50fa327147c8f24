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


@pytest.mark.parametrize(
    ("value", "name"), [(30000, "gfx300"), (991515, "gfx99ff"), (90015, "gfx90f"), (91500, "gfx9f0")]
)
def test_the_numbers_at_the_edges_are_read(value, name):
    assert decode_gfx_target_version(value) == name


@pytest.mark.parametrize("value", [0, -1, 9040, 11050, 90499, 91710, 29999, 20000, 1000000, 90016, 91600, -90402])
def test_numbers_no_gpu_has_are_refused(value):
    with pytest.raises(ValueError):
        decode_gfx_target_version(value)


@pytest.mark.parametrize("target", all_targets(), ids=lambda t: t.name)
def test_every_name_and_number_of_a_target_leads_back_to_it(target):
    assert all(target.name in targets_of_chip(chip) for chip in target.chip_ids)
    assert all(targets.early_name_of(f"{early}:xnack+") == target.name for early in target.early_names)
    assert targets.early_name_of(target.name) == ""
    assert target.elf_machine is None or targets.target_of_elf(target.elf_machine) == target.name
    assert targets.running(f" {target.name.upper()}:xnack-") is target
    if target.llvm_generic:
        assert targets.running(target.llvm_generic).llvm_generic == target.llvm_generic
    assert targets.is_gfx_name(target.name) and not targets.is_older_than_rocm(target.name)


def test_what_is_no_target_leads_nowhere():
    assert targets.running("gfx0") is None and targets.running("") is None
    assert targets.target_of_elf(-1) == "" and targets.early_name_of("gfx0") == ""
    assert targets.is_older_than_rocm("gfx701") and targets.is_older_than_rocm("GFX803")


def test_a_width_of_wavefronts_has_its_target():
    assert [targets.wave_target(width).wavefront for width in (32, 64)] == [32, 64]
    assert targets.one_of_each_width() == (targets.wave_target(64).name, targets.wave_target(32).name)
    with pytest.raises(KeyError):
        targets.wave_target(16)
    assert all(load_target(name).matrix != "none" for name in targets.compiled_targets())
    assert set(targets.default_targets()) <= set(targets.target_names())


def test_targets_in_words():
    def of(*names):
        return lambda target: target.name in names

    assert targets.listed(of()) == "" == targets.families(of())
    assert targets.listed(of("gfx942")) == "gfx942"
    assert targets.listed(of("gfx950", "gfx942")) == "gfx942 and gfx950"
    assert targets.listed(of("gfx950", "gfx942", "gfx90a")) == "gfx90a, gfx942 and gfx950"
    unreleased = [target.name for target in all_targets() if not target.released]
    assert unreleased and targets.listed(of(*unreleased)) == "" == targets.families(of(*unreleased))
    assert targets.families(of("gfx1100", "gfx1101", "gfx942")) == "CDNA3 and RDNA3"
    assert targets.capabilities() == "gfx942: 9.4, gfx1100: 11.0"
    assert "Hygon DCU: gfx926, gfx928" in targets.forks()


def test_what_targets_answer_for_matrix_values_and_lanes():
    assert [targets.wave64(load_target(name)) for name in ("gfx942", "gfx1100")] == [True, False]
    assert [targets.fnuz(load_target(name)) for name in ("gfx942", "gfx950", "gfx90a")] == [True, False, False]
    assert [targets.ocp(load_target(name)) for name in ("gfx942", "gfx950", "gfx90a")] == [False, True, False]


def test_targets_are_ordered_by_architecture():
    names = targets.target_names()
    assert names.index("gfx90a") < names.index("gfx942") < names.index("gfx1030") < names.index("gfx1100")
    assert tuple(target.name for target in all_targets()) == names


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
        ("AMD Ryzen 9 7900X", ()),
        ("Radeon R9 6800", ()),
        ("NVIDIA GeForce RTX 6800", ()),
        ("FirePro W6800", ()),
        ("rx 7900 xtx radeon", ("gfx1100",)),
        ("Radeon RX 7900", ()),
        ("Instinct MI300", ()),
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
