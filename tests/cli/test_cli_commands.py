"""Every command on every sample model: documents with exactly the documented keys, numbers that read back, files."""

import json

import h5py
import numpy as np
import pytest
from command_line import MODELS, cli, hinge, one_robot, succeed
from repository import SAMPLES

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

ARM, TWO_LINKS = SAMPLES / "arm7.urdf", SAMPLES / "double_pendulum.urdf"
COMMON = {"schema", "schema_version", "model", "position_names", "velocity_names", "q", "v"}
FRAME_KEYS = {"X_WF", "p_WF", "quaternion", "V_WF"}
INSPECT = {
    *("extent", "postures", "reach", "standing_height"),
    "bodies",
    "joints",
    "frames",
    "actuators",
    "force_elements",
    "constraints",
    "deformable_bodies",
    "geometries",
    "collision_filter_groups",
    "mobility",
    "counts",
    "sensors",
    "total_mass",
    "not_used",
    "format",
    "time_step",
    "gravity",
    "actuator_names",
    "default_positions",
}
SIMULATE = {
    "status",
    "steps",
    "refused_steps",
    "start_time",
    "end_time",
    "simulated_time",
    "wall_time",
    "realtime_rate",
    "time_step",
    "integrator",
    "energy_start",
    "energy_end",
    "energy_drift",
    "energy_error",
    "balance",
    "constraint_error",
    "contact",
    "exceeded_limits",
    "exceeded_efforts",
    "efforts",
    "tracking",
    "efforts_beyond",
    "velocities_beyond",
    "log",
    "rows",
}
DOCUMENTS = [  # command and options, keys beside the common ones, shape of the result by nq and nv
    (("kinematics",), {"frames"}, {}),
    (("mass-matrix",), {"M"}, {"M": "vv"}),
    (("mass-matrix", "--inverse"), {"M"}, {"M": "vv"}),
    (("mass-matrix", "--via-inverse-dynamics"), {"M"}, {"M": "vv"}),
    (("inverse-dynamics",), {"tau"}, {"tau": "v"}),
    (("forward-dynamics",), {"vdot"}, {"vdot": "v"}),
    (("bias",), {"Cv"}, {"Cv": "v"}),
    (("gravity",), {"tau_g"}, {"tau_g": "v"}),
    (("energy",), {"kinetic", "potential", "conservative_power", "nonconservative_power", "joint_damping_power"}, {}),
    (
        ("energy", "--bodies"),
        {"kinetic", "potential", "conservative_power", "nonconservative_power", "joint_damping_power", "bodies"},
        {},
    ),
]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def plant_of(path):
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModels(str(path))
    plant.Finalize()
    return plant


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
@pytest.mark.parametrize("command, keys, shapes", DOCUMENTS, ids=lambda value: "-".join(sorted(value)))
def test_documents_have_the_documented_keys_and_sizes(path, command, keys, shapes):
    document = succeed(*command, path, "--random", 1, "--json").json()
    plant = plant_of(path)
    assert set(document) == COMMON | keys
    assert (document["schema"], document["schema_version"]) == (f"mbcli/{command[0]}", 1)
    assert set(document["model"]) == {"name", "files"}
    assert document["model"]["files"][0].keys() == {"path", "sha256"}
    assert document["position_names"] == plant.GetPositionNames()
    assert document["velocity_names"] == plant.GetVelocityNames()
    assert np.shape(document["q"]) == (plant.num_positions(),)
    for key, letters in shapes.items():
        assert np.shape(document[key]) == tuple(plant.num_velocities() for _ in letters)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_inspect_and_simulate_documents_have_the_documented_keys(path):
    document = succeed("inspect", path, "--json").json()
    assert set(document) == (COMMON - {"q", "v"}) | INSPECT
    counts = document["counts"]
    assert (counts["nq"], counts["nv"]) == (len(document["position_names"]), len(document["velocity_names"]))
    assert counts["bodies"] == len(document["bodies"]) and counts["joints"] == len(document["joints"])
    assert document["total_mass"] == pytest.approx(sum(body["mass"] for body in document["bodies"]))
    run = succeed("-q", "simulate", path, "-t", 0.003, "--no-log", "--json").json()
    assert set(run) == COMMON | SIMULATE
    assert (run["status"], run["steps"], run["log"], run["rows"]) == ("complete", 3, None, None)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
@pytest.mark.parametrize(
    "command", [c for c, _, _ in DOCUMENTS] + [("inspect",)], ids=lambda command: "-".join(command)
)
def test_text_is_aligned_and_without_stray_spaces(path, command):
    result = succeed("-q", *command, path)
    assert result.err == ""
    lines = result.out.splitlines()
    assert lines and all(line == line.rstrip() and "\t" not in line for line in lines)


