"""LinearBushingRollPitchYaw: golden values, geometry, dissipation, errors; and the choice of its constants."""

import math

import numpy as np
import pytest
from force_element_scene import mbcli, pydrake, random_states, scene

from mbcli.engine import load_kernels
from mbcli.errors import NumericalError
from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import (
    DoorHinge,
    DoorHingeConfig,
    FixedOffsetFrame,
    LinearBushingRollPitchYaw,
    MultibodyForces,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
    bushing_design,
)
from mbcli.systems.analysis import SimulatorConfig

CONSTANTS = ([10.0, 20.0, 30.0], [1.0, 2.0, 3.0], [100.0, 200.0, 300.0], [5.0, 6.0, 7.0])
GOLDEN = 1e-8  # the specification prints nine decimals
# Rounding of poses, some 1e-16, times stiffnesses up to 300.
ROUNDING = 1e-13


def mounted(constants=CONSTANTS, time_step=0.0, model_instance=None):
    """A free body C on a bushing from World (frame A), with C's frame off its origin and turned."""
    plant = MultibodyPlant(time_step)
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    inertia = SpatialInertia.MakeFromCentralInertia(2.0, [0.1, 0.0, 0.2], RotationalInertia(0.1, 0.2, 0.25))
    instance = plant.AddModelInstance("mounts")
    body = plant.AddRigidBody("body", instance, inertia)
    X_BC = RigidTransform(RollPitchYaw(0.4, -0.2, 0.3), [0.1, -0.2, 0.3])
    frame_C = plant.AddFrame(FixedOffsetFrame("C", body.body_frame(), X_BC))
    bushing = plant.AddForceElement(LinearBushingRollPitchYaw(plant.world_frame(), frame_C, *constants))
    plant.Finalize()
    return plant, bushing


def place(plant, bushing, rpy, p_AoCo_A, w_AC_A=(0.0, 0.0, 0.0), v_ACo_A=(0.0, 0.0, 0.0)):
    """A context with frame C there; A is World."""
    context = plant.CreateDefaultContext()
    set_place(plant, bushing, context, RotationMatrix(RollPitchYaw(*rpy)), p_AoCo_A, w_AC_A, v_ACo_A)
    return context


def set_place(plant, bushing, context, R_AC, p_AoCo_A, w_AC_A, v_ACo_A):
    body = bushing.link1()
    X_CB = bushing.frameC().GetFixedPoseInBodyFrame().inverse()
    plant.SetFreeBodyPose(context, body, RigidTransform(R_AC, p_AoCo_A) @ X_CB)
    V_AC = SpatialVelocity(w_AC_A, v_ACo_A)
    plant.SetFreeBodySpatialVelocity(context, body, V_AC.Shift(R_AC @ X_CB.translation()))


# golden values


def test_forces_on_both_frames_have_the_golden_values():
    """tree (c) 15: the numbers with the rate that turns with half of w_AC."""
    plant, bushing = mounted()
    context = place(plant, bushing, (0.3, -0.4, 0.5), (0.1, 0.2, -0.3), (0.2, -0.1, 0.4), (0.05, -0.02, 0.03))
    expected_C = [-4.149782835, 6.820763484, -17.798348398, 4.339153574, -0.01117423, 106.195018034]
    expected_A = [-1.775749563, -6.620479441, 16.655752942, 16.111564488, 44.57443209, -95.130162028]
    F_C_C = bushing.CalcBushingSpatialForceOnFrameC(context).get_coeffs()
    F_A_A = bushing.CalcBushingSpatialForceOnFrameA(context).get_coeffs()
    np.testing.assert_allclose(F_C_C, expected_C, rtol=0.0, atol=GOLDEN)
    np.testing.assert_allclose(F_A_A, expected_A, rtol=0.0, atol=GOLDEN)
    # torque t on C at the middle, expressed in A
    t, f, p_AoBo = bushing._force_on_C(context)
    np.testing.assert_allclose(t, [-1.051101826, 8.96025287, -16.038187786], rtol=0.0, atol=GOLDEN)
    np.testing.assert_allclose(p_AoBo, [0.05, 0.1, -0.15], atol=1e-14)
    # power: that of the gimbal torques and of f and the rates of x, y, z, exactly
    assert t @ [0.2, -0.1, 0.4] + f @ np.subtract(
        (0.05, -0.02, 0.03), np.cross((0.2, -0.1, 0.4), p_AoBo)
    ) == pytest.approx(-5.134027047, abs=GOLDEN)


