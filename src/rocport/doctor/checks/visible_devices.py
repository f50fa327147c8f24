"""The variables that choose GPUs, and how they get in each other's way."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("visible-devices", "visible devices", ("H057", "H058", "H059", "H060", "H061", "H062"))
VERIFY = "python -c 'import torch; print(torch.cuda.device_count())'"
NAMES = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def run(machine: Machine) -> Iterator[Result]:
    told = machine.symptoms("visible-inconsistent", "visible-stacked")
    env = {n: e for n in NAMES if (e := machine.env(n)) is not None}
    if not env and not told:
        yield ok("none is set") if machine.probed("env-complete") else skipped("the environment is not known")
        return
    found = False
    empty = [e for e in env.values() if str(e.value).strip() in ("", "-1")]
    if empty and machine.gpus:
        found = True
        yield problem(
            "fail",
            f"{empty[0].name} is {'empty' if not empty[0].value else empty[0].value}: it hides every GPU",
            [e.evidence for e in empty],
            "torch.cuda.device_count() is 0.",
            tuple(f"unset {e.name}" for e in empty),
            VERIFY,
            env={e.name: None for e in empty},
        )
    hip, cuda, rocr = (env.get(n) for n in NAMES[:3])
    if hip and cuda and hip.value != cuda.value and not empty:
        found = True
        yield says(
            "visible-devices.hip-visible-devices-cuda-visible-devices-differ",
            [hip.evidence, cuda.evidence, *(s.evidence for s in told)],
            hip=hip.value,
            cuda=cuda.value,
        )
    inner = hip or cuda
    if rocr and inner and not empty:
        found = True
        outside = _count(str(rocr.value)) is not None and any(
            i >= (_count(str(rocr.value)) or 0) for i in _indices(str(inner.value))
        )
        yield problem(
            "fail" if outside else "warn",
            f"ROCR_VISIBLE_DEVICES={rocr.value} and {inner.name}={inner.value} are stacked",
            [rocr.evidence, inner.evidence, *(s.evidence for s in told)],
            f"ROCR filters first and {inner.name} counts what is left"
            + (": it names a GPU that is not there any more." if outside else ", from 0."),
            ("unset ROCR_VISIBLE_DEVICES",),
            VERIFY,
            env={"ROCR_VISIBLE_DEVICES": None},
        )
    if inner and not found and machine.live and machine.gpus:
        over = [i for i in _indices(str(inner.value)) if i >= len(machine.gpus)]
        if over:
            found = True
            yield says(
                "visible-devices.names-gpu",
                [inner.evidence],
                inner_name=inner.name,
                inner=inner.value,
                over_first=over[0],
                gpus=len(machine.gpus),
            )
    if "GPU_DEVICE_ORDINAL" in env:
        found = True
        yield says("visible-devices.gpu-device-ordinal-set", [env["GPU_DEVICE_ORDINAL"].evidence])
    if told and not found:
        found = True
        yield says("visible-devices.program-refused-combination-visible-device", [s.evidence for s in told])
    if not found:
        yield ok(", ".join(f"{e.name}={e.value}" for e in env.values()), *(e.evidence for e in env.values()))


def _indices(value: str) -> list[int]:
    return [int(v) for v in value.replace(" ", "").split(",") if v.isdigit()]


def _count(value: str) -> int | None:
    parts = [v for v in value.split(",") if v.strip()]
    return len(parts) if parts else None
