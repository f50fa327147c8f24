"""Capture a function in a graph, and prove the replay before it is used.

HIP before ROCm 7.14 does not report an operation that cannot be captured (pytorch/pytorch#155684, #187110); a kernel
launched on another stream, as bitsandbytes' quantize does, is left out without an error on any platform. Either way the
replay leaves the output as it was. So the outputs are poisoned before the replay and compared with eager after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch


class GraphMismatch(RuntimeError):
    """The replay does not compute what eager computes; the message names the output and how far it is off."""


@dataclass
class CapturedGraph:
    """A captured function. Calling it copies the arguments into the captured inputs, replays, returns the outputs.

    The outputs are the graph's own buffers: the next call overwrites them.
    """

    inputs: tuple[torch.Tensor, ...]
    outputs: tuple[torch.Tensor, ...]
    single: bool
    replay: Callable[[], None]

    def __call__(self, *arguments: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        if len(arguments) != len(self.inputs):
            raise TypeError(f"captured with {len(self.inputs)} tensors, called with {len(arguments)}")
        for captured, given in zip(self.inputs, arguments, strict=True):
            if captured.shape != given.shape or captured.dtype != given.dtype:
                raise TypeError(
                    f"captured {captured.dtype} {tuple(captured.shape)}, "
                    f"called with {given.dtype} {tuple(given.shape)}; capture again for another shape"
                )
            captured.copy_(given)
        self.replay()
        return self.outputs[0] if self.single else self.outputs


def poison(tensor: torch.Tensor) -> None:
    """Fill with what no right result holds everywhere: NaN, or the largest integer of the type."""
    if tensor.is_floating_point() or tensor.is_complex():
        tensor.fill_(float("nan"))
    elif tensor.dtype == torch.bool:
        tensor.logical_not_()
    else:
        tensor.fill_(torch.iinfo(tensor.dtype).max)


def check_replay(
    outputs: Sequence[torch.Tensor],
    expected: Sequence[torch.Tensor],
    replay: Callable[[], None],
    *,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Poison `outputs`, `replay`, compare with `expected`. Raises GraphMismatch."""
    for output in outputs:
        poison(output)
    replay()
    for index, (got, want) in enumerate(zip(outputs, expected, strict=True)):
        try:
            torch.testing.assert_close(got, want, rtol=rtol, atol=atol, equal_nan=True)
        except AssertionError as error:
            raise GraphMismatch(
                f"output {index} of the replay differs from eager: {str(error).splitlines()[0]}; a kernel was launched "
                "on another stream, or an operation cannot be captured and no error was raised"
            ) from error


def graph_capture(
    fn: Callable[..., Any],
    *arguments: torch.Tensor,
    warmup: int = 3,
    rtol: float | None = None,
    atol: float | None = None,
) -> CapturedGraph:
    """Capture `fn(*arguments)` and validate the replay against eager with poisoned outputs.

    `fn` returns a tensor or a tuple of tensors and must not change its arguments. `rtol` and `atol` as in
    `torch.testing.assert_close`. Raises GraphMismatch when the replay computes something else,
    RuntimeError with no GPU.
    """
    if not torch.cuda.is_available():
        raise RuntimeError("graph_capture needs a CUDA or ROCm GPU; there is none here")
    inputs = tuple(argument.detach().clone() for argument in arguments)
    stream: torch.cuda.Stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(warmup):
            fn(*inputs)
        result = fn(*inputs)
        single = isinstance(result, torch.Tensor)
        expected = tuple(t.clone() for t in ((result,) if single else result))
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = fn(*inputs)
    outputs = (captured,) if single else tuple(captured)

    def replay() -> None:
        graph.replay()

    check_replay(outputs, expected, replay, rtol=rtol, atol=atol)
    return CapturedGraph(inputs, outputs, single, replay)
