"""The functions of a model that can be recorded, and recording them: the kernels of single states, run once.

Each takes what the kernels of `StateFunctions` take, so that a record and a compiled kernel answer the same question.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.fields.model_fields import MODEL_FIELDS
from mbcli.engine.queries.state_batch import covers
from mbcli.engine.runtime.linking import link_interpreted
from mbcli.engine.runtime.model import Data
from mbcli.engine.smooth import force_elements, trigonometry
from mbcli.errors import ModelError
from mbcli.tracing import recorded
from mbcli.tracing.graph import Graph
from mbcli.tracing.record import Record, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INPUTS = {
    "q": ("nq", "positions [rad, m, 1]"),
    "v": ("nv", "velocities [rad/s, m/s]"),
    "vdot": ("nv", "accelerations [rad/s^2, m/s^2]"),
    "tau": ("nv", "generalized forces [N m, N]"),
}
ROUNDING = 1e-15  # of an element of a rotation, and of an inertia beside its largest element: none of it is meant
MOST_ROWS = 3_000_000  # of a graph, which then takes about 1 GB


@dataclass(frozen=True)
class ModelFunction:
    """A function of a model.

    Args:
        inputs: some of INPUTS, in the order of the kernel's arguments.
        outputs: (name, shape by sizes of the model or numbers, words with unit).
        call: (kernels, model, data, inputs, outputs, of) -> does it; `of` is the number of a frame, or the links that
            count (nlink,), None where the function needs neither.
        of: "frame", "links" or "".
        smooth_in: the inputs by which it has derivatives.
    """

    words: str
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, tuple[str | int, ...], str], ...]
    call: Callable[..., Any]
    of: str = ""

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
    ),
    "mass_matrix": ModelFunction(
        "The mass matrix M.",
        ("q",),
        (("M", ("nv", "nv"), "mass matrix [kg m^2, kg m, kg]"),),
        _entry("evaluate_mass_matrix"),
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


@functools.cache
def recorded_kernels() -> Any:
    """Interpreted kernels whose functions of one number know Recorded ones."""

    def sine_and_cosine(angles: Any, sine: Any, cosine: Any) -> None:
        for i, angle in enumerate(angles):
            sine[i], cosine[i] = recorded.sine(angle), recorded.cosine(angle)

    given = {
        trigonometry.sine_and_cosine: sine_and_cosine,
        trigonometry.sine_cosine: lambda x: (recorded.sine(x), recorded.cosine(x)),
        trigonometry.square_root: recorded.square_root,
        trigonometry.hyperbolic_tangent: recorded.hyperbolic_tangent,
        trigonometry.arctangent: recorded.arctangent,
        trigonometry.sign_of: recorded.sign_of,
        force_elements.element_fault: lambda model, data: 0,
    }
    return link_interpreted({"numbers"}, given)


def record_function(name: str, model: Any, of: Any = None, title: str = "") -> Record:
    """One of MODEL_FUNCTIONS of a model, recorded; of: as its `call` takes it.

    ModelError for a model whose forces decide by the state, and for one that is too large to be one list.
    """
    if not covers(model):
        raise ModelError(
            "a record of operations cannot hold spring-dampers, bushings and transmissions: they decide by the state"
        )
    function = MODEL_FUNCTIONS[name]
    graph = Graph()
    variables = function.input_variables(model.sizes)
    inputs, first = [], 0
    for variable in variables:
        array = np.empty(variable.shape, dtype=object)
        for k in range(variable.size):
            array[k] = recorded.Recorded(graph, graph.input(first + k))
        inputs.append(array)
        first += variable.size
    objects = model.replace(dtype=object, **_without_rounding(model))
    outputs = function.evaluate(recorded_kernels(), objects, Data(model.sizes, np.dtype(object)), inputs, of)
    nodes = [x.node if isinstance(x, recorded.Recorded) else graph.constant(x) for array in outputs for x in array.flat]
    return Record(title or name, graph, variables, function.output_variables(model.sizes), nodes)


def _without_rounding(model: Any) -> dict[str, Any]:
    """The real arrays of a model, with exact zeros and ones in rotations and zeros in inertias where rounding stands.

    A turn by a right angle has elements such as 6e-17, which would keep operations alive that are none.
    """
    arrays = {field.name: getattr(model, field.name).copy() for field in MODEL_FIELDS if field.kind == "real"}
    for name in ("body_X_PF", "link_X_BL", "frame_X_BF"):
        if name in arrays:
            R = arrays[name][..., :9]
            whole = np.rint(R)
            R[...] = np.where(np.abs(R - whole) < ROUNDING, whole, R)
    for name in ("body_inertia", "link_inertia", "gravitating_mass"):
        inertias = arrays[name]
        parts = [inertias[:, 1:4]] + ([inertias[:, 4:10]] if inertias.shape[1] > 4 else [])
        for part in parts:
            largest = np.abs(part).max(axis=1, keepdims=True, initial=0.0)
            part[np.abs(part) < ROUNDING * largest] = 0.0
    return arrays
