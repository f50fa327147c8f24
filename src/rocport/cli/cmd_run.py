"""`rocport run`: one HIP program with no GPU: its machine code, or its source, or on another executor."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS
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
    default="",
    show_default="isa; source where that is not possible, or an option below needs it",
    metavar="NAME",
    help="isa (the machine code), source (or cpu), amd, rocjitsu, nvidia or triton-interpreter.",
)
@click.option("--width", type=click.Choice(["32", "64"]), default="64", show_default=True, help="Lanes of a wavefront.")
@click.option(
    "--order",
    default="forward",
    show_default=True,
    metavar="forward|reverse|SEED",
    help="Order of blocks and wavefronts, at source level of lanes too; reverse: at source level.",
)
@click.option(
    "--poison",
    type=click.IntRange(0, 255),
    metavar="BYTE",
    help="Fill fresh device and shared memory with this byte.",
)
@click.option("--sanitize", is_flag=True, help="At source level: address and undefined-behaviour checks.")
@click.option(
    "--access",
    type=click.Choice(["races", "memory", "all", "lockstep"]),
    help="At source level. races: report conflicting accesses to shared memory; memory: report reads of what nobody "
    "wrote and accesses out of bounds, by line; all: both; lockstep: lanes meet at each access.",
)
@click.option("--quiet", "quiet", multiple=True, metavar="HAZARD", help="Do not look for this hazard; repeatable.")
@click.option("--target", metavar="GFX", help="The device; default: one of the width.")
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
    """Build PATH (a HIP source file, or a folder with a Makefile) and run it with ARGUMENTS, with no GPU.

    It runs as the machine code of a target; where that is not possible at source level, and it says why. Options are
    rocport's wherever they stand; arguments that begin with a dash are the program's behind `--`:
    `rocport run FILE --width 32 -- -n 100`.

    The program's output goes to stdout and stderr; hazards and what was run are listed on stderr when it ends.
    Exit code 0: it ended with status 0 and no grave hazard; 1: it did not; 2: it cannot be built here, or wrong usage.
    """
    from rocport.cli.common import refuse_given
    from rocport.executor.amd import width_of
    from rocport.executor.base import Access, BuildError, BuildOptions, RunOptions
    from rocport.executor.choice import MACHINE, RAN_ONCE, SOURCE, ChoiceError, canonical, choose, unserved
    from rocport.executor.compiler import CompilerError, find_compiler
    from rocport.executor.limits import Limits
    from rocport.executor.program import ProgramError, load_program, with_flags
    from rocport.executor.selftest import Evidence
    from rocport.facts.targets import wave_target

    check_hazards(quiet)
    say_sandbox(confined)
    limits = Limits(seconds=timeout, confined=confined)
    name = canonical(executor_name)
    check_order(order)
    only = {"--sanitize": sanitize, "--access": access, "--compiler": compiler, "--order reverse": order == "reverse"}
    closer = [option for option, given in only.items() if given]
    if closer and name not in ("", SOURCE):
        raise click.UsageError(f"{closer[0]} is of the source-level executor; this is {name}")
    if name not in ("", SOURCE, MACHINE):
        refuse_given(ctx, ("order", "poison", "quiet"), f"is of the executors isa and source; this is {name}")
        flags = (*(f"-I{folder.resolve()}" for folder in includes), *(f"-D{text}" for text in defines))
        ctx.exit(_elsewhere(ctx, name, path, arguments, width, f"-O{optimize}", target, limits, flags, keep))
    lanes, parted = int(width), ""
    if target and ctx.get_parameter_source("width") is not click.core.ParameterSource.COMMANDLINE:
        lanes = width_of(target)
    if target and width_of(target) != lanes:
        parted = f"{target} has wavefronts of {width_of(target)} lanes, not --width {lanes}"
        if name == MACHINE:
            raise click.UsageError(f"{parted}: leave out one of the two")
    device = target or wave_target(lanes).name
    try:
        program = load_program(path, confined)
        program = with_flags(
            program, *(f"-I{folder.resolve()}" for folder in includes), *(f"-D{text}" for text in defines)
        )
        own = find_compiler(compiler) if compiler else None
        choice = choose(name or (SOURCE if closer or parted else ""), (device,), own)
        if parted and not name and not closer:
            choice = replace(choice, reason=parted)
        if not arguments and path.is_dir() and program.runs:
            arguments = program.runs[0]
        cwd = Path.cwd() if path.is_file() else program.folder
        options = RunOptions(
            width=lanes,
            access=Access.ALL if access == "all" else Access(access or ""),
            order=order,
            poison=poison,
            quiet=quiet,
            target=target,
            # The address sanitizer reserves terabytes of address space.
            limits=replace(limits, memory_bytes=1 << 60) if sanitize else limits,
        )
        with tempfile.TemporaryDirectory(prefix="rocport-run-") as scratch:
            folder = keep or Path(scratch)
            reason, result = choice.reason, None
            if choice.machine:
                executor, capability = choice.machine
                try:
                    executable = executor.build(program, folder, BuildOptions(optimize=f"-O{optimize}"))
                    result = executor.run(executable, arguments, cwd, options)
                    reason = unserved(result)
                    if reason and choice.source:
                        reason += f"; {RAN_ONCE}"
                except BuildError as error:
                    if choice.source is None:
                        raise
                    reason = f"not built for {device}: {error}"
            if choice.source and (result is None or reason):
                if reason:
                    click.echo(f"rocport: at source level, not as machine code: {reason}", err=True)
                capability = choice.source[1]
                building = BuildOptions(None, f"-O{optimize}", sanitize, access is not None)
                executable = choice.source[0].build_widths(program, folder, (lanes,), building)[lanes]
                result = choice.source[0].run(executable, arguments, cwd, options)
    except (ProgramError, CompilerError, ChoiceError) as error:
        raise click.ClickException(str(error)) from error
    except BuildError as error:
        ctx.exit(refused_build(error))
    assert result is not None  # choose() gives one that runs
    code = show(result, lanes, timeout)
    if reason and choice.source is None:
        click.echo(f"rocport: not verified: {reason}", err=True)
        ctx.exit(EXIT_FINDINGS)
    click.echo(f"rocport: {Evidence(((capability, lanes, result),))}", err=True)
    ctx.exit(code)


def _elsewhere(
    ctx: click.Context,
    name: str,
    path: Path,
    arguments: tuple[str, ...],
    width: str,
    optimize: str,
    target: str | None,
    limits: Limits,
    flags: tuple[str, ...],
    keep: Path | None,
) -> int:
    """Runs the program on another executor, once that has passed its self-test."""
    from rocport.cli.common import refuse_given
    from rocport.executor.base import BuildError, BuildOptions, RunOptions
    from rocport.executor.program import ProgramError, load_program, with_flags
    from rocport.executor.registry import find_executor
    from rocport.executor.selftest import Evidence, remembered
    from rocport.executor.triton_interpreter import script_program

    if path.suffix == ".py":
        refuse_given(ctx, ("includes", "defines"), "is for a compiler; this is a Python script")
    try:
        executor = find_executor(name, target)
        program = script_program(path) if path.suffix == ".py" else load_program(path, limits.confined)
    except KeyError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--executor") from error
    except ProgramError as error:
        raise click.ClickException(str(error)) from error
    program = with_flags(program, *flags)
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
            executable = executor.build(program, keep or Path(scratch), BuildOptions(optimize=optimize))
        except BuildError as error:
            click.echo(error.log.rstrip() or str(error), err=True)
            raise click.ClickException(str(error)) from error
        options = RunOptions(width=chosen, target=target, limits=limits)
        try:
            result = executor.run(executable, arguments, Path.cwd() if path.is_file() else program.folder, options)
        except BuildError as error:
            raise click.ClickException(str(error)) from error
    code = show(result, chosen, limits.seconds)
    click.echo(f"rocport: {Evidence(((capability, chosen, result),))}", err=True)
    return code
