"""The matrix of channels, systems, targets and libraries: it agrees with the plans, and says what it does not know."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from rocport.cli.cmd_compat import command
from rocport.compat.matrix import matrix_data
from rocport.compat.plan import Request, make_plan
from rocport.compat.wants import parse_wants
from rocport.facts.rocm import wheel_channel, wheel_channels
from rocport.facts.targets import SURE, all_targets, load_target
from rocport.facts.wheel_matrix import LIBRARIES, in_library, in_torch


def cell(channel, library, gfx, system="linux"):
    return in_library(wheel_channel(channel), library, load_target(gfx), system).state


@pytest.mark.parametrize(
    ("channel", "library", "gfx", "state"),
    [
        ("6.4", "rocBLAS", "gfx906", "no"),
        ("7.1", "rocBLAS", "gfx950", "yes"),
        ("7.2", "rocBLAS", "gfx942", "unknown"),
        ("6.3", "rocBLAS", "gfx906", "yes"),
        ("6.3", "RCCL", "gfx1101", "yes"),
        ("6.3", "RCCL", "gfx900", "unknown"),
        ("7.2", "AOTriton", "gfx1030", "no"),
        ("multi-arch", "RCCL", "gfx1150", "no"),
        ("multi-arch", "RCCL", "gfx1151", "yes"),
        ("multi-arch", "hipBLASLt", "gfx1030", "no"),
        ("multi-arch", "rocBLAS", "gfx1036", "yes"),
    ],
)
def test_cells(channel, library, gfx, state):
    assert cell(channel, library, gfx) == state


def test_windows_has_amds_wheels_without_rccl():
    assert cell("7.2", "rocBLAS", "gfx1100", "windows") == "no"
    assert cell("multi-arch", "rocBLAS", "gfx1100", "windows") == "yes"
    assert cell("multi-arch", "RCCL", "gfx1100", "windows") == "no"
    assert in_torch(wheel_channel("multi-arch"), load_target("gfx942"), "windows").state == "no"


def test_every_known_cell_has_a_source():
    for channel in wheel_channels():
        for target in all_targets():
            for library in LIBRARIES:
                found = in_library(channel, library, target)
                assert found.state == "unknown" or (found.source and found.sure in SURE), (
                    channel.name,
                    library,
                    target.name,
                )


def test_no_plan_takes_a_wheel_whose_rocblas_lacks_the_target():
    for channel in wheel_channels():
        for gfx in channel.no_rocblas:
            plan = make_plan(Request(load_target(gfx), None, None, parse_wants("torch"), (), channel.name))
            assert plan.chosen is None or plan.chosen.owner != "pytorch.org", (channel.name, gfx)


def test_on_the_command_line():
    said = CliRunner().invoke(command, ["--matrix", "--gpu", "gfx1100", "--rocm", "7.1"])
    assert said.exit_code == 0 and "| rocm7.1 | gfx1100 | yes | yes | ? | ? | yes | ? |" in said.output, said.output
    data = json.loads(CliRunner().invoke(command, ["--matrix", "--os", "windows11", "--json"]).output)
    assert data["os"] == "windows" and {row["owner"] for row in data["rows"]} == {"amd"}
    assert matrix_data("linux")["rows"]
    assert CliRunner().invoke(command, ["--matrix", "--want", "torch"]).exit_code == 2


@pytest.mark.parametrize(
    ("rocm", "system", "channels"),
    [("7.1.1", "ubuntu24.04", {"7.1"}), ("7.2.1", "ubuntu24.04", {"7.2"}), ("7.1", "ubuntu24.04", {"7.1"}),
     ("7.14.1", "ubuntu24.04", {"multi-arch"}), ("10.1.0", "windows11", {"multi-arch"})],
)  # fmt: skip
def test_a_release_has_the_channels_that_its_plan_takes(rocm, system, channels):
    said = CliRunner().invoke(command, ["--matrix", "--rocm", rocm, "--os", system, "--json"])
    assert said.exit_code == 0 and {row["channel"] for row in json.loads(said.output)["rows"]} == channels, said.output


@pytest.mark.parametrize(
    ("rocm", "system", "says"),
    [("banana", "ubuntu24.04", "no ROCm release"), ("9.9.9", "ubuntu24.04", "there are wheels for 10.1.0"),
     ("9.9", "ubuntu24.04", "name one of them"), ("7.1", "windows11", "on windows")],
)  # fmt: skip
def test_a_release_without_wheels_is_refused(rocm, system, says):
    said = CliRunner().invoke(command, ["--matrix", "--rocm", rocm, "--os", system])
    assert said.exit_code == 2 and says in " ".join(said.output.replace("│", " ").split()), said.output
