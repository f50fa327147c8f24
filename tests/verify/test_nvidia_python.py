"""Python: what folds to the original, and what only looks as if it did."""

from __future__ import annotations

import ast
import importlib
import inspect
import symtable
from pathlib import Path

import pytest

from rocport.verify.nvidia.model import Kind
from rocport.verify.nvidia.python import Facts, compare
from rocport.verify.nvidia.python_scopes import FUNCTIONS, Scopes

COMPAT = "pkg/_rocm_compat.py"


def resolve(level: int, module: str, name: str) -> str | None:
    dotted = f"{module}.{name}" if module and name else module or name
    return COMPAT if dotted in ("_rocm_compat", "pkg._rocm_compat") else None


FACTS = Facts("pkg/m.py", {COMPAT: {"IS_ROCM": False, "WAVE64": False, "IS_CUDA": True}}, resolve)
HEAD = "from pkg import _rocm_compat\n"


def differences(ported: str | bytes, original: str | bytes) -> list[str]:
    new = ported.encode() if isinstance(ported, str) else ported
    old = original.encode() if isinstance(original, str) else original
    return [item.message for item in compare(new, old, FACTS).differences if item.kind is not Kind.REVIEW]


@pytest.mark.parametrize(
    ("ported", "original"),
    [
        ("x = (1 if _rocm_compat.IS_ROCM else 2)", "x = 2"),
        ("x = (2 if not _rocm_compat.WAVE64 else 1)", "x = 2"),
        ("x = (2 if _rocm_compat.IS_CUDA else 1)", "x = 2"),
        ("if a and not _rocm_compat.IS_ROCM:\n    f()", "if a:\n    f()"),
        ("if not _rocm_compat.IS_ROCM and a:\n    f()", "if a:\n    f()"),
        ("if _rocm_compat.IS_ROCM or a:\n    f()", "if a:\n    f()"),
        ("if a or _rocm_compat.IS_ROCM:\n    f()", "if a:\n    f()"),
        ("if a and not (_rocm_compat.IS_ROCM and b):\n    f()", "if a:\n    f()"),
        ("if _rocm_compat.IS_ROCM and b:\n    g()\nelif a:\n    f()", "if a:\n    f()"),
        ("if _rocm_compat.IS_ROCM:\n    g()\nelse:\n    f()\n    h()", "f()\nh()"),
        ("f()\nif _rocm_compat.IS_ROCM:\n    g()", "f()"),
        ("while a and not _rocm_compat.IS_ROCM:\n    f()", "while a:\n    f()"),
        ("while _rocm_compat.IS_ROCM:\n    f()\nelse:\n    g()", "g()"),
        ("assert not _rocm_compat.IS_ROCM, 'no'\nf()", "f()"),
        ("x = [i for i in y if not _rocm_compat.IS_ROCM]", "x = [i for i in y]"),
        ("x = [i for i in y if i and not _rocm_compat.IS_ROCM]", "x = [i for i in y if i]"),
        ("f(a, *((b,) if _rocm_compat.IS_ROCM else c), d=(1 if _rocm_compat.IS_ROCM else 2))", "f(a, *c, d=2)"),
        ("x = f'{(1 if _rocm_compat.IS_ROCM else n):>{w}}'", "x = f'{n:>{w}}'"),
        ("def f(n=(1 if _rocm_compat.IS_ROCM else 2)):\n    return n", "def f(n=2):\n    return n"),
        ("@(g if _rocm_compat.IS_ROCM else h)\ndef f(): pass", "@h\ndef f(): pass"),
        ("class C:\n    n = (1 if _rocm_compat.IS_ROCM else 2)", "class C:\n    n = 2"),
        ("x = lambda: (1 if _rocm_compat.IS_ROCM else 2)", "x = lambda: 2"),
        ("x = ('' if _rocm_compat.IS_ROCM else 'a' 'b')\ny = x + 'c'", "x = 'a' 'b'\ny = x + 'c'"),
        ("x = (True if _rocm_compat.IS_ROCM else False)\nif x:\n    f()", "x = False\nif x:\n    f()"),
        ("def f():\n    if _rocm_compat.IS_ROCM:\n        own = 1\n    return 2", "def f():\n    return 2"),
        ("match a:\n    case 1 if not _rocm_compat.IS_ROCM:\n        f()", "match a:\n    case 1:\n        f()"),
        (
            "try:\n    f()\nexcept E:\n    if _rocm_compat.IS_ROCM:\n        g()\n    h()",
            "try:\n    f()\nexcept E:\n    h()",
        ),
    ],
)
def test_the_forms_of_a_gate_fold_to_the_original(ported: str, original: str) -> None:
    assert differences(f"{HEAD}{ported}\n", f"{original}\n") == []


