"""What building extensions and compiling at run time needs: a C compiler, C++ headers, ROCM_PATH."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("build-tools", "compilers and headers", ("H102", "H103", "H117", "H118", "H119"))


def run(machine: Machine) -> Iterator[Result]:
    told = machine.symptoms("cc-missing")
    compiler = machine.setting("c_compiler")
    gcc, headers = machine.setting("gcc_newest"), machine.setting("libstdcxx_newest")
    wanted = bool(machine.gpus)
    found = False
    if told or (compiler is not None and not compiler.value and machine.version("triton") is not None and wanted):
        found = True
        yield says(
            "build-tools.no-c-compiler-triton-needs",
            [*(s.evidence for s in told), compiler.evidence if compiler else None],
        )
    if gcc is not None and headers is not None and int(gcc.value) > int(headers.value) > 0 and wanted:
        found = True
        yield says(
            "build-tools.gcc-without-c-headers-newest",
            [gcc.evidence, headers.evidence],
            gcc=gcc.value,
            headers=headers.value,
        )
    for name in ("ROCM_PATH", "ROCM_HOME"):
        setting = machine.env(name)
        roots = {str(s.value) for s in machine.facts.settings if s.name == "rocm_root"}
        if setting is not None and machine.probed("install") and str(setting.value) not in roots:
            found = True
            yield says("build-tools.holds-no-rocm", [setting.evidence], name=name, setting=setting.value)
    if not found:
        if compiler is not None:
            yield ok(f"C compiler {compiler.value or 'none'}", compiler.evidence)
        else:
            yield skipped("not in what was read")
