"""Edits that put Python behind the platform test: what they read like, and that they fold back to the original."""

from __future__ import annotations

import ast

import pytest

from rocport.model import Edit
from rocport.port.edits import replaced
from rocport.port.folding import misfit
from rocport.syntax.gating import Gate, binding, is_setup_script
from rocport.syntax.python import PythonSource


def gated(text: str | bytes, make: object, path: str = "setup.py") -> str:
    data = text.encode() if isinstance(text, str) else text
    source = PythonSource(path, data)
    gate = Gate(source)
    edits = make(source, gate)  # type: ignore[operator]
    out = replaced(data, sorted(edits))
    assert edits and (not gate.compat) is (path == "setup.py")
    if path == "setup.py":
        bound = replaced(data, sorted(gate.bound(edits)))
        assert misfit(data, bound) == "", bound.decode("utf-8", "replace")
        compile(bound, path, "exec")
    return out.decode("utf-8", "replace")


def statements(source: PythonSource, gate: Gate) -> tuple[Edit, ...]:
    return gate.off([node for node in source.tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))])


def test_choice_and_conditions() -> None:
    text = "import torch\nx = f(a)\n"
    assert "x = (b if _IS_ROCM else f(a))" in gated(text, lambda s, g: g.choice(s.tree.body[1].value, "b"))
    assert "(_rocm_compat.IS_ROCM or f(a))" in gated(text, lambda s, g: g.holds(s.tree.body[1].value), "pkg/m.py")
    assert "x = (not _IS_ROCM and f(a))" in gated(text, lambda s, g: g.fails(s.tree.body[1].value))


def test_a_condition_of_two_is_bracketed() -> None:
    text = "import torch\nif a or b:\n    pass\nelif c < 1:\n    pass\n"
    assert "if (not _IS_ROCM and (a or b)):" in gated(text, lambda s, g: g.fails(s.tree.body[1].test))
    assert "elif not _IS_ROCM and c < 1:" in gated(text, lambda s, g: g.fails(s.tree.body[1].orelse[0].test))


def test_statements_go_behind_one_test() -> None:
    text = 'import torch\nx.append("a")\nx.append(\n    """b\n  c""",\n)  # why\n'
    assert gated(text, statements) == (
        'import torch\nif not _IS_ROCM:\n    x.append("a")\n    x.append(\n        """b\n  c""",\n    )  # why\n'
    )


def test_tabs_line_endings_and_encodings_stay() -> None:
    text = "import torch\r\nif a:\r\n\tx = 1\r\n"
    out = gated(text, lambda s, g: g.off([s.tree.body[1].body[0]]))
    assert out == "import torch\r\nif a:\r\n\tif not _IS_ROCM:\r\n\t\tx = 1\r\n"
    data = b"# -*- coding: latin-1 -*-\nimport torch\nx = '\xe9'\n"
    assert gated(data, statements).endswith("if not _IS_ROCM:\n    x = '\ufffd'\n")
    assert gated("\ufeffimport torch\nx = 'é' + y\n", lambda s, g: g.choice(s.tree.body[1].value, "z")).endswith(
        "x = (z if _IS_ROCM else 'é' + y)\n"
    )


def test_a_statement_that_shares_its_line_is_left() -> None:
    source = PythonSource("setup.py", b"import torch\na = 1; b = 2\n")
    assert Gate(source).off([source.tree.body[1]]) == ()


def test_either_and_first() -> None:
    text = "import torch\ndef f(a):\n    '''Doc.'''\n    return a\nx.append(1)\n"
    out = gated(text, lambda s, g: g.first(s.tree.body[1], "return True"))
    assert "    '''Doc.'''\n    if _IS_ROCM:\n        return True\n    return a\n" in out
    out = gated(text, lambda s, g: g.either(s.tree.body[2], "x.extend([1, 2])"))
    assert out.endswith("if _IS_ROCM:\n    x.extend([1, 2])\nelse:\n    x.append(1)\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import os\nimport torch\nx = 1\n", "import torch\n_IS_ROCM = torch.version.hip is not None\nx = 1\n"),
        ("import torch as t\n", "import torch as t\n_IS_ROCM = t.version.hip is not None\n"),
        ("from torch.utils import x\n", 'x\n_IS_ROCM = __import__("torch").version.hip is not None\n'),
        ("import torch.utils.x as x\n", 'x\n_IS_ROCM = __import__("torch").version.hip is not None\n'),
        ("'''Doc.'''\nx = 1\n", "'''Doc.'''\n_IS_ROCM = __import__(\"importlib.util\")"),
        ("# licence\n\nx = 1\n", '# licence\n\n_IS_ROCM = __import__("importlib.util")'),
        ("import torch", "import torch\n_IS_ROCM = torch.version.hip is not None"),
        ("from torch import (\n    a,\n)  # c\n", ')  # c\n_IS_ROCM = __import__("torch")'),
    ],
)
def test_where_the_predicate_is_bound(text: str, expected: str) -> None:
    source = PythonSource("setup.py", text.encode())
    edit = binding(source)
    assert edit is not None
    out = replaced(source.data, [edit])
    assert expected in out.decode()
    compile(out, "setup.py", "exec")
    assert binding(PythonSource("setup.py", out)) is None


def test_a_script_without_torch_can_still_ask() -> None:
    source = PythonSource("setup.py", b"x = 1\n")
    edit = binding(source)
    assert edit is not None
    names: dict[str, object] = {}
    exec(edit.text.replace(b'"torch"', b'"no_such_module"'), names)
    assert names["_IS_ROCM"] is False


def test_setup_scripts() -> None:
    assert is_setup_script("setup.py") and is_setup_script("ext/setup_cuda.py") and is_setup_script("conanfile.py")
    assert not is_setup_script("pkg/builder.py") and not is_setup_script("setup_notes.txt")
