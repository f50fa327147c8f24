"""A whole model, and the host's share of a layer: ours beside bitsandbytes and dense bf16 on one GPU.

    python benchmarks/model.py layers --out benchmarks/results/model-layers-h200.json
    python benchmarks/model.py llama --out benchmarks/results/model-llama-h200.json
    python benchmarks/model.py rows --out benchmarks/results/model-rows-h200.json

`layers`: host time (until the call returns, the device kept idle) and wall time (calls queued, then waited for) of one
layer. `llama`: eight layers of Llama 3.1 8B's shapes with random weights, NF4 nested: greedy decoding at batch 1 by
Hugging Face `generate`, one token of it as a CUDA graph, LoRA steps of 4 x 512 tokens, prefill of 2048. `rows`: NF4 at
1 to 512 rows of x, in CUDA graphs, with more weights than the L2 cache holds.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
from rocport import ops
from rocport.ops.modules import Linear4bit, QuantizedLinear, SwitchLinear

DEVICE = torch.device("cuda")
BF16 = torch.bfloat16
found: list[dict[str, Any]] = []


def record(**row: Any) -> None:
    found.append(row)
    print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)


def bitsandbytes_linear(linear: torch.nn.Linear) -> torch.nn.Module:
    import bitsandbytes as bnb

    layer = bnb.nn.Linear4bit(
        linear.in_features, linear.out_features, linear.bias is not None, compute_dtype=BF16, quant_type="nf4"
    )  # fmt: skip
    layer.load_state_dict({key: value.cpu() for key, value in linear.state_dict().items()})
    return layer.to(DEVICE)


def host_us(call: Callable[[], object], repeats: int = 200) -> float:
    """Median microseconds until `call` returns, with nothing queued before it."""
    times = []
    for index in range(repeats + 20):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        if index >= 20:
            times.append(time.perf_counter() - begin)
    return round(statistics.median(times) * 1e6, 1)


def wall_us(call: Callable[[], object], calls: int = 200) -> float:
    """Microseconds a call, many queued and then waited for; the median of five."""
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / calls)
    return round(statistics.median(times) * 1e6, 1)


def timed(name: str, library: str, call: Callable[[], object]) -> None:
    try:
        record(what=name, library=library, host_us=host_us(call), wall_us=wall_us(call))
    except Exception as error:
        record(what=name, library=library, failed=f"{type(error).__name__}: {str(error)[:160]}")


def layers() -> None:
    """Host and wall time of single layers."""
    dense = torch.nn.Linear(4096, 4096, bias=False, device=DEVICE, dtype=BF16)
    pairs = {
        "dense": dense,
        "Linear4bit": Linear4bit.from_linear(dense),
        "QuantizedLinear": QuantizedLinear.from_linear(dense),
    }
    try:
        pairs["bitsandbytes"] = bitsandbytes_linear(dense)
    except ImportError as error:
        record(what="linear", library="bitsandbytes", failed=str(error))
    for rows in (1, 4, 16, 64, 512):
        x = torch.randn(1, rows, 4096, device=DEVICE, dtype=BF16)
        leaf = x.clone().requires_grad_()
        grad = torch.randn_like(x)
        for library, layer in pairs.items():

            def forward(layer: torch.nn.Module = layer, x: torch.Tensor = x) -> None:
                with torch.no_grad():
                    layer(x)

            def both(layer: torch.nn.Module = layer, leaf: torch.Tensor = leaf, grad: torch.Tensor = grad) -> None:
                layer(leaf).backward(grad)
                leaf.grad = None

            dense.weight.requires_grad_(False)
            timed(f"linear M={rows} forward", library, forward)
            timed(f"linear M={rows} forward+backward", library, both)
    x = torch.randn(1, 4096, device=DEVICE, dtype=BF16)
    weight = torch.ones(4096, device=DEVICE, dtype=BF16)
    switch = SwitchLinear.from_weight(torch.randn(16, 512, 4096, device=DEVICE, dtype=BF16))
    experts = torch.randint(0, 16, (1, 8), device=DEVICE)
    heads, angle = torch.randn(1, 1, 32, 128, device=DEVICE, dtype=BF16), torch.randn(1, 64, device=DEVICE)
    keys, cos, sin = heads[:, :, :8], angle.cos(), angle.sin()
    logits, target = torch.randn(1, 32000, device=DEVICE, dtype=BF16), torch.zeros(1, dtype=torch.int64, device=DEVICE)
    others = {
        "SwitchLinear": (lambda: switch(x, experts), None),
        "rms_norm": (lambda: ops.rms_norm(x, weight), lambda: torch.nn.functional.rms_norm(x, (4096,), weight)),
        "swiglu": (lambda: ops.swiglu(x, x), lambda: torch.nn.functional.silu(x) * x),
        "rope": (lambda: ops.rope(heads, keys, cos, sin), None),
        "cross_entropy": (
            lambda: ops.cross_entropy(logits, target),
            lambda: torch.nn.functional.cross_entropy(logits, target),
        ),
    }
    with torch.no_grad():
        for name, (ours, theirs) in others.items():
            timed(name, "rocport", ours)
            if theirs is not None:
                timed(name, "torch", theirs)


class Lora(torch.nn.Module):
    """A frozen base and a rank-16 update beside it."""

    def __init__(self, base: torch.nn.Module, into: int, out: int) -> None:
        super().__init__()
        self.base = base
        self.down = torch.nn.Linear(into, 16, bias=False, device=DEVICE, dtype=BF16)
        self.up = torch.nn.Linear(16, out, bias=False, device=DEVICE, dtype=BF16)
        torch.nn.init.normal_(self.up.weight, std=1e-3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.up(self.down(x))


def replaced(model: torch.nn.Module, make: Callable[[torch.nn.Linear], torch.nn.Module]) -> torch.nn.Module:
    """Every Linear of the decoder layers by `make` of it."""
    for parent in list(model.model.layers.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is torch.nn.Linear:
                setattr(parent, name, make(child))
    return model


def llama() -> None:
    """Decoding, a LoRA step and a prefill of a Llama."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=8, num_attention_heads=32,
        num_key_value_heads=8, max_position_embeddings=8192, rope_theta=500000.0, tie_word_embeddings=False,
    )  # fmt: skip
    makers: dict[str, Callable[[torch.nn.Linear], torch.nn.Module]] = {
        "bf16": lambda linear: linear,
        "bitsandbytes": bitsandbytes_linear,
        "rocport": Linear4bit.from_linear,
    }
    torch.manual_seed(0)
    tokens = torch.randint(0, config.vocab_size, (4, 513), device=DEVICE)
    prompt, long = tokens[:1, :16], torch.randint(0, config.vocab_size, (1, 2048), device=DEVICE)
    with torch.device(DEVICE):
        torch.manual_seed(1)
        start = LlamaForCausalLM(config).to(BF16).eval()
    state = {key: value.cpu() for key, value in start.state_dict().items()}
    del start
    logits: dict[str, torch.Tensor] = {}
    generation = {"max_new_tokens": 64, "min_new_tokens": 64, "do_sample": False, "pad_token_id": 0}
    for library, make in makers.items():
        gc.collect()
        torch.cuda.empty_cache()
        with torch.device(DEVICE):
            model = LlamaForCausalLM(config).to(BF16).eval()
        model.load_state_dict(state)
        model.requires_grad_(False)
        replaced(model, make)
        gc.collect()
        torch.cuda.empty_cache()
        resident = torch.cuda.memory_allocated() / 2**30
        with torch.no_grad():
            logits[library] = model(tokens[:1, :512]).logits.float().cpu()
            rates = []
            for index in range(4):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                model.generate(prompt, attention_mask=torch.ones_like(prompt), **generation)
                torch.cuda.synchronize()
                if index:
                    rates.append(64 / (time.perf_counter() - begin))
            graphed = graphed_token_us(model, config)
            prefill = wall_us(lambda model=model: model(long, logits_to_keep=1), 5) / 1e3
        adapted = replaced_lora(model)
        optimizer = torch.optim.AdamW([p for p in adapted.parameters() if p.requires_grad], lr=1e-4)
        adapted.train()
        torch.cuda.reset_peak_memory_stats()
        times, losses = [], []
        for _ in range(13):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            loss = adapted(tokens[:, :512], labels=tokens[:, :512]).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
            losses.append(loss.item())
        record(
            what="llama 8 layers", library=library, decode_tokens_s=round(statistics.median(rates), 1),
            graphed_token_us=graphed,
            prefill_2048_ms=round(prefill, 2), lora_step_ms=round(statistics.median(times[3:]) * 1e3, 2),
            resident_GiB=round(resident, 2), lora_peak_GiB=round(torch.cuda.max_memory_allocated() / 2**30, 2),
            first_loss=round(losses[0], 5), last_loss=round(losses[-1], 5),
        )  # fmt: skip
        # bitsandbytes' graph keeps its weights.
        del model, adapted, optimizer, loss
    if {"rocport", "bitsandbytes"} <= logits.keys():
        for library in ("rocport", "bitsandbytes"):
            error = (logits[library] - logits["bf16"]).norm() / logits["bf16"].norm()
            record(what="logits against bf16", library=library, relative=round(error.item(), 5))
        error = (logits["rocport"] - logits["bitsandbytes"]).norm() / logits["bitsandbytes"].norm()
        record(what="logits against bitsandbytes", library="rocport", relative=round(error.item(), 5))


