// rocport_std.h - what CUDA code uses of libcu++ (cuda::std, cuda::atomic, cuda::ceil_div), without libcu++.
// SPDX-License-Identifier: Apache-2.0
//
// Types and traits are those of the host's standard library, whose constexpr functions HIP lets device code call.
// Mathematics goes to HIP's device functions, atomics to the compiler's with the scope they name. NV_IF_TARGET and the
// other macros of <nv/target> choose as the rest of a port does: as for sm_80. Where libhipcxx is installed and included
// first, this header does nothing.
#ifndef ROCPORT_STD_H
#define ROCPORT_STD_H

#if !defined(_LIBCUDACXX_STD_VER) && !defined(_CCCL_STD_VER)

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#if defined(__HIPCC__)
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#define ROCPORT_STD __host__ __device__ inline __attribute__((always_inline))
#else
#define ROCPORT_STD inline
#endif

// ---- <nv/target> -----------------------------------------------------------------------------------------------------

#if !defined(NV_IF_TARGET)
#if defined(__HIP_DEVICE_COMPILE__)
#define NV_IS_DEVICE 1
#define NV_IS_HOST 0
#else
#define NV_IS_DEVICE 0
#define NV_IS_HOST 1
#endif
#define NV_ANY_TARGET 1
#define NV_NO_TARGET 0
#define NV_PROVIDES_SM_35 NV_IS_DEVICE
#define NV_PROVIDES_SM_37 NV_IS_DEVICE
#define NV_PROVIDES_SM_50 NV_IS_DEVICE
#define NV_PROVIDES_SM_52 NV_IS_DEVICE
#define NV_PROVIDES_SM_53 NV_IS_DEVICE
#define NV_PROVIDES_SM_60 NV_IS_DEVICE
#define NV_PROVIDES_SM_61 NV_IS_DEVICE
#define NV_PROVIDES_SM_62 NV_IS_DEVICE
#define NV_PROVIDES_SM_70 NV_IS_DEVICE
#define NV_PROVIDES_SM_72 NV_IS_DEVICE
#define NV_PROVIDES_SM_75 NV_IS_DEVICE
#define NV_PROVIDES_SM_80 NV_IS_DEVICE
#define NV_PROVIDES_SM_86 0
#define NV_PROVIDES_SM_87 0
#define NV_PROVIDES_SM_88 0
#define NV_PROVIDES_SM_89 0
#define NV_PROVIDES_SM_90 0
#define NV_PROVIDES_SM_100 0
#define NV_PROVIDES_SM_101 0
#define NV_PROVIDES_SM_103 0
#define NV_PROVIDES_SM_110 0
#define NV_PROVIDES_SM_120 0
#define NV_PROVIDES_SM_121 0
#define NV_IS_EXACTLY_SM_35 0
#define NV_IS_EXACTLY_SM_37 0
#define NV_IS_EXACTLY_SM_50 0
#define NV_IS_EXACTLY_SM_52 0
#define NV_IS_EXACTLY_SM_53 0
#define NV_IS_EXACTLY_SM_60 0
#define NV_IS_EXACTLY_SM_61 0
#define NV_IS_EXACTLY_SM_62 0
#define NV_IS_EXACTLY_SM_70 0
#define NV_IS_EXACTLY_SM_72 0
#define NV_IS_EXACTLY_SM_75 0
#define NV_IS_EXACTLY_SM_86 0
#define NV_IS_EXACTLY_SM_87 0
#define NV_IS_EXACTLY_SM_88 0
#define NV_IS_EXACTLY_SM_89 0
#define NV_IS_EXACTLY_SM_90 0
#define NV_IS_EXACTLY_SM_100 0
#define NV_IS_EXACTLY_SM_101 0
#define NV_IS_EXACTLY_SM_103 0
#define NV_IS_EXACTLY_SM_110 0
#define NV_IS_EXACTLY_SM_120 0
#define NV_IS_EXACTLY_SM_121 0
#define NV_IS_EXACTLY_SM_80 NV_IS_DEVICE
#define NV_HAS_FEATURE_SM_90a 0
#define NV_HAS_FEATURE_SM_100a 0
#define NV_HAS_FEATURE_SM_101a 0
#define NV_HAS_FEATURE_SM_103a 0
#define NV_HAS_FEATURE_SM_120a 0

// Code in parentheses, as a block.
#define ROCPORT_NV_BLOCK(...) {__VA_ARGS__}
#define ROCPORT_NV_IF_1(yes, no) ROCPORT_NV_BLOCK yes
#define ROCPORT_NV_IF_0(yes, no) ROCPORT_NV_BLOCK no
#define ROCPORT_NV_JOINED(a, b) a##b
#define ROCPORT_NV_CHOICE(answer) ROCPORT_NV_JOINED(ROCPORT_NV_IF_, answer)
#define ROCPORT_NV_IF(asked, yes, no) ROCPORT_NV_CHOICE(asked)(yes, no)
#define ROCPORT_NV_PADDED(asked, yes, no, ...) ROCPORT_NV_IF(asked, yes, no)
#define ROCPORT_NV_FIRST(a, A, b, B, c, C, d, D, e, E, f, F, g, G, h, H, ...)                                      \
  ROCPORT_NV_IF(a, A, (ROCPORT_NV_IF(b, B, (ROCPORT_NV_IF(c, C, (ROCPORT_NV_IF(d, D, (ROCPORT_NV_IF(               \
    e, E, (ROCPORT_NV_IF(f, F, (ROCPORT_NV_IF(g, G, (ROCPORT_NV_IF(h, H, ())))))))))))))))
