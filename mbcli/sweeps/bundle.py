"""What the job of a sweep needs, as one file for machines that share nothing: model, meshes, controllers, data.

A bundle is an HDF5 file in which files lie as in a log (stored_sources.py), with the job and the answers of its
packages. Its name is a sum over all of that. A worker keeps it by this name in a folder of its own, and trusts nothing
of it: each file must be what its sum says, and lies below that folder under the path that it has on the first machine.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mbcli.common.kept_files import ready_to_keep
from mbcli.common.left_behind import folder_prefix
from mbcli.common.output_files import write_in_place
from mbcli.common.user_cache import user_cache
from mbcli.conversion.mesh_bundle import files_named_in
from mbcli.errors import ArgumentError, ModelError, ResourceError
from mbcli.log.embedded_files import is_same
from mbcli.log.guarded_file import GuardedFile
from mbcli.log.stored_sources import LARGEST_TEXT, packed_files, read_bytes, read_sources
from mbcli.models.loading import ModelText, as_package_map
from mbcli.parsers.spec import SourceFile
from mbcli.sweeps.carried_files import CarriedFiles, carried_path
from mbcli.sweeps.messages import job_text, read_job
from mbcli.sweeps.point_run import PointRunner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mbcli.sweeps.point_run import Job
    from mbcli.sweeps.points import Point

FOLDER, FILES, PACKED, JOB = "sweep_bundles", "files", "bundle.h5", "job"
WEEK = 7 * 86400.0  # [s]
DESCRIPTIONS = ("package.xml", "model.config", "manifest.xml")  # of a folder that counts as a package or model
OF_LOADING = ("config", "constraints", "srdf")  # arguments that name files


class Bundle(NamedTuple):
    """The digest of a bundle, and the bytes of its file."""

    digest: str
    content: bytes


class UnpackedBundle(NamedTuple):
    """A job whose paths lead below a folder, that folder, the one there that was the working folder; and what else the
    bundle says.
    """

    job: Job
    top: str
    folder: str
    document: dict[str, Any]


def pack(job: Job, point: Point, also: Mapping[str, Any] | None = None, paths: Iterable[str] = ()) -> Bundle:
    """The bundle of a job. point: any one of its sweep, whose run is prepared to see which files that takes.

    also: what else it says, as a JSON document. paths: more files.

    Raises:
        ResourceError: a file is missing, or too large for a bundle.
    """
    carried = CarriedFiles(as_package_map(job.loading.get("packages")))
    job = dataclasses.replace(job, loading={**job.loading, "packages": carried})
    runner = PointRunner(job)
    sources = runner.loaded().sources
    with suppress(ArgumentError, ModelError):
        runner.check(point)
    named = [model for model in job.models if not isinstance(model, ModelText)]
    for name in OF_LOADING:
        value = job.loading.get(name)
        named += [value] if isinstance(value, (str, os.PathLike)) else list(value) if name == "srdf" and value else []
    paths = [*paths, *map(os.fspath, named), *(source.path for source in sources), *job.files, *carried.paths()]
    files = [read_source(path) for path in with_named(paths)]
    text = json.dumps({**(also or {}), JOB: job_text(job), "folder": os.getcwd()})
    return Bundle(_digest(text, files), packed_files(files, JOB, text.encode()))


def with_named(paths: Iterable[str]) -> list[str]:
    """The files of paths, those that mesh files name, and the descriptions of folders."""
    found: dict[str, None] = {}
    waiting = [path for path in paths if os.path.isabs(path)]
    while waiting:
        path = os.path.normpath(waiting.pop())
        if os.path.isdir(path):
            waiting += (os.path.join(path, name) for name in DESCRIPTIONS)
        elif path not in found and os.path.isfile(path):
            found[path] = None
            waiting += (os.path.join(os.path.dirname(path), name) for name in files_named_in(path))
    return sorted(found)


def read_source(path: str) -> SourceFile:
    """A file that goes with a job. ResourceError if it cannot be read, or is too large."""
    try:
        if os.path.getsize(path) > LARGEST_TEXT:
            raise ResourceError(
                f"{path}: error: is larger than {LARGEST_TEXT >> 20} MiB, the most of a file of a sweep"
            )
        content = Path(path).read_bytes()
    except OSError as error:
        raise ResourceError(f"{path}: error: cannot be read: {error.strerror}") from None
    return SourceFile(path, hashlib.sha256(content).hexdigest(), content)


def _digest(text: str, files: Iterable[SourceFile]) -> str:
    document = [text, sorted((file.path, file.sha256) for file in files)]
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()


def unpack(bundle: Bundle) -> UnpackedBundle:
    """The job of a bundle, whose files are on the disk of this machine when this returns.

    Raises:
        ModelError: the bundle is damaged, or not the one of its digest. OSError: a file cannot be written.
    """
    home = _home()
    _tidy(home)
    folder = home / bundle.digest
    folder.mkdir(mode=0o700, exist_ok=True)
    os.utime(folder)
    packed = folder / PACKED
    try:
        text, files = _checked(packed, bundle.digest)
    except (ModelError, ResourceError):
        write_in_place(packed, bundle.content, 0o600)
        text, files = _checked(packed, bundle.digest)
    top = str(folder / FILES)
    for file in files:
        there = dataclasses.replace(file, path=carried_path(top, file.path))
        if not is_same(there):
            os.makedirs(os.path.dirname(there.path), mode=0o700, exist_ok=True)
            write_in_place(there.path, file.content, 0o600)
    document = json.loads(text)
    work = carried_path(top, document["folder"])
    os.makedirs(work, mode=0o700, exist_ok=True)
    return UnpackedBundle(_moved(read_job(document[JOB]), top, [file.path for file in files]), top, work, document)


def read_bundle(path: str, name: str) -> Bundle:
    """The bundle of a file. name: in errors: ResourceError if it cannot be read, ModelError if it is none."""
    try:
        return Bundle(_digest(*_read(Path(path), name)), Path(path).read_bytes())
    except OSError as error:
        raise ResourceError(f"{name}: error: cannot be read: {error.strerror}") from None


def _tidy(home: Path) -> None:
    """Removes bundles that no process has asked for in a week."""
    for folder in home.iterdir():
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > WEEK:
                shutil.rmtree(folder)


def _home() -> Path:
    """The folder of bundles: in the user's cache, or if nothing can be kept there, one that goes with this process."""
    with suppress(OSError, RuntimeError):
        home = user_cache() / FOLDER
        if ready_to_keep(home):
            return home
    if not _temporary:
        _temporary.append(Path(tempfile.mkdtemp(prefix=folder_prefix("bundles"))))
    return _temporary[0]


_temporary: list[Path] = []


def _read(packed: Path, name: str) -> tuple[str, list[SourceFile]]:
    with GuardedFile(packed, name) as file:
        return read_bytes(file, JOB).decode(), read_sources(file)


def _checked(packed: Path, digest: str) -> tuple[str, list[SourceFile]]:
    text, files = _read(packed, "the bundle of the sweep")
    if _digest(text, files) != digest:
        raise ModelError("the bundle of the sweep is not the one of its digest")
    return text, files


def _moved(job: Job, top: str, files: list[str]) -> Job:
    """A job with the paths of files that lie below a folder."""
    there = {path: carried_path(top, path) for path in files}

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: moved(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(map(moved, value))
        if not isinstance(value, str):
            return value
        path, colon, name = value.rpartition(":")  # of a controller
        return there.get(value) or (there[path] + colon + name if path in there else value)

    packages = CarriedFiles(document=job.loading["packages"].document() | {"top": top})
    return dataclasses.replace(
        job,
        models=moved(job.models),
        loading=moved(dict(job.loading)) | {"packages": packages},
        run=moved(dict(job.run)),
    )
