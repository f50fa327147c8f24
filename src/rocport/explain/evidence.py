"""How sure a match is: what the rest of the paste says for it and against it.

A signature is words, and words have been wrong: a remark at the start of a log that ends well, a message of another
vendor's stack, a cause that speaks of a wheel where no wheel is. So every match is put to the same questions, whatever
its record says; each answer against it is a doubt, and a match with a doubt is shown as a possible cause, not claimed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rocport.explain.match import Match
from rocport.explain.telling import explains, tells
from rocport.explain.text import Block
from rocport.explain.vendor import UNKNOWN, Vendor
from rocport.facts._toml import FACTS, read_toml
from rocport.model.targets import GfxTarget
from rocport.model.versions import RocmVersion

GENERAL = 15
"""A failure of at most this specificity only says what its words mean."""
VAGUE = 60
"""Below it a failure names a class of causes."""
CLEAR = 80
"""From here on a failure's message names the thing itself."""
NEAR = 40
"""Lines between two messages of one failure: a traceback with its causes."""
SYSTEMS = frozenset({"WSL", "Windows", "wheel"})
"""Subjects that are no program: a message cannot show them by being there."""
RIVAL = 8
"""Two failures whose specificity differs by less are equally good readings of a log."""

_INFORMS = re.compile(r"(?:^|[\s\[(|<])(?:INFO|DEBUG|TRACE|VERBOSE|Info2?|info|debug)(?=[\s\]:|)>])")
_FAILS = re.compile(
    r"error\b|exception|fatal|abort|traceback|assert|terminat|segfault|segmentation|\bfailed\b|\bfailure\b",
    re.IGNORECASE,
)
_STUCK = re.compile(
    rf"{_FAILS.pattern}|exit (?:code|status):? [-1-9]|cannot|could(?:n't| not)|unable|not found|no such"
    r"|undefined|undeclared|unsupported|core dumped",
    re.IGNORECASE,
)
_WARNS = re.compile(
    r"(?<!NCCL )\bwarn(?:ing)?\b|^\[W\d|^W\d{4} |\bfall(?:s|ing|en)?[ -]?back to\b", re.IGNORECASE
)  # NCCL's errors are WARN
_ERROR_LEVEL = re.compile(r"\b(?:fatal|error|critical)\b\]?:", re.IGNORECASE)
_ENDS = re.compile(
    r"^\s{0,20}(?:[\w.]{0,80}(?:Error|Exception)\b|(?:fatal )?error:|E: |FAILED:|Aborted|Segmentation fault|Traceback"
    r"|terminate called|Fatal Python error)"
    r"|core dumped|: (?:fatal )?error: ",
    re.MULTILINE,
)
_WELL = re.compile(
    r"successfully installed|prompt executed in|application startup complete|server is listening|server listening on"
    r"|\beval time =|tokens per second|\btest passed|\d passed in |\[100%\] built target|build succeeded"
    r"|\"inference compute\" id=\S+ library=(?:rocm|hip)\b"
    r"|finished successfully|completed successfully|\[(?:rocm|cuda|gpu)device\(|http/1\.[01]\" 200"
    r"|successfully loaded firmware",
    re.IGNORECASE,
)
_LISTS = re.compile(r"(?<!is )cuda(?:\.is_available\(\))?(?: available)?: true|hsa agents\b", re.IGNORECASE)

# A part of whatever the pattern matches: asking for these first is a hundred times as fast on a block without.
_END_WORDS = (
    *("Error", "Exception", "error:", "E: ", "FAILED:", "Aborted", "Segmentation fault", "Traceback", "core dumped"),
    *("terminate called", "Fatal Python error"),
)
_WELL_WORDS = (
    *("success", "prompt executed", "startup complete", "listening", "eval time", "tokens per second", "passed"),
    *("build succeeded", "[100%]", "device(", "http/1.", "inference compute"),
)
_LISTS_WORDS = ("cuda: true", "available: true", "available(): true", "hsa agents")


