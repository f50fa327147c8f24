"""Cases by construction: what threads meet at x which condition parts them x the form of the branch x where it is said.

A case is a kernel whose branch holds the meeting on both sides. Where the condition differs between the threads that
meet, the port must say so (REVIEW or MANUAL, in any file of the case); where it is the same for all of them it must be
silent. The halves are set by a hash before anybody looks: the first byte of sha256("meeting/form/scope") is even for
the half that may be looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocport.model import Applicability, Options, SourceFile, SourceTree
from rocport.scan.engine import scan_tree

BLOCK = {
    "barrier": "__syncthreads();",
    "vote": "v += __syncthreads_or(v);",
    "count": "v += __syncthreads_count(v > 1);",
    "ptx": 'asm volatile("bar.sync 0;");',
    "ptx-memory": 'asm volatile("barrier.sync 0;" ::: "memory");',
    "group": "cooperative_groups::this_thread_block().sync();",
    "macro": "MEET();",
}
WARP = {
    "syncwarp": "__syncwarp();",
    "syncwarp-mask": "__syncwarp(0xffffffffu);",
    "shfl": "v = __shfl_sync(0xffffffff, v, 3);",
    "shfl-macro-mask": "v += __shfl_xor_sync(FULL, v, 1);",
    "any": "v |= __any_sync(~0u, v);",
    "ballot": "v += __ballot_sync(0xffffffffu, v > 2);",
}
LANES_PART = {
    "lane": "lane < 16",
    "lane-masked": "(threadIdx.x & 31) == 0",
    "odd": "threadIdx.x % 2",
    "memory": "a[threadIdx.x] > 0",
    "compared": "static_cast<int>(threadIdx.x) < n % 32",
}
WARPS_PART = {
    "warp": "warp == 0",
    "first-warp": "threadIdx.x < 32",
    "shifted": "threadIdx.x >> 5",
    "second-axis": "threadIdx.y == 0",
    "negated": "!(threadIdx.x / warpSize)",
}
UNIFORM = {
    "block": "blockIdx.x == 0",
    "argument": "n > 3",
    "template": "B",
    "shared": "flag",
    "grid": "gridDim.x * blockDim.x > 64",
}
FORMS = {
    "if-else": "if ({c}) {{ a[0] = 1; {one} }} else {{ {two} a[1] = 2; }}",
    "unbraced": "if ({c}) {one}\n  else {two}",
    "swapped": "if (!({c})) {{ {two} }} else {{ {one} a[2] = v; }}",
    "nested": "for (int t = 0; t < n; ++t) {{ if ({c}) {{ {one} a[t] = 1; }} else {{ a[t] = 2; {two} }} }}",
    "switch": "switch (static_cast<int>({c})) {{ case 0: {one} break; default: {two} }}",
    "left": "if ({c}) {{ {one} return; }}\n  {two} a[3] = v;\n  {two}",
    "choice": "v = ({c}) ? {one_call} : {two_call};",
}
SCOPES = ("inline", "function", "header", "two-headers", "other-file", "lambda", "method")


@dataclass(frozen=True)
class Case:
    """A tree: path -> text; `parts` where the threads that meet are parted."""

    title: str
    files: dict[str, str]
    parts: bool
    set_aside: bool


def cases() -> list[Case]:
    """Every case, in order of title."""
    return sorted(_cases(), key=lambda case: case.title)


def _cases() -> Iterator[Case]:
    for kind, meetings in (("block", BLOCK), ("warp", WARP)):
        for meeting, text in meetings.items():
            for form in FORMS:
                for scope in SCOPES:
                    if form == "choice" and scope == "inline":
                        continue
                    digest = hashlib.sha256(f"{meeting}/{form}/{scope}".encode()).digest()
                    for name, condition, parts in _conditions(kind):
                        files = _files(text, form, scope, condition)
                        yield Case(f"{meeting}/{form}/{scope}/{name}", files, parts, bool(digest[0] % 2))


def _conditions(kind: str) -> Iterator[tuple[str, str, bool]]:
    for name, text in LANES_PART.items():
        yield name, text, True
    for name, text in WARPS_PART.items():
        yield name, text, kind == "block"
    for name, text in UNIFORM.items():
        yield name, text, False


_HEAD = "#include <cooperative_groups.h>\n#define MEET() __syncthreads()\n#define FULL 0xffffffffu\n"
_KERNEL = (
    "template <bool B> __global__ void k(int *a, int n) {{\n  __shared__ int flag;\n  int v = a[blockIdx.x];\n"
    "  int warp = threadIdx.x / 32;\n  const int lane = threadIdx.x & 31;\n  if (threadIdx.x == 0) flag = a[9];\n"
    "  __syncthreads();\n{local}  {branch}\n  a[4] = v + warp + lane;\n}}\n"
)


def _files(text: str, form: str, scope: str, condition: str) -> dict[str, str]:
    functions = "".join(f"__device__ int {name}(int v) {{ {text} return v; }}\n" for name in ("one", "two"))
    calls = {"one_call": "one(v)", "two_call": "two(v)"}
    head, local, more = _HEAD, "", {}
    if scope == "function":
        head += functions
    elif scope == "header":
        more["meet.cuh"] = "#pragma once\n" + _HEAD + functions.replace("__device__", "__device__ inline")
        head += '#include "meet.cuh"\n'
    elif scope == "two-headers":
        inner = functions.replace("int one", "int inner_one").replace("int two", "int inner_two")
        more["meet.cuh"] = "#pragma once\n" + _HEAD + inner.replace("__device__", "__device__ inline")
        more["between.cuh"] = '#pragma once\n#include "meet.cuh"\n' + "".join(
            f"__device__ inline int {name}(int v) {{ return inner_{name}(v); }}\n" for name in ("one", "two")
        )
        head += '#include "between.cuh"\n'
    elif scope == "other-file":
        more["meet.cu"] = _HEAD + functions
        head += "__device__ int one(int v);\n__device__ int two(int v);\n"
    elif scope == "lambda":
        local = "".join(f"  auto {name} = [&](int v) {{ {text} return v; }};\n" for name in ("one", "two"))
    elif scope == "method":
        head += "struct Meets {\n" + functions + "};\n"
        local = "  Meets m;\n"
        calls = {name: f"m.{call}" for name, call in calls.items()}
    one, two = (text, text) if scope == "inline" else (f"v += {calls['one_call']};", f"v -= {calls['two_call']};")
    branch = FORMS[form].format(c=condition, one=one, two=two, **calls)
    return {"k.cu": head + _KERNEL.format(local=local, branch=branch), **more}


def wrong(case: Case) -> str | None:
    """What the port of a case says too much or too little; None where it is right."""
    root = Path("/nowhere")
    files = []
    for path, text in sorted(case.files.items()):
        file = SourceFile(root, path, "cuda", len(text))
        file.__dict__["content"] = text.encode()
        files.append(file)
    found = scan_tree(SourceTree(root, tuple(files)), Options()).findings
    loud = [item for item in found if item.applicability is not Applicability.SAFE]
    meets = [item for item in loud if item.rule in ("divergent-barrier", "divergent-warp-operation")]
    if case.parts:
        return None if meets else "nothing is said of threads that part before they meet"
    return f"said without need: {meets[0].message}" if meets else None
