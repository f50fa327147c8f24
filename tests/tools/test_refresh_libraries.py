"""The derivation, on small headers of two CUDA and three ROCm releases."""

from __future__ import annotations

from pathlib import Path

import compare_translators as other
import pytest
import refresh_libraries as r

from rocport.facts.symbols import Symbol, SymbolTable

TOML = """
title = "x"
counterpart = "y"
applicability = "REVIEW"
sources = ["a test"]
[cuda]
read = ["cux.h"]
names = '^(cux|CUX_)'
skip = '_H$'
[hip]
read = ["hipx.h"]
stubs = ["hipx.pyi"]
api = ["hipx.h"]
[rename]
rules = [["^cux", "hipx"], ["^CUX_", "HIPX_"], ["^CUX_", "hipx"]]
squeeze = true
[headers]
"cux.h" = "hipx/hipx.h"
[link]
cux = "hipx"
"""
CUDA_11 = "#define CUX_H\n#define cuxCopy cuxCopy_v2\nint cuxCopy_v2(void *d, const void *s);\nint cuxOld(int);\n"
CUDA_13 = (
    "typedef struct cuxHandle_st *cuxHandle;\nint cuxCopy(void *d, const void *s, int how);\n"
    "int cuxRead(const int *a);\nint cuxUse(cuxHandle h, int n);\nint cuxNone(void);\n"
    "enum cuxE { CUX_OP_N, CUX_STATUS_GONE };\nint cuxNew(int a);\n"
)
HIP_60 = "int hipxCopy(void *d, const void *s);\nint hipxRead(int *a);\nenum hipxE { HIPX_OP_N, HIPX_STATUS_GONE };\n"
HIP_64 = (
    HIP_60.replace(", HIPX_STATUS_GONE", "")
    + "int hipxUse(hipxHandle_t h, int n);\ntypedef void *hipxHandle_t;\nint hipx_Old(int);\n"
)
STUB = "".join(
    f'def {name}({names}):\n    r"""\n    .. rubric:: C signature\n\n        int {name}({signature})\n    """\n'
    for name, names, signature in (
        ("hipxCopy", "d, s", "void * d, const void * s"),
        ("hipxRead", "a", "int * a"),
        ("hipxUse", "h, n", "hipxHandle_t h, int n"),
        ("hipxNew", "a", "int a"),
    )
) + "class hipxE(enum.IntEnum):\n    HIPX_OP_N: int\n"  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "cuda11/cux.h": CUDA_11,
        "cuda13/cux.h": CUDA_13,
        "hip60/hipx/hipx.h": HIP_60,
        "hip64/hipx/hipx.h": HIP_64,
        "stubs/hipx.pyi": STUB,
        "x/library.toml": TOML,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def derive(folder: Path) -> dict[str, r.Row]:
    cuda = [r.Release("11.8", [folder / "cuda11"]), r.Release("13.0", [folder / "cuda13"])]
    hip = [
        r.Release("6.0", [folder / "hip60"]),
        r.Release("6.4", [folder / "hip64"]),
        r.Release("10.0", [folder / "stubs"], stub=True),
    ]
    refresh = r.Refresh(folder / "x", cuda, hip, {})
    matches = refresh.matches()
    types = {c: h for c, h in matches.items() if h}
    types.update(dict(refresh.votes(matches)))
    return {row.cuda: row for row in refresh.rows(types, refresh.hip)}


def test_a_name_is_mapped_only_if_a_release_declares_it(folder):
    rows = derive(folder)
    assert rows["cuxCopy"].hip == "hipxCopy" and rows["cuxNone"].hip == ""
    assert rows["cuxNone"].source == "cux.h CUDA 13.0"
    assert rows["cuxOld"].hip == "hipx_Old"
    assert "CUX_H" not in rows


def test_a_versioned_name_that_only_a_macro_names(folder):
    assert derive(folder)["cuxCopy_v2"].hip == "hipxCopy"


def test_releases_bracket_a_change(folder):
    rows = derive(folder)
    assert (rows["cuxCopy"].since, rows["cuxCopy"].until) == ("", "")
    assert rows["cuxUse"].since == "~6.4"
    assert rows["cuxNew"].since == "~10.0"
    assert rows["CUX_STATUS_GONE"].until == "~6.4"
    assert rows["CUX_OP_N"].hip == "HIPX_OP_N" and not rows["CUX_OP_N"].until
    assert rows["cuxOld"].until == "~10.0"


