"""Motions of frames in an EvaluatedState, by the numbers of the frames."""

import numpy as np

WORLD_FRAME = 0
ORIGIN = np.zeros(3)
ORIGIN.flags.writeable = False


class FrameMotions:
    """The part of EvaluatedState that tells the motion of a frame f in a frame m, along the axes of a frame e.

    The arrays are remembered: nobody must change them. A call from Python is short, so these look into the dictionaries
    of results themselves.
    """

    __slots__ = ()

    def pose(self, f, m):
        """R (3, 3), p (3,)"""
        pose = self.of_q.get((f, m))
        if pose is None:
            calls = self.calls if self.positions_current else self.at_positions()
            calls.query_pose(f, m)
            pose = self.of_q[f, m] = self.copy_of_R(), self.copy_of_p()
        return pose

    def velocity(self, f, m, e):
        """(6,), of the frame's origin."""
        V = self.of_v.get((f, m, e))
        if V is None:
            calls = self.calls if self.velocities_current else self.at_velocities()
            calls.query_velocity(f, m, e)
            V = self.of_v[f, m, e] = self.copy_of_six()
        return V

    def velocity_of_point(self, f, point):
        """(6,), of a point (3,) of frame f, in World; not remembered."""
        calls = self.calls if self.velocities_current else self.at_velocities()
        calls.query_velocity_of_point(f, point, WORLD_FRAME, WORLD_FRAME)
        return self.copy_of_six()

    def velocity_beside(self, f, b, m, e):
        """(6,): what frame f has more than frame b."""
        V = self.of_v.get((f, b, m, e))
        if V is None:
            calls = self.calls if self.velocities_current else self.at_velocities()
            calls.query_velocity_beside(f, b, m, e)
            V = self.of_v[f, b, m, e] = self.copy_of_six()
        return V

    def acceleration(self, vdot, f, m, e, point=ORIGIN):
        """(6,), of a point (3,) of frame f, for vdot (nv,); not remembered."""
        calls = self.calls if self.velocities_current else self.at_velocities()
        calls.query_acceleration(vdot, f, point, m, e)
        return self.copy_of_six()

    def acceleration_beside(self, vdot, f, b, m, e):
        """(6,): what frame f has more than frame b, for vdot (nv,); not remembered."""
        calls = self.calls if self.velocities_current else self.at_velocities()
        calls.query_acceleration_beside(vdot, f, b, m, e)
        return self.copy_of_six()

    def link_accelerations(self):
        """(num_bodies, 6), for vdot of the data, where velocities are current."""
        result = np.empty((self.model.sizes["nlink"], 6), self.dtype)
        self.calls.query_link_accelerations(result)
        return result
