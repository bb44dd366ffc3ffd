"""Deformable bodies that hang on rigid ones, are held by jaws, fall and stand on each other, beside pydrake."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from test_peers_deformable_steps import write_box

pytestmark = pytest.mark.peers("pydrake")
G, RHO = 9.81, 1000.0


class Scene:
    """A plant of a library, with boxes of tetrahedra and rigid bodies."""

    def __init__(self, library, dt, ground=False, mu=0.5, approximation="kSap", gravity=(0.0, 0.0, -G)):
        names = {
            "geometry": "geometry",
            "math": "math",
            "fem": "multibody.fem",
            "plants": "multibody.plant",
            "tree": "multibody.tree",
            "analysis": "systems.analysis",
            "framework": "systems.framework",
        }
        self.of = of = SimpleNamespace(**{k: import_module(f"{library}.{name}") for k, name in names.items()})
        self.builder, self.mu = of.framework.DiagramBuilder(), mu
        self.plant, _ = of.plants.AddMultibodyPlantSceneGraph(self.builder, dt)
        if library == "mbcli":
            self.plant.set_step_scheme("drake")
        self.plant.set_discrete_contact_approximation(getattr(of.plants.DiscreteContactApproximation, approximation))
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(gravity))
        self.soft = self.plant.mutable_deformable_model()
        if ground:
            self.collide(self.plant.world_body(), of.geometry.Box(10.0, 10.0, 1.0), [0.0, 0.0, -0.5], "ground")

    def at(self, p=(0.0, 0.0, 0.0)):
        return self.of.math.RigidTransform(np.array(p, dtype=float))

    def properties(self):
        made = self.of.geometry.ProximityProperties()
        friction = self.of.plants.CoulombFriction(self.mu, self.mu)
        self.of.geometry.AddContactMaterial(properties=made, friction=friction)
        return made

    def collide(self, body, shape, p, name):
        self.plant.RegisterCollisionGeometry(body, self.at(p), shape, name, self.properties())

    def body(self, path, p, E, nu=0.3, beta=0.01, name="soft", alpha=0.0, model="kLinearCorotated"):
        instance = self.of.geometry.GeometryInstance(self.at(p), self.of.geometry.Mesh(path), name)
        instance.set_proximity_properties(self.properties())
        config = self.of.fem.DeformableBodyConfig()
        config.set_youngs_modulus(E)
        config.set_poissons_ratio(nu)
        config.set_mass_density(RHO)
        config.set_material_model(getattr(self.of.fem.MaterialModel, model))
        config.set_mass_damping_coefficient(alpha)
        config.set_stiffness_damping_coefficient(beta)
        return self.soft.RegisterDeformableBody(instance, config, 1.0)

    def rigid(self, name, mass, sides):
        return self.plant.AddRigidBody(name, self.of.tree.SpatialInertia.SolidBoxWithMass(mass, *sides))

    def start(self):
        self.plant.Finalize()
        self.diagram = self.builder.Build()
        self.simulator = self.of.analysis.Simulator(self.diagram)
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())

    def to(self, t):
        self.simulator.AdvanceTo(t)

    def positions(self, body):
        """(n, 3) [m]"""
        return np.array(self.soft.GetPositions(self.context, body)).T

    def velocities(self, body):
        """(n, 3) [m/s]"""
        return np.array(self.soft.GetVelocities(self.context, body)).T

    def center(self, body):
        return np.ravel(self.soft.GetBody(body).CalcCenterOfMassPositionInWorld(self.context))

    def centers(self, body, times):
        """(times, 3) centres of mass."""
        found = []
        for t in times:
            self.to(t)
            found.append(self.center(body))
        return np.array(found)

    def forces(self):
        """Vertical forces of the contacts with deformable bodies, ascending."""
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        infos = [results.deformable_contact_info(i) for i in range(results.num_deformable_contacts())]
        return sorted(float(np.array(info.F_Ac_W().translational())[2]) for info in infos)


LIBRARIES = ("mbcli", "pydrake")


def rigid_pendulum(mass, length, width, hub, times):
    """Angles below the horizontal of a rigid bar that hangs on a hub at its end, released at rest."""
    inertia = mass * (length**2 + width**2) / 12 + mass * length**2 / 4 + hub * width**2 / 6
    angle, speed, t, h, found = 0.0, 0.0, 0.0, 1e-4, []
    while len(found) < len(times):
        speed += h * mass * G * length / 2 / inertia * np.cos(angle)
        angle, t = angle + h * speed, t + h
        if t > times[len(found)] - h / 2:
            found.append(angle)
    return np.array(found)


def test_a_bar_swings_on_a_hub_that_a_fixed_constraint_holds_it_to(tmp_path):
    L, w, times = 0.5, 0.05, np.arange(1, 9) * 0.1
    path = write_box(tmp_path / "bar.vtk", (10, 2, 2), (L, w, w))
    angles = []
    for library in LIBRARIES:
        scene = Scene(library, 0.005)
        hub = scene.rigid("hub", 1.0, (w, w, w))
        tree, geometry = scene.of.tree, scene.of.geometry
        scene.plant.AddJoint(
            tree.RevoluteJoint("pin", scene.plant.world_frame(), hub.body_frame(), np.array([0.0, 1.0, 0.0]))
        )
        bar = scene.body(path, [L / 2, 0.0, 0.0], 1e6, beta=0.001)
        X = scene.at([L / 2, 0.0, 0.0])
        scene.soft.AddFixedConstraint(bar, hub, X, geometry.Box(w / 2, 2 * w, 2 * w), scene.at())
        scene.start()
        x, _, z = scene.centers(bar, times).T
        angles.append(np.unwrap(np.arctan2(-z, x)))
    ours, theirs = angles
    rigid = rigid_pendulum(RHO * L * w * w, L, w, 1.0, times)
    assert np.abs(ours - theirs)[:4].max() < 0.04  # both damp, and pydrake's linear corotated gains energy by turning
    assert np.abs(ours - rigid).max() < 0.04
    assert np.abs(theirs - rigid).max() > np.abs(ours - rigid).max()


def lifted_by_jaws(library, path, F, dt=0.01, approximation="kSap", acceleration=0.5):
    """How far [m] a box of 0.1 m that jaws press with F [N] rises in 0.3, 0.5 and 0.7 s, and then their carriage."""
    w, m_jaw, m_car, thick = 0.1, 0.5, 1.0, 0.02
    scene = Scene(library, dt, ground=True, mu=1.0, approximation=approximation)
    plant, tree = scene.plant, scene.of.tree
    car = scene.rigid("car", m_car, (0.1, 0.1, 0.1))
    lift = plant.AddJoint(tree.PrismaticJoint("lift", plant.world_frame(), car.body_frame(), np.array([0.0, 0.0, 1.0])))
    plant.AddJointActuator("lift", lift)
    jaws = []
    for name, side in (("left", 1.0), ("right", -1.0)):
        body = scene.rigid(name, m_jaw, (thick, 0.1, 0.1))
        scene.collide(body, scene.of.geometry.Box(thick, 1.2 * w, 0.8 * w), [0.0, 0.0, 0.0], name)
        axis = np.array([side, 0.0, 0.0])
        jaws.append(plant.AddJoint(tree.PrismaticJoint(name, car.body_frame(), body.body_frame(), axis)))
        plant.AddJointActuator(name, jaws[-1])
    box = scene.body(path, [0.0, 0.0, w / 2], 1e5, beta=0.1)
    scene.start()
    lift.set_translation(scene.context, w / 2)
    for jaw in jaws:
        jaw.set_translation(scene.context, -(w / 2 + thick / 2 + 1e-3))
    rigid, port = m_car + 2 * m_jaw, plant.get_actuation_input_port()
    port.FixValue(scene.context, np.array([rigid * G, F, F]))
    held = scene.centers(box, [0.5])[0, 2]
    port.FixValue(scene.context, np.array([(rigid + RHO * w**3) * (G + acceleration), F, F]))
    heights = scene.centers(box, [0.8, 1.0, 1.2])[:, 2]
    return np.array([*(heights - held), lift.get_translation(scene.context) - w / 2])


def test_jaws_lift_a_soft_box(tmp_path):
    path = write_box(tmp_path / "box.vtk", (4, 4, 4), (0.1, 0.1, 0.1))
    ours, theirs = (lifted_by_jaws(library, path, 20.0) for library in LIBRARIES)
    assert ours[2] == pytest.approx(0.5 * 0.5 * 0.7**2, abs=2e-3)
    assert np.abs(ours - theirs).max() < 1e-3


@pytest.mark.parametrize("model", ["kLinearCorotated", "kCorotated", "kNeoHookean"])
def test_a_ball_falls_and_bounces(tmp_path, model):
    """Of the same tetrahedra. pydrake's contact is softer: its ball sinks into the ground, ours is compressed more."""
    from mbcli.geometry import Sphere
    from mbcli.multibody.deformable.elastic_mesh import elastic_mesh

    mesh = elastic_mesh(Sphere(0.1), 0.05)
    points, tets = mesh.vertices, mesh.tetrahedra
    lines = ["# vtk DataFile Version 3.0", "ball", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(points)} double", *(" ".join(map(repr, map(float, p))) for p in points)]
    lines += [f"CELLS {len(tets)} {5 * len(tets)}", *(f"4 {a} {b} {c} {d}" for a, b, c, d in tets)]
    lines += [f"CELL_TYPES {len(tets)}", *("10" for _ in tets)]
    path = tmp_path / "ball.vtk"
    path.write_text("\n".join(lines) + "\n")
    times, found, depth = np.arange(1, 51) * 0.01, [], 0.0
    for library in LIBRARIES:
        scene = Scene(library, 0.005, ground=True)
        ball = scene.body(str(path), [0.0, 0.0, 0.4], 3e4, nu=0.4, beta=0.002, model=model)
        scene.start()
        begin, heights = scene.center(ball)[2], []  # the tetrahedra are not symmetric: 0.4 m but for 17 um
        for t in times:
            heights.append(scene.centers(ball, [t])[0, 2])
            depth = max(depth, -scene.positions(ball)[:, 2].min())
        found.append(np.array(heights))
    ours, theirs = found
    fall = begin - 0.5 * G * times[:24] ** 2
    assert begin == pytest.approx(0.4, abs=2e-5)
    assert np.abs(ours[:24] - fall).max() < 1e-9
    assert np.abs(theirs[:24] - fall).max() < 1e-4
    lowest = [int(np.argmin(z)) for z in found]
    assert abs(lowest[0] - lowest[1]) <= 1
    assert depth < 0.015
    assert min(ours) == pytest.approx(min(theirs), abs=depth)
    assert max(ours[lowest[0] :]) == pytest.approx(max(theirs[lowest[1] :]), rel=0.15)


def test_two_soft_boxes_stand_on_each_other(tmp_path):
    w, found = 0.1, []
    path = write_box(tmp_path / "box.vtk", (3, 3, 3), (w, w, w))
    for library in LIBRARIES:
        scene = Scene(library, 0.01, ground=True)
        lower = scene.body(path, [0.0, 0.0, w / 2], 1e5, name="lower")
        upper = scene.body(path, [0.01, 0.0, 1.5 * w + 0.001], 4e5, name="upper")
        scene.start()
        found.append((scene.centers(lower, [1.0])[0], scene.centers(upper, [1.0])[0], scene.forces()))
    ours, theirs = found
    weight = RHO * w**3 * G
    assert ours[2] == pytest.approx([-weight, 2 * weight], abs=5e-3)
    assert theirs[2] == pytest.approx([-weight, 2 * weight], abs=5e-2)
    for k in (0, 1):
        assert np.abs(ours[k] - theirs[k]).max() < 2e-3