def test_x_y_z_are_along_the_axes_halfway_between_the_frames():
    """tree (c) 15: golden x, y, z in B, and R_AB R_AB = R_AC for angles up to near half a turn."""
    half = load_kernels(False).half_rotation(0.3, -0.4, 0.5)
    R_AB = rotation_of(half)
    np.testing.assert_allclose(R_AB.T @ [0.1, 0.2, -0.3], [0.091527495, 0.109680114, -0.345822195], atol=GOLDEN)
    rng = np.random.default_rng(3)
    angles = rng.uniform([-np.pi, -1.5, -np.pi], [np.pi, 1.5, np.pi], (500, 3))
    edges = [[np.pi, 0.2, 0.1], [-np.pi + 1e-9, 0.0, 0.0], [0.3, 1.56, np.pi], [0.0, 0.0, np.pi - 1e-12]]
    for rpy in [*angles, *edges]:
        half = load_kernels(False).half_rotation(*np.asarray(rpy))
        R_AB = rotation_of(half)
        R_AC = RotationMatrix(RollPitchYaw(*rpy)).matrix()
        np.testing.assert_allclose(R_AB @ R_AB, R_AC, rtol=0.0, atol=1e-14)
        assert half[0] >= math.sqrt(0.5) - 1e-15  # at most a quarter turn
        assert np.linalg.norm(half) == pytest.approx(1.0, abs=1e-15)


def rotation_of(wxyz):
    turn = load_kernels(False).turn
    return np.column_stack([turn(wxyz, 1.0, tuple(column)) for column in np.eye(3)])


