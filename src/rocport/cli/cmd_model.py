"""`rocport model`: what a checkpoint is and needs, other forms of it, and a first token and training step with it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS
from rocport.cli.common import print_date

SETTINGS = {"help_option_names": ["-h", "--help"]}


@click.group("model", context_settings=SETTINGS)
def command() -> None:
    """Models on AMD: inspect a checkpoint, convert it, generate with it, train a LoRA on it."""


@command.command("inspect", context_settings=SETTINGS)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--target", metavar="GFX[,GFX]", help="For these targets instead of this machine's GPUs.")
@click.option("--torch", metavar="VERSION", help="Assume this torch, such as 2.9.")
@click.option("--rocm", metavar="VERSION", help="Assume this ROCm, such as 7.1.1.")
@click.option("--bitsandbytes", metavar="VERSION", help="Assume this version of bitsandbytes.")
@click.option("--batch", type=click.IntRange(1), help="Memory for training: sequences a step.")
@click.option("--sequence", type=click.IntRange(1), help="Tokens a sequence.")
@click.option("--lora-rank", type=click.IntRange(1), help="Train a LoRA of this rank; without it every weight.")
@click.option(
    "--optimizer",
    type=click.Choice(["adamw", "adamw8bit", "adamw8bit-paged", "lion8bit", "sgd"]),
    default="adamw",
)
@click.option("--checkpointing", is_flag=True, help="With gradient checkpointing.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@click.pass_context
def inspect(
    ctx: click.Context,
    path: Path,
    target: str | None,
    torch: str | None,
    rocm: str | None,
    bitsandbytes: str | None,
    batch: int | None,
    sequence: int | None,
    lora_rank: int | None,
    optimizer: str,
    checkpointing: bool,
    as_json: bool,
) -> None:
    """Say what the checkpoint PATH (folder, config.json, .safetensors, .gguf) is and how it loads and fits.

    The answer of `rocport doctor --model`. Exit code: 0 it loads as is, 1 something has to be done or is not known.
    """
    from rocport.checkpoint.memory import Training
    from rocport.cli.model_policy import checked_build, installed_bitsandbytes, machine_targets, named_targets, report

    training = None
    if batch is not None or sequence is not None or lora_rank is not None or checkpointing:
        training = Training(batch or 1, sequence or 2048, lora_rank, optimizer, checkpointing)
    if target:
        targets = named_targets(target)
    else:
        from rocport.doctor.live import read_machine

        machine = read_machine()
        targets, bitsandbytes = machine_targets(machine), bitsandbytes or installed_bitsandbytes(machine)
    ctx.exit(report(path, targets, bitsandbytes, as_json, training, checked_build(torch, rocm)))


@command.command("convert", context_settings=SETTINGS)
@click.argument("src", type=click.Path(path_type=Path))
@click.argument("dst", type=click.Path(path_type=Path))
@click.option(
    "--to",
    metavar="FORM",
    default="auto",
    show_default=True,
    help="bf16, fp16, fp32, or auto: dense, of the type each weight stands for; nf4b64, fp4b128, ...: bitsandbytes; "
    "affine4g64, affine8g32, ...: MLX.",
)
@click.option("--blocksize", type=int, metavar="N", help="Stay in bitsandbytes' 4-bit type, in blocks of N values.")
@click.option("--nested/--plain", default=None, help="Scales of bitsandbytes quantized as well, or not.")
@click.option("--dry-run", is_flag=True, help="Say what would be written; exit 1.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout, with the loss of each weight.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.pass_context
def convert(
    ctx: click.Context,
    src: Path,
    dst: Path,
    to: str,
    blocksize: int | None,
    nested: bool | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Convert the checkpoint SRC (a folder, a .safetensors or .gguf file) into the new folder DST, without a GPU.

    Reads bitsandbytes 4- and 8-bit, MLX, fp8, mxfp4, GPTQ, AWQ, GGUF and dense weights. Works shard by shard in bounded
    memory, checks what it wrote, and continues an interrupted run when called again. Dense weights are exact: the
    values the format's own library computes. Quantizing is lossy; the change is printed.
    """
    print_date()
    if importlib.util.find_spec("numpy") is None:
        raise click.UsageError("model convert needs numpy: pip install 'rocport[checkpoint]'")
    from rocport.checkpoint import CheckpointError
    from rocport.checkpoint.convert import Options, plan
    from rocport.checkpoint.convert import convert as run

    if blocksize is not None and to != "auto":
        raise click.UsageError("--to and --blocksize exclude each other: one form is written")
    options = Options(to, blocksize, nested)
    try:
        if dry_run:
            work = plan(src, options)
            size = work.bytes_out
            data = {
                "weights": len(work.weights),
                "shards": len(work.shards),
                "bytes_out": size,
                "kept": dict(work.kept),
            }
            text = f"would convert {len(work.weights)} weights in {len(work.shards)} shards, {_size(size)}"
            click.echo(json.dumps(data) if as_json else text)
            ctx.exit(EXIT_FINDINGS)
        result = run(src, dst, options, (lambda _: None) if quiet else lambda line: click.echo(line, err=True))
    except CheckpointError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise click.UsageError(f"{where}{error.strerror or error}") from error
    if as_json:
        click.echo(json.dumps(result.__dict__))
        ctx.exit(EXIT_CLEAN)
    click.echo(f"{dst}: {result.weights} weights in {result.shards + result.resumed} shards", nl=False)
    click.echo(f" ({result.resumed} from an earlier run)" if result.resumed else "", nl=False)
    click.echo(f", {_size(result.bytes_out)}; {result.checked_values} values checked against a second decoder")
    if result.error is not None:
        largest, mean = result.error
        click.echo(f"change by re-quantizing, relative to each block's maximum: {mean:.4f} rms, {largest:.4f} largest")
    for name, loss in sorted(result.losses.items(), key=lambda item: -item[1])[:3]:
        click.echo(f"  {name}: |change| / |weight| = {loss:.4f}")
    for name, reason in result.kept.items():
        click.echo(f"  {name} stays dense: {reason}")
    ctx.exit(EXIT_CLEAN)


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e8 else f"{count / 1e6:.2f} MB"


