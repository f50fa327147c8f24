"""`rocport explain` and `rocport doctor --from` give one diagnosis, whatever is pasted."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from rocport.cli import cli

PASTES = {
    "words": "my RX 7900 XT hangs when I load bitsandbytes",
    "words without a GPU": "ComfyUI on ROCm gives black images since the update, what can I do?",
    "words of nothing": "everything is fine",
    "log": "Device 0: AMD Radeon Graphics, gfx1103\nrocBLAS error: Cannot read TensileLibrary.dat: No such file\n",
    "log of nobody": "NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:\n",
    "unknown error": "gfx1100\nTraceback (most recent call last):\nFooError: never seen before\n",
    "issue": "### GPU\n\nAMD Radeon RX 7900 XTX\n\n### What happened?\n\nIt fails:\n\n"
    "```\nRuntimeError: HIP error: invalid device function\n```\n",
    "page": "# Troubleshooting\n\nThis page lists common errors.\n\n"
    "## HIP error: invalid device function\n\nSet the override.\n",
    "NVIDIA": "NVIDIA GeForce RTX 5090\nRuntimeError: CUDA error: no kernel image is available for execution\n",
    "CUDA build": "OSError: libcublas.so.12: cannot open shared object file: No such file or directory\n",
    "rocminfo": "ROCk module is loaded\n*******\nAgent 2\n*******\n  Name:                    gfx1100\n"
    "  Marketing Name:          Radeon RX 7900 XTX\n",
    "dmesg": "[  10.1] amdgpu 0000:03:00.0: amdgpu: ring comp_1.1.0 timeout, signaled seq=7, emitted seq=9\n",
    "environment": "PYTORCH_ALLOC_CONF=max_split_size_mb:128,expandable_segments:True\ntorch 2.13.0+rocm7.2 gfx1100\n",
}


def run(*arguments: str, paste: str) -> str:
    result = CliRunner().invoke(cli, list(arguments), input=paste)
    assert result.exit_code in (0, 1), result.output
    return result.stdout


@pytest.mark.parametrize("kind", PASTES)
def test_doctor_says_of_a_paste_what_explain_says(kind: str) -> None:
    """Prose was named as possible by explain; doctor left out the GPU it names and the lines that look like errors."""
    paste = PASTES[kind]
    explained = json.loads(run("explain", "-", "--json", paste=paste))
    doctored = json.loads(run("doctor", "--from", "-", "--json", paste=paste))["pastes"]
    assert doctored == [explained]
    ends = r"\n+(?:To find out more, collect:|The machine it shows|Facts as of)"
    said = re.split(ends, run("explain", "-", paste=paste))[0]
    assert said[said.index("stdin:") :] in run("doctor", "--from", "-", paste=paste)


def test_what_the_user_says_of_the_machine_is_asked_of_both() -> None:
    log = "NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:\n"
    for door in (("explain", "-"), ("doctor", "--from", "-")):
        assert "Possible causes, not certain" in run(*door, paste=log)
        assert "1 known failure found" in run(*door, "--vendor", "amd", paste=log)
    sync = "gfx1100\nerror: use of undeclared identifier '__shfl_down_sync'; did you mean '__shfl_down'?\n"
    for door in (("explain", "-"), ("doctor", "--from", "-")):
        assert "1 known failure found" in run(*door, "--rocm", "6.4", paste=sync)
        assert "no failure is certain" in run(*door, "--rocm", "7.2", paste=sync)
    assert CliRunner().invoke(cli, ["doctor", "--vendor", "amd"]).exit_code == 2


def test_a_gpu_told_in_words_is_named_and_nothing_says_that_there_is_none() -> None:
    said = run("doctor", "--from", "-", paste=PASTES["words"])
    assert "line 1 names a GPU that is gfx1100 (RDNA3)" in said
    assert "GPU: none in what was read" not in said
    assert "To find out more, collect:" in said


def test_each_of_several_pastes_gets_its_sentence(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("pastes")
    for name in ("NVIDIA", "words", "unknown error"):
        (folder / f"{name}.txt").write_text(PASTES[name])
    said = run("doctor", "--from", str(folder), paste="")
    assert "nothing to say about this one" in said
    assert "names a GPU that is gfx1100" in said and "FooError: never seen before" in said
