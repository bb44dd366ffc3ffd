"""Plugins of air and water by their formulas at random points, and over a minute: what is passive gains no energy."""

import math

import numpy as np
import pytest
from command_line import succeed

from mbcli.math import RigidTransform, RotationMatrix
from mbcli.models import load_model
from mbcli.plugins import PLUGINS
from mbcli.simulation import simulate
from mbcli.simulation.plugins.moment import Moment

BODY = """<link name="b"><inertial><mass>2</mass><inertia><ixx>0.5</ixx><iyy>0.4</iyy><izz>0.3</izz></inertia>
</inertial></link>"""
SETTINGS = {"a0": 0.05, "cla": 4.0, "cda": 0.4, "alpha_stall": 0.3, "cla_stall": -4.0, "cda_stall": 1.0, "area": 0.1}


def sdf(model, world="<gravity>0 0 0</gravity>"):
    return f'<sdf version="1.9"><world name="w">{world}<model name="m">{model}</model></world></sdf>'


def plugin(kind, **settings):
    tags = "".join(f"<{name}>{value}</{name}>" for name, value in settings.items())
    return f'<plugin filename="gz-sim-system" name="gz::sim::systems::{kind}">{tags}</plugin>'


def law_at(tmp_path, text):
    """(act, plant): act(q, v, time) gives the moment and force on the body, about its origin, in World."""
    path = tmp_path / "m.sdf"
    path.write_text(text)
    plant = load_model(str(path), contact=False, dt=1e-3).plant
    (element,) = plant.elements.plugins
    law = PLUGINS[element.kind].Law(element)
    moment = Moment(plant.CreateDefaultContext(), 1e-3, 0.0, {}, {}, law.pushed)
    moment.wind = np.zeros(3)

    def act(q, v):
        moment.begin(0.0, q, v)
        law.act(moment, [], law.memory.copy())
        return moment.forces[0].force.copy()

    return act, plant


def random_state(rng):
    """Quaternion and place; angular velocity and velocity, in World."""
    wxyz = rng.normal(size=4)
    return np.concatenate([wxyz / np.linalg.norm(wxyz), rng.normal(size=3)]), rng.normal(size=6) * [1, 1, 1, 9, 9, 9]


def rotation(wxyz):
    w, u = wxyz[0], wxyz[1:]
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def wing(R, velocity, alpha0, cla, cda, stall, cla_stall, cda_stall, area, rho=1.2041):
    """The force on a wing whose chord is x and whose normal is z of a frame R, as Gazebo documents LiftDrag.

    The angle of attack is counted from the air's direction in the plane; lift keeps its sign beyond the stall at best.
    """
    along, up = R.T @ velocity @ [[1, 0], [0, 0], [0, 1]]
    side = (R.T @ velocity)[1]
    if along <= 0.0 or np.linalg.norm(velocity) <= 0.01:
        return np.zeros(3)
    alpha = alpha0 - math.atan2(up, along)
    alpha -= math.pi * round(alpha / math.pi)
    beyond = max(abs(alpha) - stall, 0.0)
    up_to = min(abs(alpha), stall)
    sign = 1.0 if alpha >= 0.0 else -1.0
    lift = sign * max(cla * up_to + cla_stall * beyond, 0.0)
    drag = abs(cda * up_to + cda_stall * beyond)
    speed = math.hypot(along, up)
    squared_cosine = 1.0 - side**2 / (velocity @ velocity)
    across = np.array([-up, 0.0, along]) / speed
    force = lift * across - drag * np.array([along, 0.0, up]) / speed
    return R @ (0.5 * rho * speed**2 * area * squared_cosine * force)


def test_lift_and_drag_follow_their_formula_at_200_points(tmp_path):
    act, _ = law_at(tmp_path, sdf(BODY + plugin("LiftDrag", link_name="b", **SETTINGS)))
    rng, lifted, stalled = np.random.default_rng(0), 0, 0
    for _ in range(200):
        q, v = random_state(rng)
        R = rotation(q[:4])
        expected = wing(
            R, v[3:], *(SETTINGS[n] for n in ("a0", "cla", "cda", "alpha_stall", "cla_stall", "cda_stall")), 0.1
        )
        np.testing.assert_allclose(act(q, v)[3:], expected, rtol=1e-9, atol=1e-9)
        lifted += np.any(expected != 0.0)
        u = R.T @ v[3:]
        stalled += u[0] > 0.0 and abs(math.atan2(u[2], u[0])) > 0.65
    assert lifted > 60
    assert stalled > 30


@pytest.mark.parametrize("angle", [40, 60, 80, -40, -60, -80])
def test_there_is_no_lift_beyond_the_stall(tmp_path, angle):
    settings = SETTINGS | {"a0": 0.0, "cda": 0.0, "cda_stall": 0.0}
    act, _ = law_at(tmp_path, sdf(BODY + plugin("LiftDrag", link_name="b", **settings)))
    v = [0, 0, 0, 5 * math.cos(math.radians(angle)), 0, -5 * math.sin(math.radians(angle))]
    assert not act(np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array(v)).any()


