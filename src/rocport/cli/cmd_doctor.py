"""`rocport doctor`: what this machine is, what is wrong with it, what fixes it."""

from __future__ import annotations

import os
import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocport.cli.common import emit, make_options
from rocport.model.terminal import paint
from rocport.report import formats

if TYPE_CHECKING:
    from rocport.doctor.check import Result
    from rocport.doctor.diagnosis import Diagnosis
    from rocport.doctor.machine import Gpu, Machine
    from rocport.explain import Reading
    from rocport.model import Options, Report

_MARK = {
    "ok": ("ok", "green"),
    "warn": ("warn", "yellow"),
    "fail": ("FAIL", "red"),
    "skipped": ("skip", "bright_black"),
}


@click.command()
@click.argument("captures", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Diagnose captured output instead of this machine: files or folders of rocminfo, collect_env, amd-smi, KFD "
    "properties, bitsandbytes and other text, also mixed; '-' is stdin. More files may follow as arguments.",
)
@click.option("--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="Output format.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json (stable, documented).")
@click.option(
    "--export", "export", is_flag=True, help="Print shell lines that set the advised environment; source them."
)
@click.option("--fix", "fix_id", metavar="ID", help="Show the fix of one check, and run it after asking.")
@click.option("--dry-run", is_flag=True, help="With --fix: print the commands and run nothing.")
@click.option("--deep", is_flag=True, help="Also run torch: small kernels, 4-bit, LLM.int8, an 8-bit optimizer, FSDP.")
@click.option(
    "--python",
    "python",
    type=click.Path(exists=True, path_type=Path),
    help="Examine the packages of this interpreter or virtual environment instead of the active one.",
)
@click.option(
    "--model",
    "model",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Say how this model (folder, config.json or .safetensors) loads here: as is or converted, block size, type, "
    "attention, memory.",
)
@click.option("--target", metavar="GFX[,GFX]", help="As if these were the GPUs.")
@click.option("--torch", metavar="VERSION", help="As if this torch were installed, such as 2.9.")
@click.option("--rocm", metavar="VERSION", help="As if torch were built for this ROCm, such as 7.1.1.")
@click.option("--vendor", type=click.Choice(["amd", "nvidia"]), help="With --from: whose GPU, where no paste says it.")
@click.option("--bitsandbytes", metavar="VERSION", help="With --model: assume this version of bitsandbytes.")
@click.option("-v", "--verbose", is_flag=True, help="Show also what is ok or skipped, with evidence.")
@click.pass_context
def command(
    ctx: click.Context,
    captures: tuple[Path, ...],
    sources: tuple[Path, ...],
    fmt: str,
    as_json: bool,
    export: bool,
    fix_id: str | None,
    dry_run: bool,
    deep: bool,
    python: Path | None,
    model: Path | None,
    target: str | None,
    torch: str | None,
    rocm: str | None,
    vendor: str | None,
    bitsandbytes: str | None,
    verbose: bool,
) -> None:
    """Say what this machine is, what is wrong with it, and what fixes it.

    Exit code: 0 nothing found, 1 a warning or a failure, 2 usage error. Nothing is changed without being asked.
    """
    from rocport.cli.model_policy import checked_build
    from rocport.doctor.diagnosis import diagnose

    if captures and not sources:
        raise click.UsageError("captured files are given with --from FILE")
    if dry_run and fix_id is None:
        raise click.UsageError("--dry-run goes with --fix ID")
    if sources and (deep or python is not None):
        raise click.UsageError("--deep and --python examine this machine; --from reads captured text")
    if vendor and not sources:
        raise click.UsageError("--vendor says whose GPU a paste is about: it goes with --from FILE")
    if as_json:
        fmt = "json"
    if model is not None and fmt not in ("text", "json"):
        raise click.UsageError(f"--model prints text and json, not {fmt}")
    if model is None and bitsandbytes:
        raise click.UsageError("--bitsandbytes goes with --model PATH")
    if deep and (target or torch or rocm):
        raise click.UsageError("--deep runs what is installed; --target, --torch and --rocm ask of something else")
    build = checked_build(torch, rocm)
    if model is not None and target:
        from rocport.cli.model_policy import named_targets, report

        ctx.exit(report(model, named_targets(target), bitsandbytes, fmt == "json", build=build))
    asked = make_options(target, rocm, torch)
    readings, passed = _readings([*sources, *captures], vendor or "", asked) if sources else ([], [])
    if readings and all(reading.foreign for reading in readings) and fmt == "text":
        _print_pastes(readings, machine=True)
        ctx.exit(0)
    if deep:
        _announce()
    machine = _machine_of(readings, passed) if sources else _machine(deep, python)
    if model is None and (target or torch or rocm):
        from rocport.cli.model_policy import named_targets
        from rocport.doctor.assume import assume

        names = tuple(one.name for one, _ in named_targets(target)) if target else ()
        machine = assume(machine, names, torch or "", rocm or "")
    if model is not None:
        from rocport.cli.model_policy import installed_bitsandbytes, machine_targets, report

        version = bitsandbytes or installed_bitsandbytes(machine)
        ctx.exit(report(model, machine_targets(machine), version, fmt == "json", build=build))
    diagnosis = diagnose(machine)
    readings += _deep_readings(machine)
    if fix_id is not None:
        ctx.exit(_fix(diagnosis, fix_id, dry_run))
    if export:
        _export(diagnosis)
        ctx.exit(diagnosis.exit_code)
    from rocport.facts.dates import dated

    if fmt == "text":
        _print(diagnosis, verbose, any(reading.told is not None and reading.told.gpu for reading in readings))
        if readings:
            click.echo("")
        _print_pastes(readings, machine=False)
        if sources and not machine.gpus and not any(reading.matches for reading in readings):
            _print_collect()
        click.echo(dated())
    else:
        emit(_report(diagnosis, readings), fmt)
    ctx.exit(1 if any(reading.matches for reading in readings) else diagnosis.exit_code)


def _report(diagnosis: Diagnosis, readings: list[Reading]) -> Report:
    """The diagnosis for the report formats: a finding for each check that warns or fails and for each known failure."""
    from rocport.explain.pages import reading_data
    from rocport.explain.report import findings_of, sections_of, who_section
    from rocport.facts.dates import dated, facts_as_of
    from rocport.model import Applicability, Finding, Mark, Report, Section, Severity, Span

    data: dict[str, object] = {**diagnosis.as_dict(), **facts_as_of()}
    if readings:
        data["pastes"] = [reading_data(reading) for reading in readings]
    severities = {"warn": Severity.SLOW, "fail": Severity.BREAKS_RUN}
    tones = {"ok": "good", "warn": "warn", "fail": "bad", "skipped": "dim"}
    bad = [result for result in diagnosis.results if result.status in severities]
    findings = [
        Finding(
            result.check.id, result.evidence[0].where if result.evidence else "machine", Span(0, 0), 1, 1,
            " ".join((result.message, result.consequence)).strip(), severities[result.status], Applicability.MANUAL, 0,
            fix="; ".join(result.fix),
        )
        for result in bad
    ]  # fmt: skip
    findings += [finding for reading in readings for finding in findings_of(reading)]
    sections = [
        Section("GPUs", ("GPU",), tuple((_gpu_line(gpu),) for gpu in diagnosis.machine.gpus) or (("none",),)),
        Section("Versions", ("what", "version"), tuple(diagnosis.versions().items())),
        Section(
            "Checks",
            ("status", "check", "what was found", "what follows", "fix", "read"),
            tuple(
                (
                    Mark(result.status, tones[result.status]), Mark(result.check.id, "code"), result.message,
                    result.consequence, "\n".join(result.fix),
                    "; ".join(f"{one.text} ({one.where})" for one in result.evidence[:3]),
                )
                for result in diagnosis.results
            ),
            dated(),
        ),
        *(section for reading in readings if (section := who_section(reading, machine=False)).rows),
        *(section for reading in readings for section in sections_of(reading)),
    ]  # fmt: skip
    counts = {status: sum(result.status == status for result in diagnosis.results) for status in _MARK}
    words = f"{counts['fail']} failed, {counts['warn']} warnings, {counts['ok']} ok, {counts['skipped']} skipped"
    return Report(
        "doctor", "this machine" if diagnosis.machine.live else "captured output", (), tuple(findings), data=data,
        sections=tuple(sections), verdict=Mark(words, tones[diagnosis.worst]),
    )  # fmt: skip


def _readings(sources: list[Path], vendor: str, options: Options) -> tuple[list[Reading], list[str]]:
    """Each paste, read once by the reader of `rocport explain`, and what there is to say of the reading; `vendor` and
    `options` are what its user says of the machine."""
    from rocport.doctor.capture import CaptureError, text_files
    from rocport.explain import read_stream

    if [str(s) for s in sources] == ["-"]:
        return [read_stream(sys.stdin.buffer, "stdin", vendor, options)], []
    found = []
    try:
        files, passed = text_files(sources)
        for file in files:
            with file.open() as stream:
                found.append(read_stream(stream, str(file.path), vendor, options))
    except OSError as error:
        raise click.ClickException(f"{error.filename}: cannot be read: {error.strerror or error}") from error
    except CaptureError as error:
        raise click.ClickException(str(error)) from error
    return found, passed


def _machine_of(readings: list[Reading], notes: list[str]) -> Machine:
    """The machine that the pastes show together."""
    from rocport.doctor.capture import machine_of

    return machine_of([(reading.name, reading.machine.facts) for reading in readings], notes)


def _announce() -> None:
    """Say what `--deep` runs before it runs: importing torch and bitsandbytes alone can take a minute."""
    from rocport.doctor.deep import SECONDS
    from rocport.doctor.workflows import WORKFLOWS

    names = ", ".join(WORKFLOWS)
    click.echo(f"deep: importing torch, then {names}: each at most {SECONDS:.0f} s, on the CPU without a GPU", err=True)


def _deep_readings(machine: Machine) -> list[Reading]:
    """What the failed workflows of `--deep` printed, read as a paste."""
    from rocport.doctor.deep import OUTPUT
    from rocport.explain import read_stream

    outputs = [s for s in machine.facts.settings if machine.live and s.name.startswith(OUTPUT)]
    return [
        read_stream(BytesIO(str(s.value).encode()), f"deep {s.name[len(OUTPUT) :]}", "amd" if machine.gpus else "")
        for s in outputs
    ]


def _print_pastes(readings: list[Reading], machine: bool) -> None:
    """What the known failures say to each paste, as `rocport explain` prints it."""
    from rocport.explain.pages import diagnosis_lines

    for reading in readings:
        for line in diagnosis_lines(reading, machine=machine):
            click.echo(line)


def _print_collect() -> None:
    from rocport.explain.pages import collect_lines

    for line in collect_lines():
        click.echo(line)


def _machine(deep: bool, python: Path | None) -> Machine:
    from rocport.doctor.host import Host
    from rocport.doctor.live import read_machine
    from rocport.doctor.probes.python_env import site_packages_of

    host = Host()
    if python is not None:
        folders = site_packages_of(python)
        if not folders:
            raise click.UsageError(
                f"--python {python}: no lib/python3*/site-packages beside it; expected an interpreter or environment"
            )
        host = Host(site_packages=folders)
    return read_machine(host, deep)


def _colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _style(text: str, colour: str, bold: bool = False) -> str:
    return paint(text, colour or "", bold=bold) if _colour() else text


def _gpu_line(gpu: Gpu) -> str:
    known = gpu.gfx or "gfx not in what was read"
    if not gpu.gfx and gpu.chip_targets:
        known += f" (by PCI id or name: {' or '.join(gpu.chip_targets)})"
    parts = [known]
    if gpu.spoofed:
        parts.append(f"disguised, the chip is {gpu.hardware or ' or '.join(gpu.chip_targets)}")
    if gpu.product:
        parts.append(gpu.product)
    if gpu.wavefront:
        parts.append(f"wave{gpu.wavefront}")
    if gpu.kind:
        parts.append({"apu": "APU", "dgpu": "discrete"}[gpu.kind])
    units = gpu.number("compute_units")
    if units:
        parts.append(f"{units} CU")
    sources = ", ".join(dict.fromkeys(s.source for s in gpu.sightings))
    return f"GPU {gpu.index}: {', '.join(parts)}  [{sources}]"


def _target_line(gpu: Gpu) -> str:
    """What the GPU's target can do, in one line; empty when it is not known."""
    target = gpu.target
    if target is None:
        return ""
    states = {s.library: s.state for s in target.support if s.library in ("hipBLASLt", "AOTriton", "composable_kernel")}
    parts = [
        target.family,
        f"matrix {target.matrix}",
        f"fp8 {target.fp8}",
        f"bf16 matrix {'yes' if target.bf16_matrix else 'no'}",
        f"LDS {target.lds_bytes >> 10} KiB",
        *(f"{library} {state}" for library, state in states.items()),
    ]
    return f"       {target.name}: {', '.join(parts)}"


def _print(diagnosis: Diagnosis, verbose: bool, told: bool = False) -> None:
    """The machine and its checks; `told`: what was read names a GPU in words, which is printed with them."""
    machine = diagnosis.machine
    for note in machine.notes:
        click.echo(note)
    printed: set[str] = set()
    for gpu in machine.gpus:
        click.echo(_gpu_line(gpu))
        line = _target_line(gpu)
        if line and line not in printed:
            printed.add(line)
            click.echo(line)
    if not machine.gpus and not told:
        click.echo("GPU: none" if machine.live else "GPU: none in what was read")
    shown = [f"{name} {value}" for name, value in diagnosis.versions().items() if value]
    if shown:
        click.echo("Versions: " + ", ".join(shown))
    click.echo("")
    for result in diagnosis.results:
        if result.status in ("warn", "fail") or verbose:
            _print_result(result, verbose)
    counts = {s: sum(r.status == s for r in diagnosis.results) for s in _MARK}
    click.echo(
        f"{counts['fail']} failed, {counts['warn']} warnings, {counts['ok']} ok, {counts['skipped']} skipped"
        + ("" if verbose else " (-v shows them)")
    )


def _print_result(result: Result, verbose: bool) -> None:
    word, colour = _MARK[result.status]
    click.echo(f"{_style(f'{word:4}', colour, bold=True)}  {result.check.id}: {result.message}")
    if result.status in ("warn", "fail") or verbose:
        for evidence in result.evidence[: 8 if verbose else 3]:
            click.echo(f"      read: {evidence.text}  ({evidence.where})")
    if result.consequence:
        click.echo(f"      {result.consequence}")
    for line in result.fix:
        click.echo(f"      {'' if line.startswith('#') else '$ '}{line}")
    needs = [
        text
        for flag, text in (
            (result.needs_sudo, "administrator rights"),
            (result.needs_relogin, "a new login"),
            (result.needs_reboot, "a reboot"),
        )
        if flag
    ]
    if needs and result.fix:
        click.echo(f"      needs {', '.join(needs)}")
    if result.verify and result.status in ("warn", "fail"):
        click.echo(f"      then: {result.verify}")
    links = _links(result)
    if links and result.status in ("warn", "fail"):
        click.echo(f"      source: {links}")
    if result.status in ("warn", "fail"):
        click.echo("")


def _links(result: Result) -> str:
    from rocport.facts.hazards import hazard

    if len(result.check.hazards) > 2:
        return ""  # the check looks for several hazards: their links would be beside the point
    return " ".join(link for identifier in result.check.hazards for link in hazard(identifier).links[:2])


def _export(diagnosis: Diagnosis) -> None:
    """Lines for a POSIX shell; what each is for as a comment."""
    import shlex

    env, asking = diagnosis.exports()
    if not env:
        click.echo("# rocport doctor: no environment variable has to change")
        return
    for result in asking:
        click.echo(f"# {result.check.id}: {result.message}")
    for name, value in env.items():
        click.echo(f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}")


def _fix(diagnosis: Diagnosis, identifier: str, dry_run: bool) -> int:
    """Print, and after a confirmation run, the commands of one check. Returns the exit code."""
    import subprocess

    from rocport.doctor.check import modules

    ids = [m.CHECK.id for m in modules()]
    if identifier not in ids:
        import difflib

        close = difflib.get_close_matches(identifier, ids, n=3)
        raise click.UsageError(
            f"--fix {identifier}: no such check; {'close: ' + ', '.join(close) if close else 'see --json'}"
        )
    result = diagnosis.result(identifier)
    if result is None or result.status not in ("warn", "fail"):
        click.echo(f"# {identifier}: nothing to fix ({result.message if result else 'not run'})")
        return 0
    click.echo(f"# {identifier}: {result.message}")
    for line in result.fix:
        click.echo(line)
    if result.verify:
        click.echo(f"# then: {result.verify}")
    if dry_run:
        return 1
    if not diagnosis.machine.live:
        raise click.UsageError("the fix is for the machine the text came from: use --dry-run")
    commands = [line for line in result.fix if not line.startswith("#")]
    if any(c.startswith(("export ", "unset ", "ulimit ")) for c in commands):
        click.echo("# these change the shell that runs them: source <(rocport doctor --export), or type them", err=True)
        return 1
    if not commands or not click.confirm("Run these commands?", default=False, err=True):
        return 1
    for line in commands:
        code = subprocess.run(["/bin/sh", "-c", line], check=False).returncode
        if code:
            raise click.ClickException(f"{line}: ended with exit code {code}; the commands after it were not run")
    return 0
