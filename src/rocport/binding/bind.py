"""Whose a name is, at one place of one file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache

from rocport.binding.collect import Wanted, candidates, collect
from rocport.binding.scopes import Declared, Kind, Scopes, What
from rocport.model import Context, Definition, ProjectIndex
from rocport.syntax.cuda import CudaSource


class Owner(Enum):
    """Whose a name is."""

    CUDA = "CUDA"
    PROJECT = "the project"
    UNKNOWN = "nobody can tell"


@dataclass(frozen=True)
class Binding:
    """Whose an identifier is, as what (`macro`, `local`, `member`, ...) and where that was read."""

    owner: Owner
    what: str = ""
    path: str = ""
    line: int = 0


CUDA = Binding(Owner.CUDA)

RETIRED = frozenset(b"__any __all __ballot __shfl __shfl_up __shfl_down __shfl_xor".split())
"""Intrinsics CUDA does not declare for sm_70 and later: a function of the project with that name is the one called."""

# First parameters with which a project once added to the intrinsics what CUDA's lacked: calls with others are CUDA's.
_OVERLOADS = frozenset({b"double", b"long long", b"unsigned long long", b"float2", b"double2", b"half", b"__half"})
_LOCAL = frozenset({What.PARAMETER, What.LOCAL, What.MACRO_PARAMETER})
_INSIDE = _LOCAL | {What.MEMBER, What.ENUMERATOR}


def _overloads(takes: bytes) -> bool:
    """Whether a function with such a first parameter stands beside CUDA's: `at::Half` is no type of CUDA's own."""
    return takes in _OVERLOADS or b"::" in takes


class Binder:
    """The names of one file, bound. `wanted` are the names that can be asked for."""

    def __init__(self, source: CudaSource, project: ProjectIndex, wanted: Wanted) -> None:
        self.source = source
        self.project = project
        self.scopes = Scopes(source)
        self.wanted = wanted
        self._owners: dict[bytes, set[bytes]] = {}
        self._outside: dict[bytes, dict[bytes | None, Binding]] = {}
        self._inside: dict[bytes, dict[bytes, Binding]] = {}
        self._macros: dict[tuple[bytes, bool], Binding | None] = {}
        self._bodies: dict[tuple[bytes, bool], frozenset[bytes]] = {}

    @cached_property
    def _candidates(self) -> frozenset[bytes]:
        known = self.source.known
        if self.wanted is known or not self.wanted <= known:
            return candidates(self.source.data, self.wanted)
        return candidates(self.source.data, known) & self.wanted

    @cached_property
    def own(self) -> dict[bytes, list[Definition]]:
        """What the file itself and the files of its units say of the names it uses."""
        found: dict[bytes, list[Definition]] = {}
        for definition in collect(self.source, self._candidates, self.scopes):
            found.setdefault(definition.name, []).append(definition)
        for name in (self.source.names | {b""}) & self.project.definitions.keys():
            for definition in self.project.definitions[name]:
                if definition.path != self.source.path and self.project.together(self.source.path, definition.path):
                    found.setdefault(name, []).append(definition)
        return found

    def definitions(self, name: bytes, kind: str = "") -> list[Definition]:
        """The project's own meanings of a name that this file may see, of one kind or of all."""
        return self._by_kind.get((name, kind), []) if kind else self.own.get(name, [])

    @cached_property
    def _by_kind(self) -> dict[tuple[bytes, str], list[Definition]]:
        found: dict[tuple[bytes, str], list[Definition]] = {}
        for name, items in self.own.items():
            for item in items:
                found.setdefault((name, item.kind), []).append(item)
        return found

    def macro(self, name: bytes, device: bool) -> Binding | None:
        """The project's macro of a name in one pass of the compiler: PROJECT where it is surely defined there, UNKNOWN
        where it may be."""
        if (name, device) not in self._macros:
            states = [(item.live[0 if device else 1], item) for item in self.definitions(name, "macro")]
            bindings = (Binding(owner, "macro", item.path or self.source.path, item.line)
                        for owner, known in ((Owner.PROJECT, True), (Owner.UNKNOWN, None))
                        for state, item in states if state is known)  # fmt: skip
            self._macros[name, device] = next(bindings, None)
        return self._macros[name, device]

    def bodies(self, name: bytes, here: bool = False) -> frozenset[bytes]:
        """What the project's macros of a name are, those of this file alone or all: one word each, empty for more."""
        if (name, here) not in self._bodies:
            found = self.definitions(name, "macro")
            self._bodies[name, here] = frozenset(item.takes for item in found if not (here and item.path))
        return self._bodies[name, here]

    @cached_property
    def macro_names(self) -> frozenset[int]:
        """The tokens of the file that a `#define` or `#undef` names."""
        return frozenset(at for told in self._told.values() for at, _ in told)

    def stands_for(self, position: int) -> bytes:
        """What the identifier at a token stands for by an alias or a using-declaration of a unit of this file.

        `cub` for the `c` of `namespace c = cub`, `cub::WarpReduce` for `WarpReduce` after `using cub::WarpReduce`; else
        itself.
        """
        name = self.source.at(position)
        for item in self.definitions(name, "alias"):
            return item.takes
        return name

    def bind(self, position: int) -> Binding:
        """Whose the identifier at a token is. A function at file scope overloads CUDA's: it does not hide it, but for
        the intrinsics without a mask, which CUDA itself no longer declares."""
        source = self.source
        name = source.at(position)
        before = source.at(position - 1)
        if before in (b".", b"->"):
            return self._member(name) or CUDA
        local = self._local(position) if before != b"::" else None
        if local is not None:
            return self._at(local)
        if source.qualified(position):
            return self._qualified(position) or CUDA
        macro = self.macro(name, name.startswith(b"__") or source.in_device(position))
        if macro is not None and not self._spared(position, name) and self._reaches(position, name):
            return macro
        return self._elsewhere(position, name) or CUDA

    def _elsewhere(self, position: int, name: bytes) -> Binding | None:
        """What is declared at file scope, or in a namespace that holds the place."""
        if name not in self._outside:
            self._outside[name] = self._declared_outside(name)
        inside: set[bytes] | None = None
        for owner, binding in self._outside[name].items():
            if owner is None:
                return binding
            if self.source.at(position - 1) == b"::":
                continue
            if inside is None:
                inside = self._namespaces(position)
            if owner in inside:
                return binding
        return None

    def _declared_outside(self, name: bytes) -> dict[bytes | None, Binding]:
        """The first declaration of a name in each namespace, and, for None, at file scope; in their order."""
        found: dict[bytes | None, Binding] = {}
        for item in self.definitions(name):
            if item.live == (False, False) or item.kind in ("macro", "member", "alias", "using"):
                continue
            if self._joins(item):
                continue
            if item.owner or item.kind != "function" or (name in RETIRED and not _overloads(item.takes)):
                owner = item.owner.rpartition(b"::")[2] if item.owner else None
                binding = Binding(Owner.PROJECT, item.kind, item.path or self.source.path, item.line)
                found.setdefault(owner, binding)
        return found

    def _joins(self, item: Definition) -> bool:
        """True for a function of a namespace that a using-declaration or -directive of the unit puts beside CUDA's: one
        set of overloads, which is renamed as one."""
        if item.kind != "function" or not item.owner:
            return False
        namespace = item.owner.rpartition(b"::")[2]
        return not self._used.isdisjoint({(item.name, namespace), (b"", namespace)})

    @cached_property
    def _used(self) -> frozenset[tuple[bytes, bytes]]:
        """(name, or none for all of them, the namespace that it is taken from)."""
        return frozenset((name, use.takes) for name in self.own for use in self.definitions(name, "using"))

    def _namespaces(self, position: int) -> set[bytes]:
        return {scope.name for scope in self.scopes.enclosing(position) if scope.kind is Kind.NAMESPACE and scope.name}

    def _reaches(self, position: int, name: bytes) -> bool:
        """False where the file's own lines say that the macro is not defined at the place.

        It was undefined again, or is defined further down. A macro's text is read where the macro is used, so nothing
        is said of a place in one.
        """
        source = self.source
        if source.directive_of(position) is not None:
            return True
        told = self._told.get(name, [])
        before = bisect_left(told, position, key=lambda item: item[0])
        if before:
            return told[before - 1][1]
        return name in self._macros_elsewhere or not any(defines for _, defines in told)

    @cached_property
    def _told(self) -> dict[bytes, list[tuple[int, bool]]]:
        """Where the file's own lines define a name, or undefine it: (its token, whether it is defined there)."""
        found: dict[bytes, list[tuple[int, bool]]] = {}
        for directive in self.source.directives:
            if directive.name in (b"define", b"undef"):
                at = directive.first + 2
                found.setdefault(self.source.at(at), []).append((at, directive.name == b"define"))
        return found

    @cached_property
    def _macros_elsewhere(self) -> frozenset[bytes]:
        """Macros that another file defines."""
        own = self.source.path
        return frozenset(name for (name, kind), items in self._by_kind.items() if kind == "macro"
                         and any(item.path and item.path != own for item in items))  # fmt: skip

    def _spared(self, position: int, name: bytes) -> bool:
        """True where a function-like macro does not expand: `(name)(...)`, `&name`, and in its own body."""
        source = self.source
        if name not in self._plain and source.at(position + 1) != b"(":
            return True
        directive = source.directive_of(position)
        return directive is not None and directive.name == b"define" and source.at(directive.first + 2) == name

    @cached_property
    def _plain(self) -> frozenset[bytes]:
        """Macros that are defined without parameters somewhere."""
        return frozenset(name for (name, kind), items in self._by_kind.items()
                         if kind == "macro" and any(item.parameters is None for item in items))  # fmt: skip

    def _local(self, position: int) -> Declared | None:
        """The innermost local, parameter or member declaration that the place sees."""
        name = self.source.at(position)
        seen = self.scopes.visible(position, _INSIDE)
        if seen is not None:
            return seen
        if name not in self._owners:
            owners = {declared.owner for declared in self.scopes.declarations(name) if declared.what is What.MEMBER}
            self._owners[name] = owners | {item.owner for item in self.definitions(name, "member")}
        owners = self._owners[name]
        if owners:
            classes = {scope.name for scope in self.scopes.enclosing(position) if scope.kind is Kind.CLASS}
            for owner in self._with_bases({*classes, self._class_of(position)}) & owners:
                return Declared(position, What.MEMBER, position, position, owner)
        return None

    def _with_bases(self, classes: set[bytes]) -> set[bytes]:
        """The classes and those they inherit from, as far as this file says."""
        source = self.source
        found, waiting = set(classes), [name for name in classes if name]
        while waiting:
            for at in source.index.get(waiting.pop(), ()):
                if source.at(at - 1) not in (b"class", b"struct"):
                    continue
                at += 2 if source.at(at + 1) == b"final" else 1
                while source.at(at) in (b":", b",", b"::") or source.is_ident(at):
                    if source.is_ident(at) and source.at(at) not in found:
                        found.add(source.at(at))
                        waiting.append(source.at(at))
                    at += 1
                    at = (source.angle_end(at) or at) + 1 if source.at(at) == b"<" else at
        return found

    def _class_of(self, position: int) -> bytes:
        """Class of the member function defined outside it, `T X::f(...) {`, whose body holds the token."""
        source = self.source
        for scope in self.scopes.enclosing(position):
            at = scope.open - 1
            while at > 0 and source.at(at) not in (b";", b"}", b"{"):
                if source.at(at) == b")" and at in source.pairs:
                    at = source.pairs[at]
                    if source.at(at - 2) == b"::" and (named := self._scope_before(at - 2)):
                        return named
                at -= 1
        return b""

    def _member(self, name: bytes) -> Binding | None:
        for item in self.definitions(name, "member"):
            return Binding(Owner.PROJECT, "member", item.path or self.source.path, item.line)
        return None

    def _qualified(self, position: int) -> Binding | None:
        """`X::name`, where the project declares `name` in X."""
        name = self.source.at(position)
        if name not in self._inside:
            found = self._inside[name] = {}
            for item in self.definitions(name):
                if item.owner and not self._joins(item):
                    binding = Binding(Owner.PROJECT, item.kind, item.path or self.source.path, item.line)
                    found.setdefault(item.owner.rpartition(b"::")[2], binding)
        return self._inside[name].get(self._scope_before(position - 1))

    def _scope_before(self, colons: int) -> bytes:
        """The name that stands before a `::`: `T` of `T::`, `X` of `X<int, Y<2>>::`; empty for none."""
        source = self.source
        at, depth = colons - 1, 0
        while colons - at < 200 and source.at(at) not in (b"", b";", b"{", b"}"):
            depth += (source.at(at) == b">") - (source.at(at) == b"<")
            if depth <= 0:
                at -= source.at(at) == b"<"
                return source.at(at) if source.is_ident(at) else b""
            at -= 1
        return b""

    def _at(self, declared: Declared) -> Binding:
        line = self.source.line(self.source.starts[declared.position])
        return Binding(Owner.PROJECT, declared.what.value, self.source.path, line)

    def places(self) -> Iterator[tuple[int, Binding]]:
        """Every identifier of the file that is spelled as one of CUDA's names and is surely not CUDA's."""
        for name in self.own.keys() | self._shadowed():
            for position in self.source.find(name):
                binding = self.bind(position)
                if binding.owner is Owner.PROJECT:
                    yield position, binding

    def _shadowed(self) -> set[bytes]:
        """Names of `wanted` that some scope of the file declares."""
        return {
            name
            for name in self._candidates
            if any(declared.what in _LOCAL for declared in self.scopes.declarations(name))
        }


def binder(source: CudaSource, context: Context, wanted: Wanted = frozenset()) -> Binder:
    """The binder of a file; kept for the rules that run over it one after the other. Whoever asks first says which
    names are wanted: those its source was made to look for, where none are given."""
    found = _kept(source)
    if not found or found[0].project is not context.project:
        found[:] = [Binder(source, context.project, wanted or source.known)]
    return found[0]


@lru_cache(maxsize=2)
def _kept(source: CudaSource) -> list[Binder]:
    """The binder of a file, once there is one; of the last files only, as it holds all tokens of its own."""
    return []
