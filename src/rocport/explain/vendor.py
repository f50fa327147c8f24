"""Whose GPU a paste is about: evidence for AMD, for NVIDIA, or none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocport.explain.text import clean, lowered

AMD = "amd"
NVIDIA = "nvidia"
INTEL = "intel"
APPLE = "apple"
UNKNOWN = "unknown"
OTHERS = {NVIDIA: "an NVIDIA GPU", INTEL: "an Intel GPU", APPLE: "an Apple machine"}
"""Vendors whose pastes are not rocport's, in words."""

Evidence = tuple[tuple[str, re.Pattern[str]], ...]


def _evidence(*rows: str) -> Evidence:
    """Rows `needle pattern` (a text without the needle cannot match), or a pattern that is its own needle."""
    found = []
    for row in rows:
        needle, _, pattern = row.partition(" ~ ")
        found.append((needle, re.compile(pattern or re.escape(needle), re.MULTILINE)))
    return tuple(found)


# All on text in lower case. A GPU of AMD at work. A CUDA build on an AMD machine is the commonest mistake there is, so
# one such line outweighs any number of the other vendor's names.
_AMD_GPU = _evidence(
    r"gfx ~ \bgfx(?:[6-9]|1[0-2])[0-9a-f]{2,3}\b|\bgfx\d{2,3}x\b",
    r"radeon ~ \bradeon\b",
    r"instinct ~ \binstinct\b",
    *(rf"{mi}{digit} ~ \b{mi}(?:\d{{2}}|\d{{3}}[ax]?)\b" for mi in ("mi", "mi-", "mi ") for digit in "1234568"),
    *(
        rf"rx{blank}{digit} ~ \brx ?(?:4[678]0|5[3-9]0|640|[4-9]\d{{2}}0)(?!\d|\.\d)"
        for blank in (" ", "")
        for digit in "456789"
    ),
    r"xt ~ \b(?:[5-9]\d00|90[67]0) ?xtx?\b",
    r"gre ~ \b(?:[67]\d00|90[67]0) ?gre\b",
    r"00 ~ (?<![\w.-])w[5-7][5-9]00x?\b|\b(?:ai pro )?r9[67]00d?\b",
    r"m ~ (?:\bamd|strix(?: point)?|\bigpu|\bgpu) ?\W{0,4}(?:radeon )?\d{3}m\b|\b\d{3}m (?:graphics|igpu)\b",
    r"80 ~ \b80[56]0s\b",
    r"bc ~ \bbc-?250\b",
    r"amd ~ \b(?:i|we)(?:'ve| have| own| use|'m using| am using)(?: got)? (?:an? |my |the |two )?amd "
    r"(?:card|graphics|apu)",
    r"vega ~ \bvega ?(?:\d{2}|vii|fe)\b",
    *(
        "라데온",
        "ラデオン",
        "радеон",
        "strix halo",
        "ryzen ai",
        "[gfxhub",
        "[mmhub",
        "vm_l2_protection_fault",
        "/dev/kfd",
        "rock module",
    ),
    r"amdgpu ~ \bamdgpu(?:\b|_)",
    r"kfd ~ \bkfd\b",
    r"amd ~ \bgpus?(?: (?:vendor|brand|model))?\W{1,16}amd\b|file \"[^\"\n]{0,200}backends[/\\]amd[/\\]",
)
# What only a machine with ROCm on it prints: it settles the question at once.
_ROCM_AT_WORK = _evidence(
    r"gfx ~ \bgfx(?:[6-9]|1[0-2])[0-9a-f]{2,3}\b",
    *("/dev/kfd", "rocm devices", "rock module", "torch.version.hip: ", "is_rocm: true"),
    *("fault by gpu node-", "exception by gpu node-"),
)
# Software that runs on no other vendor's GPU, but whose name others print, too.
_AMD_SOFTWARE = _evidence(
    *(
        "amd accelerated parallel processing",
        "rocm",
        "miopen",
        "rocblas",
        "rccl",
        "amdsmi",
        "amd-smi",
        "zluda",
        "composable_kernel",
        "ck_tile",
        "migraphx",
    ),
    *(
        "amdgcn",
        "hsaco",
        "directml",
        "libhsa",
        "libamd",
        "roctracer",
        "libtorch_hip",
        "libc10_hip",
        "c10_hip",
        "ggml-hip",
        "tritonamdgpu",
    ),
    r"amd ~ \bamd (?:cards?|graphics|apus?|gpu)",
    *("hardware limit: 65536", "adrenalin", "amd_windows.go", "rocdevice.cpp", "hip_code_object.cpp", "amd_comgr"),
    r"hip ~ \bhip(?:alloc|cachingalloc|cc|blas|sparse|fft|rtc|error|malloc|get|ipc|launch|init|module|_)|\bhip\b",
    r"hsa ~ \bhsa[ _]",
    r"hip ~ \bhip(?:mem|set|stream|event|device|func|graph|host|free|ctx|pointer)[a-z]+",
    r"device_gemm ~ device_gemm with the specified compilation",
    r"aiter ~ \baiter\b",
    r"rocr ~ \brocr?_",
    r"__shfl_ ~ __shfl_\w{2,9}_sync.{0,60}__shfl_",
)
# Words of AMD that an NVIDIA machine prints as well: collect_env's empty lines, ollama's list of variables and
# libraries, back ends that were tried, paths of torch and Triton. They are evidence of nothing.
_WEAK = _evidence(
    *(
        rf"{word} ~ {word} *[:=] ?(?:n/a|could not collect|none|false|(?=[ \]\n]))"
        for word in ("rocm used to build pytorch", "hip runtime version", "miopen runtime version", "rocm version")
    ),
    *(
        rf"{word} ~ {word}[:=] ?(?:n/a|none|false|(?=[ \]\n]))"
        for word in ("hip_visible_devices", "rocr_visible_devices", "hsa_override_gfx_version", "is_rocm")
    ),
    *("amd64", "hsa256", "rocm: disabled"),
    *(
        "amd gpus on linux require",
        "amd gpus on windows require",
        '"amd rocm" (',
        "hip-compatible",
        "opencl, cuda or hip runtime",
    ),
    *("rocm platform is not available", "with radeon", "torch.version.hip", "rocm.py", "rocm.txt"),
    *("nvidia or amd", "nvidia and amd", "nvidia/amd", "amd or nvidia", "amd and nvidia", "amd/nvidia"),
    r"rocm_v ~ \brocm_v\d(?:_\d)?\b",
    r"hipify ~ hipify\w*",
    r"aiter ~ (?:def |async |__|\.|\()aiter",
    r"rocm ~ (?:requirements|dockerfile)[\w.\-]{0,12}rocm",
)


