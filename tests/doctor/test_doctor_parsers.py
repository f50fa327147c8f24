"""Each parser on text in its tool's format."""

from __future__ import annotations

import doctor_samples as samples
import pytest

from rocport.doctor.capture import machine_from_text, parse_text
from rocport.doctor.probes import bitsandbytes, collect_env, kfd, lspci, pip_list, rocminfo, smi
from rocport.doctor.probes.names import gfx_of
from rocport.doctor.text import clean


def names(facts) -> list[str]:
    return [s.gfx for s in facts.sightings]


def test_kfd_skips_cpu_nodes_and_splits_files():
    text = samples.KFD_CPU + samples.kfd(90402, 0x74A1, wave=64) + samples.kfd(110501, 0x1586)
    found = kfd.parse(clean(text), "f").sightings
    assert [(s.gfx, s.wavefront, s.chip_id) for s in found] == [("gfx942", 64, 0x74A1), ("gfx1151", 32, 0x1586)]


def test_kfd_from_grep():
    text = (
        "/sys/class/kfd/kfd/topology/nodes/0/properties:gfx_target_version 0\n"
        "/sys/class/kfd/kfd/topology/nodes/1/properties:gfx_target_version 100306\n"
        "/sys/class/kfd/kfd/topology/nodes/2/properties:gfx_target_version 110000\n"
    )
    assert [(s.gfx, s.node) for s in kfd.parse(clean(text), "f").sightings] == [("gfx1036", 1), ("gfx1100", 2)]


def test_kfd_of_an_apu_node_with_cpu_cores():
    found = kfd.parse(clean(samples.kfd(90402, 0x74A0, cpu_cores=24, wave=64)), "f").sightings
    assert found[0].apu is True


def test_kfd_numbers_nobody_has_give_nothing():
    assert names(kfd.parse(clean("gfx_target_version 9040"), "f")) == []
    assert names(kfd.parse(clean("gfx_target_version 90402\nvendor_id 4318\nsimd_count 4\n"), "f")) == []


def test_rocminfo_full():
    found = rocminfo.parse(clean(samples.rocminfo(samples.agent("gfx1100", 0x744C, "Radeon RX 7900 XTX"))), "f")
    assert [(s.gfx, s.chip_id, s.product, s.wavefront, s.node, s.pci) for s in found.sightings] == [
        ("gfx1100", 0x744C, "Radeon RX 7900 XTX", 32, 1, "0000:01:00.0")
    ]


def test_rocminfo_npu_and_cpu_are_no_gpus():
    text = samples.rocminfo(samples.agent("gfx1151", 0x1586, apu=True), samples.NPU)
    machine = machine_from_text(text)
    assert [g.gfx for g in machine.gpus] == ["gfx1151"] and machine.gpus[0].kind == "apu"
    assert machine.setting("npu").value == "aie2p"


def test_rocminfo_grep_and_cut_names():
    text = "$ rocminfo | grep gfx\n  Name:   gfx1100\n      Name:  amdgcn-amd-amdhsa--gfx1100\n  Name:   gfx103\n"
    assert names(rocminfo.parse(clean(text), "f")) == ["gfx1100"]


def test_rocminfo_takes_features_from_the_isa():
    text = samples.rocminfo(samples.agent("gfx90a", 0x7408, wave=64)).replace(
        "amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
    )
    assert rocminfo.parse(clean(text), "f").sightings[0].features == "sramecc+:xnack-"


def test_rocminfo_without_agents_is_a_symptom():
    assert [s.name for s in rocminfo.parse(clean(samples.HEAD + samples.DONE), "f").symptoms] == ["no-gpu-agent"]
    assert rocminfo.parse(clean(samples.HEAD), "f").symptoms == ()  # cut off: it may have gone on


def test_rocminfo_driver_version():
    facts = rocminfo.parse(clean("ROCk module version 6.10.5 is loaded\n"), "f")
    assert [v.value for v in facts.versions] == ["6.10.5"]
    assert rocminfo.parse(clean("ROCk module version x.xx.xx is loaded\n"), "f").versions == ()


def test_collect_env():
    facts = collect_env.parse(clean(samples.collect_env()), "f")
    versions = {v.name: v.value for v in facts.versions}
    assert names(facts) == ["gfx1100"]
    assert versions["torch"] == "2.9.1+rocm6.4" and versions["torch_hip"].startswith("6.4.43484")
    assert versions["kernel"] == "6.14.0-29-generic" and versions["glibc"] == "2.39"


