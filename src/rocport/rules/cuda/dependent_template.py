"""A member template of a class that depends on a template parameter needs the word `template` in front of its name.
`cast<T>::to<N>(x)` is read as a comparison by Clang, as the standard says; nvcc's front end guesses what is meant. The
port writes `cast<T>::template to<N>(x)`, which means the same to both. Only where an argument of the class is a
template parameter of the file: elsewhere the compilers agree.

So does a member of an object, `x.matrix().block<3, 3>(0, 0)`, whose type names a template parameter, or an alias that
does, or is `auto` of a value that does.

The word in front of a name without arguments, `convert<T>::template apply(x)`, is an error since Clang 19, and says
nothing to nvcc: it is left out.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.spelled_arguments import spelled_arguments
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="dependent-template",
    summary="member template of a dependent class",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"template"}),
    examples=(
        Example(
            "template <typename T, int N> __device__ void f(T x) { convert<T>::to<N>(x); }\n",
            contains=("convert<T>::template to<N>(x);",),
        ),
        Example(
            "template <class G, class S> __global__ void f(S *p) {\n"
            "  using Point = Vector<S, 3>;\n  G X(p);\n  Point q(p);\n  auto y = X * q;\n"
            "  q = X.matrix().block<3, 3>(0, 0) * q.cast<float>() + y[0]->at<1>(p) + G(p).get<0>();\n}\n",
            contains=(
                "X.matrix().template block<3, 3>(0, 0) * q.template cast<float>() + y[0]->template at<1>(p) "
                "+ G(p).template get<0>();",
            ),
        ),
        Example(
            "template <int I, class T> __device__ T f(T x) { return pow<I>::template at(x) + x.template to<4>(); }\n",
            contains=("pow<I>::at(x) + x.template to<4>();",),
        ),
    ),
    clean=(
        "template <typename T> __device__ void f(T x) { convert<T>::template to<4>(x); }\n",
        "template <class T, class F> void f(F run) { run.template operator()<T>(1); }\n",
        "template <typename T> __device__ void f(T x) { convert<int>::to<4>(x); }\n",
        "template <typename T> __device__ bool f(T x) { return limits<T>::low < x; }\n",
        "template <typename T> __device__ void f(T x) { convert<T>::to(x); }\n",
        "template <typename T> __device__ void f(T x) { x.template to<4>(x); }\n",
        "template <typename T> __device__ void f(V x, T y) { x.to<4>(y); this->to<T>(y); }\n",
        "template <typename T> __device__ bool f(T x, int n) { return g(x.size < n, n > (4)) || h<T>().size < n; }\n",
    ),
    sources=("https://eel.is/c++draft/temp.names#3",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    texts = source.texts
    parameters: set[bytes] | None = None
    for position in [at for at in source.positions(b"::") if source.at(at - 1) == b">"]:
        if not source.is_ident(position + 1) or source.at(position + 2) != b"<":
            continue
        end = source.angle_end(position + 2)
        if end is None or source.at(end + 1) != b"(" or texts[position + 1] in (b"template", b"operator"):
            continue
        if parameters is None:
            parameters = template_parameters(source)
        open_ = _angle_start(source, position - 1)
        if open_ is None or parameters.isdisjoint(texts[open_ + 1 : position - 1]):
            continue
        if texts[open_ - 1] in (b"template", b"operator") or (
            source.at(end + 2) == b")" and source.at(end + 3) == b"{"
        ):
            continue
        if position + 2 in spelled_arguments(source):
            continue
        yield finding(
            RULE,
            source,
            position + 1,
            f"{texts[position + 1].decode()} is a member template of a dependent class: Clang wants the word template",
            edits=[insert(source.starts[position + 1], b"template ")],
        )

    yield from _of_objects(source)
    yield from _without_arguments(source)


def _without_arguments(source: CudaSource) -> Iterator[Finding]:
    for position in source.find(b"template"):
        name = position + 1
        if source.at(name) == b"operator" or not source.is_ident(name) or source.at(name + 1) != b"(":
            continue  # the brackets of operator() are its name
        if source.at(position - 1) in (b"::", b".", b"->"):
            yield finding(
                RULE,
                source,
                name,
                f"{source.at(name).decode()} has no template arguments here: Clang refuses the word template before it",
                edits=[Edit(Span(source.starts[position], source.starts[name]), b"")],
            )


def _of_objects(source: CudaSource) -> Iterator[Finding]:
    """`x.block<3, 3>(0, 0)` of an object whose type depends on a template parameter of the file."""
    dependent: set[bytes] | None = None
    for position in sorted({*source.positions(b"."), *source.positions(b"->")}):
        name = position + 1
        if not source.is_ident(name) or source.at(name + 1) != b"<" or source.at(name) == b"template":
            continue
        end = source.angle_end(name + 1)
        if end is None or source.at(end + 1) != b"(" or not _only_arguments(source, name + 2, end):
            continue
        base = _base(source, position - 1)
        if base is None or source.at(base) == b"this":
            continue
        if dependent is None:
            dependent = dependent_types(source)
        if not _depends(source, base, dependent):
            continue
        yield finding(
            RULE,
            source,
            name,
            f"{source.at(name).decode()} is a member template of a dependent object: Clang wants the word template",
            edits=[insert(source.starts[name], b"template ")],
        )


def _only_arguments(source: CudaSource, first: int, last: int) -> bool:
    """True where nothing between two angle brackets is a comparison's: numbers and types, divided by commas."""
    texts = source.texts[first:last]
    if not all(
        text in (b",", b"::", b"<", b">", b"*", b"+", b"-") or text[:1].isalnum() or text[:1] == b"_" for text in texts
    ):
        return False
    # `f(x.size < n, n > (4))`: two comparisons in a call.
    return len(texts) < 3 or texts[1] != b"," or not any(text.islower() and text.isalpha() for text in texts[::2])


