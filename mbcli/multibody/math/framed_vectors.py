"""Spatial vectors, one or many, that carry the names of their frames: operations refuse to mix them.

The names are those of the monogram notation. Of a velocity or acceleration V_MB_E they are M, in which it is measured,
B, whose it is, and E, in which it is expressed; of a force F_Bp_E the body B and the point p that it acts at; of a
momentum L_Mp_E the frame M and the point p that it is about; of an inertia M_Bp_E the body and the point. Names that
are not given are not checked. The formulas are in spatial_arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.errors import ArgumentError
from mbcli.multibody.math import spatial_arrays

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

KINDS = ("velocity", "acceleration", "force", "momentum", "inertia")


class Frames(NamedTuple):
    """Of a vector: measured in (or the body), of (or the point); of an offset from and to; and expressed in."""

    first: str | None = None
    second: str | None = None
    expressed_in: str | None = None


class Framed(NamedTuple):
    """Numbers with the names of their frames, which may be missing.

    Attributes:
        kind: one of KINDS, or what the number is, as "offset" and "rotation".
        values: (..., 6), rotational part first; of an inertia (..., 10): mass [kg], the centre of mass from the point
            (3,) [m], and the moments and products xx, yy, zz, xy, xz, yz about the point [kg m^2]; of an offset
            (..., 3) [m]; of a rotation R_FE (..., 3, 3), with the frames F, E.
    """

    kind: str
    values: FloatArray
    frames: Frames = Frames()

    def must_be(self, name: str | None, field: str, what: str) -> None:
        """ArgumentError if one of its frames is another one than that of something else; Bo is the point of B."""
        own = getattr(self.frames, field)
        if own is not None and name is not None and own != name and not {f"{own}o", f"{name}o"} & {own, name}:
            says = {"first": "begins at", "second": "is of", "expressed_in": "is expressed in"}[field]
            raise ArgumentError(f"the {self.kind} {says} {own}, but {what} {name}")


def shift(vector: Framed, offset: Framed, angular_velocity: Framed | None = None) -> Framed:
    """The same at another point of the body: V_MC_E of V_MB_E and p_BoCo_E. An acceleration needs w_MB_E.

    ArgumentError if frames do not fit.
    """
    _follows(vector, offset)
    p, E = offset.values, vector.frames.expressed_in or offset.frames.expressed_in
    frames = Frames(vector.frames.first, offset.frames.second, E)
    if vector.kind == "inertia":
        return Framed("inertia", _shifted_inertia(vector.values, p), frames)
    if vector.kind == "velocity":
        return Framed("velocity", spatial_arrays.shift_velocity(vector.values, p), frames)
    if vector.kind in ("force", "momentum"):
        return Framed(vector.kind, spatial_arrays.shift_force(vector.values, p), frames)
    w = _angular_velocity(angular_velocity, vector)
    return Framed("acceleration", spatial_arrays.shift_acceleration(vector.values, p, w), frames)


def rotate(vector: Framed, rotation: Framed) -> Framed:
    """The same, expressed in F, by R_FE. ArgumentError if it is not expressed in E."""
    F, E, _ = rotation.frames
    vector.must_be(E, "expressed_in", "the rotation is from")
    R, values = rotation.values, vector.values
    frames = Frames(vector.frames.first, vector.frames.second, F)
    if vector.kind == "inertia":
        moments = R @ _matrix(values[..., 4:]) @ np.swapaxes(R, -1, -2)
        center = np.einsum("...ij,...j->...i", R, values[..., 1:4])
        return Framed("inertia", _inertia(values[..., 0], center, moments), frames)
    parts = [np.einsum("...ij,...j->...i", R, values[..., k : k + 3]) for k in (0, 3)]
    return Framed(vector.kind, np.concatenate(parts, axis=-1), frames)


def compose(
    vector: Framed,
    offset: Framed,
    other: Framed,
    angular_velocity: Framed | None = None,
    velocity: Framed | None = None,
) -> Framed:
    """V_MC_E of V_MB_E, p_BoCo_E and V_BC_E; of accelerations also of w_MB_E and V_BC_E.

    ArgumentError if frames do not fit, or for another kind.
    """
    if {vector.kind, other.kind} - {"velocity", "acceleration"} or vector.kind != other.kind:
        raise ArgumentError(f"velocities are composed, or accelerations, not a {vector.kind} and a {other.kind}")
    _follows(vector, offset)
    for each in [other] if velocity is None else [other, velocity]:
        each.must_be(vector.frames.second, "first", f"the {vector.kind} before is of")
        each.must_be(vector.frames.expressed_in, "expressed_in", f"the {vector.kind} before in")
        each.must_be(offset.frames.second, "second", "the offset ends at")
    frames = Frames(vector.frames.first, other.frames.second, vector.frames.expressed_in or other.frames.expressed_in)
    if vector.kind == "velocity":
        return Framed("velocity", spatial_arrays.compose_velocity(vector.values, offset.values, other.values), frames)
    if velocity is None:
        raise ArgumentError("the velocity of C measured in B is needed to compose accelerations")
    w = _angular_velocity(angular_velocity, vector)
    made = spatial_arrays.compose_acceleration(vector.values, offset.values, w, velocity.values, other.values)
    return Framed("acceleration", made, frames)


def dot(motion: Framed, other: Framed) -> FloatArray:
    """Power of a force [W], or twice the kinetic energy of a momentum [J], (...), with a velocity at the same point.

    ArgumentError if frames do not fit, or for other kinds.
    """
    if motion.kind != "velocity" or other.kind not in ("force", "momentum"):
        raise ArgumentError(f"a velocity and a force or momentum are multiplied, not {motion.kind} and {other.kind}")
    other.must_be(motion.frames.second, "second", "the velocity is of")
    other.must_be(motion.frames.expressed_in, "expressed_in", "the velocity in")
    return np.asarray(spatial_arrays.dot(motion.values, other.values), dtype=float)


def _follows(vector: Framed, offset: Framed) -> None:
    offset.must_be(vector.frames.second, "first", f"the {vector.kind} is of")
    offset.must_be(vector.frames.expressed_in, "expressed_in", f"the {vector.kind} in")


def _angular_velocity(w: Framed | None, vector: Framed) -> FloatArray:
    if w is None:
        raise ArgumentError("the angular velocity of B measured in M is needed to shift an acceleration")
    for field, what in (("first", "measured in"), ("second", "of"), ("expressed_in", "in")):
        w.must_be(getattr(vector.frames, field), field, f"the acceleration is {what}")
    return w.values


def _matrix(moments: FloatArray) -> FloatArray:
    """(..., 3, 3) of xx, yy, zz, xy, xz, yz (..., 6)."""
    return moments[..., [[0, 3, 4], [3, 1, 5], [4, 5, 2]]]


def _inertia(mass: FloatArray, center: FloatArray, I: FloatArray) -> FloatArray:
    moments = I[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return np.concatenate([np.broadcast_to(mass[..., None], (*moments.shape[:-1], 1)), center, moments], axis=-1)


def _of_point(mass: Any, p: FloatArray) -> FloatArray:
    """(..., 3, 3) the inertia of a mass at p."""
    square = np.sum(p * p, axis=-1)[..., None, None] * np.eye(3)
    made: FloatArray = np.asarray(mass)[..., None, None] * (square - p[..., :, None] * p[..., None, :])
    return made


def _shifted_inertia(values: FloatArray, p: FloatArray) -> FloatArray:
    values = np.broadcast_to(values, (*np.broadcast_shapes(values.shape[:-1], p.shape[:-1]), 10))
    mass, before = values[..., 0], values[..., 1:4]
    after = before - p
    return _inertia(mass, after, _matrix(values[..., 4:]) - _of_point(mass, before) + _of_point(mass, after))
