"""The CUDA-to-HIP tables: their shape, what they must know, and that real HIP headers declare what they name."""

from __future__ import annotations

import csv
import re
import subprocess
from itertools import chain

import pytest

from rocport.facts import symbols
from rocport.facts.errors import FactError
from rocport.facts.symbols import COLUMNS, FOLDER, Symbol, SymbolTableError, library
from rocport.model.versions import RocmVersion
from rocport.toolchain.compiler import ToolchainError
from rocport.toolchain.find import find

TABLE = symbols.load()
EVERY = [*TABLE.identifiers.values(), *TABLE.headers.values(), *TABLE.link_names.values(), *TABLE.namespaces.values()]
KINDS = {"function", "type", "enum", "macro", "header", "library", "namespace"}
CARE = ("arity: ", "type: ", "semantics: ", "use: ", "header: ", "drop: ", "settled: ")
CHANGE = re.compile(r"(~?\d+\.\d+)?$")


def hip(name: str) -> str:
    return TABLE.identifiers[name.encode()].hip


def test_a_library_without_counterpart_is_named_by_its_title_and_no_other() -> None:
    told = {symbol.library: symbols.without_counterpart(symbol) for symbol in EVERY}
    titles = {name: one.title for name, one in symbols.libraries().items() if one.applicability == "MANUAL"}
    titles.pop("others", None)
    assert titles.keys() & told.keys()
    assert told == {name: titles.get(name, "") for name in told}


def test_every_row_is_whole():
    for symbol in EVERY:
        assert symbol.kind in KINDS, symbol
        assert symbol.source and symbol.cuda, symbol
        assert not symbol.note or symbol.note.startswith(CARE), symbol
        assert CHANGE.match(symbol.since) and CHANGE.match(symbol.until), symbol
        assert symbol.hip or not (symbol.since or symbol.until), symbol
        assert symbol.note or symbol.hip != symbol.cuda or symbol.since or symbol.until, symbol
        if symbol.since and symbol.until:
            since, until = (RocmVersion.parse(v.lstrip("~")) for v in (symbol.since, symbol.until))
            assert since < until, symbol


def test_a_name_is_in_one_table_only():
    seen: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*/symbols.csv")):
        for row in csv.DictReader(path.open(encoding="utf-8")):
            if row["kind"] not in ("header", "library", "namespace"):
                assert seen.setdefault(row["cuda"], path.parent.name) == path.parent.name, row


def test_no_row_would_hit_ordinary_code():
    ordinary = {"clock", "clock64", "htanh", "h2tanh", "h2tanh_approx", "htanh_approx", "textureReference"}
    theirs = re.compile(r"(?i)_*(p?nccl|nv|nvtx|nvrtc|nvml|cu|cub|thrust_|mtgp32|max_cufft|make_|atomic|hal)|__")
    for name in TABLE.identifiers:
        text = name.decode()
        allowed = theirs.match(text) or text in ordinary
        assert allowed or re.match(r"(csr|bsr|prune|syevj|gesvdj|surfaceRef|libraryProp)", text), text


@pytest.mark.parametrize(
    ("cuda", "expected"),
    [
        ("cudaMalloc", "hipMalloc"),
        ("cudaThreadSynchronize", "hipDeviceSynchronize"),
        ("cudaDeviceProp", "hipDeviceProp_t"),
        ("cudaDevAttrMultiProcessorCount", "hipDeviceAttributeMultiprocessorCount"),
        ("cuMemAlloc_v2", "hipMalloc"),
        ("cuLaunchKernel", "hipModuleLaunchKernel"),
        ("CUdeviceptr", "hipDeviceptr_t"),
        ("CUDA_SUCCESS", "hipSuccess"),
        ("CUDA_R_16BF", "HIP_R_16BF"),
        ("cublasSgemm_v2", "hipblasSgemm"),
        ("CUBLAS_OP_N", "HIPBLAS_OP_N"),
        ("cublasLtMatmul", "hipblasLtMatmul"),
        ("cufftExecC2C", "hipfftExecC2C"),
        ("CUFFT_INVERSE", "HIPFFT_BACKWARD"),
        ("curandState", "hiprandState"),
        ("curandStatePhilox4_32_10_t", "hiprandStatePhilox4_32_10_t"),
        ("curand_poisson", "hiprand_poisson"),
        ("cusparseScsrmv", "hipsparseScsrmv"),
        ("cusparseSpMV", "hipsparseSpMV"),
        ("cusolverDnSgetrf", "hipsolverDnSgetrf"),
        ("nvrtcGetPTX", "hiprtcGetCode"),
        ("nvtxRangePushA", "roctxRangePushA"),
        ("__nv_bfloat16", "__hip_bfloat16"),
        ("__nv_fp8_e4m3", "__hip_fp8_e4m3"),
        ("make_cuComplex", "make_hipComplex"),
        ("make_cudaExtent", "make_hipExtent"),
    ],
)
def test_known_names(cuda, expected):
    assert hip(cuda) == expected


