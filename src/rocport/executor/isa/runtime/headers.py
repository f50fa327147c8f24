# SPDX-License-Identifier: Apache-2.0
"""What a unit reads first, precompiled for the host and for each target: reading HIP's headers once more for every one
of them is most of what a small unit costs, and reading PyTorch's is nearly all of what a unit of an extension costs.

Only where it gives what the whole unit gives (`first_header`), of HIP's header or of one that a flag includes. clang
itself looks whether a header was changed since. Whatever goes wrong, the unit is compiled as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rocport.executor.first_header import RUNTIME, headers_before, holds, known, macro
from rocport.executor.isa.runtime.declarations import finished
from rocport.executor.precompiled import PLAIN, header
from rocport.toolchain import Toolchain

_FOLDERS = ("-I", "-iquote")
_FATBIN = b"__hip_fatbin"
"""What an object asks for that has a kernel and no code object."""


class _WholeError(Exception):
    """The unit is compiled as a whole."""


@dataclass(frozen=True)
class _Flags:
    """A unit's flags by what they do to its first header."""

    header: str
    """What `-include` names; empty: nothing."""
    folders: tuple[Path, ...]
    macros: tuple[str, ...]
    others: tuple[str, ...]


def _read(flags: Sequence[str]) -> _Flags:
    headers, folders, macros, others = [], [], [], []
    words = iter(flags)
    for word in words:
        if word == "-include":
            headers.append(next(words, ""))
        elif word in ("-D", "-U"):
            macros.append(word + next(words, ""))
        elif word.startswith(("-D", "-U")):
            macros.append(word)
        elif word.startswith(_FOLDERS):
            name = next(one for one in _FOLDERS if word.startswith(one))
            folders.append(Path(word.removeprefix(name) or next(words, "")))
        else:
            others.append(word)
    if len(headers) > 1 or "-fgpu-rdc" in others:
        raise _WholeError
    return _Flags("".join(headers), tuple(folders), tuple(macros), tuple(others))


def unit_name(source: Path, made: Path) -> str:
    """The flag for what clang calls a unit by in its object and its code objects: another for each object of a program,
    and the same wherever the program is built, as what is translated of its code is kept by content."""
    return f"-cuid={hashlib.sha256(f'{source} {made.name}'.encode()).hexdigest()[:16]}"


def compiled(
    base: Sequence[str],
    flags: Sequence[str],
    source: Path,
    target: Path,
    targets: Sequence[str],
    toolchain: Toolchain,
    kernels: bool = True,
) -> bool:
    """Whether the unit's object was made with its first header precompiled.

    `base` is the HIP compiler's command line up to the unit's own flags, without targets. What is wrong with a unit is
    said when it is compiled as a whole. `kernels`: there may be some in it; where there are none, none is compiled.
    """
    try:
        given = _read(flags)
        if not given.header and headers_before(source, given.folders) is None:
            return False
        header = given.header or RUNTIME
        before = [*base, *given.others, *PLAIN]
        leads_to = known(before, header, targets[0])
        if leads_to is None:
            return False
        words, names = leads_to
        if any(holds(folder, names) for folder in {*given.folders, source.parent}):
            return False
        relevant = [flag for flag in given.macros if macro(flag) in words]
        if relevant and not given.header:
            return False  # a header for this unit alone costs more than it saves
        at = flags.index("-include") if given.header else len(flags)
        passes = _Passes([*before, *relevant], header, [*base, *flags[:at], *flags[at + 2 :], *PLAIN], source, target)
        if not kernels and passes.host():
            return True
        with ThreadPoolExecutor(len(targets)) as pool:
            passes.host(_bundle(toolchain, targets, list(pool.map(passes.device, targets)), target))
    except (_WholeError, OSError):
        return False
    return True


@dataclass(frozen=True)
class _Passes:
    """The compiler's passes over one unit."""

    before: list[str]
    """What its first header is compiled with."""
    header: str
    command: list[str]
    source: Path
    object: Path

    def device(self, target: str) -> Path:
        """A target's code object."""
        made = self.object.with_suffix(f".{target}.co")
        side = [f"--offload-arch={target}", "--offload-device-only"]
        self._compile(made, side, [*side, "--no-gpu-bundle-output"])
        return made

    def host(self, bundle: Path | None = None) -> bool:
        """The object, with the code objects in it; without any only where it has no kernel. Whether it was made."""
        unfinished = self.object.with_suffix(".partial")
        side = ["--offload-host-only"]
        code = ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(bundle)] if bundle else []
        self._compile(unfinished, side, [*side, *code])
        if bundle is None and _FATBIN in unfinished.read_bytes():
            return False
        unfinished.replace(self.object)
        return True

    def _compile(self, made: Path, emit: list[str], side: list[str]) -> None:
        made_before = _found(header(self.before, [self.header], emit))
        # The driver names a unit in its passes only where it runs all of them.
        named = ["-Xclang", unit_name(self.source, self.object)]
        use = ["-Xclang", "-include-pch", "-Xclang", str(made_before), *named]
        _run([*self.command, *side, *use, "-c", str(self.source), "-o", str(made)])


def _bundle(toolchain: Toolchain, targets: Sequence[str], objects: Sequence[Path], target: Path) -> Path:
    """The code objects as clang's driver puts them into a host object."""
    bundle = target.with_suffix(".hipfb")
    names = ["host-x86_64-unknown-linux", *(f"hipv4-amdgcn-amd-amdhsa--{name}" for name in targets)]
    inputs = [f"-input={path}" for path in ("/dev/null", *objects)]
    tool = toolchain.compiler.with_name("clang-offload-bundler")
    _run([str(tool), "-type=o", "-bundle-align=4096", f"-targets={','.join(names)}", *inputs, f"-output={bundle}"])
    return bundle


def _found(path: Path | None) -> Path:
    if path is None:
        raise _WholeError
    return path


def _run(command: Sequence[str]) -> str:
    done = finished(command, command[0], _WholeError)
    if done.returncode:
        raise _WholeError
    return done.stdout
