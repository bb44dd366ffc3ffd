"""`mbcli bushing`: constants of an axis of a bushing, and of the spring of a hinge."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from mbcli.cli.options import Number, Options, writable_path
from mbcli.cli.output import emit, table, warn
from mbcli.common.json_text import to_json

POSITIVE = Number(above=0.0)
UNITS = {
    "stiffness": "N/m or N m/rad",
    "inertia": "kg or kg m^2",
    "frequency": "rad/s",
    "damping_ratio": "",
    "damping": "N s/m or N m s/rad",
    "settling_time": "s",
    "spring_constant": "N m/rad",
    "spring_zero_angle_rad": "rad",
}


@click.command("bushing")
@click.option("--stiffness", type=POSITIVE, metavar="K", help="Of the axis [N/m or N m/rad].")
@click.option("--load", type=POSITIVE, metavar="F", help="The load [N or N m] that gives --displacement.")
@click.option("--displacement", type=POSITIVE, metavar="X", help="[m or rad] under --load.")
@click.option("--inertia", type=POSITIVE, metavar="M", help="The mass or moment of inertia that moves [kg or kg m^2].")
@click.option("--frequency", type=POSITIVE, metavar="W", help="The undamped frequency [rad/s].")
@click.option("--settling-time", type=POSITIVE, metavar="T", help="[s], after which --settling-ratio is left.")
@click.option("--settling-ratio", type=POSITIVE, default=0.01, show_default=True, help="What is left of a motion then.")
@click.option("--damping-ratio", type=Number(minimum=0.0), metavar="Z", help="1 is critical; default: 1.")
@click.option("--decay", type=POSITIVE, metavar="RATIO", help="Of successive peaks, in place of --damping-ratio.")
@click.option(
    "--torques", metavar="FILE", help="A table with the columns angle [rad] and torque [N m]: a hinge's spring."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-o", "--output", metavar="FILE", callback=writable_path, help="Write to this file.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def bushing(as_json: bool, output: str | None, force: bool, **given: Any) -> None:
    """Stiffness and damping of an axis of a LinearBushingRollPitchYaw, or the spring of a DoorHinge from torques.

    The stiffness is given, or follows from a load, or from an inertia with a frequency or a settling time.

    \b
    mbcli bushing --load 50 --displacement 0.002 --inertia 3
    mbcli bushing --inertia 0.2 --settling-time 0.1 --decay 4
    """
    found = _spring(given) if given["torques"] is not None else _axis(given)
    if as_json:
        text = to_json({"schema": "mbcli/bushing", "schema_version": 1, **found})
    else:
        text = table([[name, value, UNITS[name]] for name, value in found.items() if value is not None])
    emit(text, Options(output=output, force=force))


def _axis(given: dict[str, Any]) -> dict[str, float | None]:
    from mbcli.multibody.tree import bushing_design as design

    given = {name: value for name, value in given.items() if value is not None}
    if "decay" in given and "damping_ratio" in given:
        raise click.UsageError("--decay and --damping-ratio exclude each other")
    if ("load" in given) != ("displacement" in given):
        raise click.UsageError("--load and --displacement go together")
    if len(given.keys() & {"stiffness", "load", "frequency", "settling_time"}) != 1:
        raise click.UsageError("one of --stiffness, --load, --frequency and --settling-time says how stiff the axis is")
    try:
        zeta = design.damping_ratio_from_decay(given["decay"]) if "decay" in given else given.get("damping_ratio", 1.0)
        inertia, wn = given.get("inertia"), given.get("frequency")
        if "settling_time" in given:
            wn = design.wn_from_settling_time(given["settling_time"], zeta, given["settling_ratio"])
        if wn is not None and inertia is None:
            raise click.UsageError("a frequency or a settling time needs --inertia")
        if wn is not None:
            stiffness = design.stiffness_from_frequency(inertia, wn)
        else:
            stiffness = given.get("stiffness") or design.stiffness_from_load(given["load"], given["displacement"])
        if inertia is not None and wn is None:
            wn = (stiffness / inertia) ** 0.5
        damping = None if wn is None else design.damping_from_frequency(stiffness, wn, zeta)
    except RuntimeError as error:
        raise click.UsageError(str(error)) from None
    found = {"stiffness": stiffness, "inertia": inertia, "frequency": wn, "damping_ratio": zeta, "damping": damping}
    return {**found, "settling_time": given.get("settling_time")}


def _spring(given: dict[str, Any]) -> dict[str, float]:
    import numpy as np

    from mbcli.batch.row_demands import RowDemands
    from mbcli.batch.state_layout import StateLayout
    from mbcli.batch.state_reader import open_states
    from mbcli.errors import ModelError
    from mbcli.multibody.tree.bushing_design import hinge_spring_from_torques

    if any(value is not None for name, value in given.items() if name not in ("torques", "settling_ratio")):
        raise click.UsageError("--torques is alone")
    layout = StateLayout(("angle", "torque"), (), (), np.full(2, np.nan), np.zeros(0), RowDemands(tell=warn))
    with closing(open_states(given["torques"], layout)) as chunks:
        rows = np.concatenate([np.zeros((0, 2)), *(chunk.q for chunk in chunks)])
    if np.isnan(rows).any():
        raise ModelError(f"{given['torques']}: error: each row needs angle and torque")
    try:
        constant, zero = hinge_spring_from_torques(rows[:, 0], rows[:, 1])
    except RuntimeError as error:
        raise ModelError(f"{given['torques']}: error: {error}") from None
    return {"spring_constant": constant, "spring_zero_angle_rad": zero}
