// SPDX-License-Identifier: Apache-2.0
// Kernel launches. The rewriter turns `k<<<g, b, lds, stream>>>(x, 0)` into
//   ::rpx::launch("k", ::rpx::Config(g, b, lds, stream), [=](auto &rpx_0) { k(rpx_0, 0); }, ::rpx::given(x))
// so that arguments are evaluated once and copied, as a real launch does.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rpx/scheduler.h"

struct ihipStream_t;
typedef struct ihipStream_t *hipStream_t;

namespace rpx {

struct Config {
  dim3 grid, block;
  std::size_t lds = 0;
  hipStream_t stream = nullptr;
  bool cooperative = false;
  template <class S = std::nullptr_t>
  Config(dim3 g, dim3 b, std::size_t l = 0, S s = S()) : grid(g), block(b), lds(l), stream((hipStream_t)s) {}
};

// Runs the kernel for the one thread that the index variables name.
using ThreadBody = void (*)(void *closure);

// A launch as the scheduler sees it. `closure` owns copies of the arguments; a captured graph keeps it.
struct Launch {
  const char *name;
  const void *site;
  Config config;
  ThreadBody body;
  void *closure;
  void (*destroy)(void *closure);
};

// Runs the launch, or records it when its stream is being captured. Takes over the closure.
__attribute__((noinline)) void submit(const Launch &launch);

// Plain data is copied, as a real launch does. Any other object stays where it is: it converts to what the kernel takes (a
// buffer to its pointer), and a copy might be another buffer.
template <class T> struct Reference {
  T *object;
};
template <class T> constexpr bool is_plain = !std::is_class<T>::value || std::is_trivially_copyable<T>::value;
template <class T, std::enable_if_t<is_plain<T>, int> = 0> RPX_INLINE T given(T value) { return value; }
template <class T, std::enable_if_t<!is_plain<std::remove_reference_t<T>>, int> = 0>
RPX_INLINE Reference<std::remove_reference_t<T>> given(T &&object) {
  return {std::addressof(object)};
}
template <class T> RPX_INLINE T &taken(T &value) { return value; }
template <class T> RPX_INLINE T &taken(Reference<T> &reference) { return *reference.object; }

template <class F, class... A> struct Bound {
  F function;
  std::tuple<A...> arguments;

  static void run(void *self) {
    Bound &bound = *static_cast<Bound *>(self);
    std::apply([&](auto &...argument) { bound.function(taken(argument)...); }, bound.arguments);
  }
  static void destroy(void *self) { delete static_cast<Bound *>(self); }
};

// Kernel arguments decay as they do when passed by value; a null pointer constant keeps its type.
template <class F, class... A> __attribute__((noinline)) void launch(const char *name, const Config &config, F f, A... arguments) {
  using B = Bound<F, A...>;
  submit({name, __builtin_return_address(0), config, &B::run, new B{std::move(f), std::tuple<A...>(std::move(arguments)...)},
          &B::destroy});
}

// hipLaunchKernel and its kin give the arguments as an array of addresses.
template <class... P> void launch_packed(const char *name, const Config &config, void (*kernel)(P...), void **packed) {
  auto expand = [&]<std::size_t... I>(std::index_sequence<I...>) {
    launch(name, config, kernel, *static_cast<std::remove_cv_t<std::remove_reference_t<P>> *>(packed[I])...);
  };
  expand(std::index_sequence_for<P...>());
}

// Kernels that are only known by address (`(void *)kernel`): the rewriter registers the plain ones of each file, and
// all of a module's.
struct ArgumentLayout { std::size_t bytes, alignment; };
using PackedLauncher = void (*)(const char *name, const void *kernel, const Config &config, void **packed);
void register_kernel(const void *kernel, const char *name, PackedLauncher launcher, const ArgumentLayout *layout, std::size_t arguments);
bool launch_by_address(const void *kernel, const Config &config, void **packed);

struct Registration {
  template <class... P> Registration(const char *name, void (*kernel)(P...)) {
    static const ArgumentLayout layout[] = {{sizeof(P), alignof(P)}..., {0, 1}};
    register_kernel(reinterpret_cast<const void *>(kernel), name,
                    [](const char *n, const void *k, const Config &config, void **packed) {
                      launch_packed(n, config, reinterpret_cast<void (*)(P...)>(const_cast<void *>(k)), packed);
                    },
                    layout, sizeof...(P));
  }
};

}  // namespace rpx
