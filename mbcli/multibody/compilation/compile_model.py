"""From a plant's elements to the arrays of the engine: the only place that knows both.

Links that are welded together become one body of the engine. Its frame is M of the joint that moves it (F where the
joint runs against the tree); for joints with one axis the frame is turned so that the axis is z.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.quick_dataclass import dataclass
from mbcli.engine.fields.model_fields import SEGMENT_SIZE
from mbcli.engine.runtime.model import Model
from mbcli.engine.smooth.joints.registry import MOST_VELOCITIES, number_of_joint
from mbcli.engine.smooth.rotations.registry import number_of_rotation, positions_of_rotations
from mbcli.multibody.compilation.compile_force_elements import CutJoint, force_element_arrays
from mbcli.multibody.tree.joint_spring import JointSpring

if TYPE_CHECKING:
    from mbcli.multibody.tree.joint import Joint

COORDINATES = ("body_q", "body_v", "body_nv")  # where those of a body's joint start, and how many velocities it has


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
    in_middle,
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
        in_middle: whether discrete steps are of the scheme "midpoint".
        dtype: scalar type of the parameters' values.
    """
    X_BF_of_frames = poses_in_bodies(frames, parameters)
    link_body, link_X_BL, moving, X_PF = _place_links(len(bodies), mobilized, X_BF_of_frames)
    nbody = len(moving) + 1
    parent = [0] * nbody
    arrays = {
        name: [0] * nbody
        for name in ("body_joint_type", "body_has_axis", "body_rotation", "body_reversed", "body_free", *COORDINATES)
    }
    travel = np.zeros(nbody)
    dof_body, dof_parent, dof_carries, dof_q, damping, locked = [], [], [], [], [], []
    last_dof = [-1] * nbody
    nq = nv = 0
    for b, m in enumerate(moving, start=1):
        joint, outer = m.joint, link_body[m.inboard]
        size = joint.num_velocities()
        joint.first_position, joint.first_velocity = nq, nv
        parent[b] = outer
        arrays["body_joint_type"][b] = number_of_joint(joint.kinematics)
        arrays["body_has_axis"][b] = int(joint.kinematics.HAS_AXIS)
        arrays["body_rotation"][b] = number_of_rotation(joint.kinematics.ROTATION)
        arrays["body_reversed"][b] = int(m.reversed)
        arrays["body_free"][b] = int(size == 6 and not m.reversed and joint.frame_on_parent().index_number == 0)
        arrays["body_q"][b], arrays["body_v"][b], arrays["body_nv"][b] = nq, nv, size
        if hasattr(joint, "screw_pitch"):
            travel[b] = joint.screw_pitch() / (2.0 * np.pi)
        if parameters.get(joint, "locked"):
            locked.extend(range(nv, nv + size))
        dof_q += [nq] if size == 1 else [0] * size
        dof_parent += [last_dof[outer], *range(nv, nv + size - 1)]
        dof_carries += _carried(joint.kinematics, size, m.reversed)
        dof_body += [b] * size
        damping += parameters.get(joint, "damping").tolist()
        nq, nv = nq + joint.num_positions(), nv + size
        last_dof[b] = nv - 1
    for mobilized_joint in mobilized:
        if mobilized_joint.joint.num_velocities() == 0:
            outboard = link_body[mobilized_joint.outboard]
            joint = mobilized_joint.joint
            joint.first_position = joint.first_velocity = 0
            if outboard:
                joint.first_position = arrays["body_q"][outboard]
                joint.first_velocity = arrays["body_v"][outboard]
    root = [0] * nbody
    for b in range(1, nbody):
        root[b] = root[parent[b]] or b
    end = list(range(1, nbody + 1))
    for b in range(nbody - 1, 0, -1):
        end[parent[b]] = max(end[parent[b]], end[b])
    inertia, weight, link_inertia, link_weight, uniform = _inertias(
        bodies, link_body, link_X_BL, nbody, weight_of, parameters, dtype
    )
    armature, stiffness, nominal = (np.zeros(nv, dtype) for _ in range(3))
    for m in mobilized:
        if m.joint.reflected_inertia:
            d = m.joint.first_velocity
            armature[d : d + m.joint.num_velocities()] += m.joint.reflected_inertia
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
    frame_link = [frame.body().index_number for frame in frames]
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
            "body_rotation_nq": positions_of_rotations(arrays["body_rotation"]),
            "limit_dof": [d for d, _, _ in limits],
            "limit_side": [side for _, side, _ in limits],
            "limit_value": [value for _, _, value in limits],
            "friction_dof": [d for d, _ in frictions],
            "friction_loss": [loss for _, loss in frictions],
            "gravity": gravity,
            "uniform_gravity": [int(uniform)],
            "step_scheme": [int(in_middle and not controlled and not frictions), int(in_middle)],
            "body_parent": parent,
            "body_root": root,
            "body_end": end,
            "body_X_PF": X_PF,
            "body_travel": travel,
            "body_inertia": inertia,
            "body_weight": weight,
            "dof_body": dof_body,
            "dof_parent": dof_parent,
            "dof_carries": np.reshape(dof_carries, (-1, MOST_VELOCITIES)),
            "dof_q": dof_q,
            "dof_armature": armature,
            "dof_damping": damping,
            "dof_stiffness": stiffness,
            "dof_nominal": nominal,
            "locked_dof": locked,
            "spring_energy": [spring_energy],
            "link_body": link_body,
            "link_X_BL": _rows(link_X_BL),
            "link_inertia": link_inertia,
            "link_weight": link_weight,
            "frame_body": [link_body[link] for link in frame_link],
            "frame_X_BF": _rows(link_X_BL[frame_link] @ X_BF_of_frames),
            "actuator_dof": [a.joint().velocity_start() for a in actuators],
            "pd_actuator": controlled,
            "pd_constants": np.reshape([_controller(actuators[k], parameters) for k in controlled], (-1, 4)),
        },
        dtype,
    )


