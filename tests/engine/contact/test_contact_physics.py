"""Contact against what mechanics says: the checks 18 to 22 of the plant's specification."""

import numpy as np
import pytest
from contact_scenes import APPROXIMATIONS, FALL, Scene, own_library

from mbcli.engine import load_kernels
from mbcli.engine.contact import arrays
from mbcli.engine.fields.contact_fields import COUNT_CONSTRAINTS, SAP, SETTING_RESIDUAL
from mbcli.engine.runtime.kernel import compiled_by_default

LIB = own_library()
H = 1e-3
only_compiled = pytest.mark.skipif(not compiled_by_default(), reason="takes minutes interpreted")


def scene(approximation="lagged", h=H, **options):
    return Scene(LIB, h, approximation, **options)


def solver_of(s):
    return s.context.state.contact.solver


def ball_on_ground(approximation, h=H, mass=1.0, friction=0.5, depth=0.0, ball=None, **ground):
    """A ball of 10 cm over the ground, its lowest point so deep; `ball`, `ground`: what their surfaces have."""
    s = scene(approximation, h, friction=friction)
    s.ground(**ground)
    s.ball("ball", mass, 0.1, **(ball or {}))
    s.start()
    s.place("ball", (0.0, 0.0, 0.1 - depth))
    return s


class Puck:
    """A ball that moves along x and z but does not turn, on the ground, with gravity tilted by an angle about y."""

    mass = 1.0

    def __init__(self, approximation, h=H, *, tilt=0.0, **surface):
        self.s = s = scene(approximation, h, **surface)
        plant = s.plant
        plant.mutable_gravity_field().set_gravity_vector(FALL * np.array([np.sin(tilt), 0.0, -np.cos(tilt)]))
        s.ground()
        slider = plant.AddRigidBody("slider", LIB.SpatialInertia.SolidSphereWithMass(1e-9, 0.1))
        s.ball("puck", self.mass, 0.1)
        frames = plant.world_frame(), slider.body_frame(), plant.GetBodyByName("puck").body_frame()
        plant.AddJoint(LIB.PrismaticJoint("x", frames[0], frames[1], [1.0, 0.0, 0.0]))
        plant.AddJoint(LIB.PrismaticJoint("z", frames[1], frames[2], [0.0, 0.0, 1.0]))
        s.start()

    def at(self, depth, speed, fall=0.0):
        self.s.set([0.0, 0.1 - depth], [speed, -fall])
        return self

    def steps(self, count):
        self.s.steps(count)
        return self

    @property
    def depth(self):
        return 0.1 - self.s.q[1]

    @property
    def v(self):
        return self.s.v


# --------------------------------------------------------------------------------------- 19: normal force


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_19_a_ball_sinks_by_its_weight_over_the_stiffness_of_the_pair(approximation):
    """In series, in the middle of the pair what is softer: k = k1 k2 / (k1 + k2). A ball that rests stays there."""
    surfaces = {"ball": {"stiffness": 3e4}, "stiffness": 6e4}
    pair = 3e4 * 6e4 / (3e4 + 6e4)
    s = ball_on_ground(approximation, mass=2.0, depth=2.0 * FALL / pair, **surfaces)
    if approximation == "sap":  # 1 / (h k (h + tau)) is softer than what the threshold lets pass
        assert s.plant.get_sap_near_rigid_threshold() ** 2 / (4 * np.pi**2) < 1.0 / (H * pair * (H + 0.04)) * 2.0
    s.steps(20)
    assert 0.1 - s.where("ball")[2] == pytest.approx(2.0 * FALL / pair, rel=1e-6)
    (contact,) = s.contacts()
    np.testing.assert_allclose(contact.contact_force(), [0.0, 0.0, 2.0 * FALL], atol=1e-5)
    assert int(contact.bodyB_index()) == s.plant.GetBodyByName("ball").index()


