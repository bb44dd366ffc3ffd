"""Random scenes in contact: every step balances momentum with the contact forces that it reports, and no step gains.

Each step is checked from outside: mass matrix and Jacobians of the plant at its start, bias by the velocities of its
scheme, contact results at its end.
"""

import numpy as np
import pytest
from contact_scenes import APPROXIMATIONS, Scene, own_library

LIB = own_library()
H = 2e-3
STEPS = 25
TOLERANCE = 2e-6  # of momenta: the solver ends at 1e-6
ROUNDING = 1e-9  # of the impulses one by one, of what is exact by the laws
GAIN = 1e-3  # of the energy that is in a scene: forces of rotation are those of a step's start


def random_body(s, rng, name):
    """A ball, box, cylinder, capsule or ellipsoid of some 10 cm, between 0.1 and 3 kg."""
    lib, mass = s.lib, 10.0 ** rng.uniform(-1.0, 0.5)
    a = rng.uniform(0.04, 0.1, 3)
    shape, inertia = {
        "ball": lambda: (lib.Sphere(a[0]), lib.SpatialInertia.SolidSphereWithMass(mass, a[0])),
        "box": lambda: (lib.Box(*(2 * a)), lib.SpatialInertia.SolidBoxWithMass(mass, *(2 * a))),
        "cylinder": lambda: (
            lib.Cylinder(a[0], 2 * a[1]),
            lib.SpatialInertia.SolidCylinderWithMass(mass, a[0], 2 * a[1], [0.0, 0.0, 1.0]),
        ),
        "capsule": lambda: (
            lib.Capsule(a[0], 2 * a[1]),
            lib.SpatialInertia.SolidCapsuleWithMass(mass, a[0], 2 * a[1], [0.0, 0.0, 1.0]),
        ),
        "ellipsoid": lambda: (lib.Ellipsoid(*a), lib.SpatialInertia.SolidEllipsoidWithMass(mass, *a)),
    }[rng.choice(["ball", "box", "cylinder", "capsule", "ellipsoid"])]()
    body = s.plant.AddRigidBody(name, inertia)
    surface = {"stiffness": 10.0 ** rng.uniform(3.5, 6.0), "friction": rng.uniform(0.0, 1.2)}
    s.collide(body, shape, dissipation=rng.uniform(0.0, 50.0), tau=rng.uniform(0.0, 0.1), **surface)
    return body


def heap(s, rng):
    """Four bodies that overlap a little, one above another, over the ground."""
    s.ground()
    names = [f"body_{k}" for k in range(4)]
    for name in names:
        random_body(s, rng, name)
    s.start()
    for k, name in enumerate(names):
        place_at_random(s, rng, name, [0.0, 0.0, 0.06 + 0.1 * k], 0.02, 1.0)


def squeezed(s, rng):
    """A body between two plates that are pressed together, one of them fixed."""
    plate = s.plant.AddRigidBody("plate", LIB.SpatialInertia.SolidBoxWithMass(2.0, 0.4, 0.4, 0.04))
    s.collide(plate, LIB.Box(0.4, 0.4, 0.04))
    frames = s.plant.world_frame(), plate.body_frame()
    joint = s.plant.AddJoint(LIB.PrismaticJoint("press", *frames, [0.0, 0.0, 1.0]))
    s.plant.AddJointActuator("press", joint)
    s.fixed_box((0.4, 0.4, 0.04), (0.0, 0.0, -0.02))
    random_body(s, rng, "body_0")
    s.start()
    s.plant.get_actuation_input_port().FixValue(s.context, [-rng.uniform(10.0, 300.0)])
    joint.set_translation(s.context, 0.15)
    place_at_random(s, rng, "body_0", [0.0, 0.0, 0.07], 0.01, 0.5)


def wedge(s, rng):
    """A body falls into a groove between two inclined plates and wedges itself in."""
    angle = rng.uniform(0.5, 1.2)
    for side in (1.0, -1.0):
        s.fixed_box((0.6, 0.6, 0.1), (side * 0.25, 0.0, 0.2), (0.0, -side * angle, 0.0), friction=rng.uniform(0.0, 1.0))
    random_body(s, rng, "body_0")
    random_body(s, rng, "body_1")
    s.start()
    bottom = 0.2 - 0.25 * np.tan(angle) + 0.05 / np.cos(angle)
    place_at_random(s, rng, "body_0", [0.0, 0.0, bottom + 0.06 / np.cos(angle)], 0.01, 1.0)
    place_at_random(s, rng, "body_1", [0.0, 0.1, bottom + 0.1 / np.cos(angle)], 0.01, 1.0)


def rolling(s, rng):
    """Bodies slide and roll over a slope at speed."""
    s.fixed_box((4.0, 4.0, 1.0), (0.0, 0.0, -0.5), (0.0, rng.uniform(0.0, 0.5), 0.0), friction=rng.uniform(0.0, 1.0))
    for k in range(2):
        random_body(s, rng, f"body_{k}")
    s.start()
    for k in range(2):
        place_at_random(s, rng, f"body_{k}", [0.0, 0.5 * k, 0.06], 0.01, 4.0)


SCENES = {"heap": heap, "squeezed": squeezed, "wedge": wedge, "rolling": rolling}


def place_at_random(s, rng, name, position, spread, speed):
    rpy, v, w = rng.uniform(-1.5, 1.5, 3), speed * rng.normal(size=3), 3.0 * speed * rng.normal(size=3)
    s.place(name, position + spread * rng.normal(size=3), rpy, v, w)


