"""Controllers of runs: the gains of a plan, and plans that are made anew in the loop."""

from __future__ import annotations

import os
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ArgumentError, ModelError
from mbcli.optimal_control.control_file import ControlFile, as_control, loaded_for
from mbcli.optimal_control.deviations import Deviations
from mbcli.optimal_control.plan import PREFIX, Plan, Track, read_track, track_of
from mbcli.simulation.control.commands import Commands
from mbcli.simulation.control.make_controller import period_of, sha256_of
from mbcli.simulation.control.run_controller import ControllerSource, RunController

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.optimal_control.control_file import Problem

WHOLE = 1e-6  # of a period: times closer than this to a knot are it


class PlanFeedback(ControllerSource):
    """The gains of a plan as the controller of runs: u = u_k + K_k (x - x_k), within the limits of the actuators.

    After the last knot its efforts and gains hold on, about the last state.

    Args:
        plan: the log of a plan (a path), or a Plan.
        gains: whether the gains act, and not the efforts alone.

    ModelError, ResourceError: it is no log of a plan; the model of the run has other coordinates.
    """

    def __init__(self, plan: Any, *, gains: bool = True) -> None:
        self.path = None if isinstance(plan, Plan) else os.fspath(plan)
        self.track, self._gains = plan.track if isinstance(plan, Plan) else read_track(plan), gains

    def controller(self, loaded: LoadedModel, *, seed: int, effort_limits: str, count: int | None) -> RunController:
        """As of ControllerSource."""
        period = float(self.track.time[1] - self.track.time[0])
        commands = Commands(loaded.plant, effort_limits, period_of(1.0 / period, loaded.plant), count)
        return PlanController(self.path or "plan", commands, loaded.plant, self.track, self._gains)

    def in_words(self) -> dict[str, Any]:
        """As of ControllerSource."""
        return {"name": "plan", "file": self.path}


class PlanController(RunController):
    """The feedback of a Track in a run, or in many worlds."""

    def __init__(self, name: str, commands: Commands, plant: Any, track: Track, gains: bool = True) -> None:
        super().__init__(name, commands)
        commands.asked[:] = True
        wanted = (plant.num_positions(), plant.num_velocities(), plant.num_actuators())
        sizes = track.q.shape[1], track.v.shape[1], track.u.shape[1]
        if sizes != wanted:
            raise ModelError(
                f"{name}: error: the plan has {sizes[0]} positions, {sizes[1]} velocities and {sizes[2]} actuators, "
                f"the model of the run {wanted[0]}, {wanted[1]} and {wanted[2]}"
            )
        self._track, self._deviations, self._gains = track, Deviations(plant), gains
        maps = self._deviations.maps(track.q)
        self._back = None if maps is None else maps[1]
        self._began = np.full(1, np.nan)

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """A tick; of many worlds, which are all at one time, arrays have their axis first."""
        now = float(np.min(time))
        if np.isnan(self._began[0]):
            self._began[0] = now
        track, last = self._track, len(self._track.u)
        at = min(int((now - self._began[0]) / self.period + WHOLE), last)
        k = min(at, last - 1)
        back = None if self._back is None else self._back[at]
        dx = self._deviations.of(np.atleast_2d(q), np.atleast_2d(v), track.q[at], track.v[at], back)
        asked = track.u[k] + dx @ track.K[k].T if self._gains else np.tile(track.u[k], (len(dx), 1))
        u[...] = self.commands.limits.take(asked.reshape(u.shape))

    def save(self) -> dict[str, FloatArray]:
        """The plan, and when it began."""
        return {**self._track.arrays(), "plan_began": self._began.copy()}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save()."""
        self._track = track_of(saved, self.name)
        self._began[:] = saved["plan_began"]


class PredictiveControl(ControllerSource):
    """Model predictive control: at each period the efforts of the horizon are improved from the state that is there.

    The search begins with the efforts of the period before, moved on by one; the first of the new ones acts.

    Args:
        task: a control file, or a mapping with its keys.
        iterations: of the search in each period; the first call takes as many as the file says.
        model: in place of the one that the file names, as of optimize().

    Attributes:
        times: [s] of wall-clock time of each call of the last run, the first one among them.
        unsolved: calls from whose state the motion could not be run; the efforts of before go on then.

    Raises:
        ModelError, ResourceError, ArgumentError: of the file and its model.
    """

    def __init__(self, task: Any, *, iterations: int = 1, model: Any = None) -> None:
        self._file: ControlFile = as_control(task)
        self._loaded = loaded_for(self._file, model)
        self._iterations = iterations
        self.times: list[float] = []
        self.unsolved = 0

    def controller(self, loaded: LoadedModel, *, seed: int, effort_limits: str, count: int | None) -> RunController:
        """As of ControllerSource."""
        if count is not None:
            raise ArgumentError(f"{self._file.name}: predictive control is of single runs, not of many worlds")
        problem = self._file.problem(self._loaded, threads=1)
        for name in ("GetPositionNames", "GetVelocityNames", "GetActuatorNames"):
            if getattr(loaded.plant, name)() != getattr(self._loaded.plant, name)():
                raise ModelError(f"{self._file.name}: error: its model has other coordinates than that of the run")
        self.times, self.unsolved = [], 0
        commands = Commands(loaded.plant, effort_limits, period_of(1.0 / problem.period, loaded.plant))
        first = self._file.settings.iterations
        return PredictiveController(self, self._file.name, commands, problem, first, self._iterations)

    def in_words(self) -> dict[str, Any]:
        """As of ControllerSource."""
        path = self._file.path
        return {"name": "predictive control", "file": path, **({} if path is None else {"sha256": sha256_of(path)})}


class PredictiveController(RunController):
    """PredictiveControl in a run."""

    def __init__(
        self, source: PredictiveControl, name: str, commands: Commands, problem: Problem, first: int, later: int
    ) -> None:
        super().__init__(name, commands)
        commands.asked[:] = True
        self._source, self._problem, self._first, self._later = source, problem, first, later
        self._u, self._is_new = problem.u.copy(), np.ones(1)

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """A tick."""
        began = perf_counter()
        if not self._is_new[0]:
            self._u = np.vstack([self._u[1:], self._u[-1:]])
        self._improve(np.array(q), np.array(v))
        self._is_new[0] = 0.0
        self._source.times.append(perf_counter() - began)
        u[...] = self.commands.limits.take(self._u[0].copy())

    def _improve(self, q: Vector, v: Vector) -> None:
        search = self._problem.search
        start = search.run(q, v, self._u)
        if start is None:
            self._source.unsolved += 1
            return
        iterations = self._first if self._is_new[0] else self._later
        self._u = search.improve(start, iterations, gains=False).trajectory.u

    def save(self) -> dict[str, FloatArray]:
        """The efforts that it goes on with."""
        return {PREFIX + "ahead": self._u.copy(), PREFIX + "is_new": self._is_new.copy()}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save(). ModelError: the log has no state of it."""
        ahead = np.asarray(saved.get(PREFIX + "ahead", ()), dtype=float)
        if ahead.shape != self._u.shape:
            raise ModelError(f"{self.name}: error: the log has no state of this controller to go on from")
        self._u, self._is_new[:] = ahead.copy(), saved[PREFIX + "is_new"]
