"""A plan as one file: a shell script for Linux and WSL, PowerShell for Windows, a Dockerfile, a conda environment."""

from __future__ import annotations

from rocport.compat.plan import Plan
from rocport.facts.containers import development_image
from rocport.facts.dates import dated

KINDS = ("linux", "wsl", "windows", "docker", "conda")
# https://packages.ubuntu.com/python3
_PYTHON = {"22.04": "3.10", "24.04": "3.12"}
_STOP = ("$ErrorActionPreference = 'Stop'", "$PSNativeCommandUseErrorActionPreference = $true")
_WINDOWS_ONLY = ("Activate.ps1", "$env:", "Select-String")


def plan_script(plan: Plan, kind: str) -> str:
    """The script of a plan that has a torch. Raises ValueError for a plan made for another kind of system."""
    if plan.chosen is None:
        raise ValueError("no torch serves this request")
    powershell = any(mark in line for line in plan.commands for mark in _WINDOWS_ONLY)
    if powershell != (kind == "windows"):
        raise ValueError("the plan is for Windows" if powershell else "the plan is for Linux; give --os windows11")
    head = [
        f"{plan.chosen.title}, for {plan.request.target.name}. {dated()}",
        "pip has not resolved it yet.",
        _record(plan),
    ]
    head += [f"Left out: {item.want.text}: {item.text}" for item in plan.items if not item.works]
    comment = [f"# {' '.join(line.split())}" for line in head]
    if kind == "docker":
        return "\n".join(_docker(plan, comment)) + "\n"
    if kind == "conda":
        return "\n".join(_conda(plan, comment)) + "\n"
    if kind == "windows":
        return "\n".join([*comment, *_STOP, *plan.commands]) + "\n"
    first = ["#!/usr/bin/env bash", *comment, "set -euo pipefail"]
    if kind == "wsl":
        first += [
            "# In WSL the GPU is /dev/dxg of Windows' driver: no amdgpu driver goes in here.",
            "test -e /dev/dxg || { echo 'no /dev/dxg: update the driver on Windows, then wsl --update' >&2; exit 1; }",
        ]
    else:
        first.append("test -e /dev/kfd || { echo 'no /dev/kfd: install the amdgpu driver first' >&2; exit 1; }")
    return "\n".join([*first, *plan.commands]) + "\n"


def _record(plan: Plan) -> str:
    if plan.unrecorded:
        return f"That torch's index has it is not recorded: {', '.join(plan.unrecorded)}."
    return f"Torch's index is recorded to hold {plan.records[0].text}."


def _docker(plan: Plan, comment: list[str]) -> list[str]:
    """The steps in an image; the imports are left to the container, which has the GPU."""
    image = development_image("24.04", plan.chosen.rocm if plan.chosen else "")
    own = _PYTHON.get(image.ubuntu)
    if own and plan.request.python not in (None, own):
        comment = [*comment, f"# Ubuntu {image.ubuntu} has Python {own}; for {plan.request.python} take another image."]
    if plan.chosen is not None and plan.chosen.rocm.split(".")[:2] != image.rocm.split(".")[:2]:
        comment = [*comment, f"# The image has hipcc of ROCm {image.rocm}: what is compiled needs {plan.chosen.rocm}."]
    lines = [*comment, f"FROM {image.name}", "RUN apt-get update && apt-get install -y python3-venv git"]
    lines += ["ENV PATH=/opt/venv/bin:$PATH", "RUN python3 -m venv /opt/venv"]
    lines += [f"ENV {setting.name}={setting.value}" for setting in plan.settings]
    steps = [line for line in plan.commands[1:] if not line.startswith(("export ", "python -c"))]
    lines += [f"RUN {line}" for line in steps]
    checks = [line for line in plan.commands if line.startswith("python -c")]
    lines.append(f"CMD {' && '.join(checks)}")
    return lines


def _conda(plan: Plan, comment: list[str]) -> list[str]:
    """An environment with Python alone; pip's steps follow, because an environment file cannot hold torch first and
    constrain the rest by what came."""
    python = plan.request.python or (plan.chosen.release.python_final if plan.chosen else "")
    steps = [line for line in plan.commands[1:] if not line.startswith("export ")]
    lines = [*comment, "# After conda env create -f this file and conda activate rocm:", *(f"#   {s}" for s in steps)]
    lines += ["name: rocm", "channels: [conda-forge]", "dependencies:", f"  - python={python}", "  - pip"]
    if plan.settings:
        lines += ["variables:", *(f'  {setting.name}: "{setting.value}"' for setting in plan.settings)]
    return lines
