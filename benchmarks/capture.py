"""What capture costs: time of a training step under each mode, over the time without, and memory over the steps.

python benchmarks/capture.py [--device cuda] [--width 512] [--steps 8]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from rocport.numerics.config import CaptureConfig
from rocport.numerics.recorder import capture


def make_step(width: int, layers: int, device: torch.device) -> Callable[[], None]:
    """A training step of an encoder on 4 x 128 tokens: forward, backward, AdamW."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
    model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(4, 128, width, device=device)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        if device.type == "cuda":
            torch.cuda.synchronize()

    return step


def timed(step: Callable[[], None], steps: int, device: torch.device) -> list[float]:
    """Seconds a step: of processor time on the CPU, so that other work on the machine does not count."""
    clock = time.process_time if device.type == "cpu" else time.perf_counter
    seconds = []
    for _ in range(steps):
        started = clock()
        step()
        seconds.append(clock() - started)
    return seconds


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    device = torch.device(options.device)
    step = make_step(options.width, options.layers, device)
    timed(step, 2, device)
    plain = statistics.median(timed(step, options.steps, device))
    rows = []
    modes = {
        "modules only": CaptureConfig(operators=False),
        "statistics": CaptureConfig(),
        "sample 4096": CaptureConfig(mode="sample"),
        "full, 256 MiB": CaptureConfig(mode="full", max_bytes=256 << 20),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, config in modes.items():
            golden = Path(folder) / "a.golden"
            with contextlib.ExitStack() as stack:
                stack.enter_context(capture(golden, config))
                timed(step, 1, device)
                before = resident()
                seconds = timed(step, options.steps, device)
                grown = resident() - before
            rows.append(
                {
                    "mode": name, "seconds": statistics.median(seconds), "ratio": statistics.median(seconds) / plain,
                    "bytes": golden.stat().st_size,
                    "grown": grown,
                }
            )  # fmt: skip
            golden.unlink()
    name = torch.cuda.get_device_name() if device.type == "cuda" else f"{platform.machine()} CPU"
    where = f"{name}, {torch.get_num_threads()} threads, torch {torch.__version__}"
    if options.format == "json":
        print(json.dumps({"machine": where, "plain": plain, "rows": rows}, indent=1))
        return
    print(f"{where}; a step without capture: {plain * 1e3:.1f} ms")
    for row in rows:
        print(
            f"{row['mode']:<14} {row['seconds'] * 1e3:8.1f} ms  {row['ratio']:5.2f}x  "
            f"file {row['bytes'] / 2**20:7.2f} MiB  memory grew by {row['grown'] / 2**20:6.1f} MiB"
        )


if __name__ == "__main__":
    main()
