"""The forces in joints of a run, and the figures by which motors and bearings are chosen."""

import csv
import io
import json

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.log.fields.reactions import PARTS
from mbcli.log.reader import Log
from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.tree import MultibodyForces
from mbcli.simulation import simulate

G = 9.81
ARM, FOUR_BAR = SAMPLES / "arm7.urdf", SAMPLES / "closed_chains" / "four_bar.urdf"


def unbalanced(plant, context, joint_forces, pushes=()):
    """By how much Newton's and Euler's equations of some body are missed, relative to the largest force or moment.

    joint_forces: (joints, 6) F_CJc_Jc. The accelerations are those of the context.
    """
    bodies = plant.elements.bodies
    sums = {body: np.zeros(6) for body in bodies}
    for joint, values in zip(plant.elements.joints, joint_forces, strict=True):
        X_WJ = joint.frame_on_child().CalcPoseInWorld(context)
        F_W = SpatialForce(F=values).Rotate(X_WJ.rotation())
        for body, sign in ((joint.child_body(), 1.0), (joint.parent_body(), -1.0)):
            arm = X_WJ.translation() - body.EvalPoseInWorld(context).translation()
            sums[body] += sign * F_W.Shift(-arm).get_coeffs()
    elements = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, elements)
    for name, force in pushes:
        body = plant.GetBodyByName(name)
        arm = body.EvalPoseInWorld(context).rotation() @ body.CalcCenterOfMassInBodyFrame(context)
        sums[body] += SpatialForce(np.zeros(3), np.array(force)).Shift(-arm).get_coeffs()
    worst, largest = 0.0, 1.0
    for body in bodies[1:]:
        sums[body] += body.GetForceInWorld(context, elements).get_coeffs()
        M = body.CalcSpatialInertiaInBodyFrame(context).ReExpress(body.EvalPoseInWorld(context).rotation())
        A, w = body.EvalSpatialAccelerationInWorld(context), body.EvalSpatialVelocityInWorld(context).rotational()
        I, h = M.CalcRotationalInertia().CopyToFullMatrix3(), M.CalcComMoment()
        needed = (M * A).get_coeffs() + np.concatenate([np.cross(w, I @ w), np.cross(w, np.cross(w, h))])
        worst, largest = max(worst, abs(sums[body] - needed).max()), max(largest, abs(needed).max())
    return worst / largest


@pytest.mark.parametrize("model", [ARM, FOUR_BAR])
def test_reactions_of_a_continuous_run_balance_every_body(model):
    """Those of steps: test_newton_euler.py."""
    options = {"contact": False, "dt": 0.0, "fields": "u effort reactions", "log_rate": 100.0}
    plant = load_model(model, contact=False, dt=0.0).plant
    body = plant.elements.bodies[-1].name()
    u = np.linspace(1.0, 2.0, plant.num_actuators())
    push = (body, (3.0, -2.0, 5.0))
    log = simulate(model, 0.05, inputs=u, pushes=f"{body}=3,-2,5 from 0.02", **options)
    context = plant.CreateDefaultContext()
    port = plant.get_applied_spatial_force_input_port()
    for row in (1, 3, 5):
        plant.SetPositions(context, log.q[row])
        plant.SetVelocities(context, log.v[row])
        if plant.num_actuators():
            plant.get_actuation_input_port().FixValue(context, log.u[row])
        acting = [push] if log.times[row] >= 0.02 - 1e-9 else []
        port.FixValue(context, [applied(plant, *each) for each in acting])
        forces = log.field("derived/reactions")[row].reshape(-1, 6)
        assert forces.any() and unbalanced(plant, context, forces, acting) < 1e-10


LENGTH, BASE, ROD, COUPLER, AHEAD = (
    0.5,
    0.8,
    1.2,
    3.0,
    0.15,
)  # [m], [m], [kg], [kg], [m] of the coupler's centre of mass


