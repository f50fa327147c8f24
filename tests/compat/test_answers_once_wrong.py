"""What commands once answered wrongly, asked again: one test a statement, by the function that the command prints."""

from __future__ import annotations

import pytest

from rocport.compat import CompatError
from rocport.compat.gpu import resolve_gpu
from rocport.compat.plan import Request, make_plan
from rocport.compat.wants import parse_wants
from rocport.doctor.capture import machine_from_text
from rocport.doctor.diagnosis import diagnose
from rocport.facts.attention import attention_of
from rocport.facts.platforms import find_system
from rocport.facts.products import processors
from rocport.facts.rocm import wheel_channel, wheel_channels
from rocport.facts.targets import all_targets, load_target
from rocport.facts.wheel_matrix import in_library
from rocport.model.versions import RocmVersion


def plan(gpu, wants="torch", system=None):
    return make_plan(Request(resolve_gpu(gpu), "3.12", find_system(system) if system else None, parse_wants(wants)))


def item(found, name):
    return next(one for one in found.items if one.want.name == name)


def said(text):
    return {result.check.id: result for result in diagnose(machine_from_text(text)).results}


@pytest.mark.parametrize("system", ["windows11", "ubuntu24.04"])
def test_no_rocm_10_is_taken_from_the_index_that_ends_at_7_14(system):
    seen = set()
    for target in all_targets():
        found = make_plan(Request(target, "3.12", find_system(system), parse_wants("torch")))
        for one in [found.chosen, *(other.candidate for other in found.alternatives)]:
            if one is not None and one.owner == "AMD":
                newer = RocmVersion.parse(one.rocm).release >= (10,)
                assert ("whl-next" in one.index) == newer, (target.name, one.title, one.index)
                seen.add(newer)
    assert True in seen


@pytest.mark.parametrize("gpu", ["780M", "RX 7900 XTX", "MI300X"])
def test_no_build_is_named_twice(gpu):
    found = plan(gpu)
    builds = [(one.title, one.index) for one in (found.chosen, *(other.candidate for other in found.alternatives))]
    assert len(set(builds)) == len(builds) == 4


@pytest.mark.parametrize("gpu", ["MI50", "Radeon VII", "Vega 56"])
def test_a_vega_gets_a_wheel_whose_rocblas_has_its_kernels(gpu):
    found = plan(gpu, system="ubuntu24.04").chosen
    channel = next(one for one in wheel_channels() if one.name == found.rocm)
    assert found.owner == "pytorch.org"
    assert in_library(channel, "rocBLAS", resolve_gpu(gpu)).state == "yes"


def test_no_plan_for_an_instinct_is_complete_on_windows():
    for gpu in ("MI300X", "MI250X", "MI355X"):
        found = plan(gpu, system="windows11")
        assert found.chosen is None and not found.complete and not found.commands, gpu


@pytest.mark.parametrize("hip", ["5.7.31921", "6.0.32830", "6.1.40091", "8.0.1"])
def test_bitsandbytes_0_49_2_has_libraries_for_hip_6_2_to_7_2_only(hip):
    found = said(f"=== bitsandbytes v0.49.2 ===\nPyTorch: 2.9.0+rocm\n  CUDA: N/A\n  HIP: {hip}\n")["bnb-library"]
    assert found.status == "fail" and "6.2, 6.3, 6.4, 7.0, 7.1, 7.2" in found.message


@pytest.mark.parametrize("hip", ["6.0.32830", "6.1.40091", "6.3.42131", "7.13.0", "7.2.0"])
def test_bitsandbytes_0_50_2_takes_the_nearest_library(hip):
    found = said(f"=== bitsandbytes v0.50.2 ===\nPyTorch: 2.9.0+rocm\n  CUDA: N/A\n  HIP: {hip}\n")["bnb-library"]
    assert found.status != "fail", found.message


def test_cupy_has_wheels_for_rocm_7():
    assert "cupy-rocm-7-0 since CuPy 14" in item(plan("MI300X", "torch,cupy"), "cupy").text


def test_vllm_is_built_for_its_own_list_of_targets():
    for gpu, status in (("MI300X", "separate"), ("RX 9070 XT", "separate"), ("RX 6800", "no"), ("MI50", "no")):
        assert item(plan(gpu, "vllm", "ubuntu24.04"), "vllm").status == status, gpu


def test_scratch_reclaim_is_left_alone_on_an_instinct():
    env = "HSA_NO_SCRATCH_RECLAIM=1\nPATH=/usr/bin\n"
    assert (
        "HSA_NO_SCRATCH_RECLAIM"
        in said(f"{env}Name: gfx1100\nGPU: Radeon RX 7900 XTX\n")["performance-variables"].message
    )
    told = said(f"{env}GPU models and configuration: AMD Instinct MI300X (gfx942:sramecc+:xnack-)\n")
    assert "HSA_NO_SCRATCH_RECLAIM" not in told["performance-variables"].message


def test_rocm_6_0_of_a_torch_tag_is_known():
    machine = machine_from_text("PyTorch version: 2.4.1+rocm6.0\nROCM used to build PyTorch: 6.0.32830-d62f6a171\n")
    assert diagnose(machine).versions()["rocm"] == "6.0"


def test_every_processor_is_a_target_and_polaris_is_named():
    for processor in processors():
        for name in processor.names:
            assert resolve_gpu(name).name == processor.target, name
    with pytest.raises(CompatError, match=r"Polaris.*ROCm dropped it"):
        resolve_gpu("Radeon RX 580")
    with pytest.raises(CompatError) as error:
        resolve_gpu("RX 7950 XTX")
    assert error.value.candidates and all("gfx110" in line for line in error.value.candidates)


def test_triton_of_a_plan_is_torchs_own_and_no_check_advises_another():
    found = item(plan("RX 6800", "torch,triton<3.9", "ubuntu24.04"), "triton")
    assert found.works and "never install triton beside" in found.text and not found.install
    results = said("GPU models and configuration: AMD Radeon RX 6800 (gfx1030)\n[pip3] triton==3.9.0\n")
    assert not any("pip install triton" in step for one in results.values() for step in one.fix)


def test_official_images_of_vllm_fail_no_check():
    results = said(
        "PyTorch version: 2.9.0a0+git1c57644\nROCM used to build PyTorch: 7.0.51831-a3e329ad8\n"
        "GPU models and configuration: AMD Instinct MI300X (gfx942:sramecc+:xnack-)\n"
        "[pip3] torch==2.9.0a0+git1c57644\n[pip3] torchvision==0.23.0a0+824e8c8\n[pip3] triton==3.4.0\n"
    )
    assert [one.check.id for one in results.values() if one.status == "fail"] == []


def test_flash_attention_of_gfx1100_is_a_switch_at_torch_2_8_everywhere():
    assert attention_of(load_target("gfx1100"), "2.8").state == "switch"
    assert in_library(wheel_channel("6.4"), "AOTriton", load_target("gfx942")).state == "yes"
