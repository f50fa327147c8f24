"""A machine with a ROCm or a CUDA build of torch, as far as a setup.py can see: for configuring, not for running.

torch is the CPU build at hand, told in a child process to be another one; compilers note what they are asked to do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_HOST = ("gcc", "g++", "cc", "c++", "x86_64-linux-gnu-gcc", "x86_64-linux-gnu-g++")


@dataclass(frozen=True)
class Build:
    """What `setup.py build_ext` did: the arguments of setup(), and every compiler command in order."""

    code: int
    output: str
    setup: dict[str, Any] | None
    commands: tuple[tuple[str, ...], ...]
    root: Path

    def compiled(self, compiler: str) -> list[tuple[str, ...]]:
        """The commands of one compiler that make an object."""
        return [command for command in self.commands if command[0] == compiler and "-c" in command]

    def error(self) -> str:
        """The last line that says what went wrong; empty when nothing did."""
        if self.code == 0:
            return ""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        telling = [
            line for line in lines if "rror:" in line and "subprocess" not in line and "Error compiling" not in line
        ]
        return (telling or lines or ["no output"])[-1]

    def comparable(self) -> Any:
        """Arguments of setup() and commands with the folder of the tree taken out; commands in order of their text."""
        text = json.dumps({"setup": self.setup, "commands": sorted(self.commands)}, sort_keys=True)
        return json.loads(text.replace(str(self.root), "ROOT"))


class Machine:
    """`platform` is `rocm` or `cuda`; `clang` checks the command lines of hipcc."""

    def __init__(self, folder: Path, platform: str, clang: Path | None = None, sdk: Path | None = None) -> None:
        self.folder = folder
        self.platform = platform
        self.clang = clang
        home = folder / ("rocm" if platform == "rocm" else "cuda")
        bin_folder = folder / "bin"
        bin_folder.mkdir(parents=True)
        (home / "bin").mkdir(parents=True)
        (home / "lib").mkdir()
        if sdk is not None:
            (home / "include").symlink_to(sdk)
        else:
            (home / "include").mkdir()
        script = f"#!{sys.executable} -IS\n" + (HERE / "compiler.py").read_text()
        for name in (*_HOST, "pip"):
            self._script(bin_folder / name, script)
        compilers = ("hipcc",) if platform == "rocm" else ("nvcc",)
        for name in compilers:
            self._script(bin_folder / name, script)
            self._script(home / "bin" / name, script)
        self.home = home

    def _script(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def build(
        self, tree: Path, arguments: Sequence[str] = (), environ: Mapping[str, str] | None = None, timeout_s: int = 3600
    ) -> Build:
        """Run `setup.py build_ext` of a tree, in place of which files are written."""
        record = self.folder / "record.jsonl"
        record.unlink(missing_ok=True)
        hidden = ("ROCM_HOME", "ROCM_PATH", "CUDA_HOME", "CUDA_PATH", "CC", "CXX", "CFLAGS")
        base = {name: value for name, value in os.environ.items() if name not in hidden}
        path = [str(self.folder / "bin"), *base.get("PATH", os.defpath).split(os.pathsep)]
        base |= {
            "PATH": os.pathsep.join(path),
            "PYTHONPATH": str(HERE / "shim"),
            "SIMULATED_PLATFORM": self.platform,
            "SIMULATED_RECORD": str(record),
            "SIMULATED_BIN": str(self.folder / "bin"),
            "SIMULATED_CLANG": str(self.clang or ""),
            "PYTORCH_ROCM_ARCH": "gfx942",
            "TORCH_CUDA_ARCH_LIST": "9.0",
            "MAX_JOBS": "1",
            "ROCM_PATH" if self.platform == "rocm" else "CUDA_HOME": str(self.home),
            **(environ or {}),
        }
        try:
            done = subprocess.run(
                [sys.executable, "setup.py", "build_ext", *arguments],
                cwd=tree,
                env=base,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
            code, output = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            code, output = 124, f"error: not done after {timeout_s} s"
        rows = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
        setups = [row["setup"] for row in rows if "setup" in row]
        commands = tuple(tuple(row["command"]) for row in rows if "command" in row)
        return Build(code, output, setups[-1] if setups else None, commands, tree)
