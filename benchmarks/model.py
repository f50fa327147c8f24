"""A whole model, and the host's share of a layer: ours beside bitsandbytes and dense bf16 on one GPU.

    python benchmarks/model.py layers --out benchmarks/results/model-layers-h200.json
    python benchmarks/model.py llama --out benchmarks/results/model-llama-h200.json
    python benchmarks/model.py rows --out benchmarks/results/model-rows-h200.json

`layers`: host time (until the call returns, the device kept idle) and wall time (calls queued, then waited for) of one
layer. `llama`: eight layers of Llama 3.1 8B's shapes with random weights, NF4 nested, each library in a process of its
own: greedy decoding at batch 1 by Hugging Face `generate`, one token of it as a CUDA graph, LoRA steps of 4 x 512
tokens, prefill of 2048. "rocport" has our layers alone, "rocport fused" our norm, activation and rope as well
(`rocport.integrations.fused`). `rows`: NF4 and affine 4-bit at 1 to 512 rows of x, for 40 matrices of public models, in
CUDA graphs, with more weights than the L2 cache holds; what is not reached in `--seconds` is not in the rows.
`tiles`: what other tile sizes and splits of K would have taken for the same matrices.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
from rocport import ops
from rocport.integrations.fused import fuse
from rocport.ops.decode import arguments
from rocport.ops.modules import Linear4bit, QuantizedLinear, SwitchLinear
from rocport.ops.quantized_matmul import triton as quantized_triton

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


LIBRARIES = ("bf16", "bf16 fused", "bitsandbytes", "rocport", "rocport fused")


def llama() -> None:
    """Decoding, a LoRA step and a prefill of a Llama, one process a library: memory is not shared."""
    logits: dict[str, torch.Tensor] = {}
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            command = [sys.executable, __file__, "llama", "--library", library, "--folder", folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            rows = [line for line in done.stdout.splitlines() if line.startswith("{")]
            record(**(json.loads(rows[-1]) if rows else {"library": library, "failed": f"exit code {done.returncode}"}))
            if (kept := Path(folder) / f"{library}.pt").is_file():
                logits[library] = torch.load(kept)
    for library, against in (("bitsandbytes", "bf16"), ("rocport", "bf16"), ("rocport", "bitsandbytes"),
                             ("rocport fused", "rocport"), ("bf16 fused", "bf16")):  # fmt: skip
        if {library, against} <= logits.keys():
            error = (logits[library] - logits[against]).norm() / logits[against].norm()
            record(what=f"logits against {against}", library=library, relative=round(error.item(), 5))


def llama_of(library: str, folder: Path) -> None:
    """One library's row, as JSON; its logits go to the folder."""
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
    generation = {"max_new_tokens": 64, "min_new_tokens": 64, "do_sample": False, "pad_token_id": 0}
    with torch.device(DEVICE):
        torch.manual_seed(1)
        model = LlamaForCausalLM(config).to(BF16).eval()
    model.requires_grad_(False)
    replaced(model, makers[library.split()[0]])
    if library.endswith("fused"):
        fuse(model)
    gc.collect()
    torch.cuda.empty_cache()
    resident = torch.cuda.memory_allocated() / 2**30
    with torch.no_grad():
        torch.save(model(tokens[:1, :512]).logits.float().cpu(), folder / f"{library}.pt")
        rates = []
        for index in range(4):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            model.generate(prompt, attention_mask=torch.ones_like(prompt), **generation)
            torch.cuda.synchronize()
            if index:
                rates.append(64 / (time.perf_counter() - begin))
        graphed = graphed_token_us(model, config)
        prefill = wall_us(lambda: model(long, logits_to_keep=1), 5) / 1e3
    gc.collect()
    torch.cuda.empty_cache()
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
    row = {
        "what": "llama 8 layers", "library": library, "decode_tokens_s": round(statistics.median(rates), 1),
        "graphed_token_us": graphed,
        "prefill_2048_ms": round(prefill, 2), "lora_step_ms": round(statistics.median(times[3:]) * 1e3, 2),
        "resident_GiB": round(resident, 2), "lora_peak_GiB": round(torch.cuda.max_memory_allocated() / 2**30, 2),
        "first_loss": round(losses[0], 5), "last_loss": round(losses[-1], 5),
    }  # fmt: skip
    print(json.dumps(row))


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


ROWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 255, 256, 320, 512)
SHAPES = (
    (4096, 4096), (1024, 4096), (14336, 4096), (4096, 14336),
    (1280, 2880), (4096, 2880), (512, 2880), (2880, 4096),
    (6144, 2048), (4096, 2048), (2048, 4096),
    (11008, 4096), (4096, 11008), (5120, 5120), (13824, 5120), (5120, 13824),
    (8192, 8192), (1024, 8192), (28672, 8192), (8192, 28672),
    (2048, 2048), (512, 2048), (8192, 2048), (2048, 8192),
    (3072, 3072), (1024, 3072), (8192, 3072), (3072, 8192),
    (3584, 3584), (512, 3584), (18944, 3584), (3584, 18944),
    (27648, 5120), (5120, 27648), (1024, 5120),
    (2048, 3584), (14336, 3584), (3584, 14336), (9216, 3072), (16384, 3072),
)  # fmt: skip
"""N, K of projections: Llama 3 8B, gpt-oss-20b, Qwen3-30B-A3B, Llama 2 7B and 13B, Llama 3 70B, Llama 3.2 1B and 3B,
Qwen2.5 7B and 32B, Gemma 2 9B, Phi-3 mini."""
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


