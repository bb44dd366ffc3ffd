"""The files to which `package://NAME/path` and the other URIs of a model file lead.

A name is looked up in this order, the first hit wins:

    1. directories given by name (`add`)
    2. directories given to search (`add_path`)
    3. the package that encloses the model file, found by walking up from it
    4. MBCLI_PACKAGE_PATH, then ROS_PACKAGE_PATH (searched)
    5. AMENT_PREFIX_PATH (prefix/share/NAME)
    6. GZ_SIM_RESOURCE_PATH, IGN_GAZEBO_RESOURCE_PATH, GAZEBO_MODEL_PATH, SDF_PATH (directory/NAME)
    7. the installed Python package of this name, which is not imported

The name of a model without a scheme, as an <include> of SDFormat may have it, is looked for beside the file, then in
the directories of 6. URIs of Gazebo Fuel lead to what Gazebo has downloaded, see fuel_cache.py.

Directories are searched in sorted order, and not before a URI needs it; nothing is ever downloaded. The name of a
package is the one that its package.xml states, or the name of the directory that holds a model.config. Where a name
that was not given leads to several directories, all are searched for and kept in `ambiguous`, for a warning.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mbcli.parsers.fuel_cache import find_in_cache, is_of_fuel
from mbcli.parsers.name_spellings import of_other_case, similar_file

from mbcli.common.resources import drake_folder, fetched_by_drake, python_package
from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DRAKES_PACKAGES = ("drake", "drake_models")
SEARCHED_VARIABLES = ("MBCLI_PACKAGE_PATH", "ROS_PACKAGE_PATH")
PREFIX_VARIABLE = "AMENT_PREFIX_PATH"
MODEL_PATH_VARIABLES = ("GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH")
IGNORE_MARKERS = frozenset({"AMENT_IGNORE", "CATKIN_IGNORE", "COLCON_IGNORE"})
MODEL_FOLDERS = frozenset({"urdf", "sdf", "mjcf", "xml", "xacro", "robots"})  # beside them lie the meshes
SHAPES_AND_PICTURES = frozenset(
    (".stl", ".dae", ".obj", ".gltf", ".glb", ".bin", ".ply", ".msh", ".vtk", ".mtl")
    + (".png", ".jpg", ".jpeg", ".tga", ".bmp", ".tif", ".tiff", ".hdr", ".exr", ".dds", ".ktx", ".ktx2", ".webp")
)
MOST_LEVELS_UP = 4  # from a model to the folder around it that its URIs name
MAX_SEARCHED_DIRECTORIES = 100_000
MAX_NEIGHBOURS = 10_000  # entries of a directory among which the record of an installation is looked for
OUTSIDE = "is outside of"  # in the message on a file that must not be read

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_PACKAGE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", re.ASCII)


class MissingFileError(ResourceError):
    """Where a URI leads, wanted, below a root, there is no file; path: that, but empty if the message says what is."""

    def __init__(self, message: str, wanted: str, root: str, *, says_what_is_there: bool = False) -> None:
        super().__init__(message)
        self.wanted, self.root = wanted, root
        self.path = "" if says_what_is_there else wanted


class PackageMap:
    """Resolves URIs to files.

    allow_outside: accept a file outside of its package (or, for a plain path, outside of the package, one of ROS or of
    Python, or of the directory of the file that names it), which is refused otherwise, symbolic links followed.
    missing_meshes: how parsers report a mesh file that cannot be found: "error", "warn", or "ignore", a note.
    missing_includes: what they do about an SDFormat <include> without its file: "error", or "skip" it with a warning.
    environment: the variables above; default `os.environ` at the time of the look-up.
    """

    def __init__(
        self,
        *,
        allow_outside: bool = False,
        missing_meshes: str = "warn",
        missing_includes: str = "error",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.allow_outside, self.missing_meshes, self.missing_includes = allow_outside, missing_meshes, missing_includes
        # {name: text} if xacro files may be expanded, which runs code of theirs
        self.xacro_arguments: dict[str, str] | None = None
        self.xacro_arguments_are_shared = False  # of several files, which need not take each
        self.ambiguous: dict[str, tuple[str, ...]] = {}  # name -> the directories that claim it; the first is used
        self._environment = environment
        self._named: dict[str, str] = {}
        self._paths: list[str] = []
        self._drakes = set(DRAKES_PACKAGES)  # what is found where Drake has its files
        self._searched: dict[str, dict[str, list[str]]] = {}  # directory -> {name: package directories}
        # (name, base directory) -> (package directory or None, places that were tried)
        self._found: dict[tuple[str, str], tuple[str | None, list[str]]] = {}
        self._roots: dict[str, str] = {}  # base directory -> the one that plain paths must not leave

    def as_dict(self) -> dict[str, Any]:
        """What was given, as JSON has it; from_dict() makes the same map of it in another process."""
        return {
            "allow_outside": self.allow_outside,
            "missing_meshes": self.missing_meshes,
            "missing_includes": self.missing_includes,
            "xacro_arguments": self.xacro_arguments,
            "named": {name: os.path.abspath(directory) for name, directory in self._named.items()},
            "paths": [os.path.abspath(directory) for directory in self._paths],
        }

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> PackageMap:
        """The contrary of as_dict(). ResourceError for a directory that is missing here."""
        result = PackageMap(
            allow_outside=document["allow_outside"],
            missing_meshes=document["missing_meshes"],
            missing_includes=document["missing_includes"],
        )
        result.xacro_arguments = document["xacro_arguments"]
        for name, directory in document["named"].items():
            result.add(name, directory)
        for directory in document["paths"]:
            result.add_path(directory)
        return result

    def add(self, name: str, directory: str | os.PathLike[str]) -> None:
        """Give a package by name. Raises ResourceError if the directory is missing or the name is taken."""
        directory = _existing_directory(directory)
        if self._named.setdefault(name, directory) != directory:
            raise ResourceError(f'package "{name}" is {self._named[name]} already, not {directory}')
        self._found.clear()

    def add_path(self, directory: str | os.PathLike[str]) -> None:
        """Give a directory to search for packages. Raises ResourceError if it is missing."""
        self._paths.append(_existing_directory(directory))
        self._found.clear()

    def remove(self, name: str) -> None:
        """Forget a package that was given, or one of Drake's own. Raises ResourceError if there is none."""
        given = [self._named.pop(name, None), *(self._search(folder).pop(name, None) for folder in self._paths)]
        if not any(given) and name not in self._drakes:
            raise ResourceError(f'package "{name}" was not given')
        self._drakes.discard(name)
        self._found.clear()

    def find_drakes(self, names: set[str]) -> None:
        """Looks for these packages of Drake's own too, as it does unless they were removed."""
        self._drakes |= names
        self._found.clear()

    def package_directory(self, name: str, base_dir: str | os.PathLike[str] | None = None) -> str:
        """The directory of a package as seen from a directory, or ResourceError with everything tried."""
        directory, tried = self._look_up(name, base_dir)
        if directory is None:
            raise ResourceError(f'no package "{name}": {"; ".join(tried)}')
        return directory

    def resolve(self, uri: str, base_dir: str | os.PathLike[str] | None = None) -> str:
        """The path of the file or directory that a URI or a plain path names.

        base_dir: directory of the file that contains the URI; default: the working directory. Raises
        ResourceError with every candidate and why it failed.
        """
        base_dir = _absolute(base_dir)
        scheme, rest = _split(uri)
        if scheme in ("package", "model"):
            name, _, path = rest.lstrip("/").partition("/")
            if not _PACKAGE_NAME.fullmatch(name):
                raise ResourceError(f'"{uri}" does not name a package')
            root, tried = self._look_up(name, base_dir)
            if root is None:
                raise ResourceError(f'"{uri}": no package "{name}": {"; ".join(tried)}')
            if not self.allow_outside and not self._serves(root, path, base_dir):
                raise ResourceError(
                    f'"{uri}": {root} has no package.xml and {OUTSIDE} {self._root(base_dir)}, so that only meshes and '
                    f"pictures there are read (--package {name}={root})"
                )
            candidate = os.path.join(root, path.lstrip("/"))
            others = [os.path.join(other, path) for other in self.ambiguous.get(name, ())[1:]]
        elif scheme in ("", "file"):
            root = self._root(base_dir)
            candidate, others = os.path.join(base_dir, rest), []
        elif scheme in ("http", "https"):
            root, path = self._downloaded(uri, rest)
            candidate, others = os.path.join(root, path), []
        else:
            raise ResourceError(f'"{uri}": unknown scheme "{scheme}"')
        return self._checked(uri, os.path.normpath(candidate), root, others)

    def resolve_named(self, uri: str, base_dir: str | os.PathLike[str] | None = None) -> str:
        """As resolve(), of a model that a directive names."""
        return self.resolve(uri, base_dir)

    def resolve_model(self, uri: str, base_dir: str | os.PathLike[str] | None = None) -> str:
        """As resolve(); the name of a model, or a path that begins with one, is also looked for where Gazebo does."""
        try:
            return self.resolve(uri, base_dir)
        except ResourceError as error:
            name = uri.partition("/")[0]
            if "://" in uri or not _PACKAGE_NAME.fullmatch(name) or OUTSIDE in str(error):
                raise
            tried = [str(error)]
        for variable in MODEL_PATH_VARIABLES:
            for directory in self._variable(variable):
                candidate = os.path.normpath(os.path.join(directory, uri))
                if os.path.exists(candidate):
                    return self._checked(uri, candidate, os.path.join(directory, name), [])
                tried.append(f"no {candidate} ({variable})")
        empty = [variable for variable in MODEL_PATH_VARIABLES if not self._variable(variable)]
        tried += [f"not set: {', '.join(empty)}"] if empty else []
        raise ResourceError("; ".join(tried))

    def find_nearby(
        self,
        uri: str,
        base_dir: str | os.PathLike[str] | None = None,
        folders: dict[tuple[str, str], str | None] | None = None,
    ) -> str | None:
        """The file that a URI which cannot be resolved probably means, in the directory or around it; None without one.

        Some files write package://meshes/a.stl for meshes/a.stl, the name that a package once had, or a path from
        another directory than their own. The search goes no further up than plain paths may. folders: {(directory,
        path in it): the directory there, or None}, filled in and asked before the file system.
        """
        folders = {} if folders is None else folders
        try:
            scheme, rest = _split(uri)
        except ResourceError:
            return None
        rest = rest.lstrip("/") if scheme else rest
        if scheme not in ("", "package", "model") or os.path.isabs(rest):
            return None
        tails = [rest]
        if scheme and "/" in rest.partition("/")[2]:
            tails.append(rest.partition("/")[2].lstrip("/"))
        base_dir = _absolute(base_dir)
        root = self._root(base_dir)
        parts = [os.path.split(tail) for tail in tails]
        for directory in _walk_up(base_dir):
            for head, name in parts:
                if (directory, head) not in folders:
                    folder = os.path.normpath(os.path.join(directory, head))
                    folders[directory, head] = folder if os.path.isdir(folder) else None
                beside = folders[directory, head]
                path = os.path.join(beside, name) if beside is not None and name else ""
                if path and os.path.isfile(path) and self._may_be_read(path, root):
                    return os.path.normpath(path)
            if directory == root:
                break
        return None

    def ambiguity(self, uri: str) -> str | None:
        """The warning on a URI whose package is in several directories; None for others."""
        name = package_of(uri) if self.ambiguous else ""
        if name not in self.ambiguous:
            return None
        places = ", ".join(self.ambiguous[name])
        return f'package "{name}" has several directories, the first is used: {places}'

    def similar_file(self, missing: MissingFileError) -> str | None:
        """A file that is probably meant, and may be read; None without one, or if the message names another."""
        found = similar_file(missing.path, missing.root) if missing.path else None
        return found if found is not None and (self.allow_outside or self._may_be_read(found, missing.root)) else None

    def leads_out(self, path: str, base_dir: str) -> bool:
        """Whether a file is outside of what plain paths of a directory reach, and of packages that the user named."""
        path = os.path.abspath(path)
        return not _is_inside(path, self._root(base_dir)) and not self._is_named(path)

    def require_answers(self) -> None:
        """Before work that takes long: a map whose answers come from elsewhere raises if some have not come."""

    # ------------------------------------------------------------------------------------------ look-up

    def _root(self, base_dir: str) -> str:
        if base_dir not in self._roots:
            self._roots[base_dir] = _enclosing_root(base_dir)
        return self._roots[base_dir]

    def _checked(self, uri: str, path: str, root: str, others: list[str]) -> str:
        if not self.allow_outside and not self._may_be_read(path, root):
            advice = "which is not allowed (--allow-outside)"
            if _is_below(path, root):
                name = stated_name(root) or os.path.basename(root)
                advice = f"as a link to {os.path.realpath(path)}; --package {name}={root} trusts the links there"
            raise ResourceError(f'"{uri}": {path} {OUTSIDE} {root}, {advice}')
        if not os.path.exists(path):
            elsewhere = "".join(f"; there is {other}" for other in others if os.path.exists(other))
            other = of_other_case(path, root)
            if other is not None and (self.allow_outside or self._may_be_read(other, root)):
                elsewhere = f"; {other} is there, whose letters differ in case{elsewhere}"
            message = f'"{uri}": {path} does not exist{elsewhere}'
            raise MissingFileError(message, path, root, says_what_is_there=bool(elsewhere))
        if not (os.path.isfile(path) or os.path.isdir(path)):
            raise ResourceError(f'"{uri}": {path} is not a regular file')
        return path

    def _may_be_read(self, path: str, root: str) -> bool:
        """Whether a file is in a directory, links followed; or the user has named it, or the package that it is in.

        Where packages are installed by links (colcon build --symlink-install), these lead into the same package.
        """
        if _is_inside(path, root) or self._is_named(path):
            return True
        return _is_below(path, root) and _is_of_package(os.path.realpath(path), stated_name(root))

    def _is_named(self, path: str) -> bool:
        """Whether a path leads into a package that the user has named or lets search: its links are his own choice."""
        searched = [entry for name in (*SEARCHED_VARIABLES, *MODEL_PATH_VARIABLES) for entry in self._variable(name)]
        installed = [os.path.join(prefix, "share") for prefix in self._variable(PREFIX_VARIABLE)]
        if any(_is_below(path, directory) for directory in self._named.values()):
            return True
        for top in (*self._paths, *map(os.path.abspath, (*searched, *installed))):
            if _is_below(path, top):
                around = (directory for directory in _walk_up(path) if _is_below(directory, top))
                if any(map(_is_package, around)):
                    return True
        return False

    def _serves(self, root: str, path: str, base_dir: str) -> bool:
        """Whether a file of the directory that counts as a package may be read: of one without manifest around the
        model's own folder, as many repositories have it, meshes and pictures."""
        if _is_package(root) or self._is_named(root) or _is_below(root, self._root(base_dir)):
            return True
        if not _is_below(base_dir, root):
            return True
        return os.path.splitext(path)[1].lower() in SHAPES_AND_PICTURES

    def _downloaded(self, uri: str, rest: str) -> tuple[str, str]:
        """(directory, path in it) to which the URI of a model of Fuel leads in Gazebo's cache."""
        if not is_of_fuel(rest):
            raise ResourceError(f'"{uri}": nothing is fetched from the network')
        directory, path, tried = find_in_cache(rest, self._variables())
        if directory is None:
            raise ResourceError(
                f'"{uri}": nothing is fetched from the network, and Gazebo has not downloaded it: it is not below '
                f"{', '.join(tried)}; `gz fuel download -u` does"
            )
        return directory, path

    def _look_up(self, name: str, base_dir: str | os.PathLike[str] | None) -> tuple[str | None, list[str]]:
        """(the directory of a package or None, places that were tried)"""
        base_dir = _absolute(base_dir)
        key = (name, base_dir)
        if key not in self._found:
            if name in self._named:
                self._found[key] = (self._named[name], [])
            else:
                tried = ["not given by name"]
                found = self._search_all(name, base_dir, tried)
                if len(found) > 1:
                    self.ambiguous[name] = tuple(found)
                self._found[key] = (found[0] if found else None, tried)
        return self._found[key]

    def _search_all(self, name: str, base_dir: str, tried: list[str]) -> list[str]:
        """The directories of a package, each once, in the order of the sources; `tried` gets the others' answers."""
        found: dict[str, str] = {}  # real path -> path
        try:
            for directory in self._candidates(name, base_dir, tried):
                found.setdefault(os.path.realpath(directory), directory)
        except ResourceError:
            if not found:  # a hit is a hit, whatever lies in the sources after it
                raise
        tried.append("no Python package has this name")  # but for the wheel of pydrake, whose module has no models
        return list(found.values()) or [path for path in python_package(name) if name not in DRAKES_PACKAGES]

    def _candidates(self, name: str, base_dir: str, tried: list[str]) -> Iterator[str]:
        """Yields the directories of one source after the other, writing the answers of others into `tried`."""
        elsewhere = self.fetched(name, tried)
        if elsewhere is not None:
            yield elsewhere
            return
        for directory in self._paths:
            yield from self._searched_for(name, directory, tried, "")
        enclosing = _enclosing_package(name, base_dir)
        if enclosing is not None:
            yield enclosing
        tried.append(f"not around {base_dir}")
        empty = []
        for variable in (*SEARCHED_VARIABLES, PREFIX_VARIABLE, *MODEL_PATH_VARIABLES):
            directories = self._variable(variable)
            if not directories:
                empty.append(variable)
            for directory in directories:
                if variable in SEARCHED_VARIABLES:
                    yield from self._searched_for(name, directory, tried, f" ({variable})")
                    continue
                path = os.path.join(directory, *(("share", name) if variable == PREFIX_VARIABLE else (name,)))
                if os.path.isdir(path):
                    yield path
                else:
                    tried.append(f"no {path} ({variable})")
        if empty:
            tried.append(f"not set: {', '.join(empty)}")
        if name in self._drakes:
            folder = drake_folder(name)
            if folder is not None:
                yield folder
            yield from (path for path in fetched_by_drake() if stated_name(path) == name)
            tried.append("not below DRAKE_RESOURCE_ROOT, nor in an installed pydrake, nor in what Drake has fetched")

    def fetched(self, name: str, tried: list[str]) -> str | None:
        """The directory of a package that was fetched from elsewhere; None, with a reason in `tried`, without one."""
        return None

    def _searched_for(self, name: str, directory: str, tried: list[str], source: str) -> Iterator[str]:
        found = self._search(directory).get(name, ())
        yield from found
        if not found:
            tried.append(f"not below {directory}{source}")

    def _variables(self) -> Mapping[str, str]:
        return os.environ if self._environment is None else self._environment

    def _variable(self, name: str) -> list[str]:
        return [entry for entry in self._variables().get(name, "").split(os.pathsep) if entry]

    def _search(self, directory: str) -> dict[str, list[str]]:
        """All packages at or below a directory: {name: [directories]}."""
        packages = self._searched.get(directory)
        if packages is None:
            packages = {}
            for name, found in _walk_packages(directory):
                packages.setdefault(name, []).append(found)
            self._searched[directory] = packages
        return packages


