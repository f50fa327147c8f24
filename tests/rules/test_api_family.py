"""Names of families without rows, and names that HIP keeps: what a version of ROCm lacks is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocport.model import Applicability, Context, Options, ProjectIndex, RocmVersion
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of


@pytest.mark.parametrize(("rocm", "applicability"), [("6.0", Applicability.MANUAL), ("7.1", Applicability.REVIEW)])
def test_a_tag_whose_type_the_release_lacks_stays(rocm, applicability):
    context = Context(Options(rocm=RocmVersion.parse(rocm)), ProjectIndex())
    found = scan_cuda("a.cu", b"#include <cuda.h>\nvoid f(CUDA_MEMCPY3D_PEER_st *a);\n", context)
    mine = [item for item in found if item.rule == "api-family"]
    assert [item.applicability for item in mine] == [applicability]
    assert bool(mine[0].edits) == (applicability is Applicability.REVIEW)


@pytest.mark.parametrize(
    ("rocm", "applicability"), [("6.2", [Applicability.MANUAL]), ("6.4", [Applicability.REVIEW]), ("10.0", [])]
)
def test_a_name_that_is_the_same_in_hip_is_named_where_the_release_is_not_known_to_have_it(rocm, applicability):
    context = Context(Options(rocm=RocmVersion.parse(rocm)), ProjectIndex())
    found = scan_cuda("a.cu", b"#include <nccl.h>\nvoid f() { ncclParamDumpAll(); }\n", context)
    assert [item.applicability for item in found if item.rule == "api-identifier"] == applicability


def test_a_call_whose_default_arguments_are_written_out_is_renamed_too():
    text = b"#include <cuda_runtime.h>\nvoid f() { cudaMalloc3DArray(a, d, e); }\n"
    found = scan_cuda("a.cu", text, Context(Options(targets=("gfx1100",)), ProjectIndex()))
    edits = [edit.text for item in found for edit in item.edits]
    assert b"hipMalloc3DArray" in edits
    assert all(item.applicability is not Applicability.MANUAL for item in found)


def test_a_context_without_parameters_is_renamed_too():
    text = b"#include <cuda.h>\nvoid f() { cuCtxCreate_v4(&c, nullptr, 0, d); }\n"
    found = scan_cuda("a.cu", text, Context(Options(), ProjectIndex()))
    assert b"hipCtxCreate" in [edit.text for item in found for edit in item.edits]


@pytest.mark.parametrize(("header", "count"), [("cuda.h", 1), ("cute/tensor.hpp", 1), ("vendor.h", 0)])
def test_a_tag_is_the_driver_s_where_a_unit_reaches_its_header(header, count):
    tree = {"a.h": b"enum CUmode_enum m;\n", "a.cu": f'#include <{header}>\n#include "a.h"\n'.encode()}
    index = build_index(list(tree), [names_of(data) for data in tree.values()])
    context = Context(Options(), replace(index, includes={"a.h": (), "a.cu": (header, "a.h")}))
    found = scan_cuda("a.h", tree["a.h"], context)
    assert len([item for item in found if item.rule == "api-family"]) == count
