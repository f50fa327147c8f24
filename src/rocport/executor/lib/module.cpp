// SPDX-License-Identifier: Apache-2.0
// Modules and hiprtc. Code that is compiled at run time is a shared object whose kernels register themselves.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hip/hiprtc.h"
#include "streams.h"

extern char **environ;

struct ihipModule_t {
  void *handle;
  std::string file;
};

struct _hiprtcProgram {
  std::string source, name, log, code;
  std::vector<std::pair<std::string, std::string>> headers;  // name, text
  std::vector<std::string> expressions;
};

namespace rpx {
namespace {

// A folder of this process for what passes through files; removed at exit.
const std::string &scratch() {
  static const std::string folder = [] {
    const char *base = std::getenv("TMPDIR");
    std::string pattern = std::string(base && *base ? base : "/tmp") + "/rocport-module-XXXXXX";
    if (!mkdtemp(pattern.data())) fatal("no folder for run-time compilation: set TMPDIR to a writable one");
    return pattern;
  }();
  return folder;
}

std::vector<std::string> *written;

std::string write_file(const std::string &name, const std::string &text) {
  static int serial;
  if (!written) {
    written = new std::vector<std::string>;
    std::atexit([] {
      for (auto &path : *written) unlink(path.c_str());
      rmdir(scratch().c_str());
    });
  }
  std::string path = scratch() + "/" + (name.empty() ? "module-" + std::to_string(serial++) + ".so" : name);
  written->push_back(path);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string read_file(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

hipError_t open_module(hipModule_t *module, const std::string &file) {
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    std::fprintf(stderr, "rocport executor: %s: not a module of this executor: device code objects are not run (%s)\n", file.c_str(), dlerror());
    return fail(hipErrorInvalidImage);
  }
  *module = new ihipModule_t{handle, file};
  return hipSuccess;
}

}  // namespace
}  // namespace rpx

using namespace rpx;

hipError_t hipModuleLoad(hipModule_t *module, const char *path) {
  if (access(path, R_OK)) return fail(hipErrorFileNotFound);
  return open_module(module, *path == '/' ? std::string(path) : "./" + std::string(path));
}
hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  const auto *head = static_cast<const ElfW(Ehdr) *>(image);
  if (std::memcmp(head->e_ident, ELFMAG, SELFMAG)) {
    std::fprintf(stderr, "rocport executor: a module that hiprtc did not compile here: device code objects are not run\n");
    return fail(hipErrorInvalidImage);
  }
  // The section headers come last in what the linker writes.
  std::size_t bytes = head->e_shoff + static_cast<std::size_t>(head->e_shnum) * head->e_shentsize;
  return open_module(module, write_file("", std::string(static_cast<const char *>(image), bytes)));
}
hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned, hipJitOption *, void **) { return hipModuleLoadData(module, image); }
hipError_t hipModuleUnload(hipModule_t module) {
  delete module;  // the code stays: its kernels are registered
  return hipSuccess;
}
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  const void *kernel = find_kernel(name, module->file.c_str());
  if (!kernel) return fail(hipErrorNotFound);
  *function = reinterpret_cast<hipFunction_t>(const_cast<void *>(kernel));
  return hipSuccess;
}
hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer, size_t *bytes, hipModule_t module, const char *name) {
  void *address = dlsym(module->handle, name);
  if (!address) return fail(hipErrorNotFound);
  Dl_info info;
  ElfW(Sym) *symbol = nullptr;
  if (bytes) *bytes = dladdr1(address, &info, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) && symbol ? symbol->st_size : 0;
  if (pointer) *pointer = address;
  return hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned lds,
                                 hipStream_t stream, void **arguments, void **extra) {
  std::vector<void *> spread;
  if (!arguments && extra) {
    for (void **at = extra; *at != HIP_LAUNCH_PARAM_END; at += 2)
      if (*at == HIP_LAUNCH_PARAM_BUFFER_POINTER) spread = spread_arguments(function, at[1]);
    arguments = spread.data();
  }
  return launch_untyped(function, Config(dim3(gx, gy, gz), dim3(bx, by, bz), lds, stream), arguments);
}
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                            unsigned lds, hipStream_t stream, void **arguments) {
  return hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, lds, stream, arguments, nullptr);
}
hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t) {
  *value = attribute == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : attribute == HIP_FUNC_ATTRIBUTE_NUM_REGS ? 32 : 0;
  return hipSuccess;
}

