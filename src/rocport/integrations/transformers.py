"""Models of transformers with rocport's layers.

    from rocport.integrations.transformers import RocportConfig, load

    model = load("folder")  # whatever stands there: bitsandbytes, MLX, fp8, mxfp4, GPTQ, AWQ, dense
    model = AutoModelForCausalLM.from_pretrained("dense", quantization_config=RocportConfig("nf4b64"))

Weights of bitsandbytes and MLX are held as they are stored, in `rocport.ops.modules`; others are decoded, and packed
again where a form is asked for; so are the experts of a mixture. Both ways give a model with our norm, gated activation
and rotary embedding, where they compute what the model's own do (`rocport.integrations.fused`); `fused=False` leaves
the model's own. Importing this module makes "rocport" a quantization method of transformers. A model whose layers are
bitsandbytes' saves as a bitsandbytes checkpoint; one with packed experts is not saved, adapters of it are.
"""

from __future__ import annotations

import logging
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig, PreTrainedModel
from transformers.core_model_loading import ConversionOps
from transformers.quantizers import HfQuantizer, register_quantization_config, register_quantizer
from transformers.utils.quantization_config import QuantizationConfigMixin

from rocport.checkpoint import CheckpointError
from rocport.checkpoint.gguf import read_gguf
from rocport.checkpoint.gguf_model import CLASSES, gguf_weights, read_gguf_checkpoint
from rocport.checkpoint.model import is_kept, read_config
from rocport.checkpoint.stored import Blocks, Int8, Stack, Weight, Words, apart, find_weights, stacked
from rocport.checkpoint.tensorfile import Checkpoint, Tensor, read_checkpoint
from rocport.integrations.experts import empty_experts, experts_of, fits, pack_experts
from rocport.integrations.fused import fuse
from rocport.ops.formats import Format
from rocport.ops.modules import (
    Linear4bit,
    Linear8bitLt,
    QuantizedEmbedding,
    QuantizedLinear,
    SwitchExperts,
    SwitchLinear,
)

_log = logging.getLogger(__name__)


@register_quantization_config("rocport")
class RocportConfig(QuantizationConfigMixin):
    """How `from_pretrained` packs a dense checkpoint: `form` as in `rocport.ops.quantize` (`nf4b64`, `affine4g64`, ...)
    or `int8`; `nested` for bitsandbytes' 4-bit forms; `skip`: names (or ends of names) of modules that stay dense,
    beside embeddings and the head. The experts of a mixture are packed too, except in int8, their scales not nested.
    `fused` puts our norm, activation and rotary embedding in: in 16 bits logits differ by about what another rounding
    of theirs does (0.03 of a Llama's, relative, as for a dense model), in fp32 by less than 1e-4."""

    def __init__(
        self, form: str = "nf4b64", nested: bool = True, skip: tuple[str, ...] = (), fused: bool = True, **kwargs: Any
    ) -> None:
        self.quant_method = "rocport"
        self.form, self.nested, self.skip, self.fused = form, nested, tuple(skip), fused
        self.compute_dtype = "bfloat16"
        if form != "int8" and Format.parse(form).kind == "dynamic8":
            raise ValueError(f"{form}: no layer holds it; expected nf4b64, fp4b64, affine4g64, mxfp4, ... or int8")

    def to_dict(self) -> dict[str, Any]:
        """As config.json has it: a bitsandbytes section where the layers are bitsandbytes'."""
        if self.form == "int8":
            return {"quant_method": "bitsandbytes", "load_in_8bit": True, "load_in_4bit": False}
        fmt = Format.parse(self.form)
        if not fmt.flat:
            return {"quant_method": "rocport", "form": self.form, "skip": list(self.skip)}
        return {
            "quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False,
            "bnb_4bit_quant_type": fmt.kind, "bnb_4bit_use_double_quant": self.nested,
            "bnb_4bit_compute_dtype": self.compute_dtype, "bnb_4bit_quant_storage": "uint8",
            "llm_int8_skip_modules": [*self.skip, "lm_head"],
        }  # fmt: skip


def packed_linear(linear: torch.nn.Linear, config: RocportConfig) -> torch.nn.Module:
    """A dense layer in the form of `config`."""
    if config.form == "int8":
        return Linear8bitLt.from_linear(linear)
    fmt = Format.parse(config.form)
    if fmt.flat:
        return Linear4bit.from_linear(linear, fmt.kind, fmt.group, config.nested)
    return QuantizedLinear.from_linear(linear, config.form)


