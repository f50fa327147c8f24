"""The page: one file, nothing fetched, text of the user's never markup; driven in a real browser where there is one."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.model import (
    Applicability,
    Finding,
    LeftOut,
    Mark,
    Plot,
    Problem,
    Report,
    Section,
    Series,
    Severity,
    Span,
)  # fmt: skip
from rocport.model.verification import Diagnostic, KernelUse, Status, UnitResult, Verification
from rocport.report.html import Page, diff, render, render_page
from rocport.verify.reports import of_build

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
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
    assert HOSTILE in data["findings"][0]  # type: ignore[index]


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
    assert data["sections"][0]["title"] == "The NVIDIA path is what it was" and data["files"][0]["rows"]  # type: ignore[index]
    nothing = CliRunner().invoke(cli, ["report", str(port), "--out", str(page), "--no-build", "--run"])
    assert nothing.exit_code == 1 and "no program to run" in nothing.output and "leave out --run" in nothing.output
    refused = CliRunner().invoke(cli, ["report", str(source), "--out", str(page)])
    assert refused.exit_code == 2 and "run `rocport port` first" in refused.output


def test_the_page_has_what_the_port_was_made_for(tmp_path: Path) -> None:
    """hipGraphAddNode is of ROCm 6.2: a port for 6.1 leaves it, and its page and `task` name it."""
    source, port, page = tmp_path / "tree", tmp_path / "tree-hip", tmp_path / "page.html"
    source.mkdir()
    (source / "a.cu").write_text("void f() { cudaGraphAddNode(0, 0, 0, 0, 0); }\n")
    words = ["--rocm", "6.1", "--torch", "2.5", "--target", "gfx942"]
    assert CliRunner().invoke(cli, ["port", str(source), "--out", str(port), *words]).exit_code == 1
    done = CliRunner().invoke(cli, ["report", str(port), "--out", str(page), "--no-build"])
    assert done.exit_code == 0 and "which ROCm 6.1 does not declare" in page.read_text()
    left = CliRunner().invoke(cli, ["task", str(port)])
    assert left.exit_code == 0 and "which ROCm 6.1 does not declare" in left.output


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, driven through its DevTools as a person would drive it."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright drives the page; it is in the extra [dev]")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium (Debian: chromium) to open the page in")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=found, args=quiet)
        yield opened
        opened.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A function that opens the text of a page from a file; the test fails if the page asks for anything else."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    asked: list[str] = []
    errors: list[str] = []

    def opened(text: str) -> Any:
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        page = context.new_page()
        page.set_default_timeout(600_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        return page

    yield opened
    context.close()
    assert not errors and all(url.startswith("file:") for url in asked)


def _rich() -> Page:
    """Every part of a page: findings of each kind, texts, sections with a plot and links, evidence, problems."""
    findings = (
        _finding("a.cu", 2, Applicability.MANUAL, HOSTILE, rule="inline-ptx"),
        _finding("b.cu", 1, Applicability.REVIEW),
        _finding("c.cu", 1, Applicability.SAFE),
    )
    points = ((1.0, 0.001, HOSTILE), (2.0, 0.0, "zero"), (3.0, 0.1, "third"))
    sections = (
        Section(
            "Layer by layer",
            ("module", "error", "where"),
            tuple((Mark(name, "code"), error, Mark("there", "", href)) for (_, error, name), href in zip(
                points, ("pages/a.html", "javascript:alert(1)", "#findings"), strict=True)),
            "a note", (1,), Plot("module", "error", (Series("error", points), Series("bound", points[:1])), log=True),
        ),
        Section("Many", ("n",), tuple((n,) for n in range(1200))),
    )  # fmt: skip
    report = Report(
        "port", "here/tree", (), findings, (Problem("p", "why"),), sections=sections,
        left_out=(LeftOut("r", "q.cu", 3, "comment", "said"),),
        evidence=(("compiled", Mark("1 of 2", "warn", "#layer-by-layer")), ("hardware", Mark("no", "dim"))),
    )  # fmt: skip
    return Page(report, {"a.cu": (b"x\ny\n", "a.cu", b"x\nz\n")})


def _expect(locator: Any) -> Any:
    """Assertions that wait: a filter draws its list when the page has time."""
    from playwright.sync_api import expect

    expect.set_options(timeout=600_000)
    return expect(locator)


def test_every_filter_and_key(show: Any) -> None:
    page = show(render_page(_rich()))
    files = page.locator("#list summary > code")
    count, focus = page.locator("#count"), "document.activeElement.querySelector('code')?.textContent"
    assert page.title() == "rocport: tree" and page.locator("img").count() == 0
    _expect(count).to_have_text("2 findings in 2 files")
    _expect(files).to_have_text(["a.cu", "b.cu"])
    for kind, left in (("safe", 3), ("review", 2), ("manual", 1)):
        page.locator(f"input[value={kind}]").click()
        _expect(count).to_contain_text(f"{left} finding")
    page.keyboard.press("Escape")
    _expect(files).to_have_count(2)
    page.locator("#rule").select_option("inline-ptx")
    _expect(files).to_have_text(["a.cu"])
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("document.querySelectorAll('#list summary').length === 2")
    page.locator("#file").focus()
    page.locator("#file").select_option("b.cu")
    _expect(files).to_have_text(["b.cu"])
    page.locator("body").press("Escape")
    page.locator("h1").click()
    page.keyboard.press("j")
    assert page.evaluate(focus) == "a.cu"
    page.keyboard.press("j")
    assert page.evaluate(focus) == "b.cu"
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    details = page.locator("#list details").first
    _expect(details.locator(".note")).to_have_count(1)
    assert details.get_attribute("open") is not None
    assert details.locator(".finding p").nth(1).inner_text().split() == HOSTILE.split()
    page.keyboard.press("/")
    page.keyboard.type("b.cu")
    _expect(files).to_have_text(["b.cu"])
    page.keyboard.press("Enter")
    assert page.evaluate(focus) == "b.cu"


def test_every_link_leads_somewhere(show: Any) -> None:
    page = show(render_page(_rich()))
    links = page.locator("main a, nav a, header a, body > a")
    inside = [link.get_attribute("href") for link in links.all()]
    assert {"#findings", "#layer-by-layer", "#many", "#problems", "#left-out", "pages/a.html"} <= set(inside)
    assert not [href for href in inside if not href.startswith(("#", "pages/"))]
    for href in sorted({href for href in inside if href.startswith("#")}):
        page.evaluate("location.hash = ''")
        page.locator(f"a[href='{href}']").first.focus()
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == href and page.locator(href).is_visible()
    assert page.locator("#treemap rect").count() == 2
    page.locator("#treemap a").first.focus()
    page.keyboard.press("Enter")
    _expect(page.locator("#count")).to_have_text("1 finding in 1 file")


def test_sections_sort_and_plot(show: Any) -> None:
    page = show(render_page(_rich()))
    table = page.locator("#layer-by-layer table")
    heading = table.get_by_role("button", name="error")
    column = "[...document.querySelectorAll('#layer-by-layer tbody tr')].map((row) => row.cells[1].textContent)"
    for state, rows in (("ascending", ["0", "0.00100", "0.100"]), ("descending", ["0.100", "0.00100", "0"])):
        heading.focus()
        page.keyboard.press("Enter")
        assert table.locator("th").nth(1).get_attribute("aria-sort") == state and page.evaluate(column) == rows
    assert table.locator(".bar").count() == 3
    plot = page.locator("#layer-by-layer svg.plot")
    assert plot.locator("circle").count() == 4 and plot.locator("polyline").count() == 1
    assert plot.locator("circle title").first.text_content().startswith(HOSTILE[:20])
    assert page.locator("#many tbody tr").count() == 500
    page.get_by_role("button", name="Show 500 more of 1200 rows").press("Enter")
    assert page.locator("#many tbody tr").count() == 1000


def test_landmarks_names_print_and_the_dark(show: Any) -> None:
    page = show(render_page(_rich()))
    tree = page.locator("body").aria_snapshot()
    for part in ('- banner', '- navigation "Sections"', "- main", "- contentinfo", 'form "Filters"',
                 'region "Findings"',
                 'searchbox "Search', 'combobox "Rule"', 'combobox "File"', 'group "Applicability"', 'region "Many"',
                 'img "Layer by layer', 'list "Levels of evidence"', 'heading "port of tree" [level=1]'):  # fmt: skip
        assert part in tree, part
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the findings"
    colour = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colour) != light
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("nav").is_visible() and not page.locator("form").is_visible()
    assert page.locator("#list details[open] .finding").first.is_visible()
    assert page.locator("#many tbody tr").count() == 1200


def test_ten_thousand_findings_open(show: Any) -> None:
    """What is not looked at is not drawn, however many files: the work of opening the page stays small."""
    kinds = (Applicability.MANUAL, Applicability.REVIEW)
    findings = [_finding(f"dir/{n}.cu", n + 1, kinds[n % 2]) for n in range(10_000)]
    page = show(render(_report(findings)))
    assert page.locator("html").get_attribute("data-ready") == "10000" and page.locator("details").count() == 100
    assert page.evaluate("document.querySelectorAll('*').length") < 1_500
    page.get_by_role("button", name="Show 100 more of 10000 files").press("Enter")
    assert page.locator("details").count() == 200
    page.locator("#file").focus()
    assert page.locator("#file option").count() == 10_001


def test_a_printer_sees_every_body_and_leaves_the_page_as_it_was(show: Any) -> None:
    """`beforeprint` returns when the bodies are drawn, not when a queued event comes; `afterprint` folds them."""
    page = show(render(_report([_finding(f"{n:03}.cu", 1, Applicability.MANUAL) for n in range(150)])))
    page.locator("#list summary").nth(1).press("Enter")
    counts = "[...document.querySelectorAll('#list details')].map((one) => one.querySelectorAll('.finding').length)"
    printed = page.evaluate(f"(() => {{ dispatchEvent(new Event('beforeprint')); return {counts}; }})()")
    assert printed == [1] * 150
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(counts) == [0, 1] + [0] * 98 and page.locator("#list details[open]").count() == 1


def _opens(page: Any, command: str, *headings: str) -> None:
    """The page of a command has its title, evidence, its sections, and no link into nowhere."""
    assert page.locator("h1").inner_text().startswith(f"{command} of ") and page.locator("#verdict").inner_text()
    shown = page.locator("main > section:not([hidden]) > h2").all_inner_texts()
    assert set(headings) <= set(shown), shown
    inside = {link.get_attribute("href") for link in page.locator("a[href^='#']").all()}
    assert not [href for href in inside if not page.locator(href).count()]


def test_the_page_of_each_command(show: Any, tmp_path: Path) -> None:
    """Those that need no compiler, as the commands write them."""
    source, both = tmp_path / "tree", tmp_path / "both"
    shutil.copytree(EXAMPLES / "turned", source)
    written = CliRunner().invoke(cli, ["port", str(source), "--layout", "both", "--out", str(both), "--format", "html"])
    unchanged = ["verify", str(both), "--level", "nvidia-unchanged", "--format", "html"]
    commands = (
        (
            "scan",
            CliRunner().invoke(cli, ["scan", str(source), "--format", "html"]),
            ("Work left, by file", "Findings"),
        ),
        ("port", written, ("Work left, by file", "Findings")),
        ("verify", CliRunner().invoke(cli, unchanged), ()),
        ("doctor", CliRunner().invoke(cli, ["doctor", "--format", "html"]), ()),
    )
    for command, done, headings in commands:
        assert done.stdout.startswith("<!DOCTYPE html>"), (command, done.output[-300:])
        _opens(show(done.stdout), command, *headings)


def test_the_page_of_a_build(show: Any) -> None:
    """Units by target, an error's line, and what each kernel uses of a target as a plot."""
    kernel = KernelUse("_Z1kPf", 40, 0, 16, 0, 0, 0, 1024, 64, 1024, 8)
    error = Diagnostic("b.hip", 3, 1, "no such name", "b.cu", 3)
    units = (
        UnitResult("a.hip", "host", Status.OK),
        UnitResult("a.hip", "gfx942", Status.OK, kernels=(kernel,)),
        UnitResult("a.hip", "gfx1100", Status.OK, kernels=(replace(kernel, wavefront=32, occupancy=16),)),
        UnitResult("b.hip", "gfx942", Status.FAIL, errors=(error,)),
    )
    page = show(render(of_build(Verification("build", "here/port", ("gfx942", "gfx1100"), "said how", units))))
    kernels = "Kernels: registers, LDS, spills and occupancy"
    _opens(page, "verify", "Build", kernels)
    section = page.locator("section", has=page.get_by_role("heading", name=kernels))
    assert section.locator("svg.plot circle").count() == 2 and section.locator("tbody tr").count() == 2
    assert "b.hip:3: no such name" in page.locator("#build").inner_text()


SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"


def _screenshot(page: Any, name: str) -> None:
    """Of what a reader sees first, into build/screenshots; `make screenshots` takes them into docs."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    clip = {"x": 0, "y": 0, "width": 1280, "height": 1300}
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True, clip=clip)
    assert (SCREENSHOTS / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_screenshot_of_a_port(show: Any, tmp_path: Path) -> None:
    example, port, file = EXAMPLES / "rowstats", tmp_path / "rowstats-hip", tmp_path / "report.html"
    CliRunner().invoke(cli, ["port", str(example), "--out", str(port)])
    assert CliRunner().invoke(cli, ["report", str(port), "--no-build", "--out", str(file)]).exit_code == 0
    page = show(file.read_text(encoding="utf-8"))
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.locator("#list details[open] .diff").count() == 1
    _screenshot(page, "report")


def test_screenshot_of_numbers(show: Any) -> None:
    pytest.importorskip("torch", reason="compare reads goldens with torch")
    goldens = [str(EXAMPLES / "transformer" / f"h200-{name}.golden") for name in ("float32", "bfloat16")]
    done = subprocess.run(
        [sys.executable, "-m", "rocport", "compare", *goldens, "--format", "html"], capture_output=True, check=False
    )
    page = show(done.stdout.decode())
    assert page.locator("#layer-by-layer circle").count() == 164
    _screenshot(page, "numbers")


def _scoreboard() -> tuple[Any, dict[str, Any]]:
    """The program that writes the scoreboard, and its data."""
    root = EXAMPLES.parent
    spec = importlib.util.spec_from_file_location("scoreboard", root / "benchmarks" / "scoreboard.py")
    assert spec is not None and spec.loader is not None
    board = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(board)
    return board, json.loads((root / "benchmarks" / "results" / "scoreboard.json").read_text(encoding="utf-8"))


def test_the_scoreboard_of_the_docs_is_what_its_data_says() -> None:
    board, data = _scoreboard()
    assert (EXAMPLES.parent / "docs" / "scoreboard.md").read_text(encoding="utf-8") == board.markdown(data)


def test_screenshot_of_the_scoreboard(show: Any) -> None:
    board, data = _scoreboard()
    page = show(render(board.report(data)))
    rows = page.locator("#from-pypi tbody tr").count() + page.locator("#from-git tbody tr").count()
    assert rows == len(data["packages"]) >= 100
    _screenshot(page, "scoreboard")
