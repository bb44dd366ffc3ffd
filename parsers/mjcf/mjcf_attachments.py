"""<attach> of MJCF files: bodies of another file, or of the same one, stand in its place.

Of another file comes all that refers to them alone. Names, classes and assets of it get the prefix; its elements keep
its defaults and its <compiler>. Options and keyframes are those of the main file. Of a body or frame of the same file
comes a copy, see mjcf_own_copies.py.

Format: https://mujoco.readthedocs.io/en/stable/XMLreference.html#body-attach
"""

from __future__ import annotations

import ntpath
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.mjcf.mjcf_compiler import read_compiler
from mbcli.parsers.mjcf.mjcf_own_copies import OwnCopies, kind_of_part
from mbcli.parsers.mjcf.mjcf_replicas import REFERENCES, SECTIONS, expand_replicas, is_world, key_of, refers_only_to
from mbcli.parsers.mjcf.mjcf_source import insert_includes
from mbcli.parsers.mjcf.mjcf_values import MAIN, find_named
from mbcli.parsers.name_spellings import resolve_spelled
from mbcli.parsers.xml_source import read_xml

from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from mbcli.parsers.mjcf.mjcf_own_copies import Attached
    from mbcli.parsers.mjcf.mjcf_replicas import Rename
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.xml_node import Node

NAMELESS = "MuJoCo Model"  # of files that state no name
MAX_DEPTH = 16  # of files that attach each other
_CLASSES = ("class", "childclass")
_NAMES = ("name", *_CLASSES, "mesh", "material", "hfield")
_WITHOUT_CLASS = ("exclude",)


def insert_attachments(
    root: Node, packages: PackageMap, base_dir: str, folder: str, attached: Attached, above: tuple[str, ...] = ()
) -> None:
    """Puts what each <attach> of a file names in its place. Faults are errors.

    Args:
        base_dir: directory of the main file; folder: of this one.
        attached: an `Attached` that gets what is found.
        above: the files that attach this one.
    """
    nodes = root.find_all("attach")
    models = _models(root, packages, folder)
    read: dict[str, Node | None] = {}
    own: Any = OwnCopies(root, attached) if any(node.raw("model") is None for node in nodes) else None
    for node in nodes:
        if node.attribute("model") is None:
            if not own.attach(node):
                return
            continue
        name = find_named(node, "model", "<model> of <asset>", models)
        if name is None:
            node.ignore("settled")
            continue
        if name not in read:
            read[name] = _read(models[name], packages, base_dir, folder, attached, above)
        other = read[name]
        if other is None:
            node.ignore("settled")
        elif not _attach(root, node, other, attached):
            return


def _models(root: Node, packages: PackageMap, folder: str) -> dict[str, Node]:
    """{name: its <model> element}; one without a name has that of the model in the file that it reads."""
    found = {}
    for section in root.children("asset"):
        for node in section.children("model"):
            node.attribute("content_type")
            file = node.attribute("file", required=True)
            if file is not None:
                found[node.attribute("name") or _name_in(file, packages, folder)] = node
    return found


def _name_in(file: str, packages: PackageMap, folder: str) -> str:
    """The name that the model in a file has; of one that cannot be read, which is an error later, that of the file."""
    try:
        root = read_xml(resolve_spelled(file, folder, packages.resolve)[0], Diagnostics(), deep=True)
    except ResourceError:
        root = None
    if root is None:
        return os.path.splitext(ntpath.basename(file))[0]
    return root.attribute("model") or NAMELESS


def _read(
    node: Node, packages: PackageMap, base_dir: str, folder: str, attached: Attached, above: tuple[str, ...]
) -> Node | None:
    """The root of the file that a <model> names, with what it includes and attaches; None after an error."""
    file: Any = node.attribute("file")  # which it has
    try:
        path, note = resolve_spelled(file, folder, packages.resolve)
    except ResourceError as error:
        node.diagnostics.error("URI_LOOKUP", str(error), node, attribute="file")
        return None
    if note is not None:
        node.diagnostics.note("URI_LOOKUP", note, node, attribute="file")
    here = os.path.realpath(path)
    if here in above or len(above) >= MAX_DEPTH:
        problem = "attaches itself" if here in above else f"is deeper than {MAX_DEPTH} files that attach each other"
        node.diagnostics.error("INCLUDE_REPEATED", f'"{node.attribute("file")}" {problem}', node, attribute="file")
        return None
    errors_before = node.diagnostics.counts()["error"]
    root = read_xml(path, node.diagnostics, deep=True)
    if root is None:
        return None
    if root.tag != "mujoco":
        root.diagnostics.error("ELEMENT_INVALID", f"an MJCF file starts with <mujoco>, not <{root.tag}>", root)
        return None
    own = os.path.dirname(path)
    documents, folders = insert_includes(root, path, packages, own)
    if node.diagnostics.counts()["error"] > errors_before:
        return None
    settings = read_compiler(root)
    meshdir = os.path.relpath(os.path.join(own, settings.meshdir), base_dir)
    attached.settings |= {document.path: replace(settings, meshdir=meshdir) for document in documents}
    attached.documents += documents
    attached.folders |= folders
    insert_attachments(root, packages, base_dir, own, attached, (*above, here))
    expand_replicas(root, settings)
    return None if node.diagnostics.counts()["error"] > errors_before else root


