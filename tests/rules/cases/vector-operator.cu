#include <cuda_runtime.h>
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x, a.y * b.y); }
inline __host__ __device__ float3 operator/(const float3 &a, const float3 &b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
__device__ float4 operator*(float4 a, float4 b) { return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, b.w * a.w); }
__device__ int2 operator*(int2 a, int2 b) { return make_int2(a.x * b.x, a.y * b.x); }
__device__ int3 operator*(int3 a, int3 b) { return make_int3(a.x * b.x, a.y * b.y, 0); }
__device__ void operator+=(float2 &a, float2 b) { a.x += b.x; a.y += b.y; }
__device__ void operator-=(double2 &a, const double2 &b) { a.x = a.x - b.x; a.y = a.y - b.y; }
__device__ float2 operator*(float2 a, float b) { return make_float2(a.x * b, a.y * b); }
__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float1 operator*(float1 a, float1 b);
__device__ own2 operator*(own2 a, own2 b) { return a; }
template <class T> __device__ uchar4 operator/(uchar4 a, uchar4 b) { return a; }
#define OPERATOR float2 operator*(float2 a, float2 b) {}
struct S { float2 operator*(float2 b) const { return b; } };
__device__ float2 operator/(float2 a, float2 b, int c) { return a; }
__device__ int2 operator%=(int2 &a, int2 b) { a.x %= b.x; a.y %= b.y; return a; }
__device__ float2 operator*(float2 a, float2 b) = delete;
