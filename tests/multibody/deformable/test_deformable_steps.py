"""Plants with deformable bodies in time: contact, walls, fixed vertices, in one problem with rigid bodies."""

import os

import numpy as np
import pytest
from elastic_meshes import box_mesh

from mbcli.errors import ModelError, NumericalError
from mbcli.geometry import (
    AddContactMaterial,
    Box,
    GeometryInstance,
    HalfSpace,
    Mesh,
    ProximityProperties,
    Sphere,
)
from mbcli.math import RigidTransform
from mbcli.multibody.contact import elastic_step, elastic_threads
from mbcli.multibody.fem import DeformableBodyConfig, ForceDensityType, MaterialModel
from mbcli.multibody.fem.force_density import ForceDensityField
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, DiscreteContactApproximation
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import PrismaticJoint, SpatialInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder

G = 9.81


def properties(mu):
    made = ProximityProperties()
    AddContactMaterial(properties=made, friction=CoulombFriction(mu, mu))
    return made


class Scene:
    """A plant with a ground of height 0 and elastic boxes of 0.2 m."""

    def __init__(self, folder, dt=0.01, approximation="kLagged", gravity=(0.0, 0.0, -G), ground="box", mu=0.5):
        self.builder, self.folder, self.dt = DiagramBuilder(), folder, dt
        self.plant, self.graph = AddMultibodyPlantSceneGraph(self.builder, dt)
        self.plant.set_discrete_contact_approximation(getattr(DiscreteContactApproximation, approximation))
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(gravity))
        self.model = self.plant.mutable_deformable_model()
        world = self.plant.world_body()
        if ground == "box":
            X = RigidTransform([0, 0, -0.5])
            self.plant.RegisterCollisionGeometry(world, X, Box(10, 10, 1), "ground", properties(mu))
        elif ground == "plane":
            self.plant.RegisterCollisionGeometry(world, RigidTransform(), HalfSpace(), "ground", properties(mu))

    def box(self, p, cells=3, width=0.2, E=1e5, beta=0.01, mu=0.5, name="soft", alpha=0.0):
        points, tets = box_mesh((cells,) * 3, (width,) * 3)
        edges = points[tets[:, 1:]] - points[tets[:, :1]]
        inverted = np.linalg.det(edges) < 0
        tets[inverted, 2:] = tets[inverted, 3:1:-1]
        path = self.folder / f"{name}.vtk"
        lines = ["# vtk DataFile Version 3.0", "box", "ASCII", "DATASET UNSTRUCTURED_GRID"]
        lines += [f"POINTS {len(points)} double", *(" ".join(map(repr, map(float, p))) for p in points)]
        lines += [f"CELLS {len(tets)} {5 * len(tets)}", *(f"4 {a} {b} {c} {d}" for a, b, c, d in tets)]
        lines += [f"CELL_TYPES {len(tets)}", *("10" for _ in tets)]
        path.write_text("\n".join(lines) + "\n")
        return self.register(Mesh(str(path)), p, E, beta, mu, name, alpha)

    def register(self, shape, p, E, beta, mu, name, alpha=0.0, hint=0.1):
        instance = GeometryInstance(RigidTransform(p), shape, name)
        instance.set_proximity_properties(properties(mu))
        config = DeformableBodyConfig()
        config.set_youngs_modulus(E)
        config.set_poissons_ratio(0.3)
        config.set_mass_density(1000.0)
        config.set_material_model(MaterialModel.kLinearCorotated)
        config.set_mass_damping_coefficient(alpha)
        config.set_stiffness_damping_coefficient(beta)
        return self.model.RegisterDeformableBody(instance, config, hint)

    def start(self):
        self.plant.Finalize()
        self.diagram = self.builder.Build()
        self.simulator = Simulator(self.diagram)
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        return self

    def to(self, t):
        self.simulator.AdvanceTo(t)
        return self

    def q(self, id):
        return self.model.GetPositions(self.context, id).T

    def v(self, id):
        return self.model.GetVelocities(self.context, id).T

    def contacts(self):
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        return [results.deformable_contact_info(i) for i in range(results.num_deformable_contacts())]


