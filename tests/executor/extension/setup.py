from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension

extensions = [CppExtension("lane_sum._cpu", ["csrc/bind.cpp"])]
if CUDA_HOME is None:
    extensions.append(
        CUDAExtension("lane_sum._C", ["csrc/bind.cpp", "csrc/lane_sum.hip"], define_macros=[("WITH_HIP", 1)])
    )
setup(name="lane_sum", packages=["lane_sum"], ext_modules=extensions, cmdclass={"build_ext": BuildExtension})
