"""Inline PTX as programs write it: what is translated compiles for AMD GPUs, what is not is named at its line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.model import Applicability, Context, Finding, Options
from rocport.port import headers
from rocport.port.engine import Ported, port_file
from rocport.rules.cuda.inline_ptx import RULE
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of
from rocport.toolchain import ToolchainError, find

HERE = Path(__file__).parent
TRANSLATED = (HERE / "ptx_translated.txt").read_text().splitlines()
REFUSED = (HERE / "ptx_refused.txt").read_text().splitlines()

_FUNCTION = """\
__device__ void f{number}(unsigned r0, unsigned r1, unsigned r2, int i0, unsigned long long l0, unsigned long long l1, \
float f0, float f1, float f2, double d0, double d1, double d2, unsigned short h0, unsigned short h1, void *p, \
const float *g, unsigned s) {{
  unsigned o = 0, o1 = 0, o2 = 0, o3 = 0; unsigned long long ol = 0; float of = 0, of1 = 0, of2 = 0, of3 = 0;
  double od = 0; unsigned short oh = 0; int oi = 0;
  {statement}
}}
"""


def _ported(statements: list[str]) -> tuple[Ported, list[Finding]]:
    functions = (_FUNCTION.format(number=at, statement=text) for at, text in enumerate(statements))
    data = ("#include <cuda_runtime.h>\n" + "".join(functions)).encode()
    findings = scan_cuda("a.cu", data, Context(Options(), build_index(["a.cu"], [names_of(data)])))
    return port_file("a.cu", data, findings), [finding for finding in findings if finding.rule == RULE.name]


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_translations_compile(target: str, tmp_path: Path) -> None:
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    ported, _ = _ported(TRANSLATED)
    assert ported.data is not None
    assert b"asm(" not in ported.data.replace(b'asm volatile("" :', b"")
    (tmp_path / "a.hip").write_bytes(ported.data)
    for name in headers.closure(ported.headers):
        (tmp_path / name).write_bytes(headers.read(name))
    command = toolchain.compile_command(
        tmp_path / "a.hip", target, mode="device", output=tmp_path / "a.o", optimize="-O1", extra=["-w"]
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("statement", TRANSLATED)
def test_translated_statements_are_done(statement: str) -> None:
    _, findings = _ported([statement])
    assert [finding.applicability for finding in findings if finding.applicability is Applicability.MANUAL] == []
    assert len(findings) == 1


@pytest.mark.parametrize("statement", REFUSED)
def test_refused_statements_are_named_and_kept(statement: str) -> None:
    ported, findings = _ported([statement])
    assert [finding.applicability for finding in findings] == [Applicability.MANUAL]
    assert statement.encode() in (ported.data or b"")
    assert findings[0].line == 5


def _text(statement: str) -> str:
    ported, _ = _ported([statement])
    assert ported.data is not None
    return ported.data.decode()


def test_inputs_are_read_before_outputs_are_written() -> None:
    text = _text(
        'asm("add.u32 %0, %1, %2; sub.u32 %3, %1, %2;" : "=r"(r0), "=r"(r1) : "r"(r0), "r"(r1));'.replace("%3", "%1")
    )
    assert text.index("rocport_in2 = ") < text.index("r0 = rocport_out0;")


def test_a_macro_body_stays_on_its_lines() -> None:
    data = (
        b'#define LANE(x) \\\n  asm volatile("{ .reg .u32 t; mov.u32 t, %%laneid; add.u32 %0, t, 1; }" \\\n'
        b'    : "=r"(x));\n__device__ int f() { unsigned x; LANE(x) return x; }\n'
    )
    findings = scan_cuda("a.cu", data, Context(Options(), build_index(["a.cu"], [names_of(data)])))
    ported = port_file("a.cu", data, findings)
    assert ported.data is not None
    macro = ported.data.split(b"#define", 1)[1].split(b"__device__ int f")[0]
    assert all(line.endswith(b"\\") for line in macro.strip().splitlines()[:-1])


def test_a_template_built_from_macros_is_read_or_refused() -> None:
    known = b'#define OP "add.u32"\n__device__ void f(unsigned &x) { asm(OP " %0, %0, 1;" : "+r"(x)); }\n'
    unknown = b'__device__ void f(unsigned &x) { asm(OP " %0, %0, 1;" : "+r"(x)); }\n'
    for data, wanted in ((known, Applicability.SAFE), (unknown, Applicability.MANUAL)):
        context = Context(Options(), build_index(["a.cu"], [names_of(data)]))
        mine = [item for item in scan_cuda("a.cu", data, context) if item.rule == RULE.name]
        assert [item.applicability for item in mine] == [wanted]


def test_a_conditional_inside_the_statement_is_decided() -> None:
    data = (
        b'__device__ void f(unsigned &x) {\n  asm("add.u32 %0, %0, "\n#if __CUDA_ARCH__ >= 750\n      "1;"\n#else\n'
        b'      "2;"\n#endif\n      : "+r"(x));\n}\n'
    )
    findings = scan_cuda("a.cu", data, Context(Options(), build_index(["a.cu"], [names_of(data)])))
    ported = port_file("a.cu", data, findings)
    assert ported.data is not None
    assert b"x = (unsigned)((unsigned)(x) + (unsigned)(1));" in ported.data
    assert b"#if" not in ported.data
