"""One rank of the FSDP2 check: sharded layers compute, and train, what one process does. Exit code 0 when they do."""

import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from rocport.ops.modules import Linear4bit, QuantizedLinear


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = Linear4bit.from_linear(torch.nn.Linear(128, 128))
        self.second = QuantizedLinear.from_linear(torch.nn.Linear(128, 128))
        self.down = torch.nn.Linear(128, 8, bias=False)
        self.up = torch.nn.Linear(8, 128, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(x))) + self.up(self.down(x))


def main() -> None:
    rank = int(sys.argv[1])
    store = dist.FileStore(os.environ["RENDEZVOUS"], 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=60))
    alone, sharded = Block(), Block()
    # A 0-dimensional parameter cannot be sharded; FSDP is told to leave it whole.
    whole = {p for p in sharded.parameters() if p.dim() == 0}
    fully_shard(sharded, mesh=init_device_mesh("cpu", (2,)), ignored_params=whole)
    torch.manual_seed(1)
    x = torch.randn(4, 128)
    losses = []
    for model in (alone, sharded):
        optimizer = torch.optim.SGD([model.down.weight, model.up.weight], lr=0.1)
        steps = []
        for _ in range(3):
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps.append(loss.item())
        losses.append(steps)
    torch.testing.assert_close(torch.tensor(losses[1]), torch.tensor(losses[0]), rtol=1e-4, atol=1e-5)
    assert losses[0][-1] < losses[0][0]
    dist.destroy_process_group()


main()
