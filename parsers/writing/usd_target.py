"""USD as a format to write."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mbcli.parsers.joint_kinds import forms_of
from mbcli.parsers.spec import (
    Box,
    BushingSpec,
    DistanceConstraintSpec,
    HeightField,
    Mesh,
    Polyline,
    SpringDamperSpec,
    TendonConstraintSpec,
)
from mbcli.parsers.usd.usd_encoding import encoded_usd
from mbcli.parsers.writing.arrange_usd import arranged_for_usd, identifier, reduced_for_usd
from mbcli.parsers.writing.target import Target
from mbcli.parsers.writing.write_usd import write_usd

from mbcli.errors import MbcliError
from mbcli.meshes.triangles import load_triangles

if TYPE_CHECKING:
    from mbcli.parsers.spec import ConstraintSpec, ForceElementSpec, Shape

SINGLE = 1e-5  # of joints and masses in single precision, along a chain of joints


def _missing_shape(shape: Shape, touches: bool, copied: bool, moves: bool) -> str | None:
    if isinstance(shape, Polyline | HeightField):
        return "polyline" if isinstance(shape, Polyline) else "height field"
    if isinstance(shape, Box) and not min(shape.size) > 0.0:
        return "box without volume"
    if not isinstance(shape, Mesh):
        return None
    if shape.path is None:
        return f"mesh {shape.uri}, whose file was not found,"
    if 0.0 in shape.scale:
        return f"mesh {shape.uri}, which is scaled to a plane,"
    problem = _unreadable(shape.path, shape.submesh)
    return None if problem is None else f"mesh {shape.uri}, which cannot be read ({problem}),"


@lru_cache(maxsize=1024)
def _unreadable(path: str, submesh: str | None) -> str | None:
    try:
        load_triangles(path, submesh=submesh)
    except MbcliError as error:
        return str(error)
    return None


def _missing_relation(spec: ForceElementSpec | ConstraintSpec) -> str | None:
    if isinstance(spec, BushingSpec):
        return f"the bushing between '{spec.frame_A}' and '{spec.frame_C}'"
    if isinstance(spec, SpringDamperSpec):
        return f"the spring between '{spec.link_A}' and '{spec.link_B}'"
    if isinstance(spec, TendonConstraintSpec):
        return f"the tendon over {', '.join(spec.joints)}"
    if isinstance(spec, DistanceConstraintSpec) and (spec.stiffness != float("inf") or spec.damping):
        return f"the spring of the distance between '{spec.link_A}' and '{spec.link_B}'"
    return None


_TARGET = Target(
    suffix=".usda",
    copied_suffix=lambda path: None,
    joints=forms_of("usd"),
    without_effect=frozenset({"acceleration"}),
    limits=("position", "velocity"),
    missing_shape=_missing_shape,
    missing_relation=_missing_relation,
    refused_inertia=lambda inertial: None,
    gravity=True,
    postures=False,
    sensors=False,
    contact_laws=False,
    other_contact=False,
    bounces=True,
    directed_friction=None,
    many_actuators=False,
    transmissions=False,
    lone_drives=True,
    efforts_in_joints=False,
    rests_at_zero=False,
    constraint_names=True,
    default_poses=True,
    any_lets_touch=True,
    package_uris=False,
    link_gravity=True,
    link_velocities=True,
    deformables=False,
    ball_springs=False,
    second_axes_lead=False,
    any_rest=True,
    one_friction=True,
    embeds_meshes=True,
    reads_materials=False,
    spelled=identifier,
    reduced=reduced_for_usd,
    encoded=encoded_usd,
    tolerance=SINGLE,
    points=True,
    zero_effort_is_none=False,
    namespaces=(("links", "frames"), ("joints",)),
    actuators_have_names=False,
    model_frame_name="model_frame",
    arranged=arranged_for_usd,
    document=write_usd,
    own_tags=(),
    extensions=lambda root, counts: {},
)


def usd_target() -> Target:
    """The `Target`."""
    return _TARGET
