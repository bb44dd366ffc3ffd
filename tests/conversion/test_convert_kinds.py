"""`mbcli convert` and `compare` over every model of the repository, and over the kinds of files of others on which
they failed or said nothing."""

import json
import re
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.writing.flatten import flattened
from repository import ROOT, SAMPLES
from test_convert import PACKAGES, URDF_LINK, convert_and_prove, load, sdf

from mbcli.comparison import Comparison, compare_models
from mbcli.conversion.conversion_proof import prove, shape_differences, touching
from mbcli.errors import ArgumentError
from mbcli.models import ModelText, load_model

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.robots import convert as net
from benchmarks.robots.files import robot_files

HAS_USD = find_spec("pxr") is not None
CORPUS = robot_files([SAMPLES, ROOT / "tests"], ("urdf", "sdf", "mjcf"))[0]


@pytest.mark.parametrize(
    ("file", "run"),
    [pytest.param(f, r, id=f"{f.name} to {r}") for f in CORPUS for r in net.runs_of(f) if "usd" not in r or HAS_USD],
)
def test_every_model_of_the_repository_converts_to_every_format_and_back(file, run, tmp_path):
    """Written, read back and compared: nothing differs that convert did not name."""
    result = net.do(file, run, {}, tmp_path)
    if run in ("urdf sdf", "mjcf sdf", "usd sdf") and "deformable" in file.name:  # they keep nothing of them
        assert result["lossy"] and net.verdict(result)[0] == net.EMPTY
    else:
        assert net.verdict(result)[0] in (net.SAME, net.NAMED, net.LOSSY), net.verdict(result)


def test_most_of_the_corpus_is_the_same_in_both_formats():
    assert len(CORPUS) > 15 and {file.format for file in CORPUS} == {"urdf", "sdf", "mjcf"}


# ------------------------------------------------------------------------------------------- conversion

PAINTED = """<mujoco model="painted"><worldbody>
  <geom name="floor" type="plane" size="5 5 .1" rgba=".5 .5 .5 1"/>
  <body name="ball" pos="0 0 .1"><freejoint/><geom name="skin" type="sphere" size=".1" rgba="1 0 0 1"/></body>
</worldbody></mujoco>"""


def convert(text, out, *options, source="m.xml"):
    path = out.parent / source
    path.write_text(text)
    return cli("convert", path, "-o", out, "--force", *options)


@pytest.mark.parametrize("suffix", ["urdf", "sdf"])
def test_the_colour_of_a_collision_is_no_reason_to_fail(tmp_path, suffix):
    out = tmp_path / f"m.{suffix}"
    result = convert(PAINTED.replace('<geom name="floor" type="plane" size="5 5 .1" rgba=".5 .5 .5 1"/>', ""), out)
    assert result.code == 0, result.err
    visual_alone = out.read_text().split("<collision")[1].split("</collision>")[0]
    assert "material" not in visual_alone and "color" not in visual_alone


@pytest.mark.parametrize(("old", "new"), [(b'<material name="color_1"/>', b""), (b"", b'<material name="color_1"/>')])
def test_the_proof_tells_what_one_side_lacks(old, new):
    """A field that is None in one model and has numbers in the other, either way."""
    material = '<material name="m"><color rgba="1 0 0 1"/></material>'
    visual = '<visual name="{}"><geometry><box size="1 2 3"/></geometry>{}</visual>'
    shapes = visual.format("v", material) + visual.format("w", "")
    model, plant = load(f'<robot name="r">{URDF_LINK.format("a").replace("</link>", shapes)}</link></robot>', "urdf")
    conversion = convert_and_prove(model, plant, "urdf")
    spoiled = (
        conversion.text.replace(old, new)
        if old
        else b"</geometry>".join([*conversion.text.split(b"</geometry>")[:-1], new + b"</visual></link></robot>"])
    )
    if not old:
        first, _, rest = conversion.text.rpartition(b"</geometry>")
        spoiled = first + b"</geometry>" + new + rest
    assert spoiled != conversion.text
    faults = prove(plant, replace(conversion, text=spoiled), PACKAGES).faults()
    assert faults == ["visuals of link 'a' are not as written"]


