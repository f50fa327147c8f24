import io

import pytest
import torch
from lane_sum import lane_sum


def test_rows():
    assert torch.cuda.is_available() and torch.version.hip and torch.version.cuda is None
    width = torch.cuda.get_device_properties(0).warp_size
    for columns in (1, width - 1, width, 200):
        x = torch.randn(3, columns, device="cuda")
        assert x.is_cuda and x.device.type == "cuda"
        torch.testing.assert_close(lane_sum(x), x.sum(1))
        torch.testing.assert_close(torch.ops.lane_sum.total(x), x.cuda().sum(1))


def test_half():
    x = torch.ones(2, 100, dtype=torch.float16).cuda()
    with torch.cuda.device(x.device), torch.amp.autocast("cuda", enabled=False):
        assert lane_sum(x).tolist() == [100.0, 100.0]
    torch.cuda.synchronize()


def test_a_tensor_of_the_host_is_refused():
    with pytest.raises(RuntimeError, match="x must be a CUDA tensor"):
        lane_sum(torch.ones(2, 4))
    x = torch.ones(2, 4, device="cuda")
    assert not x.cpu().is_cuda and x.cpu().device.type == "cpu" and lane_sum(x).is_cuda
    with pytest.raises(RuntimeError, match="cuda:0 and cpu"):
        x + x.cpu()
    with pytest.raises(RuntimeError, match="cuda:0 and cpu"):
        torch.cat([x, x.cpu()])


def test_the_device_s_tensors_share_what_they_view():
    x = torch.zeros(4, 3, device="cuda", requires_grad=True)
    (x * torch.arange(3.0, device="cuda")).sum().backward()
    assert x.grad.is_cuda and x.grad[2].tolist() == [0.0, 1.0, 2.0]
    row = x.detach()[1]
    row.fill_(2)
    assert lane_sum(x.detach()).tolist() == [0.0, 6.0, 0.0, 0.0]
    assert row.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    out = torch.empty(0, device="cuda")
    torch.add(row, 1, out=out)
    assert out.tolist() == [3.0, 3.0, 3.0]
    depthwise = torch.nn.Conv1d(3, 3, 2, groups=3).cuda()
    assert depthwise(torch.ones(1, 3, 4, device="cuda")).is_cuda
    kept = io.BytesIO()
    torch.save(x, kept)
    kept.seek(0)
    assert torch.load(kept).is_cuda