def test_collect_env_on_one_line():
    facts = collect_env.parse(clean(" ".join(samples.collect_env().split("\n"))), "f")
    versions = {v.name: v.value for v in facts.versions}
    assert names(facts) == ["gfx1100"]
    assert versions["torch"] == "2.9.1+rocm6.4" and versions["hip"] == "6.4.43484"


def test_collect_env_of_vllm_with_aligned_colons():
    text = samples.collect_env(gpu="AMD Instinct MI300X (gfx942:sramecc+:xnack-)").replace(": ", "           : ")
    facts = collect_env.parse(clean(text), "f")
    assert names(facts) == ["gfx942"] and facts.sightings[0].features == "sramecc+:xnack-"


def test_collect_env_lists_several():
    gpu = "\nGPU 0: AMD Instinct MI300X (gfx942)\nGPU 1: AMD Instinct MI300X (gfx942)"
    assert names(collect_env.parse(clean(samples.collect_env(gpu=gpu)), "f")) == ["gfx942", "gfx942"]


def test_collect_env_of_nvidia_gives_no_gpu():
    assert names(collect_env.parse(clean(samples.collect_env(gpu="NVIDIA GeForce RTX 4090")), "f")) == []


def test_collect_env_of_old_torch_glues_a_note_to_the_name():
    text = samples.collect_env(gpu="AMD Radeon RX 6800 XTNoGCNArchNameOnOldPyTorch")
    assert collect_env.parse(clean(text), "f").sightings[0].product == "AMD Radeon RX 6800 XT"


def test_device_properties():
    text = "_CudaDeviceProperties(name='AMD Radeon RX 9070', major=12, minor=0, gcnArchName='gfx1201', total_memory=1)"
    facts = collect_env.parse(clean(text), "f")
    assert [(s.gfx, s.product) for s in facts.sightings] == [("gfx1201", "AMD Radeon RX 9070")]


AMD_SMI = """GPU: 0
    ASIC:
        MARKET_NAME: AMD Instinct MI350X
        DEVICE_ID: 0x75a0
        TARGET_GRAPHICS_VERSION: gfx950
    BUS:
        BDF: 0000:05:00.0
    DRIVER:
        NAME: amdgpu
        VERSION: 6.18.3
    VRAM:
        SIZE: 294896 MB
GPU: 1
    ASIC:
        MARKET_NAME: N/A
        DEVICE_ID: 0x740f
        TARGET_GRAPHICS_VERSION: gfx9010
"""


def test_amd_smi():
    facts = smi.parse(clean(AMD_SMI), "f")
    assert [(s.gfx, s.chip_id, s.pci, s.product) for s in facts.sightings] == [
        ("gfx950", 0x75A0, "0000:05:00.0", "AMD Instinct MI350X"),
        ("gfx90a", 0x740F, "", ""),  # old releases print the step of gfx90a in decimal
    ]
    assert facts.sightings[0].vram_bytes == 294896 << 20
    assert [v.value for v in facts.versions] == ["6.18.3"]


def test_amd_smi_json():
    text = '[\n {\n "gpu": 0,\n "asic": {\n "market_name": "Radeon 8060S Graphics",\n "device_id": "0x1586",\n'
    text += '"target_graphics_version": "gfx1151"\n }\n }\n]'
    assert names(smi.parse(clean(text), "f")) == ["gfx1151"]


@pytest.mark.parametrize(
    "text",
    [
        "GPU[0]\t\t: Card Series: \t\tRadeon RX 7900 XTX\nGPU[0]\t\t: Card Model: \t\t0x744c\n",
        "0       1     0x744c,   61797  65.0C  187.0W  N/A, N/A, 0   2585Mhz  1000Mhz  83.14%  auto  186.0W\n",
        '{\n "card0": {\n "Device Name": "Navi 31 [Radeon RX 7900 XT/7900 XTX]",\n "Device ID": "0x744c",\n'
        ' "PCI Bus": "0000:C4:00.0"\n }\n}\n',
        "device,Card series,Card model,Card vendor,Card SKU\ncard0,Radeon RX 7900 XTX,0x744c,AMD,X\n",
        "0       [0x744c : 0xc8]       45.0C      173.0W    NPS1, SPX       132Mhz  900Mhz\n        Radeon RX 7900\n",
    ],
)
def test_rocm_smi_shapes(text):
    facts = smi.parse(clean("ROCm System Management Interface\n" + text), "f")
    assert [s.chip_id for s in facts.sightings] == [0x744C]


