"""Jobs, points and rows as lines of JSON, for workers in other processes. Numbers come back as they were."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.models.loading import ModelText
from mbcli.parsers.package_map import PackageMap
from mbcli.sweeps.carried_files import CarriedFiles
from mbcli.sweeps.point_run import Job
from mbcli.sweeps.points import Point

if TYPE_CHECKING:
    from typing import IO, Any

PACKAGES, CARRIED, CONTENT = "package_map", "carried_files", "content"  # the key that tells such an object from others


class Work(NamedTuple):
    """What workers do: the line that they read first, [s] that a case may take, and the module of their process."""

    text: str
    timeout: float | None = None
    module: str = "mbcli.sweeps.worker"


def work_of(job: Job) -> Work:
    """The runs of a job."""
    return Work(job_text(job), job.timeout)


def job_text(job: Job) -> str:
    """A job as one line. ArgumentError for an argument of loading that is no number or text."""
    document = {field.name: getattr(job, field.name) for field in dataclasses.fields(job)}
    for name, value in {**job.loading, **job.run}.items():
        try:
            json.dumps(value, default=_plain)
        except (TypeError, ValueError):
            raise ArgumentError(f"{argument(name)}: a sweep takes numbers, texts and files") from None
    return json.dumps(document, default=_plain)


def read_job(text: str) -> Job:
    """The contrary of job_text()."""
    document = json.loads(text, object_hook=_object)
    if document["start"] is not None:
        q, v, mask = document["start"]
        document["start"] = np.array(q), np.array(v), np.array(mask, dtype=bool)
    if isinstance(document["u"], list):  # else numbers by name
        document["u"] = np.array(document["u"])
    for name in ("models", "measures", "sources"):
        document[name] = tuple(document[name])
    return Job(**document)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, CarriedFiles):
        return {CARRIED: value.document()}
    if isinstance(value, PackageMap):
        return {PACKAGES: value.as_dict()}
    if isinstance(value, ModelText):
        return {CONTENT: base64.b64encode(value.content).decode(), "name": value.name}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError


def _object(document: dict[str, Any]) -> Any:
    if document.keys() == {PACKAGES}:
        return PackageMap.from_dict(document[PACKAGES])
    if document.keys() == {CARRIED}:
        return CarriedFiles(document=document[CARRIED])
    if document.keys() == {CONTENT, "name"}:
        return ModelText(base64.b64decode(document[CONTENT]), document["name"])
    return document


def point_text(point: Point) -> str:
    """A point as one line."""
    return json.dumps(vars(point))


def read_point(text: str) -> Point:
    """The contrary of point_text()."""
    return Point(**json.loads(text))


def send(stream: IO[bytes], text: str) -> None:
    """Writes a line. OSError if nobody reads it."""
    left = memoryview(text.encode() + b"\n")
    while left:
        left = left[stream.write(left) :]
    stream.flush()


def receive(stream: IO[bytes]) -> str | None:
    """Reads a line; None at the end of the stream, or of one that was cut."""
    line = stream.readline()
    return line.decode() if line.endswith(b"\n") else None
