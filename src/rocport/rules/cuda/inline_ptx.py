"""Inline PTX (`asm volatile("...")`) is NVIDIA's assembly: a HIP compiler parses it and then fails to assemble it.
Statements that read a special register, permute bytes, load past a cache, do carry arithmetic, convert, vote, shuffle
and the like become C++ that computes the same on any AMD GPU; `cp.async` becomes a plain copy. Instructions that AMD
hardware has no counterpart for (wgmma, TMA, asynchronous barriers, named barriers, branches to labels)
stay as they are and are named, MANUAL, inside of a macro: a unit compiles as long as none of its kernels reaches
them, and clang names the kernel that does. A statement is translated whole or not at all.

REVIEW where a documented corner differs: denormals that `.ftz` flushes, clocks, `%smid`, `cp.async` without the
overlap.

Assembly of the host (x86) and of AMD GPUs is left alone, and so is a branch that the port does not compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from rocport.binding import Binder, binder
from rocport.binding.branches import branches
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.ptx.parse import KEYWORDS, QUALIFIERS, Asm, Instruction, parse_asm, parse_ptx
from rocport.ptx.translate import ptx_only, translate
from rocport.ptx.translator import Refused, Translation
from rocport.rules.cuda.common import finding, insert, replace, replace_range
from rocport.syntax.cuda import CudaSource, Function
from rocport.syntax.project import reads_carry

RULE = Rule(
    name="inline-ptx",
    summary="inline PTX assembly",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset(KEYWORDS),
    examples=(
        Example(
            '__device__ unsigned f() { unsigned r; asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }\n',
            contains=("r = (unsigned)(rocport::lane_id());", '#include "rocport_warp.h"'),
            absent=("asm",),
        ),
        Example(
            "__device__ unsigned f(unsigned a, unsigned b, unsigned c) {\n"
            '  unsigned d;\n  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(d) : "r"(a), "r"(b), "r"(c));\n'
            "  return d;\n}\n",
            contains=("d = rocport::lop3<(unsigned)(0x96)>((unsigned)(a), (unsigned)(b), (unsigned)(c));",),
        ),
        Example(
            '__device__ void f(float *a) {\n  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 '
            '{%0}, {%1}, {%2}, {%3};" : "=f"(a[0]) : "f"(a[1]), "f"(a[2]), "f"(a[3]));\n}\n',
            contains=('ROCPORT_REFUSED(asm volatile("mma.sync', '"f"(a[3])));', '#include "rocport_compat.h"'),
        ),
        Example(
            "__device__ void f(int p, unsigned s, const float *g) {\n"
            '  asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.ca.shared.global [%1], [%2], 4; }"'
            ' :: "r"(p), "r"(s), "l"(g));\n}\n',
            contains=("rocport::copy_async<(unsigned)(4)>", "if (rocport_p_1)"),
            absent=("asm",),
        ),
        Example(
            '__device__ unsigned addc(unsigned a) { asm("addc.u32 %0, %0, 0;" : "+r"(a)); return a; }\n',
            contains=("asm(",),
        ),
        Example(
            '__device__ void f() { asm volatile("griddepcontrol.wait;" ::: "memory"); }\n',
            contains=("(void)0;",),
            absent=("asm",),
        ),
        Example(
            "#define __syncthreads() barrier(__LINE__)\n"
            '__device__ void barrier(int) { asm volatile("bar.sync 0;" ::: "memory"); }\n',
            contains=("(__syncthreads)();",),
        ),
        Example(
            "__device__ int f(const int *a, int &i) { int r; "
            'asm("abs.s32 %0, %1;" : "=r"(r) : "r"(a[i++])); return r; }\n',
            contains=("const unsigned rocport_in1 = (unsigned)(a[i++]);",),
            absent=("asm",),
        ),
        Example(
            '__device__ int f(int a) { asm("{ add.u32 %1, %1, 1; mov.u32 %0, %1; }" : "=r"(a) : "r"(a)); return a; }\n',
            contains=("  unsigned rocport_in1 = (unsigned)(a);",),
        ),
        Example(
            '__global__ void k(int n) { auto stop = [&](int i) { if (i > n) asm volatile("exit;"); }; stop(1); }\n',
            contains=('asm volatile("exit;")',),
        ),
        Example(
            "__device__ void f(unsigned s, const float *g, int ignore) {\n"
            '  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 16, p; }"\n'
            '    :: "r"(s), "l"(g), "r"(ignore));\n}\n',
            contains=("rocport_p_1 ? 0u : (unsigned)(16)",),
        ),
        Example(
            "__device__ int f(int a, int b, int c) { int d;\n"
            '  asm("vmax.s32.s32.s32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }\n',
            contains=("rocport_a_1 < rocport_b_2 ? rocport_b_2 : rocport_a_1",),
            absent=("asm",),
        ),
        Example(
            "#define ASM(...) asm volatile(__VA_ARGS__)\n"
            '__device__ int f(int a) { int r; ASM("add.s32 %0, %1, 1;" : "=r"(r) : "r"(a)); return r; }\n',
            contains=("#define ASM(...) asm volatile(__VA_ARGS__)", "r = (int)((unsigned)(a) + (unsigned)(1));"),
        ),
        Example(
            '#define PTX asm volatile\n__device__ void f() { PTX("wgmma.fence.sync.aligned;\\n" ::: "memory"); }\n',
            contains=('ROCPORT_REFUSED(PTX("wgmma.fence',),
        ),
        Example(
            "__device__ int peek(const int *p) { int v; "
            'asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }\n',
            contains=("rocport::load<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT>",),
        ),
    ),
    clean=(
        'void f() { unsigned a, d; asm volatile("rdtsc" : "=a"(a), "=d"(d)); }\n',
        'void f() { asm volatile("" ::: "memory"); }\n',
        '__device__ void f() {\n#ifdef USE_ROCM\n  asm volatile("s_waitcnt vmcnt(0)");\n#endif\n}\n',
        '#if defined(__HIP_PLATFORM_AMD__)\nint x;\n#else\n__device__ void f() { asm("bar.sync 1, 64;"); }\n#endif\n',
    ),
    sources=(
        "https://docs.nvidia.com/cuda/parallel-thread-execution/",
        "https://docs.nvidia.com/cuda/inline-ptx-assembly/",
    ),
)

_AMD = re.compile(r"\s*(?:[vs]_[a-z]|ds_|global_|buffer_|flat_|image_|scratch_|tbuffer_|exp )")
_CALLED = re.compile(r"(?<![\w:])(__\w+)\(")
_CONSTRAINTS = re.compile(r"[=+&]*(?:[hrlfdnqC]|\d+)\Z")


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for keyword in _keywords(source, context):
        asm = _compiled_asm(source, keyword, context)
        if asm is not None:
            yield from _finding(source, asm, binder(source, context))
    for keyword, name in _makers(source):
        # An alias of the keyword is known in every file, a macro with parameters in its own.
        with_parameters = source.at(keyword - 1) == b")"
        if with_parameters and b"__device__" in source.meant and all(map(source.names_macro, source.find(name))):
            yield finding(
                RULE,
                source,
                keyword,
                f"asm statements that other files write as {name.decode()}(...) are not read",
                fix="write asm where they stand, or this part with HIP intrinsics or plain C++",
            )


def _keywords(source: CudaSource, context: Context) -> list[int]:
    """Where asm statements begin: at the keyword, or at a macro that is nothing else (`_makers`)."""
    makers = dict(_makers(source))
    macros = context.project.macros_at(source.path)
    words = {name for name in source.names if name in macros and _is_asm(macros[name])}
    starts = source.find(*words.union(KEYWORDS, makers.values()))
    return sorted(at for at in starts if at not in makers and (source.at(at) in KEYWORDS or not source.names_macro(at)))


def _makers(source: CudaSource) -> Iterator[tuple[int, bytes]]:
    """The file's macros that are the keyword alone, `#define ASM asm volatile` and `#define ASM(...) asm(__VA_ARGS__)`:
    (the keyword in each, its name)."""
    for keyword in source.find(*KEYWORDS):
        directive = source.directive_of(keyword)
        if directive is None or directive.name != b"define":
            continue
        parameters = source.macro_parameters(directive)
        first = directive.first + 3 if parameters is None else source.pairs[directive.first + 3] + 1
        if first != keyword:
            continue
        rest = [text for text in source.texts[first + 1 : directive.last] if text not in QUALIFIERS]
        given = [b"__VA_ARGS__", *(source.at(at) for at, _ in parameters or ())]
        if (parameters is None and not rest) or (rest[:1] + rest[2:] == [b"(", b")"] and rest[1] in given):
            yield keyword, source.at(directive.first + 2)


def _is_asm(body: bytes) -> bool:
    words = body.split()
    return bool(words) and words[0] in KEYWORDS and QUALIFIERS.issuperset(words[1:])


def sharing_carry(source: CudaSource, context: Context) -> Iterator[tuple[int, Function, bool]]:
    """Statements whose carry is a local of the function around them: keyword, function, is one read at first?"""
    for keyword in _keywords(source, context):
        function = source.enclosing(keyword)
        reads = reads_carry(_statement(source, keyword))
        if reads is None or function is None or source.directive_of(keyword) is not None:
            continue
        asm = _compiled_asm(source, keyword, context)
        result = _translated(source, asm) if asm is not None else None
        if isinstance(result, Translation) and result.shares_carry:
            yield keyword, function, reads


def _statement(source: CudaSource, keyword: int) -> bytes:
    """An asm statement's text."""
    end = next((at for at in range(keyword, len(source.texts)) if source.at(at) == b";"), len(source.texts) - 1)
    return source.text(keyword, end)


