"""Files that tools read, or run, because of their name: a table. Each reader's documentation says where it looks."""

from __future__ import annotations

import re

_READERS: dict[str, tuple[str, ...]] = {
    "pytest loads it": ("conftest.py",),
    "Python runs it at start": ("sitecustomize.py", "usercustomize.py"),
    "Python takes the folder for a virtual environment": ("pyvenv.cfg",),
    "pytest reads it": ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml"),
    "packaging reads it": ("setup.py", "setup.cfg", "pyproject.toml", "MANIFEST.in", "hatch.toml", "pdm.toml"),
    "the package manager reads it": (
        *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pnpm-workspace.yaml", "package.json", "bunfig.toml"),
        *(
            ".condarc",
            "condarc",
            "environment.yml",
            "environment.yaml",
            "pixi.toml",
            "uv.toml",
            "uv.lock",
            "poetry.toml",
        ),
        *(
            "poetry.lock",
            "Pipfile",
            "Pipfile.lock",
            "pip.conf",
            "pip.ini",
            "pdm.lock",
            "pylock.toml",
            "constraints.txt",
        ),
        *("conanfile.py", "conanfile.txt", "vcpkg.json", "vcpkg-configuration.json", "Cargo.toml", "Cargo.lock"),
        *("build.rs", "rust-toolchain", "rust-toolchain.toml", "go.mod", "go.work"),
    ),
    "a version manager reads it": (
        *(
            ".python-version",
            ".python-versions",
            ".tool-versions",
            ".nvmrc",
            ".node-version",
            "mise.toml",
            ".mise.toml",
        ),
        *("runtime.txt", ".ruby-version"),
    ),
    "the shell runs it on entering the folder": (".envrc", ".env", ".env.local", ".autoenv.zsh", ".bashrc", ".profile"),
    "a debugger or an interpreter runs it at start": (".gdbinit", ".lldbinit", ".pdbrc", ".pythonrc", ".pythonstartup"),
    "Bazel reads it": (
        *("BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", ".bazelrc", ".bazelversion"),
        *(".bazelignore", "WORKSPACE.bzlmod", "REPO.bazel", "user.bazelrc", ".bazelproject"),
    ),
    "Buck reads it": ("BUCK", "TARGETS", ".buckconfig", ".buckconfig.local"),
    "GN reads it": ("BUILD.gn", ".gn", "args.gn"),
    "cmake reads it": ("CMakePresets.json", "CMakeUserPresets.json", "CTestConfig.cmake", "CTestCustom.cmake"),
    "the build tool reads it": (
        *("configure", "configure.ac", "configure.in", "Makefile.am", "Makefile.in", "GNUmakefile.in", "acinclude.m4"),
        *("aclocal.m4", "SConstruct", "SConscript", "wscript", "premake5.lua", "xmake.lua", "build.ninja", "Jamroot"),
        *("Jamfile", "justfile", ".justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml", "Rakefile", "noxfile.py"),
        *("dodo.py", "fabfile.py", "Tupfile", "Tuprules.tup", "Directory.Build.props", "build.zig"),
        *(
            "Directory.Build.targets",
            "meson_options.txt",
            "meson.options",
            "binding.gyp",
            "common.gypi",
            "build.gradle",
        ),
    ),
    "the compiler or its tools read it": (
        *(".clang-tidy", ".clang-format", ".clangd", "compile_flags.txt", "compile_commands.json", "nvcc.profile"),
        *("ccache.conf", ".ccache", "icecc.conf", "module.modulemap"),
    ),
    "checks of the repository read it": (
        *(".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "lefthook.yml", ".flake8", "ruff.toml", ".ruff.toml"),
        *(
            "mypy.ini",
            ".mypy.ini",
            ".pylintrc",
            "pylintrc",
            ".isort.cfg",
            ".coveragerc",
            ".editorconfig",
            "pyrightconfig.json",
        ),
        *(
            ".eslintrc",
            ".eslintrc.js",
            ".eslintrc.json",
            ".prettierrc",
            ".style.yapf",
            ".cmake-format.py",
            "sonar-project.properties",
        ),
    ),
    "git reads it": (".gitmodules", ".gitattributes", ".gitignore", ".lfsconfig", ".mailmap", ".gitconfig"),
    "containers read it": (
        *(".dockerignore", ".containerignore", "docker-compose.override.yml", "docker-compose.override.yaml"),
        *(
            "compose.override.yml",
            "compose.override.yaml",
            "docker-bake.hcl",
            "docker-bake.override.hcl",
            "apptainer.def",
        ),
        *("devcontainer.json", ".devcontainer.json", "Vagrantfile", "skaffold.yaml"),
    ),
    "a CI service reads it": (
        *(".gitlab-ci.yml", ".travis.yml", "appveyor.yml", ".appveyor.yml", "azure-pipelines.yml", "Jenkinsfile"),
        *(
            ".cirrus.yml",
            ".drone.yml",
            "bitbucket-pipelines.yml",
            ".readthedocs.yaml",
            ".readthedocs.yml",
            "netlify.toml",
        ),
        *("cloudbuild.yaml", "codecov.yml", ".codecov.yml", "action.yml", "action.yaml", "Procfile", "app.yaml"),
    ),
}
BY_NAME = {name: reader for reader, names in _READERS.items() for name in names}
"""Name of a file -> who reads it, in whatever folder it lies."""

_OF_ROCM = re.compile(r"(?i)rocm|rocport|(?:^|[^a-z])(?:hip|amd)(?:[^a-z]|\Z)|\.hip\Z")
_DOCUMENTATION = (".md", ".rst")


def own_of_the_port(path: str) -> bool:
    """Whether a new file that is hidden, or at the root, is one that a port puts there: named for ROCm, or a text."""
    if path.startswith(".rocport/"):
        return True
    parts = path.split("/")
    hidden = any(part.startswith(".") for part in parts)
    if not hidden and len(parts) > 1:
        return True
    if _OF_ROCM.search(parts[-1]) or (len(parts) > 1 and _OF_ROCM.search(parts[0])):
        return not parts[-1].startswith(".")
    return not hidden and path.endswith(_DOCUMENTATION)
