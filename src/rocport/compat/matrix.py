"""The matrix of wheel channels, targets and libraries on a system, as data and as Markdown."""

from __future__ import annotations

from typing import Any

from rocport.facts.dates import as_of, dated
from rocport.facts.rocm import wheel_channels
from rocport.facts.targets import all_targets
from rocport.facts.wheel_matrix import LIBRARIES, in_library, in_torch
from rocport.model.targets import GfxTarget

FACTS = ("platforms.toml", "targets", "torch_rocm.toml", "torch_wheels.toml")
_MARK = {"yes": "yes", "no": "no", "switch": "switch", "unknown": "?"}


def matrix_data(system: str, targets: tuple[GfxTarget, ...] = (), rocm: str = "") -> dict[str, Any]:
    """Schema `rocport.matrix/1`: a row for each channel and target (all by default) that torch has code for."""
    channels = [
        c for c in wheel_channels() if not rocm or c.name == rocm or (c.owner == "amd" and rocm.count(".") == 2)
    ]
    rows = []
    for channel in channels:
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
                    **{name: cell.state for name, cell in found.items()},
                    "sources": sorted({cell.source for cell in (torch, *found.values()) if cell.source}),
                }
            )
    return {"schema": "rocport.matrix/1", "facts_as_of": as_of(*FACTS).isoformat(), "os": system, "rows": rows}


def matrix_markdown(data: dict[str, Any]) -> str:
    """The same as Markdown: `?` where no source says."""
    head = ["Channel", "Target", "torch", *LIBRARIES]
    lines = [f"# torch's wheels on {data['os']}", "", f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for row in data["rows"]:
        name = row["channel"] if row["owner"] == "amd" else f"rocm{row['channel']}"
        cells = [name, row["target"], _MARK[row["torch"]], *(_MARK[row[library]] for library in LIBRARIES)]
        lines.append(f"| {' | '.join(cells)} |")
    sources = dict.fromkeys(source for row in data["rows"] for source in row["sources"])
    lines += ["", "`?`: no source says. `switch`: with TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1.", ""]
    return "\n".join([*lines, "Sources:", "", *(f"- {source}" for source in sources), "", dated(*FACTS)]) + "\n"
