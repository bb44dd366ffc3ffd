"""Sensors in the <gazebo> elements of URDF files, which are SDFormat's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.gazebo_sensors import LEFT_OUT, Mounting, WorldOfSensors, read_sensor
from mbcli.parsers.poses import compose
from mbcli.parsers.spec import IDENTITY, pose
from mbcli.parsers.urdf.urdf_values import read_name

from mbcli.math.roll_pitch_yaw import rows_from_angles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.parsers.spec import JointSpec, LinkSpec, SensorSpec
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4


def read_sensors(root: Node, links: Mapping[str, LinkSpec], joints: Mapping[str, JointSpec]) -> tuple[SensorSpec, ...]:
    """The `SensorSpec`s of a robot; links, joints: by their names."""
    world, specs = WorldOfSensors(), []
    for owner in root.child_nodes:
        if owner.tag != "gazebo" or "sensor" not in owner.child_tags:
            continue
        owner.used = True
        for node in owner.children("sensor"):
            with node.diagnostics.leaving_out(node, LEFT_OUT) as faults:
                name, mounting = read_name(node), _mounting(owner, node, links, joints)
            if mounting is None or faults:
                node.ignore("settled")
                continue
            specs.append(read_sensor(node, name, mounting, world))
            for part in node.walk():
                if not part.used:
                    part.ignore("foreign")
    return tuple(spec for spec in specs if spec is not None)


def _mounting(
    owner: Node, node: Node, links: Mapping[str, LinkSpec], joints: Mapping[str, JointSpec]
) -> Mounting | None:
    """Where a sensor is; None after a finding."""
    name = owner.attribute("reference", required=True)
    if name is None:
        return None
    X = _read_pose(node)
    if name in links:
        collisions = tuple(collision.name for collision in links[name].collisions)
        return Mounting("link", {"mount": (name, X)}, collisions)
    if name in joints:
        joint = joints[name]
        fields = {"mount": (joint.child, compose(joint.X_CM, X)), "joints": ((name, 1.0),)}
        return Mounting("joint", fields)
    message = f'there is no link or joint "{name}" for the sensor'
    node.diagnostics.error("ATTRIBUTE_INVALID", message, owner, attribute="reference", value=name)
    return None


def _read_pose(node: Node) -> Matrix4:
    """Of a sensor in its link or joint."""
    stated = node.child("pose")
    if stated is None:
        return IDENTITY
    stated.attribute("frame")
    stated.attribute("relative_to")
    *p, roll, pitch, yaw = stated.text_vector(6, (0.0,) * 6)
    return pose(rows_from_angles(roll, pitch, yaw), p)
