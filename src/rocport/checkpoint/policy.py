"""How a model runs on a target: load as is or convert, block size, type, attention, memory; each with its source.

Nothing is asserted that no fact supports: what is not known is said to be unknown.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from rocport.checkpoint.errors import CheckpointError
from rocport.checkpoint.memory import Training, needed
from rocport.checkpoint.model import Model, Quantization, read_model
from rocport.facts.attention import attention_of
from rocport.facts.dates import facts_as_of
from rocport.facts.errors import FactError
from rocport.facts.packages import package
from rocport.facts.rocm import rocm_release
from rocport.model.targets import GfxTarget
from rocport.model.versions import RocmVersion

VERDICTS = ("ok", "change", "no", "unknown")
GIB = 1 << 30
BITSANDBYTES_RECOMMENDED = "0.50.0"
_NAN = "https://unsloth.ai/docs/get-started/install/amd"
_DEFAULT_64 = "https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1873"
_VLLM = "https://docs.vllm.ai/en/v0.15.1/features/quantization/"
_GGUF = "https://huggingface.co/docs/transformers/gguf"
_FNUZ = "https://github.com/openxla/stablehlo/blob/main/rfcs/20230321-fp8_fnuz.md"
_DEQUANTIZE = "dequantize to 16-bit"
_FLASH_CK = package("flash-attn").native_targets


@dataclass(frozen=True)
class Statement:
    """One part of a policy. `verdict`: ok, change (something has to be done), no, or unknown; `do` is a command or
    setting, empty when nothing has to be done."""

    topic: str
    verdict: str
    text: str
    source: str
    sure: str
    do: str = ""


@dataclass(frozen=True)
class Policy:
    """The whole answer for one model, one target and one version of bitsandbytes (None: not given)."""

    model: Model
    target: GfxTarget
    bitsandbytes: str | None
    statements: tuple[Statement, ...]

    @property
    def verdict(self) -> str:
        """The worst: `no`, `change`, `unknown` of how the weights load, else `ok`."""
        found = {s.verdict for s in self.statements}
        loads = {s.verdict for s in self.statements if s.topic == "load"}
        if "no" in found or "change" in found:
            return "no" if "no" in found else "change"
        return "unknown" if "unknown" in loads else "ok"


def decide(
    path: Path | str,
    target: GfxTarget,
    bitsandbytes: str | None = None,
    memory_bytes: int | None = None,
    training: Training | None = None,
    torch: str | None = None,
    rocm: str | None = None,
) -> Policy:
    """The policy for the model at `path` (folder, config.json or .safetensors).

    `bitsandbytes` is the installed version, `memory_bytes` what the GPU may use, `training` a step to count,
    `torch` and `rocm` the versions that load it (None: not said). Raises CheckpointError for a path that is no model
    and for a version that is none; OSError when it cannot be read.
    """
    if bitsandbytes is not None:
        try:
            Version(bitsandbytes)
        except InvalidVersion as error:
            raise CheckpointError(f"{bitsandbytes!r} is no version of bitsandbytes; expected such as 0.50.2") from error
    model = read_model(Path(path))
    load = [*_load(model, target, bitsandbytes), *_library(model, bitsandbytes, rocm)]
    widened = any(s.verdict == "change" and s.do.startswith(_DEQUANTIZE) for s in load)
    form = "16-bit" if widened else _stored_as(model)
    statements = [*load, *_dtype(model, target), *_attention(target, torch), *_compile(target)]
    statements += [*_unsloth(model, target, bitsandbytes), *_memory(model, target, memory_bytes, form)]
    if training is not None:
        statements.append(_training(model, memory_bytes, form, training))
    return Policy(model, target, bitsandbytes, tuple(statements))


def _load(model: Model, target: GfxTarget, bitsandbytes: str | None) -> list[Statement]:
    quantization = model.quantization
    if quantization is None:
        return [
            Statement("load", "ok", "weights are not quantized: load as is", "the model's files", "measured"),
            _on_the_fly(target, bitsandbytes),
        ]
    if quantization.method == "bitsandbytes-4bit":
        return _load_4bit(model, quantization, target, bitsandbytes)
    if quantization.method == "bitsandbytes-8bit":
        kernels = _kernels(target)
        if kernels.verdict == "change":
            return [replace(kernels, do=f"{_DEQUANTIZE}: rocport model convert SRC DST --to fp16")]
        return [kernels, _int8(target)]
    if quantization.method == "fp8":
        return [_load_fp8(quantization, target)]
    if quantization.method == "mlx":
        bits = ", ".join(map(str, quantization.bits))
        groups = ", ".join(map(str, quantization.blocksizes)) or "a size not read"
        text = f"MLX's {quantization.quant_type} weights of {bits} bits in groups of {groups}"
        text += ": transformers does not load them"
        do = "rocport.integrations.transformers.load(PATH) holds them as they are"
        do += "; or rocport model convert SRC DST --to nf4b64 (or bf16)"
        return [Statement("load", "change", text, "src/rocport/ops/modules/affine.py", "measured", do)]
    if quantization.method == "gguf":
        text = f"GGUF, most of it {quantization.quant_type}: llama.cpp loads it as it is; transformers dequantizes it"
        do = "rocport model convert SRC DST --to nf4b64 (or fp16), for Llama and Qwen; or llama.cpp built for HIP"
        return [Statement("load", "change", text, _GGUF, "documented", do)]
    if quantization.method in ("awq", "gptq"):
        text = f"vLLM 0.14 and 0.15.1 list {quantization.method.upper()} as not supported on AMD GPUs"
        text += "; other loaders: not in the facts"
        return [Statement("load", "unknown", text, _VLLM, "documented", "rocport model convert SRC DST --to bf16")]
    text = f"weights quantized with {quantization.method!r}: whether it loads on {target.name} is not in the facts"
    return [Statement("load", "unknown", text, "", "unverified")]


def _kernels(target: GfxTarget) -> Statement:
    """Whether the published bitsandbytes carries code for the target."""
    records = target.library("bitsandbytes")
    if not records:
        text = f"whether bitsandbytes has kernels for {target.name} is not in the facts"
        return Statement("load", "unknown", text, "", "unverified")
    record = records[-1]
    if record.state == "yes":
        text = f"the bitsandbytes {record.versions} wheel has kernels for {target.name} ({', '.join(record.builds)})"
        return Statement("bitsandbytes", "ok", text, record.source, record.sure)
    text = f"the bitsandbytes {record.versions} wheel has no kernels for {target.name}: quantized weights do not load"
    do = f"{_DEQUANTIZE}: rocport model convert SRC DST --to fp16"
    return Statement("load", "change", text, record.source, record.sure, do)


def _int8(target: GfxTarget) -> Statement:
    """Whether the product of LLM.int8 runs: bitsandbytes has hipBLASLt compute it."""
    records = target.library("hipBLASLt")
    if not records:
        text = f"LLM.int8 needs hipBLASLt, and whether it serves {target.name} is not in the facts"
        return Statement("load", "unknown", text, "", "unverified")
    record = records[-1]
    if record.state == "yes":
        text = f"LLM.int8 weights load as is: its product is hipBLASLt's, which serves {target.name}"
        text += "; bitsandbytes 0.50.2 multiplies in fp32 where hipBLASLt has nothing for a shape"
        return Statement("load", "ok", text, record.source, record.sure)
    text = f"LLM.int8 has hipBLASLt compute its product, which does not serve {target.name}"
    do = f"{_DEQUANTIZE}: rocport model convert SRC DST --to fp16"
    return Statement("load", "change", text, record.source, record.sure, do)


def _compile(target: GfxTarget) -> list[Statement]:
    """Where torch.compile is known to go wrong as a whole."""
    return [
        Statement("compile", "change", f"torch.compile: {s.versions}", s.source, s.sure, "TORCHDYNAMO_DISABLE=1")
        for s in target.library("torch.compile")
        if s.state == "no"
    ]


def _unsloth(model: Model, target: GfxTarget, bitsandbytes: str | None) -> list[Statement]:
    """What Unsloth does with a model of this kind, where it loads it. Advice for its users, who alone have to act."""
    four = model.quantization is not None and model.quantization.method == "bitsandbytes-4bit"
    return [
        Statement("unsloth", "ok", rule.text, rule.source, rule.sure, rule.do)
        for rule in package("unsloth").policies
        if rule.covers(target, bitsandbytes)
        and (four or rule.topic not in ("prequantized", "variable"))
        and (rule.topic != "prequantized" or _kernels(target).verdict != "change")
    ]


def _since(size: int, target: GfxTarget) -> tuple[str, str, str] | None:
    """First bitsandbytes whose kernels take 4-bit blocks of `size` on the target (empty: all), source and certainty."""
    for rule in package("bitsandbytes").blocksizes:
        if size in rule.sizes and rule.wavefront in (0, target.wavefront):
            return rule.since, rule.source, rule.sure
    return None


def _load_4bit(
    model: Model, quantization: Quantization, target: GfxTarget, bitsandbytes: str | None
) -> list[Statement]:
    kernels = _kernels(target)
    if kernels.verdict == "change":
        return [kernels]
    sizes, assumed = quantization.blocksizes, ""
    if not sizes:
        sizes = (64,)
        assumed = " (not in the config; 64 is the default, files written on ROCm before bitsandbytes 0.49.2 have 128)"
    statements = [kernels]
    for size in sizes:
        statements.append(_block(size, assumed, target, bitsandbytes))
    recommended = Version(BITSANDBYTES_RECOMMENDED)
    if bitsandbytes is not None and Version(bitsandbytes) < recommended:
        text = f"bitsandbytes up to 0.49.2 gives NaN in 4-bit decoding on AMD GPUs, says Unsloth; have {bitsandbytes}"
        do = f"pip install --no-deps 'bitsandbytes>={BITSANDBYTES_RECOMMENDED}'"
        statements.append(Statement("bitsandbytes", "change", text, _NAN, "reported", do))
    return statements


def _block(size: int, assumed: str, target: GfxTarget, bitsandbytes: str | None) -> Statement:
    where = f"4-bit blocks of {size}{assumed} on wavefronts of {target.wavefront}"
    found = _since(size, target)
    convert = f"{_DEQUANTIZE}: rocport model convert SRC DST --to auto"
    if size < 128:
        convert += "; or stay 4-bit: --blocksize 128"
    if found is None:
        text = f"{where}: no fact says from which bitsandbytes on"
        return Statement("load", "unknown", text, "", "unverified", convert)
    since, source, sure = found
    if not since:
        return Statement("load", "ok", f"{where}: load as is", source, sure)
    if bitsandbytes is None:
        text = f"{where}: load as is with bitsandbytes {since} or later"
        return Statement("load", "ok", text, source, sure)
    if Version(bitsandbytes) >= Version(since):
        return Statement("load", "ok", f"{where}: load as is (bitsandbytes {since} or later)", source, sure)
    text = f"{where}: need bitsandbytes {since}, have {bitsandbytes}: do not load as is"
    upgrade = f"pip install --no-deps 'bitsandbytes>={max(since, BITSANDBYTES_RECOMMENDED, key=Version)}'"
    return Statement("load", "change", text, source, sure, f"{upgrade}; otherwise {convert}")


def _on_the_fly(target: GfxTarget, bitsandbytes: str | None) -> Statement:
    """What quantizing while loading (load_in_4bit) gives."""
    kernels = _kernels(target)
    if kernels.verdict == "unknown":
        return replace(kernels, topic="quantize")
    if kernels.verdict == "change":
        text = f"quantizing while loading: bitsandbytes has no kernels for {target.name}; stay in 16-bit"
        return Statement("quantize", "ok", text, kernels.source, kernels.sure)
    if bitsandbytes is None:
        text = "quantizing while loading: blocks of 64 from bitsandbytes 0.49.2 on, 128 on ROCm before"
    else:
        size = 64 if Version(bitsandbytes) >= Version("0.49.2") else 128
        text = f"quantizing while loading with bitsandbytes {bitsandbytes}: blocks of {size} on ROCm"
    return Statement("quantize", "ok", text, _DEFAULT_64, "documented")


def _load_fp8(quantization: Quantization, target: GfxTarget) -> Statement:
    source, sure = _source(target, "fp8")
    dtype = quantization.dtype or "float8_e4m3fn"
    stored = dtype if quantization.dtype else f"{dtype} (not in the config; the usual one)"
    fnuz = dtype.endswith("fnuz")
    if target.fp8 == "none":
        text = f"fp8 weights of {stored}: {target.name} has no fp8 matrix instructions"
        return Statement("load", "change", text, source, sure, f"{_DEQUANTIZE} when loading")
    if target.fp8 not in ("fnuz", "ocp"):
        text = f"fp8 weights of {stored}: the fp8 flavour of {target.name} is not in the facts"
        return Statement("load", "unknown", text, "", "unverified")
    if fnuz == (target.fp8 == "fnuz"):
        return Statement("load", "ok", f"fp8 weights of {stored}: the flavour of {target.name}", source, sure)
    if target.fp8 == "fnuz":
        text = f"fp8 weights of {stored}: {target.name} takes fnuz, where the same bits are half the value"
        do = "let the loader convert (vLLM and SGLang do), or: bits 0x80 to 0x00, keep the rest, double the scale"
    else:
        text = f"fp8 weights of {stored}: {target.name} takes OCP fp8, where the same bits are twice the value"
        do = f"{_DEQUANTIZE} with the fnuz type and quantize again"
    return Statement("load", "change", text, _FNUZ, "documented", do)


def _source(target: GfxTarget, fact: str) -> tuple[str, str]:
    for source in target.sources:
        if fact in source.facts:
            return f"{source.url} ({source.versions})", source.sure
    return target.source, "documented"


def _dtype(model: Model, target: GfxTarget) -> list[Statement]:
    source, sure = _source(target, "bf16_matrix")
    if target.bf16_matrix:
        text = f"bfloat16: {target.name} has bf16 matrix instructions"
        if model.dtype == "float16":
            text = f"float16 as stored; {target.name} has matrix instructions for float16 and bfloat16"
        return [Statement("dtype", "ok", text, source, sure)]
    text = f"{target.name} has no bf16 matrix instructions: use float16"
    if "bfloat16" in (model.dtype, model.quantization.compute_dtype if model.quantization else ""):
        text += "; the weights are bfloat16, whose range is larger: look for inf and NaN, else float32 for those layers"
    return [Statement("dtype", "change", text, source, sure, "torch_dtype=torch.float16")]


def _library(model: Model, bitsandbytes: str | None, rocm: str | None) -> list[Statement]:
    """Which of the wheel's libraries a ROCm's HIP takes, where both are known."""
    method = model.quantization.method if model.quantization is not None else ""
    if rocm is None or not method.startswith("bitsandbytes"):
        return []
    wheel = package("bitsandbytes").wheel_of(bitsandbytes or BITSANDBYTES_RECOMMENDED)
    try:
        hip = rocm_release(RocmVersion.parse(rocm)).hip
    except FactError:
        hip = ""
    if wheel is None or not hip:
        return [Statement("bitsandbytes", "unknown", f"which library ROCm {rocm} takes is not known", "", "unverified")]
    major, minor = (int(part) for part in hip.split(".")[:2])
    taken = wheel.library_for((major, minor))
    if not taken:
        text = f"no library for HIP {major}.{minor} of ROCm {rocm} among {', '.join(wheel.builds)}"
        return [Statement("bitsandbytes", "no", text, wheel.source, wheel.sure)]
    text = f"ROCm {rocm} (HIP {major}.{minor}) takes the library for HIP {taken}"
    return [Statement("bitsandbytes", "ok", text, wheel.source, wheel.sure)]


def _attention(target: GfxTarget, torch: str | None) -> list[Statement]:
    answer = attention_of(target, torch)
    record = answer.record
    if record is None:
        text = f"whether torch has fused attention for {target.name} is not in the facts; attn_implementation='sdpa'"
        text += " falls back to plain math"
        return [Statement("attention", "unknown", text, "", "unverified", "attn_implementation='sdpa'")]
    do = "attn_implementation='sdpa'"
    if answer.state == "no":
        text = f"no AOTriton kernels for {target.name}: SDPA runs as plain math and keeps the whole score matrix"
        return [Statement("attention", "ok", text, record.source, record.sure, do)]
    text = "SDPA runs AOTriton's flash kernels"
    for switch in answer.switches:
        when = f"on torch {switch.torch} set" if switch.torch else "behind"
        text += f"; {when} {switch.variable}={switch.value}"
    if target.name in _FLASH_CK:
        text += "; flash-attn builds for this target as well (Composable Kernel)"
    else:
        text += "; flash-attn runs on its Triton backend only"
    return [Statement("attention", "ok", text, record.source, record.sure, do)]


def _memory(model: Model, target: GfxTarget, memory_bytes: int | None, wanted: str) -> list[Statement]:
    count = model.parameters
    sure = "measured" if model.exact else "reported"
    source = "counted from the files" if model.exact else "counted from config.json"
    if count is None:
        size = f" ({_gib(model.stored_bytes)} on disk)" if model.stored_bytes else ""
        text = f"how much memory the weights need is not known: no files to count, or packed in an unknown way{size}"
        return [Statement("memory", "unknown", text, "", "unverified")]
    large = model.large or 0
    sizes = _sizes(count, large)
    weights = f"{count / 1e9:.2f} billion" if count >= 1e8 else f"{count / 1e6:.2f} million"
    text = f"{weights} weights: " + ", ".join(f"{_gib(n)} in {name}" for name, n in sizes.items())
    text += " (4- and 8-bit keep embeddings and head in 16-bit)"
    if model.cache_bytes_per_token:
        text += f"; cache {_gib(model.cache_bytes_per_token * 1024)} for 1024 tokens"
    else:
        text += "; cache for each token: not known"
    statements = [Statement("memory", "ok", text, source, sure)]
    if memory_bytes is None:
        return statements
    fits = [name for name, size in sizes.items() if size < memory_bytes]
    if not fits:
        text = f"the weights do not fit in {_gib(memory_bytes)} in any of these"
        return [*statements, Statement("memory", "no", text, source, sure)]
    form = wanted if wanted in fits else fits[0]
    left = memory_bytes - sizes[form]
    text = f"of {_gib(memory_bytes)}, {form} weights leave {_gib(left)}"
    if len(fits) < len(sizes):
        text += f" ({', '.join(name for name in sizes if name not in fits)} does not fit)"
    if model.cache_bytes_per_token:
        text += f", at most {left // model.cache_bytes_per_token} tokens of cache before activations"
    verdict = "ok" if wanted in fits else "change"
    if target.kind == "apu":
        text += "; an APU shares this with the system"
    do = "" if wanted in fits else f"load in {form}"
    return [*statements, Statement("memory", verdict, text, source, sure, do)]


def _sizes(count: int, large: int) -> dict[str, int]:
    """Bytes of the weights by form: bitsandbytes' nested 4-bit blocks of 64, 8-bit rows, 16-bit."""
    four = large * (0.5 + (1 + 4 / 256) / 64) + 2 * (count - large)
    return {"16-bit": 2 * count, "8-bit": 2 * count - large, "4-bit": int(four)}


