"""What must hold for every mechanism, on random trees of every joint type, and agreement with a dense oracle."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest
from naive import Oracle
from random_trees import (
    ALL,
    MOVING,
    RATES,
    bodies_of,
    joints_of,
    random_context,
    random_inertia,
    random_joint,
    random_plant,
    random_pose,
    random_state,
)

from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from mbcli.multibody.tree import (
    BallQuaternionJoint,
    BallRpyJoint,
    FixedOffsetFrame,
    MultibodyForces,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RpyFloatingJoint,
    ScrewJoint,
    SpatialInertia,
    UnitInertia,
    WeldJoint,
)

# Sums over a dozen bodies of products of numbers of order one to a hundred.
ROUNDING = 1e-12
# The same after solving with M, whose condition number is up to 3e4 here.
SOLVED = 1e-10
# Differences of fourth order with step 1e-3 of functions whose fifth derivative is below 1e4.
DIFFERENCES = 1e-8


def plants():
    """Random plants by name: mixed trees, forests, without gravity in parts, and each joint type in each direction."""
    options = {f"tree{seed}": {"seed": seed, "kinds": ALL} for seed in range(6)}
    options |= {f"all_reversed{s}": {"seed": s, "kinds": ALL, "reversed_probability": 1.0} for s in (20, 21)}
    options |= {f"forest{s}": {"seed": s, "kinds": ALL, "trees": 2, "floating_bases": 2} for s in (30, 31)}
    options |= {f"weightless{s}": {"seed": s, "kinds": ALL, "weightless": True} for s in (40, 41)}
    for kind in MOVING:
        options[kind] = {"seed": 50, "kinds": (kind,), "num_bodies": 3, "reversed_probability": 0.0}
        options[f"{kind}_reversed"] = {"seed": 51, "kinds": (kind,), "num_bodies": 3, "reversed_probability": 1.0}
    return options


PLANTS = plants()


@dataclass
class Case:
    """A plant in a random state, its oracle and what there is of randomness left."""

    plant: MultibodyPlant
    oracle: Oracle
    context: object
    q: np.ndarray
    v: np.ndarray
    rng: np.random.Generator

    def vector(self):
        return self.rng.normal(size=self.v.size)


@functools.cache
def plant_and_oracle(name):
    plant = random_plant(**PLANTS[name])
    return plant, Oracle(plant)


@pytest.fixture(params=PLANTS)
def case(request):
    plant, oracle = plant_and_oracle(request.param)
    rng = np.random.default_rng(PLANTS[request.param]["seed"])
    context = random_context(plant, rng)
    return Case(plant, oracle, context, plant.GetPositions(context), plant.GetVelocities(context), rng)


def assert_close(value, expected, tolerance=ROUNDING):
    """Equal up to `tolerance` of the largest element (of one, where all are smaller)."""
    value, expected = np.asarray(value), np.asarray(expected)
    assert value.shape == expected.shape
    assert np.isfinite(value).all()
    scale = max(1.0, abs(expected).max(initial=0.0))
    assert abs(value - expected).max(initial=0.0) <= tolerance * scale


def at(plant, q, v=None):
    """A context at q, v."""
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    if v is not None:
        plant.SetVelocities(context, v)
    return context


def difference(function, step=1e-3):
    """df/dt at t = 0 by central differences of fourth order."""
    f = [function(k * step) for k in (-2, -1, 1, 2)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * step)


def qdot_of(plant, context):
    return plant.MapVelocityToQDot(context, plant.GetVelocities(context))


def poses(plant, context):
    return np.array([plant.EvalBodyPoseInWorld(context, b).GetAsMatrix4() for b in bodies_of(plant)])


def velocities(plant, context):
    return np.array([plant.EvalBodySpatialVelocityInWorld(context, b).get_coeffs() for b in bodies_of(plant)])


def body_jacobians(plant, q):
    """J (n, 6, nv) by the plant's own velocities."""
    columns = [velocities(plant, at(plant, q, e)) for e in np.eye(plant.num_velocities())]
    return np.stack(columns, axis=-1)


def force_elements(plant, context):
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    return forces


# kinematics


