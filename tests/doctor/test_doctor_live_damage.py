"""Live probes on roots that are damaged, odd or hostile: nothing raises, and every finding still has its evidence."""

from __future__ import annotations

import json
import os
from pathlib import Path

import doctor_samples as samples
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocport.doctor.diagnosis import diagnose
from rocport.doctor.host import Host, no_command
from rocport.doctor.live import read_machine

VARIABLES = (
    "HSA_OVERRIDE_GFX_VERSION",
    "HIP_VISIBLE_DEVICES",
    "CUDA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "GPU_MAX_HW_QUEUES",
    "AMD_LOG_LEVEL",
    "BNB_ROCM_VERSION",
    "NCCL_PROTO",
    "ROCM_PATH",
    "LD_LIBRARY_PATH",
    "HIP_PLATFORM",
)


def check(root: Path, env: dict[str, str], packages: Path) -> None:
    diagnosis = diagnose(read_machine(Host(root, env, no_command, "linux", (packages,))))
    json.dumps(diagnosis.as_dict())
    for result in diagnosis.results:
        if result.status in ("warn", "fail"):
            assert result.evidence and result.consequence, result.check.id


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_content_of_the_files_and_variables(tmp_path_factory, data):
    base = tmp_path_factory.mktemp("machine")
    root = samples.machine_root(base / "root")
    packages = samples.site_packages(base / "venv", "bitsandbytes-0.50.2", torch_version="2.9.1+rocm6.4")
    files = sorted(p for p in (*root.rglob("*"), packages / "torch" / "version.py") if p.is_file())
    for path in data.draw(st.lists(st.sampled_from(files), max_size=6, unique=True)):
        path.write_bytes(data.draw(st.binary(max_size=80)))
    values = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=24)
    env = {name: data.draw(values) for name in data.draw(st.lists(st.sampled_from(VARIABLES), max_size=5, unique=True))}
    check(root, env, packages)


@pytest.mark.parametrize("name", ["opt/rocm", "sys/module/amdgpu", "dev/dri", "proc/cmdline"])
def test_links_in_a_circle(tmp_path, name):
    root = samples.machine_root(tmp_path / "root")
    path = root / name
    if path.is_dir():
        for item in sorted(path.rglob("*"), reverse=True):
            item.unlink() if not item.is_dir() else item.rmdir()
        path.rmdir()
    elif path.exists():
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(path)
    check(root, {"ROCM_PATH": str(root / "opt/rocm")}, samples.site_packages(tmp_path / "venv"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(tmp_path):
    root = samples.machine_root(tmp_path / "root")
    for path in root.rglob("*"):
        if path.is_file():
            path.chmod(0)
    check(root, {}, samples.site_packages(tmp_path / "venv"))


def test_nothing_at_all(tmp_path):
    check(tmp_path, {}, tmp_path / "missing")
