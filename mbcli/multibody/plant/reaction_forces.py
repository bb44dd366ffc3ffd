"""The forces that joints transmit."""

from functools import cached_property

import numpy as np

from mbcli.multibody.math import SpatialForce
from mbcli.multibody.tree.multibody_forces import MultibodyForces


class ReactionForces:
    """The part of MultibodyPlant that cuts the model at its joints."""

    def _reaction_forces(self, context):
        self._check_context(context)
        vdot = self._accelerations(context)
        if context._reactions_for is not vdot:  # another array for every new result
            context._reactions, context._reactions_for = self._calc_reactions(context, vdot), vdot
        return [SpatialForce._of(row) for row in context._reactions]

    def _calc_reactions(self, context, vdot):
        """F_CJc_Jc of all joints, (num_joints, 6)."""
        applied = MultibodyForces(self)
        self.CalcForceElementsContribution(context, applied)
        data = context._at_velocities()
        data.vdot[:] = vdot
        data.F_link[:] = applied._body_forces + self._input_body_forces(context)
        F = np.zeros((self.num_joints(), 6), data.q.dtype)
        context._run("query_reactions", self._joint_tree, F)
        return F

    @cached_property
    def _joint_tree(self):
        """For the engine: outboard link, inboard link, frame on child, whether the child is inboard, place in the list.

        Inboard joints come first. A joint that closes a loop is not in the model yet, it has no row and no force.
        """
        place = {joint: k for k, joint in enumerate(self._joints)}
        return np.array(
            [
                (m.outboard, m.inboard, m.joint.frame_on_child().index(), m.reversed, place[m.joint])
                for m in self._mobilized_joints
            ],
            dtype=np.int64,
        ).reshape(-1, 5)
