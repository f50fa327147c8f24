"""`rocport verify`: prove a port, at the level asked for."""

from __future__ import annotations

from pathlib import Path

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS
from rocport.cli.common import one_of_each_width, print_date
from rocport.cli.running import check_hazards, sandbox_option, say_sandbox
from rocport.report import formats

_LEVELS = ("build", "functional")
_NVIDIA = "nvidia-unchanged"
_NUMERICAL = "numerical"
_OF_LEVELS = {
    "target": ("build", "functional"),
    "jobs": ("build", "functional"),
    "syntax_only": ("build",),
    "no_cache": ("build",),
    "all_units": ("build",),
    "includes": ("build",),
    "defines": ("build",),
    "source": ("build",),
    "timeout": ("build", "functional", _NUMERICAL),
    "width": ("functional",),
    "original": (_NVIDIA,),
    "original_rev": (_NVIDIA,),
    "strict": (_NVIDIA,),
    "watch_accesses": ("functional",),
    "executor": ("functional",),
    "quiet": ("functional",),
    "toolchain": ("build",),
    "golden": (_NUMERICAL,),
    "confined": ("functional", _NUMERICAL),
}
"""Option -> the levels it means something to."""
_KINDS = ["rocm", "wheels", "distribution", "sdk"]


@click.command("verify")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--level",
    type=click.Choice([*_LEVELS, _NUMERICAL, _NVIDIA]),
    default="build",
    show_default=True,
    help="What to prove.",
)
@click.option(
    "--target",
    default=one_of_each_width,
    show_default="one of each wavefront width",
    metavar="GFX[,GFX]",
    help="gfx targets.",
)
@click.option(
    "--format",
    "fmt",
    type=click.Choice(formats()),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option("-j", "--jobs", type=click.IntRange(min=0), default=0, help="Compilers at once; default: processors.")
@click.option("--syntax-only", is_flag=True, help="Check host and device code without making code objects: faster.")
@click.option("--no-cache", is_flag=True, help="Compile everything, and remember nothing.")
@click.option("--all-units", is_flag=True, help="Compile the sources that no build file names, too.")
@click.option("-I", "includes", multiple=True, type=click.Path(path_type=Path), help="Add an include folder.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option("--source", type=click.Path(path_type=Path, exists=True), help="The tree the port was made from.")
@click.option("--timeout", type=click.FloatRange(min=1), default=3600, show_default=True, help="Seconds for one unit.")
@click.option(
    "--width",
    default="32,64",
    show_default=True,
    metavar="N[,N]",
    help="functional: wavefront widths to run at; those of --target where it is given.",
)
@click.option(
    "--original", type=click.Path(path_type=Path, exists=True), help="nvidia-unchanged: the tree before the port."
)
@click.option("--original-rev", metavar="REV", help="nvidia-unchanged: the revision before the port, such as HEAD.")
@click.option("--strict", is_flag=True, help="nvidia-unchanged: what is to be looked at counts as a difference.")
@click.option(
    "--watch-accesses",
    is_flag=True,
    help="functional: look for races and reads of unwritten memory in programs that are right, too.",
)
@click.option(
    "--executor",
    metavar="NAME",
    help="functional: isa or source: run programs there alone; any other (nvidia, amd, ...): right programs there too. "
    "Default: the machine code of the targets, with the source-level run beside it, or where that is not possible.",
)
@click.option("--quiet", "quiet", multiple=True, metavar="HAZARD", help="functional: do not look for this hazard.")
@click.option("--toolchain", type=click.Choice(_KINDS), help="Use this kind of HIP compiler; default: the first found.")
@click.option(
    "--golden", type=click.Path(path_type=Path), help="numerical: the numbers that `rocport capture` recorded."
)
@sandbox_option
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- python SCRIPT [ARGS]...]")
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    level: str,
    target: str,
    fmt: str,
    jobs: int,
    syntax_only: bool,
    no_cache: bool,
    all_units: bool,
    includes: tuple[Path, ...],
    defines: tuple[str, ...],
    source: Path | None,
    timeout: float,
    width: str,
    original: Path | None,
    original_rev: str | None,
    strict: bool,
    watch_accesses: bool,
    executor: str | None,
    quiet: tuple[str, ...],
    toolchain: str | None,
    golden: Path | None,
    confined: bool,
    words: tuple[str, ...],
) -> None:
    """Prove a port.

    Level build compiles every translation unit below PATH for the gfx targets, host and device, with no GPU.
    Level functional runs the programs below PATH as the machine code of the targets, with no GPU; those that cannot be
    so run at source level, and it says why.
    Level numerical runs a Python program in PATH and compares its numbers with those recorded by `rocport capture`.
    Level nvidia-unchanged compares PATH with what was ported: with the platform predicate false it must be the same.
    Exit code 0: everything compiles, nothing changed; 1: something does not, something did, something was not tried;
    2: no compiler, nothing to compare with, wrong usage.
    """
    print_date()
    from rocport.cli.common import emit, make_targets, refuse_given
    from rocport.cli.progress import counting
    from rocport.model import cache_folder
    from rocport.toolchain import ToolchainError
    from rocport.verify import build
    from rocport.verify.reports import of_build

    if not path.exists():
        raise click.UsageError(f"{path}: no such file or folder; name the folder `rocport port` wrote")
    for name, levels in _OF_LEVELS.items():
        if level not in levels:
            refuse_given(ctx, [name], f"is of level {' and '.join(levels)}; this is level {level}")
    if words and level != _NUMERICAL:
        raise click.UsageError(f"level {level} runs no command: {' '.join(words)}")
    if level == _NVIDIA:
        from rocport.cli import nvidia_unchanged

        if original is not None and original_rev is not None:
            raise click.UsageError("--original and --original-rev exclude each other")
        ctx.exit(nvidia_unchanged.run(path, original, original_rev, strict, fmt))
    if level == _NUMERICAL:
        ctx.exit(_numerical(path, golden, words, timeout, confined, fmt))
    if level == "functional":
        named = ctx.get_parameter_source("target") is click.core.ParameterSource.COMMANDLINE
        if named and ctx.get_parameter_source("width") is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError("--target and --width exclude each other at level functional")
        targets = make_targets(target) if named else ()
        ctx.exit(_functional(path, width, targets, fmt, jobs, timeout, watch_accesses, quiet, executor, confined))
    targets = make_targets(target)
    if not targets:
        raise click.UsageError("--target: name at least one gfx target")
    options = build.BuildOptions(
        targets=targets,
        jobs=jobs,
        cache=None if no_cache else cache_folder(),
        includes=tuple(folder.resolve() for folder in includes),
        defines=defines,
        timeout_s=timeout,
        source=source,
        syntax_only=syntax_only,
        all_units=all_units,
        toolchain=toolchain,  # type: ignore[arg-type]
    )
    try:
        with counting("compiling", fmt) as count:
            verification = build.verify(
                path, options, lambda unit, done, total: count(done, total, f"{unit.path} {unit.target}")
            )
    except (build.VerifyError, ToolchainError) as error:
        raise click.ClickException(str(error)) from error
    emit(of_build(verification), fmt)
    ctx.exit(EXIT_CLEAN if verification.passed else EXIT_FINDINGS)


