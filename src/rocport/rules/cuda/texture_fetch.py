"""Textures and surfaces on targets without texture units: gfx942 and gfx950 have no fetches and nothing to fetch from.

HIP marks `tex1Dfetch`, `tex2D`, `surf2Dread` and the rest unavailable there, and refuses to make arrays and texture
objects. Where such a target is among those the port is for, fetches from texture and surface objects, and the calls
that make objects and arrays and copy to them, go to `rocport_texture.h`, which filters, addresses and converts in
software as CUDA does: REVIEW at the first fetch of a file, because a fetch then costs its loads and arithmetic, and
because the objects are no longer HIP's own (do not pass them to code that is not ported). HIP's types stay as they are.
With `--target` and only targets that have texture units, all of this is HIP's.

Texture references (`texture<float, 2> t; tex2D(t, x, y)`), cubemaps, mipmaps, gathers, gradients and the driver API's
textures are left as they are: MANUAL. So is all else that makes or takes HIP's arrays: they are not the header's.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding import Owner, binder
from rocport.binding.branches import branches
from rocport.facts.targets import listed
from rocport.model import Applicability, Context, Edit, Example, Finding, GfxTarget, Rule, Severity, Span
from rocport.model.holds import Range
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

HEADER = "rocport_texture.h"

_SHAPES = ("1D", "1DLayered", "2D", "2DLayered", "3D", "Cubemap", "CubemapLayered")
_FETCHES = frozenset(
    {
        b"tex1Dfetch",
        b"tex2Dgather",
        *(f"tex{shape}{kind}".encode() for shape in _SHAPES for kind in ("", "Lod", "Grad")),
        *(f"surf{shape}{kind}".encode() for shape in _SHAPES for kind in ("read", "write")),
    }
)
_COORDINATES = {
    **{b"tex1Dfetch": 1, b"tex1D": 1, b"tex2D": 2, b"tex3D": 3, b"tex1DLayered": 2, b"tex2DLayered": 3},
    **{b"tex1DLod": 2, b"tex2DLod": 3, b"tex3DLod": 4, b"tex1DLayeredLod": 3, b"tex2DLayeredLod": 4},
}
"""Fetches that the header has, with the arguments behind the object."""
_WITHOUT_POINTER = frozenset(name for name in _COORDINATES if name.endswith(b"Lod"))
_SURFACES = frozenset(
    f"surf{shape}{kind}".encode() for shape in _SHAPES if "Cubemap" not in shape for kind in ("read", "write")
)
_CALLS = {
    b"cudaCreateTextureObject": b"create_texture_object",
    b"cudaDestroyTextureObject": b"destroy_texture_object",
    b"cudaGetTextureObjectResourceDesc": b"get_texture_object_resource_desc",
    b"cudaGetTextureObjectTextureDesc": b"get_texture_object_texture_desc",
    b"cudaCreateSurfaceObject": b"create_surface_object",
    b"cudaDestroySurfaceObject": b"destroy_surface_object",
    b"cudaMallocArray": b"malloc_array",
    b"cudaMalloc3DArray": b"malloc_3d_array",
    b"cudaFreeArray": b"free_array",
    b"cudaArrayGetInfo": b"array_get_info",
    b"cudaGetChannelDesc": b"get_channel_desc",
    b"cudaMemcpyToArray": b"memcpy_to_array",
    b"cudaMemcpyFromArray": b"memcpy_from_array",
    b"cudaMemcpy2DToArray": b"memcpy_2d_to_array",
    b"cudaMemcpy2DToArrayAsync": b"memcpy_2d_to_array_async",
    b"cudaMemcpy2DFromArray": b"memcpy_2d_from_array",
    b"cudaMemcpy2DFromArrayAsync": b"memcpy_2d_from_array_async",
    b"cudaMemcpy3D": b"memcpy_3d",
    b"cudaMemcpy3DAsync": b"memcpy_3d_async",
}
_OF_ARRAYS = frozenset({b"cudaMemcpy3D", b"cudaMemcpy3DAsync"})
"""Copies that may be between pointers: the header's where the project has arrays."""
_KINDS = {
    "mipmaps": "cudaMallocMipmappedArray cudaFreeMipmappedArray cudaGetMipmappedArrayLevel "
    "cudaMipmappedArrayGetMemoryRequirements cudaExternalMemoryGetMappedMipmappedArray cuMipmappedArrayCreate "
    "cuMipmappedArrayDestroy cuMipmappedArrayGetLevel cuMipmappedArrayGetMemoryRequirements "
    "cuExternalMemoryGetMappedMipmappedArray",
    "cubemaps": "cudaArrayCubemap",
    "copies between arrays": "cudaMemcpyArrayToArray cudaMemcpy2DArrayToArray",
    "arrays of other libraries": "cudaGraphicsSubResourceGetMappedArray cuGraphicsSubResourceGetMappedArray",
    "views of textures": "cudaGetTextureObjectResourceViewDesc",
    "texture references": "cudaBindTexture cudaBindTexture2D cudaBindTextureToArray cudaBindTextureToMipmappedArray "
    "cudaUnbindTexture cudaGetTextureAlignmentOffset cudaGetTextureReference cuModuleGetTexRef cuTexRefGetAddress "
    "cuTexRefGetAddress_v2 cuTexRefGetAddressMode cuTexRefGetArray cuTexRefGetBorderColor cuTexRefGetFilterMode "
    "cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy cuTexRefGetMipmapFilterMode "
    "cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray cuTexRefSetAddress "
    "cuTexRefSetAddress_v2 cuTexRefSetAddress2D cuTexRefSetAddress2D_v2 cuTexRefSetAddress2D_v3 "
    "cuTexRefSetAddressMode cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode cuTexRefSetFlags "
    "cuTexRefSetFormat cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias "
    "cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray",
    "surface references": "cudaBindSurfaceToArray",
    "textures of the driver API": "cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc "
    "cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc",
    "surfaces of the driver API": "cuSurfObjectCreate cuSurfObjectDestroy",
    "arrays of the driver API": "cuArrayCreate cuArrayCreate_v2 cuArray3DCreate cuArray3DCreate_v2 cuArrayDestroy "
    "cuArrayGetDescriptor cuArrayGetDescriptor_v2 cuArray3DGetDescriptor cuArray3DGetDescriptor_v2 cuMemMapArrayAsync "
    "cuMemcpyAtoA cuMemcpyAtoA_v2 cuMemcpyAtoD cuMemcpyAtoD_v2 cuMemcpyAtoH cuMemcpyAtoH_v2 cuMemcpyAtoHAsync "
    "cuMemcpyAtoHAsync_v2 cuMemcpyDtoA cuMemcpyDtoA_v2 cuMemcpyHtoA cuMemcpyHtoA_v2 cuMemcpyHtoAAsync "
    "cuMemcpyHtoAAsync_v2",
}
_REFERENCES = {b"texture": "texture references", b"surface": "surface references"}
_ABSENT = {name.encode(): what for what, names in _KINDS.items() for name in names.split()} | _REFERENCES
"""What makes or takes arrays, textures or surfaces that are not the header's."""
_ABSENT_OF_ARRAYS = frozenset(
    b"cudaMemcpy3DPeer cudaMemcpy3DPeerAsync cudaMemcpy3DBatchAsync cudaGraphAddMemcpyNode "
    b"cudaGraphMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams cuGraphAddMemcpyNode cuGraphMemcpyNodeSetParams "
    b"cuGraphExecMemcpyNodeSetParams cuMemcpy2D cuMemcpy2D_v2 cuMemcpy2DAsync cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned "
    b"cuMemcpy2DUnaligned_v2 cuMemcpy3D cuMemcpy3D_v2 cuMemcpy3DAsync cuMemcpy3DAsync_v2 cuMemcpy3DBatchAsync "
    b"cuMemcpy3DBatchAsync_v2 cuMemcpy3DPeer cuMemcpy3DPeerAsync".split()
)
"""Copies that may be of arrays, which HIP would take for its own."""

