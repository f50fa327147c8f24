import torch
from p import IS_CUDA_SYSTEM, IS_NVIDIA


def _is_cuda():
    return torch.version.cuda is not None


def has_cuda():
    return bool(torch.version.cuda)


def release():
    return torch.version.cuda


def both():
    return torch.version.cuda is not None or torch.version.hip is not None


def far():
    a = 1
    b = 2
    c = 3
    return torch.version.cuda is not None


if _is_cuda():
    a()
if not _is_cuda():
    a()
if has_cuda() and other:
    a()
if has_cuda() or torch.version.hip:
    a()
if release() or both() or far():
    a()
if _is_cuda():
    a()
elif torch.version.hip:
    b()
if _is_cuda():
    a()
elif other:
    b()
else:
    c()
    d()
x = _is_cuda()
y = 1 if has_cuda() else 2
z = _is_cuda
if IS_CUDA_SYSTEM:
    import fast
if IS_CUDA_SYSTEM():
    a()
if use(IS_CUDA_SYSTEM):
    a()
IS_CUDA_SYSTEM = 3
while _is_cuda():
    break
