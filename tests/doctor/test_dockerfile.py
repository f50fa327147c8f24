"""A Dockerfile is read by stage: its image, what ENV sets, which torch its RUNs leave."""

from __future__ import annotations

import pytest

from rocport.doctor.assume import assume
from rocport.doctor.capture import machine_from_text
from rocport.doctor.diagnosis import Diagnosis, diagnose
from rocport.doctor.machine import Machine
from rocport.doctor.probes.dockerfile import base

ROCM_TORCH = "RUN pip install torch==2.9.1 --index-url https://download.pytorch.org/whl/rocm6.4\n"


def read(text: str, *targets: str) -> Machine:
    return assume(machine_from_text(text, "Dockerfile"), targets)


def status(text: str, identifier: str, *targets: str) -> str:
    result = diagnose(read(text, *targets)).result(identifier)
    return result.status if result else ""


def said(text: str, identifier: str) -> list[str]:
    diagnosis: Diagnosis = diagnose(read(text))
    return [result.message for result in diagnosis.results if result.check.id == identifier]


def test_every_variable_of_an_env_is_read_in_both_forms_and_over_several_lines() -> None:
    machine = read(
        "FROM rocm/pytorch:latest\nENV PYTHONUNBUFFERED=1 \\\n    # why\n    TORCHINDUCTOR_MAX_AUTOTUNE=1\n"
        "ENV MIOPEN_FIND_MODE 2\nENV MIOPEN_FIND_MODE=3\nCMD python x.py\n"
    )
    assert {(s.name, s.value) for s in machine.facts.env} == {
        ("TORCHINDUCTOR_MAX_AUTOTUNE", "1"),
        ("MIOPEN_FIND_MODE", "3"),
    }
    found = machine.env("TORCHINDUCTOR_MAX_AUTOTUNE")
    assert found is not None and found.evidence.where == "Dockerfile:2"


def test_a_stage_has_the_variables_of_the_stage_it_begins_from_and_no_others() -> None:
    head = "FROM rocm/dev-ubuntu-24.04:7.0 AS build\nENV HSA_OVERRIDE_GFX_VERSION=10.3.0\n"
    assert read(f"{head}FROM rocm/pytorch:latest\nCOPY . /app\n").env("HSA_OVERRIDE_GFX_VERSION") is None
    assert read(f"{head}FROM build\nCOPY . /app\n").env("HSA_OVERRIDE_GFX_VERSION") is not None


def test_what_a_run_exports_is_gone_after_it() -> None:
    text = "FROM rocm/pytorch:latest\nRUN export HIP_VISIBLE_DEVICES=-1\n"
    assert read(text).env("HIP_VISIBLE_DEVICES") is None
    assert "a RUN that only exports sets nothing for the steps after it" in said(text, "container-image")
    built = "FROM rocm/pytorch:latest\nRUN export PYTORCH_ROCM_ARCH=gfx942 && pip install .\n"
    assert not any("only exports" in message for message in said(built, "container-image"))


def test_an_override_of_another_instruction_set_fails_for_the_target_asked_about() -> None:
    text = "FROM rocm/pytorch:latest\nENV HSA_OVERRIDE_GFX_VERSION=10.3.0\n"
    assert status(text, "gfx-override", "gfx1201") == "fail"
    assert status(text, "gfx-override", "gfx1031") == "warn"
    assert status(text, "gfx-override") == "warn"


@pytest.mark.parametrize(
    ("image", "target", "expected"),
    [
        ("rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0", "gfx1201", "fail"),
        ("rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0", "gfx942", "ok"),
        ("docker.io/rocm/dev-ubuntu-24.04:7.0-complete", "gfx1201", "ok"),
        ("rocm/dev-ubuntu-22.04:6.4.9", "gfx942", "fail"),
        ("rocm/dev-ubuntu-22.04:99.1", "gfx942", "skipped"),
        ("rocm/pytorch:latest", "gfx942", "skipped"),
        ("ubuntu:24.04", "gfx942", "skipped"),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", "gfx942", "fail"),
    ],
)
def test_the_image_is_judged_by_its_tag(image: str, target: str, expected: str) -> None:
    assert status(f"FROM {image}\nRUN make\n", "container-image", target) == expected
    given = f"# syntax=docker/dockerfile:1\nARG IMAGE={image}\nFROM ${{IMAGE}} AS last\nRUN make\n"
    assert status(given, "container-image", target) == expected


def test_the_torch_that_is_installed_last_is_there() -> None:
    image = "FROM rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0\n"
    torch = read(f"{image}CMD x\n").version("torch")
    assert torch is not None and torch.value == "2.3.0"
    torch = read(image + ROCM_TORCH).version("torch")
    assert torch is not None and torch.value == "2.9.1+rocm6.4"
    assert status(image + ROCM_TORCH, "torch-arch", "gfx1010") == "fail"


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("pip install torch==2.9.1", True),
        ("apt-get update && pip3 install numpy 'torch'", True),
        ("pip install torch --index-url https://download.pytorch.org/whl/rocm6.4", False),
        ("pip install torch-geometric", False),
        ("pip install -c torch-constraints.txt torch", False),
    ],
)
def test_torch_of_the_default_index_is_a_build_for_cuda(run: str, found: bool) -> None:
    messages = said(f"FROM rocm/dev-ubuntu-24.04:7.0\nRUN {run}\n", "container-image")
    assert any("default index" in message for message in messages) == found


def test_torch_without_a_version_is_there_already_in_an_image_that_has_it() -> None:
    image = "FROM rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0\n"
    assert not any("index" in message for message in said(f"{image}RUN pip install torch\n", "container-image"))


def test_a_paste_that_begins_with_the_word_from_is_no_dockerfile() -> None:
    assert "dockerfile" not in read("From rocm 6.4 on I get\nRUN it\nexport HIP_VISIBLE_DEVICES=-1\n").facts.probed
    assert "dockerfile" not in read("from torch\nHIP_VISIBLE_DEVICES=-1\n").facts.probed


def test_tags_name_rocm_and_torch() -> None:
    found = base("rocm/vllm:rocm6.4.1_vllm_0.10.0_20250812")
    assert found is not None and (found.rocm, found.torch) == ("6.4.1", "")
    assert base("ubuntu:24.04") is None
