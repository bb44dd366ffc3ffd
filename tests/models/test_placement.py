"""Robots that nothing holds start on the ground, unless somebody says where."""

import numpy as np
import pytest

from mbcli.models.loading import ModelText, load_model
from mbcli.simulation import simulate

MASS = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
BALL = '<collision><origin xyz="0 0 {}"/><geometry><sphere radius="0.1"/></geometry></collision>'


def ball(name="ball", below=0.0):
    return ModelText(
        f'<robot name="{name}"><link name="b">{MASS}{BALL.format(-below)}</link></robot>'.encode(), "b.urdf"
    )


def in_sdf(z):
    sphere = "<collision name='c'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>"
    text = f"<sdf version='1.9'><model name='m'><pose>0 0 {z} 0 0 0</pose><link name='b'>{sphere}</link></model></sdf>"
    return ModelText(text.encode(), "b.sdf")


def height(model, ground=0.0, **options):
    file_type = "sdf" if str(model).endswith("sdf") else "urdf"
    options = {"file_type": file_type, "warn": lambda line: None} | options
    log = simulate(model, 0.0, ground=ground, **options)
    return next(float(log.q[0, k]) for k, name in enumerate(log.position_names) if name.endswith("_z"))


def test_the_lowest_point_touches_the_ground():
    assert height(ball()) == pytest.approx(0.1, abs=1e-12)
    assert height(ball(below=0.3)) == pytest.approx(0.4, abs=1e-12)
    assert height(ball(), ground=-2.0) == pytest.approx(-1.9, abs=1e-12)
    turned = {"start": {"b_qw": np.cos(0.25 * np.pi), "b_qx": np.sin(0.25 * np.pi)}}
    assert height(ball(below=0.3), **turned) == pytest.approx(0.1, abs=1e-12)


def test_a_stated_height_stays():
    assert height(ball(), start={"b_z": 0.05}) == 0.05
    assert height(ball(), start=([1, 0, 0, 0, 0, 0, 0.05], np.zeros(6))) == 0.05
    assert height(ball(), start=lambda plant, context: None) == 0.0
    assert height(ball(), start={"b_x": 0.5}) == pytest.approx(0.1, abs=1e-12)
    assert height(in_sdf(0.7)) == 0.7  # falls from there
    assert height(in_sdf(0.0)) == pytest.approx(0.1, abs=1e-12)


def test_what_its_file_puts_into_the_ground_is_lifted():
    assert height(in_sdf(0.04)) == pytest.approx(0.1, abs=1e-12)


def test_each_robot_is_put_down_by_itself():
    log = simulate([ball("one"), ball("two", below=0.3)], 0.0, ground=0.0, file_type="urdf", contact=True)
    assert log.q[0, [6, 13]] == pytest.approx([0.1, 0.4], abs=1e-12)


def test_nothing_else_moves():
    assert height(ball(), ground=None) == 0.0
    empty = ModelText(f'<robot name="r"><link name="b">{MASS}</link></robot>'.encode(), "r.urdf")
    assert height(empty) == 0.0
    log = simulate(load_model(ball(), weld=["b"], contact=True, ground=0.0, file_type="urdf"), 0.0, warn=print)
    assert log.q.size == 0