def takes(name: str, module: torch.nn.Module, config: RocportConfig) -> bool:
    """Whether a module is packed."""
    if type(module) is not torch.nn.Linear or is_kept(name) or name.endswith(config.skip or ("\0",)):
        return False
    fmt = None if config.form == "int8" else Format.parse(config.form)
    return fmt is None or fmt.flat or module.in_features % fmt.group == 0


class _Pack(ConversionOps):
    """Packs one dense weight as it is read, and puts the layer into the model."""

    def __init__(self, quantizer: RocportQuantizer) -> None:
        self.quantizer = quantizer

    def convert(
        self, input_dict: dict[str, Any], model: Any = None, missing_keys: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        for name, value in input_dict.items():
            value = value[0] if isinstance(value, list) else value
            path = name.removesuffix(".weight")
            self.quantizer.packed[path] = value
            if missing_keys is not None:
                missing_keys.discard(name)
        return {}


@register_quantizer("rocport")
class RocportQuantizer(HfQuantizer):
    """transformers' hooks: dense weights are packed one by one as they are read."""

    requires_calibration = False

    def __init__(self, quantization_config: RocportConfig, **kwargs: Any) -> None:
        super().__init__(quantization_config, **kwargs)
        self.packed: dict[str, torch.Tensor] = {}
        self.serializable = True
        if self.pre_quantized:
            raise ValueError("this checkpoint was saved with rocport's layers: rocport.integrations.transformers.load")

    def update_dtype(self, dtype: torch.dtype) -> torch.dtype:
        self.quantization_config.compute_dtype = str(dtype).removeprefix("torch.")
        return dtype

    def param_needs_quantization(self, model: Any, param_name: str, **kwargs: Any) -> bool:
        path = param_name.removesuffix(".weight")
        return path != param_name and takes(path, model.get_submodule(path), self.quantization_config)

    def get_quantize_ops(self) -> _Pack:
        return _Pack(self)

    def _process_model_after_weight_loading(self, model: Any, **kwargs: Any) -> Any:
        for path in list(self.packed):
            linear = model.get_submodule(path)
            linear.weight = torch.nn.Parameter(self.packed.pop(path), requires_grad=False)
            _place(model, path, packed_linear(linear, self.quantization_config))
        _finish(model, self.quantization_config)
        self.serializable = not _holds_experts(model)
        return model

    def is_serializable(self, *args: Any, **kwargs: Any) -> bool:
        return self.serializable

    @property
    def is_trainable(self) -> bool:
        return True

    @property
    def is_compileable(self) -> bool:
        return True


def _finish(model: Any, config: RocportConfig) -> None:
    """Packs experts and fuses, as `config` says."""
    if config.form != "int8":
        for name in pack_experts(model, config.form, config.fused, config.skip):
            _log.warning(
                "%s: its experts stay dense: skipped, rows that groups of %s do not fit, or they compute something "
                "else (a clamp, other shapes)", name, config.form,
            )  # fmt: skip
    if config.fused:
        _fuse(model)
    _not_saved(model)


def _fuse(model: Any) -> None:
    """Puts ours in, and tells experts that were packed before."""
    for module in model.modules():
        if isinstance(module, SwitchExperts):
            module.fused = True
    fuse(model)


def _holds_experts(model: torch.nn.Module) -> bool:
    return any(isinstance(module, SwitchExperts) for module in model.modules())


def _not_saved(model: Any) -> None:
    """No checkpoint of transformers holds packed experts: saving says so, instead of writing what nothing reads."""
    if _holds_experts(model):
        model.save_pretrained = types.MethodType(_save_adapters, model)


def _save_adapters(self: Any, *args: Any, **kwargs: Any) -> Any:
    if getattr(self, "_hf_peft_config_loaded", False):
        return type(self).save_pretrained(self, *args, **kwargs)
    raise RuntimeError(
        "no checkpoint of transformers holds packed experts. Adapters are saved alone, by PeftModel.save_pretrained, "
        "and put on the model when it is loaded again, by PeftModel.from_pretrained; for packed weights convert the "
        "checkpoint itself (rocport model convert SRC DST --to nf4b64): rocport.integrations.transformers.load reads it"
    )


def _place(model: torch.nn.Module, path: str, module: torch.nn.Module) -> None:
    parent, _, name = path.rpartition(".")
    setattr(model.get_submodule(parent), name, module)


class _Lazy:
    """A tensor that is read when transformers takes it: dense ones as they are stored, others decoded."""

    def __init__(self, source: Source, dtype: str) -> None:
        self.source, self.dtype = source, dtype

    def get_dtype(self) -> str:
        return self.dtype

    def get_shape(self) -> list[int]:
        return list(self.source.shape)

    def __getitem__(self, _: Any) -> torch.Tensor:
        return _read(self.source)


@dataclass(frozen=True)
class _Bytes:
    """What `SwitchLinear` holds of a stack of bitsandbytes' blocks: the codes, or else the scales, no longer nested."""

    stack: Stack
    codes: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return self.stack.shape

    def read(self) -> torch.Tensor:
        import numpy as np

        each = [one for one in self.stack.each if isinstance(one, Blocks)]
        parts: list[Any]
        if self.codes:
            parts = [np.frombuffer(bytearray(one.weight.packed.read()), np.uint8) for one in each]
        else:
            parts = [one.scales() for one in each]
        return torch.from_numpy(np.stack(parts)).view(*self.stack.shape[:-1], -1)


Source = Tensor | Weight | _Bytes


def _read(source: Source) -> torch.Tensor:
    if isinstance(source, _Bytes):
        return source.read()
    if isinstance(source, Weight):
        values = torch.from_numpy(source.values(0, source.elements)).view(source.shape)
        source.release()
        return values
    import numpy as np

    if source.dtype == "BF16":
        raw = torch.from_numpy(np.frombuffer(bytearray(source.read()), np.int16))
        return raw.view(torch.bfloat16).view(source.shape)
    kind = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "U32": "<i4", "I32": "<i4", "I64": "<i8", "U8": "u1", "I8": "i1"}
    if source.dtype not in kind:
        raise CheckpointError(f"{source.path}: {source.name} is {source.dtype}, which no layer takes")
    return torch.from_numpy(np.frombuffer(bytearray(source.read()), kind[source.dtype])).view(source.shape)


