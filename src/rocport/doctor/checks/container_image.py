"""Is the image that a Dockerfile begins from one of AMD's, of a ROCm that there is and that knows the GPU?"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine, Setting
from rocport.doctor.probes.dockerfile import base
from rocport.facts.containers import is_of_cuda
from rocport.facts.errors import FactError
from rocport.facts.rocm import rocm_release, rocm_releases
from rocport.model.versions import RocmVersion

CHECK = Check("container-image", "container image")


def run(machine: Machine) -> Iterator[Result]:
    image = machine.setting("base_image")
    if image is None:
        yield skipped("no Dockerfile was read")
        return
    yield from _image(machine, image)
    for setting in machine.facts.settings:
        if setting.name == "run_export":
            yield says("container-image.run-export", [setting.evidence])
        elif setting.name == "torch_of_pypi":
            yield says("container-image.torch-of-pypi", [setting.evidence])


def _image(machine: Machine, image: Setting) -> Iterator[Result]:
    name = str(image.value)
    if is_of_cuda(name):
        yield says("container-image.cuda", [image.evidence], image=name)
        return
    tag = base(name)
    if tag is None or not tag.rocm:
        yield skipped(f"{name}: its name tells no ROCm", image.evidence)
        return
    version = RocmVersion.parse(tag.rocm)
    try:
        release = rocm_release(version)
    except FactError:
        newest = rocm_releases()[0].version
        if version > RocmVersion.parse(newest):
            yield skipped(f"{name}: a ROCm newer than the newest known here, {newest}", image.evidence)
        else:
            yield says("container-image.no-release", [image.evidence], image=name, rocm=tag.rocm)
        return
    known = RocmVersion.parse(release.version)
    missing = [
        (gpu, target)
        for gpu, target in machine.targets()
        if target.official and target.official.since and known < RocmVersion.parse(target.official.since)
    ]
    for gpu, target in missing:
        since = target.official.since if target.official else ""
        shown = [image.evidence, *gpu.evidence[:1]]
        yield says("container-image.before-target", shown, image=name, rocm=tag.rocm, gfx=target.name, since=since)
    if not missing:
        yield ok(f"{name} is of ROCm {tag.rocm}", image.evidence)
