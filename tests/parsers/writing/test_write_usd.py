"""Models as USD: what the stage says, read back by pxr itself where our reader could err alike."""

from math import pi

import numpy as np
import pytest
from command_line import cli
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.writing.usd_text import double, quaternion, single
from mbcli.parsers.writing.write_usd import _along
from peer_modules import peer
from repository import SAMPLES

from mbcli.log import open_log
from mbcli.models.loading import load_model

pytest.importorskip("pxr", reason="usd-core is not installed")

newton, warp = peer("newton"), peer("warp")
ROBOT = """<robot name="my-robot"><link name="base link"><inertial><mass value="2"/><origin xyz="0.1 0 0"/>
<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial>
<visual><geometry><mesh filename="wedge.stl" scale="1 -1 2"/></geometry><material name="m">
<color rgba="0.2 0.4 0.6 0.5"/></material></visual>
<collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
<collision><geometry><cylinder radius="0.1" length="0.4"/></geometry></collision></link>
<link name="tool"><inertial><mass value="0.5"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="swing" type="revolute"><parent link="base link"/><child link="arm"/><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>
<axis xyz="0.6 0 0.8"/><limit lower="-1" upper="2" effort="7" velocity="3"/>
<dynamics damping="0.4" friction="0.1"/></joint>
<joint name="push" type="prismatic"><parent link="arm"/><child link="tool"/><axis xyz="0 0 -1"/>
<limit lower="0" upper="0.2" effort="9" velocity="1"/></joint>
<drake:collision_filter_group xmlns:drake="http://drake.mit.edu" name="g"><drake:member link="base link"/>
<drake:member link="tool"/><drake:ignored_collision_filter_group name="g"/></drake:collision_filter_group></robot>"""
LINEAR = tuple(((c + 0.055) / 1.055) ** 2.4 for c in (0.2, 0.4, 0.6))  # of the colour of its mesh, which is sRGB
STL = """solid w\n""" + "".join(
    "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {v}\n" for v in corners) + "endloop\nendfacet\n"
    for corners in (
        ("0 0 0", "0 1 0", "1 0 0"), ("0 0 0", "1 0 0", "0 0 1"), ("1 0 0", "0 1 0", "0 0 1"),
        ("0 0 0", "0 0 1", "0 1 0"),
    )
) + "endsolid w\n"  # fmt: skip


@pytest.fixture
def robot(tmp_path):
    (tmp_path / "wedge.stl").write_text(STL)
    (tmp_path / "robot.urdf").write_text(ROBOT)
    return tmp_path / "robot.urdf"


def read(path):
    diagnostics = Diagnostics()
    models = load_models(str(path), diagnostics=diagnostics)
    diagnostics.raise_if_errors()
    return models[0]


def test_a_stage_states_what_the_schemas_of_usd_say(robot):
    """By pxr: units, schemas, frames, limits in degrees, exact inertias, materials, colours, meshes."""
    from pxr import Gf, Usd, UsdGeom, UsdPhysics

    out = robot.with_suffix(".usda")
    result = cli("convert", robot, "-o", out)
    assert result.code == 0, result.err
    stage = Usd.Stage.Open(str(out))
    assert (UsdGeom.GetStageMetersPerUnit(stage), UsdGeom.GetStageUpAxis(stage)) == (1.0, "Z")
    root = stage.GetDefaultPrim()
    assert root.GetName() == "my_robot"
    assert root.HasAPI(UsdPhysics.ArticulationRootAPI)
    base = stage.GetPrimAtPath("/my_robot/base_link")
    assert base.HasAPI(UsdPhysics.RigidBodyAPI)
    inertia = [0.3, 0.4, 0.5, 0.01, 0.02, 0.03]
    assert list(base.GetAttribute("newton:inertia").Get()) == inertia
    mass = UsdPhysics.MassAPI(base)
    axes = np.array([mass.GetPrincipalAxesAttr().Get().Transform(Gf.Vec3f(*unit)) for unit in np.eye(3).tolist()]).T
    matrix = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    moments = np.diag(mass.GetDiagonalInertiaAttr().Get())
    np.testing.assert_allclose(axes @ moments @ axes.T, matrix, atol=1e-7)
    swing = UsdPhysics.RevoluteJoint(stage.GetPrimAtPath("/my_robot/joints/swing"))
    np.testing.assert_allclose(swing.GetLowerLimitAttr().Get(), -180 / pi, rtol=1e-6)
    assert swing.GetBody0Rel().GetTargets() == ["/my_robot/base_link"]
    axis = swing.GetLocalRot1Attr().Get().Transform(Gf.Vec3f(1, 0, 0))
    np.testing.assert_allclose(axis, (0.6, 0.0, 0.8), atol=1e-6)
    assert base.GetRelationship("physics:filteredPairs").GetTargets() == ["/my_robot/tool"]
    (mesh,) = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    points = np.array(UsdGeom.Mesh(mesh).GetPointsAttr().Get())
    scale = mesh.GetAttribute("xformOp:scale").Get()
    ends = points * np.array(scale)
    np.testing.assert_allclose((ends.min(axis=0), ends.max(axis=0)), ((0, -1, 0), (1, 0, 2)), atol=1e-7)
    np.testing.assert_allclose(UsdGeom.Gprim(mesh).GetDisplayColorAttr().Get()[0], LINEAR, rtol=1e-6)


