"""`<cuda/std/...>`, `<cuda/atomic>` and `<cuda/cmath>` are libcu++'s headers, which ROCm does not bring along.

`rocport_std.h` has what most CUDA code takes from them under the same names: `cuda::std`'s traits, array, tuple,
complex, limits and mathematics over the host's standard library and HIP's device functions, `cuda::atomic` and
`cuda::atomic_ref` with their orders and scopes over the compiler's atomics, `cuda::ceil_div`, and `<nv/target>`'s
`NV_IF_TARGET`, which chooses as `platform-conditional` does: as for sm_80. The names stay as they are. Waiting for an
atomic object polls it: REVIEW, as lanes of one wavefront cannot wait for one another. A name that the header does not
have, and other headers of libcu++ (memory resources, semaphores), are MANUAL; barriers and pipelines have a rule of
their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace_range
from rocport.rules.cuda.include_header import OTHERS, served_includes
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource, between
from rocport.syntax.includes import included

HEADER = "rocport_std.h"
BARRIER_HEADERS = frozenset({"cuda/barrier", "cuda/latch", "cuda/pipeline", "cuda/std/barrier", "cuda/std/latch"})
"""Headers whose names rocport_barrier.h has."""
_HEADERS = frozenset(name for name in OTHERS if name.startswith(("cuda/", "nv/"))) - BARRIER_HEADERS

NAMES = frozenset(
    b"int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t size_t ptrdiff_t "
    b"nullptr_t add_const_t add_lvalue_reference_t add_pointer_t alignment_of common_type common_type_t "
    b"conditional conditional_t decay decay_t enable_if enable_if_t false_type integral_constant is_arithmetic "
    b"is_base_of is_class is_const is_constructible is_convertible is_default_constructible is_empty is_enum "
    b"is_floating_point is_integral is_pointer is_reference is_same is_signed is_trivially_copyable is_unsigned "
    b"is_void make_signed make_signed_t make_unsigned make_unsigned_t remove_const_t remove_cv remove_cv_t "
    b"remove_pointer_t remove_reference remove_reference_t true_type underlying_type_t bool_constant conjunction_v "
    b"disjunction_v invoke_result_t is_arithmetic_v is_base_of_v is_class_v is_const_v is_constructible_v "
    b"is_convertible_v is_empty_v is_enum_v is_floating_point_v is_integral_v is_invocable_v is_pointer_v "
    b"is_reference_v is_same_v is_signed_v is_trivially_copyable_v is_unsigned_v is_void_v void_t array complex "
    b"conj declval exchange forward get imag index_sequence index_sequence_for initializer_list integer_sequence "
    b"make_index_sequence make_pair make_tuple max min move numeric_limits pair real swap tie tuple "
    b"tuple_element_t tuple_size apply tuple_size_v bit_and bit_or bit_xor divides equal_to greater greater_equal "
    b"less less_equal logical_and logical_or minus modulus multiplies negate not_equal_to plus acos acosh asin "
    b"asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh cbrt ceil erf erfc exp2 expm1 fabs floor "
    b"log1p log2 rint round trunc atan2 copysign fmax fmin fmod hypot pow abs isnan isinf isfinite signbit norm "
    b"arg polar atomic atomic_ref atomic_thread_fence memory_order memory_order_relaxed memory_order_consume "
    b"memory_order_acquire memory_order_release memory_order_acq_rel memory_order_seq_cst advance distance next "
    b"prev iterator_traits reverse_iterator make_reverse_iterator input_iterator_tag output_iterator_tag "
    b"forward_iterator_tag bidirectional_iterator_tag random_access_iterator_tag accumulate add_const add_pointer "
    b"as_const begin bit_cast bit_ceil bit_floor bit_width clamp conjunction copy copy_if countl_one countl_zero "
    b"countr_one countr_zero disjunction end endian extent fill forward_as_tuple has_single_bit ignore is_array "
    b"is_array_v is_assignable is_copy_constructible is_default_constructible_v is_destructible is_final "
    b"is_function is_lvalue_reference is_lvalue_reference_v is_nothrow_move_constructible is_null_pointer "
    b"is_object is_rvalue_reference is_rvalue_reference_v is_scalar is_standard_layout is_trivial "
    b"is_trivially_destructible make_from_tuple negation negation_v numbers popcount rank remove_const "
    b"remove_cvref remove_cvref_t remove_extent remove_extent_t remove_pointer rotl rotr transform tuple_cat "
    b"tuple_element underlying_type identity bit_not logical_not".split()
)
"""Names of cuda::std that the header has."""
OUTSIDE = frozenset(
    b"atomic atomic_ref atomic_thread_fence thread_scope thread_scope_system thread_scope_device thread_scope_block "
    b"thread_scope_thread ceil_div round_up fast_mod_div memory_order memory_order_relaxed memory_order_consume "
    b"memory_order_acquire memory_order_release memory_order_acq_rel memory_order_seq_cst".split()
)
"""Names of cuda that the header has."""
WAITING = frozenset(
    b"barrier latch pipeline pipeline_shared_state make_pipeline memcpy_async aligned_size_t "
    b"pipeline_consumer_wait_prior pipeline_producer_commit async_contract_fulfillment".split()
)
"""Names of cuda that rocport_barrier.h has; `barrier` and `latch` are in cuda::std too."""

_OF_TOKENS = frozenset({b"move", b"forward", b"arrive", b"arrival_token"})

RULE = Rule(
    name="standard-library",
    summary="CUDA's C++ standard library",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"cuda", b"nv"}),
    examples=(
        Example(
            "#include <cuda/std/array>\n#include <cuda/atomic>\n"
            "__device__ int f(cuda::std::array<int, 4> a) { return a[cuda::ceil_div(3, 2)]; }\n",
            contains=('#include "rocport_std.h"', "cuda::std::array<int, 4>", "cuda::ceil_div"),
            absent=("<cuda/",),
        ),
        Example(
            "__device__ void f(int *p) { cuda::atomic_ref<int, cuda::thread_scope_device> a(*p); a.fetch_add(1); }\n",
            contains=('#include "rocport_std.h"', "cuda::atomic_ref<int, cuda::thread_scope_device> a(*p)"),
        ),
        Example(
            "__device__ cuda::atomic<int, cuda::thread_scope_device> n;\n"
            "__device__ int f() { return n.fetch_add(1, cuda::std::memory_order_relaxed); }\n",
            contains=('#include "rocport_std.h"', "cuda::atomic<int, cuda::thread_scope_device> n;"),
        ),
        Example(
            "#include <cuda/std/complex>\n"
            "__global__ void k() { __shared__ cuda::std::complex<float> z[32]; z[threadIdx.x] = {1, 2}; }\n",
            contains=('#include "rocport_std.h"', "__shared__ cuda::std::complex<float> z[32];"),
        ),
        Example(
            "#include <nv/target>\n#include <cuda/std/iterator>\n__host__ __device__ int f() {\n"
            "  NV_IF_TARGET(NV_IS_DEVICE, (return 1;), (return 2;))\n}\n",
            contains=('#include "rocport_std.h"', "NV_IF_TARGET(NV_IS_DEVICE"),
            absent=("nv/target>", "<cuda/"),
        ),
        Example(
            "#include <cuda/std/bit>\n#include <cuda/std/__algorithm/min.h>\n"
            "__device__ int f(int n) { return cuda::std::countl_zero(unsigned(n)); }\n",
            contains=('#include "rocport_std.h"',),
            absent=("<cuda/",),
        ),
        Example("#include <cuda/std/version>\n", contains=('#include "rocport_std.h"',), absent=("<cuda/",)),
        Example("__device__ cuda::atomic<int> n;\n__device__ void f() { n.wait(0); }\n", contains=("n.wait(0)",)),
        Example(
            "#include <cuda/barrier>\n__device__ void f(cuda::barrier<cuda::thread_scope_block> &b, int &x) {\n"
            "  cuda::atomic_ref<int> n(x);\n  n.wait(0);\n  b.wait(b.arrive());\n}\n",
            contains=("n.wait(0)",),
        ),
        Example(
            "#include <cub/cub.cuh>\n__device__ bool f(float x) { return cuda::std::isnan(x); }\n",
            contains=('#include "rocport_std.h"', "cuda::std::isnan(x)"),
        ),
        Example("__device__ float f(float x) { return cuda::std::lgamma(x); }\n", contains=("cuda::std::lgamma",)),
        Example(
            "#ifdef USE_ROCM\nnamespace cuda { namespace std = ::std; }\n#endif\n",
            contains=('#include "rocport_std.h"', "namespace cuda {  }"),
        ),
    ),
    clean=(
        "auto s = at::cuda::getCurrentCUDAStream();\n",
        "namespace mine { namespace cuda { namespace std { int x; } } }\n",
        "namespace mine { namespace cuda { template <class T> struct atomic { T v; }; } }\n"
        "using namespace mine;\n__device__ cuda::atomic<int> n;\n",
    ),
    sources=("https://nvidia.github.io/cccl/libcudacxx/", "https://github.com/ROCm/libhipcxx"),
)


def supported(source: CudaSource, position: int) -> bool:
    """True where `cuda` at a token begins a name that a header of the port has."""
    if source.at(position + 1) != b"::":
        return False
    name = source.at(position + 2)
    if name == b"std" and source.at(position + 3) == b"::":
        return source.at(position + 4) in NAMES | {b"barrier", b"latch"}
    return name in OUTSIDE | WAITING


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from served_includes(
        RULE, source, context, _HEADERS, HEADER, "libcu++'s names over the host's standard library and HIP"
    )
    view = branches(source, context.project.torch_extension)
    yield from _aliases(source)
    yield from _unread(source)
    yield from _waits(source)
    lines: set[tuple[int, bytes]] = set()
    for position in source.find(b"cuda"):
        if not _is_std(source, position) or supported(source, position) or source.qualified(position):
            continue
        name, line = source.at(position + 4), source.line(source.starts[position])
        if (line, name) in lines or view.is_dead(source.starts[position]) or amd_only(source, position):
            continue
        lines.add((line, name))
        yield finding(
            RULE,
            source,
            position,
            f"cuda::std::{name.decode('utf-8', 'replace')} is not in {HEADER}",
            last=position + 4,
            fix="use std in host and constexpr code, HIP's function of the name in device code, or libhipcxx",
            cause="pieces of libcu++ that the port lacks",
        )


def _aliases(source: CudaSource) -> Iterator[Finding]:
    """`namespace cuda { namespace std = ::std; }`, which an AMD branch makes do with: the header's is a namespace."""
    alias = (b"namespace", b"std", b"=", b"::", b"std", b";")
    for position in source.find(b"cuda"):
        first = position + 2
        if source.at(position - 1) != b"namespace" or source.at(position + 1) != b"{":
            continue
        if tuple(source.texts[first : first + len(alias)]) == alias:
            yield finding(
                RULE,
                source,
                first,
                f"{HEADER} has the namespace cuda::std: an alias of that name is an error beside it",
                last=first + len(alias) - 1,
                applicability=Applicability.SAFE,
                edits=[replace_range(source, first, first + len(alias), b"")],
                headers=[HEADER],
            )