# A sentence that speaks of a message, before and after it; and the code that would print it.
_SPOKEN_OF = re.compile(
    r"\b(?:if|when) (?:you|your|users?|one)\b"
    r"|(?:^\W{0,6}|\b(?:you|we|should|can|may|to|will|would) )expect\b"
    r"|\b(?:would|could|might|may|can|will|should) (?:\w{1,20} )?"
    r"(?:fail|crash|print|throw|raise|give|report|show|produce|say|complain|abort|die|end|result)\b"
    r"|\b(?:no longer|(?:do|does|did)(?:n't| not)|never|stopped) (?:get|see|hit|print|raise)(?:ting|ing)?\b"
    r"|\b(?:this|that|it|which|usually|often|message|error) (?:means|indicates)\b"
    r"|\bknown (?:issues?|bugs?|problems?|limitations?)\b"
    r"|^\W{0,6}(?:or|(?:root )?causes?|symptoms?|examples?)\W{0,4}$"
    r"|\b(?:solutions? (?:for|to)|see also|duplicate of"
    r"|(?<!\bme )(?<!\bus )(?<!shows )(?<!gives )(?<!prints )(?<!throws )the (?:error|message|warning) [\"'`])"
    r"|^\W{0,6}(?:q(?:uestion)?\s?\d{0,3}[:.)]|symptoms?\b|troubleshooting\b|what (?:does|is|are)\b|any idea\b)"
    r"|^\W{0,4}\[?(?:feature|docs?|documentation|rfc|question|solved|faq|closed)\b[^\]\n]{0,20}\]?:? "
    r"|\byou (?:may|might|will|would|could|can|should) (?:also )?(?:see|get|encounter|find|hit|run into)\b"
    r"|\b(?:errors?|messages?|warnings?|failures?) (?:like|such as)\b|\be\.g\.|\bfor (?:example|instance)\b"
    r"|\bused to\b|\bpreviously\b|\bworkaround for\b"
    r"|(?<!able )(?<!failed )(?<!how )\bto (?:avoid|prevent|suppress|fix|handle)\b"
    r"|^\W{0,4}(?:[0-9a-f]{7,40} )?(?:fix(?:e[sd])?|resolve[sd]?|close[sd]?|prevent|avoid|handle|work around|do not)\b"
    r"|\b(?:this|that|it|which|commit|change|patch) (?:(?:should|will|would) )?(?:fix|solve|resolve|avoid|prevent)"
    r"(?:e?[sd])?\b"
    r"|(?:^|[\s;{(])(?:raise|throw|assert|print\w?|fprintf|puts|grep|rg|match=|warn"
    r"|(?:log|logger|logging|warnings)\.\w+|LOG\(\w+\)|TORCH_(?:CHECK|WARN)\w*)[ (][^\"'`\n]{0,80}[\"'`][^\"'`\n]*$"
    r"|(?-i:\breturn (?:\w+::)?|[\w)\]] ?[!=]= ?|\bcase )$"
    r"|^\s*(?!(?-i:[\w.:]*(?:Error|Exception|Warning))\b)[\w.:]{1,60}\(f?[\"'][^\"'`\n]*$",
    re.IGNORECASE,
)
_SPOKEN_AFTER = re.compile(
    r"\b(?:no longer|(?:do|does|did)(?:n't| not)) (?:occur|happen|appear|show)"
    r"|\bis (?:harmless|expected|normal|fixed)\b(?! to\b)|\b(?:been|was|were|got) fixed\b"
    r"|\b(?:means|indicates) that\b|^\W{0,4}(?:\w{1,20} ){0,2}(?:means|indicates)\b"
    r"|^\W{0,4}(?:\w{1,20} ){0,2}(?:(?:may|might|can|could) (?:appear|occur|happen|show up)"
    r"|is (?:caused|printed|raised|shown|thrown|due)"
    r"|(?:appears|occurs|happens|comes) (?:(?:when|if|because) (?!i\b)|from))"
    r"|^[^*\n]{0,80}\*\*\s?[:\u2013\u2014-]\s?\S"
    r"|^[^\n]{0,80}? [-\u2013\u2014\u2192>]{1,2} (?:set|install|use|try|add|export|run|upgrade|update|remove)\b"
    r"|(?-i:\b(?:PASSED|SKIPPED|XFAIL)\b)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?;] (?!Reason: )")
