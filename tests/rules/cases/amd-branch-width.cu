#if defined(__HIP_PLATFORM_AMD__)
#define WIDTH 64
constexpr int SIZE = (64), ODD{64};
const int mask = 63, c.member = 64;
static int deep = (((((64)))));
#define WITH_ARGS(x) 64
#define IS_AMD 1
constexpr bool on_amd = true;
#else
#define WIDTH 32
constexpr int SIZE = (32), ODD{32};
const int mask = 31, c.member = 32;
static int deep = (((((32)))));
#define WITH_ARGS(x) 32
#endif
#ifdef __gfx942__
constexpr int TILE = 64u;
#else
constexpr int TILE = 32u;
#endif
#ifdef USE_ROCM
  f<64>(x, 63);
#else
  f<32>(x, 31);
#endif
#ifdef USE_ROCM
  g<64>(x, 4);
#else
  g<32>(x, 5);
#endif
int a = IS_AMD ? 64 : 32;
int b = !on_amd ? 32 : 64, c = other ? 64 : 32, d = is_hip() ? 63 : 31;
int e = is_cuda ? 32 : 64, f = cuda ? 64 : 32, g = is_rocm ? 64 : 16, h = is_rocm ? 64 : x;
int width(bool amd) { if (is_rocm) return 64; else return 32; }
int width_() { if constexpr (is_rocm) { return 64; } return 32; }
int width__() { if (is_cuda) { return 32; } else { return 64; } }
int none() { if (other) return 64; return 32; }
int far() { if (is_rocm) { a(); b(); c(); d(); e(); f(); g(); h(); } return 64; return 32; }
