"""The contents that <include> brings into an SDFormat file: the file of its URI, and its changes of that file."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbcli.parsers.diagnostics import without_text
from mbcli.parsers.file_format import format_of
from mbcli.parsers.formats import FORMATS, sdf
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mesh_files import MeshFiles
from mbcli.parsers.name_spellings import resolve_spelled
from mbcli.parsers.package_map import OUTSIDE
from mbcli.parsers.sdf.sdf_scopes import File, Placing
from mbcli.parsers.sdf.sdf_values import name_problem, read_pose
from mbcli.parsers.sdf.sdf_versions import read_version
from mbcli.parsers.spec import ModelSpec
from mbcli.parsers.version_features import check_version
from mbcli.parsers.xml_node import Node
from mbcli.parsers.xml_source import read_xml

from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from types import ModuleType

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.spec import SourceFile

MAX_DEPTH = 32  # of files that include each other
MAX_INCLUDES = 2000  # of a file and all that it includes, each as often as it comes
MANIFEST = "model.config"
SCENERY = ("light", "actor")  # what a file may have beside models


@dataclass(frozen=True, slots=True)
class Included:
    """The model of an <include>: a node of an SDFormat file, or a `ModelSpec` of another format."""

    placing: Placing
    merge: bool
    path: str
    includes: Includes
    node: Node | None = None
    file: File | None = None
    spec: ModelSpec | None = None

    def entered(self) -> AbstractContextManager[None]:
        """While the model is gathered, its file must not be included again."""
        return self.includes.inside(self.path)


class Includes:
    """Opens files once each, keeps the chain of those that are being read.

    packages: `PackageMap`. chain: absolute path of the file that is read first, if it is a file.
    """

    def __init__(self, packages: PackageMap, diagnostics: Diagnostics, path: str | None = None) -> None:
        self.packages = packages
        self.diagnostics = diagnostics
        self.files: dict[str, File | None] = {}  # path: File or None
        self.specs: dict[str, ModelSpec | None] = {}  # path: ModelSpec or None
        self.count = 0
        self.failed = False  # whether one of them brought nothing, beside those that may be skipped
        self.skipped = 0  # number of those
        self._chain = [path] if path else []

    @contextmanager
    def inside(self, path: str) -> Iterator[None]:
        self._chain.append(path)
        try:
            yield
        finally:
            self._chain.pop()

    def __call__(self, node: Node, file: File) -> Included | None:
        """The `Included` of an <include> in a file, or None with an error."""
        self.count += 1
        if self.count == MAX_INCLUDES + 1:
            message = f"more than {MAX_INCLUDES} models are included, includes in included files among them"
            node.diagnostics.error("INCLUDE_TOO_LARGE", message, node)
        before = self.skipped
        included = self._included(node, file) if self.count <= MAX_INCLUDES else None
        self.failed = self.failed or (included is None and self.skipped == before)
        return included

    def _included(self, node: Node, file: File) -> Included | None:
        node.children("plugin")  # acts on what is included, where that is known
        merge = node.boolean("merge", False)
        uri_node = node.child("uri", required=True)
        uri = uri_node.text(required=True) if uri_node is not None else None
        path = self._find(uri, uri_node, file) if uri is not None else None
        if path is None or not self._may_enter(path, uri_node):
            return None
        try:
            kind = format_of(path, path)
        except (ModelError, ResourceError) as error:
            uri_node.diagnostics.error("URI_INVALID", without_text(str(error)), uri_node, value=uri)
            return None
        if FORMATS[kind] is sdf:
            return self._of_sdf(node, file, path, merge)
        if not FORMATS[kind].IS_SCENE and FORMATS[kind].IN_SDFORMAT:
            return self._of_other_format(node, file, path, merge, FORMATS[kind])
        uri_node.diagnostics.error("URI_INVALID", f"{path} is neither SDFormat nor URDF", uri_node, value=uri)
        return None

    # ------------------------------------------------------------------------------------------ finding

    def _find(self, uri: str, node: Node, file: File) -> str | None:
        """The path of the model file that a URI leads to, or None with an error."""
        try:
            path, note = resolve_spelled(uri, file.base_dir, self.packages.resolve_model)
        except ResourceError as error:
            self._report_missing(uri, str(error), node)
            return None
        if note is not None:
            node.diagnostics.note("URI_LOOKUP", note, node, value=uri)
        if not os.path.isdir(path):
            return path
        manifest = os.path.join(path, MANIFEST)
        if not os.path.isfile(manifest):
            node.diagnostics.error("URI_LOOKUP", f"{path} is a directory without a {MANIFEST}", node, value=uri)
            return None
        name = self._newest_file(manifest)
        if name is None:
            node.diagnostics.error("URI_LOOKUP", f"{manifest} names no SDFormat file that can be read", node, value=uri)
            return None
        try:
            return self.packages.resolve(name, path)
        except ResourceError as error:
            node.diagnostics.error("URI_LOOKUP", f"{manifest}: {error}", node, value=uri)
            return None

    def _report_missing(self, uri: str, problem: str, node: Node) -> None:
        """An error, or a warning if what is missing may be left out; what must not be read is an error in any case."""
        if OUTSIDE in problem or self.packages.missing_includes != "skip":
            hint = None if OUTSIDE in problem else "--missing-includes skip reads the file without it"
            node.diagnostics.error("URI_LOOKUP", problem, node, value=uri, hint=hint)
            return
        self.skipped += 1
        node.diagnostics.warning("URI_LOOKUP", f"the included model is left out: {problem}", node, value=uri)

    def _newest_file(self, manifest: str) -> str | None:
        """The file of the highest version that a model.config names; one without a version comes last."""
        root = read_xml(manifest, self.diagnostics)
        if root is None:
            return None
        found = []
        for node in root.children("sdf"):
            version = re.fullmatch(r"(\d+)\.(\d+)", node.attribute("version", "0.0").strip())
            name = node.text(required=True)
            if version and name:
                found.append(((int(version[1]), int(version[2])), name))
        return max(found, key=lambda entry: entry[0])[1] if found else None

    def _may_enter(self, path: str, node: Node) -> bool:
        problem = None
        if os.path.realpath(path) in map(os.path.realpath, self._chain):
            chain = " -> ".join([*self._chain[self._chain.index(path) if path in self._chain else 0 :], path])
            problem = f"files include each other in a cycle: {chain}"
        elif len(self._chain) > MAX_DEPTH:
            problem = f"files include each other more than {MAX_DEPTH} deep: {' -> '.join([*self._chain, path])}"
        if problem:
            node.diagnostics.error("URI_INVALID", problem, node, value=node.text())
        return problem is None

    def sources(self) -> list[SourceFile]:
        """The files read so far."""
        read = [file.root.document for file in self.files.values() if file is not None]
        return [*read, *(source for spec in self.specs.values() if spec is not None for source in spec.sources)]

    # ------------------------------------------------------------------------------------------ opening

    def open(self, root: Node, base_dir: str) -> File | None:
        """The `File` of a root element, or None with an error."""
        minor = read_version(root)
        if minor is None:
            return None
        check_version(root)
        return File(root, minor, MeshFiles(self.packages, base_dir), base_dir)

    def _of_sdf(self, include: Node, file: File, path: str, merge: bool) -> Included | None:
        if path not in self.files:
            root = read_xml(path, self.diagnostics)
            self.files[path] = self.open(root, os.path.dirname(path)) if root is not None else None
        included = self.files[path]
        if included is None:
            return None
        root = included.root
        nodes = root.children("model", "include")
        if not nodes and any(tag in SCENERY for tag in root.child_tags):  # as the sun is a model of its own
            self.skipped += 1
            root.ignore("settled")
            message = f"{path} has no bodies: nothing that is computed here depends on its light or actor"
            include.diagnostics.note("ELEMENT_FOREIGN", message, include)
            return None
        if len(nodes) != 1:
            message = f"an included file must have one model, {path} has {len(nodes)}"
            include.diagnostics.error("ELEMENT_INVALID", message, include, related=[node.place for node in nodes])
            root.ignore("settled")
            return None
        (node,) = nodes
        if node.tag == "include":
            message = f"{path} is itself an <include>, which is not supported in an included file"
            include.diagnostics.error("ELEMENT_UNSUPPORTED", message, include, related=[node.place])
            return None
        placing = self._read_placing(include, file, node.attribute("name"))
        return Included(placing, merge, path, self, node=node, file=included) if placing is not None else None

    def _of_other_format(
        self, include: Node, file: File, path: str, merge: bool, file_format: ModuleType
    ) -> Included | None:
        if path not in self.specs:
            models = file_format.read(path, self.diagnostics, packages=self.packages, name=None)
            self.specs[path] = models[0] if models else None
        spec = self.specs[path]
        if spec is None:
            return None
        placing = self._read_placing(include, file, spec.name)
        if placing is None:
            return None
        held = next((joint for joint in spec.joints if joint.parent == WORLD), None)
        if held is not None and placing.pose is not None:
            self.diagnostics.warning(
                "POSE_UNUSED",
                f'the <pose> does not move the bodies that hang on link "{WORLD}" of {path}: that is the world',
                include.peek("pose"),
                hint="give the base of the robot another name, and weld it where it belongs",
                related=[held.place],
            )
        return Included(placing, merge, path, self, spec=spec)

    def _read_placing(self, include: Node, file: File, own_name: str | None) -> Placing | None:
        """The changes of an <include> to its model, or None with an error."""
        name_node = include.child("name")
        name = (name_node.text(required=True) if name_node is not None else own_name) or None
        problem = name_problem(name, file.minor) if name is not None else ("ATTRIBUTE_MISSING", "the model has no name")
        if problem:
            include.diagnostics.error(problem[0], f"<include>: {problem[1]}", name_node or include, value=name)
            return None
        static = include.child("static")
        placement = include.child("placement_frame")
        if placement is not None and include.child("pose") is None:
            message = "<placement_frame> of an <include> needs a <pose>"
            include.diagnostics.error("MODEL_PLACEMENT_FRAME_INVALID", message, placement)
            return None
        return Placing(
            name=name,
            node=include,
            pose=read_pose(include, file.minor) if include.child("pose") is not None else None,
            static=static.text_boolean(required=True) if static is not None else None,
            placement_frame=placement.text(required=True) if placement is not None else None,
        )