def unportable(source: CudaSource, start: int, end: int, context: Context) -> str | None:
    """What in the bytes [start, end) has no translation: the first asm statement refused; None when all have one.

    A branch that the port does not compile is read as if it did: it may be taken in place of another.
    """
    dead = branches(source, context.project.torch_extension).is_dead(start, device_only=True)
    for keyword in _keywords(source, context):
        if start <= source.starts[keyword] < end:
            asm = _compiled_asm(source, keyword, context, whole=dead)
            result = _translated(source, asm) if asm is not None else None
            if isinstance(result, str):
                return result
            if isinstance(result, Translation) and result.emulated:
                return f"PTX {_named(asm)}" if asm is not None else None
    return None


def _compiled_asm(source: CudaSource, keyword: int, context: Context, whole: bool = False) -> Asm | None:
    """The PTX statement at a keyword; None for other assembly and, but with `whole`, for what the port leaves out."""
    view = branches(source, context.project.torch_extension)
    asm = parse_asm(source, keyword, context.project.macros_at(source.path), view.compiled(source.starts[keyword]))
    if asm is None or not _is_ptx(source, asm, context):
        return None
    if not whole and view.is_dead(source.starts[keyword], device_only=source.in_device(keyword)):
        return None
    return asm


def _is_ptx(source: CudaSource, asm: Asm, context: Context) -> bool:
    """True for NVIDIA's assembly: its constraints, and an opcode PTX has or the body of a device function. One that is
    put together by a macro is judged by where the macro is used."""
    operands = [*asm.outputs, *asm.inputs]
    if any(not _CONSTRAINTS.match(operand.constraint) for operand in operands):
        return False
    on_device = source.in_device(asm.keyword)
    if asm.template is None:
        letters = any(operand.constraint.lstrip("=+&") in ("l", "f", "d", "h") for operand in operands)
        return on_device or letters or _used_on_device(source, asm.keyword, context)
    if _AMD.match(asm.template):
        return False
    statements = parse_ptx(asm.template)
    instructions = [item for item in statements if isinstance(item, Instruction)]
    if not asm.template.strip():
        # A compiler barrier. It is kept; its operands need the constraint letters of AMD GPUs.
        return on_device and any(operand.constraint.lstrip("=+&") in ("l", "f", "d", "h") for operand in operands)
    if on_device:
        return True
    dotted = [item for item in instructions if item.modifiers]
    return any(item.opcode in ptx_only() for item in dotted) or any(
        item.opcode in ("trap", "exit", "brkpt") for item in instructions
    )


