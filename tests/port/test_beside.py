"""Files a port adds beside the sources."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from rocport.model import Options
from rocport.port import beside
from rocport.port.generated import PortedTree
from rocport.scan.tree import read_tree

REQUIREMENTS = """\
--extra-index-url https://download.pytorch.org/whl/cu121
torch==2.5.1+cu121
torchvision>=0.20
numpy
flash-attn>=2.5  # attention
cupy-cuda12x
nvidia-cudnn-cu12==9.1.0.70
triton==3.1.0
transformers>=4.40 \\
    --hash=sha256:00
"""
DOCKERFILE = """\
# build
FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build
ENV NVIDIA_VISIBLE_DEVICES=all
ENV TORCH_CUDA_ARCH_LIST="8.0;9.0"
ENV CUDA_HOME=/usr/local/cuda
RUN apt-get update && apt-get install -y \\
    git \\
    cuda-toolkit-12-4
COPY requirements.txt .
RUN pip install torch==2.5.1 --extra-index-url https://download.pytorch.org/whl/cu121
RUN pip install nvidia-cudnn-cu12 numpy
RUN pip install -r requirements.txt
CMD ["python", "main.py"]
"""


def made(folder: Path, files: dict[str, str], options: Options | None = None) -> dict[str, str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    tree = PortedTree(read_tree(folder), options=options or Options())
    return {new.path: new.data.decode() for new in beside.generate(tree)}


def active(text: str) -> list[str]:
    return [row for row in text.splitlines() if row.strip() and not row.lstrip().startswith("#")]


def test_requirements_leave_out_what_only_cuda_meets(tmp_path: Path) -> None:
    new = made(tmp_path, {"requirements.txt": REQUIREMENTS})
    assert active(new["requirements-rocm.txt"]) == [
        "-c constraints-rocm.txt",
        "numpy",
        "transformers>=4.40 \\",
        "    --hash=sha256:00",
    ]
    assert "# cupy-cuda12x\n#   NVIDIA only" in new["requirements-rocm.txt"]
    assert "# flash-attn>=2.5  # attention\n#   " in new["requirements-rocm.txt"]


def test_constraints_hold_the_rocm_build_of_torch(tmp_path: Path) -> None:
    new = made(tmp_path, {"requirements.txt": REQUIREMENTS})
    torch, vision = active(new["constraints-rocm.txt"])
    assert torch.startswith("torch==2.") and "+rocm" in torch
    assert vision.startswith("torchvision==0.") and vision.split("+")[1] == torch.split("+")[1]
    assert f"--index-url https://download.pytorch.org/whl/{torch.split('+')[1]} " in new["constraints-rocm.txt"]


def test_the_release_asked_for_is_taken(tmp_path: Path) -> None:
    new = made(tmp_path, {"requirements.txt": "torch\n"}, dataclasses.replace(Options(), torch="2.9"))
    assert active(new["constraints-rocm.txt"])[0].startswith("torch==2.9.1+rocm6.4")


@pytest.mark.parametrize("text", ["numpy\n", ""])
def test_a_project_without_torch_gets_none(tmp_path: Path, text: str) -> None:
    assert made(tmp_path, {"requirements.txt": text}) == {}


def test_files_that_are_there_stay(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch\n", "requirements-rocm.txt": "mine\n", "Dockerfile": DOCKERFILE}
    assert sorted(made(tmp_path, {**files, "Dockerfile.rocm": "FROM mine\n"})) == ["constraints-rocm.txt"]


def test_dockerfile_on_a_rocm_image(tmp_path: Path) -> None:
    text = made(tmp_path, {"Dockerfile": DOCKERFILE, "requirements.txt": "torch\nnumpy\n"})["Dockerfile.rocm"]
    assert "FROM rocm/dev-ubuntu-22.04:7.2.4-complete AS build\n" in text
    assert "NVIDIA_VISIBLE" not in text and "cuda-toolkit" not in text and "nvidia-cudnn" not in text
    assert 'ENV PYTORCH_ROCM_ARCH="gfx90a;' in text and "ENV ROCM_PATH=/opt/rocm\n" in text
    assert "    git\nCOPY requirements-rocm.txt constraints-rocm.txt .\n" in text
    torch = re.search(
        r"RUN pip install torch==2\S+\+rocm(\S+) --index-url https://download.pytorch.org/whl/rocm(\S+)", text
    )
    assert torch and torch[1] == torch[2] and torch.start() < text.index("RUN pip install numpy\n")
    assert "RUN pip install -r requirements-rocm.txt\n" in text
    assert text.endswith('CMD ["python", "main.py"]\n')
    assert "--device=/dev/kfd" in text


def test_rocms_torch_comes_before_what_needs_it_and_settings_are_checked(tmp_path: Path) -> None:
    steps = """FROM nvidia/cuda:12.4.1-devel-ubuntu22.04
