"""What the systems of mbcli.examples have in common: vectors whose elements have names, states and their shapes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from mbcli.common.value import AbstractValue
from mbcli.geometry import FramePoseVector, GeometryFrame, GeometryInstance, MakePhongIllustrationProperties
from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix
from mbcli.other_names import also_named
from mbcli.systems.framework import BasicVector, LeafSystem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array
    from mbcli.systems.framework import DiagramBuilder, OutputPort


class NamedVector(BasicVector):
    """A BasicVector whose elements have names: x(), set_x(value), with_x(value) for each name x."""

    NAMES: dict[str, float] = {}  # with default values

    def __init__(self) -> None:
        super().__init__(list(self.NAMES.values()))

    def __init_subclass__(cls) -> None:
        for place, name in enumerate(cls.NAMES):
            cls._name_element(place, name)

    @classmethod
    def _name_element(cls, place: int, name: str) -> None:
        def get(self: Any) -> Any:
            return self[place]

        @also_named(**{name: "value"})
        def put(self: Any, value: Any) -> None:
            self.SetAtIndex(place, value)

        @also_named(**{name: "value"})
        def with_(self: Any, value: Any) -> Any:
            other = cls()
            other.SetFromVector(self.CopyToVector())
            other.SetAtIndex(place, value)
            return other

        for method, word, about in (
            (get, "", f"The element {name}."),
            (put, "set_", f"Replaces {name}."),
            (with_, "with_", f"A copy with another {name}."),
        ):
            method.__doc__ = getattr(method, "__wrapped__", method).__doc__ = about
            setattr(cls, f"{word}{name}", method)


class WithParameters(LeafSystem):
    """A system with one vector of parameters."""

    def get_parameters(self, context: Any) -> Any:
        """The parameters in a context."""
        return context.get_numeric_parameter(0)

    def get_mutable_parameters(self, context: Any) -> Any:
        """The parameters in a context, which can be set."""
        return context.get_mutable_numeric_parameter(0)

    def numbers(self, context: Any) -> Array:
        """The values of the parameters, (n,)."""
        return self.get_parameters(context).CopyToVector()

    def effort(self, context: Any) -> Any:
        """The number at the input, 0 where nothing is connected."""
        port = self.get_input_port()
        return port.Eval(context)[0] if port.HasValue(context) else 0.0


class SecondOrder(WithParameters):
    """A system of one input, with the state and the parameters of a class, whose state is its output."""

    STATE: type[Any]
    PARAMETERS: type[Any]
    INPUT: str
    OUTPUT: str
    POSITIONS: int

    def __init__(self) -> None:
        super().__init__()
        self.DeclareNumericParameter(self.PARAMETERS())
        self.DeclareVectorInputPort(self.INPUT, 1)
        index = self.DeclareContinuousState(self.STATE(), self.POSITIONS, self.POSITIONS, 0)
        self.DeclareStateOutputPort(self.OUTPUT, index)

    def get_state(self, context: Any) -> Any:
        """The state in a context."""
        return context.get_continuous_state_vector()

    def get_mutable_state(self, context: Any) -> Any:
        """The state in a context, which can be set."""
        return context.get_mutable_continuous_state_vector()

    def get_state_output_port(self) -> OutputPort:
        """The state."""
        return self.get_output_port()


class ShownSystem(LeafSystem, ABC):
    """Shows a system whose state is the input: frames with shapes, which are added to a SceneGraph."""

    SOURCE, STATE, INPUT = "", 0, "state"
    FRAMES: tuple[str, ...] = ()

    def __init__(self, scene_graph: Any, *parameters: Any) -> None:
        super().__init__()
        self.source = scene_graph.RegisterSource(self.SOURCE)
        self.frames = [GeometryFrame(name) for name in self.FRAMES]
        for frame in self.frames:
            scene_graph.RegisterFrame(self.source, frame)
        for place, shown in self._shapes(*parameters):
            if place is None:
                scene_graph.RegisterAnchoredGeometry(self.source, shown)
            else:
                scene_graph.RegisterGeometry(self.source, self.frames[place].id(), shown)
        self.DeclareVectorInputPort(self.INPUT, self.STATE)
        self.DeclareAbstractOutputPort("geometry_pose", lambda: AbstractValue.Make(FramePoseVector()), self._poses)

    @abstractmethod
    def _shapes(self, *parameters: Any) -> list[tuple[int | None, GeometryInstance]]:
        """Shapes with the number of their frame, None for World."""

    @abstractmethod
    def _frames_at(self, state: Array) -> list[RigidTransform]:
        """Poses of the frames in World."""

    def _poses(self, context: Any, output: AbstractValue) -> None:
        poses = FramePoseVector()
        for frame, X in zip(self.frames, self._frames_at(self.get_input_port().Eval(context)), strict=True):
            poses.set_value(frame.id(), X)
        output.set_value(poses)


def added(made: Any, builder: DiagramBuilder, state_port: OutputPort, scene_graph: Any) -> Any:
    """The geometry, in a builder and connected."""
    builder.AddSystem(made)
    builder.Connect(state_port, made.get_input_port())
    builder.Connect(made.get_output_port(), scene_graph.get_source_pose_port(made.source))
    return made


def turned(angle: float, p: ArrayLike) -> RigidTransform:
    """A frame at p that is turned about y."""
    return RigidTransform(RotationMatrix(RollPitchYaw(0.0, angle, 0.0)), p)


def seen(name: str, shape: Any, X: RigidTransform, color: tuple[float, ...]) -> GeometryInstance:
    instance = GeometryInstance(X, shape, name)
    instance.set_illustration_properties(MakePhongIllustrationProperties(list(color)))
    return instance
