"""Names of pydrake that are here, and those that are not: these can be imported, not used; scripts that are run."""

import ast
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mbcli.systems.framework
from mbcli.pydrake_equations import EQUAL, equal, with_equations
from mbcli.pydrake_names import PydrakeFinder


def module(name):
    finder = PydrakeFinder()
    made = finder.create_module(finder.find_spec(name))
    finder.exec_module(made)
    return made


def test_a_name_that_is_here_is_the_one_of_mbcli():
    assert module("pydrake.systems.framework").LeafSystem is mbcli.systems.framework.LeafSystem


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("pydrake.systems.framework.FixedInputPortValue", "FixedInputPortValue is not in mbcli"),
        ("pydrake.planning.SceneGraphCollisionChecker", "out of mbcli's scope: motion planning"),
        ("pydrake.systems.sensors.RgbdSensor", "out of mbcli's scope: cameras"),
    ],
)
def test_what_is_not_here_can_be_imported_and_derived_from_but_not_used(path, message):
    place, _, name = path.rpartition(".")
    kind = getattr(module(place), name)

    class Derived(kind):
        def __init__(self):
            super().__init__()

    for use in (lambda: kind(1), Derived, lambda: kind[float]):
        with pytest.raises(ImportError, match=message):
            use()
    for use in (lambda: kind.kMember, lambda: Derived.Make()):
        with pytest.raises(AttributeError, match=message):
            use()
    assert not hasattr(kind, "kMember")
    assert not isinstance(1, kind)


def test_classes_of_a_scalar_type_are_found_and_pickles_of_pydrake_are_read(monkeypatch):
    planning, math = module("pydrake.planning"), module("pydrake.math")
    assert planning.RobotDiagramBuilder_[None] is planning.RobotDiagramBuilder_[float] is planning.RobotDiagramBuilder
    monkeypatch.setitem(sys.modules, "pydrake", module("pydrake"))
    monkeypatch.setitem(sys.modules, "pydrake.math", math)
    matrix = np.hstack([math.RotationMatrix.MakeZRotation(0.3).matrix(), [[1.0], [2.0], [3.0]]])
    for name in ("RigidTransform_[float]", "RigidTransform_𝓣float𝓤"):
        head = b"\x80\x04\x8c\x0cpydrake.math\x8c" + bytes([len(name.encode())]) + name.encode() + b"\x93)\x81"
        read = pickle.loads(head + pickle.dumps(matrix, 2)[2:-1] + b"b.")
        np.testing.assert_array_equal(read.GetAsMatrix34(), matrix)


def test_names_that_pydrake_has_not_are_not_here_either():
    here = module("pydrake.systems.framework")
    assert not hasattr(here, "NoSuchSystem") and not hasattr(here, "annotations")
    with pytest.raises(AttributeError, match="module 'pydrake.systems.framework' has no attribute 'LeafSystm'"):
        here.LeafSystm  # noqa: B018
    assert "FixedInputPortValue" in here.__all__ and "LeafSystem" in here.__all__


@pytest.mark.peers("pydrake")
def test_the_list_of_names_is_that_of_the_installed_pydrake():
    import list_pydrake_names

    assert list_pydrake_names.PATH.read_text(encoding="utf-8") == list_pydrake_names.text()


def test_dunder_names_of_modules_stay_what_they_are():
    with pytest.raises(AttributeError):
        module("pydrake.examples").__wrapped__  # noqa: B018


SCRIPT = """
import os
import sys
import numpy as np
from beside import VALUE
from pydrake.all import MathematicalProgram, Solve

prog = MathematicalProgram()
x = prog.NewContinuousVariables(2, "x")
prog.AddConstraint(x[0] + x[1] == VALUE)
prog.AddLinearEqualityConstraint(2 * x[1] == 0.5)
prog.AddCost(x.dot(x))
result = Solve(prog)
if __name__ == "__main__":
    print(result.is_success(), *np.round(result.GetSolution(x), 9), sys.argv[1:] == ["--fast"], os.path.isabs(__file__))
"""


