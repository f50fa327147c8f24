# SPDX-License-Identifier: Apache-2.0
"""What a user reads of an instruction that the executor does not run: which class of instructions it belongs to, and
what to do instead."""

from __future__ import annotations

import re

_ELSEWHERE = "`rocport run --executor source` runs the program's source instead"
_GRAPHICS = "no kernel of HIP or Triton has them; the device alone runs this code"
_CLASSES = (
    (
        r"^(MIMG|VIMAGE|VSAMPLE) ",
        "images and samplers have no translation",
        f"read the memory through a pointer, or {_ELSEWHERE}, with textures over arrays and linear memory",
    ),
    (
        r"^MTBUF |_FORMAT",
        "typed buffers and buffer formats have no translation",
        "read the memory through a pointer and convert",
    ),
    (
        r" S_BARRIER_(INIT|JOIN|LEAVE|SIGNAL|WAIT)| S_GET_BARRIER_STATE",
        "named barriers have no translation",
        "the workgroup's own barrier (__syncthreads) has one; a kernel that needs parts of a workgroup to meet goes to "
        "the device",
    ),
    (
        r" DS_(GWS_|ORDERED_COUNT)| GLOBAL_ATOMIC_ORDERED",
        "global wave sync and ordered counts have no translation",
        "cooperative_groups::this_grid().sync() in a cooperative launch, or an atomic in global memory, has one",
    ),
    (r" DS_.*global data share", "", "use an atomic in global memory"),
    (
        r"^(LDSDIR|VDSDIR|VINTERP|EXP|VEXPORT) | DS_PARAM_LOAD|_BVH| S_ENDPGM_ORDERED_PS_DONE",
        "interpolation, exports and ray tracing have no translation",
        _GRAPHICS,
    ),
    (
        r" GLOBAL_LOAD_TR_",
        "transposing loads from global memory have no translation",
        "load without the builtin and transpose through LDS, or compile for a target that lacks them",
    ),
    (
        r" V_CVT_SR_\w*F16_",
        "stochastic conversions to 16 bits have no translation",
        "round to nearest here, and compare the device with a tolerance",
    ),
    (
        r"descriptor grants",
        "",
        "the code object and its descriptor disagree: compile it again, and run what the compiler wrote",
    ),
)  # fmt: skip
"""Of "ENCODING NAME why": what says the class, why it is not run where the reason found does not say it better, and the
next step."""
_OTHER = f"{_ELSEWHERE}; a compile for another target may do without it (--target)"


def refusal(encoding: str, name: str, why: str) -> str:
    """Why an instruction does not run, and the next step: one sentence each, joined by "; "."""
    for pattern, what, step in _CLASSES:
        if re.search(pattern, f"{encoding} {name} {why}"):
            return f"{what or why}; {step}"
    return f"{why}; {_OTHER}"
