"""Which operators and types a recording may name: a golden file is data of somebody else, and replay must only compute.

An allow list. Operators of PyTorch's own arithmetic and of rocport, reached by a full name and registered with the
dispatcher, whose arguments are values: text only where it names a mode. So a recording cannot call
`torch.ops.load_library`, map a file (`aten::from_file`), or walk the attributes of the torch module.
"""

from __future__ import annotations

from typing import Any

import torch

NAMESPACES = frozenset({"aten", "prims", "rocport"})
_TEXT = frozenset(
    {
        "approximate", "driver", "indexing", "interpolation", "mode", "padding_mode", "reduce", "reduction",
        "rounding_mode", "side", "UPLO", "ord", "equation", "kv_cache_dtype",
    }
)  # fmt: skip


class UntrustedError(ValueError):
    """A recording names what replay does not touch; the message says what, and why."""


def operator(name: str) -> torch._ops.OpOverload:
    """`torch.ops.aten.mm.default` of `aten.mm.default`.

    Raises:
        UntrustedError: not an operator that replay calls.
        AttributeError: this PyTorch has none of that name.
    """
    namespace, _, rest = name.partition(".")
    packet, _, overload = rest.partition(".")
    if namespace not in NAMESPACES or not packet.isidentifier() or not overload.isidentifier() or "__" in overload:
        known = ", ".join(sorted(NAMESPACES))
        raise UntrustedError(f"{name}: replay calls operators of {known} by their full name, and nothing else")
    found = getattr(getattr(getattr(torch.ops, namespace), packet), overload)
    if not isinstance(found, torch._ops.OpOverload):
        raise UntrustedError(f"{name}: not an operator of the dispatcher")
    for argument in found._schema.arguments:
        if "str" in str(argument.type) and argument.name not in _TEXT:
            raise UntrustedError(f"{name}: takes text ({argument.name}); replay hands over values only")
    return found


def _constant(name: Any, kind: type) -> Any:
    found = getattr(torch, name, None) if isinstance(name, str) and name.isidentifier() else None
    if not isinstance(found, kind):
        raise UntrustedError(f"{str(name)[:40]!r} is no {kind.__name__} of PyTorch")
    return found


def dtype(name: Any) -> torch.dtype:
    """`torch.float32` of its name. Raises UntrustedError for any other text."""
    found: torch.dtype = _constant(name, torch.dtype)
    return found


def memory_format(name: Any) -> torch.memory_format:
    """`torch.channels_last` of its name. Raises UntrustedError for any other text."""
    found: torch.memory_format = _constant(name, torch.memory_format)
    return found


def layout(name: Any) -> torch.layout:
    """`torch.strided` of its name. Raises UntrustedError for any other text."""
    found: torch.layout = _constant(name, torch.layout)
    return found
