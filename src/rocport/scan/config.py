"""Settings of a project: `rocport.toml`, or `[tool.rocport]` in pyproject.toml, nearest to the scanned folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rocport.facts.errors import FactError
from rocport.facts.targets import load_target
from rocport.model import Options, RocmVersion, VersionError
from rocport.model.versions import TorchVersion

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class ConfigError(ValueError):
    """A setting that cannot be used; the message names file, key, expectation and next step."""


@dataclass(frozen=True)
class Settings:
    """What a project may set. Names in the file are written with dashes; the command line goes first."""

    select: tuple[str, ...] = ()
    """Only these rules; `*` and `?` match."""
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Files and folders left out: patterns over a path relative to the settings' folder, or over one of its parts."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    target: tuple[str, ...] = ()
    rocm: str = ""
    torch: str = ""
    warp: str = ""
    layout: str = ""
    """Of the port: `hip` (the default) or `both`."""
    baseline: str = ""
    """Path of the baseline, relative to the settings' folder."""
    respect_gitignore: bool = True
    source: Path | None = None
    """The file these come from."""

    @property
    def baseline_file(self) -> Path | None:
        """The baseline, where one is set."""
        return (self.folder or Path()) / self.baseline if self.baseline else None

    @property
    def folder(self) -> Path | None:
        """The folder that paths of the settings are relative to."""
        return self.source.parent if self.source else None


_KEYS = {item.name.replace("_", "-"): item.name for item in fields(Settings) if item.name != "source"}
_LISTS = frozenset({"select", "ignore", "exclude", "target"})
_TEXTS = frozenset({"rocm", "torch", "warp", "layout", "baseline"})
_CHOICES = {"warp": ("logical32", "native"), "layout": ("hip", "both")}


def find(start: Path) -> Path | None:
    """The file with the settings for a folder or file: the nearest one upwards. Raises ConfigError."""
    start = start.resolve()
    for folder in (start, *start.parents) if start.is_dir() else start.parents:
        own = folder / "rocport.toml"
        if own.is_file():
            return own
        project = folder / "pyproject.toml"
        if project.is_file() and "rocport" in _table(_parse(project), "tool"):
            return project
    return None


def load(path: Path) -> Settings:
    """The settings of one file. Raises ConfigError."""
    body = _parse(path)
    if path.name == "pyproject.toml":
        body = _table(_table(body, "tool"), "rocport")
    return replace(_settings(body, str(path)), source=path)


def override(settings: Settings, assignments: Sequence[str]) -> Settings:
    """Settings with `KEY=VALUE` of the command line put over them; a VALUE is TOML, or a bare word. Raises
    ConfigError."""
    body: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigError(f"--config {assignment}: expected KEY=VALUE, such as --config rocm=6.4")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):
            value = text
        name = name.strip()
        body[name] = value.split(",") if name in _LISTS and isinstance(value, str) else value
    given = _settings(body, "--config")
    return replace(settings, **{_KEYS[name]: getattr(given, _KEYS[name]) for name in body})


def options(settings: Settings) -> Options:
    """What the rules may assume. Raises ConfigError for a target or a version that is none."""
    try:
        for name in settings.target:
            load_target(name)
    except FactError as error:
        raise ConfigError(f"target: {error}") from error
    try:
        rocm = RocmVersion.parse(settings.rocm) if settings.rocm else None
    except VersionError as error:
        raise ConfigError(f"rocm: {error}") from error
    try:
        if settings.torch:
            TorchVersion.parse(settings.torch)
    except VersionError as error:
        raise ConfigError(f"torch: {error}") from error
    return Options(
        settings.warp or "logical32", settings.target, rocm, settings.torch or None, settings.layout or "hip"
    )


def excludes(settings: Settings, root: Path) -> Exclusion:
    """The test for paths relative to `root` that the settings leave out."""
    return Exclusion(settings.exclude, _prefix(settings, root))


@dataclass(frozen=True)
class Exclusion:
    """Patterns over paths. `prefix` leads from the settings' folder to the root that paths are relative to."""

    patterns: tuple[str, ...]
    prefix: str = ""

    def __call__(self, path: str) -> bool:
        """True when the file, or a folder above it, is left out."""
        parts = (self.prefix + path.rstrip("/")).split("/")
        ways = ["/".join(parts[: end + 1]) for end in range(len(parts))]
        return any(
            any(fnmatchcase(way, pattern.rstrip("/")) for way in ways)
            or any(fnmatchcase(part, pattern.rstrip("/")) for part in parts)
            for pattern in self.patterns
        )


def ignored_rules(settings: Settings, root: Path, path: str) -> tuple[str, ...]:
    """Patterns of rules that `per-file-ignores` leaves out for one file."""
    if not settings.per_file_ignores:
        return ()
    prefix = _prefix(settings, root)
    return tuple(
        rule
        for pattern, rules in settings.per_file_ignores.items()
        if Exclusion((pattern,), prefix)(path)
        for rule in rules
    )


def _prefix(settings: Settings, root: Path) -> str:
    if settings.folder is None:
        return ""
    try:
        inside = root.resolve().relative_to(settings.folder.resolve()).as_posix()
    except ValueError:
        return ""
    return "" if inside == "." else inside + "/"


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        if path.name == "pyproject.toml":
            # Somebody else's file, broken for everybody: the scan names it like any file it cannot read.
            return {}
        raise ConfigError(f"{path}: no TOML: {error}") from error


def _table(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name)
    return value if isinstance(value, dict) else {}


def _settings(body: Mapping[str, Any], place: str) -> Settings:
    values: dict[str, Any] = {}
    for name, value in body.items():
        if name not in _KEYS:
            near = get_close_matches(name, _KEYS, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(sorted(_KEYS))}"
            raise ConfigError(f"{place}: no setting {name!r}{hint}")
        values[_KEYS[name]] = _value(name, value, place)
    return Settings(**values)


def _value(name: str, value: Any, place: str) -> Any:
    if name in _LISTS:
        return _strings(name, value, place)
    if name in _TEXTS:
        if not isinstance(value, (str, int, float)) or isinstance(value, bool):
            raise ConfigError(f"{place}: {name} is {value!r}; expected a string")
        if name in _CHOICES and value not in _CHOICES[name]:
            raise ConfigError(f"{place}: {name} is {value!r}; expected {' or '.join(_CHOICES[name])}")
        return str(value)
    if name == "per-file-ignores":
        if not isinstance(value, dict):
            raise ConfigError(f'{place}: {name} is {value!r}; expected a table such as {{"tests/*" = ["rule"]}}')
        return {pattern: _strings(f"{name}.{pattern}", rules, place) for pattern, rules in value.items()}
    if not isinstance(value, bool):
        raise ConfigError(f"{place}: {name} is {value!r}; expected true or false")
    return value


def _strings(name: str, value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f'{place}: {name} is {value!r}; expected a list of strings, such as ["build/*"]')
    return tuple(value)
