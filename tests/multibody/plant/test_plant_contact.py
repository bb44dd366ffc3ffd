"""Contact of plants: the law of continuous ones, results and ports, what a run keeps, and what goes wrong by name."""

import numpy as np
import pytest

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.engine import load_kernels
from mbcli.engine.contact.arrays import DEFAULT_TOLERANCE
from mbcli.errors import ModelError, NumericalError
from mbcli.geometry import Box, CollisionFilterDeclaration, GeometrySet, HalfSpace, SceneGraph, Sphere
from mbcli.math import RigidTransform
from mbcli.multibody.core.contact_forces import contact_results, generalized_contact_forces
from mbcli.multibody.core.dynamics import accelerations
from mbcli.multibody.core.point_contacts import point_contacts
from mbcli.multibody.core.reaction_forces import reactions_at
from mbcli.multibody.plant import (
    ContactModel,
    ContactResults,
    CoulombFriction,
    DiscreteContactApproximation,
    MultibodyPlant,
)
from mbcli.multibody.stepping.continuous_steps import SCHEMES
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import (
    FixedOffsetFrame,
    ForceElement,
    ModelInstanceIndex,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
    WeldJoint,
)
from mbcli.systems.analysis import Simulator

FRICTION = CoulombFriction(0.9, 0.8)
KERNELS = load_kernels(False)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def balls(time_step, heights=(0.0995,), ground=True, finalize=True):
    """Balls of 1 kg and 0.1 m radius side by side, on a ground."""
    plant = MultibodyPlant(time_step)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    if ground:
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", FRICTION)
    for n, height in enumerate(heights):
        body = plant.AddRigidBody(f"ball_{n}", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(0.1), "c", FRICTION)
        plant.SetDefaultFreeBodyPose(body, RigidTransform([0.5 * n, 0.0, height]))
    if finalize:
        plant.Finalize()
    return plant


def run(plant, context, until, **options):
    """All samples of a run that keeps contacts."""
    return list(Run(plant, context, until, keep=("contacts",), **options).blocks())


# ------------------------------------------------------------------------------------------- the law


def force_of(law, distance, v):
    force, separation, slip = KERNELS.contact_force(np.array([law]), 0, (0.0, 0.0, 1.0), distance, v, 1e-3)
    return np.array(force), separation, slip


