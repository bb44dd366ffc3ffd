"""Derivatives of constrained dynamics in closed form: against complex steps, differences and identities."""

import numpy as np
import pytest
from constraint_scenes import constrained_scene, random_constraint_set
from random_trees import bodies_of, random_plant, random_state
from repository import SAMPLES

from mbcli.errors import NumericalError
from mbcli.math import RigidTransform
from mbcli.multibody.compilation.constrained_model import DEPENDENT
from mbcli.multibody.constraints import (
    Constraint,
    ConstraintSet,
    ForwardDynamicsConstraintsDerivatives,
    ForwardDynamicsConstraintsRangeSpaceSparse,
)
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

STEP = 1e-30
ROUNDING = 1e-10  # of trees whose inertias span 1e4, with constraints that are nearly dependent


def velocity_map(plant, q):
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    return plant.MakeVelocityToQDotMap(context).toarray()


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, atol=ROUNDING * max(1.0, np.abs(expected).max(initial=0.0)), rtol=0)


def derivatives_by_complex_steps(seed, stabilization, plant, q, v, tau):
    """Of vdot and force in the caller's order, by q along each velocity, v and tau."""
    _, scene = constrained_scene(seed, dtype=complex)
    scene.work.stabilization[:] = stabilization
    start, nv = {"q": q, "v": v, "tau": tau}, len(v)
    found = []
    for name, directions in {"q": velocity_map(plant, q), "v": np.eye(nv), "tau": np.eye(nv)}.items():
        columns = []
        for direction in directions.T:
            for key, value in start.items():
                getattr(scene.data, key)[:] = value + (1j * STEP * direction if key == name else 0.0)
            scene.run("calc_constrained_dynamics", DEPENDENT)
            columns.append(np.concatenate([scene.data.vdot, scene.rows("force"), scene.rows("errd")]).imag / STEP)
        found.append(np.array(columns).T)
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("jit", [False, True])
def test_rows_of_every_kind_are_differentiated_as_by_complex_steps(seed, jit):
    plant, scene = constrained_scene(seed, compiled=jit)
    nv, nrow = plant.num_velocities(), len(scene.row_number)
    stabilization = np.random.default_rng(seed).uniform(0.0, 2.0, (nrow, 2)) * (seed % 3 > 0)
    scene.work.stabilization[:] = stabilization
    state = [np.array(x) for x in (scene.data.q, scene.data.v, scene.data.tau)]
    found, results = np.empty((3 * nv + 4 * nrow, nv)), np.empty(2 * (nv + nrow))
    scene.run("evaluate_constrained_derivatives", *state, 0, found, results)
    expected = derivatives_by_complex_steps(seed, stabilization, plant, *state)
    for k in range(3):
        assert_close(found[k * nv : (k + 1) * nv], expected[k][:nv])
        force_by_x = found[3 * nv + k * nrow :][:nrow]
        assert_close(force_by_x, expected[k][nv : nv + nrow])
    assert_close(found[3 * nv + 3 * nrow :], expected[0][nv + nrow :])


def set_on_plant():
    plant = random_plant(7, num_bodies=11, trees=2, floating_bases=1, sprung=False)
    cs, rng = random_constraint_set(plant, 3), np.random.default_rng(5)
    return plant, cs, *random_state(plant, rng), rng.normal(size=plant.num_velocities())


def test_they_are_limits_of_differences():
    plant, cs, q, v, tau = set_on_plant()
    found = ForwardDynamicsConstraintsDerivatives(plant, q, v, tau, cs)
    assert cs.force is None
    N, step = velocity_map(plant, q), 1e-6
    qddot = ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs)
    np.testing.assert_array_equal(found.QDDot, qddot)
    np.testing.assert_array_equal(found.force, cs.force)

    def both(q, v, tau):
        return np.concatenate([ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs), cs.force])

    rng = np.random.default_rng(0)
    for name in ("Q", "QDot", "Tau"):
        J = np.vstack([getattr(found, f"dQDDot_d{name}"), getattr(found, f"dforce_d{name}")])
        for direction in rng.normal(size=(3, len(v))):
            ends = []
            for h in (step, -step):
                moved = {"Q": q, "QDot": v, "Tau": tau}
                moved[name] = moved[name] + h * (N @ direction if name == "Q" else direction)
                ends.append(both(*moved.values()))
            expected = (ends[0] - ends[1]) / (2.0 * step)
            np.testing.assert_allclose(J @ direction, expected, atol=1e-6 * abs(expected).max(), rtol=0)