def _unread(source: CudaSource) -> Iterator[Finding]:
    """The first use of an atomic object in a file, or of another name where it includes no header of libcu++: they may
    have come with a header of another library, of CUB's."""
    served = not _HEADERS.isdisjoint(included(source))
    for position in source.find(b"cuda"):
        name = source.at(position + 2)
        atomic = name in (b"atomic", b"atomic_ref")
        plain = name == b"std" and not served and source.at(position + 4) in NAMES
        if not (atomic or plain) or not supported(source, position) or source.qualified(position):
            continue
        if _declared_here(source, name):
            return
        what = "the compiler's atomic operations of the orders and scopes named" if atomic else "the host's library's"
        yield finding(
            RULE,
            source,
            position,
            f"cuda::{name.decode()} is of {HEADER}: {what}",
            last=position + 2,
            applicability=Applicability.SAFE,
            headers=[HEADER],
        )
        return


def _declared_here(source: CudaSource, name: bytes) -> bool:
    """True where the file declares a class or namespace of that name in a `namespace cuda` of its own."""
    for at in source.find(b"cuda"):
        if source.at(at + 1) == b"{" and source.at(at - 1) in (b"namespace", b"::"):
            inside = between(source.index.get(name, []), at, source.pairs.get(at + 1, at))
            if any(source.at(place - 1) in (b"struct", b"class", b"namespace") for place in inside):
                return True
    return False


