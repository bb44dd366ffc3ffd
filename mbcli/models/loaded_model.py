"""A plant with the files that it was read from."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from mbcli.common.fast_dataclass import dataclass
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.plant_config import RunConfig

if TYPE_CHECKING:
    from mbcli.geometry.shapes import HeightField
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
        ground: [m] height of the ground, 0 where a terrain is, None without one.
        terrain: HeightField in the place of the ground.
        postures: Posture of every named state in the files of the models.
        commanded: names of the actuators that follow from command interfaces of files.
        added_actuators: names of the joints that got an actuator, to be held or driven, or as load_model() was told.
        actuators: the kind that all joints were given, None for those of the files.
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
    terrain: HeightField | None = None
    postures: list[Posture] = field(default_factory=list)
    added_actuators: list[str] = field(default_factory=list)
    commanded: list[str] = field(default_factory=list)
    actuators: str | None = None
    self_contact: str = "all"
    without_contact: list[tuple[str, str]] = field(default_factory=list)
    parameters: list[ParameterValue] = field(default_factory=list)

    @property
    def sources(self) -> list[SourceFile]:
        """Every file read that defines the model, once."""
        models = [source for spec in self.specs for source in spec.sources]
        return list({source.path: source for source in (*self.scene_files, *models)}.values())

    def __repr__(self) -> str:
        plant = self.plant
        name = ", ".join(self.instances) or "a plant"
        step = f"steps of {plant.time_step():g} s" if plant.is_discrete() else "continuous"
        counts = f"{plant.num_positions()} positions, {plant.num_velocities()} velocities"
        return f"<LoadedModel {name}: {counts}, {plant.num_actuators()} actuators, {step}>"

    def _repr_html_(self) -> str:
        """Its joints, for notebooks."""
        import html  # late: 2 ms of each start of a command

        plant = self.plant
        lines = [f"<p><code>{html.escape(repr(self))}</code></p>"]
        lines.append("<table><tr><th>joint</th><th>type</th><th>between</th><th>positions</th></tr>")
        names = plant.GetPositionNames()
        for joint in plant.moving_joints():
            first = joint.position_start()
            own = ", ".join(names[first : first + joint.num_positions()])
            between = f"{joint.parent_body().name()}, {joint.child_body().name()}"
            cells = "".join(f"<td>{html.escape(x)}</td>" for x in (joint.name(), joint.type_name(), between, own))
            lines.append(f"<tr>{cells}</tr>")
        return "\n".join([*lines, "</table>"])

    def description(self) -> dict[str, Any]:
        """The `model` entry of every JSON document."""
        return {
            "name": ", ".join(self.instances),
            "files": [{"path": source.path, "sha256": source.sha256} for source in self.sources],
        }
