"""SDFormat files to `ModelSpec`: versions 1.2 to 1.12, with nested and included models, worlds, Drake's extensions.

If the format leaves a choice, or Drake differs from it, this reader follows Drake: a link without
inertial has mass 1 and unit inertia, a joint has an actuator unless its effort limit is 0, the `drake:joint`
elements come after all `joint` elements. Elements of a file that nothing here uses are reported.

Reading has two steps: `sdf_scopes` finds the models and their frames, then the functions here read their
elements.

Format: http://sdformat.org/spec
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mbcli.parsers.checks import check_model
from mbcli.parsers.frame_names import MODEL, SEPARATOR, WORLD
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.sdf.sdf_actuators import check_followers, read_actuators
from mbcli.parsers.sdf.sdf_deformables import HOLD, is_deformable, read_deformable, references_to_deformables
from mbcli.parsers.sdf.sdf_filter_groups import find_groups, read_filter_groups
from mbcli.parsers.sdf.sdf_force_elements import read_force_elements
from mbcli.parsers.sdf.sdf_includes import Includes
from mbcli.parsers.sdf.sdf_joints import JOINTS_BETWEEN_FRAMES, read_joints
from mbcli.parsers.sdf.sdf_known import FOREIGN, KNOWN
from mbcli.parsers.sdf.sdf_links import read_link, read_velocity_decays
from mbcli.parsers.sdf.sdf_loops import connect_named_frames
from mbcli.parsers.sdf.sdf_scopes import ForeignModel, Gathering, Model, TooManyElements, gravity_of_world, zero_poses
from mbcli.parsers.sdf.sdf_self_contact import self_contact_group
from mbcli.parsers.sdf.sdf_unused_values import check_unused_values
from mbcli.parsers.sdf.sdf_values import child_boolean, claim_name
from mbcli.parsers.sdf.sdf_world import step_of_world, wind_of_world
from mbcli.parsers.spec import FrameSpec, ModelSpec
from mbcli.parsers.xml_node import quoted
from mbcli.parsers.xml_source import read_xml, report_unread

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.sdf.sdf_scopes import Element, File
    from mbcli.parsers.spec import CollisionFilterGroupSpec, JointSpec, LinkSpec, PluginSpec, SensorSpec
    from mbcli.parsers.xml_node import Node


def read_sdf(
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    *,
    packages: PackageMap | None = None,
    name: str | None = None,
) -> tuple[ModelSpec, ...]:
    """The models of an SDFormat file, a tuple of `ModelSpec` in the order of the file; of a world file that world.

    source: a path, or the bytes of a document (whose relative URIs start at the working directory).
    packages: `PackageMap` for the URIs of meshes and includes. name: that of the file in places; default: the path as
    given.

    Nothing is raised for faults in the file: the findings are in `diagnostics`, and if there is an
    error among them, the tuple is empty.
    """
    findings_before, errors_before = len(diagnostics.findings), diagnostics.counts()["error"]
    root = read_xml(source, diagnostics, name=name)
    if root is None:
        return ()
    path = None if isinstance(source, bytes) else os.fspath(source)
    includes = Includes(packages or PackageMap(), diagnostics, path)
    file = includes.open(root, os.path.dirname(path) if path else os.curdir)
    if file is None:
        return ()
    try:
        models = _read_root(file, includes)
    except TooManyElements:
        diagnostics.error("ELEMENT_INVALID", "the includes multiply to more elements than are allowed", root)
        return ()
    if includes.failed:
        return ()  # without what is included the rest is full of names that nothing has
    for read in (file, *includes.files.values()):
        if read is not None:
            read.meshes.report_missing(diagnostics)
            check_unused_values(read.root)
            report_unread(read.root, diagnostics, KNOWN, FOREIGN)
    for model in models:
        check_model(model, diagnostics)
    if includes.count:  # a file that is included twice has the same findings twice
        diagnostics.findings[findings_before:] = dict.fromkeys(diagnostics.findings[findings_before:])
    return () if diagnostics.counts()["error"] > errors_before else tuple(models)


# ------------------------------------------------------------------------------------- files and worlds


def _read_root(file: File, includes: Includes) -> Sequence[ModelSpec]:
    """The `ModelSpec`s of the elements at the top of a file."""
    root = file.root
    worlds = root.children("world")
    nodes = root.children("model", "include")
    if worlds and (nodes or len(worlds) > 1):
        message = "a file must have either models or one world"
        related = [node.place for node in (*worlds, *nodes)]
        root.diagnostics.error("ELEMENT_INVALID", message, worlds[-1], related=related)
        root.ignore("settled")
        return ()
    if not nodes and not worlds:
        root.diagnostics.error("ELEMENT_MISSING", "the file has no <model> and no <world>", root)
    models = []
    names: dict[str, Any] = {}
    for node in (*worlds, *nodes):
        gathering = Gathering(includes)
        model = _gather(gathering, node, file, includes)
        if model is None or includes.failed:
            continue
        if node.tag != "world" and not claim_name(names, model.name, node):
            continue
        names[model.name] = node
        gathering.resolve()
        sources = (root.document, *includes.sources())
        spec = _Reading(model).spec()
        inner = tuple(replace(part, sources=sources) for part in spec.models) if spec.is_world else spec.models
        models.append(replace(spec, models=inner, sources=sources))
    return models


def _gather(gathering: Gathering, node: Node, file: File, includes: Includes) -> Model | ForeignModel | None:
    if node.tag == "world":
        return gathering.world_model(node, file)
    if node.tag == "model":
        return gathering.model(node, file, gathering.world, key=MODEL)
    included = includes(node, file)
    if included is None:
        node.ignore("settled")
        return None
    with included.entered():
        return gathering.included_model(node, included, gathering.world, key=MODEL)


# --------------------------------------------------------------------------------------------- the models


class _Reading:
    """Reads the elements of the models of one top-level model or world, whose frames are known."""

    def __init__(self, top: Model | ForeignModel) -> None:
        self._top = top
        self._models = list(_walk("", top))
        self._groups = read_filter_groups(find_groups(self._of_sdf()))
        self._joints: dict[str, tuple[JointSpec, str]] = {}  # full name: (JointSpec, prefix)
        self._nodes: dict[str, Node] = {}  # full name: node, of all joints that the files have
        self._read_sensors: Callable[[Iterable[Element], Collection[str]], tuple[SensorSpec, ...]]
        self._read_sensors = lambda elements, joints: ()
        if any("sensor" in e.node.child_tags for _, model in self._of_sdf() for e in model.elements.values()):
            from mbcli.parsers.sdf.sdf_sensors import sensor_reader  # late: few models have some

            assert isinstance(top, Model)
            self._read_sensors = sensor_reader(top)

    def _of_sdf(self) -> list[tuple[str, Model]]:
        return [(prefix, model) for prefix, model in self._models if not isinstance(model, ForeignModel)]

    def spec(self) -> ModelSpec:
        specs: dict[str, ModelSpec] = {}
        for prefix, model in reversed(self._models):  # nested ones first
            inner = tuple(specs[prefix + name + SEPARATOR] for name in getattr(model, "models", ()))
            if isinstance(model, ForeignModel):
                specs[prefix] = _place_foreign(model)
            else:
                specs[prefix] = self._read_model(prefix, model, inner)
        self._check_followers()
        diagnostics = self._models[0][1].node.diagnostics
        for place, message in references_to_deformables(list(specs.items())):
            diagnostics.error("DEFORMABLE_REFERENCE", message, place=place, hint=HOLD)
        return specs[""]

    def _read_model(self, prefix: str, model: Model, inner: tuple[ModelSpec, ...]) -> ModelSpec:
        frames = model.frames
        elements = list(model.elements.values())
        joints = connect_named_frames(read_joints(elements), elements, model.physics)
        if model.static:
            _refuse_motion(joints, model)
        forces, constraints = read_force_elements(model.physics)
        self._joints.update({prefix + joint.name: (joint, prefix) for joint in joints})
        self._nodes.update({prefix + e.name: e.node for e in elements if e.tag in ("joint", *JOINTS_BETWEEN_FRAMES)})
        canonical = WORLD if model.is_world else frames.canonical_link or WORLD
        deformables = [read_deformable(e, frames, model.static) for e in elements if is_deformable(e)]
        links = tuple(read_link(e, frames) for e in elements if e.tag == "link" and not is_deformable(e))
        _tell_of_kinematic(links, joints, model)
        soft = canonical in [element.name for element in elements if is_deformable(element)]
        return ModelSpec(
            name=model.name,
            format="sdf",
            version=f"1.{model.file.minor}",
            place=model.node.place,
            links=links,
            deformables=tuple(filter(None, deformables)),
            joints=joints,
            frames=tuple(_read_frame(element) for element in elements if element.tag == "frame"),
            actuators=read_actuators(elements, joints),
            force_elements=forces,
            constraints=constraints,
            sensors=self._read_sensors(elements, {joint.name for joint in joints}),
            plugins=self._read_plugins(prefix, model, links, inner),
            filter_groups=(
                *(self._groups[prefix + e.name] for e in elements if prefix + e.name in self._groups),
                *_self_contact(model, elements),
            ),
            models=inner,
            is_world=model.is_world,
            gravity=gravity_of_world(model.node) if model.is_world else None,
            time_step=step_of_world(model.node) if model.is_world else None,
            wind=wind_of_world(model.node) if model.is_world else None,
            static=model.static,
            X_WModel=frames.X_WModel,
            X_LinkModel=None if model.is_world or soft else (canonical, frames.X_AB(canonical, MODEL)),
        )

    def _read_plugins(
        self, prefix: str, model: Model, links: tuple[LinkSpec, ...], inner: tuple[ModelSpec, ...]
    ) -> tuple[PluginSpec, ...]:
        decays = () if model.static else read_velocity_decays(model.of_tag("link"))
        if not model.plugins:
            return decays
        from mbcli.parsers.gazebo_plugins import read_plugins, read_world_plugins  # late: few models have some

        if model.is_world:
            moving = dict(_moving_links(inner))

            def in_wind() -> dict[str, LinkSpec]:
                return {name: moving[name] for name in self._links_in_wind() if name in moving}

            return read_world_plugins(model.plugins, {"wind": in_wind, "solids": lambda: moving})
        own = {full.removeprefix(prefix): spec for full, (spec, _) in self._joints.items() if full.startswith(prefix)}
        names = {link.name for link in links}.union(*(_links_in(spec) for spec in inner))
        return (*decays, *read_plugins(model.plugins, {name: joint.type for name, joint in own.items()}, names))

    def _links_in_wind(self) -> list[str]:
        """The links that <enable_wind> of theirs, or else of the nearest model around them, lets feel the wind."""
        found, around = [], {"": False}
        for prefix, model in self._of_sdf():
            if model.is_world or model.static:
                continue
            full = prefix.removesuffix(SEPARATOR)
            above = around.get(full.rpartition(SEPARATOR)[0], False)
            all_of_it = around[full] = child_boolean(model.node, "enable_wind", above)
            for link in model.of_tag("link"):
                if child_boolean(link.node, "enable_wind", all_of_it) and not is_deformable(link):
                    found.append(prefix + link.name)
        return found

    def _check_followers(self) -> None:
        """Leaders may be in nested models, of other formats, too."""
        joints, nodes = dict(self._joints), dict(self._nodes)
        for prefix, model in self._models:
            if isinstance(model, ForeignModel):
                joints.update({prefix + joint.name: (joint, prefix) for joint in model.spec.joints})
                nodes.update({prefix + joint.name: model.node for joint in model.spec.joints})
        check_followers(self._joints, joints, nodes)


def _tell_of_kinematic(links: tuple[LinkSpec, ...], joints: tuple[JointSpec, ...], model: Model) -> None:
    """A link that a joint carries moves with it."""
    carried = {joint.child for joint in joints}
    for link in links:
        node = model.nodes[link.name].child("kinematic")
        if node is not None and link.kinematic and link.name in carried:
            node.unsupported("a joint carries the link, which moves by its dynamics")


def _moving_links(models: Iterable[ModelSpec], prefix: str = "") -> Iterator[tuple[str, LinkSpec]]:
    """(name in the world, link) of the links of models that are not static."""
    for spec in models:
        if not spec.static:
            inside = f"{prefix}{spec.name}{SEPARATOR}"
            yield from ((inside + link.name, link) for link in spec.links if link.name != WORLD)
            yield from _moving_links(spec.models, inside)


def _links_in(spec: ModelSpec) -> set[str]:
    """The links of a nested model and of those in it, as the model around it names them."""
    names = {link.name for link in spec.links}.union(*(_links_in(inner) for inner in spec.models))
    return {f"{spec.name}{SEPARATOR}{name}" for name in names}


def _walk(prefix: str, model: Model | ForeignModel) -> Iterator[tuple[str, Model | ForeignModel]]:
    """Yields (prefix, model) of a model and all those in it, each before those in it."""
    yield prefix, model
    for name, inner in getattr(model, "models", {}).items():
        yield from _walk(prefix + name + SEPARATOR, inner)


def _refuse_motion(joints: tuple[JointSpec, ...], model: Model) -> None:
    for joint in joints:
        if not joint.kind.is_fixed:
            message = f"joint {quoted(joint.name)} of a static model must be fixed, not {joint.type}"
            node = model.nodes[joint.name]
            node.diagnostics.error("ELEMENT_INVALID", message, node)


def _self_contact(model: Model, elements: Iterable[Element]) -> tuple[CollisionFilterGroupSpec, ...]:
    if model.is_world:
        return ()
    group = self_contact_group(model.node, (e.node for e in elements if e.tag == "link" and not is_deformable(e)))
    return () if group is None else (group,)


def _read_frame(element: Element) -> FrameSpec:
    frames = element.frames
    link = frames.link_of(element.name) or WORLD
    return FrameSpec(element.name, link, frames.X_AB(link, element.name), element.node.place)


def _place_foreign(model: ForeignModel) -> ModelSpec:
    """An included model of another format, at the place that the include gives it."""
    spec, frames = model.spec, model.frames
    poses = zero_poses(spec)
    canonical = frames.canonical_link or WORLD
    return replace(
        spec,
        name=model.name,
        links=tuple(replace(link, X_ModelL=poses.get(link.name, link.X_ModelL)) for link in spec.links),
        static=model.static,
        X_WModel=frames.X_WModel,
        X_LinkModel=(canonical, frames.X_AB(canonical, MODEL)),
    )
