"""An argument that CUDA takes as a pointer to const and HIP does not: `cuMemcpyHtoD(d, host, n)` with a `const float
*host`. `hipMemcpyHtoD` of ROCm 6 takes a `void *`, to which no pointer to const converts, though it only reads there;
the arrays of pointers of `hipblasGemmBatchedEx`, `getriBatched` and hipRTC lack a const of CUDA's, too. The port casts
the argument where it stands. Right everywhere, and on releases that declare it as CUDA does. Where `__VA_ARGS__` or a
pack may hold the argument together with others, no cast can stand before it: MANUAL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.definitions import arguments, may_be_several
from rocport.rules.cuda.warp_common import is_definition, is_name_only
from rocport.syntax.cuda import CudaSource

_FROM_HOST = {1: b"(void *)"}
_TEXTS = b"(const char **)"
_CONST_TEXTS = re.compile(rb"\bchar\s*(?:const\s*)?\*\s*const\b")
"""What texts are that do not convert to HIP's: an array of constant pointers."""
# Place of the argument -> the type that HIP takes.
_CALLS = {
    b"cuMemcpyHtoD": _FROM_HOST,
    b"cuMemcpyHtoD_v2": _FROM_HOST,
    b"cuMemcpyHtoDAsync": _FROM_HOST,
    b"cuMemcpyHtoDAsync_v2": _FROM_HOST,
    b"cublasGemmBatchedEx": {7: b"(const void **)", 10: b"(const void **)", 14: b"(void **)"},
    b"nvrtcCreateProgram": {4: _TEXTS, 5: _TEXTS},
    b"nvrtcCompileProgram": {2: _TEXTS},
}
for _letter, _type in ((b"S", b"float"), (b"D", b"double"), (b"C", b"hipComplex"), (b"Z", b"hipDoubleComplex")):
    _ARRAYS = b"(" + _type + b" *const *)"
    _CALLS[b"cublas" + _letter + b"getriBatched"] = {2: _ARRAYS, 4: b"(int *)"}
    _CALLS[b"cublas" + _letter + b"getrsBatched"] = {4: _ARRAYS}
_NULL = (b"nullptr", b"NULL", b"0")

