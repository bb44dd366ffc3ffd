"""Running a plant over time: stepping, sampling, and why a run stops.

`Run` advances a context and yields blocks of samples; mbcli/systems/simulator.py has pydrake's interface to it.
"""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.engine.fields.model_fields import PD_RATE
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.engine.stepping.integrators import METHODS
from mbcli.engine.stepping.run_arrays import Actuation, Recording
from mbcli.errors import ModelError, NumericalError
from mbcli.multibody.compilation.cut_joints import WatchedLimits, require_actions
from mbcli.multibody.contact.meeting_contact import allocate_contact, prepare_contact
from mbcli.multibody.contact.python_forces import PythonForces, needs_python
from mbcli.multibody.contact.sleep import Sleep, context_of_steps
from mbcli.multibody.core.step_forces import StepForces
from mbcli.multibody.core.transmissions import require_steps_for_transmissions
from mbcli.multibody.stepping.call_budget import TIME_TOLERANCE, whole_steps
from mbcli.multibody.stepping.continuous_steps import ContinuousSteps
from mbcli.multibody.stepping.discrete_steps import DiscreteSteps
from mbcli.multibody.stepping.energy_balance import KeptBalance, keep_none
from mbcli.multibody.stepping.inputs import ALWAYS
from mbcli.multibody.stepping.missing_mass import require_masses
from mbcli.multibody.stepping.samples import Samples
from mbcli.multibody.stepping.ticks import Controller, Ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from mbcli.math.array_types import Vector
    from mbcli.multibody.core.plant_core import PlantCore
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.energy_balance import EnergyBalance
    from mbcli.multibody.stepping.inputs import Input, LinkForce

