"""Sightings of several sources become GPUs: what belongs together, what contradicts, what is a disguise."""

from __future__ import annotations

import doctor_samples as samples

from rocport.doctor.capture import machine_from_text
from rocport.doctor.machine import Machine

XTX = samples.agent("gfx1100", 0x744C, "Radeon RX 7900 XTX", node=1)
IGPU = samples.agent("gfx1036", 0x164E, "AMD Radeon Graphics", node=2, apu=True)


def machine(*texts: str) -> Machine:
    return machine_from_text("\n".join(texts))


def shown(found: Machine) -> list[tuple[str, bool]]:
    return [(g.gfx, g.spoofed) for g in found.gpus]


def test_the_same_gpu_in_all_sources_is_one():
    found = machine(samples.kfd(110000, 0x744C), samples.rocminfo(XTX), samples.collect_env())
    assert shown(found) == [("gfx1100", False)]
    assert {s.source for s in found.gpus[0].sightings} == {"kfd", "rocminfo", "torch"}
    assert found.gpus[0].contradictions == ()


def test_kfd_unmasks_an_override():
    found = machine(samples.kfd(100301, 0x73DF), samples.rocminfo(samples.agent("gfx1030", 0x73DF)))
    gpu = found.gpus[0]
    assert shown(found) == [("gfx1031", True)]
    assert gpu.hardware == "gfx1031" and gpu.runtime_gfx == "gfx1030" and gpu.contradictions[0].what == "gfx"


def test_the_pci_id_unmasks_an_override_without_kfd():
    found = machine(samples.rocminfo(samples.agent("gfx1102", 0x15BF, apu=True)))
    gpu = found.gpus[0]
    assert shown(found) == [("gfx1102", True)]
    assert gpu.hardware == "gfx1103" and gpu.kind == "apu"


def test_a_name_alone_gives_no_gfx():
    found = machine(samples.collect_env(gpu="AMD Radeon RX 6800 XT"))
    assert found.gpus[0].gfx == "" and found.gpus[0].chip_targets == ("gfx1030",)


def test_an_unknown_chip_is_no_disguise():
    assert shown(machine(samples.rocminfo(samples.agent("gfx1201", 0x7FFF, "AMD Radeon Graphics")))) == [
        ("gfx1201", False)
    ]


def test_a_card_and_an_integrated_gpu_stay_apart():
    smi = "ROCm System Management Interface\n0  2  0x164e,  1  40C\n1  1  0x744c,  2  40C\n"
    found = machine(samples.rocminfo(IGPU, XTX), smi, samples.collect_env())
    assert shown(found) == [("gfx1100", False), ("gfx1036", False)]
    assert [g.kind for g in found.gpus] == ["dgpu", "apu"]


def test_a_spoofed_card_beside_an_integrated_gpu_does_not_accuse_the_wrong_one():
    smi = "ROCm System Management Interface\nGPU[0]\t: Card Model: 0x73df\n"
    bare = "\n".join(f"  Name:   {name}" for name in ("gfx1036", "gfx1030"))
    found = machine(f"$ rocminfo | grep Name\n{bare}\n", smi)
    assert shown(found) == [("gfx1036", False), ("gfx1030", True)]


def test_eight_alike_stay_eight():
    agents = [samples.agent("gfx942", 0x74A1, "AMD Instinct MI300X", node=n, wave=64) for n in range(2, 10)]
    found = machine(samples.rocminfo(*agents), samples.collect_env(gpu="AMD Instinct MI300X (gfx942)"))
    assert [g.gfx for g in found.gpus] == ["gfx942"] * 8


def test_a_paste_with_the_same_output_twice_does_not_double():
    assert shown(machine(samples.rocminfo(XTX), samples.rocminfo(XTX))) == [("gfx1100", False)]


def test_before_and_after_an_override_in_one_paste_is_a_contradiction():
    before, after = samples.agent("gfx1031", 0x73DF), samples.agent("gfx1030", 0x73DF)
    found = machine(samples.rocminfo(before), "HSA_OVERRIDE_GFX_VERSION=10.3.0 rocminfo", samples.rocminfo(after))
    assert len(found.gpus) == 1 and found.gpus[0].spoofed


def test_what_a_reporter_wrote_does_not_outvote_the_tools():
    text = "### GPU\n\nAMD Radeon RX 7600\n"
    found = machine(text, samples.rocminfo(XTX))
    assert shown(found) == [("gfx1100", False)]
    assert machine(text).gpus[0].chip_targets == ("gfx1102",)


def test_early_silicon_is_no_disguise():
    found = machine(samples.rocminfo(samples.agent("gfx941", 0x74A1, "AMD Instinct MI300X", wave=64)))
    assert shown(found) == [("gfx941", False)]


def test_an_mi300a_is_an_apu_by_chip_or_name():
    by_name = machine(samples.collect_env(gpu="AMD Instinct MI300A (gfx942)"))
    by_chip = machine(samples.rocminfo(samples.agent("gfx942", 0x74A0, wave=64)))
    assert [g.kind for g in (*by_name.gpus, *by_chip.gpus)] == ["apu", "apu"]
    assert machine(samples.collect_env(gpu="AMD Instinct MI300X (gfx942)")).gpus[0].kind == "dgpu"


def test_amd_smi_list_carries_the_chip_in_the_uuid():
    text = "GPU: 0\n    BDF: 0000:c3:00.0\n    UUID: 00ff1586-0000-1000-8000-000000000000\n    NODE_ID: 1\n"
    assert machine(text).gpus[0].chip_targets == ("gfx1151",)
