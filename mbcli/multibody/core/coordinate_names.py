"""Names of coordinates and of the entries of u, for the plant and for one model instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.core.coordinates import moving_joints
from mbcli.multibody.core.lookup import GetModelInstanceName, all_actuators

if TYPE_CHECKING:
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.element import MultibodyElement
    from mbcli.multibody.tree.index import ModelInstanceIndex


def GetPositionNames(
    plant: PlantData,
    model_instance: ModelInstanceIndex | bool | None = None,
    add_model_instance_prefix: bool | None = None,
    always_add_suffix: bool = True,
) -> list[str]:
    """`{instance}_{joint}_{suffix}` for each position, in the order of q.

    Args:
      model_instance: default: the whole plant, of which the other arguments may come first, as in pydrake.
      add_model_instance_prefix: default: for the whole plant only.
      always_add_suffix: also for joints with one position.

    Returns:
      nq names.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetPositionNames()
      ['double_pendulum_shoulder_q', 'double_pendulum_elbow_q']
    """
    return coordinate_names(plant, "position", model_instance, add_model_instance_prefix, always_add_suffix)


def GetVelocityNames(
    plant: PlantData,
    model_instance: ModelInstanceIndex | bool | None = None,
    add_model_instance_prefix: bool | None = None,
    always_add_suffix: bool = True,
) -> list[str]:
    """`{instance}_{joint}_{suffix}` for each velocity, in the order of v.

    Args:
      model_instance: default: the whole plant, of which the other arguments may come first, as in pydrake.
      add_model_instance_prefix: default: for the whole plant only.
      always_add_suffix: also for joints with one velocity.

    Returns:
      nv names.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetVelocityNames(add_model_instance_prefix=False)
      ['shoulder_w', 'elbow_w']
    """
    return coordinate_names(plant, "velocity", model_instance, add_model_instance_prefix, always_add_suffix)


def GetStateNames(
    plant: PlantData,
    model_instance: ModelInstanceIndex | bool | None = None,
    add_model_instance_prefix: bool | None = None,
) -> list[str]:
    """Names of the positions, then of the velocities, of the plant or of a model instance.

    Args:
      model_instance: default: the whole plant, of which the other arguments may come first, as in pydrake.
      add_model_instance_prefix: default: for the whole plant only.

    Returns:
      nq + nv names, in the order of [q; v].

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetStateNames(add_model_instance_prefix=False)
      ['shoulder_q', 'elbow_q', 'shoulder_w', 'elbow_w']
    """
    return GetPositionNames(plant, model_instance, add_model_instance_prefix) + GetVelocityNames(
        plant, model_instance, add_model_instance_prefix
    )


def GetActuatorNames(
    plant: PlantData,
    model_instance: ModelInstanceIndex | bool | None = None,
    add_model_instance_prefix: bool | None = None,
) -> list[str]:
    """`{instance}_{actuator}` for each entry of u: actuators on joints, then those that act through transmissions.

    Args:
      model_instance: default: the whole plant, of which the other arguments may come first, as in pydrake.
      add_model_instance_prefix: default: for the whole plant only.

    Returns:
      nu names.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetActuatorNames()
      ['double_pendulum_elbow']
    """
    plant.require_finalized("GetActuatorNames")
    if isinstance(model_instance, bool):
        model_instance, add_model_instance_prefix = None, model_instance
    prefix = model_instance is None if add_model_instance_prefix is None else add_model_instance_prefix
    return [instance_prefix(plant, a, prefix) + a.name() for a in all_actuators(plant, model_instance)]


def instance_prefix(plant: PlantData, element: MultibodyElement, wanted: bool) -> str:
    return f"{GetModelInstanceName(plant, element.model_instance())}_" if wanted else ""


def coordinate_names(
    plant: PlantData,
    kind: str,
    model_instance: ModelInstanceIndex | bool | None,
    prefix: bool | None,
    always_add_suffix: bool,
) -> list[str]:
    plant.require_finalized(f"Get{kind.capitalize()}Names")
    if isinstance(model_instance, bool):  # (prefix, suffix) of the whole plant
        always_add_suffix = always_add_suffix if prefix is None else prefix
        model_instance, prefix = None, model_instance
    if model_instance is not None:
        return _names_of(plant, kind, model_instance, bool(prefix), always_add_suffix)
    key = kind, prefix is None or bool(prefix), bool(always_add_suffix)
    if key not in plant.known_names:
        plant.known_names[key] = _names_of(plant, kind, None, *key[1:])
    return plant.known_names[key].copy()


def known_names(plant: PlantData) -> dict[tuple[str, bool, bool], list[str]]:
    """Names of the coordinates of the whole plant, as coordinate_names() makes them."""
    return {}


def _names_of(
    plant: PlantData, kind: str, model_instance: ModelInstanceIndex | None, prefix: bool, always_add_suffix: bool
) -> list[str]:
    by_start = {}
    for joint in moving_joints(plant, model_instance):
        suffixes = getattr(joint.kinematics, f"{kind.upper()}_SUFFIXES")
        start = joint.position_start() if kind == "position" else joint.velocity_start()
        for k, suffix in enumerate(suffixes):
            name = instance_prefix(plant, joint, prefix) + joint.name()
            if always_add_suffix or len(suffixes) > 1:
                name += f"_{suffix}"
            by_start[start + k] = name
    return [by_start[i] for i in sorted(by_start)]
