"""The option `--camera` of commands that draw."""

from __future__ import annotations

from typing import Any

import click

from mbcli.pictures.cameras import VIEWS, Camera, read_camera


class CameraType(click.ParamType):
    """A Camera by the name of a view, by angles, or by its eye and what it looks at."""

    name = "camera"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Camera:
        if isinstance(value, Camera):
            return value
        try:
            return read_camera(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


camera_option = click.option(
    "--camera",
    type=CameraType(),
    metavar="VIEW",
    help=f"Look from {', '.join(VIEWS)} (default iso), from AZIMUTH,ELEVATION[,DISTANCE] of the robot [deg, m], or "
    "from an eye to a target in World, X,Y,Z:X,Y,Z [m]. The camera follows a robot that goes away, except with "
    "an eye and a target.",
)