def _functional(
    path: Path,
    width: str,
    targets: tuple[str, ...],
    fmt: str,
    jobs: int,
    timeout: float,
    watch: bool,
    quiet: tuple[str, ...],
    executor: str | None,
    confined: bool,
) -> int:
    from rocport.cli.common import emit
    from rocport.cli.progress import counting
    from rocport.executor.amd import width_of
    from rocport.executor.choice import MACHINE, SOURCE, canonical
    from rocport.executor.registry import find_executor
    from rocport.verify import functional
    from rocport.verify.reports import of_functional

    name = canonical(executor or "")
    try:
        find_executor(name or SOURCE)
    except KeyError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--executor") from error
    alone = name in (SOURCE, MACHINE)
    check_hazards(quiet)
    widths = tuple(dict.fromkeys(width.split(",")))
    if not widths or any(lanes not in ("32", "64") for lanes in widths):
        raise click.BadParameter(f"{width}: a wavefront has 32 or 64 lanes", param_hint="--width")
    options = functional.FunctionalOptions(
        widths=tuple(dict.fromkeys(map(width_of, targets))) or tuple(map(int, widths)), timeout_s=timeout,
        jobs=jobs or 1, watch=watch, quiet=quiet, executor=name if alone else "", targets=targets,
        second="" if alone else name, confined=confined,
    )  # fmt: skip
    say_sandbox(confined)

    try:
        with counting("running", fmt) as count:
            verification = functional.verify(
                path, options, lambda done, at, total: count(at, total, f"{done.name} {done.verdict.value}")
            )
    except functional.FunctionalError as error:
        raise click.ClickException(str(error)) from error
    emit(of_functional(verification, str(path)), fmt)
    return EXIT_CLEAN if verification.passed else EXIT_FINDINGS


def _numerical(
    path: Path, golden: Path | None, words: tuple[str, ...], timeout: float, confined: bool, fmt: str
) -> int:
    """Level `numerical`: run a command in the folder `path`, compare with `golden`; the exit code.

    Raises click.UsageError, click.ClickException.
    """
    from rocport.cli.cmd_compare import report, run_and_compare
    from rocport.cli.numerics import limits_of, parsed, recording
    from rocport.numerics.process import TaskError

    if golden is None or not words:
        raise click.UsageError(
            "level numerical compares a run with recorded numbers: rocport verify PATH --level numerical "
            "--golden FILE -- python SCRIPT; record FILE with `rocport capture`, best on an NVIDIA GPU"
        )
    if not golden.exists():
        raise click.UsageError(f"{golden}: no such golden file; record one with `rocport capture`")
    folder = path if path.is_dir() else path.parent
    try:
        with recording("running", fmt) as progress:
            result, ran = run_and_compare(
                parsed(words, folder), golden, None, None, False, False, False, limits_of(timeout, None, confined),
                progress=progress, cwd=folder,
            )  # fmt: skip
    except (TaskError, OSError) as error:
        raise click.ClickException(str(error)) from error
    return report(result, ran, fmt, str(path), "verify")
