"""A floating base on which no file says what forces act: samples in flight count alone, and there must be some."""

import json

import numpy as np
import pytest
from command_line import cli
from measured_motion import harmonics, otherwise, plant_of, write_csv
from repository import SAMPLES

from mbcli.identification.identify import Settings, identify
from mbcli.identification.subject import Subject

G = 9.81
RATE, STAND, FLY = 500.0, 0.6, 0.5  # [1/s, s, s]


@pytest.fixture(scope="module")
def quadrupeds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quadrupeds")
    text = (SAMPLES / "quadruped.urdf").read_text()
    (folder / "file.urdf").write_text(text)
    (folder / "true.urdf").write_text(otherwise(text))
    return folder, plant_of(folder / "file.urdf"), plant_of(folder / "true.urdf")


def hopping(true, hops, flies=True):
    """Columns, and q, v, vdot, of a robot that stands on feet, whose forces nobody measures, and flies.

    Its legs move all the time. In flight nothing acts on the base, whose acceleration follows; on the ground it is
    where it is, and contact forces act on all joints as they like.
    """
    nv, rng = true.num_velocities(), np.random.default_rng(3)
    count = int(hops * (STAND + FLY) * RATE)
    t, ql, vl, al = harmonics(count, nv - 6, 4, seconds=count / RATE, most=8, size=0.15)
    q, v, vdot, tau = np.zeros((count, nv + 1)), *np.zeros((3, count, nv))
    q[:, 0], q[:, 7:], v[:, 6:], vdot[:, 6:] = 1.0, ql - 0.9, vl, al
    context, h = true.CreateDefaultContext(), 1.0 / RATE
    state_q, state_v = np.r_[1.0, np.zeros(5), 0.4], np.zeros(6)
    for k in range(count):
        in_air = flies and (k / RATE) % (STAND + FLY) >= STAND
        if not in_air:
            state_q, state_v = np.r_[1.0, np.zeros(5), 0.4], np.zeros(6)
        elif not state_v.any():
            state_v = np.r_[rng.normal(size=3) * 0.7, 0.3, 0.0, 0.5 * G * FLY]
        q[k, :7], v[k, :6] = state_q, state_v
        true.SetPositions(context, q[k])
        true.SetVelocities(context, v[k])
        if in_air:
            M = np.array(true.CalcMassMatrix(context))
            rest = np.array(true.CalcRequiredForces(context, vdot[k]))
            vdot[k, :6] = np.linalg.solve(M[:6, :6], -rest[:6])
        tau[k] = true.CalcRequiredForces(context, vdot[k])
        if in_air:
            middle = state_v + 0.5 * h * vdot[k, :6]
            true.SetVelocities(context, np.r_[middle, v[k, 6:]])
            rate = np.array(true.MapVelocityToQDot(context, np.r_[middle, v[k, 6:]]))[:7]
            state_q, state_v = state_q + h * rate, state_v + h * vdot[k, :6]
            state_q[:4] /= np.linalg.norm(state_q[:4])
        else:
            tau[k, 6:] += 5.0 * rng.normal(size=nv - 6)
    columns = {"time": t[0] + np.arange(count) * h}
    columns |= {f"q:{name}": q[:, k] for k, name in enumerate(true.GetPositionNames())}
    for field, values in (("v", v), ("vdot", vdot), ("tau", tau)):
        first = 6 if field == "tau" else 0
        columns |= {f"{field}:{name}": values[:, k] for k, name in enumerate(true.GetVelocityNames()) if k >= first}
    return columns, q, v, vdot


def test_phases_in_flight_bring_back_what_motion_shows(quadrupeds, tmp_path):
    folder, plant, true = quadrupeds
    columns, q, v, vdot = hopping(true, 4)
    path = write_csv(tmp_path / "hops.csv", columns)
    result = identify(plant, [path], settings=Settings(frictions=(), armature=False))
    (note,) = [f for f in result.findings if f.code == "DATA_CARRIED"]
    assert note.severity == "note" and note.message.startswith(("45", "46", "44"))
    assert result.figures["after"] < 1e-3 < 0.05 < result.figures["before"]
    seen = np.flatnonzero(np.arange(len(q)) / RATE % (STAND + FLY) >= STAND)[::20]
    found = result.subject.columns(q[seen], v[seen], vdot[seen]) @ result.x
    truth = Subject(true, frictions=(), armature=False).x0
    exact = result.subject.columns(q[seen], v[seen], vdot[seen]) @ truth
    np.testing.assert_allclose(found, exact, atol=1e-3 * np.abs(exact).max())


def test_a_base_that_is_always_carried_is_an_error_that_says_what_would_do(quadrupeds, tmp_path):
    folder, _, true = quadrupeds
    columns, *_ = hopping(true, 2, flies=False)
    path = write_csv(tmp_path / "stands.csv", columns)
    result = cli("identify", folder / "file.urdf", "--floating", "--data", path, "--json")
    assert result.code == 3
    assert "something carries the base in all samples" in result.err and "record motion in flight" in result.err
    zero = columns | {f"tau:{name}": np.zeros(len(columns["time"])) for name in true.GetVelocityNames()[:6]}
    again = cli("identify", folder / "file.urdf", "--floating", "--data", write_csv(tmp_path / "zero.csv", zero))
    assert again.code == 3 and "something carries the base" in again.err


def test_positions_alone_are_filtered_and_ends_of_flight_are_left_out(quadrupeds, tmp_path):
    folder, _, true = quadrupeds
    columns, *_ = hopping(true, 6)
    columns = {name: values for name, values in columns.items() if not name.startswith(("v:", "vdot:"))}
    path = write_csv(tmp_path / "hops.csv", columns)
    words = ("--floating", "--data", path, "--friction", "none", "--no-armature", "--cutoff", "25", "--json")
    result = cli("identify", folder / "file.urdf", *words)
    document = json.loads(result.out)
    notes = [f["message"] for f in document["findings"] if f["code"] == "DATA_CARRIED"]
    assert len(notes) == 1 and 20 < float(notes[0].split()[0]) < 46
    assert document["errors"]["after"] < 0.5 * document["errors"]["before"]
