// SPDX-License-Identifier: Apache-2.0
// half, bfloat16, fp8, vector types, atomics on every type, textures, rounding modes.
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <cstdio>

__global__ void run(float *out, hipTextureObject_t texture, double *sum, unsigned *bits, __half *half_sum) {
  atomicAdd(sum, 0.5);
  atomicAdd(half_sum, __half(1.0f));
  atomicMax(bits, threadIdx.x * 3);
  atomicOr(bits + 1, 1u << (threadIdx.x & 31));
  unsigned seen = bits[2], before;
  do {
    before = seen;
    seen = atomicCAS(bits + 2, before, before + 1);
  } while (seen != before);
  float *mine = out + threadIdx.x * 8;
  float4 v = make_float4(1, 2, 3, 4) * 2.0f + make_float4(1, 1, 1, 1);
  half2 h = __hfma2(__floats2half2_rn(1, 2), __float2half2_rn(3), __float2half2_rn(0.5f));
  mine[0] = v.x + v.w;
  mine[1] = __low2float(h) + __high2float(h);
  mine[2] = __bfloat162float(__float2bfloat16(1.00390625f));
  mine[3] = float(__hip_fp8_e4m3(300.0f)) + float(__hip_fp8_e4m3_fnuz(300.0f));
  mine[4] = tex2D<float>(texture, 1.0f, 0.5f);
  mine[5] = __fadd_ru(1.0f, 1e-10f) - 1.0f;
  mine[6] = hipCmulf(make_hipFloatComplex(1, 2), make_hipFloatComplex(3, 4)).y;
  mine[7] = __float2int_rn(2.5f) + __float2int_rz(-2.5f) + __popc(0xf0f0u) + __brev(1u) / 2147483648.0f + __dp4a(0x01020304, 0x01010101, 5);
}

int main() {
  float texels[4] = {1, 3, 5, 7}, *out;
  double *sum;
  unsigned *bits;
  __half *half_sum;
  hipMallocManaged(&out, 64 * 8 * sizeof(float));
  hipMallocManaged(&sum, sizeof(double));
  hipMallocManaged(&bits, 3 * sizeof(unsigned));
  hipMallocManaged(&half_sum, sizeof(__half));
  *sum = 0;
  *half_sum = __half(0.0f);
  bits[0] = bits[1] = bits[2] = 0;
  hipArray_t array;
  hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  hipMallocArray(&array, &format, 2, 2);
  hipMemcpy2DToArray(array, 0, 0, texels, 8, 8, 2, hipMemcpyHostToDevice);
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  hipTextureDesc description = {};
  description.filterMode = hipFilterModeLinear;
  description.addressMode[0] = description.addressMode[1] = hipAddressModeClamp;
  hipTextureObject_t texture;
  hipCreateTextureObject(&texture, &resource, &description, nullptr);
  run<<<1, 64>>>(out, texture, sum, bits, half_sum);
  hipDeviceSynchronize();
  const float expected[8] = {12, 10, 1.0f, 288 + 240, 2, 1.1920929e-7f, 10, 2 - 2 + 8 + 1 + 15};
  int wrong = *sum != 32 || float(*half_sum) != 64 || bits[0] != 189 || bits[1] != ~0u || bits[2] != 64;
  for (int t = 0; t < 64; ++t)
    for (int i = 0; i < 8; ++i)
      if (out[t * 8 + i] != expected[i] && t == 0) std::printf("%d: got %.9g, want %.9g\n", i, out[i], expected[i]), ++wrong;
  std::printf("%s\n", wrong ? "FAIL" : "PASS");
  hipDestroyTextureObject(texture);
  hipFreeArray(array);
}
