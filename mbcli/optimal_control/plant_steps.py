"""The steps of a plant from one choice of efforts to the next, in many worlds at once, and their derivatives.

Derivatives are central differences of fourth order of the very steps of a run, which take eight worlds in one
vector register where nothing touches: exact to about 12 digits there, to 8 in contact, whose problems are solved to
rounding for them. At a contact that begins or ends just there, and at a stop, they are the mean of both sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbcli.engine.fields.contact_fields import SETTING_TOLERANCE
from mbcli.engine.fields.model_fields import PD_RATE
from mbcli.errors import ModelError
from mbcli.multibody.linearization.differences import DIFFERENCES, WEIGHTS
from mbcli.multibody.linearization.step_of_run import EXACT
from mbcli.optimal_control.deviations import Deviations
from mbcli.simulation.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.models.loaded_model import LoadedModel

SMOOTH = {"q": 1e-4, "v": 1e-4, "u": 1e-2}  # sizes of differences where nothing touches
MOST_AT_ONCE = 65_536  # worlds of a call


class Perturbed(NamedTuple):
    """States and efforts beside those of n knots: rows q, v, u, each knot's directions and their WEIGHTS in order."""

    q: FloatArray
    v: FloatArray
    u: FloatArray
    size: float
    directions: int

    def slopes(self, values: FloatArray) -> FloatArray:
        """Derivatives (n, k, directions) of a function with these values (rows, k)."""
        parts = values.reshape(-1, self.directions, len(WEIGHTS), values.shape[1])
        weights = np.array([weight for _, weight in WEIGHTS]) / self.size
        return np.einsum("ndwk,w->nkd", parts, weights)


