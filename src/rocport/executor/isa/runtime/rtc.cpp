// SPDX-License-Identifier: Apache-2.0
// hiprtc: the program's text goes through `rocport hipcc` to a code object for the device.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <sys/stat.h>
#include <unistd.h>

#include "state.h"
#include <hip/hiprtc.h>

struct _hiprtcProgram {
  std::string source, name, code, log;
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> expressions;
  std::map<std::string, std::string> lowered;
};

namespace {

_hiprtcProgram *of(hiprtcProgram program) { return reinterpret_cast<_hiprtcProgram *>(program); }

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A variable that holds the address of each expression's kernel: what it points to in the loaded code has its name.
std::string variable(std::size_t index) { return "rocport_name_" + std::to_string(index); }

bool lower(_hiprtcProgram *p) {
  if (p->expressions.empty()) return true;
  std::string why;
  auto module = rt::load_code_object(p->code, &why);
  if (!module) return p->log += why, false;
  for (std::size_t i = 0; i < p->expressions.size(); ++i) {
    const auto *address = static_cast<char **>(rt::symbol_address(module.get(), variable(i), nullptr));
    for (const auto &[name, symbol] : module->symbols)
      if (address && *address == module->base + symbol.value && !name.empty()) p->lowered[p->expressions[i]] = name;
    if (!p->lowered.count(p->expressions[i])) return p->log += "no symbol for " + p->expressions[i] + "\n", false;
  }
  return true;
}

}  // namespace

extern "C" {

const char *hiprtcGetErrorString(hiprtcResult result) {
  switch (result) {
    case HIPRTC_SUCCESS: return "HIPRTC_SUCCESS";
    case HIPRTC_ERROR_OUT_OF_MEMORY: return "HIPRTC_ERROR_OUT_OF_MEMORY";
    case HIPRTC_ERROR_PROGRAM_CREATION_FAILURE: return "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case HIPRTC_ERROR_INVALID_INPUT: return "HIPRTC_ERROR_INVALID_INPUT";
    case HIPRTC_ERROR_INVALID_PROGRAM: return "HIPRTC_ERROR_INVALID_PROGRAM";
    case HIPRTC_ERROR_INVALID_OPTION: return "HIPRTC_ERROR_INVALID_OPTION";
    case HIPRTC_ERROR_COMPILATION: return "HIPRTC_ERROR_COMPILATION";
    case HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID: return "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    default: return "HIPRTC_ERROR_INTERNAL_ERROR";
  }
}
hiprtcResult hiprtcVersion(int *major, int *minor) {
  if (!major || !minor) return HIPRTC_ERROR_INVALID_INPUT;
  *major = 9;
  *minor = 0;
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name, int count,
                                 const char **headers, const char **names) {
  if (!program || !source || count < 0) return HIPRTC_ERROR_INVALID_INPUT;
  auto *made = new _hiprtcProgram;
  made->source = source;
  made->name = name ? name : "program";
  for (int i = 0; i < count; ++i) made->headers.emplace_back(names[i], headers[i]);
  *program = reinterpret_cast<hiprtcProgram>(made);
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program) {
  if (!program || !*program) return HIPRTC_ERROR_INVALID_PROGRAM;
  delete of(*program);
  *program = nullptr;
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char *expression) {
  if (!program || !expression) return HIPRTC_ERROR_INVALID_INPUT;
  of(program)->expressions.push_back(expression);
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char **options) {
  if (!program) return HIPRTC_ERROR_INVALID_PROGRAM;
  _hiprtcProgram *p = of(program);
  std::string folder = rt::setting("TMPDIR", "/tmp") + "/rocport-rtc-XXXXXX";
  if (!mkdtemp(folder.data())) return HIPRTC_ERROR_INTERNAL_ERROR;
  const std::string base = folder, source = base + "/program.hip", code = base + "/program.co", log = base + "/log";
  std::ofstream(source) << p->source << "\n#line 1 \"" << p->name << ".names\"\n";
  std::ofstream names(source, std::ios::app);
  for (std::size_t i = 0; i < p->expressions.size(); ++i)
    names << "extern \"C\" __device__ __attribute__((used)) const void *" << variable(i) << " = (const void *)("
          << p->expressions[i] << ");\n";
  names.close();
  std::vector<std::string> files;
  for (const auto &[name, text] : p->headers) {
    const std::string path = base + "/" + name;
    for (std::size_t at = path.find('/', base.size() + 1); at != std::string::npos; at = path.find('/', at + 1))
      mkdir(path.substr(0, at).c_str(), 0777);
    std::ofstream(path) << text;
    files.push_back(path);
  }
  std::vector<std::string> command = {"-m",      "rocport", "hipcc", "--genco", "--no-gpu-bundle-output", "-w", "-I" + base, "-include",
                                      "hip/hip_runtime.h", source,  "-o",    code,      "--rocport-log", log};
  bool arch = false;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    arch |= option.rfind("--offload-arch", 0) == 0 || option.rfind("--gpu-architecture", 0) == 0;
    command.push_back(option.rfind("--gpu-architecture=", 0) == 0 ? "--offload-arch=" + option.substr(19) : option);
  }
  if (!arch) command.push_back(std::string("--offload-arch=") + rt::device().target);
  std::string output;
  const bool compiled = rt::python(command, &output);
  p->log = read_file(log);
  p->code = compiled ? read_file(code) : "";
  const bool fine = compiled && lower(p);
  for (const std::string &path : files) unlink(path.c_str());
  for (const std::string &path : {source, code, log}) unlink(path.c_str());
  rmdir(base.c_str());
  return fine ? HIPRTC_SUCCESS : HIPRTC_ERROR_COMPILATION;
}
hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char *expression, const char **lowered) {
  if (!program || !expression || !lowered) return HIPRTC_ERROR_INVALID_INPUT;
  auto at = of(program)->lowered.find(expression);
  if (at == of(program)->lowered.end()) return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *lowered = at->second.c_str();
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t *bytes) {
  if (!program || !bytes) return HIPRTC_ERROR_INVALID_INPUT;
  *bytes = of(program)->log.size() + 1;
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char *log) {
  if (!program || !log) return HIPRTC_ERROR_INVALID_INPUT;
  std::memcpy(log, of(program)->log.c_str(), of(program)->log.size() + 1);
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t *bytes) {
  if (!program || !bytes) return HIPRTC_ERROR_INVALID_INPUT;
  *bytes = of(program)->code.size();
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetCode(hiprtcProgram program, char *code) {
  if (!program || !code) return HIPRTC_ERROR_INVALID_INPUT;
  std::memcpy(code, of(program)->code.data(), of(program)->code.size());
  return HIPRTC_SUCCESS;
}

}  // extern "C"
