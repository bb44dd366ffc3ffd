"""How large a robot is: extent, the height at which it stands, reach; and where `inspect` says it."""

import numpy as np
import pytest
from command_line import succeed
from repository import SAMPLES

from mbcli.models import describe, load_model
from mbcli.models.loading import ModelText
from mbcli.models.measures import measures, reach

MASS = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'


def joint(name, parent, child, kind="revolute", axis="0 1 0", xyz="0 0 0", limits=(-9, 9), more=""):
    limit = f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="9" velocity="9"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        f'<axis xyz="{axis}"/>{limit}{more}</joint>'
    )


def robot(links, *joints):
    links = "".join(f'<link name="{name}">{MASS}</link>' for name in links.split())
    return load_model(ModelText(f'<robot name="r">{links}{"".join(joints)}</robot>'.encode(), "r.urdf")).plant


def two_links(elbow=(-9, 9), start=0.0):
    """0.6 m and 0.4 m, the second at `start` to the first."""
    turned = f'<origin xyz="0.6 0 0" rpy="0 {start} 0"/>'
    second = joint("elbow", "upper", "lower", limits=elbow).replace('<origin xyz="0 0 0"/>', turned)
    tip = joint("tip", "lower", "hand", "fixed", xyz="0.4 0 0")
    return robot("base upper lower hand", joint("shoulder", "base", "upper", xyz="0 0 2"), second, tip)


def test_an_arm_reaches_as_far_as_its_links_and_limits_let_it():
    assert reach(two_links()) == {"distance": pytest.approx(1.0, abs=1e-12), "joint": "shoulder", "body": "hand"}
    assert reach(two_links(start=np.pi))["distance"] == pytest.approx(1.0, abs=1e-9)  # drawn folded
    for low, high in ((0.5, 2.0), (-2.0, -0.7)):
        least = min(abs(low), abs(high))
        expected = np.sqrt(0.6**2 + 0.4**2 + 2 * 0.6 * 0.4 * np.cos(least))
        assert reach(two_links((low, high)))["distance"] == pytest.approx(expected, abs=1e-12)


def test_slides_reach_to_their_ends():
    slide = ("prismatic", "1 0 0")
    plant = robot("base a", joint("s", "base", "a", *slide, "0 0 1", (-0.3, 0.2)))
    assert reach(plant)["distance"] == pytest.approx(0.3)
    plant = robot("base a b", joint("t", "base", "a"), joint("s", "a", "b", *slide, "0.5 0 0", (-0.7, 0.1)))
    assert reach(plant)["distance"] == pytest.approx(0.6)
    endless = joint("s", "base", "a", *slide).replace('lower="-9" upper="9" ', "")
    assert reach(robot("base a", endless))["distance"] is None
    assert reach(robot("base")) is None


def test_reach_is_no_less_than_that_of_random_poses():
    for path in (SAMPLES / "arm7.urdf", SAMPLES / "quadruped.urdf"):
        plant = load_model(path).plant
        found = reach(plant)
        joint, body = plant.GetJointByName(found["joint"]), plant.GetBodyByName(found["body"])
        plant.prefers_interpreted = True
        context, rng, furthest = plant.CreateDefaultContext(), np.random.default_rng(5), 0.0
        lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
        low, high = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
        for _ in range(300):
            q = rng.uniform(low, high)
            if path.stem == "quadruped":
                q[:4] = [1.0, 0.0, 0.0, 0.0]
            plant.SetPositions(context, q)
            ends = body.EvalPoseInWorld(context), joint.frame_on_parent().CalcPoseInWorld(context)
            furthest = max(furthest, float(np.linalg.norm(ends[0].translation() - ends[1].translation())))
        assert 0.9 * found["distance"] < furthest <= found["distance"] + 1e-9


def test_extent_and_standing_height():
    plant = load_model(SAMPLES / "quadruped.urdf", contact=True).plant
    found = measures(plant)
    # feet of 22 mm 0.44 m below the hips, which are beside the trunk
    assert found["standing_height"] == {"quadruped::trunk": pytest.approx(0.462, abs=1e-12)}
    low, high = found["extent"]["lower"], found["extent"]["upper"]
    assert low[2] == pytest.approx(-0.462) and high == pytest.approx([0.222, 0.162, 0.06])
    assert low[:2] == pytest.approx(-high[:2])
    without = measures(load_model(SAMPLES / "quadruped.urdf").plant)
    assert without["extent"] is None and without["standing_height"] is None and without["reach"] is not None


def test_inspect_says_it(tmp_path):
    text = succeed("inspect", SAMPLES / "quadruped.urdf").out
    assert "extent 0.444 x 0.324 x 0.522 m; reach" in text and "stands with quadruped::trunk at z = 0.462 m" in text
    document = succeed("inspect", SAMPLES / "quadruped.urdf", "--json").json()
    assert document["standing_height"] == {"quadruped::trunk": pytest.approx(0.462)}
    assert document["reach"]["distance"] > 0.22 and len(document["extent"]["upper"]) == 3
    assert document["total_mass"] == pytest.approx(17.0) and document["postures"] == []
    semantics = tmp_path / "q.srdf"
    semantics.write_text(
        '<robot name="quadruped"><group_state name="sit"><joint name="front_left_knee" value="-1"/></group_state>'
        '<group_state name="lie"/></robot>'
    )
    assert "\npostures: sit, lie\n" in succeed("inspect", SAMPLES / "quadruped.urdf", "--srdf", semantics).out
    document = succeed("inspect", SAMPLES / "quadruped.urdf", "--srdf", semantics, "--json").json()
    assert document["postures"][0] == {
        "name": "sit",
        "model_instance": "quadruped",
        "positions": {"front_left_knee": [-1.0]},
        "place": f"{semantics}:1:25",
    }


def test_a_mesh_that_cannot_be_read_takes_only_the_extent(tmp_path):
    mesh, model = tmp_path / "broken.obj", tmp_path / "r.urdf"
    mesh.write_text("not a mesh")
    shape = f'<collision><geometry><mesh filename="{mesh}"/></geometry></collision>'
    model.write_text(f'<robot name="r"><link name="base">{MASS}{shape}</link></robot>')
    document = succeed("inspect", model, "--json").json()
    assert document["extent"] is None and document["total_mass"] == 1.0
    assert describe(load_model(model))["extent"] is None


def test_of_many_that_stand_a_few_are_named(tmp_path):
    balls = "".join(
        f'<body name="b{k}" pos="{k} 0 1"><freejoint/><geom type="sphere" size="0.1"/></body>' for k in range(5)
    )
    model = tmp_path / "balls.xml"
    model.write_text(f"<mujoco><worldbody>{balls}</worldbody></mujoco>")
    text = succeed("inspect", model).out
    assert text.count("stands with") == 3 and "; 2 others stand too" in text
