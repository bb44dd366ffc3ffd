"""What the versions of SDFormat differ in: the same text read as each of them."""

from math import inf, pi

import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.sdf.read_sdf import read_sdf

LINKS = "<link name='a'/><link name='b'><pose>0 0 0 0 0 1.5707963267948966</pose></link>"
CAPSULE = "<collision name='v'><geometry><capsule><radius>1</radius><length>1</length></capsule></geometry></collision>"
OLD_FRAME = "<use_parent_model_frame>1</use_parent_model_frame>"
VERSIONS = [f"1.{minor}" for minor in range(4, 13)]


def read(body, version):
    text = f"<sdf version='{version}'><model name='m'>{body}</model></sdf>"
    diagnostics = Diagnostics()
    return read_sdf(text.encode(), diagnostics), [(f.severity, f.code) for f in diagnostics.findings]


def joint(axis, kind="revolute", extra=""):
    return f"{LINKS}<joint name='j' type='{kind}'><parent>a</parent><child>b</child><axis>{axis}</axis>{extra}</joint>"


def joint_of(text, version):
    (model,), findings = read(text, version)
    assert findings == []
    return model.joints[0]


@pytest.mark.parametrize("version", ["1.1", "1.13", "2.0", "1.0", "1", "", "new"])
def test_other_versions_are_refused(version):
    models, findings = read(LINKS, version)
    assert (models, findings) == ((), [("error", "VERSION_UNSUPPORTED")])


def test_a_file_must_state_its_version():
    diagnostics = Diagnostics()
    assert read_sdf(b"<sdf><model name='m'><link name='a'/></model></sdf>", diagnostics) == ()
    assert [finding.code for finding in diagnostics.errors] == ["ATTRIBUTE_MISSING"]


@pytest.mark.parametrize("version", VERSIONS)
def test_limits_are_infinite_where_the_file_gives_none(version):
    (axis,) = joint_of(joint("<xyz>0 0 1</xyz>"), version).axes
    assert (axis.lower, axis.upper, axis.velocity, axis.effort) == (-inf, inf, inf, inf)


@pytest.mark.parametrize("version", VERSIONS)
def test_old_ways_to_say_no_limit_of_speed_and_effort_go_on(version):
    (axis,) = joint_of(joint("<limit><velocity>-1</velocity><effort>-1</effort></limit>"), version).axes
    assert (axis.velocity, axis.effort) == (inf, inf)


@pytest.mark.parametrize(
    ("version", "axis", "y_in_b"),
    [
        ("1.4", "<xyz>1 0 0</xyz>", -1),  # always in the model frame
        ("1.3", "<xyz>1 0 0</xyz>", -1),
        ("1.2", "<xyz>1 0 0</xyz>", -1),
        ("1.5", "<xyz>1 0 0</xyz>", 0),
        ("1.5", "<xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame>", -1),
        ("1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>0</use_parent_model_frame>", 0),
        ("1.7", "<xyz expressed_in='__model__'>1 0 0</xyz>", -1),
        ("1.12", "<xyz expressed_in='a'>1 0 0</xyz>", -1),
    ],
)
def test_the_frame_of_an_axis(version, axis, y_in_b):
    assert joint_of(joint(axis), version).axes[0].xyz[1] == pytest.approx(y_in_b, abs=1e-15)


@pytest.mark.parametrize(
    ("version", "position", "codes"),
    [("1.6", 0.5, []), ("1.8", 0.5, []), ("1.9", 0.0, [("warning", "ELEMENT_UNSUPPORTED")])],
)
def test_the_initial_position_until_1_8(version, position, codes):
    (model,), findings = read(joint("<initial_position>0.5</initial_position>"), version)
    assert findings == codes
    assert model.joints[0].axes[0].default_position == position


@pytest.mark.parametrize(
    ("version", "tag", "pitch", "codes"),
    [
        ("1.4", "thread_pitch", -pi, []),
        ("1.9", "thread_pitch", -pi, []),
        ("1.10", "thread_pitch", -pi, [("warning", "ELEMENT_DEPRECATED")]),
        ("1.10", "screw_thread_pitch", 2.0, []),
        ("1.9", "screw_thread_pitch", 2.0, [("note", "VERSION_FEATURE")]),
    ],
)
def test_the_pitch_of_a_screw(version, tag, pitch, codes):
    (model,), findings = read(joint("<xyz>0 0 1</xyz>", "screw", f"<{tag}>2</{tag}>"), version)
    assert findings == codes
    assert model.joints[0].screw_pitch == pytest.approx(pitch, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "version", "codes"),
    [
        ("c::d", "1.7", []),
        ("c::d", "1.8", [("error", "RESERVED_NAME")]),
        ("__c__", "1.4", [("error", "RESERVED_NAME")]),
    ],
)
def test_names(name, version, codes):
    assert read(f"{LINKS}<link name='{name}'/>", version)[1] == codes


@pytest.mark.parametrize(
    ("since", "body"),
    [
        (7, "<frame name='f' attached_to='a'/>"),
        (7, "<frame name='f'><pose relative_to='b'>0 0 1 0 0 0</pose></frame>"),
        (9, "<frame name='f'><pose degrees='true'>0 0 1 0 0 90</pose></frame>"),
        (9, "<frame name='f'><pose rotation_format='quat_xyzw'>0 0 1 0 0 0 1</pose></frame>"),
        (8, f"<link name='c'>{CAPSULE}</link>"),
        (11, f"<link name='c'><inertial auto='true'/>{CAPSULE}</link>"),
    ],
)
def test_what_a_later_version_brought_is_read_and_reported(since, body):
    for minor in (since - 1, since):
        models, findings = read(LINKS + body, f"1.{minor}")
        assert len(models) == 1
        assert findings == ([("note", "VERSION_FEATURE")] if minor < since else [])


@pytest.mark.parametrize(
    ("gone", "body"),
    [
        (7, "<frame name='f'><pose frame='a'>0 0 1 0 0 0</pose></frame>"),
        (7, f"<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis>{OLD_FRAME}</axis></joint>"),
    ],
)
def test_what_a_later_version_took_away_is_an_error_there(gone, body):
    models, findings = read(LINKS + body, f"1.{gone}")
    assert models == ()
    assert [severity for severity, _ in findings] == ["error"]
    models, findings = read(LINKS + body, f"1.{gone - 1}")
    assert (len(models), findings) == (1, [])
