"""Numbers that stand for the 32 lanes of a CUDA warp: `threadIdx.x % 32`, `tid >> 5`, `WARP_SIZE 32`, a loop from 16.

The default port keeps 32-lane warps on every wavefront, so these numbers stay right and nothing is edited. Each place
is still named, because it is what has to change when the code is moved to the wavefront's own width: with
`--warp=native` every one of them is for review.

Found are: constants with warp or lane in their name and a value of 32, 31, 16 or 5; lane and warp arithmetic on
thread indices and on numbers of threads; loops over shuffle distances; comparisons of a lane with 31 or 16; blocks
launched one warp wide in files that use warp operations. Arithmetic on other data (`hash >> 5`, `n % 32`) is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, operand_before
from rocport.rules.cuda.warp_common import INTRINSICS, OF_WAVEFRONTS, SHUFFLES, amd_only, speaks_of_warps
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="warp-lane-literal",
    summary="number that means the lanes of a warp",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    examples=(
        Example("#define WARP_SIZE 32\n", contains=("#define WARP_SIZE 32",)),
        Example("static constexpr unsigned kLog2WarpSize = 5u;\n"),
        Example("constexpr int kWarpSize = kThreads < 32 ? kThreads : 32;\n"),
        Example("enum { THREADS_PER_WARP = 32 };\n"),
        Example("#define WARP_SIZE_GGUF 32\n"),
        Example("__global__ void k(int *p) { p[0] = threadIdx.x & 31; }\n", contains=("threadIdx.x & 31",)),
        Example("__global__ void k(int *p) { int t = threadIdx.x + 64 * threadIdx.y; p[0] = t >> 5; }\n"),
        Example("__global__ void k(int *p) { int l = (threadIdx.x + 1) % 32; p[l] = blockDim.x / 32; }\n"),
        Example("__device__ void f(float v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0, v, o); }\n"),
        Example("#ifdef USE_ROCM\n#define WARP_SIZE 64\n#endif\n", contains=("#define WARP_SIZE 64",)),
        Example("__device__ bool last(int lane) { return lane == 31; }\n"),
        Example(
            "__global__ void k(int *p) { p[0] = threadIdx.x & 31; }\n",
            contains=("threadIdx.x & 31",),
            options={"warp": "native"},
        ),
        Example("__global__ void k(int *p) { int lane = threadIdx.x, w = lane; w >>= 1; lane >>= 5; p[w] = lane; }\n"),
    ),
    clean=(
        "__device__ int f(unsigned hash, int n) { return (hash >> 5) + n % 32; }\n",
        "#define BUFFER_SIZE 32\nint planes = 32;\nint warped = 16;\n",
        "__device__ int f(int n) { for (int i = 16; i > 0; i >>= 1) n += i; return n; }\n",
        "__device__ int f(int bits) { return bits & 0x1f; }\n",
        "// threadIdx.x & 31\n",
        "#ifdef USE_ROCM\n#define WARP_SIZE 32\n#endif\nint warp_buffer = 64;\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (SIMT architecture)",),
)

_NUMBER = rb"(?:32|31|0[xX]1[fF]|16|5)[uUlL]*(?![\w.])"
_OPERATION = re.compile(rb"(?:[&%/]|>>)=?\s*\(?\s*(" + _NUMBER + rb")")
_NAMED = re.compile(
    rb"(?:[wW](?:arp|ARP)|[lL](?:ane|ANE))\w*\s*(?:==|[=({<>\s])=?\s*\(?\s*(?:\(\s*\w+\s*\)\s*)?(" + _NUMBER + rb")"
)
_CHOSEN = re.compile(rb"[wW](?:arp|ARP)\w*\s*=[^;\n=]*\?[^;\n]*\b(32)\b")
_SIXTY_FOUR = re.compile(rb"[wW](?:arp|ARP)\w*\s*=?\s*\(?\s*(64)\b")
_THREAD_WORDS = (b"threadIdx", b"blockDim", b"hread", b"HREAD", b"<<<", b"dim3", b"__device__", b"lane", b"tid")
_VALUE = {b"32": 32, b"31": 31, b"0x1f": 31, b"16": 16, b"5": 5}
_FITS = {b"&": 31, b"%": 32, b"/": 32, b">>": 5, b"&=": 31, b"%=": 32, b"/=": 32, b">>=": 5}

_WIDTH_NAME = re.compile(
    rb"(?:[a-z0-9]*?)(?:warp(?:s?size[a-z]*|sz|dim|width|lanes?|threads?|threadnum|len|length)|"
    rb"(?:threads?|lanes?|thrds?|tpw|size)(?:per|in|of)?(?:a)?warp|numlanes|nlanes|lanecount|warp)"
)
_LOG_NAME = re.compile(rb"[a-z0-9]*(?:log2?warp\w*|warp\w*log2?|warp(?:size)?(?:shift|bits|pow2?|exp)|shiftwarp)")
_MASK_NAME = re.compile(rb"[a-z0-9]*(?:warp(?:size)?mask|lanemask|warpminus1|warpsizeminus1)")
_HALF_NAME = re.compile(rb"[a-z0-9]*(?:halfwarp\w*|warphalf\w*)")
_LANE_NAME = re.compile(
    rb"[a-z0-9]*lane(?:id|idx|index|no|num|inwarp)?|(?:tid|id|idx|thread|threadid)inwarp|warplane\w*"
)

_THREAD_NAME = re.compile(
    rb"tid[xyz]?|[a-z]?tidx|thid|thread(?:id|idx|index|num|rank|no)?[xyz]?|local(?:tid|id|idx|thread\w*)|lid|linear(?:tid|id)|"
    rb"[a-z]*(?:tid|threadid|threadidx|threadrank|threadindex)|globalthread\w*|lane\w*|tx|getthreadid\w*"
)
_THREADS_NAME = re.compile(
    rb"(?:k|n|num|max|min|cta|cfg)*(?:blockdim|blockdimx|blocksize\w*|blockthreads|threads?|nthreads|threads(?:per|in|a)?"
    rb"(?:block|cta|group)?\w*|numthreads\w*|nt|tpb|ctasize|ctathreads|threadcount|workgroupsize|\w*threadnum\w*)"
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    native = context.options.warp == "native"
    if not native and speaks_of_warps(source):
        yield from _by_hand(source)
    reported: set[int] = set()
    for position, what, confidence in sorted(_sites(source)):
        line = source.line(source.starts[position])
        if line in reported or amd_only(source, position):
            continue
        reported.add(line)
        yield finding(
            RULE,
            source,
            position,
            f"{what}: must become the wavefront's width"
            if native
            else f"{what}: right in the port, which keeps 32-lane warps on any wavefront",
            applicability=Applicability.REVIEW if native else Applicability.SAFE,
            confidence=confidence,
            fix="use warpSize, or the width of the target the code is compiled for" if native else "",
        )


def _by_hand(source: CudaSource) -> Iterator[Finding]:
    """A warp size of 64 in a branch written for AMD, beside code that the port keeps at 32 lanes."""
    for match in _SIXTY_FOUR.finditer(source.data):
        value = source.token_at(match.start(1))
        if value >= len(source.starts) or source.starts[value] != match.start(1):
            continue
        position = _name_before(source, value)
        if position is None:
            continue
        if _WIDTH_NAME.fullmatch(_plain(source.at(position))) and amd_only(source, position):
            yield finding(
                RULE,
                source,
                position,
                f"{source.at(position).decode()} is 64 in a branch written for AMD, "
                "beside code that keeps 32-lane warps",
                fix="make it 32, or port this file with --warp=native",
                cause=OF_WAVEFRONTS,
            )


def _sites(source: CudaSource) -> Iterator[tuple[int, str, Confidence]]:
    if speaks_of_warps(source):
        yield from _named_constants(source)
    if any(word in source.data for word in _THREAD_WORDS):
        yield from _operations(source)
    yield from _shuffle_loops(source)
    yield from _launches(source)


def _plain(name: bytes) -> bytes:
    """A name in lower case without underscores: WARP_SIZE, kWarpSize and warpsize are one word."""
    return name.lower().replace(b"_", b"")


def _literal(source: CudaSource, offset: int) -> tuple[int, int] | None:
    """(token, value) of the number that starts at the offset; None inside comments and strings."""
    position = source.token_at(offset)
    if position >= len(source.starts) or source.starts[position] != offset:
        return None
    value = _VALUE.get(source.at(position).lower().rstrip(b"ul"))
    return None if value is None else (position, value)


def _named_constants(source: CudaSource) -> Iterator[tuple[int, str, Confidence]]:
    for match in _NAMED.finditer(source.data):
        found = _literal(source, match.start(1))
        if found is None:
            continue
        position, value = found
        name_at = _name_before(source, position)
        if name_at is None:
            continue
        name = source.at(name_at)
        plain = _plain(name)
        operator = source.at(name_at + 1)
        if operator in (b"==", b"<", b">", b"<=") and source.end(name_at) <= source.starts[position]:
            if _LANE_NAME.fullmatch(plain) and value in (31, 16, 32):
                yield position, f"lane compared with {value}", Confidence.MEDIUM
            continue
        meaning = {
            32: _WIDTH_NAME.fullmatch(plain),
            31: _MASK_NAME.fullmatch(plain),
            16: _HALF_NAME.fullmatch(plain),
            5: _LOG_NAME.fullmatch(plain),
        }[value]
        if meaning is not None and _is_constant(source, name_at, operator):
            yield name_at, f"{name.decode()} is {value}", Confidence.HIGH
    for match in _CHOSEN.finditer(source.data):
        found = _literal(source, match.start(1))
        if found is not None:
            yield found[0], "warp size chosen up to 32", Confidence.HIGH


def _name_before(source: CudaSource, position: int) -> int | None:
    """The identifier a number is given to: `NAME 32`, `NAME = (32)`, `NAME(32)`, `NAME = (int)32`."""
    at = position - 1
    for _ in range(6):
        text = source.at(at)
        if source.is_ident(at) and source.at(at + 1) != b")":
            return at
        if text not in (b"=", b"(", b"{", b")", b"==", b"<", b">", b"<=") and not source.is_ident(at):
            return None
        at -= 1
    return None


def _is_constant(source: CudaSource, name: int, operator: bytes) -> bool:
    """True for a macro, a declaration or an enumerator; an assignment through `.` or a call is none of these."""
    directive = source.directive_of(name)
    if directive is not None:
        return directive.name == b"define" and name == directive.first + 2
    if source.at(name - 1) in (b".", b"->"):
        return False
    if operator == b"=":
        return True
    return operator in (b"(", b"{") and source.is_ident(name - 1) and source.at(name - 1) != b"return"


def _operations(source: CudaSource) -> Iterator[tuple[int, str, Confidence]]:
    for match in _OPERATION.finditer(source.data):
        found = _literal(source, match.start(1))
        if found is None:
            continue
        position, value = found
        at = position - 1
        if source.at(at) == b"(":
            if source.at(position + 1) not in (b")", b"+", b"-"):
                continue
            at -= 1
        operator = source.operator_before(at + 1)
        at -= len(operator) - 1 if operator.startswith(b">") else 0
        if _FITS.get(operator) != value:
            continue
        operand = operand_before(source, at)
        if operand is None:
            continue
        kind = _thread_kind(source, *operand)
        if kind is not None:
            text = source.text(operand[0], position + 1).decode("utf-8", "replace")
            yield position, f"{kind} `{' '.join(text.split())}`", Confidence.HIGH


def _thread_kind(source: CudaSource, first: int, last: int) -> str | None:
    """What a value divided into lanes or warps is: a thread's index, a number of threads, or nothing of the kind."""
    words = [source.at(at) for at in range(first, last) if source.is_ident(at)]
    if b"threadIdx" in words or b"thread_rank" in words:
        return "lane or warp of a thread"
    if b"blockDim" in words or b"num_threads" in words:
        return "warps of a block"
    if source.at(last - 1) == b"]":
        return None
    own = [source.at(at) for at in range(first, last) if source.is_ident(at) and source.at(at - 1) not in (b".", b"->")]
    if any(_THREAD_NAME.fullmatch(_plain(word)) or _from_thread(source, word) for word in own):
        return "lane or warp of a thread"
    if any(_THREADS_NAME.fullmatch(_plain(word)) for word in own):
        return "warps of a block"
    return None