def test_differences_of_the_parameter_lists_are_noted(folder):
    rows = derive(folder)
    assert rows["cuxCopy"].note == "arity: 3 arguments in CUDA 13.0; HIP takes 2 arguments"
    assert rows["cuxRead"].note == "type: argument 1 is not const"
    assert rows["cuxUse"].note == ""


def test_a_type_is_read_off_the_functions_that_take_it(folder):
    assert derive(folder)["cuxHandle"].hip == "hipxHandle_t"


def test_headers_and_link_names_become_rows(folder):
    rows = derive(folder)
    assert (rows["cux.h"].kind, rows["cux.h"].hip) == ("header", "hipx/hipx.h")
    assert (rows["cux"].kind, rows["cux"].hip) == ("library", "hipx")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cuxNone,hipxNever,function,,seen\n", "hipxNever .* is declared in no release"),
        ("cuxNone,,function,use: nothing,\n", "cuxNone has no source"),
        ("cuxNone,,,,a\ncuxNone,,,,b\n", "cuxNone is there twice"),
        ("cuxNever,=,,use: x,a\n", "cuxNever has no rule's row"),
    ],
)
def test_a_wrong_exception_is_refused(folder, text, message):
    (folder / "x/exceptions.csv").write_text("cuda,hip,kind,note,source\n" + text)
    with pytest.raises(SystemExit, match=message):
        derive(folder)


def test_an_exception_overrides_the_rule_and_keeps_its_source(folder):
    (folder / "x/exceptions.csv").write_text(
        'cuda,hip,kind,note,source\ncuxNone,hipxRead,function,"semantics: a, b",a page\n'
    )
    row = derive(folder)["cuxNone"]
    assert (row.hip, row.note, row.source) == ("hipxRead", "semantics: a; b", "a page")


def test_a_header_no_release_has_is_refused(folder):
    (folder / "x/library.toml").write_text(TOML.replace("hipx/hipx.h", "hipx/none.h"))
    with pytest.raises(SystemExit, match=r"no release has the header hipx/none\.h"):
        derive(folder)


def test_written_tables_hold_no_comma(folder):
    with pytest.raises(SystemExit, match="no comma"):
        r.write(folder / "x", [r.Row("a", "b", "function", "", "", "x, y", "s")])
    r.write(folder / "x", [r.Row("a", "b", "function", "", "", "x; y", "s")])
    assert (folder / "x/symbols.csv").read_text().splitlines()[1] == "a,b,function,,,x; y,s"


def test_minor_releases_next_to_each_other():
    assert r._bracket("5.7", "6.0") == "6.0" and r._bracket("6.1", "6.2") == "6.2"
    assert r._bracket("6.2", "6.4") == "~6.4" and r._bracket("6.4", "10.0") == "~10.0"


def test_other_translators_are_judged_by_the_headers():
    known = {"cudaA": "hipA", "cudaB": "hipB"}
    table = SymbolTable(
        {c.encode(): Symbol(c, h, "function", "runtime", "", "", "", "x") for c, h in known.items()}, {}, {}, {}
    )
    theirs = {"cudaA": "hipA", "cudaC": "hipReal", "cudaD": "hipMadeUp"}
    result = other.compare("peer", theirs, table, {"hipA", "hipReal"}.__contains__)
    assert (result.shared, result.same, result.only_ours) == (1, 1, ["cudaB"])
    assert result.only_theirs_real == [("cudaC", "hipReal")]
    assert result.only_theirs_undeclared == [("cudaD", "hipMadeUp")]
    assert "peer: 1 names mapped by both" in other.text(result, 5)


def test_hipify_perl_table(tmp_path):
    script = tmp_path / "hipify-perl"
    script.write_text(
        'sub experimentalSubstitutions {\n    subst("cuA", "hipA", "memory");\n}\nsub rocSubstitutions {\n'
        '    subst("cuA", "rocA", "memory");\n}\nsub simpleSubstitutions {\n    subst("cudaB", "hipB", "memory");\n'
        '    subst("cub\\/cub.cuh", "hipcub\\/hipcub.hpp", "include");\n}\n'
    )
    assert other.hipify_perl(script) == {"cuA": "hipA", "cudaB": "hipB"}