#define NV_IF_TARGET(asked, ...) ROCPORT_NV_PADDED(asked, __VA_ARGS__, (), ())
#define NV_IF_ELSE_TARGET(asked, yes, no) ROCPORT_NV_IF(asked, yes, no)
// At most eight questions.
#define NV_DISPATCH_TARGET(...)                                                                                    \
  ROCPORT_NV_FIRST(__VA_ARGS__, NV_NO_TARGET, (), NV_NO_TARGET, (), NV_NO_TARGET, (), NV_NO_TARGET, (),            \
                   NV_NO_TARGET, (), NV_NO_TARGET, (), NV_NO_TARGET, (), NV_NO_TARGET, ())
#endif

namespace cuda {
namespace std {

// ---- Types -----------------------------------------------------------------------------------------------------------

using ::std::int16_t;
using ::std::int32_t;
using ::std::int64_t;
using ::std::int8_t;
using ::std::intptr_t;
using ::std::nullptr_t;
using ::std::ptrdiff_t;
using ::std::size_t;
using ::std::uint16_t;
using ::std::uint32_t;
using ::std::uint64_t;
using ::std::uint8_t;
using ::std::uintptr_t;

// ---- Traits ----------------------------------------------------------------------------------------------------------

using ::std::add_const;
using ::std::add_const_t;
using ::std::add_lvalue_reference_t;
using ::std::add_pointer;
using ::std::add_pointer_t;
using ::std::alignment_of;
using ::std::common_type;
using ::std::common_type_t;
using ::std::conditional;
using ::std::conditional_t;
using ::std::decay;
using ::std::decay_t;
using ::std::enable_if;
using ::std::enable_if_t;
using ::std::extent;
using ::std::false_type;
using ::std::integral_constant;
using ::std::is_arithmetic;
using ::std::is_array;
using ::std::is_assignable;
using ::std::is_base_of;
using ::std::is_class;
using ::std::is_const;
using ::std::is_constructible;
using ::std::is_convertible;
using ::std::is_copy_constructible;
using ::std::is_default_constructible;
using ::std::is_destructible;
using ::std::is_empty;
using ::std::is_enum;
using ::std::is_final;
using ::std::is_floating_point;
using ::std::is_function;
using ::std::is_integral;
using ::std::is_lvalue_reference;
using ::std::is_nothrow_move_constructible;
using ::std::is_null_pointer;
using ::std::is_object;
using ::std::is_pointer;
using ::std::is_reference;
using ::std::is_rvalue_reference;
using ::std::is_same;
using ::std::is_scalar;
using ::std::is_signed;
using ::std::is_standard_layout;
using ::std::is_trivial;
using ::std::is_trivially_copyable;
using ::std::is_trivially_destructible;
using ::std::is_unsigned;
using ::std::is_void;
using ::std::make_signed;
using ::std::make_signed_t;
using ::std::make_unsigned;
using ::std::make_unsigned_t;
using ::std::rank;
using ::std::remove_const;
using ::std::remove_const_t;
using ::std::remove_cv;
using ::std::remove_cv_t;
using ::std::remove_extent;
using ::std::remove_extent_t;
using ::std::remove_pointer;
using ::std::remove_pointer_t;
using ::std::remove_reference;
using ::std::remove_reference_t;
using ::std::true_type;
using ::std::underlying_type;
using ::std::underlying_type_t;
#if __cplusplus >= 201703L
using ::std::bool_constant;
using ::std::conjunction;
using ::std::conjunction_v;
using ::std::disjunction;
using ::std::disjunction_v;
using ::std::invoke_result_t;
using ::std::is_arithmetic_v;
using ::std::is_array_v;
using ::std::is_base_of_v;
using ::std::is_class_v;
using ::std::is_const_v;
using ::std::is_constructible_v;
using ::std::is_convertible_v;
using ::std::is_default_constructible_v;
using ::std::is_empty_v;
using ::std::is_enum_v;
using ::std::is_floating_point_v;
using ::std::is_integral_v;
using ::std::is_invocable_v;
using ::std::is_lvalue_reference_v;
using ::std::is_pointer_v;
using ::std::is_reference_v;
using ::std::is_rvalue_reference_v;
using ::std::is_same_v;
using ::std::is_signed_v;
using ::std::is_trivially_copyable_v;
using ::std::is_unsigned_v;
using ::std::is_void_v;
using ::std::negation;
using ::std::negation_v;
using ::std::void_t;
#endif

// ---- Values ----------------------------------------------------------------------------------------------------------

using ::std::array;
using ::std::forward;
using ::std::forward_as_tuple;
using ::std::get;
using ::std::ignore;
using ::std::index_sequence;
using ::std::index_sequence_for;
using ::std::initializer_list;
using ::std::integer_sequence;
using ::std::make_index_sequence;
using ::std::make_pair;
using ::std::make_tuple;
using ::std::max;
using ::std::min;
using ::std::move;
using ::std::numeric_limits;
using ::std::pair;
using ::std::tie;
using ::std::tuple;
using ::std::tuple_cat;
using ::std::tuple_element;
using ::std::tuple_element_t;
using ::std::tuple_size;
#if __cplusplus >= 201703L
using ::std::apply;
using ::std::as_const;
using ::std::make_from_tuple;
using ::std::tuple_size_v;
#endif
#if defined(__HIPCC__)
// The library's are the host's alone: declval always, the others before C++20. In host code they are chosen before these.
template <class T>
__host__ __device__ ::std::add_rvalue_reference_t<T> declval() noexcept;
#else
using ::std::declval;
#endif
#if defined(__HIPCC__) && __cplusplus < 202002L
template <class T>
ROCPORT_STD void swap(T& one, T& other) {
  T kept(::std::move(one));
  one = ::std::move(other);
  other = ::std::move(kept);
}
template <class T, ::std::size_t N>
ROCPORT_STD void swap(T (&one)[N], T (&other)[N]) {
  for (::std::size_t i = 0; i < N; ++i) swap(one[i], other[i]);
}
template <class T, class U = T>
ROCPORT_STD T exchange(T& place, U&& value) {
  T before(::std::move(place));
  place = ::std::forward<U>(value);
  return before;
}
#else
using ::std::exchange;
using ::std::swap;
#endif
using ::std::bit_and;
using ::std::bit_not;
using ::std::bit_or;
using ::std::bit_xor;
using ::std::divides;
using ::std::equal_to;
using ::std::greater;
using ::std::greater_equal;
using ::std::less;
using ::std::less_equal;
using ::std::logical_and;
using ::std::logical_not;
using ::std::logical_or;
using ::std::minus;
using ::std::modulus;
using ::std::multiplies;
using ::std::negate;
using ::std::not_equal_to;
using ::std::plus;

/// C++20's: its argument as it came.
struct identity {
  using is_transparent = void;
  template <class T>
  ROCPORT_STD constexpr T&& operator()(T&& value) const noexcept {
    return static_cast<T&&>(value);
  }
};

template <class T>
using remove_cvref_t = ::std::remove_cv_t<::std::remove_reference_t<T>>;
template <class T>
struct remove_cvref {
  using type = remove_cvref_t<T>;
};

// ---- Bits ------------------------------------------------------------------------------------------------------------

template <class To, class From>
ROCPORT_STD constexpr To bit_cast(const From& x) {
  return __builtin_bit_cast(To, x);
}
template <class T>
ROCPORT_STD constexpr int popcount(T x) {
  return __builtin_popcountll(x);
}
template <class T>
ROCPORT_STD constexpr int countr_zero(T x) {
  return x == 0 ? numeric_limits<T>::digits : __builtin_ctzll(x);
}
template <class T>
ROCPORT_STD constexpr int countl_zero(T x) {
  return x == 0 ? numeric_limits<T>::digits : __builtin_clzll(x) - (64 - numeric_limits<T>::digits);
}
template <class T>
ROCPORT_STD constexpr int countr_one(T x) {
  return countr_zero(static_cast<T>(~x));
}
template <class T>
ROCPORT_STD constexpr int countl_one(T x) {
  return countl_zero(static_cast<T>(~x));
}
template <class T>
ROCPORT_STD constexpr int bit_width(T x) {
  return numeric_limits<T>::digits - countl_zero(x);
}
template <class T>
ROCPORT_STD constexpr bool has_single_bit(T x) {
  return x != 0 && (x & (x - 1)) == 0;
}
template <class T>
ROCPORT_STD constexpr T bit_floor(T x) {
  return x == 0 ? T(0) : static_cast<T>(T(1) << (bit_width(x) - 1));
}
template <class T>
ROCPORT_STD constexpr T bit_ceil(T x) {
  return x <= 1 ? T(1) : static_cast<T>(T(1) << bit_width(static_cast<T>(x - 1)));
}
template <class T>
ROCPORT_STD constexpr T rotl(T x, int n) {
  constexpr unsigned bits = numeric_limits<T>::digits;
  const unsigned left = static_cast<unsigned>(n) % bits;
  return static_cast<T>(left == 0 ? x : (x << left) | (x >> (bits - left)));
}
template <class T>
ROCPORT_STD constexpr T rotr(T x, int n) {
  return rotl(x, -n);
}
enum class endian { little = __ORDER_LITTLE_ENDIAN__, big = __ORDER_BIG_ENDIAN__, native = __BYTE_ORDER__ };

// ---- Numbers and algorithms ------------------------------------------------------------------------------------------

namespace numbers {
#define ROCPORT_STD_NUMBER(name, digits)                                                                      \
  template <class T, class = ::std::enable_if_t<::std::is_floating_point<T>::value>>                          \
  constexpr T name##_v = static_cast<T>(digits);                                                              \
  constexpr double name = name##_v<double>;
ROCPORT_STD_NUMBER(e, 2.718281828459045235360287471352662498L)
ROCPORT_STD_NUMBER(log2e, 1.442695040888963407359924681001892137L)
ROCPORT_STD_NUMBER(log10e, 0.434294481903251827651128918916605082L)
ROCPORT_STD_NUMBER(pi, 3.141592653589793238462643383279502884L)
ROCPORT_STD_NUMBER(inv_pi, 0.318309886183790671537767526745028724L)
ROCPORT_STD_NUMBER(inv_sqrtpi, 0.564189583547756286948079451560772586L)
ROCPORT_STD_NUMBER(ln2, 0.693147180559945309417232121458176568L)
ROCPORT_STD_NUMBER(ln10, 2.302585092994045684017991454684364208L)
ROCPORT_STD_NUMBER(sqrt2, 1.414213562373095048801688724209698079L)
ROCPORT_STD_NUMBER(sqrt3, 1.732050807568877293527446341505872367L)
ROCPORT_STD_NUMBER(inv_sqrt3, 0.577350269189625764509148780501957456L)
ROCPORT_STD_NUMBER(egamma, 0.577215664901532860606512090082402431L)
ROCPORT_STD_NUMBER(phi, 1.618033988749894848204586834365638118L)
#undef ROCPORT_STD_NUMBER
}  // namespace numbers

template <class T>
ROCPORT_STD constexpr const T& clamp(const T& x, const T& low, const T& high) {
  return x < low ? low : high < x ? high : x;
}
template <class In, class T>
ROCPORT_STD constexpr T accumulate(In first, In last, T sum) {
  for (; first != last; ++first) sum = sum + *first;
  return sum;
}
template <class In, class T, class F>
ROCPORT_STD constexpr T accumulate(In first, In last, T sum, F f) {
  for (; first != last; ++first) sum = f(sum, *first);
  return sum;
}
template <class In, class Out>
ROCPORT_STD constexpr Out copy(In first, In last, Out to) {
  for (; first != last; ++first, ++to) *to = *first;
  return to;
}
template <class In, class Out, class F>
ROCPORT_STD constexpr Out copy_if(In first, In last, Out to, F f) {
  for (; first != last; ++first)
    if (f(*first)) *to++ = *first;
  return to;
}
template <class In, class T>
ROCPORT_STD constexpr void fill(In first, In last, const T& value) {
  for (; first != last; ++first) *first = value;
}
template <class In, class Out, class F>
ROCPORT_STD constexpr Out transform(In first, In last, Out to, F f) {
  for (; first != last; ++first, ++to) *to = f(*first);
  return to;
}
template <class In, class In2, class Out, class F>
ROCPORT_STD constexpr Out transform(In first, In last, In2 second, Out to, F f) {
  for (; first != last; ++first, ++second, ++to) *to = f(*first, *second);
  return to;
}

// ---- Iterators -------------------------------------------------------------------------------------------------------

using ::std::advance;
using ::std::begin;
using ::std::bidirectional_iterator_tag;
using ::std::distance;
using ::std::end;
using ::std::forward_iterator_tag;
using ::std::input_iterator_tag;
using ::std::iterator_traits;
using ::std::make_reverse_iterator;
using ::std::next;
using ::std::output_iterator_tag;
using ::std::prev;
using ::std::random_access_iterator_tag;
using ::std::reverse_iterator;

// ---- Complex numbers -------------------------------------------------------------------------------------------------

namespace detail {

// Zero by default, as CUDA's, and yet what HIP's compiler lets lie in __shared__ memory (uninitialised there, as in
// CUDA): it takes the constructor of a union for an empty one.
template <class T>
union complex_parts {
  T of[2] = {};
  ROCPORT_STD constexpr complex_parts() {}
  ROCPORT_STD constexpr complex_parts(const T& real, const T& imag) : of{real, imag} {}
};

}  // namespace detail

template <class T>
class alignas(2 * sizeof(T)) complex {
 public:
  using value_type = T;
  ROCPORT_STD constexpr complex() {}
  ROCPORT_STD constexpr complex(const T& real, const T& imag = T(0.0f)) : parts_(real, imag) {}
  template <class U, ::std::enable_if_t<sizeof(U) <= sizeof(T), int> = 0>
  ROCPORT_STD constexpr complex(const complex<U>& z) : parts_(static_cast<T>(z.real()), static_cast<T>(z.imag())) {}
  template <class U, ::std::enable_if_t<(sizeof(U) > sizeof(T)), int> = 0>
  ROCPORT_STD explicit constexpr complex(const complex<U>& z)
      : parts_(static_cast<T>(z.real()), static_cast<T>(z.imag())) {}
  ROCPORT_STD constexpr complex(const ::std::complex<T>& z) : parts_(z.real(), z.imag()) {}
  ROCPORT_STD constexpr operator ::std::complex<T>() const { return ::std::complex<T>(real(), imag()); }

