"""At rest at limits rounding decides which stops act: no state may depend on it."""

import warnings

import numpy as np
import pytest

from mbcli.engine.limits.joint_limits import STIFFNESS
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import PrismaticJoint, SpatialInertia
from mbcli.systems.analysis import Simulator

H = 1e-3
LINK = """<link name="{0}"><inertial><origin xyz="0.02 0 0.01"/><mass value="{1}"/>
<inertia ixx="1e-4" iyy="2e-4" izz="2e-4" ixy="1e-5" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0.05 {3} 0"/>
<axis xyz="0 1 0.1"/><limit lower="{4}" upper="1.5" effort="1" velocity="1"/>{5}</joint>"""
MIMIC = '<mimic joint="{0}" multiplier="1.3" offset="0.02"/>'


def robot(*joints):
    """Joints (name, parent, child, y, lower limit, of which it is a mimic) of a robot that floats."""
    links = {name for _, parent, child, *_ in joints for name in (parent, child)}
    mass = {name: 0.1 + 0.05 * k for k, name in enumerate(sorted(links))}
    texts = [LINK.format(name, mass[name]) for name in sorted(links)]
    texts += [JOINT.format(*joint[:5], MIMIC.format(joint[5]) if joint[5] else "") for joint in joints]
    return f"<robot name='r'>{''.join(texts)}</robot>"


# finger joints whose limits contradict their mimics, and legs of which one is pushed back by its stop
HAND = robot(
    ("a", "palm", "a1", 0.02, "-0.6", None),
    ("b", "a1", "a2", 0.0, "-1.1", "a"),
    ("c", "palm", "c1", -0.02, "-0.5", None),
    ("d", "c1", "c2", 0.0, "-0.9", "c"),
)
LEGS = robot(
    ("hip", "trunk", "thigh", 0.1, "0", None),
    ("knee", "thigh", "shank", 0.0, "0", None),
    ("arm", "trunk", "upper", -0.1, "0.009", None),
)


def states_after_steps(text, q, v, gravity):
    plant = MultibodyPlant(H)
    Parser(plant).AddModelsFromString(text, "urdf")
    plant.mutable_gravity_field().set_gravity_vector(gravity)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    positions = plant.GetPositions(context)
    positions[7:] = plant.GetPositionLowerLimits()[7:] if q is None else q
    plant.SetPositions(context, positions)
    plant.SetVelocities(context, v * np.cos(range(plant.num_velocities())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Simulator(plant, context).AdvanceTo(4 * H)
    return plant.GetPositionsAndVelocities(context)


@pytest.mark.parametrize("gravity", [(0, 0, 0), (0, 0, -9.81)], ids=["weightless", "falling"])
@pytest.mark.parametrize(("text", "q"), [(HAND, None), (LEGS, 0.0)], ids=["hand", "legs"])
def test_a_robot_at_rest_at_its_limits_goes_the_same_way_whatever_rounding_makes_of_its_velocities(text, q, gravity):
    at_rest = states_after_steps(text, q, 0.0, gravity)
    for rounding in (1e-18, -1e-18, 3e-17, -3e-17):
        np.testing.assert_allclose(states_after_steps(text, q, rounding, gravity), at_rest, rtol=0, atol=1e-12)


def test_a_stop_gives_way_to_a_very_heavy_body_by_its_load_over_its_stiffness():
    plant = MultibodyPlant(H)
    body = plant.AddRigidBody("block", SpatialInertia.SolidBoxWithMass(1e10, 1.0, 1.0, 1.0))
    frames = plant.world_frame(), body.body_frame()
    rail = plant.AddJoint(PrismaticJoint("rail", *frames, [0.0, 0.0, 1.0], 0.0, 1.0))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    depth = 1e10 * 9.81 / STIFFNESS
    rail.set_translation(context, -depth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it begins beyond its limit
        Simulator(plant, context).AdvanceTo(20 * H)
    assert abs(rail.get_translation(context) + depth) < 1e-9
