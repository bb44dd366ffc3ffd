"""Every fault of a file: the findings of its parse and of the checks on its contents."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from typing import TYPE_CHECKING, Any

from mbcli.errors import MbcliError, ResourceError
from mbcli.parsers.checks.moving_mass import may_leave_motion_open
from mbcli.parsers.diagnostics import Diagnostic, DiagnosticError, Diagnostics, MissingResourceError
from mbcli.parsers.formats import FORMATS, format_of_name
from mbcli.parsers.load import load_models
from mbcli.parsers.spec import SourceLocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.spec import ModelSpec, SourceFile

UNREADABLE, UNKNOWN_FORMAT = "FILE_READ", "FILE_FORMAT"


class FileCheck:
    """The findings of one file, in the order of their places, and the files that were read for it."""

    def __init__(
        self, name: str, findings: list[Diagnostic], sources: list[dict[str, str]], failure: str | None
    ) -> None:
        self.name = name
        self.findings = findings
        self.sources = sources  # [{"path", "sha256"}]
        self.failure = failure  # None, UNREADABLE or UNKNOWN_FORMAT: why nothing of it could be checked

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return vars(self) | {"findings": [dataclasses.asdict(finding) for finding in self.findings]}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> FileCheck:
        """The contrary of as_dict()."""
        return FileCheck(**{**document, "findings": list(map(Diagnostic.from_dict, document["findings"]))})


def check_file(
    source: str | bytes,
    *,
    name: str | None = None,
    input_format: str | None = None,
    packages: PackageMap | None = None,
    mesh_files: bool = False,
    srdf: str | None = None,
) -> FileCheck:
    """Check a model file, its path or URI or the bytes of a document.

    Args:
      source: path or URI, or the bytes of a document.
      name: that of the file in places; default: the path, of bytes "<string>".
      input_format: of the file; default: what its contents say.
      packages: where `package://` URIs lead.
      mesh_files: open the meshes that the model names.
      srdf: path of an SRDF file of the model.

    Returns:
      The findings. Faults of the file are among them, and raise nothing.

    Example:
      >>> from mbcli.checks.file_check import check_file
      >>> check_file(b"<robot name='r'><link name='a' colour='red'/></robot>").findings[-1].message
      'attribute "colour" in <link> is unknown and not used'
    """
    name = name or ("<string>" if isinstance(source, bytes) else source)
    diagnostics = Diagnostics(thorough=True, mesh_files=mesh_files)
    failure: str | None = None
    models: Sequence[ModelSpec] = ()
    files: Sequence[SourceFile] = ()
    try:
        if _is_scene(source, input_format):
            from mbcli.checks.scene import read_scene  # late: plants are not imported for one model

            models, files = read_scene(source, input_format, packages, diagnostics, name)
        else:
            models = load_models(
                source, input_format=input_format, packages=packages, diagnostics=diagnostics, name=name
            )
            if srdf is not None and models:
                from mbcli.parsers.srdf.read_srdf import read_srdf

                semantics = read_srdf(srdf, models, diagnostics)
                files = () if semantics is None else semantics.sources
        if any(_has_deformables(model) for model in models):
            from mbcli.checks.deformable_bodies import check_deformable_bodies

            check_deformable_bodies(models, diagnostics)
        if not files and not diagnostics.errors and any(map(may_leave_motion_open, models)):
            from mbcli.checks.open_motion import check_open_motion  # late: plants are not imported for most models

            check_open_motion(models, diagnostics)
    except (DiagnosticError, MissingResourceError):  # its findings are in the diagnostics
        pass
    except MbcliError as error:
        failure = UNREADABLE if isinstance(error, ResourceError) else UNKNOWN_FORMAT
        message = str(error).removeprefix(f"{name}: ").removeprefix("error: ")
        diagnostics.error(failure, message, place=SourceLocation(name))
    given = (SourceLocation(name), *(() if srdf is None else (SourceLocation(srdf),)))
    if any(f.code == UNREADABLE and f.place in given for f in diagnostics.findings):
        failure = UNREADABLE
    findings = sorted(diagnostics.findings, key=lambda f: (f.place.file != name, f.place.line, f.place.column))
    return FileCheck(name, findings, _sources(source, name, models, files), failure)


def _is_scene(source: str | bytes, input_format: str | None) -> bool:
    """Whether a path or the bytes of a document are directives or a scenario."""
    if input_format is None and not isinstance(source, bytes):
        input_format = format_of_name(str(source))
    return input_format is not None and input_format in FORMATS and FORMATS[input_format].IS_SCENE


def _has_deformables(model: ModelSpec) -> bool:
    return bool(model.deformables) or any(map(_has_deformables, model.models))


def _sources(
    source: str | bytes, name: str, models: Sequence[ModelSpec], files: Iterable[SourceFile]
) -> list[dict[str, str]]:
    found = {s.path: s.sha256 for s in (*files, *(s for model in models for s in model.sources))}
    if not found:
        if isinstance(source, bytes):
            found[name] = hashlib.sha256(source).hexdigest()
        elif os.path.isfile(source):
            try:
                with open(source, "rb") as file:
                    found[name] = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:
                pass  # a finding reports it
    return [{"path": path, "sha256": sha256} for path, sha256 in found.items()]
