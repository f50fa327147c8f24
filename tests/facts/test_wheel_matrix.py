"""Whether a wheel has code for a GPU: every way to an answer, on channels and targets made for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocport.facts import wheel_matrix
from rocport.facts.platforms import windows_targets
from rocport.facts.rocm import WheelChannel, WheelLibrary, wheel_channel
from rocport.facts.targets import load_target
from rocport.facts.wheel_matrix import UNKNOWN, Cell, in_library, in_torch
from rocport.model.targets import Support

CARD = load_target("gfx1100")
OTHER = replace(CARD, name="gfx1199", support=())
UNSURE = replace(CARD, name="gfx1198", support=())
THEIRS = WheelChannel("7.2", "pytorch", ("gfx1100", "gfx942"), "https://theirs", "measured", unsure=("gfx1198",))
AMDS = replace(THEIRS, name="multi-arch", owner="amd", source="https://amds")


@pytest.mark.parametrize("channel", [THEIRS, AMDS], ids=lambda channel: channel.owner)
def test_torch_on_linux_is_what_the_channel_lists(channel: WheelChannel) -> None:
    assert in_torch(channel, CARD) == Cell("yes", channel.source, "measured")
    assert in_torch(channel, OTHER, "wsl") == Cell("no", channel.source, "measured")
    assert in_torch(channel, UNSURE) == UNKNOWN == Cell("unknown")


def test_torch_on_windows_is_amds_alone_and_for_its_targets() -> None:
    known = windows_targets()
    no = Cell("no", known.source, known.sure)
    assert "gfx1100" in known.targets and "gfx942" not in known.targets
    assert in_torch(THEIRS, CARD, "windows") == no
    assert in_torch(AMDS, load_target("gfx942"), "windows") == no
    assert in_torch(AMDS, CARD, "windows").state == "yes"


@pytest.mark.parametrize("library", wheel_matrix.LIBRARIES)
def test_a_library_has_no_more_than_torch_itself(library: str) -> None:
    assert in_library(THEIRS, library, OTHER) == in_torch(THEIRS, OTHER)
    assert in_library(THEIRS, library, UNSURE) == UNKNOWN


def test_rccl_is_not_on_windows() -> None:
    assert in_library(AMDS, "RCCL", CARD, "windows").state == "no"
    assert in_library(AMDS, "RCCL", CARD, "windows").sure == "documented"
    assert in_library(AMDS, "rocBLAS", CARD, "windows").state == "yes"


def test_what_the_channel_says_of_a_library_comes_first() -> None:
    said = WheelLibrary("rocBLAS", "https://said", "reported", has=("gfx1100",), lacks=("gfx942",))
    for channel in (replace(THEIRS, libraries=(said,)), replace(AMDS, libraries=(said,))):
        assert in_library(channel, "rocBLAS", CARD) == Cell("yes", "https://said", "reported")
        assert in_library(channel, "rocBLAS", load_target("gfx942")) == Cell("no", "https://said", "reported")
    other = replace(THEIRS, targets=("gfx1199",), libraries=(said,))
    assert in_library(other, "rocBLAS", OTHER) == UNKNOWN, "it says nothing of this target"


def test_what_a_target_says_of_a_library_is_of_amds_wheels() -> None:
    records = tuple(Support("hipBLASLt", state, "any", f"https://{state}", "reported") for state in ("no", "partial"))
    card = replace(CARD, support=records)
    assert in_library(AMDS, "hipBLASLt", card) == Cell("partial", "https://partial", "reported"), "the newest record"
    assert in_library(THEIRS, "hipBLASLt", card) == UNKNOWN


@pytest.mark.parametrize(("library", "state"), [("rocBLAS", "yes"), ("MIOpen", "yes"), ("hipBLASLt", "unknown")])
def test_without_a_record_amd_builds_its_own_libraries_for_all_its_targets(library: str, state: str) -> None:
    card = replace(CARD, support=())
    found = in_library(AMDS, library, card)
    assert found.state == state and bool(found.source) == (state == "yes")
    assert found.sure == ("documented" if state == "yes" else "unverified")


def test_attention_is_asked_for_the_newest_torch_of_the_channel() -> None:
    """gfx1100 needed a switch up to torch 2.10."""
    assert in_library(wheel_channel("6.4"), "AOTriton", CARD).state == "switch"
    assert in_library(wheel_channel("7.2"), "AOTriton", CARD).state == "yes"
    assert in_library(THEIRS, "AOTriton", replace(CARD, support=())) == UNKNOWN
