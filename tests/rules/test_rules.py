"""Every registered rule is run over its own examples and near misses."""

from __future__ import annotations

from pathlib import Path

import beside
import pytest
import snapshot
from beside import context_of as _context

from rocport.model import PHASES, Applicability, Context, Example, Finding
from rocport.port import compat
from rocport.port.engine import Ported, port_file, port_other
from rocport.port.places import Places
from rocport.project.languages import language_of
from rocport.rules import LoadedRule, discover
from rocport.scan.engine import scan_file
from rocport.syntax.cuda import CudaSource


def _scan(path: str, data: bytes, context: Context) -> list[Finding]:
    findings = scan_file(path, data, language_of(path), context)
    assert isinstance(findings, list), findings
    return findings


def _port(path: str, data: bytes, findings: list[Finding]) -> Ported:
    if language_of(path) == "cuda":
        return port_file(path, data, findings)
    return port_other(path, data, language_of(path), findings, Places.of({path: data}))


def _cases(kind: str) -> list[object]:
    cases = []
    for loaded in discover():
        for number, example in enumerate(getattr(loaded.rule, kind)):
            cases.append(pytest.param(loaded, example, id=f"{loaded.rule.name}-{number}"))
    return cases


@pytest.mark.parametrize(("loaded", "example"), _cases("examples"))
def test_rule_fires_on_its_example(loaded: LoadedRule, example: Example) -> None:
    data = example.before.encode()
    context = _context(example.path, data, dict(example.options))
    findings = _scan(example.path, data, context)
    mine = [finding for finding in findings if finding.rule == loaded.rule.name]
    assert mine, f"{loaded.rule.name} does not fire"
    if not loaded.module.startswith("rocport.rules.cuda"):
        assert all(finding.holds for finding in mine), "says for which versions and targets it holds"
    assert {finding.phase for finding in mine} == {loaded.rule.phase}
    weakest = list(Applicability).index(loaded.rule.applicability)
    assert all(list(Applicability).index(finding.applicability) <= weakest for finding in mine)
    ported = _port(example.path, data, findings)
    text = (ported.data if ported.data is not None else data).decode()
    for wanted in example.contains:
        assert wanted in text, text
    for unwanted in example.absent:
        assert unwanted not in text, text
    if language_of(example.path) != "cuda":
        refused = [finding.message for finding in ported.findings if "(not edited:" in finding.message]
        assert not refused, refused
        assert all(finding.edits or finding.fix for finding in mine), "without an edit, the next step is named"
        assert not ported.compat or compat.render(ported.compat), "every name is one the generated module has"
        again = _port(example.path, text.encode(), _scan(example.path, text.encode(), context))
        assert again.data is None, "a gated place is silent: a second port changes nothing"
    number = loaded.rule.examples.index(example)
    told = snapshot.told(mine, data, text.encode())
    if snapshot.WRITE:
        snapshot.write(loaded.rule.name, number, example.path, told, len(loaded.rule.examples))
    else:
        assert told == snapshot.kept(loaded.rule.name, number), snapshot.__doc__


CASES = Path(__file__).parent / "cases"
PATHS = {
    ".cmake": ("CMakeLists.txt",), ".mk": ("Makefile",), ".py": ("setup.py", "m.py"),
    ".sh": ("build.sh",), ".yml": (".github/workflows/ci.yml",),
}  # fmt: skip
PROGRAMS = [
    pytest.param(place, warp, id=f"{place.name}-{warp}")
    for place in sorted(CASES.iterdir())
    for warp in ("logical32", "native")
    if place.suffix != ".txt" and (warp == "logical32" or (CASES / f"{place.name}.native.txt").exists())
]


