"""The SDK holds what its pinned packages hold, and an installation that is killed is mended by the next."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rocport.toolchain import sdk

FILES = {"include/hip/hip_runtime.h": "header\n", "lib/a": "a\n"}


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[dict[str, str]], None]:
    """An archive of one package: what it unpacks to is given; nothing is fetched, and no compiler is run."""
    content: dict[str, str] = {}

    def unpack(files: object, root: Path, scratch: Path) -> None:
        for name, text in content.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)

    content.update(FILES)
    unpack(None, tmp_path / "pinned", tmp_path)
    pins = replace(sdk.load_pins(), unpacked=sdk.unpacked_sha256(tmp_path / "pinned"))
    monkeypatch.setattr(sdk, "load_pins", lambda: pins)
    monkeypatch.setattr(sdk, "_unpack", unpack)

    def fetch(
        apt: object, pins: object, debs: object, unpinned: object, installed: list[sdk.Installed], log: object
    ) -> list[object]:
        installed.append(sdk.Installed("x", "1", "0", True))
        return []

    monkeypatch.setattr(sdk, "_fetch", fetch)
    for name, value in (
        ("_shape", None),
        ("_missing_libraries", set()),
        ("self_test", None),
        ("_add_isa_constants", []),
    ):
        monkeypatch.setattr(sdk, name, lambda *given, value=value: value)

    def change(files: dict[str, str]) -> None:
        content.clear()
        content.update(files)

    return change


def test_what_the_pins_say_is_installed(packages: object, tmp_path: Path) -> None:
    target, done = sdk.install(path=tmp_path / "sdk", mirror="none:")
    assert done and sdk.is_as_unpacked(target)
    assert sdk.install(path=tmp_path / "sdk", mirror="none:") == (target, False)


@pytest.mark.parametrize("files", [FILES | {"lib/a": "b\n"}, FILES | {"lib/more": ""}, {"lib/a": "a\n"}])
def test_files_that_hash_to_another_sum_are_not_installed(
    files: dict[str, str], packages: Callable[[dict[str, str]], None], tmp_path: Path
) -> None:
    packages(files)
    with pytest.raises(sdk.SdkError, match="nothing was installed"):
        sdk.install(path=tmp_path / "sdk", mirror="none:")
    assert not (tmp_path / "sdk").exists()


def test_an_sdk_that_was_changed_is_noticed(packages: object, tmp_path: Path) -> None:
    target, _ = sdk.install(path=tmp_path / "sdk", mirror="none:")
    (target / "lib" / "a").write_text("changed\n")
    assert not sdk.is_as_unpacked(target)


def test_an_installation_that_was_killed_is_mended(packages: object, tmp_path: Path) -> None:
    target, _ = sdk.install(path=tmp_path / "sdk", mirror="none:")
    killed = tmp_path / ".sdk.abc"
    killed.mkdir()
    target.rename(killed / "old")
    assert sdk.install(path=tmp_path / "sdk", mirror="none:") == (target, False)
    assert json.loads((target / sdk.MANIFEST).read_text())["packages"] and not killed.exists()
