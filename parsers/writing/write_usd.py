"""A flat `ModelSpec` as a stage of USD, in its text form.

The model must be one that `arranged_for_usd` made. Metres, kilograms, z up. Bodies are siblings below the robot; joints
stand in a scope. The prim of the robot is the root of the articulation, unless it is made of several trees: then each
that has joints between its links is one, with the weld of its base to the world, or its base, as the root. (A link that
is only welded to the world must not lie below a root: OpenUSD then counts its joint, not the link.) Poses of prims and
inertias have all digits, what UsdPhysics has in single precision has these. Meshes stand once in the file, under
abstract prims, and are referred to.
"""

from __future__ import annotations

import os
from dataclasses import replace
from math import inf, pi
from typing import TYPE_CHECKING, Any

import numpy as np
from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.geometry_inertia import matrix_of, six_of
from mbcli.parsers.joint_kinds import SLIDE, stated_by
from mbcli.parsers.poses import compose
from mbcli.parsers.spec import (
    AxisSpec,
    BallConstraintSpec,
    Box,
    Capsule,
    Cone,
    Cylinder,
    DistanceConstraintSpec,
    Ellipsoid,
    HalfSpace,
    JointSpec,
    Mesh,
    Sphere,
    TendonConstraintSpec,
    WeldConstraintSpec,
    pose,
)
from mbcli.parsers.usd.usd_joints import SIX
from mbcli.parsers.writing.arrange_usd import identifier
from mbcli.parsers.writing.mjcf_filters import filtered_pairs
from mbcli.parsers.writing.simple_joints import parts_of
from mbcli.parsers.writing.target import Document
from mbcli.parsers.writing.usd_text import Prim, double, place, quaternion, quoted, single, singles
from mbcli.parsers.writing.write_xml import tidy

from mbcli.common.colors import linear_of
from mbcli.math.single_precision import shortest_decimals
from mbcli.meshes.triangles import load_triangles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mbcli.parsers.spec import ActuatorSpec, ConstraintSpec, GeometrySpec, InertialSpec, LinkSpec, ModelSpec, Shape

    from mbcli.math.array_types import Matrix4

SITE_RADIUS = 0.01  # [m] of the ball that stands for a frame, which is not drawn
_DEGREES = 180.0 / pi
_FORMS = stated_by("usd")
_AXES: dict[tuple[float, ...], str] = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z"}


def write_usd(spec: ModelSpec, loops: Iterable[str] = ()) -> Document:
    """The `Document`. loops: names of the joints that close loops."""
    return _Writer(spec, set(loops)).document()


