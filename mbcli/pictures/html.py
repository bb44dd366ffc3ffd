"""Pages of a scene or of runs: one HTML file with its scripts, styles and data in it, that needs no network."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mbcli.pictures.cameras import FIELD_OF_VIEW, ROOM, VIEWS, Camera
from mbcli.pictures.framing import frame_runs, frame_scene
from mbcli.pictures.packing import base64_text, pack_arrays, pack_mesh, pack_motion, scene_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.pictures.framing import Framing
    from mbcli.pictures.scene import Motion, Scene

CENTRE_STEP = 1e-3  # [m], and of the radius, in which the centre of the picture is told
SCRIPTS = (
    "packing.js",
    "robot.js",
    "stage.js",
    "overlays.js",
    "panel.js",
    "view.js",
    "replay.js",
    "meshcat.js",
    "live_run.js",
    "start.js",
)


def view_page(scene: Scene, camera: Camera | None = None) -> str:
    """The page of `mbcli view`, which asks its server for meshes and poses; camera: from which it shows them first."""
    return _connected_page("view", scene, camera)


def live_page(scene: Scene, camera: Camera | None = None) -> str:
    """The page of a Meshcat, which asks its server for what a script has changed."""
    return _connected_page("live", scene, camera)


def run_page(scene: Scene, camera: Camera | None = None, **more: Any) -> str:
    """The page of `mbcli simulate --view`; more: that its LiveRun has for it."""
    return _connected_page("run", scene, camera, weight=scene.weight, **more)


def _connected_page(kind: str, scene: Scene, camera: Camera | None, **more: Any) -> str:
    data = {"kind": kind, "scene": scene_of_page(scene), **_cameras(camera), **more}
    return _page(scene.name, data, connects=True)


def scene_of_page(scene: Scene) -> dict[str, Any]:
    """A scene as the page of `mbcli view` reads it: its document, and what the picture is fitted to."""
    return {**scene_document(scene), "framing": _framing(frame_scene(scene))}


def _framing(framing: Framing) -> dict[str, Any]:
    step = min(CENTRE_STEP, framing.radius * CENTRE_STEP)
    centre = base64_text(pack_arrays({"centre": (framing.centre, step)}))
    return {"centre": centre, "radius": framing.radius, "size": framing.size, "bottom": framing.bottom}


def _cameras(camera: Camera | None) -> dict[str, Any]:
    views = {name: dataclasses.asdict(Camera(*angles)) for name, angles in VIEWS.items()}
    return {
        "camera": dataclasses.asdict(camera or Camera()),
        "views": views,
        "field_of_view": FIELD_OF_VIEW,
        "room": ROOM,
    }


def replay_page(
    runs: Sequence[tuple[Scene, Motion]],
    title: str,
    *,
    traces: Sequence[str] = (),
    speed: float = 1.0,
    play: bool = False,
    plain: bool = False,
    camera: Camera | None = None,
) -> str:
    """A page that shows runs over time, the first one solid, the others as ghosts.

    Args:
        runs: a scene and its motion each.
        traces: names of bodies and frames whose ways are drawn.
        speed: in which it plays at first, relative to the time of the run.
        play: whether it plays when it is opened.
        plain: whether there is nothing but the picture, for images.
        camera: from which it shows them first; by default from the front, the right and above.
    """
    meshes = {key: mesh for scene, _ in runs for key, mesh in scene.meshes.items()}
    data = {
        "kind": "replay",
        "title": title,
        "traces": list(traces),
        "speed": speed,
        "play": play,
        "framing": _framing(frame_runs(runs)),
        **_cameras(camera),
        "runs": [
            {"name": motion.name, "scene": scene_document(scene), "motion": base64_text(pack_motion(motion))}
            for scene, motion in runs
        ],
        "meshes": {key: base64_text(pack_mesh(mesh)) for key, mesh in sorted(meshes.items())},
    }
    return _page(title, data, connects=False, plain=plain)


def page_file(name: str) -> str:
    """The text of a file of the page."""
    return files("mbcli.pictures").joinpath("page", name).read_text(encoding="utf-8")


def _page(title: str, data: dict[str, Any], *, connects: bool, plain: bool = False) -> str:
    three, style = page_file("three.min.js"), page_file("style.css")
    script = "\n".join(page_file(name) for name in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {_digest(three)} {_digest(script)}; style-src {_digest(style)}; "
        f"img-src data:; connect-src {chr(39)}{'self' if connects else 'none'}{chr(39)}"
    )
    # the text of a script ends at "</", whatever is in it
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    values = {
        "policy": policy,
        "title": html.escape(title),
        "style": style,
        "body_class": "plain" if plain else "",
        "data": text,
        "three": three,
        "three_license": page_file("three.LICENSE"),
        "script": script,
    }
    parts = page_file("page.html").split("{{")
    result = [parts[0]]
    for part in parts[1:]:
        name, _, rest = part.partition("}}")
        result += [values[name], rest]
    return "".join(result)


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
