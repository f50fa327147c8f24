"""A text that explains errors to its readers claims nothing; a report of the same message does."""

from __future__ import annotations

import io

import pytest

from rocport.explain import read_bytes
from rocport.explain.telling import explains, introduction
from rocport.explain.text import read_blocks

ERROR = "RuntimeError: HIP error: invalid device function"
LIBRARY = "ImportError: librocblas.so.4: cannot open shared object file: No such file or directory"


@pytest.mark.parametrize(
    "page",
    [
        f"## Problem\n\nOn gfx1151 it ends so:\n\n```\n{ERROR}\n```\n\n## Fix\n\nThe check is optional.\n",
        f"[HIP] Keep the list\n\nOn gfx90a the tests end with\n{ERROR}\n\nChange-Id: I5daeacd9dd5c6ce7f914d6e6e45d\n",
        f"Build for gfx1030, too (#9815)\n\n{ERROR}\n",
        f"Context\n\nUntil this ADR the loader emitted:\n\n{ERROR}\n\non gfx1030.\n\nDecision\n\nWiden the list.\n",
        f"ROCm errors#\n\nThis page lists all errors.\n\n- {ERROR}#\nThe kernels are another GPU's.\n",
        f"## Fix\n\n+1.5 ms a kernel where it said\n\n{ERROR}\n\nbefore, on gfx1100.\n",
        f"<dl><dt>{ERROR}</dt>\n<dd>no kernel for this gfx target</dd></dl>\n",
        f"### 背景\n\n在 gfx1100 上:\n```\n{ERROR}\n```\n### 解决方案\n\n重新安装\n",
        "* The return value on gfx942 is updated from\n  `hipErrorNotSupported` to `hipSuccess`\n",
        "gfx942: hipMemRangeGetAttributes was returning hipErrorInvalidDevice due to a mapping of the arguments\n",
        ".. note:: on gfx90a\n\n* What to do if you get the following error when\n  trying to run it:\n\n"
        f"  .. code-block:: shell\n\n     {ERROR}\n",
        f"If the GPU (gfx1103) is not detected and the logs contain\nmessages like:\n\n```\nfirst\n{ERROR}\n```\n",
        f"### Motivation and Context\n\nWhile I ran it on gfx90a I hit a failure...\n\n{ERROR}\n",
        f"**{ERROR}**\n   Make sure the wheel has kernels for gfx1100.\n",
        f"If a script asks for gfx1100, it cannot be mapped. This triggers a {ERROR} or a crash.\n",
        f"This guide breaks down why gfx1100 fails.\n\n{ERROR}\n",
    ],
)
def test_a_text_that_explains_errors_claims_none(page: str) -> None:
    reading = read_bytes(page.encode(), "page")
    assert reading.vendor == "amd"
    assert reading.matches == ()
    assert reading.possible != ()


@pytest.mark.parametrize(
    "report",
    [
        f"# Eval bug: {ERROR}\n\n### Name and Version\n\nb9307\n\n### Hardware\n\nRX 7900 XTX\n\n## Fix\n\nnone yet\n",
        f"None of the instructions on this page work for gfx1100:\n\n{ERROR}\n",
        "Couldn't open CUDA library libMIOpen.so. LD_LIBRARY_PATH: /opt/rocm/lib\n",
        f"I followed this guide on an RX 7900 XTX and it ends with\n\n{ERROR}\n",
        f"gfx1100\n\n{ERROR}\n\nAny idea? See also the workaround in this PR.\n",
        f"在 7900XTX 上我运行失败:\n\n{ERROR}\n\n## 背景\n",
        f'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n{ERROR}\n[gfx1100]\n',
        ":3:hip_module.cpp:669 : 1 us: hipLaunchKernel: Returned hipErrorInvalidDeviceFunction : gfx1010\n",
        "gfx1100\nhipErrorNoBinaryForGpu\n",
        f"gfx1100\npython x.py\n# {LIBRARY}\n",
        f"### 我的显卡 gfx1100\n\n{LIBRARY}\n",
        f"# [Issue]: {ERROR}\n\n  Wavefront Size: 32\n  Name: gfx1100\n",
        f"# Eval bug: {ERROR}\n\n  Name: gfx1100\n",
        f"On a 6700 XT it just shows me the message `{ERROR}`\n",
        "RX 7900 XTX\n\nThe sample fails in `hsa_init` with the status `0x1008`.\n",
    ],
)
def test_a_report_claims_the_message_it_tells_of(report: str) -> None:
    assert read_bytes(report.encode(), "report").matches != ()


