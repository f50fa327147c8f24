import os

ext = CUDAExtension("a", ["a.cu"], libraries=["cublas", "cusparse"])
other = CUDAExtension("a", ["a.cu"], libraries=["cublas", "own", "cuda"])
library = "cufft"
library += "curand"
link("cusolver")
flags = ["-lcublas", "-L/usr/local/cuda/lib64"]
flags = "-lcudart"
flags = f"-L{root}/cuda/lib64"
folder = "/usr/local/cuda/include"
folder = "/usr/local/cuda"
libraries = ["nccl"]
backend = "nccl"
options = {"cublas": "cublas"}
nvtx = "nvToolsExt"
cutlass = os.path.join(here, "csrc", "cutlass", "include")
text = "a long text of cutlass" + "x" * 3
env = os.environ["CUDNN_INCLUDE_DIR"]
prefix = os.environ.get("CONDA_PREFIX")
both = ("cublas" if on_linux else "cublas64", "cudart")
assert "cublas" in names
