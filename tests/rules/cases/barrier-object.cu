#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/barrier>
#include <cuda/latch>
namespace cde = cuda::device::experimental;
using namespace cuda;
__global__ void k(float *to, const float *from, cooperative_groups::thread_block b) {
    __shared__ cuda::barrier<cuda::thread_scope_block> first;
    __shared__ cuda::std::barrier<> second;
    __shared__ ::cuda::latch third;
    cuda::pipeline<cuda::thread_scope_thread> plain = cuda::make_pipeline();
    cuda::barrier own;
    cuda::memcpy_async(to, from, 4, first);
    cuda::memcpy_async(b, to, from, 4, first);
    auto one = cuda::make_pipeline(b, &state);
    auto two = cuda::make_pipeline(b, &state, 32);
    auto three = make_pipeline(b, &state, role);
    auto four = host.make_pipeline(b, &state, role);
    auto five = host->make_pipeline(b, &state, role);
    auto six = other::make_pipeline(b, &state, role);
    auto seven = make_pipeline;
    cde::cp_async_bulk_commit_group();
    cuda::device::barrier_arrive_tx(first, 1, 256);
    other::barrier_arrive_tx(first, 1, 256);
    barrier_arrive_tx(first, 1, 256);
    barrier_expect_tx(first, 1);
    cuda::device::barrier_expect_tx(first, 1);
    cuda::device::memcpy_async_tx(to, from, 4, first);
}
#ifdef __HIP_PLATFORM_AMD__
__device__ void amd(cuda::barrier<cuda::thread_scope_block> &b) { make_pipeline(b, 1, 2); cde::cp_async_bulk_wait_group(); }
#endif
#if 0
__device__ void dead(cuda::barrier<cuda::thread_scope_block> &b) { make_pipeline(b, 1, 2); }
#endif
namespace mine { namespace cuda { struct barrier; } }
mine::cuda::barrier *mine_;