def test_turning_back_undoes_turning():
    kernels = load_kernels(False)
    half = kernels.half_rotation(0.3, -0.4, 0.5)
    there = kernels.turn(half, 1.0, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(kernels.turn(half, -1.0, there), [1.0, 2.0, 3.0], atol=1e-14)


def test_gimbal_torques_are_linear_in_roll_pitch_and_yaw_and_their_rates():
    """t = N^T tau: power t . w_AC = tau . rates, tau from RollPitchYaw's own functions."""
    plant, bushing = mounted((CONSTANTS[0], CONSTANTS[1], np.zeros(3), np.zeros(3)))
    rng = np.random.default_rng(5)
    for _ in range(50):
        rpy = RollPitchYaw(*rng.uniform([-3.0, -1.4, -3.0], [3.0, 1.4, 3.0]))
        w = rng.normal(size=3)
        context = place(plant, bushing, rpy.vector(), np.zeros(3), w, np.zeros(3))
        rates = rpy.CalcRpyDtFromAngularVelocityInParent(w)
        tau = -np.multiply(CONSTANTS[0], rpy.vector()) - np.multiply(CONSTANTS[1], rates)
        t = bushing.CalcBushingSpatialForceOnFrameA(context).rotational()
        assert -t @ w == pytest.approx(tau @ rates, rel=1e-11)
        for axis in np.eye(3):
            direction = rpy.CalcRpyDtFromAngularVelocityInParent(axis)
            assert -t @ axis == pytest.approx(tau @ direction, rel=1e-11, abs=1e-11)


# balance and dissipation


def test_the_forces_of_a_bushing_cancel_and_their_moments_about_the_origins_are_equal():
    """tree (c) 15: tree 1.10: no net wrench about any point, and the moment of -f about Ao is that of f about Co."""
    plant = scene(mbcli(), ("bushing",))
    bushing = plant.get_force_element(plant.get_force_element(1).index())
    context = plant.CreateDefaultContext()
    for x in random_states(plant, 20):
        plant.SetPositionsAndVelocities(context, x)
        X_WA, X_WC = (frame.CalcPoseInWorld(context) for frame in (bushing.frameA(), bushing.frameC()))
        F_A = bushing.CalcBushingSpatialForceOnFrameA(context).Rotate(X_WA.rotation())
        F_C = bushing.CalcBushingSpatialForceOnFrameC(context).Rotate(X_WC.rotation())
        net = F_A.Shift(-X_WA.translation()).get_coeffs() + F_C.Shift(-X_WC.translation()).get_coeffs()
        np.testing.assert_allclose(net, np.zeros(6), atol=1e-11)
        t, f, half = bushing._force_on_C(context)
        np.testing.assert_allclose(F_A.rotational() + t, F_C.rotational() - t, atol=1e-11)
        np.testing.assert_allclose(F_A.rotational() + t, -np.cross(half, f), atol=1e-11)


def test_damping_dissipates_in_ten_thousand_states():
    """tree (c) 15: with B turning as it does the power would be positive in some; with half of w_AC in none."""
    plant, bushing = mounted((np.zeros(3), CONSTANTS[1], np.zeros(3), CONSTANTS[3]))
    context = plant.CreateDefaultContext()
    rng = np.random.default_rng(6)
    for _ in range(10_000):
        rpy = rng.uniform([-np.pi, -1.55, -np.pi], [np.pi, 1.55, np.pi])
        w, v = rng.normal(size=(2, 3)) * 3.0
        set_place(plant, bushing, context, RotationMatrix(RollPitchYaw(*rpy)), rng.normal(size=3), w, v)
        F_A_A = bushing.CalcBushingSpatialForceOnFrameA(context)
        # the power on C is that of -F_A about Ao, as A rests: moment . w + force . velocity of C's point at Ao
        p = bushing.frameC().CalcPoseInWorld(context).translation()
        power = -F_A_A.rotational() @ w - F_A_A.translational() @ (v - np.cross(w, p))
        assert power < 0.0


def test_stretch_and_twist_are_pushed_back():
    """tree (c) 1."""
    plant, bushing = mounted()
    for k in range(3):
        p = np.zeros(3)
        p[k] = 1e-3
        force = bushing.CalcBushingSpatialForceOnFrameC(place(plant, bushing, np.zeros(3), p)).translational()
        np.testing.assert_allclose(force, -np.asarray(CONSTANTS[2]) * p, atol=ROUNDING)
        torque = bushing.CalcBushingSpatialForceOnFrameC(place(plant, bushing, p, np.zeros(3))).rotational()
        np.testing.assert_allclose(torque, -np.asarray(CONSTANTS[0]) * p, atol=ROUNDING)


def test_a_soft_bushing_swings_with_its_natural_frequency():
    """x'' = -k/m x along one axis, for a body whose mass is at the frame."""
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    inertia = SpatialInertia.MakeFromCentralInertia(2.0, np.zeros(3), RotationalInertia(0.1, 0.2, 0.25))
    body = plant.AddRigidBody("body", inertia)
    plant.AddForceElement(
        LinearBushingRollPitchYaw(
            plant.world_frame(), body.body_frame(), [1.0, 1.0, 1.0], np.zeros(3), [50.0, 60.0, 70.0], np.zeros(3)
        )
    )
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [1.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0])
    config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=1e-10)
    blocks = list(Run(plant, context, 1.0, config=config, sample_period=0.25).blocks())
    x = np.concatenate([b.q[:, 4] for b in blocks])
    np.testing.assert_allclose(x, 0.1 * np.cos(5.0 * np.linspace(0.0, 1.0, 5)), atol=1e-9)
    assert np.isnan(np.concatenate([b.energy[:, 1] for b in blocks])).all()


# parameters and errors


