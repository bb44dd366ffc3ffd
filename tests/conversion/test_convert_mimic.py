"""Joints that follow others in written SDFormat files."""

from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.sdf.read_sdf import read_sdf
from mbcli.parsers.writing.conversion import converted

LINKS = "<link name='a'><inertial/></link><link name='b'><inertial/></link>"
JOINT = (
    "<joint name='{}' type='revolute'><parent>world</parent><child>{}</child><axis><xyz>0 1 0</xyz>{}</axis>{}</joint>"
)
STANDARD = (
    "<mimic joint='j'><multiplier>3</multiplier><offset>0.5</offset><reference>{}</reference></mimic>"
    "<initial_position>{}</initial_position>"
)


def text_of(follower, own="", version="1.11"):
    joints = JOINT.format("j", "a", "", "") + JOINT.format("k", "b", follower, own)
    return f"<sdf version='{version}' xmlns:drake='http://drake.mit.edu'><model name='m'>{LINKS}{joints}</model></sdf>"


def read(text):
    diagnostics = Diagnostics()
    (model,) = read_sdf(text.encode() if isinstance(text, str) else text, diagnostics)
    return model, [finding for finding in diagnostics.findings if finding.severity != "note"]


def test_a_follower_is_written_as_the_element_of_the_format_and_as_drakes():
    model, _ = read(text_of(STANDARD.split("<initial")[0].format(0.25)))
    conversion = converted(model, "sdf", packages=PackageMap(), folder=".")
    assert b'<mimic joint="j">' in conversion.text
    assert b'<drake:mimic joint="j" multiplier="3" offset="-0.25"/>' in conversion.text
    assert [loss.code for loss in conversion.losses] == []  # every program has an element that it reads

    again, findings = read(conversion.text)
    mimic = again.joints[1].axes[0].mimic
    assert (mimic.leader, mimic.multiplier, mimic.offset) == ("j", 3, -0.25)
    assert findings == []  # the two elements agree


def test_both_elements_are_written_for_files_of_any_version():
    model, _ = read(text_of(STANDARD.format(0, 0.1), version="1.8"))
    conversion = converted(model, "sdf", packages=PackageMap(), folder=".")
    assert b"<mimic" in conversion.text
    assert b"<drake:mimic" in conversion.text
    assert [loss.code for loss in conversion.losses] == ["EXTENSION"]


def test_elements_that_disagree_are_a_warning_and_drakes_holds():
    own = "<drake:mimic joint='j' multiplier='2' offset='0'/>"
    model, (finding,) = read(text_of("<mimic joint='j'><multiplier>3</multiplier></mimic>", own))
    assert model.joints[1].axes[0].mimic.multiplier == 2
    assert (finding.severity, finding.code) == ("warning", "ELEMENT_UNSUPPORTED")
    assert "says something else" in finding.message
