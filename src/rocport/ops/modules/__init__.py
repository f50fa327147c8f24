"""Layers over the operators, with the state dicts of bitsandbytes and MLX."""

from rocport.ops.modules.affine import QuantizedEmbedding, QuantizedLinear, SwitchLinear
from rocport.ops.modules.bitsandbytes import Linear4bit, Linear8bitLt

__all__ = ["Linear4bit", "Linear8bitLt", "QuantizedEmbedding", "QuantizedLinear", "SwitchLinear"]
