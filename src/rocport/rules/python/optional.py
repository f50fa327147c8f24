"""Imports that may be missing on ROCm, bound there to what the generated module finds or puts in their place."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from rocport.model import Edit
from rocport.syntax.gating import Gate

ATTENTION = frozenset({"flash_attn_func", "flash_attn_varlen_func"})
"""flash_attn's functions that the generated module computes by other means where the package is missing."""
_ATTENTION_MODULES = frozenset({"flash_attn", "flash_attn.flash_attn_interface"})


def import_gate(gate: Gate, node: ast.Import | ast.ImportFrom) -> tuple[Gate, tuple[Edit, ...]]:
    """The gate and the edits that give an import statement a ROCm side; no edits where its names cannot be told."""
    bound: list[str] = []
    values: list[str] = []
    uses: set[str] = set()
    for alias in node.names:
        if alias.name == "*" or (isinstance(node, ast.Import) and "." in alias.name and not alias.asname):
            return gate, ()
        bound.append(alias.asname or alias.name)
        if isinstance(node, ast.Import):
            values.append(f'_rocm_compat.optional("{alias.name}")')
            uses.add("optional")
        elif node.module in _ATTENTION_MODULES and alias.name in ATTENTION:
            values.append(f"_rocm_compat.{alias.name}")
            uses.add(alias.name)
        else:
            values.append(f'_rocm_compat.optional("{node.module}", "{alias.name}")')
            uses.add("optional")
    if isinstance(node, ast.ImportFrom) and uses == {"optional"} and len(bound) > 1:
        names = ", ".join(f'"{alias.name}"' for alias in node.names)
        values = [f'_rocm_compat.optional("{node.module}", {names})']
    using = Gate(gate.source, uses=frozenset(uses))
    return using, using.either(node, f"{', '.join(bound)} = {', '.join(values)}")


def bound_instead(gate: Gate, node: ast.Import | ast.ImportFrom, values: Mapping[str, str]) -> tuple[Edit, ...]:
    """The edits that bind, on ROCm, each name the statement imports to an expression; none where one has none."""
    pairs = [(alias.asname or alias.name, values.get(alias.name, "")) for alias in node.names]
    if not all(value and name.isidentifier() for name, value in pairs):
        return ()
    return gate.either(node, f"{', '.join(name for name, _ in pairs)} = {', '.join(value for _, value in pairs)}")
