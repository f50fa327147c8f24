# SPDX-License-Identifier: Apache-2.0
"""What a program that is run may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What a run may use."""

    seconds: float = 120.0
    processor_seconds: int = 0
    """Of every process, on all its cores; one that takes more is ended by SIGXCPU. 0: no limit."""
    memory_bytes: int = 8 << 30
    output_bytes: int = 8 << 20
    files: int = 65536
    """Open at once."""
    confined: bool = True
    """It writes below its folder and its own temporary one only, and reaches no network (`rocport.sandbox`)."""
