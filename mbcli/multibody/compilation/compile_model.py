"""From a plant's elements to the arrays of the engine: the only place that knows both.

Links that are welded together become one body of the engine. Its frame is M of the joint that moves it (F where the
joint runs against the tree); for joints with one axis the frame is turned so that the axis is z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbcli.engine.fields import joint_types as kinds
from mbcli.engine.fields.model_fields import SEGMENT_SIZE
from mbcli.engine.runtime.model import Model
from mbcli.math.cross_product import cross
from mbcli.multibody.compilation.compile_force_elements import CutJoint, force_element_arrays
from mbcli.multibody.tree.joint_spring import JointSpring

if TYPE_CHECKING:
    from mbcli.multibody.tree.joint import Joint

JOINT_KINDS = {
    "revolute": kinds.REVOLUTE,
    "prismatic": kinds.PRISMATIC,
    "screw": kinds.SCREW,
    "universal": kinds.UNIVERSAL,
    "planar": kinds.PLANAR,
    "ball_rpy": kinds.BALL_RPY,
    "quaternion_floating": kinds.QUATERNION_FLOATING,
    "rpy_floating": kinds.RPY_FLOATING,
    "curvilinear": kinds.CURVILINEAR,
}
AXIS_KINDS = (kinds.REVOLUTE, kinds.PRISMATIC, kinds.SCREW)


@dataclass(frozen=True)
class MobilizedJoint:
    """A joint in its place in the forest: frames, inboard and outboard link (plant body indices), direction."""

    joint: Joint
    inboard: int
    outboard: int
    reversed: bool


def compile_model(
    bodies,
    frames,
    mobilized,
    actuators,
    elements,
    gravity,
    weight_of,
    parameters,
    with_controllers,
    with_limits,
    with_friction,
    dtype=float,
):
    """The Model of a plant; sets the coordinate starts of the joints.

    Args:
        bodies: the plant's bodies in index order, World first.
        frames: the plant's frames in index order.
        mobilized: MobilizedJoint for every joint, welds included, in depth-first order.
        actuators: in the order of u.
        elements: force elements of the library's own kinds.
        gravity: g_W (3,).
        weight_of: body -> whether it is subject to gravity.
        parameters: Parameters, with the elements' values.
        with_controllers: whether the PD controllers of actuators act.
        with_limits: whether the limits of joints do.
        with_friction: whether the dry friction of joints does.
        dtype: scalar type of the parameters' values.
    """
    link_body, link_X_BL, moving, X_PF = _place_links(len(bodies), mobilized, parameters)
    nbody = len(moving) + 1
    parent = [0] * nbody
    arrays = {name: [0] * nbody for name in ("body_joint_type", "body_reversed", "body_q", "body_v", "body_nv")}
    travel = np.zeros(nbody)
    dof_body, dof_parent, dof_q, damping, locked = [], [], [], [], []
    last_dof = [-1] * nbody
    nq = 0
    for b, mobilized_joint in enumerate(moving, start=1):
        joint = mobilized_joint.joint
        parent[b] = link_body[mobilized_joint.inboard]
        arrays["body_joint_type"][b] = JOINT_KINDS[joint.type_name()]
        arrays["body_reversed"][b] = int(mobilized_joint.reversed)
        arrays["body_q"][b], arrays["body_v"][b], arrays["body_nv"][b] = nq, len(dof_body), joint.num_velocities()
        joint.first_position, joint.first_velocity = nq, len(dof_body)
        if joint.type_name() == "screw":
            travel[b] = joint.screw_pitch() / (2.0 * np.pi)
        if parameters.get(joint, "locked"):
            locked.extend(range(len(dof_body), len(dof_body) + joint.num_velocities()))
        last_dof[b] = last_dof[parent[b]]
        for k in range(joint.num_velocities()):
            dof_q.append(nq if joint.num_velocities() == 1 else 0)
            dof_parent.append(last_dof[b])
            last_dof[b] = len(dof_body)
            dof_body.append(b)
            damping.append(parameters.get(joint, "damping")[k])
        nq += joint.num_positions()
    for mobilized_joint in mobilized:
        if mobilized_joint.joint.num_velocities() == 0:
            outboard = link_body[mobilized_joint.outboard]
            joint = mobilized_joint.joint
            joint.first_position = joint.first_velocity = 0
            if outboard:
                joint.first_position = arrays["body_q"][outboard]
                joint.first_velocity = arrays["body_v"][outboard]
    nv = len(dof_body)
    root = [0] * nbody
    for b in range(1, nbody):
        root[b] = root[parent[b]] or b
    inertia, weight, link_inertia, uniform = _inertias(
        bodies, link_body, link_X_BL, nbody, weight_of, parameters, dtype
    )
    armature, stiffness, nominal = (np.zeros(nv, dtype) for _ in range(3))
    for joint in {mobilized_joint.joint for mobilized_joint in mobilized}:
        armature[joint.velocity_start() : joint.velocity_start() + joint.num_velocities()] += joint.reflected_inertia
    for actuator in actuators:
        ratio, rotor = parameters.get(actuator, "gear_ratio"), parameters.get(actuator, "rotor_inertia")
        armature[actuator.joint().velocity_start()] += ratio**2 * rotor
    spring_energy = sum(e.energy_at_rest(parameters) for e in elements if isinstance(e, CutJoint))
    for spring in (e for e in elements if isinstance(e, JointSpring)):
        d = spring.joint().velocity_start()
        rest, k = parameters.get(spring, "nominal"), parameters.get(spring, "stiffness")
        # springs in parallel: one spring of their summed stiffness about the weighted rest position, and a constant
        total = stiffness[d] + k
        if total:
            spring_energy += 0.5 * stiffness[d] * k / total * (nominal[d] - rest) ** 2
            nominal[d] = (stiffness[d] * nominal[d] + k * rest) / total
        stiffness[d] = total
    limits = [limit for m in moving for limit in _limits(m.joint)] if with_limits else []
    frictions = [friction for m in moving for friction in _frictions(m.joint)] if with_friction else []
    controlled = [k for k, actuator in enumerate(actuators) if with_controllers and actuator.has_controller()]
    curve_sizes, curve_arrays = _curves([m.joint for m in moving])
    element_sizes, element_arrays = force_element_arrays(elements, link_body, link_X_BL, parameters)
    return Model(
        {"nbody": nbody, "nlink": len(bodies), "nframe": len(frames), "nq": nq, "nv": nv, "nu": len(actuators)}
        | {"nlock": len(locked), "npd": len(controlled), "nlimit": len(limits)}
        | {"nfriction": len(frictions), "nline": len(controlled) + len(limits) + len(frictions)}
        | curve_sizes
        | element_sizes,
        {
            **curve_arrays,
            **element_arrays,
            **arrays,
            "limit_dof": [d for d, _, _ in limits],
            "limit_side": [side for _, side, _ in limits],
            "limit_value": [value for _, _, value in limits],
            "friction_dof": [d for d, _ in frictions],
            "friction_loss": [loss for _, loss in frictions],
            "gravity": gravity,
            "uniform_gravity": [int(uniform)],
            "body_parent": parent,
            "body_root": root,
            "body_X_PF": X_PF,
            "body_travel": travel,
            "body_inertia": inertia,
            "body_weight": weight,
            "dof_body": dof_body,
            "dof_parent": dof_parent,
            "dof_q": dof_q,
            "dof_armature": armature,
            "dof_damping": damping,
            "dof_stiffness": stiffness,
            "dof_nominal": nominal,
            "locked_dof": locked,
            "spring_energy": [spring_energy],
            "link_body": link_body,
            "link_X_BL": [_row(X) for X in link_X_BL],
            "link_inertia": link_inertia,
            "link_weight": [
                m if n and weight_of(body) else 0.0
                for n, (body, m) in enumerate(zip(bodies, link_inertia[:, 0], strict=True))
            ],
            "frame_body": [link_body[int(frame.body().index())] for frame in frames],
            "frame_X_BF": [_row(X) for X in _place_frames(frames, link_X_BL, parameters)],
            "actuator_dof": [a.joint().velocity_start() for a in actuators],
            "pd_actuator": controlled,
            "pd_constants": np.reshape([_controller(actuators[k], parameters) for k in controlled], (-1, 3)),
        },
        dtype,
    )


def _controller(actuator, parameters):
    """Gains p and d and the effort limit; the controller of a locked joint rests and passes the feed-forward on."""
    if parameters.get(actuator.joint(), "locked"):
        return 0.0, 0.0, np.inf
    gains = actuator.get_controller_gains()
    return gains.p, gains.d, actuator.effort_limit()


def _limits(joint):
    """(velocity, side, value) of each finite limit of a joint with one position."""
    if joint.num_velocities() != 1:
        return
    for side, value in ((1.0, joint.position_lower_limits()[0]), (-1.0, joint.position_upper_limits()[0])):
        if np.isfinite(value):
            yield joint.velocity_start(), side, value


def _frictions(joint):
    """(velocity, bound) of the dry friction of a joint."""
    for k, loss in enumerate(joint.dry_friction):
        if loss > 0.0:
            yield joint.velocity_start() + k, loss


def _place_links(num_links, mobilized, parameters):
    """Which body each link is part of and where, the joints that move, and X_PF of each body."""
    link_body = [0] * num_links
    link_X_BL = [np.eye(4) for _ in range(num_links)]
    moving, X_PF = [], [_row(np.eye(4))]
    for m in mobilized:
        joint = m.joint
        X_LpF = joint.frame_on_parent().pose_in_body(parameters).GetAsMatrix4()
        X_LcM = joint.frame_on_child().pose_in_body(parameters).GetAsMatrix4()
        X_inboard, X_outboard = (X_LcM, X_LpF) if m.reversed else (X_LpF, X_LcM)
        X_BF = link_X_BL[m.inboard] @ X_inboard
        if joint.num_velocities() == 0:
            X_FM = joint.X_FM().GetAsMatrix4()
            link_body[m.outboard] = link_body[m.inboard]
            link_X_BL[m.outboard] = X_BF @ (_inverse(X_FM) if m.reversed else X_FM) @ _inverse(X_outboard)
            continue
        if JOINT_KINDS[joint.type_name()] in AXIS_KINDS:
            turn = np.eye(4)
            turn[:3, :3] = rotation_with_z(-joint.axis() if m.reversed else joint.axis())
        else:
            turn = np.eye(4)
        moving.append(m)
        X_PF.append(_row(X_BF @ turn))
        link_body[m.outboard] = len(moving)
        link_X_BL[m.outboard] = _inverse(X_outboard @ turn)
    # a reversed joint of one axis is the same joint about the opposite axis
    moving = [
        MobilizedJoint(m.joint, m.inboard, m.outboard, False) if JOINT_KINDS[m.joint.type_name()] in AXIS_KINDS else m
        for m in moving
    ]
    return link_body, link_X_BL, moving, X_PF


def _place_frames(frames, link_X_BL, parameters):
    """X_BF of each frame."""
    return [link_X_BL[int(frame.body().index())] @ frame.pose_in_body(parameters).GetAsMatrix4() for frame in frames]


def _curves(joints):
    """Sizes and arrays of the curves that curvilinear joints follow; joints are those of bodies 1, 2, ..."""
    paths = [joint.get_trajectory() for joint in joints if joint.type_name() == "curvilinear"]
    numbers = np.cumsum([0] + [joint.type_name() == "curvilinear" for joint in joints])
    counts = [path.get_number_of_segments() for path in paths]
    first = [sum(counts[:c]) for c in range(len(paths))]
    periodic = [int(path.is_periodic()) for path in paths]
    return {"ncurve": len(paths), "nsegment": sum(counts)}, {
        "body_curve": np.maximum(numbers - 1, 0),
        "curves": np.column_stack([first, counts, periodic]),
        "curve_period": [path.length() for path in paths],
        "curve_X_FM0": np.reshape([path.X_AM0 for path in paths], (-1, 12)),
        "curve_segments": np.concatenate([np.zeros((0, SEGMENT_SIZE))] + [path.segments for path in paths]),
    }


def _inertias(bodies, link_body, link_X_BL, nbody, weight_of, parameters, dtype):
    """Rows (mass, com, central inertia) of bodies and links, weights of bodies, and whether all mass has weight."""
    link_inertia = np.zeros((len(bodies), 10), dtype)
    of_body = [[] for _ in range(nbody)]
    weight = np.zeros((nbody, 4), dtype)
    uniform = True
    for n, body in enumerate(bodies):
        if n == 0:
            continue
        M = parameters.get(body, "M_BBo_B")
        mass, com = M.get_mass(), M.get_com()
        central = M.CalcRotationalInertia().CopyToFullMatrix3() - mass * _square(com)
        link_inertia[n] = [mass, *com, *_six(central)]
        b, X = link_body[n], link_X_BL[n]
        p = X[:3, :3] @ com + X[:3, 3]
        if weight_of(body):
            weight[b] += [mass, *(mass * p)]
        if b:
            of_body[b].append((mass, p, X[:3, :3] @ central @ X[:3, :3].T))
            if mass and not weight_of(body):
                uniform = False
    inertia = np.zeros((nbody, 10), dtype)
    for b, parts in enumerate(of_body):
        mass = sum(part[0] for part in parts)
        com = sum((part[0] * part[1] for part in parts), np.zeros(3)) / mass if mass else np.zeros(3)
        central = sum((part[2] + part[0] * _square(part[1] - com) for part in parts), np.zeros((3, 3)))
        inertia[b] = [mass, *com, *_six(central)]
    return inertia, weight, link_inertia, uniform


def rotation_with_z(z):
    """A rotation whose third column is the unit vector z; exact for the axes of coordinates."""
    smallest = np.eye(3)[np.argmin(np.abs(z))]
    x = cross(smallest, z)
    x /= np.linalg.norm(x)
    return np.array([x, cross(z, x), z]).T


def _square(p):
    """The inertia about a point of unit mass at p: p.p 1 - p p^T."""
    return (p @ p) * np.eye(3) - np.outer(p, p)


def _six(I):
    return I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]


def _row(X):
    return np.concatenate([X[:3, :3].ravel(), X[:3, 3]])


def _inverse(X):
    R = X[:3, :3]
    result = np.eye(4)
    result[:3, :3] = R.T
    result[:3, 3] = -R.T @ X[:3, 3]
    return result