RULE = Rule(
    name="texture-fetch",
    summary="texture or surface, on targets without texture units",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    where=Range(target={"textures": (False,)}),
    triggers=_FETCHES | _CALLS.keys() | _ABSENT.keys() | _ABSENT_OF_ARRAYS | {b"sRGB"},
    examples=(
        Example(
            "__device__ float f(cudaTextureObject_t t, int i) { return tex1Dfetch<float>(t, i); }\n",
            contains=("return rocport::tex1Dfetch<float>(t, i);", '#include "rocport_texture.h"'),
        ),
        Example(
            "__device__ void f(float4 *o, cudaTextureObject_t t, float x) { tex2D(o, t, x, 0.5f); }\n",
            contains=("rocport::tex2D(o, t, x, 0.5f)",),
        ),
        Example(
            "__global__ void k(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, threadIdx.x * 4, 0); }\n",
            contains=("rocport::surf2Dwrite(1.0f, s, threadIdx.x * 4, 0)",),
        ),
        Example(
            "void f(cudaArray_t a, const void *p) {\n  cudaMemcpy2DToArray(a, 0, 0, p, 64, 64, 8, "
            "cudaMemcpyHostToDevice);\n  cudaFreeArray(a);\n}\n",
            contains=("rocport::memcpy_2d_to_array(a, 0, 0, p, 64, 64, 8, hip", "rocport::free_array(a)"),
        ),
        Example(
            "void f(cudaMemcpy3DParms &p, cudaArray_t a) { p.dstArray = a; cudaMemcpy3D(&p); }\n",
            contains=("rocport::memcpy_3d(&p)",),
        ),
        Example(
            "using Free = decltype(&cudaFreeArray);\nvoid f(cudaArray_t a) { with(cudaFreeArray)(a); }\n",
            contains=("decltype(&rocport::free_array)", "with(rocport::free_array)(a)"),
        ),
        Example(
            "void f(cudaMemcpy3DPeerParms &p, cudaArray_t a) { p.dstArray = a; cudaMemcpy3DPeer(&p); }\n",
            contains=("Memcpy3DPeer(&p)",),
        ),
        Example(
            "void f(cudaArray_t *a, cudaChannelFormatDesc *d, cudaExtent e) {\n"
            "  unsigned flags = cudaArrayLayered | cudaArrayCubemap; cudaMalloc3DArray(a, d, e, flags);\n}\n"
        ),
        Example(
            "void f(cudaTextureObject_t *t, cudaResourceDesc *r, cudaTextureDesc *d, cudaResourceViewDesc *v) {\n"
            "  d->sRGB = 1; cudaCreateTextureObject(t, r, d, v);\n}\n"
        ),
        Example("static texture<float, cudaTextureType2D> image;\n"),
        Example("namespace volume { texture<float4, 3, cudaReadModeElementType> data; }\n"),
        Example("typedef texture<uchar4, 2> Image;\nvoid f(const texture<float, 1> &t);\n"),
        Example("__global__ void k(float *o) { *o = tex2D(image, 0.5f, 0.5f); }\n", contains=("tex2D(image",)),
        Example(
            "__device__ float4 f(cudaTextureObject_t t) { return tex2Dgather<float4>(t, 1, 2, 0); }\n",
            contains=("return tex2Dgather<float4>",),
        ),
    ),
    clean=(
        "template <class T> struct texture { T t; };\ntexture<int> here;\n",
        "struct Image { float tex2D; };\n__device__ float f(Image i) { return i.tex2D; }\n",
        "__device__ float tex2D(const float *p, int x);\n__device__ float g(const float *p) { return tex2D(p, 1); }\n",
        "void f(cudaMemcpy3DParms &p, cudaPitchedPtr a) { p.dstPtr = a; cudaMemcpy3D(&p); }\n",
        "void f(cudaMemcpy3DPeerParms &p) { cudaMemcpy3DPeer(&p); }\n",
        "void f(cudaTextureDesc *d, Image &i) { d->sRGB = 0; i.decode(sRGB); }\n",
        "#ifndef cudaFreeArray\nint a;\n#endif\n#if !defined(cudaMallocArray)\nint b;\n#endif\n",
    ),
    sources=(
        "hip/amd_detail/texture_fetch_functions.h: __HIP_NO_IMAGE_SUPPORT",
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (texture fetching)",
        "https://github.com/ROCm/legacy-rocm-build/issues/3420",
    ),
)