def _carried(kinematics, size, is_reversed):
    """Rows of dof_carries of a joint.

    If F is outboard of M, an axis that stands in F moves with all of the joint, and one that moves in F with the motion
    of M stands in World.
    """
    rows = np.zeros((size, MOST_VELOCITIES), dtype=int)
    for carrier, carried in kinematics.CARRIED:
        rows[carrier, carried] = 1
    if is_reversed:
        rows[:, :size] = 1 - rows[:, :size]
    return rows.tolist()


def _controller(actuator, parameters):
    """Gains p and d, effort limit, rate; the controller of a locked joint rests and passes the feed-forward on."""
    if parameters.get(actuator.joint(), "locked"):
        return 0.0, 0.0, np.inf, 0.0
    gains = actuator.get_controller_gains()
    return gains.p, gains.d, actuator.effort_limit(), actuator.carry_rate


def _limits(joint):
    """(velocity, side, value) of each finite limit of a joint with one position."""
    if joint.num_velocities() != 1:
        return
    for side, value in ((1.0, joint.position_lower_limits().item(0)), (-1.0, joint.position_upper_limits().item(0))):
        if isfinite(value):
            yield joint.first_velocity, side, value


def _frictions(joint):
    """(velocity, bound) of the dry friction of a joint."""
    for k, loss in enumerate(joint.dry_friction.tolist()):
        if loss > 0.0:
            yield joint.first_velocity + k, loss


def poses_in_bodies(frames, parameters):
    """Poses (n, 4, 4) of frames in their bodies."""
    offset = [k for k, frame in enumerate(frames) if not frame.is_body_frame()]
    poses = [frames[k].pose_in_body(parameters) for k in offset]
    R_BF, p_BF = np.broadcast_to(np.eye(3), (len(frames), 3, 3)), np.zeros((len(frames), 3))
    if offset:
        R, p = np.array([X.R_array for X in poses]), np.array([X.p_array for X in poses])
        R_BF, p_BF = np.array(R_BF, np.result_type(R, p)), p_BF.astype(np.result_type(R, p))
        R_BF[offset], p_BF[offset] = R, p
    return _poses(R_BF, p_BF)


def _place_links(num_links, mobilized, X_BF_of_frames):
    """Which body each link is part of and where, the joints that move, and X_PF of each body."""
    link_body = [0] * num_links
    moving, welds = [], []
    for m in mobilized:
        if m.joint.num_velocities():
            moving.append(m)
            link_body[m.outboard] = len(moving)
        else:
            welds.append(m)
            link_body[m.outboard] = link_body[m.inboard]
    link_X_BL = np.array(np.broadcast_to(np.eye(4), (num_links, 4, 4)), X_BF_of_frames.dtype)
    X_inboard, X_outboard = _ends(moving, X_BF_of_frames)
    turns = _turns(moving)
    link_X_BL[[m.outboard for m in moving]] = _inverses(X_outboard @ turns)
    if welds:
        X_BoF, X_BM = _ends(welds, X_BF_of_frames)
        X_between = _weld_poses(welds)
        X_MoB = _inverses(X_BM)
        for k, m in enumerate(welds):  # a link that is welded to another one comes after it
            link_X_BL[m.outboard] = link_X_BL[m.inboard] @ X_BoF[k] @ X_between[k] @ X_MoB[k]
    X_PF = link_X_BL[[m.inboard for m in moving]] @ X_inboard @ turns
    # a reversed joint of one axis is the same joint about the opposite axis
    moving = [
        MobilizedJoint(m.joint, m.inboard, m.outboard, False) if m.reversed and m.joint.kinematics.HAS_AXIS else m
        for m in moving
    ]
    return link_body, link_X_BL, moving, _rows(np.concatenate([np.eye(4)[None], X_PF]))


def _weld_poses(welds):
    """Poses (n, 4, 4) of the outboard frame of each weld in its inboard frame."""
    X_FM = [m.joint.X_FM() for m in welds]
    poses = _poses(np.array([X.R_array for X in X_FM]), np.array([X.p_array for X in X_FM]))
    backward = [k for k, m in enumerate(welds) if m.reversed]
    if backward:
        poses[backward] = _inverses(poses[backward])
    return poses


