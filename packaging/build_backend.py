"""setuptools' build backend; wheels are built with numba at hand, which compiles their kernels (setup.py)."""

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403


def get_requires_for_build_wheel(config_settings=None):
    needed = ["numpy>=1.26", "numba>=0.60"]
    return build_meta.get_requires_for_build_wheel(config_settings) + needed
