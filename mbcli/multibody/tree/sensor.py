"""Sensor: what a model file mounts on a body, joint or actuator to measure it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.tree.element import NamedElement
from mbcli.sensors import SENSORS
from mbcli.sensors.settings import EXACT, SignalSettings

if TYPE_CHECKING:
    from mbcli.math.array_types import Matrix
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.sensors import SensorKind
    from mbcli.sensors.signal import Signal

Mount = tuple[Any, np.ndarray]  # (RigidBody, X_BS (4, 4))


class Sensor(NamedElement):
    """A sensor of a plant. What it gives is that of its kind (mbcli/sensors/).

    Args:
        name: need not be unique.
        kind: a name of SENSORS.
        type: what the model file calls it.
        mount: (body, X_BS (4, 4)) of the frame S of the sensor; None for a kind that has none.
        reference: likewise, of the frame that it measures in; None for World.
        joints: (joint of one coordinate, coefficient) whose sum it measures; or the one joint, with coefficient 1.
        offset: what is added to the sum of positions.
        actuator: that it measures.
        settings: of its kind.
        signal: when its values arrive, and what becomes of them on the way; by default exact ones at every row.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        type: str,
        *,
        mount: Mount | None = None,
        reference: Mount | None = None,
        joints: tuple[tuple[Joint, float], ...] = (),
        offset: float = 0.0,
        actuator: JointActuator | None = None,
        settings: dict[str, Any] | None = None,
        signal: SignalSettings = EXACT,
    ) -> None:
        self._name, self._kind_name, self._type = name, kind, type
        self._mount, self._reference = mount, reference
        self.joints, self.offset, self.actuator = joints, offset, actuator
        self.settings = {} if settings is None else settings
        self.rate, self.delay, self.cutoff, self.noise = signal
        self.path = ""  # of its dataset in a log, once the plant is finalized

    @property
    def kind(self) -> SensorKind:
        """The file of its kind."""
        return SENSORS[self._kind_name]

    def kind_name(self) -> str:
        """The name of its kind."""
        return self._kind_name

    def type_name(self) -> str:
        """What the model file calls it."""
        return self._type

    @property
    def mount(self) -> Mount:
        """(body, X_BS)."""
        if self._mount is None:
            raise RuntimeError(f"sensor '{self._name}' of type {self._type} has no frame")
        return self._mount

    @property
    def has_frame(self) -> bool:
        """Whether it is fixed to a body."""
        return self._mount is not None

    @property
    def body(self) -> RigidBody:
        """The body that it is fixed to."""
        return self.mount[0]

    @property
    def X_BS(self) -> Matrix:
        """Pose (4, 4) of its frame in that body."""
        return self.mount[1]

    @property
    def reference(self) -> Mount | None:
        """(body, pose) of the frame that it measures in; None for World."""
        return self._reference

    def reference_name(self) -> str:
        """In whose axes it measures."""
        return "world" if self._reference is None else "reference"

    @property
    def joint(self) -> Joint:
        """The joint that it is mounted on."""
        return self.joints[0][0]

    @property
    def joint_ends(self) -> tuple[Mount, Mount]:
        """Frame M on the child and frame F on the parent of that joint."""
        frames = self.joint.frame_on_child(), self.joint.frame_on_parent()
        on_child, on_parent = ((f.body(), f.GetFixedPoseInBodyFrame().GetAsMatrix4()) for f in frames)
        return on_child, on_parent

    def is_angular(self) -> bool:
        """Whether the coordinates that it measures are angles alone."""
        return bool(self.joints) and all(joint.is_angular() for joint, _ in self.joints)

    def signals(self) -> tuple[Signal, ...]:
        """What it gives."""
        return self.kind.signals(self)

    def columns(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names and units of all numbers that it gives."""
        names = [(name, signal.units) for signal in self.signals() for name in signal.column_names()]
        return tuple(name for name, _ in names), tuple(unit for _, unit in names)

    def values(self, rows: Any) -> Matrix:
        """(n, columns): what it gives at SensedRows, without rate, delay and noise."""
        values = np.asarray(self.kind.values(self, rows), dtype=float).reshape(len(rows), -1)
        return self.cut(values) if self.is_cut() else values

    def is_cut(self) -> bool:
        """Whether its values have a bound."""
        return bool(self.cutoff and self.kind.CUTOFF)

    def cut(self, values: Matrix) -> Matrix:
        """Values within its bounds."""
        return np.clip(values, -self.cutoff if self.kind.CUTOFF == "both" else -np.inf, self.cutoff)

    def is_one_number(self) -> bool:
        """Whether it gives a number rather than a row of them."""
        signals = self.signals()
        return len(signals) == 1 and not signals[0].columns


def log_paths(sensors: list[Sensor], instance_name: Any) -> list[str]:
    """The dataset of each sensor in a log: by its name alone where that is the only one, else with those around it."""
    own = [_word(sensor.name()) for sensor in sensors]
    where = [_word(sensor.body.name()) if sensor.has_frame else "" for sensor in sensors]
    models = [_word(instance_name(sensor)) for sensor in sensors]
    longer = ["_".join(filter(None, parts)) for parts in zip(where, own, strict=True)]
    longest = ["_".join(filter(None, parts)) for parts in zip(models, where, own, strict=True)]
    paths: list[str] = []
    for names in zip(own, longer, longest, strict=True):
        k = next((k for k, all_names in enumerate((own, longer, longest)) if all_names.count(names[k]) == 1), None)
        name = names[-1] if k is None else names[k]
        count = 1
        while f"sensors/{name}" in paths:
            count += 1
            name = f"{names[-1]}_{count}"
        paths.append(f"sensors/{name}")
    return paths


def _word(name: str) -> str:
    """A name as a part of a path: letters, digits and _, the first no digit."""
    word = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
    return word if not word[:1].isdigit() else f"_{word}"
