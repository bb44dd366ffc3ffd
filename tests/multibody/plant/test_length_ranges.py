"""Ranges of the lengths of muscles whose MJCF states none: against closed forms, and against MuJoCo's compiler."""

import numpy as np
import pytest

from mbcli.errors import ModelError
from mbcli.models.loading import load_model

ARM = """<mujoco><compiler>COMPILER</compiler><worldbody><site name="wall" pos="0 0 1"/>
<body><joint name="a" axis="0 1 0" range="-30 60"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/>
 <site name="tip" pos=".4 0 0"/>
 <body pos=".4 0 0"><joint name="b" axis="0 1 0" range="-90 20"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
 <site name="end" pos=".3 0 0"/></body></body>
<body pos="3 0 0"><freejoint/><geom size=".1"/><site name="box" pos=".1 .1 .1"/></body>
<body pos="0 2 0"><joint name="open" axis="0 1 0"/><geom size=".1" pos="0 0 1"/><site name="far" pos=".3 0 .4"/></body>
</worldbody>
<tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef="-.5"/></fixed>
 <fixed name="endless"><joint joint="open" coef="2"/></fixed>
 <spatial name="line"><site site="wall"/><site site="tip"/></spatial>
 <spatial name="turning"><site site="wall"/><site site="far"/></spatial>
 <spatial name="long" range=".2 2"><site site="wall"/><site site="box"/></spatial>
 <spatial name="loose"><site site="wall"/><site site="box"/></spatial></tendon>
<equality>EQUALITY</equality><actuator>ACTUATOR</actuator></mujoco>"""
LOW, HIGH, BACK, ON = np.deg2rad([-30.0, 60.0, -90.0, 20.0])


def loaded(tmp_path, actuator, compiler="", equality="", **settings):
    path = tmp_path / "arm.xml"
    path.write_text(ARM.replace("ACTUATOR", actuator).replace("COMPILER", compiler).replace("EQUALITY", equality))
    return load_model(str(path), contact=False, **settings)


def range_of(tmp_path, *text, **settings):
    (actuator,) = loaded(tmp_path, *text, **settings).plant.elements.transmission_actuators
    return actuator.law().lengths


def distance(angle):
    """From the wall to the tip, where the first joint has an angle."""
    return np.hypot(0.4 * np.cos(angle), 1.0 + 0.4 * np.sin(angle))


FOUND = {
    "a joint": ('<muscle name="m" joint="a" gear="-2"/>', "", (-2 * HIGH, -2 * LOW)),
    "a sum": ('<muscle name="m" tendon="t"/>', "", (2 * LOW - 0.5 * ON, 2 * HIGH - 0.5 * BACK)),
    "a sum of tied joints": (
        '<muscle name="m" tendon="t" gear="3"/>',
        '<joint joint1="b" joint2="a" polycoef="0 -.5 0 0 0"/>',  # b stays within its limits
        (3 * 2.25 * LOW, 3 * 2.25 * HIGH),
    ),
    "a line": ('<muscle name="m" tendon="line"/>', "", (distance(LOW), distance(HIGH))),
    "a line around an axis": (
        '<muscle name="m" tendon="turning"/>',
        "",
        (np.hypot(2.0, 0.5), np.hypot(2.0, 1.5)),  # 2 apart, and 1 from the axis to the wall, 0.5 to the site
    ),
    "limits of the tendon": ('<muscle name="m" tendon="long"/>', "", (0.2, 2.0)),
}


@pytest.mark.parametrize("kind", FOUND)
def test_range_of_a_muscle_without_one_is_what_limits_leave_it(tmp_path, kind):
    actuator, equality, expected = FOUND[kind]
    assert range_of(tmp_path, actuator, "", equality) == pytest.approx(expected, abs=1e-9)


def test_length_that_is_least_at_the_default_position_leads_both_ways(tmp_path):
    """A site in the plane of the axis and the wall: its distance has no slope there."""
    text = ARM.replace('<site name="far" pos=".3 0 .4"/>', '<site name="far" pos="0 0 .5"/>')
    path = tmp_path / "arm.xml"
    for name, value in (("ACTUATOR", '<muscle name="m" tendon="turning"/>'), ("COMPILER", ""), ("EQUALITY", "")):
        text = text.replace(name, value)
    path.write_text(text)
    (actuator,) = load_model(str(path), contact=False).plant.elements.transmission_actuators
    assert actuator.law().lengths == pytest.approx((np.hypot(2.0, 0.5), np.hypot(2.0, 1.5)), abs=1e-9)


def test_choices_of_the_compiler_act(tmp_path):
    stated, limited = '<muscle name="m" tendon="t" lengthrange="1 2"/>', '<muscle name="m" tendon="long"/>'
    assert range_of(tmp_path, stated) == (1.0, 2.0)
    found = range_of(tmp_path, stated, '<lengthrange useexisting="false"/>')
    assert found == pytest.approx(FOUND["a sum"][2])
    assert range_of(tmp_path, limited, '<lengthrange uselimit="true"/>') == (0.2, 2.0)
    assert range_of(tmp_path, limited, '<lengthrange mode="none"/>') == (0.0, 0.0)


@pytest.mark.parametrize("tendon", ["endless", "loose"])
def test_length_without_end_is_an_error_with_its_place(tmp_path, tendon):
    with pytest.raises(ModelError, match=r"arm\.xml:\d+.*muscle 'm' states no lengthrange, and none is found"):
        loaded(tmp_path, f'<muscle name="m" tendon="{tendon}"/>')


def test_note_has_the_attribute_that_the_file_lacks(tmp_path):
    found = []
    loaded(tmp_path, '<muscle name="m" tendon="long"/>', on_findings=found.extend)
    (note,) = [finding for finding in found if finding.code == "LENGTH_RANGE_FOUND"]
    assert note.severity == "note" and 'lengthrange="0.2 2"' in note.message and note.place.line


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", ["a joint", "a sum", "a sum of tied joints", "a line", "limits of the tendon"])
def test_ranges_are_those_of_mujoco_but_for_its_soft_limits(tmp_path, kind):
    import mujoco

    actuator, equality, _ = FOUND[kind]
    own = range_of(tmp_path, actuator, "", equality)
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml")).actuator_lengthrange[0]
    assert np.abs(theirs - own).max() < 2e-3 * (own[1] - own[0])
