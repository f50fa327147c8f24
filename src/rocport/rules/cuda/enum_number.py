"""Enumerators of a CUDA library used as numbers: HIP's have other values.

`CUBLAS_OP_N` is 0 and `HIPBLAS_OP_N` 111, `CURAND_RNG_PSEUDO_DEFAULT` is 100 and HIP's 400, `CUBLAS_GEMM_DEFAULT` is
-1 and HIP's 160, attribute 16 of a device is its number of multiprocessors in CUDA, and in HIP that is 63. The names
are translated; a number cast to the type, read from a file or counted through in a loop is not, and no compiler warns.

REVIEW, at each conversion between a number and one of the types whose values differ. Nothing is edited.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import IDENT, NUMBER, CudaSource, kind_of

# Type -> (how its enumerators are spelled, one whose value differs). Types whose values agree are not listed:
# cudaMemcpyKind, cudaDataType, cufftType, cufftResult, cusparseOperation_t, ncclDataType_t.
_TYPES: dict[bytes, tuple[bytes, str]] = {
    b"cublasOperation_t": (b"CUBLAS_OP_", "CUBLAS_OP_N is 0, HIPBLAS_OP_N 111"),
    b"cublasFillMode_t": (b"CUBLAS_FILL_MODE_", "CUBLAS_FILL_MODE_LOWER is 0, HIPBLAS_FILL_MODE_LOWER 122"),
    b"cublasDiagType_t": (b"CUBLAS_DIAG_", "CUBLAS_DIAG_NON_UNIT is 0, HIPBLAS_DIAG_NON_UNIT 131"),
    b"cublasSideMode_t": (b"CUBLAS_SIDE_", "CUBLAS_SIDE_LEFT is 0, HIPBLAS_SIDE_LEFT 141"),
    b"cublasGemmAlgo_t": (b"CUBLAS_GEMM_", "CUBLAS_GEMM_DEFAULT is -1, HIPBLAS_GEMM_DEFAULT 160, the only one"),
    b"cublasStatus_t": (b"CUBLAS_STATUS_", "CUBLAS_STATUS_ALLOC_FAILED is 3, HIPBLAS_STATUS_ALLOC_FAILED 2"),
    b"cublasComputeType_t": (b"CUBLAS_COMPUTE_", "CUBLAS_COMPUTE_32F is 68, HIPBLAS_COMPUTE_32F 2"),
    b"curandRngType_t": (b"CURAND_RNG_", "CURAND_RNG_PSEUDO_DEFAULT is 100, HIPRAND_RNG_PSEUDO_DEFAULT 400"),
    b"curandRngType": (b"CURAND_RNG_", "CURAND_RNG_PSEUDO_DEFAULT is 100, HIPRAND_RNG_PSEUDO_DEFAULT 400"),
    b"cusolverStatus_t": (b"CUSOLVER_STATUS_", "the values of cuSOLVER's and hipSOLVER's states differ"),
    b"cusolverEigMode_t": (b"CUSOLVER_EIG_MODE_", "CUSOLVER_EIG_MODE_NOVECTOR is 0, HIPSOLVER_EIG_MODE_NOVECTOR 201"),
    b"cusolverEigType_t": (b"CUSOLVER_EIG_TYPE_", "CUSOLVER_EIG_TYPE_1 is 1, HIPSOLVER_EIG_TYPE_1 211"),
    b"cudaDeviceAttr": (
        b"cudaDevAttr",
        "cudaDevAttrMultiProcessorCount is 16, hipDeviceAttributeMultiprocessorCount 63",
    ),
    b"CUdevice_attribute": (
        b"CU_DEVICE_ATTRIBUTE_",
        "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT is 16, hipDeviceAttributeMultiprocessorCount 63",
    ),
    b"CUjit_option": (b"CU_JIT_", "the values of HIP's options differ from CUjit_option's after the first ones"),
}
_SPELLED = tuple(prefix for prefix, _ in _TYPES.values())
_ATTRIBUTE_CALLS = {b"cudaDeviceGetAttribute": 1, b"cuDeviceGetAttribute": 1}
_INTEGERS = frozenset(
    b"int unsigned long short char auto size_t int32_t uint32_t int64_t uint64_t uint8_t int8_t".split()
)

_ENUMERATORS = frozenset(
    name for name, symbol in load().identifiers.items() if symbol.kind == "enum" and name.startswith(_SPELLED)
)

RULE = Rule(
    name="enum-number",
    summary="enumerator of a CUDA library as a number",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=5,
    triggers=frozenset({*_TYPES, *_ATTRIBUTE_CALLS, *_ENUMERATORS}),
    examples=(
        Example("cublasOperation_t f(int t) { return (cublasOperation_t)t; }\n"),
        Example("auto f(int t) { return static_cast<curandRngType_t>(100 + t); }\n"),
        Example("void f() { for (int a = CUBLAS_GEMM_DEFAULT; a < 24; ++a) g(static_cast<cublasGemmAlgo_t>(a)); }\n"),
        Example("void f(int *v) { cudaDeviceGetAttribute(v, (cudaDeviceAttr)16, 0); }\n"),
        Example("int f(cublasComputeType_t t) { return (int)t; }\n"),
        Example("auto f(cublasOperation_t o) { return names[o]; }\n"),
        Example("auto f(int t) { return g(CUBLAS_OP_N + t); }\n"),
        Example("void f(int *v) { cuDeviceGetAttribute(v, 16, 0); }\n"),
    ),
    clean=(
        "cublasOperation_t f(bool t) { return t ? CUBLAS_OP_T : CUBLAS_OP_N; }\n",
        "bool f(cublasStatus_t s) { return s == CUBLAS_STATUS_SUCCESS; }\n",
        "auto f() { return static_cast<cublasOperation_t>(CUBLAS_OP_T); }\n",
        'void f(cublasStatus_t s) { printf("%d", (int)s); }\n',
        "cublasStatus_t f(cublasHandle_t h);\n",
    ),
    sources=(
        "hipblas/hipblas.h, hipblas-common.h, hiprand/hiprand.h, hipsolver-types.h, hip_runtime_api.h of ROCm 6.4",
        "https://docs.nvidia.com/cuda/cublas/index.html#cublas-datatypes-reference",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    seen: set[int] = set()
    for found in _all(source):
        line = source.line(found.span.start)
        if line not in seen and not amd_only(source, source.token_at(found.span.start)):
            seen.add(line)
            yield found


def _all(source: CudaSource) -> Iterator[Finding]:
    for name in sorted(source.names & _TYPES.keys()):
        prefix, differs = _TYPES[name]
        for position in source.find(name):
            yield from _conversion(source, position, prefix, differs)
        yield from _numbers(source, name, differs)
    yield from _arithmetic(source)
    for name, place in _ATTRIBUTE_CALLS.items():
        for position in source.find(name):
            call = source.call(position)
            if call is None or len(call.args) <= place:
                continue
            first, last = call.args[place]
            if last - first == 1 and kind_of(source.at(first)) == NUMBER:
                yield _finding(
                    source, position, call.close, "an attribute given by its number", _TYPES[b"cudaDeviceAttr"][1]
                )


def _arithmetic(source: CudaSource) -> Iterator[Finding]:
    """Enumerators counted with: `int a = CUBLAS_OP_N`, `CUBLAS_OP_N + t`, `i <= CUBLAS_OP_C`."""
    for position, text in enumerate(source.texts):
        if not text.startswith(_SPELLED) or kind_of(text) != IDENT or source.directive_of(position) is not None:
            continue
        before, after = source.at(position - 1), source.at(position + 1)
        number = before == b"=" and source.at(position - 3) in _INTEGERS - {b"auto"}
        if number or after in _COUNTS or before in _COUNTS:
            differs = next(differs for prefix, differs in _TYPES.values() if text.startswith(prefix))
            yield _finding(source, position, position, f"{text.decode()} is used as a number", differs)


_COUNTS = frozenset({b"+", b"-", b"<", b"<=", b">=", b"++", b"*", b"%", b"<<", b"["})


def _conversion(source: CudaSource, position: int, prefix: bytes, differs: str) -> Iterator[Finding]:
    """A cast to the type at `position` of anything but its enumerators."""
    name = source.at(position).decode()
    before, after = source.at(position - 1), source.at(position + 1)
    operand: tuple[int, int] | None = None
    start = position
    if before == b"(" and after == b")" and source.at(position - 2) != b"sizeof" and not _is_call(source, position - 1):
        operand, start = _operand(source, position + 2), position - 1
    elif (
        before == b"<"
        and after == b">"
        and source.at(position - 2) in (b"static_cast", b"reinterpret_cast", b"bit_cast")
    ):
        close = source.pairs.get(position + 2)
        operand = (position + 3, close) if close is not None else None
        start = position - 2
    elif after in (b"(", b"{") and before in (b"=", b"(", b",", b"return", b"{", b"?", b":"):
        close = source.pairs.get(position + 1)
        operand = (position + 2, close) if close is not None else None
    if operand is None or operand[0] >= operand[1]:
        return
    words = source.texts[operand[0] : operand[1]]
    names = [word for word in words if kind_of(word) == IDENT]
    if names and all(word.startswith(prefix) for word in names) and b"+" not in words:
        return
    if names and any(word.endswith(b"_t") for word in names):
        return
    yield _finding(source, start, operand[1] - 1, f"a number becomes a {name}", differs)


def _is_call(source: CudaSource, open_: int) -> bool:
    return source.is_ident(open_ - 1) and source.at(open_ - 1) not in (b"return", b"case", b"else")


def _operand(source: CudaSource, first: int) -> tuple[int, int] | None:
    """Tokens of the unary expression behind a cast."""
    text = source.at(first)
    if text in (b"-", b"*", b"&", b"~"):
        inner = _operand(source, first + 1)
        return (first, inner[1]) if inner else None
    if text == b"(":
        close = source.pairs.get(first)
        return (first + 1, close) if close is not None else None
    if not text or kind_of(text) not in (IDENT, NUMBER):
        return None
    last = first + 1
    while source.at(last) in (b"(", b"[", b".", b"->", b"::"):
        last = source.pairs.get(last, last + 1) + 1 if source.at(last) in (b"(", b"[") else last + 2
    return first, last


def _numbers(source: CudaSource, name: bytes, differs: str) -> Iterator[Finding]:
    """`(int)t` and `static_cast<int>(t)` of a variable of the type, outside what only prints it."""
    variables = {
        source.at(position + 1)
        for position in source.find(name)
        if source.is_ident(position + 1) and source.at(position + 2) in (b";", b"=", b",", b")", b"{")
    }
    for variable in sorted(variables):
        for position in source.find(variable):
            opening = position - 1
            c_cast = (
                source.at(opening) == b")" and source.at(position - 2) in _INTEGERS and source.at(position - 3) == b"("
            )
            indexes = source.at(opening) == b"[" and source.at(position + 1) == b"]" and source.is_ident(position - 2)
            named = (
                source.at(opening) == b"("
                and source.at(position - 2) == b">"
                and source.at(position - 3) in _INTEGERS
                and source.at(position - 5) == b"static_cast"
            )
            printed = named or c_cast or indexes
            if printed and not _is_status_text(source, position):
                text = f"a {name.decode()} becomes a number"
                yield _finding(source, position - 3, position, text, differs)


def _is_status_text(source: CudaSource, position: int) -> bool:
    """True inside a statement that prints to a person: printf and streams, but not a file that is read again."""
    at = position
    while at > 0 and source.at(at) not in (b";", b"{", b"}"):
        text = source.at(at)
        if text in (b"printf", b"cout", b"cerr", b"snprintf", b"sprintf", b"throw", b"assert", b"stderr", b"LOG"):
            return True
        if text == b"fprintf":
            return source.at(at + 2) in (b"stderr", b"stdout")
        at -= 1
    return False


def _finding(source: CudaSource, first: int, last: int, what: str, differs: str) -> Finding:
    return finding(
        RULE,
        source,
        first,
        f"{what}, and the values differ in HIP: {differs}",
        last=last,
        fix="map the enumerators by name, with a switch, wherever a number comes in or goes out",
    )