def test_rocm_smi_prints_the_subsystem_as_card_model():
    text = "GPU[0]\t\t: Card series: \t\t0x738c\nGPU[0]\t\t: Card model: \t\t0xc34\n"
    assert [s.chip_id for s in smi.parse(clean(text), "f").sightings] == [0x738C]


def test_lspci():
    text = (
        "03:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 22 [Radeon RX 6700] "
        "[1002:73df] (rev c1)\n"
        "04:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Device 7550 (rev c0)\n"
        "05:00.0 Audio device: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 HDMI\n"
        "06:00.0 3D controller: NVIDIA Corporation GA102 [GeForce RTX 3090]\n"
    )
    facts = lspci.parse(clean(text), "f")
    assert [(s.chip_id, s.pci) for s in facts.sightings] == [(0x73DF, "0000:03:00.0"), (0x7550, "0000:04:00.0")]
    assert facts.settings[0].name == "nvidia_gpu"


def test_kernel_log_names_the_chip():
    text = "[  8.85] amdgpu: Virtual CRAT table\n[    8.850516] kfd kfd: amdgpu: added device 1002:73bf\n"
    machine = machine_from_text(text)
    assert machine.gpus[0].gfx == "" and machine.gpus[0].chip_targets == ("gfx1030",)


def test_bitsandbytes_banner():
    text = "=== bitsandbytes v0.50.2 ===\nPyTorch: 2.13.0+rocm7.2\n  HIP: 7.2.53211\n  triton: 3.7.0\nSUCCESS!\n"
    facts = bitsandbytes.parse(clean(text), "f")
    assert {v.name: v.value for v in facts.versions} == {
        "bitsandbytes": "0.50.2",
        "torch": "2.13.0+rocm7.2",
        "torch_hip": "7.2.53211",
    }


def test_packages():
    text = (
        "torch                 2.9.1+rocm6.4\n[pip3] triton-rocm==3.5.0\nnvidia-cublas-cu12==12.8.4.1\nPillow==11.0\n"
    )
    assert [p.name for p in pip_list.parse(clean(text), "f").packages] == ["torch", "triton-rocm", "nvidia-cublas-cu12"]


@pytest.mark.parametrize(
    ("text", "gfx"),
    [
        ("  Device 0: AMD Radeon RX 7900 XTX, gfx1100 (0x1100), VMM: no, Wave Size: 32\n", "gfx1100"),
        ("AMD arch: gfx1201\nROCm version: (6, 4)\n", "gfx1201"),
        ("$ rocm_agent_enumerator\ngfx000\ngfx1030\n", "gfx1030"),
        ("device#                           0\nName:                             AMD Radeon RX 9070 XT\n"
         "warpSize:                         32\ngcnArchName:                      gfx1201\n", "gfx1201"),
        ("- GPU: AMD Radeon RX 7600 XT (gfx1102)\n", "gfx1102"),
    ],
)  # fmt: skip
def test_other_programs(text, gfx):
    assert [g.gfx for g in machine_from_text(text).gpus] == [gfx]


def test_environment_lines():
    facts = parse_text("export HSA_OVERRIDE_GFX_VERSION=10.3.0\nPATH=/bin\nENV HIP_VISIBLE_DEVICES=0\n", "f")
    assert {e.name: e.value for e in facts.env} == {"HSA_OVERRIDE_GFX_VERSION": "10.3.0", "HIP_VISIBLE_DEVICES": "0"}


def test_a_mixed_paste_is_read_whole():
    text = "\n".join(
        [
            "$ rocminfo",
            samples.rocminfo(samples.agent("gfx1100", 0x744C, "Radeon RX 7900 XTX")),
            "$ python -m torch.utils.collect_env",
            samples.collect_env(),
            "$ env | grep ALLOC",
            "PYTORCH_ALLOC_CONF=max_split_size_mb:128,expandable_segments:True",
        ]
    )
    machine = machine_from_text(text)
    assert [(g.gfx, len(g.sightings)) for g in machine.gpus] == [("gfx1100", 2)]
    assert machine.version("torch").value == "2.9.1+rocm6.4"
    assert machine.env("PYTORCH_ALLOC_CONF") is not None