def graphed_token_us(model: torch.nn.Module, config: Any) -> float | str:
    """Device time of one decoded token of a static cache of 256, replayed; the reason where it cannot be captured."""
    from transformers import StaticCache

    try:
        cache = StaticCache(config=config, max_cache_len=256)
        token = torch.ones(1, 1, dtype=torch.int64, device=DEVICE)
        at = torch.tensor([[32]], device=DEVICE)

        def step() -> torch.Tensor:
            return model(token, past_key_values=cache, position_ids=at, use_cache=True).logits

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        return graph_us([step])
    except Exception as error:
        torch.cuda.synchronize()
        return f"{type(error).__name__}: {str(error)[:120]}"


def replaced_lora(model: torch.nn.Module) -> torch.nn.Module:
    """Every projection of the decoder layers with a LoRA beside it."""
    torch.manual_seed(2)
    for parent in [*model.model.layers.modules()]:
        for name, child in list(parent.named_children()):
            if name.endswith("_proj"):
                setattr(parent, name, Lora(child, child.in_features, child.out_features))
    return model


ROWS = (1, 2, 3, 4, 6, 8, 16, 32, 48, 64, 96, 128, 256, 512)
SHAPES = (
    (1280, 2880), (6144, 2048), (11008, 4096), (4096, 4096), (14336, 4096), (4096, 14336), (1024, 4096), (8192, 8192),
)  # fmt: skip
"""N, K of projections of gpt-oss-20b, Qwen3-30B-A3B, Llama 2 7B, Llama 3 8B and 70B."""
BEYOND_L2 = 200_000_000


