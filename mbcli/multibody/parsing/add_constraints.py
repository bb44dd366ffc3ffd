"""Force elements, constraints and mimic joints of a ModelSpec into a plant."""

from mbcli.errors import ModelError
from mbcli.math import RigidTransform
from mbcli.multibody import tree  # its classes are imported when they are used
from mbcli.parsers.spec import (
    BallConstraintSpec,
    BushingSpec,
    DistanceConstraintSpec,
    SpringDamperSpec,
    TendonConstraintSpec,
    WeldConstraintSpec,
)


def _bushing(spec, bodies, frames):
    constants = (spec.torque_stiffness, spec.torque_damping, spec.force_stiffness, spec.force_damping)
    return tree.LinearBushingRollPitchYaw(frames[spec.frame_A], frames[spec.frame_C], *constants)


def _spring_damper(spec, bodies, frames):
    ends = (bodies[spec.link_A], spec.p_AP, bodies[spec.link_B], spec.p_BQ)
    return tree.LinearSpringDamper(*ends, spec.free_length, spec.stiffness, spec.damping)


_FORCE_ELEMENTS = {BushingSpec: _bushing, SpringDamperSpec: _spring_damper}


def add_force_element(plant, spec, bodies, frames):
    """Adds the element of a ForceElementSpec; bodies, frames: elements by the names that it uses."""
    element = _FORCE_ELEMENTS[type(spec)](spec, bodies, frames)
    plant.AddForceElement(element).place = spec.place


def _ball(plant, spec, bodies, joints):
    return plant.AddBallConstraint(bodies[spec.link_A], spec.p_AP, bodies[spec.link_B], spec.p_BQ)


def _distance(plant, spec, bodies, joints):
    ends = (bodies[spec.link_A], spec.p_AP, bodies[spec.link_B], spec.p_BQ)
    id = plant.AddDistanceConstraint(*ends, spec.distance, spec.stiffness, spec.damping)
    plant.constraint("model file", id).least = spec.least
    return id


def _weld(plant, spec, bodies, joints):
    X_AP, X_BQ = (RigidTransform.MakeUnchecked(X[:3]) for X in (spec.X_AP, spec.X_BQ))
    return plant.AddWeldConstraint(bodies[spec.link_A], X_AP, bodies[spec.link_B], X_BQ)


def _tendon(plant, spec, bodies, joints):
    numbers = (spec.a, spec.offset, spec.lower, spec.upper, spec.stiffness, spec.damping)
    return plant.AddTendonConstraint([joints[name].index() for name in spec.joints], *numbers)


_CONSTRAINTS = {
    BallConstraintSpec: _ball,
    DistanceConstraintSpec: _distance,
    WeldConstraintSpec: _weld,
    TendonConstraintSpec: _tendon,
}


def add_constraint(plant, spec, bodies, joints):
    """Adds the constraint of a ConstraintSpec; bodies, joints: elements by the names that it uses.

    Raises ModelError with its place if the plant refuses it.
    """
    _register(plant, spec.place, lambda: _CONSTRAINTS[type(spec)](plant, spec, bodies, joints), spec.name)


def _register(plant, place, add, name=None):
    """Adds a constraint and notes its place in the file."""
    try:
        constraint = plant.constraint("model file", add())
    except RuntimeError as error:
        raise ModelError(f"{place}: error: {error}") from None
    constraint.place, constraint.name = place, name


def add_mimics(plant, specs, joints):
    """Couples each joint that follows another: q = multiplier q_leader + offset.

    specs: JointSpecs; joints: {name: joint}. Raises ModelError if one of the two has not exactly one coordinate.
    """
    for spec in specs:
        for axis in spec.axes:
            mimic = axis.mimic
            if mimic is not None:
                pair = joints[spec.name], joints[mimic.leader]
                numbers = mimic.multiplier, mimic.offset
                _register(plant, mimic.place, lambda p=pair, n=numbers: plant.AddCouplerConstraint(*p, *n))
