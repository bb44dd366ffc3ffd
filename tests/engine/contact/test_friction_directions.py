"""Friction that depends on the direction: closed forms of the elliptic cone, in all approximations and in none."""

import numpy as np
import pytest
from scipy.optimize import fsolve
from test_contact_solver import APPROXIMATIONS

from mbcli.config.contact_laws import SOFT_LAWS
from mbcli.models import load_model
from mbcli.simulation import Worlds, simulate

LAWS = [law for law in APPROXIMATIONS if law not in SOFT_LAWS]  # of which a cone may have edges
STEPS = [*LAWS, "continuous"]
G = 9.81
PLANE = (
    '<model name="g"><static>true</static><link name="l"><collision name="c"><geometry><plane/></geometry>{}'
    "</collision></link></model>"
)
FRICTION = "<surface><friction><ode>{}</ode></friction></surface>"
INERTIAL = (
    "<inertial><mass>1</mass><inertia><ixx>{0}</ixx><iyy>{0}</iyy><izz>{0}</izz></inertia></inertial>"  # about enough
)
GIVING = (  # sunk by 1 mm at rest, so that what hovers with `sap` and `similar` still touches
    "<drake:proximity_properties><drake:point_contact_stiffness>1e4</drake:point_contact_stiffness>"
    "<drake:relaxation_time>0</drake:relaxation_time></drake:proximity_properties>"
)
FLAT = "<box><size>1 1 0.02</size></box>"  # it neither tips nor turns
BALL = "<sphere><radius>0.1</radius></sphere>"


def world(path, friction, *, shape=FLAT, height=0.009, turned="", ground="", extra=GIVING, pose="0 0 0 0 0 0"):
    """A file with a body b of 1 kg on a plane; turned: the pose of its collision; extra: more of its collision."""
    path.write_text(
        f'<sdf version="1.9"><world name="w">{PLANE.format(ground and FRICTION.format(ground))}<model name="b"><pose>'
        f'{pose.replace("0 0 0", f"0 0 {height}", 1)}</pose><link name="b">{INERTIAL.format(0.1)}<collision name="c">'
        f"{turned and f'<pose>{turned}</pose>'}<geometry>{shape}</geometry>{FRICTION.format(friction)}{extra}"
        "</collision></link></model></world></sdf>"
    )
    return path


def ode(along, across, direction="1 0 0", attributes=""):
    return f"<mu>{along}</mu><mu2>{across}</mu2><fdir1{attributes}>{direction}</fdir1>"


T = 0.1  # [s]


def run(path, law, push=(0.0, 0.0), until=T, **options):
    """The log of a run with every step, or with an integrator, after 0.1 s of rest.

    push: gravity along x and y [m/s^2].
    """
    way = (
        {"integrator": "runge_kutta3", "accuracy": 1e-4, "log_rate": 1000}
        if law == "continuous"
        else {"contact_approximation": law, "log_rate": 0}
    )
    way |= {"fields": "contact", "warn": lambda line: None}
    start = options.pop("start", None)
    if start is None:
        rest = simulate(path, 0.1, **way, **{name: options[name] for name in options if name == "contact_model"})
        start = rest.field("state/q")[-1], np.zeros(6)
    return simulate(path, until, gravity=(*push, -G), start=start, **way, **options)


def pressed(log):
    """Mean normal force [N] of 1 kg over the run: `sap` and `similar` let what slides hover, and rise to that."""
    return G + log.field("state/v")[-1, 5] / T


def slides(log):
    """Velocities (n, 2) along x and y."""
    return log.field("state/v")[:, 3:5]


