"""Units of coordinates, one per entry of q, v and u: in UDUNITS spelling for logs, in plain spelling for text."""


def coordinate_units(plant):
    """Units of q, v and u as the log has them."""
    positions = [""] * plant.num_positions()
    for joint in plant.moving_joints():
        quaternion = joint.type_name() == "quaternion_floating"
        for k in range(joint.num_positions()):
            rotation = "1" if quaternion else "rad"
            positions[joint.position_start() + k] = rotation if joint.position_suffix(k).startswith("q") else "m"
    velocities = ["rad s-1" if angular else "m s-1" for angular in _angular(plant)]
    efforts = ["N" if a.joint().type_name() == "prismatic" else "N m" for a in plant.elements.actuators]
    return tuple(positions), tuple(velocities), tuple(efforts)


def force_units(plant):
    """Units of generalized forces."""
    return ["N m" if angular else "N" for angular in _angular(plant)]


def acceleration_units(plant):
    return ["rad/s^2" if angular else "m/s^2" for angular in _angular(plant)]


def _angular(plant):
    """Whether each entry of v is angular."""
    result = [False] * plant.num_velocities()
    for joint in plant.moving_joints():
        for k in range(joint.num_velocities()):
            result[joint.velocity_start() + k] = joint.velocity_suffix(k).startswith("w")
    return result
