__device__ static float atomicMax(float *a, float v) { return *a = v; }
__device__ double atomicAdd(double *a, double v);
__device__ double atomicAdd(double *p, double v) {
    unsigned long long *a = (unsigned long long *)p, old = *a, seen;
    do { seen = old; old = atomicCAS(a, seen, __double_as_longlong(v + __longlong_as_double(seen))); } while (seen != old);
    return __longlong_as_double(old);
}
__device__ double atomicAdd(double *p, double v) { for (;;) { atomicCAS(p, v, v - 1 + 2); } return 1; }
__device__ double atomicAdd(double *p, double v) { for (;;) { atomicCAS(p, v, __dadd_rn(v, v)); } return 1; }
__device__ double atomicAdd(double *p, double v) { atomicCAS(p, v, v + 1); return 1; }
__device__ float atomicMin(float *p, float v) { while (1) { atomicCAS(p, v, fminf(v, 1)); } return v; }
__device__ float atomicMin(float *p, float v) { while (1) { atomicCAS(p, v, fmaxf(v, 1)); } return v; }
__device__ float atomicMin(float *p, float v) { while (1) { atomicCAS(p, v, min(v, 1) + 1); } return v; }
__device__ float atomicMin(float *p, float v) { while (1) { atomicCAS(p, v, min(v, 1)); } }
__device__ __half atomicAdd(__half *a, __half v) { return *a = v; }
__device__ float atomicMax(float *a, double v) { return *a = v; }
__device__ float atomicMax(float *a, float v, int n) { return *a = v; }
__device__ float *atomicMax(float *a, float v) { return a; }
float atomicMax(float *a, float v) { return *a = v; }
__global__ void k(float *a) { atomicMax(a, 1.f); return atomicMax(a, 2.f); }
#define MAX __device__ float atomicMax(float *a, float v) {}
