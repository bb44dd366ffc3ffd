"""Actuators that act through transmissions, from a ModelSpec to a plant."""

from mbcli.multibody.tree.transmission_actuator import PathElement, Transmission, TransmissionActuator


def add_transmission_actuator(plant, spec, known, instance):
    """Adds that of a TransmissionActuatorSpec, by the names that its model knows."""
    actuator = plant.add_transmission_actuator(_made(spec, known), instance)
    actuator.place = spec.place
    known.actuators[spec.name] = actuator


def add_tendon_spring(plant, spec, known, instance):
    """Adds that of a TendonSpringSpec."""
    spring = _made(spec, known)
    spring.rest_positions = [
        (known.joints[name], x)
        for name, x in zip(spec.joints, spec.rest_positions, strict=True)
        if name in known.joints
    ]
    plant.add_tendon_spring(spring, instance).place = spec.place


def _made(spec, known):
    """The TransmissionActuator of a spec."""
    given = spec.transmission
    path = [
        PathElement(
            part.kind,
            known.bodies[part.link],
            part.X_LP,
            part.size,
            None if part.side is None else (known.bodies[part.side[0]], part.side[1]),
        )
        for part in given.path
    ]
    joints = tuple(known.joints[name] for name in given.joints)
    transmission = Transmission(given.kind, given.gear, joints, given.coefficients, tuple(path))
    return TransmissionActuator(spec.name, transmission, spec.law)
