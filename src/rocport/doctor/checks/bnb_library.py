"""Does bitsandbytes have a library for this ROCm, and can it find it?"""

from __future__ import annotations

from packaging.version import Version

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import hip_version, package_version

CHECK = Check("bnb-library", "bitsandbytes library", ("H064", "H065", "H066", "H068"))
VERIFY = "python -m bitsandbytes"
UPGRADE = "pip install -U 'bitsandbytes>=0.50'"


def run(machine: Machine) -> Result:
    version, hip = package_version(machine, "bitsandbytes"), hip_version(machine)
    missing, symbol = machine.symptoms("bnb-library-missing"), machine.symptoms("bnb-symbol")
    fact = machine.version("bitsandbytes")
    base = [fact.evidence if fact else None]
    if symbol:
        return problem(
            "fail",
            "the bitsandbytes library does not fit this ROCm: a symbol is undefined",
            [*base, *(s.evidence for s in symbol)],
            "Builds of the ROCm forks (0.43 to 0.45) break with another ROCm; every 4-bit and 8-bit call fails.",
            ("pip uninstall -y bitsandbytes", UPGRADE),
            VERIFY,
        )
    if missing:
        wanted = machine.setting("bnb_wanted_library")
        name = str(wanted.value) if wanted else ""
        why = "it has no library for this ROCm"
        if name.startswith("rocm8") or name.startswith("rocm9"):
            why = f"it looks for {name}, major * 10 + minor of HIP 7.1x: bitsandbytes before 0.50 computes it wrong"
        return problem(
            "fail",
            f"bitsandbytes cannot load its library: {why}",
            [*base, *(s.evidence for s in missing[:2])],
            "The import goes on without native code, and the first 4-bit or 8-bit call fails.",
            (UPGRADE, "# or build from source with the ROCm in use: cmake -DCOMPUTE_BACKEND=hip -S ."),
            VERIFY,
        )
    if machine.symptoms("bnb-no-gpu"):
        return problem(
            "fail",
            "bitsandbytes found no ROCm in torch and loaded its CPU library",
            [*base, *(s.evidence for s in machine.symptoms("bnb-no-gpu"))],
            "Quantization runs on the CPU.",
            ("# install a ROCm build of torch: see torch-build",),
            VERIFY,
        )
    works = machine.setting("bnb_works")
    if works is not None:
        return ok(f"bitsandbytes {version} works", works.evidence)
    if version is None:
        return skipped("bitsandbytes is not installed" if machine.probed("packages-complete") else "not known")
    if hip is None:
        return skipped("torch's HIP version is not known", *base)
    if version < Version("0.50.0") and hip.minor >= 10:
        return problem(
            "fail",
            f"bitsandbytes {version} looks for libbitsandbytes_rocm{hip.major * 10 + hip.minor} with HIP {hip}",
            [*base],
            "It computes the name as major * 10 + minor, and there is no such library.",
            (UPGRADE,),
            VERIFY,
        )
    libraries = machine.setting("bnb_libraries")
    if libraries is not None:
        names = str(libraries.value).split()
        exact = f"rocm{hip.major}{hip.minor}"
        if not names:
            return problem(
                "fail",
                f"bitsandbytes {version} is installed without any ROCm library",
                [*base, libraries.evidence],
                "4-bit and 8-bit calls fail on the GPU.",
                (UPGRADE,),
                VERIFY,
            )
        if exact in names:
            return ok(f"lib {exact}", libraries.evidence)
        if hip.release < (6, 4, 0):
            return problem(
                "fail",
                f"no library for HIP {hip}: the published ones begin with 6.4",
                [*base, libraries.evidence],
                "'No compatible ROCm binary found'.",
                ("# a newer torch, or build bitsandbytes from source (needs ROCm 6.3 or later)",),
                VERIFY,
            )
        return ok(
            f"no {exact}; bitsandbytes 0.50 takes the nearest older library of {', '.join(names)}", libraries.evidence
        )
    return skipped("its libraries are not in what was read", *base)