def test_poses_are_the_brute_force_composition_of_joint_frames(case):
    """tree (c) 4"""
    assert_close(poses(case.plant, case.context), case.oracle.poses(case.q))


def test_velocities_are_the_rates_of_the_composed_poses(case):
    assert_close(velocities(case.plant, case.context), case.oracle.velocities(case.q, case.v))


def test_velocities_are_finite_differences_of_poses(case):
    """tree (c) 2"""
    qdot = qdot_of(case.plant, case.context)
    X_dt = difference(lambda t: poses(case.plant, at(case.plant, case.q + t * qdot)))
    V, R = velocities(case.plant, case.context), poses(case.plant, case.context)[:, :3, :3]
    spin = np.cross(V[:, None, :3], R.transpose(0, 2, 1)).transpose(0, 2, 1)  # w x each column of R
    assert_close(X_dt[:, :3, :3], spin, DIFFERENCES)
    assert_close(X_dt[:, :3, 3], V[:, 3:], DIFFERENCES)


def test_accelerations_are_those_of_the_composed_poses(case):
    for vdot in (case.vector(), np.zeros(case.v.size)):  # the second is the bias acceleration
        A = [a.get_coeffs() for a in case.plant.CalcSpatialAccelerationsFromVdot(case.context, vdot)]
        assert_close(A, case.oracle.accelerations(case.q, case.v, vdot))


def test_accelerations_are_finite_differences_of_velocities(case):
    """tree (c) 2"""
    vdot, qdot = case.vector(), qdot_of(case.plant, case.context)
    A = [a.get_coeffs() for a in case.plant.CalcSpatialAccelerationsFromVdot(case.context, vdot)]
    at_time = difference(
        lambda t: velocities(case.plant, at(case.plant, case.q + t * qdot, case.v + t * vdot)), step=2e-4
    )
    assert_close(A, at_time, DIFFERENCES)


def test_accelerations_in_a_context_are_those_of_forward_dynamics(case):
    vdot = case.plant.CalcForwardDynamics(case.context)
    A = [case.plant.EvalBodySpatialAccelerationInWorld(case.context, b).get_coeffs() for b in bodies_of(case.plant)]
    assert_close(A, case.oracle.accelerations(case.q, case.v, vdot))


def test_rates_of_positions_are_those_that_move_the_joint_frames(case):
    """tree (c) 3"""
    assert_close(case.plant.MakeVelocityToQDotMap(case.context).toarray(), case.oracle.rates_map(case.q))


def test_velocity_from_rates_is_a_left_inverse_also_where_quaternions_are_not_unit(case):
    """tree (c) 3, 25, plant (c) 1"""
    for scale in (1.0, 1.3):
        q = case.q.copy()
        for joint in joints_of(case.plant):
            if joint.type_name() == "quaternion_floating":
                q[joint.position_start() : joint.position_start() + 4] *= scale
        context = at(case.plant, q)
        N = case.plant.MakeVelocityToQDotMap(context).toarray()
        N_plus = case.plant.MakeQDotToVelocityMap(context).toarray()
        assert_close(N_plus @ N, np.eye(case.v.size))
        assert_close(N, case.oracle.rates_map(q))


def test_rates_of_a_quaternion_keep_its_length(case):
    """tree (c) 25, plant (c) 1"""
    qdot = qdot_of(case.plant, case.context)
    for joint in joints_of(case.plant):
        if joint.type_name() == "quaternion_floating":
            part = slice(joint.position_start(), joint.position_start() + 4)
            assert abs(qdot[part] @ case.q[part]) <= ROUNDING


# mass matrix and energy


def test_mass_matrix_is_symmetric_and_positive_definite(case):
    """multibody_tree (c) 19"""
    M = case.plant.CalcMassMatrix(case.context)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


def test_mass_matrix_is_the_sum_of_bodies_through_their_jacobians(case):
    """multibody_tree (c) 19"""
    assert_close(case.plant.CalcMassMatrix(case.context), case.oracle.mass_matrix(case.q))


def test_mass_matrix_columns_are_inverse_dynamics_of_unit_accelerations(case):
    """plant (c) 2"""
    M = case.plant.CalcMassMatrix(case.context)
    assert_close(case.plant.CalcMassMatrixViaInverseDynamics(case.context), M)


