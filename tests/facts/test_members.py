"""Members that HIP's structures lack, and the tool that compares them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from rocport.facts.members import other_members

_TOOL = importlib.util.spec_from_file_location(
    "refresh_members", Path(__file__).parents[2] / "tools/refresh_members.py"
)
assert _TOOL is not None and _TOOL.loader is not None
TOOL = importlib.util.module_from_spec(_TOOL)
_TOOL.loader.exec_module(TOOL)


def test_structures_are_read_with_their_members() -> None:
    text = """
        typedef struct P_st { unsigned int gridDimX, *extra; /* int gone; */ void (*done)(int a, int b);
          union { int one; struct { char name[64]; } deep; }; char reserved[7]; } P;
        struct __device_builtin__ Q { enum Kind kind; dim3 size; };
        typedef struct Q Q_t;
        #define hipProp hipPropR0600
        typedef struct hipPropR0600 { int major; } hipPropR0600;
    """
    found = TOOL.structures(text)
    assert found["P"] == found["P_st"] == {"gridDimX", "extra", "done", "one", "deep", "reserved"}
    assert found["Q"] == found["Q_t"] == {"kind", "size"}
    assert found["hipProp"] == {"major"}


def test_members_of_clusters_numa_and_other_names_are_told() -> None:
    known = other_members()
    assert known[b"sparseCudaArraySupported"][b"cudaDeviceProp"] == b"sparseHipArraySupported"
    assert known[b"requiredClusterWidth"] == {b"cudaFuncAttributes": b""}
    assert known[b"gridDimX"][b"CUDA_KERNEL_NODE_PARAMS"] == b"gridDim.x"
    assert not known.keys() & {b"major", b"multiProcessorCount", b"numRegs", b"x"}
