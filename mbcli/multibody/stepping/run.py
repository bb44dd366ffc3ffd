"""Running a plant over time: stepping, sampling, and why a run stops.

`Run` advances a context and yields blocks of samples; mbcli/systems/simulator.py has pydrake's interface to it.
"""

from __future__ import annotations

import math
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.config.simulator_config import SimulatorConfig
from mbcli.engine.fields.model_fields import PD_RATE
from mbcli.engine.fields.run_fields import (
    CLOCK_NEXT_STEP,
    CLOCK_PENDING,
    CLOCK_REFUSED,
    CLOCK_STEPS,
    CLOCK_TIME,
    EXPLICIT,
    IMPLICIT,
    SEMI_EXPLICIT,
)
from mbcli.engine.runtime.addresses import address_of_function
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.engine.stepping.integrators import METHODS, Integration
from mbcli.engine.stepping.loop import (
    BUFFER_FULL,
    CONSTRAINTS_UNMET,
    ELEMENT_FAULT,
    FINISHED,
    GIMBAL_LOCK,
    NOT_FINITE,
    ROWS_UNSOLVED,
    RUNNING,
    SINGULAR_POSITION,
    STEP_FAULT,
    STEP_TOO_SMALL,
    TICK_FAULT,
)
from mbcli.engine.stepping.pushes import SAME_TIME, share_of_step
from mbcli.engine.stepping.run_arrays import Actuation, Recording, Stepping
from mbcli.errors import ControlError, ModelError, NumericalError
from mbcli.multibody.compilation.cut_joints import WatchedLimits, require_actions
from mbcli.multibody.contact.meeting_contact import allocate_contact, prepare_contact
from mbcli.multibody.contact.python_forces import PythonForces, needs_python
from mbcli.multibody.contact.sleep import Sleep, context_of_steps
from mbcli.multibody.core.dynamics import implicit_damping
from mbcli.multibody.core.force_elements import force_element_fault
from mbcli.multibody.core.inputs import has_controllers
from mbcli.multibody.core.rates import gimbal_lock
from mbcli.multibody.core.step_forces import StepForces
from mbcli.multibody.core.transmissions import require_steps_for_transmissions
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.stepping.energy_balance import KeptBalance, keep_none
from mbcli.multibody.stepping.missing_mass import require_masses
from mbcli.multibody.stepping.not_finite import behind_singular, not_finite
from mbcli.multibody.stepping.ticks import Controller, Ticks
from mbcli.multibody.tree.index import BodyIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from mbcli.multibody.core.applied_forces import ExternallyAppliedSpatialForce
    from mbcli.multibody.core.plant_core import PlantCore
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.energy_balance import EnergyBalance

BLOCK_ROWS = 512
NEVER = 1 << 60  # steps from one sample to the next
SECONDS_PER_CALL = 0.05  # of wall-clock time between looks at signals and the progress bar
SCHEMES = ("semi_explicit_euler", *METHODS)
ROUGH_START = 1e-3  # [m or 1] the same from which discrete steps go without a word
CONSTRAINT_TOLERANCE = 1e-10  # [m or 1] of the norm of all position errors
NO_NEXT_STEP = (NOT_FINITE, ELEMENT_FAULT, GIMBAL_LOCK, CONSTRAINTS_UNMET, SINGULAR_POSITION, ROWS_UNSOLVED)
TIME_TOLERANCE = 1e-9  # relative to a step: times closer than this to a step's end are that end
DEFAULT_CONFIG = SimulatorConfig()
ALWAYS = np.array([-math.inf])
TICKING = np.array([-math.inf, math.inf])  # the actuation from the last tick on, and from the next


@dataclass
class Input:
    """Actuation over time: values (k, nu) [N m or N] that hold from their time [s] until the next.

    asked (k, n): what is asked of the plugins of a model, likewise; None: nothing. aimed: names of actuators whose
    controllers it aims. cut: (name, the most beyond its control range, the end of that) of what acts only there.
    """

    times: np.ndarray
    values: np.ndarray
    asked: np.ndarray | None = None
    aimed: frozenset[str] = frozenset()
    cut: tuple[tuple[str, float, float], ...] = ()

    def __post_init__(self):
        self.times = np.ascontiguousarray(self.times, dtype=float)
        self.values = np.ascontiguousarray(self.values, dtype=float)
        if self.times.size == 0 or np.isnan(self.times).any() or not (np.diff(self.times) > 0.0).all():
            raise ModelError("the times of an input series must increase")
        if self.values.ndim != 2 or self.values.shape[0] != self.times.size:
            raise ModelError(f"an input series of {self.times.size} times has values of shape {self.values.shape}")


def constant_input(u: ArrayLike) -> Input:
    """The same actuation u (nu,) at all times."""
    return Input(ALWAYS, np.atleast_2d(np.asarray(u, dtype=float)))


