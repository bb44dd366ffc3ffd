"""From files and settings to a finalized plant."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import element_named, listed
from mbcli.common.fast_dataclass import dataclass
from mbcli.common.setting import complete, documented, settings_of
from mbcli.config.contact_laws import SOFT_LAWS
from mbcli.config.scene_graph_config import SceneGraphConfig
from mbcli.errors import ArgumentError, MbcliError, ModelError, ResourceError
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.postures import Posture, posture_positions, postures_of
from mbcli.models.settings import Settings
from mbcli.multibody.core.settings import set_time_step
from mbcli.multibody.parsing import Parser
from mbcli.multibody.parsing.base_welds import weld_bases, weld_massless_bases
from mbcli.multibody.plant import ApplyMultibodyPlantConfig, MultibodyPlant
from mbcli.multibody.tree import ModelInstanceIndex
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load_arguments import AllLoadArguments, HoldArguments, LoadArguments
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.scenes.plant_config import RunConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias, Unpack

    from mbcli.geometry import HeightField
    from mbcli.multibody.tree import JointActuator
    from mbcli.multibody.tree.frame import Frame
    from mbcli.parsers.diagnostics import Diagnostic
    from mbcli.parsers.scenes.scenario import Scenario
    from mbcli.parsers.spec import ModelSpec, SemanticSpec, SourceFile


TERRAIN_COLOR = [0.55, 0.6, 0.5, 1.0]


@dataclass(frozen=True)
class ModelText:
    """A model that is not a file: its content, and the name that findings give it."""

    content: bytes
    name: str = "<text>"

    def __str__(self) -> str:
        return self.name


if TYPE_CHECKING:
    ModelSource: TypeAlias = str | os.PathLike[str] | ModelText
    Models: TypeAlias = ModelSource | Iterable[ModelSource]


def as_loaded(model: LoadedModel | MultibodyPlant | Models) -> LoadedModel:
    """A LoadedModel as it is, the one of a finalized plant, or the one of files, without contact."""
    if isinstance(model, LoadedModel):
        return model
    if not isinstance(model, MultibodyPlant):
        return load_model(model)
    if not model.is_finalized():
        raise ArgumentError("the plant must be finalized")
    instances = [model.GetModelInstanceName(ModelInstanceIndex(k)) for k in range(2, model.num_model_instances())]
    return LoadedModel(model, instances=instances, config=RunConfig())


def load_model(models: Models, **settings: Unpack[AllLoadArguments]) -> LoadedModel:
    """Reads model files and builds one finalized plant of them.

    Args:
        models: a file (URDF, SDFormat, MJCF, model directives, a scenario), a `package://` URI or a ModelText, or
            several. Each is a model instance, renamed if names collide.
        {settings}

    Raises:
        ArgumentError, ModelError, ResourceError: one line for each error, with its place in the file.

    Returns:
        The LoadedModel, whose `plant` is finalized.

    Example:
        >>> mbcli.load_model("sample_models/double_pendulum.urdf")
        <LoadedModel double_pendulum: 2 positions, 2 velocities, 1 actuators, steps of 0.001 s>
    """
    models = [models] if isinstance(models, (str, os.PathLike, ModelText)) else list(models)
    models = [model if isinstance(model, ModelText) else os.fspath(model) for model in models]
    if not models:
        raise ArgumentError("at least one model is needed")
    given = complete(AllLoadArguments, settings, "load_model")
    contact, strict, file_type, on_findings = (
        given[name] for name in ("contact", "strict", "file_type", "on_findings")
    )
    if given["terrain"] is not None and given["ground"] is not None:
        raise ArgumentError(f"{argument('ground')}: the terrain stands in the place of a ground")
    diagnostics, package_map = Diagnostics(), as_package_map(given["packages"])
    diagnostics.leads_out = package_map.leads_out
    of_settings, of_elements = _split(given["overrides"])
    of_files = Settings(
        models,
        package_map,
        diagnostics,
        file_type=file_type,
        config=given["config"],
        scenario_name=given["scenario_name"],
        scenario_text=given["scenario_text"],
        overrides=of_settings,
        strict=strict,
    )
    config = of_files.config
    _choose(config, given)
    set_hold(config, *(given[name] for name in settings_of(HoldArguments)))
    diagnostics.softness_acts = config.plant_config.discrete_contact_approximation in SOFT_LAWS
    plant = _started_plant(config, not strict and package_map.missing_meshes != "error")
    if contact:
        register_scene_graph(plant, config.scene_graph_config, given["ground"], given["terrain"])
    parser = _parser(plant, diagnostics, package_map, strict)
    for model, scenario in zip(models, of_files.scenarios, strict=True):
        _add(parser, model, scenario, file_type, on_findings)
    semantics = _read_srdf(given["srdf"], parser.specs, diagnostics, on_findings, strict)
    on_findings(diagnostics.findings)
    weld = given["weld"]
    _weld_all(plant, [weld] if isinstance(weld, str) else weld, given["weld_base"])
    fixed = _fix_massless_links(plant, diagnostics)
    if fixed:
        on_findings(fixed)
    if given["dt"] is None and of_files.leave_the_step_to_models:
        _take_step(plant, config, parser.read)
    if given["gravity"] is not None:
        plant.mutable_gravity_field().set_gravity_vector(list(given["gravity"]))
    files = _add_constraints(plant, given["constraints"], diagnostics, strict)
    commanded = {} if given["actuators"] is not None else _add_commanded(plant, parser, diagnostics, on_findings)
    added = _add_actuators(plant, config, parser, given["actuators"])
    _finalize(plant, given["loops"])
    found = _note_length_ranges(plant, diagnostics)
    if found:
        on_findings(found)
    plant.asks_to_be_held = config.hold.is_on or bool(config.drive)
    of_files.apply_initial_positions(plant)
    kinds = commanded
    if given["actuators"] not in (None, "none"):
        kinds = dict.fromkeys(plant.elements.actuators, given["actuators"])
    if kinds:
        from mbcli.models.added_actuators import make

        make(plant, kinds, given["kp"], given["kd"])
    postures = postures_of(parser.specs, parser.instances) + _apply_semantics(plant, semantics, parser)
    left_out = _leave_out_self_contact(plant, config.self_contact, postures, given["on_mesh"]) if contact else []
    loaded = LoadedModel(
        plant=plant,
        specs=parser.specs,
        instances=[plant.GetModelInstanceName(instance) for instance in parser.instances],
        scene_files=of_files.files + parser.sources + files + [s for semantic in semantics for s in semantic.sources],
        config=config,
        diagnostics=diagnostics,
        read=parser.read,
        filter_groups=parser.GetCollisionFilterGroups(),
        ground=given["ground"] if given["terrain"] is None else 0.0,
        terrain=given["terrain"],
        postures=postures,
        added_actuators=added,
        commanded=[actuator.name() for actuator in commanded],
        actuators=given["actuators"],
        self_contact=config.self_contact,
        without_contact=left_out,
    )
    if of_elements:
        from mbcli.models.parameter_assignments import set_parameters

        loaded.parameters = set_parameters(loaded, of_elements)
    return loaded


documented(load_model, HoldArguments, LoadArguments)

OF_PLANT = {  # settings of the plant: their names there
    "dt": "time_step",
    "contact_model": "contact_model",
    "contact_approximation": "discrete_contact_approximation",
    "sleep": "sleep_tolerance",
}


def _choose(config: RunConfig, given: Mapping[str, Any]) -> None:
    """Puts arguments that were given, None where not, in the place of settings."""
    for name, own in OF_PLANT.items():
        if given[name] is not None:
            setattr(config.plant_config, own, given[name])
    for name in ("decompose", "self_contact"):
        if given[name] is not None:
            setattr(config, name, given[name])


def _started_plant(config: RunConfig, leaves_out_broken_meshes: bool) -> MultibodyPlant:
    plant = MultibodyPlant(config.plant_config.time_step)
    ApplyMultibodyPlantConfig(config.plant_config, plant)
    plant.settings.decompose_meshes = config.decompose
    plant.settings.leaves_out_broken_meshes = leaves_out_broken_meshes
    return plant


def _parser(plant: MultibodyPlant, diagnostics: Diagnostics, packages: PackageMap, strict: bool) -> Parser:
    parser = Parser(plant, diagnostics=diagnostics, packages=packages)
    parser.SetAutoRenaming(True)
    if strict:
        parser.SetStrictParsing()
    return parser


def _weld_all(plant: MultibodyPlant, names: Iterable[str], bases: bool) -> None:
    for name in names:
        _weld(plant, name)
    if bases:
        weld_bases(plant)


def _fix_massless_links(plant: MultibodyPlant, diagnostics: Diagnostics) -> Sequence[Diagnostic]:
    """Holds links without mass and joint at the world; returns what is to be said of them."""
    welded = weld_massless_bases(plant)
    if not welded:
        return ()
    first, more = welded[0], f" (and {len(welded) - 1} more links)" if len(welded) > 1 else ""
    message = f'link "{first.name()}" has no mass and no joint: it is fixed to the world{more}'
    diagnostics.note("MASSLESS_LINK_FIXED", message, place=first.place)
    return diagnostics.findings[-1:]


def _note_length_ranges(plant: MultibodyPlant, diagnostics: Diagnostics) -> Sequence[Diagnostic]:
    """Tells which ranges of muscles were found; returns what is to be said of them."""
    count = len(diagnostics.findings)
    for actuator in plant.elements.transmission_actuators:
        lengths = actuator.law().lengths
        if actuator.lacks_lengths and lengths is not None:
            text = f'lengthrange="{lengths[0]:.6g} {lengths[1]:.6g}"'
            message = (
                f'muscle "{actuator.name()}" has no lengthrange: {text} is what limits leave it, which MuJoCo finds '
            )
            message += "to about its tolrange; this attribute in the file makes both engines the same"
            diagnostics.note("LENGTH_RANGE_FOUND", message, place=actuator.place)
    return diagnostics.findings[count:]


def _finalize(plant: MultibodyPlant, loops: str) -> None:
    with _invalid_model(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # losses of joints that close loops are reported where they matter
        plant.Finalize()
    if loops == "error":
        _refuse_loops(plant)


def _split(overrides: Iterable[str] | Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """PATH=VALUE texts of settings, and those of parameters of elements."""
    if not overrides:
        return [], []
    from mbcli.models.parameter_assignments import split_overrides  # late: what all elements can have set

    return split_overrides(overrides)


def as_package_map(packages: PackageMap | Mapping[str, str | os.PathLike[str]] | None) -> PackageMap:
    """A PackageMap as it is, or the one of {name: folder}."""
    if isinstance(packages, PackageMap):
        return packages
    result = PackageMap()
    for name, folder in (packages or {}).items():
        result.add(name, os.fspath(folder))
    return result


@contextmanager
def _invalid_model(place: str = "") -> Iterator[None]:
    """A RuntimeError of a plant is the model's fault here, not a bug."""
    try:
        yield
    except MbcliError:
        raise
    except RuntimeError as error:
        raise ModelError(f"{place}: error: {error}" if place else str(error)) from None


