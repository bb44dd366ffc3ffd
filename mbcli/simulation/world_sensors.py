"""WorldSensors: what the sensors of a model give in many worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.log.fields.loaded_states import LoadedStates
from mbcli.log.fields.sensor_rows import require_of_states
from mbcli.math.cross_product import cross
from mbcli.models.parameter_assignments import changed_parameters
from mbcli.multibody.core.step_forces import StepForces
from mbcli.multibody.sensing.evaluation import SensorEvaluator, has_forces_between, joined
from mbcli.multibody.sensing.signals import SensorSignals
from mbcli.simulation.aims import Aims

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from mbcli.math.array_types import Array, FloatArray
    from mbcli.multibody.sensing.rows import SensedRows
    from mbcli.multibody.state.context import Context

    Group: TypeAlias = tuple[Context, Array, tuple[str, ...]]

FOLDER = "sensors/"  # of their paths in a log


class WorldSensors:
    """The sensors of worlds over time: at their rates, late and with noise, as in the logs of single runs.

    Accelerations and forces are those of the step from where a world is, under u and desired as they are now. Where
    sensors measure contact, energies or, among other forces, those between bodies, each world is evaluated by itself,
    which takes some hundred microseconds; else all are at once.

    Args:
        worlds: Any.
        seed: world k has the noise of the single run of the seed `seed + k`; None: there is none.
        contexts: as of regroup().

    Attributes:
        is_plain: whether none has a rate, a delay or noise.
    """

    def __init__(self, worlds: Any, seed: int | None, contexts: list[Group]) -> None:
        plant = worlds.plant
        self._worlds, self._plant = worlds, plant
        self._made: dict[int, tuple[Context, SensorEvaluator, LoadedStates]] = {}
        self._groups: list[tuple[SensorEvaluator, LoadedStates, Array]] = []
        self._aims = Aims(plant)
        self.regroup(contexts)
        self._sensors, needs = self._groups[0][0].sensors, self._groups[0][0].needs
        alone = "energy" in needs or ("wrench" in needs and has_forces_between(plant))
        self._alone = alone or (bool(needs & {"contact", "wrench"}) and plant.meets_contact())
        self._wrench, self._moves = "wrench" in needs, bool(needs & {"acceleration", "wrench", "effort", "contact"})
        self._seeds = [None if seed is None else seed + k for k in range(len(worlds))]
        self._signals = [SensorSignals(self._sensors, each) for each in self._seeds]
        self.is_plain = self._signals[0].pass_through()
        self._last = np.full(len(worlds), -np.inf)  # [s] of the last signals

    def regroup(self, contexts: list[Group]) -> None:
        """contexts: [(a Context with its parameters, the numbers of its worlds, the parameters as texts)]."""
        made, self._groups = {}, []
        for context, numbers, overrides in contexts:
            found = self._made.get(id(context)) or (context, *self._of_parameters(context, overrides))
            made[id(context)] = found
            self._groups.append((*found[1:], numbers))
        self._made = made

    def _of_parameters(self, context: Context, overrides: tuple[str, ...]) -> tuple[SensorEvaluator, LoadedStates]:
        evaluator = SensorEvaluator(self._plant, compiled=True, model=context.state.model)
        if not overrides:
            return evaluator, LoadedStates(self._plant, context, ())
        with changed_parameters(self._worlds.loaded, overrides):
            states = LoadedStates(self._plant, context, ())
            states.keep_arrays()
        return evaluator, states

    def columns(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """{name of a sensor: (names of its columns, their units)}"""
        return {sensor.path.removeprefix(FOLDER): sensor.columns() for sensor in self._sensors}

    def exact(self) -> dict[str, FloatArray]:
        """{name: values (n, columns)} where the worlds are, without rate, delay and noise."""
        found = {
            sensor.path: np.full((len(self._worlds), len(sensor.columns()[0])), np.nan) for sensor in self._sensors
        }
        step = self._worlds.next_step() if self._moves else None
        for evaluator, states, numbers in self._groups:
            given: dict[str, Any] = {}
            if step is not None:
                vdot, effort, places = step
                q, v = np.split(places[numbers], [self._plant.num_positions()], axis=1)
                none = np.zeros((len(numbers), 0, 6))
                given = {"effort": effort[numbers], "steps": StepForces(vdot[numbers], q, v, none, none)}
                given["vdot"] = given["steps"].vdot
            rows = self._rows(evaluator, states, numbers, given)
            for sensor in self._sensors:
                found[sensor.path][numbers] = sensor.values(rows)
        return {path.removeprefix(FOLDER): values for path, values in found.items()}

    def contact_wrenches(self) -> FloatArray:
        """Spatial forces (n, number of bodies, 6) of contact on bodies at their origins, in World [N m, N].

        They are those of the next step, under u and desired as they are now.
        """
        plant, worlds = self._plant, self._worlds
        found = np.zeros((len(worlds), plant.num_bodies(), 6))
        if not plant.meets_contact():
            return found
        bodies = self._groups[0][0].sensing.body_of_solid
        F = worlds.next_contacts(len(bodies))
        np.add.at(found.transpose(1, 0, 2), bodies, F.transpose(1, 0, 2))
        links = np.flatnonzero(found.any(axis=(0, 2)))  # that touch in some world
        for evaluator, states, numbers in self._groups:
            p_WB = evaluator.sensing.link_motions(worlds.q[numbers], worlds.v[numbers], None, links.tolist())[1]
            at = np.ix_(numbers, links)
            found[at] -= np.concatenate([cross(p_WB, found[at][..., 3:]), np.zeros(p_WB.shape)], axis=2)
            for k in numbers[np.isnan(F[numbers]).any(axis=(1, 2))].tolist():  # that cannot go on
                context = self._at(k, states)
                found[k] = plant.contact_body_forces(context, plant.contact_record(context))
        return found

    def signals(self) -> dict[str, FloatArray]:
        """{name: signals (n, columns)} at the times of the worlds, which have gone on since the last call.

        A world whose time has gone back begins anew.
        """
        exact, time = self.exact(), self._worlds.time
        again = np.flatnonzero(time < self._last)
        self._last = time
        if self.is_plain:
            return exact
        for k in again.tolist():
            self._signals[k] = SensorSignals(self._sensors, self._seeds[k])
        for k, signals in enumerate(self._signals):
            own = signals.of_row(time[k], {FOLDER + name: values[k] for name, values in exact.items()})
            for path, values in own.items():
                exact[path.removeprefix(FOLDER)][k] = values
        return exact

    def save(self) -> dict[str, Any]:
        """What load() goes on from."""
        return {"last": self._last.tolist(), "signals": [signals.save() for signals in self._signals]}

    def load(self, saved: dict[str, Any]) -> None:
        """The contrary of save(). KeyError, TypeError or ValueError for anything else."""
        for signals, own in zip(self._signals, saved["signals"], strict=True):
            signals.load(own)
        self._last = np.broadcast_to(np.array(saved["last"], dtype=float), self._last.shape).copy()

    def go_on(self, rows: Mapping[str, Any]) -> None:
        """Rows of the log of the worlds that go on, before the next signals: "time" (k,) and (n, k, columns) by path.

        ModelError where they do not have what a late sensor needs.
        """
        if self.is_plain:
            return
        late = self._signals[0].late()
        require_of_states(late)
        for evaluator, _, numbers in self._groups:
            for k in numbers.tolist():
                there = np.isfinite(rows["state/q"][k]).all(axis=1)  # not of a world that has ended
                own = {path: values[k][there] for path, values in rows.items() if path.startswith((FOLDER, "state/"))}
                own["time"] = rows["time"][there]
                states = evaluator.rows_of(own["time"], own["state/q"], own["state/v"], {})
                self._signals[k].go_on(own, {sensor.path: sensor.values(states) for sensor in late})
        self._last = self._worlds.time.copy()

    def _rows(
        self, evaluator: SensorEvaluator, states: LoadedStates, numbers: Array, given: dict[str, FloatArray]
    ) -> SensedRows:
        """Of the worlds of these numbers, whose parameters are those of the states; given: of the step from there."""
        worlds = self._worlds
        more: dict[str, Any] = {}
        if self._alone or (self._wrench and worlds.pushes):
            more = joined([evaluator.given(self._at(int(k), states)) for k in numbers], self._plant)
        return evaluator.rows_of(worlds.time[numbers], worlds.q[numbers], worlds.v[numbers], {**given, **more})

    def _at(self, k: int, states: LoadedStates) -> Context:
        """A context where world k is, under its actuation, its controllers and its pushes."""
        worlds = self._worlds
        states.forces = worlds.pushes.forces(k)
        found: Context = states.at(float(worlds.time[k]), worlds.q[k], worlds.v[k], worlds.acting[k])
        self._aims.put(worlds.desired[k], found)
        found.state.data.pd_carried[:] = worlds.carried[k]
        return found