@pytest.mark.parametrize(
    ("ported", "original"),
    [
        # The value of `and` is not its truth.
        ("x = a and not _rocm_compat.IS_ROCM", "x = a"),
        ("x = a or _rocm_compat.IS_ROCM", "x = a"),
        # What stands before the gate is evaluated.
        ("f()\nif g() and _rocm_compat.IS_ROCM:\n    h()", "f()"),
        ("f()\nif a and _rocm_compat.IS_ROCM:\n    h()", "f()"),
        ("f()\n_rocm_compat.IS_ROCM", "f()"),
        ("x = {True: 1, False: 2}[_rocm_compat.IS_ROCM]", "x = 2"),
        ("x = f'{(1 if _rocm_compat.IS_ROCM else n)=}'", "x = f'{n=}'"),
        ("if _rocm_compat.IS_ROCM is not None:\n    g()\nelse:\n    f()", "f()"),
        ("if _rocm_compat.IS_NEW:\n    g()\nelse:\n    f()", "f()"),
        ("if _rocm_compat:\n    g()\nelse:\n    f()", "f()"),
        ("_rocm_compat.IS_ROCM = True\nx = (1 if _rocm_compat.IS_ROCM else 2)", "x = 2"),
        ("def f(_rocm_compat):\n    return (1 if _rocm_compat.IS_ROCM else 2)", "def f(_rocm_compat):\n    return 2"),
        ("x = [(1 if _rocm_compat.IS_ROCM else 2) for _rocm_compat in y]", "x = [2 for _rocm_compat in y]"),
        ("x = lambda _rocm_compat: (1 if _rocm_compat.IS_ROCM else 2)", "x = lambda _rocm_compat: 2"),
        # Scopes: a block that never runs still binds.
        ("def f():\n    if _rocm_compat.IS_ROCM:\n        import g\n    return g", "def f():\n    return g"),
        (
            "def f():\n    if _rocm_compat.IS_ROCM:\n        g = 1\n    return lambda: g",
            "def f():\n    return lambda: g",
        ),
        ("def f():\n    if _rocm_compat.IS_ROCM:\n        yield\n    return 2", "def f():\n    return 2"),
        ("async def f():\n    if _rocm_compat.IS_ROCM:\n        yield\n    g()", "async def f():\n    g()"),
        ("def f():\n    if _rocm_compat.IS_ROCM:\n        global n\n    n = 2", "def f():\n    n = 2"),
        (
            "def f():\n    n = 1\n\n    def g():\n        if _rocm_compat.IS_ROCM:\n"
            "            nonlocal n\n        n = 2",
            "def f():\n    n = 1\n\n    def g():\n        n = 2",
        ),
        ("def f():\n    return (g if (n := _rocm_compat.IS_ROCM) else n)", "def f():\n    return n"),
        (
            "def f():\n    x = ((n := 1) if _rocm_compat.IS_ROCM else 2)\n    return n",
            "def f():\n    x = 2\n    return n",
        ),
        ("if _rocm_compat.IS_ROCM:\n    n: int = 1\nf()", "f()"),
        (
            "async def f():\n    return (i for i in y if ((await g()) if _rocm_compat.IS_ROCM else i))",
            "async def f():\n    return (i for i in y if i)",
        ),
        ("def f():\n    return lambda: ((yield) if _rocm_compat.IS_ROCM else 2)", "def f():\n    return lambda: 2"),
        # A docstring is the first statement or none.
        (
            "def f():\n    if _rocm_compat.IS_ROCM:\n        g()\n    'text'\n    return 2",
            "def f():\n    'text'\n    return 2",
        ),
        ("class C:\n    if not _rocm_compat.IS_ROCM:\n        'text'\n    n = 2", "class C:\n    'text'\n    n = 2"),
        # Compilers of kernels read the source.
        (
            "@triton.jit\ndef k(x):\n    return (1 if _rocm_compat.IS_ROCM else x)",
            "@triton.jit\ndef k(x):\n    return x",
        ),
        (
            "def k(x):\n    return (1 if _rocm_compat.IS_ROCM else x)\nj = torch.jit.script(k)",
            "def k(x):\n    return x\nj = torch.jit.script(k)",
        ),
        # The same words, other meaning.
        ("x = 1.0", "x = 1"),
        ("x = True", "x = 1"),
        ("x = b'a'", "x = 'a'"),
        ("x = 'a  b'", "x = 'a b'"),
        ("x = f(a, b=1)", "x = f(a, 1)"),
        ("x = -0.0", "x = 0.0"),
        ("def f(): # type: () -> int\n    pass", "def f():\n    pass"),
        ("import torch\nx = 2", "x = 2"),
        ("from m import *\nx = 2", "x = 2"),
        ("def f(a, /, b): pass", "def f(a, b): pass"),
        ("async def f(): pass", "def f(): pass"),
    ],
)
def test_what_reaches_nvidia_does_not_fold(ported: str, original: str) -> None:
    assert differences(f"{HEAD}{ported}\n", f"{original}\n")


