"""One mechanism as URDF, SDF and MJCF gives the same plant: names, limits, poses, mass matrix, bias, gravity, damping.

A floating base with an oblique hinge, a slide that follows it, a fixed link with a product of inertia, and a motor
with a rotor; rotations are the same in the notation of each format.
"""

from itertools import combinations
from math import cos, degrees, sin

import numpy as np
import pytest

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import BodyIndex, MultibodyForces

TOLERANCE = 1e-12
TILT, TURN = 0.4, -0.7  # [rad] of the arm's frame about x, of the inertia's about z
AXIS = np.array([1.0, 2.0, 2.0]) / 3.0
XYZ = " ".join(map(repr, AXIS.tolist()))

URDF = f"""<robot name="twin" xmlns:drake="http://drake.mit.edu">
  <link name="base"><inertial><origin xyz=".1 -.2 .3" rpy="0 0 {TURN}"/><mass value="4"/>
    <inertia ixx="1" iyy="1.5" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0 .5"/><mass value="2"/>
    <inertia ixx=".4" iyy=".5" izz=".3" ixy=".01" ixz="-.02" iyz=".03"/></inertial></link>
  <link name="hand"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="ball"><inertial><mass value=".5"/><inertia ixx=".02" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/>
    </inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz=".2 .1 0" rpy="{TILT} 0 0"/>
    <axis xyz="{XYZ}"/><limit lower="-1" upper="2" effort="15"/><dynamics damping=".3"/></joint>
  <joint name="reach" type="prismatic"><parent link="arm"/><child link="hand"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/>
    <limit lower="-.5" upper=".5" effort="0"/><mimic joint="turn" multiplier=".5" offset=".1"/></joint>
  <joint name="hold" type="fixed"><parent link="hand"/><child link="ball"/><origin xyz="0 .3 0"/></joint>
  <transmission name="t"><type>SimpleTransmission</type><joint name="turn"/><actuator name="turn"><drake:rotor_inertia
    value=".002"/><drake:gear_ratio value="5"/></actuator></transmission>
</robot>"""


def sdf_inertial(pose, mass, inertia):
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    tensor = "".join(f"<{name}>{value}</{name}>" for name, value in zip(names, inertia, strict=True))
    return f"<inertial><pose>{pose}</pose><mass>{mass}</mass><inertia>{tensor}</inertia></inertial>"


SDF = f"""<sdf version="1.11" xmlns:drake="http://drake.mit.edu"><model name="twin">
  <link name="base">{sdf_inertial(f".1 -.2 .3 0 0 {TURN}", 4, (1, 1.5, 2, 0, 0, 0))}</link>
  <link name="arm"><pose relative_to="base">.2 .1 0 {TILT} 0 0</pose>
    {sdf_inertial("0 0 .5 0 0 0", 2, (0.4, 0.5, 0.3, 0.01, -0.02, 0.03))}</link>
  <link name="hand"><pose relative_to="arm">0 0 1 0 0 0</pose>
    {sdf_inertial("0 0 0 0 0 0", 1, (0.1,) * 3 + (0,) * 3)}</link>
  <link name="ball"><pose relative_to="hand">0 .3 0 0 0 0</pose>
    {sdf_inertial("0 0 0 0 0 0", 0.5, (0.02,) * 3 + (0,) * 3)}</link>
  <joint name="turn" type="revolute"><parent>base</parent><child>arm</child><axis><xyz>{XYZ}</xyz>
    <limit><lower>-1</lower><upper>2</upper><effort>15</effort></limit><dynamics><damping>.3</damping></dynamics></axis>
    <drake:rotor_inertia>.002</drake:rotor_inertia><drake:gear_ratio>5</drake:gear_ratio></joint>
  <joint name="reach" type="prismatic"><parent>arm</parent><child>hand</child><axis><xyz>0 0 1</xyz>
    <limit><lower>-.5</lower><upper>.5</upper><effort>0</effort></limit></axis>
    <drake:mimic joint="turn" multiplier=".5" offset=".1"/></joint>
  <joint name="hold" type="fixed"><parent>hand</parent><child>ball</child></joint>
</model></sdf>"""

MJCF = f"""<mujoco model="twin"><compiler angle="radian"/><worldbody>
  <body name="base"><freejoint/><inertial pos=".1 -.2 .3" euler="0 0 {TURN}" mass="4" diaginertia="1 1.5 2"/>
    <body name="arm" pos=".2 .1 0" axisangle="1 0 0 {TILT}">
      <joint name="turn" axis="1 2 2" range="-1 2" damping=".3" armature=".05"/>
      <inertial pos="0 0 .5" mass="2" fullinertia=".4 .5 .3 .01 -.02 .03"/>
      <body name="hand" pos="0 0 1">
        <joint name="reach" type="slide" range="-.5 .5"/>
        <inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>
        <body name="ball" pos="0 .3 0"><inertial pos="0 0 0" mass=".5" diaginertia=".02 .02 .02"/></body>
      </body>
    </body>
  </body></worldbody>
  <actuator><motor name="turn" joint="turn" gear="5" ctrlrange="-3 3"/></actuator>
  <equality><joint joint1="reach" joint2="turn" polycoef=".1 .5"/></equality>
</mujoco>"""

