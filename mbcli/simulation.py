"""Running a plant over time: stepping, sampling, and why a run stops.

`Run` advances a context and yields blocks of samples; `Simulator` is pydrake's interface to the same loops.
"""

import math
import time
from dataclasses import dataclass

import numpy as np

from mbcli.engine.integrators import METHODS
from mbcli.engine.loop import (
    BUFFER_FULL,
    ELEMENT_FAULT,
    EXPLICIT,
    FINISHED,
    IMPLICIT,
    NOT_FINITE,
    SEMI_EXPLICIT,
    STEP_TOO_SMALL,
)
from mbcli.errors import ModelError, NumericalError
from mbcli.python_forces import PythonForces, needs_python
from mbcli.simulator_config import SimulatorConfig

BLOCK_ROWS = 512
SECONDS_PER_CALL = 0.05  # of wall-clock time between looks at signals and the progress bar
SCHEMES = ("semi_explicit_euler", *METHODS)
TIME_TOLERANCE = 1e-9  # relative to a step: times closer than this to a step's end are that end


@dataclass
class Input:
    """Actuation over time: values (k, nu) [N m or N] that hold from their time [s] until the next."""

    times: np.ndarray
    values: np.ndarray

    def __post_init__(self):
        self.times = np.ascontiguousarray(self.times, dtype=float)
        self.values = np.ascontiguousarray(self.values, dtype=float)
        if self.times.size == 0 or np.isnan(self.times).any() or not (np.diff(self.times) > 0.0).all():
            raise ModelError("the times of an input series must increase")
        if self.values.ndim != 2 or self.values.shape[0] != self.times.size:
            raise ModelError(f"an input series of {self.times.size} times has values of shape {self.values.shape}")


def constant_input(u):
    """The same actuation u (nu,) at all times."""
    return Input(np.array([-math.inf]), np.atleast_2d(np.asarray(u, dtype=float)))