def _waits(source: CudaSource) -> Iterator[Finding]:
    """`flag.wait(0)` in a file with cuda's atomic objects: polled, which lanes of a wavefront cannot do for others.

    A barrier's wait takes a token, which can only be moved: `b.wait(std::move(token))`, `b.wait(b.arrive())`.
    """
    used = {source.at(at + 2) for at in source.find(b"cuda")} | {source.at(at + 4) for at in source.find(b"cuda")}
    if used.isdisjoint({b"atomic", b"atomic_ref"}):
        return
    for position in sorted(source.find(b"wait")):
        if source.at(position - 1) not in (b".", b"->") or source.at(position + 1) != b"(":
            continue
        if source.at(position + 2) == b")" or amd_only(source, position):
            continue  # event.wait() is something else
        call = source.call(position)
        if call is not None and not _OF_TOKENS.isdisjoint(source.texts[call.open : call.close]):
            continue
        yield finding(
            RULE,
            source,
            position,
            f"wait() of an atomic object polls it in {HEADER}: lanes of a wavefront cannot wait for one another",
            last=position + 1,
            applicability=Applicability.REVIEW,
            fix="see that the value is stored by another wavefront or by the host; wait in one lane of a wavefront",
        )


def _is_std(source: CudaSource, position: int) -> bool:
    return (
        source.at(position + 1) == b"::" and source.at(position + 2) == b"std" and source.at(position + 3) == b"::"
    ) and source.is_ident(position + 4)
