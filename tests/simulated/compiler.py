"""Stands in for hipcc, nvcc and the host compiler: notes the command line and leaves an object file.

hipcc's command line is shown to a real clang first, which refuses what it would refuse at compilation.
"""

import json
import os
import subprocess
import sys


def main() -> int:
    name = os.path.basename(sys.argv[0])
    arguments = sys.argv[1:]
    if name == "pip":
        return 0
    if name in ("nvcc", "hipcc") and {"-V", "--version"} & set(arguments):
        print(
            "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 12.8, V12.8.93"
            if name == "nvcc"
            else "HIP version: 7.2.26015-fc0010cf6a\nAMD clang version 22.0.0git"
        )
        return 0
    if not {"-c", "-shared"} & set(arguments) and name not in ("nvcc", "hipcc"):
        path = os.environ["PATH"].split(os.pathsep)
        os.environ["PATH"] = os.pathsep.join(folder for folder in path if folder != os.environ["SIMULATED_BIN"])
        os.execvp(name, [name, *arguments])
    with open(os.environ["SIMULATED_RECORD"], "a") as stream:
        stream.write(json.dumps({"command": [name, *arguments], "cwd": os.getcwd()}) + "\n")
    clang = os.environ.get("SIMULATED_CLANG")
    if name == "hipcc" and clang and "-c" in arguments:
        check = [clang, "-###", "-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-nogpuinc", *arguments]
        done = subprocess.run(check, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error:" in line]
            print("\n".join(errors) or done.stderr, file=sys.stderr)
            return 1
    if "-o" in arguments:
        with open(arguments[arguments.index("-o") + 1], "wb"):
            pass
    return 0


sys.exit(main())
