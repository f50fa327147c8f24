"""In a tree for both platforms (`port --layout both`) the extension has to be built from the translations on ROCm.
`csrc/a.cu` stays CUDA's there, and its translation lies beside it as `hip/csrc/a.hip`. `CUDAExtension` is called
through a function of the setup script that takes each source, and each include folder, from the mirror where it has
one. torch's own hipify leaves the translations alone: they carry its mark. Right for sources that are paths; whatever
list, pattern or variable they come from, they pass through the call.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.python.common import PYTHON, call_name, finding
from rocport.rules.python.gate import edited
from rocport.syntax.gating import SETUP_PREDICATE, Gate, is_setup_script
from rocport.syntax.python import PythonSource

_EXTENSION = "torch.utils.cpp_extension.CUDAExtension"
_NAME = "_hip_extension"
_FOLDERS = "_hip_include_dirs"

RULE = Rule(
    name="hip-sources",
    summary="extension built from CUDA sources in a tree for both platforms",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"CUDAExtension"}),
    phase=4,
    holds="torch for ROCm, every release",
    examples=(
        Example(
            "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\next = CUDAExtension('a', ['a.cu'])\n",
            contains=(
                "(_hip_extension(CUDAExtension) if _IS_ROCM else CUDAExtension)('a', ['a.cu'])",
                "_IS_ROCM = torch.version.hip is not None\n",
                "if _IS_ROCM:\n\n    def _hip_twin(path):",
            ),
            path="setup.py",
            options={"layout": "both"},
        ),
    ),
    clean=(
        Example("from torch.utils.cpp_extension import CUDAExtension\n", path="setup.py", options={"layout": "both"}),
        Example("from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('a', ['a.cu'])\n", path="setup.py"),
        Example("CUDAExtension = None\nCUDAExtension('a')\n", path="setup.py", options={"layout": "both"}),
    ),
    sources=("https://github.com/pytorch/pytorch/blob/main/torch/utils/cpp_extension.py",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if context.options.layout != "both" or not is_setup_script(source.path):
        return
    gate = Gate(source)
    uses = [
        node
        for node in source.find(ast.Name, ast.Attribute)
        if isinstance(node.ctx, ast.Load)
        and source.dotted(node) == _EXTENSION
        and not _wrapped(source, node)
        and not isinstance(source.parents.get(node), ast.Compare)
    ]
    if not uses:
        return
    helper = _helper(gate, source, min(uses, key=lambda node: node.lineno), context.options.mirror)
    folders = _setup_folders(gate, source)
    for node in uses:
        item = finding(
            RULE,
            source,
            node,
            f"built from CUDA's sources; on ROCm those of {context.options.mirror}/ have to be compiled",
            fix="map each source to its translation where torch.version.hip is set",
        )
        yield edited(item, gate, (*gate.choice(node, f"{_NAME}({gate.text(node)})"), *folders, helper))


def _wrapped(source: PythonSource, node: ast.AST) -> bool:
    """True for the use inside the wrapper, and for the original beside it."""
    return any(
        isinstance(parent, ast.IfExp) and _NAME in set(source.words(parent)) for parent, _ in source.ancestors(node)
    )


def _setup_folders(gate: Gate, source: PythonSource) -> list[Edit]:
    """`setup(include_dirs=...)` counts for every extension too."""
    found: list[Edit] = []
    for call in source.find(ast.Call):
        if call_name(source, call).rsplit(".", 1)[-1] == "setup":
            for keyword in call.keywords:
                if keyword.arg == "include_dirs" and not source.gated(keyword.value):
                    found += gate.choice(keyword.value, f"{_FOLDERS}({gate.text(keyword.value)})")
    return found


def _helper(gate: Gate, source: PythonSource, use: ast.AST, mirror: str) -> Edit:
    """The function, before the top-level statement of the first use."""
    outermost: ast.AST = use
    for parent, child in source.ancestors(use):
        if parent is source.tree:
            outermost = child
    line = min([item.lineno for item in (outermost, *getattr(outermost, "decorator_list", ()))])
    folder = posixpath.dirname(source.path)
    root = posixpath.relpath(".", folder) if folder else "."
    where = posixpath.normpath(posixpath.join(root, mirror, folder))
    text = _TEXT.format(predicate=SETUP_PREDICATE, name=_NAME, folders=_FOLDERS, where=where).replace(
        "\n", gate.newline
    )
    at = source.starts[line - 1]
    return Edit(Span(at, at), text.encode())


_TEXT = '''\
if {predicate}:

    def _hip_twin(path):
        """Where the HIP translation of a source or folder lies, below {where}; the path itself where there is none."""
        import os

        stem, suffix = os.path.splitext(os.path.relpath(str(path)))
        twin = os.path.join("{where}", stem + (".hip" if suffix == ".cu" else suffix))
        if not os.path.exists(twin):
            return path
        return os.path.abspath(twin) if os.path.isabs(str(path)) else twin

    def {folders}(folders):
        """Include folders, those of the translations first."""
        folders = [str(folder) for folder in folders or []]
        return [_hip_twin(folder) for folder in folders if _hip_twin(folder) != folder] + folders

    def {name}(extension):
        """The extension, built from the translations."""

        def build(name, sources, *args, **kwargs):
            kwargs["include_dirs"] = {folders}(kwargs.get("include_dirs"))
            return extension(name, [_hip_twin(source) for source in sources], *args, **kwargs)

        return build


'''
