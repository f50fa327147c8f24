from __future__ import annotations

import pytest

from rocport.model.versions import HipVersion, RocmVersion, TorchVersion, VersionError


@pytest.mark.parametrize(
    ("text", "release", "printed", "extra"),
    [
        ("10.1", (10, 1, 0), "10.1", ""),
        ("7.2.4", (7, 2, 4), "7.2.4", ""),
        (" v6.4.3-127 ", (6, 4, 3), "6.4.3-127", "127"),
        ("7.2.0~rc1", (7, 2, 0), "7.2.0-rc1", "rc1"),
        ("6.0.0+g12", (6, 0, 0), "6.0.0-g12", "g12"),
        ("7.15.26333.abc", (7, 15, 26333), "7.15.26333-abc", "abc"),
    ],
)
def test_dotted_versions_are_read_and_printed(
    text: str, release: tuple[int, int, int], printed: str, extra: str
) -> None:
    version = RocmVersion.parse(text)
    assert (version.release, str(version), version.extra) == (release, printed, extra)


@pytest.mark.parametrize("text", ["rocm102", "714", "7", "", "7.x", "seven.two"])
def test_what_is_no_dotted_version_is_refused_and_named(text: str) -> None:
    with pytest.raises(VersionError, match="is not a RocmVersion: expected dotted numbers"):
        RocmVersion.parse(text)


def test_versions_are_ordered_by_number_and_a_missing_patch_is_nought() -> None:
    versions = [RocmVersion.parse(text) for text in ("10.0", "6.4.3", "7.14", "6.4", "7.2.4")]
    assert [str(version) for version in sorted(versions)] == ["6.4", "6.4.3", "7.2.4", "7.14", "10.0"]
    assert RocmVersion.parse("7.2") == RocmVersion.parse("7.2.0-extra")
    assert RocmVersion.parse("7.2") != RocmVersion.parse("7.2.1")
    assert hash(RocmVersion.parse("7.2")) == hash(RocmVersion.parse("7.2.0"))
    assert not RocmVersion.parse("7.2") < RocmVersion.parse("7.2.0"), "equal ones are not ordered"
    assert RocmVersion(7, 2).patch is None
    assert str(RocmVersion(7, 2, 0)) == "7.2.0"


def test_a_hip_version_is_no_rocm_version() -> None:
    hip, rocm = HipVersion.parse("7.2"), RocmVersion.parse("7.2")
    assert hip != rocm
    assert len({hip, rocm}) == 2
    with pytest.raises(TypeError):
        assert hip < rocm  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "pre", "local", "rocm", "flavour"),
    [
        ("2.9.1+rocm7.2.0.git7e1940d4", "", "rocm7.2.0.git7e1940d4", "7.2.0", "rocm"),
        ("2.9.1+rocm6.4", "", "rocm6.4", "6.4", "rocm"),
        ("2.13.0+rocmsdk10.1.0", "", "rocmsdk10.1.0", "10.1.0", "rocm"),
        ("2.9.0+rocm714", "", "rocm714", None, "rocm"),
        ("2.13.0+cpu", "", "cpu", None, "cpu"),
        ("2.13.0+XPU", "", "XPU", None, "xpu"),
        ("2.8.0+cu128", "", "cu128", None, "cuda"),
        ("2.8.0+custom", "", "custom", None, "unknown"),
        ("2.7.0a0+git3a58512", "a0", "git3a58512", None, "unknown"),
        ("2.13.0", "", "", None, "unknown"),
        ("v2.5.0.dev20240710+rocm6.1", ".dev20240710", "rocm6.1", "6.1", "rocm"),
    ],
)
def test_torch_versions_say_what_they_were_built_for(
    text: str, pre: str, local: str, rocm: str | None, flavour: str
) -> None:
    version = TorchVersion.parse(text)
    assert (version.pre, version.local, version.flavour) == (pre, local, flavour)
    assert version.rocm == (RocmVersion.parse(rocm) if rocm else None)
    assert str(version) == text.removeprefix("v")


def test_torch_versions_are_ordered_without_their_tag() -> None:
    texts = ["2.10.0", "2.9.1", "2.9.0rc2", "2.9.0", "2.9.0rc1", "2.9.0a0"]
    assert [str(v) for v in sorted(map(TorchVersion.parse, texts))] == [
        "2.9.0a0", "2.9.0rc1", "2.9.0rc2", "2.9.0", "2.9.1", "2.10.0",
    ]  # fmt: skip
    assert TorchVersion.parse("2.9.1+cpu") == TorchVersion.parse("2.9.1+rocm7.2")
    assert len({TorchVersion.parse("2.9.1+cpu"), TorchVersion.parse("2.9.1")}) == 1
    assert TorchVersion.parse("2.9") == TorchVersion.parse("2.9.0")
    assert not TorchVersion.parse("2.9") < TorchVersion.parse("2.9.0"), "equal ones are not ordered"
    assert TorchVersion.parse("2.9.1").release == (2, 9, 1)
    assert TorchVersion.parse("2.9.1") != "2.9.1"
    with pytest.raises(TypeError):
        assert TorchVersion.parse("2.9.1") < "2.10"


@pytest.mark.parametrize("text", ["torch", "2", "rocm7.2", ""])
def test_what_is_no_torch_version_is_refused_and_named(text: str) -> None:
    with pytest.raises(VersionError, match="is not a PyTorch version"):
        TorchVersion.parse(text)
