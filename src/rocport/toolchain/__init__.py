"""Finds, or assembles, a HIP compiler."""

from rocport.toolchain.compiler import Toolchain, ToolchainError
from rocport.toolchain.find import find

__all__ = ["Toolchain", "ToolchainError", "find"]