def test_the_derivative_by_forces_is_the_inverse_mass_that_the_constraints_leave():
    plant, cs, q, v, tau = set_on_plant()
    found = ForwardDynamicsConstraintsDerivatives(plant, q, v, tau, cs)
    ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs)
    A, scale = found.dQDDot_dTau, abs(found.dQDDot_dTau).max()
    np.testing.assert_allclose(A, A.T, atol=1e-11 * scale)
    np.testing.assert_allclose(cs.G @ A, 0.0, atol=1e-11 * scale)
    np.testing.assert_allclose(A @ cs.H @ A, A, atol=1e-10 * scale)
    assert np.linalg.eigvalsh(A).min() > -1e-11 * scale


def test_dependent_rows_leave_the_derivatives_of_accelerations():
    plant, cs, q, v, tau = set_on_plant()
    body = bodies_of(plant)[5].name()
    sets = [cs.Copy(), cs.Copy()]
    for times, other in enumerate(sets, start=1):
        for _ in range(times):
            other.AddLoopConstraint("world", body, RigidTransform(), RigidTransform(), np.eye(6)[5])
        other.Bind(plant)
    once, twice = (ForwardDynamicsConstraintsDerivatives(plant, q, v, tau, other) for other in sets)
    assert twice.force is None and twice.dforce_dQ is None and twice.dforce_dTau is None
    for name in ("QDDot", "dQDDot_dQ", "dQDDot_dQDot", "dQDDot_dTau"):
        assert_close(getattr(twice, name), getattr(once, name))


def test_rows_that_contradict_one_another_have_no_derivatives():
    plant, cs, q, v, tau = set_on_plant()
    other, body = cs.Copy(), bodies_of(plant)[5].name()
    for height in (0.0, 1.0):  # both are to be reached
        other.AddLoopConstraint("world", body, RigidTransform([0, 0, height]), RigidTransform(), np.eye(6)[5], True)
    other.Bind(plant)
    with pytest.raises(NumericalError, match="the constraints contradict one another"):
        ForwardDynamicsConstraintsDerivatives(plant, q, v, tau, other)


def test_custom_constraints_and_bad_states_are_refused():
    plant, cs, q, v, tau = set_on_plant()
    found = ForwardDynamicsConstraintsDerivatives(plant, list(q), tuple(v), tau, cs)
    assert found.dQDDot_dQ.shape == (len(v), len(v))
    with pytest.raises(RuntimeError, match="QDot must have"):
        ForwardDynamicsConstraintsDerivatives(plant, q, v[1:], tau, cs)
    other = cs.Copy()
    with pytest.raises(RuntimeError, match="not bound"):
        ForwardDynamicsConstraintsDerivatives(plant, q, v, tau, other)
    other.AddCustomConstraint(Constraint(1, "custom"))
    other.Bind(plant)
    with pytest.raises(ValueError, match="custom constraints say no derivatives"):
        ForwardDynamicsConstraintsDerivatives(plant, q, v, tau, other)


@pytest.mark.peers("pinocchio")
def test_an_arm_that_is_held_at_both_ends_is_differentiated_as_by_pinocchio():
    import pinocchio as pin

    path = str(SAMPLES / "arm7.urdf")
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(path)
    plant.Finalize()
    model = pin.buildModelFromUrdf(path)
    model.armature = plant.model.dof_armature.copy()
    data, rng = model.createData(), np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, 7)
    context, last = plant.CreateDefaultContext(), bodies_of(plant)[-1]
    plant.SetPositions(context, q)
    cs = ConstraintSet()
    for axis in np.eye(6):
        pose = plant.EvalBodyPoseInWorld(context, last)
        cs.AddLoopConstraint("world", last.name(), pose, RigidTransform(), axis)
    cs.Bind(plant)
    ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, np.zeros(7), np.zeros(7), cs)
    v, tau = np.linalg.svd(cs.G)[2][-1], rng.normal(size=7)  # the motion that is left

    pin.framesForwardKinematics(model, data, q)
    frame = model.frames[model.getFrameId(last.name())]
    place = frame.parentJoint, frame.placement, 0, data.oMf[model.getFrameId(last.name())]
    contacts, of_contacts = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    contacts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *place, pin.LOCAL))
    of_contacts.append(contacts[-1].createData())
    pin.initConstraintDynamics(model, data, contacts, of_contacts)
    vdot = pin.constraintDynamics(model, data, q, v, tau, contacts, of_contacts)
    pin.computeConstraintDynamicsDerivatives(model, data, contacts, of_contacts)

    found = ForwardDynamicsConstraintsDerivatives(plant, q, v, tau, cs)
    for ours, theirs in (
        (found.QDDot, vdot),
        (found.dQDDot_dQ, data.ddq_dq),
        (found.dQDDot_dQDot, data.ddq_dv),
        (found.dQDDot_dTau, data.ddq_dtau),
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-7 * np.abs(theirs).max(), rtol=0)
