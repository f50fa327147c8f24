"""Mixtures of experts: packed by load, by RocportConfig and by convert, with the tokens of where they come from."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import pytest
import torch

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from transformers import AutoModelForCausalLM  # noqa: E402

from rocport.checkpoint.convert import Options, convert  # noqa: E402
from rocport.integrations.experts import experts_of, pack_experts  # noqa: E402
from rocport.integrations.transformers import RocportConfig, load  # noqa: E402
from rocport.ops.modules import SwitchExperts  # noqa: E402

TOKENS = torch.randint(0, 128, (1, 7), generator=torch.Generator().manual_seed(0))
GREEDY = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0}
SIZES = {
    "vocab_size": 128, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 256, "num_experts_per_tok": 2,
    "tie_word_embeddings": False,
}  # fmt: skip


def mixture(kind):
    torch.manual_seed(0)
    if kind == "mixtral":
        config = transformers.MixtralConfig(**SIZES, num_local_experts=4)
        return transformers.MixtralForCausalLM(config).float().eval()
    config = transformers.Qwen3MoeConfig(**SIZES, num_experts=4, moe_intermediate_size=32, norm_topk_prob=True)
    return transformers.Qwen3MoeForCausalLM(config).float().eval()


@pytest.fixture(scope="module", params=["qwen3_moe", "mixtral"])
def dense(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    mixture(request.param).save_pretrained(folder)
    return folder


def same(got, want):
    torch.testing.assert_close(got(TOKENS).logits, want(TOKENS).logits, rtol=1e-4, atol=3e-6)
    assert torch.equal(got.generate(TOKENS, **GREEDY), want.generate(TOKENS, **GREEDY))


def packed(model):
    """Experts that are packed, of all layers."""
    return sum(isinstance(module, SwitchExperts) for module in model.modules())


@pytest.mark.parametrize("form", ["affine4g32", "nf4b32"])
def test_experts_are_packed_by_load_by_config_and_by_convert(dense, tmp_path, form):
    ours = AutoModelForCausalLM.from_pretrained(dense, quantization_config=RocportConfig(form, nested=False))
    assert packed(ours) == 2 and not any(True for _ in experts_of(ours))
    plain = RocportConfig(form, nested=False, fused=False)
    same(AutoModelForCausalLM.from_pretrained(dense, quantization_config=plain), ours)
    assert packed(load(dense, form=form)) == 2
    result = convert(dense, tmp_path / "packed", Options(form, nested=False))
    assert result.weights == (8 + 2 * 3 if form.startswith("affine") else 8 + 2 * 3 * 4)
    held = load(tmp_path / "packed")
    assert packed(held) == 2
    same(held, ours)
    # Back to what transformers loads by itself: the same values, each expert for itself.
    convert(tmp_path / "packed", tmp_path / "wide", Options("fp32"))
    same(AutoModelForCausalLM.from_pretrained(tmp_path / "wide"), held)


def test_nested_scales_of_experts_are_decoded(dense, tmp_path):
    convert(dense, tmp_path / "nf4", Options("nf4b32"))
    convert(tmp_path / "nf4", tmp_path / "wide", Options("fp32"))
    held = load(tmp_path / "nf4")
    assert packed(held) == 2
    same(held, load(tmp_path / "wide"))


def test_mlx_holds_the_same_experts(dense, tmp_path):
    mx = pytest.importorskip("mlx.core", reason="mlx[cpu] is not installed")
    utils = pytest.importorskip("mlx_lm.utils", reason="mlx-lm is not installed")
    import numpy as np

    mx.set_default_device(mx.cpu)
    convert(dense, tmp_path / "converted", Options("affine4g32"))
    for folder in (dense, tmp_path / "converted"):
        # mlx-lm 0.32 wants what transformers 5 writes in other places.
        said = json.loads((folder / "config.json").read_text())
        more = {"num_experts": 4, "rope_theta": said["rope_parameters"]["rope_theta"]}
        (folder / "config.json").write_text(json.dumps(more | said))
    theirs, config = utils.quantize_model(*utils.load_model(dense), group_size=32, bits=4)
    (tmp_path / "mlx").mkdir()
    utils.save_model(tmp_path / "mlx", theirs)
    utils.save_config(config, tmp_path / "mlx" / "config.json")
    for folder in (tmp_path / "mlx", tmp_path / "converted"):
        model, _ = utils.load_model(folder)
        ours = load(folder)
        assert packed(ours) == 2
        want = torch.from_numpy(np.array(model(mx.array(TOKENS.numpy())).astype(mx.float32)))
        torch.testing.assert_close(ours(TOKENS).logits, want, rtol=1e-4, atol=3e-6)


def test_what_is_not_packed_is_named(dense, caplog):
    with caplog.at_level(logging.WARNING):
        left = load(dense, form="affine4g64")
    assert packed(left) == 0 and "model.layers.1.mlp.experts: its experts stay dense" in caplog.text
    assert pack_experts(left, "affine4g32", skip=("experts",)) == [
        "model.layers.0.mlp.experts",
        "model.layers.1.mlp.experts",
    ]


def test_what_is_stored_keeps_its_form_and_is_fused_as_asked(dense, tmp_path, caplog):
    convert(dense, tmp_path / "nf4", Options("nf4b32"))
    with caplog.at_level(logging.WARNING):
        models = {fused: load(tmp_path / "nf4", form="affine4g32", fused=fused) for fused in (True, False)}
    # 8 projections of attention, 2 stacks in each of 2 layers.
    assert "12 modules stay in nf4b32, as they are stored: affine4g32 is for the others" in caplog.text
    for fused, model in models.items():
        ours = [module for module in model.modules() if isinstance(module, SwitchExperts)]
        assert [(module.fused, module.down_proj.format.name) for module in ours] == [(fused, "nf4b32")] * 2
        assert model.config.quantization_config.form == "nf4b32"


@pytest.mark.parametrize("how", ["load", "config"])
def test_packed_experts_are_not_saved_but_adapters_are(dense, tmp_path, how):
    peft = pytest.importorskip("peft", reason="peft is not installed")
    from rocport.integrations.peft import with_layers

    def model():
        if how == "load":
            return load(dense, form="nf4b32")
        return AutoModelForCausalLM.from_pretrained(dense, quantization_config=RocportConfig("nf4b32"))

    one = model()
    assert how == "load" or not one.hf_quantizer.is_serializable()
    with pytest.raises(RuntimeError, match=r"PeftModel\.save_pretrained.*rocport model convert"):
        one.save_pretrained(tmp_path / "never")
    assert not (tmp_path / "never").exists()
    config = with_layers(peft.LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False))
    if how == "load":
        one = peft.get_peft_model(one, config)
        one.save_pretrained(tmp_path / "adapter", save_embedding_layers=False)
    else:
        one.add_adapter(config)
        one.save_pretrained(tmp_path / "adapter")
    config = with_layers(peft.PeftConfig.from_pretrained(tmp_path / "adapter"))
    again = peft.PeftModel.from_pretrained(model(), tmp_path / "adapter", config=config).eval()
    torch.testing.assert_close(again(TOKENS).logits, one.eval()(TOKENS).logits, rtol=1e-4, atol=3e-6)
    assert (again(TOKENS).logits - model()(TOKENS).logits).abs().max() > 1e-4


def test_experts_that_compute_something_else_stay():
    config = transformers.MixtralConfig(**SIZES, num_local_experts=4)
    model = transformers.MixtralForCausalLM(config)
    experts = model.model.layers[0].mlp.experts
    other = type("Other", (type(experts),), {"forward": lambda self, x, index, weights: x})
    experts.__class__ = other
    assert [name for name, _ in experts_of(model)] == ["model.layers.1.mlp.experts"]


def test_experts_that_clamp_stay_in_each_layer():
    file = pytest.importorskip("transformers.models.step3p7.modeling_step3p7", reason="not in this transformers")
    config = SimpleNamespace(num_local_experts=2, hidden_size=32, moe_intermediate_size=32, hidden_act="silu")
    limits = [None, 16.0, 7.0, None, 1e4]
    layers = torch.nn.ModuleList(file.Step3p7Experts(config, limit) for limit in limits)
    assert [name for name, _ in experts_of(layers)] == ["0", "3"]
    assert pack_experts(layers, "affine4g32") == ["1", "2", "4"]
