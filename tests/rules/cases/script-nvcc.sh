#!/bin/sh
export CUDA_HOME=/usr/local/cuda
nvcc -O3 -arch=sm_80 a.cu -o a
TORCH_CUDA_ARCH_LIST="8.0;9.0" python setup.py install
export CUDAARCHS=80
nvidia-smi -L
make NVCCFLAGS=--use_fast_math
if [ -n "$USE_ROCM" ]; then hipcc a.cpp; else nvcc a.cu; fi
# nvcc is needed
icc -restrict a.c