def _used_on_device(source: CudaSource, keyword: int, context: Context) -> bool:
    """True where the macro that holds a statement is used in device code of the file, or, as one of a header that does
    not use it itself, may be in that of a CUDA source."""
    todo, seen = [source.directive_of(keyword)], set()
    used = False
    while todo:
        directive = todo.pop()
        if directive is None or directive.name != b"define" or directive.first in seen:
            continue
        seen.add(directive.first)
        name = directive.first + 2
        for at in source.find(source.at(name)):
            if at == name or source.names_macro(at):
                continue
            used = True
            if source.in_device(at):
                return True
            todo.append(source.directive_of(at))
    return bool(seen) and not used and context.project.reached_by(source.path, ".cu")


@lru_cache(maxsize=256)
def _translated(source: CudaSource, asm: Asm) -> Translation | str:
    """The translation, or why there is none."""
    directive = source.directive_of(asm.keyword)
    function = source.enclosing(asm.keyword)
    in_kernel = (
        function is not None and b"__global__" in function.specifiers and not _in_lambda(source, function, asm.keyword)
    )
    expressions = [_expression(source, operand.first, operand.last) for operand in (*asm.outputs, *asm.inputs)]
    try:
        return translate(asm, expressions, in_kernel, directive is not None)
    except Refused as refused:
        if asm.template is None or reads_carry(asm.template.encode("utf-8", "replace")) is None:
            return str(refused)
        if directive is None and not _has_others(source, function, asm):
            return str(refused)
    try:
        return translate(asm, expressions, in_kernel, directive is not None, shared_carry=True)
    except Refused as refused:
        return str(refused)


