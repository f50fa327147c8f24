// SPDX-License-Identifier: Apache-2.0
// PyTorch's `cuda` device on a CPU build: a tensor "on" it says so to Python and to C++, and its memory is host memory. An
// operator on the device is the CPU's, called on tensors that share the memory (a backend fallback of the dispatcher).
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using c10::Device;
using c10::DeviceType;
using c10::IValue;
using c10::Storage;
using c10::StorageImpl;
using HostStorage = c10::intrusive_ptr<StorageImpl>;

const Device the_device(DeviceType::CUDA, 0);

/// One device, always the current one.
struct Guard final : c10::impl::NoOpDeviceGuardImpl<DeviceType::CUDA> {
  Device exchangeDevice(Device) const override { return the_device; }
  Device getDevice() const override { return the_device; }
  c10::Stream getStream(Device) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, the_device); }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }
  void record(void **, const c10::Stream &, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void *, const c10::Stream &) const override {}
  void destroyEvent(void *, c10::DeviceIndex) const noexcept override {}
  bool queryEvent(void *) const override { return true; }
  bool queryStream(const c10::Stream &) const override { return true; }
  void synchronizeStream(const c10::Stream &) const override {}
  void synchronizeEvent(void *) const override {}
  void synchronizeDevice(c10::DeviceIndex) const override {}
  void recordDataPtrOnStream(const c10::DataPtr &, const c10::Stream &) const override {}
};
C10_REGISTER_GUARD_IMPL(CUDA, Guard)

void release(void *context) { delete static_cast<HostStorage *>(context); }

/// The device's view of a storage of the host; it keeps the storage.
c10::DataPtr device_pointer(const HostStorage &host) {
  return {host->mutable_data(), new HostStorage(host), &release, the_device};
}

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    auto *const host = c10::GetCPUAllocator();
    return device_pointer(c10::make_intrusive<StorageImpl>(
        StorageImpl::use_byte_size_t(), bytes, host->allocate(bytes), host, /*resizable=*/true));
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void *to, const void *from, size_t bytes) const override { default_copy_data(to, from, bytes); }
} allocator;
[[maybe_unused]] const bool registered = (c10::SetAllocator(DeviceType::CUDA, &allocator), true);

/// The host's storage of the same memory; of memory that the program brought (from_blob), one that does not own it.
HostStorage host_of(const Storage &storage) {
  const c10::DataPtr &data = storage.data_ptr();
  if (data.get_deleter() == &release) return *static_cast<HostStorage *>(data.get_context());
  return c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(), storage.nbytes(),
      c10::DataPtr(storage.mutable_data(), Device(DeviceType::CPU)), c10::GetCPUAllocator(), false);
}

at::Tensor tensor_of(Storage storage, DeviceType type, const at::Tensor &like) {
  const auto key = type == DeviceType::CPU ? c10::DispatchKey::CPU : c10::DispatchKey::CUDA;
  auto made = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
  auto *const impl = made.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.is_conj()) impl->_set_conj(true);
  if (like.is_neg()) impl->_set_neg(true);
  return made;
}

/// Operators whose arguments may lie on both devices, as PyTorch's own kernels take them.
bool takes_both(const std::string &name) {
  static const std::set<std::string> names = {
      "aten::copy_", "aten::_copy_from", "aten::index.Tensor", "aten::index.Tensor_out", "aten::_index_put_impl_",
      "aten::_pack_padded_sequence", "aten::set_.source_Tensor", "aten::is_set_to"};
  return names.count(name) != 0;
}

/// One call: which tensors of the device stand behind the host's.
class Call {
 public:
  explicit Call(std::string name) : name_(std::move(name)) {}

