# SPDX-License-Identifier: Apache-2.0
"""The child's side of running a PyTorch extension on the CPU executor: Python code sees a ROCm build of PyTorch with
one device. Its tensors are made by include_torch/rpx_torch/backend.cpp. Imported by the interpreter of `rocport run`;
needs nothing of rocport.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types
from typing import Any

import torch

HIP_VERSION = "6.4.43482-0f2d60242"
DEVICE = torch.device("cuda", 0)


class Stream:
    """Streams are in order and finish at once."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.device = DEVICE
        self.cuda_stream = 0
        self.stream_id = 0

    def synchronize(self) -> None:
        """Everything has happened already."""

    def query(self) -> bool:
        return True

    def record_event(self, event: Any = None) -> Any:
        return event or Event()

    def wait_event(self, event: Any) -> None:
        """It has happened already."""

    def wait_stream(self, stream: Any) -> None:
        """It has finished already."""

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: Any) -> None:
        """Nothing is to be put back."""


class Event:
    """An event that has happened."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.time = 0.0

    def record(self, stream: Any = None) -> None:
        import time

        self.time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """It has happened already."""

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        """It has happened already."""

    def elapsed_time(self, other: Event) -> float:
        """Milliseconds on the host's clock: the executor's, not a GPU's."""
        return (other.time - self.time) * 1e3


class Properties(types.SimpleNamespace):
    """What torch.cuda.get_device_properties gives."""


def properties() -> Properties:
    """Those of the device that the width stands for."""
    facts = json.loads(os.environ.get("ROCPORT_DEVICE", "{}"))
    arch = facts.get("gfx", "")
    return Properties(
        name=facts.get("name", ""),
        gcnArchName=arch,
        major=facts.get("major", 9),
        minor=facts.get("minor", 4),
        warp_size=facts.get("width", 64),
        total_memory=facts.get("memory", 1 << 36),
        multi_processor_count=facts.get("compute_units", 8),
        max_threads_per_multi_processor=2048,
        shared_memory_per_block=facts.get("lds", 65536),
        regs_per_multiprocessor=65536,
        is_integrated=False,
        is_multi_gpu_board=False,
    )


class Guard(contextlib.nullcontext[None]):
    """`with torch.cuda.device(0)`, `with torch.cuda.stream(s)`: there is one device, and work is done at once."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__()


def patch_platform() -> None:
    """PyTorch answers as a ROCm build with one device does; also used to read a setup.py."""
    facts = properties()
    version: Any = torch.version
    version.hip, version.cuda = HIP_VERSION, None
    cuda: Any = torch.cuda
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "is_initialized": lambda: True,
        "init": lambda: None,
        "_lazy_init": lambda: None,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
        "get_device_name": lambda device=None: facts.name,
        "get_device_properties": lambda device=None: facts,
        "get_device_capability": lambda device=None: (facts.major, facts.minor),
        "get_arch_list": lambda: [facts.gcnArchName],
        "is_bf16_supported": lambda including_emulation=True: True,
        "current_stream": lambda device=None: Stream(),
        "default_stream": lambda device=None: Stream(),
        "Stream": Stream,
        "Event": Event,
        "stream": Guard,
        "device": Guard,
        "device_of": Guard,
        # torch.manual_seed calls it, and seeds the CPU's generator itself.
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
        "memory_allocated": lambda device=None: 0,
        "max_memory_allocated": lambda device=None: 0,
        "memory_reserved": lambda device=None: 0,
        "max_memory_reserved": lambda device=None: 0,
        "reset_peak_memory_stats": lambda device=None: None,
        "mem_get_info": lambda device=None: (facts.total_memory, facts.total_memory),
    }
    for name, answer in answers.items():
        setattr(cuda, name, answer)


class Stubs(importlib.abc.MetaPathFinder):
    """Finds the built-in modules of the extension where Python looks for them, also inside a package."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname in sys.builtin_module_names:
            loader: Any = importlib.machinery.BuiltinImporter
            return importlib.machinery.ModuleSpec(fullname, loader, origin="built-in")
        return None


def _load_library(original: Any) -> Any:
    def load_library(path: Any) -> None:
        """An operator library of the extension is part of this interpreter, and its operators are registered."""
        try:
            with open(path, "rb") as stream:
                placeholder = stream.read(32) == b"rocport: built into the program\n"
        except OSError:
            placeholder = False
        if not placeholder:
            original(path)

    return load_library


def _to(storage: Any, device: torch.device, non_blocking: bool = False) -> Any:
    """torch.storage's own, by way of a tensor: a CPU build makes storages of the CPU only."""
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage).to(device).untyped_storage()


def install() -> None:
    """Make this process see the device. Called once, before the program's own code."""
    patch_platform()
    storages: Any = torch.storage
    storages._to = _to
    sys.meta_path.insert(0, Stubs())
    ops: Any = torch.ops
    type(ops).load_library = staticmethod(_load_library(ops.load_library))
