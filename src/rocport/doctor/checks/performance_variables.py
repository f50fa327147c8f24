"""Variables that slow everything down and were meant for debugging, tuning or another machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check(
    "performance-variables",
    "variables that slow down",
    ("H088", "H096", "H104", "H106", "H107", "H109", "H110"),
)


def _above(limit: int) -> Callable[[str], bool]:
    return lambda v: v.lstrip("-").isdigit() and int(v) > limit


def _is(*values: str) -> Callable[[str], bool]:
    return lambda v: v.lower() in values


# name, when it matters, status, what it does
LINT: tuple[tuple[str, Callable[[str], bool], str, str], ...] = (
    ("AMD_LOG_LEVEL", _above(0), "warn", "the runtime logs every call"),
    ("AMD_SERIALIZE_KERNEL", _is("1", "2", "3"), "warn", "every kernel waits for the one before"),
    ("AMD_SERIALIZE_COPY", _is("1", "2", "3"), "warn", "every copy waits for the one before"),
    ("HIP_LAUNCH_BLOCKING", _is("1"), "warn", "every launch waits for its end"),
    ("CUDA_LAUNCH_BLOCKING", _is("1"), "warn", "every launch waits for its end"),
    ("MIOPEN_ENABLE_LOGGING", _is("1"), "warn", "MIOpen logs every call"),
    ("NCCL_DEBUG", _is("trace"), "warn", "RCCL traces every call"),
    ("HSA_ENABLE_SDMA", _is("0"), "warn", "copies use compute units: a workaround left on"),
    ("HSA_ENABLE_PEER_SDMA", _is("0"), "warn", "copies between GPUs use compute units"),
    ("HSA_CU_MASK", lambda v: bool(v), "warn", "part of the compute units is not used"),
    ("ROC_GLOBAL_CU_MASK", lambda v: bool(v), "warn", "part of the compute units is not used"),
    (
        "HSA_NO_SCRATCH_RECLAIM",
        _is("1"),
        "warn",
        "scratch memory stays allocated; right only for kernels that spill much",
    ),
    (
        "TORCHINDUCTOR_MAX_AUTOTUNE",
        _is("1"),
        "warn",
        "mode='default' of torch.compile tunes like max-autotune, and may hang",
    ),
    (
        "PYTORCH_TUNABLEOP_TUNING",
        _is("1"),
        "warn",
        "matrix products are tuned during work, 20 to 40 times slower at first",
    ),
    ("TORCH_USE_HIP_DSA", _is("1"), "warn", "device-side assertions are on"),
)


# RCCL asks for it on MI300 below a firmware of the command processor (MEC 177), which no paste shows: see the notes on
# the amdgpu driver at https://rocm.docs.amd.com/en/docs-6.4.3/about/release-notes.html#amdgpu-driver-updates
_NEEDED_ON = {"HSA_NO_SCRATCH_RECLAIM": "instinct"}


def run(machine: Machine) -> Iterator[Result]:
    found = False
    for name, matters, status, what in LINT:
        setting = machine.env(name)
        if name in _NEEDED_ON and any(target.product_class == _NEEDED_ON[name] for _, target in machine.targets()):
            continue
        if setting is not None and matters(str(setting.value)):
            found = True
            yield problem(
                status,
                f"{name}={setting.value}: {what}",
                [setting.evidence],
                "Slow" + (", or a hang." if "hang" in what else "."),
                (f"unset {name}",),
                f"env | grep {name}",
                env={name: None},
            )
    tunable = machine.env("PYTORCH_TUNABLEOP_ENABLED")
    tuning = machine.env("PYTORCH_TUNABLEOP_TUNING")
    if tunable is not None and str(tunable.value) == "1" and tuning is None:
        found = True
        yield says("performance-variables.pytorch-tunableop-enabled-1-also-tunes-unless", [tunable.evidence])
    queues = machine.env("GPU_MAX_HW_QUEUES")
    if queues is not None and not any(target.product_class == "instinct" for _, target in machine.targets()):
        found = True
        yield says(
            "performance-variables.gpu-max-hw-queues-advice-training-instinct", [queues.evidence], queues=queues.value
        )
    if not found:
        yield ok("none is set") if machine.probed("env-complete") else skipped("the environment is not known")