@pytest.mark.parametrize("approximation", ["kLagged", "kSimilar", "kSap"])
@pytest.mark.parametrize("ground", ["box", "plane"])
def test_a_box_rests_on_the_ground_with_its_weight(tmp_path, approximation, ground):
    scene = Scene(tmp_path, approximation=approximation, ground=ground)
    id = scene.box([0, 0, 0.1])
    scene.start().to(0.8)
    (contact,) = scene.contacts()
    assert contact.F_Ac_W().translational() == pytest.approx([0.0, 0.0, 8.0 * G], abs=2e-3)
    assert contact.id_A() == scene.model.GetGeometryId(id)
    assert contact.contact_mesh().total_area() == pytest.approx(0.04, rel=0.02)
    q = scene.q(id)
    assert -3e-4 < q[:, 2].min() < 0.0
    assert np.ptp(q[:, 2]) == pytest.approx(0.1985, abs=2e-4)  # pydrake: 0.19847
    assert np.abs(scene.v(id)).max() < 1e-3


def test_two_threads_compute_what_one_does(tmp_path, monkeypatch):
    monkeypatch.setattr(elastic_step, "WORTH_TWO", 0)
    monkeypatch.setattr(elastic_step, "has_two_cores", lambda: True)
    found = []
    for threads in (1, 2):
        scene = Scene(tmp_path)
        ids = [scene.box([0, 0, 0.0995], cells=6), scene.box([1.0, 0, 0.5], cells=4, name="falls")]
        scene.model.SetParallelism(threads)
        scene.start().to(0.05)
        found.append(np.concatenate([scene.q(id) for id in ids]))
    assert np.ptp(found[0][:, 2]) > 0.2
    np.testing.assert_array_equal(*found)


def test_the_number_of_threads(tmp_path):
    model = Scene(tmp_path).model
    assert model.parallelism() == 1
    for given, threads in ((2, 2), (False, 1), (True, os.cpu_count())):
        model.SetParallelism(given)
        assert model.parallelism() == threads
    with pytest.raises(ModelError, match="1 or more"):
        model.SetParallelism(0)


def test_a_box_slides_down_an_incline_as_coulomb_says(tmp_path):
    mu, theta = 0.5, 1.25 * np.arctan(0.5)
    scene = Scene(tmp_path, dt=0.005, gravity=(G * np.sin(theta), 0.0, -G * np.cos(theta)))
    id = scene.box([0, 0, 0.1])
    speeds = []
    scene.start()
    for t in (0.1, 0.5):  # friction follows the normal force of the step before: there is none at first
        scene.to(t)
        speeds.append(scene.model.GetBody(id).CalcCenterOfMassTranslationalVelocityInWorld(scene.context))
    assert speeds[1][0] - speeds[0][0] == pytest.approx(G * (np.sin(theta) - mu * np.cos(theta)) * 0.4, rel=0.03)
    assert abs(speeds[1][1]) < 0.01


def test_fast_bodies_do_not_pass_through_a_thin_plate(tmp_path):
    scene = Scene(tmp_path, dt=0.005, ground="none")
    plate = Box(4, 4, 0.004)
    scene.plant.RegisterCollisionGeometry(
        scene.plant.world_body(), RigidTransform([0, 0, -0.002]), plate, "plate", properties(0.5)
    )
    id = scene.box([0, 0, 0.5])
    scene.start()
    scene.model.SetVelocities(scene.context, id, np.tile([[0.0], [0.0], [-6.0]], (1, len(scene.q(id)))))
    for k in range(1, 61):
        scene.to(0.005 * k)
        assert scene.q(id)[:, 2].min() > -0.004


@pytest.mark.filterwarnings("ignore:the iterations of a step")  # one or two of those at 12 m/s
@pytest.mark.parametrize(("E", "speed"), [(3e3, 6.0), (1e4, 6.0), (3e4, 6.0), (1e5, 6.0), (1e4, 12.0)])
def test_the_surface_of_a_fast_soft_ball_stays_above_a_sheet(tmp_path, E, speed):
    """rho v^2 / 2 is 18 kPa, or 72 kPa."""
    scene = Scene(tmp_path, dt=0.005, ground="none")
    sheet, X = Box(4, 4, 0.001), RigidTransform([0, 0, -0.0005])
    scene.plant.RegisterCollisionGeometry(scene.plant.world_body(), X, sheet, "sheet", properties(0.5))
    id = scene.register(Sphere(0.1), [0, 0, 0.15], E, 0.002, 0.5, "ball", hint=0.05)
    surface = np.unique(scene.model.GetBody(id).mesh.outer_triangles)
    scene.start()
    scene.model.SetVelocities(scene.context, id, np.tile([[0.0], [0.0], [-speed]], (1, len(scene.q(id)))))
    for k in range(1, 31):
        scene.to(0.005 * k)
        assert scene.q(id)[surface, 2].min() > -1e-4
    assert scene.v(id)[:, 2].mean() > 0.2