def test_kinetic_energy_is_that_of_the_mass_matrix_and_the_sum_of_bodies(case):
    """multibody_tree (c) 19, plant (c) 2"""
    energy = case.plant.CalcKineticEnergy(case.context)
    M = case.plant.CalcMassMatrix(case.context)
    assert_close(energy, 0.5 * case.v @ M @ case.v)
    assert_close(energy, case.oracle.kinetic_energy(case.q, case.v))


def test_potential_energy_is_the_sum_of_bodies_and_springs(case):
    assert_close(case.plant.CalcPotentialEnergy(case.context), case.oracle.potential_energy(case.q))


def test_conservative_power_is_minus_the_rate_of_potential_energy(case):
    """multibody_tree (c) 7"""
    qdot = qdot_of(case.plant, case.context)
    rate = difference(lambda t: case.plant.CalcPotentialEnergy(at(case.plant, case.q + t * qdot)))
    assert_close(case.plant.CalcConservativePower(case.context), -rate, DIFFERENCES)


def test_power_of_all_forces_is_the_rate_of_energy(case):
    tau = case.vector()
    case.plant.get_applied_generalized_force_input_port().FixValue(case.context, tau)
    qdot, vdot = qdot_of(case.plant, case.context), case.plant.CalcForwardDynamics(case.context)

    def energy(t):
        context = at(case.plant, case.q + t * qdot, case.v + t * vdot)
        return case.plant.CalcKineticEnergy(context) + case.plant.CalcPotentialEnergy(context)

    power = tau @ case.v - case.oracle.damping @ case.v**2
    speed = max(1.0, abs(vdot).max())
    assert_close(difference(energy, step=1e-3 / speed), power, DIFFERENCES * speed)


# forces


def test_inverse_dynamics_is_newton_euler_and_virtual_power_of_all_bodies(case):
    """multibody_tree (c) 8"""
    vdot, forces = case.vector(), MultibodyForces(case.plant)
    forces.mutable_generalized_forces()[:] = case.vector()
    expected = case.oracle.inertial_forces(case.q, case.v, vdot) - forces.generalized_forces()
    J = case.oracle.jacobians(case.q)
    for n, body in enumerate(bodies_of(case.plant)):
        F = case.rng.normal(size=6)
        body.AddInForceInWorld(case.context, SpatialForce(F=F), forces)
        expected -= J[n].T @ F
    assert_close(case.plant.CalcInverseDynamics(case.context, vdot, forces), expected)


def test_bias_is_that_of_newton_euler_and_quadratic_in_velocity(case):
    bias = case.plant.CalcBiasTerm(case.context)
    assert_close(bias, case.oracle.bias(case.q, case.v))
    assert_close(case.plant.CalcBiasTerm(at(case.plant, case.q, -3.0 * case.v)), 9.0 * bias)
    assert_close(case.plant.CalcBiasTerm(at(case.plant, case.q)), 0.0 * bias)


def test_bias_does_the_work_that_the_changing_mass_matrix_takes(case):
    """v . (Mdot - 2 C) v = 0."""
    qdot = qdot_of(case.plant, case.context)
    M_dt = difference(lambda t: case.plant.CalcMassMatrix(at(case.plant, case.q + t * qdot)))
    power = case.v @ case.plant.CalcBiasTerm(case.context)
    assert_close(power, 0.5 * case.v @ M_dt @ case.v, DIFFERENCES)


@pytest.mark.parametrize("seed", range(3))
def test_bias_is_that_of_lagrange_where_velocities_are_rates(seed):
    """multibody_tree (c) 5: C v = Mdot v - 1/2 d(v.M v)/dq, by complex steps in the oracle's M."""
    plant = random_plant(seed, (*RATES, "weld"), num_bodies=7)
    oracle, rng = Oracle(plant), np.random.default_rng(seed)
    q, v = random_state(plant, rng)
    step = 1e-30
    by_q = np.array([oracle.mass_matrix(q + 1j * step * e).imag / step for e in np.eye(q.size)])
    expected = np.einsum("kij,k,j->i", by_q, v, v) - 0.5 * np.einsum("kij,i,j->k", by_q, v, v)
    assert_close(plant.CalcBiasTerm(at(plant, q, v)), expected)


