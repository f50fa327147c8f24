from __future__ import annotations

from dataclasses import replace

import pytest

from rocport.model.targets import GfxTarget, Support, Switch

CDNA = GfxTarget("gfx942", "CDNA3", 64, (64,), 65536, "mfma", "fnuz", True, "dgpu")
RDNA = replace(CDNA, name="gfx1100", family="RDNA3", wavefront=32)


@pytest.mark.parametrize(
    ("name", "number", "capability"),
    [
        ("gfx942", 90402, (9, 4)),
        ("gfx90a", 90010, (9, 0)),
        ("gfx906", 90006, (9, 0)),
        ("gfx1100", 110000, (11, 0)),
        ("gfx1151", 110501, (11, 5)),
        ("gfx1201", 120001, (12, 0)),
        ("gfx1100-strix", 110000, (11, 0)),
    ],
)
def test_the_driver_and_torch_spell_a_target_as_numbers(name: str, number: int, capability: tuple[int, int]) -> None:
    target = replace(CDNA, name=name)
    assert target.gfx_target_version == number
    assert target.capability == capability


def test_records_of_a_library_are_found_in_any_case() -> None:
    records = tuple(Support(name, "yes", "1", "", "documented") for name in ("rocBLAS", "MIOpen", "rocBLAS"))
    target = replace(CDNA, support=records)
    assert target.library("ROCBLAS") == (records[0], records[2])
    assert target.library("rccl") == ()


def test_switches_are_those_a_torch_release_asks_for() -> None:
    old = Switch("AOTriton", "OLD", "1", "<2.11", "", "documented")
    always = Switch("aotriton", "ALWAYS", "1", "", "", "documented")
    other = Switch("MIOpen", "OTHER", "1", "", "", "documented")
    target = replace(CDNA, switches=(old, always, other))
    assert target.switches_of("AOTriton") == (old, always)
    assert target.switches_of("AOTriton", "2.10.0") == (old, always)
    assert target.switches_of("AOTriton", "2.11.0") == (always,)
    assert target.switches_of("AOTriton", "2.11.0.dev1") == (always,), "a pre-release of 2.11 is no 2.10"
    assert target.switches_of("AOTriton", "2.10.0.dev1") == (old, always)


def test_radeon_means_rdna() -> None:
    assert RDNA.radeon
    assert not CDNA.radeon
    assert not replace(CDNA, family="GCN5").radeon


def test_an_apu_is_told_by_kind_by_pci_id_or_by_product() -> None:
    target = replace(CDNA, chip_ids=(0x74A0, 0x74A1), apu_chip_ids=(0x74A0,), apu_products=("MI300A",))
    assert target.is_apu(0x74A0)
    assert not target.is_apu(0x74A1)
    assert not target.is_apu(0x74A1, "AMD Instinct MI300A"), "the id is known and decides"
    assert target.is_apu(0x9999, "AMD Instinct MI300A")
    assert not target.is_apu(0x9999, "AMD Instinct MI300X")
    assert not target.is_apu()
    apu = replace(target, kind="apu")
    assert apu.is_apu() and apu.is_apu(0x74A1) and apu.is_apu(0x9999)
