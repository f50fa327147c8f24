"""The plan for a GPU: which torch, from where, and what happens to each wanted package."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocport.compat.packages import STATUSES
from rocport.compat.plan import Request, make_plan
from rocport.compat.text import plan_data, plan_text, tables_data, tables_markdown
from rocport.compat.wants import parse_wants
from rocport.facts.packages import find_package, packages
from rocport.facts.platforms import find_system, systems
from rocport.facts.pytorch import STATES, features
from rocport.facts.rocm import torch_release, torch_releases, wheel_channel
from rocport.facts.targets import SURE, all_targets, load_target
from rocport.model.versions import TorchVersion


def plan(gfx, wants="", python="3.12", system=None, rocm=""):
    known = find_system(system) if system else None
    return make_plan(Request(load_target(gfx), python, known, parse_wants(wants), (), rocm))


def status(found, name):
    return next(item for item in found.items if item.want.name == name)


def test_the_seed_question():
    found = plan("gfx1100", "torch>=2.9,bitsandbytes,flash-attn", system="ubuntu24.04")
    assert found.complete and found.chosen.owner == "pytorch.org"
    torch = next(line for line in found.commands if "--index-url" in line)
    assert found.chosen.index in torch and f"torch=={found.chosen.release.version}.*,>=2.9" in torch
    assert status(found, "bitsandbytes").install == 'pip install "bitsandbytes>=0.50.0"'
    held = found.commands.index('pip install -c torch-constraints.txt "bitsandbytes>=0.50.0"')
    assert "pip freeze" in "".join(found.commands[:held]) and "no-deps" not in " ".join(found.commands)
    assert found.commands[-1] == 'python -c "import bitsandbytes, flash_attn"'
    flash = status(found, "flash-attn")
    assert flash.status == "build" and ("FLASH_ATTENTION_TRITON_AMD_ENABLE", "TRUE") in flash.env
    assert any(setting.name == "FLASH_ATTENTION_TRITON_AMD_ENABLE" for setting in found.settings)
    native = status(plan("gfx942", "flash-attn"), "flash-attn")
    assert native.install.startswith("GPU_ARCHS=gfx942 ") and not native.env


@pytest.mark.parametrize("target", all_targets(), ids=lambda t: t.name)
def test_a_chosen_torch_carries_the_target(target):
    found = make_plan(Request(target, "3.12", None, parse_wants("torch")))
    if found.chosen is None:
        assert not found.complete and "build torch from source" in found.notes[-1]
        return
    channel = wheel_channel(found.chosen.rocm if found.chosen.owner == "pytorch.org" else "multi-arch")
    assert target.name in (*channel.targets, *channel.unsure)
    if target.name in channel.unsure:
        assert found.chosen.sure == "unverified" and found.chosen.note in found.notes
    for other in found.alternatives:
        assert other.candidate != found.chosen


@pytest.mark.parametrize("target", all_targets(), ids=lambda t: t.name)
def test_every_claim_has_a_source_or_admits_that_it_knows_nothing(target):
    every = ",".join(item.name for item in packages())
    for system in (None, "ubuntu22.04", "windows11"):
        found = plan(target.name, every, system=system)
        for item in found.items:
            assert item.status in STATUSES and item.sure in SURE and item.text
            assert item.source or (item.status == "unknown" and item.sure == "unverified"), item
            assert item.status in ("ok", "build") or not item.install
        for refused in found.refused:
            assert refused.source and refused.sure in SURE and refused.why
        json.dumps(plan_data(found))
        assert plan_text(found).startswith("GPU: ")


def test_a_target_outside_the_pytorch_wheels_goes_to_amd():
    found = plan("gfx1010", "torch,torchvision")
    assert found.chosen.owner == "AMD" and found.chosen.sure == "reported"
    line = next(line for line in found.commands if "--index-url" in line)
    assert '"torch[device-gfx1010]==' in line and '"torchvision[device-gfx1010]==' in line
    assert any(refused.what == "torch.compile on the GPU" for refused in found.refused)
    assert any(setting.name == "TORCH_BLAS_PREFER_HIPBLASLT" for setting in found.settings)


@pytest.mark.parametrize(
    ("gfx", "torch", "owner"),
    [
        ("gfx1201", "2.6", None),
        ("gfx1201", "2.7", "pytorch.org"),
        ("gfx1101", "2.5", None),
        ("gfx1101", "2.6", "pytorch.org"),
    ],
)
def test_a_target_that_came_to_a_channel_with_a_later_torch(gfx, torch, owner):
    found = plan(gfx, f"torch=={torch}.*")
    builds = [found.chosen, *(other.candidate for other in found.alternatives)]
    theirs = [build for build in builds if build is not None and build.owner == "pytorch.org"]
    assert bool(theirs) == (owner is not None)


@pytest.mark.parametrize(
    ("torch", "triton", "fits"),
    [
        ("2.9", ">=3.5.1", True),
        ("2.12", "==3.7.1", True),
        ("2.12", "==3.6.1", False),
        ("2.13", "==3.7.1", True),
        ("2.13", "==3.8.0", False),
    ],
)
def test_a_triton_known_by_its_minor_is_any_patch_of_it(torch, triton, fits):
    found = plan("gfx942", f"torch=={torch}.*,triton{triton}")
    assert (status(found, "triton").status == "ok") is fits


@pytest.mark.parametrize("gfx", ["gfx900", "gfx906"])
def test_channels_whose_rocblas_dropped_the_target_are_passed_over(gfx):
    found = plan(gfx)
    assert (found.chosen.rocm, found.chosen.owner) == ("6.3", "pytorch.org")
    assert any(f"carries no code for {gfx}" in refused.why for refused in found.refused)
    assert any("its rocBLAS has no kernels" in refused.why for refused in found.refused)


def test_amds_indexes_are_asked_for_what_they_hold():
    found = plan("gfx1010")
    for build in (found.chosen, *(other.candidate for other in found.alternatives)):
        assert ("whl-next" in build.index) == (build.rocm.startswith("10.")), build
    windows = plan("gfx1151", system="windows11").chosen
    assert windows.rocm == "10.1.0" and "whl-next" in windows.index


@pytest.mark.parametrize("gfx", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_no_instinct_runs_torch_on_windows(gfx):
    found = plan(gfx, system="windows11")
    assert found.chosen is None and not found.complete and "Windows" in found.notes[-1]


def test_wsl_goes_through_windows_driver_and_librocdxg():
    """`--os wsl` named an amdgpu driver, a kernel, pytorch.org's wheels and MI300X, and no librocdxg."""
    found = plan("gfx1151", "torch", system="wsl")
    assert found.chosen.owner == "AMD" and not found.settings[0].name.startswith("HSA_")
    assert found.driver is None and found.kernels == ()
    assert "driver: AMD's for Windows; WSL has no amdgpu driver" in plan_text(found)
    before = plan("gfx1100", "torch==2.11", system="wsl", rocm="7.2")
    assert [setting.name for setting in before.settings] == ["HSA_ENABLE_DXG_DETECTION"]
    assert "export HSA_ENABLE_DXG_DETECTION=1" in before.commands
    assert any("librocdxg is not in ROCm before 7.13" in note for note in before.notes)
    old = plan("gfx1100", "torch==2.7", system="wsl")
    assert old.chosen is None and any("needs ROCm 7.1 or later" in refused.why for refused in old.refused)
    assert plan("gfx942", "torch", system="wsl").chosen is None
    unlisted = plan("gfx1010", "torch", system="wsl")
    assert any("AMD's lists for WSL do not name gfx1010" in note for note in unlisted.notes)


