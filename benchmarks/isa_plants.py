# SPDX-License-Identifier: Apache-2.0
"""Defects that only machine code shows, planted one at a time: does a run on the ISA executor show each?

    python benchmarks/isa_plants.py [--only TEXT ...]

tests/executor/isa/plants.hip is compiled to assembly for gfx942, and for gfx1100 where a plant says so; each plant of
isa_plants.toml changes one instruction or field of a kernel descriptor. A plant is caught where the kernel's result is
wrong, or `Module.examine` names a defect. The right kernels must show nothing. One line a plant. Exit code 1: one is
missed, or a right kernel accused.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rocport.executor.isa import Module, load
from rocport.facts._toml import read_toml
from rocport.toolchain import find

TARGET = "gfx942"
SOURCE = Path(__file__).resolve().parents[1] / "tests" / "executor" / "isa" / "plants.hip"
Arguments = list[Any]


@dataclass(frozen=True)
class Plant:
    kind: str
    kernel: str
    find: str
    put: str
    which: int = 1
    target: str = TARGET

    @property
    def name(self) -> str:
        where = "" if self.target == TARGET else f"{self.target} "
        return f"{self.kind}: {where}{self.kernel}: {self.find} -> {self.put or 'nothing'}" + (
            f" ({self.which})" if self.which > 1 else ""
        )


def plants() -> list[Plant]:
    """The list, in its order."""
    listed = read_toml(Path(__file__).with_suffix(".toml"))["plant"]
    return [
        Plant(p["class"], p["kernel"], p["find"], p["put"], p.get("which", 1), p.get("target", TARGET)) for p in listed
    ]


def assembly(target: str = TARGET) -> str:
    """What clang makes of the right kernels."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "plants.s"
        command = find().compile_command(SOURCE, target, mode="device", output=output, extra=["-S"])
        subprocess.run([word for word in command if word != "-c"], check=True)
        return output.read_text()


def planted(text: str, plant: Plant) -> str:
    """The assembly with one defect. Raises ValueError where there is nothing to change."""
    for start, end in ((rf"^{plant.kernel}:", r"\.Lfunc_end"), (rf"\.amdhsa_kernel {plant.kernel}\b", r"\.end_amdhsa")):
        first = re.search(start, text, re.MULTILINE)
        assert first is not None
        last = text.index(re.search(end, text[first.end() :]).group(), first.end())  # type: ignore[union-attr]
        matches = list(re.finditer(plant.find, text[first.end() : last]))
        if len(matches) >= plant.which:
            match = matches[plant.which - 1]
            at = first.end() + match.start()
            return text[:at] + match.expand(plant.put) + text[first.end() + match.end() :]
    raise ValueError(f"{plant.name}: not in what this compiler makes")


