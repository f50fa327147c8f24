// A pointer into shared memory, onto the stack and into device memory are told apart.
#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void kinds(int *out, int *global) {
  __shared__ int fixed[4];
  extern __shared__ int dynamic[];
  int local = 1;
  volatile int *kept = &local;
  auto shared = [](const void *p) { return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void *)p); };
  auto own = [](const void *p) { return __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void *)p); };
  fixed[threadIdx.x % 4] = dynamic[threadIdx.x] = 0;
  out[threadIdx.x] = shared(&fixed[1]) && shared(&dynamic[1]) && !shared((const void *)kept) && !shared(global) &&
                     own((const void *)kept) && !own(global) && !own(&fixed[1]);
}

int main() {
  int *out, *global, host[64], wrong = 0;
  hipMalloc(&out, sizeof host);
  hipMalloc(&global, 4);
  kinds<<<1, 64, 64 * sizeof(int)>>>(out, global);
  hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) wrong += host[i] != 1;
  std::printf(wrong ? "FAIL %d\n" : "PASS\n", wrong);
  return wrong != 0;
}
