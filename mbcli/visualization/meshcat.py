"""Meshcat: objects that a script shows in the browser, under the names of pydrake.geometry, on the page of mbcli.

The page asks for what has changed; a script without a page that looks pays for a few entries in tables.
"""

from __future__ import annotations

import html
import json
import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.rgba import Rgba
from mbcli.math import RigidTransform
from mbcli.pictures.cameras import Camera
from mbcli.pictures.html import live_page, replay_page, scene_of_page
from mbcli.pictures.model_scene import MeshStore
from mbcli.pictures.packing import pack_mesh
from mbcli.pictures.scene import IDENTITY, Motion, PictureBody, PictureShape, Scene, composed, pose_row
from mbcli.pictures.web_server import PageServer
from mbcli.visualization.animation import MeshcatAnimation
from mbcli.visualization.drawn_shapes import drawn_mesh, drawn_segments, drawn_shape, grid_triangles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.visualization.drawn_shapes import Drawn

ROOT = "/drake"  # of paths that do not begin with "/"
GREY, DARK = Rgba(0.9, 0.9, 0.9), Rgba(0.1, 0.1, 0.1)
SECONDS_OF_A_PAGE = 2.0  # after its last question a page counts as connected


@dataclass
class MeshcatParams:
    """Settings of a Meshcat. The page is one of this machine alone: host and web_url_pattern are without effect."""

    host: str = "*"
    port: int | None = None
    web_url_pattern: str = "http://{host}:{port}"
    initial_properties: list[Any] = field(default_factory=list)
    realtime_rate_period: float = 0.25
    show_stats_plot: bool = True


@dataclass
class _Node:
    """What is known of a path: its transform in its parent's, what is drawn there, and its properties."""

    X: RigidTransform | None = None
    drawn: Drawn | None = None
    color: tuple[float, ...] = (0.9, 0.9, 0.9, 1.0)
    role: str = "visual"
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Control:
    """A slider or a button of the page."""

    name: str
    kind: str
    value: float = 0.0  # clicks of a button
    lower: float = 0.0
    upper: float = 0.0
    step: float = 0.0
    keys: tuple[str, str] = ("", "")