def _attach(root: Node, node: Node, other: Node, attached: Attached) -> bool:
    """Puts copies of the parts of another file in the place of an <attach>, and in the sections of the root; whether
    they are not too many."""
    prefix = node.attribute("prefix", "")
    selected = _selected(node, other)
    if selected is None:
        node.ignore("settled")
        return True
    if not attached.may_make(other, node):
        return False
    model: Any = node.attribute("model")  # which it has
    main = f"{prefix or model + '/'}{MAIN}"
    if main in attached.classes:
        problem = f'what is attached needs another prefix: "{prefix}" is taken'
        node.diagnostics.error("DUPLICATE_NAME", problem, node, attribute="prefix", value=prefix)
        node.ignore("settled")
        return True
    attached.classes.add(main)
    outermost = {MAIN, *(default.raw("class") for default in other.child_nodes if default.tag == "default")}
    rename = _renaming(prefix, main, outermost)
    frame = node.substitute("frame", {"childclass": main})
    frame.adopt(part.copied(rename) for part in selected)
    assert node.parent is not None
    node.parent.exchange(node, [frame])
    root.adopt(_defaults(node, other, main, rename))
    root.adopt(_assets(other, rename))
    root.adopt(_sections(node, other, selected, main, rename))
    return True


def _selected(node: Node, other: Node) -> list[Node] | None:
    """The elements of the world of another file that are attached, or None after an error."""
    contents = [child for section in other.child_nodes if section.tag == "worldbody" for child in section.child_nodes]
    tag = kind_of_part(node)
    if tag is None:
        return contents
    parts = {part.raw("name"): part for section in contents for part in section.walk() if part.tag == tag}
    name = find_named(node, tag, f"{tag} in the attached file", parts)
    return None if name is None else [parts[name]]


def _renaming(prefix: str, main: str, outermost: Container[str]) -> Rename:
    """(node, attribute, text) -> the text of the attribute in a copy.

    main: what the class that has any of the names `outermost` is called.
    """

    def rename(node: Node, attribute: str, text: str) -> str:
        if attribute in _CLASSES and text in outermost:
            return main
        named = attribute in _NAMES or (attribute in REFERENCES and not is_world(attribute, text))
        return prefix + text if named else text

    return rename


def _defaults(place: Node, other: Node, main: str, rename: Rename) -> list[Node]:
    """The <default> elements, the outermost of the class `main`, which is there also if the file has none."""
    copies = [node.copied(rename) for node in other.child_nodes if node.tag == "default"]
    for copy in copies:
        copy.state("class", copy.raw("class") or main)
    return copies or [place.substitute("default", {"class": main})]


def _assets(other: Node, rename: Rename) -> Iterator[Node]:
    for section in other.child_nodes:
        if section.tag == "asset":
            copy = section.copied(rename)
            for node, original in zip(copy.child_nodes, section.child_nodes, strict=True):
                if node.raw("name") is None and node.raw("file") is not None:
                    stem = os.path.splitext(ntpath.basename(node.raw("file")))[0]
                    node.state("name", rename(original, "name", stem))
            yield copy.without("model")


def _sections(place: Node, other: Node, selected: Sequence[Node], main: str, rename: Rename) -> Iterator[Node]:
    """The elements of other sections that refer to what is attached, and to nothing else."""
    names = {key_of(node, node.raw("name")) for part in selected for node in part.walk() if node.raw("name")}
    for tag in SECTIONS:
        section = place.substitute(tag, {})
        for holder in other.child_nodes:
            for node in holder.child_nodes if holder.tag == tag else ():
                if refers_only_to(names, node):
                    if node.raw("name"):
                        names.add(key_of(node, node.raw("name")))
                    copy = node.copied(rename)
                    if copy.raw("class") is None and copy.tag not in _WITHOUT_CLASS:
                        copy.state("class", main)
                    section.adopt([copy])
        yield section
