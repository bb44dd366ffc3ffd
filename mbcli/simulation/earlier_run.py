"""Going on with a run: the state that an earlier log ends with, and whether it is the same run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError, ModelError
from mbcli.log.fields.u import INPUT
from mbcli.log.reader import Log
from mbcli.log.rows import SAME_TIME
from mbcli.log.write_lock import WriteLock
from mbcli.simulation.recording import logged_plant, row_fields
from mbcli.simulation.same_model import require_same_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from mbcli.math.array_types import Vector
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

WATCHED_ALONE = "view_alone"  # of a run that only its page called
REMEMBERED = {"carried", "servo_carried", "tick", "activations"}  # of controllers and actuators, not in rows


def start_in_log(path: str, plant: MultibodyPlant) -> Vector:
    """(nq,) where the run of a log started. ModelError if the log does not have that."""
    with Log(path) as log:
        rows = next(log.chunks(["state/q"], stop=1), None)
        q: Any = np.zeros(0) if rows is None else rows["state/q"][0]
    if q.shape != (plant.num_positions(),) or not np.isfinite(q).all():
        raise ModelError(f"{path}: error: the log has no start of this model to go on from")
    return q


class EarlierRun:
    """A log to go on from, open for reading.

    A discrete run goes on from the last row, or from the checkpoint if that is later or if islands may sleep: rows do
    not have what sleeps, and since when the others rest. A continuous one needs the start and the length of its next
    step, which only the checkpoint has; rows after it are computed again, and without a checkpoint it starts anew from
    the first row. Either way the rows become those of a run that never stopped.

    Args:
        path: the log.
        loaded: the model, which must be the one that the log is of.
        fields: of the log.
        run_start: [s] start of the whole run.
        is_sample: (time [s]) -> whether a run that goes on takes a sample there.
        lent: by the actors of the run, as of LoggedPlant.
        controlled: whether a controller gives its actuation.
    """

    def __init__(
        self,
        path: str,
        loaded: LoadedModel,
        fields: Sequence[str],
        run_start: float,
        is_sample: Callable[[float], bool],
        lent: Mapping[str, Any],
        controlled: bool = False,
    ) -> None:
        self.path, self._fields = path, fields
        self._lock: WriteLock | None = None
        self._logged = logged_plant(loaded.plant, lent)
        self._paths = ["time", "state/q", "state/v", *(field.path for field in row_fields(fields, self._logged))]
        self.log = Log(path)
        try:
            self._check_controller(controlled)
            self._check_model(loaded)
            size = sum(9 * len(body.reference) for body in loaded.plant.elements.deformable_bodies)
            self._find_end(loaded.plant, size, run_start, is_sample)
        except BaseException:
            self.log.close()
            raise

    def __enter__(self) -> EarlierRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.log.close()
        if self._lock is not None:
            self._lock.release()

    def lock(self) -> None:
        """Keeps other processes from going on with an unfinished log. OutputError if one does, or writes it."""
        if not self.log.finished:
            self._lock = WriteLock(self.path)

    def _find_end(
        self, plant: MultibodyPlant, num_deformables: int, run_start: float, is_sample: Callable[[float], bool]
    ) -> None:
        """num_deformables: size of the states of deformable bodies, which rows do not have, as what sleeps."""
        log, checkpoint, discrete = self.log, self.log.read_checkpoint(), plant.is_discrete()
        self.checkpoint = checkpoint
        self.asleep = checkpoint if checkpoint is not None and {"sleep", "rest_start"} <= set(checkpoint) else None
        if self.asleep is None and plant.settings.sleep_tolerance > 0.0 and plant.meets_contact():
            raise ModelError(f"{self.path}: error: the log does not know what sleeps, so that the run cannot go on")
        self.deformables = np.zeros(0)
        if num_deformables:
            self.deformables = np.asarray((checkpoint or {}).get("deformables", self.deformables))
            if self.deformables.shape != (num_deformables,) or not np.isfinite(self.deformables).all():
                raise ModelError(f"{self.path}: error: the log has no state of the deformable bodies to go on from")
        if checkpoint is not None:
            self._check_checkpoint(checkpoint, plant, discrete)
        last = self._row(log.row_count - 1) if log.row_count else None
        if checkpoint is not None and (
            not discrete
            or num_deformables
            or self.asleep is not None
            or not REMEMBERED.isdisjoint(checkpoint)
            or last is None
            or checkpoint["time"] > last["time"]
        ):
            self.time, self.q, self.v = float(checkpoint["time"]), checkpoint["q"], checkpoint["v"]
        elif last is not None:
            row = last if discrete else self._row(0)
            self.time, self.q, self.v = float(row["time"]), row["state/q"], row["state/v"]
        else:
            raise ModelError(f"{self.path}: error: the log has no rows to go on from")
        if not np.isfinite([self.time, *self.q, *self.v]).all() or self.time < run_start:
            raise ModelError(f"{self.path}: error: the state at its end is not finite, or before the start of the run")
        self.end_time = max(self.time, self.time if last is None else float(last["time"]))
        self.row_count = log.first_row_at(np.nextafter(self.time, np.inf))
        if self.row_count:
            end = float(self._row(self.row_count - 1)["time"])
            if end != run_start and not is_sample(end):
                self.row_count -= 1  # the end of the run as it was then, between two samples
        self.last_time = float(self._row(self.row_count - 1)["time"]) if self.row_count else -np.inf

    def _check_checkpoint(self, checkpoint: Any, plant: MultibodyPlant, discrete: bool) -> None:
        """ModelError unless it has the numbers that the run goes on with."""
        sizes = {"time": (), "q": (plant.num_positions(),), "v": (plant.num_velocities(),)}
        if not discrete:
            sizes["next_step"] = ()
        wrong = [name for name, shape in sizes.items() if np.shape(checkpoint.get(name)) != shape]
        wrong += [name for name in ("next_step",) if name in checkpoint and np.shape(checkpoint[name]) != ()]
        if self.asleep is not None:
            trees = np.shape(checkpoint["sleep"])
            wrong += ["sleep"] if len(trees) != 1 or np.shape(checkpoint["rest_start"]) != sizes["v"] else []
        if wrong:
            raise ModelError(f"{self.path}: error: its checkpoint does not fit the model: {', '.join(wrong)}")

    def _row(self, k: int) -> dict[str, Any]:
        block = next(self.log.chunks(start=k, stop=k + 1))
        return {path: values[0] for path, values in block.items()}

    def place(self, plant: MultibodyPlant, context: Context) -> None:
        """Puts the state in which the run goes on into a context."""
        context.SetTime(self.time)
        plant.SetPositions(context, self.q)
        plant.SetVelocities(context, self.v)
        start = 0
        for own in context.state.deformables:
            own.set_values(self.deformables[start : start + own.values.size])
            start += own.values.size

    def refuse_end(self, end: float) -> None:
        """ArgumentError if the run is to end [s] before the log does: there is nothing to go on with."""
        if end < self.end_time - SAME_TIME * max(1.0, abs(self.end_time)):
            raise ArgumentError(
                f"{self.path}: error: goes to {self.end_time:.9g} s, and the run is to end at {end:.9g} s already"
            )

    def blocks(self) -> Iterator[dict[str, Any]]:
        """The rows up to where the run goes on, as LogWriter.append() takes them."""
        done = 0
        for block in self.log.chunks(self._paths, stop=self.row_count):
            rows: dict[str, Any] = {path.removeprefix("state/"): block[path] for path in self._paths}
            if self.log.has_contacts:
                bounds = done, done + len(block["time"])
                faces = self.log.faces(*bounds) if self.log.has_faces else {}
                rows["contact"] = self.log.contacts(*bounds) | faces
            done += len(block["time"])
            yield rows

    def events(self) -> list[dict[str, Any]]:
        return [event for event in self.log.events() if event["time"] <= self.time]

    # whether it is the same run

    def _check_model(self, loaded: LoadedModel) -> None:
        log, digests = self.log, {entry["sha256"] for entry in self.log.source_digests()}
        names = (list(log.position_names), list(log.velocity_names))
        require_same_model(self.path, loaded, digests, names, log.model, log.config)
        others = log.has_contacts != ("contact" in self._fields) or log.has_faces != ("faces" in self._fields)
        if set(log.fields()) != set(self._paths) or others:
            raise ModelError(
                f"{self.path}: error: has the fields {', '.join(log.fields())}: give the same {argument('fields')}"
            )
        if log.has_contacts and log.contact_names().surfaces != self._logged.has_surfaces:
            raise ModelError(f"{self.path}: error: is of a run with another contact model: surfaces are not points")
        if log.has_contacts and log.contact_names().moments != self._logged.has_moments:
            raise ModelError(f"{self.path}: error: is of a run with another friction: contacts have moments in one")

    def _check_controller(self, is_there: bool) -> None:
        """ModelError if the run had a controller and has none now, or the contrary."""
        checkpoint = self.log.read_checkpoint() or {}
        had = "tick" in checkpoint and WATCHED_ALONE not in checkpoint
        if had != is_there:
            how = "a controller" if had else "no controller"
            raise ModelError(f"{self.path}: error: was run with {how}: give the same {argument('controller')}")

    def check_input(self, input_at: Callable[[float], Any]) -> None:
        """ModelError if the actuation of the last row is not the one that input_at(time) gives now."""
        if "u" not in self._fields or not self.row_count:
            return
        if not np.array_equal(self._row(self.row_count - 1)[INPUT], input_at(self.last_time)):
            raise ModelError(f"{self.path}: error: was run with other actuation: give the same {argument('inputs')}")
