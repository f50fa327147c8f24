#include <cuda.h>
#include <cuda_runtime.h>
#define cudaFreeHost(p) traced_free(p)
struct Own { int cudaMalloc(int); int cudaSuccess; };
void pointers(CUdeviceptr address, CUdeviceptr *many, size_t bytes) {
    CUdeviceptr next = address + bytes;
    CUdeviceptr other = address;
    unsigned long long number = address;
    printf("%llx", address);
    cuMemFree(other);
    CUdeviceptr *each = many;
    size_t n = (size_t)next & 255;
}
void calls(Own own, void **p, cudaStream_t stream, cudaEvent_t event) {
    own.cudaMalloc(3);
    own.cudaSuccess = 1;
    cudaFreeHost(p);
    cudaMallocAsync(p, 16, stream);
    cudaStreamWaitEvent(stream, event);
    cudaStreamWaitEvent(stream, event, 0);
    cudaThreadSynchronize();
    cudaProfilerInitialize("a", "b", cudaKeyValuePair);
    cudaGraphInstantiate(nullptr, nullptr, nullptr, nullptr, 0);
    cudaCtxResetPersistingL2Cache();
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 3);
    auto function = &cudaMalloc;
    cudaError_t (*free_it)(void *) = cudaFree;
}