@dataclass(frozen=True)
class LinkForce:
    """A force (6,) in World, moment [N m] first, from the time `start` to `end` [s] on a link.

    It acts at a point (3,) [m] of the frame of the link. A controller may change the numbers in `force` at its calls.
    """

    link: int
    point: np.ndarray
    force: np.ndarray
    start: float
    end: float

    def share(self, time: float, step: float) -> float:
        """The part of a step [s] from a time [s] during which it acts; of no step, 1 at the times when it does."""
        if step > 0.0:
            return float(share_of_step(np.array([[self.start, self.end]]), 0, time, step))
        return float(self.start <= time + SAME_TIME < self.end)

    def applied(self, share: float = 1.0) -> ExternallyAppliedSpatialForce:
        """As ports take it, or a part of it."""
        from mbcli.multibody.core.applied_forces import ExternallyAppliedSpatialForce  # late: few runs need it

        applied = ExternallyAppliedSpatialForce()
        applied.body_index, applied.p_BoBq_B = BodyIndex(self.link), self.point
        applied.F_Bq_W = SpatialForce(share * self.force[:3], share * self.force[3:])
        return applied


def applied_forces(forces: Iterable[LinkForce], time: float, step: float) -> list[ExternallyAppliedSpatialForce]:
    """Those that act in a step [s] from a time [s], each by its part of the step; step 0: those that act then."""
    shares = [(force, force.share(time, step)) for force in forces]
    return [force.applied(share) for force, share in shares if share > 0.0]


