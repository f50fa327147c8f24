// SPDX-License-Identifier: Apache-2.0
// Code objects: clang's offload bundles, the ELF files in them, and the metadata note (MessagePack) that describes
// their kernels. Formats: https://llvm.org/docs/AMDGPUUsage.html and https://clang.llvm.org/docs/ClangOffloadBundler.html
#include <algorithm>

#include <elf.h>
#include <sys/mman.h>

#include "state.h"

namespace rt {
namespace {

constexpr char kBundle[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::size_t kBundleLength = sizeof kBundle - 1;
constexpr char kCompressed[] = "CCOB";
constexpr std::uint16_t kAmdgpu = 224;  // EM_AMDGPU
enum Relocation : unsigned { kAbs32Lo = 1, kAbs32Hi = 2, kAbs64 = 3, kAbs32 = 6, kRelative64 = 13 };

std::size_t elf_size(const char *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  std::size_t end = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + std::size_t{i} * header.e_shentsize, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max<std::size_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

// The target of an entry's name: hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+ -> gfx942.
std::string target_of(const std::string &entry) {
  std::size_t at = entry.rfind("gfx");
  return at == std::string::npos ? "" : entry.substr(at, entry.find(':', at) - at);
}

// ---- MessagePack ---------------------------------------------------------------------------------------------------

struct Value {
  enum Type { none, integer, boolean, text, list, map } type = none;
  std::int64_t number = 0;
  std::string string;
  std::vector<Value> items;                          // of a list
  std::vector<std::pair<std::string, Value>> pairs;  // of a map
  const Value &operator[](const char *name) const {
    static const Value nothing;
    for (const auto &p : pairs)
      if (p.first == name) return p.second;
    return nothing;
  }
};

class Reader {
 public:
  Reader(const unsigned char *at, std::size_t bytes) : at_(at), end_(at + bytes) {}
  bool failed() const { return failed_; }
  Value read() {
    Value v;
    const unsigned tag = byte();
    if (tag <= 0x7f) return number(tag);
    if (tag >= 0xe0) return number(static_cast<std::int8_t>(tag));
    if (tag >= 0x80 && tag <= 0x8f) return map(tag & 15);
    if (tag >= 0x90 && tag <= 0x9f) return list(tag & 15);
    if (tag >= 0xa0 && tag <= 0xbf) return text(tag & 31);
    switch (tag) {
      case 0xc0: return v;
      case 0xc2:
      case 0xc3:
        v = number(tag & 1);
        v.type = Value::boolean;
        return v;
      case 0xcc: return number(static_cast<std::int64_t>(big(1)));
      case 0xcd: return number(static_cast<std::int64_t>(big(2)));
      case 0xce: return number(static_cast<std::int64_t>(big(4)));
      case 0xcf: return number(static_cast<std::int64_t>(big(8)));
      case 0xd0: return number(static_cast<std::int8_t>(big(1)));
      case 0xd1: return number(static_cast<std::int16_t>(big(2)));
      case 0xd2: return number(static_cast<std::int32_t>(big(4)));
      case 0xd3: return number(static_cast<std::int64_t>(big(8)));
      case 0xc4:
      case 0xd9: return text(big(1));
      case 0xc5:
      case 0xda: return text(big(2));
      case 0xc6:
      case 0xdb: return text(big(4));
      case 0xdc: return list(big(2));
      case 0xdd: return list(big(4));
      case 0xde: return map(big(2));
      case 0xdf: return map(big(4));
      default: failed_ = true; return v;
    }
  }

 private:
  const unsigned char *at_, *end_;
  bool failed_ = false;
  unsigned byte() {
    if (at_ >= end_) return failed_ = true, 0xc0;
    return *at_++;
  }
  std::uint64_t big(int bytes) {
    std::uint64_t v = 0;
    for (int i = 0; i < bytes; ++i) v = v << 8 | byte();
    return v;
  }
  static Value number(std::int64_t n) {
    Value v;
    v.type = Value::integer;
    v.number = n;
    return v;
  }
  Value text(std::uint64_t bytes) {
    Value v;
    v.type = Value::text;
    if (bytes > static_cast<std::uint64_t>(end_ - at_)) return failed_ = true, v;
    v.string.assign(reinterpret_cast<const char *>(at_), bytes);
    at_ += bytes;
    return v;
  }
  Value list(std::uint64_t count) {
    Value v;
    v.type = Value::list;
    for (std::uint64_t i = 0; i < count && !failed_; ++i) v.items.push_back(read());
    return v;
  }
  Value map(std::uint64_t count) {
    Value v;
    v.type = Value::map;
    for (std::uint64_t i = 0; i < count && !failed_; ++i) {
      std::string key = read().string;
      v.pairs.emplace_back(std::move(key), read());
    }
    return v;
  }
};

void read_kernels(const Value &root, ihipModule_t *module) {
  for (const Value &k : root["amdhsa.kernels"].items) {
    Kernel kernel;
    kernel.name = k[".name"].string;
    kernel.symbol = k[".symbol"].string;
    kernel.kernarg_size = static_cast<std::size_t>(k[".kernarg_segment_size"].number);
    kernel.lds = static_cast<std::size_t>(k[".group_segment_fixed_size"].number);
    kernel.scratch = static_cast<std::size_t>(k[".private_segment_fixed_size"].number);
    kernel.vgprs = static_cast<int>(k[".vgpr_count"].number);
    kernel.sgprs = static_cast<int>(k[".sgpr_count"].number);
    kernel.agprs = static_cast<int>(k[".agpr_count"].number);
    kernel.max_threads = static_cast<int>(k[".max_flat_workgroup_size"].number);
    kernel.wavefront = static_cast<int>(k[".wavefront_size"].number);
    kernel.dynamic_stack = k[".uses_dynamic_stack"].number != 0;
    for (const Value &a : k[".args"].items)
      kernel.arguments.push_back({static_cast<std::size_t>(a[".offset"].number),
                                  static_cast<std::size_t>(a[".size"].number), a[".value_kind"].string});
    module->kernels[kernel.name] = std::move(kernel);
  }
}

bool relocate(ihipModule_t *module, const Elf64_Rela &r, const Elf64_Sym *symbols) {
  char *at = module->base + r.r_offset;
  const std::uint64_t base = reinterpret_cast<std::uint64_t>(module->base);
  const Elf64_Sym *symbol = symbols ? symbols + ELF64_R_SYM(r.r_info) : nullptr;
  const std::uint64_t addend = static_cast<std::uint64_t>(r.r_addend);
  const std::uint64_t value = (symbol ? base + symbol->st_value : 0) + addend;
  auto store = [&](auto v) { std::memcpy(at, &v, sizeof v); };
  switch (ELF64_R_TYPE(r.r_info)) {
    case kRelative64: store(base + addend); return true;
    case kAbs64: store(value); return true;
    case kAbs32:
    case kAbs32Lo: store(static_cast<std::uint32_t>(value)); return true;
    case kAbs32Hi: store(static_cast<std::uint32_t>(value >> 32)); return true;
    default: return false;
  }
}

}  // namespace

std::string extract(const void *image, const std::string &target, std::string *there) {
  const char *bytes = static_cast<const char *>(image);
  there->clear();
  if (!std::memcmp(bytes, ELFMAG, SELFMAG)) return std::string(bytes, elf_size(bytes));
  if (!std::memcmp(bytes, kCompressed, 4)) {
    *there = "a compressed bundle: build it without --offload-compress";
    return "";
  }
  if (std::memcmp(bytes, kBundle, kBundleLength)) {
    *there = "neither an ELF file nor a bundle";
    return "";
  }
  std::uint64_t count;
  std::memcpy(&count, bytes + kBundleLength, 8);
  const char *at = bytes + kBundleLength + 8;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t head[3];  // offset, size, length of the name
    std::memcpy(head, at, sizeof head);
    const std::string entry(at + sizeof head, head[2]);
    at += sizeof head + head[2];
    const std::string found = target_of(entry);
    if (found.empty()) continue;
    if (found == target && head[1]) return std::string(bytes + head[0], head[1]);
    *there += (there->empty() ? "" : ", ") + found;
  }
  return "";
}

std::unique_ptr<ihipModule_t> load_code_object(std::string image, std::string *why) {
  auto module = std::make_unique<ihipModule_t>();
  module->image = std::move(image);
  const char *file = module->image.data();
  const std::size_t size = module->image.size();
  Elf64_Ehdr header;
  if (size < sizeof header) return *why = "too short for an ELF file", nullptr;
  std::memcpy(&header, file, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_machine != kAmdgpu)
    return *why = "not a code object of an AMD GPU", nullptr;
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  std::memcpy(segments.data(), file + header.e_phoff, segments.size() * sizeof(Elf64_Phdr));
  std::size_t extent = 0;
  for (const auto &s : segments)
    if (s.p_type == PT_LOAD) extent = std::max<std::size_t>(extent, s.p_vaddr + s.p_memsz);
  module->extent = (extent + 4095) / 4096 * 4096;
  void *mapped = mmap(nullptr, module->extent, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return *why = "no memory for its segments", nullptr;
  module->base = static_cast<char *>(mapped);
  const Elf64_Dyn *dynamic = nullptr;
  for (const auto &s : segments) {
    if (s.p_type == PT_LOAD) std::memcpy(module->base + s.p_vaddr, file + s.p_offset, s.p_filesz);
    if (s.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const Elf64_Dyn *>(module->base + s.p_vaddr);
    for (std::size_t at = s.p_offset; s.p_type == PT_NOTE && at + 12 <= s.p_offset + s.p_filesz;) {
      Elf64_Nhdr note;
      std::memcpy(&note, file + at, sizeof note);
      const std::size_t text = at + sizeof note + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == 32) {  // NT_AMDGPU_METADATA
        Reader reader(reinterpret_cast<const unsigned char *>(file + text), note.n_descsz);
        const Value root = reader.read();
        if (reader.failed()) return *why = "its metadata note cannot be read", nullptr;
        read_kernels(root, module.get());
        module->target = target_of(root["amdhsa.target"].string);
      }
      at = text + (note.n_descsz + 3) / 4 * 4;
    }
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, names;
    std::memcpy(&section, file + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_SYMTAB) continue;
    std::memcpy(&names, file + header.e_shoff + section.sh_link * sizeof names, sizeof names);
    for (std::size_t at = section.sh_offset; at < section.sh_offset + section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym s;
      std::memcpy(&s, file + at, sizeof s);
      if (s.st_shndx == SHN_UNDEF || !s.st_name || ELF64_ST_BIND(s.st_info) == STB_LOCAL) continue;
      module->symbols[file + names.sh_offset + s.st_name] = {s.st_value, s.st_size,
                                                            ELF64_ST_TYPE(s.st_info) == STT_OBJECT};
    }
  }
  const Elf64_Sym *symbols = nullptr;
  const Elf64_Rela *first = nullptr;
  std::size_t bytes = 0;
  for (const Elf64_Dyn *d = dynamic; d && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const Elf64_Sym *>(module->base + d->d_un.d_ptr);
    if (d->d_tag == DT_RELA) first = reinterpret_cast<const Elf64_Rela *>(module->base + d->d_un.d_ptr);
    if (d->d_tag == DT_RELASZ) bytes = d->d_un.d_val;
  }
  for (std::size_t i = 0; first && i < bytes / sizeof *first; ++i)
    if (!relocate(module.get(), first[i], symbols))
      return *why = "a relocation of type " + std::to_string(ELF64_R_TYPE(first[i].r_info)) + " that is not known", nullptr;
  return module;
}

void *symbol_address(ihipModule_t *module, const std::string &name, std::size_t *size) {
  auto managed = module->managed.find(name);
  auto at = module->symbols.find(managed == module->managed.end() ? name : name + ".managed");
  if (at == module->symbols.end()) at = module->symbols.find(name);
  if (at == module->symbols.end() || !at->second.object) return nullptr;
  if (size) *size = at->second.size;
  return managed == module->managed.end() ? module->base + at->second.value : managed->second;
}

ihipModuleSymbol_t *function_of(ihipModule_t *module, const std::string &name) {
  auto &made = module->functions[name];
  if (!made) {
    auto kernel = module->kernels.find(name);
    if (kernel == module->kernels.end()) return nullptr;
    made = std::make_unique<ihipModuleSymbol_t>();
    made->module = module;
    made->kernel = &kernel->second;
  }
  return made.get();
}

}  // namespace rt
