"""rocport_std.h: every name that the rule keeps compiles for AMD GPUs, and computes what the standard library does."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.port import headers
from rocport.rules.cuda.standard_library import NAMES, OUTSIDE

PROGRAM = r"""
#include <hip/hip_runtime.h>
#include "rocport_std.h"
#include <cstdio>
static_assert(cuda::std::countl_zero(1u) == 31 && cuda::std::countl_zero((unsigned char)1) == 7, "");
static_assert(cuda::std::bit_ceil(5u) == 8 && cuda::std::bit_floor(5u) == 4 && cuda::std::countr_one(7u) == 3, "");
static_assert(cuda::std::rotr(1u, 1) == 0x80000000u && cuda::std::popcount((unsigned short)0xffff) == 16, "");
static_assert(cuda::std::bit_cast<unsigned>(1.0f) == 0x3f800000u && cuda::std::clamp(9, 1, 2) == 2, "");
__global__ void k(float *x, int *n, float *sum) {
  const int t = threadIdx.x;
  cuda::std::array<float, 3> a{1.0f, 2.0f, 4.0f};
  const auto pair = cuda::std::make_tuple(t, cuda::std::min(t, 7));
  cuda::std::complex<float> c(t, 1.0f);
  c = c * cuda::std::conj(c);
  x[t] = cuda::std::sqrt(static_cast<float>(t)) + a[t % 3] + cuda::std::get<1>(pair) + c.real();
  x[t] += cuda::std::floor(t / 2);
  int one = t, other[2] = {0, 1}, last[2] = {2, 3};
  cuda::std::swap(one, other[1]), cuda::std::swap(other, last);
  decltype(cuda::std::declval<float>() + 1) lost = cuda::std::exchange(one, 0) - 1 + other[0] - 2 + last[1] - t;
  x[t] += lost;
  x[t] += cuda::std::numbers::pi_v<float> * 0 + cuda::std::accumulate(a.begin(), a.end(), -7.0f);
  cuda::atomic_ref<int, cuda::thread_scope_device>(n[0]).fetch_add(t, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_block>(n[1]).fetch_max(t);
  ++cuda::atomic_ref<int>(n[2]);
  cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
  if (cuda::std::isnan(cuda::std::numeric_limits<float>::quiet_NaN()) && !cuda::std::isinf(1.0f)) x[t] += 1;
}
int main() {
  float *x, *sum, host[128], total;
  int *n, counts[3];
  hipMalloc(&x, sizeof host), hipMalloc(&n, sizeof counts), hipMalloc(&sum, 4);
  hipMemset(n, 0, sizeof counts), hipMemset(sum, 0, 4);
  k<<<1, 128>>>(x, n, sum);
  hipMemcpy(host, x, sizeof host, hipMemcpyDeviceToHost);
  hipMemcpy(counts, n, sizeof counts, hipMemcpyDeviceToHost);
  hipMemcpy(&total, sum, 4, hipMemcpyDeviceToHost);
  bool right = counts[0] == 127 * 64 && counts[1] == 127 && counts[2] == 128 && total == 64.0f;
  using cuda::std::swap;
  cuda::std::complex<float> c(1, 2), d(3, 4);
  swap(c, d), swap(counts[0], counts[1]);
  right = right && cuda::ceil_div(7, 2) == 4 && c.real() == 3 && counts[1] == 127 * 64;
  const cuda::fast_mod_div<unsigned> seven(7u);
  right = right && 4000000001u / seven == 571428571u && 4000000001u % seven == 4u && unsigned(seven) == 7u;
  for (int t = 0; t < 128; ++t) {
    const float want = std::sqrt(float(t)) + float(1 << t % 3) + std::min(t, 7) + (float(t) * t + 1) + t / 2 + 1;
    right = right && std::fabs(host[t] - want) <= 1e-5f * want;
  }
  std::printf(right ? "PASS\n" : "FAIL\n");
  return !right;
}
"""

ATOMICS = r"""
#include "rocport_std.h"
#include <cstdio>
#include <cstring>
#include <vector>
#if !defined(__HIPCC__)
#define __device__
#define __host__
#endif
struct Pair { short a, b; };
struct Report { int wrong[64]; };
#define EXPECT(n, condition) (void)((condition) || (report->wrong[n] = __LINE__))

// What one thread sees: each operation against the plain one. `a` starts at 100.
template <class T, class A> __host__ __device__ void integers(A &a, Report *report, int n) {
  T plain = T(100), found;
  a.store(T(100));
  EXPECT(n, a.fetch_add(T(27)) == plain), plain = T(plain + 27);
  EXPECT(n, a.fetch_sub(T(120), cuda::memory_order_relaxed) == plain), plain = T(plain - 120);
  EXPECT(n, a.fetch_sub(T(9)) == plain), plain = T(plain - 9);
  EXPECT(n, a.fetch_max(T(6), cuda::memory_order_acquire) == plain), plain = plain < T(6) ? T(6) : plain;
  EXPECT(n, a.fetch_or(T(0x58), cuda::memory_order_release) == plain), plain = T(plain | 0x58);
  EXPECT(n, a.fetch_xor(T(0x13)) == plain), plain = T(plain ^ 0x13);
  EXPECT(n, a.fetch_and(T(0x6b), cuda::memory_order_acq_rel) == plain), plain = T(plain & 0x6b);
  EXPECT(n, a.fetch_min(T(-5)) == plain), plain = T(-5) < plain ? T(-5) : plain;
  EXPECT(n, a.exchange(T(3)) == plain), plain = T(3);
  EXPECT(n, !a.compare_exchange_strong(found = T(4), T(9)) && found == T(3) && a.load() == T(3));
  EXPECT(n, a.compare_exchange_weak(found, T(9), cuda::memory_order_acq_rel, cuda::memory_order_relaxed));
  EXPECT(n, a == T(9) && ++a == T(10) && a++ == T(10) && --a == T(10) && a-- == T(10));
  EXPECT(n, (a += T(5)) == T(14) && (a -= T(4)) == T(10) && (a |= T(5)) == T(15) && (a &= T(6)) == T(6));
  EXPECT(n, (a ^= T(3)) == T(5) && (a = T(8)) == T(8) && a.load(cuda::memory_order_acquire) == T(8));
}
template <class T> __host__ __device__ void floats(Report *report, int n) {
  cuda::atomic<T, cuda::thread_scope_device> a(T(1.5));
  EXPECT(n, a.fetch_add(T(0.25)) == T(1.5) && a.fetch_sub(T(2)) == T(1.75) && a.load() == T(-0.25));
  EXPECT(n, a.fetch_min(T(-3)) == T(-0.25) && a.fetch_max(T(4)) == T(-3) && a.exchange(T(0)) == T(4));
  T found = T(1);
  EXPECT(n, !a.compare_exchange_strong(found, T(2)) && found == T(0) && a.compare_exchange_strong(found, T(2)));
  EXPECT(n, a == T(2));
}
template <class T> __host__ __device__ void both(Report *report, int n) {
  cuda::atomic<T, cuda::thread_scope_block> a(T(100));
  integers<T>(a, report, n);
  T object;
  cuda::atomic_ref<T, cuda::thread_scope_thread> reference(object);
  integers<T>(reference, report, n + 1);
}
__host__ __device__ void alone(Report *report) {
  both<signed char>(report, 0), both<unsigned char>(report, 2), both<short>(report, 4), both<unsigned short>(report, 6);
  both<int>(report, 8), both<unsigned>(report, 10), both<long long>(report, 12), both<unsigned long long>(report, 14);
  both<long>(report, 16), floats<float>(report, 18), floats<double>(report, 19);
  cuda::std::atomic<bool> flag(false);
  EXPECT(20, !flag.exchange(true) && flag.load());
  int row[4] = {0, 1, 2, 3};
  cuda::std::atomic<int *> at(row);
  EXPECT(21, at.fetch_add(3) == row && at.fetch_sub(1) == row + 3 && *at.load() == 2 && ++at == row + 3);
  cuda::atomic<Pair> pair(Pair{1, 2});
  Pair expected{1, 3};
  EXPECT(22, !pair.compare_exchange_strong(expected, Pair{5, 6}) && expected.b == 2);
  EXPECT(22, pair.compare_exchange_strong(expected, Pair{5, 6}) && pair.load().a == 5 && pair.load().b == 6);
  EXPECT(23, sizeof(cuda::atomic<Pair>) == 4 && alignof(cuda::atomic<Pair>) == 4 && sizeof(cuda::atomic<char>) == 1);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}
#if defined(__HIPCC__)
__device__ cuda::atomic<int, cuda::thread_scope_device> total;
__global__ void k(Report *report, unsigned *sums, int *copy) {
  __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> shared[3];
  __shared__ cuda::std::atomic<short> halves[2];
  __shared__ cuda::atomic<float, cuda::thread_scope_block> sum;
  if (threadIdx.x == 0) {
    shared[0] = 0, shared[1] = 1000, shared[2] = 0, halves[0] = 0, halves[1] = 0, sum = 0;
    alone(report + blockIdx.x);
  }
  __syncthreads();
  const unsigned t = threadIdx.x;
  shared[0].fetch_add(t), shared[1].fetch_min(500 - t), shared[2].fetch_xor(t * 77);
  ++halves[0], halves[1] -= 2, sum.fetch_add(0.5f), total.fetch_add(1, cuda::memory_order_relaxed);
  __syncthreads();
  if (t < 3) sums[blockIdx.x * 6 + t] = shared[t];
  if (t < 2) sums[blockIdx.x * 6 + 3 + t] = unsigned(halves[t].load());
  if (t == 0) sums[blockIdx.x * 6 + 5] = unsigned(sum.load() * 2);
  __threadfence();
  if (t == 0) copy[blockIdx.x] = total.load();
}
#endif
int main() {
  bool right = true;
  std::vector<Report> reports(3);
  std::memset(static_cast<void *>(reports.data()), 0, 3 * sizeof(Report));
  alone(&reports[2]);
#if defined(__HIPCC__)
  Report *report;
  unsigned *sums, host[12], x = 0;
  int *copy, counts[2];
  hipMalloc(&report, 2 * sizeof(Report)), hipMalloc(&sums, sizeof host), hipMalloc(&copy, 8);
  hipMemset(report, 0, 2 * sizeof(Report));
  k<<<2, 160>>>(report, sums, copy);
  hipMemcpy(reports.data(), report, 2 * sizeof(Report), hipMemcpyDeviceToHost);
  hipMemcpy(host, sums, sizeof host, hipMemcpyDeviceToHost);
  hipMemcpy(counts, copy, 8, hipMemcpyDeviceToHost);
  for (unsigned t = 0; t < 160; ++t) x ^= t * 77;
  for (int b = 0; b < 2; ++b) {
    const unsigned want[6] = {160 * 159 / 2, 341, x, 160, unsigned(-320), 160};
    for (int i = 0; i < 6; ++i)
      if (host[b * 6 + i] != want[i]) right = false, std::printf("sum %d: %u, not %u\n", i, host[b * 6 + i], want[i]);
  }
  right = right && (counts[0] == 320 || counts[1] == 320);
#endif
  for (int b = 0; b < 3; ++b)
    for (int n = 0; n < 64; ++n)
      if (reports[b].wrong[n]) right = false, std::printf("block %d, case %d: line %d\n", b, n, reports[b].wrong[n]);
  std::printf(right ? "PASS\n" : "FAIL\n");
  return !right;
}
"""

COMPLEX = r"""
#include <hip/hip_runtime.h>
#include "rocport_std.h"
#include <cstdio>
#include <vector>
using C = cuda::std::complex<float>;
using D = cuda::std::complex<double>;
constexpr int results = 30;
struct Holder { int kept; C value; };
__device__ C global[2];
constexpr float by_default() {
  C z;
  return z.real() + z.imag();
}
static_assert(by_default() == 0, "zero by default");
template <class Z, class T> __host__ __device__ void all(Z *out, Z a, Z b) {
  using namespace cuda::std;
  Z zero, changed = a;
  Holder holder{1};
  out[0] = zero + Z(T(holder.value.real()), T(holder.value.imag()));
  out[1] = a + b, out[2] = a - b, out[3] = a * b, out[4] = a / b;
  out[5] = a + T(2), out[6] = a - T(2), out[7] = a * T(2), out[8] = a / T(2);
  out[9] = T(2) + a, out[10] = T(2) - a, out[11] = T(2) * a, out[12] = T(2) / a;
  changed += b, changed *= a, changed -= T(3), changed /= b, out[13] = changed;
  out[14] = -conj(a), out[15] = Z(abs(a), arg(a)), out[16] = Z(norm(a), real(a) * imag(b)), out[17] = polar(T(2), T(1));
  out[18] = exp(a), out[19] = log(a), out[20] = sqrt(a), out[21] = sin(a), out[22] = cos(a), out[23] = tanh(a);
  out[24] = pow(a, b), out[25] = pow(a, T(2.5)), out[26] = pow(T(2.5), a), out[27] = Z(a == b, a != b);
  changed.real(T(7)), changed.imag(a.real()), out[28] = changed, out[29] = sinh(a) + cosh(b) + tan(a) + log10(b);
}
template <class T> std::complex<T> plain(int i, std::complex<T> a, std::complex<T> b) {
  using S = std::complex<T>;
  const S all[results] = {S(), a + b, a - b, a * b, a / b, a + T(2), a - T(2), a * T(2), a / T(2), T(2) + a, T(2) - a,
      T(2) * a, T(2) / a, ((a + b) * a - T(3)) / b, -std::conj(a), S(std::abs(a), std::arg(a)),
      S(std::norm(a), a.real() * b.imag()), std::polar(T(2), T(1)), std::exp(a), std::log(a), std::sqrt(a), std::sin(a),
      std::cos(a), std::tanh(a), std::pow(a, b), std::pow(a, T(2.5)), std::pow(T(2.5), a), S(a == b, a != b),
      S(7, a.real()), std::sinh(a) + std::cosh(b) + std::tan(a) + std::log10(b)};
  return all[i];
}
template <class T> __device__ T turned(T x) {
  __shared__ T buffer[64];
  buffer[threadIdx.x] = x;
  __syncthreads();
  return buffer[63 - threadIdx.x];
}
__global__ void k(C *c, D *d, C *back, D *wide) {
  const int t = threadIdx.x;
  if (t == 0) all<C, float>(c, C(0.5f, 1.25f), C(-0.75f, 0.5f)), all<D, double>(d, D(0.5, 1.25), D(-0.75, 0.5));
  back[t] = turned(C(t, -t)) + global[t % 2];
  D next;
  next = back[t], next += C(0.25f, 0), back[t] = next, back[t] -= D(0.25, 0);
  wide[t] = turned(D(back[t]));
}
template <class Z, class T> bool close(Z got, std::complex<T> want, double tolerance) {
  return std::abs(std::complex<double>(got.real(), got.imag()) - std::complex<double>(want.real(), want.imag())) <=
         tolerance * (1 + std::abs(want));
}
int main() {
  static_assert(sizeof(C) == 8 && alignof(C) == 8 && alignof(D) == 16 && std::is_trivially_copyable<C>::value, "");
  static_assert(std::is_convertible<C, D>::value && !std::is_convertible<D, C>::value, "narrowing is explicit");
  C *c, *back, hc[results], hback[64], own[results];
  D *d, *wide, hd[results], hwide[64];
  hipMalloc(&c, sizeof hc), hipMalloc(&d, sizeof hd), hipMalloc(&back, sizeof hback), hipMalloc(&wide, sizeof hwide);
  k<<<1, 64>>>(c, d, back, wide);
  hipMemcpy(hc, c, sizeof hc, hipMemcpyDeviceToHost), hipMemcpy(hd, d, sizeof hd, hipMemcpyDeviceToHost);
  hipMemcpy(hback, back, sizeof hback, hipMemcpyDeviceToHost);
  hipMemcpy(hwide, wide, sizeof hwide, hipMemcpyDeviceToHost);
  all<C, float>(own, C(0.5f, 1.25f), C(-0.75f, 0.5f));
  bool right = true;
  for (int i = 0; i < results; ++i) {
    const auto f = plain<float>(i, {0.5f, 1.25f}, {-0.75f, 0.5f});
    const bool good = close(hc[i], f, 2e-6) && close(own[i], f, 2e-6) &&
                      close(hd[i], plain<double>(i, {0.5, 1.25}, {-0.75, 0.5}), 1e-14);
    if (!good) right = false, std::printf("%d: %g %g, not %g %g\n", i, hc[i].real(), hc[i].imag(), f.real(), f.imag());
  }
  for (int t = 0; t < 64; ++t) right = right && hback[t] == C(63 - t, t - 63) && hwide[t] == D(t, -t);
  std::printf(right ? "PASS\n" : "FAIL\n");
  return !right;
}
"""
TARGETS = r"""
#include "rocport_std.h"
#include <cstdio>
#if !defined(__HIPCC__)
#define __device__
#define __host__
#endif
constexpr __host__ __device__ int where() {
  NV_IF_TARGET(NV_IS_DEVICE, (int a[2] = {1, 2}; return a[0];), (return 2;))
}
constexpr __host__ __device__ int dispatched() {
  NV_DISPATCH_TARGET(NV_PROVIDES_SM_90, (return 90;), NV_PROVIDES_SM_70, (return 70;), NV_IS_HOST, (return 1;))
  return -1;
}
constexpr __host__ __device__ long others(const int *x) {
  NV_IF_TARGET(NV_NO_TARGET, (return 0;))
  NV_IF_ELSE_TARGET(NV_IS_EXACTLY_SM_86, (return 1;), (return cuda::std::distance(x, cuda::std::next(x, 5));))
}
constexpr int some[8] = {};
static_assert(where() == (NV_IS_DEVICE ? 1 : 2) && dispatched() == (NV_IS_DEVICE ? 70 : 1) && others(some) == 5, "");
#if defined(__HIP_DEVICE_COMPILE__)
static_assert(NV_IS_DEVICE && !NV_IS_HOST, "");
#else
static_assert(NV_IS_HOST && !NV_IS_DEVICE, "");
#endif
#if !defined(__HIPCC__)
int main() { return !(std::printf("PASS\n") > 0); }
#endif
"""

DEVICE_PROGRAMS = {"names": PROGRAM, "atomics": "#include <hip/hip_runtime.h>\n" + ATOMICS, "complex": COMPLEX}


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_every_name_is_there(target: str, tmp_path: Path, compiles: Callable[..., Path]) -> None:
    unit = tmp_path / "names.hip"
    unit.write_text(
        '#include "rocport_std.h"\nnamespace inside {\n'
        + "".join(f"using cuda::std::{name.decode()};\n" for name in sorted(NAMES - {b"numbers"}))
        + "}\nnamespace outside {\n"
        + "".join(f"using cuda::{name.decode()};\n" for name in sorted(OUTSIDE))
        + "}\n"
    )
    (tmp_path / "rocport_std.h").write_bytes(headers.read("rocport_std.h"))
    compiles(unit, target)


@pytest.mark.parametrize("name", ["atomics", "complex", "targets"])
@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_programs_compile(target: str, name: str, tmp_path: Path, compiles: Callable[..., Path]) -> None:
    unit = tmp_path / "a.hip"
    unit.write_text({**DEVICE_PROGRAMS, "targets": TARGETS}[name])
    (tmp_path / "rocport_std.h").write_bytes(headers.read("rocport_std.h"))
    compiles(unit, target, "-S")


@pytest.mark.parametrize("program", [ATOMICS, TARGETS], ids=["atomics", "targets"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_host_programs(compiler: str, program: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (tmp_path / "a.cpp").write_text(program)
    (tmp_path / "rocport_std.h").write_bytes(headers.read("rocport_std.h"))
    command = [compiler, "-std=c++17", "-O1", "-w", str(tmp_path / "a.cpp"), "-o", str(tmp_path / "a")]
    built = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert built.returncode == 0, built.stderr[-4000:]
    ran = subprocess.run([str(tmp_path / "a")], capture_output=True, text=True, timeout=3600)
    assert ran.stdout.strip() == "PASS", ran.stdout


@pytest.mark.parametrize("program", DEVICE_PROGRAMS.values(), ids=DEVICE_PROGRAMS)
def test_it_computes_what_the_standard_library_does(
    program: str, tmp_path: Path, outputs: Callable[..., list[str]]
) -> None:
    (tmp_path / "a.hip").write_text(program)
    (tmp_path / "rocport_std.h").write_bytes(headers.read("rocport_std.h"))
    assert outputs(tmp_path / "a.hip") == ["PASS", "PASS"]
