"""The mesh files of a model beside the file that it is converted to, with the files that they name in turn."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mbcli.common.output_files import write_in_place
from mbcli.common.user_cache import user_cache
from mbcli.errors import MbcliError, OutputError, ResourceError
from mbcli.meshes.obj_text import obj_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mbcli.parsers.package_map import PackageMap

FOLDER = "meshes"  # of the copies
MAX_NAMED = 1000  # files that a mesh names
MAX_BYTES = 64 * 2**20  # of a mesh or material file that is looked through for the names of others
_NAMED = {
    ".obj": re.compile(rb"^[ \t]*+mtllib[ \t]([^\n]*)$", re.MULTILINE),
    ".mtl": re.compile(rb"^[ \t]*+(?:map_\w++|bump|disp|decal|refl)[ \t]([^\n]*)$", re.MULTILINE),
    ".dae": re.compile(rb"<init_from>([^<]++)</init_from>"),
}


def bundle_names(paths: Iterable[str], new_suffix: Callable[[str], str | None] = lambda path: None) -> dict[str, str]:
    """{path of a mesh file: where its copy lies, relative to the new file}: as the meshes lie to each other, but
    those that mbcli made and keeps in the user's cache, whose names are their own, side by side.

    new_suffix: of the copy of a path, if it is to be another format.
    """
    paths = list(dict.fromkeys(map(os.path.abspath, paths)))
    if not paths:
        return {}
    made = {path for path in paths if is_made(path)}
    others = [path for path in paths if path not in made]
    top = os.path.commonpath([os.path.dirname(path) for path in others]) if others else ""
    names = {
        path: os.path.join(FOLDER, os.path.basename(path) if path in made else os.path.relpath(path, top))
        for path in paths
    }
    for path in paths:
        suffix = new_suffix(path)
        if suffix is not None:
            stem, old = os.path.splitext(names[path])
            taken = {name for other, name in names.items() if other != path}
            names[path] = next(n for n in (stem + suffix, f"{stem}_{old[1:]}{suffix}") if n not in taken)
    return names


def is_made(path: str) -> bool:
    """Whether mbcli made a mesh file, which then lies in the user's cache: the vertices stand in a model file."""
    return _is_below(path, str(user_cache()))


def copy_bundle(names: dict[str, str], folder: str, packages: PackageMap, force: bool) -> list[str]:
    """Copies mesh files to their new names in a folder, with the materials, textures and buffers that they name.

    Files that are there with the same contents stay. Returns the names of files that are not there or must not be
    read. Raises OutputError, before anything is copied, where another file is in the way that `force` does not give
    free, and where a copy cannot be written.
    """
    copies, left_out = {}, []
    for path, name in names.items():
        copies[os.path.join(folder, name)] = path
        pending = [path] if _suffix(path) == _suffix(name) else []  # a converted one names no others
        while pending:
            start = pending.pop()
            for named in files_named_in(start):
                try:
                    found = packages.resolve(named, os.path.dirname(start))
                except ResourceError:
                    found = None
                there = os.path.normpath(os.path.join(folder, name, os.pardir, _relative(found or named, path)))
                if found is None or not os.path.isfile(found) or not _is_below(there, os.path.join(folder, FOLDER)):
                    left_out.append(named)
                elif there not in copies:
                    copies[there] = found
                    pending.append(found)
    for target, source in copies.items():
        if os.path.lexists(target) and not force and not _holds(target, source):
            raise OutputError(f"{target}: error: exists already; --force replaces it")
        if not _is_below(os.path.realpath(os.path.dirname(target)), os.path.realpath(folder)):
            raise OutputError(f"{target}: error: a link in its path leads out of {folder}")
    for target, source in copies.items():
        _copy(source, target)
    return list(dict.fromkeys(left_out))


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def files_named_in(path: str) -> list[str]:
    """Names of files in a mesh or material file, relative to it, as it has them."""
    suffix = _suffix(path)
    if suffix not in (*_NAMED, ".gltf", ".glb") or os.path.getsize(path) > MAX_BYTES:
        return []
    with open(path, "rb") as file:
        content = file.read()
    if suffix in _NAMED:
        texts = [name.decode("utf-8", "replace").strip() for name in _NAMED[suffix].findall(content)]
        found = [text.split()[-1] if suffix == ".mtl" else text for text in texts if text]  # options stand before
    else:
        found = _named_in_gltf(content)
    names = [unquote(name) if suffix == ".dae" else name for name in found[:MAX_NAMED]]
    return [name for name in names if "://" not in name and "\0" not in name]


def _named_in_gltf(content: bytes) -> list[str]:
    from mbcli.meshes.read_gltf import files_beside

    try:
        return files_beside(content, images=True)
    except (MbcliError, ValueError, KeyError, TypeError, AttributeError):
        return []  # it is not glTF, which reading it says


def _relative(found: str, mesh: str) -> str:
    return os.path.relpath(os.path.join(os.path.dirname(mesh), found), os.path.dirname(mesh))


def _is_below(path: str, folder: str) -> bool:
    return os.path.commonpath([os.path.abspath(path), os.path.abspath(folder)]) == os.path.abspath(folder)


def _holds(target: str, source: str) -> bool:
    """Whether a file holds what is to be copied to it."""
    if not os.path.isfile(target):
        return False
    with open(target, "rb") as file:
        return file.read() == _contents(source, target)


def _contents(source: str, target: str) -> bytes:
    """Of the copy of a mesh, which is an OBJ file if its name says so."""
    if _suffix(source) != _suffix(target):
        return obj_text(source)
    with open(source, "rb") as file:
        return file.read()


def _copy(source: str, target: str) -> None:
    try:
        if os.path.exists(target) and _holds(target, source):
            return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        write_in_place(target, _contents(source, target))
    except OSError as error:
        raise OutputError(f"{target}: error: cannot be written: {error.strerror or error}") from None
