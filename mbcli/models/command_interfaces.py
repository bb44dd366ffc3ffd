"""Actuators of the joints that <ros2_control> commands, in robots whose file has no <transmission>.

load_model() gives them; `Parser` does not, since pydrake reads no <ros2_control>.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mbcli.common.argument_names import argument
from mbcli.common.number_text import counted
from mbcli.models.added_actuators import add_to, effort_limits, movable_joints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.multibody.parsing.parser import Parser
    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.multibody.tree import JointActuator
    from mbcli.parsers.diagnostics import Diagnostics

KINDS = {"effort": "motor", "position": "position", "velocity": "velocity"}
"""{name of an interface: what make() calls the actuator}; of a joint with several the first of these counts."""


def add_commanded(
    plant: MultibodyPlant, parser: Parser, efforts: Mapping[tuple[str, str], float], diagnostics: Diagnostics
) -> dict[JointActuator, str]:
    """{actuator: its kind} of joints that files command, in a plant that is not finalized; a note a file says so."""
    added: dict[JointActuator, str] = {}
    for spec, instance in zip(parser.specs, parser.instances, strict=True):
        if not spec.commanded or spec.actuators:
            continue
        interfaces = {command.joint: command.interfaces for command in spec.commanded}
        joints = [
            joint
            for joint in movable_joints(plant)
            if joint.model_instance() == instance and not KINDS.keys().isdisjoint(interfaces.get(joint.name(), ()))
        ]
        new = {}
        for joint, actuator in zip(joints, add_to(plant, joints, effort_limits(plant, efforts)), strict=True):
            stated = interfaces[joint.name()]
            new[actuator] = next(kind for name, kind in KINDS.items() if name in stated)
        if new:
            kinds = Counter(new.values())
            said = ", ".join(counted(kinds[kind], "motor" if kind == "motor" else f"{kind} servo") for kind in kinds)
            place = spec.commanded[0].place
            message = f"<ros2_control> gives {said}; {argument('actuators', 'none')} leaves them out"
            diagnostics.note("COMMAND_INTERFACE", message, place=place)
        added |= new
    return added
