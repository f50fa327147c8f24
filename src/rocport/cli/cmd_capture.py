"""`rocport capture`: record the numbers of a run to a golden file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS
from rocport.cli.running import UNCONFINED, sandbox_option


@click.command("capture", context_settings={"ignore_unknown_options": False})
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("run.golden"), show_default=True)
@click.option("--stats", "mode", flag_value="stats", default=True, help="Statistics, hashes, sketches (the default).")
@click.option("--sample", "sample", type=click.IntRange(min=1), metavar="N", help="Also N elements of every tensor.")
@click.option("--full", "mode", flag_value="full", help="Also every tensor, as --max-size allows; for --replay.")
@click.option("--modules-only", is_flag=True, help="Modules, gradients and parameters; no operators.")
@click.option(
    "--runs", type=click.IntRange(1, 5), default=1, show_default=True, help="2: measure the noise between runs."
)
@click.option("--seed", type=int, help="Seed Python's and PyTorch's generators before the script starts.")
@click.option("--poison", is_flag=True, help="Fill what torch.empty returns with NaN.")
@click.option("--keep-compile", is_flag=True, help="Leave torch.compile on; compiled operators are not seen.")
@click.option("--max-size", type=click.FloatRange(min=0), default=2.0, show_default=True, help="Tensor values, GiB.")
@click.option("--timeout", type=click.FloatRange(min=1), default=3600, show_default=True, help="Seconds for one run.")
@click.option("--memory", type=click.FloatRange(min=0), help="GiB the run may use; none by default.")
@sandbox_option
@click.option("--force", is_flag=True, help="Overwrite the file, and a capture that was cut off.")
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.argument("command_words", nargs=-1, type=click.UNPROCESSED, metavar="-- python SCRIPT [ARGS]...")
@click.pass_context
def command(
    ctx: click.Context,
    out: Path,
    mode: str,
    sample: int | None,
    modules_only: bool,
    runs: int,
    seed: int | None,
    poison: bool,
    keep_compile: bool,
    max_size: float,
    timeout: float,
    memory: float | None,
    confined: bool,
    force: bool,
    fmt: str,
    command_words: tuple[str, ...],
) -> None:
    """Record what a PyTorch program computes, without a change to its code.

    Every module and operator, forward and backward: names, shapes, strides, types, statistics and hashes; losses,
    gradients, parameters and optimizer states. Compare another run with it: rocport compare.

    Exit code 0: the program ended well and the file is written; 1: it failed, and the file holds what ran until then.
    """
    from rocport.cli.numerics import limits_of, parsed, recording
    from rocport.numerics.config import CaptureConfig
    from rocport.numerics.process import TaskError, run_capture

    what = parsed(command_words)
    _make_room(out, force)
    config = CaptureConfig(
        mode="sample" if sample and mode != "full" else mode,
        sample=sample or CaptureConfig.sample,
        operators=not modules_only,
        max_bytes=int(max_size * 2**30),
        poison=poison,
        seed=seed,
    )
    try:
        with recording("capturing", fmt) as progress:
            made = run_capture(
                what,
                out,
                config,
                limits_of(timeout, memory, confined),
                runs=runs,
                keep_compile=keep_compile,
                progress=progress,
            )
    except (TaskError, OSError) as error:
        raise click.ClickException(f"{out}: {error}") from error
    ended = made.ended
    size = out.stat().st_size if made.manifest else 0
    if fmt == "json":
        row = {
            "schema": 1, "path": str(out) if made.manifest else None, "bytes": size,
            "content": made.manifest.get("content"), "runs": [run.to_json() for run in made.runs],
            "seconds": [round(run.seconds, 3) for run in made.runs],
            "peak_memory": max(run.peak_memory for run in made.runs), "noisy": made.noisy,
        }  # fmt: skip
        click.echo(json.dumps(row, indent=1))
    elif made.manifest:
        click.echo(f"{out}: {size} bytes, sha256 {made.manifest['content'][:16]}, {ended.seconds:.1f} s")
        if made.noisy is not None:
            click.echo(f"{made.noisy} tensors differ between two runs of the same command")
    if not ended.ok:
        where = f"; in {ended.place}" if ended.place else ""
        kept = "the file holds what ran until then" if made.manifest else "nothing was recorded"
        click.echo(f"rocport: the program {_sentence(ended.reason)}{where}; {kept}", err=True)
        if confined:
            click.echo(UNCONFINED, err=True)
    ctx.exit(EXIT_CLEAN if all(run.ok for run in made.runs) else EXIT_FINDINGS)


def _sentence(reason: str) -> str:
    if reason.startswith("exit code"):
        return f"ended with {reason}"
    return f"was {reason}" if reason.startswith(("interrupted", "still")) else reason


def _make_room(out: Path, force: bool) -> None:
    """Refuse to overwrite unless told. Raises click.UsageError."""
    import shutil

    from rocport.numerics.golden import part_of

    if out.is_dir():
        raise click.UsageError(f"{out}: is a folder; name the file to write with --out")
    part = part_of(out)
    if out.exists() and not force:
        raise click.UsageError(f"{out}: exists; name another file with --out, or overwrite it with --force")
    if part.exists():
        if not force:
            raise click.UsageError(
                f"{part}: a capture that was cut off, or is still running; `rocport compare` reads it as it is, "
                "--force starts over"
            )
        shutil.rmtree(part)
