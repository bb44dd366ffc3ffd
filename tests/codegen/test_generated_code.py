"""Code of models: it is compiled and run, gives what kernels give, and is not left where it does not."""

import json
import os
import re
import subprocess

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.codegen import Settings, c_code, c_compiler, c_parts, generate, jax_code, statements
from mbcli.codegen.code import harmless, identifier
from mbcli.codegen.generation import expected_operations
from mbcli.codegen.proof import Proof, States, require_proved
from mbcli.errors import NumericalError
from mbcli.models.loading import load_model
from mbcli.tracing import MODEL_FUNCTIONS, record_function

ARM = SAMPLES / "double_pendulum.urdf"
ALL = [f"{name}:lower" if function.of == "frame" else name for name, function in MODEL_FUNCTIONS.items()]
with_compiler = pytest.mark.skipif(c_compiler.find_compiler() is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def context_of(path, **settings):
    plant = load_model(path, dt=0.0, **settings).plant
    return plant.CreateDefaultContext()


@with_compiler
@pytest.mark.parametrize(("real", "limit"), [("double", 1e-12), ("float", 1e-5)])
def test_c_gives_what_kernels_give_and_a_proof_lies_beside_it(real, limit, tmp_path):
    folder = tmp_path / "arm"
    words = ["codegen", ARM, "--functions", ",".join(ALL), "--real", real, "--proof-states", 50, "-o", folder, "--json"]
    printed = json.loads(succeed(*words).out)
    names = {
        "CMakeLists.txt",
        "proof.json",
        *(f"double_pendulum{end}" for end in (".h", ".hpp", ".c", ".json", "_states.txt")),
    }
    assert set(os.listdir(folder)) == names | {"test_double_pendulum.c"}
    proof = json.loads((folder / "proof.json").read_text())
    assert proof["proved"] and len(proof["functions"]) == len(ALL) == len(printed["functions"])
    assert all(0.0 <= each["deviation"] <= limit and each["states"] == 50 for each in proof["functions"])
    table = json.loads((folder / "double_pendulum.json").read_text())
    assert table["velocity_names"] == printed["velocity_names"]
    assert table["functions"][0]["inputs"][0] == {"name": "q", "shape": [2], "words": "positions [rad, m, 1]"}
    source = (folder / "double_pendulum.c").read_text()
    assert "malloc" not in source and "for (" not in source and "static" not in source


@with_compiler
@pytest.mark.parametrize("whole", [c_parts.WHOLE, 100])
def test_c_is_strict_and_is_c_plus_plus_too(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(c_parts, "WHOLE", whole)
    generate(context_of(SAMPLES / "all_joints.sdf"), ["mass_matrix"], str(tmp_path / "c"), Settings(states=2))
    compiler = c_compiler.find_compiler()
    for more in (["-std=c99", "-pedantic", "-Wconversion", "-Wmissing-prototypes"], ["-x", "c++"]):
        command = [*compiler, *more, "-Wall", "-Wextra", "-Werror", "-c", "model.c", "-o", "model.o"]
        done = subprocess.run(command, cwd=tmp_path / "c", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@with_compiler
def test_c_in_parts_of_bounded_size_gives_the_same_numbers(tmp_path, monkeypatch):
    context, proofs = context_of(SAMPLES / "arm7.urdf"), []
    for size in (None, 100, 30):
        if size:
            monkeypatch.setattr(c_parts, "WHOLE", size)
            monkeypatch.setattr(c_parts, "PART", size)
        asked = ["inverse_dynamics", "gravity", "position_rates"]
        proofs.append(generate(context, asked, str(tmp_path), Settings(states=3), force=True).proofs)
        source = (tmp_path / "model.c").read_text()
        parts = re.findall(r"^void model_\w+_part_\d+\([^)]*\)\n{\n(.*?)^}", source, flags=re.DOTALL | re.MULTILINE)
        own = [[line for line in part.splitlines() if "work[" not in line] for part in parts]
        assert bool(own) == bool(size) and all(len(part) <= size for part in own)
    for whole, *others in zip(*proofs, strict=True):
        assert all(whole.deviation == other.deviation <= 1e-12 for other in others)  # the same operations
    (work,) = (int(size) for size in re.findall(r"inverse_dynamics\([^)]*\)\n{\n    double work\[(\d+)\];", source))
    assert work < 100 and (proofs[-1][0].more["stack"] or np.inf) >= 8 * work


@with_compiler
def test_parts_between_which_nothing_crosses_share_no_array(tmp_path, monkeypatch):
    monkeypatch.setattr(c_parts, "WHOLE", 1)
    monkeypatch.setattr(c_parts, "PART", 1)
    generate(context_of(ARM), ["position_rates"], str(tmp_path), Settings(states=2))
    source = (tmp_path / "model.c").read_text()
    assert "model_position_rates_part_2(v, qdot);" in source and "work" not in source


@with_compiler
def test_the_test_of_the_code_fails_if_the_code_is_changed(tmp_path):
    folder = tmp_path / "c"
    generate(context_of(ARM), ["gravity"], str(folder), Settings(states=5))
    source = (folder / "model.c").read_text()
    (folder / "model.c").write_text(source.replace("9.81", "9.82"))
    assert source.count("9.81") > 0
    program = c_compiler.compile_program(str(folder), ["test_model.c", "model.c"], "test")
    done = subprocess.run([program.path, "model_states.txt"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.startswith("gravity 5 ")


@pytest.mark.parametrize("target", ["python", pytest.param("c", marks=with_compiler)])
def test_code_that_is_wrong_is_not_left(target, tmp_path, monkeypatch):
    monkeypatch.setitem(statements.SYMBOLS, "sub", "+")
    folder = tmp_path / "code"
    result = cli("codegen", ARM, "--to", target, "--proof-states", 5, "-o", folder)
    assert result.code == 5 and "is not proved: inverse_dynamics deviates by" in result.err
    assert len(result.err.splitlines()) == 1 and not folder.exists()


def test_python_takes_many_states_at_once(tmp_path):
    context = context_of(ARM)
    generate(context, ALL, str(tmp_path), Settings(target="python", states=5))
    names = {}
    exec((tmp_path / "model.py").read_text(), names)
    random = np.random.default_rng(0)
    q, v, vdot = random.normal(size=(3, 4, 5, 2))
    many = names["inverse_dynamics"](q, v, vdot)
    assert many.shape == (4, 5, 2)
    np.testing.assert_array_equal(many[2, 3], names["inverse_dynamics"](q[2, 3], v[2, 3], vdot[2, 3]))
    assert names["jacobian_lower"](q).shape == (4, 5, 6, 2)
    kinetic, potential = names["energy"](q, v[0, 0])
    assert kinetic.shape == potential.shape == (4, 5, 1)


@pytest.mark.parametrize("target", ["casadi", "jax"])
def test_casadi_and_jax_give_what_kernels_give(target, tmp_path):
    pytest.importorskip(target)
    asked = ["inverse_dynamics", "pose:lower", "energy"]
    made = generate(context_of(ARM), asked, str(tmp_path), Settings(target=target, states=5, derivatives=True))
    assert len(made.proofs) == 6 and all(proof.deviation <= 1e-12 for proof in made.proofs)


def test_a_loop_of_jax_does_what_straight_code_does(tmp_path, monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(jax_code, "STRAIGHT", 0)
    context = context_of(SAMPLES / "quadruped.urdf")  # with quotients, roots, and functions between two loops
    asked = ["forward_dynamics", "pose:trunk"]
    made = generate(context, asked, str(tmp_path), Settings(target="jax", states=5, derivatives=False))
    assert all(proof.deviation <= 1e-11 for proof in made.proofs)
    names = {}
    exec((tmp_path / "model.py").read_text(), names)
    assert "_rounds(x, " in (tmp_path / "model.py").read_text()
    q = np.array(context.state.q)
    with jax.enable_x64(True):
        X = jax.jit(jax.jacobian(lambda q: names["pose_trunk"](q)[:3, 3]))(q)
    np.testing.assert_allclose(X[:, 4:7], np.eye(3), atol=1e-14)


@pytest.mark.parametrize("target", ["casadi", "jax"])
def test_a_target_whose_package_is_missing_names_the_extra(target, tmp_path, monkeypatch):
    monkeypatch.setattr("mbcli.common.extra_packages.find_spec", lambda name: None)
    result = cli("codegen", ARM, "--to", target, "-o", tmp_path / "code")
    assert result.code == 4 and f"pip install 'mbcli[{target}]'" in result.err
    assert not (tmp_path / "code").exists()


def test_derivatives_are_proved_by_complex_steps_and_their_zeros_are_told(tmp_path):
    settings = Settings(target="python", derivatives=True, states=3)
    made = generate(context_of(SAMPLES / "quadruped.urdf"), ["gravity", "jacobian:trunk"], str(tmp_path), settings)
    told = {each["name"]: each for each in made.functions}
    assert all(proof.deviation <= 1e-12 for proof in made.proofs) and len(made.proofs) == 4
    sparsity = told["gravity_partials"]["sparsity"]["dtau_g_dq"]
    assert 0 < len(sparsity["rows"]) < 18 * 19 / 2
    assert told["jacobian_trunk_partials"]["outputs"][0]["shape"] == [6, 18, 19]


def test_without_a_compiler_code_is_left_and_said_not_to_be_proved(tmp_path, monkeypatch):
    monkeypatch.setattr(c_code, "compile_program", lambda *words: None)
    result = succeed("codegen", ARM, "--functions", "gravity", "--proof-states", 2, "-o", tmp_path / "c")
    assert "no C compiler here: the code was not compiled, and is not proved" in result.err
    assert json.loads((tmp_path / "c" / "proof.json").read_text())["proved"] is False


def test_files_that_are_there_stay_unless_force_is_said(tmp_path):
    words = ["codegen", ARM, "--functions", "gravity", "--to", "python", "--proof-states", 2, "-o", tmp_path]
    succeed(*words)
    before = (tmp_path / "proof.json").read_bytes()
    refused = cli(*words)
    assert refused.code == 6 and "exists already; --force replaces it" in refused.err
    succeed(*words, "--force")
    assert (tmp_path / "proof.json").read_bytes() == before  # the states are those of the seed


def test_names_of_files_become_names_of_code(tmp_path):
    assert [identifier(text) for text in ("7 arm-ß", "while", "", "jacobian:tool tip", "class")] == [
        "m_7_arm",
        "m_while",
        "model",
        "jacobian_tool_tip",
        "m_class",
    ]
    assert harmless('a */ b """ c \\ é') == "a ? b ? c ? ?"
    urdf = tmp_path / "names.urdf"
    urdf.write_text(ARM.read_text().replace('"double_pendulum"', '"2*/ while"').replace('"elbow"', '"el*/bow"'))
    succeed("codegen", urdf, "--functions", "gravity", "--to", "python", "--proof-states", 2, "-o", tmp_path / "code")
    assert (tmp_path / "code" / "m_2_while.py").exists()


def test_models_and_functions_that_cannot_be_written_are_refused_in_one_line(tmp_path, monkeypatch):
    folder = tmp_path / "code"
    loop, massless = SAMPLES / "closed_chains" / "four_bar.urdf", tmp_path / "massless.urdf"
    massless.write_text(re.sub(r"<inertial>.*?</inertial>", "", ARM.read_text(), flags=re.DOTALL))
    for words, code, says in (
        ((massless, "--functions", "forward_dynamics"), 3, "forward_dynamics: has no finite values"),
        ((massless, "--functions", "mass_matrix_factor"), 3, "mass_matrix_factor: has no finite values"),
        ((loop, "--functions", "forward_dynamics"), 3, "forward_dynamics: the model has constraints"),
        ((SAMPLES / "deformable" / "sponge.sdf",), 3, "codegen is for rigid bodies"),
    ):
        result = cli("-q", "codegen", *words, "-o", folder)
        assert result.code == code and says in result.err and len(result.err.splitlines()) == 1, result.err
    monkeypatch.setattr("mbcli.codegen.generation.TOO_LARGE", 500)
    result = cli("codegen", ARM, "-o", folder)
    assert result.code == 3 and "the code would have about 960 operations, of 500 at most" in result.err
    assert not folder.exists()


def test_a_proof_asks_for_no_more_digits_than_the_mass_matrix_leaves(tmp_path):
    urdf = tmp_path / "uneven.urdf"
    urdf.write_text(re.sub(r'<mass value="[^"]*"', '<mass value="1e9"', ARM.read_text(), count=1))
    words = (
        "codegen",
        urdf,
        "--functions",
        "forward_dynamics,inverse_dynamics",
        "--to",
        "python",
        "-o",
        tmp_path / "a",
    )
    result = succeed(*words, "--proof-states", 20)
    assert "forward_dynamics is proved to" in result.err and "inverse_dynamics is proved" not in result.err
    proofs = {each["name"]: each for each in json.loads((tmp_path / "a" / "proof.json").read_text())["functions"]}
    assert proofs["inverse_dynamics"]["tolerance"] == 1e-12
    assert 1e-9 < proofs["forward_dynamics"]["tolerance"] <= 1e-6
    assert proofs["forward_dynamics"]["deviation"] <= proofs["forward_dynamics"]["tolerance"]


def test_the_growth_is_told_before_it_starts(tmp_path, monkeypatch):
    monkeypatch.setattr("mbcli.codegen.generation.LARGE", 500)
    words = ["codegen", ARM, "--to", "python", "--proof-states", 2, "-o", tmp_path / "code"]
    assert "inverse_dynamics becomes about 960 operations" in succeed(*words).err
    for path in (ARM, SAMPLES / "quadruped.urdf", SAMPLES / "arm7.urdf"):
        model = context_of(path).state.model
        for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
            assert record_function(name, model).num_operations <= expected_operations(model, name, False)


def test_a_function_that_c_lacks_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("mbcli.codegen.c_code.SIN", "sine")
    result = cli("codegen", ARM, "--functions", "gravity", "--proof-states", 2, "-o", tmp_path / "c")
    assert result.code == 3 and "gravity: C cannot hold this model: its forces need sin()" in result.err


def test_numbers_that_are_none_are_no_proof(tmp_path):
    made = generate(context_of(ARM), ["gravity"], str(tmp_path), Settings(target="python", states=2, title="my arm"))
    assert sorted(map(os.path.basename, made.files)) == ["my_arm.json", "my_arm.py", "proof.json"]
    with pytest.raises(NumericalError, match="not proved"):
        require_proved([Proof("f", 1, float("nan"))], {"f": States([], [], 1e-12)})
    assert States([np.zeros((1, 2))], [np.ones((1, 2))], 1e-12).deviation([np.full((1, 2), np.nan)]) == np.inf
