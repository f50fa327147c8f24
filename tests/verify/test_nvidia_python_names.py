"""Who looks through the names of a module, or reads the file that a module is: function by function."""

from __future__ import annotations

import ast
import time

import pytest

from rocport.verify.nvidia import python_names

NEW = "_IS_ROCM"


def tree(text: str) -> ast.Module:
    found = python_names.looking(text.encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("from sys import modules\nmodules['a']\n", "sys.modules['a']"),
        ("from sys import modules as m\nm['a']\n", "sys.modules['a']"),
        ("import sys as s\ns.modules['a']\n", "sys.modules['a']"),
        ("from importlib import import_module as load\nload('a')\n", "importlib.import_module('a')"),
        ("from inspect import getmembers as g\n[g(a)]\n", "[inspect.getmembers(a)]"),
        ("from builtins import dir as d\nd(a)\n", "dir(a)"),
        ("import builtins as b\nb.dir(a)\n", "builtins.dir(a)"),
        # Nothing else has another name, and what is stored is none.
        ("from os import modules\nmodules['a']\n", "modules['a']"),
        ("from .sys import modules\nmodules['a']\n", "modules['a']"),
        ("from sys import *\nmodules['a']\n", "modules['a']"),
        ("from sys import modules\nmodules = 1\n", "modules = 1"),
        ("import numpy as sys_\nsys_.modules\n", "sys_.modules"),
    ],
)
def test_what_comes_from_the_library_is_called_by_its_own_name(text: str, plain: str) -> None:
    last = tree(text).body[-1]
    assert ast.unparse(last) == plain
    assert {node.lineno for node in ast.walk(last) if isinstance(node, ast.expr)} == {2}


def test_a_text_that_is_no_python_has_no_tree() -> None:
    assert python_names.looking(b"x = (") is None


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("import p.a", {"p.a": ["p/a.py"]}),
        ("import p", {"p": ["p/__init__.py"], "p.a": ["p/a.py"]}),
        ("import p as q", {"q": ["p/__init__.py"], "q.a": ["p/a.py"]}),
        ("import p.a as b", {"b": ["p/a.py"]}),
        ("from p import a", {"a": ["p/a.py"], "a.": ["p/__init__.py"]}),
        ("from p.a import f as g", {"g.": ["p/a.py"]}),
        ("import os.path, json", {}),
        ("b = import_module('p.a')", {"b": ["p/a.py"], "import_module('p.a')": ["p/a.py"]}),
        ("b = __import__('p.a')", {"b": ["p/a.py"], "__import__('p.a')": ["p/a.py"]}),
        ("b = sys.modules['p.a']", {"b": ["p/a.py"], "sys.modules['p.a']": ["p/a.py"]}),
        ("b = run_module('p.a')", {"b": ["p/a.py"], "run_module('p.a')": ["p/a.py"]}),
        ("b = run_path('p/a.py')", {"run_path('p/a.py')": ["p/a.py"]}),
        ("b = run_path('./a.py')", {"run_path('./a.py')": ["p/a.py"]}),
        # A table that is not that of the modules, calls of another name, and what is not certain.
        ("b = table['p.a']", {}),
        ("b = os.modules['p.a']", {}),
        ("b = sys.path['p.a']", {}),
        ("b = load('p.a')", {}),
        ("b = import_module(name)", {}),
        ("b = import_module()", {}),
        ("b = sys.modules[0]", {}),
        ("b = run_path('q/a.py')", {}),
        ("b = run_path('aa.py')", {}),
        ("b = run_path('a')", {}),
        ("b = run_path()", {}),
        ("b = run_path(a)", {}),
    ],
)
def test_what_a_module_calls_the_modules_it_knows(text: str, called: dict[str, list[str]]) -> None:
    assert python_names.modules("u.py", tree(text), ["p/__init__.py", "p/a.py"]) == called


