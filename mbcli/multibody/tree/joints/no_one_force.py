"""Joints whose velocities are no coordinates' rates take no force along one of them."""


class NoOneForce:
    """To be named before Joint among the bases."""

    def AddInOneForce(self, context, joint_dof, joint_tau, forces):
        raise RuntimeError(f"joint '{self._name}' of type {self.kTypeName} takes no force along one coordinate")
