"""Motion plans: positions of joints over time from a table, with velocities and accelerations between its rows.

linear    straight from row to row
cubic     twice differentiable, at rest at both ends; with velocities in the table: those at the rows
quintic   at the rows the velocities of the table, or those of the mean of both sides, and no accelerations

Before the first row and after the last one a plan rests there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import NamedCoordinates
from mbcli.common.fast_dataclass import dataclass
from mbcli.common.text_tables import read_text_table, scale_to, shown
from mbcli.errors import ArgumentError, ModelError
from mbcli.models.units import coordinate_units
from mbcli.parsers.diagnostics import printable
from mbcli.simulation.control.choices import INTERPOLATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.common.text_tables import TableHeader
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.joint import Joint

SAMPLES = 1001  # of a plan, at which its limits are looked at, beside its rows
BEYOND = 1e-6  # [rad or m, rad/s or m/s]: rounding of numbers in files
UNITS = {"rad": "rad", "m": "m", "rad s-1": "rad/s", "m s-1": "m/s"}


@dataclass(frozen=True)
class Motion:
    """What a plan wants at a time: q, v and vdot of its joints, (n,)."""

    q: FloatArray
    v: FloatArray
    vdot: FloatArray

    def as_dict(self) -> dict[str, Any]:
        """For lines of JSON."""
        return {"q": self.q.tolist(), "v": self.v.tolist(), "vdot": self.vdot.tolist()}


class Plan:
    """Positions of some joints over time.

    Args:
        places: (n,) indices of their positions in q; dofs: (n,) those of their velocities in v.
        times: (rows,) [s] increasing.
        positions: (rows, n) [rad or m]; velocities: (rows, n) or None.
        interpolation: one of INTERPOLATIONS.

    ModelError where numbers are so large that rates are not finite.
    """

    def __init__(
        self,
        places: list[int],
        dofs: list[int],
        times: FloatArray,
        positions: FloatArray,
        velocities: FloatArray | None,
        interpolation: str,
    ) -> None:
        if interpolation not in INTERPOLATIONS:
            raise ArgumentError(f"{argument('interpolation')} is one of {', '.join(INTERPOLATIONS)}")
        self.places, self.dofs = np.array(places, dtype=int), np.array(dofs, dtype=int)
        self.times = times
        with np.errstate(all="ignore"):
            rates = _rates(times, positions, velocities, interpolation)
            self._pieces = _pieces(times, positions, rates, interpolation)
        if not np.isfinite(self._pieces).all():
            k = int(np.argmin(np.isfinite(self._pieces).all(axis=(1, 2))))
            raise ModelError(
                f"error: a plan has a number that is too large, or too small a step, from time {times[k]:g} to "
                f"{times[k + 1]:g}: its rates are not finite"
            )
        self._ends = positions[0], positions[-1]

    def at(self, time: float) -> Motion:
        """The motion at a time [s]."""
        times = self.times
        if not times[0] <= time < times[-1]:
            rest = self._ends[0] if time < times[0] else self._ends[1]
            return Motion(rest.copy(), np.zeros(len(rest)), np.zeros(len(rest)))
        k = int(np.searchsorted(times, time, side="right")) - 1
        s, c = time - times[k], self._pieces[k]
        q, v, vdot = c[5].copy(), 5.0 * c[5], 20.0 * c[5]
        for power in range(4, -1, -1):
            q = q * s + c[power]
            if power >= 1:
                v = v * s + power * c[power]
            if power >= 2:
                vdot = vdot * s + power * (power - 1) * c[power]
        return Motion(q, v, vdot)

    def beyond_limits(self, plant: MultibodyPlant) -> list[str]:
        """In words, the joints whose positions or velocities exceed their limits by more than rounding, and when."""
        times = np.union1d(self.times, np.linspace(self.times[0], self.times[-1], SAMPLES))
        q, v, _ = self.motions_at(times)
        sides = (
            (q, plant.GetPositionNames(), self.places, plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()),
            (v, plant.GetVelocityNames(), self.dofs, plant.GetVelocityLowerLimits(), plant.GetVelocityUpperLimits()),
        )
        found = []
        for values, names, places, low, high in sides:
            by = np.maximum(low[places] - values, values - high[places])
            for k in np.flatnonzero((by > BEYOND).any(axis=0)):
                row = int(np.argmax(by[:, k]))
                value = values[row, k]
                limit = (low if value < low[places[k]] else high)[places[k]]
                found.append(f"{names[places[k]]} is {value:.6g} where the limit is {limit:.6g}, at {times[row]:.6g} s")
        return found

    def positions_at(self, times: FloatArray) -> FloatArray:
        """(rows, n) [rad or m] at times (rows,) [s]."""
        return self.motions_at(times)[0]

    def motions_at(self, times: FloatArray) -> FloatArray:
        """(3, rows, n): positions, velocities and accelerations at times (rows,) [s]."""
        motions = [self.at(float(t)) for t in times]
        rows = np.array([(motion.q, motion.v, motion.vdot) for motion in motions])
        return rows.reshape(len(times), 3, len(self.places)).swapaxes(0, 1)


def _rates(times: FloatArray, positions: FloatArray, velocities: FloatArray | None, interpolation: str) -> FloatArray:
    """(rows, n) velocities at the rows."""
    if velocities is not None:
        return velocities
    if interpolation == "cubic":
        return _spline_rates(times, positions)
    rates = np.zeros_like(positions)
    if len(times) > 2:
        rates[1:-1] = (positions[2:] - positions[:-2]) / (times[2:] - times[:-2])[:, np.newaxis]
    return rates


def _spline_rates(times: FloatArray, positions: FloatArray) -> FloatArray:
    """Those with which second derivatives have no steps, zero at both ends; elimination of three diagonals."""
    h, n = np.diff(times)[:, np.newaxis], len(times)
    slope = np.diff(positions, axis=0) / h
    rates, upper = np.zeros_like(positions), np.zeros((n, 1))
    for k in range(1, n - 1):
        low, high = h[k], h[k - 1]
        right = 3.0 * (low * slope[k - 1] + high * slope[k])
        pivot = 2.0 * (low + high) - low * upper[k - 1]
        upper[k] = high / pivot
        rates[k] = (right - low * rates[k - 1]) / pivot
    for k in range(n - 2, 0, -1):
        rates[k] -= upper[k] * rates[k + 1]
    return rates


def _pieces(times: FloatArray, positions: FloatArray, rates: FloatArray, interpolation: str) -> FloatArray:
    """(rows - 1, 6, n) coefficients of the powers of the time since the row."""
    h = np.diff(times)[:, np.newaxis]
    rise, v0, v1 = np.diff(positions, axis=0), rates[:-1], rates[1:]
    pieces = np.zeros((len(times) - 1, 6, positions.shape[1]))
    pieces[:, 0] = positions[:-1]
    if interpolation == "linear":
        pieces[:, 1] = rise / h
        return pieces
    pieces[:, 1] = v0
    if interpolation == "cubic":
        pieces[:, 2] = (3.0 * rise / h - 2.0 * v0 - v1) / h
        pieces[:, 3] = (v0 + v1 - 2.0 * rise / h) / h**2
        return pieces
    pieces[:, 3] = (10.0 * rise / h - 6.0 * v0 - 4.0 * v1) / h**2
    pieces[:, 4] = (-15.0 * rise / h + 8.0 * v0 + 7.0 * v1) / h**3
    pieces[:, 5] = (6.0 * rise / h - 3.0 * v0 - 3.0 * v1) / h**4
    return pieces


def read_plan(plant: MultibodyPlant, path: str | os.PathLike, interpolation: str) -> Plan:
    """The Plan of a table with columns time, positions of joints of one velocity and, of all of them or none, their
    velocities, by the names of the plant. A velocity may be called v:NAME, as in tables of states, and accelerations,
    vdot:NAME, are not used. ModelError with the line for what is none.
    """
    table = read_text_table(path)
    header, names = table.header, list(table.header.names)
    if names.count("time") != 1 or len(set(names)) != len(names) or len(names) < 2:
        raise ModelError(f"{header.where}: error: the header needs one column 'time' and names of positions, once each")
    columns = _columns(plant, header)
    rows: list[FloatArray] = []
    times: list[float] = []
    for place, cells in table.rows:
        numbers = [header.number(cell) for cell in cells]
        if None in numbers:
            raise ModelError(f"{place}: error: '{printable(cells[numbers.index(None)])}' is not a finite number")
        row = np.array(numbers, dtype=float) * [column.scale for column in columns]
        if times and not row[names.index("time")] > times[-1]:
            raise ModelError(f"{place}: error: time {row[names.index('time')]:g} does not increase")
        times.append(float(row[names.index("time")]))
        rows.append(row)
    if len(rows) < 2:
        raise ModelError(f"{os.fspath(path)}: error: a plan has a header and at least two rows")
    values, joints = np.array(rows), _joints(plant)
    at = {column.dof: k for k, column in enumerate(columns) if column.kind == "q"}
    rates = {column.dof: k for k, column in enumerate(columns) if column.kind == "v"}
    if rates and rates.keys() != at.keys():
        raise ModelError(f"{header.where}: error: a plan has velocities of all of its joints, or of none")
    dofs = sorted(at)
    velocities = values[:, [rates[d] for d in dofs]] if rates else None
    places = [joints[d].position_start() for d in dofs]
    try:
        return Plan(places, dofs, np.array(times), values[:, [at[d] for d in dofs]], velocities, interpolation)
    except ModelError as error:
        raise ModelError(f"{os.fspath(path)}: {error}") from None


@dataclass(frozen=True)
class _Column:
    """A column: "time", "q", "v" or "vdot", the velocity of its joint, and what its numbers are multiplied by."""

    kind: str
    dof: int
    scale: float


def _columns(plant: MultibodyPlant, header: TableHeader) -> list[_Column]:
    positions = NamedCoordinates(plant.GetPositionNames(), "position")
    velocities = NamedCoordinates(plant.GetVelocityNames(), "velocity")
    position_units, velocity_units, _ = coordinate_units(plant)
    dof_of = {joint.position_start(): dof for dof, joint in _joints(plant).items()}
    found = []
    for cell, unit in zip(header.names, header.units, strict=True):
        place = f"{header.where}: error: column {shown(cell)}"
        if cell == "time":
            found.append(_Column("time", -1, scale_to("s", unit, place)))
            continue
        kind, dof = _meant(cell, positions, velocities, dof_of, place)
        if dof not in _joints(plant):
            raise ModelError(f"{place}: is not of a joint of one velocity, which a plan is for")
        if kind == "vdot":
            found.append(_Column(kind, dof, 1.0))
            continue
        base = velocity_units[dof] if kind == "v" else position_units[_joints(plant)[dof].position_start()]
        found.append(_Column(kind, dof, scale_to(UNITS[base], unit, place)))
    if len({(c.kind, c.dof) for c in found}) != len(found):
        raise ModelError(f"{header.where}: error: two columns for one coordinate")
    return found


def _meant(
    cell: str, positions: NamedCoordinates, velocities: NamedCoordinates, dof_of: Mapping[int, int], place: str
) -> tuple[str, int]:
    """("q", "v" or "vdot", velocity index) of a name; -1 where the position is of no joint of one velocity."""
    kind, colon, name = cell.partition(":")
    try:
        if colon and kind in ("v", "vdot"):
            return kind, velocities.find(name)
        if velocities.whole(cell):
            return "v", velocities.find(cell)
        return "q", dof_of.get(positions.find(cell), -1)
    except LookupError as error:
        if not colon:
            with suppress(LookupError):
                return "v", velocities.find(cell)
        raise ModelError(f"{place}: {printable(error.args[0])}") from None


def _joints(plant: MultibodyPlant) -> dict[int, Joint]:
    """{velocity index: joint} of joints of one velocity."""
    return {joint.velocity_start(): joint for joint in plant.moving_joints() if joint.num_velocities() == 1}
