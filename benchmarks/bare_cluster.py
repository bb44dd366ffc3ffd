"""A Dask cluster on this machine whose workers have empty folders of their own: home, cache, working folder."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from mbcli.engine.runtime.kernel_cache import cache_directory

ROOT = Path(__file__).parents[1]
STARTED_WITHIN = 60.0  # [s]


def can_hide_folders():
    """Whether a process of a mount namespace of its own can be started."""
    try:
        return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class BareCluster:
    """A scheduler and workers, which end with it.

    Args:
        folder: for what the cluster needs.
        hidden: folders that workers see empty; needs can_hide_folders().
        variables: more variables of the environment of workers.
    """

    def __init__(self, folder, workers=2, hidden=(), variables=None):
        self.folder, self.hidden, self.variables = Path(folder), hidden, variables or {}
        self.folder.mkdir(parents=True, exist_ok=True)
        self.workers, self.bystanders, self._count = [], [], 0  # the latter are not killed
        place = self.folder / "scheduler.json"
        words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(place)]
        self.scheduler = self._start("dask_scheduler", *words, hidden=())
        self.address = self._address(place)
        for _ in range(workers):
            self.add()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (*self.workers, *self.bystanders, self.scheduler):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _address(self, place):
        """Of the scheduler, once it has written it to a file."""
        until = time.monotonic() + STARTED_WITHIN
        while time.monotonic() < until:
            with suppress(OSError, ValueError):
                return json.loads(place.read_text())["address"]
            time.sleep(0.05)
        raise RuntimeError("the scheduler of Dask does not start")

    def add(self, before="", **variables):
        """Starts one more worker. before: commands of the shell that starts it, each ended by &&; it may mount."""
        worker = self._start(
            "dask_worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny",
            hidden=self.hidden, before=before, **self.variables, **variables,
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def kill(self):
        """Kills the worker that is there longest."""
        worker = self.workers.pop(0)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def pause(self, is_paused=True):
        """Stops the worker that is there longest, with its processes, or lets it go on."""
        with suppress(OSError):
            os.killpg(self.workers[0].pid, signal.SIGSTOP if is_paused else signal.SIGCONT)

    def starve(self):
        """Leaves no memory to the processes in which workers run cases, beside what these have."""
        for worker in self.workers:
            with suppress(OSError):
                for child in Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split():
                    resource.prlimit(int(child), resource.RLIMIT_AS, (1, resource.RLIM_INFINITY))

    def _start(self, module, *words, hidden, before="", **variables):
        self._count += 1
        home = self.folder / f"{module}_{self._count}"
        cache = home / "cache"
        cache.mkdir(parents=True)
        kernels = cache_directory()
        if kernels is not None and kernels.exists():
            (cache / kernels.name).symlink_to(kernels)
        variables = {
            "PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "MBCLI_CACHE_DIR": str(cache),
            "PYTHONPATH": str(ROOT), **{k: v for k, v in os.environ.items() if k == "MBCLI_JIT"}, **variables,
        }  # fmt: skip
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
        if hidden or before:
            mounts = "".join(f'mount -t tmpfs none "{folder}" && ' for folder in hidden)
            command = ["unshare", "-m", "sh", "-c", f'{mounts}{before} exec "$@"', "sh", *command]
        with open(home / "output", "wb") as output:
            return subprocess.Popen(
                command, cwd=home, env=variables, stdout=output, stderr=output, start_new_session=True
            )