_CARDS = (
    "v100|a10g?|a30|a40|a100|a800|h20|h100|h200|h800|b200|b300|gh200|gb200|l20|l40s?|p40|p100|k80"  # no word of English
)
_BRANDS = "nvidia|geforce|rtx|gtx|quadro"
_OWNED = (
    r"(?:^|[.!?,;:(\n] ?|\b(?:and|but|since|because|as|that) )"
    r"(?:(?:i|we)(?:'m| am|'re| are)? (?:only |still |just |currently )?"
    r"(?:on|(?:use|using|own|run|running(?: (?:on|with))?)|have(?: got)?|'ve got)"
    r"|(?:my|our) (?:only |own )?(?:gpu|card|graphics card|machine|laptop|pc|system|setup) (?:is|has|uses|with)) "
    rf"(?:an? |my |the |one |two |2 ?x? |dual )?(?:{_BRANDS})\b"
)
"""Somebody says that an NVIDIA GPU is what they have, not that something works on one."""
# An NVIDIA GPU at work, as drivers, frameworks and its owner say it.
_NVIDIA_GPU = _evidence(
    r"nvidia ~ (?:device|gpu|cuda:)[ #]?\d+:? (?:name: )?nvidia|nvidia (?:geforce|rtx|gtx|tesla|quadro|titan|jetson)"
    r"|nvidia-smi \d{3}|nvidia driver version: \d",
    rf"gpu ~ \bgpus?(?: (?:vendor|brand|model|type))?\W{{1,16}}(?:{_BRANDS})\b",
    *(rf"{brand} ~ {_OWNED}" for brand in _BRANDS.split("|")),
    r"geforce ~ \bgeforce (?:rtx|gtx|mx)",
    r"driver version ~ driver version:? \d{3}\.\d{2,3}(?:\.\d{2})?[, ]+cuda version:? \d",
    *("automatically detected platform cuda", "nvrm:", "available platform names are: interpreter cuda"),
)
_INTEL = _evidence(
    *("+xpu", "torch.xpu", "ur_result_error", "runtimeerror: ur error", "level_zero"),
    r"intel_extension_for_pytorch ~ (?<!pip install )intel_extension_for_pytorch",  # bitsandbytes tells everybody to
    *("intel arc", "intel(r) arc", "oneapi/", "oneapi\\", "ggml_sycl", "pi_error_"),
)
# ROCm does not exist on macOS, whatever the card is.
_APPLE = _evidence(
    *(
        "mps backend",
        "os: macos",
        "ggml_metal",
        "macbook",
        "darwin kernel",
        "apple m1",
        "apple m2",
        "apple m3",
        "apple m4",
    ),
    *("mpsgraph", "[metal::", "device='mps", "device type mps", "aarch64-apple-darwin", "arm64-apple-darwin"),
    r"macos ~ \bmacos \d\d",
)
# An NVIDIA GPU by its name, or its compiler.
_NVIDIA = _evidence(
    r"nvidia ~ nvidia (?:geforce|rtx|gtx|tesla|quadro|titan|a\d{2,3}|h\d{3}|b\d{3}|l\d|gb?\d|gh\d|dgx|jetson)"
    r"|nvidia-smi \d|nvidia-smi detects|nvidia driver version: \d|runtime: nvidia",
    r"nvidia ~ \bnvidia (?:\d{4}|thor|orin|drivers? v?\d{3})|\bmy (?:\w+ )?nvidia\b"
    r"|^[ \t>*#-]*(?:platform|hardware|device|system|graphics(?: card)?|card|vendor)\W{1,6}[^\n]{0,60}\bnvidia\b",
    r"geforce ~ \bgeforce\b",
    *(rf"{brand} ~ \b{brand} ?-?a?\d{{2,4}}" for brand in ("rtx", "gtx")),
    r"rtx ~ \brtx pro\b",
    *("quadro", "jetson", "dgx spark", "agx orin", "orin agx", "orin nano", "orin nx", "drive thor"),
    r"gb10 ~ \bgb10\b",
    r"titan ~ \btitan (?:v|xp?|rtx)\b",
    r"tesla ~ \btesla [kmptv]\d",
    r"t4 ~ \bt4 (?:gpu|card|instance)|(?:gpu|colab|kaggle)\W[^\n]{0,20}\bt4\b",
    r"mx ~ \bmx[1-5][135]0\b",
    *(
        rf"{card} ~ (?:\b(?:an?|my|one|two|dual|single|\dx?|x) |显卡\W{{0,2}}|使用 ?|видеокарта )(?:{card})s?\b"
        rf"|\b{card}s?(?: (?:laptop|card|gpu|mobile)| ?(?:显卡|ti|super))"
        for card in (*("1050", "1060", "1070", "1080", "1650", "1660"), *(f"{g}0{n}0" for g in "2345" for n in "56789"))
    ),
    r"a6000 ~ \ba6000\b",
    r"sm_ ~ \bsm_\d{2,3}\b",
    r"compute_ ~ \bcompute_\d{2,3}\b",
    r"torch_cuda_arch_list ~ torch_cuda_arch_list=.?\d",
    *(
        "--gpus all",
        "cuda kernel errors might be asynchronously reported",
        "torch_use_cuda_dsa",
        "platform cuda",
        "nvrm:",
    ),
    *("libtorch_cuda.so", "torch_cuda.dll", "cublas_status", "cublascreate", "cublaslt", "cudnn_status", "cudnn error"),
    *("cusolver_status", "cusparse_status", "curand_status", "nvls", "ptxas info", "ptxas fatal", "ptxas error"),
    *("auto selected cuda backend", "using cuda device", "hopper", "blackwell"),
    r"libbitsandbytes_cuda ~ libbitsandbytes_cuda\d",
    *(
        rf"{digit} ~ \b(?:[1248]x?|x)?(?:{_CARDS})s?\b"
        for digit in ("00", "a10", "a30", "a40", "h20", "l20", "l40", "p40", "k80")
    ),
    r"cuda ~ \bcuda:? ?v?1[0-9]\.\d|cuda compute capability \d|cuda used to build pytorch: 1\d",
)
# A CUDA build of something: on an AMD machine a mistake, on an NVIDIA machine as it should be.
_CUDA_BUILD = _evidence(
    r"cu1 ~ \+cu1\d\d\b|whl/cu1\d\d|torch\S{0,20}cu1\d\d|nvidia-[a-z]+-cu1[123]\b|\bcu1[1-3]torch\d",
    r"+cuda ~ \+cuda ?1\d\.\d",
    *("_zn3c104cuda", "triton error [cuda]", "libcuda", "libcudnn", "libcudart", "libcublas"),
    r"nvcc ~ \bnvcc\b",
    r"cudnn ~ \bcudnn\b",
    r"cublas ~ cublas(?:lt)?64_\d",
    *("cuda driver version is insufficient", "torch not compiled with cuda"),
)


