#include "cuda_runtime.h"
const char *library = "libcudart.so.12", *path = "/usr/lib/libcublas.so", *other = "libpng.so", *part = "libcu";
#define NAME "libnvrtc.so"
#if OWN == "libnvrtc.so"
#endif
const char *listed[] = {"cuInit", "cuMemAlloc", own("cuInit"), "own"};
void f(void *h, std::string s, cudaDeviceProp p, float *d) {
    dlsym(h, "cudaMalloc"); SYMBOL(h, "cudaMalloc"); own(h, "cudaMalloc"); dlopen((std::string("libnv") + s).c_str(), 1);
    cudaMemcpyToSymbol("coeffs", d, 64); cudaMemcpyToSymbol("no name", d, 64); own("coeffs");
    if (s == "cudaErrorInvalidValue" || "cudaSuccess" != s || !strcmp(s, "cudaSuccess")) return;
    if (s.find("CUDA error") || getenv("CUDA error") || own("CUDA error")) return;
    if (strstr(p.name, "H100") || own(p.name, "H100")) return;
    system("nvidia-smi -L"); own("nvidia-smi -L"); run("a nvcc b"); own("with nvcc b"); own("x; nvcc a.cu");
    load("kernel.ptx"); printf("kernel.ptx"); load("%s.cubin");
    compile("-arch=sm_80"); printf("-arch=sm_80"); compile("sm_"); compile("--gpu-architecture=compute_%d"); compile("asm_8");
    getenv("CUDA_LAUNCH_BLOCKING"); getenv("CUDA_VISIBLE_DEVICES"); own("CUDA_LAUNCH_BLOCKING"); getenv("CUDA_PATH");
    open("/usr/local/cuda/bin"); open("see /usr/local/cuda"); printf("/usr/local/cuda"); std::cout << "/usr/local/cuda";
    throw Error("/usr/local/cuda"); open((a)["/dev/nvidia0"]); mangled("_Z1kP11CUstream_st"); mangled("_Z1kPi");
    std::map<std::string, int> m = {{"cudaErrorInvalidValue", 1}, {"own", 2}}; m[cudaGetErrorName(e)];
    nvrtcCreateProgram(&q, "add.cu"); std::ifstream in("kernels/add.cu"); printf("add.cu");
    char c = 'cu'; u8"cuInit"; R"(nvcc -c a.cu)";
}
#ifdef __HIP_PLATFORM_AMD__
const char *amd = "libcudart.so";
#endif
#if 0
const char *dead = "libcudart.so";
#endif
