"""Operators with one signature and several tiers: a vendor's or a well-kept library, portable Triton, plain eager.

The dispatcher owns layout, heads, masks and contiguity; it picks a tier by platform facts and says why it refused the
others (`rocport ops explain`). `eager` is the specification. Pin a tier per call (`tier="eager"`), per process
(`pinned(sdpa="eager")`) or by the environment (`ROCPORT_OPS_TIER=eager`, `ROCPORT_OPS_TIER=sdpa=eager`).
"""

from rocport.ops.adamw8bit import adamw8bit
from rocport.ops.combine import combine
from rocport.ops.cross_entropy import cross_entropy
from rocport.ops.dequantize import dequantize
from rocport.ops.dispatch import Choice, Operator, Tier, TierRefused, names, operator, pinned
from rocport.ops.formats import Format, QuantTensor
from rocport.ops.gather_qmm import gather_qmm
from rocport.ops.grouped_mm import grouped_mm
from rocport.ops.int8_linear import int8_linear
from rocport.ops.layer_norm import layer_norm
from rocport.ops.quantize import quantize
from rocport.ops.quantized_matmul import quantized_matmul
from rocport.ops.rms_norm import rms_norm
from rocport.ops.rope import rope
from rocport.ops.route import route
from rocport.ops.sdpa import sdpa
from rocport.ops.softmax import softmax
from rocport.ops.swiglu import swiglu

__all__ = [
    "Choice",
    "Format",
    "Operator",
    "QuantTensor",
    "Tier",
    "TierRefused",
    "adamw8bit",
    "combine",
    "cross_entropy",
    "dequantize",
    "gather_qmm",
    "grouped_mm",
    "int8_linear",
    "layer_norm",
    "names",
    "operator",
    "pinned",
    "quantize",
    "quantized_matmul",
    "rms_norm",
    "rope",
    "route",
    "sdpa",
    "softmax",
    "swiglu",
]