@pytest.mark.parametrize("wants", ["torch", "torch==2.11"])
@pytest.mark.parametrize("system", ["wsl", "windows11"])
def test_a_build_that_serves_is_not_called_one_that_does_not_work(system, wants):
    """AMD's page names torch 2.14 for ROCm 10.1.0 for Linux and again for WSL and Windows."""
    found = plan("gfx1201", wants, system=system)
    serves = [build.title for build in ([found.chosen] if found.chosen else [])]
    assert not {refused.what for refused in found.refused} & {*serves, "torch 2.14 for ROCm 10.1.0 from AMD"}


def test_a_rocm_release_can_be_asked():
    asked = Request(load_target("gfx1100"), "3.12", None, parse_wants("torch==2.9.*"), rocm="7.1.1")
    found = make_plan(asked)
    assert found.chosen.rocm == "7.1.1" and found.chosen.release.version == "2.9"
    assert any("--find-links" in line and "rocm-rel-7.1.1" in line for line in found.commands)
    assert make_plan(Request(load_target("gfx1100"), rocm="7.2")).chosen.rocm.startswith("7.2")
    nothing = make_plan(Request(load_target("gfx1100"), rocm="9.9"))
    assert nothing.chosen is None and not nothing.complete


def test_a_release_without_torch_is_told_from_one_that_nobody_knows():
    assert "ROCm 10.2.0 is out" in plan("gfx942", "torch", rocm="10.2").notes[-1]
    assert "ROCm 10.9 is no release that the facts know" in plan("gfx942", "torch", rocm="10.9").notes[-1]


def test_versions_python_and_libc_narrow_the_choice():
    assert plan("gfx942", "torch==2.6.0").chosen.release.version == "2.6"
    assert plan("gfx942", "torch<2.10,>=2.9").chosen.release.version == "2.9"
    assert plan("gfx942", python="3.9").chosen.release.version == "2.8"
    assert plan("gfx942", system="centos7").chosen.release.version == "2.5"
    nothing = plan("gfx942", "torch>=2.13", python="3.9")
    assert nothing.chosen is None and not nothing.complete
    assert plan("gfx942", "torchvision<0.20").chosen.release.torchvision == "0.19"
    assert any("3.9" in refused.why for refused in nothing.refused)


def test_a_cuda_tag_is_called_out():
    found = plan("gfx942", "torch==2.9.1+cu128")
    assert found.complete and any('"torch==2.9.1"' in line for line in found.commands)
    assert any("names a CUDA build (cu128)" in note for note in found.notes)


