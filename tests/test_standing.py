"""What stands by rigid statics stands by default, whatever its size, and tips at the angle of theory."""

import numpy as np
import pytest

from benchmarks.standing import APPROXIMATIONS, BODIES, TILT, Stand, box
from mbcli.models.loading import ModelText, load_model, notes_on_contact
from mbcli.multibody.compilation.standing import SHARE, Piece, standing_trees

SECONDS = 10.0


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("name", BODIES)
def test_a_thin_body_stays_upright(name, approximation):
    *size, mass = BODIES[name]
    assert Stand(size, mass, approximation=approximation).run(SECONDS) < TILT


def test_a_thin_body_stays_upright_in_a_continuous_plant():
    *size, mass = BODIES["domino"]
    assert Stand(size, mass, dt=0.0).run(2.0) < TILT


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_book_tips_at_the_angle_of_theory(approximation):
    *size, mass = BODIES["book"]
    angle = np.arctan2(size[0], size[2])
    assert Stand(size, mass, tilt=0.97 * angle, approximation=approximation).run(4.0) < 0.9 * angle
    assert Stand(size, mass, tilt=1.03 * angle, approximation=approximation).run(4.0) > 1.0


def test_a_body_rests_at_a_share_of_the_square_of_its_half_width_over_its_half_height():
    *size, mass = BODIES["book"]
    stand = Stand(size, mass, tilt=0.0)
    stand.run(1.0)
    depth = 0.125 - stand.plant.GetFreeBodyPose(stand.context, stand.body).translation()[2]
    assert depth == pytest.approx(SHARE * 0.01**2 / 0.125, rel=1e-3)


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_a_cube_rests_at_a_fiftieth_of_its_half_size_and_no_deeper_than_the_allowance(scale):
    stand = Stand((0.2 * scale,) * 3, 1.0, tilt=0.0)
    stand.run(1.0)
    depth = 0.1 * scale - stand.plant.GetFreeBodyPose(stand.context, stand.body).translation()[2]
    assert depth == pytest.approx(min(1e-3, SHARE * 0.1 * scale), rel=1e-3)


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
