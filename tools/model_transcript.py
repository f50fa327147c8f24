#!/usr/bin/env python3
"""Run the four commands of docs/checkpoint.md, from an MLX checkpoint to a LoRA step on the CPU, as they stand there.

    python tools/model_transcript.py            # prints the commands and what they print
    python tools/model_transcript.py FOLDER     # the same, in a folder that is kept

The checkpoint `mlx-4bit` is a small Llama of random weights, packed and written by MLX itself.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "checkpoint.md"
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "float32", "vocab_size": 256,
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 256, "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False, "quantization": {"group_size": 32, "bits": 4},
}  # fmt: skip


def shown() -> str:
    """The page's first transcript: commands and what they print."""
    text = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    return "".join(line[4:] + "\n" for line in text.splitlines() if line.startswith("    "))


def commands() -> list[str]:
    """The commands of that transcript."""
    return re.findall(r"^\$ (rocport model .*)$", shown(), re.MULTILINE)


def checkpoint(folder: Path) -> None:
    """Write `mlx-4bit`, a model as `mlx_lm.convert -q` leaves one."""
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    mx.random.seed(0)
    wide, deep, kv = CONFIG["hidden_size"], CONFIG["intermediate_size"], 32
    shapes = {
        "self_attn.q_proj": (wide, wide), "self_attn.k_proj": (kv, wide), "self_attn.v_proj": (kv, wide),
        "self_attn.o_proj": (wide, wide), "mlp.gate_proj": (deep, wide), "mlp.up_proj": (deep, wide),
        "mlp.down_proj": (wide, deep),
    }  # fmt: skip
    packed = {f"model.layers.{i}.{name}": shape for i in range(2) for name, shape in shapes.items()}
    packed |= {"model.embed_tokens": (CONFIG["vocab_size"], wide), "lm_head": (CONFIG["vocab_size"], wide)}
    norms = ["model.norm", *(f"model.layers.{i}.{n}_layernorm" for i in range(2) for n in ("input", "post_attention"))]
    tensors = {f"{name}.weight": mx.ones((wide,)) for name in norms}
    for name, shape in packed.items():
        parts = mx.quantize(mx.random.normal(shape) * 0.05, group_size=32, bits=4)
        tensors |= dict(zip((f"{name}.weight", f"{name}.scales", f"{name}.biases"), parts, strict=True))
    folder.mkdir(parents=True)
    mx.save_safetensors(str(folder / "model.safetensors"), tensors, metadata={"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        where = Path(sys.argv[1] if len(sys.argv) > 1 else scratch)
        checkpoint(where / "mlx-4bit")
        for command in commands():
            done = subprocess.run(command, shell=True, cwd=where, capture_output=True, text=True)
            print(f"$ {command}\n{done.stdout}", end="", flush=True)
            if done.returncode not in (0, 1):
                sys.exit(f"exit code {done.returncode}\n{done.stderr}")


if __name__ == "__main__":
    main()
