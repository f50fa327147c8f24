template <class T, int N, bool E> struct Of {
    using A = cub::BlockLoad<T, N, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using B = cub::BlockLoad<T, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using C = cub::BlockLoad<T, 96, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>;
    using D = cub::BlockStore<vec<T, (N > 2)>, 2 * N, 4, E ? ::cub::BLOCK_STORE_WARP_TRANSPOSE : other>;
    using F = cub::BlockStore<T, N, 4, BLOCK_STORE_WARP_TRANSPOSE>;
    using G = cub::BlockLoad<T, N, 4, detail::cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using H = cub::BlockLoad<T, N, 4, cub::BlockLoadAlgorithm::BLOCK_LOAD_WARP_TRANSPOSE>;
    using I = cub::BlockLoad<T>; static constexpr auto how = cub::BLOCK_LOAD_WARP_TRANSPOSE;
    using J = cub::BlockLoad<cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using K = cub::BlockLoad<T, cub::BLOCK_LOAD_WARP_TRANSPOSE, 4>;
    using L = cub::OtherLoad<T, N, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using M = cub::BlockLoad<T, , 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
};
using P = Two<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>;
template <int BLOCK_LOAD_WARP_TRANSPOSE = 3> struct Default {};
enum Own { BLOCK_LOAD_DIRECT, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE };
struct InClass { int a = cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED; };
#ifdef __HIP_PLATFORM_AMD__
using Q = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
#endif
__device__ void f(X &x, int (&v)[4]) { x.BlockedToWarpStriped(v, v); x.WarpStripedToBlocked(v); }
__device__ void g(X &x, int (&v)[4]) { x.WarpStripedToBlocked(v); }
using R = cub::WarpLoad<int, 4, cub::WARP_LOAD_TRANSPOSE, 32>;
using S = cub::WarpLoad<int, 32, cub::WARP_LOAD_TRANSPOSE>;
using T = cub::WarpStore<int, 4, cub::WARP_STORE_TRANSPOSE, 16>;
