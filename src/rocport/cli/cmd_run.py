"""`rocport run`: one HIP program on this machine's CPU at a wavefront width, or on another executor."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from rocport.executor.limits import Limits


def _list_executors(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """What is here, what each can do, and why the others cannot."""
    if not wanted or ctx.resilient_parsing:
        return
    from rocport.executor.registry import executors
    from rocport.executor.selftest import trusted

    for executor in executors():
        capability = executor.probe()
        outcome = ""
        if capability.usable and capability.widths:
            capability, test = trusted(executor, capability)
            outcome = str(test)
        if not capability.usable:
            click.echo(f"{executor.name}: not here ({capability.level.value}): {capability.refusal}")
            continue
        widths = f", width {', '.join(map(str, capability.widths))}" if capability.widths else ""
        targets = f", {', '.join(capability.targets)}" if capability.targets else ""
        click.echo(f"{executor.name}: {capability.level.value}, {capability.trust.value}{widths}{targets}")
        click.echo(f"  {capability.detail}")
        if outcome:
            click.echo(f"  {outcome}")
    ctx.exit(EXIT_CLEAN)


@click.command("run", cls=ProgramCommand)
@click.option(
    "--list-executors",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_executors,
    help="Print what can run programs here, after its self-test, and why the others cannot.",
)
@click.option(
    "--executor",
    "executor_name",
    default="cpu",
    show_default=True,
    metavar="NAME",
    help="cpu, isa, amd, rocjitsu, nvidia or triton-interpreter.",
)
@click.option("--width", type=click.Choice(["32", "64"]), default="64", show_default=True, help="Lanes of a wavefront.")
@click.option(
    "--order",
    default="forward",
    show_default=True,
    metavar="forward|reverse|SEED",
    help="Order of blocks, wavefronts and lanes.",
)
@click.option(
    "--poison",
    type=click.IntRange(0, 255),
    metavar="BYTE",
    help="Fill fresh device and shared memory with this byte.",
)
@click.option("--sanitize", is_flag=True, help="Address and undefined-behaviour checks: slower, with file and line.")
@click.option(
    "--access",
    type=click.Choice(["races", "memory", "all", "lockstep"]),
    help="races: report conflicting accesses to shared memory; memory: report reads of what nobody wrote and accesses "
    "out of bounds, by line; all: both; lockstep: lanes meet at each access.",
)
@click.option("--quiet", "quiet", multiple=True, metavar="HAZARD", help="Do not look for this hazard; repeatable.")
@click.option("--target", metavar="GFX", help="gfx name that device properties give; default: one of the width.")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=3600, show_default=True, help="Seconds to run.")
@click.option("--compiler", metavar="CXX", help="Host C++ compiler; default: the HIP compiler's clang, clang++, g++.")
@click.option(
    "-O",
    "optimize",
    type=click.Choice(["0", "1", "2", "3"]),
    default="2",
    show_default=True,
    help="Optimization.",
)
@click.option("-I", "includes", multiple=True, type=click.Path(path_type=Path), help="Add an include folder.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@sandbox_option
@click.option("--keep", type=click.Path(path_type=Path), help="Keep what is built in this folder.")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGUMENTS...]")
@click.pass_context
def command(
    ctx: click.Context,
    executor_name: str,
    width: str,
    order: str,
    poison: int | None,
    sanitize: bool,
    access: str | None,
    quiet: tuple[str, ...],
    target: str | None,
    timeout: float,
    compiler: str | None,
    optimize: str,
    includes: tuple[Path, ...],
    defines: tuple[str, ...],
    confined: bool,
    keep: Path | None,
    path: Path,
    arguments: tuple[str, ...],
) -> None:
    """Build PATH (a HIP source file, or a folder with a Makefile) for the CPU and run it with ARGUMENTS.

    Options are rocport's wherever they stand; arguments that begin with a dash are the program's behind `--`:
    `rocport run FILE --width 32 -- -n 100`.

    The program's output goes to stdout and stderr; hazards are listed on stderr when it ends.
    Exit code 0: it ended with status 0 and no grave hazard; 1: it did not; 2: it cannot be built here, or wrong usage.
    """
    from rocport.executor.base import Access, BuildError, BuildOptions, RunOptions
    from rocport.executor.compiler import CompilerError, find_compiler
    from rocport.executor.cpu import CpuExecutor
    from rocport.executor.limits import Limits
    from rocport.executor.program import ProgramError, load_program, with_flags

    check_hazards(quiet)
    say_sandbox(confined)
    limits = Limits(seconds=timeout, confined=confined)
    if executor_name != "cpu":
        ctx.exit(_elsewhere(ctx, executor_name, path, arguments, width, f"-O{optimize}", target, limits))
    check_order(order)
    try:
        program = load_program(path, confined)
        program = with_flags(
            program, *(f"-I{folder.resolve()}" for folder in includes), *(f"-D{text}" for text in defines)
        )
        executor = CpuExecutor(find_compiler(compiler))
        with tempfile.TemporaryDirectory(prefix="rocport-run-") as scratch:
            folder = keep or Path(scratch)
            fixed = int(width) if executor.needs_width(program) else None
            building = BuildOptions(fixed, f"-O{optimize}", sanitize, access is not None)
            try:
                executable = executor.build(program, folder, building)
            except BuildError as error:
                if fixed is not None or ("warpSize" not in error.log and "wave_width" not in error.log):
                    raise
                executable = executor.build(program, folder, replace(building, width=int(width)))
            if not arguments and path.is_dir() and program.runs:
                arguments = program.runs[0]
            options = RunOptions(
                width=int(width),
                access=Access.ALL if access == "all" else Access(access or ""),
                order=order,
                poison=poison,
                quiet=quiet,
                target=target,
                # The address sanitizer reserves terabytes of address space.
                limits=replace(limits, memory_bytes=1 << 60) if sanitize else limits,
            )
            result = executor.run(executable, arguments, Path.cwd() if path.is_file() else program.folder, options)
    except (ProgramError, CompilerError) as error:
        raise click.ClickException(str(error)) from error
    except BuildError as error:
        ctx.exit(refused_build(error))
    ctx.exit(show(result, int(width), timeout))


def _elsewhere(
    ctx: click.Context,
    name: str,
    path: Path,
    arguments: tuple[str, ...],
    width: str,
    optimize: str,
    target: str | None,
    limits: Limits,
) -> int:
    """Runs the program on another executor, once that has passed its self-test."""
    from rocport.executor.base import BuildError, BuildOptions, RunOptions
    from rocport.executor.program import ProgramError, load_program
    from rocport.executor.registry import find_executor
    from rocport.executor.selftest import Evidence, remembered
    from rocport.executor.triton_interpreter import script_program

    try:
        executor = find_executor(name, target)
        program = script_program(path) if path.suffix == ".py" else load_program(path, limits.confined)
    except KeyError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--executor") from error
    except ProgramError as error:
        raise click.ClickException(str(error)) from error
    capability = executor.probe()
    if capability.widths:
        capability, _ = remembered(executor)
    if not capability.usable:
        raise click.ClickException(f"{name}: {capability.refusal}")
    chosen = int(width)
    if capability.widths and chosen not in capability.widths:
        if ctx.get_parameter_source("width") is click.core.ParameterSource.COMMANDLINE:
            raise click.BadParameter(f"{name} has width {', '.join(map(str, capability.widths))}", param_hint="--width")
        chosen = capability.widths[0]
    with tempfile.TemporaryDirectory(prefix="rocport-run-") as scratch:
        try:
            executable = executor.build(program, Path(scratch), BuildOptions(optimize=optimize))
        except BuildError as error:
            click.echo(error.log.rstrip() or str(error), err=True)
            raise click.ClickException(str(error)) from error
        options = RunOptions(width=chosen, target=target, limits=limits)
        result = executor.run(executable, arguments, Path.cwd() if path.is_file() else program.folder, options)
    code = show(result, chosen, limits.seconds)
    click.echo(f"rocport: {Evidence(((capability, chosen, result),))}", err=True)
    return code
