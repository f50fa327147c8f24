"""Defects planted in a small transformer, one line each: is the first diverging call named, is clean code left alone?

Each plant is one replacement in examples/transformer/train.py. It is run under capture and compared with a golden file
of the unchanged code: one recorded on this machine (every bit should agree), or one recorded elsewhere with --golden.
A plant counts as named when the line blamed is the line changed (or the line that is said to feel it first).

    python benchmarks/verify_modules.py
    python benchmarks/verify_modules.py --golden examples/transformer/h200-bfloat16.golden --dtype bfloat16
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from rocport.numerics.comparison import Comparison, compare, measure_noise
from rocport.numerics.config import CaptureConfig
from rocport.numerics.golden import Golden, open_golden
from rocport.numerics.recorder import capture

SCRIPT = Path(__file__).resolve().parent.parent / "examples" / "transformer" / "train.py"
STEPS = 2


@dataclass(frozen=True)
class Plant:
    """Replace `old` by `new`. `felt`: text of the line to be blamed, where it is not the line changed."""

    name: str
    old: str
    new: str
    felt: str = ""
    dtype: str = "float32"
    scope: str = ""
    """The module to be blamed, where the line changed leaves it out."""


PLANTS = (
    Plant("eps outside the root", "torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)",
          "1 / (wide.pow(2).mean(-1, keepdim=True).sqrt() + self.eps)"),
    Plant("another eps", "eps: float = 1e-5", "eps: float = 1e-6", "torch.rsqrt("),
    Plant("mean over the wrong dimension", "mean(-1, keepdim=True)", "mean(-2, keepdim=True)"),
    Plant("layer norm for RMS norm", "wide = x.float()\n", "wide = x.float() - x.float().mean(-1, keepdim=True)\n"),
    Plant("norm weight missing", "(wide * scale).to(x.dtype) * self.weight", "(wide * scale).to(x.dtype) * 1.5"),
    Plant("norm weight before the cast", "(wide * scale).to(x.dtype) * self.weight",
          "(wide * scale * self.weight).to(x.dtype)", dtype="bfloat16"),
    Plant("bf16 truncated instead of rounded", "(wide * scale).to(x.dtype) * self.weight",
          "(wide * scale).view(torch.int32).bitwise_and(-65536).view(torch.float32).to(x.dtype) * self.weight",
          dtype="bfloat16"),
    Plant("keys rotated one position on", "rotate(k, cos, sin)", "rotate(k, cos.roll(1, 0), sin.roll(1, 0))"),
    Plant("rope base", "10000.0 **", "1000.0 **"),
    Plant("rope sign", "first * cos - second * sin", "first * cos + second * sin"),
    Plant("rope interleaved", "first, second = x.chunk(2, dim=-1)", "first, second = x[..., 0::2], x[..., 1::2]"),
    Plant("rope halves swapped", "(first * cos - second * sin, second * cos + first * sin)",
          "(second * cos + first * sin, first * cos - second * sin)"),
    Plant("keys not rotated", "rotate(q, cos, sin), rotate(k, cos, sin)", "rotate(q, cos, sin), k"),
    Plant("key heads tiled, not repeated", "k = k.repeat_interleave(HEADS // KV_HEADS, dim=1)",
          "k = k.repeat(1, HEADS // KV_HEADS, 1, 1)"),
    Plant("value heads tiled, not repeated", "v = v.repeat_interleave(HEADS // KV_HEADS, dim=1)",
          "v = v.repeat(1, HEADS // KV_HEADS, 1, 1)"),
    Plant("scale missing", "k.transpose(-2, -1)) / math.sqrt(self.size)", "k.transpose(-2, -1))"),
    Plant("scale without the root", "/ math.sqrt(self.size)", "/ self.size"),
    Plant("mask dropped", 'scores = scores.masked_fill(mask, float("-inf"))', "scores = scores"),
    Plant("mask one column on", "triu(1)", "triu(2)"),
    Plant("mask writes zeros", 'float("-inf")', "0.0"),
    Plant("softmax over queries", "torch.softmax(scores.float(), dim=-1)", "torch.softmax(scores.float(), dim=-2)"),
    Plant("softmax in bf16", "torch.softmax(scores.float(), dim=-1).to(v.dtype)", "torch.softmax(scores, dim=-1)",
          dtype="bfloat16"),
    Plant("scores in bf16", "torch.matmul(q, k.transpose(-2, -1))",
          "torch.matmul(q.bfloat16(), k.transpose(-2, -1).bfloat16()).float()"),
    Plant("weights rounded to bf16", "torch.matmul(weights, v)", "torch.matmul(weights.bfloat16().float(), v)"),
    Plant("output never written", "torch.matmul(weights, v)", "torch.empty_like(torch.matmul(weights, v))",
          "return self.out(mixed"),
    Plant("last row not written", "torch.matmul(weights, v)",
          "torch.matmul(weights, v).index_fill(2, torch.tensor([length - 1]), 0)"),
    Plant("batch stride ignored", "k = self.k(x).view(batch, length, KV_HEADS, self.size).transpose(1, 2)",
          "k = self.k(x).as_strided((batch, KV_HEADS, length, self.size), (384, 192, 16, 1))"),
    Plant("heads not transposed back", "mixed.transpose(1, 2).reshape(", "mixed.reshape("),
    Plant("output weight transposed", "self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))",
          "mixed.transpose(1, 2).reshape(batch, length, WIDTH) @ self.out.weight"),
    Plant("gate and up swapped", "silu(self.gate(x)) * self.up(x)", "silu(self.up(x)) * self.gate(x)"),
    Plant("gelu for silu", "functional.silu(", "functional.gelu("),
    Plant("stale output", "return self.down(nn.functional.silu(self.gate(x)) * self.up(x))",
          'return self.__dict__.setdefault("kept", self.down(nn.functional.silu(self.gate(x)) * self.up(x)).detach())'),
    Plant("residual missing", "x = x + self.attention(", "x = self.attention("),
    Plant("residual subtracted", "return x + self.feed_forward(", "return x - self.feed_forward("),
    Plant("embedding one token on", "self.embedding(tokens)", "self.embedding((tokens + 1) % VOCABULARY)"),
    Plant("embedding scaled", "x = self.embedding(tokens)", "x = self.embedding(tokens) * math.sqrt(WIDTH)"),
    Plant("final norm dropped", "self.head(self.norm(x))", "self.head(x)", scope="Transformer.norm"),
    Plant("norm detached in the backward", "scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)",
          "scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps).detach()", "(wide * scale)"),
    Plant("loss summed", "batch[:, 1:].reshape(-1))", 'batch[:, 1:].reshape(-1), reduction="sum")'),
    Plant("labels not shifted", "batch[:, 1:].reshape(-1)", "batch[:, :-1].reshape(-1)"),
    Plant("loss in bf16", "logits.float().reshape(", "logits.reshape(", dtype="bfloat16"),
    Plant("gradients not cleared", "optimizer.zero_grad()", "pass", "loss.backward()"),
    Plant("another learning rate", "lr=3e-3", "lr=1e-3", "optimizer.step()"),
)  # fmt: skip


def record(source: str, dtype: str, golden: Path, poison: bool = False) -> Golden:
    """Run the example's training with `source` for its code, under capture. An error of the code is its result."""
    namespace: dict[str, object] = {"__name__": "planted"}
    exec(compile(source, str(SCRIPT), "exec"), namespace)
    train = namespace["train"]
    assert callable(train)
    with contextlib.suppress(Exception), capture(golden, CaptureConfig(poison=poison)):
        train(torch.device("cpu"), getattr(torch, dtype), STEPS)
    return open_golden(golden)


