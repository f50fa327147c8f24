// SPDX-License-Identifier: Apache-2.0
// librocfft: rocFFT's plans as plans of libhipfft. Interleaved and real arrays, strides where each is a multiple of the one
// before; scale factors, planar arrays, offsets, fields and callbacks are refused by name.
#include <hipfft/hipfft.h>
#include <rocfft/rocfft.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace rt { int unserved(const char *what); }

struct rocfft_plan_description_t {
  std::vector<std::size_t> in, out;  // strides, the fastest dimension first; empty: those of the lengths
  std::size_t in_distance = 0, out_distance = 0;
};
struct rocfft_plan_t {
  hipfftHandle plan = nullptr;
  hipfftType type{};
  bool inverse = false, in_place = false;
};
struct rocfft_execution_info_t {
  hipStream_t stream = nullptr;
};

namespace {

rocfft_status refused(const char *what) { return rt::unserved(what), rocfft_status_failure; }
rocfft_status said(hipfftResult result) { return result == HIPFFT_SUCCESS ? rocfft_status_success : rocfft_status_failure; }

// The embedding that strides stand for, the slowest dimension first as hipFFT has it. Empty: there is none.
std::vector<int> embedding(const std::vector<std::size_t> &strides, const std::vector<int> &lengths) {
  std::vector<int> embed(lengths);
  const std::size_t rank = lengths.size();
  if (strides.size() != rank) return {};
  for (std::size_t i = 1; i < rank; ++i) {
    if (!strides[i - 1] || strides[i] % strides[i - 1]) return {};
    embed[rank - i] = static_cast<int>(strides[i] / strides[i - 1]);
  }
  return embed;
}

hipfftType type_of(rocfft_transform_type type, bool twice) {
  if (type == rocfft_transform_type_real_forward) return twice ? HIPFFT_D2Z : HIPFFT_R2C;
  if (type == rocfft_transform_type_real_inverse) return twice ? HIPFFT_Z2D : HIPFFT_C2R;
  return twice ? HIPFFT_Z2Z : HIPFFT_C2C;
}

}  // namespace

