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
struct Twice { double4 a, b; long4 c = {}; ulong4 functions(); typedef long4 vec_t; };
uint8_t *_early;
void forms(char *bytes, cudaDeviceProp *p, const cudaDeviceProp &r, cudaPointerAttributes const *q) {
    if (sizeof(cudaDeviceProp) == 1032) return;
    if (1032 != sizeof(cudaDeviceProp)) return;
    bool same = sizeof(*p) == 1032, other = sizeof p != 8;
    send(socket, p, sizeof(*p), 0);
    fwrite(&r, sizeof r, 1, file);
    recv(socket, bytes, sizeof(q), 0);
    memcpy(bytes, q, sizeof(q));
    cudaDeviceProp(late);
    { fread(x, 1, 1, f); } int n = sizeof(cudaDeviceProp);
    memcpy(_named + 4, &r, sizeof(r));
    memcpy(_early + 4, &r, sizeof(r));
    memcpy(4 + 5, &r, sizeof(r));
}
void before(uint8_t *_named);
int sizes = sizeof(late_), first = 1;
cudaTextureDesc late_;
#define SIZE sizeof(cudaDeviceProp) == 1
double4 outside;
