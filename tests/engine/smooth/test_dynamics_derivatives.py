"""Derivatives of dynamics and of frames in closed form: against complex steps, differences, theorems and Pinocchio."""

import numpy as np
import pytest
from random_trees import MOVING, RATES, joints_of, random_context, random_plant
from repository import SAMPLES
from test_cut_joints import four_bar
from test_derivatives import assert_close, differences

from mbcli.engine import load_kernels
from mbcli.engine.fields.model_fields import DATA_FIELDS
from mbcli.engine.queries.state_batch import has_dynamics_derivatives
from mbcli.engine.runtime.model import Data
from mbcli.errors import ArgumentError, ModelError
from mbcli.models import load_model
from mbcli.multibody.plant import MultibodyPlant, StateFunctions
from mbcli.multibody.tree import BodyIndex, DoorHinge, DoorHingeConfig, FrameIndex

STEP = 1e-30
# trees up to 20 velocities whose inertias span 1e4
ROUNDING = 1e-11

PLANTS = {
    "mixed": {"seed": 1},
    "reversed": {"seed": 2, "reversed_probability": 1.0},
    "weightless": {"seed": 3, "weightless": True, "trees": 2, "floating_bases": 1},
    **{kind: {"seed": 5, "kinds": (kind,), "num_bodies": 3} for kind in MOVING if kind not in RATES},
    "reversed universal": {"seed": 6, "kinds": ("universal", "planar"), "num_bodies": 4, "reversed_probability": 1.0},
    "reversed ball": {"seed": 7, "kinds": ("ball_rpy",), "num_bodies": 3, "reversed_probability": 1.0},
    "reversed floating": {"seed": 8, "kinds": ("quaternion_floating",), "num_bodies": 3, "reversed_probability": 1.0},
    "far away": {"seed": 9, "floating_bases": 1, "base_at": (1e3, -2e3, 3e3)},
}
plants = pytest.mark.parametrize("name", PLANTS)


def scene(name):
    """A plant, its functions, a random context of it, and accelerations or forces."""
    plant = random_plant(**PLANTS[name])
    context = random_context(plant, np.random.default_rng(1))
    return plant, StateFunctions(plant, context), context, np.random.default_rng(2).normal(size=plant.num_velocities())


def state_of(plant, context):
    return plant.GetPositions(context).copy(), plant.GetVelocities(context).copy()


