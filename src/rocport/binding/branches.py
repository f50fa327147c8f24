"""Which preprocessor branches of a file the port compiles, and which of them it chooses otherwise than sm_80 would.

Shared by the rules that look at conditionals and at code that must not be reported where it is never compiled. The
compiler the port presents to conditionals is that of `rocport_platform.h`: sm_80, CUDA 12.4.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rocport.syntax.amd import is_amd_macro
from rocport.syntax.conditionals import Branch, Chain, chains, evaluate
from rocport.syntax.cuda import CudaSource

ARCHITECTURE = 800
CUDA = 12040

PLATFORM_VALUES: Mapping[bytes, int] = {
    b"__CUDACC_VER_MAJOR__": 12,
    b"__CUDACC_VER_MINOR__": 4,
    b"__CUDACC_VER_BUILD__": 131,
    b"CUDART_VERSION": CUDA,
    b"CUDA_VERSION": CUDA,
    b"CUBLAS_VERSION": 120405,
    b"CUBLAS_VER_MAJOR": 12,
    b"CUBLAS_VER_MINOR": 4,
    b"CUSPARSE_VERSION": 12301,
    b"CUSPARSE_VER_MAJOR": 12,
    b"CUSPARSE_VER_MINOR": 3,
    b"CUSOLVER_VERSION": 11601,
    b"CUFFT_VERSION": 11201,
    b"CURAND_VERSION": 10305,
    b"CUB_VERSION": 200301,
    b"CCCL_VERSION": 2003001,
    b"CCCL_MAJOR_VERSION": 2,
    b"CCCL_MINOR_VERSION": 3,
}
"""Macros of the CUDA toolkit and the values `rocport_platform.h` gives them on AMD."""

COMPILER = frozenset({b"__CUDACC__", b"__NVCC__", b"__CUDACC_EXTENDED_LAMBDA__", b"__CUDACC_RELAXED_CONSTEXPR__"})
"""What says that the file is compiled as CUDA, or that the compiler takes what HIP's always does."""
RUN_TIME_COMPILER = b"__CUDACC_RTC__"
ARCH = b"__CUDA_ARCH__"
CUDA_NAMES = frozenset(PLATFORM_VALUES) | COMPILER | {ARCH, RUN_TIME_COMPILER}

# __HIP_PLATFORM_HCC__ and __HCC__ are gone since ROCm 6; the rule hip-platform-macro puts today's names in their place.
_HIP_DEFINED = frozenset({b"__HIPCC__", b"__HIP__", b"__HIP_PLATFORM_AMD__", b"__HIP_PLATFORM_HCC__", b"__HCC__"})
_HIP_UNDEFINED = frozenset({b"__HIP_PLATFORM_NVIDIA__", b"__HIP_PLATFORM_NVCC__"})
_DEVICE_PASS = b"__HIP_DEVICE_COMPILE__"
_FOR_EDITORS = frozenset(
    b"__JETBRAINS_IDE__ __INTELLISENSE__ __CDT_PARSER__ __RESHARPER__ __CLION_IDE__ DOXYGEN __DOXYGEN__ "
    b"DOXYGEN_SHOULD_SKIP_THIS __CPPCHECK__ __cppcheck__ __clang_analyzer__".split()
)
"""What editors and tools that read sources define for themselves, and no build."""
_HIP_NAMES = _HIP_DEFINED | _HIP_UNDEFINED | {_DEVICE_PASS, b"USE_ROCM"}


def respects_hip(source: CudaSource, chain: Chain) -> bool:
    """True when a condition of the chain already asks for HIP: its author has decided, and nothing is changed."""
    return any(
        text in _HIP_NAMES or is_amd_macro(text)
        for branch in chain.branches
        for text in source.texts[branch.directive.first + 2 : branch.directive.last]
    )


@dataclass(frozen=True)
class Taken:
    """What each branch of a chain is in the device and in the host pass of the port: True, False or None (unknown)."""

    device: tuple[bool | None, ...]
    host: tuple[bool | None, ...]


@dataclass(frozen=True)
class Forced:
    """A branch that the port takes, or skips, where an sm_80 build does the opposite."""

    chain: Chain
    branch: Branch
    take: bool
    reason: str
    """The construct of the other branch that HIP cannot take."""


