"""Identification by simulation: from files of measured motion, without or with efforts, to parameters of the model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ArgumentError, ModelError
from mbcli.identification.data_checks import checked
from mbcli.identification.estimation import correlations
from mbcli.identification.followers import with_followers
from mbcli.identification.free_parameters import FreeParameters
from mbcli.identification.parts import LEFT_OUT, each_part
from mbcli.identification.records import DataSettings, aimed_actuators, given, read_record
from mbcli.identification.shooting import Inputs, Segment, Shooting
from mbcli.identification.signals import choose_cutoff, runs_of, sample_rate, segments, velocities_of
from mbcli.simulation.controllers import aim_at_rest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.identification.findings import Finding
    from mbcli.identification.free_parameters import Fitted
    from mbcli.identification.parts import Elsewhere, Part
    from mbcli.identification.records import Record
    from mbcli.identification.signals import Run
    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel

DEFAULT_PATHS = ("body.*.inertial", "joint.*.damping", "joint.*.friction")
MOST_SEGMENTS = 160
FIRST_SHARE = 0.02  # of a joint's usual effort: friction from which the search starts where the file has none
DEFAULTS = DataSettings()
PASSES = 3  # with the noise that the one before has found
LEAST_NOISE = 1e-9  # of the range of a column
FIRST_NOISE = 1e-4


@dataclass
class TrajectoryFit:
    """What was found.

    Attributes:
        parameters: list of Fitted. inertias: {number of a link: ten parameters}; scalars: {path: value}.
        figures: relative errors of rollouts, by name. noise: {column: standard deviation of its errors}.
        segments, samples: how many, of the data. steps: of the search. plots: (source, time, measured, predicted) of
        each file's positions, of validation if there is one. names: of the positions.
        cross: (file, error) of each file of data by the others. of_positions: {"data_before", "data",
        "validation_before", "validation": {position: relative error}}, without what there is no data of.
    """

    parameters: list[Fitted]
    inertias: dict[int, FloatArray]
    scalars: dict[str, float]
    figures: dict[str, float | None]
    noise: dict[str, float]
    segments: int
    samples: int
    rows: int
    steps: int
    cutoff: float
    findings: list[Finding] = field(default_factory=list)
    plots: list[tuple[str, FloatArray, FloatArray, FloatArray]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    cross: list[tuple[str, float]] = field(default_factory=list)
    of_positions: dict[str, dict[str, float]] = field(default_factory=dict)

    def looks_wrong(self) -> bool:
        """Whether a finding says that the data are not what they claim to be."""
        return any(finding.severity == "error" for finding in self.findings)


def fit_trajectory(
    loaded: LoadedModel,
    data: Sequence[str],
    validate: Sequence[str] = (),
    paths: Sequence[str] = (),
    settings: DataSettings = DEFAULTS,
    *,
    length: float = 0.5,
    contact: bool = False,
    tell: Callable[[str], None] = lambda line: None,
    elsewhere: Elsewhere | None = None,
) -> TrajectoryFit:
    """Identifies parameters of a model by rollouts that match files of motions, and tries them on other files.

    Args:
        loaded: a discrete model.
        data: names of files: logs, or tables with times [s], positions (nq,) [rad or m] and what drives the model.
        validate: names of other files.
        paths: what is identified, as FreeParameters takes it; default: inertias, damping and friction of joints.
        settings: how files are read.
        length: [s] of a segment.
        contact: whether solids of the model touch.
        tell: takes lines on unused columns.
        elsewhere: what gives the results of parts, of part_of_trajectory() in other processes; None: this one does.

    Returns:
        The parameters, and the relative errors of rollouts before and after.

    Raises:
        ModelError, ResourceError: a file cannot be read, or lacks what is needed.
        ArgumentError: a path names nothing.
        NumericalError: rollouts do not come to their end.

    Example:
        >>> from mbcli.identification.trajectory import fit_trajectory
        >>> rod = mbcli.load_model("sample_models/pendulum.urdf", dt=0.02)
        >>> mbcli.simulate(rod, until=1.0, start={"hinge": 1.0}, log_rate=50, log="swing.h5").close()
        >>> fit_trajectory(rod, ["swing.h5"], paths=["joint.hinge.damping"], length=0.25).figures["after"] < 1e-6
        True
    """
    plant = loaded.plant
    ready = prepared_segments(loaded, data, validate, paths, settings, length=length, contact=contact, tell=tell)
    own, free = ready.own, ready.free
    shooting = ready.shooting(own)
    columns = [*plant.GetPositionNames(), *plant.GetVelocityNames()]
    range_of = _ranges(shooting)
    _take_noise(
        shooting,
        np.maximum(_first_noise(shooting, own, [r for part in ready.runs for r in part]), FIRST_NOISE * range_of),
    )
    zero = np.zeros(free.size)
    before = shooting.solve(free.of_file(), shooting.own_starts(), fixed=True)
    figures: dict[str, float | None] = {"before": _error(shooting, before)}
    of_positions = {"data_before": _errors_of_positions(shooting, before)}
    fit, steps = shooting.solve(zero, before.starts), 0
    for _ in range(PASSES):
        steps += fit.steps
        errors = shooting.errors(shooting.rollouts([fit.theta], [fit.starts])[0]) * shooting.scale
        noise = 1.4826 * np.median(np.abs(errors.reshape(-1, errors.shape[2])), axis=0)
        _take_noise(shooting, np.maximum(noise, LEAST_NOISE * range_of))
        shooting.inflation = _inflation(errors / shooting.scale)
        fit = shooting.solve(fit.theta, fit.starts)
    figures["after"] = _error(shooting, fit)
    of_positions["data"] = _errors_of_positions(shooting, fit)
    shown = (shooting, fit)
    figures["validation_before"] = figures["validation"] = None
    if ready.unseen:
        other = ready.shooting(ready.unseen)
        other.take_weights(shooting)
        untried, tried = (other.solve(theta, other.own_starts(), fixed=True) for theta in (free.of_file(), fit.theta))
        figures["validation_before"], figures["validation"] = _error(other, untried), _error(other, tried)
        of_positions["validation_before"] = _errors_of_positions(other, untried)
        of_positions["validation"] = _errors_of_positions(other, tried)
        shown = (other, tried)
    state = {"theta": fit.theta.tolist(), "starts": fit.starts.tolist(), "inflation": float(shooting.inflation)}
    state |= {"scale": shooting.scale.tolist(), "loose": shooting.loose.tolist()}
    cross, _ = each_part(
        [s.source for s in own], 0, state, lambda part: part_of_trajectory(ready, part, state), elsewhere
    )
    return TrajectoryFit(
        free.fitted(fit.theta, fit.covariance),
        free.inertias(fit.theta),
        free.scalars(fit.theta),
        figures,
        dict(zip([c for c, there in zip(columns, shooting.given, strict=True) if there], shooting.scale, strict=True)),
        len(own),
        len(own) * len(own[0].time),
        ready.rows,
        steps + fit.steps,
        ready.cutoff,
        ready.findings,
        _plots(*shown),
        [name for name, there in zip(columns[: plant.num_positions()], shooting.given, strict=False) if there],
        [(source, error) for source, [error] in cross.items()],
        of_positions,
    )


@dataclass
class PreparedSegments:
    """What comes before a fit by simulation: segments of the data, and of motion that is unseen.

    Attributes:
        free: the FreeParameters. runs: of each file. rows: of the data. cutoff: [Hz] of their filter.
        shooting: makes the Shooting of some segments.
    """

    own: list[Segment]
    unseen: list[Segment]
    free: FreeParameters
    runs: list[list[Run]]
    rows: int
    cutoff: float
    findings: list[Finding]
    shooting: Callable[[Sequence[Segment]], Shooting]


def part_of_trajectory(ready: PreparedSegments, part: Part, state: Mapping[str, Any]) -> list[float]:
    """The error of a file by the others. state: of all: "theta", "starts", and the weights of their Shooting."""
    own = ready.own
    source = list(dict.fromkeys(s.source for s in own))[part[LEFT_OUT]]
    with_it, without = ([s for s in own if (s.source == source) == whether] for whether in (True, False))
    rest, left = ready.shooting(without), ready.shooting(with_it)
    of_rest = np.array([start for s, start in zip(own, state["starts"], strict=True) if s.source != source])
    for other in (rest, left):
        other.scale, other.loose, other.inflation = (
            np.array(state["scale"]),
            np.array(state["loose"]),
            state["inflation"],
        )
    theta = rest.solve(np.array(state["theta"]), of_rest).theta
    return [_error(left, left.solve(theta, left.own_starts(), fixed=True))]


def prepared_segments(
    loaded: LoadedModel,
    data: Sequence[str],
    validate: Sequence[str],
    paths: Sequence[str],
    settings: DataSettings,
    *,
    length: float,
    contact: bool,
    tell: Callable[[str], None] = lambda line: None,
) -> PreparedSegments:
    """Reads files and cuts them into segments; arguments and errors as of fit_trajectory()."""
    plant = loaded.plant
    if not plant.is_discrete():
        raise ModelError("rollouts take steps: the plant must be discrete, its time step is 0")
    records = [
        with_followers(read_record(path, plant, settings, torques=False, tell=tell), plant)
        for path in (*data, *validate)
    ]
    findings, usable = [], []
    for record in records:
        found, mask, _ = checked(record, plant)
        findings += found
        usable.append(mask)
    cutoff = settings.cutoff or choose_cutoff(records[: len(data)])
    velocity_of = velocities_of(plant, plant.CreateDefaultContext())
    runs = [
        [run.thinned(cutoff) for run in runs_of(record, cutoff, mask, velocity_of)]
        for record, mask in zip(records, usable, strict=True)
    ]
    h = plant.time_step()
    every = max(1, round(1.0 / (sample_rate(records[0]) * h)))
    count = max(2, round(length / (every * h)))
    drive = _Drive(loaded)
    cut = [
        _segments(record, own, drive.inputs(record), every * h, count)
        for record, own in zip(records, runs, strict=True)
    ]
    own = _thinned([s for part in cut[: len(data)] for s in part])
    if not own:
        raise ModelError(f"{data[0]}: error: no stretch between gaps in time is as long as a segment, {length:g} s")
    free = FreeParameters(
        loaded, paths or DEFAULT_PATHS, _starts(plant, [r for part in runs[: len(data)] for r in part])
    )
    if "delay" in paths and not any(s.inputs.acts for s in own):
        raise ArgumentError("delay: the data give no inputs")
    return PreparedSegments(
        own,
        _thinned([s for part in cut[len(data) :] for s in part]),
        free,
        runs,
        sum(len(record.time) for record in records[: len(data)]),
        float(cutoff),
        findings,
        lambda part: Shooting(loaded, free, part, every, drive.gains, contact),
    )


class _Drive:
    """What columns of data do to actuators: forces, and aims of controllers with the gains that make forces of them."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.plant = loaded.plant
        self.actuators = [self.plant.get_joint_actuator(k) for k in self.plant.GetJointActuatorIndices()]
        self.kinds: list[str] = []
        self.fixed = np.zeros(len(self.actuators))
        for actuator in self.actuators:
            gains = actuator.get_controller_gains() if actuator.has_controller() else None
            force = None if actuator.control is None else actuator.control.force
            kind = "" if gains is None else "kd" if gains.p == 0.0 else "kp"
            if force is not None and (gains is None or force not in (gains.p, gains.d)):
                kind = ""
            k = actuator.input_start()
            self.kinds.append(kind)
            self.fixed[k] = (force or 0.0) if not kind or gains is None else gains.p if kind == "kp" else gains.d

    def gains(self, overrides: dict[str, Any]) -> FloatArray:
        """(nu,) of aims, under the values of parameters."""
        found = self.fixed.copy()
        for actuator, kind in zip(self.actuators, self.kinds, strict=True):
            for name in (
                actuator.name(),
                f"{self.plant.GetModelInstanceName(actuator.model_instance())}::{actuator.name()}",
            ):
                value = overrides.get(f"actuator.{name}.{kind}") if kind else None
                if value is not None:
                    found[actuator.input_start()] = value
        return found

    def inputs(self, record: Record) -> Inputs:
        """ModelError for efforts of joints that no actuator of the model drives."""
        nu, names = len(self.actuators), self.plant.GetVelocityNames()
        forces, aims = np.zeros((2, len(record.time), nu))
        default, driven = self.plant.GetDefaultPositions(), set()
        for actuator in self.actuators:
            k, d = actuator.input_start(), actuator.joint().velocity_start()
            driven.add(d)
            if actuator.control is not None:
                control = record.u[:, k]
                if given(record.u)[k]:
                    aims[:, k] = np.clip(control, *actuator.control.limits) - actuator.control.rest
            elif not np.isnan(record.tau[0, d]):
                forces[:, k] = record.tau[:, d]
        for n, actuator in enumerate(aimed_actuators(self.plant)):
            if record.u.shape[1] > nu and given(record.u)[nu + n]:
                aims[:, actuator.input_start()] = record.u[:, nu + n] - aim_at_rest(actuator, default)[0]
        idle = [names[d] for d in np.flatnonzero(given(record.tau)) if d not in driven and record.tau[:, d].any()]
        if idle:
            raise ModelError(f"{record.source}: error: no actuator of the model takes the efforts of {', '.join(idle)}")
        return Inputs(record.time, forces, aims)


