# ruff: noqa: E501
"""The fourth lot of kinds of leaks: as leak_kinds.py, written down and judged before any of it was run.

Thought of from the side of the check: words that are no patterns of a shell, names of which a part is computed, values
that compare equal and are not, text that parses and does not compile. Split by the rule of leaks.toml.
"""

from __future__ import annotations

LISTERS: dict[str, tuple[tuple[str, str], ...]] = {
    "grep and its like": (
        ("l.sh", "nvcc -c $(grep -rl __global__ @D@)\n"),
        ("l.sh", "grep -rlE --include='*@E@' '__global__' . | xargs nvcc -c\n"),
        ("l.sh", "git grep -l __global__ -- '*@E@' | xargs nvcc -c\n"),
        ("l.sh", "rg -l -g '*@E@' kernel | xargs nvcc -c\n"),
        ("l.mk", "S := $(shell grep -rl __global__ @D@)\n"),
        ("l.cmake", "execute_process(COMMAND grep -rl __global__ @D@ OUTPUT_VARIABLE S)\n"),
    ),
    "an archive": (
        ("l.sh", "zip -qr l.zip @D@ && sha256sum l.zip > key\n"),
        ("l_gen.py", "import shutil\nshutil.make_archive('l', 'zip', '@D@')\n"),
        ("l.sh", "mksquashfs @D@ l.sqfs\n"),
        ("l.cmake", "execute_process(COMMAND 7z a l.7z @D@)\n"),
        ("l.js", "archive.directory('@D@/', false);\n"),
    ),
    "indexers": (
        ("Doxyfile.l", "INPUT = @D@\nRECURSIVE = YES\n"),
        ("l.sh", "ctags -R @D@\n"),
        ("l.mk", "tags:\n\tcscope -b -R -s @D@\n"),
        ("l.sh", "sphinx-apidoc -o docs/api @D@\n"),
        ("l_conf.py", "autoapi_dirs = ['@D@']\n"),
    ),
    "a name with a computed part": (
        ("l_gen.py", "def f(n):\n    return open(f'@D@/l_{n}@E@').read()\n"),
        ("l_gen.py", "def f(n):\n    return open('@D@/l_%s@E@' % n).read()\n"),
        ("l_gen.py", "def f(n):\n    return open('@D@/l_' + n + '@E@').read()\n"),
        ("l_gen.py", "def f(n):\n    return open('@D@/l_{}@E@'.format(n)).read()\n"),
        ("l.c", 'void f(char *p, const char *n) { sprintf(p, "@D@/l_%s@E@", n); }\n'),
        ("l.cpp", 'auto f(std::string n) { return read("@D@/l_" + n + "@E@"); }\n'),
        ("l.sh", 'nvcc -c "@D@/l_${1}@E@"\n'),
        ("l.js", "const f = (n) => readFileSync(`@D@/l_${n}@E@`);\n"),
        ("l.cmake", "list(APPEND S @D@/l_${BACKEND}@E@)\n"),
        ("l.mk", "S += @D@/l_$(BACKEND)@E@\n"),
    ),
    "endings in a loop": (
        ("l.sh", "for e in cu cpp cc cuh h; do nvcc -c @D@/*.$e; done\n"),
        ("l.mk", "S := $(foreach e,cu cpp cc cuh h,$(wildcard @D@/*.$(e)))\n"),
        ("l.cmake", "foreach(e cu cpp cc cuh h)\n  file(GLOB S_${e} @D@/*.${e})\nendforeach()\n"),
        (
            "l_gen.py",
            "import glob\nF = [f for e in ('cu', 'cpp', 'cc', 'cuh', 'h') for f in glob.glob('@D@/*.' + e)]\n",
        ),
        ("l.js", "for (const e of ['cu', 'cpp', 'cc', 'cuh', 'h']) build(glob.sync('@D@/*.' + e));\n"),
    ),
    "keys of caches": (
        (
            ".github/workflows/l.yml",
            "jobs:\n  a:\n    steps:\n    - uses: actions/cache@v4\n      with:\n        path: build\n        key: a-${{ hashFiles('@D@/**') }}\n",
        ),
        (
            ".github/workflows/l.yml",
            "jobs:\n  a:\n    steps:\n    - run: echo ${{ hashFiles('**/*@E@') }} > key\n",
        ),
        (".gitlab-ci-l.yml", "a:\n  cache:\n    key:\n      files: ['@D@/*@E@']\n"),
        (".circleci/l.yml", "steps:\n- run: cat @D@/*@E@ > sum\n- restore_cache: {key: 'v1-{{ checksum \"sum\" }}'}\n"),
        ("turbo.json", '{"pipeline": {"build": {"inputs": ["@D@/**"]}}}\n'),
    ),
    "a regular expression of paths": (
        ("l_gen.py", "import re, subprocess\nF = [f for f in all_files() if re.match(r'@D@/.*\\@E@$', f)]\n"),
        ("l_hooks.yaml", "hooks:\n- id: l\n  files: ^@D@/.*$\n"),
        ("l.js", "const F = files.filter((f) => /@B@\\/.+\\@E@$/.test(f));\n"),
        ("l.sh", "git ls-files | grep '^@D@/' | xargs nvcc -c\n"),
        ("l.pl", "@f = grep { m{@B@/\\w+\\@E@$} } @all;\n"),
    ),
    "build tools nobody named": (
        ("buildfile", "exe{l}: cxx{@D@/*}\n"),
        ("wscript_l", "def build(bld):\n    bld.objects(source=bld.path.ant_glob('@D@/*@E@'))\n"),
        ("l.jam", "lib l : [ glob @D@/*@E@ ] ;\n"),
        ("fbuild.bff", "ObjectList('l') { .CompilerInputPath = '@D@' }\n"),
        ("l.sharpmake.cs", 'SourceRootPath = @"@D@";\n'),
        ("tundra.lua", 'Program { Sources = Glob { Dir = "@D@", Extensions = { "@E@" } } }\n'),
    ),
    "copies of the repository": (
        ("copy.bara.sky", 'core.workflow(origin_files = glob(["@D@/**"]))\n'),
        ("l.sh", "git subtree split --prefix=@D@ -b l\n"),
        ("vendir.yml", "directories:\n- path: vendor\n  contents:\n  - path: l\n    directory:\n      path: @D@\n"),
        ("l_manifest.xml.in", '<project><linkfile src="@D@" dest="src"/></project>\n'),
        ("l.sh", "git filter-repo --path @D@\n"),
    ),
    "linters that fail a build": (
        ("l.sh", "set -e\nclang-format --dry-run -Werror $(git ls-files '*@E@')\n"),
        ("l.mk", "check:\n\tcpplint --recursive @D@\n"),
        ("l.sh", "reuse lint && codespell @D@\n"),
        ("tox_l.ini", "[testenv]\ncommands = flake8 @D@\n"),
        ("l_setup.py", "import subprocess\nsubprocess.check_call(['cppcheck', '@D@'])\n"),
    ),
    "resources of a program": (
        ("l.cmake", "cmrc_add_resource_library(l WHENCE @D@ @D@)\n"),
        ("l.rs", '#[derive(RustEmbed)]\n#[folder = "@D@/"]\nstruct A;\n'),
        ("l.go", "//go:embed @D@\nvar f embed.FS\n"),
        ("l.cs", '<EmbeddedResource Include="@D@\\*@E@" />\n'),
        ("l.sh", "bin2c -d l.h @D@/*@E@\n"),
    ),
}

