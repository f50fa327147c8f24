# SPDX-License-Identifier: Apache-2.0
"""A function over batches, or with 64-bit sizes, is made of the plain one only where their parameters correspond."""

from __future__ import annotations

from rocport.executor.isa.runtime.declarations import read_declarations
from rocport.executor.isa.runtime.derived import derived

_TEXT = """
status_t scal(handle_t h, int n, const double* alpha, double* x, int incx);
status_t scalBatched(handle_t h, int n, const double* alpha, double* const x[], int incx, int batchCount);
status_t scalStridedBatched(handle_t h, int n, const double* alpha, double* x, int incx, hipblasStride stridex,
                            int batchCount);
status_t scal_64(handle_t h, int64_t n, const double* alpha, double* x, int64_t incx);
status_t scalBatched_64(handle_t h, int64_t n, const double* alpha, double* const x[], int64_t incx,
                        int64_t batchCount);
status_t norm(handle_t h, int n, const void* x, void* result);
status_t normBatched(handle_t h, int n, const void* const x[], int batchCount, void* result);
status_t amax(handle_t h, int n, const double* x, int* result);
status_t amax_64(handle_t h, int64_t n, const double* x, int64_t* result);
status_t other(handle_t h, int n);
status_t otherBatched(handle_t h, int n, int extra, int batchCount);
status_t lone_64(handle_t h, int64_t n);
"""


def test_what_corresponds_is_made_and_nothing_else() -> None:
    made = derived(read_declarations(_TEXT, ("status_t",)), {"scal", "norm", "amax", "other"}, 7)
    assert sorted(made) == ["scalBatched", "scalBatched_64", "scalStridedBatched", "scal_64"]
    assert "scal(h, n, (const double*)(alpha), (double*)(x[rpx_i]), incx)" in made["scalBatched"]
    assert "(double*)(x + rpx_i * stridex), incx)" in made["scalStridedBatched"]
    assert "{n, incx}" in made["scal_64"]
    assert "static_cast<status_t>(7); return scal(h, static_cast<int>(n)" in made["scal_64"]


def test_what_is_served_is_left_alone() -> None:
    assert not derived(
        read_declarations(_TEXT, ("status_t",)), {"scal", "scalBatched", "scal_64", "norm"}, 7
    ).keys() & {
        "scalBatched",
        "scal_64",
    }
