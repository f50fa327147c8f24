# SPDX-License-Identifier: Apache-2.0
"""An instruction that is not run is refused with its class and a next step, beforehand and when a kernel reaches it."""

from __future__ import annotations

import numpy as np
import pytest
from assembling import module

from rocport.executor.isa import KernelError, program

_CASES = [
    ("gfx1100", "image_load v[0:3], v[0:1], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D", "images", "--executor source"),
    ("gfx1100", "ds_gws_barrier v0 offset:0 gds", "global wave sync", "this_grid().sync()"),
    ("gfx1100", "ds_add_u32 v0, v1 gds", "global data share", "atomic in global memory"),
    ("gfx1100", "lds_param_load v0, attr0.x", "interpolation", "the device alone"),
    ("gfx942", "buffer_load_format_x v0, off, s[8:11], 0", "typed buffers", "through a pointer"),
    ("gfx1201", "s_barrier_signal 1", "named barriers", "__syncthreads"),
    ("gfx1201", "image_sample v[0:3], [v0, v1], s[8:15], s[16:19] dmask:0xf dim:SQ_RSRC_IMG_2D", "images", "pointer"),
    ("gfx1201", "s_barrier_init m0", "named barriers", "__syncthreads"),
    ("gfx1201", "global_load_tr_b64 v[0:1], v[2:3], off", "transposing loads", "through LDS"),
]


@pytest.mark.parametrize(("target", "body", "what", "step"), _CASES, ids=[case[1].split()[0] for case in _CASES])
def test_a_refused_instruction_names_its_class_and_a_next_step(target: str, body: str, what: str, step: str) -> None:
    loaded = module(target, body, 0, 1)
    built = program.build(loaded.code, loaded.kernel("one"), target)
    (why,) = built.untranslated.values()
    assert what in why
    assert step in why


def test_a_kernel_that_reaches_one_says_both() -> None:
    words = np.zeros((1, 32), np.uint32)
    with pytest.raises(KernelError, match=r"global data share has no translation; use an atomic .* \(DS_ADD_U32"):
        module("gfx1100", "ds_add_u32 v0, v1 gds", 0, 1).launch("one", (1,), (32,), [words, words], threads=1)
