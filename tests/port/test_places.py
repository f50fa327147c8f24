"""Where the generated module lies, how a file imports it, and on which line."""

from __future__ import annotations

import ast

import pytest

from rocport.port.compat import render
from rocport.port.places import Place, Places, import_offset, imported_modules


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import a\n", {"a"}),
        ("import a.b.c\n", {"a.b.c"}),
        ("  import a\n", {"a"}),
        ("from a import b\n", {"a", "a.b"}),
        ("from a.b import c, d as e\n", {"a.b", "a.b.c", "a.b.d", "a.b.as", "a.b.e"}),
        ("from a import (\n    b,\n    c,\n)\n", {"a", "a.b", "a.c"}),
        ("from . import b\n", {".", "..b"}),
        ("x = 'import a'\n", set()),
        ("important = 1\nimport_x()\nfrom_ = 2\n", set()),
        ("", set()),
    ],
)
def test_the_names_a_file_imports(text: str, names: set[str]) -> None:
    assert imported_modules(text.encode()) == names


PKG = {"pkg/__init__.py": b"", "pkg/sub/__init__.py": b"", "pkg/m.py": b"", "pkg/sub/m.py": b"", "tools/m.py": b""}


def places(path: str, text: str) -> list[Place] | str:
    files = {**PKG, path: text.encode()}
    return Places.of(files).places(path, ast.parse(text))


def other(files: dict[str, bytes], path: str, text: str = "x = 1\n") -> list[Place] | str:
    return Places.of({**PKG, **files, path: text.encode()}).places(path, ast.parse(text))


def test_of_a_package_it_lies_at_the_top() -> None:
    assert places("pkg/m.py", "x = 1\n") == [Place("pkg/_rocm_compat.py", "from . import _rocm_compat")]
    assert places("pkg/sub/m.py", "x = 1\n") == [Place("pkg/_rocm_compat.py", "from .. import _rocm_compat")]
    assert other({"a/b/c/__init__.py": b"", "a/b/__init__.py": b""}, "a/b/c/m.py") == [
        Place("a/b/_rocm_compat.py", "from .. import _rocm_compat")
    ], "a itself is no package"


def test_what_a_file_imports_by_name_comes_after_its_own_package() -> None:
    files = {"one/__init__.py": b"", "two/__init__.py": b"", "two/m.py": b""}
    text = "import one\nfrom two.x import y\nimport os\nfrom one import z\n"
    found = other(files, "two/m.py", text)
    assert [place.statement for place in found if isinstance(place, Place)] == [
        "from . import _rocm_compat", "from two import _rocm_compat", "from one import _rocm_compat"
    ]  # fmt: skip
    assert [place.behind for place in found if isinstance(place, Place)] == ["", "two", "one"]


def test_a_script_finds_it_beside_itself() -> None:
    assert places("tools/m.py", "x = 1\n") == [Place("tools/_rocm_compat.py", "import _rocm_compat")]
    assert places("m.py", "import pkg\n") == [
        Place("pkg/_rocm_compat.py", "from pkg import _rocm_compat", "pkg"),
        Place("_rocm_compat.py", "import _rocm_compat"),
    ]  # fmt: skip
    inner = "def f():\n    import pkg\n"
    assert places("m.py", inner) == [Place("_rocm_compat.py", "import _rocm_compat")], "not at module level"


def test_a_package_that_is_there_twice_is_not_taken() -> None:
    files = {"a/lib/__init__.py": b"", "b/lib/__init__.py": b""}
    assert other(files, "m.py", "import lib\n") == [Place("_rocm_compat.py", "import _rocm_compat")]
    assert other({"a/lib/__init__.py": b""}, "m.py", "import lib\n") == [
        Place("a/lib/_rocm_compat.py", "from lib import _rocm_compat", "lib"),
        Place("_rocm_compat.py", "import _rocm_compat"),
    ]  # fmt: skip
    assert other({}, "m.py", "import sub\n") == [Place("_rocm_compat.py", "import _rocm_compat")], "no top package"
    own = other({**files, "a/lib/m.py": b""}, "a/lib/m.py", "import lib\n")
    assert [place.file for place in own if isinstance(place, Place)] == ["a/lib/_rocm_compat.py"] * 2


@pytest.mark.parametrize(
    ("files", "path", "text", "why"),
    [
        ({}, "pkg/m.py", "if __name__ == '__main__':\n    f()\n", "also run or imported without it"),
        ({}, "pkg/m.py", "if '__main__' == __name__ and x:\n    f()\n", "also run or imported without it"),
        ({"pkg/x.py": b"import m\n"}, "pkg/m.py", "x = 1\n", "also run or imported without it"),
        ({"x.py": b"import tools.m\n"}, "tools/m.py", "x = 1\n", "through its folder, which is no package"),
        ({"x.py": b"from b.c import m\n"}, "a/b/c/m.py", "x = 1\n", "through its folder, which is no package"),
        ({"setup.py": b"setup(py_modules=['a', 'm'])\n"}, "m.py", "x = 1\n", "add _rocm_compat there"),
        ({"_rocm_compat.py": b"mine\n"}, "m.py", "x = 1\n", "_rocm_compat.py is there already and not rocport's"),
        ({"pkg/_rocm_compat.py": b"mine\n"}, "pkg/m.py", "from . import x\n", "pkg/_rocm_compat.py is there already"),
    ],
)
def test_where_none_is_sure_it_says_why(files: dict[str, bytes], path: str, text: str, why: str) -> None:
    found = other(files, path, text)
    assert isinstance(found, str) and why in found


