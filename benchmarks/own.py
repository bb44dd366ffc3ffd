"""The calls of mbcli that are measured, and the state at which everybody computes."""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from benchmarks.plant_calls import CALLS, PlantSide, numbers
from mbcli import math
from mbcli.engine import load_kernels
from mbcli.engine.runtime.linking import compiled_kernels
from mbcli.engine.runtime.model import Data
from mbcli.multibody import math as spatial, tree
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.systems.analysis import Simulator

NUM_STATES = 16  # states that calls with a new state go through

# kernel, its result, its inputs
ENGINE_KERNELS = {
    "rnea": ("full_inverse_dynamics", "tau", ("q", "v", "vdot")),
    "crba": ("full_mass_matrix", "M", ("q",)),
    "aba": ("full_forward_dynamics", "vdot", ("q", "v", "tau")),
}


@dataclass(frozen=True)
class Call:
    """Something to measure: `run()`, and `read(result)`, which gives its result in the coordinates of mbcli."""

    run: object
    read: object = np.asarray


class Case:
    """A model in mbcli with states to compute at: q (n, nq), v (n, nv), vdot (nv,)."""

    def __init__(self, path=None, weld=None, text=None):
        def plant(time_step, scheme=None):
            plant = MultibodyPlant(time_step)
            if scheme is not None:
                plant.set_step_scheme(scheme)
            parser = Parser(plant)
            if text is None:
                parser.AddModels(str(path))
            else:
                parser.AddModels(file_contents=text, file_type=".urdf")
            if weld:
                plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(weld))
            for index in plant.GetJointIndices():  # as for the peers
                joint = plant.get_mutable_joint(index)
                n = joint.num_positions()
                joint.set_position_limits(np.full(n, -np.inf), np.full(n, np.inf))
            plant.Finalize()
            return plant

        self.make_plant = plant
        self.plant = plant(0.0)
        self.quaternion_starts = [
            self.plant.get_body(i).floating_positions_start() for i in self.plant.GetFloatingBaseBodies()
        ]
        rng = np.random.default_rng(0)
        self.q = rng.uniform(-1.0, 1.0, (NUM_STATES, self.plant.num_positions()))
        for start in self.quaternion_starts:
            self.q[:, start : start + 4] /= np.linalg.norm(self.q[:, start : start + 4], axis=1, keepdims=True)
        self.v = rng.normal(size=(NUM_STATES, self.plant.num_velocities()))
        self.vdot = rng.normal(size=self.plant.num_velocities())
        self.armature = self.plant.model.dof_armature


# ------------------------------------------------------------------------------------------------ engine


def engine_call(case, calculation):
    """A kernel called from Python; its inputs lie in Data, as those of Pinocchio lie in the arrays it is given."""
    kernel, data, handles = _prepared(case, calculation)
    model_handle, data_handle = handles
    result = getattr(data, ENGINE_KERNELS[calculation][1])

    def run():
        kernel(model_handle, data_handle)
        return result

    run.keeps_alive = data  # handles are addresses
    return Call(run)


def written_engine_call(case, calculation):
    """The same, with the inputs copied into Data before each call."""
    kernel, data, handles = _prepared(case, calculation)
    copies = [(getattr(data, name), getattr(data, name).copy()) for name in ENGINE_KERNELS[calculation][2]]

    def run():
        for target, value in copies:
            target[:] = value
        kernel(*handles)

    run.keeps_alive = data
    return Call(run)


def repeated_engine_call(case, calculation, count):
    """The same kernel, as it is compiled here, `count` times in a compiled loop: what it takes without Python."""
    kernel, data, handles = _prepared(case, calculation, compiled_kernels(""))
    loop, result = _repeat(), getattr(data, ENGINE_KERNELS[calculation][1])

    def run():
        loop(kernel, *handles, count)
        return result

    run.keeps_alive = data  # handles are addresses
    return Call(run)


def inverse_dynamics_of_states(case, count, lanes):
    """Generalized forces at `count` states, eight at once in vector registers or one by one; returns the last."""
    sizes, q, v = case.plant.model.sizes, *(np.resize(a, (count, a.shape[1])) for a in (case.q, case.v))
    vdot, tau, F_link = np.resize(case.vdot, v.shape), np.zeros(v.shape), np.zeros((0, 6))
    if lanes:
        from mbcli.engine.queries.lane_data import LaneData, load_lane_kernels

        kernels, data = load_lane_kernels(), LaneData(sizes)
        data_handle = data.handle
    else:
        kernels, data = load_kernels(True), Data(sizes)
        data_handle = data.handle(True)
    model_handle = case.plant.model.handle(True)

    def run():
        kernels.inverse_dynamics_of_states(model_handle, data_handle, q, v, vdot, 1.0, 0.0, 0.0, F_link, tau)
        return tau[-1]

    run.keeps_alive = data  # handles are addresses
    return Call(run)


def _prepared(case, calculation, kernels=None):
    """Kernel, Data with the first state, its vdot and the tau that gives it, and the kernel's handles."""
    kernels = kernels or load_kernels(True)
    data = Data(case.plant.model.sizes)
    handles = case.plant.model.handle(True), data.handle(True)
    data.q[:], data.v[:], data.vdot[:] = case.q[0], case.v[0], case.vdot
    data.diagonal[:] = case.armature
    kernels.full_inverse_dynamics(*handles)
    return getattr(kernels, ENGINE_KERNELS[calculation][0]), data, handles


@functools.cache
def _repeat():
    import numba

    @numba.njit
    def repeat(kernel, model, data, count):
        for _ in range(count):
            kernel(model, data)

    return repeat


# ------------------------------------------------------------------------------------------------- plant


def plant_call(side, calculation, new_state):
    """One call of a plant's method; with new_state it sets the next of several q first."""
    method = CALLS[calculation]
    if not new_state:
        return Call(lambda: method(side), numbers)
    states = itertools.cycle(side.case.q)
    set_positions, context = side.plant.SetPositions, side.context

    def run():
        set_positions(context, next(states))
        return method(side)

    return Call(run, numbers)


def own_plant_side(case):
    return PlantSide(case.plant, case, tree, math, spatial)


# ------------------------------------------------------------------------------------------------- steps


def steps_call(case, time_step, steps, scheme=None):
    """`steps` steps of the discrete plant from the first state, of a scheme or the default one; returns [q; v]."""
    plant = case.make_plant(time_step, scheme)
    context = plant.CreateDefaultContext()
    q_v = np.concatenate([case.q[0], case.v[0]])

    def run():
        context.SetTime(0.0)
        plant.SetPositionsAndVelocities(context, q_v)
        Simulator(plant, context).AdvanceTo(steps * time_step)
        return plant.GetPositionsAndVelocities(context)

    return Call(run)


def acceleration_call(case):
    """vdot at the first state, with damping, without actuation."""
    context = case.plant.CreateDefaultContext()
    case.plant.SetPositionsAndVelocities(context, np.concatenate([case.q[0], case.v[0]]))
    return Call(lambda: case.plant.CalcForwardDynamics(context))
