"""Which native library of a wheel is loaded beside a HIP version."""

from __future__ import annotations

import dataclasses

import pytest

from rocport.facts.packages import package


@pytest.mark.parametrize(
    ("version", "hip", "taken"),
    [
        ("0.49.0", (7, 2), ""),
        ("0.49.1", (7, 1), "7.1"),
        ("0.49.2", (7, 2), "7.2"),
        ("0.50.1", (7, 15), "7.14"),
        ("0.50.2", (7, 15), "7.15"),
        ("0.49.2", (5, 7), ""),
        ("0.49.2", (6, 0), ""),
        ("0.49.2", (6, 1), ""),
        ("0.49.2", (6, 4), "6.4"),
        ("0.49.2", (8, 0), ""),
        ("0.50.2", (6, 0), "6.4"),
        ("0.50.2", (6, 3), "6.4"),
        ("0.50.2", (7, 2), "7.2"),
        ("0.50.2", (7, 13), "7.2"),
        ("0.50.2", (5, 7), ""),
    ],
)
def test_bitsandbytes_takes_by_version(version, hip, taken):
    wheel = package("bitsandbytes").wheel_of(version)
    assert wheel is not None and wheel.library_for(hip) == taken


def test_a_library_of_the_wheel_without_code_for_the_target_is_a_no() -> None:
    """bitsandbytes 0.50.2 carries gfx1031 for HIP 7.14 on, and its wheel for Windows gfx1103, too."""
    from rocport.compat.packages import _carried
    from rocport.compat.plan import Request, make_plan
    from rocport.compat.wants import parse_wants
    from rocport.facts.platforms import find_system
    from rocport.facts.targets import load_target

    def says(gfx: str, rocm: str, system: str) -> tuple[str, str]:
        wants = parse_wants("torch,bitsandbytes")
        plan = make_plan(Request(load_target(gfx), "3.12", find_system(system), wants, (), rocm))
        item = next(item for item in plan.items if item.want.name == "bitsandbytes")
        return item.status, item.text

    assert says("gfx1031", "7.14", "ubuntu24.04")[0] == "ok"
    assert says("gfx1152", "7.14", "windows11")[0] == "ok"
    assert says("gfx1103", "7.14", "windows11")[0] == "ok"
    known = package("bitsandbytes")
    wheel = known.wheels[-1]
    assert set(wheel.windows) == {"7.2", "7.14", "7.15"}
    less = dataclasses.replace(known, wheels=(dataclasses.replace(wheel, windows={"7.14": ("gfx1100",)}),))
    target = load_target("gfx1103")
    chosen = make_plan(Request(target, "3.12", None, parse_wants("torch"), (), "7.14")).chosen
    assert chosen is not None
    carried = _carried(less, target, chosen, windows=True)
    assert carried is not None and not carried[0] and "has no code for gfx1103" in carried[1]
    assert set(wheel.targets) == set(wheel.builds)
    assert "gfx1031" not in wheel.targets["7.2"] and "gfx1030" in wheel.targets["7.2"]


def test_a_wheel_of_one_rocm_names_the_index_of_the_torch_beside_it() -> None:
    """A channel that a workflow builds for, and of which nobody saw a wheel, gets no command."""
    from rocport.compat.plan import Plan, Request, make_plan
    from rocport.compat.wants import parse_wants
    from rocport.facts.targets import load_target

    def of(rocm: str) -> Plan:
        return make_plan(Request(load_target("gfx942"), "3.12", None, parse_wants("torch,xformers"), (), rocm))

    assert any("xformers" in line and "whl/rocm6.4" in line for line in of("6.4").commands)
    unseen = of("7.1")
    assert not any("xformers" in line for line in unseen.commands)
    assert [(item.status, item.sure) for item in unseen.items if item.want.name == "xformers"] == [
        ("unknown", "unverified")
    ]


def test_a_library_that_was_not_read_is_not_said_to_carry_the_target() -> None:
    from rocport.compat.packages import _carried
    from rocport.compat.plan import Request, make_plan
    from rocport.compat.wants import parse_wants
    from rocport.facts.targets import load_target

    target, known = load_target("gfx942"), package("bitsandbytes")
    chosen = make_plan(Request(target, "3.12", None, parse_wants("torch,bitsandbytes"), (), "7.2")).chosen
    assert chosen is not None
    unread = dataclasses.replace(known, wheels=(dataclasses.replace(known.wheels[-1], targets={}),))
    read = _carried(known, target, chosen, windows=False)
    said = _carried(unread, target, chosen, windows=False)
    assert read is not None and "carries gfx942" in read[1]
    assert said is not None and "gfx942" not in said[1] and "not in the facts" in said[1]
