"""The kernel of few rows for NVIDIA's matrix unit: who takes it, what its PTX decodes, what it compiles to."""

import re

import pytest
import torch

from rocport import ops
from rocport.facts.targets import load_target
from rocport.ops import codegen
from rocport.ops.decode import arguments
from rocport.ops.dispatch import operator
from rocport.ops.quantized_matmul import mma
from rocport.ops.quantized_matmul.triton import permute_words
from rocport.ops.tables import table
from rocport.runtime import Platform

H100 = Platform("cuda", capability=(9, 0))


def _chosen(rows: int, name: str, where: Platform = H100, dtype: torch.dtype = torch.bfloat16, n: int = 4096) -> str:
    return (
        operator("quantized_matmul")
        .select(where, torch.empty(rows, 4096, dtype=dtype), codegen.example(name, (n, 4096)))
        .name
    )


def test_it_serves_two_to_sixteen_rows_of_four_bits():
    assert {_chosen(rows, name) for rows in (2, 8, 16) for name in ("nf4b64", "affine4g32", "mxfp4")} == {"mma"}
    assert {_chosen(rows, "nf4b64") for rows in (1, 17)} == {"triton"}
    assert _chosen(1, "affine4g64", n=1024) == "triton" and _chosen(1, "affine4g64") == "triton"
    assert {_chosen(8, name) for name in ("affine8g64", "nvfp4")} == {"triton"}
    assert _chosen(8, "nf4b64", dtype=torch.float32) == "triton"
    assert _chosen(8, "nf4b64", Platform("cuda", capability=(7, 5))) == "triton"
    assert _chosen(8, "nf4b64", Platform("rocm", target=load_target("gfx942"))) == "triton"


def _executed(ptx: str, given: dict[str, int]) -> list[int]:
    """The outputs $0 to $3 of PTX of `and`, `or`, `shr`, `lop3` (a & b | c) and `prmt`."""
    held = dict(given)

    def value(name: str) -> int:
        return held[name] if name in held else int(name, 0)

    def prmt(a: int, b: int, selector: int) -> int:
        eight = (a | b << 32).to_bytes(8, "little")
        return int.from_bytes(bytes(eight[selector >> 4 * at & 7] for at in range(4)), "little")

    act = {
        "and": lambda a, b: a & b, "or": lambda a, b: a | b, "shr": lambda a, b: a >> b,
        "lop3": lambda a, b, c, table: a & b | c, "prmt": prmt,
    }  # fmt: skip
    for name, operands in re.findall(r"(and|or|shr|lop3|prmt)\.\w+ ([^;]+);", ptx):
        to, *of = operands.split(", ")
        held[to] = act[name](*map(value, of)) & 0xFFFFFFFF
    return [held[f"${index}"] for index in range(4)]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_word_is_decoded_to_pairs_of_neighbours(dtype):
    words = {f"${5 + index}": word for index, word in enumerate([*permute_words("nf4", dtype), 0x32103210])}
    entries = table("nf4", torch.device("cpu"), dtype).view(torch.int16).tolist()
    for high_first in (False, True):
        pairs = _executed(mma._LOOKUP[high_first], words | {"$4": 0xFE3A7081})
        codes = [0x1, 0x8, 0x0, 0x7, 0xA, 0x3, 0xE, 0xF]
        codes = [codes[at ^ high_first] for at in range(8)]
        assert [half & 0xFFFF for pair in pairs for half in (pair, pair >> 16)] == [
            entries[code] & 0xFFFF for code in codes
        ]


def test_an_integer_is_decoded_beside_that_four_later():
    _, _, placed, added = mma._types(torch.bfloat16)
    pairs = _executed(mma.integer_code(placed), {"$4": 0x76543210})
    halves = torch.tensor([[pair & 0xFFFF, pair >> 16] for pair in pairs], dtype=torch.int16).view(torch.bfloat16)
    assert (halves.float() - added).tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]


def test_it_compiles_to_the_matrix_unit_without_a_gpu():
    x, q = torch.empty(8, 4096, dtype=torch.bfloat16), codegen.example("nf4b64", (4096, 4096), nested=True)
    with codegen.recording() as made:
        mma.mma_launch(x, arguments(q), 4096, None, mma.mma_config(8, 4096, True, 132))(x, torch.empty(8, 4096))
    compiled = codegen.compile_for(made[0], 90, 32)
    text = compiled.asm["ptx"]
    # Two units of 64 of K: four instructions each. A lane loads two words of W and four of x at a time.
    assert text.count("mma.sync.aligned.m16n8k16") == 8
    assert "ld.global.v4.b32" in text and "ld.global.v2.b32" in text and ".local" not in text
    # Each lane holds one element of each tensor: what the registers of the matrix unit stand for depends on it.
    assert "sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8]" in compiled.asm["ttgir"]


@pytest.mark.skipif(not torch.cuda.is_available() or torch.version.hip is not None, reason="needs an NVIDIA GPU")
@pytest.mark.parametrize(
    "name", ["nf4b64", "nf4b128", "nf4b4096", "fp4b64", "affine4g32", "affine4g64", "affine4g128", "mxfp4"]
)
@pytest.mark.parametrize("rows", [2, 5, 8, 16])
def test_it_is_the_product(name, rows):
    for dtype, (n, k) in ((torch.bfloat16, (4096, 4096)), (torch.float16, (37, 4096)), (torch.bfloat16, (11008, 4096))):
        torch.manual_seed(rows)
        q = ops.quantize(
            torch.randn(n, k, device="cuda", dtype=dtype), name, nested=name.startswith("nf4") and rows > 5
        )
        x, bias = torch.randn(rows, k, device="cuda", dtype=dtype), torch.randn(n, device="cuda", dtype=dtype)
        want = x.double() @ ops.dequantize(q, torch.float64).T + bias.double()
        got = ops.quantized_matmul(x, q, bias, tier="mma").double()
        assert (got - want).norm() / want.norm() < 4e-3
