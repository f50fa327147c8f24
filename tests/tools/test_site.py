"""The site builds without a warning and has the pages that are made; the tutorials run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rocport.rules import discover
from rocport.toolchain import ToolchainError, find

HERE = Path(__file__).resolve().parents[2]


def test_the_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is in the extra [docs]")
    pytest.importorskip("material", reason="mkdocs-material is in the extra [docs]")
    site = tmp_path / "site"
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
    done = subprocess.run(words, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING -" not in done.stderr
    for name in (
        "index",
        "verified",
        "tutorials",
        "generated/failures/index",
        "generated/facts/index",
        "search/search_index",
    ):
        assert (site / f"{name}.html").is_file() or (site / f"{name}.json").is_file(), name
    rules = {path.stem for path in (site / "generated" / "rules").glob("*.html")} - {"index"}
    assert rules == {loaded.rule.name for loaded in discover()}
    verified = (site / "verified.html").read_text(encoding="utf-8")
    assert "benchmarks/facts.py" in verified and re.search(r"<td>20\d\d-\d\d-\d\d</td>", verified)


def test_the_tutorials_run(tmp_path: Path) -> None:
    try:
        find(None)
    except ToolchainError as error:
        pytest.skip(str(error))
    text = (HERE / "docs" / "tutorials.md").read_text(encoding="utf-8")
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "rocport"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rocport "$@"\n')
    shim.chmod(0o755)
    own = {**os.environ, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(HERE / "src")}
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 5
    outputs = []
    for block in blocks:
        done = subprocess.run(
            ["bash", "-ec", block], cwd=tmp_path, env=own, capture_output=True, text=True, check=False
        )
        if not outputs and done.returncode and "cannot be had" in done.stdout:
            pytest.skip(f"the package index cannot be reached: {done.stdout[-200:]}")
        assert done.returncode == 0, block + done.stdout + done.stderr
        outputs.append(done.stdout)
    assert "warp-rnnt" in outputs[0] and "warp-" in outputs[1] and "1 of 1 translation units compile" in outputs[2]
    assert "NVIDIA path unchanged" in outputs[3] and (tmp_path / "page.html").is_file()
