"""The generated module: safe to import on NVIDIA, and what its names are off ROCm.

First its text is read: at module level only definitions, imports and constants. Only then is it imported, in a child
process of its own, with no torch and with stand-ins for torch wheels that are not built for ROCm; what it changed, and
the values of its names, come back.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from rocport.sandbox import looking
from rocport.verify.nvidia.asks import asked_by_lines, asked_by_name
from rocport.verify.nvidia.model import Difference, Kind
from rocport.verify.nvidia.python_scopes import deeper
from rocport.verify.nvidia.reach_python import last_part

CODE = "nvidia-generated-module"
NAME = "_rocm_compat.py"
_TIMEOUT_S = 600
_SAFE_IMPORTS = frozenset(
    [
        "__future__",
        "collections",
        "contextlib",
        "dataclasses",
        "enum",
        "functools",
        "importlib",
        "inspect",
        "io",
        "json",
        "logging",
        "math",
        "operator",
        "os",
        "pathlib",
        "platform",
        "re",
        "shutil",
        "subprocess",
        "sys",
        "types",
        "typing",
        "warnings",
    ]
)
_PURE_CALLS = frozenset(
    ("frozenset", "tuple", "dict", "set", "list", "TypeVar", "namedtuple", "getLogger", "compile", "field")
)
_SAFE_DECORATORS = frozenset(
    [
        "lru_cache",
        "cache",
        "cached_property",
        "dataclass",
        "property",
        "staticmethod",
        "classmethod",
        "contextmanager",
        "wraps",
        "overload",
        "final",
    ]
)
_VARIANTS = ("no torch", "CUDA wheel", "CUDA wheel, ROCm tools on the machine", "CPU wheel", "wheel without hip")


@dataclass
class Checked:
    """A generated module: the names whose value off ROCm is certain, and what is wrong with it."""

    path: str
    constants: dict[str, Any] = field(default_factory=dict)
    imports_torch: bool = False
    """Whether reading one of these names imports torch."""
    differences: list[Difference] = field(default_factory=list)

    @property
    def safe(self) -> bool:
        return all(item.kind is Kind.UNDECIDED for item in self.differences)


def looks_generated(path: str) -> bool:
    """Whether a file is the kind of module a port generates: by its name."""
    return path.rpartition("/")[2] == NAME


@lru_cache(maxsize=64)
def check(path: str, data: bytes) -> Checked:
    """Read the module, then import it in child processes. The same text gives the same answer within a run."""
    checked = Checked(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        _say(checked, getattr(error, "lineno", 0) or 0, f"is not valid Python ({error})")
        return checked
    try:
        with deeper():
            _static(checked, tree)
    except RecursionError:
        _say(checked, 0, "is nested too deeply to be looked at")
    if checked.safe:
        _import(checked, data, tree)
    return checked


def _say(checked: Checked, line: int, message: str) -> None:
    step = "the module must hold definitions, imports of the standard library and constants only"
    message = f"the generated module {message}"
    checked.differences.append(Difference(Kind.DIFFERENCE, CODE, checked.path, line, 0, message, step))


def _read_names(tree: ast.Module) -> list[str]:
    """Names that are constants of the module, or that its `__getattr__` may know: every identifier and string."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    found |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return sorted(name for name in found if name.isidentifier() and not name.startswith("__"))


# Its text.


def _static(checked: Checked, tree: ast.Module) -> None:
    for number, statement in enumerate(tree.body):
        _statement(checked, statement, number == 0, top=True)


