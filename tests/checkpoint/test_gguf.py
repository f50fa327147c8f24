"""GGUF: every type that is decoded, by two decoders and llama.cpp's own, and a whole file as a checkpoint."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="numpy is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")

from rocport.checkpoint import CheckpointError, gguf_blocks  # noqa: E402
from rocport.checkpoint.convert import Options, convert, plan  # noqa: E402
from rocport.checkpoint.gguf import TYPES  # noqa: E402
from rocport.checkpoint.model import read_model  # noqa: E402

HALVES = {
    "Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,), "Q2_K": (80, 82), "Q3_K": (108,),
    "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,),
}  # fmt: skip
"""Where the scales of a block lie: random bits there would be NaN."""


def random_blocks(kind: str, count: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if kind in ("F16", "F32"):
        return (rng.standard_normal(count) * 0.05).astype({"F16": "<f2", "F32": "<f4"}[kind]).tobytes()
    values, size = gguf_blocks.SIZES[kind]
    blocks = rng.integers(0, 256, (count // values, size), dtype=np.uint8)
    for at in HALVES[kind]:
        blocks[:, at : at + 2] = (rng.random((len(blocks), 1)) * 0.004).astype("<f2").view(np.uint8)
    return blocks.tobytes()


@pytest.mark.parametrize("kind", sorted(HALVES))
def test_both_decoders_agree_to_the_bit(kind: str) -> None:
    data = random_blocks(kind, 512)
    values, size = gguf_blocks.SIZES[kind]
    got = gguf_blocks.decode(kind, data)
    want = [gguf_blocks.one(kind, data[i : i + size], j) for i in range(0, len(data), size) for j in range(values)]
    assert np.array_equal(got, np.array(want, np.float32)) and np.unique(got).size > 16


@pytest.mark.parametrize("kind", sorted(HALVES))
def test_a_block_is_what_llama_cpp_says(kind: str) -> None:
    quants = pytest.importorskip("gguf.quants", reason="gguf, the package of llama.cpp, is not installed")
    from gguf import GGMLQuantizationType

    blocks = np.frombuffer(random_blocks(kind, 2560), np.uint8).reshape(-1, gguf_blocks.SIZES[kind][1])
    want = quants.dequantize(blocks, GGMLQuantizationType[kind]).reshape(-1)
    assert np.array_equal(gguf_blocks.decode(kind, blocks.tobytes()), want)


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def write(
    path: Path, kind: str, matrices: str = "Q8_0", *, biases: bool = False, **more: int
) -> dict[str, tuple[tuple[int, ...], str]]:
    """A file of two layers, hidden 32 and 64 between, two heads and one for keys, vocabulary 48."""
    sizes = {"attn_q": (32, 32), "attn_k": (16, 32), "attn_v": (16, 32), "attn_output": (32, 32),
             "ffn_gate": (64, 32), "ffn_up": (64, 32), "ffn_down": (32, 64)}  # fmt: skip
    tensors: dict[str, tuple[tuple[int, ...], str]] = {"token_embd.weight": ((48, 32), "F16")}
    for layer in range(2):
        for name, shape in sizes.items():
            tensors[f"blk.{layer}.{name}.weight"] = (shape, "F16" if name == "attn_k" else matrices)
        tensors |= {f"blk.{layer}.{name}.weight": ((32,), "F32") for name in ("attn_norm", "ffn_norm")}
        if biases:
            names = ("attn_q", "attn_k", "attn_v", "attn_output")
            tensors |= {f"blk.{layer}.{name}.bias": (sizes[name][:1], "F32") for name in names}
    tensors |= {"output_norm.weight": ((32,), "F32"), "output.weight": ((48, 32), "Q4_0")}
    numbers = {"block_count": 2, "embedding_length": 32, "feed_forward_length": 64, "attention.head_count": 2,
               "attention.head_count_kv": 1, "context_length": 64, "vocab_size": 48} | more  # fmt: skip
    codes = {name: code for code, name in TYPES.items()}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 2 + len(numbers))
    head += text("general.architecture") + struct.pack("<I", 8) + text(kind)
    head += text(f"{kind}.attention.layer_norm_rms_epsilon") + struct.pack("<If", 6, 1e-6)
    for key, value in numbers.items():
        head += text(key if key.startswith("split.") else f"{kind}.{key}") + struct.pack("<II", 4, value)
    data = b""
    for seed, (name, (shape, form)) in enumerate(tensors.items()):
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], codes[form], len(data))
        piece = random_blocks(form, int(np.prod(shape)), seed)
        data += piece + bytes(-len(piece) % 32)
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    return tensors


def test_a_file_becomes_a_checkpoint_and_a_model(tmp_path: Path) -> None:
    """Against transformers' own reader, which needs the package gguf; without it, against the order of rows."""
    load = pytest.importorskip("rocport.integrations.transformers", reason="transformers is not installed").load
    write(tmp_path / "x.gguf", "llama")
    result = convert(tmp_path / "x.gguf", tmp_path / "dense", Options("fp32"))
    assert result.weights == 16 and result.checked_values == 16 * 64
    ids = torch.arange(9)[None]
    ours, dense = load(tmp_path / "x.gguf", dtype=torch.float32), load(tmp_path / "dense")
    assert torch.equal(ours(ids).logits, dense(ids).logits)
    assert torch.equal(ours.generate(ids, max_new_tokens=4, do_sample=False, pad_token_id=0),
                       dense.generate(ids, max_new_tokens=4, do_sample=False, pad_token_id=0))  # fmt: skip
    convert(tmp_path / "x.gguf", tmp_path / "nf4", Options("nf4b64"))
    packed = load(tmp_path / "nf4")
    assert "Linear4bit" in {type(module).__name__ for module in packed.modules()}
    stored = gguf_blocks.decode("F16", random_blocks("F16", 16 * 32, 2)).reshape(16, 32)
    k = dense.model.layers[0].self_attn.k_proj.weight.detach().numpy()
    assert np.array_equal(k[:8], stored[0::2]) and np.array_equal(k[8:], stored[1::2])
    pytest.importorskip("gguf", reason="gguf, the package of llama.cpp, is not installed")
    theirs = pytest.importorskip("transformers").AutoModelForCausalLM.from_pretrained(
        tmp_path, gguf_file="x.gguf", dtype=torch.float32
    )
    torch.testing.assert_close(theirs(ids).logits, ours(ids).logits, rtol=1e-4, atol=1e-5)


