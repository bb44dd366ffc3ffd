"""The calls of mbcli with constraints: a humanoid on both feet, chains of loops, assembly from random starts."""

import statistics
from functools import partial

import numpy as np

from benchmarks.mechanisms import bricard, chain_of_four_bars, four_bar, sample, spatial_loop
from benchmarks.own import Call
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.compilation.compile_constraints import Tie, compile_constraints, slides, twists
from mbcli.multibody.compilation.constrained_model import DEPENDENT, ConstrainedModel
from mbcli.multibody.compilation.constraint_rows import constraint_rows
from mbcli.multibody.constraints import CalcAssemblyQ

ASSEMBLIES = {
    "four-bar": four_bar,
    "four-bar-hinge": partial(four_bar, axes=np.eye(6)[[0, 1, 3, 4, 5]]),
    "bricard": bricard,
    "spatial": spatial_loop,
}
SAMPLES = {
    "slider-crank": ("slider_crank.urdf",),
    "four-bar-chain": ("four_bar_chain.urdf",),
    "andrews": ("andrews.urdf",),
    "bricard-rods": ("bricard.urdf",),
    "governor": ("flyball_governor.sdf",),
    "leg": ("closed_leg.xml",),
    "leg-stance": ("closed_leg.xml", "closed_leg.stance.yaml"),
    "stewart": ("stewart_platform.sdf", "stewart_platform.yaml"),
}
TOLERANCE, MOST_ITERATIONS, RESTARTS = 1e-12, 100, 20
TRAVEL = 1.0  # [m] how far from the default positions a slider or a free body starts


class Standing:
    """A robot whose feet are welded to World where they are in the first state of its case: q, v, tau, constraints.

    v is what is left of the case's velocities when the feet stand still.
    """

    def __init__(self, case, feet):
        plant = case.plant
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, case.q[0])
        ties = []
        for k, name in enumerate(feet):
            body = plant.GetBodyByName(name)
            pose = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()
            rows = twists(*np.eye(3)) + slides(*np.eye(3))
            ties.append(Tie(0, pose, int(body.index()), np.eye(4), rows, tuple(range(6 * k, 6 * k + 6))))
        self.feet = feet
        self.model = ConstrainedModel(plant.model, compile_constraints(plant.model, ties), compiled=True)
        data = self.model.data
        data.q[:], data.v[:] = case.q[0], case.v[0]
        data.tau[:] = np.random.default_rng(1).normal(size=len(data.tau))
        self.model.run("project_velocities", DEPENDENT)
        self.q, self.v, self.tau = data.q.copy(), data.v.copy(), data.tau.copy()

    def call(self):
        """Accelerations from positions, velocities and forces: one kernel."""
        vdot = self.model.data.vdot

        def run():
            self.model.run("calc_constrained_dynamics", DEPENDENT)
            return vdot

        return Call(run)


def loops_call(loops):
    """Accelerations of a chain of four-bars; reads the largest error of the loops."""
    plant, q = chain_of_four_bars(loops)
    rows, _ = constraint_rows(plant)
    model = ConstrainedModel(plant.model, compile_constraints(plant.model, rows), compiled=True)
    model.data.q[:] = q

    def run():
        model.run("calc_constrained_dynamics", DEPENDENT)
        return model

    return Call(run)


def assemble_from_random_starts(mechanism, starts):
    """Share of the starts that assembled, median and largest number of steps, starts that needed another one."""
    assemble = _sample_assembly(*SAMPLES[mechanism]) if mechanism in SAMPLES else _set_assembly(ASSEMBLIES[mechanism])
    rng = np.random.default_rng(0)
    results = [assemble(rng) for _ in range(starts)]
    steps = [result.iterations for result in results]
    return {
        "rate": sum(result.converged for result in results) / starts,
        "median": statistics.median(steps),
        "largest": max(steps),
        "restarted": sum(result.restarts > 0 for result in results),
    }


def _set_assembly(make):
    """rng -> assembly of a plant under a ConstraintSet."""
    plant, cs = make()
    weights = np.ones(plant.num_velocities())

    def assemble(rng):
        q = rng.uniform(-np.pi, np.pi, plant.num_positions())
        return CalcAssemblyQ(plant, q, cs, weights, minimize=False)

    return assemble


def _sample_assembly(*files):
    """rng -> assembly of a sample model: hinges and free bodies start at any angle, what slides within TRAVEL."""
    plant = sample(*files)
    chains = ClosedChains(plant.CreateDefaultContext(), compiled=True)
    search = chains.search(RESTARTS)
    spread, weights = np.full(plant.num_velocities(), np.pi), np.ones(plant.num_velocities())
    for k, name in enumerate(plant.GetVelocityNames()):
        if name.endswith(("_v", "_vx", "_vy", "_vz")):
            spread[k] = TRAVEL

    def assemble(rng):
        start = chains.manifold.moved(plant.GetDefaultPositions(), rng.uniform(-spread, spread))
        return search.nearest(start, weights, TOLERANCE, MOST_ITERATIONS, minimize=False)

    return assemble
