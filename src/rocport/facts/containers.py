"""Container images with ROCm in them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from rocport.facts._toml import FACTS, read_toml

_CUDA = re.compile(r"(?:\S*/)?nvidia/cuda\S*|nvcr\.io/\S+|\S*pytorch/pytorch:\S*cuda\S*|\S*/cuda:\S+")


def is_of_cuda(image: str) -> bool:
    """True for the name of an image with CUDA in it."""
    return _CUDA.fullmatch(image) is not None


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


def development_image(ubuntu: str, rocm: str) -> ContainerImage:
    """The image with ROCm's compilers and libraries: of a release, "7.2" or "7.2.4", on an Ubuntu, "24.04".

    What is compiled has to fit the ROCm that PyTorch was built for, so the release counts before the Ubuntu; where no
    image is known of either, the first of the file.
    """
    release = tuple(rocm.split(".")[:2])

    def misses(image: ContainerImage) -> tuple[bool, bool]:
        return tuple(image.rocm.split(".")[:2]) != release, image.ubuntu != ubuntu

    return min((image for image in container_images() if "/dev-" in image.name), key=misses)


def pytorch_image() -> ContainerImage:
    """The image with a PyTorch built for ROCm."""
    return next(image for image in container_images() if "/pytorch" in image.name)
