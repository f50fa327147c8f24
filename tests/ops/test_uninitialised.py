"""No result of an operator is memory that nobody wrote: PyTorch fills what it allocates with NaN here."""

import pytest
import torch

from rocport import ops
from rocport.ops.examples import example_call
from rocport.runtime import Platform

ALONE = {
    "rms_norm": ops.rms_norm, "layer_norm": ops.layer_norm, "softmax": ops.softmax, "swiglu": ops.swiglu,
}  # fmt: skip


@pytest.fixture(autouse=True)
def poisoned():
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.utils.deterministic.fill_uninitialized_memory and torch.isnan(torch.empty(3)).all()
    yield
    torch.use_deterministic_algorithms(False)


def _tensors(result):
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, ops.QuantTensor):
        yield from (part for part in result.parts if part is not None)
    elif isinstance(result, tuple | list):
        for part in result:
            yield from _tensors(part)


def _written(result):
    return all(torch.isfinite(t.float()).all() for t in _tensors(result))


@pytest.mark.parametrize("name", ops.names())
def test_every_tier_that_runs_here_writes_all_of_its_result(name):
    here, ran = Platform("cpu"), []
    for tier in ops.operator(name).tiers():
        call = example_call(name)
        if not tier.refuse(here, *call):
            assert _written(tier.run(*call)), tier.name
            ran.append(tier.name)
    assert "eager" in ran


@pytest.mark.parametrize("name", ["nf4b64", "fp4b64", "dynamic8b64", "affine4g32", "mxfp4", "nvfp4", "mxfp8"])
def test_products_at_the_edges_of_their_shapes(name):
    q = ops.quantize(torch.randn(6, 64), name)
    experts = ops.quantize(torch.randn(3, 6, 64), name)
    index = torch.tensor([2, 0, 0, 1])
    for rows in (0, 1, 5):
        assert _written(ops.quantized_matmul(torch.randn(2, rows, 64), q))
        assert _written(ops.quantized_matmul(torch.randn(rows, 6), q, transpose=False))
        assert _written(ops.quantized_matmul(torch.randn(3, rows, 64), experts))
        assert _written(ops.gather_qmm(torch.randn(4, rows, 64), experts, index))
    sorted_tier = next(tier for tier in ops.operator("gather_qmm").tiers() if tier.name == "sorted")
    # Experts without a row, and rows without an expert.
    for chosen in ([2, 2, 2, 2], [7, -1, 0, 3]):
        assert _written(sorted_tier.run(torch.randn(4, 64), experts, torch.tensor(chosen)))
    nothing = ops.gather_qmm(torch.randn(4, 6), experts, torch.empty(4, 0, dtype=torch.int64), transpose=False)
    assert nothing.shape == (4, 0, 64)


def test_matrices_without_rows_or_columns():
    for shape in ((0, 64), (4, 0)):
        for name in ("nf4b64", "affine4g32", "mxfp4"):
            q = ops.quantize(torch.randn(shape), name)
            assert ops.dequantize(q).shape == shape
            out = ops.quantized_matmul(torch.randn(3, shape[1]), q)
            assert out.shape == (3, shape[0]) and not out.any()


def test_grouped_rows_past_the_last_end():
    out = ops.grouped_mm(torch.randn(9, 16), torch.randn(3, 16, 8), torch.tensor([2, 2, 5], dtype=torch.int32))
    assert _written(out) and not out[5:].any()


def test_attention_that_sees_nothing():
    q, k = torch.randn(1, 6, 2, 16), torch.randn(1, 3, 2, 16)
    for options in ({"causal": True}, {"mask": torch.zeros(6, 3, dtype=torch.bool)}, {"window": (1, -3)}):
        assert _written(ops.sdpa(q, k, k, **options))
    assert ops.sdpa(q, k[:, :0], k[:, :0, :, :5]).shape == (1, 6, 2, 5)