ENV HSA_OVERRIDE_GFX_VERSION=10.3.0
RUN TORCHINDUCTOR_MAX_AUTOTUNE=1 pip install numpy
COPY requirements.txt .
RUN pip install -e .
RUN pip install -r requirements.txt
"""
    files = {"Dockerfile": steps, "requirements.txt": "torch==2.4.0\n"}
    added = made(tmp_path / "one", files)["Dockerfile.rocm"].splitlines()
    torch = next(at for at, row in enumerate(added) if row.startswith("RUN pip install --index-url"))
    assert torch < next(at for at, row in enumerate(added) if "numpy" in row) < added.index("RUN pip install -e .")
    assert not any(row.startswith("ENV HSA_OVERRIDE") for row in added)
    assert any(row.startswith("# TORCHINDUCTOR_MAX_AUTOTUNE=1 below: ") for row in added)
    last = "RUN pip3 install torch==2.4.0 --extra-index-url https://download.pytorch.org/whl/cu124\n"
    plain = steps.replace("COPY requirements.txt .\n", "")
    moved = made(tmp_path / "two", {**files, "Dockerfile": plain + last})["Dockerfile.rocm"]
    assert moved.count("download.pytorch.org") == 1 and moved.index("torch==2.") < moved.index("-e .")
    assert "torch==2.4.0" not in moved


@pytest.mark.parametrize(
    ("between", "step"),
    [("COPY requirements.txt .\n", "-r requirements.txt"), ("WORKDIR /src\n", "torch ."), ("ARG V=2.4\n", "torch"),
     ("", "-r requirements.txt torch"), ("", "torch . "), ("", "torch && make"), ("", "torch; make"),
     ("", "--requirement=needed.txt torch")],
)  # fmt: skip
def test_a_step_that_needs_what_stands_above_it_stays_there(tmp_path: Path, between: str, step: str) -> None:
    index = "https://download.pytorch.org/whl/cu124"
    steps = f"RUN pip install numpy\n{between}RUN pip install --index-url {index} {step}\n"
    files = {"Dockerfile": f"FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n{steps}"}
    first, *rest = (row for row in made(tmp_path, files)["Dockerfile.rocm"].splitlines() if row.startswith("RUN"))
    assert first.startswith("RUN pip install --index-url") and "torch==2." in first
    assert rest[0] == "RUN pip install numpy" and step.split()[0] in rest[1] and len(rest) == 2


def test_a_range_of_versions_is_replaced_whole(tmp_path: Path) -> None:
    row = "RUN pip install 'torch>=2.1,<2.5' 'torchaudio~=2.1 , !=2.2' numpy --index-url "
    index = "https://download.pytorch.org/whl/cu124"
    files = {"Dockerfile": f"FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n{row}{index}\n"}
    ported = made(tmp_path, files)["Dockerfile.rocm"]
    assert re.search(r"'torch==2[\d.]+\+rocm[\d.]+' 'torchaudio' numpy --index", ported)


def test_dockerfile_of_pytorch_s_image(tmp_path: Path) -> None:
    new = made(tmp_path, {"docker/Dockerfile": "FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel\n"})
    assert active(new["docker/Dockerfile.rocm"]) == ["FROM rocm/pytorch:latest"]


def test_a_dockerfile_names_requirements_that_are_made(tmp_path: Path) -> None:
    docker = "FROM nvidia/cuda:12.1.0-devel-ubuntu22.04\nCOPY . .\nRUN pip install -r requirements.txt\n"
    for number, (listed, named) in enumerate((("numpy\n", False), ("torch==2.5.1\nnumpy\n", True))):
        folder = tmp_path / str(number)
        folder.mkdir()
        files = made(folder, {"Dockerfile": docker, "requirements.txt": listed})
        assert ("requirements-rocm.txt" in "\n".join(active(files["Dockerfile.rocm"]))) is named
        assert ("requirements-rocm.txt" in files) is named


def test_a_dockerfile_without_cuda_has_no_twin(tmp_path: Path) -> None:
    assert made(tmp_path, {"Dockerfile": "FROM python:3.12\nRUN pip install torch\n"}) == {}


def test_workflow_builds_what_the_repository_has(tmp_path: Path) -> None:
    files = {".github/workflows/test.yml": "on: push\n", "setup.py": "import torch\nCUDAExtension()\nFORCE_CUDA\n"}
    text = made(tmp_path / "a", files)[".github/workflows/rocm.yml"]
    assert "pip wheel --no-build-isolation" in text and "PYTORCH_ROCM_ARCH: gfx90a;" in text and "FORCE_CUDA: 1" in text
    assert "whl/rocm" in text
    files = {".github/workflows/test.yml": "on: push\n", "CMakeLists.txt": 'option(USE_ROCM "x" OFF)\n'}
    assert "-DUSE_ROCM=ON" in made(tmp_path / "b", files)[".github/workflows/rocm.yml"]


def test_no_workflow_where_there_are_none_or_one_for_rocm(tmp_path: Path) -> None:
    assert made(tmp_path / "a", {"setup.py": "CUDAExtension()\n"}) == {}
    files = {".github/workflows/rocm-test.yml": "on: push\n", "setup.py": "CUDAExtension()\n"}
    assert made(tmp_path / "b", files) == {}


def test_dockerfile_without_what_doctor_would_unset(tmp_path: Path) -> None:
    written = (
        "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n"
        "ENV TORCHINDUCTOR_MAX_AUTOTUNE=1\n"
        'ENV LANG=C.UTF-8 CUDA_LAUNCH_BLOCKING=1 NOTE="a b"\n'
        "ENV HIP_LAUNCH_BLOCKING 1\n"
        "ENV HF_HOME=/models\n"
    )
    text = made(tmp_path, {"Dockerfile": written})["Dockerfile.rocm"]
    rows = [row for row in text.splitlines() if row.startswith("ENV")]
    assert rows == ['ENV LANG="C.UTF-8" NOTE="a b"', "ENV HF_HOME=/models"]
    assert text.count(" left out: ") == 3 and "# TORCHINDUCTOR_MAX_AUTOTUNE=1 left out: " in text


@pytest.mark.parametrize(
    "more",
    [" --config-settings=x=y", "\t--hash=sha256:a", " \\\n    --hash=sha256:a", " ; python_version > '3' --hash=a:b"],
)
def test_a_requirement_with_options_is_known_by_its_name(tmp_path: Path, more: str) -> None:
    new = made(tmp_path, {"requirements.txt": f"torch\nnvidia-ml-py{more}\nnumpy\n"})
    assert active(new["requirements-rocm.txt"]) == ["-c constraints-rocm.txt", "torch", "numpy"]


def test_a_comment_does_not_go_on(tmp_path: Path) -> None:
    new = made(tmp_path, {"requirements.txt": "# of ROCm \\\ntorch==2.5.1+cu121\n"})
    assert active(new["requirements-rocm.txt"]) == ["-c constraints-rocm.txt"]
