"""What somebody else's names and logs may do to a terminal, to CI and to the readers of reports: nothing."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from rocport.cli import cli
from rocport.model import Applicability, Confidence, Finding, Problem, Report, Severity, Span
from rocport.model.terminal import Guard, one_line, paint, printable, shown
from rocport.report import formats, render

EVIL = "a\x1b]0;owned\x07\x1b[8m\x9b2J\u202e\r\x7f::error::x"
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_COLOUR = re.compile(r"\x1b\[(?:[0-9;]*)m")
_COMMAND = re.compile(r"^\s*::|##\[|##vso\[", re.M)


_ALL = """
import json, sys
from rocport.cli import main
streams = sys.stdout, sys.stderr
for words in json.loads(sys.argv[1]):
    sys.argv = ["rocport", *words]
    sys.stdout, sys.stderr = streams
    try:
        main()
    except SystemExit as ended:
        print("== ended", ended.code, flush=True)
"""


def on_a_terminal(commands: list[list[str]], cwd: Path) -> str:
    """What commands print on a terminal, stdout and stderr."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
    child = subprocess.Popen(
        [sys.executable, "-c", _ALL, json.dumps(commands)], cwd=cwd, stdin=subprocess.DEVNULL, stdout=theirs,
        stderr=theirs, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    child.wait()
    return said.decode("utf-8", "replace").replace("\r\n", "\n")


def is_harmless(text: str) -> bool:
    return not _CONTROL.search(_COLOUR.sub("", text)) and not _COMMAND.search(text) and "\x1b[8m" not in text


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree") / "src"
    root.mkdir()
    (root / f"{EVIL}.cu").write_text('__global__ void k() { asm("bogus.\x1b[8m;"); }\n#include <cuda_runtime.h>\n')
    (root / "\n::error file=x::y.cu").write_text("#include <nope/\x1b[2J.h>\nvoid f(void **p) { cudaMalloc(p, 4); }\n")
    (root / "log").write_text(f"hipErrorNoBinaryForGpu \x1b[8m{EVIL}\n::error::owned\n##[error]x\nHIP error: {EVIL}\n")
    return root


LOOKING = [
    ["scan", "{tree}"],
    ["scan", "{tree}", "--format", "concise"],
    ["port", "{tree}", "--diff"],
    ["port", "{tree}", "--check"],
    ["verify", "{tree}", "--level", "nvidia-unchanged", "--original", "{tree}"],
    ["explain", "{tree}/log"],
    ["doctor", "--from", "{tree}/log"],
]


def test_names_and_logs_reach_no_terminal(tree: Path) -> None:
    said = on_a_terminal([[word.format(tree=tree) for word in words] for words in LOOKING], tree)
    assert said.count("== ended") == len(LOOKING) and "Traceback" not in said
    assert is_harmless(said), said


def test_every_command_names_a_hostile_argument_harmlessly(tmp_path: Path) -> None:
    names = [name for name in cli.list_commands(None) if name not in ("mcp", "exec", "hipcc")]  # type: ignore[arg-type]
    said = on_a_terminal(
        [[name, *more] for name in names for more in ([f"{tmp_path}/{EVIL}"], [f"--{EVIL}"])], tmp_path
    )
    assert is_harmless(said) and said.count("== ended") == 2 * len(names) and "Traceback" not in said, said


def finding(path: str, message: str) -> Finding:
    return Finding(
        rule="r", path=path, span=Span(0, 1), line=1, end_line=1,
        severity=Severity.BREAKS_BUILD,
        confidence=Confidence.HIGH, applicability=Applicability.MANUAL, message=message, fix=message, phase=0,
        source="https://example.org", edits=(), headers=frozenset(),
    )  # fmt: skip


def hostile(report: Report) -> Report:
    text = f"{EVIL}\n::error::owned\n##[error]x ##vso[task] `</code>`<script>alert(1)</script> ![x](x) @you | %0A"
    return replace(report, findings=(finding(text, text),), problems=(Problem(text, text),))


@pytest.mark.parametrize("name", formats())
def test_no_format_lets_it_through(name: str) -> None:
    report = hostile(Report("scan", "root", (), (), ()))
    for colour in (False, True):
        text = render(name, report, colour)
        assert not _CONTROL.search(_COLOUR.sub("", text)), name
        assert "<script>alert" not in text or name in ("json", "jsonl", "sarif", "text", "concise", "github")
        if name == "github":
            lines = text.splitlines()
            assert len(lines) == 2 and all(line.startswith("::error file=") for line in lines)
        elif name != "html":
            assert not _COMMAND.search(text), text
    if name == "json":
        assert json.loads(text)["findings"][0]["path"] == report.findings[0].path
    if name == "sarif":
        assert report.findings[0].message in json.loads(text)["runs"][0]["results"][0]["message"]["text"]
    if name == "junit":
        ElementTree.fromstring(text)
    if name == "markdown":
        assert "![" not in text and "@you" not in text and "<script" not in text
        assert all(line.count("|") in (0, 4, 5) for line in text.splitlines())


@pytest.mark.parametrize("where", [">&-", "2>&-", "> /dev/full", ">&- 2>&-"])
def test_nowhere_to_print_ends_no_command_with_a_traceback(where: str, tree: Path) -> None:
    command = f'exec "{sys.executable}" -m rocport scan . --isolated {where}'
    done = subprocess.run(["bash", "-c", command], cwd=tree, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    assert done.returncode == (2 if "full" in where else 1)
    assert ("No space left" in done.stderr) is ("full" in where)


def test_a_diff_that_nobody_takes_ends_no_command_with_a_traceback(tree: Path) -> None:
    command = f'exec "{sys.executable}" -m rocport port . --diff --isolated >&-'
    done = subprocess.run(["bash", "-c", command], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    "bad", ["\x00", "\x07", "\x08", "\r", "\x1b", "\x7f", "\x85", "\x9b", "\u2028", "\u202e", "\u2066", "\u200f"]
)
def test_what_acts_on_a_terminal_is_spelled_out(bad: str) -> None:
    assert printable(f"a{bad}b\t\n") == f"a\\u{ord(bad):04x}b\t\n"
    assert json.loads(f'"{printable(bad)}"') == bad


def test_what_is_text_stays() -> None:
    text = "ünï ✓ a::b # [x] std::vector<int>\n\tx ## y\n"
    assert shown(text) == text == printable(text)
    assert one_line("a\n\tb") == "a\\u000a\\u0009b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("::error::x", "\\u003a:error::x"),
        ("a\n  ::add-mask::x\n", "a\n  \\u003a:add-mask::x\n"),
        ("x ##[error]y", "x #\\u0023[error]y"),
        ("##vso[task.x]", "#\\u0023vso[task.x]"),
        ("a ::b", "a ::b"),
    ],
)
def test_commands_of_ci_are_none(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_a_guard_keeps_our_colours_only(tmp_path: Path) -> None:
    place = tmp_path / "out"
    with place.open("w", encoding="ascii") as stream:
        guard = Guard(stream)
        guard.write(paint("red\x1b[8m", "red", bold=True) + "\x1b[31m")
        guard.write("::error::not at the start of a line\n")
        guard.write("::error::x \udc80 ü")
        guard.raw("::notice::ours")
        with pytest.raises(TypeError):
            guard.write(b"x")  # type: ignore[arg-type]
    assert place.read_text() == (
        "\x1b[1;31mred\\u001b[8m\x1b[0m\\u001b[31m::error::not at the start of a line\n"
        "\\u003a:error::x \\udc80 \\xfc::notice::ours"
    )
    assert paint("x") == "x" and shown(paint("x", "green")) == "\x1b[32mx\x1b[0m"


@pytest.mark.parametrize("ci", [{}, {"GITHUB_ACTIONS": "true"}])
def test_what_a_program_prints_is_its_own_but_on_terminals_and_in_ci(
    ci: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocport.cli.running import show
    from rocport.executor.base import RunResult

    for name in ("GITHUB_ACTIONS", "TF_BUILD"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ci.items():
        monkeypatch.setenv(name, value)
    with (tmp_path / "out").open("w") as stream:
        monkeypatch.setattr(sys, "stdout", Guard(stream))
        show(RunResult(0, "::error::x\x1b[8m\n", "", 0.0), 32, 1.0)
    assert ((tmp_path / "out").read_text() == "::error::x\x1b[8m\n") is not bool(ci)
