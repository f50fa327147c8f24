"""Layers over the operators, with the state dicts of bitsandbytes and MLX."""

from rocport.ops.modules.affine import QuantizedEmbedding, QuantizedLinear, SwitchLinear
from rocport.ops.modules.bitsandbytes import Linear4bit, Linear8bitLt
from rocport.ops.modules.experts import SwitchExperts

__all__ = ["Linear4bit", "Linear8bitLt", "QuantizedEmbedding", "QuantizedLinear", "SwitchExperts", "SwitchLinear"]