// ---- hiprtc --------------------------------------------------------------------------------------------------------

const char *hiprtcGetErrorString(hiprtcResult result) {
  static const char *const names[] = {
      "HIPRTC_SUCCESS", "HIPRTC_ERROR_OUT_OF_MEMORY", "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE", "HIPRTC_ERROR_INVALID_INPUT", "HIPRTC_ERROR_INVALID_PROGRAM",
      "HIPRTC_ERROR_INVALID_OPTION", "HIPRTC_ERROR_COMPILATION", "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE", "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
      "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID", "HIPRTC_ERROR_INTERNAL_ERROR"};
  return result <= HIPRTC_ERROR_INTERNAL_ERROR ? names[result] : "HIPRTC_ERROR_LINKING";
}
hiprtcResult hiprtcVersion(int *major, int *minor) {
  *major = HIP_VERSION_MAJOR;
  *minor = HIP_VERSION_MINOR;
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name, int count, const char **headers, const char **names) {
  if (!program || !source) return HIPRTC_ERROR_INVALID_INPUT;
  *program = new _hiprtcProgram;
  (*program)->source = source;
  (*program)->name = name ? name : "";
  for (int i = 0; i < count; ++i) (*program)->headers.emplace_back(names[i], headers[i]);
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program) {
  delete *program;
  *program = nullptr;
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char *expression) {
  if (!program->code.empty()) return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  program->expressions.push_back(expression);
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char **options) {
  const char *python = std::getenv("ROCPORT_PYTHON");
  if (!python) unsupported("hiprtc outside of `rocport run`: ROCPORT_PYTHON must name the Python that has rocport");
  static int serial;
  const std::string stem = "program-" + std::to_string(serial++);
  std::string text = "#line 1 \"" + (program->name.empty() ? stem : program->name) + "\"\n" + program->source;
  for (auto &expression : program->expressions) {
    static int number;
    const std::string bare = expression[0] == '&' ? expression.substr(1) : expression;
    text += "\nstatic ::rpx::Registration rpx_expression_" + std::to_string(number++) + "(\"" + expression + "\", &" + bare + ");";
  }
  for (auto &[name, body] : program->headers)
    if (name.find('/') == std::string::npos) write_file(name, body);
  const std::string source = write_file(stem + ".hip", text), code = write_file(stem + ".out", ""), log = write_file(stem + ".log", "");
  std::vector<std::string> words = {python, "-m", "rocport.executor.rtc", source, code, "-I" + scratch()};
  for (int i = 0; i < count; ++i) words.push_back(options[i]);
  std::vector<char *> arguments;
  for (auto &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), 1 /* O_WRONLY */, 0600);
  pid_t child;
  int status = 1;
  if (!posix_spawnp(&child, python, &actions, nullptr, arguments.data(), environ)) waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  program->log = read_file(log);
  program->code = status ? "" : read_file(code);
  return program->code.empty() ? HIPRTC_ERROR_COMPILATION : HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char *expression, const char **lowered) {
  for (auto &known : program->expressions)
    if (known == expression) {
      *lowered = known.c_str();
      return HIPRTC_SUCCESS;
    }
  return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t *bytes) {
  *bytes = program->log.empty() ? 0 : program->log.size() + 1;
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char *log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t *bytes) {
  *bytes = program->code.size();
  return program->code.empty() ? HIPRTC_ERROR_INVALID_PROGRAM : HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetCode(hiprtcProgram program, char *code) {
  std::memcpy(code, program->code.data(), program->code.size());
  return HIPRTC_SUCCESS;
}
