"""setuptools' build backend; with MBCLI_PRECOMPILE=1 it asks for numba, which compiles the kernels of a wheel."""

import os
import re
import tomllib
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

COMPILERS = ("numpy", "numba")


def get_requires_for_build_wheel(config_settings=None):
    needed = build_meta.get_requires_for_build_wheel(config_settings)
    if os.environ.get("MBCLI_PRECOMPILE", "0") in ("", "0"):
        return needed
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    return needed + [line for line in project["dependencies"] if re.match(r"\w+", line)[0] in COMPILERS]
