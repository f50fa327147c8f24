// SPDX-License-Identifier: Apache-2.0
// The trace that ROCPORT_EXEC_TRACE names: one JSON object a line for each call of the API and each launch of a kernel.
// calls.py writes a function around every one of the API's.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include <fcntl.h>
#include <unistd.h>

namespace calls {

// Where lines go; -1: nowhere. `-` is standard error.
inline int file() {
  static const int descriptor = [] {
    const char *path = std::getenv("ROCPORT_EXEC_TRACE");
    if (!path || !*path) return -1;
    return std::strcmp(path, "-") ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : 2;
  }();
  return descriptor;
}
// Lines of several threads and processes do not mix: each is one write to a file that is appended to.
inline void line(std::string text) {
  text += '\n';
  if (write(file(), text.data(), text.size()) < 0) std::perror("ROCPORT_EXEC_TRACE");
}
inline std::string quoted(const char *text) {
  std::string out = "\"";
  for (; *text; ++text) {
    const unsigned char c = static_cast<unsigned char>(*text);
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
    if (c < 32 || c > 126) out += escaped;  // a byte that may be no UTF-8 stands for the character of its number
    else if (c == '"' || c == '\\') (out += '\\') += *text;
    else out += *text;
  }
  return out += '"';
}
inline std::string address(const void *p) {
  char text[24];
  std::snprintf(text, sizeof text, "\"%p\"", p);
  return p ? text : "null";
}
inline std::string milliseconds(std::chrono::steady_clock::duration d) {
  const long long us = std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld", us / 1000, us % 1000);
  return text;
}

// In JSON's spelling, whatever the program's locale is; what JSON has no number for is in quotes.
inline std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, std::isfinite(v) ? "%.9g" : "\"%g\"", v);
  for (char *c = text; *c && std::isfinite(v); ++c)
    if (!std::strchr("+-0123456789e", *c)) *c = '.';
  return text;
}

// An argument as JSON. Numbers that a call writes through a pointer are read once it succeeded.
template <class T> std::string value(T v, bool succeeded) {
  if constexpr (std::is_same<T, const char *>::value) {
    return v ? quoted(v) : "null";
  } else if constexpr (std::is_pointer<T>::value) {
    using Pointed = std::remove_pointer_t<T>;
    if constexpr (!std::is_const<Pointed>::value && (std::is_pointer<Pointed>::value || std::is_arithmetic<Pointed>::value)) {
      // A byte may be the first of a buffer.
      if (!v || !succeeded || sizeof(Pointed) < 4) return address(v);
      return "{\"at\": " + address(v) + ", \"value\": " + value(static_cast<Pointed>(*v), false) + "}";
    } else {
      return address(reinterpret_cast<const void *>(v));
    }
  } else if constexpr (std::is_floating_point<T>::value) {
    return number(v);
  } else if constexpr (std::is_arithmetic<T>::value) {
    return std::to_string(v);
  } else if constexpr (std::is_enum<T>::value) {
    return std::to_string(static_cast<long long>(v));
  } else if constexpr (sizeof(T) == 3 * sizeof(unsigned) && std::is_class<T>::value) {  // dim3
    unsigned parts[3];
    std::memcpy(parts, &v, sizeof parts);
    return "[" + std::to_string(parts[0]) + ", " + std::to_string(parts[1]) + ", " + std::to_string(parts[2]) + "]";
  } else {
    return "\"" + std::to_string(sizeof(T)) + " bytes\"";
  }
}

// One call, from its begin to its end. Calls that the runtime makes of its own functions are not the program's.
class Call {
 public:
  explicit Call(const char *name) : name_(name), own_(depth()++ == 0), began_(std::chrono::steady_clock::now()) {}
  Call(const Call &) = delete;
  ~Call() { --depth(); }
  template <class... A> void end(const char *result, bool succeeded, const char *const *names, A... arguments) {
    if (!own_ || file() < 0) return;
    std::string text = "{\"call\": \"" + std::string(name_) + "\", \"arguments\": {";
    std::size_t i = 0;
    auto add = [&](const std::string &as_json) {
      text += (i ? ", \"" : "\"") + std::string(names[i]) + "\": " + as_json;
      ++i;
    };
    (add(value(arguments, succeeded)), ...);
    line(text + "}, \"result\": " + quoted(result) + ", \"ms\": " + milliseconds(std::chrono::steady_clock::now() - began_) + "}");
  }

 private:
  static int &depth() {
    static thread_local int one = 0;
    return one;
  }
  const char *name_;
  bool own_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace calls
