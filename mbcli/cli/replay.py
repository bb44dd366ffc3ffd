"""`mbcli replay`: logs in the browser, as one HTML file, as images or as a video."""

from __future__ import annotations

import dataclasses
import os
import re
import tempfile
import time
import webbrowser
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.camera_option import camera_option
from mbcli.cli.options import Number
from mbcli.cli.output import refuse_existing, warn, write_file, written
from mbcli.cli.world_option import single_logs, world_option
from mbcli.common.coordinate_names import AmbiguousNameError, listed, named_by_ending, there_are
from mbcli.common.json_text import to_json, to_json_line
from mbcli.common.left_behind import folder_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypedDict, Unpack

    from mbcli.math.array_types import IntArray
    from mbcli.pictures.cameras import Camera
    from mbcli.pictures.scene import Motion, Scene

    class Drawing(TypedDict):
        """What is drawn, and how, by the options of these names."""

        traces: tuple[str, ...]
        fps: float | None
        speed: float
        camera: Camera | None
        size: tuple[int, int] | None


PAGE_RATE = 60.0  # [Hz] of the rows in a page
FILM_RATE, FILM_SIZE = 30.0, (1280, 720)  # [Hz], [pixels] of images
MOST_WORLDS = 64  # of a log of many, as ghosts of the first
GIF_RATE, GIF_SIZE = 25.0, (640, 360)  # a GIF counts hundredths of a second