def assembled(text: str, target: str = TARGET) -> Module:
    """The code object, loaded."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "k.s", Path(folder) / "k.co"
        source.write_text(text)
        compiler = str(find().compiler)
        command = [
            compiler,
            "-target",
            "amdgcn-amd-amdhsa",
            f"-mcpu={target}",
            "-nogpulib",
            str(source),
            "-o",
            str(output),
        ]
        subprocess.run([*command, "-x", "none", "-fuse-ld=lld"], check=True, capture_output=True)
        return load(output, target)


def _ints(seed: int, low: int, high: int, count: int) -> Any:
    return np.random.default_rng(seed).integers(low, high, count).astype("i4")


def _divergent() -> tuple[Arguments, Callable[[Arguments], bool]]:
    x, o = _ints(1, -99, 99, 256), _ints(2, -99, 99, 640)
    want = o.copy()
    for i in range(256):
        v = int(x[i])
        v = int(o[i]) + v * 3 if v & 1 else int(o[i + 256]) - v
        for _ in range(i & 7):
            v = v * 5 + int(o[(v & 63) + 512])
        want[i] = (v + 2**31) % 2**32 - 2**31
    return [x, o], lambda a: bool((a[1] == want).all())


def _compact() -> tuple[Arguments, Callable[[Arguments], bool]]:
    x = _ints(3, -99, 99, 64)
    kept = x[x > 0]
    # Two places are taken already; behind the last one nothing may be written.
    want = np.concatenate([np.zeros(2), kept, np.zeros(64 - len(kept))]).astype("i4")
    return [x, np.zeros(66, "i4"), np.full(1, 2, "i4")], lambda a: bool(
        (a[1] == want).all() and a[2][0] == 2 + len(kept)
    )


def _block_sum() -> tuple[Arguments, Callable[[Arguments], bool]]:
    x = _ints(4, -99, 99, 512).astype("f4")
    return [x, np.zeros(2, "f4")], lambda a: bool((a[1] == x.reshape(2, 256).sum(1)).all())


def _stencil() -> tuple[Arguments, Callable[[Arguments], bool]]:
    x, n = _ints(5, 1, 99, 512).astype("f4"), 500
    edge = np.zeros(n + 2, "f4")
    edge[1:-1] = x[:n]
    want = edge[:-2] + 2 * edge[1:-1] + edge[2:]
    return [x, np.zeros(512, "f4"), np.int32(n)], lambda a: bool((a[1][:n] == want).all() and not a[1][n:].any())


def _product() -> tuple[Arguments, Callable[[Arguments], bool]]:
    a, b = (_ints(seed, -9, 9, 1024).astype("f4").reshape(32, 32) for seed in (6, 7))
    return [a, b, np.zeros((32, 32), "f4")], lambda r: bool((r[2] == a @ b).all())


def _small() -> tuple[Arguments, Callable[[Arguments], bool]]:
    rng = np.random.default_rng(8)
    x = rng.integers(1, 1 << 22, 64).astype("u4").view("f4")
    y = np.concatenate([rng.integers(1, 1 << 50, 64).astype("u8").view("f8"), rng.standard_normal(64)])
    z = rng.integers(1, 1 << 9, 64).astype("u2").view("f2")
    want = np.concatenate([x * np.float32(0.25), y[64:].astype("f4")]), y[:64] * 0.25, z * np.float16(0.5)
    out = [np.zeros(128, "f4"), np.zeros(64, "f8"), np.zeros(64, "f2")]
    return [x, y, z, *out], lambda a: all(
        bool((g.view("u1") == w.view("u1")).all()) for g, w in zip(a[3:], want, strict=True)
    )


def _wide() -> tuple[Arguments, Callable[[Arguments], bool]]:
    x = np.random.default_rng(9).integers(0, 1 << 63, 192).astype("u8")
    with np.errstate(over="ignore"):
        v = x[0:192:3] + x[:64] * np.uint64(0x100000001B3)
        want = v - (v >> np.uint64(33)) * np.uint64(7)
    return [x, np.zeros(64, "u8"), np.int64(3)], lambda a: bool((a[1] == want).all())


def _in_scratch() -> tuple[Arguments, Callable[[Arguments], bool]]:
    order = np.random.default_rng(10).permutation(32).astype("i4")
    want = np.zeros(64, "i4")
    for t in range(64):
        s = 0
        for k in range(32):
            s = s * 31 + int(order[(k + t) & 31]) * 7 + t
        want[t] = (s + 2**31) % 2**32 - 2**31
    return [order, np.zeros(64, "i4")], lambda a: bool((a[1] == want).all())


def _histogram() -> tuple[Arguments, Callable[[Arguments], bool]]:
    x = np.random.default_rng(11).integers(0, 1 << 32, 512).astype("u4")
    want = np.bincount(x & 63, minlength=64)
    return [x, np.zeros(64, "u4")], lambda a: bool((a[1] == want).all())


def _scan() -> tuple[Arguments, Callable[[Arguments], bool]]:
    x = _ints(12, -999, 999, 64)
    sums = x.reshape(4, 16).cumsum(1).astype("i4")
    before = np.repeat(np.concatenate([[0], sums[:-1, 15]]), 16)
    want = np.concatenate([sums.reshape(-1), before, np.full(64, sums[3, 15] + sums[0, 0])]).astype("i4")
    return [x, np.zeros(192, "i4")], lambda a: bool((a[1] == want).all())


def _pairs() -> tuple[Arguments, Callable[[Arguments], bool]]:
    rng = np.random.default_rng(13)
    x, y = (rng.integers(-8, 9, shape).astype("f2") / 4 for shape in ((128, 2), (64, 2)))
    first = x[:64] * -y[:, ::-1] + x[64:]
    second = np.clip(x[:64, 0].astype("f4") * y[:, 1] + x[:64, 1], 0, 1)
    return [x, y, np.zeros((64, 2), "f2"), np.zeros(64, "f4")], lambda a: bool(
        (a[2] == first).all() and (a[3] == second).all()
    )


def _carries() -> tuple[Arguments, Callable[[Arguments], bool]]:
    rng = np.random.default_rng(14)
    x, y = rng.integers(0, 1 << 63, 192).astype("u8"), rng.integers(0, 1 << 32, 128).astype("u4")
    # Quotients of every size.
    y[64:] >>= rng.integers(0, 32, 64).astype("u4")
    with np.errstate(over="ignore"):
        sums = x[:64] + x[64:128] - (x[128:] << np.arange(64, dtype="u8"))
    return [x, y, np.zeros(64, "u8"), np.zeros(64, "u4")], lambda a: bool(
        (a[2] == sums).all() and (a[3] == y[:64] // (y[64:] | 1)).all()
    )


CASES: dict[str, tuple[int, int, Callable[[], tuple[Arguments, Callable[[Arguments], bool]]]]] = {
    "divergent": (1, 256, _divergent),
    "compact": (1, 64, _compact),
    "block_sum": (2, 256, _block_sum),
    "stencil": (2, 256, _stencil),
    "product": (1, 64, _product),
    "small": (1, 64, _small),
    "wide": (1, 64, _wide),
    "in_scratch": (1, 64, _in_scratch),
    "histogram": (2, 256, _histogram),
    "scan": (1, 64, _scan),
    "pairs": (1, 64, _pairs),
    "carries": (1, 64, _carries),
}
"""Kernel -> workgroups, work-items, and its arguments with the check of them."""


def seen(module: Module, kernel: str) -> list[str]:
    """What a run shows: `wrong result`, and the kinds of examine's findings."""
    grid, block, make = CASES[kernel]
    arguments, right = make()
    kinds = sorted({finding.kind for finding in module.examine(kernel, (grid,), (block,), arguments, limit=3_000_000)})
    return ([] if "stopped" in kinds or right(arguments) else ["wrong result"]) + kinds


