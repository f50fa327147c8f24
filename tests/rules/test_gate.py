"""What the gated Python rules ask of the code around a site."""

from __future__ import annotations

import ast
import textwrap

import pytest

from rocport.rules.python import gate
from rocport.syntax.python import PythonSource


def parsed(text: str) -> PythonSource:
    return PythonSource("m.py", textwrap.dedent(text).encode())


def site(source: PythonSource, name: str = "SITE") -> ast.expr:
    """The name a case is about."""
    return next(node for node in ast.walk(source.tree) if isinstance(node, ast.Name) and node.id == name)


@pytest.mark.parametrize(
    ("text", "asks", "there"),
    [
        ("x = SITE is None", "SITE is None", False),
        ("x = SITE is not None", "SITE is not None", True),
        ("x = SITE == ''", "SITE == ''", False),
        ("x = SITE != None", "SITE != None", True),
        ("x = SITE in names", "SITE in names", True),
        ("x = SITE not in names", "SITE not in names", False),
        ("x = not SITE", "not SITE", False),
        ("if SITE: pass", "SITE", True),
        ("while SITE: pass", "SITE", True),
        ("assert SITE", "SITE", True),
        ("x = 1 if SITE else 2", "SITE", True),
        ("x = SITE and other", "SITE", True),
        ("x = SITE or other", "SITE", True),
        ("x = not os.path.exists(SITE)", "not os.path.exists(SITE)", False),
        ("if os.path.isdir(SITE): pass", "os.path.isdir(SITE)", True),
    ],
)
def test_a_question_whether_something_is_there_is_found_with_its_sense(text: str, asks: str, there: bool) -> None:
    source = parsed(text)
    asked = gate.asked(source, site(source))
    assert asked is not None
    assert (ast.unparse(asked[0]), asked[1]) == (asks, there)


@pytest.mark.parametrize(
    "text",
    [
        "x = SITE",
        "x = 1 if other else SITE",
        "x = names in SITE",
        "x = SITE == 3",
        "x = 1 < SITE < 3",
        "x = SITE or '/usr/local'",
        "x = SITE or find()",
        "x = -SITE",
        "f(SITE)",
        "if other: SITE",
    ],
)
def test_another_use_asks_nothing(text: str) -> None:
    source = parsed(text)
    assert gate.asked(source, site(source)) is None


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("x = f(SITE)", True),
        ("x = {'a': SITE}", True),
        ("x: int = SITE", True),
        ("def f(a=SITE): pass", True),
        ("x = {SITE: 1}", False),
        ("x = SITE()", False),
        ("x = SITE.a()", True),
        ("x: SITE = 1", False),
        ("def f(a: SITE): pass", False),
        ("def f() -> SITE: pass", False),
        ("async def f() -> SITE: pass", False),
        ("x = f'{SITE}'", False),
        ("del SITE", False),
    ],
)
def test_a_choice_may_stand_where_an_expression_is_only_read(text: str, may: bool) -> None:
    source = parsed(text)
    assert gate.replaceable(source, site(source)) is may


def test_a_statement_is_followed_only_by_the_one_right_behind_it() -> None:
    follows = "import torch\nx = SITE\nif torch.version.hip:\n    x = 1\n"
    for text, is_followed in (
        (follows, True),
        (follows.replace("if torch", "y = 2\nif torch"), False),
        (follows.replace("torch.version.hip", "other"), False),
        ("x = SITE\n", False),
        ("if a:\n    x = SITE\nelse:\n    x = 2\n", False),
    ):
        source = parsed(text)
        assert gate.followed(source, site(source)) is is_followed, text


@pytest.mark.parametrize(
    ("text", "depends"),
    [
        ("if SITE:\n    a()\n    b()\nelse:\n    c()\n", ["a()", "b()"]),
        ("x = first and SITE and a and b", ["a", "b"]),
        ("x = a if SITE else b", ["a"]),
        ("if SITE and a:\n    b()\n", ["a", "b()"]),
        ("while SITE:\n    a()\n", ["a()"]),
        ("if other:\n    f(SITE)\n", []),
        ("x = a if other else SITE", []),
    ],
)
def test_what_depends_on_a_test_is_its_branch_and_the_operands_behind(text: str, depends: list[str]) -> None:
    source = parsed(text)
    assert [ast.unparse(node) for node in gate.depends(source, site(source))] == depends


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("SITE = bare_metal_version >= Version('11.8')", True),
        ("SITE = nvcc_release == '12'", True),
        ("SITE = cuda_major < 11 < other", True),
        ("SITE = torch_version >= '2.0'", False),
        ("SITE = cuda_version is None", False),
        ("SITE = cuda_version == None", False),
    ],
)
def test_a_comparison_with_a_release_of_the_toolkit_is_told_by_its_names(text: str, is_one: bool) -> None:
    source = parsed(text)
    compare = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Compare))
    assert gate.version_test(source, compare) is is_one


def test_code_behind_a_comparison_of_releases_is_only_its_branch() -> None:
    source = parsed("if bare_metal_version >= Version('11.8'):\n    a = INSIDE\nelse:\n    b = OUTSIDE\n")
    test = gate.behind_version_test(source, site(source, "INSIDE"))
    assert test is not None and ast.unparse(test) == "bare_metal_version >= Version('11.8')"
    assert gate.behind_version_test(source, site(source, "OUTSIDE")) is None


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        ("if SITE:\n    v = get_nvcc_version(SITE)\n", True),
        ("if SITE:\n    subprocess.run([os.path.join(CUDA_HOME, 'bin/nvcc')])\n", True),
        ("if SITE:\n    check(CUDA_HOME)\n", True),
        ("if SITE:\n    p = os.path.join(CUDA_HOME, 'include')\n", False),
        ("if SITE:\n    v = get_nvcc_version()\n    CUDAExtension('a', [])\n", False),
        ("if SITE:\n    pass\n", False),
    ],
)
def test_a_test_that_lets_in_questions_to_the_toolkit_guards_it(text: str, guards: bool) -> None:
    source = parsed(text)
    assert gate.guards_toolkit(source, site(source)) is guards
