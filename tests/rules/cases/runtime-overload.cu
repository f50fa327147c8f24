void f(float *d, float *h, char **o) {
    cudaLaunchCooperativeKernel(k, 1, 32, args); cudaLaunchCooperativeKernel(k, 1, 32, args, 8);
    cudaLaunchCooperativeKernel(k, 1, 32, args, 8, s); cudaLaunchCooperativeKernel(k, 1, 32);
    cudaGraphInstantiate(&e, g); cudaGraphInstantiate(&e, g, 0); cudaGraphInstantiate(&e, g, n, b, 0); cudaGraphInstantiate(&e);
    cudaEventCreate(&e); cudaEventCreate(&e, 2); cudaHostGetDevicePointer(&d, h, 0); cudaHostGetDevicePointer((void **)&d, h, 0);
    cudaHostGetDevicePointer(nullptr, h, 0); cudaHostGetDevicePointer(); cudaHostGetDevicePointer; x.cudaEventCreate(&e, 2);
    cudaMalloc3DArray(&a, &desc, extent); cudaMalloc3DArray(&a, &desc, extent, 1); nvrtcCompileProgram(p, 2, o);
    nvrtcCompileProgram(p, 0, 0); nvrtcCompileProgram(p, 0, NULL); auto call = cudaEventCreate;
    cuCtxCreate(&c, NULL, 0, d); cuCtxCreate(&c, nullptr, 0, d); cuCtxCreate(&c, 0, d); cuCtxCreate(&c, own, 0, d); cuCtxCreate;
}
void g() { CUctxCreateParams p = {}; cuCtxCreate(&c, &p, 0, d); cuCtxCreate(&c, &p, 1, d); }
void h() { CUctxCreateParams p; cuCtxCreate(&c, &p, 0, d); use(&p); }
void i() { CUctxCreateParams p = {1}; cuCtxCreate(&c, &p, 0, d); }
void j() { { CUctxCreateParams p{}; cuCtxCreate(&c, &p, 0, d); } { int p; } }
void k(CUctxCreateParams *p) { cuCtxCreate(&c, p, 0, d); }
#define MAKE(e) cudaEventCreate(e, 2)
