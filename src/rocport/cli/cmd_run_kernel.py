"""`rocport run-kernel`: one kernel of a code object or HIP file, as AMD machine code on this machine's CPU."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS
from rocport.facts.targets import wave_target

_VALUES = {"i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8"}
_FLOATS = {"f16": "f2", "f32": "f4", "f64": "f8"}


def _sizes(text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(part, 0) for part in text.split(","))
    except ValueError:
        found = ()
    if not 1 <= len(found) <= 3 or min(found) < 1:
        raise click.BadParameter(f"{text!r}: expected one to three positive numbers, such as 16 or 4,4")
    return found


def _argument(text: str) -> Any:
    """`i32=5`, `f32=1.5`, `f32[1000]` (zeros), `f32[1000]=iota|ones|random`, `@file.npy`."""
    import numpy as np

    types = _VALUES | _FLOATS
    if text.startswith("@"):
        return np.load(text[1:])
    found = re.fullmatch(r"(\w+?)(?:\[(\d+)\])?(?:=(.+))?", text)
    if found is None or found[1] not in types or (found[2] is None and found[3] is None):
        raise click.BadParameter(
            f"{text!r}: expected TYPE=VALUE, TYPE[COUNT], TYPE[COUNT]=iota|ones|random or @FILE.npy, with TYPE one of "
            + ", ".join(types)
        )
    dtype = np.dtype(types[found[1]])
    if found[2] is None:
        return dtype.type(float(found[3]) if found[1] in _FLOATS else int(found[3], 0))
    count, fill = int(found[2]), found[3] or "zeros"
    if fill == "random":
        generator = np.random.default_rng(0)
        return (generator.standard_normal(count) * (1 if found[1] in _FLOATS else 100)).astype(dtype)
    fills: dict[str, Any] = {"zeros": np.zeros, "ones": np.ones, "iota": np.arange}
    if fill not in fills:
        raise click.BadParameter(f"{text!r}: expected iota, ones, random or zeros, got {fill!r}")
    return fills[fill](count).astype(dtype)


def _code_object(path: Path, target: str) -> bytes:
    """The file's code object; HIP sources are compiled first."""
    if path.suffix not in (".hip", ".cu", ".cpp"):
        return path.read_bytes()
    from rocport.toolchain import find

    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "kernel.co"
        command = find().compile_command(path, target, mode="device", output=output, extra=["-gline-tables-only"])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise click.ClickException(f"{path} does not compile for {target}:\n{done.stderr.strip()[-3000:]}")
        return output.read_bytes()


@click.command("run-kernel")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT]...")
@click.option("--target", default=wave_target(64).name, show_default=True, metavar="GFX", help="What the code is for.")
@click.option("--kernel", "name", metavar="NAME", help="Which kernel; may be left out where there is one.")
@click.option("--list", "listing", is_flag=True, help="Print the kernels with their arguments and stop.")
@click.option("--grid", default="1", show_default=True, metavar="X[,Y[,Z]]", help="Workgroups.")
@click.option("--block", default="64", show_default=True, metavar="X[,Y[,Z]]", help="Work-items of a workgroup.")
@click.option("--lds", default=0, metavar="BYTES", help="Dynamic LDS.")
@click.option("--seed", default=0, help="Order of waves and workgroups; 0 is in order.")
@click.option("--poison", "poisons", is_flag=True, help="Run twice with registers and LDS filled differently; compare.")
@click.option("--waits", is_flag=True, help="Loads give their result only at the s_waitcnt that covers them.")
@click.option("--limit", default=0, metavar="N", help="Instructions a wave may execute; 0 is without limit.")
@click.option("--threads", default=0, help="Host threads; 0 is all cores.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Write array arguments there, as .npy.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    file: Path,
    arguments: tuple[str, ...],
    target: str,
    name: str | None,
    listing: bool,
    grid: str,
    block: str,
    lds: int,
    seed: int,
    poisons: bool,
    waits: bool,
    limit: int,
    threads: int,
    out: Path | None,
    form: str,
) -> int:
    """Run a kernel of FILE (a code object, or HIP source) as machine code of a target.

    Each ARGUMENT is TYPE=VALUE, TYPE[COUNT] (zeros), TYPE[COUNT]=iota|ones|random, or @FILE.npy; arrays are pointers.

    Exit code 1: the kernel stopped (the message names address, instruction and source line), or its results depend on
    what registers and LDS held.
    """
    import numpy as np

    from rocport.executor.isa import EngineError, KernelError, TablesError, load
    from rocport.executor.isa.launch import CHECK_WAITS, POISON_MEMORY
    from rocport.syntax.code_object import CodeObjectError
    from rocport.toolchain import ToolchainError

    values = [_argument(text) for text in arguments]
    sizes = _sizes(grid), _sizes(block)
    try:
        module = load(_code_object(file, target), target)
        if listing:
            for kernel in module.code.kernels.values():
                kinds = ", ".join(
                    f"{a.name or a.offset}:{a.kind}[{a.size}]" for a in kernel.arguments if "hidden" not in a.kind
                )
                click.echo(f"{kernel.name}({kinds}) wave{kernel.descriptor.wave}, {kernel.use.vgprs} VGPRs")
            return EXIT_CLEAN
        translated = module.translated(name)
        results = []
        for poison in (0, 0x7FC0DEAD) if poisons else (None,):
            given = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
            flags = (POISON_MEMORY if poisons else 0) | (CHECK_WAITS if waits else 0)
            options: dict[str, Any] = {
                "dynamic_lds": lds,
                "seed": seed,
                "flags": flags,
                "limit": limit,
                "threads": threads,
            }
            run = module.launch(name, *sizes, given, poison=poison, **options)
            results.append((run, [v for v in given if isinstance(v, np.ndarray)]))
    except (CodeObjectError, EngineError, TablesError, ToolchainError) as error:
        raise click.ClickException(str(error)) from error
    except KernelError as error:
        click.echo(f"{error}", err=True)
        return EXIT_FINDINGS
    run, arrays = results[0]
    differing = [k for k, pair in enumerate(zip(*(r[1] for r in results), strict=True)) if _differ(pair)]
    speed = run.lane_instructions / max(run.seconds, 1e-9)
    facts = {
        "kernel": module.kernel(name).name,
        "target": target,
        "steps": translated.steps,
        "instructions": run.instructions,
        "seconds": round(run.seconds, 6),
        "lane_instructions_per_second": round(speed),
        "untranslated": translated.untranslated,
        "depends_on_uninitialized": differing,
        "arrays": [_summary(a) for a in arrays],
    }
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for k, array in enumerate(arrays):
            np.save(out / f"{k}.npy", array)
    if form == "json":
        click.echo(json.dumps(facts))
    else:
        click.echo(
            f"{facts['kernel']} on {target}: {run.instructions} instructions, {run.seconds * 1e3:.1f} ms, "
            f"{speed / 1e6:.0f} M lane-instructions/s"
        )
        for k, array in enumerate(arrays):
            click.echo(f"  array {k}: {_summary(array)}")
        for k in differing:
            click.echo(f"  array {k} depends on what registers or LDS held: something is read before it is written")
    return EXIT_FINDINGS if differing else EXIT_CLEAN


def _differ(pair: tuple[Any, ...]) -> bool:
    return any(other.tobytes() != pair[0].tobytes() for other in pair[1:])


def _summary(array: Any) -> str:
    flat = array.reshape(-1)
    head = ", ".join(f"{v:.6g}" for v in flat[:8])
    return f"{array.dtype}[{flat.size}] {head}{', ...' if flat.size > 8 else ''}"
