"""Torsional and rolling friction against MuJoCo's elliptic cones, whose contacts are made stiff and steps small."""

import numpy as np
import pytest
from test_mjcf_motion_peers import Both, stiff

pytestmark = pytest.mark.peers("mujoco")

STEP = 2e-4
BALL = f"""<mujoco><option cone="elliptic" impratio="10"/><default><geom {stiff(STEP)}/></default><worldbody>
  <geom type="plane" size="9 9 1" friction="0 0 0"/>
  <body name="ball" pos="0 0 .1"><freejoint name="f"/><geom size=".1" mass="1" {{}}/></body></worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "geom, velocities, times",
    [
        ('condim="4" friction="1 .002"', [0, 0, 0, 0, 0, 8.0], (0.5, 1.0)),
        ('condim="4" friction=".3 .05"', [0.6, 0, 0, 0, 0, 8.0], (0.1, 0.2)),  # it slides and spins
        ('condim="6" friction="1 .01 .002"', [0.5, 0, 0, 0, 5.0, 0], (0.2, 0.4)),  # it rolls
        ('condim="6" friction="1 .002 .001"', [0.5, 0, 0, 0, 5.0, 4.0], (0.5, 1.0)),  # it rolls and spins
        ('condim="6" friction=".2 .02 .004"', [0.5, 0.2, 0, 1.5, 0, 3.0], (0.2, 0.5)),  # all of it
    ],
)
def test_a_ball_spins_rolls_and_slides_as_in_mujoco(geom, velocities, times):
    """A ball that begins to slip hops in MuJoCo: velocities are compared when it has come down."""
    both = Both(BALL.format(geom), step=STEP)
    both.advance(0.3)  # it comes to rest, as deep as contact lets it
    both.data.qvel[:] = velocities
    both.plant.SetVelocities(both.context, np.array([*velocities[3:], *velocities[:3]], float))
    start = np.linalg.norm(velocities)
    for time in times:
        both.advance(0.3 + time)
        v, theirs = both.plant.GetVelocities(both.context), both.data.qvel
        R_WB = both.data.xmat[1].reshape(3, 3)
        np.testing.assert_allclose(v[3:], theirs[:3], atol=0.01 * start)
        np.testing.assert_allclose(v[:3], R_WB @ theirs[3:], atol=0.01 * start)
    assert np.linalg.norm(theirs) < 0.95 * start


GRASP = f"""<mujoco><option cone="elliptic" impratio="10"/><default><geom {stiff(STEP)} friction="1 .05"/></default>
  <worldbody>
  <body name="left" pos="-.07 0 1"><joint name="l" type="slide" axis="1 0 0" stiffness="1000" springref=".04"/>
    <geom size=".03" mass=".2" condim="{{condim}}"/></body>
  <body name="right" pos=".07 0 1"><joint name="r" type="slide" axis="-1 0 0" stiffness="1000" springref=".04"/>
    <geom size=".03" mass=".2" condim="{{condim}}"/></body>
  <body name="bar" pos="0 0 1"><freejoint name="f"/><geom type="box" size=".04 .02 .02" mass=".1"/>
    <geom type="box" size=".01 .1 .01" pos="0 .12 0" mass="{{mass}}" contype="0" conaffinity="0"/></body>
  </worldbody></mujoco>"""


def turned(both):
    """How far the bar hangs down [rad]: ours and theirs."""
    along = both.plant.GetBodyByName("bar").EvalPoseInWorld(both.context).rotation().matrix()[:, 1]
    theirs = both.data.xmat[both.model.body("bar").id].reshape(3, 3)[:, 1]
    return tuple(float(np.arctan2(-d[2], d[1])) for d in (along, theirs))


@pytest.mark.parametrize(
    "condim, mass, holds",
    [
        (4, 0.1, True),  # 0.12 N m of weight; fingers that press with 40 N each resist up to 4 N m
        (3, 0.1, False),
        (4, 8.0, False),  # 9.4 N m
    ],
)
def test_a_bar_in_a_grasp_turns_as_in_mujoco(condim, mass, holds):
    both = Both(GRASP.format(condim=condim, mass=mass), step=STEP)
    both.advance(0.15)
    ours, theirs = turned(both)
    assert (abs(ours) < 0.01) == (abs(theirs) < 0.01) == holds
    assert ours == pytest.approx(theirs, abs=0.02 if holds else 0.1 * abs(theirs))
