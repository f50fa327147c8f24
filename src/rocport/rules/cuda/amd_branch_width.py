"""A branch written for AMD that counts 64 lanes where the other counts 32, whatever it calls them.

`#define SUBGROUP 64` under `__HIP_PLATFORM_AMD__` beside `#define SUBGROUP 32`, `kRocm ? 64 : 32`: an earlier port
made the code follow the wavefront. The port keeps 32-lane warps everywhere else, shuffles included, and sums over 64
lanes that are made of 32-lane exchanges come out double. REVIEW. A branch is known by what it does: it gives a name
64, 63 or 6 where the project gives the same name 32, 31 or 5 elsewhere, or is the other branch but for these numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import OF_WAVEFRONTS, amd_only, amd_ranges
from rocport.syntax.conditionals import chains
from rocport.syntax.cuda import CudaSource

_WIDE = {b"64": b"32", b"63": b"31", b"6": b"5", b"0x3f": b"0x1f", b"0x40": b"0x20"}
_LOG = re.compile(rb"[ \t=({]6\b")
_SUFFIX = re.compile(rb"[uUlL]+\Z")
_AMD_WORD = re.compile(rb"(?i)(?:hip|rocm|amd|cdna|gfx|wave64|gcn)")
_NVIDIA_WORD = re.compile(rb"(?i)(?:cuda|nvidia|nvcc|wave32)")

RULE = Rule(
    name="amd-branch-width",
    summary="branch for AMD that counts 64 lanes",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=frozenset({b"__device__", b"__global__", b"if", b"ifdef", b"define", b"constexpr"}),
    examples=(
        Example("#ifdef USE_ROCM\n#define SUBGROUP 64\n#else\n#define SUBGROUP 32\n#endif\n"),
        Example("#define GROUP 32\n#ifdef __HIP_PLATFORM_AMD__\n#undef GROUP\n#define GROUP 64\n#endif\n"),
        Example(
            "#ifdef USE_ROCM\nconstexpr bool kGpu = true;\n#else\nconstexpr bool kGpu = false;\n#endif\n"
            "constexpr int kLanes = kGpu ? 64 : 32;\n"
        ),
        Example("#if defined(__HIPCC__)\nint f() { return 64; }\n#else\nint f() { return 32; }\n#endif\n"),
        Example("#ifdef USE_ROCM\n#define LOG_LANES 6\n#else\n#define LOG_LANES 5\n#endif\n"),
        Example("#if defined(__gfx90a__)\n#define LANES 64\n#else\n#define LANES 32\n#endif\n"),
        Example("constexpr int kLanes = is_rocm() ? 64 : 32;\n"),
        Example("int f() { if (kIsHip) return 64; else return 32; }\n"),
    ),
    clean=(
        "#ifdef USE_ROCM\n#define TILE 64\n#else\n#define TILE 128\n#endif\n",
        "int f(bool big) { return big ? 64 : 32; }\n",
        "#ifdef USE_ROCM\n#define LANES 32\n#else\n#define LANES 32\n#endif\n",
        "#ifdef BIG\n#define TILE 64\n#else\n#define TILE 32\n#endif\n",
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html (warpSize)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    data = source.data
    if context.options.warp == "native" or not (b"64" in data or b"63" in data or _LOG.search(data)):
        return
    seen: set[int] = set()
    for position, name in (*_in_branches(source, context), *_chosen(source), *_conditional(source)):
        line = source.line(source.starts[position])
        if line not in seen:
            seen.add(line)
            yield finding(
                RULE,
                source,
                position,
                f"{name.decode()} counts 64 lanes on AMD, beside code that the port keeps at 32-lane warps",
                fix="make it 32, or port this file with --warp=native",
                cause=OF_WAVEFRONTS,
            )


def _in_branches(source: CudaSource, context: Context) -> Iterator[tuple[int, bytes]]:
    if amd_ranges(source) or b"__gfx" in source.data or b"__GFX" in source.data:
        yield from _given(source, context)
        yield from _arms(source)


def _plain(number: bytes) -> bytes:
    return _SUFFIX.sub(b"", number.lower())


def _given(source: CudaSource, context: Context) -> Iterator[tuple[int, bytes]]:
    """Names that an AMD branch gives 64 and the project elsewhere 32."""
    wide: dict[bytes, tuple[int, bytes]] = {}
    narrow: dict[bytes, set[bytes]] = {}
    numbers = {text: value for text in source.index if (value := _plain(text)) in _WIDE or value in _NARROW}
    for position, value in sorted((at, value) for text, value in numbers.items() for at in source.index[text]):
        name = _named(source, position)
        if name is None:
            continue
        if value in _WIDE and (amd_only(source, position) or _for_gfx(source, position)):
            wide[source.at(name)] = (position, value)
        elif value in _NARROW and not (amd_only(source, position) or _for_gfx(source, position)):
            narrow.setdefault(source.at(name), set()).add(value)
    for word, (position, value) in wide.items():
        elsewhere = context.project.macros.get(word, b"").strip(b"() ")
        if _WIDE[value] in narrow.get(word, set()) or _plain(elsewhere) == _WIDE[value]:
            yield position, word


def _for_gfx(source: CudaSource, position: int) -> bool:
    """True in a branch for targets of AMD by their compiler's names: `#if defined(__gfx942__)`."""
    if b"__gfx" not in source.data and b"__GFX" not in source.data:
        return False
    at = source.starts[position]
    return any(
        branch.start <= at < branch.end
        and any(
            word.startswith((b"__gfx", b"__GFX"))
            for word in source.texts[branch.directive.first : branch.directive.last]
        )
        for chain in chains(source)
        for branch in chain.branches
    )


