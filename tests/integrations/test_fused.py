"""Our norm, activation and rope inside transformers' models: the same logits, tokens and gradients."""

import pytest
import torch

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from rocport.integrations.fused import fuse  # noqa: E402

SIZES = {
    "vocab_size": 128, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 256,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "replaced"),
    [
        ("Llama", {"rms_norm": 5, "rope": 2, "swiglu": 2}),
        ("Qwen3", {"rms_norm": 9, "rope": 2, "swiglu": 2}),
        # Gemma multiplies by 1 + weight and gates with GELU: neither is ours.
        ("Gemma", {"rope": 2}),
    ],
)
def test_a_fused_model_computes_the_same(name, replaced):
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**SIZES)
    model = getattr(transformers, f"{name}ForCausalLM")(config).eval()
    tokens = torch.randint(0, 128, (2, 9))
    generation = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": 0}

    def results():
        model.zero_grad()
        model(tokens, labels=tokens).loss.backward()
        grads = [p.grad.clone() for p in model.parameters()]
        return model(tokens).logits.detach(), grads, model.generate(tokens, **generation)

    before, names = results(), list(model.state_dict())
    assert fuse(model) == replaced
    after = results()
    torch.testing.assert_close(after[:2], before[:2], rtol=1e-4, atol=1e-5)
    assert torch.equal(after[2], before[2]) and list(model.state_dict()) == names
    assert fuse(model) == {}
