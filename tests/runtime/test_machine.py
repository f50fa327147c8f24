from types import SimpleNamespace

import pytest
import torch

from rocport import runtime
from rocport.facts.errors import FactError
from rocport.model import HipVersion
from rocport.runtime import machine as module


@pytest.fixture
def rocm(monkeypatch):
    """A ROCm build of PyTorch with one GPU, as seen through what PyTorch reports."""

    def pretend(arch: str) -> None:
        monkeypatch.setattr(torch.version, "hip", "7.15.26333")
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(gcnArchName=arch))

    module._gfx_of_device.cache_clear()
    module._accelerator.cache_clear()
    yield pretend
    module._gfx_of_device.cache_clear()
    module._accelerator.cache_clear()


def test_this_build_is_what_torch_says():
    assert runtime.is_rocm() == (torch.version.hip is not None)


def test_target_drops_the_feature_flags(rocm):
    rocm("gfx90a:sramecc+:xnack-")
    assert runtime.target().name == "gfx90a"
    assert runtime.platform().kind == "rocm"
    assert str(runtime.platform()) == "ROCm on gfx90a"
    assert runtime.hip_version() == HipVersion(7, 15, 26333)


def test_target_without_a_gpu(monkeypatch):
    monkeypatch.delenv(module.TARGET_VARIABLE, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert runtime.target() is None
    monkeypatch.setenv(module.TARGET_VARIABLE, "gfx942")
    target = runtime.target()
    assert (target.wavefront, target.lds_bytes, target.fp8) == (64, 65536, "fnuz")


def test_an_unknown_target_is_an_error_not_a_guess(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv(module.TARGET_VARIABLE, "gfx9999")
    with pytest.raises(FactError, match="gfx9999"):
        runtime.target()


def test_platform_of_the_cpu(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert runtime.platform(torch.device("cpu")).interpreted
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    assert not runtime.platform(torch.device("cpu")).interpreted


@pytest.mark.parametrize(
    ("gfx", "dtype", "maximum", "native"),
    [
        ("gfx942", torch.float8_e4m3fnuz, 240.0, True),
        ("gfx950", torch.float8_e4m3fn, 448.0, True),
        ("gfx1201", torch.float8_e4m3fn, 448.0, True),
        ("gfx90a", torch.float8_e4m3fn, 448.0, False),
        ("gfx1100", torch.float8_e4m3fn, 448.0, False),
    ],
)
def test_fp8_by_target(gfx, dtype, maximum, native):
    target = module.load_target(gfx)
    assert runtime.fp8_dtype(target) is dtype
    fp8 = runtime.fp8_range(target)
    assert (fp8.maximum, fp8.native) == (maximum, native)
    backward = runtime.fp8_range(target, forward=False)
    assert backward.dtype is (torch.float8_e5m2fnuz if gfx == "gfx942" else torch.float8_e5m2)


def test_fp8_fnuz_bits_mean_half_of_ocp():
    bits = torch.tensor([0x40, 0x38], dtype=torch.uint8)
    ocp = bits.view(torch.float8_e4m3fn).float()
    fnuz = bits.view(torch.float8_e4m3fnuz).float()
    assert torch.equal(fnuz * 2, ocp)
