"""What a fleet is made of, and how it is fetched: commits of git repositories, sdists of PyPI, archives, folders."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rocport.facts._toml import read_toml
from rocport.model import cache_folder
from rocport.model.digest import file_sha256
from rocport.model.locks import locked
from rocport.scan.revision import extract

_PYPI = re.compile(r"pypi:([A-Za-z0-9][\w.-]*)==([\w.!+-]+)")
_GIT = re.compile(r"(?:git\+)?((?:https?|ssh|git|file)://[^@\s]+|git@[^@\s]+?)(?:@([\w./-]+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


class SourceError(Exception):
    """A line that names no source, or a source that cannot be had; the message says which and what is expected."""


@dataclass(frozen=True)
class Source:
    """One repository. `kind` is git, pypi, archive or folder; `revision` a commit, a version, or the hash of what lies
    there; `parts` maps a folder of it to `URL@COMMIT`, for submodules."""

    name: str
    kind: str
    where: str
    revision: str
    parts: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """A name for its files: readable, and another one for another revision."""
        mark = hashlib.sha256(repr(sorted(asdict(self).items())).encode()).hexdigest()[:12]
        return re.sub(r"[^\w.-]+", "+", self.name)[-80:].strip("+.") + "-" + mark


def read_sources(*paths: Path) -> list[Source]:
    """The sources of lists (one a line, `#` begins a comment), of indexes (TOML: `[[repository]]` with `name` and
    `commit` of GitHub, or `source`; `with` for submodules), or folders themselves. Raises SourceError."""
    found = [source for path in paths for source in _read(path)]
    seen = Counter(source.id for source in found)
    if twice := sorted({source.name for source in found if seen[source.id] > 1}):
        raise SourceError(f"named twice: {', '.join(twice)}")
    if not found:
        raise SourceError(f"{', '.join(map(str, paths))}: no repository is named")
    return found


def _read(path: Path) -> list[Source]:
    if path.is_dir():
        return [_source(str(path.resolve()), path.parent)]
    try:
        if path.suffix == ".toml":
            return [_indexed(row, path.parent) for row in read_toml(path)["repository"]]
        lines = (line.split("#", 1)[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
        return [_source(line, path.parent) for line in lines if line]
    except (OSError, KeyError, ValueError) as error:
        raise SourceError(f"{path}: no list ({error}); one source a line, or TOML with [[repository]]") from error


def _indexed(row: dict[str, Any], base: Path) -> Source:
    if "source" in row:
        return _source(str(row["source"]), base, row.get("name", ""))
    parts = {folder: "https://github.com/" + place for folder, place in row.get("with", {}).items()}
    return Source(row["name"], "git", f"https://github.com/{row['name']}", row["commit"], parts)


def _source(text: str, base: Path, name: str = "") -> Source:
    if match := _PYPI.fullmatch(text):
        return Source(name or match[1], "pypi", match[1], match[2])
    if match := _GIT.fullmatch(text):
        url, revision = match[1].removesuffix("/"), match[2] or "HEAD"
        if not _COMMIT.fullmatch(revision):
            revision = _resolve(url, revision)
        return Source(name or "/".join(url.removesuffix(".git").rsplit("/", 2)[-2:]), "git", url, revision)
    path = (base / text).resolve()
    if path.is_file() and path.name.endswith(_ARCHIVES):
        return Source(name or path.name, "archive", str(path), file_sha256(path))
    if path.is_dir():
        return Source(name or path.name, "folder", str(path), _hash_of(path))
    raise SourceError(f"{text}: neither pypi:NAME==VERSION, nor a git URL[@REVISION], nor an archive or folder here")


def _resolve(url: str, revision: str) -> str:
    done = subprocess.run(["git", "ls-remote", "--", url, revision], capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        raise SourceError(f"{url}: no revision {revision} there ({done.stderr.strip() or 'nothing of that name'})")
    return done.stdout.split()[0]


def _hash_of(folder: Path) -> str:
    state = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if ".git" not in path.relative_to(folder).parts and path.is_file() and not path.is_symlink():
            state.update(os.fsencode(path.relative_to(folder)) + b"\0" + file_sha256(path).encode())
    return state.hexdigest()


def fetch(source: Source, work: Path, mirror: Path | None = None) -> Path:
    """The tree of a source, below `work`, written once and in one step; a folder stays where it is.

    `mirror` holds git directories named OWNER+NAME (or OWNER+NAME/repo) that are read in place of the network.
    Raises SourceError.
    """
    if source.kind == "folder":
        return Path(source.where)
    tree = work / "source" / source.id
    if tree.is_dir():
        return tree
    with locked(tree.with_name(tree.name + ".lock")):
        if tree.is_dir():
            return tree
        scratch = tree.with_name(tree.name + ".part")
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            if source.kind == "git":
                _checkout(source.where, source.revision, scratch, mirror)
                for folder, place in source.parts.items():
                    url, _, revision = place.rpartition("@")
                    _checkout(url, revision, scratch / folder, mirror)
            else:
                _unpack(
                    Path(source.where) if source.kind == "archive" else sdist(source.where, source.revision), scratch
                )
        except (OSError, subprocess.CalledProcessError, tarfile.TarError, zipfile.BadZipFile, RuntimeError) as error:
            shutil.rmtree(scratch, ignore_errors=True)
            raise SourceError(f"{source.name}: cannot be had: {error}") from error
        scratch.rename(tree)
    return tree


def _checkout(url: str, revision: str, tree: Path, mirror: Path | None) -> None:
    if mirror is not None:
        git = mirror / "+".join(url.removesuffix(".git").rsplit("/", 2)[-2:])
        git = git / "repo" if (git / "repo").is_dir() else git
        extract(git, revision, tree)
        return
    git = tree.with_name(tree.name + ".git")
    shutil.rmtree(git, ignore_errors=True)
    subprocess.run(["git", "init", "-q", "--bare", os.fspath(git)], check=True)
    fetched = ["git", "-C", os.fspath(git), "fetch", "-q", "--depth", "1", "--", url, revision]
    subprocess.run(fetched, check=True, stdin=subprocess.DEVNULL)
    extract(git, "FETCH_HEAD", tree)
    shutil.rmtree(git)


_MOST_UNPACKED = 16 << 30
"""Bytes of a source tree; a small archive can say that it holds any number."""


def _fits(archive: Path, size: int) -> None:
    if size > _MOST_UNPACKED:
        raise RuntimeError(
            f"{archive.name} unpacks to {size} bytes or more, more than {_MOST_UNPACKED}; unpack it by hand"
        )


def _unpack(archive: Path, tree: Path) -> None:
    tree.mkdir(parents=True)
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as opened:
            _fits(archive, sum(item.file_size for item in opened.infolist()))
            opened.extractall(tree)
        return
    seen = 0
    filtered = getattr(tarfile, "data_filter", _plain)  # not in Python before 3.10.12 and 3.11.4

    def counted(member: tarfile.TarInfo, where: str) -> tarfile.TarInfo | None:
        nonlocal seen
        seen += member.size
        _fits(archive, seen)
        kept: tarfile.TarInfo | None = filtered(member, where)
        return kept

    with tarfile.open(archive) as packed:  # a list of its members would be a pass of its own through what is compressed
        if filtered is _plain:
            packed.extractall(tree, (member for member in packed if counted(member, os.fspath(tree)) is not None))
        else:
            packed.extractall(tree, filter=counted)


def _plain(member: tarfile.TarInfo, where: str) -> tarfile.TarInfo | None:
    """A file or folder that stays inside; links are left out."""
    inside = not os.path.isabs(member.name) and ".." not in Path(member.name).parts
    return member if inside and (member.isfile() or member.isdir()) else None


def sdist(name: str, version: str) -> Path:
    """The archive of an sdist, downloaded once by pip's own session, so that its index, proxies and certificates hold.

    `pip download` would build the metadata, which runs the package's setup.py. Raises RuntimeError.
    """
    folder = cache_folder() / "sdists"
    known = sorted(folder.glob(f"{name.replace('-', '[-_.]')}-{version}.*"))
    if known:
        return known[0]
    from pip._internal.cli.cmdoptions import make_target_python
    from pip._internal.commands import create_command
    from pip._internal.network.download import Downloader
    from pip._internal.req.constructors import install_req_from_line
    from pip._internal.utils.temp_dir import global_tempdir_manager, tempdir_registry

    command: Any = create_command("download")
    options, _ = command.parse_args(["--no-deps", f"--no-binary={name}", "--quiet", "--quiet"])
    with global_tempdir_manager(), command.main_context(), tempdir_registry() as registry:
        command.tempdir_registry = registry
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session, make_target_python(options))
        requirement: Any = install_req_from_line(f"{name}=={version}").req
        found = finder.find_best_candidate(name, requirement.specifier).best_candidate
        if found is None:
            raise RuntimeError(f"{name} {version}: no sdist in the package index")
        folder.mkdir(parents=True, exist_ok=True)
        path, _ = Downloader(session, "off")(found.link, str(folder))
        return Path(path)
