"""No signature claims anything of text that has nothing to do with AMD, even where an AMD GPU is named."""

from __future__ import annotations

import io
import sysconfig
from pathlib import Path

from rocport.explain.reading import read_stream

SOURCES = (
    "argparse.py",
    "subprocess.py",
    "ctypes/__init__.py",
    "ssl.py",
    "shutil.py",
    "unittest/case.py",
    "tarfile.py",
)
NVIDIA = """Found device 0 with properties:
Selecting kernel image for the device; loading libcudart.so.12, libcublas.so.12, libnccl.so.2
NCCL INFO comm 0x1 rank 0 nranks 8 cudaDev 0 busId 1000 - Init COMPLETE
step 100 loss 2.31 | mem 61.2 GiB
"""
SERVERS = """Failed password for root from 10.0.0.7 port 4242 ssh2
java.io.IOException: Connection reset by peer
kernel: usb 1-1: device descriptor read/64, error -110
iwlwifi 0000:04:00.0: Direct firmware load for iwlwifi-so-a0.ucode failed with error -2
E: Unable to locate package software-properties-common
error: failed to push some refs to origin; exit status 1
npm ERR! code ELIFECYCLE errno 139
Traceback (most recent call last):
AttributeError: 'NoneType' object has no attribute 'group'
TypeError: f() got an unexpected keyword argument 'x'
OSError: [WinError 126] The specified module could not be found
Error! Bad return status for module build on kernel: 6.8.0 (x86_64)
The following packages have unmet dependencies
exit code 3221225477
This sample uses a new feature and requires compute capability 2.0 or higher.
/lib/libc.so.6: version `GLIBC_2.38' not found (required by ./server)
./server: error while loading shared libraries: libssl.so.3: cannot open shared object file
"""


def test_nothing_is_claimed_of_the_standard_library_and_of_other_programs_logs() -> None:
    folder = Path(sysconfig.get_path("stdlib"))
    for name, text in (
        *((name, (folder / name).read_text(encoding="utf-8")) for name in SOURCES),
        ("nvidia", NVIDIA),
        ("servers", SERVERS),
    ):
        reading = read_stream(io.BytesIO(f"AMD Radeon RX 7900 XTX\n\n\n\n\n{text}".encode()), name)
        assert reading.vendor == "amd"
        claimed = [(match.failure.id, match.lines[0], match.text[:80]) for match in reading.matches]
        assert claimed == [], name
