#define ROOT(x) rsqrt(x)
#if rsqrtf(3)
#endif
float a(float x) { return rsqrtf(x) + std::isnan(x) + ::isinf(x) + v.isfinite(x) + p->signbit(x); }
__device__ float b(float x) { float s, c; sincos(x, &s, &c); return rsqrtf(x) + s; }
__host__ __device__ unsigned c(unsigned x) { return ::umin(x, 3u) + umax(x, (1u)) + own::umin(x, 2u); }
float fdividef(float x, float y) { return x / y; }
float d(float x) { return fdividef(x, 2) + cospif; }
long long e(long long x) { if (x) return llmin(x, 1); else return ullmax(x, 2); }
inline float rhypot(float x, float y);
float f() { return rhypot(1, 2); }
unsigned g(unsigned x) { return ::llmax(x, 3u); }
