"""Mass, centre of mass, momentum and inertia of a plant or of some of its model instances, as a context has them.

World counts nothing; a model instance that is listed twice counts once.
"""

from functools import cached_property

import numpy as np

from mbcli.multibody.math import SpatialMomentum
from mbcli.multibody.plant.kinematics import WORLD_FRAME
from mbcli.multibody.tree.index import BodyIndex
from mbcli.multibody.tree.spatial_inertia import SpatialInertia


class MassProperties:
    """The part of MultibodyPlant that sums over bodies."""

    @cached_property
    def _selections(self):
        """Arrays (num_bodies,) of ones and zeros by model instances, None for all."""
        self._require_finalized("mass properties")
        return {None: np.ones(self.num_bodies())}

    def _links_of(self, model_instances):
        """1 for each body of the given model instances, else 0; of all for None."""
        key = None if model_instances is None else tuple(map(int, model_instances))
        selected = self._selections.get(key)
        if selected is None:
            for instance in key:
                self._check_instance(instance)
            selected = np.array([float(int(body.model_instance()) in key) for body in self._bodies])
            self._selections[key] = selected
        return selected

    def _mass_of(self, context, selected):
        if context._plant is not self:
            self._check_context(context)
        if not context._parameters_current:
            context._use_parameters()
        return context._kernels.query_mass(context._model_handle, selected)

    def _massive_links(self, context, model_instances):
        """Which links, and their mass. RuntimeError where there is no body or no mass."""
        selected = self._links_of(model_instances)
        mass = self._mass_of(context, selected)
        if not mass.real > 0.0:
            whose = "the plant has" if model_instances is None else "these model instances have"
            found = f"{mass:g} kg" if selected[1:].any() else "no body but World"
            raise RuntimeError(f"{whose} no mass ({found}): there is no centre of mass")
        return selected, mass

    def CalcTotalMass(self, context, model_instances=None):
        """[kg]; 0 where there is no body. RuntimeError for a model instance that does not exist."""
        return self._mass_of(context, self._links_of(model_instances))

    def CalcCenterOfMassPositionInWorld(self, context, model_instances=None):
        """p_WoScm_W (3,). RuntimeError where the bodies have no mass."""
        selected, mass = self._massive_links(context, model_instances)
        p = np.empty(3, context._at_positions().q.dtype)
        context._run("query_com_position", selected, mass, p)
        return p

    def CalcCenterOfMassTranslationalVelocityInWorld(self, context, model_instances=None):
        """v_WScm_W (3,). RuntimeError where the bodies have no mass."""
        selected, mass = self._massive_links(context, model_instances)
        v = np.empty(3, context._at_velocities().q.dtype)
        context._run("query_com_velocity", selected, mass, v)
        return v

    def CalcCenterOfMassTranslationalAccelerationInWorld(self, context, model_instances=None):
        """a_WScm_W (3,), from the forward dynamics of the context. RuntimeError where the bodies have no mass."""
        selected, mass = self._massive_links(context, model_instances)
        A = self._forward_accelerations(context)
        a = np.empty(3, A.dtype)
        context._at_velocities()
        context._run("query_com_acceleration", A, selected, mass, WORLD_FRAME, WORLD_FRAME, a)
        return a

    def CalcSpatialMomentumInWorldAboutPoint(self, context, model_instances=None, p_WoP_W=None):
        """L_WSP_W of all bodies, or of those of the model instances, about the point P (3,).

        Call it as (context, p_WoP_W) or (context, model_instances, p_WoP_W). RuntimeError for a model instance that
        does not exist.
        """
        if p_WoP_W is None:
            model_instances, p_WoP_W = None, model_instances
        if context._plant is not self:
            self._check_context(context)
        selected = self._links_of(model_instances)
        p = context._scalar.array(p_WoP_W, "p_WoP_W")
        if p.size != 3:
            raise RuntimeError(f"p_WoP_W must have shape (3,), it has {p.shape}")
        L = np.empty(6, p.dtype)
        context._at_velocities()
        context._run("query_momentum", selected, p.reshape(3), L)
        return SpatialMomentum._of(L)

    def CalcSpatialInertia(self, context, frame_F, body_indexes):
        """M_SFo_F of the bodies as if welded where they are. RuntimeError for an invalid or repeated index."""
        if context._plant is not self:
            self._check_context(context)
        selected = np.zeros(self.num_bodies())
        numbers = [(index if isinstance(index, BodyIndex) else BodyIndex(index))._value for index in body_indexes]
        for n in numbers:
            if n is None or n >= selected.size:
                raise RuntimeError(f"CalcSpatialInertia: there is no body {n}, the plant has {selected.size}")
        if len(set(numbers)) < len(numbers):
            n = next(n for n in numbers if numbers.count(n) > 1)
            raise RuntimeError(f"CalcSpatialInertia: body '{self._bodies[n].name()}' ({n}) is listed twice")
        selected[numbers] = 1.0
        I = np.empty(10, context._at_positions().q.dtype)
        context._run("query_inertia", selected, self._frame_number(frame_F), I)
        if not I[0].real > 0.0:
            return SpatialInertia.Zero()
        I[1:] /= I[0]
        return SpatialInertia._of(I[0], I[1:4], I[[4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(3, 3))

    def CalcArticulatedBodyInertias(self, context):
        """{BodyIndex: (P_B_W, Pplus_PB_W)}, each (6, 6), of the bodies that joints with velocities move.

        P_B_W is the inertia about Bo, expressed in World, that body B shows with all that is outboard of it when the
        joints there are free: F = P_B_W A + bias. Pplus_PB_W is what of it its own inboard joint passes on, about Bo
        too. Reflected inertias count. Links that are welded to B are part of it.
        """
        self._check_context(context)
        data = context._at_links()
        data.tau[:], data.F_link[:] = 0.0, 0.0
        context._run("calc_forward_dynamics")
        model, result = context._model, {}
        context._accelerations_current = False
        rows, columns = np.triu_indices(6)
        for mobilized in self._mobilized_joints:
            if mobilized.joint.num_velocities() == 0:
                continue
            link = mobilized.outboard
            b = model.link_body[link]
            Pplus = np.zeros((6, 6), data.q.dtype)
            Pplus[rows, columns] = Pplus[columns, rows] = data.articulated[b]
            d = slice(model.body_v[b], model.body_v[b] + model.body_nv[b])
            U = data.U[d]
            P = Pplus + (U.T / data.D[d]) @ U  # what eliminating the velocities one after another took away
            p = data.p_RoBo[b] + data.X_WB[b, :9].reshape(3, 3) @ model.link_X_BL[link, 9:]
            to_Ro = np.eye(6, dtype=data.q.dtype)  # V_Ro = to_Ro V_Bo
            to_Ro[3:, :3] = [[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]]
            result[BodyIndex(link)] = to_Ro.T @ P @ to_Ro, to_Ro.T @ Pplus @ to_Ro
        return result

    def _coms(self, context):
        """Masses (n,), centres of mass in W (n, 3) and their velocities (n, 3) of all bodies but World."""
        data = context._at_links()
        inertia = context._model.link_inertia[1:]
        R = data.X_WL[1:, :9].reshape(-1, 3, 3)
        arm = np.einsum("nij,nj->ni", R, inertia[:, 1:4])
        velocity = data.V_WL[1:, 3:] + np.cross(data.V_WL[1:, :3], arm)
        return inertia[:, 0], data.X_WL[1:, 9:] + arm, velocity
