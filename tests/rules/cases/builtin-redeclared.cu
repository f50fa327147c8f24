extern const dim3 blockDim;
extern uint3 __device_builtin__ threadIdx;
extern int warpSize = 32;
const dim3 gridDim;
extern __device__ const int warpSize;
extern const uint3 blockIdx, other;
extern struct dim3 gridDim;
typedef struct __device_builtin__ own own;
void f(const dim3 blockDim);
#define DECLARE extern const dim3 blockDim
#define MARK __device_builtin__
__device_builtin__ int g(); __cudart_builtin__ int h();
#ifdef __HIP_PLATFORM_AMD__
extern const dim3 blockDim;
__device_builtin__ int i();
#endif
__global__ void k(int *p) { p[threadIdx.x] = warpSize; }
