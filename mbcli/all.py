"""Every public class and function in one place, as pydrake.all; those that need SymPy are here where it is."""

# scripts take these from here, as from pydrake.all
import functools  # noqa: F401
import math  # noqa: F401
import os  # noqa: F401
import sys  # noqa: F401
import typing  # noqa: F401
import warnings  # noqa: F401
from functools import partial  # noqa: F401
from importlib.util import find_spec

import numpy as np  # noqa: F401

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.autodiffutils import *  # noqa: F403
    from mbcli.common import *  # noqa: F403
    from mbcli.common.containers import *  # noqa: F403
    from mbcli.common.value import *  # noqa: F403
    from mbcli.common.yaml import *  # noqa: F403
    from mbcli.config.lcm_params import *  # noqa: F403
    from mbcli.forwarddiff import derivative as derivative, gradient as gradient, jacobian as jacobian
    from mbcli.geometry import *  # noqa: F403
    from mbcli.geometry.optimization import *  # noqa: F403
    from mbcli.math import *  # noqa: F403
    from mbcli.multibody.fem import *  # noqa: F403
    from mbcli.multibody.math import *  # noqa: F403
    from mbcli.multibody.meshcat import *  # noqa: F403
    from mbcli.multibody.optimization import *  # noqa: F403
    from mbcli.multibody.parsing import *  # noqa: F403
    from mbcli.multibody.plant import *  # noqa: F403
    from mbcli.multibody.tree import *  # noqa: F403
    from mbcli.systems.analysis import *  # noqa: F403
    from mbcli.systems.controllers import *  # noqa: F403
    from mbcli.systems.drawing import *  # noqa: F403
    from mbcli.systems.framework import *  # noqa: F403
    from mbcli.systems.planar_scenegraph_visualizer import *  # noqa: F403
    from mbcli.systems.primitives import *  # noqa: F403
    from mbcli.systems.pyplot_visualizer import *  # noqa: F403
    from mbcli.systems.rendering import *  # noqa: F403
    from mbcli.systems.scalar_conversion import *  # noqa: F403
    from mbcli.trajectories import *  # noqa: F403
    from mbcli.visualization import *  # noqa: F403

    if find_spec("sympy") is not None:
        from mbcli.multibody.inverse_kinematics import *  # noqa: F403
        from mbcli.planning import *  # noqa: F403
        from mbcli.solvers import *  # noqa: F403
        from mbcli.symbolic import *  # noqa: F403
