// rocport_samples.h - what programs take from the helper headers that come with CUDA's samples, on AMD.
// SPDX-License-Identifier: Apache-2.0
//
// Stands for helper_cuda.h, helper_string.h, helper_timer.h and helper_functions.h where a program expects them on its
// include path: checks of errors, the choice of a device, timers, the command line. Written anew from how programs call
// them. Images (sdkLoadPGM and its kin) are not here: a unit that calls one stops at its name.
#ifndef ROCPORT_SAMPLES_H
#define ROCPORT_SAMPLES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include <hip/hip_runtime_api.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, length, from) strcpy(to, from)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(result) (!(result))
#define SSCANF sscanf
#define SPRINTF sprintf
#endif

// --- the command line: options begin with any number of dashes, values follow behind `=`

namespace rocport {
namespace samples {

// What stands behind `name` in an argument: "" for the option alone, its value behind `=`; null for another option.
inline const char* option(const char* argument, const char* name) {
  if (argument[0] != '-') return nullptr;
  while (*argument == '-') ++argument;
  const size_t length = strlen(name);
  if (strncasecmp(argument, name, length) != 0) return nullptr;
  if (argument[length] == '=') return argument + length + 1;
  return argument[length] == '\0' ? argument + length : nullptr;
}

// The value of the last option of that name; null where there is none.
inline const char* value(int argc, const char** argv, const char* name) {
  const char* found = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (const char* here = option(argv[i], name)) found = here;
  }
  return found;
}

inline const char* name_of(hipError_t error) { return hipGetErrorName(error); }
template <class T>
const char* name_of(T) {
  return "status of a library";
}

}  // namespace samples
}  // namespace rocport

inline int stringRemoveDelimiter(char delimiter, const char* text) {
  int at = 0;
  while (text[at] == delimiter) ++at;
  return at >= static_cast<int>(strlen(text)) - 1 ? 0 : at;
}

inline int getFileExtension(char* name, char** extension) {
  char* dot = strrchr(name, '.');
  *extension = dot ? dot + 1 : nullptr;
  return dot ? static_cast<int>(dot + 1 - name) : 0;
}

inline bool checkCmdLineFlag(const int argc, const char** argv, const char* name) {
  return rocport::samples::value(argc, argv, name) != nullptr;
}

inline int getCmdLineArgumentInt(const int argc, const char** argv, const char* name) {
  const char* text = rocport::samples::value(argc, argv, name);
  return text ? atoi(text) : 0;
}

inline float getCmdLineArgumentFloat(const int argc, const char** argv, const char* name) {
  const char* text = rocport::samples::value(argc, argv, name);
  return text ? static_cast<float>(atof(text)) : 0.0f;
}

template <class T>
bool getCmdLineArgumentValue(const int argc, const char** argv, const char* name, T* value) {
  const char* text = rocport::samples::value(argc, argv, name);
  if (text && *text) {
    std::istringstream in(text);
    in >> *value;
  }
  return text != nullptr;
}

inline bool getCmdLineArgumentString(const int argc, const char** argv, const char* name, char** value) {
  const char* text = rocport::samples::value(argc, argv, name);
  *value = const_cast<char*>(text);
  return text != nullptr;
}

// The path of a data file: as given, in ./data, or beside the program; null where it is nowhere. The caller frees it.
inline char* sdkFindFilePath(const char* name, const char* program) {
  std::string beside = program ? program : "";
  const size_t slash = beside.find_last_of('/');
  beside = slash == std::string::npos ? "." : beside.substr(0, slash);
  for (const std::string& folder : {std::string("."), std::string("data"), beside, beside + "/data"}) {
    const std::string path = name[0] == '/' ? std::string(name) : folder + "/" + name;
    if (std::ifstream(path.c_str()).good()) return strdup(path.c_str());
  }
  return nullptr;
}

// --- errors

template <class T>
void check(T result, const char* call, const char* file, int line) {
  if (static_cast<int>(result) == 0) return;
  fprintf(stderr, "GPU error at %s:%d code=%d(%s) \"%s\"\n", file, line, static_cast<int>(result),
          rocport::samples::name_of(result), call);
  exit(EXIT_FAILURE);
}

inline void __getLastCudaError(const char* message, const char* file, int line) {
  const hipError_t error = hipGetLastError();
  if (error == hipSuccess) return;
  fprintf(stderr, "%s(%d): GPU error: %s: (%d) %s\n", file, line, message, static_cast<int>(error),
          hipGetErrorString(error));
  exit(EXIT_FAILURE);
}

inline void __printLastCudaError(const char* message, const char* file, int line) {
  const hipError_t error = hipGetLastError();
  if (error == hipSuccess) return;
  fprintf(stderr, "%s(%d): GPU error: %s: (%d) %s\n", file, line, message, static_cast<int>(error),
          hipGetErrorString(error));
}

inline const char* _cudaGetErrorEnum(hipError_t error) { return hipGetErrorName(error); }

#ifndef checkCudaErrors
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
#endif
#ifndef getLastCudaError
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#endif
#ifndef printLastCudaError
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)
#endif

// --- devices

inline int ftoi(float value) { return static_cast<int>(value >= 0 ? value + 0.5f : value - 0.5f); }

