"""Scenarios and directives on the command line: models, settings and initial positions from one file."""

import json
import shutil

import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.scenario import read_scenario
from repository import SAMPLES

from mbcli.log.reader import Log

SWING, HERD = SAMPLES / "swing.scenario.yaml", SAMPLES / "herd.dmd.yaml"
STANDING_HEIGHT = 0.44 * np.cos(0.7) + 0.022  # [m] as the header of quadruped.urdf derives
USAGE, INVALID, MISSING = 2, 3, 4

ONE = """\
plant_config: {time_step: 0.004}
random_seed: 5
simulation_duration: 0.1
directives:
- add_model: {name: left, file: pendulum.urdf}
- add_model: {name: right, file: pendulum.urdf, default_joint_positions: {hinge: [0.2]}}
initial_position:
  left: {hinge: [0.5]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("pendulum.urdf", "quadruped.urdf"):
        shutil.copy(SAMPLES / name, tmp_path)
    (tmp_path / "one.yaml").write_text(ONE)
    return tmp_path


def finding(result, code):
    """The one line of an error, after its exit code was checked."""
    assert (result.code, result.out) == (code, "")
    errors = [line for line in result.err.splitlines() if ": warning: " not in line]
    assert len(errors) == 1, result.err
    return errors[0]


# ------------------------------------------------------------------------------------------------- sample files


def test_the_sample_directives_give_their_answers():
    document = succeed("inspect", HERD, "--json").json()
    assert (document["counts"]["nq"], document["counts"]["nv"], document["counts"]["bodies"]) == (32, 31, 27)
    assert document["total_mass"] == pytest.approx(35.2, rel=1e-14)
    assert [entry["model_instance"] for entry in document["format"]] == ["standing", "hanging", "pendulum"]
    frames = succeed("kinematics", HERD, "--frame", "standing::trunk", "--frame", "hanging::trunk", "--json").json()
    standing, hanging = (np.array(frames["frames"][f"{name}::trunk"]["X_WF"]) for name in ("standing", "hanging"))
    np.testing.assert_allclose(standing[:3, 3], [1, 0, STANDING_HEIGHT], atol=1e-10)
    np.testing.assert_allclose(hanging, [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 2], [0, 0, 0, 1]], atol=1e-15)
    shanks = [name for name in frames_of(document) if name.endswith("shank")]
    poses = succeed("kinematics", HERD, *(w for name in shanks for w in ("--frame", name)), "--json").json()
    feet = [np.array(poses["frames"][name]["X_WF"]) @ [0, 0, -0.22, 1] for name in shanks]
    assert [foot[2] for foot in feet] == pytest.approx([0.022] * 4, abs=1e-10)


def frames_of(document):
    standing = [body for body in document["bodies"] if body["model_instance"] == "standing"]
    return [f"standing::{body['name']}" for body in standing]


def test_the_sample_scenario_gives_its_answer(tmp_path):
    log = tmp_path / "swing.h5"
    summary = succeed("simulate", SWING, "--scenario-name", "Period", "-o", log, "--json").json()
    assert (summary["integrator"], summary["time_step"]) == ("runge_kutta5", 0)
    assert summary["end_time"] == pytest.approx(1.7468605071243708, rel=1e-15)
    assert [*summary["q"], *summary["v"]] == pytest.approx([1.0, 0.0], abs=1e-7)
    with Log(log) as opened:
        assert next(opened.chunks(stop=1))["state/q"][0] == [1.0]
        files = [entry["path"].rpartition("/")[2] for entry in opened.source_digests()]
    assert files == ["swing.scenario.yaml", "pendulum.urdf"]


# --------------------------------------------------------------------------------------------- what a scenario does


def test_a_scenario_sets_plant_run_and_initial_positions(folder):
    summary = succeed("simulate", "one.yaml", "-o", "a.h5", "--json").json()
    assert (summary["time_step"], summary["end_time"], summary["steps"]) == (0.004, pytest.approx(0.1), 25)
    assert summary["position_names"] == ["left_hinge_q", "right_hinge_q"]
    with Log("a.h5") as log:
        np.testing.assert_array_equal(next(log.chunks(stop=1))["state/q"][0], [0.5, 0.2])
        assert log.attrs["seed"] == 5
    assert "a.h5" in succeed("simulate", "--resume", "a.h5", "-t", "0.2").out


@pytest.mark.parametrize("command", ["mass-matrix", "energy", "kinematics", "gravity", "linearize", "com"])
def test_analyses_take_scenarios_and_directives(folder, command):
    document = succeed(command, "one.yaml", "--json").json()
    assert document["q"] == [0.5, 0.2]
    assert [file["path"].rpartition("/")[2] for file in document["model"]["files"]] == ["one.yaml", "pendulum.urdf"]
    (folder / "two.dmd.yaml").write_text("directives:\n- add_model: {name: a, file: pendulum.urdf}\n")
    assert succeed(command, "two.dmd.yaml", "--json").json()["position_names"] == ["a_hinge_q"]


def test_the_default_log_is_named_after_the_directives(folder):
    (folder / "two.dmd.yaml").write_text("directives:\n- add_model: {name: a, file: pendulum.urdf}\n")
    succeed("simulate", "two.dmd.yaml", "-t", "0.01")
    assert (folder / "two.h5").exists()


def test_scenarios_and_directives_come_from_stdin_too(folder):
    assert succeed("inspect", "-", "--input-format", "scenario", "--json", stdin=ONE).json()["counts"]["nq"] == 2
    text = "directives:\n- add_model: {name: a, file: pendulum.urdf}\n"
    assert succeed("inspect", "-", "--input-format", "dmd", "--json", stdin=text).json()["counts"]["nq"] == 1
    wrong = finding(cli("inspect", "-", "--input-format", "dmd", stdin="directives:\n- add_modl: {}\n"), INVALID)
    assert wrong.startswith('<stdin>:2:3: error: unknown key "add_modl"')


def test_models_beside_a_scenario_share_its_plant(folder):
    document = succeed("inspect", "one.yaml", "quadruped.urdf", "--json").json()
    assert document["model"]["name"] == "left, right, quadruped"
    assert document["time_step"] == 0.004


def test_a_scenario_is_a_configuration_for_other_models(folder):
    result = succeed("inspect", "pendulum.urdf", "--config", "one.yaml", "--json", "--set", "random_seed=1")
    assert result.json()["time_step"] == 0.004
    assert "as --config the models and positions of a scenario are not used" in result.err
    (folder / "start.yaml").write_text("initial_position: {pendulum: {hinge: [0.75]}}\n")
    assert succeed("energy", "pendulum.urdf", "--config", "start.yaml", "--json").json()["q"] == [0.75]
    line = finding(cli("inspect", "quadruped.urdf", "--config", "start.yaml"), INVALID)
    assert line.startswith('start.yaml:1:31: error: there is no model instance "pendulum"')


def test_names_file_and_text_of_drake_are_understood(folder):
    (folder / "several.yaml").write_text(f"A: {{simulation_duration: 1}}\nB: {json.dumps({'random_seed': 3})}\n")
    (folder / "demo.yaml").write_text("Demo:\n" + "".join(f"  {line}\n" for line in ONE.splitlines()))
    text = "{plant_config: {time_step: 0.002}, initial_position: {right: {hinge: [0.3]}}}"
    flags = ["--scenario_file=demo.yaml", "--scenario_name=Demo", f"--scenario_text={text}"]
    document = succeed("inspect", *flags, "--json").json()
    assert (document["time_step"], document["default_positions"]) == (0.002, [0.5, 0.3])
    assert [file["path"] for file in document["model"]["files"]][:2] == ["demo.yaml", "<scenario-text>"]
    assert succeed("simulate", *flags, "--no-log", "--json").json()["steps"] == 50


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["one.yaml", "--config", "one.yaml"], USAGE, "one.yaml and --config both hold settings of the run"),
        (["one.yaml", "--scenario-name", "A"], INVALID, 'one.yaml:1:1: error: there is no scenario "A"'),
        (["one.yaml", "--scenario-text", "{plant_confg: {}}"], INVALID, "<scenario-text>:1:2: error: unknown key"),
        (
            ["one.yaml", "--scenario-text", "3"],
            INVALID,
            "<scenario-text>:1:1: error: a configuration must be a mapping",
        ),
        (["one.yaml", "--set", "initial_position=1"], USAGE, "--set initial_position: no such setting"),
        (["gone.yaml"], MISSING, "gone.yaml: no such file"),
        (["gone.dmd.yaml"], MISSING, "gone.dmd.yaml: no such file"),
        (["--scenario-file", "gone.yaml"], MISSING, "gone.yaml: no such file"),
    ],
)
def test_a_wrong_command_gives_one_line(folder, arguments, code, message):
    assert message in finding(cli("inspect", *arguments), code)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("left: {hinge: [0.5]}", "lft: {hinge: [0.5]}", 'one.yaml:8:9: error: there is no model instance "lft"; did'),
        ("left: {hinge: [0.5]}", "left: {hing: [0.5]}", 'one.yaml:8:10: error: there is no joint "hing"'),
        ("left: {hinge: [0.5]}", "left: {hinge: [1, 2]}", 'one.yaml:8:10: error: joint "hinge" has 1 positions, 2'),
        ("left: {hinge: [0.5]}", "left: {hinge: 0.5}", "one.yaml:8:17: error: initial_position.left.hinge must be"),
        ("initial_position", "initial_positon", 'one.yaml:7:1: error: unknown key "initial_positon"'),
        ("random_seed: 5", "random_seed: -5", "one.yaml:2:14: error: random_seed must be at least 0"),
        (
            "file: pendulum",
            "fil: pendulum",
            'one.yaml:5:27: error: unknown key "fil" in AddModel; did you mean "file"?',
        ),
        ("0.004", "fast", "one.yaml:1:27: error: time_step must be a number"),
        ("name: right", "name: left", 'one.yaml:6:14: error: there is a model instance "left" already'),
    ],
)
def test_a_wrong_scenario_is_located(folder, old, new, message):
    (folder / "one.yaml").write_text(ONE.replace(old, new))
    result = cli("inspect", "one.yaml")
    assert (result.code, result.out) == (INVALID, "")
    assert message in result.err


def test_what_drake_reads_and_a_run_does_not_use_is_named(folder):
    more = "lcm_buses: {}\nmodel_drivers: {left: !ZeroForceDriver {}}\ncameras: {}\nvisualization: {}\n"
    more += "scene_graph_config: {default_proximity_properties: {point_stiffness: 3e6}}\n"
    (folder / "one.yaml").write_text(ONE + more)
    result = succeed("inspect", "one.yaml")
    named = [line.split('"')[1] for line in result.err.splitlines()]
    assert named == ["cameras", "lcm_buses", "model_drivers", "visualization"]
    assert cli("inspect", "one.yaml", "--strict").code == INVALID
    config = read_scenario(str(folder / "one.yaml"), Diagnostics()).run
    assert config.scene_graph_config.default_proximity_properties.point_stiffness == 3e6


def test_a_missing_package_is_a_missing_resource_with_everything_tried(folder, monkeypatch):
    for variable in ("MBCLI_PACKAGE_PATH", "ROS_PACKAGE_PATH"):
        monkeypatch.setenv(variable, str(folder / "searched"))
    (folder / "one.yaml").write_text(ONE.replace("file: pendulum", "file: package://gone/pendulum"))
    result = cli("inspect", "one.yaml")
    assert result.code == MISSING
    for line, place in zip(result.err.splitlines(), ("one.yaml:5:14", "one.yaml:6:14"), strict=True):
        assert line.startswith(
            f'{place}: error: "package://gone/pendulum.urdf": no package "gone": not given by name; '
        )
        assert f"not below {folder / 'searched'} (MBCLI_PACKAGE_PATH)" in line


def test_a_file_outside_of_the_folder_needs_permission(folder):
    (folder / "scenes").mkdir()
    (folder / "scenes" / "s.dmd.yaml").write_text("directives:\n- add_model: {name: a, file: ../pendulum.urdf}\n")
    line = finding(cli("inspect", "scenes/s.dmd.yaml"), MISSING)
    assert "is outside of" in line and "(--allow-outside)" in line
    succeed("inspect", "scenes/s.dmd.yaml", "--allow-outside")


def test_missing_meshes_are_errors_warnings_or_notes(folder):
    mesh = '<visual><geometry><mesh filename="gone.obj"/></geometry></visual></link>'
    (folder / "m.urdf").write_text((folder / "pendulum.urdf").read_text().replace("</link>", mesh, 1))
    assert "gone.obj does not exist" in succeed("inspect", "m.urdf").err
    assert succeed("inspect", "m.urdf", "--missing-meshes", "ignore").err == ""
    assert "gone.obj does not exist" in finding(cli("inspect", "m.urdf", "--missing-meshes", "error"), MISSING)


# ------------------------------------------------------------------------------------------------- random poses

RANDOM = """directives:
- add_model: {name: a, file: quadruped.urdf, default_free_body_pose: {trunk: {
    translation: !UniformVector {min: [5, 5, 1], max: [6, 6, 2]}}}}
