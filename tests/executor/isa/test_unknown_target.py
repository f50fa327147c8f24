"""A target that the facts do not know is named, with those whose code can be read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from rocport.executor.isa import TablesError
from rocport.executor.isa.program import kernel_mode
from rocport.syntax.code_object import KernelCode


def test_a_kernel_for_a_target_that_is_not_known_is_refused() -> None:
    kernel = cast(KernelCode, SimpleNamespace(descriptor=SimpleNamespace(rsrc1=0, wave=64)))
    with pytest.raises(TablesError, match="gfx9999: no instruction table; compile for one of"):
        kernel_mode(kernel, "gfx9999")
