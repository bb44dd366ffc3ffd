"""A log written anew with its rows compressed.

A running log is not compressed: in HDF5's single-writer mode a compressed chunk that changes its size leaves its old
place unused, and a chunk is replaced with each flush. When the run ends the whole file is written once more.
Of the filters that every HDF5 has, deflate after a byte shuffle makes logs smallest: figures in docs/log_format.md.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

FILTERS = {"shuffle": True, "compression": "gzip", "compression_opts": 1, "fletcher32": True}
BLOCK_BYTES = 1 << 22  # read at once
SCALE_ATTRIBUTES = ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST")  # they hold references into their file


def write_packed(
    source: Any,
    path: str | os.PathLike[str],
    blocks: Callable[[Any], Iterable[np.ndarray]] | None = None,
    attributes: Mapping[str, Any] | None = None,
    on_lost: Callable[[str, Exception], None] | None = None,
) -> None:
    """Writes the contents of a log to a new file, the datasets that have grown with the run compressed.

    Args:
      source: the open h5py.File.
      path: the file to write; one that is there is replaced.
      blocks: gives the rows to write of a dataset that has grown, in arrays one after the other; default: all.
      attributes: root attributes that get another value; the types stay.
      on_lost: is told of an object that cannot be read, which is left out; default: that is an error.

    Raises:
      OSError, RuntimeError: of HDF5; an incomplete file is left.
    """
    blocks = blocks or all_rows
    with h5py.File(path, "w", libver=("v110", "v110"), locking="best-effort") as target:
        _copy_attributes(source, target, attributes or {})
        _copy_group(source, target, blocks, on_lost)
        _copy_scales(source, target)


def all_rows(dataset: Any) -> Iterator[np.ndarray]:
    """All rows of a dataset, whole chunks at a time."""
    step = rows_of_block(dataset)
    for first in range(0, len(dataset), step):
        yield dataset[first : first + step]


def rows_of_block(dataset: Any) -> int:
    """How many rows are read at once: whole chunks."""
    chunk = dataset.chunks[0]
    row_bytes = dataset.dtype.itemsize * max(int(np.prod(dataset.shape[1:], dtype=int)), 1)
    return chunk * max(BLOCK_BYTES // (chunk * row_bytes), 1)


def _copy_group(source, target, blocks, on_lost):
    for name in sorted(source):
        try:
            _copy_item(source, target, name, blocks, on_lost)
        except (OSError, RuntimeError, LookupError) as error:
            if on_lost is None or getattr(error, "errno", None):  # the disk, not the damage of the source
                raise
            on_lost(f"{source.name}/{name}".lstrip("/"), error)


def _copy_item(source, target, name, blocks, on_lost):
    item = source[name]
    if isinstance(item, h5py.Group):
        group = target.create_group(name)
        _copy_attributes(item, group, {})
        _copy_group(item, group, blocks, on_lost)
    elif item.chunks is not None and item.maxshape[0] is None:
        _copy_rows(item, target, name, blocks(item))
    elif "CLASS" in item.attrs:
        _copy_attributes(item, target.create_dataset(name, data=item[()], dtype=item.dtype), {})
    else:
        source.copy(name, target, name=name)


def _copy_rows(dataset, target, name, blocks):
    filters = FILTERS if dataset.dtype.names is None else {"fletcher32": True}
    packed = target.create_dataset(
        name,
        shape=(0, *dataset.shape[1:]),
        maxshape=dataset.maxshape,
        chunks=dataset.chunks,
        dtype=dataset.dtype,
        fillvalue=None if dataset.dtype.names else dataset.fillvalue,
        **filters,
    )
    count = 0
    for block in blocks:
        packed.resize(count + len(block), axis=0)
        packed[count:] = block
        count += len(block)
    _copy_attributes(dataset, packed, {})


def _copy_attributes(source, target, changed):
    for name in sorted(source.attrs):
        if name not in SCALE_ATTRIBUTES:
            dtype = source.attrs.get_id(name).dtype
            value = changed.get(name, source.attrs[name])
            target.attrs.create(name, np.asarray(value, dtype) if name in changed else value, dtype=dtype)


def _copy_scales(source, target):
    """The dimension scales: time, and the names of columns."""
    for name in ("time", *(name for name in source if name != "time")):
        if name in target and isinstance(source[name], h5py.Dataset) and "CLASS" in source[name].attrs:
            target[name].make_scale(name)
    scaled: list[str] = []
    source.visititems(lambda name, item: scaled.append(name) if "DIMENSION_LIST" in item.attrs else None)
    for name in (name for name in scaled if name in target):
        for here, there in zip(target[name].dims, source[name].dims, strict=True):
            for scale in (scale for scale in there.values() if scale.name in target):
                here.attach_scale(target[scale.name])