def test_relative_imports_name_the_modules_beside() -> None:
    text = "from . import a\nfrom .a import f\nfrom ..p import a as b\n"
    found = python_names.modules("p/u.py", tree(text), ["p/a.py"])
    assert found == {"a": ["p/a.py"], "f.": ["p/a.py"], "b": ["p/a.py"]}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("open(m.__file__)", "m"),
        ("open(str(p.m.__file__))", "p.m"),
        ("Path(m.__file__).read_text()", "m"),
        ("os.path.realpath(m.__file__)", ""),
        ("Path(m.__file__).parent.read_text()", ""),
        ("os.stat(os.path.abspath(m.__file__))", "m"),
        ("Path(m.__file__).resolve().absolute().stat()", "m"),
        ("print(m.__file__)", ""),
        ("os.path.dirname(m.__file__)", ""),
        ("open(os.path.dirname(m.__file__))", ""),
        ("m.__file__", ""),
        ("open(m.__name__)", ""),
        ("open(__file__)", ""),
    ],
)
def test_who_reads_the_file_of_a_module(text: str, read: str) -> None:
    found = list(python_names.files_read(tree(f"\n{text}\n")))
    assert found == ([(read, 2)] if read else [])
    of_its_own = text.replace("p.m.", "m.").replace("m.__file__", "__file__")
    own = list(python_names.files_read(tree(f"\n{of_its_own}\n"), own=True))
    assert own == ([("", 2)] if read or text == "open(__file__)" else [])


LOOKS = [
    *("K = dir({0})", "K = vars({0})", "K = inspect.getmembers({0})", "K = inspect.getmembers_static({0})"),
    *("K = {0}.__dict__", "K = {0}.__dir__()", "K = getattr({0}, '__dict__')", "K = getattr({0}, '__dir__')()"),
    *("K = inspect.getmembers(object={0})", "K = object.__dir__({0})", "K = dir({0})[0]", "K = dir({0})[1:]"),
    *("K = inspect.getmembers({0})[-1]", "K = dir({0}).index('x')", "K = {{**vars({0})}}", "K = len(dir({0}))"),
    *("K = {0}.__dict__.items()", "K = vars({0}) == {{}}", "K = dir({0}) + []", "K = f(globals_=vars({0}))"),
    *("for k in dir({0}):\n    print(k)", "K = [k for k in dir({0})]", "K = exec_(vars({0}))"),
]
"""Who looks through the names of `{0}`."""
ASKS = [
    *("K = vars({0})['x']", "K = {0}.__dict__['x']", "K = vars({0}).get('x')", "{0}.__dict__.update(x=1)"),
    *("K = 'x' in dir({0})", "K = 'x' not in vars({0})", "exec('x', vars({0}))", "setattr({0}, 'x', {0}.__dict__)"),
    *("K = eval('x', globals=vars({0}))", "dir({0})", "K = inspect.getmembers({0}, inspect.isclass)"),
    *("K = inspect.getmembers({0}, predicate=callable)", "K = getattr({0}, 'x')", "K = getattr({0}, name)"),
    *("K = f(namespace=vars({0}))", "vars({0}).setdefault('x', 1)", "K = vars({0}).pop('x')", "K = {0}.__name__"),
]
"""Who asks for names that are given, for classes and functions only, or does nothing with what it is given."""


@pytest.mark.parametrize(("text", "found"), [*((text, True) for text in LOOKS), *((text, False) for text in ASKS)])
@pytest.mark.parametrize("name", ["m", "p.m", "sys.modules['p.m']"])
def test_who_looks_through_the_names_of_another_module(text: str, found: bool, name: str) -> None:
    module = tree(f"import p, sys\nfrom p import m\n{text.format(name)}\n")
    called = python_names.modules("u.py", module, ["p/m.py"])
    listed = list(python_names.listed_of(module, called, {"p/m.py": [NEW]}))
    assert listed == ([("p/m.py", 3)] if found else [])
    assert not list(python_names.listed_of(module, {}, {}))


