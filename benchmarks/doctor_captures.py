"""What doctor concludes from captured output, beside what bitsandbytes' diagnostics and torch's collect_env look at.

Usage: python benchmarks/doctor_captures.py FOLDER   (FOLDER holds index.csv and the captures it lists)

doctor's column is computed here, capture by capture. The other two cannot run on somebody else's output: their columns
say whether the program looks at that kind of problem at all, read from its source (bitsandbytes 0.50.2
`diagnostics/`, torch 2.13 `utils/collect_env.py`): `yes` it names the problem, `shown` the value is printed and the
reader has to see it, `error` its own test run ends with torch's message, `no` it is not looked at.
"""

from __future__ import annotations

import csv
import re
import sys
import time
from collections import Counter
from pathlib import Path

from rocport.doctor.capture import read_captures
from rocport.doctor.diagnosis import diagnose

# check -> (what it is, bitsandbytes -m, collect_env)
PEERS = {
    "gpu-found": ("no GPU in the runtime", "error", "shown"),
    "amdgpu-module": ("driver not loaded", "no", "no"),
    "kfd-access": ("/dev/kfd cannot be opened", "no", "no"),
    "gfx-override": ("disguised gfx", "no", "no"),
    "gfx-known": ("fork or unknown target", "no", "shown"),
    "integrated-gpu": ("integrated GPU beside a card", "no", "no"),
    "npu-agent": ("NPU that is no GPU", "no", "no"),
    "wsl": ("WSL and its limits", "no", "shown"),
    "torch-build": ("torch without ROCm", "yes", "shown"),
    "torch-arch": ("wheel without this gfx", "error", "no"),
    "torch-versions": ("HIP number that is no ROCm number", "no", "no"),
    "torch-family": ("torchvision of another build", "no", "shown"),
    "triton-packages": ("two Tritons", "no", "shown"),
    "triton-target": ("Triton that rejects this gfx", "no", "no"),
    "rocm-trees": ("several ROCm releases", "no", "shown"),
    "hipblaslt": ("hipBLASLt that raises", "no", "no"),
    "bnb-library": ("bitsandbytes library missing or broken", "yes", "no"),
    "bnb-blocksize": ("4-bit block size of old versions", "no", "no"),
}


def main(folder: Path) -> int:
    rows = list(csv.DictReader((folder / "index.csv").open(encoding="utf-8")))
    found: Counter[str] = Counter()
    right = total = 0
    started = time.process_time()
    print("| capture | gfx in the text | doctor: gfx | doctor: findings |")
    print("|---|---|---|---|")
    for row in rows:
        diagnosis = diagnose(read_captures([folder / row["file"]]))
        gpus = Counter(g.gfx or "not named" for g in diagnosis.machine.gpus)
        shown = ", ".join(f"{name} x{count}" if count > 1 else name for name, count in gpus.items()) or "none"
        findings = [r for r in diagnosis.results if r.status in ("warn", "fail")]
        quiet = [
            r
            for r in diagnosis.results
            if r.status == "ok" and (r.check.id in ("npu-agent", "wsl") or "HIP's own number" in r.message)
        ]
        for identifier in {r.check.id for r in (*findings, *quiet)}:
            found[identifier] += 1
        named = {g.gfx for g in diagnosis.machine.gpus if g.gfx}
        expected = set(re.findall(r"gfx[0-9a-f]+?(?=x\d|;|$)", row["gpu_archs_expected"]))
        total += 1
        right += named == expected
        text = "; ".join(f"{r.check.id} ({r.status})" for r in findings) or "-"
        print(f"| {row['file'].rsplit('.', 1)[0]} | {row['gpu_archs_expected']} | {shown} | {text} |")
    seconds = time.process_time() - started
    print(f"\ngfx right on {right} of {total} captures; {seconds / max(total, 1) * 1000:.0f} ms of CPU a capture\n")
    print("| problem in the captures | captures | bitsandbytes -m | collect_env | doctor |")
    print("|---|---|---|---|---|")
    for identifier, (what, bitsandbytes, collect_env) in PEERS.items():
        if found[identifier]:
            print(f"| {what} | {found[identifier]} | {bitsandbytes} | {collect_env} | {identifier} |")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "index.csv").is_file():
        print("usage: python benchmarks/doctor_captures.py FOLDER (with index.csv and the captures)", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1])))
