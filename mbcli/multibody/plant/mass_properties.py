"""Mass, centre of mass and momentum of a plant, as its context has them."""

import numpy as np

from mbcli.multibody.math import SpatialMomentum


class MassProperties:
    """The part of MultibodyPlant that sums over bodies."""

    def CalcTotalMass(self, context):
        """[kg], World excluded"""
        self._check_context(context)
        context._at_positions()
        return float(context._model.link_inertia[:, 0].sum())

    def _coms(self, context):
        """Masses (n,), centres of mass in W (n, 3) and their velocities (n, 3) of all bodies but World."""
        data = context._at_links()
        inertia = context._model.link_inertia[1:]
        R = data.X_WL[1:, :9].reshape(-1, 3, 3)
        arm = np.einsum("nij,nj->ni", R, inertia[:, 1:4])
        velocity = data.V_WL[1:, 3:] + np.cross(data.V_WL[1:, :3], arm)
        return inertia[:, 0], data.X_WL[1:, 9:] + arm, velocity

    def _require_mass(self, mass):
        if not mass.sum() > 0.0:
            raise RuntimeError("the plant has no mass: it has no centre of mass")

    def CalcCenterOfMassPositionInWorld(self, context):
        """p_WoScm_W (3,)"""
        self._check_context(context)
        mass, position, _ = self._coms(context)
        self._require_mass(mass)
        return mass @ position / mass.sum()

    def CalcCenterOfMassTranslationalVelocityInWorld(self, context):
        """v_WScm_W (3,)"""
        self._check_context(context)
        mass, _, velocity = self._coms(context)
        self._require_mass(mass)
        return mass @ velocity / mass.sum()

    def CalcSpatialMomentumInWorldAboutPoint(self, context, p_WoP_W):
        """L_WSP_W of all bodies about point P (3,)."""
        self._check_context(context)
        mass, position, velocity = self._coms(context)
        data, inertia = context._data, context._model.link_inertia[1:]
        R = data.X_WL[1:, :9].reshape(-1, 3, 3)
        central = inertia[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
        w_L = np.einsum("nji,nj->ni", R, data.V_WL[1:, :3])
        spin = np.einsum("nij,njk,nk->ni", R, central, w_L)
        momentum = mass[:, None] * velocity
        angular = (spin + np.cross(position - np.asarray(p_WoP_W, dtype=float), momentum)).sum(axis=0)
        return SpatialMomentum(angular, momentum.sum(axis=0))
