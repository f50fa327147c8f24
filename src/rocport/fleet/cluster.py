"""Tasks on the nodes of a Ray cluster; each still runs in a child under limits."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from typing import Any

from rocport.fleet import child
from rocport.fleet.child import Ended, Limits
from rocport.fleet.tasks import Places, Task

_CONNECT_S = 10.0
_POLL_S = 0.5
_RETRIES = 20
"""Of a task whose node or worker process is gone: Ray's own; a task that ends its child is the driver's to count."""


class ClusterError(Exception):
    """There is no cluster to use; the message says why and what to do."""


def runner(address: str, limits: Limits) -> tuple[Callable[[Task, Places], Ended], int, Callable[[], None]]:
    """(what runs a task on the cluster, the processors it has, what leaves it). Raises ClusterError."""
    try:
        import ray
    except ImportError as error:
        raise ClusterError("Ray is not installed; pip install 'rocport[fleet]', or leave out --address") from error
    host, _, port = address.rpartition(":")
    try:
        if port.isdigit() and "/" not in host:
            # Ray waits for ever for a head that is not there.
            socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        raise ClusterError(f"no Ray cluster at {address}: {error}") from error
    remote: Any = ray.remote(num_cpus=1, max_retries=_RETRIES, retry_exceptions=False)(child.run)
    if limits.memory is not None:
        remote = remote.options(memory=limits.memory)

    def run(task: Task, places: Places) -> Ended:
        given = remote.remote(task, places, limits)
        try:
            while not ray.wait([given], timeout=_POLL_S)[0]:
                if child.STOP.is_set():
                    # The worker's end is the end of its child.
                    ray.cancel(given, force=True)
                    return Ended("limit", "interrupted")
            ended: Ended = ray.get(given)
        except ray.exceptions.RayError as error:
            return Ended("lost", f"{type(error).__name__}: {str(error).splitlines()[0]}")
        return ended

    resources: Any = ray.cluster_resources
    return run, int(resources().get("CPU", 1)), ray.shutdown
