"""The common base of bodies, frames, joints, actuators and force elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.index import ModelInstanceIndex
    from mbcli.multibody.tree.scoped_name import ScopedName


class MultibodyElement:
    """An element of one plant: it has an index of its kind and belongs to a model instance."""

    _plant = None
    _index = None
    _model_instance: Any = None
    _place = None  # where a model file defines it (parsers.spec.Place), for messages

    def index(self) -> Any:
        """The index in the plant. RuntimeError before the element is part of one."""
        if self._index is None:
            raise RuntimeError(f"{self!r} has not been added to a plant")
        return self._index

    def model_instance(self) -> ModelInstanceIndex:
        """The model instance. RuntimeError before the element is part of a plant."""
        if self._model_instance is None:
            raise RuntimeError(f"{self!r} has not been added to a plant")
        return self._model_instance

    def GetParentPlant(self) -> MultibodyPlant:
        """The plant. RuntimeError before the element is part of one."""
        if self._plant is None:
            raise RuntimeError(f"{self!r} has not been added to a plant")
        return self._plant

    def _check_context(self, context):
        """RuntimeError for a context that was not made by the element's plant."""
        self.GetParentPlant()._check_context(context)

    def is_ephemeral(self) -> bool:
        """Whether the plant made this element at Finalize()."""
        return False


class NamedElement(MultibodyElement):
    """An element with a name, unique among those of its kind in a model instance."""

    _name = ""

    def name(self) -> str:
        """The name, without the scope of the model instance."""
        return self._name

    def scoped_name(self) -> ScopedName:
        """`instance::name`"""
        from mbcli.multibody.tree.scoped_name import ScopedName

        return ScopedName(self.GetParentPlant().GetModelInstanceName(self.model_instance()), self._name)

    def __repr__(self):
        index = "not added" if self._index is None else int(self._index)
        return f"<{type(self).__name__} name='{self._name}' index={index}>"
