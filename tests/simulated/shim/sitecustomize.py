"""Read by Python at its start: the CPU build of torch says it is a ROCm or a CUDA one, and setup() is recorded.

Stands outside the package on purpose; `machine.py` puts this folder on PYTHONPATH of a child process.
"""

import json
import os
import sys
import types


def _simulate(platform: str) -> None:
    import torch

    rocm = platform == "rocm"
    torch.version.hip = "7.2.26015-fc0010cf6a" if rocm else None
    torch.version.cuda = None if rocm else "12.8"
    torch.__version__ = type(torch.__version__)("2.13.0+rocm7.2" if rocm else "2.13.0+cu128")
    torch.version.__version__ = str(torch.__version__)
    properties = types.SimpleNamespace(
        name="AMD Instinct MI300X" if rocm else "NVIDIA H100",
        gcnArchName="gfx942:sramecc+:xnack-",
        major=9,
        minor=4 if rocm else 0,
        multi_processor_count=304 if rocm else 132,
        warp_size=64 if rocm else 32,
    )
    torch.cuda._is_compiled = lambda: True
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_capability = lambda device=None: (properties.major, properties.minor)
    torch.cuda.get_device_properties = lambda device=None: properties
    torch.cuda.get_device_name = lambda device=None: properties.name
    torch.cuda.get_arch_list = lambda: ["gfx942"] if rocm else ["sm_90"]


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "sources"):
        return {name: _plain(inner) for name, inner in sorted(vars(value).items())}
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    return str(value) if isinstance(value, os.PathLike) else getattr(value, "__name__", type(value).__name__)


def _record_setup(place: str) -> None:
    import setuptools

    original = setuptools.setup

    def setup(**arguments: object) -> object:
        with open(place, "a") as stream:
            stream.write(json.dumps({"setup": _plain(arguments)}) + "\n")
        return original(**arguments)

    setuptools.setup = setup


if os.environ.get("SIMULATED_PLATFORM") and "setup.py" in sys.orig_argv:
    _simulate(os.environ["SIMULATED_PLATFORM"])
    _record_setup(os.environ["SIMULATED_RECORD"])
