"""A build that runs `nvcc`, or compares the release nvcc prints, stops on ROCm: there is no nvcc there.
`subprocess` raises FileNotFoundError, or the version test refuses. On ROCm the compiler is hipcc and the version to
ask for is `torch.version.hip`. Right when the probe runs for CUDA only; nothing is said of the key `"nvcc"` in
`extra_compile_args`, which feeds hipcc on ROCm.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.capability_gate import capability_names
from rocport.rules.python.common import PYTHON, call_name, finding, open_places, text_of
from rocport.rules.python.gate import HOMES, asked, edited, governed, runs, version_gate, version_test
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_RUNS = re.compile(
    r"(?:^|\.)(?:run|check_output|check_call|call|Popen|system|getoutput|which|popen|run_cmd|run_command)$"
)
_COMMAND = re.compile(
    r"(?:^|[/\s(])nvcc(?:\.exe)?(?:$|[\s)])|__nvcc_device_query|nvcc --version|(?:^|/)nvcc\b|cuobjdump|nvdisasm|ptxas$"
)
_TOOL = re.compile(r"cuobjdump|nvdisasm|ptxas")
_PATH = re.compile(r"(?:.*/)?bin/nvcc(?:\.exe)?|nvcc -V|nvcc --version|__nvcc_device_query(?:\.exe)?")
_PARSED = re.compile(
    r"(?i)(?:^|_)(?:get|check|find|detect|append|raise|warn|parse|query)_?\w*(?:nvcc|cuda_(?:bare|version|home|arch)|bare_metal|gencode)"
)

# A function of so few statements that runs nvcc does nothing else.
_SHORT = 6
_READS = frozenset({"str", "float", "int", "parse", "Version", "packaging.version.parse", "packaging.version.Version"})

RULE = Rule(
    name="nvcc-probe",
    summary="build runs nvcc or tests its version",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {b"nvcc", b"bare_metal", b"cuobjdump", b"cuda_version", b"CUDA_VERSION", b"cuda_major", b"ptxas"}
    ),
    phase=4,
    holds="every ROCm release",
    examples=(
        Example("import subprocess\nout = subprocess.check_output([home + '/bin/nvcc', '-V'])\n", path="setup.py"),
        Example(
            "if bare_metal_version < Version('11.6'):\n    raise RuntimeError('too old')\n",
            contains=("if not _IS_ROCM and bare_metal_version < Version",),
            path="setup.py",
        ),
        Example(
            "def has_nvcc():\n    try:\n        call(['nvcc'])\n        return True\n"
            "    except FileNotFoundError:\n        return False\n",
            contains=("    if _IS_ROCM:\n        return True\n",),
            path="setup.py",
        ),
        Example(
            "def version(home):\n    return check_output([home + '/bin/nvcc', '-V'])\nrelease = version(HOME)\n",
            contains=("if not _IS_ROCM:\n    release = version(HOME)\n",),
            path="setup.py",
        ),
        Example(
            "import shutil\nif shutil.which('nvcc') is None:\n    raise RuntimeError\n",
            contains=("if not _IS_ROCM and shutil.which('nvcc') is None:",),
            path="setup.py",
        ),
        Example(
            "def append_nvcc_threads(args):\n    n = get_nvcc_threads()\n    return args + ['--threads', n]\n",
            contains=("    if _IS_ROCM:\n        return args\n",),
            path="setup.py",
        ),
        Example(
            "setup(ext=[CUDAExtension('a', ['a.cu'], extra={'nvcc': append_nvcc_threads(['-O3'])})])\n",
            absent=("_IS_ROCM",),
            path="setup.py",
        ),
        Example(
            "import torch.utils.cpp_extension as ext\nkept_check_cuda_version = ext._check_cuda_version\n"
            "kept_check_cuda_version('nvcc', '12')\n",
            path="setup.py",
        ),
        Example(
            "cuda_version = get_nvcc_version()\nif cuda_version >= Version('11'):\n    x = 1\nelse:\n    raise E\n",
            contains=("if (_IS_ROCM or cuda_version >= Version('11')):",),
            path="setup.py",
        ),
    ),
    clean=(
        Example("args = {'cxx': ['-O3'], 'nvcc': ['-O3']}\n", path="setup.py"),
        Example("if torch.version.hip is None:\n    run(['nvcc', '-V'])\n", path="setup.py"),
        Example(
            "def parse_cuda_version(v):\n    return v.split('.')\nmajor = parse_cuda_version('12.4')\n", path="gen.py"
        ),
        Example(
            "cuda_major, _ = torch.cuda.get_device_capability()\nif cuda_major < 8:\n    old()\n", path="monkey.py"
        ),
        Example(
            "def get_nvcc_threads():\n    return ['--threads', os.getenv('NVCC_THREADS') or '4']\n"
            "flags = ['-O3', *get_nvcc_threads()]\n",
            path="setup.py",
        ),
        Example(
            "import torch.utils.cpp_extension as ext\nkept_check_cuda_version = ext._check_cuda_version\n"
            "def patched(*args):\n    return kept_check_cuda_version(*args)\next._check_cuda_version = patched\n",
            path="setup.py",
        ),
        Example("if bare_metal_version:\n    print('nvcc is a compiler')\n", path="setup.py"),
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html",),
)


def _only_with_cuda(source: PythonSource, compare: ast.Compare) -> bool:
    """True behind or beside `torch.version.cuda is not None`, which is false on ROCm."""
    for parent, child in source.ancestors(compare):
        tested = parent.test if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test else parent
        if isinstance(tested, (ast.BoolOp, ast.Compare)) and "torch.version.cuda is not None" in ast.unparse(tested):
            return not isinstance(tested, ast.BoolOp) or isinstance(tested.op, ast.And)
    return False


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    places: list[tuple[Any, str]] = []
    silent = {node.name for node in source.find(ast.FunctionDef) if _asks_nobody(source, node)}
    kept, hooks = _torchs_check(source)
    for call in source.find(ast.Call):
        name = call_name(source, call)
        if not name and isinstance(call.func, ast.Attribute):
            name = call.func.attr
        if _RUNS.search(name):
            for inner in ast.walk(call):
                text = text_of(inner)
                if text and _COMMAND.search(text):
                    tool = _TOOL.search(text)
                    what = f"runs {tool[0] if tool else 'nvcc'}, which a ROCm machine does not have"
                    places.append((inner if hasattr(inner, "lineno") else call, what))
                    break
        elif name in kept and any(getattr(parent, "name", "") in hooks for parent, _ in source.ancestors(call)):
            continue
        elif _PARSED.search(name.rsplit(".", 1)[-1]) and name not in silent:
            places.append((call, f"{name} asks for a CUDA toolkit"))
    askers = {function.name for place, _ in places if (function := _asker(source, place)) is not None}
    said_of = {place for place, _ in places}
    for call in source.find(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in askers and call not in said_of:
            places.append((call, f"{call.func.id} asks for a CUDA toolkit"))
    for constant, text in source.strings:
        joined = text == "nvcc" and call_name(source, source.parents[constant]).endswith(("join", "which", "Path"))
        if joined or _PATH.fullmatch(text.strip()):
            places.append((constant, "names nvcc, which a ROCm machine does not have"))
    for node in source.find(ast.FunctionDef):
        if (
            _PARSED.search(node.name)
            and node.name not in silent
            and any("nvcc" in word or "CUDA_HOME" in word for word in (node.name, *source.words(node)))
        ):
            places.append((node, f"{node.name} asks nvcc"))
    taken = capability_names(source)
    for compare in source.find(ast.Compare):
        if not version_test(source, compare) or _only_with_cuda(source, compare):
            continue
        if taken.isdisjoint(source.words(compare)):
            places.append((compare, "compares a CUDA toolkit version, which ROCm does not have"))
    places.sort(key=lambda place: place[0].lineno)
    said = dict(places)
    gate = Gate(source)
    wanted = [node for node in open_places(source, [place for place, _ in places]) if not _answered(source, node)]
    off = runs(source, [statement for node in wanted if (statement := _probing(source, node)) is not None])
    for node in wanted:
        target: ast.AST = node
        if isinstance(node, ast.FunctionDef):
            target = ast.copy_location(ast.Name(node.name, ast.Load()), node)
            target.end_lineno, target.end_col_offset = node.lineno, node.col_offset + 4 + len(node.name)
        item = finding(
            RULE,
            source,
            target,
            said[node],
            fix="probe only where torch.version.cuda is set; on ROCm ask torch.version.hip or hipcc",
        )
        item = replace(item, cause="asks for a CUDA toolkit")
        probing = _probing(source, node)
        made = edited(item, gate, gate.off(off[probing]) if probing is not None else _edits(gate, node))
        if not made.edits and _handled(source, node, off):
            # Whoever calls it is gated, or stands behind a test that stays closed on ROCm.
            made = replace(made, applicability=Applicability.SAFE)
        yield made


_CHECK = "torch.utils.cpp_extension._check_cuda_version"


def _torchs_check(source: PythonSource) -> tuple[set[str], set[str]]:
    """The names under which torch's own check of nvcc is kept, and the functions that are put in its place: torch's
    build for CUDA alone calls them."""
    kept: set[str] = set()
    hooks: set[str] = set()
    for assign in source.find(ast.Assign):
        for target in assign.targets:
            if isinstance(target, ast.Name) and source.dotted(assign.value) == _CHECK:
                kept.add(target.id)
            elif isinstance(assign.value, ast.Name) and source.dotted(target) == _CHECK:
                hooks.add(assign.value.id)
    return kept, hooks


def _asks_nobody(source: PythonSource, function: ast.FunctionDef) -> bool:
    """True for a `parse_cuda_version` that takes a text apart, and a `get_nvcc_thread_args` that makes a list of flags:
    it runs nothing, looks for no toolkit and calls nobody who does."""
    called = [_called(source, node) for node in ast.walk(function) if isinstance(node, ast.Call)]
    asks = any(_RUNS.search(name) or _PARSED.search(name.rsplit(".", 1)[-1]) for name in called)
    return not asks and {"nvcc", *HOMES}.isdisjoint(source.words(function))


def _handled(source: PythonSource, node: ast.AST, off: Mapping[ast.stmt, object]) -> bool:
    """True where the toolkit is not asked on ROCm although the place itself is not edited."""
    if governed(source, node, HOMES):
        return True
    function = node if isinstance(node, ast.FunctionDef) else _asker(source, node)
    if function is None:
        return False
    calls = [
        call
        for call in source.find(ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id == function.name and _asker(source, call) is not function
    ]
    return bool(calls) and all(
        source.gated(call)
        or source.statement(call) in off
        or governed(source, call, HOMES)
        or _asker(source, call) is not None
        for call in calls
    )


def _answered(source: PythonSource, node: ast.AST) -> bool:
    """True for a function that leaves before it asks, where torch is built for ROCm."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(statement, ast.If)
        and source.says_amd(statement.test)
        and isinstance(statement.body[-1], (ast.Return, ast.Raise))
        for statement in node.body
    )


