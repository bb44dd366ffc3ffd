"""The engine of an address, whose packages are imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbcli.sweeps.clusters import Engine


def engine_of(dask: str | None, ray: str | None) -> Engine:
    """The workers of a Dask scheduler, or those of a Ray cluster. Errors as of these."""
    if dask is not None:
        from mbcli.sweeps.dask_workers import DaskEngine

        return DaskEngine(dask)
    from mbcli.sweeps.ray_workers import RayEngine

    assert ray is not None
    return RayEngine(ray)
