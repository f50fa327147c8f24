"""Every stored form against the library it comes from, read and written."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
builders = pytest.importorskip("builders", reason="bitsandbytes is not installed")

import bitsandbytes as bnb  # noqa: E402
import numpy as np  # noqa: E402

from rocport.checkpoint import CheckpointError  # noqa: E402
from rocport.checkpoint.convert import Options, convert, plan  # noqa: E402
from rocport.checkpoint.gguf import read_gguf  # noqa: E402
from rocport.checkpoint.model import read_model  # noqa: E402
from rocport.checkpoint.stored import find_weights  # noqa: E402
from rocport.checkpoint.tensorfile import read_checkpoint  # noqa: E402
from rocport.facts.codes import dynamic_map  # noqa: E402

CONFIG = {"model_type": "llama", "torch_dtype": "bfloat16"}


@pytest.fixture
def mx() -> Any:
    core = pytest.importorskip("mlx.core", reason="mlx[cpu] is not installed")
    core.set_default_device(core.cpu)
    return core


def to_torch(array: Any) -> Any:
    return torch.from_numpy(np.array(array))


def model(folder: Path, tensors: dict[str, Any], **config: Any) -> Path:
    builders.save_model(folder, [tensors], {**CONFIG, **config})
    return folder


def dense(folder: Path, tensors: dict[str, Any], **config: Any) -> Any:
    """`X.weight` of a checkpoint of these tensors, converted to fp32."""
    src = model(folder / "src", tensors, **config)
    result = convert(src, folder / "dst", Options("fp32"))
    assert result.checked_values == 64 and not result.losses
    said = json.loads((folder / "dst" / "config.json").read_text())
    assert not {"quantization", "quantization_config"} & said.keys()
    return builders.load(folder / "dst" / "model.safetensors")["X.weight"]


def words(mx: Any, folder: Path, mode: str, bits: int, group: int) -> tuple[dict[str, Any], Any]:
    """An MLX checkpoint's tensors as MLX saves them, and what MLX decodes them to."""
    w = mx.array(np.random.default_rng(0).standard_normal((24, 192), np.float32))
    parts = mx.quantize(w, group_size=group, bits=bits, mode=mode)
    names = ("X.weight", "X.scales", "X.biases")[: len(parts)]
    folder.mkdir()
    mx.save_safetensors(str(folder / "x.safetensors"), dict(zip(names, parts, strict=True)))
    wide = mx.dequantize(*parts, group_size=group, bits=bits, mode=mode)
    return builders.load(folder / "x.safetensors"), to_torch(wide.astype(mx.float32))


@pytest.mark.parametrize(
    ("mode", "bits", "group"),
    [("affine", bits, 64) for bits in (2, 3, 4, 5, 6, 8)]
    + [("affine", 4, 32), ("mxfp4", 4, 32), ("nvfp4", 4, 16), ("mxfp8", 8, 32)],
)
def test_mlx(tmp_path: Path, mx: Any, mode: str, bits: int, group: int) -> None:
    tensors, want = words(mx, tmp_path / "mlx", mode, bits, group)
    said = {"group_size": group, "bits": bits, "mode": mode}
    got = dense(tmp_path, tensors, quantization=said, quantization_config=said)
    # MLX fuses the multiplication and the addition; ours are rounded one by one.
    torch.testing.assert_close(got, want, rtol=1e-6, atol=1e-6)


def test_bitsandbytes_8_bit(tmp_path: Path) -> None:
    weight = torch.randn(24, 96, dtype=torch.float16)
    codes, scb, _ = bnb.functional.int8_vectorwise_quant(weight)
    tensors = {"X.weight": codes, "X.SCB": scb, "X.weight_format": torch.tensor(0, dtype=torch.uint8)}
    src = model(tmp_path / "src", tensors, quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True})
    convert(src, tmp_path / "dst", Options("fp32"))
    got = builders.load(tmp_path / "dst" / "model.safetensors")
    torch.testing.assert_close(got["X.weight"], bnb.functional.int8_vectorwise_dequant(codes, scb), rtol=1e-6, atol=0)
    assert list(got) == ["X.weight"]


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
@pytest.mark.parametrize("scale", ["one", "row", "tile"])
def test_fp8(tmp_path: Path, kind: str, scale: str) -> None:
    every = torch.arange(256, dtype=torch.uint8).view(getattr(torch, kind))
    codes = torch.where(every.float().isfinite(), every.view(torch.uint8), 0).repeat(48).view(48, 256)
    weight = codes.view(getattr(torch, kind))
    shapes = {"one": (), "row": (48, 1), "tile": (3, 2)}
    scales = torch.rand(shapes[scale]) + 0.5
    spread = scales if scale != "tile" else scales.repeat_interleave(16, 0).repeat_interleave(128, 1)
    name = "X.weight_scale_inv" if scale == "tile" else "X.weight_scale"
    said = {"quant_method": "fp8"}
    got = dense(tmp_path, {"X.weight": weight, name: scales}, quantization_config=said)
    assert torch.equal(got, weight.float() * spread)


