"""Derivatives of a plant's motion by its state and inputs, exact: complex steps through the interpreted kernels.

For a kernel that is analytic, f(x + i s e) has s df/dx e as its imaginary part, with nothing to subtract: s can be so
small that the result has the precision of f itself.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from mbcli.engine import load_kernels
from mbcli.engine.model import Data
from mbcli.errors import ModelError

STEP = 1e-30


class InputPortSelection(Enum):
    kNoInput = -2
    kUseFirstInputIfItExists = -1


class OutputPortSelection(Enum):
    kNoOutput = -2
    kUseFirstOutputIfItExists = -1


@dataclass
class PlantValues:
    """State and inputs of a plant as numbers: q, v, u (nu,), tau (nv,), desired (controllers, 2)."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    tau: np.ndarray
    desired: np.ndarray

    def plus(self, name, index, step):
        """A copy, complex, in which one number has a small imaginary part."""
        values = {key: value.astype(complex) for key, value in vars(self).items()}
        values[name].reshape(-1)[index] += 1j * step
        return PlantValues(**values)


class PlantMotion:
    """[qdot; vdot] of a continuous plant, or [q; v] after a step of a discrete one, as a function of complex numbers.

    Args:
        plant: finalized, without force elements of a user.
        context: its parameters, applied forces and the point of linearization.
        discrete: whether it is that of a step; where not given, as the plant is.
    """

    def __init__(self, plant, context, discrete=None):
        plant._check_context(context)
        if plant._user_force_elements:
            name = type(plant._user_force_elements[0]).__name__
            raise RuntimeError(f"a plant with a force element of a user, {name}, cannot be linearized")
        context._at_positions()
        plant._check_force_elements(context)
        context._require_equations()
        if plant._constraints and context._row_owners:
            raise ModelError(f"{context._row_owners[0]!r}: a plant under constraints cannot be linearized")
        plant._set_controllers(context)
        self._plant, self._kernels = plant, load_kernels(False)
        self._discrete = plant.is_discrete() if discrete is None else discrete
        self._model = context._model.replace(dtype=complex)
        self._applied = [
            (int(f.body_index), np.asarray(f.p_BoBq_B, dtype=float), f.F_Bq_W.get_coeffs())
            for f in context._input("applied_spatial_force") or ()
        ]
        u = plant._actuation(context)
        applied = context._input("applied_generalized_force")
        self.values = PlantValues(
            context._q.copy(),
            context._v.copy(),
            u,
            np.zeros(context._v.size) if applied is None else np.array(applied),
            context._data.pd_desired.copy(),
        )

    def evaluate(self, values):
        """Data in which qdot, vdot or the next q, v are computed, and vdot of the step."""
        plant, m, kernels = self._plant, self._model, self._kernels
        d = Data(m.sizes, complex)
        d.q[:], d.v[:], d.u[:] = values.q, values.v, values.u
        d.pd_desired[:] = values.desired
        kernels.position_stage(m, d)
        kernels.velocity_stage(m, d)
        kernels.links_stage(m, d)
        d.tau[:] = values.tau
        np.add.at(d.tau, m.actuator_dof, values.u)
        for n, p_BoBq_B, F in self._applied:
            arm = d.X_WL[n, :9].reshape(3, 3) @ p_BoBq_B
            d.F_link[n, :3] += F[:3] + np.cross(arm, F[3:])
            d.F_link[n, 3:] += F[3:]
        if self._discrete:
            kernels.step_under_link_forces(m, d, plant.time_step(), plant._implicit_damping())
        else:
            kernels.calc_forward_dynamics(m, d)
            kernels.calc_qdot(m, d)
        return d

    def motion(self, data):
        """[qdot; vdot] or [q; v]"""
        parts = (data.q, data.v) if self._discrete else (data.qdot, data.vdot)
        return np.concatenate(parts)


INPUTS = {"actuation": "u", "applied_generalized_force": "tau", "desired_state": "desired"}


def _input_directions(plant, context, name):
    """The (field, index) of PlantValues that each element of an input port is. RuntimeError for another port."""
    if name is None:
        return []
    if name in ("actuation", "applied_generalized_force"):
        return [(INPUTS[name], k) for k in range(plant.GetInputPort(name).size())]
    for instance, prefix in enumerate(plant._instances):
        indices = plant._u_indices(instance)
        if name == f"{prefix}_actuation":
            return [("u", k) for k in indices]
        if name == f"{prefix}_desired_state":
            rows = {k: row for row, k in enumerate(context._model.pd_actuator)}
            missing = [k for k in indices if k not in rows]
            if missing:
                raise RuntimeError(f"linearization by '{name}': actuator {missing[0]} has no controller that acts")
            return [("desired", 2 * rows[k] + part) for part in range(2) for k in indices]
    raise RuntimeError(f"linearization by input '{name}' is not possible: it is not a vector")


class PlantOutput:
    """An output port as a function of what PlantMotion computes. RuntimeError for one that is not a vector."""

    def __init__(self, plant, name):
        self._indices, self._kind, nq = None, name, plant.num_positions()
        for instance, prefix in enumerate(plant._instances):
            for kind, indices in (
                ("state", [*plant._q_indices(instance), *(nq + k for k in plant._v_indices(instance))]),
                ("generalized_acceleration", plant._v_indices(instance)),
                ("net_actuation", plant._u_indices(instance)),
            ):
                if name == f"{prefix}_{kind}":
                    self._kind, self._indices = kind, np.array(indices, dtype=int)
        if self._kind not in (None, "state", "generalized_acceleration", "net_actuation"):
            raise RuntimeError(f"linearization of output '{name}' is not possible: it is not a vector")
        if plant.has_sampled_output_ports() and self._kind not in (None, "state"):
            raise RuntimeError(
                f"linearization of output '{name}': it is sampled; SetUseSampledOutputPorts(False) makes it live"
            )

    def of(self, values, data, model):
        """The value of the port, real or complex."""
        if self._kind is None:
            return np.zeros(0)
        if self._kind == "state":
            value = np.concatenate([values.q, values.v])
        elif self._kind == "generalized_acceleration":
            value = data.vdot
        else:
            value = np.array(values.u)
            value[model.pd_actuator] = data.pd_effort
        return value if self._indices is None else value[self._indices]


def plant_derivatives(plant, context, input_name, output_name, discrete=None):
    """A, B, C, D of a plant about a context, with its motion and output there and the input u0 itself."""
    motion, output = PlantMotion(plant, context, discrete), PlantOutput(plant, output_name)
    nq, nv = context._q.size, context._v.size
    states = [("q", k) for k in range(nq)] + [("v", k) for k in range(nv)]
    inputs = _input_directions(plant, context, input_name)
    start = motion.values
    data = motion.evaluate(start)
    columns = []
    for name, k in states + inputs:
        values = start.plus(name, k, STEP)
        moved = motion.evaluate(values)
        columns.append(np.concatenate([motion.motion(moved), output.of(values, moved, context._model)]).imag / STEP)
    J = np.reshape(columns, (len(columns), -1)).T
    nx = nq + nv
    f, y = motion.motion(data).real, np.real(output.of(start, data, context._model))
    J = J if columns else np.zeros((nx + y.size, 0))
    u0 = np.array([getattr(start, name).reshape(-1)[k] for name, k in inputs])
    return J[:nx, :nx], J[:nx, nx:], J[nx:, :nx], J[nx:, nx:], f, y, u0
