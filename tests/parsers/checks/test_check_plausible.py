"""Checks by what is plausible: what they leave alone. What they find is in tests/project/test_damage_benchmark.py."""

import re

import numpy as np
import pytest
from mbcli.parsers.checks.twin_names import twins

from benchmarks.damages.__main__ import faults
from benchmarks.damages.robot import damaged, robot, write


def codes(change, folder, **options):
    return [finding.code for finding in faults(write(damaged(change), "urdf", folder), **options)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("left_hand", "right_hand"),
        ("hand_l", "hand_r"),
        ("LHipYaw", "RHipYaw"),
        ("FL_hip", "FR_hip"),
        ("RL_hip", "RR_hip"),
        ("lf_foot", "rf_foot"),
        ("LeftWristLink", "RightWristLink"),
        ("r2/left_palm", "r2/right_palm"),
    ],
)
def test_names_of_twins(left, right):
    assert twins([right, "base", left]) == [(left, right)]


@pytest.mark.parametrize("names", [("lid", "rid"), ("leftover", "rightover"), ("ball", "barr"), ("left", "wright")])
def test_words_that_only_begin_with_a_side_are_no_twins(names):
    assert twins(names) == []


def test_a_robot_whose_sides_are_copies_by_intent_is_left_alone(tmp_path):
    def copied(links, joints):
        for part in ("shoulder", "upper", "hand"):
            links[f"right_{part}"] = links[f"left_{part}"]
        for part in ("roll", "wrist", "elbow"):
            joints[f"right_{part}"].update({k: joints[f"left_{part}"][k] for k in ("at", "lower", "upper")})

    assert codes(copied, tmp_path) == []


def test_a_gripper_that_is_turned_is_no_damage(tmp_path):
    """The same hand, half a turn about z: its fingers and their numbers are copies."""

    def turned(links, joints):
        joints["right_wrist"]["turn"] = [0, 0, 3.141592653589793]
        for side in ("left", "right"):
            links[f"{side}_hand"]["com"] = [0.01, 0.012, -0.025]

    assert codes(turned, tmp_path) == []


def test_sides_differ_by_a_cable(tmp_path):
    def changed(links, joints):
        links["right_forearm"]["com"] = [0.002, 0.003, -0.12]
        links["right_forearm"]["mass"] = 1.3
        joints["right_elbow"]["lower"] = -2.1

    assert codes(changed, tmp_path) == []


def test_markers_and_placeholders_have_any_density(tmp_path):
    def changed(links, joints):
        links["left_hand"].update(size=[1e-3] * 3, mass=0.4, inertia=[1e-7] * 3 + [0, 0, 0])

    assert "DENSITY_IMPLAUSIBLE" not in codes(changed, tmp_path)


@pytest.mark.parametrize("side", [5e-4, 0.01, 0.2])
def test_a_marker_in_place_of_a_visual_is_not_where_collisions_should_be(tmp_path, side):
    """As the head of a robot whose mesh is a cube of half a millimetre at the origin of the link."""
    path = write(robot(), "urdf", tmp_path)
    before, start, link = path.read_text().partition('<link name="left_hand">')
    box = re.escape('<box size="0.08 0.1 0.05"/>')
    link = re.sub(box, f'<box size="{side} {side} {side}"/>', link, count=1)
    link = link.replace('<collision><origin xyz="0 0 -0.025"/>', '<collision><origin xyz="0.6 0 0"/>', 1)
    path.write_text(before + start + link)
    assert ("COLLISION_APART" in [f.code for f in faults(path)]) == (side > 0.1)


@pytest.mark.parametrize("share", [1.0, 0.1, 0.01])
def test_density_is_that_of_what_a_closed_mesh_encloses(tmp_path, share):
    """Two slabs in a box, which would hold their mass where they do not."""

    def heavy(links, joints):
        links["left_forearm"].update(mass=3.0)

    path = write(damaged(heavy), "urdf", tmp_path)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float) - 0.5
    faces = [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (0, 5, 1),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
    ]
    faces += [(1, 5, 7), (1, 7, 3)]
    size = np.array([0.06, 0.05, 0.25])
    slab = size * [share / 2, 1, 1]  # two slabs at the ends of the box
    lines = []
    for k, end in enumerate((-1, 1)):
        middle = np.array([end * (size[0] - slab[0]) / 2, 0, 0])
        lines += ["v {:.9g} {:.9g} {:.9g}".format(*(middle + corner * slab)) for corner in corners]
        lines += ["f {} {} {}".format(*(1 + 8 * k + i for i in face)) for face in faces]
    (tmp_path / "meshes/frame.obj").write_text("\n".join(lines))
    path.write_text(path.read_text().replace("meshes/forearm.stl", "meshes/frame.obj", 2))
    found = [f for f in faults(path) if f.code == "DENSITY_IMPLAUSIBLE"]
    assert bool(found) == (3.0 / (size.prod() * share) > 1e5), found


def test_a_base_slides_as_far_as_it_likes(tmp_path):
    def on_rails(links, joints):
        links["rail"] = links["torso"] | {"inertial": False}
        joints["drive"] = joints["left_grip_a"] | {"parent": "rail", "child": "torso", "upper": 40.0, "mimic": None}

    path = write(damaged(on_rails), "urdf", tmp_path)
    text = path.read_text()
    start = text.index('<link name="rail">')
    shapes = text[start : text.index("</link>", start)]
    path.write_text(text.replace(shapes, '<link name="rail">'))
    assert "JOINT_LIMIT_TRAVEL" not in [finding.code for finding in faults(path)]
    path.write_text(text)
    assert "JOINT_LIMIT_TRAVEL" in [finding.code for finding in faults(path)]


@pytest.mark.parametrize(
    ("angle", "is_told"), [(6.2832, False), (-6.2832, False), (7.0, True), (90, True), (-45, True)]
)
def test_an_angle_of_more_than_a_turn_is_told(angle, is_told, tmp_path):
    def turned(links, joints):
        joints["left_wrist"]["turn"] = joints["right_wrist"]["turn"] = [0, angle, 0]

    assert ("ANGLE_UNIT" in codes(turned, tmp_path)) == is_told


def test_degrees_that_a_format_reads_as_such_are_left_alone(tmp_path):
    def turned(links, joints):
        joints["left_wrist"]["turn"] = joints["right_wrist"]["turn"] = [0, 90, 0]

    path = write(damaged(turned), "mjcf", tmp_path)
    assert {finding.code for finding in faults(path)} == {"ANGLE_UNIT"}
    path.write_text(path.read_text().replace('angle="radian"', 'angle="degree"'))
    assert "ANGLE_UNIT" not in {finding.code for finding in faults(path)}


def test_without_meshes_primitives_tell(tmp_path):
    def heavy(links, joints):
        links["left_upper"]["mass"] = links["left_forearm"]["mass"] = 2000
        links["left_upper"]["inertia"] = [1000 * value for value in links["left_upper"]["inertia"]]

    found = faults(write(damaged(heavy), "urdf", tmp_path), mesh_files=False)
    assert [f.xpath for f in found if f.code == "DENSITY_IMPLAUSIBLE"] == [
        "/robot[@name='arms']/link[@name='left_upper']/inertial/mass"
    ]
