"""Conversion against bitsandbytes itself: 16-bit bit for bit, other block sizes by what bitsandbytes decodes."""

from __future__ import annotations

import json
import tracemalloc
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from rocport.checkpoint import CheckpointError
from rocport.checkpoint import convert as converting
from rocport.checkpoint.convert import STATE_FILE, Options, convert, plan
from rocport.checkpoint.quantstate import MARK
from rocport.checkpoint.tensorfile import encode_header

np = pytest.importorskip("numpy", reason="numpy is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")
builders = pytest.importorskip("builders", reason="bitsandbytes is not installed")

CONFIG = {"model_type": "llama", "torch_dtype": "bfloat16", "quantization_config": {"load_in_4bit": True}}


def bits(tensor: Any) -> Any:
    return tensor.contiguous().view(torch.int16 if tensor.element_size() == 2 else torch.int32)


def source(folder: Path, shards: int = 1, **kwargs: Any) -> dict[str, Any]:
    """A model of `shards` shards with one 4-bit and one plain tensor each; what bitsandbytes decodes the former to."""
    parts, decoded = [], {}
    for number in range(shards):
        name = f"layers.{number}.weight"
        tensors, value = builders.quantize(name, (64, 128), seed=number, **kwargs)
        tensors[f"norm.{number}.weight"] = torch.arange(7, dtype=torch.bfloat16) + number
        parts.append(tensors)
        decoded[name] = value
    builders.save_model(folder, parts, CONFIG)
    return decoded


@pytest.mark.parametrize(
    ("kind", "nested", "dtype"), list(product(["nf4", "fp4"], [False, True], ["bfloat16", "float16", "float32"]))
)
def test_16_bit_equals_bitsandbytes_bit_for_bit(tmp_path: Path, kind: str, nested: bool, dtype: str) -> None:
    for blocksize in (32, 64, 128, 512):
        folder = tmp_path / str(blocksize)
        tensors, expected = builders.quantize(
            "w", (24, 512), kind=kind, blocksize=blocksize, nested=nested, dtype=dtype, seed=blocksize
        )
        builders.save_model(folder / "src", [tensors], CONFIG)
        result = convert(folder / "src", folder / "dst", Options())
        written = builders.load(folder / "dst" / "model.safetensors")["w"]
        assert written.shape == expected.shape
        assert written.dtype == expected.dtype
        # bitsandbytes' compiled fp4 path writes -0.0 where its own code table, which the checkpoint holds, says 0.0
        zero = (written == 0) & (expected == 0)
        assert torch.equal(bits(written)[~zero], bits(expected)[~zero])
        assert result.checked_values == 64


