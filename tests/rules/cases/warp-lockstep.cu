__device__ void halving(volatile float *s, int t) { s[t] += s[t + 8]; s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1]; }
__device__ void two(volatile float *s, int t) { s[t] += s[t + 2]; s[t] += s[t + 1]; }
__device__ void skips(float *s, int t) { s[t] += s[t + 16]; s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1]; }
__device__ void grows(float *s, int t) { s[t] += s[t + 1]; s[t] += s[t + 2]; s[t] += s[t + 4]; }
__device__ void scans(float *s, int t) { s[t] += s[t - 1]; s[t] += s[t - 2]; s[t] += s[t - 4]; s[t] += s[t - 4]; }
__device__ void shrinks(float *s, int t) { s[t] += s[t - 4]; s[t] += s[t - 2]; s[t] += s[t - 1]; }
__device__ void arrays(float *s, float *r, int t) {
    s[t] += s[t + 4]; r[t] += r[t + 4]; s[t] += s[t + 2]; r[t] += r[t + 2]; s[t] += s[t + 1]; r[t] += r[t + 1];
}
__device__ void barrier(float *s, int t) { s[t] += s[t + 4]; __syncwarp(); s[t] += s[t + 2]; s[t] += s[t + 1]; }
__device__ void after(float *s, int t) { __syncthreads(); s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1]; __syncthreads(); }
__device__ float reads(float *s, int t) { float v = s[t + 4]; v += s[t + 2]; v += s[t + 1]; return v; }
__device__ float later(float *s, int t, float v) { v += s[t - 1]; s[t] = v; v += s[t - 2]; s[t] = v; v += s[t - 4]; s[t] = v; return v; }
__global__ void guarded(int *p, int t) {
    volatile int *s = p;
    if (t < 32) { s[t] += s[t + 8]; s[t] += s[t + 4]; s[t] += s[t + 2]; }
    if (t < 64) { s[t] += s[t + 8]; s[t] += s[t + 4]; s[t] += s[t + 2]; }
    if (t < 32) s[t] = 1;
    for (int d = 16; d > 0; d >>= 1) s[t] += s[t + d];
    for (int d = 1; d < 32; d <<= 1) { p[t] = p[t] ^ p[t ^ d]; }
    for (int d = 1; d < 32; d *= 2) { p[t] += p[t - d]; __syncwarp(); }
    for (int d = 1; d < 64; d *= 2) p[t] += p[t - d];
    for (int d = warpSize; d > 0; d /= 2) { int v = p[t + d]; }
    for (int d = 16; d; d /= 2) for (int e = 0; e < 2; e++) p[t] |= p[t + d];
    while (t < 32) { t <<= 1; p[t] += p[t + 1]; }
}
void host(int *p, int t) { for (int d = 16; d > 0; d >>= 1) p[t] += p[t + d]; }
#ifdef __HIP_PLATFORM_AMD__
__device__ void amd(volatile float *s, int t) { s[t] += s[t + 8]; s[t] += s[t + 4]; s[t] += s[t + 2]; }
#endif