def test_gravity_forces_are_minus_the_gradient_of_potential_energy(case):
    """multibody_tree (c) 7"""
    tau_g = case.plant.CalcGravityGeneralizedForces(case.context)
    assert_close(tau_g, case.oracle.conservative_forces(case.q, of_springs=False))


def test_inverse_dynamics_with_gravity_in_the_recursion_subtracts_gravity_forces(case):
    """The same for all mass under gravity (World accelerates upwards) and for a part of it (weights body by body)."""
    vdot = case.vector()
    context = case.context
    tau_g = case.plant.CalcGravityGeneralizedForces(context)
    without = case.plant.CalcInverseDynamics(context, vdot, MultibodyForces(case.plant))
    calls, data = context.state.at_velocities(), context.state.data
    data.vdot[:] = vdot
    calls.calc_inverse_dynamics(np.zeros((case.plant.num_bodies(), 6)), 1.0)
    assert_close(data.tau, without - tau_g)


def test_force_elements_are_gravity_springs_and_damping(case):
    forces = force_elements(case.plant, case.context)
    expected = case.oracle.conservative_forces(case.q) - case.oracle.damping * case.v
    assert_close(case.plant.CalcGeneralizedForces(case.context, forces), expected)


def test_forces_on_bodies_do_the_power_of_their_points(case):
    """multibody_tree (c) 8: A force at a point P of a body, given in some frame E: F . V_WBp = tau . v."""
    body, frame_E = case.rng.choice(bodies_of(case.plant)[1:], 2)
    p_BP_E, F = case.rng.normal(size=3), SpatialForce(F=case.rng.normal(size=6))
    forces = MultibodyForces(case.plant)
    body.AddInForce(case.context, p_BP_E, F, frame_E.body_frame(), forces)
    R_WE = case.plant.EvalBodyPoseInWorld(case.context, frame_E).rotation().matrix()
    V = case.plant.EvalBodySpatialVelocityInWorld(case.context, body).get_coeffs()
    v_P = V[3:] + np.cross(V[:3], R_WE @ p_BP_E)
    power = F.get_coeffs() @ np.concatenate([R_WE.T @ V[:3], R_WE.T @ v_P])
    assert_close(case.plant.CalcGeneralizedForces(case.context, forces) @ case.v, power)


def test_forward_dynamics_is_the_dense_solution(case):
    """multibody_tree (c) 18"""
    tau = case.vector()
    case.plant.get_applied_generalized_force_input_port().FixValue(case.context, tau)
    expected = case.oracle.forward_dynamics(case.q, case.v, tau)
    assert_close(case.plant.CalcForwardDynamics(case.context), expected, SOLVED)


def test_inverse_dynamics_of_forward_dynamics_gives_back_the_inputs(case):
    """plant (c) 3: M vdot + C v = tau + B u + forces of elements + J^T F."""
    plant, context = case.plant, case.context
    tau, u = case.vector(), case.rng.normal(size=plant.num_actuators())
    applied = ExternallyAppliedSpatialForce()
    applied.body_index = bodies_of(plant)[-1].index()
    applied.p_BoBq_B = case.rng.normal(size=3)
    applied.F_Bq_W = SpatialForce(F=case.rng.normal(size=6))
    plant.get_applied_generalized_force_input_port().FixValue(context, tau)
    plant.get_actuation_input_port().FixValue(context, u)
    plant.get_applied_spatial_force_input_port().FixValue(context, [applied])
    vdot = plant.CalcForwardDynamics(context)
    forces = force_elements(plant, context)
    body = bodies_of(plant)[-1]
    R_WB = plant.EvalBodyPoseInWorld(context, body).rotation().matrix()
    body.AddInForce(context, R_WB @ applied.p_BoBq_B, applied.F_Bq_W, plant.world_frame(), forces)
    scale = max(1.0, abs(plant.CalcMassMatrix(context) @ vdot).max())
    residual = plant.CalcInverseDynamics(context, vdot, forces)
    assert_close(residual / scale, (tau + plant.MakeActuationMatrix() @ u) / scale, SOLVED)


