"""Systems, their contexts and diagrams of them, under the names of pydrake.systems.framework."""

from mbcli.common.value import AbstractValue, Value
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.multibody.tree.index import DiscreteStateIndex
from mbcli.systems.cache_entries import CacheEntry, ValueProducer
from mbcli.systems.contexts import Context
from mbcli.systems.diagram import Diagram, DiagramContext
from mbcli.systems.diagram_builder import DiagramBuilder
from mbcli.systems.events import (
    DiscreteUpdateEvent,
    Event,
    EventStatus,
    PublishEvent,
    TriggerType,
    UnrestrictedUpdateEvent,
    WitnessFunction,
    WitnessFunctionDirection,
)
from mbcli.systems.indices import (
    AbstractParameterIndex,
    AbstractStateIndex,
    ContinuousStateIndex,
    InputPortIndex,
    NumericParameterIndex,
    OutputPortIndex,
    SubsystemIndex,
)
from mbcli.systems.leaf_system import LeafContext, LeafSystem
from mbcli.systems.port_selection import InputPortSelection, OutputPortSelection
from mbcli.systems.ports import InputPort, OutputPort, PortDataType
from mbcli.systems.system import System, SystemOutput
from mbcli.systems.vector_system import VectorSystem
from mbcli.systems.vectors import (
    AbstractValues,
    BasicVector,
    ContinuousState,
    DiscreteValues,
    Parameters,
    State,
    Subvector,
    VectorBase,
)

kUseDefaultName = None  # as the name of a port: one that follows from the system's and the port's
LeafOutputPort = OutputPort

BasicVector_ = ScalarTemplate(BasicVector)
Context_ = ScalarTemplate(Context)
ContinuousState_ = ScalarTemplate(ContinuousState)
DiagramBuilder_ = ScalarTemplate(DiagramBuilder)
Diagram_ = ScalarTemplate(Diagram)
DiscreteUpdateEvent_ = ScalarTemplate(DiscreteUpdateEvent)
DiscreteValues_ = ScalarTemplate(DiscreteValues)
Event_ = ScalarTemplate(Event)
InputPort_ = ScalarTemplate(InputPort)
LeafContext_ = ScalarTemplate(LeafContext)
LeafSystem_ = ScalarTemplate(LeafSystem)
OutputPort_ = ScalarTemplate(OutputPort)
Parameters_ = ScalarTemplate(Parameters)
PublishEvent_ = ScalarTemplate(PublishEvent)
State_ = ScalarTemplate(State)
SystemOutput_ = ScalarTemplate(SystemOutput)
System_ = ScalarTemplate(System)
UnrestrictedUpdateEvent_ = ScalarTemplate(UnrestrictedUpdateEvent)
VectorBase_ = ScalarTemplate(VectorBase)
VectorSystem_ = ScalarTemplate(VectorSystem)
WitnessFunction_ = ScalarTemplate(WitnessFunction)

__all__ = [
    "AbstractParameterIndex",
    "AbstractStateIndex",
    "AbstractValue",
    "AbstractValues",
    "BasicVector",
    "BasicVector_",
    "CacheEntry",
    "Context",
    "Context_",
    "ContinuousState",
    "ContinuousStateIndex",
    "ContinuousState_",
    "Diagram",
    "DiagramBuilder",
    "DiagramBuilder_",
    "DiagramContext",
    "Diagram_",
    "DiscreteStateIndex",
    "DiscreteUpdateEvent",
    "DiscreteUpdateEvent_",
    "DiscreteValues",
    "DiscreteValues_",
    "Event",
    "EventStatus",
    "Event_",
    "InputPort",
    "InputPortIndex",
    "InputPortSelection",
    "InputPort_",
    "LeafContext",
    "LeafContext_",
    "LeafOutputPort",
    "LeafSystem",
    "LeafSystem_",
    "NumericParameterIndex",
    "OutputPort",
    "OutputPortIndex",
    "OutputPortSelection",
    "OutputPort_",
    "Parameters",
    "Parameters_",
    "PortDataType",
    "PublishEvent",
    "PublishEvent_",
    "State",
    "State_",
    "SubsystemIndex",
    "Subvector",
    "System",
    "SystemOutput",
    "SystemOutput_",
    "System_",
    "TriggerType",
    "UnrestrictedUpdateEvent",
    "UnrestrictedUpdateEvent_",
    "Value",
    "ValueProducer",
    "VectorBase",
    "VectorBase_",
    "VectorSystem",
    "VectorSystem_",
    "WitnessFunction",
    "WitnessFunctionDirection",
    "WitnessFunction_",
    "kUseDefaultName",
]
