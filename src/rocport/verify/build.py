"""Level `build`: compile every translation unit of a port, host and device, for the gfx targets asked for.

Nothing is run and nothing is linked on the host. The device pass makes a real code object for each target; the host
pass checks the source without generating code.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from rocport.executor.precompiled import shelf
from rocport.facts.targets import load_target
from rocport.model import HANGING_S
from rocport.model.folders import cache_folder
from rocport.model.manifest import NAME, Manifest
from rocport.model.shape import ShapeError, check
from rocport.model.verification import (
    HOST,
    KernelFinding,
    KernelUse,
    Status,
    UnitResult,
    Verification,
)
from rocport.project.defines import GPU_TARGETS
from rocport.project.languages import CUDA_SOURCES, suffix_of
from rocport.project.tree import Project, read_project
from rocport.project.unit import Unit
from rocport.sandbox import looking
from rocport.syntax.code_object import CodeObjectError, read
from rocport.toolchain import Toolchain, find
from rocport.toolchain.compiler import Kind, Language, as_path, system_folders
from rocport.verify import diagnostics
from rocport.verify.cache import Cache, Fingerprints, read_depfile
from rocport.verify.made import as_made, export_folders
from rocport.verify.precompiled import precompiled, with_hip
from rocport.verify.torch_headers import (
    TorchHeaders,
    TorchHeadersError,
    find_torch,
    python_include,
    torch_headers,
)

_MISSING_HEADER = re.compile(r"'([^'\n]+)' file not found")
# Errors that declarations a unit did not ask for cannot cause.
_LACKING = re.compile(r"error: (?:use of undeclared|unknown type name|no (?:member|type) named|'[^']+' file not)")
DEFAULT_TIMEOUT_S = HANGING_S
_FORMAT = "5"
ASSUMED = 64
"""Stands for a macro whose value a program computes when it builds its extension: a size, in all that were seen."""
# Findings with which a kernel cannot be launched, or is not the program's.
_FATAL = frozenset({"lds-over-limit", "kernel-without-code"})
_ERROR_LIMIT = 30

Progress = Callable[[UnitResult, int, int], None]


class VerifyError(Exception):
    """The verification cannot be done; the message says why and what to do."""


@dataclass(frozen=True)
class BuildOptions:
    """How to verify. `cache` is the folder of earlier results, None for none."""

    targets: tuple[str, ...]
    jobs: int = 0
    """Compilers run at once; 0: one for each processor."""
    cache: Path | None = None
    includes: tuple[Path, ...] = ()
    last_includes: tuple[Path, ...] = ()
    """Folders where a header is looked for when neither the tree nor the machine has it."""
    defines: tuple[str, ...] = ()
    timeout_s: float = DEFAULT_TIMEOUT_S
    source: Path | None = None
    """The tree the port was made from, to map errors back; found by itself where the manifest says."""
    toolchain: Kind | None = None
    syntax_only: bool = False
    """Check, and make no code objects: faster, with no register, scratch or LDS use."""
    only: frozenset[str] = frozenset()
    """Paths of the units to compile, relative to the tree; empty: all of them."""
    all_units: bool = False
    """Compile the units that the project's build files do not name, too."""
    precompiled: bool = False
    """Compile PyTorch extensions with precompiled headers: ten times faster; an include that a unit forgot may hide."""


