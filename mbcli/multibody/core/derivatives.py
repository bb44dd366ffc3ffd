"""Derivatives of the results of a plant: in closed form, or by complex steps through the same kernels.

f(x + i h d) = f(x) + i h f'(x) d + O(h^2): with h = 1e-30 nothing is subtracted, and the imaginary part over h is the
derivative along d to rounding (Squire and Trapp, SIAM Review 40, 1998).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math import RigidTransform, RotationMatrix
from mbcli.multibody.core.scalar_classes import Conversion, to_scalar
from mbcli.multibody.math import SpatialAcceleration, SpatialForce, SpatialMomentum, SpatialVelocity
from mbcli.multibody.scalars import COMPLEX, FLOAT
from mbcli.multibody.state.context import Context

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.jacobian_wrt_variable import JacobianWrtVariable

STEP = 1e-30

# name -> (plant, context, inputs) -> its result; inputs holds vdot, tau, u
CALCULATIONS = {
    "inverse_dynamics": lambda plant, context, given: plant.CalcRequiredForces(context, given["vdot"]),
    "forward_dynamics": lambda plant, context, given: plant.CalcAccelerations(context, given["tau"], given["u"]),
    "mass_matrix": lambda plant, context, given: plant.CalcMassMatrix(context),
    "bias": lambda plant, context, given: plant.CalcBiasTerm(context),
    "gravity": lambda plant, context, given: plant.CalcGravityGeneralizedForces(context),
    "kinetic_energy": lambda plant, context, given: plant.CalcKineticEnergy(context),
    "potential_energy": lambda plant, context, given: plant.CalcPotentialEnergy(context),
}
# the variables of each, by which it is differentiated if none are chosen
VARIABLES = {
    "inverse_dynamics": ("q", "v", "vdot"),
    "forward_dynamics": ("q", "v", "tau", "u"),
    "mass_matrix": ("q",),
    "bias": ("q", "v"),
    "gravity": ("q",),
    "kinetic_energy": ("q", "v"),
    "potential_energy": ("q",),
}
INPUTS = ("vdot", "tau", "u")


def CalcDerivatives(
    plant: PlantData,
    context: Context,
    calculation: str,
    with_respect_to: JacobianWrtVariable | None = None,
    *,
    vdot: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    u: ArrayLike | None = None,
    compiled: bool = False,
) -> Any:
    """Derivatives of a calculation at a context, exact to rounding; the context stays as it is.

    Args:
        calculation: "inverse_dynamics" (tau for `vdot` against gravity, springs and damping), "forward_dynamics"
            (vdot under `tau`, `u`, gravity, springs and damping), "mass_matrix", "bias", "gravity",
            "kinetic_energy", "potential_energy"; or a function of a context of this plant that calls its Calc
            functions, as lambda c: plant.CalcRelativeTransform(c, A, B). It is called with complex numbers.
        with_respect_to: one variable or several; default: all that a named calculation depends on, q and v for a
            function. A variable is
            "q": each position, all others fixed; quaternions too, which count as normalized by the engine's
                formulas only at unit length;
            "tangent": the change of q that each velocity would cause per second, N(q) e_k;
            "v", "vdot", "tau", "u": each element;
            "gravity": each component of the gravity vector in World;
            (body, "mass"): with centre of mass and unit inertia fixed, as SetMass();
            (body, "com"): p_BoBcm_B, with the unit inertia about Bo fixed;
            (body, "inertia"): Ixx, Iyy, Izz, Ixy, Ixz, Iyz about Bo in B, with mass and centre of mass fixed;
            (joint, "damping"), (actuator, "rotor_inertia" or "gear_ratio"), (spring, "stiffness" or "nominal"),
            (spring-damper, "free_length", "stiffness" or "damping"), (bushing, "torque_stiffness_constants", ...).
        vdot: [rad/s^2 or m/s^2] (nv,) where a named calculation takes it; zero if not given.
        tau: [N m or N] (nv,), as vdot.
        u: [N m or N] (nu,), as vdot.
        compiled: whether to compile the kernels for complex numbers, which takes about 20 s once on a machine.

    Returns:
        A dict from each variable to an array (shape of the result..., number of elements of the variable). Poses
        count as their matrix (3, 4), rotations as (3, 3), spatial vectors as (6,), lists as their rows.

    Raises RuntimeError for an unknown calculation, variable or parameter, and for users' own force elements, which
    compute with floats.

    Inverse and forward dynamics by q, tangent, v and inputs come from closed forms
    (StateFunctions.inverse_dynamics_derivatives(), under constraints ForwardDynamicsConstraintsDerivatives()),
    unless there are spring-dampers, bushings, forces of joints that close loops, and for forward dynamics contact
    or a singular position of constraints. All else costs one evaluation in complex
    numbers per element of q, tangent, v, ...; per element of a parameter one compilation of the model's arrays
    besides.
    """
    function, names = _chosen(calculation, with_respect_to)
    inputs = {"vdot": vdot, "tau": tau, "u": u}
    return calc_derivatives(plant, context, function, names, inputs, compiled, calculation)


def ToAutoDiffXd(plant: PlantData) -> Any:
    """A copy whose contexts hold AutoDiffXd; same elements under the same indices. After Finalize()."""
    return ToScalarType(plant)["AutoDiffXd"]()


def ToSymbolic(plant: PlantData) -> Any:
    """A copy whose contexts hold SymPy expressions; same elements under the same indices. After Finalize()."""
    return ToScalarType(plant)["Expression"]()


def ToScalarType(plant: PlantData) -> Conversion:
    """ToScalarType[T]() is a copy for the scalar type T: float, AutoDiffXd or symbolic Expression."""
    return Conversion(plant)


def Clone(plant: PlantData) -> Any:
    """A deep copy for the same scalar type. After Finalize()."""
    return to_scalar(plant, type(plant))


def _chosen(calculation: Any, with_respect_to: Any) -> tuple[Any, tuple[Any, ...]]:
    """The function (plant, context, inputs) of a calculation and the variables that are asked for."""
    names: tuple[str, ...]
    if callable(calculation):
        function, names = (lambda plant, context, given: calculation(context)), ("q", "v")
    elif calculation in CALCULATIONS:
        function, names = CALCULATIONS[calculation], VARIABLES[calculation]
    else:
        raise RuntimeError(f"CalcDerivatives: there is no calculation {calculation!r}, only {', '.join(CALCULATIONS)}")
    if with_respect_to is None:
        return function, names
    return function, (with_respect_to,) if _is_one(with_respect_to) else tuple(with_respect_to)


def _is_one(variables):
    """Whether it is one name or one (element, name), not several of them."""
    return isinstance(variables, str) or (len(variables) == 2 and not isinstance(variables[0], (str, tuple)))


def calc_derivatives(plant, context, function, variables, inputs, compiled=False, calculation=None):
    """As CalcDerivatives(), of a function (plant, context, inputs) -> result.

    Args:
        variables: their names, as there.
        inputs: vdot, tau, u if they are not zero; they reach the function as arrays.
        calculation: the name of the calculation that the function is, if it is one.
    """
    plant.check_context(context)
    if plant.scalar is not FLOAT:
        raise RuntimeError("CalcDerivatives: take the plant of floats, this one carries its derivatives along")
    if plant.user_force_elements:
        element = plant.user_force_elements[0]
        raise RuntimeError(f"CalcDerivatives: the forces of {element!r} are computed by a user's class in floats")
    given = _given_inputs(plant, inputs)
    known = _in_closed_form(plant, context, calculation, given)
    if all(name in known for name in variables):
        return {name: known[name] for name in variables}
    twin = Context(context.state.plant, COMPLEX, compiled)
    twin.SetTimeStateAndParametersFrom(context)
    twin.state.ready_parameters()
    derivative = Derivative(plant, function, twin, given)
    return {name: known[name] if name in known else derivative.by(name) for name in variables}


def _in_closed_form(plant, context, calculation, given):
    """Derivatives by variables for which no complex steps are taken."""
    from mbcli.multibody.core.closed_form_derivatives import (  # late: few plants are differentiated
        closed_form_derivatives,
        constrained_derivatives,
        has_closed_form,
        has_constrained_closed_form,
    )

    constrained = has_constrained_closed_form(plant, calculation)
    if not constrained and not has_closed_form(plant, calculation):
        return {}
    if calculation == "inverse_dynamics":
        return closed_form_derivatives(context, calculation, given["vdot"])[0]
    tau = given["tau"].copy()
    np.add.at(tau, plant.model.actuator_dof, given["u"][: len(plant.model.actuator_dof)])
    if constrained:
        found = constrained_derivatives(context, tau)
        return {} if found is None else found[0]
    return closed_form_derivatives(context, calculation, tau)[0]


def _given_inputs(plant, inputs):
    sizes = {"vdot": plant.num_velocities(), "tau": plant.num_velocities(), "u": plant.model.sizes["nu"]}
    return {
        name: np.zeros(size) if inputs.get(name) is None else plant.vector(inputs[name], size, name)
        for name, size in sizes.items()
    }


class Derivative:
    """The derivative of one function of a complex context, by any variable."""

    def __init__(self, plant, function, context, given):
        self.plant, self.function, self.context, self.given = plant, function, context, given

    def by(self, name):
        if name == "q":
            return self._along_q(np.eye(self.plant.num_positions()))
        if name == "tangent":
            N = self.plant.MakeVelocityToQDotMap(self.context).toarray().real
            return self._along_q(N.T)
        if name == "v":
            v = self.context.state.v.real.copy()
            columns = [self._after(self.context.state.set_v, v + 1j * STEP * e) for e in np.eye(v.size)]
            self.context.state.set_v(v)
            return self._stack(columns)
        if name in INPUTS:
            value = self.given[name]
            columns = [self._imaginary({**self.given, name: value + 1j * STEP * e}) for e in np.eye(value.size)]
            return self._stack(columns)
        return self._by_parameter(name)

    def _along_q(self, directions):
        q = self.context.state.q.real.copy()
        columns = [self._after(self.context.state.set_q, q + 1j * STEP * d) for d in directions]
        self.context.state.set_q(q)
        return self._stack(columns)

    def _by_parameter(self, name):
        context, model = self.context, self.context.state.model
        columns = []
        try:
            from mbcli.multibody.core.parameter_steps import parameter_steps

            for stepped in parameter_steps(self.plant, context, name, 1j * STEP):
                self._use(stepped)
                columns.append(self._imaginary(self.given))
        finally:
            self._use(model)
        return self._stack(columns)

    def _use(self, model):
        self.context.state.use_model(model)

    def _after(self, set_value, value):
        set_value(value)
        return self._imaginary(self.given)

    def _imaginary(self, given):
        return np.imag(as_numbers(self.function(self.plant, self.context, given))) / STEP

    def _stack(self, columns):
        if columns:
            return np.stack(columns, axis=-1)
        shape = np.shape(as_numbers(self.function(self.plant, self.context, self.given)))
        return np.zeros((*shape, 0))


def as_numbers(result):
    """The result of a Calc function, as an array."""
    if isinstance(result, RigidTransform):
        return result.GetAsMatrix34()
    if isinstance(result, RotationMatrix):
        return result.matrix()
    if isinstance(result, (SpatialVelocity, SpatialAcceleration, SpatialForce, SpatialMomentum)):
        return result.get_coeffs()
    if isinstance(result, (list, tuple)):
        return np.array([as_numbers(part) for part in result])
    if hasattr(result, "CopyToVector"):
        return result.CopyToVector()
    if hasattr(result, "CopyToFullMatrix6"):
        return result.CopyToFullMatrix6()
    return np.asarray(result)
