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
#include "/opt/cuda/include/nvrtc_none.h"
#include "third/curand.h"
#include "cuda/../cuda_fp16.h"
#include "..\cuda_bf16.h"
#include "own/cufft.h"
#define QUOTED "cublas_v2.h"
#define SPACED < cublas_v2.h >
#define MORE "cublas_v2.h" + 1
#define CALLED(x) "cublas_v2.h"
#define FAR 3 <cublas_v2.h>
#elif __has_include(<cudnn.h>) && __has_include(<cublas_v2.h>)
#include NOWHERE
#define FOLLOWED
#include FOLLOWED
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h> /* words */
#include <cuda_gl_interop.h>
#include_next <cuda_runtime.h>
#include < cuda_runtime.h >
#include <crt/host_defines.h>
#include <nvtx3/nvToolsExt.h>
#include "cuda/atomic"
#include <cudnn.h>
#include <nvrtc_none.h>
#include <nvjpeg.h>  // no counterpart
