"""Files that `mbcli convert` writes, as pydrake and Pinocchio read them: masses and mass matrices as in mbcli."""

import sys
from xml.etree import ElementTree

import pytest
from command_line import succeed
from repository import ROOT, SAMPLES

from mbcli.models import load_model
from mbcli.sensors import SENSORS
from mbcli.sensors.settings import Noise

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.robots import by_engines


@pytest.mark.peers("pydrake", "pinocchio")
@pytest.mark.parametrize("target", ["urdf", "sdf"])
@pytest.mark.parametrize("name", ["arm7.urdf", "quadruped.urdf", "double_pendulum.xml", "cart_pole.sdf"])
def test_other_programs_read_what_mbcli_reads(tmp_path, name, target):
    out = tmp_path / f"r.{target}"
    succeed("convert", SAMPLES / name, "-o", out, "--lossy")
    wanted = by_engines.ENGINES[target]
    found = by_engines.read_by_engines(str(out), target, [SAMPLES])
    assert {engine: word for engine, (word, _) in found.items()} == dict.fromkeys(wanted, by_engines.EQUAL), found


@pytest.mark.peers("pydrake", "pinocchio")
def test_a_mass_that_differs_is_found(tmp_path, monkeypatch):
    text = (SAMPLES / "arm7.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(text)
    (tmp_path / "heavy.urdf").write_text(text.replace('<mass value="', '<mass value="1', 1))
    own = by_engines.own_plant
    monkeypatch.setattr(by_engines, "own_plant", lambda path, *more: own(str(tmp_path / "heavy.urdf"), *more))
    found = by_engines.read_by_engines(str(tmp_path / "arm.urdf"), "urdf", [tmp_path])
    assert {engine: word for engine, (word, _) in found.items()} == dict.fromkeys(
        ("pydrake", "pinocchio"), by_engines.DIFFERS
    )


@pytest.mark.peers("pinocchio")
def test_a_file_that_is_refused_is_told(tmp_path):
    """urdfdom wants effort and velocity of a limit; mbcli does not."""
    text = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/></inertial></link>'
    text += '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1"/></joint>'
    (tmp_path / "r.urdf").write_text(f"{text}</robot>")
    found = by_engines.read_by_engines(str(tmp_path / "r.urdf"), "urdf", [tmp_path])
    assert found["pinocchio"][0] == by_engines.REFUSES


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("mass, moments", [(2.0, (0.3, 0.01, 0.01)), (0.0, (0.1, 0.1, 0.1))])
def test_an_inertia_that_no_body_has_is_named_and_the_rest_is_equal(tmp_path, mass, moments):
    """pydrake reads another inertia of that link, whoever wrote the file."""
    ixx, iyy, izz = moments
    link = """<link name="{}"><inertial><mass value="{}"/>
        <inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    joint = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{0}"/><axis xyz="1 0 0"/></joint>'
    parts = link.format("base", 1, 1, 1, 1), link.format("odd", mass, ixx, iyy, izz), link.format("end", 1, 1, 1, 1)
    text = f'<robot name="r">{"".join(parts)}{joint.format("odd", "base")}{joint.format("end", "odd")}</robot>'
    (tmp_path / "r.urdf").write_text(text)
    word, said = by_engines.read_by_engines(str(tmp_path / "r.urdf"), "urdf", [tmp_path])["pydrake"]
    assert (word, said.partition(";")[0]) == (by_engines.REPLACES, "odd")


TREES = """<mujoco><worldbody><geom name="floor" type="box" size="1 1 .1"/><site name="goal" pos="1 2 3"/>
<body name="cart"><joint name="slide" type="slide" axis="1 0 0" armature="0.2" ref="0"/><geom name="a::b" size=".1"/>
<body name="pole"><joint name="swing"/><geom size=".1" pos="0 0 .5"/></body></body>
<body name="ball" pos="0 0 2"><freejoint name="free"/><geom name="skin" size=".1"/></body>
<body name="puck" pos="3 0 1"><joint name="px" type="slide" axis="1 0 0"/><joint name="py" type="slide" axis="0 1 0"/>
<joint name="pz" axis="0 0 1"/><geom size=".1"/></body></worldbody>
<tendon><fixed name="t" range="-1 1" limited="true">
<joint joint="slide" coef="1"/><joint joint="swing" coef="2"/></fixed>
</tendon><actuator><motor joint="slide"/></actuator></mujoco>"""


@pytest.mark.peers("pydrake", "pinocchio")
@pytest.mark.parametrize("target", ["urdf", "sdf"])
def test_worlds_with_several_trees_are_files_that_others_read(tmp_path, target):
    """One root for urdfdom, and in SDFormat nothing on the world and no element of Drake that Drake has not."""
    (tmp_path / "m.xml").write_text(TREES)
    succeed("convert", tmp_path / "m.xml", "-o", tmp_path / f"m.{target}", "--lossy")
    wanted = by_engines.ENGINES[target]
    found = by_engines.read_by_engines(str(tmp_path / f"m.{target}"), target, [tmp_path])
    assert {engine: word for engine, (word, _) in found.items()} == dict.fromkeys(wanted, by_engines.EQUAL), found


BETWEEN_FRAMES = """<sdf version="1.9" xmlns:drake="d"><model name="m"><link name="a"/><link name="b"/><link name="c"/>
<drake:joint name="p" type="planar"><drake:parent>world</drake:parent><drake:child>a</drake:child>
<drake:damping>0 0 0</drake:damping></drake:joint>
<drake:joint name="q" type="rpy_floating"><drake:parent>a</drake:parent><drake:child>b</drake:child></drake:joint>
<joint name="s" type="prismatic"><parent>a</parent><child>c</child><axis><xyz>1 0 0</xyz>
<initial_position>0.3</initial_position></axis></joint>
<drake:weld_constraint><parent>b</parent><child>c</child></drake:weld_constraint>
<drake:distance_constraint><drake:distance_constraint_body_A>b</drake:distance_constraint_body_A>
<drake:distance_constraint_p_AP>0 0 0</drake:distance_constraint_p_AP>
<drake:distance_constraint_body_B>c</drake:distance_constraint_body_B>
<drake:distance_constraint_p_BQ>1 0 0</drake:distance_constraint_p_BQ>
<drake:distance_constraint_distance>1</drake:distance_constraint_distance></drake:distance_constraint></model></sdf>"""


@pytest.mark.peers("pydrake")
def test_what_sdformat_has_for_mbcli_alone_does_not_stop_pydrake(tmp_path):
    """It passes over elements of other programs, and refuses those of its own prefix that it does not know."""
    import pydrake.all as pydrake

    (tmp_path / "m.sdf").write_text(BETWEEN_FRAMES.replace("1.9", "1.8"))
    succeed("convert", tmp_path / "m.sdf", "-o", tmp_path / "out.sdf")
    plant = pydrake.MultibodyPlant(0.001)
    pydrake.Parser(plant).AddModels(str(tmp_path / "out.sdf"))
    plant.Finalize()
    types = {plant.get_joint(k).name(): type(plant.get_joint(k)).__name__ for k in plant.GetJointIndices()}
    assert types["p"] == "PlanarJoint" and types["s"] == "PrismaticJoint" and "q" not in types
    back = load_model(str(tmp_path / "out.sdf")).plant
    assert back.GetJointByName("q").type_name() == "rpy_floating" and back.num_constraints() == 2
    assert back.GetJointByName("s").default_positions() == [0.3]


# the others need what a world has
KEPT = "imu", "magnetometer", "lidar", "ray", "gpu_lidar", "gpu_ray"


@pytest.mark.peers("pydrake")
def test_noise_of_each_sensor_of_a_model_stands_where_pydrake_wants_it(tmp_path):
    """A lidar's noise has its type as an element, that of all others as an attribute."""
    import pydrake.all as pydrake

    elements = {word: _noisy_sensor(word, kind) for kind in SENSORS.values() for word in kind.SDF}
    of_joint = elements.pop("force_torque")
    of_link = "".join(elements[word] for word in KEPT)
    joint = '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis>'
    path = tmp_path / "m.sdf"
    path.write_text(f"""<sdf version="1.9"><model name="m"><link name="a">{of_link}</link><link name="b"/>
{joint}{of_joint}</joint></model></sdf>""")
    assert "SENSOR" not in succeed("convert", path, "-o", tmp_path / "out.sdf").err
    out = (tmp_path / "out.sdf").read_text()
    assert out.count("<noise") == path.read_text().count("<noise")
    plant = pydrake.MultibodyPlant(0.001)
    assert len(pydrake.Parser(plant).AddModels(str(tmp_path / "out.sdf"))) == 1


def _noisy_sensor(word, kind):
    sensor = ElementTree.Element("sensor", name=word, type=word)
    container = ElementTree.SubElement(sensor, kind.SDF[word][0])
    for path, rule in kind.SDF_SETTINGS.items():
        if isinstance(rule, Noise):
            node = container
            for tag in filter(None, path.split("/")):
                found = node.find(tag)
                node = ElementTree.SubElement(node, tag) if found is None else found
            noise = ElementTree.SubElement(node, "noise", {} if node.tag == "lidar" else {"type": "gaussian"})
            for tag, text in (("type", "gaussian"), ("mean", "0.5"), ("stddev", "0.1"))[node.tag != "lidar" :]:
                ElementTree.SubElement(noise, tag).text = text
    return ElementTree.tostring(sensor, encoding="unicode")
