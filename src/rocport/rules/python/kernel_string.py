"""CUDA or PTX source in a Python string: `cupy.RawKernel`, `load_inline`, NVRTC, PyCUDA's SourceModule, templates.
Plain kernels are the same language in HIP, and torch's `load_inline` translates API names. What neither does: inline
PTX, warp intrinsics with 32-bit masks, CUDA-only headers and macros, and PTX text as such; they fail when they are
compiled, on the user's machine, or count 32 lanes where there are 64. Right when the string is made for the platform.
One finding a string, at the first construct, and one where a `.cu` file of the tree is read to be compiled so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from rocport.binding.branches import branches
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.kernel_in_string import CONSTRUCTS
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.cuda import CudaSource
from rocport.syntax.python import PythonSource

_PTX = re.compile(rb"^\s*\.(?:version\s+\d|target\s+sm_|visible\s+\.entry)", re.MULTILINE)
_ROUTINE = re.compile(rb"^(?:cu(?:da|blas|rand)\w*|#\s*include.*(?:cuda_runtime|cuda_fp16|cuda_bf16|cuda)\.h.*)$")
_COMPILERS = (b"RawModule", b"RawKernel", b"SourceModule", b"nvrtcCreateProgram")
_READS = ("open", "read_text", "read_bytes", "get_data", "read")

RULE = Rule(
    name="kernel-in-python-string",
    summary="CUDA or PTX source in a Python string",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"__global__", b"__device__", b".visible .entry", b".target sm_", *_COMPILERS}),
    phase=2,
    holds="hiprtc of every release; torch's hipify up to 2.13",
    examples=(
        Example(
            'k = RawKernel(r"""\n__global__ void f(int* x) {\n  *x = __shfl_sync(0xffffffff, *x, 0);\n}\n""", "f")\n',
            path="m.py",
        ),
        Example("m = cupy.RawModule(code=Path('k.cu').read_text())\n", path="m.py"),
        Example("k = '''\n__global__ void f() {\n#ifdef FAST\n  __activemask();\n#endif\n}\n'''\n", path="m.py"),
        Example("PTX = '''\n.version 7.0\n.target sm_80\n.visible .entry f() { ret; }\n'''\n", path="m.py"),
    ),
    clean=(
        Example(
            'k = cupy.RawKernel(r"""\nextern "C" __global__ void f(float* x) { x[threadIdx.x] *= 2.f; }\n""", "f")\n',
            path="m.py",
        ),
        Example("m = cupy.RawModule(code=CODE)\nprint('k.cu')\n", path="m.py"),
        Example(
            "k = '''\n__global__ void f() {\n#if !defined(__HIPCC__)\n  __activemask();\n#endif\n}\n'''\n",
            path="m.py",
        ),
        Example("print('a __global__ function calls __shfl_sync')\n", path="m.py"),
        Example('"""Docs: __global__ void f() { __syncwarp(); }"""\n', path="m.py"),
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_rtc.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if any(name in source.data for name in _COMPILERS):
        yield from _read_as_text(source)
    wanted: dict[object, tuple[list[str], int]] = {}
    for node, text in source.strings:
        data = text.encode("utf-8", "replace")
        if _PTX.search(data):
            wanted[node] = (["PTX"], 0)
        elif (b"__global__" in data or b"__device__" in data) and b"{" in data:
            dead = branches(CudaSource(source.path, data), torch=False).is_dead
            found = (match for match in CONSTRUCTS.finditer(data) if not _ROUTINE.match(match[0]))
            matches = [match for match in found if not dead(match.start())]
            if matches:
                names = sorted({" ".join(match[0].decode("utf-8", "replace").split()) for match in matches})
                wanted[node] = (names, data.count(b"\n", 0, matches[0].start()))
    for node in open_places(source, [node for node, _ in source.strings if node in wanted]):
        names, below = wanted[node]
        whole = finding(
            RULE,
            source,
            node,
            f"source in a string uses {', '.join(names[:6])}: nothing translates that",
            fix="put the source into a file and port it, or choose the string by torch.version.hip",
            confidence=Confidence.MEDIUM,
        )
        line = min(whole.line + below, whole.end_line)
        start = source.starts[line - 1] if below and line > whole.line else whole.span.start
        yield replace(whole, line=line, span=Span(start, whole.span.end))


def _read_as_text(source: PythonSource) -> Iterator[Finding]:
    """`RawModule(code=Path("k.cu").read_text())`: the port translates the file, whose headers hiprtc is not shown."""
    for node, text in source.strings:
        if not text.endswith((".cu", ".cuh")) or not any(
            isinstance(parent, ast.Call) and ast.unparse(parent.func).endswith(_READS)
            for parent, _ in source.ancestors(node)
        ):
            continue
        item = finding(
            RULE,
            source,
            node,
            f"{text} is read as text to be compiled at run time: the ported file includes headers of the port",
            fix="pass -I with the folder of the port to hiprtc, or choose the file by torch.version.hip",
            confidence=Confidence.MEDIUM,
        )
        yield replace(item, applicability=Applicability.REVIEW)