def register_scene_graph(
    plant: MultibodyPlant, config: SceneGraphConfig, ground: float | None, terrain: HeightField | None = None
) -> None:
    """Gives a plant the geometries that it is about to read, and a ground at a height [m] or a terrain unless that is
    None.

    These are rigid: they have contact surfaces with what is compliant.
    Of a scene whose settings nobody gave the plant says how stiff geometries are, see contact_defaults.
    """
    from mbcli.geometry import (
        AddContactMaterial,
        AddRigidHydroelasticProperties,
        DefaultProximityProperties,
        HalfSpace,
        ProximityProperties,
        SceneGraph,
    )
    from mbcli.math import RigidTransform
    from mbcli.multibody.parsing.add_geometries import FRICTION
    from mbcli.multibody.plant import CoulombFriction

    if config == SceneGraphConfig() and plant.settings.contact_defaults == "allowance":
        allowance = DefaultProximityProperties(
            point_stiffness=None, hunt_crossley_dissipation=None, relaxation_time=None
        )
        config = SceneGraphConfig(default_proximity_properties=allowance)
    plant.RegisterAsSourceForSceneGraph(SceneGraph(config))
    if ground is None and terrain is None:
        return
    properties = ProximityProperties()
    AddContactMaterial(properties, friction=CoulombFriction(*FRICTION))
    AddRigidHydroelasticProperties(properties)
    if ground is not None:
        X_WG = RigidTransform([0.0, 0.0, ground])
        plant.RegisterCollisionGeometry(plant.world_body(), X_WG, HalfSpace(), "ground", properties)
    if terrain is not None:
        register_terrain(plant, terrain, properties)


