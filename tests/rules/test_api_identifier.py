"""Names of the API: where the note beside one asks for nothing."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("0", "safe"),
        ("-1", "safe"),
        ("cudaCpuDeviceId", "safe"),
        ("dev", "safe"),
        ("{cudaMemLocationTypeDevice, dev}", "review"),
        ("where(dev)", "review"),
        ("place", "review"),
        ("elsewhere", "review"),
        ("at.place", "review"),
    ],
)
def test_a_device_is_a_number_in_cuda_12_and_in_hip(given: str, answer: str) -> None:
    text = (
        "void f(void *p, size_t n, int dev, Place place) {\n"
        f"  cudaMemAdvise(p, n, cudaMemAdviseSetPreferredLocation, {given});\n}}\n"
    ).encode()
    findings = scan_cuda("a.cu", text, Context(Options(), build_index(["a.cu"], [names_of(text)])))
    (found,) = (item for item in findings if item.message.startswith("cudaMemAdvise is"))
    assert found.applicability.value == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('#define GET(tail) cudaGetDriverEntryPoint("x", tail)', "review"),
        ('#define GET(args...) cudaGetDriverEntryPoint("x", args)', "review"),
        ('#define GET(p) cudaGetDriverEntryPoint("x", &p)', "manual"),
        ('void f(void **p) { cudaGetDriverEntryPoint("x", p); }', "manual"),
    ],
)
def test_a_parameter_of_a_macro_may_be_several_arguments(text: str, answer: str) -> None:
    findings = scan_cuda("a.cu", text.encode(), Context(Options(), build_index(["a.cu"], [names_of(text.encode())])))
    (found,) = (item for item in findings if item.message.startswith("cudaGetDriverEntryPoint is"))
    assert found.applicability.value == answer


def test_the_note_on_a_function_s_arguments_is_for_who_calls_it() -> None:
    text = "void *a = (void *)cublasCgetriBatched;\nvoid f() { cublasCgetriBatched(0, 1, 0, 1, 0, 0, 1, 0, 2); }\n"
    found = scan_cuda("a.cu", text.encode(), Context(Options(), build_index(["a.cu"], [names_of(text.encode())])))
    assert {(item.line, item.applicability.value) for item in found if "getriB" in item.message} == {
        (1, "safe"),
        (2, "review"),
    }


@pytest.mark.parametrize("undefined", ["", "#undef {0}\n"])
@pytest.mark.parametrize(
    ("name", "hip", "kept"),
    [("cudaDeviceMapHost", "hipDeviceMapHost", True), ("cudaMalloc", "hipMalloc", True), ("cudaFree", "traced", False)],
)
def test_a_macro_that_is_hips_name_already_is_no_macro_of_itself(
    name: str, hip: str, kept: bool, undefined: str
) -> None:
    shim = f"#ifdef __HIPCC__\n{undefined.format(name)}#define {name} {hip}\n#endif\n"
    text = f"{shim}void f() {{ g({name}); }}\n".encode()
    found = scan_cuda("a.cu", text, Context(Options(), build_index(["a.cu"], [names_of(text)])))
    edits = sorted(
        (edit.span.start, edit.text) for item in found for edit in item.edits if edit.text.startswith(b"hip")
    )
    used = text.rindex(name.encode())
    renamed = f"hip{name.removeprefix('cuda')}".encode()
    assert (used, renamed) in edits
    assert [start for start, _ in edits if start != used] == (
        [] if kept else [at for at in range(used) if text.startswith(name.encode(), at)]
    )