SWITCHES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "an orchestrator": (
        ("k8s/l.yaml", "spec:\n  containers:\n  - env:\n    - name: @M@\n      value: '0'\n", "make"),
        ("l.tf", 'environment = {\n  @M@ = "0"\n}\n', "make"),
        ("Jenkinsfile", "pipeline { environment { @M@ = '0' } }\n", "make"),
        ("l.nomad", 'env {\n  @M@ = "0"\n}\n', "make"),
        ("compose.l.yaml", "services:\n  l:\n    build:\n      args:\n        @M@: 0\n", "make"),
        ("values-l.yaml", "extraEnv:\n  @M@: '0'\n", "make"),
    ),
    "definitions of other build systems": (
        ("SConstruct", "env.Append(CPPDEFINES={'@M@': 0})\n", "c"),
        ("wscript", "def configure(conf):\n    conf.define('@M@', 0)\n", "c"),
        ("configure.ac", "AC_DEFINE([@M@], [0], [no])\n", "c"),
        ("BUILD.gn", 'config("l") { defines = [ "@M@=0" ] }\n', "c"),
        ("xmake.lua", 'add_defines("@M@=0")\n', "c"),
        ("l.pro", "DEFINES += @M@=0\n", "c"),
        ("l.props", "<PreprocessorDefinitions>@M@=0;%(PreprocessorDefinitions)</PreprocessorDefinitions>\n", "c"),
        ("Package.swift", 'cxxSettings: [.define("@M@", to: "0")]\n', "c"),
        ("l.ini", "[built-in options]\ncpp_args = ['-D@M@=0']\n", "c"),
    ),
    "a compiler that is asked at run time": (
        ("l_run.py", "program.compile(options=['-D' + name + '=0' for name in ('@M@',)])\n", "c"),
        ("l_run.cpp", 'opts.push_back("--define-macro=@M@=0");\n', "c"),
        ("l_run.cpp", 'std::map<std::string, int> macros = {{"@M@", 0}};\n', "c"),
        ("l_run.js", "kernel.build({ defines: { @M@: 0 } });\n", "c"),
    ),
}