class _Writer:
    def __init__(self, spec: ModelSpec, loops: set[str]) -> None:
        self.spec, self.loops = spec, loops
        self.parts = parts_of(spec.joints)
        self.root = Prim("Xform", identifier(spec.name), metadata=['kind = "component"'])
        links = {link.name for link in spec.links if link.name != WORLD}
        self.world, self.joint_scope, self.material_scope = (
            generated_name(name, links) for name in ("world", "joints", "materials")
        )
        self.library = generated_name("meshes", {self.root.name, "scene"})
        self.meshes: dict[tuple[Any, ...], tuple[str, Prim]] = {}  # what a mesh is: (name of its prim, Prim)
        self.mesh_names: set[str] = set()
        self.materials: dict[tuple[tuple[float, ...] | None, float | None], str] = {}  # (frictions, restitution): name
        self.paths = {name: f"/{self.root.name}/{name}" for name in links} | {WORLD: f"/{self.root.name}/{self.world}"}
        self.read: dict[tuple[str, str, int], Mesh] = {}  # (link, tag, index): the Mesh as it is read

    def document(self) -> Document:
        bodies = {}
        for link in self.spec.links:
            bodies[link.name] = self._add_link(link)
        self._add_frames(bodies)
        self._add_filters(bodies)
        scope = self.root.add("Scope", self.joint_scope)
        taken = {joint.name for joint in self.spec.joints}
        for joint in self.spec.joints:
            if not joint.kind.is_floating:
                self._add_joint(scope, joint)
        for number, constraint in enumerate(self.spec.constraints, start=1):
            name = generated_name(identifier(constraint.name or f"constraint_{number}"), taken)
            taken.add(name)
            self._add_constraint(scope, constraint, name)
        if self.materials:
            self._add_materials()
        self._add_articulations(bodies, {prim.name: prim for prim in scope.children})
        unnamed = {j.name: j.child for j in self.spec.joints if j.kind.is_floating}
        parts = {name: parts for name, parts in self.parts.items() if len(parts) > 1}
        return Document(None, self._expected(), parts, {}, unnamed, text=self._text())

    def _text(self) -> bytes:
        source = os.path.basename(self.spec.place.file)
        head = [
            "#usda 1.0",
            "(",
            f"    defaultPrim = {quoted(self.root.name)}",
            f"    doc = {quoted(f'Converted from {source} by mbcli.')}",
            "    kilogramsPerUnit = 1",
            "    metersPerUnit = 1",
            '    upAxis = "Z"',
            ")",
            "",
        ]
        prims = [self.root, self._scene()]
        if self.meshes:
            library = Prim("Scope", self.library, word="class")
            library.children = [prim for _, prim in self.meshes.values()]
            prims.append(library)
        lines = [line for prim in prims for line in (*prim.text_lines(), "")]
        return ("\n".join((*head, *lines)).rstrip("\n") + "\n").encode()

    def _scene(self) -> Prim:
        scene = Prim("PhysicsScene", generated_name("scene", {self.root.name}))
        gravity = self.spec.gravity
        if gravity is not None:
            size = float(np.linalg.norm(gravity))
            direction = np.array(gravity) / size if size else np.array((0.0, 0.0, -1.0))
            scene.say("vector3f physics:gravityDirection", singles(direction))
            scene.say("float physics:gravityMagnitude", single(size))
        return scene

    # ------------------------------------------------------------------------------------------- links

    def _add_link(self, link: LinkSpec) -> Prim:
        if link.name == WORLD:
            prim = self.root.add("Xform", self.world)
        else:
            prim = self.root.add("Xform", link.name)
            prim.apply("PhysicsRigidBodyAPI")
            place(prim, link.X_ModelL)
            if link.inertial is not None and link.inertial.mass:
                _add_inertial(prim, link.inertial)
            if not link.gravity:
                prim.apply("PhysxRigidBodyAPI")
                prim.say("bool physxRigidBody:disableGravity", "true")
            if link.velocity is not None:
                w, v = np.array(link.velocity[:3]), np.array(link.velocity[3:])
                prim.say("vector3f physics:angularVelocity", singles(np.degrees(w)))
                prim.say("vector3f physics:velocity", singles(v))
        for tag, geometries in (("visuals", link.visuals), ("collisions", link.collisions)):
            if geometries:
                scope = prim.add("Scope", tag)
                if tag == "collisions":
                    scope.say("uniform token purpose", '"guide"')
                for index, geometry in enumerate(geometries):
                    self._add_geometry(scope, link, tag, index, geometry)
        return prim

    def _add_articulations(self, bodies: Mapping[str, Prim], joints: Mapping[str, Prim]) -> None:
        inner = [joint for joint in self.spec.joints if joint.name not in self.loops]
        holder = {joint.child: joint for joint in inner}
        trees: dict[str, int] = dict.fromkeys(
            (link.name for link in self.spec.links if link.name != WORLD and _is_base(link.name, holder)), 1
        )
        for link in holder:
            if not _is_base(link, holder):
                base = link
                while not _is_base(base, holder):
                    base = holder[base].parent
                trees[base] += 1
        for base, number in trees.items():
            if number > 1 and len(trees) == 1:
                self.root.apply("PhysicsArticulationRootAPI")
            elif number > 1:
                weld = holder.get(base)
                held = weld is not None and weld.kind.is_fixed
                (joints[weld.name] if weld is not None and held else bodies[base]).apply("PhysicsArticulationRootAPI")

    def _add_frames(self, bodies: dict[str, Prim]) -> None:
        for frame in self.spec.frames:
            if frame.link not in bodies:
                bodies[frame.link] = self.root.add("Xform", self.world)
            site = bodies[frame.link].add("Sphere", frame.name)
            site.apply("NewtonSiteAPI")
            site.say("uniform token purpose", '"guide"')
            site.say("double radius", double(SITE_RADIUS))
            place(site, frame.X_LF)

    def _add_filters(self, bodies: Mapping[str, Prim]) -> None:
        others: dict[str, list[str]] = {}
        pairs = [sorted(pair) for pair in filtered_pairs(self.spec) if len(pair) == 2]
        for first, second in sorted(pairs):
            if first in bodies and second in bodies:
                others.setdefault(first, []).append(second)
        for name, found in others.items():
            bodies[name].apply("PhysicsFilteredPairsAPI")
            targets = ", ".join(f"<{self.paths[other]}>" for other in found)
            bodies[name].say("rel physics:filteredPairs", f"[{targets}]")

    # ------------------------------------------------------------------------------------------ shapes

    def _add_geometry(self, scope: Prim, link: LinkSpec, tag: str, index: int, geometry: GeometrySpec) -> None:
        shape = geometry.shape
        metadata: tuple[str, ...] = ()
        if isinstance(shape, Mesh):
            signs = tuple(np.sign(shape.scale).tolist())
            metadata = (f"prepend references = </{self.library}/{self._mesh(shape, signs)}>",)
        kind, scale, lines = _statements(shape)
        prim = scope.add(kind, geometry.name, metadata=metadata)
        for declaration, value in lines:
            prim.say(declaration, value)
        place(prim, geometry.X_LG, scale)
        if tag == "visuals":
            if geometry.color is not None:
                prim.say("color3f[] primvars:displayColor", f"[{singles(linear_of(geometry.color[:3]))}]")
                if geometry.color[3] != 1.0:
                    prim.say("float[] primvars:displayOpacity", f"[{single(geometry.color[3])}]")
        else:
            prim.apply("PhysicsCollisionAPI")
            if isinstance(shape, Mesh):
                prim.apply("PhysicsMeshCollisionAPI")
                prim.say(
                    "uniform token physics:approximation", '"convexHull"' if shape.convex else '"convexDecomposition"'
                )
            friction = geometry.properties.get(("material", "coulomb_friction"))
            restitution = geometry.properties.get(("material", "restitution"))
            if friction is not None or restitution is not None:
                prim.apply("MaterialBindingAPI")
                surface = None if friction is None else tuple(friction), restitution
                name = self.materials.setdefault(surface, f"surface_{len(self.materials) + 1}")
                prim.say("rel material:binding:physics", f"</{self.root.name}/{self.material_scope}/{name}>")
        if isinstance(shape, Mesh):
            path = f"{self.paths[link.name]}/{tag}/{geometry.name}"
            x, y, z = np.abs(shape.scale).tolist()
            convex = shape.convex and tag == "collisions"
            self.read[link.name, tag, index] = Mesh(path, (x, y, z), convex)

    def _mesh(self, shape: Mesh, signs: tuple[float, ...]) -> str:
        """The name of the prim that has the triangles of a mesh."""
        assert shape.path is not None  # usd_target has no others
        key = os.path.abspath(shape.path), shape.submesh, shape.center, signs
        if key not in self.meshes:
            stem = os.path.splitext(os.path.basename(shape.path))[0]
            name = generated_name(identifier(stem), self.mesh_names)
            self.mesh_names.add(name)
            vertices, triangles = load_triangles(shape.path, signs, submesh=shape.submesh, center=shape.center)
            prim = Prim("Mesh", name)
            prim.say("uniform token subdivisionScheme", '"none"')
            prim.say("int[] faceVertexCounts", "[" + ", ".join(["3"] * len(triangles)) + "]")
            prim.say("int[] faceVertexIndices", str(triangles.ravel().tolist()))
            points = map(tuple, shortest_decimals(vertices).tolist())
            prim.say("point3f[] points", str(list(points)))
            self.meshes[key] = name, prim
        return self.meshes[key][0]

    def _add_materials(self) -> None:
        scope = self.root.add("Scope", self.material_scope)
        for (friction, restitution), name in self.materials.items():
            material = scope.add("Material", name)
            material.apply("PhysicsMaterialAPI")
            if friction is not None:
                material.say("float physics:staticFriction", single(friction[0]))
                material.say("float physics:dynamicFriction", single(friction[1]))
            if restitution is not None:
                material.say("float physics:restitution", single(restitution))

    # ------------------------------------------------------------------------------------------ joints

    def _add_joint(self, scope: Prim, joint: JointSpec) -> None:
        prim = scope.add(_FORMS[joint.type].tag, joint.name)
        X_PF, X_CM = joint.X_PF, joint.X_CM
        axis = joint.axes[0] if joint.kind.has_one_coordinate else None
        if axis is not None:
            letter, X_FA = _along(axis.xyz)
            X_PF, X_CM = compose(X_PF, X_FA), compose(X_CM, X_FA)
            prim.say("uniform token physics:axis", f'"{letter}"')
        self._add_ends(prim, (joint.parent, X_PF), (joint.child, X_CM))
        if joint.collides_with_parent:
            prim.say("bool physics:collisionEnabled", "true")
        if joint.name in self.loops:
            prim.say("uniform bool physics:excludeFromArticulation", "true")
        if axis is not None:
            self._add_axis(prim, joint, axis)
        elif joint.kind.is_compound:
            self._add_locks(prim, joint)
        elif joint.kind.is_ball:
            _add_newton(prim, joint.reflected_inertia, max(joint.damping, default=0.0) / _DEGREES, 0.0)

    def _add_ends(self, prim: Prim, *ends: tuple[str, Matrix4]) -> None:
        for number, (link, X) in enumerate(ends):
            if link != WORLD:
                prim.say(f"rel physics:body{number}", f"<{self.paths[link]}>")
            prim.say(f"point3f physics:localPos{number}", singles(X[:3, 3]))
            prim.say(f"quatf physics:localRot{number}", quaternion(X))

    def _add_axis(self, prim: Prim, joint: JointSpec, axis: AxisSpec) -> None:
        unit = 1.0 if joint.kind.slides else _DEGREES
        for end, value in (("lower", axis.lower), ("upper", axis.upper)):
            if abs(value) != inf:
                prim.say(f"float physics:{end}Limit", single(value * unit))
        _add_newton(prim, joint.reflected_inertia, axis.damping / unit, axis.friction, axis.velocity * unit)
        if axis.spring_stiffness or axis.effort != inf:
            prim.apply("MjcJointAPI")
        if axis.spring_stiffness:
            prim.say("uniform double mjc:stiffness", double(axis.spring_stiffness))
            prim.say("uniform double mjc:springref", double(axis.spring_reference * unit))
        if axis.effort != inf:
            prim.say("uniform double mjc:actuatorfrcrange:min", double(-axis.effort))
            prim.say("uniform double mjc:actuatorfrcrange:max", double(axis.effort))
        if axis.mimic is not None:
            prim.apply("NewtonMimicAPI")
            prim.say("rel newton:mimicJoint", f"</{self.root.name}/{self.joint_scope}/{axis.mimic.leader}>")
            prim.say("float newton:mimicCoef0", single(axis.mimic.offset * unit))
            prim.say("float newton:mimicCoef1", single(axis.mimic.multiplier))
        for actuator in self.spec.actuators:
            if actuator.joint == joint.name:
                self._add_drive(prim, joint, axis, actuator, unit)

    def _add_drive(self, prim: Prim, joint: JointSpec, axis: AxisSpec, actuator: ActuatorSpec, unit: float) -> None:
        instance = "linear" if joint.kind.slides else "angular"
        prim.apply(f"PhysicsDriveAPI:{instance}")
        start = f"float drive:{instance}:physics"
        if actuator.effort_limit != inf:
            prim.say(f"{start}:maxForce", single(actuator.effort_limit))
        if actuator.controller_gains is None:
            return
        rest = (axis.default_position, 0.0) if actuator.rest is None else actuator.rest
        for word, value in zip(("stiffness", "damping"), actuator.controller_gains, strict=True):
            prim.say(f"{start}:{word}", single(value / unit))
        for word, value in zip(("targetPosition", "targetVelocity"), rest, strict=True):
            if value:
                prim.say(f"{start}:{word}", single(value * unit))

    def _add_locks(self, prim: Prim, joint: JointSpec) -> None:
        """A joint whose axes are locked but for those of its parts."""
        parts: Any = self.parts[joint.name]
        free = {("trans" if part.kind == SLIDE else "rot") + _AXES[part.axis.xyz]: part.axis for part in parts}
        if len(joint.axes) == len(parts):
            _add_newton(prim, joint.reflected_inertia, joint.axes[0].damping / _DEGREES, joint.axes[0].friction)
        for key in SIX:
            if key not in free:
                prim.apply(f"PhysicsLimitAPI:{key}")
                prim.say(f"float limit:{key}:physics:low", "1")
                prim.say(f"float limit:{key}:physics:high", "-1")
                continue
            axis = free[key]
            unit = 1.0 if key.startswith("trans") else _DEGREES
            if (axis.lower, axis.upper) != (-inf, inf):
                prim.apply(f"PhysicsLimitAPI:{key}")
                prim.say(f"float limit:{key}:physics:low", single(axis.lower * unit))
                prim.say(f"float limit:{key}:physics:high", single(axis.upper * unit))

    def _add_constraint(self, scope: Prim, constraint: ConstraintSpec, name: str) -> None:
        assert not isinstance(constraint, TendonConstraintSpec)  # usd_target has none
        ends = constraint.link_A, constraint.link_B
        if isinstance(constraint, WeldConstraintSpec):
            prim, X = scope.add("PhysicsFixedJoint", name), (constraint.X_AP, constraint.X_BQ)
        else:
            kind = "Spherical" if isinstance(constraint, BallConstraintSpec) else "Distance"
            prim = scope.add(f"Physics{kind}Joint", name)
            X = pose(None, constraint.p_AP), pose(None, constraint.p_BQ)
        self._add_ends(prim, *zip(ends, X, strict=True))
        prim.say("uniform bool physics:excludeFromArticulation", "true")
        if isinstance(constraint, DistanceConstraintSpec):
            least = constraint.distance if constraint.least is None else constraint.least
            prim.say("float physics:minDistance", single(least))
            prim.say("float physics:maxDistance", single(constraint.distance))

    # ------------------------------------------------------------------------------------ as it is read

    def _expected(self) -> ModelSpec:
        """The spec as the document is read, as far as the proof compares it by itself."""

        def as_read(link: LinkSpec, tag: str) -> tuple[GeometrySpec, ...]:
            return tuple(
                replace(geometry, shape=self.read.get((link.name, tag, index), geometry.shape))
                for index, geometry in enumerate(getattr(link, tag))
            )

        links = tuple(
            replace(link, visuals=as_read(link, "visuals"), collisions=as_read(link, "collisions"))
            for link in self.spec.links
        )
        joints = []
        unstated: Any = None
        for joint in self.spec.joints:
            for part in self.parts[joint.name]:
                mimic = joint.axes[0].mimic if joint.kind.has_one_coordinate else None
                axes = () if mimic is None else (AxisSpec((0.0, 0.0, 1.0), joint.place, mimic=mimic),)
                joints.append(
                    JointSpec(
                        part.name, joint.type, joint.parent, joint.child, joint.X_PF, joint.X_CM, joint.place, axes
                    )
                )
        return replace(self.spec, links=links, joints=tuple(joints), filter_groups=unstated)