  ROCPORT_STD constexpr T real() const { return parts_.of[0]; }
  ROCPORT_STD constexpr T imag() const { return parts_.of[1]; }
  ROCPORT_STD constexpr void real(T value) { parts_.of[0] = value; }
  ROCPORT_STD constexpr void imag(T value) { parts_.of[1] = value; }

  template <class U>
  ROCPORT_STD complex& operator=(const complex<U>& z) {
    return *this = complex(z);
  }
  template <class U>
  ROCPORT_STD complex& operator+=(const complex<U>& z) {
    return *this = *this + complex(z);
  }
  template <class U>
  ROCPORT_STD complex& operator-=(const complex<U>& z) {
    return *this = *this - complex(z);
  }
  template <class U>
  ROCPORT_STD complex& operator*=(const complex<U>& z) {
    return *this = *this * complex(z);
  }
  template <class U>
  ROCPORT_STD complex& operator/=(const complex<U>& z) {
    return *this = *this / complex(z);
  }
  ROCPORT_STD complex& operator+=(const T& x) { return *this = *this + x; }
  ROCPORT_STD complex& operator-=(const T& x) { return *this = *this - x; }
  ROCPORT_STD complex& operator*=(const T& x) { return *this = *this * x; }
  ROCPORT_STD complex& operator/=(const T& x) { return *this = *this / x; }

