# SPDX-License-Identifier: Apache-2.0
"""The originals of isa_programs.py's programs on an NVIDIA GPU, and whether our runs of the ports print the same.

    python benchmarks/isa_originals.py pack --work DIR --out FOLDER    # where the ports are: trees, a list of commands
    python3 isa_originals.py run FOLDER --json FILE [--jobs N]         # where nvcc and the GPU are: nothing else needed
    python benchmarks/isa_originals.py compare --work DIR FILE         # where the ports are

`pack` takes the programs of isa_programs.py, with the same sizes and flags, but those whose ports did not compile or
end in a run of it with the same DIR; its rows hold what they printed. `run` starts no program after `--minutes`.
Lines that speak of time, speed, memory or the device are not compared. Of the others every word must be the same and
every number equal: integers exactly, numbers with a point or an exponent within `--relative` (1e-4); two below 1e-4
are equal, since most are errors. Exit 0.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

_LARGEST = 1 << 20
_HEADERS = (".h", ".hpp", ".cuh", ".inl")
_ENDED = ("pass", "ended", "wrong", "status")
_OF_THE_MACHINE = re.compile(
    r"time|sec|elapsed|\bm?s\b|[GMK]i?B/s|bandwidth|flop|throughput|speed|perf|device|gpu|sm_?\d|compute|capab|multiproc|clock|memory"
    r"|0x[0-9a-f]+|MapSM|\bcores?\b|driver|runtime|fps|cpu",
    re.IGNORECASE,
)
_ITSELF = re.compile(r"\S*/(?:program|original-\d+)\b")
"""The program's own path, as it prints it."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LIBRARIES = ("cublas", "cufft", "curand", "cusparse", "cusolver")
_SMALL = 1e-4


def pack(work: Path, out: Path) -> int:
    """Copies the trees of the programs that ended, without large files, and writes how each is built and run."""
    from isa_programs import listed

    from rocport.executor.program import ProgramError, load_program

    shutil.rmtree(out, ignore_errors=True)
    rows = []
    for one in sorted(listed(work, None), key=lambda one: one.rank):
        kept = work / "programs" / (one.name.replace("/", "+") + ".json")
        row = json.loads(kept.read_text())["row"] if kept.is_file() else {}
        if row and not any(run["verdict"] in _ENDED for run in row.get("runs", {}).values()):
            continue
        tree = work / "source" / f"{one.repository.folder}@{one.repository.commit[:12]}"
        try:
            program = load_program(tree / one.path)
        except ProgramError as error:
            print(f"{one.name}: {error}")
            continue
        folders = {program.folder, *(unit.source.parent for unit in program.units)}
        own = (path for folder in folders if folder.is_relative_to(tree) for path in folder.rglob("*"))
        for path in {*own, *(path for path in tree.rglob("*") if path.suffix in _HEADERS)}:
            if path.is_file() and path.stat().st_size <= _LARGEST:
                target = out / tree.name / path.relative_to(tree)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        one.shorten(out / tree.name)
        inside = str(work / "source") + os.sep
        arguments = one.arguments if one.arguments is not None else program.runs[0] if program.runs else ()
        words = [word for unit in program.units for word in (*unit.flags, *one.flags)]
        rows.append(
            {
                "name": one.name,
                "sources": [str(unit.source).removeprefix(inside) for unit in program.units],
                "flags": list(dict.fromkeys(word.replace(inside, "") for word in words)),
                "folder": str(program.folder).removeprefix(inside),
                "common": f"{tree.name}/Common",
                "arguments": list(arguments),
            }
        )
    (out / "originals.json").write_text(json.dumps(rows, indent=1))
    print(f"{len(rows)} programs")
    return 0


