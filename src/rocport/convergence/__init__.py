"""Which threads reach a statement of device code: conditions that differ between lanes or warps, and what stands there.

CUDA threads of one warp make progress by themselves since Volta; lanes of an AMD wavefront on different branches run
one branch to its end before the other. What lanes on different branches share (a barrier, a warp operation, a lock)
therefore has to be seen with the conditions over it. `Unit` answers for one file.
"""

from __future__ import annotations

from functools import lru_cache

from rocport.convergence.clues import FLAG, LOCK, SECTION, TOGETHER
from rocport.convergence.flow import Body, Guard, Operation, Place, Rest, Unit, tokens
from rocport.convergence.structure import LOOPS, Statement
from rocport.convergence.values import LANE, UNIFORM, WARP, Value
from rocport.convergence.waits import Region, Wait, regions, section, takes_lock, waits
from rocport.model import ProjectIndex
from rocport.syntax.cuda import CudaSource

__all__ = [
    "FLAG", "LANE", "LOCK", "LOOPS", "SECTION", "TOGETHER", "UNIFORM", "WARP", "Body", "Guard", "Operation", "Place",
    "Region", "Rest", "Statement", "Unit", "Value", "Wait", "regions", "section", "takes_lock", "tokens",
    "unit_of", "waits",
]  # fmt: skip


def unit_of(source: CudaSource, project: ProjectIndex) -> Unit:
    """The device code of a file, walked once; what it calls in other files is asked of the project."""
    unit = _kept(source)
    if not unit:
        unit.append(Unit(source, project))
    return unit[0]


@lru_cache(maxsize=2)
def _kept(source: CudaSource) -> list[Unit]:
    """The unit of a file, once there is one: several rules ask about the same file one after the other."""
    return []
