"""<hfield> assets of MJCF files: heights in the file itself, in a PNG image or in MuJoCo's own format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import report_duplicate
from mbcli.parsers.mjcf.mjcf_meshes import asset_name
from mbcli.parsers.spec import Box, HeightField

from mbcli.errors import ModelError, ResourceError
from mbcli.meshes.height_grids import MOST_HEIGHTS, read_height_file, scaled_to_1

if TYPE_CHECKING:
    from mbcli.parsers.mjcf.mjcf_meshes import MeshReader
    from mbcli.parsers.mjcf.mjcf_values import Reading, WithDefaults
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix


class HeightFieldReader:
    """The height fields of a file by name; their heights are read when a geom asks for them."""

    def __init__(self, reading: Reading, meshes: MeshReader) -> None:
        self._reading, self._meshes = reading, meshes
        self.elements: dict[str, WithDefaults] = {}  # name -> its element
        self._found: dict[str, HeightField | None] = {}

    def add(self, node: Node) -> None:
        """Takes an <hfield> up."""
        name = asset_name(node)
        if name in self.elements:
            report_duplicate(node, "hfield", name, self.elements[name].place)
        self.elements.setdefault(name, self._reading.defaults.of(node, None))
        for attribute in ("size", "nrow", "ncol", "elevation", "file", "content_type"):  # also if no geom has it
            node.attribute(attribute)

    def find(self, name: str) -> HeightField | None:
        """The height field of a name that is in `elements`; None after a finding."""
        if name not in self._found:
            element = self.elements[name]
            size = self._size(element)
            levels = None if size is None else self._levels(element)
            self._found[name] = None
            if size is not None and levels is not None:
                heights = size[2] * levels
                heights.flags.writeable = False
                self._found[name] = HeightField(heights, size[0], size[1], size[3])
        return self._found[name]

    def weighing_box(self, name: str) -> Box:
        """What a geom of the height field weighs as in MuJoCo: a box of its base and half its height."""
        x, y, top, base = self._size(self.elements[name]) or (1.0, 1.0, 1.0, 1.0)
        return Box((2.0 * x, 2.0 * y, base + top / 2.0))

    def _size(self, element: WithDefaults) -> tuple[float, ...] | None:
        size = element.node.vector("size", 4, required=True)
        if size is not None and min(size) <= 0.0:
            _report(element, "size", "the four sizes of an <hfield> must be positive")
            return None
        return size

    def _levels(self, element: WithDefaults) -> Matrix | None:
        """From 0 to 1, first row at -y; None after a finding."""
        file = element.attribute("file")
        if file:
            path = self._meshes.path_of(element, file)
            try:
                return None if path is None else read_height_file(path)
            except (ModelError, ResourceError) as error:
                _report(element, "file", str(error))
                return None
        rows, columns = (element.node.integer(name, 0) for name in ("nrow", "ncol"))
        if min(rows, columns) < 2 or rows * columns > MOST_HEIGHTS:
            _report(element, "nrow", f"an <hfield> has 2 rows and columns or more, and {MOST_HEIGHTS} heights at most")
            return None
        if not element.attribute("elevation", "").split():
            return np.zeros((rows, columns))
        numbers = element.node.vector("elevation", rows * columns)
        return None if numbers is None else scaled_to_1(np.array(numbers).reshape(rows, columns)[::-1])


def _report(element: WithDefaults, attribute: str, problem: str) -> None:
    element.diagnostics.error("ATTRIBUTE_INVALID", problem, element.node, attribute=attribute)
