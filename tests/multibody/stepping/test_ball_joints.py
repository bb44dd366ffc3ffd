"""Ball joints of files pass every orientation: closed forms, the formats, the switch to Drake's coordinates."""

import numpy as np
import pytest
import usd_texts
from scipy.integrate import solve_ivp

from mbcli.math import Quaternion, RollPitchYaw, RotationMatrix
from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import BallQuaternionJoint, BallRpyJoint
from mbcli.simulation import simulate

G = 9.81
ROD = """<mujoco><worldbody><body name="rod" pos="0 0 1"><joint name="j" type="ball"/>
<geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="1"/></body></worldbody></mujoco>"""
SDF = """<sdf version="1.9"><model name="m"><link name="rod"><inertial><pose>.25 0 0 0 0 0</pose><mass>1</mass><inertia>
<ixx>.001</ixx><iyy>.02</iyy><izz>.02</izz></inertia></inertial></link><joint name="j" type="ball">
<parent>world</parent><child>rod</child></joint></model></sdf>"""
URDF = """<robot name="m" xmlns:drake="http://drake.mit.edu"><link name="base"/><link name="rod"><inertial>
<origin xyz=".25 0 0"/><mass value="1"/><inertia ixx=".001" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/></inertial>
</link><drake:joint name="j" type="ball"><parent link="base"/><child link="rod"/></drake:joint></robot>"""
USD = usd_texts.stage_text("""def PhysicsScene "s" {}
def Xform "w" {
def Xform "rod" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) { float physics:mass = 1
point3f physics:centerOfMass = (0.25, 0, 0)
float3 physics:diagonalInertia = (0.001, 0.02, 0.02) }
def PhysicsSphericalJoint "j" { rel physics:body1 = </w/rod> } }
""")
FILES = {"mjcf": ROD, "sdf": SDF, "urdf": URDF, "usd": USD}
KINDS = ["mjcf", "sdf", "urdf", usd_texts.USD]


def loaded(kind, **settings):
    weld = {"weld_base": True} if kind == "urdf" else {}
    return load_model(ModelText(FILES[kind].encode()), file_type=kind, **weld, **settings)


@pytest.mark.parametrize("kind", KINDS)
def test_a_rod_that_falls_from_the_horizontal_passes_90_degrees_as_a_pendulum_does(kind):
    """theta'' = m g l cos(theta) / I about the joint; theta is the pitch of the rod below the horizontal."""
    model = loaded(kind)
    plant = model.plant
    assert isinstance(plant.GetJointByName("j"), BallQuaternionJoint)
    assert (plant.num_positions(), plant.num_velocities()) == (4, 3)
    inertia = plant.CalcMassMatrix(plant.CreateDefaultContext())[1, 1]
    log = simulate(model, 1.0, log_rate=20.0)
    exact = solve_ivp(
        lambda t, y: [y[1], 0.25 * G * np.cos(y[0]) / inertia],
        (0, 1),
        [0, 0],
        t_eval=np.arange(len(log.q)) / 20.0,
        rtol=1e-10,
        atol=1e-12,
    )
    assert exact.y[0].max() > np.pi / 2.0
    angle = 2.0 * np.arctan2(log.q[:, 2], log.q[:, 0])
    np.testing.assert_allclose(angle, exact.y[0], rtol=0.0, atol=2e-4)