def run(folder: Path, result: Path, jobs: int, seconds: float, minutes: float) -> int:
    """Builds the originals with nvcc and runs them, several at a time."""
    rows = json.loads((folder / "originals.json").read_text())
    query = ["nvidia-smi", "--query-gpu=compute_cap,name", "--format=csv,noheader"]
    capability = subprocess.run(
        query,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    architecture = "sm_" + capability.split(",")[0].replace(".", "") if capability else "native"

    ends = time.monotonic() + 60 * minutes

    def attempt(row: dict[str, Any]) -> dict[str, Any]:
        program = (folder / row["folder"] / f"original-{abs(hash(row['name']))}").resolve()
        flags = [re.sub(r"^-I(?=[^/])", f"-I{folder}/", word) for word in row["flags"] if word.startswith(("-I", "-D"))]
        openmp = ["-Xcompiler", "-fopenmp"] if "-fopenmp" in row["flags"] else []
        command = ["nvcc", "-O2", "-w", "-x", "cu", "-std=c++17", f"-arch={architecture}", "-rdc=true", *openmp, *flags]
        command += [f"-I{folder}/{row['common']}", *(str(folder / source) for source in row["sources"])]
        command += [f"-l{library}" for library in (*_LIBRARIES, "cudadevrt", "nvrtc", "cuda")] + ["-o", str(program)]
        if time.monotonic() > ends:
            return {**row, "built": False, "log": "not reached"}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds * 6, check=False)
            row = {**row, "built": done.returncode == 0, "log": done.stderr[-400:]}
            if done.returncode == 0 and time.monotonic() < ends:
                done = subprocess.run(
                    [str(program), *row["arguments"]], cwd=folder / row["folder"], capture_output=True, text=True,
                    errors="replace", timeout=seconds, check=False,
                )  # fmt: skip
                row |= {"status": done.returncode, "said": done.stdout[-20000:]}
        except subprocess.TimeoutExpired:
            row = {"built": False, "log": "out of time", **row}
        return row

    with ThreadPoolExecutor(jobs) as pool:
        built = list(pool.map(attempt, rows))
    result.write_text(json.dumps({"device": capability, "rows": built}, indent=1))
    print(f"{capability}: {sum(row['built'] for row in built)} of {len(built)} built")
    return 0


def differences(ours: str, theirs: str, relative: float) -> tuple[int, list[str]]:
    """How many lines could be compared, and those that differ, as `ours | theirs`."""
    mine, other = (
        [line for line in text.splitlines() if line.strip() and not _OF_THE_MACHINE.search(line)]
        for text in (_ITSELF.sub("PROGRAM", ours), _ITSELF.sub("PROGRAM", theirs))
    )
    if len(mine) != len(other):
        return min(len(mine), len(other)), [f"{len(mine)} lines | {len(other)} lines"]
    return len(mine), [f"{a} | {b}" for a, b in zip(mine, other, strict=True) if not _same(a, b, relative)]


def _same(a: str, b: str, relative: float) -> bool:
    if _NUMBER.sub("#", a).split() != _NUMBER.sub("#", b).split():
        return False
    for x, y in zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True):
        if x.lstrip("+-").isdigit() and y.lstrip("+-").isdigit():
            if int(x) != int(y):
                return False
        elif abs(float(x) - float(y)) > max(_SMALL, relative * max(abs(float(x)), abs(float(y)))):
            return False
    return True


def compare(work: Path, file: Path, relative: float) -> int:
    """One line a program and target."""
    found = json.loads(file.read_text())
    print(f"originals on {found['device']}")
    total: Counter[str] = Counter()
    for original in found["rows"]:
        kept = work / "programs" / (original["name"].replace("/", "+") + ".json")
        row = json.loads(kept.read_text())["row"] if kept.is_file() else {}
        for target, ran in row.get("runs", {}).items():
            if ran["verdict"] not in _ENDED or "said" not in ran:
                continue
            if not original["built"] or original.get("status") is None:
                kind, why = (
                    "no original",
                    original["log"].strip().splitlines()[:1] if not original["built"] else ["out of time"],
                )
            elif (ran["verdict"] != "status") != (original["status"] == 0):
                kind, why = "status differs", [f"{ran['verdict']} {ran['cause']} | {original['status']}"]
            else:
                lines, why = differences(ran["said"], original["said"], relative)
                kind = "differs" if why else "same" if lines else "same status, nothing to compare"
            total[f"{target} {kind}"] += 1
            print(f"{original['name']}: {target} {kind}{': ' + '; '.join(why[:3])[:300] if why else ''}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(total.items())))
    return 0


def main() -> int:
    """One of the three steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    packing = steps.add_parser("pack")
    packing.add_argument("--work", type=Path, required=True)
    packing.add_argument("--out", type=Path, required=True)
    running = steps.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("--json", type=Path, required=True)
    running.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    running.add_argument("--seconds", type=float, default=15.0)
    running.add_argument("--minutes", type=float, default=60.0)
    comparing = steps.add_parser("compare")
    comparing.add_argument("--work", type=Path, required=True)
    comparing.add_argument("file", type=Path)
    comparing.add_argument("--relative", type=float, default=1e-4)
    given = parser.parse_args()
    if given.step == "pack":
        return pack(given.work.resolve(), given.out)
    if given.step == "run":
        return run(given.folder.resolve(), given.json, given.jobs, given.seconds, given.minutes)
    return compare(given.work.resolve(), given.file, given.relative)


if __name__ == "__main__":
    sys.exit(main())
