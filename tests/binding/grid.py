"""Cases by construction: who owns a name (idiom) x how its use is spelled x which name.

A case is a small tree. Uses of CUDA's name stand in `cuda_use(...)`, uses of the project's own in `own_use(...)`, each
on a line of its own; the project's declaration stands behind the mark `/*own*/`. Right is a port that

- translates every use of CUDA's as `Name.ported` says, or names its line (REVIEW or MANUAL), and
- leaves declaration and uses of the project's own under one spelling, as they were or renamed together, or names them.

The grid is set in halves before anybody looks: the first byte of sha256("idiom/spelling") is even for the half that may
be looked at, odd for the one set aside.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rocport import api
from rocport.model import Applicability, Patch, SourceFile, SourceTree


@dataclass(frozen=True)
class Name:
    """A name of CUDA's: how it is called, and what the call is after the port. `kind`: value, intrinsic or api."""

    text: str
    args: str
    ported: str
    kind: str


NAMES = (
    Name("warpSize", "", "rocport::warp_size", "value"),
    Name("__shfl", "(v, 1)", "rocport::shfl", "intrinsic"),
    Name("__shfl_down", "(v, 1)", "rocport::shfl_down", "intrinsic"),
    Name("__shfl_xor_sync", "(0xffffffff, v, 1)", "rocport::shfl_xor_sync", "intrinsic"),
    Name("__ballot", "(v)", "rocport::ballot", "intrinsic"),
    Name("__any_sync", "(0xffffffff, v)", "rocport::any_sync", "intrinsic"),
    Name("__activemask", "()", "rocport::activemask", "intrinsic"),
    Name("cudaFree", "(q)", "hipFree", "api"),
    Name("cudaDeviceSynchronize", "()", "hipDeviceSynchronize", "api"),
    Name("cudaStreamCreate", "(q)", "hipStreamCreate", "api"),
    Name("cublasDestroy", "(q)", "hipblasDestroy", "api"),
)

Use = Callable[[str], str]
SPELLINGS: dict[str, Use] = {
    "plain": lambda use: use,
    "spaced": lambda use: use.replace("(", " (", 1),
    "comment": lambda use: use.replace("(", "/* c */(", 1),
    "newline": lambda use: use.replace("(", "\n(", 1),
    "tabs": lambda use: "\t" + use.replace(", ", ",\t"),
    "parens": lambda use: f"({use})",
    "sum": lambda use: f"1 + {use} * 2",
    "cast": lambda use: f"static_cast<long>({use})",
    "lambda": lambda use: f"[&] {{ return {use}; }}()",
    "ternary": lambda use: f"v ? {use} : 0",
    "argument": lambda use: f"pair(v, {use})",
    "index": lambda use: f"table[{use}]",
    "list": lambda use: f"Pair{{v, {use}}}",
    "negated": lambda use: f"!{use}",
    "compared": lambda use: f"v < {use}",
}


@dataclass(frozen=True)
class Case:
    """A tree: path -> text, and the name in question."""

    idiom: str
    spelling: str
    name: Name
    files: dict[str, str]

    @property
    def title(self) -> str:
        return f"{self.idiom}/{self.spelling}/{self.name.text}"

    @property
    def set_aside(self) -> bool:
        return hashlib.sha256(f"{self.idiom}/{self.spelling}".encode()).digest()[0] % 2 == 1


HEAD = "#include <cuda_runtime.h>\n#include <cublas_v2.h>\n"


def _cuda(name: Name, use: str, device: bool = True) -> str:
    kind = "__global__" if device and name.kind != "api" else ""
    return f"{kind} void k(int v, void *q) {{\n  cuda_use({use});\n}}\n"


def _host(name: Name) -> str:
    return "" if name.kind == "api" else "__device__ "


def idioms(name: Name, use: str) -> Iterator[tuple[str, dict[str, str]]]:
    """(idiom, files) of every way in which the name can be owned; `use` is a use of it, spelled."""
    yield from _of_cuda(name, use)
    yield from _in_a_scope(name, use)
    yield from (_values if name.kind == "value" else _macros)(name, use)


def _one(*parts: str) -> dict[str, str]:
    return {"a.cu": HEAD + "".join(parts)}


