"""SDFormat as a format to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.joint_kinds import forms_of
from mbcli.parsers.spec import HeightField
from mbcli.parsers.writing.arrange_sdf import arranged_for_sdf
from mbcli.parsers.writing.gazebo_sensors_text import with_gazebo_sensors
from mbcli.parsers.writing.target import DIGITS, Document, Target, as_it_is
from mbcli.parsers.writing.write_sdf import write_sdf
from mbcli.parsers.writing.write_xml import DRAKE_ONLY, OURS_ONLY, of_tendons

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.parsers.xml_document import XmlElement


def _extensions(root: XmlElement, counts: Mapping[str, int]) -> dict[str, str]:
    says_twice = root.find(".//axis/mimic") is not None  # drake:mimic says the same
    return {
        tag: OURS_ONLY if tag.startswith("mbcli:") else DRAKE_ONLY
        for tag in counts
        if not (says_twice and tag == "drake:mimic")
    }


_TARGET = Target(
    suffix=".sdf",
    copied_suffix=lambda path: None,
    joints=forms_of("sdf"),
    without_effect=frozenset(),
    limits=("position", "velocity", "acceleration"),
    missing_shape=lambda shape, touches, copied, moves: "height field" if isinstance(shape, HeightField) else None,
    missing_relation=of_tendons,
    refused_inertia=lambda inertial: None,
    gravity=False,
    postures=False,
    sensors=True,
    contact_laws=False,
    other_contact=True,
    bounces=True,
    directed_friction="collision",
    many_actuators=False,
    transmissions=False,
    lone_drives=False,
    efforts_in_joints=True,
    rests_at_zero=False,
    constraint_names=False,
    default_poses=False,
    any_lets_touch=False,
    package_uris=True,
    link_gravity=True,
    link_velocities=False,
    deformables=True,
    ball_springs=False,
    second_axes_lead=True,
    any_rest=False,
    one_friction=False,
    embeds_meshes=False,
    reads_materials=True,
    spelled=as_it_is,
    reduced=with_gazebo_sensors,
    encoded=lambda text, suffix: text,
    tolerance=DIGITS,
    points=False,
    zero_effort_is_none=True,
    namespaces=(("links", "deformables", "frames", "filter_groups", "joints"),),
    actuators_have_names=False,
    model_frame_name=None,
    arranged=arranged_for_sdf,
    document=lambda model, loops: Document(write_sdf(model), model),
    own_tags=(),
    extensions=_extensions,
)


def sdf_target() -> Target:
    """The `Target`."""
    return _TARGET
