"""Contact surfaces beside pydrake's: every pair of shapes, and scenes that go on for a while."""

import itertools

import numpy as np
import pytest
from peer_modules import peer

import mbcli.all
from mbcli import geometry

pydrake = peer("pydrake.all")
pytestmark = pytest.mark.peers("pydrake")

MEASURES = {
    "Sphere": (0.1,),
    "Box": (0.2, 0.16, 0.12),
    "Cylinder": (0.08, 0.2),
    "Capsule": (0.06, 0.1),
    "Ellipsoid": (0.1, 0.07, 0.09),
    "Convex": (),
    "Mesh": (),
}
OBJ = "v 0.1 0 -0.03\nv -0.1 0.1 -0.03\nv -0.1 -0.1 -0.03\nv 0 0 0.13\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


class Own:
    """mbcli's names, shapes among them."""

    def __getattr__(self, name):
        return getattr(geometry, name, None) or getattr(mbcli.all, name)


OWN = Own()


def properties(m, soft, modulus=1e6, hint=0.05, slab=None, friction=0.5):
    p = m.ProximityProperties()
    m.AddContactMaterial(dissipation=10.0, friction=m.CoulombFriction(friction, friction), properties=p)
    p.AddProperty("material", "relaxation_time", 0.01)
    if slab is not None:
        m.AddCompliantHydroelasticPropertiesForHalfSpace(slab, modulus, p)
    elif soft:
        m.AddCompliantHydroelasticProperties(resolution_hint=hint, hydroelastic_modulus=modulus, properties=p)
    else:
        m.AddRigidHydroelasticProperties(resolution_hint=hint, properties=p)
    return p


def shape(m, name, folder):
    if name in ("Convex", "Mesh"):
        path = folder / "tetrahedron.obj"
        path.write_text(OBJ)
        return getattr(m, name)(str(path), 1.0)
    return getattr(m, name)(*MEASURES[name])


class World:
    """A plant of one of the programs."""

    def __init__(self, m, time_step, approximation="lagged", representation="polygon", gravity=True):
        self.m, self.h, self.count = m, time_step, 0
        config = m.MultibodyPlantConfig(time_step=time_step, contact_model="hydroelastic_with_fallback")
        config.contact_surface_representation, config.stiction_tolerance = representation, 1e-4
        config.discrete_contact_approximation = approximation
        self.builder = m.DiagramBuilder()
        self.plant, _ = m.AddMultibodyPlant(config, self.builder)
        if hasattr(self.plant, "set_step_scheme"):
            self.plant.set_step_scheme("drake")
        if not gravity:
            self.plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))

    def body(self, name, geometries, mass=1.0, size=0.1):
        m = self.m
        body = self.plant.AddRigidBody(name, m.SpatialInertia.SolidBoxWithMass(mass, size, size, size))
        for k, (made, p, X) in enumerate(geometries):
            self.plant.RegisterCollisionGeometry(body, X or m.RigidTransform(), made, f"{name}{k}", p)
        return body

    def fixed(self, made, p, X=None):
        self.count += 1
        self.plant.RegisterCollisionGeometry(
            self.plant.world_body(), X or self.m.RigidTransform(), made, f"fixed{self.count}", p
        )

    def start(self):
        self.plant.Finalize()
        self.diagram = self.builder.Build()
        self.simulator = self.m.Simulator(self.diagram)
        root = self.simulator.get_mutable_context()
        self.context = self.plant.GetMyMutableContextFromRoot(root)
        return self

    def place(self, name, p, rpy=(0, 0, 0), v=(0, 0, 0), w=(0, 0, 0)):
        m, body = self.m, self.plant.GetBodyByName(name)
        X = m.RigidTransform(m.RollPitchYaw(*rpy), list(p))
        self.plant.SetFreeBodyPose(self.context, body, X)
        V = m.SpatialVelocity(w=np.array(w, float), v=np.array(v, float))
        self.plant.SetFreeBodySpatialVelocity(context=self.context, body=body, V_PB=V)

    def run(self, end):
        self.simulator.AdvanceTo(end - self.h / 2)
        q = np.array(self.plant.GetPositions(self.context))
        for body in self.plant.GetFloatingBaseBodies():  # steps of pydrake leave quaternions as long as they become
            i = self.plant.get_body(body).floating_positions_start()
            q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
        return np.concatenate([q, self.plant.GetVelocities(self.context)])

    def results(self):
        return self.plant.get_contact_results_output_port().Eval(self.context)