def test_numbers_of_documents_are_those_of_the_library():
    document = succeed("mass-matrix", ARM, "--random", 4, "--json").json()
    plant = plant_of(ARM)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, document["q"])
    plant.SetVelocities(context, document["v"])
    assert document["M"] == plant.CalcMassMatrix(context).tolist()  # equal in every bit
    bias = succeed("bias", ARM, "--random", 4, "--json").json()
    assert bias["Cv"] == plant.CalcBiasTerm(context).tolist()
    frames = succeed("kinematics", ARM, "--random", 4, "--json").json()["frames"]
    hand = plant.GetFrameByName("hand").CalcPoseInWorld(context)
    assert frames["hand"].keys() == FRAME_KEYS
    assert frames["hand"]["X_WF"] == hand.GetAsMatrix4().tolist()


def test_what_is_not_finite_is_null_and_named(tmp_path):
    result = cli("energy", TWO_LINKS, "--v", "1e200 0", "--json")
    assert result.code == 5 and "kinetic not finite" in result.err
    document = result.json()
    assert document["kinetic"] is None and "kinetic" in document["not_finite"]


def test_rows_of_matrices_stand_on_one_line_each():
    lines = succeed("mass-matrix", TWO_LINKS, "--json").out.splitlines()
    rows = [json.loads(line.strip().rstrip(",")) for line in lines if line.startswith("    [")]
    assert rows == succeed("mass-matrix", TWO_LINKS, "--json").json()["M"]


def test_forward_and_inverse_dynamics_of_documents_undo_each_other():
    tau = "1 -2 3 -4 5 -6 7"
    vdot = succeed("forward-dynamics", ARM, "--random", 2, "--tau", tau, "--json").json()["vdot"]
    options = ("--random", 2, "--vdot", " ".join(map(repr, vdot)), "--json")
    assert succeed("inverse-dynamics", ARM, *options).json()["tau"] == pytest.approx([1, -2, 3, -4, 5, -6, 7], abs=1e-9)
    named = succeed("forward-dynamics", ARM, "--random", 2, "--u", "motor_2=3,motor_4=-1", "--json").json()["vdot"]
    listed = succeed("forward-dynamics", ARM, "--random", 2, "--u", "0 3 0 -1 0 0 0", "--json").json()["vdot"]
    assert named == listed


def test_forces_on_bodies_count():
    held = succeed("inverse-dynamics", TWO_LINKS, "--json").json()["tau"]
    pushed = succeed("inverse-dynamics", TWO_LINKS, "--force-on", "lower=0,2,0,0,0,0", "--json").json()["tau"]
    assert np.subtract(held, pushed) == pytest.approx([2.0, 2.0])


def test_kinematics_relative_to_a_moving_frame_is_the_inverse_the_other_way():
    options = ("--random", 5, "--vdot", "1 2", "--json")
    there = succeed("kinematics", TWO_LINKS, "--frame", "lower", "--relative-to", "upper", *options).json()
    back = succeed("kinematics", TWO_LINKS, "--frame", "upper", "--relative-to", "lower", *options).json()
    there, back = there["frames"]["lower"], back["frames"]["upper"]
    assert there.keys() == FRAME_KEYS | {"A_WF"}
    assert np.array(there["X_WF"]) @ back["X_WF"] == pytest.approx(np.eye(4), abs=1e-14)
    # both are hinges about y: the angular parts are opposite
    assert np.array(there["V_WF"])[:3] == pytest.approx(-np.array(back["V_WF"])[:3])
    assert np.array(there["A_WF"])[:3] == pytest.approx(-np.array(back["A_WF"])[:3])


# --------------------------------------------------------------------------------------- several models


def test_equal_models_are_renamed_and_told_apart():
    document = succeed("inspect", ARM, ARM, "--json").json()
    assert document["model"]["name"] == "arm7, arm7_1"
    assert document["counts"]["model_instances"] == 2
    assert {body["model_instance"] for body in document["bodies"]} == {"arm7", "arm7_1"}
    assert {geometry["model_instance"] for geometry in document["geometries"]} == {"arm7", "arm7_1"}
    assert "arm7_1::hand" in succeed("inspect", ARM, ARM).out
    frames = succeed("kinematics", ARM, ARM, "--at", "arm7_1::joint_1=1", "--json").json()["frames"]
    assert frames["arm7::hand"]["X_WF"] != frames["arm7_1::hand"]["X_WF"]
    ambiguous = cli("kinematics", ARM, ARM, "--frame", "hand")
    assert ambiguous.code == 2 and "as arm7::hand" in ambiguous.err
    assert "can mean arm7_joint_1_q, arm7_1_joint_1_q" in cli("kinematics", ARM, ARM, "--at", "joint_1=1").err


