"""The gravity of a plant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.tree.force_element import ForceElement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector, Vector3
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.index import ModelInstanceIndex
    from mbcli.multibody.tree.multibody_forces import MultibodyForces
    from mbcli.multibody.tree.rigid_body import RigidBody


class UniformGravityFieldElement(ForceElement):
    """One vector g_W that acts on all bodies but those of the disabled model instances, at their centres of mass.

    Every plant has exactly one, from its construction: MultibodyPlant.mutable_gravity_field().

    Args:
        g_W: [m/s^2] (3,).
        disabled_model_instances: the instances without gravity.
    """

    kDefaultStrength = 9.81  # [m/s^2]

    def __init__(
        self,
        g_W: ArrayLike = (0.0, 0.0, -kDefaultStrength),
        disabled_model_instances: Iterable[ModelInstanceIndex] = (),
    ) -> None:
        super().__init__()
        self.set_gravity_vector(g_W)
        self._disabled = {int(instance) for instance in disabled_model_instances}

    def gravity_vector(self) -> Vector3:
        """g_W [m/s^2], (3,)"""
        return self._g_W.copy()

    def set_gravity_vector(self, g_W: ArrayLike) -> None:
        """Before Finalize()."""
        value = np.array(g_W, dtype=float)
        if value.shape != (3,) or not np.isfinite(value).all():
            raise RuntimeError(f"gravity must be three finite numbers, it is {g_W!s}")
        if self.parent_plant is not None and self.parent_plant.is_finalized():
            raise RuntimeError("gravity cannot be changed after Finalize()")
        self._g_W = value

    def replace_vector(self, g_W: Vector3) -> None:
        """Of a finalized plant, in arrays that it makes from now on."""
        self._g_W = np.array(g_W, dtype=float)

    def is_enabled(self, model_instance: ModelInstanceIndex) -> bool:
        """Whether gravity acts on a model instance."""
        self.GetParentPlant().check_instance(model_instance)
        return int(model_instance) not in self._disabled

    def acts_on(self, body: RigidBody) -> bool:
        """Whether a body has weight: its instance has, and no model file takes the body itself out of gravity."""
        return body.has_weight and self.is_enabled(body.model_instance())

    def set_enabled(self, model_instance: ModelInstanceIndex, is_enabled: bool) -> None:
        """Switches gravity for all bodies of an instance, before Finalize()."""
        plant = self.GetParentPlant()
        plant.check_instance(model_instance)
        if plant.is_finalized():
            raise RuntimeError("gravity can only be switched before Finalize()")
        (self._disabled.discard if is_enabled else self._disabled.add)(int(model_instance))

    def CalcGravityGeneralizedForces(self, context: Context) -> Vector:
        """tau_g(q), (nv,), on the side of the applied forces: M vdot + C v = tau_g."""
        return self.GetParentPlant().CalcGravityGeneralizedForces(context)

    def CalcAndAddForceContribution(self, context: Context, forces: MultibodyForces) -> None:
        self.check_context(context)
        for n, mass, arm, _, _ in self._weights(context):
            weight = mass * self._g_W
            forces.F_Bo_W[n] += [*np.cross(arm, weight), *weight]

    def CalcPotentialEnergy(self, context: Context) -> Scalar:
        """[J], zero for a mass at the world's origin"""
        self.check_context(context)
        return -sum(mass * position @ self._g_W for _, mass, _, position, _ in self._weights(context))

    def CalcConservativePower(self, context: Context) -> Scalar:
        self.check_context(context)
        return sum(mass * velocity @ self._g_W for _, mass, _, _, velocity in self._weights(context))

    def CalcNonConservativePower(self, context: Context) -> Scalar:
        self.check_context(context)
        return 0.0

    def _weights(self, context):
        """(body index, mass, p_BoBcm_W, p_WBcm, v_WBcm) of every body under gravity."""
        state = context.state
        data, model = state.at_links(), state.model
        for n in np.flatnonzero(model.link_weight):
            arm = data.X_WL[n, :9].reshape(3, 3) @ model.link_inertia[n, 1:4]
            velocity = data.V_WL[n, 3:] + np.cross(data.V_WL[n, :3], arm)
            yield n, model.link_weight[n], arm, data.X_WL[n, 9:] + arm, velocity
