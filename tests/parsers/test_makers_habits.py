"""What files of makers do beside the letter of their formats, and other programs read."""

import os

import pytest
from command_line import cli
from mbcli.parsers.colors import color_in_range
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from usd_texts import USD

from mbcli.checks.file_check import check_file

BALL = '<geom type="sphere" size="0.1" mass="1"/>'
INERTIAL_SDF = "<inertial><mass>1</mass><inertia><ixx>0.4</ixx><iyy>0.4</iyy><izz>0.4</izz></inertia></inertial>"
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def hinged(name, inside):
    return f'<body name="{name}"><joint name="{name}_j" axis="0 1 0"/>{inside}</body>'


def codes(path):
    return [finding.code for finding in check_file(str(path)).findings if finding.severity != "note"]


# ------------------------------------------------------------------------------------------- includes of links


@pytest.fixture
def parts(tmp_path):
    (tmp_path / "part.xml").write_text(f"<mujoco>{BALL}</mujoco>")
    for name in ("part_b.xml", "part_c.xml"):
        os.symlink("part.xml", tmp_path / name)

    def write(*names):
        bodies = "".join(hinged(f"b{k}", f'<include file="{name}"/>') for k, name in enumerate(names))
        path = tmp_path / "robot.xml"
        path.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
        return path

    return write


def test_links_to_one_file_are_several_names(parts):
    (model,) = load_models(str(parts("part.xml", "part_b.xml", "part_c.xml")), diagnostics=Diagnostics())
    assert [len(link.collisions) for link in model.links if link.name != "world"] == [1, 1, 1]


@pytest.mark.peers("mujoco")
def test_mujoco_reads_the_same_links(parts):
    import mujoco

    assert mujoco.MjModel.from_xml_path(str(parts("part.xml", "part_b.xml"))).nv == 2
    with pytest.raises(ValueError, match="included"):
        mujoco.MjModel.from_xml_path(str(parts("part.xml", "part.xml")))


@pytest.mark.parametrize("names", [("part.xml", "part.xml"), ("part.xml", "./part.xml"), ("part_b.xml", "part_b.xml")])
def test_one_name_twice_is_an_error(parts, names):
    assert codes(parts(*names)) == ["INCLUDE_REPEATED"]


def test_a_file_within_itself_by_links_ends(tmp_path):
    for k in range(9):
        os.symlink("part.xml", tmp_path / f"link{k}.xml")
    (tmp_path / "part.xml").write_text('<mujoco><include file="link0.xml"/><include file="link1.xml"/></mujoco>')
    path = tmp_path / "robot.xml"
    path.write_text(f'<mujoco><worldbody><include file="part.xml"/>{hinged("a", BALL)}</worldbody></mujoco>')
    assert codes(path) == ["INCLUDE_REPEATED"] * 2
    assert all("includes itself" in f.message for f in check_file(str(path)).findings if f.severity == "error")


# ----------------------------------------------------------------------------------------------- loop joints


def loop(kind):
    links = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in "abcd")
    joints = "".join(
        f'<joint name="{p}{c}" type="continuous"><parent link="{p}"/><child link="{c}"/><origin xyz="{xyz}"/>'
        '<axis xyz="0 1 0"/></joint>'
        for p, c, xyz in (("a", "b", "0 0 0"), ("b", "c", "0 0 1"), ("a", "d", "1 0 0"))
    )
    ends = '<link1 link="c" xyz="1 0 0"/><link2 link="d" xyz="0 0 1"/>'
    return f'<robot name="r">{links}{joints}<loop_joint name="end" type="{kind}">{ends}</loop_joint></robot>'


def test_a_spherical_loop_joint_is_a_ball(tmp_path):
    path = tmp_path / "loop.urdf"
    path.write_text(loop("spherical"))
    (model,) = load_models(str(path), diagnostics=Diagnostics())
    assert [joint.type for joint in model.joints if joint.name == "end"] == ["ball"]
    result = cli("simulate", path, "-t", "0.05", "-o", tmp_path / "run.h5")
    assert result.code == 0 and "largest error of the constraints" in result.out


def test_other_kinds_of_loop_joints_are_refused_as_before(tmp_path):
    path = tmp_path / "loop.urdf"
    path.write_text(loop("sphere"))
    assert codes(path) == ["ATTRIBUTE_INVALID"]


# --------------------------------------------------------------------------------------------------- colours


class Nothing:
    """A node that keeps its warnings."""

    def __init__(self):
        self.diagnostics, self.told = self, []

    def warning(self, code, message, node, **options):
        self.told.append((code, message, options["hint"]))


