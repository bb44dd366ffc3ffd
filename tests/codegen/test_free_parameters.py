"""Parameters that stay free: code at other values is that of the model with these values."""

import json

import numpy as np
import pytest
from command_line import cli
from repository import SAMPLES

from mbcli.codegen import FreeParameters, Settings, generate
from mbcli.models.loading import load_model
from mbcli.models.parameter_assignments import set_parameters

ARM = SAMPLES / "double_pendulum.urdf"
PATHS = ("body.*.mass", "body.upper.com", "body.lower.inertia", "joint.*.damping", "field.gravity.vector.z")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def code_of(loaded, functions, folder, paths, **settings):
    context = loaded.plant.CreateDefaultContext()
    free = FreeParameters(loaded, paths)
    generate(context, functions, str(folder), Settings(target="python", states=5, **settings), free=free, force=True)
    names = {}
    exec((folder / "model.py").read_text(), names)
    return names, json.loads((folder / "model.json").read_text()), free


@pytest.mark.parametrize("path", [ARM, SAMPLES / "quadruped.urdf"])
def test_code_at_other_parameters_is_that_of_the_model_that_has_them(path, tmp_path):
    functions = ["inverse_dynamics", "mass_matrix", "energy", "center_of_mass"]
    paths = PATHS if path is ARM else ("body.trunk.mass", "body.*.com", "joint.*.armature")
    loaded = load_model(path, dt=0.0)
    code, table, free = code_of(loaded, functions, tmp_path, paths)
    assert [each["name"] for each in table["parameters"]] == [each.path for each in free.entries]
    p = free.values * (1.0 + 0.002 * np.arange(len(free.entries))) + 1e-5
    changed = load_model(path, dt=0.0)
    set_parameters(
        changed, {each.path: x for each, x in zip(free.entries, p.tolist(), strict=True) if not _of_free(each)}
    )
    p = np.array([each.value if _of_free(each) else x for each, x in zip(free.entries, p, strict=True)])
    plain = tmp_path / "plain"
    plain.mkdir()
    generate(changed.plant.CreateDefaultContext(), functions, str(plain), Settings(target="python", states=2))
    other = {}
    exec((plain / "model.py").read_text(), other)
    plant, random = loaded.plant, np.random.default_rng(0)
    q, (v, vdot) = plant.GetDefaultPositions(), random.normal(size=(2, plant.num_velocities()))
    q = q + np.r_[np.zeros(len(q) - 2), 0.3, -0.2]
    for name, inputs in (("inverse_dynamics", (q, v, vdot)), ("mass_matrix", (q,)), ("energy", (q, v))):
        for found, wanted in zip(
            np.atleast_1d(code[name](*inputs, p)), np.atleast_1d(other[name](*inputs)), strict=True
        ):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def _of_free(each):
    """Whether it is of a joint of six velocities, which assignments by name leave out."""
    return each.kind == "joint" and each.element.num_velocities() == 6


def test_derivatives_by_parameters_are_proved_too(tmp_path):
    loaded = load_model(ARM, dt=0.001)
    paths = ("body.*.mass", "joint.*.damping")
    code, table, _ = code_of(loaded, ["inverse_dynamics", "step"], tmp_path, paths, derivatives=True)
    partials = next(each for each in table["functions"] if each["name"] == "inverse_dynamics_partials")
    assert [each["name"] for each in partials["outputs"]] == ["dtau_dq", "dtau_dv", "dtau_dvdot", "dtau_dp"]
    q, v, p = np.array([0.3, -0.4]), np.array([1.0, 2.0]), np.array([0.7, 0.4, 0.2, 0.1])
    dtau_dp = code["inverse_dynamics_partials"](q, v, np.zeros(2), p)[3]
    np.testing.assert_allclose(dtau_dp[:, 2:], np.diag(v), atol=1e-15)  # damping times velocity
    linear = code["inverse_dynamics"](q, v, v, p + np.r_[1.0, 1.0, 0.0, 0.0]) - code["inverse_dynamics"](q, v, v, p)
    np.testing.assert_allclose(linear, code["inverse_dynamics_partials"](q, v, v, p)[3][:, :2].sum(axis=1), atol=1e-13)


def test_names_and_defaults_stand_in_the_files(tmp_path):
    words = ["codegen", ARM, "--free", "body.lower.com", "--functions", "gravity", "--proof-states", 3]
    assert cli(*words, "-o", tmp_path / "c").code == 0
    header = (tmp_path / "c" / "double_pendulum.h").read_text()
    assert " * p[2]  body.lower.com.z = -0.4 m" in header and "const double p[3]" in header
    table = json.loads((tmp_path / "c" / "double_pendulum.json").read_text())
    assert table["parameters"][2] == {"name": "body.lower.com.z", "unit": "m", "value": -0.4}


@pytest.mark.parametrize(
    ("paths", "says"),
    [
        (("body.nobody.mass",), "--free body.nobody.mass"),
        (("joint.elbow.lower_limit",), "--free: 'joint.elbow.lower_limit' cannot stay free: body.mass, body.com"),
        (("body.*.mass", "body.lower.mass"), "--free: 'body.lower.mass' is meant twice"),
    ],
)
def test_paths_that_cannot_stay_free_are_refused(paths, says, tmp_path):
    words = [word for path in paths for word in ("--free", path)]
    result = cli("codegen", ARM, *words, "-o", tmp_path / "c")
    assert result.code == 2 and says in result.err and len(result.err.splitlines()) == 1, result.err
    assert not (tmp_path / "c").exists()
