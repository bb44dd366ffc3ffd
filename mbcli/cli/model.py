"""From model arguments and options to a finalized plant."""

import os
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import click

from mbcli.cli.options import joined
from mbcli.cli.output import outputs, refuse_inputs
from mbcli.cli.settings import Settings
from mbcli.errors import MbcliError, ModelError, ResourceError


@dataclass
class LoadedModel:
    """A finalized plant, its files, the settings, and the findings of the parse."""

    plant: object
    specs: list
    instances: list  # the name in the plant of each spec's model; it differs from the spec's if that was taken
    scene_files: list  # files of directives, scenarios and constraints
    config: object  # RunConfig
    diagnostics: object
    read: list  # ModelSpecs as their files have them: worlds whole
    filter_groups: object  # CollisionFilterGroups
    ground: object = None  # [m] height of the ground, None without one

    @property
    def sources(self):
        """Every file read that defines the model, once."""
        models = [source for spec in self.specs for source in spec.sources]
        return list({source.path: source for source in (*self.scene_files, *models)}.values())

    def description(self):
        """The `model` entry of every JSON document."""
        return {
            "name": ", ".join(self.instances),
            "files": [{"path": source.path, "sha256": source.sha256} for source in self.sources],
        }


def load(options, ctx, *, contact=False, ground=None, **plant_settings):
    """Reads the models and settings that the options name.

    Args:
        options: the values of options.model_options.
        ctx: click context; its verbosity decides which findings are printed.
        contact: whether geometries are registered, and so can touch.
        ground: [m] height of a ground, None for none.
        plant_settings: those of a MultibodyPlantConfig that a command's own options set; None: not set.
    """
    from mbcli.multibody.parsing import Parser
    from mbcli.multibody.plant import ApplyMultibodyPlantConfig, MultibodyPlant
    from mbcli.parsers.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    models, packages = given_models(options), read_packages(options)
    settings = Settings(models, packages, options, diagnostics)
    config = settings.config
    for name, value in plant_settings.items():
        if value is not None:
            setattr(config.plant_config, name, value)
    plant = MultibodyPlant(config.plant_config.time_step)
    ApplyMultibodyPlantConfig(config.plant_config, plant)
    if contact:
        _register_scene_graph(plant, config.scene_graph_config, ground)
    parser = Parser(plant, diagnostics=diagnostics, packages=packages)
    parser.SetAutoRenaming(True)
    if options.strict:
        parser.SetStrictParsing()
    for model in models:
        _add(parser, model, settings.scenarios.get(model), options, ctx)
    report(diagnostics.findings, ctx)
    for name in options.welds:
        _weld(plant, name)
    if options.weld_base:
        _weld_bases(plant)
    files = _add_constraints(plant, options, diagnostics)
    with _invalid_model(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # losses of joints that close loops are reported where they matter
        plant.Finalize()
    if options.loops == "error":
        _refuse_loops(plant)
    settings.apply_initial_positions(plant)
    instances = [plant.GetModelInstanceName(instance) for instance in parser.instances]
    loaded = LoadedModel(
        plant=plant,
        specs=parser.specs,
        instances=instances,
        scene_files=settings.files + parser.sources + files,
        config=config,
        diagnostics=diagnostics,
        read=parser.read,
        filter_groups=parser.GetCollisionFilterGroups(),
        ground=ground,
    )
    for output in outputs(ctx):
        refuse_inputs(output, [source.path for source in loaded.sources])
    return loaded


def given_models(options):
    """The MODEL arguments, and the scenario of --scenario-file."""
    models = [*options.models, *([options.scenario_file] if options.scenario_file is not None else [])]
    if not models:
        raise click.UsageError("Missing argument 'MODEL...'")
    return models


@contextmanager
def _invalid_model(place=""):
    """A RuntimeError of a plant is the model's fault here, not a bug."""
    try:
        yield
    except MbcliError:
        raise
    except RuntimeError as error:
        raise ModelError(f"{place}: error: {error}" if place else str(error)) from None


def _register_scene_graph(plant, config, ground):
    """Of a scene whose settings nobody gave the plant says how stiff geometries are, see contact_defaults."""
    from mbcli.geometry import DefaultProximityProperties, HalfSpace, SceneGraph, SceneGraphConfig
    from mbcli.math import RigidTransform
    from mbcli.multibody.parsing.add_geometries import FRICTION
    from mbcli.multibody.plant import CoulombFriction

    if config == SceneGraphConfig() and plant._contact_defaults == "allowance":
        allowance = DefaultProximityProperties(point_stiffness=None, hunt_crossley_dissipation=None)
        config = SceneGraphConfig(default_proximity_properties=allowance)
    plant.RegisterAsSourceForSceneGraph(SceneGraph(config))
    if ground is not None:
        X_WG, friction = RigidTransform([0.0, 0.0, ground]), CoulombFriction(*FRICTION)
        plant.RegisterCollisionGeometry(plant.world_body(), X_WG, HalfSpace(), "ground", friction)


def notes_on_contact(loaded):
    """Sentences on what was simplified for contact, or cannot touch."""
    plant = loaded.plant
    lines = list(plant._geometries().notes)
    if loaded.ground is not None and plant.num_collision_geometries() == 1:
        lines.append("the model has no collision geometry: nothing can touch the ground")
    if plant._asks_for_surfaces():
        lines.append("contact surfaces (hydroelastic) are not computed: those geometries touch at points too")
    return lines


def read_packages(options):
    """The PackageMap of the resource_options."""
    from mbcli.parsers.package_map import PackageMap

    packages = PackageMap(allow_outside=options.allow_outside, missing_meshes=options.missing_meshes)
    for entry in options.packages:
        name, equals, directory = entry.partition("=")
        if not equals or not name or not directory:
            raise click.UsageError(f"--package takes NAME=DIR, not '{entry}'")
        packages.add(name, directory)
    for directory in options.package_paths:
        packages.add_path(directory)
    packages.xacro_arguments = _xacro_arguments(options)
    return packages


def _xacro_arguments(options):
    """{name: value} of --xacro-arg, None without --xacro."""
    if not options.xacro:
        if options.xacro_args:
            raise click.UsageError("--xacro-arg needs --xacro")
        return None
    arguments = {}
    for entry in options.xacro_args:
        name, assigned, value = entry.partition(":=")
        if not assigned or not name:
            raise click.UsageError(f"--xacro-arg takes NAME:=VALUE, not '{entry}'")
        arguments[name] = value
    return arguments


def _add(parser, model, scenario, options, ctx):
    try:
        with _invalid_model("<stdin>" if model == "-" else model):
            if scenario is not None:
                parser.add_directives(scenario.directives)
            elif model == "-":
                content = sys.stdin.buffer.read()
                parser.AddModels(file_contents=content, file_type=options.input_format, name="<stdin>")
            else:
                parser.AddModels(model, file_type=options.input_format)
    except MbcliError as error:
        reported = set(str(error).splitlines())  # with --strict the warnings are among the errors
        report([f for f in parser.diagnostics.findings if str(f) not in reported], ctx)
        raise


def _refuse_loops(plant):
    lines = []
    for joint in plant._loop_joints:
        ends = f"'{joint.parent_body().name()}' and '{joint.child_body().name()}'"
        place = f"{joint._place}: " if joint._place is not None else ""
        lines.append(f"{place}error: joint '{joint.name()}' closes a loop between {ends}")
    if lines:
        raise ModelError("\n".join(lines))


def find_frame(plant, name, option):
    """A frame or body by its name, or by `instance::name` if several models have one of that name."""
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
            found = [f for f in plant._frames if f.name() == element]
            message += f", as {plant.GetModelInstanceName(found[0].model_instance())}::{element}"
        elif "did you mean" not in message:
            named = [f.name() for f in plant._frames if f.is_body_frame() or f._place is not None]
            message += f"; there are {joined(*named)}"
        raise click.UsageError(f"{option}: {message}") from None


def _weld(plant, name):
    """Welds a frame to the world; ModelError if its body is held already."""
    frame = find_frame(plant, name, "--weld")
    if frame.is_world_frame():
        raise click.UsageError("--weld: the world cannot be welded to itself")
    body = frame.body()
    inboard = {mobod.link: mobod for mobod in plant._forest()[0]}
    mobod = inboard[int(body.index())]
    while mobod.joint is not None:
        joint = plant._joints[mobod.joint]
        if mobod.inboard == 0:
            place = f"{joint._place}: error: " if joint._place is not None else ""
            raise ModelError(
                f"{place}joint '{joint.name()}' holds '{joint.child_body().name()}' at the world: to weld '{name}' too "
                "would close a loop"
            )
        mobod = inboard[mobod.inboard]
    with _invalid_model():
        plant.WeldFrames(plant.world_frame(), frame)


def _weld_bases(plant):
    """Welds what would float where its file puts it."""
    for mobod in plant._forest()[0]:
        if mobod.joint is None:
            body = plant._bodies[mobod.link]
            plant.WeldFrames(plant.world_frame(), body.body_frame(), plant.GetDefaultFreeBodyPose(body))


def _add_constraints(plant, options, diagnostics):
    """Adds those of --constraints; returns the files that were read."""
    path, files = options.constraints_file, []
    if path is None:
        return files
    from mbcli.multibody.parsing.constraints_file import add_constraints_of_file
    from mbcli.parsers.scenes.constraints_file import read_constraints

    if not os.path.exists(path):
        raise ResourceError(f"{path}: error: no such file")
    constraints = read_constraints(path, diagnostics, sources=files)
    if constraints is not None:
        add_constraints_of_file(plant, constraints, diagnostics)
    diagnostics.raise_if_errors(strict=options.strict)
    return files


def report(findings, ctx):
    """Prints the findings that are not errors, as far as the verbosity wants them; errors are raised elsewhere."""
    verbosity = (ctx.obj or {}).get("verbosity", 0)
    wanted = {1: ("warning", "note"), 0: ("warning",)}.get(verbosity, ())
    colors = {"warning": "yellow", "note": None}
    for finding in findings:
        if finding.severity in wanted:
            click.secho(str(finding), err=True, fg=colors[finding.severity])
