# SPDX-License-Identifier: Apache-2.0
"""Turns preprocessed HIP source into plain C++ for a host compiler.

It works after the preprocessor, not before: macros that hide a launch are expanded, conditional code is settled, there
are no comments, and line markers keep every diagnostic on the user's own line. What is rewritten:

- `kernel<<<grid, block, lds, stream>>>(args)` and `hipLaunchKernelGGL(kernel, grid, block, lds, stream, args)`;
- `__shared__` variables (thread-local storage: a host thread runs one block at a time), `extern __shared__` arrays;
- `__global__`, `__forceinline__`, `__noinline__`, and the kernel argument of the launch functions that take an address;
- device assembly, which becomes a named run-time error when it is reached.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from functools import cached_property

from rocport.syntax.cuda import RAW_STRING, CudaSource

_MARKER = re.compile(rb'^# (\d+) "((?:[^"\\]|\\.)*)"([ \d]*)\r?$', re.MULTILINE)
# A line marker or a pragma; literals are matched first, as a line of a raw string may begin with `#`.
_NO_CODE = re.compile(rb"\b" + RAW_STRING + rb"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'|^#[^\n]*", re.MULTILINE)
_PARTED = re.compile(rb"<<(\s+)<")
_TRIGGERS = re.compile(
    rb"<<\s*<|\b(?:__global__|__host__|__device__|__shared__|__noinline__|__forceinline__|hipLaunchKernelGGL|hipLaunch\w*Kernel|asm|__asm__|__asm)\b"
)
# Hints that must stand right before a loop, where a Region may come to stand; they change no result.
_UNROLL = re.compile(
    rb"^[ \t]*#[ \t]*pragma[ \t]+(?:unroll|nounroll|clang[ \t]+loop|GCC[ \t]+unroll)\b[^\n]*", re.MULTILINE
)
# The host has one address space; a qualified pointer would be a type of its own there.
_ADDRESS_SPACE = re.compile(rb"__attribute__\s*\(\(\s*address_space\s*\(\s*\d+\s*\)\s*\)\)")
_SPACES = re.compile(rb"\b__(?:host|device)__\b")
_OPEN = {b"(": b")", b"[": b"]", b"{": b"}"}
_CLOSE = {close: open_ for open_, close in _OPEN.items()}
_SPECIFIERS = frozenset(
    b"static inline __host__ __device__ __inline__ __inline extern constexpr const virtual explicit friend "
    b"__forceinline__ __global__ "
    b"__noinline__ typename unsigned signed void int float double bool char long short auto".split()
)
_AFTER_ARGUMENTS = frozenset([b"(", b"::", b")", b",", b"{", b">", b"&", b"&&", b"*", b";", b""])
_INLINES = frozenset([b"inline", b"__inline__", b"__inline", b"__forceinline__"])
_LITERALS = frozenset([b"nullptr", b"__null", b"true", b"false"])
_BY_ADDRESS = frozenset([b"hipLaunchKernel", b"hipLaunchCooperativeKernel", b"hipExtLaunchKernel"])
_NEEDS_REGISTRY = re.compile(
    rb"\b(?:hipLaunchKernel|hipLaunchCooperativeKernel\w*|hipExtLaunchKernel|hipGraph\w*KernelNode\w*|hipKernelNodeParams|hipLaunchParams)\b"
)
_DEVICE_ASM = re.compile(
    rb'^"\s*(?:\\[nt]|\s|;)*(?:[svd]s?_\w+|global_\w+|buffer_\w+|flat_\w+|image_\w+|exp\b|\{|\.reg\b|@|[a-z][\w]*\.[\w.:]+\s|bar\.|membar|fence\b)'
)
_HARMLESS_ASM = re.compile(
    rb'^"\s*(?:\\[nt]|\s|;)*(?:s_waitcnt\w*|s_nop|s_sched_barrier|buffer_wbinvl1\w*|buffer_gl\d_inv|s_setprio)\b'
)


_VECTOR_OPERATORS = {b"mov": b"", b"add": b"+", b"sub": b"-", b"mul": b"*", b"and": b"&", b"or": b"|", b"xor": b"^"}
_VECTOR_ASM = re.compile(
    rb'^"\s*v_(mov|add|sub|mul|and|or|xor)_(?:b32|f32|f64|[ui]32)(?:_e32|_e64)?\s+%0\s*,\s*%1\s*(?:,\s*%2\s*)?;?\s*(?:\\n)?"$'
)


class RewriteError(Exception):
    """Source that the rewriter cannot read; the message names the place."""


@dataclass
class Rewritten:
    """Plain C++, and what was seen on the way."""

    text: bytes
    kernels: list[str] = field(default_factory=list)
    launches: int = 0


def rewrite(
    preprocessed: bytes, *, plain_shared: bool = False, everywhere: bool = False, module: bool = False
) -> Rewritten:
    """Rewrites the output of `c++ -E`. Text from system headers is left alone.

    `plain_shared` makes `__shared__` variables plain static ones, for sanitizers that do not watch thread-local
    storage.
    `everywhere` places regions as if every statement could make lanes meet.
    `module`: kernels are looked up by name at run time, so each is registered.

    Raises:
        RewriteError: a launch whose brackets do not match.
    """
    pieces: list[bytes] = []
    result = Rewritten(b"")
    spans = _segments(preprocessed)
    # User text is rewritten as one piece, so that a construct may span an #include.
    for absent in (_UNROLL, _ADDRESS_SPACE):
        preprocessed = absent.sub(lambda match: b" " * len(match.group()), preprocessed)
    whole = b"".join(preprocessed[start:end] for start, end, system in spans if not system)
    if not _TRIGGERS.search(whole):
        result.text = _SPACES.sub(b"", preprocessed)
        return result
    edits = _Rewriter(whole, result, plain_shared, everywhere).edits()
    cursor = 0
    at = 0
    for start, end, system in spans:
        if system:
            pieces.append(_SPACES.sub(b"", preprocessed[start:end]))
            continue
        length = end - start
        stop = cursor + length
        position = cursor
        while at < len(edits) and edits[at][0] < stop:
            first, last, replacement = edits[at]
            pieces.append(whole[position:first])
            pieces.append(replacement)
            position = last
            at += 1
        if position < stop:
            pieces.append(whole[position:stop])
        cursor = max(stop, position)
        if position > stop:  # an edit reached over a system header: keep what follows in step
            raise RewriteError("a kernel launch spans an #include of a system header")
    result.text = b"".join(pieces) + _registrations(result, whole, module)
    if b"thread_local" in whole:
        # They live where shared memory does; poisoning it would destroy them.
        result.text += (
            b"\n__attribute__((constructor)) static void rpx_own_thread_locals() { ::rpx::spare_static_lds(); }\n"
        )
    return result


def _segments(text: bytes) -> list[tuple[int, int, bool]]:
    """(start, end, is a system header) of the stretches between changes of that property."""
    spans: list[tuple[int, int, bool]] = []
    start, system = 0, False
    # g++ also marks, within a user's file, what came from a system header's macro: the file decides.
    own = {match.group(2) for match in _MARKER.finditer(text) if b"3" not in match.group(3).split()}
    for match in _MARKER.finditer(text):
        now = match.group(2) not in own
        if now != system:
            if match.start() > start:
                spans.append((start, match.start(), system))
            start, system = match.start(), now
    spans.append((start, len(text), system))
    return spans


def _registrations(result: Rewritten, whole: bytes, every: bool) -> bytes:
    if not result.kernels or not (every or _NEEDS_REGISTRY.search(whole)):
        return b""
    names = [name for name in dict.fromkeys(result.kernels) if result.kernels.count(name) == 1]
    lines = [
        f'static ::rpx::Registration rpx_registration_{number}("{name}", &::{name});'
        for number, name in enumerate(names)
    ]
    return ("\n" + "\n".join(lines) + "\n").encode()


_WAVE = re.compile(
    rb"__(?:shfl\w*|ballot\w*|any|all|any_sync|all_sync|syncwarp|activemask|match_\w+|reduce_\w+_sync)"
    rb"|__builtin_amdgcn_(?:readfirstlane|readlane|ds_\w*permute|ds_swizzle|update_dpp|mov_dpp|wave_barrier|ballot\w*|read_exec\w*)"
    rb"|__syncthreads\w*|block_barrier|shfl\w*|ballot|match_an[yl]+|coalesced_threads|tiled_partition|Warp(?:Reduce|Scan|Exchange|MergeSort)|rocport_\w+"
)
_LOOPS = frozenset([b"for", b"while", b"do"])


class _Regions:
    """Where rpx::Region objects go: into branches, loops and their bodies that can reach a wave operation."""

    def __init__(self, rewriter: _Rewriter) -> None:
        self.at = rewriter.at
        self.lexed = rewriter.lexed
        self.texts = rewriter.texts
        self.pairs = rewriter.pairs
        self.everywhere = rewriter.everywhere
        self.insertions: list[tuple[int, bytes]] = []  # (offset, text)
        self.names = 0
        self.sides = 0

    def run(self) -> list[tuple[int, bytes]]:
        """Texts to insert, by offset."""
        bodies = self.functions(self.texts, self.pairs)
        reaching = self._reaching(bodies)
        self.hits = (
            list(range(len(self.texts)))
            if self.everywhere
            else [
                i
                for i, text in enumerate(self.texts)
                if _WAVE.fullmatch(text) or text in reaching or self._takes_lock(i)
            ]
        )
        for _, open_, close in bodies:
            # A constant expression meets nobody, and C++17 allows it no variable with a destructor.
            if self._reaches(open_, close) and not _head_says(self.texts, open_, b"constexpr"):
                position = open_ + 1
                while position < close:
                    position = self._statement(position, close)
        return self.insertions

    @staticmethod
    def functions(texts: list[bytes], pairs: dict[int, int]) -> list[tuple[bytes, int, int]]:
        """(name, open brace, close brace) of every function body that is not inside of another."""
        found: list[tuple[bytes, int, int]] = []
        position = 0
        while position < len(texts):
            if texts[position] == b"{" and position in pairs:
                close = position - 1
                while close > 0 and texts[close] in (b"const", b"noexcept", b"override", b"mutable"):
                    close -= 1
                if close > 0 and texts[close] == b")" and close in pairs:
                    name = texts[pairs[close] - 1]
                    if (name[:1].isalpha() or name[:1] == b"_") and name not in (
                        b"if",
                        b"for",
                        b"while",
                        b"switch",
                        b"namespace",
                    ):
                        found.append((name, position, pairs[position]))
                        position = pairs[position]
            position += 1
        return found

    def _reaching(self, bodies: list[tuple[bytes, int, int]]) -> frozenset[bytes]:
        """Names of functions from which a wave operation can be reached."""
        words = [(name, set(self.texts[open_:close])) for name, open_, close in bodies]
        reaching = {name for name, used in words if any(_WAVE.fullmatch(word) for word in used)}
        reaching |= {name for name, open_, close in bodies if any(map(self._takes_lock, range(open_, close)))}
        while True:
            more = {name for name, used in words if name not in reaching and used & reaching}
            if not more:
                return frozenset(reaching)
            reaching |= more

    def _takes_lock(self, position: int) -> bool:
        """True for `atomicCAS(lock, 0, 1)`, `atomicExch(lock, 1)`: lanes of a wave may wait for one another there."""
        if self.at(position) not in (b"atomicCAS", b"atomicExch"):
            return False
        close = self.pairs.get(position + 1)
        return close is not None and self.at(close - 1)[:1].isdigit() and self.at(close - 2) == b","

    def _side(self, first: int, last: int, inner: list[tuple[int, bytes]]) -> None:
        """A branch, numbered, where lanes can meet in it."""
        if self._reaches(first, last):
            self.sides += 1
            self._branch(first, last, inner, b"::rpx::Region rpx_region(%d);" % self.sides)
        else:
            self.insertions += inner

    def _round(self, first: int, last: int, loop: bytes) -> bytes:
        """What begins each iteration of a loop: another class where the loop takes a lock and its lanes never meet."""
        at = bisect.bisect_left(self.hits, first)
        only_locks = at < len(self.hits) and all(
            self._takes_lock(hit) for hit in self.hits[at : bisect.bisect_left(self.hits, last)]
        )
        return (b"::rpx::Attempt" if only_locks else b"::rpx::Body") + b" rpx_body(%s);" % loop

    def _reaches(self, first: int, last: int) -> bool:
        at = bisect.bisect_left(self.hits, first)
        return at < len(self.hits) and self.hits[at] < last

    def _insert(self, before: int, text: bytes) -> None:
        self.insertions.append((self.lexed.starts[before], text))

    def _skip(self, position: int, limit: int) -> int:
        """End of a plain statement."""
        while position < limit and self.at(position) != b";":
            if self.at(position) in _OPEN and position in self.pairs:
                inner = self.pairs[position]
                if self.at(position) == b"{" and self._reaches(position, inner):  # a lambda's body, or a nested type's
                    cursor = position + 1
                    while cursor < inner:
                        cursor = self._statement(cursor, inner)
                position = inner
            position += 1
        return min(position + 1, limit)

    def _statement(self, position: int, limit: int) -> int:
        """Places the regions of one statement; returns where the next one starts."""
        text = self.at(position)
        if text == b"{" and position in self.pairs:
            close = self.pairs[position]
            cursor = position + 1
            while cursor < close:
                cursor = self._statement(cursor, close)
            return close + 1
        if text in (b"if", b"for", b"while", b"switch"):
            head = position + 1
            if self.at(head) == b"constexpr":
                head += 1
            if self.at(head) != b"(" or head not in self.pairs:
                return self._skip(position, limit)
            body = self.pairs[head] + 1
            loop = b""
            if text != b"if":
                self.names += 1
                loop = b"rpx_loop_%d" % self.names
            mark = mark_if = len(self.insertions)
            end = self._statement(body, limit)
            after = end
            inner = self.insertions[mark:]
            del self.insertions[mark:]
            if text == b"if":
                self._side(body, end, inner)
                if self.at(end) == b"else":
                    mark = len(self.insertions)
                    after = self._statement(end + 1, limit)
                    inner = self.insertions[mark:]
                    del self.insertions[mark:]
                    self._side(end + 1, after, inner)
                if self._reaches(body, after):
                    self.insertions.insert(mark_if, (self.lexed.starts[position], b"{ ::rpx::Join rpx_join; "))
                    self.insertions.append((self.lexed.end(after - 1), b" }"))
            elif self._reaches(position, end):
                if text == b"switch":
                    self._side(position, end, inner)
                else:
                    opening = self._round(position, end, loop)
                    self.insertions.append((self.lexed.starts[position], b"{ ::rpx::Loop %s; " % loop))
                    self._branch(body, end, inner, opening)
                    self.insertions.append((self.lexed.end(end - 1), b" }"))
            else:
                self.insertions += inner
            return after
        if text == b"do":
            self.names += 1
            loop = b"rpx_loop_%d" % self.names
            mark = len(self.insertions)
            end = self._statement(position + 1, limit)
            inner = self.insertions[mark:]
            del self.insertions[mark:]
            stop = self._skip(end, limit)
            if self._reaches(position, stop):
                self.insertions.append((self.lexed.starts[position], b"{ ::rpx::Loop %s; " % loop))
                self._branch(position + 1, end, inner, self._round(position, stop, loop))
                self.insertions.append((self.lexed.end(stop - 1), b" }"))
            else:
                self.insertions += inner
            return stop
        if text in (b"case", b"default") or (
            self.at(position + 1) == b":" and (text[:1].isalpha() or text[:1] == b"_")
        ):
            while position < limit and self.at(position) != b":":
                position += 1
            return position + 1
        if text in (b"try", b"else"):
            return position + 1
        return self._skip(position, limit)

    def _branch(self, first: int, last: int, inner: list[tuple[int, bytes]], opening: bytes) -> None:
        self.insertions.append((self.lexed.starts[first], b"{ " + opening + b" "))
        self.insertions += inner
        self.insertions.append((self.lexed.end(last - 1), b" }"))


# What a thread does that depends on which thread it is, or that waits for others. An index that the kernel's own body
# reads is no obstacle: the loop's variable has its name.
_IDENTITY = re.compile(
    rb"threadIdx|__syncthreads\w*|__lane\w*|__activemask|__builtin_amdgcn_\w+|__hip_ds_\w+"
    rb"|cooperative_groups|this_(?:thread_block|grid|multi_grid)|coalesced_threads|(?:tiled|binary|labeled)_partition"
    rb"|thread_block|thread_block_tile|grid_group|__nanosleep|__smid|rpx|barrier_(?:arrive|wait)"
)
# What may wait for another thread through memory, or is better seen one thread at a time.
_SPINS = re.compile(
    rb"volatile|__volatile__|atomicCAS\w*|atomicExch\w*|__threadfence\w*|__hip_atomic_\w+|__atomic_\w+|atomic_\w+|atomic|asm|__asm__|__asm|__shared__"
    rb"|hip[A-Z]\w*|clock|clock64|wall_clock64|struct|class|union|co_\w+"
)


_SPINS_IN_FUNCTION = re.compile(
    rb"volatile|__volatile__|atomicCAS\w*|atomicExch\w*|__threadfence\w*|__hip_atomic_\w+|__atomic_\w+|atomic_\w+|asm|__asm__|__asm|__shared__|clock|clock64"
)
_LOOP_HEAD = (
    b" for (::rpx::Rows rpx_rows; rpx_rows.next();)"
    b" for (unsigned rpx_x = rpx_rows.first; rpx_x < rpx_rows.last; ++rpx_x)"
    b" [=](const ::rpx::Index3 threadIdx) mutable -> void {"
)
_LOOP_TAIL = b"}(::rpx::Index3{rpx_x, rpx_rows.y, rpx_rows.z}); "


def _head_says(texts: list[bytes], open_: int, word: bytes) -> bool:
    """Whether a word stands in front of the body that opens at `open_`, in the same declaration."""
    back = open_ - 1
    while back >= 0 and texts[back] not in (b";", b"}", b"{") and open_ - back < 200:
        if texts[back] == word:
            return True
        back -= 1
    return False


class _ThreadLoops:
    """Kernels whose threads never meet: the whole block becomes a loop inside of the kernel, which compilers vectorize.

    A kernel stays as it is where the analysis by name is not sure: a thread then starts by a call of its own.
    """

    def __init__(self, rewriter: _Rewriter) -> None:
        self.at = rewriter.at
        self.lexed = rewriter.lexed
        self.texts = rewriter.texts
        self.pairs = rewriter.pairs
        self.bodies = rewriter.kernel_bodies

    def run(self) -> list[tuple[int, bytes]]:
        """Texts to insert, by offset."""
        insertions: list[tuple[int, bytes]] = []
        if not self.bodies:
            return insertions
        tied = self._tied()
        if tied is None:
            return insertions
        for open_, close in self.bodies:
            first = self.pairs.get(open_ - 1, open_)  # the parameters count as well
            words = {self.at(i) for i in range(first, close)}
            words.discard(b"threadIdx")
            if words & tied or any(_IDENTITY.fullmatch(w) or _SPINS.fullmatch(w) or _WAVE.fullmatch(w) for w in words):
                continue
            if b"<<<" in self.texts[open_:close]:
                continue
            if any(self._bare_lambda(i) for i in range(open_, close)):
                continue
            insertions.append((self.lexed.end(open_), _LOOP_HEAD))
            insertions.append((self.lexed.starts[close], _LOOP_TAIL))
        return insertions

    def _bare_lambda(self, position: int) -> bool:
        """A lambda that does not capture by default: it could not name the loop's variable."""
        if self.at(position) != b"[" or self.at(position + 1) in (b"=", b"&", b"["):
            return False
        before = self.at(position - 1)
        return not (before[:1].isalnum() or before[:1] == b"_" or before in (b"]", b")", b"[")) or before == b"return"

    def _tied(self) -> frozenset[bytes] | None:
        """Functions through which a kernel would need its thread; None: code that needs it cannot be named."""
        functions = _Regions.functions(self.texts, self.pairs)
        kernels = {open_ for open_, _ in self.bodies}
        starts = [open_ for _, open_, _ in functions]
        words: list[tuple[bytes, set[bytes]]] = []
        for name, open_, close in functions:
            if open_ not in kernels:
                words.append((name, {self.at(i) for i in range(open_, close)}))
        for position, text in enumerate(self.texts):
            if not (_IDENTITY.fullmatch(text) or _WAVE.fullmatch(text)):
                continue
            at = bisect.bisect_right(starts, position) - 1
            inside = at >= 0 and functions[at][1] < position < functions[at][2]
            if inside and functions[at][1] in kernels:
                continue
            if (
                not inside
                and self.at(position + 1) == b"("
                and not any(open_ < position < close for open_, close in self.bodies)
            ):
                continue  # a declaration, or the function's own name
            if not inside or not self._named(functions[at][1]) or not self.for_device(functions[at][1]):
                if text == b"cooperative_groups":
                    continue
                return None
        tied = {
            name
            for name, used in words
            if any(_IDENTITY.fullmatch(w) or _WAVE.fullmatch(w) or _SPINS_IN_FUNCTION.fullmatch(w) for w in used)
        }
        while True:
            more = {name for name, used in words if name not in tied and used & tied}
            if not more:
                return frozenset(tied)
            tied |= more

    def _named(self, open_: int) -> bool:
        """The function is one that callers call by its name: no operator, no constructor with initializers."""
        close = open_ - 1
        while self.at(close) in (b"const", b"noexcept", b"override", b"mutable"):
            close -= 1
        name = self.pairs[close] - 1
        return self.at(name - 1) not in (b"operator", b",", b":") and self.at(name) != b"operator"

    def for_device(self, open_: int) -> bool:
        """Its head says `__device__`: an index in a host function belongs to a lambda, which nobody calls by name."""
        return _head_says(self.texts, open_, b"__device__")


