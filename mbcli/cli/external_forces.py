"""The option --force: spatial forces on bodies, for inverse and forward dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mbcli.cli.model import find_frame
from mbcli.cli.state import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

force_option = click.option(
    "--force-on",
    "body_forces",
    multiple=True,
    metavar="BODY=TX,TY,TZ,FX,FY,FZ",
    help="A torque [N m] and a force [N] on a body at its origin, in world axes.",
)


def parse_body_forces(plant: MultibodyPlant, entries: Iterable[str]) -> FloatArray:
    """(n, 6) arrays by body index from the option's entries."""
    import numpy as np

    forces = np.zeros((plant.num_bodies(), 6))
    for entry in entries:
        name, _, text = entry.partition("=")
        words = text.replace(",", " ").split()
        if len(words) != 6:
            raise click.UsageError(f"--force-on takes BODY=TX,TY,TZ,FX,FY,FZ, not '{entry}'")
        frame = find_frame(plant, name, "--force-on")
        if not frame.is_body_frame():
            raise click.UsageError(f"--force-on: '{name}' is not a body")
        forces[int(frame.body().index())] += [number(word, "--force-on") for word in words]
    return forces
