// rocport_platform.h - what a CUDA compiler would say of itself, for conditionals that ask.
// SPDX-License-Identifier: Apache-2.0
//
// A HIP compiler defines none of __CUDA_ARCH__, CUDART_VERSION and their like, so an #if over them takes the branch for
// a very old or no CUDA. In a port such conditionals ask the ROCPORT_ names below instead. On AMD they have the values of
// one well defined CUDA build: architecture sm_80, CUDA 12.4, the newest before features that only NVIDIA hardware has
// (Hopper's clusters and asynchronous copies) and before CUDA 13 changed signatures that HIP keeps. Compiled by a CUDA
// compiler they have CUDA's own values. Library versions are those of CUDA 12.4.1.
//
// The CUDA names themselves are not defined, because HIP's and the libraries' own headers ask for them to learn whether
// the compiler is nvcc.
#ifndef ROCPORT_PLATFORM_H
#define ROCPORT_PLATFORM_H

// Not __CUDACC__: PyTorch's build replaces that name by __HIPCC__ in every header of an extension.
#if defined(__NVCC__) && !defined(__HIPCC__)

// NVIDIA: the names as they are.
#define ROCPORT_HIP 0
#if defined(__CUDA_ARCH__)
#define ROCPORT_CUDA_ARCH __CUDA_ARCH__
#endif
#define ROCPORT_CUDA_ARCH_VALUE __CUDA_ARCH__
#define ROCPORT_CUDACC_VER_MAJOR __CUDACC_VER_MAJOR__
#define ROCPORT_CUDACC_VER_MINOR __CUDACC_VER_MINOR__
#define ROCPORT_CUDACC_VER_BUILD __CUDACC_VER_BUILD__
#define ROCPORT_CUDART_VERSION CUDART_VERSION
#define ROCPORT_CUDA_VERSION CUDA_VERSION
#define ROCPORT_CUBLAS_VERSION CUBLAS_VERSION
#define ROCPORT_CUBLAS_VER_MAJOR CUBLAS_VER_MAJOR
#define ROCPORT_CUBLAS_VER_MINOR CUBLAS_VER_MINOR
#define ROCPORT_CUSPARSE_VERSION CUSPARSE_VERSION
#define ROCPORT_CUSPARSE_VER_MAJOR CUSPARSE_VER_MAJOR
#define ROCPORT_CUSPARSE_VER_MINOR CUSPARSE_VER_MINOR
#define ROCPORT_CUSOLVER_VERSION CUSOLVER_VERSION
#define ROCPORT_CUFFT_VERSION CUFFT_VERSION
#define ROCPORT_CURAND_VERSION CURAND_VERSION
#define ROCPORT_CUB_VERSION CUB_VERSION
#define ROCPORT_CCCL_VERSION CCCL_VERSION
#define ROCPORT_CCCL_MAJOR_VERSION CCCL_MAJOR_VERSION
#define ROCPORT_CCCL_MINOR_VERSION CCCL_MINOR_VERSION

#else

// 1 in a HIP compilation for AMD, host and device pass.
#define ROCPORT_HIP 1
// Defined in the device pass only, as __CUDA_ARCH__ is.
#if defined(__HIP_DEVICE_COMPILE__)
#define ROCPORT_CUDA_ARCH 800
#endif
// For expressions: HIP's host pass reads device code too, where the name above is not defined.
#define ROCPORT_CUDA_ARCH_VALUE 800
// Defined where a CUDA compiler would compile the file, not where a plain C++ compiler does.
#if defined(__HIPCC__)
#define ROCPORT_CUDACC_VER_MAJOR 12
#define ROCPORT_CUDACC_VER_MINOR 4
#define ROCPORT_CUDACC_VER_BUILD 131
#endif
#define ROCPORT_CUDART_VERSION 12040
#define ROCPORT_CUDA_VERSION 12040
#define ROCPORT_CUBLAS_VERSION 120405
#define ROCPORT_CUBLAS_VER_MAJOR 12
#define ROCPORT_CUBLAS_VER_MINOR 4
#define ROCPORT_CUSPARSE_VERSION 12301
#define ROCPORT_CUSPARSE_VER_MAJOR 12
#define ROCPORT_CUSPARSE_VER_MINOR 3
#define ROCPORT_CUSOLVER_VERSION 11601
#define ROCPORT_CUFFT_VERSION 11201
#define ROCPORT_CURAND_VERSION 10305
#define ROCPORT_CUB_VERSION 200301
#define ROCPORT_CCCL_VERSION 2003001
#define ROCPORT_CCCL_MAJOR_VERSION 2
#define ROCPORT_CCCL_MINOR_VERSION 3

#endif

#endif  // ROCPORT_PLATFORM_H
