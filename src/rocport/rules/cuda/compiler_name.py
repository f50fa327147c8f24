"""A function of the project's that has the name of one that clang declares by itself, and gcc and nvcc do not.

`static uint64_t __rdtsc() { ... }` reads the processor's clock in host code and is an error to clang, for x86. The port
renames it by a macro in front of its first use, so that its calls mean it as before: SAFE. MANUAL where a conditional
of the preprocessor stands between that and the definition.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import definition_start

# Functions of clang's ia32intrin.h, and the macros that are named after them.
_NAMES = frozenset(
    b"__rdtsc __rdtscp __rolb __rold __rolq __rolw __rorb __rord __rorq __rorw __bswapd __bswapq __bsfd __bsfq __bsrd "
    b"__bsrq __popcntd __popcntq _rotl _rotr _rotwl _rotwr _lrotl _lrotr _bswap _bswap64 _bit_scan_forward "
    b"_bit_scan_reverse".split()
)

RULE = Rule(
    name="compiler-name",
    summary="function named like one of the compiler's",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=_NAMES,
    examples=(
        Example(
            "static uint64_t inline __rdtsc() {\n  return 0;\n}\n",
            contains=("#define __rdtsc project_rdtsc\n", "static uint64_t inline __rdtsc() {"),
        ),
        Example(
            "static inline unsigned _rotr(unsigned v, unsigned n) {\n  return v >> n | v << (32 - n);\n}\n",
            contains=("#undef _rotr\n#define _rotr projectrotr\n",),
        ),
        Example(
            "#include <x.h>\nstatic inline unsigned _rotl(unsigned, int);\n"
            "unsigned f(unsigned v) { return _rotl(v, 3); }\n"
            "static inline unsigned _rotl(unsigned v, int n) {\n  return v << n;\n}\n",
            contains=("#define _rotl projectrotl\nstatic inline unsigned _rotl(unsigned, int);",),
        ),
        Example(
            "#ifdef A\nunsigned _rotl(unsigned, int);\n#endif\n"
            "unsigned _rotl(unsigned v, int n) {\n  return v << n;\n}\n",
            absent=("projectrotl",),
        ),
    ),
    clean=(
        "int f(unsigned v) { return _rotr(v, 3); }\n",
        "#include <x86intrin.h>\nlong f() { return __rdtsc(); }\n",
        "#if defined(_MSC_VER)\n#define __rdtsc() 0\n#endif\n",
    ),
    sources=("clang/include/clang/Basic/BuiltinsX86.def of LLVM 19",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in sorted(source.find(*_NAMES)):
        call = source.call(position)
        if call is None or source.at(call.close + 1) != b"{" or source.directive_of(position) is not None:
            continue
        name = source.texts[position]
        first = next(at for at in source.find(name) if source.directive_of(at) is None)
        # The renaming has to reach the definition: a branch that ends between them may leave it out.
        split = first != position and source.directive_between(first, position)
        start = source.line_start(definition_start(source, first))
        text = b"#define " + name + b" project" + name[1:] + source.newline
        if not name.startswith(b"__"):  # a macro where its header is read
            text = b"#undef " + name + source.newline + text
        yield finding(
            RULE,
            source,
            position,
            f"clang declares {name.decode()} itself: the project's own function gets another name",
            edits=[] if split else [insert(start, text)],
            applicability=Applicability.MANUAL if split else Applicability.SAFE,
            fix=f"give {name.decode()} another name here and where it is used, from line "
            f"{source.line(source.starts[first])}"
            if split
            else "",
        )
        return
