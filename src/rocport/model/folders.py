"""Where rocport keeps what it can make again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """$ROCPORT_CACHE, else $XDG_CACHE_HOME/rocport, else ~/.cache/rocport."""
    named = environ.get("ROCPORT_CACHE")
    if named:
        return Path(named)
    cache = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "rocport"
