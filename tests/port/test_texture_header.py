"""rocport_texture.h: a CUDA program that fetches in every mode, ported for a GPU without texture units, and a model.

The model is the text of CUDA's programming guide (texture fetching) in Python: texels by index, the address modes, and
linear filtering whose weights have 8 bits of fraction. What the guide leaves open is as an NVIDIA H200 has it: a layer
outside is the last one, a row is filtered as an image of one row, a border has the precision of the texels. The H200's
164 lines agree with this header's but for linear weights, which differ by one step at most.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest

from rocport import api
from rocport.model import Applicability
from rocport.scan.config import Settings

FETCHES = Path(__file__).parent / "texture" / "fetches.cu"
ARRAYS = FETCHES.with_name("arrays.cu")
WIDTH, HEIGHT, DEPTH, COUNT = 7, 5, 4, 160
WRAP, CLAMP, MIRROR, BORDER = range(4)
BORDER_COLOUR = (0.0, 0.25, 0.5, 0.75)
Texel = tuple[float, ...]


def _f32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _signed16(value: int) -> int:
    return (value + 2**15) % 2**16 - 2**15


TEXELS: dict[str, Callable[[int], Texel]] = {
    "float": lambda i: (((i * 37) % 101 - 50) * 0.37,),
    "float4": lambda i: (i * 0.5, -i, (i * i) % 17, 1 / (i + 1)),
    "uchar": lambda i: (i * 53 % 256,),
    "uchar4": lambda i: (i * 53 % 256, (255 - i) % 256, i * 7 % 256, 255 if i % 2 else 0),
    "short2": lambda i: (i * 2111 % 65536 - 32768, _signed16(32767 - i * 977)),
    "int": lambda i: (i * 123457 - 1000000,),
}
LARGEST = {"uchar": 255, "uchar4": 255, "short2": 32767}


def _coordinates(start: float, step: float) -> list[tuple[float, float, float]]:
    start, step = _f32(start), _f32(step)
    place = [_f32(start + _f32(step * i)) for i in range(COUNT)]
    return [(place[i], place[i * 7 % COUNT], place[i * 11 % COUNT]) for i in range(COUNT)]


WIDE, UNIT = _coordinates(-3.07, 0.083), _coordinates(-1.63, 0.0237)
WHOLE, EXACT = _coordinates(-3.0, 1.0), _coordinates(-2.5, 0.125)


def _index(mode: int, at: int, size: int) -> int | None:
    if 0 <= at < size:
        return at
    if mode == WRAP:
        return at % size
    if mode == MIRROR:
        at %= 2 * size
        return at if at < size else 2 * size - 1 - at
    return None if mode == BORDER else min(max(at, 0), size - 1)


def _axis(at: float, size: int, normalized: bool, smooth: bool) -> list[tuple[int, float]]:
    """The texels a coordinate stands between, with their weights."""
    at = _f32(at * size) if normalized else at
    if not smooth:
        return [(math.floor(at), 1.0)]
    low = math.floor(at - 0.5)
    part = math.floor((at - 0.5 - low) * 256 + 0.5) / 256
    return [(low, 1 - part), (low + 1, part)]


def _fetch(
    kind: str, sizes: Sequence[int], at: Sequence[float], mode: tuple[int, int, int, int], layer: int, layered: bool
) -> Texel:
    smooth, address, normalized, scaled = mode
    total = [0.0] * len(TEXELS[kind](0))
    border: Texel = BORDER_COLOUR
    if scaled and kind in LARGEST:
        border = tuple(math.ceil(colour * LARGEST[kind] - 0.5) / LARGEST[kind] for colour in BORDER_COLOUR)
    if len(sizes) == 1 and not layered:  # an image of one row, at y = 0
        sizes, at = (*sizes, 1), (*at, 0.0)
    for corner in product(*(_axis(*pair, bool(normalized), bool(smooth)) for pair in zip(at, sizes, strict=True))):
        indices = [_index(address, place, size) for (place, _), size in zip(corner, sizes, strict=True)]
        if any(index is None for index in indices):
            texel: Texel = tuple(int(c) for c in BORDER_COLOUR) if _whole(kind, scaled) else border
        else:
            number, stride = layer * math.prod(sizes), 1
            for index, size in zip(indices, sizes, strict=True):
                number += (index or 0) * stride
                stride *= size
            texel = TEXELS[kind](number)
            if scaled and kind in LARGEST:
                texel = tuple(max(value / LARGEST[kind], -1.0) for value in texel)
        share = math.prod(weight for _, weight in corner)
        total = [one + share * other for one, other in zip(total, texel[: len(total)], strict=True)]
    return tuple(total)


def _whole(kind: str, scaled: int) -> bool:
    return kind == "int" or (kind == "short2" and not scaled)


def _wanted(what: str, mode: tuple[int, int, int, int]) -> list[Texel]:
    shape, kind = what.split()
    scaled = bool(mode[3]) and kind in LARGEST
    if shape == "fetch":
        texels = [TEXELS[kind](int(x)) if 0 <= x < 100 else (0.0,) * len(TEXELS[kind](0)) for x, _, _ in WHOLE]
        return [tuple(max(v / LARGEST[kind], -1.0) for v in texel) if scaled else texel for texel in texels]
    sizes = {"line": 1, "layer1": 1, "volume": 3}.get(shape, 2)
    places = EXACT if shape == "exact" else UNIT if mode[2] else WIDE
    # layers are unsigned: -1 and 4 are the last
    asked = [i % 6 - 1 for i in range(COUNT)]
    layers = [(at if 0 <= at < DEPTH else DEPTH - 1) if shape.startswith("layer") else 0 for at in asked]
    extent = (WIDTH, HEIGHT, DEPTH)[:sizes]
    layered = shape.startswith("layer")
    return [_fetch(kind, extent, place[:sizes], mode, at, layered) for place, at in zip(places, layers, strict=True)]


def _rows(output: str) -> Iterator[tuple[str, tuple[int, int, int, int], list[str]]]:
    for line in output.splitlines():
        name, _, words = line.rpartition(":")
        what, *numbers = re.split(r"/\w+ ", name)
        filtered, address, normalized, read = map(int, numbers)
        yield what, (filtered, address, normalized, read), words.split()


def _differing(output: str) -> list[str]:
    found = []
    for what, mode, words in _rows(output):
        raw = struct.pack(f"{len(words)}I", *(int(word, 16) for word in words))
        kind = {"int": "i", "short2": "h"}.get(what.split()[1], "f") if _whole(what.split()[1], mode[3]) else "f"
        got = struct.unpack(f"{len(raw) // struct.calcsize(kind)}{kind}", raw)
        want = [value for texel in _wanted(what, mode) for value in texel]
        bad = [i for i, (one, other) in enumerate(zip(got, want, strict=True)) if abs(one - other) > 1e-4]
        if bad:
            found.append(f"{what} {mode}: {len(bad)} of {len(want)}, {bad[0]}: {got[bad[0]]}, not {want[bad[0]]}")
    return found


def _ported(program: Path, folder: Path) -> Path:
    (folder / "cuda").mkdir()
    (folder / "cuda" / program.name).write_bytes(program.read_bytes())
    patch = api.port(folder / "cuda", Settings(target=("gfx942",)))
    assert not [item for item in patch.findings if item.applicability is Applicability.MANUAL]
    api.apply(patch, folder / "hip")
    return folder / "hip" / program.name


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _ported(FETCHES, tmp_path_factory.mktemp("texture"))


def test_every_mode_gives_what_cuda_says(ported: Path, outputs: Callable[..., list[str]]) -> None:
    narrow, wide = outputs(ported)
    assert narrow == wide
    assert len(narrow.splitlines()) == 164
    assert _differing(narrow) == []


def test_arrays_and_surfaces_hold_what_fits_and_refuse_the_rest(
    tmp_path: Path, outputs: Callable[..., list[str]]
) -> None:
    assert all("PASS" in said for said in outputs(_ported(ARRAYS, tmp_path)))


@pytest.mark.parametrize("gfx", ["gfx942", "gfx1100"])
def test_it_compiles_for_amd_gpus(ported: Path, gfx: str, compiles: Callable[..., Path]) -> None:
    compiles(ported, gfx)
