"""Rewrite src/rocport/facts/status_codes.csv from the headers of the installed SDK.

Run by hand: `rocport sdk install && python tools/refresh_status_codes.py`. A code keeps the text it has in the file:
what the library prints for it (https://github.com/ROCm/clr, hipamd/src/hip_error.cpp), which no header holds.
`--check` writes nothing and exits with 1 when the file and the headers disagree on a name or a number.
"""

from __future__ import annotations

import argparse
import csv
import io
import re

from rocport.facts.status import STATUS_CSV, read_codes
from rocport.toolchain.sdk import sdk_path

HEADERS = (
    ("HIP", "hip/hip_runtime_api.h", r"hipError\w+"),
    ("HIPRTC", "hip/hiprtc.h", r"HIPRTC_ERROR_\w+"),
    ("HSA", "hsa/hsa.h", r"HSA_STATUS_ERROR\w*"),
    ("HSA", "hsa/hsa_ext_amd.h", r"HSA_STATUS_ERROR\w*"),
    ("rocBLAS", "rocblas/internal/rocblas-types.h", r"rocblas_status_\w+"),
    ("hipBLAS", "hipblas-common/hipblas-common.h", r"HIPBLAS_STATUS_\w+"),
    ("MIOpen", "miopen/miopen.h", r"miopenStatus\w+"),
    ("RCCL", "rccl/rccl.h", r"nccl(?:Unhandled|System|Internal|Invalid|Remote)\w+"),
    ("hipFFT", "hipfft/hipfft.h", r"HIPFFT_(?!FORWARD|BACKWARD|MINOR|PATCH|[RCDZ]2)\w+"),
    ("rocFFT", "rocfft/rocfft.h", r"rocfft_status_\w+"),
    ("hipSPARSE", "hipsparse/hipsparse.h", r"HIPSPARSE_STATUS_\w+"),
    ("rocSPARSE", "rocsparse/rocsparse-types.h", r"rocsparse_status_\w+"),
    ("hipSOLVER", "hipsolver/internal/hipsolver-types.h", r"HIPSOLVER_STATUS_\w+"),
    ("hipRAND", "hiprand/hiprand.h", r"HIPRAND_STATUS_\w+"),
    ("rocRAND", "rocrand/rocrand.h", r"ROCRAND_STATUS_\w+"),
    ("ROCm SMI", "rocm_smi/rocm_smi.h", r"RSMI_STATUS_\w+"),
)
_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[0-9]+")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_SUCCESS = re.compile(
    r"success$|_info_|InProgress$|numresults$|continue$|unchanged$|increased$|reduced$|Skipped$|Tbd$", re.IGNORECASE
)


def members(text: str, pattern: str) -> dict[str, int]:
    """name -> number of the enum members that match `pattern` and have a number of their own."""
    found: dict[str, int] = {}
    for body in re.findall(r"enum\s*[\w\s]*\{(.*?)\}", _COMMENT.sub("", text), re.DOTALL):
        number = -1
        for member in body.split(","):
            name, _, value = (part.strip() for part in member.partition("="))
            number = int(value, 0) if _NUMBER.fullmatch(value) else number + 1
            if re.fullmatch(pattern, name) and (not value or _NUMBER.fullmatch(value)):
                found.setdefault(name, number)
    return found


def rows() -> list[tuple[str, str, int, str]]:
    """(component, name, number, text) of every code that is an error."""
    include = sdk_path() / "include"
    known = {code.name: code.text for code in read_codes()}
    return [
        (component, name, number, known.get(name, ""))
        for component, header, pattern in HEADERS
        for name, number in members((include / header).read_text(encoding="utf-8", errors="replace"), pattern).items()
        if number and not _SUCCESS.search(name)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = rows()
    if options.check:
        have = {(code.component, code.name, code.number) for code in read_codes()}
        want = {row[:3] for row in found}
        for row in sorted(have ^ want):
            print("only in the headers:" if row in want else "only in the file:", *row)
        raise SystemExit(1 if have != want else 0)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("component", "name", "number", "text"))
    writer.writerows(found)
    STATUS_CSV.write_text(buffer.getvalue(), encoding="utf-8")
    print(f"{len(found)} codes")


if __name__ == "__main__":
    main()