  friend ROCPORT_STD constexpr complex operator+(const complex& z) { return z; }
  friend ROCPORT_STD constexpr complex operator-(const complex& z) { return complex(-z.real(), -z.imag()); }
  friend ROCPORT_STD constexpr complex operator+(const complex& a, const complex& b) {
    return complex(a.real() + b.real(), a.imag() + b.imag());
  }
  friend ROCPORT_STD constexpr complex operator-(const complex& a, const complex& b) {
    return complex(a.real() - b.real(), a.imag() - b.imag());
  }
  friend ROCPORT_STD complex operator*(const complex& a, const complex& b) {
    return ::std::complex<T>(a) * ::std::complex<T>(b);
  }
  friend ROCPORT_STD complex operator/(const complex& a, const complex& b) {
    return ::std::complex<T>(a) / ::std::complex<T>(b);
  }
  friend ROCPORT_STD constexpr complex operator+(const complex& z, const T& x) { return {z.real() + x, z.imag()}; }
  friend ROCPORT_STD constexpr complex operator-(const complex& z, const T& x) { return {z.real() - x, z.imag()}; }
  friend ROCPORT_STD constexpr complex operator*(const complex& z, const T& x) { return {z.real() * x, z.imag() * x}; }
  friend ROCPORT_STD constexpr complex operator/(const complex& z, const T& x) { return {z.real() / x, z.imag() / x}; }
  friend ROCPORT_STD constexpr complex operator+(const T& x, const complex& z) { return {x + z.real(), z.imag()}; }
  friend ROCPORT_STD constexpr complex operator-(const T& x, const complex& z) { return {x - z.real(), -z.imag()}; }
  friend ROCPORT_STD constexpr complex operator*(const T& x, const complex& z) { return {x * z.real(), x * z.imag()}; }
  friend ROCPORT_STD complex operator/(const T& x, const complex& z) { return complex(x) / z; }
  friend ROCPORT_STD constexpr bool operator==(const complex& a, const complex& b) {
    return a.real() == b.real() && a.imag() == b.imag();
  }
  friend ROCPORT_STD constexpr bool operator!=(const complex& a, const complex& b) { return !(a == b); }