@plants
@pytest.mark.parametrize("jit", ["0", "1"])
def test_derivatives_of_inverse_dynamics_are_those_of_complex_steps(name, jit, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", jit)
    plant, functions, context, vdot = scene(name)
    by_q, by_v, M = functions.inverse_dynamics_derivatives(*state_of(plant, context), vdot)
    expected = plant.CalcDerivatives(context, lambda c: plant.CalcRequiredForces(c, vdot), ("tangent", "v"))
    assert_close(by_q, expected["tangent"], ROUNDING)
    assert_close(by_v, expected["v"], ROUNDING)
    assert_close(M, plant.CalcMassMatrix(context), ROUNDING)


@plants
@pytest.mark.parametrize("jit", ["0", "1"])
def test_derivatives_of_forward_dynamics_are_those_of_complex_steps(name, jit, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", jit)
    plant, functions, context, tau = scene(name)
    by_q, by_v, by_tau = functions.forward_dynamics_derivatives(*state_of(plant, context), tau)
    expected = plant.CalcDerivatives(context, lambda c: plant.CalcAccelerations(c, tau), ("tangent", "v"))
    assert_close(by_q, expected["tangent"], ROUNDING)
    assert_close(by_v, expected["v"], ROUNDING)
    np.testing.assert_allclose(by_tau @ plant.CalcMassMatrix(context), np.eye(len(tau)), rtol=0.0, atol=ROUNDING)


def sample_files():
    return sorted(p for p in SAMPLES.iterdir() if p.suffix in (".urdf", ".sdf", ".xml"))


@pytest.mark.parametrize("path", sample_files(), ids=lambda path: path.name)
def test_derivatives_of_sample_models_are_those_of_differences(path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    plant = load_model(str(path)).plant
    if not plant.num_velocities() or not has_dynamics_derivatives(plant.model):
        pytest.skip("nothing moves, or forces between links")
    functions, rng = StateFunctions(plant), np.random.default_rng(3)
    context = plant.CreateDefaultContext()
    v, vdot = rng.normal(size=(2, plant.num_velocities()))
    N = plant.MakeVelocityToQDotMap(context).toarray()
    q = plant.GetPositions(context) + N @ rng.uniform(-0.3, 0.3, len(v))
    plant.SetPositions(context, q)
    N = plant.MakeVelocityToQDotMap(context).toarray()
    by_q, by_v, M = functions.inverse_dynamics_derivatives(q, v, vdot)
    still = np.zeros(len(v))
    for value, function, start in (
        (by_q, lambda s: functions.inverse_dynamics(q + N @ s, v, vdot), still),
        (by_v, lambda x: functions.inverse_dynamics(q, x, vdot), v),
        (M, lambda x: functions.inverse_dynamics(q, v, x), vdot),
    ):
        expected = differences(function, start, h=1e-3)
        scale = max(abs(value).max(), abs(functions.inverse_dynamics(q, v, vdot)).max(), 1e-3)
        np.testing.assert_allclose(value, expected, rtol=0.0, atol=1e-8 * scale)


# theorems


def test_a_quadratic_force_of_velocities_is_half_its_derivative_along_them():
    """Euler: Cv is homogeneous of degree two in v."""
    plant = random_plant(4, damped=False)
    functions, context = StateFunctions(plant), random_context(plant, np.random.default_rng(5))
    q, v = state_of(plant, context)
    _, by_v, _ = functions.inverse_dynamics_derivatives(q, v, 0.0 * v)
    assert_close(by_v @ v, 2.0 * plant.CalcBiasTerm(context), ROUNDING)


def test_forces_at_rest_have_a_symmetric_stiffness():
    """It is the Hessian of the potential energy where velocities are the rates of positions."""
    plant = random_plant(6, kinds=RATES)
    functions, context = StateFunctions(plant), random_context(plant, np.random.default_rng(7))
    q, v = state_of(plant, context)
    by_q, _, M = functions.inverse_dynamics_derivatives(q, 0.0 * v, 0.0 * v)
    assert_close(by_q, by_q.T, ROUNDING)
    np.testing.assert_array_equal(M, M.T)


def test_the_mass_matrix_changes_at_the_rate_that_keeps_energy():
    """dM/dt = C + C^T for the C with tau_v = 2 C at vdot = 0 symmetrized along v: v . (dM/dt v - 2 Cv) = 0."""
    plant = random_plant(8, kinds=RATES, damped=False)
    functions, context = StateFunctions(plant), random_context(plant, np.random.default_rng(9))
    q, v = state_of(plant, context)
    # dtau_dq along v at accelerations v, less that at none, is dM/dt v
    moved = functions.inverse_dynamics_derivatives(q, v, v)[0] @ v
    still = functions.inverse_dynamics_derivatives(q, v, 0.0 * v)[0] @ v
    rate = moved - still
    power = v @ (rate - 2.0 * plant.CalcBiasTerm(context))
    assert abs(power) <= 1e-12 * abs(v @ rate)


def test_locked_joints_have_no_derivatives():
    plant = random_plant(10, kinds=("revolute", "prismatic", "universal"), num_bodies=6, time_step=0.01)
    context = random_context(plant, np.random.default_rng(11))
    locked = next(j for j in joints_of(plant) if j.num_velocities() == 2)
    locked.Lock(context)
    functions = StateFunctions(plant, context)
    q, v = state_of(plant, context)
    tau, places = np.ones(len(v)), slice(locked.velocity_start(), locked.velocity_start() + 2)
    results = functions.forward_dynamics_derivatives(q, v, tau)
    for value in results:
        assert np.isfinite(value).all()
        assert not value[places].any()
    expected = differences(lambda x: functions.forward_dynamics(q, x, tau), v)
    assert_close(results[1], expected, 1e-8)
    expected = differences(lambda x: functions.forward_dynamics(q, v, x), tau)
    assert_close(results[2], expected, 1e-8)


def test_door_hinges_have_derivatives():
    plant = random_plant(12, kinds=("revolute",), num_bodies=3, finalize=False)
    config = {
        "spring_constant": 2.0,
        "dynamic_friction_torque": 0.7,
        "static_friction_torque": 1.1,
        "viscous_friction": 0.4,
        "catch_torque": 0.9,
        "spring_zero_angle_rad": 0.3,
        "catch_width": 1.5,
        "motion_threshold": 0.8,
    }
    joint = next(plant.get_joint(index) for index in plant.GetJointIndices())
    plant.AddForceElement(DoorHinge(joint, DoorHingeConfig(**config)))
    plant.Finalize()
    functions, context = StateFunctions(plant), random_context(plant, np.random.default_rng(13))
    q, v = state_of(plant, context)
    by_q, by_v, _ = functions.inverse_dynamics_derivatives(q, v, v)
    assert_close(by_q, differences(lambda x: functions.inverse_dynamics(x, v, v), q), 1e-9)
    assert_close(by_v, differences(lambda x: functions.inverse_dynamics(q, x, v), v), 1e-9)


def test_named_derivatives_are_those_of_the_parameters_of_the_context():
    plant, _, context, vdot = scene("mixed")
    before = plant.CalcDerivatives(context, "inverse_dynamics", vdot=vdot)
    body = plant.get_body(BodyIndex(plant.num_bodies() - 1))
    body.SetMass(context, 3.0 * body.get_mass(context))
    after = plant.CalcDerivatives(context, "inverse_dynamics", vdot=vdot)
    expected = plant.CalcDerivatives(context, lambda c: plant.CalcRequiredForces(c, vdot), ("q", "v"))
    for name in ("q", "v"):
        assert_close(after[name], expected[name], ROUNDING)
        assert abs(after[name] - before[name]).max() > 1e-3


# frames


@plants
def test_derivatives_of_frames_are_those_of_complex_steps_and_differences(name):
    plant, functions, context, vdot = scene(name)
    q, v = state_of(plant, context)
    N = plant.MakeVelocityToQDotMap(context).toarray()
    other = plant.CreateDefaultContext()

    def acceleration(frame, q, v):
        plant.SetPositions(other, q)
        plant.SetVelocities(other, v)
        by_body = plant.CalcSpatialAccelerationsFromVdot(other, vdot)
        A = by_body[frame.body().index()]
        p = frame.GetFixedPoseInBodyFrame().translation()
        X_WB, w = frame.body().EvalPoseInWorld(other), frame.body().EvalSpatialVelocityInWorld(other).rotational()
        return A.Shift(X_WB.rotation().matrix() @ p, w).get_coeffs()

    for index in range(1, plant.num_frames(), 4):
        frame = plant.get_frame(FrameIndex(index))
        expected = plant.CalcDerivatives(context, frame.CalcSpatialVelocityInWorld, ("tangent", "v"))
        by_q, by_v = functions.velocity_derivatives(frame)(q, v)
        scale = max(1.0, abs(expected["tangent"]).max(), abs(expected["v"]).max())
        assert abs(by_q - expected["tangent"]).max() <= ROUNDING * scale
        assert abs(by_v - expected["v"]).max() <= ROUNDING * scale
        again, A_by_q, A_by_v, A_by_vdot = functions.acceleration_derivatives(frame)(q, v, vdot)
        np.testing.assert_array_equal(again, by_q)
        np.testing.assert_array_equal(A_by_vdot, by_v)
        for value, function, start in (
            (A_by_q, lambda s, f=frame: acceleration(f, q + N @ s, v), np.zeros(len(v))),
            (A_by_v, lambda x, f=frame: acceleration(f, q, x), v),
        ):
            expected_value = differences(function, start)
            scale = max(1.0, abs(expected_value).max())
            assert abs(value - expected_value).max() <= 1e-8 * scale


def test_world_has_no_derivatives():
    plant, functions, context, vdot = scene("mixed")
    q, v = state_of(plant, context)
    for value in functions.acceleration_derivatives(plant.world_frame())(q, v, vdot):
        assert not value.any()


# kernels


def run_derivative_kernels(model, q, v, x):
    """All derivatives of all frames at a state, of any numbers."""
    kernels, data, nv = load_kernels(False), Data(model.sizes, model.dtype), model.sizes["nv"]
    results = []
    for name in ("inverse", "forward"):
        results += [matrices := np.zeros((3, nv, nv), model.dtype)]
        h = [0.1] if name == "forward" else []
        assert getattr(kernels, f"evaluate_{name}_dynamics_derivatives")(model, data, q, v, x, *h, *matrices) == 0
    frame = model.sizes["nframe"] - 1
    results += [frames := np.zeros((6, 6, nv), model.dtype)]
    assert kernels.evaluate_velocity_derivatives(model, data, q, v, frame, *frames[:2]) == 0
    assert kernels.evaluate_acceleration_derivatives(model, data, q, v, x, frame, *frames[2:]) == 0
    return np.concatenate([r.ravel() for r in results])


@pytest.mark.parametrize("name", ["mixed", "reversed", "weightless"])
def test_second_derivatives_by_complex_steps_are_those_of_differences(name):
    """The kernels of derivatives are analytic themselves."""
    plant, _, context, x = scene(name)
    q, v = state_of(plant, context)
    rng = np.random.default_rng(14)
    dq, dv, dx = rng.normal(size=len(q)), *rng.normal(size=(2, len(v)))
    complex_model = plant.model.replace(dtype=complex)
    step = 1j * STEP
    found = run_derivative_kernels(complex_model, q + step * dq, v + step * dv, x + step * dx).imag / STEP
    expected = differences(lambda t: run_derivative_kernels(plant.model, *(
        start + t[0] * d for start, d in ((q, dq), (v, dv), (x, dx))
    )), np.zeros(1))[:, 0]  # fmt: skip
    assert_close(found, expected, 1e-8)


@pytest.mark.parametrize("name", ["mixed", "reversed", "weightless"])
def test_derivatives_read_nothing_that_an_earlier_call_left(name):
    plant, _, context, x = scene(name)
    (q, v), model, kernels, nv = state_of(plant, context), plant.model, load_kernels(False), plant.num_velocities()
    for call in ("inverse", "forward"):
        evaluate = getattr(kernels, f"evaluate_{call}_dynamics_derivatives")
        clean, spoilt = Data(model.sizes), Data(model.sizes)
        for field in DATA_FIELDS:
            rows = slice(1 if field.shape[0] in ("nbody", "nlink") else 0, None)
            getattr(spoilt, field.name)[rows] = np.nan if field.kind == "real" else -7
        results = np.empty((2, 3, nv, nv))
        h = [0.0] if call == "forward" else []
        evaluate(model, clean, q, v, x, *h, *results[0])
        evaluate(model, spoilt, q, v, x, *h, *results[1])
        np.testing.assert_array_equal(results[1], results[0])


# as functions of Python


def test_results_of_derivatives_go_to_out():
    plant, functions, context, x = scene("mixed")
    q, v = state_of(plant, context)
    frame = plant.get_frame(FrameIndex(plant.num_frames() - 1))
    calls = (
        (functions.inverse_dynamics_derivatives, (q, v, x), np.empty((3, len(v), len(v)))),
        (functions.forward_dynamics_derivatives, (q, v, x), np.empty((3, len(v), len(v)))),
        (functions.velocity_derivatives(frame), (q, v), np.empty((2, 6, len(v)))),
        (functions.acceleration_derivatives(frame), (q, v, x), np.empty((4, 6, len(v)))),
    )
    for call, arguments, out in calls:
        fresh = call(*arguments)
        given = tuple(out)
        for value, target, expected in zip(call(*arguments, out=given), given, fresh, strict=True):
            assert value is target
            np.testing.assert_array_equal(value, expected)
        for value, expected in zip(call(*map(list, arguments)), fresh, strict=True):
            np.testing.assert_array_equal(value, expected)
        with pytest.raises(ArgumentError, match="out is not . arrays"):
            call(*arguments, out=given[:1])
        with pytest.raises(ArgumentError, match="out has shape"):
            call(*arguments, out=[np.empty((1, 1)) for _ in given])
        with pytest.raises(ArgumentError, match="v has shape"):
            call(q, v[:-1], *arguments[2:])


def test_models_whose_forces_have_no_derivatives_are_refused():
    plant = four_bar()
    functions, zeros = StateFunctions(plant), np.zeros(plant.num_velocities())
    with pytest.raises(ModelError, match="without constraints"):
        functions.forward_dynamics_derivatives(zeros, zeros, zeros)

    def damp_all(plant, joints):
        for joint in joints.values():
            joint.set_default_damping(0.3)

    plant = four_bar(damp_all)
    assert not has_dynamics_derivatives(plant.model)
    with pytest.raises(ModelError, match="joints that close loops"):
        StateFunctions(plant).inverse_dynamics_derivatives(zeros, zeros, zeros)


def test_a_model_without_velocities_has_derivatives_without_elements():
    plant = MultibodyPlant(0.0)
    plant.Finalize()
    for value in StateFunctions(plant).forward_dynamics_derivatives([], [], []):
        assert value.shape == (0, 0)
