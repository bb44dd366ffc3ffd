"""Inverse kinematics: derivatives against differences, solutions against kinematics, and beside pydrake's."""

from importlib import import_module

import numpy as np
import pytest

ARM_TEXT = """<robot name="arm">
{links}
<link name="ball"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.05"/></geometry></collision></link>
</robot>"""


def arm_text():
    """Six turning joints about z and y by turns, and a ball that is free."""
    parts = []
    for k in range(7):
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" '
            'izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0.01 0.1"/><geometry>'
            '<box size="0.04 0.05 0.15"/></geometry></collision></link>'
        )
        if k:
            axis = "0 0 1" if k % 2 else "0 1 0"
            parts.append(
                f'<joint name="j{k}" type="revolute"><parent link="l{k - 1}"/><child link="l{k}"/><origin '
                f'xyz="0 0.02 0.2" rpy="0.1 0 0"/><axis xyz="{axis}"/><limit lower="-2.5" upper="2.4" effort="9" '
                'velocity="9"/></joint>'
            )
    return ARM_TEXT.format(links="\n".join(parts))


class Library:
    """The names of mbcli or of pydrake."""

    def __init__(self, root):
        self.ik = import_module(f"{root}.multibody.inverse_kinematics")
        self.solvers = import_module(f"{root}.solvers")
        self.math = import_module(f"{root}.math")
        plant_module = import_module(f"{root}.multibody.plant")
        builder = import_module(f"{root}.systems.framework").DiagramBuilder()
        self.plant, self.scene_graph = plant_module.AddMultibodyPlantSceneGraph(builder, 0.0)
        import_module(f"{root}.multibody.parsing").Parser(self.plant).AddModelsFromString(arm_text(), "urdf")
        self.plant.WeldFrames(self.plant.world_frame(), self.plant.GetFrameByName("l0"))
        self.plant.Finalize()
        self.diagram = builder.Build()
        self.root = self.diagram.CreateDefaultContext()
        self.context = self.plant.GetMyContextFromRoot(self.root)

    def frame(self, name):
        return self.plant.GetFrameByName(name)

    def geometry(self, body):
        return self.plant.GetCollisionGeometriesForBody(self.plant.GetBodyByName(body))[0]

    def rotation(self, *angles):
        return self.math.RotationMatrix(self.math.RollPitchYaw(*angles))


def evaluators(own):
    """(name, constraint or cost) of each kind."""
    plant, context, ik = own.plant, own.context, own.ik
    world, hand, ball = plant.world_frame(), own.frame("l6"), own.frame("ball")
    X = own.math.RigidTransform(own.rotation(0.1, 0.2, 0.3), [0.1, 0.0, 0.2])
    p, n, R, R2 = [0.0, 0.01, 0.1], [0.1, 0.3, 1.0], own.rotation(0.1, -0.2, 0.3), own.rotation(0.5, 0.1, 0.2)
    C = np.array([[2.0, 0.1, 0.0], [0.1, 1.0, 0.2], [0.0, 0.2, 3.0]])
    made = [
        ik.PositionConstraint(plant, world, [-1.0] * 3, [1.0] * 3, hand, p, context),
        ik.PositionConstraint(plant, ball, X, [-1.0] * 3, [1.0] * 3, hand, p, context),
        ik.OrientationConstraint(plant, world, R, hand, R2, 0.4, context),
        ik.OrientationConstraint(plant, ball, R, hand, R2, 3.0, context),
        ik.GazeTargetConstraint(plant, hand, p, n, ball, [0.1, 0.0, 0.0], 0.7, context),
        ik.AngleBetweenVectorsConstraint(plant, hand, n, ball, [1.0, 0.2, 0.0], 0.2, 1.0, context),
        ik.PointToPointDistanceConstraint(plant, hand, p, ball, n, 0.1, 0.9, context),
        ik.PointToLineDistanceConstraint(plant, hand, p, ball, [0.1, 0.0, 0.0], n, 0.1, 0.9, context),
        ik.PolyhedronConstraint(plant, ball, hand, np.array([p, n]).T, np.ones((2, 6)), [0.3, 0.4], context),
        ik.ComInPolyhedronConstraint(
            plant, None, hand, [[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]], [0.1] * 2, [1.1] * 2, context
        ),
        ik.DistanceConstraint(plant, (own.geometry("l6"), own.geometry("ball")), context, 0.01, 0.5),
        ik.PositionCost(plant, world, [0.3, 0.2, 0.1], hand, p, C, context),
        ik.OrientationCost(plant, world, R, hand, R2, 1.7, context),
        ik.AngleBetweenVectorsCost(plant, hand, [0.0, 0.0, 1.0], ball, [1.0, 0.2, 0.0], 1.3, context),
    ]
    return [(f"{k} {type(e).__name__}", e) for k, e in enumerate(made)]