def absolute_variables() -> dict[str, str]:
    """The variables above as a process in another working folder needs them."""
    names = (*SEARCHED_VARIABLES, PREFIX_VARIABLE, *MODEL_PATH_VARIABLES)
    return {
        name: os.pathsep.join(os.path.abspath(entry) for entry in os.environ[name].split(os.pathsep) if entry)
        for name in names
        if name in os.environ
    }


def package_of(uri: str) -> str:
    """The package that a URI names; empty for plain paths."""
    return uri.partition("://")[2].lstrip("/").partition("/")[0]


def _split(uri: str) -> tuple[str, str]:
    match = _SCHEME.fullmatch(uri)
    if "\0" in uri:
        raise ResourceError(f"{uri!r} contains a null character")
    if not match:
        return "", uri
    rest = unquote(match[2])
    if "\0" in rest:
        raise ResourceError(f"{uri!r} contains a null character")
    scheme = match[1].lower()
    if scheme == "file" and rest.startswith("//"):  # as file:///$(find PKG)/..., which Linux takes as one slash
        rest = "/" + rest.lstrip("/")
    return scheme, rest


def _absolute(directory: str | os.PathLike[str] | None) -> str:
    directory = os.fspath(directory or os.curdir)
    return _normal(directory) if os.path.isabs(directory) else os.path.abspath(directory)