def test_mxfp4_of_gpt_oss(tmp_path: Path) -> None:
    mxfp4 = pytest.importorskip("transformers.integrations.mxfp4", reason="transformers is not installed")
    blocks = torch.randint(0, 256, (2, 48, 3, 16), dtype=torch.uint8)
    scales = torch.randint(120, 130, (2, 48, 3), dtype=torch.uint8)
    tensors = {"m.gate_up_proj_blocks": blocks, "m.gate_up_proj_scales": scales}
    src = model(tmp_path / "src", tensors, quantization_config={"quant_method": "mxfp4"})
    convert(src, tmp_path / "dst", Options("auto"))
    got = builders.load(tmp_path / "dst" / "model.safetensors")
    assert torch.equal(got["m.gate_up_proj"], mxfp4.convert_moe_packed_tensors(blocks, scales, dtype=torch.bfloat16))


def packed(codes: Any, bits: int, along: int, order: tuple[int, ...]) -> Any:
    """Integers to words along an axis: place i of a word holds element order[i]."""
    per = 32 // bits
    moved = codes.movedim(along, -1).to(torch.int64)
    moved = moved.reshape(*moved.shape[:-1], -1, per)[..., list(order)]
    words = (moved << (torch.arange(per) * bits)).sum(-1)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32).movedim(-1, along).contiguous()


