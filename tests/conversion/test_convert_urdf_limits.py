"""URDF out: limits are stated as urdfdom wants them, which ROS and Pinocchio read with."""

import re
from math import inf

import pytest
from command_line import succeed
from lxml import etree

from mbcli.models import load_model

MJCF = """<mujoco><compiler angle="radian"/><worldbody>
<body name="a"><joint name="swing" axis="0 1 0" range="-1 2"/><geom size="0.1"/>
<body name="b" pos="0 0 1"><joint name="push" type="slide" axis="1 0 0"/><geom size="0.1"/>
<body name="c" pos="0 0 1"><joint name="turn" axis="0 0 1" actuatorfrcrange="-3 3"/><geom size="0.1"/>
<body name="d" pos="1 0 1"><joint name="spin" axis="0 0 1"/><geom size="0.1"/></body></body></body></body></worldbody>
<actuator><motor name="m" joint="turn" forcerange="-3 3"/></actuator></mujoco>"""


@pytest.fixture
def urdf(tmp_path):
    (tmp_path / "m.xml").write_text(MJCF)
    succeed("convert", tmp_path / "m.xml", "-o", tmp_path / "m.urdf")
    return tmp_path / "m.urdf"


def test_what_is_not_limited_is_read_as_infinite(urdf):
    (model,) = load_model(str(urdf)).read
    found = {j.name: (j.axes[0].lower, j.axes[0].upper, j.axes[0].velocity) for j in model.joints if j.axes}
    assert found == {
        "swing": (-1.0, 2.0, inf),
        "push": (-inf, inf, inf),
        "turn": (-inf, inf, inf),
        "spin": (-inf, inf, inf),
    }
    assert "JOINT_LIMIT" not in succeed("check", urdf).out


def test_limits_have_the_attributes_that_urdfdom_requires(urdf):
    limits = {j.get("name"): j.find("limit") for j in etree.parse(urdf).getroot().findall("joint")}
    assert {*limits["swing"].attrib} == {*limits["push"].attrib} == {"lower", "upper", "effort", "velocity"}
    assert {*limits["turn"].attrib} == {"effort", "velocity"}
    assert limits["spin"] is None


@pytest.mark.peers("pinocchio")
def test_pinocchio_reads_joints_without_limits(urdf):
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(urdf))
    assert list(model.names)[1:] == ["swing", "push", "turn", "spin"]
    assert model.upperPositionLimit[0] == 2.0 and model.upperPositionLimit[1] > 1e100


@pytest.mark.peers("pinocchio")
def test_what_floats_beside_a_world_without_shapes_is_the_one_root(tmp_path):
    """The plane of the floor is lost, and with it all that the world had."""
    import pinocchio

    text = re.sub('<joint name="swing"[^>]*>', "<freejoint/>", MJCF)
    text = text.replace("<worldbody>", '<worldbody><geom name="floor" type="plane" size="1 1 1"/>')
    (tmp_path / "m.xml").write_text(text)
    succeed("convert", tmp_path / "m.xml", "-o", tmp_path / "m.urdf", "--lossy")
    assert "world" not in (tmp_path / "m.urdf").read_text()
    assert list(pinocchio.buildModelFromUrdf(str(tmp_path / "m.urdf")).names)[1:] == ["push", "turn", "spin"]
