"""Comments that a tool reads: what compilers skip, and tests, generators and packagers do not.

Lint, formatting and coverage comments are left out: they change no build and no run.
"""

from __future__ import annotations

import re

_LINES = {
    "python": re.compile(
        # Cython's and distutils' directives, Pythran's exports, Nuitka's options, cells of jupytext and nbdev.
        r"#\s*(?:cython|distutils|pythran\s+export|transonic|nuitka-project(?:-\w+)?)\b.*|#\|.*|#\s?%%.*"
    ),
    "c": re.compile(
        # Test suites of LLVM and GCC.
        r"\b(?:RUN|XFAIL|REQUIRES|UNSUPPORTED|ALLOW_RETRIES|[A-Z][A-Z0-9_-]*CHECK(?:-[A-Z]+)*|CHECK(?:-[A-Z]+)*)\s*:.*"
        r"|\bexpected-(?:error|warning|note|remark|no-diagnostics).*|\{\s*dg-[a-z-]+.*"
        # Rcpp's attributes, cgo's exports, GCC's switches that fall through.
        r"|\[\[Rcpp::.*|^\s*export\s+\w+\s*$|^\s*go:\w+.*"
        r"|^[ \t!.]*(?:else,?\s*)?(?:intentional(?:ly)?\s+)?(?:(?i:fall(?:s|ing)?[ -]?(?:through|thru)))\b.*"
        r"|^-fallthrough$"
    ),
}
_OF_C = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_MARKS = re.compile(
    rb"RUN\s*:|XFAIL\s*:|REQUIRES\s*:|UNSUPPORTED\s*:|CHECK|expected-|\{\s*dg-|\[\[Rcpp::|(?i:fall\w*[ -]?thr)|go:\w"
    rb"|export\s"
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


def directive(comment: str) -> bool:
    """Whether a comment of Python is one that a tool reads."""
    return _LINES["python"].match(comment) is not None


def of_c(data: bytes) -> list[str]:
    """Comments of C that a tool reads, in their order."""
    if _MARKS.search(data) is None:
        return []
    found: list[str] = []
    for comment in _OF_C.findall(data.decode("utf-8", errors="replace")):
        text = comment[2:-2] if comment.startswith("/*") else comment[2:]
        found += [" ".join(match.group().split()) for match in map(_LINES["c"].search, text.split("\n")) if match]
    return found
