"""`rocport explain`: a log diagnosed against the known failures, or the page of a rule or failure."""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path
from typing import Any

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS
from rocport.cli.common import emit, make_options
from rocport.model import Options
from rocport.report import formats


@click.command("explain", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("subject", required=False)
@click.option("--list", "list_all", is_flag=True, help="Name every known failure and rule.")
@click.option("--all", "show_all", is_flag=True, help="Also show the general failures and unexplained error lines.")
@click.option("--vendor", type=click.Choice(["amd", "nvidia"]), help="Whose GPU it is, where the paste does not say.")
@click.option("--target", metavar="GFX[,GFX]", help="Which GPUs, where the paste does not say.")
@click.option("--rocm", metavar="VERSION", help="Which ROCm, such as 10.1; wins over what the paste says.")
@click.option("--torch", metavar="VERSION", help="Which PyTorch; wins over what the paste says.")
@click.option("--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="Output format.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_context
def command(
    ctx: click.Context,
    subject: str | None,
    list_all: bool,
    show_all: bool,
    vendor: str | None,
    target: str | None,
    rocm: str | None,
    torch: str | None,
    fmt: str,
    as_json: bool,
) -> None:
    """Explain SUBJECT: anything pasted (a file, or - for stdin), a rule, a failure by its id, or a status code
    (hipErrorNoDevice).

    A paste is read for whose GPU it is about (an NVIDIA one gets a sentence and silence), for machine and versions, and
    matched against the known failures, most specific first, each with its line. Exit code 1: at least one was
    found; 0: none was, and what to collect is printed; 2: SUBJECT is nothing known or cannot be read. A file wins over
    a rule of the same name; ./NAME always means the file.
    """
    fmt = "json" if as_json else fmt
    is_paste = subject is not None and (subject == "-" or Path(subject).exists())
    if fmt not in ("text", "json") and (list_all or not is_paste):
        raise click.UsageError(f"a page and the list are text and json, not {fmt}; {fmt} is for a paste")
    if list_all:
        _print_list(fmt == "json")
        ctx.exit(EXIT_CLEAN)
    if subject is None:
        raise click.UsageError("name a log file, - for stdin, a rule or a failure; --list names them all")
    if is_paste:
        ctx.exit(_explain_log(subject, show_all, fmt, vendor or "", make_options(target, rocm, torch)))
    from rocport.facts.dates import dated, facts_as_of

    page, data = _page(subject)
    data |= facts_as_of("failures")
    click.echo(json.dumps(data, indent=2) if fmt == "json" else f"{page}\n{dated('failures')}")


def _explain_log(subject: str, show_all: bool, fmt: str, vendor: str, options: Options) -> int:
    from rocport.explain import read_stream
    from rocport.explain.pages import reading_data, reading_text
    from rocport.explain.report import reading_report
    from rocport.facts.dates import dated

    name = "stdin" if subject == "-" else subject
    try:
        if subject == "-":
            reading = read_stream(sys.stdin.buffer, name, vendor, options)
        else:
            with Path(subject).open("rb") as stream:
                if stream.peek(4).startswith((b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zX")):
                    raise click.UsageError(
                        f"{subject} is compressed; unpack it and pipe it: zcat ... | rocport explain -"
                    )
                reading = read_stream(stream, name, vendor, options)
    except OSError as error:
        raise click.UsageError(f"cannot read {name}: {error.strerror or error}; expected a log file or -") from error
    data = reading_data(reading)
    if fmt == "json":
        click.echo(json.dumps(data, indent=2))
    elif fmt == "text":
        click.echo(f"{reading_text(reading, show_all)}\n{dated('failures')}")
    else:
        emit(reading_report(reading, data, dated("failures"), show_all), fmt)
    return EXIT_FINDINGS if reading.matches else EXIT_CLEAN


def _page(subject: str) -> tuple[str, dict[str, Any]]:
    from rocport.explain.pages import failure_data, failure_text, rule_data, rule_text
    from rocport.facts.failures import load_failures
    from rocport.facts.status import status_failures
    from rocport.rules import discover

    for loaded in discover():
        if loaded.rule.name == subject:
            return rule_text(loaded.rule, loaded.doc), rule_data(loaded.rule, loaded.doc)
    for failure in load_failures():
        if failure.id == subject:
            return failure_text(failure), failure_data(failure)
    if subject in status_failures():
        failure = status_failures()[subject]
        return failure_text(failure), failure_data(failure)
    known = [loaded.rule.name for loaded in discover()] + [failure.id for failure in load_failures()]
    close = difflib.get_close_matches(subject, known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(close)}?" if close else "rocport explain --list names rules and failures"
    raise click.UsageError(f"{subject!r} is no file, no rule and no known failure; {hint}")


def _print_list(as_json: bool) -> None:
    from rocport.explain.pages import failure_data, rule_data
    from rocport.facts.dates import dated
    from rocport.facts.failures import load_failures
    from rocport.rules import discover

    failures = sorted(load_failures(), key=lambda failure: (failure.area, failure.id))
    if as_json:
        data = {
            "rules": [rule_data(loaded.rule, loaded.doc) for loaded in discover()],
            "failures": [failure_data(failure) for failure in failures],
        }
        click.echo(json.dumps(data, indent=2))
        return
    click.echo("rules")
    for loaded in discover():
        click.echo(f"  {loaded.rule.name:34} {loaded.rule.summary}")
    for area in sorted({failure.area for failure in failures}):
        click.echo(f"failures: {area}")
        for failure in failures:
            if failure.area == area:
                click.echo(f"  {failure.id:34} {failure.title}")
    click.echo(dated("failures"))
