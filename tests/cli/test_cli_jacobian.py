"""`mbcli jacobian`, `com` and `momentum`: what they print is what the library computes, and what they refuse."""

import json

import numpy as np
import pytest
from command_line import cli, one_robot, succeed
from repository import SAMPLES

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import JacobianWrtVariable

kQDot, kV = JacobianWrtVariable.kQDot, JacobianWrtVariable.kV
ROBOT = SAMPLES / "quadruped.urdf"
COMMON = {"schema", "schema_version", "model", "position_names", "velocity_names", "q", "v"}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def at_state_of(document):
    """Plant and context in the state that a document was computed at."""
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModels(str(ROBOT))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, document["q"])
    plant.SetVelocities(context, document["v"])
    return plant, context


def names_of_frames(plant):
    """The base, a leg's end and another body."""
    bodies = [plant.get_body(k).name() for k in range(1, plant.num_bodies())]
    return bodies[-1], bodies[0], bodies[3]


@pytest.fixture(scope="module")
def names():
    return names_of_frames(at_state_of(json.loads(succeed("com", ROBOT, "--json").out))[0])


def frames(plant, names):
    return [plant.GetFrameByName(name) for name in names]


@pytest.mark.parametrize("wrt, s", [("v", kV), ("qdot", kQDot)])
def test_a_spatial_jacobian_is_that_of_the_library(names, wrt, s):
    B, A, E = names
    options = ("--frame", B, "--measured-in", A, "--expressed-in", E, "--point", "0.1,-0.2,0.3", "--wrt", wrt)
    document = succeed("jacobian", ROBOT, "--random", 3, *options, "--json").json()
    assert set(document) == COMMON | {"J", "bias"}
    assert (document["schema"], document["schema_version"]) == ("mbcli/jacobian", 1)
    plant, context = at_state_of(document)
    B, A, E = frames(plant, names)
    point = [0.1, -0.2, 0.3]
    assert document["J"] == plant.CalcJacobianSpatialVelocity(context, s, B, point, A, E).tolist()
    bias = plant.CalcBiasSpatialAcceleration(context, kV, B, point, A, E).get_coeffs().tolist()
    assert document["bias"] == (bias if s is kV else None)


def test_jacobians_of_points_of_rotation_and_of_the_center_of_mass(names):
    points = ("--point", "1,2,3", "--point", "0 0.5 0")
    document = succeed(
        "jacobian", ROBOT, "--random", 3, "--frame", names[0], "--kind", "translational", *points, "--json"
    ).json()
    plant, context = at_state_of(document)
    B, W = plant.GetFrameByName(names[0]), plant.world_frame()
    given = np.array([[1.0, 2.0, 3.0], [0.0, 0.5, 0.0]]).T
    assert document["J"] == plant.CalcJacobianTranslationalVelocity(context, kV, B, given, W, W).tolist()
    biases = plant.CalcBiasTranslationalAcceleration(context, kV, B, given, W, W)
    assert document["bias"] == [*biases[:, 0], *biases[:, 1]]
    angular = succeed("jacobian", ROBOT, "--random", 3, "--frame", names[0], "--kind", "angular", "--json").json()
    assert angular["J"] == plant.CalcJacobianAngularVelocity(context, kV, B, W, W).tolist()
    assert len(angular["bias"]) == 3
    com = succeed("jacobian", ROBOT, "--random", 3, "--kind", "com", "--json").json()
    assert com["J"] == plant.CalcJacobianCenterOfMassTranslationalVelocity(context, kV, W, W).tolist()
    assert com["bias"] == plant.CalcBiasCenterOfMassTranslationalAcceleration(context, kV, W, W).tolist()


def test_the_text_of_a_jacobian_has_a_line_for_each_velocity_and_the_bias(names):
    lines = succeed("-q", "jacobian", ROBOT, "--random", 3, "--frame", names[0]).out.splitlines()
    assert lines[0].split() == ["J", "transposed", "wx", "wy", "wz", "vx", "vy", "vz"]
    document = succeed("jacobian", ROBOT, "--random", 3, "--frame", names[0], "--json").json()
    words = [line.split() for line in lines[1:]]
    assert [row[0] for row in words] == [*document["velocity_names"], "bias"]
    np.testing.assert_allclose(
        [[float(x) for x in row[1:]] for row in words[:-1]], np.transpose(document["J"]), atol=1e-5
    )
    two = succeed(
        "-q",
        "jacobian",
        ROBOT,
        "--frame",
        names[0],
        "--kind",
        "translational",
        *2 * ("--point", "0,0,0"),
        "--wrt",
        "qdot",
    ).out.splitlines()
    assert two[0].split()[2:] == ["vx[0]", "vy[0]", "vz[0]", "vx[1]", "vy[1]", "vz[1]"]
    assert len(two) == 1 + len(document["position_names"])


