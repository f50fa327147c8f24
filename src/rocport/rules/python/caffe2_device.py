"""Caffe2 gives AMD's GPUs a device type of their own: `caffe2_pb2.CUDA` names no device in its ROCm build.
`DeviceOption(caffe2_pb2.CUDA, 0)` and `workspace.NumCudaDevices()` fail or count nothing there; `caffe2_pb2.HIP` is
the AMD type, and `workspace.GpuDeviceType` and `workspace.NumGpuDevices()` say the right one for either build. Unlike
torch, where "cuda" is the right name on both. PyTorch ships Caffe2 no more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

_CALLS = frozenset({"NumCudaDevices", "GetCudaVersion", "GetCUDAVersion", "GetCudaPeerAccessPattern"})

RULE = Rule(
    name="caffe2-cuda-device",
    summary="Caffe2's CUDA device type",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"caffe2"}),
    phase=1,
    examples=(
        Example("from caffe2.proto import caffe2_pb2\nd = core.DeviceOption(caffe2_pb2.CUDA, 0)\n", path="m.py"),
        Example("from caffe2.python import workspace\nn = workspace.NumCudaDevices()\n", path="m.py"),
    ),
    clean=(
        Example(
            "from caffe2.python import workspace\nd = core.DeviceOption(workspace.GpuDeviceType, 0)\n", path="m.py"
        ),
        Example("from caffe2.proto import caffe2_pb2\nd = core.DeviceOption(caffe2_pb2.CPU)\n", path="m.py"),
    ),
    sources=("https://github.com/pytorch/pytorch/blob/v1.13.1/caffe2/python/workspace.py",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for node in source.find(ast.Attribute):
        owner = source.dotted(node.value).rsplit(".", 1)[-1]
        if (owner == "caffe2_pb2" and node.attr == "CUDA") or (owner == "workspace" and node.attr in _CALLS):
            nodes.append(node)
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)}: Caffe2's device type on ROCm is HIP",
            fix="workspace.GpuDeviceType and workspace.NumGpuDevices()",
            holds="Caffe2, which PyTorch ships no more",
        )
