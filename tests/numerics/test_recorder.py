from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from torch import nn

from rocport.numerics import records
from rocport.numerics.config import CaptureConfig
from rocport.numerics.golden import Golden, open_golden
from rocport.numerics.recorder import capture


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 5), nn.ReLU())
        self.last = nn.Linear(5, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.inner(x))


def _train(path: Path, config: CaptureConfig | None = None) -> Golden:
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1, foreach=False)
    with capture(path, config):
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.ones(3, 4)).sum().backward()
            optimizer.step()
    return open_golden(path)


def _names(golden: Golden, kind: str, **fields: object) -> list[str]:
    return [
        c.name
        for c in golden.calls
        if c.kind == kind and all(getattr(c, key) == value for key, value in fields.items())
    ]


def test_modules_are_named_by_their_path(tmp_path: Path) -> None:
    golden = _train(tmp_path / "a")
    modules = ["Net.inner.0", "Net.inner.1", "Net.inner", "Net.last", "Net"]
    assert _names(golden, records.MODULE, step=0) == modules
    assert _names(golden, records.MODULE, step=1) == modules


def test_operators_know_their_module_forward_and_backward(tmp_path: Path) -> None:
    golden = _train(tmp_path / "a")
    assert "aten.relu.default" in _names(golden, records.OPERATOR, scope="Net.inner.1", phase="forward")
    assert (
        _names(golden, records.OPERATOR, scope="Net.inner.1", phase="backward")
        == ["aten.threshold_backward.default"] * 2
    )
    assert "aten.mm.default" in _names(golden, records.OPERATOR, scope="Net.inner.0", phase="backward")
    call = next(c for c in golden.calls if c.name == "aten.relu.default")
    assert call.site.startswith("numerics/test_recorder.py:") or "test_recorder.py:" in call.site


def test_training_state_is_recorded(tmp_path: Path) -> None:
    golden = _train(tmp_path / "a")
    names = ["Net.inner.0.weight", "Net.inner.0.bias", "Net.last.weight", "Net.last.bias"]
    assert _names(golden, records.GRADIENT, step=1) == names
    assert _names(golden, records.PARAMETER, step=1) == names
    assert "Net.last.bias:exp_avg_sq" in _names(golden, records.STATE, step=0)
    losses = [golden.tensors[c.outputs[0]].statistics for c in golden.calls if c.kind == records.LOSS]
    assert len(losses) == 2 and all(losses)
    assert "Net.inner.0[0]" in _names(golden, records.GRAD_OUTPUT)


def test_modules_only(tmp_path: Path) -> None:
    golden = _train(tmp_path / "a", CaptureConfig(operators=False))
    assert _names(golden, records.OPERATOR) == []
    assert len(_names(golden, records.MODULE)) == 10


def test_a_tensor_is_measured_once(tmp_path: Path) -> None:
    with capture(tmp_path / "a"):
        x = torch.ones(10) * 2
        x.sum(), x.mean(), x.view(2, 5).t()
    golden = open_golden(tmp_path / "a")
    calls = {c.name: c for c in golden.calls}
    assert calls["aten.sum.default"].inputs == calls["aten.mul.Tensor"].outputs == calls["aten.mean.default"].inputs
    view = golden.tensors[calls["aten.t.default"].outputs[0]]
    assert view.statistics is None and view.view_of is not None


def test_a_write_in_place_makes_new_values(tmp_path: Path) -> None:
    with capture(tmp_path / "a"):
        x = torch.ones(10) * 2
        rows = x.view(2, 5)
        rows[0].add_(1)
        x.sum()
    golden = open_golden(tmp_path / "a")
    total = next(c for c in golden.calls if c.name == "aten.sum.default")
    statistics = golden.tensors[total.inputs[0]].statistics
    assert statistics is not None and statistics.maximum == 3.0
    added = next(c for c in golden.calls if c.name == "aten.add_.Tensor")
    before, after = (golden.tensors[i].statistics for i in (added.inputs[0], added.outputs[0]))
    assert after is not None and after.maximum == 3.0
    assert before is None or before.maximum == 2.0