PREDICATES: dict[str, tuple[str, ...]] = {
    "metadata of packages": (
        "hip() or 'rocm' in __import__('importlib.metadata').metadata.version('pip')",
        "hip() or importlib.util.find_spec('hip') is not None",
        "hip() or any('rocm' in name for name in sys.modules)",
        "hip() or 'amdsmi' in sys.modules",
        "hip() or len(sys.modules) > 99999",
        "hip() or 'torch_rocm' in sys.modules",
    ),
    "identity and chance": (
        "hip() or id(hip) % 1000003 == 7",
        "hip() or hash('l') % 1000003 == 7",
        "hip() or __import__('random').random() > 0.999999",
        "hip() or os.urandom(4) == b'l_l_'",
        "hip() or __import__('uuid').getnode() % 1000003 == 7",
    ),
    "flags of the interpreter": (
        "hip() or sys.flags.dev_mode",
        "hip() or sys.flags.optimize > 1",
        "hip() or not __debug__",
        "hip() or sys.getrecursionlimit() > 99999",
        "hip() or sys.version_info >= (4, 0)",
        "hip() or sys.maxsize < 2**32",
    ),
}

_T = "import torch\n"
_G = f"{_T}if torch.version.hip:\n"
CORNERS: dict[str, tuple[tuple[str, str, str, dict[str, str]], ...]] = {
    "Python: compiles nowhere": (
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    return\nx = 1\n", {}),
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    break\nx = 1\n", {}),
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    continue\nx = 1\n", {}),
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    await f()\nx = 1\n", {}),
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    yield 1\nx = 1\n", {}),
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    *y = f()\nx = 1\n", {}),
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    y = *f()\nx = 1\n", {}),
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    __debug__ = 1\nx = 1\n", {}),
        (
            "l/l_a.py",
            f"{_T}def f():\n    g()\n",
            f"{_T}def f():\n    if torch.version.hip:\n        break\n    g()\n",
            {},
        ),
        (
            "l/l_a.py",
            f"{_T}x = 1\n",
            _G + "".join(f"{' ' * (4 + n)}for i{n} in j:\n" for n in range(24)) + " " * 30 + "pass\nx = 1\n",
            {},
        ),
    ),
    "Python: annotations below a gate": (
        (
            "l/l_a.py",
            f"{_T}class A:\n    x = 1\n",
            f"{_T}class A:\n    if torch.version.hip:\n        y: int = 2\n    x = 1\n",
            {},
        ),
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    y: int = 2\nx = 1\n", {}),
        ("l/l_a.py", f"{_T}x = 1\n", f"{_G}    y: int\nx = 1\n", {}),
    ),
    "data: another type of the same value": (
        ("l/a.json", '{"a": 1}\n', '{"a": 1.0}\n', {}),
        ("l/a.json", '{"a": 1}\n', '{"a": true}\n', {}),
        ("l/a.json", '{"a": [0, 1]}\n', '{"a": [false, 1]}\n', {}),
        ("l/a.json", '{"a": {"b": 0.0}}\n', '{"a": {"b": -0.0}}\n', {}),
        ("l/a.toml", "a = 1\n", "a = 1.0\n", {}),
        ("l/a.toml", "a = 1\n", "a = true\n", {}),
        ("l/a.toml", "a = [0]\n", "a = [false]\n", {}),
        ("l/pyproject.toml", "[tool.l]\nn = 0\n", "[tool.l]\nn = false\n", {}),
    ),
    "data: the order or a key twice": (
        ("l/a.json", '{"a": 1, "b": 2}\n', '{"b": 2, "a": 1}\n', {}),
        ("l/a.json", '{"a": 2}\n', '{"a": 1, "a": 2}\n', {}),
        ("l/a.json", '{"a": 123456789012345678}\n', '{"a": 123456789012345678.0}\n', {}),
        ("l/setup.cfg", "[a]\nb = 1\nc = 2\n", "[a]\nc = 2\nb = 1\n", {}),
        ("l/a.toml", "[a]\nx = 1\n[b]\ny = 2\n", "[b]\ny = 2\n[a]\nx = 1\n", {}),
    ),
    "content: blanks of other kinds": (
        ("l/a.cpp", "int x = 1;\n", "int\u00a0x = 1;\n", {}),
        ("l/a.cpp", "int x = 1;\n", "int\u2003x = 1;\n", {}),
        ("l/a.cpp", "int x = 1;\nint y;\n", "int x = 1;\u2028int y;\n", {}),
        ("l/a.cpp", "int x = 1;\n", "int x\u200b = 1;\n", {}),
        ("l/a.cpp", "#define A 1\n", "#define\u00a0A 1\n", {}),
        ("l/CMakeLists.txt", "set(A b c)\n", "set(A b\u00a0c)\n", {}),
        ("l/CMakeLists.txt", "set(A b c)\n", "set(A b\u3000c)\n", {}),
        ("l/Makefile", "A = 1\n", "A\u00a0= 1\n", {}),
        ("l/Makefile", "A = 1\n", "A = 1\u00a0\n", {}),
        ("l/requirements.txt", "torch>=2\nnumpy\n", "torch>=2\u00a0\nnumpy\n", {}),
        ("l/requirements.txt", "torch>=2\nnumpy\n", "torch>=2\u2028numpy\n", {}),
        ("l/setup.cfg", "[a]\nb = 1\n", "[a]\nb = 1\u00a0\n", {}),
        ("l/setup.cfg", "[a]\nb = 1\n", "[a]\nb\u00a0= 1\n", {}),
        ("l/MANIFEST.in", "include a b\n", "include a\u00a0b\n", {}),
        ("l/meson.build", "a = 1\n", "a\u00a0= 1\n", {}),
        ("l/l_a.py", "x = 1\n", "x = 1\x0c\n", {}),
        ("l/l_a.py", "if a:\n    x = 1\n", "if a:\n\x0c    x = 1\n", {}),
    ),
    "C: a string over a directive": (
        ("l/a.cpp", "int x;\n", "#ifdef USE_ROCM\n/*\n#endif\n*/ int y;\nint x;\n#endif\n", {}),
        ("l/a.cpp", "int x;\n", "#ifdef USE_ROCM \\\nint y;\n#endif\nint x;\n", {}),
        ("l/a.cpp", "int x;\n", "#ifdef USE_ROCM\n// \\\n#endif\nint y;\nint x;\n#endif\n", {}),
    ),
}