# momentum and centre of mass


def test_momentum_and_centre_of_mass_are_the_sums_of_bodies(case):
    p_WoP = case.rng.normal(size=3)
    L, moment, mass, momentum = np.zeros(6), np.zeros(3), 0.0, np.zeros(3)
    X, V = case.oracle.poses(case.q), case.oracle.velocities(case.q, case.v)
    for n, body in enumerate(bodies_of(case.plant)[1:], start=1):
        M, R = body.default_spatial_inertia(), np.kron(np.eye(2), X[n, :3, :3])
        L_Bo = R @ M.CopyToFullMatrix6() @ R.T @ V[n]
        L += [*(L_Bo[:3] + np.cross(X[n, :3, 3] - p_WoP, L_Bo[3:])), *L_Bo[3:]]
        arm = X[n, :3, :3] @ M.get_com()
        mass += M.get_mass()
        moment += M.get_mass() * (X[n, :3, 3] + arm)
        momentum += M.get_mass() * (V[n, 3:] + np.cross(V[n, :3], arm))
    plant, context = case.plant, case.context
    assert_close(plant.CalcSpatialMomentumInWorldAboutPoint(context, p_WoP).get_coeffs(), L)
    assert_close(plant.CalcTotalMass(context), mass)
    assert_close(plant.CalcCenterOfMassPositionInWorld(context), moment / mass)
    assert_close(plant.CalcCenterOfMassTranslationalVelocityInWorld(context), momentum / mass)


@pytest.mark.parametrize("seed", range(4))
def test_momentum_of_a_floating_system_changes_by_gravity_alone(seed):
    """Springs, damping, motors and rotors act between bodies: they cannot change the momentum of all of them."""
    plant = random_plant(seed, trees=0, floating_bases=1)
    context = random_context(plant, np.random.default_rng(seed))
    plant.get_actuation_input_port().FixValue(context, np.random.default_rng(seed).normal(size=plant.num_actuators()))
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    qdot, vdot = qdot_of(plant, context), plant.CalcForwardDynamics(context)
    speed = max(1.0, abs(vdot).max())

    def momentum(t):
        moved = at(plant, q + t * qdot, v + t * vdot)
        return plant.CalcSpatialMomentumInWorldAboutPoint(moved, np.zeros(3)).get_coeffs()

    weight = plant.CalcTotalMass(context) * plant.gravity_field().gravity_vector()
    wrench = [*np.cross(plant.CalcCenterOfMassPositionInWorld(context), weight), *weight]
    assert_close(difference(momentum, step=1e-3 / speed), wrench, DIFFERENCES * speed)


# the same mechanism described in other ways


def merged(rng, parts):
    """One M_BBo_B for parts (X_BP, M_PPo_P) fixed to B."""
    total = SpatialInertia.Zero()
    for X_BP, M in parts:
        total += M.ReExpress(X_BP.rotation()).Shift(-X_BP.translation())
    return total


