"""What a name of Python stands for off ROCm: where that is not certain, nothing is folded on it."""

from __future__ import annotations

import ast

import pytest

from rocport.verify.nvidia.asks import asked_by_lines, asked_by_name
from rocport.verify.nvidia.generated import Checked, _static
from rocport.verify.nvidia.model import Kind
from rocport.verify.nvidia.python import Facts, compare

COMPAT = "pkg/_rocm_compat.py"


def resolve(level: int, module: str, name: str) -> str | None:
    dotted = f"{module}.{name}" if module and name else module or name
    return COMPAT if dotted in ("_rocm_compat", "pkg._rocm_compat") else None


FACTS = Facts("pkg/m.py", {COMPAT: {"IS_ROCM": False, "WAVE64": False}}, resolve, requires=(3, 8))
HEAD = "from pkg import _rocm_compat\n"
GATE = "x = (1 if _R else 2)"
LOOKED = '__import__("importlib.util").util.find_spec("torch") is not None'


def differences(ported: str, original: str) -> list[str]:
    found = compare(f"{HEAD}{ported}\n".encode(), f"{original}\n".encode(), FACTS).differences
    return [item.message for item in found if item.kind is not Kind.REVIEW]


@pytest.mark.parametrize(
    ("ported", "original"),
    [
        (f"_R = _rocm_compat.IS_ROCM\n{GATE}", "x = 2"),
        (f"from pkg._rocm_compat import IS_ROCM as _R\n{GATE}", "x = 2"),
        ("from torch.utils.cpp_extension import IS_HIP_EXTENSION as _R\n" + GATE,
         "from torch.utils.cpp_extension import IS_HIP_EXTENSION as _R\nx = 2"),
        ("if not _rocm_compat.IS_ROCM and not _rocm_compat.WAVE64:\n    f()", "f()"),
        ("if _rocm_compat.IS_ROCM or _rocm_compat.WAVE64:\n    g()\nelse:\n    f()", "f()"),
        ("class C(A, k=(1 if _rocm_compat.IS_ROCM else 2)):\n    pass", "class C(A, k=2):\n    pass"),
        ("def f():\n    return (1 if _R else 2)\n_R = _rocm_compat.IS_ROCM", "def f():\n    return 2"),
        ("def f():\n    def g():\n        return (1 if _R else 2)\n    return g\n_R = _rocm_compat.IS_ROCM",
         "def f():\n    def g():\n        return 2\n    return g"),
        ("import torch\nx = (1 if torch.version.hip is not None else 2)", "import torch\nx = 2"),
        ("import torch\nx = (1 if getattr(torch.version, 'hip', None) else 2)", "import torch\nx = 2"),
        ("import torch\nx = (1 if bool(torch.version.hip) else 2)", "import torch\nx = 2"),
        ("import torch\nx = (1 if torch.version.hip != None else 2)", "import torch\nx = 2"),
        ("def f():\n    return (1 if _R else 2)\nimport torch\n_R = bool(torch.version.hip)",
         "def f():\n    return 2\nimport torch"),
        ("f()\ndef g():\n    return (1 if _R else 2)\n_R = _rocm_compat.IS_ROCM", "f()\ndef g():\n    return 2"),
        ("x = a and _rocm_compat.IS_ROCM and b", "x = a and False"),
        ("x = a or not _rocm_compat.IS_ROCM or b", "x = a or True"),
        ("x = a and not _rocm_compat.IS_ROCM", "x = a and True"),
        ("x = not _rocm_compat.IS_ROCM and a", "x = a"),
        ("if a and not _rocm_compat.IS_ROCM:\n    f()", "if a:\n    f()"),
        ("match a:\n    case 1 if not _rocm_compat.IS_ROCM:\n        f()", "match a:\n    case 1:\n        f()"),
        ("while a and not _rocm_compat.IS_ROCM:\n    f()", "while a:\n    f()"),
        ("while _rocm_compat.IS_ROCM:\n    g()\nelse:\n    f()", "f()"),
        ("assert not _rocm_compat.IS_ROCM, 'x'\nf()", "f()"),
        ("x = [b for b in c if not _rocm_compat.IS_ROCM]", "x = [b for b in c]"),
        # A value, of which more than the truth is asked.
        ("x = [a and not _rocm_compat.IS_ROCM for b in c]", "x = [a and True for b in c]"),
        ("x = {a and not _rocm_compat.IS_ROCM: b or _rocm_compat.IS_ROCM for b in c}",
         "x = {a and True: b or False for b in c}"),
        ("x = [b for b in (c and not _rocm_compat.IS_ROCM)]", "x = [b for b in (c and True)]"),
        ("x = lambda: a and not _rocm_compat.IS_ROCM", "x = lambda: a and True"),
        ("x = lambda a=(1 if _rocm_compat.IS_ROCM else 2): (3 if _rocm_compat.IS_ROCM else a)", "x = lambda a=2: a"),
        ("def f(*, a: (1 if _rocm_compat.IS_ROCM else 2) = (3 if _rocm_compat.IS_ROCM else 4)): pass",
         "def f(*, a: 2 = 4): pass"),
        ("try:\n    f()\nexcept E:\n    pass\nfinally:\n    if _rocm_compat.IS_ROCM:\n        g()",
         "try:\n    f()\nexcept E:\n    pass"),
        ("if _rocm_compat.IS_ROCM:\n    g()  # type: a\nf()", "f()"),
        ("if _rocm_compat.IS_ROCM:\n    g()  # type: a\n    g()\n    g()  # type: b\nf()", "f()"),
        ("if _rocm_compat.IS_ROCM:\n    @g  # type: a\n    def h():\n        pass\nf()", "f()"),
    ],
)  # fmt: skip
def test_what_is_certain_is_folded(ported: str, original: str) -> None:
    assert differences(ported, original) == []