def _statements(shape: Shape) -> tuple[str, Sequence[float] | None, tuple[tuple[str, str], ...]]:
    """(type of the prim, its scale, statements) of a shape."""
    if isinstance(shape, Box):
        return "Cube", shape.size, (("double size", "1"),)
    if isinstance(shape, Sphere):
        return "Sphere", None, (("double radius", double(shape.radius)),)
    if isinstance(shape, Ellipsoid):
        return "Sphere", shape.radii, (("double radius", "1"),)
    if isinstance(shape, HalfSpace):
        return "Plane", None, (("uniform token axis", '"Z"'),)
    if isinstance(shape, Mesh):
        return "Mesh", np.abs(shape.scale).tolist(), ()
    kind = {Cylinder: "Cylinder", Capsule: "Capsule", Cone: "Cone"}[type(shape)]
    assert isinstance(shape, (Cylinder, Capsule, Cone))
    numbers = (("double radius", double(shape.radius)), ("double height", double(shape.length)))
    return kind, None, (("uniform token axis", '"Z"'), *numbers)


def _add_inertial(prim: Prim, inertial: InertialSpec) -> None:
    prim.apply("PhysicsMassAPI", "NewtonMassAPI")
    R = inertial.X_LI[:3, :3]
    turned = R @ matrix_of(inertial.inertia) @ R.T
    six = tidy(six_of((turned + turned.T) / 2.0)) if not np.array_equal(R, np.eye(3)) else inertial.inertia
    moments, axes = np.linalg.eigh(matrix_of(six))
    if not any(six[3:]):
        moments, axes = np.array(six[:3]), np.eye(3)
    prim.say("float physics:mass", single(inertial.mass))
    prim.say("point3f physics:centerOfMass", singles(inertial.X_LI[:3, 3]))
    prim.say("float3 physics:diagonalInertia", singles(moments))
    prim.say("quatf physics:principalAxes", quaternion(axes * np.linalg.det(axes)))
    prim.say("double[] newton:inertia", "[" + ", ".join(map(double, six)) + "]")


def _add_newton(prim: Prim, armature: float, damping: float, friction: float, velocity: float = inf) -> None:
    """What Newton's schema says of a joint, in degrees."""
    numbers = (
        ("armature", armature, 0.0),
        ("damping", damping, 0.0),
        ("friction", friction, 0.0),
        ("velocityLimit", velocity, inf),
    )
    for name, value, usual in numbers:
        if value != usual:
            prim.apply("NewtonJointAPI")
            prim.say(f"float newton:{name}", single(value))


def _is_base(link: str, holder: Mapping[str, JointSpec]) -> bool:
    return link not in holder or holder[link].parent == WORLD


def _along(xyz: tuple[float, float, float]) -> tuple[str, Matrix4]:
    """(letter, X_FA): the frame A along whose axis of that letter a direction points."""
    if tuple(xyz) in _AXES:
        return _AXES[tuple(xyz)], pose()
    x = np.array(xyz)
    y = np.cross(x, np.eye(3)[np.argmin(np.abs(x))])
    y /= np.linalg.norm(y)
    return "X", pose(np.column_stack([x, y, np.cross(x, y)]))
