"""Findings in, a patch out, in memory: which files there are and why, in either layout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rocport.model import Applicability, Edit, Finding, LeftOut, Options, Problem, Severity, SourceTree, Span
from rocport.port import compat, headers, manifest
from rocport.port.apply import apply, relative_to
from rocport.port.engine import LayoutError, Ported, make_patch, port_file, port_other, port_source, with_mirror
from rocport.port.mark import HIPIFY_MARK
from rocport.port.places import Places
from rocport.scan.tree import read_tree
from rocport.syntax.cuda import CudaSource


def finding(start: int = 0, end: int = 1, text: bytes | None = b"X", **more: object) -> Finding:
    edits = () if text is None else (Edit(Span(start, end), text),)
    return Finding("rule", "a.cu", Span(start, end), 1, 1, "message", Severity.BREAKS_BUILD, Applicability.SAFE, 2,
                   edits=edits, **more)  # type: ignore[arg-type]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "spelled"),
    [("a.cu", "h.h"), ("x/a.cu", "../h.h"), ("x/y/a.cu", "../../h.h")],
)
def test_a_header_at_the_root_as_a_file_spells_it(path: str, spelled: str) -> None:
    assert relative_to(path, "h.h") == spelled
    made = port_file(path, b"int a;\n", [finding(headers=frozenset({"h.h"}))])
    assert made.data == f'#include "{spelled}"\nXnt a;\n'.encode() and made.headers == {"h.h"}


@pytest.mark.parametrize(
    ("data", "needed", "ported"),
    [
        (b"int a;\n", ["<s.h>", "b.h", "<a.h>"], b'#include <a.h>\n#include <s.h>\n#include "b.h"\nXnt a;\n'),
        (b"int a;\r\n", ["<s.h>"], b"#include <s.h>\r\nXnt a;\r\n"),
        (b"int a;\n#include <s.h>\n", ["<s.h>"], b"Xnt a;\n#include <s.h>\n"),
        (b"int a;\n/* \n#include <s.h>\n*/\n", ["<s.h>"], b"#include <s.h>\nXnt a;\n/* \n#include <s.h>\n*/\n"),
        (b"int a;\n#include <s.hpp>\n", ["<s.h>"], b"#include <s.h>\nXnt a;\n#include <s.hpp>\n"),
        (b"int a;\n", [], b"Xnt a;\n"),
    ],
)
def test_includes_are_added_once_and_only_where_they_are_missing(data: bytes, needed: list[str], ported: bytes) -> None:
    made = apply(CudaSource("a.cu", data), [finding(headers=frozenset(needed))])
    assert made.data == ported
    assert made.headers == {name for name in needed if not name.startswith("<")}


def test_an_include_goes_beside_an_edit_over_its_place() -> None:
    data = b"// c\nint a;\nint b;\n"
    made = apply(CudaSource("a.cu", data), [finding(3, 15, b"d\nlong c;\nx", headers=frozenset({"<s.h>"}))])
    assert made.data == b"// d\n#include <s.h>\nlong c;\nx b;\n"


def test_a_file_without_findings_or_without_a_change_is_taken_over() -> None:
    assert port_file("a.cu", b"int a;\n", []) == Ported("a.cu", None)
    told = finding(text=None)
    assert port_file("a.cu", b"int a;\n", [told]) == Ported("a.cu", None, (told,), asked=(told,))
    same = finding(0, 1, b"i")
    assert port_file("a.cu", b"int a;\n", [same]) == Ported("a.cu", None, (same,), asked=(same,), edits=same.edits)
    assert port_other("m.py", b"x\n", "python", [], Places.of({})) == Ported("m.py", None)
    assert port_other("m.py", b"x\n", "python", [told], Places.of({})) == Ported("m.py", None, (told,))
    assert port_other("Makefile", b"x\n", "make", [finding()], Places.of({})).data == b"X\n"


def test_only_a_changed_source_of_an_extension_is_marked() -> None:
    source = CudaSource("a.cu", b"int a;\n")
    assert port_source(source, [finding()], extension=True).data == HIPIFY_MARK + b"\nXnt a;\n"
    assert port_source(source, [finding(text=None)], extension=True).data is None


def tree(folder: Path, *paths: str) -> SourceTree:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(f"{path}\n".encode())
    return read_tree(folder)


def test_the_layout_for_both_wants_a_folder_and_a_free_name(tmp_path: Path) -> None:
    source = tree(tmp_path, "a.cu")
    assert with_mirror(Options(), source) == (Options(), source)
    options, same = with_mirror(Options(layout="both"), source)
    assert options == Options(layout="both", mirror="hip") and same is source
    with pytest.raises(LayoutError, match=r"--layout both ports a folder, and a\.cu is a file; use --layout hip"):
        with_mirror(Options(layout="both"), read_tree(tmp_path / "a.cu"))
    for name in ("hip", "rocm", "hip_port"):
        (tmp_path / name).mkdir()
    with pytest.raises(LayoutError, match="are all taken; use --layout hip"):
        with_mirror(Options(layout="both"), source)


def test_an_earlier_ports_folder_is_no_source(tmp_path: Path) -> None:
    tree(tmp_path, "a.cu", "hipper.cu", "hip/a.hip")
    (tmp_path / "hip" / "README.md").write_text("Written by `rocport port --layout both`")
    (tmp_path / "hip" / "link").symlink_to("a.hip")
    (tmp_path / "kept").symlink_to("a.cu")
    options, left = with_mirror(Options(layout="both"), read_tree(tmp_path))
    assert options.mirror == "hip" and left.paths == {"a.cu", "hipper.cu"} and left.links == (("kept", "a.cu"),)


def test_a_patch_in_one_tree(tmp_path: Path) -> None:
    source = replace(tree(tmp_path, "a.cu", "b.cpp", "m.py"), problems=(Problem("p", "m"),))
    told, left = finding(), LeftOut("rule", "a.cu", 1, "comment")
    ported = [
        Ported("a.cu", b"hip\n", (told,), frozenset({"rocport_warp.h"}), left_out=(left,)),
        Ported("b.cpp", None, problems=(Problem("b.cpp", "x"),)),
        Ported("m.py", b"gated\n", compat=frozenset({"IS_ROCM"}), compat_file="_rocm_compat.py"),
    ]
    made = make_patch(source, Options(), ported)
    assert set(made.files) == {"a.cu", "m.py", "_rocm_compat.py", *headers.closure(frozenset({"rocport_warp.h"}))}
    assert (made.files["a.cu"].data, made.files["a.cu"].base, made.files["a.cu"].source) == (
        b"hip\n",
        b"a.cu\n",
        "a.cu",
    )
    assert made.files["rocport_warp.h"].data == headers.read("rocport_warp.h")
    assert made.files["_rocm_compat.py"].data == compat.render(frozenset({"IS_ROCM"}))
    assert made.findings == (told,) and made.problems == (Problem("p", "m"), Problem("b.cpp", "x"))
    assert made.left_out == (left,) and not made.complete


def test_a_patch_for_both_leaves_the_sources(tmp_path: Path) -> None:
    source = tree(tmp_path, "k/a.cu", "b.cu", "host.cpp", "m.py")
    ported = [Ported("k/a.cu", b"hip\n", headers=frozenset({"rocport_warp.h"})), Ported("m.py", b"gated\n")]
    made = make_patch(source, Options(layout="both", mirror="rocm"), ported)
    assert {"rocm/k/a.hip", "rocm/b.hip", "rocm/rocport_warp.h", "rocm/README.md", "m.py"} <= set(made.files)
    assert not {"k/a.cu", "rocm/host.cpp", "rocport_warp.h"} & set(made.files)
    record = manifest.NAME
    hashes = [path for path in made.files if path.startswith("rocm/") and path != f"rocm/{record}"]
    (tmp_path / record).write_bytes(made.files[f"rocm/{record}"].data)
    assert set(manifest.load_hashes(tmp_path / record)) == set(hashes)
    nothing = make_patch(tree(tmp_path / "x", "m.py"), Options(layout="both"), [Ported("m.py", None)])
    assert nothing.files == {}


def test_one_file_has_nothing_beside_it(tmp_path: Path) -> None:
    folder = tree(tmp_path, "requirements.txt", "a.cu")
    (tmp_path / "requirements.txt").write_text("torch\n")
    assert "requirements-rocm.txt" in make_patch(folder, Options(), []).files
    single = read_tree(tmp_path / "requirements.txt")
    assert make_patch(single, Options(), []).files == {}


def modules(folder: Path, present: dict[str, bytes], *wanted: tuple[str, str]) -> dict[str, tuple[bytes, bytes | None]]:
    for path, data in present.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    ported = [Ported(f"{place}.py", b"x", compat=frozenset({name}), compat_file=place) for place, name in wanted]
    source = tree(folder, *(one.path for one in ported), "keep.txt")
    files = make_patch(source, Options(), ported).files
    return {path: (new.data, new.base) for path, new in files.items() if path.endswith("_rocm_compat.py")}


def test_every_copy_of_the_module_serves_the_names_of_the_tree(tmp_path: Path) -> None:
    both = compat.render(frozenset({"IS_ROCM", "WAVE64"}))
    a, b = "a/_rocm_compat.py", "b/_rocm_compat.py"
    assert modules(tmp_path / "1", {}, (a, "IS_ROCM"), (b, "WAVE64")) == {a: (both, None), b: (both, None)}
    one = compat.render(frozenset({"IS_ROCM"}))
    assert modules(tmp_path / "2", {a: one}, (a, "WAVE64")) == {a: (both, one)}, "it keeps what it served"
    assert modules(tmp_path / "3", {a: one}, (a, "IS_ROCM")) == {}
    edited = one + b"\n\ndef mine(): pass\n"
    ((data, base),) = modules(tmp_path / "4", {a: edited}, (a, "WAVE64")).values()
    assert base == edited and b"def mine()" in data and compat.names_in(data) == {"IS_ROCM", "WAVE64"}
    torn = one.replace(b"IS_ROCM: bool", b"IS_ROCM: int")
    assert modules(tmp_path / "5", {a: torn}, (a, "WAVE64"))[a][0].startswith(b'"""'), "a conflict is for the landing"
    assert modules(tmp_path / "6", {}) == {}


def test_headers_bring_the_headers_they_include() -> None:
    names = headers.closure(frozenset({"rocport_warp.h"}))
    assert "rocport_warp.h" in names and headers.closure(frozenset()) == frozenset()
    for name in names:
        assert headers.is_ours(f"x/{name}", headers.read(name)) and headers.is_ours(name, headers.read(name))
        assert not headers.is_ours(name, headers.read(name) + b"\n") and not headers.is_ours(
            f"{name}x", headers.read(name)
        )
    assert not headers.is_ours("rocport_mine.h", b"") and not headers.is_ours("__init__.py", b"")
    with pytest.raises(FileNotFoundError):
        headers.read("rocport_mine.h")
