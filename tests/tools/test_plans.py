"""What the benchmark of plans rests on: readers of the forms, the stand-in for torchvision, the record of a run."""

from __future__ import annotations

import importlib.metadata
import shlex
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import measured
import plan_standin
import plan_syntax
import plans
import pytest
from packaging.requirements import Requirement

from rocport.compat.plan import Plan, Request, make_plan
from rocport.compat.wants import parse_wants
from rocport.facts.platforms import find_system
from rocport.facts.targets import load_target


def plan(system: str) -> Plan:
    return make_plan(Request(load_target("gfx1100"), "3.12", find_system(system), parse_wants("torch")))


@pytest.mark.parametrize(
    ("reader", "good", "bad", "said"),
    [
        (plan_syntax.bash, "set -e\npip install torch\n", "if true; then\n", "unexpected end"),
        (plan_syntax.conda, "name: a\ndependencies: [python=3.12]\n", "name: a\n", "no environment file"),
        (plan_syntax.conda, "name: a\ndependencies: []\n", "name: a\ndependencies: []\nk: 1\n", "no environment file"),
        (plan_syntax.conda, "name: a\ndependencies: []\n", "name: a\ndependencies: [{pip: []}]\n", "no text"),
        (
            plan_syntax.conda,
            "name: a\ndependencies: []\nvariables: {A: '1'}\n",
            "name: a\ndependencies: []\nvariables: {A: 1}\n",
            "a variable is no text",
        ),
        (
            plan_syntax.conda,
            "#   echo 'a'\nname: a\ndependencies: []\n",
            "#   echo 'a\nname: a\ndependencies: []\n",
            "unexpected EOF",
        ),
    ],
)  # fmt: skip
def test_a_reader_says_what_is_wrong_with_a_form(reader, good: str, bad: str, said: str) -> None:
    assert reader(good) == ""
    assert said in reader(bad)


@pytest.mark.parametrize(("system", "forms"), list(plan_syntax.FORMS.items()))
def test_every_form_of_a_plan_is_read_or_counts_as_not_read(system: str, forms: tuple[str, ...], monkeypatch) -> None:
    for name in ("dockerfile", "tree_sitter_powershell"):
        monkeypatch.setitem(sys.modules, name, None)  # as where they are not installed
    said = plan_syntax.read_forms(plan(system), system)
    assert set(said) == set(forms)
    assert {form for form, words in said.items() if words is None} == {"docker", "windows"} & set(forms)
    assert not any(said.values())


def elf(*libraries: str) -> bytes:
    """A 64-bit ELF file with a dynamic section that asks for these libraries."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in libraries)
    wanted, at = b"", 1
    for name in libraries:
        wanted += struct.pack("<qQ", 1, at)
        at += len(name) + 1
    wanted += struct.pack("<qQ", 0, 0)
    sections = 64 + len(strings) + len(wanted)
    header = b"\x7fELF\x02\x01".ljust(40, b"\0") + struct.pack("<Q", sections).ljust(18, b"\0")
    header += struct.pack("<HH", 64, 2)
    rows = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64, len(strings), 0, 0, 0, 0)
    rows += struct.pack("<IIQQQQIIQQ", 0, 6, 0, 0, 64 + len(strings), len(wanted), 0, 0, 0, 0)
    return header.ljust(64, b"\0") + strings + wanted + rows


def test_what_torchvision_needs_and_the_stand_in_lacks(tmp_path: Path) -> None:
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "lib" / "libc10.so").write_bytes(b"")
    library = tmp_path / "torchvision" / "_C.so"
    library.write_bytes(elf("libc10.so", "libtorch_cuda.so", "libcudart.so.13", "libc.so.6"))
    assert plan_standin.needed(library) == ("libc10.so", "libtorch_cuda.so", "libcudart.so.13", "libc.so.6")
    assert plan_standin.needed(tmp_path / "torch" / "lib" / "libc10.so") == ()
    assert plan_standin.lacking([tmp_path]) == ("libcudart.so.13", "libtorch_cuda.so")


def test_the_operators_that_torchvision_names_are_declared_by_name(tmp_path: Path) -> None:
    """Whatever the wheel's meta registrations name is declared, with a torch that only writes the names down."""
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").touch()
    named = (
        '@register_fake("torchvision::nms")\n@register_fake("torchvision::qnms")\n@register_fake("torchvision::new")\n'
    )
    (tmp_path / "torchvision" / "_meta_registrations.py").write_text(named)
    (tmp_path / "torch.py").write_text(
        "class library:\n    class Library:\n        def __init__(self, *words): pass\n"
        "        def define(self, schema): print(schema.partition('(')[0])\n"
    )
    command = [sys.executable, "-c", plan_standin.SCHEMAS]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["new", "nms", "qnms"]


