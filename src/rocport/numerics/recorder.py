"""Records what PyTorch runs, inside the process that runs it: operators, modules, gradients, optimizer steps.

Operators are seen by a dispatch mode, forward and backward alike; modules, optimizers and losses by PyTorch's global
hooks; gradients by tensor hooks, which leave the graph as it is. A tensor is measured once for each version of its
storage. Other threads and forked processes are not recorded.
"""

from __future__ import annotations

import itertools
import mmap
import os
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from rocport.numerics import records
from rocport.numerics.config import CaptureConfig
from rocport.numerics.environment import describe
from rocport.numerics.golden import IndexWriter, seal
from rocport.numerics.records import Call, Statistics, TensorRecord
from rocport.numerics.statistics import measure, sample_of, unpack_vector

NOW = "now"
"""File of the folder that names the call in flight: what a crash or a hang happened in."""
_NOW_SIZE = 512
_SHARD_BYTES = 64 << 20
_PENDING = 256
_FLUSH_S = 0.5
_SITES = 2
_LARGEST_COPY = 64 << 20
_FORWARD = 200_000
"""Forward operators remembered, to tell which module a backward operator belongs to."""

_UNINITIALISED = frozenset(
    {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"}
)  # fmt: skip
_IGNORED = frozenset(
    {
        "detach", "alias", "_local_scalar_dense", "lift_fresh", "lift_fresh_copy", "is_same_size", "sym_size",
        "sym_stride", "sym_numel", "sym_storage_offset", "_has_compatible_shallow_copy_type", "item", "equal",
        "is_pinned", "_pin_memory", "record_stream", "_record_function_enter_new",
    }
)  # fmt: skip
"""Move no values, or bring them to Python."""
_OVERWRITES = frozenset(
    {
        "copy_", "fill_", "zero_", "uniform_", "normal_", "bernoulli_", "random_", "exponential_", "geometric_",
        "log_normal_", "cauchy_", "_foreach_copy_", "_foreach_zero_", "set_", "resize_",
    }
)  # fmt: skip
"""Write all of their first argument and read nothing of it."""


@dataclass(frozen=True)
class _Operator:
    """What the schema says."""

    name: str
    base: str
    ignored: bool
    uninitialised: bool
    view: bool
    random: bool
    written: tuple[int, ...]
    written_keywords: tuple[str, ...]
    overwrites: bool


@cache
def _describe_operator(func: Any) -> _Operator:
    schema = func._schema
    namespace, _, base = schema.name.partition("::")
    name = str(func)
    written, keywords = [], []
    for index, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            if argument.kwarg_only:
                keywords.append(argument.name)
            else:
                written.append(index)
    view = bool(schema.returns) and not written and not keywords
    view = view and all(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
    return _Operator(
        name=name,
        base=base,
        ignored=base in _IGNORED or namespace in ("prim", "profiler"),
        uninitialised=base in _UNINITIALISED,
        view=view or base == "_unsafe_view",
        random=torch.Tag.nondeterministic_seeded in func.tags,
        written=tuple(written),
        written_keywords=tuple(keywords),
        overwrites=base in _OVERWRITES or func._overloadname.endswith("out"),
    )


@dataclass
class _Storage:
    """What is known of one storage while it lives."""

    reference: Any
    uninitialised: bool = False
    ids: dict[tuple[Any, ...], int] = field(default_factory=dict)


class _Writer:
    """Index frames and tensor shards of one capture; tensors of a GPU are fetched together."""

    def __init__(self, part: Path, config: CaptureConfig) -> None:
        self.part = part
        self.config = config
        self.index = IndexWriter(part)
        self.bytes = 0
        self._shard: dict[str, torch.Tensor] = {}
        self._shard_bytes = 0
        self._shards = itertools.count()
        self._pending: list[tuple[TensorRecord, torch.Tensor, int]] = []
        self._calls: list[Call] = []
        self._flushed = time.monotonic()

    def tensor(self, record: TensorRecord, vector: torch.Tensor | None, reals: int) -> None:
        if vector is None:
            self.index.write(record.to_frame())
        else:
            self._pending.append((record, vector, reals))

    def call(self, call: Call) -> None:
        self._calls.append(call)
        if len(self._calls) >= _PENDING or time.monotonic() - self._flushed > _FLUSH_S:
            self.flush()

    def values(self, name: str, tensor: torch.Tensor) -> bool:
        """Keep values in the current shard; False when the file would grow over its bound."""
        size = tensor.numel() * tensor.element_size()
        if self.bytes + size > self.config.max_bytes:
            return False
        self.bytes += size
        plain = tensor.detach().to("cpu", copy=True).contiguous()
        if plain.is_complex() or plain.dtype not in _STORABLE:
            plain = plain.reshape(-1).view(torch.uint8)
        self._shard[name] = plain
        self._shard_bytes += size
        if self._shard_bytes >= _SHARD_BYTES:
            self._write_shard()
        return True

    def _write_shard(self) -> None:
        if not self._shard:
            return
        from safetensors.torch import save_file

        name = f"tensors-{next(self._shards):04d}.safetensors"
        save_file(self._shard, self.part / f"{name}.new")
        os.replace(self.part / f"{name}.new", self.part / name)
        self._shard, self._shard_bytes = {}, 0

    def flush(self) -> None:
        """Everything measured so far to the file."""
        # From a hook the mode is on: it would record what we do here.
        with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
            self._fetch()
        for call in self._calls:
            self.index.write(call.to_frame())
        self._calls = []
        self.index.flush()
        self._flushed = time.monotonic()

    def _fetch(self) -> None:
        if self._pending:
            for device in {vector.device for _, vector, _ in self._pending}:
                group = [entry for entry in self._pending if entry[1].device == device]
                together = torch.cat([vector for _, vector, _ in group]).cpu()
                pieces = torch.split(together, [vector.numel() for _, vector, _ in group])
                for (record, _, reals), vector in zip(group, pieces, strict=True):
                    self.index.write(replace(record, statistics=unpack_vector(vector, reals)).to_frame())
            self._pending = []

    def close(self) -> None:
        self.flush()
        self._write_shard()
        self.index.close()


_STORABLE = frozenset(
    {
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
        torch.uint8, torch.bool, torch.float8_e4m3fn, torch.float8_e5m2,
    }
)  # fmt: skip


def _left_alone(function: Any) -> bool:
    """Tells torch.compile not to trace a function nor what it calls, without loading it; False where this PyTorch has
    no such switch."""
    try:
        frames = torch._C._dynamo.eval_frame
        skip = frames._FrameAction.SKIP
        frames.set_code_exec_strategy(function.__code__, frames._FrameExecStrategy(skip, skip))
    except (AttributeError, TypeError):
        return False
    return True


class Recorder(TorchDispatchMode):
    """Records while it is active: `with Recorder(part, config): ...`. See the module."""

    def __init__(self, part: Path, config: CaptureConfig, command: list[str] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.config = config
        self._writer = _Writer(part, config)
        self._process = os.getpid()
        self._thread = threading.get_ident()
        self._root = os.getcwd() + os.sep
        self._numbers = itertools.count()
        self._tensor_ids = itertools.count()
        self._storages: dict[int, _Storage] = {}
        self._purge_at = 4096
        self._measured = bytearray()
        self._names: weakref.WeakKeyDictionary[torch.nn.Module, str] = weakref.WeakKeyDictionary()
        self._parameters: dict[int, tuple[Any, str]] = {}
        self._taken: Counter[str] = Counter()
        self._prefix = ""
        self._scopes: list[tuple[str, int]] = []
        self._open: list[tuple[Any, tuple[int, ...], int, str]] = []
        self._occurrences: Counter[tuple[str, str]] = Counter()
        self._forward: dict[int, tuple[str, int, str]] = {}
        self._step = 0
        self._in_optimizer = ""
        self._backward_site = ""
        self._dropped = 0
        self._removers: list[Callable[[], None]] = []
        handle = os.open(part / NOW, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        os.ftruncate(handle, _NOW_SIZE)
        self._now = mmap.mmap(handle, _NOW_SIZE)
        os.close(handle)
        self._mark("before the first call")
        head = {
            "config": config.to_json(), "environment": describe(), "random": self._random_state(),
            "command": command or [],
        }  # fmt: skip
        self._writer.index.write({"head": head})
        self._writer.index.flush()

    # -- life ----------------------------------------------------------------------------------------------------

    def __enter__(self) -> Recorder:
        super().__enter__()  # type: ignore[no-untyped-call]
        self._install()
        return self

    def __exit__(self, *error: Any) -> None:
        for remove in reversed(self._removers):
            remove()
        self._removers = []
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        self.close()

    def close(self) -> None:
        """Write what is pending."""
        if self._active():
            self._writer.index.write({"end": {"calls": next(self._numbers), "dropped": self._dropped}})
            self._writer.close()
            self._mark("after the last call")

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Record what runs inside under a scope of its own, such as one test: modules are counted anew in it."""
        prefix, taken, names = self._prefix, self._taken, self._names
        self._prefix, self._taken, self._names = f"{name}::", Counter(), weakref.WeakKeyDictionary()
        self._scopes.append((name, 0))
        try:
            yield
        finally:
            self._scopes.pop()
            self._prefix, self._taken, self._names = prefix, taken, names

    def _active(self) -> bool:
        return os.getpid() == self._process

    def _here(self) -> bool:
        return os.getpid() == self._process and threading.get_ident() == self._thread

    def _mark(self, text: str) -> None:
        data = text.encode()[: _NOW_SIZE - 1]
        self._now[: len(data) + 1] = data + b"\0"

    @staticmethod
    def _random_state() -> dict[str, str]:
        def digest(data: bytes) -> str:
            return blake2b(data, digest_size=8).hexdigest()

        states = {"cpu": digest(bytes(torch.get_rng_state().tolist()))}
        if _has_cuda():
            states["cuda"] = digest(bytes(torch.cuda.get_rng_state().tolist()))
        return states

    # -- tensors -------------------------------------------------------------------------------------------------

    def _entry(self, tensor: torch.Tensor) -> _Storage:
        storage = tensor.untyped_storage()
        address = storage._cdata
        entry = self._storages.get(address)
        if entry is None or entry.reference.expired():
            if len(self._storages) > self._purge_at:
                self._storages = {k: v for k, v in self._storages.items() if not v.reference.expired()}
                self._purge_at = 2 * len(self._storages) + 4096
            entry = self._storages[address] = _Storage(StorageWeakRef(storage))  # type: ignore[no-untyped-call]
        return entry

    @staticmethod
    def _key(tensor: torch.Tensor, base: torch.Tensor | None = None) -> tuple[Any, ...] | None:
        """What tells one content of the storage from another; None where PyTorch does not count versions.

        A view that an operator has just made does not share its `base`'s version yet.
        """
        if tensor.is_inference():
            return None
        version = (tensor if base is None else base)._version
        return (tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype, tensor.is_conj(), version)

    def identify(self, tensor: torch.Tensor, *, need: bool = True, written: bool = False) -> int:
        """The record of the tensor's present values; measures them unless they are known.

        With `need` off an unknown tensor is noted without statistics. `written`: an operator has just written it, and
        its version will count up by one when the operator returns.
        """
        if tensor.layout is not torch.strided or tensor.device.type == "meta" or tensor.is_quantized:
            return self._note(tensor, None, False)
        # An optimizer is memory-bound: measuring every step of it would triple its time. What it leaves is measured.
        need = need and not (self._in_optimizer and self.config.mode == "stats")
        entry = self._entry(tensor)
        key = self._key(tensor)
        known = None if key is None or written else entry.ids.get(key)
        if known is not None and (self._measured[known] or not need) and not (entry.uninitialised and need):
            return known
        if not need:
            made = self._note(tensor, known, False, uninitialised=entry.uninitialised)
        else:
            made = self._note(tensor, known, True, uninitialised=entry.uninitialised)
        if key is not None:
            if written:
                entry.ids = {k: v for k, v in entry.ids.items() if k[-1] > key[-1]}
                entry.ids[(*key[:-1], key[-1] + 1)] = made
            entry.ids[key] = made
        return made

    def _note(self, tensor: torch.Tensor, view_of: int | None, measured: bool, *, uninitialised: bool = False) -> int:
        number = next(self._tensor_ids)
        strided = tensor.layout is torch.strided
        record = TensorRecord(
            number,
            str(tensor.dtype).removeprefix("torch."),
            tuple(tensor.shape),
            tuple(tensor.stride()) if strided else (),
            int(tensor.storage_offset()) if strided else 0,
            str(tensor.device),
            uninitialised,
            view_of,
        )
        vector, reals = None, tensor.numel() * (2 if tensor.is_complex() else 1)
        if measured and not _capturing_graph() and not _expanded(tensor):
            found = measure(tensor)
            if isinstance(found, Statistics):
                record = replace(record, statistics=found)
            else:
                vector = found
            record = self._keep(record, tensor)
        self._measured.append(measured)
        self._writer.tensor(record, vector, reals)
        return number

    def _keep(self, record: TensorRecord, tensor: torch.Tensor) -> TensorRecord:
        if self.config.mode == "stats" or tensor.numel() == 0:
            return record
        whole = self.config.mode == "full" or tensor.numel() <= self.config.sample
        values = tensor if whole else sample_of(tensor, self.config.sample)
        if not self._writer.values(str(record.id), values):
            return record
        return replace(record, stored="full" if whole else "sample")

    # -- operators -----------------------------------------------------------------------------------------------

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch asks when the class is made. Its own way to leave a mode out of torch.compile loads that at the first
        operator, 3 s of a processor, and most programs compile nothing."""
        return not _left_alone(cls.__torch_dispatch__)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        operator = _describe_operator(func)
        if (
            operator.ignored
            or not self._active()
            or (not self.config.operators and not operator.uninitialised)
            or any(not issubclass(kind, torch.Tensor) or kind.__module__.partition(".")[0] != "torch" for kind in types)
        ):
            return func(*args, **kwargs)
        if operator.uninitialised:
            out = func(*args, **kwargs)
            self._uninitialised(out)
            return out
        number = next(self._numbers)
        if number >= self.config.max_calls:
            self._dropped += 1
            return func(*args, **kwargs)
        scope, occurrence, phase, site = self._place()
        self._mark(f"{operator.name} in {scope or 'no module'} ({phase}) at {site or 'an unknown line'}")
        inputs: list[int] = []
        skip = self._not_read(operator, args, kwargs)
        template = self._encode([args, kwargs] if kwargs else [args], inputs, operator, skip)

        def emit(outputs: list[int], error: str = "") -> None:
            self._emit(
                number, records.OPERATOR, operator.name, scope, occurrence, phase, inputs, outputs, template, site,
                operator, error,
            )  # fmt: skip

        try:
            out = func(*args, **kwargs)
        except Exception as error:
            emit([], f"{type(error).__name__}: {error}".splitlines()[0][:300])
            raise
        emit(self._results(operator, args, kwargs, out, inputs))
        return out

    def _not_read(self, operator: _Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> set[int]:
        """Objects the operator only writes: what they held does not matter."""
        if not operator.overwrites:
            return set()
        written = [args[i] for i in operator.written if i < len(args)] + [
            kwargs[name] for name in operator.written_keywords if name in kwargs
        ]
        return {id(t) for t in _tensors(written)}

    def _results(
        self, operator: _Operator, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, inputs: list[int]
    ) -> list[int]:
        if operator.view:
            base = next(_tensors([args, kwargs]), None)
            return [self._view(t, base, inputs[0] if inputs else None) for t in _tensors([out])]
        written = [args[i] for i in operator.written if i < len(args)]
        written += [kwargs[name] for name in operator.written_keywords if name in kwargs]
        changed = list(_tensors(written))
        seen = {id(t) for t in changed}
        for tensor in changed:
            entry = self._entry(tensor)
            if operator.overwrites and tensor.numel() * tensor.element_size() >= tensor.untyped_storage().nbytes():
                entry.uninitialised = False
        outputs = [self.identify(t, written=True) for t in changed]
        outputs += [self.identify(t) for t in _tensors([out]) if id(t) not in seen]
        return outputs

    def _view(self, tensor: torch.Tensor, source: torch.Tensor | None, base: int | None) -> int:
        """Note a view: its values are those of its base, so they are not measured again."""
        if tensor.layout is not torch.strided or tensor.device.type == "meta":
            return self._note(tensor, base, False)
        entry, key = self._entry(tensor), self._key(tensor, source)
        known = None if key is None else entry.ids.get(key)
        if known is not None:
            return known
        made = self._note(tensor, base, False, uninitialised=entry.uninitialised)
        self._measured[made] = base is not None and self._measured[base] and self.config.mode != "full"
        if key is not None:
            entry.ids[key] = made
        return made

    def _uninitialised(self, out: Any) -> None:
        for tensor in _tensors([out]):
            if tensor.layout is torch.strided and tensor.device.type != "meta":
                self._entry(tensor).uninitialised = True
                if self.config.poison:
                    poison(tensor)

    def _encode(self, value: Any, inputs: list[int], operator: _Operator, skip: set[int]) -> Any:
        """Arguments as plain data; tensors become {"t": index into inputs}."""
        if isinstance(value, torch.Tensor):
            need = id(value) not in skip and not (operator.view and self._lazily(value))
            inputs.append(self.identify(value, need=need))
            return {"t": len(inputs) - 1}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value if not isinstance(value, int) or -(2**63) <= value < 2**63 else {"repr": repr(value)}
        if isinstance(value, (list, tuple)):
            return [self._encode(item, inputs, operator, skip) for item in value]
        if isinstance(value, dict):
            return {"kw": {key: self._encode(item, inputs, operator, skip) for key, item in value.items()}}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if isinstance(value, torch.memory_format):
            return {"memory_format": str(value).removeprefix("torch.")}
        if isinstance(value, torch.layout):
            return {"layout": str(value).removeprefix("torch.")}
        return {"repr": type(value).__name__}

    def _lazily(self, tensor: torch.Tensor) -> bool:
        """Whether a view's base may stay unmeasured: a large buffer written piece by piece, such as a KV cache."""
        return tensor.numel() > 65536 and not tensor.requires_grad and self._entry(tensor).uninitialised

    def _place(self) -> tuple[str, int, str, str]:
        """Scope, its occurrence, phase and line of the user's code for the operator that runs now."""
        if self._in_optimizer:
            return self._in_optimizer, 0, "optimizer", ""
        node = torch._C._current_autograd_node()
        if node is None:
            scope, occurrence = self._scopes[-1] if self._scopes else ("", 0)
            site = self._site()
            if torch.is_grad_enabled():
                if len(self._forward) >= _FORWARD:
                    del self._forward[next(iter(self._forward))]
                self._forward[torch._C._autograd._get_sequence_nr() - 1] = (scope, occurrence, site)
            return scope, occurrence, "forward", site
        if self._scopes:
            return (*self._scopes[-1], "backward", self._site())
        scope, occurrence, site = self._forward.get(node._sequence_nr(), ("", 0, self._backward_site))
        return scope, occurrence, "backward", site

    def _site(self) -> str:
        """The user's line that runs, and the line that called it in the same module: `a.py:4 in f < a.py:9 in g`."""
        frame = sys._getframe(1)
        while frame is not None and _internal(frame.f_code.co_filename):
            frame = frame.f_back  # type: ignore[assignment]
        found: list[str] = []
        while frame is not None and len(found) < _SITES and not _internal(frame.f_code.co_filename):
            code = frame.f_code
            found.append(f"{_shown(code.co_filename, self._root)}:{frame.f_lineno} in {code.co_name}")
            frame = frame.f_back  # type: ignore[assignment]
        return " < ".join(found)

    def _emit(
        self, number: int, kind: str, name: str, scope: str, occurrence: int, phase: str, inputs: list[int],
        outputs: list[int], template: Any, site: str, operator: _Operator | None = None, error: str = "",
    ) -> None:  # fmt: skip
        self._writer.call(
            Call(
                number, kind, name, scope, occurrence, phase, self._step, tuple(inputs), tuple(outputs), template, site,
                operator is not None and operator.random, operator is not None and operator.view, error,
            )
        )  # fmt: skip

    # -- modules, gradients, optimizers --------------------------------------------------------------------------

    def _install(self) -> None:
        from torch.nn.modules import module as hooks
        from torch.optim import optimizer as optimizers

        handles = [
            hooks.register_module_forward_pre_hook(self._before_module),
            hooks.register_module_forward_hook(self._after_module, with_kwargs=True, always_call=True),
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]
        self._removers += [handle.remove for handle in handles]
        self._replace(torch.autograd, "backward", self._backward_of(torch.autograd.backward))
        function = torch.autograd.Function
        original = function.__dict__["apply"]

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            bound = original.__get__(None, cls)
            if not self._here() or self._inside():
                return bound(*args, **kwargs)
            with self._outside():
                inputs = [self.identify(t) for t in _tensors([args, kwargs])]
            opened = self._enter(cls.__name__, None)
            site = self._site()
            try:
                out = bound(*args, **kwargs)
            except BaseException:
                self._scopes.pop()
                raise
            self._scopes.pop()
            self._leave(records.FUNCTION, *opened, inputs, out, site)
            return out

        function.apply = classmethod(apply)  # type: ignore[assignment]
        self._removers.append(lambda: setattr(function, "apply", original))

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        original = getattr(owner, name)
        setattr(owner, name, value)
        self._removers.append(lambda: setattr(owner, name, original))

    @contextmanager
    def _outside(self) -> Iterator[None]:
        """Work of our own: the mode is off, so that it is not recorded, and no graph is built."""
        with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
            yield

    @staticmethod
    def _inside() -> bool:
        return torch._C._current_autograd_node() is not None

    def _backward_of(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            if self._here() and not self._inside():
                with self._outside():
                    outputs = [self.identify(t) for t in _tensors([tensors])]
                self._backward_site = self._site()
                self._observe(records.LOSS, "loss", outputs, self._backward_site)
            return original(tensors, *args, **kwargs)

        return backward

    def _observe(self, kind: str, name: str, outputs: list[int], site: str = "", phase: str = "forward") -> None:
        number = next(self._numbers)
        if number < self.config.max_calls:
            self._emit(number, kind, name, "", 0, phase, [], outputs, None, site)

    def _name(self, module: torch.nn.Module) -> str:
        name = self._names.get(module)
        if name is None:
            kind = type(module).__name__
            self._taken[kind] += 1
            name = self._prefix + (kind if self._taken[kind] == 1 else f"{kind}#{self._taken[kind]}")
            for path, child in module.named_modules():
                self._names.setdefault(child, f"{name}.{path}" if path else name)
            for path, parameter in module.named_parameters():
                self._parameters.setdefault(id(parameter), (weakref.ref(parameter), f"{name}.{path}"))
        return name

    def _enter(self, name: str, module: torch.nn.Module | None) -> tuple[str, int, str]:
        if module is not None:
            scope = self._name(module)
        else:
            scope = f"{self._scopes[-1][0]}.{name}" if self._scopes else name
        phase = "backward" if self._inside() else "forward"
        occurrence = self._occurrences[(scope, phase)]
        self._occurrences[(scope, phase)] += 1
        self._scopes.append((scope, occurrence))
        return scope, occurrence, phase

    def _before_module(self, module: torch.nn.Module, args: Any) -> None:
        if not self._here():
            return
        with self._outside():
            inputs = [self.identify(t) for t in _tensors([args])]
        site = self._site()
        scope, occurrence, phase = self._enter("", module)
        self._open.append((module, tuple(inputs), occurrence, site))
        if phase == "forward" and torch.is_grad_enabled():
            self._watch(records.GRAD_INPUT, scope, occurrence, _tensors([args]))

    def _after_module(self, module: torch.nn.Module, args: Any, *rest: Any) -> None:
        # With an error in flight PyTorch leaves the keyword arguments out.
        kwargs, out = rest if len(rest) == 2 else ({}, None)
        if not self._here() or not self._open:
            return
        while self._open:
            opened, inputs, occurrence, site = self._open.pop()
            scope, _ = self._scopes.pop()
            if opened is module:
                break
        phase = "backward" if self._inside() else "forward"
        with self._outside():
            more = [self.identify(t) for t in _tensors([kwargs])]
        self._leave(records.MODULE, scope, occurrence, phase, [*inputs, *more], out, site)
        if phase == "forward" and torch.is_grad_enabled():
            self._watch(records.GRAD_OUTPUT, scope, occurrence, _tensors([out]))

    def _leave(
        self, kind: str, scope: str, occurrence: int, phase: str, inputs: list[int], out: Any, site: str
    ) -> None:
        with self._outside():
            outputs = [self.identify(t) for t in _tensors([out])]
        number = next(self._numbers)
        if number < self.config.max_calls:
            self._emit(number, kind, scope, scope, occurrence, phase, inputs, outputs, None, site)

    def _watch(self, kind: str, scope: str, occurrence: int, tensors: Iterator[torch.Tensor]) -> None:
        for index, tensor in enumerate(tensors):
            if not tensor.requires_grad:
                continue

            def seen(gradient: torch.Tensor, index: int = index, step: int = self._step) -> None:
                if not self._active():
                    return
                with self._outside():
                    outputs = [self.identify(gradient)]
                number = next(self._numbers)
                if number < self.config.max_calls:
                    self._emit(number, kind, f"{scope}[{index}]", scope, occurrence, "backward", [], outputs, None, "")

            tensor.register_hook(seen)  # type: ignore[no-untyped-call]

    def _parameter_names(self, optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, torch.Tensor]]:
        for group_number, group in enumerate(optimizer.param_groups):
            for number, parameter in enumerate(group["params"]):
                reference, name = self._parameters.get(id(parameter), (None, ""))
                if reference is None or reference() is not parameter:
                    name = f"group{group_number}.{number}"
                yield name, parameter

    def _before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not self._here():
            return
        for name, parameter in self._parameter_names(optimizer):
            if parameter.grad is not None:
                with self._outside():
                    outputs = [self.identify(parameter.grad)]
                self._observe(records.GRADIENT, name, outputs, phase="optimizer")
        self._in_optimizer = type(optimizer).__name__

    def _after_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not self._here():
            return
        self._in_optimizer = ""
        for name, parameter in self._parameter_names(optimizer):
            with self._outside():
                outputs = [self.identify(parameter)]
                state = optimizer.state.get(parameter, {})
                states = {key: self.identify(t) for key, t in state.items() if isinstance(t, torch.Tensor)}
            self._observe(records.PARAMETER, name, outputs, phase="optimizer")
            for key, number in sorted(states.items()):
                self._observe(records.STATE, f"{name}:{key}", [number], phase="optimizer")
        self._step += 1
        self._occurrences.clear()
        self._forward.clear()


def poison(tensor: torch.Tensor) -> None:
    """Fill with what no right result holds everywhere: NaN, or the largest integer of the type."""
    if tensor.is_floating_point() or tensor.is_complex():
        tensor.fill_(float("nan"))
    elif tensor.dtype is torch.bool:
        tensor.fill_(True)
    else:
        tensor.fill_(torch.iinfo(tensor.dtype).max)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """Tensors in lists, tuples, dicts and dataclass-like outputs, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)


def _expanded(tensor: torch.Tensor) -> bool:
    """Many more elements than memory behind them: to lay them out would cost what expanding saved."""
    size = tensor.numel() * tensor.element_size()
    return size > _LARGEST_COPY and size > 4 * tensor.untyped_storage().nbytes()


def _has_cuda() -> bool:
    """A GPU is there and in use; asking must not start its context."""
    return torch.cuda.is_available() and bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]


def _capturing_graph() -> bool:
    return _has_cuda() and torch.cuda.is_current_stream_capturing()


_TORCH = os.path.dirname(torch.__file__) + os.sep
_OURS = os.path.dirname(__file__) + os.sep
_STANDARD = os.path.dirname(os.__file__) + os.sep


@cache
def _internal(filename: str) -> bool:
    if filename.startswith((_TORCH, _OURS, "<frozen")):
        return True
    return filename.startswith(_STANDARD) and "site-packages" not in filename


@cache
def _shown(filename: str, root: str) -> str:
    """A place without this machine's folders: below the working folder, below site-packages, or the last two parts."""
    if filename.startswith(root):
        return filename[len(root) :]
    _, found, tail = filename.rpartition(f"site-packages{os.sep}")
    return tail if found else os.sep.join(filename.split(os.sep)[-2:])


@contextmanager
def capture(golden: str | Path, config: CaptureConfig | None = None) -> Iterator[Recorder]:
    """Record what runs inside the block to the file `golden`.

    An error in the block is recorded, the file is written, and the error goes on. Raises GoldenError without msgpack.
    """
    from rocport.numerics.golden import part_of

    path = Path(golden)
    part = part_of(path)
    outcome: dict[str, Any] = {"ok": True, "reason": "ended"}
    recorder = Recorder(part, config or CaptureConfig(), sys.argv)
    try:
        with recorder:
            yield recorder
    except BaseException as error:
        outcome = {"ok": False, "reason": f"{type(error).__name__}: {error}"[:300]}
        raise
    finally:
        seal(part, path, outcome)
