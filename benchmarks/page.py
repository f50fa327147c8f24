"""How long does a page take until its findings can be used?

    python benchmarks/page.py [--findings N] [--times N]

A page of N findings (10,000) in 700 files is opened from a file in headless Chromium, each time in a new context.
Printed: milliseconds from the start of loading until the script has drawn the list, and those the page's main thread
had a processor, which another program's load does not change; median and worst; the page's size.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from rocport.model import Applicability, Finding, Report, Severity, Span
from rocport.report import render


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--findings", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=7)
    arguments = parser.parse_args()
    kinds = tuple(Applicability)
    findings = tuple(
        Finding(
            f"rule-{n % 60}", f"dir{n % 31}/file{n % 700}.cu", Span(0, 1), n + 1, n + 1, f"message {n} of some length",
            Severity.BREAKS_BUILD, kinds[n % 3], 3, fix="what to do next",
        )
        for n in range(arguments.findings)
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = Path(folder, "page.html")
        page.write_text(render("html", Report("port", "tree", (), findings)), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        took, busy = [], []
        for _ in range(arguments.times):
            context = browser.new_context()
            opened = context.new_page()
            tools = context.new_cdp_session(opened)
            tools.send("Performance.enable", {"timeDomain": "threadTicks"})
            opened.goto(page.as_uri())
            opened.wait_for_selector("html[data-ready]", state="attached")
            took.append(opened.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"))
            metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
            busy.append(1000 * metrics["TaskDuration"])
            context.close()
        size = page.stat().st_size / 1e6
        print(f"{len(findings)} findings, {size:.1f} MB, Chromium {browser.version}, load {os.getloadavg()[0]:.1f}")
        for name, values in (("until drawn", took), ("main thread on a processor", busy)):
            print(f"{name}: median {statistics.median(values):.0f} ms, worst {max(values):.0f} ms")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
