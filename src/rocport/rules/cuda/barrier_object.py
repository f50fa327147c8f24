"""libcu++'s `cuda::barrier`, `cuda::latch`, `cuda::pipeline` and `cuda::memcpy_async`, whose headers ROCm lacks.

`rocport_barrier.h` has them under the same names. A barrier counts arrivals in shared memory and polls its phase; a
copy is made where it is asked for, so that what CUDA promises behind the wait holds, and copying and computing no
longer overlap; a pipeline of a block synchronizes the block where its stages change hands. That is right where the
threads of a wavefront come to the barrier together: REVIEW. A lane that waits for a lane of its own wavefront on
another branch never goes on: the rule `divergent-barrier` looks for those.

Producer and consumer roles of a pipeline, transaction counts, bulk copies (TMA) and the handle for PTX are MANUAL.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.include_header import served_includes, spelled
from rocport.rules.cuda.standard_library import BARRIER_HEADERS, WAITING, supported
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

HEADER = "rocport_barrier.h"
_BARRIERS = frozenset({b"barrier", b"latch"})
_ABSENT = {
    b"barrier_native_handle": "the address of a barrier for PTX",
    b"barrier_arrive_tx": "a barrier that counts bytes",
    b"barrier_expect_tx": "a barrier that counts bytes",
    b"memcpy_async_tx": "a bulk copy that a barrier counts",
}
_BULK = tuple(
    f"cp_async_bulk_{what}".encode()
    for what in (
        "global_to_shared",
        "shared_to_global",
        "commit_group",
        "wait_group_read",
        "wait_group",
        "prefetch_tensor",
        *(
            f"tensor_{count}d_{way}{form}"
            for count in range(1, 6)
            for way in ("global_to_shared", "shared_to_global")
            for form in ("", "_im2col")
        ),
    )
)
_PROXIES = (b"fence_proxy_async", b"fence_proxy_async_shared_cta", b"fence_proxy_tensormap")
_COPY_ENGINE = frozenset((*_BULK, *_PROXIES))
"""Functions of cuda::device::experimental: bulk copies by the tensor memory accelerator (TMA), and their fences."""
_ROLES = "a pipeline with producer and consumer threads: warps of one wavefront cannot wait for one another"

RULE = Rule(
    name="barrier-object",
    summary="libcu++ barrier, latch, pipeline or asynchronous copy",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"cuda", b"make_pipeline"}) | _COPY_ENGINE,
    examples=(
        Example(
            "#include <cuda/barrier>\n__global__ void k() {\n"
            "  __shared__ cuda::barrier<cuda::thread_scope_block> b;\n"
            "  if (threadIdx.x == 0) init(&b, blockDim.x);\n  __syncthreads();\n  b.arrive_and_wait();\n}\n",
            contains=('#include "rocport_barrier.h"', "cuda::barrier<cuda::thread_scope_block> b;"),
            absent=("<cuda/",),
        ),
        Example(
            "#include <cooperative_groups.h>\n#include <cuda/pipeline>\nnamespace cg = cooperative_groups;\n"
            "__global__ void k(int *to, const int *from) {\n"
            "  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;\n"
            "  auto block = cg::this_thread_block();\n  auto pipe = cuda::make_pipeline(block, &state);\n"
            "  pipe.producer_acquire();\n  cuda::memcpy_async(block, to, from, 64, pipe);\n"
            "  pipe.producer_commit();\n}\n",
            contains=('#include "rocport_barrier.h"', "cuda::make_pipeline(block, &state)"),
        ),
        Example(
            "#include <cuda/pipeline>\n__device__ void f(cuda::pipeline_shared_state<cuda::thread_scope_block, 2> *s,\n"
            "                  cooperative_groups::thread_block b) { auto pipe = cuda::make_pipeline(b, s, 32); }\n",
            contains=("cuda::make_pipeline(b, s, 32)",),
        ),
        Example(
            "#include <cuda/barrier>\n__device__ void f(cuda::barrier<cuda::thread_scope_block> &b) {\n"
            "  auto token = cuda::device::barrier_arrive_tx(b, 1, 256);\n}\n",
            contains=("cuda::device::barrier_arrive_tx",),
        ),
        Example(
            "#include <cuda/barrier>\nnamespace cde = cuda::device::experimental;\n"
            "__device__ void f(float *to, float *from) {\n  cde::fence_proxy_async_shared_cta();\n"
            "  cde::cp_async_bulk_shared_to_global(to, from, 256);\n  cde::cp_async_bulk_commit_group();\n}\n",
            contains=("cde::cp_async_bulk_shared_to_global(to, from, 256)",),
        ),
        Example(
            "#include <cuda/pipeline>\nusing namespace cuda;\n__device__ void f(pipeline_shared_state<"
            "thread_scope_block, 2> *s, cooperative_groups::thread_block b) { auto p = make_pipeline(b, s, 32); }\n",
            contains=("make_pipeline(b, s, 32)",),
        ),
    ),
    clean=(
        "namespace mine { namespace cuda { struct barrier; } }\nmine::cuda::barrier *b;\n",
        "namespace cuda { class barrier {}; }\nint main() { cuda::barrier b; }\n",
        "void wait(at::cuda::CUDAEvent &e) { e.block(stream); }\n",
        "__device__ void cp_async_bulk_commit_group() {}\n__device__ void f() { cp_async_bulk_commit_group(); }\n",
        "Pipeline make_pipeline(int, int, int);\nPipeline p = make_pipeline(1, 2, 3);\n",
    ),
    sources=(
        "https://nvidia.github.io/cccl/libcudacxx/extended_api/synchronization_primitives.html",
        "https://nvidia.github.io/cccl/libcudacxx/extended_api/asynchronous_operations.html",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from served_includes(
        RULE, source, context, BARRIER_HEADERS, HEADER, "its names over shared memory and atomic operations"
    )
    view = branches(source, context.project.torch_extension)
    told: set[str] = set()
    for position in sorted(source.find(b"cuda")):
        if source.qualified(position) or amd_only(source, position) or view.is_dead(source.starts[position]):
            continue
        standard = source.at(position + 2) == b"std"
        name_at = position + (4 if standard else 2)
        name = source.at(name_at)
        if name not in WAITING or not supported(source, position):
            continue
        if not standard and source.at(name_at + 1) not in (b"<", b"(", b";", b"::"):
            continue  # libcu++'s are templates: `cuda::barrier b;` is of the project
        what = "barrier" if name in _BARRIERS else "copy"
        if what not in told:
            told.add(what)
            yield _kept(source, position, name_at, what)
    yield from _roles(source, context)
    yield from _absent(source)
    for position in sorted(source.find(*(source.names & _COPY_ENGINE - context.project.device_functions))):
        if not amd_only(source, position) and not view.is_dead(source.starts[position]):
            yield _refused(source, position, "a bulk copy (TMA): AMD GPUs have no such engine")


def _kept(source: CudaSource, position: int, name_at: int, what: str) -> Finding:
    name = f"cuda::{source.at(name_at).decode()}"
    return finding(
        RULE,
        source,
        position,
        f"{name} is of {HEADER}: threads poll, and all lanes of a wavefront that arrive have to have arrived before "
        "one of them waits"
        if what == "barrier"
        else f"{name} is of {HEADER}: copies are made where they are asked for, so that copying and computing do not "
        "overlap",
        last=name_at,
        applicability=Applicability.REVIEW,
        headers=[HEADER],
        fix="see that no warp waits in a branch for a warp of another branch"
        if what == "barrier"
        else "expect another speed; see that all threads of the group come to each step of the pipeline",
    )


def _roles(source: CudaSource, context: Context) -> Iterator[Finding]:
    """Pipelines made with a count or a role: CUDA's by name, or by the header where no function here has the name."""
    included = {found[0] for item in source.directives if (found := spelled(source, item)) is not None}
    header = "cuda/pipeline" in included and b"make_pipeline" not in context.project.device_functions
    view = branches(source, context.project.torch_extension)
    for position in source.find(b"make_pipeline"):
        named = source.at(position - 1) == b"::" and source.at(position - 2) == b"cuda"
        if not (named or header) or source.at(position - 1) in (b".", b"->") or amd_only(source, position):
            continue
        call = source.call(position)
        if call is not None and len(call.args) > 2 and not view.is_dead(source.starts[position]):
            yield _refused(source, position, _ROLES)


def _absent(source: CudaSource) -> Iterator[Finding]:
    for name, what in _ABSENT.items():
        for position in source.find(name):
            if (
                source.at(position - 1) == b"::"
                and source.at(position - 2) != b"cuda"
                and not amd_only(source, position)
            ):
                yield _refused(source, position, what)


def _refused(source: CudaSource, position: int, what: str) -> Finding:
    return finding(
        RULE,
        source,
        position,
        f"{HEADER} has no {source.at(position).decode()}: {what}",
        fix="let all threads of the block copy, and put __syncthreads() between copying and computing",
    )
