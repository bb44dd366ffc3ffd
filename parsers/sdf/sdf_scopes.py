"""The models and worlds of SDFormat files as a tree with included files in place, their frames in one graph.

This is the first of two steps: names and frames. The rest of an element is read when all frames are known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mesh_files import MeshFiles
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.sdf.sdf_frames import FrameGraph, FrameScope
from mbcli.parsers.sdf.sdf_joints import JOINTS_BETWEEN_FRAMES, read_joint_ends
from mbcli.parsers.sdf.sdf_values import child_boolean, claim_name, read_name, read_pose
from mbcli.parsers.spec import IDENTITY, ModelSpec
from mbcli.parsers.xml_node import Node, quoted

from mbcli.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager
    from typing import Protocol

    from mbcli.parsers.spec import JointSpec

    from mbcli.math.array_types import Matrix4

    class Included(Protocol):
        """What is asked of `sdf_includes.Included`."""

        @property
        def placing(self) -> Placing: ...

        @property
        def merge(self) -> bool: ...

        @property
        def node(self) -> Any: ...

        @property
        def file(self) -> Any: ...

        @property
        def spec(self) -> ModelSpec | None: ...

        def entered(self) -> AbstractContextManager[None]: ...

    class Includes(Protocol):
        """What is asked of `sdf_includes.Includes`."""

        failed: bool
        skipped: int

        def __call__(self, node: Node, file: File) -> Included | None: ...


MAX_ELEMENTS = 1_000_000  # named elements of a file with everything that it includes, each time that it does

MAX_NESTED = 64  # models in models


PHYSICS = (
    "drake:linear_bushing_rpy",
    "drake:linear_spring_damper",
    "drake:ball_constraint",
    "drake:distance_constraint",
    "drake:weld_constraint",
    "drake:tendon_constraint",
    # what Drake has no element for: it refuses those of its own prefix, and passes over these
    "mbcli:distance_constraint",
    "mbcli:weld_constraint",
)
_NAMED = ("link", "joint", "frame", *JOINTS_BETWEEN_FRAMES, "drake:collision_filter_group")
_OF_MODEL = (*_NAMED, "model", "include", *PHYSICS)
_OF_WORLD = ("joint", "frame", "model", "include", *PHYSICS)


@dataclass(frozen=True, slots=True)
class File:
    """An SDFormat file while it is read."""

    root: Node
    minor: int  # of the format's version, 1.minor
    meshes: MeshFiles
    base_dir: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a model, with the meaning of its references."""

    name: Any  # None of PHYSICS
    tag: str
    node: Node
    frames: FrameScope
    file: File
    joint_ends: tuple[str | None, ...] = ()  # of a joint: (parent frame, child frame), None if the file lacks it


@dataclass(slots=True)
class Model:
    """A model, or a world, as the files have it; `frames` is to be asked after the graph is resolved."""

    name: str
    node: Node
    file: File
    frames: FrameScope
    static: bool = False
    is_world: bool = False
    elements: dict[str, Element] = field(default_factory=dict)
    physics: list[Element] = field(default_factory=list)  # of PHYSICS
    plugins: list[Node] = field(default_factory=list)  # that act
    models: dict[str, Model | ForeignModel] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)  # of all that share names

    def of_tag(self, tag: str) -> list[Element]:
        """The elements of that tag, in the order of the files."""
        return [element for element in self.elements.values() if element.tag == tag]


@dataclass(slots=True)
class ForeignModel:
    """An included model of another format, its links, joints and frames part of the graph."""

    name: str
    node: Node  # of the <include>
    spec: ModelSpec
    frames: FrameScope
    static: bool = False


@dataclass(frozen=True, slots=True)
class Placing:
    """Statements on a model outside of it: by default none, then the model's own hold."""

    name: Any = None  # a text; of an <include> never None
    node: Node | None = None  # the <include>
    pose: tuple[Matrix4, str | None] | None = None  # (X, frame or None)
    static: bool | None = None
    placement_frame: str | None = None


class TooManyElements(Exception):
    """The includes of a file multiply to more than can be meant."""


