"""Springs and Stribeck friction come back, and every format of data gives the same parameters."""

import json
import sys
import zlib
from dataclasses import replace

import numpy as np
import pytest
from command_line import cli
from measured_motion import drawn_states, forces, measured_columns, plant_of, write_csv, write_npz
from repository import ROOT, SAMPLES

from mbcli.identification.identify import Settings, identify

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.identification_sets import BASE, SECONDS, Arm, harmonics, recorded

MODEL = """<mujoco model="m"><worldbody><body name="a"><joint name="one" axis="0 1 0" stiffness="{k}" springref="0"/>
  <inertial pos="0 0 -0.2" mass="{m}" diaginertia="0.02 0.02 0.001"/></body></worldbody></mujoco>
"""


def test_the_stiffness_of_a_spring_comes_back_and_is_written(tmp_path):
    (tmp_path / "true.xml").write_text(MODEL.format(k=7.0, m=1.2))
    (tmp_path / "file.xml").write_text(MODEL.format(k=3.0, m=1.0))
    true = plant_of(tmp_path / "true.xml")
    q, v, vdot = drawn_states(true, 200, 1)
    data = write_npz(tmp_path / "a.npz", q, v, vdot, forces(true, q, v, vdot))
    words = ["--friction", "stiffness", "--no-armature", "--json", "-o", str(tmp_path / "out.xml")]
    result = cli("identify", str(tmp_path / "file.xml"), "--data", data, *words)
    assert result.code == 0, result.err
    (found,) = (p for p in json.loads(result.out)["parameters"] if p["kind"] == "stiffness")
    assert (found["old"], found["new"]) == (3.0, pytest.approx(7.0, rel=1e-6))
    assert plant_of(tmp_path / "out.xml").elements.force_elements[-1].default_of("stiffness") == pytest.approx(
        7.0, rel=1e-6
    )


def test_stribeck_friction_comes_back_with_the_speed_at_which_it_falls(tmp_path):
    plant = plant_of(SAMPLES / "arm7.urdf", weld_base=True)
    q, v, vdot = drawn_states(plant, 1500, 2)
    usual = np.percentile(np.abs(v), 90.0, axis=0)
    stribeck = np.sign(v) * (2.0 + 1.5 * np.exp(-((v / (0.25 * usual)) ** 2)))
    data = write_npz(tmp_path / "a.npz", q, v, vdot, forces(plant, q, v, vdot) + stribeck)
    result = identify(plant, [data], settings=Settings(frictions=("viscous", "coulomb", "stribeck")))
    assert result.subject.stribeck_speed == pytest.approx(0.25 * usual, rel=1e-9)
    found = {p.name: value for p, value in zip(result.subject.parameters, result.x, strict=True)}
    for k in range(1, 8):
        assert found[f"joint_{k}.coulomb"] == pytest.approx(2.0, abs=1e-3)
        assert found[f"joint_{k}.stribeck"] == pytest.approx(1.5, abs=1e-3)
    plain = identify(plant, [data], settings=Settings(frictions=("viscous", "coulomb")))
    assert result.figures["after"] < plain.figures["after"]


@pytest.mark.parametrize("suffix", ["jsonl", "npz", "parquet", "arrow"])
def test_every_format_gives_the_parameters_of_csv(suffix, tmp_path):
    columns = measured_columns(SAMPLES / "arm7.urdf", 600, 6.0)
    plant = plant_of(SAMPLES / "arm7.urdf", weld_base=True)
    text = write_csv(tmp_path / "a.csv", columns)
    names = {"q": plant.GetPositionNames(), "v": plant.GetVelocityNames(), "tau": plant.GetVelocityNames()}
    arrays = {f: np.column_stack([columns[f"{f}:{n.removeprefix('arm7_')}"] for n in of]) for f, of in names.items()}
    path = tmp_path / f"a.{suffix}"
    if suffix == "npz":
        np.savez(path, time=columns["time"], **arrays)
    elif suffix == "jsonl":
        rows = [{name: float(values[k]) for name, values in columns.items()} for k in range(len(columns["time"]))]
        path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.table(columns)
        if suffix == "parquet":
            __import__("pyarrow.parquet").parquet.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
    settings = Settings(frictions=("viscous",))
    wanted, found = (identify(plant, [str(p)], settings=settings) for p in (text, path))
    assert found.x == pytest.approx(wanted.x, rel=1e-3, abs=1e-5)  # nine digits of the text


def test_a_log_of_a_run_is_data(tmp_path):
    time = np.arange(0.0, 4.0, 0.005)
    u = 2.0 * np.sin(3.0 * time) + np.sin(7.0 * time)
    rows = np.column_stack((time, u))
    np.savetxt(tmp_path / "u.csv", rows, delimiter=",", header="time,elbow", comments="")
    model, log = str(SAMPLES / "double_pendulum.urdf"), str(tmp_path / "a.h5")
    run = cli("simulate", model, "-t", "4", "--input", str(tmp_path / "u.csv"), "--log-rate", "200", "-o", log)
    assert run.code == 0, run.err
    words = ["--set", "body.lower.mass=0.9", "--friction", "none", "--no-armature", "--json"]
    result = cli("identify", model, "--data", log, *words)
    assert result.code == 0, result.err
    errors = json.loads(result.out)["errors"]
    assert errors["after"] < 0.1 < 0.2 < errors["before"]