def test_constants_are_parameters_of_a_context():
    plant, bushing = mounted()
    names = ("TorqueStiffness", "TorqueDamping", "ForceStiffness", "ForceDamping")
    defaults = ("torque_stiffness", "torque_damping", "force_stiffness", "force_damping")
    first = place(plant, bushing, (0.3, -0.4, 0.5), (0.1, 0.2, -0.3), (0.2, -0.1, 0.4), (0.05, -0.02, 0.03))
    second = first.Clone()
    new = np.random.default_rng(7).uniform(0.5, 5.0, (4, 3))
    for name, default, value, constants in zip(names, defaults, new, CONSTANTS, strict=True):
        getattr(bushing, f"Set{name}Constants")(first, value)
        np.testing.assert_array_equal(getattr(bushing, f"Get{name}Constants")(first), value)
        np.testing.assert_array_equal(getattr(bushing, f"Get{name}Constants")(second), constants)
        np.testing.assert_array_equal(getattr(bushing, f"{default}_constants")(), constants)
        for wrong in ([-1.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [1.0, 2.0]):
            with pytest.raises(RuntimeError, match=f"'world' and 'C'.*{default}_constants"):
                getattr(bushing, f"Set{name}Constants")(first, wrong)
        getattr(bushing, f"Get{name}Constants")(first)[0] = 99.0
        np.testing.assert_array_equal(getattr(bushing, f"Get{name}Constants")(first), value)
    built, other = mounted(tuple(new))
    context = place(built, other, (0.3, -0.4, 0.5), (0.1, 0.2, -0.3), (0.2, -0.1, 0.4), (0.05, -0.02, 0.03))
    for calculate in ("CalcBushingSpatialForceOnFrameA", "CalcBushingSpatialForceOnFrameC"):
        ours, theirs = (getattr(b, calculate)(c).get_coeffs() for b, c in ((bushing, first), (other, context)))
        np.testing.assert_array_equal(ours, theirs)
        assert abs(getattr(bushing, calculate)(second).get_coeffs() - ours).max() > 1.0
    np.testing.assert_array_equal(plant.CalcForwardDynamics(first), built.CalcForwardDynamics(context))


def test_what_a_bushing_connects():
    plant, bushing = mounted()
    assert bushing.frameA() is plant.world_frame()
    assert bushing.frameC().name() == "C"
    assert bushing.link0() is plant.world_body()
    assert bushing.link1().name() == "body"
    assert bushing.model_instance() == plant.GetModelInstanceByName("mounts")


@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_negative_and_not_finite_constants_are_refused(k, value):
    """tree (c) 15."""
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body")
    constants = [list(c) for c in CONSTANTS]
    constants[k][1] = value
    names = ("torque_stiffness", "torque_damping", "force_stiffness", "force_damping")
    with pytest.raises(RuntimeError, match=f"'world' and 'body'.*{names[k]}_constants.*{value}"):
        LinearBushingRollPitchYaw(plant.world_frame(), body.body_frame(), *constants)
    loose = LinearBushingRollPitchYaw(plant.world_frame(), body.body_frame(), *CONSTANTS)
    for call in (loose.frameA, loose.frameC, loose.link0, loose.link1):
        with pytest.raises(RuntimeError, match="not been added"):
            call()
    with pytest.raises(RuntimeError, match="not part of this plant"):
        MultibodyPlant(0.0).AddForceElement(loose)


def test_energy_and_power_are_refused():
    """spec/tree.md 1.10, subtlety 2: the force is not conservative where its stiffnesses differ."""
    plant, bushing = mounted()
    context = plant.CreateDefaultContext()
    for method in ("CalcPotentialEnergy", "CalcConservativePower", "CalcNonConservativePower"):
        for owner in (bushing, plant):
            with pytest.raises(RuntimeError, match="'world' and 'C'.*not conservative"):
                getattr(owner, method)(context)


def work_around_a_loop(constants):
    """Work of the bushing's force on C around a closed loop of poses, by Simpson's rule."""
    plant, bushing = mounted(constants)
    context = plant.CreateDefaultContext()
    n, power = 400, []
    for s in np.linspace(0.0, 2.0 * np.pi, n + 1):
        rpy = RollPitchYaw(0.4 * np.sin(s), 0.3 * np.cos(s), 0.5 * np.sin(2.0 * s))
        rates = np.array([0.4 * np.cos(s), -0.3 * np.sin(s), np.cos(2.0 * s)])
        w = rpy.CalcAngularVelocityInParentFromRpyDt(rates)
        p = np.array([0.1 * np.cos(s), 0.2 * np.sin(s), 0.15 * np.cos(s + 1.0)])
        v = np.array([-0.1 * np.sin(s), 0.2 * np.cos(s), -0.15 * np.sin(s + 1.0)])
        set_place(plant, bushing, context, RotationMatrix(rpy), p, w, v)
        F_A_A = bushing.CalcBushingSpatialForceOnFrameA(context)
        power.append(-F_A_A.rotational() @ w - F_A_A.translational() @ (v - np.cross(w, p)))
    weights = np.full(n + 1, 2.0)
    weights[1::2], weights[0], weights[-1] = 4.0, 1.0, 1.0
    return 2.0 * np.pi / n / 3.0 * weights @ power


def test_only_equal_force_stiffnesses_are_conservative():
    """Why there is no potential energy: work is left over after a closed loop."""
    zero = np.zeros(3)
    assert abs(work_around_a_loop((zero, zero, [100.0, 50.0, 300.0], zero))) > 0.01
    assert abs(work_around_a_loop((zero, zero, [100.0, 100.0, 100.0], zero))) < 1e-10
    assert abs(work_around_a_loop((CONSTANTS[0], zero, zero, zero))) < 1e-10


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("time_step", [0.0, 0.01])
def test_near_gimbal_lock_forces_raise_and_runs_stop_at_the_last_good_state(sign, time_step):
    """tree (c) 15: at 0.45 degrees from it, not at 0.47."""
    plant, bushing = mounted(time_step=time_step)
    good = place(plant, bushing, (0.1, sign * np.deg2rad(90.0 - 0.47), 0.2), (0.1, 0.2, 0.3))
    assert np.isfinite(bushing.CalcBushingSpatialForceOnFrameA(good).get_coeffs()).all()
    assert np.isfinite(plant.CalcForwardDynamics(good)).all()
    bad = place(plant, bushing, (0.1, sign * np.deg2rad(90.0 - 0.45), 0.2), (0.1, 0.2, 0.3))
    forces = MultibodyForces(plant)
    for call in (
        lambda: bushing.CalcBushingSpatialForceOnFrameA(bad),
        lambda: bushing.CalcBushingSpatialForceOnFrameC(bad),
        lambda: bushing.CalcAndAddForceContribution(bad, forces),
        lambda: plant.CalcForceElementsContribution(bad, forces),
        lambda: plant.CalcForwardDynamics(bad),
        lambda: plant.CalcRequiredForces(bad),
        lambda: list(Run(plant, bad, 1.0).blocks()),
    ):
        with pytest.raises(NumericalError, match="'world' and 'C'.*gimbal lock"):
            call()
    assert not forces.F_Bo_W.any()
    # a body that turns into it
    moving = place(plant, bushing, (0.0, sign * 1.4, 0.0), np.zeros(3), (0.0, sign * 8.0, 0.0), np.zeros(3))
    for setter in ("SetTorqueStiffnessConstants", "SetTorqueDampingConstants"):
        getattr(bushing, setter)(moving, np.zeros(3))
    config = SimulatorConfig(integration_scheme="explicit_euler", max_step_size=1e-4)
    with pytest.raises(NumericalError, match="gimbal lock.*in step"):
        list(Run(plant, moving, 1.0, config=config).blocks()) if time_step == 0.0 else crawl(plant, bushing, moving)
    assert np.isfinite(plant.GetPositionsAndVelocities(moving)).all()


def crawl(plant, bushing, context):
    """Steps whose length the pitch fits exactly, so that one of them ends in gimbal lock."""
    start = np.deg2rad(90.0) - np.deg2rad(0.2)
    for k in range(30):
        set_place(
            plant,
            bushing,
            context,
            RotationMatrix(RollPitchYaw(0.0, start - 0.01 * (3 - k), 0.0)),
            np.zeros(3),
            np.zeros(3),
            np.zeros(3),
        )
        list(Run(plant, context, context.get_time() + plant.time_step()).blocks())


# pydrake


@pytest.mark.peers("pydrake")
def test_forces_agree_with_pydrake():
    """Also for large rotations; and with other constants in the context."""
    rng = np.random.default_rng(8)
    sides = []
    for lib in (mbcli(), pydrake()):
        plant = scene(lib, ("bushing",))
        sides.append((lib, plant, plant.CreateDefaultContext()))
    compared = 0
    for trial in range(100):
        wxyz = rng.normal(size=4)
        x = np.concatenate([rng.normal(size=2), wxyz / np.linalg.norm(wxyz), rng.normal(size=11)])
        constants = rng.uniform(0.0, 10.0, (4, 3))
        values = []
        for lib, plant, context in sides:
            plant.SetPositionsAndVelocities(context, x)
            bushing = plant.get_force_element(lib.ForceElementIndex(1))
            if trial >= 50:
                bushing.SetTorqueStiffnessConstants(context, constants[0])
                bushing.SetTorqueDampingConstants(context, constants[1])
                bushing.SetForceStiffnessConstants(context, constants[2])
                bushing.SetForceDampingConstants(context, constants[3])
            try:
                F_A = bushing.CalcBushingSpatialForceOnFrameA(context).get_coeffs()
                F_C = bushing.CalcBushingSpatialForceOnFrameC(context).get_coeffs()
            except RuntimeError:
                values.append(None)
                continue
            values.append(np.concatenate([F_A, F_C]))
        if values[0] is None or values[1] is None:
            assert values[0] is values[1] is None
            continue
        compared += 1
        scale = max(1.0, abs(values[1]).max())
        np.testing.assert_allclose(*values, rtol=0.0, atol=1e-10 * scale)
    assert compared > 90


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("seed", range(6))
def test_random_trees_with_bushings_agree_with_pydrake(seed):
    """Body forces, generalized forces and accelerations, on trees of every joint type with all force elements."""
    from test_peers_models import TOLERANCE, Side, library, random_plant

    sides = [Side(library(name), random_plant(library(name), seed, bushings=2)) for name in ("mbcli", "pydrake")]
    rng = np.random.default_rng(seed)
    compared = 0
    for _ in range(20):
        q, v = random_coordinates(sides[0].plant, rng), rng.normal(size=sides[0].plant.num_velocities())
        values = []
        for side in sides:
            side.plant.SetPositions(side.context, q)
            side.plant.SetVelocities(side.context, v)
            forces = side.lib.MultibodyForces(side.plant)
            try:
                side.plant.CalcForceElementsContribution(side.context, forces)
            except RuntimeError:
                values.append(None)
                continue
            rows = [body.GetForceInWorld(side.context, forces).get_coeffs() for body in side.bodies]
            xdot = side.plant.EvalTimeDerivatives(side.context).CopyToVector()
            values.append([np.concatenate(rows), forces.generalized_forces(), xdot])
        if any(value is None for value in values):
            assert values == [None, None]
            continue
        compared += 1
        for ours, theirs in zip(*values, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=TOLERANCE * max(1.0, abs(theirs).max()))
    assert compared > 15


def random_coordinates(plant, rng):
    """Positions with unit quaternions, and pitch angles away from gimbal lock."""
    q = rng.uniform(-1.2, 1.2, plant.num_positions())
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.type_name() == "quaternion_floating":
            i = joint.position_start()
            wxyz = rng.normal(size=4)
            q[i : i + 4] = wxyz / np.linalg.norm(wxyz)
    return q


# choosing constants: spec/tree.md (c) 16


def settled(zeta, wn, ratio, until):
    """The time after which |x| stays below a ratio, from the exact response."""
    t = np.linspace(0.0, until, 20_001)
    x = np.array([bushing_design.response(zeta, wn * s) for s in t])
    return t[np.flatnonzero(abs(x) > ratio)[-1]]


@pytest.mark.parametrize(("ratio", "wn_ts"), [(0.01, 6.638), (0.02, 5.834), (0.05, 4.744), (0.10, 3.890)])
def test_settling_times_of_critical_damping(ratio, wn_ts):
    """tree (c) 16; the page prints 6.64, 5.83, 4.74, 3.89."""
    wn = bushing_design.wn_from_settling_time(0.5, 1.0, ratio)
    assert wn * 0.5 == pytest.approx(wn_ts, abs=6e-4)
    assert bushing_design.response(1.0, wn * 0.5) == pytest.approx(ratio, rel=1e-12)


@pytest.mark.parametrize(
    ("ratio", "errors"),
    [
        (0.01, [1.98, 0.005, 2.9e-5, 1.6e-7, 2.4e-12]),
        (0.02, [2.91, 0.016, 1.8e-4, 2.1e-6, 1.6e-10]),
        (0.05, [5.10, 0.076, 2.3e-3, 7.0e-5, 4.4e-8]),
        (0.10, [8.28, 0.258, 1.6e-2, 1.0e-3, 3.3e-6]),
    ],
)
def test_errors_of_the_estimate_of_overdamped_settling(ratio, errors):
    """tree (c) 16: the table of the reference in percent, to its printed digits (rounding below 1e-11 %)."""
    for zeta, error in zip((1.01, 1.1, 1.2, 1.3, 1.5), errors, strict=True):
        exact = bushing_design.wn_from_settling_time(1.0, zeta, ratio)
        estimate = bushing_design.approximate_wn_from_settling_time(1.0, zeta, ratio)
        assert bushing_design.response(zeta, exact) == pytest.approx(ratio, rel=1e-11)
        assert 100.0 * abs(estimate / exact - 1.0) == pytest.approx(error, rel=0.1, abs=3e-12)


def test_underdamped_settling_is_safe_and_near():
    """The envelope's frequency: the vibration has settled by then, and not much before."""
    for zeta in (0.2, 0.4, 0.6):
        for ratio in (0.01, 0.05):
            wn = bushing_design.wn_from_settling_time(1.0, zeta, ratio)
            last = settled(zeta, wn, ratio, 2.0)
            assert 0.6 < last < 1.0
    assert bushing_design.approximate_wn_from_settling_time(0.5, 0.5, 0.01) * 0.25 == pytest.approx(4.605, abs=1e-3)
    assert bushing_design.approximate_wn_from_settling_time(0.5, 0.5, 0.05) * 0.25 == pytest.approx(2.996, abs=1e-3)


def test_responses_solve_their_differential_equation_in_all_three_regimes():
    for zeta in (0.3, 1.0, 1.7):
        h = 1e-4
        for s in (0.0, 0.5, 2.0):
            x = [bushing_design.response(zeta, s + k * h) for k in (-1, 0, 1)]
            rate, acceleration = (x[2] - x[0]) / (2.0 * h), (x[2] - 2.0 * x[1] + x[0]) / h**2
            assert acceleration + 2.0 * zeta * rate + x[1] == pytest.approx(0.0, abs=1e-6)
        assert bushing_design.response(zeta, 0.0) == 1.0


def test_stiffness_and_damping_from_loads_frequencies_and_decay():
    """tree (c) 16: a 2:1 decay has zeta = 0.10965."""
    assert bushing_design.stiffness_from_load(100.0, 1e-3) == 1e5
    assert bushing_design.stiffness_from_frequency(2.0, 5.0) == 50.0
    k, m = 50.0, 2.0
    assert bushing_design.damping_from_frequency(k, 5.0, 0.7) == pytest.approx(14.0)
    assert bushing_design.damping_from_inertia(k, m, 0.7) == pytest.approx(14.0)
    assert bushing_design.damping_ratio_from_decay(2.0) == pytest.approx(0.10965, abs=5e-6)
    zeta = 0.15
    period = 2.0 * np.pi / np.sqrt(1.0 - zeta**2)
    decay = bushing_design.response(zeta, period) / bushing_design.response(zeta, 2.0 * period)
    assert bushing_design.damping_ratio_from_decay(decay) == pytest.approx(zeta, rel=1e-12)


@pytest.mark.parametrize(
    ("joint", "torque", "force"),
    [
        ("revolute", [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]),
        ("prismatic", [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]),
        ("ball", [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
        ("weld", [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
    ],
)
def test_constants_that_stand_for_joints_leave_free_what_the_joint_leaves(joint, torque, force):
    """spec/tree.md 1.10, the table of joints: what a joint leaves free has no stiffness."""
    constants = bushing_design.constants_of_joint(joint, 2.0, 3.0, 4.0, 5.0)
    np.testing.assert_array_equal(constants["torque_stiffness_constants"], np.multiply(2.0, torque))
    np.testing.assert_array_equal(constants["torque_damping_constants"], np.multiply(3.0, torque))
    np.testing.assert_array_equal(constants["force_stiffness_constants"], np.multiply(4.0, force))
    np.testing.assert_array_equal(constants["force_damping_constants"], np.multiply(5.0, force))
    plant, bushing = mounted(tuple(constants.values()))
    built = LinearBushingRollPitchYaw(plant.world_frame(), bushing.frameC(), **constants)
    np.testing.assert_array_equal(built.torque_stiffness_constants(), constants["torque_stiffness_constants"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.stiffness_from_load(1.0, 0.0), "displacement must be greater than 0"),
        (lambda d: d.stiffness_from_load(-1.0, 1.0), "load .* -1"),
        (lambda d: d.stiffness_from_frequency(0.0, 1.0), "inertia"),
        (lambda d: d.stiffness_from_frequency(1.0, -1.0), "frequency .* -1"),
        (lambda d: d.damping_from_frequency(1.0, 0.0), "frequency"),
        (lambda d: d.damping_from_frequency(1.0, 1.0, -0.1), "damping ratio .* -0.1"),
        (lambda d: d.damping_from_inertia(np.nan, 1.0), "stiffness .* nan"),
        (lambda d: d.damping_ratio_from_decay(0.5), "decay ratio .* 0.5"),
        (lambda d: d.wn_from_settling_time(0.0), "settling time"),
        (lambda d: d.wn_from_settling_time(1.0, 0.0), "damping ratio"),
        (lambda d: d.wn_from_settling_time(1.0, 1.0, 1.5), "settling ratio .* 1.5"),
        (lambda d: d.constants_of_joint("screw", 1.0, 1.0, 1.0, 1.0), "'screw'"),
        (lambda d: d.constants_of_joint("revolute", 1.0, 1.0, 1.0, 1.0, axis=3), "axis .* 3"),
        (lambda d: d.constants_of_joint("weld", -1.0, 1.0, 1.0, 1.0), "torque_stiffness_constants .* -1"),
    ],
)
def test_the_design_refuses_what_has_no_answer(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(bushing_design)


def test_the_spring_of_a_hinge_is_found_from_its_torques():
    plant = MultibodyPlant(0.0)
    door = plant.AddRigidBody("door", SpatialInertia.SolidCubeWithMass(1.0, 1.0))
    joint = plant.AddJoint(RevoluteJoint("pin", plant.world_frame(), door.body_frame(), [0, 0, 1]))
    config = DoorHingeConfig(spring_constant=2.5, spring_zero_angle_rad=-0.7)
    hinge = plant.AddForceElement(DoorHinge(joint, config))
    angles = np.linspace(0.5, 1.5, 7)  # beyond the catch
    torques = np.array([hinge.CalcHingeSpringTorque(q) for q in angles])
    noise = 1e-3 * np.random.default_rng(0).normal(size=7)
    assert bushing_design.hinge_spring_from_torques(angles, torques) == pytest.approx((2.5, -0.7), rel=1e-9)
    assert bushing_design.hinge_spring_from_torques(angles, torques + noise) == pytest.approx((2.5, -0.7), rel=5e-3)
    with pytest.raises(RuntimeError, match="two different angles"):
        bushing_design.hinge_spring_from_torques([1.0, 1.0], [-4.0, -4.0])
    with pytest.raises(RuntimeError, match="no spring"):
        bushing_design.hinge_spring_from_torques(angles, angles)