def test_amd_smi_default_table():
    text = (
        "| AMD-SMI 26.0.0+37d158ab      amdgpu version: 6.14.14  ROCm version: 7.0.0    |\n"
        "| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |\n"
        "| 0000:05:00.0    AMD Instinct MI300X | 0 %      38 C    0           140/750 W |\n"
        "|   0       0       7        SPX/NPS1 | 0 %        N/A           284/196300 MB |\n"
        "| 0000:15:00.0    AMD Instinct MI300X | 0 %      38 C    0           140/750 W |\n"
    )
    facts = smi.parse(clean(text), "f")
    assert [(s.pci, s.product) for s in facts.sightings] == [
        ("0000:05:00.0", "AMD Instinct MI300X"),
        ("0000:15:00.0", "AMD Instinct MI300X"),
    ]
    assert {v.name: v.value for v in facts.versions} == {"driver": "6.14.14", "rocm": "7.0.0"}


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("gfx9010", "gfx90a"),
        ("gfx9402", "gfx942"),
        ("gfx11000", "gfx1100"),
        ("gfx10306", "gfx1036"),
        ("gfx11501", "gfx1151"),
        ("gfx942:sramecc+:xnack-", "gfx942"),
        ("gfx928", "gfx928"),
        ("gfx110", ""),
        ("gfx000", ""),
        ("gfx11-generic", ""),
        ("aie2p", ""),
    ],
)
def test_names_as_tools_spell_them(word, name):
    assert gfx_of(word)[0] == name


def test_amd_smi_without_its_heading():
    assert names(smi.parse(clean("        TARGET_GRAPHICS_VERSION: gfx1151\n"), "f")) == ["gfx1151"]


def test_rocm_smi_in_a_string_literal():
    text = "GPU[0]\\t\\t: Card Model: \\t\\t0x1586\nGPU[0]\\t\\t: GFX Version: \\t\\tgfx1151\n"
    assert [(s.gfx, s.chip_id) for s in smi.parse(clean(text), "f").sightings] == [("gfx1151", 0x1586)]


def test_kfd_of_an_old_kernel_names_the_chip_only():
    text = samples.kfd(90006, 0x66AF, wave=64).replace("gfx_target_version 90006\n", "")
    machine = machine_from_text(text)
    assert (machine.gpus[0].gfx, machine.gpus[0].chip_targets) == ("", ("gfx906",))


@pytest.mark.parametrize(
    ("text", "gfx"),
    [
        ("CPU: AMD Ryzen AI Max+ 395\nROCm 7.2\n", ["gfx1151"]),
        ("### CPU\n\nAMD RYZEN AI MAX+ PRO 395 w/ Radeon 8060S\n", ["gfx1151"]),
        ("CPU: AMD Ryzen AI 9 HX 370\n", ["gfx1150"]),
        ("CPU: AMD Ryzen AI Max+ 395\nNVIDIA GeForce RTX 4090\n", []),
        ("CPU: AMD Ryzen AI 9 HX 370\n### GPU\n\nRadeon RX 7900 XTX\n", ["gfx1100"]),
        ("CPU: AMD Ryzen 9 7950X\n", []),
        ("CPU: AMD Ryzen AI 9 HX PRO 370\n", ["gfx1150"]),
        ("CPU: AMD Ryzen AI 9 HX PRO 375 w/ Radeon 890M\n", ["gfx1150"]),
        ("CPU: Ryzen AI 9 HX370\nthe server waits on port 7900\n", ["gfx1150"]),
        *(
            (f"CPU: AMD Ryzen AI 9 HX 370{between}{name}\n", [])
            for name in (
                *("RTX 4090", "GTX 1660", "RTX A4000", "Vega 64", "Radeon VII", "W7900", "R9700", "7900 XTX", "MI300X"),
                "RX 580",
            )
            for between in (" / GPU: ", "\nbeside an AMD ")
        ),
    ],
)
def test_a_ryzen_ai_processor_is_the_gpu_where_no_other_is_named(text: str, gfx: list[str]) -> None:
    assert [gpu.gfx or gpu.chip_targets[0] for gpu in machine_from_text(text).gpus] == gfx
