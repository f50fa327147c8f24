# SPDX-License-Identifier: Apache-2.0
"""Run AMD machine code on the CPU: code objects from clang and Triton, instruction by instruction, wave by wave.

docs/isa.md describes the engine; native/engine.h is its boundary to the runtime library.
"""

from rocport.executor.isa.launch import KernelError, Launch, Module, launch, load
from rocport.executor.isa.library import EngineError
from rocport.executor.isa.tables import TablesError

__all__ = ["EngineError", "KernelError", "Launch", "Module", "TablesError", "launch", "load"]
