"""Entry of the child process: `python launch.py SPEC.json [script.py args...]`.

It runs under the interpreter of the code under test, where rocport need not be installed: only `rocport` itself is made
importable, not what lies beside it. Needs torch, msgpack and safetensors there.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path
from typing import Any


def _make_importable() -> None:
    if importlib.util.find_spec("rocport") is not None:
        return
    root = Path(__file__).resolve().parent.parent
    spec = importlib.util.spec_from_file_location(
        "rocport", root / "__init__.py", submodule_search_locations=[str(root)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rocport"] = module
    spec.loader.exec_module(module)


def _run_target(target: list[str]) -> None:
    """As the interpreter would: `script.py args`, `-m module args`, `-c code args`."""
    if target[0] == "-m":
        sys.argv = [target[1], *target[2:]]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(target[1], run_name="__main__", alter_sys=True)
    elif target[0] == "-c":
        sys.argv = ["-c", *target[2:]]
        sys.path.insert(0, "")
        exec(compile(target[1], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    else:
        sys.argv = list(target)
        sys.path.insert(0, str(Path(target[0]).resolve().parent))
        runpy.run_path(target[0], run_name="__main__")


def _seed(seed: int) -> None:
    import random

    import torch

    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def _capture(spec: dict[str, Any], target: list[str]) -> None:
    from rocport.numerics.config import CaptureConfig
    from rocport.numerics.recorder import Recorder

    config = CaptureConfig.from_json(spec["config"])
    if config.seed is not None:
        _seed(config.seed)
    try:
        with Recorder(Path(spec["part"]), config, target):
            _run_target(target)
    except Exception as error:
        _show(error)
        sys.exit(1)


def _show(error: Exception) -> None:
    """The traceback as the program alone would give it."""
    frames = error.__traceback__
    while frames is not None and (
        frames.tb_frame.f_code.co_filename == __file__ or "runpy" in frames.tb_frame.f_code.co_filename
        or Path(frames.tb_frame.f_code.co_filename).parent == Path(__file__).parent
    ):  # fmt: skip
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames or error.__traceback__)


_TASKS = {
    "compare": ("comparison", "compare_task"),
    "noise": ("comparison", "noise_task"),
    "head": ("comparison", "head_task"),
    "replay": ("replay", "replay_task"),
}
"""Task -> module and function; PyTorch is loaded only by those that need it."""


def _task(spec: dict[str, Any]) -> None:
    """A task whose result is JSON, at spec["output"]; an error that the user can mend is such a result too."""
    module, function = _TASKS[spec["task"]]
    from rocport.numerics.golden import GoldenError

    try:
        result = getattr(importlib.import_module(f"rocport.numerics.{module}"), function)(spec)
    except GoldenError as error:
        result = {"error": str(error)}
    output = Path(spec["output"])
    temporary = output.with_name(output.name + ".new")
    temporary.write_text(json.dumps(result), encoding="utf-8")
    os.replace(temporary, output)


def main() -> None:
    """Run what SPEC.json says. The task's result is its exit code and the files it writes."""
    # Where the shell ignores it, as in a job in the background, so would this process: it is told to end that way.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    spec = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    target = sys.argv[2:]
    # The folder of this file holds modules named like the standard library's; the interpreter put it first.
    sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
    _make_importable()
    if spec["task"] == "capture":
        _capture(spec, target)
    else:
        _task(spec)


if __name__ == "__main__":
    main()
