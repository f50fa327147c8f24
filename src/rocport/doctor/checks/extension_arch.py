"""Do the installed compiled extensions carry code for this GPU? Read from the files, not from their version."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("extension-arch", "extensions carry this gfx", ("H043", "H082", "H108"), silent=True)


def run(machine: Machine) -> Iterator[Result]:
    objects = [o for o in machine.facts.code_objects if o.package not in ("bitsandbytes", "torch")]
    gpus = [g for g in machine.gpus if g.runtime_gfx]
    if not objects:
        yield skipped(
            "no extension with device code is installed" if machine.probed("code-objects") else "not in the text"
        )
        return
    if not gpus:
        yield skipped("no GPU whose gfx is known", *(o.evidence for o in objects[:3]))
        return
    good = []
    for item in objects:
        if item.unread and not item.targets:
            yield skipped(f"{item.package}: {item.unread}", item.evidence)
            continue
        names = {t.split(":")[0] for t in item.targets}
        for gpu in gpus:
            generic = gpu.target.llvm_generic if gpu.target else ""
            if gpu.runtime_gfx not in names and generic not in names:
                yield says(
                    "extension-arch.carries-no-code",
                    [item.evidence, gpu.evidence[0]],
                    item_package=item.package,
                    gpu_runtime_gfx=gpu.runtime_gfx,
                    names=", ".join(sorted(names)),
                )
                break
            mismatch = _xnack(
                item.targets, gpu.runtime_gfx, next((s.features for s in gpu.sightings if s.features), "")
            )
            if mismatch:
                yield says(
                    "extension-arch.built-gpu-runs-otherwise",
                    [item.evidence, gpu.evidence[0]],
                    item_package=item.package,
                    mismatch=mismatch,
                )
                break
        else:
            good.append(item)
    if good:
        yield ok(", ".join(f"{o.package} ({len(o.targets)} targets)" for o in good), *(o.evidence for o in good))


def _xnack(targets: tuple[str, ...], gfx: str, features: str) -> str:
    """The only feature variant built for a gfx when it contradicts the GPU's; empty when it fits or nothing is said."""
    mine = [t for t in targets if t.split(":")[0] == gfx]
    if not features or "xnack" not in features or any("xnack" not in t for t in mine):
        return ""
    state = "xnack+" if "xnack+" in features else "xnack-"
    return "" if any(state in t for t in mine) else ", ".join(mine)
