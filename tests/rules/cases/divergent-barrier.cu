__global__ void early(int *p, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = p[i];
    __syncthreads();
    p[i] = s[0];
}
__global__ void one_side(int *p) {
    if (threadIdx.x < 32) { p[0] = 1; __syncthreads(); }
    p[1] = 2;
    __syncthreads();
}
__global__ void one_side_last(int *p) {
    if (threadIdx.x < 32) { p[0] = 1; __syncthreads(); }
}
__global__ void both(int *p) {
    if (threadIdx.x / 32 == 0) { p[0] = 1; __syncthreads(); p[1] = 2; }
    else { p[2] = 3; __syncthreads(); p[3] = 4; }
}
__global__ void chosen(int *p) {
    switch (threadIdx.x & 1) {
    case 0: p[0] = 1; __syncthreads(); break;
    case 1: p[1] = 1; break;
    }
}
__global__ void looped(int *p, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) { p[i] = i; __syncthreads(); }
    for (int round = 0; round < 4; ++round) {
        if (threadIdx.x == 0) continue;
        if (p[0] > 3) break;
        __syncthreads();
    }
}
__device__ void waits(int *p) { if (threadIdx.x == 0) { p[0] = 1; __syncthreads(); } }
__device__ void leaves(int *p) { if (threadIdx.x > 3) return; p[1] = 2; __syncthreads(); }
__global__ void calls(int *p) { waits(p); __syncthreads(); for (int i = 0; i < 2; ++i) leaves(p); }
__global__ void exact(int *p) {
    if (threadIdx.x == 0) { if (threadIdx.x < 64) __syncthreads(); }
    while (p[threadIdx.x]) { __syncthreads(); }
}
__global__ void whole_block(int *p, int n) {
    if (n > 3) { __syncthreads(); }
    if (blockIdx.x == 0) { __syncthreads(); } else { return; }
    p[0] = n;
}
__global__ void all_but_the_last_warp(int *p) {
    auto meet = [&] { __syncthreads(); p[0] = 1; };
    if (threadIdx.x < blockDim.x - 32) meet();
    if (threadIdx.x / 32 < blockDim.x / 32 - 1) { __syncthreads(); }
    if (threadIdx.x < blockDim.x) { __syncthreads(); }
    if (threadIdx.x <= blockDim.x - 1) { __syncthreads(); }
    __syncthreads();
}
__global__ void counted_otherwise(int *p) {
    const int warps = (blockDim.x + 31) / 32;
    if (threadIdx.x / warpSize + 1 < blockDim.x / warpSize) { __syncthreads(); }
    if (threadIdx.x / 32 < warps - 1) { __syncthreads(); }
    if (threadIdx.x + 32 < blockDim.x) { __syncthreads(); }
    if (blockIdx.x * blockDim.x + threadIdx.x < blockDim.x - 1) { __syncthreads(); }
    __syncthreads();
}
__global__ void short_of_a_warp(int *p) {
    if (threadIdx.x + 1 < 32) { p[0] = 1; __syncthreads(); } else { __syncthreads(); p[1] = p[0]; }
    if (threadIdx.x > 31) { p[2] = 1; __syncthreads(); } else { __syncthreads(); p[3] = p[2]; }
    if (threadIdx.x <= 32) { p[4] = 1; __syncthreads(); } else { __syncthreads(); p[5] = p[4]; }
}
template <int BLOCK_SIZE> __global__ void by_parameter(int *p, const int numThreads) {
    if (threadIdx.x + 1 < BLOCK_SIZE) { p[0] = 1; __syncthreads(); }
    if (threadIdx.x / 32 < numThreads / 32 - 1) { p[1] = 1; __syncthreads(); }
    if (threadIdx.x < BLOCK_SIZE) { p[2] = 1; __syncthreads(); }
    if (threadIdx.x < BLOCK_SIZE / 2) { p[3] = 1; __syncthreads(); }
    __syncthreads();
}
__global__ void neighbours(int *p, int by) {
    if (threadIdx.x + by < blockDim.x) { int v = p[threadIdx.x + by]; __syncthreads(); p[threadIdx.x] = v; }
    if (threadIdx.x + blockIdx.x * blockDim.x < by) { p[0] = 1; __syncthreads(); }
    __syncthreads();
}
template <int BLOCK> __device__ void shift(int *s, int by) {
    if (threadIdx.x + by < BLOCK) { int v = s[threadIdx.x + by]; __syncthreads(); s[threadIdx.x] = v; }
}
__global__ void shifts(int *s) { shift<64>(s, 1); __syncthreads(); s[1] = 2; }
__global__ void in_a_block(int *s, int n) {
    if (n > 3) { if (threadIdx.x < 32) { s[0] = 1; __syncthreads(); } }
    if (n > 4) { if (threadIdx.x < 32) { s[1] = 1; __syncthreads(); } return; }
    auto move = [&](int by) { if (threadIdx.x + by < 64) { s[2] = by; __syncthreads(); } };
    move(1);
    __syncthreads();
}