def parallelogram():
    """Two uniform rods hang on World and carry a coupler, whose centre of mass is not in its middle: SDFormat."""

    def link(name, x, z, mass, moment, com):
        inertia = f"<ixx>{moment}</ixx><iyy>{moment}</iyy><izz>{moment}</izz>"
        return (
            f'<link name="{name}"><pose>{x} 0 {z} 0 0 0</pose><inertial><pose>{com} 0 0 0</pose><mass>{mass}</mass>'
            f"<inertia>{inertia}</inertia></inertial></link>"
        )

    def hinge(name, parent, child, pose):
        axis = "<axis><xyz>0 -1 0</xyz><limit><effort>0</effort></limit></axis>"
        return (
            f'<joint name="{name}" type="revolute"><parent>{parent}</parent><child>{child}</child>'
            f"<pose>{pose} 0 0 0</pose>{axis}</joint>"
        )

    rods = "".join(
        link(f"rod_{k}", x, 0, ROD, ROD * LENGTH**2 / 12, f"0 0 {-LENGTH / 2}") for k, x in enumerate((0, BASE))
    )
    coupler = link("coupler", BASE / 2, -LENGTH, COUPLER, 0.2, f"{AHEAD} 0 0")
    ends = hinge("a", "rod_0", "coupler", f"{-BASE / 2} 0 0"), hinge("b", "rod_1", "coupler", f"{BASE / 2} 0 0")
    pivots = hinge("o", "world", "rod_0", "0 0 0"), hinge("p", "world", "rod_1", "0 0 0")
    return f'<sdf version="1.9"><model name="m">{rods}{coupler}{"".join(pivots + ends)}</model></sdf>'


