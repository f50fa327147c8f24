#include <torch/extension.h>

#ifdef WITH_HIP
torch::Tensor lane_sum(torch::Tensor x);
#else
torch::Tensor lane_sum(torch::Tensor x) { return x.sum(1); }
#endif

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("lane_sum", &lane_sum); }
