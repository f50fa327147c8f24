"""The kernel of few rows for NVIDIA's matrix unit: who takes it, what its PTX decodes, what it compiles to."""

import re
from typing import Any

import pytest
import torch

from rocport import ops
from rocport.facts.targets import load_target
from rocport.ops import codegen
from rocport.ops.decode import arguments
from rocport.ops.dispatch import operator
from rocport.ops.quantized_matmul import mma
from rocport.ops.quantized_matmul import triton as rows
from rocport.ops.quantized_matmul.triton import fill_pairs, permute_code
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


def _executed(ptx: str, given: dict[str, int], outputs: int = 4) -> list[int]:
    """The first outputs of PTX of `and`, `or`, `shr`, `lop3` (a & b | c), `prmt`, `mad`, `ld`, from `given` as
    `[address]`, and `mov` of two halves."""
    held = dict(given)

    def value(name: str) -> int:
        name = name.strip("[]")
        return held[name] if name in held else int(name, 0)

    def prmt(a: int, b: int, selector: int) -> int:
        eight = (a | b << 32).to_bytes(8, "little")
        return int.from_bytes(bytes(eight[selector >> 4 * at & 7] for at in range(4)), "little")

    act = {
        "and": lambda a, b: a & b, "or": lambda a, b: a | b,
        "shr": lambda a, b: a >> b, "lop3": lambda a, b, c, table: a & b | c, "prmt": prmt,
        "mad": lambda a, b, c: a * b + c, "ld": lambda a: held[f"[{a}]"],
    }  # fmt: skip
    for name, operands in re.findall(r"(and|or|shr|lop3|prmt|mad|ld|mov)\.[\w.]+ ([^;]+);", ptx):
        if name == "mov":
            low, high, of_both = operands.replace("{", "").replace("}", "").split(", ")
            held[low], held[high] = held[of_both] & 0xFFFF, held[of_both] >> 16
            continue
        to, *of = operands.split(", ")
        held[to] = act[name](*map(value, of)) & 0xFFFFFFFF
    return [held[f"${index}"] for index in range(outputs)]


def _filled(ptx: str, warps: int) -> dict[int, int]:
    """Words of shared memory by address after PTX of `fill_pairs`, run by each thread; the table begins at 0."""
    memory: dict[int, int] = {}
    act = {"or": lambda a, b: a | b, "shr": lambda a, b: a >> b, "shl": lambda a, b: a << b, "add": lambda a, b: a + b}
    for thread in range(32 * warps):
        held: dict[str, Any] = {"%tid.x": thread, "pairs": 0}

        def value(name: str, held: dict[str, Any] = held) -> Any:
            return held[name] if name in held else int(name, 0)

        for text in ptx.strip("{} ").split(";"):
            name, _, operands = text.strip().partition(" ")
            act_on = name.split(".")[0]
            to, *of = operands.split(", ")
            if act_on == "mov":
                held[to] = value(of[0])
            elif act_on in act:
                held[to] = act[act_on](*map(value, of)) & 0xFFFFFFFF
            elif act_on == "setp":
                held[to] = value(of[0]) == value(of[1])
            elif act_on == "selp":
                held[to] = value(of[0]) if value(of[2]) else value(of[1])
            elif act_on == "st":
                base, offset = to.strip("[]").split(" + ")
                assert memory.setdefault(value(base) + int(offset), value(of[0])) == value(of[0])
    return memory


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("warps", "high_first"), [(2, True), (8, False), (16, True)])
def test_a_byte_stands_for_a_pair_of_neighbours_in_every_bank(warps, high_first, dtype):
    entries = [entry & 0xFFFF for entry in table("nf4", torch.device("cpu"), dtype).view(torch.int16).tolist()]
    memory = _filled(fill_pairs("nf4", dtype, high_first, warps), warps)
    for byte in range(256):
        first, second = (byte >> 4, byte & 15) if high_first else (byte & 15, byte >> 4)
        pair = entries[first] | entries[second] << 16
        assert [memory[byte * 128 + lane * 4] for lane in range(32)] == [pair] * 32
    assert len(memory) == 256 * 32


def test_a_word_is_looked_up_byte_by_byte_in_the_lane_s_bank():
    held = {"$4": 0xFE3A7081, "$5": 4 * 7}
    places = [(0xFE3A7081 >> 8 * at & 255) * 128 + 28 for at in range(4)]
    held |= {f"[{at}]": 1000 + index for index, at in enumerate(places)}
    assert _executed(mma._LOOKUP, held) == [1000, 1001, 1002, 1003]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_word_is_looked_up_by_permutes(dtype):
    entries = table("nf4", torch.device("cpu"), dtype).view(torch.int16).tolist()
    for high_first in (False, True):
        halves = _executed(permute_code("nf4", dtype, high_first), {"$8": 0xFE3A7081}, outputs=8)
        codes = [0x1, 0x8, 0x0, 0x7, 0xA, 0x3, 0xE, 0xF]
        assert halves == [entries[codes[at ^ high_first]] & 0xFFFF for at in range(8)]


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
    # The table is made once, beside what Triton keeps in shared memory itself.
    assert text.count(".b8 pairs[32768]") == 1 and compiled.metadata.shared <= 16384
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


WIDTHS = [
    (1800, 4096),
    (1800, 8192),
    (2880, 4096),
    (2880, 8192),
    (4099, 4096),
    (4096, 8192),
    (4096, 2880),
    (5120, 8192),
    (7000, 4096),
    (8192, 2048),
    (16384, 8192),
]
"""N and K of one row of x for each way of looking up pairs."""


def test_one_row_looks_pairs_up_where_the_gpu_gets_many_rows():
    chosen = {rows.rows_config(H100, n, k, True, 132, True) for n, k in WIDTHS}
    assert len(chosen) == 11 and all(config.pairs and config.lanes == 32 * config.warps for config in chosen)
    assert not rows.rows_config(H100, 1024, 4096, True, 132, True).pairs
    for where in (H100, Platform("rocm", target=load_target("gfx942"))):
        assert not rows.rows_config(where, 8192, 4096, False, 132, where != H100).pairs


@pytest.mark.skipif(not torch.cuda.is_available() or torch.version.hip is not None, reason="needs an NVIDIA GPU")
@pytest.mark.parametrize(("n", "k"), [*WIDTHS, (512, 4096)])
def test_one_row_is_the_product(n, k):
    for dtype, name in ((torch.bfloat16, "nf4b64"), (torch.float16, "fp4b64"), (torch.bfloat16, "mxfp4")):
        torch.manual_seed(n)
        q = ops.quantize(torch.randn(n, k, device="cuda", dtype=dtype), name, nested=name == "nf4b64")
        x, bias = torch.randn(1, k, device="cuda", dtype=dtype), torch.randn(n, device="cuda", dtype=dtype)
        want = x.double() @ ops.dequantize(q, torch.float64).T + bias.double()
        got = ops.quantized_matmul(x, q, bias, tier="triton").double()
        assert (got - want).norm() / want.norm() < 4e-3
