"""MJCF as a format to write."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.formats.mjcf import readable_mesh
from mbcli.parsers.joint_kinds import forms_of
from mbcli.parsers.spec import (
    BushingSpec,
    Cone,
    DistanceConstraintSpec,
    HalfSpace,
    Mesh,
    Polyline,
    SpringDamperSpec,
)
from mbcli.parsers.writing.arrange_mjcf import REFUSED_MASS, arranged_for_mjcf, principal_moments
from mbcli.parsers.writing.target import DIGITS, Target, as_it_is
from mbcli.parsers.writing.write_mjcf import write_mjcf

from mbcli.errors import MbcliError
from mbcli.meshes.obj_text import obj_text
from mbcli.meshes.triangles import load_triangles

if TYPE_CHECKING:
    from mbcli.parsers.spec import ConstraintSpec, ForceElementSpec, InertialSpec, Shape

_SHAPES = {Cone: "cone", Polyline: "polyline"}
FLAT = 1e-7  # thickness of a flat mesh, relative to its size
_ROUNDING = 1e-10  # relative to the largest moment: an inertia that is that far from possible is made so
_MARGIN = 1e-13  # relative, by which it then is possible, so that MuJoCo's own rounding changes nothing


def _missing_shape(shape: Shape, touches: bool, copied: bool, moves: bool) -> str | None:
    if isinstance(shape, HalfSpace) and moves:
        return "plane on a body that moves"
    if not isinstance(shape, Mesh):
        return _SHAPES.get(type(shape))
    if shape.submesh is not None:
        return f"part '{shape.submesh}' of {shape.uri}"
    if shape.path is None:
        return f"mesh {shape.uri}, whose file was not found,"
    if not copied and not readable_mesh(shape.path):
        return f"mesh {shape.uri}, which MuJoCo does not read (--bundle converts it),"
    problem = None if readable_mesh(shape.path) else _not_converted(shape.path)
    if problem is not None:
        return f"mesh {shape.uri}, which cannot be converted ({problem}),"
    if touches and _is_flat(shape.path):
        return f"mesh {shape.uri}, which is flat, so that MuJoCo finds no hull,"
    return None


def _not_converted(path: str) -> str | None:
    """Why a mesh cannot be converted, or None."""
    try:
        obj_text(path)
    except MbcliError as error:
        return str(error)
    return None


@lru_cache(maxsize=256)
def _is_flat(path: str) -> bool:
    """Whether the vertices of a mesh lie in a plane; a mesh that cannot be read is told of by whoever reads it."""
    try:
        vertices, _ = load_triangles(path)
    except MbcliError:
        return False
    sizes = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False)
    return bool(len(sizes) < 3 or sizes[2] <= FLAT * sizes[0])


def _missing_relation(spec: ForceElementSpec | ConstraintSpec) -> str | None:
    if isinstance(spec, BushingSpec):
        return f"the bushing between '{spec.frame_A}' and '{spec.frame_C}'"
    if isinstance(spec, DistanceConstraintSpec) and (spec.least is None or spec.damping):
        return f"the distance constraint between '{spec.link_A}' and '{spec.link_B}'"
    if isinstance(spec, SpringDamperSpec) and spec.free_length <= 0.0:
        return f"the spring of length 0 between '{spec.link_A}' and '{spec.link_B}'"
    return None


def _refused_inertia(inertial: InertialSpec) -> tuple[InertialSpec, str, str] | None:
    """MuJoCo refuses moments of which one is larger than the sum of the others, or negative."""
    a, b, c = principal_moments(inertial)
    has_products = any(inertial.inertia[3:])
    lacking = max(c - a - b, -a)  # [kg m^2]
    if lacking > 0.0 and inertial.mass > 0.0 and max(abs(a), abs(c)) <= REFUSED_MASS:
        return (
            replace(inertial, inertia=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
            "changed",
            f"its moments of {c:.3g} kg m^2 are 0",
        )
    if inertial.mass == 0.0 or (inertial.mass > 0.0 and lacking <= (-_MARGIN * c if has_products else 0.0)):
        return None  # without mass nothing is written
    if inertial.mass > 0.0 and lacking <= _ROUNDING * c:
        added = max(lacking, 0.0) + 2.0 * _MARGIN * c
        xx, yy, zz, xy, xz, yz = inertial.inertia
        moments = (xx + added, yy + added, zz + added)
        why = f"its moments are larger by {added:.3g} kg m^2, so that rounding leaves it possible"
        return replace(inertial, inertia=(*moments, xy, xz, yz)), "changed", why
    mean = max((a + b + c) / 3.0, 0.0)
    why = (
        f"MuJoCo refuses its principal moments {a:.6g}, {b:.6g}, {c:.6g} kg m^2, which no body has; their mean is kept"
    )
    mended = replace(inertial, mass=max(inertial.mass, 0.0), inertia=(mean, mean, mean, 0.0, 0.0, 0.0))
    return mended, "motion", why


_TARGET = Target(
    suffix=".xml",
    copied_suffix=lambda path: None if readable_mesh(path) else ".obj",
    joints=forms_of("mjcf"),
    without_effect=frozenset({"velocity", "acceleration"}),
    limits=("position",),
    missing_shape=_missing_shape,
    missing_relation=_missing_relation,
    refused_inertia=_refused_inertia,
    gravity=True,
    postures=True,
    sensors=True,
    contact_laws=True,
    other_contact=False,
    bounces=False,
    directed_friction=None,
    many_actuators=True,
    transmissions=True,
    lone_drives=True,
    efforts_in_joints=False,
    rests_at_zero=True,
    constraint_names=True,
    default_poses=True,
    any_lets_touch=True,
    package_uris=False,
    link_gravity=True,
    link_velocities=False,
    deformables=False,
    ball_springs=True,
    second_axes_lead=True,
    any_rest=False,
    one_friction=False,
    embeds_meshes=False,
    reads_materials=False,
    spelled=as_it_is,
    reduced=lambda model, losses: model,
    encoded=lambda text, suffix: text,
    tolerance=DIGITS,
    points=False,
    zero_effort_is_none=False,
    namespaces=(("links", "frames"), ("joints",), ("actuators", "transmission_actuators")),
    actuators_have_names=True,
    model_frame_name="model_frame",
    arranged=arranged_for_mjcf,
    document=write_mjcf,
    own_tags=(),
    extensions=lambda root, counts: {},
)


def mjcf_target() -> Target:
    """The `Target`."""
    return _TARGET
