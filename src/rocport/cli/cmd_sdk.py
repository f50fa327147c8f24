"""`rocport sdk`: install, inspect and locate the HIP cross-compile SDK."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rocport.cli import EXIT_CLEAN, EXIT_ERROR, EXIT_FINDINGS


@click.group("sdk")
def command() -> None:
    """A HIP cross-compile SDK in a user folder: no root and no GPU needed."""


@command.command("install")
@click.option("--mirror", metavar="URL", help="Debian archive to use; default: the one apt is configured for.")
@click.option("--allow-unpinned", is_flag=True, help="Take the archive's version where a pinned one is gone.")
@click.option("--force", is_flag=True, help="Install anew even when a complete SDK is there.")
@click.option("--quiet", "-q", is_flag=True, help="Print only errors and the folder.")
@click.pass_context
def install(ctx: click.Context, mirror: str | None, allow_unpinned: bool, force: bool, quiet: bool) -> None:
    """Download, verify and unpack the SDK; prints its folder. Does nothing when it is there."""
    from rocport.toolchain import sdk

    def log(message: str) -> None:
        if not quiet or message.startswith("warning"):
            click.echo(f"sdk: {message}", err=True)

    try:
        path, done = sdk.install(mirror=mirror, allow_unpinned=allow_unpinned, force=force, log=log)
    except sdk.SdkError as error:
        click.echo(f"rocport sdk install: {error}", err=True)
        ctx.exit(EXIT_ERROR)
    log("installed" if done else "already installed")
    click.echo(path)


@command.command("path")
@click.pass_context
def path(ctx: click.Context) -> None:
    """Print the SDK's folder (usable as ROCM_PATH); exit code 1 when it is not installed."""
    from rocport.toolchain import sdk

    folder = sdk.sdk_path()
    click.echo(folder)
    ctx.exit(EXIT_CLEAN if sdk.read_manifest(folder) else EXIT_FINDINGS)


@command.command("verify")
@click.pass_context
def verify(ctx: click.Context) -> None:
    """Hash every file of the SDK and compare with what its packages unpack to; exit code 1 when one was changed."""
    from rocport.toolchain import sdk

    folder = sdk.sdk_path()
    same = sdk.read_manifest(folder) is not None and sdk.is_as_unpacked(folder)
    said = "as unpacked" if same else "not what its packages unpack to; rocport sdk install --force"
    click.echo(f"{folder}: {said} (sha256 {sdk.unpacked_sha256(folder)})")
    ctx.exit(EXIT_CLEAN if same else EXIT_FINDINGS)


@command.command("status")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def status(ctx: click.Context, form: str) -> None:
    """Which HIP compiler rocport uses here, and which gfx targets it can compile for."""
    from rocport.toolchain import ToolchainError, find, sdk

    folder = sdk.sdk_path()
    manifest = sdk.read_manifest(folder)
    try:
        toolchain = find()
        error = ""
    except ToolchainError as problem:
        toolchain = None
        error = str(problem)
    targets = toolchain.targets() if toolchain else {}
    if form == "json":
        report = {
            "sdk": {"path": str(folder), "installed": manifest is not None, **(manifest or {})},
            "toolchain": toolchain.describe() if toolchain else None,
            "targets": targets,
            "error": error,
        }
        click.echo(json.dumps(report, indent=1))
        ctx.exit(EXIT_CLEAN if toolchain else EXIT_FINDINGS)
    if manifest is None:
        click.echo(f"sdk        not installed at {folder}; rocport sdk install")
    else:
        click.echo(f"sdk        {manifest['version']} at {folder} ({_megabytes(folder)} MB)")
        for package in manifest["packages"]:
            if not package["pinned"]:
                click.echo(f"           {package['name']} {package['version']} is not the pinned version")
    if toolchain is None:
        click.echo(error, err=True)
        ctx.exit(EXIT_FINDINGS)
    click.echo(f"compiler   {toolchain.compiler}")
    click.echo(f"           {toolchain.summary()}")
    click.echo(f"targets    {' '.join(name for name, reason in targets.items() if not reason)}")
    for name, reason in targets.items():
        if reason:
            click.echo(f"           {name}: {reason}")
    for name in (manifest or {}).get("isa_constants_added", ()) if toolchain.kind == "sdk" else ():
        click.echo(f"           {name}: compiles, with device libraries older than it")


def _megabytes(folder: Path) -> int:
    return round(sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and not f.is_symlink()) / 1e6)