def test_a_form_for_reports_explains_nothing_whatever_its_headings() -> None:
    assert explains("## Fix\nset the list\n")
    assert not explains("## Problem description\nit ends\n## Fix\nset the list\n")


def test_what_introduces_a_block_stands_above_its_fence_or_directive() -> None:
    assert introduction(["It ends", "with:", "", "```", "first"]) == "It ends with:"
    assert introduction(["With:", "", ".. code-block:: shell", ""]) == "With:"
    assert introduction(["```", "code", "```", "Then it ends:"]) == "Then it ends:"
    assert introduction([]) == ""


def test_what_a_form_lists_after_the_error_ends_nothing_well() -> None:
    listed = "==========\nHSA Agents\n==========\n  Name: gfx1151\n"
    assert read_bytes(f"### Problem Description\n\n{ERROR}\n\n### Output of rocminfo\n\n{listed}".encode(), "x").matches
    assert not read_bytes(f"{ERROR}\n$ rocminfo\n{listed}".encode(), "x").matches


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_short_paste_is_read_whole_whether_its_last_line_ends_or_not(end: str) -> None:
    folder = (
        "CMake Error at cmake/FindHIP.cmake:25 (include):\n  include could not find requested file:\n"
        "    /opt/rocm/hip/cmake/FindHIP.cmake"
    )
    assert read_bytes(f"{folder}{end}".encode(), "paste").matches
    assert len(list(read_blocks(io.BytesIO(f"{folder}{end}".encode())))) == 1


def test_a_heading_over_a_stack_is_a_report() -> None:
    title = "# Exception: ROCm linker /opt/rocm/llvm/bin/ld.lld not found. Set 'TRITON_HIP_LLD_PATH' to its path.\n"
    assert not read_bytes(f"{title}It is caused by a missing linker.\n".encode(), "page").matches
    stack = '  File "/opt/venv/lib64/python3.13/site-packages/torch/_ops.py", line 1255, in __call__\n    return 1\n'
    found = read_bytes(f"{title}{stack}".encode(), "paste").matches
    assert [match.failure.id for match in found] == ["triton-lld-missing"]


def test_what_programs_go_on_after_does_not_outrank_an_error() -> None:
    warned = 'h:2:2 [0] init.cc:127 NCCL WARN Missing "iommu=pt" from kernel command line which can lead to hang!\n'
    failed = "h:2:8 [1] transport/p2p.cc:220 NCCL WARN hipIpcGetMemHandle failed : invalid argument\n"
    assert [one.failure.id for one in read_bytes(f"RCCL\n{warned}".encode(), "paste").matches] == ["rccl-iommu"]
    both = read_bytes(f"RCCL\n{warned}{failed}".encode(), "paste")
    assert [one.failure.id for one in both.matches] == ["rccl-ipc-handle"]
    assert "rccl-iommu" in [one.failure.id for one in both.possible]


def test_who_owns_nvidia_is_not_made_amd_by_a_question_about_amd() -> None:
    said = "# AMD GPU support?\nFileNotFoundError: ctranslate2/../_rocm_sdk_core/bin\n\nI'm using NVIDIA GPU\n"
    assert read_bytes(said.encode(), "paste").vendor == "nvidia"
    assert read_bytes(b"AMD GPU support?\n", "paste").vendor == "amd"