def test_memory_nobody_wrote_is_marked_and_measured_anew(tmp_path: Path) -> None:
    with capture(tmp_path / "a"):
        out = torch.empty(8)
        out.data_ptr()
        torch.utils.swap_tensors  # noqa: B018 - no operator runs here
        import ctypes

        values = (ctypes.c_float * 8)(*range(8))
        ctypes.memmove(out.data_ptr(), values, 32)  # what a kernel outside the dispatcher does
        out.sum()
        values[0] = 100.0
        ctypes.memmove(out.data_ptr(), values, 32)
        out.sum()
    golden = open_golden(tmp_path / "a")
    first, second = (golden.tensors[c.inputs[0]] for c in golden.calls if c.name == "aten.sum.default")
    assert first.uninitialised and first.statistics is not None and second.statistics is not None
    assert (first.statistics.maximum, second.statistics.maximum) == (7.0, 100.0)


def test_poison(tmp_path: Path) -> None:
    with capture(tmp_path / "a", CaptureConfig(poison=True)):
        assert bool(torch.empty(4).isnan().all())
        assert int(torch.empty(2, dtype=torch.int8).max()) == 127


def test_inference_mode_is_recorded(tmp_path: Path) -> None:
    with capture(tmp_path / "a"), torch.inference_mode():
        x = torch.ones(3)
        x.add_(1)
        x.sum()
    golden = open_golden(tmp_path / "a")
    total = next(c for c in golden.calls if c.name == "aten.sum.default")
    assert golden.tensors[total.inputs[0]].statistics.maximum == 2.0  # type: ignore[union-attr]


def test_a_custom_function_is_a_scope(tmp_path: Path) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * 2

    with capture(tmp_path / "a"):
        Double.apply(torch.ones(3, requires_grad=True)).sum().backward()
    golden = open_golden(tmp_path / "a")
    assert _names(golden, records.FUNCTION) == ["Double"]
    assert _names(golden, records.OPERATOR, scope="Double", phase="forward") == ["aten.mul.Tensor"]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    from torch.nn.modules import module

    before = torch.autograd.backward, torch.autograd.Function.__dict__["apply"], len(module._global_forward_hooks)
    _train(tmp_path / "a")
    assert before == (
        torch.autograd.backward,
        torch.autograd.Function.__dict__["apply"],
        len(module._global_forward_hooks),
    )


def test_capture_changes_no_number(tmp_path: Path) -> None:
    def losses() -> list[float]:
        torch.manual_seed(0)
        net = Net()
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
        found = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = (net(torch.randn(3, 4)) + torch.nn.functional.dropout(torch.ones(3, 1))).sum()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    plain = losses()
    with capture(tmp_path / "a", CaptureConfig(mode="full")):
        assert losses() == plain


def test_an_error_in_a_module_closes_its_scope(tmp_path: Path) -> None:
    net = Net()
    with capture(tmp_path / "a"):
        with pytest.raises(RuntimeError):
            net(torch.ones(3, 7))
        net(torch.ones(3, 4))
    golden = open_golden(tmp_path / "a")
    assert _names(golden, records.MODULE)[-1] == "Net"
    assert [c.occurrence for c in golden.calls if c.kind == records.MODULE and c.name == "Net"] == [0, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_writes_nothing(tmp_path: Path) -> None:
    with capture(tmp_path / "a"):
        torch.ones(3).sum()
        pid = os.fork()
        if pid == 0:
            torch.zeros(5).mean()
            os._exit(0)
        os.waitpid(pid, 0)
    assert "aten.mean.default" not in _names(open_golden(tmp_path / "a"), records.OPERATOR)


def test_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    with capture(tmp_path / "a") as recorder:
        x = torch.ones(1000)
        for _ in range(3000):
            x = x * 1.0
        assert len(recorder._storages) <= 4096 + 1