SETUP = "import torch\n{}from setuptools import setup\nsetup({})\n"


@pytest.mark.parametrize(
    "binding",
    [
        "torch.version.hip is not None",
        "torch.version.hip",
        "bool(torch.version.hip)",
        "not torch.version.hip is None",
        "getattr(torch.version, 'hip', None) is not None",
        "__import__('torch').version.hip is not None",
        "__import__('importlib.util').util.find_spec('torch') is not None"
        " and __import__('torch').version.hip is not None",
    ],
)
def test_a_predicate_may_be_bound_once_in_the_file(binding: str) -> None:
    ported = SETUP.format(f"_IS_ROCM = {binding}\n", "(1 if _IS_ROCM else 2)")
    assert differences(ported, SETUP.format("", "2")) == []


@pytest.mark.parametrize(
    "binding",
    [
        "torch.version.cuda is None",
        "torch.version.hip is None",
        "f() and torch.version.hip is not None",
        "__import__('os').environ.get('X') is not None and torch.version.hip is not None",
        "True",
        "torch.version.hip is not None\nif a:\n    _IS_ROCM = True",
        "torch.version.hip is not None\ndef f():\n    global _IS_ROCM\n    _IS_ROCM = True",
        "torch.version.hip is not None\nclass C:\n    def f(self):\n        global _IS_ROCM\n        _IS_ROCM += 1",
        "torch.version.hip is not None\nfor _IS_ROCM in x: pass",
        "torch.version.hip is not None\ndel _IS_ROCM",
        "torch.version.hip is not None\n_IS_ROCM |= True",
        "torch.version.hip is not None\nimport _IS_ROCM",
        "torch.version.hip is not None\nprint(_IS_ROCM := 1)",
        "torch.version.hip is not None\ntorch.version.hip = '6'",
        "torch.version.hip is not None\ntorch = None",
        "_OTHER = torch.version.hip is not None",
    ],
)
def test_a_predicate_that_may_hold_something_else_is_none(binding: str) -> None:
    ported = SETUP.format(f"_IS_ROCM = {binding}\n", "(1 if _IS_ROCM else 2)")
    assert differences(ported, SETUP.format("", "2"))


def test_torch_that_may_be_missing_is_not_asked() -> None:
    original = "try:\n    import torch\nexcept ImportError:\n    torch = None\nx = 2\n"
    ported = original.replace("x = 2", "x = (1 if torch.version.hip else 2)")
    assert differences(ported, original)
    assert differences(
        "_IS_ROCM = __import__('torch').version.hip is not None\nx = (1 if _IS_ROCM else 2)\n", "x = 2\n"
    )