def _has_others(source: CudaSource, function: Function | None, asm: Asm) -> bool:
    """True where other statements of the function write or read the carry: a lone one has it from, or for, a caller."""
    if function is None or function.body is None:
        return False
    first, last = function.body
    inside = [keyword for keyword in source.find(*KEYWORDS) if first < keyword < last]
    return sum(reads_carry(_statement(source, keyword)) is not None for keyword in inside) > 1


def _in_lambda(source: CudaSource, function: Function, position: int) -> bool:
    """True inside of a lambda in the function: `return` ends the lambda, `exit` the thread."""
    assert function.body is not None, "the function holds the token"
    for brace in range(function.body[0] + 1, position):
        if source.at(brace) != b"{" or source.pairs.get(brace, 0) < position:
            continue
        before = brace - 1
        while source.at(before) in (b"mutable", b"noexcept", b"constexpr") or source.at(before - 1) == b"->":
            before -= 2 if source.at(before - 1) == b"->" else 1
        if source.at(before) == b")" and before in source.pairs:
            before = source.pairs[before] - 1
        if source.at(before) == b"]":
            return True
    return False


def _expression(source: CudaSource, first: int, last: int) -> str:
    """An operand as written, on one line."""
    text = source.text(first, last).decode("utf-8", "surrogateescape")
    if "//" in text or "/*" in text:
        text = " ".join(source.texts[at].decode("utf-8", "surrogateescape") for at in range(first, last))
    return re.sub(r"\s*\\?\r?\n\s*", " ", text)


_LETTERS: Mapping[str, str] = {"f": "v", "d": "v", "l": "v", "h": "v", "r": "v"}


def _finding(source: CudaSource, asm: Asm, bound: Binder) -> Iterator[Finding]:
    if asm.template is not None and not asm.template.strip():
        yield _barrier(source, asm)
        return
    result = _translated(source, asm)
    if isinstance(result, str):
        yield finding(
            RULE,
            source,
            asm.keyword,
            result,
            last=asm.close,
            fix="write this part with HIP intrinsics or plain C++",
            cause=_of_a_family(asm),
        )
        yield from _set_apart(source, asm)
        return
    text = _past_macros(_text(source, asm, result), bound)
    notes = "; ".join((*result.notes, *result.remarks))
    yield finding(
        RULE,
        source,
        asm.keyword,
        f"inline PTX {_named(asm)} written as C++" + (f": {notes}" if notes else ""),
        last=asm.close,
        applicability=Applicability.REVIEW if result.notes else Applicability.SAFE,
        edits=[replace_range(source, asm.keyword, asm.close + 1, text.encode("utf-8", "surrogateescape"))],
        headers=result.headers,
        cause=_of_a_family(asm),
    )


