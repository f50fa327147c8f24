#include <cuda_runtime.h>
#include <cstring>
#include <vector>
struct Wire { double4 d; static double4 shared; int n; double2 two; };
struct Aligned { longlong4 a[2]; ulonglong4 b = {}; };
void send(std::vector<char> &v, char *bytes, cudaDeviceProp prop, FILE *file, Wire w) {
    memcpy(v.data(), &prop, sizeof(cudaDeviceProp));
    memcpy(bytes + 4, &prop, sizeof(prop));
    memcpy(other, &prop, sizeof prop);
    fwrite(&prop, sizeof(cudaDeviceProp), 1, file);
    cudaDeviceProp copy;
    memset(&copy, 0, sizeof(cudaDeviceProp));
    memcpy;
    fwrite(&w, sizeof(Wire), 1, file);
}
#ifdef __HIP_PLATFORM_AMD__
int size = sizeof(cudaDeviceProp);
#endif
