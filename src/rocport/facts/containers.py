"""Container images with ROCm in them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from rocport.facts._toml import FACTS, read_toml


@dataclass(frozen=True)
class ContainerImage:
    """One image; `ubuntu` and `rocm` are empty where the tag follows the newest."""

    name: str
    ubuntu: str
    rocm: str
    holds: str
    source: str
    sure: str


@functools.cache
def container_images() -> tuple[ContainerImage, ...]:
    """Every image, in the order of the file."""
    data: dict[str, Any] = read_toml(FACTS / "container_images.toml")
    return tuple(ContainerImage(**row) for row in data["image"])


def development_image(ubuntu: str = "") -> ContainerImage:
    """The image with ROCm's compilers and libraries, on a release of Ubuntu where there is one for it."""
    found = [image for image in container_images() if "/dev-" in image.name]
    return next((image for image in found if image.ubuntu == ubuntu), found[0])


def pytorch_image() -> ContainerImage:
    """The image with a PyTorch built for ROCm."""
    return next(image for image in container_images() if "/pytorch" in image.name)
