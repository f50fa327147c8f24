#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

#include "rowstats.h"

at::Tensor row_sum_tensor(const at::Tensor& in) {
  TORCH_CHECK(in.is_cuda() && in.dim() == 2 && in.is_contiguous(), "expected a contiguous 2-d CUDA tensor");
  const at::cuda::CUDAGuard guard(in.device());
  at::Tensor out = at::empty({in.size(0)}, in.options());
  C10_CUDA_CHECK(row_sum(in.data_ptr<float>(), out.data_ptr<float>(), in.size(0), in.size(1),
                         at::cuda::getCurrentCUDAStream()));
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("row_sum", &row_sum_tensor, "sum of every row"); }
