"""Files of Drake model directives: read, and flattened into one list without includes.

Only the files themselves are checked here; `mbcli.multibody.parsing`, which knows the plant, checks whether the names
in them exist.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from mbcli.parsers.name_spellings import resolve_spelled
from mbcli.parsers.scenes.directives_spec import ModelDirective, ModelDirectives
from mbcli.parsers.yaml_records import read_file

from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.scenes.directives_spec import (
        AddCollisionFilterGroup,
        AddDirectives,
        AddFrame,
        AddModel,
        AddModelInstance,
        AddWeld,
    )
    from mbcli.parsers.spec import SourceFile, SourceLocation

    from mbcli.common.schema import Transform

    Chain: TypeAlias = tuple[tuple[str, AddDirectives], ...]

MAX_INCLUDE_DEPTH = 32
MAX_INCLUDES = 2000  # add_directives, each as often as it comes
MAX_DIRECTIVES = 20_000  # of a file and all that it includes, the includes among them, each as often as it comes


def read_directives(
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    *,
    name: str | None = None,
    sources: list[SourceFile] | None = None,
) -> ModelDirectives | None:
    """The `ModelDirectives` of a file, or None if it has none that can be used; faults are in `diagnostics`.

    source: a path, or the bytes of a document. name: that of the file in places; default: the path as given.
    sources: a list to which the file is added (`spec.SourceFile`).
    """
    return read_file(ModelDirectives, source, diagnostics, name, sources)


def flatten_directives(
    directives: ModelDirectives,
    packages: PackageMap,
    diagnostics: Diagnostics,
    *,
    namespace: str = "",
    sources: list[SourceFile] | None = None,
) -> tuple[ModelDirectives, list[tuple[int, AddDirectives]]]:
    """The directives of a file with those that it includes in the place of each `add_directives`.

    directives: `ModelDirectives`. packages: `PackageMap`. namespace: put before all names. sources: a list to which
    the included files are added, each once. Returns ModelDirectives, and the demands of the namespaces: pairs (index of
    the next directive, `add_directives` record with its whole namespace), whose instance must be there by then.
    """
    flattener = _Flattener(packages, diagnostics, sources)
    flattener.add(directives, namespace, ())
    return ModelDirectives(directives=tuple(flattener.items)), flattener.demands


def find_named_file(record: AddDirectives | AddModel, packages: PackageMap, diagnostics: Diagnostics) -> str | None:
    """The path of the file that a directive names, or None after reporting why there is none."""
    path: str | None = None
    note = None
    try:
        path, note = resolve_spelled(record.file, directory_of(record.place), packages.resolve_named)
    except ResourceError as error:
        diagnostics.error("URI_LOOKUP", str(error), place=record.place, value=record.file)
    if note is not None:
        diagnostics.note("URI_LOOKUP", note, place=record.place, value=record.file)
    ambiguity = packages.ambiguity(record.file)
    if ambiguity is not None and all(finding.message != ambiguity for finding in diagnostics.warnings):
        diagnostics.warning("URI_LOOKUP", ambiguity, place=record.place, value=record.file)
    return path


def directory_of(place: SourceLocation) -> str:
    """The directory that relative paths at a place start from; the working directory if no file is there."""
    return os.path.dirname(os.path.abspath(place.file)) if os.path.isfile(place.file) else os.getcwd()


def scoped(namespace: str | None, name: str) -> str:
    """The name inside a namespace; the world is the same in all of them."""
    return f"{namespace}::{name}" if namespace and name != "world" else name


class _Flattener:
    def __init__(self, packages: PackageMap, diagnostics: Diagnostics, sources: list[SourceFile] | None) -> None:
        self.items: list[ModelDirective] = []
        self.demands: list[tuple[int, AddDirectives]] = []
        self._packages, self._diagnostics, self._sources = packages, diagnostics, sources
        self._read: dict[str, ModelDirectives | None] = {}  # path -> ModelDirectives or None
        self._count = self._includes = 0

    def add(self, directives: ModelDirectives, namespace: str, chain: Chain) -> None:
        """Appends the directives; chain: (path, record) of the includes that lead here."""
        for directive in directives.directives:
            self._count += 1
            if self._count > MAX_DIRECTIVES:
                if self._count == MAX_DIRECTIVES + 1:
                    message = f"more than {MAX_DIRECTIVES} directives, includes expanded"
                    self._diagnostics.error("INCLUDE_TOO_LARGE", message, place=directive.record.place)
                return
            if directive.add_directives is not None:
                self._include(directive.record, namespace, chain)
            else:
                self.items.append(_in_namespace(directive, namespace) if namespace else directive)

    def _include(self, record: AddDirectives, namespace: str, chain: Chain) -> None:
        self._includes += 1
        if self._includes > MAX_INCLUDES:
            if self._includes == MAX_INCLUDES + 1:
                message = f"more than {MAX_INCLUDES} files are included, those that included files include among them"
                self._diagnostics.error("INCLUDE_TOO_LARGE", message, place=record.place)
            return
        path = self._find(record, chain)
        if path is None:
            return
        if path not in self._read:
            self._read[path] = read_directives(path, self._diagnostics, sources=self._sources)
        if record.model_namespace:
            namespace = scoped(namespace, record.model_namespace)
            self.demands.append((len(self.items), dataclasses.replace(record, model_namespace=namespace)))
        directives = self._read[path]
        if directives is not None:
            self.add(directives, namespace, (*chain, (path, record)))

    def _find(self, record: AddDirectives, chain: Chain) -> str | None:
        """The path of the included file, or None after reporting why there is none."""
        path = find_named_file(record, self._packages, self._diagnostics)
        if path is None:
            return None
        real = os.path.realpath(path)
        within = [os.path.abspath(chain[0][1].place.file if chain else record.place.file), *(p for p, _ in chain)]
        repeated = next((k for k, inner in enumerate(within) if os.path.realpath(inner) == real), None)
        related = [outer.place for _, outer in chain]
        if repeated is not None:
            names = " -> ".join([*within[repeated:], path])
            message = f"the file includes itself: {names}"
            self._diagnostics.error("INCLUDE_CYCLE", message, place=record.place, related=related)
            return None
        if len(chain) >= MAX_INCLUDE_DEPTH:
            message = f"includes are nested deeper than {MAX_INCLUDE_DEPTH} files: {chain[0][0]} -> ... -> {path}"
            self._diagnostics.error("INCLUDE_DEPTH", message, place=record.place, related=related)
            return None
        return path


def _in_namespace(directive: ModelDirective, namespace: str) -> ModelDirective:
    """The directive with its names inside a namespace, as Drake puts them there."""
    record = directive.record
    return ModelDirective(**{directive.kind: _RENAMERS[directive.kind](record, namespace)})


def _add_model(record: AddModel, namespace: str) -> AddModel:
    poses = {name: _based(X, namespace) for name, X in record.default_free_body_pose.items()}
    return dataclasses.replace(record, name=scoped(namespace, record.name), default_free_body_pose=poses)


def _add_model_instance(record: AddModelInstance, namespace: str) -> AddModelInstance:
    return dataclasses.replace(record, name=scoped(namespace, record.name))


def _add_frame(record: AddFrame, namespace: str) -> AddFrame:
    """A frame without a scope stays so: it belongs to the instance of its base frame."""
    name = scoped(namespace, record.name) if "::" in record.name else record.name
    return dataclasses.replace(record, name=name, X_PF=_based(record.X_PF, namespace))


def _add_weld(record: AddWeld, namespace: str) -> AddWeld:
    return dataclasses.replace(record, parent=scoped(namespace, record.parent), child=scoped(namespace, record.child))


def _add_collision_filter_group(record: AddCollisionFilterGroup, namespace: str) -> AddCollisionFilterGroup:
    inner = record.model_namespace
    return dataclasses.replace(record, model_namespace=scoped(namespace, inner) if inner else namespace)


_RENAMERS: dict[str, Callable[[Any, str], Any]] = {
    "add_model": _add_model,
    "add_model_instance": _add_model_instance,
    "add_frame": _add_frame,
    "add_weld": _add_weld,
    "add_collision_filter_group": _add_collision_filter_group,
}


def _based(transform: Transform, namespace: str) -> Transform:
    if not transform.base_frame:
        return transform
    return dataclasses.replace(transform, base_frame=scoped(namespace, transform.base_frame))
