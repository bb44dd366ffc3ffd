"""No computation reads a working array that neither it, nor a stage that it builds on, nor its caller has written.

Before each call of a kernel all numbers in Data are set to NaN that the context does not know: the state stays, what
the stages that are current have written (found by running them), and the inputs that a caller hands over.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from random_trees import random_plant, random_state

from benchmarks.plant_calls import CALCULATIONS
from mbcli.engine import load_kernels
from mbcli.engine.fields.model_fields import DATA_FIELDS
from mbcli.engine.runtime.model import Data
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.state.evaluated_state import EvaluatedState
from mbcli.multibody.tree import BodyIndex, JacobianWrtVariable, ModelInstanceIndex, MultibodyForces
from mbcli.systems.analysis import Simulator

OF_CONTEXT = {"q", "v", "pd_desired", "pd_carried", "contact", "constraint_set"}
# what callers write right before the call of a kernel
INPUTS = {
    "calc_inverse_dynamics": "vdot",
    "calc_actuation": "u",
    "calc_accelerations": "u",
    "calc_forward_dynamics": "tau",
    "calc_step_dynamics": "tau u",
    "step_under_link_forces": "tau u",
    "full_forward_dynamics": "tau diagonal",
    "query_reactions": "vdot",
    "query_link_accelerations": "vdot",
}
OF_BUSHINGS = {f"{verb}{what}" for verb in ("Calc", "Eval") for what in ("PotentialEnergy", "ConservativePower")} | {
    "CalcNonConservativePower"
}
REMEMBERED = {"mass_matrix": ("M",), "links": ("X_WL", "V_WL")}
PLANTS = {
    "discrete": {"seed": 11, "elements": True, "time_step": 0.01, "floating_bases": 1},
    "plain and discrete": {"seed": 12, "kinds": ("revolute", "prismatic"), "time_step": 0.01, "trees": 2},
    "controlled": {"seed": 13, "controlled": True, "time_step": 0.01},
    "continuous": {"seed": 14, "elements": True, "floating_bases": 1},
}
NO_MARK = -7  # of integers


def fields_of(data):
    return {f.name: getattr(data, f.name) for f in DATA_FIELDS}


def unknown_after(model, q, v, *stages):
    """{field: where its numbers do not follow from these stages}."""
    data, kernels = Data(model.sizes), load_kernels(False)
    first = {name: array.copy() for name, array in fields_of(data).items()}
    poison(data, {name: np.ones(array.shape, bool) for name, array in first.items()}, OF_CONTEXT)
    data.q[:], data.v[:] = q, v
    for stage in stages:
        getattr(kernels, stage)(model, data)
    return {
        name: array == NO_MARK if array.dtype.kind == "i" else np.isnan(array)
        for name, array in fields_of(data).items()
    }


def poison(data, unknown, kept):
    """Sets numbers to NaN, integers to NO_MARK, but for World's rows, which are constant."""
    for field in DATA_FIELDS:
        if field.name not in kept:
            where = unknown[field.name].copy()
            if field.shape[0] in ("nbody", "nlink"):
                where[:1] = False
            getattr(data, field.name)[where] = np.nan if field.kind == "real" else NO_MARK


class BoundForGood(EvaluatedState):
    """A state that would fail to put other calls in the place of those it has."""

    __slots__ = ()
    _bind = None


class PoisoningCalls:
    """The kernels of a context; before each call Data forgets all that the context does not know."""

    def __init__(self, context, calls):
        self._context, self._calls = context, calls
        model, q, v = context.state.model, context.state.q, context.state.v
        self._unknown = [
            unknown_after(model, q, v, *stages)
            for stages in ((), ("position_stage",), ("position_stage", "velocity_stage"))
        ]

    def __getattr__(self, name):
        kernel = getattr(self._calls, name)

        def poisoned(*arguments):
            state = self._context.state
            known = {"position_stage": 0, "motion_stage": 0, "velocity_stage": 1}.get(name)
            if known is None:
                known = state.positions_current + (state.positions_current and state.velocities_current)
            kept = OF_CONTEXT | set(INPUTS.get(name, "").split())
            for key, names in REMEMBERED.items():
                if key in state.position_cache or key in state.velocity_cache:
                    kept |= set(names)
            poison(state.data, self._unknown[known], kept)
            return kernel(*arguments)

        return poisoned


