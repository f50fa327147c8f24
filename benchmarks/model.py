"""A whole model, and the host's share of a layer: ours beside bitsandbytes and dense bf16 on one GPU.

    python benchmarks/model.py layers --out benchmarks/results/model-layers-h200.json
    python benchmarks/model.py llama --out benchmarks/results/model-llama-h200.json
    python benchmarks/model.py moe --out benchmarks/results/model-moe-h200.json
    python benchmarks/model.py rows --out benchmarks/results/model-rows-h200.json

`layers`: host time (until the call returns, the device kept idle) and wall time (calls queued, then waited for) of one
layer. `llama`: eight layers of Llama 3.1 8B's shapes with random weights, NF4 nested, each library in a process of its
own: greedy decoding at batch 1 by Hugging Face `generate`, one token of it as a CUDA graph, LoRA steps of 4 x 512
tokens, prefill of 2048. All but the graph in five turns, one library after the other; how many times faster one is than
another is the median over the turns. "rocport" is what `rocport.integrations.transformers.load` and `RocportConfig`
give by default, our layers with our norm, activation and rope (`fused`); "rocport layers" is `fused=False`, our layers
alone; "bf16 fused" is what of that a dense model could have. `moe`: the same with eight layers of Qwen3-30B-A3B's
shapes, 128 experts, 8 a token; the experts are affine 4-bit in groups of 64 (as MLX stores them) with us, NF4 linear
layers in a loop with bitsandbytes (as transformers 4 had them), LoRA beside the projections of the attention. `rows`:
NF4 and affine 4-bit at 1 to 512 rows of x, for 40 matrices of public models, in CUDA graphs, with more weights than the
L2 cache holds, compiled ahead by a process a core; what is not reached in `--seconds` is not in the rows, and times
that lie within 2 % of a peer's are taken anew by turns. `tiles`: what other tile sizes and splits of K would have taken
for the same matrices. `mma` and `one`: the same for the kernels of up to 16 rows and of one, each configuration first
checked against the dequantized weight. Each run ends with the bars it shows, met or missed; those of `rows` also for
the half of the matrices that no choice was fitted to, but that of one row of NF4, for which all of them were looked at.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib.util
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
from rocport import ops, runtime
from rocport.integrations.fused import fuse
from rocport.ops.decode import arguments
from rocport.ops.modules import Linear4bit, QuantizedLinear, SwitchExperts, SwitchLinear
from rocport.ops.quantized_matmul import mma as quantized_mma
from rocport.ops.quantized_matmul import triton as quantized_triton

DEVICE = torch.device("cuda")
BF16 = torch.bfloat16
found: list[dict[str, Any]] = []


def record(**row: Any) -> None:
    found.append(row)
    print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)


def write(out: Path | None) -> None:
    """What has been recorded so far, to `out`."""
    if out is not None:
        head = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
        out.write_text(json.dumps(head | {"rows": found}, indent=1) + "\n")


def bitsandbytes_linear(linear: torch.nn.Linear) -> torch.nn.Module:
    import bitsandbytes as bnb

    layer = bnb.nn.Linear4bit(
        linear.in_features, linear.out_features, linear.bias is not None, compute_dtype=BF16, quant_type="nf4"
    )  # fmt: skip
    layer.load_state_dict({key: value.cpu() for key, value in linear.state_dict().items()})
    return layer.to(DEVICE)


def host_us(*calls: Callable[[], object], repeats: int = 200) -> list[float]:
    """Median microseconds until each of `calls` returns, with nothing queued before it; by turns, because a host's
    speed changes by half within seconds."""
    times: list[list[float]] = [[] for _ in calls]
    for index in range(repeats + 20):
        for call, taken in zip(calls, times, strict=True):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            call()
            if index >= 20:
                taken.append(time.perf_counter() - begin)
    return [round(statistics.median(taken) * 1e6, 1) for taken in times]


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


WARM_S = 0.5


def warm(call: Callable[[], object]) -> None:
    """Compile what `call` needs, then call for a while: clocks that fell meanwhile take that long to rise, and a model
    that compiles nothing has none that fell."""
    begin = 0.0
    while not begin or time.perf_counter() - begin < WARM_S:
        call()
        torch.cuda.synchronize()
        begin = begin or time.perf_counter()


def timed(name: str, library: str, call: Callable[[], object], beside: Callable[[], object]) -> None:
    """`beside_us`: the host time of `beside`, taken by turns with that of `call`."""
    try:
        ours, other = host_us(call, beside)
        record(what=name, library=library, host_us=ours, beside_us=other, wall_us=wall_us(call))
    except Exception as error:
        record(what=name, library=library, failed=f"{type(error).__name__}: {str(error)[:160]}")


def layers() -> None:
    """Host and wall time of single layers, each by turns with a dense layer (backward: with bitsandbytes')."""
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
            timed(f"linear M={rows} forward", library, forward, partial(forward, dense))
            peer = partial(both, pairs.get("bitsandbytes", dense))
            timed(f"linear M={rows} forward+backward", library, both, peer)
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
            timed(name, "rocport", ours, lambda: dense(x))
            if theirs is not None:
                timed(name, "torch", theirs, lambda: dense(x))


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


LIBRARIES = ("bf16", "bf16 fused", "bitsandbytes", "rocport", "rocport layers")
FUSED = ("bf16 fused", "rocport")


ROUNDS = 5


class Peer:
    """A library's process: what is written to it by line it does, and answers as JSON by line."""

    def __init__(self, name: str, library: str, folder: str) -> None:
        command = [sys.executable, __file__, name, "--library", library, "--folder", folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.row: dict[str, Any] = {"what": f"{name} 8 layers", "library": library}
        self.turns: dict[str, list[float]] = {}

    def ask(self, what: str) -> None:
        """Have it done, and wait: one process at a time uses the GPU and the host."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        if "failed" in self.row:
            return
        try:
            stdin.write(what + "\n")
            stdin.flush()
            answer = json.loads(next(line for line in stdout if line.startswith("{")))
        except (OSError, StopIteration):
            self.row["failed"] = f"{what}: exit code {self.process.wait()}"
            return
        for key, value in answer.items():
            if isinstance(value, list):
                self.turns.setdefault(key, []).extend(value)
                self.row[key] = round(statistics.median(self.turns[key]), 2)
                self.row[key + "_turns"] = self.turns[key]
            else:
                self.row[key] = value


def whole(name: str, libraries: Sequence[str], out: Path | None) -> None:
    """Decoding, a LoRA step and a prefill of a model: a process a library, whose memory is its own, all at once, and
    each phase by turns, because a host's speed changes by half within seconds."""
    logits: dict[str, torch.Tensor] = {}
    with tempfile.TemporaryDirectory() as folder:
        every = [Peer(name, library, folder) for library in libraries]
        for what in ("make", *["decode"] * ROUNDS, "graph", *["prefill"] * ROUNDS, "adapt", *["step"] * ROUNDS, "end"):
            for peer in every:
                peer.ask(what)
        for peer in every:
            record(**peer.row)
        write(out)
        for library in libraries:
            if (kept := Path(folder) / f"{library}.pt").is_file():
                logits[library] = torch.load(kept)
    for library, against in (("bitsandbytes", "bf16"), ("rocport", "bf16"), ("rocport layers", "bitsandbytes"),
                             ("rocport", "rocport layers"), ("bf16 fused", "bf16")):  # fmt: skip
        if {library, against} <= logits.keys():
            error = (logits[library] - logits[against]).norm() / logits[against].norm()
            record(what=f"logits against {against}", library=library, relative=round(error.item(), 5))


class LoopedExperts(torch.nn.Module):
    """Each expert three linear layers of bitsandbytes, those that are hit one after the other."""

    def __init__(self, theirs: torch.nn.Module) -> None:
        super().__init__()
        self.each = torch.nn.ModuleList()
        for both, last in zip(theirs.gate_up_proj.detach(), theirs.down_proj.detach(), strict=True):
            parts = []
            for weight in (*both.chunk(2), last):
                linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
                linear.weight = torch.nn.Parameter(weight, requires_grad=False)
                parts.append(bitsandbytes_linear(linear))
            self.each.append(torch.nn.ModuleList(parts))

    def forward(self, x: torch.Tensor, index: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        for number in index.unique().tolist():
            token, place = torch.where(index == number)
            gate, up, down = self.each[number]
            rows = x[token]
            inner = down(torch.nn.functional.silu(gate(rows)) * up(rows))
            out.index_add_(0, token, (inner * weights[token, place, None]).to(out.dtype))
        return out


def model_of(name: str, library: str) -> tuple[torch.nn.Module, Any]:
    """The model with the library's layers, and its configuration."""
    from transformers import LlamaConfig, LlamaForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM

    if name == "llama":
        config = LlamaConfig(
            vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=8, num_attention_heads=32,
            num_key_value_heads=8, max_position_embeddings=8192, rope_theta=500000.0, tie_word_embeddings=False,
        )  # fmt: skip
        make = LlamaForCausalLM
    else:
        config = Qwen3MoeConfig(
            vocab_size=151936, hidden_size=2048, intermediate_size=6144, moe_intermediate_size=768,
            num_hidden_layers=8, num_attention_heads=32, num_key_value_heads=4, head_dim=128, num_experts=128,
            num_experts_per_tok=8, norm_topk_prob=True, max_position_embeddings=8192, tie_word_embeddings=False,
        )  # fmt: skip
        make = Qwen3MoeForCausalLM
    makers: dict[str, Callable[[torch.nn.Linear], torch.nn.Module]] = {
        "bf16": lambda linear: linear,
        "bitsandbytes": bitsandbytes_linear,
        "rocport": Linear4bit.from_linear,
    }
    with torch.device(DEVICE):
        torch.manual_seed(1)
        model = make(config).to(BF16).eval()
    model.requires_grad_(False)
    replaced(model, makers[library.split()[0]])
    for layer in model.model.layers if name == "moe" else ():
        if library == "bitsandbytes":
            layer.mlp.experts = LoopedExperts(layer.mlp.experts)
        elif library.startswith("rocport"):
            layer.mlp.experts = SwitchExperts.from_experts(layer.mlp.experts, "affine4g64", library in FUSED)
    if library in FUSED:
        fuse(model)
    return model, config


class Whole:
    """One library's model in this process: each phase gives what goes into its row, a list where it is one turn."""

    def __init__(self, name: str, library: str, folder: Path) -> None:
        self.name, self.library, self.folder = name, library, folder

    def make(self) -> dict[str, Any]:
        begin = time.perf_counter()
        self.model, self.config = model_of(self.name, self.library)
        torch.manual_seed(0)
        self.tokens = torch.randint(0, self.config.vocab_size, (4, 513), device=DEVICE)
        self.long = torch.randint(0, self.config.vocab_size, (1, 2048), device=DEVICE)
        gc.collect()
        torch.cuda.empty_cache()
        resident = torch.cuda.memory_allocated() / 2**30
        with torch.no_grad():
            logits = self.model(self.tokens[:1, :512]).logits.float().cpu()
        torch.save(logits, self.folder / f"{self.library}.pt")
        self.decode()
        return {"resident_GiB": round(resident, 2), "made_s": round(time.perf_counter() - begin, 1)}

    def decode(self) -> dict[str, Any]:
        prompt = self.tokens[:1, :16]
        generation = {"max_new_tokens": 64, "min_new_tokens": 64, "do_sample": False, "pad_token_id": 0}
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.no_grad():
            self.model.generate(prompt, attention_mask=torch.ones_like(prompt), **generation)
        torch.cuda.synchronize()
        return {"decode_tokens_s": [round(64 / (time.perf_counter() - begin), 1)]}

    def graph(self) -> dict[str, Any]:
        # A loop over experts asks the device which are hit: a graph cannot hold it.
        if self.name == "moe" and self.library == "bitsandbytes":
            return {"graphed_token_us": "loops over experts on the host"}
        with torch.no_grad():
            return {"graphed_token_us": graphed_token_us(self.model, self.config)}

    def prefill(self) -> dict[str, Any]:
        run = partial(self.model, self.long, logits_to_keep=1)
        with torch.no_grad():
            warm(run)
            return {"prefill_2048_ms": [round(wall_us(run, 5) / 1e3, 2)]}

    def adapt(self) -> dict[str, Any]:
        gc.collect()
        torch.cuda.empty_cache()
        self.adapted = replaced_lora(self.model).train()
        self.optimizer = torch.optim.AdamW([p for p in self.adapted.parameters() if p.requires_grad], lr=1e-4)
        torch.cuda.reset_peak_memory_stats()
        losses = [self._step() for _ in range(13)]
        return {"first_loss": round(losses[0], 5), "last_loss": round(losses[-1], 5)}

    def _step(self) -> float:
        tokens = self.tokens[:, :512]
        loss = self.adapted(tokens, labels=tokens).loss
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        torch.cuda.synchronize()
        value: float = loss.item()
        return value

    def step(self) -> dict[str, Any]:
        warm(self._step)
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            self._step()
            times.append(time.perf_counter() - begin)
        peak = torch.cuda.max_memory_allocated() / 2**30
        return {"lora_step_ms": [round(statistics.median(times) * 1e3, 2)], "lora_peak_GiB": round(peak, 2)}

    def end(self) -> dict[str, Any]:
        return {}


def whole_of(name: str, library: str, folder: Path) -> None:
    """The phases that are asked for by line, each answered by a line of JSON; its logits go to the folder."""
    import transformers  # noqa: F401  what takes long to import is imported while others wait

    if library == "bitsandbytes":
        import bitsandbytes  # noqa: F401
    whole = Whole(name, library, folder)
    for line in sys.stdin:
        print(json.dumps(getattr(whole, line.strip())()), flush=True)


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
            if name.endswith("_proj") and not isinstance(child, SwitchLinear):
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
WARM_MS = 8.0
"""Replays before the timed ones: after a pause (a compilation, a capture) the same kernel took up to 11 % longer."""


def graph_us(calls: Sequence[Callable[[], object]], repeats: int = 7) -> float:
    """Median microseconds of one call over replays of a graph of all of them."""
    for call in calls[:2]:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    times: list[float] = []
    spent = 0.0
    while spent < WARM_MS or len(times) < repeats:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        took = begin.elapsed_time(end)
        spent += took
        if spent >= WARM_MS:
            times.append(took * 1e3 / len(calls))
    return round(statistics.median(times), 2)


def rows(seconds: float) -> None:
    """4-bit at few and middle rows against dense and bitsandbytes, device time."""
    begin = time.monotonic()
    compile_ahead()
    record(compiled_s=round(time.monotonic() - begin, 1))
    for n, k in SHAPES:
        copies = max(2, BEYOND_L2 // (n * k // 2))
        weight = torch.randn(n, k, device=DEVICE, dtype=BF16) * k**-0.5
        packed = {}
        for name in FORMATS:
            q = ops.quantize(weight, name)
            packed[name] = [q] + [copied(q) for _ in range(copies - 1)]
        wide = [weight.clone() for _ in range(max(2, BEYOND_L2 // (n * k * 2)))]
        theirs = bitsandbytes_weights(weight, copies) if importlib.util.find_spec("bitsandbytes") else []
        for m in ROWS:
            if time.monotonic() - begin > seconds:
                record(N=n, K=k, M=m, left_out=f"{seconds} s are over")
                return
            x = torch.randn(m, k, device=DEVICE, dtype=BF16)
            row: dict[str, Any] = {"N": n, "K": k, "M": m}
            calls: dict[str, list[Callable[[], object]]] = {
                "bf16_us": [partial(torch.nn.functional.linear, x, w) for w in wide]
            }
            if theirs:
                calls["bitsandbytes_us"] = [partial(bitsandbytes_matmul, x, *one) for one in theirs]
            for name, few in packed.items():
                calls[f"{name}_us"] = [partial(ops.quantized_matmul, x, w) for w in few]
                chosen = ops.operator("quantized_matmul").select(runtime.platform(DEVICE), x, few[0], None)
                row[f"{name}_tier"] = chosen.name
                # Where dequantizing first is what is chosen, both are one code.
                if chosen.name != "dense":
                    calls[f"{name}_first_us"] = [partial(ops.quantized_matmul, x, w, tier="dense") for w in few]
            row |= {what: graph_us(call) for what, call in calls.items()}
            for name in packed:
                for what in ["bitsandbytes_us", f"{name}_first_us"] + ["bf16_us"] * (2 <= m <= 8):
                    if what in row and row[what] < 1.02 * row[f"{name}_us"]:
                        again(row, calls, f"{name}_us", what)
            record(**row)


FORMATS = ("nf4b64", "affine4g64")


def compile_ahead() -> None:
    """Compile what `rows` calls in as many processes as there are cores, into Triton's cache: one process takes
    minutes."""
    count = os.cpu_count() or 1
    command = [sys.executable, __file__, "rows", "--ahead"]
    for process in [subprocess.Popen([*command, str(share)]) for share in range(count)]:
        process.wait()


def ahead(share: int) -> None:
    """The calls of `rows` for the `share` of the matrices of one process, from another number of rows on in each: what
    others have compiled by then is read."""
    first = share % len(ROWS)
    matrices = itertools.product(SHAPES[share :: os.cpu_count() or 1], FORMATS)
    packed = [ops.quantize(torch.zeros(n, k, device=DEVICE, dtype=BF16), name) for (n, k), name in matrices]
    for m in (*ROWS[first:], *ROWS[:first]):
        for q in packed:
            ops.quantized_matmul(torch.zeros(m, q.shape[1], device=DEVICE, dtype=BF16), q)


def again(row: dict[str, Any], calls: dict[str, list[Callable[[], object]]], ours: str, theirs: str) -> None:
    """Two times that lie close together, taken anew by turns: the medians of five each."""
    turns = [(graph_us(calls[ours]), graph_us(calls[theirs])) for _ in range(4)]
    for at, what in enumerate((ours, theirs)):
        row[what] = statistics.median([row[what], *(turn[at] for turn in turns)])


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
                arguments(copied(q)) for _ in range(max(1, min(24, BEYOND_L2 // (n * k // 2)) - 1))
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


ONE_CONFIGS = [
    (lanes, rows, warps, ahead, 0)
    for lanes, warps in ((32, 1), (64, 2), (64, 1), (128, 4), (128, 2), (256, 8), (256, 4))
    for rows in (1, 2, 4, 8)
    for ahead in (True, False)
    if rows < 8 or not ahead
] + [(128, 4, 4, True, 64), (128, 4, 4, False, 64), (64, 4, 2, True, 64), (128, 2, 4, True, 32), (128, 2, 4, True, 40)]
ONE_CONFIGS += [
    (*fields, True)
    for fields in (
        (256, 2, 8, True, 64, 2), (256, 2, 8, True, 80, 4), (512, 2, 16, True, 64, 4), (256, 4, 8, True, 128, 2),
        (256, 4, 8, True, 128, 4), (256, 4, 8, True, 64, 8), (128, 4, 4, True, 128, 2), (128, 4, 4, True, 96, 2),
        (128, 4, 4, True, 128, 4), (128, 8, 4, True, 128, 2),
    )
]  # fmt: skip
"""Fields of `RowsConfig`: lanes, rows of W, warps, whether all is asked for first, registers at most; sets of lanes,
and whether pairs are looked up (NF4)."""


def one(seconds: float) -> None:
    """Configurations of the kernel of one row."""
    begin = time.monotonic()
    for n, k in SHAPES:
        weight, x = torch.randn(n, k, device=DEVICE, dtype=BF16) * k**-0.5, torch.randn(1, k, device=DEVICE, dtype=BF16)
        for name in ("nf4b64", "affine4g64"):
            if time.monotonic() - begin > seconds:
                record(format=name, N=n, K=k, left_out=f"{seconds} s are over")
                return
            q = ops.quantize(weight, name)
            held = [q] + [copied(q) for _ in range(max(2, min(40, BEYOND_L2 // (n * k // 2))) - 1)]
            want, out = x.double() @ ops.dequantize(q, torch.float64).T, x.new_empty((1, n))
            row: dict[str, Any] = {"N": n, "K": k, "format": name}
            for fields in ONE_CONFIGS:
                config = quantized_triton.RowsConfig(*fields)
                if config.pairs and not quantized_triton.takes_pairs(x, arguments(q)):
                    continue
                launches = [quantized_triton.rows_launch(x, arguments(w), n, None, None, config) for w in held]
                launches[0](x, out)
                error = ((out.double() - want).norm() / want.norm()).item()
                calls = [partial(launch, x, out) for launch in launches]
                row[str(fields)] = graph_us(calls, 5) if error < 4e-3 else f"off by {error}"
            record(**row, now=graph_us([partial(ops.quantized_matmul, x, w) for w in held], 5))


MMA_CONFIGS = {
    1: ((4, 1, 4, 128, False), (8, 1, 4, 128, False), (4, 1, 2, 128, True), (8, 1, 2, 128, True), (8, 1, 2, 80, False),
        (8, 1, 1, 80, True), (16, 1, 1, 64, False), (16, 1, 2, 64, False), (2, 1, 4, 128, False), (2, 1, 4, 200, True),
        (4, 2, 2, 128, False), (8, 2, 2, 128, False), (8, 2, 1, 128, True), (4, 2, 1, 128, True),
        (4, 1, 8, 200, False), (4, 1, 4, 200, True), (2, 2, 2, 200, True)),
    2: ((8, 1, 2, 128, False), (4, 1, 2, 128, False), (8, 1, 1, 128, True), (8, 1, 1, 80, False), (4, 2, 1, 128, False),
        (8, 2, 1, 128, False), (4, 2, 2, 200, False), (4, 2, 1, 168, True), (16, 1, 1, 80, False)),
    4: ((8, 1, 1, 128, False), (4, 1, 1, 128, False), (8, 2, 1, 168, False), (4, 2, 1, 168, False),
        (4, 1, 2, 200, False), (2, 2, 1, 168, False)),
}  # fmt: skip
"""Fields of `MmaConfig` by eights of rows."""


def mma_call(x: torch.Tensor, a: Any, n: int, config: quantized_mma.MmaConfig) -> Callable[[], torch.Tensor]:
    launch = quantized_mma.mma_launch(x, a, n, None, config)

    def call() -> torch.Tensor:
        out = x.new_empty((x.shape[0], n))
        launch(x, out)
        return out

    return call


def mma(seconds: float) -> None:
    """Configurations of the kernel of few rows, beside dense bf16 and what served these rows before."""
    begin = time.monotonic()
    wrong = 0
    for name in ("nf4b64", "affine4g64", "nf4b128", "affine4g32", "mxfp4", "fp4b64"):
        for dtype in (BF16, torch.float16):
            every = dtype == BF16 and name in ("nf4b64", "affine4g64")
            for m, (n, k) in itertools.product((1, 2, 5, 8, 13, 16, 31), ((4096, 4096), (40, 2880), (1280, 640))):
                if k % ops.Format.parse(name).group:
                    continue
                nested = name == "nf4b64" and m in (2, 16)
                q = ops.quantize(torch.randn(n, k, device=DEVICE, dtype=dtype), name, nested=nested)
                x = torch.randn(m, k, device=DEVICE, dtype=dtype)
                want = x.double() @ ops.dequantize(q, torch.float64).T
                configs = MMA_CONFIGS[triton.next_power_of_2(triton.cdiv(m, 8))]
                for config in configs if every and not nested else configs[:1]:
                    got = mma_call(x, arguments(q), n, quantized_mma.MmaConfig(*config))()
                    error = ((got.double() - want).norm() / want.norm()).item()
                    if not error < 4e-3:
                        wrong += 1
                        if wrong < 40:
                            record(wrong=name, dtype=str(dtype), N=n, K=k, M=m, config=str(config), error=error)
    record(checked_s=round(time.monotonic() - begin, 1), wrong=wrong)
    if wrong > 20:
        return
    for n, k in SHAPES:
        weight = torch.randn(n, k, device=DEVICE, dtype=BF16) * k**-0.5
        copies = max(2, min(64, BEYOND_L2 // (n * k // 2)))
        packed = {name: ops.quantize(weight, name) for name in ("nf4b64", "affine4g64")}
        held = {name: [q] + [copied(q) for _ in range(copies - 1)] for name, q in packed.items()}
        wide = [weight.clone() for _ in range(max(2, min(64, BEYOND_L2 // (n * k * 2))))]
        for m in (1, 4, 8, 16, 32):
            if time.monotonic() - begin > seconds:
                record(N=n, K=k, M=m, left_out=f"{seconds} s are over")
                return
            x = torch.randn(m, k, device=DEVICE, dtype=BF16)
            row = {"N": n, "K": k, "M": m}
            row["bf16_us"] = graph_us([partial(torch.nn.functional.linear, x, w) for w in wide], 5)
            for name, few in held.items():
                row[f"{name}_before_us"] = graph_us(
                    [partial(ops.quantized_matmul, x, q, tier="triton") for q in few], 5
                )
                for config in MMA_CONFIGS[triton.next_power_of_2(triton.cdiv(m, 8))]:
                    chosen = quantized_mma.MmaConfig(*config)
                    row[f"{name} {config}"] = graph_us([mma_call(x, arguments(q), n, chosen) for q in few], 5)
            record(**row)


def copied(q: ops.QuantTensor) -> ops.QuantTensor:
    """The same weight elsewhere in memory."""
    parts = {name: getattr(q, name) for name in ("codes", "scales", "biases", "absmax2", "offset")}
    return replace(q, **{name: part.clone() for name, part in parts.items() if part is not None})


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


def fitted(row: dict[str, Any]) -> bool:
    """A choice of tiles or configurations was fitted to this matrix; the others are set aside."""
    return int(hashlib.sha256(f"{row['N']} {row['K']}".encode()).hexdigest(), 16) % 2 == 0


def bars(rows: list[dict[str, Any]]) -> list[str]:
    """What the rows show of the bars: wanted, found, met or missed."""
    lines: list[tuple[str, str, float, bool]] = []

    def least(what: str, wanted: float, value: float) -> None:
        lines.append((what, f">= {wanted}", value, value >= wanted))

    def most(what: str, wanted: float, value: float) -> None:
        lines.append((what, f"<= {wanted}", value, value <= wanted))

    def of(what: str, library: str) -> dict[str, Any]:
        return next((row for row in rows if row.get("what") == what and row.get("library") == library), {})

    def turns(what: str, wanted: float, over: dict[str, Any], under: dict[str, Any], key: str) -> None:
        ratios = [a / b for a, b in zip(over[f"{key}_turns"], under[f"{key}_turns"], strict=True)]
        least(f"{what} ({min(ratios):.2f} to {max(ratios):.2f})", wanted, statistics.median(ratios))

    for library in ("Linear4bit", "QuantizedLinear"):
        if row := of("linear M=1 forward", library):
            most(f"host time of {library} at M = 1, us", 40, row["host_us"])
            most(f"host time of {library} at M = 1 / dense layer", 1.3, row["host_us"] / row["beside_us"])
        if of("linear M=1 forward+backward", "bitsandbytes") and (row := of("linear M=1 forward+backward", library)):
            most(f"host time of {library} forward and backward / bitsandbytes", 1.0, row["host_us"] / row["beside_us"])
    for name in ("SwitchLinear", "rms_norm", "swiglu", "rope", "cross_entropy"):
        if row := of(name, "rocport"):
            most(f"host time of {name} at M = 1, us", 40, row["host_us"])
            most(f"host time of {name} at M = 1 / dense layer", 1.3, row["host_us"] / row["beside_us"])
    for name in ("llama", "moe"):
        bf16, peer = (of(f"{name} 8 layers", library) for library in ("bf16", "bitsandbytes"))
        for library in ("rocport", "rocport layers") if bf16 and peer else ():
            ours, label = of(f"{name} 8 layers", library), f"{name}, {library}: "
            if not ours or any("failed" in row for row in (ours, bf16, peer)):
                continue
            turns(label + "decode / bitsandbytes", 1.3, ours, peer, "decode_tokens_s")
            if not isinstance(ours["graphed_token_us"], str) and not isinstance(bf16["graphed_token_us"], str):
                least(label + "token in a graph, bf16 / ours", 1.5, bf16["graphed_token_us"] / ours["graphed_token_us"])
            turns(label + "LoRA step, bitsandbytes / ours", 1.1, peer, ours, "lora_step_ms")
            turns(label + "prefill, bf16 / ours", 0.9, bf16, ours, "prefill_2048_ms")
            most(label + "memory, ours / bitsandbytes", 1.0, ours["lora_peak_GiB"] / peer["lora_peak_GiB"])
    timed_rows = [row for row in rows if "nf4b64_tier" in row]
    for half in (False, True):
        some = [row for row in timed_rows if fitted(row) == half]
        for name in ("nf4b64", "affine4g64") if some else ():
            label = f"{name}, {'fitted' if half else 'set aside'}, {len(some)} rows: "
            if "bitsandbytes_us" in some[0]:
                ratios = [row["bitsandbytes_us"] / row[f"{name}_us"] for row in some]
                least(label + "median of bitsandbytes / ours", 1.6, statistics.median(ratios))
                least(label + "least of bitsandbytes / ours", 1.0, min(ratios))
            # Where dequantizing first is what is chosen, both are one code.
            others = [row for row in some if row[f"{name}_tier"] != "dense"]
            ratios = [row[f"{name}_first_us"] / row[f"{name}_us"] for row in others]
            least(label + f"least of dequantize + matmul / ours in {len(others)}", 1.0, min(ratios))
            ratios = [row["bf16_us"] / row[f"{name}_us"] for row in some if 2 <= row["M"] <= 8]
            least(label + "M = 2 to 8, least of bf16 / ours", 1.0, min(ratios))
            lines.append((label + "M = 2 to 8, median of bf16 / ours", "", statistics.median(ratios), True))
    return [
        f"{what:<80} {wanted:>8} {value:8.2f} {'' if met else 'missed'}".rstrip() for what, wanted, value, met in lines
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("layers", "llama", "moe", "rows", "tiles", "mma", "one"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0, help="of `rows`, `tiles`, `mma`, `one`")
    parser.add_argument("--library", choices=LIBRARIES, help="of `llama` and `moe`: this one, in this process")
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=LIBRARIES, help="of `llama` and `moe`")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--ahead", type=int, help="of `rows`: compile only, from another place on for each number")
    chosen = parser.parse_args()
    if chosen.library:
        whole_of(chosen.what, chosen.library, chosen.folder)
        return
    if chosen.ahead is not None:
        ahead(chosen.ahead)
        return
    timed_out = {"rows": rows, "tiles": tiles, "mma": mma, "one": one}
    if chosen.what in timed_out:
        timed_out[chosen.what](chosen.seconds)
    elif chosen.what == "layers":
        layers()
    else:
        whole(chosen.what, chosen.libraries, chosen.out)
    for line in bars(found):
        print(line)
    write(chosen.out)


if __name__ == "__main__":
    main()
