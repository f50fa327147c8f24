"""Checkpoints of small random models, loaded with our layers: the logits and tokens of the library they come from."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from transformers import AutoModelForCausalLM  # noqa: E402

from rocport import ops  # noqa: E402
from rocport.checkpoint import CheckpointError  # noqa: E402
from rocport.checkpoint.convert import Options, convert  # noqa: E402
from rocport.checkpoint.memory import Shape, Training, needed  # noqa: E402
from rocport.checkpoint.policy import _sizes, decide  # noqa: E402
from rocport.cli import cli  # noqa: E402
from rocport.facts.targets import load_target  # noqa: E402
from rocport.integrations.transformers import RocportConfig, load  # noqa: E402

ROOT = Path(__file__).parents[2]
TOKENS = torch.randint(0, 128, (1, 7), generator=torch.Generator().manual_seed(0))
GREEDY = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0}


def small(tied: bool = False, **more):
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, max_position_embeddings=256, tie_word_embeddings=tied, **more,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).float().eval()


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dense")
    small().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def nf4(dense, tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed") / "nf4"
    convert(dense, folder, Options("nf4b64"))
    return folder


def same(got, want, tokens=True):
    torch.testing.assert_close(got(TOKENS).logits, want(TOKENS).logits, rtol=1e-4, atol=2e-6)
    if tokens:
        assert torch.equal(got.generate(TOKENS, **GREEDY), want.generate(TOKENS, **GREEDY))


def kinds(model):
    return {type(module).__name__ for module in model.modules()}


def test_dense(dense):
    same(load(dense), small())


@pytest.mark.parametrize("form", ["nf4b64", "int8", "affine4g32"])
def test_packed_while_loading(dense, form):
    config = RocportConfig(form)
    model = AutoModelForCausalLM.from_pretrained(dense, quantization_config=config)
    layer = {"nf4b64": "Linear4bit", "int8": "Linear8bitLt", "affine4g32": "QuantizedLinear"}[form]
    assert type(model.model.layers[0].mlp.down_proj).__name__ == layer and type(model.lm_head) is torch.nn.Linear
    same(load(dense, form=form), model)
    # Our norm, activation and rope are in by default, and can be left out.
    assert "forward" in model.model.norm.__dict__
    plain = AutoModelForCausalLM.from_pretrained(dense, quantization_config=RocportConfig(form, fused=False))
    assert "forward" not in plain.model.norm.__dict__
    same(plain, model)


def test_bitsandbytes(nf4, tmp_path):
    pytest.importorskip("bitsandbytes", reason="bitsandbytes is not installed")
    ours, theirs = load(nf4), AutoModelForCausalLM.from_pretrained(nf4)
    assert "bitsandbytes" in type(theirs.model.layers[0].mlp.gate_proj).__module__ and "Linear4bit" in kinds(ours)
    same(ours, theirs)
    # What we save is a bitsandbytes checkpoint.
    ours.save_pretrained(tmp_path / "saved")
    same(load(tmp_path / "saved"), ours, tokens=False)
    same(AutoModelForCausalLM.from_pretrained(tmp_path / "saved"), ours, tokens=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model that has learned to count by three, so that its weights are no longer what they were drawn as."""
    model = small().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for step in range(40):
        tokens = (
            torch.arange(24) * 3 + torch.randint(0, 128, (8, 1), generator=torch.Generator().manual_seed(step))
        ) % 128
        loss = model(tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert loss.item() < 2.0
    folder = tmp_path_factory.mktemp("trained")
    model.eval().save_pretrained(folder)
    return folder


def test_trained_weights_of_bitsandbytes_and_transformers(trained, tmp_path):
    pytest.importorskip("bitsandbytes", reason="bitsandbytes is not installed")
    same(load(trained), AutoModelForCausalLM.from_pretrained(trained))
    convert(trained, tmp_path / "nf4", Options("nf4b64"))
    same(load(tmp_path / "nf4"), AutoModelForCausalLM.from_pretrained(tmp_path / "nf4"))


@pytest.mark.parametrize("tied", [True, False])
def test_mlx(tmp_path, tied):
    mx = pytest.importorskip("mlx.core", reason="mlx[cpu] is not installed")
    utils = pytest.importorskip("mlx_lm.utils", reason="mlx-lm is not installed")
    import numpy as np

    mx.set_default_device(mx.cpu)
    small(tied).save_pretrained(tmp_path / "dense")
    theirs, config = utils.quantize_model(*utils.load_model(tmp_path / "dense"), group_size=32, bits=4)
    (tmp_path / "mlx").mkdir()
    utils.save_model(tmp_path / "mlx", theirs)
    utils.save_config(config, tmp_path / "mlx" / "config.json")
    ours = load(tmp_path / "mlx")
    assert {"QuantizedEmbedding", "QuantizedLinear"} <= kinds(ours) and "Embedding" not in kinds(ours)

    def logits(ids):
        return torch.from_numpy(np.array(theirs(mx.array(ids.numpy())).astype(mx.float32)))

    torch.testing.assert_close(ours(TOKENS).logits, logits(TOKENS), rtol=1e-4, atol=2e-6)
    ids = TOKENS
    for _ in range(8):
        ids = torch.cat((ids, logits(ids)[:, -1].argmax(-1, keepdim=True)), 1)
    assert torch.equal(ours.generate(TOKENS, **GREEDY), ids)


def test_a_tied_head_of_a_dense_embedding(tmp_path):
    small(True).save_pretrained(tmp_path / "dense")
    convert(tmp_path / "dense", tmp_path / "nf4", Options("nf4b64"))
    model = load(tmp_path / "nf4")
    assert model.lm_head.weight is model.model.embed_tokens.weight
    same(model, load(tmp_path / "dense", form="nf4b64"))


def test_decoded_where_no_layer_holds_it(tmp_path):
    model = small()
    model.save_pretrained(tmp_path / "dense")
    state = {}
    for name, value in model.state_dict().items():
        if name.endswith("_proj.weight"):
            scale = value.abs().max() / 448
            state[name] = (value / scale).to(torch.float8_e4m3fn)
            state[f"{name}_scale"] = scale
            model.get_parameter(name).data = state[name].float() * scale
        else:
            state[name] = value
    from safetensors.torch import save_file

    save_file(state, tmp_path / "dense" / "model.safetensors")
    config = json.loads((tmp_path / "dense" / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "fp8"}
    (tmp_path / "dense" / "config.json").write_text(json.dumps(config))
    same(load(tmp_path / "dense"), model)


def test_what_cannot_be_loaded_says_so(tmp_path, dense):
    with pytest.raises(CheckpointError, match=r"no config\.json"):
        load(tmp_path)
    with pytest.raises(ValueError, match="no layer holds it"):
        load(dense, form="dynamic8b64")


def test_lora_of_peft(nf4, tmp_path):
    peft = pytest.importorskip("peft", reason="peft is not installed")
    from rocport.integrations.peft import dense_weight, with_layers
    from rocport.ops.optim import AdamW8bit

    torch.manual_seed(0)
    config = peft.LoraConfig(r=4, target_modules="all-linear")
    model = peft.get_peft_model(load(nf4), with_layers(config)).train()
    weights = [p for p in model.parameters() if p.requires_grad]
    assert len(weights) == 2 * 7 * 2
    optimizer = AdamW8bit(weights, lr=1e-2)
    losses = []
    for _ in range(4):
        loss = model(TOKENS, labels=TOKENS).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.1
    model.eval().save_pretrained(tmp_path)
    config = with_layers(peft.PeftConfig.from_pretrained(tmp_path))
    same(peft.PeftModel.from_pretrained(load(nf4), tmp_path, config=config).eval(), model, tokens=False)
    layer = model.base_model.model.model.layers[0].mlp.up_proj
    before = dense_weight(layer.base_layer)
    wanted = before + layer.get_delta_weight("default")
    with pytest.warns(UserWarning, match="rounded"):
        layer.merge()
    assert ((dense_weight(layer.base_layer) - wanted).norm() / wanted.norm()).item() < 0.12


def test_the_commands(nf4, tmp_path):
    pytest.importorskip("peft", reason="peft is not installed")

    def run(*args):
        result = CliRunner().invoke(cli, ["model", *map(str, args)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    done = run("generate", nf4, "--tokens", 5, "--device", "cpu", "--json")
    want = load(nf4).generate(torch.tensor([[1, 2, 3, 4]]), **GREEDY | {"max_new_tokens": 5, "min_new_tokens": 5})
    assert done["tokens"] == want[0, 4:].tolist() and "14 Linear4bit" in done["layers"]
    whole = run("lora", nf4, tmp_path / "whole", "--steps", 3, "--device", "cpu", "--json")
    first = run("lora", nf4, tmp_path / "parts", "--steps", 2, "--device", "cpu", "--json")
    rest = run("lora", nf4, tmp_path / "parts", "--steps", 3, "--device", "cpu", "--json")
    assert rest["resumed"] == 2 and first["losses"] + rest["losses"] == whole["losses"]
    assert (tmp_path / "parts" / "adapter_model.safetensors").is_file()
    bad = CliRunner().invoke(
        cli, ["model", "lora", str(nf4), str(tmp_path / "parts"), "--rank", "4", "--device", "cpu"]
    )
    assert bad.exit_code == 2 and "rank 8" in bad.output


@pytest.mark.parametrize("sizes", [(256, 768, 8, 2, 64), (128, 1280, 4, 4, 64)])
def test_the_memory_of_a_step_is_what_autograd_saves(sizes):
    hidden, mlp, heads, keys, head = sizes
    config = transformers.LlamaConfig(
        vocab_size=64, hidden_size=hidden, intermediate_size=mlp, num_hidden_layers=2, num_attention_heads=heads,
        num_key_value_heads=keys, head_dim=head,
    )  # fmt: skip
    peft = pytest.importorskip("peft", reason="peft is not installed")
    model = transformers.LlamaForCausalLM(config).bfloat16()
    target = {"target_modules": "all-linear", "r": 4}
    model = peft.get_peft_model(model, peft.LoraConfig(**target), autocast_adapter_dtype=False)
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    saved = {}

    def pack(tensor):
        if tensor.untyped_storage().data_ptr() not in own:
            saved[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    tokens = torch.randint(0, 64, (2, 96))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        # Kept: what is saved dies with the output.
        kept = model.base_model.model.model(tokens)
    measured = sum(tensor.untyped_storage().nbytes() for tensor in saved.values())
    shape = Shape(hidden, 2, heads * head, keys * head, mlp, 64)
    counted = needed(shape, 0, Training(2, 96, 4, "adamw", False)).activations
    assert kept is not None and abs(counted - measured) < 0.06 * measured


def _words_and_numbers(text):
    """Without rates; numbers apart, as decoding and training may differ in the last digits between machines."""
    text = re.sub(r"\([\d.]+ tokens/s\)", "", text)
    number = r"(?<![\w.-])\d+\.\d+(?![\w.])"
    return re.sub(number, "#", text).split(), [float(x) for x in re.findall(number, text)]


def test_the_transcript_of_the_page_is_what_its_commands_print(tmp_path, monkeypatch):
    """From an MLX checkpoint to a LoRA step on the CPU: docs/checkpoint.md, as tools/model_transcript.py prints it."""
    pytest.importorskip("peft", reason="peft is not installed")
    pytest.importorskip("mlx.core", reason="mlx[cpu] is not installed")
    spec = importlib.util.spec_from_file_location("transcript", ROOT / "tools" / "model_transcript.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.checkpoint(tmp_path / "mlx-4bit")
    monkeypatch.chdir(tmp_path)
    printed = []
    for command in tool.commands():
        result = CliRunner().invoke(cli, command.split()[1:], catch_exceptions=False)
        assert result.exit_code in (0, 1), result.output
        printed.append(f"$ {command}\n{result.stdout}")
    assert len(printed) == 4
    got, want = _words_and_numbers("".join(printed)), _words_and_numbers(tool.shown())
    assert got[0] == want[0] and got[1] == pytest.approx(want[1], rel=0.02)


def _words(codes, bits, along, order=None):
    """Integers to words along an axis; place i of a word holds element order[i]."""
    per = 32 // bits
    moved = codes.movedim(along, -1).to(torch.int64)
    moved = moved.reshape(*moved.shape[:-1], -1, per)[..., list(order or range(per))]
    words = (moved << (torch.arange(per) * bits)).sum(-1)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32).movedim(-1, along).contiguous()


def _columns(weight, order, lowered):
    """A weight [out, into] as GPTQ and AWQ store one: qweight, qzeros and scales of groups of 32, and the rest."""
    into = weight.shape[1]
    groups = weight.t().reshape(into // 32, 32, -1)
    scales = ((groups.amax(1) - groups.amin(1)) / 15).half()
    zeros = (-groups.amin(1) / scales.float()).round().clamp(0, 15)
    codes = (groups / scales.float().unsqueeze(1) + zeros.unsqueeze(1)).round().clamp(0, 15).reshape(into, -1)
    parts = {"qzeros": _words(zeros - lowered, 4, 1, order), "scales": scales}
    if order:
        return {"qweight": _words(codes, 4, 1, order)} | parts
    return {"qweight": _words(codes, 4, 0)} | parts | {"g_idx": (torch.arange(into) // 32).to(torch.int32)}


def _stored_as(form, weight):
    """The tensors of one weight by the end of their names."""
    if form == "int8":
        codes, scb, _ = pytest.importorskip("bitsandbytes").functional.int8_vectorwise_quant(weight.half())
        return {"weight": codes, "SCB": scb, "weight_format": torch.tensor(0, dtype=torch.uint8)}
    if form in ("gptq", "awq"):
        return _columns(weight, (0, 2, 4, 6, 1, 3, 5, 7) if form == "awq" else None, 1 if form == "gptq" else 0)
    if form == "fp8":
        scale = weight.abs().amax() / 448
        return {"weight": (weight / scale).to(torch.float8_e4m3fn), "weight_scale": scale.reshape(1)}
    q = ops.quantize(weight, form)
    return {"weight": q.codes.view(torch.uint32), "scales": q.scales} | (
        {"biases": q.biases} if q.biases is not None else {}
    )


SOURCES = {
    "int8": {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}},
    "gptq": {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False}},
    "awq": {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"}},
    "mxfp4": {"quantization": {"group_size": 32, "bits": 4, "mode": "mxfp4"}},
}


@pytest.mark.parametrize("form", sorted(SOURCES))
def test_every_source_is_inspected_loaded_and_converted(tmp_path, form, dense):
    """The same tokens from the source and from its dense conversion, near those of the weights before."""
    from safetensors.torch import save_file

    state = {}
    for name, value in small().state_dict().items():
        if name.endswith("_proj.weight"):
            parts = _stored_as(form, value)
            state |= {f"{name.removesuffix('weight')}{part}": tensor for part, tensor in parts.items()}
        else:
            state[name] = value.clone()
    (tmp_path / "src").mkdir()
    save_file(state, tmp_path / "src" / "model.safetensors")
    config = json.loads((dense / "config.json").read_text())
    (tmp_path / "src" / "config.json").write_text(json.dumps(config | SOURCES[form]))
    source = load(tmp_path / "src")
    result = convert(tmp_path / "src", tmp_path / "wide", Options("fp32"))
    assert result.weights == 14
    wide = load(tmp_path / "wide")
    if form == "int8":
        # Activations are rounded to int8 as well, as bitsandbytes does on a GPU; its CPU library does not.
        theirs = AutoModelForCausalLM.from_pretrained(tmp_path / "src", dtype=torch.float32)
        for other in (theirs, wide):
            assert (source(TOKENS).logits - other(TOKENS).logits).norm() < 0.02 * other(TOKENS).logits.norm()
    else:
        same(source, wide)
    assert (wide(TOKENS).logits - small()(TOKENS).logits).norm() < 0.3 * small()(TOKENS).logits.norm()
    if form == "gptq":
        convert(tmp_path / "src", tmp_path / "nf4", Options("nf4b64"))
        assert "Linear4bit" in kinds(load(tmp_path / "nf4"))
    policy = decide(tmp_path / "src", load_target("gfx942"), "0.50.2")
    assert policy.model.quantization.method == {"int8": "bitsandbytes-8bit"}.get(
        form, form if form in ("gptq", "awq") else "mlx"
    )
    if form not in ("gptq", "awq"):
        assert policy.model.parameters == sum(value.numel() for value in small().state_dict().values())


@pytest.mark.parametrize("form", ["awq", "fp8", "gptq", "int8"])
def test_experts_stored_as_no_layer_holds_them_are_decoded(tmp_path, form):
    from safetensors.torch import load_file, save_file

    from rocport.ops.modules import SwitchExperts

    torch.manual_seed(0)
    config = transformers.Qwen3MoeConfig(
        vocab_size=128, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, head_dim=16,
        moe_intermediate_size=32, num_experts=2, num_experts_per_tok=1,
    )  # fmt: skip
    folder = tmp_path / "src"
    transformers.Qwen3MoeForCausalLM(config).save_pretrained(folder)
    state = {}
    for name, value in load_file(folder / "model.safetensors").items():
        if ".experts." not in name:
            state[name] = value
            continue
        for part, tensor in _stored_as(form, value).items():
            state[f"{name.removesuffix('weight')}{part}"] = tensor
    save_file(state, folder / "model.safetensors")
    said = json.loads((folder / "config.json").read_text())
    more = SOURCES.get(form, {"quantization_config": {"quant_method": "fp8"}})
    (folder / "config.json").write_text(json.dumps(said | more))
    source = load(folder, dtype=torch.float32)
    convert(folder, tmp_path / "wide", Options("fp32"))
    wide = load(tmp_path / "wide", dtype=torch.float32)
    assert not any(isinstance(module, SwitchExperts) for module in source.modules())
    torch.testing.assert_close(source.state_dict(), wide.state_dict(), rtol=0, atol=0)


def test_the_memory_of_inference_is_what_the_model_holds(nf4):
    policy = decide(nf4, load_target("gfx942"))
    model = load(nf4, dtype=torch.bfloat16)
    held = sum(p.numel() * p.element_size() for p in {p.data_ptr(): p for p in model.parameters()}.values())
    counted = _sizes(policy.model.parameters, policy.model.large)["4-bit"]
    assert abs(counted - held) < 0.02 * held
    cache = model(TOKENS, use_cache=True).past_key_values
    kept = sum(t.numel() * t.element_size() for layer in cache.layers for t in (layer.keys, layer.values))
    assert kept == policy.model.cache_bytes_per_token * TOKENS.shape[1]


@pytest.mark.parametrize("name", ["adamw", "adamw8bit", "lion8bit"])
def test_the_memory_of_what_is_trained_is_what_a_step_leaves(nf4, name):
    peft = pytest.importorskip("peft", reason="peft is not installed")
    from rocport.integrations.peft import with_layers
    from rocport.ops import optim

    model = peft.get_peft_model(load(nf4), with_layers(peft.LoraConfig(r=64, target_modules="all-linear")))
    weights = [p for p in model.parameters() if p.requires_grad]
    kind = {"adamw": torch.optim.AdamW, "adamw8bit": optim.AdamW8bit, "lion8bit": optim.Lion8bit}[name]
    optimizer = kind(weights, lr=1e-4)
    model(TOKENS, labels=TOKENS).loss.backward()
    optimizer.step()
    state = {t.data_ptr(): t for p in weights for t in optimizer.state[p].values() if isinstance(t, torch.Tensor)}
    tensors = [*weights, *(p.grad for p in weights), *state.values()]
    held = sum(t.numel() * t.element_size() for t in tensors)
    shape = decide(nf4, load_target("gfx942")).model.shape
    counted = needed(shape, 0, Training(1, 7, 64, name, False)).trained
    # 8-bit optimizers keep the moments of weights below 4096 elements, k_proj's and v_proj's here, in fp32.
    assert abs(counted - held) < 0.05 * held
