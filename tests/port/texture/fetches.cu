// What texture fetches give, in every mode: one line a mode, the bits of each component in order of the coordinates.
// Run on an NVIDIA GPU it wrote fetches.h200.txt; ported, its output is compared with that.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int W = 7, H = 5, D = 4, N = 160;

#define CHECK(call) \
  do { \
    cudaError_t error = (call); \
    if (error != cudaSuccess) { \
      printf("line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
      return 1; \
    } \
  } while (0)

template <class T> __global__ void fetch1(cudaTextureObject_t t, const float4 *at, T *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) out[i] = tex1Dfetch<T>(t, static_cast<int>(at[i].x));
}
template <class T> __global__ void line(cudaTextureObject_t t, const float4 *at, T *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) out[i] = tex1D<T>(t, at[i].x);
}
template <class T> __global__ void plane(cudaTextureObject_t t, const float4 *at, T *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) out[i] = tex2D<T>(t, at[i].x, at[i].y);
}
template <class T> __global__ void volume(cudaTextureObject_t t, const float4 *at, T *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) tex3D(&out[i], t, at[i].x, at[i].y, at[i].z);
}
template <class T> __global__ void layer1(cudaTextureObject_t t, const float4 *at, T *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) out[i] = tex1DLayered<T>(t, at[i].x, i % 6 - 1);
}
template <class T> __global__ void layer2(cudaTextureObject_t t, const float4 *at, T *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) out[i] = tex2DLayered<T>(t, at[i].x, at[i].y, i % 6 - 1);
}

static float4 *coordinates(float from, float step) {
  std::vector<float4> at(N);
  for (int i = 0; i < N; ++i) {
    at[i] = make_float4(from + step * i, from + step * ((i * 7) % N), from + step * ((i * 11) % N), 0.0f);
  }
  float4 *device;
  cudaMalloc(&device, sizeof(float4) * N);
  cudaMemcpy(device, at.data(), sizeof(float4) * N, cudaMemcpyHostToDevice);
  return device;
}

template <class T> static void texels(std::vector<T> &data, int count);
template <> void texels(std::vector<float> &data, int count) {
  for (int i = 0; i < count; ++i) data.push_back(((i * 37) % 101 - 50) * 0.37f);
}
template <> void texels(std::vector<float4> &data, int count) {
  for (int i = 0; i < count; ++i) data.push_back(make_float4(i * 0.5f, -i, (i * i) % 17, 1.0f / (i + 1)));
}
template <> void texels(std::vector<unsigned char> &data, int count) {
  for (int i = 0; i < count; ++i) data.push_back(i * 53 % 256);
}
template <> void texels(std::vector<uchar4> &data, int count) {
  for (int i = 0; i < count; ++i) data.push_back(make_uchar4(i * 53 % 256, 255 - i, i * 7 % 256, i % 2 ? 255 : 0));
}
template <> void texels(std::vector<short2> &data, int count) {
  for (int i = 0; i < count; ++i) data.push_back(make_short2(i * 2111 % 65536 - 32768, 32767 - i * 977));
}
template <> void texels(std::vector<int> &data, int count) {
  for (int i = 0; i < count; ++i) data.push_back(i * 123457 - 1000000);
}

struct Mode {
  cudaTextureFilterMode filter;
  cudaTextureAddressMode address;
  int normalized;
  cudaTextureReadMode read;
};

template <class R, class Kernel>
static int show(const char *name, Kernel kernel, const cudaResourceDesc &resource, const Mode &mode, const float4 *at) {
  cudaTextureDesc description;
  memset(&description, 0, sizeof description);
  for (auto &address : description.addressMode) address = mode.address;
  description.filterMode = mode.filter;
  description.readMode = mode.read;
  description.normalizedCoords = mode.normalized;
  for (int i = 0; i < 4; ++i) description.borderColor[i] = 0.25f * i;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  R *device;
  std::vector<R> host(N);
  CHECK(cudaMalloc(&device, sizeof(R) * N));
  kernel<<<(N + 63) / 64, 64>>>(texture, at, device);
  CHECK(cudaMemcpy(host.data(), device, sizeof(R) * N, cudaMemcpyDeviceToHost));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(device));
  printf("%s/filter %d/address %d/normalized %d/read %d:", name, static_cast<int>(mode.filter),
         static_cast<int>(mode.address), mode.normalized, static_cast<int>(mode.read));
  const char *bytes = reinterpret_cast<const char *>(host.data());
  for (size_t i = 0; i < sizeof(R) * N / 4; ++i) {
    unsigned bits;
    memcpy(&bits, bytes + 4 * i, 4);
    printf(" %x", bits);
  }
  printf("\n");
  return 0;
}

