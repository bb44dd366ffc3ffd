"""Any model file to `ModelSpec`s: its format is chosen by the file's suffix or by its root element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.file_format import find_model_file, format_of
from mbcli.parsers.formats import FORMATS, MODEL_FORMATS

from mbcli.common.collection_pause import paused_collection
from mbcli.common.suggestions import alternatives
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
    input_format: a name of FORMATS; default: from the suffix, else from the root element. packages: `PackageMap`;
    default: a new one. name: that of the file in places; default: the path.

    Raises ResourceError if the file is missing, ModelError if the format is unknown.
    """
    try:
        with paused_collection():
            return _load(source, input_format, packages, diagnostics, name)
    finally:
        for root in diagnostics.trees.values():
            root.take_apart()
        diagnostics.trees.clear()


def _load(
    source: str | os.PathLike[str] | bytes,
    input_format: str | None,
    packages: PackageMap | None,
    diagnostics: Diagnostics,
    name: str | None,
) -> Sequence[ModelSpec]:
    from mbcli.parsers.package_map import PackageMap

    packages = packages or PackageMap()
    diagnostics.leads_out = packages.leads_out
    if not isinstance(source, bytes):
        source = find_model_file(source, packages)
    if input_format is None:
        input_format = format_of(source, name or source)
    if input_format not in FORMATS:
        raise ModelError(f'unknown model format "{input_format}": it must be {alternatives(MODEL_FORMATS)}')
    if FORMATS[input_format].IS_SCENE:
        where = name or ("<string>" if isinstance(source, bytes) else source)
        raise ModelError(f"{where} has model directives, it is not a model: add_directives includes it")
    return FORMATS[input_format].read(source, diagnostics, packages=packages, name=name)
