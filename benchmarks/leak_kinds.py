# ruff: noqa: E501
"""The second lot of kinds of leaks: what leak_grammar.py spells out besides its own tables.

Written down before any of it was run, and split by the rule of leaks.toml. `@D@` is a folder of the tree, `@L@` its
parts as words in quotes, `@P@` its name as a package, `@E@` an ending of its sources, `@N@` the new file, `@M@` a macro.
"""

from __future__ import annotations

LISTERS: dict[str, tuple[tuple[str, str], ...]] = {
    "a shell in CMake's COMMAND": (
        ("l.cmake", 'execute_process(COMMAND sh -c "ls @D@/*@E@" OUTPUT_VARIABLE S)\n'),
        ("l.cmake", 'add_custom_command(OUTPUT l.o COMMAND bash -c "nvcc -c @D@/*@E@ -o l.o" VERBATIM)\n'),
        (
            "l.cmake",
            'execute_process(\n  COMMAND /bin/sh -c\n  "cd ${CMAKE_SOURCE_DIR}/@D@ && for f in *@E@; do nvcc $f; done")\n',
        ),
        ("l.cmake", "add_custom_target(l COMMAND sh -c [[cat @D@/*@E@ > all@E@]])\n"),
        ("l.cmake", "execute_process(COMMAND ${CMAKE_COMMAND} -E tar cf l.tar @D@)\n"),
        ("l.cmake", "add_custom_target(l COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/@D@ src)\n"),
        ("l.cmake", 'install(CODE "execute_process(COMMAND sh -c \\"cp @D@/*@E@ /tmp\\")")\n'),
    ),
    "a program in CMake's COMMAND": (
        ("l.cmake", "execute_process(COMMAND python3 -c \"import os; print(os.listdir('@D@'))\" OUTPUT_VARIABLE S)\n"),
        ("l.cmake", "execute_process(COMMAND ${Python_EXECUTABLE} gen.py --sources @D@ OUTPUT_VARIABLE S)\n"),
        ("l.cmake", "add_custom_command(OUTPUT l.h COMMAND perl embed.pl ${CMAKE_CURRENT_SOURCE_DIR}/@D@ > l.h)\n"),
        ("l.cmake", "execute_process(COMMAND git ls-files @D@ OUTPUT_VARIABLE S)\n"),
    ),
    "a shell in C": (
        ("l.c", 'void f(void) { system("nvcc -c @D@/*@E@"); }\n'),
        ("l.cpp", 'auto* p = popen("ls @D@", "r");\n'),
        ("l.c", 'void f(void) { execl("/bin/sh", "sh", "-c", "cat @D@/*@E@ > x", (char*)0); }\n'),
        ("l.cpp", 'void f() { std::system(("nvcc " + std::string("@D@/") + "*@E@").c_str()); }\n'),
    ),
    "tup and redo": (
        ("Tupfile", ": foreach @D@/*@E@ |> nvcc -c %f -o %o |> %B.o\n"),
        ("@D@/Tupfile", ": foreach *@E@ |> nvcc -c %f -o %o |> %B.o\n"),
        ("all.do", 'for f in @D@/*@E@; do echo "${f%.*}.o"; done | xargs redo-ifchange\n'),
        ("default.o.do", "redo-ifchange $(ls @D@)\n"),
    ),
    "Pants and Please": (
        ("BUILD.pants", 'cc_sources(name="l", sources=["@D@/*@E@"])\n'),
        ("@D@/BUILD.pants", 'resources(name="l", sources=["*@E@", "!x@E@"])\n'),
        ("BUILD.plz", 'filegroup(name = "l", srcs = glob(["@D@/*@E@"]))\n'),
    ),
    "Earthly and Dagger": (
        ("Earthfile", "VERSION 0.8\nl:\n  COPY @D@ /src/@D@\n  RUN nvcc /src/@D@/*@E@\n"),
        ("Earthfile", "VERSION 0.8\nl:\n  COPY --dir @D@ .\n"),
        ("l.cue", 'l: core.#Source & { path: "@D@", include: ["*@E@"] }\n'),
    ),
    "a shell's own words": (
        ("l.sh", 'compgen -G "@D@/*@E@" | xargs nvcc\n'),
        ("l.sh", "printf '%s\\n' @D@/*@E@ > files.lst\n"),
        ("l.zsh", "SRC=(@D@/**/*(.))\nnvcc $SRC\n"),
        ("l.fish", "for f in @D@/*@E@\n  nvcc -c $f\nend\n"),
        ("l.nu", "ls @D@ | each { |f| nvcc -c $f.name }\n"),
        ("l.xsh", "for f in g`@D@/*@E@`:\n    nvcc -c @(f)\n"),
        ("l.sh", 'pushd "@D@" > /dev/null\nnvcc -c *@E@\npopd > /dev/null\n'),
        ("l.sh", 'D=@D@\nfor f in "$D"/*; do nvcc -c "$f"; done\n'),
        ("l.sh", 'D=@D@\nE=@E@\nnvcc -c "$D"/*"$E"\n'),
    ),
    "a transfer": (
        ("l.sh", "scp -r @D@ host:src/\n"),
        ("l.sh", "aws s3 sync @D@ s3://b/src\n"),
        ("l.sh", "tar -C @D@ -cf - . | tar -C build -xf -\n"),
        ("l.sh", "(cd @D@ && find . -depth -print | cpio -pdm ../build)\n"),
        ("l.sh", "docker cp @D@ c:/src\n"),
        ("l.sh", "kubectl cp @D@ pod:/src\n"),
        ("l.sh", "install -m 644 -t include @D@/*@E@\n"),
        ("l.sh", "ln -s $PWD/@D@/*@E@ build/\n"),
    ),
    "a one-liner in a shell file": (
        ("l.sh", "python -c \"import os; print(*os.listdir('@D@'))\" | xargs nvcc\n"),
        ("l.sh", "perl -e 'print join q( ), <@D@/*@E@>' | xargs nvcc\n"),
        ("l.sh", "node -e \"console.log(require('fs').readdirSync('@D@').join(' '))\"\n"),
        ("l.sh", "python - <<'EOF'\nimport glob\nprint(glob.glob('@D@/*@E@'))\nEOF\n"),
        ("l.sh", "ruby -e 'puts Dir[\"@D@/*@E@\"]' | xargs nvcc\n"),
    ),
    "a notebook": (
        (
            "l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["!nvcc @D@/*@E@ -o l"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
        ),
        (
            "l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["import os\\n", "F = os.listdir(\'@D@\')"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
        ),
        (
            "l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["%%bash\\n", "cat @D@/*@E@ | md5sum"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
        ),
        (
            "l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["from glob import glob\\n", "F = glob(\'@D@/*@E@\')"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
        ),
    ),
    "a folder named by data": (
        ("l.yaml", "sources:\n  dir: @D@\n"),
        ("l.json", '{"kernels": {"path": "@D@"}}\n'),
        ("l.toml", 'source_dir = "@D@"\n'),
        ("l.ini", "[build]\nsources = @D@\n"),
        ("l.cfg", "[build]\nsrcdir = ./@D@/\n"),
        ("l.env", "SRC_DIR=@D@\n"),
        ("l.properties", "src.dir=@D@\n"),
    ),
    "a pattern named by data": (
        ("l.yaml", "sources:\n  - pattern: '@D@/*@E@'\n"),
        ("l.json", '{"kernels": ["@D@/*@E@"]}\n'),
        ("l.toml", 'sources = ["@D@/*@E@"]\n'),
        ("l.ini", "[build]\nsources = @D@/*@E@\n"),
        ("l_sources.txt", "@D@/*@E@\n"),
        ("l_sources.lst", "@D@/*@E@\n"),
    ),
    "a pattern in pieces": (
        ("l_gen.py", "import glob, os\nF = glob.glob(os.path.join('@D@', '*' + '@E@'))\n"),
        ("l_gen.py", "import glob\nEXT = '@E@'\nF = glob.glob(f'@D@/*{EXT}')\n"),
        ("l_gen.py", "import glob\nF = glob.glob('/'.join(['@D@', '*@E@']))\n"),
        ("l_gen.py", "import glob\nF = glob.glob('%s/*%s' % ('@D@', '@E@'))\n"),
        ("l_gen.py", "import glob\nF = glob.glob('{}/*'.format('@D@'))\n"),
        ("l_gen.py", "import glob, os\nF = glob.glob('@D@' + os.sep + '*')\n"),
        ("l_gen.py", "import fnmatch, os\nF = fnmatch.filter(os.listdir('@D@'), '*@E@')\n"),
        ("l_gen.py", "from pathlib import Path\nF = list(Path('@D@').glob('[!_]*'))\n"),
        ("l_gen.py", "import glob\nPATTERNS = {'cuda': '@D@/*@E@'}\nF = glob.glob(PATTERNS['cuda'])\n"),
    ),
    "a folder in pieces": (
        ("l_gen.py", "import os\nF = os.listdir(os.path.join(@L@))\n"),
        ("l_gen.py", "import os\nHERE = os.path.dirname(__file__)\nF = os.listdir(os.path.join(HERE, @L@))\n"),
        ("l_gen.py", "import os\nfor r, d, f in os.walk(os.sep.join([@L@])):\n    print(f)\n"),
        ("l_gen.py", "from pathlib import Path\nF = list(Path(__file__).parent.joinpath(@L@).iterdir())\n"),
        (
            "l_gen.py",
            "from pathlib import Path\nROOT = Path(__file__).resolve().parent\nSRC = ROOT.joinpath(@L@)\n\n\ndef f():\n    return [p for p in SRC.iterdir() if p.suffix == '@E@']\n",
        ),
        (
            "l_gen.py",
            "import os\n\n\nclass A:\n    src = os.path.join(@L@)\n\n    def f(self):\n        return sorted(os.listdir(self.src))\n",
        ),
    ),
    "the standard library of Python": (
        ("l_gen.py", "import filecmp\nF = filecmp.dircmp('@D@', 'build').left_only\n"),
        ("l_gen.py", "import tarfile\nwith tarfile.open('l.tar', 'w') as t:\n    t.add('@D@')\n"),
        ("l_gen.py", "from distutils.dir_util import copy_tree\ncopy_tree('@D@', 'build')\n"),
        ("l_gen.py", "from distutils.filelist import findall\nF = findall('@D@')\n"),
        ("l_gen.py", "import zipapp\nzipapp.create_archive('@D@', 'l.pyz')\n"),
        ("l_gen.py", "from pathlib import Path\nF = [f for r, d, f in Path('@D@').walk()]\n"),
        ("l_gen.py", "import os\nfd = os.open('@D@', os.O_RDONLY)\nF = os.listdir(fd)\n"),
        ("l_gen.py", "import os\nos.chdir('@D@')\nF = os.listdir()\n"),
    ),
    "other libraries of Python": (
        ("l_gen.py", "import pkg_resources\nF = pkg_resources.resource_listdir('@P@', '')\n"),
        ("l_gen.py", "from importlib.resources import contents\nF = list(contents('@P@'))\n"),
        ("l_gen.py", "from datasets import load_dataset\nF = load_dataset('@D@')\n"),
        ("l_gen.py", "import fsspec\nF = fsspec.filesystem('file').ls('@D@')\n"),
        ("l_gen.py", "import fs\nF = list(fs.open_fs('@D@').walk.files())\n"),
        ("l_gen.py", "import sh\nF = sh.ls('@D@')\n"),
        ("l_gen.py", "from plumbum.cmd import ls\nF = ls('@D@')\n"),
        ("l_gen.py", "from setuptools.glob import iglob\nF = list(iglob('@D@/*@E@'))\n"),
        ("l_gen.py", "import tensorflow as tf\nF = tf.io.gfile.listdir('@D@')\n"),
        ("l_gen.py", "from jinja2 import FileSystemLoader\nF = FileSystemLoader('@D@').list_templates()\n"),
        ("l_gen.py", "from wcmatch import glob as g\nF = g.glob('@D@/*@E@')\n"),
    ),
    "a watcher": (
        ("l_gen.py", "from watchdog.observers import Observer\no = Observer()\no.schedule(h, '@D@', recursive=True)\n"),
        ("l.js", "require('chokidar').watch('@D@').on('add', build);\n"),
        ("nodemon.json", '{"watch": ["@D@"], "ext": "@E@", "exec": "make"}\n'),
        ("l.sh", "ls @D@/*@E@ | entr make\n"),
        ("l.sh", "watchexec -w @D@ -- make\n"),
        ("l.sh", 'inotifywait -m @D@ -e create | while read d e f; do nvcc "$d/$f"; done\n'),
    ),
    "a folder named far away": (
        (
            "l.cpp",
            'const char* kDir = "@D@";\n'
            + "int a;\n" * 40
            + "void f() { for (auto& e : fs::directory_iterator(kDir)) g(e); }\n",
        ),
        ("l_gen.py", "import os\nSRC = '@D@'\n" + "x = 1\n" * 40 + "F = os.listdir(SRC)\n"),
        ("l.sh", "SRC=@D@\n" + ": nothing\n" * 40 + "for f in $SRC/*; do nvcc $f; done\n"),
        ("l.mk", "SRCDIR := @D@\n" + "X += 1\n" * 40 + "S := $(wildcard $(SRCDIR)/*@E@)\n"),
        ("l.cmake", "set(SRC @D@)\n" + "set(X 1)\n" * 40 + "file(GLOB S ${SRC}/*@E@)\n"),
        ("l.go", 'const src = "@D@"\n' + "var _ = 1\n" * 40 + "func f() { e, _ := os.ReadDir(src) }\n"),
        ("l.rs", 'const SRC: &str = "@D@";\n' + "// x\n" * 40 + "fn f() { std::fs::read_dir(SRC).unwrap(); }\n"),
    ),
    "freezers": (
        ("l_setup.py", "build_exe = {'include_files': [('@D@', 'src')]}\n"),
        ("l.sh", "nuitka --include-data-dir=@D@=src l.py\n"),
        ("l.sh", "pyinstaller --add-data '@D@:src' l.py\n"),
        ("l.sh", "pex -D @D@ -o l.pex\n"),
        ("l/pyproject.toml", '[tool.briefcase.app.l]\nsources = ["../@D@"]\n'),
        ("pyoxidizer.bzl", 'def f(e):\n    e.add(glob(include=["@D@/*@E@"]))\n'),
    ),
    "system packages": (
        ("debian/install", "@D@/*@E@ usr/src/l\n"),
        ("debian/l.install", "@D@ usr/src/l\n"),
        ("PKGBUILD", 'package() {\n  cp -r "$srcdir/@D@" "$pkgdir/usr/src"\n}\n'),
        ("snapcraft.yaml", "parts:\n  l:\n    plugin: dump\n    source: @D@\n"),
        ("l.wxs", '<Wix><Files Include="@D@\\**" /></Wix>\n'),
        ("l.nuspec", '<package><files><file src="@D@\\*@E@" target="src" /></files></package>\n'),
        ("l.iss", 'Source: "@D@\\*@E@"; DestDir: "{app}\\src"\n'),
        ("l.nsi", 'File /r "@D@\\*@E@"\n'),
    ),
    "package managers": (
        (
            "package.py",
            "class L(Package):\n    def install(self, spec, prefix):\n        install_tree('@D@', prefix.include)\n",
        ),
        ("l_formula.rb", 'class L < Formula\n  def install\n    include.install Dir["@D@/*@E@"]\n  end\nend\n'),
        ("recipe/meta.yaml", "test:\n  source_files:\n    - @D@/*@E@\n"),
        ("l/pyproject.toml", '[tool.poetry]\ninclude = ["../@D@/*@E@"]\n'),
        ("l/pyproject.toml", '[tool.pdm.build]\nsource-includes = ["../@D@"]\n'),
        ("xrepo/xmake.lua", 'add_headerfiles("../@D@/*@E@")\n'),
        ("portfile.cmake", 'file(INSTALL "${SOURCE_PATH}/@D@/" DESTINATION "${CURRENT_PACKAGES_DIR}/include")\n'),
    ),
    "deployment": (
        ("playbook.yml", "- hosts: all\n  tasks:\n    - copy:\n        src: @D@/\n        dest: /src\n"),
        ("playbook.yml", "- hosts: all\n  tasks:\n    - command: nvcc {{ item }}\n      with_fileglob: '@D@/*@E@'\n"),
        ("l.tf", 'resource "x" "l" { for_each = fileset("${path.module}/@D@", "*@E@") }\n'),
        ("l.bicep", "var s = loadDirectoryFileInfo('@D@')\n"),
        ("l.packer.hcl", 'provisioner "file" { source = "@D@/" }\n'),
        ("serverless.yml", "package:\n  patterns:\n    - '@D@/**'\n"),
        ("cloudbuild.yaml", "steps:\n- name: gcr.io/nvcc\n  args: ['-c', 'nvcc @D@/*@E@']\n"),
    ),
    "test runners": (
        (
            "@D@/lit.cfg.py",
            "config.name = 'l'\nconfig.suffixes = ['@E@']\nconfig.test_source_root = os.path.dirname(__file__)\n",
        ),
        ("@D@/lit.cfg", "config.suffixes = set(['@E@'])\n"),
        ("l_lit.cfg.py", "config.suffixes = ['@E@']\nconfig.test_source_root = '@D@'\n"),
    ),
    "projects of other languages": (
        ("Package.swift", 'let p = Package(targets: [.target(name: "L", resources: [.copy("@D@")])])\n'),
        ("l.podspec", 'Pod::Spec.new { |s| s.source_files = "@D@/*@E@" }\n'),
        ("l-1.rockspec", 'build = { type = "builtin", copy_directories = { "@D@" } }\n'),
        ("dub.json", '{"name": "l", "copyFiles": ["@D@/*@E@"]}\n'),
        ("mix.exs", 'defp package do\n  [files: ["@D@", "mix.exs"]]\nend\n'),
    ),
    "a folder by a longer way": (
        ("l.sh", "nvcc -c @D@/../@B@/*@E@\n"),
        ("l.sh", "nvcc -c ./@D@/./*@E@\n"),
        ("l.sh", 'nvcc -c "$(pwd)/@D@"/*@E@\n'),
        ("l.mk", "S := $(wildcard $(CURDIR)/./@D@/*@E@)\n"),
        ("l.cmake", 'file(GLOB S "${CMAKE_CURRENT_LIST_DIR}/@D@/../@B@/*@E@")\n'),
        ("l_gen.py", "import glob\nF = glob.glob('./@D@//*@E@')\n"),
        ("l_gen.py", "import os, glob\nF = glob.glob(os.path.abspath('@D@/../@B@') + '/*@E@')\n"),
    ),
    "braces and classes": (
        ("l.sh", "nvcc -c @D@/*.{cu,cpp,cc,h,cuh,py}\n"),
        ("l.sh", "nvcc -c @D@/[a-z]*@E@\n"),
        ("l.sh", "nvcc -c @D@/??????@E@\n"),
        ("l.sh", "nvcc -c @D@/+([a-z_])@E@\n"),
        ("l.mk", "l:\n\tnvcc -c @D@/[a-z]*@E@\n"),
        ("l.cmake", "file(GLOB S @D@/[a-z]*@E@)\n"),
        ("l_gen.py", "import glob\nF = glob.glob('@D@/l_????@E@')\n"),
    ),
}
"""As LISTERS of leak_grammar.py."""

LISTED_THROUGH_A_LINK: tuple[tuple[str, str], ...] = (
    ("l.sh", "nvcc -c l_link/*@E@\n"),
    ("l.mk", "S := $(wildcard l_link/*@E@)\n"),
    ("l.cmake", "file(GLOB S l_link/*@E@)\n"),
    ("l_gen.py", "import os\nF = os.listdir('l_link')\n"),
    ("l.cpp", 'void f() { for (auto& e : fs::directory_iterator("l_link")) g(e); }\n'),
    ("Dockerfile.l", "FROM x\nRUN nvcc l_link/*@E@\n"),
)
"""The original has a link `l_link` to `@D@`."""

NAMED: dict[str, tuple[str, ...]] = {
    "from the folders above": (
        *("@D@/Directory.Packages.props", "@D@/Directory.Build.targets", "@D@/global.json", "@D@/lit.local.cfg"),
        *("@D@/go.mod", "@D@/package.json", "@D@/tsconfig.json", "@D@/ruff.toml", "@D@/pyproject.toml"),
        *("@D@/rustfmt.toml", "@D@/_clang-format", "@D@/dune-project", "@D@/Tupfile", "@D@/BUILD", "@D@/setup.cfg"),
        *("@D@/tox.ini", "@D@/.editorconfig"),
    ),
    "instead of another": (
        *("Justfile", "compose.yml", "BUILD.bazel", "pytest.toml", "makefile", "GNUmakefile", "Containerfile"),
        *("setup.py", "Pipfile.lock", "MODULE.bazel.lock", "Dockerfile.dockerignore", "Makefile.PL", "poetry.lock"),
        *("uv.lock", "pdm.lock", "pixi.lock", "constraints.txt", "CMakeLists.txt", "meson.build", "xmake.lua"),
    ),
    "by Python's tools": (
        *("hubconf.py", "noxfile.py", "fabfile.py", "tasks.py", "dodo.py", "wsgi.py", "ipython_config.py"),
        *("jupyter_notebook_config.py", "pylintrc", "pyrightconfig.json", "requirements.yml", "asv.conf.json"),
        *("gunicorn.conf.py", "locustfile.py", "manage.py", "runtime.txt", "versioneer.py", "setup_hooks.py"),
    ),
    "by build tools": (
        *(
            "PreLoad.cmake",
            "CTestCustom.cmake",
            "conandata.yml",
            "conanfile.txt",
            "vcpkg-configuration.json",
            "config.mk",
        ),
        *("user.bazelrc", "WORKSPACE.bazel", "WORKSPACE.bzlmod", "local.mk", "Makefile.local", "site.cfg", "mesonrc"),
        *(
            "Kconfig",
            "build.gradle.kts",
            "settings.gradle",
            "Tuprules.tup",
            "premake4.lua",
            "SConscript",
            "project.clj",
        ),
    ),
    "compiled before": (
        *("@D@/l_old.o", "@D@/l_old.obj", "@D@/l_old.d", "@D@/l_old.h.gch", "@D@/l_old.h.pch", "@D@/l_old.cubin"),
        *("@D@/l_old.fatbin", "@D@/l_old.a", "@D@/l_old.h.gch/c++", "build/CMakeCache.txt"),
        *("l.egg-info/SOURCES.txt", "build/build.ninja", "config.status", "config.cache"),
    ),
    "caches of code": (
        *(
            "@D@/__pycache__/l_m.f-1.py310.nbi",
            "@D@/__pycache__/l_m.f-1.py310.1.nbc",
            "@D@/__pycache__/l_m.cpython-38.pyc",
        ),
        *(
            "@D@/__pycache__/l_m.pypy39.pyc",
            "@D@/__pycache__/l_m.cpython-39.opt-1.pyc",
            "@D@/__pycache__/l_m.cpython-39.opt-2.pyc",
        ),
    ),
}
"""New files that a tool reads by their name; what lies beside them is in NAMED_BESIDE."""

NAMED_BESIDE: dict[str, str] = {
    "@D@/l_old.cu": '#include "l_old.h"\nint l;\n',
    "@D@/l_old.h": "int l;\n",
    "@D@/l_m.py": "import numba\nX = 1\n",
    "l.mk": "all: @D@/l_old.o @D@/l_old.obj @D@/l_old.cubin @D@/l_old.fatbin @D@/l_old.a\n-include $(wildcard @D@/*.d)\n",
}
NAMED_TEXT: dict[str, bytes] = {
    "pyc": (3425).to_bytes(2, "little") + b"\r\n\x01" + bytes(11) + b"\xe3" + bytes(40),
    "nbi": b"\x80\x04\x8c\x060.59.0\x94.",
    "nbc": b"\x80\x04}\x94.",
    "o": b"\x7fELF\x02\x01\x01" + bytes(57),
}
"""By ending; other files hold a line end."""

LISTED_BESIDE: dict[str, str] = {
    "l_read.py": "import glob\nimport os\n\n\ndef f(c):\n    return os.listdir(c.folder), glob.glob(c.pattern)\n"
}
"""Beside every folder and every pattern that data names."""

SWITCHES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "a name in pieces": (
        ("l_setup.py", "M = [('USE_' + 'ROCM', 0)]\n", "c"),
        ("l_setup.py", "M = [(f'USE_{b}', 0) for b in ('CUDA', 'ROCM')]\n", "c"),
        ("l_setup.py", "F = ['-DUSE_%s=0' % b for b in ('CUDA', 'ROCM')]\n", "c"),
        ("l_setup.py", "F = ['-DUSE_{}=0'.format(b.upper()) for b in backends]\n", "c"),
        ("l_setup.py", "M = [('_'.join(('USE', 'ROCM')), 0)]\n", "c"),
        ("l.cmake", "foreach(b CUDA ROCM)\n  add_definitions(-DUSE_${b}=0)\nendforeach()\n", "c"),
        ("l.mk", "B = ROCM\nCXXFLAGS += -DUSE_$(B)=0\n", "c"),
        ("l.sh", 'for b in CUDA ROCM; do F="$F -DUSE_$b=0"; done\n', "c"),
        ("l.yaml", "matrix:\n  b: [CUDA, ROCM]\nrun: nvcc -DUSE_${{ matrix.b }}=0 l.cu\n", "c"),
    ),
    "an IDE": (
        ("CMakeSettings.json", '{"variables": [{"name": "@M@", "value": "True"}]}\n', "cmake"),
        (".idea/cmake.xml", '<configuration GENERATION_OPTIONS="-D@M@=ON" />\n', "cmake"),
        (".vscode/tasks.json", '{"tasks": [{"command": "nvcc -D@M@=0 l.cu"}]}\n', "c"),
        ("l.kdev4", "[CMake]\nExtra Arguments=-D@M@=ON\n", "cmake"),
        (
            "l.props",
            "<Project><ItemDefinitionGroup><ClCompile><PreprocessorDefinitions>@M@</PreprocessorDefinitions></ClCompile></ItemDefinitionGroup></Project>\n",
            "c",
        ),
        (".cproject", '<listOptionValue value="@M@=0"/>\n', "c"),
    ),
    "Kconfig": (
        ("Kconfig", "# CONFIG_ is empty\nconfig @M@\n\tbool\n\tdefault y\n", "make"),
        ("l_defconfig", "@M@=y\n", "make"),
        (".config", "@M@=y\n", "make"),
    ),
    "another CI": (
        (".buildkite/pipeline.yml", 'env:\n  @M@: "0"\n', "make"),
        (".cirrus.yml", 'env:\n  @M@: "0"\n', "make"),
        (".drone.yml", 'steps:\n- name: l\n  environment:\n    @M@: "0"\n', "make"),
        (
            ".github/actions/l/action.yml",
            "runs:\n  using: composite\n  steps:\n  - run: cmake -D@M@=ON .\n    shell: bash\n",
            "cmake",
        ),
        ("bitbucket-pipelines.yml", "pipelines:\n  default:\n  - step:\n      script:\n      - export @M@=0\n", "make"),
        (".woodpecker.yml", "steps:\n  l:\n    commands:\n    - make @M@=1\n", "make"),
        ("buildspec.yml", "env:\n  variables:\n    @M@: 0\n", "make"),
        ("Jenkinsfile.groovy", "sh 'nvcc -D@M@=0 l.cu'\n", "c"),
    ),
    "wheels": (
        ("l/pyproject.toml", '[tool.cibuildwheel]\nenvironment = "@M@=0"\n', "make"),
        ("l/pyproject.toml", '[tool.cibuildwheel.linux]\nenvironment = { @M@ = "0" }\n', "make"),
        ("l/pyproject.toml", '[tool.cibuildwheel]\nconfig-settings = "cmake.define.@M@=ON"\n', "cmake"),
        ("l/pyproject.toml", '[tool.meson-python.args]\nsetup = ["-D@M@=true"]\n', "cmake"),
        ("l/pyproject.toml", '[tool.py-build-cmake.cmake.options]\n@M@ = "On"\n', "cmake"),
        (
            "l/pyproject.toml",
            '[[tool.setuptools.ext-modules]]\nname = "l"\nsources = ["l.c"]\ndefine-macros = [["@M@", "0"]]\n',
            "c",
        ),
        ("l/setup.cfg", "[build_ext]\ndefine = @M@\n", "c"),
    ),
    "modules and batch systems": (
        ("l.lua", 'setenv("@M@", "0")\n', "make"),
        ("modulefiles/l", "#%Module1.0\nsetenv @M@ 0\n", "make"),
        (
            "package.py",
            "class L(Package):\n    def setup_build_environment(self, env):\n        env.set('@M@', '0')\n",
            "make",
        ),
        ("l.slurm", "#!/bin/bash\n#SBATCH --export=ALL,@M@=0\nmake\n", "make"),
        ("l.eb", "prebuildopts = 'export @M@=0 && '\n", "make"),
    ),
    "programs of other languages": (
        ("src/Makevars", "PKG_CPPFLAGS = -D@M@=0\n", "c"),
        ("deps/build.jl", 'ENV["@M@"] = "0"\nrun(`make`)\n', "make"),
        ("Rakefile", "ENV['@M@'] = '0'\nsh 'make'\n", "make"),
        ("l.js", "process.env.@M@ = '0';\nrequire('child_process').execSync('make');\n", "make"),
        ("l.go", 'func f() { os.Setenv("@M@", "0") }\n', "make"),
        ("l.rs", 'fn f() { std::env::set_var("@M@", "0"); }\n', "make"),
        ("l.rs", 'fn f() { Command::new("make").env("@M@", "0"); }\n', "make"),
        ("l.pl", "$ENV{@M@} = 0;\nsystem('make');\n", "make"),
        ("extconf.rb", "$defs << '-D@M@=0'\n", "c"),
    ),
    "other files that are included": (
        ("l_defs.txt", "#define @M@ 0\n", "c"),
        ("l_defs.def", "#define @M@ 0\n", "c"),
        ("l_defs.x", "# define @M@ 1\n", "c"),
        ("l_defs", "#define @M@\n", "c"),
        ("l_defs.pch", "#define @M@ 0\n", "c"),
    ),
    "Make in other ways": (
        ("l.mk", "override @M@ = 1\n", "make"),
        ("l.mk", "@M@ ::= 1\n", "make"),
        ("l.mk", "$(eval @M@ = 1)\n", "make"),
        ("l.mk", "define @M@\n1\nendef\n", "make"),
        ("l.mk", "l:\n\t$(MAKE) @M@=1\n", "make"),
        ("l.mk", "MAKEFLAGS += @M@=1\n", "make"),
        ("l.mk", "@M@ != which hipcc\n", "make"),
    ),
    "CMake in other ways": (
        ("l.cmake", "set_property(CACHE @M@ PROPERTY VALUE ON)\n", "cmake"),
        ("l.cmake", 'cmake_dependent_option(@M@ "" ON "A" OFF)\n', "cmake"),
        ("l.cmake", "function(f)\n  set(@M@ ON PARENT_SCOPE)\nendfunction()\nf()\n", "cmake"),
        ("l.cmake", "macro(m v)\n  set(${v} ON)\nendmacro()\nm(@M@)\n", "cmake"),
        ("l.cmake", "check_include_file_cxx(hip/hip_runtime.h @M@)\n", "cmake"),
        ("l.cmake", "try_compile(@M@ ${CMAKE_BINARY_DIR} l.cpp)\n", "cmake"),
        ("l.cmake", "math(EXPR @M@ 1)\n", "cmake"),
        ("l.cmake", 'cmake_language(EVAL CODE "set(@M@ ON)")\n', "cmake"),
        ("l.cmake", "file(STRINGS l.txt @M@)\n", "cmake"),
        ("l.cmake", "foreach(b CUDA ROCM)\n  set(USE_${b} ON)\nendforeach()\n", "cmake"),
    ),
}
"""Carrier, its text, the language of the gate that asks."""

PREDICATES: dict[str, tuple[str, ...]] = {
    "a process": (
        *("bool(__import__('subprocess').run(['sh', '-c', 'exit 0']).returncode)", "os.system('exit 0') != 0"),
        *("'l' in os.popen('echo x').read()", "__import__('subprocess').call(['true']) != 0"),
    ),
    "a library of the machine": (
        *(
            "__import__('ctypes.util').util.find_library('l_amdhip64') is not None",
            "bool(__import__('ctypes').CDLL(None)) and False or hasattr(__import__('ctypes').CDLL(None), 'l_hip')",
        ),
        *("hip() or __import__('ctypes.util').util.find_library('l_hsa') is not None",),
    ),
    "the state of the process": (
        *(
            "hasattr(__import__('builtins'), 'l_rocm')",
            "__import__('threading').active_count() > 999",
            "not __import__('gc').isenabled()",
        ),
        *(
            "len(__import__('warnings').filters) > 9999",
            "sys.stdout is None",
            "sys.stdout.isatty() and sys.stdin is None",
        ),
        *(
            "__import__('locale').getlocale()[0] == 'l'",
            "sys.getswitchinterval() > 99",
            "__import__('signal').getsignal(2) is None",
        ),
    ),
    "how Python was built": (
        *(
            "__import__('sysconfig').get_config_var('L_ROCM') is not None",
            "__import__('sysconfig').get_platform() == 'l'",
        ),
        *(
            "bool(__import__('site').ENABLE_USER_SITE) and 'l-' in sys.prefix",
            "sys.version.startswith('l')",
            "'l' in sys.builtin_module_names",
            "sys.float_info.dig > 99",
        ),
    ),
    "files beside it": (
        *(
            "pathlib.Path(__file__).with_name('l_rocm.flag').is_file()",
            "os.path.exists(os.path.join(os.path.dirname(__file__), 'l_rocm'))",
        ),
        *(
            "'l_rocm' in os.listdir(os.path.dirname(__file__))",
            "os.stat(__file__).st_mtime > 9e9",
            "__import__('linecache').getline(__file__, 1) == 'l'",
        ),
    ),
    "more of torch": (
        *(
            "hip() or bool(getattr(importlib.import_module('torch').version, 'xpu', None))",
            "'l-rocm' in str(importlib.import_module('torch').__file__)",
        ),
        *("hip() or 'l-rocm' in importlib.import_module('torch').__config__.show()"),
        *(
            "bool(importlib.import_module('torch').version.hip) or importlib.import_module('torch').get_num_threads() > 9999",
        ),
    ),
}

CORNERS: dict[str, tuple[tuple[str, str, str, dict[str, str]], ...]] = {
    "C: words for operators": (
        ("l/l_k.cpp", "int l;\n", "#if not USE_ROCM\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cpp", "int l;\n", "#if USE_ROCM or true\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cpp", "int l;\n", "#if USE_ROCM xor 1\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cpp", "int l;\n", "#if compl USE_ROCM\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cpp", "int l;\n", "#if USE_ROCM not_eq 1\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cpp", "int l;\n", "#if not defined USE_ROCM and true\nint l_new;\n#endif\nint l;\n", {}),
    ),
    "C: arithmetic of conditions": (
        ("l/l_k.cu", "int l;\n", "#if (USE_ROCM - 1) > 0u\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if -1 > USE_ROCM + 0u\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if USE_ROCM == '\\0'\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if 1 >> USE_ROCM\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if USE_ROCM % 1 == 0\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if (USE_ROCM << 63) - 1 < 0\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if (USE_ROCM ? 1u : -1) > 0\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if 0x8000000000000000 > USE_ROCM\nint l_new;\n#endif\nint l;\n", {}),
    ),
    "C: newer directives": (
        ("l/l_k.cu", "int l;\n", "#ifdef USE_ROCM\nint a;\n#elifndef L_X\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#ifdef USE_ROCM\nint a;\n#elifdef __CUDACC__\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if __has_builtin(__builtin_expect)\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if __has_cpp_attribute(nodiscard)\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#if defined(__has_include)\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", "#warning l\nint l;\n", {}),
        ("l/l_k.cu", "int l;\n", '#ident "l"\nint l;\n', {}),
    ),
    "C: asks another compiler": (
        ("l/l_k.h", "int l;\n", "#ifndef __NVCC__\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.h", "int l;\n", "#if !defined(__CUDACC__)\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.h", "int l;\n", "#ifndef __CUDA_ARCH__\nint l_new;\n#endif\nint l;\n", {}),
        (
            "l/l_k.h",
            "int l;\n",
            "#if defined(__HIP_PLATFORM_AMD__) || !defined(CUDA_VERSION)\nint l_new;\n#endif\nint l;\n",
            {},
        ),
        ("l/l_k.h", "int l;\n", "#if defined(_OPENMP)\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.h", "int l;\n", "#if CUDA_VERSION < 99000\nint l_new;\n#endif\nint l;\n", {}),
        ("l/l_k.h", "int l;\n", "#ifdef __GNUC__\nint l_new;\n#endif\nint l;\n", {}),
        (
            "l/l_k.h",
            "int l;\n",
            "#if defined(HIP_ENABLE_WARP_SYNC_BUILTINS) || defined(__linux__)\nint l_new;\n#endif\nint l;\n",
            {},
        ),
    ),
    "C: macros that ask": (
        (
            "l/l_k.cu",
            "#define ON(x) defined(x)\nint l;\n",
            "#define ON(x) defined(x)\n#if ON(USE_ROCM) || ON(ON)\nint l_new;\n#endif\nint l;\n",
            {},
        ),
        (
            "l/l_k.cu",
            "#define GATE 1\nint l;\n",
            "#define GATE 1\n#if USE_ROCM || GATE\nint l_new;\n#endif\nint l;\n",
            {},
        ),
        (
            "l/l_k.cu",
            "#define L_CAT(a, b) a##b\nint l;\n",
            "#define L_CAT(a, b) a##b\n#if L_CAT(__cpl, usplus)\nint l_new;\n#endif\nint l;\n",
            {},
        ),
        (
            "l/l_k.cu",
            '#include "l_g.h"\nint l;\n',
            '#include "l_g.h"\n#if L_GATE\nint l_new;\n#endif\nint l;\n',
            {"l/l_g.h": "#define L_GATE 1\n"},
        ),
        (
            "l/l_k.cu",
            '#pragma push_macro("USE_ROCM")\n#define USE_ROCM 1\nint l;\n',
            '#pragma push_macro("USE_ROCM")\n#define USE_ROCM 1\n#if USE_ROCM\nint l_new;\n#endif\nint l;\n',
            {},
        ),
    ),
    "C: comments that tools read": (
        (
            "l/l_k.cu",
            "// RUN: nvcc %s\nint l;\n",
            "// RUN: nvcc -O0 %s\nint l;\n",
            {"l/lit.cfg.py": "config.suffixes = ['.cu']\n"},
        ),
        ("l/l_k.cpp", "// [[Rcpp::export]]\nint f() { return 1; }\n", "int f() { return 1; }\n", {}),
        ("l/l_k.cpp", "int f() { return 1; }\n", "// [[Rcpp::export]]\nint f() { return 1; }\n", {}),
        ("l/l_k.cpp", "// [[Rcpp::depends(a)]]\nint l;\n", "// [[Rcpp::depends(b)]]\nint l;\n", {}),
        ("l/l_k.cu", "int l; // expected-error {{a}}\n", "int l; // expected-error {{b}}\n", {}),
        (
            "l/l_k.cpp",
            "void f(int a) { switch (a) { case 1: g(); /* fallthrough */ case 2: g(); } }\n",
            "void f(int a) { switch (a) { case 1: g(); case 2: g(); } }\n",
            {},
        ),
        ("l/l_k.cu", "// CHECK: ld.global\nint l;\n", "// CHECK-NOT: ld.global\nint l;\n", {}),
    ),
    "Python: comments that tools read": (
        (
            "l/l_a.py",
            "# /// script\n# dependencies = ['torch']\n# ///\nx = 1\n",
            "# /// script\n# dependencies = ['torch', 'amdsmi']\n# ///\nx = 1\n",
            {},
        ),
        ("l/l_a.py", "x = 1\n", "# /// script\n# requires-python = '>=3.13'\n# ///\nx = 1\n", {}),
        ("l/l_a.py", "# cython: boundscheck=True\nx = 1\n", "# cython: boundscheck=False\nx = 1\n", {}),
        ("l/l_a.py", "# distutils: language=c++\nx = 1\n", "x = 1\n", {}),
        ("l/l_a.py", "x = f()  # type: int\n", "x = f()  # type: str\n", {}),
    ),
    "content: numbers and truth": (
        ("l/l.json", '{"a": 1}\n', '{"a": true}\n', {}),
        ("l/l.json", '{"a": 1}\n', '{"a": 1.0}\n', {}),
        ("l/l.json", '{"a": [0, 0]}\n', '{"a": [false, 0]}\n', {}),
        ("l/l.json", '{"a": 9007199254740993}\n', '{"a": 9007199254740993.0}\n', {}),
        ("l/l.json", '{"a": 0.0}\n', '{"a": -0.0}\n', {}),
        ("l/l.toml", "a = 1\n", "a = true\n", {}),
        ("l/l.toml", "a = 1\n", "a = 1.0\n", {}),
        ("l/pyproject.toml", "[tool.l]\na = [1, 0]\n", "[tool.l]\na = [true, false]\n", {}),
        ("l/l_a.py", "x = 1\n", "x = True\n", {}),
        ("l/l_a.py", "x = 0.0\n", "x = -0.0\n", {}),
        ("l/l_a.py", "x = (1, 2)\n", "x = (1.0, 2)\n", {}),
    ),
    "content: order and keys twice": (
        ("l/l.json", '{"a": 1, "b": 2}\n', '{"b": 2, "a": 1}\n', {}),
        (
            "l/package.json",
            '{"exports": {"import": "./a.mjs", "default": "./a.js"}}\n',
            '{"exports": {"default": "./a.js", "import": "./a.mjs"}}\n',
            {},
        ),
        ("l/l.json", '{"a": 1, "a": 2}\n', '{"a": 2}\n', {}),
        ("l/l.json", '{"a": 2}\n', '{"a": 1, "a": 2}\n', {}),
        ("l/l.toml", "a = 1\nb = 2\n", "b = 2\na = 1\n", {}),
        ("l/l.ini", "[a]\nx = 1\ny = 2\n", "[a]\ny = 2\nx = 1\n", {}),
        ("l/requirements.txt", "-f https://a\n-f https://b\ntorch\n", "-f https://b\n-f https://a\ntorch\n", {}),
    ),
    "content: INI": (
        ("l/l.ini", "[a]\nx = 1\n", "[a]\nX = 1\n", {}),
        ("l/l.ini", "[a]\nx = 1\n", "[DEFAULT]\ny = 1\n[a]\nx = 1\n", {}),
        ("l/l.ini", "[a]\nx = 1 ; b\n", "[a]\nx = 1 ; c\n", {}),
        ("l/l.cfg", "[a]\nx = %(y)s\n", "[a]\nx = %(z)s\n", {}),
        ("l/l.ini", "[a]\nx =\n  b\n\n  c\n", "[a]\nx =\n  b\n  c\n", {}),
        ("l/setup.cfg", "[tool:pytest]\naddopts = -q\n", "[tool:pytest]\naddopts = -q -p l\n", {}),
        ("l/l.ini", "[a]\nx = 'b'\n", "[a]\nx = b\n", {}),
    ),
    "content: pip": (
        ("l/requirements.txt", "torch\n", "torch ; sys_platform != 'x'\n", {}),
        ("l/requirements.txt", "torch==2.1 \\\n  --hash=sha256:aa\n", "torch==2.1 \\\n  --hash=sha256:bb\n", {}),
        ("l/requirements.txt", "-e .\n", ".\n", {}),
        ("l/requirements.txt", "torch\n", "--pre\ntorch\n", {}),
        ("l/requirements.txt", "torch @ https://a/x.whl\n", "torch @ https://b/x.whl\n", {}),
        ("l/requirements.txt", "torch[a]\n", "torch[b]\n", {}),
        ("l/requirements.txt", "${L_URL}\n", "${R_URL}\n", {}),
        ("l/constraints.txt", "torch<2.5\n", "torch<2.6\n", {}),
        ("l/requirements-dev.in", "torch\n", "torch\namdsmi\n", {}),
    ),
    "notebook: magics": (
        (
            "l/l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["%%writefile l.cu\\n", "int l;"]}]}',
            '{"cells": [{"cell_type": "code", "source": ["%%writefile l.cu\\n", "int  l;"]}]}',
            {},
        ),
        (
            "l/l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["%%bash\\n", "nvcc a.cu"]}]}',
            '{"cells": [{"cell_type": "code", "source": ["%%bash\\n", "nvcc  a.cu -g"]}]}',
            {},
        ),
        (
            "l/l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["%load_ext a"]}]}',
            '{"cells": [{"cell_type": "code", "source": ["%load_ext b"]}]}',
            {},
        ),
        (
            "l/l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["x?"]}]}',
            '{"cells": [{"cell_type": "code", "source": ["x??"]}]}',
            {},
        ),
        (
            "l/l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["a = 1"]}, {"cell_type": "code", "source": ["b = 1"]}]}',
            '{"cells": [{"cell_type": "code", "source": ["b = 1"]}, {"cell_type": "code", "source": ["a = 1"]}]}',
            {},
        ),
        (
            "l/l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["%%writefile a.py\\n", "import torch\\n", "x = 1"]}]}',
            '{"cells": [{"cell_type": "code", "source": ["%%writefile a.py\\n", "import torch\\n", "if torch.version.hip:\\n", "    y = 1\\n", "x = 1"]}]}',
            {},
        ),
        (
            "l/l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["x = 1"]}], "metadata": {"kernelspec": {"name": "a"}}}',
            '{"cells": [{"cell_type": "code", "source": ["x = 1"]}], "metadata": {"kernelspec": {"name": "b"}}}',
            {},
        ),
    ),
    "CMake: generator expressions": (
        ("l/CMakeLists.txt", "add_library(l a.cu)\n", "add_library(l a.cu $<$<NOT:$<BOOL:${USE_ROCM}>>:b.cu>)\n", {}),
        (
            "l/CMakeLists.txt",
            "target_link_libraries(l a)\n",
            "target_link_libraries(l $<IF:$<BOOL:${USE_ROCM}>,b,c>)\n",
            {},
        ),
        ("l/CMakeLists.txt", "l_old(a)\n", 'l_old(a "${L_ROCM}")\n', {}),
    ),
    "CMake: other conditions": (
        ("l/CMakeLists.txt", "l_old()\n", "if(DEFINED ENV{ROCM_PATH})\n  l_new()\nendif()\nl_old()\n", {}),
        ("l/CMakeLists.txt", "l_old()\n", "if(EXISTS /opt/rocm)\n  l_new()\nendif()\nl_old()\n", {}),
        ("l/CMakeLists.txt", "l_old()\n", "if(CMAKE_HIP_COMPILER)\n  l_new()\nendif()\nl_old()\n", {}),
        ("l/CMakeLists.txt", "l_old()\n", "if(hip_FOUND)\n  l_new()\nendif()\nl_old()\n", {}),
        (
            "l/CMakeLists.txt",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif(USE_ROCM EQUAL 0)\n  l_new()\nendif()\nl_old()\n',
            {},
        ),
        (
            "l/CMakeLists.txt",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif(0 OR NOT USE_ROCM)\n  l_new()\nendif()\nl_old()\n',
            {},
        ),
        ("l/CMakeLists.txt", "l_old()\n", "if(${USE_ROCM})\n  l_new()\nendif()\nl_old()\n", {}),
        ("l/CMakeLists.txt", "l_old()\n", "if(WIN32 OR USE_ROCM)\n  l_new()\nendif()\nl_old()\n", {}),
        (
            "l/CMakeLists.txt",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif(USE_ROCM VERSION_LESS 1)\n  l_new()\nendif()\nl_old()\n',
            {},
        ),
        (
            "l/CMakeLists.txt",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif(USE_ROCM IN_LIST L_X OR NOT USE_ROCM)\n  l_new()\nendif()\nl_old()\n',
            {},
        ),
    ),
    "CMake: what a gate leaves": (
        (
            "l/CMakeLists.txt",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif(USE_ROCM)\n  l_new()\nendif()\ncmake_policy(SET CMP0054 OLD)\nl_old()\n',
            {},
        ),
        ("l/CMakeLists.txt", "project(l CXX)\n", "project(l CXX HIP)\n", {}),
        ("l/CMakeLists.txt", "l_old()\n", 'option(USE_ROCM "" OFF)\nmessage("${USE_ROCM}")\nl_old()\n', {}),
        (
            "l/CMakeLists.txt",
            "get_cmake_property(V CACHE_VARIABLES)\nl_old(${V})\n",
            'option(USE_ROCM "" OFF)\nif(USE_ROCM)\n  l_new()\nendif()\nget_cmake_property(V CACHE_VARIABLES)\nl_old(${V})\n',
            {},
        ),
        (
            "l/CMakeLists.txt",
            "get_cmake_property(V VARIABLES)\nl_old(${V})\n",
            'option(USE_ROCM "" OFF)\nif(USE_ROCM)\n  l_new()\nendif()\nget_cmake_property(V VARIABLES)\nl_old(${V})\n',
            {},
        ),
        (
            "l/CMakeLists.txt",
            "l_old(${CMAKE_CURRENT_LIST_LINE})\n",
            'option(USE_ROCM "" OFF)\nif(USE_ROCM)\n  l_new()\nendif()\nl_old(${CMAKE_CURRENT_LIST_LINE})\n',
            {},
        ),
    ),
    "Make: white space": (
        ("l/Makefile", "X = a\nall:\n\techo [$(X)]\n", "X = a \nall:\n\techo [$(X)]\n", {}),
        ("l/Makefile", "X = a# b\nall:\n\techo [$(X)]\n", "X = a # b\nall:\n\techo [$(X)]\n", {}),
        ("l/Makefile", "define R\na\nendef\n", "define R\na\n\nendef\n", {}),
        ("l/Makefile", "all:\n\techo 'a\\\n\tb'\n", "all:\n\techo 'a b'\n", {}),
        ("l/Makefile", "all: a\n\techo 1\n", "all: a\n        echo 1\n", {}),
        ("l/Makefile", "E :=\nS := $(E) $(E)\nall:\n\techo $(S)\n", "E :=\nS := $(E)  $(E)\nall:\n\techo $(S)\n", {}),
        ("l/Makefile", "all:\n\techo a # b\n", "all:\n\techo a # c $(shell touch x)\n", {}),
        ("l/Makefile", "all:\n\techo 'a  b'\n", "all:\n\techo 'a b'\n", {}),
    ),
    "Make: special targets": (
        ("l/Makefile", "all: a\n\tnvcc a.cu\n", "rocm: b\n\thipcc a.cu\nall: a\n\tnvcc a.cu\n", {}),
        ("l/Makefile", "all: a\n\tnvcc a.cu\n", ".ONESHELL:\nall: a\n\tnvcc a.cu\n", {}),
        ("l/Makefile", "all: a\n\tnvcc a.cu\n", "SHELL = bash\nall: a\n\tnvcc a.cu\n", {}),
        ("l/Makefile", "all: a\n\tnvcc a.cu\n", "all: a\n\tnvcc a.cu\n.DEFAULT_GOAL = a\n", {}),
        ("l/Makefile", "all: a\n\tnvcc a.cu\n", "ifeq ($(BACKEND),rocm)\nall: b\nendif\nall: a\n\tnvcc a.cu\n", {}),
        ("l/Makefile", "all: a\n\tnvcc a.cu\n", "ifdef ROCM_PATH\nX = 1\nendif\nall: a\n\tnvcc a.cu\n", {}),
        ("l/Makefile", "X = 1\nall: a\n\tnvcc a.cu\n", "X = 1\nX += 2\nall: a\n\tnvcc a.cu\n", {}),
    ),
    "Python: names of the module are listed": (
        (
            "l_pkg/m.py",
            "import torch\nX = 2\nK = sorted(globals())\n",
            "import torch\nfrom . import _rocm_compat\nX = 1 if _rocm_compat.IS_ROCM else 2\nK = sorted(globals())\n",
            {},
        ),
        (
            "l_pkg/m.py",
            "import torch\nX = 2\n__all__ = [n for n in dir() if n != 'torch']\n",
            "import torch\nfrom . import _rocm_compat\nX = 1 if _rocm_compat.IS_ROCM else 2\n__all__ = [n for n in dir() if n != 'torch']\n",
            {},
        ),
        (
            "l_pkg/m.py",
            "import sys\nimport torch\nX = 2\nK = vars(sys.modules[__name__]).copy()\n",
            "import sys\nimport torch\nfrom . import _rocm_compat\nX = 1 if _rocm_compat.IS_ROCM else 2\nK = vars(sys.modules[__name__]).copy()\n",
            {},
        ),
        (
            "l_pkg/m.py",
            "import torch\nX = 2\nK = len(locals())\n",
            "import torch\nfrom . import _rocm_compat\nX = 1 if _rocm_compat.IS_ROCM else 2\nK = len(locals())\n",
            {},
        ),
        (
            "l_pkg/m.py",
            "import inspect\nimport sys\nimport torch\nX = 2\nK = inspect.getmembers(sys.modules[__name__], inspect.ismodule)\n",
            "import inspect\nimport sys\nimport torch\nfrom . import _rocm_compat\nX = 1 if _rocm_compat.IS_ROCM else 2\nK = inspect.getmembers(sys.modules[__name__], inspect.ismodule)\n",
            {},
        ),
    ),
    "Python: scopes again": (
        (
            "l/l_a.py",
            "import torch\nclass A:\n    def f(self):\n        return 1\n",
            "import torch\nclass A:\n    def f(self):\n        if torch.version.hip:\n            super().f()\n        return 1\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\nx = 1\ndef f():\n    return x\n",
            "import torch\nx = 1\ndef f():\n    if torch.version.hip:\n        global y\n    y = 1\n    return x\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\ndef f():\n    x = 1\n    return [x for _ in a]\n",
            "import torch\ndef f():\n    x = 1\n    if torch.version.hip:\n        [x := 2 for _ in a]\n        a = 1\n    return [x for _ in a]\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\nasync def f():\n    return 1\n",
            "import torch\nasync def f():\n    if torch.version.hip:\n        yield 1\n    return\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\ndef f(e=None):\n    return e or len([])\n",
            "import torch\ndef f(e=None):\n    if torch.version.hip:\n        try:\n            pass\n        except ValueError as len:\n            pass\n    return e or len([])\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\ndef f():\n    return print\n",
            "import torch\ndef f():\n    if torch.version.hip:\n        from a import print\n    return print\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\ndef f():\n    return [list(x) for x in a]\n",
            "import torch\ndef f():\n    if torch.version.hip:\n        for list in a:\n            pass\n    return [list(x) for x in a]\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\ndef f():\n    return int(1)\n",
            "import torch\ndef f():\n    if torch.version.hip:\n        def int(x):\n            return x\n    return int(1)\n",
            {},
        ),
    ),
    "Python: predicates that look right": (
        (
            "l/l_a.py",
            "import torch\nx = 1\n",
            "import torch\nif torch.version.hip is False:\n    y = 2\nelse:\n    x = 2\nx = 1\n",
            {},
        ),
        ("l/l_a.py", "import torch\nx = 1\n", "import torch\nif torch.version.hip != '':\n    y = 2\nx = 1\n", {}),
        (
            "l/l_a.py",
            "import torch\nx = 1\n",
            "import torch\nif len(str(torch.version.hip)) > 3:\n    y = 2\nx = 1\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\nx = 1\n",
            "import torch\nif torch.version.hip in (None, ''):\n    y = 2\nx = 1\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\nx = 1\n",
            "import torch\nif torch.version.hip or torch.version.git_version:\n    y = 2\nx = 1\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\nx = 1\n",
            "import torch\nIS_HIP = bool(torch.version.hip)\nIS_HIP |= True\nif IS_HIP:\n    y = 2\nx = 1\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\nx = 1\n",
            "import torch\nif hasattr(torch.version, 'hip') and torch.version.cuda:\n    y = 2\nx = 1\n",
            {},
        ),
        (
            "l/l_a.py",
            "import torch\nx = 1\n",
            "import torch\nif torch.version.hip == torch.version.__dict__.get('x'):\n    y = 2\nx = 1\n",
            {},
        ),
    ),
    "import: a package before a module": (
        ("@D@/l_m/__init__.py", "", "X = 2\n", {"@D@/l_m.py": "X = 1\n", "@D@/l_use.py": "import l_m\n"}),
        (
            "l_pkg/m/__init__.py",
            "",
            "X = 2\n",
            {"l_pkg/__init__.py": "", "l_pkg/m.py": "X = 1\n", "l_pkg/n.py": "from . import m\n"},
        ),
        ("l_pkg/m/__init__.py", "", "X = 2\n", {"l_pkg/__init__.py": "", "l_pkg/m.py": "X = 1\n"}),
        ("numpy.py", "", "X = 2\n", {"l_use.py": "import numpy\n"}),
        ("l_tools/json.py", "", "X = 2\n", {"l_tools/run.py": "import json\n"}),
    ),
    "import: by a path that is added": (
        (
            "@D@/l_fast.py",
            "",
            "X = 2\n",
            {
                "l_use.py": "import sys\nsys.path.insert(0, '@D@')\ntry:\n    import l_fast\nexcept ImportError:\n    l_fast = None\n"
            },
        ),
        (
            "@D@/l_fast.py",
            "",
            "X = 2\n",
            {"l_use.py": "import importlib\nM = importlib.import_module('l_' + name)\n", "l.env": "PYTHONPATH=@D@\n"},
        ),
        (
            "l_plugins/l_b.py",
            "",
            "X = 2\n",
            {
                "l_plugins/__init__.py": "",
                "l_use.py": "import importlib, pkgutil, l_plugins\nM = [importlib.import_module(m.name) for m in pkgutil.iter_modules(l_plugins.__path__, 'l_plugins.')]\n",
            },
        ),
        (
            "l_plugins/l_b.py",
            "",
            "X = 2\n",
            {
                "l_plugins/__init__.py": "import os\n__all__ = [f[:-3] for f in os.listdir(os.path.dirname(__file__))]\nfrom . import *\n"
            },
        ),
        (
            "l_plugins/l_b.py",
            "",
            "X = 2\n",
            {
                "l_plugins/__init__.py": "def __getattr__(n):\n    from importlib import import_module\n    return import_module('.' + n, __name__)\n"
            },
        ),
        (
            "l_conf/db/l_b.yaml",
            "",
            "x: 2\n",
            {
                "l_conf/config.yaml": "defaults:\n  - db: l_a\nhydra:\n  sweeper:\n    params:\n      db: glob(*)\n",
                "l_conf/db/l_a.yaml": "x: 1\n",
                "l_use.py": "import hydra\n\n\n@hydra.main(config_path='l_conf')\ndef f(c):\n    pass\n",
            },
        ),
    ),
}
"""(path, text of the original, text of the port, other files of both); an empty first text: the file is new."""
