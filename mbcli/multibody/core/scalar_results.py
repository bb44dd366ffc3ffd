"""Results of plants of AutoDiffXd and expressions: what the kernels keep as floats becomes of the scalar type too."""

import functools
from types import FunctionType

import numpy as np

from mbcli.geometry.coulomb_friction import CoulombFriction
from mbcli.math import RigidTransform, RotationMatrix
from mbcli.math.value_template import array_of, of_scalar
from mbcli.multibody.inertia.rotational_inertia import RotationalInertia
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia
from mbcli.multibody.math.spatial_vector import SpatialVector
from mbcli.multibody.state.context import StateVector
from mbcli.multibody.state.evaluated_state import EvaluatedState
from mbcli.multibody.state.frame_motions import FrameMotions
from mbcli.systems.vectors import ContinuousState

# how the names of methods begin
CALCULATIONS = ("Calc", "Eval", "Map", "MakeQDot", "MakeVelocity", "GetPositions", "GetVelocities")
OF_ELEMENTS = (*CALCULATIONS, "GetFixed", "GetForceInWorld", "GetPoseIn", "get_mass")
VALUES = (RigidTransform, RotationMatrix, SpatialVector, SpatialInertia, RotationalInertia, CoulombFriction)


def returning_scalars(plant_class, scalar):
    """The class with all its calculations returning numbers of a scalar type, by its name, throughout."""
    return _with_results(plant_class, CALCULATIONS, scalar)


@functools.cache
def element_class(kind, scalar):
    """The class of bodies and frames in plants of a scalar type, by its name, derived from that of floats."""
    members = {"__slots__": (), "__doc__": kind.__doc__, "__module__": kind.__module__, "class_of_floats": kind}
    return _with_results(type(kind.__name__, (kind,), members), OF_ELEMENTS, scalar)


def _with_results(kind, beginnings, scalar):
    for name in dir(kind):
        method = getattr(kind, name)
        if isinstance(method, FunctionType) and name.startswith(beginnings):
            setattr(kind, name, with_results(method, scalar))
    return kind


def with_results(method, scalar):
    """The function, or method, with results of a scalar type, by its name, throughout."""

    @functools.wraps(getattr(method, "func", method))  # of a port: partial
    def calculate(*arguments, **named):
        return _converted(method(*arguments, **named), scalar)

    return calculate


def _converted(value, scalar):
    if isinstance(value, np.ndarray):
        return array_of(value, scalar)
    if isinstance(value, (list, tuple)):
        return type(value)(_converted(part, scalar) for part in value)
    if isinstance(value, dict):
        return {key: _converted(part, scalar) for key, part in value.items()}
    if isinstance(value, (float, *VALUES)):
        return of_scalar(value, scalar)
    if isinstance(value, StateVector):
        return StateVector(array_of(value.CopyToVector(), scalar))
    if isinstance(value, ContinuousState):
        return ContinuousState(StateVector(array_of(value.CopyToVector(), scalar)), kinds=value.kinds)
    return value


class DualState(EvaluatedState):
    """An EvaluatedState that tells frames and bodies their motions in dual numbers throughout."""

    __slots__ = ()


for _name, _method in vars(FrameMotions).items():
    if isinstance(_method, FunctionType):
        setattr(DualState, _name, with_results(_method, "AutoDiffXd"))