@only_compiled
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_19_a_ball_comes_to_rest_there(approximation):
    s = ball_on_ground(approximation, depth=-0.02, stiffness=2e4)
    s.steps(1500)
    assert 0.1 - s.where("ball")[2] == pytest.approx(FALL / 1e4, rel=1e-4)
    assert np.linalg.norm(s.v) < 1e-6


@pytest.mark.parametrize("d", [2.0, 10.0])
@pytest.mark.parametrize("approximation", ["lagged", "similar", "tamsi"])
def test_19_a_ball_leaves_at_most_with_the_inverse_of_the_dissipation_and_is_never_pulled(approximation, d):
    """However fast it comes, it leaves slower than 1 / d, and not much slower than that if it comes fast."""
    s = ball_on_ground(approximation, h=5e-4, ball={"dissipation": d}, dissipation=d)
    s.place("ball", (0.0, 0.0, 0.1), velocity=(0.0, 0.0, -3.0))
    fastest, forces = 0.0, []
    for _ in range(150):
        s.steps(1)
        forces += [c.contact_force()[2] for c in s.contacts()]
        fastest = max(fastest, s.velocity("ball")[2])
        if s.where("ball")[2] > 0.1001 and fastest > 0.0:
            break
    assert min(forces) >= 0.0 and max(forces) > 100.0
    assert 0.5 / d < fastest < 1.0 / d


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_19_balls_that_collide_exchange_momentum(approximation, monkeypatch):
    """In free space, askew: what one loses the other gets, about any point; the force is on body B."""
    monkeypatch.setattr(arrays, "DEFAULT_TOLERANCE", 1e-9 if approximation == "tamsi" else 1e-12)
    s = scene(approximation, gravity=False)
    s.ball("a", 1.0, 0.1)
    s.ball("b", 3.0, 0.2)
    s.start()
    s.place("a", (0.0, 0.0, 0.0), velocity=(2.0, 0.0, 0.5), spin=(0.0, 3.0, 10.0))
    s.place("b", (0.297, 0.03, 0.0), velocity=(-1.0, 0.0, 0.0))
    plant = s.plant

    def momentum():
        L = plant.CalcSpatialMomentumInWorldAboutPoint(s.context, [0.0, 0.0, 0.0])
        return np.concatenate([L.rotational(), L.translational()])

    before, v = momentum(), s.velocity("b")
    s.steps(1)
    (contact,) = s.contacts()
    sign = 1.0 if contact.bodyB_index() == plant.GetBodyByName("b").index() else -1.0
    np.testing.assert_allclose(3.0 * (s.velocity("b") - v), sign * H * contact.contact_force(), atol=1e-9)
    assert contact.contact_force()[0] * sign > 100.0
    p_before = before[3:]
    np.testing.assert_allclose(momentum()[3:], p_before, atol=1e-12)
    # positions have moved on with the new velocities, which leaves the moment of each momentum as it is
    np.testing.assert_allclose(momentum()[:3], before[:3], atol=2e-4)
    s.steps(20)
    np.testing.assert_allclose(momentum()[3:], p_before, atol=1e-11)


# --------------------------------------------------------------------------------------------- 18: friction


def slope_of_creep(approximation, ratio, v_s):
    """The slip at which friction holds what is `ratio` of its most, of the two regularizations."""
    if approximation == "tamsi":
        return v_s * (1.0 - np.sqrt(1.0 - ratio))  # of s (2 - s)
    return v_s * ratio / np.sqrt(1.0 - ratio**2)  # of s / sqrt(1 + s^2)


@pytest.mark.parametrize("approximation", ["lagged", "similar", "tamsi"])
@pytest.mark.parametrize("tilt", [0.1, 0.3])
def test_18_a_block_on_an_incline_creeps_as_the_regularization_says(approximation, tilt):
    """tan(tilt) < mu = 0.5: it sticks, but for a slip below the stiction tolerance that does not change."""
    v_s = 1e-3
    puck = Puck(approximation, tilt=tilt, v_s=v_s).at(FALL * np.cos(tilt) / 1e4, 0.0).steps(60)
    first = puck.v[0]
    puck.steps(20)
    expected = slope_of_creep(approximation, np.tan(tilt) / 0.5, v_s)
    assert puck.v[0] == pytest.approx(expected, rel=1e-3 if approximation == "tamsi" else 1e-2)
    assert puck.v[0] == pytest.approx(first, rel=1e-2) and puck.v[0] < v_s


