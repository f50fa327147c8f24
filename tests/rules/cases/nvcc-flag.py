from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

common = ["-O3", "-lineinfo"]
nvcc: list = ["-gencode=arch=compute_80,code=sm_80", "--use_fast_math"]
nvcc += ["--expt-relaxed-constexpr", f"-gencode=arch=compute_{cc},code=sm_{cc}"]
nvcc.append("--ptxas-options=-v")
nvcc.extend(("-U__CUDA_NO_HALF_OPERATORS__", "-Xcompiler -fPIC"))
flags = "-O2 --use_fast_math -Xptxas -v".split()
one = "--threads 4"
arguments = {
    "cxx": ["-O3"],
    "nvcc": [
        "-O3",
        "--use_fast_math",
        "-gencode",
        "arch=compute_90,code=sm_90",
        "-D_GLIBCXX_USE_CXX11_ABI=0",
        "--threads",
        "4",
    ],
}
setup(ext_modules=[CUDAExtension("a", ["a.cu"], extra_compile_args=arguments, libraries=["cublas", "cudart"])])
