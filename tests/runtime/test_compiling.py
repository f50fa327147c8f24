import warnings

import pytest
import torch

from rocport import runtime
from rocport.runtime import compiling


@pytest.mark.parametrize("mode", [None, "default", "reduce-overhead", "max-autotune"])
def test_nvidia_keeps_every_mode(mode):
    assert runtime.compile_decision(mode, rocm=False) == runtime.CompileDecision(mode)


@pytest.mark.parametrize(
    ("mode", "used"),
    [
        ("reduce-overhead", "default"),
        ("max-autotune", "max-autotune-no-cudagraphs"),
        ("max-autotune-no-cudagraphs", "max-autotune-no-cudagraphs"),
        ("default", "default"),
        (None, None),
    ],
)
def test_rocm_replaces_the_graph_modes_with_evidence(mode, used):
    decision = runtime.compile_decision(mode, rocm=True, torch_version="2.10.0")
    assert decision.mode == used
    assert ("https://github.com/pytorch/pytorch/issues/187715" in decision.reason) == (mode != used)


def test_the_range_of_a_hazard_is_kept(monkeypatch):
    fixed = compiling._Hazard("reduce-overhead", "default", "2.10", "2.14", "evidence")
    monkeypatch.setattr(compiling, "HAZARDS", (fixed,))
    for version, used in (("2.9.1", "reduce-overhead"), ("2.10.0", "default"), ("2.14.0", "reduce-overhead")):
        assert runtime.compile_decision("reduce-overhead", rocm=True, torch_version=version).mode == used


def test_compile_says_when_it_changes_the_mode(monkeypatch):
    seen: dict[str, object] = {}
    monkeypatch.setattr(torch, "compile", lambda fn, **kw: seen.update(kw) or fn)
    monkeypatch.setattr(compiling, "is_rocm", lambda: True)
    reasons: list[str] = []
    runtime.compile(abs, mode="reduce-overhead", dynamic=False, on_change=reasons.append)
    assert seen == {"mode": "default", "options": None, "dynamic": False}
    assert reasons and "reduce-overhead" in reasons[0]
    with pytest.warns(UserWarning, match="becomes 'default'"):
        runtime.compile(abs, mode="reduce-overhead")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runtime.compile(abs)


def test_stock_settings_are_those_of_this_pytorch():
    assert runtime.inductor_report({}) == []


def test_inductor_report_names_setting_and_variable():
    import torch._inductor.config as live

    with live.patch({"max_autotune": True, "triton.cudagraphs": True}):
        lines = runtime.inductor_report({"TORCHINDUCTOR_MAX_AUTOTUNE": "1"})
        assert live.max_autotune, "reported, not changed"
    text = "\n".join(lines)
    assert "max_autotune is True, PyTorch ships False" in text
    assert "triton.cudagraphs is True" in text
    assert "TORCHINDUCTOR_MAX_AUTOTUNE=1 is set" in text


def test_nothing_is_compiled_where_the_facts_say_that_it_goes_wrong(monkeypatch):
    from rocport.facts.targets import all_targets

    off = [t for t in all_targets() if any(s.state == "no" for s in t.library("torch.compile"))]
    assert [t.name for t in off] == ["gfx906"]
    monkeypatch.setattr(compiling, "is_rocm", lambda: True)
    monkeypatch.setattr(compiling, "target", lambda: off[0])
    monkeypatch.setattr(torch, "compile", lambda fn, **kw: "compiled")
    monkeypatch.delenv("TORCH_COMPILE_DISABLE", raising=False)
    with pytest.warns(UserWarning, match="gfx906: not compiled"):
        assert runtime.compile(abs) is abs
    assert runtime.compile(abs, backend="eager") == "compiled"
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "0")
    assert runtime.compile(abs) == "compiled"
    other = next(t for t in all_targets() if t.name == "gfx942")
    assert not runtime.compile_decision(rocm=True, on=other).eager
