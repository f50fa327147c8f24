#include <cuda.h>
void show(cudaError_t e) { print(e); }
void show(CUresult e) { print(e, 2); }
void show(CUresult e);
int from(const cudaStream_t &a, int n) noexcept { return n; }
int from(const CUstream &a, int n) noexcept { return n + 1; }
void seen(cudaEvent_t a) {}
void seen(cudaEvent_t a) {}
void many(int a, cudaError_t e = cudaSuccess) {}
void many(int a, CUresult e = CUDA_SUCCESS) {}
void fewer(int a, cudaError_t e) {}
void fewer(float a, CUresult e) {}
struct Told { void say(cudaError_t e); void say(CUresult e); int say(CUresult e, int n) const; };
template <class T> struct Name;
template <> struct Name<cudaError_t> { static int of; };
template <> struct Name<CUresult> { static int of; };
template <> struct Name<cublasStatus_t> : Base {};
template <> class Pair<int, cudaError_t> {};
template <> class Pair<int, CUresult> {};
template <> class Pair<float, CUresult> {};
using Any = std::variant<int, cudaError_t, CUresult>;
using Same = std::variant<cudaError_t, cudaError>;
using Nested = std::variant<std::vector<cudaError_t>, CUresult>;
bool is = std::is_same_v<T, cudaError_t>, not_one = std::is_same<T, cudaStream_t>::value;
bool less = a < b; cudaError_t run(CUresult r) { if (r < 3) return f(r); return g(r); }
int call = show(cudaError_t()), other = (CUresult)3;
#ifdef __HIP_PLATFORM_AMD__
void amd(cudaError_t e) {}
void amd(CUresult e) {}
#endif