def _training(model: Model, memory_bytes: int | None, form: str, training: Training) -> Statement:
    """A training step beside the weights it starts from."""
    what = f"training of {training.batch} x {training.sequence} tokens, "
    what += "every weight" if training.lora_rank is None else f"LoRA of rank {training.lora_rank}"
    what += f", {training.optimizer}" + (", gradient checkpointing" if training.checkpointing else "")
    if model.shape is None or model.parameters is None:
        text = f"{what}: not counted for {model.model_type or 'this architecture'}"
        return Statement("training", "unknown", text, "", "unverified")
    form = "16-bit" if training.lora_rank is None else form
    need = needed(model.shape, model.parameters, training)
    weights = _sizes(model.parameters, model.large or 0)[form]
    total = weights + need.total
    text = f"{what}: {_gib(total)}, of which weights in {form} {_gib(weights)}, trained weights with gradients and"
    text += f" optimizer {_gib(need.trained)}, activations {_gib(need.activations)}, logits {_gib(need.logits)}"
    source = "src/rocport/checkpoint/memory.py"
    if memory_bytes is None or total < memory_bytes:
        return Statement("training", "ok", text, source, "reported")
    do = "a smaller batch or sequence" + ("" if training.checkpointing else ", gradient checkpointing")
    text += f"; the GPU has {_gib(memory_bytes)}"
    return Statement("training", "no", text, source, "reported", do + ("" if training.lora_rank else ", or a LoRA"))


