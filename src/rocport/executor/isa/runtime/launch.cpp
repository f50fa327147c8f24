// SPDX-License-Identifier: Apache-2.0
// Runs a kernel: its machine code is translated to a shared object once (by rocport's Python, kept in the cache), and
// the engine runs that over the grid.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../native/engine.h"
#include "calls.h"
#include "state.h"

extern char **environ;

namespace rt {
namespace {

constexpr int kCannotRun = 86;  // exit status: what the program would have done is not known

std::string digest(const std::string &bytes) {
  std::uint64_t a = 0xcbf29ce484222325u, b = 0x9e3779b97f4a7c15u;
  for (unsigned char c : bytes) {
    a = (a ^ c) * 0x100000001b3u;
    b = (b + c) * 0xff51afd7ed558ccdu;
    b ^= b >> 29;
  }
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
  return text;
}

bool exists(const std::string &path) { return access(path.c_str(), R_OK) == 0; }

void write_file(const std::string &path, const std::string &bytes) {
  const std::string partial = path + "." + std::to_string(getpid());
  std::ofstream(partial, std::ios::binary) << bytes;
  if (std::rename(partial.c_str(), path.c_str())) std::remove(partial.c_str());
}

// Where it is kept which shared object a kernel was translated to: by the translator's own version.
std::string cache() { return setting("ROCPORT_ISA_CACHE", ROCPORT_ISA_CACHE) + "/" ROCPORT_ISA_VERSION "/"; }

// The file that a note names; empty when there is no note, or no such file any more.
std::string noted(const std::string &note) {
  std::string path;
  std::getline(std::ifstream(note), path);
  return exists(path) ? path : "";
}

void make_folders(const std::string &path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    mkdir(path.substr(0, at).c_str(), 0777);
}

// The environment of the machine: without what `rocport exec` put in front of it.
std::vector<std::string> environment() {
  const std::string tree = setting("ROCPORT_EXEC_TREE", "");
  std::vector<std::string> variables = {std::string("PYTHONPATH=") + setting("ROCPORT_SOURCE", ROCPORT_SOURCE)};
  for (char **e = environ; *e; ++e) {
    std::string variable = *e;
    const std::size_t equals = variable.find('=') + 1;
    const std::string name = variable.substr(0, equals);
    if (name == "PYTHONPATH=" || name == "LD_PRELOAD=") continue;
    if (!tree.empty() && variable.substr(equals) == tree) continue;
    while (!tree.empty() && name == "PATH=" && !variable.compare(equals, tree.size(), tree))
      variable.erase(equals, variable.find(':', equals) - equals + 1);
    variables.push_back(std::move(variable));
  }
  return variables;
}

// The text of a member of the JSON object that rocport's Python printed; empty when it is not there.
std::string member(const std::string &json, const std::string &name) {
  const std::string key = '"' + name + "\": \"";
  std::size_t at = json.find(key);
  if (at == std::string::npos) return "";
  std::string value;
  for (at += key.size(); at < json.size() && json[at] != '"'; ++at) value += json[at] == '\\' ? json[++at] : json[at];
  return value;
}

}  // namespace

namespace {

// A Python of rocport's as a child process; `input` and `output` are this side's ends of its standard streams.
struct Child {
  pid_t id = -1;
  int input = -1, output = -1;
};

Child start_python(std::vector<std::string> arguments, bool with_input) {
  arguments.insert(arguments.begin(), setting("ROCPORT_PYTHON", ROCPORT_PYTHON));
  std::vector<char *> argv;
  for (std::string &a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables = environment();
  std::vector<char *> envp;
  for (std::string &v : variables) envp.push_back(v.data());
  envp.push_back(nullptr);
  int out[2], in[2] = {-1, -1};
  Child child;
  if (pipe2(out, O_CLOEXEC)) return child;
  if (with_input && pipe2(in, O_CLOEXEC)) {
    close(out[0]), close(out[1]);
    return child;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  if (with_input) posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  if (posix_spawnp(&child.id, argv[0], &actions, nullptr, argv.data(), envp.data())) child.id = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  if (with_input) close(in[0]);
  child.output = out[0];
  child.input = in[1];
  return child;
}

}  // namespace

bool python(std::vector<std::string> arguments, std::string *output) {
  const Child child = start_python(std::move(arguments), false);
  char piece[4096];
  for (ssize_t n; child.id >= 0 && (n = read(child.output, piece, sizeof piece)) > 0;)
    output->append(piece, static_cast<std::size_t>(n));
  if (child.output >= 0) close(child.output);
  int status = 0;
  return child.id >= 0 && waitpid(child.id, &status, 0) == child.id && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

namespace {

// Whether races and reads of unwritten LDS are looked for.
bool watched() {
  static const bool asked = setting("ROCPORT_EXEC_WATCH", "0") != "0";
  return asked;
}

// One translator serves all kernels of the process: to start Python costs more than most translations. It ends with
// its standard input. A forked child starts its own.
std::string ask_translator(const std::string &request) {
  static Child one;
  static pid_t owner = -1;
  if (owner != getpid()) {
    one = start_python({"-m", "rocport.executor.isa", "serve"}, true);
    owner = getpid();
  }
  std::string answer;
  if (one.id < 0 || write(one.input, request.data(), request.size()) != static_cast<ssize_t>(request.size())) return answer;
  for (char c; read(one.output, &c, 1) == 1 && c != '\n';) answer += c;
  return answer;
}

// The shared object of the kernel; empty when it cannot be translated.
std::string translated(ihipModule_t *module, const Kernel &kernel) {
  if (module->file.empty()) {
    module->file = cache() + digest(module->image) + ".co";
    make_folders(module->file);
    if (!exists(module->file)) write_file(module->file, module->image);
  }
  const char *how = watched() ? "watched" : "plain";
  const std::string note = module->file + "." + device().target + "." + digest(kernel.name) + "." + how;
  std::string path = noted(note);
  if (!path.empty()) return path;
  path = ask_translator(module->file + '\t' + device().target + '\t' + kernel.name + '\t' + how + '\n');
  if (!path.empty()) write_file(note, path);
  return path;
}

struct Engine {
  decltype(&rp_kernel_open) open = nullptr;
  decltype(&rp_dispatch) dispatch = nullptr;
  std::string why;
  Engine() {
    const std::string note = cache() + "engine";
    std::string path = noted(note), output;
    if (path.empty() && python({"-m", "rocport.executor.isa", "engine"}, &output)) {
      path = member(output, "library");
      make_folders(note);
      write_file(note, path);
    }
    void *library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      why = path.empty() ? "it does not build" : dlerror();
      return;
    }
    open = reinterpret_cast<decltype(open)>(dlsym(library, "rp_kernel_open"));
    dispatch = reinterpret_cast<decltype(dispatch)>(dlsym(library, "rp_dispatch"));
    auto abi = reinterpret_cast<decltype(&rp_abi)>(dlsym(library, "rp_abi"));
    if (!open || !dispatch || !abi || abi() != RP_ISA_ABI) why = path + " is not the engine this library was built for";
  }
};
Engine &engine() {
  static Engine one;
  return one;
}

rp_kernel *opened(ihipModuleSymbol_t *function) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> guard(mutex);
  if (function->entry) return static_cast<rp_kernel *>(const_cast<void *>(function->entry));
  if (!engine().why.empty()) {
    say("the ISA engine cannot be loaded: %s", engine().why.c_str());
    return nullptr;
  }
  const std::string path = translated(function->module, *function->kernel);
  if (path.empty()) {
    say("kernel %s cannot be translated for %s", function->kernel->name.c_str(), device().target);
    return nullptr;
  }
  rp_error error{};
  rp_kernel *kernel = engine().open(path.c_str(), &error);
  if (!kernel) say("%s: %s", path.c_str(), error.text);
  function->entry = kernel;
  return kernel;
}

bool wants(const Kernel &kernel, const char *hidden) {
  return std::any_of(kernel.arguments.begin(), kernel.arguments.end(), [&](const Argument &a) { return a.kind == hidden; });
}

[[noreturn]] void give_up() {
  std::fflush(nullptr);
  _exit(kCannotRun);
}

// Kernels and their launches, for the report that ROCPORT_REPORT names.
struct Launched {
  std::size_t launches = 0;
  unsigned lds = 0, threads = 0;
  std::uint64_t instructions = 0, lane_instructions = 0;
};
struct Report {
  std::mutex mutex;
  std::map<std::string, Launched> kernels;
  std::string hazards;
  void note(const Kernel &kernel, const rp_error &where) {
    std::lock_guard<std::mutex> guard(mutex);
    hazards += "isa-hazard\t" + std::to_string(where.code) + '\t' + where.source + '\t' + spelled(kernel.name) + '\t' + where.text + '\n';
  }
  void note(const Kernel &kernel, const Launch &how, const rp_launch &done) {
    std::lock_guard<std::mutex> guard(mutex);
    Launched &k = kernels[spelled(kernel.name)];
    ++k.launches;
    k.lds = std::max(k.lds, how.lds);
    k.threads = std::max(k.threads, how.block.x * how.block.y * how.block.z);
    k.instructions += done.instructions;
    k.lane_instructions += done.lane_instructions;
  }
  ~Report() {
    const std::string path = setting("ROCPORT_REPORT", "");
    if (path.empty()) return;
    std::ofstream out(path, std::ios::app);
    out << hazards;
    for (const auto &[name, k] : kernels)
      out << "isa-kernel\t" << k.launches << '\t' << k.lds << '\t' << k.threads << '\t' << k.instructions << '\t'
          << k.lane_instructions << '\t' << name << '\n';
  }
};
Report &report() {
  static Report one;
  return one;
}

void found(void *kernel, const rp_error *where) {
  say("%s", where->text);
  report().note(*static_cast<const Kernel *>(kernel), *where);
}

}  // namespace

std::string spelled(const std::string &symbol) {
  // `f` alone, the name of an extern "C" kernel, is also the mangled type float.
  if (symbol.compare(0, 2, "_Z")) return symbol;
  int status = 0;
  char *plain = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (!plain) return symbol;
  std::string name = plain;
  std::free(plain);
  // The parentheses at the end hold the types of the arguments; a template's name follows the type it returns.
  std::size_t open = name.rfind(')') == std::string::npos ? std::string::npos : name.size();
  for (int depth = 0; open != std::string::npos && open-- > 0;) {
    depth += name[open] == ')' ? 1 : name[open] == '(' ? -1 : 0;
    if (!depth && name[open] == '(') break;
  }
  if (open < name.size()) name.erase(open);
  return name.compare(0, 5, "void ") ? name : name.substr(5);
}

std::string &last_kernel() {
  static thread_local std::string name;
  return name;
}

namespace {

// A launch as a line of the trace: the arguments as the kernel's segment holds them.
std::string traced(const Kernel &kernel, const Launch &how, const std::string &kernarg, const rp_launch &done,
                   std::chrono::steady_clock::duration took) {
  auto sizes = [](const dim3 &d) { return calls::value(d, true); };
  std::string text = "{\"kernel\": " + calls::quoted(spelled(kernel.name).c_str()) + ", \"grid\": " + sizes(how.grid) +
                     ", \"block\": " + sizes(how.block) + ", \"lds\": " + std::to_string(how.lds) + ", \"arguments\": [";
  bool first = true;
  for (const Argument &a : kernel.arguments) {
    if (!a.kind.compare(0, 7, "hidden_") || a.offset + a.size > kernarg.size()) continue;
    const char *bytes = kernarg.data() + a.offset;
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, std::min(a.size, sizeof bits));
    Allocation known;
    char item[160];
    if (a.kind == "global_buffer" && find_allocation(reinterpret_cast<void *>(bits), &known))
      std::snprintf(item, sizeof item, "{\"pointer\": \"0x%llx\", \"byte\": %zu, \"of\": %zu}", static_cast<unsigned long long>(bits),
                    static_cast<std::size_t>(reinterpret_cast<char *>(bits) - known.base), known.size);
    else if (a.kind == "global_buffer" || a.size > sizeof bits)
      std::snprintf(item, sizeof item, "{\"%s\": \"0x%llx\", \"size\": %zu}", a.kind == "global_buffer" ? "pointer" : "begins",
                    static_cast<unsigned long long>(bits), a.size);
    else
      std::snprintf(item, sizeof item, "{\"bits\": \"0x%0*llx\", \"integer\": %lld}", static_cast<int>(2 * a.size),
                    static_cast<unsigned long long>(bits),
                    static_cast<long long>(bits << (64 - 8 * a.size)) >> (64 - 8 * a.size));
    text += (first ? "" : ", ") + std::string(item);
    first = false;
  }
  return text + "], \"instructions\": " + std::to_string(done.instructions) + ", \"lane_instructions\": " +
         std::to_string(done.lane_instructions) + ", \"ms\": " + calls::milliseconds(took) + "}";
}

}  // namespace

std::string pack_arguments(const Kernel &kernel, void **arguments, const void *packed, std::size_t packed_size) {
  std::size_t explicit_bytes = 0;
  for (const Argument &a : kernel.arguments)
    if (a.kind.compare(0, 7, "hidden_")) explicit_bytes = std::max(explicit_bytes, a.offset + a.size);
  std::string kernarg(explicit_bytes, '\0');
  if (packed) {
    std::memcpy(kernarg.data(), packed, std::min(packed_size, explicit_bytes));
    return kernarg;
  }
  std::size_t index = 0;
  for (const Argument &a : kernel.arguments)
    if (arguments && a.kind.compare(0, 7, "hidden_")) std::memcpy(kernarg.data() + a.offset, arguments[index++], a.size);
  return kernarg;
}

hipError_t check_launch(const ihipModuleSymbol_t *function, const Launch &how) {
  const Kernel &kernel = *function->kernel;
  const std::uint64_t threads = std::uint64_t{how.block.x} * how.block.y * how.block.z;
  auto refuse = [&](hipError_t error, const char *why) {
    say("launch of %s with grid %u,%u,%u and block %u,%u,%u refused: %s", kernel.name.c_str(), how.grid.x, how.grid.y,
        how.grid.z, how.block.x, how.block.y, how.block.z, why);
    return error;
  };
  if (!threads || !how.grid.x || !how.grid.y || !how.grid.z) return refuse(hipErrorInvalidConfiguration, "it is empty");
  if (threads > static_cast<std::uint64_t>(device().max_threads))
    return refuse(hipErrorInvalidConfiguration, "more threads a block than the device has");
  if (threads > static_cast<std::uint64_t>(kernel.max_threads))
    return refuse(hipErrorLaunchFailure, "more threads a block than the kernel was compiled for (__launch_bounds__)");
  for (auto [blocks, size] : {std::pair{how.grid.x, how.block.x}, {how.grid.y, how.block.y}, {how.grid.z, how.block.z}})
    if (std::uint64_t{blocks} * size > 0xffffffffu)
      return refuse(hipErrorInvalidConfiguration, "2^32 threads or more in one dimension");
  if (kernel.lds + how.lds > device().lds) return refuse(hipErrorInvalidValue, "more shared memory than a block may have");
  if (how.cooperative && std::uint64_t{how.grid.x} * how.grid.y * how.grid.z >
                             static_cast<std::uint64_t>(occupancy(kernel, static_cast<int>(threads), how.lds)) *
                                 static_cast<std::uint64_t>(compute_units()))
    return refuse(hipErrorCooperativeLaunchTooLarge, "more blocks than the device holds at once");
  return hipSuccess;
}

hipError_t run_kernel(ihipModuleSymbol_t *function, const Launch &how, const std::string &kernarg) {
  const Kernel &kernel = *function->kernel;
  rp_kernel *translated_kernel = opened(function);
  if (!translated_kernel) give_up();
  rp_launch launch{};
  launch.grid[0] = how.grid.x, launch.grid[1] = how.grid.y, launch.grid[2] = how.grid.z;
  launch.block[0] = how.block.x, launch.block[1] = how.block.y, launch.block[2] = how.block.z;
  launch.dynamic_lds = how.lds;
  launch.flags = RP_CHECK_DIVERGENCE;
  if (how.cooperative) launch.flags |= RP_COOPERATIVE;
  if (watched()) launch.flags |= RP_WATCH;
  launch.found = found;
  launch.user = const_cast<Kernel *>(&kernel);
  launch.image = reinterpret_cast<std::uint64_t>(function->module->base);
  launch.kernarg = kernarg.data();
  launch.kernarg_bytes = static_cast<std::uint32_t>(kernarg.size());
  launch.threads = static_cast<std::uint32_t>(std::atoi(setting("ROCPORT_EXEC_THREADS", "0").c_str()));
  launch.seed = std::strtoull(setting("ROCPORT_EXEC_SEED", "0").c_str(), nullptr, 10);
  const std::string poison = setting("ROCPORT_POISON", "");
  if (!poison.empty()) {
    launch.poison = static_cast<std::uint32_t>(std::atoi(poison.c_str()) & 0xff) * 0x01010101u;
    launch.has_poison = 1;
    launch.flags |= RP_POISON_MEMORY;
  }
  std::unique_ptr<HostcallService> service;
  const bool heap = wants(kernel, "hidden_heap_v1");
  if (heap || wants(kernel, "hidden_hostcall_buffer")) {
    launch.hidden[RP_HIDDEN_HOSTCALL_BUFFER] = reinterpret_cast<std::uint64_t>(hostcall_buffer());
    if (heap) launch.hidden[RP_HIDDEN_HEAP_V1] = reinterpret_cast<std::uint64_t>(device_heap());
    service = std::make_unique<HostcallService>();
  }
  if (wants(kernel, "hidden_printf_buffer")) {
    say("kernel %s prints through a buffer: build without -mprintf-kind=buffered", kernel.name.c_str());
    give_up();
  }
  if (how.cooperative && wants(kernel, "hidden_multigrid_sync_arg"))
    launch.hidden[RP_HIDDEN_MULTIGRID_SYNC_ARG] = reinterpret_cast<std::uint64_t>(grid_barrier(how));
  last_kernel() = spelled(kernel.name);
  rp_error error{};
  const auto began = std::chrono::steady_clock::now();
  const int stop = engine().dispatch(translated_kernel, &launch, &error);
  if (calls::file() >= 0) calls::line(traced(kernel, how, kernarg, launch, std::chrono::steady_clock::now() - began));
  service.reset();
  report().note(kernel, how, launch);
  check_margins(("after kernel " + kernel.name).c_str());
  switch (stop) {
    case 0: return hipSuccess;
    case RP_BAD_LAUNCH: say("%s", error.text); return fail(hipErrorInvalidConfiguration);
    case RP_UNSUPPORTED:
      say("%s. The program ends here: what it would have done is not known.", error.text);
      give_up();
    default:
      // As on the device, whose runtime ends the process at a fault, a trap and an assertion.
      say("%s", error.text);
      std::fflush(nullptr);
      std::abort();
  }
}

}  // namespace rt