@pytest.mark.rough  # steps of second order keep 180 J of spin to some mJ
@pytest.mark.parametrize("spin", [120.0, 300.0])
@pytest.mark.parametrize("tilt", [0.4, np.pi / 2.0])
def test_a_top_precesses_steadily(spin, tilt):
    """I1 W^2 cos(tilt) - I3 spin W + m g l = 0 for the rate W about the vertical (Goldstein, Classical Mechanics, 5.7).

    spin: [rad/s] about the axis of the top.
    """
    mass, length, across, along = 1.0, 0.1, 0.015, 0.004
    top = f"""<mujoco><worldbody><body name="top"><joint name="j" type="ball"/><inertial pos="0 0 {length}"
    mass="{mass}" diaginertia="{across - mass * length**2} {across - mass * length**2} {along}"/></body></worldbody>
    </mujoco>"""
    model = load_model(ModelText(top.encode()), file_type="mjcf", dt=2e-4)
    roots = np.roots([across * np.cos(tilt), -along * spin, mass * G * length])
    rate = float(min(roots, key=abs))
    R = RotationMatrix.MakeYRotation(tilt)
    axis, sideways = R.matrix()[:, 2], R.matrix()[:, 0]
    w = spin * axis - rate * np.sin(tilt) * sideways
    q = R.ToQuaternion().wxyz()
    start = dict(zip(["j_qw", "j_qx", "j_qy", "j_qz", "j_wx", "j_wy", "j_wz"], [*q, *w], strict=True))
    log = simulate(model, 0.5, start=start, log_rate=50.0)
    axes = np.array([RotationMatrix(Quaternion(row / np.linalg.norm(row))).matrix()[:, 2] for row in log.q])
    turned = np.unwrap(np.arctan2(axes[:, 1], axes[:, 0]))
    np.testing.assert_allclose(np.arccos(axes[:, 2]), tilt, rtol=0.0, atol=3e-4)
    np.testing.assert_allclose(turned, rate * np.arange(len(axes)) / 50.0, rtol=0.0, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_switch_gives_files_the_ball_joints_of_drake(kind):
    plant = loaded(kind, overrides=["plant_config.ball_joints=drake"]).plant
    assert isinstance(plant.GetJointByName("j"), BallRpyJoint)
    assert plant.num_positions() == 3


def test_both_kinds_of_coordinates_are_one_mechanism():
    rng = np.random.default_rng(3)
    two = [loaded("sdf", overrides={"plant_config.ball_joints": kind}).plant for kind in ("quaternion", "drake")]
    for _ in range(5):
        angles, w = rng.uniform(-1.2, 1.2, 3), rng.normal(size=3)
        results = []
        for plant in two:
            joint, context = plant.GetJointByName("j"), plant.CreateDefaultContext()
            joint.SetPositions(context, joint.positions_of(angles))
            joint.set_angular_velocity(context, w)
            results.append(
                [
                    plant.CalcMassMatrix(context),
                    plant.CalcBiasTerm(context),
                    plant.CalcForwardDynamics(context),
                    plant.GetBodyByName("rod").EvalPoseInWorld(context).GetAsMatrix4(),
                ]
            )
        for one, other in zip(*results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_positions_of_files_fit_either_kind():
    """Keyframes and SRDF state quaternions, scenarios of Drake roll, pitch and yaw."""
    angles, wxyz = np.array([0.3, -0.4, 0.5]), RollPitchYaw(0.3, -0.4, 0.5).ToQuaternion().wxyz()
    for kind, own in (("quaternion", wxyz), ("drake", angles)):
        joint = loaded("mjcf", overrides={"plant_config.ball_joints": kind}).plant.GetJointByName("j")
        for stated in (angles, wxyz):
            np.testing.assert_allclose(joint.positions_of(stated), own, rtol=0.0, atol=1e-14)


def test_keyframes_of_ball_joints_are_set_in_either_kind():
    keyed = ROD.replace("</mujoco>", '<keyframe><key name="k" qpos=".6 .8 0 0" qvel="0 1 0"/></keyframe></mujoco>')
    turn = RotationMatrix(Quaternion([0.6, 0.8, 0.0, 0.0]))
    from mbcli.models.postures import find_postures, set_postures

    for kind in ("quaternion", "drake"):
        model = load_model(ModelText(keyed.encode()), file_type="mjcf", overrides={"plant_config.ball_joints": kind})
        plant, context = model.plant, model.plant.CreateDefaultContext()
        set_postures(plant, context, find_postures(plant, model.postures, "k", "pose"))
        pose = plant.GetBodyByName("rod").EvalPoseInWorld(context)
        np.testing.assert_allclose(pose.rotation().matrix(), turn.matrix(), rtol=0.0, atol=1e-15)
        np.testing.assert_allclose(plant.GetVelocities(context), turn.matrix()[:, 1], rtol=0.0, atol=1e-15)


def test_plants_of_scripts_take_the_setting_too():
    for kind, count in (("quaternion", 4), ("drake", 3)):
        plant = MultibodyPlant(0.0)
        plant.settings.ball_joints = kind
        Parser(plant).AddModelsFromString(SDF, "sdf")
        plant.Finalize()
        assert plant.num_positions() == count


@pytest.mark.parametrize("positions, accepted", [([0.1, 0.2, 0.3], True), ([1, 0, 0, 0], True), ([1, 2], False)])
def test_default_positions_of_directives_take_a_quaternion_or_angles(tmp_path, positions, accepted):
    (tmp_path / "m.sdf").write_text(SDF)
    (tmp_path / "d.dmd.yaml").write_text(
        f"directives: [{{add_model: {{name: m, file: m.sdf, default_joint_positions: {{j: {positions}}}}}}}]"
    )
    if not accepted:
        with pytest.raises(RuntimeError, match='joint "j" has 4 positions, default_joint_positions gives 2'):
            load_model(tmp_path / "d.dmd.yaml")
        return
    plant = load_model(tmp_path / "d.dmd.yaml").plant
    joint = plant.GetJointByName("j")
    np.testing.assert_array_equal(plant.GetDefaultPositions(), joint.positions_of(positions))


@pytest.mark.peers("mujoco")
def test_a_chain_of_balls_with_armature_moves_as_in_mujoco():
    import mujoco

    text = """<mujoco><option gravity="0 0 -9.81" integrator="RK4" timestep="0.0005"/><worldbody>
    <body name="a" pos="0 0 1"><joint name="ja" type="ball" damping=".02" armature=".01"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1" contype="0"/>
    <body name="b" pos=".4 0 0" euler="0 30 0"><joint name="jb" type="ball"/>
    <geom type="box" pos="0 .2 0" size=".05 .2 .03" mass=".5" contype="0" conaffinity="0"/></body></body>
    </worldbody></mujoco>"""
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    data.qvel[:] = [0.3, -0.2, 1.0, 2.0, 0.0, -1.0]
    model = load_model(ModelText(text.encode()), file_type="mjcf", dt=0.0)
    names = [f"{joint}_{suffix}" for joint in ("ja", "jb") for suffix in ("wx", "wy", "wz")]
    log = simulate(model, 0.5, start=dict(zip(names, data.qvel, strict=True)), log_rate=100.0)
    for _ in range(1000):
        mujoco.mj_step(theirs, data)
    ours = log.q[-1]
    for k in (0, 4):
        assert abs(abs(ours[k : k + 4] @ data.qpos[k : k + 4]) - 1.0) < 1e-8
