"""What can be asked of the rows of a log, in a file or in memory."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import StateNames
from mbcli.errors import ResourceError
from mbcli.log.fields.energy import KINETIC, POTENTIAL
from mbcli.log.fields.u import INPUT
from mbcli.log.surfaces import Surface, surfaces_of

if TYPE_CHECKING:
    from typing import Any

    from mbcli.log.format import ContactNames

SAME_TIME = 1e-9  # [s], relative above 1 s: 0.3 typed in a shell is the sample at 0.30000000000000004


class State(NamedTuple):
    """One sample: positions q (nq,) and velocities v (nv,)."""

    q: np.ndarray
    v: np.ndarray


class Rows:
    """The rows by what they are; docs/reference/log_format.md has their units and order.

    A class of logs has what is declared here.
    """

    path: str
    row_count: int
    names: dict[str, tuple[str, ...]]  # of the columns, by path
    units: dict[str, Any]  # one text a column, by path

    def fields(self) -> tuple[str, ...]:
        """The paths of what has a row a sample, `time` first."""
        raise NotImplementedError

    def row_shape(self, path: str) -> tuple[int, ...]:
        """Of one row of a field."""
        raise NotImplementedError

    def field(self, path: str) -> np.ndarray:
        """All rows of a field, (n, ...)."""
        raise NotImplementedError

    @property
    def has_contacts(self) -> bool:
        """Whether the run has logged its contacts."""
        raise NotImplementedError

    @property
    def has_faces(self) -> bool:
        """Whether the faces of contact surfaces were logged."""
        raise NotImplementedError

    def contacts(self, start: int = 0, stop: int | None = None) -> dict:
        """The contacts of rows start to stop: "offset" (n + 1,), from 0, and contact_fields by their path.

        KeyError if they were not logged.
        """
        raise NotImplementedError

    def contact_names(self) -> ContactNames | None:
        """What body_a, body_b, geometry_a and geometry_b count."""
        raise NotImplementedError

    def faces(self, start: int = 0, stop: int | None = None) -> dict:
        """The faces of the contacts of rows start to stop, by path.

        "faces/offset" (contacts + 1,) and "faces/corner_offset" (faces + 1,), both from 0; "faces/corner" (k, 3) [m],
        "faces/pressure" (k,) [Pa]. KeyError if they were not logged.
        """
        raise NotImplementedError

    def _time_of(self, row: int) -> float:
        raise NotImplementedError

    def _state_of(self, row: int) -> State:
        raise NotImplementedError

    @property
    def times(self) -> np.ndarray:
        """The times of the samples.

        Returns:
          (n,) [s].

        Example:
          >>> log.times[:3]
          array([0.  , 0.01, 0.02])
        """
        return self.field("time")

    @property
    def q(self) -> np.ndarray:
        """Positions of the samples.

        Returns:
          (n, nq) [rad or m; quaternions 1].

        Example:
          >>> log.q.shape
          (101, 2)
        """
        return self.field("state/q")

    @property
    def v(self) -> np.ndarray:
        """Velocities of the samples.

        Returns:
          (n, nv) [rad/s or m/s].

        Example:
          >>> log.v[0]
          array([0., 0.])
        """
        return self.field("state/v")

    @property
    def u(self) -> np.ndarray:
        """Actuation of the samples.

        Returns:
          (n, nu) [N m or N].

        Raises:
          KeyError: it was not logged.

        Example:
          >>> log.u.shape
          (101, 1)
        """
        return self.field(INPUT)

    @property
    def energy(self) -> np.ndarray:
        """Kinetic and potential energy of the samples.

        Returns:
          (n, 2) [J].

        Raises:
          KeyError: they were not logged.

        Example:
          >>> log.energy[0].round(3)
          array([ 0.   , 22.305])
        """
        return np.column_stack([self.field(path) for path in (KINETIC, POTENTIAL)])

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of q, in the order of its columns."""
        return self.names["state/q"]

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of v, in the order of its columns."""
        return self.names["state/v"]

    def column(self, name: str) -> np.ndarray:
        """One position or velocity over time, by its name; the end of a name will do.

        Args:
          name: as "double_pendulum_elbow_q", or "elbow_q".

        Returns:
          (n,) [rad or m, rad/s or m/s].

        Raises:
          LookupError: a name means no coordinate, or several.

        Example:
          >>> log.column("shoulder_q")[:1]
          array([0.4])
        """
        field, k = StateNames(self.position_names, self.velocity_names).find(name)
        return (self.q if field == "q" else self.v)[:, k]

    def state(self, time: float) -> State:
        """The sample at a time, up to rounding.

        Args:
          time: [s].

        Returns:
          q (nq,) [rad or m] and v (nv,) [rad/s or m/s].

        Raises:
          ResourceError: there is no sample at that time; the message says which are near.

        Example:
          >>> q, v = log.state(0.0)
          >>> q
          array([0.4, 0. ])
        """
        return self._state_of(self.row_at(time))

    def surfaces(self, time: float) -> list[Surface]:
        """The contact surfaces of the sample at a time [s], up to rounding, with their faces.

        Raises:
          ResourceError: there is no sample at that time; the message says which are near.
          KeyError: the faces were not logged.
        """
        row = self.row_at(time)
        faces, names = self.faces(row, row + 1), self.contact_names()
        return [] if names is None else surfaces_of(self.contacts(row, row + 1), faces, names)

    def _require_contacts(self) -> None:
        if not self.has_contacts:
            raise KeyError(f"{self.path}: contacts were not logged: {argument('fields', 'contact')}")

    def _require_faces(self) -> None:
        if not self.has_faces:
            raise KeyError(f"{self.path}: the faces of contact surfaces were not logged: {argument('fields', 'faces')}")

    def row_at(self, time: float) -> int:
        """The number of the sample at a time [s], up to rounding.

        Raises:
          ResourceError: there is no sample at that time; the message says which are near.
        """
        row = self.first_row_at(time - SAME_TIME * max(1.0, abs(time)))
        nearest = [self._time_of(i) for i in (row - 1, row) if 0 <= i < self.row_count]
        if row < self.row_count and abs(self._time_of(row) - time) <= SAME_TIME * max(1.0, abs(time)):
            return row
        if not nearest:
            raise ResourceError(f"{self.path}: error: no sample at {time:.12g} s: the log has no rows")
        times = " and ".join(f"{t:.12g}" for t in nearest)
        first, last = self._time_of(0), self._time_of(self.row_count - 1)
        raise ResourceError(
            f"{self.path}: error: no sample at {time:.12g} s, the nearest: {times} s; "
            f"the log goes from {first:.12g} to {last:.12g} s"
        )

    def first_row_at(self, time: float) -> int:
        """The index of the first row at or after a time [s]; row_count if there is none."""
        return bisect_left(range(self.row_count), time, key=self._time_of)
