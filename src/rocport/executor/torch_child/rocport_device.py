# SPDX-License-Identifier: Apache-2.0
"""The child's side of running a PyTorch extension on the CPU executor: Python code sees a ROCm build of PyTorch with
one device, and tensors "on" it are CPU tensors. Imported by the interpreter of `rocport run`; needs nothing of rocport.

Every tensor says `cuda` of its device, also one that the program brought to the CPU: who asks which of two tensors lies
where gets no answer here.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

HIP_VERSION = "6.4.43482-0f2d60242"
DEVICE = torch.device("cuda", 0)
CPU = torch.device("cpu")
_WORDS = ("cuda", "hip")


def _on_device(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    if isinstance(value, str):
        return value.partition(":")[0] in _WORDS
    return False


class Device(TorchFunctionMode):
    """Sends every request for the device to the CPU, and answers questions about it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name == "__get__":
            return self._property(func, args)
        if name == "cuda" and args and isinstance(args[0], torch.Tensor):
            return args[0]
        if name in ("record_stream", "pin_memory"):
            return args[0] if name == "pin_memory" else None
        if name == "is_pinned":
            return False
        if name == "__repr__" or func is torch._tensor_str._str:
            with torch._C.DisableTorchFunction():
                return func(*args, **kwargs)
        args = tuple(_sent(value) for value in args)
        kwargs = {key: CPU if key == "device" and _on_device(value) else _sent(value) for key, value in kwargs.items()}
        return func(*args, **kwargs)

    def _property(self, func: Any, args: Any) -> Any:
        owner = getattr(func, "__self__", None)
        which = getattr(owner, "__name__", "")
        if which == "device" and isinstance(args[0], torch.Tensor):
            with torch._C.DisableTorchFunction():
                real = func(*args)
            return DEVICE if real.type == "cpu" else real
        if which == "is_cuda":
            return True
        if which == "is_cpu":
            return False
        return func(*args)


def _sent(value: Any) -> Any:
    """An argument with the device replaced by the CPU."""
    if isinstance(value, torch.device) and value.type == "cuda":
        return CPU
    if isinstance(value, str) and (value in _WORDS or value.startswith(("cuda:", "hip:"))):
        return "cpu"
    return value


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


class Generator(torch.Generator):
    """A generator of the CPU, whatever device it is asked for."""

    def __new__(cls, device: Any = None) -> Generator:
        return super().__new__(cls, device=CPU)  # type: ignore[call-arg]


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


@contextlib.contextmanager
def _nothing(*arguments: Any, **named: Any) -> Iterator[None]:
    yield


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
        "stream": _nothing,
        "device": _nothing,
        "device_of": _nothing,
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
    base: Any = torch
    base.Generator = Generator
    base.set_default_device = lambda device: None


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


def install() -> None:
    """Make this process see the device. Called once, before the program's own code."""
    patch_platform()
    sys.meta_path.insert(0, Stubs())
    ops: Any = torch.ops
    type(ops).load_library = staticmethod(_load_library(ops.load_library))
    device: Any = Device()
    device.__enter__()
    autocast: Any = torch.amp
    original = autocast.autocast.__init__

    def on_cpu(self: Any, device_type: str, *arguments: Any, **named: Any) -> None:
        original(self, "cpu" if device_type in _WORDS else device_type, *arguments, **named)

    autocast.autocast.__init__ = on_cpu
