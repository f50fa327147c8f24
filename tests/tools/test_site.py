"""The site builds without a warning and has the pages that are made; the tutorials run as they stand."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rocport.rules import discover
from rocport.toolchain import ToolchainError, find

HERE = Path(__file__).resolve().parents[2]


def test_the_site_of_a_version_builds(tmp_path: Path) -> None:
    """`mike deploy` builds it strictly and commits it: in a clone, with the pages as they lie here."""
    for name in ("mkdocs", "material", "mike"):
        pytest.importorskip(name, reason=f"{name} is in the extra [docs]")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--shared", str(HERE), str(clone)], check=True)
    for name in ("docs", "tools"):
        shutil.copytree(HERE / name, clone / name, dirs_exist_ok=True)
    for name in ("README.md", "mkdocs.yml"):
        shutil.copyfile(HERE / name, clone / name)
    own = {**os.environ, "PYTHONPATH": str(HERE / "src"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for name in ("AUTHOR", "COMMITTER"):
        own |= {f"GIT_{name}_NAME": "test", f"GIT_{name}_EMAIL": "test@example.org"}
    words = [str(Path(sys.executable).with_name("mike")), "deploy", "--update-aliases", "0.0", "latest"]
    done = subprocess.run(words, cwd=clone, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr, done.stderr

    def read(name: str) -> str:
        shown = subprocess.run(["git", "-C", str(clone), "show", f"gh-pages:{name}"], capture_output=True, check=True)
        return shown.stdout.decode()

    assert json.loads(read("versions.json")) == [{"version": "0.0", "title": "0.0", "aliases": ["latest"]}]
    listed = ["git", "-C", str(clone), "ls-tree", "-r", "--name-only", "gh-pages", "0.0/"]
    files = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    for name in ("index.html", "tutorials.html", "generated/failures/index.html", "generated/facts/index.html",
                 "search/search_index.json", "report.png", "scoreboard.png"):  # fmt: skip
        assert f"0.0/{name}" in files, name
    rules = {Path(name).stem for name in files if name.startswith("0.0/generated/rules/")} - {"index"}
    assert rules == {loaded.rule.name for loaded in discover()}
    verified = read("0.0/measured.html")
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
    assert len(blocks) == 7
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
    assert "to be accepted:" in outputs[5] and "3 of 3 repositories ported" in outputs[6]