@pytest.mark.parametrize(("text", "found"), [*((text, 2) for text in LOOKS), *((text, None) for text in ASKS)])
def test_who_looks_through_its_own_names(text: str, found: int | None) -> None:
    assert python_names.listed(tree(f"import sys\n{text.format('sys.modules[__name__]')}\n"), [NEW]) == found
    assert python_names.listed(tree(f"import sys\n{text.format('other')}\n"), [NEW]) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("K = globals()", True),
        ("K = locals()", True),
        ("K = vars()", True),
        ("K = dir()", True),
        ("K = dir()[0]", True),
        ("def f():\n    return list(globals())", True),
        ("K = list(f.__globals__)", True),
        ("K = list(inspect.currentframe().f_globals)", True),
        # Inside a function or a class these are other names.
        ("def f():\n    return locals()", False),
        ("def f():\n    return dir()", False),
        ("class A:\n    K = vars()", False),
        ("K = globals()['x']", False),
        ("K = f.__globals__['x']", False),
        ("K = frame.f_globals.get('x')", False),
        ("K = f.__code__", False),
        ("globals()", False),
        ("K = locals", False),
    ],
)
def test_who_looks_through_the_names_around_it(text: str, found: bool) -> None:
    assert (python_names.listed(tree(text), [NEW]) is not None) is found


