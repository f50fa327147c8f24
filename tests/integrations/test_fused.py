"""Our norm, activation and rope inside transformers' models: the same logits, tokens and gradients."""

import functools
import math
from types import SimpleNamespace

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


def renames(old, new):
    """A decorator as transformers has them: it passes a keyword on by its new name."""

    def wrap(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            if old in kwargs:
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return wrapped

    return wrap


def test_a_decorated_forward_is_fused_below_its_decorator():
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    class Attention(torch.nn.Module):
        pass

    source = "def forward(self, q, k=None, *, cos, sin):\n    return apply_rotary_pos_emb(q, k, cos, sin)\n"
    names = {"apply_rotary_pos_emb": apply_rotary_pos_emb}
    exec(source, names)
    Attention.forward = renames("key", "k")(renames("query", "q")(names["forward"]))
    module, angle = Attention(), torch.randn(1, 3, 4)
    q, k, table = torch.randn(1, 2, 3, 8), torch.randn(1, 1, 3, 8), torch.cat((angle, angle), -1)
    before = module(query=q, key=k, cos=table.cos(), sin=table.sin())
    assert fuse(module) == {"rope": 1}
    after = module(query=q, key=k, cos=table.cos(), sin=table.sin())
    torch.testing.assert_close(after, before)


class Gated(torch.nn.Module):
    """A gated MLP that clamps at `limit`, before its activation or after it."""

    def __init__(self, limit, after=False):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = (torch.nn.Linear(4, 4) for _ in range(3))
        self.act_fn, self.limit, self.after = torch.nn.SiLU(), limit, after

    def forward(self, x):
        gate, up = self.gate_proj(x), self.up_proj(x).clamp(-self.limit, self.limit)
        gate = self.act_fn(gate).clamp(max=self.limit) if self.after else self.act_fn(gate.clamp(max=self.limit))
        return self.down_proj(gate * up)


@pytest.mark.parametrize("after", [False, True])
def test_a_clamp_is_noticed_in_each_module_of_a_class(after):
    limits = [math.inf, 0.5, 7, math.inf, 10.0, 100, 2e4]
    layers = torch.nn.ModuleList(Gated(limit, after) for limit in limits)
    assert fuse(layers) == {"swiglu": 2}
    assert ["forward" in layer.__dict__ for layer in layers] == [math.isinf(limit) for limit in limits]


@pytest.mark.parametrize(
    ("module", "name", "more"),
    [
        ("deepseek_v4", "DeepseekV4MLP", {}),
        ("glm5_next", "Glm5NextTextMLP", {}),
        ("glm5_next", "Glm5NextVisionMLP", {}),
        ("step3p7", "Step3p7MLP", {"layer_idx": 0}),
    ],
)
def test_mlps_of_transformers_that_clamp_keep_their_forward(module, name, more):
    file = pytest.importorskip(f"transformers.models.{module}.modeling_{module}", reason="not in this transformers")
    config = SimpleNamespace(
        hidden_size=8, intermediate_size=8, share_expert_dim=8, hidden_act="silu", mlp_bias=False, attention_bias=False
    )  # fmt: skip
    for limit, replaced in ((10.0, {}), (math.inf, {"swiglu": 1})):
        config.swiglu_limit, config.swiglu_limits_shared = limit, [limit]
        assert fuse(torch.nn.ModuleList([getattr(file, name)(config, **more)])) == replaced