def test_geometry_of_the_world_goes_to_a_welded_link_in_sdformat(tmp_path):
    out = tmp_path / "m.sdf"
    (tmp_path / "m.xml").write_text(PAINTED)
    result = cli("-v", "convert", tmp_path / "m.xml", "-o", out)
    assert result.code == 0, result.err
    assert "collision 'floor' of the world is on link 'world_geometry', which 'world_geometry_weld' welds" in result.err
    for path, fixed in ((tmp_path / "m.xml", "world"), (out, "world_geometry")):
        names, may = touching(flattened(load_model(str(path)).read[0]))
        assert sorted(names) == sorted([fixed, "ball"])
        assert may.tolist() == [[False, True], [True, False]]
    back = cli("convert", out, "-o", tmp_path / "back.sdf")
    assert back.code == 0 and (tmp_path / "back.sdf").read_bytes() == out.read_bytes()


def test_frames_of_the_world_go_to_a_welded_link_in_sdformat(tmp_path):
    """A frame of a model of SDFormat must not be attached to the world: sdformat, and so pydrake, refuses the file."""
    out = tmp_path / "m.sdf"
    site = '<site name="goal" pos="1 2 3"/><body name="a"><joint/><geom size=".1"/></body>'
    result = convert(f"<mujoco><worldbody>{site}</worldbody></mujoco>", out)
    assert result.code == 0, result.err
    assert "frame 'goal' of the world is on link 'world_geometry', which 'world_geometry_weld' welds" in result.err
    assert 'attached_to="world"' not in out.read_text()
    plant = load_model(str(out)).plant
    X_WG = plant.GetFrameByName("goal").CalcPoseInWorld(plant.CreateDefaultContext())
    np.testing.assert_allclose(X_WG.translation(), [1.0, 2.0, 3.0], rtol=1e-15)


LIGHT = (  # its joints turn 1e-7 kg m^2, and nothing
    '<robot name="r"><link name="base"/><link name="a"><inertial><mass value="0.001"/>'
    '<inertia ixx="1e-7" iyy="1e-7" izz="1e-7"/></inertial></link>'
    '<link name="tip"><inertial><mass value="0.001"/></inertial></link>'
    '<joint name="j" type="revolute"><parent link="base"/><child link="a"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    '<joint name="k" type="revolute"><parent link="a"/><child link="tip"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
)


@pytest.mark.parametrize("target", ["mjcf", pytest.param("usda", marks=pytest.mark.skipif(not HAS_USD, reason="pxr"))])
def test_the_little_that_a_format_needs_is_named_and_passes_the_proof(tmp_path, target):
    """1e-12 kg m^2 is more than 1e-9 of a finger's inertia: what is compared has it."""
    (tmp_path / "m.urdf").write_text(LIGHT)
    result = cli("-v", "convert", tmp_path / "m.urdf", "-o", tmp_path / f"m.{target}")
    assert result.code == 0, result.err
    assert "INERTIA" in result.err and "link 'tip'" in result.err


def test_geometry_of_the_world_keeps_out_of_the_way_of_names(tmp_path):
    body = '<body name="world_geometry"><joint name="world_geometry__weld"/><geom size=".1"/></body>'
    result = convert(f'<mujoco><worldbody><geom size="1"/>{body}</worldbody></mujoco>', tmp_path / "m.sdf")
    assert result.code == 0 and "is on link 'world_geometry_', which 'world_geometry__weld_' welds" not in result.err
    assert (tmp_path / "m.sdf").read_text().count("<link ") == 2


def test_a_plane_of_the_world_is_named_where_urdf_has_none(tmp_path):
    out = tmp_path / "m.urdf"
    result = convert(PAINTED, out)
    assert result.code == 3 and "URDF cannot express the plane in collision 'floor' of link 'world'" in result.err
    assert convert(PAINTED, out, "--lossy").code == 0
    plane = '<collision name="c"><geometry><plane/></geometry></collision>'
    text = sdf(f'<static>true</static><link name="ground">{plane}</link>')
    result = convert(text, out, source="w.sdf")
    assert result.code == 3 and "the plane in collision 'c' of link 'ground'" in result.err
    assert convert(text, out, "--lossy", source="w.sdf").code == 0