def test_18_under_sap_it_creeps_in_proportion_to_the_step():
    """By R_t times the impulse of the weight along the incline, over a step."""
    creep = []
    for h in (2e-3, 1e-3):
        puck = Puck("sap", h, tilt=0.3).at(FALL * np.cos(0.3) / 1e4, 0.0).steps(60)
        creep.append(puck.v[0])
    assert 0.0 < creep[1] < 1e-4
    assert creep[0] / creep[1] == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_18_a_block_slides_down_a_steeper_one_with_the_friction_of_motion(approximation):
    """g (sin - mu cos). Slow enough for sap not to hover out of reach: it does not feel what does not overlap."""
    tilt, mu, h = 0.7, 0.4, H
    s = Puck(approximation, tilt=tilt, friction=mu, tau=5e-4).at(FALL * np.cos(tilt) / 1e4, 0.05).steps(40)
    v = s.v[0]
    s.steps(50)
    expected = FALL * (np.sin(tilt) - mu * np.cos(tilt))
    assert (s.v[0] - v) / (50 * h) == pytest.approx(expected, rel=1e-2)


def test_18_static_friction_does_not_hold_in_a_discrete_plant():
    s = scene()
    friction = LIB.CoulombFriction(0.9, 0.3)
    tilt = 0.5
    s.plant.mutable_gravity_field().set_gravity_vector(FALL * np.array([np.sin(tilt), 0.0, -np.cos(tilt)]))
    s.ground()
    s.box("box", 1.0, (0.4, 0.4, 0.02))
    for geometry in (s.plant.GetCollisionGeometriesForBody(b)[0] for b in map(s.plant.get_body, (0, 1))):
        properties = s.graph.registry.geometries[geometry].proximity
        properties.UpdateProperty("material", "coulomb_friction", friction)
    s.start()
    s.place("box", (0.0, 0.0, 0.0095))
    s.steps(60)
    expected = FALL * (np.sin(tilt) - 0.3 * np.cos(tilt))
    assert s.velocity("box")[0] == pytest.approx(0.06 * expected, rel=3e-2)


# -------------------------------------------------------------------------------- 20: the approximations


@pytest.mark.parametrize("h", [2e-3, 1e-3])
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_20_a_slider_hovers_as_the_approximation_says(approximation, h):
    """At v_t, on an incline of tan = mu: by mu v_t h (similar), mu v_t (h + tau) (sap), not at all (lagged, tamsi).

    Without dissipation, so that nothing else depends on velocities; the soft norm takes v_s from the slip.
    """
    mu, speed, tau, v_s = 0.3, 0.2, 5e-3, 1e-4
    tilt = np.arctan(mu)
    depth = FALL * np.cos(tilt) / 1e4
    hover = {"lagged": 0.0, "tamsi": 0.0, "similar": mu * (speed - v_s) * h, "sap": mu * speed * (h + 2.0 * tau)}
    start = depth - hover[approximation]
    puck = Puck(approximation, h, tilt=tilt, friction=mu, dissipation=0.0, tau=tau, v_s=v_s).at(start, speed)
    puck.steps(30)
    assert puck.v[0] == pytest.approx(speed, rel=2e-3)
    assert depth - puck.depth == pytest.approx(hover[approximation], abs=2e-3 * depth)
    assert abs(puck.v[1]) < 2e-4


