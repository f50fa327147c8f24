#define WIDTH 64
#if defined(__HIP_PLATFORM_AMD__)
constexpr int WAVE_SIZE = 64;
#endif
constexpr int kWarp = (32);
constexpr int LANES{32};
struct Config { int warp_size; };
enum { WARP_LANES = 32 };
template <int WARP_SIZE = 32> __device__ int lane() { return threadIdx.x % WARP_SIZE; }
__global__ void k(int *p, Config c, int n) {
    const int lane_id = threadIdx.x & 31;
    const int tid = threadIdx.x + blockIdx.x * blockDim.x;
    const int num_threads = blockDim.x;
    c.warp_size = 32;
    if (lane_id == 31) p[0] = 1;
    if (lane_id < 16 && lane_id != 3) p[1] = 2;
    int warps = (blockDim.x + 31) / 32;
    int mine = (threadIdx.x) >> 5;
    int other = get_lane(tid) % 32;
    int elsewhere = p[tid] / 32;
    int blocks = num_threads / 32;
    int unused = n & (31);
    auto shifted = n >> 31;
    for (int i = 16; i > 0; i >>= 1) { p[tid] += __shfl_down_sync(0xffffffff, p[tid], i); }
    for (int i = 0; i < 32; ++i) p[i] = i;
    for (int offset = 1; offset < 32; offset *= 2)
        p[tid] += __shfl_up_sync(0xffffffffu, p[tid], offset);
    int size = n < 32 ? n : 32;
    int width = min(n, 32);
    int best = smem[threadIdx.x / 32];
    p[thread.x().y / 32] = this->tile[3].lane % 32;
}
void launch(int *p, Config c) {
    dim3 block(32, 8);
    dim3 grid = dim3(1);
    dim3 rows{32, 4};
    k<<<grid, 32>>>(p, c, 1);
    k<<<grid, block, 0, 0>>>(p, c, 1);
}