BLOCK_ROWS = 512
ROUGH_START = 1e-3  # [m or 1] the same from which discrete steps go without a word
CONSTRAINT_TOLERANCE = 1e-10  # [m or 1] of the norm of all position errors
DEFAULT_CONFIG = SimulatorConfig()
KEPT = frozenset(("contacts", "efforts", "accelerations", "balance"))
TICKING = np.array([-math.inf, math.inf])  # the actuation from the last tick on, and from the next


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
        keep: of KEPT: "contacts" of samples; "efforts" of actuators with controllers; "accelerations" of samples, of a
            discrete plant with the forces of its steps; "balance", for energy_balance(), which takes a part of the time
            of a step.
        controller: gives the actuation, and what PD controllers aim at, in place of `actuation`.
        forces: LinkForces on bodies, in steps without code of Python.
        going_on: a checkpoint of the run that this one goes on with, or some of it: what slept, what controllers
            carried, the first step [s] that a continuous run tries. Without it those sleep that slept when the
            context's last run ended, if its state is still that one.
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
        constraint_tolerance: float = CONSTRAINT_TOLERANCE,
        keep: Collection[str] = (),
        controller: Controller | None = None,
        forces: Sequence[LinkForce] = (),
        going_on: Mapping[str, Any] | None = None,
    ) -> None:
        if not KEPT.issuperset(keep):
            raise ValueError(f"a run keeps {', '.join(sorted(KEPT))}, not {', '.join(sorted(keep))}")
        plant.check_context(context)
        plant = context.state.plant  # whose steps are those of the context
        self.plant, self.context = plant, context
        require_actions(plant)
        require_steps_for_transmissions(plant)
        require_masses(plant, context)
        self.config = DEFAULT_CONFIG if config is None else config
        self.steps = self.refused_steps = 0
        first = None if going_on is None or plant.is_discrete() else going_on.get("next_step")
        self.next_step = None if first is None else float(first)
        self.sample_period, self.constraint_tolerance = sample_period, constraint_tolerance
        self._keep_contacts, self._keep_balance = "contacts" in keep, self.keeps_balance or "balance" in keep
        self._no_potential_energy = plant.model.sizes["nbushing"] > 0
        self.follows_ports = actuation is None and controller is None
        self.actuation, self._controller, self._forces = actuation, controller, forces
        sizes = {"nq": plant.num_positions(), "nv": plant.num_velocities(), "nu": plant.num_actuators()}
        sizes["npd"], sizes["nlink"] = len(context.state.data.pd_desired), plant.num_bodies()
        sizes["nactivation"] = plant.model.sizes["nactivation"]
        active = context.state.constraints
        sizes["nrow"] = 0 if active is None else len(active.row_owners)
        self.series: Any = self._series_of(actuation, sizes["nu"])
        self._u = self.series.actuation
        efforts = "efforts" in keep and plant.is_discrete()
        self.keep_accelerations = "accelerations" in keep
        self.keep_loads = self.keep_accelerations and plant.is_discrete()
        self.recording: Any = Recording(BLOCK_ROWS, sizes, efforts, self.keep_accelerations, self.keep_loads)
        self._own_steps: DiscreteSteps | ContinuousSteps
        self._own_steps = DiscreteSteps(self) if plant.is_discrete() else ContinuousSteps(self)
        self.take_step = self._own_steps.take_step  # callers take many: one call each
        self._left_at: np.ndarray | None = None  # the state at the end, of which steps remember something
        self.vertices_before: tuple[np.ndarray, ...] = ()  # the last step: q, v, a of deformable bodies
        self.ticks: Any = None  # Ticks of a run with a controller
        self._begin(until)
        if going_on is not None:
            self._go_on_from(going_on)

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

    def go_on(self, until: float, going_on: Mapping[str, Any] | None = None) -> None:
        """Runs again, from the state that the context has now to a later time [s], with actuation from the ports.

        going_on: as of a new run.

        As a new run of the same settings, with the arrays of this one: what a new one costs is that of many steps.
        """
        if not self.follows_ports:
            raise ValueError("a run with an input of its own does not go on")
        self.series.actuation_values[0] = self.plant.actuation(self.context)
        self._begin(until)
        if going_on is not None:
            self._go_on_from(going_on)

    def _begin(self, until):
        """Everything that depends on the state of the context, its parameters and its ports."""
        plant, context = self.plant, self.context
        self.stepped = context_of_steps(plant, context)
        state = self.stepped.state
        self.until = float(until)
        if not math.isfinite(self.until):
            raise ModelError(f"the end of a run must be a finite time, it is {self.until}")
        if self.until < context.get_time() - TIME_TOLERANCE * plant.time_step():
            raise ModelError(f"the run would end at {until:g} s, before the time {context.get_time():g} s of its state")
        if not plant.is_discrete():
            state.ready_constraints()
        self._watched_limits = WatchedLimits(plant, context)
        allocate_contact(state)  # and the arrays of the context's own parameters are ready
        plant.set_controllers(self.stepped)
        self._own_steps.begin()
        self.stopping = False
        self._start_on_constraints()
        self.contact = state.contact  # None: nothing can touch, and steps are not contact problems
        if self.contact is not None:
            keep_contacts = self._keep_contacts and plant.meets_contact()
            exact = keep_contacts or bool(self.keep_accelerations or self.recording.keeps_efforts[0])
            self.contact.start_run(BLOCK_ROWS if keep_contacts else 1, keep_contacts, exact and plant.is_discrete())
        self._use_loops()
        if self._controller is not None:
            desired = self.stepped.state.data.pd_desired
            self.ticks = Ticks(self._controller, plant.time_step(), self.series, desired)
        keep_none(self.stepped)
        alone = self.loops is state.kernels and not plant.elements.deformable_bodies
        keeps = self._keep_balance and alone and (plant.is_discrete() or not self._forces)
        self.balance = KeptBalance(context, self.stepped) if keeps else None
        if self.contact is not None:
            if self.contact.compiles_elsewhere(state.kernels):
                self.compile()  # the loop meanwhile: it reaches contact by addresses
            self.steps = 0
            if not plant.elements.deformable_bodies:  # else every step prepares itself
                self.contact.attach(state)

    def _start_on_constraints(self):
        """Tells the loops the rank to expect; NumericalError if a continuous run starts off the constraints."""
        context = self.stepped
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
        state = self.stepped.state
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
        return None if self.balance is None else self.balance.result()

    def why_no_balance(self) -> str:
        """What acts in the run of which a balance would not know the work."""
        if self.plant.elements.deformable_bodies:
            return "the model has deformable bodies"
        among = "" if self.plant.is_discrete() else ", as pushes and plugins are in continuous time"
        return f"forces or inputs are functions of Python{among}"

    def _use_loops(self):
        """The loops of the context's kernels."""
        self.loops = self.stepped.state.kernels
        if needs_python(self.plant, self.context):
            self.loops = PythonForces(self.plant, self.context, self._u, self.follows_ports)

    def compile(self) -> None:
        """Compiles or loads what steps call, so that the time of a run is that of its steps."""
        next(self._own_steps.advance(0))
        if self.contact is not None:
            self.contact.compile_solvers(self.stepped.state.kernels)

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
        advance = self._own_steps.advance()
        for finished, rows in advance if has_turn else self._in_turn(advance):
            self.context.state.forget_positions()
            self.recording.rows_written[0] = 0
            if rows:
                if self._no_potential_energy:
                    self.recording.recorded_energy[:rows, 1] = math.nan
                times, q, v, energy, u, effort, desired, vdot, activations = self.recording.samples(rows)
                steps: Any = StepForces(vdot, *self.recording.loads(rows)) if self.keep_loads else None
                effort, vdot = self._efforts(u, effort), vdot if self.keep_accelerations else None
                contacts = self.contact.take(rows) if self.contact is not None and self.contact.keeps else None
                state = (times, q, v, energy[:, :2], u, energy[:, 2])
                yield Samples(*state, contacts, self._vertices(rows), effort, vdot, desired, activations, steps)
                passed = self._watched_limits.passed(times, q)
                if passed is not None:
                    raise NumericalError(passed)
            on_progress(self.context.get_time())
            self.stopping = should_stop()
            if finished or (self.stopping and not self.has_samples_left()):
                self._own_steps.end()
                self._keep_memory()
                return

    def _efforts(self, u, effort):
        """(n, nu) of samples: without PD controllers the actuation."""
        model = self.stepped.state.model
        if model.pd_actuator.size == 0 and (model.transmission_kinds.size == 0 or not self.plant.is_discrete()):
            return u
        return effort if self.recording.keeps_efforts[0] else np.full_like(u, math.nan)

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
        return tuple(values.reshape(3, -1, 3)[:1] for values in self.vertices_before) if rows else ()

    def has_samples_left(self) -> bool:
        """Whether some samples of the step that was taken last are still to come."""
        return self._own_steps.has_samples_left()

    def checkpoint(self) -> dict[str, Any]:
        """What a run needs that goes on from here: {"time", "q", "v", "next_step"}, where islands may sleep that too.

        The last step of a continuous run is cut to meet its end; a longer run goes on from the state before it, to the
        same result as if there had been no end.
        """
        state, before = self.context.state, self._own_steps.goes_on_from()
        if before is None:
            next_step = self.next_step or self.config.max_step_size
            before = self.context.get_time(), next_step, np.concatenate([state.q, state.v])
        time, next_step, y = before
        nq = state.q.size
        asleep = {} if self.sleep is None else self.sleep.remembered
        kept: dict[str, Any] = {"time": time, "q": y[:nq].copy(), "v": y[nq:].copy(), "next_step": next_step} | asleep
        model, data = self.stepped.state.model, self.stepped.state.data
        if model.pd_constants[:, PD_RATE].any():
            kept["carried"] = data.pd_carried.copy()
        if data.activation.size:
            kept["activations"] = data.activation.copy()
        if self.ticks is not None:
            kept |= {"tick": float(self.ticks.last), "u": self.series.actuation_values[0].copy()}
            kept |= {"desired": data.pd_desired.ravel(), **self.ticks.controller.save()}
        return kept

    def handles(self, arrays: Any) -> tuple[Any, ...]:
        """What a loop takes: model, data, the arrays of its steps, actuation and samples."""
        state = self.stepped.state
        compiled = state.compiled and self.loops is state.kernels
        own = (part.handle(compiled) for part in (arrays, self.series, self.recording))
        return state.model_handle, state.data_handle, *own

    def make_room(self, rows: int) -> None:
        """After STEP_FAULT: room for contact in the step, or for the contacts of samples.

        NumericalError if the step has no solution.
        """
        contact = self.contact
        if contact is not None and rows:
            contact.reuse_rows()
        if contact is None or not rows or contact.failed():
            prepare_contact(self.stepped.state, failed=True)

    def actuation_at(self, t: float) -> Vector | None:
        """u (nu,) of the step from time t [s]; None if it is what the ports give then."""
        given = self.actuation
        if self.ticks is not None:
            return self._u.copy()
        if given is None:
            return None
        row = np.searchsorted(given.times, t, side="right") - 1
        return given.values[row] if row >= 0 else np.zeros(self._u.size)

    def actuation_now(self) -> np.ndarray:
        """u (nu,) that holds [N m or N]."""
        return self._u.copy()

    def _go_on_from(self, kept):
        """What an earlier run had beside its state, of a checkpoint."""
        data = self.stepped.state.data
        if self.sleep is not None and {"sleep", "rest_start"} <= kept.keys():
            self.sleep.remember(kept)
        if "carried" in kept:
            data.pd_carried[:] = kept["carried"]
        if "activations" in kept:
            data.activation[:] = kept["activations"]
        if self.ticks is not None and "tick" in kept:
            self.ticks.last = int(kept["tick"])
            self.series.actuation_values[:] = kept["u"]
            data.pd_desired[:] = np.reshape(kept["desired"], data.pd_desired.shape)
            self.ticks.controller.load(kept)
            self.series.take_forces()

    @property
    def sleep(self) -> Sleep | None:
        """What sleeps; None if nothing may."""
        return None if self.contact is None else self.contact.sleep


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


def force_update(plant: PlantCore, context: Context, actuation: Input | None = None) -> None:
    """One step of a discrete plant in a context whose time stays; actuation: in place of what the ports give."""
    start, h = context.get_time(), plant.time_step()
    for _ in Run(plant, context, (whole_steps(start, h) + 1) * h, actuation=actuation).blocks():
        pass
    context.SetTime(start)