extern "C" {
rocfft_status rocfft_setup() { return rocfft_status_success; }
rocfft_status rocfft_cleanup() { return rocfft_status_success; }
rocfft_status rocfft_get_version_string(char *buffer, std::size_t bytes) {
  return std::snprintf(buffer, bytes, "1.0.32") < static_cast<int>(bytes) ? rocfft_status_success : rocfft_status_invalid_arg_value;
}
rocfft_status rocfft_plan_description_create(rocfft_plan_description *d) { return *d = new rocfft_plan_description_t, rocfft_status_success; }
rocfft_status rocfft_plan_description_destroy(rocfft_plan_description d) { return delete d, rocfft_status_success; }
rocfft_status rocfft_plan_description_set_scale_factor(rocfft_plan_description, const double factor) {
  return factor == 1 ? rocfft_status_success : refused("rocfft_plan_description_set_scale_factor other than 1");
}
rocfft_status rocfft_plan_description_set_data_layout(rocfft_plan_description d, const rocfft_array_type in, const rocfft_array_type out,
                                                      const std::size_t *in_offsets, const std::size_t *out_offsets, const std::size_t in_rank,
                                                      const std::size_t *in_strides, const std::size_t in_distance, const std::size_t out_rank,
                                                      const std::size_t *out_strides, const std::size_t out_distance) {
  for (rocfft_array_type type : {in, out})
    if (type == rocfft_array_type_complex_planar || type == rocfft_array_type_hermitian_planar) return refused("rocfft with planar arrays");
  for (const std::size_t *offsets : {in_offsets, out_offsets})
    if (offsets && *offsets) return refused("rocfft_plan_description_set_data_layout with offsets");
  if (in_strides) d->in.assign(in_strides, in_strides + in_rank);
  if (out_strides) d->out.assign(out_strides, out_strides + out_rank);
  d->in_distance = in_distance;
  d->out_distance = out_distance;
  return rocfft_status_success;
}
rocfft_status rocfft_plan_create(rocfft_plan *plan, rocfft_result_placement placement, rocfft_transform_type type, rocfft_precision precision,
                                 std::size_t rank, const std::size_t *lengths, std::size_t batch, const rocfft_plan_description d) {
  if (!plan || !lengths) return rocfft_status_invalid_arg_value;
  if (rank < 1 || rank > 3) return rocfft_status_invalid_dimensions;
  if (precision == rocfft_precision_half) return refused("rocfft in half precision");
  std::vector<int> n(rank), in, out;
  for (std::size_t i = 0; i < rank; ++i) n[rank - 1 - i] = static_cast<int>(lengths[i]);
  const bool laid = d && (!d->in.empty() || !d->out.empty());
  if (laid) {
    in = embedding(d->in, n);
    out = embedding(d->out, n);
    if (in.empty() || out.empty()) return refused("rocfft with strides that are no multiples of each other");
  }
  // Distances that nobody gave are those of arrays behind each other; of a real transform one side holds n / 2 + 1.
  std::size_t all = 1;
  for (std::size_t i = 1; i < rank; ++i) all *= lengths[i];
  const std::size_t half = all * (lengths[0] / 2 + 1), whole = all * lengths[0];
  const bool forward = type == rocfft_transform_type_real_forward, inverse = type == rocfft_transform_type_real_inverse;
  const std::size_t reals = placement == rocfft_placement_inplace ? 2 * half : whole;
  const std::size_t from = d && d->in_distance ? d->in_distance : forward ? reals : inverse ? half : whole;
  const std::size_t to = d && d->out_distance ? d->out_distance : inverse ? reals : forward ? half : whole;
  auto made = new rocfft_plan_t;
  made->type = type_of(type, precision == rocfft_precision_double);
  made->inverse = type == rocfft_transform_type_complex_inverse;
  made->in_place = placement == rocfft_placement_inplace;
  const hipfftResult result = hipfftPlanMany(&made->plan, static_cast<int>(rank), n.data(), laid ? in.data() : nullptr,
                                             laid ? static_cast<int>(d->in[0]) : 1, static_cast<int>(from), laid ? out.data() : nullptr,
                                             laid ? static_cast<int>(d->out[0]) : 1, static_cast<int>(to), made->type, static_cast<int>(batch));
  if (result != HIPFFT_SUCCESS) return delete made, said(result);
  return *plan = made, rocfft_status_success;
}
rocfft_status rocfft_plan_destroy(rocfft_plan plan) {
  const hipfftResult result = plan ? hipfftDestroy(plan->plan) : HIPFFT_INVALID_PLAN;
  return delete plan, said(result);
}
rocfft_status rocfft_plan_get_work_buffer_size(const rocfft_plan, std::size_t *bytes) { return *bytes = 0, rocfft_status_success; }
rocfft_status rocfft_execution_info_create(rocfft_execution_info *info) { return *info = new rocfft_execution_info_t, rocfft_status_success; }
rocfft_status rocfft_execution_info_destroy(rocfft_execution_info info) { return delete info, rocfft_status_success; }
rocfft_status rocfft_execution_info_set_work_buffer(rocfft_execution_info, void *, const std::size_t) { return rocfft_status_success; }
rocfft_status rocfft_execution_info_set_stream(rocfft_execution_info info, void *stream) {
  return info->stream = static_cast<hipStream_t>(stream), rocfft_status_success;
}
rocfft_status rocfft_execute(const rocfft_plan plan, void *in_buffer[], void *out_buffer[], rocfft_execution_info info) {
  if (!plan || !in_buffer) return rocfft_status_invalid_arg_value;
  void *in = in_buffer[0], *out = plan->in_place ? in : out_buffer ? out_buffer[0] : nullptr;
  if (!out) return rocfft_status_invalid_arg_value;
  hipfftSetStream(plan->plan, info ? info->stream : nullptr);
  const int direction = plan->inverse ? HIPFFT_BACKWARD : HIPFFT_FORWARD;
  switch (plan->type) {
    case HIPFFT_R2C: return said(hipfftExecR2C(plan->plan, static_cast<hipfftReal *>(in), static_cast<hipfftComplex *>(out)));
    case HIPFFT_C2R: return said(hipfftExecC2R(plan->plan, static_cast<hipfftComplex *>(in), static_cast<hipfftReal *>(out)));
    case HIPFFT_D2Z: return said(hipfftExecD2Z(plan->plan, static_cast<hipfftDoubleReal *>(in), static_cast<hipfftDoubleComplex *>(out)));
    case HIPFFT_Z2D: return said(hipfftExecZ2D(plan->plan, static_cast<hipfftDoubleComplex *>(in), static_cast<hipfftDoubleReal *>(out)));
    case HIPFFT_Z2Z: return said(hipfftExecZ2Z(plan->plan, static_cast<hipfftDoubleComplex *>(in), static_cast<hipfftDoubleComplex *>(out), direction));
    default: return said(hipfftExecC2C(plan->plan, static_cast<hipfftComplex *>(in), static_cast<hipfftComplex *>(out), direction));
  }
}
}
