"""Port examples/rowstats to HIP, compile it for two AMD GPUs, run its check at both wavefront widths, write the report.

Run by `make demo`. Nothing here needs a GPU, ROCm or root. What is left for a person is named at the end, and is no
failure: the exit code is 0 where every step did what it is for.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "rowstats"
OUT = HERE.parent / "demo-out"
PORT = OUT / "rowstats-hip"
TARGETS = "gfx942,gfx1100"


def rocport(*words: str, show: str = "", output: Path | None = None) -> int:
    """Run a rocport command, shown as `show` or kept in `output`.

    Returns its exit code: 1 says that there are findings, more ends the demo.
    """
    if show:
        print(f"\n$ rocport {show}\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "rocport", *words]
    kept = subprocess.PIPE if output else None
    done = subprocess.run(command, check=False, stdout=kept, stderr=kept)
    if done.returncode > 1:
        sys.stderr.buffer.write(done.stderr or b"")
        sys.exit(done.returncode)
    if output is not None:
        output.write_bytes(done.stdout)
    return done.returncode


def left_for_you(report: Path) -> str:
    """One sentence about the sites that `port` did not do."""
    body = json.loads(report.read_text(encoding="utf-8"))
    manual = [finding for finding in body["findings"] if finding["applicability"] == "manual"]
    files = sorted({finding["path"] for finding in manual})
    total = sum(record["status"] != "generated" for record in body["files"])
    if not files:
        return f"All {total} files are ported."
    places = ", ".join(f"{finding['path']}:{finding['line']} ({finding['rule']})" for finding in manual)
    return f"{len(files)} of {total} files {'is' if len(files) == 1 else 'are'} for you: {places}."


def not_compiled(build: Path) -> tuple[bool, str]:
    """(whether a unit failed to compile, one sentence about the units that were not tried and why)."""
    units = json.loads(build.read_text(encoding="utf-8"))["units"]
    skipped = {unit["path"]: unit["reason"] for unit in units if unit["status"] == "skip"}
    places = "; ".join(f"{path}: {reason}" for path, reason in sorted(skipped.items()))
    return any(unit["status"] == "fail" for unit in units), f"Not compiled here: {places}." if places else ""


def main() -> int:
    OUT.mkdir(exist_ok=True)
    name, page = SOURCE.name, OUT / "report.html"
    port = ["port", str(SOURCE), "--out", str(PORT), "--target", TARGETS]
    rocport(*port, show=f"port {name} --target {TARGETS}")
    rocport(*port, "--format", "json", output=OUT / "report.json")
    build = ["verify", str(PORT), "--level", "build", "--target", TARGETS]
    rocport(*build, show=f"verify {name}-hip --level build --target {TARGETS}")
    rocport(*build, "--format", "json", output=OUT / "build.json")
    failed, left_out = not_compiled(OUT / "build.json")
    ran = rocport("verify", str(PORT), "--level", "functional", show=f"verify {name}-hip --level functional")
    rocport("report", str(PORT), "--out", str(page), "--run", show=f"report {name}-hip --run")
    print(f"\n{left_for_you(OUT / 'report.json')}")
    if left_out:
        print(left_out)
    print(f"Next: open {page.relative_to(HERE.parent)}, and port your own repository: rocport port PATH")
    return int(failed) or ran


if __name__ == "__main__":
    sys.exit(main())