def test_two_soft_boxes_stand_on_each_other(tmp_path):
    scene = Scene(tmp_path)
    scene.box([0, 0, 0.1], name="lower")
    scene.box([0.02, 0.01, 0.301], E=4e5, name="upper")
    scene.start().to(2.5)  # what is left falls by a factor of e in 0.6 s
    forces = [c.F_Ac_W().translational() for c in scene.contacts()]
    assert sorted(f[2] for f in forces) == pytest.approx([-8 * G, 16 * G], abs=0.01)


@pytest.mark.parametrize(("tolerance", "mean", "most"), [(1e-3, 4.0, 15), (1e-6, 13.0, 50)])
def test_the_contact_problem_of_many_vertices_takes_few_iterations(tmp_path, tolerance, mean, most):
    """Newton's method on two trees of 213 and 105 velocities, whose Hessian is factorized by tiles.

    By default friction is regularized less: vertices that slide as the boxes spread take more iterations.
    """
    scene = Scene(tmp_path)
    scene.plant.set_stiction_tolerance(tolerance)
    scene.box([0, 0, 0.1], cells=5, name="lower")
    scene.box([0.02, 0.01, 0.301], cells=5, E=4e5, name="upper")
    run = Run(scene.plant, scene.start().context, 0.2)
    for _ in run.blocks():
        pass
    found = run.contact.statistics()
    assert found["most_contacts"] > 80
    assert found["mean_iterations"] < mean and found["most_iterations"] < most
    assert found["largest_residual"] < 1e-6


def test_a_rigid_ball_rides_on_a_soft_box(tmp_path):
    scene = Scene(tmp_path)
    ball = scene.plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(1.0, 0.06))
    scene.plant.RegisterCollisionGeometry(ball, RigidTransform(), Sphere(0.06), "ball", properties(0.5))
    scene.box([0, 0, 0.1], cells=4)
    scene.start()
    scene.plant.SetFreeBodyPose(scene.context, ball, RigidTransform([0, 0, 0.262]))
    scene.to(1.0)
    forces = sorted(c.F_Ac_W().translational()[2] for c in scene.contacts())
    assert forces == pytest.approx([-G, 9 * G], abs=0.05)
    height = scene.plant.EvalBodyPoseInWorld(scene.context, ball).translation()[2]
    assert 0.24 < height < 0.2595
    V = scene.plant.EvalBodySpatialVelocityInWorld(scene.context, ball)
    assert np.abs(V.translational()).max() < 1e-2


def test_walls_hold_vertices_and_fixed_vertices_follow_a_rigid_body(tmp_path):
    scene = Scene(tmp_path, ground="none")
    held = scene.box([1, 0, 0.0], name="held", alpha=20.0)
    scene.model.SetWallBoundaryCondition(held, [0, 0, 0.099], [0, 0, -1])
    plant = scene.plant
    slider = plant.AddRigidBody("slider", SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.1, 0.1))
    rail = plant.AddJoint(PrismaticJoint("rail", plant.world_frame(), slider.body_frame(), [0, 0, 1]))
    carried = scene.box([0, 0, 0.0], name="carried")
    X = RigidTransform()
    scene.model.AddFixedConstraint(carried, slider, X, Box(1, 1, 0.12), X)
    scene.start()
    wall = scene.q(held)[:, 2] > 0.099
    before = scene.q(held)[wall].copy()
    reference = scene.q(carried).copy()
    vertices = np.abs(reference[:, 2]) < 0.06
    scene.to(0.3)
    assert np.array_equal(scene.q(held)[wall], before)
    assert scene.q(held)[~wall, 2].min() < -0.1
    z = rail.get_translation(scene.context)
    assert z == pytest.approx(-0.5 * G * 0.3**2, rel=0.05)
    gap = scene.q(carried)[vertices] - reference[vertices] - [0, 0, z]
    assert np.abs(gap).max() < 1e-4  # pydrake: g h^2, 1e-3
    speed = scene.v(carried)[:, 2].mean() * 8.0 + rail.get_translation_rate(scene.context)
    assert speed == pytest.approx(-9.0 * G * 0.3, rel=1e-6)


