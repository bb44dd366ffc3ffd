"""The models of directives and scenarios, for the checks: every file read, every name looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.checks.scene_contact import check_contact_model
from mbcli.multibody.parsing.process_directives import plan_directives
from mbcli.multibody.plant import MultibodyPlant
from mbcli.parsers.file_format import find_model_file
from mbcli.parsers.formats import FORMATS, format_of_name
from mbcli.parsers.package_map import PackageMap

if TYPE_CHECKING:
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import ModelSpec, SourceFile


def read_scene(
    source: str | bytes, input_format: str | None, packages: PackageMap | None, diagnostics: Diagnostics, name: str
) -> tuple[list[ModelSpec], list[SourceFile]]:
    """(models, files of directives and scenarios) of a scene; its faults are in `diagnostics`.

    Raises ResourceError if the file is missing.
    """
    packages = packages or PackageMap()
    diagnostics.leads_out = packages.leads_out
    if not isinstance(source, bytes):
        source = find_model_file(source, packages)
    files: list[SourceFile] = []
    known = FORMATS[input_format or format_of_name(str(source)) or ""]
    scenes = known.read_scenes(source, diagnostics, name=name, sources=files)
    models = []
    for scenario, directives in scenes:
        if not directives:
            continue
        plan = plan_directives(directives, MultibodyPlant(0.0), packages, diagnostics, sources=files)
        added = [spec for _, spec in plan.added]
        if scenario is not None:
            check_contact_model(scenario, added, diagnostics)
        models += added
    return models, files