@pytest.mark.parametrize(
    ("ported", "original"),
    [
        (f"_R = _rocm_compat.IS_ROCM\n_R = _rocm_compat.IS_ROCM\n{GATE}", "x = 2"),
        (f"_R = _rocm_compat.IS_ROCM\n_R = not _rocm_compat.IS_ROCM\n{GATE}", "x = 2"),
        (f"if a:\n    _R = _rocm_compat.IS_ROCM\n{GATE}", "if a:\n    pass\nx = 2"),
        (f"{GATE}\n_R = _rocm_compat.IS_ROCM", "x = 2"),
        ("def f():\n    return (1 if _R else 2)\nf()\n_R = _rocm_compat.IS_ROCM", "def f():\n    return 2\nf()"),
        ("def f(a=(1 if _R else 2)):\n    pass\n_R = _rocm_compat.IS_ROCM", "def f(a=2):\n    pass"),
        ("@g(1 if _R else 2)\ndef f():\n    pass\n_R = _rocm_compat.IS_ROCM", "@g(2)\ndef f():\n    pass"),
        ("def f() -> (1 if _R else 2):\n    pass\n_R = _rocm_compat.IS_ROCM", "def f() -> 2:\n    pass"),
        ("class A:\n    x = (1 if _R else 2)\n_R = _rocm_compat.IS_ROCM", "class A:\n    x = 2"),
        (f"class A:\n    _R = _rocm_compat.IS_ROCM\n{GATE}", "class A:\n    pass\nx = 2"),
        (f"from pkg._rocm_compat import IS_NEW as _R\n{GATE}", "x = 2"),
        ("from torch.utils.cpp_extension import IS_CUDA as _R\n" + GATE,
         "from torch.utils.cpp_extension import IS_CUDA as _R\nx = 2"),
        ("x = (1 if torch.version.hip else 2)", "x = 2"),
        ("import torch\nx = (1 if torch.version.cuda else 2)", "import torch\nx = 2"),
        ("import torch\ntorch.version.hip = 1\nx = (1 if torch.version.hip else 2)",
         "import torch\ntorch.version.hip = 1\nx = 2"),
        ("import torch\nx = (1 if getattr(torch.version, 'hip', '6') else 2)", "import torch\nx = 2"),
        ("import torch\nx = (1 if getattr(torch.version, 'hip') else 2)", "import torch\nx = 2"),
        ("import torch\nx = (1 if getattr(torch.version, 'cuda', None) else 2)", "import torch\nx = 2"),
        ("x = (1 if bool(0) else 2)", "x = 2"),
        ("x = (1 if bool(a) else 2)", "x = 2"),
        ("import torch\nx = (1 if len(torch.version.hip) else 2)", "import torch\nx = 2"),
        ("import torch\nx = (1 if torch.version.hip < '6' else 2)", "import torch\nx = 2"),
        ("def f():\n    return (1 if _R else 2)\nf(); _R = _rocm_compat.IS_ROCM", "def f():\n    return 2\nf()"),
        ("if a:\n    def f():\n        return (1 if _R else 2)\n    f()\n_R = _rocm_compat.IS_ROCM",
         "if a:\n    def f():\n        return 2\n    f()"),
        ("def f(a=g()): return (1 if _R else 2)\n_R = _rocm_compat.IS_ROCM", "def f(a=g()): return 2"),
        (f"{LOOKED} and __import__('torch').version.hip is not None\nx = (1 if __import__('torch').version.hip else 2)",
         f"{LOOKED} and __import__('torch').version.hip is not None\nx = 2"),
        (f"x = (1 if {LOOKED} and a and __import__('torch').version.hip is not None else 2)", "x = 2"),
        ("def f(z):\n    class A:\n        if _rocm_compat.IS_ROCM:\n            a = z = 1\n        print(a, z)",
         "def f(z):\n    class A:\n        print(a, z)"),
        ("x = a and _rocm_compat.IS_ROCM and b", "x = a and b"),
        ("x = a or not _rocm_compat.IS_ROCM", "x = a"),
        ("x = 1  # type: a\nif _rocm_compat.IS_ROCM:\n    g()", "x = 1"),
        ("if _rocm_compat.IS_ROCM:\n    g()\nf()  # type: a", "f()"),
        ("def bool(a): return 1\nimport torch\nx = (1 if bool(torch.version.hip) else 2)",
         "def bool(a): return 1\nimport torch\nx = 2"),
        ("match a:\n    case {**_rocm_compat}:\n        x = (1 if _rocm_compat.IS_ROCM else 2)",
         "match a:\n    case {**_rocm_compat}:\n        x = 2"),
        ("[_rocm_compat := b for b in c]\nx = (1 if _rocm_compat.IS_ROCM else 2)",
         "[_rocm_compat := b for b in c]\nx = 2"),
        ("import inspect\nprint(inspect.currentframe().f_lineno)\nif _rocm_compat.IS_ROCM:\n    g()",
         "import inspect\nprint(inspect.currentframe().f_lineno)"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_not(ported: str, original: str) -> None:
    assert differences(ported, original)


@pytest.mark.parametrize(
    ("line", "imports"),
    [
        ("import torch.nn", True),
        ("import numpy, torch", True),
        ("from torch import nn", True),
        ("from torch.nn import a", True),
        ("from .torch import nn", False),
        ("from . import torch", False),
        ("from numpy import torch", False),
        ("import numpy", False),
    ],
)
def test_a_module_that_imports_torch_by_itself_imports_no_more_for_its_gate(line: str, imports: bool) -> None:
    gate = f"x = (1 if {LOOKED} and __import__('torch').version.hip is not None else 2)"
    found = compare(f"{line}\n{gate}\n".encode(), f"{line}\nx = 2\n".encode(), FACTS).differences
    assert [(item.kind, item.line) for item in found] == ([] if imports else [(Kind.REVIEW, 2)])


def test_differences_of_a_file_are_counted_where_there_are_many() -> None:
    ported, original = ("".join(f"x{number} = {number + more}\n" for number in range(30)) for more in (1, 2))
    found = compare(ported.encode(), original.encode(), FACTS).differences
    assert [item.line for item in found] == [*range(1, 21), 0]
    assert found[-1].message == "and 10 more differences in this file"
    ported, original = ("\n".join(text.split("\n")[:20]) for text in (ported, original))
    assert len(compare(ported.encode(), original.encode(), FACTS).differences) == 20


SAFE = """\
'''A module.'''
import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

try:
    import importlib
except ImportError:
    pass


class A:
    '''A class.'''

    x: int = 1


@functools.lru_cache(maxsize=None)
def f(a: int = 1, *, b: str = 'x') -> int:
    return print(a)


X, Y = 1, frozenset(('a',))
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SAFE, ""),
        ("...\n", ""),
        ("1\n3\n", "without a meaning"),
        ("'''x'''\n'''y'''\n", ""),
        ("class A(f()):\n    pass\n", "calls `f()`"),
        ("@g\nclass A:\n    pass\n", "decorates with `g`"),
        ("class A:\n    x = f()\n", "calls `f()`"),
        ("class A:\n    f()\n", "runs `f()`"),
        ("class A:\n    3\n    4\n", "without a meaning"),
        ("if f():\n    pass\n", "calls `f()`"),
        ("if X:\n    f()\n", "runs `f()`"),
        ("if X:\n    pass\nelse:\n    f()\n", "runs `f()`"),
        ("try:\n    f()\nexcept OSError:\n    pass\n", "runs `f()`"),
        ("try:\n    pass\nexcept OSError:\n    f()\n", "runs `f()`"),
        ("try:\n    pass\nexcept OSError:\n    pass\nelse:\n    f()\n", "runs `f()`"),
        ("try:\n    pass\nfinally:\n    f()\n", "runs `f()`"),
        ("a.b = 1\n", "not a name of its own"),
        ("a['b'] = 1\n", "not a name of its own"),
        ("a.b: int = 1\n", "not a name of its own"),
        ("x: int = f()\n", "calls `f()`"),
        ("x = [f() for i in y]\n", "calls `f()`"),
        ("x = (y := 1)\n", "evaluates `(y := 1)`"),
        ("@g\ndef f():\n    pass\n", "decorates with `g`"),
        ("@g.h(1)\ndef f():\n    pass\n", "decorates with `g.h(1)`"),
        ("def f(a=g()):\n    pass\n", "calls `g()`"),
        ("def f(*, a=g()):\n    pass\n", "calls `g()`"),
        ("def f(a: g()):\n    pass\n", "calls `g()`"),
        ("from . import x\n", "from its own package"),
        ("import torch\n", "imports `torch`"),
        ("from numpy.x import y\n", "imports `numpy.x`"),
        ("del x\n", "runs `del x`"),
        ("for x in y:\n    pass\n", "runs `for x in y:"),
    ],
)
def test_what_the_text_of_a_generated_module_may_do(text: str, said: str) -> None:
    checked = Checked("_rocm_compat.py")
    _static(checked, ast.parse(text))
    assert [said in item.message for item in checked.differences] == [True] * bool(said), checked.differences


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import torch\nX = torch.version.hip is not None", None),
        ("import torch\nY = torch.version.hip\nX = bool(Y)", None),
        ("try:\n    import torch\n    X = torch.version.hip is not None\nexcept ImportError:\n    X = False", None),
        ("import sys\nX = sys.modules.get('torch') is not None", None),
        ("import sys\nX = 'torch' in sys.modules", None),
        ("import sys\nX = sys.modules['torch'].version.hip", None),
        ("import sys\nX = 'amdsmi' in sys.modules", "sys.modules"),
        ("import sys\nX = sys.modules.get('amdsmi') is not None", "sys.modules"),
        ("import sys\nX = len(sys.modules) > 100", "sys.modules"),
        ("import sys\nM = sys.modules\nX = 'amdsmi' in M", "sys.modules"),
        ("import sys\nX = any(name.startswith('amd') for name in sys.modules)", "sys.modules"),
        ("import os\nif 'A' in os.environ:\n    X = True\nelse:\n    X = False", "os.environ"),
        ("import os\nif True:\n    if 'A' in os.environ:\n        X = True", "os.environ"),
        ("try:\n    X = f()\nexcept OSError:\n    X = False", "f"),
        ("try:\n    pass\nexcept OSError:\n    X = g()", "g"),
        ("try:\n    pass\nfinally:\n    X = h()", "h"),
        ("X = Y\nY = Z\nZ = time()", "time"),
        ("X: bool = time()", "time"),
        ("X = (Y := 1)", ":="),
    ],
)
def test_what_a_name_of_a_module_asks(text: str, what: str | None) -> None:
    found = asked_by_name(ast.parse(text), "X")
    assert (found is None) is (what is None), found
    assert what is None or (found is not None and what in found[1])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("return torch.version.hip is not None", None),
        ("return importlib.util.find_spec('torch') is not None", None),
        ("return importlib.util.find_spec('hip') is not None", "find_spec"),
        ("return __import__('hip')", "__import__"),
        ("return getattr(torch, 'version')", None),
        ("return getattr(torch, 'cuda')", "getattr"),
        ("return torch.cuda.is_available()", "cuda"),
        ("return open('/etc/os-release').read()", "open"),
        ("return re.search('hip = None', text)", "text"),
        ("return re.search('cuda', 'hip')", "re.search"),
        ("return torch.join(a)", "torch.join"),
        ("global a", "global a"),
        ("import socket", "socket"),
        ("import torch", None),
        ("from torch import version", None),
        ("match sys.argv:\n        case _:\n            pass", "sys.argv"),
        ("match 1:\n        case 1 if b:\n            pass", "`b`"),
        ("while clock:\n        pass", "clock"),
        ("for a in files:\n        pass", "files"),
        ("with lock:\n        pass", "lock"),
        ("try:\n        pass\n    except missing:\n        pass", "missing"),
    ],
)
def test_what_the_lines_of_a_function_ask(line: str, what: str | None) -> None:
    tree = ast.parse(f"import importlib.util, re, sys, torch\n\n\ndef f():\n    {line}\n")
    found = asked_by_lines(tree, range(5, 10))
    assert (found is None) is (what is None), found
    assert what is None or (found is not None and what in found[1])
    assert asked_by_lines(tree, []) is None
