"""`mbcli check --fix`: what has one cure is mended in the text, all else stays, and each change is proved."""

import json
import os
import re

import jsonschema
import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.scenes.file_schemas import schema_text

from mbcli.checks import fixes
from mbcli.checks.fixes import mend
from mbcli.models import load_model

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SPOILED = f"""<?xml version="1.0"?>
<!-- axis xyz="0 2 0": a comment stays -->
<robot name="r">
\t<material name="Red"><color rgba="255 128 0 1"/></material>
  <link name="arm_base">{INERTIA.replace("inertia ", "Inertia ")}
    <visual><geometry><mesh filename="meshes\\Part.STL"/></geometry><material name='red'/></visual></link>
  <link name="arm_tip"  >{INERTIA}
    <visual><geometry><mesh filename="mesh/part.stl" Scale="1 1 1"/></geometry></visual></link>
  <joint name="j1" type="revolute"><parent link="Arm_Base"/><child link="tip"/>
    <origin rpy="0 90  0" xyz="0 0 1"/><axis xyz="0  2 0"/><limit lower="-170" upper='170' effort="3" velocity="1"/>
  </joint>
  <link name="arm_follower">{INERTIA}</link>
  <joint name="j2" type="revolute"><parent link="arm_base"/><child link="arm_follower"/><mimic joint="J1"/>
    <axis xyz="1 1 0"/><limit lower="-1" upper="1" effort="3" velocity="1"/></joint>
</robot>
"""
MENDED = (  # (what stands there, what is to stand there)
    ("255 128 0 1", "1 0.5019607843137255 0 1"),
    ("<Inertia ", "<inertia "),
    ("meshes\\Part.STL", "meshes/part.stl"),
    ("'red'", "'Red'"),
    ("mesh/part.stl", "meshes/part.stl"),
    ("Scale=", "scale="),
    ("Arm_Base", "arm_base"),
    ('"tip"', '"arm_tip"'),
    ("0 90  0", "0 1.5707963267948966  0"),
    ('"0  2 0"', '"0 1 0"'),
    ('"-170"', '"-2.9670597283903604"'),
    ("'170'", "'2.9670597283903604'"),
    ('"J1"', '"j1"'),
    ("1 1 0", "0.7071067811865475 0.7071067811865475 0"),
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "part.stl").write_text("solid x\nendsolid x\n")
    return tmp_path


def written(folder, text, name="r.urdf"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def expected(text):
    for old, new in MENDED:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def one_joint(limit='lower="-1" upper="1"', more="", parent="a", child="b", axis="0 0 1"):
    return (
        f'<robot name="r"><link name="a">{INERTIA}</link><link name="b">{INERTIA}</link>{more}'
        f'<joint name="j" type="revolute"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>'
        f'<limit {limit} effort="1" velocity="1"/></joint></robot>'
    )


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_every_cure_is_made_and_all_other_characters_stay(folder, ending):
    spoiled = SPOILED.replace("\n", ending)
    path = written(folder, spoiled)
    before = cli("check", path)
    assert before.code == 1
    result = cli("check", path, "--fix")
    assert result.code == 0, result.out
    assert path.read_bytes().decode() == expected(spoiled)
    assert f'{path}:10: changed: xyz: "0  2 0" -> "0 1 0" [AXIS_NOT_UNIT]' in result.out
    assert "13 changes" in result.out
    codes = {json.loads(line)["code"] for line in succeed("check", path, "--format", "jsonl").out.splitlines()}
    assert codes == {"JOINT_COUPLED", "MIMIC_EXCEEDS_LIMITS"}
    again = cli("check", path, "--fix")
    assert "changed" not in again.out and path.read_bytes().decode() == expected(spoiled)


def test_a_model_that_was_read_is_the_same_after_it(folder):
    """An axis that is not of length 1 and a colour in bytes are taken as meant: so they are after the cure."""
    path = written(folder, one_joint(axis="1 2 3"))
    plant = load_model(path).plant
    assert mend(str(path), PackageMap()).fixes
    succeed("check", path, "--fix")
    again = load_model(path).plant
    np.testing.assert_allclose(again.GetJointByName("j").axis(), plant.GetJointByName("j").axis(), rtol=0, atol=1e-16)


def test_a_trial_writes_nothing_and_says_the_same(folder):
    path = written(folder, SPOILED)
    names = sorted(os.listdir(folder))
    tried = cli("check", path, "--fix", "--dry-run")
    assert path.read_text() == SPOILED and sorted(os.listdir(folder)) == names and "not written" in tried.out
    made = cli("check", path, "--fix")
    lines = [re.sub("would change", "changed", line) for line in tried.out.splitlines() if "would change" in line]
    assert lines == [line for line in made.out.splitlines() if ": changed: " in line] and len(lines) == 13


def test_the_document_of_json_has_the_changes(folder):
    path = written(folder, SPOILED)
    for options, is_written in (("--dry-run",), False), ((), True):
        document = cli("check", path, "--fix", *options, "--json").json()
        jsonschema.Draft202012Validator(json.loads(schema_text("results"))).validate(document)
        assert len(document["fixes"]) == 13 and {fix["written"] for fix in document["fixes"]} == {is_written}
    assert "fixes" not in succeed("check", path, "--json").json()


@pytest.mark.parametrize(
    "text",
    [
        one_joint('lower="-100" upper="100"'),  # no limit, perhaps
        one_joint('lower="-33.3" upper="27.1"'),  # no plain degrees
        one_joint('lower="-400" upper="400"'),
        one_joint(parent="A", more=f'<link name="A_">{INERTIA}</link><link name="x_c">{INERTIA}</link>')
        .replace('parent link="A"', 'parent link="c"')
        .replace('name="a"', 'name="y_c"'),  # two names end so
        one_joint(parent="B"),  # the joint would connect b with itself
        one_joint(more='<link name="c"><visual><geometry><mesh filename="twin.stl"/></geometry></visual></link>'),
        one_joint().replace("<axis", '<origin rpy="0 0 7"/><axis'),
    ],
    ids=["endless", "odd", "turns", "two_endings", "itself", "two_files", "small"],
)
def test_what_is_not_plain_stays(folder, text):
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "twin.stl").write_text("solid x\nendsolid x\n")
    path = written(folder, text)
    assert "changed:" not in cli("check", path, "--fix").out and path.read_text() == text


