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
