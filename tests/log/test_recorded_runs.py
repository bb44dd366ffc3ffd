"""Runs of models of every format have the rows, in all fields that a log can have, and the words that were recorded."""

import h5py
import pytest
from command_line import cli
from mjcf_severity import MODEL as ALL_OF_MJCF
from passive_elements import CASES as ELEMENTS
from recorded import same_as_recorded
from recorded_texts import TEXTS
from repository import SAMPLES
from test_actors import CASES as ACTORS, write_files

from mbcli.log.fields import NAMES

ALL = ",".join(name for name in NAMES if name not in ("tracking", "targets"))
DEFORMABLE = "energy,poses,vertices,contact,solver"
FLIES = ["--at", "quadruped_trunk_z=0.3", "--at", "quadruped_trunk_vx=1"]
GROUND = ["quadruped.urdf", "--ground", "--hold"]
SAMPLE_RUNS = {
    "pendulum": ["pendulum.sdf", "--at", "hinge=1"],
    **{
        f"arm, {name}": ["arm7.urdf", "--integrator", name, "--u", "1,2,3,.4,.5,.6,.7"]
        for name in (
            "runge_kutta2",
            "runge_kutta3",
            "runge_kutta5",
            "bogacki_shampine3",
            "explicit_euler",
            "semi_explicit_euler",
            "implicit_euler",
            "radau1",
            "radau3",
        )  # fmt: skip
    },
    "arm at limits": ["arm7.urdf", "--hold", "--velocity-limits", "clamp", "--kp", "30", "--kd", "1"],
    "cart": ["cart_pole.sdf", "--dt", "0", "--at", "slider_v=1"],
    "all joints": ["all_joints.sdf"],
    "loop": ["closed_chains/andrews.urdf"],
    "loop, continuous": ["closed_chains/four_bar.urdf", "--dt", "0"],
    "loop of MJCF": ["closed_chains/closed_leg.xml"],
    "platform": ["closed_chains/stewart_platform.sdf"],
    **{f"stands, {law}": [*GROUND, "--contact-approximation", law] for law in ("lagged", "sap", "similar", "tamsi")},
    "lands": [*GROUND, *FLIES, "--start-limits", "warn"],
    "stands in continuous time": ["quadruped.urdf", "--ground", "--dt", "0", "--max-step", "1e-3", "-t", "0.001"],
    "falls asleep": [*GROUND, "--sleep", "10"],
    "herd": ["herd.dmd.yaml"],
    "scenario": ["swing.scenario.yaml", "--scenario-name", "Steps", "--log-rate", "500"],
    "rover": ["worlds/diff_drive.sdf"],
    "rotors": ["worlds/quadrotor.sdf", "--u", "600,610,620,630"],
    "bounce": ["worlds/bounce.sdf", "--at", "ball_0_ball_z=0.05"],
    "bar": ["deformable/hanging_bar.sdf", "-t", "0.002", "--fields", DEFORMABLE],
    "sponge": ["deformable/sponge.sdf", "-t", "0.002", "--fields", DEFORMABLE],
}
FILES = {kind: {"urdf": "m.urdf", "sdf": "m.sdf", "mjcf": "m.xml"}[kind] for kind in ("urdf", "sdf", "mjcf")}
BESIDE = ("checkpoint/", "run/", "model/", "solver/")  # by the clock; bytes of files; how a search went


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def run(folder, model, *words):
    """{dataset: numbers} of a run of 4 ms, with its warnings."""
    out = folder / "out.h5"
    for option, value in (("-t", "0.004"), ("--fields", ALL), ("--log-rate", "1000")):
        words = words if option in words else (*words, option, value)
    result = cli("simulate", model, *words, "-o", out)
    assert result.code == 0, result.err
    return {"warnings": result.err.replace(str(folder), "").replace(str(SAMPLES), "")} | rows(out)


def rows(log):
    """{dataset: numbers} of a log."""
    found = {}

    def note(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu" and not name.startswith(BESIDE):
            found[name] = item[...].astype(float)

    with h5py.File(log) as file:
        file.visititems(note)
    return found


@pytest.mark.parametrize("name", SAMPLE_RUNS)
def test_a_sample_model_runs_as_recorded(name, tmp_path):
    model, *words = SAMPLE_RUNS[name]
    same_as_recorded(__file__, name, run(tmp_path, SAMPLES / model, *words))


@pytest.mark.parametrize("name", [name for name, case in ELEMENTS.items() if not isinstance(case.model, str)])
def test_a_force_element_acts_as_recorded(name, tmp_path):
    text, kind = ELEMENTS[name].model
    model = tmp_path / FILES[kind]
    model.write_text(text)
    words = [word for pair in ELEMENTS[name].at.items() for word in ("--at", "{}={}".format(*pair))]
    same_as_recorded(__file__, name, run(tmp_path, model, *words))


@pytest.mark.parametrize("name", TEXTS)
def test_what_touches_moves_as_recorded(name, tmp_path):
    text, words = TEXTS[name]
    model = tmp_path / FILES["mjcf" if text.startswith("<mujoco") else "sdf"]
    model.write_text(text)
    same_as_recorded(__file__, name, run(tmp_path, model, *words))


def test_everything_that_mjcf_has_acts_as_recorded(tmp_path):
    (tmp_path / "m.xml").write_text(ALL_OF_MJCF)
    same_as_recorded(
        __file__,
        "all of MJCF",
        run(tmp_path, tmp_path / "m.xml", "--at", "jb=0.3", "--at", "jd=0.1", "--log-rate", "500"),
    )


@pytest.mark.parametrize("name", ACTORS)
def test_what_acts_in_a_run_acts_as_recorded(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    text, words = ACTORS[name]
    (tmp_path / "m.sdf").write_text(text)
    words = [word.replace("from 0.01 to 0.04", "from 0.001 to 0.003") for word in words]
    found = run(tmp_path, tmp_path / "m.sdf", *words)
    same_as_recorded(__file__, name, found)
    given = words if words and words[0] in ("--trajectory", "--controller") else ()  # which no log may ask for
    again = cli("simulate", "--resume", tmp_path / "out.h5", "-t", 0.006, *given)
    assert again.code == 0, again.err
    same_as_recorded(__file__, f"{name}, behind a break", rows(tmp_path / "out.h5"))


def test_a_run_with_a_bushing_has_no_energy_and_ends_well(tmp_path):
    (tmp_path / "m.urdf").write_text(ELEMENTS["bushing"].model[0])
    result = cli("simulate", tmp_path / "m.urdf", "-t", 0.002, "--no-log", "--json")
    assert (result.code, result.json()["energy_start"], result.json()["energy_drift"]) == (0, None, None)