class Gathering:
    """Fills a graph of frames from a file and those that it includes.

    include: how the model of an <include> is found, as `sdf_includes.Includes`.
    """

    def __init__(self, include: Includes) -> None:
        self.graph = FrameGraph()
        self.world = FrameScope(self.graph)
        self._include = include
        self._owners: dict[str, tuple[Node, FrameScope]] = {}  # full name of a frame: (node, scope)
        self._count = 0

    # ----------------------------------------------------------------------------------------- models

    def model(
        self, node: Node, file: File, outer: FrameScope, *, placing: Placing | None = None, key: str | None = None
    ) -> Model | None:
        """The `Model` of a <model>, or None with an error. key: its name in the graph, if it is not its own."""
        placing = placing or Placing()
        name = placing.name or read_name(node, file.minor)
        if name is None:
            return None
        if outer.depth >= MAX_NESTED:
            message = f"models are nested more than {MAX_NESTED} deep"
            node.diagnostics.error("ELEMENT_INVALID", message, node)
            node.ignore("settled")
            return None
        X, relative_to = self._pose_of_model(node, file, placing)
        frames = outer.add_model(key or name, relative_to=relative_to, X=X)
        self._owners[frames.model] = (placing.node or node, outer)
        own_static = child_boolean(node, "static", False)
        static = own_static if placing.static is None else placing.static
        model, skipped = Model(name, node, file, frames, static), self._include.skipped
        self._fill(model, node, file, frames, _OF_MODEL)
        self._attach(node, frames, model.elements.values(), model.models)
        self._place(node, frames, placing)
        is_empty = not model.models and not model.of_tag("link")
        if is_empty and not static and not self._include.failed and self._include.skipped == skipped:
            node.diagnostics.error("MODEL_WITHOUT_LINK", f"model {quoted(name)} must have a link", node)
        return model

    def world_model(self, node: Node, file: File) -> Model:
        """The `Model` of a <world>: its own elements are fixed to the world."""
        world = Model(node.attribute("name", ""), node, file, self.world, is_world=True)
        self._fill(world, node, file, self.world, _OF_WORLD)
        return world

    def _pose_of_model(self, node: Node, file: File, placing: Placing) -> tuple[Matrix4, str | None]:
        """(X, name of the frame that it is in, or None)."""
        X, relative_to = read_pose(node, file.minor)
        if relative_to is not None and node.parent is not None and node.parent.tag == "sdf":
            message = f"the pose of a model in a file cannot be relative to {quoted(relative_to)}"
            node.diagnostics.error("POSE_RELATIVE_TO_INVALID", message, node.child("pose"))
            relative_to = None
        return (X, relative_to) if placing.pose is None else placing.pose

    def _attach(self, node: Node, frames: FrameScope, elements: Iterable[Element], models: Iterable[str]) -> None:
        """The model frame moves with the canonical link: the named one, the first, or that of the first model."""
        stated = node.attribute("canonical_link") or None
        links = (element.name for element in elements if element.tag == "link")
        first = next(links, None) or next(iter(models), None)
        canonical = stated or first
        if canonical:
            frames.attach_model(canonical, stated=bool(stated))

    def _place(self, node: Node, frames: FrameScope, placing: Placing) -> None:
        placement = placing.placement_frame or node.attribute("placement_frame")
        if placement:
            frames.place(placement)

    # --------------------------------------------------------------------------------------- elements

    def _fill(self, model: Model, node: Node, file: File, frames: FrameScope, tags: tuple[str, ...]) -> None:
        """The elements of a node into a model: its own node, or one that is merged into it."""
        model.plugins += _plugins_of(node)
        for child in _named_or_of(node, tags):
            self._count += 1
            if self._count > MAX_ELEMENTS:
                raise TooManyElements
            if child.tag not in tags:
                self._claim_name_of_unused(model, child)
            elif child.tag in PHYSICS:
                model.physics.append(Element(None, child.tag, child, frames, file))
            elif child.tag == "include":
                self._fill_include(model, child, file, frames)
            elif child.tag == "model":
                name = read_name(child, file.minor)
                if name is not None and claim_name(model.nodes, name, child):
                    self._add_model(model, name, child, self.model(child, file, frames))
            else:
                self._add_element(model, child, file, frames)

    def _claim_name_of_unused(self, model: Model, node: Node) -> None:
        """Names of siblings differ, also those of lights and other elements that are not used here."""
        name = node.raw("name")
        assert name is not None
        if claim_name(model.nodes, name, node):
            model.nodes[name] = node

    def _add_model(self, model: Model, name: str, node: Node, inner: ForeignModel | Model | None) -> None:
        if inner is not None:
            model.nodes[name] = node
            model.models[name] = inner

    def _add_element(self, model: Model, node: Node, file: File, frames: FrameScope) -> None:
        name = read_name(node, file.minor)
        if name is None:
            stated = node.raw("name")
            if stated and stated not in frames:
                frames.add_link(stated)  # what refers to it is no fault of its own
            return
        if not claim_name(model.nodes, name, node):
            return
        model.nodes[name] = node
        ends: tuple[str | None, ...] = read_joint_ends(node) if node.tag in ("joint", *JOINTS_BETWEEN_FRAMES) else ()
        model.elements[name] = Element(name, node.tag, node, frames, file, ends)
        if node.tag == "drake:collision_filter_group":
            return
        posed = node.tag not in JOINTS_BETWEEN_FRAMES
        X, relative_to = read_pose(node, file.minor) if posed else (IDENTITY, None)
        self._owners[frames.full(name)] = (node, frames)
        if node.tag == "link":
            frames.add_link(name, relative_to=relative_to, X=X)
        elif node.tag == "frame":
            attached_to = node.attribute("attached_to") or None
            frames.add_frame(name, attached_to=attached_to, relative_to=relative_to, X=X)
        else:
            frames.add_joint(name, ends[1] or frames.origin, relative_to=relative_to, X=X)

    # --------------------------------------------------------------------------------------- includes

    def _fill_include(self, model: Model, node: Node, file: File, frames: FrameScope) -> None:
        included = self._include(node, file)
        if included is None:
            node.ignore("settled")
            return
        with included.entered():
            if included.merge:
                model.plugins += _plugins_of(node)
                self._merge(model, node, frames, included)
                return
            name = included.placing.name
            if claim_name(model.nodes, name, node):
                self._add_model(model, name, node, self.included_model(node, included, frames))

    def included_model(
        self, node: Node, included: Included, outer: FrameScope, key: str | None = None
    ) -> Model | ForeignModel | None:
        """The model of an include that is not merged."""
        plugins = _plugins_of(node)
        if included.spec is None:
            model = self.model(included.node, included.file, outer, placing=included.placing, key=key)
            if isinstance(model, Model):
                model.plugins += plugins
            return model
        for plugin in plugins:
            plugin.unsupported("the included model is of another format")
        frames = self._foreign_frames(node, included, outer, key)
        static = bool(included.placing.static)
        return ForeignModel(included.placing.name, node, included.spec, frames, static)

    def _foreign_frames(self, node: Node, included: Included, outer: FrameScope, key: str | None) -> FrameScope:
        placing = included.placing
        X, relative_to = placing.pose or (IDENTITY, None)
        frames = outer.add_model(key or placing.name, relative_to=relative_to, X=X)
        self._owners[frames.model] = (placing.node or node, outer)
        spec = included.spec
        assert spec is not None
        _add_foreign_frames(spec, frames)
        frames.attach_model(_first_link(spec))
        if placing.placement_frame:
            frames.place(placing.placement_frame)
        return frames

    def _merge(self, model: Model, node: Node, frames: FrameScope, included: Included) -> None:
        """The elements of an included model become the model's own; a frame takes the place of its model frame."""
        problem = None
        if included.spec is not None:
            problem = f"only models of SDFormat files can be merged, not {included.spec.format.upper()}"
        elif model.is_world and included.node.peek("link") is not None:
            problem = f"model {quoted(included.placing.name)} has links and cannot be merged into a world"
        if problem:
            node.diagnostics.error("MERGE_INCLUDE_UNSUPPORTED", problem, node)
            node.ignore("settled")
            return
        X, relative_to = self._pose_of_model(included.node, included.file, included.placing)
        proxy = f"_merged__{included.placing.name}__model__"
        frames.add_frame(proxy, relative_to=relative_to, X=X)
        inner = FrameScope(self.graph, frames.prefix, frames.prefix + proxy)
        self._owners[inner.model] = (node, frames)
        elements, models = len(model.elements), len(model.models)
        model.elements[proxy] = Element(proxy, "frame", included.node, inner, included.file)
        child_boolean(included.node, "static", False)  # the model that it becomes a part of states that
        self._fill(model, included.node, included.file, inner, _OF_MODEL)
        new_models = list(model.models)[models:]
        self._attach(included.node, inner, list(model.elements.values())[elements:], new_models)
        self._place(included.node, inner, included.placing)

    # ------------------------------------------------------------------------------------------ faults

    def resolve(self) -> None:
        """Solve the graph and report its faults."""
        for fault in self.graph.resolve():
            node, scope = self._owners[fault.frame]
            element, attribute = _BLAMED.get(fault.code, (None, None))
            if fault.code.startswith("MODEL"):
                scope = scope.inside(fault.frame)
            part = node.child(element) if element is not None else None
            hint = did_you_mean(fault.unknown, scope.names) if fault.unknown else None
            attribute = attribute if attribute in (part or node).attribute_names else None
            node.diagnostics.error(
                fault.code, fault.message, part or node, attribute=attribute, value=fault.unknown, hint=hint
            )