def friction_and_slip(log, later, yaw):
    """Forces (n, 3) and velocities (n, 2) of the rows in which the body is pressed, along x and y turned by a yaw.

    later: 1 where forces of a row are those of the step that begins there, and belong to velocities of the next row.
    """
    total = np.array([log.contacts(k, k + 1)["contact/force"].sum(axis=0) for k in range(len(log.times))])
    total, v = total[: len(total) - later], slides(log)[later:]
    slow = np.linalg.norm(v, axis=1) < 0.1  # before it rises, with `sap` and `similar`, and stands on edges
    rows = (np.abs(total[:, 2]) > 0.1) & slow & (np.linalg.norm(v, axis=1) > 0.01)
    c, s = np.cos(yaw), np.sin(yaw)
    R = np.array([[c, s], [-s, c]])
    f = total[rows] * np.sign(total[rows][0, 2])  # on the body
    return np.column_stack([f[:, :2] @ R.T, f[:, 2]]), v[rows] @ R.T


def assert_elliptic(log, along, across, later=1, yaw=0.0):
    """Friction is on the ellipse, and where it does the most work against the slip: f_i ~ mu_i^2 v_i."""
    f, v = friction_and_slip(log, later, yaw)
    assert len(f) > 2
    np.testing.assert_allclose(np.hypot(f[:, 0] / along, f[:, 1] / across), f[:, 2], rtol=0.02)
    np.testing.assert_allclose(f[:, 1] / f[:, 0], (across / along) ** 2 * v[:, 1] / v[:, 0], rtol=0.02)


# ------------------------------------------------------------------------------------------ closed forms


def sliding(push, along, across):
    """Accelerations c along and across from rest under a push [m/s^2]: c_i = push_i - mu_i^2 c_i g / |(mu c)|."""

    def residual(c):
        return c - push + np.array((along, across)) ** 2 * c * G / np.hypot(along * c[0], across * c[1])

    return fsolve(residual, push, xtol=1e-12)


@pytest.mark.parametrize("law", STEPS)
@pytest.mark.parametrize("push", [(8.0, 8.0), (9.0, 2.0), (4.0, 8.0)])
def test_a_slide_on_a_slope_is_that_of_the_elliptic_cone(tmp_path, law, push):
    """From rest, whatever the normal force: friction does the most work that the ellipse allows."""
    along, across = 2 * 0.6 / 1.6, 2 * 0.2 / 1.2  # with the ground's 1
    log = run(world(tmp_path / "w.sdf", ode(0.6, 0.2)), law, push)
    assert_elliptic(log, along, across, int(law != "continuous"))
    if law not in ("sap", "similar"):
        expected = T * sliding(np.array(push), along, across)
        np.testing.assert_allclose(slides(log)[-1], expected, rtol=0.01)


@pytest.mark.parametrize("law", STEPS)
@pytest.mark.parametrize(("direction", "braked"), [("1 0 0", 0), ("0 1 0", 1), ("0 2 5", 1)])
def test_without_friction_across_a_body_is_braked_along_alone(tmp_path, law, direction, braked):
    log = run(world(tmp_path / "w.sdf", ode(0.5, 0, direction)), law, (8.0, 8.0))
    v = slides(log)[-1]
    assert v[1 - braked] == pytest.approx(8.0 * T, rel=1e-5)
    assert 8.0 * T - v[braked] == pytest.approx(T * pressed(log) * 2 * 0.5 / 1.5, rel=0.01)


@pytest.mark.parametrize("law", STEPS)
def test_without_friction_along_a_body_is_braked_across_alone(tmp_path, law):
    log = run(world(tmp_path / "w.sdf", ode(0, 0.5)), law, (8.0, 8.0))
    v = slides(log)[-1]
    assert v[0] == pytest.approx(8.0 * T, rel=1e-5)
    assert 8.0 * T - v[1] == pytest.approx(T * pressed(log) * 2 * 0.5 / 1.5, rel=0.01)


@pytest.mark.parametrize("law", STEPS)
def test_a_body_sticks_inside_of_the_ellipse(tmp_path, law):
    """At 0.95 of it the body creeps, as friction of all laws does; a round cone of either coefficient is missed."""
    along, across = 2 * 0.6 / 1.6, 2 * 0.3 / 1.3
    push = 0.95 * G * np.array((along, across)) / np.sqrt(2.0)
    v = slides(run(world(tmp_path / "w.sdf", ode(0.6, 0.3)), law, push))[-1]
    assert np.linalg.norm(v) < (5e-3 if law == "continuous" else 1e-3)
    v = slides(run(world(tmp_path / "w.sdf", ode(0.6, 0.3)), law, push * 1.2))[-1]
    assert np.linalg.norm(v) > 0.05


