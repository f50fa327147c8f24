"""CUDA's types that are no numbers of C's: those of `vector_types.h`, `uchar4` and `float2`, and those of 16 bits."""

SCALARS = tuple(b"char uchar short ushort int uint long ulong longlong ulonglong float double".split())
"""What stands before the number of components."""
VECTORS = frozenset(kind + number for kind in SCALARS for number in (b"1", b"2", b"3", b"4"))
HALVES = frozenset(b"half half2 __half __half2 nv_bfloat16 nv_bfloat162 __nv_bfloat16 __nv_bfloat162".split())
"""The types of 16 bits, and of two of them, of `cuda_fp16.h` and `cuda_bf16.h`."""