class PlantSteps:
    """The motion of a discrete plant over a number of its steps, under constant efforts.

    Args:
        loaded: LoadedModel, discrete.
        frames: steps from one choice of efforts to the next.
        threads: that step worlds; None: as many as there are processors.

    Attributes:
        plant; nq, nv, nu; deviations: Deviations of its states; touches: whether solids of it can.

    ModelError for what has a memory that is no part of (q, v), or takes something else than efforts.
    """

    def __init__(self, loaded: LoadedModel, frames: int, threads: int | None = None) -> None:
        self._loaded, self.frames, self._threads = loaded, frames, threads
        self._worlds: dict[tuple[int, bool], Worlds] = {}
        self.plant = plant = self.worlds(1).plant
        self.nq, self.nv, self.nu = plant.num_positions(), plant.num_velocities(), plant.num_actuators()
        _require_efforts(self.worlds(1))
        self.deviations = Deviations(plant)
        self.touches = self.worlds(1).contexts()[0][0].state.contact is not None

    def worlds(self, count: int, exact: bool = False) -> Worlds:
        """So many worlds, the same at each call; exact: whose contact problems are solved to rounding."""
        key = count, exact
        if key not in self._worlds:
            if len(self._worlds) > 8:
                self._worlds.clear()
            threads = 1 if exact else self._threads  # one context, which _tolerance() knows
            self._worlds[key] = Worlds(self._loaded, count, threads=threads, warn=lambda line: None)
        return self._worlds[key]

    def along(
        self, q: Vector, v: Vector, count: int, efforts: Callable[[int, FloatArray, FloatArray], FloatArray], knots: int
    ) -> tuple[FloatArray, FloatArray]:
        """The motions of some worlds from one state: q (knots + 1, count, nq), v; NaN from where a world stops.

        efforts: (number of the knot, q (count, nq), v) -> (count, nu) until the next one.
        """
        worlds = self.worlds(count)
        worlds.reset(slice(None), q, v)
        path_q, path_v = np.empty((knots + 1, count, self.nq)), np.empty((knots + 1, count, self.nv))
        path_q[0], path_v[0] = worlds.q, worlds.v
        for k in range(knots):
            worlds.u[:] = efforts(k, path_q[k], path_v[k])
            worlds.step(self.frames)
            path_q[k + 1], path_v[k + 1] = worlds.q, worlds.v
            if worlds.status.any():
                stopped = worlds.status != 0
                path_q[k + 1, stopped] = path_v[k + 1, stopped] = np.nan
        return path_q, path_v

    def after(self, q: FloatArray, v: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """States (n, nq), (n, nv) after the steps from others; where a world stops, its last ones."""
        worlds = self.worlds(len(q))
        worlds.reset(slice(None), q, v)
        worlds.u[:] = u
        worlds.step(self.frames)
        return worlds.q.copy(), worlds.v.copy()

    # derivatives

    def perturbed(self, name: str, q: FloatArray, v: FloatArray, u: FloatArray, N: FloatArray | None) -> Perturbed:
        """What derivatives by "q" (along velocities), "v" or "u" at n knots ask for; N: of Deviations.maps()."""
        size = (DIFFERENCES if self.touches else SMOOTH)[name]
        given = {"q": q, "v": v, "u": u}
        columns = self.nv if name == "q" else given[name].shape[1]
        along = np.eye(columns) if name != "q" or N is None else np.swapaxes(N, 1, 2)
        moves = size * np.array([k for k, _ in WEIGHTS])
        moved = (
            given[name][:, None, None, :]
            + np.broadcast_to(along, (len(q), columns, along.shape[-1]))[:, :, None, :] * moves[:, None]
        )
        rows = {key: np.repeat(value, columns * len(moves), axis=0) for key, value in given.items() if key != name}
        rows[name] = moved.reshape(-1, moved.shape[-1])
        return Perturbed(rows["q"], rows["v"], rows["u"], size, columns)

    def derivatives(
        self, around: list[Perturbed], q_after: FloatArray, v_after: FloatArray, back: FloatArray | None
    ) -> FloatArray:
        """Derivatives (n, 2 nv, columns of all) of the deviations after the steps; back: of Deviations.maps() there."""
        values = self._after_exactly(*(np.concatenate([getattr(each, key) for each in around]) for key in "qvu"))
        parts, first = [], 0
        for each in around:
            rows = slice(first, first + len(each.q))
            knots = np.repeat(np.arange(len(q_after)), len(each.q) // max(len(q_after), 1))
            dq = values[0][rows] - q_after[knots]
            dq = dq if back is None else (back[knots] @ dq[:, :, np.newaxis])[:, :, 0]
            parts.append(each.slopes(np.hstack([dq, values[1][rows] - v_after[knots]])))
            first += len(each.q)
        return np.concatenate(parts, axis=2)

    def _after_exactly(self, q: FloatArray, v: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        q_after, v_after = np.empty_like(q), np.empty_like(v)
        for first in range(0, len(q), MOST_AT_ONCE):
            rows = slice(first, min(first + MOST_AT_ONCE, len(q)))
            worlds = self.worlds(rows.stop - rows.start, self.touches)
            while True:
                tolerance = _tolerance(worlds) if self.touches else np.zeros(1)
                tolerance[:] = EXACT
                worlds.reset(slice(None), q[rows], v[rows])
                worlds.u[:] = u[rows]
                worlds.step(self.frames)
                if not self.touches or (_tolerance(worlds) == EXACT).all():
                    break  # else there was no room for contacts, and the solver is another
            failed = np.flatnonzero(worlds.status)
            q_after[rows], v_after[rows] = worlds.q, worlds.v
            if failed.size:  # rounding does not allow it: as runs solve it
                chosen = first + failed
                q_after[chosen], v_after[chosen] = self.after(q[chosen], v[chosen], u[chosen])
        return q_after, v_after


def _tolerance(worlds: Worlds) -> Vector:
    """That of the contact problems of worlds on one thread, (1,), as a view."""
    ((context, _, _),) = worlds.contexts()
    settings: Vector = context.state.contact.solver.settings
    return settings[SETTING_TOLERANCE : SETTING_TOLERANCE + 1]


def _require_efforts(worlds: Worlds) -> None:
    """ModelError for a plant whose state is not (q, v), or whose input is not efforts."""
    plant = worlds.plant
    if not plant.num_actuators():
        raise ModelError("the model has no actuator: there is nothing to choose")
    servos = [actuator.name() for actuator in plant.elements.actuators if actuator.control is not None]
    if servos:
        raise ModelError(f"actuator {servos[0]} is a servo: efforts alone are optimized")
    if plant.activation_names():
        raise ModelError(f"the activation {plant.activation_names()[0]} is a state that a plan does not have")
    if plant.model.pd_constants[:, PD_RATE].any():
        raise ModelError("controllers that hold joints remember their load, which is no part of the state of a plan")
