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
#if __CUDA_ARCH__ >= 700 && __CUDA_ARCH__ < 900
int twelve;
#elif __CUDA_ARCH__ == 600
int thirteen;
#else
int fourteen;
#endif
#if __CUDA_ARCH__ >= 800
#define STAGES 4
#else
#define STAGES 2
#endif
#if __CUDA_ARCH__ >= 800
#define TEXT "4"
#define FUNCTION(x) 4
#endif
#if __CUDA_ARCH__ >= 800
constexpr int TILE = 256;
#endif
#if __CUDA_ARCH__ >= 800
constexpr int FAR_TILE[2][2] = {256};
const float *pointer = 256;
enum (x) = 3;
#endif
#if __CUDA_ARCH__ >= 800
static const unsigned int SMALL = 16;
#endif
#if __CUDA_ARCH__ > 500
int fifteen;
#elif __CUDA_ARCH__ >= 500
int sixteen;
#elif __CUDA_ARCH__ < 500 || OTHER
int seventeen;
#elif __CUDA_ARCH__ <= 500
int eighteen;
#elif __CUDA_ARCH__ == 499
int nineteen;
#elif __CUDA_ARCH__ >= 4 * 100
int twenty;
#elif 300 < __CUDA_ARCH__
int twentyone;
#elif __CUDA_ARCH__ >= 300 && \
    FAST
int twentytwo;
#elif __CUDA_ARCH__ >= LEAST
int twentythree;
#endif
#if defined(__clang__) && defined(__CUDACC__)
int twentyfour;
#elif defined(__clang__) || CUDART_VERSION >= 12000
int twentyfive;
#endif
#ifdef __CUDA_ARCH__
__device__
#else
static inline
#endif
int both(int x) { return x; }
#ifdef __CUDA_ARCH__
__device__ __forceinline__
#else
#endif
int half_said(int x) { return x; }
#ifdef __CUDA_ARCH__
__device__
#else
static __device__ inline
#endif
int device_twice(int x) { return x; }
#ifdef __CUDA_ARCH__
__device__ Type
#else
static
#endif
own_type(int x) { return x; }
#if defined(__CUDA_ARCH__)
__device__ int twentysix() { return 1; }
#error "refused"
#endif
#if defined __CUDA_ARCH__
__device__ int twentyseven() { return 1; }
#endif
namespace inner {
#ifdef __CUDA_ARCH__
__device__ int twentyeight() { return 1; }
#endif
}
__global__ void holds() {
#ifdef __CUDA_ARCH__
    int twentynine;
#endif
}
#if __CUDA_ARCH__ < 600
__device__ int thirty() { return 1; };
template <class T> __device__ __attribute__((noinline)) T thirtyone(T x) { return x; }
#elif OTHER
__device__ __launch_bounds__(4) int thirtytwo() { return 1; }
#endif
#if __CUDA_ARCH__ < 600
__device__ int thirtythree() { return 1; }
int thirtyfour;
#endif
#if __CUDA_ARCH__ < 600
#pragma unroll
__host__ __device__ int thirtyfive() { return 1; }
#endif
#if __CUDA_ARCH__ < 600
#define THIRTYSIX
__device__ int thirtysix() { return 1; }
#endif
#if __CUDA_ARCH__ < 600
__device__ constexpr int thirtyseven() { return 1; }
#endif
#if __CUDA_ARCH__ < 600
__device__ int thirtyeight() {
#else
__device__ int thirtyeight(int) {
#endif
return 1; }