def test_water_damps_by_its_formula_at_200_points(tmp_path):
    names = ["xU", "yV", "zW", "kP", "mQ", "nR", "xUabsU", "yVabsV", "zWabsW", "kPabsP", "mQabsQ", "nRabsR"]
    rng = np.random.default_rng(1)
    values = -rng.uniform(0.1, 9.0, 12)
    act, _ = law_at(
        tmp_path, sdf(BODY + plugin("Hydrodynamics", link_name="b", **dict(zip(names, values, strict=True))))
    )
    for _ in range(200):
        q, v = random_state(rng)
        R = rotation(q[:4])
        motion = np.concatenate([R.T @ v[3:], R.T @ v[:3]])
        wrench = values[:6] * motion + values[6:] * motion * np.abs(motion)
        np.testing.assert_allclose(act(q, v), np.concatenate([R @ wrench[3:], R @ wrench[:3]]), rtol=1e-9, atol=1e-9)


FLUID = """<plugin filename="gz-sim-buoyancy-system" name="gz::sim::systems::Buoyancy"><graded_buoyancy>
<default_density>1000</default_density><density_change><above_depth>0</above_depth><density>1</density>
</density_change></graded_buoyancy></plugin>"""
BOX = """<link name="b"><inertial><mass>33.6</mass><inertia><ixx>1.12</ixx><iyy>0.56</iyy><izz>1.456</izz></inertia>
</inertial><collision name="c"><geometry><box><size>0.4 0.6 0.2</size></box></geometry></collision></link>"""


@pytest.mark.parametrize("options", [{}, {"ground": -5.0, "contact": True}, {"dt": 0.0}])
@pytest.mark.parametrize("tilt", [0.0, 0.1])
def test_a_box_that_bobs_keeps_its_amplitude(tmp_path, options, tilt):
    path = tmp_path / "m.sdf"
    path.write_text(sdf(BOX, FLUID))
    model = load_model(str(path), **({"contact": False, "dt": 1e-3} | options))
    context = model.plant.CreateDefaultContext()
    turned = RotationMatrix.MakeXRotation(tilt)
    model.plant.SetFreeBodyPose(context, model.plant.GetBodyByName("b"), RigidTransform(turned, [0.0, 0.0, -0.03]))
    result = simulate(model, 8.0, start=context, warn=lambda line: None)
    z = result.q[:, 6] + 0.04  # about its draught
    first, last = np.abs(z[:200]).max(), np.abs(z[-200:]).max()
    assert last == pytest.approx(first, rel=0.012)


# ----------------------------------------------------------- what takes much of a velocity in a step

LINK = """<link name="{name}"><pose>{pose}</pose><inertial><pose>{com} 0 0 0</pose><mass>{mass}</mass><inertia>
<ixx>{I}</ixx><iyy>{I}</iyy><izz>{I}</izz></inertia></inertial><collision name="c"><geometry>
<sphere><radius>0.02</radius></sphere></geometry></collision></link>"""
HOW = [{"contact": False}, {"contact": True, "ground": -1.0}, {"contact": False, "dt": 0.0}]
DRAGS = ("xU", "yV", "zW", "kP", "mQ", "nR", "xUabsU", "yVabsV", "zWabsW", "kPabsP", "mQabsQ", "nRabsR")


def link(name, mass=0.05, inertia=1e-4, pose="0 0 0 0 0 0", com="0 0 0"):
    return LINK.format(name=name, mass=mass, I=inertia, pose=pose, com=com)


def drag(name="b", linear=0.0, turning=0.0, square=0.0):
    values = [-linear] * 3 + [-turning] * 3 + [-square] * 3 + [-0.1 * square] * 3
    return plugin("Hydrodynamics", link_name=name, **dict(zip(DRAGS, values, strict=True)))


def model(tmp_path, *parts, world=""):
    path = tmp_path / "m.sdf"
    path.write_text(f'<sdf version="1.9"><world name="w">{world}<model name="m">{"".join(parts)}</model></world></sdf>')
    return str(path)


def run(path, until, start=None, **options):
    return simulate(path, until, start=start, warn=lambda line: None, log_rate=1000.0, **options)


def energies(path, log, **options):
    plant = load_model(path, **options).plant
    context, found = plant.CreateDefaultContext(), []
    for q, v in zip(log.q, log.v, strict=True):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        found.append(plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context))
    return np.array(found)


@pytest.mark.parametrize("options", HOW)
@pytest.mark.parametrize(("linear", "square"), [(20.0, 0.0), (150.0, 0.0), (1e5, 0.0), (0.0, 300.0), (200.0, 1e4)])
def test_a_body_sinks_at_the_velocity_at_which_water_carries_it(tmp_path, options, linear, square):
    path = model(tmp_path, link("b"), drag(linear=linear, turning=1e-3 * linear, square=square))
    spin = 0.0 if square else 5.0  # squares of the parts along the axes of a body depend on how it stands
    log = run(path, 0.3, {"b_vx": 2.0, "b_wy": spin, "b_z": 0.5}, **options)
    weight = 0.05 * 9.81
    final = (-linear + np.sqrt(linear**2 + 4 * square * weight)) / (2 * square) if square else weight / linear
    assert log.v[-1, 5] == pytest.approx(-final, rel=1e-4)
    assert np.abs(log.v[:, :3]).max() <= 5.0 and np.abs(log.v[:, 3:5]).max() <= 2.0
    assert (np.diff(energies(path, log, **options)) <= 1e-9).all()


