"""Our layers and QLoRA on two processes: the losses of one, and a run that goes on from what was saved."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

if importlib.util.find_spec("peft") is None:  # imported where the processes are: it takes seconds
    pytest.skip("peft is not installed", allow_module_level=True)
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from rocport.checkpoint.convert import Options, convert  # noqa: E402


def test_a_torch_that_cannot_shard_integers_is_refused(monkeypatch):
    from rocport.integrations.fsdp import shard

    monkeypatch.setattr(torch, "__version__", "2.11.0+cu128")
    with pytest.raises(RuntimeError, match="needs torch 2"):
        shard(torch.nn.Linear(2, 2))


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_two_processes_train_as_one_and_go_on(tmp_path: Path):
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).float().save_pretrained(tmp_path / "dense")
    convert(tmp_path / "dense", tmp_path / "nf4", Options("nf4b64"))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "RENDEZVOUS": str(tmp_path / "rendezvous")}
    script = [sys.executable, str(Path(__file__).with_name("fsdp_lora.py")), tmp_path / "nf4", tmp_path / "state"]
    log = tmp_path / "log"
    with log.open("wb") as errors:  # a group of their own: a rank whose peer failed waits for it
        ranks = subprocess.Popen(script, env=environment, stderr=errors, start_new_session=True)
        try:
            assert ranks.wait(timeout=3600) == 0, log.read_text(errors="replace")[-2000:]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(ranks.pid, signal.SIGKILL)
