"""Deformable bodies: elastic solids of tetrahedra."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.geometry.identifiers import Identifier
from mbcli.geometry.inside_shape import inside_shape
from mbcli.math import RigidTransform
from mbcli.multibody.fem.force_density import GravityForceField
from mbcli.multibody.tree.constraint_id import MultibodyConstraintId
from mbcli.multibody.tree.element import NamedElement
from mbcli.multibody.tree.index import AbstractParameterIndex, DiscreteStateIndex

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.geometry.identifiers import GeometryId
    from mbcli.geometry.shapes import Shape
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray, Matrix, Points, Vector, Vector3
    from mbcli.meshes.volume_mesh import VolumeMesh
    from mbcli.multibody.fem.body_config import DeformableBodyConfig
    from mbcli.multibody.fem.force_density import ForceDensityFieldBase
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.rigid_body import RigidBody

SMALLEST_NORMAL = 1e-10


class DeformableBodyId(Identifier):
    """Identifier of a deformable body; DeformableBodyId.get_new_id() makes one."""

    __slots__ = ()


@dataclass(frozen=True)
class FixedVertices:
    """A constraint that fixes vertices of a deformable body to a rigid body B.

    Attributes:
        id: MultibodyConstraintId.
        body: RigidBody B.
        vertices: (k,) indices, ascending.
        p_BQ: (k, 3) [m] where B holds them, in its frame.
    """

    id: MultibodyConstraintId
    body: RigidBody
    vertices: IntArray
    p_BQ: FloatArray


class DeformableBody(NamedElement):
    """An elastic solid of linear tetrahedra. DeformableModel.RegisterDeformableBody() makes it.

    The frame D of its mesh is that of its geometry; X_WD at its registration gives the reference configuration, in
    which it is free of stress. Positions and velocities of vertices are matrices of 3 rows, a column for each vertex.

    Attributes:
        mesh: VolumeMesh in D.
        reference: (n, 3) [m] reference positions of the vertices in W; tetrahedra: (m, 4).
        on_wall: (n,) whether a wall boundary condition keeps a vertex where it is in the reference configuration.
        walls: list of (p_WQ, n_W) of those conditions.
        fixed_vertices: list of FixedVertices.
        color: RGBA as a file gives it, or None.
        has_weight: whether gravity acts on it, where it acts on its model instance.
    """

    has_weight = True
    color: tuple[float, ...] | None = None

    def __init__(
        self,
        name: str,
        id: DeformableBodyId,
        geometry_id: GeometryId,
        mesh: VolumeMesh,
        X_WD: RigidTransform,
        config: DeformableBodyConfig,
    ) -> None:
        self._name, self._id, self._geometry_id = name, id, geometry_id
        self.mesh, self.tetrahedra = mesh, mesh.tetrahedra
        self._X_WD = RigidTransform(X_WD)
        self.reference = placed(self._X_WD, mesh.vertices)
        self._config = copy.copy(config)
        self._enabled = True
        self.on_wall: BoolArray = np.zeros(len(mesh.vertices), dtype=bool)
        self.walls: list[tuple[Vector3, Vector3]] = []
        self.fixed_vertices: list[FixedVertices] = []

    def body_id(self) -> DeformableBodyId:
        """The identifier."""
        return self._id

    def geometry_id(self) -> GeometryId:
        """GeometryId of its geometry in the scene graph."""
        return self._geometry_id

    def config(self) -> DeformableBodyConfig:
        """A copy of its parameters."""
        return copy.copy(self._config)

    def full_name(self) -> str:
        """Its name with that of its model instance, as logs and pictures have it."""
        return str(self.scoped_name().get_full())

    def num_dofs(self) -> int:
        """Three for each vertex."""
        return self.reference.size

    def reference_positions(self) -> Vector:
        """(3 n,) [m] in W, x, y, z of one vertex after the other."""
        return self.reference.ravel().copy()

    def get_default_pose(self) -> RigidTransform:
        """X_WD of the reference configuration in new contexts."""
        return RigidTransform(self._X_WD)

    def set_default_pose(self, X_WD: RigidTransform) -> None:
        """X_WD of the reference configuration in contexts made from now on. The reference positions stay.

        ModelError for a body with a wall, which holds vertices at their reference positions.
        """
        if self.walls:
            raise ModelError(f"deformable body '{self._name}' is held by a wall: its default pose is where it is")
        self._X_WD = RigidTransform(X_WD)

    def default_positions(self) -> FloatArray:
        """(n, 3) [m] in W, of new contexts."""
        return placed(self._X_WD, self.mesh.vertices)

    def vertex_masses(self) -> FloatArray:
        """(n,) [kg]: each element gives a quarter of its mass to each of its vertices."""
        quarters = np.repeat(self._config.mass_density() * self.mesh.volumes / 4.0, 4)
        masses: FloatArray = np.zeros(len(self.reference))
        np.add.at(masses, self.tetrahedra.ravel(), quarters)
        return masses

    def mass(self) -> float:
        """[kg]"""
        return self._config.mass_density() * self.mesh.volume

    def gravity_vector(self) -> Vector3:
        """g_W [m/s^2], (3,): that of the plant, zero if gravity does not act on it."""
        field = self.GetParentPlant().gravity_field()
        return field.gravity_vector() if self.has_weight and field.is_enabled(self.model_instance()) else np.zeros(3)

    def external_forces(self) -> list[ForceDensityFieldBase]:
        """Its weight, a GravityForceField, and the fields that were added to the model; none before Finalize()."""
        plant = self.GetParentPlant()
        if not plant.is_finalized():
            return []
        weight = GravityForceField(self.gravity_vector(), self._config.mass_density())
        weight.join(plant)
        return [weight, *plant.deformable_model().added_forces]

    def discrete_state_index(self) -> DiscreteStateIndex:
        """The group of the discrete state that has its [q; v; a], (9 n,)."""
        return DiscreteStateIndex(1 + int(self.index()))

    def is_enabled_parameter_index(self) -> AbstractParameterIndex:
        """The abstract parameter of contexts that says whether the body takes part in the motion."""
        return AbstractParameterIndex(int(self.index()))

    # constraints

    def SetWallBoundaryCondition(self, p_WQ: ArrayLike, n_W: ArrayLike) -> None:
        """Keeps vertices in place that are behind a plane: those with n_W . p_QV < 0 in the reference configuration.

        Args:
            p_WQ: (3,) [m] a point Q of the plane, in W.
            n_W: (3,) its normal, out of the wall; of any length.

        Raises ModelError for a normal shorter than 1e-10, numbers that are not finite, and a wall without vertices;
        RuntimeError after Finalize().
        """
        self.GetParentPlant().require_not_finalized("SetWallBoundaryCondition")
        point, normal = _three("SetWallBoundaryCondition: p_WQ", p_WQ), _three("SetWallBoundaryCondition: n_W", n_W)
        if not np.array_equal(self.default_positions(), self.reference):
            raise ModelError(f"SetWallBoundaryCondition: deformable body '{self._name}' has another default pose")
        length = float(np.linalg.norm(normal))
        if not length > SMALLEST_NORMAL:
            raise ModelError(f"SetWallBoundaryCondition: the normal {normal.tolist()} of the wall has no direction")
        behind = (self.reference - point) @ (normal / length) < 0.0
        if not behind.any():
            raise ModelError(
                f"SetWallBoundaryCondition: deformable body '{self._name}' has no vertex behind the plane through "
                f"{point.tolist()} with the normal {normal.tolist()}"
            )
        self.on_wall |= behind
        self.walls.append((point, normal))

    def AddFixedConstraint(
        self,
        body_B: RigidBody,
        X_BA: RigidTransform,
        shape: Shape | None = None,
        X_BG: RigidTransform | None = None,
        *,
        shape_G: Shape | None = None,
    ) -> MultibodyConstraintId:
        """Fixes vertices to a rigid body B: those of the mesh, placed at X_BA in B, that are in a shape or on it.

        Args:
            body_B: of the same plant.
            X_BA: pose in B of the frame of the mesh.
            shape: Box, Capsule, Cylinder, Ellipsoid, HalfSpace or Sphere; shape_G is its later name.
            X_BG: its pose in B.

        Raises ModelError for another shape, and if no vertex is inside; RuntimeError after Finalize() and for a body
        of another plant.
        """
        plant = self.GetParentPlant()
        plant.require_not_finalized("AddFixedConstraint")
        shape = shape_G if shape is None else shape
        if shape is None or X_BG is None:
            raise TypeError("AddFixedConstraint takes a shape and its pose X_BG")
        if body_B.parent_plant is not plant:
            raise RuntimeError(f"AddFixedConstraint: {body_B!r} is not part of this plant")
        p_BP = placed(RigidTransform(X_BA), self.mesh.vertices)
        inside = inside_shape(shape, placed(RigidTransform(X_BG).inverse(), p_BP))
        if not inside.any():
            raise ModelError(
                f"AddFixedConstraint: deformable body '{self._name}' has no vertex in the {shape!r} of body "
                f"'{body_B.name()}'"
            )
        vertices = np.flatnonzero(inside)
        constraint = FixedVertices(MultibodyConstraintId.get_new_id(), body_B, vertices, p_BP[vertices])
        self.fixed_vertices.append(constraint)
        return constraint.id

    def has_fixed_constraint(self) -> bool:
        """Whether vertices are fixed to a rigid body."""
        return bool(self.fixed_vertices)

    # state

    def GetPositions(self, context: Context) -> Points:
        """Positions of the vertices (3, n) [m] in W."""
        return self._state(context).q.T.copy()

    def GetVelocities(self, context: Context) -> Points:
        """Velocities of the vertices (3, n) [m/s] in W."""
        return self._state(context).v.T.copy()

    def GetPositionsAndVelocities(self, context: Context) -> Points:
        """Positions of the vertices, then their velocities (3, 2 n)."""
        return np.hstack([self.GetPositions(context), self.GetVelocities(context)])

    def SetPositions(self, context: Context, q: ArrayLike) -> None:
        """Positions of the vertices (3, n) [m] in W. RuntimeError for another shape and for what is not finite."""
        values = self._columns("SetPositions: q", q)
        self._state(context).set(q=values)
        context.state.forget_positions()

    def SetVelocities(self, context: Context, v: ArrayLike) -> None:
        """Velocities of the vertices (3, n) [m/s] in W. RuntimeError for another shape and for what is not finite."""
        values = self._columns("SetVelocities: v", v)
        self._state(context).set(v=values)
        context.state.forget_positions()

    def SetPositionsAndVelocities(self, context: Context, q: ArrayLike, v: ArrayLike) -> None:
        """Positions and velocities of the vertices, each (3, n). RuntimeError as the two alone."""
        self._columns("SetPositionsAndVelocities: v", v)
        self.SetPositions(context, q)
        self.SetVelocities(context, v)

    def is_enabled(self, context: Context) -> bool:
        """Whether the body takes part in the motion."""
        self.check_context(context)
        return context.state.parameters.get(self, "enabled")

    def Enable(self, context: Context) -> None:
        """Lets the body take part in the motion, as it does unless it was disabled."""
        self._switch(context, True)

    def Disable(self, context: Context) -> None:
        """Freezes the body: it has no velocity, feels no force and touches nothing until it is enabled."""
        self._switch(context, False)
        self._state(context).set(v=0.0, a=0.0)

    def _switch(self, context: Context, enabled: bool) -> None:
        if self.is_enabled(context) is not enabled:
            context.state.set_parameter(self, "enabled", enabled)

    def CalcCenterOfMassPositionInWorld(self, context: Context) -> Vector3:
        """p_WBcm (3,) [m]"""
        return self.vertex_masses() @ self._state(context).q / self.mass()

    def CalcCenterOfMassTranslationalVelocityInWorld(self, context: Context) -> Vector3:
        """v_WBcm (3,) [m/s]"""
        return self.vertex_masses() @ self._state(context).v / self.mass()

    def CalcEffectiveAngularVelocity(self, context: Context) -> Vector3:
        """w_WB (3,) [rad/s] of a rigid body of the same shape, mass and angular momentum about its mass centre.

        The mass of each element counts at its centroid, as in pydrake: the answer is exact if the body moves as a
        rigid one.
        """
        state, masses = self._state(context), self._config.mass_density() * self.mesh.volumes
        r, u = (x[self.tetrahedra].mean(axis=1) for x in (state.q, state.v))
        r = r - masses @ r / masses.sum()
        u = u - masses @ u / masses.sum()
        H = masses @ np.cross(r, u)
        second = np.einsum("e,ei,ej->ij", masses, r, r)
        return np.linalg.solve(np.trace(second) * np.eye(3) - second, H)

    def _state(self, context: Context) -> Any:
        plant = self.GetParentPlant()
        plant.require_finalized(f"deformable body '{self._name}'")
        plant.check_context(context)
        return context.state.deformables[int(self.index())]

    def _columns(self, name: str, values: ArrayLike) -> Matrix:
        """A matrix of three rows as one row for each vertex."""
        matrix = np.array(values, dtype=float)
        if matrix.shape != (3, len(self.reference)):
            raise RuntimeError(
                f"{name} has the shape {matrix.shape}, deformable body '{self._name}' has {len(self.reference)} "
                f"vertices: (3, {len(self.reference)})"
            )
        if not np.isfinite(matrix).all():
            raise RuntimeError(f"{name} must be finite, vertex {np.flatnonzero(~np.isfinite(matrix).all(0))[0]} is not")
        return matrix.T


def placed(X_AB: RigidTransform, points: Matrix) -> FloatArray:
    """Points (n, 3) of frame B, in A."""
    return points @ X_AB.rotation().matrix().T + X_AB.translation()


def _three(name: str, value: ArrayLike) -> Vector3:
    vector = np.array(value, dtype=float).ravel()
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ModelError(f"{name} is three finite numbers, not {vector.tolist()}")
    return vector
