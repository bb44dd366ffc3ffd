"""A plant with the files that it was read from."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from mbcli.common.fast_dataclass import dataclass
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.plant_config import RunConfig

if TYPE_CHECKING:
    from mbcli.models.parameter_value import ParameterValue
    from mbcli.models.postures import Posture
    from mbcli.multibody.parsing.collision_filter_groups import CollisionFilterGroups
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.parsers.spec import ModelSpec, SourceFile


@dataclass
class LoadedModel:
    """A finalized plant, the files it was read from, the settings, and the findings of the parse.

    Attributes:
        plant: finalized MultibodyPlant.
        specs: ModelSpec of every model in it.
        instances: the name in the plant of each spec's model; it differs from the spec's where that was taken.
        scene_files: files of directives, scenarios and constraints (SourceFile).
        config: RunConfig.
        diagnostics: Diagnostics with what the files say and the plant does not use.
        read: ModelSpecs as their files have them: worlds whole.
        filter_groups: CollisionFilterGroups.
        ground: [m] height of the ground, None without one.
        postures: Posture of every named state in the files of the models.
        added_actuators: names of the joints that got an actuator, to be held or driven.
        self_contact: "auto", "all" or "none": contact between the bodies of one mechanism.
        without_contact: pairs of names of bodies that "auto" keeps from touching.
        parameters: ParameterValue of every parameter that was set by name.
    """

    plant: MultibodyPlant
    specs: list[ModelSpec] = field(default_factory=list)
    instances: list[str] = field(default_factory=list)
    scene_files: list[SourceFile] = field(default_factory=list)
    config: RunConfig = field(default_factory=RunConfig)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    read: list[ModelSpec] = field(default_factory=list)
    filter_groups: CollisionFilterGroups | None = None
    ground: float | None = None
    postures: list[Posture] = field(default_factory=list)
    added_actuators: list[str] = field(default_factory=list)
    self_contact: str = "all"
    without_contact: list[tuple[str, str]] = field(default_factory=list)
    parameters: list[ParameterValue] = field(default_factory=list)

    @property
    def sources(self) -> list[SourceFile]:
        """Every file read that defines the model, once."""
        models = [source for spec in self.specs for source in spec.sources]
        return list({source.path: source for source in (*self.scene_files, *models)}.values())

    def description(self) -> dict[str, Any]:
        """The `model` entry of every JSON document."""
        return {
            "name": ", ".join(self.instances),
            "files": [{"path": source.path, "sha256": source.sha256} for source in self.sources],
        }
