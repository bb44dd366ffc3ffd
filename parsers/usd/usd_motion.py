"""How bodies of USD move at the start, and axes of World along and about which PhysX lets them not move.

A velocity is given in the space that the body's transform leads to, that of the prim above, and is that of the centre
of mass. A body with locked axes moves as joints to World let it: sliders along the axes that are free, and a ball joint
or a hinge about the free ones. Turns about two axes of World are no joint's: they stay free, with a warning.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.spec import IDENTITY, AxisSpec, JointSpec, LinkSpec, pose
from mbcli.parsers.usd.usd_stage import AXES, split_affine

if TYPE_CHECKING:
    from collections.abc import Collection

    from mbcli.parsers.usd.usd_joints import JointReader
    from mbcli.parsers.usd.usd_links import LinkReader
    from mbcli.parsers.usd.usd_stage import Prim

    from mbcli.math.array_types import Matrix4, Vector3

_DEGREE = np.pi / 180.0
_LOCKS = "physxRigidBody:lockedPosAxis", "physxRigidBody:lockedRotAxis"


def read_motion(links: LinkReader, joints: JointReader) -> None:
    """Velocities at the start into the links; joints for locked axes."""
    held = {joint.child for joint in joints.joints.values()}
    held |= {joint.parent for joint in joints.joints.values() if joint.child == WORLD}
    for path, name in links.bodies.items():
        prim = links.stage.prims[path]
        locked = _locked_axes(prim)
        moving = _velocity(prim)
        if locked is not None:
            if name in held:
                _warn(prim, _LOCKS[0] if any(locked[0]) else _LOCKS[1], "a joint holds the body already")
            else:
                _add_chain(prim, name, locked, links, joints)
                held.add(name)
        if moving is not None:
            w, v = moving
            if name in held:
                which = "physics:velocity" if v.any() else "physics:angularVelocity"
                _warn(prim, which, "the body moves by its joints, of which --at sets velocities")
            else:
                links.links[name] = replace(links.links[name], velocity=(*w.tolist(), *v.tolist()))


def _warn(prim: Prim, attribute: str, reason: str) -> None:
    message = f'"{attribute}" does not act: {reason}'
    prim.diagnostics.warning("ATTRIBUTE_UNSUPPORTED", message, prim, attribute=attribute)


def _velocity(prim: Prim) -> tuple[Vector3, Vector3] | None:
    """(angular [rad/s], of the centre of mass [m/s]) in World, None at rest."""
    w, v = (prim.vector(name, 3, (0.0, 0.0, 0.0)) for name in ("physics:angularVelocity", "physics:velocity"))
    if not (w.any() or v.any()):
        return None
    stage = prim.stage
    split = None if prim.parent is None else split_affine(prim.parent.affine)
    R, S = (stage.R_WS, np.eye(3)) if split is None else (split[0][:3, :3], split[1])
    return R @ w * _DEGREE, R @ (S @ v) * stage.length


def _locked_axes(prim: Prim) -> tuple[list[bool], list[bool]] | None:
    """Whether the body does not move along, and about, each axis of the stage; None if all are free."""
    found = []
    for name in _LOCKS:
        mask = int(prim.finite(name, 0.0, 0.0, 7.0))
        found.append([bool(mask & bit) for bit in (1, 2, 4)])
    if sum(found[1]) == 1:
        _warn(prim, _LOCKS[1], "turns about two axes of World are no joint's, all are free")
        found[1] = [False] * 3
    return (found[0], found[1]) if any(found[0]) or any(found[1]) else None


def _add_chain(
    prim: Prim, name: str, locked: tuple[list[bool], list[bool]], links: LinkReader, joints: JointReader
) -> None:
    """Joints from World to a body, at its centre of mass, along the axes of the stage."""
    link = links.links[name]
    center = IDENTITY if link.inertial is None else pose(None, link.inertial.X_LI[:3, 3])
    X_WF = pose(prim.stage.R_WS, compose(links.poses[name], center)[:3, 3])
    X_LM = compose(inverse(links.poses[name]), X_WF)
    kinds = [("prismatic", axis) for axis, lock in zip(AXES, locked[0], strict=True) if not lock]
    if not any(locked[1]):
        kinds.append(("ball", ""))
    else:
        kinds += [("continuous", axis) for axis, lock in zip(AXES, locked[1], strict=True) if not lock]
    kinds = kinds or [("fixed", "")]
    before, X_before = WORLD, X_WF
    for number, (kind, axis) in enumerate(kinds):
        after, X_after = (name, X_LM)
        if number < len(kinds) - 1:
            after, X_after = _link_at(X_WF, name, links, prim), IDENTITY
        own = _joint_name(name, kind, axis, joints.joints)
        axes = (AxisSpec(AXES[axis], prim.place),) if axis else ()
        joints.joints[own] = JointSpec(own, kind, before, after, X_before, X_after, prim.place, axes)
        before, X_before = after, IDENTITY


def _joint_name(name: str, kind: str, axis: str, taken: Collection[str]) -> str:
    ending = {"prismatic": axis.lower(), "continuous": f"q{axis.lower()}"}.get(kind, kind)
    return generated_name(f"{name}_{ending}", taken)


def _link_at(X_WL: Matrix4, name: str, links: LinkReader, prim: Prim) -> str:
    """A link without mass between joints."""
    own = generated_name(f"{name}_slider", links.links)
    links.links[own], links.poses[own] = LinkSpec(own, prim.place, None, X_WL), X_WL
    return own
