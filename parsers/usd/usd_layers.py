"""The files that a USD stage is composed of, each looked for by the rules of packages before it is opened.

Runs in the process of usd_process.py: the only modules that import pxr are this one and usd_prims.py.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from mbcli.parsers.package_map import OUTSIDE
from pxr import Sdf, Tf

from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.parsers.package_map import PackageMap
    from pxr import Usd

MOST_LAYERS = 2000
MOST_PRIMS = 200_000
MOST_BYTES = 2**30  # of all layers


class Layers:
    """The layers of a stage."""

    def __init__(self, packages: PackageMap, skips_missing: bool) -> None:
        self._packages, self._skips_missing = packages, skips_missing
        self.files: dict[str, None] = {}  # by path, in the order in which they were found
        self.missing: list[str] = []  # messages on references that lead nowhere
        self._seen: set[str] = set()
        self._bytes = 0
        self._layers: dict[str, Sdf.Layer] = {}  # by identifier; USD forgets those that nobody holds
        self._named: dict[str, dict[str, str]] = {}  # {identifier of a layer: {what it names: the identifier of that}}
        self._top = ""  # the folder of the file that is the stage

    def gather(self, path: str) -> None:
        """Opens a file and, one after the other, all that it names. ModelError, ResourceError."""
        self._top = os.path.dirname(os.path.abspath(path))
        pending = [path]
        while pending:
            identifier = pending.pop()
            if identifier in self._seen:
                continue
            self._seen.add(identifier)
            if len(self._seen) > MOST_LAYERS:
                raise ModelError(f"it has more than {MOST_LAYERS} layers")
            layer = self._layers[identifier] = self._opened(identifier)
            layer_files = {uri: found for uri in named_files(layer) if (found := self._found(layer, identifier, uri))}
            self._named[identifier] = layer_files
            pending += layer_files.values()
        self._count(path)

    def _count(self, path: str) -> None:
        """ModelError if what layers name makes more prims than are read: USD would make them all first."""
        counted: dict[tuple[str, str], int] = {}

        def count(identifier: str, place: Sdf.Path) -> int:
            known = (identifier, str(place))
            if known in counted:
                return counted[known]
            counted[known] = 0  # what names itself is a fault that USD tells
            layer = self._layers[identifier]
            prim = layer.GetPrimAtPath(place) if place else _default_prim(layer)
            if prim is None:
                return 0
            total = 1
            for arc, target in _arcs(prim):
                there = self._named[identifier].get(arc) if arc else identifier
                total += count(there, target) if there else 0
            for below in (*prim.nameChildren, *_variants(prim)):
                total += count(identifier, below.path)
            if total > MOST_PRIMS:
                raise ModelError(f"it has more than {MOST_PRIMS} prims")
            counted[known] = total
            return total

        sublayers = list(self._layers[path].subLayerPaths)
        for identifier in [path, *(found for uri, found in self._named[path].items() if uri in sublayers)]:
            for prim in self._layers[identifier].rootPrims:
                count(identifier, prim.path)

    def _opened(self, identifier: str) -> Sdf.Layer:
        outer = Sdf.Layer.SplitIdentifier(identifier)[0].partition("[")[0]
        if outer not in self.files:
            self.files[outer] = None
            self._bytes += os.path.getsize(outer)
            if self._bytes > MOST_BYTES:
                raise ModelError(f"its layers have more than {MOST_BYTES // 2**20} MiB")
        try:
            layer = Sdf.Layer.FindOrOpen(identifier)
        except Tf.ErrorException as error:
            raise ModelError(f"{outer}: {first_line(error)}") from None
        if layer is None:
            raise ModelError(f"{outer} is no USD file that can be read")
        return layer

    def _found(self, layer: Sdf.Layer, identifier: str, uri: str) -> str | None:
        """The identifier of a layer that another one names; None if it is missing and may be."""
        if not uri:
            return None
        path, arguments = Sdf.Layer.SplitIdentifier(uri)
        if Sdf.VariableExpression.IsExpression(uri) or arguments:
            raise ModelError(f'the reference "{uri}" is an expression or has arguments, which are not supported')
        try:
            if "[" in identifier or identifier.lower().endswith(".usdz"):
                return self._in_package(layer, identifier, path)
            outer, bracket, inner = path.partition("[")
            return self._resolved(outer, os.path.dirname(os.path.abspath(identifier))) + bracket + inner
        except ResourceError as error:
            if "://" in path or OUTSIDE in str(error) or not self._skips_missing:
                raise
            self.missing.append(f"{error}")
            return None

    def _resolved(self, uri: str, folder: str) -> str:
        """The path that a layer in a folder names: plain ones may lead anywhere below the folder of the stage."""
        there = os.path.normpath(os.path.join(folder, uri))
        if "://" not in uri and all(os.path.commonpath([self._top, path]) == self._top for path in (folder, there)):
            return self._packages.resolve(os.path.relpath(there, self._top), self._top)
        return self._packages.resolve(uri, folder)

    def _in_package(self, layer: Sdf.Layer, identifier: str, path: str) -> str:
        """A file in the same USDZ package: nothing leads out of it."""
        inside = Sdf.ComputeAssetPathRelativeToLayer(layer, path)
        package = identifier.partition("[")[0]
        if not inside.startswith(f"{package}[") or ".." in inside:
            raise ResourceError(f'"{path}" {OUTSIDE} {package}, which is not allowed')
        return inside

    def check_used(self, stage: Usd.Stage) -> None:
        """That a stage is made of the layers that were looked at, and of no other. ModelError."""
        known = {os.path.realpath(path) for path in self.files}
        for layer in stage.GetUsedLayers():
            path = layer.realPath.partition("[")[0]
            if path and os.path.realpath(path) not in known:
                raise ModelError(f"it uses {path}, which none of its layers names")


def _default_prim(layer: Sdf.Layer) -> Sdf.PrimSpec | None:
    return layer.GetPrimAtPath(f"/{layer.defaultPrim}") if layer.defaultPrim else None


def _variants(prim: Sdf.PrimSpec) -> Iterator[Sdf.PrimSpec]:
    for variants in prim.variantSets.values():
        yield from (variant.primSpec for variant in variants.variants.values())


def _arcs(prim: Sdf.PrimSpec) -> Iterator[tuple[str, Sdf.Path]]:
    """(asset, path of a prim) of all from which a prim gets others; an asset "" is the layer itself."""
    for listed in (prim.referenceList, prim.payloadList):
        for arc in listed.GetAddedOrExplicitItems():
            yield arc.assetPath, arc.primPath
    for listed in (prim.inheritPathList, prim.specializesList):
        yield from (("", path) for path in listed.GetAddedOrExplicitItems())


def named_files(layer: Sdf.Layer) -> list[str]:
    """The asset paths of the sublayers, references and payloads of a layer. ModelError for value clips."""
    clipped: list[Sdf.Path] = []

    def look(path: Sdf.Path) -> None:
        if path.IsPrimPath() and layer.GetPrimAtPath(path).HasInfo("clips"):
            clipped.append(path)

    layer.Traverse(Sdf.Path.absoluteRootPath, look)
    if clipped:
        raise ModelError(f"{clipped[0]} has value clips, which are not supported")
    return list(layer.GetCompositionAssetDependencies())


def first_line(error: BaseException) -> str:
    """What USD says, without where in its own code it says so."""
    text = " ".join(str(error).split())
    place = re.search(r" in file \S+ : '", text)
    said, more, _ = text[place.end() :].partition("' Error in") if place else ("", "", "")
    return said.strip() if more else said[:-1].strip() if said.endswith("'") else text
