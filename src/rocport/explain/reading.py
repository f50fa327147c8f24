"""One reader for whatever is pasted: first who (vendor, machine, versions), then what (the failures), then the plan.

`rocport explain` and `rocport doctor --from` both come here; they differ in what they print first.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import BinaryIO

from rocport.doctor.capture import machine_from_text
from rocport.doctor.machine import Machine
from rocport.doctor.text import decode
from rocport.explain.engine import Diagnosis, Match, diagnose
from rocport.explain.vendor import NVIDIA, UNKNOWN, Vendor, vendor_of

HEAD_BYTES = 1024 * 1024
"""How much of a paste is searched for the machine: it stands near the top, and a crash log can be of any size."""


@dataclass(frozen=True)
class Reading:
    """What a paste says. `machine` is what its first megabyte shows."""

    name: str
    vendor_found: Vendor
    machine: Machine
    diagnosis: Diagnosis

    @property
    def vendor(self) -> str:
        """amd, nvidia or unknown."""
        return self.vendor_found.name

    @property
    def foreign(self) -> bool:
        """True when the paste is about an NVIDIA GPU: rocport says so and stays silent."""
        return self.vendor == NVIDIA

    @property
    def matches(self) -> tuple[Match, ...]:
        """The failures, most specific first.

        None for an NVIDIA machine. Where only a CUDA build is named and no GPU of AMD, it is either an NVIDIA machine
        or the commonest mistake on an AMD one: only failures of that mistake are kept. Where nothing names a vendor, a
        failure that NVIDIA machines print as well is held back.
        """
        if self.foreign:
            return ()
        if self.vendor_found.cuda_build:
            return tuple(match for match in self.diagnosis.matches if match.failure.cuda_build)
        return tuple(match for match in self.diagnosis.matches if match not in self.held_back)

    @property
    def held_back(self) -> tuple[Match, ...]:
        """Failures that are not shown because nothing in the paste says that the GPU is AMD's."""
        if self.vendor != UNKNOWN or self.vendor_found.cuda_build:
            return ()
        return tuple(match for match in self.diagnosis.matches if match.failure.nvidia_too)


def read_bytes(data: bytes, name: str) -> Reading:
    """Read a paste that is in memory."""
    return read_stream(io.BytesIO(data), name)


def read_stream(stream: BinaryIO, name: str, vendor: str = "") -> Reading:
    """Read a paste to its end, in bounded memory; `vendor` (amd, nvidia) overrides what its words say.

    Raises OSError when the stream does.
    """
    head = stream.read(HEAD_BYTES)
    text = decode(head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1] or head)
    found = Vendor(vendor) if vendor else vendor_of(text)
    return Reading(name, found, machine_from_text(text, name), diagnose(_Replayed(head, stream)))


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