def test_center_of_mass_and_momentum_are_those_of_the_library():
    document = succeed("com", ROBOT, "--random", 5, "--bodies", "--json").json()
    assert set(document) == COMMON | {"p_WCom", "v_WCom", "total_mass", "left_out", "bodies"}
    plant, context = at_state_of(document)
    assert document["p_WCom"] == plant.CalcCenterOfMassPositionInWorld(context).tolist()
    assert document["v_WCom"] == plant.CalcCenterOfMassTranslationalVelocityInWorld(context).tolist()
    assert document["total_mass"] == plant.CalcTotalMass(context)
    bodies = document["bodies"].values()
    assert len(bodies) == plant.num_bodies() - 1
    for key, total in (("p_WCom", document["p_WCom"]), ("v_WCom", document["v_WCom"])):
        mean = np.average([body[key] for body in bodies], axis=0, weights=[body["mass"] for body in bodies])
        np.testing.assert_allclose(mean, total, atol=1e-13)

    document = succeed("momentum", ROBOT, "--random", 5, "--point", "1,2,3", "--bodies", "--json").json()
    assert set(document) == COMMON | {"L_WS_W", "bodies"}
    assert document["L_WS_W"] == plant.CalcSpatialMomentumInWorldAboutPoint(context, [1, 2, 3]).get_coeffs().tolist()
    np.testing.assert_allclose(np.sum(list(document["bodies"].values()), axis=0), document["L_WS_W"], atol=1e-12)
    about_com = succeed("momentum", ROBOT, "--random", 5, "--point", "com", "--json").json()
    p = plant.CalcCenterOfMassPositionInWorld(context)
    assert about_com["L_WS_W"] == plant.CalcSpatialMomentumInWorldAboutPoint(context, p).get_coeffs().tolist()


def test_one_of_several_models(tmp_path):
    light, heavy = tmp_path / "light.urdf", tmp_path / "heavy.urdf"
    light.write_text(one_robot(["a"]).replace('name="r"', 'name="light"'))
    heavy.write_text(
        one_robot(["a", "b"], '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>').replace(
            'name="r"', 'name="heavy"'
        )
    )
    models = (light, heavy)
    assert succeed("com", *models, "--json").json()["total_mass"] == 3.0
    assert succeed("com", *models, "--instance", "heavy", "--json").json()["total_mass"] == 2.0
    J = [
        np.array(succeed("jacobian", *models, "--kind", "com", "--instance", name, "--json").json()["J"])
        for name in ("light", "heavy")
    ]
    assert (J[0].any(axis=0) & J[1].any(axis=0)).sum() == 0  # other columns
    bodies = succeed("com", *models, "--instance", "heavy", "--bodies", "--json").json()["bodies"]
    assert set(bodies) == {"heavy::a", "heavy::b"}


def test_rows_of_states(tmp_path, names):
    states = tmp_path / "states.jsonl"
    document = succeed("com", ROBOT, "--random", 1, "--json").json()
    q = [document["q"], np.multiply(document["q"], 1.0).tolist()]
    q[1][-1] += 0.5
    states.write_text("\n".join(json.dumps({"q": row, "v": document["v"]}) for row in q))
    for command, keys in (
        (("com",), {"p_WCom", "v_WCom", "total_mass"}),
        (("momentum",), {"L_WS_W"}),
        (("jacobian", "--frame", names[0]), {"J", "bias"}),
        (("jacobian", "--frame", names[0], "--wrt", "qdot"), {"J"}),
    ):
        rows = [
            json.loads(line)
            for line in succeed(*command, ROBOT, "--states", states, "--format", "jsonl").out.splitlines()
        ]
        rows = [row for row in rows if keys <= set(row)]
        assert len(rows) == 2
        single = succeed(
            *command, ROBOT, "--q", " ".join(map(repr, q[1])), "--v", " ".join(map(repr, document["v"])), "--json"
        ).json()
        for key in keys:
            assert rows[1][key] == single[key]
    written = tmp_path / "j.npz"
    succeed("jacobian", "--frame", names[0], ROBOT, "--states", states, "-o", written)
    assert np.load(written)["J"].shape == (2, 6, len(document["v"]))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((), "--kind spatial needs --frame"),
        (("--kind", "com", "--frame", "trunk"), "--kind com has no --frame"),
        (("--kind", "angular", "--frame", "trunk", "--point", "0,0,0"), "--kind angular has no --point"),
        (("--frame", "trunk", "--point", "0,0,0", "--point", "1,1,1"), "--kind spatial takes one --point"),
        (("--frame", "trunk", "--point", "0,0"), "--point needs 3 numbers, it has 2"),
        (("--frame", "trunk", "--point", "0,0,inf"), "--point"),
        (("--frame", "nowhere"), "--frame: "),
        (("--frame", "trunk", "--measured-in", "nowhere"), "--measured-in: "),
        (("--frame", "trunk", "--expressed-in", "nowhere"), "--expressed-in: "),
        (("--frame", "trunk", "--instance", "quadruped"), "--instance is for --kind com"),
        (("--kind", "com", "--instance", "nobody"), "--instance: there is no model 'nobody'"),
        (("--frame", "trunk", "--wrt", "q"), "--wrt"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_options_are_refused_in_one_line(arguments, message, names):
    arguments = [names[1] if a == "trunk" else a for a in arguments]
    result = cli("jacobian", ROBOT, *arguments)
    assert result.code == 2
    assert message in result.err
    assert len(result.err.splitlines()) == 1


def test_a_model_without_mass_has_no_center_of_mass(tmp_path):
    path = tmp_path / "light.urdf"
    path.write_text(one_robot(["a0"]))
    for command in (("com",), ("jacobian", "--kind", "com"), ("momentum", "--point", "com")):
        result = cli("-q", *command, path)
        assert result.code == 3
        assert "the model has no mass: there is no centre of mass" in result.err
    assert succeed("-q", "momentum", path, "--json").json()["L_WS_W"] == [0.0] * 6


def test_bodies_are_for_one_state(tmp_path):
    for command in ("com", "momentum"):
        result = cli(command, ROBOT, "--bodies", "--states", tmp_path / "none.csv")
        assert result.code == 2
        assert "--bodies is for one state" in result.err
    result = cli("momentum", ROBOT, "--point", "here")
    assert result.code == 2
    assert "--point" in result.err
