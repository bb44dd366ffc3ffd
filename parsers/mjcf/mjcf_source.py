"""The XML of an MJCF file with everything that it includes in its place."""

import os

from mbcli.parsers.xml_source import MAX_BYTES, read_xml

from mbcli.errors import ResourceError

MAX_FILES = 1000
MAX_DEPTH = 64  # of an <include>: bounds the depth of the tree together with the one of each file


def insert_includes(root, source, packages, base_dir):
    """Puts the file that each <include> names in its place.

    Returns the documents (`SourceFile`), the root's own first, and {path of an included one: its directory}.

    File names are relative to base_dir, the directory of the main file, or else to that of the file in which the
    <include> stands. A file may be included once, so that there are no cycles. source: the path of the main file, or
    its bytes. Faults are errors at the <include>.
    """
    documents = [root.document]
    folders: dict[str, str] = {}
    included_by = {} if isinstance(source, bytes) else {os.path.realpath(source): root}
    pending = root.find_all("include")
    while pending:
        node = pending.pop(0)
        included = _read(node, packages, (base_dir, folders.get(node.document.path)), included_by)
        if included is None:
            node.ignore("settled")
            continue
        documents.append(included.document)
        folders[included.document.path] = os.path.dirname(included.document.path)
        if len(documents) > MAX_FILES or sum(len(document.content) for document in documents) > MAX_BYTES:
            node.diagnostics.error("XML_ERROR", "the included files are too many or too large", node)
            break
        pending += included.find_all("include")
        node.parent.include(node, included)
    return documents, folders


def _read(node, packages, folders, included_by):
    """The root node of the file that an <include> names, or None after an error."""
    name = node.attribute("file", required=True)
    if name is None:
        return None
    if len(list(node.lineage)) > MAX_DEPTH:
        node.diagnostics.error("XML_ERROR", f"an <include> must not be deeper than {MAX_DEPTH} elements", node)
        return None
    path = _resolved(node, name, packages, folders)
    if path is None:
        return None
    first = included_by.setdefault(os.path.realpath(path), node)
    if first is not node:
        problem = "includes itself" if first.parent is None else "is included already"
        node.diagnostics.error(
            "INCLUDE_REPEATED",
            f'"{name}" {problem}: a file can be included once',
            node,
            attribute="file",
            value=name,
            related=(first.place,),
        )
        return None
    return read_xml(path, node.diagnostics, deep=True)


def _resolved(node, name, packages, folders):
    """The path of a file that is looked for in some directories, or None after an error, the one of the first."""
    problem = None
    for folder in folders:
        if folder is not None:
            try:
                return packages.resolve(name, folder)
            except ResourceError as error:
                problem = problem or str(error)
    node.diagnostics.error("URI_LOOKUP", problem, node, attribute="file", value=name)
    return None
