"""Landlock's three system calls. Source: Linux, Documentation/userspace-api/landlock.rst, uapi/linux/landlock.h."""

from __future__ import annotations

import ctypes
import functools
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same number on every architecture
_VERSION = 1 << 0
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_WRITE_FILE = 1 << 1
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
# REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, _DIR, _REG, _SOCK, _FIFO, _BLOCK, _SYM
_CHANGE_FOLDER = sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_TCP = 1 << 0 | 1 << 1  # BIND, CONNECT
_SCOPED = 1 << 0 | 1 << 1  # ABSTRACT_UNIX_SOCKET, SIGNAL


class _Attributes(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def _call(number: int, *arguments: object) -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments))


@functools.cache
def abi() -> int:
    """The version of Landlock here; 0 or less where there is none."""
    if sys.platform != "linux":
        return 0
    return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))


class Ruleset:
    """Writing is allowed below some paths, reading and starting programs below others (None: everywhere), and TCP is
    not.

    From Linux 6.12 on nothing outside gets a signal, or a connection to its abstract sockets. Paths that do not exist
    are left out.
    """

    def __init__(self, writable: Sequence[Path], readable: Sequence[Path] | None = None) -> None:
        """Raises OSError where the kernel refuses."""
        version = abi()
        write = _WRITE_FILE | _CHANGE_FOLDER
        write |= _REFER if version >= 2 else 0
        write |= _TRUNCATE if version >= 3 else 0
        read = 0 if readable is None else _EXECUTE | _READ_FILE | _READ_FOLDER
        attributes = _Attributes(write | read, _TCP if version >= 4 else 0, _SCOPED if version >= 6 else 0)
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        self._descriptor = _call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
        for path in writable:
            self._allow(path, write | read)
        for path in readable or ():
            self._allow(path, read)

    def _allow(self, path: Path, rights: int) -> None:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                rights &= _EXECUTE | _READ_FILE | _WRITE_FILE | (_TRUNCATE if abi() >= 3 else 0)
            rule = _Beneath(rights, descriptor)
            failed = _call(
                _ADD_RULE, ctypes.c_int(self._descriptor), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule),
                ctypes.c_uint32(0),
            )  # fmt: skip
            if failed:
                raise OSError(ctypes.get_errno(), f"landlock_add_rule {path}")
        finally:
            os.close(descriptor)

    def enforce(self) -> None:
        """From here on, for this process and what it starts. Raises OSError where the kernel refuses."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
        if _call(_RESTRICT_SELF, ctypes.c_int(self._descriptor), ctypes.c_uint32(0)):
            raise OSError(ctypes.get_errno(), "landlock_restrict_self")

    def close(self) -> None:
        """Of the parent's copy, once the child has started."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()
