#ifdef HAVE_CUDA
#endif
#if defined(HAVE_CUDA) && FAST
#endif
#if WITH_CUDNN && !SLOW
#elif WITH_CUBLASLT_8
#endif
#if defined(GPU_CUDA12) || USE_HIP
#endif
#ifndef USE_NVRTC
#elifdef USE_NVRTC
#endif
#ifdef MY_CUDA_DEBUG
#endif
#ifdef MY_CUDA_DISABLED
#endif
#ifdef __CUDA__
#endif
#ifdef CUDA_R_16F
#endif
#ifdef __CUDACC__
#endif
#ifdef MY_CUDA_TOOLS_H_
#endif
#ifdef OWN_CUDA
#endif
#define OWN_CUDA
#define TAKES(OTHER_CUDA) OTHER_CUDA
#ifdef OTHER_CUDA
#endif
#undef LAST_CUDA
#if LAST_CUDA
#endif
#ifdef ACC_CUDA
#endif
int ACC_HIP;
#ifdef TWO_CUDA
#endif
#ifndef TWO_ROCM
#endif
#ifdef TWO_NVIDIA
#endif
int plain_CUDA = USE_CUSPARSE;
#ifdef BARRACUDA
#endif