def register_terrain(plant: MultibodyPlant, terrain: HeightField, material: Any) -> None:
    """Puts a height field into World, where it is seen too; material: ProximityProperties or CoulombFriction."""
    from mbcli.math import RigidTransform

    world, X_WG = plant.world_body(), RigidTransform()
    plant.RegisterVisualGeometry(world, X_WG, terrain, "terrain", TERRAIN_COLOR)
    plant.RegisterCollisionGeometry(world, X_WG, terrain, "terrain", material)


def _add(
    parser: Parser,
    model: ModelSource,
    scenario: Scenario | None,
    file_type: str | None,
    on_findings: Callable[[Sequence[Diagnostic]], object],
) -> None:
    try:
        with _invalid_model(str(model)):
            if scenario is not None:
                parser.add_directives(scenario.directives)
            elif isinstance(model, ModelText):
                parser.AddModels(file_contents=model.content, file_type=file_type, name=model.name)
            else:
                parser.AddModels(model, file_type=file_type)
    except MbcliError as error:
        reported = {id(finding) for finding in getattr(error, "fatal", ())}  # with `strict` warnings, too
        on_findings([f for f in parser.diagnostics.findings if id(f) not in reported])
        raise


def _read_srdf(
    srdf: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    specs: Sequence[ModelSpec],
    diagnostics: Diagnostics,
    on_findings: Callable[[Sequence[Diagnostic]], object],
    strict: bool,
) -> list[SemanticSpec]:
    """The SemanticSpecs of the files."""
    paths = [srdf] if isinstance(srdf, (str, os.PathLike)) else list(srdf)
    if not paths:
        return []
    from mbcli.parsers.srdf.read_srdf import read_srdf

    for path in paths:
        diagnostics.is_named(os.fspath(path))
    read = [read_srdf(os.fspath(path), specs, diagnostics) for path in paths]
    if diagnostics.errors or (strict and diagnostics.warnings):
        on_findings([f for f in diagnostics.findings if f.severity == "note"])
    diagnostics.raise_if_errors(strict=strict)
    return [semantics for semantics in read if semantics is not None]