def test_text_binary_and_package_are_one_robot(robot):
    masses = []
    for suffix in (".usda", ".usdc", ".usdz"):
        out = robot.with_suffix(suffix)
        result = cli("convert", robot, "-o", out)
        assert result.code == 0, result.err
        plant = load_model(str(out), dt=0.0).plant
        context = plant.CreateDefaultContext()
        masses.append(plant.CalcMassMatrix(context))
    assert np.array_equal(masses[0], masses[1])
    assert np.array_equal(masses[0], masses[2])
    assert robot.with_suffix(".usdc").read_bytes()[:8] == b"PXR-USDC"


@pytest.mark.parametrize("name", ["all_joints.sdf", "quadruped.urdf", "arm7.urdf", "double_pendulum.xml"])
def test_there_and_back_the_model_is_the_same(tmp_path, name):
    source = SAMPLES / name
    first = tmp_path / "there.usda"
    assert cli("convert", source, "-o", first, "--lossy").code == 0
    suffix = source.suffix
    back = tmp_path / f"back{suffix}"
    to = {".sdf": "sdf", ".urdf": "urdf", ".xml": "mjcf"}[suffix]
    result = cli("convert", first, "--to", to, "-o", back, "--lossy")
    assert result.code == 0, result.err
    before, after = read(source), read(back)
    masses = {link.name: link.inertial for link in after.links}
    for link in before.links:
        if link.inertial is not None and link.inertial.mass:
            assert masses[link.name].mass == link.inertial.mass, link.name  # the same decimals


def test_what_usd_lacks_is_named(tmp_path):
    text = (SAMPLES / "all_joints.sdf").read_text()
    (tmp_path / "a.sdf").write_text(text)
    result = cli("convert", tmp_path / "a.sdf", "-o", tmp_path / "a.usda")
    assert result.code == 3
    assert "USD cannot express joint 'nut_thread' of link 'nut': USD has no screw joint" in result.err
    assert not (tmp_path / "a.usda").exists()


@pytest.mark.parametrize("xyz", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0), (0.6, 0.0, 0.8), (-1.0, 0.0, 0.0)])
def test_a_frame_along_an_axis_keeps_its_direction(xyz):
    letter, X = _along(xyz)
    np.testing.assert_allclose(X[:3, "XYZ".index(letter)], xyz, atol=1e-15)
    np.testing.assert_allclose(X[:3, :3].T @ X[:3, :3], np.eye(3), atol=1e-15)
    assert np.linalg.det(X[:3, :3]) > 0.0


def test_numbers_are_the_shortest_that_mean_them():
    assert (single(0.1), single(1e300), single(-0.0), double(0.1), double(float("-inf"))) == (
        "0.1",
        "inf",
        "0",
        "0.1",
        "-inf",
    )
    assert quaternion(np.eye(4)) == "(1, 0, 0, 0)"