LAWS = {  # friction of a joint, by v, its usual speed u, and its size c
    "viscous": lambda v, u, c: c * v / u,
    "coulomb": lambda v, u, c: c * (np.sign(v) + 0.5 * v / u),
    "stribeck": lambda v, u, c: c * np.sign(v) * (1.0 + np.exp(-((v / (0.2 * u)) ** 2))) + 0.5 * c * v / u,
    "sqrt": lambda v, u, c: c * (np.sign(v) * np.sqrt(np.abs(v) / u) + 0.5 * v / u),
}
ALL_BUT_FIRST = slice(1, None)  # the first joint of this arm has no weight, and hardly an effort


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    return Arm(4, str(tmp_path_factory.mktemp("arm")))


def with_friction(arm, seed, laws, noise=0.01):
    """A recording of an arm whose joints have these laws of friction."""
    r = recorded(arm, f"friction {seed}")
    _, q, v, vdot = harmonics(arm, zlib.crc32(f"friction {seed}".encode()), SECONDS, BASE, len(r.time))
    tau = arm.efforts(q, v, vdot) - arm.viscous * v - arm.coulomb * np.sign(v)
    usual = np.percentile(np.abs(v), 90.0, axis=0)
    size = 0.2 * np.sqrt((tau**2).mean(axis=0))
    tau = tau + np.stack([LAWS[law](v[:, k], usual[k], size[k]) for k, law in enumerate(laws)], axis=1)
    return replace(r, tau=tau + noise * np.sqrt((tau**2).mean(axis=0)) * r.rng.normal(size=tau.shape))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("true", LAWS)
def test_the_true_law_of_friction_is_chosen_or_named_as_one_that_cannot_be_told_apart(true, seed, arm, tmp_path):
    with_friction(arm, seed, [true] * 4).write(tmp_path / "a.csv")
    laws = identify(arm.plant, [str(tmp_path / "a.csv")], settings=Settings(by_evidence=True)).laws
    assert all(true in (law.law, *law.alike) for law in laws), laws
    assert [law.law for law in laws][ALL_BUT_FIRST] == [true] * 3, laws


def test_each_joint_has_its_own_law_and_unseen_motion_is_predicted_better(arm, tmp_path):
    true = ["coulomb", "stribeck", "sqrt", "viscous"]
    for seed, name in ((3, "a.csv"), (4, "b.csv")):
        with_friction(arm, seed, true).write(tmp_path / name)
    data, unseen = [str(tmp_path / "a.csv")], [str(tmp_path / "b.csv")]
    found = identify(arm.plant, data, unseen, settings=Settings(by_evidence=True))
    plain = identify(arm.plant, data, unseen)
    assert [law.law for law in found.laws] == true, found.laws
    by_name = dict(zip(found.subject.names, found.x, strict=True))
    assert by_name["j3.coulomb"] == 0.0
    assert [n for n in by_name if n.endswith(("sqrt", "stribeck"))] == ["j1.stribeck", "j2.sqrt"]
    before, after = (r.per_velocity(r.validation) for r in (plain, found))
    assert after[1] < 0.8 * before[1] and after[2] < before[2]
    assert found.figures["validation"] < plain.figures["validation"]


def test_where_noise_hides_the_law_the_simpler_one_is_taken_and_the_other_named(arm, tmp_path):
    with_friction(arm, 5, ["stribeck"] * 4, noise=1.0).write(tmp_path / "a.csv")
    laws = identify(arm.plant, [str(tmp_path / "a.csv")], settings=Settings(by_evidence=True)).laws
    assert all(law.law in ("viscous", "coulomb") and "stribeck" in law.alike for law in laws), laws


def test_auto_is_printed_and_names_what_the_file_cannot_hold(arm, tmp_path):
    with_friction(arm, 3, ["coulomb", "stribeck", "sqrt", "viscous"]).write(tmp_path / "a.csv")
    words = [
        "identify",
        arm.path,
        "--data",
        str(tmp_path / "a.csv"),
        "--friction",
        "auto",
        "-o",
        str(tmp_path / "out.urdf"),
    ]
    text = cli(*words, "--report", str(tmp_path / "page.html"))
    assert text.code == 0, text.err
    assert "law of friction" in text.out and "cannot be told from" in text.out
    assert "no place for the stribeck of j1" in text.err and "no place for the sqrt of j2" in text.err
    assert "left out, stribeck" in (tmp_path / "page.html").read_text()
    document = json.loads(cli(*words, "--json", "--force").out)
    assert [law["law"] for law in document["friction"]] == ["coulomb", "stribeck", "sqrt", "viscous"]
    both = cli(*words[:-3], "auto,coulomb")  # without -o
    assert both.code == 2 and "auto chooses coulomb" in both.err
