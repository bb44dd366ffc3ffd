"""The common base of bodies, frames, joints, actuators and force elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbcli.multibody.state.owning_plant import OwningPlant
    from mbcli.multibody.tree.index import ModelInstanceIndex
    from mbcli.multibody.tree.scoped_name import ScopedName


class MultibodyElement:
    """An element of one plant: it has an index of its kind and belongs to a model instance."""

    parent_plant: Any = None  # that it was added to
    index_number: Any = None  # its index there, as an int
    instance_index: Any = None  # ModelInstanceIndex
    _index: Any = None
    place: Any = None  # where a model file defines it (parsers.spec.SourceLocation), for messages

    def join(self, plant: Any, index: Any, instance: ModelInstanceIndex) -> None:
        """The plant has added it under an index of its kind."""
        self.parent_plant, self._index, self.instance_index = plant, index, instance
        self.index_number = index.number

    def key(self) -> tuple[Any, ...]:
        """What tells it from others of its kind in a plant; force elements have no name."""
        return type(self._index), self.instance_index.number, None

    def default_of(self, name: str) -> Any:
        """The value of a parameter in new contexts."""
        return getattr(self, f"_{name}")

    def replace_default(self, name: str, value: Any) -> None:
        """Another value of a parameter in new contexts, of a plant that makes its arrays anew; it is not checked."""
        setattr(self, f"_{name}", value)

    def index(self) -> Any:
        """The index in the plant. RuntimeError before the element is part of one."""
        if self._index is None:
            raise RuntimeError(f"{self!r} has not been added to a plant")
        return self._index

    def model_instance(self) -> ModelInstanceIndex:
        """The model instance. RuntimeError before the element is part of a plant."""
        if self.instance_index is None:
            raise RuntimeError(f"{self!r} has not been added to a plant")
        return self.instance_index

    def GetParentPlant(self) -> OwningPlant:
        """The plant. RuntimeError before the element is part of one."""
        if self.parent_plant is None:
            raise RuntimeError(f"{self!r} has not been added to a plant")
        return self.parent_plant

    def check_context(self, context: Any) -> None:
        """RuntimeError for a context that was not made by the element's plant."""
        self.GetParentPlant().check_context(context)

    def is_ephemeral(self) -> bool:
        """Whether the plant made this element at Finalize()."""
        return False


class NamedElement(MultibodyElement):
    """An element with a name, unique among those of its kind in a model instance."""

    _name = ""

    def key(self) -> tuple[Any, ...]:
        """What tells it from others of its kind in a plant."""
        return type(self._index), self.instance_index.number, self._name

    def name(self) -> str:
        """The name, without the scope of the model instance."""
        return self._name

    def scoped_name(self) -> ScopedName:
        """`instance::name`"""
        from mbcli.multibody.tree.scoped_name import ScopedName

        return ScopedName(self.GetParentPlant().GetModelInstanceName(self.model_instance()), self._name)

    def __repr__(self):
        if self._index is None:
            return f"<{type(self).__name__} name='{self._name}' index=not added>"
        instance = int(self.model_instance())
        return f"<{type(self).__name__} name='{self._name}' index={int(self._index)} model_instance={instance}>"