def start_of_step(s):
    """What the next step is computed from: M, h times the forces without contact, v, and Jacobians on demand."""
    plant, context = s.plant, s.context.Clone()
    M, forces = plant.CalcMassMatrix(context), plant.CalcGravityGeneralizedForces(context)
    if plant.num_actuators():
        forces = forces + plant.MakeActuationMatrix() @ plant.get_actuation_input_port().Eval(context)
    pushed = forces - plant.CalcBiasTerm(context)
    if plant.get_step_scheme() == "midpoint":  # of motion without contact, as bodies are single
        middle = context.Clone()
        for _ in range(2):
            plant.SetVelocities(middle, s.v + 0.5 * H * np.linalg.solve(M, pushed))
            pushed = forces - plant.CalcBiasTerm(middle)
    return context, M, H * pushed, s.v


def jacobian(s, context, info):
    """Of the velocity of body B's point of a contact relative to body A's, in W, (3, nv)."""
    plant, world = s.plant, s.plant.world_frame()
    J = np.zeros((3, plant.num_velocities()))
    for index, sign in ((info.bodyA_index(), -1.0), (info.bodyB_index(), 1.0)):
        frame = plant.get_body(index).body_frame()
        p = plant.CalcPointsPositions(context, world, info.contact_point(), frame)
        kind = LIB.JacobianWrtVariable.kV
        J += sign * plant.CalcJacobianTranslationalVelocity(context, kind, frame, p, world, world)
    return J


def check_step(s, start, approximation):
    """Momentum, and for each contact its signs and its friction; the number of contacts."""
    context, M, pushed, v = start
    gained, impulses, contacts = M @ (s.v - v) - pushed, np.zeros_like(v), s.contacts()
    terms = inertial = s.v @ (np.diag(M) * s.v)
    for info in contacts:
        J, f = jacobian(s, context, info), np.asarray(info.contact_force())
        impulse = H * J.T @ f
        impulses += impulse
        terms += impulse @ (impulse / np.diag(M))
        check_contact(s, info, J @ s.v, f, approximation)
    error = gained - impulses
    net = max(impulses @ (impulses / np.diag(M)), inertial)
    assert np.sqrt(error @ (error / np.diag(M))) <= TOLERANCE * np.sqrt(net) + ROUNDING * np.sqrt(terms)
    return len(contacts)


def check_contact(s, info, v_B, f, approximation):
    """f: on B; v_B: velocity of B's point relative to A's at the step's end, at the place of its start."""
    n = -np.asarray(info.point_pair().nhat_BA_W)  # out of A into B, the way B is pushed
    pressed, parting = f @ n, v_B @ n
    friction, slip = f - pressed * n, v_B - parting * n
    scale = ROUNDING * max(1.0, np.linalg.norm(f))
    assert pressed >= -scale
    assert friction @ slip <= scale * max(1.0, np.linalg.norm(slip))  # takes energy
    np.testing.assert_allclose(
        np.cross(friction, slip), 0.0, atol=1e-6 * np.linalg.norm(f) * np.linalg.norm(slip) + scale
    )
    if approximation != "lagged":  # whose friction is that of the normal force of the step's start
        assert np.linalg.norm(friction) <= friction_of(s, info) * pressed + scale
    if approximation in ("lagged", "tamsi") and pressed > scale:
        assert info.point_pair().depth - H * parting > 0.0  # still overlapping at the step's end


def friction_of(s, info):
    """The coefficient of a pair."""
    pair, inspector = info.point_pair(), s.graph.model_inspector()
    a, b = (
        inspector.GetProximityProperties(g).GetProperty("material", "coulomb_friction").dynamic_friction()
        for g in (pair.id_A, pair.id_B)
    )
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0


def energy(s):
    """Kinetic and potential energy [J], less the work of an actuator that pushes steadily."""
    total = s.plant.CalcKineticEnergy(s.context) + s.plant.CalcPotentialEnergy(s.context)
    if s.plant.num_actuators():
        force = s.plant.get_actuation_input_port().Eval(s.context)[0]
        total -= force * s.q[s.plant.GetJointByName("press").position_start()]
    return total


def most_elastic(s):
    """Upper bound of the elastic energy [J] of present overlaps: all of a pair's stiffness at its deepest point."""
    contacts, solids, stored = s.plant.contact_record(s.context), s.plant.compiled_geometries().solids, {}
    for pair, distance in zip(contacts.solid, contacts.distance, strict=True):
        k_A, k_B = (solids[k].material[0] for k in pair)
        of_pair = 0.5 * k_A * k_B / (k_A + k_B) * distance**2
        stored[tuple(pair)] = max(of_pair, stored.get(tuple(pair), 0.0))
    return sum(stored.values())


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scheme", ["drake", "midpoint"])
def test_every_step_balances_momentum(scheme, name, approximation, seed):
    rng = np.random.default_rng(seed)
    s = Scene(LIB, H, approximation)
    s.plant.set_step_scheme(scheme)
    SCENES[name](s, rng)
    s.simulator.Initialize()
    seen = 0
    for _ in range(STEPS):
        start = start_of_step(s)
        s.steps(1)
        seen += check_step(s, start, approximation)
    assert seen > 0


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("seed", [10, 11])
def test_contact_gives_no_energy_without_work(name, approximation, seed):
    """No more than there was at the start, elastic energy of the first overlaps included."""
    rng = np.random.default_rng(seed)
    s = Scene(LIB, H, approximation)
    SCENES[name](s, rng)
    s.simulator.Initialize()
    kinetic = s.plant.CalcKineticEnergy(s.context)
    most = energy(s) + most_elastic(s) + GAIN * (kinetic + 1.0)
    for _ in range(3 * STEPS):
        s.steps(1)
        assert energy(s) <= most
