"""MJCF files of MuJoCo to `ModelSpec`: bodies, joints, inertias from geoms, actuators, equalities.

Names are those that Drake gives: links between the joints of one body are BODY0, BODY1, ..., a joint without name is
PARENT-CHILD. If Drake and MuJoCo differ about the motion this reader follows MuJoCo: all joints of a body
have their place in its frame, `armature` counts once, actuators keep the order of the file.

Format: https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mbcli.parsers.checks import check_model
from mbcli.parsers.mesh_files import MeshFiles
from mbcli.parsers.mjcf.mjcf_actuators import joint_inertias, read_actuators
from mbcli.parsers.mjcf.mjcf_attachments import insert_attachments
from mbcli.parsers.mjcf.mjcf_bodies import BodyReader
from mbcli.parsers.mjcf.mjcf_compiler import read_compiler, scale_to_total
from mbcli.parsers.mjcf.mjcf_constraints import read_equalities
from mbcli.parsers.mjcf.mjcf_contact import read_filter_groups, read_pairs
from mbcli.parsers.mjcf.mjcf_geoms import GeomReader
from mbcli.parsers.mjcf.mjcf_joints import set_springs_by_time
from mbcli.parsers.mjcf.mjcf_keyframes import read_keyframes
from mbcli.parsers.mjcf.mjcf_known import FOREIGN, KNOWN
from mbcli.parsers.mjcf.mjcf_meshes import MeshReader
from mbcli.parsers.mjcf.mjcf_options import read_options
from mbcli.parsers.mjcf.mjcf_own_copies import Attached
from mbcli.parsers.mjcf.mjcf_replicas import expand_replicas
from mbcli.parsers.mjcf.mjcf_softness import report_softness
from mbcli.parsers.mjcf.mjcf_source import insert_includes
from mbcli.parsers.mjcf.mjcf_tendons import read_tendons
from mbcli.parsers.mjcf.mjcf_values import DefaultClasses, Reading, Unused
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.spec import ModelSpec
from mbcli.parsers.xml_source import read_xml, report_unread

if TYPE_CHECKING:
    from typing import Any

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import SensorSpec
    from mbcli.parsers.xml_node import Node

_NAMELESS = "mujoco"


def read_mjcf(
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    *,
    packages: PackageMap | None = None,
    name: str | None = None,
) -> ModelSpec | None:
    """The model in an MJCF file, or None if it has errors, all of which are in `diagnostics`.

    source: a path, or the bytes of a document (whose relative file names start at the working directory).
    packages: `PackageMap` for included files and meshes. name: that of the file in places; default: the path as given.
    """
    errors_before = diagnostics.counts()["error"]
    root = read_xml(source, diagnostics, name=name, deep=True)
    if root is None:
        return None
    if root.tag != "mujoco":
        diagnostics.error("ELEMENT_INVALID", f"an MJCF file starts with <mujoco>, not <{root.tag}>", root)
        return None
    packages = packages or PackageMap()
    base_dir = os.curdir if isinstance(source, bytes) else os.path.dirname(source)
    documents, folders = insert_includes(root, source, packages, base_dir)
    attached = Attached(documents=documents, folders=folders)
    above = () if isinstance(source, bytes) else (os.path.realpath(source),)
    if diagnostics.counts()["error"] == errors_before:
        insert_attachments(root, packages, base_dir, base_dir, attached, above)
    if diagnostics.counts()["error"] > errors_before:
        return None  # without an included file the rest is full of names that nothing has
    model_name = _NAMELESS if isinstance(source, bytes) else os.path.splitext(os.path.basename(source))[0]
    model = _read_model(root, attached, model_name, MeshFiles(packages, base_dir))
    return model if diagnostics.counts()["error"] == errors_before else None


def _read_model(root: Node, attached: Attached, default_name: str, mesh_files: MeshFiles) -> ModelSpec:
    """The model, not to be used if it has errors."""
    settings = read_compiler(root)
    expand_replicas(root, settings)
    defaults = DefaultClasses(root, attached.classes)
    reading = Reading(settings, read_options(root), defaults, Unused(), attached.settings)
    geoms = GeomReader(root, reading, MeshReader(reading, mesh_files, attached.folders))
    bodies = BodyReader(reading, geoms)
    bodies.read(root)
    geoms.report(root.diagnostics)
    scale_to_total(bodies.links, settings, root)
    tendons = read_tendons(root, reading, bodies)
    constraints = read_equalities(root, reading, bodies, tendons)
    actuators, others = read_actuators(root, reading, bodies, tendons)
    set_springs_by_time(bodies, lambda: joint_inertias(bodies, actuators))
    model = ModelSpec(
        name=root.attribute("model") or default_name,
        format="mjcf",
        version="",
        place=root.place,
        links=tuple(bodies.links.values()),
        deformables=tuple(bodies.deformables.values()),
        joints=tuple(bodies.joints.values()),
        frames=tuple(bodies.frames.values()),
        actuators=actuators,
        transmission_actuators=others,
        tendon_springs=tuple(tendons.springs),
        force_elements=tuple(tendons.force_elements),
        constraints=(*tendons.constraints, *constraints),
        filter_groups=read_filter_groups(root, reading, bodies),
        contact_pairs=read_pairs(root, reading, bodies),
        postures=read_keyframes(root, bodies),
        sensors=_read_sensors(root, reading, bodies, tendons, actuators),
        gravity=reading.options.gravity,
        time_step=reading.options.time_step,
        sources=tuple(attached.documents),
    )
    report_softness(root)
    for node in root.children("deformable"):
        node.unsupported()
    reading.unused.report(root.diagnostics)
    _pass_over_text(root)
    report_unread(root, root.diagnostics, KNOWN, FOREIGN)
    mesh_files.report_missing(root.diagnostics)
    check_model(model, root.diagnostics)
    return model


def _read_sensors(root: Node, *known: Any) -> tuple[SensorSpec, ...]:
    if "sensor" not in root.child_tags:
        return ()
    from mbcli.parsers.mjcf.mjcf_sensors import read_sensors  # late: few models have some

    return read_sensors(root, *known)


def _pass_over_text(root: Node) -> None:
    """MJCF has no text: MuJoCo does not read what stands between elements, such as words outside of a comment."""
    for node in root.walk():
        node.text()