@pytest.mark.parametrize("law", LAWS)
def test_the_direction_turns_with_its_body(tmp_path, law):
    """A body turned by a yaw slides as one that is not, seen from it; so does one whose collision is turned."""
    yaw, push = 0.7, (8.0, 6.0)
    turned = world(tmp_path / "b.sdf", ode(0.6, 0.2), pose=f"0 0 0 0 0 {yaw}")
    collision = world(tmp_path / "c.sdf", ode(0.6, 0.2), turned=f"0 0 0 0 0 {yaw}")
    for path in (turned, collision):
        assert_elliptic(run(path, law, push), 2 * 0.6 / 1.6, 2 * 0.2 / 1.2, yaw=yaw)


def test_equal_coefficients_are_friction_without_a_direction_to_the_last_bit(tmp_path):
    plain = world(tmp_path / "a.sdf", "<mu>0.5</mu><mu2>0.5</mu2>")
    for law in LAWS:
        logs = [run(path, law, (8.0, 8.0)) for path in (plain, world(tmp_path / "b.sdf", ode(0.5, 0.5)))]
        assert np.array_equal(slides(logs[0]), slides(logs[1]))


# -------------------------------------------------------------------------------------- rules of a pair


@pytest.mark.parametrize(
    ("own", "ground", "expected"),
    [
        (ode(0.6, 0.2), "<mu>0.4</mu><mu2>0.4</mu2>", (0.48, 0.8 / 3)),  # the other has one coefficient for both
        ("<mu>0.4</mu><mu2>0.4</mu2>", ode(0.6, 0.2), (0.48, 0.8 / 3)),  # the direction is the ground's
        (ode(0.2, 0.6), ode(0.5, 0.3, "0 1 0"), (2 / 7, 0.4)),  # both: that of the smaller coefficient along
        (ode(0.5, 0.3), ode(0.2, 0.6, "0 1 0"), (0.4, 2 / 7)),
        (ode(0.6, 0.2, "0 0 1"), "", (1 / 3, 1 / 3)),  # along the normal: the smaller one
    ],
)
def test_coefficients_of_two_bodies_combine_along_and_across(tmp_path, own, ground, expected):
    path = world(tmp_path / "w.sdf", own, ground=ground)
    found = [8.0 - np.linalg.norm(slides(run(path, "lagged", push))[-1]) / T for push in ((8.0, 0.0), (0.0, 8.0))]
    np.testing.assert_allclose(np.array(found) / G, expected, rtol=0.01)


# ------------------------------------------------------------------------------ all that reads tangents


@pytest.mark.parametrize("law", STEPS)
def test_slip_of_the_log_is_that_of_the_bodies_and_friction_does_what_the_balance_says(tmp_path, law):
    push = np.array((8.0, 8.0))
    log = run(world(tmp_path / "w.sdf", ode(0.6, 0)), law, push, balance=True)
    v, x = slides(log)[-1], np.trapezoid(slides(log), log.times, axis=0)
    assert log.summary.balance["contact_friction"] == pytest.approx(0.5 * v @ v - push @ x, rel=0.02)
    if law != "continuous":
        n = len(log.times) - 2  # its contacts are of the step that ends at the last row
        assert log.contacts(n, n + 1)["contact/slip_speed"][-1] == pytest.approx(np.linalg.norm(v), rel=1e-3)