def test_20_in_the_step_of_an_impact_lagged_friction_is_weaker():
    """It is that of the normal force at the step's start, which the others have grown out of at its end."""
    lost = {}
    for approximation in APPROXIMATIONS:
        puck = Puck(approximation, 1e-2, stiffness=1e5).at(1e-6, 2.0, fall=1.0).steps(1)
        lost[approximation] = 2.0 - puck.v[0]
        normal_impulse = puck.v[1] + 1.0 + FALL * 1e-2
        if approximation != "lagged":
            assert lost[approximation] == pytest.approx(0.5 * normal_impulse, rel=1e-3)
    assert lost["lagged"] < 0.1 * min(lost["tamsi"], lost["similar"], lost["sap"])


@only_compiled
def test_20_all_go_the_same_way_with_smaller_steps():
    """A puck thrown on the ground, without dissipation: what lies between them falls with the step."""
    spread = []
    for h in (8e-4, 2e-4, 5e-5):
        ends = []
        for approximation in APPROXIMATIONS:
            puck = Puck(approximation, h, friction=0.3, dissipation=0.0, tau=0.0, stiffness=1e4)
            ends.append(puck.at(-0.005, 1.0).steps(round(0.08 / h)).s.q)
        spread.append(np.ptp(ends, axis=0).max())
    assert spread[0] > 3.0 * spread[1] > 9.0 * spread[2]
    assert spread[2] < 1e-4


# ----------------------------------------------------------------------------------------------- 21: SAP


def boxes_in_columns(h=1e-2, columns=3, rows=3, ratio=1000.0, approximation="sap"):
    """Columns of boxes, heavier upwards up to the ratio of masses, each pushed a little."""
    s = scene(approximation, h, stiffness=1e6, tau=0.05)
    s.ground()
    masses = np.geomspace(1.0, ratio, rows)
    for column in range(columns):
        for row in range(rows):
            s.box(f"{column}_{row}", masses[row], (0.2, 0.2, 0.2))
    s.start()
    rng = np.random.default_rng(3)
    for column in range(columns):
        for row in range(rows):
            place = (0.21 * column, 0.0, 0.0998 + 0.1996 * row)
            s.place(f"{column}_{row}", place, velocity=0.2 * rng.normal(size=3), spin=0.2 * rng.normal(size=3))
    return s, masses


@pytest.mark.parametrize("size", [(1, 3), pytest.param((9, 3), marks=only_compiled)])
def test_21_the_step_of_sap_is_the_minimum_of_its_cost(size, monkeypatch):
    """Up to 108 contacts and masses of 1 to 1000: momentum balances body by body with the forces that are told,
    impulses lie in the cone, and the cost is lower than at the velocities without contact."""
    monkeypatch.setattr(arrays, "DEFAULT_TOLERANCE", 1e-10)
    columns, rows = size
    s, masses = boxes_in_columns(columns=columns, rows=rows)
    h, v0 = s.h, s.v
    s.steps(1)
    solver = solver_of(s)
    n = solver.counts[COUNT_CONSTRAINTS]
    assert n == 4 * columns * rows and (solver.con_kind[:n] == SAP).all()
    assert solver.settings[SETTING_RESIDUAL] <= 1e-20  # squared
    total = np.zeros((s.plant.num_bodies(), 3))
    for c in s.contacts():
        total[int(c.bodyB_index())] += c.contact_force()
        total[int(c.bodyA_index())] -= c.contact_force()
    weight = FALL * masses.max() * h
    for column in range(columns):
        for row in range(rows):
            body = s.plant.GetBodyByName(f"{column}_{row}")
            i = 6 * (int(body.index()) - 1)
            change = masses[row] * (s.v - v0)[i + 3 : i + 6]
            expected = h * (total[int(body.index())] + [0.0, 0.0, -masses[row] * FALL])
            np.testing.assert_allclose(change, expected, atol=1e-6 * weight)
    impulse = solver.con_impulse[:n]
    assert (impulse[:, 2] >= 0.0).all()
    assert (np.hypot(impulse[:, 0], impulse[:, 1]) <= 0.5 * impulse[:, 2] * (1.0 + 1e-12) + 1e-15).all()
    # the cost: half of the squared distance from the free velocities, and what the kernel gives for each contact
    kernels = load_kernels(False)
    M = s.plant.CalcMassMatrix(s.context)  # does not depend on where a free box is, but on how it is turned: little
    free = v0 - h * np.tile([0.0, 0.0, 0.0, 0.0, 0.0, FALL], columns * rows)
    at_end = sum(kernels.cost_of(solver, i, *solver.con_v[i]) for i in range(n))
    at_end += 0.5 * (s.v - free) @ M @ (s.v - free)
    velocity = {0: np.zeros(6)}
    for column in range(columns):
        for row in range(rows):
            k = int(s.plant.GetBodyByName(f"{column}_{row}").index())
            velocity[k] = free[6 * (k - 1) : 6 * k]
    at_start = 0.0
    points = s.context.state.contact.points
    contacts = s.contacts()
    for i in range(n):
        c = solver.con_source[i]
        a, b = int(contacts[i].bodyA_index()), int(contacts[i].bodyB_index())
        np.testing.assert_array_equal(contacts[i].contact_point(), points.position[c])
        at_start += kernels.cost_of(solver, i, *relative_velocity(s, velocity, a, b, points, c, kernels))
    assert 0.0 < at_end < at_start


