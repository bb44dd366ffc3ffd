"""Which software and machine made a log."""

import os
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import mbcli

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "h5py", "lxml", "PyYAML", "click")
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def collect_provenance() -> dict:
    """Versions of mbcli, Python and packages, platform, processor, BLAS: equal in equal surroundings."""
    return {
        "mbcli_version": mbcli.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "cpu": _processor(),
        "packages": _package_versions(),
        "blas": _blas(),
    }


def utc_now() -> str:
    """The time of day, "2026-11-20T16:11:00Z"."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _package_versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # an optional one
            continue
    return versions


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def _blas() -> dict:
    """The BLAS that numpy was built with, and the variables of its number of threads."""
    import numpy as np

    try:
        blas: Any = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    except (KeyError, TypeError):  # a numpy built in another way tells less
        blas = {}
    threads = {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ}
    return {
        "name": blas.get("name", "unknown"),
        "version": blas.get("version", "unknown"),
        "cpu_count": os.cpu_count(),
        "threads": threads,
    }