def test_a_script_runs_as_python_runs_it_and_its_equations_are_formulas(tmp_path):
    (tmp_path / "beside.py").write_text("VALUE = 1\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "mbcli.pydrake", "script.py", "--fast"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "0.75", "0.25", "True", "True"], done.stderr[-2000:]
    (tmp_path / "script.py").write_text("x = 1\nraise ValueError(x == 1)\n")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert 'script.py", line 2' in done.stderr and "ValueError: True" in done.stderr


def test_comparisons_without_expressions_are_those_of_python():
    text = "a == b, a != b, a == b == b, not a == b, [a] == [b], {k: v == 1 for k, v in {1: 1}.items()}"
    program = compile(with_equations(ast.parse(f"found = ({text})")), "script", "exec")
    scope = {"a": 1, "b": 1.0, EQUAL: equal}
    exec(program, scope)
    assert scope["found"] == (True, False, True, False, True, {1: True})
    assert (equal(np.arange(3), 1) == [False, True, False]).all() and equal("a", "a") is True
    sympy = pytest.importorskip("sympy")
    x = sympy.Symbol("x")
    assert equal(x, 1) == sympy.Eq(x, 1) and equal(np.array([x, x]), [1, 2])[1] == sympy.Eq(x, 2)


def test_configurations_are_defaults_of_dataclasses():
    from dataclasses import dataclass

    from mbcli.multibody.plant import MultibodyPlantConfig
    from mbcli.systems.analysis import SimulatorConfig

    @dataclass
    class Scenario:
        plant: MultibodyPlantConfig = MultibodyPlantConfig(time_step=0.01)
        simulator: SimulatorConfig = SimulatorConfig()

    assert Scenario().plant.time_step == 0.01 and Scenario().simulator == SimulatorConfig()


def test_columns_and_vectors_stand_for_each_other():
    from mbcli.systems.controllers import LinearQuadraticRegulator, PidController
    from mbcli.systems.primitives import LinearSystem

    gains = np.ones((2, 1))
    pid = PidController(kp=gains, ki=0 * gains, kd=gains)
    context = pid.CreateDefaultContext()
    pid.get_input_port_estimated_state().FixValue(context, np.zeros(4))
    pid.get_input_port_desired_state().FixValue(context, np.ones(4))
    np.testing.assert_array_equal(pid.get_output_port().Eval(context), [2.0, 2.0])
    A = np.array([[0.0, 1.0], [0.0, 0.0]])
    K, _ = LinearQuadraticRegulator(A, np.array([0.0, 1.0]), np.eye(2), [[1.0]])
    np.testing.assert_allclose(K, [[1.0, np.sqrt(3.0)]])
    assert LinearSystem(A=A, B=[0.0, 1.0], C=np.eye(2), D=[0.0, 0.0]).B().shape == (2, 1)


def test_a_holder_of_a_vector_takes_its_numbers():
    from mbcli.common.value import AbstractValue
    from mbcli.systems.framework import BasicVector

    holder = AbstractValue.Make(BasicVector(2))
    holder.set_value(np.array([1.0, 2.0]))
    assert isinstance(holder.get_value(), BasicVector) and holder.get_value().CopyToVector().tolist() == [1.0, 2.0]


def test_ports_make_values_of_their_kind():
    from mbcli.common.value import AbstractValue, Value
    from mbcli.math import RigidTransform
    from mbcli.systems.framework import BasicVector, DiagramBuilder
    from mbcli.systems.primitives import ConstantValueSource, ConstantVectorSource

    assert isinstance(Value[BasicVector](np.zeros(2)).get_value(), BasicVector)
    builder = DiagramBuilder()
    source = builder.AddSystem(ConstantValueSource(AbstractValue.Make(RigidTransform())))
    builder.ExportOutput(source.get_output_port())
    for port in (source.get_output_port(), builder.Build().get_output_port()):
        assert isinstance(port.Allocate().get_value(), RigidTransform)
    assert isinstance(ConstantVectorSource([1.0]).get_output_port().Allocate().get_value(), BasicVector)


def test_modules_that_pydrake_has_not_are_not_found():
    finder = PydrakeFinder()
    assert finder.find_spec("pydrake.attic") is None and finder.find_spec("pydrake.solvers.solvers") is None
    for name in ("pydrake.solvers", "pydrake.planning", "pydrake.geometry.optimization", "pydrake.systems.estimators"):
        assert finder.find_spec(name) is not None


def test_scripts_have_drakes_filters_of_self_contact():
    """Gazebo's <self_collide> acts in plants, not where contact is Drake's."""
    from mbcli.multibody.parsing import Parser
    from mbcli.multibody.plant import AddMultibodyPlant, MultibodyPlantConfig
    from mbcli.systems.framework import DiagramBuilder

    link = '<link name="{}"><self_collide>0</self_collide><collision name="c"><geometry><sphere><radius>1</radius>'
    links = "".join(f"{link.format(name)}</sphere></geometry></collision></link>" for name in "abc")
    found = []
    for defaults in ("allowance", "drake"):
        config = MultibodyPlantConfig(time_step=0.001, contact_defaults=defaults)
        plant, graph = AddMultibodyPlant(config, DiagramBuilder())
        Parser(plant).AddModelsFromString(f'<sdf version="1.9"><model name="m">{links}</model></sdf>', "sdf")
        plant.Finalize()
        found.append(len(graph.model_inspector().GetCollisionCandidates()))
    assert found == [0, 3]


def run_as_a_script(path, text):
    path.write_text(text)
    done = subprocess.run([sys.executable, "-m", "mbcli.pydrake", path.name], cwd=path.parent, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().split()


@pytest.mark.parametrize(("use", "all_names"), [("RigidTransform", "False"), ("eval('RigidTransform')", "True")])
def test_a_script_that_takes_all_names_imports_those_that_its_text_has(tmp_path, use, all_names):
    text = (
        f"import sys\nfrom pydrake.all import *\n{use}()\n"
        "print('MathematicalProgram' in sys.modules['__main__'].__dict__, 'sympy' in sys.modules)"
    )
    assert run_as_a_script(tmp_path / "script.py", text) == [all_names, all_names]


def test_types_in_quotes_are_names_that_a_script_has(tmp_path):
    text = (
        "import typing\nfrom pydrake.all import *\ndef f(x: 'list[RigidTransform]') -> 'Sphere': ...\n"
        "print(*(hint.__name__ for hint in typing.get_type_hints(f).values()))"
    )
    assert run_as_a_script(tmp_path / "script.py", text) == ["list", "Sphere"]


def test_expressions_have_pydrakes_methods_however_late_sympy_is_imported(tmp_path):
    text = (
        "from pydrake.solvers import MathematicalProgram\nx = MathematicalProgram().NewContinuousVariables(1)[0]\n"
        "print((x**2).Differentiate(x), (x == 1).Evaluate({x: 1.0}))\n"
    )
    assert run_as_a_script(tmp_path / "script.py", text) == ["2*x(0)", "True"]


@pytest.mark.parametrize(
    ("folder", "text", "is_formula"), [("own", "", True), ("lib", "", False), ("lib", "#pydrake", True)]
)
def test_packages_that_know_nothing_of_pydrake_compare_as_python_does_wherever_they_are_installed(
    tmp_path, folder, text, is_formula
):
    """Of folders that are no site-packages too (pip install --target)."""
    (tmp_path / folder / "compared").mkdir(parents=True)
    (tmp_path / "lib/compared-1.0.dist-info").mkdir(parents=True)
    (tmp_path / folder / "compared/__init__.py").write_text(f"def same(x):\n    return x == 1  {text}\n")
    script = (
        f"import sys, sympy\nsys.path.append('{folder}')\nimport compared\nprint(compared.same(sympy.Symbol('x')))\n"
    )
    assert run_as_a_script(tmp_path / "script.py", script) == (["Eq(x,", "1)"] if is_formula else ["False"])