def main(words: Sequence[str] | None = None) -> int:
    """Plant and look."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="TEXT", help="plants whose line holds one")
    given = parser.parse_args(words)
    chosen = [p for p in plants() if not given.only or any(word in p.name for word in given.only)]
    accused = 0
    texts = {}
    checked = sorted({(p.target, p.kernel) for p in chosen})
    for target in sorted({p.target for p in chosen}):
        texts[target] = assembly(target)
        right = assembled(texts[target], target)
        for kernel in [kernel for where, kernel in checked if where == target]:
            if kinds := seen(right, kernel):
                accused += 1
                print(f"RIGHT KERNEL ACCUSED: {target} {kernel}: {', '.join(kinds)}")
    counts: Counter[str] = Counter()
    for plant in chosen:
        try:
            kinds = seen(assembled(planted(texts[plant.target], plant), plant.target), plant.kernel)
        except ValueError as error:
            print(f"NOT PLANTED {error}")
            counts["not planted"] += 1
            continue
        counts["caught" if kinds else "missed"] += 1
        print(f"{'caught' if kinds else 'MISSED'} {plant.name!r}: {', '.join(kinds)}", flush=True)
    print(f"{counts['caught']} of {sum(counts.values())} caught; {accused} of {len(checked)} right kernels accused")
    kinds_of = Counter(plant.kind for plant in chosen)
    print(", ".join(f"{kind} {count}" for kind, count in kinds_of.items()))
    return 1 if accused or counts["missed"] or counts["not planted"] else 0


if __name__ == "__main__":
    sys.exit(main())