@lru_cache(maxsize=64)  # that of a model file is asked for by every mesh in it
def _normal(path: str) -> str:
    return os.path.normpath(path)


def _existing_directory(directory: str | os.PathLike[str]) -> str:
    directory = os.path.abspath(directory)
    if not os.path.isdir(directory):
        raise ResourceError(f"{directory} is not a directory")
    return directory


def _is_inside(path: str, root: str) -> bool:
    path, root = os.path.realpath(path), os.path.realpath(root)
    return os.path.commonpath((path, root)) == root


def _walk_up(directory: str) -> Iterator[str]:
    while True:
        yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def _enclosing_package(name: str, base_dir: str) -> str | None:
    """The innermost directory around that is the package: by package.xml, model.config, or its own name.

    A name alone makes no package of a folder that holds more than models: that of the user, of the system, or one far
    above.
    """
    root = _enclosing_root(base_dir)
    for level, directory in enumerate(_walk_up(base_dir)):
        if stated_name(directory) == name:
            return directory
        is_named_so = os.path.basename(directory) == name
        if is_named_so and (
            _is_package(directory) or _is_below(directory, root) or (level <= MOST_LEVELS_UP and _is_private(directory))
        ):
            return directory
    return None


def _is_private(directory: str) -> bool:
    """Whether a directory can be one of a model: not the home of a user, nor one for all, nor one around these."""
    shared = (os.path.expanduser("~"), os.environ.get("TMPDIR", "/tmp"), os.path.abspath(os.sep))
    parent = os.path.dirname(directory)
    return not any(_is_below(other, directory) for other in shared) and parent not in (os.path.abspath(os.sep), "/home")


