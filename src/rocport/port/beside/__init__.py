"""Files a port adds beside the sources: requirements, containers, jobs. One kind a module, found by walking here.

A module with `generate(tree: PortedTree) -> Iterable[PatchFile]` takes part. It returns nothing where the repository
has no use for its file, and never a path the tree has already: what is there belongs to the maintainer.
"""

from __future__ import annotations

import importlib
import pkgutil

from rocport.model import PatchFile
from rocport.port.generated import PortedTree


def generate(tree: PortedTree) -> list[PatchFile]:
    """Every file to add, in order of path; a path the tree holds already is left out."""
    found: dict[str, PatchFile] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for new in module.generate(tree) if hasattr(module, "generate") else ():
            if new.path not in tree.files:
                found.setdefault(new.path, new)
    return [found[path] for path in sorted(found)]
