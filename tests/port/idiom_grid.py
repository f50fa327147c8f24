"""Cases by construction, judged by running: an idiom over warps x a spelling of the warp's size x where it is written.

Each case is a kernel of 96 threads (a wavefront of 64 is half empty at the end) that leaves one number a thread. What
CUDA computes is said by a small model in Python that knows 32 lanes and nothing of the port. The spelling of the mask
and of the lane index goes with a hash of the title; so does the half: the first byte of sha256(title) is even for the
half that may be looked at.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocport import api
from rocport.executor.base import BuildError, BuildOptions, RunOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.program import load_program
from rocport.model import Applicability

THREADS, WARP = 96, 32
VALUES = tuple((thread * 37 + 11) % 101 - 20 for thread in range(THREADS))
Model = Callable[[Sequence[int], int, int], int]
"""(the warp's 32 values, lane, index of the warp) -> what CUDA leaves in `r`; -1 lanes are the block's (see BLOCK)."""


def _int(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def _ballot(values: Sequence[int], test: Callable[[int], bool]) -> int:
    return sum(1 << lane for lane, value in enumerate(values) if test(value))


def _ffs(bits: int) -> int:
    return (bits & -bits).bit_length()


def _leader(values: Sequence[int], lane: int, warp: int) -> int:
    bits = _ballot(values, lambda value: value % 2 == 1)
    return values[_ffs(bits) - 1] + 100 * bits.bit_count() if values[lane] % 2 else -7


def _partial(values: Sequence[int], lane: int, warp: int) -> int:
    total = 0
    for first in range(0, THREADS, WARP):
        total = total * 3 + sum(VALUES[first : first + WARP])
    return total


def _down(values: Sequence[int], lane: int, distance: int, width: int = WARP) -> int:
    return values[lane + distance] if lane % width + distance < width else values[lane]


def _tile(values: Sequence[int], lane: int, warp: int) -> int:
    return sum(values) + 1000 * lane + 100000 * warp


@dataclass(frozen=True)
class Idiom:
    """`body` sets `int r` from `int v`, `int t`: {W} size, {M} full mask, {L} lane, {I} warp; `constant` size only."""

    body: str
    model: Model
    constant: bool = False


IDIOMS = {
    "sum-xor": Idiom(
        "r = v; for (int d = {W} / 2; d > 0; d /= 2) r += __shfl_xor_sync({M}, r, d);", lambda v, lane, w: sum(v)
    ),
    "sum-down": Idiom(
        "r = v; for (int d = {W} >> 1; d; d >>= 1) r += __shfl_down_sync({M}, r, d); r = {L} == 0 ? r : -1;",
        lambda v, lane, w: sum(v) if lane == 0 else -1,
    ),
    "scan-up": Idiom(
        "r = v; for (int d = 1; d < {W}; d <<= 1) {{ int o = __shfl_up_sync({M}, r, d); if (int({L}) >= d) r += o; }}",
        lambda v, lane, w: sum(v[: lane + 1]),
    ),
    "last-lane": Idiom("r = __shfl_sync({M}, v, {W} - 1);", lambda v, lane, w: v[31]),
    "rotate": Idiom("r = __shfl_sync({M}, v, ({L} + 5) % {W});", lambda v, lane, w: v[(lane + 5) % 32]),
    "count": Idiom("r = __popc(__ballot_sync({M}, v & 1));", lambda v, lane, w: sum(x % 2 for x in v)),
    "rank": Idiom(
        "unsigned b = __ballot_sync({M}, v % 3 == 0); r = __popc(b & ((1u << {L}) - 1));",
        lambda v, lane, w: sum(x % 3 == 0 for x in v[:lane]),
    ),
    "first": Idiom(
        "r = __ffs(__ballot_sync({M}, v > 60)) - 1;", lambda v, lane, w: _ffs(_ballot(v, lambda x: x > 60)) - 1
    ),
    "top": Idiom(
        "r = {W} - 1 - __clz(__ballot_sync({M}, v > 40));",
        lambda v, lane, w: _ballot(v, lambda x: x > 40).bit_length() - 1,
    ),
    "votes": Idiom(
        "r = 2 * (__any_sync({M}, v > 75) != 0) + (__all_sync({M}, v < 79) != 0);",
        lambda v, lane, w: 2 * (max(v) > 75) + (max(v) < 79),
    ),
    "match": Idiom(
        "r = __popc(__match_any_sync({M}, v & 3));", lambda v, lane, w: sum(x % 4 == v[lane] % 4 for x in v)
    ),
    "reduce": Idiom("r = int(__reduce_add_sync({M}, unsigned(v)));", lambda v, lane, w: _int(sum(v))),
    "greatest": Idiom("r = __reduce_max_sync({M}, v);", lambda v, lane, w: max(v)),
    "partial-sums": Idiom(
        "__shared__ int part[8]; r = v; for (int d = {W} / 2; d; d >>= 1) r += __shfl_down_sync({M}, r, d); "
        "if ({L} == 0) part[{I}] = r; __syncthreads(); r = 0; "
        "for (int i = 0; i < int(blockDim.x) / int({W}); ++i) r = r * 3 + part[i]; __syncthreads();",
        _partial,
    ),
    "leader": Idiom(
        "unsigned m = __ballot_sync({M}, v & 1); r = -7; "
        "if (v & 1) r = __shfl_sync(m, v, __ffs(m) - 1) + 100 * __popc(m);",
        _leader,
    ),
    "halves": Idiom(
        "r = v + __shfl_xor_sync({M}, v, {W} / 4, {W} / 2) - __shfl_down_sync({M}, v, 3, {W} / 2);",
        lambda v, lane, w: v[lane] + v[lane ^ 8] - _down(v, lane, 3, 16),
    ),
    "exchange": Idiom(
        "__shared__ int s[96]; s[t] = v; __syncwarp(); r = s[{I} * {W} + ({W} - 1 - {L})]; __syncwarp();",
        lambda v, lane, w: v[31 - lane],
    ),
    "own-bit": Idiom(
        "unsigned b = __ballot_sync({M}, v & 2); r = int((b >> {L}) & 1u) + int(__brev(b) % 7u);",
        lambda v, lane, w: (v[lane] >> 1) % 2 + int(f"{_ballot(v, lambda x: (x >> 1) % 2 == 1):032b}"[::-1], 2) % 7,
    ),
    "all-set": Idiom(
        "r = (__ballot_sync({M}, v < 500) == 0xffffffffu) + 2 * (__activemask() == 0xFFFFFFFF);", lambda v, lane, w: 3
    ),
    "roles": Idiom(
        "r = {I} == 1 ? v * 2 : v - 1; if ({I} == 0 && {L} < {W} / 2) r += 5;",
        lambda v, lane, w: v[lane] * 2 if w == 1 else v[lane] - 1 + 5 * (w == 0 and lane < 16),
    ),
    "wide": Idiom(
        "r = int(__shfl_down_sync({M}, double(v) * 4, 2)); "
        "r += int(__shfl_sync({M}, (long long)v * 8589934592ll, 7) >> 33);",
        lambda v, lane, w: 4 * _down(v, lane, 2) + v[7],
    ),
    "strided": Idiom(
        "r = 0; for (int i = {L}; i < 77; i += {W}) r += i * v;",
        lambda v, lane, w: sum(i * v[lane] for i in range(lane, 77, 32)),
    ),
    "half-mask": Idiom(
        "r = 1; if ({L} < 16) r = __reduce_max_sync(0x0000ffffu, v);",
        lambda v, lane, w: max(v[:16]) if lane < 16 else 1,
    ),
    "tile": Idiom(
        "auto g = cg::tiled_partition<{W}>(cg::this_thread_block()); r = v; "
        "for (int d = g.size() / 2; d; d /= 2) r += g.shfl_down(r, d); "
        "r = g.shfl(r, 0) + 1000 * g.thread_rank() + 100000 * g.meta_group_rank();",
        _tile,
        constant=True,
    ),
    "slots": Idiom(
        "__shared__ int slot[96 / {W}]; if ({L} == {W} - 1) slot[t / {W}] = v; __syncthreads(); "
        "r = slot[{I}] + int(sizeof slot); __syncthreads();",
        lambda v, lane, w: v[31] + 12,
        constant=True,
    ),
}


@dataclass(frozen=True)
class Spelling:
    """How the warp's size is said: `before` at file scope, `use` in the body; `kernel` where the kernel is given it."""

    before: str
    use: str
    constant: bool = True
    kernel: str = ""


SPELLINGS = {
    "number": Spelling("", "32"),
    "hexadecimal": Spelling("", "0x20"),
    "builtin": Spelling("", "warpSize", constant=False),
    "macro": Spelling("#define WARP_SIZE_{n} 32", "WARP_SIZE_{n}"),
    "macro-of-shift": Spelling("#define LOG_{n} 5\n#define LANES_{n} (1 << LOG_{n})", "LANES_{n}"),
    "macro-call": Spelling("#define lanes_{n}() (32)", "lanes_{n}()"),
    "macro-of-builtin": Spelling("#define WS_{n} warpSize", "WS_{n}", constant=False),
    "constexpr": Spelling("constexpr int kWarp_{n} = 32;", "kWarp_{n}"),
    "constexpr-function": Spelling(
        "__host__ __device__ constexpr int lanes_{n}(int log = 5) {{ return 1 << log; }}", "lanes_{n}()"
    ),
    "static-const": Spelling("static const int WARP_{n} = 32;", "WARP_{n}"),
    "enumerator": Spelling("enum {{ WARP_{n} = 32 }};", "int(WARP_{n})"),
    "enum-class": Spelling("enum class Size_{n} : int {{ warp = 32 }};", "static_cast<int>(Size_{n}::warp)"),
    "trait": Spelling("template <class> struct T_{n} {{ static constexpr int lanes = 32; }};", "T_{n}<int>::lanes"),
    "bits": Spelling("", "int(sizeof(unsigned) * 8)"),
    "digits": Spelling("", "int(CHAR_BIT * sizeof(uint32_t))"),
    "integral-constant": Spelling("using Lanes_{n} = std::integral_constant<int, 32>;", "Lanes_{n}::value"),
    "namespace": Spelling("namespace cfg_{n} {{ constexpr int warp = 32; }}", "cfg_{n}::warp"),
    "template": Spelling("", "W", kernel="template"),
    "property": Spelling("", "w", constant=False, kernel="property"),
    "attribute": Spelling("", "w", constant=False, kernel="attribute"),
}
MASKS = (
    "0xffffffff",
    "~0u",
    "0xFFFFFFFFu",
    "-1",
    "FULL",
    "kFull",
    "UINT32_MAX",
    "(unsigned)-1",
    "__activemask()",
    "unsigned((1ull << 32) - 1)",
)
LANES = (
    "(t & 31)",
    "(t % {W})",
    "(t & ({W} - 1))",
    "(t - t / {W} * {W})",
    "int(lane_id())",
    "int(cg::tiled_partition<32>(cg::this_thread_block()).thread_rank())",
    "int((threadIdx.y * blockDim.x + threadIdx.x) % {W})",
    "__popc(lanes_below())",
)
WARPS = ("(t / {W})", "(t >> 5)", "int(threadIdx.x / {W})")
SCOPES = {
    "inline": ("", "{body}"),
    "function": ("__device__ int f_{n}(int v, int t) {{ int r; {body} return r; }}", "r = f_{n}(v, t);"),
    "template": (
        "template <typename T> __device__ __forceinline__ T f_{n}(T v, int t) {{ T r; {body} return r; }}",
        "r = f_{n}<int>(v, t);",
    ),
    "functor": (
        "struct F_{n} {{ int t; __device__ int operator()(int v) const {{ int r; {body} return r; }} }};",
        "r = F_{n}{{t}}(v);",
    ),
    "static-method": (
        "struct S_{n} {{ static __device__ int run(int v, int t) {{ int r; {body} return r; }} }};",
        "r = S_{n}::run(v, t);",
    ),
    "lambda": ("", "auto f = [=](int v) {{ int r; {body} return r; }}; r = f(v);"),
    "macro": ("#define OP_{n}(r, v) do {{ {body} }} while (0)", "OP_{n}(r, v);"),
    "namespace": (
        "namespace in_{n} {{ namespace {{ __device__ int f(int v, int t) {{ int r; {body} return r; }} }} }}",
        "r = in_{n}::f(v, t);",
    ),
    "header": ("__device__ inline int f_{n}(int v, int t) {{ int r; {body} return r; }}", "r = f_{n}(v, t);"),
}
INSIDE = ("inline", "lambda")
"""Scopes that see what the kernel is given."""
TIMES = 3
"""Scopes drawn for each idiom and spelling."""

HEAD = """#pragma once
#include <climits>
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <type_traits>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
constexpr unsigned kFull = 0xffffffffu;
__device__ inline unsigned lane_id() { unsigned l; asm("mov.u32 %0, %%laneid;" : "=r"(l)); return l; }
__device__ inline unsigned lanes_below() { unsigned m; asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); return m; }
"""
MAIN = """
static void show(int which, int *d) {{
  int h[{threads}];
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d:", which);
  for (int value : h) printf(" %d", value);
  printf("\\n");
}}
int main() {{
  int *d, attribute;
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  cudaDeviceGetAttribute(&attribute, cudaDevAttrWarpSize, 0);
  cudaMalloc(&d, {threads} * sizeof(int));
{calls}
}}
"""


@dataclass(frozen=True)
class Case:
    """`before` and `kernel` are text with {n} for the number it gets in a program; `want` is one number a thread."""

    title: str
    before: str
    kernel: str
    call: str
    in_header: bool
    want: tuple[int, ...]

    @property
    def set_aside(self) -> bool:
        return _hash(self.title)[0] % 2 == 1


def _hash(title: str) -> bytes:
    return hashlib.sha256(title.encode()).digest()


def cases() -> list[Case]:
    """Every case, in the order of idioms and spellings; no two titles are alike."""
    return list(_cases())


def _cases() -> Iterator[Case]:
    for idiom_name, idiom in IDIOMS.items():
        for spelling_name, spelling in SPELLINGS.items():
            if idiom.constant and not spelling.constant:
                continue
            order = sorted(SCOPES, key=lambda scope: _hash(f"{idiom_name}/{spelling_name}/{scope}"))
            scopes = [scope for scope in order if not spelling.kernel or scope in INSIDE]
            for scope in scopes[:TIMES]:
                yield _case(idiom_name, spelling_name, scope)


def _case(idiom_name: str, spelling_name: str, scope: str) -> Case:
    title = f"{idiom_name}/{spelling_name}/{scope}"
    idiom, spelling, digest = IDIOMS[idiom_name], SPELLINGS[spelling_name], _hash(title)
    size = spelling.use
    parts = {
        "W": size,
        "M": MASKS[digest[1] % len(MASKS)],
        "L": LANES[digest[2] % len(LANES)].format(W=size),
        "I": WARPS[digest[3] % len(WARPS)].format(W=size),
    }
    # the parts hold {n} themselves: they are put in as text, and the number last
    body = idiom.body.format(**parts).replace("{", "{{").replace("}", "}}").replace("{{n}}", "{n}")
    around, inside = SCOPES[scope]
    statement = inside.replace("{body}", body)
    given = {"template": "template <int W> ", "": ""}.get(spelling.kernel, "")
    argument = ", int w" if spelling.kernel in ("property", "attribute") else ""
    kernel = (
        f"{given}__global__ void k_{{n}}(int *out{argument}) {{{{ const int t = threadIdx.x; "
        f"int v = (t * 37 + 11) % 101 - 20, r = 0; {statement} out[t] = r; }}}}"
    )
    call = {
        "template": "k_{n}<32><<<1, 96>>>(d);",
        "property": "k_{n}<<<1, 3 * prop.warpSize>>>(d, prop.warpSize);",
        "attribute": "k_{n}<<<dim3(1), dim3(3 * attribute)>>>(d, attribute);",
    }.get(spelling.kernel, "k_{n}<<<1, 96>>>(d);")
    before = spelling.before + "\n" + around.replace("{body}", body) + "\n"
    want = tuple(
        idiom.model(VALUES[thread // WARP * WARP :][:WARP], thread % WARP, thread // WARP) for thread in range(THREADS)
    )
    return Case(title, before, kernel, call, scope == "header", want)


def sources(chosen: Sequence[Case]) -> dict[str, str]:
    """One program that runs the cases: path -> CUDA text."""
    header, main, calls = HEAD, '#include "lanes.cuh"\n', []
    for number, case in enumerate(chosen):
        before = case.before.format(n=number)
        header, main = (header + before, main) if case.in_header else (header, main + before)
        main += case.kernel.format(n=number) + "\n"
        calls.append(f"  {case.call.format(n=number)}\n  show({number}, d);")
    return {"lanes.cuh": header, "main.cu": main + MAIN.format(threads=THREADS, calls="\n".join(calls))}


@dataclass(frozen=True)
class Verdict:
    """Of one case: what is wrong with its run (None where nothing is), and the findings that name a line of it."""

    case: Case
    wrong: str | None
    named: tuple[str, ...]


def judge(chosen: Sequence[Case], executor: CpuExecutor, widths: Sequence[int] = (32, 64)) -> list[Verdict]:
    """Port the cases as one program, run it at the widths, compare with the model; in parts where it does not build."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = sources(chosen)
        for path, text in files.items():
            (folder / "cuda" / path).parent.mkdir(exist_ok=True)
            (folder / "cuda" / path).write_text(text)
        patch = api.port(folder / "cuda")
        api.apply(patch, folder / "hip")
        loud = [item for item in patch.findings if item.applicability is not Applicability.SAFE]
        said: list[tuple[str, ...]] = []
        for number, case in enumerate(chosen):
            own = case.before.format(n=number) + case.kernel.format(n=number)
            lines = {line for line in own.splitlines() if line.strip()}
            texts = {path: text.splitlines() for path, text in files.items()}
            said.append(
                tuple(
                    f"{item.rule} ({item.applicability.value}): {item.message}"
                    for item in loud
                    if texts[item.path][item.line - 1] in lines
                )
            )
        (folder / "build").mkdir()
        try:
            executable = executor.build(load_program(folder / "hip" / "main.cu"), folder / "build", BuildOptions())
        except BuildError as error:
            if len(chosen) == 1:
                return [Verdict(chosen[0], f"does not build: {error}", said[0])]
            middle = len(chosen) // 2
            return judge(chosen[:middle], executor, widths) + judge(chosen[middle:], executor, widths)
        wrong: list[str | None] = [None] * len(chosen)
        for width in widths:
            result = executor.run(executable, (), folder, RunOptions(width=width))
            rows = dict(line.split(":", 1) for line in result.stdout.splitlines() if ":" in line)
            for number, case in enumerate(chosen):
                got = tuple(int(word) for word in rows.get(str(number), "").split())
                if got != case.want and wrong[number] is None:
                    wrong[number] = f"at width {width}: {_difference(got, case.want)}"
        return [Verdict(*row) for row in zip(chosen, wrong, said, strict=True)]


def _difference(got: Sequence[int], want: Sequence[int]) -> str:
    if not got:
        return "no result"
    at = next(place for place, (one, other) in enumerate(zip(got, want, strict=True)) if one != other)
    return f"thread {at} has {got[at]}, CUDA {want[at]}"
