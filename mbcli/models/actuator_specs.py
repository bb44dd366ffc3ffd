"""The actuators of a loaded model as a file has them: its own, and those that were added when it was loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mbcli.parsers.spec import ActuatorSpec
from mbcli.parsers.writing.flatten import flattened

if TYPE_CHECKING:
    from mbcli.models.loaded_model import LoadedModel


def actuator_specs(loaded: LoadedModel) -> tuple[ActuatorSpec, ...]:
    """The ActuatorSpecs of a plant of one model, which aim at their default positions."""
    model = flattened(loaded.read[0])
    joints = [joint for joint in loaded.plant.elements.joints if not joint.is_ephemeral()]
    names = {id(joint): spec.name for spec, joint in zip(model.joints, joints, strict=False)}
    effort = {joint.name: joint.axes[0].effort for joint in model.joints if joint.axes}
    own = {spec.joint: spec for spec in reversed(model.actuators)}
    found = []
    for actuator in loaded.plant.elements.actuators:
        joint = names.get(id(actuator.joint()))
        if joint is None:  # of a joint that the file does not have
            continue
        stated = own.get(joint)
        if stated is None or stated.name.rpartition("::")[2] != actuator.name():
            place = actuator.joint().place or model.place
            limit = min(actuator.effort_limit(), effort[joint] or actuator.effort_limit())
            stated = ActuatorSpec(joint, joint, place, effort_limit=limit)
        gains = actuator.get_controller_gains() if actuator.has_controller() else None
        servo = None if gains is None else (gains.p, gains.d)
        found.append(replace(stated, controller_gains=servo, rest=None, control=None))
    return tuple(found)