def without_textures(target: GfxTarget) -> bool:
    return target.textures is False


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bare = listed(without_textures)
    told = False
    for position in sorted(at for name in source.names & _FETCHES for at in source.find(name)):
        if not _is_fetch(source, position, context):
            continue
        edits = _software(source, position)
        yield _fetch(source, position, bare, edits, told)
        told = told or bool(edits)
    for name in sorted(source.names & (_CALLS.keys() | _ABSENT.keys() | _ABSENT_OF_ARRAYS)):
        if not context.project.arrays and (name in _OF_ARRAYS or name in _ABSENT_OF_ARRAYS):
            continue
        for position in source.find(name):
            if amd_only(source, position) or source.names_macro(position):
                continue
            if name in _REFERENCES and not _is_reference(source, position, context):
                continue
            yield _call(source, position, bare) if name in _CALLS else _absent(source, position, bare)
    for position, what in sorted(_refused(source)):
        yield _lacks(source, position, bare, what)


def _refused(source: CudaSource) -> Iterator[tuple[int, str]]:
    """What the header refuses when the program runs, where the text shows it."""
    for position in source.find(b"sRGB"):
        member = source.at(position - 1) in (b".", b"->") and source.at(position + 1) == b"="
        if member and source.at(position + 2) not in (b"0", b"false"):
            yield position, "conversion from sRGB"
    for position in source.find(b"cudaCreateTextureObject"):
        call = source.call(position)
        if call is not None and len(call.args) == 4 and source.at(call.args[3][0]) not in (b"0", b"NULL", b"nullptr"):
            yield call.args[3][0], "views of textures"