class Meshcat:
    """A tree of objects with transforms, sliders and buttons, and a recording; its page is at web_url().

    Paths are as those of files; one that does not begin with "/" is below "/drake".
    """

    @dataclass
    class Gamepad:
        """The state of a gamepad: there is none."""

        index: int | None = None
        button_values: list[float] = field(default_factory=list)
        axes: list[float] = field(default_factory=list)

    @dataclass
    class PerspectiveCamera:
        """A camera of the page; the page keeps its own field of view."""

        fov: float = 75.0
        aspect: float = 1.0
        near: float = 0.01
        far: float = 100.0
        zoom: float = 1.0

    @dataclass
    class OrthographicCamera:
        """A camera of the page, which draws it in perspective."""

        left: float = -1.0
        right: float = 1.0
        top: float = 1.0
        bottom: float = -1.0
        near: float = -1000.0
        far: float = 1000.0
        zoom: float = 1.0

    def __init__(self, params: MeshcatParams | int | None = None, *, port: int | None = None) -> None:
        wanted = params.port if isinstance(params, MeshcatParams) else (port if params is None else params)
        self._lock = threading.RLock()
        self._nodes: dict[str, _Node] = {}
        self._controls: dict[str, _Control] = {}
        self._store = MeshStore()
        self._version = self._controls_version = self._camera_version = 0
        self._camera = Camera()
        self._scene: tuple[int, Scene] = (-1, Scene("meshcat", [], np.zeros((0, 7))))
        self._contacts: dict[str, tuple[list[float], list[float]]] = {}  # {prefix: (points, forces)}
        self._recording: MeshcatAnimation | None = None
        self._records = self._shows = False
        self._published: MeshcatAnimation | None = None
        self._rate = self._time = 0.0
        self._asked = -np.inf
        get: dict[str, Any] = {
            "/": self._page,
            "/scene": self._scene_json,
            "/state": self._state_json,
            "/mesh/": self._mesh,
            "/recording": self._recording_page,
        }
        self._server = PageServer(get, {"/control": self._take_control}, wanted or 0)
        self._server.__enter__()

    # objects

    def SetObject(
        self, path: str, shape: Any = None, rgba: Rgba = GREY, wireframe: bool = False, *more: Any, **named: Any
    ) -> None:
        """A Shape or a TriangleSurfaceMesh at a path, in place of what was there; wireframes are drawn as surfaces."""
        given = named.get("mesh", shape)
        if hasattr(given, "triangles"):
            corners = [[t.vertex(k) for k in range(3)] for t in given.triangles()]
            self._draw(path, drawn_mesh(np.reshape(given.vertices(), (-1, 3)), np.reshape(corners, (-1, 3))), rgba)
            return
        self.draw_shape(path, given, rgba)

    def draw_shape(self, path: str, shape: Any, rgba: Rgba, role: str = "visual") -> None:
        """A Shape with the role by which the page shows and hides it: "visual" or "collision"."""
        self._draw(path, drawn_shape(shape, self._store), rgba, role)

    def SetLine(self, path: str, vertices: ArrayLike, line_width: float = 1.0, rgba: Rgba = DARK) -> None:
        """A line through points (3, n) [m]."""
        points = np.asarray(vertices, dtype=float)
        self.SetLineSegments(path, points[:, :-1], points[:, 1:], line_width, rgba)

    def SetLineSegments(
        self, path: str, start: ArrayLike, end: ArrayLike, line_width: float = 1.0, rgba: Rgba = DARK
    ) -> None:
        """Lines from points (3, n) [m] to others."""
        a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        if a.shape != b.shape or a.ndim != 2 or a.shape[0] != 3:
            raise RuntimeError(f"starts and ends of lines are (3, n), not {a.shape} and {b.shape}")
        self._draw(path, drawn_segments(a.T, b.T, line_width), rgba)

    def SetTriangleMesh(
        self, path: str, vertices: ArrayLike, faces: ArrayLike, rgba: Rgba = DARK, *more: Any, **named: Any
    ) -> None:
        """Triangles: vertices (3, n) [m] and faces (3, m)."""
        self._draw(path, drawn_mesh(np.asarray(vertices).T, np.asarray(faces).T), rgba)

    def SetTriangleColorMesh(
        self, path: str, vertices: ArrayLike, faces: ArrayLike, colors: ArrayLike, *more: Any, **named: Any
    ) -> None:
        """Triangles with colours of vertices (3, n); they are drawn in the mean of these."""
        mean = np.clip(np.asarray(colors, dtype=float).mean(axis=1), 0.0, 1.0)
        self.SetTriangleMesh(path, vertices, faces, Rgba(*mean))

    def PlotSurface(
        self, path: str, X: ArrayLike, Y: ArrayLike, Z: ArrayLike, rgba: Rgba = DARK, *more: Any, **named: Any
    ) -> None:
        """The surface of the points of a grid, X, Y and Z (m, n) [m] each."""
        x, y, z = (np.asarray(part, dtype=float) for part in (X, Y, Z))
        if not x.shape == y.shape == z.shape or x.ndim != 2:
            raise RuntimeError(f"X, Y and Z are (m, n) each, not {x.shape}, {y.shape} and {z.shape}")
        vertices = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
        self._draw(path, drawn_mesh(vertices, grid_triangles(*x.shape)), rgba)

    def _draw(self, path: str, drawn: Drawn, rgba: Rgba, role: str = "visual") -> None:
        with self._lock:
            node = self._nodes.setdefault(absolute(path), _Node())
            node.drawn, node.color, node.role = drawn, tuple(rgba), role
            self._version += 1

    def SetTransform(
        self,
        path: str,
        X_ParentPath: RigidTransform | ArrayLike | None = None,
        time_in_recording: float | None = None,
        *,
        matrix: ArrayLike | None = None,
    ) -> None:
        """The pose of a path in the one above it, a RigidTransform or a matrix (4, 4).

        With a time [s] it is recorded, while a recording goes on. RuntimeError for a matrix that scales.
        """
        given = X_ParentPath if matrix is None else matrix
        X = given if isinstance(given, RigidTransform) else RigidTransform(np.asarray(given, dtype=float))
        path = absolute(path)
        if self._records and self._recording is not None and time_in_recording is not None:
            self._recording.SetTransform(self._recording.frame(time_in_recording), path, X)
            if not self._shows:
                return
        with self._lock:
            self._nodes.setdefault(path, _Node()).X = X

    def SetProperty(self, path: str, property: str, value: Any, time_in_recording: float | None = None) -> None:
        """ "visible", "color" and "opacity" of a path act on it and on those below; others are kept, without effect.

        A time makes no difference: the property holds from now on, and in the whole recording.
        """
        with self._lock:
            self._nodes.setdefault(absolute(path), _Node()).properties[property] = value
            self._version += 1

    def Delete(self, path: str = "") -> None:
        """Takes a path away with all below it; "" all of "/drake"."""
        start = absolute(path)
        with self._lock:
            self._nodes = {p: node for p, node in self._nodes.items() if p != start and not p.startswith(f"{start}/")}
            self._contacts = {p: c for p, c in self._contacts.items() if p != start and not p.startswith(f"{start}/")}
            self._version += 1

    def HasPath(self, path: str) -> bool:
        """Whether there is something at a path or below it."""
        start = absolute(path)
        return any(p == start or p.startswith(f"{start}/") for p in self._nodes)

    def set_contacts(self, prefix: str, points: Sequence[Any], forces: Sequence[Any]) -> None:
        """Arrows of contact forces (n, 3) [N] at points (n, 3) [m] in World."""
        with self._lock:
            self._contacts[absolute(prefix)] = np.ravel(points).tolist(), np.ravel(forces).tolist()

    # the camera and the page

    def SetCameraPose(self, camera_in_world: ArrayLike, target_in_world: ArrayLike) -> None:
        """Looks from a point (3,) [m] at another."""
        eye, target = (tuple(np.ravel(p).astype(float).tolist()) for p in (camera_in_world, target_in_world))
        self._look(Camera(eye=eye, target=target))

    def SetCameraTarget(self, target_in_world: ArrayLike) -> None:
        """Looks at a point (3,) [m], from the front, the right and above."""
        target = np.ravel(np.asarray(target_in_world, dtype=float))
        self.SetCameraPose(target + np.array([1.5, -1.5, 1.0]), target)

    def SetCamera(self, camera: Any, path: str = "/Cameras/default/rotated") -> None:
        """Takes note of nothing: the page draws in perspective with its own field of view."""

    def Set2dRenderMode(self, X_WC: RigidTransform | None = None, *limits: float, **named: float) -> None:
        """Looks along y of C at all there is; from the side if C is not given."""
        way = np.array([0.0, 1.0, 0.0]) if X_WC is None else X_WC.rotation().matrix()[:, 1]
        azimuth, elevation = np.degrees([np.arctan2(-way[1], -way[0]), np.arcsin(np.clip(-way[2], -1.0, 1.0))])
        self._look(Camera(float(azimuth), float(elevation)))

    def ResetRenderMode(self) -> None:
        """Looks from the front, the right and above."""
        self._look(Camera())

    def _look(self, camera: Camera) -> None:
        with self._lock:
            self._camera = camera
            self._camera_version += 1

    def GetTrackedCameraPose(self) -> None:
        """None: no page tells where its camera is."""

    def SetEnvironmentMap(self, image_path: Any) -> None:
        """Takes note of nothing: the page has lights of its own."""

    def web_url(self) -> str:
        """The address of the page, for this machine alone."""
        return self._server.url

    def ws_url(self) -> str:
        """The address of the page: it needs no other."""
        return self._server.url

    def port(self) -> int:
        """The port of the address."""
        return self._server.port

    def Flush(self) -> None:
        """Does nothing: the page asks for what has changed."""

    def GetNumActiveConnections(self) -> int:
        """1 if a page has asked within the last seconds, else 0."""
        return int(time.monotonic() - self._asked < SECONDS_OF_A_PAGE)

    def SetRealtimeRate(self, rate: float) -> None:
        """Simulated seconds per second, to be shown."""
        self._rate = float(rate)

    def GetRealtimeRate(self) -> float:
        """The last one that was set."""
        return self._rate

    def SetSimulationTime(self, sim_time: float) -> None:
        """[s], to be shown."""
        self._time = float(sim_time)

    # sliders and buttons

    def AddSlider(
        self,
        name: str,
        min: float,
        max: float,
        step: float,
        value: float,
        decrement_keycode: str = "",
        increment_keycode: str = "",
    ) -> float:
        """Adds a slider; returns its value, a multiple of the step. RuntimeError for a known name."""
        if not max >= min or not step > 0.0:
            raise RuntimeError(f"slider '{name}': from {min} to {max} in steps of {step} is no range")
        control = _Control(name, "slider", 0.0, float(min), float(max), float(step))
        control.keys = decrement_keycode, increment_keycode
        self._add_control(control)
        return self.SetSliderValue(name, value)

    def SetSliderValue(self, name: str, value: float) -> float:
        """Moves a slider; returns the value within its range that it takes. RuntimeError if there is none."""
        slider = self._control(name, "slider")
        with self._lock:
            slider.value = _on_steps(slider, float(value))
            self._controls_version += 1
        return slider.value

    def GetSliderValue(self, name: str) -> float:
        """RuntimeError if there is no such slider."""
        return self._control(name, "slider").value

    def GetSliderNames(self) -> list[str]:
        """The names of all sliders, sorted."""
        return self._names_of("slider")

    def DeleteSlider(self, name: str, strict: bool = True) -> bool:
        """Whether there was one; RuntimeError if there was none, and strict."""
        return self._delete_control(name, "slider", strict)

    def AddButton(self, name: str, keycode: str = "") -> None:
        """Adds a button that a key presses too; one that is there goes back to no clicks."""
        if name in self._controls and self._controls[name].kind == "button":
            self._controls[name].value = 0.0
            return
        self._add_control(_Control(name, "button", keys=(keycode, "")))

    def GetButtonClicks(self, name: str) -> int:
        """How often it was pressed. RuntimeError if there is no such button."""
        return int(self._control(name, "button").value)

    def GetButtonNames(self) -> list[str]:
        """The names of all buttons, sorted."""
        return self._names_of("button")

    def DeleteButton(self, name: str, strict: bool = True) -> bool:
        """Whether there was one; RuntimeError if there was none, and strict."""
        return self._delete_control(name, "button", strict)

    def DeleteAddedControls(self) -> None:
        """Takes all sliders and buttons away."""
        with self._lock:
            self._controls.clear()
            self._controls_version += 1

    def GetGamepad(self) -> Meshcat.Gamepad:
        """One without buttons and axes: the page reads none."""
        return Meshcat.Gamepad()

    def _add_control(self, control: _Control) -> None:
        if control.name in self._controls:
            raise RuntimeError(f"there is a {self._controls[control.name].kind} named '{control.name}' already")
        with self._lock:
            self._controls[control.name] = control
            self._controls_version += 1

    def _names_of(self, kind: str) -> list[str]:
        return sorted(c.name for c in self._controls.values() if c.kind == kind)

    def _control(self, name: str, kind: str) -> _Control:
        found = self._controls.get(name)
        if found is None or found.kind != kind:
            raise RuntimeError(f"there is no {kind} named '{name}'; there are {[*self._controls]}")
        return found

    def _delete_control(self, name: str, kind: str, strict: bool) -> bool:
        if not strict and (name not in self._controls or self._controls[name].kind != kind):
            return False
        self._control(name, kind)
        with self._lock:
            del self._controls[name]
            self._controls_version += 1
        return True

    # recordings

    def StartRecording(
        self, frames_per_second: float = 64.0, set_visualizations_while_recording: bool = True
    ) -> MeshcatAnimation:
        """Records transforms that come with a time, from now on; returns the recording."""
        self._recording = MeshcatAnimation(frames_per_second)
        self._records, self._shows = True, bool(set_visualizations_while_recording)
        return self._recording

    def StopRecording(self) -> None:
        """Records nothing from now on."""
        self._records = False

    def PublishRecording(self) -> None:
        """Shows the recording in the page, and in StaticHtml(). RuntimeError if there is none."""
        self.SetAnimation(self.get_mutable_recording())

    def DeleteRecording(self) -> None:
        """Forgets the recording, and records nothing."""
        self._recording, self._records = None, False

    def get_mutable_recording(self) -> MeshcatAnimation:
        """RuntimeError if there is none."""
        if self._recording is None:
            raise RuntimeError("there is no recording: call StartRecording() first")
        return self._recording

    def SetAnimation(self, animation: MeshcatAnimation) -> None:
        """Shows an animation in the page, and in StaticHtml()."""
        with self._lock:
            self._published = animation
            self._controls_version += 1

    def StaticHtml(self) -> str:
        """The picture, and the recording that was published, as a page of its own."""
        with self._lock:
            scene, animation = self.scene(), self._published
            times, poses = np.zeros(1), scene.X_WB[None]
            if animation is not None and animation.transforms:
                times, poses = animation.times(), self._recorded_poses(animation)
            motion = Motion("meshcat", times, poses)
            return replay_page([(scene, motion)], "meshcat", camera=self._camera)

    def _repr_html_(self) -> str:
        """In a notebook: the picture, which stays."""
        text = html.escape(self.StaticHtml(), quote=True)
        return f'<iframe srcdoc="{text}" style="width: 100%; height: 400px; border: 0"></iframe>'

    def _recorded_poses(self, animation: MeshcatAnimation) -> FloatArray:
        """X_WB (frames, nbody, 7); a path stays where it was from one of its frames to the next."""
        now = {path: node.X for path, node in self._nodes.items()}
        now |= {path: frames[min(frames)] for path, frames in animation.transforms.items()}
        rows = []
        for frame in animation.frames():
            now |= {path: frames[frame] for path, frames in animation.transforms.items() if frame in frames}
            rows.append(self._poses(now))
        return np.array(rows)

    # what the page asks for

    def scene(self) -> Scene:
        """All that is to be seen, as pictures have it: each path with an object is a body."""
        with self._lock:
            if self._scene[0] != self._version:
                self._scene = self._version, self._made_scene()
            return self._scene[1]

    def _made_scene(self) -> Scene:
        bodies, shapes, meshes = [PictureBody("World")], [], {}
        for path in self._drawn_paths():
            node = self._nodes[path]
            kind, size, key, mesh = node.drawn or ("mesh", (), None, None)
            if mesh is not None and key is not None:
                meshes[key] = mesh
            name = path.removeprefix(f"{ROOT}/")
            color = self._color(path)
            shapes.append(PictureShape(name, len(bodies), node.role, kind, IDENTITY, size, key, color))
            bodies.append(PictureBody(name))
        return Scene("meshcat", bodies, self._poses(), shapes, meshes=meshes)

    def _drawn_paths(self) -> list[str]:
        drawn = [path for path, node in self._nodes.items() if node.drawn is not None]
        return [path for path in drawn if self._property(path, "visible", True)]

    def _color(self, path: str) -> tuple[float, ...]:
        given = self._property(path, "color", self._nodes[path].color)
        *rgb, alpha = given if len(given) == 4 else (*given, 1.0)
        opacity = self._property(path, "opacity", self._property(path, "modulated_opacity", alpha))
        return (*(float(x) for x in rgb), float(opacity))

    def _property(self, path: str, name: str, default: Any) -> Any:
        """That of the nearest path; an object is invisible if one above it is."""
        for above in lineage(path):
            node = self._nodes.get(above)
            if node is not None and name in node.properties and (name != "visible" or not node.properties[name]):
                return node.properties[name]
        return default

    def _poses(self, transforms: dict[str, RigidTransform | None] | None = None) -> FloatArray:
        """X_WB (nbody, 7) of the paths with an object, World first."""
        rows = [IDENTITY]
        known: dict[str, Any] = {"": np.array(IDENTITY)}
        for path in self._drawn_paths():
            rows.append(tuple(self._pose(path, known, transforms)))
        return np.array(rows, dtype=float)

    def _pose(self, path: str, known: dict[str, Any], transforms: Any) -> FloatArray:
        if path not in known:
            above = self._pose(path.rpartition("/")[0], known, transforms)
            node = self._nodes.get(path)
            X = transforms.get(path) if transforms is not None else (None if node is None else node.X)
            known[path] = above if X is None else composed(above, np.array(pose_row(X)))
        return known[path]

    def _page(self) -> tuple[str, bytes]:
        return "text/html; charset=utf-8", live_page(self.scene(), self._camera).encode()

    def _scene_json(self) -> tuple[str, bytes]:
        with self._lock:
            return _json({"version": self._version, "scene": scene_of_page(self.scene())})

    def _state_json(self) -> tuple[str, bytes]:
        self._asked = time.monotonic()
        with self._lock:
            contacts = list(self._contacts.values())
            return _json(
                {
                    "version": self._version,
                    "X_WB": np.round(self._poses(), 9).tolist(),
                    "contacts": [sum((c[k] for c in contacts), []) for k in range(2)],
                    "controls": [c.__dict__ for c in self._controls.values()],
                    "controls_version": self._controls_version,
                    "camera": self._camera.__dict__,
                    "camera_version": self._camera_version,
                    "recording": self._published is not None,
                }
            )

    def _mesh(self, key: str) -> tuple[str, bytes] | None:
        mesh = self.scene().meshes.get(key)
        return None if mesh is None else ("application/octet-stream", pack_mesh(mesh, level=1))

    def _recording_page(self) -> tuple[str, bytes]:
        return "text/html; charset=utf-8", self.StaticHtml().encode()

    def _take_control(self, request: Any) -> dict[str, Any]:
        """{"name": of a slider or button, "value": of a slider}"""
        name, value = (request.get("name"), request.get("value")) if isinstance(request, dict) else (None, None)
        control = self._controls.get(name) if isinstance(name, str) else None
        number = value if isinstance(value, (int, float)) else None
        if control is None or control.kind == "slider" and number is None:
            return {"error": "there is no such control"}
        with self._lock:
            # browsers count from the lower end
            control.value = control.value + 1.0 if number is None else _on_steps(control, number, control.lower)
        return {"value": control.value}


def StartMeshcat(*args: Any, **named: Any) -> Meshcat:
    """A new Meshcat; its address goes to the log, no browser is opened."""
    meshcat = Meshcat(*args, **named)
    logging.getLogger("drake").info("Meshcat listening for connections at %s", meshcat.web_url())
    return meshcat


def absolute(path: str) -> str:
    """A path from the root, without a slash at its end."""
    whole = path if path.startswith("/") else f"{ROOT}/{path}"
    return "/" + "/".join(part for part in whole.split("/") if part)


def lineage(path: str) -> list[str]:
    """A path and all above it, the nearest first."""
    parts = path.split("/")
    return ["/".join(parts[:k]) for k in range(len(parts), 1, -1)]


def _on_steps(slider: _Control, value: float, first: float = 0.0) -> float:
    """A whole number of steps from the first value, within the range. Scripts count from 0, as in pydrake."""
    return min(max(first + round((value - first) / slider.step) * slider.step, slider.lower), slider.upper)


def _json(document: Any) -> tuple[str, bytes]:
    return "application/json", json.dumps(document, allow_nan=False).encode()