def _plugins_of(node: Node) -> list[Node]:
    """Its plugins that act."""
    if "plugin" not in node.child_tags:
        return []
    from mbcli.parsers.gazebo_plugins import plugins_that_act  # late: few files have some

    return plugins_that_act(node)


def gravity_of_world(world: Node) -> tuple[float, float, float] | None:
    """(3,) [m/s^2] of the node of a <world>, in World; None if it states none."""
    node = world.child("gravity")
    with world.diagnostics.leaving_out(None, "it is not used"):
        return node.text_vector(3) if node is not None else None


def _named_or_of(node: Node, tags: tuple[str, ...]) -> list[Node]:
    """The children of these tags, and others with a name, in the order of the file; plugins may share names."""
    node.children(*tags)
    return [child for child in node.child_nodes if child.tag in tags or (child.raw("name") and child.tag != "plugin")]


# by the code of a fault: the child element and the attribute that it is about
_BLAMED = {
    "POSE_RELATIVE_TO_INVALID": ("pose", "relative_to"),
    "POSE_RELATIVE_TO_CYCLE": ("pose", "relative_to"),
    "FRAME_ATTACHED_TO_INVALID": (None, "attached_to"),
    "FRAME_ATTACHED_TO_CYCLE": (None, "attached_to"),
    "MODEL_CANONICAL_LINK_INVALID": (None, "canonical_link"),
    "MODEL_PLACEMENT_FRAME_INVALID": ("placement_frame", "placement_frame"),
    "JOINT_CHILD_LINK_INVALID": ("child", None),
}