def relative_velocity(s, velocity, a, b, points, c, kernels):
    """Along the axes of a contact, of bodies with these velocities."""
    normal, position = points.normal[c], points.position[c]
    v = np.zeros(3)
    for k, sign in ((a, 1.0), (b, -1.0)):
        origin = np.zeros(3) if k == 0 else s.plant.GetPositions(s.context)[7 * (k - 1) + 4 : 7 * k]
        v += sign * (velocity[k][3:] + np.cross(velocity[k][:3], position - origin))
    tangent = np.array(kernels.tangent_of(tuple(normal)))
    return np.array([tangent, np.cross(normal, tangent), normal]) @ v


@only_compiled
def test_21_a_very_stiff_contact_sinks_more_with_the_near_rigid_threshold_and_by_its_weight_without():
    """k = 1e12: beyond what a step of 10 ms resolves. By beta: w beta^2 / (4 pi^2) times the impulse of the weight."""
    depths = []
    for beta in (0.0, 0.5, 1.0):
        s = scene("sap", 1e-2, stiffness=1e12, tau=0.01)
        s.plant.set_sap_near_rigid_threshold(beta)
        s.ground()
        s.ball("ball", 1.0, 0.1)
        s.start()
        s.place("ball", (0.0, 0.0, 0.1))
        s.steps(300)
        depths.append(0.1 - s.where("ball")[2])
    assert depths[0] == pytest.approx(FALL / 5e11, rel=1e-2, abs=1e-13)
    assert depths[2] / depths[1] == pytest.approx(4.0, rel=1e-2)
    assert depths[2] < 2e-4


# ------------------------------------------------------------------------------------------ 22: defaults


@pytest.mark.parametrize("allowance", [1e-3, 5e-4])
def test_22_the_heaviest_body_sinks_by_the_penetration_allowance(allowance):
    s = scene(stiffness=None, dissipation=None)
    s.plant.set_penetration_allowance(allowance)
    s.ground()
    s.ball("heavy", 5.0, 0.1)
    s.ball("light", 1.0, 0.1)
    s.start()
    s.place("heavy", (0.0, 0.0, 0.1 - allowance))
    s.place("light", (1.0, 0.0, 0.1 - allowance / 5.0))
    s.steps(40)
    assert 0.1 - s.where("heavy")[2] == pytest.approx(allowance, rel=1e-3)
    assert 0.1 - s.where("light")[2] == pytest.approx(allowance / 5.0, rel=1e-3)


def test_22_every_surface_needs_friction():
    s = scene()
    with pytest.raises(RuntimeError, match="coulomb_friction"):
        s.plant.RegisterCollisionGeometry(
            s.plant.world_body(), LIB.RigidTransform(), LIB.HalfSpace(), "bare", LIB.ProximityProperties()
        )