def test_an_sdf_file_of_several_models_and_a_world(tmp_path):
    link = "<link name='l'><inertial><mass>1</mass></inertial></link>"
    models = f"<model name='a'><pose>0 0 1 0 0 0</pose>{link}</model><model name='b'><static>1</static>{link}</model>"
    (tmp_path / "two.sdf").write_text(f"<sdf version='1.10'>{models}</sdf>")
    (tmp_path / "two.world").write_text(f"<sdf version='1.10'><world name='w'>{models}</world></sdf>")
    for name in ("two.sdf", "two.world"):
        document = succeed("inspect", tmp_path / name, "--json").json()
        assert (document["model"]["name"], document["counts"]["nq"]) == ("a, b", 7)
        run = succeed("-q", "simulate", tmp_path / name, "-t", 0.01, "--no-log", "--json").json()
        assert run["q"][6] == pytest.approx(1.0 - 9.81 * 0.01**2 / 2.0)  # midpoint: of second order


# ------------------------------------------------------------------------------------------ model options


def test_welds_hold_bases():
    quadruped = SAMPLES / "quadruped.urdf"
    assert succeed("inspect", quadruped, "--json").json()["counts"]["nq"] == 19
    for option in (("--weld", "trunk"), ("--weld-base",)):
        document = succeed("inspect", quadruped, *option, "--json").json()
        assert document["counts"]["nq"] == 12 and document["bodies"][0]["anchored"]


def test_models_from_stdin_and_packages(tmp_path):
    for option in ((), ("--input-format", "urdf")):
        document = succeed("inspect", "-", *option, "--json", stdin=TWO_LINKS.read_bytes()).json()
        assert document["model"]["name"] == "double_pendulum"
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "package.xml").write_text("<package><name>mine</name></package>")
    (tmp_path / "robots" / "arm.urdf").write_bytes(TWO_LINKS.read_bytes())
    for option in (("--package", f"mine={tmp_path}/robots"), ("--package-path", tmp_path)):
        assert succeed("inspect", "package://mine/arm.urdf", *option, "--json").json()["counts"]["nq"] == 2


def test_configuration_and_overrides_reach_the_plant(tmp_path):
    (tmp_path / "plant.yaml").write_text("time_step: 0.002\n")
    (tmp_path / "run.yaml").write_text(
        "Slow: {plant_config: {time_step: 0.02}, simulation_duration: 0.1}\n"
        "Smooth: {plant_config: {time_step: 0}, simulator_config: {integration_scheme: radau3}}\n"
    )
    run = ("-q", "simulate", TWO_LINKS, "--no-log", "--json")
    assert succeed(*run, "-t", 0.01, "--config", tmp_path / "plant.yaml").json()["steps"] == 5
    slow = ("--config", tmp_path / "run.yaml", "--scenario-name", "Slow")
    assert succeed(*run, *slow).json()["steps"] == 5
    assert succeed(*run, *slow, "--set", "plant_config.time_step=0.05").json()["steps"] == 2
    assert succeed(*run, *slow, "-t", 0.04, "--dt", 0.01).json()["steps"] == 4
    smooth = ("--config", tmp_path / "run.yaml", "--scenario-name", "Smooth", "-t", 0.01)
    assert succeed(*run, *smooth).json()["integrator"] == "radau3"
    assert succeed(*run, *smooth, "--integrator", "runge_kutta2").json()["integrator"] == "runge_kutta2"


def test_strict_and_verbosity_choose_what_is_said(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(one_robot(["a", "b"], hinge("j", "a", "b")).replace("</robot>", "<oddity/></robot>"))
    normal, verbose, quiet = cli("inspect", path), cli("-v", "inspect", path), cli("-q", "inspect", path)
    assert (normal.code, verbose.code, quiet.code) == (0, 0, 0)
    assert "warning: <oddity>" in normal.err and "warning: <oddity>" in verbose.err and quiet.err == ""
    strict = cli("inspect", path, "--strict")
    assert strict.code == 3 and strict.out == ""
    assert strict.err.count("<oddity>") == 1 and strict.err.startswith(f"{path}:1:")


# ------------------------------------------------------------------------------------------------- files


def read_back(path):
    if path.suffix == ".json":
        return np.array(json.loads(path.read_text())["M"])
    if path.suffix == ".jsonl":
        return np.array(json.loads(path.read_text())["M"])
    if path.suffix == ".csv":
        return np.loadtxt(path, delimiter=",", skiprows=1).reshape(7, 7)
    if path.suffix == ".npz":
        return np.load(path)["M"][0]
    return h5py.File(path)["results/M"][0]


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "npz", "h5"])
def test_a_result_goes_to_a_file_of_each_format_and_is_not_overwritten(tmp_path, suffix):
    path = tmp_path / f"M.{suffix}"
    command = ("mass-matrix", ARM, "--random", 1)
    assert succeed(*command, "-o", path).out == ""
    expected = succeed(*command, "--json").json()["M"]
    assert read_back(path).tolist() == expected
    written = path.read_bytes()
    refused = cli(*command, "-o", path)
    assert refused.code == 6 and "--force" in refused.err and path.read_bytes() == written
    succeed(*command, "-o", path, "--force")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_devices_are_written_to_and_never_replaced():
    assert succeed("mass-matrix", ARM, "-o", "/dev/null", "--force").out == ""
    assert not open("/dev/null", "rb").read()  # noqa: SIM115
    full = cli("mass-matrix", ARM, "-o", "/dev/full")
    assert full.code == 6 and full.err == "/dev/full: error: cannot be written: No space left on device\n"