class Size(click.ParamType):
    """WIDTHxHEIGHT [pixels]."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        parts = value.lower().split("x")
        if len(parts) != 2 or not all(re.fullmatch("[0-9]{2,4}", part) and 16 <= int(part) <= 8192 for part in parts):
            self.fail(f"'{value}' is not WIDTHxHEIGHT, each from 16 to 8192", param, ctx)
        return int(parts[0]), int(parts[1])


@click.command()
@click.argument("logs", nargs=-1, metavar="LOG...", required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write one HTML file that needs no network, or a video by ffmpeg (.mp4, .webm, .gif).",
)
@click.option("--frames", metavar="DIR", help="Write images, 0000.png and so on, to this folder.")
@click.option(
    "--trace",
    "traces",
    multiple=True,
    metavar="FRAME",
    help="Draw the path of a body or frame; any unambiguous ending of its name will do.",
)
@click.option(
    "--fps",
    type=Number(above=0.0),
    metavar="HZ",
    help="Rows per second of a page (60), images per second of a video (30; a GIF 25).",
)
@click.option("--speed", type=Number(above=0.0), default=1.0, metavar="X", help="Times real time; default 1.")
@camera_option
@click.option("--size", type=Size(), metavar="WxH", help="Of images [pixels]; default 1280x720, of a GIF 640x360.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; default: any that is free.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--allow-outside", is_flag=True, help="Also draw meshes outside of the model's package or folder.")
@world_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on what was written, or the address.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.pass_context
def replay(
    ctx: click.Context,
    logs: tuple[str, ...],
    output: str | None,
    frames: str | None,
    port: int,
    no_browser: bool,
    allow_outside: bool,
    world: int | None,
    as_json: bool,
    force: bool,
    **drawing: Unpack[Drawing],
) -> None:
    """Show logs over time: in the browser, or with -o and --frames as files.

    The first log is solid, the others are ghosts; so are the worlds of a log of many, all but the first. Contact
    forces are arrows; contact surfaces show their pressure as colour, if the log was written with --fields faces. A
    log that was written with --fields poses contains everything that is drawn. For another log the poses are
    computed from its model, and meshes are read from the package or folder of its model file, if that file is
    unchanged.

    \b
    mbcli replay run.h5                             in the browser
    mbcli replay run.h5 before.h5 --trace tool      two runs and the path of a frame
    mbcli replay run.h5 -o replay.html              one file to send
    mbcli replay run.h5 -o replay.mp4 --speed 0.25  a video in slow motion
    mbcli replay run.h5 --frames images --fps 10 --camera left
    """
    suffix = os.path.splitext(output or "")[1].lower()
    if output is not None:
        _check_output(output, suffix, force)
    quiet = (ctx.obj or {}).get("verbosity", 0) < 0
    own = ctx.with_resource(single_logs(logs, world, most=MOST_WORLDS))
    runs = _read(own, quiet, allow_outside)
    drawing["traces"] = _traces(drawing["traces"], runs)
    results: list[dict[str, Any]] = []
    if frames is not None or suffix not in ("", ".html", ".htm"):
        count = _write_images(runs, own[0], output, frames, drawing, force, quiet)
        if frames is not None:
            results.append({"folder": frames, "format": "png", "images": count})
        if suffix not in ("", ".html", ".htm"):
            results.append({**written(output or ""), "images": count})
    if suffix in (".html", ".htm"):
        assert output is not None  # whose suffix it is
        write_file(output, _page(runs, own[0], drawing, play=False), force)
        rate = drawing["fps"] or PAGE_RATE
        results.append({**written(output), "rows": len(runs[0][1].rows_at_rate(rate))})
    document = {"schema": "mbcli/replay", "schema_version": 1, "logs": list(logs), "traces": list(drawing["traces"])}
    if output is None and frames is None:
        _serve(_page(runs, own[0], drawing, play=True), port, no_browser, document if as_json else None)
    elif as_json:
        click.echo(to_json({**document, "written": results}))
    elif not quiet:
        for result in results:
            name = result.get("folder") or result["file"]
            size = f"{result['images']} images" if "folder" in result else f"{(result['bytes'] or 0) / 1e6:.3g} MB"
            click.echo(f"{name}: {size}")


def _check_output(output: str, suffix: str, force: bool) -> None:
    from mbcli.pictures.images import VIDEO_SUFFIXES, require_ffmpeg

    if suffix not in (".html", ".htm", *VIDEO_SUFFIXES):
        raise click.UsageError(f"-o takes a name that ends in .html, {', '.join(VIDEO_SUFFIXES)}, not '{output}'")
    refuse_existing(output, force)
    if suffix in VIDEO_SUFFIXES:
        require_ffmpeg()


def _read(logs: Sequence[str], quiet: bool, allow_outside: bool) -> list[tuple[Scene, Motion]]:
    """(Scene, Motion) of every log, without contact surfaces."""
    from mbcli.pictures.log_scene import scene_and_motion
    from mbcli.pictures.model_scene import MeshStore

    meshes = MeshStore()
    runs = [scene_and_motion(path, meshes, surfaces=False, allow_outside=allow_outside) for path in logs]
    for note in dict.fromkeys(note for scene, _ in runs for note in scene.notes):
        if not quiet:
            warn(note)
    return runs


def _traces(given: Sequence[str], runs: Sequence[tuple[Scene, Motion]]) -> tuple[str, ...]:
    """The names of bodies and frames that --trace gives by any unambiguous ending, without their models."""
    of_runs = [[b.name for b in scene.bodies[1:]] + [f.name for f in scene.frames] for scene, _ in runs]
    found: dict[str, None] = {}
    for name in given:
        try:
            meant = [
                _short(each, names) for names in of_runs if (each := named_by_ending(name, names, "body or frame"))
            ]
        except AmbiguousNameError as error:
            raise click.UsageError(f"--trace: {error.args[0]}") from None
        if not meant:
            hint = there_are(name, [each for names in of_runs for each in names])
            raise click.UsageError(f"--trace: there is no body or frame '{name}'; {hint}")
        found |= dict.fromkeys(meant)
    return tuple(found)


def _short(name: str, names: Sequence[str]) -> str:
    """The name without its model, if no other one of these has it: runs of the same robot have one path then."""
    short = name.rpartition("::")[2]
    return short if sum(each.rpartition("::")[2] == short for each in set(names)) == 1 else name


def _with_surfaces(runs: list[tuple[Scene, Motion]], path: str, rows: IntArray) -> list[tuple[Scene, Motion]]:
    """The runs, of which the first has the contact surfaces of some rows of its log: ghosts show none."""
    from mbcli.pictures.log_scene import logged_surfaces

    (scene, motion), *ghosts = runs
    return [(scene, dataclasses.replace(motion, surfaces=logged_surfaces(path, rows))), *ghosts]


def _page(runs: list[tuple[Scene, Motion]], first: str, drawing: Drawing, *, play: bool) -> str:
    from mbcli.pictures.html import replay_page

    rate = drawing["fps"] or PAGE_RATE
    title = listed([motion.name for _, motion in runs])
    runs = _with_surfaces(runs, first, runs[0][1].rows_at_rate(rate))
    thinned = [(scene, motion.at_rate(rate)) for scene, motion in runs]
    traces, speed, camera = drawing["traces"], drawing["speed"], drawing["camera"]
    return replay_page(thinned, title, traces=traces, speed=speed, play=play, camera=camera)


def _write_images(
    runs: list[tuple[Scene, Motion]],
    first: str,
    output: str | None,
    frames: str | None,
    drawing: Drawing,
    force: bool,
    quiet: bool,
) -> int:
    """How many images were drawn."""
    from mbcli.cli.progress_lines import MeshProgress
    from mbcli.pictures.images import image_times, images, write_images, write_video

    is_gif = frames is None and (output or "").lower().endswith(".gif")
    rate = drawing["fps"] or (GIF_RATE if is_gif else FILM_RATE)
    size = drawing["size"] or (GIF_SIZE if is_gif else FILM_SIZE)
    times = image_times(runs, rate, drawing["speed"])
    runs = _with_surfaces(runs, first, runs[0][1].drawn_rows(times))
    line = MeshProgress(shown=not quiet, doing="drawing images")
    with tempfile.TemporaryDirectory(prefix=folder_prefix("images")) as scratch, line as progress:
        folder = frames if frames is not None else scratch
        pictures = images(runs, times, size, drawing["traces"], drawing["camera"])
        names = write_images(folder, pictures, len(times), force=force, on_image=progress)
        if output is not None and os.path.splitext(output)[1].lower() not in (".html", ".htm"):
            write_video(output, folder, rate)
    return len(names)


def _serve(page: str, port: int, no_browser: bool, document: dict[str, Any] | None) -> None:
    """document: printed as JSON with the address, else the address alone."""
    from mbcli.pictures.web_server import PageServer

    content = page.encode()
    with PageServer({"/": lambda: ("text/html; charset=utf-8", content)}, port=port) as server:
        click.echo(server.url if document is None else to_json_line({**document, "url": server.url}))
        if not no_browser and not webbrowser.open(server.url):
            click.echo("mbcli: no browser was found: open the address above", err=True)
        while True:
            time.sleep(3600.0)