def _apply_semantics(plant: MultibodyPlant, semantics: Iterable[SemanticSpec], parser: Parser) -> list[Posture]:
    """Filters the links of SRDF files; returns their postures."""
    from mbcli.multibody.parsing.filter_links import filter_links

    postures = []
    for semantic in semantics:
        for spec, instance in zip(parser.specs, parser.instances, strict=True):
            if spec.name == semantic.model:
                filter_links(plant, instance, semantic.filtered_pairs)
                postures += [Posture(posture, spec, instance) for posture in semantic.postures]
    return postures


def set_hold(
    config: RunConfig,
    hold: bool | str | None = None,
    kp: float | None = None,
    kd: float | None = None,
    drive: Mapping[str, float] | None = None,
) -> None:
    """Puts what load_model() was told about held and driven joints into the settings. ArgumentError if it is wrong."""
    posture = hold if isinstance(hold, str) else None
    given = {"posture": posture, "enabled": None if hold is None else bool(hold), "kp": kp, "kd": kd}
    if hold is False and (kp is not None or kd is not None):
        raise ArgumentError(f"{argument('kp')} and {argument('kd')} need {argument('hold')}")
    try:
        for name, value in given.items():
            if value is not None:
                setattr(config.hold, name, value)
        if drive is not None:
            config.drive = dict(drive)
    except ModelError as error:
        raise ArgumentError(str(error)) from None


