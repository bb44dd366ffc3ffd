"""The acrobot, under the names of pydrake.multibody.benchmarks.acrobot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.common.fast_dataclass import dataclass
from mbcli.math import RigidTransform
from mbcli.multibody.inertia.rotational_inertia import RotationalInertia
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia
from mbcli.multibody.plant.multibody_plant import MultibodyPlant
from mbcli.multibody.tree.joints import RevoluteJoint

if TYPE_CHECKING:
    from mbcli.geometry.scene_graph import SceneGraph

__all__ = ["AcrobotParameters", "MakeAcrobotPlant"]


@dataclass
class AcrobotParameters:
    """Masses, lengths, moments of inertia and damping of the two links (R. Tedrake, Underactuated Robotics, ch. 3)."""

    m1: float = 1.0  # [kg]
    m2: float = 1.0
    l1: float = 1.0  # [m]
    l2: float = 2.0
    lc1: float = 0.5  # [m] from a joint to the centre of mass
    lc2: float = 1.0
    Ic1: float = 0.083  # [kg m^2] about the axis through the centre of mass
    Ic2: float = 0.33
    b1: float = 0.1  # [N m s]
    b2: float = 0.1
    g: float = 9.81  # [m/s^2]


def MakeAcrobotPlant(
    default_parameters: AcrobotParameters, finalize: bool, scene_graph: SceneGraph | None = None
) -> MultibodyPlant:
    """A continuous plant of two links that hang down along -z and turn about y; the elbow has an actuator.

    As in pydrake's plant the links have no moment of inertia along them, and the joints have no damping.
    """
    p = default_parameters
    plant = MultibodyPlant(0.0)
    if scene_graph is not None:
        plant.RegisterAsSourceForSceneGraph(scene_graph)
    frames = []
    for name, mass, com, inertia in (("Link1", p.m1, p.lc1, p.Ic1), ("Link2", p.m2, p.lc2, p.Ic2)):
        rod = RotationalInertia(inertia, inertia, 0.0)
        M = SpatialInertia.MakeFromCentralInertia(mass, [0.0, 0.0, -com], rod)
        frames.append(plant.AddRigidBody(name, M).body_frame())
    world, (link1, link2) = plant.world_frame(), frames
    plant.AddJoint(RevoluteJoint("ShoulderJoint", world, link1, [0.0, 1.0, 0.0]))
    X_PF = RigidTransform([0.0, 0.0, -p.l1])
    elbow = plant.AddJoint(RevoluteJoint, "ElbowJoint", link1.body(), X_PF, link2.body(), None, [0.0, 1.0, 0.0])
    plant.AddJointActuator("ElbowActuator", elbow)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -p.g])
    if finalize:
        plant.Finalize()
    return plant