@pytest.mark.parametrize(
    ("files", "path", "text"),
    [
        ({"tools/x.py": b"import m\n"}, "pkg/m.py", "x = 1\n"),  # another folder's m
        ({}, "pkg/m.py", "import m\n"),  # the file itself
        ({"x.py": b"import tools\n"}, "tools/m.py", "x = 1\n"),
        ({"x.py": b"import m\n"}, "tools/m.py", "x = 1\n"),
        ({"setup.py": b"setup(py_modules=['other'])\n"}, "m.py", "x = 1\n"),
        ({"setup.py": b"setup(py_modules=['m'])\n"}, "tools/m.py", "x = 1\n"),
        ({"setup.py": b"setup()\n"}, "m.py", "x = 1\n"),
        ({"_rocm_compat.py": render(frozenset({"IS_ROCM"}))}, "m.py", "x = 1\n"),
        ({"tools/_rocm_compat.py": b"mine\n"}, "m.py", "x = 1\n"),
        ({}, "pkg/m.py", "if name == '__main__':\n    f()\n"),
        ({}, "pkg/m.py", "def f():\n    if __name__ == 'x':\n        g()\n"),
        ({}, "pkg/m.py", "if __name__ == '__main__':\n    f()\nfrom . import x\n"),
    ],
)
def test_what_only_looks_like_it_is_no_reason(files: dict[str, bytes], path: str, text: str) -> None:
    assert isinstance(other(files, path, text), list)


def test_a_module_of_ours_elsewhere_is_free() -> None:
    found = other({"pkg/_rocm_compat.py": b"mine\n"}, "m.py", "import pkg\n")
    assert found == [Place("_rocm_compat.py", "import _rocm_compat")]


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", "x = 1\n"), ("", ""), ('"""Doc."""\n', "x = 1\n"), ('"""Doc."""\n', ""),
        ('"""Doc."""\n\n', "# x\nx = 1\n"), ("import a\n", "x = 1\n"),
        ("import a\nfrom b import c\n", "x = 1\nimport d\n"), ("import a\n", "\n@d\ndef f(): pass\n"),
        ("# head\n", "x = 1\n"), ("# head\n\n", "# x\nx = 1\n"), ("#!/x\n# coding: utf-8\n", "x = 1\n"),
        ("'a string'\nimport a\n", "x = 1\n"), ("", "f('no docstring')\n"),
        ("from __future__ import annotations\n", "@d\nclass C: pass\n"), ('"""Doc."""\n', "@d\nclass C: pass\n"),
        ("import a\r\n", "x = 1\r\n"), ("import a\r", "x = 1\r"),
    ],
)  # fmt: skip
def test_the_line_of_the_import(before: str, behind: str) -> None:
    data = (before + behind).encode()
    assert import_offset(data, ast.parse(data)) == len(before.encode())


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("import a\nx = 1\nimport pkg.sub\n", "y = 2\n"), ("import a\nx = 1\nfrom pkg import z\n", "y = 2\n"),
        ("import pkg\nimport a\n", "x = 1\n"), ("import a, pkg as p\nimport b\n", "x = 1\n"),
        ("import a\n", "x = 1\nfrom .pkg import z\n"), ("import a\n", "x = 1\nimport package\n"),
        ("import a\n", "def f():\n    import pkg\n"),
    ],
)  # fmt: skip
def test_it_stands_behind_the_import_of_its_package(before: str, behind: str) -> None:
    data = (before + behind).encode()
    assert import_offset(data, ast.parse(data), "pkg") == len(before)


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("import a; x = 1\n", ""),
        ('"""Doc."""; x = 1\n', ""),
        ("x = _rocm_compat.IS_ROCM\nimport pkg\n", "pkg"),
        ("import pkg; x = 1\n", "pkg"),
    ],
)
def test_no_line_is_free(text: str, behind: str) -> None:
    assert import_offset(text.encode(), ast.parse(text), behind) is None
    free = "import a\nx = _rocm_compat.IS_ROCM\n"
    assert import_offset(free.encode(), ast.parse(free)) == len("import a\n")


def test_it_follows_a_byte_order_mark() -> None:
    for text, offset in (("x = 1\n", 3), ("import a\nx = 1\n", 12), ("# head\nx = 1\n", 10)):
        data = b"\xef\xbb\xbf" + text.encode()
        assert import_offset(data, ast.parse(data)) == offset
