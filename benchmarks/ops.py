"""The operators against bitsandbytes, torch, tinygemm, gemlite and Liger on one GPU: a table, with --out every row.

Times are medians of CUDA graph replays. A graph holds one call for each of several copies of the operands, more bytes
in all than the L2 cache holds, so that no call finds its weights there; a millisecond of replays lies between two
events, so that the start of a graph is no part of its kernels. What is compared is timed by turns, and how many times
faster one is than another is the median over the turns. Inputs are random. Rows named (eager) are timed call by call
with events, because what they call is not captured by a graph. Before timing, every operator is
checked against eager: on a side stream, in a replay with poisoned outputs, on strided, empty and odd inputs, past 2^31
elements.

    python benchmarks/ops.py --out benchmarks/results/ops-h200.json
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
from rocport import ops, runtime
from rocport.ops.dequantize import eager as dequantize_eager
from rocport.ops.formats import Format, QuantTensor
from rocport.ops.quantize import eager as quantize_eager
from rocport.runtime.graph import check_replay

DEVICE = torch.device("cuda")
BEYOND_L2 = 400_000_000
SHAPES = ((14336, 4096), (4096, 14336), (4096, 4096), (14336, 14336))
"""N, K."""
START = time.time()
rows: list[dict[str, Any]] = []
ceilings: dict[str, float] = {}


def say(text: str) -> None:
    print(f"[{time.time() - START:6.1f}] {text}", file=sys.stderr, flush=True)


WARM_S, WARM_S_AFTER_A_PAUSE = 0.025, 0.4
"""Calls before the timed ones. After a pause of a few ms the same kernel took up to 11 % longer for a while; after
half a second and more (a compilation, a matrix packed) for longer."""
BETWEEN_EVENTS_MS = 1.0
timed_at = 0.0
Calls = Sequence[Callable[[], object]]
Timer = Callable[[], float]
"""Takes the time once, in microseconds a call."""


def replays(calls: Calls, stream: torch.cuda.Stream | None = None) -> Timer:
    """Replays of a graph of all `calls`. A backward is captured on the `stream` of its forward, where autograd launches
    it."""
    stream = stream or torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in calls[:2]:
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for call in calls:
            call()

    def times(count: int) -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(count):
            graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    count = max(1, int(BETWEEN_EVENTS_MS / max(times(1), 1e-3)))
    return lambda: times(count) * 1e3 / count / len(calls)


def one_by_one(calls: Calls, stream: torch.cuda.Stream | None = None) -> Timer:
    """Each call between two events."""
    after = itertools.cycle(calls)

    def timer() -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        next(after)()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3

    return timer


def by_turns(timers: Sequence[Timer], rounds: int = 11) -> list[list[float]]:
    """What each timer takes, one after the other, in each of the rounds."""
    global timed_at
    warm = WARM_S if time.monotonic() - timed_at < 0.5 else WARM_S_AFTER_A_PAUSE
    for timer in timers:
        begin = time.monotonic()
        while time.monotonic() - begin < warm:
            timer()
        warm = WARM_S
    taken = [[timer() for timer in timers] for _ in range(rounds)]
    timed_at = time.monotonic()
    return [list(times) for times in zip(*taken, strict=True)]


def relative(got: torch.Tensor, want: torch.Tensor) -> float:
    return ((got.double() - want.double()).norm() / want.double().norm()).item()


@dataclass
class Runner:
    """What is timed: an operator of a library. `nbytes` and `flops` of one call; `more` goes into its row."""

    operator: str
    library: str
    calls: Calls
    nbytes: float = 0
    flops: float = 0
    more: dict[str, Any] = field(default_factory=dict)
    make: Callable[[Calls, torch.cuda.Stream | None], Timer] = replays
    stream: torch.cuda.Stream | None = None

    @property
    def name(self) -> str:
        return f"{self.operator} by {self.library}"


def race(*runners: Runner, **where: Any) -> None:
    """Time the runners by turns: a row each, with how many times faster it is than each of the others."""
    timers: dict[str, Timer] = {}
    for runner in runners:

        def build(runner: Runner = runner) -> None:
            timers[runner.name] = runner.make(runner.calls, runner.stream)

        attempt(runner.name, build)
    entered = [runner for runner in runners if runner.name in timers]
    taken = by_turns(list(timers.values()))
    for runner, ours in zip(entered, taken, strict=True):
        row = {"op": runner.operator, "lib": runner.library, "us": round(statistics.median(ours), 2)}
        row |= runner.more | where
        if runner.nbytes:
            row["of_copy"] = round(runner.nbytes / statistics.median(ours) / 1e3 / ceilings["copy_GBs"], 3)
        if runner.flops:
            row["tflops"] = round(runner.flops / statistics.median(ours) / 1e6, 1)
        faster = {
            other.name: round(statistics.median(b / a for a, b in zip(ours, theirs, strict=True)), 3)
            for other, theirs in zip(entered, taken, strict=True)
            if other is not runner
        }
        rows.append(row | {"faster_than": faster})
        say(" ".join(f"{key}={value}" for key, value in row.items()))


def attempt(what: str, body: Callable[[], None]) -> None:
    """Run a peer; a peer that fails is a row with the reason, not a gap."""
    try:
        body()
    except Exception as error:
        torch.cuda.set_stream(torch.cuda.default_stream())
        rows.append({"op": what, "failed": f"{type(error).__name__}: {str(error)[:200]}"})
        say(f"{what} FAILED {type(error).__name__}: {str(error)[:200]}")


@triton.jit
def copy_kernel(source, to, numel, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + at, tl.load(source + at, mask=at < numel), mask=at < numel)


def measure_ceilings() -> None:
    """Also wakes the clocks: the first measurement after an idle spell is slow."""
    source = torch.randn(1 << 28, device=DEVICE, dtype=torch.bfloat16)
    to = torch.empty_like(source)
    grid = (triton.cdiv(source.numel(), 2048),)
    (us,) = by_turns([replays([lambda: copy_kernel[grid](source, to, source.numel(), BLOCK=2048)] * 2)])
    ceilings["copy_GBs"] = 4 * source.numel() / statistics.median(us) / 1e3
    a, b = (torch.randn(8192, 8192, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    for _ in range(300):
        a @ b
    (us,) = by_turns([replays([lambda: a @ b] * 3)])
    ceilings["bf16_mm_TFs"] = 2 * 8192**3 / statistics.median(us) / 1e6
    say(f"ceilings {ceilings}")


def copies(q: QuantTensor) -> list[QuantTensor]:
    """Enough copies of `q` to be beyond the L2 cache."""
    count = max(2, min(64, int(BEYOND_L2 / q.nbytes())))

    def clone(t: torch.Tensor | None) -> torch.Tensor | None:
        return None if t is None else t.clone()

    return [
        replace(q, codes=q.codes.clone(), scales=q.scales.clone(), biases=clone(q.biases), absmax2=clone(q.absmax2))
        for _ in range(count)
    ]


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device=DEVICE, dtype=torch.bfloat16)


# Checks ---------------------------------------------------------------------------------------------------------------


def check(name: str, passed: bool, detail: str = "") -> None:
    rows.append({"check": name, "passed": bool(passed), "detail": detail})
    say(f"check {name}: {'ok' if passed else 'FAILED'} {detail}")


def side_stream_and_replay(name: str, call: Callable[[], torch.Tensor]) -> None:
    """The same result on a side stream with work before it, and in a replay whose output was poisoned."""
    want = call().clone()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        got = call()
    stream.synchronize()
    check(f"{name} on a side stream", torch.equal(got, want))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = call()
    try:
        check_replay([output], [want], graph.replay, rtol=0, atol=0)
        check(f"{name} in a replay, output poisoned", True)
    except runtime.GraphMismatch as error:
        check(f"{name} in a replay, output poisoned", False, str(error)[:200])


FORMATS = (
    "affine2g64", "affine3g64", "affine4g32", "affine4g64", "affine5g64", "affine6g64", "affine8g64", "nf4b64",
    "nf4b4096", "fp4b64", "dynamic8b256", "mxfp4", "nvfp4", "mxfp8",
)  # fmt: skip


def checks() -> None:
    torch.manual_seed(0)
    for name in FORMATS:
        fmt = Format.parse(name)
        x = random(192, 4096)
        nested = fmt.kind in ("nf4", "fp4")
        want = quantize_eager.run(x, fmt)
        got = ops.quantize(x, name)
        same = torch.equal(got.codes.view(-1), want.codes.view(-1)) and torch.equal(got.scales, want.scales)
        check(f"quantize {name} = eager", same)
        q = ops.quantize(x, name, nested=nested)
        exact = all(torch.equal(ops.dequantize(q, t), dequantize_eager.run(q, t)) for t in (torch.float32, x.dtype))
        check(f"dequantize {name} = eager", exact)
        wide = dequantize_eager.run(q, torch.float64)
        for dtype, limit in ((torch.bfloat16, 4e-3), (torch.float16, 4e-3), (torch.float32, 2e-6)):
            for m in (1, 3, 16, 40, 200, 512) if dtype == torch.bfloat16 else (1, 40):
                left = torch.randn(m, 4096, device=DEVICE, dtype=dtype)
                bias = torch.randn(192, device=DEVICE)
                error = relative(ops.quantized_matmul(left, q, bias), left.double() @ wide.T + bias.double())
                if not error < limit:
                    check(f"quantized_matmul {name} {dtype} M={m}", False, f"{error:.1e}")
        check(f"quantized_matmul {name} within 4e-3 (bf16, fp16) and 2e-6 (fp32), where not listed above", True)
    x, q = random(5, 4096), ops.quantize(random(192, 4096), "nf4b64", nested=True)
    many, affine = random(64, 4096), ops.quantize(random(192, 4096), "affine4g64")
    experts = ops.quantize(random(8, 64, 4096), "affine4g64")
    index = torch.arange(5, device=DEVICE) % 8
    weight, ends = random(8, 64, 4096).transpose(1, 2), torch.tensor([1, 2, 9, 9, 30, 41, 64, 64], device=DEVICE)
    heads, turn = random(1, 128, 8, 64), torch.randn(128, 32, device=DEVICE)
    wanted = torch.arange(5, device=DEVICE)
    eight, three = ops.quantize(random(64, 4096), "dynamic8b256"), ops.quantize(random(64, 4096), "affine3g64")
    for label, call in {
        "quantize nf4": lambda: ops.quantize(x, "nf4b64").codes,
        "quantize nf4 nested": lambda: ops.quantize(x, "nf4b64", nested=True).scales,
        "quantize affine": lambda: ops.quantize(x, "affine4g64").codes,
        "dequantize nf4 nested": lambda: ops.dequantize(q),
        "quantized_matmul M=1": lambda: ops.quantized_matmul(x[:1], q),
        "quantized_matmul M=5": lambda: ops.quantized_matmul(x, affine),
        "quantized_matmul M=64": lambda: ops.quantized_matmul(many, affine),
        "gather_qmm": lambda: ops.gather_qmm(x, experts, index),
        "gather_qmm sorted": lambda: ops.gather_qmm(many, experts, torch.arange(64, device=DEVICE) % 8),
        "grouped_mm triton": lambda: ops.grouped_mm(many, weight, ends, tier="triton"),
        "sdpa": lambda: ops.sdpa(heads[:, :7], heads[:, :, :2], heads[:, :, :2], causal=True),
        "rms_norm": lambda: ops.rms_norm(x, x[0]),
        "layer_norm": lambda: ops.layer_norm(x, x[0], x[1]),
        "softmax": lambda: ops.softmax(x),
        "swiglu": lambda: ops.swiglu(x, x),
        "rope": lambda: ops.rope(heads, heads, turn.cos(), turn.sin())[0],
        "cross_entropy": lambda: ops.cross_entropy(x, wanted),
        "dequantize dynamic8": lambda: ops.dequantize(eight),
        "dequantize affine 3-bit": lambda: ops.dequantize(three),
        "quantized_matmul M=128": lambda: ops.quantized_matmul(many.repeat(2, 1), q),
    }.items():
        attempt(label, lambda label=label, call=call: side_stream_and_replay(label, call))
    strided = random(4096, 5).t()
    check("strided x", torch.equal(ops.quantized_matmul(strided, q), ops.quantized_matmul(strided.contiguous(), q)))
    check("empty x", ops.quantized_matmul(random(0, 4096), q).shape == (0, 192))
    odd = ops.quantize(random(37, 100), "nf4b64")
    dense = ops.dequantize(odd, torch.float64)
    left = random(3, 100)
    check("K = 100 (rows share blocks)", relative(ops.quantized_matmul(left, odd), left.double() @ dense.T) < 4e-3)
    odd = ops.quantize(random(37, 96), "affine4g32")
    left = random(3, 96)
    want = left.double() @ ops.dequantize(odd, torch.float64).T
    check("N = 37, K = 96", relative(ops.quantized_matmul(left, odd), want) < 4e-3)
    gate, up = random(64, 256).requires_grad_(), random(64, 256).requires_grad_()
    before = (gate.detach().clone(), up.detach().clone())
    ops.swiglu(gate, up).sum().backward()
    check("swiglu's backward leaves its inputs", torch.equal(gate, before[0]) and torch.equal(up, before[1]))
    compiled_checks()
    uneven = random(64, 72)
    got = ops.grouped_mm(uneven, random(8, 40, 72).transpose(1, 2), ends)
    check("grouped_mm of uneven groups is finite", bool(torch.isfinite(got).all()))


def compiled_checks() -> None:
    """torch.compile with Inductor, one graph, forward and backward."""
    from rocport.ops.modules import Linear4bit, QuantizedLinear

    dense = torch.nn.Linear(512, 256, device=DEVICE, dtype=torch.bfloat16)
    for name, layer in {
        "Linear4bit": Linear4bit.from_linear(dense),
        "QuantizedLinear": QuantizedLinear.from_linear(dense),
    }.items():

        def body(name=name, layer=layer) -> None:
            torch._dynamo.reset()
            compiled = torch.compile(layer, fullgraph=True)
            x = random(40, 512).requires_grad_()
            got, want = compiled(x), layer(x)
            pair = (torch.autograd.grad(got.sum(), x)[0], torch.autograd.grad(want.sum(), x)[0])
            check(f"torch.compile (Inductor) {name}", relative(got, want) < 4e-3 and relative(*pair) < 4e-3)

        attempt(f"torch.compile {name}", body)


def past_2_to_31() -> None:
    """2^31 + 2^20 elements: the last rows are right."""
    n, k = (1 << 19) + 256, 4096
    x = torch.randn(n, k, device=DEVICE, dtype=torch.bfloat16)
    w = random(k)
    for label, call in {
        "rms_norm": lambda t: ops.rms_norm(t, w),
        "layer_norm": lambda t: ops.layer_norm(t, w, w),
        "softmax": ops.softmax,
        "swiglu": lambda t: ops.swiglu(t, t),
    }.items():
        check(f"{label} past 2^31 elements", torch.equal(call(x)[-256:], call(x[-256:].clone())))
    for name in ("nf4b64", "affine4g64", "dynamic8b256", "affine3g64"):
        q = ops.quantize(x, name)
        tail = ops.quantize(x[-256:].contiguous(), name)
        count = tail.codes.numel()
        check(f"quantize {name} past 2^31 elements", torch.equal(q.codes.view(-1)[-count:], tail.codes.view(-1)))
        dense = ops.dequantize(q)
        check(f"dequantize {name} past 2^31 elements", torch.equal(dense[-256:], ops.dequantize(tail)))
        del dense
        if name in ("nf4b64", "affine4g64"):
            for m in (1, 16):
                left = random(m, k)
                out = ops.quantized_matmul(left, q)[:, -256:]
                want = left.double() @ ops.dequantize(tail, torch.float64).T
                error = relative(out, want)
                check(f"quantized_matmul {name} M={m} past 2^31 elements", error < 4e-3, f"{error:.1e}")


def elementwise_checks() -> None:
    """Every served norm, activation and attention, forward and backward, against the eager tier."""
    x, w, b = random(64, 1024), random(1024), random(1024)
    target = torch.randint(0, 1024, (64,), device=DEVICE)
    q, k = random(2, 33, 8, 64), random(2, 33, 2, 64)
    angle = torch.randn(33, 32, device=DEVICE)

    def both_turned(a: torch.Tensor, c: torch.Tensor, tier: str) -> torch.Tensor:
        return torch.cat([t.flatten() for t in ops.rope(a, c, angle.cos(), angle.sin(), tier=tier)])

    functions: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
        "rms_norm": (ops.rms_norm, (x, w)),
        "layer_norm": (ops.layer_norm, (x, w, b)),
        "swiglu": (ops.swiglu, (x, x.flip(0))),
        "softmax": (ops.softmax, (x,)),
        "cross_entropy": (lambda y, tier: ops.cross_entropy(y, target, tier=tier), (x,)),
        "rope": (both_turned, (q, k)),
        "sdpa": (lambda a, c, tier: ops.sdpa(a, c, c.flip(0), causal=True, tier=tier), (q, k)),
        "sdpa window": (lambda a, c, tier: ops.sdpa(a, c, c.flip(0), window=(5, 0), tier=tier), (q, k)),
    }  # fmt: skip
    for name, (function, inputs) in functions.items():
        operator = ops.operator(name.split()[0])
        for tier in [t.name for t in operator.tiers() if t.name != "eager"]:

            def body(function=function, inputs=inputs, tier=tier, name=name) -> None:
                errors = []
                results = []
                for which in (tier, "eager"):
                    leaves = [t.detach().clone().requires_grad_() for t in inputs]
                    out = function(*leaves, tier=which)
                    torch.manual_seed(1)
                    grads = torch.autograd.grad(out, leaves, torch.randn(out.shape, device=DEVICE).to(out.dtype))
                    results.append((out, *grads))
                errors = [relative(a, b) for a, b in zip(*results, strict=True)]
                limit = 5e-3 if name.startswith("sdpa") else 4e-3
                met = errors[0] < limit and all(error < 1e-2 for error in errors)
                check(f"{name} {tier} = eager", met, " ".join(f"{e:.1e}" for e in errors))

            try:
                body()
            except ops.TierRefused as refusal:
                say(f"{name} {tier}: {refusal}")
            except Exception as error:
                check(f"{name} {tier} = eager", False, f"{type(error).__name__}: {str(error)[:160]}")


# Timings --------------------------------------------------------------------------------------------------------------


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def bench_quantize() -> None:
    n = k = 8192
    dense = [random(n, k) for _ in range(3)]
    for name in (
        "nf4b64",
        "nf4b128",
        "fp4b64",
        "dynamic8b256",
        "dynamic8b4096",
        "affine4g64",
        "affine8g64",
        "affine3g64",
        "mxfp4",
        "nvfp4",
        "mxfp8",
    ):
        packed = [ops.quantize(x, name) for x in dense]
        moved = packed[0].nbytes() + 2 * n * k
        encode = [lambda x=x, name=name: ops.quantize(x, name) for x in dense]
        race(Runner(f"quantize {name}", "rocport", encode, moved))
        unpack = Runner(f"dequantize {name}", "rocport", [lambda q=q: ops.dequantize(q) for q in packed], moved)
        kind = packed[0].format.kind
        if not has("bitsandbytes") or kind not in ("nf4", "fp4", "dynamic8"):
            race(unpack)
            continue
        import bitsandbytes.functional as bnb

        group = packed[0].format.group
        if kind == "dynamic8":
            theirs = [bnb.quantize_blockwise(x, blocksize=group) for x in dense]
            pack = [lambda x=x, group=group: bnb.quantize_blockwise(x, blocksize=group) for x in dense]
            decode = [lambda t=t: bnb.dequantize_blockwise(*t) for t in theirs]
        else:
            theirs = [bnb.quantize_4bit(x, blocksize=group, quant_type=kind) for x in dense]
            pack = [
                lambda x=x, group=group, kind=kind: bnb.quantize_4bit(x, blocksize=group, quant_type=kind)
                for x in dense
            ]
            decode = [lambda t=t: bnb.dequantize_4bit(*t) for t in theirs]
        same = (theirs[0][0].view(-1) != packed[0].codes.view(-1)).float().mean().item()
        race(
            Runner(f"quantize {name}", "rocport (eager)", encode, moved, make=one_by_one),
            Runner(
                f"quantize {name}", "bitsandbytes (eager)", pack, moved, more={"codes_differ": same}, make=one_by_one
            ),
        )
        race(unpack, Runner(f"dequantize {name}", "bitsandbytes", decode, moved))


def tinygemm(q: QuantTensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """torch's int4 kernel on codes and scales of the same sizes: timing only, its zero point differs."""
    n, k = q.shape
    packed = torch._convert_weight_to_int4pack(torch.randint(0, 255, (n, k // 2), dtype=torch.uint8, device=DEVICE), 8)
    scales = torch.rand(k // 64, n, 2, dtype=torch.bfloat16, device=DEVICE)
    return lambda x: torch._weight_int4pack_mm(x, packed, 64, scales)


ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 255, 512, 4096)


def bench_matmul() -> None:
    for n, k in SHAPES:
        w = random(n, k)
        weights = {name: copies(ops.quantize(w, name)) for name in ("nf4b64", "affine4g64")}
        nested = copies(ops.quantize(w, "nf4b64", nested=True))
        dense = [w] + [w.clone() for _ in range(max(1, int(BEYOND_L2 / (2 * n * k))))]
        four = {}
        if has("bitsandbytes"):
            import bitsandbytes as bnb
            import bitsandbytes.functional as functional

            first = functional.quantize_4bit(w, blocksize=64, quant_type="nf4")
            four["bitsandbytes"] = [(first[0].clone(), first[1]) for _ in weights["nf4b64"]]
        reference = {name: dequantize_eager.run(qs[0], torch.float32) for name, qs in weights.items()}
        small = (n, k) == (14336, 4096)
        for m in ROWS:
            if (m in (2, 4, 255) or m > 512) and not small and m != 4096:
                continue
            x = random(m, k)
            flops, beside = 2 * m * n * k, 2 * m * (n + k)
            runners = []
            for name, qs in weights.items():
                error = relative(ops.quantized_matmul(x, qs[0]), x.float() @ reference[name].T)
                calls = [lambda q=q, x=x: ops.quantized_matmul(x, q) for q in qs]
                moved = qs[0].nbytes() + beside
                runners.append(Runner(f"matmul {name}", "rocport", calls, moved, flops, {"error": f"{error:.1e}"}))
            if m in (1, 8):
                calls = [lambda q=q, x=x: ops.quantized_matmul(x, q) for q in nested]
                runners.append(Runner("matmul nf4b64 nested", "rocport", calls, nested[0].nbytes() + beside, flops))
            calls = [lambda d=d, x=x: torch.nn.functional.linear(x, d) for d in dense]
            runners.append(Runner("matmul bf16", "torch", calls, 2 * n * k + beside, flops))
            if four:
                calls = [lambda t=t, x=x: bnb.matmul_4bit(x, t[0].t(), t[1]) for t in four["bitsandbytes"]]
                moved = weights["nf4b64"][0].nbytes() + beside
                runners.append(Runner("matmul nf4b64", "bitsandbytes", calls, moved, flops))
            if m <= 16:
                qs = weights["affine4g64"]
                calls = [lambda f=f, x=x: f(x) for f in map(tinygemm, qs[:16])]
                runners.append(Runner("matmul affine4g64", "tinygemm", calls, qs[0].nbytes() + beside, flops))
            race(*runners, M=m, N=n, K=k)


def bench_gemlite() -> None:
    if not has("gemlite"):
        return
    from gemlite.helper import A16Wn

    n, k = 14336, 4096
    codes = torch.randint(0, 16, (n, k), dtype=torch.uint8, device=DEVICE)
    scales = torch.rand(n * k // 64, 1, dtype=torch.bfloat16, device=DEVICE) * 0.01
    zeros = torch.full_like(scales, 8)
    helper = A16Wn(device="cuda:0", dtype=torch.bfloat16)
    layers = [helper.from_weights(codes.clone(), scales.clone(), zeros.clone(), 4, 64) for _ in range(12)]
    for m in (1, 8, 64):
        x = random(m, k)
        layers[0](x)
        calls = [lambda layer=layer, x=x: layer(x) for layer in layers]
        moved = n * k // 2 + n * k // 64 * 4 + 2 * m * (n + k)
        race(Runner("matmul affine4g64", "gemlite", calls, moved, 2 * m * n * k), M=m, N=n, K=k)


def bench_experts() -> None:
    for model, experts, n, k, top in (("qwen3-30b-a3b", 128, 768, 2048, 8), ("mixtral-8x7b", 8, 14336, 4096, 2)):
        w = random(experts, n, k) * 0.02
        q = ops.quantize(w, "affine4g64")
        nf4 = ops.quantize(w, "nf4b64")
        wide = w.transpose(1, 2)
        for tokens in (1, 8, 32, 128, 4096):
            count = 12 if tokens < 32 else 4
            xs = [random(tokens * top, k) for _ in range(count)]
            picks = [
                torch.cat([torch.randperm(experts, device=DEVICE)[:top] for _ in range(min(tokens, 256))])
                .repeat(max(1, tokens // 256))
                .contiguous()
                for _ in range(count)
            ]
            pairs = list(zip(xs, picks, strict=True))
            ends = []
            for x, pick in pairs:
                order = pick.argsort()
                ends.append((x[order], torch.bincount(pick, minlength=experts).cumsum(0).to(torch.int32)))
            flops = 2 * tokens * top * n * k
            own = [lambda x=x, e=e, q=q: ops.gather_qmm(x, q, e) for x, e in pairs]
            runners = [Runner("gather_qmm affine4g64", "rocport", own, 0, flops)]
            if tokens <= 32:
                own = [lambda x=x, e=e, q=nf4: ops.gather_qmm(x, q, e) for x, e in pairs]
                runners.append(Runner("gather_qmm nf4b64", "rocport", own, 0, flops))
            theirs = [lambda x=x, e=e, wide=wide: torch._grouped_mm(x, wide, offs=e) for x, e in ends]
            own = [lambda x=x, e=e, wide=wide: ops.grouped_mm(x, wide, e, tier="triton") for x, e in ends]
            runners.append(Runner("grouped_mm bf16 (sorted)", "torch", theirs, 0, flops))
            runners.append(Runner("grouped_mm bf16 (sorted)", "rocport triton", own, 0, flops))
            x, end = ends[0]
            bounds = [0, *end.tolist()]

            def loop(x=x, bounds=bounds, wide=wide, experts=experts) -> None:
                for e in range(experts):
                    if bounds[e + 1] > bounds[e]:
                        x[bounds[e] : bounds[e + 1]] @ wide[e]

            runners.append(Runner("grouped_mm bf16 (sorted)", "loop (eager)", [loop], 0, flops, make=one_by_one))
            runners.append(Runner("grouped_mm bf16 (sorted)", "loop (graph)", [loop], 0, flops))
            race(*runners, model=model, T=tokens, E=experts)


ATTENTION = (
    (1, 32, 8, 8192, 8192, 128), (1, 32, 8, 4096, 4096, 64), (1, 16, 4, 4096, 4096, 256), (8, 32, 8, 1, 8192, 128),
    (2, 32, 8, 512, 4096, 128),
)  # fmt: skip
"""B, H, Hkv, Sq, Sk, D."""


def bench_attention() -> None:
    for b, h, kv, sq, sk, d in ATTENTION:
        q, k, v = random(b, sq, h, d), random(b, sk, kv, d), random(b, sk, kv, d)
        runners = [Runner("sdpa", "rocport", [partial(ops.sdpa, q, k, v, causal=True)] * 3)]
        if sq in (1, sk):
            heads = [t.transpose(1, 2) for t in (q, k, v)]
            call = partial(torch.nn.functional.scaled_dot_product_attention, *heads, is_causal=sq > 1, enable_gqa=True)
            runners.append(Runner("sdpa", "torch", [call] * 3))
        race(*runners, shape=f"B{b} H{h}/{kv} Sq{sq} Sk{sk} D{d} causal")


def bench_elementwise() -> None:
    x, w, bias = random(16384, 4096), random(4096), random(4096)
    big = random(8192, 8192)
    gate, up = random(8192, 14336), random(8192, 14336)
    q, k = random(1, 8192, 32, 128), random(1, 8192, 8, 128)
    angle = torch.randn(8192, 64, device=DEVICE)
    cos, sin = angle.cos().to(q.dtype), angle.sin().to(q.dtype)
    logits, target = random(4096, 32000), torch.randint(0, 32000, (4096,), device=DEVICE)
    cases: dict[str, tuple[Callable[[str], Any], int]] = {
        "rms_norm": (lambda t: ops.rms_norm(x, w, tier=t), 4 * x.numel()),
        "layer_norm": (lambda t: ops.layer_norm(x, w, bias, tier=t), 4 * x.numel()),
        "softmax": (lambda t: ops.softmax(big, tier=t), 4 * big.numel()),
        "swiglu": (lambda t: ops.swiglu(gate, up, tier=t), 6 * gate.numel()),
        "rope": (lambda t: ops.rope(q, k, cos, sin, tier=t), 4 * (q.numel() + k.numel())),
        "cross_entropy": (lambda t: ops.cross_entropy(logits, target, tier=t), 2 * logits.numel()),
    }
    for name, (call, moved) in cases.items():
        tiers = [t.name for t in ops.operator(name).tiers() if t.name != "eager"]
        race(*(Runner(f"{name} forward", tier, [partial(call, tier)] * 3, moved) for tier in tiers))
    backward: dict[str, tuple[tuple[torch.Tensor, ...], Callable[..., torch.Tensor], int]] = {
        "rms_norm": ((x, w), lambda a, c, t: ops.rms_norm(a, c, tier=t), 6 * x.numel()),
        "layer_norm": ((x, w, bias), lambda a, c, e, t: ops.layer_norm(a, c, e, tier=t), 6 * x.numel()),
        "softmax": ((big,), lambda a, t: ops.softmax(a, tier=t), 6 * big.numel()),
        "swiglu": ((gate, up), lambda a, c, t: ops.swiglu(a, c, tier=t), 10 * gate.numel()),
        "cross_entropy": ((logits,), lambda a, t: ops.cross_entropy(a, target, tier=t), 4 * logits.numel()),
    }
    for name, (inputs, function, moved) in backward.items():
        runners = []
        for tier in [t.name for t in ops.operator(name).tiers() if t.name != "eager"]:

            def both(name=name, inputs=inputs, function=function, tier=tier, moved=moved, runners=runners) -> None:
                stream = torch.cuda.Stream()
                stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(stream):
                    leaves = [t.detach().clone().requires_grad_() for t in inputs]
                    out = function(*leaves, tier)
                    grad = torch.randn_like(out)
                call = partial(torch.autograd.grad, out, leaves, grad, retain_graph=True)
                runners.append(Runner(f"{name} backward", tier, [call] * 2, moved, stream=stream))

            attempt(f"{name} backward by {tier}", both)
        race(*runners)


def bench_optimizer() -> None:
    from rocport.ops.adamw8bit import Hyper, State
    from rocport.ops.tables import table

    n = 1 << 26
    p, grad = torch.randn(n, device=DEVICE), torch.randn(n, device=DEVICE)
    signed = table("dynamic8", DEVICE)
    codes = torch.full((n,), 127, dtype=torch.uint8, device=DEVICE)
    absmax = torch.zeros(n // 256, device=DEVICE)
    state = State(codes, codes.clone(), absmax, absmax.clone(), signed, signed.abs().sort().values.contiguous())
    before = p.clone()
    ops.adamw8bit(p, grad, state, Hyper(3, 1e-3))
    check("adamw8bit moves every parameter", bool((p != before).float().mean() > 0.99))
    own = [lambda: ops.adamw8bit(p, grad, state, Hyper(3, 1e-3))]
    runners = [Runner("adamw8bit", "rocport", own, 16 * n, make=one_by_one)]
    if has("bitsandbytes"):
        import bitsandbytes as bnb

        leaf = torch.nn.Parameter(torch.randn(n, device=DEVICE))
        leaf.grad = grad
        optimizer = bnb.optim.AdamW8bit([leaf])

        def step() -> None:
            bnb.functional.optimizer_update_8bit_blockwise(
                "adam", grad, leaf.data, codes, state.v, 0.9, 0.999, 0.0, 0.0, 1e-8, 3, 1e-3, signed, state.map_v,
                absmax, state.absmax_v,
            )  # fmt: skip

        runners.append(Runner("adamw8bit", "bitsandbytes (eager)", [step], 16 * n, make=one_by_one))
        runners.append(Runner("adamw8bit step()", "bitsandbytes (eager)", [optimizer.step], 16 * n, make=one_by_one))
    race(*runners)


# The table ------------------------------------------------------------------------------------------------------------


def find(operator: str, library: str, **where: Any) -> dict[str, Any] | None:
    for row in rows:
        if row.get("op") == operator and row.get("lib") == library and where.items() <= row.items():
            return row
    return None


def ratio(operator: str, library: str, against: str, **where: Any) -> float | None:
    """How many times faster `library` is than `against`, an operator by a library."""
    ours = find(operator, library, **where)
    found: float | None = ours["faster_than"].get(against) if ours else None
    return found


LOOKUP = ("nf4b64", "nf4b128", "fp4b64", "dynamic8b256")
MICROSCALING = ("mxfp4", "nvfp4", "mxfp8")


def table_lines() -> list[str]:
    lines: list[tuple[str, str, float | None, float]] = []

    def of_copy(label: str, operator: str, target: float, library: str = "rocport", **where: Any) -> None:
        row = find(operator, library, **where)
        lines.append((label, f"of copy bandwidth >= {target}", row["of_copy"] if row else None, target))

    def times(label: str, operator: str, against: str, target: float, ours: str = "rocport", **where: Any) -> None:
        found = ratio(operator, ours, f"{operator} by {against}", **where)
        lines.append((label, f"{against} >= {target}x", found, target))

    for name in [*LOOKUP, "affine4g64", "affine8g64", "affine3g64", *MICROSCALING]:
        of_copy(f"dequantize {name}", f"dequantize {name}", 0.85)
    for name in LOOKUP:
        times(f"dequantize {name}", f"dequantize {name}", "bitsandbytes", 1.6)
    for name in [*LOOKUP, "affine4g64", "affine3g64", *MICROSCALING]:
        of_copy(f"quantize {name}", f"quantize {name}", 0.25)
    for name, target in (
        ("nf4b64", 2.0),
        ("nf4b128", 2.0),
        ("fp4b64", 2.0),
        ("dynamic8b256", 1.2),
        ("dynamic8b4096", 1.2),
    ):
        times(f"quantize {name}", f"quantize {name}", "bitsandbytes (eager)", target, ours="rocport (eager)")
    for n, k in SHAPES:
        where: dict[str, Any] = {"N": n, "K": k}
        for name in ("affine4g64", "nf4b64"):
            of_copy(f"matmul {name} M=1 N={n} K={k}", f"matmul {name}", 0.40, M=1, **where)
        times(f"matmul nf4b64 M=1 N={n} K={k}", "matmul nf4b64", "bitsandbytes", 1.0, M=1, **where)
        times(f"matmul affine4g64 M=1 N={n} K={k}", "matmul affine4g64", "tinygemm", 1.0, M=1, **where)
        for m in (8, 16):
            times(f"matmul nf4b64 M={m} N={n} K={k}", "matmul nf4b64", "bitsandbytes", 1.8, M=m, **where)
        for m in (32, 64, 128, 255):
            if find("matmul nf4b64", "rocport", M=m, **where):
                times(f"matmul nf4b64 M={m} N={n} K={k}", "matmul nf4b64", "bitsandbytes", 1.5, M=m, **where)
        for m, target in ((512, 0.70), (4096, 0.95)):
            found = ratio("matmul nf4b64", "rocport", "matmul bf16 by torch", M=m, **where)
            lines.append((f"matmul nf4b64 M={m} N={n} K={k}", f"of torch bf16 >= {target}", found, target))
    one_token = {"model": "qwen3-30b-a3b", "T": 1}
    found = ratio("gather_qmm affine4g64", "rocport", "grouped_mm bf16 (sorted) by torch", **one_token)
    lines.append(("gather_qmm E=128 top 8, one token", "grouped bf16 >= 2x", found, 2.0))
    for tokens in (8, 128, 4096):
        where = {"model": "qwen3-30b-a3b", "T": tokens}
        times(
            f"grouped_mm E=128 T={tokens} torch", "grouped_mm bf16 (sorted)", "loop (eager)", 5.0, ours="torch", **where
        )
        times(
            f"grouped_mm E=128 T={tokens} triton",
            "grouped_mm bf16 (sorted)",
            "loop (eager)",
            5.0,
            ours="rocport triton",
            **where,
        )
    for row in [r for r in rows if r.get("op") == "sdpa" and r.get("lib") == "torch"]:
        times(f"sdpa {row['shape']}", "sdpa", "torch", 0.95, shape=row["shape"])
    for name in ("rms_norm", "layer_norm", "softmax", "swiglu", "rope", "cross_entropy"):
        of_copy(f"{name} forward", f"{name} forward", 0.88, library="triton")
    for name in ("rms_norm", "layer_norm", "softmax", "swiglu", "cross_entropy"):
        of_copy(f"{name} backward", f"{name} backward", 0.88, library="triton")
    for name in ("rms_norm", "layer_norm", "softmax", "swiglu", "rope", "cross_entropy"):
        for way in ("forward", "backward"):
            peers = [row for row in rows if row.get("op") == f"{name} {way}" and row.get("lib") != "triton"]
            if best := min((row for row in peers if "us" in row), key=lambda row: row["us"], default=None):
                times(f"{name} {way}", f"{name} {way}", best["lib"], 1.0, ours="triton")
    times("adamw8bit", "adamw8bit", "bitsandbytes (eager)", 0.95)
    width = max(len(line[0]) for line in lines)
    text = [f"{'case':<{width}}  {'target':<34} {'measured':>9}"]
    for label, goal, value, target in lines:
        shown = "-" if value is None else f"{value:.2f}"
        mark = "" if value is None or value >= target else "  below"
        text.append(f"{label:<{width}}  {goal:<34} {shown:>9}{mark}")
    failed = [row for row in rows if row.get("check") and not row["passed"]]
    passed = sum(1 for row in rows if row.get("passed"))
    text.append(
        f"checks: {passed} passed, {len(failed)} failed"
        + "".join(f"\n  {row['check']} {row['detail']}" for row in failed)
    )
    return text


SECTIONS = {
    "checks": checks,
    "elementwise_checks": elementwise_checks,
    "past_2_to_31": past_2_to_31,
    "quantize": bench_quantize,
    "matmul": bench_matmul,
    "experts": bench_experts,
    "attention": bench_attention,
    "elementwise": bench_elementwise,
    "optimizer": bench_optimizer,
    "gemlite": bench_gemlite,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write every row as JSON")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("benchmarks/ops.py needs a CUDA or ROCm GPU; there is none here", file=sys.stderr)
        return 2
    measure_ceilings()
    for name in arguments.only:
        attempt(name, SECTIONS[name])
        torch.cuda.empty_cache()
        if arguments.out:
            versions = {p: __import__(p).__version__ for p in ("torch", "triton", "bitsandbytes") if has(p)}
            meta = {"device": torch.cuda.get_device_name(), "ceilings": ceilings, **versions}
            partial = arguments.out.with_suffix(".partial")
            partial.write_text(json.dumps({"meta": meta, "rows": rows}, indent=1))
            os.replace(partial, arguments.out)
    print("\n".join(table_lines()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
