"""Who sets what the predicate asks, or puts another torch in its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocport.verify import nvidia
from rocport.verify.nvidia import Kind
from rocport.verify.nvidia.python_sets import sets_hip

HEAD = "import builtins, sys, types\nimport torch\nimport torch.version as v\nfrom torch import version as w\n"
SETS = [
    # Assignments of every kind.
    *(
        "torch.version.hip = 'x'",
        "torch.version . hip = 'x'",
        "(torch.version.hip) = 'x'",
        "torch.version.hip: str = 'x'",
    ),
    *("torch.version.hip += 'x'", "torch.version.cuda, torch.version.hip = None, 'x'", "del torch.version.hip"),
    *(
        "for torch.version.hip in ('x',):\n    pass",
        "with f() as torch.version.hip:\n    pass",
        "v.hip = 'x'",
        "w.hip = 1",
    ),
    *("a = torch.version\na.hip = 'x'", "(a := torch.version).hip = 'x'\na.hip = 1", "self.torch.version.hip = 'x'"),
    *("class T:\n    a = torch.version\nT.a.hip = 'x'", "f().torch.version.hip = 'x'", "torch.version = types.N()"),
    *("t = torch\nt.version = 1", "t = torch\nt.version.hip = 1", "a: object = torch.version\na.hip = 1"),
    # One of several, a parameter's default, a name that another function binds.
    *("a = torch.version if b else c\na.hip = 1", "(b or torch.version).hip = 1", "(a := (b if c else v)).hip = 1"),
    *("(torch if b else c).version.hip = 1", "(vars(v) if b else c)['hip'] = 1"),
    *("a = v\ndef f(a=a):\n    [a][0].hip = 1", "def f(*, m=v):\n    m.hip = 1"),
    "def f():\n    a = 0\n    def g():\n        nonlocal a\n        a = v\n    g()\n    h(a)\ndef h(x):\n    x.hip = 1",
    *("list(map(setattr, [v], ['hip'], [1]))", "k = {'hip': 1}\nvars(v).update(**k)"),
    *("ASKED = 'torch.version.hip'\npatch(ASKED, 1)", "class T:\n    A = 'torch.version.hip'\npatch(T.A, 1)"),
    # Calls.
    *("setattr(torch.version, 'hip', 'x')", "setattr(torch.version, k, 'x')", "setattr(torch, 'version', 1)"),
    *("object.__setattr__(torch.version, 'hip', 'x')", "delattr(w, 'hip')", "setattr(torch, k, 1)"),
    *("monkeypatch.setattr(torch.version, 'hip', 'x')", "monkeypatch.setattr('torch.version.hip', 'x')"),
    *("patch.object(torch.version, 'hip', 'x')", "patch('torch.version.hip', 'x')", "mock.patch('torch')"),
    # Dictionaries of names.
    *("torch.version.__dict__['hip'] = 'x'", "vars(torch.version)['hip'] = 'x'", "vars(v).update(hip='x')"),
    *("torch.version.__dict__.update({'hip': 'x'})", "vars(torch)['version'] = 1", "vars(v).pop('hip')"),
    *("torch.version.__dict__ |= {'hip': 1}", "vars(w).clear()", "del vars(w)['hip']", "vars(w).__setitem__('hip', 1)"),
    # Modules and importers.
    *(
        "sys.modules['torch'] = 1",
        "sys.modules['torch.version'] = 1",
        "del sys.modules['torch']",
        "sys.modules.clear()",
    ),
    *("sys.modules.update({'torch': 1})", "sys.modules.pop('torch')", "monkeypatch.setitem(sys.modules, 'torch', 1)"),
    *("patch.dict(sys.modules, {'torch': 1})", "patch.dict(sys.modules, {'torch.version': 1})"),
    *("builtins.__import__ = f", "sys.meta_path.insert(0, f)", "sys.meta_path = []", "sys.path_hooks.append(f)"),
    *(
        "from sys import modules\nmodules['torch'] = 1",
        "exec('torch.version.hip = 1')",
        "print 'x'\ntorch.version.hip = 1",
    ),
    # Names from a list, in keywords, and of the torch of another module.
    "for m in ('torch',):\n    sys.modules[m] = f()",
    "MOCK = ['torch', 'torch.nn']\nsys.modules.update((m, f()) for m in MOCK)",
    "stubs = {'torch': f()}\npatch.dict(sys.modules, stubs)",
    "for m in ('torch',):\n    monkeypatch.setitem(sys.modules, m, 1)",
    *(
        "patch.dict('sys.modules', {'torch': 1})",
        "patch.dict('sys.modules', torch=1)",
        "patch.dict(sys.modules, torch=1)",
    ),
    *("patch.multiple(torch.version, hip='x')", "monkeypatch.setattr(target=torch.version, name='hip', value='x')"),
    *(
        "torch.version.__setattr__('hip', 'x')",
        "patch.dict(torch.version.__dict__, hip='x')",
        "operator.setitem(vars(v), 'hip', 1)",
    ),
    # Under another name, or none.
    *("d = torch.version.__dict__\nd['hip'] = 1", "d = vars(v)\nd.update(hip='6')", "d = vars(v)\nd |= {'hip': 1}"),
    *(
        "f = vars(v).__setitem__\nf('hip', 1)",
        "d = torch.__dict__\nd['version'] = 1",
        "m = sys.modules\nm['torch'] = 1",
    ),
    *(
        "for m in (torch.version,):\n    m.hip = 1",
        "def f(m):\n    m.hip = 1\nf(torch.version)",
        "x = [v]\nx[0].hip = 1",
    ),
    *("g = lambda: v\ng().hip = 1", "def g():\n    return v\nsetattr(g(), 'hip', 1)", "a, b = v, 1\na.hip = 1"),
    *("match torch.version:\n    case m:\n        m.hip = 1", "x = {'m': v}\nx['m'].hip = 1", "a, b = v, 1\na.hip = 1"),
    *("from torch.version import __dict__ as d\nd['hip'] = 1", "from torch import __dict__ as d\nd['version'] = 1"),
    *(
        "import_module('torch.version').hip = 1",
        "sys.modules['torch.version'].hip = 1",
        "getattr(torch, 'version').hip = 1",
    ),
    *(
        "sys.modules['torch'].version.hip = 1",
        "t = __import__('torch')\nt.version.hip = 1",
        "x['v'] = v\nx['v'].hip = 1",
    ),
    *("t = sys.modules.get('torch')\nt.version.hip = 1", "getattr(v, '__dict__')['hip'] = 1", "f(m=v)\nx.hip = 1"),
    *("a = None\na = v\nx = [a]\nx[0].hip = 1", "def f():\n    a = b\n    if c:\n        a = v\n    h(a)"),
    *("def log(m):\n    m.hip = 1\nlog(v)", "def info(m=None):\n    m.hip = 1\ninfo(m=v)"),
    *("attrgetter('version')(torch).hip = 1", "vars(torch)['version'].hip = 1", "globals()['torch'].version.hip = 1"),
    *("patch.object(**{'target': torch.version, 'attribute': 'hip'})", "torch.version.__dict__[key] = 1", "force(v)"),
    *("patch('torch.' + 'version.hip', 1)", "patch(f'torch.version.{a}', 1)", "patch('torch.{}'.format('version'), 1)"),
    *("exec('m.hip = 1', {'m': v})", "exec('m[\"hip\"] = 1', {'m': vars(v)})", "f = v.__setattr__\nf('hip', 1)"),
    *("def g():\n    yield v\nsetattr(x, key, 1)", "a = b or v\na.hip = 1", "d = vars(torch.version)\ndel d['hip']"),
    *("patch('package.module.torch')", "patch('package.torch.version.hip', 'x')", "monkeypatch.setattr(x, 'torch', 1)"),
]
READS = [
    *("log.warning('%s', torch.version)", "x = torch.version if a else b\nx.cuda = 1"),
    "ASKED = 'torch.x'\npatch(ASKED, 1)",
    *("def f(a=1):\n    a.hip = 1", "[setattr(m, 'x', 1) for m in (a, b)]", "a or b\n(a or b).hip = 1"),
    "def f(torch=None):\n    torch.hip = 1",
    *(
        "x = torch.version.hip",
        "x = getattr(torch.version, 'hip', None)",
        "x = hasattr(torch.version, 'hip')",
        "x = v.hip",
    ),
    *("self.hip = True", "config.version = 'hip'", "hip = torch.version.hip", "x.version.other = 1", "torch.other = 1"),
    *(
        "torch.version.other = 1",
        "setattr(torch, 'other', 1)",
        "setattr(x, 'hip', 1)",
        "setattr(torch.version, 'a', 'b')",
    ),
    *(
        "x = torch.__dict__['version']",
        "x = vars(torch.version).get('hip')",
        "vars(torch)['other'] = 1",
        "vars(x)['hip'] = 1",
    ),
    *(
        "x = sys.modules['torch']",
        "sys.modules['torch_x'] = 1",
        "x = sys.modules.get('torch')",
        "sys.modules[__name__] = 1",
    ),
    *(
        "f(sys.modules, 'torchvision')",
        "import_module('torch.version')",
        "patch('torch.cuda.is_available')",
        "f('torch')",
    ),
    *("x = list(sys.meta_path)", "paths.insert(0, 'torch')", "x.modules['torch'] = 1", "x = torch.version.hip == 'x'"),
    *(
        "a = torch.cuda\na.hip = 1",
        "patch.dict(x, {'torch': 1})",
        "vars(torch.version).update(a=1)",
        "x.meta_path = []",
    ),
    "L = ['torch']\nsys.modules[__name__] = f()",
    *("L = ['torch']\nsys.modules.update({'a': 1})", "L = ['torch']\npatch.dict(sys.modules, {'a': 1})"),
    *("sys.modules[name] = f()", "sys.modules.pop(name)", "self.modules.update(x)", "patch('package.torch.nn')"),
    *("f(torch).hip = 1", "f('version').hip = 1", "vars(torch)['cuda'].hip = 1"),
    *("d = vars(torch.version)\nprint(d['hip'])", "d = vars(x)\nd['hip'] = 1", "a = v\nprint(a)\nx.hip = a.hip"),
    *("d = {'hip': torch.version.hip}\nd['hip'] = 2", "f(torch)\nself.version = 1", "d = dict(vars(v))\nd['hip'] = 1"),
    *(
        "f([v])\nself.hip = 1\nsetattr(self, a, 1)",
        "f(sys.modules)\ng('torch')",
        "patch('torch.' + 'cuda.x')",
        "patch(a + b)",
    ),
    *("def f():\n    a = v\ndef g():\n    a = x()\n    h(a)", "def f():\n    a = v\ndef g(a):\n    h(a)"),
    *("patch.dict(os.environ, HIP='1')", "setattr(self, 'x', torch.zeros(1))", "dict(vars(torch.version), hip=1)"),
]


@pytest.mark.parametrize("text", SETS)
def test_who_sets_what_the_predicate_asks(text: str) -> None:
    line = HEAD.count("\n") + 1
    assert line <= sets_hip(f"{HEAD}{text}\n".encode()) <= line + text.count("\n")


@pytest.mark.parametrize("text", READS)
def test_who_only_reads_it(text: str) -> None:
    assert sets_hip(f"{HEAD}{text}\n".encode()) == 0


def test_an_importer_that_says_nothing_of_torch_is_none() -> None:
    text = "import builtins, sys\nbuiltins.__import__ = f\nsys.meta_path.insert(0, g)\n"
    assert sets_hip(text.encode()) == 0
    assert sets_hip(f"{text}# torch\n".encode()) == 2


def test_what_another_module_hands_out_as_version_may_be_torch_s() -> None:
    assert sets_hip(b"from package.compat import version\n\nversion.hip = '6'\n") == 3


def verdict(tmp_path: Path, shim: dict[str, str]) -> nvidia.Proof:
    files = {"a.py": "import torch\nx = 1\n", **shim}
    for name in ("old", "new"):
        for path, text in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text)
    (tmp_path / "new/a.py").write_text("import torch\nif torch.version.hip:\n    x = 2\nelse:\n    x = 1\n")
    return nvidia.verify(tmp_path / "new", tmp_path / "old")


@pytest.mark.parametrize("text", ["mock.patch('torch')", "monkeypatch.setattr(m, 'torch', 1)"])
def test_a_test_that_never_says_version_sets_it_too(text: str) -> None:
    assert sets_hip(f"import mock\n{text}\n".encode()) == 2


def test_a_module_that_replaces_torch_is_told_of_once(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": "sys.modules['torch'] = f()"}]
    found = verdict(tmp_path, {"b.py": "sys.modules['torch'] = f()\n", "n.ipynb": json.dumps({"cells": cells})})
    assert sorted(item.message.partition(" ")[0] for item in found.of(Kind.UNDECIDED)) == ["b.py:1", "n.ipynb"]


def test_a_shim_of_the_original_is_named_with_its_line(tmp_path: Path) -> None:
    found = verdict(tmp_path, {"b.py": "import torch\nversion = torch.version\n\nversion.hip = '6'\n"})
    assert found.verdict == "not decided"
    assert [item.message.partition(" ")[0] for item in found.of(Kind.UNDECIDED)] == ["b.py:4"]


@pytest.mark.parametrize(
    ("path", "beside", "decided"),
    [
        ("stubs/torch/__init__.py", {}, False),
        ("stubs/torch/version.py", {}, False),
        ("torch/version.py", {}, False),
        ("stubs/torch.py", {}, False),
        ("torch.py", {}, False),
        ("p/torch/__init__.py", {"p/__init__.py": ""}, True),
        ("p/torch.py", {"p/__init__.py": ""}, True),
        ("torch/csrc.py", {}, True),
        ("mytorch.py", {}, True),
        ("torch/version/x.py", {}, True),
    ],
)
def test_a_torch_of_the_original_s_own_may_be_the_one_that_is_asked(
    tmp_path: Path, path: str, beside: dict[str, str], decided: bool
) -> None:
    found = verdict(tmp_path, {path: "", **beside})
    assert found.verdict == ("unchanged" if decided else "not decided"), found
    assert decided or [item.message.partition(" ")[0] for item in found.of(Kind.UNDECIDED)] == [path]
