"""Text in the formats of the tools, made up here: small, and shaped like what people paste."""

from __future__ import annotations

from pathlib import Path

HEAD = """ROCk module is loaded
=====================
HSA System Attributes
=====================
Runtime Version:         1.18
Machine Model:           LARGE

==========
HSA Agents
==========
"""
CPU = """*******
Agent 1
*******
  Name:                    Example CPU 8-Core Processor
  Uuid:                    CPU-XX
  Marketing Name:          Example CPU 8-Core Processor
  Vendor Name:             CPU
  Device Type:             CPU
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: FINE GRAINED
      Size:                    32000000(0x1e84800) KB
  ISA Info:
"""
NPU = """*******
Agent 9
*******
  Name:                    aie2p
  Uuid:                    AIE-XX
  Vendor Name:             AMD
  Device Type:             DSP
  ISA Info:
"""
DONE = "*** Done ***\n"


def agent(
    gfx: str, chip: int, product: str = "AMD Radeon Graphics", node: int = 1, wave: int = 32, apu: bool = False
) -> str:
    return f"""*******
Agent {node + 1}
*******
  Name:                    {gfx}
  Uuid:                    GPU-XX
  Marketing Name:          {product}
  Vendor Name:             AMD
  Node:                    {node}
  Device Type:             GPU
  Chip ID:                 {chip}({chip:#x})
  BDFID:                   {node << 8}
  Compute Unit:            40
  Memory Properties:       {"APU" if apu else ""}
  Wavefront Size:          {wave}({wave:#x})
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: COARSE GRAINED
      Size:                    16760832(0xffc000) KB
    Pool 2
      Segment:                 GROUP
      Size:                    64(0x40) KB
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--{gfx}
    ISA 2
      Name:                    amdgcn-amd-amdhsa--gfx11-generic
"""


def rocminfo(*agents: str) -> str:
    return HEAD + CPU + "".join(agents) + DONE


def kfd(version: int, chip: int, simds: int = 192, wave: int = 32, cpu_cores: int = 0, minor: int = 128) -> str:
    return f"""cpu_cores_count {cpu_cores}
simd_count {simds}
simd_per_cu 2
wave_front_size {wave}
gfx_target_version {version}
vendor_id {4098 if simds else 0}
device_id {chip}
location_id {256 if simds else 0}
domain 0
drm_render_minor {minor}
"""


KFD_CPU = kfd(0, 0, simds=0, cpu_cores=16, minor=0)


def collect_env(
    gpu: str = "AMD Radeon RX 7900 XTX (gfx1100)",
    torch: str = "2.9.1+rocm6.4",
    hip: str = "6.4.43484-123eb5128",
    kernel: str = "6.14.0-29-generic",
    extra: str = "",
) -> str:
    return f"""Collecting environment information...
PyTorch version: {torch}
Is debug build: False
CUDA used to build PyTorch: N/A
ROCM used to build PyTorch: {hip}

OS: Ubuntu 24.04.3 LTS (x86_64)
GCC version: (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0
Clang version: Could not collect
Libc version: glibc-2.39

Python version: 3.12.3 (main, Jan 22 2026, 20:57:42) [GCC 13.3.0] (64-bit runtime)
Python platform: Linux-{kernel}-x86_64-with-glibc2.39
Is CUDA available: True
GPU models and configuration: {gpu}
HIP runtime version: {hip.split("-")[0]}
MIOpen runtime version: 3.4.0
Is XNNPACK available: True

Versions of relevant libraries:
[pip3] numpy==2.4.2
{extra}"""


def machine_root(
    root: Path,
    version: int = 110000,
    chip: int = 0x744C,
    *,
    minor: int = 128,
    vram: int = 24 << 30,
    gtt: int = 16 << 30,
    driver: str = "6.14.14",
    wave: int = 32,
) -> Path:
    """A folder that looks like a Linux machine with one AMD GPU."""
    files = {
        "sys/class/kfd/kfd/topology/nodes/0/properties": KFD_CPU,
        "sys/class/kfd/kfd/topology/nodes/1/properties": kfd(version, chip, minor=minor, wave=wave),
        "sys/module/amdgpu/initstate": "live\n",
        "sys/module/amdgpu/version": f"{driver}\n",
        "sys/bus/pci/devices/0000:01:00.0/class": "0x030000\n",
        "sys/bus/pci/devices/0000:01:00.0/vendor": "0x1002\n",
        "sys/bus/pci/devices/0000:01:00.0/device": f"{chip:#06x}\n",
        "sys/bus/pci/devices/0000:01:00.0/mem_info_vram_total": f"{vram}\n",
        "sys/bus/pci/devices/0000:01:00.0/mem_info_gtt_total": f"{gtt}\n",
        "proc/sys/kernel/osrelease": "6.14.0-29-generic\n",
        "proc/sys/kernel/numa_balancing": "1\n",
        "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=pt\n",
        "dev/kfd": "",
        f"dev/dri/renderD{minor}": "",
        "etc/os-release": 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\n',
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def site_packages(root: Path, *packages: str, torch_version: str = "", hip: str | None = "6.4.43484") -> Path:
    """A folder of installed distributions: `name-version` each, and torch/version.py when a version is given."""
    folder = root / "lib" / "python3.12" / "site-packages"
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages:
        (folder / f"{package}.dist-info").mkdir()
    if torch_version:
        (folder / f"torch-{torch_version}.dist-info").mkdir()
        (folder / "torch").mkdir()
        (folder / "torch" / "version.py").write_text(
            "from typing import Optional\n"
            f"__version__ = {torch_version!r}\ndebug = False\ncuda: Optional[str] = None\n"
            f"hip: Optional[str] = {hip!r}\n"
        )
    return folder