class _Rewriter:
    def __init__(self, text: bytes, result: Rewritten, plain_shared: bool, everywhere: bool) -> None:
        self.plain_shared = plain_shared
        self.everywhere = everywhere
        self.text = text
        self.result = result
        # Markers are no tokens, and `<< <`, as a macro may leave it, opens a launch like `<<<`; every offset stays.
        masked = _NO_CODE.sub(lambda match: b" " * len(match[0]) if match[0][:1] == b"#" else match[0], text)
        self.lexed = CudaSource("", _PARTED.sub(rb"<<<\1", masked))
        self.at = self.lexed.at
        self.texts = self.lexed.texts
        self.pairs = self.lexed.pairs
        self.markers = [(m.start(), m.end(), int(m.group(1)), m.group(2)) for m in _MARKER.finditer(text)]
        self._marker_starts = [marker[0] for marker in self.markers]
        self.found: list[tuple[int, int, bytes]] = []
        self.kernels: set[bytes] = set()
        self.kernel_bodies: list[tuple[int, int]] = []  # opening and closing brace of each definition

    # ---- structure ---------------------------------------------------------------------------------------------------

    def source(self, first: int, last: int) -> bytes:
        """Text of the tokens [first, last) on one line, without line markers."""
        if first >= last:
            return b""
        raw = self.text[self.lexed.starts[first] : self.lexed.end(last - 1)]
        return b" ".join(_MARKER.sub(b"", raw).split(b"\n")) if b"\n" in raw else raw

    def split(self, first: int, last: int) -> list[tuple[int, int]]:
        """Comma-separated parts of the tokens [first, last)."""
        parts: list[tuple[int, int]] = []
        start = position = first
        while position < last:
            text = self.at(position)
            if text in _OPEN and position in self.pairs:
                position = self.pairs[position] + 1
                continue
            if text == b"<" and (end := self._angle_end(position, last)) is not None:
                position = end + 1
                continue
            if text == b",":
                parts.append((start, position))
                start = position + 1
            position += 1
        if start < last or parts:
            parts.append((start, last))
        return parts

    def _angle_end(self, open_: int, limit: int) -> int | None:
        """The `>` that closes a template argument list; None where `<` is a comparison."""
        before = self.at(open_ - 1)
        if not (before[:1].isalpha() or before[:1] == b"_"):
            return None
        depth = 0
        position = open_
        while position < limit:
            text = self.at(position)
            if text == b"<":
                depth += 1
            elif text == b">":
                depth -= 1
                if depth == 0:
                    after = self.at(position + 1)
                    # `a < b, c > d` is two comparisons; a template argument list is followed by punctuation.
                    return position if after in _AFTER_ARGUMENTS else None
            elif text in _OPEN and position in self.pairs:
                position = self.pairs[position]
            elif text in (b";", b"{", b"}") or text[-1:] == b"=":
                return None
            position += 1
        return None

    def place(self, offset: int) -> tuple[bytes, int]:
        """(file, line) of an offset."""
        at = bisect.bisect_right(self._marker_starts, offset) - 1
        if at < 0:
            return b"?", 1
        _, end, line, name = self.markers[at]
        return name, line + max(0, self.text.count(b"\n", end + 1, offset))

    def replace(self, first: int, last: int, replacement: bytes) -> None:
        """Replaces the tokens [first, last); what follows keeps its line."""
        start, end = self.lexed.starts[first], self.lexed.end(last - 1)
        if b"\n" in self.text[start:end]:
            name, line = self.place(end)
            replacement += b'\n# %d "%s"\n' % (line, name)
        self.found.append((start, end, replacement))

    # ---- the walk ----------------------------------------------------------------------------------------------------

    def edits(self) -> list[tuple[int, int, bytes]]:
        """Non-overlapping (start, end, replacement), in order."""
        self._collect_kernels()
        position = 0
        while position < len(self.texts):
            text = self.at(position)
            first = text[:1]
            if text == b"<<<":
                self._launch(position)
            elif first in (b"_", b"h", b"a"):
                if text == b"hipLaunchKernelGGL":
                    self._launch_macro(position)
                elif text in _BY_ADDRESS:
                    self._by_address(position)
                elif text == b"__shared__":
                    self._shared(position)
                elif text in (b"__global__", b"__device__"):
                    self.replace(position, position + 1, b"")
                elif text == b"__host__":
                    self._host(position)
                elif text == b"__noinline__":
                    inside = self.at(position - 1) == b"(" or self.at(position + 1) == b")"
                    if not inside:
                        self.replace(position, position + 1, b"__attribute__((noinline))")
                elif text == b"__forceinline__":
                    self._forceinline(position)
                elif text in (b"asm", b"__asm__", b"__asm"):
                    self._assembly(position)
            elif text == b"clock" and self.at(position + 1) == b"(" and self._in_device_code(position):
                self.replace(position, position + 1, b"::rpx::device_clock")
            position += 1
        self.found += [(offset, offset, text) for offset, text in _Regions(self).run()]
        if not self.everywhere and not self.plain_shared:
            self.found += [(offset, offset, text) for offset, text in _ThreadLoops(self).run()]
        kept: list[tuple[int, int, bytes]] = []
        for edit in sorted(self.found, key=lambda edit: (edit[0], edit[1] > edit[0])):
            if kept and edit[0] < kept[-1][1]:
                continue  # inside of a replaced launch, whose text was taken as it stood
            kept.append(edit)
        return kept

    def _in_device_code(self, position: int) -> bool:
        """The token stands in the body of a function whose head says `__device__` or `__global__`."""
        if any(open_ < position < close for open_, close in self.kernel_bodies):
            return True
        loops = _ThreadLoops(self)
        for _, open_, close in _Regions.functions(self.texts, self.pairs):
            if open_ < position < close:
                return loops.for_device(open_)
        return False

    def _collect_kernels(self) -> None:
        namespaces: list[tuple[int, bytes]] = []  # (closing brace, name)
        position = 0
        while position < len(self.texts):
            text = self.at(position)
            while namespaces and position > namespaces[-1][0]:
                namespaces.pop()
            if text == b"namespace":
                open_ = position + 1
                while open_ < position + 8 and self.at(open_) not in (b"{", b";", b"="):
                    open_ += 1
                if self.at(open_) == b"{" and open_ in self.pairs:
                    name = b"".join(self.texts[position + 1 : open_])
                    namespaces.append((self.pairs[open_], name))
            elif text == b"__global__":
                self._kernel(position, [name for _, name in namespaces])
            position += 1

    def _kernel(self, position: int, namespaces: list[bytes]) -> None:
        """Records the kernel that the `__global__` belongs to; for the registry when it is a plain function."""
        cursor = position + 1
        while cursor < min(position + 60, len(self.texts)):
            text = self.at(cursor)
            if text == b"(":
                name = self.at(cursor - 1)
                if name in (b"__attribute__", b"alignas"):
                    cursor = self.pairs.get(cursor, cursor) + 1
                    continue
                close = self.pairs.get(cursor)
                if close is None:
                    return
                self.kernels.add(name)
                if self.at(close + 1) == b"{" and close + 1 in self.pairs:
                    self.kernel_bodies.append((close + 1, self.pairs[close + 1]))
                template = False
                back = position - 1
                while back >= 0 and self.at(back) not in (b";", b"}", b"{"):
                    template |= self.at(back) == b"template"
                    back -= 1
                if self.at(close + 1) == b"{" and not template and self._at_namespace_scope(position):
                    path = [n.decode() for n in namespaces if n] + [name.decode(errors="replace")]
                    self.result.kernels.append("::".join(path))
                return
            if text in (b";", b"{"):
                return
            cursor += 1

    def _at_namespace_scope(self, position: int) -> bool:
        """False inside of a class."""
        back = position - 1
        while back >= 0:
            text = self.at(back)
            if text == b"}" and back in self.pairs:
                back = self.pairs[back] - 1
                continue
            if text == b"{":
                head = back - 1
                words: list[bytes] = []
                while head >= 0 and self.at(head) not in (b";", b"}", b"{") and len(words) < 30:
                    words.append(self.at(head))
                    head -= 1
                if b"namespace" not in words and b"extern" not in words:
                    return False
            back -= 1
        return True

    # ---- launches ----------------------------------------------------------------------------------------------------

    def _launch(self, open_: int) -> None:
        if self.at(open_ - 1) == b"operator":
            return
        close = self._launch_close(open_)
        if close is None or self.at(close + 1) != b"(" or close + 1 not in self.pairs:
            return
        end = self.pairs[close + 1]
        kernel = self._kernel_start(open_)
        config = self.split(open_ + 1, close - 2)
        self._emit(kernel, end + 1, self.source(kernel, open_), config, self.split(close + 2, end))

    def _launch_close(self, open_: int) -> int | None:
        position = open_ + 1
        while position < len(self.texts):
            text = self.at(position)
            if text in _OPEN:
                if position not in self.pairs:
                    return None
                position = self.pairs[position]
            elif text in (b";", b"}"):
                return None
            elif text == b">" and [self.at(position + i) for i in (1, 2, 3)] == [b">", b">", b"("]:
                return position + 2
            position += 1
        return None

    def _kernel_start(self, launch: int) -> int:
        position = launch - 1
        while True:
            text = self.at(position)
            if text == b">":
                position = self._angle_start(position) - 1
                continue
            if text == b")" and position in self.pairs:
                position = self.pairs[position]
                before = self.at(position - 1)
                if not (before[:1].isalpha() or before[:1] == b"_" or before in (b"::", b".", b"->")):
                    return position
                if before in (b"if", b"while", b"for", b"switch", b"return", b"else"):
                    return position
                position -= 1
                continue
            before = self.at(position - 1)
            if before in (b"::", b".", b"->"):
                scope = self.at(position - 2)
                if (
                    scope == b">"
                    or scope == b")"
                    or ((scope[:1].isalpha() or scope[:1] == b"_") and scope not in (b"return", b"else", b"do"))
                ):
                    position -= 2
                    continue
                return position - 1 if before == b"::" else position
            if before == b"template":
                position -= 1
                continue
            return position

    def _angle_start(self, close: int) -> int:
        depth = 0
        position = close
        while position >= 0:
            text = self.at(position)
            if text == b">" and self.at(position - 1) != b"-":
                depth += 1
            elif text == b"<":
                depth -= 1
                if depth == 0:
                    return position
            elif text in _CLOSE and position in self.pairs:
                position = self.pairs[position]
            elif text in (b";", b"{", b"}"):
                break
            position -= 1
        name, line = self.place(self.lexed.starts[close])
        raise RewriteError(
            f"{name.decode(errors='replace')}:{line}: the kernel of this launch has unmatched angle brackets"
        )

    def _launch_macro(self, position: int) -> None:
        open_ = position + 1
        if self.at(open_) != b"(" or open_ not in self.pairs:
            return
        close = self.pairs[open_]
        parts = self.split(open_ + 1, close)
        if len(parts) < 5:
            return
        self._emit(position, close + 1, self.source(*parts[0]), parts[1:5], parts[5:])

    def _emit(
        self, first: int, last: int, kernel: bytes, config: list[tuple[int, int]], args: list[tuple[int, int]]
    ) -> None:
        self.result.launches += 1
        name = re.sub(rb"\s+", b" ", kernel).strip()
        while name[:1] == b"(" and name[-1:] == b")":
            name = name[1:-1].strip()
        shown = name.replace(b"\\", b"\\\\").replace(b'"', b'\\"')[:120]
        configuration = b", ".join(self.source(*part) for part in config)
        texts = [_SPACES.sub(b"", self.source(*part)) for part in args]  # a device lambda's specifiers
        callee = kernel.strip()
        if callee[:1] != b"(" and b"<" in callee and callee.split(b"<")[0].strip() == b"":
            callee = name
        if any(text.rstrip().endswith(b"...") for text in texts):
            call = b"[=](auto &...rpx_all) { %s(rpx_all...); }" % callee
            passed = texts
        else:
            parameters, actual, passed = [], [], []
            for number, text in enumerate(texts):
                if self._is_literal(args[number]):
                    actual.append(text)
                else:
                    parameters.append(b"auto &rpx_%d" % number)
                    actual.append(b"rpx_%d" % number)
                    passed.append(b"::rpx::given(%s)" % text)
            call = b"[=](%s) { %s(%s); }" % (b", ".join(parameters), callee, b", ".join(actual))
        pieces = [b'"%s"' % shown, b"::rpx::Config(%s)" % configuration, call, *passed]
        self.replace(first, last, b"::rpx::launch(%s)" % b", ".join(pieces))

    def _is_literal(self, part: tuple[int, int]) -> bool:
        first, last = part
        if self.at(first) == b"{":
            return True
        if last - first == 2 and self.at(first) in (b"-", b"+"):
            first += 1
        return last - first == 1 and (self.at(first) in _LITERALS or self.at(first)[:1].isdigit())

    def _by_address(self, position: int) -> None:
        """`hipLaunchKernel((const void *)kernel<T>, ...)`: the cast goes, so that the argument types are known."""
        open_ = position + 1
        if self.at(position + 1) == b"<" or self.at(open_) != b"(" or open_ not in self.pairs:
            return
        parts = self.split(open_ + 1, self.pairs[open_])
        if len(parts) < 4:
            return
        first, last = parts[0]
        start = first
        if self.at(first) == b"reinterpret_cast":
            inner = next((i for i in range(first, last) if self.at(i) == b"("), None)
            if inner is None:
                return
            start, last = inner + 1, self.pairs[inner]
        elif self.at(first) == b"(" and first in self.pairs and self.at(self.pairs[first] - 1) in (b"*", b"const"):
            start = self.pairs[first] + 1
        if self.at(start) == b"&":
            start += 1
        while self.at(start) == b"(" and self.pairs.get(start) == last - 1:
            start, last = start + 1, last - 1
        names = {self.at(i) for i in range(start, last)}
        if start > first and names & self.kernels:
            self.replace(first, parts[0][1], self.source(start, last))

    # ---- declarations ------------------------------------------------------------------------------------------------

    def _enclosed(self, position: int) -> bytes:
        """The innermost open bracket around the token."""
        back = position - 1
        while back >= 0:
            text = self.at(back)
            if text in _CLOSE and back in self.pairs:
                back = self.pairs[back] - 1
                continue
            if text in _OPEN:
                return text
            back -= 1
        return b""

    def _shared(self, position: int) -> None:
        first = position
        while self.at(first - 1) in (
            b"static",
            b"extern",
            b"volatile",
            b"const",
            b"inline",
            b"alignas",
            b"__shared__",
        ) or (self.at(first - 1) == b")" and self._attribute_before(first) is not None):
            first = self._attribute_before(first) if self.at(first - 1) == b")" else first - 1  # type: ignore[assignment]
        start = first
        while self._continues_declaration(start - 1):
            start -= 1
        if b"extern" in {self.at(i) for i in range(start, first)}:
            first = start  # `extern T __shared__ name[];`
        before = {self.at(i) for i in range(first, position)}
        if self._enclosed(position) == b"(":
            self.replace(position, position + 1, b"")
            return
        end = position
        while end < len(self.texts) and self.at(end) != b";":
            end = self.pairs[end] + 1 if self.at(end) in _OPEN and end in self.pairs else end + 1
        after = {self.at(i) for i in range(position + 1, end)}
        if b"extern" in before or b"extern" in after:
            self._dynamic(first, position, end)
            return
        static = b"static" in before or b"static" in {self.at(i) for i in range(position + 1, min(position + 4, end))}
        storage = b"" if self.plain_shared else b"thread_local"
        if not static:
            storage = b"static " + storage
        aligned = position + 1
        if self.at(aligned) == b"alignas" and aligned + 1 in self.pairs:  # comes before all else
            close = self.pairs[aligned + 1] + 1
            self.replace(position, close, self.source(aligned, close) + b" " + storage)
        else:
            self.replace(position, position + 1, storage)

    def _continues_declaration(self, position: int) -> bool:
        """The token can belong to the specifiers and the type of a declaration."""
        text = self.at(position)
        return text[:1].isalpha() or text[:1] == b"_" or text in (b"::", b"<", b">", b",", b"*")

    def _attribute_before(self, position: int) -> int | None:
        """Start of an `__attribute__((...))` or `alignas(...)` that ends right before the token."""
        close = position - 1
        if self.at(close) != b")" or close not in self.pairs:
            return None
        open_ = self.pairs[close]
        return open_ - 1 if self.at(open_ - 1) in (b"__attribute__", b"alignas") else None

    def _dynamic(self, first: int, position: int, end: int) -> None:
        """`extern __shared__ T name[];` becomes a pointer (or pointer to array) to the block's dynamic memory."""
        kept: list[int] = []
        cursor = first
        while cursor < end:
            text = self.at(cursor)
            if text in (b"extern", b"__shared__", b"static"):
                cursor += 1
                continue
            if text in (b"__attribute__", b"alignas") and self.at(cursor + 1) == b"(" and cursor + 1 in self.pairs:
                cursor = self.pairs[cursor + 1] + 1
                continue
            kept.append(cursor)
            cursor += 1
        bracket = next(
            (i for i in kept if self.at(i) == b"[" and (self.at(i - 1)[:1].isalpha() or self.at(i - 1)[:1] == b"_")),
            None,
        )
        if bracket is None:
            self.replace(position, position + 1, b"")
            return
        name = self.at(bracket - 1)
        kind = b" ".join(self.at(i) for i in kept if i < bracket - 1)
        rest = b"".join(self.at(i) for i in kept if i >= bracket)
        rest = rest[rest.index(b"]") + 1 :]
        inside = self._enclosed(position) == b"{" and not self._at_namespace_scope(position)
        if not inside:
            text = b"static ::rpx::DynamicArray<%s> %s" % (kind, name)
        elif rest:
            text = b"%s (*%s)%s = reinterpret_cast<%s (*)%s>(::rpx::dynamic_lds)" % (
                kind,
                name,
                rest,
                kind,
                rest,
            )
        else:
            text = b"%s *%s = reinterpret_cast<%s *>(::rpx::dynamic_lds)" % (kind, name, kind)
        self.replace(first, end, text)

    def _host(self, position: int) -> None:
        """Drops the specifier, and the whole function when the device has the same one: they would be one here."""
        name, parameters, end = self._function(position)
        if (
            name
            and not self._for_device(position)
            and (name, parameters, self._scope(position)) in self._device_functions
        ):
            first = position
            while self.at(first - 1) in _SPECIFIERS:
                first -= 1
            self.replace(first, end, b"")
        else:
            self.replace(position, position + 1, b"")

    @cached_property
    def _device_functions(self) -> frozenset[tuple[bytes, bytes, int]]:
        """(name, parameters, scope) of the functions that are for the device alone."""
        found = set()
        for position, text in enumerate(self.texts):
            if text == b"__device__" and not self._for_host(position):
                name, parameters, _ = self._function(position)
                if name:
                    found.add((name, parameters, self._scope(position)))
        return frozenset(found)

    def _specifiers(self, position: int) -> set[bytes]:
        first = last = position
        while self.at(first - 1) in _SPECIFIERS:
            first -= 1
        while self.at(last + 1) in _SPECIFIERS:
            last += 1
        return {self.at(i) for i in range(first, last + 1)}

    def _for_host(self, position: int) -> bool:
        return b"__host__" in self._specifiers(position)

    def _for_device(self, position: int) -> bool:
        return b"__device__" in self._specifiers(position)

    def _scope(self, position: int) -> int:
        """The token of the brace around; -1 outside of all."""
        back = position - 1
        while back >= 0:
            if self.at(back) == b"}" and back in self.pairs:
                back = self.pairs[back] - 1
                continue
            if self.at(back) == b"{":
                return back
            back -= 1
        return -1

    def _function(self, position: int) -> tuple[bytes, bytes, int]:
        """Name, parameters and end of the function definition whose specifiers hold the token; empty: there is none."""
        cursor = position + 1
        while cursor < min(position + 40, len(self.texts)):
            text = self.at(cursor)
            if text == b"(" and cursor in self.pairs:
                close = self.pairs[cursor]
                if self.at(cursor - 1) in (b"__attribute__", b"alignas", b"decltype"):
                    cursor = close + 1
                    continue
                body = close + 1
                while self.at(body) in (b"const", b"noexcept"):
                    body += 1
                if self.at(body) != b"{" or body not in self.pairs:
                    return b"", b"", 0
                return self.at(cursor - 1), self.source(cursor + 1, close), self.pairs[body] + 1
            if text in (b";", b"{", b"="):
                break
            cursor += 1
        return b"", b"", 0

    def _forceinline(self, position: int) -> None:
        if self.at(position - 1) == b"]" or self.at(position - 1) == b")":
            self.replace(position, position + 1, b"")
            return
        first = position
        while self.at(first - 1) in _SPECIFIERS:
            first -= 1
        last = position + 1
        while self.at(last) in _SPECIFIERS:
            last += 1
        others = [i for i in range(first, last) if self.at(i) in _INLINES and i != position]
        redundant = any(self.at(i) != b"__forceinline__" or i < position for i in others)
        self.replace(position, position + 1, b"" if redundant else b"inline")

    def _plain_instruction(self, open_: int) -> bytes | None:
        """One vector instruction on plain operands, as an assignment; None: it is something else."""
        match = _VECTOR_ASM.match(self.at(open_ + 1))
        if match is None:
            return None
        close = self.pairs[open_]
        operands = [
            self.source(i + 1, self.pairs[i])
            for i in range(open_ + 2, close)
            if self.at(i) == b"(" and self.at(i - 1)[:1] == b'"' and i in self.pairs
        ]
        operator = _VECTOR_OPERATORS[match.group(1)]
        if len(operands) != (2 if match.group(1) == b"mov" else 3) or b"+" in self.at(open_ + 3):
            return None
        if match.group(1) == b"mov":
            return b"(void)((%s) = (%s))" % (operands[0], operands[1])
        return b"(void)((%s) = (%s) %s (%s))" % (operands[0], operands[1], operator, operands[2])

    def _assembly(self, position: int) -> None:
        cursor = position + 1
        while self.at(cursor) in (b"volatile", b"__volatile__", b"__volatile", b"goto", b"inline"):
            cursor += 1
        if self.at(cursor) != b"(" or cursor not in self.pairs or self.at(cursor + 1)[:1] != b'"':
            return
        template = self.at(cursor + 1)
        if _HARMLESS_ASM.match(template):
            self.replace(position, self.pairs[cursor] + 1, b'__asm__ volatile("" ::: "memory")')
        elif (plain := self._plain_instruction(cursor)) is not None:
            self.replace(position, self.pairs[cursor] + 1, plain)
        elif _DEVICE_ASM.match(template):
            shown = template.strip(b'"')[:80]
            self.replace(position, self.pairs[cursor] + 1, b'::rpx::unsupported("device assembly: %s")' % shown)
