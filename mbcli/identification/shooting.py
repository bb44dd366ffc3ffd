"""Parameters by simulation: rollouts are matched with measured motion, by multiple shooting.

A motion is cut into short segments. Each starts from a state of its own, which is found too: so errors do not grow over
the whole motion, and the problem has few local minima. Residuals are the measured positions (and velocities) less those
of the rollouts, what is between the end of a segment and the start of the next, and the divergence of the parameters
from the file. The steps are those of Levenberg and Marquardt. What the data do not show is a bent and narrow valley to
these: along it steps go to the least divergence, and each is followed by what restores the fit. Derivatives are
differences of rollouts: all segments under all changed parameters and from all changed starts are the worlds of one
`Worlds`, which step eight at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError, NumericalError
from mbcli.identification.tangents import Tangents
from mbcli.simulation.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.free_parameters import FreeParameters
    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel

STEP_OF_PARAMETERS, STEP_OF_STATES = 1e-5, 1e-6  # of differences
PARAMETERS_IN_CONTACT, STATES_IN_CONTACT = 1e-2, 3e-5  # where contact problems are solved to 1e-6
MOST_WORLDS = 4096  # of one Worlds
MOST_STEPS, STEPS_OF_STARTS, MOST_TRIES = 60, 12, 12  # the second of starts alone
ENOUGH, ROUNDING = 0.01, 1e-9  # squared standard deviations, and part of the cost: a step that gains less is the last
HIDDEN = 1e-9  # of the largest information of the data: less is what differences of rollouts leave of none
MOST_OF_VALLEY, STEP_OF_VALLEY, SETTLED = 25, 0.5, 1e-3  # steps along what is hidden, the largest, and one that ends
HUBER = 2.5  # standard deviations beyond which an error counts by its size, not its square


@dataclass(frozen=True)
class Segment:
    """A stretch of measured motion that one rollout is matched with.

    Attributes:
        source: its file. time: (m + 1,) [s] of the start and of the samples. q (m + 1, nq), v (m + 1, nv): as measured,
        NaN where there is nothing.
        start_q (nq,), start_v (nv,): the state from which the search begins.
        inputs: Inputs of its file. follows: whether it begins where the segment before it ends.
    """

    source: str
    time: FloatArray
    q: FloatArray
    v: FloatArray
    start_q: FloatArray
    start_v: FloatArray
    inputs: Inputs
    follows: bool


class Inputs:
    """What acts on actuators: forces, and aims of controllers, each row until the next one.

    Args:
        time (n,). forces (n, nu) [N m or N]. aims (n, nu): what a controller aims at less its rest, 0 without. kinds:
        (nu,) the gain, "kp" or "kd", that makes a force of an aim.
    """

    def __init__(self, time: FloatArray, forces: FloatArray, aims: FloatArray) -> None:
        self._time = time
        both = np.stack((forces, aims))
        steps = np.diff(time)[:, None]
        self._sums = np.concatenate((np.zeros((2, 1, both.shape[2])), np.cumsum(both[:, :-1] * steps, axis=1)), axis=1)
        self._last, self._first = both[:, -1], both[:, 0]
        self.acts = bool(both.any())

    def means(self, start: float, h: float, count: int) -> FloatArray:
        """(2, count, nu) means of forces and aims over steps of h [s] from a time on: exact, whatever the delay."""
        times = start + h * np.arange(count + 1)
        inside = np.clip(times, self._time[0], self._time[-1])
        k = np.clip(np.searchsorted(self._time, inside, side="right") - 1, 0, len(self._time) - 2)
        share = ((inside - self._time[k]) / (self._time[k + 1] - self._time[k]))[:, None]
        sums = self._sums[:, k] * (1.0 - share) + self._sums[:, k + 1] * share
        sums += self._last[:, None] * np.maximum(times - self._time[-1], 0.0)[:, None]
        sums += self._first[:, None] * np.minimum(times - self._time[0], 0.0)[:, None]
        return np.array(np.diff(sums, axis=1) / h)


@dataclass
class Fit:
    """theta (p,), the segments' starts (k, 2 d from those of the segments), residuals in standard deviations, and the
    covariance of theta."""

    theta: FloatArray
    starts: FloatArray
    cost: float
    covariance: FloatArray
    steps: int


class _Shown:
    """What the data alone say of the parameters, at a step.

    Args:
        system: of Shooting. slopes, prior: (p,) of the parameters.

    Attributes:
        values (p,), axes (p, p): information along orthogonal directions, 0 of those that are hidden.
    """

    def __init__(self, system: tuple[Any, FloatArray], slopes: FloatArray, prior: FloatArray) -> None:
        from scipy.sparse.linalg import splu

        (H, g), p = system, len(prior)
        self._slopes, self._prior, self._of_starts = slopes, prior, splu(H[p:, p:].tocsc())
        self._both, self._g = H[p:, :p].toarray(), g[p:]
        S = H[:p, :p].toarray() - np.diag(slopes**2) - self._both.T @ self._of_starts.solve(self._both)
        self._gradient = g[:p] - slopes * prior - self._both.T @ self._of_starts.solve(self._g)
        values, self.axes = np.linalg.eigh(0.5 * (S + S.T))
        self.values = np.where(values > HIDDEN * values[-1], values, 0.0)

    def step(self) -> tuple[FloatArray, FloatArray]:
        """Of theta and of starts (all in one): to what the data show, and along what is hidden nearer to the file."""
        shown, hidden = self.axes[:, self.values > 0.0], self.axes[:, self.values == 0.0]
        back = -shown @ ((shown.T @ self._gradient) / self.values[self.values > 0.0])
        wanted = -(self._prior + self._slopes * back)
        along = hidden @ np.linalg.lstsq(self._slopes[:, None] * hidden, wanted, rcond=None)[0]
        back, along = (part * min(1.0, STEP_OF_VALLEY / max(np.abs(part).max(), 1e-300)) for part in (back, along))
        return back + along, -self._of_starts.solve(self._g + self._both @ (back + along))

    def covariance(self) -> FloatArray:
        """(p, p) of theta, in which the file counts as a measurement too."""
        of_file = self.axes.T @ (self._slopes[:, None] ** 2 * self.axes)
        scale = 1.0 / np.sqrt(np.maximum(self.values + np.diag(of_file), 1e-300))
        whole = scale[:, None] * (np.diag(self.values) + of_file) * scale
        inverse = scale[:, None] * np.linalg.pinv(whole, hermitian=True) * scale
        return np.array(self.axes @ inverse @ self.axes.T)


class Shooting:
    """Segments of motions, and the rollouts that are matched with them.

    Args:
        loaded: a discrete model. free: its FreeParameters. segments: of equal numbers of samples.
        every: steps from one sample to the next. gains: function (loaded) -> (nu,) of what makes forces of aims.

    Starts are changes (2 d,) of the states of segments, along the d directions that constraints leave; of trees these
    are all nv velocities.

    ModelError for positions that do not satisfy the constraints, and models whose constraints act now and then.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        free: FreeParameters,
        segments: Sequence[Segment],
        every: int,
        gains: Any,
        in_contact: bool,
    ) -> None:
        self.loaded, self.free, self.every = loaded, free, every
        plant = self.plant = loaded.plant
        self.nq, self.nv = plant.num_positions(), plant.num_velocities()
        self._h, self._gains = plant.time_step(), gains
        self._in_contact = in_contact
        self._step = PARAMETERS_IN_CONTACT if in_contact else STEP_OF_PARAMETERS
        self._step_of_states = STATES_IN_CONTACT if in_contact else STEP_OF_STATES
        self._context = plant.CreateDefaultContext()
        self._tangents = Tangents(plant, plant.CreateDefaultContext())
        closed = [self._tangents.closed(s.start_q, s.start_v, s.source) for s in segments]
        self.segments = [replace(s, start_q=q, start_v=v) for s, (q, v) in zip(segments, closed, strict=True)]
        bases = [self._tangents.basis(s.start_q) for s in self.segments]
        if len({basis.shape[1] for basis in bases}) > 1:
            raise ModelError("the constraints lose rank in some positions of the data: starts there have no tangents")
        self._bases = np.array(bases)  # (k, nv, d)
        self.samples = len(segments[0].time) - 1
        measured = np.array([np.hstack((s.q, s.v)) for s in segments])
        self.given = ~np.isnan(measured).all(axis=(0, 1))  # columns with a measurement
        self._y = measured[:, :, self.given]
        self.scale = np.ones(int(self.given.sum()))  # standard deviations of the errors
        self.loose = np.ones(2 * self.nv)  # of starts from ends, by velocities
        self.inflation = 1.0
        self.quaternions = self._tangents.quaternions

    def take_weights(self, other: Shooting) -> None:
        """The noise that another one has."""
        self.scale, self.loose, self.inflation = other.scale, other.loose, other.inflation

    def own_starts(self) -> FloatArray:
        """(k, 2 d) of no change."""
        return np.zeros((len(self.segments), 2 * self._bases.shape[2]))

    def _loose(self, k: int) -> FloatArray:
        """(2 d,) standard deviations of what is between segment k and the one before it."""
        squares = self.loose.reshape(2, self.nv) ** 2
        return np.array(np.sqrt(squares @ self._bases[k] ** 2).ravel())

    # ------------------------------------------------------------------------------------------ rollouts

    def states(self, starts: FloatArray) -> FloatArray:
        """[q; v] (k, nq + nv) from which segments start, of starts (k, 2 d)."""
        return np.array(
            [
                np.concatenate(self._tangents.moved(segment.start_q, segment.start_v, basis, start))
                for segment, basis, start in zip(self.segments, self._bases, starts, strict=True)
            ]
        )

    def rollouts(self, thetas: Sequence[FloatArray], starts: Sequence[FloatArray]) -> FloatArray:
        """(n, k, samples + 1, nq + nv) of all segments under n parameters from n starts; NaN where a world stopped."""
        k, steps = len(self.segments), self.samples * self.every
        found = np.empty((len(thetas), k, self.samples + 1, self.nq + self.nv))
        room = max(1, MOST_WORLDS // k)
        for first in range(0, len(thetas), room):
            part = range(first, min(first + room, len(thetas)))
            overrides = [self.free.overrides(thetas[n]) for n in part]
            paths = {path: [o[path] for o in overrides for _ in range(k)] for path in overrides[0]}
            worlds = Worlds(self.loaded, k * len(part), parameters=paths, threads=None)
            x = np.concatenate([self.states(starts[n]) for n in part])
            worlds.q, worlds.v = x[:, : self.nq], x[:, self.nq :]
            inputs = np.concatenate([self._inputs(thetas[n], steps) for n in part])
            rows = worlds.rollout(steps, inputs, every=self.every)
            found[first : part.stop, :, 0] = x.reshape(len(part), k, -1)
            found[first : part.stop, :, 1:] = rows.reshape(len(part), k, self.samples, -1)
        return found

    def _inputs(self, theta: FloatArray, steps: int) -> FloatArray:
        """(k, steps, nu) forces under parameters."""
        delay, gains = self.free.delay(theta), self._gains(self.free.overrides(theta))
        means = [s.inputs.means(s.time[0] - delay, self._h, steps) for s in self.segments]
        return np.array([forces + gains * aims for forces, aims in means])

    # ------------------------------------------------------------------------------------------ residuals

    def errors(self, rollout: FloatArray) -> FloatArray:
        """(k, samples + 1, columns) of a rollout, in standard deviations."""
        predicted = rollout[:, :, self.given]
        return np.where(np.isnan(self._y), 0.0, (predicted - self._y) / self.scale)

    def gaps(self, rollout: FloatArray) -> FloatArray:
        """(k, 2 d) what is between the end of the segment before and the start of each, 0 if there is none."""
        found = self.own_starts()
        for k, segment in enumerate(self.segments):
            if segment.follows:
                end, start = rollout[k - 1, -1], rollout[k, 0]
                self.plant.SetPositions(self._context, start[: self.nq])
                q = self.plant.MapQDotToVelocity(self._context, end[: self.nq] - start[: self.nq])
                own = np.stack((q, end[self.nq :] - start[self.nq :])) @ self._bases[k]
                found[k] = own.ravel() / self._loose(k)
        return found

    def _cost(self, theta: FloatArray, rollout: FloatArray, with_prior: bool) -> float:
        errors = np.abs(self.errors(rollout))
        huber = np.where(errors < HUBER, errors**2, 2.0 * HUBER * errors - HUBER**2)
        cost = (float(huber.sum()) + float((self.gaps(rollout) ** 2).sum())) / self.inflation
        if with_prior:
            cost += float((self.free.prior(theta) ** 2).sum())
        return cost if np.isfinite(cost) else float("inf")

    # ------------------------------------------------------------------------------------------ steps

    def solve(self, theta: FloatArray, starts: FloatArray, *, fixed: bool = False) -> Fit:
        """The parameters and starts that fit best; fixed: the starts alone.

        NumericalError if the first rollout does not come to its end.
        """
        damping, steps = 1e-3, 0
        rollout = self.rollouts([theta], [starts])[0]
        value = self._cost(theta, rollout, not fixed)
        if not np.isfinite(value):
            raise NumericalError("the rollouts with the parameters of the file do not come to their end")
        system: Any = None
        for _ in range(STEPS_OF_STARTS if fixed else MOST_STEPS):
            steps += 1
            system = self._system(theta, starts, rollout, fixed)
            gained = 0.0
            for _ in range(MOST_TRIES):
                d_theta, d_starts = self._step_of(system, damping, fixed)
                new_theta, new_starts = theta + d_theta, starts + d_starts
                tried = self.rollouts([new_theta], [new_starts])[0]
                cost = self._cost(new_theta, tried, not fixed)
                if cost < value:
                    gained = value - cost
                    theta, starts, rollout, value = new_theta, new_starts, tried, cost
                    damping = max(damping / 5.0, 1e-12)
                    break
                damping *= 8.0
            if gained < ENOUGH + ROUNDING * value:
                break
        if fixed:
            return Fit(theta, starts, value, np.zeros((0, 0)), steps)
        shown = self._shown(theta, system)
        if not self._in_contact and not shown.values.all():
            theta, starts, value, shown = self._nearest(theta, starts, value, shown)
        return Fit(theta, starts, value, shown.covariance(), steps)

    def _shown(self, theta: FloatArray, system: tuple[Any, FloatArray]) -> _Shown:
        return _Shown(system, self.free.prior_slopes(theta), self.free.prior(theta))

    def _nearest(
        self, theta: FloatArray, starts: FloatArray, value: float, best: _Shown
    ) -> tuple[FloatArray, FloatArray, float, _Shown]:
        """The parameters nearest to the file among those that fit alike, their starts and cost; those given if these
        do not fit better, counted with the divergence."""
        now, at = theta, starts
        for _ in range(MOST_OF_VALLEY):
            rollout = self.rollouts([now], [at])[0]
            cost = self._cost(now, rollout, True)
            if not np.isfinite(cost):
                break
            shown = self._shown(now, self._system(now, at, rollout, False))
            if cost <= value:
                theta, starts, value, best = now, at, cost, shown
            d_theta, d_starts = shown.step()
            if np.abs(d_theta).max() < SETTLED:
                break
            now, at = now + d_theta, at + d_starts.reshape(at.shape)
        return theta, starts, value, best

    def _system(
        self, theta: FloatArray, starts: FloatArray, rollout: FloatArray, fixed: bool
    ) -> tuple[Any, FloatArray]:
        """H (sparse) and gradient of the squares, by theta and then the starts of each segment."""
        from scipy.sparse import coo_matrix

        nx, k, p = 2 * self._bases.shape[2], len(self.segments), 0 if fixed else self.free.size
        thetas, all_starts = [], []
        for n in range(p):
            changed = theta.copy()
            changed[n] += self._step
            thetas.append(changed)
            all_starts.append(starts)
        for n in range(nx):
            changed = starts.copy()
            changed[:, n] += self._step_of_states
            thetas.append(theta)
            all_starts.append(changed)
        moved = self.rollouts(thetas, all_starts)
        sizes = np.array([self._step] * p + [self._step_of_states] * nx)
        r, gaps = self.errors(rollout), self.gaps(rollout)
        weights = np.sqrt(np.minimum(1.0, HUBER / np.maximum(np.abs(r), 1e-300)))
        J = np.nan_to_num(np.array([(self.errors(m) - r) / h for m, h in zip(moved, sizes, strict=True)]))
        J = (J * weights).reshape(p + nx, k, -1)  # (unknowns, segments, residuals)
        r = (r * weights).reshape(k, -1)
        G = np.nan_to_num(
            np.array([(self._own_gaps(m, rollout) - gaps) / h for m, h in zip(moved, sizes, strict=True)])
        )
        size = p + k * nx
        H, g = np.zeros((p, p)), np.zeros(size)
        rows: list[Any] = []
        columns: list[Any] = []
        values: list[FloatArray] = []

        def add(i: int, j: int, block: FloatArray) -> None:
            a, b = np.meshgrid(np.arange(block.shape[0]) + i, np.arange(block.shape[1]) + j, indexing="ij")
            rows.append(a.ravel())
            columns.append(b.ravel())
            values.append(block.ravel())

        both = np.zeros((p, k, nx))
        own = np.zeros((k, nx, nx))
        for n in range(k):
            A, B = J[:p, n], J[p:, n]
            H += A @ A.T
            g[:p] += A @ r[n]
            both[:, n] += A @ B.T
            own[n] += B @ B.T
            g[p + n * nx : p + (n + 1) * nx] += B @ r[n]
            if not self.segments[n].follows:
                continue
            A, B = G[:p, n], G[p:, n]  # (p, nx), (nx of the segment before, nx)
            C = -np.diag(1.0 / self._loose(n))  # of the start itself
            H += A @ A.T
            g[:p] += A @ gaps[n]
            both[:, n - 1] += A @ B.T
            both[:, n] += A @ C.T
            own[n - 1] += B @ B.T
            own[n] += C @ C.T
            add(p + (n - 1) * nx, p + n * nx, B @ C.T)
            add(p + n * nx, p + (n - 1) * nx, C @ B.T)
            g[p + (n - 1) * nx : p + n * nx] += B @ gaps[n]
            g[p + n * nx : p + (n + 1) * nx] += C @ gaps[n]
        for n in range(k):
            add(p + n * nx, p + n * nx, own[n])
            if p:
                add(0, p + n * nx, both[:, n])
                add(p + n * nx, 0, both[:, n].T)
        values = [block / self.inflation for block in values]
        g /= self.inflation
        if p:
            of_prior, prior = self.free.prior_slopes(theta), self.free.prior(theta)
            add(0, 0, H / self.inflation + np.diag(of_prior**2))
            g[:p] += of_prior * prior
        matrix = coo_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(size, size)
        )
        return matrix.tocsc(), g

    def _own_gaps(self, moved: FloatArray, rollout: FloatArray) -> FloatArray:
        """gaps() of rollouts whose ends have moved, to the starts that have not."""
        mixed = moved.copy()
        mixed[:, 0] = rollout[:, 0]
        return self.gaps(mixed)

    def _step_of(self, system: tuple[Any, FloatArray], damping: float, fixed: bool) -> tuple[FloatArray, FloatArray]:
        from scipy.sparse import diags
        from scipy.sparse.linalg import splu

        H, g = system
        diagonal = H.diagonal()
        diagonal = np.maximum(diagonal, 1e-12 * diagonal.max(initial=1e-300))
        step = splu((H + diags(damping * diagonal)).tocsc()).solve(-g)
        p = 0 if fixed else self.free.size
        d_theta = np.zeros(self.free.size)
        d_theta[:p] = np.clip(step[:p], -1.0, 1.0)
        return d_theta, step[p:].reshape(len(self.segments), -1)