template <class T> static cudaResourceDesc linear(int count) {
  std::vector<T> data;
  texels(data, count);
  void *device;
  cudaMalloc(&device, sizeof(T) * count);
  cudaMemcpy(device, data.data(), sizeof(T) * count, cudaMemcpyHostToDevice);
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = device;
  resource.res.linear.desc = cudaCreateChannelDesc<T>();
  resource.res.linear.sizeInBytes = sizeof(T) * count;
  return resource;
}
template <class T> static cudaResourceDesc pitched() {
  std::vector<T> data;
  texels(data, W * H);
  void *device;
  size_t pitch;
  cudaMallocPitch(&device, &pitch, sizeof(T) * W, H);
  cudaMemcpy2D(device, pitch, data.data(), sizeof(T) * W, sizeof(T) * W, H, cudaMemcpyHostToDevice);
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = device;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<T>();
  resource.res.pitch2D.width = W;
  resource.res.pitch2D.height = H;
  resource.res.pitch2D.pitchInBytes = pitch;
  return resource;
}
template <class T> static cudaResourceDesc array(int width, int height) {
  std::vector<T> data;
  texels(data, width * (height ? height : 1));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  cudaMallocArray(&resource.res.array.array, &format, width, height);
  cudaMemcpy2DToArray(resource.res.array.array, 0, 0, data.data(), sizeof(T) * width, sizeof(T) * width,
                      height ? height : 1, cudaMemcpyHostToDevice);
  return resource;
}
template <class T> static cudaResourceDesc array3(int width, int height, int depth, unsigned flags) {
  const int rows = height ? height : 1;
  std::vector<T> data;
  texels(data, width * rows * depth);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  cudaMalloc3DArray(&resource.res.array.array, &format, make_cudaExtent(width, height, depth), flags);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(data.data(), sizeof(T) * width, width, rows);
  copy.dstArray = resource.res.array.array;
  copy.extent = make_cudaExtent(width, rows, depth);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  return resource;
}

int main() {
  const float4 *wide = coordinates(-3.07f, 0.083f), *unit = coordinates(-1.63f, 0.0237f);
  const float4 *whole = coordinates(-3.0f, 1.0f), *exact = coordinates(-2.5f, 0.125f);
  const cudaTextureFilterMode point = cudaFilterModePoint, smooth = cudaFilterModeLinear;
  const cudaTextureReadMode element = cudaReadModeElementType, normal = cudaReadModeNormalizedFloat;
  const cudaTextureAddressMode wrap = cudaAddressModeWrap, clamp = cudaAddressModeClamp;
  const cudaTextureAddressMode mirror = cudaAddressModeMirror, border = cudaAddressModeBorder;
  int bad = 0;
  bad += show<float>("fetch float", fetch1<float>, linear<float>(100), {point, clamp, 0, element}, whole);
  bad += show<float4>("fetch float4", fetch1<float4>, linear<float4>(100), {point, clamp, 0, element}, whole);
  bad += show<int>("fetch int", fetch1<int>, linear<int>(100), {point, clamp, 0, element}, whole);
  bad += show<float4>("fetch uchar4", fetch1<float4>, linear<uchar4>(100), {point, clamp, 0, normal}, whole);
  bad += show<short2>("fetch short2", fetch1<short2>, linear<short2>(100), {point, clamp, 0, element}, whole);
  bad += show<float2>("fetch short2", fetch1<float2>, linear<short2>(100), {point, clamp, 0, normal}, whole);
  const cudaResourceDesc row = array<float>(W, 0), image = array<float>(W, H), bytes = array<unsigned char>(W, H);
  const cudaResourceDesc colours = array<uchar4>(W, H), quads = array<float4>(W, H), pitch = pitched<float>();
  const cudaResourceDesc pitch4 = pitched<uchar4>(), whole2 = array<int>(W, H), pairs = array<short2>(W, H);
  const cudaResourceDesc solid = array3<float>(W, H, D, 0), solid4 = array3<uchar4>(W, H, D, 0);
  const cudaResourceDesc rows = array3<float>(W, 0, D, cudaArrayLayered);
  const cudaResourceDesc sheets = array3<float>(W, H, D, cudaArrayLayered);
  for (const cudaTextureFilterMode filter : {point, smooth}) {
    for (const cudaTextureAddressMode address : {wrap, clamp, mirror, border}) {
      for (const int normalized : {0, 1}) {
        if (!normalized && (address == wrap || address == mirror)) continue;  // CUDA leaves these out
        const float4 *at = normalized ? unit : wide;
        const Mode mode = {filter, address, normalized, element}, scaled = {filter, address, normalized, normal};
        bad += show<float>("line float", line<float>, row, mode, at);
        bad += show<float>("plane float", plane<float>, image, mode, at);
        bad += show<float>("pitch float", plane<float>, pitch, mode, at);
        bad += show<float4>("plane float4", plane<float4>, quads, mode, at);
        bad += show<float>("plane uchar", plane<float>, bytes, scaled, at);
        bad += show<float4>("plane uchar4", plane<float4>, colours, scaled, at);
        bad += show<float4>("pitch uchar4", plane<float4>, pitch4, scaled, at);
        bad += show<float2>("plane short2", plane<float2>, pairs, scaled, at);
        bad += show<float>("volume float", volume<float>, solid, mode, at);
        bad += show<float4>("volume uchar4", volume<float4>, solid4, scaled, at);
        bad += show<float>("layer1 float", layer1<float>, rows, mode, at);
        bad += show<float>("layer2 float", layer2<float>, sheets, mode, at);
        if (filter == point) bad += show<int>("plane int", plane<int>, whole2, mode, at);
        if (filter == point) bad += show<short2>("plane short2", plane<short2>, pairs, mode, at);
      }
    }
  }
  bad += show<float>("exact float", plane<float>, image, {smooth, clamp, 0, element}, exact);
  bad += show<float>("exact float", plane<float>, image, {point, clamp, 0, element}, exact);
  return bad;
}
