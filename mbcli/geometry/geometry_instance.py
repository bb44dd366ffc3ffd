"""GeometryInstance: a shape at its place, before and after it is registered with a SceneGraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.geometry.identifiers import GeometryId, SourceId
from mbcli.math import RigidTransform

if TYPE_CHECKING:
    from mbcli.geometry.properties import IllustrationProperties, ProximityProperties
    from mbcli.geometry.shapes import Shape


class GeometryInstance:
    """A shape with a name and its purpose, at the pose X_PG in the frame that it will be fixed to.

    Args:
        X_PG: RigidTransform.
        shape: Shape.
        name: not empty.
    """

    source: SourceId  # from when it is registered

    def __init__(self, X_PG: RigidTransform, shape: Shape, name: str) -> None:
        self._X, self._shape = RigidTransform(X_PG), shape
        self._id: GeometryId | None = None
        self.set_name(name)
        self.proximity: ProximityProperties | None = None
        self.illustration: IllustrationProperties | None = None
        self.place: Any = None  # in a file
        self.frame: Any = None  # FrameId, from when it is registered

    def id(self) -> GeometryId:
        """GeometryId, made when it is asked for."""
        if self._id is None:
            self._id = GeometryId.get_new_id()
        return self._id

    def name(self) -> str:
        """The name, without spaces around it."""
        return self._name

    def set_name(self, name: str) -> None:
        """Replaces the name. RuntimeError if it is empty."""
        if not str(name).strip():
            raise RuntimeError("a geometry needs a name that is not empty")
        self._name = str(name).strip()

    def pose(self) -> RigidTransform:
        """X_PG, of the geometry in the frame that it is fixed to."""
        return RigidTransform(self._X)

    def set_pose(self, X_PG: RigidTransform) -> None:
        """Replaces X_PG, the pose in the frame that the geometry is fixed to."""
        self._X = RigidTransform(X_PG)

    def shape(self) -> Shape:
        """The shape."""
        return self._shape

    def proximity_properties(self) -> ProximityProperties | None:
        """ProximityProperties or None."""
        return self.proximity

    mutable_proximity_properties = proximity_properties

    def set_proximity_properties(self, properties: ProximityProperties | None) -> None:
        """Replaces the properties of the proximity role; None takes the role away."""
        self.proximity = properties

    def illustration_properties(self) -> IllustrationProperties | None:
        """IllustrationProperties or None."""
        return self.illustration

    mutable_illustration_properties = illustration_properties

    def set_illustration_properties(self, properties: IllustrationProperties | None) -> None:
        """Replaces the properties of the illustration role; None takes the role away."""
        self.illustration = properties

    def with_new_id(self) -> GeometryInstance:
        """One like it, not registered, with an identifier of its own."""
        copy = GeometryInstance(self._X, self._shape, self._name)
        copy.proximity, copy.illustration, copy.place = self.proximity, self.illustration, self.place
        return copy
