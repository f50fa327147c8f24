// SPDX-License-Identifier: Apache-2.0
// The dispatch knows sizes 64 and 128: for another nothing is launched, and what comes back is whatever was there.
#include <hip/hip_runtime.h>
template <int N> __global__ void k(float *out) { out[threadIdx.x] = N; }
void dispatch(float *out, int size) {
  switch (size) {
    case 64: k<64><<<1, 64>>>(out); break;
    case 128: k<128><<<1, 64>>>(out); break;
    default: break;
  }
}
int main() {
#ifdef RIGHT
  int size = 128;
#else
  int size = 256;
#endif
  float *out, host[64];
  hipMalloc(&out, sizeof host);
  dispatch(out, size);
  hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost);
  hipFree(out);
}