@pytest.mark.parametrize("seed", range(3))
def test_bodies_welded_together_are_one_body_of_their_summed_inertia(seed):
    """Each group hangs together by welds in both directions; the next joint starts from its last part."""
    rng = np.random.default_rng(seed)
    groups, whole = MultibodyPlant(0.0), MultibodyPlant(0.0)
    last = [groups.world_body(), whole.world_body()]
    X_last = RigidTransform()  # of the last part of a group in the body it stands for
    for g, kind in enumerate(["revolute", "quaternion_floating", "universal", "planar"]):
        parts = [(RigidTransform(), random_inertia(rng))]
        for _ in range(rng.integers(1, 4)):
            parts.append((random_pose(rng), random_inertia(rng)))
        X_PF, X_BM, reverse = random_pose(rng), random_pose(rng), rng.random() < 0.5
        bodies = [groups.AddRigidBody(f"part{g}_{k}", M) for k, (_, M) in enumerate(parts)]
        body = whole.AddRigidBody(f"whole{g}", merged(rng, parts))
        for plant, outboard, X_inboard in ((groups, bodies[0], X_PF), (whole, body, X_last @ X_PF)):
            inboard = last[0 if plant is groups else 1]
            F = plant.AddFrame(FixedOffsetFrame(f"F{g}", inboard, X_inboard))
            M = plant.AddFrame(FixedOffsetFrame(f"M{g}", outboard, X_BM))
            F, M = (M, F) if reverse else (F, M)
            plant.AddJoint(random_joint(np.random.default_rng(100 + g), kind, f"joint{g}", F, M))
        for k in range(1, len(parts)):  # X_BP of part k, welded to part k - 1 one way or the other
            X = parts[k - 1][0].inverse() @ parts[k][0]
            a, b = bodies[k - 1].body_frame(), bodies[k].body_frame()
            forwards = rng.random() < 0.5
            groups.AddJoint(WeldJoint(f"weld{g}_{k}", *((a, b, X) if forwards else (b, a, X.inverse()))))
        last, X_last = [bodies[-1], body], parts[-1][0]
    groups.Finalize()
    whole.Finalize()
    assert groups.GetPositionNames() == whole.GetPositionNames()
    q, v = random_state(whole, rng)
    a, b = at(groups, q, v), at(whole, q, v)
    assert_close(groups.CalcMassMatrix(a), whole.CalcMassMatrix(b))
    assert_close(groups.CalcBiasTerm(a), whole.CalcBiasTerm(b))
    assert_close(groups.CalcGravityGeneralizedForces(a), whole.CalcGravityGeneralizedForces(b))
    assert_close(groups.CalcForwardDynamics(a), whole.CalcForwardDynamics(b), SOLVED)
    assert_close(groups.CalcKineticEnergy(a), whole.CalcKineticEnergy(b))
    assert_close(groups.CalcPotentialEnergy(a), whole.CalcPotentialEnergy(b))


def inverse_positions(kind, q):
    """q of the joint from M to F where q is that of the joint from F to M; no universal joint is the inverse of one."""
    if kind in ("revolute", "prismatic", "screw"):
        return -q
    if kind == "planar":
        s, c = np.sin(q[2]), np.cos(q[2])
        return -np.array([c * q[0] + s * q[1], c * q[1] - s * q[0], q[2]])
    if kind == "ball_quaternion":
        return q * [1.0, -1.0, -1.0, -1.0]
    if kind == "ball_rpy":
        return RollPitchYaw(RotationMatrix(RollPitchYaw(*q)).inverse()).vector()
    joint = {"quaternion_floating": QuaternionFloatingJoint, "rpy_floating": RpyFloatingJoint}[kind]
    return joint._positions_of(joint._pose_of(q).inverse())


INVERTIBLE = {
    "revolute": lambda *frames: RevoluteJoint(*frames, [1.0, -2.0, 0.5]),
    "prismatic": lambda *frames: PrismaticJoint(*frames, [1.0, -2.0, 0.5]),
    "screw": lambda *frames: ScrewJoint(*frames, [1.0, -2.0, 0.5], 0.7),
    "planar": PlanarJoint,
    "ball_rpy": BallRpyJoint,
    "ball_quaternion": BallQuaternionJoint,
    "quaternion_floating": QuaternionFloatingJoint,
    "rpy_floating": RpyFloatingJoint,
}