TEXTS = {"urdf": URDF, "sdf": SDF, "mjcf": MJCF}
PAIRS = list(combinations(TEXTS, 2))


@pytest.fixture(scope="module")
def plants():
    found = {}
    for file_type, text in TEXTS.items():
        plant = MultibodyPlant(0.01)
        parser = Parser(plant)
        parser.AddModelsFromString(text, file_type)
        assert parser.diagnostics.warnings == []
        plant.Finalize()
        found[file_type] = plant
    return found


def states(plants, a, b):
    """Both plants with a context each at the same random states."""
    random = np.random.default_rng(12)
    for _ in range(5):
        q, v = random.normal(size=plants[a].num_positions()), random.normal(size=plants[a].num_velocities())
        q[:4] /= np.linalg.norm(q[:4])
        pair = []
        for plant in (plants[a], plants[b]):
            context = plant.CreateDefaultContext()
            plant.SetPositionsAndVelocities(context, [*q, *v])
            pair.append((plant, context))
        yield pair


def assert_equal(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=TOLERANCE * max(1.0, np.abs(theirs).max(initial=0.0)))


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_names_limits_and_constraints_are_the_same(plants, a, b):
    for ask in ("GetPositionNames", "GetVelocityNames", "GetActuatorNames", "num_bodies", "num_joints"):
        assert getattr(plants[a], ask)() == getattr(plants[b], ask)(), ask
    for limits in ("Position", "Effort"):
        for end in ("Lower", "Upper"):
            ask = f"Get{limits}{end}Limits"
            np.testing.assert_array_equal(getattr(plants[a], ask)(), getattr(plants[b], ask)())
    assert plants[a].num_constraints() == plants[b].num_constraints() == 1


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_poses_and_inertias_are_the_same(plants, a, b):
    for (one, here), (other, there) in states(plants, a, b):
        for n in range(one.num_bodies()):
            body, twin = one.get_body(BodyIndex(n)), other.get_body(BodyIndex(n))
            assert body.name() == twin.name()
            assert_equal(body.EvalPoseInWorld(here).GetAsMatrix4(), twin.EvalPoseInWorld(there).GetAsMatrix4())
            inertias = [each.default_spatial_inertia().CopyToFullMatrix6() for each in (body, twin)]
            assert_equal(*inertias)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_equations_of_motion_are_the_same(plants, a, b):
    for (one, here), (other, there) in states(plants, a, b):
        assert_equal(one.CalcMassMatrix(here), other.CalcMassMatrix(there))
        assert_equal(one.CalcBiasTerm(here), other.CalcBiasTerm(there))
        assert_equal(one.CalcGravityGeneralizedForces(here), other.CalcGravityGeneralizedForces(there))
        damped = []
        for plant, context in ((one, here), (other, there)):
            forces = MultibodyForces(plant)
            plant.CalcForceElementsContribution(context, forces)
            damped.append(plant.CalcInverseDynamics(context, np.zeros(plant.num_velocities()), forces))
        assert_equal(*damped)


def test_mechanism_is_what_its_words_say(plants):
    """The arm's pose and the rotor's share of the mass matrix, by hand."""
    plant = plants["mjcf"]
    context = plant.CreateDefaultContext()
    X = plant.GetBodyByName("arm").EvalPoseInWorld(context).GetAsMatrix4()
    expected = np.eye(4)
    expected[1:3, 1:3] = [[cos(TILT), -sin(TILT)], [sin(TILT), cos(TILT)]]
    expected[:2, 3] = 0.2, 0.1
    assert_equal(X, expected)
    text = MJCF.replace('armature=".05"', f'armature="{0.05 + 1.0}"').replace("radian", "degree")
    text = text.replace(f"{TILT}", repr(degrees(TILT))).replace(f"{TURN}", repr(degrees(TURN)))
    heavier = MultibodyPlant(0.01)
    Parser(heavier).AddModelsFromString(text, "mjcf")
    heavier.Finalize()
    difference = heavier.CalcMassMatrix(heavier.CreateDefaultContext()) - plant.CalcMassMatrix(context)
    index = plant.GetJointByName("turn").velocity_start()
    expected = np.zeros_like(difference)
    expected[index, index] = 1.0
    assert_equal(difference, expected)
