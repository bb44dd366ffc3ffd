"""Any model file to `ModelSpec`s: chooses the parser by the file's suffix or by its root element."""

import os
import re

from mbcli.collection_pause import paused_collection
from mbcli.errors import ModelError, ResourceError

DIRECTIVES = "directives"  # a YAML file of model directives or a scenario: names models, is none
SUFFIXES = {
    ".urdf": "urdf",
    ".xacro": "urdf",
    ".sdf": "sdf",
    ".world": "sdf",
    ".mjcf": "mjcf",
    ".yaml": DIRECTIVES,
    ".yml": DIRECTIVES,
}
ROOT_ELEMENTS = {"robot": "urdf", "sdf": "sdf", "mujoco": "mjcf"}
SNIFFED_BYTES = 65536  # of a file, to find its root element

_SKIPPED = re.compile(r"(?:\s+|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^>\[]*+\[.*?\]\s*>|<![^>]*>)*+", re.DOTALL)
_ROOT = re.compile(r"<([^\s/>!?]+)")


def load_models(source, *, input_format=None, packages=None, diagnostics, name=None):
    """The models of a file: tuple of `ModelSpec`; empty if the file has errors, which are in `diagnostics`.

    source: a path, a URI that `packages` resolves (package://...), or the bytes of a document.
    input_format: "urdf", "sdf" or "mjcf"; default: from the suffix, else from the root element. packages: `PackageMap`;
    default: a new one. name: what places call the file; default: the path.

    Raises ResourceError if the file is missing, ModelError if the format is unknown.
    """
    try:
        with paused_collection():
            models = _load(source, input_format, packages, diagnostics, name)
            if diagnostics.thorough:
                _check_urdf_versions(diagnostics)
            return models
    finally:
        diagnostics.trees.clear()


def _check_urdf_versions(diagnostics):
    """Of every URDF file that was read; SDFormat files are checked on every load."""
    from .version_features import check_version

    for root in list(diagnostics.trees.values()):
        if root.tag == "robot":
            check_version(root)


def _load(source, input_format, packages, diagnostics, name):
    from .package_map import PackageMap

    packages = packages or PackageMap()
    if not isinstance(source, bytes):
        source = find_model_file(source, packages)
    if input_format is None:
        input_format = format_of(source, name or source)
    if input_format == "urdf":
        from .urdf import read_urdf

        model = read_urdf(source, diagnostics, packages=packages, name=name)
        return () if model is None else (model,)
    if input_format == "sdf":
        from .sdf import read_sdf

        return read_sdf(source, diagnostics, packages=packages, name=name)
    if input_format == "mjcf":
        from .mjcf import read_mjcf

        model = read_mjcf(source, diagnostics, packages=packages, name=name)
        return () if model is None else (model,)
    if input_format == DIRECTIVES:
        raise ModelError(f"{name or source} has model directives, it is no model: add_directives includes it")
    raise ModelError(f'unknown model format "{input_format}": it must be urdf, sdf or mjcf')


def find_model_file(source, packages):
    """The path of an existing file."""
    source = os.fspath(source)
    if "://" in source:
        source = packages.resolve(source)
    if not os.path.exists(source):
        raise ResourceError(f"{source}: no such file")
    if os.path.isdir(source):
        raise ResourceError(f"{source}: is a directory, not a model file")
    return source


def format_of(source, name):
    """The format of a file, by its path or its content (bytes): a value of SUFFIXES or ROOT_ELEMENTS."""
    if isinstance(source, bytes):
        return _format_of_content(source[:SNIFFED_BYTES], name)
    suffix = os.path.splitext(source)[1].lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if not os.path.isfile(source):
        raise ModelError(f"{source}: the format of what is no regular file must be given")
    try:
        with open(source, "rb") as file:
            return _format_of_content(file.read(SNIFFED_BYTES), name)
    except OSError as error:
        raise ResourceError(f"{source}: {error.strerror}") from None


def _format_of_content(content, name):
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    root = _ROOT.match(text, _SKIPPED.match(text).end())
    if root is None or root[1] not in ROOT_ELEMENTS:
        found = f"its root element is <{root[1]}>" if root else "it has no root element"
        raise ModelError(f"{name if isinstance(name, str) else '<string>'}: not a model file: {found}")
    return ROOT_ELEMENTS[root[1]]