@pytest.mark.peers("newton")
def test_newton_proves_what_is_written(tmp_path):
    result = cli("convert", SAMPLES / "arm7.urdf", "-o", tmp_path / "arm7.usda", "--json")
    assert result.code == 0, result.err
    proof = result.json()["proof"]
    assert proof["engines"][1].startswith("newton ")
    found = {name: value for name, value in proof["deviations"].items() if name.startswith("newton: ")}
    names = ("masses", "centres of mass", "inertias", "limits", "armature", "gravity", "mass matrix", "poses")
    assert set(found) == {f"newton: {name}" for name in names}
    assert max(found.values()) < 1e-6


def test_joints_that_become_several_and_gears_of_motors_are_named(tmp_path):
    """What is read under another name, or with another number, has a line with that name."""
    path = tmp_path / "m.xml"
    path.write_text(
        '<mujoco><worldbody><body name="b"><joint name="j" armature="0.01"/><geom size="0.1"/></body></worldbody>'
        '<actuator><motor name="m" joint="j" gear="100"/></actuator></mujoco>'
    )
    result = cli("convert", path, "-o", tmp_path / "m.usda")
    assert result.code == 0
    assert "rotor and gear of actuator 'm' are the armature of joint 'j' [REFLECTED_INERTIA]" in result.err
    result = cli("convert", SAMPLES / "closed_chains" / "stewart_platform.sdf", "-o", tmp_path / "s.usda")
    assert result.code == 0
    between = "read as the joints 'foot_1_qx', 'foot_1_qy' with 'cylinder_1_0' between them [JOINT]"
    assert between in result.err
    assert {"cylinder_1_0"} <= {link.name for link in read(tmp_path / "s.usda").links}


@pytest.mark.parametrize("stated", ["", '<inertia ixx="0" ixz="2e-35" iyy="0" izz="0"/>'])
def test_a_mass_without_inertia_gets_a_little(tmp_path, stated):
    """UsdPhysics takes a diagonalInertia of 0 for none, and engines then that of the shapes, or of a ball."""
    from pxr import Usd

    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="r"><link name="rod"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
        '</link><link name="point"><inertial><origin xyz="0 0 1"/><mass value="0.5"/>'
        f"{stated}</inertial></link>"
        '<joint name="j" type="revolute"><parent link="rod"/><child link="point"/><axis xyz="1 0 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    result = cli("convert", path, "-o", tmp_path / "r.usda")
    assert result.code == 0, result.err
    assert "link 'point' has no inertia: it has 2e-10 kg m^2" in result.err
    stage = Usd.Stage.Open(str(tmp_path / "r.usda"))
    point = next(prim for prim in stage.Traverse() if prim.GetName() == "point")
    assert min(point.GetAttribute("physics:diagonalInertia").Get()) > 0.0


def test_a_turning_joint_follows_a_sliding_one_in_radians_per_metre(tmp_path):
    """As Newton reads it: the offset in degrees, the factor between radians and metres."""
    path = tmp_path / "m.xml"
    path.write_text(
        '<mujoco><compiler angle="radian"/><worldbody><body name="a"><joint name="slide" type="slide"/>'
        '<geom size="0.1"/></body><body name="b" pos="1 0 0"><joint name="turn"/><geom size="0.1"/></body></worldbody>'
        '<equality><joint joint1="turn" joint2="slide" polycoef="0.1 7 0 0 0"/></equality></mujoco>'
    )
    result = cli("convert", path, "-o", tmp_path / "m.usda")
    assert result.code == 0, result.err
    turn = next(joint for joint in read(tmp_path / "m.usda").joints if joint.name == "turn")
    mimic = turn.axes[0].mimic
    assert (mimic.leader, mimic.multiplier, mimic.offset) == ("slide", 7.0, pytest.approx(0.1, abs=1e-8))
    stated = (tmp_path / "m.usda").read_text()
    assert "newton:mimicCoef1 = 7\n" in stated and f"newton:mimicCoef0 = {single(0.1 * 180.0 / pi)}\n" in stated