  IValue to_host(const IValue &value) {
    if (value.isTensor()) return to_host(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor &tensor : value.toTensorVector()) list.push_back(to_host(tensor));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor> &tensor : value.toOptionalTensorVector())
        list.push_back(tensor ? std::optional<at::Tensor>(to_host(*tensor)) : std::nullopt);
      return list;
    }
    if (value.isDevice() && value.toDevice().is_cuda()) return Device(DeviceType::CPU);
    if (value.isStorage() && value.toStorage().device_type() == DeviceType::CUDA) return host_storage(value.toStorage());
    return value;
  }

  IValue to_device(const IValue &value) {
    if (value.isTensor()) return to_device(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor &tensor : value.toTensorVector()) list.push_back(to_device(tensor));
      return list;
    }
    return value;
  }

  /// What the operator made of the sizes and the memory of its arguments.
  void finish() {
    for (auto &[of_device, of_host] : tensors_) {
      auto *const impl = of_device.unsafeGetTensorImpl();
      Storage now = device_storage(of_host.storage());
      if (!now.is_alias_of(of_device.storage())) impl->set_storage_keep_dtype(std::move(now));
      if (of_device.sizes() != of_host.sizes() || of_device.strides() != of_host.strides() ||
          of_device.storage_offset() != of_host.storage_offset())
        impl->set_sizes_and_strides(of_host.sizes(), of_host.strides(), of_host.storage_offset());
    }
  }

 private:
  at::Tensor to_host(const at::Tensor &tensor) {
    if (!tensor.defined() || tensor.is_meta()) return tensor;
    if (!tensor.is_cuda()) {
      TORCH_CHECK(
          tensor.dim() == 0 || takes_both(name_), "Expected all tensors to be on the same device, but found at least two devices, ",
          the_device, " and ", tensor.device(), "! (when checking an argument of ", name_, ")");
      kept_.push_back(tensor);
      return tensor;
    }
    for (auto &[of_device, of_host] : tensors_)
      if (of_device.is_same(tensor)) return of_host;
    at::Tensor made = tensor_of(host_storage(tensor.storage()), DeviceType::CPU, tensor);
    tensors_.emplace_back(tensor, made);
    return made;
  }

  at::Tensor to_device(const at::Tensor &tensor) {
    if (!tensor.defined() || !tensor.is_cpu()) return tensor;
    for (auto &[of_device, of_host] : tensors_)
      if (of_host.is_same(tensor)) return of_device;
    for (const at::Tensor &host : kept_)
      if (host.is_same(tensor)) return tensor;
    return tensor_of(device_storage(tensor.storage()), DeviceType::CUDA, tensor);
  }

  Storage host_storage(const Storage &of_device) {
    for (auto &[device, host] : storages_)
      if (device.unsafeGetStorageImpl() == of_device.unsafeGetStorageImpl()) return host;
    storages_.emplace_back(of_device, Storage(host_of(of_device)));
    return storages_.back().second;
  }

  /// An argument's where the memory is the same (the result is a view), else a new one.
  Storage device_storage(const Storage &of_host) {
    StorageImpl *const wanted = of_host.unsafeGetStorageImpl();
    const auto held = [&] { return device_pointer(HostStorage::reclaim_copy(wanted)); };
    for (auto &[device, host] : storages_) {
      if (host.unsafeGetStorageImpl() != wanted) continue;
      StorageImpl *const known = device.unsafeGetStorageImpl();
      if (known->data() != wanted->data()) known->set_data_ptr_noswap(held());  // it grew
      known->set_nbytes(wanted->nbytes());
      return device;
    }
    storages_.emplace_back(
        c10::make_intrusive<StorageImpl>(
            StorageImpl::use_byte_size_t(), wanted->nbytes(), held(), &allocator, /*resizable=*/true),
        of_host);
    return storages_.back().first;
  }

  std::string name_;
  std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;
  std::vector<std::pair<Storage, Storage>> storages_;
  std::vector<at::Tensor> kept_;
};

void on_host(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  const std::string name = toString(op.operator_name());
  TORCH_CHECK_NOT_IMPLEMENTED(
      op.operator_name().getNamespace() == "aten", name, ": has no kernel for the device (CUDA), as on a GPU");
  TORCH_CHECK_NOT_IMPLEMENTED(
      op.hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
          op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd),
      name, ": PyTorch has it for GPUs only, and the device's operators are the CPU's here");
  Call call(name);
  const size_t count = op.schema().arguments().size(), first = stack->size() - count;
  for (size_t i = first; i < stack->size(); ++i) (*stack)[i] = call.to_host((*stack)[i]);
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  }
  call.finish();
  for (size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i) (*stack)[i] = call.to_device((*stack)[i]);
}

/// Streams finish at once: no memory is given back too early.
void record_stream(at::Tensor &, c10::Stream) {}

}  // namespace

// The registry wants it here.
namespace at {

/// What PyTorch asks of its accelerator: it is there, and its generators are the CPU's.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasCUDART() const override { return true; }
  bool hasROCM() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  DeviceIndex current_device() const override { return 0; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(DeviceIndex) const override {}
  DeviceIndex exchangeDevice(DeviceIndex) const override { return 0; }
  DeviceIndex maybeExchangeDevice(DeviceIndex) const override { return 0; }
  void deviceSynchronize(DeviceIndex) const override {}
  Device getDeviceFromPtr(void *) const override { return the_device; }
  Allocator *getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
  Allocator *getCUDADeviceAllocator() const override { return &allocator; }
  const Generator &getDefaultGenerator(DeviceIndex) const override { return detail::getDefaultCPUGenerator(); }
  Generator getNewGenerator(DeviceIndex) const override { return make_generator<CPUGeneratorImpl>(); }
};
REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace at

TORCH_LIBRARY_IMPL(_, CUDA, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_host>()); }

// Those that choose a kernel by the device themselves.
TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  for (const char *name : {"copy_", "convolution", "convolution_backward"})
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&on_host>());
  library.impl("record_stream", record_stream);
}
