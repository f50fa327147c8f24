"""Rules hold for targets and versions: asked for others, they are silent."""

from __future__ import annotations

import pytest

from rocport.model import Confidence, Context, Finding, Options, RocmVersion
from rocport.scan.engine import scan_file, scan_python


def _scan(text: str, options: Options) -> list[Finding]:
    findings = scan_python("m.py", text.encode(), Context(options))
    assert isinstance(findings, list)
    return findings


@pytest.mark.parametrize(
    ("text", "holds", "silent"),
    [
        ("kernel[grid](x, num_warps=32)\n", "gfx942", "gfx1100"),
        ("WARP_SIZE = 32\n", "gfx90a", "gfx1201"),
        ("import torch\nx = x.to(torch.float8_e4m3fn)\n", "gfx942", "gfx950"),
        ("import torch\ny = torch._scaled_mm(a, b)\n", "gfx90a", "gfx1201"),
        ("k[grid](a, b, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, num_stages=4)\n", "gfx942", "gfx950"),
        ("kernel[grid](x, num_warps=BLOCK // 32)\n", "gfx942", "gfx1250"),
        ("@triton.jit\ndef k(x, e: tl.constexpr):\n    return rsqrt(x + e)\n", "gfx1100", "gfx942"),
    ],
)
def test_targets(text: str, holds: str, silent: str) -> None:
    assert _scan(text, Options())
    assert _scan(text, Options(targets=(holds,)))
    assert not _scan(text, Options(targets=(silent,)))
    assert _scan(text, Options(targets=(silent, holds)))


def test_an_old_torch_is_surer_to_ignore_expandable_segments() -> None:
    text = "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n"
    confidences = [_scan(text, Options(torch=torch))[0].confidence for torch in ("2.9", "2.13")]
    assert confidences == [Confidence.MEDIUM, Confidence.LOW]


def test_warp_size_is_a_constant_up_to_rocm_6() -> None:
    data = b"__global__ void f() { __shared__ float s[256 / warpSize]; }\n"
    found = {
        rocm: scan_file("k.hip", data, "hip", Context(Options(rocm=RocmVersion.parse(rocm)))) for rocm in ("6.4", "7.0")
    }
    assert found["6.4"] == []
    assert [item.rule for item in found["7.0"] if isinstance(item, Finding)] == ["hip-warp-size-constant"]


def test_a_wheel_index_is_asked_for_the_torch_that_is_wanted() -> None:
    data = b"--index-url https://download.pytorch.org/whl/rocm7.2\ntorch\n"
    found = {
        torch: scan_file("requirements.txt", data, "requirements", Context(Options(torch=torch)))
        for torch in ("2.13", "2.9")
    }
    assert found["2.13"] == []
    (item,) = found["2.9"]
    assert isinstance(item, Finding)
    assert "torch 2.9 is not in this channel" in item.message
