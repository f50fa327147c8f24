"""Rules hold for targets and versions: asked for others, they are silent."""

from __future__ import annotations

import pytest

from rocport.model import Confidence, Context, Finding, Options
from rocport.scan.engine import scan_python


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
