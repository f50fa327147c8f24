"""The generated rows of wheel_listings.csv: PyTorch's binary matrix and AMD's install pages. Others are kept."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from fact_sources import documentation, pytorch
from fact_sources.claim import Claim
from fact_sources.snapshot import Snapshot
from rocport.facts.listings import COLUMNS, LISTINGS_CSV
from rocport.facts.platforms import amd_torch

GENERATED = ("matrix", "page")
PYTORCH = "https://download.pytorch.org/whl/rocm"


def rows(snapshot: Snapshot) -> list[tuple[str, ...]]:
    """What the snapshot's sources name, a row for each torch and index (and system, on AMD's)."""
    found: list[tuple[str, ...]] = []
    source = "https://github.com/{}/blob/main/{}".format(*pytorch.MATRIX)
    for one in pytorch.released(snapshot):
        for channel in one.rocm:
            python = " ".join(one.python)
            found.append(
                (
                    f"{PYTORCH}{channel}",
                    channel,
                    one.version,
                    "torchvision",
                    python,
                    "linux wsl",
                    "",
                    one.day,
                    "matrix",
                    source,
                    "",
                )
            )
    for rocm in sorted({build.rocm for build in amd_torch() if build.how == "index"}):
        path = documentation.PAGE.format(rocm)
        pages: dict[tuple[str, str, str], tuple[str, list[str]]] = {}
        for row in documentation.installed(snapshot.text(documentation.ECOSYSTEM, path) or ""):
            if row.target == "all":
                continue
            beside = f"torchvision=={row.torchvision} torchaudio=={row.torchaudio}"
            system = "linux wsl" if row.system == "linux" else row.system
            pages.setdefault((row.index, row.torch, system), (beside, []))[1].append(row.target)
        builds = [build for build in amd_torch() if build.rocm == rocm]
        for (index, torch, system), (beside, targets) in pages.items():
            kind = system.split()[0]
            python = next((b.python for b in builds if kind in b.kinds and torch.rpartition(".")[0] in b.torch), ())
            source = next((b.source for b in builds), "")
            known = (index, rocm, torch, beside, " ".join(python), system, " ".join(sorted(set(targets))))
            found.append((*known, documentation.READ.get(rocm, ""), "page", source, ""))
    return found


def _kept() -> list[dict[str, str]]:
    with LISTINGS_CSV.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(snapshot: Snapshot) -> str:
    """Rewrite the generated rows of the kinds that the snapshot has a source for; keep the others."""
    new = rows(snapshot)
    kinds = {row[COLUMNS.index("how")] for row in new}
    kept = [tuple(row[name] for name in COLUMNS) for row in _kept() if row["how"] not in kinds]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([*kept, *new])
    LISTINGS_CSV.write_text(buffer.getvalue(), encoding="utf-8")
    return f"{LISTINGS_CSV.name}: {len(new)} rows from sources, {len(kept)} kept"


def claims(snapshot: Snapshot) -> Iterator[Claim]:
    """Each generated row of the file, against the same row of the sources."""
    new = {(row[0], row[1], row[2], row[5]): " ".join(row[3:5] + row[6:7]) for row in rows(snapshot)}
    for row in _kept():
        if row["how"] in GENERATED:
            key = (row["index"], row["rocm"], row["torch"], row["systems"])
            name = f"{row['index']}: torch {row['torch']} for ROCm {row['rocm']}, {row['systems']}"
            said = f"{row['packages']} {row['python']} {row['targets']}"
            yield Claim(name, LISTINGS_CSV.name, said, new.get(key), row["source"])