def surface(m, names, soft, folder, rpy, p, representation):
    """(area, centroid, force on A, its moment at the centroid), None where there is no surface."""
    world = World(m, 0.0, representation=representation)
    (first, given), (second, other) = (
        (shape(m, name, folder), properties(m, is_soft)) for name, is_soft in zip(names, soft, strict=True)
    )
    world.fixed(first, given)
    world.body("b", [(second, other, None)])
    world.start()
    world.place("b", p, rpy)
    results = world.results()
    if results.num_hydroelastic_contacts() == 0:
        return None
    info = results.hydroelastic_contact_info(0)
    F, contact = info.F_Ac_W(), info.contact_surface()
    return contact.total_area(), contact.centroid(), F.translational(), F.rotational()


PAIRS = [
    (first, second, soft)
    for first, second in itertools.product(MEASURES, MEASURES)
    for soft in ((True, True), (True, False))
    if not (first == "Mesh" or (second == "Mesh" and soft[1]))  # pydrake has compliant meshes of tetrahedra only
]


@pytest.mark.parametrize("first, second, soft", PAIRS)
def test_23_surfaces_of_two_shapes_are_those_of_pydrake(first, second, soft, tmp_path):
    rng = np.random.default_rng(len(first) * 31 + len(second))
    found = 0
    for k in range(3):
        rpy, direction = rng.uniform(-np.pi, np.pi, 3), rng.normal(size=3)
        p = (0.13, 0.1, 0.07)[k] * direction / np.linalg.norm(direction)
        representation = ("polygon", "triangle")[k % 2]
        ours, theirs = (surface(m, (first, second), soft, tmp_path, rpy, p, representation) for m in (OWN, pydrake))
        assert (ours is None) == (theirs is None)
        if ours is None:
            continue
        found += 1
        size = np.linalg.norm(theirs[2])
        # a rigid mesh may be cut otherwise into triangles, which moves centroids of faces: forces stay
        assert ours[0] == pytest.approx(theirs[0], rel=1e-8)
        np.testing.assert_allclose(ours[1], theirs[1], atol=1e-8)
        np.testing.assert_allclose(ours[2], theirs[2], atol=1e-7 * size)
        if representation == "triangle":
            np.testing.assert_allclose(ours[3], theirs[3], atol=1e-7 * size)
    assert found > 0


# ------------------------------------------------------------------------------------------ scenes


def rocking_box(m, approximation):
    world = World(m, 1e-3, approximation)
    world.body("b", [(m.Box(0.1, 0.1, 0.3), properties(m, True), None)])
    world.fixed(m.HalfSpace(), properties(m, False))
    world.start()
    world.place("b", (0.0, 0.0, 0.157), (0.1, 0.0, 0.0))
    return world, 0.5, 2e-3


def grasped_box(m, approximation):
    """A rigid box between two soft fingertips, turned about the line between them: it is held."""
    world = World(m, 1e-3, approximation, gravity=False)
    world.body("b", [(m.Box(0.06, 0.06, 0.06), properties(m, False), None)], 0.1, 0.06)
    for side in (-1, 1):
        X = m.RigidTransform([side * 0.048, 0.0, 0.0])
        world.fixed(m.Sphere(0.02), properties(m, True, 1e5, 0.004), X)
    world.start()
    world.place("b", (0.0, 0.0, 0.0), w=(5.0, 0.0, 0.0))
    return world, 0.3, 2e-3


def stack_of_ten(m, approximation):
    world = World(m, 1e-3, approximation)
    for k in range(10):
        world.body(f"b{k}", [(m.Box(0.1, 0.1, 0.1), properties(m, True), None)])
    world.fixed(m.HalfSpace(), properties(m, False))
    world.start()
    for k in range(10):
        world.place(f"b{k}", (0.0, 0.0, 0.0499 + 0.0998 * k))
    return world, 0.3, 1e-3


SCENES = {"rocking box": rocking_box, "grasped box": grasped_box, "stack of ten": stack_of_ten}


@pytest.mark.parametrize("approximation", ["lagged", "similar", "sap", "tamsi"])
@pytest.mark.parametrize("name", SCENES)
def test_scenes_move_as_in_pydrake(name, approximation):
    states = []
    for m in (OWN, pydrake):
        world, end, apart = SCENES[name](m, approximation)
        states.append(world.run(end))
        positions = world.plant.num_positions()
    assert abs(states[0][:positions] - states[1][:positions]).max() < apart
    assert abs(states[1]).max() < 20.0


