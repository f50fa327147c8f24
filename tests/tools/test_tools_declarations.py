"""What the header reader takes for a declaration, on the shapes that vendor headers really have."""

from __future__ import annotations

import declarations as d
import pytest


def read(text: str) -> dict[str, d.Declaration]:
    return {declaration.name: declaration for declaration in d.parse(text, "x.h").declarations}


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("extern __host__ cudaError_t CUDARTAPI cudaFree(void *p);", "cudaFree", 1),
        ("CUresult CUDAAPI cuInit(unsigned int flags);", "cuInit", 1),
        ("CUSPARSE_DEPRECATED(other) cusparseStatus_t CUSPARSEAPI cusparseCsrmv(int a, int b);", "cusparseCsrmv", 2),
        ("hipError_t hipInit(void) __attribute__((deprecated(\"no\")));", "hipInit", 0),
        ("template <typename T> static inline __device__ T __shfl(T v, int l, int w = 32) { return v; }", "__shfl", 3),
        ("__SM_70_RT_DECL__ void __nanosleep(unsigned int ns) __DEF_IF_HOST", "__nanosleep", 1),
        ("__half2 __lows2half2(const __half2 a,\n  const __half2 b) __THROW;", "__lows2half2", 2),
        ("static struct cudaExtent make_cudaExtent(size_t w, size_t h) { struct x e; }", "make_cudaExtent", 2),
        ("int f(int (*callback)(int, int), int b);", "f", 2),
    ],
)  # fmt: skip
def test_functions(text, name, count):
    found = read(text)[name]
    assert found.kind == d.FUNCTION and found.parameters is not None and len(found.parameters) == count


def test_types_in_all_spellings():
    found = read(
        "typedef struct CUctx_st *CUcontext;\ntypedef enum cudaX_enum { cudaXa = 1, cudaXb } cudaX_t;\n"
        "struct __device_builtin__ cudaProp { int a; int f(int); };\ntypedef void (*cudaHostFn_t)(void *);\n"
        "typedef struct cudnnFilterStruct *cudnnFilterDescriptor_t CUDNN_DEPRECATED;\nusing hipY = int;\n"
        "typedef unsigned long long CUdeviceptr_v2, *other;\nenum class Kind : int { kOne };\n"
    )
    types = {n for n, found in found.items() if found.kind == d.TYPE}
    assert types >= {"CUcontext", "cudaX_t", "cudaX_enum", "cudaProp", "cudaHostFn_t", "cudnnFilterDescriptor_t"}
    assert types >= {"hipY", "CUdeviceptr_v2", "other", "Kind"}
    assert "CUDNN_DEPRECATED" not in found and "f" not in found
    assert found["cudaXa"].kind == d.ENUM and found["cudaXa"].value == "1" and found["kOne"].kind == d.ENUM


def test_macros_and_their_aliases():
    found = read("#define cublasSgemm cublasSgemm_v2\n#define N 0x10\n  #  define F(a, b) \\\n g(a, b)\n")
    assert found["cublasSgemm"].alias == "cublasSgemm_v2"
    assert found["N"].kind == d.MACRO and found["N"].value == "0x10"
    assert found["F"].parameters == ("a", "b") and found["F"].alias == "g"


def test_nothing_is_read_from_comments_strings_bodies_and_records():
    found = read(
        '/* int a(); */ // int b();\nstruct s { int c(); };\nvoid e() { int g(); h(1); }\nconst char *t = "int i();";\n'
    )
    assert set(found) == {"s", "e", "t"}


def test_branches_that_open_the_same_brace():
    found = read("#if A\nint f(int a) {\n#else\nint g(int a, int b) {\n#endif\n  return 0;\n}\nint after(void);\n")
    assert {"f", "g", "after"} <= set(found)


def test_what_no_library_exports_is_known():
    found = read("static inline int a(int) { return 0; }\ntemplate <class T> int b(T);\nint c(int);\n")
    assert found["a"].inline and found["b"].inline and not found["c"].inline


def test_bytes_that_are_not_utf8(tmp_path):
    path = tmp_path / "old.h"
    path.write_bytes(b"/* \xa9 */ int cudaOld(int a);\r\n")
    assert [x.name for x in d.read(path).declarations] == ["cudaOld"]


def test_stubs(tmp_path):
    path = tmp_path / "hip.pyi"
    path.write_text(
        "HIP_VERSION: Any\n\nclass hipError_t(enum.IntEnum):\n    hipSuccess: int\n\n"
        "class hipProp(Pointer):\n    width: int\n\n"
        'def hipCopy(dst, src):\n    r"""Copy.\n\n    .. rubric:: C signature\n\n    .. code-block:: c\n\n'
        "        hipError_t hipCopy(void * dst, hipArray_t src)\n"
        '    """\n    ...\n'
    )
    found = {x.name: x for x in d.read_stub(path).declarations}
    assert found["hipCopy"].parameters == ("void * dst", "hipArray_t src")
    assert found["hipSuccess"].kind == d.ENUM and found["hipProp"].kind == d.TYPE and "width" not in found
    assert found["hipArray_t"].kind == d.TYPE and found["HIP_VERSION"].kind == d.MACRO
