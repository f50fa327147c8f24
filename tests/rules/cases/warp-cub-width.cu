#include <cub/cub.cuh>
template <typename T, int N> __global__ void k(T *p) {
    using Reduce = cub::WarpReduce<T>;
    using Narrow = cub::WarpReduce<T, 16>;
    typedef cub::WarpScan<T, 32> Scan;
    using Load = cub::WarpLoad<T, 4, cub::WARP_LOAD_DIRECT>;
    using Sort = cub::WarpMergeSort<T, 4, 32>;
    using Half = cub::WarpExchange<T, N>;
    using Odd = cub::WarpReduce<std::pair<T, (3 > 2)>, N>;
    using Broken = cub::WarpReduce;
    p[0] = cub::LaneId() + cub::WarpId();
    p[1] = cub::WarpMask<16>(3);
    p[2] = CUB_PTX_WARP_THREADS + CUB_WARP_THREADS(0) + CUB_LOG_WARP_THREADS(0);
    p[3] = CUB_PTX_LOG_WARP_THREADS;
    p[4] = own::LaneId();
}
#define THREADS CUB_PTX_WARP_THREADS
#if CUB_PTX_WARP_THREADS > 16
#endif
#ifdef __HIP_PLATFORM_AMD__
int wide = cub::LaneId();
#endif
template <template <typename, int> class R> struct Takes {};
Takes<cub::WarpReduce> taken;
template <class T> struct More {
    using Scan = cub::WarpScan<T, f(1, 2)>;
    using Exchange = cub::WarpExchange<vec<T, 2>, 4>;
    using Store = cub::WarpStore<T, 4, cub::WARP_STORE_DIRECT, 32>;
    using Braces = cub::WarpReduce<T[2], Size{1, 2}>;
    using Global = ::cub::WarpReduce<T>;
    using Own = own::WarpReduce<T>;
    struct WarpReduce;
    using Hip = hipcub::WarpReduce<T>;
};
Takes<int, cub::WarpScan, 3> also;
int lanes = ::cub::LaneId() + LaneId() + cub::LaneId;
int called = CUB_WARP_THREADS(1 + f(2)) + CUB_WARP_THREADS;
