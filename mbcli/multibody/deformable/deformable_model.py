"""DeformableModel: the deformable bodies of a plant, under the names of pydrake.multibody.plant."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.geometry.geometry_instance import GeometryInstance
from mbcli.multibody.fem.body_config import DeformableBodyConfig
from mbcli.multibody.fem.force_density import ForceDensityField
from mbcli.multibody.tree.deformable_body import DeformableBody, DeformableBodyId
from mbcli.multibody.tree.index import DeformableBodyIndex, ModelInstanceIndex, default_model_instance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.geometry.identifiers import GeometryId
    from mbcli.geometry.shapes import Shape
    from mbcli.math.array_types import Points, Vector
    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.multibody.fem.force_density import ForceDensityFieldBase
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.owning_plant import OwningPlant
    from mbcli.multibody.tree.constraint_id import MultibodyConstraintId
    from mbcli.multibody.tree.index import DiscreteStateIndex
    from mbcli.multibody.tree.rigid_body import RigidBody


class PhysicalModel:
    """What a plant has beside rigid bodies; DeformableModel is the only kind."""


class DeformableModel(PhysicalModel):
    """The deformable bodies of a discrete plant: plant.mutable_deformable_model().

    Methods raise RuntimeError for an identifier that this model does not have.

    Attributes:
        bodies: list of DeformableBody by DeformableBodyIndex.
        added_forces: list of the ForceDensityFieldBase that act on all of them beside their weight.
    """

    def __init__(self, plant: OwningPlant) -> None:
        self._plant = plant
        self.bodies: list[DeformableBody] = plant.elements.deformable_bodies
        self.added_forces: list[ForceDensityFieldBase] = []
        self._parallelism = 1

    def SetParallelism(self, parallelism: Any) -> None:
        """How many threads compute the bodies: a number, a Parallelism, or True for as many as there are cores.

        One by default. Two are the most that are used, and only for bodies that are large enough to gain by it. Results
        do not depend on it, to the last bit.

        Raises ModelError if it is less than 1.
        """
        given = parallelism.num_threads() if hasattr(parallelism, "num_threads") else parallelism
        threads = (os.cpu_count() or 1) if given is True else 1 if given is False else operator.index(given)
        if threads < 1:
            raise ModelError(f"SetParallelism: the number of threads must be 1 or more, it is {threads}")
        self._parallelism = threads

    def parallelism(self) -> int:
        """How many threads compute the bodies."""
        return self._parallelism

    # before Finalize()

    def RegisterDeformableBody(
        self,
        geometry_instance: GeometryInstance,
        *arguments: Any,
        model_instance: ModelInstanceIndex | None = None,
        config: DeformableBodyConfig | None = None,
        resolution_hint: float | None = None,
    ) -> DeformableBodyId:
        """Adds an elastic body of the tetrahedra of a shape: (geometry_instance, config, resolution_hint), or
        (geometry_instance, model_instance, config, resolution_hint).

        Args:
            geometry_instance: its pose is X_WD of the reference configuration, its name that of the body. Shapes are
                Sphere, Box, Cylinder, Capsule, Ellipsoid, Convex, and Mesh: a `.vtk` file with tetrahedra, which are
                taken as they are, or closed surfaces of triangles, which are filled.
            model_instance: the default one if it is not given.
            config: DeformableBodyConfig.
            resolution_hint: about the length of edges [m].

        Raises RuntimeError after Finalize(), in a continuous plant, in one without a scene graph or with TAMSI, and
        for a name that a deformable body of the instance has; ModelError for a hint that is not positive and a shape
        that has no good tetrahedra; ResourceError for a mesh file that is not there.
        """
        names = ("model_instance", "config", "resolution_hint")
        with_instance = bool(arguments) and isinstance(arguments[0], ModelInstanceIndex)
        given = dict(zip(names if with_instance else names[1:], arguments, strict=False))
        if len(given) != len(arguments):
            raise TypeError("RegisterDeformableBody takes a geometry, a model instance, a config and a resolution hint")
        instance = given.get("model_instance", model_instance)
        config = given.get("config", config)
        resolution_hint = given.get("resolution_hint", resolution_hint)
        if not isinstance(geometry_instance, GeometryInstance) or not isinstance(config, DeformableBodyConfig):
            raise TypeError("RegisterDeformableBody takes a GeometryInstance and a DeformableBodyConfig")
        if resolution_hint is None:
            raise TypeError("RegisterDeformableBody takes a resolution hint")
        if not self._plant.geometry_source_is_registered():
            raise RuntimeError(
                "RegisterDeformableBody: the plant has no scene graph, call RegisterAsSourceForSceneGraph() first"
            )
        if not 0.0 < float(resolution_hint) < np.inf:
            raise ModelError(
                f"deformable body '{geometry_instance.name()}': the resolution hint must be finite and positive, it is "
                f"{resolution_hint}"
            )
        instance = default_model_instance() if instance is None else instance
        return self.add_body(geometry_instance, instance, config, float(resolution_hint)).body_id()

    def add_body(
        self,
        geometry_instance: GeometryInstance,
        instance: ModelInstanceIndex,
        config: DeformableBodyConfig,
        resolution_hint: float | None,
    ) -> DeformableBody:
        """As RegisterDeformableBody(), of a plant that may be without scene graph: then nothing touches the body.

        resolution_hint: None takes a quarter of the least width of a shape, and closed surfaces as they are.
        """
        from mbcli.multibody.deformable.elastic_mesh import elastic_mesh  # meshers take long to import

        plant = self._plant
        self._require_discrete("RegisterDeformableBody")
        plant.require_not_finalized("RegisterDeformableBody")
        if not plant.settings.is_convex():
            raise RuntimeError(
                f"RegisterDeformableBody: the discrete contact approximation "
                f"{plant.settings.discrete_contact_approximation} does not know deformable bodies"
            )
        plant.check_instance(instance)
        name = geometry_instance.name()
        if self.HasBodyNamed(name, instance):
            raise RuntimeError(
                f"RegisterDeformableBody: model instance '{plant.GetModelInstanceName(instance)}' has a deformable "
                f"body named '{name}' already"
            )
        mesh = elastic_mesh(geometry_instance.shape(), resolution_hint)
        geometry_id = plant.register_deformable_geometry(geometry_instance, mesh)
        body = DeformableBody(name, DeformableBodyId.get_new_id(), geometry_id, mesh, geometry_instance.pose(), config)
        body.join(plant, DeformableBodyIndex(len(self.bodies)), instance)
        self.bodies.append(body)
        geometry_instance.set_name(body.full_name())  # as of other geometries: with that of the model instance
        return body

    def SetWallBoundaryCondition(self, id: DeformableBodyId, p_WQ: ArrayLike, n_W: ArrayLike) -> None:
        """As DeformableBody.SetWallBoundaryCondition()."""
        self.GetBody(id).SetWallBoundaryCondition(p_WQ, n_W)

    def AddFixedConstraint(
        self,
        body_A_id: DeformableBodyId,
        body_B: RigidBody,
        X_BA: RigidTransform,
        shape: Shape | None = None,
        X_BG: RigidTransform | None = None,
        *,
        shape_G: Shape | None = None,
    ) -> MultibodyConstraintId:
        """As DeformableBody.AddFixedConstraint()."""
        return self.GetBody(body_A_id).AddFixedConstraint(body_B, X_BA, shape, X_BG, shape_G=shape_G)

    def AddExternalForce(self, external_force: ForceDensityFieldBase) -> None:
        """A force density that acts on all deformable bodies.

        RuntimeError after Finalize(), in a continuous plant, and for a field that a plant has already.
        """
        self._require_discrete("AddExternalForce")
        self._plant.require_not_finalized("AddExternalForce")
        if not isinstance(external_force, ForceDensityField):
            raise TypeError(f"AddExternalForce takes a ForceDensityField, not {external_force!r}")
        if external_force.has_parent_system():
            raise RuntimeError(f"AddExternalForce: {type(external_force).__name__} is part of a plant already")
        external_force.join(self._plant)
        self.added_forces.append(external_force)

    def _require_discrete(self, method: str) -> None:
        if not self._plant.is_discrete():
            raise RuntimeError(f"{method}: deformable bodies need a discrete plant, the time step of this one is 0")

    # bodies and their identifiers

    def num_bodies(self) -> int:
        """The number of deformable bodies."""
        return len(self.bodies)

    def is_empty(self) -> bool:
        """Whether it has neither a deformable body nor an external force."""
        return not self.bodies and not self.added_forces

    def GetBody(
        self, id: DeformableBodyId | DeformableBodyIndex | None = None, *, index: DeformableBodyIndex | None = None
    ) -> DeformableBody:
        """The body of an identifier or an index. RuntimeError if there is none."""
        if index is not None:
            id = index
        if isinstance(id, DeformableBodyIndex):
            if int(id) >= len(self.bodies):
                raise RuntimeError(f"there is no deformable body with index {int(id)}, there are {len(self.bodies)}")
            return self.bodies[int(id)]
        for body in self.bodies:
            if body.body_id() == id:
                return body
        raise RuntimeError(f"there is no deformable body {id!r} in this model")

    GetMutableBody = GetBody

    def GetBodyByName(self, name: str, model_instance: ModelInstanceIndex | None = None) -> DeformableBody:
        """The body of a name, of one instance or of all. RuntimeError if there is none, or more than one."""
        found = self._named(name, model_instance)
        where = "" if model_instance is None else f" in '{self._plant.GetModelInstanceName(model_instance)}'"
        if not found:
            raise RuntimeError(f"there is no deformable body named '{name}'{where}")
        if len(found) > 1:
            raise RuntimeError(f"there are {len(found)} deformable bodies named '{name}': name the model instance")
        return found[0]

    def HasBodyNamed(self, name: str, model_instance: ModelInstanceIndex | None = None) -> bool:
        """Whether there is a body of that name, in one instance or in any."""
        return bool(self._named(name, model_instance))

    def _named(self, name: str, instance: ModelInstanceIndex | None) -> list[DeformableBody]:
        if instance is not None:
            self._plant.check_instance(instance)
        return [b for b in self.bodies if b.name() == name and instance in (None, b.model_instance())]

    def GetBodyIds(self, model_instance: ModelInstanceIndex) -> list[DeformableBodyId]:
        """Identifiers of the bodies of an instance."""
        self._plant.check_instance(model_instance)
        return [body.body_id() for body in self.bodies if body.model_instance() == model_instance]

    def GetBodyId(
        self, geometry_id: GeometryId | DeformableBodyIndex | None = None, *, index: DeformableBodyIndex | None = None
    ) -> DeformableBodyId:
        """The identifier of the body with a geometry, or with an index: both are also taken without a name."""
        if isinstance(geometry_id, DeformableBodyIndex):
            geometry_id, index = None, geometry_id
        if index is not None:
            return self.GetBody(index).body_id()
        for body in self.bodies:
            if body.geometry_id() == geometry_id:
                return body.body_id()
        raise RuntimeError(f"no deformable body has the geometry {geometry_id!r}")

    def GetBodyIndex(self, id: DeformableBodyId) -> DeformableBodyIndex:
        """The index of a body."""
        return self.GetBody(id).index()

    def GetGeometryId(self, id: DeformableBodyId) -> GeometryId:
        """The geometry of a body."""
        return self.GetBody(id).geometry_id()

    def GetReferencePositions(self, id: DeformableBodyId) -> Vector:
        """(3 n,) [m] in W, x, y, z of one vertex after the other, as registered."""
        return self.GetBody(id).reference_positions()

    def HasConstraint(self, id: DeformableBodyId) -> bool:
        """Whether vertices of a body are fixed to a rigid body."""
        return self.GetBody(id).has_fixed_constraint()

    def GetDiscreteStateIndex(self, id: DeformableBodyId) -> DiscreteStateIndex:
        """The group of the discrete state that has [q; v; a] of a body, (9 n,). RuntimeError before Finalize()."""
        self._plant.require_finalized("GetDiscreteStateIndex")
        return self.GetBody(id).discrete_state_index()

    def GetExternalForces(self, id: DeformableBodyId) -> list[ForceDensityFieldBase]:
        """The weight of a body and the fields that were added. RuntimeError before Finalize()."""
        self._plant.require_finalized("GetExternalForces")
        return self.GetBody(id).external_forces()

    # the state of contexts

    def GetPositions(self, context: Context, id: DeformableBodyId) -> Points:
        """Positions of vertices (3, n) [m] in W."""
        return self.GetBody(id).GetPositions(context)

    def GetVelocities(self, context: Context, id: DeformableBodyId) -> Points:
        """Velocities of vertices (3, n) [m/s] in W."""
        return self.GetBody(id).GetVelocities(context)

    def GetPositionsAndVelocities(self, context: Context, id: DeformableBodyId) -> Points:
        """Positions, then velocities (3, 2 n)."""
        return self.GetBody(id).GetPositionsAndVelocities(context)

    def SetPositions(self, context: Context, id: DeformableBodyId, q: ArrayLike) -> None:
        """Positions of vertices (3, n) [m] in W. RuntimeError for another shape and for what is not finite."""
        self.GetBody(id).SetPositions(context, q)

    def SetVelocities(self, context: Context, id: DeformableBodyId, v: ArrayLike) -> None:
        """Velocities of vertices (3, n) [m/s] in W. RuntimeError for another shape and for what is not finite."""
        self.GetBody(id).SetVelocities(context, v)

    def SetPositionsAndVelocities(self, context: Context, id: DeformableBodyId, q: ArrayLike, v: ArrayLike) -> None:
        """Both, each (3, n). RuntimeError as for one alone."""
        self.GetBody(id).SetPositionsAndVelocities(context, q, v)

    def is_enabled(self, id: DeformableBodyId, context: Context) -> bool:
        """Whether a body takes part in the motion."""
        return self.GetBody(id).is_enabled(context)

    def Enable(self, id: DeformableBodyId, context: Context) -> None:
        """Lets a body take part in the motion."""
        self.GetBody(id).Enable(context)

    def Disable(self, id: DeformableBodyId, context: Context) -> None:
        """Freezes a body."""
        self.GetBody(id).Disable(context)
