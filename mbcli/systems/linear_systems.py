"""Linear and affine systems, linearization, and what is asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.autodiffutils import ExtractGradient, ExtractValue, InitializeAutoDiff
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.multibody.linearization.motion_derivatives import plant_derivatives
from mbcli.multibody.state.context import Context as PlantContext
from mbcli.systems.port_selection import InputPortSelection, OutputPortSelection, selected_port
from mbcli.systems.signals import STATE, Reproducible

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.systems.system import System

ELSEWHERE = "?"  # a port that is not the plant's own
RANK_TOLERANCE = 1e-9  # singular value, relative to the largest, that counts as zero


class AffineSystem(Reproducible):
    """xdot, or with a time period the next x, = A x + B u + f0, and y = C x + D u + y0. What is not given is zero."""

    def __init__(
        self,
        A: ArrayLike = (),
        B: ArrayLike = (),
        f0: ArrayLike = (),
        C: ArrayLike = (),
        D: ArrayLike = (),
        y0: ArrayLike = (),
        time_period: float = 0.0,
    ) -> None:
        super().__init__()
        given = [np.array(x, dtype=float) for x in (A, B, f0, C, D, y0)]
        for k in (0, 1, 3, 4):  # a matrix that is given as a vector is a column
            given[k] = given[k].reshape(-1, 1) if given[k].ndim == 1 and given[k].size else given[k]
        nx = max(len(given[0]), given[1].shape[0] if given[1].size else 0, given[2].size)
        nx = max(nx, given[3].shape[1] if given[3].size else 0)
        nu = max(x.shape[1] if x.ndim == 2 else 0 for x in (given[1], given[4]))
        ny = max(len(given[3]), len(given[4]), given[5].size)
        shapes = [(nx, nx), (nx, nu), (nx,), (ny, nx), (ny, nu), (ny,)]
        for name, x, shape in zip(("A", "B", "f0", "C", "D", "y0"), given, shapes, strict=True):
            if x.size and x.size != np.prod(shape):
                raise RuntimeError(f"{name} has shape {x.shape}, not {shape}")
        self._A, self._B, self._f0, self._C, self._D, self._y0 = (
            x.reshape(shape) if x.size else np.zeros(shape) for x, shape in zip(given, shapes, strict=True)
        )
        self._time_period = float(time_period)
        self._u = self.DeclareVectorInputPort("u0", nu) if nu else None
        if nx and self._time_period:
            self.DeclareDiscreteState(nx)
            self.DeclarePeriodicDiscreteUpdateEvent(
                self._time_period, 0.0, lambda c, values: values.set_value(self._next(c))
            )
        elif nx:
            self.DeclareContinuousState(nx)
        if ny:
            through = None if self._D.any() else STATE
            self.DeclareVectorOutputPort("y0", ny, lambda c, out: out.SetFromVector(self._output(c)), through)

    def _state(self, context: Any) -> Any:
        if self._time_period:
            return context.get_discrete_state_vector().CopyToVector()
        return context.get_continuous_state_vector().CopyToVector()

    def _next(self, context: Any) -> Any:
        drive = 0.0 if self._u is None else self._B @ self._u.Eval(context)
        return self._A @ self._state(context) + drive + self._f0

    def _output(self, context: Any) -> Any:
        value = self._y0
        if self._A.size:
            value = value + self._C @ self._state(context)
        return value + self._D @ self._u.Eval(context) if self._u is not None and self._D.any() else value

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """A x + B u + f0"""
        if derivatives.size():
            derivatives.SetFromVector(self._next(context))

    def A(self) -> FloatArray:
        """(nx, nx)"""
        return self._A.copy()

    def B(self) -> FloatArray:
        """(nx, nu)"""
        return self._B.copy()

    def f0(self) -> FloatArray:
        """(nx,)"""
        return self._f0.copy()

    def C(self) -> FloatArray:
        """(ny, nx)"""
        return self._C.copy()

    def D(self) -> FloatArray:
        """(ny, nu)"""
        return self._D.copy()

    def y0(self) -> FloatArray:
        """(ny,)"""
        return self._y0.copy()

    def num_states(self) -> int:
        """nx"""
        return self._A.shape[0]

    def num_inputs(self) -> int:
        """nu"""
        return self._B.shape[1] or self._D.shape[1]

    def num_outputs(self) -> int:
        """ny"""
        return self._C.shape[0]

    def time_period(self) -> float:
        """[s], 0 for a continuous system"""
        return self._time_period

    def configure_default_state(self, x0: ArrayLike) -> None:
        """The state (nx,) of new contexts."""
        made = self.declared
        (made.discrete[0] if self._time_period else made.continuous).SetFromVector(x0)

    def UpdateCoefficients(
        self,
        A: ArrayLike = (),
        B: ArrayLike = (),
        f0: ArrayLike = (),
        C: ArrayLike = (),
        D: ArrayLike = (),
        y0: ArrayLike = (),
    ) -> None:
        """Replaces the matrices by others of the same shapes; those that are not given become zero."""
        for name, value in (("_A", A), ("_B", B), ("_f0", f0), ("_C", C), ("_D", D), ("_y0", y0)):
            old, new = getattr(self, name), np.array(value, dtype=float)
            if new.size not in (0, old.size):
                raise RuntimeError(f"{name[1:]} has shape {new.shape}, not {old.shape}")
            setattr(self, name, new.reshape(old.shape) if new.size else np.zeros(old.shape))


class LinearSystem(AffineSystem):
    """xdot, or with a time period the next x, = A x + B u, and y = C x + D u. What is not given is zero."""

    def __init__(
        self,
        A: ArrayLike = (),
        B: ArrayLike = (),
        C: ArrayLike = (),
        D: ArrayLike = (),
        time_period: float = 0.0,
    ) -> None:
        super().__init__(A, B, (), C, D, (), time_period)


def Linearize(
    system: System,
    context: Any,
    input_port_index: Any = InputPortSelection.kUseFirstInputIfItExists,
    output_port_index: Any = OutputPortSelection.kUseFirstOutputIfItExists,
    equilibrium_check_tolerance: float = 1e-6,
) -> LinearSystem:
    """The LinearSystem of small deviations of a system from an equilibrium.

    A, B, C, D are exact derivatives, of steps in contact to 8 digits or so; of diagrams of a plant and other systems
    with state they are central differences. Of a plant, without a port, input is the actuation and output the state.

    Args:
        system: a plant, a LeafSystem or a Diagram.
        context: the equilibrium, with inputs.
        input_port_index: of the input u; default: the first, of a plant the actuation.
        output_port_index: of the output y; default: the first, of a plant the state.
        equilibrium_check_tolerance: the largest rate, or change of a step, that an equilibrium has.

    Returns:
        The LinearSystem, with A (n, n), B (n, m), C (k, n) and D (k, m).

    Raises:
        RuntimeError: the state is not an equilibrium within the tolerance, or a port is not a vector; in contact, with
            `tamsi`, for deformable bodies, and for the net actuation of controllers.
        NumericalError: a contact begins or ends there.

    Example:
        >>> hanging = plant.CreateDefaultContext()
        >>> zero = plant.get_actuation_input_port().FixValue(hanging, [0.0])
        >>> Linearize(plant, hanging).A().round(2) + 0.0
        array([[  0.  ,   0.  ,   1.  ,   0.  ],
               [  0.  ,   0.  ,   0.  ,   1.  ],
               [-13.37,   8.02,   0.  ,   0.  ],
               [ 20.05, -41.43,   0.  ,   0.  ]])
    """
    A, B, C, D, f, _, _, x, h = _derivatives(system, context, input_port_index, output_port_index)
    change = np.abs(f - x if h else f)
    if change.size and not change.max() <= equilibrium_check_tolerance:
        k = int(np.argmax(change))
        raise RuntimeError(
            f"Linearize: the context is not an equilibrium, state {k} changes by {change[k]:g} "
            f"{'in a step' if h else 'per second'}; FirstOrderTaylorApproximation() needs none"
        )
    return LinearSystem(A, B, C, D, h)


def FirstOrderTaylorApproximation(
    system: System,
    context: Any,
    input_port_index: Any = InputPortSelection.kUseFirstInputIfItExists,
    output_port_index: Any = OutputPortSelection.kUseFirstOutputIfItExists,
) -> AffineSystem:
    """The AffineSystem that equals a system to first order about a context; ports and errors as of Linearize()."""
    A, B, C, D, f, y, u, x, h = _derivatives(system, context, input_port_index, output_port_index)
    return AffineSystem(A, B, f - A @ x - B @ u, C, D, y - C @ x - D @ u, h)


def _derivatives(system: Any, context: Any, input_port: Any, output_port: Any) -> Any:
    """A, B, C, D, motion, output, input and state at the context, and the time period."""
    lone = lone_plant(system, context)
    if lone is None:
        return _of_system(system, context, input_port, output_port)
    plant, own = lone
    is_diagram = system is not plant
    u_port = plants_port(plant, input_port, system.input_ports(), InputPortSelection, is_diagram)
    y_port = plants_port(plant, output_port, system.output_ports(), OutputPortSelection, is_diagram)
    if ELSEWHERE in (u_port, y_port):
        return _of_system(system, context, input_port, output_port)
    derivatives = plant_derivatives(plant, own, u_port, y_port)
    return *derivatives, np.concatenate([own.state.q, own.state.v]), plant.time_step()


def lone_plant(system: Any, context: Any) -> tuple[Any, Any] | None:
    """(plant, its context) of a system whose whole motion is that of one plant, which no other system drives."""
    leaves = list(context.leaves()) if hasattr(context, "leaves") else [(system, context)]
    plants = [(s, c) for s, c in leaves if isinstance(c, PlantContext)]
    others = [c for _, c in leaves if not isinstance(c, PlantContext) and not c.is_stateless()]
    return None if len(plants) != 1 or others or plants[0][1].inputs.followed else plants[0]


def plants_port(plant: Any, port: Any, ports: list[Any], selection: Any, is_diagram: bool) -> str | None:
    """Name of the plant's port that one of a diagram, or of the plant itself, is; None for no port, or ELSEWHERE.

    Without an index it is the diagram's first one, of a plant alone its actuation or its state.
    """
    if not isinstance(port, selection):
        found = ports[int(port)]
    elif not is_diagram:
        return None if port.name.startswith("kNo") else "actuation" if selection is InputPortSelection else "state"
    else:
        found = selected_port(port, ports, selection)
    while hasattr(found, "inner"):
        found = found.inner if len(getattr(found, "ports", [0])) == 1 else None
        if found is None:
            return ELSEWHERE
    if found is None:
        return None
    return str(found.get_name()) if found.get_system() is plant else ELSEWHERE


class StateAndInput:
    """The motion, and an output, of a system as a function of [x, u], by AutoDiffXd, or central differences where
    plants are in it; others_are_fixed: discrete and abstract states beside continuous ones stay as they are.
    """

    def __init__(
        self, system: Any, context: Any, input_port: Any, output_port: Any, others_are_fixed: bool = False
    ) -> None:
        u_port = selected_port(input_port, system.input_ports(), InputPortSelection)
        self._system, self._u_port, self._work = system, u_port, context.Clone()
        self._y_port = (
            None if output_port is None else selected_port(output_port, system.output_ports(), OutputPortSelection)
        )
        system.FixInputPortsFrom(system, context, self._work)
        self.is_discrete, self.time_period = False, 0.0
        if not context.num_continuous_states() and context.num_discrete_state_groups():
            self.is_discrete, self.time_period = system.IsDifferenceEquationSystem()
            if not self.is_discrete:
                raise RuntimeError("linearization: the system has no unique periodic update of one discrete state")
        elif (context.num_discrete_state_groups() or context.num_abstract_states()) and not others_are_fixed:
            raise RuntimeError("linearization: the system has discrete state beside continuous state")
        leaves = context.leaves() if hasattr(context, "leaves") else [(system, context)]
        self._has_plants = any(isinstance(c, PlantContext) for _, c in leaves)
        state = self._work.get_discrete_state_vector() if self.is_discrete else self._work.get_continuous_state_vector()
        self.x0, self.num_states = state.CopyToVector().astype(float), state.size()
        self.num_inputs = 0 if u_port is None else u_port.size()

    def evaluate(self, z: Any) -> Any:
        """[motion, output] at [x, u] of floats or AutoDiffXd."""
        work, system, nx = self._work, self._system, self.num_states
        discrete = self.is_discrete
        vector = work.get_mutable_discrete_state_vector() if discrete else work.get_mutable_continuous_state_vector()
        vector.SetFromVector(z[:nx])
        if self._u_port is not None:
            self._u_port.FixValue(work, z[nx:])
        if discrete:
            f = system.EvalUniquePeriodicDiscreteUpdate(work).get_vector(0).CopyToVector()
        else:
            f = system.EvalTimeDerivatives(work).CopyToVector()
        return f if self._y_port is None else np.concatenate([f, self._y_port.Eval(work)])

    def values(self, z: FloatArray) -> FloatArray:
        """[motion, output] at [x, u]."""
        return np.asarray(self.evaluate(z), dtype=float)

    def slopes(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """[motion, output] and the derivatives by [x, u]."""
        if self._has_plants:
            return self.values(z), _central_differences(self.evaluate, z)
        duals = self.evaluate(InitializeAutoDiff(z).reshape(-1))
        return ExtractValue(duals).reshape(-1), ExtractGradient(duals, z.size)


def _of_system(system: Any, context: Any, input_port: Any, output_port: Any) -> Any:
    """As _derivatives(), of any system."""
    motion = StateAndInput(system, context, input_port, output_port)
    u_port, nx = selected_port(input_port, system.input_ports(), InputPortSelection), motion.num_states
    u0 = np.zeros(0) if u_port is None else u_port.Eval(context)
    value, J = motion.slopes(np.concatenate([motion.x0, u0]))
    f, y = value[:nx], value[nx:]
    return J[:nx, :nx], J[:nx, nx:], J[nx:, :nx], J[nx:, nx:], f, y, u0, motion.x0, motion.time_period


def _central_differences(function: Any, z: FloatArray) -> FloatArray:
    """Derivatives (n, z.size) of fourth order."""
    h = 1e-4
    columns = []
    for k in range(z.size):
        e = np.zeros(z.size)
        e[k] = h * max(1.0, abs(z[k]))
        near = function(z + e) - function(z - e)
        far = function(z + 2.0 * e) - function(z - 2.0 * e)
        columns.append((8.0 * near - far) / (12.0 * e[k]))
    return np.reshape(columns, (z.size, -1)).T


def ControllabilityMatrix(sys: LinearSystem) -> FloatArray:
    """[B, A B, A^2 B, ...] (nx, nx nu)"""
    columns = [sys.B()]
    for _ in range(sys.num_states() - 1):
        columns.append(sys.A() @ columns[-1])
    return np.hstack(columns)


def ObservabilityMatrix(sys: LinearSystem) -> FloatArray:
    """[C; C A; C A^2; ...] (nx ny, nx)"""
    rows = [sys.C()]
    for _ in range(sys.num_states() - 1):
        rows.append(rows[-1] @ sys.A())
    return np.vstack(rows)


def IsControllable(sys: LinearSystem, threshold: float | None = None) -> bool:
    """Whether inputs lead from every state to every other one: the controllability matrix has full rank."""
    return _rank(ControllabilityMatrix(sys), threshold) == sys.num_states()


def IsObservable(sys: LinearSystem, threshold: float | None = None) -> bool:
    """Whether the state follows from the output over time: the observability matrix has full rank."""
    return _rank(ObservabilityMatrix(sys), threshold) == sys.num_states()


def IsStabilizable(sys: LinearSystem, threshold: float | None = None) -> bool:
    """Whether all that grows by itself can be controlled (Hautus's test at each eigenvalue that does not decay)."""
    return _hautus(sys.A(), sys.B(), sys.time_period(), threshold)


def IsDetectable(sys: LinearSystem, threshold: float | None = None) -> bool:
    """Whether all that grows by itself can be observed."""
    return _hautus(sys.A().T, sys.C().T, sys.time_period(), threshold)


def _hautus(A: FloatArray, B: FloatArray, period: float, threshold: float | None) -> bool:
    values = np.linalg.eigvals(A)
    open_values = [s for s in values if (abs(s) >= 1.0 if period else s.real >= 0.0)]
    return all(_rank(np.hstack([A - s * np.eye(len(A)), B]), threshold) == len(A) for s in open_values)


def _rank(M: FloatArray, threshold: float | None) -> int:
    singular = np.linalg.svd(M, compute_uv=False)
    return int((singular > (RANK_TOLERANCE if threshold is None else threshold) * singular.max(initial=0.0)).sum())


AffineSystem_ = ScalarTemplate(AffineSystem)
LinearSystem_ = ScalarTemplate(LinearSystem)
