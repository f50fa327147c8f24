"""Known build and run failures: how the log says it, why it happens, what ends it.

One file an area in `facts/failures/<area>.toml`, one `[[failure]]` table a failure. A signature is text as the log
prints it, with placeholders for what varies; it is no regular expression, so that a new one can be written by whoever
can paste the log, and so that none can be slow: it compiles to a pattern without nested repetition, every repetition
bounded.

    use of undeclared identifier '{name:cuda}'      a placeholder with a name and a kind
    libcudart.so.{*}: cannot open shared object     any text of at most 200 characters (two of them at most)

A space matches any run of blanks, upper and lower case are the same. Logs are matched with straight quotes, whatever
quotes the compiler printed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rocport.facts._toml import FACTS, read_range, read_toml
from rocport.facts.dates import as_of
from rocport.model.holds import EVERYWHERE, Range

_LIBRARIES = read_toml(FACTS / "shared_libraries.toml")


def _sonames(stems: Iterable[str]) -> str:
    return rf"lib(?:{'|'.join(map(re.escape, stems))})(?:-[a-z0-9]{{1,20}})?\.so(?:\.[0-9.]{{1,24}})?"


KINDS: Mapping[str, str] = {
    "word": r"[\w.+\-]{1,120}",
    "name": r"[A-Za-z_]\w{0,400}",
    "gfx": r"gfx[0-9][0-9a-z\-]{1,14}",
    "version": r"[0-9][0-9A-Za-z.+]{0,40}",
    "number": r"[0-9][0-9.,]{0,24}",
    "path": r"[^\s'\"`;,()<>|]{1,300}",
    "cuda": r"(?:cu(?:da|blas|sparse|fft|rand|solver|dnn|tensor)[A-Z_a-z]|nv(?:rtc|ml)[A-Z])\w{0,100}",
    "quoted": r"[^'\"`\n]{1,300}",
    "rocmlib": _sonames(_LIBRARIES["rocm"]),
    "cudalib": _sonames(_LIBRARIES["cuda"]),
    "anylib": _sonames(_LIBRARIES["anybody"]),
    "rocmpackage": rf"(?:{'|'.join(map(re.escape, sorted(_LIBRARIES['packages'])))})(?![\w\-])",
    "soname": r"lib[\w.+\-]{1,80}\.so(?:\.[0-9.]{1,24})?",
}
"""Placeholder kind -> pattern. None repeats a group, so a signature is matched in time linear in its window."""

_BEGINS = {"gfx": "gfx", "soname": "lib"}
"""Placeholder kind -> fixed text that begins whatever it catches."""

STATES = re.compile(
    r"error|exception|fatal|panick|abort|assert|traceback|fail|fault|segf|terminat|illegal|invalid|refus|denied|reject|bug\b"
    r"|\brip:|\bnot?\b|n't\b|cannot|could|unable|unavailable|unsupported|unknown|unrecogni|undefined|undeclared|missing|without"
    r"|mismatch|timeout|timed|exceed|out of|larger|too |\bonly\b|\bbut\b|differ|conflict|inconsist|unmet|unsatisf"
    r"|ambiguous|impossible|incompatible|require|must|should|please|expected|warn|experimental|deprecated|dropping|skip|disable"
    r"|more than|lost|hang|hung|reset|kill|oom|broken|unrecover|oversubscribed|evicted|freeing|recover|redefin|follows"
    r"|is empty|multiple|duplicate|unreadable|problem|detected for|environment variable detected|no_pubkey|expkeysig"
    r"|nans was|poison|closed|exit (?:code|status)|signal|sig(?:segv|abrt)|inactivated|auto balancing|is full|overwrite"
    r"|recommends|older|ignoring",
    re.IGNORECASE,
)
"""Words with which a message says that something is wrong."""

CERTAINTIES = ("high", "medium", "low")
UNBOUNDED: Mapping[str, str] = {
    "setup": "any release: it is how a machine, a container, a package or a build is set up",
    "source": "any release: it is what the code asks for that is built or run",
    "hardware": "any release: it is what the GPU, the board or the memory can do",
    "pairing": "any release: it takes two releases or builds that do not belong together",
    "build": "any release: it takes a build without code for the GPU (which have it: rocport compat --matrix)",
    "general": "any release: many causes print these words",
    "outside": "not ROCm's, torch's or a package's number: the kernel, firmware, the Windows driver or another program",
    "open": "no release is known to end it, as of {day}",
}
"""Why a failure has no range of versions."""
MAX_ANY = 2
_PLACEHOLDER = re.compile(r"\{(\*|[a-z_]+(?::[a-z]+)?)\}")
_IDENTIFIER = re.compile(r"\w+\Z")
_MIN_LITERAL = 5


class FailureFactError(ValueError):
    """A record of facts/failures that breaks the schema; the message names file, id and field."""


@dataclass(frozen=True)
class Signature:
    """One signature line, checked; its pattern is compiled when a log holds its literal, which few ever do."""

    text: str
    expression: str
    literal: str
    """The longest piece of fixed text, with what begins the next placeholder, in lower case: a log without it cannot
    match."""
    states: bool
    """False where the text only names a file, variable, function or status: what is wrong has to stand beside it."""
    named: bool = False
    """True where the text is a single identifier."""
    wide: bool = False
    """True where programs without ROCm print the text, too: something of AMD's has to stand beside it."""

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds it in a log, upper and lower case the same."""
        return re.compile(self.expression, re.IGNORECASE)


@dataclass(frozen=True)
class Failure:
    """One known failure.

    `certainty`: high = measured, or said by the maintainers of the code that prints it, or by many reports; medium =
    several reports agree; low = one report.
    """

    id: str
    area: str
    title: str
    signatures: tuple[Signature, ...]
    applies: str
    """Versions, targets and systems it holds for, in words; empty: no bound is known."""
    cause: str
    fix: tuple[str, ...]
    sources: tuple[str, ...]
    certainty: str
    specificity: int
    """1 (a message that many causes print) to 100 (a message that has one cause)."""
    example: str
    near_miss: tuple[str, ...] = ()
    cuda_build: bool = False
    """True: a CUDA build fails in this way on a machine without an NVIDIA GPU, so nothing in the log need name AMD."""
    nvidia_too: bool = False
    """True: an NVIDIA machine prints the same words, so that it is doubted where a log has no word of AMD."""
    harmless: bool = False
    """True: programs go on after it as if nothing had been, so that it is not why a run ended."""
    follows: tuple[str, ...] = ()
    """Failures that bring this one about: after one of them in a log it is a consequence, not the cause."""
    where: Range = EVERYWHERE
    """The versions of `applies` that are known as numbers."""
    unbounded: str = ""
    """Why `where` is empty: a key of UNBOUNDED."""

    @property
    def bounds(self) -> str:
        """The versions and targets it holds for, or why none bound it."""
        return str(self.where) or UNBOUNDED[self.unbounded].format(day=as_of("failures").isoformat())


def compile_signature(text: str, wide: bool = False) -> Signature:
    """Signature text -> pattern and prefilter literal.

    Raises FailureFactError for an unknown placeholder kind, more than two `{*}`, or no literal of five characters.
    """
    pieces: list[str] = []
    literals: list[str] = []
    begins: list[str] = []
    seen: set[str] = set()
    position = 0
    for match in _PLACEHOLDER.finditer(text):
        literals.append(text[position : match.start()])
        pieces.append(_literal_pattern(literals[-1]))
        pieces.append(_placeholder_pattern(match.group(1), seen, text))
        begins.append(_BEGINS.get(match.group(1).rpartition(":")[2], ""))
        position = match.end()
    literals.append(text[position:])
    pieces.append(_literal_pattern(literals[-1]))
    if _IDENTIFIER.match(text):  # hipErrorInvalidDevice is not the beginning of hipErrorInvalidDeviceFunction
        pieces = [r"(?<![A-Za-z0-9_])", *pieces, r"(?![A-Za-z0-9_])"]
    if text.count("{*}") > MAX_ANY:
        raise FailureFactError(f"signature {text!r}: at most {MAX_ANY} '{{*}}'")
    longest = max(range(len(literals)), key=lambda at: len(literals[at].strip()))
    literal = literals[longest].strip()
    if len(literal) < _MIN_LITERAL:
        raise FailureFactError(f"signature {text!r}: needs {_MIN_LITERAL} characters of fixed text in one piece")
    if longest < len(begins) and literals[longest].rstrip() == literals[longest]:
        literal += begins[longest]
    named = _IDENTIFIER.match(text) is not None
    states = not named and STATES.search("".join(literals)) is not None
    return Signature(text, "".join(pieces), literal.lower(), states, named, wide)


def _literal_pattern(text: str) -> str:
    return re.sub(r"(?:\\ )+", r"\\s+", re.escape(text))


def _placeholder_pattern(spec: str, seen: set[str], text: str) -> str:
    if spec == "*":
        return ".{0,200}?"
    name, _, kind = spec.partition(":")
    kind = kind or (name if name in KINDS else "word")
    if kind not in KINDS:
        raise FailureFactError(f"signature {text!r}: unknown placeholder kind {kind!r}; known: {', '.join(KINDS)}")
    if name in seen:
        raise FailureFactError(f"signature {text!r}: placeholder {name!r} is used twice")
    seen.add(name)
    return f"(?P<{name}>{KINDS[kind]})"


@functools.lru_cache(maxsize=1)
def load_failures() -> tuple[Failure, ...]:
    """Every failure of `facts/failures/`, most specific first. Raises FailureFactError for a broken record."""
    found: dict[str, Failure] = {}
    for path in sorted((FACTS / "failures").glob("*.toml")):
        for failure in parse_failures(path.stem, read_toml(path).get("failure", ())):
            if failure.id in found:
                raise FailureFactError(f"{path.name}: id {failure.id!r} is already in {found[failure.id].area}.toml")
            found[failure.id] = failure
    for failure in found.values():
        unknown = sorted(set(failure.follows) - set(found))
        if unknown:
            raise FailureFactError(
                f"{failure.area}.toml: failure {failure.id!r} follows {unknown[0]!r}, which is no id"
            )
    return tuple(sorted(found.values(), key=lambda item: (-item.specificity, item.id)))


def parse_failures(area: str, tables: Iterable[Mapping[str, Any]]) -> list[Failure]:
    """TOML tables -> failures, checked field by field."""
    return [_parse(area, table) for table in tables]


_FIELDS = {
    "id": str,
    "title": str,
    "signatures": list,
    "applies": str,
    "cause": str,
    "fix": list,
    "sources": list,
    "certainty": str,
    "specificity": int,
    "example": str,
    "near_miss": list,
    "cuda_build": bool,
    "nvidia_too": bool,
    "harmless": bool,
    "follows": list,
    "where": dict,
    "unbounded": str,
    "wide": list,
}
_OPTIONAL: dict[str, Any] = {
    "applies": "",
    "near_miss": [],
    "cuda_build": False,
    "nvidia_too": False,
    "harmless": False,
    "follows": [],
    "where": {},
    "unbounded": "",
    "wide": [],
}


def _parse(area: str, table: Mapping[str, Any]) -> Failure:
    where = f"{area}.toml: failure {table.get('id', '(no id)')!r}"
    unknown = sorted(set(table) - set(_FIELDS))
    if unknown:
        raise FailureFactError(f"{where}: unknown field {unknown[0]!r}")
    values: dict[str, Any] = _OPTIONAL | dict(table)
    for name, kind in _FIELDS.items():
        if not isinstance(values.get(name), kind):
            raise FailureFactError(f"{where}: field {name!r} must be a {kind.__name__}")
        if name not in _OPTIONAL and not values[name]:
            raise FailureFactError(f"{where}: field {name!r} is empty")
    if values["certainty"] not in CERTAINTIES:
        raise FailureFactError(f"{where}: certainty must be one of {', '.join(CERTAINTIES)}")
    if not 1 <= values["specificity"] <= 100:
        raise FailureFactError(f"{where}: specificity must be 1 to 100")
    if bool(values["where"]) == bool(values["unbounded"]):
        raise FailureFactError(f"{where}: either field 'where' or field 'unbounded' says for which versions it holds")
    if values["unbounded"] not in ("", *UNBOUNDED):
        raise FailureFactError(f"{where}: unbounded must be one of {', '.join(UNBOUNDED)}")
    wide = values["signatures"] if values["wide"] == ["*"] else values["wide"]
    stray = sorted(set(wide) - set(values["signatures"]))
    if stray:
        raise FailureFactError(f"{where}: field 'wide' names {stray[0]!r}, which is no signature of the record")
    try:
        signatures = tuple(compile_signature(text, text in wide) for text in values["signatures"])
    except FailureFactError as error:
        raise FailureFactError(f"{where}: {error}") from None
    return Failure(
        id=values["id"],
        area=area,
        title=values["title"],
        signatures=signatures,
        applies=values["applies"],
        cause=_one_line(values["cause"]),
        fix=tuple(_one_line(step) for step in values["fix"]),
        sources=tuple(values["sources"]),
        certainty=values["certainty"],
        specificity=values["specificity"],
        example=values["example"].strip("\n"),
        near_miss=tuple(text.strip("\n") for text in values["near_miss"]),
        cuda_build=values["cuda_build"],
        nvidia_too=values["nvidia_too"],
        harmless=values["harmless"],
        follows=tuple(values["follows"]),
        where=read_range(values["where"]),
        unbounded=values["unbounded"],
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
