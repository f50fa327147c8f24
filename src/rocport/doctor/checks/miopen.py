"""MIOpen: slow first convolutions, layouts, caches that cannot be written, headers its JIT needs."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import in_range, torch_version

CHECK = Check("miopen", "MIOpen", ("H083", "H084", "H085", "H086", "H087"))


def run(machine: Machine) -> Iterator[Result]:
    header = machine.symptoms("miopen-header")
    cache = machine.setting("miopen_cache_unwritable")
    mode, nhwc = machine.env("MIOPEN_FIND_MODE"), machine.env("PYTORCH_MIOPEN_SUGGEST_NHWC")
    torch = torch_version(machine)
    found = False
    if header:
        found = True
        yield problem(
            "fail",
            "C++ headers are missing for code that MIOpen or hipcc compiles at run time",
            [s.evidence for s in header],
            "Convolutions fail at their first use. clang takes the newest GCC folder, also one without C++ headers.",
            ("sudo apt install libstdc++-12-dev  # the newest number in /usr/lib/gcc/x86_64-linux-gnu",),
            "ls /usr/include/c++",
            sudo=True,
        )
    if cache is not None and machine.gpus:
        found = True
        yield problem(
            "fail",
            f"MIOpen cannot write its database to {cache.value}",
            [cache.evidence],
            "The first convolution raises boost::filesystem, or every run searches again.",
            ("export MIOPEN_USER_DB_PATH=/tmp/$USER/miopen MIOPEN_CUSTOM_CACHE_DIR=/tmp/$USER/miopen-cache",),
            "python -c 'import torch; torch.nn.Conv2d(1, 1, 3).cuda()(torch.ones(1, 1, 8, 8).cuda())'",
        )
    radeon = any(target.radeon for _, target in machine.targets())
    known = machine.probed("env-complete") and torch is not None and torch.flavour == "rocm" and radeon
    if known and mode is None and in_range(machine, "H084"):
        found = True
        yield problem(
            "warn",
            "MIOPEN_FIND_MODE is not set: the first run of every convolution shape searches exhaustively",
            [e.evidence for e in machine.versions("torch")[:1]],
            "The first decode of a VAE takes minutes on Radeon cards with ROCm 6 to 7.13.",
            ("export MIOPEN_FIND_MODE=FAST",),
            "env | grep MIOPEN_FIND_MODE",
            env={"MIOPEN_FIND_MODE": "FAST"},
        )
    if nhwc is not None and str(nhwc.value) == "1":
        found = True
        yield problem(
            "warn",
            "PYTORCH_MIOPEN_SUGGEST_NHWC=1",
            [nhwc.evidence],
            "Convolutions may be several times slower in channels-last (7.9 s against 2.4 s in one report).",
            ("export PYTORCH_MIOPEN_SUGGEST_NHWC=0",),
            "env | grep NHWC",
            env={"PYTORCH_MIOPEN_SUGGEST_NHWC": "0"},
        )
    if not found:
        yield ok("nothing to find") if machine.probed("env-complete") else skipped("not in what was read")
