"""PD controllers that hold the joints of robots in a posture, or drive them, in a run of a discrete plant.

The gains follow from the masses (mbcli/models/servo_gains.py).

What carries the load does not come from an error: a controller feeds it forward (engine/limits/pd_control.py). At the
start that is the effort that holds the posture, or the motion, against gravity and springs (static_efforts.py), from
then on its own effort, smoothed over HOLD_TIME or DRIVE_TIME. A floating robot sinks by g / w^2, 2.5 mm, and comes
back. Gains that the user gives, kp or kd, are those of a controller without that: the joint gives way.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.common.number_text import counted
from mbcli.errors import ArgumentError, ModelError
from mbcli.log.reader import Log
from mbcli.models.added_actuators import driven_joints
from mbcli.models.postures import find_postures, posture_positions
from mbcli.models.servo_gains import DRIVE_RATE, gains, joint_inertias
from mbcli.multibody.core.inputs import controlled_actuators, steps_with_controllers
from mbcli.multibody.core.run_plant import plant_of_run
from mbcli.multibody.tree.constraints import CouplerConstraint
from mbcli.multibody.tree.pd_law import ControllerOfRun, PdControllerGains
from mbcli.simulation.controllers import aim_at_rest
from mbcli.simulation.held_joint import Held
from mbcli.simulation.static_efforts import static_efforts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.parsers.scenes.plant_config import HoldConfig

HOLD_TIME = 0.1  # [s] over which the effort of a held joint is smoothed that is fed forward
DRIVE_TIME = 0.02  # [s] of a driven one
SLOWER = 8.0  # than I / Kd these times must be, for a damped motion


def choose_holding(
    plant: MultibodyPlant, q: ArrayLike, posture: ArrayLike, hold: HoldConfig, drive: Mapping[str, float]
) -> dict[JointActuator, Held]:
    """What holds and drives the joints.

    Args:
        plant: finalized.
        q: (nq,) start of the run, at which gains are chosen.
        posture: (nq,) positions that are held; those beyond limits are moved to them.

    Raises ArgumentError for driven joints that are not there.
    """
    driven = dict(zip(driven_joints(plant, drive), drive.values(), strict=True))
    if not hold.is_on and not driven:
        return {}
    inertia = joint_inertias(plant, q)
    target = np.clip(posture, plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits())
    actuators = [a for a in plant.elements.actuators if hold.is_on or a.joint() in driven]
    sharing = {joint: sum(a.joint() is joint for a in actuators) for joint in {a.joint() for a in actuators}}
    return {
        actuator: _held(actuator, target, inertia, hold, driven, sharing[actuator.joint()]) for actuator in actuators
    }


def _held(
    actuator: JointActuator,
    target: Vector,
    inertia: Vector,
    hold: HoldConfig,
    driven: Mapping[Joint, float],
    sharing: int,
) -> Held:
    """The Held of one of the actuators that share a joint."""
    joint, given = actuator.joint(), hold.kp is not None or hold.kd is not None
    moved = float(inertia[joint.velocity_start()])
    position = float(target[joint.position_start()])
    own = actuator.get_controller_gains() if actuator.has_controller() else None
    if joint in driven:
        d = hold.kd or DRIVE_RATE * moved
        return Held(position, driven[joint], 0.0, d / sharing, 0.0 if given else carry_rate(DRIVE_TIME, moved, d))
    if own is not None and not given:
        return Held(position, 0.0, own.p, own.d, carry_rate(HOLD_TIME, moved, sharing * own.d))
    p, d = gains(moved, sharing * actuator.effort_limit(), hold.kp, hold.kd)
    return Held(position, 0.0, p / sharing, d / sharing, 0.0 if given else carry_rate(HOLD_TIME, moved, d))


def carry_rate(time: float, inertia: float, damping: float) -> float:
    """[1/s] of a controller whose effort is smoothed over a time [s], or longer if it damps an inertia little."""
    return 1.0 / max(time, SLOWER * inertia / damping) if damping > 0.0 else 0.0


def renewed_context(plant: MultibodyPlant, context: Context) -> Context:
    """A new context of a plant whose arrays were replaced, with state, parameters and inputs of an earlier one."""
    changed = plant.CreateDefaultContext()
    changed.inputs.take_from(context.inputs)
    changed.state.take_parameters(context.state)
    changed.SetTime(context.get_time())
    plant.SetPositionsAndVelocities(changed, plant.GetPositionsAndVelocities(context))
    return changed


def controllers_of(held: Mapping[JointActuator, Held], limited: bool = True) -> dict[JointActuator, ControllerOfRun]:
    """The controllers that hold and drive joints; limited: by effort limits."""
    return {
        actuator: ControllerOfRun(actuator, PdControllerGains(p=each.p, d=each.d), each.rate, limited=limited)
        for actuator, each in held.items()
    }


def start_holding(plant: MultibodyPlant, context: Context, held: Mapping[JointActuator, Held]) -> Context:
    """A new context of a plant with these controllers, with state, parameters and inputs of an earlier one.

    Controllers of the file that are not among those that hold and drive joints aim at the default positions, or where
    their file lets them.
    """
    changed = renewed_context(plant, context)
    default = plant.GetDefaultPositions()
    for instance in {int(a.model_instance()): a.model_instance() for a in controlled_actuators(plant)}.values():
        actuators = [plant.get_joint_actuator(k) for k in plant.GetJointActuatorIndices(instance)]
        rest = [_resting(a, default) for a in actuators]
        aims = [held.get(a, at_rest) for a, at_rest in zip(actuators, rest, strict=True)]
        desired = [*(aim.position for aim in aims), *(aim.velocity for aim in aims)]
        plant.get_desired_state_input_port(instance).FixValue(changed, desired)
    plant.set_controllers(changed)
    return changed


def context_that_holds(loaded: LoadedModel, context: Context | None = None) -> Context:
    """A context in which controllers hold and drive the joints, as the model was loaded to be; for a Simulator.

    Args:
        loaded: of load_model() with hold or drive, discrete.
        context: whose state and inputs it has; default: a default context.

    The plant stays as it is: the controllers are those of this context. ArgumentError if nothing is to be held, or the
    steps of the plant take none.
    """
    plant, config = loaded.plant, loaded.config
    if not (config.hold.is_on or config.drive):
        raise ArgumentError(f"the model was loaded without {argument('hold')} and {argument('drive')}")
    if not steps_with_controllers(plant):
        raise ArgumentError(
            f"{argument('hold')} and {argument('drive')}: the steps of this plant take no controllers; simulate() "
            "holds it all the same"
        )
    context = plant.CreateDefaultContext() if context is None else context
    q = plant.GetPositions(context)
    target = q
    if config.hold.posture is not None:
        target = posture_positions(plant, find_postures(plant, loaded.postures, config.hold.posture, "hold"), q)
    held = choose_holding(plant, q, target, config.hold, config.drive)
    carried = {a.input_start(): effort for a, effort in static_efforts(plant, q, held).items()}
    changed = start_holding(plant_of_run(plant, controllers=controllers_of(held)), context, held)
    state = changed.state
    state.data.pd_carried[:] = [carried.get(int(k), 0.0) for k in state.model.pd_actuator]
    return changed


def _resting(actuator: JointActuator, default: Vector) -> Held:
    position, velocity = aim_at_rest(actuator, default)
    return Held(position, velocity, 0.0, 0.0)


def holding_in_words(plant: MultibodyPlant, hold: HoldConfig, held: Mapping[JointActuator, Held]) -> list[str]:
    """Lines on which joints are held and driven, and which of those that could move are not."""
    driven = [a.joint().name() for a, each in held.items() if each.velocity != 0.0 or each.p == 0.0]
    joints = {actuator.joint() for actuator in held}
    lines = []
    if len(joints) > len(driven):
        where = "where they start" if hold.posture is None else f"in the posture '{hold.posture}'"
        lines.append(f"holds {counted(len(joints) - len(set(driven)), 'joint')} {where}")
    if driven:
        lines.append(f"drives {listed(list(dict.fromkeys(driven)))}")
    led = {c.joint0 for c in plant.elements.constraints if isinstance(c, CouplerConstraint) and c.joint1 in joints}
    loose = [j.name() for j in plant.moving_joints() if j.num_velocities() not in (0, 6) and j not in joints | led]
    if hold.is_on and loose:
        lines.append(f"does not hold {listed(loose)}")
    return lines


def as_document(held: Mapping[JointActuator, Held]) -> list[dict[str, Any]]:
    """What a log has of it, with the names of the actuators in the order of u."""
    return [
        {
            "actuator": actuator.name(),
            "model_instance": int(actuator.model_instance()),
            "position": each.position,
            "velocity": each.velocity,
            "controller_gains": [each.p, each.d],
            "carry_rate": each.rate,
        }
        for actuator, each in held.items()
    ]


def from_document(plant: MultibodyPlant, document: Any) -> dict[JointActuator, Held]:
    """The contrary of as_document(); ValueError if it is not of this plant."""
    actuators = {(a.name(), int(a.model_instance())): a for a in plant.elements.actuators}
    try:
        return {actuators[entry["actuator"], entry["model_instance"]]: _held_of(entry) for entry in document}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not of this plant: {error}") from None


def _held_of(entry: Mapping[str, Any]) -> Held:
    p, d = map(float, entry["controller_gains"])
    return Held(float(entry["position"]), float(entry["velocity"]), p, d, float(entry["carry_rate"]))


def held_in_log(plant: MultibodyPlant, path: str) -> dict[JointActuator, Held]:
    """What controllers hold and drive in the run of a log. ModelError if that run had no such controllers."""
    with Log(path) as log:
        try:
            return from_document(plant, json.loads(log.model)["hold"])
        except (KeyError, TypeError, ValueError, RecursionError):
            raise ModelError(
                f"{path}: error: was not run with the same {argument('hold')} and {argument('drive')}: give the same "
                "options"
            ) from None