def test_degrees_and_names_in_sdformat(folder):
    inertia = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    text = (
        f'<sdf version="1.9"><model name="m"><link name="base">{inertia}</link><link name="m_tip">'
        f'<pose relative_to="Base">0 0 1 0 90 0</pose>{inertia}</link>'
        '<joint name="j" type="revolute"><parent>Base</parent><child> tip </child><axis><xyz>0 0 1</xyz><limit>'
        "<lower>-90.5</lower><upper> 0</upper></limit></axis></joint></model></sdf>"
    )
    path = written(folder, text, "m.sdf")
    succeed("check", path, "--fix")
    for old, new in (
        ('"Base"', '"base"'),
        ("0 90 0", f"0 {np.pi / 2!r} 0"),
        (">Base<", ">base<"),
        (" tip ", " m_tip "),
        ("-90.5", repr(float(np.radians(-90.5)))),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    assert path.read_text() == text


def test_a_cure_whose_finding_stays_is_not_written(folder, monkeypatch):
    def wrong(context, finding, tag):
        return context.change(tag, "xyz", "0 3 0")

    monkeypatch.setitem(fixes.CURES, "AXIS_NOT_UNIT", wrong)
    text = one_joint('lower="-170" upper="170"', axis="0 0 2")
    path = written(folder, text)
    result = cli("check", path, "--fix")
    assert 'not changed, the finding would stay or another error come: "0 0 2" -> "0 3 0"' in result.out
    assert path.read_text() == text.replace("-170", "-2.9670597283903604").replace('"170"', '"2.9670597283903604"')


def test_codes_choose_what_is_mended(folder):
    path = written(folder, SPOILED)
    cli("check", path, "--fix", "--select", "AXIS_NOT_UNIT")
    assert path.read_text() == SPOILED.replace('><axis xyz="0  2 0"', '><axis xyz="0 1 0"').replace(*MENDED[-1])


def test_links_and_other_files_are_left_alone(folder):
    real = written(folder, one_joint(axis="0 0 2"))
    link = folder / "link.urdf"
    link.symlink_to(real)
    latin = written(
        folder,
        b'<?xml version="1.0" encoding="latin-1"?>' + one_joint(axis="0 0 2").encode() + b"<!--\xe9-->",
        "l.urdf",
    )
    scene = written(folder, "directives:\n- add_model: {name: r, file: r.urdf}\n", "s.dmd.yaml")
    contents = [path.read_bytes() for path in (real, latin, scene)]
    for path, words in ((link, "it is a link"), (latin, "not UTF-8"), (scene, "no file of URDF or SDFormat")):
        assert words in cli("check", path, "--fix").out
    assert contents == [path.read_bytes() for path in (real, latin, scene)] and link.is_symlink()


def test_a_file_that_changes_meanwhile_is_not_replaced(folder):
    path = written(folder, one_joint(axis="0 0 2"))
    mended = mend(str(path), PackageMap())
    path.write_text("mine")
    with pytest.raises(Exception, match="was changed meanwhile"):
        mended.write()
    assert path.read_text() == "mine"


def test_a_mended_file_keeps_who_may_read_it(folder):
    path = written(folder, one_joint(axis="0 0 2"))
    path.chmod(0o640)
    succeed("check", path, "--fix")
    assert path.stat().st_mode & 0o777 == 0o640 and 'xyz="0 0 1"' in path.read_text()


def test_a_folder_is_mended_file_by_file(folder):
    (folder / "more").mkdir()
    paths = [written(folder, one_joint(axis="0 0 2")), written(folder / "more", one_joint(axis="0 3 0"))]
    succeed("check", folder, "--fix")
    assert ['xyz="0 0 1"' in paths[0].read_text(), 'xyz="0 1 0"' in paths[1].read_text()] == [True, True]


@pytest.mark.parametrize("words", [("--dry-run",), ("--fix", "--watch"), ("--fix", "--baseline", "x"), ("--fix", "-")])
def test_options_that_do_not_fit(folder, words):
    result = cli("check", written(folder, one_joint()), *words)
    assert result.code == 2 and result.err.count("\n") == 1


def test_a_word_in_another_case_becomes_the_known_one(tmp_path):
    """What an exporter writes: the type of a joint, its link and its limits are mended in one go."""
    path = tmp_path / "cad.urdf"
    path.write_text(
        '<robot name="cad"><link name="base"/><link name="Arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
        'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="Revolute"><parent link="base"/>'
        '<child link="arm"/><axis xyz="0 0 2"/><limit lower="-90" upper="90" effort="1" velocity="1"/></joint></robot>'
    )
    result = cli("check", path, "--fix")
    assert 'changed: type: "Revolute" -> "revolute" [ATTRIBUTE_INVALID]' in result.out + result.err
    text = path.read_text()
    assert 'type="revolute"' in text and '<child link="Arm"/>' in text and 'xyz="0 0 1"' in text
