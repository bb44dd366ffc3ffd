"""From a plant's elements to the arrays of the engine: the only place that knows both.

Links that are welded together become one body of the engine. Its frame is M of the joint that moves it (F where the
joint runs against the tree); for joints with one axis the frame is turned so that the axis is z.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.engine.fields.model_fields import SEGMENT_SIZE
from mbcli.engine.runtime.model import Model
from mbcli.engine.smooth.joints.registry import MOST_VELOCITIES, number_of_joint
from mbcli.engine.smooth.rotations.registry import NO_ROTATION, ROTATIONS, number_of_rotation, positions_of_rotations
from mbcli.multibody.compilation.compile_force_elements import CutJoint, force_element_arrays
from mbcli.multibody.compilation.compile_transmissions import transmission_arrays
from mbcli.multibody.compilation.mujoco_softness import RIGID, softness_of_limit
from mbcli.multibody.tree.ball_spring import BallSpring
from mbcli.multibody.tree.joint_spring import JointSpring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mbcli.multibody.tree.joint import Joint

NO_LIMIT = 1e300  # [rad/s or m/s] in place of infinity, whose differences are not numbers


@dataclass(frozen=True)
class MobilizedJoint:
    """A joint in its place in the forest: frames, inboard and outboard link (plant body indices), direction."""

    joint: Joint
    inboard: int
    outboard: int
    reversed: bool


@dataclass(frozen=True)
class StepActions:
    """What acts in the steps of a plant, beside forces."""

    controllers: Mapping[Any, Any]  # {actuator: PdLaw}
    implicit_transmissions: bool  # other actuators whose force falls with length or rate, at the end of the step
    limits: bool  # of the positions of joints
    friction: bool  # the dry friction of joints
    in_middle: bool  # whether steps are of the scheme "midpoint"
    stops: Sequence[Any]  # PositionStops, in continuous plants
    speeds: Sequence[Any]  # VelocityLimits that act
    mobility: Any = None  # under the law of contact "mujoco"


def compile_model(
    bodies,
    frames,
    mobilized,
    actuators,
    transmissions,
    tendon_springs,
    elements,
    gravity,
    weight_of,
    parameters,
    actions,
    dtype=float,
):
    """The Model of a plant; sets the coordinate starts of the joints.

    Args:
        bodies: the plant's bodies in index order, World first.
        frames: the plant's frames in index order.
        mobilized: MobilizedJoint for every joint, welds included, in depth-first order.
        actuators: on joints, in the order of u.
        transmissions: TransmissionActuators, whose inputs come after them.
        tendon_springs: likewise, without inputs.
        elements: force elements of the library's own kinds.
        gravity: g_W (3,).
        weight_of: body -> whether it is subject to gravity.
        parameters: Parameters, with the elements' values.
        actions: StepActions.
        dtype: scalar type of the parameters' values.
    """
    X_BF_of_frames = poses_in_bodies(frames, parameters)
    link_body, link_X_BL, moving, X_PF = _place_links(len(bodies), mobilized, X_BF_of_frames)
    nq, nv = _number_coordinates(moving, mobilized, link_body)
    sizes = {"nbody": len(moving) + 1, "nlink": len(bodies), "nframe": len(frames), "nq": nq, "nv": nv}
    sizes |= {"nu": len(actuators) + len(transmissions), "ndriven": len(actuators)}
    controlled = [k for k, actuator in enumerate(actuators) if actuator in actions.controllers]
    row_sizes, rows = _bounded_rows(moving, actuators, controlled, actions, parameters)
    brake_sizes, brakes = _brakes(() if actions.limits else actions.speeds)
    curve_sizes, curves = _curves([m.joint for m in moving])
    element_sizes, of_elements = force_element_arrays(elements, link_body, link_X_BL, parameters)
    velocities = _velocities(moving, link_body, parameters)
    of_bodies = _bodies(moving, link_body, {id(a.joint()) for a in actuators})
    roots = of_bodies["body_root"], velocities["dof_body"]
    transmission_sizes, of_transmissions = transmission_arrays(
        [*transmissions, *tendon_springs], link_body, link_X_BL, roots, actions.implicit_transmissions
    )
    element_sizes["nelement"] += sum(spring.law().bias_kind == "spring" for spring in tendon_springs)
    frame_link = [frame.body().index_number for frame in frames]
    return Model(
        sizes
        | {"nlock": len(velocities["locked_dof"]), "nstop": len(actions.stops)}
        | brake_sizes
        | row_sizes
        | curve_sizes
        | transmission_sizes
        | element_sizes,
        {
            **curves,
            **of_elements,
            **rows,
            **velocities,
            **_stops(actions.stops),
            **brakes,
            **of_bodies,
            **of_transmissions,
            **_springs(elements, nv, parameters, dtype),
            **_inertias(bodies, link_body, link_X_BL, len(moving) + 1, weight_of, parameters, dtype),
            "gravity": gravity,
            "step_scheme": _step_scheme(actions, of_bodies),
            "body_X_PF": X_PF,
            "dof_armature": _armature(mobilized, actuators, nv, parameters, dtype),
            "link_body": link_body,
            "link_X_BL": _rows(link_X_BL),
            "frame_body": [link_body[link] for link in frame_link],
            "frame_X_BF": _rows(link_X_BL[frame_link] @ X_BF_of_frames),
            "actuator_dof": [a.joint().velocity_start() for a in actuators],
        },
        dtype,
    )


def _number_coordinates(moving, mobilized, link_body):
    """Tells each joint where its coordinates start; (nq, nv). A weld has those of the body that it is part of."""
    nq = nv = 0
    for m in moving:
        m.joint.first_position, m.joint.first_velocity = nq, nv
        nq, nv = nq + m.joint.num_positions(), nv + m.joint.num_velocities()
    for m in mobilized:
        if m.joint.num_velocities() == 0:
            body = link_body[m.outboard]
            carrier = moving[body - 1].joint if body else None
            m.joint.first_position = carrier.first_position if carrier else 0
            m.joint.first_velocity = carrier.first_velocity if carrier else 0
    return nq, nv


def _step_scheme(actions, of_bodies):
    """The row of that field; of_bodies: of _bodies()."""
    apart = actions.in_middle and not all(of_bodies["body_flies"][1:])
    kinds = [ROTATIONS[number] for number in of_bodies["body_rotation"] if number != NO_ROTATION]
    return [int(actions.in_middle), int(apart), int(any(kind.RATES_BY_SINES for kind in kinds))]


def _bodies(moving, link_body, driven):
    """The place of each body in the forest, and the joint that moves it; World's body comes first.

    driven: id() of joints that actuators move.
    """
    joints = [m.joint for m in moving]
    kinematics = [joint.kinematics for joint in joints]
    rotations = [0] + [number_of_rotation(kind.ROTATION) for kind in kinematics]
    parent = [0] + [link_body[m.inboard] for m in moving]
    root, end = [0] * len(parent), list(range(1, len(parent) + 1))
    for b in range(1, len(parent)):
        root[b] = root[parent[b]] or b
    for b in range(len(parent) - 1, 0, -1):
        end[parent[b]] = max(end[parent[b]], end[b])
    flies = _flying(joints, parent, driven)
    return {
        "body_joint_type": [0] + [number_of_joint(kind) for kind in kinematics],
        "body_has_axis": [0] + [int(kind.HAS_AXIS) for kind in kinematics],
        "body_rotation": rotations,
        "body_rotation_nq": positions_of_rotations(rotations),
        "body_reversed": [0] + [int(m.reversed) for m in moving],
        "body_flies": [int(flies[root[b]]) for b in range(len(parent))],
        "body_free": [0] + [int(_is_free(m)) for m in moving],
        "body_q": [0] + [joint.first_position for joint in joints],
        "body_v": [0] + [joint.first_velocity for joint in joints],
        "body_nv": [0] + [joint.num_velocities() for joint in joints],
        "body_parent": parent,
        "body_root": root,
        "body_end": end,
        "screw_lead": [0.0] + [_travel(joint) for joint in joints],
    }


def _flying(joints, parent, driven):
    """Whether trees move through World along a way on which nothing drives them (bodies,), said of their roots.

    A free base does, and slides before the first joint with an actuator or a body that carries several.
    """
    outboard: list[list[int]] = [[] for _ in parent]
    for b in range(1, len(parent)):
        outboard[parent[b]].append(b)
    flies = [False] * len(parent)
    for b in outboard[0]:
        chain = [b]
        while chain and id(joints[chain[0] - 1]) not in driven and not flies[b]:
            joint = joints[chain[0] - 1]
            flies[b] = not all(joint.is_angular(k) for k in range(joint.num_velocities()))
            chain = outboard[chain[0]] if len(outboard[chain[0]]) == 1 else []
    return flies


def _is_free(m):
    """Whether it moves a body in World in all directions, from World outward."""
    return m.joint.num_velocities() == 6 and not m.reversed and m.joint.frame_on_parent().index_number == 0


def _travel(joint):
    """[m/rad] of a screw."""
    return joint.screw_pitch() / (2.0 * np.pi) if hasattr(joint, "screw_pitch") else 0.0


def _velocities(moving, link_body, parameters):
    """What the engine knows of each velocity: its body, the one inboard of it, what it carries, damping and locks."""
    arrays = {name: [] for name in ("dof_body", "dof_parent", "axis_rotated_by", "dof_q", "dof_damping", "locked_dof")}
    last = [-1] * (len(moving) + 1)
    for b, m in enumerate(moving, start=1):
        joint, start, size = m.joint, m.joint.first_velocity, m.joint.num_velocities()
        arrays["dof_body"] += [b] * size
        arrays["dof_parent"] += [last[link_body[m.inboard]], *range(start, start + size - 1)]
        arrays["axis_rotated_by"] += _carried(joint.kinematics, size, m.reversed)
        arrays["dof_q"] += [joint.first_position] if size == 1 else [0] * size
        arrays["dof_damping"] += parameters.get(joint, "damping").tolist()
        if parameters.get(joint, "locked"):
            arrays["locked_dof"] += range(start, start + size)
        last[b] = start + size - 1
    return arrays | {"axis_rotated_by": np.reshape(arrays["axis_rotated_by"], (-1, MOST_VELOCITIES))}


def _armature(mobilized, actuators, nv, parameters, dtype):
    """[kg m^2 or kg] (nv,) reflected inertias."""
    armature = np.zeros(nv, dtype)
    for m in mobilized:
        if m.joint.reflected_inertia:
            start = m.joint.first_velocity
            armature[start : start + m.joint.num_velocities()] += m.joint.reflected_inertia
    for actuator in actuators:
        ratio, rotor = parameters.get(actuator, "gear_ratio"), parameters.get(actuator, "rotor_inertia")
        armature[actuator.joint().velocity_start()] += ratio**2 * rotor
    return armature


def _springs(elements, nv, parameters, dtype):
    """One spring at each velocity. Springs add up: one stiffness about the weighted rest, and a constant."""
    stiffness, nominal = np.zeros(nv, dtype), np.zeros(nv, dtype)
    energy = sum(e.energy_at_rest(parameters) for e in elements if isinstance(e, CutJoint))
    for spring in (e for e in elements if isinstance(e, JointSpring)):
        d = spring.joint().velocity_start()
        rest, k = parameters.get(spring, "nominal"), parameters.get(spring, "stiffness")
        total = stiffness[d] + k
        if total:
            energy += 0.5 * stiffness[d] * k / total * (nominal[d] - rest) ** 2
            nominal[d] = (stiffness[d] * nominal[d] + k * rest) / total
        stiffness[d] = total
    ball = np.full((nv, 2), -1)
    for spring in (e for e in elements if isinstance(e, BallSpring)):
        start = spring.joint().velocity_start()
        stiffness[start : start + 3] += parameters.get(spring, "stiffness")
        ball[start : start + 3] = [(spring.joint().position_start(), axis) for axis in range(3)]
    return {"dof_stiffness": stiffness, "dof_nominal": nominal, "dof_ball": ball, "spring_energy": [energy]}


def _stops(stops):
    return {
        "stop_dof": [stop.d for stop in stops],
        "stop_side": [stop.side for stop in stops],
        "stop_value": [stop.limit for stop in stops],
        "stop_constants": np.reshape([(stop.stiffness, stop.dissipation) for stop in stops], (-1, 2)),
    }


def _brakes(speeds):
    return {"nspeed": len(speeds)}, {
        "speed_dof": [e.d for e in speeds],
        "speed_limits": np.clip(np.reshape([(e.lower, e.upper) for e in speeds], (-1, 2)), -NO_LIMIT, NO_LIMIT),
        "speed_damping": [e.damping for e in speeds],
    }


def _bounded_rows(moving, actuators, controlled, actions, parameters):
    """Sizes and arrays of what is bounded in a step: controllers, limits, dry friction."""
    limits = [limit for m in moving for limit in _limits(m.joint, actions.mobility)] if actions.limits else []
    limits += [row for limit in actions.speeds for row in _speed_rows(limit)] if actions.limits else []
    frictions = [friction for m in moving for friction in _frictions(m.joint)] if actions.friction else []
    turns = [m.joint for m in moving if m.joint.turn_limit < np.inf] if actions.limits else []
    sizes = {"npd": len(controlled), "nlimit": len(limits), "nfriction": len(frictions)}
    return sizes | {"nbounded": sum(sizes.values()), "nturn": len(turns)}, {
        "turn_dof": [joint.first_velocity for joint in turns],
        "turn_q": [joint.first_position for joint in turns],
        "turn_limit": [joint.turn_limit for joint in turns],
        "limit_dof": [d for d, *_ in limits],
        "limit_side": [side for _, side, *_ in limits],
        "limit_value": [value for _, _, value, *_ in limits],
        "limit_speed": [speed for *_, speed, _ in limits],
        "limit_soft": np.reshape([soft for *_, soft in limits], (-1, len(RIGID))),
        "friction_dof": [d for d, _ in frictions],
        "friction_loss": [loss for _, loss in frictions],
        "pd_actuator": controlled,
        "pd_constants": np.reshape(
            [_controller(actuators[k], actions.controllers[actuators[k]], parameters) for k in controlled], (-1, 4)
        ),
    }


def _carried(kinematics, size, is_reversed):
    """Rows of axis_rotated_by of a joint.

    If F is outboard of M, an axis that stands in F moves with all of the joint, and one that moves in F with the motion
    of M stands in World.
    """
    rows = np.zeros((size, MOST_VELOCITIES), dtype=int)
    for carrier, carried in kinematics.CARRIED:
        rows[carrier, carried] = 1
    if is_reversed:
        rows[:, :size] = 1 - rows[:, :size]
    return rows.tolist()


def _controller(actuator, law, parameters):
    """Gains p and d, effort limit, rate; the controller of a locked joint rests and passes the feed-forward on."""
    if parameters.get(actuator.joint(), "locked"):
        return 0.0, 0.0, np.inf, 0.0
    return law.p, law.d, law.effort_limit, law.carry_rate


def _limits(joint, mobility):
    """(velocity, side, value, 0, row of limit_soft) of each finite limit of a joint with one position."""
    if joint.num_velocities() != 1:
        return
    soft, margin = softness_of_limit(joint, mobility)
    for side, value in ((1.0, joint.position_lower_limits().item(0)), (-1.0, joint.position_upper_limits().item(0))):
        if isfinite(value):
            yield joint.first_velocity, side, value + side * margin, 0.0, soft


def _speed_rows(limit):
    """(velocity, side, 0, speed, row of limit_soft) of each limit of a velocity."""
    for side, speed in ((1.0, -limit.lower), (-1.0, limit.upper)):
        if isfinite(speed):
            yield limit.d, side, 0.0, speed, RIGID


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
    return {
        "body_inertia": inertia,
        "gravitating_mass": weight,
        "link_inertia": _inertia_rows(mass, com, central),
        "link_weight": link_weight,
        "uniform_gravity": [int(uniform)],
    }


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