@pytest.mark.parametrize(
    "cuda",
    ["__nanosleep", "__dp4a", "__vadd2", "__ldcg", "__trap", "cublasInit", "cudnnCreate", "nvmlInit_v2", "cuMemcpy"],
)
def test_what_hip_lacks_is_empty(cuda):
    name = cuda if cuda.encode() in TABLE.identifiers else cuda.removesuffix("_v2")
    assert hip(name) == ""


def test_notes_say_where_a_call_differs():
    assert TABLE.identifiers[b"cusparseSpSM_solve"].note.startswith("arity: 10 arguments")
    assert TABLE.identifiers[b"cublasSgetriBatched"].note == "type: argument 5 is not const"
    assert not TABLE.identifiers[b"cudaMemcpyToSymbol"].note, "HIP_SYMBOL(x) is x on AMD"
    assert "hipErrorNotSupported" in TABLE.identifiers[b"cuCtxSynchronize"].note
    assert b"cudaMemcpy" in TABLE.identifiers and not TABLE.identifiers[b"cudaMemcpy"].note


def test_headers_and_libraries():
    assert TABLE.headers["cublas_v2.h"].hip == "hipblas/hipblas.h"
    assert TABLE.headers["cub/block/block_radix_sort.cuh"].hip == "hipcub/block/block_radix_sort.hpp"
    assert TABLE.headers["cub/device/device_reduce.cuh"].hip == "hipcub/hipcub.hpp", "with the block's classes"
    assert TABLE.headers["cooperative_groups/reduce.h"].hip == ""
    assert TABLE.header("cuda/std/array") is TABLE.headers["cuda/std/*"]
    assert TABLE.header("cutlass/gemm/device/gemm.h") is TABLE.headers["cutlass/*"]
    assert TABLE.header("my/own.h") is None
    assert TABLE.link_names["cublas"].hip == "hipblas"
    assert TABLE.namespaces["cub"].hip == "hipcub"


def test_every_library_is_whole():
    for name, entry in TABLE.libraries.items():
        assert entry.name == name and entry.title and entry.sources
        assert entry.applicability in {"SAFE", "REVIEW", "MANUAL"}
        rows = {s.cuda: s.hip for s in chain(TABLE.headers.values(), TABLE.link_names.values()) if s.library == name}
        for spelled, theirs in {**entry.headers, **entry.link}.items():
            assert rows.get(spelled, theirs) == theirs
        if entry.names:
            assert entry.cuda_releases and re.compile(entry.names)
        names = [s.cuda for s in TABLE.identifiers.values() if s.library == name]
        assert not names or entry.cuda_releases
    assert library("cublas").cmake["CUDA::cublas"] == "roc::hipblas"
    with pytest.raises(FactError, match="cublas"):
        library("cublass")


def of(since: str = "", until: str = "", name: str = "hipX") -> Symbol:
    return Symbol("cudaX", name, "function", "cublas", since, until, "", "a test")


@pytest.mark.parametrize(
    ("symbol", "version", "expected"),
    [
        (of(), "6.0", True),
        (of(name=""), "6.0", False),
        (of("6.2"), "6.1.3", False),
        (of("6.2"), "6.2", True),
        (of("~6.4"), "6.2", False),
        (of("~6.4"), "6.3", None),
        (of("~6.4"), "7.0", True),
        (of(until="6.2"), "6.1", True),
        (of(until="6.2"), "6.2", False),
        (of(until="~10.0"), "6.4", True),
        (of(until="~10.0"), "7.0", None),
        (of(until="~10.0"), "10.0", False),
        (of("6.0", "~10.0"), "5.7", False),
    ],
)
def test_declared_in(symbol, version, expected):
    assert symbol.declared_in(RocmVersion.parse(version)) is expected


def test_a_broken_table_is_named_with_its_line(tmp_path, monkeypatch):
    folder = tmp_path / "cublas"
    folder.mkdir()
    (folder / "symbols.csv").write_text(",".join(COLUMNS) + "\ncublasX,hipblasX,function\n")
    monkeypatch.setattr(symbols, "FOLDER", tmp_path)
    with pytest.raises(SymbolTableError, match=r"symbols\.csv:2: expected 7 fields"):
        symbols.load.__wrapped__()
    (folder / "symbols.csv").write_text("cuda,hip\n")
    with pytest.raises(SymbolTableError, match=r"symbols\.csv:1: expected the columns"):
        symbols.load.__wrapped__()


