"""The kinematic tree of an MJCF file: bodies, their inertias, geoms and sites; joints are read by `mjcf_joints`.

A body and its children are read in the order of the file. The contents of a <frame> are read as if they stood in the
body with the frame's pose put before its own.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from mbcli.parsers.duplicate_names import generated_name, report_duplicate
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.geometry_inertia import combined
from mbcli.parsers.mjcf.mjcf_compiler import adjusted
from mbcli.parsers.mjcf.mjcf_flexes import read_flexcomp
from mbcli.parsers.mjcf.mjcf_geoms import geom_parts
from mbcli.parsers.mjcf.mjcf_joints import read_joints
from mbcli.parsers.mjcf.mjcf_values import ORIENTATIONS, WithDefaults, read_pose
from mbcli.parsers.spec import IDENTITY, DeformableSpec, FrameSpec, InertialSpec, JointSpec, LinkSpec, pose

from mbcli.common.fast_dataclass import dataclass
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mbcli.parsers.geometry_inertia import MassProperties
    from mbcli.parsers.mjcf.mjcf_geoms import Geom, GeomReader
    from mbcli.parsers.mjcf.mjcf_joints import Placed
    from mbcli.parsers.mjcf.mjcf_values import Reading
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4

LAST_SHOWN = 2  # group of geoms that MuJoCo's viewer shows by default
_GENERATORS = ("composite", "flexcomp")


@dataclass(slots=True)
class _Body:
    """One body as read."""

    name: str
    node: Node
    X_WB: np.ndarray  # in the reference configuration
    X_FB: np.ndarray = field(default_factory=lambda: IDENTITY)  # as stated, in its parent or a frame of it
    geoms: list[Geom] = field(default_factory=list)
    joints: list[Placed] = field(default_factory=list)  # (node, childclass, X_BF of the frame it stands in)
    bodies: list[Placed] = field(default_factory=list)  # likewise
    sites: list[Placed] = field(default_factory=list)  # likewise
    flexes: list[tuple[Node, Matrix4]] = field(default_factory=list)  # (node, X_BF)
    inertial: Node | None = None
    group: str = WORLD  # the outermost of the bodies that it is welded to
    touches_parent: bool = False  # its geoms may touch those of its parent


class BodyReader:
    """Reads all bodies of a file into `links`, `joints`, `frames` and `sites`, dicts by name in file order."""

    def __init__(self, reading: Reading, geoms: GeomReader) -> None:
        self.reading = reading
        self.links: dict[str, LinkSpec] = {}
        self.joints: dict[str, JointSpec] = {}
        self.frames: dict[str, FrameSpec] = {}
        self.deformables: dict[str, DeformableSpec] = {}
        self.sites: dict[str, tuple[str, Matrix4]] = {}  # name -> (link, X_LS)
        self.geoms: dict[str, tuple[str, Geom]] = {}  # name -> (link, geom)
        self.site_elements: dict[str, WithDefaults] = {}  # name -> its element with defaults
        self.coordinates: list[tuple[str, str]] = []  # (kind, joint, or link that is free) in MuJoCo's order of qpos
        self.joint_elements: dict[str, WithDefaults] = {}  # name -> its element with defaults
        self.free_joints: dict[str, str] = {}  # {name: body} of those that are not a JointSpec: their bodies are free
        self.all_joints: ChainMap[str, Any] = ChainMap(self.joints, self.free_joints)
        self.all_links: ChainMap[str, Any] = ChainMap(self.links, {WORLD: None})
        # bodies that are welded together, by the outermost -> (group of its parent, names)
        self.welded: dict[str, tuple[str, list[str]]] = {}
        self._geoms = geoms
        self._site_nodes: list[Node] = []
        # tag -> names that its elements have in the file
        self._stated: dict[str, set[str | None]] = {"body": set(), "joint": set()}

    def read(self, root: Node) -> None:
        world = _Body(WORLD, root, IDENTITY)
        self._stated = {tag: {node.raw("name") for node in root.find_all(tag)} for tag in ("body", "joint")}
        for node in root.children("worldbody"):
            world.node = node
            self._read_contents(node, world, IDENTITY, None)
        for node, _, _ in world.joints:
            node.diagnostics.error("ELEMENT_INVALID", "the world cannot have joints", node)
        if world.geoms:
            self.links[WORLD] = self._link(world, None)
        pending = self._finish(world)
        while pending:
            pending += self._read_body(*pending.pop())
        self._make_frames()

    # ---------------------------------------------------------------------------------------- bodies

    def _read_body(
        self, node: Node, childclass: str | None, parent: _Body, X_PF: Matrix4
    ) -> list[tuple[Node, str | None, _Body, Matrix4]]:
        """Returns the bodies that it carries, as `_finish` does."""
        X_FB = read_pose(node, self.reading.settings_of(node))
        X_PB = X_PF @ X_FB
        body = _Body(self._name_of(node), node, X_WB=parent.X_WB @ X_PB, X_FB=X_FB)
        childclass = self.reading.defaults.checked(node, "childclass") or childclass
        self._read_contents(node, body, IDENTITY, childclass)
        self._weld(body, parent, node)
        gravity = self._read_gravity_compensation(node)
        self.links[body.name] = self._link(body, self._inertial(body), gravity)
        if node.attribute("mocap") == "true" and (body.joints or parent.name != WORLD):
            node.diagnostics.error("ELEMENT_INVALID", "a mocap body must be a child of the world without joints", node)
        if body.joints:
            read_joints(self, body, parent.name, X_PB)
        else:
            name = self.unused_joint_name(f"{parent.name}_welds_to_{body.name}")
            X_PB = pose(X_PB[:3, :3], X_PB[:3, 3])
            self.joints[name] = JointSpec(name, "fixed", parent.name, body.name, X_PB, IDENTITY, node.place)
        return self._finish(body)

    def _weld(self, body: _Body, parent: _Body, node: Node) -> None:
        """Sorts a body into the group of those that are welded together, as MuJoCo filters contact."""
        body.group = body.name if body.joints or node.attribute("mocap") == "true" else parent.group
        self.welded.setdefault(body.group, (parent.group, []))[1].append(body.name)
        body.touches_parent = parent.group == WORLD or not self.reading.options.has("filterparent")

    def _read_flex(self, node: Node, X_WF: Matrix4 | None) -> None:
        spec = read_flexcomp(node, X_WF, self.reading)
        if spec is None:
            return
        if spec.name in self.deformables:
            report_duplicate(node, "flexcomp", spec.name, self.deformables[spec.name].place)
        self.deformables[spec.name] = spec

    def _finish(self, body: _Body) -> list[tuple[Node, str | None, _Body, Matrix4]]:
        """Reads the sites of a body whose link is made; returns what `_read_body` needs of the bodies that it carries,
        the last first."""
        for node, childclass, X_BF in body.sites:
            self._read_site(node, childclass, body, X_BF)
        for node, X_BF in body.flexes:
            self._read_flex(node, body.X_WB @ X_BF if body.group == WORLD else None)
        return [(node, childclass, body, X_BF) for node, childclass, X_BF in reversed(body.bodies)]

    def _read_contents(self, node: Node, body: _Body, X_BF: Matrix4, childclass: str | None) -> None:
        """Sorts the elements of a body, or of a frame of it, by their kind."""
        lists = {"body": body.bodies, "joint": body.joints, "freejoint": body.joints, "site": body.sites}
        tags = ("geom", "frame", *lists, *_GENERATORS)
        pending = [(child, X_BF, childclass) for child in reversed(node.children(*tags))]
        while pending:
            child, X_BF, childclass = pending.pop()
            if child.tag == "geom":
                geom = self._geoms.read(child, childclass, X_BF, len(body.geoms))
                if geom is not None:
                    body.geoms.append(geom)
                    if child.attribute("name"):
                        self.geoms[child.attribute("name") or ""] = body.name, geom
            elif child.tag == "frame":
                inner = self.reading.defaults.checked(child, "childclass") or childclass
                X_BI = X_BF @ read_pose(child, self.reading.settings_of(child))
                pending += [(item, X_BI, inner) for item in reversed(child.children(*tags))]
            elif child.tag in lists:
                lists[child.tag].append((child, childclass, X_BF))
            elif child.tag == "flexcomp":
                body.flexes.append((child, X_BF))
            else:
                child.ignore("settled")
                problem = f"<{child.tag}> is not supported: the bodies that it makes would be missing"
                child.diagnostics.error("ELEMENT_UNSUPPORTED", problem, child)
        if body.name != WORLD:
            inertial = node.child("inertial") if node.tag == "body" else None
            body.inertial = inertial or body.inertial

    def _name_of(self, node: Node) -> str:
        """The body's name; one without a name is numbered among the links, as Drake does."""
        name = node.attribute("name") or None
        if name is None:
            return self.unused_name(f"body{len(self.links) + (WORLD not in self.links)}")
        if name in self.links or name == WORLD:
            place = self.links[name].place if name in self.links else node.place
            report_duplicate(node, "body", name, place)
        return name

    @property
    def geom_names(self) -> Collection[str]:
        """The names of all geoms that have one."""
        return self._geoms.names

    def collisions_by_name(self) -> dict[str, tuple[str, int]]:
        """{name of a geom that collides: (link, which of its collisions)}."""
        return {
            geometry.name: (link.name, index)
            for link in self.links.values()
            for index, geometry in enumerate(link.collisions)
            if geometry.name in self._geoms.names
        }

    def unused_name(self, name: str) -> str:
        """A name for a link that the file does not name, made new if it is taken."""
        return generated_name(name, self.links, self._stated["body"])

    def unused_joint_name(self, name: str) -> str:
        """The same for a joint."""
        return generated_name(name, self.all_joints, self._stated["joint"])

    def _read_gravity_compensation(self, node: Node) -> bool:
        compensation = node.number("gravcomp", 0.0)
        if not (self.reading.options.has("spring") or self.reading.options.has("damper")):
            return True  # all passive forces are off
        if compensation not in (0.0, 1.0):
            self.reading.unused.add(WithDefaults(node), "gravcomp", "it is all or nothing")
        return compensation != 1.0

    def _link(self, body: _Body, inertial: InertialSpec | None, gravity: bool = True) -> LinkSpec:
        geoms: list[Any] = [geom for geom in body.geoms if geom.geometry is not None]
        return LinkSpec(
            name=body.name,
            place=body.node.place,
            inertial=inertial,
            X_ModelL=pose(body.X_WB[:3, :3], body.X_WB[:3, 3]),
            visuals=tuple(geom.geometry for geom in geoms if geom.group <= LAST_SHOWN),
            collisions=tuple(geom.geometry for geom in geoms if geom.collides),
            gravity=gravity,
        )

    # -------------------------------------------------------------------------------------- inertias

    def _inertial(self, body: _Body) -> InertialSpec | None:
        """The `InertialSpec` of a body, as stated or from its geoms; None if there is no mass."""
        settings = self.reading.settings_of(body.node)
        stated = self._stated_inertial(body.inertial) if body.inertial is not None else None
        from_geoms = settings.inertiafromgeom == "true" or (settings.inertiafromgeom == "auto" and stated is None)
        parts = geom_parts(body.geoms, settings) if from_geoms else []
        inertial = stated
        if parts:
            inertial = self._inertial_of_parts(parts, body.node) or stated
        if inertial is None and not (settings.boundmass > 0 or settings.boundinertia > 0):
            return None
        # what bounds give to a body without any mass is where MuJoCo has its inertial frame: in the body at the pose
        # that the body itself states
        inertial = inertial or InertialSpec(0.0, body.X_FB, (0.0,) * 6, body.node.place)
        return adjusted(inertial, settings, body.inertial or body.node)

    def _inertial_of_parts(self, parts: Sequence[tuple[Matrix4, MassProperties]], node: Node) -> InertialSpec | None:
        try:
            mass, p_BBcm, inertia = combined(parts)
        except ModelError as error:
            node.diagnostics.error("INERTIA_NOT_FINITE", f"the geoms give the body no inertia: {error}", node)
            return None
        return InertialSpec(mass, pose(None, p_BBcm), inertia, node.place)

    def _stated_inertial(self, node: Node) -> InertialSpec:
        settings = self.reading.settings_of(node)
        node.vector("pos", 3, required=True)
        mass = node.number("mass", 0.0, required=True)
        diagonal, full = node.vector("diaginertia", 3), node.vector("fullinertia", 6)
        X_BI = read_pose(node, settings)
        if full is not None:
            others = [name for name in ("diaginertia", *ORIENTATIONS) if node.attribute(name) is not None]
            if others:
                node.refuse(others[0], f"fullinertia is about the axes of the body: {others[0]} cannot stand beside it")
        inertia = full or (*(diagonal or (0.0,) * 3), 0.0, 0.0, 0.0)
        return InertialSpec(mass, X_BI, inertia, node.place)

    # ----------------------------------------------------------------------------------------- sites

    def _read_site(self, node: Node, childclass: str | None, body: _Body, X_BF: Matrix4) -> None:
        element = self.reading.defaults.of(node, childclass)
        X_BS = X_BF @ read_pose(element, self.reading.settings_of(element))
        name = node.attribute("name") or None
        if name is None:
            return  # nothing can refer to it
        if name in self.sites:
            report_duplicate(node, "site", name, self._site_nodes[list(self.sites).index(name)].place)
            return
        self.sites[name], self.site_elements[name] = (body.name, X_BS), element
        self._site_nodes.append(node)

    def _make_frames(self) -> None:
        """Frames of the sites. A frame must not have the name of a link, as sites may."""
        for (name, (link, X_LS)), node in zip(self.sites.items(), self._site_nodes, strict=True):
            if name in self.links or name == WORLD:
                node.diagnostics.note(
                    "DUPLICATE_NAME", f'the site "{name}" makes no frame: a body has this name', node, attribute="name"
                )
            else:
                self.frames[name] = FrameSpec(name, link, pose(X_LS[:3, :3], X_LS[:3, 3]), node.place)