def some_positions(plant, seed):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.0, 1.0, plant.num_positions())
    ball = plant.GetJointByName("ball").position_start() if plant.HasJointNamed("ball") else 0
    q[ball : ball + 4] /= np.linalg.norm(q[ball : ball + 4])
    return q, ball


def test_derivatives_are_those_of_the_values():
    own = Library("mbcli")
    context = own.context
    extra = own.ik.MinimumDistanceLowerBoundConstraint(own.plant, 0.05, context, None, 0.4)
    for seed in range(3):
        q, _ = some_positions(own.plant, seed)
        v = np.random.default_rng(seed).normal(size=own.plant.num_velocities())
        own.plant.SetPositions(context, q)
        rate = own.plant.MapVelocityToQDot(context, v)
        for name, e in [*evaluators(own), ("nearest", extra)]:
            h = 1e-6
            ends = [e.values(_unit(own.plant, q + sign * h * rate)) for sign in (1.0, -1.0)]
            slope = (ends[0] - ends[1]) / (2.0 * h)
            np.testing.assert_allclose(e.jacobian(q) @ rate, slope, atol=2e-7, rtol=1e-6, err_msg=name)


def test_what_is_remembered_of_positions_goes_with_parameters_and_is_not_the_users():
    own = Library("mbcli")
    plant, context = own.plant, own.context
    q, _ = some_positions(plant, 1)
    com = own.ik.ComInPolyhedronConstraint(plant, None, plant.world_frame(), np.eye(3), [-1.0] * 3, [1.0] * 3, context)
    first = com.values(q).copy()
    com.Eval(q)[:] = 7.0
    com.jacobian(q)[:] = 7.0
    np.testing.assert_array_equal(com.values(q), first)
    slope = com.jacobian(q)
    plant.GetBodyByName("l6").SetMass(context, 5.0)
    assert np.abs(com.values(q) - first).max() > 1e-3
    assert np.abs(com.jacobian(q) - slope).max() > 1e-3
    plant.GetBodyByName("l6").SetMass(context, 1.0)
    np.testing.assert_array_equal(com.values(q), first)


def test_a_centre_of_mass_is_at_variables_of_a_program():
    own = Library("mbcli")
    q, _ = some_positions(own.plant, 1)
    com = own.ik.ComPositionConstraint(own.plant, None, own.frame("l6"), own.context)
    inside = own.ik.ComInPolyhedronConstraint(
        own.plant, None, own.frame("l6"), np.eye(3), [-1.0] * 3, [1.0] * 3, own.context
    )
    p = np.array([0.1, 0.2, 0.3])
    np.testing.assert_array_equal(com.Eval(np.concatenate([q, p])), inside.Eval(q) - p)
    np.testing.assert_array_equal(com.jacobian(np.concatenate([q, p])), np.hstack([inside.jacobian(q), -np.eye(3)]))


def _unit(plant, q):
    q, ball = q.copy(), plant.GetJointByName("ball").position_start()
    q[ball : ball + 4] /= np.linalg.norm(q[ball : ball + 4])
    return q


def program(own, near):
    plant = own.plant
    ik = own.ik.InverseKinematics(plant, own.context)
    hand = own.frame("l6")
    ik.AddPositionConstraint(hand, [0.0, 0.0, 0.1], plant.world_frame(), [0.2, 0.2, 0.55], [0.25, 0.3, 0.7])
    ik.AddOrientationConstraint(plant.world_frame(), own.rotation(0.3, 0.2, 0.1), hand, own.rotation(0, 0, 0), 0.3)
    ik.AddGazeTargetConstraint(hand, [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], own.frame("ball"), [0.0, 0.0, 0.0], 0.2)
    ik.AddPointToPointDistanceConstraint(hand, [0.0, 0.0, 0.1], own.frame("ball"), [0.0, 0.0, 0.0], 0.3, 0.4)
    q0 = plant.GetPositions(plant.CreateDefaultContext())
    prog = ik.get_mutable_prog()
    prog.AddQuadraticErrorCost(np.eye(q0.size), q0, ik.q())
    guess = [0.5, 2.0, -0.2, -2.0, -0.3, 0.0, 1.0, 0.0, 0.0, 0.0, 0.2, 0.2, 1.0]  # there are several minima
    prog.SetInitialGuess(ik.q(), guess if near else q0)
    return ik, prog


