"""Measured motions as files have them: read by the one reader of tables, with NaN where a file gives nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.batch import is_bag
from mbcli.batch.row_demands import RowDemands
from mbcli.batch.state_layout import StateLayout
from mbcli.batch.state_reader import open_states
from mbcli.common.text_tables import UNUSED, is_comment
from mbcli.errors import ArgumentError, ModelError
from mbcli.models.units import plain_units
from mbcli.simulation.controllers import aim_at_rest
from mbcli.simulation.servo_controls import TARGET

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.math.array_types import FloatArray

CURRENT = "i"  # efforts before they are multiplied by their gain
CONTACT, FORCES = ".contact", (".fx", ".fy", ".fz")  # u:FOOT.contact, and force [N] on it along its own axes
TEMPERATURE = "temperature"  # u:temperature of all joints, u:JOINT.temperature of one
LARGEST = 1e15  # of a number of a recording, in its unit: squares and rates of those beyond are not finite
FEWEST_ROWS = 50


class MeasuredLayout(StateLayout):
    """A StateLayout in which nothing has a default: what rows do not give is NaN."""

    def default(self, field: str) -> FloatArray:
        return np.full(len(self.names(field)), np.nan)


def aimed_actuators(plant: Any) -> list[Any]:
    """The actuators with a controller of positions whose input is a force, not the control of a servo."""
    return [
        a
        for a in plant.elements.actuators
        if a.control is None and a.has_controller() and a.get_controller_gains().p > 0.0
    ]


@dataclass(frozen=True)
class DataSettings:
    """How data are read.

    Attributes:
        columns: names of the columns of texts. degrees: of angles without a unit. file_format: of data.
        gains: (nv,) that efforts are multiplied by, None: they are efforts.
        cutoff: [Hz] of the filter, None: chosen from the data; accelerations that rows give are not filtered then.
        drop_duplicates: whether rows with the time of the row before are left out; else they are an error.
        feet: names of frames, of which texts have columns u:FOOT.contact (0: in the air) and u:FOOT.fx, .fy, .fz.
    """

    columns: Sequence[str] | None = None
    degrees: bool = False
    file_format: str | None = None
    gains: FloatArray | None = None
    cutoff: float | None = None
    drop_duplicates: bool = False
    feet: Sequence[str] = ()


@dataclass(frozen=True)
class Record:
    """The rows of one file.

    Attributes:
        source: its name. time: (n,) [s], increasing. rows: (n,) number of each row in the file, from 0.
        q, v, vdot, tau: (n, nq) and (n, nv); a column that the file does not give is NaN.
        u: (n, nu) of actuators, or more, with the aims of the controllers of aimed_actuators(), or of feet, the contact
        and force of each, and of a text last the temperature of all joints, and of each with one velocity.
    """

    source: str
    time: FloatArray
    rows: Any
    q: FloatArray
    v: FloatArray
    vdot: FloatArray
    tau: FloatArray
    u: FloatArray
    is_text: bool = field(default=True)

    def part(self, selected: Any) -> Record:
        """The rows of an index or mask."""
        arrays = {name: getattr(self, name)[selected] for name in ("time", "rows", "q", "v", "vdot", "tau", "u")}
        return replace(self, **arrays)

    def line(self, k: int) -> int:
        """The line of row k in a text, or the number of the row, from 1."""
        row = int(self.rows[k])
        return line_of_row(self.source, row) if self.is_text else row + 1


def given(columns: FloatArray) -> FloatArray:
    """(k,) whether a record gives each column of an array (n, k)."""
    return ~np.isnan(columns[0]) if len(columns) else np.zeros(columns.shape[1], dtype=bool)


def expanded_columns(plant: Any, text: str) -> list[str]:
    """Names of columns of the option --columns; a word alone stands for all components of that field.

    ArgumentError for words that mean nothing.
    """
    names = {
        "q": plant.GetPositionNames(),
        "v": plant.GetVelocityNames(),
        "vdot": plant.GetVelocityNames(),
        "tau": plant.GetVelocityNames(),
        CURRENT: plant.GetVelocityNames(),
        "u": plant.GetActuatorNames(),
    }
    result: list[str] = []
    for word in text.replace(",", " ").split():
        stem, star, count = word.partition("*")
        if stem == UNUSED and star:
            if not count.isdigit():
                raise ArgumentError(f"columns: '{word}' is not {UNUSED}*NUMBER")
            result += [UNUSED] * int(count)
        elif word in names:
            field = "tau" if word == CURRENT else word
            result += [f"{field}:{name}" for name in names[word]]
        elif word.startswith(f"{CURRENT}:"):
            result.append("tau" + word[1:])
        else:
            result.append(word)
    if not result:
        raise ArgumentError("columns: no names")
    return result


def read_record(
    source: str,
    plant: Any,
    settings: DataSettings = DataSettings(),
    *,
    torques: bool = True,
    tell: Callable[[str], None] = lambda line: None,
) -> Record:
    """The rows of a file.

    Args:
        torques: whether efforts are needed; else columns may be aims of controllers too.
        tell: takes a line on columns that are not used.

    Raises:
        ResourceError: there is no such file.
        ModelError: it has no time, positions or efforts, too few rows, or times that do not increase.
    """
    columns, units = settings.columns, plain_units(plant)
    if settings.gains is not None:  # which bring currents, of any unit, to efforts
        units.pop("tau")
    nq, nv = plant.num_positions(), plant.num_velocities()
    names, text = [plant.GetPositionNames(), plant.GetVelocityNames(), plant.GetActuatorNames()], _is_text(source)
    for actuator in aimed_actuators(plant) if text and not torques else ():
        k = actuator.input_start()
        names[2] = [*names[2], names[2][k] + TARGET]
        units["u"] = [*units["u"], "rad" if actuator.joint().is_angular() else "m"]
    if settings.feet and not (text or is_bag(source) or source.lower().endswith(".mcap")):
        raise ModelError(
            f"{source}: error: feet need columns of a text, u:{settings.feet[0]}{CONTACT} or its forces, or a bag"
        )
    for foot in settings.feet:
        names[2] = [*names[2], foot + CONTACT, *(foot + part for part in FORCES)]
        units["u"] = [*units["u"], "", *("N" for _ in FORCES)]
    if torques and text:
        warm = [joint.name() for joint in plant.moving_joints() if joint.num_velocities() == 1]
        names[2] = [*names[2], TEMPERATURE, *(f"{joint}.{TEMPERATURE}" for joint in warm)]
        units["u"] = [*units["u"], *("" for _ in range(1 + len(warm)))]
    demands = RowDemands(units=units, degrees=settings.degrees, tell=tell)
    forces = [plant.GetActuatorNames()[a.input_start()] for a in plant.elements.actuators if a.control is None]
    acting = forces if torques else ()
    layout = MeasuredLayout(names[0], names[1], names[2], np.zeros(nq), np.zeros(nv), demands, columns, acting)
    try:
        chunks = list(open_states(source, layout, input_format=settings.file_format))
    except ModelError as error:
        if columns is None and any(words in str(error) for words in ("names of the columns are", "unknown column")):
            raise ModelError(f"{error}: --columns names them, as in --columns time,q,v,tau") from None
        raise
    n = sum(map(len, chunks))
    if n < FEWEST_ROWS:
        raise ModelError(f"{source}: error: {n} rows: identification needs {FEWEST_ROWS} or more")
    if chunks[0].time is None:
        raise ModelError(f"{source}: error: no column 'time' [s]")
    arrays = {name: _column(chunks, name, nq if name == "q" else nv) for name in ("q", "v", "vdot", "tau")}
    for name in ("q", "v"):  # which the reader fills from the defaults of the layout
        if name not in chunks[0].given:
            arrays[name][:] = np.nan
    u = np.full((n, len(layout.names("u"))), np.nan)
    if chunks[0].u is not None:
        u = np.concatenate([chunk.u for chunk in chunks])
    time = np.concatenate([chunk.time for chunk in chunks])
    if settings.gains is not None:
        arrays["tau"] = arrays["tau"] * settings.gains
    record = Record(source, time, np.arange(n), **arrays, u=u, is_text=text)
    twice = np.append(False, np.diff(time) == 0.0)
    if settings.drop_duplicates and twice.any():
        tell(f"{source}: {int(twice.sum())} rows with the time of the row before are left out")
        record = record.part(~twice)
    _check_times(record)
    _check_sizes(record)
    _take_actuation(record, plant, torques, settings.gains)
    if not given(record.q).any():
        raise ModelError(f"{source}: error: no positions: columns with the names of joints")
    if torques and not given(record.tau).any():
        raise ModelError(f"{source}: error: no efforts: columns tau:NAME, or u:NAME of actuators")
    return record


def _take_actuation(record: Record, plant: Any, torques: bool, gains: FloatArray | None) -> None:
    """Efforts of joints from columns u: forces as they are, of servos what their law makes of controls and motion.

    Efforts that a file gives beside the control of a servo stay. torques: whether efforts are needed.
    """
    default = plant.GetDefaultPositions()
    for actuator in plant.elements.actuators:
        k, d, i = actuator.input_start(), actuator.joint().velocity_start(), actuator.joint().position_start()
        u, tau = record.u[:, k], record.tau[:, d]
        if not given(record.u)[k]:
            continue
        if actuator.control is None:
            tau[:] = u if gains is None else u * gains[d]
        elif torques and not given(record.tau)[d]:
            if actuator.control.force is None:
                raise ModelError(
                    f"{record.source}: error: column 'u:{actuator.name()}' is the control of a servo whose force "
                    "depends on its motion otherwise than that of a PD controller: give efforts, tau:NAME"
                )
            tau[:] = actuator.control.force * (np.clip(u, *actuator.control.limits) - actuator.control.rest)
            if actuator.has_controller():
                (aim, speed), law = aim_at_rest(actuator, default), actuator.get_controller_gains()
                q, v = record.q[:, i], record.v[:, d]
                v = np.gradient(q, record.time) if np.isnan(v).any() else v
                tau += law.p * (aim - q) + law.d * (speed - v)
            np.clip(tau, -actuator.effort_limit(), actuator.effort_limit(), out=tau)


def _column(chunks: Sequence[Any], name: str, width: int) -> FloatArray:
    parts = [getattr(chunk, name) for chunk in chunks]
    if parts[0] is None:
        return np.full((sum(map(len, chunks)), width), np.nan)
    return np.array(np.concatenate(parts), dtype=float)


def _check_sizes(record: Record) -> None:
    """ModelError for a recording with numbers that nothing measures."""
    for name, what in (("time", "times"), ("q", "positions"), ("v", "velocities"), ("tau", "efforts"), ("u", "inputs")):
        values = getattr(record, name)
        far = (np.abs(values.reshape(len(values), -1)) > LARGEST).any(axis=1)
        if far.any():
            k = int(np.argmax(far))
            raise ModelError(f"{record.source}:{record.line(k)}: error: the {what} have a number above {LARGEST:g}")


def _check_times(record: Record) -> None:
    steps = np.diff(record.time)
    if not (steps > 0.0).all():
        k = int(np.argmax(~(steps > 0.0))) + 1
        option = "; --drop-duplicates leaves out rows with the time of the row before" if steps[k - 1] == 0.0 else ""
        raise ModelError(
            f"{record.source}:{record.line(k)}: error: column 'time': {record.time[k]:g} does not increase{option}"
        )


def _is_text(source: str) -> bool:
    try:
        with open(source, "rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return b"\0" not in head


def line_of_row(source: str, row: int) -> int:
    """The line of a row of a text: of those that begin with a number, from 0."""
    count = -1
    with open(source, encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip() or is_comment(line):
                continue
            first = line.lstrip().lstrip("\"'{[").lstrip()
            if count >= 0 or first[:1].isdigit() or first[:2].lstrip("+-.")[:1].isdigit() or line.lstrip()[:1] == "{":
                count += 1
            if count == row:
                return number
    return 0