def _base(source: CudaSource, at: int) -> int | None:
    """The first token of the expression that ends at `at`: `X` of `X.matrix()[0]`; None for another kind."""
    while at > 0:
        if source.at(at) in (b")", b"]"):
            open_ = source.pairs.get(at)
            if open_ is None:
                return None
            at = open_ - 1
            continue
        if not source.is_ident(at):
            return None
        if source.at(at - 1) not in (b".", b"->"):
            return at
        at -= 2
    return None


def dependent_types(source: CudaSource) -> set[bytes]:
    """Template parameters of the file, and aliases of types that name one."""
    found = template_parameters(source)
    for position in sorted(source.find(b"using", b"typedef")):
        end = next((at for at in range(position, min(position + 80, len(source.texts))) if source.at(at) == b";"), None)
        if end is not None and not found.isdisjoint(source.texts[position + 1 : end]):
            found.add(source.at(position + 1 if source.at(position) == b"using" else end - 1))
    return found


def _depends(source: CudaSource, base: int, dependent: set[bytes]) -> bool:
    """Whether the object named at `base` is declared, above in the file, with a type that depends."""
    if source.at(base) in dependent:
        return True
    name = _declaration(source, base)
    if name is None:
        return False
    first = name
    while first > 0 and source.at(first - 1) not in (b";", b"{", b"}", b"(", b",") and name - first < 40:
        first -= 1
    if b"auto" not in source.texts[first:name]:
        return not dependent.isdisjoint(source.texts[first:name])
    value = range(name + 1, min(name + 60, len(source.texts)))
    end = next((at for at in value if source.at(at) == b";"), name)
    names = [at for at in range(name + 1, end) if source.is_ident(at)]
    declared = (found for at in names if (found := _declaration(source, at)) is not None)
    return any(source.at(at) in dependent for at in names) or any(source.at(at - 1) in dependent for at in declared)


def _declaration(source: CudaSource, use: int) -> int | None:
    """The nearest place above at which a type stands before the name."""
    uses = source.index.get(source.at(use), [])
    for at in reversed(uses[: bisect.bisect_left(uses, use)]):
        before, after = source.at(at - 1), source.at(at + 1)
        typed = source.is_ident(at - 1) and before not in (b"return", b"else", b"case", b"throw", b"new", b"typename")
        pointed = before in (b"&", b"&&", b"*") and source.at(at - 3) in (b";", b"{", b"}", b"(", b",", b"const")
        if (typed or pointed or before == b">") and after in (b";", b"=", b"(", b"{", b"[", b",", b")", b":"):
            return at
    return None


def template_parameters(source: CudaSource) -> set[bytes]:
    """Names of all template parameters of the file."""
    names: set[bytes] = set()
    for position in source.find(b"template"):
        if source.at(position + 1) != b"<":
            continue
        end = source.angle_end(position + 1)
        if end is None:
            continue
        for at in range(position + 2, end):
            if (
                source.at(at + 1) in (b",", b">", b"=")
                and source.is_ident(at)
                and source.at(at - 1) not in (b"=", b"::")
            ):
                names.add(source.texts[at])
    return names


def _angle_start(source: CudaSource, close: int) -> int | None:
    depth = 0
    for position in range(close, max(-1, close - 200), -1):
        text = source.texts[position]
        depth += (text == b">") - (text == b"<")
        if depth == 0:
            return position
        if text in (b";", b"{", b"}"):
            return None
    return None
