"""The SDK: pins, which version is taken, what goes wrong and how it is said."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.toolchain import sdk

PIN = sdk.Pin("libamdhip64-dev", "sid", "6.4.3-5", "ab" * 32, 1, "headers")


def test_every_package_is_pinned_by_version_and_hash() -> None:
    pins = sdk.load_pins()
    assert len({pin.name for pin in pins.packages}) == len(pins.packages)
    for pin in pins.packages:
        assert len(pin.sha256) == 64 and int(pin.sha256, 16)
        assert pin.version and pin.size > 0
        assert pin.role in ("compiler", "headers", "device-libs", "library")


def test_pin_file_names_no_host() -> None:
    text = Path(sdk.__file__).with_name("sdk-pins.toml").read_text()
    assert "://" not in text and ".org" not in text


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1:19.1.7-3~deb12u1", "19.1.7"),
        ("7.1.1+dfsg-4", "7.1.1+dfsg"),
        ("6.4.3-1+b1", "6.4.3"),
        ("6.0+git20231212.5a852ed-2", "6.0+git20231212.5a852ed"),
        ("3.0", "3.0"),
    ],
)
def test_upstream_part_of_a_version(version: str, expected: str) -> None:
    assert sdk.upstream(version) == expected


def test_pinned_version_is_taken_silently() -> None:
    said: list[str] = []
    assert sdk.choose_version(PIN, "6.4.3-5", False, said.append) == "6.4.3-5"
    assert said == []


def test_rebuild_of_the_same_upstream_version_is_taken_and_said() -> None:
    said: list[str] = []
    assert sdk.choose_version(PIN, "6.4.3-6", False, said.append) == "6.4.3-6"
    assert "6.4.3-6" in said[0]


def test_another_upstream_version_needs_consent() -> None:
    with pytest.raises(sdk.SdkError, match=r"now has 7\.0\.2-1.*--allow-unpinned"):
        sdk.choose_version(PIN, "7.0.2-1", False, lambda _: None)
    said: list[str] = []
    assert sdk.choose_version(PIN, "7.0.2-1", True, said.append) == "7.0.2-1"
    assert said[0].startswith("warning: ")


def test_package_that_left_the_suite() -> None:
    with pytest.raises(sdk.SdkError, match="not in the archive's suite sid"):
        sdk.choose_version(PIN, None, True, lambda _: None)


@pytest.mark.parametrize(("target", "number"), [("gfx942", 9402), ("gfx90a", 9010), ("gfx1201", 12001)])
def test_isa_version_of_a_target(target: str, number: int) -> None:
    assert sdk.isa_version(target) == number


def test_folder_from_environment(tmp_path: Path) -> None:
    name = sdk.load_pins().version
    assert sdk.sdk_path({"XDG_DATA_HOME": "/data"}) == Path("/data/rocport/sdk") / name
    assert sdk.sdk_path({"ROCPORT_SDK": "/my/sdk", "XDG_DATA_HOME": "/data"}) == Path("/my/sdk")


def _installed(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / sdk.MANIFEST).write_text(json.dumps({"version": "x", "packages": []}))
    return folder


def test_installed_sdk_is_left_alone(tmp_path: Path) -> None:
    folder = _installed(tmp_path / "sdk")
    assert sdk.install(path=folder) == (folder, False)


def test_half_written_manifest_is_no_sdk(tmp_path: Path) -> None:
    (tmp_path / sdk.MANIFEST).write_text('{"version": ')
    assert sdk.read_manifest(tmp_path) is None


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt")
def test_foreign_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(sdk.SdkError, match="is not a rocport SDK"):
        sdk.install(path=tmp_path, mirror="file:///nowhere")
    assert (tmp_path / "thesis.txt").read_text() == "precious"


def test_without_apt_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sdk.SdkError, match=r"apt-get not found.*ROCPORT_SDK"):
        sdk.install(path=tmp_path / "sdk")


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt")
def test_unreachable_archive_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(sdk.SdkError, match="needs the network once"):
        sdk.install(path=tmp_path / "sdk", mirror=f"file://{tmp_path}/nowhere")
    assert not (tmp_path / "sdk").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".sdk.") and path.name.endswith("sdk")]


class _Archive:
    """Stands for apt: an archive whose index gives a version and a hash, and whose files hold `content`."""

    def __init__(self, version: str, sha: str, content: bytes) -> None:
        self.version, self.sha, self.content = version, sha, content

    def update(self) -> str:
        return ""

    def versions(self, names: list[str]) -> dict[tuple[str, str], str]:
        return {(name, "sid"): self.version for name in names}

    def records(self, packages: list[tuple[str, str]]) -> dict[str, tuple[str, int]]:
        return {name: (self.sha, len(self.content)) for name, _ in packages}

    def download(self, packages: list[tuple[str, str]], into: Path) -> None:
        for name, version in packages:
            (into / f"{name}_{version}.deb").write_bytes(self.content)


def test_index_that_contradicts_the_pin_is_refused(tmp_path: Path) -> None:
    archive = _Archive(PIN.version, "cd" * 32, b"")
    with pytest.raises(sdk.SdkError, match="tampered"):
        sdk._fetch(archive, [PIN], tmp_path, False, [], lambda _: None)  # type: ignore[arg-type]


def test_file_that_contradicts_the_index_is_refused(tmp_path: Path) -> None:
    archive = _Archive(PIN.version, PIN.sha256, b"something else")
    with pytest.raises(sdk.SdkError, match="no downloaded file has SHA-256"):
        sdk._fetch(archive, [PIN], tmp_path, False, [], lambda _: None)  # type: ignore[arg-type]


def test_rebuild_is_recorded_as_unpinned(tmp_path: Path) -> None:
    content = b"the rebuilt package"
    sha = hashlib.sha256(content).hexdigest()
    installed: list[sdk.Installed] = []
    archive = _Archive("6.4.3-6", sha, content)
    files = sdk._fetch(archive, [PIN], tmp_path, False, installed, lambda _: None)  # type: ignore[arg-type]
    assert [path.read_bytes() for _, path in files] == [content]
    assert installed == [sdk.Installed(PIN.name, "6.4.3-6", sha, False)]


def test_path_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPORT_SDK", str(tmp_path / "sdk"))
    missing = CliRunner().invoke(cli, ["sdk", "path"])
    assert (missing.exit_code, missing.stdout.strip()) == (1, str(tmp_path / "sdk"))
    _installed(tmp_path / "sdk")
    assert CliRunner().invoke(cli, ["sdk", "path"]).exit_code == 0


def test_install_command_reports_errors_without_a_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPORT_SDK", str(tmp_path / "sdk"))
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(cli, ["sdk", "install"])
    assert result.exit_code == 2
    assert result.stderr.startswith("rocport sdk install: apt-get not found")


def test_status_without_any_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ROCPORT_SDK", str(tmp_path / "sdk"))
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(cli, ["sdk", "status", "--format", "json"])
    report = json.loads(result.stdout)
    if report["toolchain"] is not None:
        pytest.skip("this machine has a ROCm installation")
    assert result.exit_code == 1
    assert "rocport sdk install" in report["error"]
