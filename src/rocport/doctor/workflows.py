"""`--deep`, second part: what people do with bitsandbytes, each workflow in a process of its own.

A workflow that hangs, crashes or aborts takes only its own process along; what the process printed is kept, so that it
can be explained. Each runs on the GPU where torch sees one and on the CPU otherwise (bitsandbytes has kernels for
both), and compares with dense arithmetic. Without a GPU the processes are forks of one that has imported torch and
bitsandbytes (`run_forked`): with one, the runtime of the GPU would not outlive the fork.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TAIL = 16_000
"""Characters kept of what a failed workflow printed."""

PRELUDE = r"""
import json, sys, torch
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dtype = torch.bfloat16 if device.type == "cpu" else torch.float16

def error(got, want):
    "Relative distance of two tensors: Frobenius norms."
    got, want = got.detach().float().cpu(), want.detach().float().cpu()
    assert torch.isfinite(got).all(), "the result holds NaN or infinity"
    return float((got - want).norm() / want.norm())

def done(**value):
    print("\n" + json.dumps({"device": device.type, **value}))
"""

WORKFLOWS: Mapping[str, str] = {
    "4bit-forward": r"""
import bitsandbytes as bnb
dense = torch.nn.Linear(256, 512)
layer = bnb.nn.Linear4bit(256, 512, compute_dtype=dtype, quant_type="nf4")
layer.load_state_dict(dense.state_dict())
layer = layer.to(device)
x = torch.randn(8, 256, dtype=dtype, device=device, requires_grad=True)
y = layer(x)
y.float().sum().backward()
weight = bnb.functional.dequantize_4bit(layer.weight.data, layer.weight.quant_state).float().cpu()
product = error(y, torch.nn.functional.linear(x.detach().float().cpu(), weight, dense.bias))
loss = error(weight, dense.weight)
assert product < 0.02, f"the 4-bit product is {product:.3f} off that with its own dequantized weight, allowed 0.02"
assert loss < 0.15, f"the NF4 weight is {loss:.3f} off the dense one, allowed 0.15"
assert torch.isfinite(x.grad).all(), "the gradient holds NaN or infinity"
done(product_error=product, weight_error=loss, blocksize=layer.weight.quant_state.blocksize)
""",
    "llm-int8": r"""
import bitsandbytes as bnb
dense = torch.nn.Linear(256, 512)
layer = bnb.nn.Linear8bitLt(256, 512, has_fp16_weights=False, threshold=6.0)
layer.load_state_dict(dense.state_dict())
layer = layer.to(device)
x = torch.randn(8, 256, dtype=dtype, device=device)
x[:, 3] = 20  # an outlier column, which the threshold keeps out of the 8-bit product
worst = error(layer(x), torch.nn.functional.linear(x.float().cpu(), dense.weight, dense.bias))
assert worst < 0.05, f"LLM.int8's product is {worst:.3f} off the dense one, allowed 0.05"
done(error=worst)
""",
    "optimizer-8bit": r"""
import bitsandbytes as bnb
weight = torch.nn.Parameter(torch.randn(128, 64, device=device))
goal = torch.randn(128, 64, device=device)
optimizer = bnb.optim.AdamW8bit([weight], lr=0.05)
losses = []
for _ in range(20):
    loss = ((weight - goal) ** 2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    losses.append(float(loss))
assert losses[-1] < 0.7 * losses[0], f"the loss went from {losses[0]:.3f} to {losses[-1]:.3f} in 20 steps of AdamW8bit"
state = optimizer.state[weight]["state1"].dtype
assert state == torch.uint8, f"the optimizer's state is {state}, not 8-bit"
done(first=losses[0], last=losses[-1])
""",
    "fsdp": r"""
import tempfile, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
with tempfile.TemporaryDirectory() as folder:
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, init_method=f"file://{folder}/store", rank=0, world_size=1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to(device)
    x = torch.randn(4, 64, device=device)
    want = model(x).detach().clone()
    mesh = init_device_mesh(device.type, (1,))
    for layer in model:
        if list(layer.parameters()):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    y = model(x)
    worst = error(y, want)
    assert worst < 1e-4, f"the sharded model is {worst:.5f} off the plain one, allowed 0.0001"
    y.square().mean().backward()
    optimizer.step()
    changed = float((model(x) - want).abs().max())
    dist.destroy_process_group()
assert changed > 0, "the optimizer's step changed nothing"
done(backend=backend, error=worst)
""",
}
_FORKS = r"""
import os, time, traceback
try:
    if any("bitsandbytes" in code for code in WORKFLOWS.values()):
        import bitsandbytes
except Exception:
    pass  # the workflows that need it say so
for name, code in WORKFLOWS.items():
    child = os.fork()
    if not child:
        for number in (1, 2):
            os.dup2(os.open(f"{name}.{number}", os.O_WRONLY | os.O_CREAT), number)
        ended = 0
        try:
            exec(compile(code, name, "exec"), globals())
        except BaseException:
            traceback.print_exc()
            ended = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended)
    until, ended = time.monotonic() + LIMIT, None
    while ended is None and time.monotonic() < until:
        gone, status = os.waitpid(child, os.WNOHANG)
        ended = os.waitstatus_to_exitcode(status) if gone else None
        time.sleep(0 if gone else 0.02)
    if ended is None:
        os.kill(child, 9)
        os.waitpid(child, 0)
    said = [open(f"{name}.{number}", errors="replace").read() for number in (1, 2)]
    print(json.dumps({"workflow": name, "ended": ended, "said": said}), flush=True)
