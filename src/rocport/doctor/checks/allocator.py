"""torch's allocator settings: combinations that corrupt memory, hang, or are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Evidence, Machine
from rocport.doctor.versions import parsed_rocm, torch_version

CHECK = Check("allocator", "allocator settings", ("H089", "H090", "H091", "H092", "H093", "H094", "H095"), silent=True)
NAMES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
VERIFY = "env | grep -E 'PYTORCH_(CUDA_|HIP_)?ALLOC_CONF'"


def options(text: str) -> dict[str, str]:
    """`max_split_size_mb:128,expandable_segments:True` -> its options, names and values in lower case."""
    pairs = re.findall(r"([a-z_0-9]+)\s*[:=]\s*(\[[^\]]*\]|[^,\s]+)", text.lower())
    return dict(pairs)


def run(machine: Machine) -> Iterator[Result]:
    found = [(e.name, str(e.value), e.evidence) for n in NAMES if (e := machine.env(n))]
    told = machine.setting("allocator_config")
    if told is not None:
        found.append(("PYTORCH_ALLOC_CONF", str(told.value), told.evidence))
    caching = [e for n in ("PYTORCH_NO_HIP_MEMORY_CACHING", "PYTORCH_NO_CUDA_MEMORY_CACHING") if (e := machine.env(n))]
    refused = machine.symptoms("allocator-too-small", "expandable-unsupported")
    if not found and not caching and not refused:
        yield ok("defaults") if machine.probed("env-complete") else skipped("the allocator's settings are not known")
        return
    results = list(_problems(machine, found, refused))
    for setting in caching:
        if str(setting.value) not in ("", "0"):
            results.append(
                says(
                    "allocator.switches-caching-allocator-off",
                    [setting.evidence],
                    setting_name=setting.name,
                    setting=setting.value,
                )
            )
    if results:
        yield from results
    else:
        yield ok("; ".join(f"{n}={v}" for n, v, _ in found) or "defaults", *(e for _, _, e in found))


def _problems(machine: Machine, found: list[tuple[str, str, Evidence]], refused: object) -> Iterator[Result]:
    rocm, torch = parsed_rocm(machine), torch_version(machine)
    for name, text, evidence in found:
        chosen = options(text)
        expandable = chosen.get("expandable_segments") == "true"
        split = chosen.get("max_split_size_mb")
        if expandable and split is not None:
            rest = ",".join(f"{k}:{v}" for k, v in chosen.items() if k != "max_split_size_mb")
            affected = rocm is None or rocm.release >= (7, 14, 0) or torch is None or torch.release >= (2, 12, 0)
            yield says(
                "allocator.max-split-size-mb-together-expandable-segments",
                [evidence],
                name=name,
                rest=rest.replace("expandable_segments:true", "expandable_segments:True"),
                status="fail" if affected else "warn",
            )
        elif expandable and torch is not None and torch.release < (2, 11, 0) and torch.flavour == "rocm":
            yield says("allocator.expandable-segments-not-supported-torch-rocm", [evidence], torch=torch, name=name)
        if split is not None and split.isdigit() and int(split) < 20:
            yield says("allocator.max-split-size-mb-below-20", [evidence], split=split, name=name)
        if re.search(r"[a-z_]+\s*=", text.lower()):
            yield says("allocator.options-written", [evidence], name=name, text=text, mended=text.replace("=", ":"))
    names = [n for n, _, e in found if e.source == "env"]
    if len(set(names)) > 1:
        yield problem(
            "warn",
            f"{' and '.join(sorted(set(names)))} are both set",
            [e for _, _, e in found],
            "One of them wins; which one depends on the version of torch.",
            (f"unset {' '.join(n for n in names if n != 'PYTORCH_ALLOC_CONF')}  # keep PYTORCH_ALLOC_CONF",),
            VERIFY,
        )
    if refused and not found:
        yield says(
            "allocator.torch-refused-or-ignored-allocator",
            [s.evidence for s in machine.symptoms("allocator-too-small", "expandable-unsupported")],
        )