def _of_cuda(name: Name, use: str) -> Iterator[tuple[str, dict[str, str]]]:
    cuda, host, call = _cuda(name, use), _host(name), f"  cuda_use({use});\n"
    yield "cuda", _one(cuda)
    yield "cuda-in-header", {"a.cu": '#include "k.cuh"\n', "k.cuh": HEAD + cuda}
    yield "cuda-in-template", _one(f"template <class T> {host}void f(T v, T q) {{\n{call}}}\n")
    yield "cuda-in-method", _one(f"struct S {{ {host}void f(int v, void *q) {{\n{call}}} }};\n")
    yield "cuda-in-namespace", _one(f"namespace n {{ namespace {{\n{cuda}}} }}\n")
    yield "cuda-in-extern-c", _one(f'extern "C" {{\n{cuda}}}\n')
    if "\n" not in use:
        macro = f"#define CALL(v, q) \\\n{call}"
        yield "cuda-in-macro", _one(macro.replace("\\\n", ""), _cuda(name, "0"))
        yield "cuda-in-macro-crlf", {"a.cu": (HEAD + macro).replace("\n", "\r\n")}
    yield "cuda-in-inl", {"a.cu": HEAD + '#include "k.inl"\n', "k.inl": cuda}
    yield "cuda-in-suffixless", {"a.cu": HEAD + '#include "kernels"\n', "kernels": cuda}
    yield "cuda-in-tcc", {"a.cu": HEAD + '#include "detail/k.tcc"\n', "detail/k.tcc": cuda}