"""
NEEDS = {"4bit-forward": "bitsandbytes", "llm-int8": "bitsandbytes", "optimizer-8bit": "bitsandbytes"}
"""Package a workflow cannot do without: it is left out where the package is not installed."""


@dataclass(frozen=True)
class Outcome:
    """How a workflow ended: `value` is what it measured (empty when it failed), `output` what it printed then."""

    name: str
    ok: bool
    value: str
    output: str = ""


def run_script(python: str, script: str, env: Mapping[str, str], seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run `script` in a process of its own, in an empty folder.

    `-c` puts the working directory first on the child's sys.path: in the user's, a `torch.py` of a repository would be
    imported in torch's place. (`-P` would be the way from Python 3.11 on.) Raises TimeoutExpired after `seconds` and
    OSError where `python` cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="rocport-deep-", ignore_cleanup_errors=True) as empty:
        return subprocess.run(
            [str(Path(python).absolute()), "-c", script],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            cwd=empty,
            env=dict(env),
            timeout=seconds,
            check=False,
        )


def run(python: str, name: str, env: Mapping[str, str], seconds: float) -> Outcome:
    """Run one workflow in a process of its own. A hang ends after `seconds`."""
    try:
        child = run_script(python, PRELUDE + WORKFLOWS[name], env, seconds)
        output, errors, ended = child.stdout, child.stderr, child.returncode
    except subprocess.TimeoutExpired as late:
        output, errors, ended = late.stdout or b"", late.stderr or b"", None
    except OSError as error:
        return Outcome(name, False, f"{python} cannot be run: {error.strerror or error}")
    return _judged(name, ended, output.decode(errors="replace"), errors.decode(errors="replace"), seconds)


def run_forked(python: str, names: Sequence[str], env: Mapping[str, str], seconds: float) -> dict[str, Outcome]:
    """Run the workflows in forks of one process, each at most `seconds`: outcomes by name.

    Without a name whose outcome is not known: the system cannot fork, or the first process did not outlive an import.
    """
    if os.name != "posix":
        return {}
    chosen = {name: WORKFLOWS[name] for name in names}
    script = f"{PRELUDE}\nWORKFLOWS = {chosen!r}\nLIMIT = {seconds!r}\n{_FORKS}"
    try:
        output = run_script(python, script, env, seconds * (len(names) + 1)).stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
    except OSError:
        return {}
    outcomes = {}
    for line in output.decode(errors="replace").splitlines():
        try:
            record = json.loads(line)
            name, ended, (out, err) = record["workflow"], record["ended"], record["said"]
        except (ValueError, TypeError, KeyError):
            continue
        outcomes[name] = _judged(name, ended, out, err, seconds)
    return outcomes


def _judged(name: str, code: int | None, output: str, errors: str, seconds: float) -> Outcome:
    """The outcome of a process by its exit code (None: it was stopped after `seconds`) and what it printed."""
    lines = output.strip().splitlines()
    if code == 0 and lines and _is_object(lines[-1]):
        return Outcome(name, True, lines[-1])
    ended = f"no end after {seconds:.0f} s" if code is None else f"exit code {code}"
    last = next((line for line in reversed(errors.strip().splitlines()) if line.strip()), "")
    said = "\n".join([*lines, errors])[-TAIL:]
    return Outcome(name, False, f"{ended}: {last}"[:400], f"{said}\n{ended}\n")


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
