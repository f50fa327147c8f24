"""Comments that a tool reads: what compilers skip, and tests, generators and packagers do not.

Lint, formatting and coverage comments are left out: they change no build and no run.
"""

from __future__ import annotations

import re

from rocport.verify.nvidia import cfamily

BATCH = r"#(?:SBATCH|PBS|BSUB|COBALT|FLUX|MSUB|OAR|\$)\s"
"""How an option of a batch system begins: a comment to the shell and to Python."""
_LINES = {
    "python": re.compile(
        # Cython's and distutils' directives, Pythran's exports, Nuitka's options, cells of jupytext and nbdev.
        BATCH + r".*|#\s*(?:cython|distutils|pythran\s+export|transonic|nuitka-project(?:-\w+)?)\b.*|#\|.*|#\s?%%.*"
    ),
    "c": re.compile(
        # Test suites of LLVM and GCC, with `_LABEL`.
        r"\bexpected-(?:error|warning|note|remark|no-diagnostics).*|\{\s*dg-[a-z-]+.*"
        # Rcpp's attributes, cgo's exports, GCC's switches that fall through.
        r"|\[\[Rcpp::.*|^\s*export\s+\w+\s*$|^\s*go:\w+.*"
        r"|^[ \t!.]*(?:else,?\s*)?(?:intentional(?:ly)?\s+)?(?:(?i:fall(?:s|ing)?[ -]?(?:through|thru)))\b.*"
        r"|^-fallthrough$"
    ),
}
_PROGRAMS = (b"[[[cog", b"cppimport")
"""What says that comments hold a program (https://cog.readthedocs.io, https://github.com/tbenthompson/cppimport): every
comment may be a line of it."""
_SCRIPT = re.compile(rb"\s*(?://|/\*)[^\n]*\b(?:usr/|bin/|exec\b)")
"""The first line of a source that a shell runs."""
_LABEL = re.compile(r"(?<![\w-])([\w-]+)\s*:")
_LABELS = frozenset(("RUN", "XFAIL", "REQUIRES", "UNSUPPORTED"))
"""Words in front of a colon that LLVM's test suite reads, beside FileCheck's."""
_MARKS = re.compile(
    rb"_[A-Z0-9-]*\s*:|RUN\s*:|XFAIL\s*:|REQUIRES\s*:|UNSUPPORTED\s*:|CHECK|expected-|\{\s*dg-|\[\[Rcpp::|go:\w|export\s"
    rb"|(?i:fall(?:s|ing)?[ -]?thr)"
)


def scripts(data: bytes) -> list[str]:
    """Lines of a Python script's metadata (https://packaging.python.org/specifications/inline-script-metadata/), and of
    comments below what only begins like it."""
    found: list[str] = []
    inside = False
    for line in data.decode("utf-8", errors="replace").splitlines() if b"# /// " in data else ():
        inside = line.startswith("# /// ") or (inside and line.startswith("#"))
        if inside:
            found.append(line)
            inside = line != "# ///"
    return found


def holds_program(data: bytes) -> bool:
    """Whether comments of a source may be lines of a program."""
    return any(mark in data for mark in _PROGRAMS)


def directive(comment: str) -> bool:
    """Whether a comment of Python is one that a tool reads."""
    return _LINES["python"].match(comment) is not None


def of_c(data: bytes, distrusted: frozenset[str] = frozenset()) -> list[str]:
    """Comments of C that a tool reads and that are left off ROCm, in their order; `distrusted` as in `cfamily.tokens`.

    Raises LexError when the text cannot be read as C."""
    script = _SCRIPT.match(data) is not None
    programs = holds_program(data)
    if _MARKS.search(data) is None and not programs and not script:
        return []
    found: list[str] = []
    for comment in cfamily.comments(data, distrusted):
        if programs or (script and not found):
            found.append(comment)
            continue
        text = comment[2:-2] if comment.startswith("/*") else comment[2:]
        found += [" ".join(read.split()) for read in map(_read_by_a_tool, text.split("\n")) if read]
    return found


def _read_label(word: str) -> bool:
    """Words of LLVM's suite and FileCheck's, and those that are spelled like them: `ALLOW_RETRIES`, and libc++'s
    `ADDITIONAL_COMPILE_FLAGS`."""
    return word in _LABELS or "CHECK" in word or ("_" in word and word.isupper())


def _read_by_a_tool(line: str) -> str:
    """What a tool reads of a line of a comment, to its end."""
    match = _LINES["c"].search(line)
    labels = (found.start() for found in _LABEL.finditer(line) if _read_label(found[1]))
    start = min(next(labels, len(line)), match.start() if match else len(line))
    return line[start:]