RULE = Rule(
    name="const-argument",
    summary="argument that is const in CUDA and not in HIP",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset(_CALLS),
    examples=(
        Example(
            "void f(CUdeviceptr d, const float *h, int n) { cuMemcpyHtoD(d, h + 1, n); }\n",
            contains=("hipMemcpyHtoD(d, (void *)(h + 1), n)",),
        ),
        Example(
            "void f(CUdeviceptr d, const float *h, int n) { cuMemcpyHtoD(d, (const void *)h, n); }\n",
            contains=("hipMemcpyHtoD(d, (void *)((const void *)h), n)",),
        ),
        Example(
            "#define COPY(d, h, n) cuMemcpyHtoD(d, h, n)\nvoid f(CUdeviceptr d, const char *h) { COPY(d, h, 1); }\n",
            contains=("#define COPY(d, h, n) hipMemcpyHtoD(d, (void *)(h), n)",),
        ),
        Example(
            "void f() { cublasGemmBatchedEx(h, t, u, 1, 1, 1, a, (void **)A, x, 1, (const void **)B, x, 1, b,\n"
            "                               (void **)C, x, 1, 1, y, z); }\n",
            contains=("a, (const void **)((void **)A), x, 1, (const void **)B, x, 1, b,", " (void **)C, x"),
        ),
        Example(
            "void f(float **a, int *p) { cublasSgetriBatched(h, 4, (const float **)a, 4, p, c, 4, i, 2); }\n",
            contains=("(h, 4, (float *const *)((const float **)a), 4, (int *)(p), c, 4, i, 2)",),
        ),
        Example(
            "void f(const char *const *n) { nvrtcCreateProgram(p, s, 0, 2, n, nullptr); }\n",
            contains=("(p, s, 0, 2, (const char **)(n), nullptr)",),
        ),
        Example(
            "#define COPY(d, ...) cuMemcpyHtoD(d, __VA_ARGS__)\n",
            contains=("#define COPY(d, ...) hipMemcpyHtoD(d, __VA",),
        ),
        Example(
            "#define COPY(d, args...) cuMemcpyHtoD(d, ##args)\n",
            contains=("COPY(d, args...) hipMemcpyHtoD(d, ##args)",),
        ),
        Example(
            "#define COPY(d, h, ...) cuMemcpyHtoDAsync(d, h, __VA_ARGS__)\n",
            contains=("hipMemcpyHtoDAsync(d, (void *)(h), __VA_ARGS__)",),
        ),
        Example(
            "template <class... A> void f(CUdeviceptr d, A... a) { cuMemcpyHtoD(d, a...); }\n",
            contains=("{ hipMemcpyHtoD(d, a...); }",),
        ),
        Example(
            "void f(CUdeviceptr d, const float *h, int n) { cuMemcpyHtoD(d, (void *)h + 4, n); }\n",
            contains=("hipMemcpyHtoD(d, (void *)rocport::plus((void *)h, 4), n)",),
        ),
        Example(
            "void f(CUdeviceptr d, const float *h, int n) { cuMemcpyHtoD(d, const_cast<void *>(h) + 4, n); }\n",
            contains=("hipMemcpyHtoD(d, (void *)(const_cast<void *>(h) + 4), n)",),
        ),
    ),
    clean=(
        "void f(CUdeviceptr d, const void *h, int n) { cuMemcpyHtoD(d, const_cast<void *>(h), n); }\n",
        "CUresult cuMemcpyHtoD(CUdeviceptr d, const void *h, size_t n);\n",
        "#define cuMemcpyHtoD(d, h, n) copied(d, h, n)\n",
        "void f(CUdeviceptr d, void *h, int n) { cuMemcpyHtoD(d, (void *)h, n); }\n",
        "void f(CUdeviceptr d, S *h, int n) { cuMemcpyHtoD(d, (void *)&h->a[n + 1], n); }\n",
        "int g = use(cuMemcpyHtoD);\n",
        "void f(const char **n) { nvrtcCreateProgram(p, s, 0, 2, n, n); }\n",
    ),
    sources=("hip/hip_runtime_api.h and hipblas/hipblas.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for name, places in _CALLS.items():
        for position in source.find(name):
            call = source.call(position)
            directive = source.directive_of(position)
            in_condition = directive is not None and directive.name != b"define"
            if call is None or call.open != position + 1 or in_condition:
                continue
            if is_definition(source, position) or is_name_only(source, position):
                continue
            given = arguments(source, call.open, call.close)
            several = next((at for at, part in enumerate(given) if may_be_several(source, *part)), len(given))
            for place, type_ in places.items():
                takes = f"argument {place + 1} of {name.decode()} is const in CUDA; HIP's takes {type_.decode()[1:-1]}"
                if several <= place and several < len(given):
                    yield finding(
                        RULE,
                        source,
                        position,
                        f"{takes}, and which argument that is shows only where the macro or template is used",
                        fix=f"name argument {place + 1} by itself and cast it, {type_.decode()}",
                    )
                    continue
                if place >= len(given):
                    continue
                first, last = given[place]
                if type_ is _TEXTS and not _CONST_TEXTS.search(source.data):
                    continue
                if first >= last or source.text(first, last) in _NULL or _is_cast(source, first, last, type_):
                    continue
                yield finding(
                    RULE,
                    source,
                    position,
                    takes,
                    applicability=Applicability.SAFE,
                    edits=[
                        insert(source.starts[first], type_ + b"("),
                        insert(source.end(last - 1), b")"),
                    ],
                )


def cast_for(source: CudaSource, first: int, last: int) -> bytes:
    """The cast that this rule gives the argument of tokens [first, last), for one that rewrites it as a whole."""
    at = first
    while source.at(at - 1) not in (b"", b"(", b";", b"{", b"}"):
        at = source.pairs.get(at - 1, at - 1) if source.at(at - 1) in (b")", b"]", b"}") else at - 1
    places = _CALLS.get(source.at(at - 2), {}) if source.at(at - 1) == b"(" else {}
    given = arguments(source, at - 1, source.pairs.get(at - 1, at - 1)) if places else []
    return next((type_ for place, type_ in places.items() if given[place : place + 1] == [(first, last)]), b"")


def _is_cast(source: CudaSource, first: int, last: int, type_: bytes) -> bool:
    """True where all of the argument is cast to what HIP takes already, `(void *)p` or `const_cast<void *>(p)`."""
    wanted = sorted(type_[1:-1].split())
    for opening, closing in ((b"(", b")"), (b"<", b">")):
        open_ = first if opening == b"(" else first + 1
        if source.at(open_) != opening or (opening == b"<" and not source.at(first).endswith(b"_cast")):
            continue
        close = next((at for at in range(open_, last) if source.at(at) == closing), open_)
        stars = b"".join(word for word in source.texts[open_ + 1 : close] if word == b"*")
        words = [word for word in source.texts[open_ + 1 : close] if word != b"*"]
        whole = _is_operand(source, close + 1, last) if opening == b"(" else source.pairs.get(close + 1) == last - 1
        return sorted([*words, stars]) == wanted and source.at(close - 1) == b"*" and whole
    return False


def _is_operand(source: CudaSource, first: int, last: int) -> bool:
    """True for an operand that a cast before it covers as a whole: `p`, `&a.b[1]`, `(p + 1)`, not `p + 1`."""
    while first < last and source.at(first) in (b"&", b"*"):
        first += 1
    position = first
    while position < last:
        text = source.at(position)
        if position in source.pairs and text in (b"(", b"["):
            position = source.pairs[position]
        elif not (source.is_ident(position) or text[:1].isdigit() or text in (b"::", b".", b"->")):
            return False
        position += 1
    return first < last
