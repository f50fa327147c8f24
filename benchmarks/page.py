"""How long does a page take until its findings can be used?

    python benchmarks/page.py [--findings N] [--times N]

A page of ten findings (what a browser takes for any page), and pages of N findings (10,000) in 700 files and in a file
each, are opened from a file in headless Chromium, each time in a new context. The browser says: milliseconds from the
start of loading until something is painted, until the page answers (its script has drawn the list), and those that its
main thread had a processor, which another program's load does not change; median and worst; elements on the page.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from rocport.model import Applicability, Finding, Report, Severity, Span
from rocport.report import render

_TIMINGS = """() => ({
  painted: performance.getEntriesByType('paint').find((one) => one.name === 'first-contentful-paint').startTime,
  answers: performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,
  elements: document.querySelectorAll('*').length,
})"""


def made(findings: int, files: int) -> str:
    """The page of so many findings, of every kind, in so many files."""
    kinds = tuple(Applicability)
    found = tuple(
        Finding(
            f"rule-{n % 60}", f"dir{n % files % 31}/file{n % files}.cu", Span(0, 1), n + 1, n + 1,
            f"message {n} of some length", Severity.BREAKS_BUILD, kinds[n % 3], 3, fix="what to do next",
        )
        for n in range(findings)
    )  # fmt: skip
    return render("html", Report("port", "tree", (), found))


def opened(browser: Any, page: Path) -> dict[str, float]:
    """What the browser says of one opening."""
    context = browser.new_context()
    tab = context.new_page()
    tools = context.new_cdp_session(tab)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-ready]", state="attached")
    metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    tab.wait_for_function("performance.getEntriesByType('paint').length > 1")
    said: dict[str, float] = tab.evaluate(_TIMINGS)
    context.close()
    return {**said, "busy": 1000 * metrics["TaskDuration"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--findings", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        print(f"Chromium {browser.version}, load {os.getloadavg()[0]:.1f}; milliseconds, median (worst)")
        for findings, files in ((10, 10), (arguments.findings, 700), (arguments.findings, arguments.findings)):
            page = Path(folder, "page.html")
            page.write_text(made(findings, files), encoding="utf-8")
            runs = [opened(browser, page) for _ in range(arguments.times)]
            shown = ", ".join(
                f"{words} {statistics.median(run[name] for run in runs):.0f} ({max(run[name] for run in runs):.0f})"
                for name, words in (("painted", "painted"), ("answers", "answers"), ("busy", "main thread"))
            )
            size = page.stat().st_size / 1e6
            print(f"{findings} findings in {files} files, {size:.2f} MB, {runs[0]['elements']:.0f} elements: {shown}")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
