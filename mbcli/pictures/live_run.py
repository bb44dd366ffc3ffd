"""LiveRun: a run that is looked at while it goes, by the page of `mbcli simulate --view`."""

from __future__ import annotations

import json
import math
import threading
import time
import webbrowser
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.pictures.html import run_page
from mbcli.pictures.packing import pack_mesh
from mbcli.pictures.scene import moving_bodies
from mbcli.pictures.web_server import PageServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.math.array_types import FloatArray, Vector3
    from mbcli.pictures.cameras import Camera
    from mbcli.pictures.scene import Scene

PICTURES = 120.0  # a second, at most: a page that asks 60 times finds new ones
LOOK = 0.05  # [s] between looks for the end of the run while it waits
SLEEP = 1e-3  # [s] that are worth a sleep
BEHIND = 0.1  # [s] of wall-clock time that a run which is too slow does not catch up with
NOTHING: dict[str, Any] = {"contacts": ([], []), "vertices": None}
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, None)


class Drag(NamedTuple):
    """A point of a body that the pointer pulls.

    Attributes:
        body: its index. point: (3,) [m] in its frame; target: (3,) [m] in World.
    """

    body: int
    point: Vector3
    target: Vector3


class Control(NamedTuple):
    """A slider of the page.

    Attributes:
        name: of an actuator. kind: "input", what is added to its effort, or "target", where its controller aims.
        unit, lower, upper, value: of the number.
    """

    name: str
    kind: str
    unit: str
    lower: float
    upper: float
    value: float

    def as_dict(self) -> dict[str, Any]:
        """As the page has it."""
        return dict(zip(self._fields, self, strict=True))


