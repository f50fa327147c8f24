"""What level build makes of what a compiler did, and of the port it compiles, without a compiler."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocport.facts.targets import load_target
from rocport.model import FileRecord
from rocport.model.manifest import NAME, Manifest
from rocport.model.verification import HOST, KernelUse, Status, UnitResult
from rocport.port import manifest
from rocport.project.unit import Unit
from rocport.verify import build, diagnostics
from rocport.verify.build import _Builder, _Outcome

LIMIT = load_target("gfx942").lds_bytes


def use(**more: Any) -> KernelUse:
    plain = KernelUse("k", 9, 0, 0, 0, 0, 0, 0, 64, 256)
    return replace(plain, **more)


@pytest.mark.parametrize(
    ("kernels", "codes"),
    [
        ([use(lds_bytes=LIMIT)], []),
        ([use(lds_bytes=LIMIT + 1)], ["lds-over-limit"]),
        ([use(vgpr_spills=1, scratch_bytes=16)], ["register-spill"]),
        ([use(sgpr_spills=1, scratch_bytes=16)], []),
        ([use(lds_bytes=LIMIT + 1, vgpr_spills=2), use(), use(vgpr_spills=1)],
         ["lds-over-limit", "register-spill", "register-spill"]),
        ([], []),
    ],
)  # fmt: skip
def test_what_kernels_cannot_or_should_not_use(kernels: list[KernelUse], codes: list[str]) -> None:
    found = list(build._findings(kernels, "gfx942"))
    assert [one.code for one in found] == codes and all(one.kernel == "k" for one in found)
    for one in found:
        assert f"gives a workgroup {LIMIT}" in one.message if one.code == "lds-over-limit" else "spills" in one.message


def test_only_hip_sources_have_a_device_pass() -> None:
    targets = ("gfx942", "gfx1100")
    assert build._device_targets(Unit("a.hip", "hip"), targets) == targets
    assert (
        build._device_targets(Unit("a.cpp", "c++"), targets) == () == build._device_targets(Unit("a.c", "c"), targets)
    )


def test_a_target_that_cannot_be_compiled_for_is_named_with_those_that_can() -> None:
    toolchain = SimpleNamespace(targets=lambda: {"gfx942": "", "gfx1": "too old", "gfx1100": ""}, summary=lambda: "X")
    build._check_targets(toolchain, ["gfx942", "gfx1100"])
    for name, why in (("gfx1", "too old"), ("gfx0", "no such gfx target is known")):
        with pytest.raises(build.VerifyError, match=rf"cannot compile for {name}: {why}\. X can do: gfx942 gfx1100$"):
            build._check_targets(toolchain, ["gfx942", name])


def test_the_manifest_of_a_port_or_of_a_folder_of_it(tmp_path: Path) -> None:
    assert build._manifest(tmp_path) == Manifest("")
    (tmp_path / "hip").mkdir()
    manifest.save(tmp_path / "hip", Manifest("2"))
    assert build._manifest(tmp_path).version == "2"
    manifest.save(tmp_path, Manifest("1"))
    assert build._manifest(tmp_path).version == "1"
    (tmp_path / NAME).write_text("{")
    assert build._manifest(tmp_path).version == "2", "one that cannot be read is passed over"


def test_where_a_ports_sources_are(tmp_path: Path) -> None:
    records = {"a.hip": FileRecord("a.cu", "a.hip", "translated"), "new.h": FileRecord("", "new.h", "generated")}
    port, source = tmp_path / "port", tmp_path / "src"
    port.mkdir()
    source.mkdir()

    def root(known: Manifest, given: Path | None = None) -> Path | None:
        found = build._origins(port, known, given)
        assert found.sources == {name: record.source for name, record in known.files.items()} and found.tree == port
        return found.root

    known = Manifest("1", {}, records, "../src")
    assert root(known) is None, "it holds none of the files that the port read"
    (source / "a.cu").write_text("x")
    assert root(known) == source and root(known, tmp_path) == tmp_path
    assert root(Manifest("1", {}, records, "")) is None
    assert root(Manifest("1", {}, {"new.h": records["new.h"]}, "../src")) is None


@pytest.mark.parametrize(
    ("entry", "known"),
    [
        ({"code": 1, "text": "t", "kernels": [], "empty": []}, _Outcome(1, "t", ())),
        ({"code": 0, "text": "", "kernels": [use().__dict__], "empty": ["e"]}, _Outcome(0, "", (use(),), ("e",))),
        (None, None),
        ({}, None),
        ({"code": 0, "text": "", "kernels": [{"name": "k"}], "empty": []}, None),
        ({"code": 0, "text": "", "kernels": [], "empty": None}, None),
    ],
)
def test_an_outcome_is_read_again_or_made_anew(entry: dict[str, Any] | None, known: _Outcome | None) -> None:
    assert _Outcome.from_cache(json.loads(json.dumps(entry))) == known


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        (["cc", "-I", "a", "-Ib", "-isystem", "c", "-iquote", "d", "-idiraftere", "x.cu"], ["a", "b", "c", "d", "e"]),
        (["cc", "-include", "a", "-DI", "x.cu"], []),
    ],
)
def test_folders_of_a_command_line(command: list[str], folders: list[str]) -> None:
    assert [one for one in _Builder._folders(command) if one] == folders


class Fixed(_Builder):
    """A builder whose compiler did what it is told."""

    def __init__(self, outcome: _Outcome, root: Path, **options: Any) -> None:
        self.outcome, self.origins = outcome, diagnostics.Origins()
        self.options = build.BuildOptions(("gfx942",), **options)
        self.project = SimpleNamespace(root=root)  # type: ignore[assignment]
        self.cache = build.Cache(None, build.Fingerprints(root))
        self.torch, self.torch_reason, self._identity = None, "no torch", []

    def command(self, unit: Unit, target: str) -> list[str]:
        return ["cc", unit.path]

    def _compiled(self, unit: Unit, command: list[str], target: str) -> tuple[_Outcome, list[str]]:
        return self.outcome, []


def judged(outcome: _Outcome, target: str = "gfx942", unit: Unit | None = None, **options: Any) -> UnitResult:
    return Fixed(outcome, Path("/t"), **options)(unit or Unit("a.hip", "hip"), target)


@pytest.mark.parametrize(
    ("outcome", "status", "reason"),
    [
        (_Outcome(0, "", ()), Status.OK, ""),
        (_Outcome(None, "", ()), Status.FAIL, "did not compile within 5 s"),
        (_Outcome(1, "", ()), Status.FAIL, "the compiler failed: no message"),
        (_Outcome(1, "one\n\nlast words\n \n", ()), Status.FAIL, "the compiler failed: last words"),
        (_Outcome(1, "a.hip:1:2: error: e\n", ()), Status.FAIL, ""),
        (_Outcome(1, "a.hip:1:2: fatal error: 'mpi.h' file not found\n", ()), Status.SKIP,
         "<mpi.h> is not on this machine and not in the tree; pass -I with its folder"),
        (_Outcome(1, "a.hip:1:2: fatal error: 'cub/cub.cuh' file not found\n", ()), Status.FAIL, ""),
        (_Outcome(0, "", (use(vgpr_spills=1),)), Status.OK, ""),
        (_Outcome(0, "", (use(lds_bytes=LIMIT + 1),)), Status.FAIL, ""),
        (_Outcome(0, "", (use(),), ("k",)), Status.FAIL, ""),
        (_Outcome(0, "a.hip:3:1: warning: w [-Wreturn-type]\n", ()), Status.OK, ""),
    ],
)  # fmt: skip
def test_the_verdict_on_a_unit(outcome: _Outcome, status: Status, reason: str) -> None:
    result = judged(outcome, timeout_s=5.0)
    assert (result.status, result.reason, result.path, result.target) == (status, reason, "a.hip", "gfx942")
    assert bool(result.errors) == ("error:" in outcome.text) and not result.cached
    host = judged(outcome, HOST, timeout_s=5.0)
    assert host.findings == () and (host.status is Status.OK) == (outcome.code == 0)


def test_findings_name_what_is_wrong() -> None:
    outcome = _Outcome(0, "a.hip:3:1: warning: w [-Wreturn-type]\n", (use(),), ("k",))
    assert [(one.code, one.kernel) for one in judged(outcome).findings] == [
        ("kernel-without-code", "k"), ("undefined-behaviour", "")
    ]  # fmt: skip
    assert judged(outcome).findings[1].message.startswith("a.hip:3: w [-Wreturn-type]: nvcc lets it pass")


def test_a_unit_of_torch_is_not_tried_without_its_headers() -> None:
    assert judged(_Outcome(0, "", ()), unit=Unit("a.hip", "hip", headers=("torch/extension.h",))) == UnitResult(
        "a.hip", "gfx942", Status.SKIP, "no torch"
    )


@pytest.mark.parametrize(
    ("text", "defines", "status", "asks"),
    [
        ("a.hip:1:2: error: N is odd\n", (), Status.SKIP, True),
        ("a.hip:1:2: error: N is odd\n", ("N=3",), Status.FAIL, False),
        ("a.hip:1:2: error: N is odd\n", ("NN",), Status.SKIP, True),
        ("a.hip:1:2: error: other\n", (), Status.FAIL, True),
        ("a.hip:1:2: fatal error: 'mpi.h' file not found\n", (), Status.SKIP, False),
    ],
)
def test_a_macro_that_the_build_computes(text: str, defines: tuple[str, ...], status: Status, asks: bool) -> None:
    unit = Unit("a.hip", "hip", computed=("N (setup.py:3)",))
    result = judged(_Outcome(1, text, ()), unit=unit, defines=defines)
    assert result.status is status
    assert (result.reason == "its build computes N (setup.py:3): give the values with -D; tried with 64") is asks


def test_headers_of_torch_are_looked_for_only_where_a_unit_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_torch", lambda: None)
    assert build._torch([Unit("a.hip", "hip")]) == (None, "") == build._torch([])
    assert build._torch([Unit("a.hip", "hip", headers=("torch/extension.h",))]) == (
        None,
        "torch is not installed, its headers are needed",
    )
    monkeypatch.setattr(build, "find_torch", lambda: Path("/torch"))
    monkeypatch.setattr(build, "python_include", lambda: None)
    assert "Python.h is not installed" in build._torch([Unit("a.hip", "hip", headers=("torch/extension.h",))])[1]