# What begins a report of one's own in the middle of a sentence.
_REPORTS = re.compile(
    r"(?<!e\.g)(?<!i\.e)[.!?;] (?!Reason: )"
    r"|\b(?:but|now|I (?:still )?(?:get|got|see|saw)|I(?:'m| am)(?: still)? (?:getting|seeing))\b"
)


# A condition, and what comes of it: `If a script asks for it, ... . This triggers ...`.
_SUPPOSES = re.compile(r"\W{0,6}(?:if|when(?:ever)?) [^.\n]{1,300}\. (?:this|that|it)\b[^.\n]{0,80}$", re.IGNORECASE)
_TABLE = re.compile(r"\s{0,8}\|[^\n]{1,1400}\|\s{0,8}")
_ENDED = re.compile(r"[a-z)]\. [A-Z]")
_FIRST_PERSON = re.compile(r"\b(?:I|my|me|we|our)\b")


def first_person(text: str) -> bool:
    """True where somebody tells of what happened to them."""
    return bool(_FIRST_PERSON.search(text))


def spoken_of(line: str, start: int, end: int) -> bool:
    """True where a line only speaks of the message at `start` to `end`, or is the code that prints it: a sentence of
    it, a row of a table, or a paragraph in which two sentences stand before it and nobody tells of themselves."""
    if _TABLE.fullmatch(line) and line.count("|") > 2:
        return True
    quoted = line.rfind("`", 0, start) >= 0 and line.find("`", end) >= 0 and line.count("`", 0, start) % 2
    if len(_ENDED.findall(line, 0, start)) + (len(_ENDED.findall(line, end)) if quoted else 0) > 1:
        return not first_person(line)
    if not first_person(line) and _SUPPOSES.match(line[max(0, start - 500) : start]):
        return True
    first = max(0, start - 300)
    sentence = max(
        (found.end() for found in _REPORTS.finditer(line, first, end) if found.end() <= start), default=first
    )
    stop = _SENTENCE.search(line, end, end + 300)
    after = line[end : stop.start() if stop else end + 300]
    return bool(_SPOKEN_OF.search(line[first:start], sentence - first) or _SPOKEN_AFTER.search(after))


def informs(line: str) -> bool:
    """True for a line its program marks as information, and that speaks of no error."""
    return bool(_INFORMS.search(line[:200])) and not _FAILS.search(line)