 private:
  detail::complex_parts<T> parts_;
};

template <class T>
ROCPORT_STD constexpr T real(const complex<T>& z) {
  return z.real();
}
template <class T>
ROCPORT_STD constexpr T imag(const complex<T>& z) {
  return z.imag();
}
template <class T>
ROCPORT_STD constexpr complex<T> conj(const complex<T>& z) {
  return complex<T>(z.real(), -z.imag());
}
template <class T>
ROCPORT_STD constexpr T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
ROCPORT_STD T arg(const complex<T>& z) {
  return ::atan2(z.imag(), z.real());
}
template <class T>
ROCPORT_STD complex<T> polar(const T& length, const T& angle = T()) {
  return complex<T>(length * ::cos(angle), length * ::sin(angle));
}
template <class T>
ROCPORT_STD complex<T> pow(const complex<T>& z, const complex<T>& exponent) {
  return ::std::pow(::std::complex<T>(z), ::std::complex<T>(exponent));
}
template <class T>
ROCPORT_STD complex<T> pow(const complex<T>& z, const T& exponent) {
  return ::std::pow(::std::complex<T>(z), exponent);
}
template <class T>
ROCPORT_STD complex<T> pow(const T& x, const complex<T>& exponent) {
  return ::std::pow(x, ::std::complex<T>(exponent));
}

// ---- Mathematics -----------------------------------------------------------------------------------------------------

namespace detail {

// What is not a float is computed as libcu++ does: integers as doubles, halves as floats.
template <class T>
using floating = ::std::conditional_t<::std::is_floating_point<T>::value, T,
                                      ::std::conditional_t<::std::is_integral<T>::value, double, float>>;
template <class T>
using result = ::std::conditional_t<::std::is_integral<T>::value, double, T>;
template <class T>
struct is_complex : ::std::false_type {};
template <class T>
struct is_complex<complex<T>> : ::std::true_type {};

}  // namespace detail

#define ROCPORT_STD_UNARY(name)                                                                       \
  template <class T, ::std::enable_if_t<!detail::is_complex<T>::value, int> = 0>                      \
  ROCPORT_STD detail::result<T> name(T x) {                                                           \
    return static_cast<detail::result<T>>(::name(static_cast<detail::floating<T>>(x)));               \
  }                                                                                                   \
  template <class T>                                                                                  \
  ROCPORT_STD complex<T> name(const complex<T>& x) {                                                  \
    return ::std::name(::std::complex<T>(x));                                                         \
  }
#define ROCPORT_STD_REAL(name)                                                                        \
  template <class T>                                                                                  \
  ROCPORT_STD detail::result<T> name(T x) {                                                           \
    return static_cast<detail::result<T>>(::name(static_cast<detail::floating<T>>(x)));               \
  }
#define ROCPORT_STD_BINARY(name)                                                                      \
  template <class T, class U>                                                                         \
  ROCPORT_STD detail::result<::std::common_type_t<T, U>> name(T x, U y) {                             \
    using both = ::std::common_type_t<T, U>;                                                          \
    using wide = detail::floating<both>;                                                              \
    return static_cast<detail::result<both>>(::name(static_cast<wide>(x), static_cast<wide>(y)));     \
  }
ROCPORT_STD_UNARY(acos)
ROCPORT_STD_UNARY(acosh)
ROCPORT_STD_UNARY(asin)
ROCPORT_STD_UNARY(asinh)
ROCPORT_STD_UNARY(atan)
ROCPORT_STD_UNARY(atanh)
ROCPORT_STD_UNARY(cos)
ROCPORT_STD_UNARY(cosh)
ROCPORT_STD_UNARY(exp)
ROCPORT_STD_UNARY(log)
ROCPORT_STD_UNARY(log10)
ROCPORT_STD_UNARY(sin)
ROCPORT_STD_UNARY(sinh)
ROCPORT_STD_UNARY(sqrt)
ROCPORT_STD_UNARY(tan)
ROCPORT_STD_UNARY(tanh)
ROCPORT_STD_REAL(cbrt)
ROCPORT_STD_REAL(ceil)
ROCPORT_STD_REAL(erf)
ROCPORT_STD_REAL(erfc)
ROCPORT_STD_REAL(exp2)
ROCPORT_STD_REAL(expm1)
ROCPORT_STD_REAL(fabs)
ROCPORT_STD_REAL(floor)
ROCPORT_STD_REAL(log1p)
ROCPORT_STD_REAL(log2)
ROCPORT_STD_REAL(rint)
ROCPORT_STD_REAL(round)
ROCPORT_STD_REAL(trunc)
ROCPORT_STD_BINARY(atan2)
ROCPORT_STD_BINARY(copysign)
ROCPORT_STD_BINARY(fmax)
ROCPORT_STD_BINARY(fmin)
ROCPORT_STD_BINARY(fmod)
ROCPORT_STD_BINARY(hypot)
ROCPORT_STD_BINARY(pow)
#undef ROCPORT_STD_UNARY
#undef ROCPORT_STD_REAL
#undef ROCPORT_STD_BINARY

template <class T, ::std::enable_if_t<!detail::is_complex<T>::value, int> = 0>
ROCPORT_STD T abs(T x) {
  return x < T(0) ? static_cast<T>(-x) : x == T(0) ? static_cast<T>(T(0)) : x;
}
template <class T>
ROCPORT_STD T abs(const complex<T>& x) {
  return ::hypot(x.real(), x.imag());
}
template <class T>
ROCPORT_STD bool isnan(T x) {
  return __builtin_isnan(static_cast<detail::floating<T>>(x));
}
template <class T>
ROCPORT_STD bool isinf(T x) {
  return __builtin_isinf(static_cast<detail::floating<T>>(x));
}
template <class T>
ROCPORT_STD bool isfinite(T x) {
  return __builtin_isfinite(static_cast<detail::floating<T>>(x));
}
template <class T>
ROCPORT_STD bool signbit(T x) {
  return __builtin_signbit(static_cast<detail::floating<T>>(x));
}

// ---- Atomics ---------------------------------------------------------------------------------------------------------

enum memory_order {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_consume = __ATOMIC_CONSUME,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
};

}  // namespace std

using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace detail {

#if defined(__HIPCC__)
#define ROCPORT_STD_ATOMIC(name, ...) __hip_atomic_##name(__VA_ARGS__, detail::hip_scope<Scope>::value)
template <thread_scope Scope>
struct hip_scope
    : ::std::integral_constant<int, Scope == thread_scope_block    ? __HIP_MEMORY_SCOPE_WORKGROUP
                                    : Scope == thread_scope_device ? __HIP_MEMORY_SCOPE_AGENT
                                    : Scope == thread_scope_thread ? __HIP_MEMORY_SCOPE_SINGLETHREAD
                                                                   : __HIP_MEMORY_SCOPE_SYSTEM> {};
#else
// The host's operations know one scope, that of all threads.
#define ROCPORT_STD_ATOMIC(name, ...) ROCPORT_STD_HOST_##name(__VA_ARGS__)
#define ROCPORT_STD_HOST_load __atomic_load_n
#define ROCPORT_STD_HOST_store __atomic_store_n
#define ROCPORT_STD_HOST_exchange __atomic_exchange_n
#define ROCPORT_STD_HOST_fetch_add __atomic_fetch_add
#define ROCPORT_STD_HOST_fetch_and __atomic_fetch_and
#define ROCPORT_STD_HOST_fetch_or __atomic_fetch_or
#define ROCPORT_STD_HOST_fetch_xor __atomic_fetch_xor
#define ROCPORT_STD_HOST_compare_exchange_strong(place, expected, desired, success, failure) \
  __atomic_compare_exchange_n(place, expected, desired, false, success, failure)
#endif

// Lets others run: who calls it polls.
ROCPORT_STD void pause() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_s_sleep(1);
#endif
}

// A type's bits as an integer, which may stand for an object of any type.
template <::std::size_t Size>
struct bits_of;
template <>
struct bits_of<1> {
  typedef unsigned char __attribute__((may_alias)) type;
};
template <>
struct bits_of<2> {
  typedef unsigned short __attribute__((may_alias)) type;
};
template <>
struct bits_of<4> {
  typedef unsigned int __attribute__((may_alias)) type;
};
template <>
struct bits_of<8> {
  typedef unsigned long long __attribute__((may_alias)) type;
};
template <class To, class From>
ROCPORT_STD To with_bits_of(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bits are copied between types of one size");
  To to;
  __builtin_memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof(To));
  return to;
}

