"""`.github/workflows/rocm.yml`: builds for AMD GPUs on a runner that has none, where the repository has workflows."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.facts.containers import development_image
from rocport.model import PatchFile
from rocport.port.beside import requirements
from rocport.port.beside.containers import TARGETS
from rocport.port.beside.wheels import wheels
from rocport.port.generated import PortedTree

PATH = ".github/workflows/rocm.yml"


def generate(tree: PortedTree) -> Iterator[PatchFile]:
    folder = PATH.rpartition("/")[0] + "/"
    if not any(path.startswith(folder) and path.endswith((".yml", ".yaml")) for path in tree.files):
        return
    if any("rocm" in path.lower() for path in tree.files if path.startswith(folder)):
        return
    steps = _steps(tree)
    if steps:
        head = _HEAD.format(image=development_image("24.04", wheels(tree.options).rocm).name)
        yield PatchFile(PATH, (head + "".join(steps)).encode(), "builds for AMD GPUs without one")


def _steps(tree: PortedTree) -> list[str]:
    """The build of the root, by what it has; empty where nothing in it is compiled for a GPU."""
    setup = _text(tree, "setup.py")
    if "CUDAExtension" in setup:
        constraint = f" -c {requirements.CONSTRAINTS}" if requirements.SOURCE in tree.files else ""
        force = "          FORCE_CUDA: 1\n" if "FORCE_CUDA" in setup else ""
        return [
            _STEP.format(name="Install PyTorch for ROCm", run=f"/opt/build/bin/{wheels(tree.options).install()}"),
            _STEP.format(
                name="Install what the build needs",
                run=f"/opt/build/bin/pip install ninja numpy packaging setuptools wheel{constraint}",
            ),
            _STEP.format(name="Build", run="/opt/build/bin/pip wheel --no-build-isolation --no-deps -w dist .")
            + f"        env:\n          PYTORCH_ROCM_ARCH: {TARGETS}\n{force}",
        ]
    if "option(USE_ROCM" in _text(tree, "CMakeLists.txt"):
        run = f'cmake -S . -B build -DUSE_ROCM=ON -DCMAKE_HIP_ARCHITECTURES="{TARGETS}" && cmake --build build -j2'
        return [_STEP.format(name="Build", run=run)]
    if "ifeq ($(USE_ROCM),1)" in _text(tree, "Makefile"):
        return [_STEP.format(name="Build", run="make USE_ROCM=1")]
    return []


def _text(tree: PortedTree, path: str) -> str:
    if path not in tree.files:
        return ""
    try:
        return tree.read(path).decode("utf-8", errors="replace")
    except OSError:
        return ""


_HEAD = """\
# Compiles for AMD GPUs on a runner that has none; nothing is run on a GPU here.
name: ROCm build
on:
  push:
  pull_request:
permissions:
  contents: read
jobs:
  build:
    runs-on: ubuntu-latest
    container: {image}
    steps:
      - name: Install tools
        run: |
          apt-get update
          apt-get install -y cmake git ninja-build python3-dev python3-venv
          python3 -m venv /opt/build
      - uses: actions/checkout@v4
        with:
          submodules: recursive
"""
_STEP = """\
      - name: {name}
        run: {run}
"""