@dataclass(frozen=True)
class Samples:
    """Rows of a run: time (n,), q (n, nq), v (n, nv), energy (n, 2) kinetic and potential [J], u (n, nu).

    The potential energy is NaN in a plant with a force element that has none, as a bushing.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    energy: np.ndarray
    u: np.ndarray


class Run:
    """Advances a context from its time to `until` and yields its samples in blocks.

    Args:
        plant: finalized.
        context: where the run starts; holds the state reached, also after an error.
        until: [s] end of the run.
        config: SimulatorConfig, for a continuous plant.
        actuation: Input.
        sample_period: [s] between samples; None samples every step of a discrete plant, and only start and end of a
            continuous one. A discrete plant is sampled at whole steps.
        next_step: [s] first step that a continuous run tries, where a run goes on; None starts from the largest.
    """

    def __init__(self, plant, context, until, *, config=None, actuation=None, sample_period=None, next_step=None):
        self.plant, self.context, self.until = plant, context, float(until)
        if not math.isfinite(self.until):
            raise ModelError(f"the end of a run must be a finite time, it is {self.until}")
        if self.until < context.get_time() - TIME_TOLERANCE * plant.time_step():
            raise ModelError(f"the run would end at {until:g} s, before the time {context.get_time():g} s of its state")
        context._at_positions()  # the arrays of the context's own parameters
        self.config = SimulatorConfig() if config is None else config
        nu = plant.num_actuators()
        self.actuation = constant_input(plant._actuation(context)) if actuation is None else actuation
        if self.actuation.values.shape[1] != nu:
            raise ModelError(f"the input has {self.actuation.values.shape[1]} columns, the plant {nu} actuators")
        self.steps = self.refused_steps = 0
        self.next_step = next_step
        self._sample_period = sample_period
        self._u = np.zeros(nu)
        self._no_potential_energy = plant._model.sizes["nbushing"] > 0
        self._loops = PythonForces(plant, context, self._u) if needs_python(plant, context) else context._kernels
        self._buffers = (
            np.zeros(BLOCK_ROWS),
            np.zeros((BLOCK_ROWS, plant.num_positions())),
            np.zeros((BLOCK_ROWS, plant.num_velocities())),
            np.zeros((BLOCK_ROWS, 2)),
            np.zeros((BLOCK_ROWS, nu)),
        )

    def compile(self):
        """Compiles or loads the loop, so that the time of a run is that of its steps."""
        advance = self._discrete(0) if self.plant.is_discrete() else self._continuous(0)
        next(advance)

    def blocks(self, should_stop=lambda: False, on_progress=lambda time: None):
        """Yields Samples until the end, or until should_stop() is true between two calls of the loop.

        Raises NumericalError naming the first coordinate that is not finite; the context then has the last good state.
        """
        advance = self._discrete() if self.plant.is_discrete() else self._continuous()
        for finished, rows in advance:
            self.context._forget_positions()
            if rows:
                if self._no_potential_energy:
                    self._buffers[3][:rows, 1] = math.nan
                yield Samples(*(buffer[:rows].copy() for buffer in self._buffers))
            on_progress(self.context.get_time())
            if finished or should_stop():
                return

    # discrete plants

    def _discrete(self, budget=64):
        context, h = self.context, self.plant.time_step()
        loop = self._loops.run_discrete
        step = _whole_steps(context.get_time(), h)
        last = max(step, math.ceil(self.until / h - TIME_TOLERANCE))
        every = 1 if self._sample_period is None else max(1, round(self._sample_period / h))
        implicit = 0.0 if self.plant._discrete_contact_approximation == "tamsi" else 1.0
        previous = np.zeros(context._q.size + context._v.size)
        first = step
        while True:
            started = time.perf_counter()
            status, step, rows = loop(
                context._model_handle,
                context._data_handle,
                0.0,
                h,
                implicit,
                step,
                last,
                budget,
                every,
                self.actuation.times,
                self.actuation.values,
                self._u,
                previous,
                *self._buffers,
            )
            self.steps = step - first
            context._time = step * h
            budget = _adapted(budget, time.perf_counter() - started)
            if status in (NOT_FINITE, ELEMENT_FAULT):
                error = self._failure(status, np.concatenate([context._q, context._v]))
                context._q[:], context._v[:] = previous[: context._q.size], previous[context._q.size :]
                yield False, rows
                raise error
            yield status == FINISHED, rows

    # continuous plants

    def _continuous(self, budget=16):
        context, config, plant = self.context, self.config, self.plant
        if config.integration_scheme not in SCHEMES:
            known = ", ".join(SCHEMES)
            raise ModelError(f"integration scheme '{config.integration_scheme}' is not supported; there are {known}")
        method = METHODS.get(config.integration_scheme, METHODS["explicit_euler"])
        scheme = IMPLICIT if method.implicit else EXPLICIT
        if config.integration_scheme == "semi_explicit_euler":
            scheme = SEMI_EXPLICIT
        if scheme == IMPLICIT and self._loops is not context._kernels:
            raise ModelError(
                f"integration scheme '{config.integration_scheme}' cannot run with force elements of a user or with "
                "applied forces: choose an explicit one"
            )
        n, stages = context._q.size + context._v.size, method.A.shape[0]
        wide = n if scheme == IMPLICIT else 0
        y = np.concatenate([context._q, context._v])
        end = np.zeros(n)
        clock = np.array([context.get_time(), self.next_step or config.max_step_size, 0.0, 0.0])
        sample_times = self._sample_times(context.get_time())
        arrays = (
            y,
            end,
            np.zeros(n),
            np.zeros((stages + 1, n)),
            np.zeros((wide, wide)),
            np.zeros((stages * wide, stages * wide)),
            np.zeros(stages * wide, dtype=np.int64),
            np.zeros((2, stages * wide)),
            np.zeros((wide, wide)),
            np.zeros(wide, dtype=np.int64),
        )
        index = 0
        while True:
            started = time.perf_counter()
            try:
                status, index, rows = self._loops.run_continuous(
                    context._model_handle,
                    context._data_handle,
                    scheme,
                    method.A,
                    method.b,
                    method.error,
                    method.error_order,
                    config.use_error_control and method.error_order > 0,
                    config.accuracy,
                    config.max_step_size,
                    clock,
                    index,
                    sample_times,
                    budget,
                    self.actuation.times,
                    self.actuation.values,
                    self._u,
                    *arrays,
                    *self._buffers,
                )
            finally:  # an error in a user's force too leaves the last good state
                context._set_q(y[: context._q.size])
                context._set_v(y[context._q.size :])
                context._time = float(clock[0])
            self.next_step, self.steps, self.refused_steps = float(clock[1]), int(clock[2]), int(clock[3])
            if status != BUFFER_FULL:
                budget = _adapted(budget, time.perf_counter() - started)
            if status in (NOT_FINITE, ELEMENT_FAULT):
                error = self._failure(status, end)
                yield False, rows
                raise error
            if status == STEP_TOO_SMALL:
                yield False, rows
                raise NumericalError(
                    f"the step of {config.integration_scheme} became too small at t = {clock[0]:.9g} s in "
                    f"'{plant_of(plant)}': the system is too stiff for it or the accuracy {config.accuracy:g} too high"
                )
            yield status == FINISHED, rows

    def _sample_times(self, start):
        """Start, end, and the multiples of the sample period between them."""
        if self._sample_period is None:
            return np.array([start, self.until]) if self.until > start else np.array([start])
        first = math.floor(start / self._sample_period + TIME_TOLERANCE) + 1
        last = math.ceil(self.until / self._sample_period - TIME_TOLERANCE)
        between = np.arange(first, last) * self._sample_period
        ends = [self.until] if self.until > start else []
        return np.concatenate([[start], between, ends])

    def _failure(self, status, y):
        """The error for a step that led to the state y, which is not finite or has a force element without a force."""
        plant = self.plant
        if status == ELEMENT_FAULT:
            element = plant._force_element_fault(self.context)
            return NumericalError(
                f"{element._fault()}, in step {self.steps + 1} from t = {self.context.get_time():.9g} s"
            )
        names = [("position", n) for n in plant.GetPositionNames()] + [
            ("velocity", n) for n in plant.GetVelocityNames()
        ]
        k = int(np.flatnonzero(~np.isfinite(y))[0])
        kind, name = names[k]
        return NumericalError(
            f"{kind} '{name}' is not finite after step {self.steps + 1} from t = {self.context.get_time():.9g} s"
        )


def plant_of(plant):
    """The names of the models in a plant, for messages."""
    return ", ".join(plant._instances[2:]) or "plant"


def _whole_steps(t, h):
    """The number of steps of length h up to time t."""
    return max(0, math.ceil(t / h - TIME_TOLERANCE))


def _adapted(budget, seconds):
    """A number of steps that takes about SECONDS_PER_CALL."""
    factor = min(8.0, max(0.25, SECONDS_PER_CALL / max(seconds, 1e-6)))
    return max(1, min(10_000_000, int(budget * factor)))


class Simulator:
    """Advances a plant in time, under the names of pydrake.systems.analysis.

    Args:
        system: a finalized MultibodyPlant.
        context: its state; a default context where not given.
    """

    def __init__(self, system, context=None):
        self._plant = system
        self._context = system.CreateDefaultContext() if context is None else context
        system._check_context(self._context)
        self._config = SimulatorConfig()
        self._steps = 0
        self._next_step = None

    def get_context(self):
        return self._context

    get_mutable_context = get_context

    def get_system(self):
        return self._plant

    def Initialize(self):
        return self

    def AdvanceTo(self, boundary_time):
        """Advances the context to a time [s]; a discrete plant takes whole steps."""
        if boundary_time < self._context.get_time():
            raise RuntimeError(f"time {boundary_time} is before the context's time {self._context.get_time()}")
        every = max(boundary_time, 1.0) * 10.0  # no samples on the way
        run = Run(
            self._plant,
            self._context,
            boundary_time,
            config=self._config,
            sample_period=None if not self._plant.is_discrete() else every,
            next_step=self._next_step,
        )
        for _ in run.blocks():
            pass
        self._steps += run.steps
        self._next_step = run.next_step
        self._context.SetTime(float(boundary_time))
        return self

    def AdvancePendingEvents(self):
        return self

    def get_num_steps_taken(self):
        return self._steps

    def get_actual_realtime_rate(self):
        raise RuntimeError("this simulator runs as fast as possible and measures no realtime rate")

    def set_target_realtime_rate(self, realtime_rate):
        """Only 0 (as fast as possible) is supported."""
        if realtime_rate != 0.0:
            raise RuntimeError("a target realtime rate is not supported: the simulator runs as fast as possible")


def ApplySimulatorConfig(config, simulator):
    """Uses the integrator, accuracy and step settings of a SimulatorConfig."""
    if config.integration_scheme not in SCHEMES:
        raise ModelError(f"integration scheme '{config.integration_scheme}' is not supported")
    simulator._config = config
