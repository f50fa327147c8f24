"""Convert a checkpoint: to 16-bit, to bitsandbytes' 4-bit blocks, to MLX's words; shard by shard, no GPU.

Reads what `stored` reads. What is in memory at any time is one chunk (2 Mi values) and the scales of one weight; of
GPTQ and AWQ, which store columns, the words of one weight. Each output shard is written beside its name, read back and
checked, then moved into place, and recorded in `.rocport-convert.json`: a run that was interrupted goes on after the
last finished shard.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocport.checkpoint import codec
from rocport.checkpoint.errors import CheckpointError
from rocport.checkpoint.gguf_model import gguf_weights, read_gguf_checkpoint
from rocport.checkpoint.model import is_kept, read_config
from rocport.checkpoint.quantstate import DTYPES, MARK, find_quantized
from rocport.checkpoint.stored import Blocks, Dense, Weight, apart, find_weights, stacked
from rocport.checkpoint.tensorfile import (
    MAX_HEADER_BYTES,
    Checkpoint,
    Tensor,
    TensorFile,
    encode_header,
    read_checkpoint,
    read_header,
)
from rocport.facts.codes import CODES, dynamic_map
from rocport.model.digest import file_sha256
from rocport.model.shape import Each, Row, ShapeError
from rocport.model.shape import read as read_shaped

if TYPE_CHECKING:
    from rocport.checkpoint.codec import Floats

CHUNK = 2 * 1024 * 1024
"""Values handled at once."""
STATE_FILE = ".rocport-convert.json"
SAMPLES = 64
"""Values of each weight that are checked against the plain reference after a shard is written."""
BLOCKSIZES = (32, 64, 128, 256, 512, 1024, 2048, 4096)
"""What bitsandbytes 0.50.2 takes."""
NESTED_BLOCKSIZE = 256
TYPES = {"bf16": "BF16", "fp16": "F16", "fp32": "F32"}
_PACKED = re.compile(r"(?P<kind>nf4|fp4)b(?P<block>\d+)|affine(?P<bits>[234568])g(?P<group>32|64|128)")


@dataclass(frozen=True)
class Options:
    """`to`: bf16, fp16, fp32; auto (dense, of the type each weight stands for); `nf4b64` and the like (bitsandbytes,
    `nested` or as the source is, nested where it is not bitsandbytes'); `affine4g64` and the like (MLX). `blocksize`:
    stay in bitsandbytes' 4-bit type, in blocks of so many."""

    to: str = "auto"
    blocksize: int | None = None
    nested: bool | None = None

    @property
    def dense(self) -> bool:
        return self.blocksize is None and (self.to == "auto" or self.to in TYPES)

    def packed(self, weight: Weight) -> Packed:
        """The 4-bit form of a weight."""
        nested = weight.weight.nested if isinstance(weight, Blocks) else True
        nested = nested if self.nested is None else self.nested
        if self.blocksize is not None:
            kind = weight.weight.quant_type if isinstance(weight, Blocks) else "nf4"
            return Packed(kind, 4, self.blocksize, nested)
        match = _PACKED.fullmatch(self.to)
        assert match is not None
        if match["kind"]:
            return Packed(match["kind"], 4, int(match["block"]), nested)
        return Packed("affine", int(match["bits"]), int(match["group"]), False)


@dataclass(frozen=True)
class Packed:
    """`kind`: nf4, fp4 or affine."""

    kind: str
    bits: int
    group: int
    nested: bool

    def __str__(self) -> str:
        return f"affine{self.bits}g{self.group}" if self.kind == "affine" else f"{self.kind}b{self.group}"


@dataclass(frozen=True)
class Plan:
    """What a conversion will write. `kept` says why a matrix keeps its form, by name."""

    checkpoint: Checkpoint
    weights: dict[str, Weight]
    options: Options
    shards: tuple[Shard, ...]
    kept: Mapping[str, str]

    @property
    def bytes_out(self) -> int:
        return sum(shard.nbytes for shard in self.shards)


@dataclass(frozen=True)
class Entry:
    """One tensor of an output shard; `weight` when it is computed, `source` when it is copied."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    source: Tensor | None = None
    weight: Weight | None = None
    packed: Packed | None = None
    role: str = ""


@dataclass(frozen=True)
class Shard:
    """One output file and its tensors in order."""

    file: TensorFile
    entries: tuple[Entry, ...]

    @property
    def nbytes(self) -> int:
        return sum(entry.nbytes for entry in self.entries)


@dataclass(frozen=True)
class Result:
    """What was done. `error` is the largest and the root mean square change of a re-quantized value, relative to the
    largest value of its block; None when nothing was re-quantized in this run. `losses`: |W' - W| / |W| of each weight
    that was, by name. `kept` says why a matrix keeps its form."""

    weights: int
    shards: int
    resumed: int
    checked_values: int
    bytes_out: int
    error: tuple[float, float] | None
    losses: dict[str, float]
    kept: dict[str, str]


def plan(src: Path, options: Options) -> Plan:
    """Read the headers of `src` and lay out the output.

    Raises CheckpointError when nothing in it is to be converted, or for bad options.
    """
    if options.blocksize is not None and options.blocksize not in BLOCKSIZES:
        raise CheckpointError(f"block size {options.blocksize}: bitsandbytes takes {', '.join(map(str, BLOCKSIZES))}")
    match = _PACKED.fullmatch(options.to)
    if options.to not in (*TYPES, "auto") and match is None:
        raise CheckpointError(f"type {options.to!r}: expected auto, {', '.join(TYPES)}, nf4b64, fp4b64 or affine4g64")
    if match is not None and match["block"] and int(match["block"]) not in BLOCKSIZES:
        raise CheckpointError(f"block size {match['block']}: bitsandbytes takes {', '.join(map(str, BLOCKSIZES))}")
    checkpoint = read_gguf_checkpoint(src) if src.suffix == ".gguf" and src.is_file() else read_checkpoint(src)
    tensors = checkpoint.tensors
    stored = gguf_weights(checkpoint) if checkpoint.config else find_weights(tensors, _config(checkpoint))
    if options.dense or options.blocksize is not None:
        if not stored:
            raise CheckpointError(
                f"{src}: no quantized weight found (no tensor named *{MARK}nf4 or fp4, no SCB, scales, qweight, fp8); "
                "dense weights are quantized with --to nf4b64"
            )
        weights = dict(stored)
    else:
        weights = dict(stored) | {
            name: Dense(tensor) for name, tensor in tensors.items() if name not in stored and _is_matrix(tensor)
        }
    # MLX keeps the experts of a mixture as stacks, everybody else each for itself.
    words = match is not None and not match["block"]
    weights = stacked(weights) if words else apart(weights)
    parts = {part.name for weight in (*stored.values(), *weights.values()) for part in weight.parts}
    begins: dict[str, list[Weight]] = {}
    for weight in weights.values():
        begins.setdefault(weight.parts[0].name, []).append(weight)
    kept: dict[str, str] = {}
    shards = []
    for file in checkpoint.files:
        entries: list[Entry] = []
        for tensor in file.tensors:
            if tensor.name in begins:
                for weight in begins[tensor.name]:
                    entries.extend(_outputs(weight, options, kept))
            elif tensor.name not in parts:
                entries.append(Entry(tensor.name, tensor.dtype, tensor.shape, tensor.nbytes, source=tensor))
        shards.append(Shard(file, tuple(entries)))
    changed = {name: weight for name, weight in weights.items() if not (name in kept and weight.layout == "dense")}
    return Plan(checkpoint, changed, options, tuple(shards), kept)


def _config(checkpoint: Checkpoint) -> dict[str, Any]:
    if checkpoint.config is not None:
        return dict(checkpoint.config)
    path = checkpoint.root / "config.json"
    return read_config(path) if path.is_file() else {}


_ROUTERS = (".gate.weight", ".router.weight", ".shared_expert_gate.weight")


def _is_matrix(tensor: Tensor) -> bool:
    """What bitsandbytes and MLX would quantize of a dense checkpoint: the matrices of linear layers."""
    two = len(tensor.shape) == 2 and min(tensor.shape) > 1
    return two and tensor.dtype in ("F16", "BF16", "F32") and tensor.name.endswith(".weight")


def _reason(weight: Weight, packed: Packed) -> str:
    """Why a weight stays dense; empty when it is packed."""
    if is_kept(weight.name) or weight.name.endswith(_ROUTERS):
        return "embedding, head or router"
    if len(weight.shape) != 2 and not (packed.kind == "affine" and len(weight.shape) == 3):
        return f"{len(weight.shape)} dimensions: no layer of this form in the target format"
    if packed.kind == "affine" and weight.shape[-1] % packed.group:
        return f"{weight.shape[-1]} columns are no multiple of {packed.group}"
    return ""


def _outputs(weight: Weight, options: Options, kept: dict[str, str]) -> Iterator[Entry]:
    name = weight.name
    packed = None if options.dense else options.packed(weight)
    if packed is not None and (reason := _reason(weight, packed)):
        kept[name] = reason
        packed = None
    if packed is None:
        if isinstance(weight, Dense):
            yield Entry(name, weight.tensor.dtype, weight.shape, weight.tensor.nbytes, source=weight.tensor)
            return
        dtype = TYPES.get(options.to, DTYPES[weight.dtype])
        size = {"F32": 4}.get(dtype, 2)
        yield Entry(name, dtype, weight.shape, weight.elements * size, weight=weight, role="values")
        return

    def entry(name: str, dtype: str, shape: tuple[int, ...], role: str) -> Entry:
        size = {"F32": 4, "U32": 4, "U8": 1}.get(dtype, 2)
        return Entry(name, dtype, shape, math.prod(shape) * size, None, weight, packed, role)

    if packed.kind == "affine":
        *lead, width = weight.shape
        module, dtype = name.removesuffix(".weight"), DTYPES[weight.dtype]
        yield entry(name, "U32", (*lead, width * packed.bits // 32), "words")
        for role in ("scales", "biases"):
            yield entry(f"{module}.{role}", dtype, (*lead, width // packed.group), role)
        return
    blocks = -(-weight.elements // packed.group)
    yield entry(name, "U8", (-(-weight.elements // 2), 1), "packed")
    if packed.nested:
        outer = -(-blocks // NESTED_BLOCKSIZE)
        yield entry(f"{name}.absmax", "U8", (blocks,), "absmax8")
        yield entry(f"{name}.nested_absmax", "F32", (outer,), "nested_absmax")
        yield entry(f"{name}.nested_quant_map", "F32", (256,), "nested_code")
    else:
        yield entry(f"{name}.absmax", "F32", (blocks,), "absmax")
    yield entry(f"{name}.quant_map", "F32", (16,), "code")
    size = len(_state_bytes(weight, packed, 0.0))
    yield entry(f"{name}{MARK}{packed.kind}", "U8", (size,), "state")


def _state_bytes(weight: Weight, packed: Packed, offset: float) -> bytes:
    """The quantization state of a re-quantized weight, padded so that its size does not depend on the offset."""
    state: dict[str, Any] = {
        "quant_type": packed.kind,
        "blocksize": packed.group,
        "dtype": weight.dtype,
        "shape": list(weight.shape),
    }
    if packed.nested:
        state |= {"nested_blocksize": NESTED_BLOCKSIZE, "nested_dtype": "float32", "nested_offset": offset}
    text = json.dumps(state)
    room = len(json.dumps(state | ({"nested_offset": 0} if packed.nested else {}))) + 32
    return text.ljust(room).encode()


def convert(src: Path, dst: Path, options: Options, log: Callable[[str], None] = lambda _: None) -> Result:
    """Write the converted checkpoint to the folder `dst`.

    Raises CheckpointError for a source that cannot be converted, a `dst` that holds something else, a full disk, or a
    check that fails; OSError when reading or writing does. Finished shards stay and are reused by the next run.
    """
    work = plan(src, options)
    record = _open_destination(work, src, dst)
    _check_space(work, record, dst)
    resumed = checked = done = 0
    errors = _Errors()
    for shard in work.shards:
        name = shard.file.written
        if _finished(dst, record, name):
            resumed += 1
            log(f"{name}: finished by an earlier run")
            continue
        log(f"{name}: {len(shard.entries)} tensors, {shard.nbytes / 1e9:.2f} GB")
        digest = _write_shard(shard, dst / name, errors)
        checked += _check_shard(shard, dst / name, digest)
        record["shards"][name] = {"bytes": (dst / name).stat().st_size, "sha256": digest}
        _write_json(dst / STATE_FILE, record)
        done += 1
    _write_index(work, dst)
    _write_config(work, dst)
    _copy_others(work, dst)
    _check_whole(work, dst)
    (dst / STATE_FILE).unlink(missing_ok=True)
    return Result(
        len(work.weights), done, resumed, checked, work.bytes_out, errors.result(), errors.losses, dict(work.kept)
    )


@dataclass
class _Errors:
    """Changes of re-quantized values, relative to the largest of their block; and of each weight as a whole."""

    largest: float = 0.0
    squares: float = 0.0
    count: int = 0
    losses: dict[str, float] = field(default_factory=dict)

    def add(self, values: Floats, again: Floats, largest: Floats) -> float:
        """`largest` of each value's block. Returns the sum of the squares of the changes."""
        import numpy as np

        change = np.abs(again - values)
        relative = change / np.maximum(largest, np.float32(1e-38))
        self.largest = max(self.largest, float(relative.max(initial=0)))
        self.squares += float(np.square(relative, dtype=np.float64).sum())
        self.count += values.size
        return float(np.square(change, dtype=np.float64).sum())

    def result(self) -> tuple[float, float] | None:
        return (self.largest, math.sqrt(self.squares / self.count)) if self.count else None


_RECORD = {
    "source": [Row(str, int, str)],
    "to": str,
    "blocksize": (int, None),
    "nested": (bool, None),
    "shards": Each({"bytes": int, "sha256": re.compile("[0-9a-f]{64}")}),
}
"""What is kept of a conversion that is not done."""


def _open_destination(work: Plan, src: Path, dst: Path) -> dict[str, Any]:
    """Create `dst`, or read the record of an interrupted run of this very conversion."""
    if dst.exists() and not dst.is_dir():
        raise CheckpointError(f"{dst}: is a file; expected a folder that does not exist yet")
    if dst.exists() and dst.resolve() == work.checkpoint.root.resolve():
        raise CheckpointError(f"{dst}: is the source itself; name another folder")
    fresh: dict[str, Any] = {
        "source": [[f.path.name, f.path.stat().st_size, _header_digest(f.path)] for f in work.checkpoint.files],
        "to": work.options.to,
        "blocksize": work.options.blocksize,
        "nested": work.options.nested,
        "shards": {},
    }
    state = dst / STATE_FILE
    if state.is_file():
        try:
            record: dict[str, Any] = read_shaped(state.read_text(encoding="utf-8"), _RECORD)
            same = all(record[key] == fresh[key] for key in ("source", "to", "blocksize", "nested"))
        except ShapeError as error:
            raise CheckpointError(f"{state}: {error}; remove {dst} and convert again") from error
        if not same:
            raise CheckpointError(f"{dst}: holds an unfinished conversion of another source or with other options")
        return record
    if dst.exists() and any(dst.iterdir()):
        raise CheckpointError(f"{dst}: is not empty; name a folder that does not exist yet")
    dst.mkdir(parents=True, exist_ok=True)
    _write_json(state, fresh)
    return fresh


def _header_digest(path: Path) -> str:
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        return hashlib.sha256(stream.read(min(length, MAX_HEADER_BYTES))).hexdigest()


def _check_space(work: Plan, record: dict[str, Any], dst: Path) -> None:
    need = sum(shard.nbytes for shard in work.shards if shard.file.written not in record["shards"])
    free = shutil.disk_usage(dst).free
    if need + 64 * 1024 * 1024 > free:
        raise CheckpointError(f"{dst}: needs {need / 1e9:.1f} GB, {free / 1e9:.1f} GB are free")


def _finished(dst: Path, record: dict[str, Any], name: str) -> bool:
    entry = record["shards"].get(name)
    path = dst / name
    return (
        bool(entry)
        and path.is_file()
        and path.stat().st_size == entry["bytes"]
        and file_sha256(path) == entry["sha256"]
    )


def _write_shard(shard: Shard, path: Path, errors: _Errors) -> str:
    """Write one file and move it into place. Returns the sha256 of what was handed to the file system."""
    digest = hashlib.sha256()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as stream:

            def put(data: bytes) -> None:
                digest.update(data)
                stream.write(data)

            layout = [(entry.name, entry.dtype, entry.shape, entry.nbytes) for entry in shard.entries]
            put(encode_header(layout, {"format": "pt", **shard.file.metadata}))
            for data in _shard_data(shard, errors):
                put(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    return digest.hexdigest()


def _shard_data(shard: Shard, errors: _Errors) -> Iterator[bytes]:
    later: dict[str, bytes] = {}
    for entry in shard.entries:
        if entry.source is not None:
            yield from _copied(entry.source)
        elif entry.weight is not None and entry.role == "values":
            yield from _values(entry.weight, entry.dtype)
            entry.weight.release()
        elif entry.weight is not None and entry.packed is not None and entry.role in ("packed", "words"):
            later = {}
            write = _blocks if entry.role == "packed" else _words
            yield from write(entry.weight, entry.packed, later, errors)
            entry.weight.release()
        else:
            yield later[entry.role]


def _copied(tensor: Tensor) -> Iterator[bytes]:
    with tensor.path.open("rb") as stream:
        for offset in range(0, tensor.nbytes, 4 << 20):
            yield tensor.read_from(stream, offset, min(4 << 20, tensor.nbytes - offset))


def _step(*units: int) -> int:
    unit = math.lcm(2, *units)
    return max(unit, CHUNK // unit * unit)


def _values(weight: Weight, dtype: str) -> Iterator[bytes]:
    import numpy as np

    for values in weight.pieces(_step(weight.unit)):
        if dtype == "F16" and values.size and float(np.nanmax(np.abs(values))) > codec.FP16_MAX:
            raise CheckpointError(f"{weight.name}: holds values beyond fp16's 65504; use --to bf16")
        yield codec.to_bytes(values, dtype)


def _blocks(weight: Weight, to: Packed, later: dict[str, bytes], errors: _Errors) -> Iterator[bytes]:
    """Packed nibbles of bitsandbytes' blocks; what follows them in the file is left in `later`, by role."""
    import numpy as np

    code = np.array(CODES[to.kind], np.float32)
    scales: list[Floats] = []
    change = norm = 0.0
    for values in weight.pieces(_step(weight.unit, to.group)):
        packed, absmax = codec.encode(values, code, to.group)
        again = codec.decode(packed, absmax, code, to.group, values.size)
        change += errors.add(values, again, np.repeat(absmax, to.group)[: values.size])
        norm += float(np.square(values, dtype=np.float64).sum())
        scales.append(absmax)
        yield packed.tobytes()
    errors.losses[weight.name] = math.sqrt(change / norm) if norm else 0.0
    absmax = np.concatenate(scales) if scales else np.empty(0, np.float32)
    later["code"] = codec.to_bytes(code, "F32")
    offset = 0.0
    if to.nested:
        nested_code = np.array(dynamic_map(), np.float32)
        quantized, outer, offset = codec.encode_scales(absmax, nested_code, NESTED_BLOCKSIZE)
        later["absmax8"] = quantized.tobytes()
        later["nested_absmax"] = codec.to_bytes(outer, "F32")
        later["nested_code"] = codec.to_bytes(nested_code, "F32")
    else:
        later["absmax"] = codec.to_bytes(absmax, "F32")
    later["state"] = _state_bytes(weight, to, offset)


def _words(weight: Weight, to: Packed, later: dict[str, bytes], errors: _Errors) -> Iterator[bytes]:
    """MLX's words, row by row; scales and biases are left in `later`."""
    import numpy as np

    width, dtype = weight.shape[-1], DTYPES[weight.dtype]
    parts: list[tuple[bytes, bytes]] = []
    change = norm = 0.0
    for values in weight.pieces(_step(weight.unit, width)):
        rows = values.reshape(-1, width)
        packed, scales, biases = codec.encode_affine(rows, to.bits, to.group, dtype)
        scale, bias = (codec.from_bytes(part, dtype).reshape(len(rows), -1) for part in (scales, biases))
        again = codec.decode_affine(packed, scale, bias, to.bits, to.group)
        largest = np.repeat(np.abs(rows).reshape(len(rows), -1, to.group).max(-1), to.group, 1)
        change += errors.add(values, again.reshape(-1), largest.reshape(-1))
        norm += float(np.square(values, dtype=np.float64).sum())
        parts.append((scales, biases))
        yield packed.tobytes()
    errors.losses[weight.name] = math.sqrt(change / norm) if norm else 0.0
    later["scales"], later["biases"] = (b"".join(part[at] for part in parts) for at in (0, 1))


def _check_shard(shard: Shard, path: Path, digest: str) -> int:
    """Read the file back: same bytes as were written, every tensor where it belongs, sampled values right.

    Returns how many values were compared with the plain reference. Raises CheckpointError when anything differs; the
    bad file is removed.
    """
    try:
        if file_sha256(path) != digest:
            raise CheckpointError(f"{path}: reads back differently from what was written; check the disk")
        file = read_header(path)
        expected = {entry.name: (entry.dtype, entry.shape) for entry in shard.entries}
        if {tensor.name: (tensor.dtype, tensor.shape) for tensor in file.tensors} != expected:
            raise CheckpointError(f"{path}: its header differs from the plan")
        tensors = {tensor.name: tensor for tensor in file.tensors}
        checked = 0
        for entry in shard.entries:
            if entry.weight is not None and entry.role == "values":
                checked += _check_values(entry.weight, tensors[entry.name])
        find_quantized(tensors)
        return checked
    except CheckpointError:
        path.unlink(missing_ok=True)
        raise


def _check_values(weight: Weight, written: Tensor) -> int:
    """Compare up to 64 values, spread over the weight, bit by bit with the weight's second decoder."""
    if not weight.elements:
        return 0
    size = written.nbytes // weight.elements
    count = min(SAMPLES, weight.elements)
    with written.path.open("rb") as result:
        for sample in range(count):
            index = sample * (weight.elements - 1) // max(count - 1, 1)
            value = weight.value(index)
            expected = codec.reference_bytes(value, written.dtype)
            found = written.read_from(result, index * size, size)
            if found != expected and value == value:
                raise CheckpointError(f"{written.path}: {weight.name}[{index}] is {found.hex()}, not {expected.hex()}")
    return count


def _write_index(work: Plan, dst: Path) -> None:
    if work.checkpoint.index is None:
        return
    mapping = {entry.name: shard.file.written for shard in work.shards for entry in shard.entries}
    index = {"metadata": {"total_size": work.bytes_out}, "weight_map": dict(sorted(mapping.items()))}
    _write_json(dst / work.checkpoint.index.name, index)


def _write_config(work: Plan, dst: Path) -> None:
    """config.json that says what the weights are now."""
    config = _config(work.checkpoint)
    if not config:
        return
    options = work.options
    if options.blocksize is None or not all(isinstance(weight, Blocks) for weight in work.weights.values()):
        config.pop("quantization_config", None)
        config.pop("quantization", None)
    name = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}.get(options.to)
    for key in ("torch_dtype", "dtype"):
        if name is not None and key in config:
            config[key] = name
    packed = [entry.packed for shard in work.shards for entry in shard.entries if entry.packed is not None]
    if packed and "quantization_config" not in config:
        config.update(_said(packed[0], work))
    _write_json(dst / "config.json", config)


def _said(packed: Packed, work: Plan) -> dict[str, Any]:
    """The section of config.json by which transformers or MLX load what was written."""
    if packed.kind == "affine":
        said: dict[str, Any] = {"group_size": packed.group, "bits": packed.bits, "mode": "affine"}
        return {"quantization": said, "quantization_config": said}
    dtype = next(iter(work.weights.values())).dtype
    dense = sorted({name.removesuffix(".weight").rpartition(".")[2] for name in work.kept if "embed" not in name})
    return {
        "quantization_config": {
            "quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False,
            "bnb_4bit_quant_type": packed.kind, "bnb_4bit_use_double_quant": packed.nested,
            "bnb_4bit_compute_dtype": dtype, "bnb_4bit_quant_storage": "uint8",
            "llm_int8_skip_modules": dense or ["lm_head"],
        }
    }  # fmt: skip


def _copy_others(work: Plan, dst: Path) -> None:
    """Tokenizer and the like: the small files beside the weights."""
    if work.checkpoint.index is None and len(work.checkpoint.files) == 1 and not _is_model_folder(work.checkpoint.root):
        return
    for path in sorted(work.checkpoint.root.iterdir()):
        skip = path.suffix in (".safetensors", ".bin", ".pt", ".pth", ".gguf") or path.name.endswith(".index.json")
        if path.is_file() and not skip and not (dst / path.name).exists() and path.stat().st_size < 100_000_000:
            temporary = dst / f".{path.name}.partial"
            shutil.copyfile(path, temporary)
            temporary.replace(dst / path.name)


def _is_model_folder(root: Path) -> bool:
    return (root / "config.json").is_file()


def _check_whole(work: Plan, dst: Path) -> None:
    """The finished folder reads as one checkpoint with exactly the planned tensors."""
    path = dst if work.checkpoint.index is not None or len(work.shards) > 1 else dst / work.shards[0].file.written
    written = read_checkpoint(path).tensors
    planned = {entry.name for shard in work.shards for entry in shard.entries}
    if set(written) != planned:
        missing = sorted(planned ^ set(written))
        raise CheckpointError(f"{dst}: the tensors written are not those planned; first difference: {missing[0]}")


def _write_json(path: Path, data: Any) -> None:
    temporary = path.with_name(f".{path.name}.partial")
    with temporary.open("w", encoding="utf-8") as stream:
        json.dump(data, stream, indent=2)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
