"""The matrix of wheel channels, targets and libraries on a system, as data and as Markdown."""

from __future__ import annotations

from typing import Any

from rocport.compat import CompatError
from rocport.compat.plan import KINDS, is_release
from rocport.facts.dates import dated, facts_as_of
from rocport.facts.platforms import amd_torch
from rocport.facts.rocm import WheelChannel, wheel_channels
from rocport.facts.targets import all_targets
from rocport.facts.wheel_matrix import LIBRARIES, in_library, in_torch
from rocport.model.targets import GfxTarget

FACTS = ("platforms.toml", "targets", "torch_rocm.toml", "torch_wheels.toml")
_MARK = {"yes": "yes", "no": "no", "switch": "switch", "unknown": "?"}


def matrix_data(system: str, targets: tuple[GfxTarget, ...] = (), rocm: str = "") -> dict[str, Any]:
    """Schema `rocport.matrix/1`: a row for each channel and target (all by default) that torch has code for.

    Raises CompatError when no wheel is known for a ROCm release on the system.
    """
    rows = []
    for channel in _channels(system, rocm):
        for target in targets or all_targets():
            torch = in_torch(channel, target, system)
            if torch.state == "no" and not targets:
                continue
            found = {name: in_library(channel, name, target, system) for name in LIBRARIES}
            rows.append(
                {
                    "channel": channel.name,
                    "owner": channel.owner,
                    "target": target.name,
                    "torch": torch.state,
                    "torch_since": dict(channel.since).get(target.name, "") if torch.state == "yes" else "",
                    **{name: cell.state for name, cell in found.items()},
                    "sources": sorted({cell.source for cell in (torch, *found.values()) if cell.source}),
                }
            )
    return {"schema": "rocport.matrix/1", **facts_as_of(*FACTS), "os": system, "rows": rows}


def _channels(system: str, rocm: str) -> list[WheelChannel]:
    """The channels whose wheels are for a ROCm release (all without one), as the plans take them."""
    if not rocm:
        return list(wheel_channels())
    builds = [build for build in amd_torch() if system in (build.kinds or KINDS)]
    carried = {build.channel for build in builds if is_release(build.rocm, rocm)}
    served = [channel for channel in wheel_channels() if system != "windows" or channel.owner == "amd"]
    found = [channel for channel in served if channel.name in carried or is_release(channel.name, rocm)]
    if not found:
        names = (*(build.rocm for build in builds), *(channel.name for channel in served if channel.owner != "amd"))
        raise CompatError(
            f"no torch wheel is known for ROCm {rocm} on {system}; there are wheels for "
            f"{', '.join(dict.fromkeys(names))}: name one of them, or leave --rocm out for all"
        )
    return found


def matrix_markdown(data: dict[str, Any]) -> str:
    """The same as Markdown: `?` where no source says."""
    head = ["Channel", "Target", "torch", *LIBRARIES]
    lines = [f"# torch's wheels on {data['os']}", "", f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for row in data["rows"]:
        name = row["channel"] if row["owner"] == "amd" else f"rocm{row['channel']}"
        since = f" (torch {row['torch_since']} on)" if row["torch_since"] else ""
        cells = [name, row["target"], _MARK[row["torch"]] + since, *(_MARK[row[library]] for library in LIBRARIES)]
        lines.append(f"| {' | '.join(cells)} |")
    sources = dict.fromkeys(source for row in data["rows"] for source in row["sources"])
    lines += ["", "`?`: no source says. `switch`: with TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1.", ""]
    return "\n".join([*lines, "Sources:", "", *(f"- {source}" for source in sources), "", dated(*FACTS)]) + "\n"
