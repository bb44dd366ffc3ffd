"""A URDF file without what collides or is seen: engines need no meshes for the motion of bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def without_shapes(path: str, *, options: Mapping[str, str] | None = None) -> str:
    """The file as text. options: {name: value} of MuJoCo's compiler element, in place of those of the file."""
    from lxml import etree

    root = etree.parse(path, etree.XMLParser(resolve_entities=False, no_network=True, recover=True)).getroot()
    for element in [*root.iter("visual"), *root.iter("collision")]:
        element.getparent().remove(element)
    for element in root.findall("mujoco"):
        root.remove(element)
    if options is not None:
        compiler = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
        for name, value in options.items():
            compiler.set(name, value)
    return etree.tostring(root, encoding="unicode")
