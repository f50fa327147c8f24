"""`rocport report`: what is known of a port, as one page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocport.cli import EXIT_CLEAN
from rocport.cli.common import make_targets, one_of_each_width, print_date
from rocport.model import Mark
from rocport.model.plain import plain

if TYPE_CHECKING:
    from rocport.model import Report
    from rocport.port.manifest import Manifest

_LEVELS = (
    ("compiled", "not asked"),
    ("run at 32 and 64", "not asked"),
    ("machine code run", "no"),
    ("hardware", "no"),
    ("NVIDIA path", "not asked"),
)
"""The levels of evidence, weakest first, with what is said of one that nothing was done about."""


@click.command("report", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("rocport-report.html"),
              show_default=True, help="Where the page goes.")  # fmt: skip
@click.option("--target", default=one_of_each_width, show_default="one of each wavefront width",
              metavar="GFX[,GFX]", help="Compile for these.")  # fmt: skip
@click.option("--build/--no-build", default=True, show_default=True, help="Compile every unit for the targets.")
@click.option("--run/--no-run", default=False, show_default=True, help="Run the programs of the port at both widths.")
@click.option("-j", "--jobs", type=click.IntRange(0), default=0, help="Processes; 0: one a core.")
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
def command(out: Path, target: str, build: bool, run: bool, jobs: int, path: Path) -> None:
    """Write one page about the port in PATH: verdict, findings at their lines, sources side by side, kernels, runs.

    PATH is what `rocport port` wrote, with its sources where they were. The page needs no network and no server; what
    it says was not asked was not done. Exit code 0: it is written; 2: PATH is no port, or something cannot be read.
    """
    print_date()
    from rocport import api
    from rocport.cli import nvidia_unchanged
    from rocport.port import manifest
    from rocport.port.files import write_atomic
    from rocport.report.html import Page, render_page
    from rocport.verify import nvidia
    from rocport.verify.functional import FunctionalError
    from rocport.verify.reports import of_functional

    try:
        known, source = manifest.open_port(path)
    except manifest.NotAPortError as error:
        raise click.UsageError(f"{error}; run `rocport port` first, or `rocport scan --format html`") from error
    report, texts = _read(path, source, known, jobs)
    parts = [_build(path, target, jobs)] if build else []
    try:
        parts += [of_functional(api.verify(path, "functional"), str(path))] if run else []
        beside = known.options.get("layout") == "both"
        parts.append(nvidia_unchanged.report(nvidia.verify(path, source)) if beside else _untouched(known, source))
    except FunctionalError as error:
        raise click.ClickException(f"{error}\nOr leave out --run.") from error
    except nvidia.TreeError as error:
        raise click.ClickException(str(error)) from error
    shown = {level: mark for part in parts for level, mark in part.evidence}
    evidence = tuple((level, shown.get(level) or Mark(unasked, "dim")) for level, unasked in _LEVELS)
    report = replace(report, sections=tuple(one for part in parts for one in part.sections), evidence=evidence)
    write_atomic(out, render_page(Page(report, texts)).encode())
    click.echo(out)
    click.get_current_context().exit(EXIT_CLEAN)


def _read(path: Path, source: Path, known: Manifest, jobs: int) -> tuple[Report, dict[str, tuple[bytes, str, bytes]]]:
    """The findings of the sources, and each ported file beside its source, as they lie there now."""
    from rocport import api
    from rocport.port import manifest

    try:
        settings = api.settings(source, **manifest.given(known))
        tree = api.read(source, settings, frozenset({path.resolve()}), whole=True)
        patch = api.port(tree, settings, jobs=jobs)
    except (api.ConfigError, api.BaselineError, api.LayoutError) as error:
        raise click.ClickException(str(error)) from error
    texts: dict[str, tuple[bytes, str, bytes]] = {}
    for output, record in known.files.items():
        if record.source and record.status != "copied":
            try:
                texts[record.source] = (plain(source / record.source), output, plain(path / output))
            except OSError as error:
                raise click.ClickException(f"{error.filename}: {error.strerror}; port again") from error
    return api.report(patch, str(source)), texts


def _untouched(known: Manifest, source: Path) -> Report:
    """Of a port that is a tree of its own: NVIDIA builds the sources, and each is what was ported, by its hash."""
    from rocport.cli.nvidia_unchanged import PROOF
    from rocport.model import Report, Section
    from rocport.model.report import anchor

    hashes = {record.source: record.source_sha256 for record in known.files.values() if record.source_sha256}
    other = [name for name, seen in sorted(hashes.items()) if _hash(source / name) != seen]
    same = len(hashes) - len(other)
    rows = tuple((Mark(name, "code"), Mark("not what was ported, or gone", "bad")) for name in other)
    note = "The port is a tree of its own: NVIDIA builds the sources. "
    note += f"{same} of {len(hashes)} are what was ported, by SHA-256."
    state, tone = ("changed since", "warn") if other else ("untouched", "good")
    mark = Mark(f"sources {state}", tone, "#" + anchor(PROOF))
    section = Section(PROOF, ("source", "state") if rows else (), rows, note)
    return Report("verify", str(source), (), (), sections=(section,), evidence=(("NVIDIA path", mark),))


def _hash(path: Path) -> str:
    from rocport.model.digest import file_sha256

    try:
        return file_sha256(path)
    except OSError:
        return ""


def _build(path: Path, target: str, jobs: int) -> Report:
    """Level build; the compiler's absence is a sentence, not an empty table."""
    import os

    from rocport.model import cache_folder
    from rocport.toolchain import ToolchainError
    from rocport.verify.build import BuildOptions, VerifyError, verify
    from rocport.verify.reports import of_build

    options = BuildOptions(targets=make_targets(target), jobs=jobs or os.cpu_count() or 1, cache=cache_folder())
    try:
        return of_build(verify(path, options))
    except (ToolchainError, VerifyError) as error:
        raise click.ClickException(f"{error}\nOr pass --no-build.") from error
