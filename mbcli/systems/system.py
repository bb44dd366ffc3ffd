"""What plants, leaf systems and diagrams share: their ports, names and contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.array_arguments import as_numbers
from mbcli.systems.ports import PortDataType, port_at, port_named
from mbcli.systems.vectors import ContinuousState, DiscreteValues

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.common.value import AbstractValue
    from mbcli.math.array_types import Array
    from mbcli.systems.contexts import Tree
    from mbcli.systems.vectors import BasicVector


class _Conversions:
    """system.ToScalarType"""

    def __init__(self, system: Any) -> None:
        self._system = system

    def __getitem__(self, scalar: Any) -> Callable[[], Any]:
        name = scalar if isinstance(scalar, str) else scalar.__name__
        if name == "float":
            return self._system.Clone
        made = {"AutoDiffXd": self._system.ToAutoDiffXd, "Expression": self._system.ToSymbolic}
        return made["Expression" if name == "Expr" else name]


class System:
    """Input and output ports with a name; the base of plants, leaf systems and diagrams."""

    _name = ""

    def input_ports(self) -> list[Any]:
        """All input ports, by index."""
        raise NotImplementedError

    def output_ports(self) -> list[Any]:
        """All output ports, by index."""
        raise NotImplementedError

    def check_context(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        raise NotImplementedError

    def CreateDefaultContext(self) -> Any:
        """A context with default state and parameters."""
        raise NotImplementedError

    def make_context(self, tree: Tree) -> Any:
        """A context below a root."""
        raise NotImplementedError

    def port_array(self, value: Any, what: str) -> Array:
        """A new array of the numbers of a port; RuntimeError if one is not finite."""
        array = np.array(as_numbers(value, what))
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise RuntimeError(f"{what} must be finite, it is {array}")
        return array

    # names

    def get_name(self) -> str:
        """Name of the system in its diagram.

        Returns:
          The name, empty if none was given.

        Example:
          >>> builder.AddNamedSystem("amplifier", Gain(2.0, 1)).get_name()
          'amplifier'
        """
        return self._name

    def set_name(self, name: str) -> None:
        """Replaces the name.

        Args:
          name: of the system in its diagram.

        Example:
          >>> gain = Gain(2.0, 1)
          >>> gain.set_name("amplifier")
          >>> gain.get_name()
          'amplifier'
        """
        self._name = str(name)

    def GetSystemName(self) -> str:
        """The name, "_" if there is none."""
        return self._name or "_"

    def GetSystemPathname(self) -> str:
        """The name after those of the diagrams that the system is part of."""
        return f"::{self.GetSystemName()}"

    def GetSystemType(self) -> str:
        """The name of the class."""
        return f"{type(self).__module__}.{type(self).__qualname__}"

    # ports

    def num_input_ports(self) -> int:
        """The number of input ports."""
        return len(self.input_ports())

    def get_input_port(self, port_index: int | None = None) -> Any:
        """The input port with an index, or the only one.

        Args:
          port_index: from 0.

        Returns:
          The InputPort.

        Raises:
          RuntimeError: there is none, or several without an index.

        Example:
          >>> Gain(2.0, 3).get_input_port().size()
          3
        """
        return port_at(self.input_ports(), port_index, "input")

    def GetInputPort(self, port_name: str) -> Any:
        """The input port of that name.

        Args:
          port_name: as "u0" or "actuation".

        Returns:
          The InputPort.

        Raises:
          RuntimeError: there is none; the message lists all names.

        Example:
          >>> plant.GetInputPort("actuation").size()
          1
        """
        return port_named(self.input_ports(), port_name, "input")

    def HasInputPort(self, port_name: str) -> bool:
        """Whether there is an input port of that name."""
        return any(port.get_name() == port_name for port in self.input_ports())

    def num_output_ports(self) -> int:
        """The number of output ports."""
        return len(self.output_ports())

    def get_output_port(self, port_index: int | None = None) -> Any:
        """The output port with an index, or the only one.

        Args:
          port_index: from 0.

        Returns:
          The OutputPort.

        Raises:
          RuntimeError: there is none, or several without an index.

        Example:
          >>> source = ConstantVectorSource([1.0, 2.0])
          >>> source.get_output_port().Eval(source.CreateDefaultContext())
          array([1., 2.])
        """
        return port_at(self.output_ports(), port_index, "output")

    def GetOutputPort(self, port_name: str) -> Any:
        """The output port of that name. RuntimeError that lists all names if there is none."""
        return port_named(self.output_ports(), port_name, "output")

    def HasOutputPort(self, port_name: str) -> bool:
        """Whether there is an output port of that name."""
        return any(port.get_name() == port_name for port in self.output_ports())

    def EvalVectorInput(self, context: Any, port_index: int) -> Any:
        """The value of an input port as a BasicVector; None if it has none."""
        port = self.get_input_port(port_index)
        return port.EvalBasicVector(context) if port.HasValue(context) else None

    def EvalAbstractInput(self, context: Any, port_index: int) -> AbstractValue | None:
        """The value of an input port as an AbstractValue; None if it has none."""
        port = self.get_input_port(port_index)
        return port.EvalAbstract(context) if port.HasValue(context) else None

    def FixInputPortsFrom(self, other_system: System, other_context: Any, target_context: Any) -> None:
        """Fixes each input port to the value that the port of that index has elsewhere."""
        for own, other in zip(self.input_ports(), other_system.input_ports(), strict=True):
            if other.HasValue(other_context):
                own.FixValue(target_context, other.Eval(other_context))

    def HasDirectFeedthrough(self, *ports: int, input_port: Any = None, output_port: Any = None) -> bool:
        """HasDirectFeedthrough(output_port), or (input_port, output_port): whether inputs reach it at once."""
        given: list[Any] = [*ports, *(port for port in (input_port, output_port) if port is not None)]
        *inputs, output = given
        names = self.get_output_port(output).follows
        if names is None:
            return self.num_input_ports() > 0
        return bool(names) if not inputs else self.get_input_port(inputs[0]).get_name() in names

    def HasAnyDirectFeedthrough(self) -> bool:
        """Whether an output follows at once from an input."""
        return any(self.HasDirectFeedthrough(k) for k in range(self.num_output_ports()))

    # contexts

    def AllocateContext(self) -> Any:
        """A new context."""
        return self.CreateDefaultContext()

    def ValidateContext(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        self.check_context(context)

    def SetDefaultContext(self, context: Any) -> None:
        """Gives a context the default state and parameters."""
        self.check_context(context)
        context.SetTimeStateAndParametersFrom(self.CreateDefaultContext())

    def GetMyContextFromRoot(self, root_context: Any) -> Any:
        """The part of the context of a diagram that is this system's; its own context comes back.

        Args:
          root_context: of the whole diagram.

        Returns:
          The Context of this system, a part of the other one: changes hold in both.

        Raises:
          RuntimeError: the system has no part in it.

        Example:
          >>> arm, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.001)
          >>> instance = Parser(arm).AddModels("sample_models/double_pendulum.urdf"); arm.Finalize()
          >>> root = builder.Build().CreateDefaultContext()
          >>> arm.GetPositions(arm.GetMyContextFromRoot(root))
          array([0., 0.])
        """
        find = getattr(root_context, "find", None)
        found = root_context if find is None else find(self)
        self.check_context(found)
        return found

    GetMyMutableContextFromRoot = GetMyContextFromRoot

    def num_continuous_states(self) -> int:
        """The number of continuous states."""
        return self.CreateDefaultContext().num_continuous_states()

    def num_discrete_state_groups(self) -> int:
        """The number of groups of discrete state."""
        return self.CreateDefaultContext().num_discrete_state_groups()

    def num_abstract_states(self) -> int:
        """The number of abstract states."""
        return self.CreateDefaultContext().num_abstract_states()

    def num_misc_continuous_states(self) -> int:
        """The number of continuous states that are neither positions nor velocities."""
        return self.CreateDefaultContext().get_continuous_state().num_z()

    def num_numeric_parameter_groups(self) -> int:
        """The number of vectors of parameters."""
        return self.CreateDefaultContext().num_numeric_parameter_groups()

    def num_abstract_parameters(self) -> int:
        """The number of other parameters."""
        return self.CreateDefaultContext().num_abstract_parameters()

    def IsDifferentialEquationSystem(self) -> bool:
        """Whether all state is continuous, and there is some, and inputs are vectors."""
        context = self.CreateDefaultContext()
        return context.has_only_continuous_state() and all(
            port.get_data_type() is PortDataType.kVectorValued for port in self.input_ports()
        )

    def AllocateTimeDerivatives(self) -> ContinuousState:
        """A ContinuousState for derivatives, of zeros."""
        derivatives = self.CreateDefaultContext().get_continuous_state().Clone()
        derivatives.SetFromVector(np.zeros(derivatives.size()))
        return derivatives

    def AllocateDiscreteVariables(self) -> DiscreteValues:
        """DiscreteValues for an update."""
        return self.CreateDefaultContext().get_discrete_state().Clone()

    def EvalTimeDerivatives(self, context: Any) -> Any:
        """The ContinuousState of derivatives."""
        derivatives = context.get_continuous_state().Clone()
        derivatives.SetFromVector(np.zeros(derivatives.size()))
        self.CalcTimeDerivatives(context, derivatives)
        return derivatives

    def CalcTimeDerivatives(self, context: Any, derivatives: ContinuousState) -> None:
        """Sets the derivatives of the continuous state."""
        self.check_context(context)
        if derivatives.size():
            derivatives.SetFromVector(self.EvalTimeDerivatives(context).CopyToVector())

    def CalcPotentialEnergy(self, context: Any) -> Any:
        """[J], 0 unless the system has one."""
        return self._of_parts("CalcPotentialEnergy", context)

    def CalcKineticEnergy(self, context: Any) -> Any:
        """[J], 0 unless the system has one."""
        return self._of_parts("CalcKineticEnergy", context)

    def EvalPotentialEnergy(self, context: Any) -> Any:
        """As CalcPotentialEnergy()."""
        return self.CalcPotentialEnergy(context)

    def EvalKineticEnergy(self, context: Any) -> Any:
        """As CalcKineticEnergy()."""
        return self.CalcKineticEnergy(context)

    def _of_parts(self, energy: str, context: Any) -> Any:
        """The sum of what parts of the system have."""
        self.check_context(context)
        parts = context.contexts.items() if hasattr(context, "contexts") else ()
        return sum((getattr(system, energy)(part) for system, part in parts), 0.0)

    def SetRandomContext(self, context: Any, generator: Any) -> None:
        """Gives a context the default state and parameters, random where its parts have distributions of them."""
        self.SetDefaultContext(context)
        for system, part in context.contexts.items() if hasattr(context, "contexts") else ():
            system.SetRandomContext(part, generator)

    def AllocateInputVector(self, input_port: Any) -> BasicVector:
        """A vector for the value of an input port."""
        return self.AllocateInputAbstract(input_port).get_value()

    def AllocateInputAbstract(self, input_port: Any) -> AbstractValue:
        """A holder for the value of an input port."""
        return input_port.Allocate()

    def AllocateOutput(self) -> SystemOutput:
        """A place for the values of all output ports."""
        return SystemOutput(self)

    def CalcOutput(self, context: Any, outputs: SystemOutput) -> None:
        """Computes all output ports."""
        for k, port in enumerate(self.output_ports()):
            outputs.values[k] = port.EvalAbstract(context)

    def ForcedPublish(self, context: Any) -> None:
        """Calls what is published when it is asked for."""
        self.check_context(context)

    def ToSymbolic(self) -> Any:
        """The system of expressions. RuntimeError if there is none."""
        return self._converted("Expression")

    def ToAutoDiffXd(self) -> Any:
        """The system of AutoDiffXd. RuntimeError if there is none."""
        return self._converted("AutoDiffXd")

    @property
    def ToScalarType(self) -> Any:
        """ToScalarType[T]() is a copy for the scalar type T: float, AutoDiffXd or Expression.

        RuntimeError if the system has none.
        """
        return _Conversions(self)

    def ToAutoDiffXdMaybe(self) -> Any:
        """The system of AutoDiffXd; None if there is none."""
        try:
            return self.ToAutoDiffXd()
        except RuntimeError:
            return None

    def _converted(self, scalar: str) -> Any:
        raise RuntimeError(f"{self.GetSystemType()} cannot be converted to {scalar}")

    def GetGraphvizString(self, max_depth: int | None = None, options: dict[str, str] | None = None) -> str:
        """The system with its ports and parts as text for Graphviz."""
        from mbcli.systems.graphviz import graphviz_of  # late: few programs draw

        return graphviz_of(self, max_depth)

    # what outputs follow from

    @staticmethod
    def nothing_ticket() -> str:
        """A prerequisite: nothing."""
        return "nothing"

    @staticmethod
    def time_ticket() -> str:
        """A prerequisite: the time."""
        return "time"

    @staticmethod
    def all_sources_ticket() -> str:
        """A prerequisite: everything."""
        return "all"

    @staticmethod
    def all_input_ports_ticket() -> str:
        """A prerequisite: all inputs."""
        return "all"

    def input_port_ticket(self, index: int) -> str:
        """A prerequisite: one input."""
        return f"input {int(index)}"

    @staticmethod
    def all_state_ticket() -> str:
        """A prerequisite: the state."""
        return "state"

    def discrete_state_ticket(self, index: int) -> str:
        """A prerequisite: a group of discrete state."""
        return "state"

    def abstract_state_ticket(self, index: int) -> str:
        """A prerequisite: an abstract state."""
        return "state"

    def numeric_parameter_ticket(self, index: int) -> str:
        """A prerequisite: a vector of parameters."""
        return "parameters"

    xc_ticket = xd_ticket = xa_ticket = q_ticket = v_ticket = z_ticket = all_state_ticket
    all_sources_except_input_ports_ticket = all_parameters_ticket = accuracy_ticket = all_state_ticket
    kinematics_ticket = configuration_ticket = all_state_ticket


class SystemOutput:
    """The values of all output ports of a system, as CalcOutput() leaves them."""

    def __init__(self, system: System) -> None:
        self.values = [port.Allocate() for port in system.output_ports()]

    def num_ports(self) -> int:
        """The number of values."""
        return len(self.values)

    def get_data(self, index: int) -> AbstractValue:
        """The value of a port."""
        return self.values[int(index)]

    def get_vector_data(self, index: int) -> Any:
        """The BasicVector of a port."""
        return self.values[int(index)].get_value()