def _is_reference(source: CudaSource, position: int, context: Context) -> bool:
    """True for CUDA's template: `texture<float, 2> t;` of any scope, a typedef or a parameter of it."""
    end = source.angle_end(position + 1) if source.at(position + 1) == b"<" else None
    if end is None or source.at(position - 1) in (b".", b"->", b"::", b"class", b"struct"):
        return False
    if not source.is_ident(end + 1) and source.at(end + 1) not in (b"&", b"*", b";", b">", b",", b")"):
        return False
    return binder(source, context).bind(position).owner is not Owner.PROJECT


_BY_HAND = "textures that rocport_texture.h does not have"


def _absent(source: CudaSource, position: int, bare: str) -> Finding:
    name = source.at(position)
    if name in _ABSENT:
        return _lacks(source, position, bare, _ABSENT[name])
    return finding(
        RULE,
        source,
        position,
        f"{name.decode()} takes HIP's arrays, and those of {HEADER}, which stand for them on {bare}, are not",
        fix="copy arrays with cudaMemcpy3D or cudaMemcpy2DToArray; where no array is copied here, suppress this",
        holds=bare,
        cause=_BY_HAND,
    )


def _lacks(source: CudaSource, position: int, bare: str, what: str) -> Finding:
    return finding(
        RULE,
        source,
        position,
        f"{source.at(position).decode()}: {bare} have no texture unit, and {HEADER} has no {what}",
        fix="use texture objects of the runtime API over linear, pitched or array memory",
        holds=bare,
        cause=_BY_HAND,
    )


