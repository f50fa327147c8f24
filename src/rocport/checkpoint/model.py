"""What a model is, from its `config.json` and the headers of its safetensors files; no weight is read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocport.checkpoint.errors import CheckpointError
from rocport.checkpoint.gguf import read_gguf
from rocport.checkpoint.gguf_model import CLASSES, config_of
from rocport.checkpoint.memory import Shape
from rocport.checkpoint.quantstate import find_quantized
from rocport.checkpoint.tensorfile import Checkpoint, read_checkpoint

MAX_CONFIG_BYTES = 4_000_000
MAX_NUMBER = 1 << 31
"""No size, count or width of a model reaches this."""
_FLOATS: Mapping[str, str] = {
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}
_GATED = frozenset({"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "gemma", "gemma2"})
"""Decoders whose parameters are counted from the config: attention of q, k, v, o and a gated MLP of three matrices."""
_PLAIN_CACHE = _GATED | {"phi", "phi3", "gpt_neox", "falcon", "stablelm", "starcoder2", "olmo", "olmo2", "granite"}
"""Decoders whose every layer keeps one key and one value a token and head."""


@dataclass(frozen=True)
class Quantization:
    """How the weights are stored. `method`: `bitsandbytes-4bit`, `bitsandbytes-8bit`, `fp8`, `mlx`, or what the config
    says.

    `bits` are those of MLX. `blocksizes` are those found in the files (MLX: its groups), empty when only the config was
    read. `dtype` is the fp8 type.
    """

    method: str
    quant_type: str = ""
    nested: bool | None = None
    compute_dtype: str = ""
    blocksizes: tuple[int, ...] = ()
    dtype: str = ""
    bits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Model:
    """A model as far as it can be read. None and empty: not known.

    `parameters` counts weights, each once whatever its storage; `exact` says that they were counted from the files and
    not from the config. `large` of them are in matrices that quantization replaces. Sizes in bytes.
    """

    path: Path
    model_type: str
    dtype: str
    quantization: Quantization | None
    parameters: int | None
    exact: bool
    large: int | None
    stored_bytes: int | None
    cache_bytes_per_token: int | None
    """Key and value cache of 16-bit values for one token of one sequence."""
    shape: Shape | None = None
    """Sizes for `memory.needed`; None for architectures it does not count."""


def read_model(path: Path) -> Model:
    """A model folder, a `config.json`, a `.gguf`, or a `.safetensors` file (its folder's config is read too).

    Raises CheckpointError when it is none of these or says nothing; OSError when it cannot be read.
    """
    config: dict[str, Any] = {}
    checkpoint: Checkpoint | None = None
    if path.suffix == ".gguf" and path.is_file():
        return _gguf(path)
    if path.is_dir():
        if (path / "config.json").is_file():
            config = read_config(path / "config.json")
        if any(path.glob("*.safetensors")):
            checkpoint = read_checkpoint(path)
        if not config and checkpoint is None:
            raise CheckpointError(f"{path}: holds no config.json and no .safetensors file; expected a model folder")
    elif not path.exists():
        raise CheckpointError(f"{path}: no such file or folder; give a model folder, its config.json or a checkpoint")
    elif path.suffix == ".json":
        config = read_config(path)
    else:
        checkpoint = read_checkpoint(path)
        if (path.parent / "config.json").is_file():
            config = read_config(path.parent / "config.json")
    return _model(path, config, checkpoint)


def read_config(path: Path) -> dict[str, Any]:
    """A config.json. Raises CheckpointError when it is none."""
    if path.stat().st_size > MAX_CONFIG_BYTES:
        raise CheckpointError(f"{path}: {path.stat().st_size} bytes are no model configuration")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: is not JSON ({error})") from error
    if not isinstance(config, dict) or not {"model_type", "architectures", "quantization_config"} & config.keys():
        raise CheckpointError(f"{path}: is no model configuration; expected model_type or architectures in it")
    return config


def _model(path: Path, config: dict[str, Any], checkpoint: Checkpoint | None) -> Model:
    inner = config.get("text_config")
    text: dict[str, Any] = {**config, **inner} if isinstance(inner, dict) else config
    model_type = str(text.get("model_type", ""))
    dtype = str(config.get("torch_dtype") or config.get("dtype") or text.get("torch_dtype") or text.get("dtype") or "")
    dtype = dtype.removeprefix("torch.")
    quantization = _quantization(config, checkpoint)
    if checkpoint and (packed := _mlx_weights(config, checkpoint)):
        said = config.get("quantization")
        mode = str(said.get("mode", "affine")) if isinstance(said, dict) else "affine"
        sizes, bits = ({weight[at] for weight in packed.values()} for at in (1, 2))
        quantization = Quantization("mlx", mode, blocksizes=tuple(sorted(sizes)), bits=tuple(sorted(bits)))
    else:
        packed = {}
    elements = {name: weight[0] for name, weight in packed.items()}
    counted, large, stored = _count(checkpoint, elements) if checkpoint else (None, None, None)
    if checkpoint and not dtype:
        dtype = _main_dtype(checkpoint)
    exact = counted is not None
    if counted is None:
        counted, large = _estimate(text, model_type)
    shape = _shape(text, model_type)
    return Model(path, model_type, dtype, quantization, counted, exact, large, stored, _cache(text, model_type), shape)


def _gguf(path: Path) -> Model:
    """A GGUF file: the type most of its weights are stored in."""
    file = read_gguf(path)
    kinds = Counter[str]()
    for kind, _, elements in file.tensors.values():
        kinds[kind] += elements
    main = kinds.most_common(1)[0][0] if kinds else ""
    large = sum(n for name, (_, size, n) in file.tensors.items() if len(size) > 1 and not name.startswith(_GGUF_KEPT))
    dense = {"F16": "float16", "BF16": "bfloat16", "F32": "float32"}.get(main, "")
    quantization = None if dense else Quantization("gguf", main)
    kind = str(file.metadata.get("general.architecture", ""))
    try:
        said = config_of(file, kind) if kind in CLASSES else {}
    except CheckpointError:
        said = {}
    cache, shape = _cache(said, kind), _shape(said, kind)
    return Model(path, kind, dense, quantization, kinds.total(), True, large, path.stat().st_size, cache, shape)


_GGUF_KEPT = ("token_embd", "output.")


def _quantization(config: dict[str, Any], checkpoint: Checkpoint | None) -> Quantization | None:
    said = config.get("quantization_config")
    said = said if isinstance(said, dict) else {}
    method = str(said.get("quant_method", ""))
    if checkpoint:
        weights = find_quantized(checkpoint.tensors)
        if weights:
            one = next(iter(weights.values()))
            return Quantization(
                "bitsandbytes-4bit",
                one.quant_type,
                any(weight.nested for weight in weights.values()),
                str(said.get("bnb_4bit_compute_dtype", "")),
                tuple(sorted({weight.blocksize for weight in weights.values()})),
            )
    if method == "bitsandbytes" or said.get("load_in_4bit") or said.get("load_in_8bit"):
        if said.get("load_in_8bit") or said.get("_load_in_8bit"):
            return Quantization("bitsandbytes-8bit")
        nested = said.get("bnb_4bit_use_double_quant")
        return Quantization(
            "bitsandbytes-4bit",
            str(said.get("bnb_4bit_quant_type", "")),
            nested if isinstance(nested, bool) else None,
            str(said.get("bnb_4bit_compute_dtype", "")),
        )
    stored = _fp8_dtype(checkpoint)
    if stored or "fp8" in method or (method == "compressed-tensors" and _is_float8(said)):
        return Quantization("fp8", method, dtype=stored)
    mlx = config.get("quantization")
    if not method and isinstance(mlx, dict) and (bits := _number(mlx, "bits")) is not None:
        return Quantization("mlx", str(mlx.get("mode", "affine")), bits=(bits,))
    return Quantization(method) if method else None


def _mlx_weights(config: dict[str, Any], checkpoint: Checkpoint) -> dict[str, tuple[int, int, int]]:
    """MLX's packed weights by name: elements, group size and bits of each. The config says the group size, for all and
    for single modules; the tensors say the rest: a row of `scales` has one value a group, one of `weight` its words.
    """
    said = config.get("quantization")
    if not isinstance(said, dict):
        return {}
    found: dict[str, tuple[int, int, int]] = {}
    for name, tensor in checkpoint.tensors.items():
        module = name.removesuffix(".weight")
        scales = checkpoint.tensors.get(f"{module}.scales")
        if module == name or tensor.dtype not in ("U32", "I32") or scales is None or not tensor.shape:
            continue
        own = said.get(module)
        group = _number(own if isinstance(own, dict) else said, "group_size")
        if group is None or scales.shape[:-1] != tensor.shape[:-1] or not scales.shape[-1]:
            continue
        width = scales.shape[-1] * group
        elements = tensor.elements // tensor.shape[-1] * width if tensor.shape[-1] else 0
        found[name] = (elements, group, tensor.shape[-1] * 32 // width)
    return found


def _is_float8(said: dict[str, Any]) -> bool:
    """True for compressed-tensors whose weights are 8-bit floats."""
    groups = said.get("config_groups")
    weights = [
        group.get("weights")
        for group in (groups.values() if isinstance(groups, dict) else ())
        if isinstance(group, dict)
    ]
    return any(isinstance(w, dict) and w.get("type") == "float" and w.get("num_bits") == 8 for w in weights)


def _fp8_dtype(checkpoint: Checkpoint | None) -> str:
    """The fp8 type of the weights. F8_E8M0 tensors are scales, so they do not count."""
    found = Counter[str]()
    for tensor in checkpoint.tensors.values() if checkpoint else ():
        if tensor.dtype in _FLOATS and tensor.dtype.startswith("F8"):
            found[tensor.dtype] += tensor.elements
    return _FLOATS[found.most_common(1)[0][0]] if found else ""


def _main_dtype(checkpoint: Checkpoint) -> str:
    found = Counter[str]()
    for tensor in checkpoint.tensors.values():
        if tensor.dtype in ("F16", "BF16", "F32"):
            found[tensor.dtype] += tensor.elements
    return _FLOATS[found.most_common(1)[0][0]] if found else ""


def _count(checkpoint: Checkpoint, packed: Mapping[str, int]) -> tuple[int | None, int | None, int]:
    """Weights, those in matrices other than embeddings and the head, and bytes on disk.

    `packed` are the elements of MLX's weights by name. Weights cannot be counted, and are None, where integers are
    packed in a way other than bitsandbytes' and MLX's.
    """
    tensors = checkpoint.tensors
    stored = sum(tensor.nbytes for tensor in tensors.values())
    weights = find_quantized(tensors)
    beside = tuple(f"{name}." for name in weights)
    groups = {f"{name.removesuffix('.weight')}.{part}" for name in packed for part in ("scales", "biases")}
    total = large = 0
    for name, tensor in tensors.items():
        if name in weights:
            total += weights[name].elements
            large += weights[name].elements
        elif name in packed:
            total += packed[name]
            large += 0 if is_kept(name) else packed[name]
        elif name.startswith(beside) or name in groups:
            continue
        elif tensor.dtype in _FLOATS:
            if "scale" in name.rsplit(".", 1)[-1] or name.endswith(".SCB"):
                continue
            total += tensor.elements
            if len(tensor.shape) == 2 and not is_kept(name):
                large += tensor.elements
        elif tensor.dtype == "I8" and len(tensor.shape) == 2:
            total += tensor.elements
            large += tensor.elements
        elif tensor.dtype in ("I32", "U8") and tensor.elements > 1024:
            return None, None, stored
    return total, large, stored


def is_kept(name: str) -> bool:
    """Embeddings and the head, which quantization leaves."""
    return any(part in name for part in ("embed", "lm_head", "wte", "wpe"))


def _number(config: dict[str, Any], *names: str) -> int | None:
    for name in names:
        value = config.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MAX_NUMBER:
            return value
    return None


def _heads(config: dict[str, Any]) -> tuple[int, int, int] | None:
    """Query heads, key heads and values a head; None when the config does not say."""
    heads = _number(config, "num_attention_heads", "n_head")
    hidden = _number(config, "hidden_size", "n_embd")
    if heads is None or hidden is None:
        return None
    return heads, _number(config, "num_key_value_heads") or heads, _number(config, "head_dim") or hidden // heads


def _estimate(config: dict[str, Any], model_type: str) -> tuple[int | None, int | None]:
    """All weights and those in the layers' matrices, from the config; norms and biases are left out (under 0.1 %)."""
    shape = _heads(config)
    layers, hidden = _number(config, "num_hidden_layers"), _number(config, "hidden_size")
    wide, vocabulary = _number(config, "intermediate_size"), _number(config, "vocab_size")
    if model_type not in _GATED or None in (shape, layers, hidden, wide, vocabulary):
        return None, None
    assert shape and layers and hidden and wide and vocabulary
    heads, key_heads, head = shape
    experts = _number(config, "num_local_experts", "num_experts")
    if experts:
        mlp = experts * 3 * hidden * (_number(config, "moe_intermediate_size") or wide) + hidden * experts
        mlp += 3 * hidden * (_number(config, "shared_expert_intermediate_size") or 0)
    else:
        mlp = 3 * hidden * wide
    large = layers * (2 * hidden * heads * head + 2 * hidden * key_heads * head + mlp)
    tied = config.get("tie_word_embeddings", model_type.startswith("gemma"))
    return large + vocabulary * hidden * (1 if tied else 2), large


def _shape(config: dict[str, Any], model_type: str) -> Shape | None:
    shape, hidden = _heads(config), _number(config, "hidden_size")
    layers, vocabulary = _number(config, "num_hidden_layers"), _number(config, "vocab_size")
    wide = _number(config, "moe_intermediate_size", "intermediate_size")
    if model_type not in _GATED or shape is None or None in (hidden, layers, vocabulary, wide):
        return None
    assert hidden and layers and vocabulary and wide
    heads, key_heads, head = shape
    wide *= _number(config, "num_experts_per_tok") or 1
    return Shape(hidden, layers, heads * head, key_heads * head, wide, vocabulary)


def _cache(config: dict[str, Any], model_type: str) -> int | None:
    shape, layers = _heads(config), _number(config, "num_hidden_layers", "n_layer")
    if model_type not in _PLAIN_CACHE or shape is None or layers is None:
        return None
    _, key_heads, head = shape
    return 2 * layers * key_heads * head * 2
