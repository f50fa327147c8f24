"""rocport_barrier.h: a CUDA program with libcu++'s barriers and pipelines, ported, on both executors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocport import api
from rocport.model import Applicability

PROGRAM = Path(__file__).parent / "barrier" / "objects.cu"


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("barrier")
    (folder / "cuda").mkdir()
    (folder / "cuda" / "objects.cu").write_bytes(PROGRAM.read_bytes())
    patch = api.port(folder / "cuda")
    assert not [item for item in patch.findings if item.applicability is Applicability.MANUAL]
    api.apply(patch, folder / "hip")
    return folder / "hip" / "objects.cu"


def test_phases_copies_and_stages_are_what_cuda_promises(ported: Path, outputs: Callable[..., list[str]]) -> None:
    assert all("PASS" in said for said in outputs(ported, "forward", "reverse"))


@pytest.mark.parametrize("gfx", ["gfx942", "gfx1100"])
def test_it_compiles_for_amd_gpus(ported: Path, gfx: str, compiles: Callable[..., Path]) -> None:
    compiles(ported, gfx)