def _segments(record: Record, runs: Sequence[Run], inputs: Inputs, period: float, count: int) -> list[Segment]:
    """The segments of a file: `count` samples after the start of each, one after another."""
    from scipy.interpolate import CubicSpline

    found: list[Segment] = []
    known = given(np.hstack((record.q, record.v)))
    for span in segments(record):
        part = record.part(span)
        run = next((r for r in runs if part.time[0] <= r.time[0] + 1e-9 and r.time[-1] <= part.time[-1] + 1e-9), None)
        if run is None:
            continue
        both = np.hstack((part.q, part.v))
        raw = CubicSpline(part.time, both[:, known])
        smooth = CubicSpline(run.time, np.hstack((run.q, run.v)))
        nq, follows = part.q.shape[1], False
        for k in range(int((run.time[-1] - run.time[0]) / (period * count) + 1e-9)):
            times = run.time[0] + period * (k * count + np.arange(count + 1))
            y = np.full((count + 1, both.shape[1]), np.nan)
            y[:, known] = raw(times)
            start = smooth(times[0])
            found.append(Segment(record.source, times, y[:, :nq], y[:, nq:], start[:nq], start[nq:], inputs, follows))
            follows = True
    return found


def _thinned(found: list[Segment]) -> list[Segment]:
    """At most MOST_SEGMENTS, evenly from all."""
    if len(found) <= MOST_SEGMENTS:
        return found
    kept = np.unique(np.linspace(0, len(found) - 1, MOST_SEGMENTS).astype(int)).tolist()
    return [replace(found[k], follows=found[k].follows and k - 1 in kept) for k in kept]


