# SPDX-License-Identifier: Apache-2.0
"""`rocport exec`: a command in an environment where this machine has ROCm and one AMD GPU, the ISA executor."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

import click

from rocport.cli import EXIT_ERROR


def _wide() -> str:
    from rocport.facts.targets import wave_target

    return wave_target(64).name


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--target",
    default=_wide,
    show_default="one of wavefront width 64",
    metavar="GFX",
    help="The device that is emulated.",
)
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.pass_context
def command(ctx: click.Context, target: str, arguments: tuple[str, ...]) -> None:
    """Run COMMAND (make, cmake, ctest, python, a program) on a machine without a GPU as if it had one of TARGET.

    hipcc, hipconfig, rocminfo, ROCM_PATH and CMake's packages are there; what is built with them runs the device's own
    machine code on this processor. What COMMAND started ends with it, and with rocport. Exit code: the command's; 2
    when the environment cannot be made.
    """
    from rocport.executor.isa.runtime.calls import trace_calls
    from rocport.executor.isa.runtime.declarations import LibraryError
    from rocport.executor.isa.runtime.tree import exec_environment, machine_toolchain, rocm_tree
    from rocport.facts.errors import FactError
    from rocport.facts.targets import load_target
    from rocport.toolchain import ToolchainError

    try:
        name = load_target(target).name
    except FactError as error:
        raise click.BadParameter(str(error), param_hint="--target") from error
    try:
        toolchain = machine_toolchain()
        reason = toolchain.targets().get(name)
        if reason:
            raise click.ClickException(f"{name}: {reason}")
        environment = exec_environment(rocm_tree(toolchain), name)
        trace_calls(toolchain, environment)
    except (ToolchainError, LibraryError) as error:
        raise click.ClickException(str(error)) from error
    try:
        status = run_tied(arguments, environment)
    except OSError as error:
        raise click.ClickException(f"{arguments[0]}: {error.strerror}") from error
    ctx.exit(status if status >= 0 else EXIT_ERROR + 126 - status)


def run_tied(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """The status of a command that ends with us, and all that it started with it."""
    from rocport.sandbox import tied

    process = subprocess.Popen(arguments, env={**os.environ, **environment}, preexec_fn=tied())
    # The command decides what they mean: Ctrl-C reaches it by itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, _frame: process.send_signal(number))
    return process.wait()
