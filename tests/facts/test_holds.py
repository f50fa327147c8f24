"""Where a statement holds, as a typed range: applied to rules by the options of a run, to hazards by a machine."""

from __future__ import annotations

import pytest

from rocport.facts.hazards import hazard, hazards
from rocport.facts.holds import holds
from rocport.facts.targets import all_targets, load_target
from rocport.model import RocmVersion
from rocport.model.context import Context, Options
from rocport.model.holds import EVERYWHERE, Range
from rocport.project.build import BuildSource
from rocport.rules import discover

OLD, NEW = RocmVersion.parse("6.4"), RocmVersion.parse("7.2.1")


@pytest.mark.parametrize(
    ("where", "options", "expected"),
    [
        (EVERYWHERE, Options(rocm=OLD, torch="2.3", targets=("gfx942",)), True),
        (Range(rocm=">=7.0"), Options(), True),
        (Range(rocm=">=7.0"), Options(rocm=OLD), False),
        (Range(rocm=">=7.0,<7.14"), Options(rocm=NEW), True),
        (Range(torch="<2.11"), Options(torch="2.11.0"), False),
        (Range(torch="<2.11"), Options(torch="2.10"), True),
        (Range(target={"wavefront": (64,)}), Options(targets=("gfx1100",)), False),
        (Range(target={"wavefront": (64,)}), Options(targets=("gfx1100", "gfx90a")), True),
        (Range(target={"family": ("CDNA4",)}, rocm=">=10.1"), Options(targets=("gfx950",), rocm=NEW), False),
    ],
)
def test_a_range_is_applied_by_the_options(where, options, expected):
    assert holds(where, options) is expected


def test_libraries_bound_a_range_where_their_version_is_known():
    where = Range(library={"bitsandbytes": "<0.50"})
    assert where.covers(libraries={"bitsandbytes": "0.49.2"}) and where.covers()
    assert not where.covers(libraries={"bitsandbytes": "0.50.0"})
    assert str(Range(rocm=">=7", library={"vllm": "<1"}, target={"fp8": ("ocp",)})) == "ROCm >=7; vllm <1; fp8 ocp"


def test_every_range_asks_what_targets_have():
    for where in [*(loaded.rule.where for loaded in discover()), *(record.where for record in hazards())]:
        assert where.target == {} or any(where.covers(targets=[target]) for target in all_targets()), where
        assert not where.target or not all(where.covers(targets=[target]) for target in all_targets()), where
    assert hazard("H116").where.covers(rocm=RocmVersion.parse("10.1.0"), targets=[load_target("gfx950")])
    assert not hazard("H116").where.covers(rocm=RocmVersion.parse("10.2.0"), targets=[load_target("gfx950")])


def test_a_rule_out_of_range_is_silent():
    by_name = {loaded.rule.name: loaded for loaded in discover()}
    source = BuildSource("Makefile", b"FLAGS = -DWARP_SIZE=32\n", "make")
    rule = next(loaded for loaded in by_name.values() if loaded.module.endswith("build.warp_define"))
    assert list(rule.check(source, Context(Options(targets=("gfx942",)))))
    assert not list(rule.check(source, Context(Options(targets=("gfx1100",)))))