def test_momentum_passes_between_a_rigid_and_a_soft_body_without_loss(tmp_path):
    scene = Scene(tmp_path, ground="none", gravity=(0, 0, 0))
    puck = scene.plant.AddRigidBody("puck", SpatialInertia.SolidBoxWithMass(2.0, 0.2, 0.2, 0.2))
    scene.plant.RegisterCollisionGeometry(puck, RigidTransform(), Box(0.2, 0.2, 0.2), "puck", properties(0.3))
    id = scene.box([0, 0, 0])
    scene.start()
    scene.plant.SetFreeBodyPose(scene.context, puck, RigidTransform([0.03, 0.02, 0.21]))
    v = np.array([0.4, 0.0, -1.0])
    joint = next(j for j in scene.plant.moving_joints())
    velocities = scene.plant.GetVelocities(scene.context)
    velocities[3:] = v
    scene.plant.SetVelocities(scene.context, velocities)
    assert joint.num_velocities() == 6
    scene.to(0.2)
    body = scene.model.GetBody(id)
    soft = body.CalcCenterOfMassTranslationalVelocityInWorld(scene.context)
    rigid = scene.plant.EvalBodySpatialVelocityInWorld(scene.context, puck).translational()
    assert np.linalg.norm(soft) > 0.1
    assert 8.0 * soft + 2.0 * rigid == pytest.approx(2.0 * v, abs=1e-5)  # the tolerance of the contact problem


def test_a_disabled_body_stays_and_touches_nothing(tmp_path):
    scene = Scene(tmp_path)
    id = scene.box([0, 0, 1.0])
    scene.start()
    scene.model.Disable(id, scene.context)
    before = scene.q(id).copy()
    scene.to(0.05)
    assert np.array_equal(scene.q(id), before)
    scene.model.Enable(id, scene.context)
    scene.to(0.1)
    assert scene.v(id)[:, 2].mean() == pytest.approx(-G * 0.05)


def test_a_field_of_a_user_pulls(tmp_path):
    class Wind(ForceDensityField):
        def __init__(self):
            super().__init__(ForceDensityType.kPerReferenceVolume)

        def EvaluateAt(self, context, p_WQ):
            return np.array([1000.0 * context.get_time() / 0.1, 0.0, 0.0])

    scene = Scene(tmp_path, ground="none", gravity=(0, 0, 0))
    scene.model.AddExternalForce(Wind())
    id = scene.box([0, 0, 0])
    scene.start().to(0.1)
    # 1 N/kg at the end; steps take the force at their start
    assert scene.v(id)[:, 0].mean() == pytest.approx(0.045)


def test_filtered_geometries_do_not_touch(tmp_path):
    from mbcli.geometry import CollisionFilterDeclaration, GeometrySet

    scene = Scene(tmp_path)
    id = scene.box([0, 0, 0.1])
    (ground,) = scene.plant.GetCollisionGeometriesForBody(scene.plant.world_body())
    sets = GeometrySet([scene.model.GetGeometryId(id)]), GeometrySet([ground])
    scene.graph.collision_filter_manager().Apply(CollisionFilterDeclaration().ExcludeBetween(*sets))
    scene.start().to(0.1)
    assert scene.v(id)[:, 2].mean() == pytest.approx(-G * 0.1)


def test_a_body_that_is_torn_apart_ends_with_an_error(tmp_path):
    scene = Scene(tmp_path)
    id = scene.box([0, 0, 0.1])
    scene.start()
    v = np.random.default_rng(0).normal(size=scene.v(id).T.shape) * 1e160
    scene.model.SetVelocities(scene.context, id, v)
    with pytest.raises((NumericalError, ModelError)), np.errstate(all="ignore"):
        scene.to(0.1)


@pytest.mark.parametrize(("cores", "worth", "two"), [(1, 0, False), (2, 10**6, False), (2, 0, True)])
def test_two_threads_compute_large_bodies_where_there_are_two_cores(tmp_path, monkeypatch, cores, worth, two):
    seen, both = [], elastic_threads.Threads.both
    monkeypatch.setattr(elastic_step, "has_two_cores", lambda: cores > 1)
    monkeypatch.setattr(elastic_step, "WORTH_TWO", worth)
    monkeypatch.setattr(
        elastic_threads.Threads, "both", lambda self, *args: seen.append(self.are_two) or both(self, *args)
    )
    scene = Scene(tmp_path)
    scene.box([0, 0, 0.5], cells=2)
    scene.model.SetParallelism(2)
    scene.start().to(0.01)
    assert set(seen) == {two}
