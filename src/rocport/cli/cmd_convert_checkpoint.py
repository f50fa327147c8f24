"""`rocport convert-checkpoint`: a bitsandbytes 4-bit checkpoint to 16-bit or another block size, without a GPU."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS


@click.command("convert-checkpoint", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("src", type=click.Path(path_type=Path))
@click.argument("dst", type=click.Path(path_type=Path))
@click.option(
    "--to",
    type=click.Choice(["auto", "bf16", "fp16", "fp32"]),
    default="auto",
    show_default=True,
    help="Type of the weights; auto: the one each had before it was quantized.",
)
@click.option("--blocksize", type=int, metavar="N", help="Stay 4-bit, in blocks of N values, instead.")
@click.option("--dry-run", is_flag=True, help="Say what would be written; exit 1.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.pass_context
def command(
    ctx: click.Context, src: Path, dst: Path, to: str, blocksize: int | None, dry_run: bool, as_json: bool, quiet: bool
) -> None:
    """Convert the bitsandbytes 4-bit checkpoint SRC (a folder or a .safetensors file) into the new folder DST.

    Works shard by shard in bounded memory, checks what it wrote, and continues an interrupted run when called again.
    16-bit is exact: the values bitsandbytes itself computes. Another block size is lossy; the change is printed.
    """
    if importlib.util.find_spec("numpy") is None:
        raise click.UsageError("convert-checkpoint needs numpy: pip install 'rocport[checkpoint]'")
    from rocport.checkpoint import CheckpointError
    from rocport.checkpoint.convert import Options, convert, plan

    if blocksize is not None and to != "auto":
        raise click.UsageError("--to and --blocksize exclude each other: 16-bit weights have no blocks")
    options = Options(to, blocksize)
    try:
        if dry_run:
            work = plan(src, options)
            size = work.bytes_out
            data = {"weights": len(work.weights), "shards": len(work.shards), "bytes_out": size}
            text = f"would convert {len(work.weights)} weights in {len(work.shards)} shards, {size / 1e9:.2f} GB"
            click.echo(json.dumps(data) if as_json else text)
            ctx.exit(EXIT_FINDINGS)
        result = convert(src, dst, options, (lambda _: None) if quiet else lambda line: click.echo(line, err=True))
    except CheckpointError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise click.UsageError(f"{where}{error.strerror or error}") from error
    if as_json:
        click.echo(json.dumps(result.__dict__))
    else:
        click.echo(f"{dst}: {result.weights} weights in {result.shards + result.resumed} shards", nl=False)
        click.echo(f" ({result.resumed} from an earlier run)" if result.resumed else "", nl=False)
        click.echo(
            f", {result.bytes_out / 1e9:.2f} GB; {result.checked_values} values checked against a second decoder"
        )
        if result.error is not None:
            largest, mean = result.error
            click.echo(
                f"change by re-quantizing, relative to each block's maximum: {mean:.4f} rms, {largest:.4f} largest"
            )
    ctx.exit(EXIT_CLEAN)