@pytest.mark.parametrize(
    ("loop", "taken"),
    [
        ("k for k in dir(m)", True),
        ("k for k in dir(m) if k", True),
        ("k for k in dir(m) if not k.startswith('_')", False),
        ("k for k in dir(m) if k.startswith('_')", True),
        ("k for k in dir(m) if not k.startswith('__')", True),
        ("k for k in dir(m) if k.startswith(('a', 'b'))", False),
        ("k for k in dir(m) if k.startswith(('a', '_'))", True),
        ("k for k in dir(m) if k.startswith(prefix)", True),
        ("k for k in dir(m) if k.startswith(1)", True),
        ("k for k in dir(m) if k.startswith()", True),
        ("k for k in dir(m) if k.endswith('_op')", False),
        ("k for k in dir(m) if not k.endswith('M')", False),
        ("k for k in dir(m) if k.endswith('ROCM')", True),
        ("k for k in dir(m) if k.islower()", False),
        ("k for k in dir(m) if not k.islower()", True),
        ("k for k in dir(m) if k.isupper()", True),
        ("k for k in dir(m) if not k.isupper()", False),
        ("k for k in dir(m) if k.isalpha()", True),
        ("k for k in dir(m) if k[0] != '_'", False),
        ("k for k in dir(m) if k[:1] != '_'", False),
        ("k for k in dir(m) if k[0] == '_'", True),
        ("k for k in dir(m) if k[0] == 'a'", False),
        ("k for k in dir(m) if k[0] != 'a'", True),
        ("k for k in dir(m) if k[1] != '_'", True),
        ("k for k in dir(m) if k[0] != '__'", True),
        ("k for k in dir(m) if k[0] > '_'", True),
        ("k for k in dir(m) if 'a' < k[0] != '_'", True),
        ("k for k in dir(m) if other[0] != '_'", True),
        ("k for k in dir(m) if not other.startswith('_')", True),
        ("k for k in dir(m) if k.islower() and f(k)", False),
        ("k for k in dir(m) if k.islower() or f(k)", True),
        ("k for k in dir(m) if k.islower() or not k.startswith('_')", False),
        ("k for k in dir(m) if not (k.isupper() or f(k))", False),
        ("k for k in dir(m) if not (k.isupper() and f(k))", True),
        ("k for k in dir(m) if f(k) if k.islower()", False),
        ("k for k in sorted(dir(m)) if k.islower()", False),
        ("k for k in f(dir(m)) if k.islower()", True),
        ("k for k in dir(m) + ['a'] if k.islower()", False),
        ("k for k in vars(m) if k.islower()", False),
        ("k for k in vars(m).keys() if k.islower()", False),
        ("k for k in m.__dict__.copy() if k.islower()", False),
        ("k for k in m.__dir__() if k.islower()", False),
        ("k for k, v in vars(m).items() if k.islower()", False),
        ("k for k, v in vars(m).items() if v.islower()", True),
        ("k for k, v in vars(m).items() if callable(v)", False),
        ("k for k, v in vars(m).items() if not callable(v)", True),
        ("k for k, v in vars(m).items() if callable(k)", True),
        ("k for k, v in vars(m).items() if callable()", True),
        ("k for k, v in inspect.getmembers(m) if inspect.isclass(v)", False),
        ("k for k in inspect.getmembers(m) if inspect.isclass(k)", True),
        ("v for v in vars(m).values() if callable(v)", False),
        ("v for v in vars(m).values() if v.islower()", True),
        ("k for k in dir(m) if callable(getattr(m, k))", False),
        ("k for k in dir(m) if callable(getattr(m, k, None))", False),
        ("k for k in dir(m) if callable(getattr(n, k))", True),
        ("k for k in dir(m) if callable(m.__dict__[k])", False),
        ("k for k in m.__dict__ if callable(vars(m)[k])", False),
        ("k for k in m.__dict__ if callable(m.__dict__[k])", False),
        ("k for k in m.__dict__ if callable(n.__dict__[k])", True),
        ("k for k, v in vars(m).items() if isinstance(v, type)", False),
        ("k for k, v in vars(m).items() if isinstance(v, A)", False),
        ("k for k, v in vars(m).items() if isinstance(v, B)", True),
        ("k for k, v in vars(m).items() if isinstance(v, int)", True),
        ("k for k, v in vars(m).items() if isinstance(v, type, 1)", True),
        ("k for k, v in vars(m).items() if issubclass(v, A)", False),
        ("k for k, (v, w) in vars(m).items() if callable(v)", True),
        ("k for k, v, w in vars(m).items() if callable(v)", True),
    ],
)
def test_tests_of_a_loop_that_leave_the_new_name_out(loop: str, taken: bool) -> None:
    """The port's name is private, in capitals, and what it holds is a module or a plain value."""
    module = tree(f"import m\nclass A: pass\nclass B(metaclass=M): pass\nK = [{loop}]\n")
    found = list(python_names.listed_of(module, {"m": ["m.py"]}, {"m.py": [NEW]}))
    assert found == ([("m.py", 4)] if taken else [])


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        ("    if k.isupper():\n        continue\n    use(k)", False),
        ("    if not k.isupper():\n        continue\n    use(k)", True),
        ("    if f(k):\n        continue\n    if k.isupper():\n        continue\n    use(k)", False),
        ("    use(k)\n    if k.isupper():\n        continue", True),
        ("    if k.islower():\n        use(k)", False),
        ("    if k.isupper():\n        use(k)", True),
        ("    if k.islower():\n        use(k)\n    else:\n        drop(k)", True),
        ("    if k.islower():\n        use(k)\n    more(k)", True),
        ("    if k.isupper():\n        continue\n    else:\n        drop(k)\n    use(k)", True),
        ("    if f(k):\n        continue\n    if k.islower():\n        use(k)", False),
    ],
)
def test_tests_in_the_body_of_a_loop(body: str, taken: bool) -> None:
    module = tree(f"import m\nfor k in dir(m):\n{body}\n")
    assert bool(list(python_names.listed_of(module, {"m": ["m.py"]}, {"m.py": [NEW]}))) is taken


def test_every_new_name_must_be_left_out() -> None:
    module = tree("import m\nK = [k for k in dir(m) if not k.startswith('_')]\n")
    assert not list(python_names.listed_of(module, {"m": ["m.py"]}, {"m.py": ["_a", "_b"]}))
    assert list(python_names.listed_of(module, {"m": ["m.py"]}, {"m.py": ["_a", "b"]}))


