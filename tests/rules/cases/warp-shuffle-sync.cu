#define SHFL(v, l) __shfl_sync(0xffffffffu, v, l)
#define DOWN __shfl_down
__device__ int project(int v) { return T::__shfl(v, 1) + t.__shfl(v, 1) + ::__shfl_xor_sync(~0u, v, 16); }
__global__ void k(float *p, unsigned mask, unsigned char c, short *s, const char q) {
    p[0] = __shfl_xor_sync(0xffffffff, p[1], 16) + __shfl_up_sync(mask, p[2], 1, 8) + __shfl_down_sync(mask, p[3], 1, 32);
    p[1] = __shfl_sync(~0u, c, 0) + __shfl(c, 1) + __shfl_sync(-1, s, 0) + __shfl_sync(mask, (c), 0) + __shfl_sync(mask, q, 1);
    int c2 = 3; bool c3 = true; p[2] = __shfl_sync(mask, c2, 0) + __shfl_sync(mask, c3, 0); auto call = &__shfl_sync;
    p[3] = __shfl_sync(mask) + __shfl_sync(mask, 1) + __shfl_sync();
}
#if CUDART_VERSION < 9000
#define __shfl_sync(mask, v, l) __shfl(v, l)
#endif
__device__ double __shfl_down(double v, unsigned d) { return v; }
#ifdef __HIP_PLATFORM_AMD__
__device__ int amd(int v) { return __shfl(v, 0) + __shfl(v, 0, 32) + __shfl_xor(v, 16) + __shfl_xor(v, 32) + __shfl_xor(v, n); }
__device__ int amd_(int v) { return __shfl_sync(~0ull, v, 0) + __shfl_sync(~0ull, v, 0, 64) + __shfl_xor(v, 31) + __shfl_up(v, 3); }
#endif
