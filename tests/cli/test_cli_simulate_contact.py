"""`mbcli simulate` and contact: what touches, what the log and the summary say of it, resuming, and errors by name."""

import json
import sys
import threading
from functools import partial

import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers import load_arguments
from mbcli.parsers.scenes.plant_config import SELF_CONTACT
from repository import SAMPLES
from test_cli_simulate import assert_same_rows, rows, stopped_after

from mbcli.cli import progress_lines, simulate
from mbcli.config import plant_config as config
from mbcli.engine.contact.arrays import DEFAULT_TOLERANCE
from mbcli.log.reader import Log
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.run import Run

QUADRUPED = SAMPLES / "quadruped.urdf"
ON_FEET = ("--at", "quadruped_trunk_z=0.4615", "--ground")  # half a millimetre deep with straight legs
BALL = """<robot name="ball"><link name="b"><inertial><mass value="1"/>
<inertia ixx="0.004" iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial>
<collision name="skin"><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.fixture
def ball(tmp_path):
    path = tmp_path / "ball.urdf"
    path.write_text(BALL)
    return path


def run(*words, **options):
    return succeed("-q", "simulate", *words, **options)


def test_the_choices_are_those_of_the_configuration():
    assert load_arguments.CONTACT_MODELS == config.CONTACT_MODELS
    assert load_arguments.SELF_CONTACT == SELF_CONTACT


def test_a_ball_comes_to_lie_on_the_ground(ball, tmp_path):
    """Its weight is carried a millimetre deep, at any height of the ground, by every approximation and by the law."""
    for number, (height, options) in enumerate(
        (
            ("0", ()),
            ("-2", ("--contact-approximation", "similar")),
            ("1.5", ("--contact-approximation", "tamsi", "--contact-model", "point")),
            ("0", ("--contact-approximation", "sap", "--set", "plant_config.sap_near_rigid_threshold=0")),
            ("0", ("--dt", "0")),
        )
    ):
        log = tmp_path / f"{number}.h5"
        z = float(height) + 0.0995
        options = (*options, "--set", "plant_config.penetration_allowance=1e-3")
        words = (ball, f"--ground={height}", "--at", f"ball_b_z={z}", "-t", "0.1", *options, "-o", log, "--json")
        summary = run(*words).json()
        # the dissipation of sap is that of two relaxation times of 0.1 s: weight and forces decide how fast it sinks
        rest, near = (0.099 + 0.0005 * np.exp(-0.1 / 0.2), 2e-6) if "sap" in options else (0.099, 3e-5)
        assert summary["q"][6] == pytest.approx(float(height) + rest, abs=near)
        assert summary["contact"]["most_contacts"] == 1
        with Log(log) as opened:
            last = opened.contacts(opened.row_count - 1)
            assert opened.contact_names().body_names == ("world", "ball::b")
            assert opened.contact_names().geometry_names == ("ground", "ball::skin")
            a, b = last["contact/body_a"][0], last["contact/body_b"][0]
            assert (a, b, last["contact/geometry_a"][0], last["contact/geometry_b"][0]) == (0, 1, 0, 1)
            if "sap" not in options:
                assert last["contact/force"][0] == pytest.approx([0, 0, 9.81], rel=0.03, abs=1e-6)
            assert last["contact/normal"][0].tolist() == [0.0, 0.0, -1.0]  # out of the ball into the ground
            assert ("solver/iterations" in opened.fields()) == ("--dt" not in options)


def test_rows_have_the_contacts_of_the_library(tmp_path):
    """Numbers, forces and what solving took, row by row."""
    log = tmp_path / "run.h5"
    summary = run(QUADRUPED, *ON_FEET, "-t", 0.01, "--log-rate", 500, "-o", log, "--json").json()
    found = rows(log)
    with Log(log) as opened:
        contacts = opened.contacts()
        names = opened.contact_names()
    assert np.diff(contacts["offset"]).tolist() == found["solver/contacts"].tolist() == [4] * 6
    feet = {names.body_names[k] for k in contacts["contact/body_b"]}
    assert feet == {f"quadruped::{side}_shank" for side in ("front_left", "front_right", "rear_left", "rear_right")}
    assert contacts["contact/depth"][:4] == pytest.approx(0.0005, abs=1e-9)
    assert summary["contact"]["problems"] == 11  # ten steps, and that of the last row
    assert 0 < found["solver/iterations"].max() <= summary["contact"]["most_iterations"]
    assert 0.0 < found["solver/residual"].max() <= summary["contact"]["largest_residual"] <= DEFAULT_TOLERANCE
    # of the same step, by the library
    plant = MultibodyPlant(0.001)
    from mbcli.config.scene_graph_config import SceneGraphConfig
    from mbcli.models.loading import register_scene_graph

    register_scene_graph(plant, SceneGraphConfig(), 0.0)
    Parser(plant).AddModels(str(QUADRUPED))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for row in (0, 3, 5):
        plant.SetPositions(context, found["state/q"][row])
        plant.SetVelocities(context, found["state/v"][row])
        record = plant.contact_record(context)
        some = slice(*contacts["offset"][row : row + 2])
        np.testing.assert_allclose(-record.force, contacts["contact/force"][some], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(record.position, contacts["contact/point"][some], atol=1e-15)


def test_without_contact_the_robot_falls_through(ball):
    fallen = run(ball, "--no-contact", "-t", 0.2, "--no-log", "--json").json()
    assert fallen["contact"] is None and fallen["q"][6] == pytest.approx(-9.81 / 2 * 0.2**2)
    alone = run(ball, "-t", 0.01, "--no-log", "--json").json()  # nothing to touch
    assert alone["contact"] is None
    for words in (("--ground",), ("--contact-model", "point"), ("--contact-approximation", "sap")):
        refused = cli("simulate", ball, "--no-contact", *words)
        assert refused.code == 2 and "--no-contact excludes" in refused.err
    refused = cli("simulate", ball, "--dt", 0, "--contact-approximation", "sap")
    assert refused.code == 2 and "is for discrete plants" in refused.err
    refused = cli("simulate", ball, "--ground=low")
    assert refused.code == 2 and "'low' is not a finite number" in refused.err
    for words in (("--ground", ball), (ball, "--ground", "-1.5"), ("--ground", "0.2", ball), (ball, "--ground")):
        assert succeed("contact", *words, "--at", "ball_b_z=5").out == "nothing touches\n"


def test_links_of_one_robot_touch_each_other(tmp_path):
    """Two arms without a joint between them, on a body without geometry; they are drawn in each other's place."""
    arm = """<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><origin xyz="0.5 0 0"/><geometry><sphere radius="0.1"/></geometry></collision></link>"""
    text = f"""<robot name="r"><link name="base"/><link name="a">{arm}<link name="b">{arm}
    <joint name="ja" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
    <joint name="jb" type="continuous"><parent link="base"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
    path = tmp_path / "r.urdf"
    path.write_text(text)
    start = ("--weld", "base", "--at", "ja=0.45", "--v", "-1 0", "-t", 0.5, "--no-log", "--json")
    met = run(path, *start, "--self-contact", "all").json()
    assert met["contact"]["most_contacts"] == 1 and met["v"][1] < -0.1  # b was pushed
    assert run(path, *start).json()["v"] == [-1.0, 0.0]
    assert run(path, *start, "--no-contact").json()["v"] == [-1.0, 0.0]


def test_fields_choose_contacts(ball, tmp_path):
    for text, has, fields in (
        ("q,v", False, set()),
        ("contact", True, set()),
        ("solver", False, {"solver/iterations", "solver/residual", "solver/contacts"}),
    ):
        log = tmp_path / "x.h5"
        run(ball, "--ground", "-t", 0.002, "--fields", text, "-o", log, "--force")
        with Log(log) as opened:
            assert opened.has_contacts is has and set(opened.fields()) - {"time", "state/q", "state/v"} == fields


def test_configurations_reach_contact(ball, tmp_path):
    settings = tmp_path / "run.yaml"
    settings.write_text("plant_config: {penetration_allowance: 0.0015, discrete_contact_approximation: similar}\n")
    words = (ball, "--ground", "--config", settings, "--at", "ball_b_z=0.0985", "-t", 0.01, "--no-log", "--json")
    assert run(*words).json()["q"][6] == pytest.approx(0.0985, abs=1e-6)
    properties = "{point_stiffness: 9810.0, hunt_crossley_dissipation: 9.0}"
    settings.write_text(f"scene_graph_config: {{default_proximity_properties: {properties}}}\n")
    lies = ("--at", "ball_b_z=0.098", "--dt", 0, "-t", 0.01)  # two of 9810 N/m in series carry 9.81 N 2 mm deep
    assert run(ball, "--ground", "--config", settings, *lies, "--no-log", "--json").json()["q"][6] == pytest.approx(
        0.098
    )
    settings.write_text("plant_config: {contact_model: hydroelastic}\n")
    refused = cli("-q", "simulate", ball, "--ground", "--config", settings, "--no-log")
    assert refused.code == 3 and "there is no contact surface between world (ground), rigid, and ball::b" in refused.err


def assert_same_contacts(path, other):
    assert_same_rows(path, other)
    with Log(path) as a, Log(other) as b:
        assert a.contact_names() == b.contact_names()
        first, second = a.contacts(), b.contacts()
    assert first["offset"][-1] > 0
    for name, values in first.items():
        assert values.tobytes() == second[name].tobytes(), name


@pytest.mark.parametrize("options", [(), ("--dt", "0", "--accuracy", "1e-3")], ids=["discrete", "continuous"])
@pytest.mark.parametrize("steps", [1, 9])
@pytest.mark.rough  # a ball that bounces by hundredths of a millimetre: half of the little energy is lost in steps
def test_a_run_goes_on_to_the_contacts_of_one_without_a_break(ball, tmp_path, monkeypatch, options, steps):
    words = (ball, "--ground", "--at", "ball_b_z=0.101", "-t", 0.13, *options)
    whole, log = tmp_path / "whole.h5", tmp_path / "run.h5"
    run(*words, "-o", whole)
    with monkeypatch.context() as patch:
        patch.setattr("mbcli.multibody.stepping.discrete_steps.adapted", lambda budget, seconds: 1)
        patch.setattr(Run, "blocks", stopped_after(steps))
        assert cli("-q", "simulate", *words, "-o", log).code == 143
    run("--resume", log)
    assert_same_contacts(whole, log)
    longer = tmp_path / "longer.h5"
    run(*words[: -len(options) or None], *options, "-o", longer, "-t", 0.02)
    run("--resume", longer, "-t", 0.13)
    assert_same_contacts(whole, longer)


def test_resuming_with_other_contact_is_refused(ball, tmp_path):
    log = tmp_path / "run.h5"
    run(ball, "--ground", "-t", 0.002, "-o", log)
    for words in (("--no-contact",), ("--ground=0.1",), ()):
        refused = cli("-q", "simulate", ball, *words, "-t", 0.004, "--resume", log)
        assert refused.code == 3 and ("contact" in refused.err or "--fields" in refused.err)
    refused = cli("-q", "simulate", ball, "--ground", "--fields", "solver", "--resume", log)
    assert refused.code == 3 and "give the same --fields" in refused.err


# ---------------------------------------------------------------------------------------------- what is said


def test_a_deep_overlap_at_the_start_names_both_and_the_depth(ball, tmp_path):
    log = tmp_path / "run.h5"
    said = succeed("simulate", ball, "--ground", "--at", "ball_b_z=0.05", "-t", 0.001, "-o", log).err
    assert "warning: at t = 0 s world (ground) and ball::b (ball::skin) overlap by 0.05 m:" in said
    with Log(log) as opened:
        (event,) = opened.events()
        assert (event["code"], event["severity"], event["time"], event["step"]) == ("OVERLAP", "warning", 0.0, 0)
    assert (
        "overlap" not in succeed("simulate", ball, "--ground", "--at", "ball_b_z=0.0999", "-t", 0.001, "--no-log").err
    )
    many = succeed("simulate", QUADRUPED, "--ground", "--at", "quadruped_trunk_z=0.4", "-t", 0.001, "--no-log").err
    assert "and 3 other pairs more than 0.01 m" in many


def test_a_ground_that_nothing_can_touch_is_said(tmp_path):
    bare = tmp_path / "bare.urdf"
    bare.write_text(BALL[: BALL.index("<collision")] + "</link></robot>")
    said = succeed("simulate", bare, "--ground", "-t", 0.001, "--no-log").err
    assert "the model has no collision geometry: nothing can touch the ground" in said


def test_a_step_without_a_solution_ends_with_time_and_bodies(ball, tmp_path, monkeypatch):
    from mbcli.engine.contact import arrays

    log = tmp_path / "run.h5"
    monkeypatch.setattr(arrays, "DEFAULT_ITERATIONS", 0)
    failed = cli("-q", "simulate", ball, "--ground", "--at", "ball_b_z=0.12", "-t", 1, "-o", log)
    assert failed.code == 5 and failed.err.count("\n") == 1
    assert "no solution that was found: in contact are world and ball::b; step " in failed.err
    assert f"the rows before it are in {log}" in failed.err
    with Log(log) as opened:
        assert (opened.status, opened.events()[-1]["code"]) == ("failed", "CONTACT_UNSOLVED")
        last = opened.contacts(opened.row_count - 1)
        assert last["offset"].tolist() == [0, 1] and np.isnan(last["contact/force"]).all()
        assert np.isfinite(opened.q).all() and 0.0995 < opened.q[-1, 6] < 0.1


def test_the_summary_for_people(ball):
    out = run(ball, "--ground", "--at", "ball_b_z=0.0995", "-t", 0.002, "--no-log").out
    assert "up to 1 contact points, 1 on average; solved by " in out
    out = run(ball, "--ground", "--at", "ball_b_z=0.0995", "-t", 0.002, "--dt", 0, "--no-log").out
    assert "up to 1 contact points in a row" in out
    assert "contact" not in run(ball, "-t", 0.002, "--no-log").out


def test_the_first_compilation_is_said_by_what_it_takes(monkeypatch, compiled_here, tmp_path, ball):
    """Contact takes longer; where nothing can touch nobody waits for it. Kernels of others do not count."""

    def announce(plant):
        with simulate.compiling_line(plant, plant.CreateDefaultContext(), quiet=False):
            pass

    from mbcli.engine import load_kernels
    from mbcli.engine.runtime import kernel_cache

    said = []
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("MBCLI_JIT", "1")
    monkeypatch.setattr(progress_lines.click, "echo", lambda line, **_: said.append(line))
    for words, seconds in ((("--ground",), 15), (("--no-contact",), 10), ((), 10), (("--ground", "--dt", "0"), 15)):
        from mbcli.cli.model import load
        from mbcli.cli.options import MODEL_KEYS, take

        context = simulate.simulate.make_context("simulate", [str(ball), *words])
        options = dict(context.params)
        loaded = load(
            take(options, MODEL_KEYS),
            context,
            contact=not options["no_contact"],
            ground=options["ground"],
            dt=options["time_step"],
        )
        announce(loaded.plant)
        assert f"(about {seconds} s)" in said.pop(), words
    kernel = load_kernels(True, "plain").run_discrete
    name = kernel.path.stem
    loaded = load(take(dict(context.params), MODEL_KEYS), context, dt=0.001)
    for folder, key, expected in (
        ("kernels-of-another-version", name, 1),
        (kernel_cache.cache_directory().name, name[:-4] + "0000", 1),
        (kernel_cache.cache_directory().name, name, 0),
    ):
        (tmp_path / "cache" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "cache" / folder / f"{key}.code").touch()
        announce(loaded.plant)
        assert len(said) == expected, key
        said.clear()


class Terminal:
    def __init__(self):
        self.text, self.drawn = "", threading.Semaphore(0)

    def isatty(self):
        return True

    def write(self, text):
        self.text += text
        self.drawn.release()

    def flush(self):
        pass


def test_a_terminal_has_one_line_that_moves_while_kernels_are_compiled(monkeypatch):
    """It counts the kernels that are there, and nothing is left of it."""
    monkeypatch.setattr(progress_lines, "DRAWN_EVERY", 0.01)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    ready = [False, True, False]
    line = progress_lines.CompilingLine("the simulation", 15, [partial(ready.__getitem__, k) for k in range(3)])
    before = threading.active_count()
    with line:
        terminal.drawn.acquire(timeout=60.0)
        ready[0] = True
        for _ in range(3):  # the second one from now on has begun after that
            terminal.drawn.acquire(timeout=60.0)
    lines = terminal.text.split("\r\x1b[K")
    assert lines[0] == lines[-1] == "" and len(lines) > 4
    assert lines[1] == "compiling the simulation, once on this machine: 1 of 3 kernels, 0 s of about 15 "
    assert "2 of 3 kernels" in lines[-2]
    assert threading.active_count() == before
    said = terminal.text
    line.close()
    with progress_lines.CompilingLine("the simulation", 15, shown=False):
        pass
    assert terminal.text == said


def test_ground_for_the_command_contact(ball):
    at = ("--at", "ball_b_z=0.09995")  # half of the allowance deep
    found = succeed("contact", ball, "--ground", *at, "--json").json()["point_pairs"]
    assert [(p["body_a"], p["geometry_a"], p["body_b"]) for p in found] == [("world", "ground", "ball::b")]
    assert found[0]["force_W"] == pytest.approx([0, 0, 9.81 / 2])
    assert json.dumps(found)
