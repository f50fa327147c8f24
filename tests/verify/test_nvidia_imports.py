"""Whether the import that a port adds finds the generated module wherever the original ran."""

from __future__ import annotations

import ast
import time

import pytest

from rocport.verify.nvidia.imports import Places
from rocport.verify.nvidia.python_fold import Folder, identifiers
from rocport.verify.nvidia.tree import Tree

SCRIPT = "if __name__ == '__main__':\n    f()\n"
INSIDE, BESIDE = "p/_rocm_compat.py", "s/_rocm_compat.py"
PACKAGE = {"p/__init__.py": "", "p/m.py": "x = 1\n"}
LOOSE = {"s/m.py": "x = 1\n"}
RELATIVE, BARE, WHOLE = "from . import _rocm_compat", "import _rocm_compat", "from p import _rocm_compat"
BUILD = {"setup.py": "x = 1\n"}


def problems(original: dict[str, str], path: str, line: str, generated: str) -> list[str]:
    def tree(files: dict[str, str]) -> Tree:
        return Tree(dict.fromkeys(files, "file"), lambda path: files[path].encode(), "a tree")

    places = Places(tree({**original, generated: ""}), tree(original), frozenset({generated}))
    module = ast.parse(f"{line}\n{original[path]}")
    was = ast.parse(original[path])
    folded = Folder(module, {generated: {"IS_ROCM": False}}, places.resolver(path), identifiers(was)).fold()
    assert folded.imports, "the import does not find the generated module"
    return [item.message for item in places.check(path, folded, was)]


