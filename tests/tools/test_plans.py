"""What the benchmark of plans rests on: readers of the forms, the stand-in for torchvision, the record of a run."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import measured
import plan_standin
import plan_syntax
import pytest

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