def _probing(source: PythonSource, node: ast.AST) -> ast.stmt | None:
    """The statement that does nothing but ask the toolkit; None where the answer is used at once.

    In a function that exists to ask, it is the caller who is gated; where CUDA_HOME was tested first, nobody is.
    """
    statement = source.statement(node)
    if isinstance(node, (ast.FunctionDef, ast.Compare)) or _asker(source, node) is not None:
        return None
    if not isinstance(statement, (ast.Expr, ast.Assign)) or governed(source, node, HOMES):
        return None
    call = node
    while not isinstance(call, ast.Call) or (call is not node and not _RUNS.search(_called(source, call))):
        if call is statement:
            return None
        call = source.parents[call]
    # `out = check_output([...]).decode()` and `v = Version(get_nvcc_version())` only ask; `f(x, run(...))` uses it.
    value: ast.AST = call
    while (parent := source.parents[value]) is not statement:
        wrapped = isinstance(parent, ast.Call) and (parent.func is value or _called(source, parent) in _READS)
        if not wrapped and not isinstance(parent, (ast.Attribute, ast.Subscript)):
            return None
        value = parent
    arguments = call.args if isinstance(call, ast.Call) else []
    listed = any(isinstance(argument, (ast.List, ast.BinOp)) for argument in arguments)
    return None if listed and not _RUNS.search(_called(source, call)) else statement


