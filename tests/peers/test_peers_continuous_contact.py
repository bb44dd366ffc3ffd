"""Point contact of continuous plants against pydrake's: forces and accelerations at states, and a trajectory."""

import numpy as np
import pytest

import mbcli.geometry
import mbcli.math
import mbcli.multibody.plant
import mbcli.multibody.tree
from mbcli.config.simulator_config import SimulatorConfig
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.run import Run

pytestmark = pytest.mark.peers("pydrake")
RADII, MASSES = (0.1, 0.13, 0.08), (1.0, 2.5, 0.4)


def fill(plant, scene_graph, library, own_materials):
    """A ground and balls with the modules of a library; with their own materials or those of a SceneGraphConfig."""
    geometry, math, tree, plant_module = library
    friction = plant_module.CoulombFriction

    def properties(n):
        result = geometry.ProximityProperties()
        if own_materials:
            result.AddProperty("material", "point_contact_stiffness", 1e4 * (1.0 + n))
            result.AddProperty("material", "hunt_crossley_dissipation", 2.0 + 3.0 * n)
        result.AddProperty("material", "coulomb_friction", friction(0.9 - 0.1 * n, 0.5 - 0.1 * n))
        return result

    world = plant.world_body()
    plant.RegisterCollisionGeometry(world, math.RigidTransform(), geometry.HalfSpace(), "ground", properties(0))
    for n, (r, m) in enumerate(zip(RADII, MASSES, strict=True)):
        body = plant.AddRigidBody(f"ball_{n}", tree.SpatialInertia.SolidSphereWithMass(m, r))
        plant.RegisterCollisionGeometry(body, math.RigidTransform(), geometry.Sphere(r), "c", properties(n + 1))
    plant.Finalize()


def both(own_materials):
    import pydrake.geometry
    import pydrake.math
    import pydrake.multibody.plant
    import pydrake.multibody.tree
    import pydrake.systems.framework

    ours = MultibodyPlant(0.0)
    graph = mbcli.geometry.SceneGraph(mbcli.geometry.SceneGraphConfig())
    ours.RegisterAsSourceForSceneGraph(graph)
    library = mbcli.geometry, mbcli.math, mbcli.multibody.tree, mbcli.multibody.plant
    fill(ours, graph, library, own_materials)
    builder = pydrake.systems.framework.DiagramBuilder()
    theirs, graph = pydrake.multibody.plant.AddMultibodyPlantSceneGraph(builder, 0.0)
    theirs.set_stiction_tolerance(ours.get_stiction_tolerance())
    theirs.set_penetration_allowance(ours.get_penetration_allowance())
    library = pydrake.geometry, pydrake.math, pydrake.multibody.tree, pydrake.multibody.plant
    fill(theirs, graph, library, own_materials)
    return ours, theirs, builder.Build()


def states(rng, count):
    """Balls pressed into the ground and into each other a little, with small and large slips."""
    for _ in range(count):
        q, v = np.zeros(21), rng.normal(size=18) * 10.0 ** rng.uniform(-4, 0.3)
        for n in range(3):
            quaternion = rng.normal(size=4)
            q[7 * n : 7 * n + 4] = quaternion / np.linalg.norm(quaternion)
        q[4:7] = 0.0, 0.0, RADII[0] - rng.uniform(0.0, 2e-3)
        apart = (RADII[0] + RADII[1]) - rng.uniform(0.0, 2e-3)
        height = RADII[1] - rng.uniform(0.0, 2e-3)
        q[11:14] = np.sqrt(apart**2 - (height - q[6]) ** 2), 0.0, height
        direction = rng.normal(size=3)
        direction[2] = abs(direction[2])
        q[18:21] = q[11:14] + direction / np.linalg.norm(direction) * (RADII[1] + RADII[2] - rng.uniform(0.0, 2e-3))
        yield q, v


