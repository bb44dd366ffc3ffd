"""Units of coordinates, one per entry of q, v and u: in UDUNITS spelling for logs, in plain spelling for text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.tree.joint_kinds import has_quaternion

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


def plain_unit(unit: str) -> str:
    """A unit of a log in plain spelling: "rad/s" of "rad s-1", "" of "1"."""
    return "" if unit == "1" else unit.replace(" s-1", "/s").replace(" s-2", "/s^2")


def coordinate_units(plant: MultibodyPlant) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Units of q, v and u as the log has them."""
    positions = [""] * plant.num_positions()
    for joint in plant.moving_joints():
        turning = joint.kinematics.ROTATION  # positions without a velocity each, which come first
        units = [] if turning is None else ["1" if has_quaternion(joint) else "rad"] * turning.NUM_POSITIONS
        first, rest = joint.position_start(), joint.num_positions() - len(units)
        units += ["rad" if angular else "m" for angular in joint.kinematics.IS_ANGULAR[joint.num_velocities() - rest :]]
        positions[first : first + len(units)] = units
    velocities = ["rad s-1" if angular else "m s-1" for angular in _angular(plant)]
    inputs = ["N m" if a.joint().is_angular() else "N" for a in plant.elements.actuators]
    inputs += ["1"] * len(plant.elements.transmission_actuators)  # their controls
    return tuple(positions), tuple(velocities), tuple(inputs)


def angular_positions(plant: MultibodyPlant) -> BoolArray:
    """(nq,) whether each position is an angle; components of a quaternion are none."""
    return np.array([unit == "rad" for unit in coordinate_units(plant)[0]], dtype=bool)


def angular_velocities(plant: MultibodyPlant) -> BoolArray:
    """(nv,) whether each velocity is an angular one."""
    return np.array(_angular(plant), dtype=bool)


def plain_units(plant: MultibodyPlant) -> dict[str, list[str]]:
    """{field: units} of q, v, vdot, tau and u in plain spelling: "rad", "rad/s", "N m"."""
    q, v, u = coordinate_units(plant)
    angular = _angular(plant)
    return {
        "q": list(q),
        "v": [plain_unit(unit) for unit in v],
        "vdot": acceleration_units(plant),
        "tau": ["N m" if a else "N" for a in angular],
        "u": list(u),
    }


def force_units(plant: MultibodyPlant) -> list[str]:
    """Units of generalized forces."""
    return ["N m" if angular else "N" for angular in _angular(plant)]


def acceleration_units(plant: MultibodyPlant) -> list[str]:
    return ["rad/s^2" if angular else "m/s^2" for angular in _angular(plant)]


def result_units(plant: MultibodyPlant) -> dict[str, str | list[str]]:
    """{column: its unit, or one a component} of the results of analyses, in UDUNITS spelling; others are not known."""
    angular = _angular(plant)
    forces = ["N m" if a else "N" for a in angular]
    inertias = {2: "kg m2", 1: "kg m", 0: "kg"}
    masses = [inertias[int(row) + int(column)] for row in angular for column in angular]
    return {
        "time": "s",
        "tau": forces,
        "tau_g": forces,
        "Cv": forces,
        "vdot": ["rad s-2" if a else "m s-2" for a in angular],
        "M": masses,
        "kinetic": "J",
        "potential": "J",
        "conservative_power": "W",
        "nonconservative_power": "W",
        "joint_damping_power": "W",
        "p_WCom": "m",
        "v_WCom": "m s-1",
        "total_mass": "kg",
        "L_WS_W": ["N m s"] * 3 + ["N s"] * 3,
    }


def _angular(plant: MultibodyPlant) -> list[bool]:
    """Whether each entry of v is angular."""
    result = [False] * plant.num_velocities()
    for joint in plant.moving_joints():
        for k in range(joint.num_velocities()):
            result[joint.velocity_start() + k] = joint.is_angular(k)
    return result
