"""Functions whose outputs depend on more than the arrays of a model: made for the plant of a context."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.codegen.code import output_identifiers
from mbcli.codegen.ways import constrained_ways, regressor_ways, step_ways, take_system
from mbcli.engine.fields.model_fields import PD_LIMIT, PD_RATE
from mbcli.engine.runtime.linking import link_interpreted
from mbcli.engine.runtime.model import ConstraintWork
from mbcli.errors import ModelError
from mbcli.math.rotation_array import four_quaternions
from mbcli.models.states import set_random_state
from mbcli.multibody.core.dynamics import implicit_damping
from mbcli.multibody.core.regressors import MovedBodies
from mbcli.multibody.sensing.evaluation import has_forces_between, sensors_named
from mbcli.multibody.sensing.plant_sensing import PlantSensing
from mbcli.multibody.sensing.rows import SensedRows
from mbcli.tracing.model_functions import ModelFunction
from mbcli.tracing.recorded import sign_of, square_root
from mbcli.tracing.recording import without_decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TEN = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")  # about the origin of a link, in its axes
ROWS_AS_BEFORE = -1.0  # tolerance with which rows of constraints are taken out that were before
ATTEMPTS = 20  # random states, of which nearly all are regular


def regressor(context: Any) -> ModelFunction:
    """Y of tau = Y pi, linear in the inertias of the bodies; the parameters pi stand in the table."""
    plant, model = context.state.plant, context.state.model
    moved = MovedBodies(plant, model)
    frames, heavy = np.array(moved.frames, dtype=int), np.array(moved.under_gravity, dtype=float)
    names = [f"{plant.elements.bodies[n].name()}.{name}" for n in moved.leaders for name in TEN]

    def call(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
        q, v, vdot = (each[None] for each in inputs)
        kernels.regressors_of_states(model, data, q, v, vdot, frames, heavy, outputs[0].reshape(1, -1))

    values = [float(x) for x in moved.parameters()]
    return ModelFunction(
        "Y of tau = Y pi without damping, springs and armatures, pi (10 m) the inertial parameters of the m bodies.",
        ("q", "v", "vdot"),
        (("Y", ("nv", 10 * len(moved.frames)), "regressor, for each body m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz"),),
        call,
        table={"parameters": [{"name": n, "value": x} for n, x in zip(names, values, strict=True)]},
        ways=regressor_ways(model, moved.frames),
    )


def step(context: Any) -> ModelFunction:
    """A step of a discrete plant in which no limit of a joint acts, and no controller is at its effort limit."""
    plant, model = context.state.plant, context.state.model
    h = float(plant.time_step())
    if not h:
        raise ModelError("step: the plant is continuous: it has no time step")
    if plant.elements.constraints:
        raise ModelError("step: the model has constraints, whose steps search for their ranks")
    if model.sizes["nfriction"]:
        raise ModelError("step: dry friction of joints is found by a search, which code cannot hold")
    if model.sizes["nturn"]:
        raise ModelError("step: limits of turns of ball joints are found by a search, which code cannot hold")
    if (model.pd_constants[:, PD_RATE] != 0.0).any():
        raise ModelError("step: a controller with a rate carries effort from step to step, which is no input")
    damping, efforts = implicit_damping(plant), model.pd_constants[:, PD_LIMIT].tolist()
    can_limit = min(efforts, default=np.inf) < np.inf or model.sizes["nlimit"] > 0
    free = link_interpreted({"numbers"}, without_decisions())

    def start(kernels: Any, model: Any, data: Any, inputs: Any) -> None:
        _start_step(data, inputs)
        kernels.start_step(model, data, h)

    def call(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
        between = kernels if data.dtype == object else free
        reached = _reaches_limits(between, model, data, inputs, h, damping, efforts) if can_limit else 0.0
        _start_step(data, inputs)
        if data.dtype != object and reached.real < 0.5:
            kernels.discrete_step(model, data, h, damping)
        else:
            _gather(between, model, data, h, damping)
            between.accelerate(model, data, h)
            between.end_between_limits(model, data, h)
        outputs[0][:], outputs[1][:] = data.q, data.v
        if can_limit:
            outputs[2][0] = 1.0 - (1.0 - reached) * _within_efforts(data, efforts)

    told = "1 where a limit of a joint or of an effort can act in the step, so that it is another one; else 0"
    function = ModelFunction(
        f"A step of {h:g} s without contact in which no limit of a joint or of an effort acts.",
        ("q", "v", "tau", *(("q_desired", "v_desired") if model.sizes["npd"] else ())),
        (
            ("q_next", ("nq",), "positions after the step [rad, m, 1]"),
            ("v_next", ("nv",), "velocities after the step [rad/s, m/s]"),
            *((("limited", (1,), told),) if can_limit else ()),
        ),
        call,
        table={"time_step": h, "scheme": plant.settings.step_scheme},
        solves=True,
    )
    return replace(function, ways=step_ways(function, start, model))


def _start_step(data: Any, inputs: Any) -> None:
    """The state and forces of a step; tau (nv,) acts beside the controllers, which feed nothing forward."""
    data.q[:], data.v[:], data.tau[:] = inputs[:3]
    data.F_applied[...], data.u[:], data.pd_carried[:] = 0.0, 0.0, 0.0
    if len(inputs) > 3:
        data.pd_desired[:, 0], data.pd_desired[:, 1] = inputs[3], inputs[4]


def _gather(kernels: Any, model: Any, data: Any, h: float, damping: float) -> None:
    """As discrete_step() of the engine begins."""
    kernels.start_step(model, data, h)
    kernels.place_step(model, data)
    kernels.gather_forces(model, data, h, damping)


def _reaches_limits(
    kernels: Any, model: Any, data: Any, inputs: Any, h: float, damping: float, efforts: Sequence[float]
) -> Any:
    """1 where a limit of a joint can act as joint_limits.can_meet_limit() of the engine says, or an effort; else 0."""
    _start_step(data, inputs)
    _gather(kernels, model, data, h, damping)
    kernels.go_to_start(data)
    kernels.limited_dynamics(model, data, h)
    free = _within_efforts(data, efforts)
    for k, d in enumerate(model.limit_dof.tolist()):
        if d not in model.locked_dof:
            v, v_free = _size(data.v[d]), _size(data.v[d] + h * data.vdot[d])
            farthest = 0.5 * (v + v_free + _size(v - v_free))
            free = free * _is_negative(2.0 * h * farthest - kernels.limit_gap(model, data.q, k, h))
    return 1.0 - free


def _within_efforts(data: Any, efforts: Sequence[float]) -> Any:
    """1 where no controller gives more than its limit, else 0."""
    within: Any = 1.0
    for i, limit in enumerate(efforts):
        if limit < np.inf:
            within = within * (1.0 - _is_negative(limit - _size(data.pd_effort[i])))
    return within


def _size(x: Any) -> Any:
    return sign_of(x) * x


def _is_negative(x: Any) -> Any:
    return 0.5 * (1.0 - sign_of(x))


def constrained_dynamics(context: Any) -> ModelFunction:
    """Accelerations and multipliers under the constraints, of the rank that they have at regular positions."""
    active = context.state.current_constraints()
    if active is None:
        raise ModelError("constrained_dynamics: the model has no constraints: forward_dynamics is its motion")
    active.require_equations()
    kept = _independent_rows(context, active)
    kinds: dict[Any, tuple[Any, Any]] = {}  # by type of numbers

    def call(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
        """of: None, or the way of take_system() in place of the kernels."""
        if data.dtype not in kinds:
            kinds[data.dtype] = active.arrays.replace(dtype=data.dtype), ConstraintWork(active.arrays.sizes, data.dtype)
        cons, work = kinds[data.dtype]
        work.pivot_inverse[:] = kept
        data.q[:], data.v[:], data.tau[:] = inputs
        data.diagonal[:] = model.dof_armature
        kernels.at_velocities(model, data)
        kernels.clear_applied_forces(data)
        kernels.add_joint_forces(model, data)
        kernels.add_element_forces(model, data, data.F_applied, 0)
        kernels.apply_joint_locks(model, data)
        kernels.row_axes(model, data, cons, work, 0)
        kernels.constraint_jacobian(data, cons, work)
        kernels.bias_of_motion(model, data, work)
        kernels.constraint_bias(model, data, cons, work)
        kernels.packed_mass_matrix(model, data, cons, work)
        if of is not None:
            take_system(of, kernels, model, data, cons, work)
        kernels.factorize_system(model, cons, work, ROWS_AS_BEFORE)
        kernels.solve_for_accelerations(model, data, cons, work)
        outputs[0][:] = data.vdot
        outputs[1][cons.row_number] = work.force

    rank, rows = int(kept.sum()), len(kept)
    function = ModelFunction(
        f"Accelerations under the constraints, whose {rows} rows have the rank {rank}: q and v satisfy them, and q is "
        "not singular.",
        ("q", "v", "tau"),
        (
            ("vdot", ("nv",), "accelerations [rad/s^2, m/s^2]"),
            ("multipliers", (rows,), "of the constraints' rows [N, N m]; 0 of rows that depend on others"),
        ),
        call,
        table={"rank": rank, "rows": [repr(owner) for owner in active.row_owners]},
        solves=True,
    )
    return replace(function, ways=constrained_ways(function, context.state.model))


def _independent_rows(context: Any, active: Any) -> Any:
    """(nrow,) 1.0 of the rows, in the engine's order, that do not depend on others at a regular position, else 0.0."""
    plant, chains, random = context.state.plant, active.chains(context), np.random.default_rng(0)
    rank, scratch = active.usual_rank(context)[0], plant.CreateDefaultContext()
    for _ in range(ATTEMPTS):
        set_random_state(plant, scratch, random)
        independent = chains.independent(scratch.state.q)
        if int(independent.sum()) == rank:
            return independent[active.arrays.row_number].astype(float)
    raise ModelError("constrained_dynamics: no regular position of the closed chains was found")