def test_windows_has_amds_wheels_only():
    found = plan("gfx1151", "torch,bitsandbytes,flash-attn", system="windows11")
    assert found.chosen.owner == "AMD" and not found.kernels and found.driver is None
    assert found.commands[0].startswith("py -3.12") and found.commands[1].endswith("Activate.ps1")
    assert any(line.startswith("$env:") for line in found.commands)
    assert status(found, "bitsandbytes").status == "ok"
    assert status(found, "flash-attn").status == "unknown"


def test_what_a_package_needs_decides_which_torch():
    alone = plan("gfx942").chosen
    found = plan("gfx942", "xformers")
    assert alone.rocm != "6.4" and found.chosen.rocm in find_package("xformers").channels
    without = {other.candidate.rocm: other.without for other in found.alternatives}
    assert without["6.4"] == () and without["7.1"] == ("xformers",)


@pytest.mark.parametrize(
    ("want", "expected", "says"),
    [
        ("nvidia-cublas-cu12", "no", "NVIDIA only"),
        ("tensorrt", "no", "NVIDIA only"),
        ("left-pad", "unknown", "not in the facts"),
        ("bitsandbytes==0.45.0", "no", "excludes 0.50.0"),
        ("bitsandbytes<0.51", "ok", "carries gfx942"),
        ("torchvision<0.10", "no", "goes with torchvision"),
        ("triton>=3", "ok", "triton-rocm"),
        ("triton<2", "no", "triton-rocm"),
        ("flash-attn==2.5.8", "unknown", "speak of 2.8.3.post2 only"),
        ("vllm", "separate", "environment of its own"),
        ("numpy<2", "ok", "no GPU code"),
        ("cupy-cuda12x", "no", "NVIDIA only"),
    ],
)
def test_packages(want, expected, says):
    item = plan("gfx942", want).items[0]
    assert (item.status, says in item.text) == (expected, True), item
    if want == "numpy<2":
        assert item.install == 'pip install "numpy<2"'


def test_bitsandbytes_libraries_are_named_after_hip_not_rocm():
    text = status(plan("gfx1010", "bitsandbytes"), "bitsandbytes").text
    assert "HIP 7.16" in text and "rocm101" not in text


def test_what_the_facts_do_not_have_is_called_unknown():
    found = plan("gfx1103", "torch==2.14.*", rocm="7.14")
    assert found.driver is None and "is not in the facts" in plan_text(found)
    assert "no ROCm channel for it is in the facts" in " ".join(found.notes)


def test_support_tables():
    data = tables_data(torch_release(TorchVersion.parse("2.13")), load_target("gfx942"))
    rows = {row["name"]: row for table in data["tables"].values() for row in table}
    assert len(data["tables"]["library"]) == 20 and len(data["tables"]["domain"]) == 8
    assert rows["torch.float8_e4m3fnuz"]["on_target"] == "matrix instructions"
    assert rows["torch.float8_e4m3fn"]["on_target"] == "no matrix instructions"
    assert rows["torchserve"]["state"] == "unmaintained"
    old = tables_data(torch_release(TorchVersion.parse("2.2")), None)
    assert {row["name"]: row["state"] for row in old["tables"]["dtype"]}["torch.uint16"] == "no"
    for release in torch_releases():
        text = tables_markdown(tables_data(release, load_target("gfx1151")))
        rows = [line.count("|") for line in text.splitlines() if line.startswith("|")]
        assert set(rows) <= {8, 10} and text.count("\n## ") == 5
    for feature in features():
        assert feature.state in STATES and feature.sure in SURE and feature.source


@given(
    st.sampled_from([target.name for target in all_targets()]),
    st.sampled_from([None, *(system.id for system in systems())]),
    st.sampled_from([None, "3.8", "3.10", "3.14", "3.99"]),
    st.lists(st.sampled_from([item.name for item in packages()]), max_size=6),
    st.sampled_from(["", ">=2", "<1", "==2.9.*", "!=2.14.0", "~=2.5", ">=2.5,<2.7", "==99"]),
)
@settings(max_examples=80, deadline=None)
def test_any_question_gets_an_answer(gfx, system, python, names, specifier):
    found = plan(gfx, ",".join(f"{name}{specifier}" for name in names), python, system)
    assert plan_text(found) and (found.complete or found.chosen is None or found.items)
    if found.chosen is not None:
        assert len([line for line in found.commands if found.chosen.index in line and "torch" in line]) >= 1


def test_what_a_package_brings_from_torchs_index_has_to_be_on_record_there():
    """AMD's index is recorded to lack torchvision 0.29, which unsloth needs: its plan was called recorded."""
    found = plan("gfx1010", "unsloth", system="ubuntu24.04")
    assert "torchvision[device-gfx1010]==0.29.*" in " ".join(found.commands)
    assert found.unrecorded == ("torchvision",)
    assert plan("gfx1010", "einops", system="ubuntu24.04").unrecorded == ()