@pytest.mark.parametrize("options", HOW)
def test_links_on_joints_and_welded_ones_resist_together(tmp_path, options):
    """Each alone would take all of a velocity of its own mass: five times what there is."""
    parts = [link("b", com="0.01 0 0")] + [link(n, 0.01, 1e-5, f"{0.1 * k} 0 0 0 0 0") for k, n in enumerate("cdef", 1)]
    for parent, child, kind in (
        ("b", "c", "fixed"),
        ("c", "d", "revolute"),
        ("d", "e", "fixed"),
        ("e", "f", "revolute"),
    ):
        axis = "<axis><xyz>0 1 0</xyz></axis>" if kind == "revolute" else ""
        parts.append(
            f'<joint name="j{child}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{axis}</joint>'
        )
    path = model(tmp_path, *parts, *(drag(name, 100.0, 0.1) for name in "bcdef"))
    log = run(path, 0.5, {"b_vx": 2.0, "jd_w": 30.0, "jf_w": -50.0, "b_z": 0.5}, **options)
    assert (np.diff(energies(path, log, **options)) <= 1e-9).all()
    plant = load_model(path, **options).plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, log.q[-1])
    plant.SetVelocities(context, log.v[-1])
    bodies = [plant.GetBodyByName(name) for name in "bcdef"]
    speeds = [body.CalcCenterOfMassTranslationalVelocityInWorld(context)[2] for body in bodies]
    assert 100.0 * sum(speeds) == pytest.approx(-0.09 * 9.81, rel=0.01)


@pytest.mark.parametrize("options", HOW)
def test_a_light_wing_in_strong_lift_does_not_gain_energy(tmp_path, options):
    wing = plugin("LiftDrag", link_name="b", cla=6.0, cda=0.5, area=1.0, alpha_stall=0.5)
    path = model(tmp_path, link("b", 0.02, 1e-4), wing, world="<gravity>0 0 0</gravity>")
    log = run(path, 1.0, {"b_vx": 20.0, "b_vz": -3.0, "b_z": 0.5}, **options)
    speed = np.linalg.norm(log.v[:, 3:], axis=1)
    assert (np.diff(speed) < 1e-6).all() and abs(log.v[20, 5]) < 0.1


@pytest.mark.parametrize("options", HOW)
@pytest.mark.parametrize("factor", [30.0, 3000.0, 1e6])
def test_a_link_comes_to_the_speed_of_any_wind(tmp_path, options, factor):
    wind = "<gravity>0 0 0</gravity><wind><linear_velocity>3 -1 0.5</linear_velocity></wind>"
    wind += '<plugin filename="x" name="gz::sim::systems::WindEffects"><horizontal><magnitude><time_for_rise>0.01'
    wind += "</time_for_rise></magnitude></horizontal><vertical><time_for_rise>0.01</time_for_rise></vertical>"
    wind += f"<force_approximation_scaling_factor>{factor}</force_approximation_scaling_factor></plugin>"
    body = link("b").replace("<inertial>", "<enable_wind>true</enable_wind><inertial>")
    log = run(model(tmp_path, body, world=wind), 0.5, {"b_z": 0.5}, **options)
    np.testing.assert_allclose(log.v[-1, 3:], [3.0, -1.0, 0.5], rtol=1e-4)
    assert np.abs(log.v[:, 3]).max() < 3.0 + 1e-6


def test_what_a_step_resolves_is_of_second_order(tmp_path):
    """x = h d / m of 0.2: a force that held would be off by 10 %."""
    path = model(tmp_path, link("b"), drag(linear=10.0), world="<gravity>0 0 0</gravity>")
    log = run(path, 0.01, {"b_vx": 1.0}, contact=False)
    assert log.v[-1, 3] == pytest.approx(np.exp(-0.01 * 10.0 / 0.05), rel=0.02)


def test_a_run_goes_on_to_the_same_rows(tmp_path):
    path = model(tmp_path, link("b", com="0.01 0 0"), drag(linear=150.0, turning=0.1, square=20.0))
    words, start = ("simulate", path, "--no-contact"), ("--at", "b_vx=2", "--at", "b_wy=5")
    succeed(*words, *start, "-t", 0.1, "-o", tmp_path / "whole.h5")
    succeed(*words, *start, "-t", 0.04, "-o", tmp_path / "part.h5")
    succeed(*words, "-t", 0.1, "--resume", tmp_path / "part.h5")
    assert succeed("log", "diff", tmp_path / "whole.h5", tmp_path / "part.h5").code == 0
