"""Thrust algorithms whose header is only included by another header of NVIDIA's Thrust.

A source that calls `thrust::sequence` with nothing but `<thrust/device_vector.h>` compiles with nvcc because NVIDIA's
headers include one another; rocThrust's include less. The port includes the header that declares the algorithm, which
is right on both platforms.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import included

# Header (below thrust/) -> the names it declares where they are not the header's own.
_ALSO = {
    "adjacent_difference": (),
    "binary_search": ("lower_bound", "upper_bound", "equal_range"),
    "copy": ("copy_if", "copy_n"),
    "count": ("count_if",),
    "device_ptr": ("device_pointer_cast",),
    "device_vector": (),
    "equal": (),
    "execution_policy": ("device", "host", "seq"),
    "extrema": ("min_element", "max_element", "minmax_element"),
    "fill": ("fill_n",),
    "find": ("find_if", "find_if_not"),
    "for_each": ("for_each_n",),
    "functional": ("plus", "minus", "multiplies", "maximum", "minimum", "greater", "less", "identity"),
    "gather": ("gather_if",),
    "generate": ("generate_n",),
    "host_vector": (),
    "inner_product": (),
    "iterator/constant_iterator": ("constant_iterator", "make_constant_iterator"),
    "iterator/counting_iterator": ("counting_iterator", "make_counting_iterator"),
    "iterator/permutation_iterator": ("permutation_iterator", "make_permutation_iterator"),
    "iterator/reverse_iterator": ("reverse_iterator", "make_reverse_iterator"),
    "iterator/transform_iterator": ("transform_iterator", "make_transform_iterator"),
    "iterator/zip_iterator": ("zip_iterator", "make_zip_iterator"),
    "logical": ("all_of", "any_of", "none_of"),
    "merge": ("merge_by_key",),
    "mismatch": (),
    "pair": ("make_pair",),
    "partition": ("stable_partition", "partition_copy"),
    "reduce": ("reduce_by_key",),
    "remove": ("remove_if", "remove_copy", "remove_copy_if"),
    "replace": ("replace_if", "replace_copy"),
    "reverse": ("reverse_copy",),
    "scan": ("inclusive_scan", "exclusive_scan", "inclusive_scan_by_key", "exclusive_scan_by_key"),
    "scatter": ("scatter_if",),
    "sequence": (),
    "set_operations": ("set_union", "set_intersection", "set_difference", "set_symmetric_difference"),
    "sort": ("sort_by_key", "stable_sort", "stable_sort_by_key", "is_sorted"),
    "swap": (),
    "tabulate": (),
    "transform": ("transform_if",),
    "transform_reduce": (),
    "transform_scan": ("transform_inclusive_scan", "transform_exclusive_scan"),
    "tuple": ("make_tuple", "tie"),
    "uninitialized_fill": ("uninitialized_fill_n",),
    "unique": ("unique_copy", "unique_by_key", "unique_by_key_copy"),
}
_HEADER = {
    name.encode(): header
    for header, also in _ALSO.items()
    for name in (*also, *([header] if "/" not in header else []))
    if name not in ("functional", "execution_policy", "logical", "set_operations", "extrema", "scan")
}

RULE = Rule(
    name="thrust-include",
    summary="Thrust header that only NVIDIA's headers include",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"thrust"}),
    examples=(
        Example(
            "#include <thrust/device_vector.h>\nvoid f(int *a) { thrust::sequence(thrust::device, a, a + 4); }\n",
            contains=("#include <thrust/sequence.h>\n", "#include <thrust/execution_policy.h>\n"),
        ),
    ),
    clean=(
        "#include <thrust/sort.h>\nvoid f(int *a) { thrust::sort(a, a + 4); }\n",
        "namespace mine { void sequence(int *); }\nvoid g(int *a) { mine::sequence(a); }\n",
    ),
    sources=("include lists of rocThrust 6.4's headers beside those of CCCL",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    have = set(included(source))
    for position in source.find(b"thrust"):
        if source.at(position + 1) != b"::":
            continue
        header = _HEADER.get(source.at(position + 2))
        if header is None or f"thrust/{header}.h" in have:
            continue
        have.add(f"thrust/{header}.h")
        yield finding(
            RULE,
            source,
            position,
            f"thrust::{source.at(position + 2).decode()} is declared in thrust/{header}.h, which rocThrust's other "
            "headers need not include",
            last=position + 2,
            headers=[f"<thrust/{header}.h>"],
        )
