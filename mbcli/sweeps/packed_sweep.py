"""A whole sweep as one file: the bundle of its job, and what its points are made of. It runs where nothing else is.

A machine that runs one trusts it as a program: controllers in it are Python and commands.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mbcli.errors import ModelError, ResourceError
from mbcli.sweeps.bundle import pack, read_bundle, unpack
from mbcli.sweeps.carried_files import carried_path
from mbcli.sweeps.stores import read_here
from mbcli.sweeps.sweeping import Carried, Sweep, made_points
from mbcli.sweeps.tasks import program

if TYPE_CHECKING:
    from mbcli.sweeps.bundle import Bundle

SWEEP = "sweep"


def pack_sweep(prepared: Sweep) -> Bundle:
    """The bundle of all of a sweep."""
    made_of = dict(prepared.made_of)
    paths = []
    if made_of["points"] is not None:
        made_of["points"] = os.path.abspath(made_of["points"])
        paths.append(made_of["points"])
    also = {SWEEP: {"made_of": made_of, "identity": prepared.identity(), "program": program()}}
    return pack(prepared.job, prepared.points[0], also, paths)


def unpack_sweep(place: str) -> Sweep:
    """The sweep of a bundle in a place, whose files are on the disk of this machine when this returns.

    Raises:
        ResourceError: it cannot be read. ModelError: it is damaged, none of a whole sweep, or of another program.
    """
    with read_here(place) as path:
        bundle = read_bundle(path, place)
    try:
        unpacked = unpack(bundle)
        told = unpacked.document[SWEEP]
        made_of, identity, made_by = told["made_of"], told["identity"], told["program"]
        points: Any = made_of["points"]
        if points is not None:
            made_of["points"] = carried_path(unpacked.top, points)
        variations, made = made_points(**made_of)
        finals = tuple(identity["table"]["finals"])
    except OSError as error:
        raise ResourceError(f"{place}: error: cannot be unpacked: {error.strerror}") from None
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        raise ModelError(f"{place}: error: is no bundle of a whole sweep") from None
    if made_by != program():
        raise ModelError(f"{place}: error: was made by {made_by}, and this is {program()}")
    carried = Carried(bundle, unpacked.top, unpacked.folder, identity)
    return Sweep(unpacked.job, variations, made, made_of["seed"], finals, made_of, carried)
