"""SensorRows: what sensors give at the samples of a run, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.contact.contact_arrays import SampledContacts
from mbcli.multibody.sensing.evaluation import has_forces_between, needs_of
from mbcli.multibody.sensing.plant_sensing import PlantSensing
from mbcli.multibody.sensing.rows import SensedRows
from mbcli.multibody.sensing.signals import SensorSignals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.math.array_types import BoolArray, FloatArray


class SensorRows:
    """The sensors of a plant in a run.

    Args:
        plant: finalized. context: of the run, whose inputs act; None: nothing acts.
        seed: of their noise; None: they have none.
    """

    def __init__(self, plant: Any, context: Any = None, seed: int | None = None) -> None:
        self._plant, self._context = plant, context
        self._signals = SensorSignals(plant.elements.sensors, seed)
        self._needs, self._sensing = needs_of(plant.elements.sensors), PlantSensing(plant)
        self._own: Any = None  # a context to evaluate forces in

    def values(self, samples: Any, chosen: BoolArray) -> dict[str, FloatArray]:
        """{path: values} at the chosen samples, which go on from those of the last call."""
        needs, given = self._needs, dict[str, Any]()
        if samples.vdot is not None:
            given["vdot"] = samples.vdot[chosen]
        if needs & {"contact", "wrench"}:
            given["contacts"] = chosen_contacts(samples.contacts, chosen)
        if "effort" in needs:
            given["effort"] = samples.effort[chosen]
        if "wrench" in needs:
            given |= self._wrench_inputs(samples, chosen)
        rows = SensedRows(
            self._sensing,
            samples.time[chosen],
            samples.q[chosen],
            samples.v[chosen],
            energy=samples.energy[chosen],
            **given,
        )
        return self._signals.values(rows)

    def go_on(self, rows: dict[str, Any]) -> None:
        """The rows of the log that the run goes on with."""
        self._signals.go_on(rows)

    def _wrench_inputs(self, samples: Any, chosen: BoolArray) -> dict[str, Any]:
        """As evaluation.wrench_inputs(), at the samples."""
        if self._context is None:
            return {}
        if has_forces_between(self._plant):
            return {"reactions": np.array([self._reactions(*at) for at in self._at_samples(samples, chosen)])}
        if "applied_spatial_force" not in self._context.inputs.names():
            return {}
        forces = [self._plant.input_body_forces(self._context) for _ in self._at_samples(samples, chosen)]
        return {"pushes": np.array([np.broadcast_to(F, (self._plant.num_bodies(), 6)) for F in forces])}

    def _at_samples(self, samples: Any, chosen: BoolArray) -> Iterator[tuple[Any, ...]]:
        """(t, q, v, u) of each sample, at which the context of the run is meanwhile."""
        state = self._context.state
        after = state.time, state.q.copy(), state.v.copy()
        try:
            for k in np.flatnonzero(chosen):
                state.go_to(float(samples.time[k]), samples.q[k], samples.v[k])
                yield float(samples.time[k]), samples.q[k], samples.v[k], samples.u[k]
        finally:
            state.go_to(*after)

    def _reactions(self, t: float, q: FloatArray, v: FloatArray, u: FloatArray) -> FloatArray:
        """In a context of its own, which leaves that of the run as it is."""
        if self._own is None:
            self._own = self._plant.CreateDefaultContext()
        own, inputs = self._own, self._context.inputs
        own.inputs.take({name: inputs.value(name, self._context) for name in inputs.names()} | {"actuation": u})
        own.state.go_to(t, q, v)
        return self._plant.joint_reactions(own)


def chosen_contacts(sampled: Any, chosen: BoolArray) -> Any:
    """SampledContacts of the chosen rows."""
    if sampled is None or chosen.all():
        return sampled
    counts = np.diff(sampled.offset)
    kept = np.repeat(chosen, counts)
    record = sampled.contacts
    # corners of faces, which no sensor reads, stay behind
    whole = {"corner_start": np.zeros(int(kept.sum()) + 1, dtype=int), "corners": record.corners[:0]}
    parts = {name: getattr(record, name)[kept] for name in record.__dataclass_fields__ if name not in whole}
    offset = np.concatenate([[0], np.cumsum(counts[chosen])])
    return SampledContacts(offset, type(record)(**parts, **whole), sampled.iterations[chosen], sampled.residual[chosen])