_NARROW = frozenset(_WIDE.values())


def _named(source: CudaSource, position: int) -> int | None:
    """The name a number is given to: `#define NAME 64`, `NAME = (64)`, `NAME{64}`."""
    at = position - 1
    for _ in range(5):
        if source.is_ident(at):
            directive = source.directive_of(at)
            if directive is not None:
                return at if directive.name == b"define" and at == directive.first + 2 else None
            return at if source.at(at + 1) in (b"=", b"{", b"(") and source.at(at - 1) not in (b".", b"->") else None
        if source.at(at) not in (b"=", b"(", b"{"):
            return None
        at -= 1
    return None


def _arms(source: CudaSource) -> Iterator[tuple[int, bytes]]:
    """Numbers of an AMD branch that is another branch of its conditional but for them."""
    for chain in chains(source):
        parts = []
        for branch in chain.branches:
            first, last = source.token_at(branch.start), source.token_at(branch.end)
            parts.append((first, [_plain(text) if text[:1].isdigit() else text for text in source.texts[first:last]]))
        for first, words in parts:
            if not words or not amd_only(source, first):
                continue
            for other, others in parts:
                if other == first or len(others) != len(words):
                    continue
                differing = [at for at, (a, b) in enumerate(zip(words, others, strict=True)) if a != b]
                if differing and all(_WIDE.get(words[at]) == others[at] for at in differing):
                    yield first + differing[0], words[differing[0]]


def _chosen(source: CudaSource) -> Iterator[tuple[int, bytes]]:
    """`amd ? 64 : 32` and `cuda ? 32 : 64`, by a name of AMD's or one that an AMD branch defines."""
    for position in source.positions(b"?"):
        values = (_plain(source.at(position + 1)), source.at(position + 2), _plain(source.at(position + 3)))
        if values[1] != b":" or not ({values[0], values[2]} <= _WIDE.keys() | _NARROW):
            continue
        wide_first = _WIDE.get(values[0]) == values[2]
        wide_last = _WIDE.get(values[2]) == values[0]
        if not (wide_first or wide_last):
            continue
        at = position - 1
        names = []
        while at >= 0 and source.at(at) not in (b"=", b";", b"{", b"}", b",", b"return"):
            if source.is_ident(at):
                names.append(at)
            at -= 1
        if any(_is_of_amd(source, source.at(name), wide_first) for name in names):
            yield position, source.text(position, position + 4)


def _conditional(source: CudaSource) -> Iterator[tuple[int, bytes]]:
    """`if (amd) return 64; else return 32;`"""
    asked: dict[bytes, bool] = {}
    wide = sorted(
        at
        for text, places in source.index.items()
        if text[:1] == b"6" and _plain(text) in (b"64", b"63")
        for at in places
    )
    for position in source.find(b"if") if wide else ():
        open_ = position + 2 if source.at(position + 1) == b"constexpr" else position + 1
        close = source.pairs.get(open_)
        if source.at(open_) != b"(" or close is None:
            continue
        if bisect_left(wide, close + 1) == bisect_left(wide, close + 24):
            continue
        names = {source.at(at) for at in range(open_, close) if source.is_ident(at)}
        for name in names - asked.keys():
            asked[name] = _is_of_amd(source, name, True)
        if not any(asked[name] for name in names):
            continue
        for at in range(close + 1, min(close + 24, len(source.texts))):
            value = _plain(source.at(at))
            if source.at(at) in (b"else", b"if"):
                break
            if value in (b"64", b"63") and _WIDE[value] in map(_plain, source.texts[at : at + 24]):
                yield at, source.at(at)
                break


def _is_of_amd(source: CudaSource, name: bytes, wide_first: bool) -> bool:
    if (_AMD_WORD if wide_first else _NVIDIA_WORD).search(name) or _AMD_WORD.search(name):
        return True
    return bool(amd_ranges(source)) and any(
        source.at(at + 1) == b"=" and amd_only(source, at) for at in source.find(name)
    )
