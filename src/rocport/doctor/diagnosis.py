"""All checks on one machine, and the versions and GPUs they were made for: what `rocport doctor` prints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rocport.doctor.check import STATUSES, Result, modules
from rocport.doctor.machine import Gpu, Machine, VersionFact
from rocport.doctor.versions import rocm_version

VERSION_KEYS = ("rocm", "hip", "driver", "torch", "triton", "bitsandbytes")
SCHEMA = 1


@dataclass(frozen=True)
class Diagnosis:
    machine: Machine
    results: tuple[Result, ...]

    @property
    def worst(self) -> str:
        """The worst status of all; `ok` when nothing ran."""
        return max((r.status for r in self.results), key=STATUSES.index, default="ok")

    @property
    def exit_code(self) -> int:
        """0 when nothing is worse than skipped, 1 for a warn or a fail."""
        return 1 if self.worst in ("warn", "fail") else 0

    def result(self, identifier: str) -> Result | None:
        """The first result of a check, the worst one when it gave several."""
        found = [r for r in self.results if r.check.id == identifier]
        return max(found, key=lambda r: STATUSES.index(r.status), default=None)

    def versions(self) -> dict[str, str | None]:
        """The versions of the JSON output; None where nothing names one."""
        return {key: (fact.value if (fact := _version(self.machine, key)) else None) for key in VERSION_KEYS}

    def as_dict(self) -> dict[str, object]:
        """The documented, stable JSON value."""
        return {
            "schema": SCHEMA,
            "live": self.machine.live,
            "status": self.worst,
            "gpus": [gpu_dict(gpu) for gpu in self.machine.gpus],
            "versions": self.versions(),
            "checks": [r.as_dict() for r in self.results],
            "notes": list(self.machine.notes),
        }

    def exports(self) -> tuple[dict[str, str | None], list[Result]]:
        """Variables that the results ask for, and the results that ask for them."""
        env: dict[str, str | None] = {}
        asking = []
        for result in self.results:
            if result.env:
                asking.append(result)
                for name, value in result.env.items():
                    env.setdefault(name, value)
        return env, asking


def gpu_dict(gpu: Gpu) -> dict[str, object]:
    """`gfx` is null when no source names it; `chip` are the targets of its PCI id or name, `spoofed` whether they
    disagree."""
    return {
        "gfx": gpu.gfx or None,
        "wavefront": gpu.wavefront,
        "product": gpu.product or None,
        "kind": gpu.kind or None,
        "evidence": [e.as_dict() for e in gpu.evidence],
        "chip": list(gpu.chip_targets),
        "spoofed": gpu.spoofed,
    }


def diagnose(machine: Machine) -> Diagnosis:
    """Run every check: silent wrong results first, then by severity."""
    results: list[Result] = []
    for module in modules():
        outcome = module.run(machine)
        several: Iterable[Result] = (outcome,) if isinstance(outcome, Result) else outcome
        results += [replace(result, check=module.CHECK) for result in several]
    results.sort(key=lambda r: (-STATUSES.index(r.status) if r.status in ("warn", "fail") else 0, not r.check.silent))
    return Diagnosis(machine, tuple(results))


def _version(machine: Machine, key: str) -> VersionFact | None:
    if key == "rocm":
        return rocm_version(machine)
    if key == "hip":
        return machine.version("hip") or machine.version("torch_hip")
    return machine.version(key)
