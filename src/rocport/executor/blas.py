# SPDX-License-Identifier: Apache-2.0
"""The BLAS and LAPACK of this machine that the libraries of an executed program compute with."""

from __future__ import annotations

import importlib.util
from pathlib import Path

VARIABLE = "ROCPORT_BLAS"
"""Names a shared library with BLAS and LAPACK; empty: none, loops then."""
_WHEELS = ("scipy_openblas32", "scipy_openblas64", "numpy", "scipy")


def blas_library() -> str:
    """The path of the OpenBLAS that numpy, scipy or a scipy-openblas wheel carries, its name where the system has one,
    empty where there is none."""
    for name in _WHEELS:
        found = importlib.util.find_spec(name)
        if found is None or not found.origin:
            continue
        package = Path(found.origin).parent
        for folder in (package / "lib", package.with_name(f"{name}.libs")):
            libraries = sorted(folder.glob("libscipy_openblas*.so*"))
            if libraries:
                return str(libraries[0])
    return next((name for name in ("libopenblas.so.0",) if _loads(name)), "")


def _loads(name: str) -> bool:
    import ctypes

    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
