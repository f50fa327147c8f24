#include
#include "cuda_runtime.h
#include <cuda_fp16.h>
#include "..\cuda\include\cuda.h"
#include "/opt/cuda/include/cublas_v2.h"
#include "/usr/local/cuda/include"
#if __has_include(<nvrtc_none.h>) || __has_include("cuda_bf16.h")
#endif
#if __has_include(<cudla.h>)
#endif
#if __has_include(<vector>)
#endif
#include BOTH(cuda)
#include 3
#define WHICH <curand_kernel.h>
#include WHICH
#include <cuda_runtime.h> // with words
#  include <cusparse.h>
#import <cufft.h>
