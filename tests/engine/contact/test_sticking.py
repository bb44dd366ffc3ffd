"""The first direction of a search: what would stick by itself is assumed to do so."""

import sys

import numpy as np
import pytest
from repository import SAMPLES
from test_contact_solver import Scene

from mbcli.engine.fields.contact_fields import (
    COUNT_CONSTRAINTS,
    PROBLEM_SINGULAR,
    PROBLEM_SOLVED,
    SAP,
    VECTOR_DIRECTION,
    VECTOR_GRADIENT,
    VECTOR_MOMENTUM_STEP,
    VECTOR_VELOCITY,
)
from mbcli.models import load_model
from mbcli.systems.analysis import Simulator

QUADRUPED = SAMPLES / "quadruped.urdf"


class Witness:
    """Which answers begin_with_stiction() and line_search() give while interpreted kernels run."""

    def __enter__(self):
        self.held, self.shares = [], []
        self._previous = sys.getprofile()
        sys.setprofile(self._see)
        return self

    def _see(self, frame, event, answer):
        if event == "return" and frame.f_code.co_name == "begin_with_stiction":
            self.held.append(answer)
        elif event == "return" and frame.f_code.co_name == "line_search" and frame.f_locals["guessed"]:
            self.shares.append(answer)

    def __exit__(self, *_):
        sys.setprofile(self._previous)


def slow_scene(seed, speed):
    scene = Scene(seed, SAP, points=30, calm=True, limits=False)
    scene.data.v[:] *= speed
    return scene


@pytest.mark.parametrize("speed", [1e-4, 1e-2, 1.0])
def test_the_solution_is_that_of_the_problem_whatever_was_assumed(speed):
    held, shares = 0, []
    for seed in range(32):
        scene = slow_scene(seed, speed)
        with Witness() as witness:
            scene.step()
        assert scene.status() == PROBLEM_SOLVED
        error, size = scene.imbalance()
        assert error < 1e-9 * size
        held += sum(witness.held)
        shares += witness.shares
        constraints = scene.solver.counts[COUNT_CONSTRAINTS]
        assert np.all(scene.solver.con_kind[:constraints] == SAP)  # their own law again
    assert held >= 3
    assert min(shares) < 0.9  # some do slip


def test_a_direction_along_which_the_cost_grows_is_not_gone():
    scene = slow_scene(3, 1.0)
    scene.step()
    solver, kernels = scene.solver, scene.kernels
    slots = solver.dof_slot
    solver.vectors[VECTOR_VELOCITY, slots] += np.random.default_rng(0).normal(size=slots.size)
    kernels.start_search(solver, 0)
    kernels.fill_gradient(solver, 0)
    places = solver.island_tree[0], solver.island_tree[1]
    for sign, there in ((1.0, False), (-1.0, True)):
        solver.vectors[VECTOR_DIRECTION] = sign * solver.vectors[VECTOR_GRADIENT]
        kernels.mul_jacobian(solver, 0, VECTOR_DIRECTION, solver.con_dv)
        kernels.mul_mass(solver, *places, VECTOR_DIRECTION, VECTOR_MOMENTUM_STEP)
        share = kernels.line_search(solver, 0, True)
        assert (share > 0.0) == there and share >= 0.0


def test_a_robot_that_begins_to_fall_takes_about_one_iteration_a_step():
    """Its feet slip a little at each start, since they have turned; by Newton's method alone it takes 3.5."""
    plant = load_model(str(QUADRUPED), dt=1e-3, contact=True, ground=0.0, contact_approximation="sap").plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3583, *4 * (0.0, 0.7, -1.4)])  # feet 0.2 mm deep
    Simulator(plant, context).AdvanceTo(100 * plant.time_step())
    statistics = context.state.contact.statistics()
    assert statistics["problems"] == 100 and statistics["mean_contacts"] == 4.0
    assert statistics["mean_iterations"] < 1.3


def test_contacts_have_their_own_law_again_where_the_direction_fails():
    """The error of such a step names the bodies in contact by the kinds of their constraints."""
    scene = slow_scene(30, 1.0)
    scene.step()
    solver = scene.solver
    solver.vectors[VECTOR_VELOCITY, solver.dof_slot] = scene.data.v
    solver.mass[:] = -1e9 * np.abs(solver.mass)  # no masses of a problem that has a solution
    with Witness() as witness:
        scene.kernels.solve_problem(solver, False)
    assert scene.status() == PROBLEM_SINGULAR and any(witness.held)
    assert np.all(solver.con_kind[: solver.counts[COUNT_CONSTRAINTS]] == SAP)
