# SPDX-License-Identifier: Apache-2.0
"""Runs a setup.py up to its call of `setup()` and prints what extensions it declares, as JSON on the last line.

    python read_setup.py FOLDER

PyTorch answers as a ROCm build (rocport_device.patch_platform), so that the setup.py takes the way it takes there;
nothing is compiled or installed. `hipcc` and the toolkit folders are stand-ins.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import rocport_device
import setuptools
from torch.utils import cpp_extension

declared: list[dict[str, Any]] = []


class Declared(BaseException):
    """setup() was called: there is nothing more to read."""


def extension(name: str, sources: list[str], *arguments: Any, **named: Any) -> setuptools.Extension:
    """CUDAExtension and CppExtension without what they look for on the machine."""
    flags = named.get("extra_compile_args") or []
    declared.append(
        {
            "name": name,
            "sources": [os.fspath(source) for source in sources],
            "include_dirs": [os.fspath(folder) for folder in named.get("include_dirs") or []],
            "define_macros": [[key, value] for key, value in named.get("define_macros") or []],
            "flags": flags if isinstance(flags, dict) else {"cxx": list(flags), "nvcc": list(flags)},
            "libraries": list(named.get("libraries") or []),
        }
    )
    return setuptools.Extension(name, [os.fspath(source) for source in sources])


def setup(*arguments: Any, **named: Any) -> None:
    """What setup() is given, instead of what it does."""
    wanted = {module.name for module in named.get("ext_modules") or []}
    folders = {key or "": os.fspath(value) for key, value in (named.get("package_dir") or {}).items()}
    print("\n" + json.dumps({"extensions": [d for d in declared if d["name"] in wanted], "package_dir": folders}))
    raise Declared


def stand_in_toolkit(folder: Path) -> None:
    """A ROCm folder whose tools answer with a version."""
    for tool, answer in (("hipcc", f"HIP version: {rocport_device.HIP_VERSION}"), ("hipconfig", "6.4.43482")):
        path = folder / "bin" / tool
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{answer}'\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    os.environ.update(ROCM_HOME=str(folder), ROCM_PATH=str(folder), HIP_PATH=str(folder))
    os.environ["PATH"] = f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    module: Any = cpp_extension
    module.IS_HIP_EXTENSION, module.ROCM_HOME, module.HIP_HOME, module.CUDA_HOME = True, str(folder), str(folder), None


def main() -> None:
    os.chdir(sys.argv[1])
    sys.path.insert(0, os.getcwd())
    rocport_device.patch_platform()
    module: Any = cpp_extension
    module.CUDAExtension = module.CppExtension = extension
    tools: Any = setuptools
    tools.setup = setup
    with tempfile.TemporaryDirectory(prefix="rocport-toolkit-") as folder:
        stand_in_toolkit(Path(folder))
        os.environ.setdefault("FORCE_CUDA", "1")
        sys.argv = ["setup.py", "build_ext", "--inplace"]
        with contextlib.suppress(Declared):
            runpy.run_path("setup.py", run_name="__main__")


if __name__ == "__main__":
    main()
