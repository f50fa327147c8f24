"""What building extensions and compiling at run time needs: a C compiler, C++ headers, ROCM_PATH."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, skipped
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
        yield problem(
            "fail",
            "there is no C compiler, and Triton needs one to build its launcher",
            [*(s.evidence for s in told), compiler.evidence if compiler else None],
            "torch.compile and every Triton kernel fail.",
            ("sudo apt install gcc python3-dev",),
            "cc --version",
            sudo=True,
        )
    if gcc is not None and headers is not None and int(gcc.value) > int(headers.value) > 0 and wanted:
        found = True
        yield problem(
            "fail",
            f"GCC {gcc.value} is there without its C++ headers (newest: {headers.value})",
            [gcc.evidence, headers.evidence],
            "clang takes the newest GCC folder: hipcc and MIOpen's JIT end with \"'cmath' file not found\".",
            (f"sudo apt install libstdc++-{gcc.value}-dev",),
            "echo '#include <cmath>' | /opt/rocm/llvm/bin/clang++ -xc++ -fsyntax-only -",
            sudo=True,
        )
    for name in ("ROCM_PATH", "ROCM_HOME"):
        setting = machine.env(name)
        roots = {str(s.value) for s in machine.facts.settings if s.name == "rocm_root"}
        if setting is not None and machine.probed("install") and str(setting.value) not in roots:
            found = True
            yield problem(
                "warn",
                f"{name}={setting.value} holds no ROCm",
                [setting.evidence],
                "Extension builds fail: 'ROCM_HOME environment variable is not set' or missing headers.",
                ("export ROCM_PATH=$(rocm-sdk path --root)  # pip; or /opt/rocm, for ROCm 10 /opt/rocm/core-10.1",),
                "ls $ROCM_PATH/.info/version",
            )
    if not found:
        if compiler is not None:
            yield ok(f"C compiler {compiler.value or 'none'}", compiler.evidence)
        else:
            yield skipped("not in what was read")
