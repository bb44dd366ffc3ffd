"""Models in which one element of a parameter has moved by a small step, for derivatives by parameters."""

import numpy as np

from mbcli.multibody.inertia.spatial_inertia import spatial_inertia_of
from mbcli.multibody.tree.ball_spring import BallSpring
from mbcli.multibody.tree.bushing import CONSTANTS, LinearBushingRollPitchYaw
from mbcli.multibody.tree.joint import Joint
from mbcli.multibody.tree.joint_actuator import JointActuator
from mbcli.multibody.tree.joint_spring import JointSpring
from mbcli.multibody.tree.linear_spring_damper import LinearSpringDamper
from mbcli.multibody.tree.rigid_body import RigidBody

# the parameters that elements hold in Parameters under their own names
NAMES = {
    Joint: ("damping",),
    JointActuator: ("rotor_inertia", "gear_ratio"),
    JointSpring: ("stiffness", "nominal"),
    BallSpring: ("stiffness",),
    LinearBushingRollPitchYaw: tuple(CONSTANTS),
}
SPRING_DAMPER = ("free_length", "stiffness", "damping")  # columns of spring_damper_constants
# element k of (body, "inertia") as a symmetric matrix
UNITS = [np.zeros((3, 3)) for _ in range(6)]
for _unit, (_i, _j) in zip(UNITS, ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)), strict=True):
    _unit[_i, _j] = _unit[_j, _i] = 1.0


def parameter_steps(plant, context, variable, step):
    """Models of the context's scalar type, one for each element of the parameter, which has moved by `step` in it.

    RuntimeError for a variable that CalcDerivatives() does not know, or an element of another plant.
    """
    state = context.state
    if variable == "gravity":
        model = state.model
        return (model.replace(gravity=model.gravity + step * e) for e in np.eye(3))
    element, name = _element_and_name(plant, variable)
    if isinstance(element, LinearSpringDamper):
        return _spring_damper_steps(state.model, element, SPRING_DAMPER.index(name), step)
    return _compiled_steps(plant, context, element, name, step)


def _element_and_name(plant, variable):
    if not isinstance(variable, tuple) or len(variable) != 2:
        raise RuntimeError(
            f"CalcDerivatives: {variable!r} is not a variable: take 'q', 'tangent', 'v', 'vdot', 'tau', 'u', 'gravity' "
            "or (element, name of a parameter)"
        )
    element, name = variable
    names = _names(element)
    if name not in names:
        raise RuntimeError(f"CalcDerivatives: {element!r} has no parameter {name!r}, only {', '.join(names) or 'none'}")
    if element.parent_plant is not plant.origin:
        raise RuntimeError(f"CalcDerivatives: {element!r} is not part of this plant")
    return element, name


def _names(element):
    if isinstance(element, RigidBody):
        return ("mass", "com", "inertia")
    if isinstance(element, LinearSpringDamper):
        return SPRING_DAMPER
    return next((names for kind, names in NAMES.items() if isinstance(element, kind)), ())


def _spring_damper_steps(model, element, column, step):
    constants = model.spring_damper_constants.copy()
    constants[element.row, column] += step
    yield model.replace(spring_damper_constants=constants)


def _compiled_steps(plant, context, element, name, step):
    state = context.state
    if isinstance(element, RigidBody):
        key, values = "M_BBo_B", _inertia_steps(state.parameters.get(element, "M_BBo_B"), name, step)
    else:
        key, value = name, np.asarray(state.parameters.get(element, name))
        values = [value + step * e.reshape(value.shape) for e in np.eye(value.size)]
    for value in values:
        parameters = state.parameters.copy()
        parameters.set(element, key, value)
        yield plant.compiled_model(parameters, state.scalar)


def _inertia_steps(M, name, step):
    mass, com, G = M.get_mass(), M.get_com(), M.get_unit_inertia().CopyToFullMatrix3()
    if name == "mass":
        return [spatial_inertia_of(mass + step, com, G)]
    if name == "com":
        return [spatial_inertia_of(mass, com + step * e, G) for e in np.eye(3)]
    if not mass:
        raise RuntimeError("CalcDerivatives: a body without mass has no unit inertia to differentiate by")
    return [spatial_inertia_of(mass, com, G + step / mass * unit) for unit in UNITS]
