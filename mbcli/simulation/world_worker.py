"""A context in which some of many worlds step, on a thread."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.fields.model_fields import PD_RATE
from mbcli.engine.fields.run_fields import WORLDS_PAUSED_STEP, WORLDS_STEPS_LEFT
from mbcli.engine.queries.state_batch import covers
from mbcli.engine.runtime.addresses import address_of_function
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.engine.smooth.rotations.registry import NO_ROTATION, ROTATIONS
from mbcli.engine.stepping.loop import RUNNING
from mbcli.engine.stepping.run_arrays import Actuation, WorldArrays
from mbcli.errors import ContactUnsolvedError
from mbcli.multibody.contact.contact_arrays import CALLED
from mbcli.multibody.contact.meeting_contact import allocate_contact
from mbcli.multibody.state.context import Context
from mbcli.multibody.stepping.energy_balance import attach_balance, keep_none, new_balance
from mbcli.multibody.stepping.inputs import ALWAYS
from mbcli.multibody.stepping.missing_mass import require_masses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.math.array_types import IntArray

SECONDS_PER_CALL = 0.02  # of wall-clock time between looks at signals
MOST_KNOWN = 4  # arrays that a worker finds again: those of steps, and of what is asked between them
FIRST_STEPS, MOST_STEPS = 64, 10_000_000  # of a call


class WorldWorker:
    """A context in which worlds of equal parameters step, one after another or, in lanes, eight at once.

    Args:
        start: the context that it is made from, under the parameters that the elements of the plant have now.
        lanes: whether worlds may share registers.
        on_compile: called before the compiler runs.
    """

    def __init__(self, start: Context, lanes: bool, on_compile: Callable[[], object]) -> None:
        state = start.state
        plant = state.plant
        self.context = context = Context(plant, state.scalar, state.compiled)
        context.inputs.take_from(start.inputs)
        self.state = state = context.state
        state.go_to(start.get_time(), start.state.q, start.state.v)
        state.data.activation[:] = start.state.data.activation
        state.take_parameters(start.state)
        require_masses(plant, context)
        allocate_contact(state)
        plant.set_controllers(context)
        keep_none(context)
        self.contact: Any = state.contact
        if not is_compiled(state.kernels.advance_worlds, called=True):
            on_compile()
        if state.constraints is not None and state.constraints.row_owners and self.contact is None:
            state.constraints.begin_run(context)
            state.constraints.work.noted_ranks[:] = state.constraints.work.ranks
        if self.contact is not None:
            self.contact.start_run(1, False, exact=True)
            if self.contact.compiles_elsewhere(state.kernels):
                self._function(state.kernels.advance_worlds)  # meanwhile
            self.contact.attach(state)
        self._one, self._steps = self._function(state.kernels.advance_worlds), FIRST_STEPS
        self._lanes: Callable[..., float] | None = None
        self._taken: Mapping[str, np.ndarray] | None = None
        self._balanced: Mapping[str, np.ndarray] | None = None  # whose work is added up
        self._known: dict[int, tuple[Mapping[str, np.ndarray], WorldArrays]] = {}  # by id(), the last one taken last
        self._calls = np.zeros(4)
        self._shares = False  # whether the worlds that it takes share registers
        if lanes and self._can_share():
            from mbcli.engine.queries.lane_data import LaneData, load_lane_kernels

            self._lane_data = LaneData(state.model.sizes)
            self._lanes = self._function(load_lane_kernels().advance_worlds_in_lanes)
            self._one_address = address_of_function(state.kernels.advance_worlds)

    def _can_share(self) -> bool:
        """Whether steps between limits are the same instructions for all worlds."""
        state = self.state
        model = state.model
        rotations = set(model.body_rotation.tolist()) - {NO_ROTATION}
        smooth = self.contact is None and state.constraints is None and covers(model) and not len(model.friction_dof)
        smooth = smooth and not model.pd_constants[:, PD_RATE].any()  # what controllers carry is of each world
        return state.compiled and smooth and not any(ROTATIONS[kind].LOCKS for kind in rotations)

    def _function(self, kernel: Any) -> Callable[..., float]:
        """A kernel as a function of Python that leaves the lock of Python to others."""
        return CALLED(address_of_function(kernel)) if self.state.compiled else kernel

    def take(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Works with these arrays of all worlds from now on. Those that it has already are not looked at again."""
        self._calls[:] = 0.0
        alone = ("world_pushes", "world_effort", "world_wrench", "world_work")  # what lanes do not have
        self._shares = self._lanes is not None and not any(len(arrays[name]) for name in alone)
        if self._shares:
            self._calls[:2] = self._one_address, self.state.data_handle
        if arrays is self._taken:
            return
        self._taken = arrays
        known = self._known.pop(id(arrays), None) or (arrays, WorldArrays(world_calls=self._calls, **arrays))
        self._arrays = known[1]
        if not arrays["world_samples"].size:  # those with samples are of one call, and large
            self._known[id(arrays)] = known
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._handle = self._arrays.handle(self.state.compiled)
        if len(arrays["world_work"]) and self._balanced is not arrays:
            self._keep_balance(arrays)
        if len(arrays["world_wrench"]) and self.contact is not None and not self.contact.keeps:
            self.contact.start_run(1, True, exact=True)
            self.contact.attach(self.state)

    def _keep_balance(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Steps add up the work of each cause, under the forces on bodies of these arrays."""
        self._balanced = arrays
        self._forces = forces = Actuation(ALWAYS, np.zeros((1, arrays["world_u"].shape[2])))
        for name in ("push_link", "push_point", "push_force", "push_times"):
            setattr(forces, name, arrays[f"world_{name}"])
        self._balance = new_balance(self.context)
        attach_balance(self.context, self._balance, forces.handle(self.state.compiled))

    def advance(
        self, first: int, end: int, status: IntArray, messages: dict[int, str], ended: Sequence[object]
    ) -> None:
        """Advances some worlds until `ended` has an element; those whose contact has no solution get a message."""
        state, k = self.state, first
        while k < end and not ended:
            if self._shares and self._lanes is not None:
                k = self._called(self._lanes, self._lane_data.handle, k, end)
                continue
            k = self._called(self._one, state.data_handle, k, end)
            if k == end or status[k] == RUNNING:  # it pauses
                continue
            try:  # more room, in arrays of the same solids
                self.contact.make_room()
                self.contact.attach(state)
                status[k] = RUNNING
            except ContactUnsolvedError as error:
                messages[k] = str(error)
                k += 1

    def _called(self, function: Callable[..., float], data: Any, first: int, end: int) -> int:
        """The world with which the function wants to go on, after about SECONDS_PER_CALL."""
        self._calls[WORLDS_STEPS_LEFT] = self._steps
        started = perf_counter()
        k = int(function(self.state.model_handle, data, self._handle, first, end))
        seconds, taken = perf_counter() - started, self._steps - self._calls[WORLDS_STEPS_LEFT]
        if seconds > 0.1 * SECONDS_PER_CALL:
            self._steps = min(MOST_STEPS, max(1, int(SECONDS_PER_CALL * taken / seconds)))
        elif self._calls[WORLDS_PAUSED_STEP] > 0.0:
            self._steps = min(MOST_STEPS, 8 * self._steps)
        return k
