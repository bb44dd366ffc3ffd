"""The desired state of the PD controllers of a model file in a run from the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.errors import ArgumentError, MbcliError, ModelError
from mbcli.multibody.core.inputs import controlled_actuators, has_controllers

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint_actuator import JointActuator


def aim_at_rest(actuator: JointActuator, default: Vector) -> tuple[float, float]:
    """(position, velocity) of the joint of an actuator where nothing is asked of it; default: (nq,) positions."""
    return actuator.rest or (float(default[actuator.joint().position_start()]), 0.0)


def hold_default_positions(plant: MultibodyPlant, context: Context) -> list[str]:
    """Lets every controller aim at its joint's default position, at rest, or where its file lets it aim; returns the
    names of their actuators.

    Raises ModelError if an instance has actuators with and without controllers, ArgumentError if controllers that
    have gains do not act in the plant.
    """
    if not has_controllers(plant):
        _refuse_idle_controllers(plant)
        return []
    controlled = controlled_actuators(plant)
    default = plant.GetDefaultPositions()
    for instance in {int(a.model_instance()): a.model_instance() for a in controlled}.values():
        actuators = [plant.get_joint_actuator(k) for k in plant.GetJointActuatorIndices(instance)]
        q, v = zip(*(aim_at_rest(actuator, default) for actuator in actuators), strict=True)
        plant.get_desired_state_input_port(instance).FixValue(context, [*q, *v])
    try:
        plant.set_controllers(context)
    except MbcliError:
        raise
    except RuntimeError as error:
        raise ModelError(str(error)) from None
    return [actuator.name() for actuator in controlled]


def efforts_at_state(plant: MultibodyPlant, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What controllers that aim as in hold_default_positions() give at a state, without limits.

    (nu,) [N m or N], and its derivatives by [q; v], (nu, nq + nv).
    """
    efforts, slopes = np.zeros(plant.num_actuators()), np.zeros((plant.num_actuators(), q.size + v.size))
    for actuator in controlled_actuators(plant):
        k, gains, joint = actuator.input_start(), actuator.get_controller_gains(), actuator.joint()
        aim, rate = aim_at_rest(actuator, plant.GetDefaultPositions())
        at = joint.position_start(), q.size + joint.velocity_start()
        slopes[k, at] = -gains.p, -gains.d
        efforts[k] = gains.p * (aim - q[at[0]]) + gains.d * (rate - v[at[1] - q.size])
    return efforts, slopes


def without_controllers(plant: MultibodyPlant, command: str) -> list[str]:
    """What a command says of controllers that do not act in it, where --u are the forces of actuators."""
    names = [actuator.name() for actuator in controlled_actuators(plant)]
    line = f"{command} is without the controllers of actuators: {listed(names)}; {argument('u')} is their whole effort"
    return [line] if names else []


def _refuse_idle_controllers(plant: MultibodyPlant) -> None:
    idle = [actuator.name() for actuator in controlled_actuators(plant)]
    if idle:
        law = plant.settings.discrete_contact_approximation
        where = f"steps of the approximation {law}" if plant.is_discrete() else "continuous time"
        other = argument("contact_approximation", "lagged") if plant.is_discrete() else f"{argument('dt')} a step"
        raise ArgumentError(
            f"the controllers of actuators do not act in {where}: {listed(idle)}; give {other}, or take them out: "
            f"{argument('overrides')} 'actuator.*.kp=0' and 'actuator.*.kd=0'"
        )
