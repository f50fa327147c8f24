"""`rocport diff`: what a change adds or takes away: sites, units that compile, programs that pass."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocport.cli.common import (
    emit,
    make_settings,
    make_targets,
    one_of_each_width,
    print_date,
    refuse_given,
    settings_options,
    without_collector,
)
from rocport.report import formats

if TYPE_CHECKING:
    from rocport.model import Cell, Findings, Report, Section
    from rocport.scan.change import Change
    from rocport.scan.config import Settings

_COUNTS = {"any": ("safe", "review", "manual"), "review": ("review", "manual"), "manual": ("manual",), "never": ()}


@dataclass(frozen=True)
class Side:
    """One end of the change: its name, tree and sites, and the state of each unit and program where it was asked."""

    name: str
    root: Path
    found: Findings
    units: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)


@click.command("diff", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("revisions", metavar="BASE[..HEAD]")
@click.argument("path", default=".", type=click.Path(exists=True, path_type=Path, file_okay=False))
@settings_options
@click.option("--build", is_flag=True, help="Port both ends and compile every unit for the targets.")
@click.option("--run", is_flag=True, help="Port both ends and run their programs at both wavefront widths.")
@click.option(
    "--fail-on",
    type=click.Choice(list(_COUNTS)),
    default="any",
    show_default=True,
    help="Which new sites make the exit code 1: any, those to review or to do by hand, those to do by hand, none.",
)
@click.option("--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="Output format.")
@click.option("--output-file", metavar="FILE", help="Write the report to FILE instead of stdout.")
@click.option("-j", "--jobs", type=click.IntRange(0), default=0, help="Processes; 0: one a core.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    revisions: str,
    path: Path,
    build: bool,
    run: bool,
    fail_on: str,
    fmt: str,
    output_file: str | None,
    jobs: int,
    **given: Any,
) -> None:
    """What the change from BASE to HEAD adds or takes away below PATH.

    BASE alone is compared with the work tree, BASE...HEAD with what HEAD parted from. One-to-one renames, which `port`
    does by itself, are not counted, and a baseline is not asked: BASE is it. Exit code 0: nothing new; 1: a new site,
    a unit that no longer compiles, a program that no longer passes; 2: no repository, no such revision, wrong usage.
    """
    print_date()
    from rocport import api
    from rocport.scan import change, revision

    without_collector()
    refuse_given(ctx, ["baseline"], "is of scan and port: here BASE says what is known")
    settings = replace(make_settings(path, given), baseline="")
    try:
        folder = path.resolve()
        repository = revision.top(folder).resolve()
        below = "" if folder == repository else folder.relative_to(repository).as_posix()
        base, head = _ends(repository, revisions)
        with tempfile.TemporaryDirectory(prefix="rocport-diff-") as scratch:
            sides = []
            for name, commit in (("base", base), ("head", head)):
                root = folder
                if commit:
                    root = Path(scratch, name, folder.name)
                    revision.extract(repository, commit, root, below)
                side = _side(commit or "work tree", root, settings, jobs)
                sides.append(_proved(side, Path(scratch, name + "-port"), settings, given["target"], build, run, jobs))
            moved = {
                _inside(new, below): _inside(old, below)
                for new, old in revision.renames(repository, base, head).items()
            }
            before, after = sides
            changed = change.compare(before.found, after.found, moved)
            report = _report(before, after, changed, build, run)
    except (revision.RevisionError, api.ConfigError, api.BaselineError, api.LayoutError) as error:
        raise click.UsageError(str(error)) from error
    emit(report, fmt, output_file)
    new = [item for item in changed.added if item.applicability.value in _COUNTS[fail_on]]
    broken = [
        name for pair in _pairs(before, after) for name, (was, now) in pair.items() if was in _GOOD and now != was
    ]
    ctx.exit(1 if new or (broken and fail_on != "never") else 0)


_GOOD = ("ok", "pass")


def _ends(repository: Path, revisions: str) -> tuple[str, str]:
    """(base, head) as commits; an empty head is the work tree."""
    from rocport.scan.revision import commit, merge_base

    if "..." in revisions:
        base, _, head = revisions.partition("...")
        return merge_base(repository, base or "HEAD", head or "HEAD"), commit(repository, head or "HEAD")
    base, dots, head = revisions.partition("..")
    return commit(repository, base or "HEAD"), commit(repository, head or "HEAD") if dots else ""


def _inside(path: str, below: str) -> str:
    return path[len(below) + 1 :] if below and path.startswith(below + "/") else path


def _side(name: str, root: Path, settings: Settings, jobs: int) -> Side:
    from rocport import api
    from rocport.scan.select import open_findings

    found = api.scan(api.read(root, settings), settings, jobs=jobs)
    return Side(name[:12], root, replace(found, findings=tuple(open_findings(found.findings))))


def _proved(side: Side, out: Path, settings: Settings, target: str | None, build: bool, run: bool, jobs: int) -> Side:
    """The side with the states of its units and programs, of a port into `out`."""
    from rocport import api
    from rocport.toolchain import ToolchainError
    from rocport.verify.build import BuildOptions, VerifyError
    from rocport.verify.functional import FunctionalError

    if not (build or run):
        return side
    units, programs = {}, {}
    api.apply(api.port(side.root, settings, jobs=jobs), out)
    if build:
        options = BuildOptions(targets=make_targets(target or one_of_each_width()), jobs=jobs)
        try:
            units = {path: state.value for path, state in api.verify(out, "build", options).paths().items()}
        except ToolchainError as error:
            raise click.ClickException(str(error)) from error
        except VerifyError:
            units = {}
    if run:
        try:
            programs = {item.path: item.verdict.value for item in api.verify(out, "functional").programs}
        except FunctionalError:
            programs = {}
    return replace(side, units=units, programs=programs)


def _pairs(before: Side, after: Side) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """Units, and programs: path -> (state before, state after); empty: it is not there."""
    found = []
    for was, now in ((before.units, after.units), (before.programs, after.programs)):
        found.append({path: (was.get(path, ""), now.get(path, "")) for path in sorted({*was, *now})})
    return found[0], found[1]


def _report(before: Side, after: Side, change: Change, build: bool, run: bool) -> Report:
    from rocport.model import Mark, Report, Section
    from rocport.report.json import finding_object

    units, programs = _pairs(before, after)
    rows = tuple(
        (rule, f"+{new}", f"-{old}", kept + old, kept + new)
        for rule, (new, old, kept) in change.by_rule().items()
        if new or old
    )
    sections = [Section("Sites by rule", ("rule", "added", "taken away", "before", "after"), rows)] if rows else []
    if change.removed:
        gone = tuple((Mark(f"{item.path}:{item.line}", "code"), item.rule, item.message) for item in change.removed)
        sections.append(Section("Sites taken away", ("place in the base", "rule", "what"), gone))
    evidence = []
    for asked, title, level, states in (
        (build, "Units that compile", "compiled", units),
        (run, "Programs that pass", "run at 32 and 64", programs),
    ):
        if asked:
            was, now = (sum(pair[at] in _GOOD for pair in states.values()) for at in (0, 1))
            worse = any(a in _GOOD and b not in (*_GOOD, "") for a, b in states.values())
            totals = [sum(bool(pair[at]) for pair in states.values()) for at in (0, 1)]
            evidence.append(
                (level, Mark(f"{was} of {totals[0]} before, {now} of {totals[1]} after", "bad" if worse else "good"))
            )
            sections.append(_states(title, states))
    new, old = len(change.added), len(change.removed)
    words = (
        f"{before.name}..{after.name}: {new} new site{'s' * (new != 1)}, {old} taken away, {len(change.kept)} as before"
    )
    data = {
        "schema": 1,
        "tool": "rocport",
        "command": "diff",
        "base": before.name,
        "head": after.name,
        "added": [finding_object(item) for item in change.added],
        "removed": [finding_object(item) for item in change.removed],
        "rules": {
            rule: {"added": a, "removed": r, "kept": k} for rule, (a, r, k) in change.by_rule().items()
        },
        "units": {path: {"base": a, "head": b} for path, (a, b) in units.items()} if build else None,
        "programs": {path: {"base": a, "head": b} for path, (a, b) in programs.items()} if run else None,
    }  # fmt: skip
    return Report(
        "diff", str(after.root), (), change.added, after.found.problems, (("base", before.name), ("head", after.name)),
        data=data, sections=tuple(sections), verdict=Mark(words, "bad" if new else "good"), evidence=tuple(evidence),
    )  # fmt: skip


def _states(title: str, states: dict[str, tuple[str, str]]) -> Section:
    """Those whose state changed; the rest is counted."""
    from rocport.model import Mark, Section

    def shown(state: str) -> Cell:
        return Mark(state or "not there", "good" if state in _GOOD else "bad" if state else "dim")

    rows = tuple((Mark(path, "code"), shown(a), shown(b)) for path, (a, b) in states.items() if a != b)
    return Section(title, ("path", "before", "after"), rows, f"{len(states) - len(rows)} of {len(states)} as before")