def _add_actuators(plant: MultibodyPlant, config: RunConfig, parser: Parser, kind: str | None) -> list[str]:
    """Actuators for joints that are held or driven, or for all (kind); returns the names of those that had none."""
    if kind is None and not config.hold.is_on and not config.drive:
        return []
    from mbcli.models.added_actuators import add_actuators, leave_out_actuators

    if kind == "none":
        leave_out_actuators(plant)

    all_joints = config.hold.is_on or kind not in (None, "none")
    return add_actuators(plant, all_joints, config.drive, _efforts(plant, parser), passive_hinges=kind is None)


def _efforts(plant: MultibodyPlant, parser: Parser) -> dict[tuple[str, str], float]:
    """{(model instance, joint): its effort [N m or N]} of the files."""
    return {
        (plant.GetModelInstanceName(instance), joint.name): joint.axes[0].effort
        for spec, instance in zip(parser.specs, parser.instances, strict=True)
        for joint in spec.joints
        if joint.axes
    }


def _add_commanded(
    plant: MultibodyPlant,
    parser: Parser,
    diagnostics: Diagnostics,
    on_findings: Callable[[Sequence[Diagnostic]], object],
) -> dict[JointActuator, str]:
    """Actuators that files state by command interfaces, and the kind of each."""
    if not any(spec.commanded for spec in parser.specs):
        return {}
    from mbcli.models.command_interfaces import add_commanded

    count = len(diagnostics.findings)
    added = add_commanded(plant, parser, _efforts(plant, parser), diagnostics)
    on_findings(diagnostics.findings[count:])
    return added


def _take_step(plant: MultibodyPlant, config: RunConfig, specs: Iterable[ModelSpec]) -> None:
    """The step that worlds ask for, the smallest of several, as the default of the run."""
    steps = [spec.time_step for spec in specs if spec.time_step is not None]
    if steps:
        config.plant_config.time_step = min(steps)
        set_time_step(plant, min(steps))


def _leave_out_self_contact(
    plant: MultibodyPlant, mode: str, postures: Iterable[Posture], on_mesh: Callable[[int, int], object]
) -> list[tuple[str, str]]:
    """Filters the contact that bodies of one mechanism shall not have; returns the pairs of names of `auto`.

    Meshes are read for that, unless nothing can touch.
    """
    from mbcli.models.self_contact import leave_out_self_contact

    default = plant.GetDefaultPositions()
    in_postures = (posture_positions(plant, [posture], default) for posture in postures)

    try:
        if not plant.meets_contact():
            return []
        plant.compiled_geometries(on_mesh=on_mesh)
    except MbcliError:
        return []  # whoever computes contact reports it
    return leave_out_self_contact(plant, mode, in_postures)


def _refuse_loops(plant: MultibodyPlant) -> None:
    lines = []
    for joint in plant.elements.loop_joints:
        ends = f"'{joint.parent_body().name()}' and '{joint.child_body().name()}'"
        place = f"{joint.place}: " if joint.place is not None else ""
        lines.append(f"{place}error: joint '{joint.name()}' closes a loop between {ends}")
    if lines:
        raise ModelError("\n".join(lines))