// What an atomic operation that fails to exchange may order: as the one that exchanges, with no store to release.
ROCPORT_STD constexpr int on_failure(memory_order order) {
  return order == std::memory_order_acq_rel   ? __ATOMIC_ACQUIRE
         : order == std::memory_order_release ? __ATOMIC_RELAXED
                                              : static_cast<int>(order);
}

// The operations of atomic and atomic_ref. Owner::place() is where the object of type T lies.
template <class Owner, class T, thread_scope Scope>
class atomic_operations {
  using bits = typename bits_of<sizeof(T)>::type;
  static constexpr bool is_integer = ::std::is_integral<T>::value && !::std::is_same<T, bool>::value;
#if defined(__HIPCC__)
  static constexpr bool adds = is_integer || ::std::is_same<T, float>::value || ::std::is_same<T, double>::value;
#else
  static constexpr bool adds = is_integer;
#endif
  template <bool Yes>
  using when = ::std::integral_constant<bool, Yes>;

 public:
  using value_type = T;
  using difference_type = ::std::conditional_t<::std::is_pointer<T>::value, ::std::ptrdiff_t, T>;
  static constexpr bool is_always_lock_free = true;

  ROCPORT_STD bool is_lock_free() const { return true; }
  ROCPORT_STD T load(memory_order order = memory_order_seq_cst) const {
    return with_bits_of<T>(static_cast<plain>(ROCPORT_STD_ATOMIC(load, raw(), static_cast<int>(order))));
  }
  ROCPORT_STD void store(T value, memory_order order = memory_order_seq_cst) const {
    ROCPORT_STD_ATOMIC(store, raw(), with_bits_of<plain>(value), static_cast<int>(order));
  }
  ROCPORT_STD T exchange(T value, memory_order order = memory_order_seq_cst) const {
    return with_bits_of<T>(
        static_cast<plain>(ROCPORT_STD_ATOMIC(exchange, raw(), with_bits_of<plain>(value), static_cast<int>(order))));
  }
  ROCPORT_STD bool compare_exchange_strong(T& expected, T desired, memory_order success, memory_order failure) const {
    return compare_exchange(expected, desired, static_cast<int>(success), static_cast<int>(failure));
  }
  ROCPORT_STD bool compare_exchange_strong(T& expected, T desired, memory_order order = memory_order_seq_cst) const {
    return compare_exchange(expected, desired, static_cast<int>(order), on_failure(order));
  }
  ROCPORT_STD bool compare_exchange_weak(T& expected, T desired, memory_order success, memory_order failure) const {
    return compare_exchange_strong(expected, desired, success, failure);
  }
  ROCPORT_STD bool compare_exchange_weak(T& expected, T desired, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, desired, order);
  }
  ROCPORT_STD T fetch_add(difference_type value, memory_order order = memory_order_seq_cst) const {
    return add(value, order, when<adds>());
  }
  ROCPORT_STD T fetch_sub(difference_type value, memory_order order = memory_order_seq_cst) const {
    return subtract(value, order, when<is_integer>());
  }
  ROCPORT_STD T fetch_and(T value, memory_order order = memory_order_seq_cst) const {
    return static_cast<T>(ROCPORT_STD_ATOMIC(fetch_and, place(), value, static_cast<int>(order)));
  }
  ROCPORT_STD T fetch_or(T value, memory_order order = memory_order_seq_cst) const {
    return static_cast<T>(ROCPORT_STD_ATOMIC(fetch_or, place(), value, static_cast<int>(order)));
  }
  ROCPORT_STD T fetch_xor(T value, memory_order order = memory_order_seq_cst) const {
    return static_cast<T>(ROCPORT_STD_ATOMIC(fetch_xor, place(), value, static_cast<int>(order)));
  }
  ROCPORT_STD T fetch_min(T value, memory_order order = memory_order_seq_cst) const {
    return least(value, order, when<is_integer>());
  }
  ROCPORT_STD T fetch_max(T value, memory_order order = memory_order_seq_cst) const {
    return greatest(value, order, when<is_integer>());
  }
  // Polls until the value is another one. On AMD the thread that stores it must not be a lane of the same wavefront.
  ROCPORT_STD void wait(T old, memory_order order = memory_order_seq_cst) const {
    while (with_bits_of<plain>(load(order)) == with_bits_of<plain>(old)) pause();
  }
  ROCPORT_STD void notify_one() const {}
  ROCPORT_STD void notify_all() const {}
  ROCPORT_STD operator T() const { return load(); }
  ROCPORT_STD T operator++() const { return fetch_add(1) + 1; }
  ROCPORT_STD T operator++(int) const { return fetch_add(1); }
  ROCPORT_STD T operator--() const { return fetch_sub(1) - 1; }
  ROCPORT_STD T operator--(int) const { return fetch_sub(1); }
  ROCPORT_STD T operator+=(difference_type value) const { return fetch_add(value) + value; }
  ROCPORT_STD T operator-=(difference_type value) const { return fetch_sub(value) - value; }
  ROCPORT_STD T operator&=(T value) const { return fetch_and(value) & value; }
  ROCPORT_STD T operator|=(T value) const { return fetch_or(value) | value; }
  ROCPORT_STD T operator^=(T value) const { return fetch_xor(value) ^ value; }

 private:
  using plain = ::std::conditional_t<
      sizeof(T) == 1, unsigned char,
      ::std::conditional_t<sizeof(T) == 2, unsigned short,
                           ::std::conditional_t<sizeof(T) == 4, unsigned int, unsigned long long>>>;

  ROCPORT_STD T* place() const { return static_cast<const Owner*>(this)->place(); }
  ROCPORT_STD bits* raw() const { return reinterpret_cast<bits*>(place()); }
  ROCPORT_STD bool compare_exchange(T& expected, T desired, int success, int failure) const {
    plain found = with_bits_of<plain>(expected);
    const bool done = ROCPORT_STD_ATOMIC(compare_exchange_strong, reinterpret_cast<bits*>(place()), &found,
                                         with_bits_of<plain>(desired), success, failure);
    if (!done) expected = with_bits_of<T>(found);
    return done;
  }
  // Types without an operation of their own go through compare-and-swap of their bits.
  template <class Change>
  ROCPORT_STD T changed(Change change, memory_order order) const {
    T old = load(memory_order_relaxed);
    while (!compare_exchange_strong(old, change(old), order)) {
    }
    return old;
  }
  ROCPORT_STD T add(T value, memory_order order, when<true>) const {
    return static_cast<T>(ROCPORT_STD_ATOMIC(fetch_add, place(), value, static_cast<int>(order)));
  }
  ROCPORT_STD T add(difference_type value, memory_order order, when<false>) const {
    return changed([value](T old) { return static_cast<T>(old + value); }, order);
  }
  ROCPORT_STD T subtract(T value, memory_order order, when<true>) const {
    return add(static_cast<T>(plain(0) - static_cast<plain>(value)), order, when<true>());
  }
  ROCPORT_STD T subtract(difference_type value, memory_order order, when<false>) const {
    return add(-value, order, when<adds>());
  }
  ROCPORT_STD T least(T value, memory_order order, when<false>) const {
    return changed([value](T old) { return value < old ? value : old; }, order);
  }
  ROCPORT_STD T greatest(T value, memory_order order, when<false>) const {
    return changed([value](T old) { return old < value ? value : old; }, order);
  }
