"""Springs and Stribeck friction come back, and every format of data gives the same parameters."""

import json

import numpy as np
import pytest
from command_line import cli
from measured_motion import drawn_states, forces, measured_columns, plant_of, write_csv, write_npz
from repository import SAMPLES

from mbcli.identification.identify import Settings, identify

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