@pytest.mark.parametrize("law", STEPS)
def test_a_ball_that_spins_is_on_the_cone_of_both(tmp_path, law):
    """(f_1/mu_1)^2 + (f_2/mu_2)^2 + (m_n/mu_t)^2 = f_n^2. The ground has the direction, which does not turn."""
    torsion = "<torsional><coefficient>0.1</coefficient><patch_radius>0.1</patch_radius></torsional></friction>"
    path = world(tmp_path / "w.sdf", "<mu>1</mu>", shape=BALL, height=0.099, ground=ode(0.6, 0.3))
    path.write_text(path.read_text().replace("<mu>1</mu></ode></friction>", "<mu>1</mu></ode>" + torsion))
    log = run(path, law, until=0.02, start={"b_vx": 1.0, "b_vy": 1.0, "b_wz": 30.0})
    c = log.contacts()
    f, m = c["contact/force"], c["contact/moment"]
    loaded = np.abs(f[:, 2]) > 0.1
    f, m, mu = f[loaded], m[loaded], 3 * np.pi / 16 * 0.1 * 0.1
    assert len(f)
    size = np.sqrt((f[:, 0] / 0.75) ** 2 + (f[:, 1] / (0.6 / 1.3)) ** 2 + (m[:, 2] / mu) ** 2)
    # `lagged` bounds friction by the normal force of the step's start
    np.testing.assert_allclose(size / np.abs(f[:, 2]), 1.0, rtol=0.04 if law == "lagged" else 2e-3)


SOFT = (
    "<drake:proximity_properties><drake:compliant_hydroelastic/><drake:hydroelastic_modulus>1e6"
    "</drake:hydroelastic_modulus><drake:mesh_resolution_hint>1</drake:mesh_resolution_hint>"
    "</drake:proximity_properties>"
)


@pytest.mark.parametrize("law", STEPS)
def test_contact_surfaces_have_the_direction_too(tmp_path, law):
    path = world(tmp_path / "w.sdf", ode(0.5, 0), extra=SOFT)
    rigid = "<drake:proximity_properties><drake:rigid_hydroelastic/></drake:proximity_properties>"
    path.write_text(path.read_text().replace("<plane/></geometry>", "<plane/></geometry>" + rigid))
    log = run(path, law, (8.0, 8.0), contact_model="hydroelastic")
    v = slides(log)[-1]
    assert v[1] == pytest.approx(8.0 * T, rel=2e-4)
    assert 8.0 * T - v[0] == pytest.approx(T * pressed(log) * 2 * 0.5 / 1.5, rel=0.03)


@pytest.mark.parametrize("law", LAWS)
def test_what_strikes_and_bounces_keeps_its_speed_without_friction(tmp_path, law):
    bounce = "<bounce><restitution_coefficient>0.8</restitution_coefficient></bounce></surface>"
    path = world(tmp_path / "w.sdf", ode(0.5, 0), shape=BALL, height=0.1005)
    head, tail = path.read_text().rsplit("</surface>", 1)
    path.write_text(head + bounce + tail)
    log = run(path, law, until=0.01, start={"b_vx": 1.0, "b_vy": 1.0, "b_vz": -2.0})
    v = log.field("state/v")[-1]
    assert v[5] > 1.0
    assert v[3] < 0.9
    assert v[4] == pytest.approx(1.0, abs=1e-9)


def test_worlds_are_as_runs_of_one_to_the_last_bit(tmp_path):
    path, push = world(tmp_path / "w.sdf", ode(0.6, 0.2)), (8.0, 8.0)
    single = run(path, "lagged", push)
    loaded = load_model(str(path), contact=True, contact_approximation="lagged", gravity=(*push, -G))
    worlds = Worlds(loaded, 3, start=(single.field("state/q")[0], single.field("state/v")[0]))
    worlds.step(100)
    assert np.array_equal(worlds.v[:, 3:5], np.tile(slides(single)[-1], (3, 1)))


def test_a_body_at_rest_falls_asleep_with_the_friction_that_holds_it(tmp_path):
    log = run(world(tmp_path / "w.sdf", ode(0.6, 0.2)), "lagged", (2.0, 1.0), until=1.5, sleep=0.01)
    assert np.array_equal(slides(log)[-1], (0.0, 0.0))
    c = log.contacts(len(log.times) - 1)
    np.testing.assert_allclose(np.abs(c["contact/force"].sum(axis=0)), (2.0, 1.0, G), rtol=5e-3)
