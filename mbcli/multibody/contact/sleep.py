"""What sleeps in the runs of a context: the arrays of engine/contact/sleep.py, and what runs and checkpoints ask."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.contact.arrays import ContactSamples, SleepArrays
from mbcli.engine.fields.sleep_fields import ASLEEP, RECALLED, SLEEP_LACKING, SLEEP_STEPS
from mbcli.errors import ModelError
from mbcli.multibody.compilation.compile_transmissions import moved_by_transmissions
from mbcli.multibody.contact.python_forces import needs_python

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.owning_plant import OwningPlant

SECONDS_AT_REST = 0.1  # before a tree may sleep
FEWEST_STEPS = 10  # of which this is at least


def context_of_steps(plant: OwningPlant, context: Context) -> Context:
    """The context whose arrays the steps of a run change: that of the run itself, unless islands may sleep.

    Then it is one that only runs know: what sleeps keeps its poses there, whatever is asked of the run's context in the
    meantime. Forces and inputs that are functions of Python may act on anything, so that nothing sleeps under them.
    """
    state = context.state
    if plant.settings.sleep_tolerance == 0.0 or not plant.meets_contact():
        return context
    if needs_python(plant, context):
        state.sleeper = None
        return context
    state.ready_parameters()
    if state.sleeper is None or state.sleeper.state.model is not state.model:
        state.sleeper = context.Clone()
        state.sleeper.state.use_model(state.model)
        state.sleeper.state.at_positions()  # by kernels of every plant; _reaches() asks which velocities turn
        state.sleeper.state.sleeps = True
    state.sleeper.inputs = context.inputs
    return state.sleeper


class Sleep:
    """The trees that sleep in the context that the steps of runs change.

    Args:
        state: EvaluatedState of that context, with contact.
    """

    def __init__(self, state: Any) -> None:
        model, contact, h = state.model, state.contact, state.plant.time_step()
        self._state, self._recalls = state, False
        dof_tree, trees = contact.solver.dof_tree, len(contact.solver.tree_v) - 1
        arrays: Any = SleepArrays(model.sizes, trees, contact.points_room)  # whose attributes fields name
        self.kept: Any = ContactSamples(1, contact.points_room)
        self.arrays = arrays
        arrays.speed_limit[0] = state.plant.settings.sleep_tolerance
        arrays.sleep_counts[SLEEP_STEPS] = max(FEWEST_STEPS, math.ceil(SECONDS_AT_REST / h))
        arrays.body_tree[0], arrays.asleep[0] = -1, 1
        arrays.body_tree[1:] = dof_tree[model.body_v[1:]]
        arrays.may_sleep[:] = 1
        arrays.may_sleep[_trees_under_forces(model, dof_tree, arrays.body_tree)] = 0
        arrays.reach[:] = _reaches(state, contact.collision, arrays.body_tree)

    def follow(self, other: Any) -> None:
        """Before a step from the state of another EvaluatedState: unless that was reached here, everything wakes."""
        state = self._state
        state.time = other.time
        if not np.array_equal(state.x, other.x):
            state.go_to(other.time, other.q, other.v)
            self.arrays.quiet[:] = 0
            self._recalls = True
        if self._recalls:
            self._recall()

    def remember(self, remembered: Mapping[str, np.ndarray]) -> None:
        """Begins with what `remembered` was once in this state. ModelError if that was another model."""
        quiet, v = remembered["sleep"], remembered["rest_start"]
        if quiet.shape != self.arrays.quiet.shape or v.shape != self.arrays.v_at_start.shape:
            raise ModelError(f"the sleep of {quiet.size} trees is known, and there are {self.arrays.quiet.size}")
        self.arrays.quiet[:], self.arrays.v_at_start[:] = quiet, v
        self._recalls = True

    @property
    def remembered(self) -> dict[str, np.ndarray]:
        """What a run needs that goes on.

        sleep: for each tree how many steps it has rested for, -1 if it sleeps; rest_start: the velocities (nv,) after
        the first of these steps.
        """
        return {"sleep": np.maximum(self.arrays.quiet, ASLEEP), "rest_start": self.arrays.v_at_start.copy()}

    def count(self) -> int:
        """How many bodies sleep."""
        trees = self.arrays.body_tree[self._state.model.link_body]
        return int(np.count_nonzero(self.arrays.quiet[trees[trees >= 0]] < 0))

    def undo_step(self) -> None:
        """The last step is taken again, from the state before."""
        self.arrays.quiet[:] = self.arrays.quiet_before
        self._recalls = True

    def _recall(self):
        """Lets the next step find the contacts of what sleeps anew."""
        if self.arrays.sleep_counts[SLEEP_LACKING] != 0:
            self._make_room()
        arrays, kept = self.arrays, self.kept
        arrays.quiet[arrays.quiet < 0] = RECALLED
        arrays.asleep[1:], arrays.first_kept[:] = 0, -1
        kept.offset[:], kept.counts[:], kept.corner_start[0] = 0, 0, 0
        self._recalls = False

    def _make_room(self):
        """Twice as much room for the contacts of what sleeps."""
        earlier, self.kept = self.arrays, ContactSamples(1, 2 * self.kept.capacity)
        self.arrays = SleepArrays(self._state.model.sizes, len(earlier.quiet), self.kept.capacity)
        for field in SleepArrays.fields:
            if field.name != "next_kept":
                getattr(self.arrays, field.name)[:] = getattr(earlier, field.name)
        self.arrays.sleep_counts[SLEEP_LACKING] = 0
        self._state.contact.attach_anew(self._state)


def _trees_under_forces(model, dof_tree, body_tree):
    """The trees on which actuators, springs or force elements act; limits and constraints tell by their rows."""
    dofs = [model.actuator_dof, model.hinge_dof, np.flatnonzero(model.dof_stiffness)]
    dofs.append(np.flatnonzero(moved_by_transmissions(model)))
    links = [model.spring_damper_link, model.bushing_link, model.cut_link]
    trees = [dof_tree[d] for d in dofs] + [body_tree[model.link_body[l.ravel()]] for l in links]
    found = np.unique(np.concatenate(trees))
    return found[found >= 0]


def _reaches(state, collision, body_tree):
    """1 for velocities that shift, the distance [m] of the farthest solid that they move for those that turn."""
    model = state.model
    reach = np.zeros(model.sizes["nbody"])
    sizes = np.linalg.norm(collision.X_BG[:, 9:], axis=1) + np.linalg.norm(collision.center, axis=1) + collision.radius
    np.maximum.at(reach, collision.body, sizes)
    for b in range(len(reach) - 1, 0, -1):
        if model.body_parent[b] != 0:
            arm = np.linalg.norm(model.body_X_PF[b, 9:])
            reach[model.body_parent[b]] = max(reach[model.body_parent[b]], arm + reach[b])
    largest = np.zeros(len(body_tree))
    np.maximum.at(largest, body_tree[1:], reach[1:])
    reach[1:] = np.where(reach[1:] > 0.0, reach[1:], largest[body_tree[1:]])
    turns = state.data.S[:, :3].any(axis=1)
    return np.where(turns, reach[model.dof_body], 1.0)
