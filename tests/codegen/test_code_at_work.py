"""Generated code in the programs that the documents show."""

import json
import subprocess
import sys

import numpy as np
import pytest
from command_line import succeed
from repository import ROOT, SAMPLES

from mbcli.codegen import c_compiler
from mbcli.models.loading import load_model

EXAMPLES = ROOT / "docs" / "examples"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.mark.skipif(c_compiler.find_compiler() is None, reason="there is no C compiler")
def test_a_controller_in_c_answers_as_the_plant_does(tmp_path):
    arm = SAMPLES / "arm7.urdf"
    succeed("codegen", arm, "--proof-states", 2, "-o", tmp_path / "arm")
    program = tmp_path / "hold"
    sources = [EXAMPLES / "codegen" / "hold.c", tmp_path / "arm" / "arm7.c"]
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", tmp_path / "arm"]
    subprocess.run([*c_compiler.find_compiler(), *flags, *sources, "-lm", "-o", program], check=True)
    random, lines = np.random.default_rng(0), ['{"mbcli_controller": 1}']
    states = random.normal(size=(3, 2, 7))
    lines += [json.dumps({"time": 0.0, "q": q.tolist(), "v": v.tolist()}) for q, v in states]
    done = subprocess.run([program], input="\n".join([*lines, '{"save": true}']), capture_output=True, text=True)
    first, *answers, saved = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 0 and first == {"ready": True} and saved == {"state": None}
    plant = load_model(arm, dt=0.0).plant
    context = plant.CreateDefaultContext()
    for (q, v), answer in zip(states, answers, strict=True):
        plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
        vdot = 400.0 * (states[0, 0] - q) - 40.0 * v
        damping = plant.model.dof_damping * v
        gravity = plant.CalcGravityGeneralizedForces(context)
        wanted = plant.CalcMassMatrix(context) @ vdot + plant.CalcBiasTerm(context) - gravity + damping
        np.testing.assert_allclose(answer["u"], wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


def test_a_planned_swing_up_obeys_the_equations_of_motion(tmp_path):
    pytest.importorskip("casadi")
    acrobot = EXAMPLES / "acrobot.urdf"
    words = ["--functions", "forward_dynamics", "--to", "casadi", "--proof-states", 2]
    succeed("codegen", acrobot, *words, "-o", tmp_path / "code")
    script = [sys.executable, EXAMPLES / "codegen" / "swing_up.py", tmp_path / "code", tmp_path / "plan.csv"]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    plan = np.loadtxt(tmp_path / "plan.csv", delimiter=",", skiprows=1)
    time, q, v, u = plan[:, 0], plan[:, 1:3], plan[:, 3:5], plan[:, 5]
    np.testing.assert_allclose(q[[0, -1]], [[0.0, 0.0], [np.pi, 0.0]], atol=1e-6)
    plant = load_model(acrobot, dt=0.0).plant
    context, vdot = plant.CreateDefaultContext(), np.empty_like(v)
    for k in range(len(time)):
        plant.SetPositionsAndVelocities(context, np.concatenate([q[k], v[k]]))
        forces = plant.CalcGravityGeneralizedForces(context) - plant.CalcBiasTerm(context) + [0.0, u[k]]
        vdot[k] = np.linalg.solve(plant.CalcMassMatrix(context), forces)
    gained = 0.5 * np.diff(time)[:, None] * (vdot[1:] + vdot[:-1])
    np.testing.assert_allclose(np.diff(v, axis=0), gained, rtol=0, atol=1e-6)