def test_a_solution_satisfies_what_was_asked_for():
    own = Library("mbcli")
    ik, prog = program(own, near=False)
    ik.AddMinimumDistanceLowerBoundConstraint(0.01)
    result = own.solvers.Solve(prog)
    assert result.is_success(), result.get_solver_details()
    plant, context = own.plant, own.context
    plant.SetPositions(context, result.GetSolution(ik.q()))
    hand = own.frame("l6")
    p = plant.CalcPointsPositions(context, hand, [0.0, 0.0, 0.1], plant.world_frame()).reshape(3)
    assert (p >= np.array([0.2, 0.2, 0.55]) - 1e-6).all() and (p <= np.array([0.25, 0.3, 0.7]) + 1e-6).all()
    R = own.rotation(0.3, 0.2, 0.1).inverse() @ hand.CalcRotationMatrixInWorld(context)
    assert R.ToAngleAxis().angle() <= 0.3 + 1e-5
    ball = plant.CalcPointsPositions(context, own.frame("ball"), [0.0, 0.0, 0.0], hand).reshape(3)
    assert np.arctan2(np.hypot(*ball[:2]), ball[2]) <= 0.2 + 1e-5
    query = own.scene_graph.get_query_output_port().Eval(own.scene_graph.GetMyContextFromRoot(own.root))
    assert min(x.distance for x in query.ComputeSignedDistancePairwiseClosestPoints()) >= 0.01 - 1e-6


@pytest.mark.peers("pydrake")
def test_values_and_derivatives_are_pydrakes():
    own, other = Library("mbcli"), Library("pydrake")
    q, ball = some_positions(own.plant, 5)
    names = [(own, own.plant), (other, other.plant)]
    np.testing.assert_array_equal(*(p.GetPositionLowerLimits() for _, p in names))
    for (name, e), (_, theirs) in zip(evaluators(own), evaluators(other), strict=True):
        np.testing.assert_allclose(e.values(q), theirs.Eval(q), atol=1e-9, err_msg=name)
        if hasattr(e, "lower_bound"):
            np.testing.assert_allclose(e.lower_bound(), theirs.lower_bound(), atol=1e-12, err_msg=name)
            np.testing.assert_allclose(e.upper_bound(), theirs.upper_bound(), atol=1e-12, err_msg=name)


@pytest.mark.peers("pydrake")
def test_the_nearest_solution_is_pydrakes():
    solutions = []
    for root in ("mbcli", "pydrake"):
        own = Library(root)
        ik, prog = program(own, near=True)
        result = own.solvers.Solve(prog)
        assert result.is_success()
        solutions.append([result.get_optimal_cost(), *result.GetSolution(ik.q())])
    np.testing.assert_allclose(*solutions, atol=2e-4)


def test_the_nearest_posture_of_an_exact_orientation_is_found_and_has_it():
    own = Library("mbcli")
    random = np.random.default_rng(2)
    for _ in range(5):
        q0 = random.uniform(-1.0, 1.0, own.plant.num_positions())
        q0[6:10] = [1.0, 0.0, 0.0, 0.0]
        own.plant.SetPositions(own.context, q0 + np.r_[random.uniform(-0.3, 0.3, 6), np.zeros(7)])
        wanted = own.frame("l6").CalcRotationMatrixInWorld(own.context)
        ik = own.ik.InverseKinematics(own.plant)
        ik.AddOrientationConstraint(
            own.plant.world_frame(), wanted, own.frame("l6"), own.math.RotationMatrix(), theta_bound=0.0
        )
        ik.prog().AddQuadraticErrorCost(np.eye(6), q0[:6], ik.q()[:6])
        result = own.solvers.Solve(ik.prog(), q0)
        assert result.is_success()
        own.plant.SetPositions(own.context, result.GetSolution(ik.q()))
        R = own.frame("l6").CalcRotationMatrixInWorld(own.context).matrix()
        np.testing.assert_allclose(R, wanted.matrix(), atol=1e-6)  # a cosine that is 1 to 1e-6 says 1e-3
        J = own.plant.CalcJacobianAngularVelocity(
            own.context,
            import_module("mbcli.multibody.tree").JacobianWrtVariable.kQDot,
            own.frame("l6"),
            own.plant.world_frame(),
            own.plant.world_frame(),
        )[:, :6]
        away = result.GetSolution(ik.q())[:6] - q0[:6]  # a combination of the rows of J: no nearer one is on the set
        np.testing.assert_allclose(away - np.linalg.pinv(J) @ (J @ away), 0.0, atol=1e-4)