def verify(path: Path, options: BuildOptions, progress: Progress | None = None) -> Verification:
    """Compile the translation units of a tree, or one file.

    Raises VerifyError when nothing can be verified (no units, a target that cannot be compiled for), ToolchainError
    when there is no HIP compiler.
    """
    path = path.resolve()
    root = path if path.is_dir() else path.parent
    toolchain = find(options.toolchain)
    _check_targets(toolchain, options.targets)
    manifest = _manifest(root)
    project = read_project(root, toolchain.include)
    units = [unit for unit in _units(project, manifest) if path == root or root / unit.path == path]
    if options.only:
        units = [unit for unit in units if unit.path in options.only]
    left_out: tuple[str, ...] = ()
    if path == root and not options.only and not options.all_units:
        left_out = tuple(unit.path for unit in units if not unit.named)
        units = [unit for unit in units if unit.named]
    units, unanswered = as_made(project, units)
    if not units:
        raise VerifyError(f"{path}: no translation unit found (.cu, .hip, or a host source that includes GPU headers)")
    options = replace(options, includes=(*options.includes, *export_folders(project, cache_folder())))
    cache = Cache(options.cache, Fingerprints(root))
    torch, torch_reason = _torch(units)
    with _interrupted_once(), tempfile.TemporaryDirectory(prefix="rocport-") as scratch:
        builder = _Builder(toolchain, project, options, cache, _origins(root, manifest, options.source), Path(scratch))
        builder.torch, builder.torch_reason = torch, torch_reason
        jobs = [(unit, target) for unit in units for target in (HOST, *_device_targets(unit, options.targets))]
        results = list(_in_parallel(builder, jobs, options.jobs or os.cpu_count() or 1, progress))
    order = {job: index for index, job in enumerate((unit.path, target) for unit, target in jobs)}
    results.sort(key=lambda result: order[result.path, result.target])
    targets = ", ".join(options.targets)
    done = "syntax checked" if options.syntax_only else "cross-compiled"
    done += " with PyTorch's headers precompiled" if options.precompiled and torch is not None else ""
    how = f"{done} for {targets} with {toolchain.summary()}; not linked on the host and not run"
    if computed := sorted({name for unit in units for name in unit.computed}):
        how += f"; computed when the build runs, tried with {ASSUMED}: {', '.join(computed)}"
    if unanswered:
        how += f"; flags as read, where make did not answer: {', '.join(unanswered)}"
    return Verification("build", str(path), options.targets, how, tuple(results), left_out)


