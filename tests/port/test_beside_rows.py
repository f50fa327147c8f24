"""What becomes of each kind of line in the files a port adds beside the sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.doctor.capture import machine_from_text
from rocport.doctor.diagnosis import diagnose
from rocport.facts.containers import development_image, pytorch_image
from rocport.facts.rocm import torch_releases
from rocport.facts.targets import default_targets
from rocport.model import Options, RocmVersion
from rocport.port import beside
from rocport.port.beside.wheels import Wheels, wheels
from rocport.port.generated import PortedTree
from rocport.scan.tree import read_tree

CUDA = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04"
CHOSEN = wheels(Options())
TARGETS = ";".join(default_targets())
ROCM = wheels(Options()).rocm


def made(folder: Path, files: dict[str, str], options: Options | None = None) -> dict[str, str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    tree = PortedTree(read_tree(folder), options=options or Options())
    return {new.path: new.data.decode() for new in beside.generate(tree)}


def docker(folder: Path, *rows: str, **more: str) -> list[str]:
    """The lines that stand below the first FROM of the ported file."""
    files = {"Dockerfile": "\n".join([CUDA, *rows]), **{name.replace("_", "."): text for name, text in more.items()}}
    lines = made(folder, files)["Dockerfile.rocm"].split("\n")
    return lines[lines.index(f"FROM {development_image('22.04', ROCM).name}") + 1 :]


@pytest.mark.parametrize(
    ("row", "becomes"),
    [
        ("# nvidia/cuda:12 in a comment", "# nvidia/cuda:12 in a comment"),
        ("  # /usr/local/cuda", "  # /usr/local/cuda"),
        ("FROM python:3.12", "FROM python:3.12"),
        ("from nvidia/cuda:11-base as x", f"from {development_image('', ROCM).name} as x"),
        ("FROM --platform=linux/amd64 nvidia/cuda:12.4.1-devel-ubuntu24.04",
         f"FROM --platform=linux/amd64 {development_image('24.04', ROCM).name}"),
        ("FROM docker.io/nvidia/cuda:12.4-base-ubuntu24.04 AS b", f"FROM {development_image('24.04', ROCM).name} AS b"),
        ("FROM nvcr.io/nvidia/pytorch:24.05-py3", f"FROM {pytorch_image().name}"),
        ("FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", f"FROM {pytorch_image().name}"),
        ("FROM pytorch/pytorch:2.5.1-cpu", "FROM pytorch/pytorch:2.5.1-cpu"),
        ("ARG BASE=nvidia/cuda:12.4.1-devel-ubuntu22.04", f"ARG BASE={development_image('22.04', ROCM).name}"),
        ('ARG BASE="nvidia/cuda:12.4.1-devel-ubuntu22.04"', f'ARG BASE="{development_image("22.04", ROCM).name}"'),
        ("ENV NVIDIA_DRIVER_CAPABILITIES=all", None),
        ("ARG CUDNN_VERSION=9", None),
        ("ENV NCCL_VERSION 2.20", None),
        ("ENV NVIDIA=1", "ENV NVIDIA=1"),
        ("RUN echo NVIDIA_X=1", "RUN echo NVIDIA_X=1"),
        ("RUN TORCH_CUDA_ARCH_LIST='8.0 9.0+PTX' make", f'RUN PYTORCH_ROCM_ARCH="{TARGETS}" make'),
        ("ENV TORCH_CUDA_ARCH_LIST 9.0", f'ENV PYTORCH_ROCM_ARCH "{TARGETS}"'),
        ("ENV MY_TORCH_CUDA_ARCH_LIST=9.0", "ENV MY_TORCH_CUDA_ARCH_LIST=9.0"),
        ("ENV CUDA_HOME=/usr/local/cuda-12.4", "ENV ROCM_PATH=/opt/rocm"),
        ("ENV PATH=/usr/local/cuda-12.4/bin:$PATH", "ENV PATH=/opt/rocm/bin:$PATH"),
        ("RUN ls /usr/local/cuda", "RUN ls /opt/rocm"),
        ("RUN ls /usr/local/cudart", "RUN ls /usr/local/cudart"),
        ("RUN pip install x --extra-index-url https://download.pytorch.org/whl/cu121/x",
         f"RUN pip install x --index-url https://download.pytorch.org/whl/rocm{CHOSEN.rocm}/x"),
        ("RUN pip install --extra-index-url https://example.org/whl x",
         "RUN pip install --extra-index-url https://example.org/whl x"),
        ("RUN pip install torch==2.5.1 --index-url https://example.org/whl",
         "RUN pip install torch==2.5.1 --index-url https://example.org/whl"),
        ("RUN pip install nvidia-cudnn-cu12", None),
        ("RUN pip install -q nvidia-cudnn-cu12 -c held.txt && ls", "RUN ls"),
        ("RUN pip install -e . && pip install cupy-cuda12x", "RUN pip install -e ."),
        ("RUN pip install -r a.txt", "RUN pip install -r a.txt"),
        ("RUN pip install numpy==1.0+cu121", "RUN pip install numpy==1.0+cu121"),
        ("RUN pip install nvidia-cudnn-cu12==9 numpy", "RUN pip install numpy"),
        ("RUN pip3 install 'cupy-cuda12x>=13' numpy triton", "RUN pip3 install numpy"),
        ("RUN pip download nvidia-cudnn-cu12", "RUN pip download nvidia-cudnn-cu12"),
        ("RUN apt-get install -y git cuda-toolkit-12-4 libcudnn9-cuda-12 libnccl2=2.20 vim",
         "RUN apt-get install -y git vim"),
        ("    libcublas-dev \\", None),
        ("RUN apt-get install -y libcurl4 my-cuda-thing", "RUN apt-get install -y libcurl4 my-cuda-thing"),
        ("COPY requirements.txt .", "COPY requirements.txt ."),
        ("RUN pip install -r requirements.txt", "RUN pip install -r requirements.txt"),
        ("RUN a  b", "RUN a  b"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_line_of_a_dockerfile(row: str, becomes: str | None, tmp_path: Path) -> None:
    # A line of its own before and after, which are never a continuation.
    assert docker(tmp_path, "LABEL a=b", row, "LABEL c=d") == [
        "LABEL a=b", *([] if becomes is None else [becomes]), "LABEL c=d"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "becomes"),
    [
        ("COPY requirements.txt .", "COPY requirements-rocm.txt constraints-rocm.txt ."),
        ("COPY --chown=a:b requirements.txt /x/", "COPY --chown=a:b requirements-rocm.txt constraints-rocm.txt /x/"),
        ("RUN pip install -r /x/requirements.txt", "RUN pip install -r /x/requirements-rocm.txt"),
        ("RUN pip install -rrequirements.txt", "RUN pip install -rrequirements-rocm.txt"),
        ("RUN pip install -r dev-requirements.txt", "RUN pip install -r dev-requirements.txt"),
        ("COPY my-requirements.txt .", "COPY my-requirements.txt ."),
    ],
)
def test_a_line_that_names_the_requirements(row: str, becomes: str, tmp_path: Path) -> None:
    found = docker(tmp_path, row, requirements_txt="torch\n")
    assert [line for line in found if line != f"RUN {CHOSEN.install()}"] == [becomes]


def test_a_line_whose_continuation_went_ends_there(tmp_path: Path) -> None:
    rows = (
        "RUN apt-get install -y \\",
        "    git \\",
        "    cuda-toolkit-12-4 \\",
        "    libcudnn9",
        "RUN x \\",
        "  y",
        "",
    )
    assert docker(tmp_path / "a", *rows) == ["RUN apt-get install -y \\", "    git", "RUN x \\", "  y", ""]
    assert docker(tmp_path / "b", "RUN a \\", "    cuda-toolkit-12-4") == ["RUN a"]
    assert docker(tmp_path / "c", "RUN a \\", "", "RUN b")[0] == "RUN a"


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        (["RUN pip install a", "RUN pip install torch --index-url {cuda}"], "torch a"),
        (["RUN pip install torch --index-url {cuda}", "RUN pip install a"], "torch a"),
        (["RUN pip install a", "FROM x", "RUN pip install torch --index-url {cuda}"], "a from torch"),
        (["RUN pip install a", "RUN pip install torch b --index-url {cuda}"], "own a torch"),
        (["RUN pip install a", "RUN pip install -U 'torch>=2' torchvision[x] --index-url={cuda}"], "torch a"),
        (["RUN pip install a", "RUN python3 -m pip install torch --pre --index-url {cuda}"], "torch a"),
        (["RUN pip install a", "RUN pip install torchmetrics --index-url {cuda}"], "own a torch"),
        (["RUN pip install a", "USER me", "RUN pip install torch --index-url {cuda}"], "own a user torch"),
    ],
)
def test_rocms_torch_stands_first_in_its_stage(rows: list[str], order: str, tmp_path: Path) -> None:
    found = docker(tmp_path, *(row.format(cuda="https://download.pytorch.org/whl/cu124") for row in rows))
    words = []
    for row in found:
        known = {f"RUN {CHOSEN.install()}": "own", "RUN pip install a": "a", "FROM x": "from", "USER me": "user"}
        words.append(known.get(row, "torch"))
    assert " ".join(words) == order


def test_requirements_alone_bring_torch_where_they_are_installed(tmp_path: Path) -> None:
    found = docker(
        tmp_path / "a", "RUN pip install a", "RUN pip install -r requirements.txt", requirements_txt="torch\n"
    )
    assert found[0] == f"RUN {CHOSEN.install()}" and len(found) == 3
    assert docker(tmp_path / "b", "RUN pip install a", requirements_txt="torch\n") == ["RUN pip install a"]
    assert docker(tmp_path / "c", "RUN pip install a", "COPY requirements.txt .") == [
        "RUN pip install a", "COPY requirements.txt ."
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "becomes"),
    [
        ("ENV HSA_OVERRIDE_GFX_VERSION=10.3.0", []),
        ("ENV HSA_OVERRIDE_GFX_VERSION 10.3.0", []),
        ("ENV A=1 HSA_OVERRIDE_GFX_VERSION=10.3.0", ['ENV A="1"']),
        ("RUN export HSA_OVERRIDE_GFX_VERSION=10.3.0 && make", ["RUN export HSA_OVERRIDE_GFX_VERSION=10.3.0 && make"]),
        ("RUN a; HSA_OVERRIDE_GFX_VERSION=10.3.0 make", ["RUN a; HSA_OVERRIDE_GFX_VERSION=10.3.0 make"]),
    ],
)
def test_a_setting_that_doctor_would_unset_is_named(row: str, becomes: list[str], tmp_path: Path) -> None:
    said, *rest = docker(tmp_path, row)
    where = "below" if becomes[:1] == [row] else "left out"
    assert said.startswith(f"# HSA_OVERRIDE_GFX_VERSION=10.3.0 {where}: ") and rest == becomes


@pytest.mark.parametrize("row", ["ENV A=1 B=2", "ENV A 1", 'ENV A="unclosed', "RUN export A=1 && make", "ENV"])
def test_a_setting_that_nobody_minds_stays_as_it_is(row: str, tmp_path: Path) -> None:
    assert docker(tmp_path, row, "LABEL a=b", "  c=d")[0] == row


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("numpy", ""), ("numpy>=1  # cuda", ""), ("# torch==1", ""), ("", ""), ("-e .", ""), ("--no-binary :all:", ""),
        ("torch", ""), ("torch  # >= 2", ""), ("torch; python_version >= '3'", ""),
        ("torch==2.5.1", "held by constraints-rocm.txt"), ("torch~=2.5", "held by constraints-rocm.txt"),
        ("TorchVision>=0.20", "held by constraints-rocm.txt"), ("torchvision", ""),
        ("torch @ https://x/cu121/torch.whl", "held by constraints-rocm.txt"),
        ("--extra-index-url https://download.pytorch.org/whl/cu121", "CUDA's wheels"),
        ("-f https://x/nvidia/index", "CUDA's wheels"), ("--index-url https://x/simple", ""),
        ("https://x/a-1+cu121-py3.whl", "CUDA's wheels"), ("./a.cu118/x.whl  # y", "CUDA's wheels"),
        ("https://x/a.whl  # +cu121", ""),
        ("mything-cu12", "CUDA's wheels"), ("my-cuda-thing", "CUDA's wheels"), ("mything==1+cu121", "CUDA's wheels"),
        ("mything-cu22", "CUDA's wheels"),
        ("nvidia-cublas-cu12", "NVIDIA only"), ("cupy-cuda12x", "NVIDIA only"), ("triton==3.1", "comes with PyTorch"),
        ("torchmetrics>=1", ""),
    ],
)  # fmt: skip
def test_a_line_of_the_requirements(line: str, why: str, tmp_path: Path) -> None:
    text = made(tmp_path, {"requirements.txt": f"{line}\nend\n", "setup.py": "import torch\n"})["requirements-rocm.txt"]
    body = text.split("-c constraints-rocm.txt\n")[1]
    if why:
        assert body.startswith(f"# {line}\n#   {why}") and body.endswith("\nend\n") and body.count("\n") == 3
    else:
        assert body == f"{line}\nend\n"


def test_what_goes_on_in_the_next_line_is_left_out_whole(tmp_path: Path) -> None:
    lines = "cupy-cuda12x \\\r\n  --hash=a\r\ntorch\r\n"
    body = made(tmp_path, {"requirements.txt": lines})["requirements-rocm.txt"].split("constraints-rocm.txt\n", 1)[1]
    assert body.startswith("# cupy-cuda12x \\\n#   --hash=a\n#   NVIDIA only") and body.endswith("\ntorch\n")


def test_a_pin_of_torch_with_its_hashes_is_held_by_the_constraints(tmp_path: Path) -> None:
    """pip would refuse the ROCm build: its hash is none of these."""
    lines = "torch==2.5.1 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\nnumpy \\\n    ; python_version > '3'\n"
    body = made(tmp_path, {"requirements.txt": lines})["requirements-rocm.txt"].split("constraints-rocm.txt\n", 1)[1]
    assert body.startswith("# torch==2.5.1 \\\n#     --hash=sha256:00 \\\n#     --hash=sha256:11\n#   held by")
    assert body.endswith("\nnumpy \\\n    ; python_version > '3'\n")


@pytest.mark.parametrize(
    ("files", "has"),
    [
        ({"requirements.txt": "torch>=2\n"}, True),
        ({"requirements.txt": "numpy\n"}, False),
        ({"requirements.txt": "numpy\n", "setup.py": "from torch import x\n"}, True),
        ({"requirements.txt": "numpy\n", "sub/setup.py": "from torch import x\n"}, False),
        ({"setup.py": "from torch import x\n"}, False),
    ],
)
def test_who_gets_requirements(files: dict[str, str], has: bool, tmp_path: Path) -> None:
    assert ({"requirements-rocm.txt", "constraints-rocm.txt"} <= set(made(tmp_path, files))) is has


def test_requirements_that_are_no_text_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_bytes(b"torch\n\xff\xfe")
    assert made(tmp_path, {"a.txt": ""}) == {}
    (tmp_path / "requirements.txt").write_bytes(b"\xef\xbb\xbftorch\n")
    assert "\ntorch\n" in made(tmp_path, {"a.txt": ""})["requirements-rocm.txt"]


def test_constraints_pin_torch_and_what_is_asked_for(tmp_path: Path) -> None:
    def pins(name: str, text: str) -> list[str]:
        rows = made(tmp_path / name, {"requirements.txt": text})["constraints-rocm.txt"].splitlines()
        return [row for row in rows if not row.startswith("#")]

    torch, vision = (f"{name}=={version}" for name, version in CHOSEN.pins)
    assert pins("a", "torch\n") == [torch] and pins("b", "torch\ntorchvision\n") == [torch, vision]


def of(torch: str | None = None, rocm: str | None = None) -> tuple[str, str]:
    found = wheels(Options(torch=torch, rocm=RocmVersion.parse(rocm) if rocm else None))
    return found.torch, found.rocm


@pytest.mark.parametrize(
    ("torch", "rocm", "expected"),
    [
        ("2.9", None, ("2.9", "6.4")), ("2.9.1", None, ("2.9", "6.4")), ("2.9", "6.3", ("2.9", "6.3")),
        (None, "6.4", ("2.9", "6.4")), (None, "6.4.2", ("2.9", "6.4")), (None, "6.3", ("2.9", "6.3")),
        (None, "6.2.4", ("2.7", "6.2.4")), ("2.6", "6.1", ("2.6", "6.1")), ("2.1", None, ("2.1", "5.6")),
    ],
)  # fmt: skip
def test_the_release_asked_for(torch: str | None, rocm: str | None, expected: tuple[str, str]) -> None:
    assert of(torch, rocm) == expected


@pytest.mark.parametrize(("torch", "rocm"), [("9.9", None), ("2.9", "5.7"), (None, "3.0"), ("2", None)])
def test_what_is_not_served_gives_the_newest_that_was_measured(torch: str | None, rocm: str | None) -> None:
    assert of(torch, rocm) == of() == (CHOSEN.torch, CHOSEN.rocm)


@pytest.mark.parametrize("release", [one.version for one in torch_releases() if one.rocm and one.index])
def test_pins_are_of_the_release_and_its_index(release: str) -> None:
    found = wheels(Options(torch=release))
    assert found.torch == release and found.index.endswith(f"/whl/rocm{found.rocm}")
    (torch, version), *vision = found.pins
    assert torch == "torch" and version.startswith(f"{release}.") and version.endswith(f"+rocm{found.rocm}")
    known = next(one for one in torch_releases() if one.version == release)
    assert [(name, text.rsplit(".", 1)[0].split("+")[0][: len(known.torchvision)]) for name, text in vision] == (
        [("torchvision", known.torchvision)] if known.torchvision else []
    )


def test_the_command_installs_what_is_named() -> None:
    chosen = Wheels("2.9", "6.4", "https://x/rocm6.4", (("torch", "2.9.1+rocm6.4"), ("torchvision", "0.24.1+rocm6.4")))
    assert chosen.install() == "pip install --index-url https://x/rocm6.4 torch==2.9.1+rocm6.4"
    assert chosen.install(("torchvision", "torch")).endswith(" torch==2.9.1+rocm6.4 torchvision==0.24.1+rocm6.4")


WORKFLOW = {".github/workflows/test.yaml": "on: push\n"}


@pytest.mark.parametrize(
    ("files", "run"),
    [
        ({"setup.py": "CUDAExtension\n"}, "/opt/build/bin/pip wheel --no-build-isolation --no-deps -w dist ."),
        ({"CMakeLists.txt": "option(USE_ROCM x OFF)\n"}, "cmake -S . -B build -DUSE_ROCM=ON"),
        ({"Makefile": "ifeq ($(USE_ROCM),1)\n"}, "make USE_ROCM=1"),
        ({"setup.py": "setup()\n", "Makefile": "ifeq ($(USE_ROCM),1)\n"}, "make USE_ROCM=1"),
        ({"CMakeLists.txt": "project(x)\n"}, None),
        ({"sub/Makefile": "ifeq ($(USE_ROCM),1)\n"}, None),
        ({}, None),
    ],
)
def test_a_workflow_builds_the_root_by_what_it_has(files: dict[str, str], run: str | None, tmp_path: Path) -> None:
    new = made(tmp_path, {**WORKFLOW, **files})
    assert (".github/workflows/rocm.yml" in new) is (run is not None)
    if run is not None:
        text = new[".github/workflows/rocm.yml"]
        assert (
            f"      - name: Build\n        run: {run}" in text
            and f"container: {development_image('24.04', ROCM).name}" in text
        )


def test_a_workflow_names_constraints_and_force_only_where_there_are_some(tmp_path: Path) -> None:
    def text(name: str, **files: str) -> str:
        named = {key.replace("_", "."): value for key, value in files.items()}
        return made(tmp_path / name, {**WORKFLOW, **named})[".github/workflows/rocm.yml"]

    plain = text("a", setup_py="CUDAExtension\n")
    assert "-c constraints" not in plain and "FORCE_CUDA" not in plain and CHOSEN.install() in plain
    full = text("b", setup_py="CUDAExtension FORCE_CUDA\n", requirements_txt="torch\n")
    assert "setuptools wheel -c constraints-rocm.txt\n" in full and "          FORCE_CUDA: 1\n" in full


@pytest.mark.parametrize("there", [".github/workflows/AMD-ROCm.yml", ".github/workflows/sub/rocm/x.yml"])
def test_a_repository_with_a_job_for_rocm_gets_no_other(there: str, tmp_path: Path) -> None:
    files = {**WORKFLOW, "setup.py": "CUDAExtension\n"}
    assert ".github/workflows/rocm.yml" not in made(tmp_path, {**files, there: "on: push\n"})


@pytest.mark.parametrize("there", [".github/test.yml", ".github/workflows/README.md", "workflows/a.yml"])
def test_a_repository_without_workflows_gets_none(there: str, tmp_path: Path) -> None:
    assert ".github/workflows/rocm.yml" not in made(tmp_path, {there: "", "setup.py": "CUDAExtension\n"})


LEFT = "left out: the default index holds CUDA's build"


@pytest.mark.parametrize(
    ("row", "becomes"),
    [
        ("RUN pip install torch==2.5.1+cu121", [f"# torch==2.5.1 {LEFT}", f"RUN {CHOSEN.install()}"]),
        ("RUN pip install torchvision==0.20.1 'torchaudio==2.5.1'",
         [f"# torchvision==0.20.1 'torchaudio==2.5.1' {LEFT}",
          f"RUN {CHOSEN.install(('torch', 'torchvision'))} torchaudio"]),
        ("RUN python3 -m pip install -U torch numpy",
         [f"# torch {LEFT}", f"RUN {CHOSEN.install()}", "RUN python3 -m pip install -U numpy"]),
        (f"RUN {CHOSEN.install()}\nRUN pip install 'torch>=2.0' einops",
         [f"RUN {CHOSEN.install()}", f"# 'torch>=2.0' {LEFT}", "RUN pip install einops"]),
        ("RUN pip install torch; ls", ["RUN pip install torch; ls"]),
        ("RUN pip install torch > log", ["RUN pip install torch > log"]),
    ],
)  # fmt: skip
def test_torch_of_the_default_index_gives_way_to_rocms(row: str, becomes: list[str], tmp_path: Path) -> None:
    assert docker(tmp_path, row) == becomes


def test_what_a_ported_dockerfile_installs_passes_the_checks_of_doctor(tmp_path: Path) -> None:
    steps = ["RUN pip install -e .", "RUN pip install torch==2.1.0", "RUN pip install cupy-cuda12x nvidia-nccl-cu12"]
    rows = docker(tmp_path, "ENV TORCHINDUCTOR_MAX_AUTOTUNE=1", *steps)
    assert [row for row in rows if row.startswith("RUN")] == [f"RUN {CHOSEN.install()}", "RUN pip install -e ."]
    text = "\n".join([f"FROM {development_image('22.04', ROCM).name}", *rows])
    results = diagnose(machine_from_text(text, "Dockerfile")).results
    assert [result.check.id for result in results if result.status in ("warn", "fail")] == []


def test_an_image_of_pytorch_keeps_its_own_torch(tmp_path: Path) -> None:
    steps = "FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel\nRUN pip install torch==2.5.1 einops\n"
    lines = made(tmp_path, {"Dockerfile": steps})["Dockerfile.rocm"].splitlines()
    assert lines[-3:] == [f"FROM {pytorch_image().name}", f"# torch==2.5.1 {LEFT}", "RUN pip install einops"]