class Branches:
    """The conditionals of one file as the port sees them. `torch` says that the file is a PyTorch extension's."""

    def __init__(self, source: CudaSource, torch: bool) -> None:
        self.source = source
        self.torch = torch
        self.chains = chains(source)
        self.taken = [self._taken(chain) for chain in self.chains]
        self._refusing = sorted(source.find(*_REFUSING))
        self._dead = self._dead_ranges(host=True)
        self._dead_on_device = self._dead_ranges(host=False)

    def value(self, name: bytes, device: bool, respected: bool = False, arch: int = ARCHITECTURE) -> int | None:
        """Value of a macro in a condition of the port; None where it is not known."""
        known = self.is_defined(name, device, respected)
        if known is False:
            return 0
        if name == ARCH and known:
            return arch
        if name in PLATFORM_VALUES and known:
            return PLATFORM_VALUES[name]
        return 1 if known else None

    def is_defined(self, name: bytes, device: bool, respected: bool = False) -> bool | None:
        """Whether a macro is defined in the port; None where it is not known.

        In a chain that asks for HIP (`respected`) nothing is renamed, so CUDA's names are undefined there.
        """
        if name in CUDA_NAMES:
            if respected:
                return False
            if name == RUN_TIME_COMPILER:
                return None
            return device if name == ARCH else True
        if name in _HIP_DEFINED:
            return True
        if name in _HIP_UNDEFINED or name in _FOR_EDITORS:
            return False
        if name == _DEVICE_PASS:
            return device
        if name == b"USE_ROCM":
            return True if self.torch else None
        return None

    def _taken(self, chain: Chain) -> Taken:
        respected = respects_hip(self.source, chain)
        return Taken(self.arms(chain, True, respected), self.arms(chain, False, respected))

    def arms(self, chain: Chain, device: bool, respected: bool, arch: int = ARCHITECTURE) -> tuple[bool | None, ...]:
        """Whether each branch is included, for one pass and one value of `__CUDA_ARCH__`."""
        source = self.source
        included: list[bool | None] = []
        before: bool | None = False
        for branch in chain.branches:
            holds = (
                evaluate(
                    source,
                    branch.directive,
                    lambda name: self.value(name, device, respected, arch),
                    lambda name: self.is_defined(name, device, respected),
                )
                if before is not True
                else False
            )
            if before is None:
                included.append(None if holds is not False else False)
            else:
                included.append(holds)
            before = True if before or holds else (None if before is None or holds is None else False)
        return tuple(included)

    def _dead_ranges(self, host: bool) -> list[tuple[int, int]]:
        """Bytes of branches that the device pass, and with `host` the host pass too, surely leaves out."""
        dead = [
            (branch.start, branch.end)
            for chain, taken in zip(self.chains, self.taken, strict=True)
            for branch, in_device, in_host in zip(chain.branches, taken.device, taken.host, strict=True)
            if in_device is False and (in_host is False or not host)
        ]
        return sorted(dead)

    def is_dead(self, offset: int, device_only: bool = False) -> bool:
        """True when neither pass of the port compiles the byte, as far as conditions over known names say.

        With `device_only` the device pass alone counts: for what matters only where device code is generated.
        """
        ranges = self._dead_on_device if device_only else self._dead
        at = bisect.bisect_right(ranges, (offset, len(self.source.data) + 1))
        return any(start <= offset < end for start, end in ranges[:at])

    def dead_on_device(self, offset: int) -> bool:
        """As `is_dead` with `device_only`, in one step, for who asks at many places."""
        at = bisect.bisect_right(self._dead_apart, (offset, len(self.source.data) + 1)) - 1
        return at >= 0 and offset < self._dead_apart[at][1]

    @cached_property
    def _dead_apart(self) -> list[tuple[int, int]]:
        apart: list[tuple[int, int]] = []
        for start, end in self._dead_on_device:
            if apart and start < apart[-1][1]:
                apart[-1] = apart[-1][0], max(end, apart[-1][1])
            else:
                apart.append((start, end))
        return apart

    def compiled(self, start: int) -> Callable[[int], bool | None]:
        """Whether the device pass includes a byte, by the chains that open after `start`; None where not known."""

        def included(offset: int) -> bool | None:
            result: bool | None = True
            for chain, taken in zip(self.chains, self.taken, strict=True):
                if not start <= chain.start <= offset < chain.end:
                    continue
                for branch, state in zip(chain.branches, taken.device, strict=True):
                    if branch.start <= offset < branch.end and state is not True:
                        if state is False:
                            return False
                        result = None
            return result

        return included

    def forced(self, unportable: Callable[[int, int], str | None]) -> list[Forced]:
        """Branches to choose otherwise, because what sm_80 compiles cannot be ported and a fallback can.

        `unportable` says what in the bytes [start, end) HIP cannot take, or None. A fallback that only refuses (an
        assertion, a trap, nothing) is not chosen: an honest compile error is better.
        """
        found: list[Forced] = []
        for chain, taken in zip(self.chains, self.taken, strict=True):
            if not self._asks_architecture(chain) or respects_hip(self.source, chain):
                continue
            if self.is_dead(chain.start):
                continue
            found += self._force(chain, taken, unportable)
        return found

    def _asks_architecture(self, chain: Chain) -> bool:
        texts = self.source.texts
        return any(ARCH in texts[arm.directive.first : arm.directive.last] for arm in chain.branches)

    def _force(self, chain: Chain, taken: Taken, unportable: Callable[[int, int], str | None]) -> list[Forced]:
        if None in taken.device or True not in taken.device:
            return []
        chosen = taken.device.index(True)
        branch = chain.branches[chosen]
        reason = unportable(branch.start, branch.end)
        if reason is None and not self._stops(branch):
            return []
        if reason is None:
            reason = "a refusal to run"
        for other in range(len(chain.branches)):
            if other == chosen or not self._usable(chain, other, unportable):
                continue
            if other < chosen:
                return [Forced(chain, chain.branches[other], True, reason)]
            if all(arm.directive.name != b"else" for arm in chain.branches[chosen:other]):
                return self._skip(chain, chosen, other, reason)
        return []

    def _usable(self, chain: Chain, index: int, unportable: Callable[[int, int], str | None]) -> bool:
        branch = chain.branches[index]
        respected = respects_hip(self.source, chain)
        reachable = any(
            self.arms(chain, True, respected, arch)[index] for arch in (900, 890, 860, 750, 700, 610, 600, 530, 350)
        )
        if branch.directive.name == b"else":
            reachable = True
        return reachable and not self._refuses(branch) and unportable(branch.start, branch.end) is None

    def _skip(self, chain: Chain, chosen: int, other: int, reason: str) -> list[Forced]:
        skipped = [Forced(chain, arm, False, reason) for arm in chain.branches[chosen:other]]
        target = chain.branches[other]
        holds = evaluate(
            self.source,
            target.directive,
            lambda name: self.value(name, True),
            lambda name: self.is_defined(name, True),
        )
        return skipped if holds else [Forced(chain, target, True, reason)]

    def _refuses(self, branch: Branch) -> bool:
        """True for a branch that does no work: empty, or an assertion, a trap or an #error."""
        source = self.source
        first, last = source.token_at(branch.start), source.token_at(branch.end)
        words = set(source.texts[first:last])
        return not words - {b";", b"return", b"{", b"}"} or self._stops(branch)

    def _stops(self, branch: Branch) -> bool:
        """True for an assertion, a trap or an #error alone. An empty branch is none: sm_80 needs nothing there, such as
        an atomicAdd for double of its own. Nor is one that works and stops in one case (`default: __trap();`)."""
        source = self.source
        places = range(source.token_at(branch.start), source.token_at(branch.end))
        first = bisect.bisect_left(self._refusing, places.start)
        if first == len(self._refusing) or self._refusing[first] >= places.stop:
            return False
        words = {source.texts[at] for at in places}
        if b"=" in words:
            return False
        works = any(
            source.at(at + 1) == b"(" and source.is_ident(at) and source.at(at) not in _REFUSING | _BESIDE_A_STOP
            for at in places
            if source.directive_of(at) is None
        )
        return b"error" in words or not (works or words & {b"case", b"default"})


_BESIDE_A_STOP = frozenset({b"if", b"printf", b"fprintf", b"sizeof", b"static_cast", b"__printf", b"void"})
_REFUSING = frozenset(
    {
        b"assert",
        b"static_assert",
        b"__trap",
        b"__builtin_trap",
        b"__builtin_unreachable",
        b"NO_DEVICE_CODE",
        b"CUTE_INVALID_CONTROL_PATH",
        b"error",
        b"abort",
    }
)


@lru_cache(maxsize=2)
def branches(source: CudaSource, torch: bool) -> Branches:
    """The conditionals of a file; kept for the rules that run over it one after the other."""
    return Branches(source, torch)