def test_the_law_of_a_point():
    """f = k x (1 - d v_n)_+ along the normal, out of B into A; friction against slip."""
    law = (1e4, 2.0, 0.0, 0.4, 0.6, 0.0, 0.0, 0.1)
    force, separation, slip = force_of(law, -0.01, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(force, [0, 0, 100])
    assert (separation, slip) == (0.0, 0.0)
    force, separation, slip = force_of(law, -0.01, (0.5, 0.0, -0.25))
    np.testing.assert_allclose(force, [-0.4 * 150, 0, 150])
    assert (separation, slip) == (-0.25, 0.5)
    np.testing.assert_array_equal(force_of(law, -0.01, (0.1, 0.0, 0.6))[0], np.zeros(3))  # parts too fast: no pull
    np.testing.assert_array_equal(force_of(law, 0.01, (0.0, 0.0, 0.0))[0], np.zeros(3))
    slips = np.linspace(0.0, 4.0, 4001)
    mu = np.array([KERNELS.stribeck(s, 0.6, 0.4) for s in slips])
    assert mu[0] == 0.0 and mu[1000] == pytest.approx(0.6) and mu.max() == pytest.approx(0.6)
    assert (mu[3000:] == 0.4).all() and abs(np.diff(mu)).max() < 1.2e-3


def test_accelerations_of_a_continuous_plant_have_contact_in_them():
    """Half of the allowance deep: half of the weight."""
    plant = balls(0.0)
    context = plant.CreateDefaultContext()
    vdot = plant.get_generalized_acceleration_output_port().Eval(context)
    np.testing.assert_allclose(vdot, [0, 0, 0, 0, 0, -9.81 / 2], atol=1e-12)
    np.testing.assert_array_equal(plant.CalcForwardDynamics(context), vdot)
    np.testing.assert_array_equal(plant.EvalTimeDerivatives(context).CopyToVector()[7:], vdot)
    tau = plant.get_generalized_contact_forces_output_port(ModelInstanceIndex(1)).Eval(context)
    np.testing.assert_allclose(tau, [0, 0, 0, 0, 0, 9.81 / 2], atol=1e-12)


def test_contact_of_two_bodies_is_opposite_and_does_the_work_of_its_speeds():
    """Nothing but weight acts on both together."""
    plant = balls(0.0, heights=(1.0, 1.0), ground=False)
    context = plant.CreateDefaultContext()
    rng = np.random.default_rng(3)
    q = plant.GetPositions(context)
    q[11:14] = q[4:7] + 0.199 * np.array([0.6, 0.0, 0.8])
    plant.SetPositions(context, q)
    plant.SetVelocities(context, 0.02 * rng.normal(size=12))
    contact = plant.get_contact_results_output_port().Eval(context).point_pair_contact_info(0)
    assert np.linalg.norm(contact.contact_force()) > 1.0
    vdot = plant.CalcForwardDynamics(context)
    np.testing.assert_allclose(vdot[3:6] + vdot[9:12], [0, 0, -2 * 9.81], atol=1e-10)
    tau = generalized_contact_forces(plant, context)
    power = tau @ plant.GetVelocities(context)
    f, n = contact.contact_force(), contact.point_pair().nhat_BA_W
    slipping = np.linalg.norm(f - (f @ n) * n) * contact.slip_speed()
    assert power == pytest.approx(-(f @ n) * contact.separation_speed() - slipping, rel=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_integrator_drops_a_ball_and_lets_it_lie(scheme):
    """It ends where its weight is carried: a penetration of the allowance."""
    plant = balls(0.0, heights=(0.1001,))
    context = plant.CreateDefaultContext()
    config = SimulatorConfig(integration_scheme=scheme, max_step_size=1e-3, use_error_control=False)
    blocks = run(plant, context, 0.07, config=config, sample_period=0.035)
    last = blocks[-1].contacts
    assert blocks[0].contacts.offset.tolist()[:2] == [0, 0]  # it falls at first
    assert last.contacts.distance[-1] == pytest.approx(-1e-3, rel=0.1)
    assert last.contacts.force[-1] == pytest.approx([0, 0, -9.81], rel=0.1, abs=1e-6)


def test_forces_of_users_and_contact_act_together():
    """The loops of Python give what those of the engine do."""

    class Nothing(ForceElement):
        def __init__(self):
            super().__init__(ModelInstanceIndex(1))

        def CalcAndAddForceContribution(self, context, forces):
            pass

        def CalcPotentialEnergy(self, context):
            return 0.0

    for time_step in (0.0, 1e-3):
        found = []
        for user in (False, True):
            plant = balls(time_step, heights=(0.101, 0.0999), finalize=False)
            if user:
                plant.AddForceElement(Nothing())
            plant.Finalize()
            context = plant.CreateDefaultContext()
            plant.SetVelocities(context, 0.2 * np.ones(12))
            config = SimulatorConfig(integration_scheme="runge_kutta2", max_step_size=1e-3, use_error_control=False)
            found.append(run(plant, context, 0.03, config=config, sample_period=0.01))
        for engine, python in zip(*found, strict=True):
            np.testing.assert_allclose(python.q, engine.q, atol=1e-12)
            np.testing.assert_array_equal(python.contacts.offset, engine.contacts.offset)
            np.testing.assert_allclose(python.contacts.contacts.force, engine.contacts.contacts.force, atol=1e-9)


# ------------------------------------------------------------------------------------ results and ports


def test_results_say_who_touches_and_where():
    plant = balls(0.0, heights=(0.0995, 0.0998, 0.2))
    context = plant.CreateDefaultContext()
    results = plant.get_contact_results_output_port().Eval(context)
    assert isinstance(results, ContactResults) and results.plant() is plant
    assert results.num_point_pair_contacts() == 2 and results.num_hydroelastic_contacts() == 0
    for n in range(2):
        info = results.point_pair_contact_info(n)
        assert int(info.bodyA_index()) == 0 and int(info.bodyB_index()) == 1 + n
        pair = info.point_pair()
        depth = (0.0005, 0.0002)[n]
        np.testing.assert_allclose(info.contact_force(), [0, 0, 9.81 / 1e-3 * depth])
        np.testing.assert_allclose(pair.nhat_BA_W, [0, 0, -1])
        np.testing.assert_allclose(info.contact_point(), [0.5 * n, 0, -depth / 2], atol=1e-15)
        np.testing.assert_allclose(pair.p_WCa, [0.5 * n, 0, 0], atol=1e-15)  # deepest in the other one
        np.testing.assert_allclose(pair.p_WCb, [0.5 * n, 0, -depth], atol=1e-15)
    with pytest.raises(IndexError, match="there are 2"):
        results.point_pair_contact_info(2)


def test_sampled_ports_show_the_last_step_and_live_ones_the_state():
    """Section 14.1 of the specification: nothing before a step; then the step's, whatever the state is set to."""
    for sampled in (True, False):
        plant = balls(1e-3, finalize=False)
        plant.SetUseSampledOutputPorts(sampled)
        plant.Finalize()
        context = plant.CreateDefaultContext()
        results, tau = (
            plant.get_contact_results_output_port(),
            plant.get_generalized_contact_forces_output_port(ModelInstanceIndex(1)),
        )
        assert results.Eval(context).num_point_pair_contacts() == (0 if sampled else 1)
        assert tau.Eval(context)[5] == 0.0 if sampled else tau.Eval(context)[5] > 4.0
        Simulator(plant, context).AdvanceTo(1e-3)
        before = plant.CreateDefaultContext()
        expected = contact_results(plant, before).point_pair_contact_info(0).contact_force()
        if sampled:
            info = results.Eval(context).point_pair_contact_info(0)
            np.testing.assert_array_equal(info.contact_force(), expected)
            np.testing.assert_allclose(tau.Eval(context)[3:], expected)
        plant.SetFreeBodyPose(context, plant.GetBodyByName("ball_0"), RigidTransform([0, 0, 3.0]))
        assert results.Eval(context).num_point_pair_contacts() == (1 if sampled else 0)


def test_geometry_poses():
    plant = balls(0.0, heights=(0.3, 0.4))
    context = plant.CreateDefaultContext()
    poses = plant.get_geometry_pose_output_port().Eval(context)
    first = [plant.get_output_port(k).get_name() for k in (0, 1)]
    assert first == ["geometry_pose", "deformable_body_configuration"]
    assert poses.size() == 2 and not poses.has_id(plant.GetBodyFrameIdOrThrow(0))
    for n in (0, 1):
        frame = plant.GetBodyFrameIdOrThrow(plant.GetBodyByName(f"ball_{n}").index())
        np.testing.assert_allclose(poses.value(frame).translation(), [0.5 * n, 0, 0.3 + 0.1 * n])
    with pytest.raises(RuntimeError, match="no pose of frame"):
        poses.value(plant.GetBodyFrameIdOrThrow(0))


@pytest.mark.parametrize("time_step", [0.0, 1e-3])
def test_reactions_of_joints_carry_contact(time_step):
    """A slider on a weightless vertical guide: at rest the guide does nothing along its axis, and all across it."""
    plant = MultibodyPlant(time_step)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "g", CoulombFriction(0.0, 0.0))
    body = plant.AddRigidBody("b", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    plant.RegisterCollisionGeometry(body, RigidTransform([0.3, 0, 0]), Sphere(0.1), "c", CoulombFriction(0.0, 0.0))
    joint = plant.AddJoint(PrismaticJoint("j", plant.world_frame(), body.body_frame(), [0, 0, 1], -np.inf, np.inf, 0.0))
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kLagged) if time_step else None
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joint.set_translation(context, 0.099)
    (reaction,) = reactions_at(plant, context)
    force = -plant.contact_record(context).force[0, 2]
    vdot = accelerations(plant, context)[0]
    assert reaction.translational() == pytest.approx([0, 0, 0], abs=1e-9)
    assert reaction.rotational() == pytest.approx([0, 0.3 * force, 0], abs=1e-8)
    assert vdot == pytest.approx(force - 9.81, abs=1e-9)


# --------------------------------------------------------------------------------------- what a run keeps


@pytest.mark.parametrize("time_step", [0.0, 1e-3])
def test_samples_have_the_contacts_of_their_state(time_step):
    """In a discrete plant with the forces of the step from it, at the end of the run too."""
    plant = balls(time_step, heights=(0.1003, 0.1))
    context = plant.CreateDefaultContext()
    plant.SetVelocities(context, [0, 1.0, 0, 0.1, 0, 0, 0, 0, 0, 0.2, 0, 0])
    blocks = run(plant, context, 0.02, sample_period=0.005)
    assert context.get_time() == 0.02
    single, seen = plant.CreateDefaultContext(), 0
    for block in blocks:
        kept = block.contacts
        assert kept.offset.shape == (len(block.time) + 1,)
        for row in range(len(block.time)):
            plant.SetPositions(single, block.q[row])
            plant.SetVelocities(single, block.v[row])
            expected, some = plant.contact_record(single), slice(*kept.offset[row : row + 2])
            seen += len(expected)
            for name in ("solid", "position", "normal", "distance", "force", "separation", "slip"):
                np.testing.assert_allclose(
                    getattr(kept.contacts, name)[some], getattr(expected, name), rtol=1e-9, atol=1e-9
                )
    assert seen > 4
    np.testing.assert_array_equal(plant.GetPositions(context), blocks[-1].q[-1])


@pytest.mark.parametrize("time_step", [0.0, 1e-3])
def test_room_grows_and_changes_nothing(time_step, monkeypatch):
    """Points, pairs, constraints and kept contacts: one of each at first."""
    from mbcli.multibody.contact import contact_arrays

    heights = np.full(6, 0.0999)

    def rows():
        plant = balls(time_step, heights=heights)
        context = plant.CreateDefaultContext()
        blocks = run(plant, context, 0.004, sample_period=0.001)
        offsets = np.concatenate([np.diff(b.contacts.offset) for b in blocks])
        forces = np.concatenate([b.contacts.contacts.force for b in blocks])
        times = np.concatenate([b.time for b in blocks])
        return times, np.concatenate([b.q for b in blocks]), offsets, forces

    roomy = rows()
    monkeypatch.setattr(contact_arrays, "FIRST_POINTS", 1)
    monkeypatch.setattr(contact_arrays, "FIRST_KEPT", 1)
    monkeypatch.setattr(contact_arrays.ContactArrays.start_samples, "__defaults__", (1,))
    for name, a, b in zip(("time", "q", "offset", "force"), rows(), roomy, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)
    assert roomy[2].tolist() == 5 * [6]


def test_statistics_count_the_problems_of_a_run():
    plant = balls(1e-3, heights=(0.0995, 0.5))
    context = plant.CreateDefaultContext()
    going = Run(plant, context, 0.01, keep=("contacts",), sample_period=0.002)
    samples = next(going.blocks())
    found = going.contact.statistics()
    assert found["problems"] == 11  # ten steps, and that of the last sample
    assert found["most_contacts"] == 1 and found["mean_contacts"] == 1.0
    assert 0 < samples.contacts.iterations.max() <= found["most_iterations"]
    assert samples.contacts.iterations.sum() <= round(11 * found["mean_iterations"])
    assert 0.0 < samples.contacts.residual.max() <= found["largest_residual"] <= DEFAULT_TOLERANCE


# ----------------------------------------------------------------------------------- no contact, no cost


def kinds_of_kernels(plant):
    context = plant.CreateDefaultContext()
    Run(plant, context, plant.time_step())
    return context.state.contact, context.state.data.contact


@pytest.mark.parametrize("time_step", [0.0, 1e-3])
def test_plants_in_which_nothing_can_touch_run_without_contact(time_step):
    def nothing(plant):
        contact, addresses = kinds_of_kernels(plant)
        return contact is None and not any(addresses)

    assert nothing(balls(time_step, heights=(1.0,), ground=False))
    assert not nothing(balls(time_step, heights=(1.0, 1.0), ground=False))
    filtered = balls(time_step, heights=(1.0, 1.0))
    graph = filtered.scene_graph
    geometries = GeometrySet(list(graph.registry.geometries))
    graph.collision_filter_manager().Apply(CollisionFilterDeclaration().ExcludeWithin(geometries))
    assert nothing(filtered)
    welded = MultibodyPlant(time_step)
    welded.RegisterAsSourceForSceneGraph(SceneGraph())
    welded.RegisterCollisionGeometry(welded.world_body(), RigidTransform(), HalfSpace(), "g", FRICTION)
    body = welded.AddRigidBody("b", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    welded.RegisterCollisionGeometry(body, RigidTransform(), Box(1, 1, 1), "c", FRICTION)
    welded.AddJoint(WeldJoint("w", welded.world_frame(), body.body_frame(), RigidTransform()))
    welded.Finalize()
    assert nothing(welded)


def test_filters_that_change_between_runs_act():
    plant = balls(1e-3)
    context = plant.CreateDefaultContext()
    assert plant.contact_record(context) is not None and len(plant.contact_record(context)) == 1
    manager = plant.scene_graph.collision_filter_manager()
    everything = GeometrySet(list(plant.scene_graph.registry.geometries))
    manager.Apply(CollisionFilterDeclaration().ExcludeWithin(everything))
    context.SetTime(0.0)  # what was computed is forgotten
    assert plant.contact_record(context) is None  # nothing can touch any more: steps are those without contact
    assert plant.get_contact_results_output_port().Eval(context).num_point_pair_contacts() == 0
    manager.Apply(CollisionFilterDeclaration().AllowWithin(everything))
    context.SetTime(0.0)
    assert len(plant.contact_record(context)) == 1


@pytest.mark.parametrize("time_step", [0.0, 1e-3])
def test_welded_frames_of_a_context_move_its_geometries(time_step):
    plant = MultibodyPlant(time_step)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "g", FRICTION)
    arm = plant.AddRigidBody("arm", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    foot = plant.AddRigidBody("foot", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    plant.RegisterCollisionGeometry(foot, RigidTransform(), Sphere(0.1), "c", FRICTION)
    plant.AddJoint(RevoluteJoint("j", plant.world_frame(), arm.body_frame(), [0, 1, 0]))
    offset = plant.AddFrame(FixedOffsetFrame("offset", arm.body_frame(), RigidTransform([0.0, 0.0, 0.15])))
    plant.AddJoint(WeldJoint("w", offset, foot.body_frame(), RigidTransform()))
    plant.Finalize()
    context, other = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    assert plant.contact_record(context) is not None and len(plant.contact_record(context)) == 0
    for height, touches in ((0.08, 1), (0.12, 0), (0.05, 1)):
        offset.SetPoseInParentFrame(context, RigidTransform([0.0, 0.0, height]))
        assert len(plant.contact_record(context)) == touches
        assert len(point_contacts(plant, context)) == touches
        assert len(plant.contact_record(other)) == 0


# --------------------------------------------------------------------------------------- what goes wrong


def test_a_step_without_a_solution_names_time_and_bodies(monkeypatch):
    """The bodies of the island that failed, the deepest first, and not those of others."""
    from mbcli.engine.contact import arrays

    monkeypatch.setattr(arrays, "DEFAULT_ITERATIONS", 3)
    plant = balls(1e-3, heights=(0.0999, 0.3, 0.3))
    context = plant.CreateDefaultContext()
    q = plant.GetPositions(context)
    q[11:14], q[18:21] = [3.0, 0.0, 0.3], [3.19, 0.0, 0.301]
    plant.SetPositions(context, q)
    plant.SetVelocities(context, np.concatenate([np.zeros(6), [0, 40.0, 9.0, 9.0, 1.0, 0], [3, 0, 0, -9.0, 0, 0]]))
    samples = []
    with pytest.raises(NumericalError) as caught:
        for block in Run(plant, context, 0.01, sample_period=0.001, keep=("contacts",)).blocks():
            samples.append(block)
    message = str(caught.value)
    assert "no solution that was found: in contact are " in message and "; step 1 from t = 0 s" in message
    assert "ball_1 and " in message and "ball_2" in message and "ball_0" not in message
    (block,) = samples  # the row of the start is there, forces that nobody knows are no numbers
    assert block.time.tolist() == [0.0] and len(block.contacts.contacts) == 2
    assert np.isnan(block.contacts.contacts.force).all() and (block.contacts.contacts.distance < 0.0).all()
    np.testing.assert_array_equal(plant.GetPositions(context), q)


def test_solids_without_a_contact_surface_are_refused_where_surfaces_are_asked_for():
    plant = balls(1e-3, finalize=False)
    plant.set_contact_model(ContactModel.kHydroelastic)
    plant.Finalize()
    with pytest.raises(
        ModelError, match=r"no contact surface between world .*, undefined, and .*ball_0 .*, undefined: one"
    ):
        plant.contact_record(plant.CreateDefaultContext())


@pytest.mark.parametrize("time_step", [0.0, 1e-3])
def test_derivatives_through_contact_are_refused_and_beside_it_right(time_step):
    plant = balls(time_step)
    context = plant.CreateDefaultContext()
    if time_step == 0.0:
        with pytest.raises(ModelError, match="and here bodies touch"):
            plant.CalcDerivatives(context, "forward_dynamics", "v")
        dual = plant.ToAutoDiffXd()
        with pytest.raises(ModelError, match="numbers of type AutoDiffXd, and here bodies touch"):
            dual.EvalTimeDerivatives(dual.CreateDefaultContext())
    plant.SetFreeBodyPose(context, plant.GetBodyByName("ball_0"), RigidTransform([0, 0, 1.0]))
    assert plant.CalcDerivatives(context, "forward_dynamics", "v")["v"].shape == (6, 6)
