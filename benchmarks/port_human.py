"""Does `rocport port` do at Python and build sites what the humans did who ported the repository?

    python benchmarks/port_human.py --sites DIR --repositories DIR [--only KEY ...] [--first] [--misses] [--json FILE]

`--sites` holds one JSON a repository (its README gives the schema), `--repositories` git directories `OWNER+NAME/repo`.
Each pre-port tree is written to a temporary folder, ported there with `--layout both`, judged and removed; and `verify
--level nvidia-unchanged` is run on every port.

Judged are the sites that are foreseeable, consequences included, in Python, setup.py, CMake, Make, requirements,
containers, shell and CI files. Both changes, the human's and the port's, are read as the lines they add within two
lines of the site, and by what those lines do on ROCm (EFFECTS): which library is linked, which toolkit is asked, that a
platform test stands there, and so on.

- same: the port's lines have an effect in common with the human's besides the bare platform test. That a CUDA-only
  part (CUDA_ONLY) does not run on ROCm any more is such an effect. Where the human's lines only test the platform, a
  platform test of the port's. For containers, CI and requirements, the file that the port writes beside. A site that
  only follows from another (an option declared, an import added) may be served anywhere in its file.
- other: the port edits the site, to another effect.
- listed: the port leaves the site and names it (a finding within two lines).
- silent: nothing.

An effect in common is not the same code. It is a judgement by words that anyone can repeat, not by reading.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocport import api
from rocport.verify import nvidia
from scan import write_tree

NEAR = 2
LANGUAGES = ("python", "setup.py", "cmake", "make", "requirements", "docker", "shell", "yaml", "other")
GUARD = "platform test"
EFFECTS = {
    GUARD: r"rocm_compat|is_?rocm|version\.hip|is_?hip|USE_ROCM|USE_HIP|ROCM_HOME|HIP_ENV|rocm|\bhip\b|\bamd\b|SYSTEM",
    "library": r"(?:hip|roc)(?:blas|sparse|rand|fft|cub|solver|prim|thrust)|rccl|miopen|amdhip64|(?:hip|roc)::",
    "toolkit": r"hipcc|ROCM_HOME|ROCM_PATH|/opt/rocm|HIP_PATH|HIP_HOME|find_package\(\s*hip\b",
    "language": r"LANGUAGES?\b.*\bHIP|enable_language\(\s*HIP|\.hip\b|hipify|_hip\.|HIP_SOURCE|CMAKE_HIP|rocm_sources",
    "architectures": r"gfx|gcnArch|HIP_ARCHITECTURES|ROCM_ARCH|offload-arch|--amdgpu-target",
    "compiler flags": r"-ffast-math|-fgpu|-U__HIP_NO_HALF|__HIP_NO_HALF|-DUSE_ROCM|HIP_FLAGS|hip_flags|extra_compile",
    "version": r"version\.hip|HIP_RELEASE|hip_version|HIP_VERSION|rocm_version|ROCM_VERSION|\brocm\d?\{|['\"]rocm",
    "smi": r"amdsmi|amd-smi|rocm.?smi|pyrsmi|rocminfo",
    "fp8": r"fnuz|FP8_|240",
    "wavefront": r"WAVE64|WARP_SIZE|warp_size|warpsize|wavefront|\b64\b|num_warps",
    "visible devices": r"(?:HIP|ROCR)_VISIBLE|_HIP_",
    "optional import": r"except (?:ImportError|ModuleNotFoundError|Exception)|optional\(|find_spec|is_\w+_available",
    "dependency": r"requirements[\w-]*rocm|whl/rocm|index-url|install_requires|amdsmi|pyrsmi",
    "compile mode": r"compile_mode|synchronize|warm",
    "attention": r"attention\(|sdpa|scaled_dot_product",
}
LEFT_OUT = "CUDA-only part left out"
CUDA_ONLY = (
    r"gencode|compute_\d|sm_\d\d|nvcc|CUDA_HOME|CUDA_PATH|use_fast_math|--expt-|ptxas|version\.cuda|\bcu\d|cudart|nvToolsExt"
    r"|cu(?:blas|sparse|rand|fft|dnn|solver)|CUDAToolkit|find_package\(\s*CUDA|CUDA::|CUDA_ARCHITECTURES|nvidia|nvml|smi"
    r"|flash.?attn|flashinfer|xformers|bitsandbytes|triton|get_device_capability|capability|\bLANGUAGES\b.*CUDA|CUDA_VERSION"
)
BESIDE = {
    "docker": r"(?:^|/)Dockerfile\.rocm\Z",
    "yaml": r"(?:^|/)\.github/workflows/.*rocm.*\.ya?ml\Z",
    "requirements": r"requirements[\w-]*rocm[\w-]*\.txt\Z",
}
OUTCOMES = ("same", "other", "listed", "silent")

Hunks = list[tuple[int, int, str, str]]
"""(first, last) line before the change, what was there, what is there now."""


@dataclass
class Judged:
    """Outcomes of one repository's sites, and its ports' verdicts."""

    outcomes: Counter[str] = field(default_factory=Counter)
    by_category: dict[str, Counter[str]] = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)

    def add(self, outcome: str, category: str, words: str) -> None:
        self.outcomes[outcome] += 1
        self.by_category.setdefault(category, Counter())[outcome] += 1
        if outcome != "same":
            self.misses.append(f"{outcome:7} {category:9} {words}")


def effects(text: str) -> set[str]:
    """What lines do on ROCm, by the words they use."""
    return {name for name, words in EFFECTS.items() if re.search(words, text, re.IGNORECASE | re.MULTILINE)}


def parse_diff(text: str) -> dict[str, Hunks]:
    """Hunks of `git diff -U0` by the path before."""
    found: dict[str, Hunks] = {}
    path = ""
    for line in text.split("\n"):
        if line.startswith("--- "):
            path = line[4:].partition("/")[2] if line != "--- /dev/null" else ""
        elif line.startswith("@@"):
            match = re.match(r"@@ -(\d+)(?:,(\d+))? ", line)
            assert match is not None
            first, count = int(match[1]), int(match[2] or 1)
            found.setdefault(path, []).append((first, first + max(count, 1) - 1, "", ""))
        elif line.startswith(("+", "-")) and found.get(path) and not line.startswith("+++"):
            first, last, gone, added = found[path][-1]
            if line[0] == "+":
                added += line[1:] + "\n"
            else:
                gone += line[1:] + "\n"
            found[path][-1] = (first, last, gone, added)
    return found


def near(hunks: Hunks, ranges: list[list[int]]) -> Hunks:
    return [hunk for hunk in hunks if any(hunk[0] <= last + NEAR and first - NEAR <= hunk[1] for first, last in ranges)]


def done_by(hunks: Hunks) -> set[str]:
    """Effects of a change at a site."""
    added = "".join(_new_lines(hunk) for hunk in hunks)
    found = effects(added)
    gone = "".join(hunk[2] for hunk in hunks)
    if re.search(CUDA_ONLY, gone, re.IGNORECASE) and (GUARD in found or not re.search(CUDA_ONLY, added, re.IGNORECASE)):
        found.add(LEFT_OUT)
    return found


def judge(site: dict[str, Any], human: Hunks, ported: Hunks, listed: set[int], new: list[str]) -> str:
    """The outcome for one site."""
    if site["lang"] in BESIDE and any(re.search(BESIDE[site["lang"]], path) for path in new):
        return "same"
    if site["category"] == "req" and any(re.search(BESIDE["requirements"], path) for path in new):
        return "same"
    theirs = near(human, site["ranges"])
    ours = ported if site["consequence"] else near(ported, site["ranges"])
    if not ours:
        close = any(first - NEAR <= line <= last + NEAR for first, last in site["ranges"] for line in listed)
        return "listed" if close else "silent"
    wanted, done = done_by(theirs), done_by(ours)
    special = wanted - {GUARD}
    if special & done or (not special and GUARD in done):
        return "same"
    return "other"


def _new_lines(hunk: tuple[int, int, str, str]) -> str:
    """What a hunk adds: its lines without the parts that stood there before."""
    before = set(hunk[2].split("\n"))
    return "".join(f"{line}\n" for line in hunk[3].split("\n") if line not in before)


def unit(key: str, git: list[str], record: dict[str, Any], judged: Judged) -> None:
    """Port one tree and judge its sites."""
    sites = [site for site in record["sites"] if site["foreseeable"] and site["lang"] in LANGUAGES]
    if not sites:
        return
    with tempfile.TemporaryDirectory() as name:
        tree, out = Path(name) / "tree", Path(name) / "out"
        tree.mkdir()
        write_tree(Path(git[2]), record["parent"], tree)
        patch = api.port(tree, api.Settings(layout="both"), jobs=1)
        api.apply(patch, out)
        proof = nvidia.verify(out, tree)
        judged.verdicts[proof.verdict] += 1
        judged.leaks += [f"{item.path}:{item.line}: {item.message}" for item in proof.of(nvidia.Kind.DIFFERENCE)]
        diff = ["git", "diff", "--no-index", "--no-renames", "-U0", "--no-color", "tree", "out"]
        made = subprocess.run(diff, capture_output=True, check=False, cwd=name).stdout.decode("utf-8", "replace")
        ported = {path.removeprefix("tree/"): hunks for path, hunks in parse_diff(made).items()}
        new = [file.path for file in proof.files if not (tree / file.path).exists()]
        human = parse_diff(
            subprocess.run(
                [*git, "diff", "-U0", "--no-renames", record["parent"], record["commit"]],
                capture_output=True,
                check=False,
            ).stdout.decode("utf-8", "replace")
        )
        listed: dict[str, set[int]] = {}
        for finding in patch.findings:
            listed.setdefault(finding.path, set()).add(finding.line)
        for site in sites:
            path = site["file"]
            outcome = judge(site, human.get(path, []), ported.get(path, []), listed.get(path, set()), new)
            words = f"{key} {record['commit'][:8]} {path}:{site['ranges'][0][0]} {site['fix']}"
            judged.add(outcome, site["category"], words)


def share(outcomes: Counter[str]) -> str:
    total = outcomes.total()
    parts = ", ".join(f"{name} {outcomes[name]}" for name in OUTCOMES)
    return f"{outcomes['same'] / total:5.2f} of {total:3} ({parts})" if total else "    -"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--first", action="store_true", help="only the first port of a repository")
    parser.add_argument("--misses", action="store_true", help="list every site that is not `same`")
    parser.add_argument("--json", type=Path, help="write the outcomes here too")
    arguments = parser.parse_args()
    whole = Judged()
    repositories: dict[str, Judged] = {}
    for path in sorted(arguments.sites.glob("*.json")):
        data = json.loads(path.read_text())
        if arguments.only and data["key"] not in arguments.only:
            continue
        repository = arguments.repositories / data["repo"].replace("/", "+") / "repo"
        if not repository.exists():
            print(f"{data['key']:18} not fetched", flush=True)
            continue
        judged = Judged()
        started = time.perf_counter()
        for record in data["units"][:1] if arguments.first else data["units"]:
            unit(data["key"], ["git", "--git-dir", str(repository)], record, judged)
        repositories[data["key"]] = judged
        if judged.verdicts:
            verdicts = ", ".join(f"{count} {verdict}" for verdict, count in judged.verdicts.items())
            took = time.perf_counter() - started
            print(f"{data['key']:18} {share(judged.outcomes)}  NVIDIA path: {verdicts}  {took:.0f} s", flush=True)
        for leak in judged.leaks:
            print(f"    leak {leak}")
        whole.outcomes += judged.outcomes
        whole.verdicts += judged.verdicts
        whole.misses += judged.misses
        for category, outcomes in judged.by_category.items():
            whole.by_category.setdefault(category, Counter()).update(outcomes)
    print(f"\n{'all':18} {share(whole.outcomes)}  NVIDIA path: {dict(whole.verdicts)}")
    for category, outcomes in sorted(whole.by_category.items(), key=lambda item: -item[1].total()):
        print(f"  {category:16} {share(outcomes)}")
    if arguments.misses:
        print("\n" + "\n".join(sorted(whole.misses)))
    if arguments.json:
        body = {key: {**judged.outcomes, "verdicts": dict(judged.verdicts)} for key, judged in repositories.items()}
        arguments.json.write_text(json.dumps(body, indent=1) + "\n")


if __name__ == "__main__":
    main()
