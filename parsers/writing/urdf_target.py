"""URDF as a format to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.joint_kinds import forms_of
from mbcli.parsers.spec import Cone, HalfSpace, HeightField, Mesh, Polyline, WeldConstraintSpec
from mbcli.parsers.writing.arrange_urdf import arranged_for_urdf, with_one_root
from mbcli.parsers.writing.gazebo_sensors_text import with_gazebo_sensors
from mbcli.parsers.writing.target import DIGITS, Document, Target, as_it_is
from mbcli.parsers.writing.write_urdf import write_urdf
from mbcli.parsers.writing.write_xml import DRAKE_ONLY, OURS_ONLY, of_tendons

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.parsers.spec import ConstraintSpec, ForceElementSpec, Shape
    from mbcli.parsers.xml_document import XmlElement

_SHAPES = {HalfSpace: "plane", HeightField: "height field", Cone: "cone", Polyline: "polyline"}


def _missing_shape(shape: Shape, touches: bool, copied: bool, moves: bool) -> str | None:
    if isinstance(shape, Mesh) and shape.submesh is not None:
        return f"part '{shape.submesh}' of {shape.uri}"
    return _SHAPES.get(type(shape))


def _missing_relation(spec: ForceElementSpec | ConstraintSpec) -> str | None:
    if isinstance(spec, WeldConstraintSpec):
        return f"the weld constraint between '{spec.link_A}' and '{spec.link_B}'"
    return of_tendons(spec)


def _extensions(root: XmlElement, counts: Mapping[str, int]) -> dict[str, str]:
    return {tag: OURS_ONLY if tag == "loop_joint" else DRAKE_ONLY for tag in counts}


_TARGET = Target(
    suffix=".urdf",
    copied_suffix=lambda path: None,
    joints=forms_of("urdf"),
    without_effect=frozenset(),
    limits=("position", "velocity", "acceleration"),
    missing_shape=_missing_shape,
    missing_relation=_missing_relation,
    refused_inertia=lambda inertial: None,
    gravity=False,
    postures=False,
    sensors=True,
    contact_laws=False,
    other_contact=True,
    bounces=False,
    directed_friction="link",
    many_actuators=False,
    transmissions=False,
    lone_drives=False,
    efforts_in_joints=True,
    rests_at_zero=False,
    constraint_names=False,
    default_poses=False,
    any_lets_touch=False,
    package_uris=True,
    link_gravity=False,
    link_velocities=False,
    deformables=False,
    ball_springs=False,
    second_axes_lead=False,
    any_rest=False,
    one_friction=False,
    embeds_meshes=False,
    reads_materials=True,
    spelled=as_it_is,
    reduced=lambda model, losses: with_one_root(with_gazebo_sensors(model, losses), losses),
    encoded=lambda text, suffix: text,
    tolerance=DIGITS,
    points=True,
    zero_effort_is_none=False,
    namespaces=(("links", "frames"), ("filter_groups",), ("joints",), ("actuators",)),
    actuators_have_names=True,
    model_frame_name="model_frame",
    arranged=arranged_for_urdf,
    document=lambda model, loops: Document(write_urdf(model, loops), model),
    own_tags=("loop_joint", "frame"),
    extensions=_extensions,
)


def urdf_target() -> Target:
    """The `Target`."""
    return _TARGET
