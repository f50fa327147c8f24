import pytest

from rocport.facts.targets import load_target
from rocport.runtime import ConfigDoesNotFit, KernelConfig, triton_config

TILE = (128 * 64 + 128 * 64) * 2
"""One stage of a 128x128x64 bf16 tile, bytes."""


@pytest.mark.parametrize(
    ("gfx", "warps", "fitted"), [("gfx942", 32, 16), ("gfx942", 8, 8), ("gfx1100", 32, 32), ("gfx90a", 32, 16)]
)
def test_workgroup_is_at_most_1024_threads(gfx, warps, fitted):
    assert triton_config(KernelConfig(num_warps=warps), load_target(gfx)).num_warps == fitted


@pytest.mark.parametrize(("gfx", "stages", "fitted"), [("gfx942", 4, 3), ("gfx950", 4, 4), ("gfx1151", 4, 3)])
def test_stages_fit_the_lds(gfx, stages, fitted):
    config = triton_config(KernelConfig(num_stages=stages, stage_bytes=TILE), load_target(gfx))
    assert config.num_stages == fitted
    assert config.stage_bytes * (fitted - 1) <= load_target(gfx).lds_bytes


def test_a_tile_over_the_lds_is_refused_with_both_sizes():
    with pytest.raises(ConfigDoesNotFit, match=r"100000 bytes.*gfx942 has 65536"):
        triton_config(KernelConfig(stage_bytes=100_000), load_target("gfx942"))


def test_unchanged_without_an_amd_target(monkeypatch):
    monkeypatch.delenv("ROCPORT_TARGET", raising=False)
    config = KernelConfig(num_warps=32, num_stages=8, stage_bytes=10**6)
    assert triton_config(config) == config
    assert "waves_per_eu" not in KernelConfig(waves_per_eu=2).launch_options(amd=False)
    assert KernelConfig(waves_per_eu=2).launch_options(amd=True)["waves_per_eu"] == 2
