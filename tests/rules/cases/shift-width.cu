__device__ unsigned a(int n, int lane, unsigned x) {
    unsigned r = (1u << n) - 1u; r = (1 << n) - 1; r = (1u << n) - 2u; r = (1u << lane) - 1u; r = (1u << n + 1) - 1u;
    r = 0xffffffffu >> (32 - n); r = 0xffffffff >> (32 - lane); r = 0xffffffffu >> (31 - n); r = 0xffffffffu >> n;
    r = x & ((1 << n) - 1); r = x & ((1u << n) - 1); r = x + ((1 << n) - 1); r = (2u << n) - 1u; r = 1u << n;
    r = n < 32 ? (1u << n) - 1u : 0; r = 32 == n ? 0 : 0xffffffffu >> (32 - n); r = 0xffffffffu >> (32 - n - 1);
    return r;
}
__device__ unsigned b(int n) { int m = threadIdx.x & 31; int q = n; return (1u << m) - 1u + (1u << q) - 1u; }
__device__ unsigned c(int n) { int m = n; return (1u << m) - 1u; }
__device__ unsigned d() { int m; m = __ffs(3) - 1; return (1u << m) - 1u; }
unsigned host(int n) { return (1u << n) - 1u; }
#ifdef __HIP_PLATFORM_AMD__
__device__ unsigned amd(int n) { return (1u << n) - 1u; }
#endif
