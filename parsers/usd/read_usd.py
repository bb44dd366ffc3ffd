"""USD files to `ModelSpec`s: the rigid bodies, joints and shapes of UsdPhysics as one model.

The stage is composed by usd-core in a process of its own (usd_process.py): references, payloads, variants as they are
selected, instances. Its units become SI units, y up becomes z up. The frame of a link is that of its prim without
scales; its name that of the prim. Where the bodies stand is where the joints start. What says nothing of physics is
counted in a note.

Format: https://openusd.org/release/api/usd_physics_page_front.html, https://github.com/newton-physics/newton-usd-schemas
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from mbcli.parsers.checks import check_model
from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.source_bytes import read_bytes
from mbcli.parsers.spec import FrameSpec, ModelSpec, SourceFile, SourceLocation
from mbcli.parsers.usd.usd_drives import DriveReader
from mbcli.parsers.usd.usd_filters import FilterReader
from mbcli.parsers.usd.usd_geometry import SHAPES
from mbcli.parsers.usd.usd_joints import TYPES, JointReader
from mbcli.parsers.usd.usd_links import LinkReader
from mbcli.parsers.usd.usd_motion import read_motion
from mbcli.parsers.usd.usd_stage import read_stage, split_affine
from mbcli.parsers.usd.usd_unused import counted, report_unused

from mbcli.common.left_behind import folder_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.usd.usd_stage import Stage

MOST_BYTES = 2**30  # of a layer
EARTH = 9.81  # [m/s^2]
_ORDINARY = (
    *("Xform", "Scope", "", "Material", "Shader", "NodeGraph", "GeomSubset", "PhysicsScene", "PhysicsCollisionGroup"),
    *("MjcActuator", "NewtonActuator", *SHAPES, *TYPES),
)


def read_usd(
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    *,
    packages: PackageMap | None = None,
    name: str | None = None,
) -> ModelSpec | None:
    """The model in a USD file, or None if it has errors, all of which are in `diagnostics`.

    source: a path, or the bytes of a file (which names no others). packages: `PackageMap` by whose rules layers are
    looked for. name: that of the file in places; default: the path as given. ResourceError without usd-core.
    """
    packages = packages or PackageMap()
    errors_before = diagnostics.counts()["error"]
    with tempfile.TemporaryDirectory(prefix=folder_prefix("usd")) as folder:
        path: Any = source
        if isinstance(source, bytes):
            name = name or "<string>"
            path = os.path.join(folder, "text" + _suffix(source))
            with open(path, "wb") as file:
                file.write(source)
        name = name or os.fspath(path)
        content = read_bytes(path, MOST_BYTES + 1, name, diagnostics)
        if content is None:
            return None
        if len(content) > MOST_BYTES:
            diagnostics.error(
                "FILE_READ", f"the file is larger than {MOST_BYTES // 2**20} MiB", place=SourceLocation(name)
            )
            return None
        stage = read_stage(path, diagnostics, packages, name, folder)
        if stage is None:
            return None
        model = _read_model(stage, path, name, content)
    return model if diagnostics.counts()["error"] == errors_before else None


def _suffix(content: bytes) -> str:
    if content[:8] == b"PXR-USDC":
        return ".usdc"
    return ".usdz" if content[:2] == b"PK" else ".usda"


def _read_model(stage: Stage, path: str | os.PathLike[str], name: str, content: bytes) -> ModelSpec:
    links = LinkReader(stage)
    links.read()
    joints = JointReader(stage, links)
    joints.read()
    read_motion(links, joints)
    drives = DriveReader(stage, joints)
    drives.read()
    filters = FilterReader(stage, links, joints)
    filters.read()
    stem = os.path.splitext(os.path.basename(path))[0]
    model = ModelSpec(
        name=stage.default or stem,
        format="usd",
        version="",
        place=stage.place,
        links=tuple(links.links.values()),
        joints=tuple(joints.joints.values()),
        frames=_frames(stage, links),
        actuators=tuple(drives.actuators),
        constraints=tuple(joints.constraints),
        filter_groups=tuple(filters.groups),
        plugins=tuple(links.plugins),
        gravity=_gravity(stage),
        sources=tuple(_sources(stage, path, name, content)),
    )
    if not links.bodies:
        message = "no prim has PhysicsRigidBodyAPI: the model has no links that move"
        stage.diagnostics.warning("USD_WITHOUT_BODIES", message, place=stage.place)
    _report_unused(stage)
    check_model(model, stage.diagnostics)
    return model


def _frames(stage: Stage, links: LinkReader) -> tuple[FrameSpec, ...]:
    found = []
    taken = set(links.links)
    for prim in stage.prims.values():
        if not prim.is_site:
            continue
        name, link = generated_name(prim.name, taken), links.link_of(prim)
        taken.add(name)
        split = split_affine(prim.affine)
        if split is not None:
            found.append(FrameSpec(name, link, compose(inverse(links.poses[link]), split[0]), prim.place))
    return tuple(found)


def _gravity(stage: Stage) -> tuple[float, float, float] | None:
    """[m/s^2] in World, or None if no scene states it."""
    scenes = [prim for prim in stage.prims.values() if prim.tag == "PhysicsScene"]
    if not scenes:
        return None
    scene = scenes[0]
    if len(scenes) > 1:
        message = f"there are {len(scenes)} scenes: the gravity of the first counts"
        scenes[1].diagnostics.note("USD_UNUSED", message, scenes[1])
    direction = scene.vector("physics:gravityDirection", 3, (0.0, 0.0, 0.0))
    size = scene.number("physics:gravityMagnitude", -np.inf)
    size = EARTH if size == -np.inf else size * stage.length
    if not np.isfinite(size) or not scene.flag("newton:gravityEnabled", True):
        size = 0.0
    if not direction.any():
        direction = np.array((0.0, -1.0, 0.0) if stage.up == "Y" else (0.0, 0.0, -1.0))
    vector = stage.R_WS @ (direction / np.linalg.norm(direction)) * size
    return tuple((vector + 0.0).tolist())


def _sources(stage: Stage, path: str | os.PathLike[str], name: str, content: bytes) -> Iterator[SourceFile]:
    """The root layer, and the others that the stage is made of."""
    for file in stage.files:
        held = content if os.path.realpath(file) == os.path.realpath(path) else None
        if held is None:
            held = read_bytes(file, MOST_BYTES, file, stage.diagnostics) or b""
        shown = name if held is content else file
        yield SourceFile(shown, hashlib.sha256(held).hexdigest(), held)


def _report_unused(stage: Stage) -> None:
    """One warning for each value that would move something, and notes for all the rest."""
    report_unused(stage)
    others = Counter(prim.tag for prim in stage.prims.values() if prim.tag not in _ORDINARY)
    if others:
        message = f"{sum(others.values())} prims say nothing of rigid bodies: {counted(others)}"
        stage.diagnostics.note("USD_UNUSED", message, place=stage.place)
