"""Restitution of surfaces: read from SDFormat, MJCF and USD, kept in SDFormat and USD, elsewhere a loss of motion."""

import math

import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.mjcf.mjcf_softness import restitution_of
from mbcli.parsers.mjcf.read_mjcf import read_mjcf
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.sdf.read_sdf import read_sdf
from mbcli.parsers.writing.conversion import converted

RESTITUTION, THRESHOLD = ("material", "restitution"), ("material", "bounce_threshold")


def ball(bounce):
    return (
        '<sdf version="1.9"><model name="m"><link name="l"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy>'
        "<izz>1</izz></inertia></inertial><collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry>"
        f"<surface>{bounce}</surface></collision></link></model></sdf>"
    )


BOUNCES = "<bounce><restitution_coefficient>0.7</restitution_coefficient><threshold>0.2</threshold></bounce>"


def read(text):
    (model,) = read_sdf(text.encode() if isinstance(text, str) else text, Diagnostics())
    return model


def collision(model):
    return model.links[0].collisions[0].properties


def test_sdformat_says_how_things_bounce_and_keeps_it():
    model = read(ball(BOUNCES))
    assert collision(model) == {RESTITUTION: 0.7, THRESHOLD: 0.2}
    conversion = converted(model, "sdf", packages=PackageMap(), folder=".")
    assert collision(read(conversion.text)) == {RESTITUTION: 0.7, THRESHOLD: 0.2}
    assert not [loss for loss in conversion.losses if "restitution" in loss.message]


@pytest.mark.parametrize("target", ["urdf", "mjcf"])
def test_elsewhere_it_is_a_loss_of_the_motion(target):
    conversion = converted(read(ball(BOUNCES)), target, packages=PackageMap(), folder=".")
    assert [loss.kind for loss in conversion.losses if "restitution" in loss.message] == ["motion"]


@pytest.mark.parametrize("friction", ["", "<friction><ode><mu>0.6</mu><mu2>0.6</mu2></ode></friction>"])
def test_usd_keeps_it_and_says_what_it_lacks(tmp_path, friction):
    pytest.importorskip("pxr")
    from mbcli.parsers.usd.read_usd import read_usd

    source = read(ball(BOUNCES + friction))
    conversion = converted(source, "usd", packages=PackageMap(), folder=".")
    (tmp_path / "ball.usda").write_bytes(conversion.text)
    diagnostics = Diagnostics()
    model = read_usd(str(tmp_path / "ball.usda"), diagnostics)
    assert model is not None
    assert not diagnostics.errors and not diagnostics.warnings
    expected = {key: value for key, value in collision(source).items() if key != THRESHOLD}
    found = collision(model)
    assert found.keys() == expected.keys() and found[RESTITUTION] == pytest.approx(0.7, rel=1e-6)
    losses = [loss.message for loss in conversion.losses if "bounce_threshold" in loss.message]
    assert len(losses) == 1


@pytest.mark.parametrize("bounce", [BOUNCES.replace("0.7", "1.5"), BOUNCES.replace("0.2", "-1")])
def test_what_is_out_of_range_is_told_with_its_place(bounce):
    diagnostics = Diagnostics()
    read_sdf(ball(bounce).encode(), diagnostics)
    (finding,) = diagnostics.warnings
    assert finding.code == "ELEMENT_INVALID" and "must" in finding.message


def test_a_negative_solref_is_the_restitution_of_a_spring_and_a_damper():
    geom = '<geom size=".1" mass="1" solref="-10000 -20"/>'
    text = f"<mujoco><worldbody><body><freejoint/>{geom}</body></worldbody></mujoco>"
    model = read_mjcf(text.encode(), Diagnostics())
    e = math.exp(-0.2 * math.acos(0.1) / math.sqrt(0.99))
    (found,) = [geometry.properties for link in model.links for geometry in link.collisions]
    assert found[RESTITUTION] == pytest.approx(e, rel=1e-12)
    assert restitution_of((-100.0, 0.0)) == 1.0
    assert restitution_of((-100.0, -12.0)) is None and restitution_of((0.02, 0.1)) is None


@pytest.mark.peers("mujoco")
def test_mujoco_bounces_as_high():
    """The 1 % of impedance d and the step are MuJoCo's own."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="0.0002"/><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 1.1">'
        '<freejoint/><geom size=".1" mass="1" solref="-100000 -63" solimp="0.99 0.99 0.001"/></body></worldbody>'
        "</mujoco>"
    )
    data, highest = mujoco.MjData(model), 0.0
    for step in range(4400):
        mujoco.mj_step(model, data)
        if step > 2400:
            highest = max(highest, data.qpos[2] - 0.1)
    assert math.sqrt(highest) == pytest.approx(restitution_of((-100000.0, -63.0)), rel=0.03)


@pytest.mark.parametrize("target", ["urdf", "mjcf"])
def test_a_restitution_of_zero_has_a_line_and_no_effect(target):
    bounce = "<bounce><restitution_coefficient>0</restitution_coefficient></bounce>"
    losses = converted(read(ball(bounce)), target, packages=PackageMap(), folder=".").losses
    (loss,) = [loss for loss in losses if "restitution" in loss.message]
    assert (loss.kind, loss.code) == ("lost", "PROPERTIES")
