"""Files that tools read, or run, because of their name: a table. Each reader's documentation says where it looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

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
    "cmake takes its folder for one it has configured": ("CMakeCache.txt",),
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


@dataclass(frozen=True)
class TakesAll:
    """A tool that takes every file of an ending unasked: where (an expression for the path), and when: the original has
    a file that `marker` matches, in that folder or above (`above`)."""

    tool: str
    endings: tuple[str, ...]
    marker: re.Pattern[str]
    where: re.Pattern[str] = re.compile("")
    above: bool = True

    def takes(self, path: str, children: Callable[[str], Iterable[str]]) -> bool:
        """Whether it takes a new file. `children` are the names of the original's files in a folder."""
        if not path.endswith(self.endings) or not self.where.search(path):
            return False
        folder = path.rpartition("/")[0]
        while True:
            if any(self.marker.fullmatch(name) for name in children(folder)):
                return True
            if not self.above or not folder:
                return False
            folder = folder.rpartition("/")[0]


def _takes(tool: str, endings: str, marker: str, where: str = "", above: bool = True) -> TakesAll:
    return TakesAll(tool, tuple(endings.split()), re.compile(marker), re.compile(where), above)


_WEB = ".js .jsx .mjs .ts .tsx .vue .svelte"
TAKES_ALL = (
    _takes("Cargo", ".rs", r"Cargo\.toml", r"(?:^|/)(?:src/bin|examples|tests|benches)/"),
    _takes("Go", ".go .s .syso", r"[^/]*\.go", above=False),
    _takes("the .NET SDK", ".cs .vb .resx .razor", r"[^/]*\.(?:cs|vb)proj"),
    _takes("Gradle, Maven or sbt", ".java .kt .scala .groovy", r"(?:build\.gradle(?:\.kts)?|pom\.xml|build\.sbt)"),
    _takes("Swift", ".swift .c .cpp .m .mm .h", r"Package\.swift", r"(?:^|/)(?:Sources|Tests)/"),
    _takes("R", ".R .r .c .cc .cpp .f .f90 .h", r"DESCRIPTION", r"(?:^|/)(?:R|src|tests)/"),
    _takes("dune", ".ml .mli .mll .mly", r"dune", above=False),
    _takes("Terraform", ".tf .tf.json .tfvars", r"[^/]*\.tf", above=False),
    _takes("Fortran's package manager", ".f90 .F90 .f .F", r"fpm\.toml", r"(?:^|/)(?:src|app|test|example)/"),
    _takes("dub", ".d", r"dub\.(?:json|sdl)", r"(?:^|/)(?:source|src)/"),
    _takes("Mix", ".ex .exs", r"mix\.exs"),
    _takes("rebar", ".erl .hrl", r"rebar\.config"),
    _takes("hpack", ".hs", r"package\.yaml"),
    _takes("Perl's MakeMaker", ".xs .pm .pl", r"(?:Makefile|Build)\.PL"),
    _takes("PlatformIO", ".c .cpp .h .ino", r"platformio\.ini", r"(?:^|/)(?:src|lib|include|test)/"),
    _takes("Arduino", ".ino .c .cpp .h", r"[^/]*\.ino", above=False),
    _takes("Helm", ".yaml .yml .tpl", r"Chart\.yaml", r"(?:^|/)(?:templates|charts|crds)/"),
    _takes("Buf", ".proto", r"buf\.(?:yaml|gen\.yaml)"),
    _takes("Django", ".py", r".*", r"(?:^|/)(?:migrations|management/commands|templatetags)/"),
    _takes("Alembic", ".py", r"alembic\.ini|env\.py", r"(?:^|/)versions/"),
    _takes("Airflow", ".py", r".*", r"(?:^|/)dags/"),
    _takes("behave", ".py .feature", r".*", r"(?:^|/)features/"),
    _takes("Scrapy", ".py", r"scrapy\.cfg", r"(?:^|/)spiders/"),
    _takes("dbt", ".sql .yml .py", r"dbt_project\.yml"),
    _takes("Rails", ".rb", r"Gemfile", r"(?:^|/)(?:app|lib|config/initializers|db/migrate)/"),
    _takes("a web framework", _WEB, r"(?:next|nuxt|svelte)\.config\.\w+", r"(?:^|/)(?:pages|app|routes|plugins)/"),
    _takes("a test runner", _WEB, r"package\.json", r"(?:^|/)__(?:tests|mocks)__/|\.(?:test|spec)\.\w+\Z"),
    _takes("Binder", "start postBuild .txt .yml .toml .R", r".*", r"\A\.?binder/"),
    _takes("Meson", ".wrap", r"meson\.build", r"(?:^|/)subprojects/"),
)
"""Tools that compile or load whatever lies in a folder. Each one's documentation says which."""

INSTALLED = (".dist-info", ".egg-info")
"""Folders that Python takes for an installed distribution: its entry points are loaded."""

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
