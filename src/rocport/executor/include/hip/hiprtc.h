// SPDX-License-Identifier: Apache-2.0
// hiprtc: the program's text goes through the same rewriter and host compiler as every source (rocport.executor.rtc).
#pragma once

#include "hip/hip_runtime_api.h"

typedef enum hiprtcResult {
  HIPRTC_SUCCESS, HIPRTC_ERROR_OUT_OF_MEMORY, HIPRTC_ERROR_PROGRAM_CREATION_FAILURE, HIPRTC_ERROR_INVALID_INPUT, HIPRTC_ERROR_INVALID_PROGRAM,
  HIPRTC_ERROR_INVALID_OPTION, HIPRTC_ERROR_COMPILATION, HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE,
  HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
  HIPRTC_ERROR_INTERNAL_ERROR, HIPRTC_ERROR_LINKING = 100
} hiprtcResult;
typedef struct _hiprtcProgram *hiprtcProgram;

const char *hiprtcGetErrorString(hiprtcResult result);
hiprtcResult hiprtcVersion(int *major, int *minor);
hiprtcResult hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name, int count, const char **headers, const char **names);
hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program);
hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char *expression);
hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char **options);
hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char *expression, const char **lowered);
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t *bytes);
hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char *log);
hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t *bytes);
hiprtcResult hiprtcGetCode(hiprtcProgram program, char *code);
