"""Both processes of the FSDP2 checks, of our layers and of QLoRA: `fsdp_lora.py MODEL OUT`.

They are forked from one that has imported PyTorch and PEFT. Exit code 0 when they hold: sharded over two processes they
compute, and train, what one does.
"""

import os
import sys
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from peft import LoraConfig, get_peft_model
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from rocport.integrations.fsdp import restore, save, shard
from rocport.integrations.peft import with_layers
from rocport.integrations.transformers import load
from rocport.ops.modules import Linear4bit, QuantizedLinear

FOLDER, OUT = sys.argv[1], Path(sys.argv[2])


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


def layers() -> None:
    """Two kinds of packed layers and an adapter of their own, as `fully_shard` takes them."""
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


def made(sharded: bool):
    """A model with its adapters, the same in every run, and its optimizer."""
    torch.manual_seed(0)
    model = get_peft_model(load(FOLDER), with_layers(LoraConfig(r=4, target_modules="all-linear"))).train()
    if sharded:
        shard(model)
        weight = model.base_model.model.model.layers[0].mlp.up_proj.base_layer.weight
        assert weight.dtype == torch.uint8 and weight.to_local().numel() * 2 == weight.numel()
    return model, torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)


def trained(model, optimizer, steps, mine=None):
    """The loss of each step, over all rows; `mine`: the one of two that this process takes."""
    losses = []
    for step in steps:
        tokens = torch.randint(0, 128, (2, 9), generator=torch.Generator().manual_seed(step % 2))
        own = tokens if mine is None else tokens[mine : mine + 1]
        loss = model(own, labels=own).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        mean = loss.detach().clone()
        if mine is not None:
            dist.all_reduce(mean)
            mean /= 2
        losses.append(mean.item())
    return losses


def main(rank: int) -> None:
    store = dist.FileStore(os.environ["RENDEZVOUS"], 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=600))
    layers()
    alone = trained(*made(False), range(4))
    pair = made(True)
    together = trained(*pair, range(2), rank)
    save(*pair, OUT)
    later = trained(*pair, range(2, 4), rank)
    resumed = made(True)
    restore(*resumed, OUT)
    again = trained(*resumed, range(2, 4), rank)
    print("one process ", [f"{loss:.5f}" for loss in alone])
    print("two processes", [f"{loss:.5f}" for loss in together + later], "resumed", [f"{loss:.5f}" for loss in again])
    torch.testing.assert_close(torch.tensor(together + later), torch.tensor(alone), rtol=1e-5, atol=1e-5)
    assert again == later and alone[2] < alone[0]
    stored = dcp.FileSystemReader(OUT).read_metadata().state_dict_metadata
    assert len(stored) == 2 * 14 * 4 and all("lora_" in name for name in stored), "the packed weights are not stored"
    dist.destroy_process_group()


if __name__ == "__main__":
    other = os.fork()
    main(1 if other else 0)
    if other:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]))
