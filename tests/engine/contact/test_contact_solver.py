"""Contact problems of random trees: the solution against the definition of the problem, by dense matrices."""

import sys
from collections import Counter

import numpy as np
import pytest
from random_trees import MOVING, joints_of, random_plant, random_state

from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.engine import load_kernels
from mbcli.engine.contact.arrays import ContactPoints, ContactSolver
from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    COUNT_CONSTRAINTS,
    COUNT_ISLANDS,
    COUNT_MOST_ITERATIONS_SEEN,
    COUNT_STATUS,
    LAGGED,
    LAW_NUMBERS,
    PROBLEM_NOT_CONVERGED,
    PROBLEM_SOLVED,
    PROBLEM_TOO_MANY_CONSTRAINTS,
    SAP,
    SETTING_APPROXIMATION,
    SETTING_NEAR_RIGID,
    SETTING_STICTION,
    SETTING_TOLERANCE,
    TAMSI,
    VECTOR_FREE,
    VECTOR_VELOCITY,
)
from mbcli.engine.fields.model_fields import CONTACT_ADDRESSES, CONTACT_AT_SOLVE, CONTACT_AT_SOLVER, MIDDLE_BODIES
from mbcli.engine.runtime.model import Data
from mbcli.multibody.tree import JacobianWrtVariable

H = 1e-2
KV = JacobianWrtVariable.kV
KINDS = ("weld", *(kind for kind in MOVING if kind != "curvilinear"))
APPROXIMATIONS = {name: LAW_NUMBERS[name] for name in CONTACT_LAWS}


