#define CALL(f) cuda##f()
#define GEMM(T) cublas##T##gemm
#define UP(op, v) __shfl_##op(v, 1)
#define VOTE(op) __##op##_sync
#define LOAD(x) x##_fn = get(#x)
#define CAT(a, b) a##b
#define RT(name) CAT(cuda, name)
#define OTHER(name, more) CAT(cuda, name)
#define SPACED (a) cuda##a
#define EMPTY() cuda##Free
#define NOTHING(x) my_##x
#define MIXED(x) cuda##x nccl##x
#define TEXT(...) #__VA_ARGS__
#define TEXT_OF(x, y) (x) #y
#define MEMBER(x) p.cuda##x
void f(void *p) {
    CALL(DeviceSynchronize);
    auto v = VOTE(any)(~0u, 1), w = VOTE(ballot)(~0u, 1);
    CAT(cuda, Free)(p); CAT(cuda, Nothing)(p); JOIN(cu, Init)(0); CAT(cuda, Free, 3); CAT(x, cuda, Malloc)(p);
    CAT(cuda); CAT(own, Free)(p); MAKE(CUBLAS_OP_, N); MAKE(__, shfl);
    RT(Free)(p); RT(Malloc)(p, 3); OTHER(Free, 2)(p); OTHER(Free); RT;
    LOAD(cuInit); LOAD(own); LOAD(cuMemAlloc, 2); LOAD(cuDeviceGet);
    MIXED(Malloc); GEMM(S)(h); GEMM(Z)(h); UP(down, 3);
    TEXT(__global__ void k() {}); TEXT(int a); TEXT_OF(__device__, __device__ int a); TEXT_OF(a, b);
}
#ifdef __HIP_PLATFORM_AMD__
#define AMD(f) cuda##f()
CAT(cuda, Free)(p);
#endif
