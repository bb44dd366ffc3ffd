"""Scripts with systems of all kinds, and trajectories, give what they give under pydrake: number by number."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pydrake_system_scripts import SCRIPTS as SYSTEMS

SCENES = Path(__file__).parents[1] / "support" / "pydrake_scripts"
SCRIPTS = SYSTEMS | {path.stem: path.read_text(encoding="utf-8") for path in sorted(SCENES.glob("*.py"))}
pytestmark = pytest.mark.peers("pydrake")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
PRINTS = "import numpy as np; np.set_printoptions(precision=12, linewidth=200)\n"


def printed(tmp_path, text, *runner):
    script = tmp_path / "script.py"
    script.write_text(PRINTS + text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *runner, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_prints_the_same_through_mbcli_pydrake(name, tmp_path):
    theirs, ours = printed(tmp_path, SCRIPTS[name]), printed(tmp_path, SCRIPTS[name], "-m", "mbcli.pydrake")
    assert "".join(NUMBER.sub("#", ours).split()) == "".join(NUMBER.sub("#", theirs).split())
    numbers = [np.array([float(x) for x in NUMBER.findall(text)]) for text in (ours, theirs)]
    np.testing.assert_allclose(*numbers, rtol=1e-8, atol=1e-9)
    assert numbers[0].size > 10 or name == "events_and_statuses"


T = [0.0, 0.5, 1.2, 2.0, 2.5]


def curves(library, math):
    """Curves of each kind by name, of the classes of mbcli or pydrake."""
    rng = np.random.default_rng(0)
    y, rate = rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    P = library.PiecewisePolynomial
    closed = np.column_stack([y[:, :4], y[:, 0]])
    appended = P.FirstOrderHold(T, y)
    appended.AppendFirstOrderSegment(3.0, y[:, :1])
    appended.AppendCubicHermiteSegment(3.5, y[:, 1:2], rate[:, 1:2])
    appended.shiftRight(0.1)
    turned = appended.Clone() if hasattr(appended, "Clone") else appended
    stacked = library.StackedTrajectory()
    stacked.Append(P.FirstOrderHold(T, y))
    stacked.Append(P.CubicShapePreserving(T, y))
    points = [rng.normal(size=(2, 1)) for _ in range(7)]
    spline = library.BsplineTrajectory(math.BsplineBasis(4, 7), points)
    more_knots = library.BsplineTrajectory(math.BsplineBasis(4, 7), points)
    more_knots.InsertKnots([0.33, 0.4])
    bezier = library.BezierCurve(0.0, 2.0, rng.normal(size=(2, 5)))
    raised = library.BezierCurve(0.0, 2.0, bezier.control_points())
    raised.ElevateOrder()
    two = [P.FirstOrderHold([0.0, 1.0], np.array([[0.0, 1.0]])), P.FirstOrderHold([1.0, 2.0], np.array([[1.0, 0.0]]))]
    scaling = P.CubicHermite([0.0, 5.0], np.array([[0.0, 2.5]]), np.zeros((1, 2)))
    X = [
        math.RigidTransform(math.RollPitchYaw(*r), p)
        for r, p in (
            ((0.0, 0.0, 0.0), [0.0, 0.0, 0.0]),
            ((0.1, 0.5, -0.3), [1.0, 2.0, 3.0]),
            ((1.0, -0.5, 2.3), [1.0, 0.0, 3.0]),
        )
    ]
    return {
        "zero order": P.ZeroOrderHold(T, y),
        "first order": P.FirstOrderHold(T, y),
        "hermite": P.CubicHermite(T, y, rate),
        "shape": P.CubicShapePreserving(T, y),
        "shape with ends": P.CubicShapePreserving(T, y, True),
        "spline": P.CubicWithContinuousSecondDerivatives(T, y),
        "spline of three": P.CubicWithContinuousSecondDerivatives(T[:3], y[:, :3]),
        "clamped": P.CubicWithContinuousSecondDerivatives(T, y, np.ones(3), np.zeros(3)),
        "periodic": P.CubicWithContinuousSecondDerivatives(T, closed, periodic_end_condition=True),
        "lagrange": P.LagrangeInterpolatingPolynomial(T, y),
        "appended": turned,
        "constant": P(np.array([1.0, 2.0])),
        "stacked": stacked,
        "b-spline": spline,
        "more knots": more_knots,
        "bezier": bezier,
        "raised": raised,
        "composite": library.CompositeTrajectory(two),
        "path": library.PathParameterizedTrajectory(P.CubicShapePreserving(T, y), scaling),
        "pose": library.PiecewisePose.MakeLinear(T[:3], X),
        "smooth pose": library.PiecewisePose.MakeCubicLinearWithEndLinearVelocity(T[:3], X),
    }


@pytest.mark.parametrize("order", [0, 1, 2])
def test_trajectories_have_values_and_derivatives_of_pydrake(order):
    import pydrake.math
    from pydrake import trajectories as theirs

    import mbcli.math
    import mbcli.trajectories

    expected = curves(theirs, pydrake.math)
    for name, curve in curves(mbcli.trajectories, mbcli.math).items():
        other = expected[name]
        if order > 1 and ("pose" in name or name == "composite"):
            continue  # pydrake ends the process
        assert (curve.rows(), curve.cols()) == (other.rows(), other.cols()), name
        for t in np.linspace(-0.5, 3.0, 29):
            if order and "pose" in name:
                value, reference = curve.MakeDerivative(order).value(t), other.MakeDerivative(order).value(t)
            else:
                value, reference = curve.EvalDerivative(t, order), other.EvalDerivative(t, order)
            np.testing.assert_allclose(value, reference, atol=1e-10, err_msg=f"{name} at {t}")


def test_geometry_names_ports_and_shapes_are_those_of_pydrake():
    import pydrake.all as pydrake

    import mbcli.all

    answers = []
    for library in (mbcli.all, pydrake):
        plant, graph = library.MultibodyPlant(0.01), library.SceneGraph()
        plant.RegisterAsSourceForSceneGraph(graph)
        arm = plant.AddModelInstance("arm")
        body = plant.AddRigidBody("hand", arm, library.SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.1, 0.1))
        plant.AddRigidBody("ball", arm, library.SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.1, 0.1))
        one = plant.RegisterVisualGeometry(body, library.RigidTransform(), library.Sphere(0.1), "skin", [1, 0, 0, 1])
        where = plant.world_body(), library.RigidTransform(), library.Sphere(0.1), "floor", library.CoulombFriction()
        two = plant.RegisterCollisionGeometry(*where)
        plant.Finalize()
        names = [graph.model_inspector().GetName(g) for g in (one, two)]
        ports = [plant.get_output_port(k).get_name() for k in range(plant.num_output_ports())]
        ports += [plant.get_input_port(k).get_name() for k in range(plant.num_input_ports())]
        dual = library.InitializeAutoDiff([1.0, 2.0])
        shapes = dual.shape, library.ExtractValue(dual).shape, library.ExtractGradient(dual).shape
        answers.append((names, ports, shapes, plant.HasUniqueFloatingBaseBody(arm)))
    assert answers[0] == answers[1]