class Scene:
    """A random plant in a random state with contact points anywhere between its bodies.

    calm: few points, with the speeds of robots. TAMSI need not have a solution otherwise.
    compiled: whether the problem is solved by compiled kernels; its rows are made by interpreted ones.
    """

    def __init__(
        self,
        seed,
        approximation,
        *,
        points=12,
        calm=False,
        limits=True,
        compiled=False,
        tolerance=1e-11,
        room=64,
        **options,
    ):
        rng = np.random.default_rng(seed)
        options = {"num_bodies": 9, "time_step": H, "sprung": False, "trees": 3, "kinds": KINDS, **options}
        twin = random_plant(seed, **options)
        q, v = random_state(twin, np.random.default_rng(seed))
        self.plant = random_plant(seed, finalize=False, **options)
        if limits:
            self.limit_joints(q, rng, twin)
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        if calm:
            points, v = points // 3, 0.05 * v
        self.plant.SetPositions(self.context, q)
        self.plant.SetVelocities(self.context, v)
        self.model, self.compiled = self.plant.model, load_kernels(True, "contact") if compiled else None
        self.data = Data(self.model.sizes)
        self.data.q[:], self.data.v[:] = q, v
        self.points = ContactPoints(max(points, 1))
        bodies = self.model.body_parent.shape[0]
        for c in range(points):
            a, b = rng.permutation(bodies)[:2]
            normal = rng.normal(size=3)
            self.points.body[c] = a, b
            self.points.normal[c] = normal / np.linalg.norm(normal)
            self.points.position[c] = rng.normal(size=3)
            self.points.distance[c] = rng.uniform(-1e-3 if calm else -2e-2, 2e-3)
            self.points.law[c, :4] = 10 ** rng.uniform(2, 4), rng.uniform(0, 2), rng.uniform(0, 0.1), rng.uniform(0, 1)
        self.points.count[0] = points
        self.solver = ContactSolver(self.model, room, approximation)
        settings = self.solver.settings
        settings[SETTING_APPROXIMATION], settings[SETTING_NEAR_RIGID], settings[SETTING_STICTION] = (
            approximation,
            1.0,
            1e-2,
        )
        settings[SETTING_TOLERANCE] = tolerance
        self.kernels = load_kernels(False, "contact")

    def limit_joints(self, q, rng, twin):
        """Limits of some joints close to where q is, on either side of it."""
        for name in [joint.name() for joint in joints_of(twin) if joint.num_velocities() == 1]:
            if rng.random() < 0.5:
                i, gap = twin.GetJointByName(name).position_start(), rng.uniform(-1e-3, 2e-2)
                lower, upper = (-np.inf, q[i] + gap) if rng.random() < 0.5 else (q[i] - gap, np.inf)
                self.plant.GetJointByName(name).set_position_limits([lower], [upper])

    def step(self):
        """The velocities after the step."""
        parts = self.model, self.data, self.points, self.solver
        at = [0.0] * CONTACT_ADDRESSES
        at[CONTACT_AT_SOLVER], at[CONTACT_AT_SOLVE] = self.solver, self.kernels.solve_problem_called
        if self.compiled:
            at[CONTACT_AT_SOLVE] = self.solve_compiled
        self.data.contact = at
        self.data.tau[:] = 0.0
        self.kernels.at_velocities(*parts[:2])
        self.kernels.gather_forces(*parts[:2], H, 1.0)
        self.kernels.clear_problem(parts[3])
        self.kernels.note_start(parts[1])
        self.kernels.constrain_step(*parts, H)
        return self.data.v + H * self.data.vdot

    def solve_compiled(self, *parts):
        """solve_problem_called(), by a kernel that Python may call."""
        self.compiled.solve_problem_again(self.model.handle(True), self.solver.handle(True), 0)
        return 0.0

    def status(self):
        return self.solver.counts[COUNT_STATUS]

    def jacobian(self, i):
        """Rows of constraint i (3 or 1, nv) from the plant's own Jacobians."""
        if self.solver.con_kind[i] == BOUNDED:
            row = np.zeros((1, self.data.v.size))
            row[0, self.model.limit_dof[self.solver.con_source[i]]] = 1.0
            return row
        c = self.solver.con_source[i]
        world, plant = self.plant.world_frame(), self.plant
        J = np.zeros((3, self.data.v.size))
        for body, sign in zip(self.points.body[c], (1.0, -1.0), strict=True):
            if body:
                link = plant.get_body(int(np.flatnonzero(self.model.link_body == body)[0]))
                p = plant.CalcPointsPositions(self.context, world, self.points.position[c], link.body_frame())
                frame = link.body_frame()
                J += sign * plant.CalcJacobianTranslationalVelocity(self.context, KV, frame, p, world, world)
        normal = self.points.normal[c]
        tangent = np.array(self.kernels_plain().tangent_of(tuple(normal)))
        return np.array([tangent, np.cross(normal, tangent), normal]) @ J

    @staticmethod
    def kernels_plain():
        return load_kernels(False)

    def imbalance(self):
        """A (v - v*) - J^T impulses(J v) at the solution, and the size of what it is the difference of."""
        solver, slot = self.solver, self.solver.dof_slot
        v, v_free = solver.vectors[VECTOR_VELOCITY, slot], solver.vectors[VECTOR_FREE, slot]
        A = self.plant.CalcMassMatrix(self.context) + H * np.diag(self.model.dof_damping)
        inertial = A @ (v - v_free)
        impulse = np.zeros_like(v)
        for i in range(solver.counts[COUNT_CONSTRAINTS]):
            J = self.jacobian(i)
            rows = np.zeros(3)
            rows[: len(J)] = J @ v
            impulse += J.T @ np.array(self.kernels_plain().response_of(solver, i, *rows)[: len(J)])
        return np.abs(inertial - impulse).max(), max(np.abs(inertial).max(), np.abs(A @ v).max())


@pytest.mark.parametrize("calm, most", [(False, 2.7), (True, 2.2)])
def test_a_line_search_takes_few_evaluations_where_friction_reverses(calm, most):
    """Newton's method in a bracket alone takes 2.8 and 2.3 for each search, four to five in some of these scenes."""
    calls, previous = Counter(), sys.getprofile()
    for seed in range(10):
        scene = Scene(seed, SAP, calm=calm, tolerance=1e-6)
        sys.setprofile(lambda frame, event, _: calls.update([frame.f_code.co_name] if event == "call" else ()))
        try:
            scene.step()
        finally:
            sys.setprofile(previous)
    assert calls["line_search"] > 50
    assert calls["slope_of_constraints"] <= most * calls["line_search"]


