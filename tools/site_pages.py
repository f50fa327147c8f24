"""The pages of the site that are made: the start from the README, rules, failures, facts, and what was verified.

A hook of mkdocs (https://www.mkdocs.org/user-guide/configuration/#hooks). Nothing of it is written into docs/. Tables
are printed by the markdown format of reports.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from rocport import __version__
from rocport.explain.pages import failure_text, rule_text
from rocport.facts.dates import dated
from rocport.facts.failures import load_failures
from rocport.facts.packages import packages
from rocport.facts.rocm import rocm_releases, torch_releases
from rocport.facts.targets import all_targets
from rocport.model import Mark, Section
from rocport.report.markdown import render_sections
from rocport.rules import discover

ROOT = Path(__file__).resolve().parents[1]
MEASURED = "docs/measured.md"
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s]+)\)")


def on_config(config: Any) -> Any:
    """The site of a version says so; folders in the navigation become their pages."""
    config.site_name = f"rocport {__version__}"
    made = dict(_pages())
    config.nav = [_expanded(entry, made) for entry in config.nav]
    return config


def _expanded(entry: Any, made: dict[str, str]) -> Any:
    """`folder/` in the navigation stands for every page below it."""

    def pages(item: str) -> list[str]:
        if not item.endswith("/"):
            return [item]
        lying = [path.relative_to(ROOT / "docs").as_posix() for path in sorted((ROOT / "docs" / item).glob("*.md"))]
        return lying or sorted((name for name in made if name.startswith(item)), key=_index_first)

    ((title, below),) = entry.items()
    items = [page for item in (below if isinstance(below, list) else [below]) for page in pages(item)]
    return {title: items[0] if len(items) == 1 else items}


def _index_first(name: str) -> tuple[bool, str]:
    return not name.endswith("index.md"), name


def on_files(files: Files, config: Any) -> Files:
    """Put the made pages beside those of docs/."""
    for name, text in _pages():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links out of docs/ lead nowhere on a site: they become the name of the file in the repository."""
    here = Path(page.file.src_uri).parent
    if page.file.src_uri == "measured.md":
        markdown = _verified(markdown)

    def resolved(match: re.Match[str]) -> str:
        target = match[1].split("#")[0]
        place = os.path.normpath(here / target)
        return match[0] if files.get_file_from_path(place) is not None else f"]({_outside(place)})"

    text = _LINK.sub(resolved, markdown)
    return re.sub(
        r"\[([^\]]*)\]\(outside:([^)]*)\)", lambda match: f"{match[1]} (`{match[2]}` in the repository)", text
    )


def _outside(place: str) -> str:
    return "outside:" + os.path.normpath(os.path.join("docs", place))


def _pages() -> Iterator[tuple[str, str]]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    yield "index.md", readme.replace("](docs/", "](")
    yield from _rules()
    yield from _failures()
    yield from _facts()


def _verified(measured: str) -> str:
    """The table of figures, with the day each row was written, and what no claim rests on."""
    lines = measured.splitlines()
    days = _days()
    table = [at for at, line in enumerate(lines) if line.startswith("|")]
    rows = [f"{lines[at]} {days.get(at + 1, '')} |" for at in table[2:]]
    said = [line for line in lines[1:] if not line.startswith("|")]
    return "\n".join(
        [
            "# What was verified, how, when", "",
            "Every figure was printed by the command of the repository named beside it; the last column is the day its "
            "row was written. How a claim can be verified, weakest first:", "",
            "| level | what it rests on | command |", "|---|---|---|",
            "| read | rules and facts, each with its source | `rocport scan`, [rules](generated/rules/index.md) |",
            "| compiled | a cross-compiler for each gfx target, no GPU | [`rocport verify --level build`](verify.md) |",
            "| run at 32 and 64 | the HIP source on the CPU at both widths | "
            "[`verify --level functional`](verify-functional.md) |",
            "| machine code run | a target's code object, instruction by instruction | [`rocport exec`](exec.md) |",
            "| hardware | an AMD GPU | nothing here rests on one |", "",
            lines[table[0]] + " written |", "|---|---|---|---|", *rows, "", *said,
        ]
    ) + "\n"  # fmt: skip


