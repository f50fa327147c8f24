"""Triton kernels of the operators as gfx942 and gfx1100 machine code, against eager. benchmarks/isa.py runs all."""

from __future__ import annotations

from typing import Any

import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed")
from rocport import ops
from rocport.executor.isa import TablesError, load
from rocport.executor.isa.tables import family
from rocport.ops import codegen
from rocport.toolchain import ToolchainError, find

TARGETS = ("gfx942", "gfx1100")


@pytest.fixture(scope="module", params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    try:
        find()
        family(request.param)
    except (ToolchainError, TablesError) as error:
        pytest.skip(str(error))
    return request.param


def run_on(target: str) -> codegen.Runner:
    def run(compiled: Any, name: str, grid: tuple[int, ...], values: list[Any]) -> None:
        module = load(compiled.asm["hsaco"], target)
        kernel = module.kernel(name)
        given = [v.data_ptr() if isinstance(v, torch.Tensor) else v for v in values]
        count = sum(not a.kind.startswith("hidden_") for a in kernel.arguments)
        given += [None] * (count - len(given))
        threads = compiled.metadata.num_warps * kernel.descriptor.wave
        module.launch(name, grid, (threads,), given, dynamic_lds=compiled.metadata.shared)

    return run


def test_softmax(target: str) -> None:
    x = torch.randn(5, 100, generator=torch.Generator().manual_seed(1))
    with codegen.executing(target, run_on(target)) as made:
        got = ops.softmax(x, tier="triton")
    assert [launch.name for launch in made] == ["softmax_kernel"]
    torch.testing.assert_close(got, ops.softmax(x, tier="eager"), rtol=2e-6, atol=1e-7)


def test_a_packed_matmul_by_rows_in_halves(target: str) -> None:
    """V_FMA_MIX with a constant half: 1.0 was read as the float's bits."""
    from rocport.ops.decode import arguments
    from rocport.ops.dequantize import eager as dequantize
    from rocport.ops.quantize import eager as quantize
    from rocport.ops.quantized_matmul import triton as matmul

    torch.manual_seed(0)
    packed = quantize.run(torch.randn(5, 256).half(), ops.Format.parse("affine4g32"))
    x = torch.randn(2, 256).half()
    with codegen.executing(target, run_on(target)):
        got = matmul.run_rows(x, arguments(packed), 5, None, None, matmul.RowsConfig(4, 4, 1))
    want = x.double() @ dequantize.run(packed, torch.float64).T
    assert ((got.double() - want).norm() / want.norm()).item() < 1e-3


def test_a_tile_on_the_matrix_unit(target: str) -> None:
    from rocport.ops.decode import arguments
    from rocport.ops.dequantize import eager as dequantize
    from rocport.ops.quantize import eager as quantize
    from rocport.ops.quantized_matmul import triton as matmul

    torch.manual_seed(0)
    packed = quantize.run(torch.randn(5, 256).half(), ops.Format.parse("nf4b64"))
    x = torch.randn(19, 256).half()
    with codegen.executing(target, run_on(target)):
        got = matmul.run_tiles(x, arguments(packed), 5, None, matmul.TileConfig(16, 16, 32, 4, 2, 1))
    want = x.double() @ dequantize.run(packed, torch.float64).T
    # The weights are rounded to halves on the way.
    assert ((got.double() - want).norm() / want.norm()).item() < 2e-3