// A compute unit has 64 lanes of single precision on every AMD GPU that HIP runs on, whatever its version.
inline int _ConvertSMVer2Cores(int, int) { return 64; }

inline const char* _ConvertSMVer2ArchName(int major, int) { return major == 9 ? "CDNA" : "RDNA"; }

inline int gpuDeviceInit(int device) {
  int count = 0;
  checkCudaErrors(hipGetDeviceCount(&count));
  if (count == 0) {
    fprintf(stderr, "gpuDeviceInit: no device\n");
    exit(EXIT_FAILURE);
  }
  if (device < 0) device = 0;
  if (device >= count) {
    fprintf(stderr, "gpuDeviceInit: device %d is not one of %d\n", device, count);
    return -device;
  }
  checkCudaErrors(hipSetDevice(device));
  return device;
}

// The device with the most compute units times clock.
inline int gpuGetMaxGflopsDeviceId() {
  int count = 0, best = 0;
  double most = -1;
  checkCudaErrors(hipGetDeviceCount(&count));
  if (count == 0) {
    fprintf(stderr, "gpuGetMaxGflopsDeviceId: no device\n");
    exit(EXIT_FAILURE);
  }
  for (int device = 0; device < count; ++device) {
    int units = 0, clock = 0;
    checkCudaErrors(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device));
    checkCudaErrors(hipDeviceGetAttribute(&clock, hipDeviceAttributeClockRate, device));
    const double speed = static_cast<double>(units) * clock;
    if (speed > most) {
      most = speed;
      best = device;
    }
  }
  return best;
}

inline void rocport_samples_say(int device) {
  hipDeviceProp_t properties;
  checkCudaErrors(hipGetDeviceProperties(&properties, device));
  printf("GPU Device %d: \"%s\" (%s)\n\n", device, properties.name, properties.gcnArchName);
}

inline int findCudaDevice(int argc, const char** argv) {
  int device = 0;
  if (checkCmdLineFlag(argc, argv, "device")) {
    device = gpuDeviceInit(getCmdLineArgumentInt(argc, argv, "device"));
    if (device < 0) exit(EXIT_FAILURE);
  } else {
    device = gpuGetMaxGflopsDeviceId();
    checkCudaErrors(hipSetDevice(device));
  }
  rocport_samples_say(device);
  return device;
}

// The first device that shares the host's memory; -1 where there is none.
inline int findIntegratedGPU() {
  int count = 0;
  checkCudaErrors(hipGetDeviceCount(&count));
  for (int device = 0; device < count; ++device) {
    int integrated = 0;
    checkCudaErrors(hipDeviceGetAttribute(&integrated, hipDeviceAttributeIntegrated, device));
    if (integrated) {
      checkCudaErrors(hipSetDevice(device));
      rocport_samples_say(device);
      return device;
    }
  }
  return -1;
}

// NVIDIA's compute capability says nothing about an AMD GPU: a device is enough, and the question is printed.
inline bool checkCudaCapabilities(int major, int minor) {
  int count = 0;
  if (hipGetDeviceCount(&count) != hipSuccess || count == 0) return false;
  printf("compute capability %d.%d is asked for; not a question to an AMD GPU\n", major, minor);
  return true;
}

// --- timers, in milliseconds of the host's steady clock

class StopWatchInterface {
 public:
  virtual ~StopWatchInterface() {}
  virtual void start() {
    from_ = Clock::now();
    running_ = true;
  }
  virtual void stop() {
    if (!running_) return;
    total_ += since();
    running_ = false;
    ++sessions_;
  }
  virtual void reset() {
    total_ = 0;
    sessions_ = 0;
    if (running_) from_ = Clock::now();
  }
  virtual float getTime() { return static_cast<float>(running_ ? total_ + since() : total_); }
  virtual float getAverageTime() { return sessions_ > 0 ? static_cast<float>(total_ / sessions_) : 0.0f; }

 private:
  typedef std::chrono::steady_clock Clock;
  double since() const { return std::chrono::duration<double, std::milli>(Clock::now() - from_).count(); }
  Clock::time_point from_;
  double total_ = 0;
  int sessions_ = 0;
  bool running_ = false;
};

inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchInterface();
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = nullptr;
  return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->start();
  return true;
}
inline bool sdkStopTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->stop();
  return true;
}
inline bool sdkResetTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->reset();
  return true;
}
inline float sdkGetTimerValue(StopWatchInterface** timer) { return *timer ? (*timer)->getTime() : 0.0f; }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return *timer ? (*timer)->getAverageTime() : 0.0f; }

// --- comparing

// True where the distance of two arrays is less than epsilon times the length of the first.
inline bool sdkCompareL2fe(const float* reference, const float* data, const unsigned int length, const float epsilon) {
  double error = 0, size = 0;
  for (unsigned int i = 0; i < length; ++i) {
    const double distance = static_cast<double>(reference[i]) - data[i];
    error += distance * distance;
    size += static_cast<double>(reference[i]) * reference[i];
  }
  return size > 0 && sqrt(error) / sqrt(size) < epsilon;
}

#endif  // ROCPORT_SAMPLES_H
