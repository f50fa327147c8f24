bool a(cudaDeviceProp p) { return p.major >= 8; }
int b(cudaDeviceProp *p) { return p->major * 10 + p->minor; }
void c(cudaDeviceProp p) { printf("%d.%d", p.major, p.minor); }
void d(cudaDeviceProp p) { printf("%d", p.major * 10); printf("%d", 10 * p.major); }
void e(cudaDeviceProp p) { std::cout << p.major << '.'; out << p.major; x = 3 << q[2].major; y << get(1).p->major; }
void f(Version v) { use(v.major); major = 3; int major; own::major; }
void g(int *v) { cudaDeviceGetAttribute(v, cudaDevAttrComputeCapabilityMajor, 0); cuDeviceComputeCapability(v, v, 0); }
#define MAJOR(p) p.major >= 8
#define QUERY cudaDevAttrComputeCapabilityMajor
#ifdef __HIP_PLATFORM_AMD__
bool amd(cudaDeviceProp p) { return p.major >= 9; }
#endif
#if 0
bool dead(cudaDeviceProp p) { return p.major >= 9; }
#endif
