"""Records of what indexes hold: each can be read, agrees with the releases, and the strongest comes first."""

from __future__ import annotations

from packaging.version import Version

from rocport.facts.listings import HOW, listings, recorded
from rocport.facts.rocm import channels_of, torch_releases

ROCM64 = "https://download.pytorch.org/whl/rocm6.4"


def test_every_record_is_whole():
    for record in listings():
        assert record.index.startswith("https://") and record.how in HOW and record.seen and record.source, record
        assert set(record.systems) <= {"linux", "wsl", "windows"} and Version(record.torch)


def test_records_of_pytorchs_channels_are_channels_of_the_release():
    releases = {release.version: release for release in torch_releases()}
    for record in listings():
        release = releases.get(record.torch.rpartition(".")[0])
        if release is not None and record.index.startswith("https://download.pytorch.org"):
            assert record.index.endswith(f"/rocm{record.rocm}") and record.rocm in channels_of(release), record
            assert record.torch in release.patches, record


def test_a_request_is_answered_newest_and_strongest_first():
    found = recorded(ROCM64, "6.4", "2.9", "", "3.12", "linux", "gfx1100")
    assert [record.torch for record in found] == sorted((r.torch for r in found), reverse=True)
    assert found[0].torch == "2.9.1" and found[0].version_of("torch") == "2.9.1"
    assert found[0].version_of("torchvision") is not None and found[0].version_of("numpy") is None
    assert "2.9.1" in found[0].text
    assert not recorded(ROCM64, "6.4", "2.9", "", "3.12", "windows", "gfx1100")
    assert {r.how for r in recorded(ROCM64, "6.4", "2.9", "", "3.9", "linux", "gfx1100")} <= {"guide"}
    assert not recorded(ROCM64, "6.4", "2.9", "==2.9.5", "3.12", "linux", "gfx1100")
