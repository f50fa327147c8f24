"""What ported code asks of the platform: which GPU this is, what is safe on it, and how to fit a kernel to it.

Nothing here needs a GPU to be imported or asked. On NVIDIA every function leaves PyTorch's behaviour as it is.
"""

from rocport.runtime.allocator import AllocatorConflict, allocator_settings, apply_allocator_settings
from rocport.runtime.compiling import CompileDecision, compile, compile_decision, inductor_report
from rocport.runtime.fp8 import Fp8, fp8_dtype, fp8_range
from rocport.runtime.graph import GraphMismatch, graph_capture
from rocport.runtime.kernel_config import ConfigDoesNotFit, KernelConfig, triton_config
from rocport.runtime.machine import Platform, assume, hip_version, is_rocm, platform, target

__all__ = [
    "AllocatorConflict",
    "CompileDecision",
    "ConfigDoesNotFit",
    "Fp8",
    "GraphMismatch",
    "KernelConfig",
    "Platform",
    "allocator_settings",
    "apply_allocator_settings",
    "assume",
    "compile",
    "compile_decision",
    "fp8_dtype",
    "fp8_range",
    "graph_capture",
    "hip_version",
    "inductor_report",
    "is_rocm",
    "platform",
    "target",
    "triton_config",
]
