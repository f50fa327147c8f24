"""What goes to rocport_texture.h and what HIP keeps: an array is of one of them, in the whole project."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocport import api
from rocport.facts import symbols
from rocport.model import Applicability
from rocport.rules.cuda.texture_fetch import RULE
from rocport.scan.config import Settings

_OF_ARRAYS = re.compile(
    rb"cu(da)?[A-Z]\w*?(Array|Texture|TexRef|TexObject|Surf|Mipmap|Memcpy3D|MemcpyNode)|cuMemcpy(2D|Ato|.toA)"
)
_OF_POINTERS = re.compile(rb"cudaGraph\w*(1D|FromSymbol|ToSymbol)$|cu(da)?GraphMemcpyNodeGetParams|\w*LinearMaxWidth")


def test_every_function_of_arrays_that_hip_has_is_the_headers_or_is_told() -> None:
    functions = {
        name
        for name, symbol in symbols.load().identifiers.items()
        if symbol.kind == "function" and symbol.hip
        if _OF_ARRAYS.match(name) and not _OF_POINTERS.match(name)
    }
    assert len(functions) > 70
    assert functions - RULE.triggers == set()


def _port(folder: Path, **files: str) -> api.Patch:
    (folder / "cuda").mkdir()
    for name, text in files.items():
        (folder / "cuda" / f"{name}.cu").write_text(text)
    patch = api.port(folder / "cuda", Settings(target=("gfx942",)))
    api.apply(patch, folder / "hip")
    return patch


@pytest.mark.parametrize(
    "use",
    [
        "std::unique_ptr<cudaArray, decltype(&cudaFreeArray)> p(a, &cudaFreeArray);",
        "CALL(cudaFreeArray)(a);",
        "auto f = ::cudaFreeArray;",
        "Later later{\n  // when done\n  cudaFreeArray};",
    ],
)
def test_a_function_of_arrays_that_is_a_value_is_the_headers(tmp_path: Path, use: str) -> None:
    text = f"#include <memory>\nvoid f(cudaArray_t &a) {{\n  cudaMallocArray(&a, 0, 1);\n  {use}\n}}\n"
    _port(tmp_path, a=text)
    ported = (tmp_path / "hip" / "a.cu").read_text()
    assert "hipFreeArray" not in ported and "cudaFreeArray" not in ported
    assert ported.count("rocport::free_array") == text.count("cudaFreeArray")
    assert "rocport::malloc_array(&a, 0, 1)" in ported


def test_a_macro_that_stands_for_a_function_of_arrays_is_the_headers(tmp_path: Path) -> None:
    _port(tmp_path, a="#define FREE cudaFreeArray\nvoid f(cudaArray_t a) { FREE(a); }\n")
    assert "#define FREE rocport::free_array\n" in (tmp_path / "hip" / "a.cu").read_text()


def test_a_member_of_the_name_is_told(tmp_path: Path) -> None:
    patch = _port(tmp_path, a="void f(Api &api, cudaArray_t a) { api.cudaFreeArray(a); Api::cudaFreeArray(a); }\n")
    told = [item for item in patch.findings if item.rule == "texture-fetch"]
    assert [item.applicability for item in told] == [Applicability.MANUAL] * 2


COPY = "void copy(cudaMemcpy3DParms *p) { cudaMemcpy3D(p); }\n"


def test_a_copy_is_the_headers_where_another_file_has_arrays(tmp_path: Path) -> None:
    _port(tmp_path, a=COPY, b="void g(cudaMemcpy3DParms &p, cudaArray_t a) { p.dstArray = a; copy(&p); }\n")
    assert "rocport::memcpy_3d(p)" in (tmp_path / "hip" / "a.cu").read_text()


def test_a_copy_is_hips_where_no_file_has_arrays(tmp_path: Path) -> None:
    _port(tmp_path, a=COPY)
    assert "hipMemcpy3D(p)" in (tmp_path / "hip" / "a.cu").read_text()


def test_a_fetch_that_asks_for_residency_is_told(tmp_path: Path) -> None:
    fetch = "__device__ float f(cudaTextureObject_t t, bool *there) { return tex2D<float>(t, 1.f, 2.f, there); }\n"
    patch = _port(tmp_path, a=fetch)
    assert any(item.applicability is Applicability.MANUAL and "tex2D" in item.message for item in patch.findings)


def test_a_macro_of_the_project_for_a_function_of_arrays_is_no_part_of_the_header(tmp_path: Path) -> None:
    shim = "#ifdef __HIPCC__\n#define cudaFreeArray hipFreeArray\n#endif\n"
    own = "#define cudaMallocArray(a, d, w) traced(a, d, w)\nvoid g(cudaArray_t *a) { cudaMallocArray(a, 0, 4); }\n"
    _port(tmp_path, a=f"{shim}void f(cudaArray_t a) {{ cudaMallocArray(&a, 0, 4); cudaFreeArray(a); }}\n", b=own)
    assert (tmp_path / "hip" / "a.cu").read_text().count("rocport::free_array") == 1
    assert "#define cudaFreeArray hipFreeArray" in (tmp_path / "hip" / "a.cu").read_text()
    assert "rocport::malloc_array" not in (tmp_path / "hip" / "b.cu").read_text()