@dataclass(frozen=True)
class Vendor:
    """`name` is amd, nvidia or unknown; `line` and `text` the evidence (line 0: none). `cuda_build` is True when a CUDA
    build is named and no GPU of any vendor is."""

    name: str
    line: int = 0
    text: str = ""
    cuda_build: bool = False


def vendor_of(text: str) -> Vendor:
    """The vendor a paste speaks of: an AMD GPU wins, then an NVIDIA one, then AMD's words that both print."""
    cleaned = clean(text)
    lower = lowered(cleaned)
    amd = _without(lower, _WEAK)
    for name, evidence, words in (
        (AMD, _ROCM_AT_WORK, amd),
        (APPLE, _APPLE, lower),
        (AMD, _AMD_GPU, amd),
        (NVIDIA, _NVIDIA_GPU, lower),
        (INTEL, _INTEL, lower),
        (AMD, _AMD_SOFTWARE, amd),
        (NVIDIA, _NVIDIA, lower),
    ):
        found = _first(evidence, words, cleaned)
        if found is not None:
            return Vendor(name, *found)
    found = _first(_CUDA_BUILD, lower, cleaned)
    if found is not None:
        return Vendor(UNKNOWN, *found, cuda_build=True)
    return Vendor(UNKNOWN)


def has_amd(text: str) -> bool:
    """True where a text has anything of AMD's, whosever else's: without it, no part of the text is of AMD."""
    words = _without(lowered(clean(text)), _WEAK)
    return any(
        needle in words and pattern.search(words) is not None
        for needle, pattern in (*_ROCM_AT_WORK, *_AMD_GPU, *_AMD_SOFTWARE)
    )


def _without(lower: str, words: Evidence) -> str:
    """The text with the words blanked, positions kept."""
    for needle, pattern in words:
        if needle in lower:
            lower = pattern.sub(lambda match: " " * len(match.group()), lower)
    return lower


def _first(evidence: Evidence, lower: str, text: str) -> tuple[int, str] | None:
    """Line number and line of the first match."""
    starts = [match.start() for needle, pattern in evidence if needle in lower and (match := pattern.search(lower))]
    if not starts:
        return None
    found = min(starts)
    start = text.rfind("\n", 0, found) + 1
    end = text.find("\n", found)
    line = " ".join(text[max(start, found - 100) : end if end >= 0 else len(text)][:400].split())
    return text.count("\n", 0, found) + 1, line[:160]
