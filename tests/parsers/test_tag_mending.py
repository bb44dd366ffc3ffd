"""Faults of tags that common readers of robot files pass over are warnings at their places; all else stays an error."""

import time

import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.xml_source import read_xml

BODY = '<worldbody><body name="b">{}<geom size=".1"/></body></worldbody>'
CROWDED = "there is no blank between two attributes"
CLOSED = "a closing tag after the end of the root element"


def read(text):
    diagnostics = Diagnostics()
    models = load_models(text if isinstance(text, bytes) else text.encode(), diagnostics=diagnostics, name="f")
    return models, diagnostics.findings


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("<mujoco>\n" + BODY.format('<joint type="slide"axis="1 0 0"/>') + "</mujoco>", "f:2:46", CROWDED),
        ("<mujoco>\n" + BODY.format("<joint type='slide'axis='1 0 0'/>") + "</mujoco>", "f:2:46", CROWDED),
        ("<mujoco>" + BODY.format('<joint type="slide" axis="1 0 0"/>') + "</mujoco>\n </mujoco>", "f:2:2", CLOSED),
        ("<mujoco>" + BODY.format('<joint type="slide" axis="1 0 0"/>') + "</mujoco><!-- > -->\n</x>", "f:2:1", CLOSED),
    ],
)
def test_they_are_warnings_and_everything_is_read(text, place, message):
    (model,), findings = read(text)
    assert [(f.severity, f.code, str(f.place), f.message) for f in findings] == [
        ("warning", "XML_ERROR", place, message)
    ]
    (joint,) = model.joints
    assert (joint.type, joint.axes[0].xyz) == ("prismatic", (1, 0, 0))


def test_each_fault_is_one_finding_with_its_number():
    text = "<mujoco>" + BODY.format('<joint type="slide"axis="1 0 0"name="j"/>') + "</mujoco></mujoco></mujoco>"
    _, findings = read(text)
    assert [f.message for f in findings] == [f"{CROWDED} (2 times)", f"{CLOSED} (2 times)"]


def test_values_and_comments_are_not_tags():
    body = """<!-- x="1"y="2" </mujoco> --><worldbody><geom size=".1"name="/> g"/></worldbody>"""
    text = f"""<mujoco model="a='b'c">{body}</mujoco>"""
    (model,), (finding,) = read(text)
    assert (finding.message, model.name) == (CROWDED, "a='b'c")


def test_another_encoding_is_read_as_such():
    body = '<worldbody><geom size=".1"name="g"/></worldbody>'
    text = f'<?xml version="1.0" encoding="utf-16"?><mujoco model="ä">{body}</mujoco>'
    (model,), findings = read(text.encode("utf-16"))
    assert (model.name, [f.severity for f in findings]) == ("ä", ["warning"])


def test_a_name_with_two_colons_is_one_for_another_program():
    plugin = '<plugin name="p" filename="f"><gz::q>1</gz::q></plugin>'
    text = f'<sdf version="1.9"><model name="m"><link name="a"/>{plugin}</model></sdf>'
    (model,), findings = read(text)
    assert [link.name for link in model.links] == ["a"]
    assert {f.severity for f in findings} == {"note"}
    (finding,) = (f for f in findings if f.code == "XML_ERROR")
    assert (finding.message, finding.place.column) == ('"gz::q": it is no name of XML; it is taken as written', 83)


@pytest.mark.parametrize(
    "text",
    [
        "<mujoco><worldbody></mujoco>",
        "<mujoco/><worldbody>",
        "<mujoco/><worldbody/>",
        "<mujoco/>text",
        "<mujoco><worldbody/></mujoco></mujoco>text",
        '<mujoco model="a"model="b"/>',
        '<mujoco model="a"b/>',
        '<mujoco model="a',
        "<mujoco/><!--",
        "<mujoco/></mujoco",
    ],
)
def test_other_faults_stay_errors(text):
    diagnostics = Diagnostics()
    assert read_xml(text.encode(), diagnostics) is None
    assert [f.code for f in diagnostics.errors] == ["XML_ERROR"]


@pytest.mark.parametrize(
    "part", ["<", '<a b="', "<!--", "</a>", '<a b="1"c="', "<a", "'", "<![CDATA[", '<a b="1"c="2"/>']
)
def test_mending_takes_no_longer_than_in_proportion(part):
    started = time.process_time()
    read_xml(f"<r>{part * 200_000}".encode(), Diagnostics())
    assert time.process_time() - started < 10.0
