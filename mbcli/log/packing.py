"""A log written anew with its rows compressed.

A running log is not compressed: in HDF5's single-writer mode a compressed chunk that changes its size leaves its old
place unused, and a chunk is replaced with each flush. When the run ends the whole file is written once more.
Of the filters that every HDF5 has, deflate after a byte shuffle makes logs smallest: figures in
docs/reference/log_format.md.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from mbcli.errors import MbcliError
from mbcli.log.datasets import ROW_GROUPS
from mbcli.log.format import columns_of
from mbcli.log.opened_file import new_file
from mbcli.log.stored_texts import encoded, text_dtype, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Set

    from mbcli.log.guarded_file import GuardedFile, StoredDataset
    from mbcli.math.array_types import Array

FILTERS = {"shuffle": True, "compression": "gzip", "compression_opts": 1, "fletcher32": True}
ROOM = 1 << 16  # [bytes] that the new file may have more than the old one
BLOCK_BYTES = 1 << 22  # read at once
SCALE_ATTRIBUTES = ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST")  # of dimension scales, which are made anew


def write_packed(
    source: GuardedFile,
    path: str | os.PathLike[str],
    blocks: Callable[[StoredDataset], Iterable[np.ndarray]] | None = None,
    attributes: Mapping[str, Any] | None = None,
    on_lost: Callable[[str, MbcliError], None] | None = None,
) -> None:
    """Writes the contents of a log to a new file, the datasets that have grown with the run compressed.

    Args:
      source: the log.
      path: the file to write; one that is there is replaced.
      blocks: gives the rows to write of a dataset that has grown, in arrays one after the other; default: all.
      attributes: root attributes that get another value; the types stay.
      on_lost: is told of an object that cannot be read, which is left out; default: that is an error.

    Raises:
      OSError, RuntimeError: of HDF5; an incomplete file is left. ModelError of the source.
    """
    with new_file(path, os.path.getsize(source.path) + ROOM) as target:
        lost: set[str] = set()

        def lose(path: str, error: MbcliError) -> None:
            if on_lost is None:
                raise error
            lost.add(path)
            on_lost(path, error)

        _copy_attributes(source, "", target, attributes or {})
        _copy_group(source, "", target, blocks or all_rows, lose)
        paths = _datasets_of(target)
        _forget_lost_fields(source, target, set(paths), lost, lose)
        _make_scales(target, paths)


def all_rows(dataset: StoredDataset) -> Iterator[np.ndarray]:
    """All rows of a dataset, whole chunks at a time."""
    step = rows_of_block(dataset)
    for first in range(0, len(dataset), step):
        yield dataset.rows(first, first + step)


def rows_of_block(dataset: StoredDataset) -> int:
    """How many rows are read at once: whole chunks."""
    chunk = dataset.chunks[0] if dataset.chunks else 1
    return chunk * max(BLOCK_BYTES // max(chunk * dataset.row_bytes, 1), 1)


def _copy_group(
    source: GuardedFile,
    path: str,
    target: h5py.File,
    blocks: Callable[[StoredDataset], Iterable[Array]],
    lose: Callable[[str, MbcliError], None],
) -> None:
    for name in source.names(path):
        below = f"{path}/{name}" if path else name
        try:
            if source.is_group(below):
                target.create_group(below)
                _copy_attributes(source, below, target[below], {})
                _copy_group(source, below, target, blocks, lose)
            else:
                _copy_dataset(source.dataset(below), target, blocks)
        except MbcliError as error:
            lose(below, error)


def _copy_dataset(
    dataset: StoredDataset, target: h5py.File, blocks: Callable[[StoredDataset], Iterable[Array]]
) -> None:
    path = dataset.path
    if path.partition("/")[0] in ROW_GROUPS and not dataset.grows:
        raise dataset.file.damaged(f"{path} has no rows")
    if dataset.grows:
        if dataset.chunks is None:
            raise dataset.file.damaged(f"{path} grows without chunks")
        _copy_rows(dataset, target, blocks(dataset))
    else:
        data = dataset.content()
        packing = {"chunks": dataset.chunks, "shuffle": dataset.shuffled, "fletcher32": dataset.checked}
        packing |= {"compression": "gzip"} if dataset.compressed else {}
        target.create_dataset(path, data=data, dtype=dataset.dtype, **(packing if dataset.chunks else {}))
    _copy_attributes(dataset.file, path, target[path], {})


def _copy_rows(dataset: StoredDataset, target: h5py.File, blocks: Iterable[Array]) -> None:
    filters = FILTERS if dataset.dtype.names is None else {"fletcher32": True}
    packed = target.create_dataset(
        dataset.path,
        shape=(0, *dataset.shape[1:]),
        maxshape=dataset.maxshape,
        chunks=dataset.chunks,
        dtype=dataset.dtype,
        fillvalue=dataset.fillvalue,
        **filters,
    )
    count = 0
    for block in blocks:
        packed.resize(count + len(block), axis=0)
        packed[count:] = block
        count += len(block)


def _copy_attributes(
    source: GuardedFile, path: str, target: h5py.File | h5py.Group | h5py.Dataset, changed: Mapping[str, Any]
) -> None:
    for name in source.attributes(path):
        if name not in SCALE_ATTRIBUTES:
            value, dtype = source.typed_attribute(name, path)
            value = changed.get(name, value)
            target.attrs.create(name, np.asarray(value, dtype) if name in changed else value, dtype=dtype)


def _forget_lost_fields(
    source: GuardedFile, target: h5py.File, there: Set[str], lost: Set[str], lose: Callable[[str, MbcliError], None]
) -> None:
    """The new log names the fields that it has."""
    try:
        named = json.loads(text_of(target.attrs.get("fields", b"[]")))
    except ValueError:  # its reader tells
        return
    if not isinstance(named, list) or not all(isinstance(path, str) for path in named):
        return
    for path in named:
        if path not in there and path not in lost:
            lose(path, source.damaged(f"{path}: it is missing"))
    if not there >= set(named):
        data = encoded(json.dumps([path for path in named if path in there]))
        target.attrs.create("fields", np.bytes_(data), dtype=text_dtype(len(data)))


def _datasets_of(target: h5py.File) -> list[str]:
    paths: list[str] = []
    target.visititems(lambda path, item: paths.append(path) if isinstance(item, h5py.Dataset) else None)
    return paths


def _make_scales(target: h5py.File, paths: Iterable[str]) -> None:
    """The dimension scales: time, and the names of columns."""
    known = set(paths)
    if "time" not in known:
        return
    target["time"].make_scale("time")
    for path in paths:
        columns = columns_of(path)
        if path != "time" and path.partition("/")[0] in ROW_GROUPS:
            target[path].dims[0].attach_scale(target["time"])
            if columns in known and target[path].ndim == 2:
                target[columns].make_scale(columns)
                target[path].dims[1].attach_scale(target[columns])
