"""Positions of a plant, and poses, from sliders of a Meshcat."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.systems.leaf_system import LeafSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.systems.diagram import Diagram
    from mbcli.visualization.meshcat import Meshcat

NO_LIMIT = 10.0  # of a position without one
POLL_SECONDS = 1.0 / 32.0


def run_sliders(
    meshcat: Meshcat,
    publish: Callable[[], Any],
    timeout: float | None,
    keycode: str = "Escape",
    button: str = "Stop JointSliders",
) -> None:
    """Publishes again and again, until a button of the page is pressed or time is up [s]."""
    meshcat.AddButton(button, keycode)
    end = None if timeout is None else time.monotonic() + timeout
    publish()
    while meshcat.GetButtonClicks(button) < 1 and (end is None or time.monotonic() < end):
        time.sleep(POLL_SECONDS)
        publish()
    meshcat.DeleteButton(button)


class JointSliders(LeafSystem):
    """The positions of a plant from sliders, one for each position that belongs to a joint.

    A slider is called after its joint, with the coordinate where there are several; `JOINT/INSTANCE` if another model
    instance has a joint of that name.
    """

    def __init__(
        self,
        meshcat: Meshcat,
        plant: MultibodyPlant,
        initial_value: ArrayLike | None = None,
        lower_limit: ArrayLike | None = None,
        upper_limit: ArrayLike | None = None,
        step: ArrayLike | None = None,
        decrement_keycodes: Sequence[str] = (),
        increment_keycodes: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._meshcat, self._plant = meshcat, plant
        nq = plant.num_positions()
        given = plant.GetDefaultPositions() if initial_value is None else initial_value
        self._q = np.array(np.broadcast_to(np.asarray(given, dtype=float), nq))
        lower = np.maximum(plant.GetPositionLowerLimits(), _each(lower_limit, -NO_LIMIT, nq))
        upper = np.minimum(plant.GetPositionUpperLimits(), _each(upper_limit, NO_LIMIT, nq))
        steps = _each(step, 0.01, nq)
        keys = list(zip(decrement_keycodes, increment_keycodes, strict=True))
        self._names: dict[int, str] = {}
        names = plant.GetPositionNames(add_model_instance_prefix=False, always_add_suffix=False)
        times = Counter(names)
        for joint in plant.moving_joints():
            instance = plant.GetModelInstanceName(joint.model_instance())
            for k in range(joint.position_start(), joint.position_start() + joint.num_positions()):
                names[k] += f"/{instance}" if times[names[k]] > 1 else ""
                less, more = keys[len(self._names)] if len(self._names) < len(keys) else ("", "")
                meshcat.AddSlider(names[k], lower[k], upper[k], steps[k], self._q[k], less, more)
                self._names[k] = names[k]
        port = self.DeclareVectorOutputPort("positions", nq, lambda c, out: out.SetFromVector(self._positions()))
        port.disable_caching_by_default()  # it follows from what no context has

    def _positions(self) -> FloatArray:
        q = self._q.copy()
        for k, name in self._names.items():
            q[k] = self._meshcat.GetSliderValue(name)
        return q

    def SetPositions(self, q: ArrayLike) -> None:
        """Moves all sliders."""
        self._q[:] = q
        for k, name in self._names.items():
            self._meshcat.SetSliderValue(name, self._q[k])

    def Delete(self) -> None:
        """Takes the sliders away; positions stay."""
        self._q = self._positions()
        for name in self._names.values():
            self._meshcat.DeleteSlider(name)
        self._names = {}

    def Run(self, diagram: Diagram, timeout: float | None = None, stop_button_keycode: str = "Escape") -> FloatArray:
        """Publishes the diagram at the positions of the sliders, until a button of the page is pressed; returns them.

        timeout: [s] after which it ends too.
        """
        root = diagram.CreateDefaultContext()
        own = self._plant.GetMyContextFromRoot(root)

        def publish() -> None:
            self._plant.SetPositions(own, self._positions())
            diagram.ForcedPublish(root)

        run_sliders(self._meshcat, publish, timeout, stop_button_keycode)
        return self._positions()


class MeshcatPoseSliders(LeafSystem):
    """A RigidTransform from sliders for roll, pitch, yaw [rad], x, y and z [m]."""

    NAMES = ("roll", "pitch", "yaw", "x", "y", "z")

    def __init__(
        self,
        meshcat: Meshcat,
        initial_pose: RigidTransform | None = None,
        lower_limit: ArrayLike = (-np.pi, -np.pi, -np.pi, -1.0, -1.0, -1.0),
        upper_limit: ArrayLike = (np.pi, np.pi, np.pi, 1.0, 1.0, 1.0),
        step: ArrayLike = (0.01,) * 6,
        decrement_keycodes: Sequence[str] = ("KeyQ", "KeyS", "KeyA", "KeyJ", "KeyK", "KeyU"),
        increment_keycodes: Sequence[str] = ("KeyE", "KeyW", "KeyD", "KeyL", "KeyI", "KeyO"),
        prefix: str = "",
        visible: ArrayLike = (True,) * 6,
    ) -> None:
        super().__init__()
        self._meshcat = meshcat
        self._values = _six(RigidTransform() if initial_pose is None else initial_pose)
        self._names = [f"{prefix}{name}" for name in self.NAMES]
        self._visible = np.broadcast_to(np.asarray(visible, dtype=bool), 6)
        lower, upper, steps = (np.asarray(x, dtype=float) for x in (lower_limit, upper_limit, step))
        keys = list(zip(decrement_keycodes, increment_keycodes, strict=True)) or [("", "")] * 6
        for k in np.flatnonzero(self._visible):
            meshcat.AddSlider(self._names[k], lower[k], upper[k], steps[k], self._values[k], *keys[k])
        self.DeclareAbstractInputPort("pose")
        port = self.DeclareAbstractOutputPort("pose", RigidTransform, lambda c, out: out.set_value(self.pose()))
        port.disable_caching_by_default()

    def pose(self) -> RigidTransform:
        """Where the sliders are."""
        for k in np.flatnonzero(self._visible):
            self._values[k] = self._meshcat.GetSliderValue(self._names[k])
        return RigidTransform(RollPitchYaw(self._values[:3]), self._values[3:])

    def SetPose(self, pose: RigidTransform) -> None:
        """Moves the sliders."""
        self._values = _six(pose)
        for k in np.flatnonzero(self._visible):
            self._meshcat.SetSliderValue(self._names[k], self._values[k])

    def Delete(self) -> None:
        """Takes the sliders away; the pose stays."""
        self.pose()
        for k in np.flatnonzero(self._visible):
            self._meshcat.DeleteSlider(self._names[k])
        self._visible = np.zeros(6, dtype=bool)

    def Run(self, system: Any, context: Any, timeout: float | None = None, stop_button_keycode: str = "Escape") -> Any:
        """Publishes a system again and again, until a button of the page is pressed; returns the pose."""
        run_sliders(self._meshcat, lambda: system.ForcedPublish(context), timeout, stop_button_keycode)
        return self.pose()


def _each(given: ArrayLike | None, default: float, n: int) -> FloatArray:
    return np.broadcast_to(np.asarray(default if given is None else given, dtype=float), n)


def _six(X: RigidTransform) -> FloatArray:
    return np.concatenate([RollPitchYaw(X.rotation()).vector(), X.translation()])
