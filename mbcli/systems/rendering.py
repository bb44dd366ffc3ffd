"""Poses of geometries from positions, under the names of pydrake.systems.rendering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.systems.leaf_system import LeafSystem

if TYPE_CHECKING:
    from mbcli.multibody.plant import MultibodyPlant

__all__ = ["MultibodyPositionToGeometryPose"]


class MultibodyPositionToGeometryPose(LeafSystem):
    """Gives the poses of a plant's frames of geometries at positions q, or at the state [q; v].

    RuntimeError if the plant is not finalized or has no SceneGraph.
    """

    def __init__(self, plant: MultibodyPlant, input_multibody_state: bool = False) -> None:
        super().__init__()
        if not plant.is_finalized() or not plant.geometry_source_is_registered():
            raise RuntimeError("MultibodyPositionToGeometryPose: the plant must be finalized and have a SceneGraph")
        self._plant, self._context = plant, plant.CreateDefaultContext()
        size = plant.num_multibody_states() if input_multibody_state else plant.num_positions()
        self._x = self.DeclareVectorInputPort("position", size)
        self.DeclareAbstractOutputPort("geometry_pose", lambda: None, self._calc)

    def _calc(self, context: Any, output: Any) -> None:
        self._plant.SetPositions(self._context, self._x.Eval(context)[: self._plant.num_positions()])
        output.set_value(self._plant.get_geometry_pose_output_port().Eval(self._context))
