"""Parser: reads model files and adds their models to a plant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.collection_pause import paused_collection
from mbcli.common.coordinate_names import listed
from mbcli.common.number_text import counted
from mbcli.errors import ModelError
from mbcli.multibody.parsing.add_model import add_models
from mbcli.multibody.parsing.collision_filter_groups import CollisionFilterGroups
from mbcli.multibody.parsing.model_instances import top_models
from mbcli.multibody.parsing.package_map import PackageMap
from mbcli.multibody.plant.multibody_plant import MultibodyPlant
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.file_format import find_model_file, format_of
from mbcli.parsers.formats import FORMATS, OF_FILE_TYPE
from mbcli.parsers.load import load_models

if TYPE_CHECKING:
    import os

    from mbcli.geometry.scene_graph import SceneGraph
    from mbcli.multibody.parsing.process_directives import ModelInstanceInfo
    from mbcli.multibody.tree.index import ModelInstanceIndex
    from mbcli.parsers import package_map
    from mbcli.parsers.scenes.directives_spec import ModelDirectives
    from mbcli.parsers.spec import ModelSpec
    from mbcli.systems.diagram_builder import DiagramBuilder


class Parser:
    """Adds the models of files to a plant, one model instance per model.

    All findings of a file are collected; errors are raised once, as one ModelError with a line for each. Warnings stay
    in `diagnostics`.

    Args:
        plant: not finalized; or a DiagramBuilder, whose system named "plant" is taken.
        scene_graph: with which the plant is registered, if it is not; a string here is the prefix.
        model_name_prefix: put before instance names with `::`.
        builder: as in place of the plant.
    """

    def __init__(
        self,
        plant: MultibodyPlant | DiagramBuilder | None = None,
        scene_graph: SceneGraph | str | None = None,
        model_name_prefix: str = "",
        *,
        builder: DiagramBuilder | None = None,
        diagnostics: Diagnostics | None = None,
        packages: package_map.PackageMap | None = None,
    ) -> None:
        if isinstance(scene_graph, str):
            model_name_prefix, scene_graph = scene_graph, None
        if builder is None and hasattr(plant, "GetSystems"):
            plant, builder = None, plant
        self._builder = builder
        if builder is not None:
            plant = _plant_of(builder) if plant is None else plant
        if not isinstance(plant, (MultibodyPlant, type(None))):
            raise TypeError(f"Parser takes a MultibodyPlant or a DiagramBuilder, not {plant!r}")
        if not isinstance(model_name_prefix, str):
            raise TypeError(f"Parser: model_name_prefix is a string, not {model_name_prefix!r}")
        if scene_graph is not None:
            from mbcli.geometry.scene_graph import SceneGraph  # late: few callers bring one

            if not isinstance(scene_graph, SceneGraph):
                raise TypeError(f"Parser: scene_graph is a SceneGraph, not {scene_graph!r}")
            if plant is not None and not plant.geometry_source_is_registered():
                plant.RegisterAsSourceForSceneGraph(scene_graph)
            elif plant is not None and plant.scene_graph is not scene_graph:
                raise RuntimeError("Parser: the plant is registered with another scene graph")
        self._plant: Any = plant
        self._prefix = f"{model_name_prefix}::" if model_name_prefix else ""
        self._packages: Any = PackageMap() if packages is None else packages
        self._auto_renaming = False
        self._strict = False
        self.diagnostics = Diagnostics() if diagnostics is None else diagnostics
        self.diagnostics.leads_out = self._packages.leads_out
        self._filter_groups = CollisionFilterGroups()
        self.read: list[ModelSpec] = []  # ModelSpecs as files have them: worlds whole, models with those nested in them
        self.specs: list[ModelSpec] = []  # every ModelSpec added, in order, nested ones by themselves
        self.instances: list[Any] = []  # their model instances
        self.sources: list[Any] = []  # files of directives that were read (spec.SourceFile)

    def plant(self) -> MultibodyPlant:
        """The plant that models are added to."""
        return self._plant

    def scene_graph(self) -> SceneGraph | None:
        """The scene graph of the plant, None if it has none."""
        return self._plant.scene_graph

    def builder(self) -> DiagramBuilder | None:
        """The builder that was given, None if none was."""
        return self._builder

    def package_map(self) -> PackageMap:
        """The packages in which `package://` URLs are looked up."""
        return self._packages

    def SetAutoRenaming(self, value: bool) -> None:
        """Whether a model whose name is taken gets a suffix, instead of an error."""
        self._auto_renaming = bool(value)

    def GetAutoRenaming(self) -> bool:
        """Whether a model whose name is taken gets another one."""
        return self._auto_renaming

    def SetStrictParsing(self) -> None:
        """Warnings are errors from now on."""
        self._strict = True

    def GetCollisionFilterGroups(self) -> CollisionFilterGroups:
        """The groups of all files read, with scoped names."""
        return self._filter_groups

    def AddModels(
        self,
        file_name: str | os.PathLike[str] | None = None,
        *,
        url: str | None = None,
        file_contents: str | bytes | None = None,
        file_type: str | None = None,
        name: str | None = None,
    ) -> list[ModelInstanceIndex]:
        """Adds the models of a file, of a package:// URL, or of text with its type.

        Args:
          file_name: path of the file.
          url: package:// or file://, in place of a path.
          file_contents: the text, in place of a file.
          file_type: of the text: `.sdf`, `.urdf`, `.xml` (MJCF) or `.dmd.yaml`.
          name: that of the source in findings; default: the path.

        Returns:
          Their model instances.

        Raises:
          ModelError, ResourceError: one line for each error, with its place; then nothing has been added.
          RuntimeError: after Finalize().

        Example:
          >>> arm = MultibodyPlant(0.001)
          >>> (instance,) = Parser(arm).AddModels("sample_models/double_pendulum.urdf")
          >>> arm.GetModelInstanceName(instance)
          'double_pendulum'
        """
        place = url if file_name is None else file_name
        source: str | bytes
        if file_contents is not None:
            source = file_contents.encode() if isinstance(file_contents, str) else file_contents
        elif place is not None:
            source = find_model_file(place, self._packages)
        else:
            raise TypeError("AddModels takes file_name, url or file_contents")
        input_format = (file_type or "").lstrip(".") or format_of(source, name or source)
        input_format = OF_FILE_TYPE.get(input_format, input_format)
        if input_format in FORMATS and FORMATS[input_format].IS_SCENE:
            from mbcli.parsers.scenes.directives import read_directives  # late: few models are directives

            directives = read_directives(source, self.diagnostics, name=name, sources=self.sources)
            infos: list[Any] = self.add_directives(directives)
            return [info.model_instance for info in infos]
        specs = load_models(
            source, input_format=input_format, packages=self._packages, diagnostics=self.diagnostics, name=name
        )
        self.diagnostics.raise_if_errors(strict=self._strict)
        names = self._instance_names(top_models(specs))
        for spec in specs:
            self._tell_gravity(spec)
            self._tell_friction(spec)
        added = []
        self.read += specs
        with paused_collection():
            for spec in specs:
                count = len(top_models([spec]))
                added += add_models(self._plant, spec, names[:count])
                del names[:count]
        gazebos = self._plant.settings.contact_defaults != "drake"  # Drake passes over <self_collide>
        for instance, spec in added:
            self._filter_groups.add_from_model(self._plant.GetModelInstanceName(instance), spec, gazebos=gazebos)
            self.specs.append(spec)
            self.instances.append(instance)
        self._filter_groups.apply(self._plant)
        return [instance for instance, _ in added]

    def _tell_gravity(self, spec):
        gravity = self._plant.gravity_field().gravity_vector().tolist()
        if spec.gravity is not None and list(spec.gravity) != gravity:
            message = f"the model sets the gravity of the whole plant to {list(spec.gravity)}, which was {gravity}"
            self.diagnostics.note("GRAVITY_SET", message, place=spec.place)

    def _tell_friction(self, spec: ModelSpec) -> None:
        """A note of what acts here and not in Drake."""
        for model in () if FORMATS[spec.format].DRY_FRICTION else top_models([spec]):
            names = [joint.name for joint in model.joints if any(axis.friction for axis in joint.axes)]
            if names:
                joints = counted(len(names), "joint")
                message = f"the dry friction of {joints} acts in steps of a discrete plant: {listed(names)}"
                self.diagnostics.note("DRY_FRICTION", message, place=model.place)

    def add_directives(self, directives: ModelDirectives | None) -> list[ModelInstanceInfo]:
        """Applies `ModelDirectives`, None if they could not be read; returns a ModelInstanceInfo for each model.

        Raises ModelError or ResourceError; then nothing has been added.
        """
        from mbcli.multibody.parsing.process_directives import plan_directives
        from mbcli.parsers.scenes.directives_spec import ModelDirectives

        if directives is None:
            directives = ModelDirectives()
        plan = plan_directives(
            directives,
            self._plant,
            self._packages,
            self.diagnostics,
            namespace=self._prefix.removesuffix("::"),
            sources=self.sources,
            filter_groups=self._filter_groups,
        )
        self.diagnostics.raise_if_errors(strict=self._strict)
        with paused_collection():
            infos = plan.apply()
        self._filter_groups.apply(self._plant)
        named = dict(plan.added)
        self.read += [named[info.model_name] for info in infos]
        for name, spec in plan.added:
            self.specs.append(spec)
            self.instances.append(self._plant.GetModelInstanceByName(name))
        return infos

    def AddModelsFromString(self, file_contents: str, file_type: str) -> list[ModelInstanceIndex]:
        """As AddModels(), of a text in place of a file.

        Args:
          file_contents: the text.
          file_type: "urdf", "sdf", "xml" or "dmd.yaml".

        Returns:
          The model instances.

        Raises:
          ModelError, ResourceError: as of AddModels().

        Example:
          >>> frame = "<sdf version='1.9'><model name='table'><link name='top'/></model></sdf>"
          >>> len(Parser(MultibodyPlant(0.001)).AddModelsFromString(frame, "sdf"))
          1
        """
        return self.AddModels(file_contents=file_contents, file_type=file_type)

    def AddModelsFromUrl(self, url: str) -> list[ModelInstanceIndex]:
        """As AddModels(), of a file named by a URL.

        Args:
          url: package:// or file://.

        Returns:
          The model instances.

        Raises:
          ModelError, ResourceError: as of AddModels().

        Example:
          >>> parser = Parser(MultibodyPlant(0.001))
          >>> parser.package_map().Add("samples", "sample_models")
          >>> len(parser.AddModelsFromUrl("package://samples/double_pendulum.urdf"))
          1
        """
        return self.AddModels(url=url)

    def _instance_names(self, specs):
        """A new name for the instance of each model; ModelError if one is taken and models are not renamed."""
        names = []
        for spec in specs:
            name = candidate = self._prefix + spec.name
            n = 0
            while candidate in names or self._plant.HasModelInstanceNamed(candidate):
                if not self._auto_renaming:
                    raise ModelError(
                        f"{spec.place}: error: model instance names must be unique, there is '{name}' already"
                    )
                n += 1
                candidate = f"{name}_{n}"
            names.append(candidate)
        return names


def _plant_of(builder: DiagramBuilder) -> MultibodyPlant:
    """The plant of a builder: of that name, or the only one. RuntimeError if there is none."""
    plants = [system for system in builder.GetSystems() if isinstance(system, MultibodyPlant)]
    named = [plant for plant in plants if plant.get_name() == "plant"]
    if len(named or plants) != 1:
        raise RuntimeError(f"Parser: the builder has {len(plants)} plants, none or several of them named 'plant'")
    return (named or plants)[0]
