"""Every element and attribute of SDFormat acts, as docs/reference/sdformat.md says, or a finding names it."""

import re
from functools import cache
from pathlib import Path

import pytest
from lxml import etree
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.sdf.read_sdf import read_sdf
from repository import ROOT

ELEMENTS = Path(__file__).with_name("sdformat_elements.txt")
PAGE = ROOT / "docs" / "reference" / "sdformat.md"
VALUES = {
    "bool": "true",
    "double": "0.7",
    "int": "3",
    "vector3": "0 0 1",
    "vector2d": "1 2",
    "vector2i": "1 2",
    "pose": "0 0 1 0 0 0",
    "color": "1 0 0 1",
    "quaternion": "1 0 0 0",
    "time": "1 0",
}
UNUSED = ("is not supported and not used", "is for another program and not used", "is unknown")


@cache
def elements():
    """(path of the parent, name of the child or @attribute, type, last version) of the specification."""
    lines = [line for line in ELEMENTS.read_text().splitlines() if not line.startswith("#")]
    found = []
    for path, names in re.findall(r"^(\S+):((?: \S+|\n +\S+)*)$", "\n".join(lines), re.MULTILINE):
        for word in names.split():
            name, kind, version = re.fullmatch(r"(@?[\w]+)(?:=([\w ]*))?(?:!(.*))?", word).groups()
            found.append((path.strip("/"), name, kind or "", version or "1.12"))
    return found


@cache
def acting():
    """(path of the parent, child) that the first table of the page lists."""
    table = PAGE.read_text().split("## What acts\n")[1].split("\n## ")[0]
    found = set()
    for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE):
        owner, *names = re.findall(r"`([^`]+)`", row)
        found |= {("" if owner == "sdf" else owner, name) for name in names}
    return found


def value(kind):
    return VALUES.get(kind, "word")


def named(parent, tag):
    element = etree.SubElement(parent, tag)
    if any(path.rpartition("/")[2] == tag and name == "@name" for path, name, _, _ in elements()):
        element.set("name", f"a_{tag}")
    return element


def _place(node, tag):
    """A new element, or the one that is there."""
    there = node.find(tag) if tag in ("inertial", "collision", "axis", "axis2") else None
    return named(node, tag) if there is None else there


def _joint_type(tags):
    if "axis2" in tags:
        return "universal"
    return "screw" if tags[-1] in ("thread_pitch", "screw_thread_pitch") else "revolute"


def document(path, name, kind, version):
    """A file with that child in that place, in which all else is in order."""
    root = node = etree.Element("sdf", version=version)
    tags = path.split("/") if path else []
    for tag in tags:
        node = _place(node, tag)
        if tag == "model" and "link" not in tags:
            etree.SubElement(node, "link", name="own")
        if tag == "joint":
            node.set("type", _joint_type((*tags, name)))
            for end, text in (("parent", "world"), ("child", "own")):
                etree.SubElement(node, end).text = text
            if "axis" not in tags:
                etree.SubElement(etree.SubElement(node, "axis"), "xyz").text = "0 0 1"
            if node.get("type") == "universal" and "axis2" not in tags and name != "axis2":
                etree.SubElement(etree.SubElement(node, "axis2"), "xyz").text = "1 0 0"
        if tag == "link" and name == "density":  # that of collisions, whose masses are asked for
            etree.SubElement(node, "inertial", auto="true")
            collision = named(node, "collision")
            etree.SubElement(etree.SubElement(etree.SubElement(collision, "geometry"), "sphere"), "radius").text = "0.1"
        if tag in ("axis", "axis2"):
            etree.SubElement(node, "xyz").text = "0 0 1" if tag == "axis" else "1 0 0"
        if tag in ("collision", "visual") and "geometry" not in tags and node.find("geometry") is None:
            etree.SubElement(etree.SubElement(etree.SubElement(node, "geometry"), "sphere"), "radius").text = "0.1"
    if name.startswith("@"):
        node.set(name[1:], value(kind))
    elif node.find(name) is None:
        child = etree.SubElement(node, name)
        if name in ("model", "link", "joint", "frame", "world"):
            child.set("name", "another")
        elif kind:
            child.text = value(kind)
    return etree.tostring(root)


def findings_about(path, name, kind, version):
    """Findings that name the child, or one of the elements that it is in."""
    diagnostics = Diagnostics()
    read_sdf(document(path, name, kind, version), diagnostics, name="file.sdf")
    names = {*path.split("/"), name.lstrip("@")}
    return [
        finding
        for finding in diagnostics.findings
        if any(f"<{n}>" in finding.message or f'"{n}"' in finding.message for n in names)
    ]


def test_the_page_lists_elements_of_the_specification():
    known = {(path, name) for path, name, _, _ in elements()}
    anywhere = {(path.rpartition("/")[2], name) for path, name in known}  # the list has each pair once
    ours = {pair for pair in acting() if ":" not in pair[1]}  # not of gz: and ignition:, which the schema has not
    assert not {pair for pair in ours if (pair[0].rpartition("/")[2], pair[1]) not in anywhere}


def test_no_element_is_passed_over_in_silence():
    listed = {(path.rpartition("/")[2], name) for path, name in acting()}
    containers = {path.rpartition("/")[2] for path, _, _, _ in elements()}  # mean what they hold
    silent = [
        f"{path}/{name}"
        for path, name, kind, version in elements()
        if (path.rpartition("/")[2], name) not in listed
        and name not in containers
        and not findings_about(path, name, kind, version)
    ]
    assert not silent, f"neither on {PAGE.name} nor found: {silent}"


def test_what_the_page_lists_is_used():
    listed = {(path.rpartition("/")[2], name) for path, name in acting()}
    unused = [
        (f"{path}/{name}", finding.message)
        for path, name, kind, version in elements()
        if (path.rpartition("/")[2], name) in listed
        for finding in findings_about(path, name, kind, version)
        if any(words in finding.message for words in UNUSED) and f"{name.lstrip('@')}" in finding.message
    ]
    assert not unused


@pytest.mark.parametrize("name", ["kpp", "@shape"])
def test_an_element_that_nobody_knows_is_found(name):
    assert any("unknown" in finding.message for finding in findings_about("model/link", name, "", "1.12"))
