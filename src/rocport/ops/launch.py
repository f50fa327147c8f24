"""Launch a Triton kernel again without Triton's argument work.

`kernel[grid](...)` binds, specializes and looks up on every call, which costs the host more than many kernels cost the
device. A `Launch` goes that way once and keeps the compiled kernel; later calls hand it to Triton's own launcher with
the pointers that changed.

What Triton specialized on is checked on each call: tensors given at a call start at a multiple of 16 bytes, as at the
first (and on ROCm lie in less than 2 GiB of storage, for which its compiler chooses 32-bit offsets); everything else is
fixed. Where that does not hold, where a launch hook listens, where another device is current, or where this Triton
returns no compiled kernel (the interpreter), the call goes through Triton as before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
from triton import knobs

from rocport.ops.decode import follows, on_device
from rocport.runtime.machine import Platform

_ALIGNED = 16
_OFFSETS_32_BIT = 2**31
_hip = torch.version.hip is not None
_runtime = knobs.runtime


def _hooked() -> bool:
    """A profiler listens to launches: it wants what only Triton's own path tells it."""
    before, after = _runtime.launch_enter_hook, _runtime.launch_exit_hook
    return bool(getattr(before, "calls", before) or getattr(after, "calls", after))


def _offsets_of_32_bits(tensor: torch.Tensor) -> bool:
    return tensor.untyped_storage().nbytes() < _OFFSETS_32_BIT


def _specialized_alike(tensor: torch.Tensor) -> bool:
    return tensor.data_ptr() % _ALIGNED == 0 and (not _hip or _offsets_of_32_bits(tensor))


class Launch:
    """`kernel` on `grid` with `fixed` arguments by name; the tensors `given` by name come with each call. A kernel with
    a FOLLOW is launched while the one before ends, where the platform `where` has that."""

    __slots__ = (
        "_at",
        "_compiled",
        "_device",
        "_grid",
        "_kernel",
        "_options",
        "_pointers",
        "_run",
        "_stream",
        "_values",
    )

    def __init__(
        self, kernel: Any, grid: tuple[int, ...], given: tuple[str, ...], fixed: dict[str, Any],
        where: Platform | None = None, **options: Any,
    ) -> None:  # fmt: skip
        if where is not None and "FOLLOW" in kernel.arg_names:
            fixed = fixed | {"FOLLOW": follows(where)}
            options |= {"launch_pdl": True} if follows(where) else {}
        self._kernel, self._options = kernel, options
        self._grid = (*grid, 1, 1)[:3]
        self._values = [fixed.get(name) for name in kernel.arg_names]
        self._at = tuple(kernel.arg_names.index(name) for name in given)
        self._run: Any = None
        self._compiled: tuple[Any, ...] = ()
        self._pointers: list[Any] = []
        self._device = -1
        self._stream: Any = None

    def __call__(self, *tensors: torch.Tensor) -> None:
        """Launch on the current stream of the tensors' device."""
        run = self._run
        if run is not None and torch._C._cuda_getDevice() == self._device and not _hooked():
            values = self._pointers.copy()
            for at, tensor in zip(self._at, tensors, strict=True):
                values[at] = pointer = tensor.data_ptr()
                if pointer % _ALIGNED or (_hip and not _offsets_of_32_bits(tensor)):
                    break
            else:
                run(*self._grid, self._stream(self._device), *self._compiled, None, None, None, *values)
                return
        values = self._values.copy()
        for at, tensor in zip(self._at, tensors, strict=True):
            values[at] = tensor
        with on_device(tensors[0]):
            compiled = self._kernel[self._grid](*values, **self._options)
        if self._run is None:
            self._keep(compiled, tensors)

    def output(self, shape: tuple[int, ...]) -> Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]:
        """A function of x and, where the kernel takes one, another operand: what a launch given x, an output of `shape`
        and of x's type, and that operand writes to the output."""

        def call(x: torch.Tensor, other: torch.Tensor | None) -> torch.Tensor:
            out = x.new_empty(shape)
            if other is None:
                self(x, out)
            else:
                self(x, out, other)
            return out

        return call

    def _keep(self, compiled: Any, tensors: tuple[torch.Tensor, ...]) -> None:
        complete = all(hasattr(compiled, name) for name in ("run", "function", "packed_metadata"))
        if not complete or not tensors[0].is_cuda or not all(map(_specialized_alike, tensors)):
            return
        self._pointers = [value.data_ptr() if isinstance(value, torch.Tensor) else value for value in self._values]
        self._device = tensors[0].get_device()
        self._stream = triton.runtime.driver.active.get_current_stream
        self._compiled = (compiled.function, compiled.packed_metadata)
        self._run = compiled.run
