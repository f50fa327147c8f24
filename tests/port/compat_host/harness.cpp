// Prints one line for every function of the compatibility headers that does not compute what its definition says.
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "rocport_compat.h"
#include "rocport_simd.h"

namespace {

std::mt19937_64 generator(20240607);
int failures = 0;

template <class T>
bool identical(T a, T b) {
  if (a != a && b != b) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

void report(const char* name, double a, double b, double c, double got, double wanted) {
  if (++failures <= 40) std::printf("%s(%a, %a, %a) = %a, not %a\n", name, a, b, c, got, wanted);
}

void expect(const char* name, unsigned long long got, unsigned long long wanted, unsigned long long input = 0) {
  if (got != wanted && ++failures <= 40) std::printf("%s[%llx] = %llx, not %llx\n", name, input, got, wanted);
}

// ---- Directed rounding against the host's rounding modes -------------------------------------------------------------

enum Operation { add, sub, mul, divide, root, fused };

template <class T>
T on_host(Operation operation, int mode, T a, T b, T c) {
  volatile T x = a, y = b, z = c, result = 0;
  std::fesetround(mode);
  switch (operation) {
    case add: result = x + y; break;
    case sub: result = x - y; break;
    case mul: result = x * y; break;
    case divide: result = x / y; break;
    case root: result = std::sqrt(x); break;
    case fused: result = std::fma(x, y, z); break;
  }
  std::fesetround(FE_TONEAREST);
  return result;
}

float call(Operation operation, int mode, float a, float b, float c) {
  using namespace rocport;
  switch (operation) {
    case add: return mode == FE_DOWNWARD ? fadd_rd(a, b) : mode == FE_UPWARD ? fadd_ru(a, b) : fadd_rz(a, b);
    case sub: return mode == FE_DOWNWARD ? fsub_rd(a, b) : mode == FE_UPWARD ? fsub_ru(a, b) : fsub_rz(a, b);
    case mul: return mode == FE_DOWNWARD ? fmul_rd(a, b) : mode == FE_UPWARD ? fmul_ru(a, b) : fmul_rz(a, b);
    case divide: return mode == FE_DOWNWARD ? fdiv_rd(a, b) : mode == FE_UPWARD ? fdiv_ru(a, b) : fdiv_rz(a, b);
    case root: return mode == FE_DOWNWARD ? fsqrt_rd(a) : mode == FE_UPWARD ? fsqrt_ru(a) : fsqrt_rz(a);
    default: return mode == FE_DOWNWARD ? fmaf_rd(a, b, c) : mode == FE_UPWARD ? fmaf_ru(a, b, c) : fmaf_rz(a, b, c);
  }
}
double call(Operation operation, int mode, double a, double b, double c) {
  using namespace rocport;
  switch (operation) {
    case add: return mode == FE_DOWNWARD ? dadd_rd(a, b) : mode == FE_UPWARD ? dadd_ru(a, b) : dadd_rz(a, b);
    case sub: return mode == FE_DOWNWARD ? dsub_rd(a, b) : mode == FE_UPWARD ? dsub_ru(a, b) : dsub_rz(a, b);
    case mul: return mode == FE_DOWNWARD ? dmul_rd(a, b) : mode == FE_UPWARD ? dmul_ru(a, b) : dmul_rz(a, b);
    case divide: return mode == FE_DOWNWARD ? ddiv_rd(a, b) : mode == FE_UPWARD ? ddiv_ru(a, b) : ddiv_rz(a, b);
    case root: return mode == FE_DOWNWARD ? dsqrt_rd(a) : mode == FE_UPWARD ? dsqrt_ru(a) : dsqrt_rz(a);
    default: return mode == FE_DOWNWARD ? fma_rd(a, b, c) : mode == FE_UPWARD ? fma_ru(a, b, c) : fma_rz(a, b, c);
  }
}

template <class T>
T any_bits() {
  const unsigned long long bits = generator();
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Numbers near one another, so that sums cancel and round.
template <class T>
T near_one() {
  return std::ldexp(static_cast<T>(1) + std::ldexp(static_cast<T>(generator() >> 12), -52), static_cast<int>(generator() % 40) - 20) *
         ((generator() & 1) ? 1 : -1);
}

template <class T>
void check_rounding(const char* name, bool extreme_fma) {
  const T least = std::ldexp(static_cast<T>(1), sizeof(T) == 4 ? -149 : -1074);
  const T most = sizeof(T) == 4 ? static_cast<T>(3.40282346638528859811704183484516925e+38) : static_cast<T>(1.79769313486231570814527423731704357e+308);
  const std::vector<T> special = {T(0), T(-0.0), T(1), T(-1), T(3), least, -least, most, -most, T(INFINITY), T(-INFINITY), T(NAN), T(0.5), T(7) * least};
  const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  const Operation operations[] = {add, sub, mul, divide, root, fused};
  const char* const names[] = {"add", "sub", "mul", "div", "sqrt", "fma"};
  auto check = [&](Operation operation, T a, T b, T c) {
    for (int mode : modes) {
      const T got = call(operation, mode, a, b, c), wanted = on_host(operation, mode, a, b, c);
      if (!identical(got, wanted)) {
        std::printf("%s %s mode %d: ", name, names[operation], mode);
        report("", a, b, c, got, wanted);
      }
    }
  };
  for (Operation operation : operations) {
    for (T a : special)
      for (T b : special)
        for (T c : {T(0), T(-0.0), T(1), -most, T(5) * least})
          if (operation != fused || extreme_fma || (std::fabs(a) <= 3 && std::fabs(b) <= 3 && (a == 0 || std::fabs(a) >= T(0.5)) && (b == 0 || std::fabs(b) >= T(0.5)) && std::fabs(c) <= 1 && (c == 0 || c == 1)))
            check(operation, a, b, c);
    for (int i = 0; i < 60000; ++i) {
      check(operation, near_one<T>(), near_one<T>(), near_one<T>());
      if (operation != fused || extreme_fma) check(operation, any_bits<T>(), any_bits<T>(), any_bits<T>());
    }
  }
}

// ---- Words by parts, against loops over the parts --------------------------------------------------------------------

long long part(unsigned word, int index, int bits, bool is_signed) {
  const long long value = (word >> (index * bits)) & ((1u << bits) - 1u);
  return is_signed && (value >> (bits - 1)) ? value - (1ll << bits) : value;
}

template <class Function>
unsigned parts(int count, bool is_signed, unsigned a, unsigned b, Function function) {
  const int bits = 32 / count;
  unsigned result = 0;
  for (int i = 0; i < count; ++i) {
    result |= (static_cast<unsigned>(function(part(a, i, bits, is_signed), part(b, i, bits, is_signed), bits)) & ((1u << bits) - 1u)) << (i * bits);
  }
  return result;
}

long long clamp(long long value, long long low, long long high) { return value < low ? low : value > high ? high : value; }
long long clamp_signed(long long value, int bits) { return clamp(value, -(1ll << (bits - 1)), (1ll << (bits - 1)) - 1); }
long long clamp_unsigned(long long value, int bits) { return clamp(value, 0, (1ll << bits) - 1); }

#define CHECK_SIMD(name, is_signed, expression)                                                                         \
  expect(#name "2", rocport::name##2(a, b), parts(2, is_signed, a, b, [](long long x, long long y, int n) -> long long { (void)n; (void)y; return expression; }), a); \
  expect(#name "4", rocport::name##4(a, b), parts(4, is_signed, a, b, [](long long x, long long y, int n) -> long long { (void)n; (void)y; return expression; }), a);
#define CHECK_SIMD_UNARY(name, expression)                                                                              \
  expect(#name "2", rocport::name##2(a), parts(2, true, a, b, [](long long x, long long, int n) -> long long { (void)n; return expression; }), a); \
  expect(#name "4", rocport::name##4(a), parts(4, true, a, b, [](long long x, long long, int n) -> long long { (void)n; return expression; }), a);

void check_simd(unsigned a, unsigned b) {
  CHECK_SIMD(vadd, false, x + y)
  CHECK_SIMD(vsub, false, x - y)
  CHECK_SIMD(vaddss, true, clamp_signed(x + y, n))
  CHECK_SIMD(vaddus, false, clamp_unsigned(x + y, n))
  CHECK_SIMD(vsubss, true, clamp_signed(x - y, n))
  CHECK_SIMD(vsubus, false, clamp_unsigned(x - y, n))
  CHECK_SIMD(vavgu, false, (x + y + 1) / 2)
  // Ties go away from zero.
  CHECK_SIMD(vavgs, true, (x + y) % 2 == 0 ? (x + y) / 2 : (x + y > 0 ? (x + y + 1) / 2 : (x + y - 1) / 2))
  CHECK_SIMD(vhaddu, false, (x + y) / 2)
  CHECK_SIMD(vmaxs, true, x > y ? x : y)
  CHECK_SIMD(vmaxu, false, x > y ? x : y)
  CHECK_SIMD(vmins, true, x < y ? x : y)
  CHECK_SIMD(vminu, false, x < y ? x : y)
  CHECK_SIMD(vabsdiffs, true, x > y ? x - y : y - x)
  CHECK_SIMD(vabsdiffu, false, x > y ? x - y : y - x)
  CHECK_SIMD(vcmpeq, false, x == y ? -1 : 0)
  CHECK_SIMD(vcmpne, false, x != y ? -1 : 0)
  CHECK_SIMD(vcmpges, true, x >= y ? -1 : 0)
  CHECK_SIMD(vcmpgtu, false, x > y ? -1 : 0)
  CHECK_SIMD(vcmples, true, x <= y ? -1 : 0)
  CHECK_SIMD(vsetltu, false, x < y)
  CHECK_SIMD(vsetgts, true, x > y)
  CHECK_SIMD_UNARY(vneg, -x)
  CHECK_SIMD_UNARY(vnegss, clamp_signed(-x, n))
  CHECK_SIMD_UNARY(vabs, x < 0 ? -x : x)
  CHECK_SIMD_UNARY(vabsss, clamp_signed(x < 0 ? -x : x, n))
  unsigned sad = 0;
  for (int i = 0; i < 4; ++i) sad += static_cast<unsigned>(std::llabs(part(a, i, 8, true) - part(b, i, 8, true)));
  expect("vsads4", rocport::vsads4(a, b), sad, a);
}

// ---- Bits ------------------------------------------------------------------------------------------------------------

void check_bits(unsigned a, unsigned b, unsigned c) {
  const unsigned start = c & 63u, length = (c >> 8) & 63u;
  unsigned field = 0;
  for (unsigned i = 0; i < length && i < 32 && start + i < 32; ++i) field |= ((a >> (start + i)) & 1u) << i;
  expect("bfe.u32", rocport::bfe(a, start, length), field, c);
  unsigned extended = 0;
  if (length > 0) {
    const unsigned last = start + length - 1 < 31 ? start + length - 1 : 31;
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned at = i < length && start + i <= 31 ? start + i : last;
      extended |= ((a >> at) & 1u) << i;
    }
  }
  expect("bfe.s32", static_cast<unsigned>(rocport::bfe(static_cast<int>(a), start, length)), extended, c);
  unsigned inserted = b;
  for (unsigned i = 0; i < length && start + i < 32; ++i) {
    inserted = (inserted & ~(1u << (start + i))) | (((a >> i) & 1u) << (start + i));
  }
  expect("bfi.b32", rocport::bfi(a, b, start, length), inserted, c);
  unsigned permuted = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = (c >> (4 * i)) & 15u;
    const unsigned byte = (((nibble & 4u) ? b : a) >> (8 * (nibble & 3u))) & 255u;
    permuted |= ((nibble & 8u) ? ((byte & 128u) ? 255u : 0u) : byte) << (8 * i);
  }
  expect("prmt", rocport::prmt(a, b, c), permuted, c);
  unsigned table = 0;
  for (int i = 0; i < 32; ++i) {
    table |= ((0xcau >> (4 * ((a >> i) & 1u) + 2 * ((b >> i) & 1u) + ((c >> i) & 1u))) & 1u) << i;
  }
  expect("lop3", rocport::lop3<0xcau>(a, b, c), table, c);
  expect("shl", rocport::shl_clamp(a, c & 63u), (c & 63u) > 31 ? 0u : a << (c & 63u), c);
  expect("shr.s32", static_cast<unsigned>(rocport::shr_clamp(static_cast<int>(a), c & 63u)),
         static_cast<unsigned>(static_cast<int>(a) >> ((c & 63u) > 31 ? 31 : (c & 63u))), c);
  unsigned carry = 0;
  const unsigned low = rocport::add_carry(a, b, 0u, &carry);
  const unsigned high = rocport::add_carry(b, c, carry);
  const unsigned long long wide = ((static_cast<unsigned long long>(b) << 32) | a) + ((static_cast<unsigned long long>(c) << 32) | b);
  expect("add.cc", (static_cast<unsigned long long>(high) << 32) | low, wide, c);
  unsigned borrow = 0;
  const unsigned lower = rocport::sub_borrow(a, b, 0u, &borrow);
  const unsigned upper = rocport::sub_borrow(b, c, borrow);
  const unsigned long long difference = ((static_cast<unsigned long long>(b) << 32) | a) - ((static_cast<unsigned long long>(c) << 32) | b);
  expect("sub.cc", (static_cast<unsigned long long>(upper) << 32) | lower, difference, c);
  int products = static_cast<int>(c);
  for (int i = 0; i < 4; ++i) products += static_cast<int>(part(a, i, 8, true) * part(b, i, 8, true));
  expect("dp4a", static_cast<unsigned>(rocport::dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c))), static_cast<unsigned>(products), c);
  int pair = static_cast<int>(c) + static_cast<int>(part(a, 0, 16, true) * part(b, 2, 8, true) + part(a, 1, 16, true) * part(b, 3, 8, true));
  expect("dp2a_hi", static_cast<unsigned>(rocport::dp2a_hi(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c))), static_cast<unsigned>(pair), c);
  expect("cvt.sat.s8", static_cast<unsigned>(rocport::convert_sat<signed char>(static_cast<int>(a))), static_cast<unsigned>(clamp(static_cast<int>(a), -128, 127)), a);
  expect("cvt.sat.u16", rocport::convert_sat<unsigned short>(static_cast<int>(a)), static_cast<unsigned>(clamp(static_cast<int>(a), 0, 65535)), a);
  unsigned found = ~0u;
  for (int i = 31; i >= 0; --i) {
    if (((static_cast<int>(a) < 0 ? ~a : a) >> i) & 1u) { found = static_cast<unsigned>(i); break; }
  }
  expect("bfind.s32", rocport::bfind(static_cast<int>(a)), found, a);
}

// ---- What an NVIDIA GPU computed -------------------------------------------------------------------------------------

void check_golden(const char* path) {
  std::FILE* file = std::fopen(path, "r");
  char name[64];
  unsigned a, b, c, wanted;
  int lines = 0;
  while (file && std::fscanf(file, "%63s %x %x %x %x", name, &a, &b, &c, &wanted) == 5) {
    using namespace rocport;
    const std::string is = name;
    const unsigned got = is == "prmt_f4e"    ? prmt_f4e(a, b, c)
                         : is == "prmt_b4e"  ? prmt_b4e(a, b, c)
                         : is == "prmt_rc8"  ? prmt_rc8(a, b, c)
                         : is == "prmt_ecl"  ? prmt_ecl(a, b, c)
                         : is == "prmt_ecr"  ? prmt_ecr(a, b, c)
                         : is == "prmt_rc16" ? prmt_rc16(a, b, c)
                         : is == "prmt"      ? prmt(a, b, c)
                         : is == "bfe_u32"   ? bfe(a, b & 63u, c & 63u)
                         : is == "bfe_s32"   ? static_cast<unsigned>(bfe(static_cast<int>(a), b & 63u, c & 63u))
                         : is == "bfi_b32"   ? bfi(a, b, c & 63u, (c >> 8) & 63u)
                         : is == "vavgs2"    ? vavgs2(a, b)
                         : is == "vavgs4"    ? vavgs4(a, b)
                         : is == "dp2a_lo"   ? static_cast<unsigned>(dp2a_lo(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)))
                         : is == "dp2a_hi"   ? dp2a_hi(a, b, c)
                         : is == "vabsss4"   ? vabsss4(a)
                         : is == "vsads2"    ? vsads2(a, b)
                         : is == "fns"       ? fns(a, b & 31u, static_cast<int>(c % 9u) - 4)
                         : is == "vnegss2"   ? vnegss2(a)
                         : is == "vsetgts4"  ? vsetgts4(a, b)
                         : is == "viaddmax_s16x2_relu" ? viaddmax_s16x2_relu(a, b, c)
                         : is == "vabsdiffs4" ? vabsdiffs4(a, b)
                         : is == "vhaddu4"   ? vhaddu4(a, b)
                                             : ~wanted;
    expect(name, got, wanted, a);
    ++lines;
  }
  if (file) std::fclose(file);
  if (lines == 0) {
    std::printf("no golden values in %s\n", path);
    ++failures;
  }
}

}  // namespace

int main(int count, char** arguments) {
  check_rounding<float>("float", true);
  check_rounding<double>("double", false);
  for (int i = 0; i < 20000; ++i) {
    const unsigned a = static_cast<unsigned>(generator()), b = static_cast<unsigned>(generator()), c = static_cast<unsigned>(generator());
    check_simd(a, b);
    check_bits(a, b, c);
    check_bits(a & 0xffu, b, c & 0x7f7fu);
  }
  check_simd(0x80008000u, 0x7fff8000u);
  check_simd(0x80808080u, 0x7f80ff01u);
  check_golden(count > 1 ? arguments[1] : "");
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