REFUSED_NEEDS = {"contact": "contact", "effort": "efforts of actuators", "geometry": "rays", "energy": "energies"}


def sensors(context: Any, name: str = "") -> ModelFunction:
    """What sensors measure, without rate, delay and noise, at given accelerations: all, or the one of a name."""
    plant = context.state.plant
    chosen = sensors_named(plant, [name] if name else None)
    if not chosen:
        raise ModelError("sensors: the model has none")
    for sensor in chosen:
        _refuse_sensor(plant, sensor)

    def call(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
        q, v, vdot = (each[None] for each in inputs)
        sensing = _KernelSensing(plant, kernels, model, data)
        rows = _SelectedRows(sensing, np.zeros(1), q, v, vdot=vdot)
        for sensor, output in zip(chosen, outputs, strict=True):
            try:
                output[:] = np.ravel(sensor.kind.values(sensor, rows))
            except (ModelError, TypeError) as error:
                raise ModelError(f"sensor '{sensor.name()}' ({sensor.type_name()}) decides by the state") from error

    inputs = ("q", "v", "vdot")
    names = output_identifiers((s.path.removeprefix("sensors/") for s in chosen), inputs)
    return ModelFunction(
        "What sensors measure at accelerations vdot, without noise, delay and rate.",
        inputs,
        tuple((n, (len(s.columns()[0]),), ", ".join(_columns(s))) for n, s in zip(names, chosen, strict=True)),
        call,
    )


def _columns(sensor: Any) -> list[str]:
    return [f"{name or sensor.type_name()} [{unit}]" for name, unit in zip(*sensor.columns(), strict=True)]


def _refuse_sensor(plant: Any, sensor: Any) -> None:
    asked = f"sensor '{sensor.name()}' ({sensor.type_name()})"
    for need, words in REFUSED_NEEDS.items():
        if need in sensor.kind.NEEDS:
            raise ModelError(f"{asked}: code cannot hold what follows from {words}")
    if sensor.kind_name() == "clock":
        raise ModelError(f"{asked}: code has no time")
    if "wrench" in sensor.kind.NEEDS and (has_forces_between(plant) or plant.elements.constraints):
        raise ModelError(f"{asked}: forces between links or constraints decide on it")
    if sensor.cutoff and sensor.kind.CUTOFF:
        raise ModelError(f"{asked}: it is cut off at {sensor.cutoff:g}, which code does not hold")


class _SelectedRows(SensedRows):
    """One state in any numbers; for others than floats what is decided by size is selected."""

    def quaternions(self, R: Any) -> Any:
        """As of SensedRows: of four candidates, the same quaternion in four lengths, the longest."""
        if R.dtype.kind == "f":
            return super().quaternions(R)
        squares, candidates = four_quaternions(R[0])
        chosen: list[Any] = [0.0] * 4
        for k, candidate in enumerate(candidates):
            weight: Any = 1.0
            for j in range(4):  # of equal ones the first
                if j != k:
                    longer = squares[k] - squares[j]
                    weight = weight * (_is_negative(-longer) if j < k else 1.0 - _is_negative(longer))
            chosen = [x + weight * y for x, y in zip(chosen, candidate, strict=True)]
        w, x, y, z = chosen
        length = sign_of(w) * square_root(w * w + x * x + y * y + z * z)
        return np.array([[part / length for part in chosen]], dtype=R.dtype)


class _KernelSensing(PlantSensing):
    """What sensors need, of one state in any numbers, by given kernels."""

    def __init__(self, plant: Any, kernels: Any, model: Any, data: Any) -> None:
        super().__init__(plant, False, plant.model)
        self.model, self._kernels, self._data = model, kernels, data

    def link_motions(self, q: Any, v: Any, vdot: Any, links: list[int]) -> tuple[Any, ...]:
        n = len(links)
        frames = np.array([self.plant.elements.bodies[k].body_frame().index_number for k in links])
        X, V, A = (np.zeros((1, size * n), self._data.dtype) for size in (12, 6, 6))
        self._kernels.motions_of_frames(self.model, self._data, q, v, vdot, frames, 0, X, V, A)
        X = X.reshape(1, n, 12)
        return X[..., :9].reshape(1, n, 3, 3), X[..., 9:], V.reshape(1, n, 6), A.reshape(1, n, 6)


PLANT_FUNCTIONS: dict[str, Callable[..., ModelFunction]] = {
    "regressor": regressor,
    "step": step,
    "constrained_dynamics": constrained_dynamics,
    "sensors": sensors,
}
