"""The functions of a model that can be recorded: kernels of single states.

Each takes what the kernels of `StateFunctions` take, so that a record and a compiled kernel answer the same question.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.tracing.record import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INPUTS = {
    "q": ("nq", "positions [rad, m, 1]"),
    "v": ("nv", "velocities [rad/s, m/s]"),
    "vdot": ("nv", "accelerations [rad/s^2, m/s^2]"),
    "tau": ("nv", "generalized forces [N m, N]"),
    "q_desired": ("npd", "positions that controllers aim at [rad, m]"),
    "v_desired": ("npd", "velocities that they aim at [rad/s, m/s]"),
}


@dataclass(frozen=True)
class ModelFunction:
    """A function of a model.

    Args:
        inputs: some of INPUTS, in the order of the kernel's arguments.
        outputs: (name, shape by sizes of the model or numbers, words with unit).
        call: (kernels, model, data, inputs, outputs, of) -> does it; `of` is the number of a frame, or the links that
            count (nlink,), None where the function needs neither.
        of: "frame", "links" or "".
        table: more about it as data, for the table that lies beside code.
        ways: to compute it otherwise, as record_function() takes them.
        solves: whether equations with the mass matrix are solved, so that its condition lets rounding grow.
    """

    words: str
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, tuple[str | int, ...], str], ...]
    call: Callable[..., Any]
    of: str = ""
    table: dict[str, Any] = field(default_factory=dict)
    ways: Sequence[Callable[..., Any]] = ()
    solves: bool = False

    def input_variables(self, sizes: dict[str, int]) -> list[Variable]:
        """Its inputs for a model of these sizes."""
        return [Variable(name, (sizes[INPUTS[name][0]],), INPUTS[name][1]) for name in self.inputs]

    def output_variables(self, sizes: dict[str, int]) -> list[Variable]:
        """Its outputs for a model of these sizes."""
        return [
            Variable(name, tuple(sizes[n] if isinstance(n, str) else n for n in shape), words)
            for name, shape, words in self.outputs
        ]

    def evaluate(self, kernels: Any, model: Any, data: Any, inputs: Sequence[Any], of: Any) -> list[Any]:
        """Its outputs, arrays of the type of the data, for arrays of inputs."""
        outputs = [np.zeros(each.shape, data.dtype) for each in self.output_variables(model.sizes)]
        self.call(kernels, model, data, inputs, outputs, of)
        return outputs


def _entry(name: str, framed: bool = False) -> Callable[..., Any]:
    """An entry of queries/state_calls.py: its inputs, the number of a frame if there is one, its output."""

    def call(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
        if getattr(kernels, name)(model, data, *inputs, *([of] if framed else []), *outputs):
            raise AssertionError(f"{name}() does not take arrays of these shapes")

    return call


def _at(data: Any, q: Any, v: Any = None) -> None:
    data.q[...] = q
    if v is not None:
        data.v[...] = v


def _position_rates(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
    _at(data, *inputs)
    kernels.position_kinematics(model, data)
    kernels.velocity_to_qdot(model, data, inputs[1], outputs[0])


def _center_of_mass(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
    _at(data, *inputs)
    kernels.position_stage(model, data)
    kernels.com_position(model, data, of, kernels.mass_of_links(model, of), outputs[0])


def _com_velocity(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
    _at(data, *inputs)
    kernels.motion_stage(model, data)
    kernels.com_velocity(model, data, of, kernels.mass_of_links(model, of), outputs[0])


def _com_jacobian(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
    _at(data, *inputs)
    kernels.position_stage(model, data)
    kernels.com_jacobian(model, data, of, kernels.mass_of_links(model, of), 0, 0, outputs[0])


def _energy(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
    _at(data, *inputs)
    kernels.motion_stage(model, data)
    kernels.total_energy(model, data)
    outputs[0][0], outputs[1][0] = data.energy[0], data.energy[1]


def _momentum(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
    _at(data, *inputs)
    kernels.motion_stage(model, data)
    kernels.momentum_about(model, data, np.ones(model.sizes["nlink"]), np.zeros(3), outputs[0])


def _mass_matrix_factor(kernels: Any, model: Any, data: Any, inputs: Any, outputs: Any, of: Any) -> None:
    kernels.evaluate_mass_matrix(model, data, *inputs, outputs[0])
    factors_of(kernels, model, *outputs)


def factors_of(kernels: Any, model: Any, L: Any, D: Any) -> tuple[Any, Any]:
    """The mass matrix in L (nv, nv) -> its factors, in the same arrays: M = L^T D L, with ones on the diagonal of L."""
    kernels.factorize_dense(model, L, D)
    for i in range(len(D)):
        L[i, i], L[i, i + 1 :] = 1.0, 0.0
    return L, D


MODEL_FUNCTIONS = {
    "inverse_dynamics": ModelFunction(
        "Generalized forces that give accelerations, against gravity, springs and damping.",
        ("q", "v", "vdot"),
        (("tau", ("nv",), "generalized forces [N m, N]"),),
        _entry("evaluate_inverse_dynamics"),
    ),
    "forward_dynamics": ModelFunction(
        "Accelerations under generalized forces, gravity, springs and damping.",
        ("q", "v", "tau"),
        (("vdot", ("nv",), "accelerations [rad/s^2, m/s^2]"),),
        _entry("evaluate_forward_dynamics"),
        solves=True,
    ),
    "position_rates": ModelFunction(
        "The rates of positions, qdot = N(q) v.",
        ("q", "v"),
        (("qdot", ("nq",), "rates of positions [rad/s, m/s, 1/s]"),),
        _position_rates,
    ),
    "mass_matrix": ModelFunction(
        "The mass matrix M.",
        ("q",),
        (("M", ("nv", "nv"), "mass matrix [kg m^2, kg m, kg]"),),
        _entry("evaluate_mass_matrix"),
    ),
    "mass_matrix_factor": ModelFunction(
        "M = L^T D L, with zeros in L where velocities lie on different branches.",
        ("q",),
        (
            ("L", ("nv", "nv"), "lower triangle, ones on its diagonal [1, m, 1/m]"),
            ("D", ("nv",), "diagonal [kg m^2, kg]"),
        ),
        _mass_matrix_factor,
        solves=True,
    ),
    "bias": ModelFunction(
        "C(q, v) v of M vdot + C v = tau_g + tau.",
        ("q", "v"),
        (("Cv", ("nv",), "bias term [N m, N]"),),
        _entry("evaluate_bias_term"),
    ),
    "gravity": ModelFunction(
        "The generalized forces of gravity, on the side of the applied ones.",
        ("q",),
        (("tau_g", ("nv",), "generalized forces of gravity [N m, N]"),),
        _entry("evaluate_gravity"),
    ),
    "pose": ModelFunction(
        "The pose of a frame F in World.",
        ("q",),
        (("X_WF", (4, 4), "homogeneous transform [1, m]"),),
        _entry("evaluate_pose", framed=True),
        "frame",
    ),
    "velocity": ModelFunction(
        "The spatial velocity of a frame F in World, rotational first.",
        ("q", "v"),
        (("V_WF", (6,), "angular [rad/s], then linear velocity [m/s]"),),
        _entry("evaluate_velocity", framed=True),
        "frame",
    ),
    "jacobian": ModelFunction(
        "J of V_WF = J v of a frame F, rotational rows first.",
        ("q",),
        (("J", (6, "nv"), "Jacobian of the spatial velocity in World [1, m]"),),
        _entry("evaluate_jacobian", framed=True),
        "frame",
    ),
    "center_of_mass": ModelFunction(
        "The centre of mass in World of all bodies that move.",
        ("q",),
        (("p_WCom", (3,), "position [m]"),),
        _center_of_mass,
        "links",
    ),
    "com_velocity": ModelFunction(
        "The velocity of that centre of mass in World.",
        ("q", "v"),
        (("v_WCom", (3,), "velocity [m/s]"),),
        _com_velocity,
        "links",
    ),
    "com_jacobian": ModelFunction(
        "J of v_WCom = J v.",
        ("q",),
        (("J_com", (3, "nv"), "Jacobian of the velocity of the centre of mass [m]"),),
        _com_jacobian,
        "links",
    ),
    "energy": ModelFunction(
        "Kinetic energy, rotors included, and potential energy of gravity and springs.",
        ("q", "v"),
        (("kinetic", (1,), "[J]"), ("potential", (1,), "[J]")),
        _energy,
    ),
    "momentum": ModelFunction(
        "Spatial momentum about the origin of World.",
        ("q", "v"),
        (("L_WS_W", (6,), "angular [kg m^2/s], then linear momentum [kg m/s]"),),
        _momentum,
    ),
}
