"""A robot that nothing holds, and below which nothing lies, is named when a run begins."""

import pytest
from command_line import cli
from repository import SAMPLES
from test_given_actuators import arm

from mbcli.models import load_model
from mbcli.models.falling import falling_in_words
from mbcli.models.loading import ModelText

SAYS = "nothing holds the base 'arm::base', and nothing is below: it falls"
BALL = ModelText(b'<mujoco><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>', "b.xml")


def said(model=None, **settings):
    return falling_in_words(load_model(arm() if model is None else model, **settings).plant)


@pytest.mark.parametrize("settings", [{}, {"contact": True}, {"hold": True}, {"actuators": "position"}])
def test_a_robot_that_falls_is_named(settings):
    assert SAYS in said(**settings)
    assert "weld_base" in said(**settings) and "ground" in said(**settings)


@pytest.mark.parametrize("settings", [{"weld_base": True}, {"gravity": (0.0, 0.0, 0.0)}, {"weld": ["base"]}])
def test_one_that_something_may_hold_is_not(settings):
    assert said(**settings) is None


def test_one_above_a_ground_is_not():
    assert "ground" in said(SAMPLES / "quadruped.urdf", contact=True)
    assert said(SAMPLES / "quadruped.urdf", contact=True, ground=0.0) is None


def test_one_that_cannot_touch_the_ground_is_not_led_to_one():
    assert SAYS in said(contact=True, ground=0.0) and "floor" not in said(contact=True, ground=0.0)


def test_a_body_without_joints_is_not():
    assert said(BALL) is None


@pytest.mark.parametrize("more", [(), ("--hold",)])
def test_the_shell_says_it_with_its_cure(tmp_path, more):
    path = tmp_path / "arm.urdf"
    path.write_bytes(arm().content)
    words = ("simulate", path, "-t", "0.01", "--no-log", *more)
    assert "--weld-base holds it where its file puts it, --ground puts it on a floor" in cli(*words).err
    assert SAYS not in cli(*words, "--weld-base").err
    assert cli("-q", *words).err == ""


def test_runs_of_many_starts_say_it_once(tmp_path):
    path, starts = tmp_path / "arm.urdf", tmp_path / "s.csv"
    path.write_bytes(arm().content)
    starts.write_text("j0_q\n0.1\n0.2\n")
    done = cli(
        "simulate", path, "-t", "0.01", "--states", starts, "--each", "--fill", "default", "-o", tmp_path / "a.h5"
    )
    assert done.code == 0 and done.err.count(SAYS) == 1