def rows(seconds: float) -> None:
    """4-bit at few and middle rows against dense and bitsandbytes, device time."""
    begin = time.monotonic()
    for n, k in SHAPES:
        copies = max(2, BEYOND_L2 // (n * k // 2))
        weight = torch.randn(n, k, device=DEVICE, dtype=BF16) * k**-0.5
        packed = {}
        for name in ("nf4b64", "affine4g64"):
            q = ops.quantize(weight, name)
            packed[name] = [q] + [q.to("cpu").to(DEVICE) for _ in range(copies - 1)]
        wide = [weight.clone() for _ in range(max(2, BEYOND_L2 // (n * k * 2)))]
        theirs = bitsandbytes_weights(weight, copies) if importlib.util.find_spec("bitsandbytes") else []
        for m in ROWS:
            if time.monotonic() - begin > seconds:
                record(N=n, K=k, M=m, left_out=f"{seconds} s are over")
                return
            x = torch.randn(m, k, device=DEVICE, dtype=BF16)
            row: dict[str, Any] = {"N": n, "K": k, "M": m}
            row["bf16_us"] = graph_us([partial(torch.nn.functional.linear, x, w) for w in wide])
            for name, few in packed.items():
                row[f"{name}_us"] = graph_us([partial(ops.quantized_matmul, x, w) for w in few])
                row[f"{name}_first_us"] = graph_us([partial(ops.quantized_matmul, x, w, tier="dense") for w in few])
                if m <= 320:
                    with suppress(ops.TierRefused):
                        row[f"{name}_packed_us"] = graph_us([partial(packed_matmul, x, w) for w in few])
            if theirs:
                row["bitsandbytes_us"] = graph_us([partial(bitsandbytes_matmul, x, *one) for one in theirs])
            record(**row)


def packed_matmul(x: torch.Tensor, q: ops.QuantTensor) -> torch.Tensor:
    """The packed kernel, also where the choice is to dequantize first: what the choice costs or saves."""
    return quantized_triton.run(x, q)


def tiles(seconds: float) -> None:
    """Tile configurations around the chosen one."""
    begin = time.monotonic()
    for name, m in [(name, m) for m in (8, 32, 128, 96, 64, 4) for name in ("nf4b64", "affine4g64")]:
        for n, k in SHAPES:
            if time.monotonic() - begin > seconds:
                record(format=name, M=m, left_out=f"{seconds} s are over")
                return
            q = ops.quantize(torch.randn(n, k, device=DEVICE, dtype=BF16) * k**-0.5, name)
            copies = [arguments(q)] + [
                arguments(q.to("cpu").to(DEVICE)) for _ in range(max(1, min(24, BEYOND_L2 // (n * k // 2)) - 1))
            ]
            x = torch.randn(m, k, device=DEVICE, dtype=BF16)
            chosen = quantized_triton.tile_config(ops.dispatch.Platform("cuda", capability=(9, 0)), m, n, k)
            times = {}
            splits = {s for s in (1, 2, 3, 4, 5, 6, 8, 12, 16) if k // s >= 256 and s <= 4 * chosen.split}
            for bn in (64, 32) if n <= 4096 and m <= 32 else (64,):
                for split in sorted(splits):
                    config = replace(chosen, bn=bn, split=split)
                    times[f"{bn}x{split}"] = graph_us(
                        [partial(quantized_triton.run_tiles, x, a, n, None, config) for a in copies], 5
                    )  # fmt: skip
            record(format=name, N=n, K=k, M=m, chosen=f"{chosen.bn}x{chosen.split}", **times)


def bitsandbytes_weights(weight: torch.Tensor, copies: int) -> list[tuple[torch.Tensor, Any]]:
    import bitsandbytes.functional as bnb

    codes, state = bnb.quantize_4bit(weight, blocksize=64, quant_type="nf4")
    return [(codes.clone(), state) for _ in range(copies)]


def bitsandbytes_matmul(x: torch.Tensor, codes: torch.Tensor, state: Any) -> torch.Tensor:
    """As bitsandbytes' Linear4bit multiplies: its kernel for one row, else dense."""
    import bitsandbytes.functional as bnb

    if x.shape[0] == 1:
        return bnb.gemv_4bit(x, codes.t(), state=state)
    return torch.nn.functional.linear(x, bnb.dequantize_4bit(codes, state))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("layers", "llama", "rows", "tiles"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0, help="of `rows` and `tiles`")
    parser.add_argument("--library", choices=LIBRARIES, help="of `llama`: this one, in this process")
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    if chosen.library:
        llama_of(chosen.library, chosen.folder)
        return
    timed_out = {"rows": rows, "tiles": tiles}
    if chosen.what in timed_out:
        timed_out[chosen.what](chosen.seconds)
    else:
        {"layers": layers, "llama": llama}[chosen.what]()
    if chosen.out:
        import triton

        head = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
        chosen.out.write_text(json.dumps(head | {"rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
