"""What a port adds to a tree runs on the CPU executor too."""

from __future__ import annotations

from pathlib import Path

import pytest

import rocport.port.headers as headers
from rocport.executor.base import RunOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.program import Program
from rocport.project.unit import Unit

HEADERS = Path(headers.__file__).parent


@pytest.mark.parametrize("width", [32, 64])
def test_every_generated_header_compiles_beside_the_others(executor: CpuExecutor, tmp_path: Path, width: int) -> None:
    others = {"rocport_thc.h", "rocport_cub.h"}  # these stand on PyTorch's and on hipCUB's own headers
    names = sorted(path.name for path in HEADERS.glob("*.h") if path.name not in others)
    assert len(names) >= 9
    source = tmp_path / "all.hip"
    includes = "".join(f'#include "{name}"\n' for name in names)
    source.write_text(
        includes
        + "__global__ void k(float *p) { *p = rsqrtf(*p); }\n"
        + "int main() { float *d, h = 4.f;\n"
        + "hipMalloc(&d, 4); hipMemcpy(d, &h, 4, hipMemcpyHostToDevice); k<<<1, 1>>>(d);\n"
        + "hipMemcpy(&h, d, 4, hipMemcpyDeviceToHost); return h == rsqrtf(4.f) ? 0 : 1; }\n"
    )
    program = Program("all", tmp_path, (Unit(str(source), flags=(f"-I{HEADERS}",)),))
    result = executor.run(executor.build(program, tmp_path / "build"), [], tmp_path, RunOptions(width=width))
    assert result.ok, result.stderr
