"""Motions of frames in an EvaluatedState, by the numbers of the frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import Matrix, Matrix3, Vector, Vector3, Vector6
    from mbcli.multibody.state.cache_entries import CacheEntries

WORLD_FRAME = 0
ORIGIN = np.zeros(3)
ORIGIN.flags.writeable = False


class FrameMotions:
    """The part of EvaluatedState that tells the motion of a frame f in a frame m, along the axes of a frame e.

    The arrays are remembered: nobody must change them. A call from Python is short, so these look into the dictionaries
    of results themselves.
    """

    __slots__ = ()

    model: Any
    dtype: np.dtype[Any]
    calls: Any
    positions_current: bool
    velocities_current: bool
    position_cache: CacheEntries
    velocity_cache: CacheEntries
    copy_of_six: Callable[[], Vector6]
    copy_of_R: Callable[[], Matrix3]
    copy_of_p: Callable[[], Vector3]

    if TYPE_CHECKING:  # methods of EvaluatedState

        def at_positions(self) -> Any: ...

        def at_velocities(self) -> Any: ...

    def pose(self, f: int, m: int) -> tuple[Matrix3, Vector3]:
        """R (3, 3), p (3,)"""
        pose = self.position_cache.get((f, m))
        if pose is None:
            calls = self.calls if self.positions_current else self.at_positions()
            calls.query_pose(f, m)
            pose = self.position_cache[f, m] = self.copy_of_R(), self.copy_of_p()
        return pose

    def velocity(self, f: int, m: int, e: int) -> Vector6:
        """(6,), of the frame's origin."""
        V = self.velocity_cache.get((f, m, e))
        if V is None:
            calls = self.calls if self.velocities_current else self.at_velocities()
            calls.query_velocity(f, m, e)
            V = self.velocity_cache[f, m, e] = self.copy_of_six()
        return V

    def velocity_of_point(self, f: int, point: Vector3) -> Vector6:
        """(6,), of a point (3,) of frame f, in World; not remembered."""
        calls = self.calls if self.velocities_current else self.at_velocities()
        calls.query_velocity_of_point(f, point, WORLD_FRAME, WORLD_FRAME)
        return self.copy_of_six()

    def velocity_beside(self, f: int, b: int, m: int, e: int) -> Vector6:
        """(6,): what frame f has more than frame b."""
        V = self.velocity_cache.get((f, b, m, e))
        if V is None:
            calls = self.calls if self.velocities_current else self.at_velocities()
            calls.query_velocity_beside(f, b, m, e)
            V = self.velocity_cache[f, b, m, e] = self.copy_of_six()
        return V

    def acceleration(self, vdot: Vector, f: int, m: int, e: int, point: Vector3 = ORIGIN) -> Vector6:
        """(6,), of a point (3,) of frame f, for vdot (nv,); not remembered."""
        calls = self.calls if self.velocities_current else self.at_velocities()
        calls.query_acceleration(vdot, f, point, m, e)
        return self.copy_of_six()

    def acceleration_beside(self, vdot: Vector, f: int, b: int, m: int, e: int) -> Vector6:
        """(6,): what frame f has more than frame b, for vdot (nv,); not remembered."""
        calls = self.calls if self.velocities_current else self.at_velocities()
        calls.query_acceleration_beside(vdot, f, b, m, e)
        return self.copy_of_six()

    def link_accelerations(self) -> Matrix:
        """(num_bodies, 6), for vdot of the data, where velocities are current."""
        result = np.empty((self.model.sizes["nlink"], 6), self.dtype)
        self.calls.query_link_accelerations(result)
        return result
