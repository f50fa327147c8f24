"""What a rule may ask besides the file it looks at: the options of the run and the names of the whole tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rocport.model.versions import RocmVersion


@dataclass(frozen=True)
class Options:
    """Options that change what rules find or write.

    `warp` is `logical32` (keep CUDA's 32-lane warps on any wavefront) or `native` (use the wavefront's own width).
    `targets` are gfx names; empty means every target. Versions are None where the user named none. `layout` is `hip`
    (the port is a tree of its own, CUDA sources translated under their names) or `both` (one tree for both platforms:
    the translations lie below the folder `mirror`).
    """

    warp: str = "logical32"
    targets: tuple[str, ...] = ()
    rocm: RocmVersion | None = None
    torch: str | None = None
    layout: str = "hip"
    mirror: str = "hip"


@dataclass(frozen=True)
class ProjectIndex:
    """Names collected over the whole tree before any rule runs.

    `macros` maps an object-like macro to its body as written (the last definition seen); `files` are the paths of the
    tree, relative, with `/`.
    """

    device_functions: frozenset[bytes] = frozenset()
    macros: Mapping[bytes, bytes] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    included: frozenset[str] = frozenset()
    """Base names of all files some file of the tree includes."""
    torch_extension: bool = False
    ptx_sources: frozenset[str] = frozenset()
    """Paths of the CUDA sources that hold inline PTX or NVIDIA's matrix headers, in an include of theirs or here."""

    @cached_property
    def basenames(self) -> frozenset[str]:
        """Last parts of all paths of the tree."""
        return frozenset(path.rsplit("/", 1)[-1] for path in self.files)


@dataclass(frozen=True)
class Context:
    options: Options = field(default_factory=Options)
    project: ProjectIndex = field(default_factory=ProjectIndex)
