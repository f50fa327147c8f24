"""A filter of system calls: sockets of this machine only, and no io_uring, which would go around it.

Landlock knows TCP (Linux 6.7) and no other protocol; this closes UDP, raw and packet sockets on every Linux with
seccomp. Sources: Linux, Documentation/userspace-api/seccomp_filter.rst; uapi/linux/seccomp.h, filter.h, audit.h,
socket.h.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class _Machine:
    """Numbers of one architecture."""

    audit: int
    socket: int


_MACHINES = {"x86_64": _Machine(0xC000003E, 41), "aarch64": _Machine(0xC00000B7, 198)}
_IO_URING_SETUP = 425  # the same number on every architecture
_X32 = 0x40000000  # the bit of x86's third set of numbers
_LOCAL = (1, 16)  # AF_UNIX, and AF_NETLINK, which name look-ups of the C library use
_PR_SET_SECCOMP, _PR_GET_SECCOMP = 22, 21
_PR_SET_NO_NEW_PRIVS = 38
_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little endian


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


@functools.cache
def works() -> bool:
    """Whether this kernel filters, and the numbers of this machine are known."""
    if sys.platform != "linux" or os.uname().machine not in _MACHINES:
        return False
    return bool(ctypes.CDLL(None).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0)


class Filter:
    """Made by the parent; the child only hands it to the kernel."""

    def __init__(self) -> None:
        machine = _MACHINES[os.uname().machine]
        refuse, unknown = _RETURN, (_ERRNO | errno.ENOSYS)
        steps = [
            (_LOAD, 0, 0, _ARCHITECTURE),
            (_EQUAL, 1, 0, machine.audit),
            (refuse, 0, 0, unknown),
            (_LOAD, 0, 0, _NUMBER),
            (_AT_LEAST, 1, 0, _X32),
            (_EQUAL, 0, 1, _IO_URING_SETUP),
            (refuse, 0, 0, unknown),
            (_EQUAL, 1, 0, machine.socket),
            (_RETURN, 0, 0, _ALLOW),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            *((_EQUAL, len(_LOCAL) - place, 0, family) for place, family in enumerate(_LOCAL)),
            (_RETURN, 0, 0, _ERRNO | errno.EACCES),
            (_RETURN, 0, 0, _ALLOW),
        ]
        self._instructions = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
        self._program = _Program(len(steps), self._instructions)

    def enforce(self) -> None:
        """From here on, for this process and what it starts. Raises OSError where the kernel refuses."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
            _PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(self._program), 0, 0
        ):
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_SECCOMP)")