def bearing_forces(angle, rate):
    """Forces (4, 2) along x and z on the children in the bearings o, p, a, b of the parallelogram, in closed form.

    The coupler translates on a circle. Its moments about its centre of mass say how its ends share the vertical force,
    those of a rod about its pivot the force across the rod, and its forces the rest.
    """
    down, across = np.array([np.sin(angle), -np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    weight = np.array([0.0, G])
    turning = -(COUPLER + ROD) * G * np.sin(angle) / ((COUPLER + 2.0 * ROD / 3.0) * LENGTH)
    acceleration = LENGTH * (turning * across - rate**2 * down)
    vertical = COUPLER * (acceleration + weight)[1]
    forces = []
    for share in (0.5 - AHEAD / BASE, 0.5 + AHEAD / BASE):
        z, force_across = share * vertical, -ROD * LENGTH * turning / 3.0 - 0.5 * ROD * G * np.sin(angle)
        forces.append(np.array([(force_across - z * np.sin(angle)) / np.cos(angle), z]))
    return np.array([*(ROD * (0.5 * acceleration + weight) + force for force in forces), *forces])


@pytest.mark.parametrize(("dt", "most"), [(0.0, 1e-8), (0.001, 4e-3)])
def test_the_bearings_of_a_swinging_four_bar_carry_what_mechanics_says(dt, most):
    model = ModelText(parallelogram().encode(), "four_bar.sdf")
    start = {"o": 0.7, "p": 0.7, "a": -0.7}
    exact = {"integrator": "runge_kutta3", "accuracy": 1e-9} if dt == 0.0 else {"dt": dt}
    log = simulate(model, 0.6, contact=False, start=start, fields="reactions", log_rate=50.0, **exact)
    plant = load_model(model, contact=False, dt=dt).plant
    context, angles = plant.CreateDefaultContext(), log.column("o_q")
    assert np.ptp(angles) > 1.0  # it swings through
    for row, (q, v) in enumerate(zip(log.q, log.v, strict=True)):
        plant.SetPositions(context, q)
        expected = bearing_forces(angles[row], v[plant.GetJointByName("o").velocity_start()])
        reactions = log.field("derived/reactions")[row].reshape(-1, 6)
        found = []
        for name in "opab":
            joint = plant.GetJointByName(name)
            F = SpatialForce(F=reactions[plant.elements.joints.index(joint)])
            F_W = F.Rotate(joint.frame_on_child().CalcPoseInWorld(context).rotation())
            found.append(F_W.translational()[[0, 2]])
            assert abs(F_W.rotational()[1]) < most * COUPLER * G  # a bearing turns freely
        np.testing.assert_allclose(found, expected, atol=most * COUPLER * G, rtol=0)


def applied(plant, name, force):
    from mbcli.multibody.plant import ExternallyAppliedSpatialForce

    body, one = plant.GetBodyByName(name), ExternallyAppliedSpatialForce()
    one.body_index, one.p_BoBq_B = body.index(), body.default_com()
    one.F_Bq_W = SpatialForce(np.zeros(3), np.array(force))
    return one


def test_the_moment_about_the_axis_of_a_held_joint_is_its_effort():
    """Of joints that are held still: the reaction carries the weight, its part along the axis is the motor's."""
    log = simulate(
        ARM,
        0.05,
        start={"joint_2": 0.4},
        hold=True,
        contact=False,
        fields="effort reactions",
        log_rate=0,
        weld_base=False,
    )
    plant = load_model(ARM).plant
    forces = log.field("derived/reactions")[-1].reshape(-1, 6)
    for k, actuator in enumerate(plant.elements.actuators):
        joint = plant.elements.joints.index(actuator.joint())
        along = forces[joint, :3] @ actuator.joint().axis()
        assert along == pytest.approx(log.field("derived/effort")[-1, k], rel=1e-6, abs=1e-6)
    weight = G * plant.CalcTotalMass(plant.CreateDefaultContext())
    assert np.linalg.norm(forces[0, 3:]) == pytest.approx(weight, rel=1e-6)


def test_the_tension_of_a_pendulum_in_its_log(tmp_path):
    """From rest at the height of the hinge a point mass swings through the bottom with the tension 3 m g."""
    path = tmp_path / "swing.urdf"
    inertia = '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>'
    path.write_text(
        '<robot name="p"><link name="world"/><link name="bob"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>'
        f'{inertia}</inertial></link><joint name="hinge" type="continuous"><parent link="world"/><child link="bob"/>'
        '<axis xyz="0 1 0"/></joint></robot>'
    )
    words = ["simulate", path, "--at", f"hinge={np.pi / 2}", "--integrator", "runge_kutta5", "--accuracy", "1e-10"]
    run = tmp_path / "run.h5"
    succeed(*words, "-t", "2", "--log-rate", "2000", "--fields", "reactions", "-o", run)
    with Log(str(run)) as log:
        assert log.row_shape("derived/reactions") == (len(PARTS),)
    found = json.loads(succeed("loads", run, "--json").out)
    (joint,) = [each for each in found["joints"] if each["joint"] == "p_hinge"]
    assert joint["peak_force"] == pytest.approx(3.0 * 2.0 * G, rel=1e-5)
    assert joint["radial_force"] == pytest.approx(joint["peak_force"]) and joint["axial_force"] < 1e-9
    assert joint["bending_moment"] < 1e-9 and found["actuators"] == []
    assert joint["force_percentiles"] == sorted(joint["force_percentiles"])
    assert joint["force_percentiles"][2] <= joint["peak_force"]


def test_figures_of_a_slide_that_is_moved_by_a_known_force(tmp_path):
    """x = A sin(w t): the force is -m A w^2 sin(w t), the power its product with the speed."""
    path, plan, run = tmp_path / "cart.urdf", tmp_path / "plan.csv", tmp_path / "run.h5"
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    path.write_text(
        f'<robot name="c"><link name="world"/><link name="b"><inertial><mass value="2"/>{inertia}</inertial></link>'
        '<joint name="x" type="prismatic"><parent link="world"/><child link="b"/><axis xyz="1 0 0"/>'
        '<limit lower="-9" upper="9" effort="90" velocity="9"/></joint></robot>'
    )
    m, A, w = 2.0, 0.1, 2.0 * np.pi
    times = np.linspace(0.0, 2.5, 501)  # longer than the run: at its end a plan stops
    rows = [f"{t:.17g},{A * np.sin(w * t):.17g},{A * w * np.cos(w * t):.17g}" for t in times]
    plan.write_text("time,c_x_x,c_x_v\n" + "\n".join(rows) + "\n")
    words = ["--trajectory", plan, "--follow", "prescribed", "-t", "2", "--log-rate", "0", "--no-contact"]
    succeed("simulate", path, *words, "-o", run)
    text = succeed("loads", run).out
    assert "c_x" in text and "prescribed" not in text
    (load,) = json.loads(succeed("loads", run, "--json").out)["actuators"]
    assert abs(load["peak_effort"]) == pytest.approx(m * A * w**2, rel=0.01)
    assert load["rms_effort"] == pytest.approx(m * A * w**2 / np.sqrt(2.0), rel=0.01)
    assert abs(load["peak_speed"]) == pytest.approx(A * w, rel=0.01)
    assert abs(load["peak_power"]) == pytest.approx(m * A**2 * w**3 / 2.0, rel=0.02)
    assert load["energy"] == pytest.approx(4 * m * (A * w) ** 2 / 2.0, rel=0.02)  # four times from rest to full speed
    assert load["energy_back"] == pytest.approx(load["energy"], rel=0.02)
    assert load["effort_limit"] == 90.0 and load["duty"] == 0.0
    rows = list(csv.DictReader(io.StringIO(succeed("loads", run, "--csv").out)))
    assert float(rows[0]["rms_effort"]) == load["rms_effort"]


def test_inverse_dynamics_names_the_forces_in_joints_of_a_motion():
    vdot = [0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7]
    words = ["inverse-dynamics", ARM, "--q", "0.1 0.5 0 -1 0 0.3 0", "--v", "1 0 0.2 0 0 0 0.1"]
    result = json.loads(succeed(*words, "--vdot", " ".join(map(str, vdot)), "--reactions", "--json").out)
    plant = load_model(ARM).plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, result["q"])
    plant.SetVelocities(context, result["v"])
    A_WB = plant.CalcSpatialAccelerationsFromVdot(context, np.array(vdot))
    for entry, A in zip(result["accelerations"], A_WB, strict=True):
        assert entry["A_WB"] == pytest.approx(A.get_coeffs(), abs=1e-12)
    for entry, joint in zip(result["reactions"], plant.elements.joints, strict=True):
        assert (entry["joint"], entry["body"]) == (joint.name(), joint.child_body().name())
        if joint.num_velocities():
            along = np.array(entry["F_BMo_M"][:3]) @ joint.axis()
            damping = joint.default_damping_vector()[0] * result["v"][joint.velocity_start()]
            rotor = plant.model.dof_armature[joint.velocity_start()] * vdot[joint.velocity_start()]
            # what turns the child is the motor's effort less what its rotor and the friction take
            assert along == pytest.approx(result["tau"][joint.velocity_start()] - damping - rotor, rel=1e-9, abs=1e-9)
    assert cli(*words, "--reactions", "--no-gravity").code == 2


def test_logs_without_loads_are_refused(tmp_path):
    run = tmp_path / "run.h5"
    succeed("simulate", SAMPLES / "double_pendulum.urdf", "--no-contact", "-t", "0.05", "--fields", "energy", "-o", run)
    refused = cli("loads", run)
    assert refused.code == 3 and "run with --fields reactions" in refused.err


def test_loads_of_chosen_actuators_and_joints(tmp_path):
    run = tmp_path / "run.h5"
    options = ("--no-contact", "-t", "0.05", "--fields", "u,reactions")
    succeed("simulate", SAMPLES / "double_pendulum.urdf", *options, "-o", run)
    whole = json.loads(succeed("loads", run, "--json").out)
    found = json.loads(succeed("loads", run, "--names", "elbow", "--json").out)
    (joint,) = found["joints"]
    assert joint["joint"] == "double_pendulum_elbow" and joint in whole["joints"] and len(whole["joints"]) > 1
    assert found["actuators"] == [each for each in whole["actuators"] if each["actuator"].endswith("elbow")]
    wrong = cli("loads", run, "--names", "elbw")
    assert wrong.code == 2 and "no loads of 'elbw'" in wrong.err and wrong.err.count("\n") == 1
