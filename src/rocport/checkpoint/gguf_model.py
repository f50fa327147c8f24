"""A GGUF file as a checkpoint of transformers: names, sizes and the order of rows that its model classes expect.

llama.cpp stores the rows of q and k of the llama architecture so that neighbours turn together; transformers turns
halves. Names and orders: convert_hf_to_gguf.py and gguf-py/gguf/tensor_mapping.py of
https://github.com/ggml-org/llama.cpp. The tokenizer is not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocport.checkpoint import gguf_blocks
from rocport.checkpoint.errors import CheckpointError
from rocport.checkpoint.gguf import GgufFile, read_gguf
from rocport.checkpoint.stored import Weight
from rocport.checkpoint.tensorfile import Checkpoint, Tensor, TensorFile

if TYPE_CHECKING:
    from rocport.checkpoint.codec import Floats

CLASSES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}
_LAYER = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}  # fmt: skip
_OTHER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_QUERY_BIAS = "blk.0.attn_q.bias"
_IN_A_LAYER = re.compile(r"blk\.(\d+)\.(\w+)\.(weight|bias)")


@dataclass
class GgufWeight(Weight):
    """A tensor of a GGUF file. `heads`: the rows of each are stored in pairs that turn together; 0: as they are."""

    tensor: Tensor
    heads: int

    def __post_init__(self) -> None:
        t = self.tensor
        self.name, self.layout, self.shape, self.parts = t.name, t.dtype, t.shape, (t,)
        self.dtype = {"BF16": "bfloat16", "F32": "float32"}.get(t.dtype, "float16")
        self.unit = 1 if self.heads and len(t.shape) == 1 else t.shape[-1]  # a bias is turned as its matrix's rows are
        self._row = self.unit // gguf_blocks.SIZES[t.dtype][0] * gguf_blocks.SIZES[t.dtype][1]

    def _stored_row(self, row: int) -> int:
        if not self.heads:
            return row
        each = self.elements // self.unit // self.heads
        head, within = divmod(row, each)
        half, pair = divmod(within, each // 2)
        return head * each + 2 * pair + half

    def values(self, begin: int, count: int) -> Floats:
        first, rows = begin // self.unit, -(-count // self.unit)
        if self.heads:
            data = b"".join(
                self.tensor.read(self._stored_row(row) * self._row, self._row) for row in range(first, first + rows)
            )
        else:
            data = self.tensor.read(first * self._row, rows * self._row)
        return gguf_blocks.decode(self.layout, data)[:count]

    def value(self, index: int) -> float:
        count, size = gguf_blocks.SIZES[self.layout]
        row, column = divmod(index, self.unit)
        at = self._stored_row(row) * self._row + column // count * size
        return gguf_blocks.one(self.layout, self.tensor.read(at, size), column % count)


def read_gguf_checkpoint(path: Path) -> Checkpoint:
    """The file as one of transformers' checkpoints.

    Raises CheckpointError for an architecture, a tensor or a type that is not read, one part of a split file, or one
    without a layer's tensors; OSError.
    """
    file = read_gguf(path)
    if isinstance(parts := file.metadata.get("split.count"), int) and parts > 1:
        raise CheckpointError(
            f"{path}: is one part of {parts} (split.count); expected the model in one file. Join the parts with "
            "llama.cpp's `llama-gguf-split --merge FIRST OUTPUT`"
        )
    kind = str(file.metadata.get("general.architecture", ""))
    if kind not in CLASSES:
        raise CheckpointError(f"{path}: architecture {kind!r} is not read from GGUF; expected {', '.join(CLASSES)}")
    config = config_of(file, kind)
    tensors = []
    end = path.stat().st_size
    for name, (form, shape, elements) in file.tensors.items():
        if form not in gguf_blocks.SIZES:
            known = ", ".join(gguf_blocks.SIZES)
            raise CheckpointError(f"{path}: {name} is stored as {form}, which is not decoded; expected {known}")
        count, size = gguf_blocks.SIZES[form]
        start = file.starts[name]
        if not shape or shape[-1] % count or start + elements // count * size > end:
            raise CheckpointError(f"{path}: {name} {shape} in blocks of {count} does not fit; the file is cut short")
        tensors.append(Tensor(_renamed(path, name), form, shape, path, start, start + elements // count * size))
    _expect_every_layer(file, kind, config["num_hidden_layers"])
    return Checkpoint(path.parent, (TensorFile(path, tuple(tensors), {"format": "pt"}),), None, config)


def _expect_every_layer(file: GgufFile, kind: str, layers: float) -> None:
    expected = [f"{what}.weight" for what in _LAYER if what not in ("attn_q_norm", "attn_k_norm")]
    if _QUERY_BIAS in file.tensors:
        biased = ("attn_q", "attn_k", "attn_v") if kind == "qwen2" else ("attn_q", "attn_k", "attn_v", "attn_output")
        expected += [f"{what}.bias" for what in biased]
    layer = 0
    while layer < layers:
        for what in expected:
            if f"blk.{layer}.{what}" not in file.tensors:
                raise CheckpointError(
                    f"{file.path}: holds no blk.{layer}.{what}; expected it in each of {layers} layers (block_count). "
                    "Fetch the whole model in one file, or read it with llama.cpp"
                )
        layer += 1


def _renamed(path: Path, name: str) -> str:
    if match := _IN_A_LAYER.fullmatch(name):
        layer, what, part = match.groups()
        if what in _LAYER:
            return f"model.layers.{layer}.{_LAYER[what]}.{part}"
    module, _, part = name.rpartition(".")
    if module in _OTHER:
        return f"{_OTHER[module]}.{part}"
    raise CheckpointError(f"{path}: tensor {name} has no counterpart in a plain decoder of transformers")


def gguf_weights(checkpoint: Checkpoint) -> dict[str, Weight]:
    """Every matrix, and what else is no float that safetensors has, by name."""
    said = checkpoint.config or {}
    paired = said.get("model_type") == "llama"
    heads = {"q_proj": int(said["num_attention_heads"]), "k_proj": int(said["num_key_value_heads"])}
    found: dict[str, Weight] = {}
    for name, tensor in checkpoint.tensors.items():
        turned = heads.get(name.split(".")[-2], 0) if paired else 0
        if turned and len(tensor.shape) == 1 and tensor.dtype not in ("F32", "F16", "BF16"):
            raise CheckpointError(f"{tensor.path}: {name} is stored as {tensor.dtype}; expected a bias in F32 or F16")
        if turned or len(tensor.shape) > 1 or tensor.dtype not in ("F32", "F16", "BF16"):
            found[name] = GgufWeight(tensor, turned)
    return found


def config_of(file: GgufFile, kind: str) -> dict[str, Any]:
    """config.json from the metadata. Raises CheckpointError where a size is missing."""

    def number(key: str, otherwise: Any = None) -> Any:
        value = file.metadata.get(f"{kind}.{key}", otherwise)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise CheckpointError(f"{file.path}: {kind}.{key} is {value!r}; expected a number")
        return value

    if f"{kind}.rope.scaling.type" in file.metadata and file.metadata[f"{kind}.rope.scaling.type"] != "none":
        raise CheckpointError(f"{file.path}: scaled positions ({kind}.rope.scaling.type) are not read")
    heads, hidden = number("attention.head_count"), number("embedding_length")
    embedding = file.tensors.get("token_embd.weight")
    if embedding is None or heads < 1:
        raise CheckpointError(f"{file.path}: holds no token_embd.weight, or no attention heads")
    return {
        "architectures": [CLASSES[kind]], "model_type": kind, "torch_dtype": "float16", "hidden_size": hidden,
        "intermediate_size": number("feed_forward_length"), "num_hidden_layers": number("block_count"),
        "num_attention_heads": heads, "num_key_value_heads": number("attention.head_count_kv", heads),
        "head_dim": number("attention.key_length", hidden // heads), "vocab_size": embedding[1][0],
        "max_position_embeddings": number("context_length", 2048),
        "rms_norm_eps": number("attention.layer_norm_rms_epsilon", 1e-5),
        "rope_theta": number("rope.freq_base", 10000.0), "tie_word_embeddings": "output.weight" not in file.tensors,
        "attention_bias": _QUERY_BIAS in file.tensors,
    }  # fmt: skip
