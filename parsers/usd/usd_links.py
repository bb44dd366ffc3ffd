"""Rigid bodies of USD: which prims are links, what belongs to them, and their masses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import UniqueNames
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.geometry_inertia import MassProperties, combined, scaled_to_mass, six_of
from mbcli.parsers.poses import compose
from mbcli.parsers.spec import IDENTITY, InertialSpec, JointSpec, LinkSpec, PluginSpec, pose
from mbcli.parsers.usd.usd_geometry import SHAPES, GeometryReader
from mbcli.parsers.usd.usd_stage import split_affine

from mbcli.errors import MbcliError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from mbcli.parsers.geometry_inertia import SixNumbers
    from mbcli.parsers.spec import GeometrySpec
    from mbcli.parsers.usd.usd_stage import Prim, Stage

    from mbcli.math.array_types import Matrix3, Matrix4, Vector3

    Weighed: TypeAlias = Sequence[tuple[Prim, Prim, GeometrySpec]]  # (shape, collider, spec in the frame of the link)

_GROUPS = ("Xform", "Scope", "")  # tags of prims that may say of all shapes below them that they touch
BODY, COLLIDER, MASS = "PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"
MATERIAL = "PhysicsMaterialAPI"
WATER = 1000.0  # [kg/m^3] where a stage states no density
GROUP_RANGE = "mjc:compiler:inertiaGroupRange"


class LinkReader:
    """The links of a stage. `body_of` leads from a prim to the link that it belongs to."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.geometry = GeometryReader(stage)
        self.bodies: dict[str, str] = {}  # path of a prim: name of its link
        self.poses: dict[str, Matrix4] = {WORLD: IDENTITY}  # X_WL by link
        self.links: dict[str, LinkSpec] = {}
        self.plugins: list[PluginSpec] = []
        self.welds: list[JointSpec] = []  # of bodies that the file holds in place
        self.colliders: dict[str, tuple[str, list[str]]] = {}  # path of a prim: (link, names of its GeometrySpecs)
        self._shapes: dict[str, list[tuple[Prim, Prim | None]]] = {}  # link: [(prim, collider or None)]
        self._weighs_shapes = False  # whatever bodies state
        self._heavy_groups = -np.inf, np.inf  # of MuJoCo: shapes of others weigh nothing

    def read(self) -> None:
        """Fills `links`."""
        self._read_scene()
        prims = [prim for prim in self.stage.prims.values() if prim.has(BODY)]
        names = UniqueNames([prim.name for prim in prims if prim.name != WORLD])
        held = []
        for prim in prims:
            if not prim.flag("physics:rigidBodyEnabled", True):
                continue
            found = split_affine(prim.affine)
            if found is None:
                self.stage.diagnostics.error("USD_SHAPE", "the transform of a body has no volume", prim)
                found = IDENTITY, np.eye(3)
            name = names.of(prim.name if prim.name != WORLD else None, "body")
            self.bodies[prim.path], self.poses[name] = name, found[0]
            if prim.flag("physics:kinematicEnabled", False):
                held.append((prim, name))
        self._sort_shapes()
        for path, name in self.bodies.items():
            self._read_link(self.stage.prims[path], name)
        for prim, name in held:
            self.stage.diagnostics.note("USD_HELD", f'kinematic body "{name}" is held where it stands', prim)
            ends = WORLD, name, self.poses[name], IDENTITY, prim.place
            self.welds.append(JointSpec(f"{name}_held", "fixed", *ends))
        if self._shapes.get(WORLD):
            self._read_link(None, WORLD)

    def _read_scene(self) -> None:
        """What MuJoCo's schema says for all bodies of how shapes weigh."""
        scene = next((prim for prim in self.stage.prims.values() if prim.tag == "PhysicsScene"), None)
        if scene is not None:
            low, high = (scene.number(f"{GROUP_RANGE}:{end}", of) for end, of in (("min", -np.inf), ("max", np.inf)))
            self._heavy_groups = low, high
            self._weighs_shapes = (
                scene.word("mjc:compiler:inertiaFromGeom", ("auto", "true", "false"), "auto") == "true"
            )

    def link_of(self, prim: Prim) -> str:
        """The name of the link that a prim belongs to: its own, or that of the nearest prim above, or WORLD."""
        for each in prim.lineage:
            if each.path in self.bodies:
                return self.bodies[each.path]
        return WORLD

    def frame(self, prim: Prim | None, position: Vector3, rotation: Matrix3) -> tuple[str, Matrix4]:
        """(link, X_LF) of a frame that a prim (None: the stage) has at a position of the file, and a rotation."""
        stage = self.stage
        if prim is None:
            return WORLD, pose(stage.R_WS @ rotation, stage.R_WS @ position * stage.length)
        found = split_affine(prim.affine)
        X_WP, S = found if found is not None else (IDENTITY, np.eye(3))
        link = self.link_of(prim)
        X_PF = pose(rotation, S @ position * stage.length)
        if self.bodies.get(prim.path) == link:
            return link, X_PF
        X_WL = self.poses[link]
        X_LP = pose(X_WL[:3, :3].T @ X_WP[:3, :3], X_WL[:3, :3].T @ (X_WP[:3, 3] - X_WL[:3, 3]))
        return link, compose(X_LP, X_PF)

    # ------------------------------------------------------------------------------------------ links

    def _sort_shapes(self) -> None:
        for prim in self.stage.prims.values():
            if prim.tag in SHAPES:
                collider = next((p for p in prim.lineage if p.has(COLLIDER)), None)
                if collider is not None and collider is not prim and collider.tag in SHAPES:
                    collider = None
                self._shapes.setdefault(self.link_of(prim), []).append((prim, collider))
            elif prim.has(COLLIDER) and prim.tag not in _GROUPS and prim.flag("physics:collisionEnabled", True):
                prim.diagnostics.warning("USD_SHAPE", f"a {prim.tag} is not supported: nothing touches it", prim)

    def _read_link(self, prim: Prim | None, name: str) -> None:
        X_WL = self.poses[name]
        visuals, collisions, weighed = [], [], []
        seen, touched = UniqueNames([]), UniqueNames([])
        for shape, collider in self._shapes.get(name, ()):
            if shape.is_seen() and not shape.is_site:
                visuals += self._named(self.geometry.specs(shape, X_WL, shape.name, touches=False), seen)
            if collider is None or shape.is_site:
                continue
            for each in (shape, collider):  # also where the body states its mass
                each.ignore(
                    "physics:mass",
                    "physics:density",
                    "physics:centerOfMass",
                    "physics:diagonalInertia",
                    "physics:principalAxes",
                    "physics:simulationOwner",
                )
            solid = self.geometry.specs(shape, X_WL, shape.name, touches=True)
            low, high = self._heavy_groups
            if low <= collider.number("mjc:group", 0.0) <= high:
                weighed += [(shape, collider, spec) for spec in solid]
            if collider.flag("physics:collisionEnabled", True):
                properties = self._properties(shape)
                solid = self._named([replace(spec, properties=properties) for spec in solid], touched)
                self.colliders[collider.path] = name, [spec.name for spec in solid]
                collisions += solid
        place = self.stage.place if prim is None else prim.place
        inertial = None if prim is None else self._inertial(prim, X_WL, weighed)
        gravity = True
        if prim is not None:
            gravity = not prim.flag("physxRigidBody:disableGravity", False)
            self._read_damping(prim, name)
            self._pass_over_motion(prim)
        self.links[name] = LinkSpec(name, place, inertial, X_WL, tuple(visuals), tuple(collisions), gravity)

    def _named(self, specs: Iterable[GeometrySpec], names: UniqueNames) -> list[GeometrySpec]:
        return [replace(spec, name=names.of(None, spec.name)) for spec in specs]

    def _read_damping(self, prim: Prim, name: str) -> None:
        """What PhysX takes of the velocities of a body [1/s], wherever it moves."""
        parts = {kind: prim.finite(f"physxRigidBody:{kind}Damping", 0.0, 0.0) for kind in ("linear", "angular")}
        if any(parts.values()):
            settings = parts | {"per_second": True}
            self.plugins.append(PluginSpec("velocity_decay", prim.place, links=(("link", (name,)),), settings=settings))

    def _pass_over_motion(self, prim: Prim) -> None:
        if prim.flag("physics:startsAsleep", False):
            message = '"physics:startsAsleep" is not supported: every body moves from the start'
            prim.diagnostics.warning("ATTRIBUTE_UNSUPPORTED", message, prim, attribute="physics:startsAsleep")

    # ---------------------------------------------------------------------------------------- contact

    def _properties(self, shape: Prim) -> dict[tuple[str, str], Any]:
        material = self.stage.prims.get(shape.document.get("physics", ""))
        properties: dict[tuple[str, str], Any] = {}
        if material is not None and material.has(MATERIAL):
            static, dynamic = (material.finite(f"physics:{kind}Friction", 0.0, 0.0) for kind in ("static", "dynamic"))
            stated = [name for name in ("static", "dynamic") if f"physics:{name}Friction" in material.attributes]
            restitution = material.finite("physics:restitution", None, 0.0, 1.0)
            if stated or restitution is None:  # else it is about bouncing alone
                properties["material", "coulomb_friction"] = (max(static, dynamic), dynamic)
            if restitution is not None:
                properties["material", "restitution"] = restitution
        return properties

    # ----------------------------------------------------------------------------------------- masses

    def _inertial(self, prim: Prim, X_WL: Matrix4, weighed: Weighed) -> InertialSpec | None:
        """The InertialSpec of a body: what it states, else what follows from its shapes."""
        stage = self.stage
        mass = prim.finite("physics:mass", 0.0, 0.0) * stage.mass
        unit = stage.mass * stage.length**2
        S = split_affine(prim.affine)
        stated = prim.vector("physics:centerOfMass", 3, (-np.inf,) * 3, finite=False)
        center = None if np.isinf(stated).any() else (S[1] if S is not None else np.eye(3)) @ stated * stage.length
        full = prim.vector("newton:inertia", 6, None) if prim.attributes.get("newton:inertia") else None
        diagonal = prim.vector("physics:diagonalInertia", 3, (0.0, 0.0, 0.0))
        R_LI = prim.rotation("physics:principalAxes")
        if self._weighs_shapes:
            mass, center, full, diagonal = 0.0, None, None, np.zeros(3)
        states_inertia = full is not None or diagonal.any()
        shapes = None
        if not (mass and center is not None and states_inertia):
            shapes = self._of_shapes(prim, weighed, bool(mass))
        if not mass:
            mass = 0.0 if shapes is None else shapes.mass
        if center is None:
            center = np.zeros(3) if shapes is None else shapes.p_SScm
        if full is not None:
            inertia, R_LI = tuple((full * unit).tolist()), np.eye(3)
        elif diagonal.any():
            inertia = (*(diagonal * unit).tolist(), 0.0, 0.0, 0.0)
        else:
            inertia, R_LI = (0.0,) * 6 if shapes is None else self._scaled(prim, shapes, mass), np.eye(3)
        if not mass and not any(inertia):
            return None
        return InertialSpec(float(mass), pose(R_LI, center), inertia, prim.place)

    @staticmethod
    def _scaled(prim: Prim, shapes: MassProperties, mass: float) -> SixNumbers:
        try:
            return scaled_to_mass(shapes, mass).inertia
        except MbcliError as error:
            prim.diagnostics.warning("LINK_INERTIA_INVALID", f"{error}: it has none", prim)
            return (0.0,) * 6

    def _of_shapes(self, prim: Prim, weighed: Weighed, states_mass: bool) -> MassProperties | None:
        """The MassProperties of the colliders of a body in its frame, or None."""
        parts = []
        density = prim.finite("physics:density", 0.0, 0.0)
        for shape, collider, spec in weighed:
            try:
                solid = self.geometry.solid(shape, spec.shape)
            except MbcliError as error:
                shape.diagnostics.note("MESH_INERTIA", f"it gives its body no mass: {error}", shape)
                continue
            own_mass = collider.finite("physics:mass", 0.0, 0.0) * self.stage.mass
            if own_mass and not states_mass:
                part = scaled_to_mass(solid, own_mass) if solid.mass else solid
            else:
                factor = self._density(shape, collider, density)
                inertia: Any = tuple(factor * i for i in solid.inertia)
                part = MassProperties(factor * solid.mass, solid.p_SScm, inertia)
            own = (
                collider.vector("physics:diagonalInertia", 3, (0.0, 0.0, 0.0)) * self.stage.mass * self.stage.length**2
            )
            if own.any() and not states_mass:
                R = collider.rotation("physics:principalAxes")
                part = MassProperties(part.mass, part.p_SScm, six_of(R @ np.diag(own) @ R.T))
            parts.append((spec.X_LG, part))
        if not parts:
            return None
        found = combined(parts)
        return found if found.mass > 0.0 else None

    def _density(self, shape: Prim, collider: Prim, of_body: float) -> float:
        """[kg/m^3] of a collider: its own, or that of its body, or of its material, or water's."""
        stage = self.stage
        unit = stage.mass / stage.length**3
        own = collider.finite("physics:density", 0.0, 0.0)
        material = stage.prims.get(shape.document.get("physics", ""))
        of_material = 0.0 if material is None else material.finite("physics:density", 0.0, 0.0)
        stated = own or of_body or of_material
        return stated * unit if stated else WATER
