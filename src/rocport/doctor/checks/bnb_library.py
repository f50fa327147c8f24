"""Does bitsandbytes have a library for this ROCm, and can it find it?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import hip_version, installed_builds, package_version
from rocport.facts.packages import package

CHECK = Check("bnb-library", "bitsandbytes library", ("H064", "H065", "H066", "H068"))
VERIFY = "python -m bitsandbytes"
UPGRADE = "pip install -U 'bitsandbytes>=0.50'"


def run(machine: Machine) -> Result:
    version, hip = package_version(machine, "bitsandbytes"), hip_version(machine)
    missing, symbol = machine.symptoms("bnb-library-missing"), machine.symptoms("bnb-symbol")
    fact = machine.version("bitsandbytes")
    base = [fact.evidence if fact else None]
    if symbol:
        return says("bnb-library.bitsandbytes-library-not-fit-rocm", [*base, *(s.evidence for s in symbol)])
    if missing:
        wanted = machine.setting("bnb_wanted_library")
        name = str(wanted.value) if wanted else ""
        why = "it has no library for this ROCm"
        if name.startswith("rocm8") or name.startswith("rocm9"):
            why = f"it looks for {name}, major * 10 + minor of HIP 7.1x: bitsandbytes before 0.50 computes it wrong"
        return says(
            "bnb-library.bitsandbytes-cannot-load-library", [*base, *(s.evidence for s in missing[:2])], why=why
        )
    if machine.symptoms("bnb-no-gpu"):
        return says(
            "bnb-library.bitsandbytes-found-no-rocm-torch",
            [*base, *(s.evidence for s in machine.symptoms("bnb-no-gpu"))],
        )
    works = machine.setting("bnb_works")
    if works is not None:
        return ok(f"bitsandbytes {version} works", works.evidence)
    if version is None:
        return skipped("bitsandbytes is not installed" if machine.probed("packages-complete") else "not known")
    if hip is None:
        return skipped("torch's HIP version is not known", *base)
    wheel = package("bitsandbytes").wheel_of(str(version))
    if wheel is None:
        return skipped(f"which libraries bitsandbytes {version} carries is not in the facts", *base)
    libraries = machine.setting("bnb_libraries")
    names = str(libraries.value).split() if libraries is not None else []
    if libraries is not None and not names:
        return says("bnb-library.bitsandbytes-installed-without-any-rocm", [*base, libraries.evidence], version=version)
    builds = installed_builds(machine)
    asked = (hip.major, hip.minor)
    taken = wheel.library_for(asked, builds)
    evidence = [*base, *([libraries.evidence] if libraries is not None else [])]
    held = ", ".join(builds or wheel.builds)
    if not taken:
        looks = (
            f"looks for libbitsandbytes_rocm{hip.major * 10 + hip.minor} with"
            if wheel.choice == "exact"
            else "has none for"
        )
        return problem(
            "fail",
            f"bitsandbytes {version} {looks} HIP {hip}; it carries {held}",
            evidence,
            "The import goes on without native code, and the first 4-bit or 8-bit call fails.",
            (
                UPGRADE
                if any(other.library_for(asked) for other in package("bitsandbytes").wheels)
                else "# a newer torch, or build bitsandbytes from source: cmake -DCOMPUTE_BACKEND=hip -S .",
            ),
            VERIFY,
        )
    if taken == f"{hip.major}.{hip.minor}":
        return ok(f"its library for HIP {taken} is loaded", *evidence)
    return ok(f"none for HIP {hip.major}.{hip.minor}: it takes the nearest, {taken}, of {held}", *evidence)