def bowl_text():
    """A bowl as a closed surface: the lower half of a shell between the radii 0.2 and 0.24 m."""
    rings, sides = 8, 24
    rows = []
    for radius in (0.2, 0.24):
        for i in range(1, rings + 1):
            angle = np.pi / 2 * i / rings
            for k in range(sides):
                t = 2 * np.pi * k / sides
                x, y, z = np.sin(angle) * np.cos(t), np.sin(angle) * np.sin(t), -np.cos(angle)
                rows.append(radius * np.array([x, y, z]))
    poles = [np.array([0, 0, -0.2]), np.array([0, 0, -0.24])]
    faces = []
    count = rings * sides

    def at(shell, i, k):
        return 1 + shell * count + i * sides + k % sides

    for k in range(sides):
        faces.append((2 * count + 1, at(0, 0, k), at(0, 0, k + 1)))
        faces.append((2 * count + 2, at(1, 0, k + 1), at(1, 0, k)))
        for i in range(rings - 1):
            a, b, c, d = at(0, i, k), at(0, i, k + 1), at(0, i + 1, k + 1), at(0, i + 1, k)
            faces += [(a, d, c), (a, c, b)]
            a, b, c, d = at(1, i, k), at(1, i, k + 1), at(1, i + 1, k + 1), at(1, i + 1, k)
            faces += [(a, c, d), (a, b, c)]
        a, b, c, d = at(0, rings - 1, k), at(0, rings - 1, k + 1), at(1, rings - 1, k + 1), at(1, rings - 1, k)
        faces += [(a, d, c), (a, c, b)]
    lines = ["v {:.17g} {:.17g} {:.17g}".format(*row) for row in [*rows, *poles]]
    return "\n".join(lines + [f"f {a} {b} {c}" for a, b, c in faces]) + "\n"


def test_a_soft_ball_rolls_in_a_rigid_bowl_as_in_pydrake(tmp_path):
    path = tmp_path / "bowl.obj"
    path.write_text(bowl_text())
    states = []
    for m in (OWN, pydrake):
        world = World(m, 1e-3)
        world.body("b", [(m.Sphere(0.05), properties(m, True, 1e5, 0.02), None)])
        world.fixed(m.Mesh(str(path), 1.0), properties(m, False))
        world.start()
        world.place("b", (0.08, 0.0, -0.12))
        states.append(world.run(0.4))
    np.testing.assert_allclose(states[0][:7], states[1][:7], atol=2e-3)
    assert states[1][4] ** 2 + states[1][5] ** 2 + states[1][6] ** 2 < 0.17**2


def gear_text(teeth=8, inner=0.04, outer=0.055, width=0.02):
    """A gear as tetrahedra: between the axis and its outline, in prisms of three tetrahedra each."""
    outline = []
    for k in range(teeth):
        for radius, share in ((inner, 0.0), (outer, 0.3), (outer, 0.5), (inner, 0.8)):
            t = 2 * np.pi * (k + share) / teeth
            outline.append((radius * np.cos(t), radius * np.sin(t)))
    n = len(outline)
    points = [(0.0, 0.0, -width / 2), (0.0, 0.0, width / 2), (0.0, 0.0, 0.0)]
    points += [(x, y, z) for z in (-width / 2, width / 2) for x, y in outline]
    sides, tets = [], []
    for k in range(n):
        a, b = 3 + k, 3 + (k + 1) % n
        sides += [(0, b, a), (1, a + n, b + n), (a, b, b + n), (a, b + n, a + n)]
    P = np.array(points)
    for a, b, c in sides:  # from the middle, which every side sees
        if np.linalg.det(P[[b, c, 2]] - P[a]) < 0:
            b, c = c, b
        tets.append((a, b, c, 2))
    lines = ["# vtk DataFile Version 3.0", "gear", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(points)} double"]
    lines += ["{:.17g} {:.17g} {:.17g}".format(*p) for p in points]
    lines += [f"CELLS {len(tets)} {5 * len(tets)}", *("4 {} {} {} {}".format(*t) for t in tets)]
    return "\n".join(lines + [f"CELL_TYPES {len(tets)}", *["10"] * len(tets)]) + "\n"


def test_gears_press_on_each_other_as_in_pydrake(tmp_path):
    path = tmp_path / "gear.vtk"
    path.write_text(gear_text())
    found = []
    for m in (OWN, pydrake):
        loads = []
        for angle in (0.1, 0.25):
            world = World(m, 0.0, gravity=False, representation="triangle")
            world.body("b", [(m.Mesh(str(path), 1.0), properties(m, True, 1e6), None)])
            world.fixed(m.Mesh(str(path), 1.0), properties(m, True, 2e6))
            world.start()
            world.place("b", (0.094, 0.0, 0.003), (0.0, 0.0, angle))
            results = world.results()
            assert results.num_hydroelastic_contacts() == 1
            info = results.hydroelastic_contact_info(0)
            F = info.F_Ac_W()
            loads.append([*F.translational(), *F.rotational(), info.contact_surface().total_area()])
        found.append(loads)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-7)
