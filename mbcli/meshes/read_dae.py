"""COLLADA files: the geometries of the scene, in the places that its nodes give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mbcli.errors import ModelError
from mbcli.meshes.surfaces import Surface, fans, placed, strips, triples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.math.array_types import FloatArray, IntArray
    from mbcli.meshes.surfaces import Color

_Part: TypeAlias = "tuple[FloatArray, IntArray, str]"  # vertices, triangles, the symbol of its material
_BOUND = "{*}bind_material/{*}technique_common/{*}instance_material"
MOST_NODES = 100_000  # that a scene visits: nodes can stand for others many times
_TEXT = 10_000_000  # bytes from which libxml2 needs to be told that an element may be so large


def read_dae(content: bytes) -> Iterator[Surface]:
    """The geometries of the scene of a COLLADA file, in metres; a surface has the name of its node.

    Its axes stay as they are, whatever its up_axis; its unit becomes metres. Of materials the diffuse colour is read;
    what is missing or broken there, and in images, does no harm.
    """
    document = _Document(_parse(content))
    metres = document.metres()
    for name, vertices, triangles, color in document.surfaces():
        yield Surface(name, metres * vertices, triangles, color)


def _parse(content: bytes) -> Any:
    from lxml import etree

    if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\0" in content[:100]:
        raise ModelError("a document type or an encoding of wide characters is not read")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, huge_tree=len(content) > _TEXT
    )
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise ModelError(str(error)) from None


class _Document:
    def __init__(self, root: Any) -> None:
        self.root = root
        self.by_id = {element.get("id"): element for element in root.iter("{*}*") if element.get("id") is not None}
        self.known: dict[Any, list[_Part]] = {}
        self.colors: dict[Any, Color | None] = {}
        self.visited = 0

    def metres(self) -> float:
        """The length of the file's unit."""
        unit = self.root.find("{*}asset/{*}unit")
        try:
            metres = float(unit.get("meter", "1")) if unit is not None else 1.0
        except ValueError:
            return 1.0
        return metres if 0.0 < metres < np.inf else 1.0

    def surfaces(self) -> Iterator[Surface]:
        """All that the scene shows, in its place; all geometries if the file has no scene."""
        instance = self.root.find("{*}scene/{*}instance_visual_scene")
        scene = None if instance is None else self.referred(instance, "url")
        if scene is None:
            scene = self.root.find("{*}library_visual_scenes/{*}visual_scene")
        if scene is not None:
            for node in scene.iterfind("{*}node"):
                yield from self.of_node(node, np.eye(4), ())
            return
        for geometry in self.root.iterfind("{*}library_geometries/{*}geometry"):
            for vertices, triangles, material in self.of_geometry(geometry):
                yield Surface(_name(geometry), vertices, triangles, self.color(self.by_id.get(material)))

    def of_node(self, node: Any, X: FloatArray, within: tuple[Any, ...]) -> Iterator[Surface]:
        self.visited += 1
        if self.visited > MOST_NODES or node in within:
            raise ModelError(f"its nodes stand for each other in a circle, or more than {MOST_NODES} times")
        for child in node.iterchildren("{*}*"):
            tag = _tag(child)
            if tag in _TRANSFORMS:
                X = X @ _TRANSFORMS[tag](_floats(child))
            elif tag in ("lookat", "skew"):
                raise ModelError(f"a node is placed by <{tag}>, which is not supported")
            elif tag == "node":
                yield from self.of_node(child, X, (*within, node))
            elif tag == "instance_node":
                other = self.referred(child, "url")
                if other is not None:
                    yield from self.of_node(other, X, (*within, node))
            elif tag in ("instance_geometry", "instance_controller"):
                bound = {i.get("symbol"): self.referred(i, "target") for i in child.iterfind(_BOUND)}
                for vertices, triangles, material in self.of_shape(self.referred(child, "url")):
                    color = self.color(bound.get(material, self.by_id.get(material)))
                    yield Surface(_name(node), placed(X, vertices), triangles, color)

    def color(self, material: Any) -> Color | None:
        """The diffuse colour of a <material>; None for an image, or what is none."""
        if material is None:
            return None
        if material not in self.colors:
            effect = material.find("{*}instance_effect")
            effect = None if effect is None else self.referred(effect, "url")
            found = None if effect is None else effect.find("{*}profile_COMMON/{*}technique/*/{*}diffuse/{*}color")
            self.colors[material] = None if found is None else _color(found)
        return self.colors[material]

    def of_shape(self, element: Any) -> list[_Part]:
        """The parts of a geometry, or of the one that a controller moves, where it is bound."""
        if element is None:
            return []
        if _tag(element) != "controller":
            return self.of_geometry(element)
        skin = element.find("{*}skin")
        geometry = None if skin is None else self.referred(skin, "source")
        if geometry is None:
            return []
        bind = skin.find("{*}bind_shape_matrix")
        X = np.eye(4) if bind is None else _matrix(_floats(bind))
        return [(placed(X, v), triangles, material) for v, triangles, material in self.of_geometry(geometry)]

    def of_geometry(self, geometry: Any) -> list[_Part]:
        if geometry not in self.known:
            mesh = geometry.find("{*}mesh")
            primitives = [] if mesh is None else [p for p in mesh.iterchildren("{*}*") if _tag(p) in _PRIMITIVES]
            self.known[geometry] = [part for p in primitives if len((part := self.of_primitive(p))[1])]
        return self.known[geometry]

    def of_primitive(self, primitive: Any) -> _Part:
        """What a <triangles>, <polylist>, ... has."""
        material = primitive.get("material", "")
        inputs = {i.get("semantic"): i for i in primitive.iterfind("{*}input")}
        width = 1 + max((int(i.get("offset", "0")) for i in primitive.iterfind("{*}input")), default=0)
        if "VERTEX" not in inputs:
            return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), material
        offset = int(inputs["VERTEX"].get("offset", "0"))
        rows = [_integers(p)[offset::width] for p in primitive.iterfind(".//{*}p")]
        if _tag(primitive) == "polylist":
            counts = primitive.find("{*}vcount")
            ends = np.cumsum(_integers(counts)) if counts is not None else np.zeros(0, dtype=np.int64)
            rows = np.split(rows[0], ends[:-1]) if rows else []
        triangles = _PRIMITIVES[_tag(primitive)](rows)
        return self.positions(self.referred(inputs["VERTEX"], "source")), triangles, material

    def positions(self, vertices: Any) -> FloatArray:
        """(n, 3) of the POSITION input of a <vertices>."""
        position = next((i for i in vertices.iterfind("{*}input") if i.get("semantic") == "POSITION"), None)
        source = None if position is None else self.referred(position, "source")
        accessor = None if source is None else source.find("{*}technique_common/{*}accessor")
        array = source.find("{*}float_array") if source is not None else None
        if array is None:
            raise ModelError("its vertices have no positions")
        stride = 3 if accessor is None else int(accessor.get("stride", "1"))
        first = 0 if accessor is None else int(accessor.get("offset", "0"))
        numbers = _floats(array)[first:]
        return numbers[: len(numbers) // stride * stride].reshape(-1, stride)[:, :3]

    def referred(self, element: Any, attribute: str) -> Any:
        """The element that an attribute names as #id, None if there is none."""
        return self.by_id.get(element.get(attribute, "").removeprefix("#"))


def _name(element: Any) -> str:
    return str(element.get("name") or element.get("id") or "")


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _floats(element: Any) -> FloatArray:
    return np.array((element.text or "").split(), dtype=float)


def _color(element: Any) -> Color | None:
    """Three numbers or four of 0 to 1. Writers disagree on what opacity they mean, so it is 1."""
    try:
        rgb = [float(text) for text in (element.text or "").split()[:3]]
    except ValueError:
        return None
    return (rgb[0], rgb[1], rgb[2], 1.0) if len(rgb) == 3 and all(0.0 <= value <= 1.0 for value in rgb) else None


def _integers(element: Any) -> IntArray:
    return np.array((element.text or "").split(), dtype=np.int64)


_PRIMITIVES = {"triangles": triples, "polylist": fans, "polygons": fans, "trifans": fans, "tristrips": strips}


# ---------------------------------------------------------------------------------------- transforms


def _matrix(numbers: FloatArray) -> FloatArray:
    return numbers.reshape(4, 4)


def _translation(numbers: FloatArray) -> FloatArray:
    X = np.eye(4)
    X[:3, 3] = numbers
    return X


def _scale(numbers: FloatArray) -> FloatArray:
    x, y, z = numbers
    return np.diag([x, y, z, 1.0])


def _rotation(numbers: FloatArray) -> FloatArray:
    """About an axis by degrees (Rodrigues' formula)."""
    axis, angle = numbers[:3], np.radians(numbers[3])
    x, y, z = axis / (np.linalg.norm(axis) or 1.0)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    X = np.eye(4)
    X[:3, :3] += np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    return X


_TRANSFORMS = {"matrix": _matrix, "translate": _translation, "scale": _scale, "rotate": _rotation}
