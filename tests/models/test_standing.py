"""What stands by rigid statics stands by default, whatever its size, and tips at the angle of theory."""

import numpy as np
import pytest

from benchmarks.standing import APPROXIMATIONS, BODIES, TILT, Stand, box, pushed, tilted
from mbcli.models.loading import ModelText, load_model, notes_on_contact
from mbcli.multibody.compilation.standing import SHARE, Piece, standing_trees
from mbcli.systems.analysis import Simulator

SECONDS = 10.0


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("name", BODIES)
def test_a_thin_body_stays_upright(name, approximation):
    *size, mass = BODIES[name]
    assert Stand(size, mass, approximation=approximation).run(SECONDS) < TILT


def test_a_thin_body_stays_upright_in_a_continuous_plant():
    *size, mass = BODIES["domino"]
    assert Stand(size, mass, dt=0.0).run(2.0) < TILT


@pytest.mark.parametrize("start", [tilted, pushed])
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("name", ["book", "domino"])
def test_a_body_tips_at_the_angle_and_the_push_of_theory(name, approximation, start):
    *size, mass = BODIES[name]
    stays, falls = (start(size, mass, share, 1e-3, approximation).run(4.0) for share in (0.97, 1.03))
    assert stays < 0.9 * np.arctan2(size[0], size[2]) and falls > 1.0


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_twenty_dominoes_fall_at_the_push_that_one_needs(approximation):
    """As in MuJoCo: none at 2.6 rad/s, all at 2.8; the first is carried over its edge at 2.695."""
    width, depth, height, mass = 0.0075, 0.024, 0.048, 0.01
    bodies = "".join(
        f"""<body name="d{k}" pos="{0.03 * k} 0 {height / 2}"><freejoint/>
        <geom type="box" size="{width / 2} {depth / 2} {height / 2}" mass="{mass}"/></body>"""
        for k in range(20)
    )
    text = f"""<mujoco><default><geom friction="0.3 0 0"/></default><worldbody><geom type="plane" size="5 5 1"/>
        {bodies}</worldbody></mujoco>"""
    for push, expected in ((2.6, 0), (2.8, 20)):
        plant = load_model(
            ModelText(text.encode(), "row.xml"), contact=True, dt=1e-3, contact_approximation=approximation
        ).plant
        simulator = Simulator(plant)
        context = simulator.get_mutable_context()
        first, velocities = plant.GetBodyByName("d0"), np.zeros(plant.num_velocities())
        place = first.floating_velocities_start_in_v()
        omega = np.array([0.0, push, 0.0])
        velocities[place : place + 6] = [*omega, *np.cross(omega, [-width / 2, 0.0, height / 2])]
        plant.SetVelocities(context, velocities)
        simulator.AdvanceTo(2.0)
        poses = [plant.GetFreeBodyPose(context, plant.GetBodyByName(f"d{k}")) for k in range(20)]
        assert sum(pose.rotation().matrix()[2, 2] < 0.9 for pose in poses) == expected


def test_a_body_rests_at_a_share_of_the_square_of_its_half_width_over_its_half_height():
    *size, mass = BODIES["book"]
    stand = Stand(size, mass, tilt=0.0)
    stand.run(1.0)
    depth = 0.125 - stand.plant.GetFreeBodyPose(stand.context, stand.body).translation()[2]
    assert depth == pytest.approx(SHARE * 0.01**2 / 0.125, rel=1e-3)


@pytest.mark.parametrize("scale", [0.02, 1.0])
def test_a_cube_rests_at_a_fiftieth_of_its_half_size_and_no_deeper_than_the_allowance(scale):
    stand = Stand((0.2 * scale,) * 3, 1.0, tilt=0.0)
    stand.run(1.0)
    depth = 0.1 * scale - stand.plant.GetFreeBodyPose(stand.context, stand.body).translation()[2]
    assert depth == pytest.approx(min(1e-4, SHARE * 0.1 * scale), rel=1e-3)


@pytest.mark.parametrize(("stiffness", "falls"), [(1e3, True), (1e7, False)])
def test_a_stiffness_that_cannot_hold_its_body_upright_is_told(stiffness, falls):
    loaded = load_model(box((0.02, 0.15, 0.25), 1.0, stiffness=stiffness), ground=0.0, contact=True)
    said = [note for note in notes_on_contact(loaded) if "falls over by itself" in note]
    assert len(said) == int(falls)
    if falls:
        assert "0.02 m wide it needs pairs with a contact stiffness of 1.23e+04 N/m" in said[0]


def test_points_of_no_size_at_one_height_are_a_base():
    """As the corners of soles in files of humanoids in which nothing else touches."""
    text = """<sdf version="1.9"><model name="m"><link name="sole"><inertial><pose>0 0 0.5 0 0 0</pose><mass>40</mass>
      </inertial></link></model></sdf>"""
    plant = load_model(ModelText(text.encode(), "sole.sdf")).plant
    corners = [(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    (tree,) = standing_trees(plant, [Piece(1, np.array([corner]), 0.0, np.eye(3)) for corner in corners])
    assert (tree.base.half_width, tree.base.height) == pytest.approx((0.05, 0.5))


COIN = 0.0125, 0.002, 0.0075  # radius, thickness [m], mass [kg]


def spinning_coin(lean, spin, dt, approximation, seconds, rest=0.0):
    """The share of its spin about the vertical that a coin on its edge, leaning so [rad], keeps; it may rest before."""
    radius, thickness, mass = COIN
    height = radius * np.cos(lean) + 0.5 * thickness * np.sin(lean)
    text = f"""<mujoco><worldbody><geom type="plane" size="5 5 1"/><body name="c" pos="0 0 {height}"
        euler="0 {90.0 - np.degrees(lean)} 0"><freejoint/>
        <geom type="cylinder" size="{radius} {0.5 * thickness}" mass="{mass}"/></body></worldbody></mujoco>"""
    plant = load_model(
        ModelText(text.encode(), "coin.xml"), contact=True, dt=dt, contact_approximation=approximation
    ).plant
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    simulator.AdvanceTo(rest)
    plant.SetVelocities(context, [0.0, 0.0, spin, 0.0, 0.0, 0.0])
    simulator.AdvanceTo(rest + seconds)
    return plant.GetVelocities(context)[2] / spin


@pytest.mark.parametrize(("approximation", "dt"), [*((a, 1e-3) for a in APPROXIMATIONS), (None, 0.0)])
def test_a_coin_that_spins_on_a_point_of_its_edge_keeps_its_spin(approximation, dt):
    """One point gives no moment about the vertical: a contact as deep as a millimetre reached both rims of the edge."""
    assert spinning_coin(np.radians(5.0), 100.0, dt, approximation, 1.0) > 0.97


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_coin_upright_on_its_edge_slows_down_by_the_friction_of_both_rims(approximation):
    radius, thickness, mass = COIN
    inertia = mass * (3.0 * radius**2 + thickness**2) / 12.0
    spin, t = 50.0, 0.1
    expected = 1.0 - mass * 9.81 * 0.5 * thickness * t / inertia / spin
    assert spinning_coin(0.0, spin, 1e-3, approximation, t, rest=0.05) == pytest.approx(expected, abs=0.02)
