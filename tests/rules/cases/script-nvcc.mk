NVCC = nvcc
NVCC ?= $(CUDA_HOME)/bin/nvcc
CUDA_HOME ?= /usr/local/cuda
ARCH = -gencode arch=compute_80,code=sm_80
NVCCFLAGS = --use_fast_math -O3 -Xcompiler -fPIC
FLAGS = -O3 --expt-relaxed-constexpr
LIBS = -L/usr/local/cuda/lib64 -lcudart
SM = 80 90
CUDA_ARCH = sm_90
%.o: %.cu
	$(NVCC) $(NVCCFLAGS) -dc -rdc=true -c $< -o $@
%.ptx: %.cu
	nvcc -ptx $< -arch=sm_80
check:
	nvidia-smi
	@echo nvcc
ifeq ($(USE_HIP),1)
NVCC = hipcc
else
NVCC = nvcc
endif
# nvcc in words