def _statement(checked: Checked, node: ast.stmt, first: bool = False, top: bool = False) -> None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        if not first and not isinstance(node.value.value, str) and node.value.value is not ...:
            _say(checked, node.lineno, "holds a statement without a meaning")
    elif isinstance(node, ast.Import | ast.ImportFrom):
        _import_statement(checked, node)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for decorator in node.decorator_list:
            _decorator(checked, decorator)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                _value(checked, default)
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg) and argument.annotation is not None:
                _value(checked, argument.annotation)
    elif isinstance(node, ast.ClassDef):
        for decorator in node.decorator_list:
            _decorator(checked, decorator)
        for base in node.bases:
            _value(checked, base)
        for number, item in enumerate(node.body):
            _statement(checked, item, number == 0)
    elif isinstance(node, ast.Assign):
        if not all(isinstance(target, ast.Name | ast.Tuple) for target in node.targets):
            _say(checked, node.lineno, "assigns to something that is not a name of its own")
        _value(checked, node.value)
    elif isinstance(node, ast.AnnAssign):
        if not isinstance(node.target, ast.Name):
            _say(checked, node.lineno, "assigns to something that is not a name of its own")
        if node.value is not None:
            _value(checked, node.value)
    elif isinstance(node, ast.If):
        if "TYPE_CHECKING" not in ast.dump(node.test):
            _value(checked, node.test)
            for item in (*node.body, *node.orelse):
                _statement(checked, item)
    elif isinstance(node, ast.Try):
        for item in (*node.body, *node.orelse, *node.finalbody):
            _statement(checked, item)
        for handler in node.handlers:
            for item in handler.body:
                _statement(checked, item)
    elif not isinstance(node, ast.Pass):
        _say(checked, node.lineno, f"runs `{ast.unparse(node)[:60]}` when it is imported")


def _import_statement(checked: Checked, node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.ImportFrom) and node.level:
        _say(checked, node.lineno, "imports from its own package")
        return
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for module in modules:
        if module.split(".")[0] not in _SAFE_IMPORTS:
            _say(checked, node.lineno, f"imports `{module}` when it is imported, which a module before may not have")


def _decorator(checked: Checked, node: ast.expr) -> None:
    name = last_part(node.func if isinstance(node, ast.Call) else node)
    if name not in _SAFE_DECORATORS:
        _say(checked, node.lineno, f"decorates with `{ast.unparse(node)[:60]}`, which runs when it is imported")


