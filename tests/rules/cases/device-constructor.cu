struct A { __device__ A(float d) : d(d) {} float d; };
struct B { __host__ __device__ B(float d) {} };
struct C { __device__ C(float d) {} C(int n) {} };
struct D { __device__ inline D(float d) {} };
struct E { __device__ E(float d) {} __device__ E(int d); };
struct F { __device__ __host__ F(float d) {} };
struct G { __device__ G(float d) {} };
struct H { __device__ __launch_bounds__(3) H(float d) = default; };
template <class T> struct I { __device__ I(T d) {} };
template <class T> struct J { __device__ J(T d) {} };
using Of = I<int>;
void host(float d) {
    A a(d); B b(d); C c(d); D d_{1}; k<<<1, 1>>>(E(d)); F f(d); struct G g(d); Of of(3); use(J<float>(d)); return H(d);
}
__global__ void kernel(float d) { G g(d); J<int> j(3); }