@pytest.mark.parametrize("kind", INVERTIBLE)
def test_a_joint_described_from_child_to_parent_is_the_same_mechanism(kind):
    """Poses are equal; the velocities v' that move the bodies as v does give equal M, tau_g and accelerations.

    tree (c) 4, multibody_tree (c) 10.
    """
    rng = np.random.default_rng(7)
    plants, joints = [MultibodyPlant(0.0), MultibodyPlant(0.0)], [[], []]
    last = [plant.world_body() for plant in plants]
    for n in range(3):
        X_PF, X_BM, inertia, forwards = random_pose(rng), random_pose(rng), random_inertia(rng), n % 2 == 0
        for k, plant in enumerate(plants):
            body = plant.AddRigidBody(f"body{n}", inertia)
            F = plant.AddFrame(FixedOffsetFrame(f"F{n}", last[k], X_PF))
            M = plant.AddFrame(FixedOffsetFrame(f"M{n}", body, X_BM))
            frames = (F, M) if forwards == (k == 0) else (M, F)
            joints[k].append(plant.AddJoint(INVERTIBLE[kind](f"joint{n}", *frames)))
            last[k] = body
    for plant in plants:
        plant.Finalize()
    q, v = random_state(plants[0], rng)
    contexts = [at(plants[0], q, v), plants[1].CreateDefaultContext()]
    for joint, other in zip(*joints, strict=True):
        other.SetPositions(contexts[1], inverse_positions(kind, joint.GetPositions(contexts[0])))
    assert_close(poses(plants[1], contexts[1]), poses(plants[0], contexts[0]))
    J, J_other = (
        body_jacobians(p, p.GetPositions(c)).reshape(-1, v.size) for p, c in zip(plants, contexts, strict=True)
    )
    T = np.linalg.lstsq(J_other, J, rcond=None)[0]  # v' = T v
    assert_close(J_other @ T, J)
    plants[1].SetVelocities(contexts[1], T @ v)
    tau_g, of_other = (p.CalcGravityGeneralizedForces(c) for p, c in zip(plants, contexts, strict=True))
    assert_close(T.T @ of_other, tau_g)
    M, M_other = (p.CalcMassMatrix(c) for p, c in zip(plants, contexts, strict=True))
    assert_close(T.T @ M_other @ T, M)
    accelerations = [
        [p.EvalBodySpatialAccelerationInWorld(c, b).get_coeffs() for b in bodies_of(p)]
        for p, c in zip(plants, contexts, strict=True)
    ]
    assert_close(accelerations[1], accelerations[0], SOLVED)


# special places


@pytest.mark.parametrize("name", ["tree0", "all_reversed20", *(f"{k}{r}" for k in MOVING for r in ("", "_reversed"))])
def test_dynamics_far_from_the_origin_is_that_at_the_origin(name):
    """A base 1e6 m away: the frames to World are 1e10 times coarser than the body, M and C v are not."""
    here = random_plant(**PLANTS[name], base_at=np.zeros(3))
    there = random_plant(**PLANTS[name], base_at=[1e6, -2e6, 5e5])
    rng = np.random.default_rng(1)
    q, v = random_state(here, rng)
    a, b = at(here, q, v), at(there, q, v)
    assert_close(there.CalcMassMatrix(b), here.CalcMassMatrix(a))
    assert_close(there.CalcBiasTerm(b), here.CalcBiasTerm(a))
    assert_close(there.CalcGravityGeneralizedForces(b), here.CalcGravityGeneralizedForces(a))
    assert_close(there.CalcForwardDynamics(b), here.CalcForwardDynamics(a), SOLVED)


@pytest.mark.parametrize("seed", range(3))
def test_a_floating_robot_has_the_same_dynamics_wherever_it_is(seed):
    plant = random_plant(seed, trees=0, floating_bases=1)
    q, v = random_state(plant, np.random.default_rng(seed))
    far = q.copy()
    start = plant.get_body(min(plant.GetFloatingBaseBodies(), key=int)).floating_positions_start()
    far[start + 4 : start + 7] += [1e6, -2e6, 5e5]
    a, b = at(plant, q, v), at(plant, far, v)
    assert_close(plant.CalcMassMatrix(b), plant.CalcMassMatrix(a))
    assert_close(plant.CalcBiasTerm(b), plant.CalcBiasTerm(a))
    assert_close(plant.CalcForwardDynamics(b), plant.CalcForwardDynamics(a), SOLVED)


@pytest.mark.parametrize("seed", range(3))
def test_trees_do_not_feel_each_other(seed):
    plant = random_plant(seed, trees=2, floating_bases=2, num_bodies=12)
    root, dof_body = plant.model.body_root, plant.model.dof_body
    tree = root[dof_body]
    assert len(set(tree)) == 4
    rng = np.random.default_rng(seed)
    q, v = random_state(plant, rng)
    context = at(plant, q, v)
    M = plant.CalcMassMatrix(context)
    assert not M[tree[:, None] != tree[None, :]].any()
    vdot = plant.CalcForwardDynamics(context)
    chosen = tree == tree[0]
    tau = np.where(chosen, rng.normal(size=v.size), 0.0)
    plant.get_applied_generalized_force_input_port().FixValue(context, tau)
    pushed = plant.CalcForwardDynamics(context)
    assert np.array_equal(pushed[~chosen], vdot[~chosen])
    assert (pushed[chosen] != vdot[chosen]).all()