def _from_thread(source: CudaSource, name: bytes) -> bool:
    """True when the file gives the variable a value computed from threadIdx."""
    for position in source.find(name):
        if source.at(position + 1) != b"=":
            continue
        for at in range(position + 2, min(position + 40, len(source.texts))):
            text = source.texts[at]
            if text in (b";", b"{", b"}", b"["):
                break
            if text in (b"threadIdx", b"thread_rank"):
                return True
    return False


def _shuffle_loops(source: CudaSource) -> Iterator[tuple[int, str, Confidence]]:
    moving = frozenset(SHUFFLES) | {b"shfl", b"shfl_up", b"shfl_down", b"shfl_xor"}
    if moving.isdisjoint(source.names):
        return
    for position in source.find(b"for"):
        close = source.pairs.get(position + 1)
        if close is None:
            continue
        numbers = [
            at
            for at in range(position + 2, close)
            if source.at(at) in (b"16", b"32", b"31")
            and source.at(at - 1) in (b"=", b"<", b"<=", b"(")
            and source.at(at + 1) in (b";", b")", b",", b"/", b"&&")
        ]
        if not numbers:
            continue
        end = _statement_end(source, close + 1)
        if any(source.at(at) in moving for at in range(close, end)):
            yield numbers[0], "loop over the lanes of a warp", Confidence.HIGH


def _statement_end(source: CudaSource, first: int) -> int:
    if source.at(first) == b"{":
        return source.pairs.get(first, first)
    return source.until(first, b";")  # also of a loop within the loop: `for (...) for (...) v += ...;`


def _launches(source: CudaSource) -> Iterator[tuple[int, str, Confidence]]:
    if INTRINSICS.isdisjoint(source.names) and b"warpSize" not in source.names:
        return
    for launch in source.launches:
        if len(launch.config) >= 2:
            first, last = launch.config[1]
            if last - first == 1 and source.at(first) == b"32":
                yield first, "block of one warp", Confidence.MEDIUM
    for position in source.find(b"dim3"):
        at = position + 1 if source.at(position + 1) == b"(" else position + 2
        close = source.pairs.get(at)
        if source.at(at) in (b"(", b"{") and close is not None:
            parts = source.split(at, close)
            if parts and parts[0][1] - parts[0][0] == 1 and source.at(parts[0][0]) == b"32":
                yield parts[0][0], "block rows of one warp", Confidence.MEDIUM
