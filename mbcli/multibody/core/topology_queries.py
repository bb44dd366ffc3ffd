"""What hangs on what: welded groups, floating bases, what joints move, the graph as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.core.lookup import GetModelInstanceName, get_joint, of_instance
from mbcli.multibody.tree.index import BodyIndex
from mbcli.multibody.tree.joint_kinds import is_weld

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.index import JointIndex, ModelInstanceIndex
    from mbcli.multibody.tree.rigid_body import RigidBody


def GetFloatingBaseBodies(plant: PlantData) -> set[BodyIndex]:
    """Indices of the bodies that no joint of the model connects to World: Finalize() gave them floating joints.

    Returns:
      A set of BodyIndex.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> [robot.get_body(k).name() for k in robot.GetFloatingBaseBodies()]
      ['trunk']
    """
    plant.require_finalized("GetFloatingBaseBodies")
    return {BodyIndex(n) for n, joint in plant.free_joints.items() if joint.is_ephemeral()}


def HasUniqueFloatingBaseBody(plant: PlantData, model_instance: ModelInstanceIndex) -> bool:
    """Whether one body alone of the instance is connected to World, and floats. After Finalize()."""
    return _floating_base(plant, model_instance) is not None


def GetUniqueFloatingBaseBodyOrThrow(plant: PlantData, model_instance: ModelInstanceIndex) -> RigidBody:
    """That body; RuntimeError if there is none or more than one."""
    base = _floating_base(plant, model_instance)
    if base is None:
        bases = _bases(plant, model_instance)
        names = ", ".join(f"'{body.name()}'" for body in bases) or "none"
        raise RuntimeError(
            f"model instance '{GetModelInstanceName(plant, model_instance)}' has no unique floating base: {names}"
        )
    return base


def _floating_base(plant: PlantData, model_instance: ModelInstanceIndex) -> RigidBody | None:
    bases = _bases(plant, model_instance)
    return bases[0] if len(bases) == 1 and bases[0].is_floating_base_body() else None


def _bases(plant: PlantData, model_instance: ModelInstanceIndex) -> list[RigidBody]:
    """The bodies of an instance between which and World no other one stands."""
    plant.require_finalized("floating base queries")
    beside_world = {
        int(body.index())
        for joint in plant.elements.joints
        if 0 in (int(joint.parent_body().index()), int(joint.child_body().index()))
        for body in (joint.parent_body(), joint.child_body())
    }
    return [
        body
        for body in of_instance(plant, plant.elements.bodies, model_instance)
        if int(body.index()) and (body.is_floating_base_body() or int(body.index()) in beside_world)
    ]


def IsAnchored(plant: PlantData, body: RigidBody) -> bool:
    """Whether only welds stand between the body and World. After Finalize()."""
    plant.require_finalized("IsAnchored")
    plant.require_own(body, "IsAnchored")
    return int(plant.model.link_body[int(body.index())]) == 0


def GetBodiesWeldedTo(plant: PlantData, body: RigidBody) -> list[RigidBody]:
    """All bodies that weld joints connect with the body, itself among them."""
    plant.require_own(body, "GetBodiesWeldedTo")
    neighbours: dict[RigidBody, list[RigidBody]] = {}
    for joint in plant.elements.joints:
        if is_weld(joint):
            parent, child = joint.parent_body(), joint.child_body()
            neighbours.setdefault(parent, []).append(child)
            neighbours.setdefault(child, []).append(parent)
    found: dict[RigidBody, None] = {body: None}
    front = [body]
    while front:
        for other in neighbours.get(front.pop(), ()):
            if other not in found:
                found[other] = None
                front.append(other)
    return list(found)


def GetBodiesKinematicallyAffectedBy(plant: PlantData, joint_indexes: Iterable[JointIndex]) -> list[BodyIndex]:
    """Indices of the bodies outboard of any of the joints, in increasing order. After Finalize().

    RuntimeError: an unknown index, a weld, a joint that closes a loop and so moves nothing.
    """
    plant.require_finalized("GetBodiesKinematicallyAffectedBy")
    chosen = [get_joint(plant, index) for index in joint_indexes]
    for joint in chosen:
        if joint.num_velocities() == 0 or joint in plant.elements.loop_joints:
            raise RuntimeError(f"joint '{joint.name()}' of type {joint.type_name()} moves no body")
    moved = set()
    for mobilized in plant.mobilized_joints:  # depth first: the inboard link comes before
        if mobilized.joint in chosen or mobilized.inboard in moved:
            moved.add(mobilized.outboard)
    return [BodyIndex(n) for n in sorted(moved)]


def tree_height(plant: PlantData) -> int:
    """How many bodies, World among them, lie on the longest path outward from World. After Finalize()."""
    plant.require_finalized("tree_height")
    heights = {0: 1}
    for mobilized in plant.mobilized_joints:  # depth first: the inboard link comes before
        heights[mobilized.outboard] = heights[mobilized.inboard] + 1
    return max(heights.values())


def GetTopologyGraphvizString(plant: PlantData) -> str:
    """The bodies and joints as a graph in the dot language."""
    lines = ["digraph MultibodyPlant {", "rankdir=BT;"]
    for body in plant.elements.bodies:
        lines.append(f"body{int(body.index())} [label={_quoted(body.name())}];")
    for joint in plant.elements.joints:
        child, parent = int(joint.child_body().index()), int(joint.parent_body().index())
        label = _quoted(f"{joint.name()} [{joint.type_name()}]")
        lines.append(f"body{child} -> body{parent} [arrowhead=none, label={label}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
