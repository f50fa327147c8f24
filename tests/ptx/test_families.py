"""The translation of inline PTX: every example compiles for AMD GPUs, what is refused is named at its line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.model import Applicability, Context, Finding, Options
from rocport.port import headers
from rocport.port.engine import Ported, port_file
from rocport.ptx.translate import opcodes
from rocport.ptx.translator import OPCODES
from rocport.rules.cuda.inline_ptx import RULE
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of

HERE = Path(__file__).parent
opcodes()
EXAMPLES = list(dict.fromkeys(example for opcode in OPCODES.values() for example in opcode.examples))
STATEMENTS = (HERE / "statements.txt").read_text().splitlines()
TRANSLATED = EXAMPLES + STATEMENTS
REFUSED = (HERE / "refused.txt").read_text().splitlines()

_FUNCTION = """\
{space} void f{number}(unsigned r0, unsigned r1, unsigned r2, int i0, unsigned long long l0, unsigned long long l1, \
float f0, float f1, float f2, double d0, double d1, double d2, unsigned short h0, unsigned short h1, void *p, \
const float *g, unsigned s) {{
  unsigned o = 0, o1 = 0, o2 = 0, o3 = 0; unsigned long long ol = 0; float of = 0, of1 = 0, of2 = 0, of3 = 0;
  double od = 0; unsigned short oh = 0; int oi = 0;
  {statement}
}}
"""


def _ported(statements: list[str], space: str = "__global__") -> tuple[Ported, list[Finding]]:
    functions = (_FUNCTION.format(space=space, number=at, statement=text) for at, text in enumerate(statements))
    data = ("#include <cuda_runtime.h>\n" + "".join(functions)).encode()
    findings = scan_cuda("a.cu", data, Context(Options(), build_index(["a.cu"], [names_of(data)])))
    return port_file("a.cu", data, findings), [finding for finding in findings if finding.rule == RULE.name]


def test_every_opcode_has_an_example_of_its_own() -> None:
    without = [name for name, opcode in OPCODES.items() if not any(name in example for example in opcode.examples)]
    assert without == []


def test_the_page_is_current() -> None:
    tool = HERE.parent.parent / "tools" / "ptx_page.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run python tools/ptx_page.py\n{done.stderr}"


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_translations_compile(target: str, tmp_path: Path, hip_code: Callable[..., Path]) -> None:
    ported, _ = _ported(TRANSLATED)
    assert ported.data is not None
    assert b"asm(" not in ported.data.replace(b'asm volatile("" :', b"")
    (tmp_path / "a.hip").write_bytes(ported.data)
    for name in headers.closure(ported.headers):
        (tmp_path / name).write_bytes(headers.read(name))
    hip_code(tmp_path / "a.hip", target, tmp_path / "a.o", "-w")


@pytest.mark.parametrize("statement", TRANSLATED)
def test_translated_statements_are_done(statement: str) -> None:
    _, findings = _ported([statement])
    assert [finding.applicability for finding in findings if finding.applicability is Applicability.MANUAL] == []
    assert len(findings) == 1


@pytest.mark.parametrize("statement", REFUSED)
def test_refused_statements_are_named_and_kept(statement: str) -> None:
    ported, findings = _ported([statement], "__device__")
    assert [finding.applicability for finding in findings] == [Applicability.MANUAL, Applicability.SAFE]
    assert f"ROCPORT_REFUSED({statement.rstrip(';')});".encode() in (ported.data or b"")
    assert findings[0].line == 5