def load(
    path: str | Path,
    device: str | torch.device = "cpu",
    dtype: torch.dtype | None = None,
    form: str = "",
    fused: bool = True,
    **kwargs: Any,
) -> PreTrainedModel:
    """The causal language model in the folder `path` on `device`, whatever its weights are stored as.

    `dtype` is that of dense weights and of the computation, by default what config.json says, or bfloat16 for a
    `.gguf` file. `form` packs what is dense or decoded, as RocportConfig does; without it, it stays dense. Layers that
    are held as they are stored keep that form, with a warning. `fused` puts our norm, activation and rotary embedding
    in, those of packed experts too. `kwargs` go to `from_pretrained`. A `.gguf` file of an
    architecture that `rocport.checkpoint.gguf_model` does not name is decoded by transformers. Raises CheckpointError
    for a folder that is no model or whose weights are stored in a way that is not read; ValueError for another form.
    """
    path = Path(path)
    model = _from_gguf(path, dtype, kwargs) if path.suffix == ".gguf" else _from_folder(path, dtype, kwargs)
    if form:
        config = RocportConfig(form, fused=fused)
        kept = Counter(stored for module in model.modules() if (stored := _stored_form(module)) not in ("", form))
        for stored, count in sorted(kept.items()):
            _log.warning(
                "%s: %d modules stay in %s, as they are stored: %s is for the others", path, count, stored, form
            )
        for name, module in list(model.named_modules()):
            if takes(name, module, config):
                _place(model, name, packed_linear(module, config))
        if not kept:
            model.config.quantization_config = config
        _finish(model, config)
    elif fused:
        _fuse(model)
    _not_saved(model)
    return model.to(device).eval()


def _stored_form(module: torch.nn.Module) -> str:
    """The form a layer of ours is in, or none."""
    if isinstance(module, Linear8bitLt):
        return "int8"
    ours = Linear4bit, QuantizedEmbedding, QuantizedLinear, SwitchLinear
    return module.format.name if isinstance(module, ours) else ""


def _from_gguf(path: Path, dtype: torch.dtype | None, kwargs: dict[str, Any]) -> PreTrainedModel:
    if read_gguf(path).metadata.get("general.architecture") in CLASSES:
        checkpoint = read_gguf_checkpoint(path)
        said = dict(checkpoint.config or {})
        return _from_checkpoint(path, checkpoint, said, gguf_weights(checkpoint), dtype or torch.bfloat16, kwargs)
    return AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=dtype or torch.bfloat16, **kwargs
    )


def _from_folder(path: Path, dtype: torch.dtype | None, kwargs: dict[str, Any]) -> PreTrainedModel:
    said = read_config(path / "config.json") if (path / "config.json").is_file() else {}
    if not said:
        raise CheckpointError(f"{path}: holds no config.json; expected a model folder")
    checkpoint = read_checkpoint(path)
    return _from_checkpoint(path, checkpoint, said, find_weights(checkpoint.tensors, said), dtype, kwargs)


