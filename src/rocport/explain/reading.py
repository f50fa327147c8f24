"""One reader for whatever is pasted: first who (vendor, machine, versions), then what (the failures), then the plan.

`rocport explain` and `rocport doctor --from` both come here; they differ in what they print first.
"""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass
from typing import BinaryIO

from rocport.doctor.capture import machine_from_text
from rocport.doctor.machine import Machine
from rocport.doctor.probes.dockerfile import is_dockerfile, words_beside
from rocport.doctor.text import MAX_BYTES, decode
from rocport.doctor.versions import package_version, parsed_rocm, torch_version
from rocport.explain.engine import Diagnosis, diagnose, fold, rank
from rocport.explain.evidence import Known, weigh
from rocport.explain.match import Match
from rocport.explain.prose import Told, told_in
from rocport.explain.text import clean
from rocport.explain.vendor import AMD, OTHERS, Vendor, vendor_of
from rocport.facts.failures import load_failures
from rocport.facts.targets import load_target
from rocport.model.context import Options

HEAD_BYTES = MAX_BYTES
"""How much of a paste is searched for the machine: it stands near the top, and a crash log can be of any size."""


@dataclass(frozen=True)
class Reading:
    """What a paste says. `machine` is what its first two mebibytes show."""

    name: str
    vendor_found: Vendor
    machine: Machine
    diagnosis: Diagnosis
    known: Known
    """Versions and targets, from the machine or from who asks."""
    told: Told | None = None
    """What a few sentences about an AMD GPU tell, where nothing in them looks like a message."""

    @property
    def vendor(self) -> str:
        """amd, nvidia, intel, apple or unknown."""
        return self.vendor_found.name

    @property
    def foreign(self) -> bool:
        """True when the paste is about another vendor's GPU: rocport says so and stays silent."""
        return self.vendor in OTHERS

    @functools.cached_property
    def weighed(self) -> tuple[Match, ...]:
        """The failures, most specific first, with what speaks against each.

        None for another vendor's machine. Where only a CUDA build is named and no GPU of AMD, it is either an NVIDIA
        machine or the commonest mistake on an AMD one: only failures of that mistake are kept.
        """
        if self.foreign:
            return ()
        found = sorted((*self.diagnosis.matches, *self.diagnosis.general), key=rank)
        if self.vendor_found.cuda_build:
            found = [match for match in found if match.failure.cuda_build]
        return weigh(found, self.diagnosis.setting, self.vendor_found, self.known)

    @functools.cached_property
    def _claimed(self) -> tuple[tuple[Match, ...], tuple[Match, ...]]:
        return fold(match for match in self.weighed if not match.doubts)

    @property
    def matches(self) -> tuple[Match, ...]:
        """The failures that nothing speaks against: these are claimed."""
        return self._claimed[0]

    @property
    def general(self) -> tuple[Match, ...]:
        """Failures whose every line a more specific claim explains."""
        return self._claimed[1]

    @functools.cached_property
    def possible(self) -> tuple[Match, ...]:
        """The failures that something speaks against (`Match.doubts`), least doubted first, but those whose every line
        a claim explains; where nothing was seen at all, those nearest to what is told in words."""
        if self.told is not None and not self.weighed:
            return self.told.nearest()
        explained = {line for match in self.matches for line in match.lines}
        doubted, _ = fold(match for match in self.weighed if match.doubts and not explained.issuperset(match.lines))
        return tuple(sorted(doubted, key=lambda match: len(match.doubts)))


def read_bytes(data: bytes, name: str) -> Reading:
    """Read a paste that is in memory."""
    return read_stream(io.BytesIO(data), name)


def read_stream(stream: BinaryIO, name: str, vendor: str = "", options: Options | None = None) -> Reading:
    """Read a paste to its end, in bounded memory; `vendor` (amd, nvidia) and `options` (ROCm, torch, targets) override
    what its words say.

    Raises OSError when the stream does.
    """
    head = stream.read(HEAD_BYTES)
    text = decode(head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1] or head)
    found = Vendor(vendor) if vendor else vendor_of(text)
    machine = machine_from_text(text, name)
    diagnosis = diagnose(_Replayed(head, stream))
    words = clean(text)
    words = words_beside(words) if is_dockerfile(words) else words
    told = told_in(words) if found.name == AMD and not diagnosis.suspects else None
    known = _known(machine, options or Options())
    return Reading(name, found, machine, diagnosis, known, told)


@functools.cache
def _bounding_libraries() -> frozenset[str]:
    """The packages whose versions bound a failure."""
    return frozenset(name for failure in load_failures() for name in failure.where.library)


def _known(machine: Machine, options: Options) -> Known:
    """The versions that a failure's range is put to."""
    torch = torch_version(machine)
    targets = [load_target(name) for name in options.targets] or [target for _, target in machine.targets()]
    packages = {name: package_version(machine, name) for name in _bounding_libraries()}
    return Known(
        options.rocm or parsed_rocm(machine),
        options.torch or (".".join(map(str, torch.release)) if torch else None),
        {name: str(version) for name, version in packages.items() if version},
        tuple(targets),
    )


class _Replayed(io.RawIOBase, BinaryIO):
    """A stream whose first bytes were read already."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._head.read(size)
        if size < 0:
            return data + self._rest.read()
        return data if len(data) == size else data + self._rest.read(size - len(data))
