"""The bar on AMD machine code, with no AMD GPU. `benchmarks/codegen.py` prints the table for every configuration."""

import pytest
import torch

from rocport.facts.targets import load_target
from rocport.ops.formats import Format
from rocport.runtime import Platform
from rocport.runtime.machine import assume

codegen = pytest.importorskip("rocport.ops.codegen", reason="triton is not installed")

LABELS = (
    "quantize affine4g64", "quantize nf4b64", "quantize dynamic8b256", "quantize mxfp4", "dequantize affine4g64",
    "dequantize nf4b64 nested", "dequantize affine3g64", "matmul affine4g64 M=1", "matmul affine3g64 M=1",
    "matmul nf4b64 M=1", "matmul affine4g64 M=8", "matmul nf4b64 M=128", "matmul affine4g32 M=64", "gather affine4g64",
    "grouped_mm T=1024",
)  # fmt: skip
"""One launch or more of each kernel; the others differ in constants."""
MATRIX = ("matmul nf4b64 M=128", "matmul affine4g32 M=64", "grouped_mm T=1024", "quantize mxfp4")
"""Kernels of matrix instructions and small floats, which each target has its own of. The others are vector code, the
same on every target of a wavefront width: they are compiled for one of each."""
VECTOR_TARGETS = ("gfx942", "gfx1100")


@pytest.mark.slow
@pytest.mark.parametrize("name", codegen.TARGETS)
def test_machine_code_meets_the_bar(name):
    target = load_target(name)
    labels = LABELS if name in VECTOR_TARGETS else MATRIX
    launches = [x for x in codegen.launches(Platform("rocm", target=target)) if x.label in labels]
    assert {launch.label for launch in launches} >= set(labels) - {"quantize nf4b64"}
    problems = {
        f"{launch.label}: {launch.name}": found
        for launch in launches
        if (found := codegen.report(launch, name).problems(target))
    }
    assert problems == {}


def test_the_bar_sees_what_the_compiler_does_not():
    """LDS over the limit and too many threads compile without an error."""
    target = load_target("gfx942")
    good = codegen.Report("x", "tile_kernel", "gfx942", 64, 0, 0, 65536, 256, 8, 8, 4, 4, 4, 500, True)
    assert good.problems(target) == []
    bad = codegen.Report("x", "tile_kernel", "gfx942", 256, 5, 36, 98304, 2048, 0, 8, 0, 0, 1, 500, True)
    assert len(bad.problems(target)) == 7
    assert "98304 bytes of LDS, gfx942 has 65536" in bad.problems(target)


OTHERS = [Platform("cuda", capability=(8, 6)), Platform("rocm", target=load_target("gfx942"))]


EARLY = [("affine4g64", False), ("nf4b64", True), ("affine8g64", False), ("affine4g64", True)]
"""Formats, and whether the scales are packed again; what is no flat format is gathered by experts instead."""


@pytest.mark.parametrize("where", [Platform("cuda", capability=(9, 0)), *OTHERS], ids=str)
@pytest.mark.parametrize(("form", "more"), EARLY)
def test_a_kernel_that_begins_early_reads_nothing_before_it_may(form, more, where):
    """Weights neither: they may have been written by the kernel before. Other GPUs know nothing of it."""
    from rocport.ops.gather_qmm import triton as gather
    from rocport.ops.quantized_matmul import triton as matmul

    nested = more and Format.parse(form).flat
    shape = (8, 4096, 4096) if more and not nested else (4096, 4096)
    x, weights = torch.empty(1, 4096, dtype=torch.bfloat16), codegen.example(form, shape, nested=nested)
    with assume(where), codegen.recording() as made:
        if weights.shape[0] == 8:
            gather.run(x, weights, torch.empty(1, 2, dtype=torch.int64))
        else:
            matmul.run(x, weights)
    launch = made[-1]
    early = where not in OTHERS
    assert (dict(launch.options).get("launch_pdl", False), dict(launch.constants)["FOLLOW"]) == (early, early)
    if early:
        _waits_before_it_reads(launch)


def test_norms_and_few_rows_that_begin_early_read_nothing_before_they_may():
    from rocport.ops import norms
    from rocport.ops.quantized_matmul import mma

    x, weight = torch.empty(8, 4096, dtype=torch.bfloat16), torch.empty(4096, dtype=torch.bfloat16)
    with assume(Platform("cuda", capability=(9, 0))), codegen.recording() as made:
        mma.run(x, codegen.example("nf4b64", (4096, 4096), nested=True))
        norms.norm(x, weight.requires_grad_(), weight, 1e-5).sum().backward()
    assert [launch.name for launch in made] == ["mma_kernel", "norm_forward", "norm_backward", "sum_parts"]
    for launch in made:
        _waits_before_it_reads(launch)


def _waits_before_it_reads(launch: codegen.Launch) -> None:
    text = codegen.compile_for(launch, 90, 32).asm["ptx"]
    assert text.count("griddepcontrol.wait") == text.count("griddepcontrol.launch_dependents") == 1
    before, _, after = text.partition("griddepcontrol.wait")
    assert "ld.global" not in before and "ld.global" in after and "st.global" in after