def _from_checkpoint(
    path: Path,
    checkpoint: Checkpoint,
    said: dict[str, Any],
    weights: dict[str, Weight],
    dtype: torch.dtype | None,
    kwargs: dict[str, Any],
) -> PreTrainedModel:
    """The model that config.json, or what stands for it, describes, with these weights."""
    config = AutoConfig.for_model(
        said.get("model_type"), **{k: v for k, v in said.items() if k not in ("model_type", "quantization")}
    )
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    dtype = dtype or (config.dtype if isinstance(config.dtype, torch.dtype) else torch.bfloat16)
    with torch.device("meta"):
        skeleton = AutoModelForCausalLM.from_config(config, dtype=dtype)
    held = dict(_layers(skeleton, weights, dtype))
    taken = {f"{name}.weight" for name in held}
    for name, module, parts, names in _experts(skeleton, weights, dtype):
        held[name] = module, parts
        taken |= names
    state = dict(_dense_state(checkpoint, weights, held, taken))
    # The layers that are held are no matter of transformers' loader: it sees modules without parameters in their place.
    model = _without(type(skeleton), config, held, state, dtype, kwargs)
    for name, (module, parts) in held.items():
        module.load_state_dict({key: _read(tensor) for key, tensor in parts.items()})
        _place(model, name, module)
    _retie(model)
    if held:
        counts = Counter(type(module).__name__ for module, _ in held.values())
        _log.info("%s: %s", path, ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    if (path / "generation_config.json").is_file():
        model.generation_config = GenerationConfig.from_pretrained(path)
    model.config.name_or_path = str(path)
    _say_packed(model, held)
    return model


def _say_packed(model: PreTrainedModel, held: dict[str, Any]) -> None:
    """What config.json is to say when the model is saved."""
    four = [module for module, _ in held.values() if isinstance(module, Linear4bit)]
    if four:
        one = four[0]
        said = RocportConfig(one.format.name, one.nested_absmax is not None)
        said.compute_dtype = str(model.dtype).removeprefix("torch.")
        model.config.quantization_config = said
    elif any(isinstance(module, Linear8bitLt) for module, _ in held.values()):
        model.config.quantization_config = RocportConfig("int8")


Held = tuple[torch.nn.Module, dict[str, Source]]


def _layers(skeleton: torch.nn.Module, weights: dict[str, Weight], dtype: torch.dtype) -> Iterator[tuple[str, Held]]:
    """Our layer for each weight that one of them holds as it is stored, by the module's name, and its tensors."""
    modules = dict(skeleton.named_modules())
    for name, weight in weights.items():
        path = name.removesuffix(".weight")
        module = modules.get(path)
        if module is None:
            continue
        bias = getattr(module, "bias", None) is not None
        if isinstance(module, torch.nn.Embedding) and isinstance(weight, Words) and len(weight.shape) == 2:
            into, out = weight.shape[1], weight.shape[0]
            yield path, (QuantizedEmbedding(out, into, weight.layout, dtype), _parts(path, weight))
        elif not isinstance(module, torch.nn.Linear) or weight.shape != (module.out_features, module.in_features):
            continue
        elif isinstance(weight, Blocks):
            w = weight.weight
            layer: torch.nn.Module = Linear4bit(
                weight.shape[1], weight.shape[0], False, w.quant_type, w.blocksize, w.nested, dtype
            )  # fmt: skip
            yield path, _with_bias(path, layer, weight, bias, dtype)
        elif isinstance(weight, Int8):
            layer = Linear8bitLt(weight.shape[1], weight.shape[0], False, dtype=dtype)
            yield path, _with_bias(path, layer, weight, bias, dtype)
        elif isinstance(weight, Words):
            layer = QuantizedLinear(weight.shape[1], weight.shape[0], False, weight.layout, dtype)
            yield path, _with_bias(path, layer, weight, bias, dtype)


_PROJECTIONS = ("gate_proj", "up_proj", "down_proj")


def _experts(
    skeleton: torch.nn.Module, weights: dict[str, Weight], dtype: torch.dtype
) -> Iterator[tuple[str, torch.nn.Module, dict[str, Source], set[str]]]:
    """Ours for the experts that are stored packed: the module's name, ours, its tensors and the weights they stand for.

    A checkpoint and transformers may call what holds the experts differently (block_sparse_moe, mlp): one a layer.
    """
    stacks: dict[str, dict[str, Weight]] = {}
    for name, weight in stacked(weights).items():
        module, marked, part = name.removesuffix(".weight").rpartition(".switch_mlp.")
        if marked:
            stacks.setdefault(module.rpartition(".")[0], {})[part] = weight
    if not stacks:
        return
    for path, module in experts_of(skeleton):
        found = stacks.get(path.rpartition(".")[0].rpartition(".")[0], {})
        one = found.get("gate_proj")
        if one is None or set(found) != set(_PROJECTIONS) or len({each.layout for each in found.values()}) != 1:
            continue
        # Layouts that no layer of experts holds (fp8, LLM.int8, GPTQ, AWQ) are no names of a Format.
        if not all(isinstance(each, Words) or _blocks(each) for each in found.values()) or not fits(module, one.layout):
            continue
        parts: dict[str, Source] = {}
        names: set[str] = set()
        for part, weight in found.items():
            if isinstance(weight, Stack):
                parts |= {f"{part}.weight": _Bytes(weight, True), f"{part}.scales": _Bytes(weight, False)}
                names |= {each.name for each in weight.each}
            else:
                base = weight.name.removesuffix(f"{part}.weight")
                parts |= {tensor.name.removeprefix(base): tensor for tensor in weight.parts}
                names.add(weight.name)
        yield path, empty_experts(module, one.layout, dtype, False), parts, names


def _blocks(weight: Weight) -> bool:
    return isinstance(weight, Stack) and all(isinstance(one, Blocks) for one in weight.each)


def _with_bias(path: str, layer: torch.nn.Module, weight: Weight, bias: bool, dtype: torch.dtype) -> Held:
    if bias:
        layer.bias = torch.nn.Parameter(torch.zeros(weight.shape[0], dtype=dtype))
    return layer, _parts(path, weight)


def _parts(path: str, weight: Weight) -> dict[str, Source]:
    """The tensors of a layer by their names in it. A bias is among the dense tensors: `_dense_state` adds it."""
    return {part.name.removeprefix(f"{path}."): part for part in weight.parts}


def _dense_state(
    checkpoint: Checkpoint, weights: dict[str, Weight], held: dict[str, Held], taken: set[str]
) -> Iterator[tuple[str, _Lazy]]:
    """What transformers loads: dense tensors, and decoded ones of modules that are none of ours."""
    stored = {part.name for weight in weights.values() for part in weight.parts}
    for name, tensor in checkpoint.tensors.items():
        path, _, last = name.rpartition(".")
        if path in held and last == "bias" and name not in stored:
            held[path][1]["bias"] = tensor
        elif name not in stored:
            yield name, _Lazy(tensor, tensor.dtype)
    for name, weight in apart({name: weight for name, weight in weights.items() if name not in taken}).items():
        yield name, _Lazy(weight, "F32")


class _Empty(torch.nn.Module):
    """Stands where one of our layers will."""


def _without(
    cls: Any, config: Any, held: dict[str, Held], state: dict[str, _Lazy], dtype: torch.dtype, kwargs: dict[str, Any]
) -> PreTrainedModel:
    """The model with nothing where `held` modules are."""
    ties: dict[str, str] = {}

    class Without(cls):
        def __init__(self, config: Any, *args: Any, **more: Any) -> None:
            super().__init__(config, *args, **more)
            for name, module in list(self.named_modules()):
                tied = held and module is self.get_output_embeddings() and _ties(config)
                if name in held or tied:
                    _place(self, name, _Empty())
                if tied:
                    me: Any = self
                    ties.update(me.all_tied_weights_keys)
                    me.all_tied_weights_keys = {}

        def tie_weights(self, *args: Any, **more: Any) -> None:
            if not held:
                super().tie_weights(*args, **more)

    Without.__name__, Without.__qualname__ = cls.__name__, cls.__qualname__
    model = Without.from_pretrained(None, config=config, state_dict=state, dtype=dtype, **kwargs)
    model.__class__ = cls
    model.all_tied_weights_keys.update(ties)
    return model


def _retie(model: PreTrainedModel) -> None:
    """A head that shares the embedding's weight, as config.json says."""
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
    if not isinstance(head, _Empty):
        return
    if isinstance(embedding, QuantizedEmbedding):
        linear: torch.nn.Module = embedding.as_linear()
        model.all_tied_weights_keys.clear()
    else:
        rows, width = embedding.weight.shape
        linear = torch.nn.Linear(width, rows, False, torch.device("meta"), embedding.weight.dtype)
        linear.weight = embedding.weight
    model.set_output_embeddings(linear)


def _ties(config: Any) -> bool:
    """The head shares the embedding's weight."""
    return bool(getattr(config.get_text_config(), "tie_word_embeddings", False))
