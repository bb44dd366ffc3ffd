"""Attributes that elements of an MJCF document have in common, as default classes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.writing.write_xml import add

if TYPE_CHECKING:
    from mbcli.parsers.xml_document import XmlElement

SHARED = {  # tag: (attributes that may be shared, start of the name of their class)
    "joint": (("damping", "frictionloss", "armature", "stiffness", "springref", "actuatorfrcrange"), "joint"),
    "motor": (("ctrlrange", "gear"), "motor"),
    "position": (("kp", "kv", "forcerange"), "servo"),
}
LEAST = 3  # elements that have attributes in common


def share_classes(root: XmlElement, default: XmlElement) -> None:
    """Moves attributes that at least three elements of a tag have alike to classes in <default>."""
    names = {node.get("class") for node in default.iter("default")}
    for tag, (attributes, start) in SHARED.items():
        alike = defaultdict(list)
        for section in root.findall("worldbody") + root.findall("actuator"):
            for node in section.iter(tag):
                values = tuple((name, node.get(name)) for name in attributes if node.get(name) is not None)
                if values and node.get("class") is None:
                    alike[values].append(node)
        number = 0
        for values, nodes in alike.items():
            if len(nodes) < LEAST:
                continue
            number += 1
            name = generated_name(f"{start}_{number}", names)
            names.add(name)
            add(add(default, "default", **{"class": name}), tag, **dict(values))
            for node in nodes:
                for attribute, _ in values:
                    del node.attrib[attribute]
                rest = dict(node.attrib)
                for attribute in rest:
                    del node.attrib[attribute]
                node.set("class", name)
                for attribute, value in rest.items():
                    node.set(attribute, value)
