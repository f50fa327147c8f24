import pytest
import torch

from rocport.runtime import GraphMismatch, graph_capture
from rocport.runtime.graph import check_replay, poison


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.uint8, torch.bool])
def test_poison_changes_every_element(dtype):
    tensor = torch.zeros(8, dtype=dtype)
    poison(tensor)
    assert not torch.equal(tensor, torch.zeros(8, dtype=dtype))


def test_a_replay_that_writes_nothing_is_caught():
    """What bitsandbytes 0.50.2 quantize does in a graph: its launch is on another stream, so it is not captured."""
    output, expected = torch.ones(4), torch.ones(4)
    with pytest.raises(GraphMismatch, match="output 0 of the replay differs"):
        check_replay([output], [expected], lambda: None)


def test_a_replay_that_leaves_a_tail_is_caught():
    output, expected = torch.ones(4), torch.ones(4)
    with pytest.raises(GraphMismatch):
        check_replay([output], [expected], lambda: output[:3].fill_(1.0))


def test_a_right_replay_passes():
    output, expected = torch.ones(4), torch.tensor([1.0, float("nan"), 1.0, 1.0])
    check_replay([output], [expected], lambda: output.copy_(expected))


def test_no_gpu_is_said():
    if torch.cuda.is_available():
        graph = graph_capture(lambda x: x * 2, torch.ones(8, device="cuda"))
        assert torch.equal(graph(torch.full((8,), 3.0, device="cuda")).cpu(), torch.full((8,), 6.0))
        with pytest.raises(TypeError, match="capture again"):
            graph(torch.ones(9, device="cuda"))
    else:
        with pytest.raises(RuntimeError, match="needs a CUDA or ROCm GPU"):
            graph_capture(lambda x: x, torch.ones(1))
