"""The width of a warp belongs to the whole of a kernel: a file whose author counts in wavefronts is not cut to 32."""

from __future__ import annotations

import pytest

from rocport.model import Applicability, Context
from rocport.port.engine import port_source
from rocport.scan.engine import known_names, scan_source
from rocport.syntax.cuda import CudaSource

KERNEL = (
    "__device__ float total(float sum) {\n"
    "  for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);\n"
    "  return sum;\n}\n"
)
# exllamav2's norm kernels: 32-lane shuffles beside this branch gave an error of 998 where the original has 5e-4.
BRANCH = "#if defined(USE_ROCM)\n#define WARP_SIZE {}\n#else\n#define WARP_SIZE 32\n#endif\n"


def ported(text: str) -> tuple[str, set[Applicability]]:
    source = CudaSource("a.cu", text.encode(), known_names())
    findings = scan_source(source, Context())
    done = port_source(source, findings)
    at_shuffle = {item.applicability for item in findings if item.rule == "warp-shuffle-sync"}
    return (done.data or text.encode()).decode(), at_shuffle


@pytest.mark.parametrize("width", ["(warpSize)", "64", "__AMDGCN_WAVEFRONT_SIZE"])
def test_a_branch_for_amd_that_says_the_width_decides(width: str) -> None:
    text, applicability = ported(BRANCH.format(width) + KERNEL)
    assert "__shfl_xor(sum, offset)" in text
    assert "warpSize / 2" in text
    assert applicability == {Applicability.REVIEW}


@pytest.mark.parametrize("branch", ["", "#ifdef USE_ROCM\n#define BLOCK 64\n#endif\n", BRANCH.format("32")])
def test_otherwise_a_warp_has_32_lanes(branch: str) -> None:
    text, _ = ported(branch + KERNEL)
    assert "rocport::shfl_xor_sync(rocport::full_warp_mask, sum, offset)" in text


def test_intrinsics_of_the_branch_beside_amd_s_have_32_lanes() -> None:
    text, _ = ported(
        "#ifdef USE_HIP\n#define WARP 64\n#define SHFL(v, l) __shfl(v, l)\n"
        "#else\n#define WARP 32\n#define SHFL(v, l) __shfl_sync(0xffffffffu, v, l)\n#endif\n"
    )
    assert "rocport::shfl_sync(rocport::full_warp_mask, v, l)" in text
    assert "#define SHFL(v, l) __shfl(v, l)\n#else" in text
