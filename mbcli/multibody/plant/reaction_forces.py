"""The forces that joints transmit."""

from functools import cached_property

import numpy as np

from mbcli.multibody.math import SpatialForce
from mbcli.multibody.math.spatial_vector import vectors_of


class ReactionForces:
    """The part of MultibodyPlant that cuts the model at its joints."""

    def _reaction_forces(self, context):
        if context._plant is not self:
            self._check_context(context)
        rows = context._of_inputs.get("reactions")
        if rows is None:
            rows = list(self._calc_reactions(context, self._accelerations(context)))
            context._of_inputs["reactions"] = rows
        return vectors_of(SpatialForce, rows)

    def _calc_reactions(self, context, vdot):
        """F_CJc_Jc of all joints, (num_joints, 6)."""
        applied, _ = self._force_element_forces(context, True, True, True)
        inputs = self._input_body_forces(context)
        calls, data = context._at_velocities(), context._data
        data.vdot[...] = vdot
        data.F_link[...] = applied + inputs
        F = np.zeros((self.num_joints(), 6), context._dtype)
        calls.query_reactions(self._joint_tree, F)
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
