"""The list a build script writes for CUDA, as ROCm needs it: flags, libraries and requirements in one pass.

Several rules point into the same list; each asks here, so that all of them make the same edit.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from rocport.model import Applicability, Edit
from rocport.rules.build.nvcc import hip_flags, hip_library
from rocport.rules.deps.cuda_requirement import requirement_name, trouble
from rocport.rules.python.common import text_of
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_CUTLASS = re.compile(r"(?:^|/)(?:cutlass|cute)(?:/|$)")
_TOOLKIT = re.compile(r"/usr/local/cuda(?:-[\d.]+)?(?:/targets/[\w-]+)?(?=/|$)")
_LIST = (ast.List, ast.Tuple)


def list_of(source: PythonSource, node: ast.AST) -> ast.List | ast.Tuple | None:
    """The list literal one of whose elements is, or holds, an expression."""
    for parent, child in source.ancestors(node):
        if isinstance(parent, _LIST) and isinstance(parent.ctx, ast.Load) and child in parent.elts:
            # `arg in ["--threads", ...]` asks about flags and passes none.
            return None if isinstance(source.parents.get(parent), ast.Compare) else parent
        if isinstance(parent, (ast.stmt, ast.List, ast.Tuple, ast.Dict, ast.comprehension, ast.Starred)):
            return None
    return None


def list_edits(gate: Gate, node: ast.List | ast.Tuple) -> tuple[tuple[Edit, ...], Applicability] | None:
    """The edits that give ROCm its own list; None where nothing changes or a flag's value stands elsewhere."""
    elements = node.elts
    flags = hip_flags([_word(element) for element in elements])
    if flags is None:
        return None
    kept: list[str] = []
    changed = False
    applicability = Applicability.SAFE
    for element, flag in zip(elements, flags, strict=True):
        new = _element(gate, node, element, flag)
        if new is None:
            kept.append(gate.text(element))
            continue
        changed = True
        if new or flag is None:
            applicability = Applicability.REVIEW
        kept += [text for text in new if text not in kept]
    return (gate.choice(node, _written(gate, node, kept)), applicability) if changed else None


def rocm_folder(text: str) -> str:
    """The folder below /opt/rocm for one of the CUDA toolkit; empty for other text."""
    match = _TOOLKIT.match(text)
    return "/opt/rocm" + text[match.end() :].replace("lib64", "lib") if match else ""


def string_edits(gate: Gate, node: ast.Constant) -> tuple[Edit, ...]:
    """Edits of one string that holds a flag, several flags or a library; empty where it has no form for ROCm."""
    text = text_of(node)
    words = text.split()
    flags = hip_flags(words)
    if flags is None or not words:
        return ()
    new: list[str] = []
    for word, flag in zip(words, flags, strict=True):
        library = hip_library(word) if flag is None and word.startswith("-l") else None
        new += [word] if flag is None and library is None else [*(flag or ()), *([library] if library else [])]
    # One word that becomes none or three is no line of flags: it is appended, compared or formatted somewhere.
    if new == words or (len(words) == 1 and len(new) != 1 and text == text.strip()):
        return ()
    lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return gate.choice(node, _quoted(gate, node, f"{lead}{' '.join(new)}{trail}"))


def _word(element: ast.expr) -> str:
    if isinstance(element, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in element.values)
    return text_of(element) or "{}"


def _element(
    gate: Gate, node: ast.List | ast.Tuple, element: ast.expr, flag: tuple[str, ...] | None
) -> list[str] | None:
    """Texts that stand for an element; None keeps it."""
    if flag is not None:
        return [_quoted(gate, element, text) for text in flag]
    word = _word(element)
    if isinstance(element, ast.Constant) and isinstance(element.value, str):
        if " " in word:
            parts = hip_flags(word.split())
            if parts and any(part is not None for part in parts):
                new = [
                    text
                    for old, part in zip(word.split(), parts, strict=True)
                    for text in ([old] if part is None else part)
                ]
                return [_quoted(gate, element, " ".join(new))] if new else []
        library = hip_library(word) if word.startswith("-l") or named(gate.source, node, "librar") else None
        if library is not None:
            return [_quoted(gate, element, library)] if library else []
        folder = rocm_folder(word)
        if folder:
            return [_quoted(gate, element, folder)]
        name = requirement_name(word) if named(gate.source, node, "require", "dep") else ""
        if name and trouble(name):
            return []
    if named(gate.source, node, "include") and any(_CUTLASS.search(text_of(inner)) for inner in ast.walk(element)):
        return []
    return None


def named(source: PythonSource, node: ast.AST, *words: str) -> bool:
    """True when a list is passed as, or bound to, a name that holds one of the words."""
    for parent, _ in source.ancestors(node):
        names: Sequence[str] = ()
        if isinstance(parent, ast.keyword):
            names = (parent.arg or "",)
        elif isinstance(parent, ast.Assign):
            names = [word for target in parent.targets for word in source.words(target)]
        elif isinstance(parent, (ast.AugAssign, ast.AnnAssign)):
            names = list(source.words(parent.target))
        elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
            names = list(source.words(parent.func))
        elif isinstance(parent, ast.Dict):
            names = [
                text_of(key) for key, value in zip(parent.keys, parent.values, strict=True) if key and value is node
            ]
        if any(word in name.lower() for name in names for word in words):
            return True
        if isinstance(parent, ast.stmt):
            return False
    return False


def _quoted(gate: Gate, element: ast.expr, text: str) -> str:
    quote = "'" if gate.text(element).lstrip("rbfRBF").startswith("'") else '"'
    return f"{quote}{text}{quote}"


def _written(gate: Gate, node: ast.List | ast.Tuple, kept: list[str]) -> str:
    """The list in the layout of the original: an element a line where that one has it."""
    opening, closing = ("[", "]") if isinstance(node, ast.List) else ("(", ")")
    lines = {element.lineno for element in node.elts}
    inline = opening + ", ".join(kept) + ("," if len(kept) == 1 and opening == "(" else "") + closing
    if len(lines) == 1 or len(inline) < 60:
        return inline
    source = gate.source
    column = min(element.col_offset for element in node.elts if element.lineno != node.lineno)
    pad = " " * column
    close = source.data[source.starts[(node.end_lineno or node.lineno) - 1] :]
    end = pad if not close.lstrip(b" ").startswith(b"]") else " " * (len(close) - len(close.lstrip(b" ")))
    rows = "".join(f"{pad}{text},{gate.newline}" for text in kept)
    return f"{opening}{gate.newline}{rows}{end}{closing}"