@contextlib.contextmanager
def _interrupted_once() -> Iterator[None]:
    """Raise KeyboardInterrupt for the first Ctrl-C only, so that a second one does not cut the cleaning up short."""

    def once(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _device_targets(unit: Unit, targets: Sequence[str]) -> Sequence[str]:
    return targets if unit.language == "hip" else ()


def _check_targets(toolchain: Toolchain, targets: Sequence[str]) -> None:
    reasons = toolchain.targets()
    for target in targets:
        if reason := reasons.get(target, "no such gfx target is known"):
            available = " ".join(name for name, why in reasons.items() if not why)
            raise VerifyError(f"cannot compile for {target}: {reason}. {toolchain.summary()} can do: {available}")


def unit_paths(root: Path) -> list[str]:
    """Paths of the translation units that a tree's build files name, relative to it. Raises ToolchainError."""
    root = root.resolve()
    units = _units(read_project(root, find(None).include), _manifest(root))
    return [unit.path for unit in units if unit.named]


def _units(project: Project, manifest: Manifest) -> list[Unit]:
    changed = frozenset(name for name, record in manifest.files.items() if record.status in ("translated", "unchanged"))
    units = project.units(changed)
    if manifest.options.get("layout") == "both":
        # CUDA sources stay for nvcc there; their translations are units of their own.
        units = [unit for unit in units if suffix_of(unit.path) not in CUDA_SOURCES]
    return units


def _manifest(root: Path) -> Manifest:
    """Of the port that wrote the tree, or a folder of it (layout both); an empty one where none can be read."""
    for place in (root / NAME, *sorted(root.glob(f"*/{NAME}"))):
        try:
            return Manifest.parse(place.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
    return Manifest("")


def _origins(root: Path, manifest: Manifest, source: Path | None) -> diagnostics.Origins:
    sources = {output: record.source for output, record in manifest.files.items()}
    if source is None and manifest.source_root:
        # The tree may have moved since: it is the source only if the files are those the port read.
        recorded = (root / manifest.source_root).resolve()
        if any((recorded / name).is_file() for name in sources.values() if name):
            source = recorded
    return diagnostics.Origins(sources, source, root)


def _torch(units: Iterable[Unit]) -> tuple[TorchHeaders | None, str]:
    """Headers for PyTorch extensions, or why there are none; nothing is done where no unit needs them."""
    if not any(unit.torch or unit.extension for unit in units):
        return None, ""
    torch = find_torch()
    if torch is None:
        return None, "torch is not installed, its headers are needed"
    if python_include() is None:
        return None, "Python.h is not installed (Debian: python3-dev), PyTorch's headers need it"
    try:
        return torch_headers(torch, cache_folder()), ""
    except TorchHeadersError as error:
        return None, str(error)


@dataclass(frozen=True)
class _Outcome:
    """What the compiler did: exit code (None: the time limit ended it), its messages, and the code object's kernels."""

    code: int | None
    text: str
    """Of what compiles, only the warnings that are findings."""
    kernels: tuple[KernelUse, ...]
    empty: tuple[str, ...] = ()
    """Kernels without a machine instruction."""

    @classmethod
    def from_cache(cls, entry: Mapping[str, Any] | None) -> _Outcome | None:
        """The stored outcome; None when there is none, or not one that this version writes."""
        try:
            if entry is None:
                return None
            check(entry, {"code": int, "text": str, "kernels": [dict], "empty": [str]})
            uses = tuple(KernelUse(**kernel) for kernel in entry["kernels"])
            return cls(entry["code"], entry["text"], uses, tuple(entry["empty"]))
        except (ShapeError, TypeError):
            return None


# Sources that the build gives to the host's compiler, mostly GCC: it only warns of a number that is narrowed, and a
# project that makes do with nested functions there has blocks for clang.
_AS_GCC: dict[Language, tuple[str, ...]] = {"c++": ("-Wno-c++11-narrowing",), "c": ("-fblocks",)}


@dataclass
class _Builder:
    """Compiles one unit for one target; called from several threads."""

    toolchain: Toolchain
    project: Project
    options: BuildOptions
    cache: Cache
    origins: diagnostics.Origins
    scratch: Path
    torch: TorchHeaders | None = None
    torch_reason: str = ""

    def __post_init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._stopped = False
        compiler = self.toolchain.compiler.stat()
        self._identity = [
            _FORMAT,
            self.toolchain.compiler_version,
            f"{compiler.st_size}:{compiler.st_mtime_ns}",
            str(self.project.root),
            # A file that appears may be found before one that was there.
            "\n".join(sorted(self.project.files)),
        ]

    def __call__(self, unit: Unit, target: str) -> UnitResult:
        if unit.torch and self.torch is None:
            return UnitResult(unit.path, target, Status.SKIP, self.torch_reason)
        command = self.command(unit, target)
        key = Cache.key([*self._identity, *command, unit.path, target, str(self.options.precompiled)])
        outcome = _Outcome.from_cache(self.cache.get(key))
        cached = outcome is not None
        started = time.monotonic()
        if outcome is None:
            outcome, files = self._compiled(unit, command, target)
            if files:
                self.cache.put(key, files, asdict(outcome))
        result = UnitResult(unit.path, target, Status.OK, kernels=outcome.kernels, cached=cached)
        result = replace(result, seconds=round(time.monotonic() - started, 3))
        if outcome.code is None:
            return replace(result, status=Status.FAIL, reason=f"did not compile within {self.options.timeout_s:g} s")
        if outcome.code != 0:
            failed = self._failed(result, outcome.text)
            if (assumed := self._assumed(unit)) and failed.status is Status.FAIL:
                reason = f"its build computes {', '.join(assumed)}: give the values with -D; tried with {ASSUMED}"
                blamed = diagnostics.name_macros(outcome.text, (name.split()[0] for name in assumed))
                status = Status.SKIP if blamed else Status.FAIL
                return replace(failed, status=status, reason=reason)
            return failed
        findings = tuple(self._found(outcome, target)) if target != HOST else ()
        launches = all(finding.code not in _FATAL for finding in findings)
        return replace(result, findings=findings, status=Status.OK if launches else Status.FAIL)

    def _compiled(self, unit: Unit, command: list[str], target: str) -> tuple[_Outcome, list[str]]:
        """The outcome with precompiled headers where they serve and settle it, else without."""
        if faster := self._precompiled(unit, command, target):
            outcome, files = self._compile([*command, *faster], unit.path, target)
            if outcome.code in (0, None) or (unit.torch and _LACKING.search(outcome.text)):
                return outcome, files
        return self._compile(command, unit.path, target)

    def _precompiled(self, unit: Unit, command: list[str], target: str) -> list[str]:
        own = self._own(unit, target)
        if unit.torch or unit.extension:
            return precompiled(unit, command, own) if unit.torch and self.options.precompiled else []
        return with_hip(unit, command, own, self.project.root, self.options.targets[0])

    def _compile(self, command: list[str], path: str, target: str) -> tuple[_Outcome, list[str]]:
        """Run the compiler; also the files its verdict rests on, empty where it should not be remembered."""
        name = Cache.key([path, target])[:24]
        output, depfile, opened = (self.scratch / f"{name}.{suffix}" for suffix in ("o", "d", "headers"))
        objects = target != HOST and not self.options.syntax_only
        into = ["-o", str(output), diagnostics.RESOURCE_REMARKS] if objects else []
        code, text = self._run([*command, "-MD", "-MF", str(depfile), *into], opened)
        if code is None:
            return _Outcome(None, "", ()), []
        if code != 0:
            # The compiler writes no dependencies for what does not compile, and lists the headers it opened. A negative
            # code is a signal, of a machine short of memory for example.
            files = [os.path.join(self.project.root, file) for file in (path, *_lines_of(opened))]
            return _Outcome(code, text, ()), [*files, *self._looked_for(command, text)] if code > 0 else []
        use, empty = self._kernels(output) if objects else ((), ())
        waves = diagnostics.occupancy(text)
        use = tuple(replace(kernel, occupancy=waves.get(kernel.name, 0)) for kernel in use)
        output.unlink(missing_ok=True)
        warnings = "\n".join(line for line in text.splitlines() if diagnostics.is_dangerous(line))
        return _Outcome(0, warnings, use, empty), [
            os.path.join(self.project.root, file) for file in read_depfile(depfile)
        ]

    def _looked_for(self, command: Sequence[str], text: str) -> Iterator[str]:
        """Where a missing header was looked for: outside the tree, too, its appearance must be noticed."""
        folders = [*system_folders(self.toolchain.compiler), *self._folders(command)]
        for name in dict.fromkeys(_MISSING_HEADER.findall(text)):
            yield from (os.path.join(self.project.root, folder, name) for folder in folders)

    def _defines(self, unit: Unit, target: str) -> list[str]:
        """The macros of a unit's build; one that names the GPU has the target's name, on the host that of the first."""
        gpu = next(iter(self.options.targets), "") if target == HOST else target
        return [define.replace(GPU_TARGETS, gpu) for define in unit.defines]

    def _own(self, unit: Unit, target: str) -> frozenset[str]:
        """The words of a unit's command that another unit's need not have."""
        folders = [*self.options.includes, *unit.includes]
        shared = (*self.toolchain.hip_defines, *(self.torch.defines if self.torch is not None else ()))
        macros = [
            f"-D{define}" for define in (*self._defines(unit, target), *self.options.defines) if define not in shared
        ]
        last = [f"-idirafter{folder}" for folder in (*unit.last_includes, *self.options.last_includes)]
        return frozenset([*(f"-I{folder}" for folder in folders), *last, *self._quoted(unit), *macros])

    def _quoted(self, unit: Unit) -> list[str]:
        folders = [*map(as_path, self.options.includes), *map(as_path, unit.quote_includes)]
        return [word for folder in folders for word in ("-iquote", folder)]

    def _assumed(self, unit: Unit) -> list[str]:
        """The macros of a unit whose value is known to nobody yet."""
        given = {define.partition("=")[0] for define in self.options.defines}
        return [name for name in unit.computed if name.split()[0] not in given]

    def command(self, unit: Unit, target: str) -> list[str]:
        """The compiler's command line, without output files; run in the tree's root."""
        language: Language = {"hip": "hip", "c": "c"}.get(unit.language, "c++")  # type: ignore[assignment]
        system: list[Path] = []
        defines = list(self.toolchain.hip_defines) if language == "hip" else []
        std = f"c++{unit.standard}" if unit.standard and language != "c" else None
        if (unit.torch or unit.extension) and self.torch is not None:
            system += self.torch.includes
            torch_defines = self.torch.defines if language == "hip" else self.torch.host_defines
            defines += [define for define in torch_defines if define not in defines]
            std = max(std or "", self.torch.std) if language != "c" else None
        elif unit.python and (python := python_include()) is not None:
            system.append(python)
        defines += [f"{name.split()[0]}={ASSUMED}" for name in self._assumed(unit)]
        extra = [f"-ferror-limit={_ERROR_LIMIT}", "-fno-color-diagnostics", diagnostics.FIXITS]
        extra += ["-ftemplate-backtrace-limit=0", *(f"-U{name}" for name in unit.undefines)]
        extra += _AS_GCC.get(language, ())
        extra += self._quoted(unit)
        extra += [word for header in unit.forced for word in ("-include", header)]
        extra += [f"-idirafter{folder}" for folder in (*unit.last_includes, *self.options.last_includes)]
        if unit.relocatable and target != HOST:
            # Device functions of other units stay undefined: they are resolved when the program is linked.
            extra += ["-Xoffload-linker", "--noinhibit-exec"]
        return self.toolchain.compile_command(
            unit.path,
            None if target == HOST else target,
            mode="syntax" if target == HOST or self.options.syntax_only else "device",
            language=language,
            includes=[*self.options.includes, *unit.includes],
            system_includes=system,
            defines=[*defines, *self._defines(unit, target), *self.options.defines],
            std=std,
            extra=extra,
        )

    def _confined(self, command: Sequence[str]) -> list[str]:
        """The command, reading no file but those of the tree, the compiler and what it was told: sources can name any
        file of the user's in `#include` and `.incbin`, and the compiler prints what it does not understand."""
        tools = self.toolchain
        compiler = tools.compiler.resolve()
        readable = [self.project.root, compiler.parents[1], tools.root, tools.include, tools.device_libs]
        readable += [tools.compiler.parents[1], self.scratch]
        readable += [shelf()]
        readable += [self.project.root / folder for folder in self._folders(command)]
        return looking(command, readable, [self.scratch])

    @staticmethod
    def _folders(command: Sequence[str]) -> Iterator[str]:
        """Folders that a command line names for includes."""
        for word, following in itertools.pairwise(command):
            if word in ("-isystem", "-iquote", "-I"):
                yield following
            elif word.startswith("-I"):
                yield word[2:]
            elif word.startswith("-idirafter"):
                yield word.removeprefix("-idirafter")

    def stop(self) -> None:
        """End every compiler that runs; later calls start none."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill(process)

    def _run(self, command: list[str], opened: Path) -> tuple[int | None, str]:
        """(exit code, diagnostics); the code is None when the time limit ended it. The headers that the compiler opens
        are written to `opened`."""
        with self._lock:
            if self._stopped:
                return None, ""
            process = subprocess.Popen(
                self._confined(command),
                cwd=self.project.root,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env={**os.environ, **_listing(opened), "LC_ALL": "C", "TMPDIR": str(self.scratch)},
                start_new_session=True,
            )
            self._running.add(process)
        try:
            _, text = process.communicate(timeout=self.options.timeout_s)
            return process.returncode, text
        except subprocess.TimeoutExpired:
            _kill(process)
            process.communicate()
            return None, ""
        finally:
            with self._lock:
                self._running.discard(process)

    def _failed(self, result: UnitResult, text: str) -> UnitResult:
        errors = diagnostics.parse(text, self.project.root, result.path, self.origins, _ERROR_LIMIT)
        if not errors:
            last = [line for line in text.strip().splitlines() if line.strip()][-1:]
            return replace(result, status=Status.FAIL, reason=f"the compiler failed: {' '.join(last) or 'no message'}")
        header = diagnostics.missing_header(errors)
        # C has no <cstring>: a header of C++ that a C source reaches is no package that the machine lacks.
        of_cxx = header is not None and "." not in header and result.path.endswith(".c")
        if header is not None and not of_cxx and not diagnostics.is_gpu_header(header):
            reason = f"<{header}> is not on this machine and not in the tree; pass -I with its folder"
            return replace(result, status=Status.SKIP, reason=reason, errors=errors)
        return replace(result, status=Status.FAIL, errors=errors)

    def _kernels(self, output: Path) -> tuple[tuple[KernelUse, ...], tuple[str, ...]]:
        """The kernels of a code object, and the names of those without code."""
        try:
            found = read(output.read_bytes()).kernels.values()
            return tuple(kernel.use for kernel in found), tuple(one.use.name for one in found if not one.code_bytes)
        except (OSError, CodeObjectError):
            return (), ()

    def _found(self, outcome: _Outcome, target: str) -> Iterator[KernelFinding]:
        yield from _findings(outcome.kernels, target)
        for name in outcome.empty:
            yield KernelFinding(
                "kernel-without-code",
                name,
                "compiles to no instruction at all: what it does is undefined in C++ (a function that returns nothing "
                "where it should, for example), and clang deletes it, where nvcc keeps it",
            )
        for place, line, message in diagnostics.dangerous(outcome.text, self.project.root):
            said = f"{place}:{line}: {message}: nvcc lets it pass, clang may delete the code that leads there"
            yield KernelFinding("undefined-behaviour", "", said, place, line, *self.origins.of(place, line))


def _findings(kernels: Iterable[KernelUse], target: str) -> Iterator[KernelFinding]:
    limit = load_target(target).lds_bytes
    for kernel in kernels:
        if kernel.lds_bytes > limit:
            yield KernelFinding(
                "lds-over-limit",
                kernel.name,
                f"needs {kernel.lds_bytes} bytes of LDS, {target} gives a workgroup {limit}: it cannot be launched",
            )
        if kernel.vgpr_spills:
            yield KernelFinding(
                "register-spill",
                kernel.name,
                f"spills {kernel.vgpr_spills} VGPRs to {kernel.scratch_bytes} bytes of scratch a lane "
                f"({kernel.vgprs} VGPRs, compiled for workgroups of {kernel.max_workgroup}): slow; "
                "state the block size with __launch_bounds__, or keep less in registers",
            )


def _in_parallel(
    builder: _Builder, jobs: Sequence[tuple[Unit, str]], workers: int, progress: Progress | None
) -> Iterator[UnitResult]:
    """Results as they come. On an exception, Ctrl-C included, running compilers are ended before it goes on."""
    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting: set[Future[UnitResult]] = {pool.submit(builder, unit, target) for unit, target in jobs}
        try:
            done_count = 0
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    done_count += 1
                    result = future.result()
                    if progress is not None:
                        progress(result, done_count, len(jobs))
                    yield result
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            builder.stop()
            raise


def _listing(opened: Path) -> dict[str, str]:
    """The environment in which clang appends the name of each header it opens to a file."""
    return {"CC_PRINT_HEADERS": "1", "CC_PRINT_HEADERS_FORMAT": "textual", "CC_PRINT_HEADERS_FILE": str(opened)}


def _lines_of(path: Path) -> list[str]:
    try:
        return list(dict.fromkeys(path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()))
    except OSError:
        return []


def _kill(process: subprocess.Popen[str]) -> None:
    """End a compiler and what it started (it runs in a session of its own)."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()