def find_frame(plant: MultibodyPlant, name: str, wanted_by: str) -> Frame:
    """A frame or body by any unambiguous ending of its name, `instance::name` if several models have one of that name.

    wanted_by: the argument that names it. Raises ArgumentError.
    """
    instance, scoped, element = name.rpartition("::")
    if scoped and plant.HasModelInstanceNamed(instance):
        where = plant.GetModelInstanceByName(instance)
    else:
        where, element = None, name
    try:
        return plant.GetFrameByName(element, where)
    except RuntimeError as error:
        message = str(error)
        if "name the model instance" in message:
            found = [f for f in plant.elements.frames if f.name() == element]
            message += f", as {plant.GetModelInstanceName(found[0].model_instance())}::{element}"
            raise ArgumentError(f"{wanted_by}: {message}") from None
    stated = [f for f in plant.elements.frames if f.is_body_frame() or f.place is not None]
    try:
        return element_named(name, stated, "frame")
    except LookupError as error:
        raise ArgumentError(f"{wanted_by}: {error.args[0]}") from None


def _weld(plant: MultibodyPlant, name: str) -> None:
    """Welds a frame to the world; ModelError if its body is held already."""
    frame = find_frame(plant, name, argument("weld"))
    if frame.is_world_frame():
        raise ArgumentError(
            f"{argument('weld')}: the world cannot be welded to itself; {argument('weld_base')} welds the base"
        )
    body = frame.body()
    inboard = {mobod.link: mobod for mobod in plant.forest()[0]}
    mobod = inboard[int(body.index())]
    while mobod.joint is not None:
        joint = plant.elements.joints[mobod.joint]
        if mobod.inboard == 0:
            place = f"{joint.place}: error: " if joint.place is not None else ""
            raise ModelError(
                f"{place}joint '{joint.name()}' holds '{joint.child_body().name()}' at the world: to weld '{name}' too "
                "would close a loop"
            )
        mobod = inboard[mobod.inboard]
    with _invalid_model():
        plant.WeldFrames(plant.world_frame(), frame)


def _add_constraints(
    plant: MultibodyPlant, path: str | os.PathLike[str] | None, diagnostics: Diagnostics, strict: bool
) -> list[SourceFile]:
    """Adds those of a file; returns the files that were read."""
    if path is None:
        return []
    from mbcli.multibody.parsing.constraints_file import add_constraints_of_file
    from mbcli.parsers.scenes.constraints_file import read_constraints

    files: list[SourceFile] = []
    if not os.path.exists(path):
        raise ResourceError(f"{path}: error: no such file")
    constraints = read_constraints(os.fspath(path), diagnostics, sources=files)
    if constraints is not None:
        add_constraints_of_file(plant, constraints, diagnostics)
    diagnostics.raise_if_errors(strict=strict)
    return files


def note_on_self_contact(loaded: LoadedModel) -> str | None:
    """A sentence on the pairs of bodies that touch and are let through each other; None if there are none."""
    from mbcli.models.self_contact import pairs_in_words

    pairs = loaded.without_contact
    if not pairs:
        return None
    return (
        f"contact is left out between bodies of one robot that meet as it is drawn: {pairs_in_words(pairs)}; "
        f"{argument('self_contact', 'all')} keeps it"
    )


def notes_on_contact(loaded: LoadedModel) -> list[str]:
    """Sentences on what was simplified for contact, or cannot touch."""
    plant = loaded.plant
    lines = list(plant.compiled_geometries().notes) if plant.meets_contact() else []
    if loaded.ground is not None and plant.num_collision_geometries() == 1:
        lines.append("the model has no collision geometry: nothing can touch the ground")
    pulls = [a.name() for a in plant.elements.transmission_actuators if a.transmission().kind == "contact"]
    if pulls and not plant.meets_contact():
        lines.append(f"nothing can touch: adhesion does not act: {listed(pulls)}")
    return lines