@pytest.mark.parametrize(("place", "warp"), PROGRAMS)
def test_rule_finds_in_its_program_what_is_kept_beside_it(place: Path, warp: str) -> None:
    """Programs of many corners, named for a rule; what `--warp native` finds is kept in a `.native.txt`."""
    data = place.read_bytes()
    told = ""
    for path in PATHS.get(place.suffix, (place.name,)):
        findings = _scan(path, data, _context(path, data, {"warp": warp}))
        told += f"== {path}\n" if place.suffix == ".py" else ""
        told += snapshot.told([item for item in findings if item.rule == place.stem], data, data)
    kept = place.with_name(place.name + (".native.txt" if warp == "native" else ".txt"))
    if snapshot.WRITE:
        kept.write_text(told, encoding="utf-8")
    assert told == kept.read_text(encoding="utf-8"), snapshot.__doc__


@pytest.mark.parametrize(("loaded", "example"), _cases("clean"))
def test_rule_is_silent_on_its_near_miss(loaded: LoadedRule, example: Example | str) -> None:
    case = example if isinstance(example, Example) else Example(example)
    data = case.before.encode()
    findings = _scan(case.path, data, _context(case.path, data, dict(case.options)))
    assert [finding for finding in findings if finding.rule == loaded.rule.name] == []


@pytest.mark.parametrize("loaded", [pytest.param(item, id=item.rule.name) for item in discover()])
def test_rule_is_documented_and_sourced(loaded: LoadedRule) -> None:
    assert len(loaded.doc) > 80, "the docstring says what breaks, why, and when the fix is right"
    assert loaded.rule.examples, "an example is the rule's test and its page"
    assert loaded.rule.clean, "a near miss stands beside the hit"
    assert loaded.rule.sources
    assert loaded.rule.name.replace("-", "").isalnum() and loaded.rule.name == loaded.rule.name.lower()


def test_rules_outside_cpp_are_on_their_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    named = {loaded.rule.name for loaded in discover() if not loaded.module.startswith("rocport.rules.cuda")}
    assert [name for name in sorted(named) if f"| {name} |" not in page] == []


@pytest.mark.parametrize("loaded", discover(), ids=lambda loaded: loaded.rule.name)
def test_a_rule_names_its_phase(loaded: LoadedRule) -> None:
    assert loaded.rule.phase in range(len(PHASES))
    if "cuda" in loaded.rule.languages and loaded.rule.name.startswith("warp-"):
        assert PHASES[loaded.rule.phase] == "warp width and targets"


def test_a_switch_without_a_case_is_no_error() -> None:
    data = b"__global__ void k() { switch (threadIdx.x) { __syncthreads(); } }\n"
    assert {finding.rule for finding in _scan("k.cu", data, _context("k.cu", data, {}))} <= {"implicit-runtime"}


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("pasted-name", b"#define NAME(x) nvml##\nint a = NAME(Init);\n"),
        ("cub-warp-layout", b"using L = cub::BlockLoad<int, N, 4, ::BLOCK_LOAD_WARP_TRANSPOSE>;\n"),
    ],
)
def test_text_that_no_compiler_takes_ends_no_rule(rule: str, text: bytes) -> None:
    """One searched for ever, one raised IndexError."""
    (loaded,) = (one for one in discover() if one.rule.name == rule)
    assert len(beside.found(loaded, Example("", path="a.cu"), text) or ()) <= 1


def test_a_name_in_a_comment_or_a_string_alone_ends_no_rule() -> None:
    """It raised KeyError in every rule of facts/intrinsics.toml, and nothing of the rule's was translated there."""
    for loaded in discover():
        if "cuda" in loaded.rule.languages:
            names = b" ".join(sorted(loaded.rule.triggers | loaded.rule.claims))
            text = b'// %b\n__global__ void k(float *f) { *f = 1; }\nconst char *s = "%b";\n' % (names, names)
            list(loaded.check(CudaSource("a.cu", text), Context()))


@pytest.mark.parametrize("loaded", [pytest.param(item, id=item.rule.name) for item in discover()])
def test_what_a_rules_answer_rests_on(loaded: LoadedRule) -> None:
    now, place = beside.rests_on(loaded), beside.KEPT / f"{loaded.rule.name}.txt"
    if snapshot.WRITE:
        place.write_text(now, encoding="utf-8")
    assert now == place.read_text(encoding="utf-8"), beside.__doc__