class LiveRun:
    """Shows a run on a page, and tells what is asked for there. The page is that of one run after the other.

    Requests come on threads of their own: they read what show() left last, and leave what they ask for.

    Args:
        speed: simulated seconds a second of wall-clock time; None: as fast as it goes.
        port: 0 for one that is free.
        camera: from which the page looks first.
        browser: whether the page is opened.
        starts_again: whether who runs it begins anew after `again`.

    Attributes:
        url: of the page.
        again, ended: whether a new run, or the end of this one, is asked for.
        drag: the Drag, None without one. values: {kind: {name: number}} of sliders that were moved.
        shows_contacts: whether contacts are looked at.

    Raises:
        ArgumentError, ResourceError: the port cannot be used.
    """

    def __init__(
        self,
        speed: float | None = 1.0,
        port: int = 0,
        camera: Camera | None = None,
        *,
        browser: bool = True,
        starts_again: bool = False,
    ) -> None:
        self._speed, self._camera, self._browser, self._starts_again = speed, camera, browser, starts_again
        self.again = self.ended = self._paused = self.shows_contacts = False
        self._steps = 0  # that are to be taken in a pause
        self.drag: Drag | None = None
        self.values: dict[str, dict[str, float]] = {"input": {}, "target": {}}
        self._changed = threading.Condition()
        self._scene: Scene | None = None
        self._controls: Sequence[Control] = ()
        self._run, self._state = 0, b"{}"
        self._shown_at, self._anchor, self._rate = -math.inf, (0.0, 0.0), 0.0
        self._seen: dict[str, Any] = NOTHING
        answers: dict[str, Callable[..., tuple[str, bytes] | None]] = {
            "/": self._page,
            "/state": lambda: ("application/json", self._state),
            "/mesh/": self._mesh,
        }
        self._server = PageServer(answers, {"/control": self._control}, port)
        self.url = self._server.url

    def __enter__(self) -> LiveRun:
        self._server.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._server.__exit__(*details)

    # for the run

    def begin(self, scene: Scene, controls: Sequence[Control], start: float) -> None:
        """A run begins at a time [s]; the first one opens the page."""
        is_first, self._scene, self._controls = self._scene is None, scene, controls
        self.again = self.ended = False
        self.drag, self.values = None, {"input": {}, "target": {}}
        self._run += 1
        self._seen = NOTHING
        self._anchor, self._shown_at = (start, time.perf_counter()), -math.inf
        self.show(start, scene.X_WB)
        if is_first and self._browser:
            webbrowser.open(self.url)

    def is_due(self) -> bool:
        """Whether a new picture is wanted."""
        return time.perf_counter() - self._shown_at >= 1.0 / PICTURES

    def show(self, t: float, X_WB: FloatArray) -> None:
        """Poses of all bodies (n, 7) at a time [s]; where they are not finite, the page keeps those before."""
        if not np.isfinite(X_WB).all():
            return
        now = time.perf_counter()
        since = t - self._anchor[0], now - self._anchor[1]
        if since[1] > 0.2:
            self._rate = since[0] / since[1]
        self._shown_at = now
        points, forces = self._seen["contacts"] if self.shows_contacts else ([], [])
        document = {
            "run": self._run,
            "time": t,
            "X_WB": np.round(X_WB, 7).tolist(),
            "contacts": [points, forces],
            "vertices": self._seen["vertices"],
            "paused": self._paused,
            "speed": self._speed,
            "rate": self._rate,
        }
        self._state = json.dumps(document, allow_nan=False).encode()

    def see(self, points: FloatArray, forces: FloatArray, vertices: FloatArray | None) -> None:
        """What the latest row of the run has: contact points (k, 3) and forces (k, 3), vertices of elastic bodies.

        Contacts whose forces no step has found are left out.
        """
        known = np.isfinite(points).all(axis=1) & np.isfinite(forces).all(axis=1)
        drawn = np.round(points[known], 7).ravel().tolist(), np.round(forces[known], 4).ravel().tolist()
        if vertices is not None and not np.isfinite(vertices).all():
            vertices = None
        self._seen = {"contacts": drawn, "vertices": None if vertices is None else np.round(vertices, 6).tolist()}

    def wait(self, t: float, should_stop: Callable[[], int], show: Callable[[], object]) -> None:
        """Returns when the run may go on from a time [s]: not before that is due by the clock, nor in a pause.

        show: shows the state, where that is waited in.
        """
        with self._changed:
            while self._paused and not (self._steps or self.is_over(should_stop)):
                show()
                self._changed.wait(LOOK)
                self._anchor = t, time.perf_counter()
            self._steps = max(0, self._steps - 1)
        speed, now = self._speed, time.perf_counter()
        if speed is None:
            return
        ahead = (t - self._anchor[0]) / speed - (now - self._anchor[1])
        if ahead < -BEHIND or now - self._anchor[1] > 2.0:
            self._anchor = t, now + max(ahead, -BEHIND)
        while ahead > SLEEP and not self.is_over(should_stop):
            time.sleep(min(ahead, LOOK))
            ahead -= LOOK

    def is_over(self, should_stop: Callable[[], int]) -> bool:
        """Whether the run is to end here."""
        return self.again or self.ended or bool(should_stop())

    # for the page

    def _page(self) -> tuple[str, bytes]:
        assert self._scene is not None
        controls = [control.as_dict() for control in self._controls]
        moving = moving_bodies(self._scene).tolist()
        more = {"controls": controls, "moving": moving, "speeds": SPEEDS, "starts_again": self._starts_again}
        text = run_page(self._scene, self._camera, **more)
        return "text/html; charset=utf-8", text.encode()

    def _mesh(self, key: str) -> tuple[str, bytes] | None:
        mesh = None if self._scene is None else self._scene.meshes.get(key)
        return None if mesh is None else ("application/octet-stream", pack_mesh(mesh, level=1))

    def _control(self, document: Any) -> dict[str, Any]:
        """What the page asks for, one or more of: paused, steps, speed, again, end, contacts, value, drag."""
        if not isinstance(document, dict):
            return {"error": "what is asked for is an object"}
        with self._changed:
            try:
                for name, value in document.items():
                    getattr(self, f"_ask_{name}")(value)
            except (AttributeError, TypeError, ValueError, KeyError, IndexError):
                return {"error": f"nothing that can be asked for: {json.dumps(document)[:200]}"}
            finally:
                self._changed.notify_all()
        return {}

    def _ask_paused(self, value: Any) -> None:
        self._paused, self._steps = bool(value), 0
        self._rate = 0.0

    def _ask_steps(self, value: Any) -> None:
        self._steps = max(0, min(int(value), 10_000))

    def _ask_speed(self, value: Any) -> None:
        if value is not None and not 1e-3 <= float(value) <= 1e3:
            raise ValueError
        self._speed = None if value is None else float(value)
        self._shown_at = -math.inf

    def _ask_again(self, value: Any) -> None:
        self.again = bool(value) and self._starts_again

    def _ask_end(self, value: Any) -> None:
        self.ended = bool(value)

    def _ask_contacts(self, value: Any) -> None:
        self.shows_contacts = bool(value)

    def _ask_value(self, value: Any) -> None:
        (control,) = (each for each in self._controls if (each.kind, each.name) == (value["kind"], value["name"]))
        self.values[control.kind][control.name] = min(max(_finite(value["value"]), control.lower), control.upper)

    def _ask_drag(self, value: Any) -> None:
        if value is None:
            self.drag = None
            return
        assert self._scene is not None
        body = int(value["body"])
        if not 0 < body < len(self._scene.bodies):
            raise IndexError
        self.drag = Drag(body, *(np.array([_finite(part) for part in value[key]]) for key in ("point", "target")))
        if self.drag.point.shape != (3,) or self.drag.target.shape != (3,):
            self.drag = None
            raise ValueError


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number
