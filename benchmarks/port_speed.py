"""CPU time of `rocport port` and of torch.utils.hipify, a MB, over one tree of public CUDA programs.

    python benchmarks/port_speed.py [--packages a,b] [--jobs N] [--json FILE]

The tree is made of the CUDA and C++ files of source distributions (benchmarks/packages.py), downloaded when this runs:
with the default packages about 2,300 files and 30 MB. Both tools get the same files, write a new tree and run as a
process of their own; counted is the CPU time of that process and its children, user and system, so that neither other
work on the machine nor the number of cores matters. Importing torch is given apart: hipify cannot be had without it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import packages
from translate import _TORCH, stage

PACKAGES = (
    "cupy,llama-cpp-python,deepspeed,vllm,xgboost,mmcv,MinkowskiEngine,gsplat,auto-gptq,causal-conv1d,torch-scatter"
)


def cpu_seconds(command: list[str]) -> float:
    """User and system time of a process and its children. Raises SystemExit when it crashes."""
    before = os.times()
    done = subprocess.run(command, capture_output=True, check=False)
    after = os.times()
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command[2:5]} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    return after.children_user - before.children_user + after.children_system - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", default=PACKAGES)
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="port-speed-") as scratch:
        tree, size = Path(scratch) / "tree", 0
        for name in arguments.packages.split(","):
            size += stage(packages.fetch(name, packages.PACKAGES[name]), tree / name)[1]
        files = sum(path.is_file() for path in tree.rglob("*"))
        ours = [sys.executable, "-m", "rocport", "port", str(tree), "--isolated", "-j", arguments.jobs]
        rows = {
            "rocport port": cpu_seconds([*ours, "--out", f"{scratch}/ours", "--format", "json"]),
            "rocport --version": cpu_seconds([sys.executable, "-m", "rocport", "--version"]),
            "torch.utils.hipify": cpu_seconds([sys.executable, "-c", _TORCH, str(tree), f"{scratch}/hipify", "0"]),
            "import torch.utils.hipify": cpu_seconds([sys.executable, "-c", "import torch.utils.hipify.hipify_python"]),
        }
    print(f"{files} files, {size / 1e6:.1f} MB")
    for tool, seconds in rows.items():
        print(f"{tool:28} {seconds:8.2f} s CPU {seconds / (size / 1e6):8.3f} s/MB")
    print(f"hipify / rocport: {rows['torch.utils.hipify'] / rows['rocport port']:.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"files": files, "bytes": size, "cpu_seconds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
