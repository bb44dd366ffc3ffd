"""Sensors of a ModelSpec into a plant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.elements import add_sensor
from mbcli.multibody.tree.sensor import Sensor
from mbcli.sensors.settings import SignalSettings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.parsers.spec import SensorSpec


def add_sensors(plant: Any, specs: Iterable[SensorSpec], known: Any, instance: Any) -> None:
    """Adds sensors; known has the bodies, joints and actuators by the names that they use."""
    for spec in specs:
        stated = spec.mount, spec.reference
        ends = [None if end is None else (known.bodies[end[0]], np.array(end[1])) for end in stated]
        sensor = Sensor(
            spec.name,
            spec.kind,
            spec.type,
            mount=ends[0],
            reference=ends[1],
            joints=tuple((known.joints[name], coefficient) for name, coefficient in spec.joints),
            offset=spec.offset,
            actuator=None if spec.actuator is None else known.actuators[spec.actuator],
            settings=spec.settings,
            signal=SignalSettings(spec.rate, spec.delay, spec.cutoff, spec.noise),
        )
        owner = instance if ends[0] is None or ends[0][0].index_number == 0 else ends[0][0].model_instance()
        add_sensor(plant, sensor, owner).place = spec.place