# ------------------------------------------------------------------------------ models of other formats


def _add_foreign_frames(spec: ModelSpec, frames: FrameScope) -> None:
    """Links at the joints' zero positions, frames and joints of a model without nested ones."""
    for joint in spec.joints:  # first: in URDF a joint may have a link's name, and the name is the link's
        frames.add_joint(joint.name, joint.child, X=joint.X_CM)
    for frame in spec.frames:
        frames.add_frame(frame.name, attached_to=frame.link, X=frame.X_LF)
    for name, X in zero_poses(spec).items():
        if name != WORLD:
            frames.add_link(name, X=X)


def zero_poses(spec: ModelSpec) -> dict[str, Matrix4]:
    """{link: its pose in the model frame if all joints are at zero}; links that no joint holds stay."""
    carried: dict[str, list[JointSpec]] = {}
    for joint in spec.joints:
        carried.setdefault(joint.parent, []).append(joint)
    held = {joint.child for joint in spec.joints}
    poses = {link.name: link.X_ModelL for link in spec.links if link.name not in held}
    poses.setdefault(WORLD, IDENTITY)
    waiting = list(poses)
    while waiting:
        link = waiting.pop()
        for joint in carried.get(link, ()):
            if joint.child not in poses:
                poses[joint.child] = compose(compose(poses[link], joint.X_PF), inverse(joint.X_CM))
                waiting.append(joint.child)
    return poses


def _first_link(spec: ModelSpec) -> str:
    return next((link.name for link in spec.links), WORLD)
