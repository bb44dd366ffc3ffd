"""From actuators with transmissions to the arrays of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.engine.fields.model_fields import (
    NUMBERS_ACTIVATION,
    NUMBERS_BIAS,
    NUMBERS_CONTROL,
    NUMBERS_DYNAMICS,
    NUMBERS_FORCE,
    NUMBERS_GAIN,
    NUMBERS_GEAR,
    NUMBERS_LENGTHS,
    NUMBERS_SIZE,
    NUMBERS_SUM,
    PATH_PULLEY,
)
from mbcli.multibody.tree.transmission_actuator import DYNAMICS, LAWS, LENGTHS, PARTS

NO_LIMITS = -np.inf, np.inf

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mbcli.math.array_types import Array, BoolArray, Matrix4
    from mbcli.multibody.tree.transmission_actuator import TransmissionActuator


def transmission_arrays(
    actuators: Sequence[TransmissionActuator],
    link_body: Sequence[int],
    link_X_BL: Sequence[Matrix4],
    roots: tuple[Sequence[int], Sequence[int]],
    implicit: bool,
) -> tuple[dict[str, int], dict[str, Any]]:
    """(sizes, arrays) of actuators with transmissions; each learns the place of its activation.

    Args:
        actuators: those with an input first.
        link_body, link_X_BL: body of each link, and pose (4, 4) of the link in it.
        roots: root of each body, body of each velocity.
        implicit: whether steps can take forces at their end.
    """
    parts: dict[str, list[Any]] = {name: [] for name in ("kind", "body", "link", "X_B", "size", "side")}
    kinds, numbers, activations = [], [], 0
    sum_dof: list[int] = []
    sum_coefficient: list[float] = []

    def add_part(kind: int, link: int, X_LP: Matrix4, size: float) -> int:
        X_BP = link_X_BL[link] @ X_LP
        pose = [*X_BP[:3, :3].ravel(), *X_BP[:3, 3]]
        for name, value in zip(parts, (kind, link_body[link], link, pose, size, -1), strict=True):
            parts[name].append(value)
        return len(parts["kind"]) - 1

    sums = _firsts_of_sums(actuators)
    for actuator in actuators:
        transmission, law = actuator.transmission(), actuator.law()
        kind = LENGTHS.index(transmission.kind)
        sides = [
            None if part.side is None else add_part(0, part.side[0].index_number, part.side[1], 0.0)
            for part in transmission.path
        ]
        first = len(parts["kind"]) if transmission.path else len(sum_dof)
        for part, side in zip(transmission.path, sides, strict=True):
            k = add_part(PARTS.index(part.kind), part.body.index_number, part.X_BP, part.size)
            parts["side"][k] = -1 if side is None else side
            parts["link"][k] = -1 if transmission.joints else parts["link"][k]
        if not transmission.path:
            sum_dof += [joint.velocity_start() for joint in transmission.joints]
        sum_coefficient += transmission.coefficients
        end = len(parts["kind"]) if transmission.path else len(sum_dof)
        actuator.first_activation = activations if actuator.has_activation() else None
        activations += actuator.has_activation()
        place = -1 if actuator.first_activation is None else actuator.first_activation
        laws = LAWS.index(law.gain_kind), LAWS.index(law.bias_kind), DYNAMICS.index(law.dynamics)
        at_end = implicit and _can_fall(law) and len(_trees(actuator, link_body, *roots)) <= 2
        bears = transmission.joints[0].velocity_start() if law.bears_weight else -1
        kinds.append([kind, first, end, *laws, place, int(law.is_early), int(at_end), sums[actuator], bears])
        numbers.append(_numbers(transmission.gear, law))
    sizes = {"ntransmission": len(actuators), "nactivation": activations}
    sizes |= {"npath": len(parts["kind"]), "nsum": len(sum_dof)}
    return sizes, {
        "transmission_kinds": np.reshape(np.array(kinds, dtype=int), (-1, 11)),
        "transmission_numbers": np.reshape(numbers, (-1, NUMBERS_SIZE)),
        "sum_dof": sum_dof,
        "sum_coefficient": sum_coefficient,
        **{f"path_{name}": values for name, values in parts.items() if name != "X_B"},
        "path_X_B": np.reshape(parts["X_B"], (-1, 12)),
    }


def _firsts_of_sums(actuators):
    """{actuator: index of the first of those whose sum is limited with it, or -1}."""
    firsts, found = {}, {}
    for i, actuator in enumerate(actuators):
        given, law = actuator.transmission(), actuator.law()
        if law.together == NO_LIMITS or not given.gear[0]:
            found[actuator] = -1
            continue
        path = [(part.kind, part.body, part.X_BP.tobytes(), part.size) for part in given.path]
        key = given.kind, given.joints, given.coefficients, tuple(path), law.together
        found[actuator] = firsts.setdefault(key, i)
    return found


def _numbers(gear, law):
    """One row of transmission_numbers."""
    row = np.zeros(NUMBERS_SIZE)
    groups = {
        NUMBERS_GEAR: gear,
        NUMBERS_CONTROL: law.control,
        NUMBERS_FORCE: law.force,
        NUMBERS_ACTIVATION: law.activation,
        NUMBERS_GAIN: law.gain[:9],
        NUMBERS_BIAS: law.bias[:9],
        NUMBERS_DYNAMICS: law.dynamics_numbers[:3],
        NUMBERS_LENGTHS: law.lengths or (0.0, 0.0),
        NUMBERS_SUM: law.together,
    }
    for start, values in groups.items():
        row[start : start + len(values)] = values
    return row


def _can_fall(law):
    """Whether a force can fall with length or rate."""
    muscle = "muscle" in (law.gain_kind, law.bias_kind)
    return muscle or any(law.gain[1:3]) or (law.bias_kind == "affine" and any(law.bias[1:3]))


def _trees(actuator, link_body, body_root, dof_body):
    """The roots of the trees that it moves."""
    transmission = actuator.transmission()
    bodies = [dof_body[joint.velocity_start()] for joint in transmission.joints]
    bodies += [link_body[part.body.index_number] for part in transmission.path if part.kind != PARTS[PATH_PULLEY]]
    return {body_root[b] for b in bodies} - {0}


def moved_by_transmissions(model: Any) -> BoolArray:
    """(nv,): whether an actuator with a transmission can move a velocity."""
    bodies: set[int] = set()
    for b in model.path_body.tolist():
        while b != 0:
            bodies.add(b)
            b = int(model.body_parent[b])
    moved: Array = np.isin(model.dof_body, list(bodies))
    moved[model.sum_dof] = True
    return moved
