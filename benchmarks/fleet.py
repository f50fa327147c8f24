"""How fast is a fleet with more workers, what does a cluster cost, and what does killing its workers lose?

    python benchmarks/fleet.py --work DIR [--repositories N] [--build] [--workers 1,2,4] [--nodes N] [--kills N]

The fleet is N copies of examples/rowstats and examples/reviewed, each with a line of its own, scanned and ported (and
compiled with --build). It is led with 1, 2 and 4 workers of this machine, then on a local Ray cluster of several node
processes, undisturbed and with workers killed at random times. Each run has a store of its own. Printed: seconds,
repositories an hour, tasks brought to their end more than once (twice), tasks without a result (lost).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from rocport.fleet.store import open_store

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def make(work: Path, count: int) -> Path:
    """The list of a fleet."""
    names = []
    for number in range(count):
        folder = work / "trees" / f"r{number}"
        if not folder.is_dir():
            shutil.copytree(EXAMPLES / ("rowstats", "reviewed")[number % 2], folder)
            (folder / "number.cu").write_text(f"__global__ void n(int* x) {{ *x = {number}; }}\n")
        names.append(str(folder))
    listed = work / "list.txt"
    listed.write_text("\n".join(names) + "\n")
    return listed


def workers_of(command: str) -> list[int]:
    """Processes whose command line holds a word."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):
                line = Path("/proc", entry, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if command in line:
                    found.append(int(entry))
    return found


def ours(pid: int, mark: str) -> bool:
    """A process of this run: its environment says so."""
    try:
        return f"ROCPORT_FLEET_RUN={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def killer(mark: str, kills: int, stop: threading.Event, done: list[str]) -> None:
    """Kill a child or a worker of Ray at random times, `kills` times."""
    chance = random.Random(20260)
    while not stop.is_set() and len(done) < kills:
        stop.wait(chance.uniform(2, 6))
        kind = ("rocport.fleet.child", "ray::run")[len(done) % 2]
        mine = [pid for pid in workers_of(kind) if ours(pid, mark)] or [
            pid for pid in workers_of("rocport.fleet.child") if ours(pid, mark)
        ]
        if mine and not stop.is_set():
            with suppress(ProcessLookupError):
                os.kill(chance.choice(mine), signal.SIGKILL)
                done.append(kind)


def lead(listed: Path, out: Path, words: list[str], kills: int = 0) -> None:
    """One run, and what it showed."""
    shutil.rmtree(out, ignore_errors=True)
    mark = out.name
    environment = {**os.environ, "ROCPORT_FLEET_RUN": mark}
    started, stop, killed = time.monotonic(), threading.Event(), []
    command = [sys.executable, "-m", "rocport", "fleet", str(listed), "--out", str(out), "--format", "json", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    thread = threading.Thread(target=killer, args=(mark, kills, stop, killed))
    thread.start()
    said, _ = process.communicate()
    seconds = time.monotonic() - started
    stop.set()
    thread.join()
    data = json.loads(said)
    rows = data["repositories"]
    store = open_store(str(out / "store"))
    ended = Counter(name.split("/")[1].split(".")[0] for name in store.names("ended"))
    twice = sum(count > 1 for count in ended.values())
    lost = sum(row["state"] != "done" for row in rows)
    print(
        f"{mark:24} {seconds:7.1f} s  {3600 * len(rows) / seconds:7.0f} repositories an hour  tasks {len(ended)}  "
        f"twice {twice}  lost {lost}  killed {len(killed)}  tried again {data['tasks']['again']}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--repositories", type=int, default=24)
    parser.add_argument("--workers", default="1,2,4", help="of this machine; empty: the cluster alone")
    parser.add_argument("--nodes", type=int, default=3, help="node processes of the local Ray cluster; 0: none")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--build", action="store_true")
    arguments = parser.parse_args()
    listed = make(arguments.work.resolve(), arguments.repositories)
    words = ["--target", "gfx942"] if arguments.build else ["--no-build"]
    print(f"{arguments.repositories} repositories, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for workers in map(int, filter(None, arguments.workers.split(","))):
        lead(listed, arguments.work / f"local-{workers}", [*words, "-j", str(workers)])
    if arguments.workers:
        lead(listed, arguments.work / "local-2-killed", [*words, "-j", "2", "--retries", "20"], arguments.kills)
    if arguments.nodes:
        os.environ["ROCPORT_FLEET_RUN"] = "ray-killed"
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        for _ in range(arguments.nodes - 1):
            cluster.add_node(num_cpus=1)
        address = ["--address", cluster.address, "--retries", "20"]
        lead(listed, arguments.work / "ray", [*words, *address])
        lead(listed, arguments.work / "ray-killed", [*words, *address], arguments.kills)
        cluster.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