def test_trees_for_graph_tools():
    dot = succeed("inspect", TWO_LINKS, "--tree", "dot").out
    assert dot.startswith("digraph model {") and 'b1 -> b2 [label="elbow (revolute)"]' in dot
    mermaid = succeed("inspect", TWO_LINKS, "--tree", "mermaid").out
    assert mermaid.startswith("graph TD") and 'b1 -->|"elbow (revolute)"| b2' in mermaid
    assert succeed("inspect", TWO_LINKS, "--tree", "text").out.splitlines()[-1] == "   └─ elbow (revolute) ─ lower"


def test_names_from_files_cannot_control_the_terminal():
    result = succeed("inspect", "-", stdin=one_robot(["a&#x9b;31m"]).replace('name="r"', 'name="r&#x9b;2J"'))
    assert "\x9b" not in result.out + result.err and "\\x9b31m" in result.out


def test_models_without_coordinates_or_links():
    for text in ('<robot name="r"/>', '<robot name="r"><link name="world"/></robot>', one_robot(["a"])):
        options = ("-q",), ("-", "--input-format", "urdf", "--weld-base")
        assert succeed(*options[0], "inspect", *options[1], stdin=text).out
        for command in ("mass-matrix", "bias", "gravity", "inverse-dynamics", "forward-dynamics"):
            out = succeed(*options[0], command, *options[1], stdin=text).out
            assert out == "the model has no degrees of freedom\n"
        document = succeed(*options[0], "mass-matrix", *options[1], "--json", stdin=text).json()
        assert (document["q"], document["M"]) == ([], [])
        run = succeed("-q", "simulate", *options[1], "-t", 0.01, "--no-log", "--json", stdin=text).json()
        assert run["status"] == "complete"


@pytest.mark.parametrize(
    "command", ["simulate", "inspect", "kinematics", "mass-matrix", "inverse-dynamics", "forward-dynamics", "log"]
)
def test_help_names_every_option_and_fits_a_terminal(command):
    result = succeed(command, "--help")
    assert result.out.startswith(f"Usage: mbcli {command} ") and "--help" in result.out
    assert max(map(len, result.out.splitlines())) <= 110
    if command == "simulate":
        assert all(f" {key}" in result.out for key in SIMULATE)


def test_version_and_the_list_of_commands():
    assert succeed("--version").out.startswith("mbcli ")
    out = succeed("--help").out
    assert all(name in out for name in ("simulate", "inspect", "energy", "log", "Exit codes: 0 done"))


def test_inspect_shows_the_filter_groups_of_models_and_of_directives(tmp_path):
    group = (
        '<drake:collision_filter_group name="g"><drake:member link="a"/>'
        '<drake:ignored_collision_filter_group name="g"/></drake:collision_filter_group>'
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a"/>{group}</robot>')
    scene = tmp_path / "s.dmd.yaml"
    scene.write_text(
        "directives:\n- add_model: {name: p, file: r.urdf}\n- add_collision_filter_group:\n"
        "    {name: h, members: ['p::a'], ignored_collision_filter_groups: ['p::g']}\n"
    )
    groups = cli("inspect", scene, "--json").json()["collision_filter_groups"]
    assert [(g["name"], g["model_instance"], g["members"], g["ignores"]) for g in groups] == [
        ("g", "p", ["a"], ["g"]),
        ("h", None, ["p::a"], ["p::g"]),
    ]
    shown = cli("inspect", scene).out
    assert "collision filter group p::g of a ignores p::g\ncollision filter group h of p::a ignores p::g\n" in shown


def test_a_file_that_is_two_models_has_its_warnings_once(tmp_path):
    path, other = tmp_path / "a.urdf", tmp_path / "b.urdf"
    text = one_robot(("base", "tip"), hinge("j", "base", "tip")).replace("</robot>", "<spring/></robot>")
    path.write_text(text)
    other.write_text(text)
    warnings = [line for line in succeed("gravity", path, path, other).err.splitlines() if "ELEMENT_UNKNOWN" in line]
    assert [line.partition(":")[0] for line in warnings] == [str(path), str(other)]