def _stored_as(model: Model) -> str:
    method = model.quantization.method if model.quantization else ""
    if model.quantization and method == "mlx":
        return "4-bit" if max(model.quantization.bits) <= 4 else "8-bit"
    return {"bitsandbytes-4bit": "4-bit", "bitsandbytes-8bit": "8-bit", "fp8": "8-bit"}.get(method, "16-bit")


def _gib(size: int | float | None) -> str:
    """A size in GiB, or in MiB where that says nothing."""
    size = size or 0
    return f"{size / GIB:.2f} GiB" if size >= GIB / 10 else f"{size / (1 << 20):.2f} MiB"


def policy_text(policy: Policy) -> str:
    """The policy for people, one statement a line, source below."""
    mark = {"ok": "ok     ", "change": "CHANGE ", "no": "NO     ", "unknown": "unknown"}
    model = policy.model
    kind = model.quantization.method if model.quantization else model.dtype or "type not known"
    lines = [f"{model.path}: {model.model_type or 'model'}, {kind}, on {policy.target.name}"]
    for item in policy.statements:
        lines.append(f"{mark[item.verdict]}  {item.topic}: {item.text}")
        if item.do:
            lines.append(f"           do: {item.do}")
        if item.source:
            lines.append(f"           {item.sure}: {item.source}")
    return "\n".join(lines) + "\n"


def policy_data(policy: Policy) -> dict[str, Any]:
    """The policy as JSON: schema `rocport.policy/1`."""
    model = asdict(policy.model)
    model["path"] = str(policy.model.path)
    return {
        "schema": "rocport.policy/1",
        **facts_as_of(),
        "verdict": policy.verdict,
        "target": policy.target.name,
        "bitsandbytes": policy.bitsandbytes,
        "model": model,
        "statements": [asdict(item) for item in policy.statements],
    }
