# SPDX-License-Identifier: Apache-2.0
"""`rocport hipcc`: a compiler driver with hipcc's command line, whose programs run on the ISA executor."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click

from rocport.cli import EXIT_ERROR

_LOG = "--rocport-log"


@click.command("hipcc", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
               add_help_option=False)  # fmt: skip
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Compile and link HIP programs with hipcc's ARGUMENTS, for this machine without a GPU.

    The compiler is the HIP compiler that `rocport sdk install` brings (or ROCm's); the runtime and the libraries are
    rocport's own, and run the device code that was compiled. Exit code: the compiler's.
    """
    from rocport.executor.isa.runtime.declarations import LibraryError
    from rocport.executor.isa.runtime.hipcc import hipcc_command
    from rocport.executor.isa.runtime.library import build_libraries
    from rocport.executor.isa.runtime.tree import machine_toolchain
    from rocport.toolchain import ToolchainError

    words = list(arguments)
    log = None
    if _LOG in words:
        at = words.index(_LOG)
        log = Path(words[at + 1])
        del words[at : at + 2]
    try:
        toolchain = machine_toolchain()
        links = hipcc_command(words, toolchain, Path("libraries"))
        needs = any(word.startswith("-Llibraries") for word in links.words)
        built = hipcc_command(words, toolchain, build_libraries(toolchain) if needs else None)
    except (ToolchainError, LibraryError) as error:
        raise click.ClickException(str(error)) from error
    for note in built.notes:
        click.echo(f"rocport hipcc: {note}", err=True)
    done = subprocess.run(built.words, check=False, stderr=subprocess.PIPE if log else None, text=True)
    if log is not None:
        log.write_text(done.stderr)
    ctx.exit(done.returncode if done.returncode >= 0 else EXIT_ERROR)
