"""What the samples of a run show: energies, errors of constraints, contacts, positions beyond their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.log.fields.effort import EFFORT
from mbcli.log.fields.energy import KINETIC, POTENTIAL
from mbcli.simulation.effort_record import EffortRecord
from mbcli.simulation.energy_error import EnergyChange
from mbcli.simulation.velocity_limits import Fast, VelocityRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from mbcli.math.array_types import Array, BoolArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.stepping.run import Run
    from mbcli.multibody.stepping.samples import Samples
    from mbcli.simulation.control.plans import Plan

GIVE_OF_STOPS = 1e-3  # [m or rad]
DEEP = 1e-2  # [m] of an overlap at the start that is reported, and more where more is allowed


class Observer:
    """Takes the samples of a run one block after another.

    Args:
        plant: finalized.
        warn: (message) -> None.
        plan: that joints are to follow, None for none.

    Attributes:
        energies: [J] kinetic and potential together, of the first and the last sample; empty before the first.
        energy_change: EnergyChange of the samples.
        constraint_error: the largest; None without constraints.
        most_contacts: points and faces of surfaces in a sample; most_faces: of these.
        contacts: ContactArrays of the run, None if nothing can touch.
    """

    def __init__(
        self,
        plant: MultibodyPlant,
        warn: Callable[[str], object],
        plan: Plan | None = None,
        velocity_limits: str = "ignore",
    ) -> None:
        self._plant, self._warn, self._plan = plant, warn, plan
        self._errors: Array | None = None  # (n,) the largest, of the positions of the plan
        self.energies: list[float] = []
        self.energy_change = EnergyChange(plant)
        self.constraint_error: float | None = None
        self.contacts: Any = None
        self.most_contacts = self.most_faces = 0
        self._lower, self._upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
        self._exceeded = self._lower > self._upper  # none
        self._began: float | None = None
        self._efforts = EffortRecord(plant)
        self._speeds = VelocityRecord(plant, velocity_limits)

    def begin(self, run: Run) -> None:
        """Lets the observer know the run and the time [s] at which it begins."""
        elastic = bool(self._plant.elements.deformable_bodies)
        self.contacts = run.contact if elastic or self._plant.meets_contact() else None
        self._began = run.context.get_time()

    @property
    def exceeded_limits(self) -> list[str]:
        """The positions that were beyond their limits in some sample."""
        names = self._plant.GetPositionNames()
        return [names[k] for k in np.flatnonzero(self._exceeded)]

    def contact_summary(self) -> dict[str, Any] | None:
        """The key `contact` of a summary."""
        if self.contacts is None:
            return None
        return {"most_contacts": self.most_contacts, "most_faces": self.most_faces} | (self.contacts.statistics() or {})

    def effort_summary(self, names: list[str]) -> list[dict[str, Any]]:
        """The key `efforts` of a summary: of the actuators of these names."""
        return self._efforts.of(names)

    def fast(self) -> list[Fast]:
        """The key `velocities_beyond` of a summary."""
        return self._speeds.found()

    def tracking_summary(self) -> list[dict[str, Any]] | None:
        """The key `tracking` of a summary: of the joints of the plan; None without one."""
        if self._plan is None:
            return None
        names = self._plant.GetPositionNames()
        errors: Iterable[tuple[int, float]]
        errors = zip(self._plan.places, self._errors, strict=True) if self._errors is not None else ()
        return [{"position": names[k], "largest_error": float(error)} for k, error in errors]

    def see_rows(self, rows: Mapping[str, Any]) -> None:
        """Counts the rows of an earlier log in."""
        self._exceeded |= self._beyond(rows["q"]).any(axis=0)
        self._speeds.see(rows["time"], rows["v"])
        if EFFORT in rows:
            self._efforts.see(rows["time"], rows[EFFORT])
        if KINETIC in rows:
            self._note_energy(rows[KINETIC] + rows[POTENTIAL])

    def see(self, samples: Samples, event: Callable[..., None] = lambda *_, **__: None) -> None:
        """Takes a block of samples; event(time, severity, code, message) notes in the log what happened."""
        self._note_energy(samples.energy.sum(axis=1))
        self._efforts.see(samples.time, samples.effort)
        self._speeds.see(samples.time, samples.v)
        if self._plan is not None:
            errors = np.abs(samples.q[:, self._plan.places] - self._plan.positions_at(samples.time)).max(axis=0)
            self._errors = errors if self._errors is None else np.maximum(self._errors, errors)
        self.energy_change.see(samples)
        if self._plant.elements.constraints:
            self.constraint_error = max(float(samples.constraint_error.max()), self.constraint_error or 0.0)
        if samples.contacts is not None:
            self._see_contacts(samples, event)
        beyond = self._beyond(samples.q)
        new = beyond.any(axis=0) & ~self._exceeded
        self._exceeded |= new
        for row, k in sorted((int(beyond[:, k].argmax()), k) for k in new.nonzero()[0]):
            name, value = self._plant.GetPositionNames()[k], samples.q[row, k]
            limits = f"{self._lower[k]:.6g} to {self._upper[k]:.6g}"
            message = f"{name} is {value:.6g}, its limits are {limits}"
            event(samples.time[row], "warning", "POSITION_LIMIT", message)

    def _note_energy(self, energy: Array) -> None:
        self.energies = [self.energies[0] if self.energies else float(energy[0]), float(energy[-1])]

    def _beyond(self, q: Array) -> BoolArray:
        """Which positions are beyond their limits; stops give way a little."""
        allowed = GIVE_OF_STOPS if self._plant.is_discrete() or self._plant.position_stops else 0.0
        return (q < self._lower - allowed) | (q > self._upper + allowed)

    def _see_contacts(self, samples: Samples, event: Callable[..., None]) -> None:
        """Reports at the start of the run what overlaps far too much."""
        contacts: Any = samples.contacts
        counts = contacts.offset[1:] - contacts.offset[:-1]
        self.most_contacts = max(self.most_contacts, int(counts.max()))
        is_face = contacts.contacts.area > 0.0
        if is_face.any():
            row = np.repeat(np.arange(len(counts)), counts)
            self.most_faces = max(self.most_faces, int(np.bincount(row[is_face]).max()))
        t = float(samples.time[0])
        if t != self._began:
            return
        record = contacts.contacts
        deepest: dict[Any, float] = {}
        for i in range(counts[0]):
            pair = tuple(record.solid[i])
            deepest[pair] = max(deepest.get(pair, 0.0), -float(record.distance[i]))
        allowed = max(DEEP, 10.0 * self._plant.get_penetration_allowance())
        deep = sorted(
            (pair for pair, depth in deepest.items() if depth > allowed), key=deepest.__getitem__, reverse=True
        )
        if deep:
            names = " and ".join(self.contacts.geometry_name(k) for k in deep[0])
            others = f", and {len(deep) - 1} other pairs more than {allowed:g} m" if len(deep) > 1 else ""
            message = f"at t = {t:g} s {names} overlap by {deepest[deep[0]]:.3g} m{others}"
            self._warn(
                f"{message}: contact pushes them apart hard; move the model, filter the pair, or use "
                f"{argument('contact', False)}"
            )
            event(t, "warning", "OVERLAP", message, at_start=True)
