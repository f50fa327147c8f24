"""Optimizers with 8-bit state: close to torch's own, bitsandbytes' code tables, and a run that goes on."""

import copy
from types import SimpleNamespace

import pytest
import torch

from rocport.checkpoint.memory import Shape, Training, needed
from rocport.ops.optim import AdamW8bit, Lion8bit, SGD8bit, unsigned_table

MAKERS = {
    "adamw": (lambda p: AdamW8bit(p, lr=1e-2), lambda p: torch.optim.AdamW(p, lr=1e-2)),
    "sgd": (lambda p: SGD8bit(p, lr=1e-2), lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9)),
}


def steps(make, start, count, state=None):
    p = torch.nn.Parameter(start.clone())
    optimizer = make([p])
    first = 0
    if state is not None:
        first = state["at"]
        optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
    for at in range(first, count):
        noise = torch.randn(p.shape, generator=torch.Generator().manual_seed(at))
        p.grad = p.detach() + 0.1 * noise
        optimizer.step()
    return p.detach(), {"at": count, "optimizer": optimizer.state_dict()}


@pytest.mark.parametrize("numel", [5000, 100])
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_close_to_torch(name, numel):
    start = torch.randn(numel, generator=torch.Generator().manual_seed(0))
    ours, theirs = MAKERS[name]
    got, state = steps(ours, start, 10)
    want, _ = steps(theirs, start, 10)
    held = state["optimizer"]["state"][0]["m"].dtype
    assert held is (torch.uint8 if numel >= 4096 else torch.float32)
    moved = (want - start).norm()
    assert (got - want).norm() < (0.05 if numel >= 4096 else 1e-5) * moved


def test_lion_moves_by_the_sign():
    start = torch.full((5000,), 2.0)
    got, _ = steps(lambda p: Lion8bit(p, lr=0.125), start, 2)
    assert torch.equal(got, torch.full((5000,), 1.75))


@pytest.mark.parametrize("make", [MAKERS["adamw"][0], MAKERS["sgd"][0], lambda p: Lion8bit(p)])
def test_a_run_goes_on(make):
    start = torch.randn(5000, generator=torch.Generator().manual_seed(0))
    whole, _ = steps(make, start, 4)
    middle, state = steps(make, start, 2)
    assert torch.equal(steps(make, middle, 4, state)[0], whole)


def test_the_unsigned_table_is_bitsandbytes(bnb):
    want = bnb.create_dynamic_map(signed=False).sort().values
    assert torch.equal(unsigned_table(torch.device("cpu")), want)


def test_sparse_gradients_are_refused():
    p = torch.nn.Parameter(torch.zeros(4, 4))
    p.grad = torch.eye(4).to_sparse()
    with pytest.raises(ValueError, match="sparse"):
        AdamW8bit([p]).step()


def test_on_the_cpu_paged_state_is_where_the_parameter_is():
    start = torch.randn(200_000, generator=torch.Generator().manual_seed(0))
    plain, _ = steps(lambda p: AdamW8bit(p, lr=1e-2), start, 2)
    paged, state = steps(lambda p: AdamW8bit(p, lr=1e-2, paged=True), start, 2)
    assert torch.equal(paged, plain)
    # A run saved without pages goes on with them, and the other way round.
    for make in (lambda p: AdamW8bit(p, lr=1e-2, paged=True), lambda p: AdamW8bit(p, lr=1e-2)):
        assert torch.equal(steps(make, paged, 4, state)[0], steps(lambda p: AdamW8bit(p, lr=1e-2), start, 4)[0])


def test_paged_state_is_not_counted_as_memory_of_the_gpu():
    shape = Shape(64, 2, 64, 32, 128, 256)
    held = {
        (name, rank): needed(shape, 1000, Training(1, 8, rank, name, False)).trained
        for name in ("sgd", "adamw8bit", "adamw8bit-paged")
        for rank in (None, 4)
    }
    assert held["adamw8bit", None] - held["sgd", None] == 2000
    assert held["adamw8bit-paged", None] == held["sgd", None]
    assert held["adamw8bit-paged", 4] == held["adamw8bit", 4]


def test_paged_state_is_waited_for_on_every_device_that_holds_a_parameter(monkeypatch):
    parameters = [torch.nn.Parameter(torch.zeros(4)) for _ in range(3)]
    optimizer = AdamW8bit(parameters, paged=True)
    waited = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    optimizer.state_dict()
    assert waited == []
    places = [torch.device("cuda", 0), torch.device("cuda", 1), torch.device("cpu")]
    held = [SimpleNamespace(is_cuda=place.type == "cuda", device=place) for place in places]
    optimizer.param_groups = [{"params": held[:1]}, {"params": held[1:]}]
    optimizer.state_dict()
    assert sorted(map(str, waited)) == ["cuda:0", "cuda:1"]