# A message that repeats a class of failures and sends its reader to the line that decides.
_POINTS = re.compile(
    r"\b(?:re-?)?run (?:it )?(?:again )?with \S{1,60} for (?:more )?(?:details|info)"
    r"|\brun the following command to get more"
    r"|\bsee (?:the )?(?:root causes?|errors?|logs?|output|traceback|messages?) above\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\b(?:hip|nccl|miopen|roc|hsa|HIP|HSA)\w{0,40}(?:[Ee]rror|ERROR|[Ss]tatus|STATUS|NCCL)\w{0,60}|\bnccl[A-Z]\w{0,40}"
)
_GIVES = re.compile(r"(?:(?<![{,]): |[=(]|\breturned:? |\bwhat\(\): )['\"`<]{0,2}$", re.IGNORECASE)
_ASKS = re.compile(r"\W{0,6}how (?:to|do|can)\b[^\n]{1,300}\?", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]|`")
_GIVEN = re.compile(r"['\"`>]{0,2}\s?(?:[:;.)(\[]|$)")


def failed(line: str) -> bool:
    """True for a line that speaks of an error: the name of a status code alone does not."""
    return bool(_STUCK.search(_CODE.sub("", line[:1000])))


def returned(line: str, start: int, end: int) -> bool:
    """True where the name of a status at `start` to `end` is what a program printed (`hipMalloc: Returned hipErrorX :`,
    `code=2(hipErrorX)`, `hipErrorX: text`, the name alone) or what somebody got, not what a sentence is about."""
    before, after = line[:start], line[end:]
    if first_person(line) or _ASKS.match(line) or not (_LETTER.search(before) or _LETTER.search(after)):
        return True
    gives = _GIVES.search(line, max(0, start - 40), start)
    return bool((gives or (not before.strip(" \t'\"#") and after)) and _GIVEN.match(after))


def warns(line: str) -> bool:
    """True for a line its program marks as a warning: the first level it names is one."""
    found = _WARNS.search(line[:160])
    return found is not None and not _ERROR_LEVEL.search(line, 0, found.start())


@dataclass
class Setting:
    """What the whole of a paste shows, gathered block by block: which programs, where it last failed and last went well
    (line numbers, 0: nowhere), whether it explains errors instead of telling of one, and whether somebody tells of it
    (its first block says): what follows an error there did not happen after it."""

    programs: set[str] = field(default_factory=set)
    failed: int = 0
    well: int = 0
    explains: bool = False
    told: bool = False

    def add(self, block: Block) -> None:
        lower = block.lower
        if block.first_line == 1:
            self.explains, self.told = explains(block.text), tells(block.text)
        self.programs.update(programs_in("\n".join(dict.fromkeys(lower.split("\n"))), self.programs))
        self.failed = _last(_ENDS, _END_WORDS, block.text, block, self.failed)
        self.well = _last(_WELL, _WELL_WORDS, lower, block, self.well)
        if not self.told:
            self.well = max(self.well, _last(_LISTS, _LISTS_WORDS, lower, block, 0))


@dataclass(frozen=True)
class Known:
    """Versions and targets that a paste names."""

    rocm: RocmVersion | None = None
    torch: str | None = None
    libraries: Mapping[str, str] = field(default_factory=dict)
    targets: tuple[GfxTarget, ...] = ()


def _last(pattern: re.Pattern[str], words: Iterable[str], text: str, block: Block, before: int) -> int:
    """Number of the last line of the block that the pattern matches, `before` where none does. Whatever it matches
    holds one of the words; only lines of `text` (the block's, perhaps in lower case) with one are looked at, from the
    end."""
    places = {word: text.rfind(word) for word in words}
    while (place := max(places.values())) >= 0:
        start = text.rfind("\n", 0, place) + 1
        end = text.find("\n", place)
        if pattern.search(block.text, start, len(text) if end < 0 else end):
            return block.first_line + text.count("\n", 0, place)
        places |= {word: text.rfind(word, 0, start) for word, found in places.items() if found >= start}
    return before


@functools.lru_cache(maxsize=1)
def _subjects() -> Mapping[str, tuple[frozenset[str], tuple[str, ...]]]:
    table = read_toml(FACTS / "subjects.toml")["subjects"]
    return {name: (frozenset(row["named"]), tuple(row["seen"])) for name, row in table.items()}


def programs_in(lower: str, known: Collection[str] = ()) -> list[str]:
    """The programs and systems that a text in lower case shows, but those known already."""
    return [
        name for name, (_, seen) in _subjects().items() if name not in known and any(text in lower for text in seen)
    ]


@functools.lru_cache(maxsize=1024)
def subjects_of(title: str) -> tuple[str, ...]:
    """The programs and systems that a title names."""
    words = set(re.findall(r"[A-Za-z0-9][\w.\-+']*", title))
    return tuple(name for name, (named, _) in _subjects().items() if named & words)


def weigh(matches: Sequence[Match], setting: Setting, vendor: Vendor, known: Known) -> tuple[Match, ...]:
    """The matches with their doubts, in the same order. A match without one is a claim."""
    weighed = [
        replace(match, doubts=(*_doubts(match, setting, vendor, known), *_consequence(match, matches)))
        for match in matches
    ]
    claims = [match for match in weighed if not match.doubts]
    error = next((match for match in claims if not _goes_on(match)), None)
    rivals = {match.failure.id: rival for match in claims for rival in claims if _disagree(match, rival)}
    rivals |= {match.failure.id: error for match in claims if error and _goes_on(match)}
    rivals |= {match.failure.id: better for match in claims for better in weighed if _better_read(match, better)}
    return tuple(
        replace(match, doubts=(f"line {rival.lines[0]} speaks for another cause: {rival.failure.id}",))
        if (rival := rivals.get(match.failure.id))
        else match
        for match in weighed
    )


def _doubts(match: Match, setting: Setting, vendor: Vendor, known: Known) -> Iterable[str]:
    failure, last = match.failure, match.lines[-1]
    if vendor.name == UNKNOWN and (failure.nvidia_too or vendor.cuda_build or not match.amd):
        yield "nothing says whose GPU this is, and machines without one of AMD print it too"
    if failure.specificity <= GENERAL:
        yield "many causes print these words"
    if failure.specificity < CLEAR and _POINTS.search(match.text):
        yield "it says where to look, not what is wrong"
    if match.wide:
        yield "programs without ROCm print these words, and nothing beside them is of AMD"
    if failure.certainty == "low":
        yield "known from one report"
    subjects = subjects_of(failure.title)
    if failure.specificity >= CLEAR and not SYSTEMS.intersection(subjects):
        subjects = ()  # a program that names the thing itself has shown itself
    if subjects and not setting.programs.intersection(subjects):
        yield f"nothing in the paste is of {' or '.join(subjects)}"
    if setting.explains:
        yield "the text explains errors, and nobody in it tells what happened to them"
    if match.named:
        yield "the log only names it or speaks of it, and does not say that it failed"
    if match.informs:
        yield "the log says it as information, not as an error"
    if setting.well > last and setting.failed <= last:
        yield f"the log goes on and ends well (line {setting.well})"
    elif (match.warns or failure.harmless) and setting.failed > last:
        yield f"a remark; the error that ended the run is on line {setting.failed}"
    elif match.warns and failure.specificity < CLEAR:
        yield "only a warning, and nothing failed"
    if not failure.where.covers(rocm=known.rocm, torch=known.torch, targets=known.targets, libraries=known.libraries):
        yield f"it holds for {failure.where}, and the paste shows other versions"


def _goes_on(match: Match) -> bool:
    """True for a warning, and for a failure after which programs go on."""
    return match.warns or match.failure.harmless


def _consequence(match: Match, matches: Sequence[Match]) -> Iterable[str]:
    """A doubt where another failure, which brings this one about, stands before it."""
    for other in matches:
        if other.failure.id in match.failure.follows and other.lines[0] < match.lines[0]:
            yield f"line {other.lines[0]} stands before it and brings it about: {other.failure.id}"
            return


def _disagree(match: Match, rival: Match) -> bool:
    """True where two claims far from each other explain a log equally well, and neither is a warning."""
    return (
        match.failure.area != rival.failure.area
        and not (match.warns or rival.warns)
        and abs(match.failure.specificity - rival.failure.specificity) < RIVAL
        and min(abs(a - b) for a in match.lines for b in rival.lines) > NEAR
    )


def _better_read(match: Match, doubted: Match) -> bool:
    """True where a vague claim rests on lines that a more specific match, itself in doubt, reads in another way."""
    return (
        bool(doubted.doubts)
        and match.failure.specificity < VAGUE <= doubted.failure.specificity
        and set(doubted.lines).issuperset(match.lines)
    )


_AMD_WORDS = re.compile(
    r"hip|roc|amd|gfx|hsa|miopen|kfd|aotriton|rccl|comgr|tensile|ck_tile|composable|radeon|xnack|migraphx|zluda|directml"
    r"|wavefront|aiter|group render",
    re.IGNORECASE,
)


@functools.lru_cache(maxsize=4096)
def names_amd(text: str) -> bool:
    """True where a signature's text names AMD's stack."""
    return bool(_AMD_WORDS.search(text))
