"""`mbcli ik --targets`: a table of places to one of positions, checked by where the frames are then."""

import csv
import io
import json
import re

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.errors import ArgumentError, NumericalError
from mbcli.models import inverse_kinematics, load_model

ARM = SAMPLES / "arm7.urdf"
MASS = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
REACHED = [[0.4, 0.1, 0.5], [0.4, 0.12, 0.5], [0.42, 0.12, 0.52]]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def table(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def results(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def places(model, q, name):
    plant = load_model(model).plant
    context = plant.CreateDefaultContext()
    found = []
    for row in q:
        plant.SetPositions(context, row)
        found.append(plant.GetFrameByName(name).CalcPoseInWorld(context))
    return found


def positions_of(found):
    return np.array([values for name, values in found.items() if name.endswith("_q")]).T


def two_links(path, *posts):
    """Two links of 0.5 m that turn about y in the plane x, z, with balls in their middle, and balls of the world."""
    ball = '<collision><origin xyz="{}"/><geometry><sphere radius="0.05"/></geometry></collision>'

    def joint(name, parent, child, x, kind="revolute"):
        limit = '<limit lower="-3" upper="3" effort="9" velocity="9"/>'
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>'
            f'<origin xyz="{x} 0 0"/>{limit}</joint>'
        )

    links = "".join(f'<link name="{name}">{MASS}{ball.format("0.25 0 0")}</link>' for name in ("upper", "lower"))
    world = "".join(ball.format(post) for post in posts)
    joints = (
        joint("a", "world", "upper", 0) + joint("b", "upper", "lower", 0.5) + joint("c", "lower", "tip", 0.5, "fixed")
    )
    path.write_text(f'<robot name="r"><link name="world">{world}</link>{links}<link name="tip"/>{joints}</robot>')
    return path


def test_every_row_is_where_it_is_wanted(tmp_path):
    rows = [[*place, 0.0, 1.0, 0.0, 0.0] for place in REACHED]
    poses = table(tmp_path / "p.csv", ",".join(f"flange_{c}" for c in ("x", "y", "z", "qw", "qx", "qy", "qz")), rows)
    found = results(succeed("ik", ARM, "--targets", poses, "--frame", "flange", "--format", "csv").out)
    assert (found["status"] == 0).all() and found["position_error"].max() < 1e-9 and found["angle_error"].max() < 1e-9
    plant = load_model(ARM).plant
    q = positions_of(found)
    assert (q >= plant.GetPositionLowerLimits()).all() and (q <= plant.GetPositionUpperLimits()).all()
    for X, row in zip(places(ARM, q, "flange"), rows, strict=True):
        np.testing.assert_allclose(X.translation(), row[:3], atol=1e-9)
        assert abs(X.rotation().ToQuaternion().wxyz() @ row[3:]) == pytest.approx(1.0, abs=1e-12)


def test_positions_are_states_of_other_commands(tmp_path):
    poses = table(tmp_path / "p.csv", "x,y [mm],z", [[x, 1e3 * y, z] for x, y, z in REACHED])
    succeed("ik", ARM, "--targets", poses, "--frame", "flange", "-o", tmp_path / "q.csv")
    lines = succeed(
        "fk", ARM, "--states", tmp_path / "q.csv", "--frame", "flange", "--fill", "default"
    ).out.splitlines()
    np.testing.assert_allclose([json.loads(line)["flange.p_WF"] for line in lines], REACHED, atol=1e-9)


def test_a_row_is_searched_for_from_the_one_before(tmp_path):
    poses = table(tmp_path / "p.csv", "x,y,z", REACHED)
    found = positions_of(results(succeed("ik", ARM, "--targets", poses, "--frame", "flange", "--format", "csv").out))
    q = None
    for row, place in zip(found, REACHED, strict=True):
        q = inverse_kinematics(ARM, {"flange": place}, q).q
        np.testing.assert_allclose(row, q, atol=1e-12)


def test_a_row_out_of_reach_is_said_and_the_others_are_solved(tmp_path):
    poses = table(tmp_path / "p.csv", "x,y,z", [REACHED[0], [9, 0, 0], REACHED[1]])
    result = cli("ik", ARM, "--targets", poses, "--frame", "flange", "--format", "csv", "--starts", 2)
    assert result.code == 5 and "1 of 3 rows were not reached, as their status says: 2" in result.err
    found = results(result.out)
    assert found["status"].tolist() == [0, 1, 0] and found["attempts"][1] == 2
    q = positions_of(found)
    assert np.isnan(q[1]).all() and np.isnan(found["position_error"][1])
    for X, place in zip(places(ARM, q[[0, 2]], "flange"), (REACHED[0], REACHED[1]), strict=True):
        np.testing.assert_allclose(X.translation(), place, atol=1e-9)


def test_several_frames_with_and_without_orientations(tmp_path):
    """Positions that are known give the places of two frames, one with its orientation."""
    rng = np.random.default_rng(5)
    plant = load_model(ARM).plant
    low, high = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    known = 0.4 * rng.uniform(low, high, (3, plant.num_positions()))
    rows = []
    for hand, elbow in zip(places(ARM, known, "hand"), places(ARM, known, "elbow"), strict=True):
        rows.append([*hand.translation(), *hand.rotation().ToQuaternion().wxyz(), *elbow.translation()])
    names = [f"hand_{c}" for c in ("x", "y", "z", "qw", "qx", "qy", "qz")] + [f"elbow_{c}" for c in "xyz"]
    poses = table(tmp_path / "p.csv", ",".join(names), rows)
    words = ("--targets", poses, "--frame", "hand", "--frame", "elbow", "--format", "csv", "--seed", 2)
    found = results(succeed("ik", ARM, *words).out)
    q = positions_of(found)
    for hand, elbow, row in zip(places(ARM, q, "hand"), places(ARM, q, "elbow"), rows, strict=True):
        np.testing.assert_allclose([*hand.translation(), *elbow.translation()], [*row[:3], *row[7:]], atol=1e-9)
        assert abs(hand.rotation().ToQuaternion().wxyz() @ row[3:7]) == pytest.approx(1.0, abs=1e-12)


def test_parquet_gives_the_same_positions(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    poses = table(tmp_path / "p.csv", "x,y,z", REACHED)
    columns = dict(zip("xyz", np.array(REACHED).T, strict=True))
    parquet.write_table(pyarrow.table(columns), tmp_path / "p.parquet")
    of = [
        succeed("ik", ARM, "--targets", path, "--frame", "flange", "--format", "csv").out
        for path in (poses, tmp_path / "p.parquet")
    ]
    assert of[0] == of[1]


def test_positions_at_which_geometries_overlap_are_refused(tmp_path):
    """The tip of two links has two elbows; a ball of the world is where the middle of one upper link would be."""
    free = two_links(tmp_path / "free.urdf")
    start = {"r_a_q": 0.3, "r_b_q": 0.4}
    first = inverse_kinematics(load_model(free), {"tip": [0.7, 0.0, 0.2]}, list(start.values())).q
    middle = places(free, [first], "upper")[0] @ np.array([0.25, 0.0, 0.0])
    other = inverse_kinematics(load_model(free), {"tip": [0.7, 0.0, 0.2]}, [-first[0], -first[1]]).q
    assert np.sign(other[1]) == -np.sign(first[1])
    post, posts = (" ".join(map(str, middle)), places(free, [other], "upper")[0] @ np.array([0.25, 0.0, 0.0]))
    poses = table(tmp_path / "p.csv", "x,y,z", [[0.7, 0.0, 0.2]])
    at = [word for name, value in start.items() for word in ("--at", f"{name}={value}")]
    words = ("--targets", poses, "--frame", "tip", "--format", "csv", *at)
    one = two_links(tmp_path / "one.urdf", post)
    np.testing.assert_allclose(positions_of(results(succeed("ik", one, *words).out))[0], first, atol=1e-9)
    away = results(succeed("ik", one, *words, "--collisions").out)
    np.testing.assert_allclose(positions_of(away)[0], other, atol=1e-9)
    assert away["attempts"][0] > 1
    both = two_links(tmp_path / "both.urdf", post, " ".join(map(str, posts)))
    blocked = cli("ik", both, *words, "--collisions")
    assert blocked.code == 5 and results(blocked.out)["status"].tolist() == [2]
    single = cli("ik", both, "--to", "tip=0.7,0,0.2", *at, "--collisions", "--starts", 4)
    assert single.code == 5 and re.search("only where geometries overlap, in [1-4] of 4 starts", single.err)
    with pytest.raises(NumericalError, match="geometries overlap"):
        inverse_kinematics(load_model(both, contact=True), {"tip": [0.7, 0.0, 0.2]}, collisions=True)
    with pytest.raises(ArgumentError, match="loaded without contact"):
        inverse_kinematics(load_model(both, contact=False), {"tip": [0.7, 0.0, 0.2]}, collisions=True)


def test_seeds_draw_other_positions():
    """The default start is far from a place near the limits, and the drawn starts end elsewhere."""
    found = [inverse_kinematics(ARM, {"flange": [0.4, 0.1, 0.5]}, seed=seed) for seed in (0, 0, 1)]
    assert found[0].q.tolist() == found[1].q.tolist()
    assert found[0].attempts == 1 or found[0].q.tolist() != found[2].q.tolist()


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("x,y", [0.4, 0.1], "row 1 gives no flange_z"),
        ("x,y,z,qw", [0.4, 0.1, 0.5, 1.0], "row 1 gives no flange_qx, flange_qy, flange_qz"),
        ("x,y,z,qw,qx,qy,qz", [0.4, 0.1, 0.5, 0, 0, 0, 0], "row 1: --ik: the quaternion of 'flange' is zero"),
        ("x,y,z [deg]", [0.4, 0.1, 0.5], "expected m"),
    ],
)
def test_rows_that_give_no_place(tmp_path, header, row, message):
    poses = table(tmp_path / "p.csv", header, [row])
    refused = cli("ik", ARM, "--targets", poses, "--frame", "flange", "--format", "csv")
    assert refused.code == 3 and message in refused.err, refused.err