#if defined(__HIPCC__)
  ROCPORT_STD T least(T value, memory_order order, when<true>) const {
    return static_cast<T>(ROCPORT_STD_ATOMIC(fetch_min, place(), value, static_cast<int>(order)));
  }
  ROCPORT_STD T greatest(T value, memory_order order, when<true>) const {
    return static_cast<T>(ROCPORT_STD_ATOMIC(fetch_max, place(), value, static_cast<int>(order)));
  }
#else
  ROCPORT_STD T least(T value, memory_order order, when<true>) const { return least(value, order, when<false>()); }
  ROCPORT_STD T greatest(T value, memory_order order, when<true>) const {
    return greatest(value, order, when<false>());
  }
#endif
};
#undef ROCPORT_STD_ATOMIC

}  // namespace detail

// An object that is read and changed in whole, by the threads of a scope.
template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref : public detail::atomic_operations<atomic_ref<T, Scope>, T, Scope> {
 public:
  ROCPORT_STD explicit constexpr atomic_ref(T& object) : place_(&object) {}
  ROCPORT_STD T operator=(T value) const {
    this->store(value);
    return value;
  }

 private:
  friend class detail::atomic_operations<atomic_ref<T, Scope>, T, Scope>;
  ROCPORT_STD T* place() const { return place_; }
  T* place_;
};

