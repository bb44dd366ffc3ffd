"""ONNX graphs of functions: onnxruntime computes what kernels give, of many states at once."""

import numpy as np
import pytest
from command_line import cli
from repository import SAMPLES

from mbcli.codegen import Settings, generate
from mbcli.codegen.fmi_code import plant_of_unit
from mbcli.models.loading import load_model

ARM = SAMPLES / "double_pendulum.urdf"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.mark.parametrize(("real", "limit"), [("double", 1e-12), ("float", 1e-5)])
def test_graphs_give_what_kernels_give(real, limit, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    context = load_model(ARM, dt=0.0).plant.CreateDefaultContext()
    asked = ["inverse_dynamics", "pose:lower", "energy"]
    made = generate(context, asked, str(tmp_path), Settings("onnx", real, states=5, derivatives=True))
    assert len(made.proofs) == 6 and all(proof.deviation <= limit for proof in made.proofs)
    session = runtime.InferenceSession(str(tmp_path / "model_pose_lower.onnx"), providers=["CPUExecutionProvider"])
    kind = np.float32 if real == "float" else float
    for count in (1, 7):  # constants of the transform become as many as the states are
        assert session.run(None, {"q": np.ones((count, 2), kind)})[0].shape == (count, 4, 4)


def test_limits_are_selections_of_a_graph(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    plant = plant_of_unit(load_model(SAMPLES / "all_joints.sdf", dt=0.0).plant)
    plant.prefers_interpreted = True
    context = plant.CreateDefaultContext()
    generate(context, ["forward_dynamics"], str(tmp_path), Settings("onnx", states=2))
    path = tmp_path / "model_forward_dynamics.onnx"
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    model, q, v = context.state.model, context.state.q.copy(), np.zeros(plant.num_velocities())
    d, side = model.stop_dof[0], model.stop_side[0]
    q[model.dof_q[d]] = model.stop_value[0] - 0.01 * side
    found = session.run(None, {"q": q[None], "v": v[None], "tau": v[None]})[0][0]
    free = load_model(SAMPLES / "all_joints.sdf", dt=0.0).plant
    elsewhere = free.CreateDefaultContext()
    free.SetPositions(elsewhere, q)
    tau = np.zeros(len(v))
    stretch = q[model.dof_q[d]] - model.dof_nominal[d]
    tau[d] = 0.01 * model.stop_constants[0, 0] * side - model.dof_stiffness[d] * stretch
    forces = tau + free.CalcGravityGeneralizedForces(elsewhere)
    wanted = np.linalg.solve(free.CalcMassMatrix(elsewhere), forces - free.CalcBiasTerm(elsewhere))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


def test_numbers_that_are_one_in_single_precision_alone_act(tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    urdf = tmp_path / "turned.urdf"
    text = ARM.read_text()
    assert '<origin xyz="0 0 -1"/>' in text
    urdf.write_text(text.replace('<origin xyz="0 0 -1"/>', '<origin xyz="0 0 -1" rpy="1.5708 0 0"/>'))
    context = load_model(urdf, dt=0.0).plant.CreateDefaultContext()
    (made,) = generate(context, ["mass_matrix"], str(tmp_path), Settings("onnx", states=5)).proofs
    assert made.deviation < 1e-14


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("mbcli.common.extra_packages.find_spec", lambda name: None)
    result = cli("codegen", ARM, "--to", "onnx", "-o", tmp_path / "code")
    assert result.code == 4 and "pip install 'mbcli[onnx]'" in result.err
    assert not (tmp_path / "code").exists()