@dataclass(frozen=True)
class Outcome:
    """How one plant was reported."""

    plant: Plant
    named: bool
    caught: bool
    verdict: str
    place: str
    symptoms: tuple[str, ...]


def line_of(source: str, text: str) -> int:
    return source[: source.index(text)].count("\n") + 1


def judge(plant: Plant, source: str, comparison: Comparison) -> Outcome:
    """Whether the call blamed is the one the plant changed."""
    blame = comparison.first or (comparison.first_bits if comparison.exact_expected else None)
    if blame is None:
        return Outcome(plant, False, False, comparison.verdict, "", ())
    wanted = line_of(source, plant.felt or plant.old)
    lines = {int(line) for line in re.findall(r":(\d+) in ", f"{blame.site} {blame.here_site}")}
    if blame.phase == "optimizer":
        lines.add(line_of(source, "optimizer.step()"))
    place = f"{blame.call} in {blame.scope or 'the script'}, {blame.phase}, step {blame.step}"
    named = wanted in lines if not plant.scope else blame.scope == plant.scope
    return Outcome(plant, named, True, blame.verdict, place, tuple(s.name for s in blame.symptoms))


def run(golden: Path | None, dtype: str | None, folder: Path) -> tuple[list[Outcome], list[str]]:
    """Outcomes of all plants, and the false alarms on the unchanged code."""
    source = SCRIPT.read_text(encoding="utf-8")
    references: dict[str, Golden] = {}
    alarms: list[str] = []
    outcomes = []
    for kind in dict.fromkeys([dtype] if dtype else [plant.dtype for plant in PLANTS]):
        if golden is not None:
            references[kind] = open_golden(golden)
            clean = record(source, kind, folder / "clean.golden")
        else:
            references[kind] = record(source, kind, folder / f"{kind}.golden")
            clean = record(source, kind, folder / "clean.golden")
            references[kind].noise, references[kind].noise_measured = measure_noise(references[kind], clean), True
        comparison = compare(references[kind], clean)
        if comparison.failed or (golden is None and comparison.verdict != "equal"):
            alarms.append(f"{kind}: {comparison.verdict} {comparison.first or comparison.first_bits}")
    for plant in PLANTS:
        if plant.dtype not in references:
            if dtype is None or plant.dtype != "float32":
                continue
            plant = replace(plant, dtype=dtype)
        if plant.old not in source:
            raise SystemExit(f"{plant.name}: {plant.old!r} is not in {SCRIPT.name}")
        found = record(source.replace(plant.old, plant.new, 1), plant.dtype, folder / "planted.golden", poison=True)
        outcomes.append(judge(plant, source, compare(references[plant.dtype], found)))
    return outcomes, alarms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path, help="a golden file of another machine; with --dtype")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], help="of the golden file")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    torch.set_num_threads(1)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        outcomes, alarms = run(options.golden, options.dtype, Path(name))
    named, caught = sum(o.named for o in outcomes), sum(o.caught for o in outcomes)
    if options.format == "json":
        rows = [{"plant": o.plant.name, "dtype": o.plant.dtype, "named": o.named, "caught": o.caught,
                 "verdict": o.verdict, "place": o.place, "symptoms": o.symptoms} for o in outcomes]  # fmt: skip
        print(json.dumps({"plants": rows, "false_alarms": alarms}, indent=1))
        return
    for o in outcomes:
        mark = "named " if o.named else "caught" if o.caught else "MISSED"
        print(f"{mark} {o.plant.name:<34} {o.plant.dtype:<9} {o.verdict}: {o.place}  {','.join(o.symptoms)}")
    share, seconds = named / len(outcomes), time.monotonic() - started
    print(f"{named} of {len(outcomes)} named exactly ({share:.0%}), {caught} caught, {seconds:.0f} s")
    print(f"{len(alarms)} false alarms on the unchanged code")
    for alarm in alarms:
        print(f"false alarm: {alarm}")


if __name__ == "__main__":
    main()
