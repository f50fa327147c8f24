"""Allocator settings without the known clash.

`max_split_size_mb` together with `expandable_segments:True` makes reserved memory grow until the device is full
(pytorch/pytorch#123548, CUDA and ROCm; torch 2.12 to 2.14 nightlies, not 2.9.1), and on ROCm 7.14 a live buffer was
seen to read back as zeros (ROCm/ROCm#6603, gfx1201 and gfx1100). Either alone is fine.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
"""In the order PyTorch prefers them; the first that is set wins."""

_SOURCE = "https://github.com/pytorch/pytorch/issues/123548 and https://github.com/ROCm/ROCm/issues/6603"


class AllocatorConflict(RuntimeError):
    """The environment asks for two allocator options that must not meet."""


def parse(text: str) -> dict[str, str]:
    """`a:1,b:True` as a dictionary; a list in brackets is one value. Raises ValueError for an entry without a colon."""
    settings: dict[str, str] = {}
    depth, start = 0, 0
    for at, char in enumerate(text + ","):
        depth += {"[": 1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            entry, start = text[start:at].strip(), at + 1
            if not entry:
                continue
            key, colon, value = entry.partition(":")
            if not colon:
                raise ValueError(f"allocator setting {entry!r}: expected 'name:value'")
            settings[key.strip()] = value.strip()
    return settings


def allocator_settings(environment: MutableMapping[str, str] | None = None) -> dict[str, str]:
    """The allocator settings the environment asks for. Raises AllocatorConflict when two of them clash."""
    environment = os.environ if environment is None else environment
    for name in VARIABLES:
        if text := environment.get(name):
            settings = parse(text)
            if settings.get("expandable_segments", "").lower() == "true" and "max_split_size_mb" in settings:
                raise AllocatorConflict(
                    f"{name}={text}: expandable_segments:True and max_split_size_mb must not be set together "
                    f"({_SOURCE}); drop max_split_size_mb"
                )
            return settings
    return {}


def apply_allocator_settings(
    *, expandable_segments: bool = True, environment: MutableMapping[str, str] | None = None
) -> dict[str, str]:
    """Ask for expandable segments unless the user set something; return what will hold.

    Must run before the first GPU allocation. A user's own settings are kept; `max_split_size_mb` beside expandable
    segments is dropped, because the pair is the known clash.
    """
    environment = os.environ if environment is None else environment
    for name in VARIABLES:
        if text := environment.get(name):
            settings = parse(text)
            if settings.get("expandable_segments", "").lower() == "true":
                settings.pop("max_split_size_mb", None)
            break
    else:
        name, settings = VARIABLES[-1], {}
        if expandable_segments:
            settings["expandable_segments"] = "True"
    if settings:
        environment[name] = ",".join(f"{key}:{value}" for key, value in settings.items())
    return settings
