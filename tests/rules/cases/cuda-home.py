import os
import torch
from torch.utils.cpp_extension import CUDA_HOME

if CUDA_HOME is None:
    raise RuntimeError
if CUDA_HOME is not None and torch.cuda.is_available():
    build()
if not CUDA_HOME:
    build()
if CUDA_HOME:
    build()
if CUDA_HOME is not None:
    v = get_nvcc_version(CUDA_HOME)
if CUDA_HOME and CUDAExtension:
    v = get_nvcc_version(CUDA_HOME)
    w = CUDAExtension("a", [])
if other or CUDA_HOME:
    build()
include = os.path.join(CUDA_HOME, "include")
include = CUDA_HOME + "/include"
include = Path(CUDA_HOME) / "include"
include = f"{CUDA_HOME}/include"
include = f"{os.path.join(CUDA_HOME, 'include')}"
nvcc = os.path.join(CUDA_HOME, "bin", "nvcc")
home = os.environ.get("CUDA_HOME", "/opt/cuda")
home = os.environ["CUDA_PATH"]
home = os.getenv("CUDA_ROOT")
there = "CUDA_HOME" in os.environ
text = "CUDA_HOME"
ok = CUDA_HOME is not None or torch.version.hip
ok = os.path.exists(CUDA_HOME)
ok = os.path.isdir(os.path.join(CUDA_HOME, "lib"))
show(CUDA_HOME)
assert CUDA_HOME
pair = (CUDA_HOME is None, CUDA_HOME is None)
WITH_CUDA = CUDA_HOME is not None
WITH_CUDA = torch.cuda.is_available()
WITH_CUDA = shutil.which("nvcc")
version = os.environ["MY_CUDA_VERSION"]
one = CUDA_HOME if CUDA_HOME else None
x.CUDA_HOME = 3
y = x.CUDA_HOME


def f(home=CUDA_HOME):
    return CUDA_HOME == "" or CUDA_HOME != None or (a if CUDA_HOME is a else b)
