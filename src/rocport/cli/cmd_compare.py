"""`rocport compare`: another run against a golden file; the first operator that diverges."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS
from rocport.cli.common import refuse_given
from rocport.cli.running import sandbox_option
from rocport.report import formats

if TYPE_CHECKING:
    from rocport.numerics.process import Command


@click.command("compare")
@click.option("--out", type=click.Path(path_type=Path), help="Keep what this run computes as a golden file.")
@click.option("--exact/--bounds", default=None, help="Expect every bit, or what bounds allow; default: as measured.")
@click.option("--replay", is_flag=True, help="Run the recorded operators one by one instead, against float64.")
@click.option("--layouts", is_flag=True, help="replay: also from inputs in other strides and offsets.")
@click.option("--repeats", type=click.IntRange(2, 100), default=3, show_default=True, help="replay: runs on one input.")
@click.option(
    "--journal", type=click.Path(path_type=Path), help="replay: where to go on; default: GOLDEN.replay.jsonl."
)
@click.option("--device", help="replay: device, such as cuda:1; default: a GPU, else the CPU.")
@click.option("--poison", is_flag=True, help="Fill what torch.empty returns with NaN in this run.")
@click.option("--partial", is_flag=True, help="Accept a golden file whose run did not end well.")
@click.option("--keep-compile", is_flag=True, help="Leave torch.compile on; compiled operators are not seen.")
@click.option("--timeout", type=click.FloatRange(min=1), default=3600, show_default=True, help="Seconds for the run.")
@click.option("--memory", type=click.FloatRange(min=0), help="GiB the run may use; none by default.")
@sandbox_option
@click.option(
    "--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="--replay: text or json."
)
@click.argument("golden", type=click.Path(path_type=Path))
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OTHER | -- python SCRIPT [ARGS]...]")
@click.pass_context
def command(
    ctx: click.Context,
    out: Path | None,
    exact: bool | None,
    replay: bool,
    layouts: bool,
    repeats: int,
    journal: Path | None,
    device: str | None,
    poison: bool,
    partial: bool,
    keep_compile: bool,
    timeout: float,
    memory: float | None,
    confined: bool,
    fmt: str,
    golden: Path,
    words: tuple[str, ...],
) -> None:
    """Compare a run on this machine with GOLDEN, and name the first operator that diverges.

    With a command, it is run under capture in the way GOLDEN was; with another golden file, the two files are compared;
    with --replay, each operator in GOLDEN is run again from its recorded inputs.

    Exit code 0: equal, or within what rounding explains; 1: diverges, or the run failed; 2: wrong usage.
    """
    from rocport.cli.numerics import limits_of, parsed, recording
    from rocport.numerics.process import TaskError

    if replay:
        refuse_given(ctx, ("out", "exact", "poison", "partial", "keep_compile"), "compares; not with --replay")
    else:
        refuse_given(ctx, ("layouts", "repeats", "journal", "device"), "goes with --replay")
    if not golden.exists():
        raise click.UsageError(f"{golden}: no such golden file; record one with `rocport capture`")
    limits = limits_of(timeout, memory, confined)
    try:
        if replay:
            if words:
                raise click.UsageError("--replay takes the golden file only")
            if fmt not in ("text", "json"):
                raise click.UsageError(f"--format {fmt}: --replay prints text or json")
            where = journal or golden.with_name(golden.name + ".replay.jsonl")
            spec = {
                "task": "replay", "reference": str(golden.resolve()), "journal": str(where.resolve()),
                "device": device, "repeats": repeats, "layouts": layouts,
            }  # fmt: skip
            with recording("replaying", fmt) as progress:
                code = _replay(spec, limits, fmt, progress)
            ctx.exit(code)
        if len(words) == 1 and not words[0].endswith(".py"):
            other = Path(words[0])
            if not other.exists():
                raise click.UsageError(f"{other}: no such golden file; put a command after --")
            result, ran = _compare_files(_ours(), golden, other, exact, partial, limits), True
        else:
            what = parsed(words)
            with recording("running", fmt) as progress:
                result, ran = run_and_compare(
                    what, golden, out, exact, partial, poison, keep_compile, limits, progress=progress
                )
    except (TaskError, OSError) as error:
        raise click.ClickException(str(error)) from error
    ctx.exit(report(result, ran, fmt, str(golden)))


def _ours() -> Command:
    """This interpreter: enough to compare files where PyTorch is installed beside rocport."""
    import sys

    from rocport.numerics.process import Command

    return Command(sys.executable, (), ())


def _compare_files(
    what: Command, golden: Path, other: Path, exact: bool | None, partial: bool, limits: Any
) -> dict[str, Any]:
    from rocport.numerics.process import run_task

    spec = {"task": "compare", "reference": str(golden.resolve()), "candidate": str(other.resolve()), "exact": exact}
    result = run_task(what, spec, limits)
    outcome = result["reference"]["outcome"]
    if not outcome.get("ok") and not partial:
        raise click.UsageError(
            f"{golden}: its run did not end well ({outcome.get('reason')}), so it holds a part of the numbers only; "
            "record it again, or accept it with --partial"
        )
    return result


def run_and_compare(
    what: Command, golden: Path, out: Path | None, exact: bool | None, partial: bool, poison: bool,
    keep_compile: bool, limits: Any, *, progress: Any = None, cwd: Path | None = None,
) -> tuple[dict[str, Any], bool]:  # fmt: skip
    """Run a command under capture and compare. Returns the result, and whether the command ended well.

    Raises TaskError, OSError.
    """
    from dataclasses import replace

    from rocport.numerics.config import CaptureConfig
    from rocport.numerics.process import TaskError, run_capture, run_task

    head = run_task(what, {"task": "head", "reference": str(golden.resolve())}, limits)["head"]
    config = replace(CaptureConfig.from_json(head["config"]), poison=poison)
    with tempfile.TemporaryDirectory(prefix="rocport-") as folder:
        made = out or Path(folder) / "run.golden"
        captured = run_capture(what, made, config, limits, keep_compile=keep_compile, progress=progress, cwd=cwd)
        if not captured.manifest:
            raise TaskError(f"the program {captured.ended.reason} before PyTorch ran; nothing was recorded")
        result = _compare_files(what, golden, made, exact, partial, limits)
    result["candidate"]["path"] = str(out) if out else None
    return result, captured.ended.ok


def report(result: dict[str, Any], ran: bool, fmt: str, root: str, command: str = "compare") -> int:
    """Print a comparison; the exit code."""
    from rocport.cli.common import emit
    from rocport.cli.proofs import of_comparison

    emit(of_comparison(result, root, command), fmt)
    clean = ran and result["verdict"] in ("equal", "rounding")
    if result["verdict"] == "rounding" and result["exact_expected"]:
        clean = False
    return EXIT_CLEAN if clean else EXIT_FINDINGS


def _replay(spec: dict[str, Any], limits: Any, fmt: str, progress: Any) -> int:
    from rocport.numerics.process import run_task
    from rocport.numerics.text import replay_lines

    writable = [Path(spec["journal"]).parent] if spec.get("journal") else []
    perturbed = {"MALLOC_PERTURB_": "90"}
    result = run_task(_ours(), spec, limits, progress=progress, environment=perturbed, writable=writable)
    if fmt == "json":
        click.echo(json.dumps(result, indent=1))
    else:
        click.echo("\n".join(replay_lines(result)))
    return EXIT_FINDINGS if result["findings"] or not result["counts"]["ok"] else EXIT_CLEAN
