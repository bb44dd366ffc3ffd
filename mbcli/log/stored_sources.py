"""Model files as logs of single runs and of many worlds keep them."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from mbcli.errors import ModelError
from mbcli.log.format import stored_name
from mbcli.log.stored_texts import create_texts
from mbcli.parsers.spec import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mbcli.log.guarded_file import GuardedFile

FOLDER = "model/source"
LARGEST_TEXT = 1 << 28  # [bytes] of a source file or a resolved model: a longer text is not one that a run has read


def create_bytes(file: Any, path: str, content: bytes) -> Any:
    """A dataset of bytes with a checksum."""
    data = np.frombuffer(content, dtype="u1")
    packing = {"compression": "gzip", "fletcher32": True, "chunks": (min(len(data), 1 << 16),)} if len(data) else {}
    dataset = file.create_dataset(path, data=data, **packing)
    create_texts(dataset.attrs, "units", ("1",), scalar=True)
    return dataset


def create_sources(file: Any, sources: Iterable[SourceFile]) -> None:
    """Writes model files into a file of HDF5."""
    group = file.require_group(FOLDER)
    for index, source in enumerate(sources):
        dataset = create_bytes(file, f"{group.name}/{stored_name(source.path, index)}", source.content)
        create_texts(dataset.attrs, "path", [source.path], scalar=True)
        create_texts(dataset.attrs, "sha256", [source.sha256], scalar=True)


def packed_files(files: Iterable[SourceFile], path: str, content: bytes) -> bytes:
    """An HDF5 file that has files as a log has its model files, and one dataset of bytes."""
    packed = io.BytesIO()
    with h5py.File(packed, "w") as file:
        create_bytes(file, path, content)
        create_sources(file, files)
    return packed.getvalue()


def sources_in(file: GuardedFile) -> Iterator[tuple[str, str, str]]:
    """(path, sha256, path of the dataset) of every model file."""
    for name in file.names(FOLDER):
        path = f"{FOLDER}/{name}"
        yield file.text("path", path), file.text("sha256", path), path


def read_bytes(file: GuardedFile, path: str) -> bytes:
    """The content of a dataset of bytes. ModelError if it is none."""
    dataset = file.dataset(path)
    if dataset.dtype != np.uint8 or dataset.ndim != 1 or dataset.nbytes > LARGEST_TEXT:
        raise ModelError(f"{file.name}: error: {path} has type {dataset.dtype}, shape {dataset.shape}")
    return bytes(dataset.rows(0, len(dataset)).tobytes())


def read_sources(file: GuardedFile) -> list[SourceFile]:
    """The model files as they were read. ModelError for one that is not what its digest says."""
    found = []
    for source, sha256, path in sources_in(file):
        content = read_bytes(file, path)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ModelError(f"{file.name}: error: {path} is damaged: its sha256 differs")
        found.append(SourceFile(path=source, sha256=sha256, content=content))
    return found
