"""The elements that a plant consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbcli.multibody.tree.constraints import Constraint
    from mbcli.multibody.tree.deformable_body import DeformableBody
    from mbcli.multibody.tree.force_element import ForceElement
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.plugin import Plugin
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.multibody.tree.sensor import Sensor
    from mbcli.multibody.tree.transmission_actuator import TransmissionActuator


class PlantElements:
    """What a plant consists of, for whoever works with plants. Only the plant adds and removes.

    Attributes:
        instance_names: list of str by ModelInstanceIndex.
        bodies: list of RigidBody by BodyIndex, World first. frames: list of Frame by FrameIndex, World's first.
        joints, actuators: lists in the order of their indices, some of which are missing after a removal.
        transmission_actuators: list of TransmissionActuator in the order in which they were added; in u they come after
            the actuators.
        tendon_springs: list of TransmissionActuator without inputs: springs and dampers of tendons, and drives of
            joints that nothing but gravity loads.
        force_elements: list, gravity first.
        constraints: list in the order in which they were added; Finalize() adds a LoopConstraint for each joint that
            closes a loop.
        loop_joints: list of the joints that close loops, after Finalize().
        deformable_bodies: list of DeformableBody by DeformableBodyIndex.
        sensors: list of Sensor in the order in which they were added.
        plugins: list of Plugin likewise.
    """

    def __init__(self) -> None:
        self.instance_names: list[str] = []
        self.bodies: list[RigidBody] = []
        self.frames: list[Frame] = []
        self.joints: list[Joint] = []
        self.actuators: list[JointActuator] = []
        self.transmission_actuators: list[TransmissionActuator] = []
        self.tendon_springs: list[TransmissionActuator] = []
        self.force_elements: list[ForceElement] = []
        self.constraints: list[Constraint] = []
        self.loop_joints: list[Joint] = []
        self.deformable_bodies: list[DeformableBody] = []
        self.sensors: list[Sensor] = []
        self.plugins: list[Plugin] = []
