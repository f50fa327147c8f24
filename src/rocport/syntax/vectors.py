"""CUDA's vector types, of `vector_types.h`: `uchar4`, `float2`."""

SCALARS = tuple(b"char uchar short ushort int uint long ulong longlong ulonglong float double".split())
"""What stands before the number of components."""