def _starts(plant: Any, runs: Sequence[Run]) -> dict[str, dict[str, float]]:
    """What friction and rotors of joints are at first, where the file has none: a part of the usual effort."""
    context = plant.CreateDefaultContext()
    found: dict[str, dict[str, float]] = {"damping": {}, "friction": {}, "armature": {}}
    if not runs:
        return found
    plant.SetPositions(context, runs[0].q[len(runs[0]) // 2])
    diagonal = np.diag(plant.CalcMassMatrix(context))
    v, vdot = (np.concatenate([getattr(run, what) for run in runs]) for what in ("v", "vdot"))
    speed, effort = np.sqrt((v**2).mean(axis=0)), diagonal * np.sqrt((vdot**2).mean(axis=0))
    for joint in plant.moving_joints():
        if joint.num_velocities() == 1:
            d, name = joint.velocity_start(), joint.name()
            found["damping"][name] = float(FIRST_SHARE * effort[d] / max(speed[d], 1e-9)) or 1e-3
            found["friction"][name] = float(FIRST_SHARE * effort[d]) or 1e-3
            found["armature"][name] = float(FIRST_SHARE * diagonal[d]) or 1e-3
    return found


def _ranges(shooting: Shooting) -> FloatArray:
    values = np.concatenate([np.hstack((s.q, s.v))[:, shooting.given] for s in shooting.segments])
    return np.array(np.maximum(np.ptp(values, axis=0), 1e-9))


def _first_noise(shooting: Shooting, own: Sequence[Segment], runs: Sequence[Run]) -> FloatArray:
    """Of each column: what the filter takes away."""
    from scipy.interpolate import CubicSpline

    rest = []
    for run in runs:
        smooth = CubicSpline(run.time, np.hstack((run.q, run.v)))
        for s in own:
            if s.source == run.source and run.time[0] <= s.time[0] and s.time[-1] <= run.time[-1] + 1e-9:
                rest.append((np.hstack((s.q, s.v)) - smooth(s.time))[:, shooting.given])
    return np.array(np.concatenate(rest).std(axis=0))


def _take_noise(shooting: Shooting, noise: FloatArray) -> None:
    """Standard deviations of columns, and of what is between segments: a speed that leads as far in a segment."""
    nq, nv = shooting.nq, shooting.nv
    of_column = np.full(nq + nv, float(np.median(noise)))
    of_column[shooting.given] = noise
    for a, b in shooting.quaternions:
        of_column[a:b] = of_column[a:b].max()
    shooting.scale = of_column[shooting.given]
    length = float(np.ptp(shooting.segments[0].time))
    for joint in shooting.plant.moving_joints():
        d, i = joint.velocity_start(), joint.position_start()
        for k in range(joint.num_velocities()):
            shooting.loose[d + k] = of_column[i + min(k, joint.num_positions() - 1)]
            shooting.loose[nv + d + k] = shooting.loose[d + k] / length


def _inflation(errors: FloatArray) -> float:
    """How many samples have the information of one."""
    parts = list(errors)
    found = correlations(parts, [np.ones_like(e) for e in parts])
    return max(1.0, *(2.0 * float(c.sum()) - 1.0 for c in found))


def _squares(shooting: Shooting, fit: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Measured positions, and of each the squares of the errors, and of how far it goes in each segment."""
    positions = np.flatnonzero(shooting.given[: shooting.nq])
    rollout = shooting.rollouts([fit.theta], [fit.starts])[0][:, :, positions]
    measured = np.array([s.q[:, positions] for s in shooting.segments])
    errors, ways = np.nan_to_num(rollout - measured), measured - measured[:, :1]
    return positions, (errors**2).sum(axis=(0, 1)), (ways**2).sum(axis=(0, 1))


def _error(shooting: Shooting, fit: Any) -> float:
    """Of the measured positions, norm of the errors over norm of how far they go in each segment."""
    _, errors, ways = _squares(shooting, fit)
    return float(np.sqrt(errors.sum() / ways.sum())) if ways.sum() > 0.0 else 0.0


def _errors_of_positions(shooting: Shooting, fit: Any) -> dict[str, float]:
    """The same of each, 0 of those that do not move."""
    names, (positions, errors, ways) = shooting.plant.GetPositionNames(), _squares(shooting, fit)
    found = np.sqrt(errors / np.where(ways > 0.0, ways, 1.0)) * (ways > 0.0)
    return dict(zip([names[k] for k in positions], found.tolist(), strict=True))


def _plots(shooting: Shooting, fit: Any) -> list[tuple[str, FloatArray, FloatArray, FloatArray]]:
    """(file, time (n,), measured (n, columns), predicted) of the positions, with NaN between segments."""
    positions = np.flatnonzero(shooting.given[: shooting.nq])
    rollout = shooting.rollouts([fit.theta], [fit.starts])[0][:, :, positions]
    found = []
    for source in dict.fromkeys(s.source for s in shooting.segments):
        own = [k for k, s in enumerate(shooting.segments) if s.source == source]
        time = np.concatenate([shooting.segments[k].time for k in own])
        measured = np.concatenate([shooting.segments[k].q[:, positions] for k in own])
        found.append((source, time, measured, np.concatenate([rollout[k] for k in own])))
    return found