def test_qwen_keeps_its_rows(tmp_path: Path) -> None:
    write(tmp_path / "x.gguf", "qwen2")
    work = plan(tmp_path / "x.gguf", Options())
    stored = gguf_blocks.decode("F16", random_blocks("F16", 16 * 32, 2))
    assert np.array_equal(work.weights["model.layers.0.self_attn.k_proj.weight"].values(0, 16 * 32), stored)
    known = read_model(tmp_path / "x.gguf")
    assert known.shape is not None and (known.shape.hidden, known.shape.mlp) == (32, 64)
    assert known.cache_bytes_per_token == 2 * 2 * 1 * 16 * 2
    assert work.checkpoint.config is not None and work.checkpoint.config["architectures"] == ["Qwen2ForCausalLM"]


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    write(path, "mamba")
    with pytest.raises(CheckpointError, match="architecture 'mamba' is not read"):
        plan(path, Options())
    write(path, "llama")
    path.write_bytes(path.read_bytes()[:-64])
    with pytest.raises(CheckpointError, match="cut short"):
        plan(path, Options())
    data = bytearray()
    write(path, "llama", "Q4_0")
    data += path.read_bytes()
    at = data.index(b"blk.0.attn_q.weight") + 19 + 4 + 16
    assert data[at] == 2
    data[at] = 20
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match="stored as IQ4_NL, which is not decoded"):
        plan(path, Options())


def test_a_part_of_a_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x-00001-of-00002.gguf"
    write(path, "llama", **{"split.count": 2})
    with pytest.raises(CheckpointError, match=r"one part of 2 \(split.count\).*llama-gguf-split --merge"):
        plan(path, Options())
    write(path, "llama", **{"split.count": 1})
    assert len(plan(path, Options()).weights) == 16
    write(path, "llama", block_count=3)
    with pytest.raises(CheckpointError, match=r"no blk\.2\.attn_q\.weight; expected it in each of 3 layers"):
        plan(path, Options())


def test_it_is_computed_in_bfloat16_where_nothing_else_is_said(tmp_path: Path) -> None:
    load = pytest.importorskip("rocport.integrations.transformers", reason="transformers is not installed").load
    write(tmp_path / "x.gguf", "llama")
    assert load(tmp_path / "x.gguf").dtype == torch.bfloat16


def test_biases_of_q_and_k_are_turned_as_their_rows(tmp_path: Path) -> None:
    load = pytest.importorskip("rocport.integrations.transformers", reason="transformers is not installed").load
    seed = list(write(tmp_path / "x.gguf", "llama", biases=True)).index("blk.0.attn_q.bias")
    stored = np.frombuffer(random_blocks("F32", 32, seed), np.float32).reshape(2, 8, 2)
    bias = load(tmp_path / "x.gguf", dtype=torch.float32).model.layers[0].self_attn.q_proj.bias.detach().numpy()
    assert np.array_equal(bias, stored.transpose(0, 2, 1).reshape(-1))
    convert(tmp_path / "x.gguf", tmp_path / "dense", Options("fp32"))
    assert np.array_equal(load(tmp_path / "dense").model.layers[0].self_attn.q_proj.bias.detach().numpy(), bias)
