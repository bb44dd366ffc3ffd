"""The three algorithms and energies against Pinocchio and MuJoCo, through maps between their coordinates and ours."""

import numpy as np
import pytest
from repository import MODELS, SAMPLES

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import MultibodyForces

ROBOTS = ("iiwa14/iiwa14_no_collision.urdf", "atlas/atlas_minimal_contact.urdf")
SAMPLE_FILES = sorted(path.name for path in SAMPLES.glob("*.urdf"))
STATES = 50
TOLERANCE = 1e-10  # of the largest entry of the peer's result


def load(path):
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(path))
    plant.Finalize()
    return plant, plant.CreateDefaultContext()


def joints(plant):
    return [plant.get_joint(i) for i in plant.GetJointIndices() if plant.get_joint(i).num_velocities()]


def reflected_inertias(plant):
    """(nv,) [kg m^2]"""
    result = np.zeros(plant.num_velocities())
    for index in plant.GetJointActuatorIndices():
        actuator = plant.get_joint_actuator(index)
        result[actuator.joint().velocity_start()] += actuator.default_reflected_inertia()
    return result


def damping(plant):
    """(nv,)"""
    result = np.zeros(plant.num_velocities())
    for joint in joints(plant):
        start = joint.velocity_start()
        result[start : start + joint.num_velocities()] = joint.default_damping_vector()
    return result


def random_states(plant, seed):
    """(q, v, accelerations or forces) with unit quaternions."""
    rng = np.random.default_rng(seed)
    for _ in range(STATES):
        q = rng.uniform(-1.5, 1.5, plant.num_positions())
        for joint in joints(plant):
            if joint.num_positions() == 7:
                i = joint.position_start()
                q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
        yield q, rng.normal(size=plant.num_velocities()), rng.normal(size=plant.num_velocities())


def set_state(plant, context, q, v):
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)


def inverse_dynamics(plant, context, vdot):
    """tau under gravity, without springs and damping."""
    tau = plant.CalcInverseDynamics(context, vdot, MultibodyForces(plant))
    return tau - plant.CalcGravityGeneralizedForces(context)


def forward_dynamics(plant, context, tau):
    """vdot under gravity and joint damping."""
    plant.get_applied_generalized_force_input_port().FixValue(context, tau)
    return plant.EvalTimeDerivatives(context).CopyToVector()[-plant.num_velocities() :]


def rotation_of_base(plant, context, joint):
    return joint.GetPose(context).rotation().matrix()


