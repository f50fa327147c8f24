"""What a model needs on a target: read from configs and headers, judged against the facts."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocport.checkpoint import CheckpointError
from rocport.checkpoint.model import read_model
from rocport.checkpoint.policy import VERDICTS, decide, policy_data, policy_text
from rocport.facts.targets import SURE, all_targets, load_target

LLAMA_8B: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
FOUR_BIT = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}


def config(folder: Path, **more: Any) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps({**LLAMA_8B, **more}), encoding="utf-8")
    return path


def safetensors(path: Path, tensors: dict[str, tuple[str, list[int], bytes]]) -> Path:
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    body = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(body)) + body + data)
    return path


def four_bit(blocksize: int) -> dict[str, tuple[str, list[int], bytes]]:
    state = {"quant_type": "nf4", "blocksize": blocksize, "dtype": "bfloat16", "shape": [64, 128]}
    raw = json.dumps(state).encode()
    blocks = 64 * 128 // blocksize
    return {
        "layer.weight": ("U8", [4096, 1], bytes(4096)),
        "layer.weight.absmax": ("F32", [blocks], bytes(4 * blocks)),
        "layer.weight.quant_map": ("F32", [16], bytes(64)),
        "layer.weight.quant_state.bitsandbytes__nf4": ("U8", [len(raw)], raw),
        "model.embed_tokens.weight": ("BF16", [10, 128], bytes(2560)),
    }


def load(path: Path, gfx: str, bnb: str | None = None) -> Any:
    policy = decide(path, load_target(gfx), bnb)
    return next(s for s in policy.statements if s.topic == "load")


@pytest.mark.parametrize(
    ("gfx", "blocksize", "bnb", "verdict"),
    [
        ("gfx942", 64, "0.49.1", "change"),
        ("gfx942", 64, "0.49.2", "ok"),
        ("gfx942", 64, None, "ok"),
        ("gfx1100", 64, "0.48.2", "change"),
        ("gfx1100", 64, "0.49.0", "ok"),
        ("gfx90a", 32, "0.49.2", "change"),
        ("gfx90a", 32, "0.50.0", "ok"),
        ("gfx1100", 32, "0.50.2", "unknown"),
        ("gfx942", 128, "0.48.2", "ok"),
        ("gfx906", 64, "0.50.2", "change"),
    ],
)
def test_four_bit_block_sizes(tmp_path, gfx, blocksize, bnb, verdict):
    path = safetensors(tmp_path / "model.safetensors", four_bit(blocksize))
    found = load(path, gfx, bnb)
    assert found.verdict == verdict
    assert ("model convert" in found.do) == (verdict in ("change", "unknown"))
    assert read_model(path).quantization.blocksizes == (blocksize,)


def test_a_config_alone_does_not_know_the_block_size(tmp_path):
    found = load(config(tmp_path, quantization_config=FOUR_BIT), "gfx942", "0.49.1")
    assert found.verdict == "change" and "not in the config" in found.text


def test_old_bitsandbytes_is_called_unsafe_by_a_report_only(tmp_path):
    path = config(tmp_path, quantization_config=FOUR_BIT)
    said = [s for s in decide(path, load_target("gfx1100"), "0.49.2").statements if "NaN" in s.text]
    assert [s.sure for s in said] == ["reported"]
    assert not [s for s in decide(path, load_target("gfx1100"), "0.50.0").statements if "NaN in" in s.text]


@pytest.mark.parametrize(
    ("gfx", "dtype", "verdict"),
    [
        ("gfx942", "F8_E4M3", "change"),
        ("gfx942", "F8_E4M3FNUZ", "ok"),
        ("gfx950", "F8_E4M3", "ok"),
        ("gfx950", "F8_E4M3FNUZ", "change"),
        ("gfx1201", "F8_E4M3", "ok"),
        ("gfx90a", "F8_E4M3", "change"),
        ("gfx1100", "F8_E5M2", "change"),
    ],
)
def test_fp8_flavours(tmp_path, gfx, dtype, verdict):
    path = safetensors(tmp_path / "m.safetensors", {"a.weight": (dtype, [4, 4], bytes(16))})
    assert load(path, gfx).verdict == verdict


def test_fp8_by_config(tmp_path):
    quantized = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    assert load(config(tmp_path, quantization_config=quantized), "gfx950").verdict == "ok"
    group = {"weights": {"type": "float", "num_bits": 8}}
    quantized = {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}
    assert load(config(tmp_path, quantization_config=quantized), "gfx1100").verdict == "change"


def test_what_no_fact_supports_is_unknown(tmp_path):
    for method in ("awq", "gptq", "aqlm", "something-new"):
        policy = decide(config(tmp_path, quantization_config={"quant_method": method}), load_target("gfx942"))
        assert policy.verdict == "unknown", method


def test_type_follows_the_matrix_instructions(tmp_path):
    path = config(tmp_path)

    def dtype(gfx):
        return next(s for s in decide(path, load_target(gfx)).statements if s.topic == "dtype")

    assert dtype("gfx942").verdict == "ok"
    assert dtype("gfx1030").verdict == "change" and "inf and NaN" in dtype("gfx1030").text


def test_attention_names_the_flag_where_one_is_needed(tmp_path):
    path = config(tmp_path)

    def attention(gfx):
        return next(s for s in decide(path, load_target(gfx)).statements if s.topic == "attention").text

    assert "EXPERIMENTAL" not in attention("gfx942") and "Composable Kernel" in attention("gfx942")
    assert "EXPERIMENTAL" in attention("gfx1151") and "Triton backend only" in attention("gfx1151")
    assert "plain math" in attention("gfx1030")


def test_weights_are_counted_from_the_config_as_the_model_card_says(tmp_path):
    model = read_model(config(tmp_path))
    assert model.parameters == pytest.approx(8.03e9, rel=0.001) and not model.exact
    assert model.cache_bytes_per_token == 128 * 1024
    experts = {"model_type": "mixtral", "num_local_experts": 8, "vocab_size": 32000}
    assert read_model(config(tmp_path, **experts)).parameters == pytest.approx(46.7e9, rel=0.002)
    assert read_model(config(tmp_path, model_type="deepseek_v3")).parameters is None


def test_weights_are_counted_once_whatever_their_storage(tmp_path):
    model = read_model(safetensors(tmp_path / "m.safetensors", four_bit(64)))
    assert (model.parameters, model.large, model.exact) == (64 * 128 + 1280, 64 * 128, True)
    packed = {"a.qweight": ("I32", [64, 64], bytes(16384)), "a.scales": ("F16", [8], bytes(16))}
    model = read_model(safetensors(tmp_path / "m.safetensors", packed))
    assert model.parameters is None and model.stored_bytes == 16400


@pytest.mark.parametrize(
    ("gib", "verdict", "says"),
    [(24, "ok", "16-bit weights leave"), (12, "change", "load in 8-bit"), (4, "no", "do not fit")],
)
def test_memory(tmp_path, gib, verdict, says):
    policy = decide(config(tmp_path), load_target("gfx1100"), "0.50.2", gib << 30)
    last = policy.statements[-1]
    assert last.verdict == verdict and says in last.text + last.do
    assert policy.verdict == verdict


def test_weights_that_must_be_widened_are_weighed_as_16_bit(tmp_path):
    path = config(tmp_path, quantization_config=FOUR_BIT)
    last = decide(path, load_target("gfx906"), None, 12 << 30).statements[-1]
    assert last.verdict == "change" and "16-bit" in last.text
    assert decide(path, load_target("gfx1100"), None, 12 << 30).statements[-1].verdict == "ok"


@pytest.mark.parametrize("target", all_targets(), ids=lambda t: t.name)
def test_every_statement_has_a_source_or_admits_that_it_knows_nothing(tmp_path, target):
    for more in ({}, {"quantization_config": FOUR_BIT}, {"quantization_config": {"quant_method": "fp8"}}):
        policy = decide(config(tmp_path, **more), target, "0.48.0", 16 << 30)
        for statement in policy.statements:
            assert statement.verdict in VERDICTS and statement.sure in SURE
            assert statement.source or statement.sure == "unverified"
        json.dumps(policy_data(policy))
        assert policy_text(policy).count("\n") >= len(policy.statements)


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="no such file"):
        read_model(tmp_path / "absent")
    with pytest.raises(CheckpointError, match="holds no config"):
        read_model(tmp_path)
    bad = tmp_path / "config.json"
    for text in (
        "{",
        "[]",
        '{"model_type": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"a": 1}',
        "\ud800".encode("utf-16", "surrogatepass").decode("latin-1"),
    ):
        bad.write_text(text, encoding="utf-8")
        with pytest.raises(CheckpointError):
            read_model(bad)
    with pytest.raises(CheckpointError, match="no version"):
        decide(config(tmp_path), load_target("gfx942"), "newest")


def test_odd_values_in_a_config_are_not_trusted(tmp_path):
    for odd in (None, "many", -1, True, 1.5, [], {}, 10**400):
        keys = dict.fromkeys(("hidden_size", "num_attention_heads", "num_hidden_layers", "quantization_config"), odd)
        model = read_model(config(tmp_path, **keys, text_config=odd))
        assert model.parameters is None and model.cache_bytes_per_token is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        *LLAMA_8B,
        "text_config",
        "quantization_config",
        "num_experts",
        "num_local_experts",
        "head_dim",
        "n_head",
        "n_embd",
    ]
)


@given(odd=st.dictionaries(KEYS, JSON | st.sampled_from(["llama", "mixtral", 0, 1, 7, 4096, FOUR_BIT]), max_size=12))
@settings(max_examples=150, deadline=None)
def test_any_config_gets_a_policy_or_an_error(tmp_path_factory, odd):
    path = tmp_path_factory.getbasetemp() / "config.json"
    path.write_text(json.dumps({**LLAMA_8B, **odd}), encoding="utf-8")
    policy = decide(path, load_target("gfx1100"), "0.50.2", 8 << 30)
    assert policy.verdict in VERDICTS and policy_text(policy) and json.dumps(policy_data(policy))


def test_an_mlx_checkpoint_is_not_called_unquantized(tmp_path: Path) -> None:
    """Its config says `quantization`, not `quantization_config`: it was "not quantized: load as is"."""
    mx = pytest.importorskip("mlx.core", reason="mlx[cpu] is not installed")
    nn = pytest.importorskip("mlx.nn")
    layers = {"lm_head": (128, 64, 8, 64), "model.layers.0.mlp.up_proj": (256, 128, 4, 32)}
    tensors = {}
    for name, (into, out, bits, group) in layers.items():
        for key, value in nn.QuantizedLinear(into, out, bias=False, group_size=group, bits=bits).parameters().items():
            tensors[f"{name}.{key}"] = value
    mx.save_safetensors(str(tmp_path / "model.safetensors"), tensors)
    said = {"group_size": 32, "bits": 4, "lm_head": {"group_size": 64, "bits": 8}}
    config(tmp_path, quantization=said, quantization_config=said)
    model = read_model(tmp_path)
    assert model.quantization is not None
    assert (model.quantization.method, model.quantization.bits) == ("mlx", (4, 8))
    assert model.quantization.blocksizes == (32, 64)
    assert (model.parameters, model.large) == (128 * 64 + 256 * 128, 256 * 128)
    text = policy_text(decide(tmp_path, load_target("gfx942")))
    assert "MLX's affine weights of 4, 8 bits in groups of 32, 64: transformers does not load them" in text
    assert "not quantized" not in text
    alone = read_model(tmp_path / "config.json").quantization
    assert alone is not None and (alone.method, alone.bits, alone.blocksizes) == ("mlx", (4,), ())


@pytest.mark.parametrize(
    ("gfx", "bnb", "says"),
    [
        ("gfx942", "0.50.2", "loads its -bnb-4bit checkpoints"),
        ("gfx942", "0.49.1", "quantizes the 16-bit weights instead"),
        ("gfx1100", "0.49.1", "loads its -bnb-4bit checkpoints"),
        ("gfx1100", "0.48.2", "quantizes the 16-bit weights instead"),
        ("gfx1100", "0.45.5", "turns 4-bit loading off"),
        ("gfx942", None, ""),
    ],
)
def test_what_unsloth_does_with_a_prequantized_checkpoint(tmp_path, gfx, bnb, says):
    """As its device_type.py decides, from the version of bitsandbytes and the width of the wavefront."""
    path = config(tmp_path, quantization_config=FOUR_BIT)
    found = [s.text for s in decide(path, load_target(gfx), bnb).statements if s.topic == "unsloth"]
    about = [text for text in found if "-bnb-4bit" in text or "4-bit loading" in text]
    assert len(about) == (1 if says else 0) and all(says in text for text in about)
    assert any("UNSLOTH_ALLOW_PREQUANTIZED" in text for text in found)


def test_where_compiling_and_bfloat16_are_off(tmp_path):
    path = config(tmp_path)
    by = {s.topic: s for s in decide(path, load_target("gfx906")).statements}
    assert by["compile"].verdict == "change" and by["compile"].do == "TORCHDYNAMO_DISABLE=1"
    texts = [s.text + s.do for s in decide(path, load_target("gfx906")).statements if s.topic == "unsloth"]
    assert any("TORCH_COMPILE_DISABLE" in t for t in texts) and any("dtype=torch.float16" in t for t in texts)
    assert not {"compile", "unsloth"} & {s.topic for s in decide(path, load_target("gfx942")).statements}


@pytest.mark.parametrize(("gfx", "verdict"), [("gfx942", "ok"), ("gfx1100", "ok"), ("gfx1030", "change")])
def test_llm_int8_needs_hipblaslt(tmp_path, gfx, verdict):
    path = config(tmp_path, quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True})
    load = [s for s in decide(path, load_target(gfx), "0.50.2").statements if s.topic == "load"]
    assert [s.verdict for s in load] == [verdict] and "hipBLASLt" in load[0].text + load[0].do
