"""The page: one file, nothing fetched, text of the user's never markup; driven in a real browser where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.model import Applicability, Finding, Report, Severity, Span
from rocport.report.html import Page, diff, render, render_page

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\u2028'\"&"


def _finding(path: str, line: int, kind: Applicability, message: str = "", rule: str = "warp-vote") -> Finding:
    text = message or f"message {line}"
    return Finding(rule, path, Span(0, 1), line, line, text, Severity.BREAKS_BUILD, kind, 3, fix="do it")


def _report(findings: list[Finding]) -> Report:
    return Report("port", "here/tree", (), tuple(findings))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def _data(text: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    loaded: dict[str, object] = json.loads(found.group(1))
    return loaded


def test_nothing_is_fetched_and_every_label_has_its_section() -> None:
    tags = _Tags()
    tags.feed(render(_report([_finding("a.cu", 1, Applicability.MANUAL)])))
    assert not [t for t in tags.seen if t[0] in ("link", "img", "iframe") or (t[0] == "script" and "src" in t[1])]
    ids = {attributes["id"] for _, attributes in tags.seen if "id" in attributes}
    labels = {attributes["aria-labelledby"] for _, attributes in tags.seen if "aria-labelledby" in attributes}
    assert labels <= ids


def test_hostile_text_stays_in_the_data() -> None:
    findings = [_finding(f"{HOSTILE}.cu", 1, Applicability.MANUAL, HOSTILE)]
    text = render_page(Page(_report(findings), texts={f"{HOSTILE}.cu": (HOSTILE.encode(), "o", b"other")}))
    assert text.count("<script") == 2 and "onerror=" not in text.replace("onerror=\\", "")
    data = _data(text)
    assert data["findings"][0]["message"] == HOSTILE  # type: ignore[index]


def test_rows_show_what_changed_and_fold_the_rest() -> None:
    left = b"\n".join(b"line %d" % n for n in range(40))
    right = left.replace(b"line 20", b"new 20\nnew 20b")
    rows = diff.rows(left, right)
    assert rows[0] == (".", 17, "", 0, "") and rows[-1][0] == "."
    assert ("~", 21, "line 20", 21, "new 20") in rows and ("+", 0, "", 22, "new 20b") in rows
    assert sum(row[1] for row in rows if row[0] == ".") + sum(row[0] != "." and bool(row[1]) for row in rows) == 40
    assert ("=", 3, "line 2", 3, "line 2") in diff.rows(left, right, {3})
    assert diff.rows(left, left) == [] and diff.rows(b"\0", b"x") == []


def test_the_command_writes_the_page_of_a_port(tmp_path: Path) -> None:
    source, port, page = tmp_path / "tree", tmp_path / "tree-hip", tmp_path / "page.html"
    source.mkdir()
    (source / "a.cu").write_text("__global__ void k(int *x) { *x = __popc(__ballot_sync(~0u, *x)); }\n")
    assert CliRunner().invoke(cli, ["port", str(source), "--out", str(port)]).exit_code == 0
    done = CliRunner().invoke(cli, ["report", str(port), "--out", str(page), "--no-build"])
    assert done.exit_code == 0, done.output
    data = _data(page.read_text())
    assert data["build"] is None and data["files"][0]["rows"]  # type: ignore[index]
    nothing = CliRunner().invoke(cli, ["report", str(port), "--out", str(page), "--no-build", "--run"])
    assert nothing.exit_code == 1 and "no program to run" in nothing.output and "leave out --run" in nothing.output
    refused = CliRunner().invoke(cli, ["report", str(source), "--out", str(page)])
    assert refused.exit_code == 2 and "run `rocport port` first" in refused.output


def _browse(text: str, tmp_path: Path, steps: str) -> Any:
    """What `steps`, JavaScript that returns a value, finds on the page in a browser."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium (Debian: chromium) to open the page in")
    done = (
        "<script>document.body.append(Object.assign(document.createElement('pre'), {id: 'out', textContent: "
        f"JSON.stringify((() => {{{steps}}})())}}))</script>"
    )
    page = tmp_path / "page.html"
    page.write_text(text.replace("</body>", done + "</body>"), encoding="utf-8")
    quiet = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", f"--user-data-dir={tmp_path / 'profile'}",
    ]  # fmt: skip
    shown = subprocess.run(
        [browser, *quiet, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=3600, check=True
    ).stdout
    found = re.search(r'<pre id="out">(.*?)</pre>', shown, re.DOTALL)
    assert found, shown[-500:]
    return json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def test_filters_keys_and_details_in_a_browser(tmp_path: Path) -> None:
    findings = [
        _finding("a.cu", 2, Applicability.MANUAL, HOSTILE, rule="inline-ptx"),
        _finding("b.cu", 1, Applicability.REVIEW),
        _finding("c.cu", 1, Applicability.SAFE),
    ]
    text = render_page(Page(_report(findings), "1", {"a.cu": (b"x\ny\n", "a.cu", b"x\nz\n")}))
    steps = """
      const count = () => document.getElementById("count").textContent;
      const files = () => [...document.querySelectorAll("#list summary code")].map((node) => node.textContent);
      const fire = () => document.getElementById("filters").dispatchEvent(new Event("input", { bubbles: true }));
      const key = (name) => document.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
      const out = { title: document.title, first: count(), files: files() };
      document.querySelector("input[value=safe]").click();
      out.all = count();
      document.getElementById("rule").value = "inline-ptx"; fire();
      out.rule = files();
      document.getElementById("rule").value = ""; document.getElementById("search").value = "b.cu"; fire();
      out.search = files();
      document.getElementById("search").value = ""; fire();
      key("j"); out.focus = document.activeElement.textContent.split(" ")[0];
      key("j"); key("k"); out.back = document.activeElement.textContent.split(" ")[0];
      key("/"); out.searching = document.activeElement.id;
      const details = document.querySelector("#list details");
      details.open = true;
      details.dispatchEvent(new Event("toggle"));
      out.note = [...details.querySelectorAll(".note")].length;
      out.text = details.querySelector(".finding p:nth-child(2)").textContent;
      out.images = document.querySelectorAll("img").length;
      out.map = document.querySelectorAll("#treemap rect").length;
      return out;
    """
    seen = _browse(text, tmp_path, steps)
    assert seen["title"] == "rocport: tree" and seen["images"] == 0
    assert seen["first"] == "2 findings in 2 files" and seen["all"] == "3 findings in 3 files"
    assert seen["files"] == ["a.cu", "b.cu"] and seen["rule"] == ["a.cu"] and seen["search"] == ["b.cu"]
    assert (seen["focus"], seen["back"], seen["searching"]) == ("a.cu", "a.cu", "search")
    assert seen["note"] == 1 and seen["map"] == 2
    assert str(seen["text"]).replace("\u2028", "") == HOSTILE.replace("\u2028", "")


def test_ten_thousand_findings_open(tmp_path: Path) -> None:
    kinds = (Applicability.MANUAL, Applicability.REVIEW)
    findings = [_finding(f"dir/{n % 700}.cu", n + 1, kinds[n % 2]) for n in range(10_000)]
    steps = "return [document.documentElement.dataset.ready, document.querySelectorAll('details').length]"
    assert _browse(render(_report(findings)), tmp_path, steps) == ["10000", 200]
