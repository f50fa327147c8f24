#define NEW defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#ifdef __CUDA_ARCH__
#define WHERE 1
#else
#define WHERE 2
#endif
#if defined __CUDACC__ || defined(__NVCC__)
int one;
#endif
#if defined(__CUDACC_RTC__) && !defined(__CUDACC__)
int two;
#elif __CUDACC__
int three;
#endif
#if !defined __NVCC__
int four;
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
#error "too old"
#endif
#if __CUDA_ARCH_FEAT_SM90_ALL
int five;
#endif
#if __CUDA_ARCH_HAS_FEATURE__(SM90_ALL)
int six;
#endif
#ifdef __CUDA_ARCH__
__device__ int seven() { return 7; }
#endif
#ifndef __CUDA_ARCH__
int eight() { return 8; }
#endif
const bool device = __CUDACC__;
int arch() { return __CUDA_ARCH__; }
#if CUDA_VERSION >= 13000
int nine;
#elif CUDA_VERSION >= 9000
int ten;
#endif
#if (__CUDACC_VER_MAJOR__ > 11) || CUDART_VERSION < 8000
int eleven;
#endif
