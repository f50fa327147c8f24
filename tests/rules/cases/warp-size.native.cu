#include <cuda_runtime.h>
#include <ATen/cuda/CUDAContext.h>
#define warpSize 32
#ifndef WARP_SIZE
#define WARP_SIZE 64
#endif
namespace mine { constexpr int warpSize = 32; }
struct Properties { int warpSize; };
__global__ void k(int *p) {
    p[0] = mine::warpSize;
    p[1] = C10_WARP_SIZE;
    p[2] = at::cuda::warp_size();
    p[3] = warpSize;
}
int ask(cudaDeviceProp prop, cudaDeviceProp *many, Properties own, int device) {
    prop.warpSize = 16;
    int w = prop.warpSize + many[device].warpSize + many->warpSize;
    w += get(prop).warpSize + (many + 1)->warpSize + ::global.warpSize;
    w += own.warpSize;
    w += at::cuda::getCurrentDeviceProperties()->warpSize;
    int value = 0;
    cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, device);
    cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
    int kind = cudaDevAttrWarpSize;
    if (prop.warpSize == 32) w = 1;
#if defined(USE_ROCM)
    w = C10_WARP_SIZE;
#endif
    return w + value + kind;
}