def _ends(mobilized, X_BF_of_frames):
    """Poses (n, 4, 4) of the joints' frames on their inboard and on their outboard links."""
    ends = [(m.joint.frame_on_parent().index_number, m.joint.frame_on_child().index_number) for m in mobilized]
    inboard = [end[m.reversed] for end, m in zip(ends, mobilized, strict=True)]
    outboard = [end[not m.reversed] for end, m in zip(ends, mobilized, strict=True)]
    return X_BF_of_frames[inboard], X_BF_of_frames[outboard]


def _turns(moving):
    """Poses (n, 4, 4) that turn the frames of joints, z into the axis of those with one."""
    turns = np.array(np.broadcast_to(np.eye(4), (len(moving), 4, 4)))
    turned = [k for k, m in enumerate(moving) if m.joint.kinematics.HAS_AXIS]
    if turned:
        axes = np.array([-moving[k].joint.axis() if moving[k].reversed else moving[k].joint.axis() for k in turned])
        turns[turned, :3, :3] = rotations_with_z(axes)
    return turns


def _curves(joints):
    """Sizes and arrays of the curves that curvilinear joints follow; joints are those of bodies 1, 2, ..."""
    paths = [joint.get_trajectory() for joint in joints if hasattr(joint, "get_trajectory")]
    numbers = np.cumsum([0] + [hasattr(joint, "get_trajectory") for joint in joints])
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
    """Rows (mass, com, central inertia) of bodies and links, weights of both, and whether all mass has weight."""
    values = [parameters.get(body, "M_BBo_B") for body in bodies]
    mass = np.array([M.mass for M in values], dtype)
    com = np.array([M.p_array for M in values], dtype)
    central = mass[:, None, None] * (np.array([M.G_array for M in values], dtype) - _squares(com))
    mass[0], com[0], central[0] = 0.0, 0.0, 0.0  # World's own
    X, number = link_X_BL, np.array(link_body)
    R = X[:, :3, :3]
    p = (R @ com[:, :, None])[:, :, 0] + X[:, :3, 3]
    has_weight = np.array([n > 0 and weight_of(body) for n, body in enumerate(bodies)])
    weight = np.zeros((nbody, 4), dtype)
    moments = np.concatenate([mass[:, None], mass[:, None] * p], axis=1)
    np.add.at(weight, number[has_weight], moments[has_weight])
    inertia = np.zeros((nbody, 10), dtype)
    moves = number > 0
    np.add.at(inertia, number[moves], _inertia_rows(mass, mass[:, None] * p, np.zeros_like(central))[moves])
    heavy = inertia[:, 0].astype(bool)
    inertia[heavy, 1:4] /= inertia[heavy, 0, None]
    about_com = R @ central @ R.transpose(0, 2, 1) + mass[:, None, None] * _squares(p - inertia[number, 1:4])
    nothing = np.zeros(len(bodies), dtype), np.zeros((len(bodies), 3), dtype)
    np.add.at(inertia, number[moves], _inertia_rows(*nothing, about_com)[moves])
    link_weight = np.where(has_weight, mass, 0.0)
    uniform = not (moves & ~has_weight & mass.astype(bool)).any()
    return inertia, weight, _inertia_rows(mass, com, central), link_weight, uniform


def rotations_with_z(z):
    """Rotations (n, 3, 3) whose third columns are the unit vectors z (n, 3); exact for the axes of coordinates."""
    smallest = np.eye(3)[np.argmin(np.abs(z), axis=1)]
    x = _crosses(smallest, z)
    x /= np.sqrt((x * x).sum(axis=1))[:, None]
    return np.stack([x, _crosses(z, x), z], axis=2)


def _crosses(a, b):
    """Cross products of the rows of two arrays (n, 3)."""
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]


def _squares(p):
    """The inertias (n, 3, 3) about points of unit mass at p (n, 3): p.p 1 - p p^T."""
    return (p * p).sum(axis=1)[:, None, None] * np.eye(3) - p[:, :, None] * p[:, None, :]


def _inertia_rows(mass, com, inertia):
    """Rows (n, 10) of masses (n,), points (n, 3) and inertias (n, 3, 3)."""
    return np.concatenate([mass[:, None], com, inertia[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]], axis=1)


def _poses(R, p):
    X = np.zeros((len(R), 4, 4), np.result_type(R, p))
    X[:, :3, :3], X[:, :3, 3], X[:, 3, 3] = R, p, 1.0
    return X


def _rows(X):
    """Rows (n, 12), rotation and position, of poses (n, 4, 4)."""
    return np.concatenate([X[:, :3, :3].reshape(-1, 9), X[:, :3, 3]], axis=1)


def _inverses(X):
    R_transposed = X[:, :3, :3].transpose(0, 2, 1)
    return _poses(R_transposed, -(R_transposed @ X[:, :3, 3:])[:, :, 0])
