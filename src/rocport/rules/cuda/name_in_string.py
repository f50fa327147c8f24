"""CUDA named in a string: a symbol for `dlsym`, a library for `dlopen`, a tool for `system`, a file of NVIDIA code.

No compiler looks into strings, so what they name is not there on ROCm and is missed only at run time. Found are:

- names of CUDA libraries (`libcublas.so.12`, `nvcuda.dll`) and of API functions given to `dlsym` and its like, or to
  a declaration (`__asm__("cuInit")`)
- API names compared as text (`strcmp(cudaGetErrorName(e), "cudaErrorMemoryAllocation")`): HIP's names differ; names
  of NVIDIA's products looked for in a device's
- commands that run NVIDIA's tools (`nvcc -ptx ...`, `nvidia-smi`), and options of its run-time compiler (`sm_80`)
- files of NVIDIA's code (`.ptx`, `.cubin`, `.fatbin`) and its paths (`/usr/local/cuda`, `/proc/driver/nvidia`)
- variables of the device named by a string, and `.cu` files that the program reads to compile them at run time
- mangled names that spell a CUDA type (`_Z6kernelP11CUstream_st`)

Nothing is edited. Text that is only printed is left out: usage lines, messages of error checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rocport.binding.branches import branches
from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import GENCO, finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import STRING, CudaSource, kind_of

RULE = Rule(
    name="name-in-string",
    summary="CUDA named in a string",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.REVIEW,
    phase=5,
    examples=(
        Example('void *f() { return dlopen("libcudart.so.12", 1); }\n', contains=("libcudart.so.12",)),
        Example('void *f(void *h) { return dlsym(h, "cudaMalloc"); }\n', contains=('"cudaMalloc"',)),
        Example('const char *names[] = {"cuInit"};\nvoid *f(void *h) { return dlsym(h, names[0]); }\n'),
        Example('void *f(std::string s) { return dlopen((std::string("libcu") + s + ".so").c_str(), 1); }\n'),
        Example('void *f(void *h, std::string n) { return dlsym(h, ("cu" + n).c_str()); }\n'),
        Example('extern "C" int start(unsigned) __asm__("cuInit");\n'),
        Example('bool f(std::string s) { return s.find("CUDA-capable device") != std::string::npos; }\n'),
        Example('bool f(std::string s) { return s.find("CUDA error") != std::string::npos; }\n'),
        Example('int f() { return system("nvidia-smi -L"); }\n', contains=("nvidia-smi",)),
        Example('bool f(const char *s) { return !strcmp(s, "cudaErrorInvalidValue"); }\n'),
        Example('const char *file = "build/kernel.ptx";\n'),
        Example('void *f(const std::string &v) { return dlopen(("libnvrtc.so." + v).c_str(), 1); }\n'),
        Example(
            'std::map<std::string, int> m = {{"cudaErrorInvalidValue", 1}};\nint f(cudaError_t e) { return '
            "m[cudaGetErrorName(e)]; }\n"
        ),
        Example('bool f(cudaDeviceProp p) { return strstr(p.name, "H100") != nullptr; }\n'),
        Example('const char *name = "_Z1kP11CUstream_st";\n'),
        Example('void f(float *h) { cudaMemcpyToSymbol("coeffs", h, 64); }\n', contains=('"coeffs"',)),
        Example('auto f(int a) { return std::string("--gpu-architecture=sm_") + std::to_string(a); }\n'),
        Example('nvrtcProgram f() { std::ifstream in("kernels/add.cu"); return make(in); }\n'),
        Example('const char *options[] = {"--gpu-architecture=compute_80"};\n'),
    ),
    clean=(
        'void f() { printf("cudaMalloc failed\\n"); }\n',
        'const char *f() { return "cudaSuccess"; }\n',
        'void f(int e) { fprintf(stderr, "%s\\n", "cudaFree"); }\n',
        'const char *help = "build it with nvcc";\n',
        'const char *name = "libpng.so";\n',
        'bool f(std::string name) { return name.compare(0, 2, "P5") == 0; }\n',
        'bool f(std::string kind) { return kind == "CUDA_Async"; }\n',
        'bool f(std::string s) { return s.find("CUDAEnsemble progress") != std::string::npos; }\n',
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html",),
)

_LIBRARY = re.compile(
    rb"(?:^|[/\\])(?:lib)?(?:cuda(?:rt)?|cublas(?:Lt)?|cufftw?|curand|cusparse(?:Lt)?|cusolver(?:Mg)?|cudnn\w*|nccl"
    rb"|nvrtc[\w-]*|nvidia-ml|nvml|nvToolsExt|nvJitLink|cupti|nvcuvid|nvidia-encode|nppc|npp\w*|nvjpeg|cufile|nvcuda|nvinfer)"
    rb"(?:(?:32|64)?_[\d_]+)?(?:\.so(?:\.[\d.%sd]*)?|\.dylib|\.dll)$"
)
_PART = re.compile(rb"(?:.*/)?lib(?:cu|nv)[a-z]*[.-]?(?:so\.?)?$")
"""The first part of a name that is put together."""
_PREFIX = re.compile(rb"cu|cuda|(?:cublas|cufft|curand|cusparse|cusolver|cudnn|nvrtc)\w*")
"""The first part of a symbol that is put together."""
_OPENS = frozenset(b"dlopen dlmopen LoadLibrary LoadLibraryA SDL_LoadObject".split())
_TOOLS = (
    rb"(?:nvcc|ptxas|fatbinary|cuobjdump|nvdisasm|nvprof|nsys|ncu|cuda-memcheck|compute-sanitizer|cuda-gdb|nvidia-smi)"
)
_COMMAND = re.compile(rb"(?:^|[;&|/(]\s*)" + _TOOLS + rb"(?:\.exe)?(?:\s+-|\s+\S+\.cu\b|\s*$|\s+[|>2])")
_RUNS = frozenset(
    b"system popen _popen execl execlp execle execv execvp execvpe posix_spawn posix_spawnp exec run".split()
)
_CODE = re.compile(rb"[\w%}/.*-]*\.(?:ptx|cubin|fatbin)$|^\.(?:ptx|cubin|fatbin)$")
_PLACE = re.compile(rb"/usr/local/cuda|/proc/driver/nvidia|/dev/nvidia|/opt/cuda\b|CUDA_(?:HOME|PATH|ROOT)\b")
_OPTION = re.compile(rb"-arch[= ]|--gpu-architecture|-gencode|^-?-?arch=|code=|^(?:sm|compute)_\d")
_ARCH = re.compile(rb"(?:sm|compute)_(?:\d|%|$)")
_BUILT = re.compile(rb"(?:^|[=,])(?:sm|compute)_$|^--?(?:gpu-architecture|gpu-code|arch)=$")
"""The first part of an option that is put together from the numbers of a device."""
_MANGLED = re.compile(rb"_Z\w*\d(?:CUstream_st|CUevent_st|CUgraph_st|cuda\w+|CU\w+_st|__half2?|__nv_bfloat16\w*)\w*")
_PRODUCT = re.compile(
    rb"(?i)\b(?:nvidia|tesla|geforce|quadro|[rg]tx ?\d*|titan|jetson|orin|xavier|(?:[ahvplt]|gb|gh|b)\d{1,3}0?s?)\b"
)
_SAID = re.compile(
    rb"^(?:CUDA)$|\bCUDA-capable|\bmisaligned address|\btoo many resources requested"
    rb"|\bCUDA(?: runtime| driver)? (?:error(?![ \w])|out of memory|initiali[sz]ation|version)|\bCUDA_ERROR_"
)
"""What begins a message of torch's or of CUDA's, and is HIP's there: a project's own text stays what it is."""
_DEVICE_NAMES = frozenset(
    b"cudaDeviceProp cudaDeviceProp_v2 cudaGetDeviceProperties getDeviceProperties getCurrentDeviceProperties "
    b"cuDeviceGetName nvmlDeviceGetName get_device_properties".split()
)
_SYMBOLS = frozenset(
    b"dlsym dlvsym GetProcAddress cuGetProcAddress cuGetProcAddress_v2 cudaGetDriverEntryPoint SDL_LoadFunction "
    b"cudaGetDriverEntryPointByVersion lib_sym get_symbol".split()
)
_LABELS = frozenset(b"asm __asm __asm__".split())
_BY_SYMBOL = frozenset(
    b"cudaMemcpyToSymbol cudaMemcpyFromSymbol cudaMemcpyToSymbolAsync cudaMemcpyFromSymbolAsync cudaGetSymbolAddress "
    b"cudaGetSymbolSize".split()
)
_COMPILERS = frozenset(b"nvrtcCreateProgram nvrtcCompileProgram jitify JitCache nvrtcProgram".split())
_COMPARES = frozenset(
    b"strcmp strncmp strcasecmp strncasecmp strstr find compare count at contains starts_with".split()
)
_ENVIRONMENT = frozenset(b"getenv setenv putenv unsetenv secure_getenv _putenv".split())


@cache
def _api() -> frozenset[bytes]:
    return frozenset(name for name, symbol in load().identifiers.items() if symbol.hip != symbol.cuda)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not any(word in source.data for word in _WORDS):
        return
    view = None
    texts = source.texts
    for position in [at for at, text in enumerate(texts) if text[-1] == 34]:  # a quote
        text = texts[position]
        if len(text) < 4 or kind_of(text) != STRING:
            continue
        value = text[text.index(b'"') + 1 : -1]
        found = _named(source, position, value)
        if found is None or amd_only(source, position):
            continue
        directive = source.directive_of(position)
        if directive is not None and directive.name not in (b"define",):
            continue
        view = view or branches(source, context.project.torch_extension)
        if view.is_dead(source.starts[position]):
            continue
        message, fix = found
        yield finding(
            RULE, source, position, message, fix=fix, cause=f"named in a string: {fix}" if fix != GENCO else GENCO
        )


_WORDS = (b"cuda", b"CUDA", b"nv", b"cu", b".ptx", b".cubin", b".fatbin", b"_Z", b"sm_", b"compute_", b"nccl", b"ptxas")


def _named(source: CudaSource, position: int, value: bytes) -> tuple[str, str] | None:
    """What the string names of CUDA's, and what to do; None where it names nothing, or only for a reader."""
    shown = value[:60].decode("utf-8", "replace")
    if _LIBRARY.search(value):
        return f'"{shown}" is a library of CUDA\'s: it is not there on ROCm', "load ROCm's library in its place on AMD"
    if _PART.match(value) and not _OPENS.isdisjoint(source.names):
        return f'"{shown}" begins the name of a library of CUDA\'s: it is not there on ROCm', "load ROCm's in its place"
    called = _callee(source, position)
    if called in _BY_SYMBOL and re.fullmatch(rb"[A-Za-z_]\w*", value):
        return f'the variable "{shown}" is named by a string: HIP looks up no name', "pass the variable itself"
    written = b"XXXXXX" in value  # mkstemp fills in a name
    read = called not in _NOT_READ and not called.lower().replace(b"_", b"").endswith(b"createprogram")
    if value.endswith((b".cu", b".cuh")) and read and not (written or _COMPILERS.isdisjoint(source.names)):
        return (
            f'"{shown}" is read as text: the ported file includes headers of the port, which hiprtc has to be shown',
            "pass -I with the folder of the port, and see that the text compiles with hiprtc",
        )
    listed = not called and not _SYMBOLS.isdisjoint(source.names) and source.at(position - 1) in (b"{", b",", b"=")
    if _PREFIX.fullmatch(value) and value not in _api() and called in _SYMBOLS and b"+" in _beside(source, position):
        return f'"{shown}" begins the name of a symbol of CUDA\'s that is looked up', "look up HIP's name on AMD"
    if value in _api() and called in _LABELS and source.at(source.pairs.get(position + 1, 0) - 2) == b")":
        return f'the symbol "{shown}" is linked by its name, which no library of ROCm has', "declare HIP's on AMD"
    if value in _api() and (listed or called in _SYMBOLS or _looks_up(source, position)):
        symbol = load().identifiers[value]
        to = f"; HIP's is {symbol.hip}" if symbol.hip else ""
        return f'the symbol "{shown}" is looked up by its name{to}', "look up HIP's name on AMD"
    if value in _api() and (_compared(source, position, called) or _keys(source, position)):
        return f'"{shown}" is compared as text, and HIP\'s names are others', "compare the error codes"
    if _PRODUCT.search(value) and _compared(source, position, called) and _of_device(source):
        return f'"{shown}" is looked for in the name of a device: AMD\'s have others', "ask for gcnArchName on AMD"
    if _SAID.search(value) and called in _COMPARES and called not in _ENVIRONMENT:
        return f'"{shown}" is looked for in a text, and HIP\'s messages say HIP', "compare the error codes"
    if _MANGLED.fullmatch(value):
        return f'"{shown}" is a mangled name that spells a CUDA type: HIP\'s differs', 'make the kernel extern "C"'
    if _COMMAND.search(value) or (called in _RUNS and re.search(rb"\b" + _TOOLS + rb"\b", value)):
        return f'"{shown}" runs a tool of NVIDIA\'s: it is not there on ROCm', "run ROCm's (hipcc, rocm-smi) on AMD"
    if _CODE.match(value) and called not in _PRINTS:
        return (
            f'"{shown}" is a file of NVIDIA machine code or PTX: AMD GPUs run code objects',
            GENCO,
        )
    built = _BUILT.search(value) is not None
    if (built or (_ARCH.search(value) and _OPTION.search(value))) and called not in _PRINTS:
        return (
            f'"{shown}" chooses an NVIDIA architecture: the compiler for HIP refuses it',
            "pass --offload-arch=gfx...",
        )
    if called in _ENVIRONMENT and value.startswith(b"CUDA_") and value != b"CUDA_VISIBLE_DEVICES":
        return f"{shown} is an environment variable of CUDA's, which HIP does not read", "set HIP's counterpart on AMD"
    if _PLACE.search(value) and called not in _PRINTS and called not in _ENVIRONMENT and b" " not in value:
        return f'"{shown}" is a place where CUDA is installed: it is not there on ROCm', "ask for ROCM_PATH on AMD"
    return None