def _past_macros(text: str, bound: Binder) -> str:
    """A function that the project has a macro of is called past it: the macro may hold this very statement."""
    return _CALLED.sub(lambda call: f"({call[1]})(" if bound.definitions(call[1].encode(), "macro") else call[0], text)


_MATRIX = frozenset({"mma", "wmma", "wgmma", "ldmatrix", "stmatrix", "movmatrix", "tcgen05"})


_ASYNCHRONOUS = re.compile(
    r"(?:cp|cp\.reduce|prefetch)\.async\.bulk|prefetch\.tensor|tensormap|mbarrier|barrier\.cluster|mapa|st\.(?:async|bulk)"
    r"|red\.async|fence\.(?:proxy\.tensormap|mbarrier_init)|cp\.reduce\.async|setmaxnreg|griddepcontrol|multimem"
)
"""What Hopper has for copies beside the arithmetic: a kernel built on one of them is built on all."""


def _of_a_family(asm: Asm) -> str:
    """The family of instructions that a statement is of, whatever their shapes, and which one change settles: those of
    the tensor cores, or of TMA, its barriers and clusters. Empty for others."""
    opcodes = _opcodes(asm)
    if found := sorted({opcode.partition(".")[0] for opcode in opcodes} & _MATRIX):
        return f"PTX {', '.join(found)}"
    return "TMA, its barriers and clusters in PTX" if any(map(_ASYNCHRONOUS.match, opcodes)) else ""


def _set_apart(source: CudaSource, asm: Asm) -> Iterator[Finding]:
    """A refused statement inside of ROCPORT_REFUSED, which only stops units whose kernels reach it."""
    directive = source.directive_of(asm.keyword)
    if any(source.directive_of(at) is not directive for at in range(asm.keyword, asm.close + 1)):
        return
    yield finding(
        RULE,
        source,
        asm.keyword,
        "the untranslated statement stops only those units whose kernels reach it",
        last=asm.close,
        applicability=Applicability.SAFE,
        edits=[
            insert(source.starts[asm.keyword], b"ROCPORT_REFUSED("),
            insert(source.end(asm.close), b")"),
        ],
        headers=["rocport_compat.h"],
        routine=True,
    )


def _opcodes(asm: Asm) -> list[str]:
    return [item.mnemonic for item in parse_ptx(asm.template or "") if isinstance(item, Instruction)]


def _named(asm: Asm) -> str:
    opcodes = _opcodes(asm)
    return ", ".join(opcodes[:3]) + (", ..." if len(opcodes) > 3 else "")


def _text(source: CudaSource, asm: Asm, result: Translation) -> str:
    """The lines of a translation laid out for their place; the `;` after the asm statement stays where it is."""
    lines = result.lines
    directive = source.directive_of(asm.keyword)
    if directive is not None or len(lines) == 1:
        return " ".join(lines).removesuffix(";")
    start = source.starts[asm.keyword]
    before = source.data[source.data.rfind(b"\n", 0, start) + 1 : start]
    indent = before[: len(before) - len(before.lstrip())].decode("utf-8", "surrogateescape")
    newline = source.newline.decode()
    depth = 0
    laid: list[str] = []
    for line in lines:
        depth -= line.startswith("}")
        laid.append(f"{indent if laid else ''}{'  ' * depth}{line}")
        depth += line.endswith("{")
    return newline.join(laid).removesuffix(";")


def _barrier(source: CudaSource, asm: Asm) -> Finding:
    edits = []
    for operand in (*asm.outputs, *asm.inputs):
        letters = operand.constraint.lstrip("=+&")
        prefix = operand.constraint[: len(operand.constraint) - len(letters)]
        if letters in _LETTERS:
            # The constraint is the string before the parenthesis of the expression.
            edits.append(replace(source, operand.first - 2, f'"{prefix}{_LETTERS[letters]}"'.encode()))
    return finding(
        RULE,
        source,
        asm.keyword,
        "empty asm that holds values in registers: AMD GPUs call them v, not r, l, f, d or h",
        last=asm.close,
        applicability=Applicability.SAFE,
        edits=edits,
    )