@pytest.mark.parametrize("own_materials", [False, True])
def test_forces_and_accelerations_at_states_are_those_of_pydrake(own_materials, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    ours, theirs, diagram = both(own_materials)
    context = ours.CreateDefaultContext()
    root = diagram.CreateDefaultContext()
    peer = theirs.GetMyMutableContextFromRoot(root)
    compared = pressed = 0
    for q, v in states(np.random.default_rng(5), 20):
        for plant, where in ((ours, context), (theirs, peer)):
            plant.SetPositions(where, q)
            plant.SetVelocities(where, v)
        found = ours.get_contact_results_output_port().Eval(context)
        expected = theirs.get_contact_results_output_port().Eval(peer)
        pairs = [
            {
                (int(i.bodyA_index()), int(i.bodyB_index())): i
                for i in map(results.point_pair_contact_info, range(results.num_point_pair_contacts()))
            }
            for results in (found, expected)
        ]
        assert len(pairs[0]) >= 3
        for (a, b), theirs_info in pairs[1].items():
            same = (a, b) in pairs[0]  # who is A is each library's own choice
            info, sign = pairs[0][(a, b) if same else (b, a)], 1.0 if same else -1.0
            scale = max(1.0, np.linalg.norm(theirs_info.contact_force()))
            np.testing.assert_allclose(
                sign * info.contact_force(), theirs_info.contact_force(), rtol=0, atol=1e-9 * scale
            )
            np.testing.assert_allclose(info.contact_point(), theirs_info.contact_point(), atol=1e-12)
            assert info.slip_speed() == pytest.approx(theirs_info.slip_speed(), rel=1e-9, abs=1e-12)
            # of which pydrake 1.51 gives the opposite in continuous plants
            assert info.separation_speed() == pytest.approx(-theirs_info.separation_speed(), rel=1e-9, abs=1e-12)
            compared += 1
            pressed += np.linalg.norm(info.contact_force()) > 1e-3
        # pydrake reports no contact that does not press
        assert all(
            np.linalg.norm(i.contact_force()) == 0.0
            for (a, b), i in pairs[0].items()
            if (a, b) not in pairs[1] and (b, a) not in pairs[1]
        )
        vdot = ours.get_generalized_acceleration_output_port().Eval(context)
        peer_vdot = theirs.get_generalized_acceleration_output_port().Eval(peer)
        np.testing.assert_allclose(vdot, peer_vdot, rtol=0, atol=1e-9 * max(1.0, abs(peer_vdot).max()))
    assert compared >= 40 and pressed >= 40


def test_a_ball_that_falls_and_slides_goes_where_pydrakes_goes():
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator as DrakeSimulator

    ours, theirs, diagram = both(own_materials=True)
    q, v = np.zeros(21), np.zeros(18)
    q[[0, 7, 14]] = 1.0
    q[4:7], q[11:14], q[18:21] = (0.0, 0.0, 0.15), (1.0, 0.0, 0.3), (2.0, 0.0, 0.079)
    v[3:6], v[6:9], v[15:18] = (0.5, 0.1, 0.0), (0.0, 10.0, 0.0), (0.3, 0.0, 0.0)
    context = ours.CreateDefaultContext()
    simulator = DrakeSimulator(diagram)
    peer = theirs.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    for plant, where in ((ours, context), (theirs, peer)):
        plant.SetPositions(where, q)
        plant.SetVelocities(where, v)
    ResetIntegratorFromFlags(simulator, "runge_kutta3", 1e-3)
    integrator = simulator.get_mutable_integrator()
    integrator.set_target_accuracy(1e-9)
    simulator.Initialize()
    simulator.AdvanceTo(0.4)
    config = SimulatorConfig(integration_scheme="runge_kutta3", accuracy=1e-9, max_step_size=1e-3)
    for _ in Run(ours, context, 0.4, config=config).blocks():
        pass
    np.testing.assert_allclose(ours.GetPositions(context), theirs.GetPositions(peer), atol=1e-6)
    np.testing.assert_allclose(ours.GetVelocities(context), theirs.GetVelocities(peer), atol=2e-5)
    assert ours.GetVelocities(context)[3] < 0.45 and ours.GetVelocities(context)[9] > 0.1  # friction has acted