def graph_us(calls: Sequence[Callable[[], object]], repeats: int = 7) -> float:
    """Median microseconds of one call over replays of a graph of all of them."""
    for call in calls[:2]:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    times = []
    for index in range(repeats + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if index >= 3:
            times.append(begin.elapsed_time(end) * 1e3 / len(calls))
    return round(statistics.median(times), 2)


def rows() -> None:
    """NF4 at few and middle rows against dense and bitsandbytes, device time."""
    for n, k in SHAPES:
        copies = max(2, BEYOND_L2 // (n * k // 2))
        weight = torch.randn(n, k, device=DEVICE, dtype=BF16) * k**-0.5
        q = ops.quantize(weight, "nf4b64")
        packed = [q] + [q.to("cpu").to(DEVICE) for _ in range(copies - 1)]
        wide = [weight.clone() for _ in range(max(2, BEYOND_L2 // (n * k * 2)))]
        for m in ROWS:
            x = torch.randn(m, k, device=DEVICE, dtype=BF16)
            ours = graph_us([partial(ops.quantized_matmul, x, w) for w in packed])
            dense = graph_us([partial(torch.nn.functional.linear, x, w) for w in wide])
            row: dict[str, Any] = {"N": n, "K": k, "M": m, "rocport_us": ours, "bf16_us": dense}
            row["dequantize_first_us"] = graph_us([partial(ops.quantized_matmul, x, w, tier="dense") for w in packed])
            row["of_bf16"] = round(dense / ours, 2)
            if importlib.util.find_spec("bitsandbytes"):
                row["bitsandbytes_us"] = graph_us(bitsandbytes_matmuls(x, weight, copies))
                row["of_bitsandbytes"] = round(row["bitsandbytes_us"] / ours, 2)
            record(**row)


def bitsandbytes_matmuls(x: torch.Tensor, weight: torch.Tensor, copies: int) -> list[Callable[[], object]]:
    """x by copies of NF4 `weight`, as bitsandbytes' Linear4bit multiplies: its kernel for one row, else dense."""
    import bitsandbytes.functional as bnb

    codes, state = bnb.quantize_4bit(weight, blocksize=64, quant_type="nf4")

    def one(copy: torch.Tensor) -> torch.Tensor:
        if x.shape[0] == 1:
            return bnb.gemv_4bit(x, copy.t(), state=state)
        return torch.nn.functional.linear(x, bnb.dequantize_4bit(copy, state))

    return [partial(one, codes.clone()) for _ in range(copies)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("layers", "llama", "rows"))
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    {"layers": layers, "llama": llama, "rows": rows}[chosen.what]()
    if chosen.out:
        import triton

        head = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
        chosen.out.write_text(json.dumps(head | {"rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