def _called(source: PythonSource, node: ast.AST) -> str:
    """The name of what a call calls, of a method alone where its object has no name."""
    name = call_name(source, node)
    if not name and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr
    return name


def _asker(source: PythonSource, node: ast.AST) -> ast.FunctionDef | None:
    """The function around a node when asking the toolkit is its purpose."""
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.FunctionDef):
            named = _PARSED.search(parent.name) or re.search(r"(?i)cuda|nvcc", parent.name)
            return parent if named or len(parent.body) <= _SHORT else None
    return None


def _edits(gate: Gate, node: ast.AST) -> tuple[Edit, ...]:
    source = gate.source
    function = node if isinstance(node, ast.FunctionDef) else _asker(source, node)
    if function is not None and (given := _given_back(function)):
        return gate.first(function, f"return {given}")
    if isinstance(node, ast.FunctionDef):
        return ()
    if isinstance(node, ast.Compare):
        return version_gate(gate, node)
    if function is not None and _yes_or_no(function):
        return gate.first(function, "return True")
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Call) and call_name(source, parent).endswith("which"):
            question = asked(source, parent)
            if question is not None:
                return gate.holds(question[0]) if question[1] else gate.fails(question[0])
    return ()


def _given_back(function: ast.FunctionDef) -> str:
    """The parameter a function returns, or returns with more in it (`return args + ["--threads", n]`); else empty."""
    answers = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    names = {argument.arg for argument in function.args.args}
    given = {
        name.id
        for answer in answers
        if isinstance(name := answer.left if isinstance(answer, ast.BinOp) else answer, ast.Name)
    }
    whole = (
        len(function.body) > 1
        and answers
        and all(isinstance(answer.left if isinstance(answer, ast.BinOp) else answer, ast.Name) for answer in answers)
    )
    return given.pop() if whole and len(given) == 1 and given <= names else ""


def _yes_or_no(function: ast.FunctionDef) -> bool:
    """True when a function answers nothing but True and False."""
    answers = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    values = [answer.value for answer in answers if isinstance(answer, ast.Constant)]
    return len(values) == len(answers) and True in values and all(isinstance(value, bool) for value in values)
