"""Which paths a pattern can mean, and which patterns a call of Python lists."""

from __future__ import annotations

import ast

import pytest

from rocport.verify.nvidia import reach_python
from rocport.verify.nvidia.paths import UNKNOWN, matcher, normal, specific


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("a/?.cu", "a/b.cu", True),
        ("a/?.cu", "a/bc.cu", False),
        ("a?b.cu", "a/b.cu", False),
        ("a/[a-c].cu", "a/b.cu", True),
        ("a/[a-c].cu", "a/d.cu", False),
        ("a/[!b].cu", "a/b.cu", False),
        ("a/[^b].cu", "a/c.cu", True),
        ("a/[]b].cu", "a/].cu", True),
        ("a/[z-a].cu", "a/[z-a].cu", True),
        ("a/[z-a].cu", "a/b.cu", False),
        ("a/[b.cu", "a/[b.cu", True),
        ("a/**/b.cu", "a/b.cu", True),
        ("a/**/b.cu", "a/c/d/b.cu", True),
        ("a/**", "a/c/d", True),
        ("a/*", "a/c/d", False),
        (f"a/{UNKNOWN}.cu", "a/c/d.cu", True),
        ("a/b.cu", "a/bXcu", False),
    ],
)
def test_patterns(pattern: str, path: str, matches: bool) -> None:
    assert (matcher(pattern).match(path) is not None) is matches


def test_what_a_pattern_says_of_names() -> None:
    assert specific("a/*.cu") and specific(f"{UNKNOWN}/b*")
    assert not specific("a/*") and not specific(f"a/{UNKNOWN}") and not specific("a/[a-z]*")
    assert [normal(path) for path in ("./a/../b", "/a//b/", ".", "", "a\\b")] == ["b", "a/b", "", "", "a/b"]


@pytest.mark.parametrize(
    ("code", "patterns"),
    [
        ("os.listdir()", {"*"}),
        ("os.listdir('a' if x else 'b')", {"a/*", "b/*"}),
        ("os.listdir('a' + '/b')", {"a/b/*"}),
        ("os.listdir(x + 'b')", {f"{UNKNOWN}b/*"}),
        ("os.listdir(os.path.dirname(m.__file__))", {f"{UNKNOWN}/*"}),
        ("glob.glob(f'a/{x}/*.cu')", {f"a/{UNKNOWN}/*.cu"}),
        ("e = '.cu'\nglob.glob(f'a/*{e}')", {"a/*.cu"}),
        ("for d in ('a', 'b'):\n    glob.glob(d + '/*.cu')", {"a/*.cu", "b/*.cu"}),
        ("for d in f():\n    glob.glob(d + '/*.cu')", {f"{UNKNOWN}/*.cu"}),
        ("glob.glob(os.path.join('a', 'b', '*.cu'))", {"a/b/*.cu"}),
        ("glob.glob('a', recursive=True)", {"a"}),
        ("Path().glob('*.cu')", {"*.cu"}),
        ("Path('a', 'b').glob('*.cu')", {"a/b/*.cu"}),
        ("(Path('a') / 'b').rglob('*.cu')", {"a/b/**/*.cu"}),
        ("Path('a').joinpath('b', 'c').iterdir()", {"a/b/c/*"}),
        ("Path('a').absolute().iterdir()", {"a/*"}),
        ("Path('a/b').parent.iterdir()", {"a/*"}),
        ("Path('a').g().iterdir()", {f"{UNKNOWN}/*"}),
        ("Path(__file__).resolve().parent.glob('*.cu')", {"s/*.cu"}),
        ("pkgutil.iter_modules(__path__)", {"s/*.py"}),
        ("pkgutil.iter_modules(__path__[0])", {"s/*.py"}),
        ("pkgutil.walk_packages(p.__path__)", {"s/*.py"}),
        ("os.walk(os.curdir)", {"*"}),
        ("a = b\nb = a\nos.listdir(a)", {f"{UNKNOWN}/*"}),
        ("os.listdir(3)", {f"{UNKNOWN}/*"}),
    ],
)
def test_what_a_call_lists(code: str, patterns: set[str]) -> None:
    (listing,) = reach_python.listings("s/m.py", ast.parse(code))
    own = {normal(f"s/{item}") for item in patterns if UNKNOWN not in item}
    assert set(listing.patterns) == patterns | own


@pytest.mark.parametrize(
    ("folder", "has_src", "found"),
    [
        ("hip", False, True),
        ("docs", False, False),
        ("hip/docs", False, True),
        ("hip-x", False, False),
        ("_hip", False, False),
        ("src/hip", True, True),
        ("src", True, False),
        ("hip", True, False),
        ("src/a-b", True, False),
    ],
)
def test_folders_that_setuptools_takes_for_packages(folder: str, has_src: bool, found: bool) -> None:
    assert reach_python.found_automatically(folder, has_src) is found


def test_text_that_is_no_python_or_toml_names_no_modules() -> None:
    files = {"setup.py": b"setup(py_modules=['a'", "pyproject.toml": b"[[", "setup.cfg": b"[options]\npy_modules = b\n"}
    assert reach_python.py_modules(files) == {"b"}
    assert reach_python.parsed(b"(") is None