INCLUDES = {
    "core": (
        ("runtime", "driver", "nvrtc", "complex", "fp16", "bf16", "fp8", "intrinsics"),
        (
            "hiprtc.h",
            "library_types.h",
            "hip_math_constants.h",
            "hip_complex.h",
            "hip_fp16.h",
            "hip_bf16.h",
            "hip_fp8.h",
            "hip_gl_interop.h",
        ),
    ),
    "cublas": (("cublas",), ("hipblas/hipblas.h",)),
    "cufft": (("cufft",), ("hipfft/hipfft.h", "hipfft/hipfftXt.h")),
    "curand": (("curand",), ("hiprand/hiprand.h", "hiprand/hiprand_kernel.h", "hiprand/hiprand_mtgp32_host.h")),
    "cusparse": (("cusparse",), ("hipsparse/hipsparse.h",)),
    "cusolver": (("cusolver",), ("hipsolver/hipsolver.h",)),
}


@pytest.mark.parametrize("name", INCLUDES)
def test_real_headers_declare_what_the_tables_name(name, tmp_path):
    """`using ::name;` compiles for functions, types and enumerators, whatever their overloads."""
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {str(error).splitlines()[0]}")
    libraries, headers = INCLUDES[name]
    version = RocmVersion.parse(toolchain.rocm_version) if toolchain.rocm_version else RocmVersion.parse("6.4")
    lines = ["#define HIP_ENABLE_WARP_SYNC_BUILTINS", "#define HIPBLAS_V2", "#include <hip/hip_runtime.h>"]
    lines += [f"#include <{h if '/' in h else 'hip/' + h}>" for h in headers]
    lines.append("namespace check {")
    names = {s.hip for s in TABLE.identifiers.values() if s.library in libraries and s.declared_in(version)}
    names.discard("int")  # cusolver_int_t
    for each in sorted(names):
        lines += [f"#ifndef {each}", f"using ::{each};", "#endif"]
    source = tmp_path / "names.hip"
    source.write_text("\n".join([*lines, "}", ""]))
    command = toolchain.compile_command(source, "gfx942", mode="syntax", std="c++17", extra=["-w", "-ferror-limit=0"])
    result = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    wrong = re.findall(r"error: (.*)", result.stderr)
    assert len(names) > 100 and not wrong, wrong


@pytest.mark.parametrize(
    ("header", "ours"),
    [
        ("cuda/barrier", "rocport_barrier.h"),
        ("cuda/pipeline", "rocport_barrier.h"),
        ("cuda_pipeline.h", "rocport_pipeline.h"),
        ("cuda_pipeline_primitives.h", "rocport_pipeline.h"),
        ("nv/target", "rocport_std.h"),
        ("thrust/system/cuda/experimental/pinned_allocator.h", "rocport_thrust.h"),
    ],
)
def test_a_header_that_the_port_carries_is_named(header, ours):
    assert symbols.load().headers[header].note.startswith(f"use: {ours} which the port carries")


def test_a_family_answers_names_without_rows():
    text = b"x = CUBLASLT_MATMUL_TILE_64x64 | CUBLASLT_MATMUL_DESC_COMPUTE_TYPE; enum CUdevice_P2PAttribute_enum a;"
    found = symbols.in_families(text)
    assert found == {b"CUBLASLT_MATMUL_TILE_64x64", b"CUdevice_P2PAttribute_enum"}
    tile = symbols.of_family(b"CUBLASLT_MATMUL_TILE_64x64")
    tag = symbols.of_family(b"CUdevice_P2PAttribute_enum")
    assert tile is not None and tile.hip == "" and tile.note.startswith("use: ")
    assert tag is not None and tag.hip == "hipDeviceP2PAttr"
    assert symbols.of_family(b"CUgreenCtx_st").hip == "", "a handle's typedef is a pointer to the tag"
    assert symbols.of_family(b"cuMemAlloc") is None


def test_a_name_of_a_family_is_a_whole_word_and_begins_as_all_do():
    text = b"MY_CUBLASLT_MATMUL_TILE_64x64 CUmode_enum_t xCUmode_enum CUDA_A_v2_st CUDA_A_v2_stb\xe9CUmode_enum"
    assert symbols.in_families(text) == {b"CUDA_A_v2_st", b"CUmode_enum"}
    names = [family.names for owner in symbols.libraries().values() for family in owner.families]
    alternatives = [part for one in names for part in re.split(r"\|(?![^(]*\))", one)]
    assert len(alternatives) >= 5 and all(part.startswith("CU") for part in alternatives)
