"""Calculations at many states of one model: arrays of rows in and out."""

from contextlib import nullcontext

import numpy as np

from mbcli.common.turns import Turn
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.engine.runtime.lane_memory import WIDTH
from mbcli.engine.runtime.linking import load_kernels
from mbcli.engine.runtime.model import Data

ROWS_OF_A_CALL = 4096  # a multiple of WIDTH; between calls Python sees signals
STATES_OF_A_THREAD = 256  # at least: to start a thread takes as long as many states


def covers(model):
    """Whether a model has forces at every state, without choices: spring-dampers and bushings have not, and single
    states say where; transmissions of actuators choose by their state."""
    return not any(model.sizes[name] for name in ("nspring", "nbushing", "ntransmission"))


def has_dynamics_derivatives(model):
    """Whether the engine has the derivatives of all of a model's forces: those between links have none but weights."""
    return covers(model) and model.sizes["ncut"] == 0


class StateBatch:
    """Evaluates many states of a model, eight at once on lanes if it is compiled.

    States are rows: q (n, nq) [rad or m], v, vdot, tau (n, nv). A row's result depends on that row alone: it is the
    same to the last bit whatever rows are evaluated with it.

    Args:
        model: Model, float64.
        compiled: False evaluates one state after another, interpreted; its results differ in the last digits.
        announce: a function whose result is a context manager, within which a calculation is compiled and done.
        patience: states that are evaluated interpreted before a calculation is compiled for them; those of a call that
            exceeds it, and of all calls after it, are compiled.
        threads: that share the states of a call, if they are compiled and many enough.
    """

    def __init__(self, model, compiled=True, announce=nullcontext, patience=0, threads=1):
        self._model, self._compiled, self._announce, self._used = model, compiled, announce, set()
        self._patience, self._interpreted, self._turn = patience, None, Turn("a batch of functions")
        if compiled:
            from mbcli.engine.queries.lane_data import LaneData, load_lane_kernels

            self._kernels, self._data = load_lane_kernels(), [LaneData(model.sizes) for _ in range(threads)]
            self._handles = [(model.handle(True), data.handle) for data in self._data]
        else:
            self._kernels, self._handles = load_kernels(False), [(model, Data(model.sizes))]

    def mass_matrix(self, q):
        """M (n, nv, nv)."""
        nv = self._model.sizes["nv"]
        return self.evaluate("mass_matrices", [q], [nv * nv])[0].reshape(len(q), nv, nv)

    def inverse_dynamics(self, q, v, vdot, *, gravity=True, springs=True, damping=True, body_forces=None):
        """tau (n, nv) that gives vdot against the chosen forces; body_forces (nlink, 6) at link origins in World."""
        switches = (float(gravity), float(springs), float(damping), self._load(body_forces))
        return self.evaluate("inverse_dynamics_of_states", [q, v, vdot], [self._model.sizes["nv"]], *switches)[0]

    def forward_dynamics(self, q, v, tau, *, body_forces=None):
        """vdot (n, nv) under gravity, springs, damping, tau and body_forces (nlink, 6)."""
        F_link = self._load(body_forces)
        return self.evaluate("forward_dynamics_of_states", [q, v, tau], [self._model.sizes["nv"]], F_link)[0]

    def generalized_forces(self, tau, u, count):
        """(n, nv) of given forces tau (n, nv) and actuation u (n, nu), each None if there is none."""
        result = np.zeros((count, self._model.sizes["nv"])) if tau is None else np.array(tau, dtype=float)
        for k, dof in enumerate(self._model.actuator_dof if u is not None else ()):
            result[:, dof] += u[:, k]
        return result

    def inverse_dynamics_derivatives(self, q, v, vdot, by_positions=False, out=None):
        """dtau_dq, dtau_dv and M (n, nv, nv) of tau against gravity, joint springs, hinges and damping.

        dtau_dq is along each velocity, as StateFunctions.inverse_dynamics_derivatives() has it, or by each position
        (n, nv, nq). The model has_dynamics_derivatives(). out: three arrays in C order that become the results.
        """
        return self._derivatives("inverse_dynamics_derivatives_of_states", [q, v, vdot], by_positions, out)

    def forward_dynamics_derivatives(self, q, v, tau, by_positions=False, out=None):
        """dvdot_dq, dvdot_dv and dvdot_dtau (n, nv, nv), likewise."""
        return self._derivatives("forward_dynamics_derivatives_of_states", [q, v, tau], by_positions, out)

    def _derivatives(self, name, inputs, by_positions, out):
        nv = self._model.sizes["nv"]
        columns = [self._model.sizes["nq"] if by_positions else nv, nv, nv]
        if out is not None:
            shapes = [(len(inputs[0]), nv, n) for n in columns]
            if [X.shape for X in out] != shapes or not all(X.dtype == float and X.flags.c_contiguous for X in out):
                raise ValueError(f"out is not arrays of doubles in C order of the shapes {shapes}")
            out = [X.reshape(len(X), -1) for X in out]
        results = self.evaluate(name, inputs, [nv * n for n in columns], int(by_positions), results=out)
        return [X.reshape(len(X), nv, n) for X, n in zip(results, columns, strict=True)]

    def inverse_dynamics_regressor(self, q, v, vdot, frames, under_gravity):
        """Y (n, nv, 10 m): tau = Y pi for the bodies of m frames, by number; see engine/smooth/regressor.py.

        under_gravity: (m,), whether gravity acts on the mass of a body.
        """
        n, nv, m = len(q), self._model.sizes["nv"], len(frames)
        switches = np.array(frames, dtype=np.int64), np.array(under_gravity, dtype=float)
        Y = np.zeros((n, nv * 10 * m))
        self.evaluate("regressors_of_states", [q, v, vdot], [nv * 10 * m], *switches, results=[Y])
        return Y.reshape(n, nv, 10 * m)

    def bias_term(self, q, v):
        """C(q,v) v, (n, nv)."""
        return self.evaluate("bias_terms", [q, v], [self._model.sizes["nv"]])[0]

    def gravity(self, q):
        """tau_g (n, nv)."""
        return self.evaluate("gravity_of_states", [q], [self._model.sizes["nv"]])[0]

    def energy(self, q, v):
        """Kinetic and potential energy (n, 2) [J]; power (n, 3) [W] conservative, not, of joint damping."""
        return self.evaluate("energies", [q, v], [2, 3])

    def frame_motions(self, q, v, vdot, frames, base):
        """Motions of frames in a base frame, along its axes; frames (m,) and base are indices of frames.

        Returns R (n, m, 3, 3), p (n, m, 3), V (n, m, 6) and, if vdot is given, A (n, m, 6), else None.
        """
        n, m = len(q), len(frames)
        if not all(0 <= frame < self._model.sizes["nframe"] for frame in (*frames, base)):
            raise ValueError(f"there are {self._model.sizes['nframe']} frames, no {list(frames)} or {base}")
        rows, no_vdot = ([q, v], [np.zeros((0, self._model.sizes["nv"]))]) if vdot is None else ([q, v, vdot], [])
        switches = *no_vdot, np.array(frames, dtype=np.int64), int(base)
        X, V, A = self.evaluate("motions_of_frames", rows, [12 * m, 6 * m, 6 * m], *switches)
        X = X.reshape(n, m, 12)
        R, p = X[:, :, :9].reshape(n, m, 3, 3), X[:, :, 9:]
        return R, p, V.reshape(n, m, 6), None if vdot is None else A.reshape(n, m, 6)

    def mass_motions(self, q, v, selected, mass):
        """Position [m] and velocity [m/s] of the centre of mass, each (n, 3), of links selected (nlink,) of a mass."""
        motion = self.evaluate("mass_motions", [q, v], [6], np.asarray(selected, float), float(mass))[0]
        return motion[:, :3], motion[:, 3:]

    def momenta(self, q, v, selected, mass, point=None):
        """L (n, 6) of links of a mass about a point (3,) of World; about their centre of mass if that is None."""
        about = np.zeros(0) if point is None else np.asarray(point, float)
        return self.evaluate("momenta", [q, v], [6], np.asarray(selected, float), float(mass), about)[0]

    def point_jacobians(self, q, v, frame, point, measured_in, expressed_in):
        """J (n, 6, nv) of a point (3,) of a frame, and its bias acceleration (n, 6); frames are indices."""
        places = int(frame), np.asarray(point, float), int(measured_in), int(expressed_in)
        J, bias = self.evaluate("point_jacobians", [q, v], [6 * self._model.sizes["nv"], 6], *places)
        return J.reshape(len(q), 6, -1), bias

    def com_jacobians(self, q, v, selected, mass, measured_in, expressed_in):
        """J (n, 3, nv) of the centre of mass of links, and its bias acceleration (n, 3)."""
        places = np.asarray(selected, float), float(mass), int(measured_in), int(expressed_in)
        J, bias = self.evaluate("com_jacobians", [q, v], [6 * self._model.sizes["nv"], 3], *places)
        return J.reshape(len(q), 6, -1)[:, :3], bias

    def _load(self, body_forces):
        """Forces on links (nlink, 6); (0, 6) if there are none."""
        if body_forces is None or not np.any(body_forces):
            return np.zeros((0, 6))
        return np.broadcast_to(body_forces, (self._model.sizes["nlink"], 6)).astype(float, order="C")

    def evaluate(self, name, inputs, widths, *switches, results=None):
        """Calls a kernel with q and other inputs as rows; returns the outputs, rows of the given widths.

        results: arrays for them, else they are new.
        """
        rows = [np.ascontiguousarray(array, dtype=float) for array in inputs]
        if results is not None:  # a result may be written over the states that follow
            rows = [row.copy() if any(np.may_share_memory(row, x) for x in results) else row for row in rows]
        nq, nv, n = self._model.sizes["nq"], self._model.sizes["nv"], len(rows[0])
        for array, width in zip(rows, (nq, nv, nv), strict=False):
            if array.shape != (n, width):
                raise ValueError(f"states have shape {array.shape}, not {(n, width)}")
        waits = nullcontext
        if self._compiled and name not in self._used:
            if not is_compiled(getattr(self._kernels, name)):
                self._patience -= n
                if self._patience >= 0:
                    self._interpreted = self._interpreted or StateBatch(self._model, compiled=False)
                    return self._interpreted.evaluate(name, inputs, widths, *switches, results=results)
                waits = self._announce
            self._used.add(name)
        results = [np.empty((n, width)) for width in widths] if results is None else results
        with waits():
            self._run(getattr(self._kernels, name), rows, switches, results)
        return results

    def _run(self, call, rows, switches, results):
        """Calls a kernel for equal parts of the rows, one on each thread, and for some rows at once."""
        count = min(len(self._handles), max(1, len(rows[0]) // STATES_OF_A_THREAD))
        size = -(-len(rows[0]) // (count * WIDTH)) * WIDTH

        def run(handles, start):
            for first in range(start, min(start + size, len(rows[0])), ROWS_OF_A_CALL):
                if ended:
                    return
                part = slice(first, min(first + ROWS_OF_A_CALL, start + size))
                call(*handles, *(a[part] for a in rows), *switches, *(a[part] for a in results))

        ended = []  # not empty: nobody wants the rest
        with self._turn:
            if count == 1:
                run(self._handles[0], 0)
                return
            from concurrent.futures import ThreadPoolExecutor  # late: commands start no thread here

            with ThreadPoolExecutor(count) as pool:
                try:
                    list(pool.map(run, self._handles[:count], range(0, count * size, size)))
                except BaseException:
                    ended.append(True)
                    raise
