"""`rocport report`: what is known of a port, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocport.cli import EXIT_CLEAN
from rocport.cli.common import make_targets, one_of_each_width

if TYPE_CHECKING:
    from rocport.model import Report
    from rocport.port.manifest import Manifest


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
    from rocport import __version__, api
    from rocport.port import manifest
    from rocport.port.files import write_atomic
    from rocport.report.html import Page, render_page
    from rocport.verify.functional import FunctionalError

    try:
        known, source = manifest.open_port(path)
    except manifest.NotAPortError as error:
        raise click.UsageError(f"{error}; run `rocport port` first, or `rocport scan --format html`") from error
    report, texts = _read(path, source, known, jobs)
    built = _build(path, target, jobs) if build else None
    try:
        ran = api.verify(path, "functional").to_json() if run else None
    except FunctionalError as error:
        raise click.ClickException(f"{error}\nOr leave out --run.") from error
    write_atomic(out, render_page(Page(report, __version__, texts, built, ran)).encode())
    click.echo(out)
    click.get_current_context().exit(EXIT_CLEAN)


def _read(path: Path, source: Path, known: Manifest, jobs: int) -> tuple[Report, dict[str, tuple[bytes, str, bytes]]]:
    """The findings of the sources, and each ported file beside its source, as they lie there now."""
    from rocport import api

    options = {"warp": known.options.get("warp"), "layout": known.options.get("layout")}
    settings = api.settings(source, **{name: value for name, value in options.items() if value})
    try:
        tree = api.read(source, settings, frozenset({path.resolve()}), whole=True)
        patch = api.port(tree, settings, jobs=jobs)
    except (api.ConfigError, api.BaselineError, api.LayoutError) as error:
        raise click.ClickException(str(error)) from error
    texts: dict[str, tuple[bytes, str, bytes]] = {}
    for output, record in known.files.items():
        if record.source and record.status != "copied":
            try:
                texts[record.source] = ((source / record.source).read_bytes(), output, (path / output).read_bytes())
            except OSError as error:
                raise click.ClickException(f"{error.filename}: {error.strerror}; port again") from error
    return api.report(patch, str(source)), texts


def _build(path: Path, target: str, jobs: int) -> dict[str, Any]:
    """Level build as JSON; the compiler's absence is a sentence, not an empty table."""
    import os

    from rocport.model import cache_folder
    from rocport.toolchain import ToolchainError
    from rocport.verify.build import BuildOptions, VerifyError, verify

    options = BuildOptions(targets=make_targets(target), jobs=jobs or os.cpu_count() or 1, cache=cache_folder())
    try:
        return verify(path, options).to_json()
    except (ToolchainError, VerifyError) as error:
        raise click.ClickException(f"{error}\nOr pass --no-build.") from error