def _value(checked: Checked, node: ast.expr) -> None:
    """A value at module level: nothing in it may have an effect."""
    for item in ast.walk(node):
        if isinstance(item, ast.Call):
            if last_part(item.func) not in _PURE_CALLS:
                _say(checked, item.lineno, f"calls `{ast.unparse(item)[:60]}` when it is imported")
        elif isinstance(item, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            _say(checked, item.lineno, f"evaluates `{ast.unparse(item)[:60]}` when it is imported")


# What it does. Its functions run when its names are read: confined, so that they change nothing and read nothing of the
# user's, and with all stopped that is more than reading and importing.


def _import(checked: Checked, data: bytes, tree: ast.Module) -> None:
    names = _read_names(tree)
    seen: dict[str, list[Any]] = {}
    asked: dict[str, tuple[int, str]] = {}
    for variant in _VARIANTS:
        answer = _child(data, variant, names)
        if isinstance(answer, str):
            _say(checked, 0, f"could not be imported with {variant}: {answer}")
            return
        for effect in answer["effects"]:
            _say(checked, 0, f"has an effect when it is imported with {variant}: {effect}")
        if not checked.safe:
            return
        for name, value in answer["values"].items():
            seen.setdefault(name, []).append(tuple(value))
        for name, effects in answer["read"].items():
            if "imports torch" in effects:
                checked.imports_torch = True
                effects = [effect for effect in effects if effect != "imports torch"]
            if effects:
                _say(checked, 0, f"has an effect when `{name}` is read with {variant}: {effects[0]}")
                return
        for name, lines in answer["lines"].items():
            what = asked_by_lines(tree, lines) if lines is not None else asked_by_name(tree, name)
            if name in answer["kept"]:
                what = (0, "something that it changes itself")
            if what is not None:
                asked.setdefault(name, what)
    for name, values in seen.items():
        kind, value = values[0] if values else ("", None)
        if len(values) == len(_VARIANTS) and len(set(values)) == 1 and kind in ("bool", "NoneType"):
            if name not in asked:
                checked.constants[name] = value
                continue
            line, what_else = asked[name]
            message = f"`{name}` asks {what_else}, and not only what PyTorch was built for: it is no platform predicate"
            step = "let it rest on torch.version.hip alone, or see that nothing on the NVIDIA path reads it"
            checked.differences.append(Difference(Kind.UNDECIDED, CODE, checked.path, line, 0, message, step))


def _child(data: bytes, variant: str, names: list[str]) -> dict[str, Any] | str:
    with tempfile.TemporaryDirectory(prefix="rocport-generated-") as name:
        folder = Path(name)
        (folder / "module").mkdir()
        (folder / "module" / NAME).write_bytes(data)
        (folder / "empty").mkdir()
        if variant != "no torch":
            _stand_in(folder / "torch-path" / "torch", variant)
        environment = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "SYSTEMROOT", "TEMP")}
        if "ROCm tools" in variant:
            environment |= {"ROCM_PATH": "/opt/rocm", "ROCM_HOME": "/opt/rocm", "HIP_PATH": "/opt/rocm"}
            environment |= {"HIP_VISIBLE_DEVICES": "0", "HSA_OVERRIDE_GFX_VERSION": "11.0.0"}
        request = {"module": str(folder / "module"), "torch": str(folder / "torch-path"), "names": names}
        try:
            done = subprocess.run(
                looking([sys.executable, "-I", "-S", "-B", "-c", _CHILD], [folder]),
                input=json.dumps(request),
                capture_output=True,
                text=True,
                check=False,
                cwd=folder / "empty",
                env=environment,
                timeout=_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            return f"took more than {_TIMEOUT_S} s"
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            return lines[-1] if lines else f"the interpreter ended with {done.returncode}"
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        if len(done.stdout.splitlines()) > 1 or done.stderr:
            answer["effects"].append("it prints something")
        if list((folder / "empty").iterdir()) or sorted(item.name for item in (folder / "module").iterdir()) != [NAME]:
            answer["effects"].append("it writes files")
        return answer


def _stand_in(folder: Path, variant: str) -> None:
    """A torch that answers what the platform is, with nothing behind it."""
    cuda = "None" if variant == "CPU wheel" else "'12.8'"
    hip = "" if variant == "wheel without hip" else "hip = None\n"
    available = variant != "CPU wheel"
    (folder / "cuda").mkdir(parents=True)
    (folder / "backends").mkdir()
    version = f"__version__ = '2.9.0'\ndebug = False\ncuda = {cuda}\n{hip}"
    (folder / "version.py").write_text(version)
    (folder / "__init__.py").write_text(
        "from . import version, cuda, backends\nfrom .version import __version__\n"
        + "float8_e4m3fn = 'e4m3fn'\nfloat8_e4m3fnuz = 'e4m3fnuz'\nfloat8_e5m2 = 'e5m2'\nfloat8_e5m2fnuz = 'e5m2fnuz'\n"
    )
    (folder / "backends" / "__init__.py").write_text("")
    (folder / "cuda" / "__init__.py").write_text(
        "class _Properties:\n"
        "    name = 'NVIDIA H100'\n    major = 9\n    minor = 0\n    warp_size = 32\n"
        "    total_memory = 1 << 36\n    multi_processor_count = 132\n"
        f"def is_available():\n    return {available}\n"
        f"def device_count():\n    return {int(available)}\n"
        "def current_device():\n    return 0\n"
        "def get_device_properties(device=None):\n    return _Properties()\n"
        "def get_device_name(device=None):\n    return 'NVIDIA H100'\n"
        "def get_device_capability(device=None):\n    return (9, 0)\n"
    )


_CHILD = r"""
import json, sys
request = json.load(sys.stdin)
import ast, atexit, builtins, collections, contextlib, dataclasses, enum, functools, importlib, importlib.machinery
import importlib.util, inspect, io, locale, logging, math, operator, os, pathlib, platform, re, shutil, signal
import subprocess, threading, types, typing, warnings
sys.path.insert(0, request["torch"])

def state():
    handlers = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        handlers[str(number)] = repr(signal.getsignal(number))
    return {
        "os.environ": dict(os.environ), "the working folder": os.getcwd(), "sys.path": list(sys.path),
        "sys.meta_path": [repr(item) for item in sys.meta_path], "sys.path_hooks": len(sys.path_hooks),
        "the warning filters": [repr(item) for item in warnings.filters], "sys.excepthook": repr(sys.excepthook),
        "the root logger": [logging.root.level, len(logging.root.handlers)], "signal handlers": handlers,
        "atexit": atexit._ncallbacks(), "threads": threading.active_count(), "builtins": sorted(vars(builtins)),
        "the locale": locale.setlocale(locale.LC_ALL), "sys.stdout": [id(sys.stdout), id(sys.stderr)],
        "tracing": [repr(sys.gettrace()), repr(sys.getprofile())], "recursion": sys.getrecursionlimit(),
    }

def torch_state():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "torch":
            found[name] = {key: repr(value) for key, value in vars(module).items()
                           if not key.startswith("__") and not isinstance(value, types.ModuleType)}
    return found

events = []
passed = {"import", "compile", "exec", "marshal.loads", "marshal.load", "os.listdir", "os.scandir", "os.walk",
          "os.fwalk", "glob.glob", "glob.glob/2", "pathlib.Path.glob", "pathlib.Path.rglob", "sys._getframe",
          "sys._getframemodulename", "sys.settrace", "sys.setprofile", "builtins.id", "object.__getattr__",
          "object.__setattr__", "object.__delattr__", "code.__new__", "function.__new__", "sys.excepthook",
          "sys.unraisablehook"}

def audit(event, arguments):
    # Stops whatever is neither reading nor importing, and keeps what it would have done.
    if event in passed or event.startswith("cpython."):
        return
    done = "does " + event
    if event == "open":
        mode = arguments[1] if isinstance(arguments[1], str) else ""
        writes = (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        if not writes and not any(letter in mode for letter in "wax+"):
            return
        done = "opens a file for writing"
    events.append(done)
    raise PermissionError("not done: " + event)
sys.addaudithook(audit)

def changes(before, modules, torch_before):
    found = list(dict.fromkeys(events))
    events.clear()
    after = state()
    found += ["it changes " + key for key in before if before[key] != after[key]]
    new = [name for name in sys.modules if name not in modules]
    if any(name.split(".")[0] == "torch" for name in new):
        found.append("imports torch")
    roots = sorted({name.split(".")[0] for name in new} - {"_rocm_compat", "torch"})
    outside = [name for name in roots if name not in sys.stdlib_module_names]
    if outside:
        found.append("it imports " + ", ".join(outside))
    torch_after = torch_state()
    if any(torch_before[name] != torch_after.get(name) for name in torch_before):
        found.append("it changes attributes of torch")
    return found

path = request["module"] + "/_rocm_compat.py"
before, modules = state(), set(sys.modules)
specification = importlib.util.spec_from_file_location("_rocm_compat", path)
module = importlib.util.module_from_spec(specification)
sys.modules["_rocm_compat"] = module
specification.loader.exec_module(module)
effects = changes(before, modules, {})
imported = dict(vars(module))

def plain(value):
    return repr(value) if isinstance(value, (bool, int, str, bytes, float, list, dict, set, tuple)) else id(value)

def known():
    return {key: plain(value) for key, value in vars(module).items() if not key.startswith("__")}

executed = set()
def trace(frame, event, argument):
    if frame.f_code.co_filename != path:
        return None
    if event == "line":
        executed.add(frame.f_lineno)
    return trace

values, read, lines, kept = {}, {}, {}, []
for name in request["names"]:
    # As in a process that reads this name first.
    vars(module).clear()
    vars(module).update(imported)
    for value in imported.values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()
    before, modules, torch_before, was = state(), set(sys.modules), torch_state(), known()
    executed.clear()
    sys.settrace(trace)
    try:
        value = getattr(module, name)
    except Exception as error:
        value = error
        if not isinstance(error, AttributeError):
            values[name] = ("raises", type(error).__name__)
    else:
        simple = value is None or isinstance(value, bool)
        values[name] = (type(value).__name__, value if simple else None)
        if simple:
            lines[name] = None if name in imported else sorted(executed)
    finally:
        sys.settrace(None)
    if any(key != name and was.get(key) != now for key, now in known().items()):
        kept.append(name)
    found = changes(before, modules, torch_before)
    if found:
        read[name] = found
print(json.dumps({"effects": effects, "values": values, "read": read, "lines": lines, "kept": kept}))
"""
