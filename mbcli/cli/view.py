"""`mbcli view`: a model in the browser, with sliders for its joints."""

from __future__ import annotations

import time
import webbrowser
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.camera_option import camera_option
from mbcli.cli.model import given_models, load
from mbcli.cli.options import (
    MODEL_KEYS,
    STATE_KEYS,
    GroundCommand,
    ground_option,
    model_options,
    state_options,
    take,
)
from mbcli.cli.output import warn
from mbcli.common.json_text import to_json_line
from mbcli.errors import MbcliError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.cli.options import Options
    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.pictures.cameras import Camera
    from mbcli.pictures.live_model import LiveModel
    from mbcli.pictures.web_server import PageServer

WATCH_SECONDS = 0.1  # between looks at the files
RETRY_SECONDS = 1.0  # until a model with an error is read again: what mends it may be in a file that is not known yet
RETRY_SHARE = 5.0  # of the time that reading took, which is to be a small part of the whole


@click.command(cls=GroundCommand)
@model_options
@state_options
@ground_option
@camera_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; default: any that is free.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--json", "as_json", is_flag=True, help="Print the model and the address as one JSON document in a line.")
@click.pass_context
def view(
    ctx: click.Context,
    port: int,
    no_browser: bool,
    as_json: bool,
    ground: float | None,
    camera: Camera | None,
    **values: Any,
) -> None:
    """Show a model in the browser: sliders move its joints, and the picture follows when a file is saved.

    Toggles show visual and collision geometry, frames, joint axes, inertia ellipsoids, centres of mass, names and
    contacts. Loops are closed while a slider moves. What floats stands on the ground, or without one and without other
    solids that are fixed at z = 0, as in runs. The address is one of this machine alone. Ctrl-C ends it.

    \b
    mbcli view robot.urdf
    mbcli view arm.urdf --srdf arm.srdf --pose home
    mbcli view arm.urdf --camera front
    mbcli view quadruped.urdf --ground --port 8000 --no-browser
    """
    from mbcli.pictures.live_model import LiveModel, watched_paths
    from mbcli.pictures.web_server import PageServer

    model, state = take(values, MODEL_KEYS), take(values, STATE_KEYS)
    models = given_models(model)
    if "-" in models:
        raise click.UsageError("view reads its model again when it changes: give a file, not '-'")
    live = LiveModel(_loader(ctx, model, state, ground), watched_paths(models), camera)
    get: dict[str, Callable[..., tuple[str, bytes] | None]] = {
        "/": live.page,
        "/scene": live.scene_json,
        "/mesh/": live.mesh,
    }
    with PageServer(get, {"/poses": live.poses}, port) as server:
        document = {"schema": "mbcli/view", "schema_version": 1, "model": live.loaded.description(), "url": server.url}
        click.echo(to_json_line(document) if as_json else server.url)
        if not no_browser and not webbrowser.open(server.url):
            click.echo("mbcli: no browser was found: open the address above", err=True)
        for note in live.unread:
            warn(note)
        _follow(live, server, quiet=(ctx.obj or {}).get("verbosity", 0) < 0)


def _loader(
    ctx: click.Context, model: Options, state: Options, ground: float | None
) -> Callable[[], tuple[LoadedModel, FloatArray]]:
    """() -> LoadedModel and the positions that the state options give."""
    from mbcli.cli.state import set_state
    from mbcli.models.placement import stand
    from mbcli.pictures.model_scene import drawing_context

    def read() -> tuple[LoadedModel, FloatArray]:
        loaded = load(model, ctx, contact=True, ground=ground)
        context = drawing_context(loaded.plant)
        stand(loaded, context, set_state(loaded, context, state))
        return loaded, loaded.plant.GetPositions(context).copy()

    return read


def _follow(live: LiveModel, server: PageServer, *, quiet: bool) -> None:
    """Reads the model again whenever one of its files is written, until a signal comes."""
    from mbcli.cli import say

    retry_at = 0.0
    while True:
        time.sleep(WATCH_SECONDS)
        if not live.is_changed() and (live.problem is None or time.monotonic() < retry_at):
            continue
        before, began = live.problem, time.monotonic()
        try:
            read = live.reload()
        except click.UsageError as error:
            live.problem, read = error.format_message(), False
        ended = time.monotonic()
        retry_at = ended + max(RETRY_SECONDS, RETRY_SHARE * (ended - began))
        if read:
            server.tell("scene", None)
            if not quiet:
                click.echo("mbcli: read again", err=True)
        elif live.problem != before:
            server.tell("problem", live.problem)
            say(MbcliError(live.problem))