def _needs_torch(*packages: str) -> None:
    for name in ("torch", "transformers", *packages):
        if importlib.util.find_spec(name) is None:
            raise click.UsageError(f"this command needs the Python package {name}: pip install 'rocport[models]'")


@command.command("generate", context_settings=SETTINGS)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--tokens", type=click.IntRange(1), default=16, show_default=True, help="How many.")
@click.option("--prompt", metavar="IDS", default="1,2,3,4", show_default=True, help="Token numbers to go on from.")
@click.option("--device", default=None, help="cpu, cuda, cuda:1, ...; by default a GPU where there is one.")
@click.option("--form", default="", help="Pack dense weights, as nf4b64 or affine4g64.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
def generate(path: Path, tokens: int, prompt: str, device: str | None, form: str, as_json: bool) -> None:
    """Load the model in PATH with rocport's layers and decode greedily: does it run here, and how fast.

    Takes token numbers, so that no tokenizer is needed.
    """
    print_date()
    _needs_torch()
    from rocport.checkpoint import CheckpointError
    from rocport.integrations.smoke import decode

    try:
        ids = [int(part) for part in prompt.split(",")]
    except ValueError as error:
        raise click.BadParameter(f"{prompt!r}: expected token numbers such as 1,2,3", param_hint="--prompt") from error
    try:
        done = decode(path, ids, tokens, device, form)
    except (CheckpointError, OSError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    if as_json:
        click.echo(json.dumps(done.__dict__))
        return
    click.echo(f"{path} on {done.device}: {done.layers}; {done.weight_bytes / 1e6:.1f} MB of weights")
    click.echo(f"{','.join(map(str, done.tokens))}   ({done.tokens_a_second:.1f} tokens/s)")


@command.command("lora", context_settings=SETTINGS)
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--steps", type=click.IntRange(1), default=2, show_default=True, help="Steps until OUT is complete.")
@click.option("--rank", type=click.IntRange(1), default=8, show_default=True)
@click.option("--batch", type=click.IntRange(1), default=1, show_default=True)
@click.option("--sequence", type=click.IntRange(2), default=32, show_default=True)
@click.option("--rate", type=float, default=1e-3, show_default=True, help="Learning rate.")
@click.option("--device", default=None, help="cpu, cuda, ...; by default a GPU where there is one.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
def lora(
    path: Path, out: Path, steps: int, rank: int, batch: int, sequence: int, rate: float, device: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Train a LoRA (PEFT) on the model in PATH with 8-bit AdamW and keep it in OUT: does training run here.

    The tokens are random and the same in every run. When OUT holds an earlier run, it goes on from its last step.
    """
    print_date()
    _needs_torch("peft")
    from rocport.checkpoint import CheckpointError
    from rocport.integrations.smoke import train

    try:
        done = train(path, out, steps, rank, batch, sequence, rate, device)
    except (CheckpointError, OSError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    if as_json:
        click.echo(json.dumps(done.__dict__))
        return
    if done.resumed:
        click.echo(f"goes on after step {done.resumed}")
    for number, loss in enumerate(done.losses, done.resumed + 1):
        click.echo(f"step {number}: loss {loss:.4f}")
    click.echo(f"{out}: adapter of rank {rank}, {done.trained} trained weights, on {done.device}")
