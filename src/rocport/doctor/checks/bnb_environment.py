"""BNB_CUDA_VERSION on ROCm: an error before bitsandbytes 0.50, ignored since."""

from __future__ import annotations

from packaging.version import Version

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import package_version

CHECK = Check("bnb-environment", "bitsandbytes variables", ("H063",))


def run(machine: Machine) -> Result:
    told = machine.symptoms("bnb-cuda-version")
    cuda, rocm = machine.env("BNB_CUDA_VERSION"), machine.env("BNB_ROCM_VERSION")
    version = package_version(machine, "bitsandbytes")
    if cuda is not None or told:
        old = told or version is None or version < Version("0.50.0")
        return problem(
            "fail" if told or (version is not None and old) else "warn",
            "BNB_CUDA_VERSION is set on a ROCm machine",
            [cuda.evidence if cuda else None, *(s.evidence for s in told)],
            "bitsandbytes before 0.50 raises at import; from 0.50 on it is ignored."
            if old
            else "bitsandbytes 0.50 and later ignore it: BNB_ROCM_VERSION chooses the library.",
            ("unset BNB_CUDA_VERSION", "# to choose a library: export BNB_ROCM_VERSION=72"),
            "python -m bitsandbytes",
            env={"BNB_CUDA_VERSION": None},
        )
    if rocm is not None:
        libraries = machine.setting("bnb_libraries")
        if libraries is not None and f"rocm{rocm.value}" not in str(libraries.value).split():
            return says(
                "bnb-environment.bnb-rocm-version-no-libbitsandbytes-rocm",
                [rocm.evidence, libraries.evidence],
                rocm=rocm.value,
            )
        return ok(f"BNB_ROCM_VERSION={rocm.value}", rocm.evidence)
    return ok("not set") if machine.probed("env-complete") else skipped("the environment is not known")