def _days() -> dict[int, str]:
    """Line of the table's page -> the day it was written, here or where it was moved from, where git knows."""
    words = ["git", "-C", str(ROOT), "blame", "-C", "--line-porcelain", MEASURED]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    days, line = {}, 0
    for text in done.stdout.splitlines():
        if match := re.match(r"[0-9a-f]{40} \d+ (\d+)", text):
            line = int(match[1])
        elif text.startswith("author-time "):
            days[line] = _day(int(text.split()[1]))
    return days


def _day(seconds: int) -> str:
    import datetime

    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).date().isoformat()


def _text_page(title: str, text: str) -> str:
    fence = "````"
    return f"# {title}\n\n{fence}text\n{text}\n{fence}\n"


def _rules() -> Iterator[tuple[str, str]]:
    found = sorted(discover(), key=lambda loaded: loaded.rule.name)
    rows = []
    for loaded in found:
        rule = loaded.rule
        head, _, rest = rule_text(rule, loaded.doc).partition("\n")
        about, _, examples = rest.partition("\n\n")
        text = f"{head.partition(': ')[2]}\n{about}\n\n{examples}"
        yield f"generated/rules/{rule.name}.md", _text_page(rule.name, text)
        rows.append(
            (Mark(rule.name, "", f"{rule.name}.md"), rule.summary, rule.severity.value, rule.applicability.value,
             rule.phase, ", ".join(sorted(rule.languages)))
        )  # fmt: skip
    section = Section("Rules", ("rule", "what", "if left", "edit", "phase", "languages"), tuple(rows),
                      f"{len(rows)} rules, from their modules.")  # fmt: skip
    yield "generated/rules/index.md", _table_page(section)


def _failures() -> Iterator[tuple[str, str]]:
    rows = []
    for failure in sorted(load_failures(), key=lambda item: item.id):
        yield f"generated/failures/{failure.id}.md", _text_page(failure.title, failure_text(failure))
        rows.append((Mark(failure.id, "", f"{failure.id}.md"), failure.title, failure.area, failure.certainty))
    section = Section("Known failures", ("failure", "what", "area", "certainty"), tuple(rows), dated())
    yield "generated/failures/index.md", _table_page(section)


def _facts() -> Iterator[tuple[str, str]]:
    targets = tuple(
        (one.name, one.family, one.wavefront, one.matrix, one.fp8, "yes" if one.bf16_matrix else "no", one.lds_bytes,
         ", ".join(one.products), Mark("source", "", one.source) if one.source.startswith("https://") else one.source)
        for one in all_targets()
    )  # fmt: skip
    columns = ("target", "family", "wavefront", "matrix", "fp8", "bf16 matrix", "LDS bytes", "products", "source")
    yield "generated/facts/index.md", _table_page(Section("gfx targets", columns, targets, dated()))
    rocm = tuple((one.version, one.date, one.stream, one.hip, one.source, one.sure) for one in rocm_releases())
    torch = tuple((one.version, one.released, f"{one.python_min} to {one.python_max}", ", ".join(one.rocm), one.index,
                   one.source) for one in torch_releases())  # fmt: skip
    sections = (
        Section("ROCm releases", ("version", "date", "stream", "HIP", "source", "sure"), rocm, dated()),
        Section("PyTorch releases", ("version", "released", "Python", "ROCm wheels", "index", "source"), torch),
        Section("Packages", ("package",), tuple((one.name,) for one in packages())),
    )
    yield "generated/facts/releases.md", "# Releases and packages\n\n" + render_sections(sections)


def _table_page(section: Section) -> str:
    return render_sections((section,)).replace("## ", "# ", 1)