def _is_fetch(source: CudaSource, position: int, context: Context) -> bool:
    name = source.at(position)
    if name in context.project.device_functions or name in context.project.macros:
        return False
    if source.at(position - 1) in (b".", b"->") or source.at(position + 1) not in (b"(", b"<"):
        return False
    if source.qualified(position):
        return False
    view = branches(source, context.project.torch_extension)
    return not view.is_dead(source.starts[position]) and not amd_only(source, position)


def _software(source: CudaSource, position: int) -> list[Edit]:
    """The edit of a fetch from an object; none of one from a texture reference, or that the header lacks."""
    name = source.at(position)
    if name not in _COORDINATES and name not in _SURFACES:
        return []
    first = position - 1 if source.at(position - 1) == b"::" else position
    if name in _COORDINATES:
        template = source.at(position + 1) == b"<"
        call = source.call(position)
        # the form with a pointer has one argument more, and Lod fetches lack it; another may be for residency
        if call is None or len(call.args) != _COORDINATES[name] + (1 if template else 2):
            return []
        if not template and name in _WITHOUT_POINTER:
            return []
    return [Edit(Span(source.starts[first], source.end(position)), b"rocport::" + name)]


def _fetch(source: CudaSource, position: int, bare: str, edits: list[Edit], told: bool) -> Finding:
    name = source.at(position).decode()
    if not edits:
        return finding(
            RULE,
            source,
            position,
            f"{name}() does not compile for {bare}: they have no texture unit",
            fix="use a texture object and a fetch that rocport_texture.h has, or write filtering and clamping out",
            holds=bare,
            cause=_BY_HAND,
        )
    return finding(
        RULE,
        source,
        position,
        f"{name}() is computed in software, as {bare} have no texture unit"
        + ("" if told else f": {HEADER} filters and addresses as CUDA does, at the cost of its loads and arithmetic"),
        applicability=Applicability.SAFE if told else Applicability.REVIEW,
        edits=edits,
        headers=[HEADER],
        cause="textures in software",
        fix=""
        if told
        else "where the fetch only reads linear memory, an array access is faster; for targets with texture "
        "units alone, name them with --target",
        holds=bare,
    )


def _call(source: CudaSource, position: int, bare: str) -> Finding:
    name = source.at(position)
    first = position - 1 if source.at(position - 1) == b"::" else position
    if source.path.endswith(".c"):
        return finding(
            RULE,
            source,
            position,
            f"{name.decode()}(): HIP makes no arrays or textures on {bare}, and {HEADER} is for C++",
            fix="compile this file as C++, or make the object in a C++ file",
            holds=bare,
        )
    ported = b"rocport::" + _CALLS[name]
    if source.at(position - 1) in (b".", b"->") or source.qualified(position):
        return finding(
            RULE,
            source,
            position,
            f"{name.decode()} of another scope is not {ported.decode()} of {HEADER}, and HIP makes no arrays on {bare}",
            fix=f"have it call {ported.decode()} where it stands for {name.decode()}",
            holds=bare,
        )
    called = source.at(position + 1) == b"("
    # with a token beside it: wider than the edit that only renames
    begin, last = (first, position + 1) if called else (first - 1, position)
    text = ported + b"(" if called else source.data[source.starts[begin] : source.starts[first]] + ported
    return finding(
        RULE,
        source,
        position,
        f"{name.decode()}{'()' if called else ''} is {ported.decode()}{'()' if called else ''} of {HEADER}, as {bare} "
        "have no texture unit",
        last=last,
        applicability=Applicability.SAFE,
        edits=[Edit(Span(source.starts[begin], source.end(last)), text)],
        headers=[HEADER],
        holds=bare,
    )
