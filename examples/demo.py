"""Port examples/rowstats to HIP, prove that it compiles for two AMD GPUs, and leave the reports in demo-out/.

Run by `make demo`. Nothing here needs a GPU, ROCm or root.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "rowstats"
OUT = HERE.parent / "demo-out"
TARGETS = "gfx942,gfx1100"


def rocport(*arguments: str, output: Path | None = None) -> int:
    """Run a rocport command; its exit code. Anything over 1 ends the demo: 1 only says that there are findings."""
    sys.stdout.flush()
    done = subprocess.run(
        [sys.executable, "-m", "rocport", *arguments], check=False, stdout=subprocess.PIPE if output else None
    )
    if done.returncode > 1:
        sys.exit(done.returncode)
    if output is not None:
        output.write_bytes(done.stdout)
    return done.returncode


def main() -> int:
    OUT.mkdir(exist_ok=True)
    port = ["port", str(SOURCE), "--out", str(OUT / "rowstats-hip"), "--target", TARGETS]
    print(f"$ rocport port {SOURCE.name} --target {TARGETS}\n")
    rocport(*port)
    rocport(*port, "--format", "json", output=OUT / "report.json")
    rocport(*port, "--format", "markdown", output=OUT / "report.md")
    print(f"\n$ rocport verify {SOURCE.name}-hip --level build --target {TARGETS}\n")
    code = rocport("verify", str(OUT / "rowstats-hip"), "--level", "build", "--target", TARGETS)
    print(f"\nThe port is in {OUT.name}/rowstats-hip, the reports are {OUT.name}/report.json and {OUT.name}/report.md.")
    if code:
        print("What does not compile is what the report lists as not done: csrc/tile_mma.cu is tensor-core code.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
