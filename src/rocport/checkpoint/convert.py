"""Convert a bitsandbytes 4-bit checkpoint to 16-bit, or to another block size: shard by shard, no GPU.

What is in memory at any time is one chunk (2 Mi values) and the scales of one weight; a weight's data is never held.
Each output shard is written beside its name, read back and checked, then moved into place, and recorded in
`.rocport-convert.json`: a run that was interrupted goes on after the last finished shard.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocport.checkpoint import codec
from rocport.checkpoint.errors import CheckpointError
from rocport.checkpoint.quantstate import DTYPES, MARK, QuantizedWeight, find_int8, find_quantized
from rocport.checkpoint.tensorfile import Checkpoint, Tensor, TensorFile, encode_header, read_checkpoint, read_header

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


@dataclass(frozen=True)
class Options:
    """`to`: bf16, fp16, fp32 or auto (the type each weight had before quantization); or `blocksize`: stay 4-bit."""

    to: str = "auto"
    blocksize: int | None = None


@dataclass(frozen=True)
class Plan:
    """What a conversion will write."""

    checkpoint: Checkpoint
    weights: dict[str, QuantizedWeight]
    options: Options
    shards: tuple[Shard, ...]

    @property
    def bytes_out(self) -> int:
        return sum(shard.nbytes for shard in self.shards)


@dataclass(frozen=True)
class Entry:
    """One tensor of an output shard; `weight` when it comes out of a 4-bit weight, `source` when it is copied."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    source: Tensor | None = None
    weight: QuantizedWeight | None = None
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
    largest value of its block; None when nothing was re-quantized in this run."""

    weights: int
    shards: int
    resumed: int
    checked_values: int
    bytes_out: int
    error: tuple[float, float] | None


def plan(src: Path, options: Options) -> Plan:
    """Read the headers of `src` and lay out the output.

    Raises CheckpointError when nothing in it is bitsandbytes 4-bit, when it holds 8-bit weights, or for bad options.
    """
    if options.blocksize is not None and options.blocksize not in BLOCKSIZES:
        raise CheckpointError(f"block size {options.blocksize}: bitsandbytes takes {', '.join(map(str, BLOCKSIZES))}")
    if options.to not in (*TYPES, "auto"):
        raise CheckpointError(f"type {options.to!r}: expected auto, {', '.join(TYPES)}")
    checkpoint = read_checkpoint(src)
    tensors = checkpoint.tensors
    weights = find_quantized(tensors)
    int8 = find_int8(tensors)
    if int8:
        raise CheckpointError(f"{src}: {int8[0]} is in bitsandbytes' 8-bit format; only 4-bit weights are converted")
    if not weights:
        raise CheckpointError(f"{src}: no bitsandbytes 4-bit weight found (no tensor named *{MARK}nf4 or fp4)")
    parts = {part.name for weight in weights.values() for part in weight.parts}
    shards = []
    for file in checkpoint.files:
        entries: list[Entry] = []
        for tensor in file.tensors:
            if tensor.name in weights:
                entries.extend(_outputs(weights[tensor.name], options))
            elif tensor.name not in parts:
                entries.append(Entry(tensor.name, tensor.dtype, tensor.shape, tensor.nbytes, source=tensor))
        shards.append(Shard(file, tuple(entries)))
    return Plan(checkpoint, weights, options, tuple(shards))


def _outputs(weight: QuantizedWeight, options: Options) -> Iterator[Entry]:
    name = weight.name
    if options.blocksize is None:
        dtype = DTYPES[weight.dtype] if options.to == "auto" else TYPES[options.to]
        size = {"F32": 4}.get(dtype, 2)
        yield Entry(name, dtype, weight.shape, weight.elements * size, weight=weight, role="values")
        return
    blocks = -(-weight.elements // options.blocksize)
    packed = -(-weight.elements // 2)
    yield Entry(name, "U8", (packed, 1), packed, weight=weight, role="packed")
    if weight.nested:
        outer = -(-blocks // NESTED_BLOCKSIZE)
        yield Entry(f"{name}.absmax", "U8", (blocks,), blocks, weight=weight, role="absmax8")
        yield Entry(f"{name}.nested_absmax", "F32", (outer,), outer * 4, weight=weight, role="nested_absmax")
        yield Entry(f"{name}.nested_quant_map", "F32", (256,), 1024, weight=weight, role="nested_code")
    else:
        yield Entry(f"{name}.absmax", "F32", (blocks,), blocks * 4, weight=weight, role="absmax")
    yield Entry(f"{name}.quant_map", "F32", (16,), 64, weight=weight, role="code")
    size = len(_state_bytes(weight, options.blocksize, 0.0))
    yield Entry(f"{name}{MARK}{weight.quant_type}", "U8", (size,), size, weight=weight, role="state")


def _state_bytes(weight: QuantizedWeight, blocksize: int, offset: float) -> bytes:
    """The quantization state of a re-quantized weight, padded so that its size does not depend on the offset."""
    state: dict[str, Any] = {
        "quant_type": weight.quant_type,
        "blocksize": blocksize,
        "dtype": weight.dtype,
        "shape": list(weight.shape),
    }
    if weight.nested:
        state |= {"nested_blocksize": NESTED_BLOCKSIZE, "nested_dtype": "float32", "nested_offset": offset}
    text = json.dumps(state)
    room = len(json.dumps(state | ({"nested_offset": 0} if weight.nested else {}))) + 32
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
        name = shard.file.path.name
        if _finished(dst, record, name):
            resumed += 1
            log(f"{name}: finished by an earlier run")
            continue
        log(f"{name}: {len(shard.entries)} tensors, {shard.nbytes / 1e9:.2f} GB")
        digest = _write_shard(shard, dst / name, options, errors)
        checked += _check_shard(shard, dst / name, digest, options)
        record["shards"][name] = {"bytes": (dst / name).stat().st_size, "sha256": digest}
        _write_json(dst / STATE_FILE, record)
        done += 1
    _write_index(work, dst)
    _write_config(work, dst)
    _copy_others(work, dst)
    _check_whole(work, dst)
    (dst / STATE_FILE).unlink(missing_ok=True)
    return Result(len(work.weights), done, resumed, checked, work.bytes_out, errors.result())


class _Errors:
    def __init__(self) -> None:
        self.largest = 0.0
        self.squares = 0.0
        self.count = 0

    def result(self) -> tuple[float, float] | None:
        return (self.largest, math.sqrt(self.squares / self.count)) if self.count else None


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
        "shards": {},
    }
    state = dst / STATE_FILE
    if state.is_file():
        try:
            record: dict[str, Any] = json.loads(state.read_text(encoding="utf-8"))
            same = all(record[key] == fresh[key] for key in ("source", "to", "blocksize"))
        except (ValueError, KeyError, TypeError):
            same = False
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
        return hashlib.sha256(stream.read(length)).hexdigest()


def _check_space(work: Plan, record: dict[str, Any], dst: Path) -> None:
    need = sum(shard.nbytes for shard in work.shards if shard.file.path.name not in record["shards"])
    free = shutil.disk_usage(dst).free
    if need + 64 * 1024 * 1024 > free:
        raise CheckpointError(f"{dst}: needs {need / 1e9:.1f} GB, {free / 1e9:.1f} GB are free")


def _finished(dst: Path, record: dict[str, Any], name: str) -> bool:
    entry = record["shards"].get(name)
    path = dst / name
    return bool(entry) and path.is_file() and path.stat().st_size == entry["bytes"] and _digest(path) == entry["sha256"]


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _write_shard(shard: Shard, path: Path, options: Options, errors: _Errors) -> str:
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
            for data in _shard_data(shard, options, errors):
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


def _shard_data(shard: Shard, options: Options, errors: _Errors) -> Iterator[bytes]:
    later: dict[str, bytes] = {}
    for entry in shard.entries:
        if entry.source is not None:
            yield from _copied(entry.source)
        elif entry.weight is not None and entry.role == "values":
            yield from _values(entry.weight, entry.dtype)
        elif entry.weight is not None and entry.role == "packed":
            later = {}
            yield from _requantized(entry.weight, int(options.blocksize or 0), later, errors)
        else:
            yield later[entry.role]


def _copied(tensor: Tensor) -> Iterator[bytes]:
    with tensor.path.open("rb") as stream:
        for offset in range(0, tensor.nbytes, 4 << 20):
            yield tensor.read_from(stream, offset, min(4 << 20, tensor.nbytes - offset))


def _scales(weight: QuantizedWeight) -> Floats:
    """All scales of a weight as float32."""
    import numpy as np

    if weight.nested_absmax is None or weight.nested_code is None:
        return codec.from_bytes(weight.absmax.read(), weight.absmax.dtype)
    return codec.decode_scales(
        np.frombuffer(weight.absmax.read(), np.uint8),
        codec.from_bytes(weight.nested_absmax.read(), "F32"),
        codec.from_bytes(weight.nested_code.read(), "F32"),
        weight.nested_blocksize,
        weight.nested_offset,
    )


def _decoded(weight: QuantizedWeight, step: int) -> Iterator[Floats]:
    """float32 values in pieces of `step`, a multiple of the block size."""
    import numpy as np

    scales = _scales(weight)
    code = codec.from_bytes(weight.code.read(), "F32")
    with weight.packed.path.open("rb") as stream:
        for begin in range(0, weight.elements, step):
            count = min(step, weight.elements - begin)
            packed = np.frombuffer(weight.packed.read_from(stream, begin // 2, -(-count // 2)), np.uint8)
            first = begin // weight.blocksize
            last = -(-(begin + count) // weight.blocksize)
            yield codec.decode(packed, scales[first:last], code, weight.blocksize, count)


def _step(*blocksizes: int) -> int:
    unit = math.lcm(2, *blocksizes)
    return max(unit, CHUNK // unit * unit)


def _values(weight: QuantizedWeight, dtype: str) -> Iterator[bytes]:
    import numpy as np

    for values in _decoded(weight, _step(weight.blocksize)):
        if dtype == "F16" and values.size and float(np.nanmax(np.abs(values))) > codec.FP16_MAX:
            raise CheckpointError(f"{weight.name}: holds values beyond fp16's 65504; use --to bf16")
        yield codec.to_bytes(values, dtype)


def _requantized(weight: QuantizedWeight, blocksize: int, later: dict[str, bytes], errors: _Errors) -> Iterator[bytes]:
    """Packed nibbles of the new block size; what follows them in the file is left in `later`, by role."""
    import numpy as np

    code = codec.from_bytes(weight.code.read(), "F32")
    scales: list[Floats] = []
    for values in _decoded(weight, _step(weight.blocksize, blocksize)):
        packed, absmax = codec.encode(values, code, blocksize)
        again = codec.decode(packed, absmax, code, blocksize, values.size)
        relative = np.abs(again - values) / np.maximum(np.repeat(absmax, blocksize)[: values.size], np.float32(1e-38))
        errors.largest = max(errors.largest, float(relative.max(initial=0)))
        errors.squares += float(np.square(relative, dtype=np.float64).sum())
        errors.count += values.size
        scales.append(absmax)
        yield packed.tobytes()
    absmax = np.concatenate(scales) if scales else np.empty(0, np.float32)
    later["code"] = codec.to_bytes(code, "F32")
    offset = 0.0
    if weight.nested_code is not None:
        nested_code = codec.from_bytes(weight.nested_code.read(), "F32")
        quantized, outer, offset = codec.encode_scales(absmax, nested_code, NESTED_BLOCKSIZE)
        later["absmax8"] = quantized.tobytes()
        later["nested_absmax"] = codec.to_bytes(outer, "F32")
        later["nested_code"] = codec.to_bytes(nested_code, "F32")
    else:
        later["absmax"] = codec.to_bytes(absmax, "F32")
    later["state"] = _state_bytes(weight, blocksize, offset)


def _check_shard(shard: Shard, path: Path, digest: str, options: Options) -> int:
    """Read the file back: same bytes as were written, every tensor where it belongs, sampled values right.

    Returns how many values were compared with the plain reference. Raises CheckpointError when anything differs; the
    bad file is removed.
    """
    try:
        if _digest(path) != digest:
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
        if options.blocksize is not None:
            find_quantized(tensors)
        return checked
    except CheckpointError:
        path.unlink(missing_ok=True)
        raise


def _check_values(weight: QuantizedWeight, written: Tensor) -> int:
    """Compare up to 64 values, spread over the weight, bit by bit with the reference of `codec`."""
    if not weight.elements:
        return 0
    code = [_float(weight.code.read(4 * index, 4)) for index in range(16)]
    size = written.nbytes // weight.elements
    count = min(SAMPLES, weight.elements)
    with weight.packed.path.open("rb") as source, written.path.open("rb") as result:
        for sample in range(count):
            index = sample * (weight.elements - 1) // max(count - 1, 1)
            byte = weight.packed.read_from(source, index // 2, 1)[0]
            nibble = byte & 15 if index % 2 else byte >> 4
            value = codec.reference_value(nibble, _scale(weight, index // weight.blocksize), code)
            expected = codec.reference_bytes(value, written.dtype)
            found = written.read_from(result, index * size, size)
            if found != expected and value == value:
                raise CheckpointError(f"{written.path}: {weight.name}[{index}] is {found.hex()}, not {expected.hex()}")
    return count


def _scale(weight: QuantizedWeight, block: int) -> float:
    if weight.nested_absmax is None or weight.nested_code is None:
        if weight.absmax.dtype == "F32":
            return _float(weight.absmax.read(4 * block, 4))
        return float(codec.from_bytes(weight.absmax.read(2 * block, 2), weight.absmax.dtype)[0])
    byte = weight.absmax.read(block, 1)[0]
    inner = _float(weight.nested_code.read(4 * byte, 4))
    outer = _float(weight.nested_absmax.read(4 * (block // weight.nested_blocksize), 4))
    offset = codec.reference_value(0, 1.0, [weight.nested_offset])
    return codec.reference_value(0, 1.0, [codec.reference_value(0, outer, [inner]) + offset])


def _float(data: bytes) -> float:
    return float(codec.from_bytes(data, "F32")[0])


def _write_index(work: Plan, dst: Path) -> None:
    if work.checkpoint.index is None:
        return
    mapping = {entry.name: shard.file.path.name for shard in work.shards for entry in shard.entries}
    index = {"metadata": {"total_size": work.bytes_out}, "weight_map": dict(sorted(mapping.items()))}
    _write_json(dst / work.checkpoint.index.name, index)


def _write_config(work: Plan, dst: Path) -> None:
    """config.json without its quantization section when the weights are 16-bit now."""
    source = work.checkpoint.root / "config.json"
    if not source.is_file():
        return
    try:
        config = json.loads(source.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{source}: is not JSON ({error})") from error
    if work.options.blocksize is None and isinstance(config, dict):
        config.pop("quantization_config", None)
        name = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}.get(work.options.to)
        for key in ("torch_dtype", "dtype"):
            if name is not None and key in config:
                config[key] = name
    _write_json(dst / "config.json", config)


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
    path = dst if work.checkpoint.index is not None or len(work.shards) > 1 else dst / work.shards[0].file.path.name
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