def _in_a_scope(name: Name, use: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The project's own in one scope, and CUDA's beside it."""
    n, cuda, host, own = name.text, _cuda(name, use), _host(name), f"  own_use({use});\n"
    mine, types = f"/*own*/{n}", "(...)" if name.args else "(int)"
    head = f"{host}void f(int v, void *q) {{"
    taking = f"template <class F> {host}void f(F {mine}, int v, void *q) {{\n{own}}}\n"
    user = f"{head}\n{own}}}\n"
    yield "local-pointer", _one(f"{head} int (*{mine}){types} = g;\n{own}}}\n", cuda)
    yield "parameter", _one(taking, cuda)
    yield "parameter-after", _one(cuda, taking)
    yield "auto-local", _one(f"{head} auto {mine} = [](auto...) {{ return 1; }};\n{own}}}\n", cuda)
    block = f"{{ F {mine} = g;\n{own}}}\n  cuda_use({use});\n"
    yield "block-local", _one(f"{host or '__host__ '}void k(int v, void *q) {{ {block}}}\n")
    yield "member-function", _one(f"struct S {{ {host}int {mine}(int v = 0, ...);\n{user} }};\n", cuda)
    declared = f"struct S {{ {host}int {mine}(int v = 0, ...); {host}void f(int v, void *q); }};\n"
    yield "member-out-of-line", _one(declared, user.replace("void f", "void S::f"), cuda)
    base = f"struct B {{ {host}int {mine}(int v = 0, ...); }};\n"
    yield "member-inherited", _one(base, f"struct S final : public B {{\n{user} }};\n", cuda)
    between = "struct M : B {};\n" + f"struct S : private M {{ {host}void f(int v, void *q); }};\n"
    yield "member-inherited-twice", _one(base, between, user.replace("void f", "void S::f"), cuda)
    derived = f"struct S : B {{\n{user} }};\n"
    yield (
        "member-of-base-in-header",
        {"b.h": "#pragma once\n" + base, "a.cu": HEAD + '#include "b.h"\n' + derived + cuda},
    )
    through = f"{host}void f(S s, int v, void *q) {{\n  own_use({use.replace(n, 's.' + n)});\n}}\n"
    yield "member-pointer", _one(f"struct S {{ int (*{mine}){types}; }};\n", through, cuda)
    function = f"{host}int {mine}(int v, ...) {{ return v; }}\n"
    yield "namespace-function", _one(f"namespace n {{ {function}{user} }}\n", cuda)
    qualified = f"{head}\n  own_use({use.replace(n, 'n::' + n)});\n}}\n"
    yield (
        "namespace-in-header",
        {
            "n.h": f"#pragma once\nnamespace n {{ {host}int {mine}(int v, ...); }}\n",
            "a.cu": HEAD + '#include "n.h"\n' + qualified + cuda,
        },
    )
    yield "template-parameter", _one(f"template <int (*{mine}){types}> {user}", cuda)


def _values(name: Name, use: str) -> Iterator[tuple[str, dict[str, str]]]:
    """A number of the project's with the name of a variable of CUDA's."""
    cuda, own, mine = _cuda(name, use), f"  own_use({use});\n", f"/*own*/{name.text}"
    yield "int-local", _one(f"int main(int v) {{ int {mine} = 7;\n{own}}}\n", cuda)
    yield "int-parameter", _one(f"int f(int v, int {mine}) {{\n{own}}}\n", cuda)
    yield "int-member", _one(f"struct S {{ int {mine}; int f(int v) {{\n{own}}} }};\n", cuda)
    yield "int-second", _one(f"int f(int v) {{ int a = 1, {mine} = 2;\n{own}}}\n", cuda)
    yield "int-for", _one(f"void f(int v) {{ for (int {mine} = 1; v; --v) {{\n{own}}} }}\n", cuda)
    yield "int-template", _one(f"template <int {mine}> void f(int v) {{\n{own}}}\n", cuda)
    yield "int-enumerator", _one(f"struct S {{ enum {{ {mine} = 3 }}; void f(int v) {{\n{own}}} }};\n", cuda)
    yield "int-namespace", _one(f"namespace n {{ constexpr int {mine} = 3; void f(int v) {{\n{own}}} }}\n", cuda)
    yield (
        "int-header",
        {
            "n.h": f"#pragma once\nstruct Info {{ int {mine}; }};\n",
            "a.cu": HEAD + '#include "n.h"\n' + cuda,
        },
    )


def _macros(name: Name, use: str) -> Iterator[tuple[str, dict[str, str]]]:
    """A macro of the project with the name of a function of CUDA's."""
    n, cuda, host = name.text, _cuda(name, use), _host(name)
    taken = ", ".join("abc"[: name.args.count(",") + (name.args != "()")])
    macro = f"#define /*own*/{n}({taken}) traced({taken})\n"
    user = f"{host}void f(int v, void *q) {{\n  own_use({use});\n}}\n"
    yield "macro", _one(macro, user)
    yield "macro-in-header", {"m.h": "#pragma once\n" + HEAD + macro, "a.cu": '#include "m.h"\n' + user}
    yield (
        "macro-in-nested",
        {
            "d/m.h": "#ifndef M_H\n#define M_H\n" + HEAD + macro + "#endif\n",
            "all.h": '#include "d/m.h"\n',
            "a.cu": '#include "all.h"\n' + user,
        },
    )
    yield "macro-unless-defined", _one(f"#ifndef {n}\n{macro}#endif\n", user)
    yield "macro-in-dead-branch", _one(f"#if CUDART_VERSION < 5000\n{macro}#endif\n", cuda)
    yield "macro-undefined-again", _one(macro, user, f"#undef {n}\n", cuda)
    yield "macro-defined-later", _one(cuda, macro, user)
    yield "macro-of-another-unit", {"b.cu": HEAD + macro, "a.cu": HEAD + cuda}
    yield "macro-under-config", _one(f"#ifdef TRACE_CALLS\n{macro}#endif\n", user)


def cases() -> list[Case]:
    """Every case of the grid, in a fixed order."""
    found = []
    for name in NAMES:
        for spelling, spell in SPELLINGS.items():
            use = spell(name.text + name.args)
            if spelling in ("spaced", "comment", "newline", "tabs") and use == spell("") + name.text + name.args:
                continue
            found += [Case(idiom, spelling, name, files) for idiom, files in idioms(name, use)]
    return found


def port(case: Case) -> Patch:
    """The port of a case, in memory."""
    root = Path("/nowhere")
    files = []
    for path, text in case.files.items():
        data = text.encode()
        file = SourceFile(root, path, "other" if "." not in path else "cuda", len(data))
        file.__dict__["content"] = data
        if file.language == "other":
            file.language = "cuda"
        files.append(file)
    return api.port(SourceTree(root, tuple(sorted(files, key=lambda item: item.path))), jobs=1)


def wrong(case: Case) -> str | None:
    """What is silently wrong in the port of a case; None where it is right or named."""
    patch = port(case)
    loud = {
        (finding.path, line)
        for finding in patch.findings
        if finding.applicability is not Applicability.SAFE
        for line in range(finding.line, finding.end_line + 1)
    }
    spelled: set[str] = set()
    for path, text in case.files.items():
        ported = patch.files[path].data.decode() if path in patch.files else text
        for mark in ("cuda_use(", "own_use("):
            before, after = _lines(text, mark), _lines(ported, mark)
            if len(before) != len(after):
                return f"{path}: {mark} is gone"
            for (line, was), (_, now) in zip(before, after, strict=True):
                named = any((path, at) in loud for at in range(line, line + was.count("\n") + 1))
                if mark == "cuda_use(" and case.name.text in was and not named:
                    if _holds(now, case.name.text) or case.name.ported not in now:
                        return f"{path}:{line}: CUDA's {case.name.text} became {now!r}"
                elif mark == "own_use(" and not named:
                    spelled |= set(re.findall(r"\b(?:rocport::)?\w*" + _stem(case.name) + r"\w*", now))
        for match in re.finditer(r"/\*own\*/(\w+)", ported):
            line = text.count("\n", 0, text.index("/*own*/")) + 1
            if (path, line) not in loud:
                spelled.add(match.group(1))
    return f"declared and used as {sorted(spelled)}" if len(spelled) > 1 else None


def _stem(name: Name) -> str:
    """What every spelling of the name holds."""
    stem = {"warpSize": "warp_?[sS]ize"}.get(name.text, name.text.lstrip("_"))
    for prefix in ("cublas", "cuda"):
        stem = stem.removeprefix(prefix)
    return stem


def _holds(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w:]){re.escape(word)}\b", text) is not None


def _lines(text: str, mark: str) -> list[tuple[int, str]]:
    """(1-based line, text up to the line that ends it) of every use."""
    found = []
    for match in re.finditer(re.escape(mark), text):
        end = text.find(";", match.start())
        found.append((text.count("\n", 0, match.start()) + 1, text[match.start() : end]))
    return found