def test_sdformat_has_no_model_without_links(tmp_path):
    result = convert("<mujoco><asset/></mujoco>", tmp_path / "m.sdf")
    assert result.code == 3 and "a model of SDFormat has a link: this one has none" in result.err


def test_links_that_may_touch_beside_a_link_called_world_go_to_sdformat(tmp_path):
    """Robots of makers have an empty link `world`, and <self_collide> for some links: the rest is a group."""
    ball = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    ball += '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    links = "".join(f'<link name="{name}">{ball}</link>' for name in "abcd")
    joint = '<joint name="{1}" type="{2}"><origin xyz="0 0 1"/><parent link="{0}"/><child link="{1}"/>{3}</joint>'
    limit = '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
    joints = joint.format("world", "a", "fixed", "")
    joints += "".join(joint.format(*pair, "revolute", limit) for pair in ("ab", "bc", "cd"))
    collide = '<gazebo reference="d"><self_collide>true</self_collide></gazebo>'
    text = f'<robot name="r"><link name="world"/>{links}{joints}{collide}</robot>'
    assert convert(text, tmp_path / "r.sdf", source="r.urdf").code == 0
    written = (tmp_path / "r.sdf").read_text()
    assert "<drake:member>a<" in written and "<drake:member>world<" not in written


SERVO = """<mujoco><compiler angle="radian"/><worldbody><body><joint name="j" type="hinge" ref="{ref}"/>
<geom size=".1" mass="1"/></body></worldbody>
<actuator><position name="p" joint="j" kp="5" ctrlrange="{low} 2"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("ref", "low", "suffix", "aim"),
    [
        (0, -2, "sdf", None),
        (0, 1, "sdf", "1.0"),  # at rest with the control 1
        (1, -2, "sdf", "0.0"),  # SDFormat keeps the default position 1
        (1, -2, "urdf", None),  # URDF has none, so that the servo aims at 0
        (1, 1, "sdf", None),
        (1, 1, "urdf", "1.0"),
    ],
)
def test_a_servo_loses_only_an_aim_that_the_format_does_not_have(tmp_path, ref, low, suffix, aim):
    result = convert(SERVO.format(ref=ref, low=low), tmp_path / f"m.{suffix}")
    assert result.code == (0 if aim is None else 3)
    assert aim is None or f"aims at {aim} and the velocity 0.0 by itself" in result.err


# ------------------------------------------------------------------------------------- contact in the proof

BOX = '<collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision>'
SOLID = "".join(f'<link name="{name}"><inertial><mass>1</mass></inertial>{BOX}</link>' for name in "abc")
GROUPS = (
    '<drake:collision_filter_group name="g"><drake:member>a</drake:member><drake:member>b</drake:member>'
    "<drake:ignored_collision_filter_group>g</drake:ignored_collision_filter_group></drake:collision_filter_group>"
)


@pytest.mark.parametrize("target", ["urdf", "sdf"])
def test_the_proof_is_of_what_may_touch(target):
    model, plant = load(sdf(SOLID + GROUPS), "sdf")
    conversion = convert_and_prove(model, plant, target)
    other = load(sdf(SOLID + GROUPS.replace("member>b<", "member>c<")), "sdf")[0]
    found = shape_differences(conversion, other)
    assert found == [f"links 'a' and '{name}' may touch in one and not in the other" for name in "bc"]


@pytest.mark.parametrize("target", ["urdf", "sdf"])
def test_the_proof_is_of_the_places_of_shapes(target):
    model, plant = load(sdf(SOLID), "sdf")
    conversion = convert_and_prove(model, plant, target)
    moved = SOLID.replace('<collision name="c">', '<collision name="c"><pose>0 0 1e-6 0 0 0</pose>', 1)
    assert shape_differences(conversion, load(sdf(moved), "sdf")[0]) == ["collisions of link 'a' are elsewhere"]


# ------------------------------------------------------------------------------------------------ meshes

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.fixture
def package(tmp_path):
    """A package with a robot of one mesh, and a folder elsewhere."""
    for folder in ("p/meshes", "p/urdf", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "p" / "package.xml").write_text("<package><name>p</name></package>")
    (tmp_path / "p" / "meshes" / "a.obj").write_text(TRIANGLE)
    visual = '<visual name="v"><geometry><mesh filename="package://p/meshes/a.obj"/></geometry></visual></link>'
    robot = f'<robot name="r">{URDF_LINK.format("a").replace("</link>", visual)}</robot>'
    (tmp_path / "p" / "urdf" / "r.urdf").write_text(robot)
    return tmp_path


def test_a_mesh_of_a_package_keeps_its_name_elsewhere(package):
    robot, out = package / "p" / "urdf" / "r.urdf", package / "elsewhere" / "r.sdf"
    result = succeed("convert", robot, "-o", out)
    assert "<uri>package://p/meshes/a.obj</uri>" in out.read_text()
    assert f"--package p={package / 'p'} gives it; --bundle copies it [MESH]" in result.err
    found = succeed("compare", robot, out, "--package", f"p={package / 'p'}")
    assert found.out.startswith("the models are the same")
    lost = cli("compare", robot, out)
    assert lost.code == 1 and "'a.obj' in A, 'a.obj' (not found) in B" in lost.out
    assert cli("compare", robot, out, "--dynamics-only").code == 0


def test_meshes_are_compared_by_the_content_of_their_files(package):
    robot, out = package / "p" / "urdf" / "r.urdf", package / "elsewhere" / "r.urdf"
    succeed("convert", robot, "-o", out, "--bundle")
    assert succeed("compare", robot, out).out.startswith("the models are the same")
    (package / "elsewhere" / "meshes" / "a.obj").write_text(TRIANGLE.replace("1 0 0", "2 0 0"))
    found = cli("compare", robot, out, "--shapes", "--json")
    assert found.code == 1
    rows = [(row["name"], row["where"], row["cause"]) for row in found.json()["quantities"]]
    assert rows == [("shape mesh", "geometry v", "'a.obj' in A, 'a.obj' in B, of another content")]


def test_meshes_with_the_same_triangles_are_the_same_however_they_are_written(package):
    """Mirrored by a scale or in the file, with its vertices in another order, and to a tolerance."""
    robot, out = package / "p" / "urdf" / "r.urdf", package / "elsewhere" / "r.urdf"
    succeed("convert", robot, "-o", out, "--bundle")
    mirrored = "v 0 1.0000001 0\nv -1 0 0\nv 0 0 0\nf 3 1 2\n"
    (package / "elsewhere" / "meshes" / "a.obj").write_text(mirrored)
    (scale,) = set(re.findall('scale="[^"]*"', out.read_text()))
    x, y, z = scale.split('"')[1].split()
    out.write_text(out.read_text().replace(scale, f'scale="-{x} {y} {z}"'))
    found = cli("compare", robot, out, "--shapes", "--json")
    assert found.code == 1 and {row["name"] for row in found.json()["quantities"]} == {"shape mesh", "shape scale"}
    assert succeed("compare", robot, out, "--shapes", "--tolerance", "1e-6").out.startswith("the models are the same")


# ------------------------------------------------------------------------------------- names and parts


def texts(*models, **options):
    return compare_models(*(ModelText(text, name) for text, name in models), **options)


def test_the_frame_of_a_model_of_a_world_is_no_difference(tmp_path):
    solid = '<model name="m"><link name="l"><inertial><mass>1</mass></inertial></link></model>'
    (tmp_path / "a.sdf").write_text(f'<sdf version="1.9"><world name="w">{solid}</world></sdf>')
    succeed("convert", tmp_path / "a.sdf", "-o", tmp_path / "b.sdf")
    assert not compare_models(tmp_path / "a.sdf", tmp_path / "b.sdf").differences


def test_there_and_back_through_sdformat_is_the_same_with_other_names_of_actuators(tmp_path):
    links = URDF_LINK.format("a") + URDF_LINK.format("b")
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
    joint += '<limit lower="-1" upper="1" effort="5" velocity="1"/></joint>'
    drive = (
        '<transmission name="t"><type>SimpleTransmission</type><joint name="j"/><actuator name="motor"/></transmission>'
    )
    (tmp_path / "a.urdf").write_text(f'<robot name="r">{links}{joint}{drive}</robot>')
    succeed("convert", tmp_path / "a.urdf", "-o", tmp_path / "b.sdf")
    succeed("convert", tmp_path / "b.sdf", "-o", tmp_path / "c.urdf")
    for other in ("b.sdf", "c.urdf"):
        assert not compare_models(tmp_path / "a.urdf", tmp_path / other).differences
    weaker = (tmp_path / "c.urdf").read_text().replace('effort="5"', 'effort="4"')
    (found,) = texts(((tmp_path / "a.urdf").read_text(), "a.urdf"), (weaker, "c.urdf")).differences
    assert (found.name, found.where) == ("effort_limit", "actuator motor")


def test_a_nested_model_and_its_flat_form_are_the_same(tmp_path):
    solid = '<link name="{}"><inertial><mass>1</mass></inertial></link>'
    inner = f'<model name="arm">{solid.format("hand")}{solid.format("palm")}<joint name="j" type="revolute">'
    inner += "<parent>palm</parent><child>hand</child><axis><xyz>0 0 1</xyz></axis></joint></model>"
    (tmp_path / "a.sdf").write_text(sdf(inner + solid.format("hand")))
    result = succeed("-v", "convert", tmp_path / "a.sdf", "-o", tmp_path / "b.sdf")
    assert "joint 'arm::j' is called 'arm__j' [NAME]" in result.err
    found = compare_models(tmp_path / "a.sdf", tmp_path / "b.sdf")
    assert not found.differences and "mass_matrix" in found.compared
    heavy = (tmp_path / "b.sdf").read_text().replace("<mass>1", "<mass>2", 1)
    (tmp_path / "b.sdf").write_text(heavy)
    assert "mass" in {d.name for d in compare_models(tmp_path / "a.sdf", tmp_path / "b.sdf").differences}


TWO = f"""<robot name="r">{URDF_LINK.format("a")}{URDF_LINK.format("b")}
<joint name="NAME" type="revolute"><origin xyz="0 0 .5"/><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="5" velocity="1"/></joint></robot>"""


def test_a_joint_of_another_name_between_the_same_bodies_is_one_difference():
    found = texts((TWO.replace("NAME", "j"), "a.urdf"), (TWO.replace("NAME", "k"), "b.urdf"))
    assert [str(d) for d in found.differences] == ["name of joint j: 'j' in A, 'k' in B"]
    assert "mass_matrix" in found.compared


def test_a_joint_and_a_floating_base_of_one_name_are_told_apart(tmp_path):
    """URDF lets a joint have the name of the base; in SDFormat the joint that mbcli adds to the base has it."""
    (tmp_path / "a.urdf").write_text(TWO.replace("NAME", "a"))
    succeed("convert", tmp_path / "a.urdf", "-o", tmp_path / "b.sdf")
    found = compare_models(tmp_path / "a.urdf", tmp_path / "b.sdf")
    assert [str(d) for d in found.differences] == ["name of joint a: 'a' in A, 'a_joint' in B"]
    assert "mass_matrix" in found.compared


def test_what_one_model_lacks_in_arrays_is_a_difference_and_no_error():
    text = TWO.replace("NAME", "j")
    fixed = text.replace("revolute", "fixed")
    found = {(d.name, d.where) for d in texts((text, "a.urdf"), (fixed, "b.urdf")).differences}
    assert ("type", "joint j") in found
    comparison = Comparison(1e-9)
    assert comparison.values("damping", "joint j", None, np.zeros(6)) and not comparison.values("x", "y", None, None)


AXIS = """<sdf version="1.11"><model name="m"><link name="a"><inertial><mass>1</mass></inertial></link>
<link name="b"><pose>1 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link>
<joint name="j" type="TYPE"><pose>POSE</pose><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>"""


@pytest.mark.parametrize(
    ("kind", "pose", "differs"),
    [
        ("revolute", "0 0 .5 0 0 0", False),  # along the axis
        ("revolute", ".1 0 0 0 0 0", True),
        ("prismatic", ".1 .2 .5 0 0 0", False),  # a direction is the same everywhere
        ("prismatic", "0 0 0 .3 0 0", True),
        ("fixed", ".1 .2 .3 0 0 0", False),
    ],
)
def test_where_on_its_axis_a_joint_has_its_frame_does_not_matter(kind, pose, differs):
    text = AXIS.replace("TYPE", kind)
    found = texts((text.replace("POSE", "0 0 0 0 0 0"), "a.sdf"), (text.replace("POSE", pose), "b.sdf")).differences
    assert bool([d for d in found if d.where == "joint j"]) == differs
    assert differs or not found


def test_geometries_of_one_name_on_several_bodies_are_all_compared():
    body = '<body name="{0}"><joint name="j{0}" type="hinge"/><geom size=".1" mass="1" friction="{1}"/></body>'
    text = "<mujoco><worldbody>{}{}</worldbody></mujoco>"
    pair = [text.format(body.format("a", f), body.format("b", ".5")) for f in (".5", ".7")]
    found = texts((pair[0], "a.xml"), (pair[1], "b.xml")).differences
    assert {(d.name, d.where) for d in found} >= {("static_friction", "geometry a::geom0")}


def test_a_geometry_is_found_where_one_model_alone_has_another_of_its_name():
    shape = '<collision name="s"><geometry><sphere radius="1"/></geometry></collision></link>'
    both = [URDF_LINK.format(name).replace("</link>", shape) for name in "ab"]
    one = [f'<robot name="r">{"".join(links)}</robot>' for links in (both, [both[0], URDF_LINK.format("b")])]
    assert [str(d) for d in texts((one[0], "a.urdf"), (one[1], "b.urdf"), part="shapes").differences] == [
        "geometry of geometry b::s: is in A, not in B"
    ]


def test_parts_of_models_are_compared_alone(tmp_path):
    shape = '<collision name="s"><geometry><sphere radius="{}"/></geometry></collision></link>'
    robots = []
    for name, mass, radius in (("a", 1, 1), ("b", 2, 3)):
        text = URDF_LINK.format("l").replace('mass value="1"', f'mass value="{mass}"')
        (tmp_path / f"{name}.urdf").write_text(
            f'<robot name="r">{text.replace("</link>", shape.format(radius))}</robot>'
        )
        robots.append(tmp_path / f"{name}.urdf")

    def kinds(*options):
        result = cli("compare", *robots, "--json", *options)
        return {row["where"].split()[0] for row in json.loads(result.out)["quantities"]}

    assert {"body", "geometry"} <= kinds()
    assert "geometry" not in kinds("--dynamics-only") and "body" in kinds("--dynamics-only")
    assert kinds("--shapes") == {"geometry"}
    assert cli("compare", *robots, "--shapes", "--dynamics-only").code == 2
    assert cli("compare", robots[0], "--shapes").code == 2
    with pytest.raises(ArgumentError, match="part must be one of all, dynamics, shapes"):
        compare_models(*robots, part="forms")


# ----------------------------------------------------------------------------------------------- the net

RESULT = {"code": 0, "message": "", "lossy": False, "losses": [], "compared": 0, "differences": []}


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, net.SAME),
        ({"differences": [["mass", "body a", ""]]}, net.DIFFERS),
        ({"differences": [["mass", "body a", ""]], "losses": [["lost", "X", "the mass of 'a'"]]}, net.NAMED),
        ({"differences": [["bias", "j_w", ""]], "losses": [["lost", "X", ""]]}, net.DIFFERS),
        ({"differences": [["bias", "j_w", ""]], "losses": [["motion", "X", ""]], "lossy": True}, net.LOSSY),
        ({"code": 70}, net.BUG),
        ({"compared": 70}, net.BUG),
        ({"compared": 3}, net.UNREAD),
        ({"code": 3}, net.REFUSED),
        ({"code": 3, "message": f"m.xml:1:1: error: {net.NO_LINKS}"}, net.EMPTY),
        ({"code": 5}, net.UNPROVED),
        ({"died": "longer than 60 s"}, net.LATE),
        ({"died": "died of SIGSEGV"}, net.BUG),
        ({"read_by": {"pydrake": ["differs", "masses deviates by 1"]}}, net.ENGINE),
        ({"read_by": {"pydrake": ["equal but for impossible inertias", "link 'a'"]}}, net.SAME),
    ],
)
def test_verdicts_of_the_net(changes, verdict):
    assert net.verdict(RESULT | changes)[0] == verdict


def test_the_net_knows_a_link_whose_model_was_part_of_its_name():
    losses = [["changed", "NAME", "link 'stadium/part0.obj::floor' is called 'part0_obj__floor'"]]
    assert net.is_named(["geometry", "geometry floor::visual", "is in A, not in B"], losses)
    assert not net.is_named(["geometry", "geometry roof::visual", "is in A, not in B"], losses)


def test_the_net_goes_on_where_an_earlier_run_ended(tmp_path):
    """Each run of a file has one record, whichever run of the net made it; those of another content are not taken."""
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.urdf").write_text(f'<robot name="{name}"><link name="l"/></robot>')
    files, _ = robot_files([tmp_path])
    first = net.Report()
    first.add(files[0], "urdf", RESULT)
    first.add(files[0], "sdf usd", RESULT | {"code": 5})
    first.add(files[1], "urdf", RESULT)
    (tmp_path / "results.json").write_text(first.document())
    (tmp_path / "b.urdf").write_text('<robot name="other"><link name="l"/></robot>')
    files, _ = robot_files([tmp_path])
    runs = ["urdf", "sdf usd"]
    for again, left in ((False, [[], runs, runs]), (True, [["sdf usd"], runs, runs])):
        report = net.Report()
        report.take(net.earlier(tmp_path / "results.json"), files, again=again)
        assert [report.left(file, runs) for file in files] == left
    assert net.earlier(tmp_path / "none.json") == []


FOUR_BAR = """<sdf version="1.9"><model name="m">
<link name="a"><inertial><mass>1</mass></inertial></link>
<link name="b"><pose>1 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link>
<link name="c"><pose>2 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link>
<joint name="j1" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="j2" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="rod" type="ball"><parent>b</parent><child>c</child></joint>
<joint name="j3" type="revolute"><parent>world</parent><child>c</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""


