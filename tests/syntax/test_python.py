"""Which Python stands behind a platform test."""

from __future__ import annotations

import ast

import pytest

from rocport.syntax.python import PythonSource


def _gated(text: str) -> bool:
    """Whether the call of `place()` is gated."""
    source = PythonSource("m.py", text.encode())
    (place,) = [node for node in source.find(ast.Call) if isinstance(node.func, ast.Name) and node.func.id == "place"]
    return source.gated(place)


@pytest.mark.parametrize(
    "text",
    [
        "if torch.version.hip:\n    pass\nelse:\n    place()\n",
        "if is_rocm:\n    place()\n",
        "def f():\n    if is_rocm:\n        return\n    place()\n",
        "x = 1 if is_hip() else place()\n",
        "ok = place() or torch.version.hip is not None\n",
        "BACKEND = 'hip' if torch.version.hip else 'cuda'\nif BACKEND == 'cuda':\n    place()\n",
        "if SYSTEM == 'cuda':\n    place()\nelif SYSTEM == 'rocm':\n    pass\n",
        "if SYSTEM == 'rocm':\n    a()\nif SYSTEM == 'cuda':\n    place()\n",
        "if SYSTEM in {'cuda', 'rocm'}:\n    pass\nelse:\n    place()\n",
        "def build_rocm():\n    place()\n",
        "if torch.version.cuda is not None:\n    place()\n",
    ],
)
def test_a_place_behind_a_platform_test(text: str) -> None:
    assert _gated("import torch\n" + text)


@pytest.mark.parametrize(
    "text",
    [
        "place()\n",
        "if torch.cuda.is_available():\n    place()\n",
        "if SYSTEM == 'cuda':\n    place()\n",
        "if SYSTEM in {'cuda', 'rocm'}:\n    place()\n",
        "if is_cuda() or is_hip():\n    place()\n",
        "if torch.version.cuda is None:\n    place()\n",
        "if is_chip:\n    place()\n",
    ],
)
def test_a_place_both_platforms_reach(text: str) -> None:
    assert not _gated("import torch\n" + text)


def test_a_table_that_holds_a_value_is_not_the_value() -> None:
    text = b"import torch\nv = torch.version.cuda\ntable = {'v': torch.version.cuda}\nf = lambda: torch.version.cuda\n"
    assert PythonSource("m.py", text).bound_to(frozenset({"torch.version.cuda"})) == {"v"}