"""


def test_random_poses_are_drawn_with_random_and_seed_only(folder):
    (folder / "r.dmd.yaml").write_text(RANDOM)
    assert succeed("kinematics", "r.dmd.yaml", "--json").json()["q"][4:7] == [5.5, 5.5, 1.5]
    drawn = [succeed("com", "r.dmd.yaml", "--random", seed, "--json").json()["q"][4:7] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(5 <= x <= 6 and 5 <= y <= 6 and 1 <= z <= 2 for x, y, z in drawn)
    run = ["simulate", "r.dmd.yaml", "-t", "0", "--no-log", "--json"]
    started = [succeed(*run, "--seed", seed).json()["q"] for seed in (1, 1, 2)]
    assert started[0] == started[1] != started[2]
    assert started[0][7:] == [0.0] * 12  # joints that are not random stay at their defaults
    assert succeed(*run).json()["q"][4:7] == [5.5, 5.5, 1.5]


# --------------------------------------------------------------------------------------------------------- check


def test_check_reads_every_scenario_and_every_model(folder):
    document = succeed("check", SWING, HERD, "--json").json()
    assert document["counts"]["error"] == document["counts"]["warning"] == 0
    files = {file["path"].rpartition("/")[2] for file in document["model"]["files"]}
    assert files == {"swing.scenario.yaml", "herd.dmd.yaml", "pendulum.urdf", "quadruped.urdf"}
    (folder / "two.yaml").write_text(
        "A:\n  directives:\n  - add_model: {name: a, fil: x}\nB:\n  directives:\n  - add_weld: {parent: a, child: b}\n"
    )
    result = cli("check", "two.yaml", "--json")
    assert result.code == 1
    places = [(f["line"], f["code"]) for f in result.json()["findings"]]
    assert places == [(3, "KEY_MISSING"), (3, "KEY_UNKNOWN"), (6, "NAME_UNKNOWN"), (6, "NAME_UNKNOWN")]
