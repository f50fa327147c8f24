"""Inline PTX as a rule sees it: statements in macros, in conditionals, put together; what each becomes is tests/ptx."""

from __future__ import annotations

import pytest

from rocport.model import Applicability, Context, Options
from rocport.port.engine import port_file
from rocport.rules.cuda.inline_ptx import RULE
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of


def test_inputs_are_read_before_outputs_are_written() -> None:
    statement = 'asm("add.u32 %0, %1, %2; sub.u32 %1, %1, %2;" : "=r"(r0), "=r"(r1) : "r"(r0), "r"(r1));'
    data = f"__device__ void f(unsigned r0, unsigned r1) {{ {statement} }}\n".encode()
    text = (port_file("a.cu", data, scan_cuda("a.cu", data, Context())).data or b"").decode()
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
    guard = "the untranslated statement stops only those units whose kernels reach it"
    refused = "the template of this asm statement is put together by macros: rocport cannot read it"
    manual = [(Applicability.MANUAL, refused), (Applicability.SAFE, guard)]
    for data, wanted in ((known, None), (unknown, manual)):
        context = Context(Options(), build_index(["a.cu"], [names_of(data)]))
        mine = [item for item in scan_cuda("a.cu", data, context) if item.rule == RULE.name]
        said = [(item.applicability, item.message) for item in mine]
        if wanted is None:
            assert [kind for kind, _ in said] == [Applicability.SAFE] and not {guard, refused} & {said[0][1]}
        else:
            assert said == wanted


def test_a_macro_made_of_macros_is_seen_through() -> None:
    data = (
        b'#define KIND ".u32"\n#define OP "add" KIND\n#define NONE "" MISSING\n'
        b'__device__ void f(unsigned &x) { asm(OP " %0, %0, 1;" : "+r"(x)); asm(NONE : "+r"(x)); }\n'
    )
    context = Context(Options(), build_index(["a.cu"], [names_of(data)]))
    said = [item.applicability for item in scan_cuda("a.cu", data, context) if item.rule == RULE.name]
    assert said == [Applicability.SAFE, Applicability.MANUAL, Applicability.SAFE]


@pytest.mark.parametrize("body", [b" asm volatile", b"(...) asm volatile(__VA_ARGS__)", b"(a) __asm__(a)"])
def test_a_macro_that_is_the_keyword_begins_a_statement(body: bytes) -> None:
    header = b"#pragma once\n__device__ int g();\n#define PTX%b\n" % body
    use = b'__device__ void f(unsigned &x) { PTX("add.u32 %0, %0, 1;" : "+r"(x)); asm("trap;"); }\n'
    index = build_index(["p.h", "a.cu"], [names_of(header), names_of(use)])
    both, alone, apart = (
        [item.applicability for item in scan_cuda(path, data, Context(Options(), index)) if item.rule == RULE.name]
        for path, data in (("b.cu", header + use), ("p.h", header), ("a.cu", use))
    )
    assert both == [Applicability.SAFE, Applicability.SAFE]
    assert (alone, len(apart)) == (([], 2) if body.startswith(b" ") else ([Applicability.MANUAL], 1))


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


def test_a_register_of_another_statement_is_not_called_a_special_one() -> None:
    data = (
        b'__device__ void f(long &x) { asm("{ .reg.pred %top;"); asm("@%top mov.b64 %0, 0;" : "+l"(x)); asm("}"); }\n'
        b'__device__ void g(int &x) { asm("mov.u32 %0, %%nsmid;" : "=r"(x)); asm("mov.u32 %0, %%pm3;" : "=r"(x)); }\n'
    )
    context = Context(Options(), build_index(["a.cu"], [names_of(data)]))
    said = [item.message for item in scan_cuda("a.cu", data, context) if item.rule == RULE.name]
    assert [message for message in said if "register %top is declared in another asm statement" in message]
    assert [message for message in said if "special register %pm3 has no counterpart" in message]


@pytest.mark.parametrize(
    ("use", "found"),
    [("__device__ void f(int &d) { TWICE(add, d); }", True), ("void f(int &d) { TWICE(add, d); }", False)],
)
def test_a_statement_whose_opcode_is_a_macro_s_argument_is_named_where_it_is_device_code(use: str, found: bool) -> None:
    macros = '#define OP(op, d) asm(#op ".s32 %0, %0, %0;" : "+r"(d))\n#define TWICE(op, d) OP(op, d); OP(op, d)\n'
    mine = [item for item in scan_cuda("a.cu", (macros + use).encode(), Context()) if item.rule == RULE.name]
    assert [(item.line, item.applicability) for item in mine] == [
        (1, kind) for kind in (Applicability.MANUAL, Applicability.SAFE) if found
    ]
