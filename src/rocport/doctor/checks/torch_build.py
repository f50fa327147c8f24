"""Is the installed torch a ROCm build?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import torch_version

CHECK = Check("torch-build", "torch build", ("H040", "H041", "H042", "H055"))
VERIFY = "python -c 'import torch; print(torch.__version__, torch.version.hip)'"


def run(machine: Machine) -> Result:
    fact, version = machine.version("torch"), torch_version(machine)
    if fact is None:
        if machine.symptoms("torch-not-cuda"):
            return problem(
                "fail",
                "torch was built without a GPU",
                [s.evidence for s in machine.symptoms("torch-not-cuda")],
                "Every call to torch.cuda raises.",
                _fix(machine),
                VERIFY,
            )
        if machine.probed("packages-complete"):
            return skipped("torch is not installed")
        return skipped("the captured text says nothing of torch")
    hip, cuda = machine.version("torch_hip"), machine.version("torch_cuda")
    without = machine.setting("torch_without_hip")
    flavour = version.flavour if version else "unknown"
    if hip is not None or flavour == "rocm":
        return ok(f"torch {fact.value}", fact.evidence, hip.evidence if hip else None)
    amd = bool(machine.gpus)
    if flavour == "cpu" or (without is not None and cuda is None):
        kind, why = "CPU", "torch runs on the CPU only; torch.cuda.is_available() is False."
    elif flavour == "cuda" or cuda is not None:
        kind, why = "CUDA", "torch looks for an NVIDIA driver: 'Torch not compiled with CUDA enabled' or no device."
    else:
        return skipped(f"torch {fact.value}: its version does not tell what it was built for", fact.evidence)
    if not amd and (machine.live or machine.flag("nvidia_gpu")):
        return skipped(f"{kind} build of torch on a machine without AMD GPU", fact.evidence)
    return problem(
        "fail",
        f"torch {fact.value} is a {kind} build",
        [fact.evidence, without.evidence if without else None, cuda.evidence if cuda else None],
        why + " A later `pip install` of another package often puts it there over a ROCm build.",
        _fix(machine),
        VERIFY,
    )


def _fix(machine: Machine) -> tuple[str, ...]:
    gfx = next((g.hardware for g in machine.gpus if g.hardware), "")
    index = "https://repo.amd.com/rocm/whl-multi-arch/"
    what = f"'torch[device-{gfx}]'" if gfx else "torch"
    return (
        f"pip install --force-reinstall --index-url {index} {what}" if gfx else "rocport compat --want torch",
        "# keep it: install other packages with --no-deps, or with PIP_CONSTRAINT naming this torch",
    )
