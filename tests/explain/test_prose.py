"""A few sentences without a message: the GPU, the program and the nearest known failures, never as certain."""

from __future__ import annotations

import json

import pytest

from rocport.explain import read_bytes
from rocport.explain.pages import reading_data, reading_text
from rocport.explain.prose import DOUBT, NEAREST
from rocport.facts.failures import load_failures
from rocport.facts.symptoms import symptoms

HANGS = "my RX 7900 XT hangs when I load bitsandbytes"


def possible(text: str) -> list[str]:
    reading = read_bytes(text.encode(), "note")
    assert not reading.matches
    return [match.failure.id for match in reading.possible]


def test_who_what_machine_and_the_nearest_failures_in_doubt() -> None:
    reading = read_bytes(HANGS.encode(), "note")
    assert reading.vendor == "amd"
    assert not reading.matches
    near = [match.failure.id for match in reading.possible]
    assert near[0] == "gpu-hang-hw-exception" and any(name.startswith("bnb-") for name in near)
    assert len(near) <= NEAREST
    assert all(match.doubts == (DOUBT,) for match in reading.possible)
    text = reading_text(reading)
    assert "note: line 1 names a GPU that is gfx1100 (RDNA3)." in text
    assert "Possible causes, not certain:" in text and "To find out more, collect:" in text
    assert json.loads(json.dumps(reading_data(reading)))["gpus"] == ["line 1 names a GPU that is gfx1100 (RDNA3)"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("ComfyUI gives black images on my 9070 XT", "nan-output"),
        ("ollama uses the CPU instead of my MI50", "ollama-no-gpu"),
        ("my Radeon RX 6800 isn't detected by torch", "torch-without-rocm"),
        ("training hangs on both GPUs, 2x MI210", "gpu-hang-hw-exception"),
        ("torchrun over 4 MI210 does not work", "rccl-watchdog-timeout"),
        ("My 7900 XTX freezes", "gpu-hang-hw-exception"),
        ("loss is nan on MI300X", "nan-output"),
        ("My 7900 XTX runs out of VRAM\nwith vLLM", "vllm-kv-cache-too-small"),
    ],
)
def test_what_is_nearest(text: str, first: str) -> None:
    assert possible(text)[0] == first


@pytest.mark.parametrize(
    "text",
    [
        "my RTX 4090 hangs when I load bitsandbytes",
        "it hangs when I load bitsandbytes",
        "I bought a Radeon RX 7900 XT and am happy",
        "my RX 7900 XT hangs\n" + "and then I tried this\n" * 20,
        "a change of the RX 7900 XT's danger zone",
        # Words that begin like a symptom, and words that only say how something is run.
        "Is there a nanoGPT fork for AMD GPUs?",
        "DETR's Hungarian matcher and SlowFast on my RX 7900 XT",
        "How do I freeze the encoder on MI210? The noise scheduler and garbage collection are fine",
        "vLLM on MI300X: which models with tensor parallel and torchrun?",
    ],
)
def test_nothing_is_near_without_an_amd_gpu_and_a_way_to_fail_in_a_few_sentences(text: str) -> None:
    assert not possible(text)


def test_a_message_outweighs_what_is_told() -> None:
    reading = read_bytes(f"{HANGS}\nRuntimeError: HIP error: invalid device function\n".encode(), "note")
    assert [match.failure.id for match in reading.matches] == ["invalid-device-function"]
    assert all(DOUBT not in match.doubts for match in reading.possible)


def test_a_failure_of_other_targets_is_not_near() -> None:
    for failure in read_bytes(b"ROCm is slow on my MI300X", "note").possible:
        assert failure.failure.where.covers(targets=read_bytes(b"ROCm is slow on my MI300X", "note").told.targets)


def test_a_card_that_nothing_serves_is_told() -> None:
    assert "Polaris" in reading_text(read_bytes(b"my RX 580 is not detected by ROCm", "note"))


def test_a_dockerfile_tells_nothing_but_what_stands_beside_it() -> None:
    file = "FROM rocm/dev-ubuntu-22.04:7.2.4-complete\n# X=1 left out: may hang\nRUN pip install a \\\n  && echo hang\n"
    assert not possible(file)
    told = read_bytes(f"{file}\nFrom what I see it hangs.\n".encode(), "note").told
    assert told is not None and told.line == 6 and told.symptoms == ("hangs",)


def test_every_symptom_names_failures_there_are_and_words_in_lower_case() -> None:
    known = {failure.id for failure in load_failures()}
    for symptom in symptoms():
        assert set(symptom.failures) <= known, symptom.name
        assert symptom.said.pattern == symptom.said.pattern.lower(), symptom.name