def test_a_guarded_import_of_torch_is_named_for_review() -> None:
    guard = "__import__('importlib.util').util.find_spec('torch') is not None"
    ported = f"_IS_ROCM = {guard} and __import__('torch').version.hip is not None\nx = (1 if _IS_ROCM else 2)\n"
    found = compare(ported.encode(), b"x = 2\n", FACTS).differences
    assert [item.kind for item in found] == [Kind.REVIEW]
    assert "imports torch" in found[0].message


def test_a_function_above_the_binding_is_folded_unless_it_may_be_called_before() -> None:
    original = "def f():\n    return 2\n{}import torch\nx = f()\n"
    ported = original.replace("return 2", "return (1 if _IS_ROCM else 2)")
    ported = ported.replace("import torch\n", "import torch\n_IS_ROCM = torch.version.hip is not None\n")
    assert differences(ported.format(""), original.format("")) == []
    assert differences(ported.format("y = f()\n"), original.format("y = f()\n"))


def test_a_public_name_is_a_change_of_the_module() -> None:
    ported = "import torch\nIS_ROCM = torch.version.hip is not None\nx = (1 if IS_ROCM else 2)\n"
    assert differences(ported, "import torch\nx = 2\n")
    listed = ported + "__all__ = ['x']\n"
    assert differences(listed, "import torch\nx = 2\n__all__ = ['x']\n") == []


def test_predicates_the_original_has_are_folded_on_both_sides() -> None:
    original = "import torch\nIS_HIP = torch.version.hip is not None\nif IS_HIP:\n    f()\nelse:\n    g()\n"
    assert differences(original.replace("f()", "h()"), original) == []
    assert differences(original.replace("g()", "h()"), original)


def test_lines_are_those_of_both_files() -> None:
    found = compare(b"import gc\nx = 1\ny = 3\n", b"x = 1\ny = 2\n", FACTS).differences
    assert [(item.line, item.original_line) for item in found] == [(1, 1), (3, 2)]


def test_what_cannot_be_read_is_said() -> None:
    assert compare(b"def (\n", b"x = 1\n", FACTS).differences[0].kind is Kind.DIFFERENCE
    assert compare(b"x = 2\n", b"print 'two'\n", FACTS).differences[0].kind is Kind.UNKNOWN
    late = b"import os\nfrom __future__ import annotations\n"
    assert compare(late, b"from __future__ import annotations\nimport os\n", FACTS).differences


@pytest.mark.parametrize(
    "ported", [b"# -*- coding: latin-1 -*-\nx = 2\n", b"\xef\xbb\xbfx = 2\n", b"#!/bin/sh\nx = 2\n"]
)
def test_the_head_of_a_file_counts(ported: bytes) -> None:
    assert differences(ported, b"x = 2\n")


@pytest.mark.parametrize(
    "name", ["argparse", "ast", "asyncio.tasks", "dataclasses", "inspect", "typing", "unittest.mock"]
)
def test_scopes_are_those_of_the_compiler(name: str) -> None:
    source = Path(inspect.getfile(importlib.import_module(name))).read_text(encoding="utf-8")
    tree = ast.parse(source)
    scopes = Scopes(tree)
    tables: dict[tuple[str, int], symtable.SymbolTable] = {}
    todo = [symtable.symtable(source, name, "exec")]
    while todo:
        table = todo.pop()
        if table.get_type() == "function":
            tables[table.get_name(), table.get_lineno()] = table
        todo += table.get_children()
    for node in ast.walk(tree):
        if not isinstance(node, FUNCTIONS):
            continue
        scope, table = scopes.of(node), tables[node.name, node.lineno]
        for symbol in table.get_symbols():
            if symbol.get_name().startswith("_") or symbol.get_name() == "__class__":
                continue
            owner = scope.resolve(symbol.get_name())
            if symbol.is_free():
                assert owner not in (None, scope, scopes.module), (node.name, symbol)
            elif symbol.is_local():
                assert owner is scope, (node.name, symbol)
            else:
                assert owner in (None, scopes.module), (node.name, symbol)