def test_a_recorded_run_is_a_row_with_its_day(tmp_path: Path) -> None:
    recorded = tmp_path / "measured.json"
    measured.record("b", "what", "2 of 3", "benchmarks/b.py", recorded)
    measured.record("a", "first", "1", "benchmarks/a.py", recorded)
    measured.record("b", "what", "3 of 3", "benchmarks/b.py", recorded)
    first, second = measured.table(recorded)
    assert first.startswith("| first | 1 | `benchmarks/a.py`, 20")
    assert second.startswith("| what | 3 of 3 |")


@pytest.mark.parametrize("page", ["docs/measured.md", "README.md"])
def test_the_tables_of_figures_have_every_recorded_row(page: str) -> None:
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    assert "`python benchmarks/measured.py`" in text
    assert [row for row in measured.table() if row not in text] == []


def from_torchs_index(made: Plan) -> list[Requirement]:
    """What a plan takes from torch's index."""
    line = next(line for line in made.commands if "--index-url" in line or "--find-links" in line)
    return [Requirement(word) for word in shlex.split(line)[4:]]


def test_every_plan_resolves_against_the_recorded_listings() -> None:
    """Offline: a version of each package that a plan takes from torch's index is on record there, for its Python, its
    system and its target; of one that is not, the plan says so."""
    counts = Counter[str]()
    for system, made in plans.every_plan("3.12", plans.WANTS):
        if made.chosen is None:
            assert made.commands == ()
            continue
        chosen, kind, target = made.chosen, find_system(system).kind, made.request.target.name
        for record in made.records:
            assert (record.index, record.rocm) == (chosen.index, chosen.rocm)
            assert "3.12" in (record.python or ("3.12",)) and kind in (record.systems or (kind,))
            assert target in (record.targets or (target,))
        for asked in from_torchs_index(made):
            if asked.name in made.unrecorded or not asked.specifier:
                counts["said not to be recorded" if asked.name in made.unrecorded else "any version"] += 1
                continue
            held = [version for record in made.records if (version := record.version_of(asked.name)) is not None]
            assert any(not version or asked.specifier.contains(version, prereleases=True) for version in held), asked
            counts["recorded"] += 1
    assert counts["recorded"] > 300


def link_torch(packages: Path) -> None:
    """The torch of this environment and what it needs, and nothing else, in a folder of packages."""
    packages.mkdir(parents=True)
    names, seen = ["torch"], set[str]()
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        names += [Requirement(need).name for need in found.requires or () if "extra ==" not in need]
        for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(found.locate_file(top)))


def test_a_small_plan_is_installed_from_an_empty_environment_and_imported(tmp_path: Path, monkeypatch) -> None:
    """What the scheduled workflow does with every plan, here with one; the torch of this environment stands in."""
    torch = importlib.metadata.version("torch").partition("+")[0]
    wanted = parse_wants(f"torch=={torch},einops")
    made = make_plan(Request(load_target("gfx942"), plans.HERE, find_system("ubuntu24.04"), wanted))
    if made.chosen is None:
        pytest.skip(f"no torch {torch} for Python {plans.HERE} in the facts")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "20")
    link_torch(tmp_path / "torch" / f"lib/python{plans.HERE}/site-packages")
    state, said, stood_in = plans.installed(made, torch, tmp_path)
    if "No matching distribution found for einops" in said:
        pytest.skip(f"pip reaches no index: {said}")
    assert (state, said) == ("imported", "") and stood_in.startswith(torch)


@pytest.mark.parametrize(
    ("counts", "most", "bad"),
    [
        ({"resolved": 3}, plans.EVERY, False),
        ({"resolved": 3, "failed": 1}, 2, True),
        ({"resolved": 3, "not asked": 1}, 2, False),
        ({"resolved": 3, "not asked": 1}, plans.EVERY, True),
    ],
)
def test_a_whole_run_fails_where_a_plan_was_not_asked(counts: dict[str, int], most: int, bad: bool) -> None:
    assert plans.ended_badly("resolve", Counter(counts), most) is bad


def test_the_scheduled_workflow_runs_both_wholly() -> None:
    yaml = pytest.importorskip("yaml")
    text = (Path(__file__).parents[2] / ".github/workflows/plans.yml").read_text(encoding="utf-8")
    read = yaml.load(text, yaml.BaseLoader)
    assert read["on"]["schedule"][0]["cron"].count(" ") == 4
    steps = [shlex.split(step.get("run", "")) for step in read["jobs"]["plans"]["steps"]]
    asked = [words[1:] for words in steps if words[:1] == [".venv/bin/python"]]
    assert [words[:2] for words in asked] == [["benchmarks/plans.py", f"--{way}"] for way in ("resolve", "clean")]
    assert all(len(words) == 4 and words[2] == "--results" for words in asked)  # no N: every class