@pytest.mark.parametrize("approximation", ["sap", "lagged", "similar"])
@pytest.mark.parametrize("seed", range(4))
def test_momentum_balances_at_the_solution(seed, approximation):
    """Check 21 of the plant's specification: the gradient of the cost vanishes."""
    scene = Scene(seed, APPROXIMATIONS[approximation])
    scene.step()
    assert scene.status() == PROBLEM_SOLVED
    assert scene.solver.counts[COUNT_CONSTRAINTS] >= 10
    imbalance, size = scene.imbalance()
    assert imbalance <= 1e-8 * size


def test_momentum_balances_where_tamsi_finds_a_solution():
    for seed in range(8):
        scene = Scene(seed, TAMSI, calm=True)
        scene.step()
        assert scene.status() == PROBLEM_SOLVED
        imbalance, size = scene.imbalance()
        assert imbalance <= 1e-8 * size


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_compiled_and_interpreted_solutions_agree(approximation):
    """Whole steps, in which compiled kernels make the rows too, are compared by test_kernel_ways.py."""
    calm = approximation == "tamsi"
    steps = [Scene(5, APPROXIMATIONS[approximation], calm=calm, compiled=c).step() for c in (False, True)]
    np.testing.assert_allclose(*steps, rtol=1e-9, atol=1e-9)


def test_without_constraints_the_step_is_that_of_the_plant():
    scene = Scene(1, LAGGED, points=0, limits=False)
    scene.data.in_middle[1:] = 1
    scene.data.middle_counts[MIDDLE_BODIES] = scene.data.in_middle.sum()
    v = scene.step()
    plain = Data(scene.model.sizes)
    plain.q[:], plain.v[:] = scene.data.q, scene.data.v
    kernels = load_kernels(False)
    kernels.note_start(plain)
    plain.q_at_start[:] = plain.q
    kernels.at_velocities(scene.model, plain)
    kernels.gather_forces(scene.model, plain, H, 1.0)
    kernels.accelerate(scene.model, plain, H)
    assert (v == plain.v + H * plain.vdot).all()


def test_trees_that_nothing_connects_are_islands_of_their_own():
    scene = Scene(2, LAGGED, points=3, trees=5, limits=False)
    roots = [b for b in range(1, scene.model.body_parent.size) if scene.model.body_root[b] == b]
    for c, (a, b) in enumerate([(roots[0], 0), (roots[1], roots[2]), (roots[3], 0)]):
        scene.points.body[c] = a, b
    scene.points.distance[:3] = -1e-2
    scene.step()
    assert scene.status() == PROBLEM_SOLVED
    assert scene.solver.counts[COUNT_ISLANDS] == 3
    assert scene.imbalance()[0] <= 1e-8 * scene.imbalance()[1]


def test_controllers_with_limits_act_in_the_same_problem():
    """Efforts at the velocities of the step's end, clamped: check 12 of the plant's specification, with contact."""
    scene = Scene(3, SAP, controlled=True)
    scene.data.pd_desired[:] = 5.0
    v = scene.step()
    assert scene.status() == PROBLEM_SOLVED
    reached = set()
    for k, a in enumerate(scene.model.pd_actuator):
        d = scene.model.actuator_dof[a]
        p, damping, most, _ = scene.model.pd_constants[k]
        q = scene.data.q[scene.model.dof_q[d]]
        free = p * (5.0 - q - H * v[d]) + damping * (5.0 - v[d])
        assert scene.data.pd_effort[k] == pytest.approx(np.clip(free, -most, most), rel=1e-8, abs=1e-8)
        reached.add(abs(free) > most)
    assert len(scene.model.pd_actuator) > 2


def test_a_full_problem_says_so_and_leaves_the_rest_alone():
    scene = Scene(4, SAP, room=3)
    scene.step()
    assert scene.status() == PROBLEM_TOO_MANY_CONSTRAINTS


def test_a_solver_that_may_not_iterate_says_that_it_did_not_converge():
    scene = Scene(4, SAP)
    scene.solver.settings[1] = 0
    scene.step()
    assert scene.status() == PROBLEM_NOT_CONVERGED


def test_newtons_method_needs_few_iterations():
    seen = []
    for seed in range(6):
        scene = Scene(seed, SAP, tolerance=1e-8)
        scene.step()
        seen.append(scene.solver.counts[COUNT_MOST_ITERATIONS_SEEN])
    assert max(seen) <= 20
