"""A gfx target is one file: no code outside the facts names one, and what a copied file says is followed."""

from __future__ import annotations

import ast
import functools
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import rocport
from rocport.facts import targets
from rocport.facts.targets import all_targets, default_targets, listed, load_target, target_of_elf, wave_target
from rocport.model import Context
from rocport.model.context import Options
from rocport.rules import discover
from rocport.syntax.cuda import CudaSource

SOURCE = Path(rocport.__file__).parent
CHECK = next(loaded.check for loaded in discover() if loaded.rule.name == "texture-fetch")
NAME = re.compile(r"gfx\(?\d")


def named(path: Path) -> Iterator[tuple[int, str]]:
    """Lines where a string that code reads names a target. Excused: a docstring (a string that is a statement), and
    an `Example(...)` of a rule."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    excused = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            excused.add(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Example":
            excused |= set(ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in excused and isinstance(node.value, (str, bytes)):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            if NAME.search(text):
                yield node.lineno, text


def test_no_code_outside_the_facts_names_a_gfx_target():
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {text[:60]!r}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] != "facts"
        for line, text in named(path)
    ]
    assert not found, (
        "ask the facts (class, textures, wavefront, support of a library) instead of a name:\n" + "\n".join(found)
    )


def test_the_check_sees_a_name(tmp_path):
    (tmp_path / "a.py").write_text('"""gfx942 in words"""\nX = Example("gfx942")\nY = {"gfx942", b"gfx90a"}\n')
    assert [line for line, _ in named(tmp_path / "a.py")] == [3, 3]


@pytest.fixture
def gfx960(tmp_path, monkeypatch):
    """The folder of targets with a copy of gfx950 called gfx960."""
    folder = tmp_path / "targets"
    shutil.copytree(targets._FOLDER, folder)
    text = (folder / "gfx950.toml").read_text().replace("gfx950", "gfx960").replace("0x4f", "0xfe")
    (folder / "gfx960.toml").write_text(text)
    monkeypatch.setattr(targets, "_FOLDER", folder)
    for name in ("_load", "_chips", "_early", "_elf_machines"):
        monkeypatch.setattr(targets, name, functools.cache(getattr(targets, name).__wrapped__))
    return load_target("gfx960")


def test_a_copied_target_is_followed_everywhere(gfx960):
    context = Context(Options(targets=("gfx960",)))
    (found,) = CHECK(CudaSource("a.cu", b"__global__ void k(float *o) { *o = tex2D(t, 0, 0); }"), context)
    assert "gfx942, gfx950 and gfx960" in found.message
    assert gfx960.product_class == "instinct" and gfx960.switches_of("AOTriton") == ()
    assert target_of_elf(0xFE) == "gfx960" and target_of_elf(0x51) == "gfx9-generic"
    assert "gfx960" in listed(lambda target: any(s.state == "yes" for s in target.library("aiter")))
    assert gfx960.capability == (9, 6)


def test_targets_without_textures_are_left_alone_where_the_target_asked_for_has_them():
    context = Context(Options(targets=("gfx1100", "gfx90a")))
    source = CudaSource("a.cu", b"__global__ void k(float *o) { *o = tex2D(t, 0, 0); }")
    assert not list(CHECK(source, context))


def test_the_switch_of_attention_is_one_fact():
    asks = {
        torch: {target.name for target in all_targets() if target.switches_of("AOTriton", torch)}
        for torch in ("2.10.0", "2.11.0")
    }
    assert asks["2.10.0"] - asks["2.11.0"] == {"gfx1100"}
    assert asks["2.11.0"] == {
        *("gfx1101", "gfx1102", "gfx1103"),
        *("gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200"),
    }
    for target in all_targets():
        assert target.product_class in ("instinct", "radeon")
        assert not target.switches or any(s.state == "yes" for s in target.library("AOTriton")), target.name


def test_what_is_picked_where_nobody_names_a_target():
    assert all(load_target(name).released for name in default_targets())
    assert (wave_target(64).wavefront, wave_target(32).wavefront) == (64, 32)
    assert len({target.elf_machine for target in all_targets() if target.elf_machine}) == sum(
        target.elf_machine is not None for target in all_targets()
    )
