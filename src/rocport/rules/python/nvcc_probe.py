"""A build that runs `nvcc`, or compares the release nvcc prints, stops on ROCm: there is no nvcc there.
`subprocess` raises FileNotFoundError, or the version test refuses. On ROCm the compiler is hipcc and the version to
ask for is `torch.version.hip`. Right when the probe runs for CUDA only; nothing is said of the key `"nvcc"` in
`extra_compile_args`, which feeds hipcc on ROCm.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, open_places, text_of
from rocport.syntax.python import PythonSource

_RUNS = re.compile(
    r"(?:^|\.)(?:run|check_output|check_call|call|Popen|system|getoutput|which|popen|run_cmd|run_command)$"
)
_COMMAND = re.compile(
    r"(?:^|[/\s(])nvcc(?:\.exe)?(?:$|[\s)])|__nvcc_device_query|nvcc --version|(?:^|/)nvcc\b|cuobjdump|nvdisasm|ptxas$"
)
_PATH = re.compile(r"(?:.*/)?bin/nvcc(?:\.exe)?|nvcc -V|nvcc --version|__nvcc_device_query(?:\.exe)?")
_RELEASE = re.compile(
    r"(?i)(?:bare_metal|nvcc|cuda)_?\w*version|(?:bare_metal|nvcc)_?(?:release|major|minor|maj|min)|cuda_(?:major|minor|release)"
    r"|get_cuda_bare_metal|raise_if_cuda_home|append_nvcc_threads|get_nvcc"
)
_PARSED = re.compile(
    r"(?i)(?:^|_)(?:get|check|find|detect|append|raise|warn|parse|query)_?\w*(?:nvcc|cuda_(?:bare|version|home|arch)|bare_metal|gencode)"
)

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
    examples=(
        Example("import subprocess\nout = subprocess.check_output([home + '/bin/nvcc', '-V'])\n", path="setup.py"),
        Example("if bare_metal_version < Version('11.6'):\n    raise RuntimeError('too old')\n", path="setup.py"),
        Example("def append_nvcc_threads(args):\n    return args + ['--threads', '4']\n", path="setup.py"),
    ),
    clean=(
        Example("args = {'cxx': ['-O3'], 'nvcc': ['-O3']}\n", path="setup.py"),
        Example("if torch.version.hip is None:\n    run(['nvcc', '-V'])\n", path="setup.py"),
        Example("if bare_metal_version:\n    print('nvcc is a compiler')\n", path="setup.py"),
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    places: list[tuple[Any, str]] = []
    for call in source.find(ast.Call):
        name = call_name(source, call)
        if not name and isinstance(call.func, ast.Attribute):
            name = call.func.attr
        if _RUNS.search(name):
            for inner in ast.walk(call):
                text = text_of(inner)
                if text and _COMMAND.search(text):
                    places.append(
                        (inner if hasattr(inner, "lineno") else call, "runs nvcc, which a ROCm machine does not have")
                    )
                    break
        elif _PARSED.search(name.rsplit(".", 1)[-1]):
            places.append((call, f"{name} asks for a CUDA toolkit"))
    for constant, text in source.strings:
        joined = text == "nvcc" and call_name(source, source.parents[constant]).endswith(("join", "which", "Path"))
        if joined or _PATH.fullmatch(text.strip()):
            places.append((constant, "names nvcc, which a ROCm machine does not have"))
    for node in source.find(ast.FunctionDef):
        if _PARSED.search(node.name) and any(
            "nvcc" in word or "CUDA_HOME" in word for word in (node.name, *source.words(node))
        ):
            places.append((node, f"{node.name} asks nvcc"))
    for compare in source.find(ast.Compare):
        names = [word for side in (compare.left, *compare.comparators) for word in source.words(side)]
        ordered = any(
            isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In)) for op in compare.ops
        )
        none = any(isinstance(side, ast.Constant) and side.value is None for side in compare.comparators)
        if ordered and not none and any(_RELEASE.search(word) for word in names if word.isidentifier()):
            places.append((compare, "compares a CUDA toolkit version, which ROCm does not have"))
    places.sort(key=lambda place: place[0].lineno)
    said = dict(places)
    for node in open_places(source, [place for place, _ in places]):
        target: ast.AST = node
        if isinstance(node, ast.FunctionDef):
            target = ast.copy_location(ast.Name(node.name, ast.Load()), node)
            target.end_lineno, target.end_col_offset = node.lineno, node.col_offset + 4 + len(node.name)
        yield finding(
            RULE,
            source,
            target,
            said[node],
            fix="probe only where torch.version.cuda is set; on ROCm ask torch.version.hip or hipcc",
        )
