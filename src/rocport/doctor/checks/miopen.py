"""MIOpen: slow first convolutions, layouts, caches that cannot be written, headers its JIT needs."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
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
        yield says("miopen.c-headers-missing-code-miopen", [s.evidence for s in header])
    if cache is not None and machine.gpus:
        found = True
        yield says("miopen.miopen-cannot-write-database", [cache.evidence], cache=cache.value)
    radeon = any(target.radeon for _, target in machine.targets())
    known = machine.probed("env-complete") and torch is not None and torch.flavour == "rocm" and radeon
    if known and mode is None and in_range(machine, "H084"):
        found = True
        yield says("miopen.miopen-find-mode-not-set-first-run", [e.evidence for e in machine.versions("torch")[:1]])
    if nhwc is not None and str(nhwc.value) == "1":
        found = True
        yield says("miopen.pytorch-miopen-suggest-nhwc-1", [nhwc.evidence])
    if not found:
        yield ok("nothing to find") if machine.probed("env-complete") else skipped("not in what was read")