def _is_below(path: str, directory: str) -> bool:
    """Whether a path, as it is written, leads into a directory, or to it."""
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


def _is_of_package(path: str, name: str | None) -> bool:
    """Whether the innermost package around a file has that name."""
    around = next(filter(_is_package, _walk_up(os.path.dirname(path))), None)
    return around is not None and name is not None and stated_name(around) == name


def _enclosing_root(base_dir: str) -> str:
    """The directory that plain paths must not leave: the package that holds the directory, or else the outermost of the
    Python packages in each other that do, or one that an installer put there, or the checkout of a repository, or else
    the directory itself, or the one around it if its name is that of a format."""
    python_package = None
    home = os.path.expanduser("~")
    for directory in _walk_up(base_dir):
        if _is_package(directory):
            return directory
        if os.path.isfile(os.path.join(directory, "__init__.py")):
            python_package = directory
        elif python_package is not None:
            return python_package
        elif _is_installed(directory) or (directory != home and os.path.exists(os.path.join(directory, ".git"))):
            return directory
    is_part = os.path.basename(base_dir).lower() in MODEL_FOLDERS
    return python_package or (os.path.dirname(base_dir) if is_part else base_dir)


def _is_installed(directory: str) -> bool:
    """Whether the record of an installation (NAME.dist-info) lies beside a directory."""
    parent = os.path.dirname(directory)
    try:
        with os.scandir(parent) as entries:
            names = [entry.name for entry in islice(entries, MAX_NEIGHBOURS)]
    except OSError:
        return False
    return parent != directory and any(name.endswith(".dist-info") for name in names)