@dataclass(frozen=True)
class Samples:
    """Rows of a run: time (n,), q (n, nq), v (n, nv), energy (n, 2) kinetic and potential [J], u (n, nu).

    effort (n, nu): of the actuators, with what controllers add and within limits, in a discrete plant in the step from
    the row; NaN in a run that does not keep it.

    constraint_error (n,): norm of the position errors of constraints. contacts: SampledContacts of a run that keeps
    them, else None; they are those of each row's state, in a discrete plant with the forces of the step from it.
    deformables: positions (n, vertices, 3) [m] of each deformable body of the plant, in W.
    vdot (n, nv): of a run that keeps accelerations, else None: those at the row's state, in a discrete plant the mean
    ones of the step from it. steps: StepForces of that step, None without it.

    desired (n, k, 2): positions and velocities that the PD controllers of the plant aim at, in the order of
    `model.pd_actuator`. activations (n, k): of actuators, in their order in u.

    The potential energy is NaN in a plant with a force element that has none, as a bushing.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    energy: np.ndarray
    u: np.ndarray
    constraint_error: np.ndarray
    contacts: object = None
    deformables: tuple[np.ndarray, ...] = ()
    effort: Any = None
    vdot: np.ndarray | None = None
    desired: Any = None
    activations: Any = None
    steps: StepForces | None = None


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
        constraint_tolerance: [m or 1] of the norm of the position errors of constraints in a continuous plant.
        next_step: [s] first step that a continuous run tries, where a run goes on; None starts from the largest.
        keep_contacts: whether samples have their contacts.
        keep_efforts: whether samples have the efforts of actuators with controllers.
        keep_accelerations: whether they have their accelerations, of a discrete plant with the forces of its steps.
        keep_balance: whether energy_balance() can be asked for, which takes a part of the time of a step.
        asleep: a checkpoint with what sleeps at the start; None: that which slept when the context's last run ended, if
            its state is still that one.
        controller: gives the actuation, and what PD controllers aim at, in place of `actuation`.
        forces: LinkForces on bodies, in steps without code of Python.
        going_on: a checkpoint of the run that this one goes on with.
    """

    keeps_balance = False  # unless told otherwise; tests keep it always

    def __init__(
        self,
        plant: PlantCore,
        context: Context,
        until: float,
        *,
        config: SimulatorConfig | None = None,
        actuation: Input | None = None,
        sample_period: float | None = None,
        next_step: float | None = None,
        constraint_tolerance: float = CONSTRAINT_TOLERANCE,
        keep_contacts: bool = False,
        keep_accelerations: bool = False,
        keep_balance: bool | None = None,
        asleep: Mapping[str, np.ndarray] | None = None,
        keep_efforts: bool = False,
        controller: Controller | None = None,
        forces: Sequence[LinkForce] = (),
        going_on: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.plant, self.context = plant, context
        require_actions(plant)
        require_steps_for_transmissions(plant)
        require_masses(plant, context)
        self.config = DEFAULT_CONFIG if config is None else config
        self.steps = self.refused_steps = 0
        self.next_step, self.constraint_tolerance = next_step, constraint_tolerance
        self._sample_period, self._keep_contacts = sample_period, keep_contacts
        self._keep_balance = self.keeps_balance if keep_balance is None else keep_balance
        self._no_potential_energy = plant.model.sizes["nbushing"] > 0
        self._follows_ports = actuation is None and controller is None
        self.actuation, self._controller, self._forces = actuation, controller, forces
        sizes = {"nq": plant.num_positions(), "nv": plant.num_velocities(), "nu": plant.num_actuators()}
        sizes["npd"], sizes["nlink"] = len(context.state.data.pd_desired), plant.num_bodies()
        sizes["nactivation"] = plant.model.sizes["nactivation"]
        active = context.state.constraints
        sizes["nrow"] = 0 if active is None else len(active.row_owners)
        self._series: Any = self._series_of(actuation, sizes["nu"])
        self._u = self._series.actuation
        efforts = keep_efforts and plant.is_discrete()
        self._keep_loads = keep_accelerations and plant.is_discrete()
        self._recording: Any = Recording(BLOCK_ROWS, sizes, efforts, keep_accelerations, self._keep_loads)
        self._keep_accelerations = keep_accelerations
        self._stepping: Any = None  # of a discrete plant, once it has begun
        self._left_at: np.ndarray | None = None  # the state at the end, of which steps remember something
        self._vertices_before: tuple[np.ndarray, ...] = ()  # the last step: q, v, a of deformable bodies
        self.ticks: Any = None  # Ticks of a run with a controller
        self._begin(until)
        if going_on is not None:
            self._go_on_from(going_on)
        if asleep is not None and self.sleep is not None:
            self.sleep.remember(asleep)

    def _series_of(self, actuation, nu):
        """The Actuation of an Input, or the one that the ports give at the start; that of a controller changes it."""
        times, values = ALWAYS, np.zeros((1, nu)) if actuation is None else actuation.values
        if self._controller is not None:
            times, values = TICKING, np.zeros((2, nu))
        elif actuation is None:
            values = self.plant.actuation(self.context)[None]
        elif values.shape[1] != nu:
            raise ModelError(f"the input has {values.shape[1]} columns, the plant {nu} actuators")
        else:
            times = actuation.times
        return Actuation(times, values, self._forces)

    def go_on(self, until: float) -> None:
        """Runs again, from the state that the context has now to a later time [s], with actuation from the ports.

        As a new run of the same settings, with the arrays of this one: what a new one costs is that of many steps.
        """
        if not self._follows_ports:
            raise ValueError("a run with an input of its own does not go on")
        self._series.actuation_values[0] = self.plant.actuation(self.context)
        self._begin(until)

    def _begin(self, until):
        """Everything that depends on the state of the context, its parameters and its ports."""
        plant, context = self.plant, self.context
        self._stepped = context_of_steps(plant, context)
        state = self._stepped.state
        self.until = float(until)
        if not math.isfinite(self.until):
            raise ModelError(f"the end of a run must be a finite time, it is {self.until}")
        if self.until < context.get_time() - TIME_TOLERANCE * plant.time_step():
            raise ModelError(f"the run would end at {until:g} s, before the time {context.get_time():g} s of its state")
        if not plant.is_discrete():
            state.ready_constraints()
        self._watched_limits = WatchedLimits(plant, context)
        allocate_contact(state)  # and the arrays of the context's own parameters are ready
        plant.set_controllers(self._stepped)
        self._integration: Any = None  # of a continuous plant, once it has begun
        self._stopping = False
        self._single: Any = None  # once single steps are taken
        self._start_on_constraints()
        self.contact = state.contact  # None: nothing can touch, and steps are not contact problems
        if self.contact is not None:
            keep_contacts = self._keep_contacts and plant.meets_contact()
            exact = keep_contacts or bool(self._keep_accelerations or self._recording.keeps_efforts[0])
            self.contact.start_run(BLOCK_ROWS if keep_contacts else 1, keep_contacts, exact and plant.is_discrete())
        self._use_loops()
        if self._controller is not None:
            desired = self._stepped.state.data.pd_desired
            self.ticks = Ticks(self._controller, plant.time_step(), self._series, desired)
        keep_none(self._stepped)
        alone = self._loops is state.kernels and not plant.elements.deformable_bodies
        keeps = self._keep_balance and alone and (plant.is_discrete() or not self._forces)
        self._balance = KeptBalance(plant, context, self._stepped) if keeps else None
        if self.contact is not None:
            if self.contact.compiles_elsewhere(state.kernels):
                self.compile()  # the loop meanwhile: it reaches contact by addresses
            self.steps = 0
            if not plant.elements.deformable_bodies:  # else every step prepares itself
                self.contact.attach(state)

    def _start_on_constraints(self):
        """Tells the loops the rank to expect; NumericalError if a continuous run starts off the constraints."""
        context = self._stepped
        state = context.state
        active = state.constraints
        if active is None or not active.row_owners:
            return
        if self.plant.is_discrete():
            if state.contact is None:  # steps that are contact problems pull what is apart together
                self._warn_off_constraints()
                self._begin_with_memory(active, context)
            return
        chains = active.chains(context)
        error = np.linalg.norm(chains.position_errors(state.q)[0])
        speed = np.linalg.norm(chains.velocity_errors(state.q, state.v)[0])
        allowed = self.constraint_tolerance
        # what rounding leaves of a projected velocity grows with the velocity
        if not error <= allowed or not speed <= allowed * max(1.0, np.abs(state.v).max()):
            what, size = ("positions", error) if not error <= allowed else ("velocities", speed)
            raise NumericalError(
                f"the {what} from which a run starts do not satisfy the constraints: their error is {size:.3g}, "
                f"the tolerance {allowed:g}"
            )
        self._begin_with_memory(active, context)

    def _begin_with_memory(self, active, context):
        """What steps remember of the constraints is kept where this run goes on from the state that it led to."""
        if self._left_at is None or active.left_at is not self._left_at or (context.state.x != self._left_at).any():
            active.begin_run(context)
        active.left_at = None

    def _keep_memory(self):
        state = self._stepped.state
        if state.constraints is not None:
            state.constraints.left_at = self._left_at = state.x.copy()

    def _warn_off_constraints(self):
        """Says where a discrete run starts further off the constraints than its steps lead."""
        context = self.context
        state = context.state
        error = state.constraint_error()
        travel = self.plant.time_step() * (1.0 + np.abs(state.v).max(initial=0.0))
        if not error <= max(ROUGH_START, 10.0 * travel**2):
            warnings.warn(
                f"the positions from which the steps start do not satisfy the constraints: their error is {error:.3g}, "
                "the first step moves by it",
                stacklevel=2,
            )

    def has_error_control(self) -> bool:
        """Whether the steps of a continuous plant follow an estimate of their error."""
        method = METHODS.get(self.config.integration_scheme)
        return method is not None and self.config.use_error_control and method.error_order > 0

    def energy_balance(self) -> EnergyBalance | None:
        """EnergyBalance from the start to here; None if it is not kept, or forces are not the engine's alone."""
        return None if self._balance is None else self._balance.result()

    def why_no_balance(self) -> str:
        """What acts in the run of which a balance would not know the work."""
        if self.plant.elements.deformable_bodies:
            return "the model has deformable bodies"
        among = "" if self.plant.is_discrete() else ", as pushes and plugins are in continuous time"
        return f"forces or inputs are functions of Python{among}"

    def _use_loops(self):
        """The loops of the context's kernels."""
        self._loops = self._stepped.state.kernels
        if needs_python(self.plant, self.context):
            self._loops = PythonForces(self.plant, self.context, self._u, self._follows_ports)

    def compile(self) -> None:
        """Compiles or loads what steps call, so that the time of a run is that of its steps."""
        advance = self._discrete(0) if self.plant.is_discrete() else self._continuous(0)
        next(advance)
        if self.contact is not None:
            self.contact.compile_solvers(self._stepped.state.kernels)

    def blocks(
        self,
        should_stop: Callable[[], bool] = lambda: False,
        on_progress: Callable[[float], object] = lambda time: None,
        *,
        has_turn: bool = False,
    ) -> Iterator[Samples]:
        """Yields Samples until the end, or until should_stop() is true between two calls of the loop.

        has_turn: whether the caller keeps other threads from the context.

        Raises NumericalError naming the first coordinate that is not finite; the context then has the last good state.
        NumericalError too if a joint that closes a loop passes a limit, after the samples that show it.
        """
        advance = self._discrete() if self.plant.is_discrete() else self._continuous()
        for finished, rows in advance if has_turn else self._in_turn(advance):
            self.context.state.forget_positions()
            self._recording.rows_written[0] = 0
            if rows:
                if self._no_potential_energy:
                    self._recording.recorded_energy[:rows, 1] = math.nan
                times, q, v, energy, u, effort, desired, vdot, activations = self._recording.samples(rows)
                steps: Any = StepForces(vdot, *self._recording.loads(rows)) if self._keep_loads else None
                effort, vdot = self._efforts(u, effort), vdot if self._keep_accelerations else None
                contacts = self.contact.take(rows) if self.contact is not None and self.contact.keeps else None
                state = (times, q, v, energy[:, :2], u, energy[:, 2])
                yield Samples(*state, contacts, self._vertices(rows), effort, vdot, desired, activations, steps)
                passed = self._watched_limits.passed(times, q)
                if passed is not None:
                    raise NumericalError(passed)
            on_progress(self.context.get_time())
            self._stopping = should_stop()
            if finished or (self._stopping and not self._has_samples_left()):
                if self._stepping is not None:
                    self._stepping.led_to = self.context.state.x.copy()
                self._keep_memory()
                return

    def _efforts(self, u, effort):
        """(n, nu) of samples: without PD controllers the actuation."""
        model = self._stepped.state.model
        if model.pd_actuator.size == 0 and (model.transmission_kinds.size == 0 or not self.plant.is_discrete()):
            return u
        return effort if self._recording.keeps_efforts[0] else np.full_like(u, math.nan)

    def _in_turn(self, advance):
        """The same blocks, each computed while no other thread may step the context."""
        turn = self.context.state.turn
        while True:
            with turn:
                block = next(advance, None)
            if block is None:
                return
            yield block

    def _vertices(self, rows):
        """Positions of the vertices of deformable bodies in the samples; their steps are taken one by one."""
        return tuple(values.reshape(3, -1, 3)[:1] for values in self._vertices_before) if rows else ()

    def _has_samples_left(self):
        """Whether some samples of the step that was taken last are still to come."""
        return self._integration is not None and self._integration.clock[CLOCK_PENDING] != 0.0

    def checkpoint(self) -> dict[str, Any]:
        """What a run needs that goes on from here: {"time", "q", "v", "next_step"}, where islands may sleep that too.

        The last step of a continuous run is cut to meet its end; a longer run goes on from the state before it, to the
        same result as if there had been no end.
        """
        context, run = self.context, self._integration
        state = context.state
        time, y = context.get_time(), np.concatenate([state.q, state.v])
        next_step = self.next_step or self.config.max_step_size
        if run is not None and run.kept[0] != 0.0:
            time, next_step, y = float(run.kept[1]), float(run.kept[2]), run.kept[3:]
        nq = state.q.size
        asleep = {} if self.sleep is None else self.sleep.remembered
        kept: dict[str, Any] = {"time": time, "q": y[:nq].copy(), "v": y[nq:].copy(), "next_step": next_step} | asleep
        model, data = self._stepped.state.model, self._stepped.state.data
        if model.pd_constants[:, PD_RATE].any():
            kept["carried"] = data.pd_carried.copy()
        if data.activation.size:
            kept["activations"] = data.activation.copy()
        if self.ticks is not None:
            kept |= {"tick": float(self.ticks.last), "u": self._series.actuation_values[0].copy()}
            kept |= {"desired": data.pd_desired.ravel(), **self.ticks.controller.save()}
        return kept

    def actuation_now(self) -> np.ndarray:
        """u (nu,) that holds [N m or N]."""
        return self._u.copy()

    def _go_on_from(self, kept):
        """What an earlier run had beside its state, of a checkpoint."""
        data = self._stepped.state.data
        if "carried" in kept:
            data.pd_carried[:] = kept["carried"]
        if "activations" in kept:
            data.activation[:] = kept["activations"]
        if self.ticks is not None and "tick" in kept:
            self.ticks.last = int(kept["tick"])
            self._series.actuation_values[:] = kept["u"]
            data.pd_desired[:] = np.reshape(kept["desired"], data.pd_desired.shape)
            self.ticks.controller.load(kept)
            self._series.take_forces()

    @property
    def sleep(self) -> Sleep | None:
        """What sleeps; None if nothing may."""
        return None if self.contact is None else self.contact.sleep

    # discrete plants

    def _discrete(self, budget=64):
        context, h, sleep = self.context, self.plant.time_step(), self.sleep
        state = self._stepped.state
        first = _whole_steps(context.get_time(), h)
        last = max(first, math.ceil(self.until / h - TIME_TOLERANCE))
        every = 1 if self._sample_period is None else max(1, round(self._sample_period / h))
        size = state.q.size + state.v.size
        if self._stepping is None:
            self._stepping = Stepping(size)
        run = self._stepping
        run.start(first, last, every, h, implicit_damping(self.plant))
        if self.ticks is not None:
            self._begin_ticks(run)
        previous = run.state_before
        if self._balance is not None:
            self._balance.attach(self._series.handle(state.compiled))
        if self._keep_loads:
            self._lead_to_loads()
        elastic = self.plant.elements.deformable_bodies
        keeps_step = (self.contact is not None and self.contact.keeps) or self._keep_accelerations
        while True:
            started, step_before = time.perf_counter(), int(run.next_step[0])
            if elastic:
                budget = min(budget, 1)
                if step_before < last or first == last or keeps_step:  # a row at the end needs no step
                    self._prepare_step(state)
                self._vertices_before = tuple(own.values.copy() for own in state.deformables)
            if sleep is not None:
                sleep.follow(context.state)
            status = self._run_discrete(run, budget)
            step, rows = int(run.next_step[0]), int(self._recording.rows_written[0])
            self.steps = step - first
            state.time = step * h
            if sleep is not None:
                if status == STEP_FAULT or (status == FINISHED and keeps_step):
                    sleep.undo_step()  # which the run goes on with, or that of the contacts of the last row
                context.state.go_to(state.time, state.q, state.v)
            if elastic and self.contact is not None and rows:
                self._recording.recorded_energy[:rows, :2] += self.contact.elastic_energies()
            if self.contact is not None and step > step_before:
                self.contact.take_step()
            budget = _adapted(budget, time.perf_counter() - started)
            if status == STEP_FAULT:
                redone = self.contact is not None and self.contact.failed()
                try:
                    self._make_room(rows)
                except NumericalError as unsolved:
                    yield False, rows
                    raise self._placed(unsolved) from None
                if redone and rows and self._recording.recorded_time[rows - 1] == step * h:
                    rows -= 1  # its sample comes with the step that is taken again
            elif status == TICK_FAULT:
                yield False, rows
                raise self._fault_of_tick()
            elif status in NO_NEXT_STEP:
                reached = np.concatenate([state.q, state.v])
                context.state.go_to(state.time, previous[: state.q.size], previous[state.q.size :])
                error = self._failure(status, reached)
                yield False, rows
                raise error
            if step > step_before:
                q, v = previous[: state.q.size], previous[state.q.size :]
                u = self._actuation_at((step - 1) * h)
                context.last_step.remember(context, (step - 1) * h, q, v, u, self._vertices_before)
            yield status == FINISHED, rows

    def take_step(self, number: int) -> bool:
        """Takes the step of a number with the actuation that the ports give now; False if blocks() has to.

        This is for callers that have something to do after each step: beginning anew costs as much as ten steps. The
        run has been at its end, and goes on from where it led.
        """
        plant, context, run = self.plant, self.context, self._stepping
        state, h = context.state, plant.time_step()
        if self._single is None:
            self._single = self._single_step()
        if not self._single or not state.parameters_current or self._loops is not state.kernels:
            return False
        constraints = state.constraints
        if constraints is not None and (state.x != run.led_to).any() or needs_python(plant, context):
            return False
        handles, before, q, v = self._single
        u = self._series.actuation_values[0]
        u[:] = plant.actuation(context)
        if self._has_controllers:
            plant.set_controllers(context)
        run.next_step[0], run.last_step[0] = number, number + 2
        status = self._loops.run_discrete(state.model_handle, state.data_handle, *handles, 1)
        if status != RUNNING:
            state.go_to(number * h, q, v)
            return False
        state.time = (number + 1) * h
        state.forget_positions()
        if constraints is not None:
            run.led_to = state.x.copy()
        if plant.has_sampled_output_ports():
            context.last_step.remember(context, number * h, q, v, u)
        return True

    def _single_step(self):
        """What take_step() needs that stays: handles, and the state before the step; () where it cannot be used."""
        plant, state, run = self.plant, self.context.state, self._stepping
        own_ways = self.sleep is not None or self._balance is not None or plant.elements.deformable_bodies
        if run is None or self._stepped is not self.context or self._loops is not state.kernels or own_ways:
            return ()
        run.start(0, 0, NEVER, plant.time_step(), implicit_damping(plant))
        self._has_controllers = has_controllers(plant)
        before = run.state_before
        return self._handles(run)[2:], before, before[: state.q.size], before[state.q.size :]

    def _begin_ticks(self, run):
        """Lets the loop call a compiled controller."""
        state = self._stepped.state
        calls = None
        if self._loops is state.kernels and state.compiled:
            calls = self.ticks.controller.compiled_calls(state, self._series.actuation_values[0])
        run.tick_steps[:] = (0 if calls is None else self.ticks.steps), self.ticks.last
        if calls is not None:
            run.tick_calls[:] = calls

    def _run_discrete(self, run, budget):
        """Calls the loop; with a controller of Python, once from tick to tick, so many steps or SECONDS_PER_CALL."""
        ticks, handles = self.ticks, self._handles(run)
        if ticks is None or run.tick_steps[0] or budget == 0:
            status = self._loops.run_discrete(*handles, budget)
            if ticks is not None:
                ticks.last = int(run.tick_steps[1])
            return status
        state, h, next_step = self._stepped.state, run.step_length[0], run.next_step
        single = self.sleep is not None or budget == 1
        deadline = time.perf_counter() + SECONDS_PER_CALL
        while True:
            step = int(next_step[0])
            if ticks.is_due(step) and not ticks.call(step * h, state.q, state.v, step):
                return TICK_FAULT
            status = self._loops.run_discrete(*handles, min(budget, ticks.steps_from(step)))
            if status != RUNNING or single or time.perf_counter() > deadline:
                return status

    def _lead_to_loads(self):
        """Lets the loop find what keeps the loads of its steps."""
        state, recording = self._stepped.state, self._recording
        if self._loops is not state.kernels:
            recording.load_calls = [self._loops.record_loads, None, None, recording, None]
            return
        _, _, _, series, record = self._handles(self._stepping)
        function, compiled = state.kernels.record_loads, state.compiled
        at = [address_of_function(function) if compiled else function, state.model_handle, state.data_handle]
        if compiled:
            recording.load_calls[:] = [*at, record, series]
        else:  # any object can be an address
            recording.load_calls = [*at, record, series]

    def _prepare_step(self, state):
        """Makes elastic bodies ready for the next step."""
        try:
            prepare_contact(state)
        except NumericalError as error:
            raise self._placed(error) from None

    def _placed(self, error):
        """The error of a step, with its number and time."""
        message = behind_singular(self.plant, self.context, f"{error}") if self.plant.meets_contact() else f"{error}"
        error.args = (f"{message}; step {self.steps + 1} from t = {self.context.get_time():.9g} s",)
        return error

    def _handles(self, arrays):
        """What a loop takes: model, data, the arrays of its steps, actuation and samples."""
        state = self._stepped.state
        compiled = state.compiled and self._loops is state.kernels
        own = (part.handle(compiled) for part in (arrays, self._series, self._recording))
        return state.model_handle, state.data_handle, *own

    def _make_room(self, rows):
        """After STEP_FAULT: room for contact in the step, or for the contacts of samples.

        NumericalError if the step has no solution.
        """
        contact = self.contact
        if contact is not None and rows:
            contact.reuse_rows()
        if contact is None or not rows or contact.failed():
            prepare_contact(self._stepped.state, failed=True)

    def _actuation_at(self, t):
        """u (nu,) of the step from time t; None if it is what the ports give then."""
        given = self.actuation
        if self.ticks is not None:
            return self._u.copy()
        if given is None:
            return None
        row = np.searchsorted(given.times, t, side="right") - 1
        return given.values[row] if row >= 0 else np.zeros(self._u.size)

    # continuous plants

    def _continuous(self, budget=16):
        context, config, plant = self.context, self.config, self.plant
        state = context.state
        if config.integration_scheme not in SCHEMES:
            known = ", ".join(SCHEMES)
            raise ModelError(f"integration scheme '{config.integration_scheme}' is not supported; there are {known}")
        method = METHODS.get(config.integration_scheme, METHODS["explicit_euler"])
        scheme = IMPLICIT if method.implicit else EXPLICIT
        if config.integration_scheme == "semi_explicit_euler":
            scheme = SEMI_EXPLICIT
        if scheme == IMPLICIT and self._loops is not state.kernels:
            raise ModelError(
                f"integration scheme '{config.integration_scheme}' cannot run with force elements of a user, "
                "applied forces or inputs that follow a source: choose an explicit one"
            )
        y = np.concatenate([state.q, state.v])
        run: Any = Integration(method, y, context.get_time(), self.next_step or config.max_step_size)
        self._integration = run
        run.scheme[0], run.accuracy[0] = scheme, config.accuracy if self.has_error_control() else 0.0
        run.constraint_tolerance[0], run.largest_step[0] = self.constraint_tolerance, config.max_step_size
        run.end_time[0] = self.until
        if self._balance is not None:
            self._balance.attach(run.handle(state.compiled))
        chunks = self._sample_times(context.get_time())
        self._recording.want(next(chunks))
        later = next(chunks, None)
        while True:
            started = time.perf_counter()
            try:
                status = self._run_continuous(run, 1 if self._stopping else budget)
            finally:  # an error in a user's force too leaves the last good state
                state.set_q(run.y[: state.q.size])
                state.set_v(run.y[state.q.size :])
                state.time = float(run.clock[CLOCK_TIME])
            self.next_step = float(run.clock[CLOCK_NEXT_STEP])
            self.steps, self.refused_steps = int(run.clock[CLOCK_STEPS]), int(run.clock[CLOCK_REFUSED])
            rows = int(self._recording.rows_written[0])
            if status == STEP_FAULT:
                self._make_room(rows)
            if status == FINISHED and later is not None:
                self._recording.want(later)
                status, later = RUNNING, next(chunks, None)
            if status not in (BUFFER_FULL, STEP_FAULT):
                budget = _adapted(budget, time.perf_counter() - started)
            if status == TICK_FAULT:
                yield False, rows
                raise self._fault_of_tick()
            if status in NO_NEXT_STEP:
                error = self._failure(status, run.y_end)
                yield False, rows
                raise error
            if status == STEP_TOO_SMALL:
                yield False, rows
                raise NumericalError(
                    f"the step of {config.integration_scheme} became too small at t = {run.clock[CLOCK_TIME]:.9g} s in "
                    f"'{models_of(plant)}': the system is too stiff for it or the accuracy {config.accuracy:g} too high"
                )
            yield status == FINISHED, rows

    def _run_continuous(self, run, budget):
        """Calls the loop; with a controller once a step, for SECONDS_PER_CALL."""
        ticks, handles = self.ticks, self._handles(run)
        if ticks is None or budget == 0:
            return self._loops.run_continuous(*handles, budget)
        state, nq, clock = self._stepped.state, self._stepped.state.q.size, run.clock
        if ticks.last < 0:
            ticks.begin_at(clock[CLOCK_TIME])
        deadline = time.perf_counter() + SECONDS_PER_CALL
        while True:
            t = float(clock[CLOCK_TIME])
            if clock[CLOCK_PENDING] == 0.0 and t >= ticks.next_time() and t < self.until:
                state.set_q(run.y[:nq])
                state.set_v(run.y[nq:])
                state.time = t
                if not ticks.call(t, run.y[:nq], run.y[nq:], ticks.last + 1):
                    return TICK_FAULT
            self._series.actuation_times[1] = ticks.next_time()
            status = self._loops.run_continuous(*handles, 1)
            if status != RUNNING or self._stopping or time.perf_counter() > deadline:
                return status

    def _fault_of_tick(self):
        """The error of a controller, at the state that the context has."""
        error: Any = self.ticks.error
        if error is None:
            error = ControlError(f"{self.ticks.controller.name}: error: gave a number that is not finite")
        error.args = (f"{error}, at t = {self.context.get_time():.9g} s",)
        return error

    def _sample_times(self, start):
        """Yields arrays of times one after another: start, the multiples of the sample period, end."""
        ends = [self.until] if self.until > start else []
        if self._sample_period is None:
            yield np.array([start, *ends])
            return
        yield np.array([start])
        first = math.floor(start / self._sample_period + TIME_TOLERANCE) + 1
        last = math.ceil(self.until / self._sample_period - TIME_TOLERANCE)
        for k in range(first, last, BLOCK_ROWS):
            yield np.arange(k, min(k + BLOCK_ROWS, last)) * self._sample_period
        if ends:
            yield np.array(ends)

    def _failure(self, status, y):
        """The error for a step that led to a state y that is not finite, or from which none can be taken."""
        plant = self.plant
        if status == GIMBAL_LOCK:
            return NumericalError(
                f"{gimbal_lock(plant, self.context)}, in step {self.steps + 1} from t = {self.context.get_time():.9g} s"
            )
        if status in (CONSTRAINTS_UNMET, SINGULAR_POSITION):
            return NumericalError(f"{self._constraint_failure(status)}, after t = {self.context.get_time():.9g} s")
        if status == ELEMENT_FAULT:
            element = force_element_fault(plant, self.context)
            return NumericalError(
                f"{element.fault()}, in step {self.steps + 1} from t = {self.context.get_time():.9g} s"
            )
        when = f"in step {self.steps + 1} from t = {self.context.get_time():.9g} s"
        if status == ROWS_UNSOLVED:
            residual = float(self._stepped.state.data.row_residual[0])
            return NumericalError(
                "limits, controllers and dry friction of joints found no common solution "
                f"{when}: accelerations still change by {residual:.3g} of the largest; try a smaller step"
            )
        u = self._actuation_at(self.context.get_time())
        u = plant.actuation(self.context) if u is None else u
        return NumericalError(not_finite(plant, self.context, y, u, when))

    def _constraint_failure(self, status):
        """Why a run under constraints cannot go on from the state in the context."""
        active = self.context.state.constraints
        if status == CONSTRAINTS_UNMET or active is None:
            return f"no step leads to positions that satisfy the constraints within {self.constraint_tolerance:g}"
        return behind_singular(self.plant, self.context, active.singularity())


def kernels_to_compile(plant: PlantCore, context: Context) -> list[Callable[[], bool]]:
    """For each kernel that the first run of a plant on a machine waits for, a function: whether it is compiled now."""
    state = context_of_steps(plant, context).state
    allocate_contact(state)
    kernels = state.kernels
    wanted = [partial(is_compiled, kernels.run_discrete if plant.is_discrete() else kernels.run_continuous)]
    if state.contact is not None:
        names = (name for called in state.contact.called() for name in called)
        wanted += [partial(is_compiled, getattr(kernels, name), called=True) for name in names]
    return [is_ready for is_ready in wanted if not is_ready()]


def models_of(plant: PlantCore) -> str:
    """The names of the models in a plant, for messages."""
    return ", ".join(plant.elements.instance_names[2:]) or "plant"


def _whole_steps(t, h):
    """The number of steps of length h up to time t."""
    return max(0, math.ceil(t / h - TIME_TOLERANCE))


def _adapted(budget, seconds):
    """A number of steps that takes about SECONDS_PER_CALL."""
    factor = min(8.0, max(0.25, SECONDS_PER_CALL / max(seconds, 1e-6)))
    return max(1, min(10_000_000, int(budget * factor)))


def force_update(plant: PlantCore, context: Context, actuation: Input | None = None) -> None:
    """One step of a discrete plant in a context whose time stays; actuation: in place of what the ports give."""
    start, h = context.get_time(), plant.time_step()
    for _ in Run(plant, context, (_whole_steps(start, h) + 1) * h, actuation=actuation).blocks():
        pass
    context.SetTime(start)