def test_a_massless_body_between_joints_carries_what_is_outboard():
    plant = MultibodyPlant(0.0)
    rng = np.random.default_rng(3)
    first = plant.AddRigidBody("first", random_inertia(rng))
    massless = plant.AddRigidBody("massless", SpatialInertia.Zero())
    last = plant.AddRigidBody("last", random_inertia(rng))
    inboard = plant.world_body()
    for n, body in enumerate((first, massless, last)):
        F = plant.AddFrame(FixedOffsetFrame(f"F{n}", inboard, random_pose(rng)))
        M = plant.AddFrame(FixedOffsetFrame(f"M{n}", body, random_pose(rng)))
        plant.AddJoint(RevoluteJoint(f"joint{n}", F, M, rng.normal(size=3)))
        inboard = body
    plant.Finalize()
    oracle = Oracle(plant)
    q, v = random_state(plant, rng)
    context = at(plant, q, v)
    assert_close(plant.CalcMassMatrix(context), oracle.mass_matrix(q))
    assert_close(plant.CalcForwardDynamics(context), oracle.forward_dynamics(q, v, np.zeros(3)), SOLVED)


def test_a_free_body_falls_with_gravity_whatever_its_shape():
    """tree (c) 22"""
    plant = MultibodyPlant(0.0)
    com = [0.1, -0.2, 0.3]
    body = plant.AddRigidBody("body", SpatialInertia(2.0, com, UnitInertia(0.4, 0.5, 0.6)))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    A = plant.EvalBodySpatialAccelerationInWorld(context, body).get_coeffs()
    assert_close(A, [0.0, 0.0, 0.0, 0.0, 0.0, -9.81], 1e-14)


def test_a_plant_without_coordinates_answers_with_nothing():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", random_inertia(np.random.default_rng(0)))
    X_WB = RigidTransform([0.0, 0.0, 3.0])
    plant.WeldFrames(plant.world_frame(), body.body_frame(), X_WB)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    assert plant.CalcMassMatrix(context).shape == (0, 0)
    assert plant.CalcForwardDynamics(context).shape == (0,)
    assert plant.CalcBiasTerm(context).shape == (0,)
    assert plant.CalcKineticEnergy(context) == 0.0
    height = 3.0 + body.default_com()[2]
    assert_close(plant.CalcPotentialEnergy(context), 9.81 * body.default_mass() * height)


def test_energy_forgets_a_state_that_was_not_finite():
    plant = random_plant(0)
    context = random_context(plant, np.random.default_rng(0))
    v = plant.GetVelocities(context)
    expected = plant.CalcKineticEnergy(context), plant.CalcPotentialEnergy(context)
    context.state.set_v(np.full(v.size, np.nan))  # as a step leaves it that fails
    assert np.isnan(plant.CalcKineticEnergy(context))
    plant.SetVelocities(context, v)
    assert (plant.CalcKineticEnergy(context), plant.CalcPotentialEnergy(context)) == expected


def test_inverse_dynamics_knows_gravity_from_the_forces_it_is_given_alone(case):
    """multibody_tree (c) 6, plant (c) 3: at rest nothing is required, and with the forces of gravity its opposite."""
    plant, context = case.plant, case.context
    before = plant.GetVelocities(context)
    plant.SetVelocities(context, np.zeros(plant.num_velocities()))
    zero, gravity = np.zeros(plant.num_velocities()), MultibodyForces(plant)
    plant.gravity_field().CalcAndAddForceContribution(context, gravity)
    tau_g = plant.CalcGravityGeneralizedForces(context)
    assert plant.num_velocities() == 0 or abs(tau_g).max() > 0.1
    assert_close(plant.CalcInverseDynamics(context, zero, MultibodyForces(plant)), zero)
    assert_close(plant.CalcBiasTerm(context), zero)
    assert_close(plant.CalcInverseDynamics(context, zero, gravity), -tau_g)
    assert_close(plant.CalcGeneralizedForces(context, gravity), tau_g)
    plant.SetVelocities(context, before)