@pytest.mark.parametrize(
    ("stated", "taken"),
    [
        ((1, 0.5, 0, 1), (1, 0.5, 0, 1)),
        ((255, 51, 0, 1), (1, 0.2, 0, 1)),
        ((255, 51, 0, 0.5), (1, 0.2, 0, 0.5)),
        ((255, 51, 0, 255), (1, 0.2, 0, 1)),
        ((1.2, 0.5, 0, 1), (1, 0.5, 0, 1)),
        ((1, -0.1, 0, 2), (1, 0, 0, 1)),
        ((1e9, 0, 0, 1), (1, 0, 0, 1)),
    ],
)
def test_colours_are_bytes_or_cut(stated, taken):
    node = Nothing()
    assert color_in_range(stated, node, "rgba") == pytest.approx(taken)
    assert len(node.told) == (stated != taken)


@pytest.mark.parametrize("target", ["urdf", "sdf", USD])
@pytest.mark.parametrize("where", ["geom", "material", "default"])
def test_a_colour_in_bytes_is_told_and_converted(tmp_path, target, where):
    color = {"geom": 'rgba="255 0 0 0.5"', "material": 'material="m"', "default": ""}[where]
    default = '<default><geom rgba="255 0 0 0.5"/></default>' if where == "default" else ""
    asset = '<asset><material name="m" rgba="255 0 0 0.5"/></asset>' if where == "material" else ""
    path = tmp_path / "red.xml"
    geom = f'<geom type="sphere" size="0.1" mass="1" {color}/>'
    path.write_text(f"<mujoco>{default}{asset}<worldbody>{hinged('a', geom)}</worldbody></mujoco>")
    assert codes(path) == ["ATTRIBUTE_INVALID"]
    assert cli("convert", path, "--to", target, "-o", tmp_path / f"red.{target}").code == 0


# ------------------------------------------------------------------------------------------------------- slip

SURFACE = """<sdf version="1.9"><model name="m"><link name="b">{inertial}<collision name="c"><geometry>
<sphere><radius>1</radius></sphere></geometry><surface><friction><ode>{ode}</ode></friction></surface></collision></link></model></sdf>"""


@pytest.mark.parametrize(
    ("ode", "told"),
    [
        ("<mu>1</mu><slip1>0.1</slip1>", "<slip1> does not act"),
        ("<slip2>0.1</slip2>", "<slip2> does not act"),
        ("<mu>0.5</mu><mu2>0.5</mu2><fdir1>1 0 0</fdir1>", ""),
        ("<mu>1</mu><mu2>0.9</mu2><fdir1>0 0 0</fdir1>", ""),
        ("<mu>1</mu><mu2>0.9</mu2>", ""),
        ("<mu>1</mu><slip1>0</slip1>", ""),
    ],
)
def test_slip_is_told(tmp_path, ode, told):
    path = tmp_path / "m.sdf"
    path.write_text(SURFACE.format(inertial=INERTIAL_SDF, ode=ode))
    messages = [finding.message for finding in check_file(str(path)).findings if finding.severity == "warning"]
    assert [told in message for message in messages] == [True] * bool(told), messages


# ------------------------------------------------------------------------- conversion: names, springs on World


@pytest.mark.parametrize("target", ["urdf", "sdf", "mjcf"])
@pytest.mark.parametrize("name", ["one::link", "a::b::c", "::", "x::"])
def test_names_with_scopes_are_renamed(tmp_path, target, name):
    path = tmp_path / "saved.sdf"
    link = f'<link name="{name}"><inertial><mass>1</mass></inertial></link>'
    path.write_text(f'<sdf version="1.6"><world name="w"><model name="m">{link}</model></world></sdf>')
    result = cli("convert", path, "--to", target)
    assert result.code == 0 and "is called 'm__" in result.err and "::" not in result.out


PULLED = hinged("a", '<geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="1"/><site name="s" pos=".5 0 0"/>')
SPRING = '<tendon><spatial stiffness="50" springlength=".3"><site site="w"/><site site="s"/></spatial></tendon>'
CONNECT = '<equality><connect body1="a" anchor="0 0 0.5"/></equality>'


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("target", ["urdf", "sdf"])
@pytest.mark.parametrize(("relation", "num_elements"), [(SPRING, 2), (CONNECT, 1)])
def test_pydrake_reads_springs_and_constraints_on_the_world(tmp_path, target, relation, num_elements):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    path = tmp_path / "pulled.xml"
    path.write_text(f'<mujoco><worldbody><site name="w" pos="0 0 1"/>{PULLED}</worldbody>{relation}</mujoco>')
    written = tmp_path / f"pulled.{target}"
    assert cli("convert", path, "-o", written).code == 0
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModels(str(written))
    plant.Finalize()
    assert (plant.num_velocities(), plant.num_force_elements()) == (1, num_elements)


@pytest.mark.parametrize("target", ["urdf", "sdf"])
def test_the_link_of_the_world_is_told(tmp_path, target):
    path = tmp_path / "pulled.xml"
    path.write_text(f'<mujoco><worldbody><site name="w" pos="0 0 1"/>{PULLED}</worldbody>{SPRING}</mujoco>')
    result = cli("-v", "convert", path, "--to", target)
    assert result.code == 0 and "a spring on the world is on link 'world_geometry'" in result.err
    assert "linear_spring_damper_body_A>world<" not in result.out and 'body_A name="world"' not in result.out
