"""Leads every repository through its steps. What the store has is not done again; what a worker lost is.

The driver may be killed at any time: a later run over the same store goes on where it stopped.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from rocport.fleet import child
from rocport.fleet.child import Ended
from rocport.fleet.sources import Source
from rocport.fleet.store import Store, read_result
from rocport.fleet.tasks import BUILD, PAGE, PREPARE, RUN, Places, Task
from rocport.model.digest import code_digest

Runner = Callable[[Task, Places], Ended]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Options:
    """What is done to each repository. `sample`: at most so many units of each, those whose path has the smallest
    SHA-256 (0: all); `chunk`: units of one task; `retries`: of a task whose worker was lost; `rocm` and `torch`: the
    versions a port is for, empty: any."""

    targets: tuple[str, ...]
    build: bool = True
    run: bool = False
    pages: bool = True
    objects: bool = False
    sample: int = 0
    chunk: int = 16
    workers: int = 1
    retries: int = 3
    rocm: str = ""
    torch: str = ""


@dataclass
class Row:
    """One repository: the results of its steps. `lost` are steps that no worker brought to an end, with the reason."""

    source: Source
    prepared: dict[str, Any] | None = None
    built: list[dict[str, Any]] = field(default_factory=list)
    ran: dict[str, Any] | None = None
    page: str = ""
    lost: list[str] = field(default_factory=list)
    waiting: int = 0
    keys: list[str] = field(default_factory=list)


@dataclass
class Fleet:
    """A run: `made` tasks were done now, `known` are in the store, `again` were tried again after a lost worker."""

    rows: list[Row]
    made: int = 0
    known: int = 0
    again: int = 0
    interrupted: bool = False
    """It was told to end: rows say what is known, and a later run goes on."""


def lead(
    sources: Sequence[Source], options: Options, places: Places, store: Store, runner: Runner, progress: Progress
) -> Fleet:
    """Do every step of every repository, `options.workers` at a time."""
    fleet = Fleet([Row(source) for source in sources])
    code = code_digest(by_content=True)
    child.STOP.clear()
    queue: deque[tuple[Row, Task]] = deque()
    ready: deque[tuple[Row, Task, int]] = deque()
    total = done = 0

    def add(row: Row, step: str, **more: Any) -> None:
        nonlocal total
        objects = options.objects and step == BUILD
        row.waiting += 1
        total += 1
        asked = (options.targets, options.rocm, options.torch)
        queue.append((row, Task(step, row.source, *asked, objects, code=code, **more)))

    def settle(row: Row, task: Task, result: dict[str, Any] | None, why: str) -> None:
        """Take a result, and put the steps that follow it into the queue."""
        nonlocal done
        done += 1
        row.waiting -= 1
        if result is None:
            row.lost.append(f"{task.step}: {why}")
        else:
            row.keys.append(task.key)
        if task.step == PREPARE:
            row.prepared = result
            if result is not None and result["state"] == "done":
                units = sampled(result["units"], options.sample) if options.build else []
                for at in range(0, len(units), options.chunk):
                    add(row, BUILD, units=tuple(units[at : at + options.chunk]))
                if options.run:
                    add(row, RUN)
        elif task.step == BUILD and result is not None:
            row.built.append(result)
        elif task.step == RUN:
            row.ran = result
        elif task.step == PAGE and result is not None:
            row.page = str(result.get("page", ""))
        finished = row.prepared is not None and row.prepared["state"] == "done" and not row.waiting
        if finished and task.step != PAGE and options.pages and not row.lost:
            add(row, PAGE, parts=tuple(sorted(row.keys)))
        progress(done, total, f"{task.source.name} {task.step}")

    for row in fleet.rows:
        add(row, PREPARE)
    with ThreadPoolExecutor(max_workers=options.workers) as pool:
        running: dict[Future[Ended], tuple[Row, Task, int]] = {}
        try:
            while queue or ready or running:
                while queue:
                    row, task = queue.popleft()
                    known = read_result(store, task.key)
                    if known is None:
                        ready.append((row, task, 0))
                    else:
                        fleet.known += 1
                        settle(row, task, known, "")
                while ready and len(running) < options.workers:
                    row, task, tries = ready.popleft()
                    running[pool.submit(runner, task, places)] = (row, task, tries)
                if not running:
                    continue
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    row, task, tries = running.pop(future)
                    ended = future.result()
                    result = read_result(store, task.key)
                    if result is None and ended.how == "lost" and tries < options.retries:
                        fleet.again += 1
                        ready.appendleft((row, task, tries + 1))
                        continue
                    fleet.made += result is not None
                    settle(row, task, result, ended.reason or "nothing was stored")
        except KeyboardInterrupt:
            child.STOP.set()
            fleet.interrupted = True
        except BaseException:
            child.STOP.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return fleet


def sampled(units: Sequence[str], count: int) -> list[str]:
    """At most `count` units (0: all), the same ones in every run and for every tool, in order of path."""
    ordered = sorted(units, key=lambda path: hashlib.sha256(path.encode()).hexdigest())
    return sorted(ordered[:count] if count else ordered)