@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (130, 258), (64, 96), (3, 5, 7), (0, 4)])
def test_shapes_that_do_not_fill_their_blocks(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Against bitsandbytes' default implementation: its AVX-512 path (0.50.2) decodes wrongly when a row is no multiple
    of the block size."""
    from bitsandbytes.backends.default.ops import _dequantize_4bit_compute
    from bitsandbytes.backends.utils import _get_4bit_code

    if 0 in shape:
        tensors, _ = builders.quantize("w", (4, 4))
        for key in ("w", "w.absmax"):
            tensors[key] = tensors[key][:0]
        state = json.loads(bytes(tensors[f"w{MARK}nf4"].tolist()))
        state["shape"] = list(shape)
        tensors[f"w{MARK}nf4"] = torch.tensor(list(json.dumps(state).encode()), dtype=torch.uint8)
        expected = torch.empty(shape, dtype=torch.bfloat16)
    else:
        tensors, _ = builders.quantize("w", shape)
        decode = getattr(_dequantize_4bit_compute, "__wrapped__", _dequantize_4bit_compute)
        code = _get_4bit_code("nf4", torch.device("cpu"))
        expected = decode(tensors["w"].reshape(-1), tensors["w.absmax"], code, 64, shape, torch.bfloat16)
    builders.save_model(tmp_path / "src", [tensors], CONFIG)
    convert(tmp_path / "src", tmp_path / "dst", Options())
    written = builders.load(tmp_path / "dst" / "model.safetensors")["w"]
    assert tuple(written.shape) == shape
    assert torch.equal(bits(written), bits(expected))


@pytest.mark.parametrize("storage", ["bfloat16", "float16", "float32"])
def test_weights_stored_in_another_type(tmp_path: Path, storage: str) -> None:
    """FSDP stores the nibbles inside 16 or 32-bit floats."""
    tensors, expected = builders.quantize("w", (64, 128), storage=storage)
    builders.save_model(tmp_path / "src", [tensors], CONFIG)
    convert(tmp_path / "src", tmp_path / "dst", Options())
    assert torch.equal(bits(builders.load(tmp_path / "dst" / "model.safetensors")["w"]), bits(expected))


@pytest.mark.parametrize("to", ["bf16", "fp16", "fp32"])
def test_another_type_is_rounded_once_from_float32(tmp_path: Path, to: str) -> None:
    tensors, _ = builders.quantize("w", (64, 128), dtype="float16")
    builders.save_model(tmp_path / "src", [tensors], CONFIG)
    convert(tmp_path / "src", tmp_path / "dst", Options(to=to))
    written = builders.load(tmp_path / "dst" / "model.safetensors")["w"]
    _, state = builders.reload(tensors, "w")
    state.dtype = torch.float32
    exact = builders.bnb.functional.dequantize_4bit(tensors["w"], state)
    assert torch.equal(bits(written), bits(exact.to(written.dtype)))
    config = json.loads((tmp_path / "dst" / "config.json").read_text())
    assert config["torch_dtype"] == {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}[to]
    assert "quantization_config" not in config


@pytest.mark.parametrize(("kind", "nested", "blocksize"), list(product(["nf4", "fp4"], [False, True], [32, 128, 256])))
def test_requantized_weights_load_in_bitsandbytes(tmp_path: Path, kind: str, nested: bool, blocksize: int) -> None:
    tensors, before = builders.quantize("w", (128, 256), kind=kind, nested=nested, dtype="float32")
    builders.save_model(tmp_path / "src", [tensors], CONFIG)
    result = convert(tmp_path / "src", tmp_path / "dst", Options(blocksize=blocksize))
    loaded = builders.load(tmp_path / "dst" / "model.safetensors")
    after, state = builders.reload(loaded, "w")
    assert state.blocksize == blocksize
    assert state.nested == nested
    assert state.quant_type == kind
    assert "quantization_config" in json.loads((tmp_path / "dst" / "config.json").read_text())
    theirs, again = builders.bnb.functional.quantize_4bit(
        before, blocksize=blocksize, quant_type=kind, compress_statistics=nested
    )
    reference = builders.bnb.functional.dequantize_4bit(theirs, again)
    if not nested:
        assert torch.equal(loaded["w.absmax"], again.absmax)
        assert torch.equal(after, reference)
    assert (after - before).abs().mean() <= (reference - before).abs().mean() * 1.01 + 1e-6
    assert result.error is not None
    assert 0 <= result.error[1] <= result.error[0] < 0.4


def test_requantized_nested_weight_survives_a_second_conversion(tmp_path: Path) -> None:
    tensors, _ = builders.quantize("w", (128, 256), nested=True, dtype="float32")
    builders.save_model(tmp_path / "a", [tensors], CONFIG)
    convert(tmp_path / "a", tmp_path / "b", Options(blocksize=128))
    convert(tmp_path / "b", tmp_path / "c", Options())
    expected, _ = builders.reload(builders.load(tmp_path / "b" / "model.safetensors"), "w")
    assert torch.equal(builders.load(tmp_path / "c" / "model.safetensors")["w"], expected)


def test_a_sharded_model_keeps_its_shape(tmp_path: Path) -> None:
    decoded = source(tmp_path / "src", shards=3)
    result = convert(tmp_path / "src", tmp_path / "dst", Options())
    assert (result.weights, result.shards, result.resumed) == (3, 3, 0)
    index = json.loads((tmp_path / "dst" / "model.safetensors.index.json").read_text())
    total = 0
    for name, value in decoded.items():
        loaded = builders.load(tmp_path / "dst" / index["weight_map"][name])
        assert torch.equal(bits(loaded[name]), bits(value))
        total += sum(t.numel() * t.element_size() for t in loaded.values())
    assert index["metadata"]["total_size"] == total
    assert set(index["weight_map"]) == {*decoded, *(f"norm.{i}.weight" for i in range(3))}
    original = builders.load(tmp_path / "src" / "model-00002-of-00003.safetensors")["norm.1.weight"]
    copied = builders.load(tmp_path / "dst" / "model-00002-of-00003.safetensors")["norm.1.weight"]
    assert torch.equal(bits(original), bits(copied)) if original.numel() % 2 == 0 else torch.equal(original, copied)
    names = {path.name for path in (tmp_path / "dst").iterdir()}
    assert {"config.json", "tokenizer.json"} <= names
    assert not [name for name in names if "partial" in name or name == STATE_FILE]


def test_parts_of_a_weight_may_be_in_another_shard(tmp_path: Path) -> None:
    tensors, expected = builders.quantize("w", (64, 128), nested=True)
    scales = {key: tensors.pop(key) for key in list(tensors) if "absmax" in key}
    builders.save_model(tmp_path / "src", [tensors, scales], CONFIG)
    convert(tmp_path / "src", tmp_path / "dst", Options())
    index = json.loads((tmp_path / "dst" / "model.safetensors.index.json").read_text())
    assert index["weight_map"] == {"w": "model-00001-of-00002.safetensors"}
    assert torch.equal(bits(builders.load(tmp_path / "dst" / "model-00001-of-00002.safetensors")["w"]), bits(expected))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_an_interrupted_run_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    source(tmp_path / "src", shards=3)
    convert(tmp_path / "src", tmp_path / "whole", Options())
    original = converting._copied
    calls = 0

    def fail(tensor: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise stop("stopped")
        return original(tensor)

    monkeypatch.setattr(converting, "_copied", fail)
    with pytest.raises(stop):
        convert(tmp_path / "src", tmp_path / "dst", Options())
    left = sorted(path.name for path in (tmp_path / "dst").iterdir())
    assert left == [STATE_FILE, "model-00001-of-00003.safetensors"]
    monkeypatch.setattr(converting, "_copied", original)
    result = convert(tmp_path / "src", tmp_path / "dst", Options())
    assert (result.shards, result.resumed) == (2, 1)
    for path in (tmp_path / "whole").iterdir():
        assert (tmp_path / "dst" / path.name).read_bytes() == path.read_bytes()


def test_a_shard_that_changed_since_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source(tmp_path / "src", shards=2)
    monkeypatch.setattr(converting, "_write_index", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        convert(tmp_path / "src", tmp_path / "dst", Options())
    monkeypatch.undo()
    damaged = tmp_path / "dst" / "model-00001-of-00002.safetensors"
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    result = convert(tmp_path / "src", tmp_path / "dst", Options())
    assert (result.shards, result.resumed) == (1, 1)


def test_other_options_or_another_source_do_not_continue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source(tmp_path / "src")
    monkeypatch.setattr(converting, "_write_config", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        convert(tmp_path / "src", tmp_path / "dst", Options())
    with pytest.raises(CheckpointError, match="unfinished conversion"):
        convert(tmp_path / "src", tmp_path / "dst", Options(to="fp32"))


def test_a_wrong_value_on_disk_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source(tmp_path / "src")
    decode = converting.codec.decode
    monkeypatch.setattr(converting.codec, "decode", lambda *args: decode(*args) * np.float32(1.01))
    with pytest.raises(CheckpointError, match=r"layers\.0\.weight\[\d+\] is"):
        convert(tmp_path / "src", tmp_path / "dst", Options())
    assert not (tmp_path / "dst" / "model.safetensors").exists()


def test_values_beyond_fp16_are_refused(tmp_path: Path) -> None:
    tensors, _ = builders.quantize("w", (64, 64), dtype="float32")
    tensors["w.absmax"] *= 1e6
    builders.save_model(tmp_path / "src", [tensors], CONFIG)
    with pytest.raises(CheckpointError, match="--to bf16"):
        convert(tmp_path / "src", tmp_path / "dst", Options(to="fp16"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda t: t.pop("w.absmax"), "'.absmax' is missing"),
        (lambda t: t.pop("w"), "'weight' is missing"),
        (lambda t: t.update({"w.absmax": t["w.absmax"][:-1].clone()}), "scales for blocks of 64"),
        (lambda t: t.update({"w": t["w"][:-1].clone()}), "cannot hold"),
        (lambda t: t.update({f"w{MARK}nf4": torch.zeros(4, dtype=torch.uint8)}), "is not JSON"),
        (lambda t: t.update({f"w{MARK}nf4": torch.tensor(list(b"[]"), dtype=torch.uint8)}), "not an object"),
        (lambda t: t.update({f"w{MARK}int3": t.pop(f"w{MARK}nf4")}), "4-bit type 'int3'"),
        (lambda t: t.update({"w.quant_map": t["w.quant_map"][:8].clone()}), "8 code values"),
        (lambda t: t.update({"x.SCB": torch.ones(3)}), "8-bit format"),
    ],
)
def test_damaged_checkpoints_are_refused_before_anything_is_written(tmp_path: Path, damage: Any, message: str) -> None:
    tensors, _ = builders.quantize("w", (64, 64))
    damage(tensors)
    builders.save_model(tmp_path / "src", [tensors], CONFIG)
    with pytest.raises(CheckpointError, match=message):
        convert(tmp_path / "src", tmp_path / "dst", Options())
    assert not (tmp_path / "dst").exists()


def test_nothing_to_convert_bad_options_and_bad_destinations(tmp_path: Path) -> None:
    builders.save_model(tmp_path / "plain", [{"w": torch.ones(4)}], CONFIG)
    with pytest.raises(CheckpointError, match="no quantized weight found"):
        plan(tmp_path / "plain", Options())
    source(tmp_path / "src")
    with pytest.raises(CheckpointError, match="block size 48"):
        plan(tmp_path / "src", Options(blocksize=48))
    with pytest.raises(CheckpointError, match="expected auto"):
        plan(tmp_path / "src", Options(to="int8"))
    with pytest.raises(CheckpointError, match="is the source itself"):
        convert(tmp_path / "src", tmp_path / "src", Options())
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(CheckpointError, match="is not empty"):
        convert(tmp_path / "src", tmp_path / "full", Options())
    with pytest.raises(CheckpointError, match="is a file"):
        convert(tmp_path / "src", tmp_path / "full" / "file", Options())


def test_a_single_file_is_enough(tmp_path: Path) -> None:
    tensors, expected = builders.quantize("w", (64, 64))
    builders.safetensors_torch.save_file(tensors, tmp_path / "only.safetensors")
    (tmp_path / "unrelated.txt").write_text("x")
    convert(tmp_path / "only.safetensors", tmp_path / "dst", Options())
    assert torch.equal(bits(builders.load(tmp_path / "dst" / "only.safetensors")["w"]), bits(expected))
    assert [path.name for path in (tmp_path / "dst").iterdir()] == ["only.safetensors"]


def test_memory_does_not_grow_with_the_weight(tmp_path: Path) -> None:
    """64 MB of output from one weight: far more than a chunk, and less than that is ever held."""
    elements = 32 * 1024 * 1024
    rng = np.random.default_rng(1)
    state = json.dumps({"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [4096, elements // 4096]})
    layout = [
        ("w", "U8", (elements // 2, 1), elements // 2),
        ("w.absmax", "F32", (elements // 64,), elements // 16),
        ("w.quant_map", "F32", (16,), 64),
        (f"w{MARK}nf4", "U8", (len(state),), len(state)),
    ]
    with (tmp_path / "big.safetensors").open("wb") as stream:
        stream.write(encode_header(layout, {}))
        for _ in range(16):
            stream.write(rng.integers(0, 256, elements // 32, dtype=np.uint8).tobytes())
        stream.write(np.ones(elements // 64, np.float32).tobytes())
        stream.write(np.linspace(-1, 1, 16, dtype=np.float32).tobytes() + state.encode())
    tracemalloc.start()
    convert(tmp_path / "big.safetensors", tmp_path / "dst", Options())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "dst" / "big.safetensors").stat().st_size > 64_000_000
    assert peak < 55_000_000