@pytest.mark.parametrize(("bits", "fmt", "shuffled"), [(4, "gptq", True), (8, "gptq", False), (2, "gptq_v2", False)])
def test_gptq(tmp_path: Path, bits: int, fmt: str, shuffled: bool) -> None:
    into, out, group = 128, 64, 32
    codes = torch.randint(0, 2**bits, (into, out))
    zeros = torch.randint(1, 2**bits, (into // group, out))
    scales = torch.rand(into // group, out).half()
    which = torch.arange(into) // group
    if shuffled:
        which = which[torch.randperm(into)]
    order = tuple(range(32 // bits))
    tensors = {
        "X.qweight": packed(codes, bits, 0, order),
        "X.qzeros": packed(zeros - (1 if fmt == "gptq" else 0), bits, 1, order),
        "X.scales": scales,
        "X.g_idx": which.to(torch.int32),
    }
    said = {"quant_method": "gptq", "bits": bits, "group_size": group, "checkpoint_format": fmt}
    got = dense(tmp_path, tensors, quantization_config=said)
    assert torch.equal(got, ((codes - zeros[which]).float() * scales[which].float()).t())


def test_awq(tmp_path: Path) -> None:
    into, out, group = 128, 64, 64
    codes, zeros = torch.randint(0, 16, (into, out)), torch.randint(0, 16, (into // group, out))
    scales = torch.rand(into // group, out).half()
    # AutoAWQ 0.2.9, awq/modules/linear/gemm.py: order_map.
    order = (0, 2, 4, 6, 1, 3, 5, 7)
    tensors = {"X.qweight": packed(codes, 4, 1, order), "X.qzeros": packed(zeros, 4, 1, order), "X.scales": scales}
    said = {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemm"}
    got = dense(tmp_path, tensors, quantization_config=said)
    which = torch.arange(into) // group
    assert torch.equal(got, ((codes - zeros[which]).float() * scales[which].float()).t())


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize(("kind", "block"), [("nf4", 64), ("fp4", 128)])
def test_dense_to_bitsandbytes_is_bitsandbytes(tmp_path: Path, kind: str, block: int, nested: bool) -> None:
    want, _ = builders.quantize("l.q_proj.weight", (48, 128), kind=kind, blocksize=block, nested=nested)
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(48, 128, generator=generator).bfloat16()
    others = {"model.embed_tokens.weight": torch.randn(16, 128).bfloat16(), "l.norm.weight": torch.ones(128)}
    src = model(tmp_path / "src", {"l.q_proj.weight": weight, **others})
    result = convert(src, tmp_path / "dst", Options(f"{kind}b{block}", nested=nested))
    got = builders.load(tmp_path / "dst" / "model.safetensors")
    assert all(torch.equal(got[name], value) for name, value in others.items())
    assert result.kept == {"model.embed_tokens.weight": "embedding, head or router"}
    wide, state = builders.reload(got, "l.q_proj.weight")
    assert torch.equal(got["l.q_proj.weight"], want["l.q_proj.weight"]) and state.blocksize == block
    # The mean of the scales is summed in another order than torch's, which moves it by its last bits.
    again, _ = builders.reload(want, "l.q_proj.weight")
    torch.testing.assert_close(wide.float(), again.float(), rtol=1e-2 if nested else 0, atol=1e-3 if nested else 0)
    lost = ((wide.float() - weight.float()).norm() / weight.float().norm()).item()
    assert abs(result.losses["l.q_proj.weight"] - lost) < 5e-3
    said = read_model(tmp_path / "dst").quantization
    assert said is not None and (said.method, said.quant_type, said.blocksizes) == ("bitsandbytes-4bit", kind, (block,))


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_dense_to_mlx_is_mlx(tmp_path: Path, mx: Any, bits: int) -> None:
    weight = torch.randn(16, 128, generator=torch.Generator().manual_seed(1))
    src = model(tmp_path / "src", {"l.q_proj.weight": weight})
    convert(src, tmp_path / "dst", Options(f"affine{bits}g64"))
    got = builders.load(tmp_path / "dst" / "model.safetensors")
    parts = mx.quantize(mx.array(weight.numpy()), group_size=64, bits=bits)
    for name, want in zip(("weight", "scales", "biases"), parts, strict=True):
        assert torch.equal(got[f"l.q_proj.{name}"].view(torch.int32), to_torch(want).view(torch.int32)), name
    assert json.loads((tmp_path / "dst" / "config.json").read_text())["quantization"]["bits"] == bits


def test_mlx_to_bitsandbytes_and_back(tmp_path: Path, mx: Any) -> None:
    tensors, want = words(mx, tmp_path / "mlx", "affine", 4, 64)
    src = model(tmp_path / "src", tensors, quantization={"group_size": 64, "bits": 4})
    first = convert(src, tmp_path / "nf4", Options("nf4b64"))
    second = convert(tmp_path / "nf4", tmp_path / "back", Options("affine8g64"))
    wide = find_weights(
        read_checkpoint(tmp_path / "back").tensors, json.loads((tmp_path / "back/config.json").read_text())
    )
    back = torch.from_numpy(np.array(wide["X.weight"].values(0, want.numel()))).view(want.shape)
    assert ((back - want).norm() / want.norm()).item() < 0.12
    assert 0.05 < first.losses["X.weight"] < 0.12 and second.losses["X.weight"] < 0.01


def test_what_is_not_read_says_so(tmp_path: Path) -> None:
    def problem(tensors: dict[str, Any], **config: Any) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        with pytest.raises(CheckpointError) as error:
            plan(model(folder, tensors, **config), Options())
        return str(error.value)

    ints = torch.zeros(12, 32, dtype=torch.int32)
    assert "3 bits is not read" in problem({"X.qweight": ints}, quantization_config={"quant_method": "gptq", "bits": 3})
    assert "missing" in problem({"X.qweight": ints}, quantization_config={"quant_method": "awq", "bits": 4})
    assert "no group size" in problem({"X.weight": ints, "X.scales": torch.zeros(12, 4)})
    said = {"group_size": 48, "bits": 4}
    assert "not known" in problem({"X.weight": ints, "X.scales": torch.zeros(12, 7)}, quantization=said)


def test_the_dynamic_map_is_bitsandbytes() -> None:
    assert torch.equal(torch.tensor(dynamic_map()), bnb.functional.create_dynamic_map().sort().values)


def test_gguf(tmp_path: Path) -> None:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    tensors = [("token_embd.weight", (64, 100), 1), ("blk.0.attn_q.weight", (64, 256), 12), ("norm", (64,), 0)]
    data = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 2)
    data += text("general.architecture") + struct.pack("<I", 8) + text("llama")
    data += text("tokens") + struct.pack("<IIQ", 9, 8, 100) + b"".join(text(str(i)) for i in range(100))
    for name, shape, kind in tensors:
        data += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, 0)
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    found = read_model(path)
    assert (found.model_type, found.parameters, found.large) == ("llama", 6400 + 16384 + 64, 16384)
    assert found.quantization is not None and found.quantization.quant_type == "Q4_K"
    path.write_bytes(data[:-20])
    with pytest.raises(CheckpointError, match="cut short"):
        read_gguf(path)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 2))
    with pytest.raises(CheckpointError, match="at most"):
        read_gguf(path)
