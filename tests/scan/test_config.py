"""Settings of a project, and what they leave out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocport.cli import cli
from rocport.scan import config

SITE = "import torch\nmajor = torch.version.cuda.split('.')[0]\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    for name in ("a.py", "lib/b.py", "third_party/x/c.py", "tests/test_d.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(SITE)
    return root


def _run(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["scan", str(root), *arguments])


def _paths(result: Result) -> list[str]:
    return sorted({finding["path"] for finding in json.loads(result.stdout)["findings"]})


def test_pyproject_and_rocport_toml(repo: Path) -> None:
    everything = ["a.py", "lib/b.py", "tests/test_d.py", "third_party/x/c.py"]
    assert _paths(_run(repo, "--format", "json")) == everything
    (repo / "pyproject.toml").write_text('[tool.rocport]\nexclude = ["third_party"]\n')
    assert _paths(_run(repo, "--format", "json")) == everything[:3]
    assert _paths(_run(repo, "--format", "json", "--isolated")) == everything
    assert _paths(_run(repo, "--format", "json", "--exclude", "lib/*")) == ["a.py", "tests/test_d.py"]
    (repo / "rocport.toml").write_text('ignore = ["*"]\n')
    assert _run(repo, "--format", "json").exit_code == 0, "rocport.toml goes before pyproject.toml"


def test_settings_are_relative_to_their_own_folder(repo: Path) -> None:
    (repo / "rocport.toml").write_text('exclude = ["third_party/x"]\n')
    assert _paths(_run(repo / "third_party", "--format", "json")) == []
    assert _paths(_run(repo / "lib", "--format", "json")) == ["b.py"]


def test_per_file_ignores(repo: Path) -> None:
    (repo / "rocport.toml").write_text('[per-file-ignores]\n"tests/*" = ["torch-version-*"]\n')
    assert "tests/test_d.py" not in _paths(_run(repo, "--format", "json"))
    assert "a.py" in _paths(_run(repo, "--format", "json"))


def test_a_baseline_named_in_the_settings(repo: Path) -> None:
    assert _run(repo, "--write-baseline", str(repo / "accepted.json")).exit_code == 0
    (repo / "rocport.toml").write_text('baseline = "accepted.json"\n')
    assert _run(repo).exit_code == 0
    (repo / "e.py").write_text(SITE)
    assert _paths(_run(repo, "--format", "json")) == ["e.py"]


def test_the_command_line_goes_first(repo: Path) -> None:
    (repo / "rocport.toml").write_text('target = ["gfx942"]\nwarp = "native"\n')
    shown = _run(repo, "--show-settings", "--target", "gfx1100").stdout
    assert "target = ['gfx1100']" in shown
    assert "warp = 'native'" in shown
    assert "warp = 'logical32'" in _run(repo, "--show-settings", "--warp", "logical32").stdout
    assert "target = ['gfx90a', 'gfx942']" in _run(repo, "--show-settings", "--config", "target=gfx90a,gfx942").stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("excludes = []", "did you mean exclude?"),
        ("exclude = 3", "expected a list of strings"),
        ("respect-gitignore = 'no'", "expected true or false"),
        ("= 3", "no TOML"),
        ("target = ['gfx0']", "gfx0"),
        ("select = ['no-such-rule']", "no rule 'no-such-rule'"),
        ("per-file-ignores = 3", "expected a table"),
    ],
)
def test_wrong_settings_are_named(repo: Path, text: str, says: str) -> None:
    (repo / "rocport.toml").write_text(text + "\n")
    result = _run(repo)
    assert result.exit_code == 2
    assert says in result.output


def test_a_broken_pyproject_is_not_the_scans_trouble(repo: Path) -> None:
    (repo / "pyproject.toml").write_text("[tool\n")
    assert _run(repo, "--show-settings").exit_code == 0


def test_wrong_assignments_are_named(repo: Path) -> None:
    assert "expected KEY=VALUE" in _run(repo, "--config", "target").output


def test_what_git_ignores_is_left_out_and_counted(repo: Path) -> None:
    if subprocess.run(["git", "init", "-q", str(repo)], check=False).returncode:
        pytest.skip("git is not here")
    (repo / ".gitignore").write_text("third_party/\n")
    result = _run(repo)
    assert "third_party/x/c.py" not in result.stdout
    assert "1 files or folders were left out" in result.stderr
    assert "third_party/" in result.stderr
    assert "third_party/x/c.py" in _run(repo, "--no-respect-gitignore").stdout
    assert _paths(_run(repo / "third_party", "--format", "json")) == ["x/c.py"], "named by the user, so scanned"


def test_show_files(repo: Path) -> None:
    (repo / "notes.txt").write_text("")
    assert _run(repo, "--show-files", "--exclude", "lib").stdout.split() == [
        "a.py",
        "tests/test_d.py",
        "third_party/x/c.py",
    ]


def test_exit_zero(repo: Path) -> None:
    assert _run(repo).exit_code == 1
    assert _run(repo, "--exit-zero").exit_code == 0


def test_exclusion_matches_parts_and_prefixes() -> None:
    left_out = config.Exclusion(("build", "src/gen*", "*.tmp.py"))
    assert (
        left_out("build/x.py") and left_out("a/build/x.py") and left_out("src/generated/a.cu") and left_out("q.tmp.py")
    )
    assert not left_out("builder/x.py") and not left_out("other/src/gen.py")
