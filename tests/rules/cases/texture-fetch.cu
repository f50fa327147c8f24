#include <cuda_runtime.h>
#ifdef __HIP_PLATFORM_AMD__
void first(cudaArray_t a) { cudaFreeArray(a); }
#endif
texture<float, 2> reference;
__global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s, float *p, bool *resident) {
    p[0] = tex2D<float>(t, 1.f, 2.f) + tex2D<float>(t, 1.f, 2.f, resident) + tex2D(reference, 1.f, 2.f);
    tex2D(p, t, 1.f, 2.f);
    p[1] = ::tex1Dfetch<float>(t, 3) + own::tex1Dfetch<float>(t, 3) + x.tex1Dfetch<float>(t, 3) + tex1Dfetch;
    p[2] = tex3DLod<float>(t, 1, 2, 3, 0);
    tex3DLod(p, t, 1, 2, 3, 0);
    p[3] = tex2DGrad<float>(t, 1, 2, a, b) + texCubemap<float>(t, 1, 2, 3) + tex2Dgather<float4>(t, 1, 2);
    surf2Dwrite(p[0], s, 4, 5); surfCubemapread<float>(s, 1, 2, 3); p[4] = ::surf1Dread<float>(s, 8);
    p[5] = x->tex1D<float>(t, 1);
}
void host(cudaArray_t a, cudaChannelFormatDesc d, Api &api, CUtexObject o) {
    cudaMallocArray(&a, &d, 4, 4); ::cudaFreeArray(a); api.cudaFreeArray(a); api->cudaFreeArray(a); own::cudaFreeArray(a);
    auto f = cudaMallocArray, g = ::cudaFreeArray; call(&cudaFreeArray);
    cudaCreateTextureObject(&t, &r, &q, nullptr);
    cudaMemcpyToArray(a, 0, 0, p, 4, kind); cudaMemcpy3D(&m); cudaMemcpy3DPeer(&m); cuTexObjectCreate(&o, 0, 0, 0);
    cudaMallocMipmappedArray(&m, &d, e, 2); cudaBindTexture(0, reference, p, d, 4);
}
#ifdef __HIP_PLATFORM_AMD__
void amd(cudaArray_t a) { cudaFreeArray(a); }
__device__ float amd_(cudaTextureObject_t t) { return tex1Dfetch<float>(t, 1); }
#endif
#if 0
__device__ float dead(cudaTextureObject_t t) { return tex1Dfetch<float>(t, 1); }
#endif
__device__ float at(cudaTextureObject_t t) { return ::tex1Dfetch<float>(t, 1); }
int freed(cudaArray_t a) { return ::cudaFreeArray(a); }