// The same, of its own object. As in libcu++ nothing is initialised by default, so that it may lie in shared memory.
template <class T, thread_scope Scope = thread_scope_system>
class atomic : public detail::atomic_operations<atomic<T, Scope>, T, Scope> {
 public:
  atomic() = default;
  ROCPORT_STD constexpr atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  ROCPORT_STD T operator=(T value) {
    this->store(value);
    return value;
  }

 private:
  friend class detail::atomic_operations<atomic<T, Scope>, T, Scope>;
  ROCPORT_STD T* place() const { return &value_; }
  alignas(sizeof(T)) mutable T value_;
};

ROCPORT_STD void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
  if (order == memory_order_relaxed) return;
#if defined(__HIP_DEVICE_COMPILE__)
  if (scope == thread_scope_block) {
    __threadfence_block();
  } else if (scope == thread_scope_device) {
    __threadfence();
  } else if (scope == thread_scope_system) {
    __threadfence_system();
  }
#else
  static_cast<void>(scope);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

namespace std {
template <class T>
using atomic = ::cuda::atomic<T, thread_scope_system>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;
using ::cuda::atomic_thread_fence;
}  // namespace std

// ---- cuda:: ----------------------------------------------------------------------------------------------------------

template <class T, class U>
ROCPORT_STD constexpr ::std::common_type_t<T, U> ceil_div(T a, U b) {
  return static_cast<::std::common_type_t<T, U>>(a / b + (a % b != 0 ? 1 : 0));
}
template <class T, class U>
ROCPORT_STD constexpr ::std::common_type_t<T, U> round_up(T a, U b) {
  return static_cast<::std::common_type_t<T, U>>((a / b + (a % b != 0 ? 1 : 0)) * b);
}

// A divisor that is used often. libcu++ multiplies by its inverse; here the division is left to the compiler.
template <class T, bool DivisorIsNeverOne = false>
class fast_mod_div {
  static_assert(::std::is_integral<T>::value, "the divisor is an integer");

 public:
  fast_mod_div() = delete;
  ROCPORT_STD explicit fast_mod_div(T divisor) : divisor_(divisor) {}
  ROCPORT_STD operator T() const { return divisor_; }
  template <class U>
  friend ROCPORT_STD ::std::common_type_t<T, U> operator/(U a, fast_mod_div b) {
    return static_cast<::std::common_type_t<T, U>>(a / b.divisor_);
  }
  template <class U>
  friend ROCPORT_STD ::std::common_type_t<T, U> operator%(U a, fast_mod_div b) {
    return static_cast<::std::common_type_t<T, U>>(a % b.divisor_);
  }

 private:
  T divisor_;
};

}  // namespace cuda

#endif
#endif  // ROCPORT_STD_H