def _is_package(directory: str) -> bool:
    return any(os.path.isfile(os.path.join(directory, name)) for name in ("package.xml", "model.config"))


def stated_name(directory: str) -> str | None:
    """The name that a package.xml states or a model.config stands for, or None."""
    manifest = os.path.join(directory, "package.xml")
    if os.path.isfile(manifest):
        from mbcli.parsers.diagnostics import Diagnostics
        from mbcli.parsers.xml_source import read_xml

        root = read_xml(manifest, Diagnostics())  # of a broken manifest the name is unknown, no more
        name = root.child("name") if root is not None else None
        return name.text() if name is not None else None
    if os.path.isfile(os.path.join(directory, "model.config")):
        return os.path.basename(directory)
    return None


def _walk_packages(top: str) -> Iterator[tuple[str, str]]:
    """Yields (name, directory) of the packages at or below a directory, sorted, not looking into packages."""
    pending = [os.path.abspath(top)]
    seen = set()
    while pending:
        directory = pending.pop()
        real = os.path.realpath(directory)
        if real in seen:
            continue
        seen.add(real)
        if len(seen) > MAX_SEARCHED_DIRECTORIES:
            raise ResourceError(f"{top} has more than {MAX_SEARCHED_DIRECTORIES} directories to search")
        try:
            entries = sorted(os.scandir(directory), key=lambda entry: entry.name, reverse=True)
        except OSError:
            continue
        names = {entry.name for entry in entries}
        if names & IGNORE_MARKERS:
            continue
        if "package.xml" in names or "model.config" in names:
            name = stated_name(directory)
            if name:
                yield name, directory
            continue
        pending.extend(entry.path for entry in entries if entry.name[0] != "." and entry.is_dir())
