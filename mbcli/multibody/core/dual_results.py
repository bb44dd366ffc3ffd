"""Results of plants of dual numbers: numbers without a gradient, which the kernels keep as floats, become dual too."""

import functools
from types import FunctionType

import numpy as np

from mbcli.math import RigidTransform, RotationMatrix
from mbcli.math.value_template import of_scalar
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia
from mbcli.multibody.math.spatial_vector import SpatialVector
from mbcli.multibody.scalars import dual_number
from mbcli.multibody.state.context import StateVector
from mbcli.multibody.state.evaluated_state import EvaluatedState
from mbcli.multibody.state.frame_motions import FrameMotions
from mbcli.systems.vectors import ContinuousState

# how the names of methods begin
CALCULATIONS = ("Calc", "Eval", "Map", "MakeQDot", "MakeVelocity", "GetPositions", "GetVelocities")


def returning_dual_numbers(plant_class):
    """The class with all its calculations returning dual numbers throughout; a decorator."""
    for name in dir(plant_class):
        method = getattr(plant_class, name)
        if isinstance(method, FunctionType) and name.startswith(CALCULATIONS):
            setattr(plant_class, name, dual_method(method))
    return plant_class


def dual_method(method):
    """The function, or method, with results of dual numbers throughout."""

    @functools.wraps(getattr(method, "func", method))  # of a port: partial
    def calculate(*arguments, **named):
        return _dual(method(*arguments, **named))

    return calculate


def _dual(value):
    if isinstance(value, np.ndarray):
        return _dual_array(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_dual, value))
    if isinstance(value, dict):
        return {key: _dual(part) for key, part in value.items()}
    if isinstance(value, (RigidTransform, RotationMatrix, SpatialVector, SpatialInertia)):
        return of_scalar(value, "AutoDiffXd")
    if isinstance(value, StateVector):
        return StateVector(_dual_array(value.CopyToVector()))
    if isinstance(value, ContinuousState):
        return ContinuousState(StateVector(_dual_array(value.CopyToVector())), kinds=value.kinds)
    return value


def _dual_array(array):
    if array.dtype.kind not in "Of":
        return array
    result = np.empty(array.shape, dtype=object)
    result[...] = np.reshape([dual_number(x) for x in array.flat], array.shape)
    return result


class DualState(EvaluatedState):
    """An EvaluatedState that tells frames and bodies their motions in dual numbers throughout."""

    __slots__ = ()


for _name, _method in vars(FrameMotions).items():
    if isinstance(_method, FunctionType):
        setattr(DualState, _name, dual_method(_method))