_PRINTS = frozenset(
    b"printf fprintf sprintf snprintf puts fputs perror cout cerr LOG warn error info throw runtime_error print assert "
    b"fatal log debug TORCH_CHECK AT_ERROR check CHECK".split()
)
_NOT_READ = _PRINTS | {b"nvrtcCreateProgram"}


def _callee(source: CudaSource, position: int) -> bytes:
    """Name of the innermost call whose arguments hold the token; empty outside calls."""
    at, steps = position - 1, 0
    while at >= 0 and steps < 60:
        text = source.at(at)
        if text in (b")", b"]", b"}") and at in source.pairs:
            at = source.pairs[at] - 1
            continue
        if text in (b";", b"{", b"}"):
            return b""
        if text == b"<<" or text in (b"throw", b"cout", b"cerr"):
            return b"cout"
        if text == b"(" and source.is_ident(at - 1):
            return source.at(at - 1)
        at -= 1
        steps += 1
    return b""


def _looks_up(source: CudaSource, position: int) -> bool:
    """True where a call of another name around the string gets a handle first: `SYM(handle, "cudaMalloc")`."""
    called = _callee(source, position).lower()
    return any(word in called for word in (b"sym", b"procaddress", b"entrypoint", b"resolve", b"lookup"))


def _keys(source: CudaSource, position: int) -> bool:
    """True for a key in a list of a file that asks for error names: `{{"cudaErrorInvalidValue", 1}, ...}`."""
    asks = {b"cudaGetErrorName", b"cuGetErrorName"} & source.names
    return bool(asks) and source.at(position - 1) == b"{" and source.at(position + 1) == b","


def _of_device(source: CudaSource) -> bool:
    """True in a file that has the name of a device at hand."""
    named = source.names & {b"device_name", b"deviceName", b"gpu_name", b"gpuName"}
    return bool(named) or (b"name" in source.names and not _DEVICE_NAMES.isdisjoint(source.names))


def _compared(source: CudaSource, position: int, called: bytes) -> bool:
    beside = _beside(source, position)
    return called in _COMPARES or b"==" in beside or bool(beside & {b"!="})


def _beside(source: CudaSource, position: int) -> set[bytes]:
    return {source.at(position - 1), source.at(position + 1)}