@pytest.mark.parametrize(
    ("original", "path", "line", "generated", "said"),
    [
        (PACKAGE, "p/m.py", RELATIVE, INSIDE, ""),
        ({**PACKAGE, "p/m.py": SCRIPT}, "p/m.py", RELATIVE, INSIDE, "run as a script"),
        ({**PACKAGE, "p/m.py": f"from . import n\n{SCRIPT}"}, "p/m.py", RELATIVE, INSIDE, ""),
        ({**PACKAGE, "p/n.py": "import m\n"}, "p/m.py", RELATIVE, INSIDE, "without its package, as in p/n.py"),
        ({**PACKAGE, "p/n.py": "from p import m\n"}, "p/m.py", RELATIVE, INSIDE, ""),
        ({**PACKAGE, "n.py": "import m\n"}, "p/m.py", RELATIVE, INSIDE, ""),
        (LOOSE, "s/m.py", RELATIVE, BESIDE, "no package"),
        (LOOSE, "s/m.py", BARE, BESIDE, ""),
        (
            {**LOOSE, "r.py": "from s import m\n"},
            "s/m.py",
            BARE,
            BESIDE,
            "r.py imports this module from",
        ),
        ({**LOOSE, "r.py": "import t.s.m\n"}, "s/m.py", BARE, BESIDE, ""),
        ({**LOOSE, "r.py": "from u import m\n"}, "s/m.py", BARE, BESIDE, ""),
        ({**LOOSE, "r.txt": "from s import m\n"}, "s/m.py", BARE, BESIDE, ""),
        ({**LOOSE, "r.py": "from s import *\n"}, "s/m.py", BARE, BESIDE, ""),
        ({**LOOSE, "s/r.py": "import m\n"}, "s/m.py", BARE, BESIDE, ""),
        ({**PACKAGE, "p/m.py": "import m\n"}, "p/m.py", RELATIVE, INSIDE, ""),
        ({**PACKAGE, "p/q/__init__.py": "", "p/q/m.py": ""}, "p/q/m.py", "from .. import _rocm_compat", INSIDE, ""),
        (PACKAGE, "p/m.py", BARE, INSIDE, "is in a package"),
        (PACKAGE, "p/m.py", WHOLE, INSIDE, ""),
        ({**PACKAGE, "p/m.py": SCRIPT}, "p/m.py", WHOLE, INSIDE, "`p` need not be importable"),
        ({**PACKAGE, "p/m.py": f"import p.n\n{SCRIPT}"}, "p/m.py", WHOLE, INSIDE, ""),
        ({**PACKAGE, "p/n.py": "import m\n"}, "p/m.py", WHOLE, INSIDE, "in p/n.py, where `p` may be missing"),
        ({**PACKAGE, "t.py": "x = 1\n"}, "t.py", WHOLE, INSIDE, "`p`, which the original module does not"),
        ({**PACKAGE, "t.py": "from p.m import x\n"}, "t.py", WHOLE, INSIDE, ""),
        # A folder without an `__init__.py` is inside where everybody goes through the package.
        ({**PACKAGE, "p/q/k.py": "", "r.py": "from p.q import k\n"}, "p/q/k.py", WHOLE, INSIDE, ""),
        ({**PACKAGE, "p/q/k.py": "", "r.py": "import k\n"}, "p/q/k.py", WHOLE, INSIDE, "original module does not"),
        # Build scripts.
        (BUILD, "setup.py", BARE, "_rocm_compat.py", "a build script"),
        ({"setup.py": "import v\n", "v.py": ""}, "setup.py", BARE, "_rocm_compat.py", ""),
        ({"setup.py": "import v\n", "v/__init__.py": ""}, "setup.py", BARE, "_rocm_compat.py", ""),
        ({"setup.py": "import v\n"}, "setup.py", BARE, "_rocm_compat.py", "a build script"),
        # A distribution that names its modules one by one.
        ({"m.py": "", "setup.py": "setup(py_modules=['m'])"}, "m.py", BARE, "_rocm_compat.py", "installed, the import"),
        ({"m.py": "", "setup.py": "setup(py_modules=['n'])"}, "m.py", BARE, "_rocm_compat.py", ""),
        ({"m.py": "", "setup.cfg": "[options]\npy_modules = m\n"}, "m.py", BARE, "_rocm_compat.py", "installed, the"),
        # What runs the file by its name, or copies it.
        (
            {**LOOSE, "CMakeLists.txt": "install(FILES s/m.py)\n"},
            "s/m.py",
            BARE,
            BESIDE,
            "CMakeLists.txt:1",
        ),
        ({**LOOSE, "CMakeLists.txt": "install(FILES t/m.py)\n"}, "s/m.py", BARE, BESIDE, ""),
        ({**LOOSE, "CMakeLists.txt": "message(s/m.py)\n"}, "s/m.py", BARE, BESIDE, ""),
        ({**LOOSE, "CMakeLists.txt": "x()\nfile(COPY s/m.py)\n"}, "s/m.py", BARE, BESIDE, "CMakeLists.txt:2"),
        ({**LOOSE, "setup.py": "\ncopyfile('s/m.py', 'x')\n"}, "s/m.py", BARE, BESIDE, "setup.py:2"),
        ({**LOOSE, "setup.py": "copyfile(join('s', 'm.py'), 'x')\n"}, "s/m.py", BARE, BESIDE, "setup.py:1"),
        ({**LOOSE, "setup.py": "copyfile(join('t', 'm.py'), 'x')\n"}, "s/m.py", BARE, BESIDE, ""),
        ({**LOOSE, "setup.py": "x = 's/m.py'\n"}, "s/m.py", BARE, BESIDE, ""),
    ],
)
def test_the_import_of_the_generated_module(
    original: dict[str, str], path: str, line: str, generated: str, said: str
) -> None:
    found = problems(original, path, line, generated)
    assert [said in message for message in found] == [True] * bool(said), found


def test_a_build_file_that_names_a_module_often_is_read_in_linear_time() -> None:
    text = "add_custom_target(a DEPENDS t/m.py)\n" * 2000
    began = time.process_time()
    assert problems({**LOOSE, "CMakeLists.txt": text}, "s/m.py", BARE, BESIDE) == []
    assert time.process_time() - began < 3
    said = problems({**LOOSE, "CMakeLists.txt": f"{text}install(\n  FILES s/m.py)\n"}, "s/m.py", BARE, BESIDE)
    assert [item.partition(" ")[0] for item in said] == ["CMakeLists.txt:2002"]
