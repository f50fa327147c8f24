#define MASK 0xffffffff
__device__ int f(int p, unsigned m) {
    int n = __all_sync(MASK, p);
    n += __any_sync((0xffffffffu), p > 1) + __all_sync(m, p);
    unsigned a = __activemask();
    auto g = __activemask;
    int b = __popc(__ballot_sync(0xFFFFFFFF, p)) + __ffs(__ballot_sync(m, p));
    unsigned c = __match_any_sync(~0u, p);
    n += __any_sync(-1, p) + __all_sync(UINT_MAX, p) + __ballot_sync(((unsigned)-1), p);
    return n + a + b + c + __any_sync(m);
}
