import os

import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CUDAExtension

if CUDA_HOME is None:
    raise RuntimeError("rowstats needs nvcc: set CUDA_HOME")

major, minor = (int(part) for part in torch.version.cuda.split(".")[:2])
nvcc_flags = ["-O3", "--use_fast_math", "--expt-relaxed-constexpr", "-gencode=arch=compute_80,code=sm_80"]
if (major, minor) >= (12, 0):
    nvcc_flags.append("-gencode=arch=compute_90,code=sm_90")

sources = [os.path.join("csrc", name) for name in ("binding.cpp", "row_sum.cu", "compact.cu", "gram.cu", "tile_mma.cu")]
setup(
    name="rowstats",
    version="0.1",
    packages=["rowstats"],
    ext_modules=[
        CUDAExtension(
            "rowstats._C",
            sources,
            extra_compile_args={"cxx": ["-O3"], "nvcc": nvcc_flags},
            libraries=["cublas"],
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
