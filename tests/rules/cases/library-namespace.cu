#include <cub/cub.cuh>
using R = cub::BlockReduce<float, 256>; using S = ::cub::BlockScan<int, 4>; using T = own::cub::Thing;
using namespace cub;
using namespace ::cub;
namespace c = cub;
namespace d = ::cub;
int y = x.cub, z = x->cub;
auto p = thrust::cuda::par.on(s), q = ::thrust::cuda::par, r = thrust::cuda_cub::par, t = own::thrust::cuda::par;
cutlass::half_t h; cute::Tensor u; cutlass::half_t one; cutlass::a<cutlass::b> two;
cuda::atomic<int> a; cuda::std::array<int, 3> b; cuda::std::mdspan<int> m; cuda::ptx::thing e; cuda::access_property g(1);
nvcuda::wmma::fragment<int> f; using nvcuda::wmma::fragment; using namespace nvcuda;
at::cuda::CUDAStream s = at::cuda::getCurrentCUDAStream();
#define CUB cub::BlockReduce
#if defined(cub)
#endif
#ifdef __HIP_PLATFORM_AMD__
namespace amd = cub; cutlass::half_t three;
#endif
#if 0
cutlass::half_t four;
#endif
