#include <cuda_runtime.h>

#include <cstdio>

#include "block.h"

// Turns the numbers of a block round. The barrier is one of sixteen that PTX names.
__global__ void turned(int* numbers) {
  __shared__ int held[THREADS];
  held[threadIdx.x] = numbers[threadIdx.x];
  asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
  numbers[threadIdx.x] = held[THREADS - 1 - threadIdx.x];
}

int main() {
  int numbers[THREADS], *device, wrong = 0;
  for (int at = 0; at < THREADS; ++at) numbers[at] = at;
  cudaMalloc(&device, sizeof(numbers));
  cudaMemcpy(device, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
  turned<<<1, THREADS>>>(device);
  cudaMemcpy(numbers, device, sizeof(numbers), cudaMemcpyDeviceToHost);
  for (int at = 0; at < THREADS; ++at) wrong += numbers[at] != THREADS - 1 - at;
  std::printf(wrong ? "FAILED: %d wrong\n" : "PASSED: %d wrong\n", wrong);
  return wrong != 0;
}
