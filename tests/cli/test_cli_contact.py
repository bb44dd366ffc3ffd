"""The command contact."""

import math

import pytest
from command_line import cli, succeed

from mbcli.common.json_text import plain
from mbcli.models import contact_points, geometry_distances, load_model

SCENE = """<sdf version="1.7"><world name="w">
<model name="ground"><static>true</static><link name="l"><collision name="c"><geometry><plane/></geometry></collision>
</link></model>
<model name="ball"><pose>0 0 0.0995 0 0 0</pose><link name="b"><inertial><mass>1</mass></inertial>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model>
<model name="box"><pose>1 0 0.0995 0 0 0</pose><link name="b"><inertial><mass>1</mass></inertial>
<collision name="c"><geometry><box><size>0.2 0.2 0.2</size></box></geometry></collision></link></model>
</world></sdf>"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "scene.sdf"
    path.write_text(SCENE)
    return path


def answer(*arguments):
    softness = ("--set", "plant_config.penetration_allowance=1e-3")
    return succeed("contact", *arguments, *softness, "--json").json()


def test_points_with_their_force(scene):
    """Half of the allowance deep: half of the weight, on a ball by one point, on a box by four."""
    found = answer(scene)
    assert found["schema"] == "mbcli/contact" and found["q"][6] == 0.0995
    ball = [p for p in found["point_pairs"] if p["body_b"] == "ball::b"]
    box = [p for p in found["point_pairs"] if p["body_b"] == "box::b"]
    assert len(ball) == 1 and len(box) == 4
    assert set(ball[0]) == {
        *("body_a", "body_b", "geometry_a", "geometry_b", "point_W", "normal_W"),
        *("depth", "force_W", "slip_speed", "separation_speed"),
    }
    assert ball[0]["body_a"] == "ground::l" and ball[0]["geometry_a"] == "ground::c"
    assert ball[0]["depth"] == pytest.approx(0.0005) and ball[0]["normal_W"] == [0.0, 0.0, -1.0]
    assert ball[0]["force_W"] == pytest.approx([0.0, 0.0, 9.81 / 2])
    assert sum(p["force_W"][2] for p in box) == pytest.approx(9.81 / 2)


def test_one_point_for_each_pair(scene):
    assert len(answer(scene, "--single-point")["point_pairs"]) == 2


def test_speeds(scene):
    found = answer(scene, "--v", "0 0 0 0.5 0 -0.1 0 0 0 0 0 0")["point_pairs"][0]
    assert found["slip_speed"] == pytest.approx(0.5) and found["separation_speed"] == pytest.approx(-0.1)
    assert found["force_W"][0] == pytest.approx(-found["force_W"][2])  # friction of 1 where files give none


def test_distances(scene):
    found = answer(scene, "--at", "ball_b_z=0.4", "--distances")
    expected = [-0.0005, 0.3, math.hypot(0.9, 0.4 - 0.1995) - 0.1]  # to the upper edge of the box
    assert [p["distance"] for p in found["distances"]] == pytest.approx(expected, abs=1e-9)
    nearest = found["distances"][1]
    assert nearest["geometry_b"] == "ball::c" and nearest["point_B_W"] == pytest.approx([0, 0, 0.3])
    assert len(answer(scene, "--distances", "--max-distance", "0.1")["distances"]) == 2


def test_text(scene):
    out = succeed("contact", scene).out
    assert out.splitlines()[0].split()[:4] == ["A", "B", "depth", "[m]"] and out.count("box::b") == 4
    assert succeed("contact", scene, "--at", "ball_b_z=2", "--at", "box_b_z=2").out == "nothing touches\n"


def test_usage(scene):
    for words, message in (
        (("--max-distance", "1"), "--max-distance needs --distances"),
        (("--format", "csv"), "text or JSON"),
    ):
        result = cli("contact", scene, *words)
        assert result.code == 2 and message in result.err


def test_the_library_gives_what_the_command_prints(scene, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")  # as commands of one state compute: equal in every bit
    plant = load_model(scene, contact=True, overrides={"plant_config.penetration_allowance": 1e-3}).plant
    context = plant.CreateDefaultContext()
    printed = answer(scene, "--distances", "--max-distance", "0.1")
    assert plain(contact_points(context)) == printed["point_pairs"]
    assert plain(geometry_distances(context, 0.1)) == printed["distances"]
    assert len(contact_points(context, single_points=True)) == 2 and len(geometry_distances(context)) == 3
    with pytest.raises(RuntimeError, match="no scene graph"):
        contact_points(load_model(scene, contact=False).plant.CreateDefaultContext())


def test_geometries_of_one_name_are_told_by_their_bodies(tmp_path):
    ball = """<link name="{0}"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision name="shell"><geometry><sphere radius="0.1"/></geometry></collision></link>"""
    joint = """<joint name="j{1}" type="revolute"><parent link="{0}"/><child link="{1}"/><origin xyz="1 0 0"/>
      <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""
    parts = [ball.format(name) for name in "abc"] + [joint.format(*pair) for pair in ("ab", "bc")]
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{"".join(parts)}</robot>')
    line = succeed("contact", tmp_path / "r.urdf", "--weld-base", "--distances").out.splitlines()[-1]
    assert line.startswith("r::a, shell  r::c, shell") and " 1.8 " in line