def assert_equal(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= TOLERANCE * np.abs(theirs).max()


# ------------------------------------------------------------------------------------------- Pinocchio


class PinocchioModel:
    """A URDF in Pinocchio, and the map from our coordinates to its own.

    Its free flyer has the quaternion as x, y, z, w after the position, and the velocity of the base in the base's own
    axes, translational first.
    """

    def __init__(self, pin, path, plant, floating):
        arguments = (pin.JointModelFreeFlyer(),) if floating else ()
        self.model = pin.buildModelFromUrdf(str(path), *arguments)
        self.data = self.model.createData()
        self.places = []
        for joint in joints(plant):
            name = "root_joint" if joint.num_velocities() == 6 else joint.name()
            other = self.model.joints[self.model.getJointId(name)]
            self.places.append((joint, other.idx_q, other.idx_v, other.nq))
        self.without_rotors = self.model.copy()
        self.model.armature = self.velocity_map(np.eye(3)) @ reflected_inertias(plant)

    def positions(self, q):
        result = np.zeros(self.model.nq)
        for joint, iq, _, nq in self.places:
            i = joint.position_start()
            if joint.num_positions() == 7:
                result[iq : iq + 7] = [*q[i + 4 : i + 7], *q[i + 1 : i + 4], q[i]]
            elif nq == 2:  # a joint without limits
                result[iq : iq + 2] = np.cos(q[i]), np.sin(q[i])
            else:
                result[iq] = q[i]
        return result

    def velocity_map(self, R_WB):
        """T: their velocities are T v; forces are related by the transpose of T."""
        T = np.zeros((self.model.nv, self.model.nv))
        for joint, _, iv, _ in self.places:
            d = joint.velocity_start()
            if joint.num_velocities() == 6:
                T[iv : iv + 3, d + 3 : d + 6] = T[iv + 3 : iv + 6, d : d + 3] = R_WB.T
            else:
                T[iv, d] = 1.0
        return T

    def acceleration_offset(self, v, R_WB):
        """c: their accelerations are T vdot + c, as the axes of the base turn."""
        c = np.zeros(self.model.nv)
        for joint, _, iv, _ in self.places:
            d = joint.velocity_start()
            if joint.num_velocities() == 6:
                c[iv : iv + 3] = -R_WB.T @ np.cross(v[d : d + 3], v[d + 3 : d + 6])
        return c


PINOCCHIO_FILES = [MODELS / name for name in ROBOTS] + [SAMPLES / name for name in SAMPLE_FILES]


@pytest.fixture(scope="module", params=PINOCCHIO_FILES, ids=lambda path: path.stem)
def with_pinocchio(request):
    import pinocchio as pin

    if not request.param.exists():
        pytest.skip("the shared models are not here")
    plant, context = load(request.param)
    floating = [joint for joint in joints(plant) if joint.num_velocities() == 6]
    return pin, plant, context, PinocchioModel(pin, request.param, plant, bool(floating)), floating


def pinocchio_states(with_pinocchio):
    """For random states set in the context: their positions and velocities, T, c and random accelerations of ours."""
    _, plant, context, peer, floating = with_pinocchio
    for q, v, vdot in random_states(plant, seed=3):
        set_state(plant, context, q, v)
        R_WB = rotation_of_base(plant, context, floating[0]) if floating else np.eye(3)
        T = peer.velocity_map(R_WB)
        yield peer.positions(q), T @ v, T, peer.acceleration_offset(v, R_WB), v, vdot


@pytest.mark.peers("pinocchio")
def test_mass_matrix_equals_pinocchio(with_pinocchio):
    pin, plant, context, peer, _ = with_pinocchio
    for q, _, T, _, _, _ in pinocchio_states(with_pinocchio):
        upper = np.triu(pin.crba(peer.model, peer.data, q))
        M = upper + np.triu(upper, 1).T
        assert_equal(plant.CalcMassMatrix(context), T.T @ M @ T)


@pytest.mark.peers("pinocchio")
def test_inverse_dynamics_equal_pinocchio(with_pinocchio):
    pin, plant, context, peer, _ = with_pinocchio
    for q, v, T, c, _, vdot in pinocchio_states(with_pinocchio):
        tau = pin.rnea(peer.model, peer.data, q, v, T @ vdot + c)
        assert_equal(inverse_dynamics(plant, context, vdot), T.T @ tau)


@pytest.mark.peers("pinocchio")
def test_forward_dynamics_equal_pinocchio(with_pinocchio):
    pin, plant, context, peer, _ = with_pinocchio
    for q, v, T, c, our_v, tau in pinocchio_states(with_pinocchio):
        applied = np.linalg.solve(T.T, tau - damping(plant) * our_v)
        vdot = pin.aba(peer.model, peer.data, q, v, applied)
        assert_equal(T @ forward_dynamics(plant, context, tau) + c, vdot)


@pytest.mark.peers("pinocchio")
def test_energies_and_momentum_equal_pinocchio(with_pinocchio):
    pin, plant, context, peer, _ = with_pinocchio
    heights = []
    for q, v, _, _, our_v, _ in pinocchio_states(with_pinocchio):
        # Pinocchio 4.1 counts the reflected inertia of joints about x, y and z, but not of those about other axes
        kinetic = pin.computeKineticEnergy(peer.without_rotors, peer.data, q, v)
        assert_equal(plant.CalcKineticEnergy(context), kinetic + 0.5 * reflected_inertias(plant) @ our_v**2)
        # without what is welded to the world, whose energy is constant
        heights.append(plant.CalcPotentialEnergy(context) - pin.computePotentialEnergy(peer.model, peer.data, q))
        momentum = pin.computeCentroidalMomentum(peer.model, peer.data, q, v)
        L = plant.CalcSpatialMomentumInWorldAboutPoint(context, peer.data.com[0])
        assert_equal(L.get_coeffs(), np.concatenate([momentum.angular, momentum.linear]))
    assert np.ptp(heights) <= TOLERANCE * max(1.0, abs(plant.CalcPotentialEnergy(context)))


# ------------------------------------------------------------------------------------------- MuJoCo


class MujocoModel:
    """A URDF in MuJoCo, and the map from our coordinates to its own.

    Its free joint has the position before the quaternion, and the velocity of the origin in world axes before the
    angular velocity in the body's axes. Limits and contact are off, reflected inertias are ours.
    """

    def __init__(self, mujoco, path, plant):
        spec = mujoco.MjSpec.from_file(str(path))
        self.places = []
        for joint in joints(plant):
            if joint.num_velocities() == 6:
                spec.body(joint.child_body().name()).add_freejoint().name = joint.name()
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        for joint in joints(plant):
            other = self.model.joint(joint.name())
            self.places.append((joint, int(other.qposadr[0]), int(other.dofadr[0])))
        self.model.dof_armature[:] = self.velocity_map(np.eye(3)) @ reflected_inertias(plant)

    def positions(self, q):
        result = np.zeros(self.model.nq)
        for joint, iq, _ in self.places:
            i = joint.position_start()
            if joint.num_positions() == 7:
                result[iq : iq + 7] = [*q[i + 4 : i + 7], *q[i : i + 4]]
            else:
                result[iq] = q[i]
        return result

    def velocity_map(self, R_WB):
        """T: their velocities are T v; forces are related by the transpose of T."""
        T = np.zeros((self.model.nv, self.model.nv))
        for joint, _, iv in self.places:
            d = joint.velocity_start()
            if joint.num_velocities() == 6:
                T[iv : iv + 3, d + 3 : d + 6] = np.eye(3)
                T[iv + 3 : iv + 6, d : d + 3] = R_WB.T
            else:
                T[iv, d] = 1.0
        return T


@pytest.fixture(scope="module", params=SAMPLE_FILES)
def with_mujoco(request):
    import mujoco

    plant, context = load(SAMPLES / request.param)
    floating = [joint for joint in joints(plant) if joint.num_velocities() == 6]
    return mujoco, plant, context, MujocoModel(mujoco, SAMPLES / request.param, plant), floating


def mujoco_states(with_mujoco):
    """For random states set on both sides: T, our velocities, random accelerations or forces of ours."""
    _, plant, context, peer, floating = with_mujoco
    for q, v, random in random_states(plant, seed=4):
        set_state(plant, context, q, v)
        # the axes of the base turn with its own angular velocity, which adds nothing to the acceleration
        T = peer.velocity_map(rotation_of_base(plant, context, floating[0]) if floating else np.eye(3))
        peer.data.qpos[:], peer.data.qvel[:] = peer.positions(q), T @ v
        yield T, v, random


@pytest.mark.peers("mujoco")
def test_mass_matrix_equals_mujoco(with_mujoco):
    mujoco, plant, context, peer, _ = with_mujoco
    for T, _, _ in mujoco_states(with_mujoco):
        mujoco.mj_forward(peer.model, peer.data)
        M = np.column_stack([product(mujoco, peer, column) for column in np.eye(peer.model.nv)])
        assert_equal(plant.CalcMassMatrix(context), T.T @ M @ T)


def product(mujoco, peer, vector):
    """Their mass matrix times a vector."""
    result = np.zeros(peer.model.nv)
    mujoco.mj_mulM(peer.model, peer.data, result, vector)
    return result


@pytest.mark.peers("mujoco")
def test_inverse_dynamics_equal_mujoco(with_mujoco):
    mujoco, plant, context, peer, _ = with_mujoco
    for T, v, vdot in mujoco_states(with_mujoco):
        peer.data.qacc[:] = T @ vdot
        mujoco.mj_inverse(peer.model, peer.data)
        tau = inverse_dynamics(plant, context, vdot) + damping(plant) * v
        assert_equal(tau, T.T @ peer.data.qfrc_inverse)


@pytest.mark.peers("mujoco")
def test_forward_dynamics_equal_mujoco(with_mujoco):
    mujoco, plant, context, peer, _ = with_mujoco
    for T, _, tau in mujoco_states(with_mujoco):
        peer.data.qfrc_applied[:] = np.linalg.solve(T.T, tau)
        mujoco.mj_forward(peer.model, peer.data)
        assert_equal(T @ forward_dynamics(plant, context, tau), peer.data.qacc)


@pytest.mark.peers("mujoco")
def test_bodies_and_energies_equal_mujoco(with_mujoco):
    mujoco, plant, context, peer, _ = with_mujoco
    heights = []
    for _ in mujoco_states(with_mujoco):
        mujoco.mj_forward(peer.model, peer.data)
        for n in range(1, peer.model.nbody):
            X_WB = plant.GetBodyByName(peer.model.body(n).name).EvalPoseInWorld(context)
            assert_equal(X_WB.translation(), peer.data.xpos[n])
            assert_equal(X_WB.rotation().matrix().ravel(), peer.data.xmat[n])
        assert_equal(plant.CalcKineticEnergy(context), peer.data.energy[1])
        # it fuses what is welded to the world, whose energy is constant
        heights.append(plant.CalcPotentialEnergy(context) - peer.data.energy[0])
    assert np.ptp(heights) <= TOLERANCE * max(1.0, abs(plant.CalcPotentialEnergy(context)))
