"""Any model file to `ModelSpec`s: chooses the parser by the file's suffix or by its root element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.file_format import DIRECTIVES, find_model_file, format_of

from mbcli.common.collection_pause import paused_collection
from mbcli.errors import ModelError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.spec import ModelSpec


def load_models(
    source: str | os.PathLike[str] | bytes,
    *,
    input_format: str | None = None,
    packages: PackageMap | None = None,
    diagnostics: Diagnostics,
    name: str | None = None,
) -> Sequence[ModelSpec]:
    """The models of a file: tuple of `ModelSpec`; empty if the file has errors, which are in `diagnostics`.

    source: a path, a URI that `packages` resolves (package://...), or the bytes of a document.
    input_format: "urdf", "sdf" or "mjcf"; default: from the suffix, else from the root element. packages: `PackageMap`;
    default: a new one. name: that of the file in places; default: the path.

    Raises ResourceError if the file is missing, ModelError if the format is unknown.
    """
    try:
        with paused_collection():
            models = _load(source, input_format, packages, diagnostics, name)
            if diagnostics.thorough:
                _check_urdf_versions(diagnostics)
            return models
    finally:
        for root in diagnostics.trees.values():
            root.take_apart()
        diagnostics.trees.clear()


def _check_urdf_versions(diagnostics: Diagnostics) -> None:
    """Of every URDF file that was read; SDFormat files are checked on every load."""
    from mbcli.parsers.version_features import check_version

    for root in list(diagnostics.trees.values()):
        if root.tag == "robot":
            check_version(root)


def _load(
    source: str | os.PathLike[str] | bytes,
    input_format: str | None,
    packages: PackageMap | None,
    diagnostics: Diagnostics,
    name: str | None,
) -> Sequence[ModelSpec]:
    from mbcli.parsers.package_map import PackageMap

    packages = packages or PackageMap()
    if not isinstance(source, bytes):
        source = find_model_file(source, packages)
    if input_format is None:
        input_format = format_of(source, name or source)
    if input_format == "urdf":
        from mbcli.parsers.urdf.read_urdf import read_urdf

        model = read_urdf(source, diagnostics, packages=packages, name=name)
        return () if model is None else (model,)
    if input_format == "sdf":
        from mbcli.parsers.sdf.read_sdf import read_sdf

        return read_sdf(source, diagnostics, packages=packages, name=name)
    if input_format == "mjcf":
        from mbcli.parsers.mjcf.read_mjcf import read_mjcf

        model = read_mjcf(source, diagnostics, packages=packages, name=name)
        return () if model is None else (model,)
    if input_format == DIRECTIVES:
        where = name or ("<string>" if isinstance(source, bytes) else source)
        raise ModelError(f"{where} has model directives, it is not a model: add_directives includes it")
    raise ModelError(f'unknown model format "{input_format}": it must be urdf, sdf or mjcf')
