"""SceneGraph: the geometries of a scene, under the names of pydrake.geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.geometry.collision_filters import CollisionFilterManager
from mbcli.geometry.inspector import SceneGraphInspector
from mbcli.geometry.registry import Registry

if TYPE_CHECKING:
    from mbcli.config.scene_graph_config import SceneGraphConfig
    from mbcli.geometry.identifiers import FrameId, SourceId


class SceneGraph:
    """The geometries that plants register, and the filters between them.

    Args:
        config: SceneGraphConfig; its default proximity properties stand in for those that geometries lack. Without
            one, stiffness and dissipation follow from the penetration allowance of the plant, or are pydrake's
            (MultibodyPlantConfig.contact_defaults).
    """

    def __init__(self, config: SceneGraphConfig | None = None) -> None:
        self._name = "scene_graph"
        self.config = config  # as it was given
        self.registry = Registry()

    def get_name(self) -> str:
        """The name."""
        return self._name

    def set_name(self, name: str) -> None:
        """Replaces the name."""
        self._name = str(name)

    def get_config(self) -> SceneGraphConfig:
        """SceneGraphConfig, the defaults if none was given."""
        from mbcli.config.scene_graph_config import SceneGraphConfig

        return SceneGraphConfig() if self.config is None else self.config

    def set_config(self, config: SceneGraphConfig) -> None:
        """Replaces the configuration."""
        self.config = config
        self.registry.revision += 1

    def world_frame_id(self) -> FrameId:
        """The frame of the world, which is there from the beginning."""
        return self.registry.world_frame

    def model_inspector(self) -> SceneGraphInspector:
        """A SceneGraphInspector of the geometries and filters."""
        return SceneGraphInspector(self.registry)

    def collision_filter_manager(self, context: object = None) -> CollisionFilterManager:
        """The manager of the filters of all contexts, as geometries are not parameters of contexts here."""
        return CollisionFilterManager(self.registry)

    def RegisterSource(self, name: str = "") -> SourceId:
        """A new source of geometries. RuntimeError if the name is taken."""
        return self.registry.add_source(name)