@pytest.mark.parametrize(
    "target", ["urdf", "mjcf", pytest.param("usda", marks=pytest.mark.skipif(not HAS_USD, reason=""))]
)
def test_a_loop_is_cut_where_the_plant_cuts_it(tmp_path, target):
    """At the joint that no motor drives, wherever it stands in the file."""
    (tmp_path / "m.sdf").write_text(FOUR_BAR)
    result = cli("convert", tmp_path / "m.sdf", "-o", tmp_path / f"m.{target}", "--lossy")
    assert result.code == 0, result.err
    assert "joint 'j3'" not in result.err and ("joint 'rod' closes a loop" in result.err or target == "urdf")


def test_a_world_with_nothing_in_it_is_no_model_of_sdformat(tmp_path):
    result = convert("<mujoco><worldbody><light/></worldbody></mujoco>", tmp_path / "m.sdf")
    assert result.code != 0 and "a model of SDFormat has a link: this one has none" in result.err


def test_loops_that_mjcf_cannot_express_are_told_in_the_order_of_the_file(tmp_path):
    """Whatever order sets of names have in this process."""
    names = ["delta", "echo", "alpha", "golf", "bravo", "foxtrot"]
    link = "<link name='{0}'/>" + "".join(
        f"<joint name='{{0}}_{k}' type='revolute'><parent>world</parent><child>{{0}}</child><axis><xyz>0 1 0</xyz>"
        "<dynamics><damping>1</damping></dynamics></axis></joint>"
        for k in "ab"
    )
    model = "\n".join(map(link.format, names))
    (tmp_path / "m.sdf").write_text(f"<sdf version='1.9'><model name='m'>\n{model}\n</model></sdf>")
    result = cli("convert", tmp_path / "m.sdf", "-o", tmp_path / "m.xml")
    told = [line.partition("joint '")[2].partition("_")[0] for line in result.err.splitlines() if "error:" in line]
    assert result.code == 3 and told == names
