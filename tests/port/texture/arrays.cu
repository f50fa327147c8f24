// Arrays and surfaces: what fits is copied and kept, what does not is refused.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

static int failed = 0;

static void see(bool good, const char* what) {
  if (!good) {
    std::printf("wrong: %s\n", what);
    ++failed;
  }
}

__global__ void fill(cudaSurfaceObject_t image, cudaSurfaceObject_t layers, int* out) {
  const int x = threadIdx.x % 8, y = threadIdx.x / 8;
  surf2Dwrite(100 * y + x, image, x * 4, y);
  surf2Dwrite(-1, image, 32 + x * 4, y, cudaBoundaryModeZero);
  surf2DLayeredwrite(x + 10 * y, layers, x * 4, y, 1);
  __syncthreads();
  int* mine = out + 4 * threadIdx.x;
  mine[0] = surf2Dread<int>(image, (7 - x) * 4, 3 - y);
  mine[1] = surf2Dread<int>(image, x * 4 - 32, y, cudaBoundaryModeZero);
  mine[2] = surf2Dread<int>(image, x * 4 + 32, y + 4, cudaBoundaryModeClamp);
  surf2DLayeredread(&mine[3], layers, x * 4, y, 1);
}

__global__ void bits(cudaTextureObject_t image, int* out) {
  *out = __float_as_int(tex2D<float>(image, 5.5f, 2.5f));
}

static cudaSurfaceObject_t surface(cudaArray_t array) {
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t made = 0;
  see(cudaCreateSurfaceObject(&made, &resource) == cudaSuccess, "a surface");
  return made;
}

static cudaTextureObject_t texture(cudaArray_t array) {
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description;
  std::memset(&description, 0, sizeof description);
  cudaTextureObject_t made = 0;
  see(cudaCreateTextureObject(&made, &resource, &description, nullptr) == cudaSuccess, "a texture");
  return made;
}

static void copies(cudaArray_t image) {
  int in[32], out[32];
  for (int i = 0; i < 32; ++i) in[i] = i * 3;
  const cudaMemcpyKind up = cudaMemcpyHostToDevice, down = cudaMemcpyDeviceToHost;
  see(cudaMemcpy2DToArray(image, 0, 0, in, 32, 32, 4, up) == cudaSuccess, "a whole image");
  see(cudaMemcpyFromArray(out, image, 8, 1, 80, down) == cudaSuccess && std::memcmp(out, in + 10, 80) == 0, "a run");
  see(cudaMemcpy2DFromArray(out, 8, image, 24, 2, 8, 2, down) == cudaSuccess && out[0] == 66 && out[3] == 93, "a corner");
  see(cudaMemcpyToArray(image, 36, 0, in, 4, up) == cudaErrorInvalidValue, "a place behind the row");
  see(cudaMemcpyToArray(image, 28, 3, in, 8, up) == cudaErrorInvalidValue, "a run behind the end");
  see(cudaMemcpyFromArray(out, image, 0, 4, 4, down) == cudaErrorInvalidValue, "a row behind the last");
  see(cudaMemcpy2DToArray(image, 4, 0, in, 32, 32, 4, up) == cudaErrorInvalidValue, "too wide");
  see(cudaMemcpy2DFromArray(out, 32, image, 0, 1, 32, 4, down) == cudaErrorInvalidValue, "too high");
  see(cudaMemcpy2DToArray(nullptr, 0, 0, in, 32, 32, 4, up) == cudaErrorInvalidValue, "no array");
  cudaMemcpy3DParms what;
  std::memset(&what, 0, sizeof what);
  what.srcPtr = make_cudaPitchedPtr(in, 32, 8, 4);
  what.dstArray = image;
  what.extent = make_cudaExtent(8, 4, 1);
  what.kind = up;
  see(cudaMemcpy3D(&what) == cudaSuccess, "a copy by parameters");
  what.dstPos.x = 1;
  see(cudaMemcpy3D(&what) == cudaErrorInvalidValue, "a copy beyond the row");
  what.dstArray = nullptr;
  see(cudaMemcpy3D(&what) == cudaErrorInvalidValue, "a copy to nowhere");
  long long other[32] = {0};
  see(cudaFreeArray(reinterpret_cast<cudaArray_t>(other)) == cudaErrorInvalidValue, "an array of somebody else");
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t image, layers;
  see(cudaMallocArray(&image, &format, 8, 4, cudaArraySurfaceLoadStore) == cudaSuccess, "an image");
  see(cudaMalloc3DArray(&layers, &format, make_cudaExtent(8, 4, 2), cudaArrayLayered | cudaArraySurfaceLoadStore) ==
          cudaSuccess, "layers");
  copies(image);
  int *device, out[128];
  cudaMalloc(&device, sizeof out);
  const cudaSurfaceObject_t one = surface(image), other = surface(layers);
  fill<<<1, 32>>>(one, other, device);
  see(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess, "the kernel");
  for (int i = 0; i < 32; ++i) {
    const int x = i % 8, y = i / 8;
    see(out[4 * i] == 100 * (3 - y) + 7 - x, "a texel of the image");
    see(out[4 * i + 1] == 0, "zero outside");
    see(out[4 * i + 2] == 307, "the nearest outside");
    see(out[4 * i + 3] == x + 10 * y, "a texel of a layer");
  }
  const cudaTextureObject_t words = texture(image);
  bits<<<1, 1>>>(words, device);
  see(cudaMemcpy(out, device, 4, cudaMemcpyDeviceToHost) == cudaSuccess && out[0] == 205, "the bits of a word");
  cudaDestroyTextureObject(words);
  cudaDestroySurfaceObject(one);
  cudaDestroySurfaceObject(other);
  see(cudaFreeArray(image) == cudaSuccess && cudaFreeArray(layers) == cudaSuccess, "to free");
  if (failed == 0) std::printf("PASS\n");
  return failed != 0;
}