def side(name, poisoned):
    """What the calls of benchmarks/plant_calls.py take."""
    settings = PLANTS[name]
    plant, rng = random_plant(**settings), np.random.default_rng(settings["seed"])
    q, v = random_state(plant, rng)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    for instance in range(plant.num_model_instances()):
        port = plant.get_desired_state_input_port(ModelInstanceIndex(instance))
        port.FixValue(context, 0.1 * rng.normal(size=port.size()))
    forces = MultibodyForces(plant)
    forces.mutable_generalized_forces()[:] = rng.normal(size=v.size)
    forces.F_Bo_W[:] = rng.normal(size=forces.F_Bo_W.shape)
    if poisoned:
        context.state.calls = PoisoningCalls(context, context.state.calls)
        context.state.__class__ = BoundForGood
    body = plant.get_body(BodyIndex(plant.num_bodies() - 1))
    return SimpleNamespace(
        plant=plant,
        has_bushings=bool(plant.model.sizes["nbushing"]),
        context=context,
        case=SimpleNamespace(vdot=rng.normal(size=v.size), v=[v], q=[q, rng.normal(size=q.size)]),
        forces=forces,
        sum=MultibodyForces(plant),
        force=SpatialForce(rng.normal(size=6)),
        body=body,
        frame=body.body_frame(),
        base=plant.get_body(BodyIndex(2)).body_frame(),
        world=plant.world_frame(),
        point=rng.normal(size=3),
        points=rng.normal(size=(3, 1)),
        ten_points=rng.normal(size=(3, 10)),
        by_v=JacobianWrtVariable.kV,
        by_qdot=JacobianWrtVariable.kQDot,
        instances=[body.model_instance()],
        all_bodies=[BodyIndex(n) for n in range(plant.num_bodies())],
    )


def numbers_in(result):
    """All numbers of a result, one after another."""
    for name in ("CopyToVector", "GetAsMatrix34", "CopyToFullMatrix6", "get_coeffs", "matrix", "ToRollPitchYaw"):
        if hasattr(result, name):
            return np.ravel(getattr(result, name)())
    if hasattr(result, "toarray"):
        return np.ravel(result.toarray())
    if isinstance(result, (list, tuple)):
        return np.concatenate([numbers_in(part) for part in result]) if len(result) else np.zeros(0)
    if isinstance(result, dict):
        return numbers_in(list(result.values()))
    return np.ravel(np.asarray(result, dtype=float)) if result is not None else np.zeros(0)


@pytest.fixture(scope="module", params=PLANTS)
def sides(request):
    return side(request.param, False), side(request.param, True)


@pytest.mark.parametrize("call", CALCULATIONS)
def test_a_call_does_not_read_what_it_does_not_know(sides, call):
    clean, poisoned = sides
    if call == "CalcNonConservativePower" or "AddIn" in call:
        clean.sum.SetZero()
        poisoned.sum.SetZero()
    for s in sides:
        s.context.state.forget_positions()
    if clean.has_bushings and call in OF_BUSHINGS:
        pytest.skip("bushings have no energy")
    expected = numbers_in(CALCULATIONS[call](clean))
    np.testing.assert_array_equal(numbers_in(CALCULATIONS[call](poisoned)), expected)
    again = numbers_in(CALCULATIONS[call](poisoned))  # with what it has remembered
    np.testing.assert_allclose(again, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", PLANTS)
def test_steps_do_not_read_what_earlier_calls_left(name, compiled, monkeypatch):
    """Whatever is in Data: a run starts from the state and the inputs alone."""
    if not compiled:
        monkeypatch.setenv("MBCLI_JIT", "0")
    results = []
    for left in (0.0, np.nan, 7.0):
        s = side(name, False)
        everything = {n: np.ones(a.shape, bool) for n, a in fields_of(s.context.state.data).items()}
        for field in DATA_FIELDS:
            if field.name not in OF_CONTEXT and field.shape[0] not in ("nbody", "nlink"):
                getattr(s.context.state.data, field.name)[...] = left if field.kind == "real" else NO_MARK
        if left != 0.0:
            poison(s.context.state.data, everything, OF_CONTEXT)
            for array in fields_of(s.context.state.data).values():
                if array.dtype.kind != "i":  # these keep NO_MARK
                    array[np.isnan(array)] = left
        Simulator(s.plant, s.context).AdvanceTo(0.03)
        results.append(s.plant.GetPositionsAndVelocities(s.context))
    assert np.isfinite(results[0]).all()
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])


@pytest.mark.parametrize("name", PLANTS)
@pytest.mark.parametrize("call", ["CalcInverseDynamics", "CalcForceElementsContribution", "CalcGeneralizedForces"])
def test_forces_of_a_call_do_not_act_in_the_next_step(name, call):
    """The idiom of inverse-dynamics control: gravity acted twice in the step after it."""
    with_call, without = side(name, False), side(name, False)
    simulators = [Simulator(s.plant, s.context) for s in (with_call, without)]
    for k in range(1, 4):
        CALCULATIONS[call](with_call)
        for simulator in simulators:
            simulator.AdvanceTo(0.01 * k)
    states = [s.plant.GetPositionsAndVelocities(s.context) for s in (with_call, without)]
    np.testing.assert_array_equal(*states)
