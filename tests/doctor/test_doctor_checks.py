"""The checks: the registry, and what each one says for a machine that has, or has not, what it looks for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import doctor_samples as samples
import pytest

from rocport.doctor.capture import machine_from_text
from rocport.doctor.check import STATUSES, modules
from rocport.doctor.diagnosis import Diagnosis, diagnose
from rocport.doctor.host import Host, no_command
from rocport.doctor.live import read_machine
from rocport.doctor.machine import Evidence, Setting

CHECKS = list(modules())
XTX = samples.rocminfo(samples.agent("gfx1100", 0x744C, "Radeon RX 7900 XTX"))
MI300 = samples.rocminfo(samples.agent("gfx942", 0x74A1, "AMD Instinct MI300X", wave=64))


def text(*parts: str) -> Diagnosis:
    return diagnose(machine_from_text("\n".join(parts)))


def status(diagnosis: Diagnosis, identifier: str) -> str:
    result = diagnosis.result(identifier)
    assert result is not None, f"no check {identifier}"
    return result.status


def live(root: Path, env: dict[str, str] | None = None, packages: Path | None = None) -> Diagnosis:
    host = Host(root, env or {}, no_command, "linux", (packages,) if packages else ())
    return diagnose(read_machine(host))


def test_the_registry_is_sound():
    ids = [m.CHECK.id for m in CHECKS]
    assert len(set(ids)) == len(ids) >= 40
    for module in CHECKS:
        assert module.__doc__ and module.CHECK.title
        assert module.CHECK.id == module.CHECK.id.lower() and "_" not in module.CHECK.id


@pytest.mark.parametrize(
    "sample", [XTX, MI300, samples.collect_env(), "", "ROCk module is NOT loaded, possibly no GPU devices"]
)
def test_every_result_is_whole(sample):
    for result in text(sample).results:
        assert result.status in STATUSES and result.message
        if result.status in ("warn", "fail"):
            assert result.consequence, result.check.id
            assert result.evidence, result.check.id


@pytest.mark.parametrize(
    "sample", [XTX, MI300, samples.collect_env(), samples.collect_env(gpu="AMD Instinct MI300X (gfx942)")]
)
def test_healthy_machines_have_nothing_to_report(sample):
    found = [r for r in text(sample).results if r.status in ("warn", "fail")]
    assert [(r.check.id, r.message) for r in found] == []


@pytest.mark.parametrize(
    ("message", "check"),
    [
        ("ROCk module is NOT loaded, possibly no GPU devices", "amdgpu-module"),
        ("ROCk module is NOT live, possibly no GPU devices", "amdgpu-module"),
        ("modprobe: ERROR: could not insert 'amdgpu': Key was rejected by service", "amdgpu-module"),
        ("Unable to open /dev/kfd read-write: Permission denied", "kfd-access"),
        ("Unable to open /dev/kfd read-write: Invalid argument", "kfd-access"),
        ("Unable to open /dev/kfd read-write: Cannot allocate memory", "kfd-access"),
        ("kfd kfd: amdgpu: skipped device 1002:67df, PCI rejects atomics 730<0", "kfd-access"),
        ("x is not member of \"render\" group, the default DRM access group.", "kfd-access"),
        ("AmdSmiLibraryException: Error code: 14 | AMDSMI_STATUS_FILE_ERROR", "render-access"),
        ("amdgpu 0000:03:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE", "gpu-hang"),
        ("Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x2.", "gpu-hang"),
        ("RuntimeError: HIP error: invalid device function", "torch-arch"),
        ("AssertionError: Torch not compiled with CUDA enabled", "torch-build"),
        ("RuntimeError: Attempting to use hipBLASLt on a unsupported architecture!", "hipblaslt"),
        ("rocBLAS error: Cannot read /x/TensileLibrary.dat: Illegal seek for GPU arch : gfx1103", "rocblas-library"),
        ("ModuleNotFoundError: No module named 'flash_attn_2_cuda'", "flash-attn"),
        ("RuntimeError: Failed to find C compiler. Please specify via CC environment variable.", "build-tools"),
        ("naive_conv.cpp:39:10: fatal error: 'limits' file not found", "miopen"),
        ("ValueError: CachingAllocator option max_split_size_mb too small, must be >= 20", "allocator"),
        ("RuntimeError: BNB_CUDA_VERSION=124 detected for ROCm!!", "bnb-environment"),
        ("OSError: /x/libbitsandbytes_rocm64.so: undefined symbol: _Z3foo", "bnb-library"),
        ("Configured ROCm binary not found at /x/libbitsandbytes_rocm84.so", "bnb-library"),
        ("ImportError: /opt/rocm-7.2.0/lib/libMIOpen.so.1: undefined symbol: x", "rocm-trees"),
        ("NCCL WARN Missing \"iommu=pt\" from kernel command line", "rccl"),
        ("No platform detected, vLLM is running on UnspecifiedPlatform", "amdsmi-package"),
        ("RuntimeError: DataLoader worker (pid 1) is killed by signal: Bus error.", "limits"),
        ("Assertion error: unsupported target: 'gfx1030'", "triton-target"),
    ],
)  # fmt: skip
def test_known_messages_reach_their_check(message, check):
    assert status(text(message), check) in ("warn", "fail")


def test_an_old_wheel_and_a_newer_gpu():
    found = text(samples.collect_env(gpu="AMD Radeon RX 9070 XT (gfx1201)", torch="2.5.1+rocm6.2", hip="6.2.41133"))
    assert status(found, "torch-arch") == "fail"
    assert "gfx1201" in found.result("torch-arch").message


def test_a_disguise_across_instruction_sets_fails_and_within_one_warns():
    assert status(text(samples.rocminfo(samples.agent("gfx1030", 0x73DF))), "gfx-override") == "warn"
    assert status(text(samples.rocminfo(samples.agent("gfx1030", 0x15BF, apu=True))), "gfx-override") == "fail"


def test_fork_of_rocm():
    found = text(samples.collect_env(gpu="K100_AI (gfx928:sramecc+:xnack-)", torch="2.4.1", hip="6.3.25211"))
    assert status(found, "gfx-known") == "fail"
    assert found.machine.gpus[0].gfx == "gfx928"


@pytest.mark.parametrize(
    ("conf", "versions", "expected"),
    [
        ("max_split_size_mb:128,expandable_segments:True", ("2.13.0+rocm7.14", "7.14.1"), "fail"),
        ("max_split_size_mb:128,expandable_segments:True", ("2.9.1+rocm6.4", "6.4.43484"), "warn"),
        ("max_split_size_mb:128", ("2.13.0+rocm7.14", "7.14.1"), "ok"),
        ("expandable_segments:True", ("2.13.0+rocm7.14", "7.14.1"), "ok"),
        ("expandable_segments:True", ("2.9.1+rocm6.4", "6.4.43484"), "warn"),
        ("max_split_size_mb:8", ("2.13.0+rocm7.14", "7.14.1"), "fail"),
        ("max_split_size_mb=8000", ("2.13.0+rocm7.14", "7.14.1"), "fail"),
    ],
)
def test_allocator_settings(conf, versions, expected):
    torch, hip = versions
    found = text(samples.collect_env(torch=torch, hip=hip), f"PYTORCH_ALLOC_CONF={conf}")
    assert status(found, "allocator") == expected
    if "expandable_segments:True" in conf and "max_split" in conf:
        assert found.exports()[0]["PYTORCH_ALLOC_CONF"] == "expandable_segments:True"


@pytest.mark.parametrize(
    ("bnb", "gfx", "expected"),
    [
        ("0.48.2", "gfx1100", "warn"),
        ("0.49.1", "gfx942", "warn"),
        ("0.49.1", "gfx1100", "ok"),
        ("0.49.2", "gfx942", "ok"),
        ("0.50.2", "gfx1100", "ok"),
    ],
)
def test_block_size(bnb, gfx, expected):
    found = text(samples.collect_env(gpu=f"AMD X ({gfx})", extra=f"[pip3] bitsandbytes=={bnb}\n"))
    assert status(found, "bnb-blocksize") == expected


@pytest.mark.parametrize(
    ("gfx", "hip", "expected"),
    [
        ("gfx1100", "7.2.53211", "ok"),
        ("gfx1032", "7.2.53211", "fail"),
        ("gfx1032", "7.15.26333", "ok"),
        ("gfx1151", "7.16.26400", "ok"),
        ("gfx942", "7.17.26392", "ok"),
        ("gfx906", "7.2.1", "fail"),
    ],
)
def test_bitsandbytes_by_gfx(gfx, hip, expected):
    env = samples.collect_env(
        gpu=f"AMD X ({gfx})", torch="2.13.0+rocm7.2", hip=hip, extra="[pip3] bitsandbytes==0.50.2\n"
    )
    assert status(text(env), "bnb-arch") == expected


@pytest.mark.parametrize(
    ("triton", "gfx", "expected"),
    [
        ("3.9.0", "gfx1030", "fail"),
        ("3.8.0", "gfx1030", "ok"),
        ("3.8.0", "gfx1010", "fail"),
        ("3.7.1", "gfx906", "fail"),
        ("3.8.0", "gfx906", "ok"),
    ],
)
def test_triton_by_gfx(triton, gfx, expected):
    found = text(samples.collect_env(gpu=f"AMD X ({gfx})", extra=f"[pip3] triton=={triton}\n"))
    assert status(found, "triton-target") == expected


def test_package_clashes():
    extra = "[pip3] triton==3.5.0\n[pip3] pytorch-triton-rocm==3.5.0\n[pip3] torchvision==0.20.1+cu124\n"
    found = text(samples.collect_env(extra=extra + "nvidia-cublas-cu12==12.4.5.8\n"))
    assert status(found, "triton-packages") == "fail"
    assert status(found, "torch-family") == "fail"
    assert status(found, "nvidia-packages") == "warn"


def test_hip_and_rocm_numbers_are_no_mismatch():
    found = text(samples.collect_env(torch="2.13.0+rocm10.0.0", hip="7.15.26333"))
    assert found.versions()["rocm"] == "10.0.0" and found.versions()["hip"] == "7.15.26333"
    assert status(found, "torch-versions") == "ok"
    glued = text(samples.collect_env(torch="2.14.0+rocm714", hip="7.14.0"))
    assert status(glued, "torch-versions") == "skipped"


def test_wsl():
    kernel = "6.6.114.1-microsoft-standard-WSL2"
    assert status(text(samples.collect_env(kernel=kernel, torch="2.13.0+rocm7.2", hip="7.2.1")), "wsl") == "ok"
    old = text(samples.collect_env(gpu="AMD Radeon RX 6800 XT (gfx1030)", kernel=kernel))
    assert status(old, "wsl") == "fail" and status(old, "kfd-access") == "skipped"


def test_integrated_gpu_beside_a_card():
    both = samples.rocminfo(
        samples.agent("gfx1036", 0x164E, node=1, apu=True),
        samples.agent("gfx1100", 0x744C, "Radeon RX 7900 XTX", node=2),
    )
    assert status(text(both), "integrated-gpu") == "warn"
    assert status(text(both, "HIP_VISIBLE_DEVICES=1"), "integrated-gpu") == "ok"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ("HIP_VISIBLE_DEVICES=0\nCUDA_VISIBLE_DEVICES=1", "fail"),
        ("ROCR_VISIBLE_DEVICES=2\nHIP_VISIBLE_DEVICES=2", "fail"),
        ("ROCR_VISIBLE_DEVICES=2,3\nHIP_VISIBLE_DEVICES=0", "warn"),
        ("HIP_VISIBLE_DEVICES=-1", "fail"),
        ("HIP_VISIBLE_DEVICES=0", "ok"),
    ],
)
def test_visible_devices(env, expected):
    assert status(text(XTX, env), "visible-devices") == expected


@pytest.mark.parametrize(
    "line", ["AMD_LOG_LEVEL=3", "HIP_LAUNCH_BLOCKING=1", "TORCHINDUCTOR_MAX_AUTOTUNE=1", "HSA_ENABLE_SDMA=0"]
)
def test_slow_variables(line):
    found = text(XTX, line)
    assert status(found, "performance-variables") == "warn"
    assert found.exports()[0] == {line.split("=")[0]: None}
    assert (
        status(
            text(XTX, line.split("=")[0] + "=" + ("0" if line.endswith("1") or "LOG" in line else "1")),
            "performance-variables",
        )
        != "warn"
    )


def test_rccl_on_mi350_with_rocm_10_1():
    two = samples.rocminfo(*(samples.agent("gfx950", 0x75A0, "AMD Instinct MI350X", node=n, wave=64) for n in (1, 2)))
    env = samples.collect_env(gpu="AMD Instinct MI350X (gfx950)", torch="2.13.0+rocm10.1.0", hip="7.16.1")
    assert status(text(two, env), "rccl") == "fail"
    assert status(text(two, env, "NCCL_PROTO=LL128,Simple"), "rccl") != "fail"


def test_a_live_healthy_machine(tmp_path):
    root = samples.machine_root(tmp_path / "root")
    packages = samples.site_packages(tmp_path / "venv", "triton_rocm-3.5.0", torch_version="2.9.1+rocm6.4")
    found = live(root, {"MIOPEN_FIND_MODE": "FAST", "HOME": "/root"}, packages)
    bad = [(r.check.id, r.message) for r in found.results if r.status in ("warn", "fail")]
    assert [b for b in bad if b[0] not in ("attention",)] == []
    assert found.machine.gpus[0].gfx == "gfx1100" and found.versions()["torch"] == "2.9.1+rocm6.4"
    assert found.versions()["driver"] == "6.14.14" and found.versions()["triton"] == "3.5.0"


def test_a_live_machine_with_a_cpu_torch(tmp_path):
    root = samples.machine_root(tmp_path / "root")
    packages = samples.site_packages(tmp_path / "venv", torch_version="2.13.0+cpu", hip=None)
    found = live(root, {}, packages)
    assert status(found, "torch-build") == "fail"
    assert "device-gfx1100" in found.result("torch-build").fix[0]


def test_a_live_machine_without_gpu(tmp_path):
    (tmp_path / "proc").mkdir()
    (tmp_path / "dev").mkdir()
    found = live(tmp_path)
    assert [r.check.id for r in found.results if r.status in ("warn", "fail")] == ["gpu-found"]
    assert "compat" in found.result("gpu-found").consequence
    assert found.exit_code == 1


def test_a_live_machine_with_a_missing_render_node(tmp_path):
    root = samples.machine_root(tmp_path)
    (root / "dev/dri/renderD128").rename(root / "dev/dri/renderD129")
    assert status(live(root), "render-access") == "fail"


def test_a_container_without_kfd(tmp_path):
    root = samples.machine_root(tmp_path)
    (root / "dev/kfd").unlink()
    (root / ".dockerenv").write_text("")
    result = live(root).result("kfd-access")
    assert result.status == "fail" and any("--device=/dev/kfd" in line for line in result.fix)


def test_a_dead_module(tmp_path):
    root = samples.machine_root(tmp_path)
    (root / "sys/module/amdgpu/initstate").write_text("going\n")
    result = live(root).result("amdgpu-module")
    assert result.status == "fail" and result.needs_reboot and result.needs_sudo


def test_an_override_is_undone_by_export(tmp_path):
    found = live(samples.machine_root(tmp_path), {"HSA_OVERRIDE_GFX_VERSION": "11.0.1"})
    assert status(found, "gfx-override") == "warn"
    assert found.exports()[0]["HSA_OVERRIDE_GFX_VERSION"] is None


def test_memory_of_an_apu(tmp_path):
    small = live(samples.machine_root(tmp_path / "a", 110501, 0x1586, vram=512 << 20, gtt=4 << 30))
    large = live(samples.machine_root(tmp_path / "b", 110501, 0x1586, vram=512 << 20, gtt=100 << 30))
    assert status(small, "apu-memory") == "warn" and status(large, "apu-memory") == "ok"
    assert "do not add" in large.result("apu-memory").message


def test_old_kernel_for_a_strix_halo(tmp_path):
    root = samples.machine_root(tmp_path, 110501, 0x1586)
    (root / "proc/sys/kernel/osrelease").write_text("6.8.0-60-generic\n")
    assert status(live(root), "apu-kernel") == "fail"


def test_extension_without_this_gfx(tmp_path):
    from rocport.doctor.machine import CodeObjects

    machine = machine_from_text(XTX)
    evidence = Evidence("code-objects", "x.so", "gfx90a")
    item = CodeObjects("x.so", "flash-attn", ("gfx90a:xnack-", "gfx942"), "", evidence)
    found = diagnose(replace(machine, facts=replace(machine.facts, code_objects=(item,))))
    assert status(found, "extension-arch") == "fail"
    generic = replace(item, targets=("gfx11-generic",))
    found = diagnose(replace(machine, facts=replace(machine.facts, code_objects=(generic,))))
    assert status(found, "extension-arch") == "ok"


def test_gcc_without_its_headers():
    machine = machine_from_text(XTX)
    evidence = Evidence("install", "x", "x")
    settings = (Setting("gcc_newest", 14, evidence), Setting("libstdcxx_newest", 13, evidence))
    found = diagnose(replace(machine, facts=replace(machine.facts, settings=settings)))
    assert status(found, "build-tools") == "fail" and "libstdc++-14-dev" in found.result("build-tools").fix[0]


def test_listing_and_id_show_a_missing_group():
    listing = "crw-rw---- 1 root render 510, 0 Aug 15 10:11 /dev/kfd\n"
    outside = "uid=1000(me) gid=1000(me) groups=1000(me),27(sudo),44(video)\n"
    assert status(text(listing, outside), "kfd-access") == "fail"
    assert status(text(listing, outside.replace("video", "render")), "kfd-access") == "skipped"


def test_companions_of_another_rocm():
    extra = "[pip3] torchvision==0.24.1+rocm6.3\n"
    assert status(text(samples.collect_env(extra=extra)), "torch-family") == "warn"


def test_a_cuda_torch_is_wrong_only_where_no_nvidia_gpu_is():
    cuda = "=== bitsandbytes v0.49.2 ===\nPyTorch: 2.11.0+cu130\n  CUDA: 13.0\n  HIP: N/A\n"
    assert status(text(cuda), "torch-build") == "fail"
    assert status(text(cuda, "Highest Compute Capability: (7, 5)."), "torch-build") == "skipped"
    assert status(text(cuda, XTX), "torch-build") == "fail"


def test_rocm_smi_without_a_driver():
    assert status(text("ERROR:root:Driver not initialized (amdgpu not found in modules)"), "amdgpu-module") == "fail"


def test_torch_is_judged_by_the_code_it_carries(tmp_path):
    """AMD's wheels have no list on record: the library itself says."""
    from test_code_objects import bundle, library

    root = samples.machine_root(tmp_path / "root")
    packages = samples.site_packages(tmp_path / "venv", torch_version="2.13.0+rocm10.0.0", hip="7.15.26333")
    (packages / "torch" / "lib").mkdir()
    path = packages / "torch" / "lib" / "libtorch_hip.so"
    path.write_bytes(library(bundle("gfx942", "gfx950")))
    assert status(live(root, {}, packages), "torch-arch") == "fail"
    path.write_bytes(library(bundle("gfx942", "gfx1100")))
    assert status(live(root, {}, packages), "torch-arch") == "ok"


def test_nvcc_beside_an_amd_gpu():
    env = samples.collect_env().replace("GPU models", "CUDA runtime version: 10.1.243\nGPU models")
    assert status(text(env), "hip-platform") == "warn"
    assert status(text(env, "Nvidia driver version: 550.90.07"), "hip-platform") != "warn"