def test_an_inertia_that_no_body_has_is_named(tmp_path):
    path = tmp_path / "r.urdf"
    rod = '<link name="{}"><inertial><mass value="2"/><inertia ixx="{}" iyy="1" izz="1"/></inertial></link>'
    path.write_text(
        f'<robot name="r">{rod.format("rod", 2.0)}{rod.format("odd", 2.1)}<joint name="j" type="fixed">'
        '<parent link="rod"/><child link="odd"/></joint></robot>'
    )
    result = cli("convert", path, "-o", tmp_path / "r.usda")
    assert result.code == 0, result.err
    assert "link 'odd' has an inertia that no body has: it is written, and Newton reads another" in result.err
    assert "'rod' has" not in result.err


SMALL = 1e-11  # [kg m^2]


@pytest.mark.parametrize(("least", "other"), [(SMALL, SMALL), (1e-4, 200.0)])
def test_a_moment_that_newton_raises_is_named(tmp_path, least, other):
    path = tmp_path / "r.urdf"
    link = (
        '<link name="{}"><inertial><mass value="1"/><inertia ixx="{}" iyy="{}" izz="{}"/></inertial>'
        '<collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
    )
    path.write_text(
        f'<robot name="r">{link.format("rod", 1e-9, 1e-9, 1e-9)}{link.format("odd", least, other, other)}'
        '<joint name="j" type="revolute"><parent link="rod"/><child link="odd"/><origin xyz="0 0 1"/>'
        '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    result = cli("convert", path, "-o", tmp_path / "r.usda")  # proved by Newton too, if it is there
    assert result.code == 0, result.err
    assert f"link 'odd' has a principal moment of {least:.3g} kg m^2: Newton raises all three by 1e-6" in result.err
    assert "'rod' has" not in result.err


TREES = """<mujoco><compiler inertiafromgeom="true"/><worldbody>
    <body name="wall"><geom name="wall" type="box" size="1 1 1"/></body>
    {door}
    <body name="arm"><geom name="arm" type="box" size="1 1 1"/>
        <body name="hand" pos="0 0 3"><joint name="wrist" axis="1 0 0"/><geom type="box" size="1 1 1"/></body></body>
    {ball}
</worldbody></mujoco>"""
DOOR = """<body name="door" pos="9 0 0"><joint name="hinge" axis="0 0 1"/><geom type="box" size="1 1 1"/>
    <body name="handle" pos="0 0 3"><joint name="turn" axis="1 0 0"/><geom type="box" size="1 1 1"/></body></body>"""
BALL = '<body name="ball" pos="0 9 0"><freejoint/><geom type="sphere" size="1"/></body>'


@pytest.mark.parametrize(
    "wall, door, ball, roots",
    [
        (False, "", "", ["/trees"]),
        (True, "", "", ["/trees/joints/world_welds_to_arm"]),
        (True, DOOR, BALL, ["/trees/door", "/trees/joints/world_welds_to_arm"]),
    ],
)
def test_every_body_of_an_articulation_is_counted_by_openusd(tmp_path, wall, door, ball, roots):
    """Each tree of joints is an articulation of its own: OpenUSD counts the joint of a link that is only welded to the
    world in the articulation above it, but not the link, and Newton then refuses the stage."""
    from pxr import Usd, UsdPhysics

    text = TREES.format(door=door, ball=ball)
    if not wall:
        text = "\n".join(line for line in text.splitlines() if "wall" not in line)
    (tmp_path / "trees.xml").write_text(text)
    result = cli("convert", tmp_path / "trees.xml", "-o", tmp_path / "trees.usda")
    assert result.code == 0, result.err
    stage = Usd.Stage.Open(str(tmp_path / "trees.usda"))
    with_root = [str(p.GetPath()) for p in stage.Traverse() if p.HasAPI(UsdPhysics.ArticulationRootAPI)]
    assert sorted(with_root) == roots
    found = UsdPhysics.LoadUsdPhysicsFromRange(stage, ["/"])
    for _, articulation in zip(*found[UsdPhysics.ObjectType.Articulation], strict=True):
        bodies = set(map(str, articulation.articulatedBodies))
        for path in map(str, articulation.articulatedJoints):
            joint = UsdPhysics.Joint(stage.GetPrimAtPath(path))
            ends = [*joint.GetBody0Rel().GetTargets(), *joint.GetBody1Rel().GetTargets()]
            assert set(map(str, ends)) <= bodies


# ---------------------------------------------------------------------------- what a user of Newton finds

UNLIMITED = 1e6  # from here on an effort or speed of Newton has no limit
MODELS = ("double_pendulum.urdf", "cart_pole.sdf", "arm7.urdf", "quadruped.urdf")


def read_by_newton(model, folder):
    """Newton's model of a file that is converted as the page of `convert` has it."""
    path = folder / "robot.usda"
    done = cli("convert", model, "--to", "usd", "-o", path)
    assert done.code == 0, done.err
    assert "proved by mbcli and newton" in done.err.splitlines()[-1]
    warp.config.quiet, warp.config.enable_backward = True, False
    builder = newton.ModelBuilder()
    builder.add_usd(str(path))
    return builder.finalize(device="cpu")


def ends_of(labels):
    return [label.rpartition("/")[2] for label in labels]


@pytest.mark.peers("newton")
@pytest.mark.parametrize("name", MODELS)
def test_newtons_reader_finds_the_bodies_and_joints_of_the_robot(tmp_path, name):
    model, plant = read_by_newton(SAMPLES / name, tmp_path), load_model(SAMPLES / name).plant
    bodies = ends_of(model.body_label)
    masses = dict(zip(bodies, model.body_mass.numpy().tolist(), strict=True))
    own = {body.name(): body.default_mass() for body in plant.elements.bodies[1:]}
    assert masses.keys() == own.keys()
    np.testing.assert_allclose([masses[n] for n in own], list(own.values()), rtol=1e-6)
    joints, there = {j.name(): j for j in plant.moving_joints() if j.num_velocities() == 1}, ends_of(model.joint_label)
    assert joints.keys() <= set(there)
    starts, parents, children = (
        a.numpy().tolist() for a in (model.joint_qd_start, model.joint_parent, model.joint_child)
    )
    for joint_name, joint in joints.items():
        k = there.index(joint_name)
        d = starts[k]
        assert children[k] == bodies.index(joint.child_body().name())
        parent = joint.parent_body().name()
        assert (bodies[parents[k]] if parents[k] >= 0 else "world").lower() == parent.lower()
        assert model.joint_type.numpy()[k] == (1 if joint.is_angular() else 0)  # newton.JointType
        np.testing.assert_allclose(model.joint_damping.numpy()[d], joint.default_damping(), rtol=1e-6)
        limit = model.joint_velocity_limit.numpy()[d]
        np.testing.assert_allclose(limit if limit < UNLIMITED else np.inf, joint.velocity_upper_limits()[0], rtol=1e-6)
    for actuator in plant.elements.actuators:
        limit = model.joint_effort_limit.numpy()[starts[there.index(actuator.joint().name())]]
        np.testing.assert_allclose(limit if limit < UNLIMITED else np.inf, actuator.effort_limit(), rtol=1e-6)


@pytest.mark.peers("newton")
def test_it_swings_in_newton_as_here(tmp_path):
    """200 ms from rest, in Newton's single precision: equal to 2e-4 rad, of 0.3 rad that it moves."""
    step, count = 1e-4, 2000
    model = read_by_newton(SAMPLES / "double_pendulum.urdf", tmp_path)
    start = np.array([0.0, 0.5])
    model.joint_q.assign(start.astype(np.float32))
    solver = newton.solvers.SolverFeatherstone(model, angular_damping=0.0)
    now, then, control = model.state(), model.state(), model.control()
    newton.eval_fk(model, model.joint_q, model.joint_qd, now)
    for _ in range(count):
        solver.step(now, then, control, None, step)
        now, then = then, now
    log = last_positions(tmp_path, step, step * count)
    assert np.abs(log - start).max() > 0.3
    np.testing.assert_allclose(now.joint_q.numpy(), log, atol=2e-4)


def last_positions(folder, step, duration):
    """q at the end of a run from the same state."""
    done = cli(
        "simulate",
        SAMPLES / "double_pendulum.urdf",
        "--at",
        "elbow=0.5",
        "-t",
        duration,
        "--dt",
        step,
        "-o",
        folder / "a.h5",
    )
    assert done.code == 0, done.err
    with open_log(folder / "a.h5") as log:
        return log.q[-1]
