"""`rocport run-extension`: a repository's PyTorch extension on this machine's CPU, called by its own Python code."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from rocport.cli import EXIT_CLEAN
from rocport.cli.running import (
    ProgramCommand,
    check_hazards,
    check_order,
    refused_build,
    sandbox_option,
    say_sandbox,
    show,
)

# The target whose facts Python code gets at a width, when the user names none.


@click.command("run-extension", cls=ProgramCommand)
@click.option("--width", default="32,64", show_default=True, metavar="32|64|32,64", help="Lanes of a wavefront.")
@click.option(
    "--executor", "executor_name", type=click.Choice(["cpu", "isa"]), default="cpu", show_default=True,
    help="isa: the kernels as machine code of a target of the width.",
)  # fmt: skip
@click.option("--order", default="forward", show_default=True, metavar="forward|reverse|SEED", help="Order of blocks.")
@click.option("--quiet", "quiet", multiple=True, metavar="HAZARD", help="Do not look for this hazard; repeatable.")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=3600, show_default=True, help="Seconds a width.")
@click.option(
    "--python", "python", default=sys.executable, help="Python with PyTorch (a CPU build) [default: this one]."
)
@click.option("--compiler", metavar="CXX", help="Host C++ compiler; default: the HIP compiler's clang, clang++, g++.")
@click.option(
    "-O", "optimize", type=click.Choice(["0", "1", "2", "3"]), default="1", show_default=True, help="Optimization."
)
@sandbox_option
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGUMENTS...]")
@click.pass_context
def command(
    ctx: click.Context,
    width: str,
    executor_name: str,
    order: str,
    quiet: tuple[str, ...],
    timeout: float,
    python: str,
    compiler: str | None,
    optimize: str,
    confined: bool,
    path: Path,
    arguments: tuple[str, ...],
) -> None:
    """Build the PyTorch extension of PATH, a ported repository with a setup.py, and run Python with it, without a GPU.

    ARGUMENTS are Python's: `-- -m pytest tests`, `-- script.py`; `-m pytest` by default. They run in a copy of PATH,
    where torch.cuda is there, tensors "on" it are CPU tensors, and the extension's kernels run on the executor.
    Exit code 0: status 0 and no grave hazard at each width; 1: not so; 2: it cannot be built here, or wrong usage.
    """
    from rocport.executor.base import BuildError, BuildOptions, RunOptions
    from rocport.executor.compiler import CompilerError, find_compiler
    from rocport.executor.cpu import CpuExecutor
    from rocport.executor.isa.runtime.executor import IsaExecutor
    from rocport.executor.limits import Limits
    from rocport.executor.program import ProgramError
    from rocport.executor.torch_extension import (
        build_host_libraries,
        build_interpreter,
        interpreter_program,
        read_environment,
        read_extensions,
        run_interpreter,
        stage,
    )
    from rocport.facts.targets import wave_target

    widths = _widths(width)
    check_hazards(quiet)
    check_order(order)
    say_sandbox(confined)
    limits = Limits(seconds=timeout, confined=confined)
    code = EXIT_CLEAN
    try:
        executor = CpuExecutor(find_compiler(compiler))
        environment = read_environment(python)
        declared = read_extensions(path, environment, confined)
        for note in declared.notes:
            click.echo(note, err=True)
        libraries = build_host_libraries(declared, path, environment, executor)
        inside = [extension for extension in declared.extensions if extension.name not in libraries]
        program = interpreter_program(inside, path.resolve(), environment)
        names = ", ".join(extension.name for extension in inside)
        machine = executor_name == "isa"
        each = not machine and executor.needs_width(program)
        for lanes in widths:
            click.echo(f"{names}: building {len(program.units)} units for width {lanes}", err=True)
            options = BuildOptions(lanes if each else None, f"-O{optimize}")
            runner = IsaExecutor(wave_target(lanes).name) if machine else executor
            refusal = runner.probe().refusal
            if refusal:
                raise ProgramError(refusal)
            executable = build_interpreter(program, environment, runner, options)
            with tempfile.TemporaryDirectory(prefix="rocport-extension-") as scratch:
                work = Path(scratch) / path.resolve().name
                stage(path.resolve(), declared.extensions, declared.roots, work, libraries)
                result = run_interpreter(
                    executable,
                    arguments or ("-m", "pytest"),
                    work,
                    environment,
                    runner,
                    RunOptions(width=lanes, order=order, quiet=quiet, limits=limits),
                    _device(lanes, executor_name),
                    [work / folder for folder in {"", *declared.roots.values()}],
                )
            code = max(code, show(result, lanes, timeout))
            launches = result.statistics.get("launches", 0)
            click.echo(f"rocport: width {lanes}: {launches} kernel launches, {result.seconds:.1f} s", err=True)
    except (ProgramError, CompilerError) as error:
        raise click.ClickException(str(error)) from error
    except BuildError as error:
        ctx.exit(refused_build(error, last=4000))
    ctx.exit(code)


def _widths(text: str) -> list[int]:
    widths = [int(word) for word in text.split(",") if word.strip() in ("32", "64")]
    if not widths or len(widths) != len(text.split(",")):
        raise click.BadParameter(f"{text}: 32, 64 or 32,64", param_hint="--width")
    return widths


def _device(width: int, executor: str) -> dict[str, Any]:
    """What torch.cuda.get_device_properties answers at a width."""
    from rocport.facts.targets import wave_target

    target = wave_target(width)
    return {
        "gfx": target.name,
        "name": f"rocport {executor.upper()} executor ({target.name})",
        "width": width,
        "lds": target.lds_bytes,
        "major": target.capability[0],
        "minor": target.capability[1],
    }