HELD = [
    *(
        "L = [m]",
        "L = (m, 1)",
        "L = {{m}}",
        "L = {{1: m}}",
        "L = m",
        "f(m)",
        "f(a=m)",
        "L = m if a else b",
        "L = m or b",
    ),
    *("def g():\n    return m", "def g(b=m):\n    pass", "x.y = m", "L = (y := m)", "L = lambda: m", "f(*m)"),
    *("setattr(x, 'y', m)", "L = list(sys.modules.values())", "f(sys.modules)", "L = spec('m', 'm.py')"),
    *("L = spec('/src/m.py')", "L = __import__('importlib').reload(m)"),
]
"""Who keeps the module `m`, hands it on, or names its file."""
ONLY_USED = [
    *("L = m.x", "m.x()", "m.x = 1", "L = m is None", "getattr(m, 'x')", "setattr(m, 'x', 1)", "hasattr(m, 'x')"),
    *("isinstance(m, A)", "m(1)", "L = sys.modules['x']", "L = sys.modules.get('x')", "L = 'mm.py'", "L = 'm'"),
]
THROUGH = [
    *(
        "K = dir(a)",
        "K = vars(a)",
        "K = a.__dict__",
        "K = map(dir, a)",
        "K = dir(a[0])",
        "K = dir(a['x'])",
        "K = dir(g())",
    ),
    *(
        "K = dir(self.a)",
        "K = dir(a.b)",
        "K = dir(f().b)",
        "K = dir(*a)",
        "K = dir(a if b else c)",
    ),
    *("K = inspect.getmembers(object=a)", "K = getattr(a, '__dict__')"),
]
OF_OTHERS = [
    *("K = dir(self)", "K = vars(cls)", "K = self.__dict__", "K = type(a).__dict__", "K = a.__class__.__dict__"),
    *("K = vars(parser.parse_args())", "K = dir(torch)", "K = dir(torch.cuda)", "K = dir(super())", "K = dir()"),
    *("K = dir(sys.modules['x'])", "K = dir(import_module('x'))", "K = 'x' in dir(a)", "K = vars(a)['x']", "dir = 1"),
    *("K = fn.__globals__", "K = run_path('x.py')"),
]


def _of_a_variable(held: str, looked: str) -> list[tuple[str, int]]:
    text = f"import sys, torch\nimport m\n{looked}\na = b = c = 0\n{held.format()}\n"
    return list(python_names.listed_of(tree(text), {"m": ["m.py"]}, {"m.py": [NEW]}))


@pytest.mark.parametrize("held", HELD)
def test_a_module_that_a_variable_may_hold_is_looked_through(held: str) -> None:
    assert _of_a_variable(held, "K = dir(a)") == [("m.py", 3)]


@pytest.mark.parametrize("looked", THROUGH)
def test_whatever_may_be_a_module_may_be_one_that_is_held(looked: str) -> None:
    assert _of_a_variable("L = [m]", looked) == [("m.py", 3)]


@pytest.mark.parametrize("used", ONLY_USED)
def test_a_module_that_is_only_used_is_not_held(used: str) -> None:
    assert not _of_a_variable(used, "K = dir(a)")


@pytest.mark.parametrize("looked", OF_OTHERS)
def test_what_holds_no_module_of_the_tree_is_none(looked: str) -> None:
    assert not _of_a_variable("L = [m]", looked)


def test_only_modules_that_are_held_are_named_in_their_order() -> None:
    text = "import b, a, c\nfor each in (b, a):\n    print(dir(each))\nprint(vars(c.x))\nK = dir(each)\n"
    names = {path: [NEW] for path in ("a.py", "b.py", "c.py")}
    called = {"a": ["a.py"], "b": ["b.py"], "c": ["c.py"]}
    assert list(python_names.listed_of(tree(text), called, names)) == [("a.py", 3), ("b.py", 3)]


@pytest.mark.parametrize("link", [".__dict__", ".__dict__.b", ".__globals__"])
def test_a_chain_of_attributes_is_read_in_its_length(link: str) -> None:
    times: list[float] = []
    for count in (80, 640):
        tree = python_names.looking(f"x = list(a{link * count})\n".encode())
        assert tree is not None
        start = time.process_time()
        found = list(python_names.listed_of(tree, {"m": ["m.py"]}, {"m.py": ("new",)}))
        times.append(time.process_time() - start)
        assert found == []
    assert times[1] < 20 * times[0] + 0.1
